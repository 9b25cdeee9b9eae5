"""Inbox: drafts that wait for a person's word. Plain files beside the records, seen by nothing that retrieves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Union

from recollect import files, paths, timestamps
from recollect.errors import AlreadyExists, BadRecord, NotFound, RecollectError
from recollect.git import git_files
from recollect.record import memory, slug
from recollect.record.fields import shorten
from recollect.record.memory import Memory

MACHINE_PREFIX = "session-"
_LARGEST = memory.LARGEST_FILE


class Draft(NamedTuple):
    """A record that is proposed, and what it rests on."""

    name: str
    record: Memory
    made_at: str = ""
    session: str = ""
    offer: str = ""
    evidence: tuple[str, ...] = ()
    updates: str = ""
    """The record it would change, if it is no new one."""

    supersedes: str = ""
    """The record it would replace."""

    @property
    def is_machine_made(self) -> bool:
        return self.record.origin == "tool"


class BrokenDraft(NamedTuple):
    """A file in the inbox that is not a draft, and why."""

    name: str
    error: RecollectError


class Inbox:
    """The drafts of one store."""

    def __init__(self, store_root: str) -> None:
        self.root = store_root

    @property
    def folder(self) -> str:
        return os.path.join(self.root, paths.INBOX)

    def put(self, draft: Draft, *, replacing: bool = False) -> Draft:
        """Write a draft; one of the same name is replaced only by another of the same session, or knowingly."""
        if not replacing and self._is_taken(draft):
            raise AlreadyExists(
                f"there is a draft {draft.name!r} in the inbox already",
                fix=f"recollect review --accept {draft.name}, or --reject {draft.name}, then save again",
            )
        git_files.ensure(self.root)
        files.write(self._path(draft.name), _render(draft))
        return draft

    def _is_taken(self, draft: Draft) -> bool:
        try:
            return self.get(draft.name).session != draft.session or not draft.session
        except NotFound:
            return False

    def get(self, name: str) -> Draft:
        """A draft by its name."""
        try:
            with open(self._path(name), "rb") as file:
                data = file.read(_LARGEST + 1)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"no draft {shorten(name)!r} in the inbox", fix="recollect inbox lists them") from None
        except OSError as error:
            raise BadRecord(f"inbox/{name}: {error}", fix="check the file's type and permissions") from error
        return _parse(name, data)

    def scan(self) -> Iterator[Union[Draft, BrokenDraft]]:
        """Every file of the inbox, oldest draft first, read or found broken."""
        found = [self._read(name) for name in self.names()]
        yield from sorted(found, key=lambda one: (getattr(one, "made_at", ""), one.name))

    def drafts(self) -> list[Draft]:
        return [one for one in self.scan() if isinstance(one, Draft)]

    def names(self) -> list[str]:
        try:
            listed = os.listdir(files.inside(self.root, paths.INBOX))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name[:-5] for name in listed if name.endswith(".json") and name[0] != ".")

    def _read(self, name: str) -> Union[Draft, BrokenDraft]:
        try:
            return self.get(name)
        except RecollectError as error:
            return BrokenDraft(name, error)

    def drop(self, name: str) -> None:
        """Take a draft out of the inbox."""
        files.remove(self._path(name))

    def _path(self, name: str) -> str:
        plain = name[: -len(".json")] if name.endswith(".json") else name
        if not plain or plain.strip(".") == "" or "/" in plain or os.sep in plain or "\0" in plain:
            raise NotFound(f"no draft {shorten(name)!r} in the inbox", fix="recollect inbox lists them")
        return files.inside(self.root, os.path.join(paths.INBOX, f"{plain}.json"))


def draft_of(record: Memory, **about: Any) -> Draft:
    """A draft of a record, named after it."""
    return Draft(record.id, record, made_at=timestamps.now(), **about)


def machine_name(session: str) -> str:
    """The name of the one summary a session may have drafted by us."""
    return f"{MACHINE_PREFIX}{slug.of(session)[:40] or 'unnamed'}"


def _render(draft: Draft) -> bytes:
    about = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in draft._asdict().items()
        if key not in ("name", "record") and value
    }
    body = {"draft": about, "record": memory.to_json(draft.record)}
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _parse(name: str, data: bytes) -> Draft:
    where = f"{paths.INBOX}/{name}.json"
    raw = memory.decode(data, where)
    about = raw.get("draft", {}) if isinstance(raw, dict) else None
    if not isinstance(about, dict) or not isinstance(raw.get("record"), dict):
        raise BadRecord(f"{where}: is not a draft", fix=f"correct it by hand, or recollect review --reject {name}")
    record = memory.parse(json.dumps(raw["record"]).encode("utf-8"), where)
    evidence = about.get("evidence")
    texts = {key: about[key] for key in _TEXTS if isinstance(about.get(key), str)}
    quotes = tuple(line for line in evidence if isinstance(line, str)) if isinstance(evidence, list) else ()
    return Draft(name, record, evidence=quotes, **texts)


_TEXTS = ("made_at", "session", "offer", "updates", "supersedes")
