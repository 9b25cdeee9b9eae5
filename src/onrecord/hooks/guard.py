"""Refuses tool calls that write record files by hand: only our commands validate, lock and log a change.

The guard cannot be complete: it knows the usual ways in which an agent writes files. `check_written` checks, after the
tool has run, the files that got past it. Only a file that is not JSON, and that the agent's own file tool has just
written, is set aside: it has no record to lose. Every other file that cannot be read as a record is reported and
stays: a shell command such as `git pull` writes files of other people, and git takes a renamed file for a deleted one.
"""

from __future__ import annotations

import os
import sys
import time

from onrecord import paths
from onrecord.session import shell_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.store.store import Store

INSTEAD = (
    "Memory records are not edited by hand: a command validates, locks and logs the change. Use"
    " `onrecord save CATEGORY --json` (record as JSON on stdin), `onrecord update ID --hash HASH`,"
    " `onrecord supersede OLD NEW` or `onrecord retire ID`; `onrecord show ID --json` gives the hash. Settings"
    " of the user: `onrecord config set --user`. Reading the files is fine."
)
_WRITERS = frozenset(
    "rm rmdir mv tee touch truncate dd shred unlink patch sponge ed ex vi vim nano emacs"
    " set-content add-content clear-content out-file remove-item move-item rename-item new-item ri mi del erase".split()
)
_COPY_OPTIONS_WITH_VALUE = frozenset("-Sgmo")
"""Letters of options of `cp`, `install` and `ln` that take the rest of the word as their value."""

_COPIERS = frozenset("cp install rsync ln scp copy-item ci copy".split())
_INTERPRETERS = frozenset("python node nodejs perl ruby php sh bash dash ksh zsh fish pwsh powershell deno bun".split())
_WRITING_CODE = (
    "'w", '"w', "'a'", '"a"', "write", "dump(", "unlink", "remove", "rename", "replace(", "rmtree", "copy",
    "> ", ">>", " rm ", "mv ", "-i ", "-pi",
)  # fmt: skip
_MAX_REASON_CHARACTERS = 300
_RECENT_SECONDS = 120.0
"""A file that changed in this time may have been written by the last command: hosts stop one after two minutes."""

_MAX_FILES = 20
"""Files that are checked after a command: a checkout may write thousands."""


def forbids(tool: str, files: Sequence[str], command: str, stores: list[str], cwd: str) -> bool:
    """True if a tool call would write a store's files by hand: if one is in `files`, or if `command` writes one."""
    if any(_is_record_file(file, stores, cwd) for file in files):
        return True
    # In PowerShell a backslash separates folders; in other shells it escapes the next character.
    shell_line = command.replace("\\", "/") if tool == "powershell" else command
    return bool(shell_line) and _shell_writes(shell_line, _GuardedFolders(stores, cwd))


def _is_record_file(target: str, stores: list[str], cwd: str) -> bool:
    full = os.path.join(cwd, target)
    return any(paths.is_within(store, full) and not _is_free(store, os.path.realpath(full)) for store in stores)


def _is_free(store: str, path: str) -> bool:
    """True for a project's config, which can only make things safer. The user's own is changed by a command."""
    return path == os.path.join(os.path.realpath(store), paths.CONFIG) and not _is_the_users(path)


def _is_the_users(path: str) -> bool:
    return os.path.dirname(path) == os.path.realpath(paths.user_store())


