"""Find the record or draft that a text means: its id, the beginning or words of it, or a number in the last listing.

A command that reads takes the one that matches. A command that changes it needs the exact name, or a person who
confirms it; otherwise it is refused, with the full name in the fix. If several match, a person at a terminal picks one.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from shlex import quote

from onrecord import paths
from onrecord.cli import record_table, terminal
from onrecord.cli.output import Screen, clean, fit, safe
from onrecord.cli.questions import Asker, confirm
from onrecord.cli.record_table import ListedPath
from onrecord.coldstart import NamedTuple
from onrecord.errors import Ambiguous, BadInput, NotFound, OnrecordError
from onrecord.record.schema import shorten
from onrecord.search import listing
from onrecord.shared import remotes
from onrecord.store import record_names, reference
from onrecord.store.inbox import Inbox
from onrecord.store.reference import name_of
from onrecord.store.store import Entry, Store

_MIN_SURE_LETTERS = 4
"""Letters of the beginning of an id that need no confirmation."""

_MAX_TITLES = 50
"""Records that are read to show their titles in the picker."""

_MARGIN = 6
"""Columns that the picker puts before a line."""


class _Guess(NamedTuple):
    """The path that a text was matched with, and whether it needs no confirmation."""

    path: str
    is_sure: bool


def record(asker: Asker, store: Store, text: str, *, changes: bool = False) -> Entry:
    """Return the record that `text` means; `changes` if the command will change it. Raises NotFound or BadInput."""
    if store.find_paths(text):
        return store.get(text)
    if changes:
        _refuse_shared(text)
    guess = _numbered(asker, store.root, text, is_draft=False) or _record(asker, store, text)
    entry = store.read(guess.path)
    if changes and not asker.is_dry_run:
        look = f"onrecord show {entry.memory.id}"
        _confirm(asker, text, guess.is_sure, f"{entry.path} ({entry.memory.title})", look)
    return entry


def _refuse_shared(text: str) -> None:
    """Raise BadInput for `platform:ID`, the name by which records of a shared store are shown and read."""
    remote, _, record_id = text.partition(":")
    if record_id and remote in [connected.name for connected in remotes.connected()]:
        message = f"{shorten(text)!r} is a record of a shared store, which is changed only where that is said"
        raise BadInput(message, fix=f"the same command with {quote(record_id)} and --remote {remote}")


def _record(asker: Asker, store: Store, text: str) -> _Guess:
    names = list(record_names.paths(store.root))
    fits = listing.fit(store.root, text, names)
    if not fits.paths:
        raise reference.not_found(store.root, text, names)
    if len(fits.paths) == 1:
        return _Guess(fits.paths[0], fits.how == reference.PREFIX and len(text) >= _MIN_SURE_LETTERS)
    if not asker.can_ask:
        raise reference.ambiguous(text, fits.paths)
    return _Guess(_pick(text, fits.paths, [_described(store, path) for path in fits.paths[:_MAX_TITLES]]), True)


def _described(store: Store, path: str) -> str:
    try:
        return f"{name_of(path)}  {store.read(path).memory.title}"
    except OnrecordError:
        return path


def flag_id(asker: Asker, store: Store, text: str) -> str:
    """Return the id that a flag of a changing command means: as typed if it is exact; empty if it was left out."""
    entry = record(asker, store, text, changes=True) if text else None
    return text if entry is None or store.find_paths(text) else entry.memory.id


def listed_store(asker: Asker, store: Store, text: str) -> Store:
    """Return the store of a number in the last listing if it is not a project's; `store` for any other text."""
    listed_path = None if store.find_paths(text) else _listed_path(asker, text)
    return (
        Store(listed_path.root) if listed_path and paths.prefix_of(listed_path.root) != paths.PROJECT_PREFIX else store
    )


def is_listed(asker: Asker, text: str) -> bool:
    """True if `text` is a number in the last listing on this terminal."""
    return _listed_path(asker, text) is not None


