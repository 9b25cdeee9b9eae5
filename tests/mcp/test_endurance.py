"""Any messages in any order: one response for each request, no crash, no growth, no lost write."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onrecord
from onrecord import paths
from onrecord.mcp import server, tools
from onrecord.mcp.messages import Pipe
from onrecord.store.inbox import Inbox
from tests.known_project import SIX, known_project
from tests.mcp.client import HANDSHAKE, STATELESS, Client, envelope
from tests.mcp.conftest import SESSIONS
from tests.records import any_json
from tests.test_untrusted_text import EVIL, _assert_safe_to_show, project  # noqa: F401

_METHODS = [*server._METHODS, "no/such", "notifications/initialized", "notifications/cancelled"]
_TEXTS = st.sampled_from(["", "sessions", SESSIONS, EVIL, "onrecord://project/decision/x", "../..", "\0", "\ud800"])


def _params() -> st.SearchStrategy[Any]:
    names = st.sampled_from(["search", "show", "recall", "save", "supersede", "review", "nope"])
    keys = {argument.name for tool in tools.TOOLS for argument in tool.arguments}
    arguments = st.dictionaries(st.sampled_from(sorted(keys)), _TEXTS | any_json, max_size=4)
    whole = {
        "name": names,
        "arguments": arguments,
        "uri": _TEXTS,
        "protocolVersion": st.sampled_from(["", *HANDSHAKE]),
        "requestId": st.integers(0, 9),
        "_meta": st.sampled_from([None, {}, envelope(), envelope("1")]),
        "cursor": st.none() | _TEXTS,
    }
    return st.fixed_dictionaries({}, optional=whole) | any_json


_requests = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(_METHODS)}, optional={"params": _params(), "id": st.just(0)}
)
_junk = any_json | st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result"]), any_json)
_lines = st.lists(_requests | st.lists(_requests, max_size=3) | _junk | st.binary(max_size=30), max_size=8)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sequences")
    known_project(folder, ("decision", SIX["decision"]))
    return folder


def _numbered(value: Any, number: list[int]) -> Any:
    """Return the messages with a unique id for each request."""
    if isinstance(value, list):
        return [_numbered(message, number) for message in value]
    if isinstance(value, dict) and value.get("id") == 0 and value.get("jsonrpc") == "2.0":
        number[0] += 1
        return {**value, "id": number[0]}
    return value


def _exchange(folder: Path, lines: list[bytes]) -> list[Any]:
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(b"\n".join(lines))
        source.seek(0)
        assert server.Server(Pipe(source.fileno(), sink.fileno()), str(folder)).run() == 0
        sink.seek(0)
        return [json.loads(line) for line in sink]


@given(_lines, st.sampled_from(["", *HANDSHAKE]))
def test_each_request_gets_one_answer_and_nothing_else_does(store, sent, version):
    number = [0]
    numbered = [message if isinstance(message, bytes) else _numbered(message, number) for message in sent]
    first = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {"protocolVersion": version}}
    lines = [
        message.replace(b"\n", b" ") if isinstance(message, bytes) else json.dumps(message).encode()
        for message in numbered
    ]
    answers = _exchange(store, [*([json.dumps(first).encode()] if version else []), *lines])

    single = [answer for line in answers for answer in (line if isinstance(line, list) else [line])]
    for answer in single:
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
        assert answer.get("error", {}).get("code") != -32603, answer
    ids = [answer["id"] for answer in single if answer["id"] is not None]
    asking = [
        message
        for message in numbered
        if isinstance(message, dict) and not ("result" in message and "method" not in message)
    ]
    top = [message["id"] for message in asking if type(message.get("id")) is int]
    cancelled = {
        message["params"].get("requestId")
        for message in numbered
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled" and "id" not in message
        if isinstance(message.get("params"), dict)
    }
    for message in set(top) - cancelled:
        assert ids.count(message) == top.count(message), message


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_ten_thousand_requests_leave_nothing_behind(store):
    """The server's memory and open files after 10,000 requests are those after 1,000."""
    with Client(store, version="2025-06-18") as client:
        about = Path(f"/proc/{client.process.pid}")
        sizes = []
        for rounds in (10, 90):
            for _ in range(rounds):
                others = (
                    client.message("tools/call", name="search", arguments={"query": "sessions"}),
                    client.message("tools/call", name="show", arguments={"id": "sessions"}),
                )
                sent = [*(client.message("ping") for _ in range(98)), *others]
                client.send(b"".join(json.dumps(message).encode() + b"\n" for message in sent))
                assert [client.receive()["id"] for _ in sent] == [message["id"] for message in sent]
            memory = int((about / "status").read_text().split("VmRSS:")[1].split()[0])
            sizes.append((memory, len(list((about / "fd").iterdir()))))

    assert sizes[1][1] == sizes[0][1]
    assert sizes[1][0] < sizes[0][0] * 1.1 + 2_000


