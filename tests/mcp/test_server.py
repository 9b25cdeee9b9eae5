"""The server in this process: whole responses to each method, and every error with its code and its words."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import onrecord
from onrecord import state_file
from onrecord.mcp import server as server_module
from onrecord.mcp import tools
from onrecord.mcp.messages import Pipe
from onrecord.mcp.server import INSTRUCTIONS, Server
from tests.mcp.client import HANDSHAKE, STATELESS, envelope

INFO = {"name": "onrecord", "title": "Onrecord", "version": onrecord.__version__}
NO_HANDSHAKE = (
    "send initialize first, or the version in _meta: 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05"
)
EMPTY = {"jsonrpc": "2.0", "id": 1, "result": {}}


def new_server(folder: Path | str = "/nowhere") -> Server:
    return Server(Pipe(-1, -1), str(folder))


def request(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def greeted(version: str = "2025-11-25", folder: Path | str = "/nowhere") -> Server:
    server = new_server(folder)
    server._respond(request("initialize", protocolVersion=version))
    return server


def error(server: Server, message: Any) -> dict[str, Any]:
    response = server._respond(message)
    assert set(response) == {"jsonrpc", "id", "error"}
    body: dict[str, Any] = response["error"]
    return body


@pytest.mark.parametrize("version", [*HANDSHAKE, "1999-01-01"])
def test_the_handshake_is_answered_whole(version: str):
    response = new_server()._respond(request("initialize", protocolVersion=version, capabilities={}))

    assert response == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "protocolVersion": version if version in HANDSHAKE else "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": INFO,
            "instructions": INSTRUCTIONS,
        },
    }


def test_the_stateless_version_is_answered_whole():
    response = new_server()._respond(request("server/discover", _meta=envelope()))

    assert response["result"] == {
        "supportedVersions": [STATELESS, *reversed(HANDSHAKE)],
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
        "ttlMs": 3_600_000,
        "cacheScope": "public",
    }


def test_a_list_may_be_cached_and_a_call_may_not(project: Path):
    server = new_server(project)
    listed = server._respond(request("tools/list", _meta=envelope()))["result"]
    called = server._respond(request("tools/call", name="show", arguments={"id": "none"}, _meta=envelope()))["result"]

    assert (listed["ttlMs"], listed["cacheScope"]) == (3_600_000, "public")
    assert set(called) == {"content", "isError", "resultType", "_meta"}
    assert greeted()._respond(request("tools/list"))["result"] == {"tools": listed["tools"]}


@pytest.mark.parametrize("method", ["initialize", "ping"])
def test_the_stateless_version_has_no_handshake(method: str):
    assert error(new_server(), request(method, _meta=envelope())) == {
        "code": -32601, "message": f"no method {method} in version {STATELESS}"
    }  # fmt: skip
    assert new_server()._respond(request("ping", _meta=envelope("2025-11-25"))) == EMPTY


def test_without_a_version_only_the_handshake_is_answered():
    assert error(new_server(), request("tools/list")) == {"code": -32602, "message": NO_HANDSHAKE}
    assert error(new_server(), request("server/discover")) == {"code": -32602, "message": NO_HANDSHAKE}
    assert new_server()._respond(request("ping")) == EMPTY


@pytest.mark.parametrize(
    ("message", "body"),
    [
        (request("x" * 100), {"code": -32601, "message": f"no method {'x' * 80!r}"}),
        (request("tools/list", cursor="7"), {"code": -32602, "message": "there is no such page"}),
        (request("tools/list", cursor=0), {"code": -32602, "message": "there is no such page"}),
        (request("tools/call"), {"code": -32602, "message": "tools/call needs the text 'name'"}),
        (request("tools/call", name="x" * 100), {
            "code": -32602,
            "message": f"no tool {'x' * 80!r}; there are overview, recall, search, show, save, supersede"}),
        (request("tools/call", name="show", arguments=[]),
         {"code": -32602, "message": "'arguments' must be an object"}),
        (request("initialize"), {"code": -32602, "message": "initialize needs the text 'protocolVersion'"}),
        (request("initialize", protocolVersion="x", capabilities=7),
         {"code": -32602, "message": "'capabilities' must be an object"}),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_said_in_words(message: dict[str, Any], body: dict[str, Any]):
    assert error(greeted(), message) == body


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        ({"id": 5, "method": "ping"}, 5),
        ({"jsonrpc": "2.0", "id": "a"}, "a"),
        ({"id": True, "method": "x"}, None),
        (7, None),
    ],
)
def test_an_invalid_request_is_answered_with_its_id(message: Any, request_id: Any):
    response = greeted()._respond(message)

    assert (response["id"], response["error"]["code"]) == (request_id, -32600)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "ping"},
        {"jsonrpc": "1.0", "method": "ping"},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {}},
        {"result": 1},
    ],
)
def test_notifications_and_responses_are_not_answered(message: dict[str, Any]):
    assert greeted()._respond(message) is None


def test_a_batch_of_a_thousand_is_answered():
    server = greeted("2025-03-26")
    only = {"code": -32600, "message": "a batch has 1 to 1,000 messages"}

    responses = server._respond([request("ping", number) for number in range(1_000)])

    assert [response["id"] for response in responses] == list(range(1_000))
    assert error(server, [request("ping")] * 1_001) == only
    assert error(server, []) == only
    assert server._respond([{"jsonrpc": "2.0", "method": "x"}]) is None
    assert server._respond([request("ping")]) == [EMPTY]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_only_one_version_has_batches(version: str):
    assert error(greeted(version), [request("ping")]) == {
        "code": -32600, "message": "only version 2025-03-26 has batches"
    }  # fmt: skip


def test_the_name_of_a_client_has_80_characters():
    server = new_server()
    info = {"name": "n" * 81}
    server._respond(request("initialize", protocolVersion="2025-11-25", clientInfo=info))
    meta = {**envelope(), "io.modelcontextprotocol/clientInfo": info}

    assert server._caller.client == "n" * 80
    assert server._caller_of(server_module.messages.parse(request("tools/list", _meta=meta))).client == "n" * 80


def test_a_bug_is_logged_under_the_name_of_its_method(monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("one over nought")

    monkeypatch.setitem(server_module._METHODS, "ping", fail)

    assert error(greeted(), request("ping")) == {
        "code": -32603, "message": "a bug in Onrecord; to see more: onrecord doctor"
    }  # fmt: skip
    assert [row[1:] for row in state_file.recent_failures()] == [("mcp ping", "ZeroDivisionError: one over nought")]


def call(project: Path | str, name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = greeted(folder=project)._respond(request("tools/call", name=name, arguments=arguments))
    return result["result"]


def text(result: dict[str, Any]) -> str:
    (content,) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


def test_a_refusal_is_a_result_in_which_the_code_is_explained(project: Path, monkeypatch):
    refused = call(project, "search", query=7)
    monkeypatch.setenv("ONRECORD_OFF", "1")
    off = call(project, "search", query="x")

    assert (set(refused), refused["isError"]) == ({"content", "isError"}, True)
    assert text(refused).splitlines()[:2] == ["BAD_INPUT: query must be a text", "fix: query: What to look for."]
    assert text(refused).splitlines()[2].startswith("BAD_INPUT means: ")
    assert text(off).splitlines()[:2] == [
        "SWITCHED_OFF: the project memory is switched off: ONRECORD_OFF is set",
        "fix: unset ONRECORD_OFF and start the agent again",
    ]


def test_data_is_escaped_text_by_text():
    odd = {"<a>": ["</memory-context>\n\u202e", 7, None, True, {"b": ("c", "<d>")}]}

    assert server_module._escape(odd) == {
        "&lt;a&gt;": ["&lt;/memory-context&gt;  ", 7, None, True, {"b": ["c", "&lt;d&gt;"]}]
    }


def roots(server: Server, *uris: Any, response_id: str = "onrecord-roots") -> str:
    """Return the folder that a server uses after a client's response."""
    server._respond({"jsonrpc": "2.0", "id": response_id, "result": {"roots": [{"uri": uri} for uri in uris]}})
    return server._caller.folder


