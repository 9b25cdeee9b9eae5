"""The judge in the real hook, with the default settings: whatever it does, nothing is shown less than without it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onrecord import paths, state_file
from onrecord.project import Project
from onrecord.text import count_tokens
from tests import model_server
from tests.hooks.conftest import Hook
from tests.hooks.test_budget import ENOUGH_WALL, run
from tests.model_server import Behaviour, ModelServer, Request, answers, keeps, notes, says

RULES = "put the session in redis"
POINTERS = "sessions expire"
TITLE = "Sessions live in Postgres, not Redis"
MAX_TRIES = 4
"""Sessions in which a hook is asked: a machine that stalls for long in one of them fails no test."""


def after(seconds: float, behave: Behaviour) -> Behaviour:
    """A model that thinks first; the seconds are those of the hook, which runs on a real clock."""

    def late(server: ModelServer, connection: socket.socket, request: Request) -> None:
        server.released.wait(timeout=seconds)
        behave(server, connection, request)

    return late


BAD: dict[str, Behaviour] = {
    "hangs": model_server.hangs,
    "hangs in the body": model_server.hangs_in_the_body,
    "drips": model_server.drips_body,
    "answers after 2.8 seconds": after(2.8, keeps(TITLE)),
    "resets": model_server.resets,
    "garbage": model_server.talks_garbage,
    "a web page": answers(b"<html></html>"),
    "wrong key": answers({"error": {"message": "no such key"}}, 401),
    "chatter": says("All of them look useful!"),
}


@pytest.fixture
def judge_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return a function that turns the judge on for an address; all other settings have their defaults."""
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "OPENAI_")) or "proxy" in name.lower()]:
        monkeypatch.delenv(name)

    def turn_on(url: str, *, key: str = "sk-test") -> None:
        os.makedirs(paths.user_store(), exist_ok=True)
        Path(paths.user_store(), paths.CONFIG).write_text('{"retrieval": {"judge": {"enabled": true}}}')
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)

    yield turn_on


def shown(hook: Hook, prompt: str, first: int = 0) -> str:
    """Return what new sessions are shown for a prompt: the first text that one of them gets."""
    for number in range(first, first + MAX_TRIES):
        output = hook("user_prompt_submit", session=f"s{number}", is_patient=False, prompt=prompt)
        assert (output.code, output.stderr) == (0, b"")
        if output.context:
            return output.context
    return ""


@pytest.mark.parametrize(
    ("name", "prompt"), [*((name, POINTERS) for name in BAD), ("hangs", RULES), ("chatter", RULES)]
)
def test_a_judge_that_fails_takes_nothing_away(
    project: Project, hook: Hook, judge_at: Callable[[str], None], name: str, prompt: str
) -> None:
    without = shown(hook, prompt)
    assert ("<result " in without) == (prompt == RULES)
    assert without

    with ModelServer(BAD[name]) as server:
        judge_at(server.url)
        assert shown(hook, prompt, MAX_TRIES) == without
        assert not server.released.is_set()

    assert server.requests
    assert {what for _, what, _ in state_file.recent_failures()} == {"judge"}


@pytest.mark.parametrize("prompt", [RULES, POINTERS])
def test_a_judge_that_nobody_answers_for_or_without_a_key_takes_nothing_away(
    project: Project, hook: Hook, judge_at: Callable[..., None], prompt: str
) -> None:
    without = shown(hook, prompt)
    with ModelServer(model_server.hangs) as server:
        pass

    judge_at(server.url)
    assert shown(hook, prompt, MAX_TRIES) == without
    judge_at("", key="")
    assert shown(hook, prompt, 2 * MAX_TRIES) == without


def test_a_judge_that_thinks_for_a_second_still_decides(
    project: Project, hook: Hook, judge_at: Callable[[str], None]
) -> None:
    with ModelServer(after(1.0, keeps(TITLE))) as server:
        judge_at(server.url)
        text = shown(hook, POINTERS)

    assert "User sessions are rows in auth.sessions" in text
    assert count_tokens(text) < 300


def test_a_judge_that_drops_all_is_obeyed(project: Project, hook: Hook, judge_at: Callable[[str], None]) -> None:
    with ModelServer(says('{"keep": []}')) as server:
        judge_at(server.url)
        assert shown(hook, RULES) == ""

    assert [len(notes(request.body["messages"][0]["content"])) for request in server.requests] == [1] * MAX_TRIES


def test_a_bug_of_the_judge_takes_nothing_away(project: Project, hook: Hook, judge_at: Callable[[str], None]) -> None:
    without = shown(hook, RULES)
    judge_at("http://127.0.0.1:9")
    fault = "from onrecord.recall import judge\njudge.verdicts = lambda *question: 1 / 0\n"

    assert run("user_prompt_submit", project, ENOUGH_WALL + fault, prompt=RULES, session_id="s9").context == without
    assert [(what, error) for _, what, error in state_file.recent_failures()] == [
        ("ask the judge", "ZeroDivisionError: division by zero")
    ]
