"""Search as you type, facets, and pages that change while they are open, in a real browser."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Page, expect

from onrecord.record import compose
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from tests.web.browser import in_thread
from tests.web.test_browser import chromium as chromium
from tests.web.test_browser import ferry as ferry
from tests.web.test_browser import home as home

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.xdist_group("chromium")]

CONTENT = {"context": "Asked in a session", "decision": "Yes", "rationale": ["it was agreed"]}


POLLS = 2_400
"""Looks at a page, 50 ms apart, before a test gives up."""


def _wait_for(page: Page, expression: str) -> None:
    """Wait until an expression is true; the policy of our pages forbids `wait_for_function` a second look."""
    for _ in range(POLLS):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


def _save(ferry, title: str) -> str:
    return ferry.project.save("decision", {"title": title, "content": CONTENT}).path


@in_thread
def test_results_come_as_you_type_with_marked_words_and_a_full_address(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/search")

    page.locator("#q").press_sequentially("postgres expiry")

    first = page.locator(".result").first
    expect(first.locator(".row-title")).to_have_text("Sessions live in Postgres")
    expect(page).to_have_url(re.compile(r"/search\?q=postgres\+expiry$"))
    expect(first.locator("mark").first).to_be_visible()


@in_thread
def test_a_facet_narrows_without_loading_the_page_and_back_takes_it_off(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/search")
    page.evaluate("window.isTheSamePage = true")
    before = page.locator(".result").count()

    page.locator('[data-choice="category=constraint"]').click()

    expect(page).to_have_url(re.compile("category=constraint"))
    expect(page.locator(".result")).to_have_count(1)
    expect(page.locator('[data-choice="category=constraint"]')).to_be_focused()
    page.go_back()
    expect(page.locator(".result")).to_have_count(before)
    assert page.evaluate("window.isTheSamePage")


@in_thread
def test_typing_keeps_the_facets(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/search?category=constraint")

    page.locator("#q").press_sequentially("session")

    expect(page).to_have_url(re.compile(r"q=session&category=constraint$"))
    expect(page.locator(".result")).to_have_count(1)


@in_thread
def test_search_works_without_a_script(ferry):
    page = ferry.window(java_script_enabled=False)
    page.goto(f"{ferry.root}/search?category=decision")

    page.locator("#q").fill("login state")
    page.get_by_role("button", name="Search").click()

    assert "category=decision" in page.url
    expect(page.locator(".row-title").first).to_have_text("Sessions live in Postgres")
    page.locator('[data-choice="category=decision"]').click()
    assert "category=" not in page.url


@in_thread
def test_a_record_that_is_saved_elsewhere_appears_where_the_reader_is_and_on_the_tab(ferry):
    page = ferry.window(viewport={"width": 1280, "height": 400})
    page.goto(f"{ferry.root}/search")
    _wait_for(page, "navigator.locks.query().then(locks => locks.held.length === 1)")
    title = page.locator(".row-title", has_text="Templates are rendered on the server")
    title.scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, 60)")
    _wait_for(page, "scrollY > 0")
    top = title.bounding_box()["y"]
    name = "Appears by itself"

    _save(ferry, name)

    expect(page.locator(".row-title", has_text=name)).to_have_count(1)
    assert abs(title.bounding_box()["y"] - top) < 2


@in_thread
def test_the_tab_and_the_navigation_count_what_waits(ferry):
    page, other = ferry.window(), ferry.window()
    other.goto(f"{ferry.root}/timeline")
    page.goto(f"{ferry.root}/settings")
    count = page.locator("nav a", has_text="Inbox").locator(".count")
    before = int(count.inner_text())
    box = Inbox(ferry.project.store.root)
    draft = box.put(inbox.new_draft(compose.compose("decision", {"title": "Counted", "content": CONTENT})))

    expect(count).to_have_text(str(before + 1))
    expect(page).to_have_title(re.compile(r"^\(\d+\) Settings"))
    expect(other.locator("nav a", has_text="Inbox").locator(".count")).to_have_text(str(before + 1))

    box.drop(draft.name)
    expect(count).to_have_text(str(before))


@in_thread
def test_two_tabs_share_one_stream(ferry):
    first = ferry.window()
    first.goto(f"{ferry.root}/settings")
    asked = []
    second = first.context.new_page()
    second.on("request", lambda request: asked.append(request.url))
    second.goto(f"{ferry.root}/settings")
    locks = "navigator.locks.query().then(locks => [locks.held.length, locks.pending.length])"
    _wait_for(second, f"{locks}.then(([held, pending]) => held === 1 && pending === 1)")

    assert not [url for url in asked if url.endswith("/events")]
    first.close()
    with second.expect_request(re.compile("/events$")):
        pass


@in_thread
def test_a_field_that_somebody_types_in_is_left_alone(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/search")
    page.evaluate(
        """() => {
            const field = document.createElement("input");
            field.id = "typed";
            document.querySelector("#results").append(field);
        }"""
    )
    page.locator("#typed").fill("half a sentence")

    with page.expect_response(re.compile(r"/search$")):
        _save(ferry, "Saved meanwhile")

    expect(page.locator("#typed")).to_have_value("half a sentence")


@in_thread
def test_the_inbox_says_that_somebody_else_decided_and_keeps_what_is_read(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/inbox")
    before = page.locator("article.draft").count()
    box = Inbox(ferry.project.store.root)

    box.drop(box.names()[0])
    note = page.locator("[data-news]")
    expect(note).to_contain_text("1 draft decided on meanwhile")
    expect(page.locator("article.draft")).to_have_count(before)
    note.get_by_role("link").click()

    expect(page.locator("article.draft")).to_have_count(before - 1)
    expect(page.locator("[data-news]")).to_be_hidden()


@in_thread
def test_add_triggers_leads_to_the_field(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/health?all=1")

    page.get_by_role("link", name="Add triggers").first.click()

    expect(page.locator("fieldset:target > legend")).to_have_text("Triggers")
    expect(page.locator("fieldset:target")).to_be_in_viewport()
