"""Claude Code. More of its tests, with sessions of many turns, are in tests/client."""

from __future__ import annotations

import platform
from pathlib import Path

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package

_MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
_NAME = f"@anthropic-ai/claude-code-linux-{_MACHINE}" + ("" if platform.libc_ver()[0] else "-musl")

_ALLOWED = ("--allowedTools", "Bash,Read,Write,mcp__onrecord", "--permission-mode", "acceptEdits")


class ClaudeCode(HostClient):
    name = "claude-code"
    package = Package(_NAME, "", f"{_NAME}/claude")
    environment = {
        "ANTHROPIC_API_KEY": "dummy-not-a-key",
        "ANTHROPIC_BASE_URL": BASE_URL,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    screen = (*_ALLOWED, "--")
    is_screen_on_request = True

    def configure(self) -> None:
        key = {"approved": [self.environment["ANTHROPIC_API_KEY"][-20:]], "rejected": []}
        projects = {str(self.project): {"hasTrustDialogAccepted": True}}
        welcome = {"hasCompletedOnboarding": True, "theme": "dark"}
        self.write_json(".claude.json", {**welcome, "customApiKeyResponses": key, "projects": projects})

    def command(self, prompt: str, again: bool) -> list[str]:
        return ["-p", *(["-c"] if again else []), *_ALLOWED, "--", prompt]

    def connect(self, onrecord: list[str]) -> list[list[str]]:
        server = [str(self.program), "mcp", "add", "--scope", "user", "onrecord", "--", *onrecord, "mcp"]
        return [[*onrecord, "connect", self.name, "--yes"], server]

    def install_plugin(self, repository: Path) -> list[list[str]]:
        return [["plugin", "marketplace", "add", str(repository)], ["plugin", "install", "memory@onrecord"]]

    def write(self, path: Path, text: str) -> list[Tool]:
        # A file that is there must have been read.
        read = [Tool("Read", {"file_path": str(path)})] if path.exists() else []
        return [*read, Tool("Write", {"file_path": str(path), "content": text})]

    def shell(self, command: str) -> Tool:
        return Tool("Bash", {"command": command})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(f"mcp__onrecord__{tool}", dict(arguments))