class _GuardedFolders:
    """The stores that a command may touch, and whether its current folder is in one."""

    __slots__ = ("_cwd", "_names", "_stores", "inside")

    def __init__(self, stores: list[str], cwd: str) -> None:
        spellings = {path for store in stores for path in (store, os.path.realpath(store), _below_home(store))}
        self._names = (".claude/memory", *map(_normalise, spellings))
        self._cwd, self._stores = cwd, stores
        self.inside = any(paths.is_within(store, cwd) for store in stores)

    def are_named_in(self, text: str) -> bool:
        normalised = _normalise(text)
        return any(name in normalised for name in self._names)

    def may_have(self, word: str) -> bool:
        """True if a word of a command may be a file of a store; a variable may be anything."""
        bare = word.replace("\\", "/").strip("'\"")
        if self._is_free_config(bare):
            return False
        is_relative = self.inside and not os.path.isabs(word) and not word.startswith("-")
        return is_relative or self.are_named_in(word) or "$" in word

    def _is_free_config(self, bare: str) -> bool:
        """True for the config of a project's store; a record may have an id that ends with its name."""
        folder, _, name = bare.rpartition("/")
        path = os.path.realpath(os.path.join(self._cwd, os.path.expanduser(bare)))
        if name != paths.CONFIG or _is_the_users(path):
            return False
        is_in_store = _normalise(os.path.normpath(folder)).endswith(self._names)
        return not folder or "$" in folder or is_in_store or any(_is_free(store, path) for store in self._stores)


def _below_home(store: str) -> str:
    """Return the path relative to the home folder, which a shell may spell `~` or `$HOME`; other paths unchanged."""
    home = os.path.expanduser("~").rstrip("/\\") + os.sep
    return store[len(home) :] if store.startswith(home) else store


def _normalise(path: str) -> str:
    """Return a path with slashes, in lower case on systems that ignore the case of file names."""
    posix_path = path.replace("\\", "/")
    return posix_path.lower() if sys.platform in ("win32", "darwin") else posix_path


def _shell_writes(command: str, folders: _GuardedFolders) -> bool:
    """True if a part of a command writes into a store."""
    if not folders.inside and not folders.are_named_in(command):
        return False
    runs_code, has_document = any(sign in command for sign in _WRITING_CODE), "<<" in command
    for part in shell_words.parts(shell_words.without_documents(command)):
        if _part_writes(part, folders, runs_code, has_document):
            return True
        if part and part[0] in ("cd", "pushd", "Set-Location") and any(folders.are_named_in(word) for word in part[1:]):
            folders.inside = True
    return False


def _part_writes(words: list[str], folders: _GuardedFolders, runs_code: bool, has_document: bool) -> bool:
    for operator, target in zip(words, words[1:]):
        if ">" in operator and shell_words.is_redirection(operator) and folders.may_have(target):
            return True
    first = shell_words.first_program(words)
    if first < 0:
        return False
    is_piped = "xargs" in words[:first]
    program, arguments = shell_words.program_name(words[first]), words[first + 1 :]
    is_touched = is_piped or any(folders.may_have(word) for word in arguments)
    if _without_version(program) in _INTERPRETERS and "onrecord" not in " ".join(arguments[:3]):
        return runs_code and (is_touched or has_document)
    if program in _COPIERS:
        return is_piped or any(map(folders.may_have, _copy_targets(program, arguments)))
    if program in ("find", "fd"):
        return is_touched and any(word in ("-delete", "-exec", "-execdir", "-x") for word in arguments)
    if program in ("sed", "awk", "gawk"):
        return is_touched and any(map(_edits_in_place, arguments))
    if program == "git":
        return is_touched and arguments[:1] in (["rm"], ["mv"])
    return program in _WRITERS and is_touched


def _copy_targets(program: str, arguments: list[str]) -> list[str]:
    """Return the words that may be the target of a copy: what an option names, or else the last one."""
    targets: list[str] = []
    if program in ("cp", "install", "ln"):
        targets += [word for word in arguments if word.startswith("--target-directory=")]
        targets += [word for option, word in zip(arguments, arguments[1:]) if _names_target(option)]
    return targets or arguments[-1:]


def _names_target(option: str) -> bool:
    """True for an option whose next word is the folder to copy into, such as `-t` or `-rt`, but not `-oroot`."""
    flags = option[1:-1] if option[:1] == "-" and option.endswith("t") else "-"
    return option == "--target-directory" or not _COPY_OPTIONS_WITH_VALUE.intersection(flags)


