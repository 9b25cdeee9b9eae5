"""The frame around every page in a browser: palette, keys, theme, menu, and what the map and Start do on a click."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect

from onrecord.project import Project
from tests.web import sample, served
from tests.web.browser import in_thread, open_context, start_browser

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.xdist_group("chromium")]


class Sample:
    """The sample project, and windows on its pages."""

    def __init__(self, project: Project, address: str, chromium: Browser) -> None:
        self.project = project
        self.root = ""
        self._address = address
        self._chromium = chromium
        self._cookies: list = []

    def window(self, path: str = "/", **options: object) -> Page:
        context = open_context(self._chromium, **options)
        context.add_cookies(self._cookies)
        page = context.new_page()
        if not self._cookies:
            page.goto(self._address)
            page.wait_for_url(lambda url: "token=" not in url)
            self.root = page.url.rstrip("/")
            self._cookies = context.cookies()
        page.goto(self.root + path)
        return page


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    home = tmp_path_factory.mktemp("home")
    folders = {"CLAUDE_CONFIG_DIR": "claude", "ONRECORD_STATE_DIR": "state", "ONRECORD_CACHE_DIR": "cache"}
    with pytest.MonkeyPatch.context() as patch, start_browser() as chromium:
        for name, subfolder in folders.items():
            patch.setenv(name, str(home / subfolder))
        project = sample.fill(tmp_path_factory.mktemp("project") / "ferry")
        with served.serving(Path(project.root)) as address:
            yield Sample(project, address, chromium)


@in_thread
def test_the_palette_finds_a_record_by_keys_alone(ferry):
    page = ferry.window("/settings")

    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search records, pages and actions")
    expect(field).to_be_focused()
    page.keyboard.type("logged out")
    expect(page.get_by_role("option", name="Sessions live in Postgres")).to_be_visible()
    for _ in range(10):
        chosen = page.locator("[role=option][aria-selected=true]")
        expect(field).to_have_attribute("aria-activedescendant", chosen.get_attribute("id"))
        if "Sessions live" in chosen.inner_text():
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions live in Postgres")


@in_thread
def test_the_palette_has_pages_and_actions_and_closes(ferry):
    page = ferry.window("/")

    page.keyboard.press("/")
    page.keyboard.type("new dec")
    expect(page.get_by_role("option").first).to_contain_text("New decision")
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("m")

    expect(page.get_by_role("heading", level=1)).to_have_text("Map")


@in_thread
def test_the_key_right_after_the_palette_is_closed_is_heard(ferry):
    """It went to the field of the palette, which was closed but still had the focus."""
    page = ferry.window("/")

    page.keyboard.press("Control+k")
    page.keyboard.type("seats")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")

    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


@in_thread
def test_a_slash_that_is_typed_into_a_field_is_a_slash(ferry):
    page = ferry.window("/agent")

    page.get_by_label("A prompt").fill("")
    page.get_by_label("A prompt").press_sequentially("a/b?")

    expect(page.get_by_label("A prompt")).to_have_value("a/b?")
    expect(page.get_by_role("combobox")).to_be_hidden()


@in_thread
def test_the_theme_is_chosen_without_a_script_and_stays(ferry):
    page = ferry.window("/map", java_script_enabled=False, color_scheme="light")

    page.get_by_role("button", name="Theme: dark").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Map")
    page.goto(f"{ferry.root}/settings")

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Theme: system").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")


@in_thread
def test_the_menu_of_a_phone_opens_without_a_script(ferry):
    page = ferry.window("/", java_script_enabled=False, viewport={"width": 390, "height": 800})
    link = page.get_by_role("navigation", name="Pages").locator("a", has_text="Timeline")

    expect(link).to_be_hidden()
    page.get_by_text("Menu", exact=True).click()
    link.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Timeline")


@in_thread
def test_the_map_lists_the_records_of_what_is_pointed_at(ferry):
    page = ferry.window("/map")
    records = page.locator("[data-map-records] > li:visible")
    everything = records.count()

    box = page.locator("svg a[aria-label^='src/booking/seats/']").first
    box.hover(position={"x": 4, "y": 4})
    expect(page.locator("#about")).to_contain_text("src/booking/seats/")
    expect(records).to_have_count(1)
    expect(records.first).to_contain_text("Seats are held for five minutes")
    page.mouse.move(2, 2)
    expect(records).to_have_count(everything)


@in_thread
def test_the_map_is_walked_with_arrows(ferry):
    page = ferry.window("/map")

    page.locator("svg.tree-map a[tabindex='0']").focus()
    first = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")

    assert first != second
    name = second.split(",")[0].strip("/").split("/")[-1]
    expect(page.get_by_role("navigation", name="Folders above")).to_contain_text(name)


@in_thread
def test_feedback_is_one_click_without_a_script(ferry):
    page = ferry.window("/", java_script_enabled=False)

    page.locator("#shown").get_by_role("button", name=re.compile("^helped")).first.click()
    pressed = page.locator("#shown [aria-pressed=true]")
    expect(pressed.first).to_contain_text("helped")
    pressed.first.click()

    expect(page.locator("#shown [aria-pressed=true]")).to_have_count(0)
