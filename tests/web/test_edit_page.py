"""Forms for records and drafts: same checks as on the command line, and no change is lost."""

from __future__ import annotations

import html
import re

from onrecord.store.inbox import Inbox
from onrecord.store.writer import Writer


def _form(response) -> str:
    """Return the text in the form, as a browser sends it."""
    text = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", response.text, re.S).group(1)
    return html.unescape(text).replace("\n", "\r\n")


def _hash(response) -> str:
    return re.search(r'name="hash" value="([^"]*)"', response.text).group(1)


def _address(entry) -> str:
    return f"/record/project/{entry.path}/edit"


def test_a_form_that_is_sent_back_as_it_is_changes_nothing(browser, save, project):
    entry = save(tags=["auth"], triggers=["where is login state?"])
    page = browser.get(_address(entry))

    response = browser.post(_address(entry), text=_form(page), hash=_hash(page))

    assert project.get(entry.path) == entry
    # The last change was not made here, so it cannot be undone here.
    assert "Undo" not in response.text


def test_a_field_is_changed_and_the_reason_is_in_the_history(browser, save, project):
    entry = save()
    page = browser.get(_address(entry))
    text = _form(page).replace("Rows in auth.sessions", "Rows in auth.sessions, 14 days")

    response = browser.post(_address(entry), text=text, hash=_hash(page), summary="they expire")

    after = project.get(entry.path).memory
    assert "Saved." in response.text
    assert after.content["decision"] == "Rows in auth.sessions, 14 days"
    assert "they expire" in [change.summary for change in after.changes]


def test_a_wrong_form_comes_back_with_what_is_wrong_and_the_text(browser, save, project):
    entry = save()
    page = browser.get(_address(entry))
    text = _form(page).replace("Rows in auth.sessions", "").replace("# Sessions live in Postgres", "# Sessions")

    response = browser.post(_address(entry), text=text, hash=_hash(page))

    assert response.status_code == 422
    assert "decision" in response.text and "Nothing was saved" in response.text
    assert "# Sessions\r\n" in _form(response)
    assert project.get(entry.path) == entry


def test_of_two_writers_the_second_sees_both_versions_and_loses_neither(browser, save, project):
    entry = save()
    page = browser.get(_address(entry))
    Writer(project.store, project.settings).update(entry.path, {"content": {"context": "theirs"}}, entry.hash)
    mine = _form(page).replace("Rows in auth.sessions", "mine")

    conflict = browser.post(_address(entry), text=mine, hash=_hash(page))

    assert conflict.status_code == 409
    assert "theirs" in conflict.text and "mine" in _form(conflict)
    assert project.get(entry.path).memory.content["decision"] == "Rows in auth.sessions"
    both = _form(conflict).replace("Redis lost sessions", "theirs")
    assert "Saved." in browser.post(_address(entry), text=both, hash=_hash(conflict)).text
    content = project.get(entry.path).memory.content
    assert (content["context"], content["decision"]) == ("theirs", "mine")


def test_a_new_record_is_saved_and_one_like_it_only_if_somebody_insists(browser, save, project):
    save()
    page = browser.get("/new/preference")
    text = _form(page).replace("# ", "# Tabs, not spaces", 1)
    for name, value in {"topic": "indentation", "value": "tabs", "reason": "everybody sets the width"}.items():
        text = re.sub(rf"(?i)(## {name}\r\n(?:<!--.*?-->\r\n)?)", rf"\g<1>{value}\r\n", text, count=1, flags=re.S)

    response = browser.post("/new/preference", text=text)

    assert "Saved." in response.text, response.text
    assert project.get("tabs-not-spaces").memory.content["value"] == "tabs"
    again = browser.post("/new/preference", text=text)
    assert again.status_code == 422


def test_a_secret_is_refused_and_the_text_stays(browser, save, project):
    entry = save()
    page = browser.get(_address(entry))
    text = _form(page).replace("Rows in auth.sessions", "AKIA" + "ABCDEFGHIJKLMNOP")

    response = browser.post(_address(entry), text=text, hash=_hash(page))

    assert response.status_code == 422
    assert project.get(entry.path) == entry


def test_a_draft_is_changed_before_it_is_accepted(browser, save, draft, project):
    save()
    name = draft("Use uv")
    page = browser.get(f"/inbox/{name}/edit")

    text = _form(page).replace("uv installs everything", "uv, pinned")
    browser.post(f"/inbox/{name}/edit", text=text, hash=_hash(page))

    assert Inbox(project.store.root).get(name).record.content["decision"] == "uv, pinned"


def test_a_draft_that_was_replaced_since_is_not_overwritten(browser, save, draft, project):
    save()
    name = draft("Use uv", session="one")
    page = browser.get(f"/inbox/{name}/edit")
    box = Inbox(project.store.root)
    better = box.get(name)
    box.put(better._replace(record=better.record._replace(tags=("theirs",))))
    mine = _form(page).replace("uv installs everything", "mine")

    conflict = browser.post(f"/inbox/{name}/edit", text=mine, hash=_hash(page))

    assert conflict.status_code == 409
    assert "theirs" in conflict.text and "mine" in _form(conflict)
    assert box.get(name).record.tags == ("theirs",)
    browser.post(f"/inbox/{name}/edit", text=_form(conflict), hash=_hash(conflict))
    assert box.get(name).record.content["decision"] == "mine"


def test_no_other_category_can_be_made(browser, save):
    save()

    assert browser.get("/new/secret").status_code == 400


def test_a_new_trigger_that_fits_any_prompt_is_named_after_saving(browser, save):
    entry = save(triggers=["where is login state?"])
    page = browser.get(_address(entry))

    response = browser.post(
        _address(entry), text=_form(page).replace("where is login state?", "fix it"), hash=_hash(page)
    )

    assert "the trigger &#34;fix it&#34; has only words that any prompt may have" in response.text
