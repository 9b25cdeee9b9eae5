"""The handlers of events, in this process: for which events they work, and with which settings they do nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord import attention, paths
from onrecord.capture import session_summary
from onrecord.hooks import guard, ordinary, prompt, session, stop, tools
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts.events import ADD, NOTHING, SHELL, WRITE, HookReply, HostEvent
from onrecord.paths import StoreRef
from onrecord.project import Project
from onrecord.recall import for_file
from onrecord.search import index
from onrecord.session.action import EDIT, Action
from onrecord.session.ledger import Ledger
from onrecord.settings import load_settings
from onrecord.shared import background, remotes

DECIDED = "We decided to use NATS instead of Kafka for the job queue, because Kafka needs three brokers."


@pytest.fixture
def stores(project: Project) -> EventStores:
    return EventStores(project.root, project.store.root, "")


@pytest.fixture
def configure(project: Project) -> Callable[[dict[str, Any]], None]:
    """Write settings of the project."""

    def write(values: dict[str, Any]) -> None:
        Path(project.store.root, paths.CONFIG).write_text(json.dumps(values))

    return write


@pytest.fixture
def turn(project: Project, tmp_path: Path) -> HostEvent:
    """The end of a turn in which something was decided."""
    said = [
        ("user", "which job queue do we take?"),
        ("assistant", DECIDED),
        ("user", "yes, let's go with NATS instead of Kafka, because Kafka needs three brokers."),
    ]
    lines = [json.dumps({"type": role, "message": {"role": role, "content": text}}) for role, text in said]
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return HostEvent(
        "stop", "claude-code", "s", project.root, str(path), last_message="Decided: NATS.", is_attended=True
    )


def test_a_decision_is_suggested_to_be_saved(turn: HostEvent, stores: EventStores):
    reply = stop.stop(turn, stores)

    assert reply.kind == "continue"
    assert "NATS" in reply.text and "memory-save" in reply.text


@pytest.mark.parametrize(
    "fields",
    [
        {"is_continued": True},
        {"subagent": "a"},
        {"is_busy": True},
        {"is_attended": False},
        {"transcript": "", "last_message": ""},
    ],
)
def test_nothing_is_suggested_at_another_end(turn: HostEvent, stores: EventStores, fields: dict[str, Any]):
    assert stop.stop(turn._replace(**fields), stores).text == ""


def test_nothing_is_suggested_without_a_store_of_the_project(turn: HostEvent, stores: EventStores):
    assert stop.stop(turn, stores._replace(store="", user_store=stores.store)).text == ""


@pytest.mark.parametrize(
    "values",
    [
        {"capture": {"mode": "off"}},
        {"capture": {"max_suggestions": 0}},
        {"categories": {"decision": {"auto_capture": False}}},
        {"categories": {"decision": {"enabled": False}}},
    ],
)
def test_settings_keep_a_suggestion_back(turn: HostEvent, stores: EventStores, configure, values: dict[str, Any]):
    configure(values)

    assert stop.stop(turn, stores).text == ""


def test_a_correction_that_the_session_file_lacks_is_read_from_the_ledger(turn: HostEvent, tmp_path: Path):
    (tmp_path / "empty.jsonl").write_text("")
    with Ledger("s") as ledger:
        ledger.add_correction("No, never use Kafka for the job queue.")

    end = stop._ending(turn._replace(transcript=str(tmp_path / "empty.jsonl")), 10)

    assert [(message.role, message.text) for message in end.messages] == [
        ("user", "No, never use Kafka for the job queue."), ("assistant", "Decided: NATS.")
    ]  # fmt: skip


@pytest.fixture
def drafted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The summaries that are drafted."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(session_summary, "draft", lambda **fields: calls.append(fields))
    return calls


@pytest.mark.parametrize("handler", [session.pre_compact, session.session_end])
def test_a_summary_is_drafted_before_a_compaction_and_at_the_end(turn, stores, drafted, configure, handler):
    assert handler(turn, stores) == NOTHING

    (fields,) = drafted
    assert (fields["project"], fields["store"], fields["session"]) == (stores.project, stores.store, "s")
    assert fields["transcript"].path == turn.transcript
    for values in (
        {"capture": {"mode": "off"}},
        {"categories": {"session_summary": {"auto_capture": False}}},
        {"categories": {"session_summary": {"enabled": False}}},
    ):
        configure(values)
        handler(turn, stores)
    configure({})
    handler(turn._replace(subagent="a"), stores)
    handler(turn._replace(transcript=""), stores)
    handler(turn, stores._replace(store=""))
    assert len(drafted) == 1


@pytest.mark.parametrize(
    ("late", "subagent", "owed"), [("compaction", "", "compact"), ("", "", ""), ("compaction", "a", "")]
)
def test_a_host_that_shows_nothing_after_a_compaction_owes_it(turn, stores, drafted, late, subagent, owed):
    session.pre_compact(turn._replace(late=late, subagent=subagent), stores)

    with Ledger("s") as ledger:
        assert ledger.owed == owed


@pytest.mark.parametrize(("fields", "owed"), [({"late": "start"}, "resume"), ({"late": "start", "subagent": "a"}, "")])
def test_a_start_that_is_shown_late_is_owed(turn, stores, fields, owed):
    assert session.session_start(turn._replace(name="session_start", source="resume", **fields), stores) == NOTHING

    with Ledger("s") as ledger:
        assert (ledger.owed, ledger.map) == (owed, "")


@pytest.mark.parametrize("late", ["", "start"])
def test_a_start_begins_a_sync_whenever_it_is_shown(turn, stores, monkeypatch, late: str):
    synced = []
    monkeypatch.setattr(background, "start", synced.append)
    start = turn._replace(name="session_start", source="startup", late=late)

    session.session_start(start, stores)
    remotes.add("platform", "/srv/memory.git", auto=True)
    session.session_start(start, stores)

    assert synced == [stores.project]


def test_a_map_has_room_beside_drafts_and_the_records_of_a_prompt(turn, stores, monkeypatch):
    rooms = []
    page = session._new_page
    monkeypatch.setattr(session, "_new_page", lambda digest, *words: rooms.append(words[1]) or page(digest, *words))
    late = turn._replace(name="user_prompt_submit", prompt="which queue?", late="start", session="late")

    session.start(turn._replace(name="session_start", source="startup"), stores)
    prompt._late_start(late, stores)

    # Of 9,800 characters, 600 are for the lines about drafts, and 2,600 for the records of a prompt.
    assert rooms == [9_200, 6_600]


def test_a_late_start_is_shown_once_and_to_a_session_with_a_name(turn, stores):
    late = turn._replace(name="user_prompt_submit", prompt="which queue?", late="start")
    after = turn._replace(name="user_prompt_submit", prompt="which queue?", late="compaction", session="other")

    shown = [bool(prompt._late_start(event, stores)) for event in (late, late, late._replace(session=""), after)]

    assert shown == [True, False, False, False]


def test_a_start_brings_the_map_once(turn: HostEvent, stores: EventStores):
    start = turn._replace(name="session_start", source="startup")

    reply, subagent = session.session_start(start, stores), session.session_start(start._replace(subagent="a"), stores)

    assert reply.kind == ADD
    assert "- sessions-live: Sessions live in Postgres, not Redis" in reply.text
    assert subagent == NOTHING


@pytest.mark.parametrize(
    ("fields", "is_counted"),
    [
        ({"source": "startup"}, True),
        ({"source": "clear"}, True),
        ({"source": "resume"}, False),
        ({"source": "fork"}, False),
        ({"source": "compact"}, False),
        ({"source": "startup", "is_attended": False}, False),
    ],
)
def test_drafts_are_counted_where_a_session_begins_and_a_person_reads(turn, stores, monkeypatch, fields, is_counted):
    asked = []
    monkeypatch.setattr(attention, "queues", lambda *words: asked.append(words) or [])

    session._draft_count(turn._replace(name="session_start", **fields), stores)

    assert bool(asked) is is_counted


def test_drafts_are_counted_in_three_shared_stores_at_most(turn, stores, monkeypatch):
    asked = []
    need = attention.Need("drafts", "1 draft is waiting", "It waits.", "onrecord review", "/")
    monkeypatch.setattr(attention, "queues", lambda *words: asked.append(words) or [need])
    replicas = [StoreRef(f"/r/{number}/store", f"{number}:") for number in range(4)]

    text = session._drafts(turn, stores._replace(user_store="/u", replicas=replicas))

    assert asked == [
        (stores.store, ".claude/memory/", "/memory-review"), ("/u", "~/.claude/memory/"),
        *((f"/r/{number}/store", f"{number}:") for number in range(3)),
    ]  # fmt: skip
    assert text.split("\n") == [f"Memory: {need.line}"] * 5
    asked.clear()
    session._drafts(turn._replace(host="codex"), stores._replace(store=""))
    assert asked == []
    session._drafts(turn._replace(host="codex"), stores)
    assert asked == [(stores.store, ".claude/memory/", "onrecord review")]


@pytest.mark.parametrize(
    ("host", "root", "command"),
    [
        ("claude-code", "/plugin", "/memory:search"),
        ("claude-code", "", "/memory-search"),
        ("codex", "/plugin", 'onrecord search "…"'),
    ],
)
def test_the_way_to_search_is_a_skill_in_claude_code(turn, monkeypatch, host, root, command):
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", root)

    assert prompt._search_command(turn._replace(host=host)) == command


@pytest.mark.parametrize(
    ("text", "level", "is_noted"),
    [
        ("No, never use Kafka here.", 1, True),
        ("Always use NATS.", 0, True),
        ("Add a test.", 0, False),
        ("No, the password is hunter2.", 1, False),
        ("No, use AKIAQ3EGX7TBWLD5OMNP.", 1, False),
        ("No. " + "x " * 998, 1, True),
        ("No. " + "x " * 998 + "y", 1, False),
    ],
)
def test_a_correction_is_noted_unless_it_is_long_or_may_be_secret(text: str, level: int, is_noted: bool):
    prompt._note_correction(text, level, "s")

    with Ledger("s") as ledger:
        assert ledger.corrections == [text] * is_noted


@pytest.mark.parametrize(
    "fields", [{"prompt": " \n"}, {"prompt": "x", "subagent": "a"}, {"prompt": "x", "is_typed": False}]
)
def test_what_no_person_typed_is_no_prompt(turn, stores, fields):
    assert prompt.user_prompt_submit(turn._replace(name="user_prompt_submit", **fields), stores) == NOTHING


def test_the_records_of_eight_files_of_a_call_are_searched(turn, stores, project, monkeypatch):
    from onrecord.recall.stores import Stores

    asked = []
    monkeypatch.setattr(
        for_file, "block", lambda stores, project, file, *_, **named: asked.append((file, named)) or f"[{file}]"
    )
    files = tuple(f"/p/{number}" for number in range(9))
    settings = load_settings(stores.store)
    for name in ("pre_tool_use", "post_tool_use"):
        action = Action(EDIT, files_changed=files[:5], files_read=files[5:])
        shown = Stores(stores.store_refs(settings), stores.project)
        text = tools._about_files(turn._replace(name=name), action, shown, project.root, settings)
        assert text.split() == [f"[{file}]" for file in files[:8]]

    assert [named["is_edit"] for _, named in asked] == ([True] * 5 + [False] * 3) * 2
    assert [named["edited"] for _, named in asked] == [()] * 8 + [files[:5]] * 8


def test_five_problems_of_record_files_are_reported_and_each_once(turn, stores, monkeypatch):
    problems = [f"problem {number}." for number in (0, 0, 1, 2, 3, 4, 5)]
    asked = []
    monkeypatch.setattr(guard, "check_written", lambda store, file: asked.append((store, file)) or problems)

    by_command = tools._damage(turn._replace(tool=SHELL, files=("/p/a",)), stores)
    by_file = tools._damage(turn._replace(tool=WRITE, files=("/p/a", "/p/b")), stores)

    assert by_command == by_file == "Memory: problem 0. problem 1. problem 2. problem 3. problem 4."
    assert asked == [(stores.store, ""), (stores.store, "/p/a"), (stores.store, "/p/b")]
    problems.clear()
    assert tools._damage(turn._replace(tool=SHELL), stores) == ""


@pytest.mark.parametrize(
    ("text", "is_touched", "with_replicas"),
    [
        ("cat a.py", False, False),
        ("cat MEMORY.md", True, True),
        ("onrecord list", False, True),
        ("cat {store}/x", True, True),
        ("cat {replica}/state", False, True),
    ],
)
def test_a_call_may_touch_a_store_if_it_names_one(tmp_path: Path, text: str, is_touched: bool, with_replicas: bool):
    stores = EventStores("/p", "/p/.kept", "")
    call = text.replace("{store}", "/p/.kept").replace("{replica}", "/r/platform")

    assert ordinary.may_touch_a_store(call, stores) is is_touched
    shared = stores._replace(replicas=[StoreRef("/r/platform/base", "platform:")])
    assert ordinary.may_touch_a_store(call, shared) is with_replicas


@pytest.mark.parametrize(
    ("content", "may_have"),
    [
        (None, False),
        ("", False),
        ("x\n", False),
        ("x\ny\n", True),
        ("x" * 198 + "\n\n", True),
        ("x" * 199 + "\n\n", False),
    ],
)
def test_folders_with_a_store_are_known_from_the_second_line_on(content: str | None, may_have: bool):
    if content is not None:
        path = Path(paths.nested_file("/p"))
        path.parent.mkdir(parents=True)
        path.write_text(content)

    assert ordinary._may_have_nested_stores("/p") is may_have


def test_a_file_below_a_folder_with_a_store_is_known(tmp_path: Path):
    (tmp_path / "web" / paths.STORE).mkdir(parents=True)
    (tmp_path / paths.STORE).mkdir(parents=True)
    files = {name: [str(tmp_path / name)] for name in ("a.py", "web/a.py", "web/src/a.py", "src/b/a.py")}

    below = {name: ordinary._is_below_a_store(paths, str(tmp_path)) for name, paths in files.items()}

    assert below == {"a.py": False, "web/a.py": True, "web/src/a.py": True, "src/b/a.py": False}


@pytest.mark.parametrize(
    ("fields", "is_ordinary"),
    [
        ({"tool_input": {"command": "ls -la"}}, True),
        ({"tool_input": {"command": "cat README.md"}}, True),
        ({"tool_input": {"command": "cat src/carrier/client.py"}}, False),
        ({"tool_input": {"command": "cat src/carrier/client.py #nomem"}}, True),
        ({"tool_input": {"command": "cat .claude/memory/index.md"}}, False),
        ({"tool_input": {"command": "apply_patch <<X\n*** Begin Patch\nX"}}, False),
        ({"tool_input": {"command": 7}}, False),
        ({"tool_input": "ls"}, False),
        ({"tool_input": {"command": "ls"}, "cwd": 7}, False),
        ({"tool_input": {"command": "ls"}, "cwd": "/x/memory"}, False),
        ({}, False),
    ],
)
def test_an_ordinary_command_is_known_before_anything_is_opened(stores, project, fields, is_ordinary):
    event: dict[str, Any] = {"cwd": project.root, **fields}
    (Path(project.root) / "src" / "carrier").mkdir(parents=True)
    (Path(project.root) / "src" / "carrier" / "client.py").touch()
    for folder in Path(project.store.root).iterdir():
        # Folders that were not changed a moment ago: only then does the filter rule a command out.
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    index.open(project.store.root).close()

    assert ordinary.is_ordinary(event, stores) is is_ordinary


def test_a_call_of_no_known_tool_gets_nothing(turn, stores):
    for handler in (tools.pre_tool_use, tools.post_tool_use):
        reply = handler(turn._replace(name=handler.__name__, shows_files=True), stores)
        assert reply in (NOTHING, HookReply(ADD, ""))
