"""Records are written by commands that validate, lock and log, not by hand.

Advisory, as every hook is: it catches the ways an agent usually writes files. `quarantine` checks what gets past it.
"""

from __future__ import annotations

import os
import sys

from onrecord import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INSTEAD = (
    "Memory records are not edited by hand: a command validates, locks and logs the change. Use"
    " `onrecord save CATEGORY --json` (record as JSON on stdin), `onrecord update ID --hash HASH`,"
    " `onrecord supersede OLD NEW` or `onrecord retire ID`; `onrecord show ID --json` gives the hash."
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
_LONGEST = 100_000
"""Characters of a command that are read: a tenth of a second, and here-documents do not count."""

_KINDS = {
    **dict.fromkeys(" \t\r", "space"),
    **dict.fromkeys(";\n", "end"),
    **dict.fromkeys("|&<>", "operator"),
    **dict.fromkeys("'\"", "quote"),
    "\\": "escape",
}
_WRAPPERS = frozenset("sudo command env time nice nohup do then else if while until ! ( { xargs".split())


def forbids(tool: str, files: Sequence[str], command: str, stores: list[str], cwd: str) -> bool:
    """Whether a tool call would write a store's files by hand: the files it writes, or a command it runs."""
    if any(_is_record_file(file, stores, cwd) for file in files):
        return True
    # In PowerShell a backslash separates folders; in the others it would hide the next character.
    spelt = command.replace("\\", "/") if tool == "powershell" else command
    return bool(spelt) and _shell_writes(spelt, _Ground(stores, cwd))


def _is_record_file(target: str, stores: list[str], cwd: str) -> bool:
    full = os.path.join(cwd, target)
    return any(
        paths.is_within(store, full) and os.path.realpath(full) != os.path.join(os.path.realpath(store), paths.CONFIG)
        for store in stores
    )


class _Ground:
    """The stores a command might touch, and whether it has moved into one."""

    __slots__ = ("_names", "inside")

    def __init__(self, stores: list[str], cwd: str) -> None:
        places = {place for store in stores for place in (store, os.path.realpath(store), _below_home(store))}
        self._names = (".claude/memory", *map(_spelt_alike, places))
        self.inside = any(paths.is_within(store, cwd) for store in stores)

    def named_in(self, text: str) -> bool:
        plain = _spelt_alike(text)
        return any(name in plain for name in self._names)

    def has(self, word: str) -> bool:
        """Whether a word of a command may be a file of the store; a variable may be anything."""
        if word.replace("\\", "/").rstrip("'\"").endswith(paths.CONFIG):
            return False
        loose = self.inside and not os.path.isabs(word) and not word.startswith("-")
        return loose or self.named_in(word) or "$" in word


def _below_home(store: str) -> str:
    """The path behind the home folder, which a shell may spell `~` or `$HOME`; of what lies elsewhere, all of it."""
    home = os.path.expanduser("~").rstrip("/\\") + os.sep
    return store[len(home) :] if store.startswith(home) else store


def _spelt_alike(path: str) -> str:
    """A path with slashes; in lower case where the system finds a file under any case."""
    plain = path.replace("\\", "/")
    return plain.lower() if sys.platform in ("win32", "darwin") else plain


def _shell_writes(command: str, ground: _Ground) -> bool:
    """Whether any part of a command writes into a store."""
    if not ground.inside and not ground.named_in(command):
        return False
    runs_code, has_document = any(sign in command for sign in _WRITING_CODE), "<<" in command
    for part in _parts(_without_documents(command)):
        if _part_writes(part, ground, runs_code, has_document):
            return True
        if part and part[0] in ("cd", "pushd", "Set-Location") and any(ground.named_in(word) for word in part[1:]):
            ground.inside = True
    return False


def _parts(command: str) -> list[list[str]]:
    """The simple commands a shell line is made of, redirections still in them."""
    parts: list[list[str]] = [[]]
    pieces: list[str] = []
    for kind, text in (*_tokens(command[:_LONGEST]), ("end", "")):
        if kind == "word":
            pieces.append(text)
            continue
        if pieces:
            parts[-1].append("".join(pieces))
            pieces = []
        if kind == "operator" and (">" in text or "<" in text):
            parts[-1].append(text)
        elif kind != "space":
            parts.append([])
    return parts


def _tokens(command: str) -> Iterator[tuple[str, str]]:
    """Pieces of a shell line, each looked at once: words without their quotes, spaces, operators, ends of commands.

    `shlex` does the same in quadratic time. A quote that is not closed takes all the rest: no shell runs it.
    """
    at, kind = 0, ""
    while at < len(command):
        start, before, kind = at, kind, _KINDS.get(command[at], "word")
        if kind == "quote":
            at, kind = _closing(command, at), "word"
            yield kind, command[start + 1 : at - 1]
        elif kind == "escape":
            at, kind = at + 2, "word"
            yield kind, command[start + 1 : at]
        elif command[at] == "#" and before != "word":
            newline = command.find("\n", at)
            at = newline if newline >= 0 else len(command)
        else:
            while at < len(command) and _KINDS.get(command[at], "word") == kind:
                at += 1
            yield kind, command[start:at]


def _closing(command: str, at: int) -> int:
    """The place after the quote that closes the one at `at`, or after the end."""
    quote, end = command[at], at
    while True:
        end = command.find(quote, end + 1)
        escapes = end
        while quote == '"' and escapes > 0 and command[escapes - 1] == "\\":
            escapes -= 1
        if end < 0 or (end - escapes) % 2 == 0:
            return (end if end >= 0 else len(command)) + 1


def _without_documents(command: str) -> str:
    """A command without its here-documents: they are what a program reads, not what the shell runs."""
    if "<<" not in command:
        return command
    every = command.split("\n")
    last = {line.strip(): number for number, line in enumerate(every)}
    lines, end = [], ""
    for number, line in enumerate(every):
        if end:
            end = "" if line.strip() == end else end
            continue
        lines.append(line)
        # A `<<` in a quotation or in arithmetic opens nothing: no later line ends it.
        delimiter = _delimiter(line) if "<<" in line else ""
        end = delimiter if last.get(delimiter, -1) > number else ""
    return "\n".join(lines)


def _delimiter(line: str) -> str:
    """The line that would end the here-document which a line opens; empty if it opens none."""
    rest = line.partition("<<")[2]
    if rest.startswith("<"):
        return ""
    rest = rest.lstrip("- ")
    if rest[:1] in ("'", '"'):
        return rest[1:].partition(rest[0])[0]
    plain = "".join(" " if char in ";|&)<>" else char for char in rest.replace("\\", ""))
    return plain.split()[0] if plain.split() else ""


def _part_writes(words: list[str], ground: _Ground, runs_code: bool, has_document: bool) -> bool:
    for operator, target in zip(words, words[1:]):
        if ">" in operator and set(operator) <= set("<>&") and ground.has(target):
            return True
    piped = words[:1] == ["xargs"]
    first = next((at for at, word in enumerate(words) if word not in _WRAPPERS and not _is_assignment(word)), -1)
    if first < 0:
        return False
    program, arguments = os.path.basename(words[first]).lower(), words[first + 1 :]
    touched = piped or any(ground.has(word) for word in arguments)
    if program.startswith(_INTERPRETERS) and "onrecord" not in " ".join(arguments[:3]):
        return runs_code and (touched or has_document)
    if program in _COPIERS:
        return piped or (bool(arguments) and ground.has(arguments[-1]))
    if program in ("find", "fd"):
        return touched and any(word in ("-delete", "-exec", "-execdir", "-x") for word in arguments)
    if program in ("sed", "awk", "gawk"):
        return touched and any(word.startswith(("-i", "--in-place")) for word in arguments)
    if program == "git":
        return touched and arguments[:1] in (["rm"], ["mv"])
    return program in _WRITERS and touched


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
