"""Who may ask: only the browser of the person who started the server, and only from the server's own pages.

One middleware stands before every route. It checks the address that was asked for (against DNS rebinding), the cookie
that the opened address was exchanged for, and for every change where it comes from and the token in its form.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, QueryParams
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1_000_000
"""Bytes of a form; a record has at most 200,000."""

MOST_FIELDS = 200

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # With `no-referrer` a browser would hide where a form comes from, from us too.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}

# A redirect would go without the cookie if a page of another site held the link: this page leads on by itself.
_ENTRANCE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Onrecord</title>'
    '<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Continue to the memory</a></p></html>'
)

_CLOSED = (
    "This browser was not let in. An address that `onrecord web` prints lets one browser in, once. "
    "For another one, press Enter where it runs, or start it again."
)


class Access:
    """The address of a server, and the secrets that its pages are opened and changed with."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.session = secrets.token_urlsafe(32)
        self._token = ""

    def new_address(self) -> str:
        """What to open: it gives one browser its cookie, once. The address before it no longer works."""
        self._token = secrets.token_urlsafe(32)
        return f"http://{self.host}/?token={self._token}"

    def takes(self, token: str) -> bool:
        """Whether this is the token of the last address; it is used up by that."""
        is_right = bool(self._token) and _is(token, self._token)
        if is_right:
            self._token = ""
        return is_right

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers do not tell the ports of a machine apart."""
        return f"onrecord-{self.host.rpartition(':')[2]}"

    @property
    def form_token(self) -> str:
        """What every form carries, and no other site can know."""
        return hmac.new(self.session.encode(), b"form", hashlib.sha256).hexdigest()


class Guard:
    """The middleware before every route."""

    def __init__(self, app: ASGIApp, access: Access, seen: Callable[[], None]) -> None:
        self._app = app
        self._access = access
        self._seen = seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # Neither web sockets nor anything else is spoken here.
            return
        send = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        self._seen()
        if scope["method"] == "POST":
            form = await _form(receive)
            if form is None or not _is(form.get("form_token", ""), self._access.form_token):
                answer = _refused(400, "This form cannot be read, or is not of this page. Load the page again.")
                await answer(scope, receive, send)
                return
            scope["state"] = {**scope.get("state", {}), "form": form}
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "") != self._access.host:
            return _refused(421, "This address is not served here.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refused(405, "Only GET, HEAD and POST are answered.")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and scope["method"] != "GET":
            return _refused(403, "A change must come from a page of this server.")
        if scope["method"] == "POST" and headers.get("origin", "") != f"http://{self._access.host}":
            return _refused(403, "A change must come from a page of this server.")
        return self._entrance(scope, headers)

    def _entrance(self, scope: Scope, headers: Headers) -> Response | None:
        if _is(_cookies(headers).get(self._access.cookie, ""), self._access.session):
            return None
        token = QueryParams(scope["query_string"]).get("token", "")
        if scope["path"] == "/" and scope["method"] == "GET" and self._access.takes(token):
            answer = HTMLResponse(_ENTRANCE)
            answer.set_cookie(self._access.cookie, self._access.session, path="/", httponly=True, samesite="strict")
            return answer
        return _refused(403, _CLOSED)


def _refused(status: int, text: str) -> Response:
    return PlainTextResponse(text + "\n", status)


def _is(value: str, expected: str) -> bool:
    return hmac.compare_digest(value.encode("utf-8", "replace"), expected.encode())


def _cookies(headers: Headers) -> Mapping[str, str]:
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs}


async def _form(receive: Receive) -> dict[str, str] | None:
    """The fields of a form, the last value of each; None for what is too large, not whole or no form."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        # Of a form that broke off halfway, half a text would be saved.
        if message["type"] != "http.request" or len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body"):
            break
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=MOST_FIELDS
        )
    except ValueError:
        return None
    # A browser sends line ends as two characters, whatever was typed.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sending
