"""`onrecord init`: make a store, with the files that git needs for it."""

from __future__ import annotations

import argparse
import os
import sys

from onrecord import files, paths
from onrecord.cli import arguments, questions
from onrecord.cli.output import CommandResult, Screen, clean, fitted, say
from onrecord.cli.questions import Asker
from onrecord.errors import BadInput
from onrecord.git import git_files
from onrecord.project import Project, accept_new_store
from onrecord.settings import load_settings
from onrecord.store.store import Store

_DRIVER_HELP = "register `onrecord merge-driver` in this clone's git config, so that records merge field by field"
_HERE_HELP = "make a memory of this folder's own, even if the repository has one further up"
_YES_HELP = "write the lines that .gitignore needs, if git ignores the memory, without asking"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--merge-driver", action="store_true", help=_DRIVER_HELP)
    parser.add_argument("--here", action="store_true", help=_HERE_HELP)
    parser.add_argument("--yes", action="store_true", help=_YES_HELP)


def run(args: argparse.Namespace) -> CommandResult:
    if args.remote:
        raise BadInput("a replica is made by `onrecord remote add`", fix="leave out --remote")
    if args.merge_driver and args.user:
        raise BadInput("--merge-driver belongs to a project's clone", fix="leave out --user")
    if args.here and args.user:
        raise BadInput("--here makes a memory in a folder of a project", fix="leave out --user")
    if args.here:
        root = _folder(args.project)
        store = Store(os.path.join(root, paths.STORE))
    else:
        store = arguments.store_of(args)
        root = "" if args.user else Project(args.project).root
    asker = None if args.yes else arguments.asker(args)
    return _init(store, root, asker, merge_driver=args.merge_driver).warned(*store.warnings)


def _folder(project_dir: str) -> str:
    """Return the folder for a nested store. Raises BadInput for one where no session would read it."""
    folder = os.path.realpath(project_dir)
    if folder == os.path.realpath(os.path.expanduser("~")):
        raise BadInput("the home folder has your own memory", fix="onrecord init --user")
    files.inside(folder, paths.STORE)
    return folder


def _init(store: Store, root: str, asker: Asker | None, *, merge_driver: bool) -> CommandResult:
    """Make `store` and the files that git needs for it; running it again is harmless.

    `root` is the project of the store; it is empty for the store of the user. Without an asker nothing is asked.
    """
    is_new = not store.exists
    with store.writing():
        # Asked before anything is written: a disk that does not tell leaves all as it was.
        has_index = files.is_there(os.path.join(store.root, paths.INDEX_MD))
        new_files = git_files.ensure(store.root)
        if not has_index:
            new_files += store.refresh_index_md()
    if is_new and root:
        accept_new_store(store, load_settings(store.root))
    notes = [*_git_notes(root, merge_driver), *_ignored_notes(root, asker)] if root else []
    data = {"store": store.root, "created": is_new, "written": new_files, "notes": notes}

    def text(screen: Screen) -> str:
        verb = screen.paint("created", "green") if is_new else "there is a memory at"
        lines = [f"{verb} {clean(store.root)}", *(f"  wrote {name}" for name in new_files)]
        return "\n".join([*lines, *(fitted(screen, clean(note)) for note in notes)])

    return CommandResult(data, text)


def _git_notes(root: str, register: bool) -> list[str]:
    notes = []
    if register:
        notes.append(git_files.register_driver(root))
    elif git_files.is_clone(root) and not git_files.merge_driver(root):
        notes.append("records can merge field by field: onrecord init --merge-driver")
    return notes


def _ignored_notes(root: str, asker: Asker | None) -> list[str]:
    """Return what to do if git ignores the store; without an asker, or if the person agrees, do it."""
    rule = git_files.find_ignore_rule(root)
    if rule is None:
        return []
    if not rule.new_lines or (asker and not asker.can_ask):
        return [f"{rule.sentence}; {rule.fix}"]
    if asker:
        screen = Screen.for_stream(sys.stdout)
        say(fitted(screen, clean(rule.sentence)), screen)
        if not questions.confirm(f"{rule.offer}?", screen):
            return [rule.fix]
    rule.write(root)
    return [f"wrote {rule.lines_text} to .gitignore, so git sees the records"]
