"""The rules in CLAUDE.md, AGENTS.md and rule files, one record for each.

A sentence becomes a record if it is worded as a rule, or is under a heading that promises rules; descriptions of the
project are left where they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from recollect import markdown
from recollect.coldstart import NamedTuple
from recollect.importers import rule_text
from recollect.markdown import Block, Section
from recollect.record.memory import Memory
from recollect.text import cut, sentences

# A file with more rules is generated; nobody would review its records.
MOST_RECORDS = 400
# A list is one rule with its lead-in up to here, and a paragraph one rule: what fits into a line or two of context.
_LONGEST_JOINED = 500
_LONGEST_PARAGRAPH = 380
_LONGEST_TITLE = 100
# A sentence of fewer words does not say what it is about.
_FEWEST_WORDS = 4
# A longer list of commands without comments is a script.
_MOST_BARE = 12
_CLAUSE = re.compile(r";\s|:\s(?=.{60})")
_RULES_BELOW = re.compile(
    r"\b(?:conventions?|rules?|guidelines?|style|standards?|practices?|principles?|gotchas?|pitfalls?|commands?|"
    r"testing|commits?|polic(?:y|ies)|preferences?|constraints?|requirements?|do(?:'s|s)?|don['’]?ts?|important|"
    r"notes?|security|workflow|naming|errors?)\b",
    re.IGNORECASE,
)
_COMMANDS_BELOW = re.compile(
    r"\b(?:commands?|build\w*|tests?|testing|run\w*|setup|install\w*|develop\w*|lint\w*|deploy\w*|"
    r"quick ?start|workflow|migrations?|releas\w*|format\w*|scripts?)\b",
    re.IGNORECASE,
)
_SHELLS = ("bash", "sh", "shell", "console", "zsh", "shell-session")
_GENERIC = re.compile(
    r"(?:the )?(?:rules?|notes?|important|general|guidelines?|do|don['’]?ts?|dos|conventions?|overview|"
    r"other|misc\w*)s?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:[^\x00-\x7f\w\s“‘«„]+\s*)?(?:(?:important|note|warning|critical|tip|caution)\s*[:!]\s*)?", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"(?:it|its|this|that|they|these|those|otherwise|so|but|and|then|which|there|here)\b", re.IGNORECASE
)
_COMMON = frozenset("the and for with from about when how your our this that all any use using".split())


class Statement(NamedTuple):
    """One rule or command: the heading it is under, its words, and its line."""

    topic: str
    text: str
    line: int
    title: str = ""


def records(text: str, path: str, now: str) -> list[Memory]:
    """The rules in a text as records; what is worded strictly is a constraint, the rest a preference."""
    page = markdown.read(text)
    paths = [path[:500] for path in page.front.get("paths", ())[:50]]
    scope = {"paths": paths} if paths else _scope_of(path)
    rules = (statement for section in page.sections for statement in _statements(section))
    return [record for rule in rules if (record := _record(rule, path, now, scope))][:MOST_RECORDS]


def _statements(section: Section) -> Iterator[Statement]:
    topic = _topic(section)
    is_expected = any(_RULES_BELOW.search(title) for title in (section.title, *section.above[1:]))
    for text, line in _passages(section):
        if rule_text.is_rule(text, is_expected=is_expected):
            yield Statement(topic, text, line)
    is_of_commands = bool(_COMMANDS_BELOW.search(section.title))
    for block in section.blocks:
        if block.kind == "code" and (is_of_commands or block.language in _SHELLS):
            yield from _commands(topic, block, with_bare=is_of_commands)


def _record(statement: Statement, path: str, now: str, scope: dict[str, Any]) -> Memory | None:
    text, name = statement.text, os.path.basename(path)
    if statement.topic and not statement.title and len(_headline(text).split()) < _FEWEST_WORDS:
        text = f"{statement.topic}: {text}"
    return rule_text.composed(
        statement.title or cut(_headline(text).replace("`", ""), _LONGEST_TITLE),
        text,
        topic=statement.title or cut(_headline(text), _LONGEST_TITLE).rstrip("…") or name,
        source=f"{path}:{statement.line}"[-1_000:],
        name=name,
        now=now,
        more={"tags": _tags(statement.topic), **({"scope": scope} if scope else {})},
    )


def _headline(text: str) -> str:
    """The first clause of a rule, without the reason it gives."""
    rule = rule_text.with_reason(text, rule_text.category_of(text))[0]
    return "".join(sentences(_CLAUSE.split(rule, maxsplit=1)[0])[:1]).rstrip(".:; ")


def _passages(section: Section) -> Iterator[tuple[str, int]]:
    """Paragraphs and list items with their lines; a paragraph that ends in a colon leads the items after it."""
    blocks = list(section.blocks)
    while blocks:
        block = blocks.pop(0)
        text = _unlabelled(block)
        is_lead = block.kind == "paragraph" and text.endswith(":")
        items: list[Block] = []
        while is_lead and blocks and blocks[0].kind in ("bullet", "numbered"):
            items.append(blocks.pop(0))
        joined = f"{text} {'; '.join(_unlabelled(item).rstrip('.;') for item in items)}"
        if block.kind in ("code", "table"):
            continue
        if not items:
            yield from ((part, block.line) for part in _parts(text, block.kind))
        elif len(joined) <= _LONGEST_JOINED:
            yield joined, block.line
        else:
            yield from ((f"{text} {_unlabelled(item)}", item.line) for item in items)


def _parts(text: str, kind: str) -> list[str]:
    """A long paragraph sentence by sentence, so that each rule in it is shown whole; anything else as it is."""
    if kind != "paragraph" or len(text) <= _LONGEST_PARAGRAPH:
        return [text]
    parts: list[str] = []
    for sentence in sentences(text):
        if parts and (_GOES_ON.match(sentence) or sentence[0].islower()):
            parts[-1] += f" {sentence}"
        else:
            parts.append(sentence)
    return parts


def _unlabelled(block: Block) -> str:
    """The text of a block without a word or a picture that only asks for attention."""
    text = markdown.flat(block.text)
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def _commands(topic: str, block: Block, *, with_bare: bool) -> Iterator[Statement]:
    """Commands with what they are for, from the comment beside or above each; the others together."""
    above, bare = "", list[str]()
    for number, line in enumerate(block.text.split("\n"), block.line + 1):
        command, hash_, comment = line.strip().removeprefix("$ ").partition(" #")
        if line.lstrip().startswith("#"):
            above = line.lstrip("# ").strip()
            continue
        purpose, above = comment.strip() if hash_ else above, ""
        if command.strip() and len(purpose.split()) > 1:
            title = cut(purpose[:1].upper() + purpose[1:], _LONGEST_TITLE)
            yield Statement(topic, f"{title}: `{command.strip()}`", number, title)
        elif command.strip():
            bare.append(f"`{command.strip()}`")
    if with_bare and topic and 0 < len(bare) <= _MOST_BARE:
        yield Statement(topic, f"{topic}: {'; '.join(bare)}", block.line, topic)


def _topic(section: Section) -> str:
    """The heading; one that could be in any document is led by the one above it."""
    title = section.title if section.level > 1 or not section.above else ""
    if section.above[1:] and _GENERIC.fullmatch(title):
        title = f"{section.above[-1]}: {title}"
    return cut(title, 120)


def _tags(topic: str) -> list[str]:
    words = re.findall(r"[^\W_]{3,}", topic.lower())
    return [word for word in dict.fromkeys(words) if word not in _COMMON][:5]


def _scope_of(path: str) -> dict[str, Any]:
    """Rules in a folder are for that folder; at the top, and in a folder of settings, for all."""
    folder = os.path.dirname(path).replace(os.sep, "/").strip("/")
    is_general = not folder or os.path.isabs(path) or any(part.startswith(".") for part in folder.split("/"))
    return {} if is_general else {"paths": [f"{folder}/**"]}
