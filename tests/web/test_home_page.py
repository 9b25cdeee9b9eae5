"""The start page: what needs the user, what agents were shown, whether it was right, and what is known."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from onrecord.usage import Happening, event_log, usage_log
from onrecord.web import home_page
from tests.web import served


def _text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.replace("<wbr>", "")))


def _section(response, name: str) -> str:
    """Return the HTML of the section with this id."""
    return re.search(rf'<section[^>]* id="{name}".*?</section>', response.text, re.S)[0]


def _show(project, entry, session: str = "one", outcome: str = "") -> str:
    """Log that an agent was shown a record in a session, and return the hash of the session."""
    happenings = [Happening(project.store.root, event_log.SHOWN, entry.path, "prompt", "rule")]
    if outcome:
        happenings.append(Happening(project.store.root, outcome, entry.path, "", ""))
    event_log.append(happenings, "claude-code", session)
    return event_log.session_key(session)


def test_the_four_questions_are_answered(browser, save, draft, project):
    entry = save(related_files=[])
    draft()
    _show(project, entry, outcome="used")
    usage_log.append(project.store.root, [("injected", entry.path)] * 4 + [("opened", entry.path)])

    page = browser.get("/")

    assert "1 draft" in _text(_section(page, "needs-you")) and 'href="/inbox"' in _section(page, "needs-you")
    shown = _text(_section(page, "shown"))
    assert "Sessions live in Postgres opened just now Claude Code prompt" in shown
    assert "opened 25 % of 4 shown" in _text(_section(page, "right"))
    assert "1 Decisions" in _text(_section(page, "known"))


def test_feedback_is_noted_and_pressed_again_taken_back(browser, save, project):
    entry = save()
    session = _show(project, entry)
    fields = {"store": "project", "record": entry.path, "session": session, "verdict": "wrong"}

    pressed = browser.post("/feedback", **fields)
    after = event_log.newest(project.store.root)[0].feedback
    browser.post("/feedback", **fields)

    assert re.search(r'value="wrong" aria-pressed="true"', pressed.text)
    assert after == "wrong"
    assert event_log.newest(project.store.root)[0].feedback == ""
    assert usage_log.per_record(project.store.root)[entry.path].wrong == 0


@pytest.mark.parametrize(("page", "back"), [("/usage", "/usage#shown"), ("/", "/#shown"), ("//evil", "/#shown")])
def test_feedback_leads_back_to_where_it_was_given(browser, save, project, page, back):
    entry = save()
    fields = {"record": entry.path, "session": _show(project, entry), "verdict": "helped", "page": page}

    response = browser.post("/feedback", **fields)

    (redirect,) = response.history
    assert (redirect.status_code, redirect.headers["location"]) == (303, browser.access.prefix + back)


@pytest.mark.parametrize(("number", "words"), [(8, "Usage"), (9, "All 9"), (199, "All 199"), (200, "The newest 200")])
def test_the_link_to_all_showings_says_how_many_there_are(number, words):
    assert home_page._shown_link(number) == words


@pytest.mark.parametrize(
    "fields",
    [{"verdict": "excellent"}, {"verdict": "helped", "record": "../../x.json"}, {"verdict": "helped", "store": "acme"}],
)
def test_feedback_about_nothing_is_refused(browser, save, project, fields):
    entry = save()
    session = _show(project, entry)

    response = browser.post("/feedback", **{"record": entry.path, "session": session, **fields})

    assert response.status_code in (400, 404)
    assert event_log.newest(project.store.root)[0].feedback == ""


def test_a_record_that_is_deleted_stays_in_the_stream_without_a_link(browser, save, project):
    save("Something else")
    entry = save()
    _show(project, entry)
    os.remove(os.path.join(project.store.root, entry.path))

    shown = _section(browser.get("/"), "shown")

    assert f"{entry.path} (deleted)" in _text(shown)
    assert f'href="/record/project/{entry.path}"' not in shown


def test_what_changed_is_renewed_on_an_open_page(browser, save):
    """A record that an agent saved was counted at once, and listed after a reload."""
    save()

    assert re.search(r'<section[^>]* id="changed-lately" data-live', browser.get("/").text)


def test_what_changed_stands_in_the_empty_half_of_start_until_agents_are_shown_something(browser, save, project):
    entry = save()

    before = browser.get("/").text
    _show(project, entry)
    after = browser.get("/").text

    assert [text.index('id="newest"') < text.index('id="known"') for text in (before, after)] == [True, False]


def test_a_switch_that_hides_everything_is_set_back_with_one_button(browser, save, project):
    save()
    config = Path(project.store.root, "memory-config.json")
    config.write_text('{"retrieval": {"enabled": false}}')

    needs = _section(browser.get("/"), "needs-you")
    fields = dict(re.findall(r'name="(subject|file)" value="([^"]*)"', needs))
    after = browser.post("/do/unset", **fields)

    assert fields["subject"] == "retrieval.enabled"
    assert "Back to the default." in after.text
    assert "enabled" not in config.read_text()


@pytest.mark.parametrize("subject", ["", "--help", "a\nb", "x" * 300])
def test_a_button_runs_no_option(browser, save, subject):
    save()

    response = browser.post("/do/sync", subject=subject)

    assert response.status_code == 400
    assert "nothing is named" in response.text


def test_there_is_no_button_for_another_command(browser, save):
    save()

    assert browser.post("/do/clean").status_code == 400


def test_an_error_of_a_command_is_shown_with_its_fix(browser, save):
    save()

    response = browser.post("/do/sync", subject="acme")

    assert response.status_code == 400
    assert "acme" in _text(response.text) and "<code>onrecord" in response.text
    assert "it failed" not in response.text


def test_the_theme_is_remembered_and_leads_nowhere_else(browser, save):
    save()

    dark = browser.post("/theme", theme="dark", page="/map?folder=src")
    away = browser.post("/theme", theme="pink", page="//evil.example/")

    assert '<html lang="en" data-theme="dark">' in dark.text and "<h1>Map</h1>" in dark.text
    assert '<html lang="en" data-theme="dark">' in away.text and "<h1>Start</h1>" in away.text


def test_a_draft_that_waits_is_named_by_its_title_and_leads_to_it(browser, save, draft):
    save()
    draft("Use uv for every install")

    page = browser.get("/")

    (target, title) = re.search(r'<li><a href="/inbox#(draft-\w+)">([^<]+)</a>', _section(page, "needs-you")).groups()
    assert title == "Use uv for every install"
    assert f'id="{target}"' in browser.get("/inbox").text


def test_a_draft_that_cannot_be_read_is_named_by_its_file(browser, save, draft, project):
    save()
    name = draft()
    Path(project.store.root, "inbox", f"{name}.json").write_text("{")

    assert f">{name}</a>" in _section(browser.get("/"), "needs-you")


def test_a_stream_that_is_switched_off_says_so_and_is_switched_on_with_one_button(browser, save, project):
    """The page said that no agent had been shown a record, where the event log was off."""
    save()
    config = Path(project.store.root, "memory-config.json")
    config.write_text('{"usage": {"events": false}}')

    page = browser.get("/")
    shown, usage = _section(page, "shown"), _text(browser.get("/usage").text)
    fields = dict(re.findall(r'name="(subject|file)" value="([^"]*)"', shown))
    browser.post("/do/unset", **fields)

    assert "usage.events is off" in _text(shown) and "No agent has been shown" not in shown
    assert "usage.events is off" in usage
    assert "usage.events" not in _section(browser.get("/"), "shown")


def test_what_agents_were_shown_of_a_shared_store_is_in_the_stream(browser, save, project, monkeypatch):
    """The records of the team were left out of it."""
    save()
    store = served.conflict(project)
    entry = next(iter(store.entries()))
    happening = Happening(store.root, event_log.SHOWN, entry.path, "prompt", "rule")
    event_log.append([happening], "codex", "one")

    shown = _section(browser.get("/"), "shown")
    fields = dict(re.findall(r'name="(store|record|session)" value="([^"]*)"', shown))
    browser.post("/feedback", verdict="helped", **fields)

    assert "Install with uv just now Codex CLI prompt platform" in _text(shown)
    assert event_log.newest(store.root)[0].feedback == "helped"
