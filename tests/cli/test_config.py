"""config beyond what the transcripts show."""

from __future__ import annotations

import json

import pytest

from onrecord.search import relevance


def test_setting_one_key_keeps_the_others_and_their_order(project, onrecord):
    onrecord("init")
    path = project / ".claude/memory/memory-config.json"
    path.write_text('{"zzz": 1, "retrieval": {"enabled": false, "max_inject": 2}, "capture.mode": "off"}')

    onrecord("config", "set", "retrieval.max_inject", "1")
    onrecord("config", "set", "capture.mode", "propose")

    assert path.read_text() == (
        '{\n  "zzz": 1,\n  "retrieval": {\n    "enabled": false,\n    "max_inject": 1\n  },\n'
        '  "capture.mode": "propose"\n}\n'
    )


@pytest.mark.parametrize("words", [("set", "capture.max_suggestions", "0"), ("unset", "capture.max_suggestions")])
def test_a_setting_that_is_changed_is_no_longer_there_under_its_name_of_0_1_0(project, onrecord, words):
    path = project / ".claude/memory/memory-config.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"capture": {"max_offers": 1}}')
    before = json.loads(onrecord("config", "capture.max_suggestions", "--json").out)["settings"][0]["value"]

    onrecord("config", *words)

    assert before == 1
    assert json.loads(path.read_text()) == {"capture": {"max_suggestions": 0} if "set" in words else {}}


def test_a_broken_config_is_not_overwritten(project, onrecord):
    onrecord("init")
    path = project / ".claude/memory/memory-config.json"
    for text in ("{", "[]", '{"retrieval": 3}'):
        path.write_text(text)
        assert onrecord("config", "set", "retrieval.max_inject", "7").err.startswith("BAD_INPUT: ")
        assert path.read_text() == text


def test_the_origin_of_a_setting_is_told(project, onrecord, home):
    onrecord("config", "set", "retrieval.max_inject", "4", "--user")
    onrecord("config", "set", "capture.mode", "off")
    onrecord("config", "set", "retrieval.judge.enabled", "true", "--user")

    settings = {row["key"]: row for row in json.loads(onrecord("config", "--json").out)["settings"]}

    assert {
        key: (settings[key]["value"], settings[key]["origin"]) for key in ("retrieval.max_inject", "capture.mode")
    } == {
        "retrieval.max_inject": (4, str(home / ".claude/memory/memory-config.json")),
        "capture.mode": ("off", str(project / ".claude/memory/memory-config.json")),
    }
    assert settings["retrieval.judge.enabled"]["value"] is True
    assert settings["session_start.limit"]["origin"] == "default"


@pytest.mark.parametrize("words", [["capture.mode"], ["get", "capture.mode"], ["--no-pager", "get", "capture.mode"]])
def test_one_setting_is_shown(onrecord, words):
    onrecord("config", "set", "capture.mode", "off")

    (row,) = json.loads(onrecord("config", *words, "--json").out)["settings"]

    assert (row["key"], row["value"]) == ("capture.mode", "off")


def test_the_values_that_hold_are_shown_where_the_default_stands_for_another(onrecord):
    def value(key):
        return json.loads(onrecord("config", key, "--json").out)["settings"][0]["value"]

    assert value("retrieval.min_probability") == relevance.THRESHOLD
    assert value("retrieval.max_tokens") == 300
    onrecord("config", "set", "--user", "retrieval.min_probability", "0.4")
    onrecord("config", "set", "--user", "retrieval.max_inject", "6")
    assert (value("retrieval.min_probability"), value("retrieval.max_tokens")) == (0.4, 600)


def test_a_value_that_a_project_may_not_set_is_refused_with_the_command_for_your_own(project, onrecord):
    outcome = onrecord("config", "set", "capture.mode", "auto")

    assert outcome.err == (
        "BAD_INPUT: capture.mode: the default is 'propose', and a project may only lower that: 'auto' would be more "
        "risky\nfix: onrecord config set --user capture.mode auto\ndocs: onrecord docs BAD_INPUT\n"
    )
    onrecord("config", "set", "--user", "capture.mode", "auto")
    assert onrecord("config", "set", "capture.mode", "auto").code == 0


