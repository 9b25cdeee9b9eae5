"""The git files of a store, the line of a project by which git ignores the store, and the merge driver for records."""

from __future__ import annotations

import os
import sys
import time

from onrecord import files, paths, state_file
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, OnrecordError, UnsafePath, Unwritable

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
_PROJECT_FILE = ".gitignore"
_SAMPLE = ".claude/memory/decisions/a-record.json"
_WHOLE_FOLDER = (".claude", ".claude/*", ".claude/**")
_OPEN_AGAIN = ("!.claude/", ".claude/*", "!.claude/memory/", "!.claude/memory/**")
"""Lines after all others that let git see the store again, whatever ignored it: the last line that matches decides."""

_MAX_RULES = 5
"""Lines that are written at most, one after the other: a file may ignore the store by several."""

REQUIRED_LINES = {
    ".gitignore": (".lock", paths.JOURNAL, ".tmp-*", f"{paths.INBOX}/"),
    ".gitattributes": (f"{paths.INDEX_MD} merge=union", f"*/*.json merge={DRIVER}"),
}


class IgnoreRule(NamedTuple):
    """A line that makes git ignore a store: its file as git names it, its number, and the pattern."""

    file: str
    line: int
    pattern: str

    @property
    def sentence(self) -> str:
        """A sentence that says what is wrong, for people."""
        place = f"{self.file}, line {self.line}"
        return f"git ignores .claude/memory/ ({place}: `{self.pattern}`), so other people do not get these records"

    @property
    def is_replaced(self) -> bool:
        """True if the line itself is to be replaced: below an ignored folder git looks no further."""
        return self.file == _PROJECT_FILE and self._core in _WHOLE_FOLDER

    @property
    def new_lines(self) -> tuple[str, ...]:
        """The lines to write into the project's .gitignore; none if that line stands next to the records."""
        if "memory" in self._core.split("/") or self.file.startswith(".claude/"):
            return ()
        return (".claude/*", "!.claude/memory/") if self.is_replaced else _OPEN_AGAIN

    @property
    def fix(self) -> str:
        """The way to repair it."""
        if not self.new_lines:
            return f"delete that line of {self.file}, unless the records are for you alone"
        return f"{self.offer[:1].lower()}{self.offer[1:]}; this does it: onrecord init --yes"

    @property
    def offer(self) -> str:
        """The repair, as the beginning of a question."""
        if self.is_replaced:
            return f"Replace line {self.line} of {_PROJECT_FILE} with {self.lines_text}"
        return f"Add {self.lines_text} at the end of {_PROJECT_FILE}"

    @property
    def lines_text(self) -> str:
        """The lines to write, for people."""
        return " and ".join(f"`{line}`" for line in self.new_lines)

    def write(self, root: str) -> None:
        """Write the new lines into the .gitignore of the project at `root`.

        If git ignores the store even then, the file is put back and BadInput raised.
        """
        before, rule = _read(root, _PROJECT_FILE), find_ignore_rule(root)
        for _ in range(_MAX_RULES):
            if rule is None:
                return
            if not rule.new_lines:
                break
            rule._apply(root)
            rule = find_ignore_rule(root)
        _write(root, _PROJECT_FILE, before)
        left = rule or self
        raise BadInput(f"git would ignore .claude/memory/ by {left.file}, line {left.line}, all the same", fix=left.fix)

    def _apply(self, root: str) -> None:
        text = _read(root, _PROJECT_FILE)
        ending = "\r\n" if "\r\n" in text else "\n"
        # Git counts lines by line feeds alone; Python also ends one at a form feed and other characters.
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
        at = self.line - 1 if self.is_replaced else len(lines)
        # A last line that is not touched stays as it is, also without a line feed.
        end = ending if text.endswith("\n") or at + self.is_replaced == len(lines) else ""
        lines[at : at + self.is_replaced] = self.new_lines
        _write(root, _PROJECT_FILE, ending.join(lines) + end)

    @property
    def _core(self) -> str:
        return self.pattern.removeprefix("**/").strip("/")


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
        except Unwritable as error:
            left = [written for written in changed[:number] if not _is_put_back(root, written, old_texts[written])]
            error.fix += f"; {files.LEFT}: {', '.join(left)}" if left else ""
            raise
    return changed


