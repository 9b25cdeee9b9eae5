"""Markdown read for its prose. Imported by hooks: no regular expressions here."""

from __future__ import annotations


def without_comments(text: str) -> str:
    """The text without its comments; one that is never closed runs to the end."""
    kept: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        kept.append(text[end:start])
        end = text.find("-->", start + 4) + 3
        if end < 3:
            return "".join(kept)
    return "".join((*kept, text[end:]))


def without_code(text: str) -> list[str]:
    """The lines that are not in a fenced block."""
    kept: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence:
            kept.append(line)
    return kept


def first_paragraph(text: str) -> str:
    """The first prose on one line: no front matter, headings, comments, code, tables or rules."""
    paragraph: list[str] = []
    for line in _without_front_matter(without_code(without_comments(text))):
        stripped = line.strip()
        if stripped and stripped[0] not in "#|" and stripped.strip("-=*_ "):
            paragraph.append(stripped)
        elif paragraph:
            break
    return " ".join(" ".join(paragraph).split())


def _without_front_matter(lines: list[str]) -> list[str]:
    stripped = [line.strip() for line in lines]
    if stripped[:1] == ["---"] and "---" in stripped[1:]:
        return lines[stripped.index("---", 1) + 1 :]
    return lines
