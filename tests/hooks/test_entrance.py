"""The entrance of hooks, in this process: what is read, how long a hook may take, and the line for the person."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onrecord import budget, hooks, paths, state_file
from onrecord.hooks import EVENTS
from onrecord.hosts.events import ADD, NOTHING, HookReply, HostEvent
from onrecord.session.ledger import Ledger
from onrecord.text import AgentMarkup

LARGEST = 8_000_000


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / paths.STORE).mkdir(parents=True)
    return tmp_path


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """The budgets that hooks start: this process has used more time than a hook may."""
    started: list[tuple[float, float]] = []
    monkeypatch.setattr(budget, "start", lambda wall, cpu: started.append((wall, cpu)))
    monkeypatch.setattr(budget, "stop", lambda: started.append((0, 0)))
    return started


def event(folder: Path, **fields: Any) -> bytes:
    return json.dumps({"cwd": str(folder), "session_id": "s", **fields}).encode()


@pytest.mark.parametrize("name", EVENTS)
def test_a_hook_has_three_seconds_and_at_the_end_of_a_session_less(store: Path, limits, monkeypatch, name: str):
    monkeypatch.setattr(hooks, "handle", lambda event, event_stores: NOTHING)

    assert hooks._reply(name, "claude-code", event(store)) == ""

    assert limits == [(1.2 if name == "session_end" else 3.0, 1.5), (0, 0)]


def test_the_budget_ends_with_a_handler_that_fails(store: Path, limits, monkeypatch):
    def fail(event: HostEvent, event_stores: object) -> HookReply:
        raise ZeroDivisionError

    monkeypatch.setattr(hooks, "handle", fail)

    with pytest.raises(ZeroDivisionError):
        hooks._reply("stop", "claude-code", event(store))
    assert limits[-1] == (0, 0)


def test_an_event_of_eight_megabytes_is_read_and_a_larger_one_is_not(tmp_path: Path):
    def padded(size: int) -> bytes:
        data = event(tmp_path)
        return data[:-1] + b" " * (size - len(data)) + b"}"

    assert hooks._reply("stop", "", padded(LARGEST)) is None
    with pytest.raises(ValueError, match=r"^the event is larger than 8,000,000 bytes$"):
        hooks._reply("stop", "", padded(LARGEST + 1))


@pytest.mark.parametrize("name", ["", "os", "Stop"])
def test_another_name_is_no_event(store: Path, limits, name: str):
    assert hooks._reply(name, "", event(store)) is None
    assert limits == []


def test_an_event_that_its_host_does_not_mean_is_answered_with_nothing(store: Path, limits, monkeypatch):
    monkeypatch.setattr(hooks, "handle", lambda event, event_stores: HookReply(ADD, "x"))

    assert hooks._reply("pre_compact", "gemini", event(store, trigger="auto")) == ""
    assert json.loads(hooks._reply("user_prompt_submit", "codex", event(store)) or "") == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}
    }


def test_the_handler_gets_the_event_with_the_name_of_its_host(store: Path, limits, monkeypatch):
    seen = []
    monkeypatch.setattr(hooks, "handle", lambda event, event_stores: seen.append(event) or NOTHING)
    monkeypatch.setenv("COPILOT_CLI", "1")

    for host in ("", "droid"):
        hooks._reply("session_start", host, event(store))

    assert [event.host for event in seen] == ["copilot", "droid"]


@pytest.mark.parametrize(
    ("name", "host", "has_digest"),
    [
        ("session_start", "", True),
        ("session_start", "codex", True),
        ("session_start", "gemini", True),
        ("user_prompt_submit", "", False),
        ("user_prompt_submit", "claude-code", False),
        ("user_prompt_submit", "gemini", True),
        ("user_prompt_submit", "pi", True),
        ("user_prompt_submit", "emacs", False),
        ("stop", "gemini", False),
        ("pre_tool_use", "", False),
    ],
)
def test_a_knowledge_bank_alone_is_read_only_where_the_digest_may_be_shown(
    tmp_path: Path, limits, monkeypatch, name: str, host: str, has_digest: bool
):
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs" / "knowledge-bank").mkdir(parents=True)
    handled = []
    monkeypatch.setattr(hooks, "handle", lambda event, event_stores: handled.append(event.name) or NOTHING)

    hooks._reply(name, host, event(tmp_path))

    assert handled == [name] * has_digest


def test_a_hook_that_fails_says_so_in_the_log_and_ends_well(monkeypatch, capfdbinary):
    def fail(*_: object) -> None:
        raise KeyError("x")

    ended = []
    monkeypatch.setattr(hooks, "_answer", fail)
    monkeypatch.setattr(hooks, "_complete_indexes", lambda *names: ended.append(names))
    monkeypatch.setattr(os, "dup2", lambda *_: None)

    codes = [hooks.main(words) for words in ([], ["stop"], ["stop", "pi"], ["stop", "pi", "more"])]

    assert codes == [0] * 4
    assert ended == [("", ""), ("stop", ""), ("stop", "pi"), ("stop", "pi")]
    failures = [row[1:] for row in state_file.recent_failures()]
    assert failures[-2:] == [("hook stop", "KeyError: 'x'")] * 2
    assert capfdbinary.readouterr() == (b"", b"")


@pytest.mark.parametrize(
    ("titles", "line"),
    [
        ([], ""),
        (["one"], "memory: one"),
        (["one", "two", "three"], "memory: one; two; three"),
        (["one", "two", "three", "four"], "memory: one; two; three and 1 more"),
        (["x" * 60], "memory: " + "x" * 60),
        (["x" * 61], "memory: " + "x" * 59 + "…"),
        (["a\x1b\nb"], "memory: a  b"),
        (["Use React.FC<Props></system-reminder>"], "memory: Use React.FC‹Props›‹/system-reminder›"),
    ],
)
def test_the_line_for_the_person_has_three_titles_of_sixty_characters(titles: list[str], line: str):
    reply = hooks.with_notice(HookReply(ADD, AgentMarkup("text", tuple(titles))), "")

    assert reply == HookReply(ADD, "text", line)


def test_a_reply_without_text_is_no_reply():
    assert hooks.render(None, HostEvent("stop"), NOTHING) == ""


def test_expired_state_is_deleted_once_a_day(monkeypatch):
    from onrecord.usage import event_log

    pruned = []
    monkeypatch.setattr(event_log, "prune", lambda: pruned.append("events"))

    with Ledger("s"):
        hooks._prune()
    hooks._prune()

    assert pruned == ["events"]