def test_a_project_is_not_told_that_a_threshold_was_set_which_is_not_used(project, onrecord):
    """A project may only raise it above what was measured; it said "0.6" and went on with 0.65."""
    outcome = onrecord("config", "set", "retrieval.min_probability", "0.6")

    assert (outcome.code, outcome.err) == (1, (
        f"BAD_INPUT: retrieval.min_probability: a project may only raise it, and what was measured is "
        f"{relevance.THRESHOLD}\nfix: onrecord config set --user retrieval.min_probability 0.6\n"
        "docs: onrecord docs BAD_INPUT\n"
    ))  # fmt: skip
    for value in ("0", "0.9"):
        assert onrecord("config", "set", "retrieval.min_probability", value).code == 0
    assert onrecord("config", "set", "--user", "retrieval.min_probability", "0.6").code == 0


def test_a_setting_and_a_value_are_not_taken_for_an_action(onrecord):
    outcome = onrecord("config", "retrieval.max_inject", "5")

    assert outcome.err == (
        "BAD_INPUT: retrieval.max_inject is a setting; use set to change it\n"
        "fix: onrecord config set retrieval.max_inject 5\ndocs: onrecord docs BAD_INPUT\n"
    )


def test_unsetting_what_is_not_set_writes_nothing(project, onrecord):
    onrecord("init")

    assert onrecord("config", "unset", "retrieval.max_inject").code == 0
    assert not (project / ".claude/memory/memory-config.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["set", "retrieval.max_inject", "[" * 100_000],
        ["get", "captur.mode"],
        ["captur.mode"],
        ["captur.mode", "x"],
        ["list", "x"],
    ],
)
def test_what_config_cannot_do_is_explained(onrecord, words):
    assert onrecord("config", *words).err.startswith("BAD_INPUT: ")


RISKIER = {
    "capture.mode": "auto",
    "checks.enforce": "deny",
    "checks.by_record.use-uv": "deny",
    "trust.clones": "host",
    "retrieval.judge.enabled": "true",
    "retrieval.judge.endpoint": "https://example.com",
    "retrieval.max_inject": "9",
    "categories.decision.retention_days": "1",
    "delete.grace_period_days": "0",
    "remotes": "platform",
}


@pytest.mark.parametrize("key", RISKIER)
def test_an_agent_cannot_make_the_users_own_settings_riskier(home, onrecord, key, monkeypatch):
    onrecord("config", "set", "--user", "remotes", "another")
    file = home / ".claude/memory/memory-config.json"
    before = file.read_text()
    monkeypatch.setenv("CLAUDECODE", "1")

    refused = onrecord("config", "set", "--user", key, RISKIER[key])

    assert refused.err.startswith(f"BAD_INPUT: only the user may change {key} like that")
    assert f"onrecord config set --user {key} {RISKIER[key]}" in " ".join(refused.err.split())
    assert file.read_text() == before
    monkeypatch.delenv("CLAUDECODE")
    assert onrecord("config", "set", "--user", key, RISKIER[key]).code == 0


def test_an_agent_cannot_unset_what_the_user_has_made_safer(home, onrecord, monkeypatch):
    for key, value in (("trust.clones", "ask"), ("capture.mode", "off"), ("retrieval.max_inject", "1")):
        onrecord("config", "set", "--user", key, value)
    file = home / ".claude/memory/memory-config.json"
    before = file.read_text()
    monkeypatch.setenv("CLAUDECODE", "1")

    for key in ("trust.clones", "capture.mode", "retrieval.max_inject"):
        assert onrecord("config", "unset", "--user", key).err.startswith("BAD_INPUT: only the user may change")
    assert file.read_text() == before


def test_an_agent_may_switch_off_for_the_user(onrecord, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")

    assert onrecord("config", "set", "--user", "retrieval.enabled", "false").code == 0
    assert onrecord("config", "set", "--user", "capture.mode", "off").code == 0
