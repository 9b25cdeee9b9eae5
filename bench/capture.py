"""`python -m bench capture`: how well triage finds what should outlive a session, replayed turn by turn.

An offer is right if the session has a label of its category; a labelled session is found if it gets such an offer.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench import sessions
from bench.sessions import Session
from recollect import timestamps
from recollect.capture import suggestion, suggestion_log, triage
from recollect.capture.cues import Lexicons
from recollect.capture.suggestion_log import Offer
from recollect.capture.triage import Finding
from recollect.session.transcript import Ending
from recollect.settings import SETTINGS

MOST_OFFERS = SETTINGS["capture.max_offers"].default
RESAMPLES = 2_000
Finder = Callable[[Ending, tuple[str, ...]], list[Finding]]


class Outcome(NamedTuple):
    """What one session was offered, against what it should have been."""

    session: Session
    offered: tuple[Finding, ...]

    @property
    def right(self) -> int:
        return sum(finding.category in self.session.expected for finding in self.offered)

    @property
    def found(self) -> int:
        return len(self.session.expected & {finding.category for finding in self.offered})

    @property
    def quoted(self) -> int:
        """Offers that quote the labelled words, under whatever category."""
        if not self.session.expected:
            return 0
        return sum(any(map(self.session.quotes, finding.evidence)) for finding in self.offered)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--taught", action="store_true", help="on the sessions that were learnt from, not on held ones")
    parser.add_argument("--details", action="store_true", help="every session that is not as it should be")


def run(options: argparse.Namespace) -> int:
    lexicons = Lexicons()
    chosen = [one for one in sessions.taught() if not one.is_phrase] if options.taught else sessions.held()
    outcomes = [replay(one, lambda end, known: triage.findings(end, lexicons, known=known)) for one in chosen]
    print(report("learnt from" if options.taught else "held", outcomes))
    if options.details:
        print(details(outcomes))
    return 0


def replay(session: Session, find: Finder) -> Outcome:
    """Triage at every point of a session where a turn ends, with the rules of the Stop hook for what is new."""
    offered: list[Finding] = []
    made: list[Offer] = []
    for end, known in session.stops():
        new = [finding for finding in find(end, known) if suggestion.is_new(finding, made, session.id)]
        if new and len(offered) < MOST_OFFERS:
            offered.append(new[0])
            evidence = new[0].evidence
            made.append(
                Offer(
                    "offered",
                    new[0].category,
                    session.id,
                    evidence,
                    keys=suggestion_log.keys(evidence),
                    at=timestamps.now(),
                )
            )
    return Outcome(session, tuple(offered))


def precision(outcomes: Sequence[Outcome]) -> float:
    return _share(sum(outcome.right for outcome in outcomes), sum(len(outcome.offered) for outcome in outcomes))


def recall(outcomes: Sequence[Outcome]) -> float:
    return _share(
        sum(outcome.found for outcome in outcomes), sum(len(outcome.session.expected) for outcome in outcomes)
    )


def about(outcomes: Sequence[Outcome]) -> float:
    """The share of offers that quote the labelled words: about the right thing, though perhaps under a wrong name."""
    return _share(sum(outcome.quoted for outcome in outcomes), sum(len(outcome.offered) for outcome in outcomes))


def noticed(outcomes: Sequence[Outcome]) -> float:
    """The share of sessions with something worth keeping in which an offer quotes the labelled words."""
    wanted = [outcome for outcome in outcomes if outcome.session.expected]
    return _share(sum(bool(outcome.quoted) for outcome in wanted), len(wanted))


def silent(outcomes: Sequence[Outcome]) -> float:
    """The share of sessions with nothing worth keeping in which nothing was offered."""
    nothing = [outcome for outcome in outcomes if not outcome.session.expected]
    return _share(sum(not outcome.offered for outcome in nothing), len(nothing))


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
    """The middle 95 % of a measure over resampled sessions."""
    dice = random.Random(7)
    values = sorted(measure(dice.choices(outcomes, k=len(outcomes))) for _ in range(RESAMPLES))
    return values[RESAMPLES * 25 // 1000], values[RESAMPLES * 975 // 1000]


def report(name: str, outcomes: Sequence[Outcome]) -> str:
    """The numbers of one set, in a few lines of Markdown."""
    lines = [f"### {name}: {len(outcomes)} sessions", ""]
    for title, measure in MEASURES:
        low, high = interval(outcomes, measure)
        lines.append(f"- {title} {measure(outcomes):.2f} [{low:.2f}, {high:.2f}]")
    right = sum(outcome.right for outcome in outcomes)
    lines += [
        f"- offers {sum(len(outcome.offered) for outcome in outcomes)}, right {right}",
        "",
        "| kind | sessions | found | wrong offers |",
        "| --- | --- | --- | --- |",
    ]
    for kind in sorted({outcome.session.kind for outcome in outcomes}):
        those = [outcome for outcome in outcomes if outcome.session.kind == kind]
        wrong = sum(len(outcome.offered) - outcome.right for outcome in those)
        lines.append(f"| {kind} | {len(those)} | {sum(outcome.found for outcome in those)} | {wrong} |")
    return "\n".join(lines)


def details(outcomes: Sequence[Outcome]) -> str:
    lines = []
    for outcome in outcomes:
        session = outcome.session
        if {finding.category for finding in outcome.offered} != session.expected:
            lines.append(f"{session.id} {session.kind}: {' | '.join(session.evidence)}"[:300])
            for finding in outcome.offered:
                lines.append(f"      {finding.category} {finding.score:.2f} {' | '.join(finding.evidence)}"[:300])
    return "\n".join(lines)
