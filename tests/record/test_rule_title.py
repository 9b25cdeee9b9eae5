"""Titles that state the rule, and the lines for those that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.record import rule_title
from onrecord.record.memory import Memory

RULES = (
    "Never use Stripe's expand; wrap Stripe calls in our library",
    "Sessions live in Postgres, not Redis",
    "Use Figma for design prototyping",
    "Replace Create-React-App with Vite",
    "Failed authorization returns 404",
    "Arrays persist in the single-array NPY binary format",
    "Variable names in YAML and Terraform files are in snake case",
    "ADR 12: Use Postgres",
    "PRs are merged, branches rebased",
    "No PII in metrics and traces",
    "Critical JavaScript stays under 120KB",
)
TOPICS = (
    "Authentication in settings",
    "Use of GraphQL",
    "ADR 12: Database",
    "Database",
    "API Framework and Libraries",
    "Document Storage",
    "Communications Tooling: Wiki Platform",
    "How should we deploy?",
    "Choose a database",
    "Change in architecture to Asset Master",
    "Schema Validation with Joi",
)
OTHER_LANGUAGES = (
    "数据库迁移",
    "Аутентификация в настройках",
    "Anmeldung in den Einstellungen und Rechte von Gästen",
    "Supprimer Bootstrap au profit du DSFR",
    "Guardar la base de datos sin claves",
)


@pytest.mark.parametrize("title", RULES)
def test_a_title_that_says_what_to_do_states_a_rule(title):
    assert rule_title.states_a_rule(title)


@pytest.mark.parametrize("title", TOPICS)
def test_a_title_that_names_a_topic_states_no_rule(title):
    assert not rule_title.states_a_rule(title)


@pytest.mark.parametrize("title", OTHER_LANGUAGES)
def test_nobody_is_asked_to_change_a_title_in_another_language(title):
    assert rule_title.states_a_rule(title)


@pytest.mark.parametrize(
    ("title", "rule", "line"),
    [
        ("Use Figma for design", "Figma. It is good.", "Use Figma for design"),
        ("Search Engine", "OpenSearch", "Search Engine: OpenSearch"),
        ("API Language", "Python. It can do everything.", "API Language: Python"),
        ("API Documentation", "We will document our API with OpenAPI 3.", "Document our API with OpenAPI 3"),
        (
            "Database",
            "While both would do, especially since version 8, in the end Postgres was chosen. It is free.",
            "Database: Postgres was chosen",
        ),
        (
            "ADR-0007: Chat",
            "We looked at four tools for a month. We have decided to use Slack for everybody because people know it.",
            "Chat: Use Slack for everybody",
        ),
        ("Clusters", "1. We will run one for each unit. 2. We pay for it.", "Clusters: Run one for each unit"),
        ("Database", "", "Database"),
        ("Search Engine: OpenSearch", "OpenSearch. We will use it for everything.", "Search Engine: OpenSearch"),
        ("Hosting", "The team has selected AWS for hosting due to:", "The team has selected AWS for hosting"),
    ],
)
def test_the_line_of_a_topic_says_its_subject_and_the_beginning_of_the_rule(title, rule, line):
    assert rule_title.line(title, rule) == line


def test_a_long_rule_is_cut_at_a_clause():
    rule = "Keep every file that a user sends us for thirty days in the cold bucket, then in the archive, " + "x" * 100

    assert rule_title.line("Retention", rule) == (
        "Retention: Keep every file that a user sends us for thirty days in the cold bucket, then in the archive"
    )


@pytest.mark.parametrize(
    ("category", "content", "line"),
    [
        ("constraint", {"rule": "Uploads stay below 5 MB."}, "Limits: Uploads stay below 5 MB"),
        ("preference", {"topic": "limits", "value": "Name each in code"}, "Limits: Name each in code"),
        (
            "runbook",
            {"trigger": "A quota is full.", "steps": ["ask for more", "wait"]},
            "Limits: A quota is full → ask for more",
        ),
        ("tech_debt", {"description": "Nothing checks the quota."}, "Limits: Nothing checks the quota"),
    ],
)
def test_each_category_has_its_own_rule(category, content, line):
    assert rule_title.of_record(Memory(category, "limits", "Limits", content)) == line


def test_a_better_title_is_proposed_only_for_a_topic():
    topic = Memory("decision", "database", "Database", {"decision": "We will use Postgres 16."})

    assert rule_title.proposal(topic) == "Database: Use Postgres 16"
    assert rule_title.proposal(topic._replace(title="Data lives in Postgres 16")) == ""
    assert rule_title.proposal(topic._replace(content={})) == ""
    assert (
        rule_title.proposal(topic._replace(content={"decision": "These are written down in the plan of 2019."})) == ""
    )


def test_a_title_that_somebody_made_to_be_endless_is_one_line():
    assert len(rule_title.line("a: " * 50_000, "b, " * 50_000)) <= rule_title.MAX_CHARACTERS


@given(st.text(max_size=200), st.text(max_size=3_000))
def test_any_text_makes_one_line_of_bounded_length(title, rule):
    line = rule_title.line(title, rule)

    assert len(line) <= rule_title.MAX_CHARACTERS
    assert "\n" not in line
