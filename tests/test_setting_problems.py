"""What is said about settings: switches that are off, problems and their fixes, and limits of a config."""

from __future__ import annotations

import os

import pytest

from onrecord import paths
from onrecord.settings import Settings, flattened, load_settings, off_switches, project_settings
from tests import config_files

OFF = {
    "retrieval.enabled": (False, "no record is shown at prompts, files and failed commands"),
    "retrieval.max_inject": (0, "no record is shown at prompts"),
    "retrieval.files": (False, "no record is shown when a file is read or edited"),
    "retrieval.actions": (False, "no record is shown at commands and tasks of subagents"),
    "retrieval.corrections": (False, "a prompt that corrects the agent shows nothing more than another one"),
    "retrieval.failures": (False, "no runbook is shown for a failed command"),
    "checks.enabled": (False, "no check of a record is carried out at commands and edits"),
    "session_start.enabled": (False, "a session is shown nothing when it starts"),
    "session_start.map": (False, "a session starts without the map"),
    "session_start.limit": (0, "a session starts without the map"),
    "capture.mode": ("off", "sessions suggest nothing to save"),
    "categories.tech_debt.enabled": (False, "records of tech_debt are not shown"),
}


@pytest.mark.parametrize("key", OFF)
def test_a_switch_that_is_off_says_what_follows_and_how_to_undo_it(tmp_path, key):
    value, consequence = OFF[key]
    settings = config_files.load(tmp_path, project={key: value})

    (off,) = off_switches(settings)

    assert str(off) == f"{key} is {str(value).lower()}, so {consequence}"
    assert off.file == str(tmp_path / "repo/.claude/project/memory-config.json")
    assert off.fix == f"onrecord config unset {key}"
    assert list(off_switches(settings, key)) == [off]
    assert list(off_switches(settings, "retrieval.pointers")) == []
    assert list(off_switches(Settings())) == []


def test_a_switch_that_is_off_in_your_own_config_is_unset_there():
    os.makedirs(paths.user_store())
    file = os.path.join(paths.user_store(), "memory-config.json")
    with open(file, "w", encoding="utf-8") as config:
        config.write('{"capture": {"mode": "off"}, "retrieval": {"files": true}}')

    (off,) = off_switches(load_settings(""))

    assert (off.file, off.fix) == (file, "onrecord config unset capture.mode --user")


def test_the_variable_that_switches_everything_off_comes_first(monkeypatch):
    monkeypatch.setenv("ONRECORD_OFF", "1")

    (off,) = off_switches(Settings(), "capture.mode")

    assert off == ("ONRECORD_OFF", "set", "the environment", "hooks do nothing", "unset ONRECORD_OFF")
    assert str(off) == "ONRECORD_OFF is set, so hooks do nothing"


def test_a_problem_says_how_it_is_solved(tmp_path):
    config = {"retrieval": {"max_inject": 9, "files": 1}, "memory_root": "x"}

    settings = config_files.load(tmp_path, project=config)

    file = f"{tmp_path}/repo/.claude/project/memory-config.json"
    assert [(problem.key, problem.is_note, problem.fix) for problem in settings.problems] == [
        ("(whole file)", True, "onrecord config tidy"),
        ("retrieval.max_inject", True, f"leave it out of {file}; your own config may set it"),
        ("retrieval.files", False, f"correct {file}"),
    ]
    assert [problem.is_refusal for problem in settings.problems] == [False, True, False]
    assert [problem.is_of_earlier_plugin for problem in settings.problems] == [True, False, False]


@pytest.mark.parametrize(
    ("user", "message"),
    [
        (None, "the default is 3, and a project may only lower that: 4 would be more costly"),
        ({"retrieval": {"max_inject": 2}}, "your own config says 2, and a project may only lower that: 4 would be "
         "more costly"),
    ],
)  # fmt: skip
def test_a_refusal_says_whose_value_counts(tmp_path, user, message):
    settings = config_files.load(tmp_path, project={"retrieval": {"max_inject": 4}}, user=user)

    assert [problem.message for problem in settings.problems] == [message]


@pytest.mark.parametrize(
    ("user", "problem"),
    [
        (None, []),
        (["platform", "acme"], ["your own config says platform, acme, and a project may only choose among these"]),
    ],
)
def test_a_shared_store_that_the_user_does_not_allow_is_refused(tmp_path, user, problem):
    settings = config_files.load(
        tmp_path, project={"remotes": ["other"]}, user=None if user is None else {"remotes": user}
    )

    assert [problem.message for problem in settings.problems] == problem
    assert settings.names("remotes") == (("other",) if user is None else tuple(user))


