"""What became of what agents were shown: by week with intervals, what was corrected most, what was never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.audit import outcomes
from onrecord.audit.outcomes import CorrectedRecord, NeverShown, Outcomes, WeekOutcome
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


def read(*refs: StoreRef, limit: int = 5) -> Outcomes:
    return outcomes.read(refs, limit, is_quick=False)


def test_the_share_used_has_its_interval_week_by_week(ref):
    usage_log.append(ref.root, [("injected", PATH)] * 3 + [("pointed", PATH)] + [("opened", PATH)] * 2)
    usage_log.add_correction(ref.root, PATH, "codex")

    result = read(ref)

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

    assert (outcomes.lately_corrected(ref.root), read(ref).corrected) == ({}, [])


def test_more_opened_than_shown_is_no_share_above_one(ref):
    usage_log.append(ref.root, [("injected", PATH)] + [("opened", PATH)] * 3)

    assert outcomes.weeks([ref])[-1].used == Share(1, 1)


def test_two_stores_are_one_picture(ref, tmp_path):
    mine = StoreRef(str(tmp_path / "user"), USER_PREFIX)
    put(mine.root, sample("decision", id="mine", created_at="2026-01-03T00:00:00Z"))
    for each in (ref, mine):
        usage_log.append(each.root, [("injected", PATH), ("opened", PATH)])

    result = read(ref, mine)

    assert result.weeks[-1].used == Share(2, 2)
    assert [one.path for one in result.never_shown] == [
        f"{PROJECT_PREFIX}decisions/second.json", f"{USER_PREFIX}decisions/mine.json",
    ]  # fmt: skip


def test_a_record_counts_as_never_shown_after_two_weeks(ref):
    put(ref.root, sample("decision", id="new", created_at="2026-03-01T00:00:00Z"))
    usage_log.append(ref.root, [("digest", PATH)])

    result = read(ref)

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


def test_what_a_person_said_is_counted_week_by_week(ref):
    for number, verdict in enumerate(["helped", "helped", "not_relevant", "wrong"]):
        event_log.give_feedback(ref.root, PATH, verdict, f"s{number}")

    week = outcomes.weeks([ref])[-1]

    assert week == WeekOutcome("2026-03-02", Share(), corrected=0, helped=2, not_relevant=1, wrong=1)


@pytest.mark.parametrize(("created", "is_counted"), [("2026-02-18T09:59:59Z", True), ("2026-02-18T10:00:00Z", False)])
def test_for_two_weeks_it_says_nothing_that_a_record_was_not_shown(ref, created, is_counted):
    put(ref.root, sample("decision", id="new", title="New", created_at=created, updated_at=created))

    result = read(ref)

    assert ("New" in [record.title for record in result.never_shown]) is is_counted
    assert (result.number_never_shown, result.number_in_force) == (2 + is_counted, 3)


def test_of_each_list_as_much_is_given_as_is_wanted_the_oldest_and_the_most_corrected_first(ref):
    other = "decisions/second.json"
    for path in (PATH, other, other):
        usage_log.add_correction(ref.root, path, "codex")

    result = read(ref, limit=1)

    assert [(record.title, record.times) for record in result.corrected] == [("Second", 2)]
    assert [record.title for record in result.never_shown] == ["First"]
    assert (result.number_never_shown, result.number_in_force) == (2, 2)


@pytest.mark.parametrize(("day", "is_recent"), [("2025-12-10", True), ("2025-12-09", False)])
def test_a_correction_counts_for_twelve_weeks(ref, monkeypatch, day, is_recent):
    monkeypatch.setattr(timestamps, "now", lambda: f"{day}T23:00:00Z")
    usage_log.add_correction(ref.root, PATH, "codex")
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-04T10:00:00Z")

    assert bool(outcomes.lately_corrected(ref.root)) is is_recent


@pytest.mark.parametrize("kind", ["injected", "pointed", "digest"])
def test_each_way_of_showing_a_record_is_one(ref, kind):
    usage_log.append(ref.root, [(kind, PATH)])

    assert outcomes.shown_paths(ref.root) == {PATH}


def test_a_shared_store_and_a_record_that_was_only_opened_say_nothing_of_what_was_shown(ref, tmp_path):
    team = StoreRef(str(tmp_path / "team"), "platform:")
    put(team.root, sample("decision", id="ours", created_at="2026-01-03T00:00:00Z"))
    usage_log.append(ref.root, [("opened", PATH)])

    result = read(ref, team)

    assert outcomes.shown_paths(ref.root) == set()
    assert [record.title for record in result.never_shown] == ["First", "Second"]
    assert result.number_in_force == 2


def test_a_map_in_the_stream_has_no_record(ref):
    event_log.append([Happening(ref.root, "shown", "12", "session_start", "map")], "codex", "s")

    assert [(streamed.path, streamed.store) for streamed in outcomes.stream([ref], 50)] == [("", "project")]
