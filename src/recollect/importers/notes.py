"""Notes: the files of Claude Code's auto memory folder, a record each."""

from __future__ import annotations

import os
import re

from recollect import markdown, timestamps
from recollect.importers import claude_md, rule_text
from recollect.markdown import Page
from recollect.record.memory import Memory
from recollect.text import cut

INDEX = "MEMORY.md"
_POINTER = re.compile(r"\([^()\s]+\.md\)|^`?[\w./-]+\.md\b")
_WHY = re.compile(r"(?:^|\s)why:\s*", re.IGNORECASE)
_HOW = re.compile(r"(?:^|\s)how to apply:\s*", re.IGNORECASE)


def records(text: str, path: str, now: str) -> list[Memory]:
    """The note in a text as a record; an index that holds notes itself is read like guidance."""
    page = markdown.read(text)
    name = os.path.basename(path)
    if name == INDEX and not page.front:
        return [] if _is_index(page) else claude_md.records(text, path, now)
    said = markdown.flat(" ".join(text for section in page.sections for text in section.prose))
    described = _first(page, "description")
    title = _first(page, "name") or described or next((s.title for s in page.sections if s.title), name)
    statement, reason = _parted(said or described)
    if not statement:
        return []
    record = rule_text.composed(
        cut(_spaced(title), 100),
        statement,
        topic=described or _spaced(title),
        reason=cut(reason, 600),
        source=f"{path}:1"[-1_000:],
        name=name,
        now=now,
        **_dates(_first(page, "modified"), now),
    )
    return [record] if record else []


def _parted(said: str) -> tuple[str, str]:
    """What a note says, with how to apply it, and why."""
    applied = _HOW.split(said, maxsplit=1)
    why = _WHY.split(applied[0], maxsplit=1)
    statement = f"{why[0].strip()} {applied[1].strip() if len(applied) > 1 else ''}".strip()
    return statement, why[1].strip() if len(why) > 1 else ""


def _first(page: Page, key: str) -> str:
    return (page.front.get(key) or [""])[0]


def _spaced(name: str) -> str:
    """A name made for a file as one made for people."""
    stem = name[:-3] if name.endswith(".md") else name
    return stem.replace("_", " ").replace("-", " ") if " " not in stem else stem


def _is_index(page: Page) -> bool:
    lines = [line for section in page.sections for block in section.blocks for line in block.text.split("\n")]
    return sum(bool(_POINTER.search(line)) for line in lines) * 2 >= len(lines)


def _dates(modified: str, now: str) -> dict[str, str]:
    is_past = timestamps.is_instant(modified) and modified <= now
    return {"created_at": modified, "updated_at": modified} if is_past else {}
