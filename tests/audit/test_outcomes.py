"""What became of what agents were shown: by week with intervals, what was corrected most, what was never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.audit import outcomes
from onrecord.audit.outcomes import CorrectedRecord, NeverShown
from onrecord.audit.share import Share
from onrecord.paths import PROJECT_PREFIX, USER_PREFIX, StoreRef
from onrecord.usage import Happening, event_log, usage_log
from onrecord.usage.event_log import Feedback
from tests.records import put, sample

PATH = "decisions/first.json"


@pytest.fixture
def ref(tmp_path: Path) -> StoreRef:
    root = str(tmp_path / "project" / ".claude" / "memory")
    for name, created in (("first", "2026-01-01T00:00:00Z"), ("second", "2026-01-02T00:00:00Z")):
        put(root, sample("decision", id=name, title=name.title(), created_at=created, updated_at=created))
    return StoreRef(root, PROJECT_PREFIX)


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-04T10:00:00Z")


def test_the_share_used_has_its_interval_week_by_week(ref):
    usage_log.append(ref.root, [("injected", PATH)] * 3 + [("pointed", PATH)] + [("opened", PATH)] * 2)
    usage_log.add_correction(ref.root, PATH, "codex")

    result = outcomes.read([ref])

    assert [week.used for week in result.weeks] == [Share()] * 11 + [Share(2, 4)]
    assert result.weeks[-1].monday == "2026-03-02"
    assert result.weeks[-1].corrected == 1
    assert result.weeks[-1].used.interval == pytest.approx((0.15, 0.85), abs=0.01)
    assert result.corrected == [
        CorrectedRecord(f"{PROJECT_PREFIX}{PATH}", "First", 1, "once, last on 2026-03-04 (codex)")
    ]


def test_a_correction_of_last_year_is_not_one_of_these_weeks(ref, monkeypatch):
    usage_log.add_correction(ref.root, PATH, "codex")
    assert list(outcomes.lately_corrected(ref.root)) == [PATH]

    monkeypatch.setattr(timestamps, "now", lambda: "2026-06-04T10:00:00Z")

    assert (outcomes.lately_corrected(ref.root), outcomes.read([ref]).corrected) == ({}, [])


def test_more_opened_than_shown_is_no_share_above_one(ref):
    usage_log.append(ref.root, [("injected", PATH)] + [("opened", PATH)] * 3)

    assert outcomes.weeks([ref], 1)[0].used == Share(1, 1)


def test_two_stores_are_one_picture(ref, tmp_path):
    mine = StoreRef(str(tmp_path / "user"), USER_PREFIX)
    put(mine.root, sample("decision", id="mine", created_at="2026-01-03T00:00:00Z"))
    for each in (ref, mine):
        usage_log.append(each.root, [("injected", PATH), ("opened", PATH)])

    result = outcomes.read([ref, mine])

    assert result.weeks[-1].used == Share(2, 2)
    assert [one.path for one in result.never_shown] == [
        f"{PROJECT_PREFIX}decisions/second.json", f"{USER_PREFIX}decisions/mine.json",
    ]  # fmt: skip


def test_a_record_counts_as_never_shown_after_two_weeks(ref):
    put(ref.root, sample("decision", id="new", created_at="2026-03-01T00:00:00Z"))
    usage_log.append(ref.root, [("digest", PATH)])

    result = outcomes.read([ref])

    assert result.never_shown == [
        NeverShown(f"{PROJECT_PREFIX}decisions/second.json", "Second", "2026-01-02T00:00:00Z")
    ]
    assert (result.number_never_shown, result.number_in_force) == (1, 3)


def test_the_stream_of_all_stores_is_in_the_order_of_time(ref, tmp_path, monkeypatch):
    mine = StoreRef(str(tmp_path / "user"), USER_PREFIX)
    for minute, each in enumerate((ref, mine, ref)):
        monkeypatch.setattr(timestamps, "now", lambda minute=minute: f"2026-03-04T10:0{minute}:00Z")
        event_log.append([Happening(each.root, "shown", PATH, "prompt", "rule")], "codex", f"s{minute}")

    assert [(one.store, one.path) for one in outcomes.stream([ref, mine], 2)] == [
        ("project", f"{PROJECT_PREFIX}{PATH}"), ("user", f"{USER_PREFIX}{PATH}"),
    ]  # fmt: skip


def test_badly_judged_is_what_was_wrong_once_or_not_relevant_twice(ref):
    for number, (path, verdict) in enumerate(
        [("a.json", "wrong"), ("b.json", "not_relevant"), ("b.json", "not_relevant"), ("c.json", "not_relevant")]
    ):
        event_log.give_feedback(ref.root, path, verdict, f"s{number}")

    assert outcomes.badly_judged(ref.root) == {
        "a.json": Feedback(wrong=1, last="2026-03-04T10:00:00Z"),
        "b.json": Feedback(not_relevant=2, last="2026-03-04T10:00:00Z"),
    }
