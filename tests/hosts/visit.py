"""Two turns of a conversation in a client that is connected to Onrecord, and what of our memory reached the model."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from tests.hosts import known_project
from tests.hosts.host_client import HostClient, Turn
from tests.hosts.known_project import ASKS, CENTS, DECIDED, FAILS, LEFT, NOTE, SESSIONS, TILES
from tests.hosts.model_request import ModelRequest, Tool
from tests.hosts.plugin_copy import ROOT

RULE = SESSIONS["content"]["decision"]
FILE_RULE = CENTS["content"]["rule"]
RUNBOOK = TILES["content"]["steps"][1]
UNFINISHED = LEFT["content"]["next_actions"][0]
ONRECORD = [sys.executable, str(ROOT / "bin" / "onrecord")]
ADVICE = "onrecord save"
"""Is in the reason for which a write to the store is denied."""

_DIGEST = re.compile(r'<memory-context [^>]*kind="map".*?</memory-context>', re.S)

SHELL_SYNTAX = "$(touch PWNED-1) `touch PWNED-2`; touch PWNED-3 & touch PWNED-4 | touch PWNED-5\ntouch PWNED-6 #"

YES, WITH_RESULT, DENIED, SILENT, NO = "yes", "with the result", "denied", "silent", "no"


class Step(NamedTuple):
    """A step of the model in the first turn, and what we add to the next request because of it."""

    name: str
    calls: list[Tool]
    mark: str
    success: str = ""
    """The word in the table if the mark is there; if empty, the word is where the mark is."""


class Visit(NamedTuple):
    """The two turns. In the first the model takes the steps, one after the other."""

    client: HostClient
    steps: list[Step]
    first: Turn
    change: list[Tool]
    """The tool calls of the second turn."""
    second: Turn

    @property
    def forged(self) -> list[Path]:
        """The files in the store that the agent wrote by hand."""
        return sorted(self.client.project.rglob("forged*"))

    @property
    def executed(self) -> list[Path]:
        """The files that the prompt would have created if a shell had run it."""
        return sorted(self.client.home.parent.rglob("PWNED*"))

    @property
    def before_search(self) -> ModelRequest:
        """The last request in which all texts of records come from hooks."""
        searches = sum(len(step.calls) for step in self.steps if step.name == "MCP")
        return self.first.main_requests[-1 - searches]

    def facts(self) -> dict[str, str]:
        """Return what reached the model, and when, in the words of the table in the docs."""
        start = self.first.main_requests[0]
        return {
            "session start": YES if UNFINISHED in start.text else NO,
            "matching prompt": YES if RULE in start.text else NO,
            "unrelated prompt": SILENT if self._is_silent() else "not silent",
            **{step.name: self._outcome(number) for number, step in enumerate(self.steps)},
            "end of a turn": "asks" if NOTE in self.second.last.text else SILENT,
        }

    def _outcome(self, number: int) -> str:
        before, after = self._around(number)
        step = self.steps[number]
        if after.text.count(step.mark) <= before.text.count(step.mark):
            return NO
        if step.success:
            return step.success
        return WITH_RESULT if after.results.count(step.mark) > before.results.count(step.mark) else YES

    def _around(self, number: int) -> tuple[ModelRequest, ModelRequest]:
        """Return the requests before and after a step; each request gets one tool call."""
        begin = sum(len(step.calls) for step in self.steps[:number])
        requests = self.first.main_requests
        return requests[begin], requests[begin + len(self.steps[number].calls)]

    def _is_silent(self) -> bool:
        """True if no record comes with the second prompt, and no second digest."""
        before, after = self.first.last.text, self.second.main_requests[0].text
        _, _, added = after.rpartition(DECIDED)
        # Where each prompt is a session of its own, the second one has a digest, which names what the first changed.
        added = _DIGEST.sub("", added)
        has_mark = any(mark in added for mark in (RULE, FILE_RULE, RUNBOOK))
        return not has_mark and after.count(UNFINISHED) <= before.count(UNFINISHED)


def connect(client: HostClient) -> None:
    """Connect the client as its user would."""
    for command in client.connect(ONRECORD):
        process = client.execute(command)
        assert process.exit_code == 0, process.stdout + process.stderr


def visit(client: HostClient) -> Visit:
    """Have the conversation."""
    steps = _steps(client)
    calls = [call for step in steps for call in step.calls]
    first = client.prompt(ASKS, replies=[*calls, "It is in Postgres."])
    change = client.write(client.project / "src" / "auth.py", "hashed = argon2id\n")
    second = client.prompt(f"{DECIDED} {SHELL_SYNTAX}", replies=[*change, "Done: argon2id it is."], again=True)
    return Visit(client, steps, first, change, second)


def _steps(client: HostClient) -> list[Step]:
    project = client.project
    store = project / ".claude" / "memory" / "decisions"
    search = client.mcp("search", {"query": "user sessions"})
    steps = [
        Step("file edit", client.write(project / "src" / "money.py", "cents = 2\n"), FILE_RULE),
        Step("failed command", [client.shell(FAILS)], RUNBOOK),
        Step("denied write", client.write(store / "forged.json", "{}\n"), ADVICE, DENIED),
        Step("denied command", [client.shell(f"echo '{{}}' > '{store / 'forged-by-shell.json'}'")], ADVICE, DENIED),
    ]
    return [*steps, Step("MCP", [search], SESSIONS["title"], YES)] if search else steps


def prepare(client: HostClient) -> None:
    """Give the client's project its files and its memory."""
    known_project.create(client.project)
    known_project.remember(client.project)
