"""Drafts are plain files that search does not read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onrecord import files
from onrecord.errors import AlreadyExists, BadRecord, NotFound
from onrecord.record import compose, drafts
from onrecord.search import index
from onrecord.settings import load_settings
from onrecord.store import inbox, record_names
from onrecord.store.inbox import BrokenDraft, Draft, Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests import searching

CONTENT = {"context": "c", "decision": "Sessions live in Postgres 16", "rationale": ["failovers"]}


def draft(title: str = "Sessions in Postgres", **about: object) -> Draft:
    return inbox.new_draft(compose.compose("decision", {"title": title, "content": CONTENT}), **about)


def test_a_draft_comes_back_as_it_was_put(tmp_path):
    box = Inbox(str(tmp_path))
    put = box.put(draft(session="s1", evidence=("said so",), supersedes="old-one"))

    assert box.drafts() == [put]
    assert box.get("sessions-in-postgres") == put


def test_a_draft_may_be_named_as_its_file(tmp_path):
    box = Inbox(str(tmp_path))
    put = box.put(draft())

    assert box.get("sessions-in-postgres.json") == box.find("sessions-in-postgres.json") == put


def test_a_draft_is_plain_json_that_people_can_read(tmp_path):
    Inbox(str(tmp_path)).put(draft(evidence=("gesagt, so",)))

    text = (tmp_path / "inbox" / "sessions-in-postgres.json").read_text(encoding="utf-8")

    assert json.loads(text)["record"]["content"]["decision"] == "Sessions live in Postgres 16"
    assert "gesagt, so" in text and text.endswith("}\n")


def test_nothing_that_retrieves_sees_a_draft(tmp_path):
    Inbox(str(tmp_path)).put(draft())

    assert list(record_names.paths(str(tmp_path))) == []
    assert list(Store(str(tmp_path)).scan()) == []
    assert searching.find(index.open(str(tmp_path)), "where do sessions live in postgres", limit=5) == []


def test_git_leaves_the_inbox_out(tmp_path):
    Inbox(str(tmp_path)).put(draft())

    assert "inbox/" in (tmp_path / ".gitignore").read_text().split()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_the_user_may_read_a_draft_until_it_is_accepted(tmp_path):
    root = tmp_path / ".claude" / "memory"
    store, writer = Store(str(root)), Writer(Store(str(root)), load_settings(str(root)))
    old_umask = os.umask(0o022)
    try:
        put = Inbox(store.root).put(draft())
        in_inbox = {"put": _mode(root / "inbox" / f"{put.name}.json")}
        writer.draft([put._replace(summary="once more")])
        in_inbox["written with others"] = _mode(root / "inbox" / f"{put.name}.json")
        with store.writing() as batch:
            batch.put(put.record)
            batch.drop_draft(put.name)
        accepted = _mode(root / put.record.path)
        with store.writing() as batch:
            batch.restore(f"inbox/{put.name}.json", drafts.render(put).decode())
        in_inbox["restored"] = _mode(root / "inbox" / f"{put.name}.json")
    finally:
        os.umask(old_umask)

    assert set(in_inbox.values()) == {0o600}, in_inbox
    assert accepted == 0o644


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_the_journal_of_a_draft_is_private_too(tmp_path, monkeypatch):
    modes: list[int] = []
    replace = files.replace

    def watch(source: str, path: str) -> None:
        modes.extend([_mode(Path(source))] if path.endswith((".journal", "sessions-in-postgres.json")) else [])
        replace(source, path)

    monkeypatch.setattr(files, "replace", watch)
    Writer(Store(str(tmp_path)), load_settings(str(tmp_path))).draft([draft()])

    assert modes == [0o600, 0o600]


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_another_session_cannot_overwrite_a_waiting_draft(tmp_path):
    box = Inbox(str(tmp_path))
    box.put(draft(session="s1"))

    with pytest.raises(AlreadyExists, match="draft 'sessions-in-postgres'"):
        box.put(draft(session="s2"))
    with pytest.raises(AlreadyExists):
        box.put(draft())

    assert box.put(draft(session="s1", evidence=("new",))).evidence == ("new",)
    assert len(box.drafts()) == 1


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"draft": 1, "record": {}}', b'{"record": {"title": 3}}', b"\xff"]
)
def test_a_broken_file_is_reported_and_hides_no_other(tmp_path, data):
    box = Inbox(str(tmp_path))
    good = box.put(draft())
    (tmp_path / "inbox" / "bad.json").write_bytes(data)

    drafts = list(box.scan())

    assert [draft.name for draft in drafts if isinstance(draft, BrokenDraft)] == ["bad"]
    assert [draft for draft in drafts if isinstance(draft, Draft)] == [good]
    with pytest.raises(BadRecord):
        box.get("bad")


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "nul\0", "missing", "."])
def test_a_name_that_is_no_draft_is_not_found(tmp_path, name):
    with pytest.raises(NotFound):
        Inbox(str(tmp_path)).get(name)


def test_a_folder_in_place_of_a_draft_is_reported_with_what_to_look_at(tmp_path):
    box = Inbox(str(tmp_path))
    os.makedirs(box.path("odd"))

    with pytest.raises(BadRecord, match=r"inbox/odd: ") as caught:
        box.get("odd")
    assert caught.value.fix == "check the file's type and permissions"


def test_a_dropped_draft_is_gone(tmp_path):
    box = Inbox(str(tmp_path))
    box.put(draft())
    box.drop("sessions-in-postgres")

    assert box.names() == []
    box.drop("sessions-in-postgres")


def test_an_empty_store_has_an_empty_inbox(tmp_path):
    assert list(Inbox(str(tmp_path / "nowhere")).scan()) == []
