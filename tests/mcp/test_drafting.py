"""What the writing tools return and write, whole: drafts, records, refusals and notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import onrecord
from onrecord.errors import AlreadyExists, NearDuplicate, NoStore, NotFound
from onrecord.mcp import drafting
from onrecord.mcp.tools import ToolResult
from onrecord.project import Project
from onrecord.store.inbox import Draft, Inbox
from tests.mcp.conftest import SESSIONS

CONTENT = {"context": "Imports must survive a restart.", "decision": "Jobs are rows.", "rationale": ["simple"]}
QUEUE: dict[str, Any] = {
    "category": "decision",
    "title": "Jobs are rows in Postgres",
    "content": CONTENT,
    "triggers": ["add a message queue"],
}
SAME: dict[str, Any] = {
    **QUEUE,
    "title": "Sessions live in Postgres, not in Redis",
    "content": {
        "context": "Redis lost sessions on every failover.",
        "decision": "User sessions are rows in auth.sessions with a 14 day expiry.",
        "rationale": ["one fewer moving part", "failover cost 40 tickets in May"],
    },
}
STORE = ".claude/memory/"


@pytest.fixture
def opened(project: Path) -> Project:
    return onrecord.open(str(project))


@pytest.fixture
def automatic(project: Path) -> Project:
    """A project whose user lets sessions save without review."""
    from onrecord.cli import main

    for words in (["--user"], ["--project", str(project)]):
        assert main(["config", "set", "capture.mode", "auto", *words]) == 0
    return onrecord.open(str(project))


def drafts(project: Project) -> list[Draft]:
    return Inbox(project.store.root).drafts()


def test_a_draft_is_returned_whole(opened: Project):
    result = drafting.save(opened, "tester", **QUEUE, tags=["jobs"], source="the plan")

    name = "jobs-are-rows-in-postgres"
    assert result == ToolResult(
        {
            "state": "draft",
            "name": name,
            "category": "decision",
            "title": "Jobs are rows in Postgres",
            "file": f"{STORE}inbox/{name}.json",
            "similar": [],
        },
        f"Drafted {STORE}inbox/{name}.json; the user decides on it with `onrecord review`.",
    )
    (draft,) = drafts(opened)
    assert (draft.name, draft.updates, draft.supersedes) == (name, "", "")
    assert (draft.record.tags, draft.record.source) == (("jobs",), "an agent over MCP (tester): the plan")
    assert draft.session.startswith("mcp-")


@pytest.mark.parametrize(
    ("client", "source", "expected"),
    [
        ("", None, "an agent over MCP"),
        ("tester", None, "an agent over MCP (tester)"),
        ("", "x" * 980, "an agent over MCP: " + "x" * 980),
        ("", "x" * 982, "an agent over MCP: " + "x" * 981),
    ],
)
def test_the_source_of_a_draft_names_the_client_in_a_thousand_characters(opened: Project, client, source, expected):
    drafting.save(opened, client, **QUEUE, **({} if source is None else {"source": source}))

    assert [draft.record.source for draft in drafts(opened)] == [expected]


def test_a_record_is_returned_whole(automatic: Project):
    result = drafting.save(automatic, "tester", **QUEUE)

    path = f"{STORE}decisions/jobs-are-rows-in-postgres.json"
    assert result == ToolResult(
        {
            "state": "record",
            "name": "jobs-are-rows-in-postgres",
            "category": "decision",
            "title": "Jobs are rows in Postgres",
            "file": path,
            "similar": [],
        },
        f"Saved {path}.",
    )
    assert drafts(automatic) == []


def test_an_update_adds_to_the_record_and_says_from_what(automatic: Project):
    result = drafting.save(automatic, "tester", updates=SESSIONS, **{**QUEUE, "tags": ["jobs"]})

    entry = automatic.store.get(SESSIONS)
    assert {key: result.data[key] for key in ("state", "name", "updates", "file")} == {
        "state": "record", "name": SESSIONS, "updates": SESSIONS, "file": f"{STORE}decisions/{SESSIONS}.json"
    }  # fmt: skip
    assert "supersedes" not in result.data
    assert "jobs" in entry.memory.tags and "add a message queue" in entry.memory.triggers
    assert entry.memory.title == "Sessions live in Postgres, not Redis"
    assert "Updated from: Jobs are rows in Postgres" in str(entry.memory.changes)


def test_a_record_in_the_place_of_another_names_it(automatic: Project):
    result = drafting.supersede(automatic, "tester", SESSIONS, **QUEUE)

    assert (result.data["supersedes"], result.data["name"]) == (SESSIONS, "jobs-are-rows-in-postgres")
    assert automatic.store.get(SESSIONS).memory.superseded_by == "jobs-are-rows-in-postgres"


def test_a_draft_knows_what_it_is_for(opened: Project):
    drafting.save(opened, "", updates=f"decisions/{SESSIONS}.json", **{**QUEUE, "title": "More on sessions"})
    drafting.supersede(opened, "", SESSIONS, **{**QUEUE, "title": "Sessions elsewhere"})

    links = {draft.name: (draft.updates, draft.supersedes) for draft in drafts(opened)}
    assert links == {"more-on-sessions": (SESSIONS, ""), "sessions-elsewhere": ("", SESSIONS)}


def test_what_says_the_same_is_refused_with_the_calls_to_choose_from(opened: Project):
    with pytest.raises(NearDuplicate) as caught:
        drafting.save(opened, "", **SAME)

    assert (
        f"to change it, call save with updates '{SESSIONS}'; if it no longer holds, call supersede with id "
        f"'{SESSIONS}'; if both hold, call save with force; or leave it"
    ) in caught.value.fix
    assert drafts(opened) == []


def test_what_says_the_same_is_named_where_it_is_saved_all_the_same(opened: Project):
    result = drafting.save(opened, "", force=True, **SAME)

    assert result.data["similar"] == [
        {
            "id": SESSIONS,
            "category": "decision",
            "title": "Sessions live in Postgres, not Redis",
            "path": f"{STORE}decisions/{SESSIONS}.json",
        }
    ]
    assert result.text.split("\n")[1] == (
        f"Similar: decisions/{SESSIONS}.json (Sessions live in Postgres, not Redis). If this replaces it, call"
        " supersede."
    )


def test_an_update_or_a_successor_is_like_its_record_and_not_refused(opened: Project):
    assert drafting.save(opened, "", updates=SESSIONS, **SAME).data["similar"] == []
    assert drafting.supersede(opened, "", SESSIONS, **{**SAME, "title": "Sessions moved"}).data["similar"] == []


@pytest.mark.parametrize("links", [{}, {"updates": SESSIONS}])
def test_a_note_asks_for_triggers_with_the_call_that_adds_them(opened: Project, links: dict[str, str]):
    fields = {key: value for key, value in QUEUE.items() if key != "triggers"}

    result = drafting.save(opened, "", **fields, **links)

    assert ("note" in result.data) is not bool(links)
    if not links:
        assert result.data["note"].endswith(": call save again with triggers and the same title")
        assert result.text.endswith(f"\nNote: {result.data['note']}.")


def test_a_record_is_asked_for_triggers_by_its_name(automatic: Project):
    fields = {key: value for key, value in QUEUE.items() if key != "triggers"}

    note = drafting.save(automatic, "", **fields).data["note"]

    assert note.endswith(": call save again with triggers and updates 'jobs-are-rows-in-postgres'")


def test_a_note_on_a_title_is_for_new_records(opened: Project):
    new = drafting.save(opened, "", **{**QUEUE, "title": "Queues"})
    update = drafting.save(opened, "", updates=SESSIONS, **{**QUEUE, "title": "Queue"})

    assert 'such as "Queues: Jobs are rows"' in new.data["note"]
    assert "note" not in update.data


def test_a_name_must_be_whole_and_a_title_new(opened: Project):
    for call in (
        lambda: drafting.save(opened, "", updates="sessions-live", **QUEUE),
        lambda: drafting.supersede(opened, "", "sessions-live", **QUEUE),
    ):
        with pytest.raises(NotFound):
            call()
    with pytest.raises(AlreadyExists):
        drafting.save(opened, "", force=True, **{**SAME, "title": "Sessions live in Postgres, not Redis"})
    assert drafts(opened) == []


def test_a_file_that_is_not_there_may_come_with_force_only(opened: Project):
    fields = {**QUEUE, "related_files": ["src/later.py"]}
    with pytest.raises(onrecord.errors.BadInput):
        drafting.save(opened, "", **fields)

    drafting.save(opened, "", force=True, **fields)

    assert [draft.record.related_files for draft in drafts(opened)] == [("src/later.py",)]


def test_without_a_store_nothing_is_written(tmp_path: Path):
    with pytest.raises(NoStore):
        drafting.save(Project(str(tmp_path)), "", **QUEUE)

    assert list(tmp_path.iterdir()) == []
