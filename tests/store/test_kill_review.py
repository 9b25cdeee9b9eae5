"""A review that is killed at any moment leaves the draft or the record it became, never both and never neither."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from onrecord.capture import review
from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.store import inbox, index_md
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from tests.killed import killed_at, states_during

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # fork beside xdist's threads
]

SOURCE = str(Path(review.__file__).parents[1])
WATCHED = tuple(os.path.join(SOURCE, name) for name in ("files.py", "store/", "capture/review.py"))
NEW, OLD = "sessions-in-postgres", "sessions-in-redis"
Decision = Callable[[Store], None]


def _record(title: str, decision: str):
    content = {"context": "c", "decision": decision, "rationale": ["failovers"]}
    return compose.compose("decision", {"title": title, "content": content})


def _summary(number: int):
    content = {"goal": f"Port module {number}", "outcome": "partial", "completed": ["a"], "next_actions": ["b"]}
    return compose.compose("session_summary", {"title": f"Port module {number}", "content": content})


def _make_store(root: Path, draft) -> Store:
    store = Store(str(root))
    store.create(_record("Sessions in Redis", "Sessions live in Redis"))
    for number in range(5):
        store.create(_summary(number))
    Inbox(store.root).put(draft)
    return store


def _accept(store: Store) -> None:
    box = Inbox(store.root)
    review.accept(Writer(store, Settings()), box.drafts()[0], project="/p", force=True)


def _merge(store: Store) -> None:
    review.merge(Writer(store, Settings()), Inbox(store.root).get(NEW), OLD, project="/p")


def _postgres(**about: str):
    return inbox.new_draft(_record("Sessions in Postgres", "Sessions live in Postgres 16"), **about)


def _is_saved(store: Store) -> bool:
    return store.has(NEW)


def _is_linked(store: Store) -> bool:
    is_saved = store.has(NEW)
    assert store.get(OLD).memory.superseded_by == (NEW if is_saved else "")
    return is_saved


def _is_merged(store: Store) -> bool:
    return store.get(OLD).memory.content["decision"] == "Sessions live in Postgres 16"


def _is_summed_up(store: Store) -> bool:
    is_saved = store.has("port-module-9")
    statuses = [entry.memory.record_status for entry in store.entries() if entry.memory.category == "session_summary"]
    assert sorted(statuses) == ["active"] * 5 + ["retired"] * is_saved
    return is_saved


CASES = {
    "accept": (_postgres(), _accept, _is_saved),
    "accept, superseding": (_postgres(supersedes=OLD), _accept, _is_linked),
    "accept, updating": (_postgres(updates=OLD), _accept, _is_merged),
    "accept, crowding another out": (inbox.new_draft(_summary(9)), _accept, _is_summed_up),
    "merge": (_postgres(), _merge, _is_merged),
}


def _killed(tmp_path: Path, draft, decide: Decision, step: int) -> Iterator[Store]:
    """Yield the store after a kill at every `step`-th line until the work is done."""
    template = _make_store(tmp_path / "template", draft).root
    line, died = 0, True
    while died:
        root = tmp_path / f"killed-{line}"
        shutil.copytree(template, root)
        store = Store(str(root))
        died = killed_at(line, lambda store=store: decide(store), WATCHED)
        yield store
        shutil.rmtree(root)
        line += step


def _check(stores: Iterable[Store], is_done: Callable[[Store], bool]) -> int:
    """Check the store that each kill leaves, and return the number of stores."""
    outcomes = []
    for store in stores:
        has_draft = bool(Inbox(store.root).names())
        assert has_draft or is_done(store), "a reader must never find neither"
        store.recover()
        outcomes.append(is_done(store))
        assert outcomes[-1] is not bool(Inbox(store.root).names())
        entries = list(store.scan())
        assert all(isinstance(entry, Entry) for entry in entries)
        assert index_md.differences(store.root, [entry.memory for entry in entries]) == []
        assert not store.is_interrupted
    assert outcomes == sorted(outcomes), "once done it stays done"
    assert outcomes[0] is False and outcomes[-1] is True
    return len(outcomes)


@pytest.mark.parametrize("case", CASES)
def test_a_review_killed_at_a_line(tmp_path, case):
    draft, decide, is_done = CASES[case]

    assert _check(_killed(tmp_path, draft, decide, step=37), is_done) > 10


@pytest.mark.parametrize("case", CASES)
def test_a_review_killed_at_every_line(tmp_path, case):
    """Between two lines that change no file a kill leaves the same: each state on disk is tried once."""
    draft, decide, is_done = CASES[case]
    store = _make_store(tmp_path / "store", draft)
    (tmp_path / "copies").mkdir()

    copies = states_during(lambda: decide(store), WATCHED, store.root, str(tmp_path / "copies"))

    assert _check(map(Store, copies), is_done) > 8


def test_a_journal_can_neither_write_a_draft_nor_take_one_that_was_changed(tmp_path):
    store = _make_store(tmp_path / "store", _postgres())
    path = f"inbox/{NEW}.json"
    before = Path(store.root, path).read_bytes()
    for steps in (
        {path: ["", None]},
        {"inbox/x.json": ["", "{}"]},
        {"inbox/../x.json": ["", None]},
        {"inbox/": ["", None]},
    ):
        Path(store.root, ".journal").write_text(json.dumps(steps))
        store.recover()

    assert Path(store.root, path).read_bytes() == before
    assert Inbox(store.root).names() == [NEW]
