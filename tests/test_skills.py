"""The skills: each does one job, is short, and is described in the words that people use for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKILLS = {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("skills/*/SKILL.md"))}
WORDS = {
    "search": ["search memory", "recall", "look up", "remember", "what did we decide", "leave off", "a rule for"],
    "save": ["remember this", "save", "don't forget", "make a note", "from now on", "decision"],
    "review": ["review", "accept", "reject", "inbox", "drafts", "waiting"],
    "import": ["import", "ADRs", "CLAUDE.md", "documents"],
    "improve": ["improve", "triggers", "duplicates", "never shown"],
    "status": ["memory status", "is the memory working", "how many", "why was nothing shown"],
    "config": ["settings", "memory config", "show me less", "turn the memory off", "turn off suggestions"],
}


def head(text: str) -> dict[str, str]:
    """Return the fields of a skill's head, which must be plain YAML: a colon in a text would end it."""
    fields = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
    assert [name for name, value in fields.items() if ": " in value or " #" in value] == []
    return fields


def test_there_is_a_skill_for_each_job() -> None:
    assert sorted(SKILLS) == sorted(WORDS)


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_is_short_and_named_after_its_folder(name: str) -> None:
    assert len(SKILLS[name].splitlines()) < 100
    assert head(SKILLS[name])["name"] == name


@pytest.mark.parametrize(("name", "words"), WORDS.items())
def test_a_description_has_the_words_that_people_use(name: str, words: list[str]) -> None:
    description = head(SKILLS[name])["description"]

    assert [word for word in words if word.lower() not in description.lower()] == []
    # Agents read all descriptions in every session.
    assert len(description) <= 450


@pytest.mark.parametrize("name", SKILLS)
def test_the_skills_that_a_skill_names_exist(name: str) -> None:
    assert set(re.findall(r"/memory:([a-z]+)", SKILLS[name])) <= set(SKILLS)
