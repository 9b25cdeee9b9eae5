"""`onrecord why`: the reasons in words, for rules, for pointers and for silence."""

from __future__ import annotations

import json

import pytest

from onrecord import coldstart
from onrecord.search.coefficients import POINTER, THRESHOLD
from tests import without_fts5

README = (
    "save", "decision", "Sessions live in Postgres", "--tag", "auth",
    "--set", "context=Redis lost sessions on failover",
    "--set", "decision=Sessions are rows in auth.sessions, 14 day expiry",
    "--set", "rationale=one fewer moving part",
    "--trigger", "where do we keep login state?",
)  # fmt: skip


@pytest.fixture
def saved(project, onrecord):
    assert onrecord(*README).code == 0


def why(onrecord, *arguments):
    return json.loads(onrecord("why", *arguments, "--json").out)


def test_the_readme_s_own_example_answers(onrecord, saved):
    text = onrecord("why", "where do we keep the login state?").out
    score = why(onrecord, "where do we keep the login state?")["candidates"][0]["probability"]

    assert text == (
        f"Shown as a rule from a score of {THRESHOLD:.2f} on, as a pointer from {POINTER:.2f} on.\n"
        "\n"
        f"{score:.2f}  shown as a rule  decision  sessions-live-in-postgres\n"
        "      - matches a trigger: “where do we keep login state?”\n"
        "      - in its text: keep, login, state\n"
        "      - close in meaning to its trigger: “where do we keep login state?”\n"
        "      - no other record competes\n"
        "\n"
        "The agent is shown 1 rule.\n"
    )


def test_a_pointer_is_explained(onrecord, saved):
    onrecord("config", "set", "retrieval.min_probability", "1")

    data = why(onrecord, "where do we keep the login state?")
    assert [(candidate["shown"], candidate["verdict"]) for candidate in data["candidates"]] == [("pointer", "shown")]
    text = onrecord("why", "where do we keep the login state?").out
    assert "shown as a pointer  decision" in text
    assert text.endswith("The agent is shown 1 pointer.\n")


def test_silence_is_explained(onrecord, saved):
    text = onrecord("why", "users complain about the new landing page of sessions").out

    assert f"not shown: below {POINTER:.2f}  decision  sessions-live-in-postgres\n" in text
    assert "- in its title: sessions; not in it: users, complain, new, landing, page\n" in text
    assert text.endswith("The agent is shown nothing.\n")


def test_a_question_about_the_past_is_said_to_be_one(onrecord, saved):
    text = onrecord("why", "why did we choose kubernetes?").out

    assert text.startswith("A question about the past: an answer is about its topic.")
    assert text.endswith("The agent is shown that nothing is on file, and how to search.\n")


def test_competing_records_are_counted(onrecord, saved):
    for name in ("blue", "green", "red"):
        arguments = ("--set", "context=c", "--set", f"decision=The {name} line is painted.", "--set", "rationale=r")
        assert onrecord("save", "decision", f"Ferry line {name}", *arguments, "--force").code == 0

    reasons = why(onrecord, "repaint the ferry line")["candidates"][0]["reasons"]

    assert "two other records compete" in reasons


def test_a_replaced_record_is_named(onrecord, saved):
    arguments = ("--set", "context=c", "--set", "decision=Nothing is kept.", "--set", "rationale=r")
    assert onrecord("save", "decision", "Cookies carry it all", *arguments).code == 0
    assert onrecord("supersede", "sessions-live-in-postgres", "cookies-carry-it-all").code == 0

    (candidate,) = why(onrecord, "where do we keep the login state?")["candidates"]

    assert candidate["reasons"][0] == "found by the text of “Sessions live in Postgres”, which it replaces"


@pytest.mark.parametrize("mode", ["title_tags", "without FTS5"])
def test_the_keyword_scorer_is_explained(onrecord, saved, monkeypatch, mode):
    if mode == "title_tags":
        onrecord("config", "set", "retrieval.match_strategy", mode)
    else:
        monkeypatch.setattr(coldstart, "connect", without_fts5.connect)

    text = onrecord("why", "can we keep sessions in Redis?").out

    assert "- in its title: sessions; in its text: keep, redis\n" in text
    assert "- 5 keyword points, 5 more than any other record\n" in text


@pytest.mark.parametrize("prompt", ["where do we keep the login state?", "sessions " + "x" * 200])
def test_no_line_is_wider_than_80_columns(onrecord, saved, prompt):
    lines = onrecord("why", prompt).out.splitlines()

    assert [line for line in lines if len(line) > 80 and "xxx" not in line] == []


def test_a_candidate_whose_file_is_gone_says_so(onrecord, project, saved):
    from onrecord.recall import explanation
    from onrecord.search.rank import Match

    match = Match("a", "decision", "A", "decisions/a.json", (), "active", "", "", "", str(project))

    assert explanation.reasons(match, [])[0].startswith("its file cannot be read: ")


PNPM = (
    "save", "preference", "Packages are added with pnpm, never npm", "--trigger", "npm install",
    "--set", "topic=packages", "--set", "value=pnpm add", "--set", "reason=one lockfile",
)  # fmt: skip


def test_a_command_is_explained(onrecord, project):
    assert onrecord(*PNPM).code == 0

    found = why(onrecord, "--command", "npm install lodash")

    assert found["command"] == "npm install lodash"
    assert [candidate["shown"] for candidate in found["candidates"]] == ["rule"]
    assert found["candidates"][0]["reasons"][0] == "names the command in a trigger"
    assert "npm" in onrecord("recall", "--command", "npm install lodash").out


def test_an_ordinary_command_is_shown_nothing(onrecord, project):
    assert onrecord(*PNPM).code == 0

    text = onrecord("why", "--command", "npm run build").out

    assert text.endswith("The agent is shown nothing.\n")


@pytest.mark.parametrize("arguments", [(), ("a prompt", "--command", "ls")])
def test_a_prompt_or_a_command_is_asked_about_not_both(onrecord, saved, arguments):
    result = onrecord("why", *arguments)

    assert result.code == 1
    assert "a prompt or a command is needed, and not both" in result.err


def test_a_question_about_the_past_names_its_topic(onrecord, saved):
    text = onrecord("why", "what did we decide about sessions?").out

    assert text.startswith("A question about the past (topic: sessions): an answer is about its topic.")


def test_a_question_about_the_work_is_explained(onrecord, saved):
    text = onrecord("why", "what did we do last week?").out

    assert text.startswith("A question about the work, answered from session summaries.")
    assert text.endswith("The agent is told: No session summary is on file.\n")


def test_a_summary_that_answers_is_listed(onrecord, saved):
    onrecord("save", "session_summary", "Session: importer", "--set", "goal=the importer", "--set", "outcome=partial")

    assert "shown  session_summary  session-importer" in onrecord("why", "where did we leave off?").out
    assert "The agent is shown 1 session summary." in onrecord("why", "where did we leave off?").out
    assert "the importer" in onrecord("recall", "where did we leave off?").out
    assert "Session: importer" in onrecord("search", "where did we leave off?").out
    assert why(onrecord, "where did we leave off?")["about_the_work"] == "The last session summary on file"


def test_the_passage_that_counted_is_named(onrecord, saved):
    text = onrecord("why", "Thanks, that looks fine to me. Where do we keep the login state?").out

    assert "- by one passage of the prompt: “Where do we keep the login state?”" in text
