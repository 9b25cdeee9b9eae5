"""What the guard before every page refuses, and in which words; what it reads of forms, and what it lets through."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from starlette.datastructures import Headers
from starlette.testclient import TestClient

from onrecord.web import access, live
from onrecord.web.access import Access
from tests.web.conftest import PORT

FORM = "This form cannot be read, or does not come from this page. Reload the page.\n"
ELSEWHERE = "A change must come from a page of this server.\n"


class Guarded:
    """A guard before an application that notes what it gets."""

    def __init__(self) -> None:
        self.access = Access(PORT)
        self.scopes: list[Any] = []
        self.requests = 0
        self.guard = access.Guard(self._app, self.access, self._count)
        self.client = TestClient(self.guard, base_url=f"http://{self.access.host}")

    def _count(self) -> None:
        self.requests += 1

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a page"})

    @property
    def cookie(self) -> str:
        return f"{self.access.cookie}={self.access.session}"

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        names = {name.replace("_", "-"): value for name, value in {"cookie": self.cookie, **headers}.items()}
        return self.client.request(method, path, content=body, headers=names)

    def post(self, body: str, **headers: str) -> Any:
        return self.request("POST", "/", body, **{"origin": f"http://{self.access.host}", **headers})


@pytest.fixture
def guarded() -> Guarded:
    return Guarded()


@pytest.mark.parametrize(
    ("method", "headers", "status", "text"),
    [
        ("GET", {}, 200, "a page"),
        ("HEAD", {}, 200, ""),
        ("PUT", {}, 405, "Only GET, HEAD and POST are supported.\n"),
        ("GET", {"host": "evil.example"}, 421, "This host name is not served here.\n"),
        ("GET", {"host": "localhost:8700"}, 421, "This host name is not served here.\n"),
        ("GET", {"sec_fetch_site": "cross-site"}, 200, "a page"),
        ("HEAD", {"sec_fetch_site": "cross-site"}, 403, ""),
        ("POST", {"sec_fetch_site": "cross-site"}, 403, ELSEWHERE),
        ("POST", {"sec_fetch_site": "same-site"}, 403, ELSEWHERE),
        ("POST", {"sec_fetch_site": "none"}, 200, "a page"),
        ("POST", {"sec_fetch_site": "same-origin"}, 200, "a page"),
        ("POST", {"origin": "http://evil.example"}, 403, ELSEWHERE),
        ("POST", {"origin": f"https://127.0.0.1:{PORT}"}, 403, ELSEWHERE),
        ("POST", {"origin": ""}, 403, ELSEWHERE),
    ],
)
def test_a_request_from_elsewhere_is_refused_in_these_words(guarded, method, headers, status, text):
    origin = {"origin": f"http://{guarded.access.host}"} if method == "POST" else {}

    response = guarded.request(method, "/", f"form_token={guarded.access.form_token}", **{**origin, **headers})

    assert (response.status_code, response.text) == (status, text)
    assert len(guarded.scopes) == guarded.requests == (status == 200)


def test_a_stranger_is_told_how_to_get_an_address(guarded):
    response = guarded.request("GET", "/", cookie="")

    assert response.status_code == 403
    assert response.text == (
        "Access denied. Each address printed by `onrecord web` works once, in one browser. Go on in the tab that it"
        " opened. For a new address, press Enter in the terminal where it runs, or start it again.\n"
    )


def test_a_browser_that_enters_gets_a_cookie_for_the_pages_and_a_page_that_leads_there(guarded):
    address = guarded.access.new_address()

    response = guarded.client.get(address)

    prefix = guarded.access.prefix
    assert response.headers["set-cookie"] == (
        f"onrecord-{PORT}={guarded.access.session}; HttpOnly; Path={prefix}; SameSite=strict"
    )
    assert response.text == (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Onrecord</title>'
        f'<meta http-equiv="refresh" content="0; url={prefix}/"><p><a href="{prefix}/">Continue to the memory</a></p>'
        "</html>"
    )
    assert guarded.access.has_entered.is_set()
    assert not guarded.scopes


@pytest.mark.parametrize(("method", "path"), [("GET", "/search"), ("HEAD", "/"), ("POST", "/")])
def test_only_the_start_page_lets_a_browser_in(guarded, method, path):
    token = guarded.access.new_address().partition("?")[2]

    response = guarded.request(method, f"{path}?{token}", cookie="", origin=f"http://{guarded.access.host}")

    assert response.status_code == 403
    assert not guarded.access.has_entered.is_set()
    assert guarded.client.get(f"/?{token}").status_code == 200


def test_before_there_is_an_address_no_token_lets_anybody_in(guarded):
    assert not guarded.access.redeem("")
    assert guarded.client.get("/?token=").status_code == 403


def test_a_new_address_waits_for_a_browser_again(guarded):
    first = guarded.access.new_address()
    guarded.client.get(first)

    second = guarded.access.new_address()

    assert first != second and not guarded.access.has_entered.is_set()
    assert len({guarded.access.session, guarded.access.prefix[1:], guarded.access.form_token}) == 3
    assert (len(guarded.access.session), len(guarded.access.prefix)) == (43, 23)


def test_every_answer_keeps_the_browser_from_sharing_it(guarded):
    answers = [guarded.request("GET", "/"), guarded.request("GET", "/", cookie=""), guarded.request("PUT", "/")]

    for answer in answers:
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy == {
            "default-src": "'none'",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
            **dict.fromkeys(("script-src", "style-src", "img-src", "connect-src", "form-action"), "'self'"),
        }
        assert [answer.headers[name] for name in ("referrer-policy", "x-content-type-options", "x-frame-options")] == [
            "same-origin", "nosniff", "DENY",
        ]  # fmt: skip
        assert [answer.headers[f"cross-origin-{name}-policy"] for name in ("opener", "resource")] == ["same-origin"] * 2
        assert answer.headers["permissions-policy"] == "camera=(), microphone=(), geolocation=()"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "served"),
    [("{}", "/"), ("{}/", "/"), ("{}/search", "/search"), ("{}x/search", "{}x/search"), ("/search", "/search"),
     ("{}/a%20b", "/a b")],
)  # fmt: skip
def test_the_pages_are_below_the_secret_path(guarded, path, served):
    prefix = guarded.access.prefix

    guarded.request("GET", path.format(prefix))

    (scope,) = guarded.scopes
    assert scope["path"] == served.format(prefix)
    assert scope["raw_path"].decode() == served.format(prefix).replace(" ", "%20")


def test_a_stream_is_no_request_that_keeps_the_server_running(guarded):
    for path in (live.PATH, "/search", f"{guarded.access.prefix}{live.PATH}", "/"):
        guarded.request("GET", path)

    assert (len(guarded.scopes), guarded.requests) == (4, 2)


def test_nothing_but_http_is_served(guarded):
    asyncio.run(guarded.guard({"type": "websocket"}, None, None))

    assert not guarded.scopes


@pytest.mark.parametrize(
    ("rest", "form"),
    [
        ("", {}),
        ("&a=1&b=", {"a": "1", "b": ""}),
        ("&a=1&a=2", {"a": "2"}),
        ("&a=x%0D%0Ay+z%0Aw", {"a": "x\ny z\nw"}),
        ("&%C3%A9=%E2%82%AC", {"é": "€"}),
    ],
)
def test_the_fields_of_a_form_are_read(guarded, rest, form):
    assert guarded.post(f"form_token={guarded.access.form_token}{rest}").status_code == 200

    (scope,) = guarded.scopes
    assert scope["state"]["form"] == {"form_token": guarded.access.form_token, **form}


@pytest.mark.parametrize("body", ["", "form_token=", "form_token=x", "form_token", b"form_token=\xff", "a=1", "&&"])
def test_a_form_without_its_token_is_refused(guarded, body):
    response = guarded.post(body)

    assert (response.status_code, response.text) == (400, FORM)
    assert not guarded.scopes


@pytest.mark.parametrize(("size", "status"), [(1_000_000, 200), (1_000_001, 413)])
def test_a_form_has_at_most_a_million_bytes(guarded, size, status):
    head = f"form_token={guarded.access.form_token}&a="

    assert guarded.post(head + "x" * (size - len(head))).status_code == status


def test_a_form_that_is_too_large_is_refused_in_words_that_say_what_is_left_of_it(guarded):
    response = guarded.post("x" * 2_000_001)

    assert response.text == (
        "Nothing was saved: this form has more than 1,000,000 bytes, and a record at most 200,000. "
        "Go back to the page before: what you typed is still there. Shorten it and save it again.\n"
    )
    assert not guarded.scopes


@pytest.mark.parametrize(("number", "status"), [(4_000, 200), (4_001, 400)])
def test_a_form_has_at_most_four_thousand_fields(guarded, number, status):
    fields = "".join(f"&f{position}=" for position in range(number - 1))

    assert guarded.post(f"form_token={guarded.access.form_token}{fields}").status_code == status


def test_a_form_may_come_in_parts():
    parts = iter([
        {"type": "http.request", "body": b"a=", "more_body": True},
        {"type": "http.request", "more_body": True},
        {"type": "http.request", "body": b"1"},
    ])  # fmt: skip

    async def receive() -> dict[str, object]:
        return next(parts)

    assert access._parse_form(asyncio.run(access._read_body(receive)) or b"") == {"a": "1"}


@pytest.mark.parametrize(
    ("header", "cookies"),
    [
        ("", {"": ""}),
        ("a=1; b=2", {"a": "1", "b": "2"}),
        ("a=1;a=2", {"a": "1"}),
        ("a=1=2; c", {"a": "1=2", "c": ""}),
    ],
)
def test_of_two_cookies_of_one_name_the_first_counts(header, cookies):
    assert access._cookies(Headers({"cookie": header})) == cookies
