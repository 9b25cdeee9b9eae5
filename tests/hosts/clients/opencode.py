"""OpenCode."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package

_PLUGIN = Package("@opencode-ai/plugin", "1.18.33", "@opencode-ai/plugin/package.json")


class OpenCode(HostClient):
    name = "opencode"
    package = Package("opencode-ai", "1.18.33", "opencode-ai/bin/opencode.exe")
    is_slow = True
    also = (_PLUGIN,)
    screen = ("--auto", "--prompt")
    is_screen_on_request = True
    environment = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }

    def configure(self) -> None:
        options = {"baseURL": f"{BASE_URL}/v1", "apiKey": "dummy"}
        models = {"mock-model": {"name": "Mock", "limit": {"context": 100_000, "output": 8_000}}}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Mock", "options": options, "models": models}
        self.write_json(
            ".config/opencode/opencode.json",
            {
                "autoupdate": False,
                "share": "disabled",
                "model": "mock/mock-model",
                "small_model": "mock/mock-model",
                "provider": {"mock": provider},
            },
        )
        # Offline it tries for over a minute to install its plugin package, unless that is there already.
        folder = self.home / ".config" / "opencode"
        (folder / "node_modules").symlink_to(_PLUGIN.modules)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_PLUGIN.folder / name, folder)

    def command(self, prompt: str, again: bool) -> list[str]:
        return ["run", "--auto", *(["-c"] if again else []), prompt]

    def write(self, path: Path, text: str) -> list[Tool]:
        if path.exists():
            return [Tool("edit", {"filePath": str(path), "oldString": path.read_text(), "newString": text})]
        return [Tool("write", {"filePath": str(path), "content": text})]

    def shell(self, command: str) -> Tool:
        return Tool("bash", {"command": command, "description": "x"})

    def mcp(self, tool: str, arguments: dict[str, str]) -> Tool:
        return Tool(f"onrecord_{tool}", dict(arguments))
