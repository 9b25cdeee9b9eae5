"""What the pages show, and what their buttons do to the files."""

from __future__ import annotations

import re

from recollect.capture.inbox import Inbox
from recollect.store.writer import Writer

HOSTILE = '<script>alert("x")</script><img src=x onerror=y>\u202e\x1b[31m&amp;'


def _text(answer) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def _address(entry) -> str:
    return f"/record/project/{entry.path}"


def test_the_start_page_counts_and_says_what_waits(browser, save, draft):
    save()
    draft()

    text = _text(browser.get("/"))

    assert "1 Decisions" in text
    assert "1 draft to review" in text
    assert "Sessions live in Postgres" in text


def test_nothing_to_do_is_said(browser, save):
    save()

    assert "Nothing to do." in browser.get("/").text


def test_a_project_without_a_memory_is_told_what_to_do(browser):
    answer = browser.get("/")

    assert answer.status_code == 404
    assert "recollect init" in answer.text


def test_a_search_finds_and_a_part_of_it_is_no_page(browser, save):
    save(triggers=["where do we keep login state?"])

    whole, part = browser.get("/search?q=login+state"), browser.get("/search?q=login+state&part=1")

    assert "Sessions live in Postgres" in whole.text and "<html" in whole.text
    assert "Sessions live in Postgres" in part.text and "<html" not in part.text


def test_a_record_shows_what_it_says_and_what_replaced_it(browser, save, project):
    old = save("Sessions live in Redis")
    new = save()
    Writer(project.store, project.settings).supersede(old.path, new.path)

    text = _text(browser.get(_address(old)))

    assert "Rows in auth.sessions" in text
    assert "never shown to an agent as current" in text
    assert text.index("Sessions live in Redis", text.index("What replaced what")) < text.rindex(
        "Sessions live in Postgres"
    )


def test_a_record_is_retired_and_that_is_taken_back(browser, save, project):
    entry = save()

    retired = browser.post(f"{_address(entry)}/retire", hash=entry.hash, text="not true any more")

    assert project.get(entry.path).memory.retired_reason == "not true any more"
    change = re.search(r'name="change" value="([^"]+)"', retired.text).group(1)
    assert "Taken back" in browser.post("/undo", change=change).text
    assert project.get(entry.path).memory.record_status == "active"


def test_a_change_of_a_version_that_is_gone_is_refused(browser, save, project):
    entry = save()
    Writer(project.store, project.settings).update(entry.path, {"tags": ["auth"]}, entry.hash)

    answer = browser.post(f"{_address(entry)}/retire", hash=entry.hash, text="why")

    assert answer.status_code == 409
    assert project.get(entry.path).memory.record_status == "active"


def test_a_draft_is_accepted_rejected_and_merged(browser, save, draft, project):
    save()
    first, second = draft("Use uv"), draft("Sign commits")

    assert "Saved: Use uv" in browser.post(f"/inbox/{first}/accept").text
    assert "Rejected" in browser.post(f"/inbox/{second}/reject").text
    third = draft("Cache wheels")
    assert "Merged into: Use uv" in browser.post(f"/inbox/{third}/merge", into="use-uv").text

    assert Inbox(project.store.root).names() == []
    assert project.get("use-uv").memory.times_updated == 1


def test_hostile_text_is_text_on_every_page(browser, save, draft, project):
    content = {"context": HOSTILE, "decision": HOSTILE, "rationale": [HOSTILE], "alternatives": []}
    entry = save(HOSTILE + " title", content=content, tags=["a"], triggers=[HOSTILE], related_files=[])
    draft("Draft " + HOSTILE, evidence=(HOSTILE,))

    for page in ("/", "/search", f"/search?q={'script'}", _address(entry), "/inbox"):
        text = browser.get(page).text
        assert "alert" in text, page
        assert "<script>alert" not in text and "<img" not in text, page
        assert "\x1b" not in text and "\u202e" not in text, page


def test_no_template_marks_text_as_safe():
    from pathlib import Path

    from recollect import web

    for template in (Path(web.__file__).parent / "templates").iterdir():
        text = template.read_text(encoding="utf-8")
        assert "|safe" not in text.replace(" ", "") and "autoescape" not in text, template
        assert "style=" not in text and " on" + "click" not in text, template