def test_what_a_project_changes_in_words(tmp_path):
    config = {
        "retrieval": {"max_inject": 2, "files": False},
        "session_start": {"relevance_weight": 0.5},
        "categories": {"decision": {"description": "What We Chose"}},
        "remotes": ["platform", "acme"],
        "capture": {"max_suggestions": 2},
    }

    changes = list(map(str, project_settings(config_files.load(tmp_path, project=config))))

    assert changes == [
        "retrieval.max_inject is 2 in this project, not 3: it hides something that you would get",
        "retrieval.files is false in this project, not true: it hides something that you would get",
        "session_start.relevance_weight is 0.5 in this project, not 0.6: it changes what comes first",
        "categories.decision.description is What We Chose in this project, not empty: "
        "it adds something that you would not get",
        "remotes is platform, acme in this project, not all: it hides something that you would get",
    ]


@pytest.mark.parametrize(("count", "reported"), [(100, 100), (101, 100)])
def test_no_more_than_a_hundred_problems_are_reported(tmp_path, count, reported):
    settings = config_files.load(tmp_path, user={f"zzz{number}": 1 for number in range(count)})

    assert len(settings.problems) == reported


@pytest.mark.parametrize(("size", "is_read"), [(1_000_000, True), (1_000_001, False)])
def test_a_config_has_a_million_bytes_at_most(tmp_path, size, is_read):
    text = b'{"retrieval": {"max_inject": 1}}'

    settings = config_files.load(tmp_path, user=b" " * (size - len(text)) + text)

    assert settings.is_set("retrieval.max_inject") is is_read
    assert [problem.key for problem in settings.problems] == ([] if is_read else ["(whole file)"])


@pytest.mark.parametrize(("count", "is_used"), [(100, True), (101, False)])
def test_a_list_has_a_hundred_names_at_most(tmp_path, count, is_used):
    settings = config_files.load(tmp_path, user={"remotes": ["x"] * count})

    assert len(settings.names("remotes")) == (count if is_used else 0)
    assert [problem.message for problem in settings.problems] == (
        [] if is_used else ["must be a list of at most 100 names; the default is used"]
    )


def test_values_have_keys_of_five_parts_at_most():
    assert flattened({"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}, "g": 2, "h": {}}) == {"a.b.c.d.e": {"f": 1}, "g": 2}


def test_a_config_that_is_a_link_out_of_its_store_is_not_read(tmp_path):
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"retrieval": {"max_inject": 1}}')
    config_files.load(tmp_path)
    os.symlink(elsewhere, tmp_path / "user" / "memory-config.json")

    settings = load_settings("", str(tmp_path / "user"))

    assert (settings.origins, [problem.message for problem in settings.problems]) == (
        {},
        ["is a link that leads out of the store"],
    )


def test_a_users_config_inside_the_project_is_the_projects(tmp_path):
    project, user = tmp_path / "project/.claude/memory", tmp_path / "project/own"
    for folder in (project, user):
        folder.mkdir(parents=True)
        (folder / "memory-config.json").write_text('{"capture": {"mode": "auto"}}')

    inside, alone = load_settings(str(project), str(user)), load_settings("", str(user))

    assert (inside.text("capture.mode"), alone.text("capture.mode")) == ("propose", "auto")


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"categories": {"decision": {"retention_days": "ever"}}}, ["categories.decision.retention_days"]),
        ({"categories": {"session_summary": {"max_retained": 0}}}, ["categories.session_summary.max_retained"]),
        ({"delete": {"grace_period_days": -1}}, ["delete.grace_period_days"]),
        ({"categories": {"decision": {"retention_day": 3}}}, ["categories.decision.retention_day"]),
        ({"retrieval": {"max_inject": "x"}, "zzz": 1}, []),
        (b"{", ["(whole file)"]),
    ],
)
def test_what_may_be_meant_to_keep_records_longer(tmp_path, config, keys):
    settings = config_files.load(tmp_path, user=config)

    assert [problem.key for problem in settings.retention_problems] == keys


def test_a_value_that_is_no_setting_is_an_error_of_the_program():
    with pytest.raises(KeyError):
        Settings().value("retrieval.max_injct")
    assert Settings().own_value("retrieval.max_injct") is None
    assert Settings().own_value("checks.by_record.use-uv") == "warn"
