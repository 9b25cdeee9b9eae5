"""Editing and review in a real browser: with and without scripts, by keyboard, by two people, and a day's work."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, expect

from onrecord.shared import reconcile
from onrecord.store.inbox import Inbox
from onrecord.store.writer import Writer
from onrecord.usage import usage_log
from tests.web import appearance, served
from tests.web.browser import in_thread, start_browser
from tests.web.test_browser import Ferry

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.xdist_group("chromium")]

POSTGRES = "/record/project/decisions/sessions-live-in-postgres.json"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


@pytest.fixture
def ferry(chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ferry]:
    """A project of its own for each test, with its server."""
    folders = {"CLAUDE_CONFIG_DIR": "claude", "ONRECORD_STATE_DIR": "state", "ONRECORD_CACHE_DIR": "cache"}
    for name, subfolder in {**folders, "ONRECORD_DATA_DIR": "data"}.items():
        monkeypatch.setenv(name, str(tmp_path / subfolder))
    project = served.fill(tmp_path / "ferry")
    with served.serving(Path(project.root)) as address:
        yield Ferry(project, address, chromium)
        # A window that is still open would miss its server.
        in_thread(_close_windows)(chromium)


def _close_windows(chromium: Browser) -> None:
    for context in chromium.contexts:
        context.close()


@in_thread
def test_a_record_is_edited_with_rows_chips_pickers_and_a_preview(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}{POSTGRES}/edit")
    preview = page.locator("#preview")

    page.get_by_label("Decision", exact=True).fill("Rows in auth.sessions, 30 day expiry")
    expect(preview).to_contain_text("30 day expiry")
    reasons = page.locator('[data-list="content.rationale"] textarea')
    reasons.last.fill("backups are there already")
    expect(reasons).to_have_count(3)
    page.get_by_role("button", name="Move up: Rationale, reason 2").click()
    expect(reasons.first).to_have_value("backups are there already")
    triggers = page.locator('[data-list="triggers"] input')
    triggers.last.fill("fix it")
    triggers.nth(2).press("Enter")
    expect(triggers.last).to_be_focused()
    expect(preview).to_contain_text("only words that any prompt may have")
    page.get_by_role("button", name="Remove: Triggers, trigger 3").click()
    files = page.locator('[data-list="related_files"] input')
    files.last.press_sequentially("page")
    expect(page.get_by_role("option")).to_have_text(["src/web/page.py"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_label("What changed, and why").fill("they asked for it")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    after = ferry.project.get("sessions-live-in-postgres").memory
    assert after.content["decision"] == "Rows in auth.sessions, 30 day expiry"
    assert after.content["rationale"] == ["backups are there already", "one part fewer"]
    assert after.triggers == ("where do we keep login state?", "users are logged out after a deploy")
    assert after.related_files == ("src/auth/session.py", "src/web/page.py")


@in_thread
def test_a_check_is_written_in_rows_and_its_error_is_where_it_is(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/record/project/constraints/never-log-a-session-id.json/edit")

    page.locator("summary", has_text="Checks").click()
    page.get_by_role("button", name="Add a check").click()
    check = page.locator('[data-list="checks"] > li').first
    check.get_by_label("command").check()
    check.get_by_label("Starts, start 1", exact=True).fill("npm install")
    check.get_by_label("Breaks, example 1", exact=True).fill("yarn add left-pad")
    page.get_by_role("button", name="Save", exact=True).click()
    wrong = page.get_by_label("Breaks, example 1", exact=True).first
    expect(wrong).to_be_focused()
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#f-checks-0-examples-breaks-0-error")).to_contain_text("does not break the check")
    faults = appearance.faults(page)
    wrong.fill("npm install left-pad")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    (saved,) = ferry.project.get("never-log-a-session-id").memory.checks
    assert (saved.on, saved.starts, saved.examples.breaks) == (
        ("command",),
        ("npm install",),
        ("npm install left-pad",),
    )
    assert faults == {}


@in_thread
def test_unsaved_text_is_not_left_without_a_question(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}{POSTGRES}/edit")
    questions = []

    def stay(dialog) -> None:
        questions.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_label("Context", exact=True).fill("a long text that took an hour")
    page.get_by_role("link", name="Start").click()
    expect(page.get_by_label("Context", exact=True)).to_have_value("a long text that took an hour")
    assert questions == ["beforeunload"]
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    page.goto(f"{ferry.root}{POSTGRES}/edit")
    page.get_by_role("link", name="Start").click()
    expect(page).to_have_url(f"{ferry.root}/")
    assert questions == ["beforeunload"]


@in_thread
def test_a_record_is_written_without_any_script(ferry):
    page = ferry.window(java_script_enabled=False)
    page.goto(f"{ferry.root}/new/runbook")

    page.get_by_label("Title", exact=True).fill("Restart the worker when the queue stalls")
    page.get_by_label("Trigger", exact=True).fill("the queue stalls")
    page.get_by_label("Steps, step 1", exact=True).fill("look at the queue")
    page.get_by_role("button", name="Add a step").click()
    page.get_by_label("Steps, step 2", exact=True).fill("stop the worker")
    page.get_by_role("button", name="Move up: Steps, step 2").click()
    page.get_by_label("Verification").fill("the queue is empty")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("1. stop the worker. 2. look at the queue.")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    after = ferry.project.get("restart-the-worker-when-the-queue-stalls").memory
    assert after.content["steps"] == ["stop the worker", "look at the queue"]


@in_thread
def test_two_people_edit_one_field_and_choose(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}{POSTGRES}/edit")
    entry = ferry.project.get("sessions-live-in-postgres")
    patch = {"tags": ["sql"], "content": {"decision": "Rows in auth.sessions, 7 day expiry"}}
    Writer(ferry.project.store, ferry.project.settings).update(entry.path, patch, entry.hash)

    page.get_by_label("Decision", exact=True).fill("Rows in auth.sessions, 30 day expiry")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("nothing was saved")
    expect(page.locator("del")).to_have_text("7")
    expect(page.locator("ins")).to_have_text("30")
    faults = appearance.faults(page)
    page.get_by_label("Another text", exact=True).check()
    page.get_by_label("Another text for Decision").fill("Rows in auth.sessions, 14 day expiry after all")
    expect(page.get_by_label("Another text", exact=True)).to_be_checked()
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    after = ferry.project.get("sessions-live-in-postgres").memory
    assert after.content["decision"] == "Rows in auth.sessions, 14 day expiry after all"
    assert "sql" in after.tags
    assert faults == {}


@in_thread
def test_a_change_is_put_back_and_that_is_undone_on_the_same_page(ferry):
    entry = ferry.project.get("sessions-live-in-postgres")
    writer = Writer(ferry.project.store, ferry.project.settings, now="2999-01-01T00:00:00Z")
    writer.update(entry.path, {"content": {"decision": "Cookies, 30 day expiry"}}, entry.hash)
    page = ferry.window()
    page.goto(ferry.root + POSTGRES)

    expect(page.locator(".history del").first).to_be_visible()
    faults = appearance.faults(page)
    page.get_by_role("button", name="Put this back: Decision").first.click()
    expect(page.get_by_role("status").first).to_contain_text("Put back.")
    assert ferry.project.get(entry.path).memory.content["decision"] == "Rows in auth.sessions, 14 day expiry"
    page.get_by_role("button", name="Undo").click()

    expect(page.get_by_role("status").first).to_contain_text("Undone")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions live in Postgres")
    assert ferry.project.get(entry.path).memory.content["decision"] == "Cookies, 30 day expiry"
    assert faults == {}


@in_thread
def test_a_successor_is_picked_by_typing_its_title(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/record/project/decisions/templates-are-rendered-on-the-server.json")

    page.locator("summary", has_text="Supersede").click()
    field = page.get_by_label("The record that replaces it")
    field.press_sequentially("postgres")
    page.get_by_role("option", name=re.compile("Sessions live in Postgres")).click()
    expect(field).to_have_value("sessions-live-in-postgres")
    page.get_by_role("button", name="Supersede").click()

    expect(page.get_by_role("status").first).to_contain_text("Superseded.")
    assert ferry.project.get("templates-are-rendered-on-the-server").memory.superseded_by == "sessions-live-in-postgres"


@in_thread
def test_the_inbox_by_keyboard_edits_in_place_and_accepts_only_what_was_not_skipped(ferry):
    served.put_draft(ferry.project, "Cache wheels in CI")
    first, _, third = (draft.name for draft in Inbox(ferry.project.store.root).scan())
    page = ferry.window()
    page.goto(f"{ferry.root}/inbox")
    faults = appearance.faults(page)
    drafts = page.locator("article.draft")

    page.keyboard.press("j")
    page.keyboard.press("s")
    expect(drafts.first).to_contain_text("Skipped")
    expect(drafts.nth(1)).to_be_focused()
    page.keyboard.press("e")
    title = drafts.nth(1).get_by_label("Title", exact=True)
    expect(title).to_be_focused()
    expect(drafts.nth(1).locator(".preview blockquote")).to_be_visible()
    faults.update({f"editing: {name}": fault for name, fault in appearance.faults(page).items()})
    title.fill("Always do what was agreed in the session")
    drafts.nth(1).get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Draft changed")
    expect(drafts.nth(1)).to_be_focused()
    expect(drafts.nth(1)).to_contain_text("Always do what was agreed in the session")
    page.keyboard.press("k")
    page.keyboard.press("s")
    page.keyboard.press("A")
    expect(page.get_by_role("heading", level=1)).to_have_text("Accept 2 drafts?")
    faults.update({f"question: {name}": fault for name, fault in appearance.faults(page).items()})
    page.get_by_role("button", name="Accept 2 drafts").click()

    expect(page.get_by_role("status").first).to_contain_text("Saved 2 records.")
    assert Inbox(ferry.project.store.root).names() == [first]
    assert ferry.project.store.has("always-do-what-was-agreed-in-the-session") and ferry.project.store.has(third)
    assert faults == {}


@in_thread
def test_two_reviewers_at_once_see_what_the_other_did(ferry):
    page, colleague = ferry.window(), ferry.window()
    for window in (page, colleague):
        window.goto(f"{ferry.root}/inbox")

    draft = "Use uv for every install"
    colleague.locator("article.draft", has_text=draft).get_by_role("button", name="Accept", exact=True).click()
    expect(colleague.get_by_role("status").first).to_contain_text("Saved:")
    page.locator("article.draft", has_text=draft).get_by_role("button", name="Reject").click()

    expect(page.get_by_role("alert")).to_contain_text("“Use uv for every install” was accepted by a person")
    expect(page.locator("article.draft")).to_have_count(1)
    assert ferry.project.store.has("use-uv-for-every-install")


@in_thread
def test_a_draft_is_merged_after_a_preview_without_any_script(ferry):
    served.put_draft(ferry.project, "Sessions live in Postgres 16")
    page = ferry.window(java_script_enabled=False)
    page.goto(f"{ferry.root}/inbox")

    draft = page.locator("article.draft", has_text="Postgres 16")
    draft.get_by_label("into").fill("sessions-live-in-pos")
    draft.get_by_role("button", name="Merge").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge into: Sessions live in Postgres")
    faults = page.evaluate(appearance.FAULTS)
    page.locator("#m-content-context").get_by_label("The record now").first.check()
    page.get_by_role("button", name="Merge", exact=True).click()

    expect(page.get_by_role("status").first).to_contain_text("Merged into: Sessions live in Postgres")
    after = ferry.project.get("sessions-live-in-postgres").memory
    assert after.content["context"] == "Redis lost sessions on failover"
    assert after.content["decision"] == "Sessions live in Postgres 16"
    assert faults == []


@in_thread
def test_the_work_of_a_day(ferry):
    """Review ten drafts, resolve a conflict, answer a correction, and find a rule by its picture."""
    project = ferry.project
    titles = ["Cache wheels in CI", "Deploy on Tuesdays", "Log in UTC", "Name branches after issues", "Pin base images",
              "Retry with a jitter", "Rotate keys quarterly", "Squash on merge"]  # fmt: skip
    for title in titles:
        served.put_draft(project, title)
    store = served.conflict(project)
    for _ in range(3):
        usage_log.add_correction(project.store.root, "constraints/never-log-a-session-id.json", "codex")
    page = ferry.window()

    # Ten drafts of the project: one is edited, one merged, one rejected and taken back, the rest accepted.
    page.get_by_role("link", name=re.compile("drafts? waits? for review|Inbox|drafts wait")).first.click()
    page.goto(f"{ferry.root}/inbox?store=project")
    expect(page.locator("article.draft")).to_have_count(10)
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.get_by_role("status").first).to_contain_text("Saved:")
    page.goto(f"{ferry.root}/inbox?store=project")
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.get_by_role("status").first).to_contain_text("Rejected:")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").first).to_contain_text("Undone")
    page.goto(f"{ferry.root}/inbox?store=project")
    page.locator("article.draft", has_text="Log in UTC").first.focus()
    page.keyboard.press("e")
    page.get_by_label("Decision", exact=True).fill("Every log line has its time in UTC")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Draft changed")
    merged = page.locator("article.draft", has_text="Pin base images").first
    merged.get_by_label("into").fill("sessions-live-in-postgres")
    merged.get_by_role("button", name="Merge").click()
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Merged into:")
    page.goto(f"{ferry.root}/inbox?store=project")
    page.keyboard.press("A")
    page.get_by_role("button", name="Accept 8 drafts").click()
    expect(page.get_by_role("status").first).to_contain_text("Saved 8 records.")
    assert Inbox(project.store.root).names() == []
    assert project.get("log-in-utc").memory.content["decision"] == "Every log line has its time in UTC"

    # The conflict of a shared store.
    page.goto(f"{ferry.root}/inbox")
    page.get_by_role("link", name="Compare and choose").click()
    page.locator("#m-content-decision").get_by_label("Your version").first.check()
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Merged into: Install with uv")
    assert store.get("install-with-uv").memory.content["decision"] == "uv 0.6"

    # A rule that the agent broke three times gets a check.
    page.goto(f"{ferry.root}/")
    page.get_by_role("link", name="Never log a session id").first.click()
    expect(page.locator(".warning", has_text="Your agent broke this 3 times")).to_be_visible()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.locator("summary", has_text="Checks").click()
    page.get_by_role("button", name="Add a check").click()
    page.get_by_label("edit", exact=True).first.check()
    page.get_by_label("Adds, text 1", exact=True).first.fill("log(session_id)")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    assert project.get("never-log-a-session-id").memory.checks[0].adds == ("log(session_id)",)

    # A rule is found by its picture.
    page.goto(f"{ferry.root}/map")
    page.locator('.tree-map a[href$="folder=src/auth/session.py"]').first.click()
    page.get_by_role("link", name="Sessions live in Postgres").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions live in Postgres")


def test_the_conflict_of_the_day_is_a_draft(tmp_path, monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "ONRECORD_STATE_DIR", "ONRECORD_CACHE_DIR", "ONRECORD_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))

    store = served.conflict(served.fill(tmp_path / "ferry"))

    (name,) = Inbox(store.root).names()
    assert name.startswith(reconcile.CONFLICT)
    assert json.loads(Path(store.root, "inbox", f"{name}.json").read_text())["draft"]["fields"] == ["content.decision"]
