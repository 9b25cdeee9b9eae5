"""A review in a real terminal: one key for each answer, several drafts at once, and the way back."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from onrecord.capture import suggestions
from onrecord.record import compose
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from tests.terminal_session import CTRL_C, CTRL_D, TerminalSession

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")

DECISIONS = {
    "Jobs are rows": "Jobs are rows of the table jobs.",
    "Logs go to stdout": "Services write JSON lines to standard output.",
    "Dates are UTC": "Timestamps are stored in UTC and shown in the zone of the reader.",
}


@pytest.fixture
def session_drafts(project, onrecord):
    """Put three drafts of one session into the inbox."""
    for title, text in DECISIONS.items():
        suggestions.add(str(project), "suggested", "decision", "s-1", (f"yes: {title}",))
        content = {"context": f"About {title}.", "decision": text, "rationale": [f"so that {title}"]}
        onrecord("save", "decision", "--suggested", stdin=json.dumps({"title": title, "content": content}))


def names(project: Path, folder: str) -> list[str]:
    return sorted(path.stem for path in (project / ".claude/memory" / folder).glob("*.json"))


def test_one_key_accepts_rejects_skips_and_takes_back(project, session_drafts):
    with TerminalSession("review", cwd=project) as session:
        first = session.expect("[?]: ")
        assert "1 of 3: dates-are-utc" in first and "decision · draft · " in first
        assert first.count("yes: Dates are UTC") == 1 and "[u]ndo" not in first
        session.press("a")
        session.expect("saved decisions/dates-are-utc.json")
        session.expect("2 of 3: jobs-are-rows")
        session.press("r")
        session.expect("3 of 3: logs-go-to-stdout")
        session.press("u")
        session.expect("undone: rejected 1 draft")
        session.expect("2 of 3: jobs-are-rows")
        session.press("u")
        session.expect("undone: accepted 1 draft")
        session.expect("1 of 3: dates-are-utc")
        assert names(project, "decisions") == []
        session.press("s")
        session.expect("2 of 3: jobs-are-rows")
        session.press("a")
        session.expect("3 of 3: logs-go-to-stdout")
        session.press("r")
        session.expect("1 accepted, 1 rejected, 1 skipped; 1 draft left")
        assert session.end() == 0

    assert (names(project, "decisions"), names(project, "inbox")) == (["jobs-are-rows"], ["dates-are-utc"])
    states = {item.evidence[0]: item.state for item in suggestions.read(str(project))}
    assert states == {
        "yes: Jobs are rows": "saved",
        "yes: Logs go to stdout": "rejected",
        "yes: Dates are UTC": "drafted",
    }


def test_all_drafts_of_a_session_are_accepted_with_one_question(project, session_drafts):
    with TerminalSession("review", cwd=project) as session:
        session.expect("[A]ll ")
        session.press("?")
        session.expect("A  All: accept all 3 drafts from session s-1, after a question")
        session.press("A")
        screen = session.expect("Accept 3 drafts from session s-1? [y/N] ")
        assert all(title in screen for title in DECISIONS)
        session.press("n")
        session.press("A")
        session.expect("[y/N] ")
        session.press("y")
        session.expect("saved 3 records")
        session.expect("3 accepted")
        assert session.end() == 0

    assert len(names(project, "decisions")) == 3 and names(project, "inbox") == []


def test_a_draft_that_was_skipped_is_not_accepted_with_the_others(project, session_drafts):
    with TerminalSession("review", cwd=project) as session:
        session.press("s")
        session.expect("2 of 3")
        session.press("A")
        session.expect("Accept 2 drafts from session s-1? [y/N] ")
        session.press("y")
        session.expect("saved 2 records")
        session.expect("\n2 accepted, 1 skipped; 1 draft left\n")
        assert session.end() == 0

    assert names(project, "inbox") == ["dates-are-utc"]


def test_a_capital_a_accepts_nothing_where_it_is_not_on_offer(project, session_drafts):
    with TerminalSession("review", cwd=project) as session:
        for key in ("s", "s"):
            session.press(key)
        session.expect("3 of 3")
        session.press("A")
        session.expect("a  accept: make it a record")
        session.press("q")
        assert session.end() == 0

    assert names(project, "decisions") == []


LONG = "Every service keeps its own tables and reads those of others through their API only. "


@pytest.fixture
def long_draft(project, onrecord):
    """Put a draft that is longer than a screen into the inbox, from a decision record."""
    (project / "docs/adr").mkdir(parents=True)
    (project / "docs/adr/0001-tables.md").write_text(
        f"# 1. Tables\n\n## Decision\n\nEach service owns its tables. {LONG}\n"
    )
    onrecord("init")
    content = {
        "context": "Two services wrote to one table.",
        "decision": f"Each service owns its tables. {LONG}",
        "rationale": [f"Reason {number}: {LONG * 2}" for number in range(20)],
    }
    record = compose.compose("decision", {"title": "Services own their tables", "content": content})
    imported = record._replace(origin="import", source="docs/adr/0001-tables.md:3")
    Inbox(str(project / ".claude" / "memory")).put(inbox.new_draft(imported))


def test_title_decision_and_what_agents_are_shown_are_on_a_screen_of_80_by_24(project, long_draft):
    with TerminalSession("review", cwd=project) as session:
        screen = session.expect("[?]: ").split("\n")[-24:]
        session.press("q")
        assert session.end() == 0

    assert all(len(line) <= 80 for line in screen if not line.startswith("path: ")), screen
    assert screen[1:4] == ["1 of 1: services-own-their-tables", "Services own their tables", screen[3]]
    assert screen[4:6] == ["agents will be shown", f"  {screen[5].strip()}"]
    assert any(line.startswith("decision") for line in screen)
    assert " more lines: press v" in screen[-2]
    assert screen[-1] == "[a]ccept [e]dit [m]erge [r]eject [s]kip s[o]urce [q]uit [?]: "


def test_a_key_shows_the_source_of_a_draft_and_another_all_of_it(project, long_draft, monkeypatch):
    with TerminalSession("review", cwd=project, env={"ONRECORD_PAGER": "cat"}) as session:
        session.expect("[?]: ")
        session.press("o")
        source = session.expect("[?]: ")
        assert "docs/adr/0001-tables.md" in source and "## Decision" in source
        session.press("v")
        whole = session.expect("[?]: ")
        assert "Reason 19" in whole and "press v" not in whole and "path: inbox/" in whole
        session.press("q")
        assert session.end() == 0


def test_two_reviewers_see_what_the_other_decided(project, session_drafts):
    with TerminalSession("review", cwd=project) as one, TerminalSession("review", cwd=project) as other:
        for session in (one, other):
            session.expect("1 of 3: dates-are-utc")
            session.expect("[?]: ")
        other.press("a")
        other.expect("2 of 3")
        other.press("r")
        other.expect("3 of 3")
        one.press("r")
        one.expect("passed over: somebody accepted dates-are-utc meanwhile")
        one.expect("passed over: somebody rejected jobs-are-rows meanwhile")
        one.expect("3 of 3: logs-go-to-stdout")
        one.press("a")
        one.expect("1 accepted, 2 decided on by somebody else\n")
        assert one.end() == 0
        other.press("r")
        other.expect("passed over: somebody accepted logs-go-to-stdout meanwhile")
        other.expect("1 accepted, 1 rejected, 1 decided on by somebody else\n")
        assert other.end() == 0

    assert names(project, "decisions") == ["dates-are-utc", "logs-go-to-stdout"]


def test_accepting_all_accepts_none_a_second_time(project, session_drafts):
    """Two reviewers at the same question: the second finds the drafts gone."""
    with TerminalSession("review", cwd=project) as one, TerminalSession("review", cwd=project) as other:
        for session in (one, other):
            session.press("A")
            session.expect("Accept 3 drafts from session s-1? [y/N] ")
        other.press("y")
        other.expect("3 accepted")
        one.press("y")
        one.expect("passed over: somebody accepted dates-are-utc meanwhile")
        one.expect("nothing decided, 3 decided on by somebody else\n")
        assert one.end() == 0

    assert names(project, "decisions") == ["dates-are-utc", "jobs-are-rows", "logs-go-to-stdout"]


def test_what_repeats_a_record_is_left_out_of_a_group_and_the_group_can_be_taken_back(
    project, onrecord, session_drafts
):
    content = {
        "context": "About Dates are UTC.",
        "decision": DECISIONS["Dates are UTC"],
        "rationale": ["so that Dates are UTC"],
    }
    onrecord("save", "decision", "--force", stdin=json.dumps({"title": "All dates are UTC", "content": content}))

    with TerminalSession("review", cwd=project) as session:
        session.expect("says nearly the same: decisions/all-dates-are-utc.json")
        session.press("A")
        session.expect("1 draft from there would change, replace or repeat a record")
        session.expect("Accept 2 drafts from session s-1?")
        session.press("y")
        session.expect("1 of 3: dates-are-utc")
        session.press("u")
        session.expect("undone: accepted 2 drafts")
        session.expect("1 of 3: dates-are-utc")
        assert len(names(project, "inbox")) == 3
        session.press("r")
        session.expect("2 of 3: jobs-are-rows")
        session.press("q")
        session.expect("1 rejected; 2 drafts left")
        assert session.end() == 0

    assert names(project, "decisions") == ["all-dates-are-utc"]


def test_imported_drafts_are_accepted_by_folder(project, onrecord):
    decisions = {
        "Jobs are rows": "We will keep jobs as rows in Postgres.",
        "Logs go to stdout": "We will write logs as JSON lines to standard output.",
        "Dates are UTC": "We will store timestamps in UTC and show them in the zone of the reader.",
    }
    for number, (title, text) in enumerate(decisions.items(), 1):
        context = "Every service did it in a way of its own."
        page = f"# {number}. {title}\n\n## Status\n\nAccepted\n\n## Context\n\n{context}\n\n## Decision\n\n{text}\n"
        target = project / f"docs/adr/000{number}-page.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page)
    onrecord("import")

    with TerminalSession("review", cwd=project) as session:
        session.expect("1 of 3")
        session.press("A")
        session.expect("Accept 3 drafts from docs/adr/? [y/N] ")
        session.press("y")
        session.expect("3 accepted")
        assert session.end() == 0

    assert len(names(project, "decisions")) == 3


def test_a_draft_is_edited_in_the_form_with_an_error_and_back(project, session_drafts, edits, tmp_path):
    edits(
        [("so that Dates are UTC", "nobody has to guess"), ("\naccepted", "\nperhaps")],
        [("\nperhaps", "\nproposed"), ("# Dates are UTC", "# Times are UTC")],
    )
    with TerminalSession("review", cwd=project) as session:
        session.expect("1 of 3: dates-are-utc")
        session.press("e")
        session.expect("1 field to correct; the form is open again")
        session.expect("nobody has to guess")
        session.press("a")
        session.expect("saved decisions/times-are-utc.json")
        session.press("q")
        session.expect("1 accepted; 2 drafts left")
        assert session.end() == 0

    assert "## status\n<!-- ERROR status: must be one of" in (tmp_path / "opened-2").read_text()
    saved = json.loads((project / ".claude/memory/decisions/times-are-utc.json").read_text())
    assert (saved["content"]["status"], saved["content"]["rationale"]) == ("proposed", ["nobody has to guess"])


def test_a_draft_whose_form_was_left_as_it_is_is_no_change(project, onrecord, session_drafts, edits):
    before = onrecord("log", "--json").out
    edits([])

    onrecord("review", stdin="e\nq\n")

    assert onrecord("log", "--json").out == before


@pytest.mark.parametrize(("key", "status"), [(CTRL_C, 130), (CTRL_D, 0), ("q", 0)])
def test_whoever_stops_keeps_what_was_decided(project, session_drafts, key, status):
    with TerminalSession("review", cwd=project) as session:
        session.expect("1 of 3")
        session.press("a")
        session.expect("2 of 3")
        session.press(key)
        session.expect("1 accepted; 2 drafts left")
        assert session.end() == status and session.echoes()

    assert names(project, "inbox") == ["jobs-are-rows", "logs-go-to-stdout"]
