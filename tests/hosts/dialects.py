"""Responses in the form of each model API: Messages, chat completions, Responses and Gemini, streamed or whole."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Callable, NamedTuple, Optional, Union

from tests.hosts.model_request import Json, Tool

Reply = Union[str, Tool]

_count = iter(range(1, 1 << 30))


class Payload(NamedTuple):
    """The body of an HTTP response."""

    kind: str
    data: bytes


def answer(path: str, body: Json, reply: Callable[[], Reply]) -> Payload:
    """Return the response of the API at `path`; `reply` is called only if that is the path of a model."""
    for ending, write in _WRITERS.items():
        if path.endswith(ending):
            return write(body, reply())
    return whole({"input_tokens": 10, "totalTokens": 10} if "tokens" in path.lower() else {})


def whole(content: object) -> Payload:
    return Payload("application/json", json.dumps(content).encode())


def _stream(events: Iterable[Json], *, named: bool = True, end: str = "") -> Payload:
    lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return Payload("text/event-stream", ("".join(lines) + end).encode())


def _messages(body: Json, reply: Reply) -> Payload:
    number = next(_count)
    block: Json = {"type": "text", "text": reply}
    empty: Json = {"text": ""}
    delta: Json = {"type": "text_delta", "text": reply}
    if isinstance(reply, Tool):
        block = {"type": "tool_use", "id": f"toolu_{number:08d}", "name": reply.name, "input": reply.input}
        empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(reply.input)}
    end = {"stop_reason": "tool_use" if isinstance(reply, Tool) else "end_turn", "stop_sequence": None}
    message = {
        "id": f"msg_{number:08d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "mock"),
        "content": [block],
        **end,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    if body.get("stream") is not True:
        return whole(message)
    return _stream(
        [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
    )


def _chat(body: Json, reply: Reply) -> Payload:
    message: Json = {"role": "assistant", "content": reply}
    finish = "stop"
    if isinstance(reply, Tool):
        call = {"name": reply.name, "arguments": json.dumps(reply.input)}
        tool_call = {"index": 0, "id": f"call_{next(_count)}", "type": "function", "function": call}
        message, finish = {"role": "assistant", "content": None, "tool_calls": [tool_call]}, "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    base = {"id": f"chatcmpl-{next(_count)}", "created": 1, "model": body.get("model", "mock")}
    if body.get("stream") is not True:
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return whole({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
    base["object"] = "chat.completion.chunk"
    chunks: list[Json] = [
        {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**base, "choices": [], "usage": usage},
    ]
    return _stream(chunks, named=False, end="data: [DONE]\n\n")


def _responses(body: Json, reply: Reply) -> Payload:
    item = _item(reply)
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage_details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    base = {"id": f"resp_{next(_count)}", "object": "response", "created_at": 1, "model": body.get("model", "mock")}
    response = {**base, "status": "completed", "output": [item], "usage": {**usage, **usage_details}}
    if body.get("stream") is not True:
        return whole(response)
    events: list[Json] = [
        {"type": "response.created", "response": {**base, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
    ]
    if isinstance(reply, str):
        position = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events.append({"type": "response.output_text.delta", **position, "delta": reply})
    events += [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return _stream(events)


def _item(reply: Reply) -> Json:
    """Return a message or a tool call in the form of the Responses API."""
    number = next(_count)
    if isinstance(reply, str):
        text = {"type": "output_text", "text": reply, "annotations": []}
        return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}
    call = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": reply.name, "status": "completed"}
    if isinstance(reply.input, str):
        return {"type": "custom_tool_call", **call, "input": reply.input}
    space = {"namespace": reply.namespace} if reply.namespace else {}
    return {"type": "function_call", **call, **space, "arguments": json.dumps(reply.input)}


def _gemini(body: Json, reply: Reply) -> Payload:
    config = body.get("generationConfig") or {}
    schema: Optional[Json] = config.get("responseJsonSchema") or config.get("responseSchema")
    part: Json = {"text": json.dumps(_example(schema)) if schema else reply}
    if isinstance(reply, Tool):
        part = {"functionCall": {"id": f"call_{next(_count)}", "name": reply.name, "args": reply.input}}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return whole({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"})


def _gemini_stream(body: Json, reply: Reply) -> Payload:
    return Payload("text/event-stream", b"data: " + _gemini(body, reply).data + b"\n\n")


def _example(schema: Json) -> object:
    """Return the simplest value that a JSON Schema allows."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "object")).lower()
    if kind == "object":
        return {key: _example(value) for key, value in (schema.get("properties") or {}).items()}
    return {"array": [], "string": "x", "number": 1, "integer": 1, "boolean": False}.get(kind)


_WRITERS: dict[str, Callable[[Json, Reply], Payload]] = {
    "/messages": _messages,
    "/chat/completions": _chat,
    "/responses": _responses,
    ":streamGenerateContent": _gemini_stream,
    ":generateContent": _gemini,
}
