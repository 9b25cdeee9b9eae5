"""How lists of records and drafts look on a terminal: a number, the title, the category, the age, what to type.

A list whose records take several lines begins each with `head`, and has the same parts in the same order below it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from onrecord import coldstart, paths, timestamps
from onrecord.cli.output import Screen, clean, table
from onrecord.coldstart import NamedTuple
from onrecord.state_file import LIFETIMES, StateFile
from onrecord.store import record_names, reference

FOLDER = "listings"
_HEADS = ("", "title", "category", "age", "id")
_TITLE = 1
INDENT = "    "
"""What stands before the further lines of a record: its number has this room."""

MARKS = ("\x02", "\x03")
"""What stands around a word that matches, in a snippet that is to be coloured."""

NOTHING = "Nothing found. Other words may help, or --include-retired."
_MOST = 1_000
"""Records of a listing that can be named: nobody reads a number beyond that off a screen."""

_LARGEST = 1_000_000


class TableRow(NamedTuple):
    """A record or draft in a list, and the group it stands in."""

    title: str
    category: str
    moment: str
    name: str
    group: str = ""


class ListedPath(NamedTuple):
    """A record or draft that was listed: its store, and its path in it."""

    root: str
    path: str


def render(screen: Screen, lines: Sequence[TableRow], heads: tuple[str, ...] = _HEADS) -> str:
    """The lines, numbered through, each group of them under its name."""
    digits = len(str(len(lines)))
    rows = [
        (f"{number:>{digits}}", line.title, line.category, timestamps.age(line.moment), line.name)
        for number, line in enumerate(lines, 1)
    ]
    text = table(screen, heads, rows, gives_way=_TITLE).split("\n")
    return "\n".join(_grouped(screen, text[0], zip(lines, text[1:])))


def _grouped(screen: Screen, head: str, lines: Iterable[tuple[TableRow, str]]) -> Iterator[str]:
    yield head
    for group, members in groupby(lines, key=lambda member: member[0].group):
        if group:
            yield ""
            yield screen.paint(clean(group), "bold", "cyan")
        yield from (text for _, text in members)


def head(screen: Screen, number: int, title: str) -> str:
    """The first line of a record that takes several."""
    return f"{number:>{len(INDENT) - 2}}  {screen.paint(clean(title), 'bold')}"


def facts(*parts: str) -> str:
    """The line below it: what is known of the record, in the order of a list."""
    return INDENT + " · ".join(filter(None, parts))


def coloured(screen: Screen, snippet: str) -> str:
    """A snippet with its marked words highlighted; each word is cleaned by itself, so no record can set a colour."""
    words = []
    for word in snippet.split():
        plain = clean(word.strip("".join(MARKS)))
        words.append(screen.paint(plain, "bold", "cyan") if word.startswith(MARKS[0]) else plain)
    return " ".join(words)


def names(listed: Sequence[ListedPath]) -> list[str]:
    """What to type for records of several stores; those of another store than the project's begin with its flag."""
    typed = {}
    for root in dict.fromkeys(record.root for record in listed):
        inside = [record.path for record in listed if record.root == root]
        flag = paths.store_flag(paths.prefix_of(root))
        typed.update({ListedPath(root, path): f"{flag}{name}" for path, name in zip(inside, names_in(root, inside))})
    return [typed[record] for record in listed]


def names_in(root: str, listed: Sequence[str]) -> list[str]:
    """What to type for records of the one store that a command acts on, by their paths."""
    typed = reference.shortest_names(listed, record_names.paths(root))
    return [typed[path] for path in listed]


def save_listing(listed: Iterable[ListedPath]) -> None:
    """Keep what was listed, if it was listed on a terminal."""
    file = _file()
    if file is not None and sys.stdout.isatty():
        file.replace(json.dumps([list(each) for each in islice(listed, _MOST)]).encode("utf-8", "surrogatepass"))


def listed_path(typed: str) -> ListedPath | None:
    """What a number means here; None for any other text, and for a number that was not listed."""
    if not (typed.isascii() and typed.isdigit() and len(typed) <= len(str(_MOST))):
        return None
    listed = _listed()
    return listed[int(typed) - 1] if 1 <= int(typed) <= len(listed) else None


def _listed() -> list[ListedPath]:
    file = _file()
    if file is None or not _is_recent(file.path):
        return []
    try:
        return [ListedPath(str(root), str(path)) for root, path in json.loads(file.read() or b"[]")]
    except (ValueError, TypeError):
        # Cut short by a full disk, or changed by hand: as good as none.
        return []


def _is_recent(path: str) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime < LIFETIMES[FOLDER] * 86_400
    except OSError:
        return False


def _file() -> StateFile | None:
    """The file for this terminal; None if no stream of ours is one, or the terminal has no name here."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None and stream.isatty():
            try:
                name = coldstart.content_hash(_terminal(stream.fileno()).encode())[:16]
            except OSError:
                # In a container the terminal may be one of the machine outside, which has no file in /dev.
                return None
            return StateFile(os.path.join(paths.state_dir(), FOLDER, name), _LARGEST, "last listing")
    return None


def _terminal(handle: int) -> str:
    """A name for this session of this terminal; on Windows, for the shell."""
    if sys.platform == "win32":
        return str(os.getppid())
    # The name of a terminal that was closed is given to the next; the number of its session is not.
    return f"{os.ttyname(handle)} {os.getsid(0)}"
