"""`onrecord mcp` as a client of each version sees it: agreement on a version, errors, batches, the end."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

import onrecord
from onrecord.mcp import messages as pipe
from tests.mcp.client import BIN, HANDSHAKE, STATELESS, Client, envelope, text_of
from tests.mcp.conftest import SESSIONS

VERSIONS = (*HANDSHAKE, STATELESS)


@pytest.mark.parametrize("version", HANDSHAKE)
def test_a_client_gets_the_version_it_asks_for(project, version):
    with Client(project, version=version) as client:
        assert client.greeting["protocolVersion"] == version
        assert client.greeting["serverInfo"]["version"] == onrecord.__version__
        assert set(client.greeting["capabilities"]) == {"tools"}
        assert client.request("ping") == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize("version", ["1999-01-01", STATELESS, "x" * 1000])
def test_a_client_with_another_version_gets_the_newest_that_has_a_handshake(project, version):
    with Client(project) as client:
        assert client.initialize(version)["protocolVersion"] == "2025-11-25"


def test_the_stateless_version_is_discovered_and_has_no_handshake(project):
    with Client(project, version=STATELESS) as client:
        result = client.request("server/discover")["result"]
        gone = [client.request(method)["error"]["code"] for method in ("initialize", "ping", "logging/setLevel")]

    assert result["supportedVersions"] == [STATELESS, *reversed(HANDSHAKE)]
    assert (result["resultType"], result["ttlMs"] > 0, result["cacheScope"]) == ("complete", True, "public")
    assert result["_meta"] == {
        "io.modelcontextprotocol/serverInfo": {
            "name": "onrecord",
            "title": "Onrecord",
            "version": onrecord.__version__,
        }
    }
    assert gone == [-32601] * 3


def test_each_request_of_the_stateless_version_names_its_version(project):
    with Client(project) as client:
        unknown = client.request("tools/list", _meta=envelope("2099-01-01"))["error"]
        lacking = client.request("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": STATELESS})["error"]
        odd = client.request("tools/list", _meta={**envelope(), "io.modelcontextprotocol/protocolVersion": 7})["error"]
        nothing = client.request("tools/list")["error"]
        tools = client.request("tools/list", _meta=envelope())["result"]

    assert unknown["code"] == -32022
    assert unknown["data"] == {"supported": [STATELESS, *reversed(HANDSHAKE)], "requested": "2099-01-01"}
    assert [error["code"] for error in (lacking, odd, nothing)] == [-32602] * 3
    assert tools["resultType"] == "complete"


def test_one_process_serves_both_kinds(project):
    with Client(project, version="2025-06-18") as client:
        stateless = client.request("tools/list", _meta=envelope())["result"]
        earlier = client.request("tools/list")["result"]

    assert stateless["tools"] == earlier["tools"]
    assert set(earlier) == {"tools"}


@pytest.mark.parametrize("version", VERSIONS)
def test_what_cannot_be_answered_gets_the_code_for_it(project, version):
    with Client(project, version=version) as client:
        errors = {
            "no/such": client.request("no/such"),
            "no tool": client.request("tools/call", name="nope"),
            "no name": client.request("tools/call"),
            "bad arguments": client.request("tools/call", name="search", arguments=[]),
            "no page": client.request("tools/list", cursor="7"),
            "no prompts": client.request("prompts/list"),
            "no resources": client.request("resources/list"),
        }

    codes = {name: answer["error"]["code"] for name, answer in errors.items()}
    unknown = ("no/such", "no prompts", "no resources")
    assert codes == {**dict.fromkeys(codes, -32602), **dict.fromkeys(unknown, -32601)}


@pytest.mark.parametrize(
    ("sent", "code", "answered"),
    [
        (b"{nonsense\n", -32700, None),
        (b"\xff\xfe{}\n", -32700, None),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}\n', -32600, None),
        (b"[" * 100_000 + b"\n", -32700, None),
        (b'"text"\n', -32600, None),
        (b"[]\n", -32600, None),
        (b'[{"jsonrpc":"2.0","id":5,"method":"ping"}]\n', -32600, None),
        (b'{"id":5,"method":"ping"}\n', -32600, 5),
        (b'{"jsonrpc":"2.0","id":5}\n', -32600, 5),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', -32600, None),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}\n', -32602, "a"),
    ],
)
def test_what_is_no_request_gets_an_error_and_the_next_one_is_answered(client, sent, code, answered):
    client.send(sent)

    error = client.receive()
    assert (error["error"]["code"], error["id"]) == (code, answered)
    assert client.request("ping")["result"] == {}


def test_a_line_without_end_is_skipped_and_not_kept(client):
    client.send(b'"' + b"x" * (pipe.MAX_MESSAGE_BYTES + 10))
    client.send(b'"\n')

    assert client.receive()["error"]["code"] == -32600
    assert client.request("ping")["result"] == {}


def test_notifications_are_never_answered(client):
    for method in ("notifications/initialized", "notifications/cancelled", "notifications/unknown", "tools/list"):
        client.send({"jsonrpc": "2.0", "method": method})
        client.send({"jsonrpc": "2.0", "method": method, "params": [1]})
    client.send({"jsonrpc": "2.0", "id": 99, "result": {"roots": []}})
    client.send(b"\n  \n")

    assert client.request("ping")["result"] == {}
    assert client.end() == (0, [], "")


def test_the_one_version_with_batches_answers_them_in_one_line(project):
    with Client(project, version="2025-03-26") as client:
        ping = {"jsonrpc": "2.0", "id": "a", "method": "ping"}
        client.send([ping, {"jsonrpc": "2.0", "method": "x"}, 7, {**ping, "id": "b", "method": "nope"}])
        answers = client.receive()
        client.send([{"jsonrpc": "2.0", "method": "x"}])
        client.send([])
        empty = client.receive()

    assert [answer["id"] for answer in answers] == ["a", None, "b"]
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, -32600, -32601]
    assert (empty["id"], empty["error"]["code"]) == (None, -32600)


def test_it_goes_on_where_its_folder_is_gone(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    with Client(folder) as client:
        folder.rmdir()
        client.initialize("2025-06-18")
        assert client.call("search", query="x")["isError"] is True


def test_a_client_that_dies_is_no_error(project):
    """Node gives its servers sockets, and one that is closed while something is unread is reset."""
    import socket
    import subprocess

    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        subprocess.Popen(
            (sys.executable, str(BIN), "mcp"), cwd=project, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
        ) as server,
    ):
        ours.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert ours.recv(10)
        theirs.close()
        ours.close()
        assert server.communicate(timeout=60)[1] == b""
    assert server.returncode == 0


def test_the_first_request_cannot_be_cancelled(project):
    with Client(project) as client:
        first = client.message("initialize", protocolVersion="2025-06-18")
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": first["id"]}}
        client.send(b"".join(json.dumps(message).encode() + b"\n" for message in (first, cancel)))
        assert client.receive()["id"] == first["id"]


def test_a_cancelled_request_is_not_answered_and_a_finished_one_may_be(client):
    slow, other = client.message("tools/call", name="search", arguments={"query": "x"}), client.message("ping")
    cancels = [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": error, "reason": "r"}}
        for error in (slow["id"], 1, "nobody", None, [])
    ]
    client.send(b"".join(json.dumps(message).encode() + b"\n" for message in (slow, other, *cancels)))

    assert client.receive()["id"] == other["id"]
    assert client.request("ping")["id"] > other["id"]
    assert client.end() == (0, [], "")


def test_it_ends_when_its_input_does_and_when_it_is_asked_to(project):
    ended = Client(project, version="2025-06-18").end()
    client = Client(project, version="2025-06-18")
    client.process.send_signal(signal.SIGTERM)

    assert ended == (0, [], "")
    assert client.end() == (-signal.SIGTERM, [], "")


def test_it_ends_when_nobody_reads_its_answers(project):
    client = Client(project, version="2025-06-18")
    client.process.stdout.close()
    client.process.stdin.write(json.dumps(client.message("tools/list")).encode() + b"\n")
    client.process.stdin.close()

    with client.process.stderr as errors:
        assert errors.read() == b""
    assert client.process.wait(timeout=60) == 0


def test_it_needs_next_to_nothing_of_the_environment(project, home):
    with Client(project, version="2025-06-18", env={"PATH": os.defpath, "HOME": str(home)}) as client:
        result = client.call("search", query="where do sessions live")

    assert result["structuredContent"]["results"][0]["id"] == "sessions-live-in-postgres-not-redis"


def test_the_project_is_the_one_that_is_named(project, tmp_path):
    with Client(tmp_path, "--project", str(project), version="2025-06-18") as client:
        assert client.call("show", id=SESSIONS)["structuredContent"]["id"] == SESSIONS


@pytest.mark.parametrize("uri", ["file://{0}/src/carrier", "file://localhost{0}"])
def test_the_project_is_a_root_of_the_client_where_it_starts_us_elsewhere(project, tmp_path, uri):
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    with Client(elsewhere) as client:
        client.initialize("2025-06-18", roots={"listChanged": True})
        request = client.receive()
        roots = ["https://x/y", f"file://{tmp_path}/nowhere", f"file://{tmp_path}/else%20where", uri.format(project)]
        answer = {"roots": [7, {"uri": 7}, *({"uri": root} for root in roots)]}
        client.send({"jsonrpc": "2.0", "id": request["id"], "result": answer})
        record = client.call("show", id=SESSIONS)

    assert request["method"] == "roots/list"
    assert record["structuredContent"]["id"] == SESSIONS


def test_a_call_before_the_roots_have_come_waits_for_them(project, tmp_path):
    """Clients send their first call together with the greeting, or show it to the user meanwhile."""
    with Client(tmp_path) as client:
        client.initialize("2025-06-18", roots={})
        request = client.receive()
        calls = [client.message("tools/call", name="show", arguments={"id": SESSIONS}), client.message("ping")]
        response = {"jsonrpc": "2.0", "id": request["id"], "result": {"roots": [{"uri": f"file://{project}"}]}}
        # At once, so that no pause of this process outlasts the server's patience.
        client.send("".join(f"{json.dumps(message)}\n" for message in (*calls, response)).encode())
        answers = [client.receive() for _ in calls]

    assert [answer["id"] for answer in answers] == [message["id"] for message in calls]
    assert answers[0]["result"]["structuredContent"]["id"] == SESSIONS


def test_an_answer_is_not_waited_for_without_end():
    source, sink = os.pipe()
    connection = pipe.Pipe(source, sink)
    os.write(sink, b'{"id": "mine", "method": "ping"}\n{"id": "other", "result": {}}\n')

    assert connection.response_to("mine", 0.05) is None
    assert connection.response_to("other", 60) == {"id": "other", "result": {}}
    assert connection.take() == {"id": "mine", "method": "ping"}
    os.close(sink)
    assert connection.response_to("mine", 60) is None
    os.close(source)


def test_a_client_that_starts_us_in_a_project_is_not_asked_for_roots(project):
    with Client(project) as client:
        client.initialize("2025-06-18", roots={})
        assert client.request("ping")["result"] == {}


def test_a_folder_that_is_none_is_refused_before_anything_is_read(project):
    process = Client(project, "--project", "/nowhere/at/all").end()

    assert (process[0], process[1]) == (2, [])
    assert "--project" in process[2]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="takes C modules of CPython directly")
def test_the_first_messages_load_next_to_nothing(project):
    from tests.test_layers import too_heavy

    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); sys.argv[1:] = ['mcp']; before = set(sys.modules)\n"
        "from onrecord.__main__ import main; main()\n"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    source = str(Path(onrecord.__file__).parents[1])
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    import subprocess

    process = subprocess.run(
        (sys.executable, "-S", "-E", "-c", script, source),
        input=b"".join(json.dumps(message).encode() + b"\n" for message in messages),
        capture_output=True,
        cwd=project,
        timeout=120,
    )

    assert len(process.stdout.splitlines()) == 2
    loaded = set(process.stderr.decode().split())
    assert too_heavy(loaded) == []
    assert "onrecord.mcp.tools" in loaded
    assert "onrecord.project" not in loaded


def test_a_bug_is_an_error_of_one_request_and_leaves_a_trace(project, monkeypatch):
    import tempfile

    from onrecord import state_file
    from onrecord.mcp import server

    def fail(*_):
        raise ZeroDivisionError("one over nought")

    monkeypatch.setitem(server._METHODS, "ping", fail)
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"no"}\n')
        source.seek(0)
        assert server.Server(pipe.Pipe(source.fileno(), sink.fileno()), str(project)).run() == 0
        sink.seek(0)
        codes = [json.loads(line)["error"]["code"] for line in sink]

    assert codes == [-32603, -32601]
    assert [error for _, _, error in state_file.recent_failures()] == ["ZeroDivisionError: one over nought"]


def test_what_something_prints_does_not_reach_the_client(project):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from onrecord.mcp import server\n"
        "import os; server._METHODS['ping'] = lambda *_: {'x': print('stray'), 'y': os.system('echo child; cat')}\n"
        "server.serve()"
    )
    import subprocess

    process = subprocess.run(
        (sys.executable, "-c", script, str(Path(onrecord.__file__).parents[1])),
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n',
        capture_output=True,
        cwd=project,
        timeout=120,
    )

    assert [json.loads(line)["id"] for line in process.stdout.splitlines()] == [1, 2]
    assert process.stderr.count(b"child") == 2


def test_answers_are_read_by_people_too(client):
    """What a client shows of an error is a sentence."""
    result = client.call("show", id="no-such-record")

    assert result["isError"] is True
    assert text_of(result).startswith("NOT_FOUND: no record 'no-such-record' in ")
