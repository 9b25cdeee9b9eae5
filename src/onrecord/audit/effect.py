"""The effect of the memory in a project, counted in its sessions: how often each checked rule was broken before it was
on record and since, how often it was corrected, and what a holdout says.

A session that was under way when a record was created counts on neither side: most rules are saved in the session that
broke them, and its count would make the time before look worse than it was.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from onrecord import timestamps
from onrecord.audit import session_facts, share
from onrecord.audit.session_facts import ReadLimits, SessionFacts, SessionReading, Watch
from onrecord.audit.share import Share
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.recall import for_check
from onrecord.recall.stores import Stores
from onrecord.record import check
from onrecord.record.check import Check, RecordCheck
from onrecord.search import query
from onrecord.search.candidates import Filter
from onrecord.session import holdout
from onrecord.session.transcript import Transcript
from onrecord.settings import Settings
from onrecord.store.store import Store
from onrecord.text import cut, plural
from onrecord.usage.usage_log import Counts, per_record

MIN_SESSIONS = 10
"""Sessions on each side of a record's date below which nothing is said about a difference."""

MIN_HOLDOUT_SESSIONS = 20
"""The same for the sessions with and without records."""

_MAX_SEARCHED = 300
_SEARCH_SECONDS = 15.0
"""Corrections for which the record that they are about is looked up, newest first, and seconds for all of them."""

_MAX_RESULTS = 3
_MIN_PROBABILITY = 0.2
"""Of a record that a correction is about: about a third of the results of a search that reach it are right."""

_MAX_BREACH_CHARACTERS = 60
CORRECTED, BROKEN, FAILED = "corrected", "broke a checked rule", "had a failed command"
"""What sessions with and without records are compared by."""


class CheckedRecord(NamedTuple):
    """A record with checks: when it was created, and the numbers of its checks in the list of all."""

    record_id: str
    title: str
    path: str
    """Its path, as an agent sees it."""
    created_at: str
    checks: tuple[Check, ...]
    numbers: frozenset[int]
    counts: Counts
    """How often it was shown and opened, as long as that is kept."""

    @property
    def breach(self) -> str:
        """The breach of the rule in words, such as `ran npm install`."""
        kinds = {kind == check.COMMAND for one in self.checks for kind in one.on}
        texts = [text.strip() for one in self.checks for text in (one.starts or one.has or one.adds)]
        if len(kinds) != 1 or not texts:
            return "broke it"
        verb = "ran" if kinds == {True} else "added"
        phrase = " or ".join(texts[:2]) + (" or the like" if len(texts) > 2 else "")
        return cut(f"{verb} {phrase}", _MAX_BREACH_CHARACTERS)


class RecordEffect(NamedTuple):
    """The sessions that could have broken a rule, before it was on record and since, and those that did."""

    record: CheckedRecord
    before: Share
    since: Share
    under_way: int
    """Sessions that were under way when the record was created; they count on neither side."""
    corrected_before: int
    corrected_since: int
    is_in_future: bool
    """True if the record is dated in the future, so that no session can be after it."""

    @property
    def outcome(self) -> str:
        return share.compare(self.before, self.since, MIN_SESSIONS)


class HoldoutComparison(NamedTuple):
    """The same count for the sessions with records and for those without."""

    name: str
    shown: Share
    held_out: Share

    @property
    def outcome(self) -> str:
        """The sessions with records against those without, in a word."""
        return share.compare(self.held_out, self.shown, MIN_HOLDOUT_SESSIONS)


class HoldoutEffect(NamedTuple):
    """The share of sessions without records, since when, and what they are compared by."""

    share: float
    """The share that is in force now; 0 if the holdout has ended."""
    since: str
    """When the first compared session could begin; empty if no hook has seen the setting yet."""
    shown: int = 0
    held_out: int = 0
    """Sessions with records, and without."""
    comparisons: tuple[HoldoutComparison, ...] = ()
    continued: int = 0
    """Sessions that go on from another one: what that one was shown is in them, so they are on neither side."""

    @property
    def is_enough(self) -> bool:
        return min(self.shown, self.held_out) >= MIN_HOLDOUT_SESSIONS


