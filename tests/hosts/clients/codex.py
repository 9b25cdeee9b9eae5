"""OpenAI Codex CLI."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package

SETTINGS = f"""model = "gpt-5.5"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.mock]
name = "mock"
base_url = "{BASE_URL}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"""


class Codex(HostClient):
    name = "codex"
    package = Package("@openai/codex", "0.166.0", ".bin/codex")
    # It waits five seconds for the name of each of its servers; a proxy that is not there refuses at once.
    environment = {"MOCK_KEY": "dummy", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}

    screen = ("--dangerously-bypass-hook-trust",)

    def configure(self) -> None:
        trusted = f'\n[projects."{self.project}"]\ntrust_level = "trusted"\n'
        self.write_text(".codex/config.toml", SETTINGS + trusted)

    def command(self, prompt: str, again: bool) -> list[str]:
        # Trust is given in the screen; without it hooks are skipped.
        options = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        return ["exec", *(["resume", "--last"] if again else []), *options, prompt]

    def install_plugin(self, repository: Path) -> list[list[str]]:
        return [["plugin", "marketplace", "add", str(repository)], ["plugin", "add", "memory@onrecord"]]

    def write(self, path: Path, text: str) -> list[Tool]:
        old = [f"-{line}" for line in path.read_text().splitlines()] if path.exists() else []
        head = [f"*** Update File: {path}", "@@", *old] if old else [f"*** Add File: {path}"]
        new = [f"+{line}" for line in text.splitlines()]
        return [Tool("apply_patch", "\n".join(["*** Begin Patch", *head, *new, "*** End Patch", ""]))]

    def shell(self, command: str) -> Tool:
        return Tool("exec_command", {"cmd": command})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(tool, dict(arguments), namespace="mcp__onrecord")
