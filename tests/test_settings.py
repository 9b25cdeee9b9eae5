from __future__ import annotations

import json
import os

import pytest
from hypothesis import given

from onrecord import setting_table
from onrecord.cli import main
from onrecord.setting_table import DIRECTIONS, SETTINGS, direction, family, level
from onrecord.settings import Settings, load_settings, project_settings
from tests import config_files
from tests.records import any_json


def test_without_files_every_default_holds(tmp_path):
    settings = config_files.load(tmp_path)

    assert settings.problems == []
    assert settings.count("retrieval.max_inject") == 3
    assert settings.text("retrieval.match_strategy") == "fts5_bm25"
    assert settings.count("categories.session_summary.max_retained") == 5
    assert settings.number("delete.grace_period_days") == 30
    assert settings.text("capture.mode") == "propose"
    assert settings.is_enabled("runbook")
    assert settings.retention_days("runbook") == 0


def test_a_projects_settings_go_over_the_users_and_each_knows_its_origin(tmp_path):
    settings = config_files.load(
        tmp_path,
        project={"retrieval": {"max_inject": 2}, "categories": {"runbook": {"enabled": False}}},
        user={"retrieval": {"max_inject": 9, "enabled": False}},
    )

    assert (settings.count("retrieval.max_inject"), settings.flag("retrieval.enabled")) == (2, False)
    assert not settings.is_enabled("runbook")
    assert {key: os.path.basename(os.path.dirname(file)) for key, file in settings.origins.items()} == {
        "retrieval.max_inject": "project",
        "retrieval.enabled": "user",
        "categories.runbook.enabled": "project",
    }


