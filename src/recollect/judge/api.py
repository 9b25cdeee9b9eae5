"""Conversation: one question to a language model and its answer, in the Anthropic or the OpenAI shape."""

from __future__ import annotations

import os
import time

from recollect import coldstart, paths
from recollect.errors import ModelFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ROOM = 2_048
"""Tokens the answer may take: a few for the verdict, the rest for the thinking before it."""

_TAKES_EFFORT = ("claude-haiku-5", "claude-sonnet-5", "claude-opus-5")


class Model:
    """A model that can be asked: what it is called, where it is, and what opens it."""

    __slots__ = ("headers", "key_from", "name", "prices", "provider", "url")

    def __init__(
        self,
        provider: str,
        name: str,
        url: str,
        *,
        headers: Mapping[str, str],
        key_from: str = "",
        prices: tuple[float, float] | None = None,
    ) -> None:
        self.provider = provider
        self.name = name
        self.url = url
        self.headers = headers
        self.key_from = key_from
        self.prices = prices

    @property
    def place(self) -> str:
        """The address without its query, which may carry a credential."""
        return self.url.partition("?")[0]

    @property
    def fingerprint(self) -> str:
        return coldstart.digest(f"{self.provider} {self.name} {self.url}".encode("utf-8", "replace"))

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Dollars for so many tokens; None where the price is not known."""
        if self.prices is None:
            return None
        return (tokens_in * self.prices[0] + tokens_out * self.prices[1]) / 1_000_000


class Reply:
    """What a model said, what it cost in tokens, and how long it took."""

    __slots__ = ("seconds", "text", "tokens_in", "tokens_out")

    def __init__(self, text: str, tokens_in: int, tokens_out: int, seconds: float) -> None:
        self.text = text
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out
        self.seconds = seconds


def ask(model: Model, system: str, question: str, schema: Mapping[str, Any], deadline: float) -> Reply:
    """One question and its answer; ModelFailed if there is none by the deadline."""
    started = time.monotonic()
    marker = _marker(model)
    is_plain = os.path.exists(marker)
    try:
        raw = _exchange(model, _body(model, system, question, None if is_plain else schema), deadline)
    except ModelFailed as refusal:
        if is_plain or refusal.status not in (400, 422):
            raise
        # Some servers and models refuse a schema or an effort; the question alone asks for JSON as well.
        raw = _exchange(model, _body(model, system, question, None), deadline)
        _touch(marker)
    text, tokens_in, tokens_out = _READERS[model.provider](raw)
    return Reply(text, tokens_in, tokens_out, time.monotonic() - started)


def _body(model: Model, system: str, question: str, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The request. No temperature and no prefill: newer models refuse both."""
    asked = {"role": "user", "content": question}
    body: dict[str, Any]
    if model.provider == "anthropic":
        body = {"model": model.name, "max_tokens": ROOM, "system": system, "messages": [asked]}
        return {**body, "output_config": _output(model.name, schema)} if schema else body
    room = "max_completion_tokens" if "://api.openai.com/" in model.url else "max_tokens"
    body = {"model": model.name, room: ROOM, "messages": [{"role": "system", "content": system}, asked]}
    if schema:
        shape = {"name": "verdict", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    return {**body, "stream": False}


def _output(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": schema}}
    if any(known in name for known in _TAKES_EFFORT):
        output["effort"] = "low"
    return output


def _exchange(model: Model, body: dict[str, Any], deadline: float) -> dict[str, Any]:
    import json

    from recollect.judge import http

    data = http.send(model.url, model.headers, json.dumps(body).encode("ascii"), deadline)
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ModelFailed("the answer is not a JSON object", fix="check that the endpoint is an API of that shape")
    return answer


def _read_anthropic(answer: dict[str, Any]) -> tuple[str, int, int]:
    """Thinking may come first, so the text is picked by its type."""
    if answer.get("stop_reason") == "refusal":
        raise _refusal()
    text = "".join(_texts(answer.get("content")))
    usage = answer.get("usage")
    cached = _count(usage, "cache_creation_input_tokens") + _count(usage, "cache_read_input_tokens")
    return _present(text), _count(usage, "input_tokens") + cached, _count(usage, "output_tokens")


def _read_openai(answer: dict[str, Any]) -> tuple[str, int, int]:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    said = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(said, dict):
        raise ModelFailed("the answer has no message", fix="check retrieval.judge.provider and the endpoint")
    if said.get("refusal"):
        raise _refusal()
    content = said.get("content")
    text = content if isinstance(content, str) else "".join(_texts(content))
    usage = answer.get("usage")
    return _present(text), _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")


_READERS = {"anthropic": _read_anthropic, "openai": _read_openai}


def _texts(blocks: object) -> list[str]:
    found = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    return [block["text"] for block in found if block.get("type") == "text" and isinstance(block.get("text"), str)]


def _present(text: str) -> str:
    if not text.strip():
        raise ModelFailed("the answer has no text", fix="the model may have spent its room on thinking: try another")
    return text


def _refusal() -> ModelFailed:
    return ModelFailed("the model refused to answer", fix="nothing to do; another model may answer")


def _count(usage: object, key: str) -> int:
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _marker(model: Model) -> str:
    """The file whose presence says that a model takes plain requests only; it is forgotten after a month."""
    return os.path.join(paths.state_dir(), "judge", f"plain-{model.fingerprint}")


def _touch(path: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError:
        # Then the next request is refused once more, and answered all the same.
        pass
