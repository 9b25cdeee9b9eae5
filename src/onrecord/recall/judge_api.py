"""The model that the judge asks: which one it is, one question to it over HTTP, and the count of requests per day.

The HTTP API is that of Anthropic or of OpenAI. Model, address and key come from the user's own configuration and
environment, never from a project.
"""

from __future__ import annotations

import os
import time

from onrecord import coldstart, paths, state_file, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.errors import ModelFailed, NoModel
from onrecord.recall.judge import ANSWER_SCHEMA, SYSTEM_PROMPT
from onrecord.state_file import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onrecord.settings import Settings

DEFAULT_MODEL = "claude-haiku-5-5"
MAX_TOKENS = 2_048
"""Tokens of an answer: a few for the verdict, the rest for the thinking before it."""

MAX_ANSWER_BYTES = 1_000_000
"""Bytes of an answer: a verdict has a hundred, the thinking before it a few thousand."""

_MAX_STATE_BYTES = 200_000
"""Bytes of a counter, one for each request of a day (at most 100,000)."""

_DEFAULT_URLS = {"anthropic": "https://api.anthropic.com/", "openai": "https://api.openai.com/v1/"}
_API_PATHS = {"anthropic": "/messages", "openai": "/chat/completions"}
_URL_VARIABLES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}
_KEY_VARIABLES = {"anthropic": ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"), "openai": ("OPENAI_API_KEY",)}
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "onrecord"}
_MODELS_WITH_EFFORT = ("claude-haiku-5", "claude-sonnet-5", "claude-opus-5")
_TOKENS_IN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "prompt_tokens")
_TOKENS_OUT = ("output_tokens", "completion_tokens")
_NO_ANSWER_IN_TIME = "no answer in time"
_CHECK = "check the endpoint and the network: onrecord judge test"


class Model(NamedTuple):
    """A model with its API and key."""

    provider: str
    name: str
    url: str
    headers: Mapping[str, str]
    key_from: str = ""

    def __repr__(self) -> str:
        # The key is in the headers and must not get into a traceback.
        return f"{self.name} at {self.address}"

    @property
    def address(self) -> str:
        """The URL without its query, which may carry a credential."""
        return self.url.partition("?")[0]

    @property
    def hash(self) -> str:
        return coldstart.content_hash(f"{self.provider} {self.name} {self.url}".encode("utf-8", "replace"))


def configured_model(settings: Settings, environ: Mapping[str, str] = os.environ) -> Model:
    """Return the model of the settings and the environment. Raises NoModel if something is missing or wrong."""
    provider = settings.text("retrieval.judge.provider")
    endpoint = settings.text("retrieval.judge.endpoint")
    url = _api_url(provider, endpoint or environ.get(_URL_VARIABLES[provider], "") or _DEFAULT_URLS[provider])
    is_provider = url.startswith(tuple(_DEFAULT_URLS.values()))
    # The provider's key is for the provider: an endpoint from the settings needs the name of its own key there, too.
    usual = _KEY_VARIABLES[provider] if is_provider or not endpoint else ()
    variable = settings.text("retrieval.judge.api_key_env")
    key_from, key = _variable_and_key(variable, usual, environ, is_needed=is_provider)
    default = environ.get("ANTHROPIC_DEFAULT_HAIKU_MODEL", "") or DEFAULT_MODEL
    name = settings.text("retrieval.judge.model") or (default if provider == "anthropic" else "")
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


def send_question(model: Model, question: str, deadline: float) -> tuple[str, int, int]:
    """Return the text of the answer, and its tokens in and out. Raises ModelFailed.

    A slow answer may take longer than `deadline`: the caller must not wait for it.
    """
    marker = f"plain-{model.hash}"
    is_plain = has_marker(marker)
    try:
        answer = _post(model, _request_body(model, question, with_schema=not is_plain), deadline)
    except ModelFailed as error:
        if is_plain or error.http_status not in (400, 422):
            raise
        # Some servers and models refuse a schema or an effort. The question itself asks for JSON, too.
        answer = _post(model, _request_body(model, question, with_schema=False), deadline)
        add_marker(marker)
    usage = answer.get("usage")
    return _answer_text(model.provider, answer), _token_sum(usage, _TOKENS_IN), _token_sum(usage, _TOKENS_OUT)