class Effect(NamedTuple):
    """All that was counted."""

    records: tuple[RecordEffect, ...]
    reading: SessionReading
    corrected: Share
    """Sessions in which the user corrected the agent."""
    unsearched: int
    """Corrections that were not looked up: there were too many."""
    holdout: HoldoutEffect | None

    @property
    def compared(self) -> list[RecordEffect]:
        """The rules with sessions on both sides."""
        return [effect for effect in self.records if effect.before.of and effect.since.of]

    @property
    def before(self) -> Share:
        """The compared rules together: one case is a session that could have broken one rule."""
        return share.total([effect.before for effect in self.compared])

    @property
    def since(self) -> Share:
        return share.total([effect.since for effect in self.compared])

    @property
    def corrections(self) -> int:
        """The corrections in all sessions."""
        return sum(session.corrections for session in self.reading.sessions)

    @property
    def about_rules(self) -> int:
        """The corrections that are about a checked rule, as far as a search can tell."""
        return sum(effect.corrected_before + effect.corrected_since for effect in self.records)


def measure(
    stores: Stores,
    settings: Settings,
    transcripts: Sequence[Transcript],
    limits: ReadLimits,
    *,
    watch: Watch = session_facts.unwatched,
    only: str = "",
) -> Effect:
    """Return the effect in the sessions of a project; with `only`, the path of a record, of that record alone."""
    rules = for_check.in_force(stores, settings)
    records = [record for record in records_of(stores, rules) if only in ("", record.path)]
    reading = session_facts.read(transcripts, rules, stores.project, limits, watch)
    periods = holdout.periods()
    shown = [session for session in reading.sessions if not _is_held_out(session, periods)]
    corrections, unsearched = _corrections(stores, settings, shown, watch) if records else ({}, 0)
    effects = [_effect(record, shown, corrections.get(record.path, [])) for record in records]
    return Effect(
        tuple(sorted(effects, key=_order)),
        reading,
        share.total(Share(session.corrections > 0, 1) for session in reading.sessions),
        unsearched,
        _holdout(settings.number("retrieval.holdout"), reading.sessions, periods, records),
    )


def records_of(stores: Stores, rules: Sequence[RecordCheck]) -> list[CheckedRecord]:
    """Return the records of `rules`, each with its date; one that cannot be read any more is left out."""
    numbers: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        numbers.setdefault(rule.path, []).append(number)
    records = []
    for store_ref in stores.store_refs:
        paths = [path for path in numbers if path.startswith(store_ref.prefix)]
        counts = per_record(store_ref.root) if paths else {}
        for path in paths:
            inner, own = path[len(store_ref.prefix) :], numbers[path]
            try:
                created_at = Store(store_ref.root).read(inner).memory.created_at
            except OnrecordError:
                continue
            first, checks = rules[own[0]], tuple(rules[number].check for number in own)
            own_counts = counts.get(inner, Counts())
            record = CheckedRecord(
                first.record_id, first.title, path, created_at, checks, frozenset(own), own_counts
            )  # fmt: skip
            records.append(record)
    return records


def _effect(
    checked_record: CheckedRecord, facts_list: Sequence[SessionFacts], corrected_at: Sequence[str]
) -> RecordEffect:
    before = since = Share()
    under_way, created = 0, timestamps.order(checked_record.created_at)
    for facts in facts_list:
        if not checked_record.numbers & facts.tried:
            continue
        is_broken = bool(checked_record.numbers & facts.broken)
        if timestamps.order(facts.ended_at) < created:
            before = before.add(is_broken)
        elif timestamps.order(facts.started_at) >= created:
            since = since.add(is_broken)
        else:
            under_way += 1
    earlier = sum(timestamps.order(moment) < created for moment in corrected_at)
    is_in_future = created > timestamps.order(timestamps.now())
    return RecordEffect(checked_record, before, since, under_way, earlier, len(corrected_at) - earlier, is_in_future)


