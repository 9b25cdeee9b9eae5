"""What somebody sees: no word is cut or broken, nothing is wider than the window, on every page, in both themes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page

from onrecord.store.writer import Writer
from onrecord.web import static_site
from tests.web import appearance, sample, served
from tests.web.browser import in_thread, open_context, start_browser

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.xdist_group("chromium")]

POSTGRES = "/record/project/decisions/sessions-live-in-postgres.json"
PAGES = [
    "/", "/search", "/search?q=login+state", "/search?q=zzzz", "/inbox", "/agent?prompt=where+do+we+keep+login+state",
    "/timeline", "/map", "/map?folder=src/booking", "/map?folder=src/auth/file_0.py", "/health?all=1", "/usage",
    "/effect", "/settings", POSTGRES, f"{POSTGRES}/edit", "/new/runbook", "/nowhere",
]  # fmt: skip


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


def _own_folders(home: Path, patch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "ONRECORD_STATE_DIR", "ONRECORD_CACHE_DIR", "ONRECORD_DATA_DIR"):
        patch.setenv(name, str(home / name.lower()))


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project as after a year, with folders of its own for the user."""
    with pytest.MonkeyPatch.context() as patch:
        _own_folders(tmp_path_factory.mktemp("home"), patch)
        yield Path(sample.fill(tmp_path_factory.mktemp("project") / "ferry").root)


@pytest.fixture(scope="module")
def address(ferry: Path) -> Iterator[str]:
    with served.serving(ferry) as printed:
        yield printed


@pytest.fixture
def site(ferry: Path, tmp_path: Path) -> Path:
    static_site.write(str(ferry), str(tmp_path / "site"))
    return tmp_path / "site"


_WIDE = """() => [...document.querySelectorAll("main *")]
  .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
  .slice(0, 6).map((part) => `${part.localName}.${part.className}`).join(" ")"""
"""The elements that make a page wider than the window."""


def _opened(chromium: Browser, address: str) -> tuple[Page, str, list[str]]:
    """Return a window that was let in, the address of its pages, and the list of the errors of their scripts."""
    page, errors = open_context(chromium).new_page(), []
    page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
    page.goto(address)
    page.wait_for_url(lambda url: "token=" not in url)
    return page, page.url.rstrip("/"), errors


@in_thread
def test_no_page_cuts_a_word_breaks_a_rule_or_has_an_error_in_its_script(chromium, address):
    page, root, errors = _opened(chromium, address)

    found = {}
    for path in PAGES:
        page.goto(root + path)
        found[path] = appearance.faults(page)

    assert ({path: faults for path, faults in found.items() if faults}, errors) == ({}, [])


@in_thread
def test_the_pages_where_people_disagree_are_as_good(chromium, tmp_path, monkeypatch):
    """The conflict of a shared store, a form that somebody else was faster with, and one that is refused."""
    _own_folders(tmp_path, monkeypatch)
    project = served.fill(tmp_path / "ferry")
    served.conflict(project)
    with served.serving(Path(project.root)) as printed:
        page, root, errors = _opened(chromium, printed)
        found = {}
        page.goto(root)
        found["start"] = appearance.faults(page)
        page.goto(f"{root}/health?store=platform")
        found["health"] = appearance.faults(page)
        page.goto(f"{root}/inbox")
        page.get_by_role("link", name="Compare and choose").click()
        page.wait_for_url("**/merge**")
        found["merge"] = appearance.faults(page)
        page.goto(f"{root}/new/decision")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Nothing was saved.").wait_for()
        found["refused"] = appearance.faults(page)
        page.goto(f"{root}{POSTGRES}/edit")
        entry = project.get("sessions-live-in-postgres")
        Writer(project.store, project.settings).update(entry.path, {"content": {"decision": "theirs"}}, entry.hash)
        page.get_by_label("Decision", exact=True).fill("mine")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Somebody else changed the same field").wait_for()
        found["conflict"] = appearance.faults(page)
        page.context.close()

    assert ({name: faults for name, faults in found.items() if faults}, errors) == ({}, [])


@in_thread
def test_a_project_without_a_memory_begins_on_the_page(chromium, tmp_path, monkeypatch):
    """The command refused to start where the page has the button that makes the memory."""
    _own_folders(tmp_path, monkeypatch)
    (tmp_path / "ferry").mkdir()
    with served.serving(tmp_path / "ferry") as printed:
        page, root, errors = _opened(chromium, printed)
        found = {"start": appearance.faults(page)}
        page.goto(f"{root}/map")
        found["no memory"] = appearance.faults(page)
        page.get_by_role("button", name="Make the memory").click()
        page.get_by_text("The memory is made").wait_for()
        for path in ("/", "/map", "/search", "/inbox", "/health?all=1", "/usage", "/effect", "/timeline", "/settings"):
            page.goto(root + path)
            found[path] = appearance.faults(page)
        page.context.close()

    assert ({name: faults for name, faults in found.items() if faults}, errors) == ({}, [])


@in_thread
def test_a_word_of_120_letters_makes_no_page_wider_than_the_window(chromium, tmp_path, monkeypatch):
    _own_folders(tmp_path, monkeypatch)
    project, word = served.fill(tmp_path / "ferry"), ("donaudampfschifffahrt" * 6)[:120]
    content = {"context": word, "decision": word, "rationale": [word]}
    entry = project.save("decision", {"title": word[:110], "content": content, "tags": [word[:60]], "triggers": [word]})
    served.put_draft(project, f"{word[:100]} too")
    with served.serving(Path(project.root)) as printed:
        page, root, errors = _opened(chromium, printed)
        wide = []
        address = f"/record/project/{entry.path}"
        for path in ("/", "/search", "/inbox", "/timeline", "/map", "/health?all=1", address, f"{address}/edit"):
            page.goto(root + path)
            for width in appearance.WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                if page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth"):
                    wide.append(f"{path} {width}: {page.evaluate(_WIDE)}")
        page.context.close()

    assert (wide, errors) == ([], [])


@in_thread
def test_no_word_is_cut_or_broken_on_the_static_site(chromium, site):
    page = open_context(chromium).new_page()

    faults = {}
    for name in ("index", "search", "map", "timeline", "record/decisions/sessions-live-in-postgres"):
        page.goto((site / f"{name}.html").as_uri())
        for width in appearance.WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            faults[f"{name} {width}"] = page.evaluate(appearance.FAULTS)

    assert {where: what for where, what in faults.items() if what} == {}


@in_thread
def test_a_broken_word_is_noticed(chromium):
    page = open_context(chromium, viewport={"width": 390, "height": 800}).new_page()
    page.set_content("<p style='width: 4em; overflow-wrap: anywhere'>incomprehensibilities</p>")

    assert page.evaluate(appearance.FAULTS) == ["broken: incomprehensibilities"]
