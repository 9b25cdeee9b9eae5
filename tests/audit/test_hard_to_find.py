"""`onrecord improve` lists what prompts will hardly find, with a reason and a fix, and leaves sound records alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onrecord.audit import hard_to_find
from onrecord.cli import main
from onrecord.record import compose
from onrecord.record.memory import Memory
from tests.git_project import GitProject

TRIGGERS = [
    "add redis for logins", "cache the signed-in user", "KeyError: session_id", "why must people log in again",
    "auth.sessions memcached", "login state cookie", "they are only a cache",
]  # fmt: skip


def decision(title: str = "Sessions live in Postgres", text: str = "", **more: Any) -> Memory:
    content = {
        "context": more.pop("context", "Redis lost them on every failover."),
        "decision": text or "Sessions are rows in auth.sessions with a 14 day expiry.",
        "rationale": ["Losing them cost 40 tickets."],
    }
    return compose.compose("decision", {"title": title, "content": content, "triggers": TRIGGERS, **more})


def messages(*records: Memory, project: str = "") -> dict[str, list[str]]:
    return {
        each.record.id: [f"{reason.check}: {reason.message}" for reason in each.reasons]
        for each in hard_to_find.find(records, project)
    }


def test_a_record_by_the_recipe_is_not_listed():
    assert messages(decision()) == {}


@pytest.mark.parametrize(
    ("triggers", "message"),
    [
        ([], "has no triggers"),
        (["where do the sessions live", "Postgres sessions"], "its triggers only repeat the title"),
        (TRIGGERS[:1], "has 1 trigger"),
        (TRIGGERS[:5], "has 5 triggers"),
        ([*TRIGGERS[:5], "sessions in Postgres"], "has 5 triggers, and 1 more that only repeat the title"),
    ],
)
def test_too_few_triggers_are_counted_without_those_that_repeat_the_title(triggers, message):
    assert messages(decision(triggers=triggers)) == {"sessions-live-in-postgres": [f"triggers: {message}"]}


def test_six_triggers_are_enough():
    assert messages(decision(triggers=TRIGGERS[:6])) == {}


@pytest.mark.parametrize(
    ("title", "text", "phrase"),
    [
        ("As discussed, keep the old pool", "", "As discussed"),
        ("The pool stays", "Keep the pool as mentioned above.", "as mentioned"),
        ("The pool stays", "We go with option B for the pool.", "option B"),
        ("The pool stays", "Chosen because the pool comes out best (see below).", "see below"),
        ("The pool stays", "The pool stays, see our conversation about load.", "our conversation"),
        ("The pool stays", "It must stay at 40 connections.", "It"),
        ("Never use it in tests", "The pool is for production only.", "use it"),
        ("This must stay", "The pool has 40 connections.", "This must"),
        ("The pool stays", "The pool was measured last week.", "last week"),
        ("Der Pool bleibt", "Wie besprochen hat der Pool 40 Verbindungen.", "Wie besprochen"),
        ("El pool se queda", "El pool tiene 40 conexiones, como acordamos.", "como acordamos"),
    ],
)
def test_wording_that_cannot_stand_alone_is_quoted(title, text, phrase):
    assert hard_to_find.unclear_phrases(decision(title, text)) == [phrase]


@pytest.mark.parametrize(
    "text",
    [
        "Status codes are used as described in RFC 7231.",
        "It is forbidden to push to main.",
        "This repository uses tabs.",
        "Option B (Redis) was rejected for the pool.",
        "Users see earlier edits first.",
        "Retry a call twice and log it.",
        "The chat is stored with the library it is about.",
        "Wie beschrieben in docs/pool.md hat der Pool 40 Verbindungen.",
    ],
)
def test_wording_that_explains_itself_is_left_alone(text):
    assert hard_to_find.unclear_phrases(decision("The pool has 40 connections", text)) == []


def test_a_statement_that_an_agent_would_be_shown_in_part_is_too_long():
    text = "Sessions are rows in auth.sessions. " * 15

    assert messages(decision(text=text)) == {
        "sessions-live-in-postgres": ["length: its decision has 539 characters, but an agent is shown 420"]
    }


def test_steps_that_do_not_fit_and_a_record_as_long_as_a_page_are_too_long():
    steps = [f"Run bin/step --number {n} and wait until it prints done" for n in range(60)]
    content = {"trigger": "The import hangs.", "steps": steps, "verification": "It prints done."}
    record = compose.compose("runbook", {"title": "Import hangs", "triggers": TRIGGERS, "content": content})

    assert messages(record)["import-hangs"] == [
        "length: its steps do not fit into the lines that an agent is shown",
        "length: has 3,323 characters",
    ]


def test_near_duplicates_name_each_other():
    first, second = decision("Sessions live in our Postgres"), decision()

    reasons = messages(first, second)

    assert list(reasons) == [first.id, second.id]
    assert reasons[first.id] == [f"duplicates: says nearly the same as {second.id}, so they compete"]


def test_a_lost_file_is_listed_with_the_nearest_one(tmp_path):
    git_project = GitProject(tmp_path)
    git_project.write("src/session.py", "LIFETIME = 14\n")
    git_project.write("src/pool.py", "SIZE = 40\n")
    git_project.commit("Begin")
    lost = decision(related_files=["src/sesion.py"])
    mentioned = decision("The pool has 40 connections", "The pool of src/pool.py has 40 connections.")

    (first, second) = hard_to_find.find([lost, mentioned], str(git_project.root))

    assert (first.record.id, first.reasons[0].message) == (
        lost.id,
        "its related file src/sesion.py does not exist, so it is never shown there",
    )
    assert first.reasons[0].fix == f"replace it with src/session.py: onrecord edit {lost.id}"
    assert second.reasons[0].fix == f"onrecord update {mentioned.id} --related src/pool.py"


def test_a_record_without_files_is_listed_for_it_only_with_something_worse(tmp_path):
    assert messages(decision(), project=str(tmp_path)) == {}
    assert [text.split(":")[0] for text in messages(decision(triggers=[]), project=str(tmp_path)).popitem()[1]] == [
        "triggers",
        "files",
    ]


def test_summaries_and_records_out_of_use_are_not_listed():
    summary = compose.compose("session_summary", {"title": "Fares", "content": {"goal": "As discussed."}})
    retired = decision(triggers=[])._replace(record_status="retired")

    assert messages(summary, retired) == {}


def test_the_worst_come_first():
    reasons = messages(
        decision("The pool has 40 connections", "One pool a process.", triggers=TRIGGERS[:3]),
        decision("As discussed", "Keep the retries at two.", triggers=[]),
        decision("Times are in UTC", "The database stores UTC.", triggers=[]),
    )

    assert list(reasons) == ["as-discussed", "times-are-in-utc", "the-pool-has-40-connections"]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


SAVE = ("--set=context=c", "--set=rationale=r", "--force")


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run(capsys, "save", "decision", "Jobs are rows", "--set=decision=Jobs are rows of a table.", *SAVE)
    run(capsys, "save", "preference", "Tabs", "--set=topic=Indentation", "--set=value=As discussed.", "--set=reason=r")


def test_the_command_lists_filters_and_limits(project, capsys):
    whole = run(capsys, "improve")

    assert (whole["records"], whole["hard_to_find"], whole["waiting"]) == (2, 2, 0)
    assert [finding["id"] for finding in whole["findings"]] == ["tabs", "jobs-are-rows"]
    assert whole["findings"][0]["record"]["content"]["value"] == "As discussed."
    assert [reason["check"] for reason in whole["findings"][0]["reasons"]] == ["triggers", "title", "wording"]
    first = run(capsys, "improve", "--limit=1")
    assert (first["hard_to_find"], [finding["id"] for finding in first["findings"]]) == (2, ["tabs"])
    assert [finding["id"] for finding in run(capsys, "improve", "--check=wording")["findings"]] == ["tabs"]
    assert [finding["id"] for finding in run(capsys, "improve", "--category=decision")["findings"]] == ["jobs-are-rows"]
    assert [finding["id"] for finding in run(capsys, "improve", "jobs-are-rows")["findings"]] == ["jobs-are-rows"]


def test_the_command_says_in_words_what_to_do(project, capsys):
    main(["improve", "--limit=1"])

    assert capsys.readouterr().out.splitlines() == [
        "preferences/tabs.json  Tabs",
        "  has no triggers",
        "    fix: write eight to ten, in other words than the title: onrecord edit tabs; or ask your agent to draft"
        " them",
        "  its title names a topic, not the rule",
        '    fix: state the rule, such as "Tabs: As discussed": onrecord edit tabs',
        '  cannot be understood alone: "As discussed"',
        "    fix: name what is meant, or give the date: onrecord edit tabs",
        "2 of 2 records will be hard to find; 1 more with --limit 0",
    ]


def test_a_record_for_which_a_draft_waits_is_left_to_the_review_until_it_is_accepted(project, capsys):
    drafted = run(capsys, "update", "tabs", "--draft", *(f"--trigger={text}" for text in TRIGGERS))

    waiting = run(capsys, "improve", "--check=triggers")
    run(capsys, "review", "--accept", drafted["draft"])
    after = run(capsys, "improve", "--check=triggers")

    assert (waiting["waiting"], [finding["id"] for finding in waiting["findings"]]) == (1, ["jobs-are-rows"])
    assert (after["hard_to_find"], after["waiting"]) == (1, 0)


def test_a_draft_with_a_whole_list_replaces_it_and_one_with_flags_only_adds(project, capsys):
    run(capsys, "update", "tabs", "--tag=style", "--tag=editor")
    before = run(capsys, "show", "tabs")

    run(capsys, "update", "tabs", "--hash", before["hash"], "--draft", "--set=tags=indentation")
    run(capsys, "review", "--accept", "tabs")
    replaced = run(capsys, "show", "tabs")
    run(capsys, "update", "tabs", "--hash", replaced["hash"], "--draft", "--tag=added")
    run(capsys, "review", "--accept", "tabs")

    assert replaced["record"]["tags"] == ["indentation"]
    assert run(capsys, "show", "tabs")["record"]["tags"] == ["added", "indentation"]


def test_a_limit_below_none_and_an_empty_store_are_said_plainly(project, capsys, tmp_path):
    assert main(["improve", "--limit=-1"]) == 2
    assert "--limit must be 0 or more, not -1" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["init", "--project", str(tmp_path / "empty")]) == 0
    capsys.readouterr()
    assert main(["improve", "--user"]) == 1
    assert "NO_STORE" in capsys.readouterr().err


def test_a_trigger_that_fits_any_prompt_is_listed_and_does_not_count():
    listed = messages(decision(triggers=[*TRIGGERS[:6], "fix it"]))["sessions-live-in-postgres"]

    assert listed == [
        'triggers: the trigger "fix it" has only words that any prompt may have, so it is not matched as such: '
        "name the thing asked for"
    ]