def _order(effect: RecordEffect) -> tuple[int, int, str]:
    """Return the place in the list: rules that were broken most often first."""
    return -(effect.before.hits + effect.since.hits), -(effect.before.of + effect.since.of), effect.record.path


def _corrections(
    stores: Stores, settings: Settings, facts_list: Sequence[SessionFacts], watch: Watch
) -> tuple[dict[str, list[str]], int]:
    """Return when each record was corrected, as far as a search tells, and how many corrections were not looked up."""
    moments: dict[str, list[str]] = {}
    deadline, searched = time.monotonic() + _SEARCH_SECONDS, 0
    # The indexes are up to date: the checks were read from them just now.
    quick = Stores(stores.store_refs, stores.project)
    prompts = [(facts.started_at, prompt) for facts in facts_list for prompt in facts.correcting_prompts]
    for moment, prompt in watch(prompts[:_MAX_SEARCHED], "looking up corrections"):
        if time.monotonic() > deadline:
            break
        searched += 1
        path = _record_about(quick, settings, prompt)
        if path:
            moments.setdefault(path, []).append(moment)
    return moments, sum(facts.corrections for facts in facts_list) - searched


def _record_about(stores: Stores, settings: Settings, prompt: str) -> str:
    """Return the path of the record that a correction is most probably about; empty if none is near."""
    candidates = stores.search(
        query.parse(prompt), Filter(settings=settings), _MAX_RESULTS, min_probability=_MIN_PROBABILITY
    )
    best = max(candidates, key=lambda candidate: candidate.match.probability, default=None)
    return best.prefix + best.match.path if best else ""


def _is_held_out(facts: SessionFacts, periods: Sequence[holdout.Period]) -> bool:
    """True if a session began while it, or one from which it has turns, was in the holdout."""
    return any(
        period.start <= facts.started_at < period.end and holdout.is_held_out(session, period.share)
        for period in periods
        for session in (facts.session_id, *facts.relatives)
    )


def _holdout(
    now: float,
    facts_list: Sequence[SessionFacts],
    periods: Sequence[holdout.Period],
    rule_records: Sequence[CheckedRecord],
) -> HoldoutEffect | None:
    """Return the comparison of the sessions since there is a holdout; None if there never was one."""
    if not periods:
        return HoldoutEffect(now, "") if now else None
    shown: list[SessionFacts] = []
    held_out: list[SessionFacts] = []
    continued = 0
    for facts in facts_list:
        period = next((period for period in periods if period.covers(facts.started_at, facts.ended_at)), None)
        if not period or not facts.session_id:
            continue
        if facts.relatives:
            continued += 1
        else:
            (held_out if holdout.is_held_out(facts.session_id, period.share) else shown).append(facts)
    comparisons = tuple(
        HoldoutComparison(name, *(share.total(counts(facts, name, rule_records)) for facts in (shown, held_out)))
        for name in (CORRECTED, BROKEN, FAILED)
    )
    return HoldoutEffect(now, periods[0].start, len(shown), len(held_out), comparisons, continued)


def counts(facts_list: Sequence[SessionFacts], name: str, rule_records: Sequence[CheckedRecord]) -> Iterator[Share]:
    """Yield one case for each session in which a thing could have happened: 1 of 1 if it did, 0 of 1 if not."""
    for facts in facts_list:
        if name == CORRECTED and facts.prompts > 1:
            yield Share(facts.corrections > 0, 1)
        elif name == FAILED and facts.commands:
            yield Share(facts.failed_commands > 0, 1)
        elif name == BROKEN:
            started = timestamps.order(facts.started_at)
            on_record = (record for record in rule_records if timestamps.order(record.created_at) <= started)
            numbers = {number for record in on_record for number in record.numbers}
            if numbers & facts.tried:
                yield Share(bool(numbers & facts.broken), 1)


def day_in_words(moment: str) -> str:
    """Return a day as people write it, `2 March`; with the year unless it is this one."""
    if not timestamps.is_day(moment[:10]):
        return moment[:10]
    year = "" if moment[:4] == timestamps.now()[:4] else f" {moment[:4]}"
    return f"{int(moment[8:10])} {timestamps.MONTHS[int(moment[5:7]) - 1]}{year}"


