"""The wording of rules: whether a text is one, which category it belongs to, and the reason it gives."""

from __future__ import annotations

import re
from typing import Any

from recollect.errors import Invalid
from recollect.record import compose
from recollect.record.memory import Memory
from recollect.text import cut

_LONGEST_VALUE = 2_000
_STRICT = re.compile(
    r"\b(?:must|never|do not|don['’]t|cannot|can['’]t|(?:is|are) not (?:allowed|supported|permitted)|not supported|"
    r"forbidden|prohibited|no more than|at most|limited to|required to|under no circumstances|"
    r"only (?:in|via|from|through))\b",
    re.IGNORECASE,
)
_GRAVE = re.compile(r"\b(?:never|must not|forbidden|prohibited|under no circumstances|critical)\b", re.IGNORECASE)
_LIMIT = re.compile(
    r"\b(?:cannot|can['’]t|not supported|no more than|at most|limited to|limit of|maximum)\b", re.IGNORECASE
)
_NORM = re.compile(
    r"\b(?:always|should|shall|prefer|avoid|instead of|rather than|make sure|ensure|we use|we write|we keep|"
    r"by default|unless|required|mandatory|not allowed|only use|stick to|be sure)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:please )?(?:use|run|prefer|avoid|keep|write|add|put|name|follow|ensure|check|call|place|return|throw|raise|"
    r"import|export|test|update|create|commit|format|document|define|handle|wrap|include|store|read|validate|mock|"
    r"set|start|stop|treat|pass|pin|log|limit|leave|ask|apply|break|build|declare|extract|fix|group|install|open|"
    r"order|push|rebase|regenerate|remove|rename|reuse|send|sort|split|squash|type|verify|when|if|before|after)\b",
    re.IGNORECASE,
)
_STRONG = re.compile(r"\b(?:always|strictly|mandatory|important|required)\b", re.IGNORECASE)
_SOFT = re.compile(
    r"\b(?:where possible|if possible|consider|ideally|try to|generally|usually|nice to)\b", re.IGNORECASE
)
_REASON = {
    "preference": re.compile(r"[,;:.–—-]?\s+(?:because|so that)[,:]?\s+(?=\S)", re.IGNORECASE),
    "constraint": re.compile(r"[,;:.–—-]?\s+(?:otherwise|or else)[,:]?\s+(?=\S)", re.IGNORECASE),
}


def category_of(text: str) -> str:
    """A constraint if it is worded as one, else a preference."""
    return "constraint" if _STRICT.search(text) else "preference"


def composed(
    title: str, text: str, *, topic: str, source: str, name: str, now: str, more: dict[str, Any], reason: str = ""
) -> Memory | None:
    """A preference or constraint made of a text; None if nothing in it fits a record."""
    category = category_of(text)
    value, own = with_reason(cut(text, _LONGEST_VALUE), category)
    content = _content(category, text, value, reason or own, topic=cut(topic, 200), name=name)
    values = {"title": title, "content": content, "origin": "import", "source": source, **more}
    try:
        return compose.compose(category, values, now=now, allow_secret=True)
    except Invalid:
        return None


def is_rule(text: str, *, is_expected: bool) -> bool:
    """Whether a statement asks for something; where rules are expected, anything that does not describe a file does."""
    words = text.split()
    if len(words) < 3 or text.startswith(("@", "http")) or text.endswith(":"):
        return False
    if _STRICT.search(text) or _NORM.search(text) or _IMPERATIVE.match(_after_label(text)):
        return True
    return is_expected and not _describes_a_path(text)


def _content(category: str, text: str, value: str, reason: str, *, topic: str, name: str) -> dict[str, Any]:
    if category == "preference":
        strength = "strong" if _STRONG.search(text) else "soft" if _SOFT.search(text) else "default"
        return {"topic": topic, "value": value, "reason": reason or f"{name} says so", "strength": strength}
    return {
        "kind": "limitation" if _LIMIT.search(text) else "policy",
        "rule": value,
        "impact": [reason or f"It goes against {name}"],
        "severity": "high" if _GRAVE.search(text) else "medium",
        "active": True,
    }


def with_reason(text: str, category: str) -> tuple[str, str]:
    """The rule of a single sentence, and the reason it gives; a longer text stays whole."""
    match = _REASON[category].search(text)
    if not match or ". " in text.rstrip(".") or len(text[: match.start()].split()) < 3:
        return text, ""
    reason = text[match.end() :].strip()
    return text[: match.start()].strip(), reason[:1].upper() + reason[1:]


def _after_label(text: str) -> str:
    """The text after a short label such as `Testing:`."""
    label, colon, rest = text.partition(": ")
    return rest if colon and len(label) < 40 else text


def _describes_a_path(text: str) -> bool:
    """Whether a line only says what a file or a folder is for."""
    name = text.split("`")[1] if text.startswith("`") and text.count("`") > 1 else ""
    return "/" in name and " " not in name
