"""GitHub Copilot CLI."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package


class Copilot(HostClient):
    name = "copilot"
    package = Package("@github/copilot", "1.0.102", ".bin/copilot")
    screen = ("--allow-all-tools", "-i")
    is_screen_on_request = True
    environment = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{BASE_URL}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
        "COPILOT_MODEL": "mock-model",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_ALLOW_ALL": "true",
    }

    def configure(self) -> None:
        pass

    def command(self, prompt: str, again: bool) -> list[str]:
        return ["--allow-all-tools", *(["--continue"] if again else []), "-p", prompt]

    def install_plugin(self, repository: Path) -> list[list[str]]:
        return [["plugin", "marketplace", "add", str(repository)], ["plugin", "install", "memory@onrecord"]]

    def write(self, path: Path, text: str) -> list[Tool]:
        if path.exists():
            return [Tool("edit", {"path": str(path), "old_str": path.read_text(), "new_str": text})]
        return [Tool("create", {"path": str(path), "file_text": text})]

    def shell(self, command: str) -> Tool:
        return Tool("bash", {"command": command, "description": "x"})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(f"onrecord-{tool}", dict(arguments))
