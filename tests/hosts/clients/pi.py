"""pi."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.host_client import NODE_22, HostClient
from tests.hosts.isolation import BASE_URL
from tests.hosts.model_request import Tool
from tests.hosts.npm import Package


class Pi(HostClient):
    name = "pi"
    package = Package("@earendil-works/pi-coding-agent", "0.87.1", ".bin/pi")
    also = (NODE_22,)
    is_slow = True
    environment = {"PI_OFFLINE": "1"}

    def configure(self) -> None:
        model = {"id": "mock-model", "name": "Mock", "contextWindow": 100_000, "maxTokens": 4_000}
        mock = {"baseUrl": f"{BASE_URL}/v1", "api": "openai-completions", "apiKey": "dummy", "models": [model]}
        self.write_json(".pi/agent/models.json", {"providers": {"mock": mock}})

    def command(self, prompt: str, again: bool) -> list[str]:
        return ["--provider", "mock", "--model", "mock-model", *(["-c"] if again else []), "-p", prompt]

    def write(self, path: Path, text: str) -> list[Tool]:
        return [Tool("write", {"path": str(path), "content": text})]

    def shell(self, command: str) -> Tool:
        return Tool("bash", {"command": command})

    def mcp(self, tool: str, arguments: dict[str, str]) -> None:
        return None
