"""The result of a command, printed as JSON for programs or as text that fits the terminal for people."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from onrecord.cli.commands import COMMANDS
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError, docs_command
from onrecord.record.naming import UNSPACED, remove_invisible
from onrecord.remedy import COMMAND
from onrecord.text import flat

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_PAINTED = re.compile(rf"(\033\[(?:0|(?:;?(?:{'|'.join(_STYLES.values())}))+)m)")
_ANY_COMMAND = re.compile(r"(?:(?<=^)|(?<=: ))(?:onrecord|claude|git|ln|unset) .*$")
_PROTECTED = "\0"
_WITHOUT_STORE = ("connect", "hub", "remote", "sync")
"""Commands that take no flag for a store."""

_GAP = "  "
_MAX_INDENT = 20
"""Columns by which the lines below a label are indented at most."""

_MIN_CELL_WIDTH = 10
"""Columns that every cell of a table keeps: less says nothing."""


class Screen(NamedTuple):
    """The place that text is written for: a terminal with its width, or a file or pipe."""

    width: int = 80
    is_terminal: bool = False
    has_colour: bool = False

    @classmethod
    def for_stream(cls, text_stream: TextIO) -> Screen:
        """Return the screen of a stream: its width and colours if it is a terminal."""
        if not text_stream.isatty():
            return cls()
        # In less than 40 columns a table is unreadable, wrapped or not.
        return cls(max(40, shutil.get_terminal_size().columns), True, _wants_colour())

    def paint(self, text: str, *styles: str) -> str:
        """Return the text in these styles, if the screen shows them."""
        if not self.has_colour or not text or not styles:
            return text
        return f"\033[{';'.join(_STYLES[style] for style in styles)}m{text}\033[0m"


def _wants_colour() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.platform != "win32" or bool(os.environ.get("WT_SESSION") or os.environ.get("TERM"))


class CommandResult(NamedTuple):
    """The outcome of a command; `text` is called only for people, `warning` and `note` go to standard error."""

    data: Any
    text: Callable[[Screen], str]
    status: int = 0
    warning: str = ""
    note: str = ""

    def warned(self, *warnings: str) -> CommandResult:
        """Return the result with further warnings; empty ones are left out."""
        return self._replace(warning="; ".join(filter(None, (self.warning, *warnings))))


def emit(command_result: CommandResult, *, as_json: bool, is_paged: bool) -> None:
    """Print the result; flush at once, so that a closed pipe is noticed here."""
    screen = Screen.for_stream(sys.stdout)
    text = to_json(command_result.data) if as_json else command_result.text(screen)
    may_page = is_paged and not as_json and screen.is_terminal
    if text and not (may_page and _page(text.removesuffix("\n"), screen)):
        say(text.removesuffix("\n"), screen)
    sys.stdout.flush()
    if as_json:
        return
    errors = Screen.for_stream(sys.stderr)
    if command_result.warning:
        print(labelled(errors, "warning", command_result.warning, "yellow"), file=sys.stderr)
    if command_result.note:
        for line in fitted(errors, clean(command_result.note)).split("\n"):
            print(errors.paint(line, "dim"), file=sys.stderr)


def _page(text: str, screen: Screen) -> bool:
    """Show a text in the pager if it does not fit on the screen; True if it was shown."""
    from onrecord.cli import terminal

    text = safe(text, screen)
    return terminal.show_in_pager(text, sum(rows_of(line, screen) for line in text.split("\n")))


def rows_of(line: str, screen: Screen) -> int:
    """Return the number of rows that a line takes on the screen."""
    return max(1, -(-width_of(_PAINTED.sub("", line)) // screen.width))


def say_paged(text: str, screen: Screen) -> None:
    """Print a text, in the pager if it does not fit on the terminal."""
    if not (screen.is_terminal and _page(text, screen)):
        say(text, screen)


def say(text: str, screen: Screen, ending: str = "\n") -> None:
    """Print text without invisible characters, except our own colours; all output for people goes through here."""
    print(safe(text, screen), end=ending, flush=True)


def emit_error(error: OnrecordError, *, as_json: bool) -> None:
    """Print an expected failure: its code, what was wrong, what to do, and its page."""
    if as_json:
        print(to_json({"error": error_data(error.code, error.message, error.fix)}), flush=True)
        return
    screen = Screen.for_stream(sys.stderr)
    print(labelled(screen, error.code, error.message, "red"), file=sys.stderr)
    if error.fix:
        print(labelled(screen, "fix", error.fix, "bold"), file=sys.stderr)
    print(docs_line(screen, error.code), file=sys.stderr)


def error_data(code: str, message: str, fix: str) -> dict[str, str]:
    """Return an error for a program, with the command that prints its page."""
    return {"code": code, "message": message, "fix": fix, "docs": docs_command(code)}


def docs_line(screen: Screen, code: str) -> str:
    """Return the line that names the page of an error."""
    return screen.paint(f"docs: {docs_command(code)}", "dim")


def labelled(screen: Screen, label: str, text: str, *styles: str, indent: str = "") -> str:
    """Return a message after its label, in lines that fit."""
    label = clean(label)
    below = f"{indent}{' ' * min(len(label), _MAX_INDENT)}  "
    beside = width_of(f"{indent}{label}: ") - width_of(below)
    lines = fitted(screen._replace(width=screen.width - beside), clean(text), below).removeprefix(below)
    return f"{indent}{screen.paint(label, *styles)}: {lines}"


def fitted(screen: Screen, text: str, indent: str = "") -> str:
    """Return a message in lines that fit on a terminal; a command to paste stays whole, on a line of its own."""
    if not screen.is_terminal or width_of(indent + text) <= screen.width:
        return indent + text
    parts = message_parts(text)
    if not any(split_command(part)[1] for part in parts):
        return wrap(text, screen.width, indent)
    return "\n".join(_part(screen, part, indent) for part in parts)


def _part(screen: Screen, part: str, indent: str) -> str:
    words, command = split_command(part)
    if not command:
        return wrap(words, screen.width, indent)
    if not words or width_of(indent + part) <= screen.width:
        return indent + part
    return f"{wrap(words, screen.width, indent)}\n{indent}  {command}"


def message_parts(text: str) -> list[str]:
    """Return the parts of a fix or message, without the separators."""
    # A quoted word of a command may contain the separator.
    protected = COMMAND.sub(lambda match: match[0].replace("; ", _PROTECTED), text)
    return [part.replace(_PROTECTED, "; ") for part in protected.split("; ")]


def split_command(part: str) -> tuple[str, str]:
    """Return the words of a part and the command after them, of any program; either may be empty."""
    match = _ANY_COMMAND.search(part)
    return (part[: match.start()].rstrip(), part[match.start() :]) if match else (part, "")


def add_store_flags(fix: str, flags: str) -> str:
    """Return the fix with `flags`, which name a store, added to each of its commands that takes them."""
    if not flags:
        return fix
    return COMMAND.sub(lambda match: match[0] + ("" if _needs_no_flags(match[0], flags) else flags), fix)


def store_flags(*, user: bool, remote_name: str, project: str) -> str:
    """Return the flags that name the store of a command; empty for the project of the current folder."""
    if user:
        return " --user"
    if remote_name:
        return f" --remote {shlex.quote(remote_name)}"
    return "" if project == "." else f" --project {shlex.quote(project)}"


def _needs_no_flags(command: str, flags: str) -> bool:
    """True if a command names its store already, or takes no such flags."""
    words = shlex.split(command)
    takes_project_only = words[1] in COMMANDS and not COMMANDS[words[1]].has_store and "--project" not in flags
    names_store = bool({"--user", "--remote", "--project"}.intersection(words))
    return words[1] in _WITHOUT_STORE or takes_project_only or names_store


def to_json(data: Any, indent: int | None = 2) -> str:
    """Return JSON with every invisible character escaped, so that a terminal can show it."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def safe(text: str, screen: Screen) -> str:
    """Return text without invisible characters but tabs, line ends and, on a screen that shows them, our own styles."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    pieces = _PAINTED.split(text) if screen.has_colour else [text]
    # Every second piece is one of our own sequences.
    return "".join(piece if number % 2 else _visible(piece) for number, piece in enumerate(pieces))


def _visible(text: str) -> str:
    return "\n".join("\t".join(map(flat, line.split("\t"))) for line in text.split("\n"))


def clean(text: str) -> str:
    """Return text from a record, a path or a message as one line that is safe to print."""
    return remove_invisible(text)


def clean_lines(text: str) -> list[str]:
    """Return the lines of a text, each safe to print."""
    return [remove_invisible(line) for line in text.splitlines()]


def width_of(text: str) -> int:
    """Return the number of columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit(text: str, width: int) -> str:
    """Return the text cut to `width` columns, with an ellipsis if something is missing."""
    if width_of(text) <= width:
        return text
    end, used = 0, 1
    while used + _columns(text[end]) <= width:
        used += _columns(text[end])
        end += 1
    return text[:end].rstrip() + "…"


