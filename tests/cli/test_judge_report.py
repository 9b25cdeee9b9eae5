"""What `onrecord judge test` prints about an answer, and about an error of the server."""

from __future__ import annotations

import json

import pytest

from onrecord.cli import judge as command
from onrecord.cli.output import Screen
from onrecord.errors import ModelFailed
from onrecord.recall import judge
from onrecord.recall.judge import Opinion
from onrecord.recall.judge_api import Model
from onrecord.settings import Settings

MODEL = Model("openai", "small", "https://host/v1/chat", {"Authorization": "Bearer key-of-mine"}, "MY_KEY")
PLAIN, COLOURS = Screen(), Screen(80, True, True)


def _data(**fields):
    opinion = Opinion(command.SAMPLES, Settings())
    opinion.outcomes = [judge.DROPPED, judge.KEPT, judge.DROPPED]
    opinion.seconds, opinion.tokens_in, opinion.tokens_out = 1.23456, 1_000, 20
    return {**command._report(Settings(), MODEL, opinion), **fields}


def test_all_of_an_answer_is_there_for_programs(home):
    assert _data() == {
        "provider": "openai", "model": "small", "endpoint": MODEL.address, "key_from": "MY_KEY", "seconds": 1.235,
        "limit_seconds": 2.5, "in_time": True, "kept": ["webhooks-idempotent-by-event-id"], "right": True,
        "tokens_in": 1_000, "tokens_out": 20, "requests_today": 0, "daily_cap": 500,
    }  # fmt: skip


@pytest.mark.parametrize(("seconds", "in_time"), [(2.5, True), (2.501, False)])
def test_an_answer_is_in_time_up_to_the_limit(home, seconds, in_time):
    opinion = Opinion(command.SAMPLES, Settings())
    opinion.seconds = seconds

    report = command._report(Settings(), MODEL, opinion)

    assert (report["in_time"], report["kept"], report["right"]) == (in_time, [], False)


TOO_SLOW = ": too slow, so prompts would be answered without it"
WRONG = "wrong verdict on the sample: kept"


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({}, [f"small at {MODEL.address} (key from MY_KEY)", "answered in 1.24 s, limit 2.5 s",
              "kept the right one of three sample records"]),
        ({"key_from": "", "seconds": 3.0, "in_time": False},
         [f"small at {MODEL.address} (no key)", f"answered in 3.00 s, limit 2.5 s{TOO_SLOW}",
          "kept the right one of three sample records"]),
        ({"right": False, "kept": ["a", "b"]},
         [f"small at {MODEL.address} (key from MY_KEY)", "answered in 1.24 s, limit 2.5 s",
          f"{WRONG} a, b; use a better model"]),
        ({"right": False, "kept": []},
         [f"small at {MODEL.address} (key from MY_KEY)", "answered in 1.24 s, limit 2.5 s",
          f"{WRONG} none; use a better model"]),
    ],
)  # fmt: skip
def test_an_answer_in_words(home, fields, lines):
    data = _data(**fields)

    text = command._text(PLAIN, data)

    assert text.split("\n") == [*lines, "1000 tokens in, 20 out", "0 of 500 requests used today by prompts"]
    coloured = command._text(COLOURS, data)
    assert ("\x1b[31m" in coloured, coloured.replace("\x1b[31m", "").replace("\x1b[0m", "")) == (bool(fields), text)


@pytest.mark.parametrize(
    ("detail", "reply"),
    [
        ("", ""),
        ("  down for repair  ", ": down for repair"),
        (json.dumps({"error": "no such model"}), ": no such model"),
        (json.dumps({"error": {"message": "no credit"}}), ": no credit"),
        (json.dumps({"error": {"code": 1}}), ': {"error": {"code": 1}}'),
        (json.dumps({"message": "x"}), ': {"message": "x"}'),
        ("[1]", ": [1]"),
        ("key-of-mine is unknown", ": … is unknown"),
        ("x" * 301, f": {'x' * 300}"),
    ],
)
def test_an_error_names_the_model_and_what_the_server_said_without_the_key(detail, reply):
    message = command._error_message(ModelFailed("HTTP 404", detail=detail), MODEL)

    assert message == f"small at {MODEL.address}: HTTP 404{reply}"


def test_the_key_of_the_other_kind_of_api_is_left_out_too():
    model = MODEL._replace(headers={"x-api-key": "key-of-mine"})

    assert command._error_message(ModelFailed("HTTP 401", detail="key-of-mine?"), model).endswith(": HTTP 401: …?")
