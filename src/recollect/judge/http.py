"""Post: one HTTP request with limits. The answer comes whole, within its time and size, from the host it was sent to.

Importing this costs a cold process 40 to 60 ms, so only a request that is really made imports it.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from socket import timeout
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
    getproxies_environment,
)

from recollect.errors import ModelFailed

LARGEST_ANSWER = 1_000_000
_CHUNK = 65_536
_LONGEST_COMPLAINT = 4_000


class _StayThere(HTTPRedirectHandler):
    """A key and a prompt go where the user sent them and nowhere else, so no redirect is followed."""

    def redirect_request(self, *_: object) -> None:
        return None


def send(url: str, headers: Mapping[str, str], body: bytes, deadline: float) -> bytes:
    """Post a body; the answer's body, or ModelFailed."""
    request = Request(url, body, dict(headers), method="POST")
    try:
        # A dead peer is noticed by the socket's own limit, a slow one by whoever waits for this call.
        answer = _opener(url).open(request, timeout=_left(deadline))
    except HTTPError as error:
        with error:
            raise _refused(error) from None
    except (OSError, HTTPException, UnicodeError) as error:
        raise _lost("no answer", error) from error
    with answer:
        return _plain(_whole(answer, deadline), answer.headers.get("Content-Encoding", ""))


_CHECK = "check the endpoint and the network: recollect judge test"


def _opener(url: str) -> OpenerDirector:
    """The environment's proxies are used, but never on the way to this very machine."""
    proxies = {} if _is_here(urlsplit(url).hostname or "") else getproxies_environment()
    return build_opener(ProxyHandler(proxies), _StayThere)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _late()
    return left


def _whole(answer: HTTPResponse, deadline: float) -> bytes:
    """All bytes of an answer, if they are as many as announced and not too many."""
    announced = answer.length
    if announced is not None and announced > LARGEST_ANSWER:
        raise _oversized()
    data = bytearray()
    while announced is None or len(data) < announced:
        _left(deadline)
        wanted = _CHUNK if announced is None else min(_CHUNK, announced - len(data))
        try:
            piece = answer.read1(wanted)
        except (OSError, HTTPException) as error:
            raise _lost("the answer broke off", error) from error
        if not piece:
            break
        data += piece
        if len(data) > LARGEST_ANSWER:
            raise _oversized()
    if announced is not None and len(data) < announced:
        raise ModelFailed(f"the answer broke off after {len(data)} of {announced} bytes", fix=_CHECK)
    return bytes(data)


def _plain(data: bytes, encoding: str) -> bytes:
    """The answer unpacked: compression is never asked for, yet some gateways use it."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return data
    if name not in ("gzip", "x-gzip", "deflate"):
        raise ModelFailed("the answer is compressed in a way that was not asked for", fix=_CHECK)
    unpacker = zlib.decompressobj(wbits=47)  # gzip or zlib, whichever the first bytes say
    try:
        plain = unpacker.decompress(data, LARGEST_ANSWER)
    except zlib.error as error:
        raise ModelFailed("the answer is damaged: it cannot be unpacked", fix=_CHECK) from error
    if unpacker.unconsumed_tail:
        raise _oversized()
    if not unpacker.eof:
        raise ModelFailed("the answer broke off inside its compressed part", fix=_CHECK)
    return plain


def _oversized() -> ModelFailed:
    return ModelFailed(f"the answer is larger than {LARGEST_ANSWER // 1_000_000} MB", fix=_CHECK)


def _refused(error: HTTPError) -> ModelFailed:
    """What an error status means. The server's own words may repeat the key, so they are kept apart."""
    if 300 <= error.code < 400:
        place = urlsplit(error.headers.get("Location", "")).hostname
        return ModelFailed(
            f"HTTP {error.code}: a redirect, which is not followed",
            fix=f"if it is right, set retrieval.judge.endpoint to its target{f' on {place}' if place else ''}",
            status=error.code,
        )
    try:
        detail = error.read(_LONGEST_COMPLAINT).decode("utf-8", "replace")
    except (OSError, HTTPException):
        detail = ""
    return ModelFailed(f"HTTP {error.code}", fix=_remedy(error.code), status=error.code, detail=detail)


def _remedy(status: int) -> str:
    if status in (401, 403):
        return "the key is not accepted there: check the variable it comes from and the endpoint"
    if status == 404:
        return "check retrieval.judge.model and retrieval.judge.endpoint"
    if status == 429:
        return "the provider limits your requests: wait, or lower retrieval.judge.daily_cap"
    if status >= 500:
        return "the provider has trouble: nothing to do but wait"
    return "recollect judge test shows what the server said"


def _late() -> ModelFailed:
    return ModelFailed("no answer in time", fix="recollect judge test says how long the model takes")


def _lost(what: str, error: Exception) -> ModelFailed:
    """What went wrong below HTTP, in words that carry nothing we sent."""
    inner = error.reason if isinstance(error, URLError) else error
    if isinstance(inner, (TimeoutError, timeout)):
        return _late()
    known = isinstance(inner, OSError) and inner.strerror
    return ModelFailed(f"{what}: {known or type(inner).__name__}", fix=_CHECK)
