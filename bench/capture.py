"""`python -m bench capture`: how well triage finds what should outlive a session, replayed turn by turn.

A suggestion is right if the session has a label of its category; a labelled session is found if it gets a right one.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench import results, sessions
from bench.sessions import Session
from onrecord import timestamps
from onrecord.capture import suggestions, triage
from onrecord.capture.suggestions import Suggestion
from onrecord.capture.triage import SaveCandidate
from onrecord.session.transcript import Ending
from onrecord.setting_table import SETTINGS

MOST_SUGGESTIONS = SETTINGS["capture.max_suggestions"].default
RESAMPLES = 2_000
Finder = Callable[[Ending, tuple[str, ...]], list[SaveCandidate]]


class Outcome(NamedTuple):
    """What one session was suggested, against what it should have been."""

    session: Session
    suggested: tuple[SaveCandidate, ...]

    @property
    def right(self) -> int:
        return sum(finding.category in self.session.expected for finding in self.suggested)

    @property
    def found(self) -> int:
        return len(self.session.expected & {finding.category for finding in self.suggested})

    @property
    def quoted(self) -> int:
        """Suggestions that quote the labelled words, under whatever category."""
        if not self.session.expected:
            return 0
        return sum(any(map(self.session.quotes, finding.evidence)) for finding in self.suggested)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--taught", action="store_true", help="on the sessions that were learnt from, not on held ones")
    parser.add_argument("--details", action="store_true", help="every session that is not as it should be")


def run(options: argparse.Namespace) -> int:
    replayed = (
        [session for session in sessions.taught() if not session.is_phrase] if options.taught else sessions.held()
    )
    outcomes = [replay(session, found) for session in replayed]
    print(report("learnt from" if options.taught else "held", outcomes))
    if options.details:
        print(details(outcomes))
    if not options.taught:
        results.save("capture", {"sessions": len(outcomes), "measures": measured(outcomes)})
    return 0


def found(end: Ending, shown: tuple[str, ...]) -> list[SaveCandidate]:
    """Return what triage finds, without what records say that the session was shown."""
    return [finding for finding in triage.best_candidates(end) if not triage.is_repeated_in(finding.core, shown)]


def measured(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Return each measure with its interval."""
    return {
        title: [round(value, 3) for value in (measure(outcomes), *interval(outcomes, measure))]
        for title, measure in MEASURES
    }


def replay(session: Session, find: Finder) -> Outcome:
    """Run triage wherever a turn of a session ends, with the rules of the Stop hook for what is new."""
    suggested: list[SaveCandidate] = []
    earlier: list[Suggestion] = []
    for end, shown in session.stops():
        new = [finding for finding in find(end, shown) if suggestions.is_new(finding, earlier, session.id)]
        if new and len(suggested) < MOST_SUGGESTIONS:
            suggested.append(new[0])
            category, evidence = new[0].category, new[0].evidence
            keys = suggestions.keys(evidence)
            earlier.append(Suggestion("suggested", category, session.id, timestamps.now(), keys, evidence))
    return Outcome(session, tuple(suggested))


def precision(outcomes: Sequence[Outcome]) -> float:
    return _share(sum(outcome.right for outcome in outcomes), sum(len(outcome.suggested) for outcome in outcomes))


def recall(outcomes: Sequence[Outcome]) -> float:
    return _share(
        sum(outcome.found for outcome in outcomes), sum(len(outcome.session.expected) for outcome in outcomes)
    )


def about(outcomes: Sequence[Outcome]) -> float:
    """Return the share of suggestions that quote the labelled words, whatever their category."""
    return _share(sum(outcome.quoted for outcome in outcomes), sum(len(outcome.suggested) for outcome in outcomes))


def noticed(outcomes: Sequence[Outcome]) -> float:
    """Return the share of sessions with something worth keeping in which a suggestion quotes the labelled words."""
    wanted = [outcome for outcome in outcomes if outcome.session.expected]
    return _share(sum(bool(outcome.quoted) for outcome in wanted), len(wanted))


def silent(outcomes: Sequence[Outcome]) -> float:
    """Return the share of sessions with nothing worth keeping in which nothing was suggested."""
    nothing = [outcome for outcome in outcomes if not outcome.session.expected]
    return _share(sum(not outcome.suggested for outcome in nothing), len(nothing))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


MEASURES = (
    ("precision", precision),
    ("recall", recall),
    ("silent where nothing is worth keeping", silent),
    ("about the labelled words, whatever the category: precision", about),
    ("the same: recall", noticed),
)


def interval(outcomes: Sequence[Outcome], measure: Callable[[Sequence[Outcome]], float]) -> tuple[float, float]:
    """Return the middle 95 % of a measure over resampled sessions."""
    dice = random.Random(7)
    values = sorted(measure(dice.choices(outcomes, k=len(outcomes))) for _ in range(RESAMPLES))
    return values[RESAMPLES * 25 // 1000], values[RESAMPLES * 975 // 1000]


def report(name: str, outcomes: Sequence[Outcome]) -> str:
    """Return the numbers of one set, in a few lines of Markdown."""
    lines = [f"### {name}: {len(outcomes)} sessions", ""]
    for title, measure in MEASURES:
        low, high = interval(outcomes, measure)
        lines.append(f"- {title} {measure(outcomes):.2f} [{low:.2f}, {high:.2f}]")
    right = sum(outcome.right for outcome in outcomes)
    lines += [
        f"- suggestions {sum(len(outcome.suggested) for outcome in outcomes)}, right {right}",
        "",
        "| kind | sessions | found | wrong suggestions |",
        "| --- | --- | --- | --- |",
    ]
    for kind in sorted({outcome.session.kind for outcome in outcomes}):
        those = [outcome for outcome in outcomes if outcome.session.kind == kind]
        wrong = sum(len(outcome.suggested) - outcome.right for outcome in those)
        lines.append(f"| {kind} | {len(those)} | {sum(outcome.found for outcome in those)} | {wrong} |")
    return "\n".join(lines)


def details(outcomes: Sequence[Outcome]) -> str:
    lines = []
    for outcome in outcomes:
        session = outcome.session
        if {finding.category for finding in outcome.suggested} != session.expected:
            lines.append(f"{session.id} {session.kind}: {' | '.join(session.evidence)}"[:300])
            for finding in outcome.suggested:
                lines.append(f"      {finding.category} {finding.score:.2f} {' | '.join(finding.evidence)}"[:300])
    return "\n".join(lines)
