"""The sentences and numbers that `onrecord effect` prints: each form of each, and the limits between them."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord import timestamps
from onrecord.audit import effect, share
from onrecord.audit.effect import CheckedRecord, Effect, HoldoutEffect, RecordEffect
from onrecord.audit.session_facts import SessionFacts, SessionReading
from onrecord.audit.share import Share
from onrecord.record.check import Check
from onrecord.usage.usage_log import Counts

NPM = Check(("command",), starts=("npm install",))


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-20T12:00:00Z")


def record(*checks: Check, at: str = "2026-03-02T09:30:00Z") -> CheckedRecord:
    return CheckedRecord("pnpm", "Use pnpm", "project:decisions/pnpm.json", at, checks, frozenset({0}), Counts())


def counted(before: Share, since: Share, under_way: int = 0, **more: Any) -> RecordEffect:
    return RecordEffect(record(NPM, **more), before, since, under_way, 1, 2, is_in_future=False)


def facts(name: str = "a", at: str = "2026-03-10T10:00:00Z", **more: Any) -> SessionFacts:
    fields = {
        "session_id": name, "started_at": at, "ended_at": at, "prompts": 2, "corrections": 0, "correcting_prompts": (),
        "commands": 3, "failed_commands": 0, "tried": frozenset({0}), "broken": frozenset[int](), "is_whole": True,
    }  # fmt: skip
    return SessionFacts(**{**fields, **more})


@pytest.mark.parametrize(
    ("checks", "breach"),
    [
        ([NPM], "ran npm install"),
        ([Check(("command",), has=(" sudo ",))], "ran sudo"),
        ([Check(("edit",), adds=("moment",))], "added moment"),
        ([Check(("write",), has=("eval(",))], "added eval("),
        ([Check(("command",), starts=("npm i", "npm add"))], "ran npm i or npm add"),
        ([Check(("command",), starts=("npm i",)), Check(("command",), starts=("yarn",), has=("add",))],
         "ran npm i or yarn"),
        ([Check(("command",), starts=("a", "b", "c"))], "ran a or b or the like"),
        ([NPM, Check(("edit",), adds=("moment",))], "broke it"),
        ([Check(("edit",), ("locked/",))], "broke it"),
        ([Check(("command",), starts=("x" * 56,))], f"ran {'x' * 56}"),
        ([Check(("command",), starts=("x" * 57,))], f"ran {'x' * 55}…"),
    ],
)  # fmt: skip
def test_the_breach_of_a_rule_is_named_by_its_first_texts(checks, breach):
    assert record(*checks).breach == breach


@pytest.mark.parametrize(
    ("before", "since", "words"),
    [
        (Share(), Share(), "on record since 2 March; no session could have broken it"),
        (Share(1, 1), Share(), "before 2 March: 1 of 1 session ran npm install; since then none could have"),
        (Share(), Share(0, 2), "since 2 March: 0 of 2 sessions ran npm install; none before to compare with"),
        (Share(1_234, 2_000), Share(1_000, 3_000),
         "since 2 March: 1,000 of 3,000 sessions ran npm install, before 1,234 of 2,000"),
    ],
)  # fmt: skip
def test_a_rule_is_said_in_words_with_the_sides_that_there_are(before, since, words):
    assert effect.sentence(counted(before, since)) == words


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-01-09T00:00:00Z", "9 January"),
        ("2026-12-31T00:00:00Z", "31 December"),
        ("2025-03-02T00:00:00Z", "2 March 2025"),
        ("2026-02-30T00:00:00Z", "2026-02-30"),
        ("", ""),
    ],
)
def test_a_day_is_written_as_people_do_with_the_year_if_it_is_another(moment, words):
    assert effect.day_in_words(moment) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0 %"), (0.0004, "0 %"), (0.001, "0.1 %"), (0.0995, "10 %"), (0.0994, "9.9 %"), (0.105, "10 %"),
     (0.5, "50 %"), (1.0, "100 %")],
)  # fmt: skip
def test_a_small_percentage_has_a_decimal(value, words):
    assert effect.percent(value) == words


def test_a_range_is_that_of_the_interval():
    assert effect.range_text(Share(1, 214)) == "0.1 to 2.6 %"
    assert effect.range_text(Share(5, 10)) == "24 to 76 %"


@pytest.mark.parametrize(
    ("base", "new", "words"),
    [
        (Share(9, 120), Share(1, 214), "less often: −13.2 to −2.9 points"),
        (Share(1, 214), Share(9, 120), "more often: +2.9 to +13.2 points"),
        (Share(2, 20), Share(1, 20), "no clear difference: −25.5 to +15.0 points"),
        (Share(9, 9), Share(0, 100), "too few to tell: 9 sessions on one side, 10 are needed"),
        (Share(9, 30), Share(1, 1), "too few to tell: 1 session on one side, 10 are needed"),
        (Share(0, 10), Share(0, 10), "no clear difference: −27.8 to +27.8 points"),
    ],
)
def test_a_comparison_is_said_in_words_with_its_interval(base, new, words):
    assert effect.conclusion(base, new, 10) == words


@pytest.mark.parametrize(("cases", "outcome"), [(9, share.TOO_FEW), (10, share.LESS)])
def test_from_ten_sessions_on_a_side_a_rule_is_compared(cases, outcome):
    assert counted(Share(cases, cases), Share(0, 10)).outcome == outcome
    assert counted(Share(10, 10), Share(0, cases)).outcome == outcome


@pytest.mark.parametrize(("sessions", "is_enough"), [(19, False), (20, True)])
def test_from_twenty_sessions_on_a_side_the_holdout_says_something(sessions, is_enough):
    assert HoldoutEffect(0.5, "", sessions, 20).is_enough is is_enough
    assert HoldoutEffect(0.5, "", 20, sessions).is_enough is is_enough


def measured(*records: RecordEffect, sessions: tuple[SessionFacts, ...] = (), **more: Any) -> Effect:
    reading = SessionReading(sessions, *(more.pop(name, 0) for name in ("over_limit", "empty", "undated")))
    return Effect(records, reading, Share(1, 2), more.pop("unsearched", 0), more.pop("holdout", None))


def test_the_totals_are_those_of_the_rules_with_sessions_on_both_sides():
    whole = measured(
        counted(Share(1, 2), Share(1, 1_000)), counted(Share(2, 3), Share(1, 5)), counted(Share(7, 7), Share()),
        counted(Share(), Share(8, 8)),
    )  # fmt: skip

    assert effect.total_sentence(whole) == (
        "broken in 2 of 1,005 cases since they are on record, before in 3 of 5; a case is one rule in one session that "
        "could have broken it"
    )


def test_corrections_and_failed_commands_are_said_in_one_sentence():
    sessions = (facts(corrections=1, failed_commands=1), facts("b", corrections=2, commands=1_000, failed_commands=1))

    assert effect.sessions_sentence(measured(counted(Share(), Share()), sessions=sessions)) == (
        "you corrected the agent in 1 of 2 (3 corrections, 3 about a checked rule); 2 of 1,003 commands failed"
    )
    assert effect.sessions_sentence(measured(sessions=(facts(corrections=1, commands=1),))) == (
        "you corrected the agent in 1 of 2 (1 correction, 0 about a checked rule); 0 of 1 command failed"
    )


def test_what_was_not_counted_is_listed_with_the_reason_each():
    holdout = HoldoutEffect(0.5, "", continued=6)
    cut = facts(is_whole=False)

    whole = measured(
        counted(Share(), Share(), under_way=2), counted(Share(), Share(), under_way=3), sessions=(cut, facts("b")),
        over_limit=2, empty=3, undated=4, unsearched=7, holdout=holdout,
    )  # fmt: skip

    assert effect.left_out(whole) == [
        "2 older sessions not read: over the limit",
        "1 session read in part: only the end of a large file",
        "4 sessions without a usable date",
        "3 files without a prompt or a tool call, such as those of subagents",
        "5 sessions under way when a rule was put on record, which count on neither side of it",
        "6 sessions resumed or forked from another, which the comparison with the holdout leaves out",
        "7 corrections not looked up: too many",
    ]
    assert effect.left_out(measured(counted(Share(), Share()))) == []


def test_a_session_is_a_case_only_of_what_could_have_happened_in_it():
    sessions = [
        facts(prompts=1, corrections=0, commands=0, tried=frozenset()),
        facts(prompts=2, corrections=1, commands=1, failed_commands=0, broken=frozenset({0})),
        facts(prompts=3, corrections=0, commands=2, failed_commands=1),
        facts(at="2026-03-02T09:29:59Z", broken=frozenset({0})),
        facts(at="2026-03-02T09:30:00Z", tried=frozenset({0, 1}), broken=frozenset({1})),
    ]

    cases = {
        name: list(effect.counts(sessions, name, [record(NPM)]))
        for name in (effect.CORRECTED, effect.FAILED, effect.BROKEN)
    }

    assert cases == {
        effect.CORRECTED: [Share(1, 1), Share(0, 1), Share(0, 1), Share(0, 1)],
        effect.FAILED: [Share(0, 1), Share(1, 1), Share(0, 1), Share(0, 1)],
        effect.BROKEN: [Share(1, 1), Share(0, 1), Share(0, 1)],
    }


def test_a_session_and_a_correction_of_the_moment_of_the_record_count_as_since_then():
    created = "2026-03-02T09:30:00Z"
    earlier = facts(at="2026-03-02T09:29:59Z")
    across = facts(ended_at=created, started_at="2026-03-02T09:29:59Z")
    sessions = [earlier, across, facts(at=created), facts(tried=frozenset({1}))]

    counted_since = effect._effect(record(NPM), sessions, [earlier.started_at, created])

    assert counted_since == RecordEffect(record(NPM), Share(0, 1), Share(0, 1), 1, 1, 1, is_in_future=False)
    future = effect._effect(record(NPM, at="2026-03-20T12:00:01Z"), [], [])
    assert (future.is_in_future, effect._effect(record(NPM, at="2026-03-20T12:00:00Z"), [], []).is_in_future) == (
        True, False,
    )  # fmt: skip
