"""The clients that can be run here, a module for each."""

from __future__ import annotations

from tests.hosts.clients.claude_code import ClaudeCode
from tests.hosts.clients.cline import Cline
from tests.hosts.clients.codex import Codex
from tests.hosts.clients.copilot import Copilot
from tests.hosts.clients.droid import Droid
from tests.hosts.clients.gemini import Gemini
from tests.hosts.clients.opencode import OpenCode
from tests.hosts.clients.pi import Pi
from tests.hosts.clients.qwen import Qwen
from tests.hosts.host_client import HostClient

CLIENTS: tuple[type[HostClient], ...] = (ClaudeCode, Codex, Copilot, Qwen, Gemini, OpenCode, Pi, Cline, Droid)
