"""The project and the stores of an event: where they are looked for, and which of them may be written by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths
from onrecord.hooks.event_stores import EventStores, find_event_stores, read_fields
from onrecord.paths import StoreRef
from onrecord.settings import load_settings
from onrecord.shared import remotes


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A project with an empty store."""
    return str(with_store(tmp_path / "project"))


@pytest.fixture
def user_store(home: Path) -> str:
    """The user's store, with a folder of records."""
    os.makedirs(os.path.join(paths.user_store(), "preferences"))
    return paths.user_store()


def with_store(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".claude" / "memory").mkdir(parents=True)
    return folder


def store_of(project: str) -> str:
    return os.path.join(project, ".claude", "memory")


def find(cwd: Any, *, has_digest: bool = False) -> EventStores | None:
    return find_event_stores({"cwd": cwd}, has_digest=has_digest)


def test_a_folder_of_a_project_has_its_store(project: str):
    os.makedirs(os.path.join(project, "src"))

    assert find(project) == EventStores(project, store_of(project), "")
    assert find(os.path.join(project, "src")) == EventStores(project, store_of(project), "")


@pytest.mark.parametrize("cwd", ["relative", "/nul\0byte", "", 7, None, "{bare}"])
def test_where_the_folder_has_no_store_that_of_the_session_counts(project: str, tmp_path: Path, monkeypatch, cwd):
    (tmp_path / "bare").mkdir()
    folder = cwd.replace("{bare}", str(tmp_path / "bare")) if isinstance(cwd, str) else cwd
    without = find(folder)

    monkeypatch.setenv("CLAUDE_PROJECT_DIR", project)

    assert without is None
    assert find(folder) == EventStores(project, store_of(project), "")


def test_the_folder_of_the_event_comes_before_that_of_the_session(project: str, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(with_store(tmp_path / "other")))

    assert find(project) == EventStores(project, store_of(project), "")


def test_a_store_that_a_link_leads_out_of_the_project_is_none(project: str, tmp_path: Path):
    linked = tmp_path / "linked"
    (linked / ".git").mkdir(parents=True)
    (linked / ".claude").symlink_to(os.path.join(project, ".claude"))

    assert find(str(linked)) is None


def test_the_users_store_counts_everywhere_and_once(user_store: str, project: str, tmp_path: Path, home: Path):
    (tmp_path / "bare").mkdir()

    assert find(project) == EventStores(project, store_of(project), user_store)
    assert find(str(tmp_path / "bare")) == EventStores(str(tmp_path / "bare"), "", user_store)
    (home / ".git").mkdir()
    assert find(str(home)) == EventStores(str(home), user_store, "")


def test_a_knowledge_bank_is_enough_for_the_digest_alone(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs" / "knowledge-bank").mkdir(parents=True)

    assert find(str(tmp_path)) is None
    assert find(str(tmp_path), has_digest=True) == EventStores(str(tmp_path), "", "")
    assert find("", has_digest=True) is None


def test_without_a_store_or_a_bank_there_is_nothing_to_do(tmp_path: Path):
    assert find(str(tmp_path), has_digest=True) is None


def test_a_connected_store_is_enough(tmp_path: Path):
    remotes.add("platform", "/srv/memory.git")
    unsynced = find(str(tmp_path))
    accepted = paths.accepted("platform")
    os.makedirs(accepted.root)

    stores = find(str(tmp_path))

    # The list of remotes is in the folder of the user's store.
    assert unsynced == EventStores(str(tmp_path), "", paths.user_store(), [])
    assert stores == EventStores(str(tmp_path), "", paths.user_store(), [accepted])


def test_stores_have_an_order_and_replicas_are_guarded_with_their_state(project: str, user_store: str):
    below = StoreRef(os.path.join(project, "web", ".claude", "memory"), "web/.claude/memory/")
    event_stores = EventStores(project, store_of(project), user_store, [paths.accepted("platform")], [below])

    assert event_stores.stores == [below.root, store_of(project), user_store, paths.accepted("platform").root]
    assert event_stores.guarded == [
        below.root, store_of(project), user_store, os.path.dirname(paths.accepted("platform").root)
    ]  # fmt: skip


def test_a_users_store_without_records_is_guarded_and_not_read(project: str, user_store: str):
    event_stores = EventStores(project, store_of(project), user_store)
    settings = load_settings(store_of(project))
    with_records = [store_ref.root for store_ref in event_stores.store_refs(settings)]

    os.rmdir(os.path.join(user_store, "preferences"))

    assert with_records == [store_of(project), user_store]
    assert [store_ref.root for store_ref in event_stores.store_refs(settings)] == [store_of(project)]
    assert event_stores.guarded == [store_of(project), user_store]


def test_a_setting_chooses_among_the_connected_stores(project: str):
    Path(store_of(project), paths.CONFIG).write_text('{"remotes": ["platform"]}')
    shared = [paths.accepted("platform"), paths.accepted("design")]

    refs = EventStores(project, store_of(project), "", shared).store_refs(load_settings(store_of(project)))

    assert [store_ref.root for store_ref in refs] == [store_of(project), shared[0].root]


@pytest.mark.parametrize("data", [b"[]", b"null", b'"text"', b"7"])
def test_an_event_is_an_object(data: bytes):
    with pytest.raises(ValueError, match=r"^the event is not a JSON object$"):
        read_fields(data)

    assert read_fields(b'{"a": "\xff"}') == {"a": "\ufffd"}
