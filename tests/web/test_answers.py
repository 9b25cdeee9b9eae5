"""The four answers of Start are in sight at once, however much waits and however much agents were shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect

from onrecord.project import Project
from onrecord.usage import Happening, event_log
from tests.git_project import GitProject
from tests.web import appearance, sample, served
from tests.web.browser import in_thread, open_context, start_browser

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.xdist_group("chromium")]

NEEDS, FOLDERS, SHOWINGS = 30, 8, 100
FIRST_CONTENT = {"needs-you": ".need", "shown": ".stream > li", "right": ".figures", "known": "svg.tree-map"}
_OUT_OF_SIGHT = """([id, content]) => {
  const parts = [document.querySelector(`#${id} h2`), document.querySelector(`#${id} ${content}`)];
  return parts.some((part) => !part || part.getBoundingClientRect().top < 0
    || part.getBoundingClientRect().bottom > innerHeight);
}"""


class Start:
    """The start page in windows that share one browser: its address lets in once."""

    def __init__(self, address: str, chromium: Browser) -> None:
        self._address = address
        self._chromium = chromium

    def window(self, width: int, height: int) -> Page:
        context = next(iter(self._chromium.contexts), None) or open_context(self._chromium)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.goto(self._address)
        page.wait_for_url(lambda url: "token=" not in url)
        self._address = page.url
        return page


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """The pages of a monorepo in which drafts wait in 8 folders and 22 shared stores are missing."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, start_browser() as chromium:
        for name in ("CLAUDE_CONFIG_DIR", "ONRECORD_STATE_DIR", "ONRECORD_CACHE_DIR", "ONRECORD_DATA_DIR"):
            patch.setenv(name, str(home / name.lower()))
        project = sample.fill(tmp_path_factory.mktemp("project") / "ferry")
        for number in range(FOLDERS):
            _wait_in_folder(project, f"packages/reservations-and-cancellations-{number}")
        remotes = [f"team-{number}" for number in range(NEEDS - FOLDERS)]
        Path(project.store.root, "memory-config.json").write_text(json.dumps({"remotes": remotes}))
        GitProject(Path(project.root)).commit()
        entry = project.get("seats-are-held-for-five-minutes")
        for number in range(SHOWINGS):
            happening = Happening(project.store.root, event_log.SHOWN, entry.path, "prompt", "rule")
            event_log.append([happening], "claude-code", f"session {number}")
        with served.serving(Path(project.root)) as printed:
            yield Start(printed, chromium)


def _wait_in_folder(project: Project, folder: str) -> None:
    """Put drafts with long titles into the store of a folder, which git knows."""
    Path(project.root, folder, ".claude", "memory").mkdir(parents=True)
    nested = Project(str(Path(project.root, folder)))
    nested.save("preference", {"title": f"Names of {folder}", "content": {"topic": "a", "value": "b", "reason": "c"}})
    for number in range(3):
        served.put_draft(nested, f"{number} days before: cancellations are refunded in the currency of the payment")


@in_thread
def test_the_four_answers_are_in_sight_at_once_and_lead_to_all_of_each(start):
    page = start.window(1440, 900)

    hidden = [name for name, content in FIRST_CONTENT.items() if page.evaluate(_OUT_OF_SIGHT, [name, content])]
    faults = appearance.faults(page)
    number = int(page.locator("#needs-you .count").inner_text())
    page.get_by_role("link", name=f"All {number}", exact=True).click()
    expect(page.locator("#needs-you .need")).to_have_count(number)
    page.get_by_role("link", name="The first 4").click()
    expect(page.locator("#needs-you .need")).to_have_count(4)
    page.locator("#shown .card-head a").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Usage")
    assert page.locator(".stream > li").count() >= SHOWINGS
    assert (hidden, faults) == ([], {})
    assert number >= NEEDS


@in_thread
def test_on_a_phone_each_answer_is_one_click_away(start):
    page = start.window(390, 844)
    out_of_sight = []

    for number, (name, content) in enumerate(FIRST_CONTENT.items()):
        page.evaluate("scrollTo(0, 0)")
        link = page.get_by_role("navigation", name="On this page").get_by_role("link").nth(number)
        expect(link).to_be_in_viewport(ratio=1)
        link.click()
        expect(page.locator(f"#{name} h2")).to_be_in_viewport(ratio=1)
        if page.evaluate(_OUT_OF_SIGHT, [name, content]):
            out_of_sight.append(name)

    assert out_of_sight == []
