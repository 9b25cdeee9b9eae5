"""Fits triage's weights on the "tune" half of the sessions, the phrases, and the prompts of our search sets.

    PYTHONPATH=src python3 bench/fit_capture.py          fit on all of it and write capturing/cues/weights.json
    PYTHONPATH=src python3 bench/fit_capture.py --check  five-fold cross-validation, nothing written

The prompts are requests and questions: examples of what is not worth keeping. The "test" half is never read.
Needs numpy.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import capture
import capture_phrases
import numpy as np

from recollect.capturing import triage, weights
from recollect.capturing.lexicon import Lexicons
from recollect.capturing.scene import Scene

SETS = Path(__file__).parent / "sets"
OUTCOMES = ("nothing", *triage.SENTENCES)
CASES = ("no runbook", "runbook")
RIGOUR = 8.0
FOR_WHAT_IS_THERE = 2.0
"""How much more an example of something counts than one of nothing."""

OF_WHOLE_SESSIONS = 3
"""How much more a sentence of a whole session counts than a single phrase: it stands where sentences really stand."""

FOLDS = 5
Session = dict[str, Any]


class Example(NamedTuple):
    """The features of one sentence or case, and what it is."""

    features: list[str]
    outcome: str


def sessions() -> list[Session]:
    """Everything that may be learnt from."""
    told = [
        json.loads(line) for file in (capture.SESSIONS, capture.MORE) for line in file.read_text("utf-8").splitlines()
    ]
    return [one for one in told if one["split"] == "tune"] + capture_phrases.sessions() + list(_prompts())


def _prompts() -> list[Session]:
    """Every third prompt: enough to know a request by, not so many that a first prompt can settle nothing."""
    found = []
    for file in sorted(SETS.glob("*/prompts.jsonl")):
        for line in file.read_text("utf-8").splitlines()[::3]:
            found.append(capture_phrases.first_session(json.loads(line)["text"]))
    return found


def examples(session: Session, lexicons: Lexicons) -> tuple[list[Example], list[Example]]:
    """The sentences of a session and its cases, each with what it is; what stands beside evidence is left out."""
    messages = [capture.message(one) for one in session["messages"] if one["role"] != "injected"]
    scene = Scene(messages, lexicons)
    expected = session["expected"][0] if session["expected"] else "nothing"
    said, cases = [], []
    for speech in scene.speeches:
        is_evidence = [_is_quoted(line.sentence.raw, session["evidence"]) for line in speech.lines]
        seen = triage.case_features(scene, speech) if not speech.by_user else []
        if seen and (expected == "runbook") <= any(is_evidence):
            cases.append(Example(seen, "runbook" if expected == "runbook" else "no runbook"))
        for number, line in enumerate(speech.lines):
            if line.is_question or (any(is_evidence) and not is_evidence[number]):
                continue
            outcome = expected if is_evidence[number] else "nothing"
            if outcome in OUTCOMES:
                said.append(Example(triage.features(scene, speech, number), outcome))
    return said, cases


def _is_quoted(raw: str, evidence: list[str]) -> bool:
    return any(raw in quote or quote in raw for quote in evidence)


def fit(found: list[Example], outcomes: tuple[str, ...], rigour: float = RIGOUR) -> dict[str, dict[str, float]]:
    """Multinomial logistic regression with an L2 penalty, by full gradients; the cues beside a sentence count less."""
    names = sorted({name for example in found for name in example.features})
    place = {name: number for number, name in enumerate(names)}
    seen = np.zeros((len(found), len(names) + 1))
    seen[:, -1] = 1
    for row, example in enumerate(found):
        seen[row, [place[name] for name in example.features]] = 1
    wanted = np.eye(len(outcomes))[[outcomes.index(example.outcome) for example in found]]
    stress = np.array([1.0 if example.outcome == outcomes[0] else FOR_WHAT_IS_THERE for example in found])[:, None]
    penalty = np.array([rigour * (2 if name.startswith("near ") else 1) for name in names] + [0.0])[:, None]
    model = _descend(seen, wanted, stress, penalty)
    return {
        outcome: {
            name: round(float(model[number, column]), 3)
            for number, name in enumerate([*names, ""])
            if abs(model[number, column]) >= 0.02
        }
        for column, outcome in enumerate(outcomes)
    }


def _descend(seen: Any, wanted: Any, stress: Any, penalty: Any, steps: int = 400) -> Any:
    """Adam on the whole set: small, and it gives the same weights on every machine to the digits we keep."""
    model = np.zeros((seen.shape[1], wanted.shape[1]))
    mean, spread = np.zeros_like(model), np.zeros_like(model)
    for step in range(1, steps + 1):
        points = seen @ model
        share = np.exp(points - points.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        slope = seen.T @ ((share - wanted) * stress) + penalty * model
        mean, spread = 0.9 * mean + 0.1 * slope, 0.99 * spread + 0.01 * slope**2
        pace = 0.05 if step < 0.7 * steps else 0.01
        model -= pace * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return model


def fitted(learnt: list[Session], lexicons: Lexicons) -> dict[str, dict[str, float]]:
    said: list[Example] = []
    cases: list[Example] = []
    for session in learnt:
        more, further = examples(session, lexicons)
        times = OF_WHOLE_SESSIONS if session["id"].startswith(("cap-", "more-")) else 1
        said += more * times
        cases += further * times
    return {**fit(said, OUTCOMES), **fit(cases, CASES)}


def check(lexicons: Lexicons) -> None:
    """Precision and recall of what was not learnt from, at several thresholds."""
    known = [one for one in sessions() if one["id"] != "prompt"]
    prompts = [one for one in sessions() if one["id"] == "prompt"]
    random.Random(7).shuffle(known)
    outcomes: list[tuple[list[tuple[float, bool]], int]] = []
    for fold in range(FOLDS):
        rest = [one for number, one in enumerate(known) if number % FOLDS != fold]
        weights._loaded[weights.FILE] = weights.Weights(fitted([*rest, *prompts], lexicons))
        outcomes += [_best(one, lexicons) for one in known[fold::FOLDS]]
    wanted = sum(count for _, count in outcomes)
    offers = sorted((offer for found, _ in outcomes for offer in found), reverse=True)
    for bar in (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6):
        passing = [right for score, right in offers if score >= bar]
        print(f"{bar:.2f}  precision {sum(passing) / max(len(passing), 1):.2f}  recall {sum(passing) / wanted:.2f}")


def _best(session: Session, lexicons: Lexicons) -> tuple[list[tuple[float, bool]], int]:
    messages = [capture.message(one) for one in session["messages"] if one["role"] != "injected"]
    known = tuple(one["text"] for one in session["messages"] if one["role"] == "injected")
    found = triage.findings(messages, lexicons, lambda _: 0.05, known)[:1]
    return [(one.score, one.category in session["expected"]) for one in found], len(session["expected"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="cross-validate and write nothing")
    args = parser.parse_args()
    lexicons = Lexicons()
    if args.check:
        check(lexicons)
        return
    found = fitted(sessions(), lexicons)
    lines = [f'  "{outcome}": {json.dumps(weigh, sort_keys=True)}' for outcome, weigh in found.items()]
    Path(weights.FILE).write_text('{"weights": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{sum(map(len, found.values())):,} weights written to {weights.FILE}")


if __name__ == "__main__":
    main()
