"""How git keeps a store: what it leaves out, and how it merges records. Its files, and the merge driver's settings."""

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
"""How a driver of ours ends, whichever Onrecord registered it."""

_PATIENCE = 10
"""Seconds for one answer of git to a command; hooks do not ask here."""

_LARGEST = 1_000_000
REQUIRED_LINES = {
    ".gitignore": (".lock", ".journal", ".tmp-*", f"{paths.INBOX}/"),
    ".gitattributes": (f"{paths.INDEX_MD} merge=union", f"*/*.json merge={DRIVER}"),
}


def ensure(root: str) -> list[str]:
    """Write what is missing of a store's git files; the names of those that changed."""
    return [name for name, lines in REQUIRED_LINES.items() if _complete(root, name, lines)]


def missing(root: str) -> list[str]:
    """Names of the store's git files that lack something."""
    return [name for name, lines in REQUIRED_LINES.items() if _lacking(_read_if_possible(root, name), lines)]


def _complete(root: str, name: str, lines: tuple[str, ...]) -> bool:
    text = _read(root, name)
    lacking = _lacking(text, lines)
    if lacking:
        gap = "\n" if text and not text.endswith("\n") else ""
        whole = text + gap + "\n".join(lacking) + "\n"
        files.write(os.path.join(root, name), whole.encode("utf-8", "surrogateescape"))
    return bool(lacking)


def _lacking(text: str, lines: tuple[str, ...]) -> list[str]:
    """The lines whose pattern the file does not mention: what a user wrote about one is left as it is."""
    spoken = {words[0].lstrip("!") for words in map(str.split, text.splitlines()) if words}
    return [line for line in lines if line.split()[0] not in spoken]


def _read_if_possible(root: str, name: str) -> str:
    try:
        return _read(root, name)
    except OnrecordError:
        return ""


def _read(root: str, name: str) -> str:
    """The text of a git file; a link out of the store is refused, or its target would end up in the repository."""
    full = os.path.join(root, name)
    try:
        return files.read_inside(root, name, _LARGEST).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unwritable(f"cannot read {full}: {error.strerror or error}", fix=f"move {full} away") from error


def is_clone(root: str) -> bool:
    """Whether git is installed and a folder is the root of a clone."""
    from onrecord.git import process

    return os.path.exists(os.path.join(root, ".git")) and bool(process.find("git", outside=root))


def ignores(root: str, path: str) -> bool:
    """Whether git would leave a file out."""
    return is_clone(root) and _run_git(root, "check-ignore", "-q", "--no-index", path).is_good


def merge_driver(root: str, name: str = DRIVER) -> str:
    """The command git would merge records with here; empty if none is registered."""
    return _run_git(root, "config", "--get", f"merge.{name}.driver").output.decode("utf-8", "replace").strip()


def register_driver(root: str) -> str:
    """Make this clone merge records field by field; what was done, in words."""
    import shlex

    if not is_clone(root):
        raise BadInput(f"{root} is not a git clone", fix="git init; onrecord init --merge-driver")
    wanted, present = f"{own_command()} {_ARGUMENTS}", merge_driver(root)
    if present == wanted:
        return "the merge driver was registered already"
    if present and not present.endswith(_ARGUMENTS):
        return f"git has another driver for records and keeps it: {present}"
    # The command comes first: git refuses every merge while a driver has a name and no command.
    for key, value in ((f"{_KEY}.driver", wanted), (f"{_KEY}.name", "Onrecord: records merged field by field")):
        answer = _run_git(root, "config", "--local", key, value)
        if not answer.is_good:
            raise Unwritable(f"git config failed: {answer.reason}", fix="check the permissions of .git/config")
    return f"registered the merge driver: git config {_KEY}.driver {shlex.quote(wanted)}"


def missing_program(command: str) -> str:
    """The program that a driver of ours would run and that is not there, as after a move or an update; or nothing."""
    import shlex
    import shutil

    try:
        words = shlex.split(command) if command.endswith(_ARGUMENTS) else []
    except ValueError:
        return ""
    started = [word for place, word in enumerate(words[:2]) if place == 0 or os.path.isabs(word)]
    return next((word for word in started if not shutil.which(word) and not os.path.exists(word)), "")


def own_command() -> str:
    """How a shell starts this Onrecord again."""
    import shlex
    import shutil

    if shutil.which("onrecord"):
        return "onrecord"
    script = os.path.join(paths.clone(), "bin", "onrecord")
    program = shlex.quote(script) if os.path.exists(script) else "-m onrecord"
    return f"{shlex.quote(sys.executable)} {program}"


def _run_git(root: str, *question: str) -> ProcessResult:
    from onrecord.git.repository import Repository

    clone = Repository(root, os.path.join(root, ".git"))
    answer = clone.run(*question, deadline=time.monotonic() + _PATIENCE, in_work_tree=True)
    if answer.status is None:
        raise Unwritable(f"git did not answer: {answer.reason}", fix="try again, or without --merge-driver")
    return answer
