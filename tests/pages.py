"""The pages of the documents, as tests read them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def anchor(heading: str) -> str:
    """Return the name that a forge gives to a heading in links."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def read(address: str) -> str:
    """Return the text of a page, or of its `##` section that the address names behind a `#`."""
    path, _, wanted = address.partition("#")
    text = (ROOT / path).read_text(encoding="utf-8")
    if not wanted:
        return text
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    return next(section for section in sections if anchor(section.partition("\n")[0]) == wanted)
