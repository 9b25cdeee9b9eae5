"""Editing a record in its form: with an editor and answers on standard input, and in a real terminal."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.cli import form_file
from tests.terminal_session import CTRL_C, TerminalSession

from .conftest import DECISION

PATH = ".claude/memory/decisions/jobs-are-rows.json"
TEXT = "Jobs are rows of the table jobs, 4 at a time."


@pytest.fixture
def saved(onrecord):
    answer = onrecord("save", "decision", "Jobs are rows", "--tag=queue", "--tag=wrong", *DECISION, "--json")
    return json.loads(answer.out)


def record(project: Path) -> dict:
    return json.loads((project / PATH).read_text(encoding="utf-8"))


def kept_form(error: str) -> str:
    return shlex.split(error.partition("--from ")[2].partition(";")[0])[0]


def test_an_edit_is_logged_as_what_it_changed(onrecord, saved, edits):
    edits([("4 at a time", "8 at a time"), ("What follows from it. -->\n- ", "What follows from it. -->\n- faster")])

    outcome = onrecord("edit", saved["id"], "--summary=measured", "--yes")

    assert outcome.out == (
        "updated decisions/jobs-are-rows.json\n  measured\n  Changed content.decision\n  Added content.consequences\n"
    )


def test_the_difference_is_shown_before_anything_is_written(project, onrecord, saved, edits):
    edits([("4 at a time", "8 at a time"), ("- wrong\n", ""), ("run.\n", "run.\n- One more.\n")])

    outcome = onrecord("edit", saved["id"], stdin="n\n")

    assert outcome.out == (
        "tags\n  - wrong\n"
        f"decision\n  - {TEXT}\n  + Jobs are rows of the table jobs, 8 at a time.\n"
        "rationale\n  + One more.\n"
        "Write it? [y]es [e]dit [n]o [?]: "
    )
    assert outcome.err.startswith(
        "STOPPED: nothing was changed\nfix: your text is kept: onrecord edit jobs-are-rows --from "
    )
    assert record(project)["content"]["decision"] == TEXT
    edits([])
    onrecord("edit", saved["id"], "--from", kept_form(outcome.err), stdin="y\n")
    assert (record(project)["tags"], record(project)["content"]["rationale"][1:]) == (["queue"], ["One more."])


def test_nobody_to_answer_is_told_of_yes(project, onrecord, saved, edits):
    edits([("4 at a time", "8 at a time")])

    outcome = onrecord("edit", saved["id"])

    assert (outcome.code, outcome.err.endswith("; --yes writes without asking\ndocs: onrecord docs STOPPED\n")) == (
        1,
        True,
    )
    assert record(project)["content"]["decision"] == TEXT


def test_for_a_program_nothing_is_asked_and_the_output_is_json(project, onrecord, saved, edits):
    edits([("4 at a time", "8 at a time")])

    outcome = onrecord("edit", saved["id"], "--json", stdin="y\n")

    assert json.loads(outcome.out)["error"]["fix"].endswith("; --yes writes without asking")
    assert record(project)["content"]["decision"] == TEXT


def test_a_field_that_nobody_touched_stays_as_it_is(project, onrecord, saved, edits):
    odd = {"rationale": ["## decision", "<!-- x -->", "a\r\n b"], "consequences": [], "extra": {"a": [1]}}
    changed = {**record(project), "unknown": 1}
    changed["content"].update(odd)
    (project / PATH).write_text(json.dumps(changed))
    edits([("4 at a time", "8 at a time")])

    onrecord("edit", saved["id"], "--yes")

    assert record(project)["content"] == {**changed["content"], "decision": TEXT.replace("4", "8")}
    assert record(project)["unknown"] == 1


def test_an_optional_field_can_be_emptied(project, onrecord, saved, edits):
    onrecord("update", saved["id"], "--hash", saved["hash"], "--set=consequences=slower")
    edits([("- slower\n", "")])

    onrecord("edit", saved["id"], "--yes")

    assert "consequences" not in record(project)["content"]


def test_leaving_the_form_alone_changes_nothing(onrecord, saved, edits):
    edits([])

    assert onrecord("edit", saved["id"]).out == "decisions/jobs-are-rows.json already says that; nothing changed\n"
    assert not os.listdir(os.path.join(paths.state_dir(), form_file.FOLDER))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (("\naccepted", "\nmaybe"), "## status\n<!-- ERROR status: must be one of proposed"),
        (("# Jobs are rows", "# "), "# \n<!-- ERROR title: is missing"),
        (("- queue", "- queue\n## related files\n- no.py"), "<!-- ERROR related files: is here twice"),
        (("- queue\n- wrong", "-"), "## tags\n<!-- ERROR tags: is missing -->"),
        ((TEXT, ""), "## decision\n<!-- ERROR decision: is missing"),
        (("Imports must survive a restart.", "AKIA0123456789ABCDEF"), "## context\n<!-- ERROR context: carries "),
    ],
)  # fmt: skip
def test_a_wrong_form_returns_with_the_error_and_replaces_nothing(
    project, tmp_path, onrecord, saved, edits, change, place
):
    edits([change], [])

    outcome = onrecord("edit", saved["id"])

    assert place in (tmp_path / "opened-2").read_text()
    assert outcome.code == 1 and record(project)["times_updated"] == 0
    assert place in Path(kept_form(outcome.err)).read_text()


def test_a_record_changed_meanwhile_is_not_overwritten_and_both_texts_are_kept(
    project, onrecord, saved, edits, tmp_path
):
    edits([("restart.", "power failure."), ("- One thing less to run.", "- mine")])
    theirs = record(project)
    theirs["content"].update(context="Theirs.", decision="8 at a time.")
    editor = tmp_path / "editor.py"
    editor.write_text(f"{editor.read_text()}\nopen({str(project / PATH)!r}, 'w').write({json.dumps(theirs)!r})\n")

    outcome = onrecord("edit", saved["id"], "--yes")

    assert outcome.err.startswith("CHANGED_SINCE_READ: ")
    assert record(project)["content"] == theirs["content"]
    both = Path(kept_form(outcome.err)).read_text()
    assert "<!-- ERROR context: it was changed meanwhile, to: Theirs. -->" in both
    assert "Imports must survive a power failure.\n" in both and "\n8 at a time.\n" in both and "- mine\n" in both


def test_an_editor_that_fails_saves_nothing(onrecord, saved, edits):
    edits(1)

    assert onrecord("edit", saved["id"]).err.startswith("BAD_INPUT: the editor ended with code 1")


def test_no_text_is_said_to_be_kept_that_the_editor_deleted(onrecord, saved, monkeypatch):
    monkeypatch.setenv("VISUAL", "rm")

    assert "kept" not in onrecord("edit", saved["id"]).err


def test_an_editor_that_is_not_there_is_named(onrecord, saved, monkeypatch):
    monkeypatch.setenv("VISUAL", "no-such-editor-at-all")

    assert onrecord("edit", saved["id"]).err.startswith("BAD_INPUT: cannot start the editor 'no-such-editor-at-all'")


def test_a_dry_run_checks_the_form_and_writes_nothing(project, onrecord, saved, edits):
    edits([("4 at a time", "8 at a time")])

    assert onrecord("edit", saved["id"], "--dry-run").out.startswith("would update decisions/jobs-are-rows.json\n")
    assert record(project)["content"]["decision"] == TEXT


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_in_a_terminal_one_key_decides(project, saved, edits):
    edits([("4 at a time", "8 at a time")], [("8 at a time", "9 at a time")], [("9 at a time", "0 at a time")])
    with TerminalSession("edit", "jobs-are-rows", cwd=project) as session:
        session.expect("+ Jobs are rows of the table jobs, 8 at a time.")
        session.press("e")
        session.expect("+ Jobs are rows of the table jobs, 9 at a time.")
        session.press("y")
        session.expect("updated decisions/jobs-are-rows.json")
        assert session.end() == 0
    with TerminalSession("edit", "jobs-are-rows", cwd=project) as session:
        session.expect("Write it?")
        session.press(CTRL_C)
        session.expect("STOPPED: nothing was changed")
        assert session.end() == 1 and session.echoes()

    assert record(project)["content"]["decision"] == TEXT.replace("4", "9")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_a_person_updates_without_a_hash_and_a_wrong_hash_still_counts(project, saved):
    with TerminalSession("update", "jobs-are-rows", "--set", "decision=8 at a time", cwd=project) as session:
        assert session.end() == 0
    with TerminalSession("update", "jobs-are-rows", "--set", "decision=9", "--hash", "0" * 32, cwd=project) as session:
        session.expect("CHANGED_SINCE_READ")
        assert session.end() == 1

    assert record(project)["content"]["decision"] == "8 at a time"


def test_a_program_that_never_gets_the_form_right_is_not_asked_for_ever(project, onrecord, monkeypatch, tmp_path):
    onrecord("save", "preference", "Tabs", "--set=topic=t", "--set=value=v", "--set=reason=r")
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\necho "## no such heading $$" >>"$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))

    code, _, err = onrecord("edit", "tabs", "--yes")

    assert code == 1
    assert "your text is kept" in err
