"""A record whose files have changed says so wherever it is shown, in the one format that a record has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.hooks import tools
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts import claude_code
from onrecord.hosts.events import Payload
from onrecord.project import Project
from onrecord.recall import after_compaction as compaction
from onrecord.recall import for_failure, for_file, for_prompt
from onrecord.recall.stores import Stores
from onrecord.session.ledger import Ledger
from onrecord.session.transcript import NO_SESSION
from onrecord.settings import load_settings
from tests.known_project import known_project

FILE = "src/session.py"
ASKS = "how long does a login session live, LIFETIME_DAYS?"
ERROR = 'Exit code 1\nERROR: worker lost: lease expired for shard "invoices-eu" while flushing'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "src").mkdir()
    (tmp_path / FILE).write_text("LIFETIME_DAYS = 14\n")
    constraint = (
        "constraint",
        {"title": "A login session lives 14 days", "rule": "LIFETIME_DAYS of a login session is 14, \"not\" more.",
         "impact": ["the app logs its users out"], "severity": "high", "related_files": [FILE],
         "triggers": [ASKS]},
    )  # fmt: skip
    runbook = (
        "runbook",
        {"title": "Worker lost its lease", "trigger": "worker lost: lease expired for shard while flushing",
         "symptoms": ["ERROR: worker lost: lease expired for shard"], "steps": ["Restart the shard."],
         "verification": "The lease is renewed.", "related_files": [FILE]},
    )  # fmt: skip
    return known_project(tmp_path, constraint, runbook)


def at_prompt(project: Project, session: str = "s") -> str:
    settings = load_settings(project.store.root)
    return for_prompt.answer(project.stores, ASKS, settings, session=session, transcript=NO_SESSION)


def at_file(project: Project, session: str = "s", *, is_edit: bool = False) -> str:
    settings, stores = load_settings(project.store.root), Stores(paths.store_refs(project.store.root))
    return for_file.block(stores, project.root, FILE, settings, session, is_edit=is_edit)


def at_edit(project: Project, session: str = "s") -> str:
    return at_file(project, session, is_edit=True)


def at_failure(project: Project) -> str:
    settings, stores = load_settings(project.store.root), Stores(paths.store_refs(project.store.root))
    return for_failure.block(stores, "make flush", ERROR, settings, "s")


def after_compaction(project: Project) -> str:
    at_prompt(project)
    return compaction.block(Stores(paths.store_refs(project.store.root)), "s")


@pytest.mark.parametrize("show", [at_prompt, at_file, at_edit, at_failure, after_compaction])
def test_a_record_whose_file_has_changed_says_so_wherever_it_is_shown(project, show):
    fresh = show(project)
    (Path(project.root) / FILE).write_text("LIFETIME_DAYS = 30\n")
    with Ledger("s") as noted:
        noted.reset()
    changed = show(project)

    assert "<result " in fresh and "verify:" not in fresh
    assert re.search(r"\(verify: `src/session.py` changed since \d{4}-\d\d-\d\d\)</result>", changed)


def test_a_record_reads_the_same_wherever_it_is_shown(project):
    records = [re.sub(' confidence="[a-z]+"', "", text) for text in (
        at_prompt(project), after_compaction(project), at_file(project, "other"), at_edit(project),
    )]  # fmt: skip

    assert len(set(records)) == 1
    assert 'is 14, "not" more' in records[0]


def test_a_grave_constraint_is_repeated_at_the_first_edit_of_its_file(project):
    first, read, edit, again = at_prompt(project), at_file(project), at_edit(project), at_edit(project)

    assert (bool(first), read, bool(edit), again) == (True, "", True, "")


@pytest.mark.parametrize(("tool", "is_shown"), [("Read", False), ("Edit", True), ("MultiEdit", True), ("Write", True)])
def test_every_tool_that_writes_a_file_counts_as_an_edit(project, tool, is_shown):
    at_prompt(project)
    payload = {"session_id": "s", "cwd": project.root, "tool_name": tool, "tool_input": {"file_path": FILE}}

    event = claude_code.read("pre_tool_use", Payload(payload))

    answer = tools.pre_tool_use(event, EventStores(project.root, project.store.root, ""))

    assert bool(answer.text) is is_shown


def test_what_an_edit_showed_first_is_not_repeated_by_the_next_edit(project):
    assert (bool(at_edit(project)), at_edit(project)) == (True, "")


@pytest.mark.parametrize("severity", ["medium", "low"])
def test_other_records_are_not_repeated_at_an_edit(project, severity):
    entry = project.get("a-login-session-lives-14-days")
    project.writer.update(entry.path, {"content": {"severity": severity}}, entry.hash)

    assert (bool(at_prompt(project)), at_edit(project)) == (True, "")
