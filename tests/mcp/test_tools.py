"""What the tools give, in every version; each result is checked against the schema that was announced."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import onrecord
from onrecord import attention, paths
from onrecord.cli import main
from onrecord.mcp import tools as tool_table
from onrecord.paths import PROJECT_PREFIX
from onrecord.project import Project
from onrecord.store.inbox import Inbox
from onrecord.usage import usage_log
from tests.mcp.client import HANDSHAKE, STATELESS, Client, text_of
from tests.mcp.conftest import SESSIONS

QUEUE = {
    "category": "decision",
    "title": "Jobs are rows in Postgres",
    "content": {"context": "Imports must survive a restart.", "decision": "Jobs are rows.", "rationale": ["simple"]},
    "triggers": ["add a message queue"],
}
SQLITE = {
    "category": "decision",
    "title": "Sessions live in SQLite",
    "content": {"context": "One server.", "decision": "Sessions are in SQLite.", "rationale": ["no server"]},
}


def drafts(project: Path) -> list[Any]:
    return Inbox(str(project / paths.STORE)).drafts()


@pytest.mark.parametrize("version", [*HANDSHAKE, STATELESS])
def test_every_tool_is_announced_with_schemas_and_hints(project, version):
    with Client(project, version=version) as client:
        tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}

    assert list(tools) == ["overview", "recall", "search", "show", "save", "supersede"]
    for tool in tools.values():
        for schema in ("inputSchema", "outputSchema"):
            Draft202012Validator.check_schema(tool[schema])
            assert tool[schema]["type"] == "object"
        assert tool["title"] and len(tool["description"]) > 60
        assert all(item["description"] and item["type"] for item in tool["inputSchema"]["properties"].values())
    hints = {
        name: (tool["annotations"]["readOnlyHint"], tool["annotations"]["openWorldHint"])
        for name, tool in tools.items()
    }
    assert hints == {name: (name not in ("save", "supersede"), False) for name in tools}
    destructive = {name: tool["annotations"].get("destructiveHint") for name, tool in tools.items()}
    assert destructive == {name: False if name in ("save", "supersede") else None for name in tools}


def test_what_is_announced_costs_an_agent_little():
    """All definitions are in the context of every request of a client that does not defer them."""
    from onrecord.text import count_tokens

    assert count_tokens(json.dumps([tool.definition for tool in tool_table.TOOLS])) <= 2_500


@pytest.mark.parametrize("version", [*HANDSHAKE, STATELESS])
def test_results_are_what_the_schemas_say(project, version):
    calls = [
        ("recall", {"task": "users are logged out after a deploy, where do we keep sessions?"}),
        ("recall", {"task": "make the button blue"}),
        ("search", {"query": "carrier rate limit", "category": "constraint", "tags": ["Carrier"], "limit": 3}),
        ("search", {"query": "zzz"}),
        ("show", {"id": SESSIONS}),
        ("save", QUEUE),
        ("supersede", {"id": SESSIONS, **SQLITE}),
    ]
    with Client(project, version=version) as client:
        schemas = {tool["name"]: tool["outputSchema"] for tool in client.request("tools/list")["result"]["tools"]}
        for name, arguments in calls:
            result = client.call(name, **arguments)
            assert result["isError"] is False, text_of(result)
            Draft202012Validator(schemas[name]).validate(result["structuredContent"])
            assert text_of(result)


def test_recall_gives_what_a_hook_would_show(client, project, capsys):
    task = "users are logged out after a deploy, where do we keep sessions?"
    result = client.call("recall", task=task)
    assert main(["recall", task, "--first", "--project", str(project)]) == 0

    assert text_of(result) == capsys.readouterr().out.rstrip("\n")
    first = result["structuredContent"]["records"][0]
    assert (first["id"], first["shown"]) == (SESSIONS, "rule")
    assert client.call("recall", task="make the button blue")["structuredContent"] == {"records": []}


def test_what_an_agent_is_shown_is_counted_and_what_it_finds_is_not(client, project):
    client.call("search", query="user sessions")
    client.call("recall", task="where do we keep user sessions, postgres or redis?")
    client.call("show", id="sessions-live-in-postgres-not-redis")

    counted = usage_log.per_record(str(project / paths.STORE))

    assert counted["decisions/sessions-live-in-postgres-not-redis.json"].injected == 2


def test_recall_knows_what_is_said_about_files(client, project):
    files = ["src/carrier/client.py", str(project / "src" / "carrier"), "../../etc/passwd", "\0"]
    result = client.call("recall", task="make the button blue", files=files)
    both = client.call("recall", task="how many calls a minute does the carrier API allow?", files=files)

    (record,) = result["structuredContent"]["records"]
    assert (record["id"], record["shown"]) == ("the-carrier-api-allows-90-calls-a-minute", "file")
    assert record["file"] == "src/carrier/client.py"
    assert "At most 90 calls a minute" in text_of(result)
    assert [item["shown"] for item in both["structuredContent"]["records"]] == ["rule"]
    main(["config", "set", "retrieval.files", "false", "--project", str(project)])
    assert client.call("recall", task="make the button blue", files=files)["structuredContent"] == {"records": []}


def test_search_finds_marks_and_includes_what_no_longer_holds(client, project):
    new = client.call("search", query="sessions redis")["structuredContent"]["results"]
    main(["save", "decision", "Sessions live in SQLite", "--supersedes", SESSIONS, "--project", str(project),
          "--set=context=c", "--set=decision=Sessions are in SQLite", "--set=rationale=r"])  # fmt: skip
    result = client.call("search", query="sessions redis failover")

    assert new[0]["id"] == SESSIONS
    statuses = {item["id"]: item["status"] for item in result["structuredContent"]["results"]}
    assert statuses == {"sessions-live-in-sqlite": "active", SESSIONS: "superseded"}
    assert 'status="superseded"' in text_of(result)
    assert "(replaces “Sessions live in Postgres, not Redis”)" in text_of(result)


def test_show_says_what_to_check_first(client, project):
    before = client.call("show", id="the-carrier-api-allows-90-calls-a-minute")
    (project / "src" / "carrier" / "client.py").write_text("x = 2\n")
    after = client.call("show", id="constraint/the-carrier-api-allows-90-calls-a-minute")
    main(["retire", SESSIONS, "--reason", "moved to a vendor", "--project", str(project)])
    retired = client.call("show", id=f".claude/memory/decisions/{SESSIONS}.json")

    assert "Caution" not in text_of(before) and "caution" not in before["structuredContent"]
    assert "Caution: verify: `src/carrier/client.py` changed since" in text_of(after)
    assert after["structuredContent"]["caution"].startswith("verify: `src/carrier/client.py` changed")
    assert "Caution: it is retired (moved to a vendor)." in text_of(retired)
    assert retired["structuredContent"]["status"] == "retired"


def test_show_takes_the_beginning_of_an_id_and_names_the_nearest(client):
    assert client.call("show", id="sessions-li")["structuredContent"]["id"] == SESSIONS
    assert "did you mean sessions-live-in-postgres-not-redis?" in text_of(client.call("show", id="sesions postgras"))


def test_your_own_records_are_read_too(client, project):
    main(["save", "preference", "Answers in German", "--user", "--set=topic=language", "--set=value=German",
          "--set=reason=mine"])  # fmt: skip
    results = client.call("search", query="answers in german")["structuredContent"]["results"]
    paths = [
        client.call("show", id=item)["structuredContent"]["path"] for item in (results[0]["path"], results[0]["id"])
    ]

    assert results[0]["path"] == "~/.claude/memory/preferences/answers-in-german.json"
    assert paths == [results[0]["path"]] * 2


def test_in_the_home_folder_a_record_is_found_once(home):
    main(["save", "preference", "Answers in German", "--user", "--set=topic=language", "--set=value=German",
          "--set=reason=mine"])  # fmt: skip
    with Client(home, version="2025-11-25") as client:
        results = client.call("search", query="answers in german")["structuredContent"]["results"]

    assert [item["path"] for item in results] == ["~/.claude/memory/preferences/answers-in-german.json"]


def test_save_makes_a_draft_and_no_record(client, project):
    store = onrecord.open(str(project)).store
    before = {entry.path for entry in store.entries()}

    result = client.call("save", **QUEUE)

    (draft,) = drafts(project)
    assert result["structuredContent"] == {
        "state": "draft",
        "name": "jobs-are-rows-in-postgres",
        "category": "decision",
        "title": "Jobs are rows in Postgres",
        "file": ".claude/memory/inbox/jobs-are-rows-in-postgres.json",
        "similar": [],
    }
    assert "`onrecord review`" in text_of(result)
    assert (draft.record.origin, draft.record.source) == ("agent", "an agent over MCP (tester)")
    assert {entry.path for entry in store.entries()} == before


def test_a_draft_can_be_replaced_by_the_one_who_made_it(client, project):
    bare = {key: value for key, value in QUEUE.items() if key != "triggers"}

    assert "call save again with triggers and the same title" in text_of(client.call("save", **bare))
    assert client.call("save", **QUEUE)["isError"] is False
    assert [draft.record.triggers for draft in drafts(project)] == [("add a message queue",)]
    with Client(project, version="2025-11-25") as other:
        assert text_of(other.call("save", **QUEUE)).startswith("ALREADY_EXISTS")


def test_a_title_that_is_a_topic_gets_a_better_one_proposed(client, project):
    assert 'such as "Queues: Jobs are rows"' in text_of(client.call("save", **{**QUEUE, "title": "Queues"}))
    assert [draft.record.title for draft in drafts(project)] == ["Queues"]


def test_supersede_makes_a_draft_that_replaces_the_record_when_it_is_accepted(client, project):
    result = client.call("supersede", id=SESSIONS, **SQLITE)

    assert result["structuredContent"]["supersedes"] == SESSIONS
    assert onrecord.open(str(project)).get(SESSIONS).memory.superseded_by == ""
    assert main(["review", "--accept", "sessions-live-in-sqlite", "--project", str(project)]) == 0
    assert onrecord.open(str(project)).get(SESSIONS).memory.superseded_by == "sessions-live-in-sqlite"


def test_updates_makes_a_draft_of_a_change(client, project):
    fields = {**SQLITE, "title": "Session expiry", "content": {**SQLITE["content"], "consequences": ["a job prunes"]}}

    assert client.call("save", updates=SESSIONS, **fields)["structuredContent"]["updates"] == SESSIONS
    assert main(["review", "--accept", "session-expiry", "--project", str(project)]) == 0
    assert onrecord.open(str(project)).get(SESSIONS).memory.content["consequences"] == ["a job prunes"]


def test_where_the_user_lets_sessions_save_it_is_a_record_at_once(client, project):
    for words in (["--user"], ["--project", str(project)]):
        assert main(["config", "set", "capture.mode", "auto", *words]) == 0

    saved = client.call("save", **QUEUE)["structuredContent"]
    replaced = client.call("supersede", id=SESSIONS, **SQLITE)["structuredContent"]
    updated = client.call("save", updates="jobs-are-rows-in-postgres", **{**QUEUE, "title": "More", "tags": ["jobs"]})

    assert (saved["state"], saved["file"]) == ("record", ".claude/memory/decisions/jobs-are-rows-in-postgres.json")
    assert (replaced["state"], drafts(project)) == ("record", [])
    opened_project = onrecord.open(str(project))
    assert opened_project.get(SESSIONS).memory.superseded_by == "sessions-live-in-sqlite"
    assert updated["structuredContent"]["name"] == "jobs-are-rows-in-postgres"
    assert "jobs" in opened_project.get("jobs-are-rows-in-postgres").memory.tags


def test_a_project_cannot_undo_that_the_user_wants_to_review(client, project):
    assert main(["config", "set", "capture.mode", "propose", "--user"]) == 0
    assert main(["config", "set", "capture.mode", "auto", "--project", str(project)]) == 1
    (project / ".claude/memory/memory-config.json").write_text('{"capture": {"mode": "auto"}}')

    assert client.call("save", **QUEUE)["structuredContent"]["state"] == "draft"


SAME = {
    "category": "decision",
    "title": "Sessions live in Postgres, not in Redis",
    "content": {
        "context": "Redis lost sessions on every failover.",
        "decision": "User sessions are rows in auth.sessions with a 14 day expiry.",
        "rationale": ["one fewer moving part", "failover cost 40 tickets in May"],
    },
}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {}, "BAD_INPUT: search needs query"),
        ("search", {"query": 7}, "BAD_INPUT: query must be a text"),
        ("search", {"query": "x" * 20_001}, "BAD_INPUT: query must be a text"),
        ("search", {"query": "\ud800"}, "BAD_INPUT: query must be a text"),
        ("search", {"query": "x", "limit": 0}, "BAD_INPUT: limit must be a whole number from 1 to 50"),
        ("search", {"query": "x", "limit": True}, "BAD_INPUT: limit must be a whole number"),
        ("search", {"query": "x", "category": "opinion"}, "BAD_INPUT: category must be one of decision, constraint"),
        ("search", {"query": "x", "tags": "a"}, "BAD_INPUT: tags must be a list of texts"),
        ("search", {"query": "x", "include_retired": 1}, "BAD_INPUT: include_retired must be true or false"),
        ("search", {"qery": "x"}, "BAD_INPUT: search has no argument 'qery'\nfix: did you mean query?"),
        ("show", {"id": "../../etc/passwd"}, "NOT_FOUND"),
        ("show", {"id": "/etc/passwd"}, "NOT_FOUND"),
        ("show", {"id": "\0"}, "NOT_FOUND"),
        ("save", {**QUEUE, "content": []}, "BAD_INPUT: content must be an object"),
        ("save", {**QUEUE, "content": {"decision": "d"}}, "INVALID_RECORD: content.context: is missing"),
        ("save", {**QUEUE, "related_files": ["src/carrier/clinet.py"]}, "BAD_INPUT"),
        ("save", {**QUEUE, "triggers": ["AKIAQ3EGX7TBWLD5OMNP"]}, "SECRET_FOUND"),
        ("save", {**QUEUE, "updates": "nobody"}, "NOT_FOUND"),
        ("save", SAME, "NEAR_DUPLICATE"),
        ("save", {**SAME, "title": "Sessions live in Postgres, not Redis"}, "ALREADY_EXISTS"),
        ("supersede", {"id": "nobody", **SQLITE}, "NOT_FOUND"),
        ("supersede", {"id": "sessions-live", **SQLITE}, "NOT_FOUND: no record 'sessions-live'"),
    ],
)  # fmt: skip
def test_what_an_agent_can_correct_is_a_result_with_a_fix(client, project, tool, arguments, message):
    result = client.call(tool, **arguments)

    assert result["isError"] is True
    assert text_of(result).startswith(message)
    assert "\nfix: " in text_of(result)
    assert drafts(project) == []


def test_force_saves_beside_what_says_the_same_and_for_a_file_to_come(client, project):
    saved = client.call("save", **SAME, related_files=["src/later.py"], force=True)

    assert saved["structuredContent"]["similar"][0]["id"] == SESSIONS
    assert len(drafts(project)) == 1


def test_a_link_out_of_the_store_is_not_followed(client, project, tmp_path):
    decisions = project / ".claude" / "memory" / "decisions"
    secret = tmp_path / "secret.json"
    secret.write_text((decisions / f"{SESSIONS}.json").read_text())
    os.symlink(secret, decisions / "link.json")

    assert [client.call("show", id=name)["isError"] for name in ("link", "decisions/link.json")] == [True, True]
    assert "decisions/link.json" not in text_of(client.call("search", query="where do sessions live"))


def test_where_there_is_no_memory_that_is_said_and_none_is_made(tmp_path):
    folder = tmp_path / "bare"
    folder.mkdir()
    with Client(folder, version="2025-11-25") as client:
        results = [client.call("search", query="x"), client.call("recall", task="x"), client.call("save", **QUEUE)]

    assert [text_of(result).split(":")[0] for result in results] == ["NO_STORE"] * 3
    assert text_of(results[0]).split("\n")[1:] == [
        "fix: if a memory is wanted for this project: ask the user to run `onrecord init`",
        "NO_STORE means: There is no memory here yet.",
    ]
    assert os.listdir(folder) == []


def test_what_is_switched_off_stays_off_and_is_said(project):
    with Client(project, version="2025-11-25", env={**os.environ, "ONRECORD_OFF": "1"}) as client:
        off = [client.call("search", query="sessions"), client.call("show", id=SESSIONS), client.call("save", **QUEUE)]
    main(["config", "set", "retrieval.enabled", "false", "--project", str(project)])
    with Client(project, version="2025-11-25") as client:
        recalled = client.call("recall", task="where do we keep sessions, postgres or redis?")
        searched = client.call("search", query="sessions")

    assert [(text_of(item).split(":")[0], item["isError"]) for item in off] == [("SWITCHED_OFF", True)] * 3
    assert drafts(project) == []
    assert recalled["structuredContent"]["records"] == []
    assert "retrieval.enabled is false" in text_of(recalled)
    assert searched["structuredContent"]["results"]


def test_a_question_about_the_work_is_answered_from_summaries(client):
    found = client.call("search", query="where did we leave off?")

    assert [hit["category"] for hit in found["structuredContent"]["results"]] == ["session_summary"]
    assert "The last session summary on file" in text_of(found)


def test_a_period_without_a_summary_is_named(client):
    found = client.call("search", query="what did we do last month?")

    assert "No session summary of last month (" in text_of(found)


def test_a_search_that_nothing_fits_says_so(client):
    result = client.call("search", query="zzzzqqq")

    assert result["structuredContent"]["results"] == []
    assert result["structuredContent"]["note"].startswith("Nothing on record is probably about this; try a synonym")
    assert text_of(result) == result["structuredContent"]["note"]


def test_a_trigger_that_fits_any_prompt_is_named_in_the_note(client):
    result = client.call("save", **{**QUEUE, "triggers": ["add a message queue", "fix it"]})

    assert 'the trigger "fix it" has only words that any prompt may have' in result["structuredContent"]["note"]


def test_an_overview_has_the_map_what_waits_and_what_changed_last(project, client):
    client.call("save", **QUEUE)
    (wrapped,) = (file.stem for file in (project / ".claude/memory/preferences").glob("*.json"))
    main(["retire", wrapped, "--reason", "moved", "--project", str(project)])

    result = client.call("overview")

    data, text = result["structuredContent"], text_of(result)
    line = {"id": "sessions-live", "category": "decision", "title": "Sessions live in Postgres, not Redis"}
    assert line in data["map"]
    assert [entry["category"] for entry in data["unfinished"]] == ["session_summary"]
    waiting = {need["title"]: need["do"] for need in data["waiting"]}
    assert waiting["1 draft is waiting"] == "ask the user to run `onrecord review`"
    recent = {record["title"]: record["status"] for record in data["recent"]}
    assert (len(recent), recent["Errors are wrapped with the operation's name"]) == (6, "retired")
    assert "- sessions-live: Sessions live in Postgres, not Redis" in text
    assert "show with its name as id" in text
    assert "onrecord show" not in text
    assert f'path="{PROJECT_PREFIX}preferences/{wrapped}.json"' in text
    shown = client.call("show", id="sessions-live")["structuredContent"]
    assert shown["id"] == SESSIONS


def test_an_agent_that_asks_for_an_overview_is_not_called_unconnected(project, client, monkeypatch, home):
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").touch()
    assert [need.kind for need in attention.needs(Project(str(project)))] == [attention.AGENT]

    assert client.call("overview")["structuredContent"]["waiting"] == []


def test_an_overview_of_a_project_that_wants_no_start_has_no_map(project, client):
    main(["config", "set", "session_start.enabled", "false", "--project", str(project)])

    data = client.call("overview")["structuredContent"]

    assert (data["map"], data["unfinished"]) == ([], [])
    assert "session_start.enabled is false" in data["note"]
    assert len(data["recent"]) == 6


def test_a_pointer_names_the_call_that_shows_it(project, client):
    text = text_of(client.call("recall", task="sessions expire"))

    name = text.split('show with id "')[1].split('"')[0]
    assert client.call("show", id=name)["structuredContent"]["id"] == SESSIONS
    assert "onrecord" not in text


def test_show_gives_an_entry_of_a_knowledge_bank(client, project):
    bank = project / "docs" / "knowledge-bank" / "patterns.md"
    bank.parent.mkdir(parents=True)
    bank.write_text("### Write, then rename\nNo reader sees half a file.\n- Observation count: 3\n- Confidence: high\n")

    result = client.call("show", id="write-then-rename")

    shown = result["structuredContent"]
    assert (shown["category"], shown["title"], shown["status"]) == ("pattern", "Write, then rename", "active")
    assert shown["path"] == "docs/knowledge-bank/patterns.md"
    assert shown["record"] == {
        "text": "Write, then rename: No reader sees half a file.", "observations": 3, "confidence": 3.0,
    }  # fmt: skip
    assert "No reader sees half a file." in text_of(result)
    assert 'source="docs/knowledge-bank/patterns.md"' in text_of(result)
