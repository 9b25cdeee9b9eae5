"""`python -m bench triage`: fit triage's weights and check them on authors left out.

A sentence that carries a label is an example of it; every other sentence is one of nothing, except those beside a
labelled one in the same message, which are neither. What an assistant proposes is nothing until the user agrees, so
sentences are also seen as they stood when their turn ended. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from bench import capture, sessions
from bench.capture import Outcome
from bench.sessions import Session
from onrecord.capture import triage
from onrecord.capture.conversation import Conversation, Speech
from onrecord.capture.triage import ALWAYS, WEIGHTS, SaveCandidate, TriageModel, line_features, speech_features
from onrecord.categories import CATEGORIES
from onrecord.session.transcript import Ending

OUTCOMES = ("nothing", *CATEGORIES)
LEAST_SEEN = 2
LEAST_WEIGHT = 0.12
"""Below it, for every outcome, a feature is left out: thousands of features cost the hook more than they tell it."""

LENIENCY = 0.1
OF_SOMETHING = 2.0
"""How much more an example of something counts than one of nothing."""

OF_SESSIONS = 4.0
"""How much more a sentence of a whole session counts than a single phrase: it stands where sentences really stand."""

OF_PROMPTS = 4.0
"""How much more a prompt of a search set counts: most sessions begin with one like it, and only few are at hand."""

FOLDS = 4


class Example(NamedTuple):
    """What is seen of one sentence, what it is, and how much it counts."""

    features: list[str]
    outcome: str
    importance: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="measure on authors left out, write nothing")


def run(options: argparse.Namespace) -> int:
    taught = sessions.taught()
    print(_amount(taught), flush=True)
    examples = {id(session): learn(session) for session in taught}
    if options.check:
        check(taught, examples)
        return 0
    text = fit([example for session in taught for example in examples[id(session)]])
    Path(WEIGHTS).write_text(text, encoding="utf-8")
    print(f"{text.count(chr(10)):,} features written to {WEIGHTS}")
    return 0


def _amount(taught: Sequence[Session]) -> str:
    written = [session for session in taught if session.author != sessions.PROMPTS]
    whole = sum(not session.is_phrase for session in written)
    utterances = {(session.author, session.evidence) for session in written if session.is_phrase}
    authors = {session.author for session in written}
    return f"{whole:,} sessions and {len(utterances):,} utterances by {len(authors)} authors"


def learn(session: Session) -> list[Example]:
    """Return the sentences of a session as examples."""
    messages = [message for message in session.messages if message.kind != "injected"]
    whole = Conversation(Ending(messages, is_whole=True))
    examples = [example for speech in whole.speeches for example in _examples(session, whole, speech, session.label)]
    if session.is_phrase:
        return examples
    for end, _ in list(session.stops())[:-1]:
        talk = Conversation(end)
        if talk.speeches and not talk.speeches[-1].by_user:
            last = talk.speeches[-1]
            examples += _examples(session, talk, last, "nothing", but=not _is_agreed_later(session, whole, last))
    return examples


def _examples(
    session: Session, talk: Conversation, speech: Speech, label: str, *, but: bool = False
) -> Iterable[Example]:
    """Yield examples of a speech; with `but`, none of the labelled sentences."""
    labelled = [session.quotes(line.sentence.raw) for line in speech.lines]
    shared = speech_features(talk, speech)
    for number, line in enumerate(speech.lines):
        if line.is_question or len(line.sentence.words) < 2 or (any(labelled) and not labelled[number]):
            continue
        if labelled[number] and but:
            continue
        outcome = label if labelled[number] else "nothing"
        importance = _importance(session) * (1.0 if outcome == "nothing" else OF_SOMETHING)
        yield Example([*shared, *line_features(talk, speech, number)], outcome, importance)


def _importance(session: Session) -> float:
    if session.author == sessions.PROMPTS:
        return OF_PROMPTS
    return 1.0 if session.is_phrase else OF_SESSIONS


def _is_agreed_later(session: Session, whole: Conversation, speech: Speech) -> bool:
    raws = [line.sentence.raw for line in speech.lines]
    same = (other for other in whole.speeches if [line.sentence.raw for line in other.lines] == raws)
    return session.label == "decision" and any(whole.is_accepted(other) for other in same)


def fit(examples: Sequence[Example]) -> str:
    """Return the text of a weights file: all features are weighed, then those that matter by themselves."""
    seen = Counter(feature for example in examples for feature in set(example.features))
    frequent = sorted(feature for feature in seen if seen[feature] >= LEAST_SEEN)
    model = _regress(examples, frequent)
    matters = np.abs(model.coef_).max(axis=0) >= LEAST_WEIGHT
    weighty = [feature for feature, is_weighty in zip(frequent, matters) if is_weighty]
    model = _regress(examples, weighty)
    hundredths = np.rint(np.vstack([model.intercept_, model.coef_.T]) * 100).astype(int)
    lines = [f"{feature}\t{' '.join(map(str, row))}" for feature, row in zip([ALWAYS, *weighty], hundredths)]
    return "\n".join([f"outcomes\t{' '.join(OUTCOMES)}", *lines])


def _regress(examples: Sequence[Example], names: Sequence[str]) -> LogisticRegression:
    """Fit a multinomial logistic regression with an L2 penalty."""
    places = {feature: place for place, feature in enumerate(names)}
    rows = [sorted({places[feature] for feature in example.features if feature in places}) for example in examples]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([place for row in rows for place in row])
    matrix = csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(places)))
    wanted = np.array([OUTCOMES.index(example.outcome) for example in examples])
    importance = np.array([example.importance for example in examples])
    return LogisticRegression(C=LENIENCY, max_iter=400).fit(matrix, wanted, sample_weight=importance)


def check(taught: Sequence[Session], examples: dict[int, list[Example]]) -> None:
    """Print what is found in sessions of authors who were not learnt from, at several thresholds."""
    authors = sorted({session.author for session in taught if not session.is_phrase})
    scored: list[tuple[Session, list[list[SaveCandidate]]]] = []
    for fold in range(FOLDS):
        left_out = authors[fold::FOLDS]
        text = fit([each for session in taught if session.author not in left_out for each in examples[id(session)]])
        table = TriageModel(text)
        print(f"without {' '.join(left_out)}: {text.count(chr(10)):,} features", flush=True)
        mine = [session for session in taught if session.author in left_out and not session.is_phrase]
        scored += [(session, _all_findings(session, table)) for session in mine]
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        _print(f"{threshold:.1f}", [_at(session, findings, partial(_same, threshold)) for session, findings in scored])
    outcomes = [_at(session, findings, triage.default_threshold) for session, findings in scored]
    _print("defaults", outcomes)
    for author in authors:
        _print(f"  {author}", [outcome for outcome in outcomes if outcome.session.author == author])
    print(capture.report("authors left out, default thresholds", outcomes))


def _print(name: str, outcomes: Sequence[Outcome]) -> None:
    values = "  ".join(f"{title.split()[0]} {measure(outcomes):.2f}" for title, measure in capture.MEASURES[:3])
    print(f"{name}  {values}", flush=True)


def _same(threshold: float, _: str) -> float:
    return threshold


def _all_findings(session: Session, table: TriageModel) -> list[list[SaveCandidate]]:
    """Return every candidate at every stop."""
    findings = []
    for end, shown in session.stops():
        each = triage.candidates(Conversation(end), table, partial(_same, 0.2))
        findings.append([finding for finding in each if not triage.is_repeated_in(finding.core, shown)])
    return findings


def _at(session: Session, findings: list[list[SaveCandidate]], threshold: triage.Threshold) -> Outcome:
    stops = iter(findings)

    def find(end: Ending, shown: tuple[str, ...]) -> list[SaveCandidate]:
        return triage.distinct([finding for finding in next(stops) if finding.score >= threshold(finding.category)])

    return capture.replay(session, find)
