"""Saving by hand, in a real terminal: questions, and a form in the editor."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.cli import form_file
from tests.terminal_session import CTRL_C, CTRL_D, TerminalSession

from .conftest import DECISION

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")

FILLED = [
    ("literal values. -->\n", "literal values. -->\nuv installs everything.\n"),
    ("called for it. -->\n", "called for it. -->\nFour tools did one thing.\n"),
    ("Why. -->\n- ", "Why. -->\n- fast"),
]


def record(project: Path, name: str) -> dict:
    return json.loads((project / ".claude/memory" / name).read_text(encoding="utf-8"))


def kept_forms() -> list[str]:
    """Return the names of the kept forms."""
    folder = Path(paths.state_dir(), form_file.FOLDER)
    return sorted(os.listdir(folder)) if folder.exists() else []


def kept_form(screen: str) -> Path:
    """Return the path of the kept form that the screen names."""
    return Path(shlex.split(screen.replace("\n", " ").partition("--from ")[2])[0].rstrip(";"))


def test_a_record_is_saved_by_answers_alone(project):
    (project / "jobs.py").write_text("x = 1\n")
    with TerminalSession("save", cwd=project) as session:
        session.expect("What is it?")
        session.expect("d  decision")
        session.press("d")
        session.expect("title")
        session.line("Use uv")
        session.expect("decision: What was decided")
        session.line("uv installs everything.")
        session.expect("context: ")
        session.line("Four tools did one thing.")
        session.expect("rationale: ")
        session.line("fast")
        session.line("")
        session.expect("triggers: ")
        session.line("how do I install")
        session.line("")
        session.expect("related files: ")
        session.line("job.py")
        session.expect("job.py does not exist. Did you mean jobs.py?")
        session.line("jobs.py")
        session.line("")
        session.expect("decision · not saved yet")
        session.expect("Save it? [y]es [e]dit [n]o [?]: ")
        session.press("y")
        session.expect("saved ")
        assert session.end() == 0

    saved = record(project, "decisions/use-uv.json")
    assert saved["content"] == {
        "status": "accepted",
        "decision": "uv installs everything.",
        "context": "Four tools did one thing.",
        "rationale": ["fast"],
    }
    assert (saved["triggers"], saved["related_files"]) == (["how do I install"], ["jobs.py"])


def to_the_question(session: TerminalSession) -> None:
    session.expect("title")
    session.line("Tabs in all of our Python files")
    for name, line in (("topic", "indentation"), ("value", "tabs"), ("reason", "everybody sets the width")):
        session.expect(f"{name}: ")
        session.line(line)
    session.line("")
    session.line("")
    session.expect("Save it?")


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D, "n"])
def test_who_stops_is_told_that_nothing_was_saved_and_where_the_text_is(project, edits, key):
    with TerminalSession("save", "preference", cwd=project) as session:
        to_the_question(session)
        session.press(key)
        session.expect("STOPPED: nothing was saved")
        assert session.end() == 1

    assert not (project / ".claude").exists()
    edits([])
    with TerminalSession("save", "preference", "--from", str(kept_form(session.text)), cwd=project) as session:
        assert session.end() == 0
    assert record(project, "preferences/tabs-in-all-of-our-python-files.json")["content"]["value"] == "tabs"


def test_items_typed_before_somebody_stops_are_kept_too(project, edits):
    with TerminalSession("save", "constraint", cwd=project) as session:
        session.expect("title")
        session.line("Hooks stay offline")
        session.expect("rule: ")
        session.line("No network in any hook.")
        session.expect("impact: ")
        session.expect("- ")
        session.line("the agent waits")
        session.expect("\n- ")
        session.send(CTRL_D)
        session.expect("STOPPED: nothing was saved")
        assert session.end() == 1

    assert "\n- the agent waits\n" in kept_form(session.text).read_text()


def test_a_number_given_by_a_flag_does_not_hinder_stopping(project):
    with TerminalSession("save", "decision", "--set=confidence=0.8", cwd=project) as session:
        session.expect("> ")
        session.send(CTRL_D)
        session.expect("STOPPED: nothing was saved")
        assert session.end() == 1


def test_a_kept_form_and_flags_exclude_each_other(onrecord, project):
    (project / "form.md").write_text("# Title\n")
    outcome = onrecord("save", "decision", "Title", "--from", "form.md")

    assert outcome.err.startswith("onrecord save: --from and TITLE exclude each other")


def test_ctrl_c_at_the_first_question_keeps_no_file(project, edits):
    with TerminalSession("save", cwd=project) as session:
        session.expect("Press its key")
        session.press(CTRL_C)
        session.expect("STOPPED: nothing was saved")
        assert session.end() == 1
        assert session.echoes()

    assert "--from" not in session.text and not kept_forms()


def test_an_answer_can_be_changed_in_the_editor_before_it_is_saved(project, edits):
    edits([("tabs\n", "spaces\n")])
    with TerminalSession("save", "preference", cwd=project) as session:
        to_the_question(session)
        session.press("?")
        session.expect("e  edit: change it first, in your editor")
        session.press("e")
        session.expect("value: spaces")
        session.press("y")
        assert session.end() == 0

    assert record(project, "preferences/tabs-in-all-of-our-python-files.json")["content"]["value"] == "spaces"


def test_a_title_alone_opens_a_form(project, tmp_path, edits):
    edits(FILLED)
    with TerminalSession("save", "decision", "Use uv", "--tag=tools", cwd=project) as session:
        assert session.end() == 0

    assert record(project, "decisions/use-uv.json")["content"]["rationale"] == ["fast"]
    form = (tmp_path / "opened-1").read_text()
    assert "# Use uv\n" in form and "## tags\n<!-- optional: " in form and "- tools\n" in form
    assert not kept_forms()


def test_a_wrong_form_is_opened_again_with_the_errors_at_their_places(project, tmp_path, edits):
    edits(
        [*FILLED[1:], ("\naccepted", "\nperhaps")],
        [*FILLED[:1], ("\nperhaps", "\nproposed"), ("## tags", "## tagz")],
        [("## tagz", "## tags")],
    )
    with TerminalSession("save", "decision", "Use uv", cwd=project) as session:
        session.expect("2 fields to correct; the form is open again")
        session.expect("1 field to correct; the form is open again")
        assert session.end() == 0

    form = (tmp_path / "opened-2").read_text()
    assert "## decision\n<!-- ERROR decision: is missing -->\n" in form
    assert "## status\n<!-- ERROR status: must be one of proposed, accepted" in form
    assert "Four tools did one thing." in form
    assert "ERROR tagz: is no field of this form" in (tmp_path / "opened-3").read_text()
    assert record(project, "decisions/use-uv.json")["content"]["status"] == "proposed"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([[]], "STOPPED: nothing was saved: the form was not changed"),
        ([[("", "")]], "STOPPED: nothing was saved: the form is empty"),
        ([7], "BAD_INPUT: the editor ended with code 7, so nothing was saved"),
        ([FILLED[:1], []], "INVALID_RECORD: content.context: is missing"),
    ],
)
def test_a_form_that_says_nothing_new_saves_nothing(project, edits, changes, message):
    edits(*changes)
    with TerminalSession("save", "decision", "Use uv", cwd=project) as session:
        session.expect(message)
        assert session.end() == 1

    assert not (project / ".claude").exists()
    is_kept = not message.startswith("STOPPED")
    assert [name[:7] for name in kept_forms()] == (["use-uv-"] if is_kept else [])
    if is_kept:
        assert kept_form(session.text).read_text().startswith("<!-- A new decision: what was decided, and why.")


def test_a_record_that_says_the_same_can_be_updated_instead(project, edits, onrecord):
    onrecord("save", "decision", "Jobs are rows of the table jobs", *DECISION)
    edits([
        ("literal values. -->\n", "literal values. -->\nJobs are rows of the table jobs, 4 at a time.\n"),
        ("called for it. -->\n", "called for it. -->\nImports must survive a restart.\n"),
        ("Why. -->\n- ", "Why. -->\n- One thing less to run."),
        ("What follows from it. -->\n- ", "What follows from it. -->\n- slower"),
    ])  # fmt: skip
    with TerminalSession("save", "decision", "Jobs are rows of a table", cwd=project) as session:
        session.expect("says nearly the same: decisions/jobs-are-rows-of-the-table-jobs.json")
        session.press("u")
        session.expect("updated decisions/jobs-are-rows-of-the-table-jobs.json")
        assert session.end() == 0

    assert record(project, "decisions/jobs-are-rows-of-the-table-jobs.json")["content"]["consequences"] == ["slower"]


@pytest.mark.parametrize("agent", [{"CLAUDECODE": "1"}, {}])
def test_nothing_opens_for_agents_and_programs(project, edits, agent):
    """An agent may have a terminal of its own; a program asks for JSON."""
    edits()
    words = ("save", "decision", "Use uv", *(() if agent else ("--json",)))
    with TerminalSession(*words, cwd=project, env=agent) as session:
        session.expect("add --set decision=… --set context=… --set rationale=…; nothing was written")
        assert session.end() == 1


def test_without_a_terminal_a_category_is_needed(onrecord):
    outcome = onrecord("save")

    assert outcome.code == 1 and outcome.err.startswith("BAD_INPUT: there is nothing to save\nfix: give a category")


def test_kept_forms_are_private_and_no_more_than_the_newest_are_kept(project, edits, monkeypatch):
    monkeypatch.setattr(form_file, "_MAX_FORMS", 3)
    forms = []
    for number in range(5):
        forms.append(form_file.FormFile("decision", f"text {number}", name="use-uv", resume=lambda path: path))
        os.utime(forms[-1].path, (number, number))
    Path(f"{forms[4].path}~").write_text("what an editor leaves")

    assert [os.path.exists(form.path) for form in forms] == [False, False, True, True, True]
    assert os.stat(forms[4].path).st_mode & 0o777 == 0o600
    for form in forms:
        form.delete()
    assert kept_forms() == []