def rooted(folder: str = "", **capabilities: Any) -> Server:
    """Return a server that a client with roots has greeted in a folder without a project."""
    server = Server(Pipe(-1, -1), folder)
    server._caller = server._caller._replace(folder="/elsewhere")
    server._respond(request("initialize", protocolVersion="2025-11-25", capabilities=capabilities))
    return server


def test_of_fifty_roots_the_first_with_a_store_is_the_project(project: Path):
    uri = f"file://{project}"

    assert roots(rooted(roots={}), *["file:///none"] * 49, uri) == str(project)
    assert roots(rooted(roots={}), *["file:///none"] * 50, uri) == "/elsewhere"


@pytest.mark.parametrize(
    "uri",
    ["http://{}", "file://{}/none", "file:{}", "file://relative", "file://{}/.claude/memory/decisions/a%00b", 7, "{}"],
)
def test_what_is_no_root_is_passed_over(project: Path, uri: Any):
    assert roots(rooted(roots={}), uri.replace("{}", str(project)) if isinstance(uri, str) else uri) == "/elsewhere"


def test_roots_count_only_if_they_were_asked_for(project: Path):
    uri = f"file://localhost{project}"

    assert roots(rooted(roots={}), uri) == str(project)
    assert roots(rooted(), uri) == "/elsewhere"
    assert roots(rooted(roots=True), uri) == "/elsewhere"
    assert roots(rooted("/named", roots={}), uri) == "/elsewhere"
    assert roots(rooted(roots={}), uri, response_id="other") == "/elsewhere"
    odd = rooted(roots={})
    for result in ({"roots": 7}, [], None, {"roots": [7]}):
        odd._respond({"jsonrpc": "2.0", "id": "onrecord-roots", "result": result})
    assert odd._caller.folder == "/elsewhere"


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/roots/list_changed"])
def test_a_client_is_asked_for_its_roots(method: str, project: Path):
    source, sink = os.pipe()
    server = Server(Pipe(source, sink))
    server._caller = server._caller._replace(folder="/elsewhere")
    server._respond(request("initialize", protocolVersion="2025-11-25", capabilities={"roots": {}}))

    assert server._respond({"jsonrpc": "2.0", "method": method}) is None

    assert json.loads(os.read(source, 1_000)) == {"jsonrpc": "2.0", "id": "onrecord-roots", "method": "roots/list"}
    assert server._awaits_roots
    roots(server, f"file://{project}", response_id="other")
    assert server._awaits_roots
    roots(server, f"file://{project}")
    assert not server._awaits_roots
    os.close(source)
    os.close(sink)


