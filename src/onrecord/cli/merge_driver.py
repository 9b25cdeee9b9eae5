"""`onrecord merge-driver %O %A %B`: merge two versions of a record, run by git. The result replaces %A."""

from __future__ import annotations

import argparse
import os
import time

from onrecord import files
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.errors import BadInput, BadRecord
from onrecord.git import repository
from onrecord.record import merge
from onrecord.record.memory import MAX_FILE_BYTES, decode

_PATIENCE = 60
"""Seconds for a merge line by line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", metavar="O", help="the common ancestor's file (git's %%O)")
    parser.add_argument("ours", metavar="A", help="our version's file, which the result replaces (%%A)")
    parser.add_argument("theirs", metavar="B", help="their version's file (%%B)")
    parser.add_argument(
        "size", metavar="L", nargs="?", type=arguments.count(1), default=7, help="length of conflict markers (%%L)"
    )
    parser.add_argument("path", metavar="P", nargs="?", default="", help="the path being merged (%%P)")


def run(args: argparse.Namespace) -> CommandResult:
    name = args.path or args.ours
    try:
        merged = merge.merge(_read(args.base), _read(args.ours), _read(args.theirs), args.size)
    except BadRecord as error:
        return _merge_lines((args.ours, args.base, args.theirs), args.size, name, error.message)
    _write(args.ours, merged.data)
    data = {"path": name, "clashes": list(merged.clashes)}

    def text(screen: Screen) -> str:
        return f"{clean(name)}: both sides changed {clean(', '.join(merged.clashes))}" if merged.clashes else ""

    return CommandResult(data, text, status=1 if merged.clashes else 0)


def _merge_lines(version_files: tuple[str, str, str], marker_length: int, name: str, reason: str) -> CommandResult:
    """Merge files that are not all records line by line, as git does without a driver. Raises BadInput."""
    result = repository.merge_text(*version_files, marker_length, time.monotonic() + _PATIENCE)
    # git merge-file exits with the number of conflicts, and above 127 when it could not merge at all.
    if result.status is None or not 0 <= result.status <= 127:
        raise BadInput(f"{name} cannot be merged: {result.reason}", fix=f"merge {name} by hand")
    is_settled = not result.status and _is_json(version_files[0])
    data = {"path": name, "clashes": [] if is_settled else ["(whole file)"]}
    text = f"{name}: merged line by line ({reason})"
    return CommandResult(data, lambda screen: clean(text), status=0 if is_settled else 1)


def _is_json(path: str) -> bool:
    """True if the file at `path` can be parsed; a merge by lines may break the JSON."""
    try:
        decode(_read(path), path)
    except BadRecord:
        return False
    return True


def _read(path: str) -> bytes:
    try:
        return files.read(path, MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error}", fix="it is for git, which passes the files: %O %A %B") from error


def _write(path: str, data: bytes) -> None:
    # Our version must survive a full disk: git has written it for us, and takes what is there for the result.
    files.write(os.path.realpath(path), data, lasting=False)
