"""The options that several commands share, and the store a command acts on."""

from __future__ import annotations

import argparse
import os
from typing import Any

from recollect import paths, timestamps
from recollect.errors import BadInput
from recollect.paths import PROJECT_SOURCE, USER_SOURCE
from recollect.project import Project, found
from recollect.settings import load_settings
from recollect.store.store import Entry, Store
from recollect.store.writer import DryRunStore, Writer

_SHARED: dict[str, dict[str, Any]] = {
    "id": {"metavar": "ID", "help": "an id, category/id or path"},
    "--allow-secret": {"action": "store_true", "help": "save it although it seems to carry a credential"},
    "--dry-run": {"action": "store_true", "help": "show what would happen and write nothing"},
    "--since": {"metavar": "WHEN", "help": "only changed since a day (2026-03-01) or an age (30d)"},
    "--summary": {"default": "", "metavar": "TEXT", "help": "what changed and why, for the record's history"},
    "--tag": {"action": "append", "default": [], "metavar": "TAG", "help": "only with this tag (repeatable)"},
}
_OLDEST_DAYS = 100_000
"""Days before which no record can be, about 270 years; more would leave the calendar."""


def add(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options that several commands share."""
    for name in names:
        parser.add_argument(name, **_SHARED[name])


def store_of(args: argparse.Namespace) -> Store:
    """The project's store, or the user's with `--user`; it may not exist yet."""
    store = Store(paths.user_store()) if args.user else Project(args.project).store
    store = DryRunStore(store.root) if getattr(args, "dry_run", False) else store
    args.warnings = store.warnings
    return store


def existing(args: argparse.Namespace) -> Store:
    """The store, or NoStore."""
    return found(store_of(args))


def writer_of(args: argparse.Namespace) -> Writer:
    """Carries changes out on the store; with `--dry-run` nothing reaches the disk."""
    store = store_of(args)
    return Writer(store, load_settings(store.root))


def existing_writer(args: argparse.Namespace) -> Writer:
    writer = writer_of(args)
    found(writer.store)
    return writer


def since(text: str | None) -> str:
    """The timestamp that `--since` means; empty if it was left out."""
    if text is None:
        return ""
    if text[-1:] in ("d", "D") and text[:-1].isascii() and text[:-1].isdigit():
        return timestamps.days_before(timestamps.now(), min(int(text[:-1]), _OLDEST_DAYS))
    if not timestamps.is_day(text):
        raise BadInput(f"--since {text!r} is neither a day nor an age", fix="write --since 2026-03-01 or --since 30d")
    return text


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
