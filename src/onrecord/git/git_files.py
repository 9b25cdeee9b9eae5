"""The git files of a store, `.gitignore` and `.gitattributes`, and the merge driver for records."""

from __future__ import annotations

import os
import sys
import time

from onrecord import files, paths
from onrecord.errors import BadInput, OnrecordError, Unwritable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.git.process import ProcessResult

DRIVER = "onrecord"
_KEY = f"merge.{DRIVER}"
_ARGUMENTS = "merge-driver %O %A %B %L %P"
"""The arguments of our driver's command, which are the same in every installation of Onrecord."""

_GIT_SECONDS = 10
"""Time limit of one git command. It may be long, because no hook runs these commands."""

_MAX_BYTES = 1_000_000
REQUIRED_LINES = {
    ".gitignore": (".lock", paths.JOURNAL, ".tmp-*", f"{paths.INBOX}/"),
    ".gitattributes": (f"{paths.INDEX_MD} merge=union", f"*/*.json merge={DRIVER}"),
}


def ensure(root: str) -> list[str]:
    """Add the lines that a store's git files lack, to all or none, and return the names of the files that changed.

    Raises Unwritable.
    """
    old_texts = {name: _read(root, name) for name in REQUIRED_LINES}
    new_texts = {name: _completed(text, REQUIRED_LINES[name]) for name, text in old_texts.items()}
    changed = [name for name in REQUIRED_LINES if new_texts[name] != old_texts[name]]
    for number, name in enumerate(changed):
        try:
            _write(root, name, new_texts[name])
        except Unwritable:
            for written in changed[:number]:
                _write(root, written, old_texts[written])
            raise
    return changed


def missing(root: str) -> list[str]:
    """Return the names of the store's git files that lack a line."""
    return [name for name, lines in REQUIRED_LINES.items() if _missing_lines(_read_if_possible(root, name), lines)]


def _completed(text: str, lines: tuple[str, ...]) -> str:
    missing_lines = _missing_lines(text, lines)
    gap = "\n" if text and not text.endswith("\n") else ""
    return text + gap + "\n".join(missing_lines) + "\n" if missing_lines else text


def _write(root: str, name: str, text: str) -> None:
    """Write a git file; an empty one is removed. Raises Unwritable."""
    full = os.path.join(root, name)
    if text:
        files.write(full, text.encode("utf-8", "surrogateescape"))
    else:
        files.remove(full)


def _missing_lines(text: str, lines: tuple[str, ...]) -> list[str]:
    """Return the `lines` whose pattern is not in `text`. If the user has a line for a pattern, that line is kept."""
    patterns = {words[0].lstrip("!") for words in map(str.split, text.splitlines()) if words}
    return [line for line in lines if line.split()[0] not in patterns]


def _read_if_possible(root: str, name: str) -> str:
    try:
        return _read(root, name)
    except OnrecordError:
        return ""


def _read(root: str, name: str) -> str:
    """Return the text of a git file. Raises UnsafePath for a link out of the store, and Unwritable."""
    full = os.path.join(root, name)
    try:
        return files.read_inside(root, name, _MAX_BYTES).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unwritable(f"cannot read {full}: {error.strerror or error}", fix=f"move {full} away") from error


def is_clone(root: str) -> bool:
    """True if git is installed and `root` is the root of a clone."""
    from onrecord.git import process

    return os.path.exists(os.path.join(root, ".git")) and bool(process.find("git", outside=root))


def ignoring_line(root: str, path: str) -> str:
    """Return the line by which git ignores the file, as `git check-ignore -v` prints it; empty if there is none."""
    if not is_clone(root):
        return ""
    result = _run_git(root, "check-ignore", "-v", "--no-index", path)
    return result.output.decode("utf-8", "surrogateescape").strip("\n") if result.is_good else ""


def merge_driver(root: str, name: str = DRIVER) -> str:
    """Return the command of the merge driver in this clone; empty if none is registered."""
    return _run_git(root, "config", "--get", f"merge.{name}.driver").output.decode("utf-8", "replace").strip()


def register_driver(root: str) -> str:
    """Make this clone merge records field by field, and return what was done, in words."""
    import shlex

    if not is_clone(root):
        raise BadInput(f"{root} is not a git clone", fix="git init; onrecord init --merge-driver")
    command, current = f"{own_command()} {_ARGUMENTS}", merge_driver(root)
    if current == command:
        return "the merge driver was registered already"
    if current and not current.endswith(_ARGUMENTS):
        return f"git has another driver for records and keeps it: {current}"
    # The command goes first: git refuses every merge while a driver has a name but no command.
    for key, value in ((f"{_KEY}.driver", command), (f"{_KEY}.name", "Onrecord: records merged field by field")):
        result = _run_git(root, "config", "--local", key, value)
        if not result.is_good:
            raise Unwritable(f"git config failed: {result.reason}", fix="check the permissions of .git/config")
    return f"registered the merge driver: git config {_KEY}.driver {shlex.quote(command)}"


def missing_program(command: str) -> str:
    """Return the program that our driver's `command` starts, if it was deleted, such as by an update; else empty."""
    import shlex
    import shutil

    try:
        words = shlex.split(command) if command.endswith(_ARGUMENTS) else []
    except ValueError:
        return ""
    programs = [word for position, word in enumerate(words[:2]) if position == 0 or os.path.isabs(word)]
    return next((word for word in programs if not shutil.which(word) and not os.path.exists(word)), "")


def own_command() -> str:
    """Return the shell command that starts this Onrecord."""
    import shlex
    import shutil

    if shutil.which("onrecord"):
        return "onrecord"
    script = os.path.join(paths.clone(), "bin", "onrecord")
    program = shlex.quote(script) if os.path.exists(script) else "-m onrecord"
    return f"{shlex.quote(sys.executable)} {program}"


def _run_git(root: str, *words: str) -> ProcessResult:
    from onrecord.git.repository import Repository

    clone = Repository(root, os.path.join(root, ".git"))
    result = clone.run(*words, deadline=time.monotonic() + _GIT_SECONDS, in_work_tree=True)
    if result.status is None:
        raise Unwritable(f"git did not answer: {result.reason}", fix="try again, or without --merge-driver")
    return result
