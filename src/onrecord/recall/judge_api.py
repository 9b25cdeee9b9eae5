"""The model the user has chosen, and one question to it over HTTP, in the Anthropic or the OpenAI shape.

Model, address and key come from the user's own config and environment, never from a project.
"""

from __future__ import annotations

import os
import time

from onrecord import coldstart, paths, state_file, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.errors import ModelFailed, NoModel
from onrecord.recall.judge import SCHEMA, SYSTEM
from onrecord.state_file import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onrecord.settings import Settings

SMALL = "claude-haiku-5-5"
MOST_TOKENS = 2_048  # a few for the verdict, the rest for the thinking before it
LARGEST_ANSWER = 1_000_000  # bytes; a verdict has a hundred, the thinking before it a few thousand
_HOMES = {"anthropic": "https://api.anthropic.com/", "openai": "https://api.openai.com/v1/"}
_PATHS = {"anthropic": "/messages", "openai": "/chat/completions"}
_BASES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}
_KEYS = {"anthropic": ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"), "openai": ("OPENAI_API_KEY",)}
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "onrecord"}
_TAKE_EFFORT = ("claude-haiku-5", "claude-sonnet-5", "claude-opus-5")
_TOKENS_IN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "prompt_tokens")
_TOKENS_OUT = ("output_tokens", "completion_tokens")
LATE = "no answer in time"
_CHECK = "check the endpoint and the network: onrecord judge test"


class Model(NamedTuple):
    """A model that can be asked."""

    provider: str
    name: str
    url: str
    headers: Mapping[str, str]
    key_from: str = ""

    def __repr__(self) -> str:
        # The headers hold the key, which must not get into a traceback.
        return f"{self.name} at {self.place}"

    @property
    def place(self) -> str:
        """The address without its query, which may carry a credential."""
        return self.url.partition("?")[0]

    @property
    def hash(self) -> str:
        return coldstart.content_hash(f"{self.provider} {self.name} {self.url}".encode("utf-8", "replace"))


def model(settings: Settings, environ: Mapping[str, str] = os.environ) -> Model:
    """The model the user has chosen; NoModel if it cannot be asked as things are."""
    provider = settings.text("retrieval.judge.provider")
    own = settings.text("retrieval.judge.endpoint")
    url = _address(provider, own or environ.get(_BASES[provider], "") or _HOMES[provider])
    is_home = url.startswith(tuple(_HOMES.values()))
    # The usual key was made for the usual place: an endpoint of one's own needs a key named for it.
    usual = _KEYS[provider] if is_home or not own else ()
    key_from, key = _key(settings.text("retrieval.judge.api_key_env"), usual, environ, needed=is_home)
    small = environ.get("ANTHROPIC_DEFAULT_HAIKU_MODEL", "") or SMALL
    name = settings.text("retrieval.judge.model") or (small if provider == "anthropic" else "")
    if not name:
        raise NoModel(
            "no model is named for the judge",
            fix="set one: onrecord config retrieval.judge.model",
        )
    headers = {**_HEADERS, "anthropic-version": "2023-06-01"} if provider == "anthropic" else dict(_HEADERS)
    if key:
        is_token = provider == "openai" or "TOKEN" in key_from
        headers["Authorization" if is_token else "x-api-key"] = f"Bearer {key}" if is_token else key
    return Model(provider, name, url, headers, key_from)


def ask(model: Model, question: str, deadline: float) -> tuple[str, int, int]:
    """The answer's text, its tokens in and out; or ModelFailed. To end an answer that drips is the waiting thread's."""
    marker = f"plain-{model.hash}"
    is_plain = is_marked(marker)
    try:
        answer = _post(model, _body(model, question, with_schema=not is_plain), deadline)
    except ModelFailed as refusal:
        if is_plain or refusal.http_status not in (400, 422):
            raise
        # Some servers and models refuse a schema or an effort; the question alone asks for JSON as well.
        answer = _post(model, _body(model, question, with_schema=False), deadline)
        mark(marker)
    usage = answer.get("usage")
    return _text(model.provider, answer), _sum(usage, _TOKENS_IN), _sum(usage, _TOKENS_OUT)


