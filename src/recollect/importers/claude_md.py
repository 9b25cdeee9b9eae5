"""Guidance: what CLAUDE.md, AGENTS.md and rule files tell an agent, one record for each rule.

Conservative: a sentence becomes a record if it is worded as a rule, or stands under a heading that promises rules;
descriptions of the project are left where they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from recollect import markdown
from recollect.importers import rule_text
from recollect.markdown import Block, Section
from recollect.record.memory import Memory
from recollect.text import cut

MOST_RECORDS = 400
_LONGEST_JOINED = 500
_LONGEST_PARAGRAPH = 380
_LONGEST_TITLE = 100
_STANDS_ALONE = 4
"""Words from which a sentence says what it is about."""

_END = re.compile(r"(?<=[.!?])\s|;\s|:\s(?=.{60})")

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
_MOST_BARE = 12
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
    """One thing that guidance says: under which topic, in which words, and where."""

    topic: str
    text: str
    line: int
    title: str = ""


def records(text: str, path: str, now: str) -> list[Memory]:
    """The rules in a text as records; what is worded strictly is a constraint, the rest a preference."""
    page = markdown.read(text)
    name = os.path.basename(path)
    given = [path[:500] for path in page.front.get("paths", ())[:50]]
    scope = {"paths": given} if given else _scope_of(path)
    found: list[Memory] = []
    for section in page.sections:
        for statement in statements(section):
            record = _record(statement, path, now, scope, name)
            found += [record] if record else []
    return found[:MOST_RECORDS]


def statements(section: Section) -> Iterator[Statement]:
    """What a section asks for, statement by statement."""
    topic = _topic(section)
    is_expected = any(_RULES_BELOW.search(title) for title in (section.title, *section.above[1:]))
    for text, line in _passages(section):
        if rule_text.is_rule(text, is_expected=is_expected):
            yield Statement(topic, text, line)
    is_of_commands = bool(_COMMANDS_BELOW.search(section.title))
    for block in section.blocks:
        if block.kind == "code" and (is_of_commands or block.language in _SHELLS):
            yield from _commands(topic, block, with_bare=is_of_commands)


def _record(statement: Statement, path: str, now: str, scope: dict[str, Any], name: str) -> Memory | None:
    more: dict[str, Any] = {"tags": _tags(statement.topic)}
    if scope:
        more["scope"] = scope
    text = _led_by_topic(statement)
    topic = statement.title or cut(_sentence(text), _LONGEST_TITLE).rstrip("…")
    title = statement.title or cut(_sentence(text).replace("`", ""), _LONGEST_TITLE)
    source = f"{path}:{statement.line}"[-1_000:]
    return rule_text.composed(title, text, topic=topic or name, source=source, name=name, now=now, **more)


def _led_by_topic(statement: Statement) -> str:
    """A rule, led by the heading it stands under where its first sentence is too short to stand alone."""
    is_short = not statement.title and len(_sentence(statement.text).split()) < _STANDS_ALONE
    return f"{statement.topic}: {statement.text}" if statement.topic and is_short else statement.text


def _sentence(text: str) -> str:
    """The first sentence of a rule, without the reason it gives."""
    said = rule_text.with_reason(text, rule_text.category_of(text))[0]
    return _END.split(said, maxsplit=1)[0].rstrip(".:; ")


def _passages(section: Section) -> Iterator[tuple[str, int]]:
    """Paragraphs and bullets; a paragraph that ends in a colon leads the bullets after it."""
    blocks = list(section.blocks)
    while blocks:
        block = blocks.pop(0)
        if block.kind not in ("paragraph", "bullet", "numbered"):
            continue
        text = _unlabelled(markdown.flat(block.text))
        led = _led(blocks) if block.kind == "paragraph" and text.endswith(":") else []
        joined = f"{text} {'; '.join(item.rstrip('.;') for item, _ in led)}"
        if not led:
            yield from ((part, block.line) for part in _parts(text, block.kind))
        elif len(joined) <= _LONGEST_JOINED:
            yield joined, block.line
        else:
            yield from ((f"{text} {item}", line) for item, line in led)


def _parts(text: str, kind: str) -> list[str]:
    """A long paragraph sentence by sentence, so that each rule in it can be told whole; anything else as it is."""
    if kind != "paragraph" or len(text) <= _LONGEST_PARAGRAPH:
        return [text]
    found: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"'(])", text):
        if found and _GOES_ON.match(sentence):
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return found


def _led(blocks: list[Block]) -> list[tuple[str, int]]:
    """The items that stand first in a list of blocks, taken out of it."""
    found = []
    while blocks and blocks[0].kind in ("bullet", "numbered"):
        block = blocks.pop(0)
        found.append((_unlabelled(markdown.flat(block.text)), block.line))
    return found


def _unlabelled(text: str) -> str:
    """The text without a cry for attention before it, be it a word or a picture."""
    found = _LABEL.match(text)
    return text[found.end() :] if found else text


def _commands(topic: str, block: Block, *, with_bare: bool) -> Iterator[Statement]:
    """Commands with what they are for, from the comment beside or above each; the others together."""
    above, bare = "", list[str]()
    for number, line in enumerate(block.text.split("\n"), block.line + 1):
        command, hash_, comment = line.strip().removeprefix("$ ").partition(" #")
        if line.lstrip().startswith("#"):
            above = line.lstrip("# ").strip()
            continue
        purpose = comment.strip() if hash_ else above
        above = ""
        if command.strip() and len(purpose.split()) > 1:
            title = cut(purpose[:1].upper() + purpose[1:], _LONGEST_TITLE)
            yield Statement(topic, f"{title}: `{command.strip()}`", number, title)
        elif command.strip():
            bare.append(f"`{command.strip()}`")
    if with_bare and topic and 0 < len(bare) <= _MOST_BARE:
        yield Statement(topic, f"{topic}: {'; '.join(bare)}", block.line, topic)


def _topic(section: Section) -> str:
    """The heading; one that could stand in any document is led by the one above it."""
    title = section.title if section.level > 1 or not section.above else ""
    if section.above[1:] and _GENERIC.fullmatch(title):
        title = f"{section.above[-1]}: {title}"
    return cut(title, 120)


def _tags(topic: str) -> list[str]:
    words = re.findall(r"[^\W_]{3,}", topic.lower())
    return [word for word in dict.fromkeys(words) if word not in _COMMON][:5]


def _scope_of(path: str) -> dict[str, Any]:
    """Guidance in a folder is for that folder; at the top, and in a folder of settings, for all."""
    folder = os.path.dirname(path).replace(os.sep, "/").strip("/")
    is_general = not folder or os.path.isabs(path) or any(part.startswith(".") for part in folder.split("/"))
    return {} if is_general else {"paths": [f"{folder}/**"]}
