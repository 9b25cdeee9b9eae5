"""The features that triage's model is given: who speaks, what was done before, what a sentence is made of."""

from __future__ import annotations

import pytest

from onrecord.capture import triage
from onrecord.capture.conversation import Conversation
from onrecord.session.transcript import Ending, Message
from tests.capture.test_triage import EDIT, READ, SHELL, agent, user

FAILED = Message("user", "tool_result", "Exit code 1", "error")
TALK = (
    user("should we use Redis or Postgres for the sessions?"),
    READ,
    agent("Two options:\n- Redis, 3 nodes.\n- Postgres, which one?"),
    user("Postgres. Use it always because failovers lose sessions."),
    EDIT,
    SHELL,
    FAILED,
    agent("Found it: the cause was a stale `make check` lock in CI."),
    user("no, we never touch src/auth.py in this repo. enough for today"),
)


def conversation(*messages: Message, is_whole: bool = True) -> Conversation:
    return Conversation(Ending(list(messages), is_whole=is_whole))


def speech_features(number: int, *messages: Message, is_whole: bool = True) -> set[str]:
    """The features of a speech that are no cues of its own or of the reply."""
    talk = conversation(*messages, is_whole=is_whole)
    shared = triage.speech_features(talk, talk.speeches[number])
    assert len(shared) == len(set(shared))
    return {name for name in shared if not name.startswith(("speech ", "r "))}


def line_features(number: int, at: int, *messages: Message) -> set[str]:
    """The features of a sentence that are neither its words nor cues."""
    talk = conversation(*messages)
    names = triage.line_features(talk, talk.speeches[number], at)
    return {name for name in names if not name.startswith(("own ", "near ", "u ", "b ", "p ", "A "))}


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "user|first prompt|U asks|U sentences 1|alone"),
        (1, "assistant|A offers choice|A asks|A open|A answered otherwise|reply not asking"),
        (2, "user|answers a choice|answers a question|weighed before|bare answer|U sentences 2"),
        (
            3,
            "assistant|A acted|A edited|A ran|A trouble ran|A trouble seen|A trouble told|A leaving"
            "|A answered otherwise|reply not asking|alone|trouble cause.strong|trouble cause.weak",
        ),
        (
            4,
            "user|corrects|corrects what was done|corrects earlier work|finds fault|after an act|U sentences 2|U ran"
            "|U edited|U leaving|U trouble told"
            "|U trouble seen|U trouble ran|U trouble explained|trouble cause.weak",
        ),
    ],
)
def test_the_situation_of_each_speech(number, expected):
    assert speech_features(number, *TALK) == set(expected.split("|"))


def test_a_part_of_a_session_has_no_first_prompt_and_may_have_begun_with_an_act():
    assert speech_features(0, user("go on with it"), is_whole=False) == {
        "user",
        "U sentences 1",
        "alone",
        "after an act",
    }
    assert speech_features(0, user("go on with it")) == {"user", "U sentences 1", "alone", "first prompt"}


@pytest.mark.parametrize(("sentences", "counted"), [(1, 1), (3, 3), (4, 4), (7, 4)])
def test_sentences_are_counted_to_four(sentences, counted):
    assert f"U sentences {counted}" in speech_features(0, user("Alpha bravo. " * sentences))


def test_the_last_words_of_an_assistant_who_did_much_and_is_left():
    edits = [Message("assistant", "tool_use", "", "Edit", {"file_path": f"/p/{n}.py"}) for n in range(3)]
    talk = (user("convert them"), *edits, user("that is enough for today"), agent("Left: the reports."))

    assert speech_features(2, *talk) == {
        "assistant", "A edited", "A busy", "A leaving", "A leaving busy", "A last", "alone", "busy leftover",
    }  # fmt: skip
    assert "left and leaving" in line_features(2, 0, *talk)
    assert "left and leaving" not in line_features(1, 0, user("convert them"), agent("Left: the reports."))
    assert "U last" not in speech_features(1, *talk[:-1])