def _api_url(provider: str, url: str) -> str:
    """Return the URL of the API below `url`, or `url` if it is that already. Raises NoModel."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        is_usable = parts.hostname and parts.port != 0 and parts.scheme in ("http", "https") and "@" not in parts.netloc
    except ValueError:
        is_usable = False
    if not is_usable or not _is_printable_ascii(url):
        fix = "set it to an https address without user or password: onrecord config retrieval.judge.endpoint"
        raise NoModel("the judge's endpoint is not an http or https address", fix=fix)
    path, last = parts.path.rstrip("/"), _API_PATHS[provider]
    if not path.endswith(last):
        is_versioned = path.endswith("/v1") or (provider == "openai" and path)
        path += last if is_versioned else f"/v1{last}"
    return parts._replace(path=path, fragment="").geturl()


def _is_printable_ascii(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _variable_and_key(
    variable: str, usual: tuple[str, ...], environ: Mapping[str, str], *, is_needed: bool
) -> tuple[str, str]:
    """Return the environment variable with the key, and the key; both empty if there is none and none is needed.

    Without `variable`, the name from the settings, the first of the `usual` ones that is set counts. Raises NoModel.
    """
    if variable and not (variable.isupper() and variable.isidentifier() and variable.isascii()):
        # The user may have entered the key itself, so it is not repeated.
        fix = "name the variable that holds the key; a key never belongs in a file"
        raise NoModel("retrieval.judge.api_key_env is not the name of an environment variable in capitals", fix=fix)
    names = (variable,) if variable else usual
    name = next((name for name in names if environ.get(name, "").strip()), "")
    if not name and (variable or is_needed):
        last = names[-1]
        raise NoModel(f"there is no key for the judge: {last} is not set", fix=f"export {last}, or turn the judge off")
    key = environ.get(name, "").strip()
    if not _is_printable_ascii(key):
        raise NoModel(f"what {name} holds cannot be a key", fix=f"look for spaces or line breaks in {name}")
    return name, key


def _request_body(model: Model, question: str, *, with_schema: bool) -> dict[str, Any]:
    """Return the request. It has no temperature and no prefill: newer models refuse both."""
    messages = [{"role": "user", "content": question}]
    body: dict[str, Any] = {"model": model.name, "messages": messages}
    if model.provider == "anthropic":
        body.update(max_tokens=MAX_TOKENS, system=SYSTEM_PROMPT)
        effort = {"effort": "low"} if any(part in model.name for part in _MODELS_WITH_EFFORT) else {}
        format = {"type": "json_schema", "schema": ANSWER_SCHEMA}
        output: dict[str, Any] = {"output_config": {"format": format, **effort}}
    else:
        messages.insert(0, {"role": "system", "content": SYSTEM_PROMPT})
        limit = "max_completion_tokens" if model.url.startswith(_DEFAULT_URLS["openai"]) else "max_tokens"
        body.update({limit: MAX_TOKENS, "stream": False})
        schema = {"name": "verdict", "strict": True, "schema": ANSWER_SCHEMA}
        output = {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {**body, **output} if with_schema else body


def _post(model: Model, body: dict[str, Any], deadline: float) -> dict[str, Any]:
    """Send `body` as JSON and return the JSON object of the answer. Raises ModelFailed."""
    import json

    status, target, data = _exchange(model, json.dumps(body).encode("ascii"), deadline)
    if not 200 <= status < 300:
        fix = "check model, endpoint and key; to see what the server said: onrecord judge test"
        if status < 400:
            place = f" to {target}" if target else ""
            fix = f"it is a redirect{place}, which is not followed: check the address in retrieval.judge.endpoint"
        elif status == 429 or status >= 500:
            fix = "the provider is busy or has trouble: wait"
        # The server's message may repeat the key, so it is a field of its own.
        raise ModelFailed(f"HTTP {status}", fix=fix, http_status=status, detail=data[:4_000].decode("utf-8", "replace"))
    if len(data) > MAX_ANSWER_BYTES:
        raise ModelFailed(f"the answer is larger than {MAX_ANSWER_BYTES // 1_000_000} MB", fix=_CHECK)
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ModelFailed("the answer is not a JSON object", fix="check that the endpoint is an API of that shape")
    return answer


def _exchange(model: Model, body: bytes, deadline: float) -> tuple[int, str | None, bytes]:
    """Return status, host of a redirect and body of the answer. Raises ModelFailed.

    urllib takes 40 to 60 ms to load, so it is loaded here.
    """
    from http.client import HTTPException, IncompleteRead
    from urllib.error import URLError
    from urllib.parse import urlsplit
    from urllib.request import HTTPErrorProcessor, ProxyHandler, Request, build_opener, getproxies_environment

    # No redirect is followed: key and prompt are sent to the configured address only.
    unprocessed = dict.fromkeys(("http_response", "https_response"), lambda self, request, response: response)
    is_local = urlsplit(model.url).hostname in ("localhost", "127.0.0.1", "::1")
    proxies = ProxyHandler({} if is_local else getproxies_environment())
    opener = build_opener(proxies, type("Unprocessed", (HTTPErrorProcessor,), unprocessed))
    try:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        with opener.open(Request(model.url, body, dict(model.headers), method="POST"), timeout=seconds) as response:
            data = response.read(MAX_ANSWER_BYTES + 1)
            if response.length and len(data) <= MAX_ANSWER_BYTES:
                raise IncompleteRead(b"")
            target = urlsplit(response.headers.get("Location", "")).hostname
    except (OSError, HTTPException, ValueError) as error:
        cause = error.reason if isinstance(error, URLError) else error
        # Before Python 3.10 a socket's time-out had a class of its own.
        if isinstance(cause, TimeoutError) or type(cause).__name__ == "timeout":
            raise ModelFailed(_NO_ANSWER_IN_TIME, fix=_CHECK) from error
        words = cause.strerror if isinstance(cause, OSError) else ""
        raise ModelFailed(f"no answer: {words or type(cause).__name__}", fix=_CHECK) from error
    return response.status, target, data


def _answer_text(provider: str, body: dict[str, Any]) -> str:
    """Return the text in the body of an answer, without thinking. Raises ModelFailed if there is none."""
    choices = body.get("choices") if provider == "openai" else [{"message": body}]
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


def _token_sum(usage: object, names: tuple[str, ...]) -> int:
    values = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    return sum(value for value in values if isinstance(value, int) and value > 0)


def state_folder() -> str:
    return os.path.join(paths.state_dir(), "judge")


def claim_requests(requests: int, cap: int) -> bool:
    """Count `requests`; True if they are within the daily cap, which prompts at the same time cannot exceed."""
    end = _request_counter().append("." * requests)
    if end < 0:
        state_file.log_failure("judge", "requests cannot be counted, so none is sent")
        return False
    if end - requests <= cap < end:
        reached = f"the daily cap of {cap} requests (retrieval.judge.daily_cap) is reached"
        state_file.log_failure("judge", f"{reached}: until midnight UTC ranking decides alone")
    return end <= cap


def requests_today() -> int:
    """Return the number of requests counted today."""
    return len(_request_counter().read())


def add_marker(name: str) -> bool:
    """Leave a marker, for a month; True if it was not there yet."""
    return _state_file(name).append(".") <= 1


def has_marker(name: str) -> bool:
    return os.path.exists(_state_file(name).path)


def _request_counter() -> StateFile:
    return _state_file(f"requests-{timestamps.now()[:10]}", shrinks=False)


def _state_file(name: str, *, shrinks: bool = True) -> StateFile:
    path = os.path.join(state_folder(), name)
    return StateFile(path, _MAX_STATE_BYTES, "judge", state_file.newer_half if shrinks else None)
