"""How lists of records and drafts look on a terminal: a number, the title, the category, the age, what to type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from recollect import timestamps
from recollect.cli.output import Screen, clean, table
from recollect.coldstart import NamedTuple

_HEADS = ("", "title", "category", "age", "id")
_TITLE = 1


class Line(NamedTuple):
    """A record or draft in a list, and the group it stands in."""

    title: str
    category: str
    moment: str
    name: str
    group: str = ""


def render(screen: Screen, lines: Sequence[Line], heads: tuple[str, ...] = _HEADS) -> str:
    """The lines, numbered through, each group of them under its name."""
    digits = len(str(len(lines)))
    rows = [
        (f"{number:>{digits}}", line.title, line.category, timestamps.age(line.moment), line.name)
        for number, line in enumerate(lines, 1)
    ]
    text = table(screen, heads, rows, gives_way=_TITLE).split("\n")
    return "\n".join(_grouped(screen, text[0], zip(lines, text[1:])))


def _grouped(screen: Screen, head: str, lines: Iterable[tuple[Line, str]]) -> Iterator[str]:
    yield head
    for group, members in groupby(lines, key=lambda member: member[0].group):
        if group:
            yield ""
            yield screen.paint(clean(group), "bold", "cyan")
        yield from (text for _, text in members)
