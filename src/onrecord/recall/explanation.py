"""Every candidate for a prompt, if an agent is shown it, and why, in words. No hook loads this."""

from __future__ import annotations

from collections.abc import Mapping

from onrecord.coldstart import NamedTuple
from onrecord.recall.candidate import NOTHING_ON_FILE, Candidate
from onrecord.recall.for_prompt import BELOW_THRESHOLD, Decision
from onrecord.search import explain
from onrecord.session import transcript
from onrecord.settings import PROMPT_SWITCHES, Settings, off_switches
from onrecord.text import plural

_MAX_EXPLAINED = 5
"""Candidates whose reasons are given, beside those that are shown: further down they are all alike."""

_MAX_BORROWED_CHARACTERS = 200


class Explained(NamedTuple):
    """A candidate, what a model says of it, and the reasons for its score."""

    candidate: Candidate
    verdict: str
    reasons: list[str]


def explained(decision: Decision, verdicts: Mapping[int, str] | None = None) -> list[Explained]:
    """Return the candidates, most probable first; reasons for the first few and for all that are shown."""
    ranked = sorted(decision.candidates, key=lambda candidate: (-candidate.match.probability, candidate.match.path))
    explanations = []
    for place, candidate in enumerate(ranked):
        others = [
            other.match for other in ranked if other is not candidate and other.match.root == candidate.match.root
        ]
        has_reasons = place < _MAX_EXPLAINED or candidate.shown
        verdict = (verdicts or {}).get(id(candidate.match), "")
        explanations.append(
            Explained(candidate, verdict, explain.reasons(candidate.match, others) if has_reasons else [])
        )
    return explanations


def silence(prompt: str, settings: Settings) -> str:
    """Return why a hook would show nothing for a prompt, whatever is on file; empty if it would search."""
    if transcript.wants_silence(prompt):
        return "a prompt like this one is left alone"
    return "; ".join(map(str, off_switches(settings, *PROMPT_SWITCHES)))


def thresholds(decision: Decision) -> str:
    """Return the scores at which a record is shown as a rule or pointer, in words."""
    rule, pointer = decision.thresholds
    pointed = f", as a pointer from {pointer:.2f} on" if decision.thresholds.has_pointers else ""
    prefix = "A question about the past, answered like a search. " if decision.is_past else ""
    return f"{prefix}Shown as a rule from a score of {rule:.2f} on{pointed}."


def borrowed(decision: Decision) -> str:
    """Return the words that completed a prompt that refers back; empty if it did not need any."""
    words = decision.borrowed[:_MAX_BORROWED_CHARACTERS]
    return f"The prompt refers back; terms were borrowed from: {words}" if words else ""


def outcome(candidate: Candidate, decision: Decision) -> str:
    """Return the outcome of a candidate, in words."""
    if candidate.shown:
        return f"shown as a {candidate.shown}"
    if candidate.outcome != BELOW_THRESHOLD:
        return f"not shown: {candidate.outcome}"
    return f"not shown: below {min(decision.thresholds):.2f}"


def conclusion(decision: Decision, *, is_silent: bool) -> str:
    """Return what the agent is shown, in one sentence."""
    if is_silent:
        return "The agent is shown nothing."
    if decision.text == NOTHING_ON_FILE:
        return "The agent is shown that nothing is on file."
    parts = [
        plural(len(part), name) for part, name in ((decision.rules, "rule"), (decision.pointers, "pointer")) if part
    ]
    return f"The agent is shown {' and '.join(parts) or 'nothing'}."
