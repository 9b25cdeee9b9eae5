"""Tables of figures on a page of the documentation, each between two marks that name the command that writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_END = "<!-- end -->"


def put(page: Path, command: str, tables: Mapping[str, str]) -> None:
    """Write tables into their places on a page."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin = f"<!-- {name}: written by `python -m bench {command}` -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table}\n{_END}{rest.partition(_END)[2]}"
    page.write_text(text, encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))