def test_drafts_and_commands_that_race_lose_nothing(tmp_path):
    folder = tmp_path / "project"
    known_project(folder, ("decision", SIX["decision"]))
    content = {"context": "c", "rationale": ["r"]}
    script = (
        "import sys, onrecord; opened = onrecord.open(sys.argv[1])\n"
        "fields = {'context': 'c', 'rationale': ['r']}\n"
        "for n in range(12): opened.save('decision', {'title': f'Typed {n}', 'decision': f'd{n}', **fields})"
    )
    source = str(Path(onrecord.__file__).parents[1])
    writer = subprocess.Popen((sys.executable, "-c", script, str(folder)), env={"PYTHONPATH": source, "PATH": ""})
    with Client(folder, version="2025-06-18") as first, Client(folder, version=STATELESS) as two:
        for number in range(12):
            for name, client in (("one", first), ("two", two)):
                fields = {**content, "decision": f"{name} {number}"}
                arguments = {"category": "decision", "title": f"{name} {number}", "content": fields, "force": True}
                client.send(client.message("tools/call", name="save", arguments=arguments))
        for client in (first, two):
            for _ in range(12):
                assert client.receive()["result"]["isError"] is False
    assert writer.wait(timeout=60) == 0

    store = onrecord.open(str(folder)).store
    assert sorted(entry.memory.id for entry in store.entries() if entry.memory.id.startswith("typed")) == sorted(
        f"typed-{number}" for number in range(12)
    )
    assert len(Inbox(str(folder / paths.STORE)).drafts()) == 24
    assert not store.is_interrupted


def test_hostile_records_reach_no_agent_raw(project):  # noqa: F811
    """The project of tests/test_untrusted_text.py: every text in it tries to pass for something else."""
    calls = [
        ("recall", {"task": "users lose their login state after a deploy, where do we keep sessions?"}),
        ("search", {"query": "sessions postgres", "include_retired": True}),
        ("search", {"query": EVIL}),
        ("show", {"id": SESSIONS}),
        ("show", {"id": EVIL}),
        ("save", {"category": "decision", "title": EVIL, "content": {EVIL: EVIL}}),
        (
            "save",
            {
                "category": "decision",
                "title": "T",
                "content": dict.fromkeys(("context", "decision"), EVIL) | {"rationale": [EVIL]},
            },
        ),
        ("supersede", {"id": EVIL, "category": "decision", "title": "T", "content": {}}),
    ]
    records = [entry.path for entry in onrecord.open(str(project.root)).store.entries()]
    calls += [("show", {"id": path}) for path in records]
    texts: list[str] = []
    with Client(project.root, version="2025-11-25") as client:
        for name, arguments in calls:
            result = client.call(name, **arguments)
            texts += [result["content"][0]["text"], *_texts(result.get("structuredContent", {}))]

    assert len(records) >= 6
    for text in texts:
        _assert_safe_to_show(text)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *_texts(item))]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
