"""Access control: only the browser of the user who started the server gets in, and only its own pages make changes.

One middleware runs before every route. It checks the Host header (against DNS rebinding) and the cookie, which a
browser gets when it opens the printed address. For a change it also checks the Origin header and the token in the form.

A browser sends a cookie to every port of a machine, so to the servers of other users, too. But it sends it only below
its path. So the pages are below a path that nobody else knows, and no other server is ever asked for that.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, QueryParams
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onrecord.web import live

MAX_BODY_BYTES = 1_000_000
"""Largest form that is read; a record has at most 200,000 bytes."""

_MAX_DISCARDED_BYTES = 50_000_000
"""The rest of a larger form, which is taken from the browser: one that cannot send all of it shows no response."""

MAX_FORM_FIELDS = 4_000
"""A list of a record has at most 200 items, and each is a field of its form."""
_ICON = "/favicon.ico"

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # `no-referrer` would hide the origin of a form from this server too.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}

# A browser that follows a link on another site sends no strict cookie with the redirect. This page reloads by itself.
_ENTRY_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Onrecord</title>'
    '<meta http-equiv="refresh" content="0; url={0}/"><p><a href="{0}/">Continue to the memory</a></p></html>'
)

_ACCESS_DENIED = (
    "Access denied. Each address printed by `onrecord web` works once, in one browser. "
    "Go on in the tab that it opened. For a new address, press Enter in the terminal where it runs, or start it again."
)


_NO_FORM = "This form cannot be read, or does not come from this page. Reload the page."
_TOO_LARGE = (
    f"Nothing was saved: this form has more than {MAX_BODY_BYTES:,} bytes, and a record at most 200,000. "
    "Go back to the page before: what you typed is still there. Shorten it and save it again."
)


class Access:
    """Address of the server, and the secrets that its pages require."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.session = secrets.token_urlsafe(32)
        self.prefix = f"/{secrets.token_urlsafe(16)}"
        """The path above all pages. Browsers send the cookie only there."""
        self.has_entered = threading.Event()
        """Set once a browser has used the newest address."""
        self._token = ""

    def new_address(self) -> str:
        """Return a new address that lets one browser in, once. Earlier addresses stop working."""
        self._token = secrets.token_urlsafe(32)
        self.has_entered.clear()
        return f"http://{self.host}/?token={self._token}"

    def redeem(self, token: str) -> bool:
        """Use up the token of the newest address. True if `token` was that one."""
        is_valid = bool(self._token) and _equals(token, self._token)
        if is_valid:
            self._token = ""
            self.has_entered.set()
        return is_valid

    @property
    def cookie(self) -> str:
        """Name of the cookie, with the port: browsers share cookies between the ports of a machine."""
        return f"onrecord-{self.host.rpartition(':')[2]}"

    @property
    def form_token(self) -> str:
        """Token in every form, which no other site can know."""
        return hmac.new(self.session.encode(), b"form", hashlib.sha256).hexdigest()


class Guard:
    """Middleware that runs before every route."""

    def __init__(self, app: ASGIApp, access: Access, on_request: Callable[[], None]) -> None:
        self._app = app
        self._access = access
        self._on_request = on_request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # Only HTTP is served: no web sockets.
            return
        send = _with_headers(send)
        scope = _without_prefix(scope, self._access.prefix)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if scope["path"] != live.PATH:
            self._on_request()
        if scope["method"] == "POST":
            body = await _read_body(receive)
            form = None if body is None else _parse_form(body)
            if body is not None and len(body) > MAX_BODY_BYTES:
                refusal = _plain_text(413, _TOO_LARGE)
            elif form is None or not _equals(form.get("form_token", ""), self._access.form_token):
                refusal = _plain_text(400, _NO_FORM)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
            scope["state"] = {**scope.get("state", {}), "form": form}
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "") != self._access.host:
            return _plain_text(421, "This host name is not served here.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _plain_text(405, "Only GET, HEAD and POST are supported.")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and scope["method"] != "GET":
            return _plain_text(403, "A change must come from a page of this server.")
        if scope["method"] == "POST" and headers.get("origin", "") != f"http://{self._access.host}":
            return _plain_text(403, "A change must come from a page of this server.")
        return self._sign_in(scope, headers)

    def _sign_in(self, scope: Scope, headers: Headers) -> Response | None:
        if _equals(_cookies(headers).get(self._access.cookie, ""), self._access.session):
            return None
        if scope["path"] == _ICON:
            # Browsers ask for it at the root, without our cookie.
            return _plain_text(404, "There is no icon.")
        token = QueryParams(scope["query_string"]).get("token", "")
        if scope["path"] == "/" and scope["method"] == "GET" and self._access.redeem(token):
            prefix = self._access.prefix
            response = HTMLResponse(_ENTRY_PAGE.format(prefix))
            response.set_cookie(
                self._access.cookie, self._access.session, path=prefix, httponly=True, samesite="strict"
            )
            return response
        return _plain_text(403, _ACCESS_DENIED)


def _plain_text(http_status: int, text: str) -> Response:
    return PlainTextResponse(text + "\n", http_status)


def _equals(text: str, expected: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "replace"), expected.encode())


def _cookies(headers: Headers) -> Mapping[str, str]:
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    cookies: dict[str, str] = {}
    for name, _, value in pairs:
        # The one with the longest path comes first; another server of this machine may have set one for all paths.
        cookies.setdefault(name, value)
    return cookies


def _without_prefix(scope: Scope, prefix: str) -> Scope:
    """Return the request for a page below `prefix` as one for the page itself."""
    path = scope["path"]
    if path != prefix and not path.startswith(f"{prefix}/"):
        return scope
    return {**scope, "path": path[len(prefix) :] or "/", "raw_path": scope.get("raw_path", b"")[len(prefix) :] or b"/"}


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body of a request; of one that is too large, the beginning. None if the browser has not sent all."""
    body, discarded = b"", 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        if len(body) <= MAX_BODY_BYTES:
            body += part
        else:
            discarded += len(part)
        # An interrupted request must not save half a text.
        if message["type"] != "http.request":
            return None
        if not message.get("more_body") or discarded > _MAX_DISCARDED_BYTES:
            return body


def _parse_form(body: bytes) -> dict[str, str] | None:
    """Return the fields of a form; None if the body is none. If a field occurs twice, its last value is returned."""
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=MAX_FORM_FIELDS
        )
    except ValueError:
        return None
    # Browsers send line ends as CRLF.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *extra]
        await send(message)

    return send_with_headers
