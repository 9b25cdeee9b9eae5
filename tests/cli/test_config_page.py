"""What `onrecord config` takes, refuses and prints, with its words; tests/cli/test_config.py has the rules."""

from __future__ import annotations

import json

import pytest

from onrecord.cli import config
from onrecord.cli.output import Screen
from onrecord.errors import BadInput
from onrecord.setting_table import SETTINGS
from onrecord.settings import Settings


@pytest.fixture
def file(project):
    folder = project / ".claude/memory"
    folder.mkdir(parents=True)
    return folder / "memory-config.json"


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (("--remote=platform",), "a shared store has no settings", "leave out --remote"),
        (("nothing.like.it",), "nothing.like.it is not a setting", "onrecord config"),
        (("capture.max_offers",), "capture.max_offers is now capture.max_suggestions",
         "onrecord config capture.max_suggestions"),
        (("capture.mode", "a b"), "capture.mode is a setting; use set to change it",
         "onrecord config set capture.mode 'a b'"),
        (("set", "capture.mode", "loud"), "capture.mode must be one of ", "onrecord config capture.mode"),
        (("set", "retrieval.max_inject", "-1"), "retrieval.max_inject must be ",
         "onrecord config retrieval.max_inject"),
        (("set", "retrieval.judge.enabled", "true"), "retrieval.judge.enabled may be set in your own config only",
         "onrecord config set --user retrieval.judge.enabled true"),
        (("set", "export.file", "AKIA0123456789ABCDEF.md"), "export.file ", "write where the secret is kept"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_or_set_is_refused_with_a_fix(project, onrecord, words, message, fix):
    onrecord("remote", "add", "--offline", "platform", "/srv/memory.git")

    outcome = onrecord("config", *words, "--json")

    error = json.loads(outcome.out)["error"]
    assert (outcome.code, error["message"][: len(message)], error["fix"][: len(fix)]) == (1, message, fix)
    assert not (project / ".claude/memory/memory-config.json").exists()


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("capture.mode", "off", "off"),
        ("retrieval.max_inject", "2", 2),
        ("retrieval.enabled", "false", False),
        ("retrieval.min_probability", "0.9", 0.9),
        ("remotes", "a, b c", ["a", "b", "c"]),
        ("remotes", '["a"]', ["a"]),
        ("categories.decision.retention_days", "900", 900),
    ],
)
def test_a_value_is_written_in_its_type_and_shown_again(project, onrecord, key, text, value):
    outcome = onrecord("config", "set", key, text, "--user", "--json")

    reply = json.loads(outcome.out)
    assert (reply["key"], reply["value"]) == (key, value)
    (row,) = json.loads(onrecord("config", key, "--json").out)["settings"]
    assert (row["key"], row["value"], row["origin"]) == (key, value, reply["file"])
    assert row["doc"] == (SETTINGS[key].doc if key in SETTINGS else row["doc"]) != ""


def test_every_setting_is_shown_in_the_type_of_its_default():
    for key, setting in SETTINGS.items():
        value = config._value(Settings(), key)
        expected = {"retrieval.min_probability": float, "retrieval.max_tokens": int}.get(key, type(setting.default))

        assert type(value) is (list if expected is tuple else expected), key


def test_a_setting_on_a_terminal_has_its_origin_unless_it_is_the_default():
    screen = Screen(30, is_terminal=True, has_colour=True)

    assert config._group(screen, "a.b", "1", "default", "What it does, in words.").split("\n") == [
        "\033[1ma.b\033[0m = 1",
        "    What it does, in words.",
    ]
    assert config._group(screen, "a.b", "1", "/file", "x").split("\n")[-1] == "\033[33m    set in /file\033[0m"


def test_a_problem_of_a_file_is_printed_below_the_settings(project, onrecord, file):
    file.write_text('{"retrieval": {"enabled": "yes"}}')

    outcome, data = onrecord("config", "retrieval.enabled"), json.loads(onrecord("config", "--json").out)

    (problem,) = data["problems"]
    assert problem == {
        "file": str(file), "key": "retrieval.enabled", "message": problem["message"], "fix": f"correct {file}",
    }  # fmt: skip
    doc = SETTINGS["retrieval.enabled"].doc
    assert outcome.out.split("\n") == [
        f"retrieval.enabled\ttrue\tdefault\t{doc}",
        f"problem: {file}: retrieval.enabled {problem['message']}",
        "",
    ]
    assert [row["key"] for row in data["settings"]][: len(SETTINGS)] == list(SETTINGS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "must be a JSON object"),
        ("{", "cannot be read: "),
        ("[" * 100_000, "cannot be read: "),
        ('{"retrieval": 3}', "retrieval is not an object in the file"),
    ],
)
def test_a_file_that_is_no_config_is_to_be_corrected_by_hand(onrecord, file, text, message):
    file.write_text(text)

    error = json.loads(onrecord("config", "set", "retrieval.max_inject", "1", "--json").out)["error"]

    assert message in error["message"]
    assert error["fix"] == "correct the file by hand; nothing was written"
    assert file.read_text() == text


