"""What a sync says afterwards, and what `--watch` finds worth saying."""

from __future__ import annotations

import pytest

from onrecord.cli import sync
from onrecord.cli.output import Screen
from onrecord.cli.sync import _Attempt, _WatchedRemote
from onrecord.errors import Offline
from onrecord.shared import engine, sync_base
from onrecord.shared.engine import RenamedPair, SyncResult
from onrecord.shared.reconcile import Conflict
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica, SyncState

REMOTE = Remote("platform", "/srv/memory.git", "git")
CONFLICT = Conflict("a.json", ("title",), "conflict-a-1")
WAY_OUT = (
    "  platform does not have them, so no agent is shown them; each sync offers them again; to send them as drafts: "
    "onrecord remote withdraw platform --draft; to take them back: onrecord remote withdraw platform"
)
REVIEW = "onrecord review --remote platform"
PAIRS = [RenamedPair(f"old-{n}", f"d/theirs-{n}.json", f"d/ours-{n}.json") for n in range(1, 7)]
REFUSED = {f"d/{n}.json": "too large" for n in (6, 5, 4, 3, 2, 1)}


def _renamed(n: int) -> str:
    return (
        f"  old-{n} was renamed and changed at the same time: theirs-{n} is theirs, ours-{n} is yours; "
        f"to keep theirs: onrecord supersede ours-{n} theirs-{n} --remote platform"
    )


@pytest.fixture
def unpushed(monkeypatch):
    """Return the paths that are not pushed; a test may add some."""
    paths: list[str] = []
    monkeypatch.setattr(sync_base, "unpushed_paths", lambda replica: paths)
    return paths


@pytest.mark.parametrize(
    ("result", "counts", "rehearsed"),
    [
        (SyncResult(), "up to date", "up to date"),
        (SyncResult(pulled=("a",) * 1_234), "pulled 1,234", "would pull 1,234"),
        (SyncResult(pulled=("a",), pushed=("b", "c")), "pulled 1, pushed 2", "would pull 1, would push 2"),
        (SyncResult(conflicts=(CONFLICT,)), f"1 conflict: {REVIEW}", "would find 1 conflict"),
        (SyncResult(conflicts=(CONFLICT,) * 2), f"2 conflicts: {REVIEW}", "would find 2 conflicts"),
        (SyncResult(waiting=("a",)), "1 waiting for a merge", "1 waiting for a merge"),
    ],
)
def test_the_first_line_counts(unpushed, result, counts, rehearsed):
    lines = [
        next(sync.outcome_lines(Screen(80, True, True), "platform", result, dry_run=is_dry)) for is_dry in (False, True)
    ]

    assert lines == [f"\x1b[1mplatform\x1b[0m: {counts}", f"\x1b[1mplatform\x1b[0m: {rehearsed}"]


@pytest.mark.parametrize(
    ("result", "waits", "remarks"),
    [
        (
            SyncResult(is_reset=True, note="ask for a merge"),
            [],
            [
                "  the remote was reset (a rewritten history or a backup), so every file was compared again",
                "  ask for a merge",
            ],
        ),
        (SyncResult(revived=("a", "b")), [], ["  deleted on one side and edited on the other, so kept: a, b"]),
        (SyncResult(outdated=("a",)), [], ["  others wrote at the same time, so not pushed yet: a"]),
        (SyncResult(renamed=tuple(PAIRS[:1]), revived=("d/theirs-1.json", "d/ours-1.json")), [], [_renamed(1)]),
        (SyncResult(renamed=tuple(PAIRS)), [], [_renamed(n) for n in range(1, 6)]),
        (
            SyncResult(refused=dict(list(REFUSED.items())[1:])),
            [],
            [f"  not synced: d/{n}.json: too large" for n in range(1, 6)],
        ),
        (
            SyncResult(refused=REFUSED),
            ["d/6.json"],
            [*(f"  not synced: d/{n}.json: too large" for n in range(1, 6)), "  and 1 more that were not synced",
             WAY_OUT],
        ),
        (SyncResult(refused={"a": "no"}), ["b"], ["  not synced: a: no"]),
        (SyncResult(waiting=("a",)), [], [WAY_OUT]),
        (SyncResult(), ["a"], []),
    ],
)  # fmt: skip
def test_one_more_line_for_each_thing_to_look_at(home, unpushed, result, waits, remarks):
    unpushed += waits

    assert list(sync.outcome_lines(Screen(), "platform", result))[1:] == remarks


def test_a_reader_is_not_told_to_send_drafts(home):
    Replica("platform").write_state(SyncState(is_read_only=True))

    assert sync.way_out("platform") == WAY_OUT.strip().replace(
        "; to send them as drafts: onrecord remote withdraw platform --draft", ""
    )