def _edits_in_place(word: str) -> bool:
    """True for an option such as `-i`, `-i.bak`, `-Ei` or `--in-place`."""
    return word.startswith("--in-place") or (word[:1] == "-" and word[1:].lstrip("nrEsuz").startswith("i"))


def _without_version(program: str) -> str:
    """Return `python` for `python3.12` and for `python.exe`."""
    return program.removesuffix(".exe").rstrip("0123456789.")


def check_written(root: str, file: str = "", now: float | None = None) -> list[str]:
    """Return the problems of `file`, which a tool wrote; without it, of the files that a command may have written."""
    from onrecord.store import record_names
    from onrecord.store.store import Store

    store = Store(root)
    if file and not paths.is_within(root, file):
        return []
    if file:
        path = os.path.relpath(os.path.realpath(file), os.path.realpath(root)).replace(os.sep, "/")
        sentences = [_set_aside(root, path) or _problem(store, path)] if path in record_names.paths(root) else []
    else:
        recent = _recent(root, time.time() if now is None else now)
        sentences = [_named(path) for path in recent if _problem(store, path)]
    return [sentence for sentence in sentences if sentence]


def _problem(store: Store, path: str) -> str:
    """Return the reason why a file cannot be read as a record; empty if it can."""
    from onrecord.errors import OnrecordError

    try:
        store.read(path)
    except OnrecordError as error:
        return f"{_reason(error.message, path)} ({error.fix.replace(path, _label(path))})."
    return ""


def _named(path: str) -> str:
    """Return that a file which a command brought cannot be read: the reason would quote what a stranger wrote."""
    return f"{_label(path)} cannot be read as a record; to see why: onrecord doctor."


def _label(path: str) -> str:
    """Return the path of a record file as the program would write it; of any other only the folder."""
    from onrecord.store import record_names

    folder, _, name = path.rpartition("/")
    is_ours = record_names.is_slug(name.removesuffix(".json"))
    return path if is_ours else f"a file in {folder}/ with a name that is not a record's"


def _reason(error_text: str, path: str) -> str:
    """Return the message of an error without a file name that may be text for the agent."""
    from onrecord.text import cut

    reason = error_text[len(path) :] if error_text.startswith(path) else error_text.partition(".json")[2]
    return cut(f"{_label(path)}{reason}", _MAX_REASON_CHARACTERS)


def _set_aside(root: str, path: str) -> str:
    """Rename a file that is not JSON, and return a sentence about it; empty for JSON."""
    from onrecord import files
    from onrecord.errors import BadRecord
    from onrecord.record import memory

    full = os.path.join(root, path)
    try:
        memory.decode(files.read_inside(root, path, memory.MAX_FILE_BYTES + 1), path)
    except BadRecord as error:
        aside = _free_name(root, path)
        os.rename(full, os.path.join(root, aside))
        moved = aside if _label(path) == path else "another name beside it"
        return (
            f"{_reason(error.message, path)}. It was moved to {moved}, nothing is lost. Save it again with"
            " `onrecord save`, which says what is missing."
        )
    except OSError:
        return ""
    return ""


def _free_name(root: str, path: str) -> str:
    number = 0
    while True:
        aside = f"{path}.invalid" + (f"-{number}" if number else "")
        if not os.path.lexists(os.path.join(root, aside)):
            return aside
        number += 1


def _recent(root: str, now: float) -> list[str]:
    """Return the record files that were changed just now, the newest first."""
    from onrecord.store import record_names

    changed = []
    for path in record_names.paths(root):
        try:
            changed.append((os.lstat(os.path.join(root, path)).st_mtime, path))
        except OSError:
            continue
    return [path for when, path in sorted(changed, reverse=True)[:_MAX_FILES] if when > now - _RECENT_SECONDS]
