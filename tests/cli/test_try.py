"""`onrecord try` as a person runs it, on a project of files and its transcripts."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

import pytest

from onrecord.hosts.claude_code import mangled

from .conftest import in_own_process

HARBOUR = """\
# 3. Stay below 60 calls to the harbour API

## Context

The harbour API allows at most 60 calls a minute, and answers 429 to the rest.

## Decision

The harbour API gets at most 60 calls a minute from us.
"""
RELEASES = """\
# 4. No release on a Friday

## Context

Two releases of a Friday afternoon broke the weekend.

## Decision

Never release on a Friday afternoon.
"""
OLD = """\
# 1. Jobs go through RabbitMQ

## Status

Superseded by [2](0002-nats.md)

## Context

Jobs must survive a restart.

## Decision

RabbitMQ 3.9 carries background jobs.
"""
NEW = """\
# 2. Jobs go through NATS

## Status

Accepted

## Decision

NATS JetStream carries background jobs, because it needs one binary.
"""
PROMPTS = (
    "how many calls a minute does the harbour API allow?",
    "compose a short haiku about the autumn moon over Kyoto",
    "do background jobs go through RabbitMQ?",
    "how many calls a minute does the harbour API allow again?",
)


@pytest.fixture
def ferry(project: Path, home: Path) -> Path:
    for path, text in {
        "docs/adr/0003-harbour.md": HARBOUR,
        "docs/adr/0004-releases.md": RELEASES,
        "docs/adr/0001-rabbitmq.md": OLD,
        "docs/adr/0002-nats.md": NEW,
    }.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    folder = home / ".claude" / "projects" / mangled(os.path.realpath(project))
    folder.mkdir(parents=True)
    lines = [
        {
            "type": "user",
            "uuid": str(number),
            "timestamp": f"2026-03-01T10:0{number}:00.000Z",
            "cwd": str(project),
            "message": {"role": "user", "content": text},
        }
        for number, text in enumerate(PROMPTS)
    ]
    (folder / "f00d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return project


def tree(*folders: Path) -> dict[str, tuple[int, str]]:
    """Everything below some folders: when it was changed, and what it holds."""
    files = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            content_hash = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            files[str(path)] = (path.lstat().st_mtime_ns, content_hash)
    return files


def test_try_shows_each_prompt_with_what_it_would_have_brought_up(ferry, onrecord):
    outcome = onrecord("try")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[0] == (
        "With 4 records imported for this trial from docs/adr/0001-rabbitmq.md (1), docs/adr/0002-nats.md (1), "
        "docs/adr/0003-harbour.md (1), docs/adr/0004-releases.md (1):"
    )
    assert "2026-03-01 10:00  how many calls a minute does the harbour API allow?\n  shown 1, " in outcome.out
    lines = [line for line in outcome.out.splitlines() if line.startswith("  shown ")]
    assert [line.partition("tokens")[2] for line in lines] == [" (first)", ""]
    assert "decision: The harbour API gets at most 60 calls a minute from us." in outcome.out
    assert "      docs/adr/0003-harbour.md:7\n" in outcome.out
    assert "2026-03-01 10:01  compose a short haiku about the autumn moon over Kyoto\n  nothing\n" in outcome.out
    assert "harbour API allow again?\n  nothing: already shown in this session\n" in outcome.out
    assert outcome.out.endswith(
        "Nothing was written, and nothing left this machine. To draft these records: onrecord import\n"
    )


def test_the_page_about_it_shows_what_it_prints(ferry, onrecord):
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "try.md").read_text(encoding="utf-8")

    printed = onrecord("try").out

    assert textwrap.indent(printed, "    ") in page, printed


def test_try_as_json_has_everything_and_adds_up(ferry, onrecord):
    data = json.loads(onrecord("try", "--json").out)

    assert [turn["outcome"] for turn in data["prompts"]] == ["shown", "silent", "shown", "repeated"]
    assert [turn["prompt"] for turn in data["prompts"]] == list(PROMPTS)
    assert data["prompts"][2]["memories"][0]["source"] == "docs/adr/0002-nats.md:7"
    assert data["prompts"][2]["memories"][0]["note"].startswith("replaces “Jobs go through RabbitMQ”")
    summary = data["summary"]
    assert (summary["prompts"], summary["sessions"], summary["served"], summary["silent"]) == (4, 1, 2, 2)
    assert summary["tokens"] == sum(turn["tokens"] for turn in data["prompts"]) > 0
    assert summary["tokens_per_prompt"] == round(summary["tokens"] / 4, 1)
    assert (data["from"], data["records"], data["refused"]) == ("import", 4, [])


@pytest.mark.parametrize("words", [("try",), ("try", "--import"), ("try", "--json"), ("try", "--last", "1")])
@pytest.mark.parametrize("with_store", [True, False])
def test_try_writes_nothing_anywhere(ferry, home, tmp_path, onrecord, monkeypatch, words, with_store):
    subprocess.run(("git", "init", "-q", str(ferry)), check=True, timeout=120)
    if with_store:
        _save_one_about_a_file_that_changes(ferry, onrecord)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = tree(ferry, home, scratch)

    outcome = in_own_process(*words, cwd=ferry, options=("-B",))

    assert outcome.code == 0, outcome.err
    assert ("changed since" in outcome.out) == (with_store and words in (("try",), ("try", "--json")))
    assert tree(ferry, home, scratch) == before


def _save_one_about_a_file_that_changes(ferry, onrecord):
    """Judging such a record asks git and keeps notes in the cache, where it is not a trial."""
    (ferry / "harbour.py").write_text("LIMIT = 60\n", encoding="utf-8")
    rule = ("--set=rule=How many calls a minute the harbour API allows: 60", "--set=impact=429")
    related = ("--related", "harbour.py")
    assert onrecord("save", "constraint", "How many calls a minute the harbour API allows", *rule, *related).code == 0
    (ferry / "harbour.py").write_text("LIMIT = 70\n", encoding="utf-8")
    os.utime(ferry / "harbour.py", (1_700_000_000, 1_700_000_000))


def test_try_uses_the_store_where_there_is_one(ferry, onrecord):
    rule = ("--set=rule=At most 7 calls a minute to the harbour API", "--set=impact=429")
    assert onrecord("save", "constraint", "The harbour API allows 7 calls a minute", *rule).code == 0

    data = json.loads(onrecord("try", "--json").out)

    assert (data["from"], data["records"], data["files"]) == ("store", 1, {})
    assert data["prompts"][0]["memories"][0]["source"] == (
        ".claude/memory/constraints/the-harbour-api-allows-7-calls-a-minute.json"
    )
    assert json.loads(onrecord("try", "--import", "--json").out)["from"] == "import"


def test_try_takes_named_files_and_transcripts_from_elsewhere(ferry, onrecord, tmp_path):
    (tmp_path / "s.jsonl").write_text(
        json.dumps({"type": "user", "message": {"content": "when may we release, on a Friday afternoon?"}}), "utf-8"
    )

    data = json.loads(
        onrecord("try", "--transcripts", str(tmp_path), "--import", "docs/adr/0004-releases.md", "--json").out
    )

    assert data["files"] == {"docs/adr/0004-releases.md": 1}
    assert [(turn["at"], turn["session"], turn["outcome"]) for turn in data["prompts"]] == [("", "s", "shown")]


def test_try_counts_the_users_own_store_too(ferry, onrecord):
    rule = ("--set=topic=haiku", "--set=value=Compose a haiku about the autumn moon in 5-7-5", "--set=reason=Form")
    assert onrecord("save", "preference", "Short haiku about the autumn moon", *rule, "--user").code == 0

    data = json.loads(onrecord("try", "--json").out)

    assert data["records"] == 5
    assert (
        data["prompts"][1]["memories"][0]["source"]
        == "~/.claude/memory/preferences/short-haiku-about-the-autumn-moon.json"
    )
    assert [turn["outcome"] for turn in json.loads(onrecord("try", "--json", "--user").out)["prompts"]] == [
        "silent", "shown", "silent", "silent",
    ]  # fmt: skip


def test_try_says_what_is_missing(project, onrecord, tmp_path, home):
    nothing = onrecord("try")
    (tmp_path / "s.jsonl").write_text('{"type":"user","message":{"content":"hello there"}}', "utf-8")
    no_records = onrecord("try", "--transcripts", str(tmp_path / "s.jsonl"))

    assert (nothing.code, nothing.err.split(":")[0]) == (1, "BAD_INPUT")
    assert "--transcripts DIR" in nothing.err
    assert (no_records.code, no_records.err.split(":")[0]) == (1, "NO_STORE")
    assert "--last must be 1 or more, not 0" in onrecord("try", "--last", "0").err
    assert onrecord("try", "--transcripts", "nowhere").code == 2


def test_try_names_what_it_left_out_and_why(ferry, onrecord):
    text = RELEASES.replace("afternoon broke", "with ghp_" + "a1" * 18 + " broke")
    (ferry / "docs/adr/0004-releases.md").write_text(text, encoding="utf-8")

    outcome = onrecord("try")

    assert outcome.code == 0
    assert "warning: left out docs/adr/0004-releases.md: line 7: " in outcome.err
    assert "a1a1a1" not in outcome.out + outcome.err


def test_without_prompts_the_last_commits_are_played_and_it_says_how_to_play_one(ferry, onrecord, home):
    for folder in (home / ".claude" / "projects").iterdir():
        shutil.rmtree(folder)
    assert onrecord("try").err.startswith("BAD_INPUT: no prompts in any agent's sessions in ")
    subprocess.run(("git", "init", "-q", str(ferry)), check=True, timeout=120)
    for subject in ("Compose a haiku about the moon", "Stay below the 60 calls a minute of the harbour API"):
        git = ("git", "-C", str(ferry), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty")
        subprocess.run((*git, "-m", subject), check=True, timeout=120)

    outcome = onrecord("try")
    played = json.loads(onrecord("try", "--json").out)["prompts"]

    assert [turn["prompt"] for turn in played] == [
        "Compose a haiku about the moon", "Stay below the 60 calls a minute of the harbour API",
    ]  # fmt: skip
    assert [bool(turn["memories"]) for turn in played] == [False, True]
    assert outcome.err.endswith(
        'so the subjects of the last commits are used; type one: onrecord try "a question you would ask here"\n'
    )


def test_try_says_that_recall_is_turned_off(ferry, onrecord):
    assert onrecord("config", "set", "retrieval.enabled", "false", "--user").code == 0

    outcome = onrecord("try")

    assert (
        "warning: retrieval.enabled is false, so no record is shown at prompts, files and failed commands"
        in outcome.err
    )
    assert " only a pointer, " in outcome.out


def test_a_prompt_cannot_paint_the_terminal(ferry, onrecord, tmp_path):
    (tmp_path / "s.jsonl").write_text(
        json.dumps({"type": "user", "message": {"content": "red \x1b[31m alert\n\x07 \u202e end"}}), "utf-8"
    )

    out = onrecord("try", "--transcripts", str(tmp_path)).out

    assert "red  [31m alert" in out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_try_plays_prompts_that_are_typed_where_there_are_no_sessions(project, onrecord):
    rule = ("--set=rule=At most 7 calls a minute to the harbour API", "--set=impact=429")
    onrecord("save", "constraint", "The harbour API allows 7 calls a minute", *rule)

    refused = onrecord("try")
    data = json.loads(onrecord("try", PROMPTS[0], PROMPTS[1], "--json").out)

    assert 'onrecord try "a question you would ask here"' in refused.err
    assert [(turn["session"], turn["outcome"]) for turn in data["prompts"]] == [
        ("prompt 1", "shown"),
        ("prompt 2", "silent"),
    ]


def test_a_question_that_no_record_is_certain_to_answer_is_played_with_its_note(project, onrecord):
    rule = ("--set=decision=Components call api-interface.js; only that file imports axios.", "--set=context=Many")
    onrecord("save", "decision", "HTTP calls go through api-interface.js", *rule, "--set=rationale=One place")
    onrecord("save", "decision", "Test with nox", "--set=decision=nox", "--set=context=x", "--set=rationale=y")

    printed = onrecord("try", "why did we choose axios?", "why did we choose kubernetes?")

    assert (printed.code, printed.err) == (0, "")
    assert "  a note: No record in the project memory is certain to answer this question." in printed.out
    assert "  a note: Nothing on file: no record in the project memory matches" in printed.out
    assert ": 0 shown a record, 0 only a pointer, 2 nothing;" in printed.out
