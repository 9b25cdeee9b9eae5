"""The table of the experiment: how often records were followed in each condition, with intervals over tasks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import metrics, results
from bench.agents.conditions import CONDITIONS, GOVERNED, IDLE, TRAP
from bench.agents.grading import Answer, Mark, projects, read_answers, read_marks

_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.(?:com|org|net|io)\b")
_POINTS = {"full": 2, "partly": 1, "against": 0}
_CHARACTERS_PER_TOKEN = 4


def report(out: Path, model: str, *, name: str = "") -> str:
    """Return the tables; with `name`, store the result, all answers and all marks."""
    values = measure(out, model)
    if name:
        results.save(name, values)
        answers = [answer for project in projects(out) for answer in read_answers(out, project)]
        _publish(f"{name}-answers", answers)
        _publish(f"{name}-marks", read_marks(out))
    return "\n".join([*_table(values, GOVERNED), "", *_table(values, TRAP), "", *_table(values, IDLE)])


def _publish(name: str, rows: Sequence[Answer] | Sequence[Mark]) -> None:
    """Store all answers or marks, a line each, so that anybody can read them."""
    texts = sorted(json.dumps(row._asdict(), ensure_ascii=False) for row in rows)
    lines = [_ADDRESS.sub("someone@example.org", text) for text in texts]
    (results.FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(out: Path, model: str) -> dict[str, Any]:
    tasks = {task.id: task for project in projects(out).values() for task in project.tasks}
    marks = read_marks(out)
    late = _late(out)
    kinds = {}
    for kind in (GOVERNED, TRAP, IDLE):
        of_kind = [mark for mark in marks if tasks[mark.task].kind == kind]
        present = {mark.condition for mark in of_kind}
        names = [*(name for name in CONDITIONS if name in present), *sorted(present - CONDITIONS.keys())]
        kinds[kind] = {name: _condition(of_kind, name, late) for name in names}
    return {"model": model, "kinds": kinds, "agreement": _agreement(marks), "spent": _spent(out)}


def _late(out: Path) -> set[tuple[str, str]]:
    """Return the tasks, with conditions, that were asked in the second half of their session."""
    late = set()
    for project in projects(out):
        answers = read_answers(out, project)
        for condition in {answer.condition for answer in answers}:
            own = [answer for answer in answers if answer.condition == condition]
            late |= {(answer.task, condition) for answer in own if answer.place > max(map(_place, own)) / 2}
    return late


def _place(answer: Answer) -> int:
    return answer.place


def _condition(marks: Sequence[Mark], name: str, late: set[tuple[str, str]]) -> dict[str, Any]:
    """Return the figures of one condition, and its differences from the others on the same tasks."""
    here = [mark for mark in marks if mark.condition == name]
    tasks = sorted({mark.task for mark in here})
    by_task = {task: _majority([mark.follows for mark in here if mark.task == task]) for task in tasks}
    follows = Counter(by_task.values())
    halves = {
        half: [follow == "full" for task, follow in by_task.items() if ((task, name) in late) == (half == "late")]
        for half in ("early", "late")
    }
    points = _by_task(here, lambda mark: _POINTS.get(mark.follows, 0))
    quality = _by_task(here, lambda mark: mark.quality)
    others = sorted({mark.condition for mark in marks} - {name})
    return {
        "tasks": len(tasks),
        "full": follows["full"],
        "partly": follows["partly"],
        "against": follows["against"],
        "full_by_half": {half: [sum(each), len(each)] for half, each in halves.items()},
        "reason": round(_mean(_by_task(here, lambda mark: mark.has_reason)), 3),
        "quality": round(_mean(quality), 2),
        "needless": round(_mean(_by_task(here, lambda mark: mark.is_needless)), 3),
        "points": round(_mean(points), 3),
        "against_others": {
            other: {
                "points": _difference(points, _of(marks, other, lambda mark: _POINTS.get(mark.follows, 0))),
                "quality": _difference(quality, _of(marks, other, lambda mark: mark.quality)),
            }
            for other in others
        },
    }


def _of(marks: Sequence[Mark], condition: str, value: Callable[[Mark], float]) -> dict[str, float]:
    return _by_task([mark for mark in marks if mark.condition == condition], value)


def _by_task(marks: Sequence[Mark], value: Callable[[Mark], float]) -> dict[str, float]:
    """Return the mean over graders, by task."""
    by_task: dict[str, list[float]] = {}
    for mark in marks:
        by_task.setdefault(mark.task, []).append(float(value(mark)))
    return {task: sum(each) / len(each) for task, each in by_task.items()}


def _majority(follows: Sequence[str]) -> str:
    """Return the mark of the graders; where they differ, the worse one counts."""
    return min(follows, key=lambda mark: _POINTS.get(mark, 0))


def _mean(values: dict[str, float]) -> float:
    return sum(values.values()) / len(values) if values else 0.0


def _difference(values: dict[str, float], others: dict[str, float]) -> list[float]:
    """Return the mean difference on the tasks of both, and its interval."""
    pairs = [values[task] - others[task] for task in sorted(values.keys() & others.keys())]
    if not pairs:
        return []
    return [round(number, 3) for number in (sum(pairs) / len(pairs), *metrics.interval(pairs))]


def _agreement(marks: Sequence[Mark]) -> dict[str, Any]:
    """Return how often two graders give the same mark, and Cohen's kappa."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for mark in marks:
        if mark.follows:
            pairs.setdefault((mark.task, mark.condition), []).append(mark.follows)
    both = [tuple(pair) for pair in pairs.values() if len(pair) == 2]
    if not both:
        return {"answers": 0}
    same = sum(one == other for one, other in both) / len(both)
    first, second = (Counter(pair[place] for pair in both) for place in (0, 1))
    chance = sum(first[mark] * second[mark] for mark in _POINTS) / len(both) ** 2
    return {
        "answers": len(both),
        "same": round(same, 3),
        "kappa": round((same - chance) / (1 - chance), 2) if chance < 1 else 1.0,
    }


