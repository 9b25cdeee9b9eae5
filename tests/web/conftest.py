"""A project whose memory is looked at in a browser, without a socket."""

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
    """A browser that was let in: it keeps the cookie and fills in forms as the pages have them."""

    def __init__(self, root: Path) -> None:
        self.project = Project(str(root))
        self.access = access.Access(PORT)
        self.site = view.Site(str(root), self.access)
        self.client = TestClient(server.create(self.site), base_url=f"http://{self.access.host}")
        self.client.get(self.access.new_address())

    def get(self, path: str, **how):
        return self.client.get(path, **how)

    def decide(self, name: str, action: str, **fields: str):
        """A button beside a draft in the inbox, as it is there now."""
        draft = Inbox(self.project.store.root).get(name)
        return self.post(f"/inbox/{name}/{action}", hash=draft.hash, **fields)

    def post(self, path: str, **fields: str):
        """A form of one of our own pages."""
        data = {"form_token": self.access.form_token, **fields}
        return self.client.post(path, data=data, headers={"origin": f"http://{self.access.host}"})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    root = tmp_path / "ferry"
    root.mkdir()
    return Project(str(root))


@pytest.fixture
def save(project: Project) -> Callable[..., Entry]:
    def saved(title: str = "Sessions live in Postgres", **fields: object) -> Entry:
        content = {"context": "Redis lost sessions", "decision": "Rows in auth.sessions", "rationale": ["one part"]}
        return project.save("decision", {"title": title, "content": content, **fields})

    return saved


@pytest.fixture
def draft(project: Project) -> Callable[..., str]:
    def put(title: str = "Use uv", **about: object) -> str:
        content = {"context": "pip is slow", "decision": "uv installs everything", "rationale": ["seconds"]}
        made = inbox.draft_of(compose.compose("decision", {"title": title, "content": content}), **about)
        return Inbox(project.store.root).put(made).name

    return put


@pytest.fixture
def browser(project: Project) -> Browser:
    return Browser(Path(project.root))