_OPENING = "\u3008\u300a\u300c\u300e\u3010\uff08"
_CLOSING = "\u3001\u3002\u3009\u300b\u300d\u300f\u3011\u30fc\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
_BREAKABLE = re.compile(
    f"[{_OPENING}]*(?:[{UNSPACED}]|[^{UNSPACED}{_OPENING}{_CLOSING}]+|)[{_CLOSING}]*(?<=.)",
    re.DOTALL,
)
"""A stretch of a word that stays on one line: one character of Chinese or Japanese with the marks beside it."""


def wrap(text: str, width: int, indent: str = "") -> str:
    """Return text broken into lines of at most `width` columns, unless a word is wider.

    Lines are broken at spaces, and within Chinese and Japanese, which have none, between two characters.
    """
    lines, line = [], ""
    for word in text.split():
        gap = " " if line else ""
        for piece in [word] if word.isascii() else _BREAKABLE.findall(word):
            if line and width_of(indent) + width_of(line + gap + piece) > width:
                lines.append(line)
                line = piece
            else:
                line += gap + piece
            gap = ""
    return "\n".join(indent + part for part in (*lines, line))


def readable(size: int) -> str:
    """Return a number of bytes for people."""
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1_000:,.0f} kB"


def table(screen: Screen, heads: Sequence[str], grid: Iterable[Sequence[str]], *, gives_way: int = -1) -> str:
    """Return aligned columns on a terminal, `gives_way` cut to fit; tab-separated cells in a file or pipe."""
    cells = [[clean(cell) for cell in row] for row in grid]
    if not screen.is_terminal:
        return "\n".join("\t".join(row) for row in cells)
    widths = _widths(screen.width, [list(heads), *cells], gives_way)
    lines = [screen.paint(_row(heads, widths), "bold"), *(_row(row, widths) for row in cells)]
    return "\n".join(lines)


def _widths(total: int, grid: list[list[str]], gives_way: int) -> list[int]:
    """Return the width of each column; if they do not fit, the column `gives_way` shrinks, then the widest."""
    widths = [max(map(width_of, column)) for column in zip(*grid)]
    available = total - len(_GAP) * (len(widths) - 1)
    widest = widths[gives_way]
    widths[gives_way] = max(min(widest, _MIN_CELL_WIDTH), widest - max(0, sum(widths) - available))
    while sum(widths) > available and max(widths) > _MIN_CELL_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = [fit(cell, width) for cell, width in zip(cells, widths)]
    padded = [cell + " " * (width - width_of(cell)) for cell, width in zip(fitted, widths)]
    return _GAP.join(padded).rstrip()
