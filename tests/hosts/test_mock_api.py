"""The mock of the model APIs: each sends a text and a tool call, streamed and whole."""

from __future__ import annotations

import gzip
import http.client
import json
import urllib.request
from typing import Any, Optional

import pytest

from tests.hosts.mock_api import MockApi
from tests.hosts.model_request import ModelRequest, Tool

CALL = Tool("look", {"at": "it"})
TOOLS = [{"name": "look"}]
APIS = {
    "/v1/messages": {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]},
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "hello"}]},
    "/v1/responses": {"input": [{"role": "user", "content": [{"type": "input_text", "text": "hello"}]}]},
    "/v1beta/models/m:generateContent": {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("path", "body"), APIS.items())
def test_every_api_answers_a_text_and_a_tool_call(path: str, body: dict[str, Any], stream: bool) -> None:
    with MockApi([CALL, "Found."]) as api:
        sent = {**body, "tools": TOOLS, "stream": stream}
        where = api.base_url + (path.replace(":g", ":streamG") if stream else path)
        tool_reply, text_reply = _post(where, sent), _post(where, sent)

    assert '"look"' in tool_reply and "Found." not in tool_reply
    assert "Found." in text_reply and '"look"' not in text_reply
    assert [(request.kind, request.texts) for request in api.requests] == [("main", ["hello"])] * 2


def test_a_request_without_tools_takes_no_reply_of_the_script() -> None:
    with MockApi(["Scripted."]) as api:
        side = _post(api.base_url + "/v1/chat/completions", APIS["/v1/chat/completions"])
        main = _post(api.base_url + "/v1/chat/completions", {**APIS["/v1/chat/completions"], "tools": TOOLS})

    assert ("OK" in side, "Scripted." in main) == (True, True)


def test_what_is_not_a_model_takes_no_reply_either() -> None:
    with MockApi(["Scripted."]) as api:
        tokens = _post(api.base_url + "/v1/messages/count_tokens", {"tools": TOOLS})
        other = _post(api.base_url + "/api/event_logging?beta=true", {})

    assert (json.loads(tokens)["input_tokens"], other, api.requests) == (10, "{}", [])


def test_a_wanted_shape_is_filled_in() -> None:
    schema = {"type": "OBJECT", "properties": {"next": {"enum": ["user", "model"]}, "sure": {"type": "boolean"}}}
    body = {"contents": [], "generationConfig": {"responseSchema": schema}}

    with MockApi() as api:
        answer = json.loads(_post(api.base_url + "/v1beta/models/m:generateContent", body))

    (candidate,) = answer["candidates"]
    assert json.loads(candidate["content"]["parts"][0]["text"]) == {"next": "user", "sure": False}


def test_a_request_in_pieces_or_packed_is_read() -> None:
    body = json.dumps({**APIS["/v1/messages"], "tools": TOOLS}).encode()

    with MockApi() as api:
        line = http.client.HTTPConnection(api.base_url.removeprefix("http://"), timeout=60)
        line.request("POST", "/v1/messages", iter([body[:10], body[10:]]), encode_chunked=True)
        line.getresponse().read()
        line.close()
        _post(api.base_url + "/v1/messages", gzip.compress(body), {"Content-Encoding": "gzip"})

    assert [request.texts for request in api.requests] == [["hello"]] * 2


def test_what_the_model_called_is_not_what_it_was_told() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"at": "secret"}'}
    result = {"type": "function_call_output", "call_id": "c", "output": "seen"}
    request = ModelRequest({}, {"instructions": "be kind", "input": [call, result]})

    assert request.texts == ["be kind", "seen"]


def _post(url: str, body: object, headers: Optional[dict[str, str]] = None) -> str:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers or {}), timeout=120) as answer:
        return str(answer.read().decode())
