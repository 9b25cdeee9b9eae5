"""The real Claude Code client, run headless where the only thing it can reach is our mock of its API.

    client = Client(home=tmp_path / "home", project=tmp_path / "project", plugin_dir=PLUGIN)
    turn = client.prompt("where is the port set?", replies=[Tool("Read", {"file_path": "…"}), "in config.py"])
    assert turn.injected == ["…what our hooks told the model…"]

Each run gets a throw-away HOME and a clean environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Optional, Union

from api_request import Request
from client_package import installed
from turn import Turn

from tests.hosts.clients.claude_code import ClaudeCode
from tests.hosts.isolation import Running, deadline, run_hooks_with, started, use_this_python
from tests.hosts.mock_api import MockApi, Replies


class Client:
    """One user (`home`) in one project, with one plugin loaded from its folder or none."""

    def __init__(
        self,
        home: Path,
        project: Path,
        plugin_dir: Optional[Path] = None,
        *,
        env: Optional[Mapping[str, str]] = None,
        attended: bool = False,
        timeout: float = 300,
    ) -> None:
        self.home, self.project, self.plugin_dir = home, project, plugin_dir
        self.env, self.timeout = dict(env or {}), timeout
        self._binary = installed()
        for folder in (project, self._scratch):
            folder.mkdir(parents=True, exist_ok=True)
        use_this_python(self._bin)
        if attended:
            self._attend()

    def _attend(self) -> None:
        """Let hooks see what they see when somebody sits before the client, which tells them of `-p` otherwise."""
        seen = "CLAUDE_CODE_SESSION_ATTENDED=1 CLAUDE_CODE_ENTRYPOINT=cli"
        run_hooks_with(self.home, f'{seen} exec "{os.path.realpath(sys.executable)}" "$@"')

    def prompt(
        self,
        text: str,
        *,
        replies: Replies = (),
        resume: Union[bool, str] = False,
        permission_mode: Optional[str] = None,
        allowed_tools: Sequence[str] = (),
        model: Optional[str] = None,
        args: Sequence[str] = (),
    ) -> Turn:
        """Say one thing to the agent in a process of its own (`claude -p`); `resume` goes on with the last
        conversation, or with the session named."""
        options = _options(resume, permission_mode, allowed_tools, model)
        return self._finish(["-p", *self._common, "--output-format", "json", *options, *args, "--", text], replies)

    def run(self, *args: str, replies: Replies = ()) -> Turn:
        """Run any other command of the client, such as `run("plugin", "validate", "--strict", folder)`."""
        return self._finish([*args], replies)

    @contextmanager
    def session(
        self,
        *,
        resume: Union[bool, str] = False,
        permission_mode: Optional[str] = None,
        allowed_tools: Sequence[str] = (),
        model: Optional[str] = None,
        args: Sequence[str] = (),
    ) -> Iterator[Session]:
        """Give several prompts to one running client, as when a person sits before it."""
        options = _options(resume, permission_mode, allowed_tools, model)
        streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        command = ["-p", *self._common, *streams, *options, *args]
        with self._started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as (process, api, err):
            session = Session(self, process, api, err)
            yield session
            session.close()

    @property
    def _scratch(self) -> Path:
        return self.home / "tmp"

    @property
    def _bin(self) -> Path:
        return self.home / "bin"

    @property
    def _debug(self) -> Path:
        return self.home / "debug.log"

    @property
    def _common(self) -> list[str]:
        plugin = ["--plugin-dir", str(self.plugin_dir)] if self.plugin_dir else []
        return ["--debug-file", str(self._debug), *plugin]

    def _finish(self, args: Sequence[str], replies: Replies) -> Turn:
        # A file, not a pipe: a process that a hook leaves behind could hold a pipe open for ever.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as out, self._started(args, replies, stdout=out) as started:
            process, api, err = started
            with deadline(process, self.timeout):
                code = process.wait(timeout=self.timeout + 60)
            out.seek(0)
            return self._turn(code, out.read(), err, api.requests)

    def _turn(self, code: int, stdout: str, err: IO[str], requests: Sequence[Request]) -> Turn:
        err.seek(0)
        debug = self._debug.read_text(encoding="utf-8") if self._debug.exists() else ""
        return Turn(code, stdout, err.read(), debug, tuple(requests), self.home)

    @contextmanager
    def _started(
        self,
        args: Sequence[str],
        replies: Replies = (),
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: Union[int, IO[str]],
    ) -> Iterator[Running]:
        if self._debug.exists():
            self._debug.unlink()
        with started(
            [str(self._binary), *args],
            cwd=self.project,
            env=self._environment(),
            stdin=stdin,
            stdout=stdout,
            replies=replies,
            read=Request,
        ) as running:
            yield running

    def _environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": f"{self._bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self._scratch),
            "CLAUDE_CODE_TMPDIR": str(self._scratch),
            **ClaudeCode.environment,
            **self.env,
        }


class Session:
    """A running client that is told one thing after another."""

    def __init__(self, client: Client, process: subprocess.Popen[str], api: MockApi, err: IO[str]) -> None:
        self._client, self._process, self._api, self._err = client, process, api, err

    def prompt(self, text: str, *, replies: Replies = ()) -> Turn:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._api.script(replies)
        before = len(self._api.requests)
        message = {"type": "user", "message": {"role": "user", "content": text}}
        with deadline(self._process, self._client.timeout):
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            result = next((line for line in self._process.stdout if json.loads(line)["type"] == "result"), "")
        return self._client._turn(self._process.poll() or 0, result, self._err, self._api.requests[before:])

    def close(self) -> None:
        """End the conversation and wait for the client to go."""
        with deadline(self._process, self._client.timeout):
            self._process.communicate(timeout=self._client.timeout + 60)


def _options(
    resume: Union[bool, str], permission_mode: Optional[str], allowed_tools: Sequence[str], model: Optional[str]
) -> list[str]:
    options = ["--resume", resume] if isinstance(resume, str) else ["-c"] if resume else []
    options += ["--permission-mode", permission_mode] if permission_mode else []
    options += ["--allowedTools", ",".join(allowed_tools)] if allowed_tools else []
    return options + (["--model", model] if model else [])