def _is_put_back(root: str, name: str, text: str) -> bool:
    try:
        _write(root, name, text)
    except Unwritable:
        return False
    return True


def missing(root: str) -> list[str]:
    """Return the names of the store's git files that lack a line."""
    return [
        name for name, lines in REQUIRED_LINES.items() if _missing_lines(_read_if_possible(root, name, lines), lines)
    ]


def _completed(text: str, lines: tuple[str, ...]) -> str:
    missing_lines = _missing_lines(text, lines)
    gap = "\n" if text and not text.endswith("\n") else ""
    return text + gap + "\n".join(missing_lines) + "\n" if missing_lines else text


def _write(root: str, name: str, text: str) -> None:
    """Write a git file; an empty one is removed. Raises Unwritable."""
    full = files.inside(root, name)
    if text:
        files.write(full, text.encode("utf-8", "surrogateescape"))
    else:
        files.remove(full)


def _missing_lines(text: str, lines: tuple[str, ...]) -> list[str]:
    """Return the `lines` whose pattern is not in `text`. If the user has a line for a pattern, that line is kept."""
    patterns = {words[0].lstrip("!") for words in map(str.split, text.splitlines()) if words}
    return [line for line in lines if line.split()[0] not in patterns]


def _read_if_possible(root: str, name: str, lines: tuple[str, ...]) -> str:
    """Return the text of a git file; where the disk does not give it, that it lacks a line cannot be said."""
    try:
        return _read(root, name)
    except UnsafePath:
        return ""
    except OnrecordError as error:
        state_file.go_without("git files", error.message)
        return "\n".join(lines)


def _read(root: str, name: str) -> str:
    """Return the text of a git file. Raises UnsafePath for a link out of the store, and Unwritable."""
    full = os.path.join(root, name)
    try:
        data = files.read_inside(root, name, _MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unwritable(f"cannot read {full}: {error.strerror or error}", fix=f"move {full} away") from error
    if len(data) > _MAX_BYTES:
        # What is read is written again: the rest would be lost.
        raise Unwritable(f"{full} has more than {_MAX_BYTES:,} bytes", fix=f"shorten {full}")
    return data.decode("utf-8", "surrogateescape")


def find_ignore_rule(root: str) -> IgnoreRule | None:
    """Return the line by which git ignores the store of the project at `root`; None if it does not."""
    text = _ignoring_line(root, _SAMPLE)
    place, _, _ = text.rpartition("\t")
    # The name of the file may have a colon, and so may the pattern: the number between two of them is the line.
    parts = place.split(":")
    number = next((at for at, part in enumerate(parts) if at and part.isdigit()), 0)
    if not number:
        return None
    pattern = ":".join(parts[number + 1 :])
    return None if pattern.startswith("!") else IgnoreRule(":".join(parts[:number]), int(parts[number]), pattern)


def ignored_note(store_root: str) -> str:
    """Return what is wrong and what to do if git ignores this store of a project; else an empty text."""
    if not paths.is_project(paths.prefix_of(store_root)):
        return ""
    rule = find_ignore_rule(paths.project_of(store_root))
    return f"{rule.sentence}: {rule.fix}" if rule else ""


def is_clone(root: str) -> bool:
    """True if git is installed and `root` is the root of a clone."""
    from onrecord.git import process

    return files.status(os.path.join(root, ".git")) is not None and bool(process.find("git", outside=root))


def _ignoring_line(root: str, path: str) -> str:
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
    return next((word for word in programs if not shutil.which(word) and files.status(word) is None), "")


def own_command() -> str:
    """Return the shell command that starts this Onrecord."""
    import shlex
    import shutil

    if shutil.which("onrecord"):
        return "onrecord"
    script = os.path.join(paths.clone(), "bin", "onrecord")
    program = shlex.quote(script) if files.status(script) is not None else "-m onrecord"
    return f"{shlex.quote(sys.executable)} {program}"


def _run_git(root: str, *words: str) -> ProcessResult:
    from onrecord.git.repository import Repository

    clone = Repository(root, os.path.join(root, ".git"))
    result = clone.run(*words, deadline=time.monotonic() + _GIT_SECONDS, in_work_tree=True)
    if result.status is None:
        raise Unwritable(f"git did not answer: {result.reason}", fix="try again, or without --merge-driver")
    return result
