"""The page of a record: what the agent sees, its history, and what is put back, superseded and shared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.shared import remotes, replicas
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests.git_project import GitProject
from tests.shared.machines import accept


def _text(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text.replace("<wbr>", "")))


def _address(entry) -> str:
    return f"/record/project/{entry.path}"


def _put_back(response) -> list[dict[str, str]]:
    """Return the forms that put something back, newest first."""
    forms = re.findall(r'<form method="post" action="[^"]*/put-back".*?</form>', response.text, re.S)
    return [dict(re.findall(r'name="(hash|text)" value="([^"]*)"', form)) for form in forms]


def _later(monkeypatch, second: int) -> None:
    monkeypatch.setattr("onrecord.timestamps.now", lambda: f"2999-01-01T00:00:{second:02d}Z")


def test_the_line_of_the_agent_is_on_top(browser, save):
    entry = save(triggers=["where is login state?"])

    text = _text(browser.get(_address(entry)))

    line = "Sessions live in Postgres. Rows in auth.sessions. Why: one part."
    assert re.search(rf"As the agent sees it {re.escape(line)} The exact texts", text)
    assert re.search(r"onrecord show sessions-live\S+", text)


def test_the_history_has_old_and_new_with_the_words_marked_who_wrote_it_and_the_commit(browser, save, project):
    repository = GitProject(Path(project.root))
    entry = save()
    Writer(project.store, project.settings, now="2999-01-01T00:00:00Z").update(
        entry.path, {"content": {"decision": "Rows in auth.logins"}}, entry.hash, summary="renamed"
    )
    repository.commit()

    response = browser.get(_address(entry))

    assert "<del>sessions</del>" in response.text and "<ins>logins</ins>" in response.text
    assert re.search(r"2999-01-01 by a person commit [0-9a-f]{9} by \w+ renamed", _text(response))


def test_a_history_with_values_of_any_kind_is_shown(browser, save, project):
    """A record from a repository may say anything of what it was."""
    entry = save()
    path = Path(project.store.root, *entry.path.split("/"))
    record = json.loads(path.read_text(encoding="utf-8"))
    moment = "2026-01-01T00:00:00Z"
    values = [("content.decision", {"a": 1}, [2]), ("tags", 3, [4]), ("title", ["x"], None), ("times_updated", 5, 6)]
    record["changes"] = [
        {"date": moment, "summary": "s", "field": field, "old": old, "new": new} for field, old, new in values
    ]
    path.write_text(json.dumps(record), encoding="utf-8")

    response = browser.get(_address(entry))

    assert response.status_code == 200 and "2026-01-01" in response.text


def test_a_change_is_put_back_with_its_whole_text(browser, save, project):
    long = "Rows in auth.sessions. " * 40
    content = {"context": "Redis", "decision": long.strip(), "rationale": ["one part"]}
    entry = save(content=content)
    writer = Writer(project.store, project.settings, now="2999-01-01T00:00:00Z")
    changed = writer.update(entry.path, {"content": {"decision": "short"}, "tags": ["a"]}, entry.hash, may_shrink=True)
    page = browser.get(_address(entry))
    (form,) = [form for form in _put_back(page) if form["text"] == f"field {len(changed.memory.changes) - 1}"]

    response = browser.post(f"{_address(entry)}/put-back", **form)

    assert "Put back." in response.text
    after = project.get(entry.path).memory
    assert (after.content["decision"], after.tags) == (long.strip(), ("a",))
    undo = dict(re.findall(r'name="(store|change)" value="([^"]+)"', response.text))
    browser.post("/undo", **undo)
    assert project.get(entry.path).memory.content["decision"] == "short"


def test_a_whole_version_is_put_back(browser, save, project):
    entry = save(tags=["auth"])
    writer = Writer(project.store, project.settings, now="2999-01-01T00:00:00Z")
    writer.update(
        entry.path, {"content": {"decision": "x", "context": "y"}, "tags": ["b"]}, entry.hash, may_shrink=True
    )
    page = browser.get(_address(entry))
    (form,) = [form for form in _put_back(page) if form["text"].startswith("version ")]

    browser.post(f"{_address(entry)}/put-back", **form)

    after = project.get(entry.path).memory
    assert (after.content, after.tags) == (entry.memory.content, ("auth",))
    assert after.times_updated == 2


def test_what_was_written_before_this_machine_knew_it_is_not_put_back_in_part(browser, save, project, monkeypatch):
    entry = save(content={"context": "Redis", "decision": "long " * 90, "rationale": ["one part"]})
    writer = Writer(project.store, project.settings, now="2999-01-01T00:00:00Z")
    writer.update(entry.path, {"content": {"decision": "short"}}, entry.hash)
    monkeypatch.setattr("onrecord.store.history.read", lambda root: [])

    response = browser.get(_address(entry))

    assert _put_back(response) == []
    number = len(project.get(entry.path).memory.changes) - 1
    version = project.get(entry.path).hash
    refused = browser.post(f"{_address(entry)}/put-back", hash=version, text=f"field {number}")
    assert refused.status_code == 422
    assert project.get(entry.path).memory.content["decision"] == "short"


@pytest.mark.parametrize("text", ["field 99", "field x", "version nonsense", "nonsense"])
def test_nothing_else_is_put_back(browser, save, project, text):
    entry = save()

    response = browser.post(f"{_address(entry)}/put-back", hash=entry.hash, text=text)

    assert response.status_code == 422 and "Nothing was changed." in response.text
    assert project.get(entry.path) == entry


@pytest.mark.parametrize("typed", ["sessions-live-in-pos", "sessions live postgres"])
def test_a_successor_is_named_by_the_beginning_of_its_id_or_its_words(browser, save, project, typed):
    old, new = save("Sessions live in Redis"), save()

    response = browser.post(f"{_address(old)}/supersede", hash=old.hash, text=typed)

    assert "Superseded." in response.text
    assert project.get(old.path).memory.superseded_by == new.memory.id


def test_a_record_is_shared_without_its_files_and_that_is_undone(browser, save, project):
    Path(project.root, "login.py").write_text("x = 1\n")
    entry = save(related_files=["login.py"])
    remotes.add("platform", "/srv/platform.git")

    page = browser.get(_address(entry))
    response = browser.post(f"{_address(entry)}/share", hash=entry.hash, text="platform")

    store = Store(replicas.Replica("platform").store)
    copy = store.get(entry.memory.id).memory
    assert "<option>platform</option>" in page.text
    assert "Shared with platform. Left out: its files" in response.text
    assert (copy.title, copy.related_files) == (entry.memory.title, ())
    again = browser.post(f"{_address(entry)}/share", hash=entry.hash, text="platform")
    assert "platform already has it." in again.text


def test_a_record_is_shared_as_a_draft_where_drafts_are_reviewed(browser, save):
    entry = save()
    remotes.add("platform", "/srv/platform.git", review=True)

    response = browser.post(f"{_address(entry)}/share", hash=entry.hash, text="platform")

    assert "Put into the inbox of platform." in response.text
    assert Inbox(replicas.Replica("platform").store).names() == [entry.memory.id]


def test_a_version_that_changed_since_is_not_shared(browser, save, project):
    entry = save()
    remotes.add("platform", "/srv/platform.git")
    Writer(project.store, project.settings).update(entry.path, {"tags": ["theirs"]}, entry.hash)

    response = browser.post(f"{_address(entry)}/share", hash=entry.hash, text="platform")

    assert response.status_code == 409
    assert not Store(replicas.Replica("platform").store).has(entry.memory.id)


@pytest.mark.parametrize(("how", "done"), [("updates", "Updated the record of platform."), ("supersedes", "Shared")])
def test_a_record_is_shared_as_an_update_or_a_replacement(browser, save, how, done):
    entry = save()
    remotes.add("platform", "/srv/platform.git")
    store = Store(replicas.prepare("platform").store)
    content = {"context": "Redis lost sessions", "decision": "Rows in one table", "rationale": ["one part"]}
    other = Writer(store, Settings()).save(
        compose.compose("decision", {"title": "Sessions live in Postgres", "content": content})
    )
    address = f"{_address(entry)}/share"

    refused = browser.post(address, hash=entry.hash, text="platform")
    response = browser.post(address, hash=entry.hash, text="platform", how=how, other="sessions live postgres")

    assert refused.status_code == 422 and "Choose that it updates or replaces" in refused.text
    assert done in response.text
    after = store.get(other.memory.id).memory
    new = store.get(after.superseded_by).memory if how == "supersedes" else after
    assert new.content["decision"] == "Rows in auth.sessions"


def test_the_history_shows_a_single_id_as_one_word_not_as_letters(browser, save):
    old, new = save("Sessions live in Redis"), save()

    browser.post(f"{_address(old)}/supersede", hash=old.hash, text=new.memory.id)
    page = browser.get(_address(new))

    assert f"<ins>{old.memory.id}</ins>" in page.text


def test_a_file_is_named_once_beside_what_changed_in_it(browser, save, project):
    file = Path(project.root, "login.py")
    file.write_text("x = 1\n")
    entry = save(related_files=["login.py"])
    fresh = browser.get(_address(entry)).text
    file.write_text("x = 2\n")

    changed = browser.get(_address(entry)).text

    section = re.search(r'<h2 id="files">.*?</section>', changed, re.S)[0]
    assert "unchanged" in re.search(r'<h2 id="files">.*?</section>', fresh, re.S)[0]
    assert re.sub(r"<[^>]+>|\s+", " ", section).split()[:4] == ["Files", "login.py", "changed", "since"]


@pytest.mark.parametrize("typed", ["nothing-like-it", "s"])
def test_a_successor_that_there_is_none_of_is_an_error_at_its_field(browser, save, typed):
    old = save("Sessions live in Redis")
    save(), save("Seats are held")

    response = browser.post(f"{_address(old)}/supersede", hash=old.hash, text=typed)

    assert response.status_code == 422
    assert re.search(rf'id="text-supersede"[^>]*value="{typed}"[^>]*aria-invalid="true"', response.text)
    assert re.search(r'<details open><summary class="button">Supersede', response.text)


def test_a_record_of_a_store_that_one_may_only_read_has_no_button_that_would_be_refused(browser, save):
    save()
    remotes.add("security", "/srv/security.git")
    replica = replicas.prepare("security")
    content = {"context": "a", "decision": "The vault", "rationale": ["b"]}
    record = compose.compose("decision", {"title": "Secrets live in the vault", "content": content})
    entry = Writer(Store(replica.store), Settings()).save(record)
    accept("security")
    replica.write_state(replica.state._replace(is_read_only=True))

    page = browser.get(f"/record/security/{entry.path}").text

    assert "You may read this shared store, not change it." in page
    actions = re.findall(rf'action="/record/security/{re.escape(entry.path)}/([a-z-]+)"', page)
    assert actions == [] and f"{entry.path}/edit" not in page
