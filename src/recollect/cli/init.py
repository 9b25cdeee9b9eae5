"""`recollect init`: a memory for this project, and what git needs to know about it. Running it again is harmless."""

from __future__ import annotations

import argparse
import os

from recollect import paths
from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean
from recollect.errors import BadInput
from recollect.git import git_files
from recollect.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--merge-driver",
        action="store_true",
        help="register `recollect merge-driver` in this clone's git config, so that records merge field by field",
    )


def run(args: argparse.Namespace) -> Answer:
    if args.merge_driver and args.user:
        raise BadInput("--merge-driver belongs to a project's clone", fix="leave out --user")
    store = store_args.store_of(args)
    is_new = not store.exists
    with store.writing():
        written = git_files.ensure(store.root)
        if not os.path.exists(os.path.join(store.root, paths.INDEX_MD)):
            store.rebuild_index_md()
            written.append(paths.INDEX_MD)
    notes = []
    if not args.user:
        notes += _git_notes(Project(args.project).root, args.merge_driver)
    data = {"store": store.root, "created": is_new, "written": written, "notes": notes}
    return Answer(data, lambda screen: _text(screen, store.root, is_new, written, notes))


def _git_notes(root: str, register: bool) -> list[str]:
    from recollect.git import merge_driver

    notes = []
    if register:
        notes.append(merge_driver.register_driver(root))
    elif merge_driver.is_clone(root) and not merge_driver.driver(root):
        notes.append("records can merge field by field: recollect init --merge-driver")
    if merge_driver.ignores(root, f"{paths.STORE.replace(os.sep, '/')}/{paths.INDEX_MD}"):
        notes.append("git ignores this folder, so nobody else will see these records: check the project's .gitignore")
    return notes


def _text(screen: Screen, root: str, is_new: bool, written: list[str], notes: list[str]) -> str:
    verb = screen.paint("created", "green") if is_new else "there is a memory at"
    lines = [f"{verb} {clean(root)}", *(f"  wrote {name}" for name in written), *(clean(note) for note in notes)]
    return "\n".join(lines)
