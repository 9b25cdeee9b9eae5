"""Qwen Code."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.host_client import NODE_22, HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package


class Qwen(HostClient):
    name = "qwen"
    package = Package("@qwen-code/qwen-code", "0.24.4", ".bin/qwen")
    is_slow = True
    also = (NODE_22,)
    screen = ("--yolo", "-i")
    is_screen_on_request = True
    environment = {
        "OPENAI_API_KEY": "dummy",
        "OPENAI_BASE_URL": f"{BASE_URL}/v1",
        "OPENAI_MODEL": "mock-model",
        "QWEN_TELEMETRY_ENABLED": "false",
    }

    def configure(self) -> None:
        self.write_json(
            ".qwen/settings.json",
            {
                "security": {"auth": {"selectedType": "openai"}},
                "general": {"enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False},
                # Its own memory asks the model about the conversation after some turns.
                "memory": {"enableManagedAutoMemory": False},
            },
        )

    def command(self, prompt: str, again: bool) -> list[str]:
        return ["--yolo", *(["--continue"] if again else []), "-p", prompt]

    def install_plugin(self, repository: Path) -> list[list[str]]:
        return [["extensions", "install", f"{repository}:memory", "--consent"]]

    def write(self, path: Path, text: str) -> list[Tool]:
        # A file that is there must have been read.
        read = [Tool("read_file", {"file_path": str(path)})] if path.exists() else []
        return [*read, Tool("write_file", {"file_path": str(path), "content": text})]

    def shell(self, command: str) -> Tool:
        return Tool("run_shell_command", {"command": command, "description": "x", "is_background": False})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(f"mcp__onrecord__{tool}", dict(arguments))
