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

_RUNNERS = {
    "builtin": "",
    "command": "",
    "doas": "-C -a -u",
    "env": "-C -u --chdir --unset",
    "exec": "-a",
    "nice": "-n --adjustment",
    "nohup": "",
    "setsid": "",
    "sudo": "-C -D -R -T -U -g -h -p -r -t -u --chdir --chroot --group --host --prompt --user",
    "time": "-f -o --format --output",
    "timeout": "-k -s --kill-after --signal",
    "xargs": "-E -I -L -P -a -d -n -s --arg-file --delimiter --max-args --max-procs",
}
"""Programs that run the words behind their options, with the options whose next word is a value."""

_WRAPPERS = frozenset((*_RUNNERS, *"do then else elif if while until ! ( {".split()))
"""Words before the program of a command, which is run as without them."""

_KINDS = {
    **dict.fromkeys(" \t\r", "space"),
    **dict.fromkeys(";\n)", "end"),
    **dict.fromkeys("|&<>", "operator"),
    **dict.fromkeys("'\"", "quote"),
    **dict.fromkeys("(`", "nest"),
    "\\": "escape",
}

_CLOSING = {"(": ")", '"': '"', "`": "`"}
_OPENING = {"(": '("`', '"': "(`", "`": ""}
"""What is opened within these, in double quotes only after `$`."""

_MAX_DEPTH = 4
"""Commands within commands that are read: `$(…)` in `$(…)`."""


_NOT_IN_WORDS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in "_-"}


def whole_words(text: str) -> set[str]:
    """Return the words of a text: letters, digits, `_`, `-` and everything beyond ASCII."""
    return set(text.translate(_NOT_IN_WORDS).split())


def parts(command: str, max_characters: int = MAX_CHARACTERS, depth: int = _MAX_DEPTH) -> list[list[str]]:
    """Return the simple commands of a shell line as words, including redirections.

    Commands in `(…)`, in `$(…)` and in backquotes count too; the latter two stay a word of the command they are in.
    """
    lines: list[list[str]] = [[]]
    pieces: list[str] = []
    inner: list[str] = []
    for kind, text, _ in (*_tokens(command[:max_characters]), ("end", "", 0)):
        if kind in ("word", "inner"):
            (pieces if kind == "word" else inner).append(text)
            continue
        if pieces:
            lines[-1].append("".join(pieces))
            pieces = []
        if kind == "operator" and (">" in text or "<" in text):
            lines[-1].append(text)
        elif kind in ("operator", "end"):
            lines += [words for line in inner if depth for words in parts(line, max_characters, depth - 1)]
            lines.append([])
            inner = []
    return lines


def without_comments(command: str) -> str:
    """Return a command as it is typed, but without its here-documents, comments and continued lines."""
    text, position, pieces = without_documents(command), 0, []
    if "#" in text:
        for _, comment, start in _comments(text):
            pieces.append(text[position:start])
            position = start + len(comment)
    return "".join((*pieces, text[position:])).replace("\\\n", "")


def has_comment(command: str, word: str) -> bool:
    """True if a comment of a command, as a shell reads it, has a word: not quoted text, nor a part of a longer word."""
    comments = _comments(without_documents(command)[:MAX_CHARACTERS]) if word in command else ()
    words = (part for _, comment, _ in comments for part in comment.split())
    return any(part.startswith(word) and not whole_words(part[len(word) : len(word) + 1]) for part in words)


def _comments(command: str) -> Iterator[tuple[str, str, int]]:
    return (token for token in _tokens(command) if token[0] == "comment")


