"""Each page of a project with something of everything: its texts, numbers, links, forms and pictures, as outlines.

`pytest tests/web/test_page_texts.py --update-golden` writes what the pages show now to tests/web/pages: read the diff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from onrecord import paths
from onrecord.attention import CORRECTED, KINDS, WAITING, Need, Subject
from onrecord.store.inbox import Inbox
from tests import conftest
from tests.web import outline
from tests.web.conftest import Browser
from tests.web.something_of_everything import Everything

FOLDER = Path(__file__).parent / "pages"
PAGES = {
    "start": "/",
    "start-all": "/?all=needs",
    "search": "/search",
    "search-words": "/search?q=sessions+postgres&tag=auth",
    "inbox": "/inbox",
    "map": "/map",
    "map-folder": "/map?folder=src/auth",
    "timeline": "/timeline",
    "health-all": "/health?all=1",
    "usage": "/usage",
    "effect": "/effect",
    "agent": "/agent?prompt=where+do+we+keep+login+state",
    "record": "/record/project/decisions/sessions-live-in-postgres.json",
    "record-corrected": "/record/project/constraints/install-with-uv-not-pip.json",
    "record-retired": "/record/project/preferences/tests-name-the-behaviour.json",
    "edit": "/record/project/constraints/install-with-uv-not-pip.json/edit",
    "merge": "/inbox/sessions-live-in-postgres-rows/merge?into=sessions-live-in-postgres",
    "new": "/new/preference",
    "not-found": "/nowhere",
    "error": "/record/acme/decisions/x.json",
    "error-category": "/new/wish",
}
_RECORD = "/record/project/decisions/sessions-live-in-postgres.json"
_DRAFTS = {
    "draft.0.store": "project",
    "draft.0.name": "a",
    "draft.0.hash": "1",
    "draft.0.title": "A",
    "draft.1.name": "b",
}
_MERGE = {"into": "sessions-live-in-postgres", "record": "0", "choice.title": "own", "own.title": "Mine"}
OLD, NEW = "old", "new"
FORMS = {
    "accept-all": ("", "/inbox/accept", "", {**_DRAFTS, "from": "store=project&page=2"}),
    "edit-refused": ("", f"{_RECORD}/edit", NEW, {"title": "", "content.status": "x", "tags.0": "auth"}),
    "edit-preview": ("new", "/new/preference", "", {"title": "Tabs", "content.topic": "tabs", "do": "preview"}),
    "edit-conflict": ("", f"{_RECORD}/edit", OLD, {"title": "Sessions are rows", "content.decision": "For 60 days"}),
    "edit-gone": ("new", "/record/project/preferences/none.json/edit", OLD, {"category": "preference", "title": "T"}),
    "record-outdated": ("record", f"{_RECORD}/retire", OLD, {"text": "they moved"}),
    "record-refused": ("record", f"{_RECORD}/supersede", NEW, {"text": "no such record"}),
    "inbox-outdated": ("inbox", "/inbox/sign-release-tags/accept", OLD, {}),
    "inbox-refused": ("inbox", "/inbox/sign-release-tags/merge", NEW, {"into": "no such record"}),
    "merge-outdated": ("merge", "/inbox/sessions-live-in-postgres-rows/merge", NEW, _MERGE),
}
"""Forms that change nothing, because something is asked, previewed or refused: the page that the answer is compared
with, where the form is sent, the version that it is for, and its fields."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        conftest._move_home(patch, home)
        everything = Everything(tmp_path_factory.mktemp("projects") / "ferry", home, patch)
        browser = Browser(everything.repository.root)
        browser.old_hash = everything.old_hash
        # The names of records in the map depend on what is in the indexes, which this page brings up to date.
        browser.get("/search")
        yield browser


@pytest.fixture(autouse=True)
def home() -> None:
    """Keep the home of the project, in place of one for each test."""


@pytest.fixture
def check(browser: Browser, request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    def check_text(name: str, text: str) -> None:
        text = text.replace(browser.project.root, "/home/ada/ferry")
        file = FOLDER / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")

    return check_text


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_it_should(browser, check, name):
    check(name, outline.of(browser.get(PAGES[name]).text))


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_changes_nothing_is_answered_with_a_page(browser, check, name):
    base, address, version, fields = FORMS[name]
    hashes = {OLD: browser.old_hash, NEW: _present_hash(browser, address) if version == NEW else ""}

    page = browser.post(address, **{"hash": hashes.get(version, ""), **fields})

    usual = (FOLDER / f"{base}.txt").read_text(encoding="utf-8").splitlines() if base else ()
    lines = [line for line in outline.of(page.text).splitlines() if line not in usual]
    check(name, "\n".join([str(page.status_code), *lines, ""]))


def _present_hash(browser: Browser, address: str) -> str:
    """Return the hash of the record or draft that a form is about."""
    parts = address.split("/")
    store = browser.project.store
    return Inbox(store.root).get(parts[2]).hash if parts[1] == "inbox" else store.read("/".join(parts[3:5])).hash


def test_start_has_an_icon_a_level_and_a_button_for_each_kind_of_need(browser, check, monkeypatch):
    record = Subject("x", f"{paths.PROJECT_PREFIX}decisions/x.json", "A title", "why")
    subjects = [Subject("sign-release-tags"), record, Subject("retrieval.enabled"), Subject("not-listed")]
    needs = [Need(kind, f"need of {kind}", "A sentence.", "", f"/{kind}", "project", 9, subjects) for kind in KINDS]
    needs.append(Need(CORRECTED, "one rule was broken", "A sentence.", "", "/health", "project", 1, [record]))
    needs.append(Need(WAITING, "all stores wait", "A sentence.", "", "/health"))
    monkeypatch.setattr(browser.site.live, "needs", lambda: needs)

    page = browser.get("/?all=needs").text

    check("needs", outline.of(page, '<section class="card" id="needs-you"', "</section>"))
