"""The config of the earlier plugin: what of it is used, what is said about the rest, and how it is converted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.recall import selection
from onrecord.settings import WHOLE_FILE, Settings, load_settings
from tests.earlier_config import untouched, with_changes


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "project/.claude/memory"
    folder.mkdir(parents=True)
    return folder


def load(store: Path, text: str) -> Settings:
    (store / paths.CONFIG).write_text(text)
    return load_settings(str(store))


def test_untouched_defaults_are_one_note_and_change_nothing(store: Path) -> None:
    settings = load(store, json.dumps(untouched()))

    (problem,) = settings.problems
    assert (problem.key, problem.is_note, problem.fix) == (WHOLE_FILE, True, "onrecord config tidy")
    assert problem.message == (
        "settings of the earlier plugin that have no effect here, or are its defaults, are not used (57)"
    )
    assert [key for key in settings.origins if settings.is_from_project(key)] == []
    assert settings.retention_problems == []


def test_what_the_user_changed_in_it_counts_or_is_reported(store: Path) -> None:
    changed = with_changes(
        retrieval__max_inject=1,
        retrieval__judge__enabled=True,
        triage__enabled=False,
        triage__thresholds__decision=0.9,
        delete__grace_period_days=365,
        colour="blue",
    )
    settings = load(store, changed)

    assert (settings.count("retrieval.max_inject"), settings.text("capture.mode")) == (1, "off")
    assert settings.number("triage.thresholds.decision") == 0.9
    assert settings.count("delete.grace_period_days") == 365
    assert not settings.flag("retrieval.judge.enabled")
    assert {problem.key for problem in settings.problems} == {
        WHOLE_FILE,
        "retrieval.judge.enabled",
        "triage.enabled",
        "colour",
    }


def test_the_same_values_in_a_config_of_our_own_are_a_choice(store: Path) -> None:
    settings = load(store, '{"categories": {"session_summary": {"retention_days": 90}}, "triage.enabled": true}')

    assert [problem.key for problem in settings.problems] == [
        "categories.session_summary.retention_days",
        "triage.enabled",
    ]


def test_an_untouched_number_does_not_limit_the_first_prompt(store: Path) -> None:
    settings = load(store, json.dumps(untouched()))

    assert selection.room(settings, is_first=True) == selection.room(Settings(), is_first=True)


def test_a_value_that_would_not_be_used_is_not_set(onrecord, home) -> None:
    path = Path(paths.user_store(), paths.CONFIG)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(untouched()))

    refused = onrecord("config", "set", "--user", "triage.thresholds.decision", "0.4")
    assert (refused.code, path.read_text()) == (1, json.dumps(untouched()))
    assert "fix: onrecord config tidy --user; then set it" in refused.err
    assert onrecord("config", "tidy", "--user").code == 0
    assert path.read_text() == "{}\n"
    assert onrecord("config", "set", "--user", "triage.thresholds.decision", "0.4").code == 0
    assert load_settings("").number("triage.thresholds.decision") == 0.4


def test_a_flag_in_place_of_a_number_is_no_default_of_the_earlier_plugin(store: Path) -> None:
    settings = load(store, with_changes(retrieval__judge__enabled=0))

    assert "retrieval.judge.enabled" in {problem.key for problem in settings.problems}


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"delete": {"grace_period_days": "ever"}}, ["delete.grace_period_days"]),
        ({"categories": {"decision": {"retention_days": [1]}}}, ["categories.decision.retention_days"]),
        ({"delete": {"grace_period_day": 36500}}, ["delete.grace_period_day"]),
        ({"delete": {"archive_retired": True}, "categories": {"decision": {"folder": "x"}}}, []),
        (
            {"delete": {"colour": "blue"}, "categories": {"decision": {"icon": "x"}}, "retrieval": {"max_inject": "x"}},
            [],
        ),
        ({"categories": {"decision": {"retention_days": 1}}}, []),
    ],
)
def test_collecting_stops_only_at_values_that_it_cannot_read(store: Path, config: dict, keys: list[str]) -> None:
    settings = load(store, json.dumps(config))

    assert [problem.key for problem in settings.retention_problems] == keys


def test_tidy_leaves_only_what_has_an_effect_and_undo_takes_it_back(project, onrecord) -> None:
    onrecord("init")
    path = project / ".claude/memory" / paths.CONFIG
    before = with_changes(triage__enabled=False, retrieval__judge__enabled=True, colour="blue")
    path.write_text(before)

    rehearsed = onrecord("config", "tidy", "--dry-run", "--json")
    assert path.read_text() == before
    done = onrecord("config", "tidy", "--json")
    tidied = json.loads(path.read_text())
    again = onrecord("config", "tidy")

    first, second = json.loads(rehearsed.out), json.loads(done.out)
    assert {**first, "dry_run": False} == second
    assert second["renamed"] == {"triage.enabled": "capture.mode"}
    assert second["not_used"] == ["retrieval.judge.enabled", "colour"]
    assert tidied == {"retrieval": {"judge": {"enabled": True}}, "colour": "blue", "capture": {"mode": "off"}}
    assert again.out.splitlines()[0].startswith("kept, but not used: retrieval.judge.enabled: may be set in your own")
    assert onrecord("undo").code == 0
    assert path.read_text() == before


def test_tidy_of_the_users_own_config_keeps_the_judge(onrecord, home) -> None:
    path = Path(paths.user_store(), paths.CONFIG)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(with_changes(retrieval__judge__enabled=True, retrieval__judge__timeout_per_call=1.5))

    done = onrecord("config", "tidy", "--user", "--json")

    judge = json.loads(path.read_text())["retrieval"]["judge"]
    assert judge == {"enabled": True, "timeout_seconds": 1.5}
    assert json.loads(done.out)["not_used"] == []
    assert sorted(entry.name for entry in path.parent.iterdir()) == [".lock", paths.CONFIG]
    assert onrecord("undo", "--user").code == 0
    assert json.loads(path.read_text())["retrieval"]["judge"]["timeout_per_call"] == 1.5


def test_tidy_does_nothing_where_there_is_nothing_to_tidy(project, onrecord) -> None:
    onrecord("init")

    assert onrecord("config", "tidy").out.startswith("nothing to tidy in ")
    assert not (project / ".claude/memory" / paths.CONFIG).exists()


def test_gc_names_all_values_that_stop_it_at_once(project, onrecord) -> None:
    onrecord("init")
    values = '{"delete": {"grace_period_days": "ever"}, "categories": {"decision": {"retention_days": "x"}}}'
    (project / ".claude/memory" / paths.CONFIG).write_text(values)

    refused = onrecord("gc")

    assert refused.code == 1
    assert "delete.grace_period_days: must be a number" in refused.err
    assert "categories.decision.retention_days: must be a number" in refused.err