def sentence(effect: RecordEffect) -> str:
    """Return in words how often a rule was broken before it was on record, and since."""
    record, before, since = effect.record, effect.before, effect.since
    day, breach = day_in_words(record.created_at), record.breach
    if effect.is_in_future:
        return f"dated {day}, in the future; so far {_of_sessions(before)} {breach}"
    if not before.of and not since.of:
        return f"on record since {day}; no session could have broken it"
    if not since.of:
        return f"before {day}: {_of_sessions(before)} {breach}; since then none could have"
    text = f"since {day}: {_of_sessions(since)} {breach}"
    return (
        f"{text}; none before to compare with" if not before.of else f"{text}, before {before.hits:,} of {before.of:,}"
    )


def total_sentence(measurement: Effect) -> str:
    """Return in words how often the compared rules were broken, taken together."""
    before, since = measurement.before, measurement.since
    return (
        f"broken in {since.hits:,} of {plural(since.of, 'case')} since they are on record, before in {before.hits:,} "
        f"of {before.of:,}; a case is one rule in one session that could have broken it"
    )


def sessions_sentence(measurement: Effect) -> str:
    """Return in words how often the agent was corrected, and how many commands failed."""
    sessions, part = measurement.reading.sessions, measurement.corrected
    failed, commands = sum(one.failed_commands for one in sessions), sum(one.commands for one in sessions)
    about = f"{plural(measurement.corrections, 'correction')}, {measurement.about_rules:,} about a checked rule"
    return (
        f"you corrected the agent in {part.hits:,} of {part.of:,} ({about}); {failed:,} of "
        f"{plural(commands, 'command')} failed"
    )


def _of_sessions(one_share: Share) -> str:
    return f"{one_share.hits:,} of {plural(one_share.of, 'session')}"


def conclusion(base_share: Share, new_share: Share, minimum: int) -> str:
    """Return in words what a comparison says of `new_share` against `base_share`."""
    outcome = share.compare(base_share, new_share, minimum)
    if outcome == share.TOO_FEW:
        least = min(base_share.of, new_share.of)
        return f"too few to tell: {plural(least, 'session')} on one side, {minimum} are needed"
    low, high = share.difference(base_share, new_share)
    points = f"{_points(low)} to {_points(high)} points"
    if outcome == share.UNCLEAR:
        return f"no clear difference: {points}"
    return f"{'less' if outcome == share.LESS else 'more'} often: {points}"


def _points(value: float) -> str:
    return f"{round(value * 100, 1) + 0.0:+.1f}".replace("-", "−")


def percent(value: float) -> str:
    """Return a share as a percentage with one decimal, or without one from 10 % on."""
    rounded = round(value * 100, 1)
    return f"{rounded:.1f} %" if 0 < rounded < 10 else f"{rounded:.0f} %"


def range_text(one_share: Share) -> str:
    """Return the interval of a share: `0.1 to 2.6 %`."""
    low, high = (percent(bound)[:-2] for bound in one_share.interval)
    return f"{low} to {high} %"


def left_out(effect: Effect) -> list[str]:
    """Return what was not counted, and why; empty if everything was."""
    reading = effect.reading
    under_way = sum(one.under_way for one in effect.records)
    continued = effect.holdout.continued if effect.holdout else 0
    parts = (
        (reading.over_limit, "older session", "not read: over the limit"),
        (reading.partial, "session", "read in part: only the end of a large file"),
        (reading.undated, "session", "without a usable date"),
        (reading.empty, "file", "without a prompt or a tool call, such as those of subagents"),
        (under_way, "session", "under way when a rule was put on record, which count on neither side of it"),
        (continued, "session", "resumed or forked from another, which the comparison with the holdout leaves out"),
        (effect.unsearched, "correction", "not looked up: too many"),
    )
    return [f"{plural(count, noun)} {reason}" for count, noun, reason in parts if count]
