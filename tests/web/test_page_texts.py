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
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        conftest._move_home(patch, home)
        everything = Everything(tmp_path_factory.mktemp("projects") / "ferry", home, patch)
        yield Browser(everything.repository.root)


@pytest.fixture(autouse=True)
def home() -> None:
    """Keep the home of the project, in place of one for each test."""


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    def check_text(name: str, text: str) -> None:
        file = FOLDER / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")

    return check_text


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_it_should(browser, check, name):
    check(name, outline.of(browser.get(PAGES[name]).text))


def test_start_has_an_icon_a_level_and_a_button_for_each_kind_of_need(browser, check, monkeypatch):
    record = Subject("x", f"{paths.PROJECT_PREFIX}decisions/x.json", "A title", "why")
    subjects = [Subject("sign-release-tags"), record, Subject("retrieval.enabled"), Subject("not-listed")]
    needs = [Need(kind, f"need of {kind}", "A sentence.", "", f"/{kind}", "project", 9, subjects) for kind in KINDS]
    needs.append(Need(CORRECTED, "one rule was broken", "A sentence.", "", "/health", "project", 1, [record]))
    needs.append(Need(WAITING, "all stores wait", "A sentence.", "", "/health"))
    monkeypatch.setattr(browser.site.live, "needs", lambda: needs)

    page = browser.get("/?all=needs").text

    check("needs", outline.of(page, '<section class="card" id="needs-you"', "</section>"))
