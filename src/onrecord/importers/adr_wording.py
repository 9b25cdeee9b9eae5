"""How decisions are worded: where a sentence ends, what says that nothing is decided, what points to other text."""

from __future__ import annotations

import re

BECAUSE = re.compile(r"\s*,?\s*\b(?:because(?: of)?|since)\b[:,]?\s*", re.IGNORECASE)

NOTHING_YET = re.compile(
    r"(?:(?:not|to be) (?:yet )?(?:decided|determined|discussed|made)|we (?:will )?(?:still )?need to decide|"
    r"still (?:undecided|open)|there(?:'s|’s| is| are) (?:\w+ )?decisions? to (?:make|be made)|"
    r"(?:tbd|tbc|n/?a|todo|none|pending|undecided|wip)\b|no decision|"
    r"(?:this|we) (?:has|have) not (?:yet )?(?:been )?decided|decision (?:is )?pending|under discussion|in discussion)",
    re.IGNORECASE,
)

LEANS_ON_OTHER_TEXT = re.compile(
    r"\b(?:above|below|aforementioned|as (?:described|proposed|outlined|suggested|discussed|per|stated|follows)|"
    r"(?:this|these|the|that) (?:\w+ )?(?:proposal|approach|option|solution|suggestion|rfc|plan|recommendation|"
    r"document|adr|changes?|pattern|design)s?\b|the (?:former|latter|proposed|suggested|recommended)|"
    r"(?:implement|do|adopt|accept|approve|try|use|choose|go with|proceed with|go ahead with) (?:this|it|that|these|"
    r"both|all|them)\b|status quo|do nothing|here\b)",
    re.IGNORECASE,
)

STOP = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!](?:\s|$)")

SHORT = 110
"""Characters below which a text that points elsewhere says nothing itself."""


def whole(text: str) -> str:
    """The text without a last clause that leads to something left out, such as code."""
    while text.endswith(":"):
        text = text[: max(text.rfind(". "), text.rfind("; "), 0)].strip()
    return text