@pytest.mark.parametrize("uri", ["/a%20b", "//localhost/a%20b", "///a b"])
def test_the_path_of_a_root_is_decoded(uri: str):
    path = server_module._path(f"file:{uri}" if uri.startswith("//") else f"file://{uri}")

    assert path == "/a b"


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.name)
def test_each_argument_is_checked_by_its_kind(tool: tools.Tool):
    wrong: dict[str, list[Any]] = {
        "text": [7, ["a"], "x" * 20_001, "\ud800"], "texts": ["a", [7], ["x" * 20_001]], "flag": [0, "true"],
        "count": ["1", 1.5, True], "object": [[], "x"], "objects": [{}, [1]],
    }  # fmt: skip
    said = {"text": "a text", "texts": "a list of texts", "count": "a whole number", "flag": "true or false",
            "object": "an object", "objects": "a list of objects"}  # fmt: skip
    right = {"text": "x" * 20_000, "texts": ["a"], "count": 1, "flag": True, "object": {}, "objects": [{}]}
    needed = {each.name: right[each.kind] for each in tool.arguments if each.is_required and not each.choices}
    needed.update({each.name: each.choices[0] for each in tool.arguments if each.is_required and each.choices})

    for argument in tool.arguments:
        if argument.choices:
            assert refusal(tool, {**needed, argument.name: "x"}).startswith(
                f"{argument.name} must be one of {', '.join(argument.choices)}"
            )
            continue
        assert argument.name in tools.check(tool, {**needed, argument.name: right[argument.kind]})
        for value in wrong[argument.kind]:
            within = " from 1 to 50" if argument.kind == "count" else ""
            message = refusal(tool, {**needed, argument.name: value})
            assert message == f"{argument.name} must be {said[argument.kind]}{within}"
    for name in needed:
        rest = {key: value for key, value in needed.items() if key != name}
        assert refusal(tool, rest) == f"{tool.name} needs {name}"
        assert refusal(tool, {**rest, name: None}) == f"{tool.name} needs {name}"


def refusal(tool: tools.Tool, arguments: dict[str, Any]) -> str:
    with pytest.raises(onrecord.errors.BadInput) as caught:
        tools.check(tool, arguments)
    assert re.match(r"\w+: .", caught.value.fix)
    return caught.value.message


@pytest.mark.parametrize(("limit", "is_right"), [(0, False), (1, True), (50, True), (51, False)])
def test_a_limit_is_from_1_to_50(limit: int, is_right: bool):
    search = tools.BY_TOOL["search"]

    if is_right:
        assert tools.check(search, {"query": "x", "limit": limit}) == {"query": "x", "limit": limit}
    else:
        assert refusal(search, {"query": "x", "limit": limit}) == "limit must be a whole number from 1 to 50"


def test_a_null_is_as_if_left_out_and_an_unknown_name_gets_a_hint():
    search = tools.BY_TOOL["search"]
    fixes = []
    for name in ("limits", "zzz"):
        with pytest.raises(onrecord.errors.BadInput) as caught:
            tools.check(search, {"query": "x", name: 1})
        fixes.append((caught.value.message, caught.value.fix))

    assert tools.check(search, {"query": "x", "limit": None}) == {"query": "x"}
    assert fixes == [
        ("search has no argument 'limits'", "did you mean limit?"),
        ("search has no argument 'zzz'", "use query, category, tags, limit, include_retired"),
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("overview", {}, "map"),
        ("recall", {"task": "make it blue"}, "records"),
        ("search", {"query": "zzz"}, "results"),
        ("show", {"id": "sessions-live-in-postgres-not-redis"}, "record"),
    ],
)
def test_a_call_has_its_text_and_its_data(project: Path, name: str, arguments: dict[str, Any], key: str):
    result = call(project, name, **arguments)

    assert set(result) == {"content", "structuredContent", "isError"}
    assert result["isError"] is False
    assert key in result["structuredContent"]
    assert text(result)


def test_a_client_that_has_not_greeted_is_asked_for_nothing():
    server = new_server("")
    server._caller = server._caller._replace(folder="/elsewhere")

    assert server._respond({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert not server._awaits_roots