@pytest.mark.parametrize(("size", "code"), [(1_000_000, 0), (1_000_001, 1)])
def test_a_config_has_at_most_a_million_bytes(onrecord, file, size, code):
    file.write_text('{"capture": {"mode": "off"}}'.rjust(size))

    assert onrecord("config", "set", "retrieval.max_inject", "1").code == code


@pytest.mark.parametrize(
    ("raw", "key", "value", "after"),
    [
        ({}, "a.b", 1, {"a": {"b": 1}}),
        ({"a.b": 0}, "a.b", 1, {"a.b": 1}),
        ({"a": {"c": 0}}, "a.b", 1, {"a": {"c": 0, "b": 1}}),
        ({"a": {"b": 0}}, "a.b", None, {"a": {}}),
        ({"a.b": 0, "a": {"b": 1}}, "a.b", None, {"a": {"b": 1}}),
        ({}, "a.b.c", None, {}),
        ({"a": 0}, "a", None, {}),
    ],
)
def test_a_key_is_set_where_the_file_has_it(raw, key, value, after):
    config._put(raw, key, value)

    assert raw == after


def test_a_key_below_a_value_is_refused():
    for value in (1, None):
        with pytest.raises(BadInput, match=r"a is not an object in the file$"):
            config._put({"a": 3}, "a.b", value)


def test_a_file_begins_perhaps_with_a_mark_and_ends_with_a_line(onrecord, file):
    file.write_bytes(b'\xef\xbb\xbf{"x": "\xc3\xa4"}')

    assert onrecord("config", "set", "retrieval.max_inject", "1").out == f"retrieval.max_inject = 1 in {file}\n"
    assert file.read_text(encoding="utf-8") == '{\n  "x": "ä",\n  "retrieval": {\n    "max_inject": 1\n  }\n}\n'
    assert onrecord("config", "unset", "retrieval.max_inject").out == f"retrieval.max_inject = default in {file}\n"


def test_tidying_says_what_it_renames_removes_and_keeps(onrecord, file):
    text = '{"triage": {"enabled": false, "x": {}}, "colour": "blue"}'
    file.write_text(text)

    rehearsed = onrecord("config", "tidy", "--dry-run")
    done = onrecord("config", "tidy")

    kept = "kept, but not used: colour: is not a setting\n"
    assert rehearsed.out == f"would rename triage.enabled: capture.mode\n{kept}"
    assert rehearsed.err == ""
    assert done.out == f"renamed triage.enabled: capture.mode\n{kept}"
    assert done.err == "to take it back: onrecord undo\n"
    assert json.loads(file.read_text()) == {"colour": "blue", "capture": {"mode": "off"}}
    assert onrecord("config", "tidy").out == kept


def test_empty_objects_are_dropped_but_no_other_value():
    raw = {"a": {"b": {}}, "c": {"d": {}, "e": 0}, "f": [], "g": None}

    config._drop_empty(raw)

    assert raw == {"c": {"e": 0}, "f": [], "g": None}


def test_an_agent_is_told_what_to_ask_the_user_for(onrecord, monkeypatch):
    onrecord("config", "set", "--user", "capture.mode", "off")
    monkeypatch.setenv("CLAUDECODE", "1")

    change = json.loads(onrecord("config", "set", "--user", "capture.mode", "auto", "--json").out)["error"]
    unset = json.loads(onrecord("config", "unset", "--user", "capture.mode", "--json").out)["error"]

    assert change["message"] == "only the user may change capture.mode like that: it could be more risky"
    assert change["fix"] == "ask the user to run: onrecord config set --user capture.mode auto"
    assert unset["fix"] == "ask the user to run: onrecord config unset --user capture.mode"
    monkeypatch.delenv("CLAUDECODE")
    assert onrecord("config", "unset", "--user", "capture.mode").code == 0


def test_tidying_counts_the_settings_without_effect_and_a_rehearsal_names_them_all(onrecord, file):
    keys = ("price_in", "price_out", "fallback_top_k")
    file.write_text(json.dumps({"retrieval": {"judge": dict.fromkeys(keys, 1)}}))

    rehearsed, done = onrecord("config", "tidy", "--dry-run").out, onrecord("config", "tidy").out

    names = ", ".join(f"retrieval.judge.{key}" for key in keys)
    assert rehearsed == f"would remove 3 settings without effect: {names}\n"
    assert done.startswith("removed 3 settings without effect: retrieval.judge.price_in, ")
    assert file.read_text() == "{}\n"