def test_an_error_is_told_with_its_fix():
    error = Offline("no answer", fix="try later")

    assert list(sync.outcome_lines(Screen(), "platform", error)) == ["platform: OFFLINE: no answer", "  try later"]
    assert sync.outcome_data(REMOTE, error) == {
        "name": "platform",
        "error": {"code": "OFFLINE", "message": "no answer", "fix": "try later", "docs": "onrecord docs OFFLINE"},
    }


def test_programs_get_all_of_a_result():
    result = SyncResult(("a",), ("b",), (CONFLICT,), ("c",), ("d",), ("e",), {"f": "no"}, "note", True, (PAIRS[0],))

    assert sync.outcome_data(REMOTE, result) == {
        "name": "platform",
        "pulled": ("a",),
        "pushed": ("b",),
        "conflicts": [{"path": "a.json", "fields": ("title",), "draft": "conflict-a-1"}],
        "revived": ("c",),
        "waiting": ("d",),
        "outdated": ("e",),
        "refused": {"f": "no"},
        "note": "note",
        "is_reset": True,
        "renamed": [{"old": "old-1", "theirs": "d/theirs-1.json", "ours": "d/ours-1.json"}],
    }


@pytest.mark.parametrize(
    ("outcome", "is_complete"),
    [
        (SyncResult(conflicts=(CONFLICT,), waiting=("a",), revived=("b",)), True),
        (SyncResult(refused={"a": "no"}), False),
        (SyncResult(outdated=("a",)), False),
        (Offline("no answer"), False),
    ],
)
def test_what_counts_as_complete(outcome, is_complete):
    assert sync._is_complete(_Attempt(REMOTE, outcome)) == is_complete


class FalseTransport:
    """A connection that notes how it is used; `wait` raises what it is told to."""

    def __init__(self):
        self.calls: list[object] = []
        self.error: Exception | None = None

    def wait(self, seconds):
        self.calls.append(seconds)
        if self.error:
            raise self.error

    def close(self):
        self.calls.append("close")


@pytest.fixture
def watched(home, monkeypatch):
    """Return a function that syncs a watched remote with each of some outcomes, and returns what it found worth saying.

    The transports that it opened are in its attribute `opened`.
    """
    opened: list[FalseTransport] = []

    def connect(remote):
        opened.append(FalseTransport())
        return opened[-1]

    remote = _WatchedRemote(REMOTE, connect)

    def news(*outcomes):
        found = []
        for outcome in outcomes:

            def answer(*_, outcome=outcome, **__):
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome

            monkeypatch.setattr(engine, "sync", answer)
            found.append(remote.sync())
        return found

    news.remote, news.opened = remote, opened
    return news


QUIET, PULLED = SyncResult(), SyncResult(revived=("a",))


@pytest.mark.parametrize(
    ("outcomes", "news"),
    [
        ([QUIET, QUIET], [None, None]),
        ([PULLED, PULLED], [PULLED, PULLED]),
        ([SyncResult(conflicts=(CONFLICT,))], [SyncResult(conflicts=(CONFLICT,))]),
        ([SyncResult(waiting=("a",))] * 2, [SyncResult(waiting=("a",)), None]),
        ([SyncResult(outdated=("a",))] * 2, [SyncResult(outdated=("a",)), None]),
        ([SyncResult(note="n")] * 2, [SyncResult(note="n"), None]),
        (
            [SyncResult(refused={"a": "no"}), SyncResult(refused={"a": "still no"}), QUIET, QUIET],
            [SyncResult(refused={"a": "no"}), SyncResult(refused={"a": "still no"}), None, None],
        ),
    ],
)
def test_watching_reports_changes_each_time_and_what_is_left_to_do_once(watched, outcomes, news):
    assert watched(*outcomes) == news
    assert len(watched.opened) == 1


def test_watching_reports_an_error_once_and_that_it_is_over(watched):
    first, same, other = Offline("no answer"), Offline("no answer"), Offline("no network")

    assert watched(first, same, other, QUIET, QUIET, same) == [first, None, other, QUIET, None, same]
    assert [transport.calls for transport in watched.opened] == [["close"]] * 4


def test_watching_waits_with_the_connection_while_it_works(watched, monkeypatch):
    slept = []
    monkeypatch.setattr(sync.time, "sleep", slept.append)
    watched.remote.wait(7.0)
    watched(QUIET)
    watched.remote.wait(8.0)
    watched.opened[0].error = Offline("gone")
    watched.remote.wait(9.0)
    watched.remote.close()

    assert slept == [7.0, 9.0]
    assert watched.opened[0].calls == [8.0, 9.0, "close"]
