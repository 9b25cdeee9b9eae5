"""Records are written by commands that validate, lock and log, not by hand.

Advisory, as every hook is: it catches the ways an agent usually writes files. `quarantine` checks what gets past it.
"""

from __future__ import annotations

import os
import sys

from recollect import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE_TOOLS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
SHELL_TOOLS = ("Bash", "PowerShell")
INSTEAD = (
    "Memory records are not edited by hand: a command validates, locks and logs the change. Use"
    " `recollect save CATEGORY --json` (record as JSON on stdin), `recollect update ID --hash HASH`,"
    " `recollect supersede OLD NEW` or `recollect retire ID`; `recollect show ID --json` gives the hash."
    " Reading the files is fine."
)
_WRITERS = frozenset(
    "rm rmdir mv tee touch truncate dd shred unlink patch sponge ed ex vi vim nano emacs"
    " set-content add-content clear-content out-file remove-item move-item rename-item new-item ri mi del erase".split()
)
_COPIERS = frozenset("cp install rsync ln scp copy-item ci copy".split())
_INTERPRETERS = ("python", "node", "perl", "ruby", "php", "sh", "bash", "zsh", "pwsh", "deno", "bun")
_WRITING_CODE = (
    "'w", '"w', "'a'", '"a"', "write", "dump(", "unlink", "remove", "rename", "replace(", "rmtree", "copy",
    "> ", ">>", " rm ", "mv ", "-i ", "-pi",
)  # fmt: skip
_WRAPPERS = frozenset("sudo command env time nice nohup do then else if while until ! ( { xargs".split())


def forbids(tool: str, given: Mapping[str, Any], stores: list[str], cwd: str) -> bool:
    """Whether a tool call would write a store's files by hand."""
    if tool in FILE_TOOLS:
        target = given.get(FILE_TOOLS[tool])
        return isinstance(target, str) and _is_record_file(target, stores, cwd)
    command = given.get("command")
    if tool in SHELL_TOOLS and isinstance(command, str):
        # In PowerShell a backslash separates folders; in the others it would hide the next character.
        spelt = command.replace("\\", "/") if tool == "PowerShell" else command
        return _shell_writes(spelt, _Ground(stores, cwd))
    return False


def _is_record_file(target: str, stores: list[str], cwd: str) -> bool:
    full = os.path.join(cwd, target)
    return any(
        paths.is_within(store, full) and os.path.realpath(full) != os.path.join(os.path.realpath(store), paths.CONFIG)
        for store in stores
    )


class _Ground:
    """The stores a command might touch, and whether it has moved into one."""

    __slots__ = ("cwd", "inside", "stores")

    def __init__(self, stores: list[str], cwd: str) -> None:
        self.stores = stores
        self.cwd = cwd
        self.inside = any(paths.is_within(store, cwd) for store in stores)

    def named_in(self, text: str) -> bool:
        plain = _spelt_alike(text)
        places = [place for store in self.stores for place in (store, os.path.realpath(store))]
        return ".claude/memory" in plain or any(_spelt_alike(place) in plain for place in places)

    def has(self, word: str) -> bool:
        """Whether a word of a command may be a file of the store; a variable may be anything."""
        if word.replace("\\", "/").rstrip("'\"").endswith(paths.CONFIG):
            return False
        loose = self.inside and not os.path.isabs(word) and not word.startswith("-")
        return loose or self.named_in(word) or "$" in word


def _spelt_alike(path: str) -> str:
    """A path with slashes; in lower case where the system finds a file under any case."""
    plain = path.replace("\\", "/")
    return plain.lower() if sys.platform in ("win32", "darwin") else plain


def _shell_writes(command: str, ground: _Ground) -> bool:
    """Whether any part of a command writes into a store."""
    if not ground.inside and not ground.named_in(command):
        return False
    for part in _parts(_without_documents(command)):
        if _part_writes(part, command, ground):
            return True
        if part and part[0] in ("cd", "pushd", "Set-Location") and any(ground.named_in(word) for word in part[1:]):
            ground.inside = True
    return False


def _parts(command: str) -> list[list[str]]:
    """The simple commands a shell line is made of, redirections still in them."""
    import shlex

    lexer = shlex.shlex(command, posix=True, punctuation_chars=";|&<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        words = command.split()
    parts: list[list[str]] = [[]]
    for word in words:
        if set(word) <= set(";|&\n"):
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _without_documents(command: str) -> str:
    """A command without its here-documents: they are what a program reads, not what the shell runs."""
    kept, end = [], ""
    for line in command.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            continue
        kept.append(line)
        _, opened, rest = line.partition("<<")
        if opened and not rest.startswith("<"):
            end = rest.lstrip("- ").split()[0].strip("'\";|&)") if rest.strip("- ") else ""
    return "\n".join(kept)


def _part_writes(words: list[str], command: str, ground: _Ground) -> bool:
    for operator, target in zip(words, words[1:]):
        if ">" in operator and set(operator) <= set("<>&") and ground.has(target):
            return True
    piped = words[:1] == ["xargs"]
    while words and (words[0] in _WRAPPERS or _is_assignment(words[0])):
        words = words[1:]
    if not words:
        return False
    program, given = os.path.basename(words[0]).lower(), words[1:]
    touched = piped or any(ground.has(word) for word in given)
    if program.startswith(_INTERPRETERS) and "recollect" not in " ".join(given[:3]):
        return any(sign in command for sign in _WRITING_CODE) and (touched or "<<" in command)
    if program in _COPIERS:
        return piped or (bool(given) and ground.has(given[-1]))
    if program in ("find", "fd"):
        return touched and any(word in ("-delete", "-exec", "-execdir", "-x") for word in given)
    if program in ("sed", "awk", "gawk"):
        return touched and any(word.startswith(("-i", "--in-place")) for word in given)
    if program == "git":
        return touched and given[:1] in (["rm"], ["mv"])
    return program in _WRITERS and touched


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
