"""Cline CLI."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package


class Cline(HostClient):
    name = "cline"
    package = Package("cline", "3.0.65", ".bin/cline")
    is_slow = True
    environment = {"CLINE_TELEMETRY_DISABLED": "1"}

    def configure(self) -> None:
        done = self.run("auth", "-p", "openai-compatible", "-k", "dummy", "-m", "mock-model", "-b", f"{BASE_URL}/v1")
        assert done.exit_code == 0, done.stdout + done.stderr

    def command(self, prompt: str, again: bool) -> list[str]:
        # Each prompt is a session of its own: only its screen goes on with one.
        return ["--auto-approve", "true", "--json", prompt]

    def write(self, path: Path, text: str) -> list[Tool]:
        if path.exists():
            return [Tool("editor", {"path": str(path), "old_text": path.read_text(), "new_text": text})]
        return [Tool("editor", {"path": str(path), "new_text": text})]

    def shell(self, command: str) -> Tool:
        return Tool("run_commands", {"commands": [command]})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(f"onrecord__{tool}", dict(arguments))
