"""The client of the official SDK against the server, in every version it speaks."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the SDK of MCP needs Python 3.10")

import anyio
import mcp
from mcp.client import session as client_session
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

import onrecord
from tests.mcp.client import BIN, HANDSHAKE, STATELESS
from tests.mcp.conftest import SESSIONS

Talk = Callable[[Client], Awaitable[Any]]


def play(folder: Path, version: str, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Connect in a version, and have a conversation; of the stateless one the client has to find out itself."""
    if version in HANDSHAKE:
        monkeypatch.setattr(client_session, "LATEST_HANDSHAKE_VERSION", version)
    server = mcp.StdioServerParameters(
        command=sys.executable, args=[str(BIN), "mcp"], cwd=str(folder), env=dict(os.environ)
    )

    async def run() -> Any:
        with anyio.fail_after(60):
            async with Client(stdio_client(server), mode="legacy" if version in HANDSHAKE else "auto") as client:
                assert client.protocol_version == version
                return await talk(client)

    return anyio.run(run)


@pytest.mark.parametrize("version", [*HANDSHAKE, STATELESS])
def test_everything_that_is_offered_is_accepted(project, monkeypatch, version):
    async def talk(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["overview", "recall", "search", "show", "save", "supersede"]
        result = await client.call_tool("search", {"query": "where do sessions live"})
        assert result.structured_content["results"][0]["id"] == SESSIONS
        assert not (await client.call_tool("recall", {"task": "users are logged out after a deploy"})).is_error
        assert (await client.call_tool("show", {"id": "nobody"})).is_error
        record = {"category": "decision", "title": f"In {version}", "content": {"decision": "d", "context": "c"}}
        refused = await client.call_tool("save", record)
        assert refused.is_error and "content.rationale: is missing" in refused.content[0].text
        record["content"]["rationale"] = ["r"]
        assert (await client.call_tool("save", record)).structured_content["state"] == "draft"
        assert not (await client.call_tool("supersede", {**record, "id": SESSIONS, "title": "Other"})).is_error
        assert client.server_info.version == onrecord.__version__
        assert "recall" in client.instructions

    play(project, version, talk, monkeypatch)


@pytest.mark.parametrize("version", [*HANDSHAKE, STATELESS])
def test_errors_of_the_protocol_have_their_codes(project, monkeypatch, version):
    async def talk(client: Client) -> list[int]:
        codes = []
        for attempt in (
            lambda: client.call_tool("nope", {}),
            lambda: client.list_tools(cursor="nope"),
        ):
            with pytest.raises(mcp.MCPError) as error:
                await attempt()
            codes.append(error.value.error.code)
        return codes

    assert play(project, version, talk, monkeypatch) == [-32602, -32602]
