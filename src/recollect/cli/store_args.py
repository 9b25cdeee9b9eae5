"""The store a command acts on, from the options every command has."""

from __future__ import annotations

import argparse
import os
from typing import Any

from recollect import paths
from recollect.paths import PROJECT_SOURCE, USER_SOURCE
from recollect.project import Project, found
from recollect.settings import load_settings
from recollect.store.dry_run import DryRunStore
from recollect.store.store import Entry, Store
from recollect.store.writer import Writer


def store_of(args: argparse.Namespace) -> Store:
    """The project's store, or the user's with `--user`; it may not exist yet."""
    store = Store(paths.user_store()) if args.user else Project(args.project).store
    return DryRunStore(store.root) if getattr(args, "dry_run", False) else store


def existing(args: argparse.Namespace) -> Store:
    """The store, or NoStore."""
    return found(store_of(args))


def writer_of(args: argparse.Namespace) -> Writer:
    """Whoever carries changes out on the store; with `--dry-run` nothing reaches the disk."""
    store = store_of(args)
    return Writer(store, load_settings(store.root))


def existing_writer(args: argparse.Namespace) -> Writer:
    writer = writer_of(args)
    found(writer.store)
    return writer


def shown(store: Store, path: str) -> str:
    """A record's path as an agent can open it: relative to the project, or from the home folder."""
    return (USER_SOURCE if store.root == paths.user_store() else PROJECT_SOURCE) + path


def handle(store: Store, entry: Entry) -> dict[str, Any]:
    """What a program needs to refer to a record again."""
    record = entry.memory
    return {
        "id": record.id,
        "path": shown(store, entry.path),
        "hash": entry.hash,
        "category": record.category,
        "title": record.title,
        "record_status": record.record_status,
        "updated_at": record.updated_at,
        "file": os.path.join(store.root, *entry.path.split("/")),
    }
