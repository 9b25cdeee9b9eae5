"""The inbox of a store: drafts in `inbox/` that wait for a person to accept them. Search does not read them."""

from __future__ import annotations

import os
from itertools import islice
from typing import Any, Union

from onrecord import files, paths, timestamps
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import AlreadyExists, BadRecord, NotFound, OnrecordError
from onrecord.git import git_files
from onrecord.record import drafts, memory
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.record.schema import shorten

_MAX_FILES = 100_000


class BrokenDraft(NamedTuple):
    """A file in the inbox that is not a draft, and why."""

    name: str
    error: OnrecordError


class Inbox:
    """The drafts of one store."""

    def __init__(self, store_root: str) -> None:
        self.root = store_root
        self.folder = os.path.join(store_root, paths.INBOX)

    def put(self, draft: Draft, *, replacing: bool = False) -> Draft:
        """Write a draft and return it with its hash. Raises AlreadyExists.

        A draft of the same name is replaced if it is from the same session; with `replacing`, from any session.
        """
        if not replacing:
            self.refuse_taken(draft)
        git_files.ensure(self.root)
        data = drafts.render(draft)
        files.write(self.path(draft.name), data)
        return draft._replace(hash=content_hash(data))

    def refuse_taken(self, draft: Draft) -> None:
        """Raise AlreadyExists if a draft of another session has the same name."""
        if self._is_taken(draft):
            fix = f"onrecord review --accept {draft.name}; or: onrecord review --reject {draft.name}; then save again"
            raise AlreadyExists(f"there is a draft {draft.name!r} in the inbox already", fix=fix)

    def _is_taken(self, draft: Draft) -> bool:
        try:
            return self.get(draft.name).session != draft.session or not draft.session
        except NotFound:
            return False

    def get(self, name: str) -> Draft:
        """Return the draft with this name, or file name. Raises NotFound or BadRecord."""
        name = _without_ending(name)
        try:
            data = files.read(self.path(name), memory.MAX_FILE_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"no draft {shorten(name)!r} in the inbox", fix="onrecord inbox") from None
        except OSError as error:
            raise BadRecord(f"inbox/{name}: {error}", fix="check the file's type and permissions") from error
        return drafts.parse(name, data)

    def find(self, name: str) -> Union[Draft, BrokenDraft]:
        """Return the draft with this name, or a BrokenDraft if it cannot be read. Raises NotFound."""
        draft = self._read(name)
        if isinstance(draft, BrokenDraft) and isinstance(draft.error, NotFound):
            raise draft.error
        return draft

    def _read(self, name: str) -> Union[Draft, BrokenDraft]:
        try:
            return self.get(name)
        except OnrecordError as error:
            return BrokenDraft(_without_ending(name), error)

    def scan(self) -> list[Union[Draft, BrokenDraft]]:
        """Return all drafts, oldest first; files that cannot be read as BrokenDrafts."""
        drafts = [self._read(name) for name in self.names()]
        return sorted(drafts, key=lambda draft: (timestamps.order(getattr(draft, "made_at", "")), draft.name))

    def drafts(self) -> list[Draft]:
        return [draft for draft in self.scan() if isinstance(draft, Draft)]

    def newest(self, limit: int, prefix: str = "") -> list[Draft]:
        """Return the drafts in the `limit` newest files, newest first, without reading others. Raises Unwritable."""
        try:
            with os.scandir(files.inside(self.root, paths.INBOX)) as entries:
                times = [
                    (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name[:-5])
                    for entry in islice(entries, _MAX_FILES)
                    if entry.name.endswith(".json") and entry.name.startswith(prefix)
                ]
        except OSError as error:
            if files.is_absent(error):
                return []
            raise files.unreadable(self.folder, error) from error
        drafts = (self._read(name) for _, name in sorted(times, reverse=True)[:limit])
        return [draft for draft in drafts if isinstance(draft, Draft)]

    def names(self) -> list[str]:
        """Return the names of the drafts. Raises Unwritable if they cannot be listed."""
        file_names = files.names_in(files.inside(self.root, paths.INBOX))
        return sorted(name[:-5] for name in file_names if name.endswith(".json") and name[0] != ".")

    def drop(self, name: str) -> None:
        """Delete a draft."""
        files.remove(self.path(name))

    def path(self, name: str) -> str:
        """Return the path of a draft's file. Raises NotFound if `name` cannot be the name of a draft."""
        name = _without_ending(name)
        if not name or name.strip(".") == "" or "/" in name or os.sep in name or "\0" in name:
            raise NotFound(f"no draft {shorten(name)!r} in the inbox", fix="onrecord inbox")
        return files.inside(self.root, os.path.join(paths.INBOX, f"{name}.json"))


def _without_ending(name: str) -> str:
    return name[: -len(".json")] if name.endswith(".json") else name


def new_draft(record: Memory, **about: Any) -> Draft:
    """Return a draft of `record`, named after it."""
    return Draft(record.id, record, made_at=timestamps.now(), **about)
