"""The words of a shell line: split at spaces and operators, without quotes, comments and here-documents.

No shell is parsed and nothing is expanded: this is for seeing what a command is about, within a bound.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_CHARACTERS = 100_000
"""Characters of a command that are read, without here-documents. Reading so many takes 0.1 s."""

WRAPPERS = frozenset("sudo command env time nice nohup do then else if while until ! ( { xargs".split())
"""Words before the program of a command, which is run as without them."""

_KINDS = {
    **dict.fromkeys(" \t\r", "space"),
    **dict.fromkeys(";\n", "end"),
    **dict.fromkeys("|&<>", "operator"),
    **dict.fromkeys("'\"", "quote"),
    "\\": "escape",
}


_NOT_IN_WORDS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in "_-"}


def whole_words(text: str) -> set[str]:
    """Return the words of a text: letters, digits, `_`, `-` and everything beyond ASCII."""
    return set(text.translate(_NOT_IN_WORDS).split())


def parts(command: str, max_characters: int = MAX_CHARACTERS) -> list[list[str]]:
    """Return the simple commands of a shell line as words, including redirections."""
    found: list[list[str]] = [[]]
    pieces: list[str] = []
    for kind, text in (*_tokens(command[:max_characters]), ("end", "")):
        if kind == "word":
            pieces.append(text)
            continue
        if pieces:
            found[-1].append("".join(pieces))
            pieces = []
        if kind == "operator" and (">" in text or "<" in text):
            found[-1].append(text)
        elif kind != "space":
            found.append([])
    return found


def _tokens(command: str) -> Iterator[tuple[str, str]]:
    """Yield the tokens of a shell line: words without their quotes, spaces, operators, ends of commands.

    `shlex` does the same, but in quadratic time. An unclosed quote extends to the end: no shell runs such a line.
    """
    position, kind = 0, ""
    while position < len(command):
        start, before, kind = position, kind, _KINDS.get(command[position], "word")
        if kind == "quote":
            position, kind = _closing(command, position), "word"
            yield kind, command[start + 1 : position - 1]
        elif kind == "escape":
            position, kind = position + 2, "word"
            yield kind, command[start + 1 : position]
        elif command[position] == "#" and before != "word":
            newline = command.find("\n", position)
            position = newline if newline >= 0 else len(command)
        else:
            while position < len(command) and _KINDS.get(command[position], "word") == kind:
                position += 1
            yield kind, command[start:position]


def _closing(command: str, position: int) -> int:
    """Return the position after the quote that closes the one at `position`, or after the end."""
    quote, end = command[position], position
    while True:
        end = command.find(quote, end + 1)
        escapes = end
        while quote == '"' and escapes > 0 and command[escapes - 1] == "\\":
            escapes -= 1
        if end < 0 or (end - escapes) % 2 == 0:
            return (end if end >= 0 else len(command)) + 1


def without_documents(command: str) -> str:
    """Return a command without its here-documents, which are input for a program and not run by the shell."""
    if "<<" not in command:
        return command
    all_lines = command.split("\n")
    last = {line.strip(): number for number, line in enumerate(all_lines)}
    lines, end = [], ""
    for number, line in enumerate(all_lines):
        if end:
            end = "" if line.strip() == end else end
            continue
        lines.append(line)
        # A `<<` without a later line that ends it is no here-document, but quoted text or arithmetic.
        delimiter = _delimiter(line) if "<<" in line else ""
        end = delimiter if last.get(delimiter, -1) > number else ""
    return "\n".join(lines)


def _delimiter(line: str) -> str:
    """Return the line that ends the here-document which `line` starts; empty if it starts none."""
    rest = line.partition("<<")[2]
    if rest.startswith("<"):
        return ""
    rest = rest.lstrip("- ")
    if rest[:1] in ("'", '"'):
        return rest[1:].partition(rest[0])[0]
    plain = "".join(" " if char in ";|&)<>" else char for char in rest.replace("\\", ""))
    return plain.split()[0] if plain.split() else ""


def first_program(words: Sequence[str]) -> int:
    """Return the position of the program among the words of a simple command; -1 if there is none."""
    places = (number for number, word in enumerate(words) if word not in WRAPPERS and not is_assignment(word))
    return next(places, -1)


def program_name(word: str) -> str:
    """Return the name of a program without its folder, in lower case."""
    return os.path.basename(word).lower()


def is_assignment(word: str) -> bool:
    """True for a word such as `NAME=value`."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def is_redirection(word: str) -> bool:
    """True for an operator such as `>`, `2>` without its number, or `<`."""
    return bool(word) and (">" in word or "<" in word) and set(word) <= set("<>&|")
