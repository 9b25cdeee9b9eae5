"""A change is undone completely or refused with a reason, and later changes are never lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from onrecord.capture import review
from onrecord.errors import CannotUndo, NotFound
from onrecord.record import author
from onrecord.settings import Settings
from onrecord.store import history, inbox, index_md
from onrecord.store.inbox import Inbox
from onrecord.store.store import DryRunStore, Store
from onrecord.store.writer import Writer
from tests.killed import killed_at
from tests.records import LATER, sample

WATCHED = str(Path(history.__file__).parent)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


def writer(store: Store) -> Writer:
    return Writer(store, Settings(), LATER)


def texts(store: Store) -> dict[str, str]:
    files = Path(store.root).glob("*/*.json")
    return {str(file.relative_to(store.root)): file.read_text(encoding="utf-8") for file in files}


def _save(store: Store) -> None:
    writer(store).save(sample(id="new", title="New"))


def _update(store: Store) -> None:
    entry = store.get("old")
    writer(store).update("old", {"title": "Quite another name"}, entry.hash)


def _retire(store: Store) -> None:
    writer(store).retire("old", "no longer true")


def _supersede(store: Store) -> None:
    writer(store).supersede("old", "other")


def _accept(store: Store) -> None:
    review.accept(writer(store), Inbox(store.root).drafts()[0], project="/p", force=True)


def _merge(store: Store) -> None:
    review.merge(writer(store), Inbox(store.root).drafts()[0], "old", project="/p")


def _reject(store: Store) -> None:
    review.reject(writer(store), Inbox(store.root).drafts()[0], project="/p")


def _draft(store: Store) -> None:
    review.put(writer(store), [inbox.new_draft(sample(id="b", title="B")), inbox.new_draft(sample(id="c", title="C"))])


CHANGES = {
    "save": _save, "update": _update, "retire": _retire, "supersede": _supersede, "accept": _accept,
    "merge": _merge, "reject": _reject, "draft": _draft,
}  # fmt: skip


def fill(store: Store) -> Store:
    store.create(sample(id="old", title="Old"))
    store.create(sample(id="other", title="Other"))
    content = {"status": "accepted", "context": "c", "decision": "Wait for it", "rationale": ["it comes"]}
    waiting = sample(id="waiting", title="Waiting", content=content)
    review.put(writer(store), [inbox.new_draft(waiting)])
    return store


@pytest.mark.parametrize("action", CHANGES)
def test_every_change_is_taken_back_to_the_byte(store, action):
    fill(store)
    before, page = texts(store), index_md.read(store.root)

    CHANGES[action](store)
    changed = texts(store)
    undone = history.undo(store)

    assert changed != before
    assert (undone.change.action, texts(store), index_md.read(store.root)) == (action, before, page)


def test_undo_goes_back_step_by_step_to_the_beginning(store):
    fill(store)
    for change in (_save, _retire):
        change(store)

    actions = [history.undo(store).change.action for _ in range(5)]

    assert actions == ["retire", "save", "draft", "save", "save"]
    assert texts(store) == {}
    with pytest.raises(NotFound):
        history.undo(store)


def test_what_was_changed_since_is_never_lost(store):
    fill(store)
    _supersede(store)
    file = Path(store.root, "decisions", "old.json")
    mine = file.read_text(encoding="utf-8").replace("Old", "Mine")
    file.write_text(mine, encoding="utf-8")
    before = texts(store)

    with pytest.raises(CannotUndo) as caught:
        history.undo(store)

    assert texts(store) == before
    assert "decisions/old.json" in caught.value.message
    assert "decisions/other.json" not in caught.value.message


def test_the_rest_can_be_taken_back_where_that_is_wanted(store):
    _draft(store)
    Path(store.root, "inbox", "b.json").write_text("{}", encoding="utf-8")

    undone = history.undo(store, skip_changed=True)

    assert [file.path for file in undone.skipped] == ["inbox/b.json"]
    assert list(texts(store)) == ["inbox/b.json"]


def test_a_change_can_be_named_and_is_taken_back_only_once(store):
    _save(store)
    store.create(sample(id="later", title="Later"))
    first = history.read(store.root)[0]

    history.undo(store, first.id)

    assert [entry.memory.id for entry in store.entries()] == ["later"]
    with pytest.raises(CannotUndo):
        history.undo(store, first.id)


def test_an_undo_that_was_a_mistake_is_undone_by_its_id(store):
    """The log listed an undo by its id, and `undo` said that no such change is in the log: the record was lost."""
    store.create(sample(id="first", title="First"))
    _save(store)
    before = texts(store)
    history.undo(store)
    mistake = history.read(store.root)[-1]

    undone = history.undo(store, mistake.id)

    assert (undone.change.id, texts(store)) == (mistake.id, before)
    assert [change.is_undone for change in history.read(store.root)] == [False, False, True, False]
    with pytest.raises(CannotUndo):
        history.undo(store, mistake.id)
    assert [history.undo(store).change.action for _ in range(2)] == ["save", "save"]
    assert texts(store) == {}


def test_a_change_that_git_took_back_is_passed_on_to_the_one_before(store):
    store.create(sample(id="first", title="First"))
    _save(store)
    Path(store.root, "decisions", "new.json").unlink()

    assert history.undo(store).restored == ()
    assert [file.path for file in history.undo(store).restored] == ["decisions/first.json"]


def test_a_rehearsed_undo_writes_nothing(store):
    _save(store)
    before = texts(store)

    undone = history.undo(DryRunStore(store.root))

    assert [file.path for file in undone.restored] == ["decisions/new.json"]
    assert (texts(store), len(history.read(store.root))) == (before, 1)


def test_a_change_too_large_to_keep_is_logged_and_not_taken_back(store, monkeypatch):
    monkeypatch.setattr(history, "_MAX_CHANGE_CHARACTERS", 100)
    _save(store)

    with pytest.raises(CannotUndo):
        history.undo(store)
    assert [file.title for file in history.read(store.root)[0].files] == ["New"]


def test_the_history_is_bounded(store, monkeypatch):
    monkeypatch.setattr(history, "_MAX_BYTES", 6_000)
    for number in range(40):
        store.create(sample(id=f"record-{number}", title=f"Record {number}"))

    changes = history.read(store.root)

    assert 1 < len(changes) < 40
    assert changes[-1].files[0].path == "decisions/record-39.json"


@pytest.mark.parametrize("line", ["[]", "{", '{"id": 1}', '{"id":"a","at":"b","action":"c","by":"d","files":[[1]]}'])
def test_a_damaged_line_costs_only_itself(store, line):
    _save(store)
    history._file(store.root).append(line + "\n")

    assert [file.path for file in history.undo(store).restored] == ["decisions/new.json"]


def test_who_changed_it_is_said(store, monkeypatch):
    for name in author.HOST_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    _save(store)
    monkeypatch.setenv("CLAUDECODE", "1")
    _draft(store)

    assert [(change.action, change.by) for change in history.read(store.root)] == [
        ("save", "person"),
        ("draft", "agent (claude-code)"),
    ]


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's threads
@pytest.mark.parametrize("work", [_supersede, history.undo], ids=["change", "undo"])
def test_a_writer_killed_at_any_moment_can_be_taken_back(tmp_path, monkeypatch, work):
    template = fill(Store(str(tmp_path / "template")))
    before = texts(template)
    line, died = 0, True
    while died:
        # Every fifth line: all of them take seconds.
        line += 5
        root, state = tmp_path / "store", tmp_path / f"state-{line}"
        shutil.copytree(template.root, root)
        monkeypatch.setenv("ONRECORD_STATE_DIR", str(state))
        store = Store(str(root))
        store.create(sample(id="first", title="First"))
        if work is history.undo:
            _supersede(store)
        died = killed_at(line, lambda store=store: work(store), WATCHED)
        # Whatever the killed writer did, two changes at most are to be taken back.
        while (changed := {**texts(store)}) != before:
            assert history.undo(store), changed
        shutil.rmtree(root)