def _tokens(command: str) -> Iterator[tuple[str, str, int]]:
    """Yield the tokens of a shell line, each with its kind and position.

    They are words without their quotes, spaces, operators, ends of commands, comments, and the commands within words.
    `shlex` does the same, but in quadratic time. An unclosed quote extends to the end: no shell runs such a line.
    """
    position, kind, is_closed = 0, "", True
    while position < len(command):
        start, before, kind = position, kind, _KINDS.get(command[position], "word")
        if command.startswith("\\\n", position):
            position, kind = position + 2, before
        elif kind == "quote":
            position, kind = _closing(command, position), "word"
            if is_closed and _has_nest(command[start:position]):
                end = _closing_nest(command, start)
                position, is_closed = end or position, end > 0
                yield from (("inner", text, start) for text in _inner(command[start + 1 : end - 1]) if end)
            yield kind, command[start + 1 : position - 1], start
        elif kind == "escape":
            position, kind = position + 2, "word"
            yield kind, command[start + 1 : position], start
        elif kind == "nest" and before != "word" and _is_subshell(command, position):
            position, kind = position + 1, "end"
            yield kind, "(", start
        elif kind == "nest":
            end = _closing_nest(command, start) if is_closed else 0
            position, is_closed = end or position + 1, end > 0
            # `f()` begins a function.
            kind = "word" if command[start:position] != "()" else "end"
            yield from (("inner", text, start) for text in _inner(command[max(start - 1, 0) : end]) if end)
            yield kind, command[start:position], start
        elif command[position] == "#" and before != "word":
            newline = command.find("\n", position)
            position, kind = newline if newline >= 0 else len(command), "comment"
            yield kind, command[start:position], start
        else:
            while position < len(command) and _KINDS.get(command[position], "word") == kind:
                position += 1
            yield kind, command[start:position], start


def _is_subshell(command: str, position: int) -> bool:
    """True if the bracket at `position` begins a command of its own, not a part of a word as in `$(…)` and `<(…)`."""
    return command[position] == "(" and command[position - 1 : position] not in ("<", ">")


def _has_nest(quoted: str) -> bool:
    """True if a quoted text may have commands in it."""
    return quoted.startswith('"') and ("$(" in quoted or "`" in quoted)


def _inner(text: str) -> Iterator[str]:
    """Yield the commands in `$(…)`, `<(…)` and backquotes of a word or of a text in double quotes; not arithmetic."""
    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 2
            continue
        start = position if char == "`" else position + 1
        if char == "`" or (char in "$<>" and text[start : start + 1] == "("):
            position = _closing_nest(text, start) or len(text) + 1
            inner = text[start + 1 : position - 1]
            if not (inner.startswith("(") and inner.endswith(")")):
                yield inner
        else:
            position += 1


def _closing_nest(command: str, start: int) -> int:
    """Return the position after what closes the bracket or quote at `start`, with all that is open in between, or 0."""
    position, is_open = start + 1, [command[start]]
    while is_open and position < len(command):
        char, inside = command[position], is_open[-1]
        if char == "\\":
            position += 1
        elif char == _CLOSING[inside]:
            is_open.pop()
        elif char in _OPENING[inside] and (inside == "(" or char == "`" or command[position - 1] == "$"):
            is_open.append(char)
        elif inside == "(" and (char == "'" or (char == "#" and command[position - 1] in " \t\n;(")):
            end = command.find("'" if char == "'" else "\n", position + 1)
            position = end if end >= 0 else len(command)
        position += 1
    return position if not is_open else 0


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
    """Return a command without its here-documents, which are input for a program and not run by the shell.

    What comes after as many characters as are read is left out.
    """
    if "<<" not in command:
        return command
    all_lines = command.split("\n")
    last = {line.strip(): number for number, line in enumerate(all_lines)}
    lines, length, end = [], 0, ""
    for number, line in enumerate(all_lines):
        if end:
            end = "" if line.strip() == end else end
            continue
        lines.append(line)
        length += len(line) + 1
        if length > MAX_CHARACTERS:
            break
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
    start = 0
    while start < len(words):
        word, skipped = words[start], redirected(words, start)
        word = program_name(word) if word.startswith("/") else word
        if not skipped and word not in _WRAPPERS and not is_assignment(word):
            return start
        start += skipped or 1
        if word in _RUNNERS:
            start = _after_options(words, start, _RUNNERS[word].split())
            # The seconds.
            start += word == "timeout"
    return -1


def _after_options(words: Sequence[str], start: int, with_value: Sequence[str]) -> int:
    """Return the position of the first word from `start` on that is neither an option nor the value of one."""
    while start < len(words) and words[start].startswith("-"):
        start += 2 if words[start] in with_value else 1
    return start


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


def redirected(words: Sequence[str], start: int) -> int:
    """Return how many words are a redirection, such as `2>/dev/null`, that begins at `start`; 0 if none does."""
    has_number = words[start].isdigit() and start + 1 < len(words)
    return 2 + has_number if is_redirection(words[start + has_number]) else 0