def _spent(out: Path) -> dict[str, Any]:
    """Return tokens that the memory added and look-ups in it, for each request of a condition."""
    spent: dict[str, list[tuple[float, float]]] = {}
    for project in projects(out):
        answers = read_answers(out, project)
        for condition in {answer.condition for answer in answers}:
            own = [answer for answer in answers if answer.condition == condition]
            log = out / ".hidden" / f"{project}-{condition}" / "log.jsonl"
            lines = log.read_text(encoding="utf-8").split("\n") if log.exists() else []
            looked_up = sum("memory" in json.loads(line) for line in lines if line)
            tokens = sum(answer.memory_characters for answer in own) / _CHARACTERS_PER_TOKEN
            spent.setdefault(condition, []).append((tokens / len(own), looked_up / len(own)))
    return {
        condition: {
            "tokens": round(sum(tokens for tokens, _ in each) / len(each)),
            "look_ups": round(sum(looked for _, looked in each) / len(each), 2),
        }
        for condition, each in spent.items()
    }


def _table(values: dict[str, Any], kind: str) -> list[str]:
    conditions = values["kinds"][kind]
    if not conditions:
        return []
    lines = [f"| {kind} | tasks | full | partly | against | reason | quality | needless | tokens | look-ups |"]
    lines.append("|" + " --- |" * 10)
    for name, row in conditions.items():
        spent = values["spent"].get(name, {"tokens": 0, "look_ups": 0})
        marks = f"{row['full']} | {row['partly']} | {row['against']} | {row['reason']}"
        cost = f"{spent['tokens']} | {spent['look_ups']}"
        lines.append(f"| {name} | {row['tasks']} | {marks} | {row['quality']} | {row['needless']} | {cost} |")
    return lines
