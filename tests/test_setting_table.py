"""The table of settings is what its page says, and names of settings are understood as they may be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord.setting_table import (
    SETTINGS,
    Direction,
    Successor,
    direction,
    family,
    level,
    old_names,
    setting,
    successor,
    suggestion,
)
from onrecord.settings import Settings

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "config.md").read_text(encoding="utf-8")
ROWS = {
    line.split("`")[1]: [cell.strip() for cell in line.split(" | ")[1:]]
    for line in PAGE.splitlines()
    if line.startswith("| `")
}
"""The cells of the page after the key: default, values, what a project may do, and meaning."""

OWN = " Only your own config may set it."


def test_the_page_has_every_setting_in_the_order_of_the_table() -> None:
    assert list(ROWS) == list(SETTINGS)


@pytest.mark.parametrize("key", ROWS)
def test_the_page_of_settings_says_default_values_and_meaning(key: str) -> None:
    default, values, _, meaning = ROWS[key]
    declared = SETTINGS[key]

    assert json.loads(default.strip("`")) == (list(declared.default) if declared.default == () else declared.default)
    assert meaning.rstrip(" |") == declared.doc + (OWN if declared.user_only else "")
    assert (values in ("true / false", "text", "list of names")) is (
        not declared.choices and (declared.minimum, declared.maximum) == (0, 0)
    )
    if declared.choices:
        assert values.replace("`", "").split(" / ") == list(declared.choices)
    elif " to " in values:
        assert tuple(map(float, values.split(" to "))) == (declared.minimum, declared.maximum)


VERBS = {"not set it": "none", "set it": "any", "choose among yours": "part", "lower it": "down", "raise it": "up"}


@pytest.mark.parametrize("key", ROWS)
def test_the_page_of_settings_says_what_a_project_may_do(key: str) -> None:
    verb, _, otherwise = ROWS[key][2].partition(" (else ")
    allowed = direction(key)

    assert allowed.way == VERBS[verb]
    assert allowed.verb == {"down": "lower", "up": "raise"}.get(allowed.way, "leave")
    assert otherwise.rstrip(")") == ("" if allowed.way == "none" else allowed.refused)


EFFECTS = {
    "retrieval.enabled": "hides",
    "retrieval.min_probability": "hides",
    "retrieval.match_strategy": "hides",
    "session_start.relevance_weight": "reorders",
    "categories.decision.description": "adds",
    "categories.decision.retention_days": "adds",
    "delete.grace_period_days": "adds",
    "export.file": "renews",
    "remotes": "hides",
    "retrieval.judge.enabled": "",
    "trust.clones": "",
}


@pytest.mark.parametrize(("key", "effect"), EFFECTS.items())
def test_what_a_projects_change_does_to_what_is_shown(key: str, effect: str) -> None:
    assert direction(key).effect == effect


def test_what_is_no_setting_is_not_for_a_project() -> None:
    assert direction("no.such.setting") == Direction("none", "more risky")


@pytest.mark.parametrize("key", ["retrieval.holdout", "session_start.relevance_weight"])
def test_a_share_that_is_out_of_range_has_no_nearest_value(key: str) -> None:
    assert SETTINGS[key].is_exact
    assert sum(declared.is_exact for declared in SETTINGS.values()) == 2


@pytest.mark.parametrize(
    ("key", "value", "number"),
    [
        ("capture.mode", "off", 0.0),
        ("capture.mode", "auto", 2.0),
        ("checks.by_record.use-uv", "ask", 1.0),
        ("categories.decision.retention_days", 0, float("inf")),
        ("categories.decision.retention_days", 30, 30.0),
        ("delete.grace_period_days", 0, 0.0),
        ("retrieval.enabled", True, 1.0),
        ("retrieval.min_probability", 0.25, 0.25),
        ("remotes", ("platform",), 0.0),
    ],
)
def test_a_value_as_a_number(key: str, value: object, number: float) -> None:
    assert level(key, value) == number


@pytest.mark.parametrize(
    ("key", "declared_as"),
    [
        ("categories.decision.enabled", "categories.*.enabled"),
        ("categories.tech_debt.retention_days", "categories.*.retention_days"),
        ("categories.recipe.enabled", "categories.recipe.enabled"),
        ("categories.decision", "categories.decision"),
        ("categories.decision.enabled.now", "categories.decision.enabled.now"),
        ("kinds.decision.enabled", "kinds.decision.enabled"),
        ("categories.session_summary.max_retained", "categories.session_summary.max_retained"),
        ("checks.by_record.use-uv", "checks.by_record.*"),
        ("checks.by_record.v2", "checks.by_record.*"),
        ("checks.by_record.use uv", "checks.by_record.use uv"),
        ("checks.by_record.use.uv", "checks.by_record.use.uv"),
        ("checks.by_name.use-uv", "checks.by_name.use-uv"),
        ("checks.enforce", "checks.enforce"),
    ],
)
def test_the_key_under_which_a_setting_is_declared(key: str, declared_as: str) -> None:
    assert family(key) == declared_as
    assert setting(key) is SETTINGS.get(declared_as)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("capture.max_offers", 3, Successor("capture.max_suggestions", 3, is_reported=False)),
        ("triage.enabled", True, Successor("capture.mode", None)),
        ("triage.enabled", False, Successor("capture.mode", "off")),
        ("triage.enabled", 0, Successor("capture.mode", None)),
        ("retrieval.judge.include_conversation_context", False, Successor("retrieval.judge.context_turns", 0)),
        ("retrieval.judge.timeout_per_call", 2.0, Successor("retrieval.judge.timeout_seconds", 2.0)),
        ("retrieval.judge.candidate_pool_size", 9, Successor("retrieval.judge.max_candidates", 9)),
        ("retrieval.max_inject", 3, None),
    ],
)
def test_the_successor_of_an_old_setting(key: str, value: object, expected: Successor | None) -> None:
    assert successor(key, value) == expected
    assert expected is None or (expected.is_reported, old_names(expected.key)) == (key != "capture.max_offers", [key])


@pytest.mark.parametrize(
    "key",
    [
        "retrieval.judge.price_in",
        "retrieval.judge.price_out",
        "retrieval.judge.fallback_top_k",
        "session_start.max_characters",
    ],
)
def test_a_setting_of_an_earlier_version_is_no_misspelling(key: str) -> None:
    settings = Settings()
    settings.take("config", True, {key: 1})

    assert (settings.problems, settings.origins, setting(key)) == ([], {}, None)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("retreival.max_inject", "retrieval.max_inject"),
        ("max_tokens", "session_start.max_tokens"),
        ("judge.model", "retrieval.judge.model"),
        ("categories.desicion.enabled", "categories.decision.enabled"),
        ("categories.runbok.retention_day", "categories.runbook.retention_days"),
        ("trust.clone", "trust.clones"),
        ("remote", "remotes"),
        ("trust.abc", ""),
        ("zzz", ""),
        ("retrieval.judge.model.name", ""),
        # Seven letters of ten are the least that counts as a misspelling.
        ("remo", "remotes"),
        ("rem", ""),
    ],
)
def test_the_setting_that_is_most_like_a_misspelt_key(key: str, nearest: str) -> None:
    assert suggestion(key) == nearest
