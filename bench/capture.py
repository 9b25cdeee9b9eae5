"""How well triage tells what is worth keeping: precision and recall on labelled sessions.

    PYTHONPATH=src python3 bench/capture.py [--split phrases|tune|test|all] [--details]

Each session is replayed: triage runs at every point where the Stop hook would, what was offered is not offered again,
and a session gets at most two offers. An offer is right if its category is one that a careful colleague would want.
Words and weights were chosen on "tune" and "phrases" alone. Intervals are 95 % bootstrap intervals over sessions.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import capture_phrases

from recollect.capturing import triage
from recollect.capturing.lexicon import Lexicons
from recollect.capturing.triage import Finding
from recollect.session.transcript import Message

SESSIONS = Path(__file__).parent / "sets" / "capture" / "transcripts.jsonl"
MORE = SESSIONS.with_name("more.jsonl")
"""Sessions written by the author of triage, for tuning only."""

MOST_OFFERS = 2
RESAMPLES = 2_000


class Outcome(NamedTuple):
    """What one session was offered, against what it should have been."""

    id: str
    kind: str
    language: str
    expected: frozenset[str]
    offered: tuple[Finding, ...]
    quotes: tuple[str, ...]

    @property
    def right(self) -> int:
        return sum(finding.category in self.expected for finding in self.offered)

    @property
    def found(self) -> int:
        return len(self.expected & {finding.category for finding in self.offered})

    @property
    def quoted(self) -> int:
        """Offers that quote the labelled words, under whatever category."""
        return sum(
            any(said in quote or quote in said for said in finding.evidence for quote in self.quotes)
            for finding in self.offered
        )


def replay(session: dict[str, Any], lexicons: Lexicons) -> Outcome:
    """Triage at every point of a session where the turn ends."""
    offered: list[Finding] = []
    known: list[str] = []
    messages: list[Message] = []
    said = session["messages"]
    for number, one in enumerate(said):
        if one["role"] == "injected":
            known.append(one["text"])
            continue
        messages.append(message(one))
        upcoming = next((later["role"] for later in said[number + 1 :] if later["role"] != "injected"), "user")
        if upcoming == "user" and (one["role"] != "user" or number == len(said) - 1) and len(offered) < MOST_OFFERS:
            new = [
                finding
                for finding in triage.findings(messages[-50:], lexicons, known=tuple(known))
                if not any(set(finding.evidence) & set(old.evidence) for old in offered)
            ]
            offered += new[:1]
    return Outcome(
        session["id"],
        session["kind"],
        session["language"],
        frozenset(session["expected"]),
        tuple(offered),
        tuple(session["evidence"]),
    )


def message(one: dict[str, Any]) -> Message:
    """A line of the set as triage reads it."""
    if one["role"] == "tool_use":
        return Message("assistant", "tool_use", "", one["name"], one["input"])
    if one["role"] == "tool_result":
        return Message("user", "tool_result", one["text"], "error" if one.get("is_error") else "")
    return Message(one["role"], "text", one["text"])


def precision(outcomes: list[Outcome]) -> float:
    offers = sum(len(outcome.offered) for outcome in outcomes)
    return sum(outcome.right for outcome in outcomes) / offers if offers else 1.0


def recall(outcomes: list[Outcome]) -> float:
    wanted = sum(len(outcome.expected) for outcome in outcomes)
    return sum(outcome.found for outcome in outcomes) / wanted if wanted else 1.0


def about(outcomes: list[Outcome]) -> float:
    """The share of offers that quote the labelled words: about the right thing, though perhaps under a wrong name."""
    offers = sum(len(outcome.offered) for outcome in outcomes)
    return sum(outcome.quoted for outcome in outcomes) / offers if offers else 1.0


def noticed(outcomes: list[Outcome]) -> float:
    """The share of sessions with something worth keeping in which an offer quotes the labelled words."""
    wanted = [outcome for outcome in outcomes if outcome.expected]
    return sum(bool(outcome.quoted) for outcome in wanted) / len(wanted) if wanted else 1.0


def interval(outcomes: list[Outcome], measure: Any) -> tuple[float, float]:
    """The middle 95 % of a measure over resampled sessions."""
    dice = random.Random(7)
    values = sorted(measure(dice.choices(outcomes, k=len(outcomes))) for _ in range(RESAMPLES))
    return values[RESAMPLES * 25 // 1000], values[RESAMPLES * 975 // 1000]


def report(split: str, outcomes: list[Outcome]) -> str:
    """The numbers of one split, in a few lines of Markdown."""
    nothing = [outcome for outcome in outcomes if not outcome.expected]
    silent = sum(not outcome.offered for outcome in nothing)
    right = sum(outcome.right for outcome in outcomes)
    lines = [f"### {split}: {len(outcomes)} sessions", ""]
    measures = (
        ("precision", precision),
        ("recall", recall),
        ("about the labelled words, whatever the category: precision", about),
        ("the same: recall", noticed),
    )
    for name, measure in measures:
        low, high = interval(outcomes, measure)
        lines.append(f"- {name} {measure(outcomes):.2f} [{low:.2f}, {high:.2f}]")
    lines += [
        f"- offers {sum(len(outcome.offered) for outcome in outcomes)}, right {right}",
        f"- sessions with nothing worth keeping: {silent} of {len(nothing)} silent",
        "",
        "| kind | sessions | found | wrong offers |",
        "| --- | --- | --- | --- |",
    ]
    for kind in sorted({outcome.kind for outcome in outcomes}):
        those = [outcome for outcome in outcomes if outcome.kind == kind]
        wrong = sum(len(outcome.offered) - outcome.right for outcome in those)
        lines.append(f"| {kind} | {len(those)} | {sum(outcome.found for outcome in those)} | {wrong} |")
    return "\n".join(lines)


def details(outcomes: list[Outcome]) -> str:
    lines = []
    for outcome in outcomes:
        ok = {finding.category for finding in outcome.offered} == outcome.expected
        lines.append(f"{'  ' if ok else '! '}{outcome.id} {outcome.kind} expected={sorted(outcome.expected)}")
        if not ok and not outcome.offered:
            lines.append(f"      missed: {outcome.quotes}"[:200])
        for finding in outcome.offered:
            lines.append(f"      {finding.category} {finding.score:.2f} {' | '.join(finding.evidence)[:200]}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("phrases", "tune", "test", "all"), default="all")
    parser.add_argument("--details", action="store_true", help="every session and what it was offered")
    args = parser.parse_args()
    lexicons = Lexicons()
    sessions = [json.loads(line) for line in SESSIONS.read_text("utf-8").splitlines()]
    sets = {split: [session for session in sessions if session["split"] == split] for split in ("tune", "test")}
    sets["phrases"] = capture_phrases.sessions()
    for split in ("phrases", "tune", "test") if args.split == "all" else (args.split,):
        outcomes = [replay(session, lexicons) for session in sets[split]]
        print(report(split, outcomes), end="\n\n")
        if args.details:
            print(details(outcomes), end="\n\n")


if __name__ == "__main__":
    main()
