"""Advice on a record: why it would rarely be found, and what it does not say yet."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord.capture import advice, prompt_languages
from tests.records import CONTENT, sample

RULE = "Use uv, never pip install."


def _advice(category: str = "decision", project: str = "", earlier: tuple[str, ...] = (), **fields: Any) -> list[tuple]:
    record = sample(category, **{"title": RULE, "triggers": ["poetry add kafka"], **fields})
    return list(advice.on(record, project, earlier_triggers=earlier))


def test_a_record_that_says_all_needs_no_advice():
    assert _advice("runbook", content={**CONTENT["runbook"], "trigger": "the disk of the broker is full"}) == []


@pytest.mark.parametrize(("category", "is_advised"), [("runbook", True), ("session_summary", False)])
def test_a_record_without_triggers_is_rarely_found(category, is_advised):
    advised = _advice(category, triggers=None)

    assert (("no triggers", "it has no triggers, so prompts in other words rarely find it") in advised) is is_advised


@pytest.mark.parametrize(
    ("category", "triggers", "is_advised"),
    [
        ("runbook", ["poetry add kafka"], True),
        ("runbook", ["poetry add kafka", "por qué no funciona el despliegue"], False),
        ("session_summary", ["poetry add kafka"], False),
    ],
)
def test_triggers_in_the_languages_that_the_team_types(tmp_path, category, triggers, is_advised):
    for _ in range(3):
        prompt_languages.note(str(tmp_path), "¿dónde guardamos las sesiones de los usuarios?")

    advised = _advice(category, str(tmp_path), triggers=triggers)

    text = "prompts in this project are also typed in Spanish: add triggers in Spanish too"
    assert (("languages", text) in advised) is is_advised
    assert "languages" not in [topic for topic, _ in _advice(category, "", triggers=triggers)]


def test_only_a_new_trigger_is_called_too_general():
    advised = _advice("runbook", triggers=["why"])

    assert [topic for topic, _ in advised] == ["generic"]
    assert advised[0].text.startswith('the trigger "why" has only words that any prompt may have')
    assert _advice("runbook", earlier=("why",), triggers=["why"]) == []


def test_a_title_that_names_a_topic_is_to_state_the_rule():
    content = {**CONTENT["decision"], "decision": "Sessions live in Postgres."}

    advised = _advice(title="Session storage", content=content)

    assert ("title", 'its title names a topic, and the title is what a session starts with: state the rule, such as '
            '"Session storage: Sessions live in Postgres"') in advised  # fmt: skip


def test_a_rule_that_a_program_can_check():
    content = {**CONTENT["decision"], "decision": "Run `uv add`, never `pip install`."}

    advised = _advice(title="Run uv add, never pip install", content=content)

    ((topic, text),) = [one for one in advised if one.about == "checks"]
    assert topic == "checks" and text.startswith("a program can check this rule: ")
    assert "pip install" in text
