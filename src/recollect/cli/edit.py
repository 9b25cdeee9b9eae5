"""`recollect edit ID`: a record in your editor, validated before it replaces anything."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.update import told
from recollect.errors import BadInput, BadRecord, RecollectError
from recollect.record import memory
from recollect.store.store import Entry

_MISSING = object()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="an id, category/id or path")
    parser.add_argument("--from", dest="draft", metavar="FILE", help="start from a text that was rejected before")
    parser.add_argument("--summary", default="", metavar="TEXT", help="what changed and why, for the record's history")
    parser.add_argument("--allow-secret", action="store_true", help="save it although it seems to carry a credential")
    parser.add_argument("--dry-run", action="store_true", help="check everything and write nothing")


def run(args: argparse.Namespace) -> Answer:
    writer = store_args.existing_writer(args)
    before = writer.store.get(args.id)
    copy = _copy(before, args.draft)
    try:
        let_edit(copy)
        patch = difference(memory.to_json(before.memory), read_edited(copy))
        after = writer.update(
            before.path,
            patch,
            before.hash,
            summary=args.summary,
            allow_secret=args.allow_secret,
            may_shrink=True,
        )
    except RecollectError as error:
        error.fix = f"your text is kept: recollect edit {before.memory.id} --from {shlex.quote(copy)}; {error.fix}"
        raise
    shutil.rmtree(os.path.dirname(copy))
    return told(args, writer.store, before, after)


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that leads from one JSON object to another; null removes a key."""
    patch: dict[str, Any] = {}
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, _MISSING), new.get(key)
        if before == after:
            continue
        if key == "content" and isinstance(before, dict) and isinstance(after, dict):
            after = difference(before, after)
        patch[key] = after
    return patch


def _copy(entry: Entry, draft: str | None) -> str:
    """A file of its own to edit, with the record or an earlier text of it."""
    text = memory.render(entry.memory)
    if draft:
        try:
            with open(draft, "rb") as file:
                text = file.read()
        except OSError as error:
            raise BadInput(
                f"cannot read {draft}: {error}", fix="name the file the rejected text was kept in"
            ) from error
    path = os.path.join(tempfile.mkdtemp(prefix="recollect-edit-"), f"{entry.memory.id}.json")
    with open(path, "wb") as file:
        file.write(text)
    return path


def let_edit(path: str) -> None:
    """Have the user's editor run on a file."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if sys.platform == "win32" else "vi")
    try:
        done = subprocess.run([*shlex.split(editor, posix=sys.platform != "win32"), path], check=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot start the editor {editor!r}: {error}", fix="set VISUAL or EDITOR") from error
    if done.returncode:
        raise BadInput(f"the editor ended with code {done.returncode}, so nothing was saved", fix="edit it again")


def read_edited(path: str) -> dict[str, Any]:
    """The JSON object that came out of the editor."""
    try:
        with open(path, "rb") as file:
            value = memory.decode(file.read(), "the edited text")
    except (OSError, BadRecord) as error:
        reason = error.message if isinstance(error, BadRecord) else str(error)
        raise BadInput(reason, fix="correct it and save again") from error
    if not isinstance(value, dict):
        raise BadInput("the edited text must be a JSON object", fix="correct it and save again")
    return value
