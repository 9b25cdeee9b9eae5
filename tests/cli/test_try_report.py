"""How `onrecord try` prints each prompt and what it would have shown, and how it counts them."""

from __future__ import annotations

import json

import pytest

from onrecord.cli import try_
from onrecord.cli.output import Screen
from tests.git_project import GitProject

from .conftest import DECISION
from .test_try import PROMPTS
from .test_try import ferry as ferry

PIPE, COLOURS = Screen(), Screen(60, True, True)
TURN = {
    "at": "2026-03-01T10:00:59.000Z", "session": "s", "prompt": "How?", "first": False, "borrowed": False,
    "outcome": "silent", "tokens": 0, "context": "", "memories": [], "nearest": None,
}  # fmt: skip
RECORD = {
    "id": "a", "category": "decision", "title": "Use uv", "probability": 0.714, "shown": "rule",
    "summary_line": "Use uv. Not pip.", "note": "", "source": ".claude/memory/decisions/a.json",
}  # fmt: skip
WHEN = "2026-03-01 10:00"


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({}, [f"{WHEN}  How?", "  nothing"]),
        ({"at": ""}, ["(no date)  How?", "  nothing"]),
        ({"outcome": "repeated"}, [f"{WHEN}  How?", "  nothing: already shown in this session"]),
        ({"outcome": "skipped"}, [f"{WHEN}  How?", "  nothing, as the prompt asked"]),
        ({"context": "\nNo record.\n"}, [f"{WHEN}  How?", "  a note: No record."]),
        ({"nearest": {**RECORD, "probability": 0.3}}, [f"{WHEN}  How?", "  nothing; nearest was 0.30 Use uv"]),
        ({"nearest": {**RECORD, "probability": 0.299}}, [f"{WHEN}  How?", "  nothing"]),
        (
            {"memories": [RECORD], "tokens": 12},
            [
                f"{WHEN}  How?", "  shown 1, 12 tokens",
                "    0.71 decision: Use uv. Not pip.", f"      {RECORD['source']}",
            ],
        ),
        (
            {"memories": [{**RECORD, "note": "replaces X"}, {**RECORD, "shown": "pointer"}], "first": True},
            [
                f"{WHEN}  How?", "  shown 2, 0 tokens (first)",
                "    0.71 decision: Use uv. Not pip. (replaces X)", f"      {RECORD['source']}",
                "    0.71 decision: pointer: Use uv", f"      {RECORD['source']}",
            ],
        ),
        (
            {"memories": [RECORD], "first": True, "borrowed": True},
            [
                f"{WHEN}  How?", "  shown 1, 0 tokens (first, with earlier words)",
                "    0.71 decision: Use uv. Not pip.", f"      {RECORD['source']}",
            ],
        ),
        ({"prompt": "x" * 80}, [f"{WHEN}  {'x' * 61}…", "  nothing"]),
        ({"prompt": "x" * 62}, [f"{WHEN}  {'x' * 62}", "  nothing"]),
    ],
)  # fmt: skip
def test_a_prompt_and_what_it_would_have_shown(fields, lines):
    assert try_._turn(PIPE, {**TURN, **fields}) == lines


def test_of_a_very_long_prompt_the_beginning_is_printed():
    (line, _) = try_._turn(Screen(1_000), {**TURN, "prompt": "x" * 301})

    assert line == f"{WHEN}  {'x' * 300}"


def test_a_prompt_on_a_screen_with_colours():
    assert try_._turn(COLOURS, TURN) == [f"\x1b[2m{WHEN}\x1b[0m  \x1b[1mHow?\x1b[0m", "\x1b[2m  nothing\x1b[0m"]
    assert try_._turn(COLOURS, {**TURN, "memories": [RECORD]})[1:] == [
        "  \x1b[32mshown 1, 0 tokens\x1b[0m",
        "    0.71 decision: Use uv. Not pip.",
        "\x1b[2m      .claude/memory/decisions/a.json\x1b[0m",
    ]


@pytest.mark.parametrize(("count", "more"), [(6, ""), (7, ", 1 more file"), (8, ", 2 more files")])
def test_six_files_are_named_where_the_records_come_from(count, more):
    data = {"from": "import", "records": 1_000, "files": {f"{number}.md": 2 for number in range(count)}}

    names = ", ".join(f"{number}.md (2)" for number in range(6))
    assert try_._heading(data) == f"With 1,000 records imported for this trial from {names}{more}:"


def test_the_numbers_at_the_end(ferry, onrecord):
    data = json.loads(onrecord("try", "--json").out)
    lines = onrecord("try").out.splitlines()

    summary = data["summary"]
    tokens, each = f"{summary['tokens']:,}", summary["tokens_per_prompt"]
    assert summary == {
        "prompts": 4, "sessions": 1, "served": 2, "pointed": 0, "silent": 2, "tokens": summary["tokens"],
        "tokens_per_prompt": round(summary["tokens"] / 4, 1),
    }  # fmt: skip
    assert lines[-3:] == [
        "",
        "4 prompts in 1 session: 2 shown a record, 0 only a pointer, 2 nothing; "
        f"{tokens} tokens added in all, {each} per prompt.",
        "Nothing was written, and nothing left this machine. To draft these records: onrecord import",
    ]
    assert [line for line in lines if line.startswith("session ")] == ["session f00d"]


