"""The record or draft that somebody means: by its id, the beginning of it, or words of it.

Who reads gets the one that fits. Who changes something must name it exactly, or see it and agree: without a terminal a
guess is refused, with the full name in the fix.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from shlex import quote

from recollect import paths
from recollect.capture.inbox import Inbox
from recollect.cli.output import Screen, clean, safe
from recollect.errors import Ambiguous, BadInput, NotFound
from recollect.record.fields import shorten
from recollect.store import record_files, reference
from recollect.store.reference import name_of
from recollect.store.store import Entry, Store

_SURE = 4
"""Letters of an id from which on nobody is asked whether it is the right one."""


def record(args: argparse.Namespace, store: Store, typed: str, *, changes: bool = False) -> Entry:
    """The record that a text means; `changes` says that the command will change it."""
    if store.named(typed):
        return store.get(typed)
    names = list(record_files.every(store.root))
    fit = reference.fit(typed, names)
    if not fit.paths:
        raise reference.nothing_fits(store.root, typed, names)
    if len(fit.paths) > 1:
        raise reference.several_fit(typed, fit.paths)
    entry = store.read(fit.paths[0])
    if changes and not getattr(args, "dry_run", False):
        is_sure = fit.how == reference.PREFIX and len(typed) >= _SURE
        _confirm(args, typed, is_sure, f"{entry.path} ({entry.memory.title})", f"recollect show {entry.memory.id}")
    return entry


def flag(args: argparse.Namespace, store: Store, typed: str) -> str:
    """The record that a flag of a changing command names: as it was typed if that is exact; empty if left out."""
    entry = record(args, store, typed, changes=True) if typed else None
    return typed if entry is None or store.named(typed) else entry.memory.id


def draft(args: argparse.Namespace, box: Inbox, typed: str, *, changes: bool = False) -> str:
    """The name of the draft that a text means."""
    name = typed.removesuffix(".json")
    names = box.names()
    if name in names:
        return name
    fit = reference.fit(name, [f"{paths.INBOX}/{each}.json" for each in names])
    if not fit.paths:
        raise _no_draft(typed, reference.nearest(name, names))
    if len(fit.paths) > 1:
        raise _several_drafts(typed, fit.paths)
    name = name_of(fit.paths[0])
    if changes:
        is_sure = fit.how == reference.PREFIX and len(typed) >= _SURE
        _confirm(args, typed, is_sure, f"the draft {name}", f"recollect inbox {quote(name)}")
    return name


def _no_draft(typed: str, near: list[str]) -> NotFound:
    look = [f"recollect inbox {quote(name)}" for name in near[:1]] or ["recollect inbox"]
    return NotFound(f"no draft {shorten(typed)!r} in the inbox{reference.did_you_mean(near)}", fix=look[0])


def _several_drafts(typed: str, fitting: Collection[str]) -> Ambiguous:
    names = [name_of(path) for path in sorted(fitting)]
    name, message = names[0], reference.fits_several(typed, names, "drafts")
    return Ambiguous(message, fix=f"recollect inbox {quote(name)}; or type more of the name you mean")


def _confirm(args: argparse.Namespace, typed: str, is_sure: bool, what: str, look: str) -> None:
    """BadInput unless a change may be made to what a text was taken for."""
    if not is_asking(args):
        message = f"{shorten(typed)!r} is not a whole name; nothing was changed"
        raise BadInput(message, fix=f"{look}; then the same command with the whole name, if that is the one")
    if not is_sure and not _agrees(f"{args.command} {what}?"):
        raise BadInput("nothing was changed", fix=look)


def is_asking(args: argparse.Namespace) -> bool:
    """Whether somebody at a terminal can be asked."""
    return not args.json and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _agrees(question: str) -> bool:
    print(safe(f"{clean(question)} [y/N] ", Screen()), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()[:1] == "y"
