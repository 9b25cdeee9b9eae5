"""The buttons of records and drafts: what each says afterwards, and in which words it is refused."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from onrecord import timestamps
from onrecord.record import compose
from onrecord.shared import remotes, replicas
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.web import inbox_page, record_page
from tests.shared.machines import accept

CONTENT = {"context": "pip is slow", "decision": "uv installs everything", "rationale": ["seconds"]}


def _text(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html.replace("<wbr>", "")))).strip()


def _notices(response: Any) -> list[str]:
    """Return the texts of the notices on a page."""
    parts = re.findall(r'<div class="notice[^"]*" role="(?:status|alert)">(.*?)</div>', response.text, re.DOTALL)
    return [_text(part) for part in parts]


def _path(response: Any, browser: Any) -> str:
    return response.request.url.path.removeprefix(browser.access.prefix)


@pytest.mark.parametrize(
    ("before", "action", "text", "notice"),
    [
        ("active", "retire", "not true any more", "Retired."),
        ("active", "archive", "nobody asks", "Archived."),
        ("retired", "restore", "", "Back in use."),
        ("archived", "unarchive", "", "Back in use."),
        ("active", "reanchor", "", "Confirmed for the current files."),
        ("active", "supersede", "jobs-are-rows", "Superseded."),
        ("changed", "put-back", "field 1", "Put back."),
    ],
)
def test_a_button_of_a_record_says_what_it_did(browser, save, project, before, action, text, notice):
    entry = save()
    save("Jobs are rows", force=True)
    if before == "retired":
        entry = project.writer.retire(entry.path, "old")
    elif before == "archived":
        entry = project.writer.archive(entry.path, "old")
    elif before == "changed":
        entry = project.writer.update(entry.path, {"content": {"decision": "Rows"}}, entry.hash)

    response = browser.post(f"/record/project/{entry.path}/{action}", hash=entry.hash, text=text)

    assert response.status_code == 200
    assert _path(response, browser) == f"/record/project/{entry.path}"
    (shown,) = _notices(response)
    assert shown.removesuffix(" Undo") == notice


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("retire", "missing: a reason"),
        ("archive", "missing: a reason"),
        ("supersede", "missing: the record that replaces it"),
        ("put-back", "missing: the change"),
        ("share", "missing: the shared store"),
    ],
)
def test_what_a_button_needs_is_said(browser, save, project, action, message):
    entry = save()

    response = browser.post(f"/record/project/{entry.path}/{action}", hash=entry.hash, text=" ")

    assert response.status_code == 400
    assert message in _text(response.text) and "go back and fill it in" in _text(response.text)
    assert project.get(entry.path) == entry


def test_there_is_no_other_button(browser, save, draft):
    entry = save()

    of_record = browser.post(f"/record/project/{entry.path}/explode", hash=entry.hash)
    of_draft = browser.decide(draft(), "explode")

    assert (of_record.status_code, of_draft.status_code) == (400, 422)
    assert "unknown action for a record: 'explode'" in _text(of_record.text)
    assert "Unknown action for a draft: 'explode'. Use the buttons on the page." in _text(of_draft.text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version nonsense", "This version is not known here any more."),
        ("field 99", "This change cannot be put back. Edit the record."),
        ("field 1234", "This change cannot be put back. Edit the record."),
        ("field ٣", "This change cannot be put back. Edit the record."),
    ],
)
def test_what_cannot_be_put_back_is_said(browser, save, text, message):
    entry = save()

    response = browser.post(f"/record/project/{entry.path}/put-back", hash=entry.hash, text=text)

    assert (response.status_code, _notices(response)) == (422, [f"Nothing was changed. {message}"])


def test_what_was_put_back_is_in_the_history(browser, save, project, monkeypatch):
    entry = save()
    for day, decision in (("2999-01-01", "Rows"), ("2999-02-01", "Tables")):
        monkeypatch.setattr(timestamps, "now", lambda day=day: f"{day}T10:00:00Z")
        entry = project.writer.update(entry.path, {"content": {"decision": decision}}, entry.hash)
    address = f"/record/project/{entry.path}/put-back"
    versions = re.findall(r'name="text" value="(version \w+)"', browser.get(f"/record/project/{entry.path}").text)

    browser.post(address, hash=entry.hash, text="field 2")
    entry = project.get(entry.path)
    browser.post(address, hash=entry.hash, text=versions[-1])

    summaries = [change.summary for change in project.get(entry.path).memory.changes]
    assert entry.memory.content["decision"] == "Rows"
    assert [summary for summary in summaries if summary.startswith("Put back")] == [
        "Put back decision of before 2999-02-01",
        f"Put back the version of {entry.memory.created_at[:10]}",
    ]


def _shared(review: bool = False) -> Store:
    remotes.add("platform", "/srv/platform.git", review=review)
    store = Store(replicas.prepare("platform").store)
    accept("platform")
    return store


@pytest.mark.parametrize(
    ("fields", "notice"),
    [
        ({}, "Shared with platform."),
        ({"how": "updates", "other": "use-uv"}, "Updated the record of platform."),
        ({"how": "supersedes", "other": "use-uv"}, "Shared with platform."),
        ({"how": "nonsense", "other": "no such record"}, "Shared with platform."),
    ],
)
def test_a_record_that_is_shared_says_what_was_left_out(browser, save, fields, notice):
    store = _shared()
    record = compose.compose("decision", {"title": "Use uv", "content": CONTENT})
    Writer(store, browser.project.settings).save(record)
    entry = save(related_files=["src/a.py"])

    response = browser.post(f"/record/project/{entry.path}/share", hash=entry.hash, text="platform", **fields)

    assert response.status_code == 200
    (shown,) = _notices(response)
    assert (
        shown.startswith(f"{notice} Left out: ") and "until then this page and agents show what platform has" in shown
    )


def test_a_record_that_is_shared_twice_is_there_already(browser, save):
    _shared()
    entry = save()
    address = f"/record/project/{entry.path}/share"
    browser.post(address, hash=entry.hash, text="platform")

    again = browser.post(address, hash=entry.hash, text="platform")

    assert _notices(again) == ["platform already has it."]


def test_a_record_is_put_into_the_inbox_of_a_store_that_asks_for_it(browser, save):
    store = _shared(review=True)
    entry = save()

    response = browser.post(f"/record/project/{entry.path}/share", hash=entry.hash, text="platform")

    (shown,) = _notices(response)
    assert shown.startswith("Put into the inbox of platform. Left out: ")
    assert len(Inbox(store.root).names()) == 1


@pytest.mark.parametrize(
    ("action", "fields", "notice"),
    [
        ("accept", {}, "Saved: Use uv"),
        ("reject", {}, "Rejected: Use uv"),
        ("merge", {"into": "sessions-live-in-postgres"}, "Merged into: Sessions live in Postgres"),
    ],
)
def test_a_decision_on_a_draft_says_what_it_did(browser, save, draft, action, fields, notice):
    save()

    response = browser.decide(draft(), action, **fields)

    assert _path(response, browser) == "/inbox"
    assert [text.removesuffix(" Undo") for text in _notices(response)] == [notice]


@pytest.mark.parametrize(("into", "message"), [("", "No record to merge into. Enter its id, or words of its title.")])
def test_a_draft_is_merged_into_something(browser, save, draft, into, message):
    save()

    response = browser.decide(draft(), "merge", into=into)

    assert response.status_code == 422 and f"Nothing was done. {message}" in _text(response.text)


def test_a_draft_that_repeats_a_record_says_how_to_go_on(browser, save, project):
    entry = save()
    name = Inbox(project.store.root).put(inbox.new_draft(entry.memory._replace(id="again"))).name

    response = browser.decide(name, "accept")

    assert response.status_code == 422
    assert "Merge it into that record, or tick “Save it anyway”." in _text(response.text)


@pytest.mark.parametrize(
    ("action", "fate"), [("accept", "accepted"), ("merge", "merged into a record"), ("reject", "rejected")]
)
def test_the_fate_of_a_draft_is_told_with_the_time(browser, save, draft, monkeypatch, action, fate):
    save()
    name = draft()
    monkeypatch.setattr(timestamps, "now", lambda: "2027-01-01T10:20:30Z")
    version = Inbox(browser.project.store.root).get(name).hash
    fields = {"hash": version, "into": "sessions-live-in-postgres"}
    browser.post(f"/inbox/{name}/{action}", **fields)

    late = browser.post(f"/inbox/{name}/{action}", **fields)

    assert late.status_code == 409
    assert f"“Use uv” was {fate} by a person at 10:20 UTC. Nothing was done." in _text(late.text)


def test_drafts_that_are_accepted_together_are_counted_and_the_others_named(browser, save, draft, project):
    entry = save()
    same = Inbox(project.store.root).put(inbox.new_draft(entry.memory._replace(id="again"))).name
    names = [draft("Use uv"), draft("Sign commits"), same, "gone"]
    fields = {"confirmed": "1"}
    for number, name in enumerate(names):
        version = Inbox(project.store.root).get(name).hash if name != "gone" else "1"
        parts = {"store": "project", "name": name, "hash": version if number != 1 else "0", "title": f"Draft {number}"}
        fields |= {f"draft.{number}.{part}": value for part, value in parts.items()}
        fields |= {f"draft.{number}.accept": "1"}

    (notice,) = _notices(browser.post("/inbox/accept", **fields))

    assert notice.startswith("Saved 1 record.")
    assert "Draft 1: it was changed after the page was loaded" in notice
    assert "Draft 2: it changes, replaces or repeats a record, so decide on it alone" in notice
    assert re.search(r"Draft 3: .*gone", notice)
    assert sorted(Inbox(project.store.root).names()) == sorted([names[1], same])


def test_drafts_that_are_not_ticked_stay(browser, save, draft, project):
    save()
    name = draft()
    fields = {"confirmed": "1", "draft.0.store": "project", "draft.0.name": name, "draft.0.title": "Use uv"}

    (notice,) = _notices(browser.post("/inbox/accept", **fields))

    assert notice == "Saved 0 records."
    assert Inbox(project.store.root).names() == [name]


def test_undo_says_what_it_undid_and_what_cannot_be_undone(browser, save, project, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2027-01-01T10:20:30Z")
    entry = save()
    store = Store(project.store.root)
    Writer(store, project.settings).retire(entry.path, "old")

    undone = browser.post("/undo", change=store.last_change, store="project")
    again = browser.post("/undo", change="no-such-change")

    assert [text.split(" Undo ")[0] for text in _notices(undone)] == ["Undone: retire of 2027-01-01 10:20"]
    (notice,) = _notices(again)
    assert notice.startswith("Nothing was undone.")
    assert notice.endswith("The page of the record has its history: each change there can be put back.")


@pytest.mark.parametrize(
    ("part", "address"),
    [
        ({}, "/inbox"),
        ({"store": "platform"}, "/inbox?store=platform"),
        ({"page": 2}, "/inbox?page=2"),
        ({"store": "a b", "page": 3}, "/inbox?store=a+b&page=3"),
    ],
)
def test_a_part_of_the_inbox_has_an_address(part, address):
    assert inbox_page.InboxPart(**{"store": "", "page": 1, **part}).address == address


def test_a_chain_of_records_is_cut(browser, save, project):
    entries: list[Entry] = [save(f"Sessions live in place {number}", force=True) for number in range(23)]
    writer = Writer(project.store, project.settings)
    for old, new in zip(entries, entries[1:]):
        writer.supersede(old.path, new.path)

    first = record_page._replacement_chain(project.store, project.store.read(entries[0].path), "project")
    middle = record_page._replacement_chain(project.store, project.store.read(entries[11].path), "project")

    assert [link.title for link in first] == [f"Sessions live in place {number}" for number in range(21)]
    assert [link.is_this for link in first] == [True] + [False] * 20
    assert [link.title for link in middle] == [f"Sessions live in place {number}" for number in range(23)]
    assert [number for number, link in enumerate(middle) if link.is_this] == [11]
