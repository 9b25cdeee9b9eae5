"""Factory Droid."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package


class Droid(HostClient):
    name = "droid"
    package = Package("droid", "0.215.0", ".bin/droid")
    is_slow = True
    environment = {
        "FACTORY_AIRGAP_ENABLED": "true",
        "FACTORY_API_KEY": "fk-dummy",
        "FACTORY_API_BASE_URL": BASE_URL,
        "FACTORY_DISABLE_KEYRING": "true",
        "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
    }

    def configure(self) -> None:
        model = {
            "model": "mock-model",
            "displayName": "Mock",
            "baseUrl": f"{BASE_URL}/v1",
            "apiKey": "dummy",
            "provider": "generic-chat-completion-api",
            "maxOutputTokens": 4_000,
        }
        self.write_json(
            ".factory/settings.json",
            {
                "customModels": [model],
                "trustedFolders": {str(self.project): {"trustedAt": "2026-11-16T00:00:00.000Z"}},
                "sessionDefaultSettings": {"interactionMode": "auto", "autonomyLevel": "high"},
                "logoAnimation": "off",
            },
        )

    def command(self, prompt: str, again: bool) -> list[str]:
        # Each prompt is a session of its own: to go on with one, it asks its server.
        return ["exec", "--auto", "high", "-m", "custom:mock-model", prompt]

    def install_plugin(self, repository: Path) -> list[list[str]]:
        # It names the marketplace after the folder.
        return [
            ["plugin", "marketplace", "add", str(repository)],
            ["plugin", "install", f"memory@{repository.name}"],
        ]

    def write(self, path: Path, text: str) -> list[Tool]:
        if path.exists():
            return [Tool("Edit", {"file_path": str(path), "old_str": path.read_text(), "new_str": text})]
        return [Tool("Create", {"file_path": str(path), "content": text})]

    def shell(self, command: str) -> Tool:
        risk = {"summary": "x", "riskLevel": "low", "riskLevelReason": "x"}
        return Tool("Execute", {"command": command, **risk})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(f"onrecord___{tool}", dict(arguments))