def draft(asker: Asker, box: Inbox, text: str, *, changes: bool = False) -> str:
    """Return the name of the draft that `text` means. Raises NotFound or BadInput."""
    names = box.names()
    whole = {record_names.short_name(f"{paths.INBOX}/{name}.json"): name for name in names}
    whole.update((name, name) for name in names)
    if text.removesuffix(".json") in whole:
        return whole[text.removesuffix(".json")]
    guess = _numbered(asker, box.root, text, is_draft=True) or _draft(asker, names, text)
    name = name_of(guess.path)
    if changes:
        _confirm(asker, text, guess.is_sure, f"the draft {name}", f"onrecord inbox {quote(name)}")
    return name


def _draft(asker: Asker, names: list[str], text: str) -> _Guess:
    fits = reference.match_names(text, [f"{paths.INBOX}/{name}.json" for name in names])
    if not fits.paths:
        raise _no_draft(text, reference.similar_paths(text, names))
    if len(fits.paths) == 1:
        return _Guess(fits.paths[0], fits.how == reference.PREFIX and len(text) >= _MIN_SURE_LETTERS)
    if not asker.can_ask:
        raise _several_drafts(text, fits.paths)
    return _Guess(_pick(text, fits.paths, [name_of(path) for path in fits.paths]), True)


def _no_draft(text: str, near: list[str]) -> NotFound:
    look = [f"onrecord inbox {quote(name)}" for name in near[:1]] or ["onrecord inbox"]
    return NotFound(f"no draft {shorten(text)!r} in the inbox{reference.did_you_mean(near)}", fix=look[0])


def _several_drafts(text: str, matches: Collection[str]) -> Ambiguous:
    names = [name_of(path) for path in sorted(matches)]
    name, message = names[0], reference.ambiguity_message(text, names, "drafts")
    return Ambiguous(message, fix=f"onrecord inbox {quote(name)}; or type more of the name you mean")


def _listed_path(asker: Asker, text: str) -> ListedPath | None:
    return None if asker.is_json else record_table.listed_path(text)


def _numbered(asker: Asker, root: str, text: str, *, is_draft: bool) -> _Guess | None:
    """Return and print the path of a number in the last listing on this terminal. Raises NotFound for another kind."""
    listed_path = _listed_path(asker, text)
    if listed_path is None:
        return None
    name = name_of(listed_path.path)
    if listed_path.path.startswith(f"{paths.INBOX}/") != is_draft:
        fix = f"onrecord show {quote(name)}" if is_draft else f"onrecord inbox {quote(name)}"
        raise NotFound(f"{text} was a {'record' if is_draft else 'draft'} in the last listing: {name}", fix=fix)
    if listed_path.root != root:
        raise NotFound(
            f"{text} was a record of another store in the last listing: {listed_path.path}", fix="onrecord list"
        )
    print(safe(f"{text} is {clean(listed_path.path)}", Screen()), file=sys.stderr)
    return _Guess(listed_path.path, False)


def _pick(text: str, matches: Sequence[str], lines: Sequence[str]) -> str:
    """Let the person pick one of `matches`, shown as `lines`. Raises BadInput if none is picked."""
    width = Screen.for_stream(sys.stdout).width - _MARGIN
    more = f"; the first {len(lines)}" if len(lines) < len(matches) else ""
    question = f"{shorten(text)!r} matches {len(matches):,}{more}:"
    position = terminal.pick_line(clean(question), [fit(clean(line), width) for line in lines])
    if position is None:
        raise BadInput("none was picked", fix="type more of the name you mean")
    return matches[position]


def _confirm(asker: Asker, text: str, is_sure: bool, what: str, look: str) -> None:
    """Raise BadInput unless a change may be made to the match of `text`, called `what`."""
    if not asker.can_ask:
        message = f"{shorten(text)!r} is not a full name; nothing was changed"
        raise BadInput(message, fix=f"{look}; then run it again with the full name, if that is the one")
    if not is_sure and not confirm(clean(f"{asker.command} {what}?"), Screen.for_stream(sys.stdout)):
        raise BadInput("nothing was changed", fix=look)
