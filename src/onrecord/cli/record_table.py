"""Lists of records and drafts on a terminal, and the numbers of the last one, which can be typed instead of an id.

A row is number, title, category, age and id. A record that takes several lines begins with `head`, then `facts`.
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
"""Indent of the further lines of a record, as wide as its number."""

MARKS = ("\x02", "\x03")
"""Characters around a matching word, in a snippet that will be coloured."""

_MAX_NUMBERED = 1_000
"""Records of a listing that can be named by number: people do not read a larger number off a screen."""

_MAX_BYTES = 1_000_000


class TableRow(NamedTuple):
    """A record or draft in a list, and its group."""

    title: str
    category: str
    moment: str
    name: str
    group: str = ""


class ListedPath(NamedTuple):
    """A record or draft in a listing: its store, and its path there."""

    root: str
    path: str


def render(screen: Screen, table_rows: Sequence[TableRow], heads: tuple[str, ...] = _HEADS) -> str:
    """Return numbered lines for `table_rows`, each group under its name."""
    digits = len(str(len(table_rows)))
    cells = [
        (f"{number:>{digits}}", row.title, row.category, timestamps.age(row.moment), row.name)
        for number, row in enumerate(table_rows, 1)
    ]
    lines = table(screen, heads, cells, gives_way=_TITLE).split("\n")
    return "\n".join(_grouped(screen, lines[0], zip(table_rows, lines[1:])))


def _grouped(screen: Screen, head: str, row_lines: Iterable[tuple[TableRow, str]]) -> Iterator[str]:
    yield head
    for group, members in groupby(row_lines, key=lambda member: member[0].group):
        if group:
            yield ""
            yield screen.paint(clean(group), "bold", "cyan")
        yield from (line for _, line in members)


def head(screen: Screen, number: int, title: str) -> str:
    """Return the first line of a record that takes several."""
    return f"{number:>{len(INDENT) - 2}}  {screen.paint(clean(title), 'bold')}"


def facts(*parts: str) -> str:
    """Return the line below `head`: the facts of the record, in the order of a list."""
    return INDENT + " · ".join(filter(None, parts))


def coloured(screen: Screen, snippet: str) -> str:
    """Return a snippet with its marked words in colour; each word is cleaned alone, so that no record sets a colour."""
    words = []
    for word in snippet.split():
        plain = clean(word.strip("".join(MARKS)))
        words.append(screen.paint(plain, "bold", "cyan") if word.startswith(MARKS[0]) else plain)
    return " ".join(words)


def names(listed_paths: Sequence[ListedPath]) -> list[str]:
    """Return what to type for records of several stores; outside the project's store it begins with a flag."""
    by_path = {}
    for root in dict.fromkeys(record.root for record in listed_paths):
        in_store = [record.path for record in listed_paths if record.root == root]
        flag = paths.store_flag(paths.prefix_of(root))
        names = names_in(root, in_store)
        by_path.update({ListedPath(root, path): f"{flag}{name}" for path, name in zip(in_store, names)})
    return [by_path[record] for record in listed_paths]


def names_in(root: str, record_paths: Sequence[str]) -> list[str]:
    """Return what to type for the records at `record_paths`, in the one store that a command acts on."""
    short_names = reference.shortest_names(record_paths, record_names.paths(root))
    return [short_names[path] for path in record_paths]


def save_listing(listed_paths: Iterable[ListedPath]) -> None:
    """Keep the paths of a listing on a terminal, so that they can be named by number."""
    file = _file()
    if file is not None and sys.stdout.isatty():
        file.replace(
            json.dumps([list(record) for record in islice(listed_paths, _MAX_NUMBERED)]).encode(
                "utf-8", "surrogatepass"
            )
        )


def listed_path(text: str) -> ListedPath | None:
    """Return the path with this number in the last listing; None for any other text or number."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_NUMBERED))):
        return None
    listed_paths = _last_listing()
    return listed_paths[int(text) - 1] if 1 <= int(text) <= len(listed_paths) else None


def _last_listing() -> list[ListedPath]:
    file = _file()
    if file is None or not _is_recent(file.path):
        return []
    try:
        return [ListedPath(str(root), str(path)) for root, path in json.loads(file.read() or b"[]")]
    except (ValueError, TypeError):
        # Truncated by a full disk, or changed by hand.
        return []


def _is_recent(path: str) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime < LIFETIMES[FOLDER] * 86_400
    except OSError:
        return False


def _file() -> StateFile | None:
    """Return the file for this terminal; None if no stream is a terminal, or the terminal has no name."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None and stream.isatty():
            try:
                name = coldstart.content_hash(_terminal_name(stream.fileno()).encode())[:16]
            except OSError:
                # In a container the terminal may belong to the host, and have no file in /dev.
                return None
            return StateFile(os.path.join(paths.state_dir(), FOLDER, name), _MAX_BYTES, "last listing")
    return None


def _terminal_name(handle: int) -> str:
    """Return a name for this session of this terminal; on Windows, for the shell."""
    if sys.platform == "win32":
        return str(os.getppid())
    # The name of a closed terminal is used again; the number of its session is not.
    return f"{os.ttyname(handle)} {os.getsid(0)}"
