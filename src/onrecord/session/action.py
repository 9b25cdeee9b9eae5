"""Action: what an agent is about to do, as one value, whatever the host calls the tool."""

from __future__ import annotations

import os

from onrecord import coldstart
from onrecord.session import commands, shell_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onrecord.session.commands import SimpleCommand

READ, EDIT, COMMAND, TASK = "read", "edit", "command", "task"
"""Kinds of actions: reading files, changing files, a shell command, a task given to a subagent."""

_MAX_PATHS = 12
"""Words of a command that are looked up as files: each takes one call of the system."""

_DELIVERIES = ("git commit", "git push", "gh pr create", "glab mr create")
_ALL = frozenset(("-a", "-am", "--all", "-A"))
_CHANGERS = frozenset("rm rmdir mv tee touch truncate dd shred unlink patch chmod chown".split())
_COPIERS = frozenset("cp install rsync ln scp".split())
_EDITORS = frozenset("sed perl awk gawk".split())
_GIT_CHANGES = frozenset("restore checkout rm mv apply".split())
_NOT_FILES = frozenset("echo printf export cd".split())
"""Programs whose words are no files."""


_MAX_EDITED_CHARACTERS = 2_000_000
"""Characters of a file after its edits: a short text may be replaced with a long one very often."""


class FileEdit(coldstart.NamedTuple):
    """A text that an edit takes out of a file, and the text that it puts there."""

    old_text: str
    """The text taken out; empty if it only adds, or replaces the file."""
    new_text: str
    file: str
    """The file, as an absolute path; empty for each file of the tool call."""
    is_everywhere: bool = False
    """True if all places with the old text are replaced, not only the first."""
    is_patch: bool = False
    """True if the texts are the removed and the added lines of a patch, without the lines between them."""


class Action(coldstart.NamedTuple):
    """Something that an agent is about to do. Fields that an action does not have are empty."""

    kind: str
    command: str = ""
    """The shell line, as the host sent it."""
    commands: tuple[SimpleCommand, ...] = ()
    files_read: tuple[str, ...] = ()
    """Absolute paths."""
    files_changed: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    """The texts that an edit takes out of files and puts into them."""
    is_whole_file: bool = False
    """True if the new text is the whole text of the file."""
    task: str = ""
    """What a subagent is asked to do."""

    @property
    def files(self) -> tuple[str, ...]:
        """All its files, those that it changes first."""
        return (*self.files_changed, *self.files_read)

    @property
    def delivery(self) -> str:
        """The family of the command that hands work over: a commit, a push, a pull request; empty if there is none."""
        families = (" ".join((call.program, *call.subcommands)) for call in self.commands)
        return next((family for family in families if family in _DELIVERIES), "")

    @property
    def is_commit(self) -> bool:
        return self.delivery == "git commit"

    @property
    def stages(self) -> bool:
        """True if the command itself adds files to its commit."""
        calls = [call for call in self.commands if call.program == "git"]
        adds = any(call.subcommands[:1] == ("add",) for call in calls)
        return adds or any(_ALL.intersection(call.options) for call in calls if call.subcommands[:1] == ("commit",))

    @property
    def is_silenced(self) -> bool:
        """True if a comment in the command, or the task, asks for no memory."""
        return "#nomem" in self.task or shell_words.has_comment(self.command, "#nomem")


def edits_of(file_edits: Sequence[FileEdit], file: str) -> list[FileEdit]:
    """Return those of the edits of a tool call that concern a file."""
    return [edit for edit in file_edits if edit.file in ("", file)]


def text_removed(file_edits: Sequence[FileEdit]) -> str:
    """Return all that edits take out."""
    return "\n".join(edit.old_text for edit in file_edits if edit.old_text)


def text_added(file_edits: Sequence[FileEdit]) -> str:
    """Return all that edits put in."""
    return "\n".join(edit.new_text for edit in file_edits if edit.new_text)


def text_after(file_edits: Sequence[FileEdit], text: str) -> str | None:
    """Return the text of a file after edits, with plain line ends; None if they do not fit it, or it is too long."""
    text = text.replace("\r\n", "\n")
    for edit in file_edits:
        old, new = edit.old_text.replace("\r\n", "\n"), edit.new_text.replace("\r\n", "\n")
        if edit.is_patch or bool(old) != bool(text) or old not in text:
            return None
        count = text.count(old) if edit.is_everywhere and old else 1
        if len(text) + count * (len(new) - len(old)) > _MAX_EDITED_CHARACTERS:
            return None
        text = text.replace(old, new, count)
    return text


def of_command(command: str, cwd: str, project: str) -> Action:
    """Return a shell command as an action, with those of its words that are files of the project."""
    calls = commands.parse(command)
    read: dict[str, None] = {}
    changed: dict[str, None] = {}
    folder = cwd or project
    left = _MAX_PATHS
    for call in calls:
        if call.program == "cd" and call.arguments:
            folder = os.path.join(folder, call.arguments[0])
        for word, is_change in _paths(call):
            if left <= 0:
                break
            left -= 1
            path = os.path.normpath(os.path.join(folder, word))
            if path.startswith(os.path.join(project, "")) and os.path.isfile(path):
                (changed if is_change else read)[path] = None
    return Action(COMMAND, command, calls, tuple(path for path in read if path not in changed), tuple(changed))


def _paths(simple_command: SimpleCommand) -> Iterator[tuple[str, bool]]:
    """Yield the words of a program call that may be files, each with True if it plainly changes the file."""
    words, is_target = [], False
    for word in simple_command.arguments:
        if shell_words.is_redirection(word):
            is_target = ">" in word and "&" not in word
        elif is_target:
            yield word, True
            is_target = False
        else:
            words.append(word)
    if simple_command.program in _NOT_FILES:
        return
    for place, word in enumerate(words):
        if "\0" not in word and not shell_words.is_assignment(word) and ("/" in word or "." in word):
            yield word.removeprefix("./"), _changes(simple_command, is_last=place == len(words) - 1)


def _changes(simple_command: SimpleCommand, *, is_last: bool) -> bool:
    """True if a program plainly changes the files among its arguments."""
    if simple_command.program in _COPIERS:
        return is_last
    if simple_command.program in _EDITORS:
        return any(option.startswith(("-i", "--in-place", "-pi")) for option in simple_command.options)
    if simple_command.program == "git":
        return bool(simple_command.subcommands) and simple_command.subcommands[0] in _GIT_CHANGES
    return simple_command.program in _CHANGERS