def test_all_of_a_prompt_is_there_for_programs(ferry, onrecord):
    data = json.loads(onrecord("try", "--json").out)

    first, silent = data["prompts"][:2]
    (memory,) = first["memories"]
    assert first == {
        "at": "2026-03-01T10:00:00.000Z", "session": "f00d", "prompt": PROMPTS[0], "first": True, "borrowed": False,
        "outcome": "shown", "tokens": first["tokens"], "context": first["context"], "memories": [memory],
        "nearest": first["nearest"],
    }  # fmt: skip
    assert memory == {
        "id": "stay-below-60-calls-to-the-harbour-api", "category": "decision",
        "title": "Stay below 60 calls to the harbour API", "probability": memory["probability"], "shown": "rule",
        "summary_line": memory["summary_line"], "note": "", "source": "docs/adr/0003-harbour.md:7",
    }  # fmt: skip
    assert (silent["tokens"], silent["context"], silent["memories"], silent["first"]) == (0, "", [], False)
    assert (data["project"], data["files"]) == (str(ferry), {f"docs/adr/{name}.md": 1 for name in FILES})


FILES = ("0001-rabbitmq", "0002-nats", "0003-harbour", "0004-releases")


def test_the_last_prompts_are_replayed_and_as_many_as_wanted(ferry, onrecord):
    prompts = json.loads(onrecord("try", "--last=2", "--json").out)["prompts"]

    assert [turn["prompt"] for turn in prompts] == [*PROMPTS[2:]]


@pytest.mark.parametrize("last", [20, 21])
def test_twenty_prompts_are_replayed_unless_a_number_is_given(ferry, onrecord, tmp_path, last):
    lines = [json.dumps({"type": "user", "message": {"content": f"question number {n}"}}) for n in range(21)]
    (tmp_path / "s.jsonl").write_text("\n".join(lines), encoding="utf-8")
    words = [] if last == 20 else [f"--last={last}"]

    data = json.loads(onrecord("try", "--transcripts", str(tmp_path), *words, "--json").out)

    assert len(data["prompts"]) == last


def test_a_judge_that_is_on_is_not_asked_and_that_is_said(ferry, onrecord):
    onrecord("config", "set", "--user", "retrieval.judge.enabled", "true")
    onrecord("config", "set", "--user", "retrieval.actions", "false")

    assert onrecord("try").err == (
        "warning: the judge was not asked, to keep your prompts on this machine; it might have shown less\n"
    )


def test_what_is_missing_is_said_with_what_to_name(project, onrecord, tmp_path):
    nowhere = json.loads(onrecord("try", "--json").out)["error"]
    (tmp_path / "s.jsonl").write_text('{"type":"user","message":{"content":"hello there"}}', "utf-8")
    empty = json.loads(onrecord("try", "hello", "--json").out)["error"]
    (tmp_path / "empty").mkdir()
    elsewhere = json.loads(onrecord("try", "--transcripts", str(tmp_path / "empty"), "--json").out)["error"]

    how = 'type one: onrecord try "a question you would ask here"; or name another folder: --transcripts DIR'
    assert (nowhere["message"], nowhere["fix"]) == (f"no prompts in any agent's sessions in {project}", how)
    assert (elsewhere["message"], elsewhere["fix"]) == (f"no prompts in {tmp_path / 'empty'}", how)
    assert (empty["code"], empty["message"]) == (
        "NO_STORE", f"there are no records in {project}, and no decision records that a program can read",
    )  # fmt: skip
    assert empty["fix"] == (
        "save a few records, or name files with --import PATH; to see what is left to an agent: "
        "onrecord import --dry-run; for a sample project: onrecord demo"
    )


def test_records_of_the_user_are_enough(project, onrecord):
    onrecord("save", "decision", "Jobs are rows", *DECISION, "--user")

    data = json.loads(onrecord("try", "are jobs rows?", "--json").out)

    assert (data["from"], data["records"], data["summary"]["served"]) == ("store", 1, 1)
    assert onrecord("try", "are jobs rows?").out.startswith("With the 1 record you have now:\n")


def test_commits_are_replayed_as_one_session_from_its_beginning(project, onrecord):
    onrecord("save", "decision", "Jobs are rows", *DECISION, "--user")
    repository = GitProject(project)
    for number in range(21):
        repository.write("a.txt", str(number))
        repository.commit(f"Are jobs rows {number}")

    data = json.loads(onrecord("try", "--json").out)

    prompts = [(turn["session"], turn["prompt"], turn["at"]) for turn in data["prompts"]]
    assert prompts == [("of commits", f"Are jobs rows {number}", "") for number in range(1, 21)]
    assert [turn["first"] for turn in data["prompts"]] == [True, *[False] * 19]