@pytest.mark.parametrize(
    ("values", "key", "message"),
    [
        ({"retrieval": {"max_inject": 2.5}}, "retrieval.max_inject", "must be a whole number; 3 is used"),
        ({"retrieval": {"max_inject": "3"}}, "retrieval.max_inject", "must be a number; 3 is used"),
        ({"retrieval": {"max_inject": True}}, "retrieval.max_inject", "must be a number; 3 is used"),
        ({"retrieval": {"max_inject": None}}, "retrieval.max_inject", "must be a number; 3 is used"),
        ({"retrieval": {"enabled": 1}}, "retrieval.enabled", "must be true or false; True is used"),
        ({"capture": {"mode": "always"}}, "capture.mode", "must be one of off, propose, auto; 'propose' is used"),
        ({"capture": {"mode": 1}}, "capture.mode", "must be a text; 'propose' is used"),
        ({"retreival": {"max_inject": 1}}, "retreival.max_inject",
         "is not a setting; did you mean retrieval.max_inject?"),
        ({"zzz": 1}, "zzz", "is not a setting"),
        ({"max_inject": 1}, "max_inject", "is not a setting; did you mean retrieval.max_inject?"),
        ({"digest": {"enabled": False}}, "digest.enabled", "is not a setting"),
        ({"categories": {"*": {"enabled": False}}}, "categories.*.enabled",
         "is not a setting; did you mean categories.tech_debt.enabled?"),
        ({"categories": {"decision": {"max_retained": 2}}}, "categories.decision.max_retained", None),
        ({"retrieval": {"judge": {"enabled": True}}}, "retrieval.judge.enabled",
         "may be set in your own config only (~/.claude/memory/memory-config.json), not in a project's"),
        ([], "(whole file)", "must be a JSON object"),
        (b"{", "(whole file)", None),
        (b"\xff", "(whole file)", None),
        (b"[" * 100_000, "(whole file)", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_and_the_default_used(tmp_path, values, key, message):
    settings = config_files.load(tmp_path, project=values)

    (problem,) = settings.problems
    assert problem.key == key
    assert message is None or problem.message == message
    assert settings.origins == {}
    assert str(problem).startswith(f"{tmp_path}/repo/.claude/project/memory-config.json: {key}: ")


@pytest.mark.parametrize(
    ("text", "used"), [("25", 20), ("21", 20), ("-1", 0), ("1e999", 20), ("-1e999", 0), ("1" + "0" * 400, 20)]
)
def test_a_number_out_of_range_means_the_nearest_within_it(tmp_path, text, used):
    settings = config_files.load(tmp_path, user=f'{{"retrieval": {{"max_inject": {text}}}}}'.encode())

    assert settings.count("retrieval.max_inject") == used
    assert [problem.message for problem in settings.problems] == [f"must be from 0 to 20; {used} is used"]


def test_not_a_number_is_none(tmp_path):
    settings = config_files.load(tmp_path, project=b'{"retrieval": {"max_inject": NaN}}')

    assert settings.count("retrieval.max_inject") == 3
    assert len(settings.problems) == 1


OLD = [
    ("triage.enabled", False, "capture.mode", "off", "is now capture.mode: 'off' is used"),
    ("triage.enabled", True, "capture.mode", "propose", "is now capture.mode, and can be left out"),
    ("retrieval.judge.timeout_per_call", 2.0, "retrieval.judge.timeout_seconds", 2.0,
     "is now retrieval.judge.timeout_seconds: 2.0 is used"),
    ("retrieval.judge.timeout_per_call", 30, "retrieval.judge.timeout_seconds", 2.5,
     "is now retrieval.judge.timeout_seconds: must be from 0.1 to 2.5; 2.5 is used"),
    ("retrieval.judge.candidate_pool_size", 20, "retrieval.judge.max_candidates", 20,
     "is now retrieval.judge.max_candidates: 20 is used"),
    ("retrieval.judge.include_conversation_context", False, "retrieval.judge.context_turns", 0,
     "is now retrieval.judge.context_turns: 0 is used"),
    ("retrieval.judge.include_conversation_context", True, "retrieval.judge.context_turns", 5,
     "is now retrieval.judge.context_turns, and can be left out"),
    ("capture.max_offers", 5, "capture.max_suggestions", 5, None),
    ("capture.max_offers", 50, "capture.max_suggestions", 20,
     "is now capture.max_suggestions: must be from 0 to 20; 20 is used"),
    ("retrieval.judge.context_turns", 3, "retrieval.judge.context_turns", 3, None),
]  # fmt: skip


@pytest.mark.parametrize(("old", "value", "new", "used", "message"), OLD)
def test_a_setting_of_0_1_0_or_the_earlier_plugin_carries_over(tmp_path, old, value, new, used, message):
    config_files.load(tmp_path, user={old: value})

    settings = load_settings(str(tmp_path / "user"), str(tmp_path / "user"))

    assert settings.text(new) == str(used)
    assert [problem.message for problem in settings.problems] == ([message] if message else [])


@pytest.mark.parametrize("key", setting_table.REMOVED)
def test_a_setting_that_was_removed_is_ignored_without_a_word(tmp_path, key, capsys):
    config_files.load(tmp_path, user={key: 1.5})

    settings = load_settings(str(tmp_path / "user"), str(tmp_path / "user"))

    assert (settings.problems, settings.origins) == ([], {})
    assert main(["config", "set", "--user", key, "2"]) == 1
    assert capsys.readouterr().err.startswith(f"BAD_INPUT: {key} is no longer a setting\n")


def test_an_old_setting_gives_way_to_the_new_one_beside_it(tmp_path):
    settings = config_files.load(tmp_path, project={"triage": {"enabled": False}, "capture": {"mode": "propose"}})

    assert settings.text("capture.mode") == "propose"
    assert [problem.message for problem in settings.problems] == ["is now capture.mode, which is set too and is used"]


def test_an_old_setting_is_no_way_around_what_only_the_user_may_set(tmp_path):
    settings = config_files.load(tmp_path, project={"retrieval": {"judge": {"timeout_per_call": 1}}})

    assert settings.number("retrieval.judge.timeout_seconds") == 2.5
    assert "may be set in your own config only" in settings.problems[0].message


@pytest.mark.parametrize("key", ["triage.mode", "digest.enabled", "judge.on", "capture.enabled", "search.max_tokens"])
def test_no_suggestion_is_better_than_a_setting_about_something_else(key):
    settings = Settings()
    settings.take("test", True, {key: False})

    assert [problem.message for problem in settings.problems] == ["is not a setting"]


def test_a_whole_number_may_be_written_with_a_point(tmp_path):
    assert config_files.load(tmp_path, user={"retrieval": {"max_inject": 4.0}}).count("retrieval.max_inject") == 4


def test_a_byte_order_mark_is_no_fault(tmp_path):
    settings = config_files.load(tmp_path, user=b'\xef\xbb\xbf{"retrieval": {"max_inject": 4}}')

    assert (settings.problems, settings.count("retrieval.max_inject")) == ([], 4)


def test_the_users_own_store_is_trusted_when_it_is_the_store(tmp_path):
    values = {"retrieval": {"judge": {"enabled": True}}}
    config_files.load(tmp_path, user=values)

    settings = load_settings(str(tmp_path / "user"), str(tmp_path / "user"))

    assert (settings.problems, settings.flag("retrieval.judge.enabled")) == ([], True)


@pytest.mark.parametrize("key", [key for key in SETTINGS if "judge" in key or "hub" in key or "endpoint" in key])
def test_what_could_reach_the_network_is_for_the_user_alone(key):
    assert SETTINGS[key].user_only


@pytest.mark.parametrize("key", SETTINGS)
def test_every_default_is_a_value_its_own_rule_accepts(key):
    settings = Settings()
    default = SETTINGS[key].default
    settings.take("test", True, {key.replace("*", "decision"): list(default) if default == () else default})

    assert settings.problems == []
    assert SETTINGS[key].doc.endswith(".")


@given(any_json)
def test_no_json_is_too_odd_for_a_config(tmp_path_factory, value):
    root = tmp_path_factory.mktemp("config")
    (root / "memory-config.json").write_text(json.dumps(value))

    settings = load_settings(str(root), "")

    for problem in settings.problems:
        assert problem.message


KEYS = [key.replace("*", "decision") for key in SETTINGS if key != "checks.by_record.*"] + ["checks.by_record.use-uv"]


def _candidates(key):
    """Return values of a setting over its whole range."""
    declared = SETTINGS[family(key)]
    if declared.choices:
        return list(declared.choices)
    if isinstance(declared.default, bool):
        return [False, True]
    if isinstance(declared.default, (int, float)):
        numbers = {declared.minimum, declared.maximum, declared.default, (declared.minimum + declared.maximum) / 2}
        return [type(declared.default)(number) for number in sorted(numbers)]
    return []


def _nested(key, value):
    """Return a config that sets one key."""
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def test_every_setting_declares_its_direction():
    assert {*DIRECTIONS} == {key for key, declared in SETTINGS.items() if not declared.user_only}
    for key in KEYS:
        allowed = direction(key)
        assert allowed.way in ("down", "up", "any", "part", "none")
        assert bool(allowed.refused) is (allowed.way != "any")
        assert allowed.way == "none" or allowed.effect in ("hides", "adds", "reorders", "renews")


@pytest.mark.parametrize("key", KEYS)
def test_a_project_goes_the_safe_way_only_from_the_users_value_or_the_default(tmp_path, key):
    declared = SETTINGS[family(key)]
    for number, (mine, projects) in enumerate(
        (mine, projects) for mine in (None, *_candidates(key)) for projects in _candidates(key)
    ):
        own = declared.default if mine is None else mine
        change = level(key, projects) - level(key, own) if projects != own else 0
        ways = {"down": change <= 0, "up": change >= 0, "any": True, "none": False}
        is_allowed = ways[direction(key).way]
        user = None if mine is None else _nested(key, mine)

        settings = config_files.load(tmp_path / str(number), _nested(key, projects), user)

        expected = projects if is_allowed else own
        assert settings.value(key) == expected
        assert [problem.key for problem in settings.problems] == ([] if is_allowed else [key])
        named = [changed.key for changed in project_settings(settings)]
        assert named == ([key] if expected != own else [])
        if not is_allowed and direction(key).way != "none":
            assert settings.problems[0].is_refusal
            assert direction(key).refused in settings.problems[0].message


def test_a_refused_retention_does_not_stop_gc(tmp_path):
    settings = config_files.load(tmp_path, project={"categories": {"decision": {"retention_days": 1}}})

    assert settings.retention_days("decision") == 0
    assert settings.retention_problems == []


def test_the_order_of_keys_in_a_projects_config_does_not_widen_it(tmp_path):
    checks = {"by_record": {"use-uv": "deny"}, "enforce": "warn"}

    settings = config_files.load(tmp_path, project={"checks": checks}, user={"checks": {"enforce": "ask"}})

    assert settings.enforcement("use-uv") == "warn"


@pytest.mark.parametrize(
    ("mine", "projects", "expected", "named"),
    [
        ({}, {}, "warn", "warn"),
        ({}, {"enforce": "deny", "by_record": {"use-uv": "ask"}}, "warn", "warn"),
        ({"enforce": "deny"}, {"enforce": "ask"}, "ask", "ask"),
        ({"enforce": "ask"}, {"enforce": "deny"}, "ask", "ask"),
        ({"enforce": "deny"}, {"by_record": {"use-uv": "warn"}}, "deny", "warn"),
        ({"by_record": {"use-uv": "deny"}}, {"by_record": {"use-uv": "ask"}}, "warn", "ask"),
        ({"by_record": {"use-uv": "ask"}}, {"by_record": {"use-uv": "deny"}}, "warn", "ask"),
        ({"enforce": "block", "by_record": {"Use UV": "deny"}}, {}, "warn", "warn"),
    ],
)
def test_a_project_may_lower_what_a_broken_check_does(tmp_path, mine, projects, expected, named):
    store, user = tmp_path / "project/.claude/memory", tmp_path / "user"
    for folder, values in ((store, projects), (user, mine)):
        folder.mkdir(parents=True)
        (folder / "memory-config.json").write_text(json.dumps({"checks": values}))

    settings = load_settings(str(store), str(user))

    assert (settings.enforcement("other"), settings.enforcement("use-uv")) == (expected, named)
    assert settings.may_enforce is ((expected, named) != ("warn", "warn"))


@pytest.mark.parametrize(
    ("mine", "projects", "expected"),
    [
        (None, ["acme"], ("acme",)),
        ([], ["acme"], ("acme",)),
        (["platform"], ["platform", "acme"], ("platform",)),
        (["platform"], [], ("platform",)),
        (["platform", "acme"], ["acme"], ("acme",)),
        (["platform"], ["none"], ("none",)),
        (["none"], ["platform"], ("none",)),
        (["none"], None, ("none",)),
        (None, "platform", ()),
        (None, [1], ()),
        (None, ["x"] * 101, ()),
    ],
)
def test_a_project_chooses_among_the_shared_stores_that_the_user_allows(tmp_path, mine, projects, expected):
    values = [None if value is None else {"remotes": value} for value in (projects, mine)]

    assert config_files.load(tmp_path, *values).names("remotes") == expected