def _address(provider: str, base: str) -> str:
    """The full address of the API below a base. A base that names the API itself is taken as it is."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(base)
        is_usable = parts.hostname and parts.port != 0 and parts.scheme in ("http", "https") and "@" not in parts.netloc
    except ValueError:
        is_usable = False
    if not is_usable or not _is_plain(base):
        fix = "set it to an https address without user or password: onrecord config retrieval.judge.endpoint"
        raise NoModel("the judge's endpoint is not an http or https address", fix=fix)
    path, last = parts.path.rstrip("/"), _PATHS[provider]
    if not path.endswith(last):
        is_versioned = path.endswith("/v1") or (provider == "openai" and path)
        path += last if is_versioned else f"/v1{last}"
    return parts._replace(path=path, fragment="").geturl()


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _key(named: str, usual: tuple[str, ...], environ: Mapping[str, str], *, needed: bool) -> tuple[str, str]:
    """The variable that holds the key and the key; two empty texts where none is needed."""
    if named and not (named.isupper() and named.isidentifier() and named.isascii()):
        # Somebody may have put the key itself there, so it is not repeated.
        fix = "name the variable that holds the key; a key never belongs in a file"
        raise NoModel("retrieval.judge.api_key_env is not the name of an environment variable in capitals", fix=fix)
    names = (named,) if named else usual
    name = next((name for name in names if environ.get(name, "").strip()), "")
    if not name and (named or needed):
        last = names[-1]
        raise NoModel(f"there is no key for the judge: {last} is not set", fix=f"export {last}, or turn the judge off")
    key = environ.get(name, "").strip()
    if not _is_plain(key):
        raise NoModel(f"what {name} holds cannot be a key", fix=f"look for spaces or line breaks in {name}")
    return name, key


def _body(model: Model, question: str, *, with_schema: bool) -> dict[str, Any]:
    """The request. No temperature and no prefill: newer models refuse both."""
    messages = [{"role": "user", "content": question}]
    body: dict[str, Any] = {"model": model.name, "messages": messages}
    if model.provider == "anthropic":
        body.update(max_tokens=MOST_TOKENS, system=SYSTEM)
        effort = {"effort": "low"} if any(part in model.name for part in _TAKE_EFFORT) else {}
        output: dict[str, Any] = {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, **effort}}
    else:
        messages.insert(0, {"role": "system", "content": SYSTEM})
        most = "max_completion_tokens" if model.url.startswith(_HOMES["openai"]) else "max_tokens"
        body.update({most: MOST_TOKENS, "stream": False})
        shape = {"name": "verdict", "strict": True, "schema": SCHEMA}
        output = {"response_format": {"type": "json_schema", "json_schema": shape}}
    return {**body, **output} if with_schema else body


def _post(model: Model, body: dict[str, Any], deadline: float) -> dict[str, Any]:
    """The answer to a body sent as JSON, if it is whole, of a bounded size and JSON; ModelFailed otherwise."""
    import json

    status, target, data = _exchange(model, json.dumps(body).encode("ascii"), deadline)
    if not 200 <= status < 300:
        fix = "check model, endpoint and key; to see what the server said: onrecord judge test"
        if status < 400:
            fix = f"it is a redirect, which is not followed: if it is right, set retrieval.judge.endpoint to {target}"
        elif status == 429 or status >= 500:
            fix = "the provider is busy or has trouble: wait"
        # The server's own words may repeat the key, so they are kept apart.
        raise ModelFailed(f"HTTP {status}", fix=fix, http_status=status, detail=data[:4_000].decode("utf-8", "replace"))
    if len(data) > LARGEST_ANSWER:
        raise ModelFailed(f"the answer is larger than {LARGEST_ANSWER // 1_000_000} MB", fix=_CHECK)
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ModelFailed("the answer is not a JSON object", fix="check that the endpoint is an API of that shape")
    return answer


def _exchange(model: Model, body: bytes, deadline: float) -> tuple[int, str | None, bytes]:
    """Status, target of a redirect, and body of the answer. urllib takes 40 to 60 ms to load, so it is loaded here."""
    from http.client import HTTPException, IncompleteRead
    from urllib.error import URLError
    from urllib.parse import urlsplit
    from urllib.request import HTTPErrorProcessor, ProxyHandler, Request, build_opener, getproxies_environment

    # No redirect is followed: key and prompt go where the user sent them and nowhere else.
    answer_as_it_is = dict.fromkeys(("http_response", "https_response"), lambda self, request, response: response)
    is_here = urlsplit(model.url).hostname in ("localhost", "127.0.0.1", "::1")
    proxies = ProxyHandler({} if is_here else getproxies_environment())
    opener = build_opener(proxies, type("AsItIs", (HTTPErrorProcessor,), answer_as_it_is))
    try:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        with opener.open(Request(model.url, body, dict(model.headers), method="POST"), timeout=left) as response:
            data = response.read(LARGEST_ANSWER + 1)
            if response.length and len(data) <= LARGEST_ANSWER:
                raise IncompleteRead(b"")
            target = urlsplit(response.headers.get("Location", "")).hostname
    except (OSError, HTTPException, ValueError) as error:
        inner = error.reason if isinstance(error, URLError) else error
        # Before Python 3.10 a socket's time-out had a class of its own.
        if isinstance(inner, TimeoutError) or type(inner).__name__ == "timeout":
            raise ModelFailed(LATE, fix=_CHECK) from error
        words = inner.strerror if isinstance(inner, OSError) else ""
        raise ModelFailed(f"no answer: {words or type(inner).__name__}", fix=_CHECK) from error
    return response.status, target, data


def _text(provider: str, answer: dict[str, Any]) -> str:
    """The text of an answer. Thinking may come first, so text is picked by its type."""
    choices = answer.get("choices") if provider == "openai" else [{"message": answer}]
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise ModelFailed("the answer has no message", fix="check retrieval.judge.provider and the endpoint")
    if message.get("stop_reason") == "refusal" or message.get("refusal"):
        raise ModelFailed("the model refused to answer", fix="nothing to do; another model may answer")
    blocks = message.get("content")
    if provider == "openai" and isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    dicts = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    texts = [block.get("text") for block in dicts if block.get("type") == "text"]
    text = "".join(text for text in texts if isinstance(text, str))
    if not text.strip():
        raise ModelFailed("the answer has no text", fix="the model may have spent its tokens on thinking: try another")
    return text


def _sum(usage: object, names: tuple[str, ...]) -> int:
    values = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    return sum(value for value in values if isinstance(value, int) and value > 0)


_LARGEST = 200_000  # bytes: one for each request of a day (at most 100,000)


def folder() -> str:
    return os.path.join(paths.state_dir(), "judge")


def claim(requests: int, cap: int) -> bool:
    """Count so many requests; whether they are within the cap. Racing prompts cannot overdraw it."""
    end = _requests().append("." * requests)
    if end < 0:
        state_file.log_failure("judge", "requests cannot be counted, so none is sent")
        return False
    if end - requests <= cap < end:
        reached = f"the daily cap of {cap} requests (retrieval.judge.daily_cap) is reached"
        state_file.log_failure("judge", f"{reached}: until midnight UTC ranking decides alone")
    return end <= cap


def used() -> int:
    """Requests counted today."""
    return len(_requests().read())


def mark(name: str) -> bool:
    """Leave a marker for a month; True if it was not there yet."""
    return _file(name).append(".") <= 1


def is_marked(name: str) -> bool:
    return os.path.exists(_file(name).path)


def _requests() -> StateFile:
    return _file(f"requests-{timestamps.now()[:10]}", shrinks=False)


def _file(name: str, *, shrinks: bool = True) -> StateFile:
    return StateFile(os.path.join(folder(), name), _LARGEST, "judge", state_file.newer_half if shrinks else None)
