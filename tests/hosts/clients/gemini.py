"""Google Gemini CLI."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package


class Gemini(HostClient):
    name = "gemini"
    package = Package("@google/gemini-cli", "0.61.0", ".bin/gemini")
    environment = {
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": BASE_URL,
        "GEMINI_TELEMETRY_ENABLED": "false",
    }

    def configure(self) -> None:
        self.write_json(
            ".gemini/settings.json",
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "general": {"enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False},
            },
        )

    def command(self, prompt: str, again: bool) -> list[str]:
        options = ["-m", "gemini-2.5-pro", "--yolo", "--skip-trust"]
        return [*options, *(["--resume", "latest"] if again else []), "-p", prompt]

    def write(self, path: Path, text: str) -> list[Tool]:
        return [Tool("write_file", {"file_path": str(path), "content": text})]

    def shell(self, command: str) -> Tool:
        return Tool("run_shell_command", {"command": command, "description": "x"})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(f"mcp_onrecord_{tool}", dict(arguments))
