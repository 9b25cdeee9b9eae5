"""Fixtures: a project, and a browser on its pages without a socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from starlette.testclient import TestClient

from onrecord.project import Project
from onrecord.record import compose
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry
from onrecord.web import access, server, view

PORT = 8700


class Browser:
    """A test client that has access: it keeps the cookie and sends forms as the pages do."""

    def __init__(self, root: Path) -> None:
        self.project = Project(str(root))
        self.access = access.Access(PORT)
        self.site = view.Site(str(root), self.access)
        self.client = TestClient(server.create_app(self.site), base_url=address_of(self.access))
        self.client.get(self.access.new_address())

    def get(self, path: str, **options):
        return self._at_root(self.client.get(path, **options))

    def decide(self, name: str, action: str, **fields: str):
        """Press a button of a draft in the inbox, for its current version."""
        draft = Inbox(self.project.store.root).get(name)
        return self.post(f"/inbox/{name}/{action}", hash=draft.hash, **fields)

    def post(self, path: str, *, referer: str | None = None, **fields: str):
        """Send a form of one of our own pages, `referer` if that matters."""
        data = {"form_token": self.access.form_token, **fields}
        headers = {"origin": f"http://{self.access.host}"}
        if referer is not None:
            at_home = referer.startswith("/") and not referer.startswith("//")
            headers["referer"] = address_of(self.access) + referer if at_home else referer
        return self._at_root(self.client.post(path, data=data, headers=headers))

    def _at_root(self, response):
        """Return a page with its links as they are without the secret path above them."""
        response._content = response.content.replace(self.access.prefix.encode(), b"")
        return response


def address_of(access: access.Access) -> str:
    """Return the address of the pages; a request for `/search` goes to that page below the secret path."""
    return f"http://{access.host}{access.prefix}"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    root = tmp_path / "ferry"
    root.mkdir()
    return Project(str(root))


@pytest.fixture
def save(project: Project) -> Callable[..., Entry]:
    def save_decision(title: str = "Sessions live in Postgres", **fields: object) -> Entry:
        content = {"context": "Redis lost sessions", "decision": "Rows in auth.sessions", "rationale": ["one part"]}
        return project.save("decision", {"title": title, "content": content, **fields})

    return save_decision


@pytest.fixture
def draft(project: Project) -> Callable[..., str]:
    def put_draft(title: str = "Use uv", **options: object) -> str:
        content = {"context": "pip is slow", "decision": "uv installs everything", "rationale": ["seconds"]}
        record = compose.compose("decision", {"title": title, "content": content})
        return Inbox(project.store.root).put(inbox.new_draft(record, **options)).name

    return put_draft


@pytest.fixture
def browser(project: Project) -> Browser:
    return Browser(Path(project.root))