def test_trouble_that_was_told_is_cured_later():
    talk = (user("the login is broken"), SHELL, agent("I look."), user("ok"), agent("Fixed it, it works again."))

    assert {"A trouble told", "A trouble ran", "A trouble cured after", "A ran"} <= speech_features(1, *talk)
    assert "U trouble told" not in speech_features(0, *talk)
    assert not {name for name in speech_features(1, user("add a page"), *talk[1:]) if "trouble" in name}


@pytest.mark.parametrize(
    ("number", "at", "expected"),
    [
        (0, 0, "middling|name|preference boosted|preference boosted nearby"),
        (1, 0, "short"),
        (1, 1, "short|number"),
        (2, 0, "short|chosen 1|chosen share 3|echo 1|echo share 3|decision boosted nearby|preference boosted nearby"),
        (
            2,
            1,
            "later statement|chosen 0|chosen share 0|echo 0|echo share 0|decision boosted|decision boosted nearby"
            "|preference boosted|preference boosted nearby",
        ),
        (3, 0, "middling|name|code|command"),
        (
            4,
            0,
            "later statement|middling|code|echo 0|echo share 0|preference boosted|preference boosted twice"
            "|preference boosted nearby",
        ),
    ],
)
def test_how_each_sentence_is_made(number, at, expected):
    names = {name for name in line_features(number, at, *TALK) if not name.startswith("first ")}

    assert names == set(expected.split("|"))


def test_the_cues_of_a_first_prompt_are_told_from_those_of_a_later_one():
    message = user("from now on use tabs")

    assert "first preference.strong" in line_features(0, 0, message)
    assert not {name for name in line_features(1, 0, user("begin"), message) if name.startswith("first ")}


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        (4, "short"),
        (5, ""),
        (7, ""),
        (8, "middling"),
        (20, "middling"),
        (21, "middling|long"),
        (30, "middling|long"),
        (31, "long"),
    ],
)
def test_the_length_of_a_sentence(words, sizes):
    names = line_features(0, 0, user(" ".join(["zulu"] * words)))

    assert names & {"short", "middling", "long"} == set(filter(None, sizes.split("|")))


@pytest.mark.parametrize(("words", "is_statement"), [(6, False), (7, True)])
def test_a_statement_of_seven_words_in_the_course_of_a_session(words, is_statement):
    message = user(" ".join(["zulu"] * words))

    assert ("later statement" in line_features(1, 0, user("begin"), message)) is is_statement
    assert "later statement" not in line_features(0, 0, message)


def test_words_pairs_and_beginnings():
    talk = conversation(user("Deploy deploys 14 deploys now"))

    names = triage.line_features(talk, talk.speeches[0], 0)

    assert [name for name in names if name.startswith(("u ", "b ", "p "))] == [
        "u deploy", "u deploys", "u #", "u now", "b ^ deploy", "b deploy deploys", "b deploys #", "b # deploys",
        "b deploys now", "b now $", "p deploy",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("alpha yankee xray whiskey", "echo 1|echo share 1|chosen 1|chosen share 1"),
        ("alpha bravo xray whiskey", "echo 2|echo share 2|chosen 2|chosen share 2"),
        ("alpha bravo charlie delta echoes", "echo 3|echo share 3|chosen 3|chosen share 3"),
        ("abc", "echo 0|chosen 0"),
    ],
)
def test_who_picks_an_option_names_it(answer, expected):
    question = agent("alpha, bravo, charlie, delta or echoes?")

    assert {name for name in line_features(1, 0, question, user(answer)) if name[:4] in ("echo", "chos")} == set(
        expected.split("|")
    )
    plain = line_features(1, 0, agent("alpha, bravo, charlie, delta, echoes."), user(answer))
    assert {name for name in plain if name.startswith(("chosen", "echo"))} == {
        name for name in expected.split("|") if name.startswith("echo")
    }
