"""A check that a rule itself suggests: it forbids a command, an option, an import or changes of a file by name.

Only what the rule names literally after a word such as "never" or "instead of" counts. A person or an agent decides.
"""

from __future__ import annotations

import re

from onrecord.categories import CATEGORIES
from onrecord.record import check
from onrecord.record.check import COMMAND, EDIT, Check
from onrecord.record.memory import Memory

_PROGRAMS = frozenset(
    "ansible apt aws az brew bun bundle bunx cargo cmake composer conda curl deno docker dotnet gcloud gem gh git go"
    " gradle gulp helm jest just kubectl make mix mocha mvn mypy ninja npm npx nvm pip pip3 pipenv poetry pnpm pytest"
    " rake rm rsync ruff sed ssh sudo terraform tox tsc uv vitest webpack wget yarn".split()
)
_LITERAL = r"(?:`([^`\n]{1,120})`|\"([^\"\n]{1,80})\"|'([^'\n]{1,80})')"
_FORBIDDEN = re.compile(
    r"(?i)\b(?:never|not|no longer|don['’]t|do not|must not|may not|instead of|rather than|avoid|without|nie|niemals|"
    r"nicht|statt|nunca|en vez de)\s+(?:(?:use|using|run|running|call|calling|import|importing|edit|editing|change|"
    r"changing|touch|add|adding|install|installing|commit|commits?|push|the|a|an|any|with|by|hand|directly|from|to|of)"
    r"\s+){0,4}" + _LITERAL
)
_FORBIDDEN_TOOL = re.compile(
    r"(?i)\b(?:never|not|no longer|don['’]t use|do not use|instead of|rather than|avoid|statt|nicht|nunca)\s+"
    r"([a-z][a-z0-9-]{1,20}(?: (?:install|add|run|push|commit|test|build|init|create|i))?)\b"
)
_ABOUT_FILES = re.compile(r"(?i)\b(?:edit\w*|chang\w*|modif\w*|touch\w*|by hand|generated|rewrite)\b")
_ABOUT_IMPORTS = re.compile(r"(?i)\b(?:import\w*|librar\w*|package\w*|dependenc\w*|module\w*)\b")
_PATH = re.compile(r"(?:[\w.*@-]+/)+[\w.*@-]*|[\w.*-]+\.[a-z][a-z0-9]{0,5}")
_MODULE = re.compile(r"@?[A-Za-z][\w./-]{1,60}")
_ADVICE = re.compile(r"(?i)\b(?:use|run|with|prefer|statt dessen)\s+" + _LITERAL)
_MAX_RULE_CHARACTERS = 2_000


def propose(record: Memory) -> Check | None:
    """Return a check for the rule of a record; None if it has checks, is no rule, or names nothing to look for."""
    if record.checks or not CATEGORIES[record.category].is_rule:
        return None
    statement = record.text(CATEGORIES[record.category].statement)
    text = f"{record.title}.\n{statement}"[:_MAX_RULE_CHARACTERS]
    for forbidden in _forbidden(text):
        proposed = _check_of(forbidden, text)
        if proposed:
            proposed = proposed._replace(say=_advice(text, forbidden) or record.title[: check.MAX_TEXT_CHARACTERS])
            if not any(check.problems(proposed)):
                return proposed
    return None


def _forbidden(text: str) -> list[str]:
    """Return what a rule forbids by name: literals first, then names of tools."""
    literals = [next(filter(None, match.groups())).strip() for match in _FORBIDDEN.finditer(text)]
    tools = [match[1].strip() for match in _FORBIDDEN_TOOL.finditer(text)]
    return literals + [tool for tool in tools if tool.split()[0].lower() in _PROGRAMS]


def _check_of(forbidden: str, text: str) -> Check | None:
    first = forbidden.split()[0] if forbidden.split() else ""
    if first.startswith("-") and len(first) > 2:
        return Check((COMMAND,), has=(forbidden,))
    if first.lower() in _PROGRAMS or _is_run(forbidden, text):
        return Check((COMMAND,), starts=(forbidden,))
    if _PATH.fullmatch(forbidden) and _ABOUT_FILES.search(text) and not forbidden.startswith(("*.", "**")):
        return Check((EDIT,), paths=(forbidden,))
    if _MODULE.fullmatch(forbidden) and _ABOUT_IMPORTS.search(text):
        quoted = [f"{word}{mark}{forbidden}{mark}" for word in ("from ", "require(", "import ") for mark in "'\""]
        return Check((EDIT,), adds=(f"import {forbidden}", f"from {forbidden}", *quoted))
    if len(forbidden) > 3 and not forbidden.isalpha():
        return Check((EDIT,), adds=(forbidden,))
    return None


def _is_run(forbidden: str, text: str) -> bool:
    """True if the rule forbids to run something: "never run `black .`"."""
    before = text[: text.find(forbidden)].rstrip("`'\" ").lower()
    return before.endswith(("run", "running", "execute", "executing", "call", "calling")) and forbidden[0].isalpha()


def _advice(text: str, forbidden: str) -> str:
    """Return what the rule says to use instead, or nothing."""
    for match in _ADVICE.finditer(text):
        literal = next(filter(None, match.groups())).strip()
        if literal != forbidden:
            return f"use {literal}"
    return ""
