"""Blind grading: pages with a request, the records that apply and the answers in random order; and the marks."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from bench.agents.conditions import IDLE
from bench.agents.project import Project, Task, load
from bench.agents.subject import subjects
from onrecord.record import memory

_LETTERS = "ABCDEFGHIJ"
_GOVERNED = """For each answer give: `follows`: "full" (does what all records that apply say), "partly" (some of it, or
leaves the point open), "against" (does what a record forbids, or the opposite of what was decided); `reason`: true if
it gives the team's reason or names the decision; `quality`: 1 to 5, how good the answer is as work on this
request, whatever the records say; `needless`: true if it does things that the request did not need because of
some other rule."""
_IDLE = """No record applies. For each answer give: `quality`: 1 to 5, how good the answer is as work on this request;
`needless`: true if it does or discusses things that the request did not need."""
_FORM = """Write one JSON object a line, one for each answer, and nothing else, for example
{"answer": "A", "follows": "partly", "reason": false, "quality": 3, "needless": false}"""


class Answer(NamedTuple):
    """What a subject answered, in which condition, and what it got and looked up for it."""

    task: str
    condition: str
    text: str
    memory_characters: int
    place: int
    """Its place in the session, from 1."""


def write_pages(out: Path, graders: int) -> int:
    """Write the pages of each grader, and the key that says which letter is which condition; how many pages."""
    written = 0
    key: dict[str, dict[str, str]] = {}
    for name, project in projects(out).items():
        answers = read_answers(out, name)
        for task in project.tasks:
            given = [answer for answer in answers if answer.task == task.id]
            if len(given) < 2:
                continue
            for grader in range(1, graders + 1):
                page = f"grader-{grader}/{task.id}"
                shuffled = sorted(given, key=lambda answer: _hash(page, answer.condition))
                key[page] = {letter: answer.condition for letter, answer in zip(_LETTERS, shuffled)}
                file = out / "pages" / f"{page}.md"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(_page(project, task, shuffled), encoding="utf-8")
                written += 1
    (out / ".hidden" / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")
    return written


def projects(out: Path) -> dict[str, Project]:
    """Return the projects whose subjects are in `out`; `projects.txt` there names their folders."""
    folders = (out / "projects.txt").read_text(encoding="utf-8").split("\n")
    return {Path(folder).name: load(Path(folder)) for folder in folders if folder}


def read_answers(out: Path, project: str) -> list[Answer]:
    answers = []
    for folder in subjects(out):
        if not folder.name.startswith(f"{project}-"):
            continue
        places = json.loads((out / ".hidden" / folder.name / "places.json").read_text(encoding="utf-8"))
        for name, place in places.items():
            file = folder / "answers" / f"{name}.md"
            if file.exists():
                condition = folder.name[len(project) + 1 :]
                text = file.read_text(encoding="utf-8").strip()
                answers.append(Answer(place["task"], condition, text, place["memory_characters"], int(name)))
    return answers


def _page(project: Project, task: Task, answers: list[Answer]) -> str:
    rules = [_rule(memory.to_json(project.records[key])) for key in task.applies]
    applies = ["## Records that apply", *rules] if rules else []
    texts = [f"## Answer {letter}\n\n{_plain(answer.text)}" for letter, answer in zip(_LETTERS, answers)]
    asked = _IDLE if task.kind == IDLE else _GOVERNED
    return "\n\n".join(["## Request", task.text, *applies, *texts, "## Marks", asked, _FORM]) + "\n"


def _rule(raw: dict[str, Any]) -> str:
    return f"- **{raw['title']}**: {json.dumps(raw['content'], ensure_ascii=False)}"


def _plain(text: str) -> str:
    """Return an answer without headings, which would look like ours."""
    return "\n".join(line.lstrip("# ") if line.startswith("#") else line for line in text.split("\n"))


def _hash(page: str, condition: str) -> str:
    return hashlib.sha256(f"{page} {condition}".encode()).hexdigest()


def grade(out: Path, grader: str, seconds: float) -> None:
    """Give every page without marks to a grader's command."""
    for page in sorted((out / "pages").glob("grader-*/*.md")):
        marks = page.with_suffix(".jsonl")
        if not marks.exists():
            text = page.read_text(encoding="utf-8")
            done = subprocess.run(
                shlex.split(grader), input=text, capture_output=True, text=True, timeout=seconds, check=True
            )
            marks.write_text(done.stdout, encoding="utf-8")


class Mark(NamedTuple):
    """What one grader thinks of one answer."""

    grader: str
    task: str
    condition: str
    follows: str
    has_reason: bool
    quality: int
    is_needless: bool


def read_marks(out: Path) -> list[Mark]:
    """Return all marks; an answer that a page does not have, or a word that is no mark, is an error."""
    key = json.loads((out / ".hidden" / "key.json").read_text(encoding="utf-8"))
    marks = []
    for file in sorted((out / "pages").glob("grader-*/*.jsonl")):
        page = f"{file.parent.name}/{file.stem}"
        for line in filter(str.strip, file.read_text(encoding="utf-8").split("\n")):
            raw = json.loads(line)
            follows = raw.get("follows") or ""
            if follows not in ("", "full", "partly", "against") or raw["quality"] not in range(1, 6):
                raise SystemExit(f"{file}: not a mark: {line}")
            condition = key[page][raw["answer"]]
            marks.append(
                Mark(
                    file.parent.name,
                    file.stem,
                    condition,
                    follows,
                    bool(raw.get("reason")),
                    raw["quality"],
                    bool(raw.get("needless")),
                )
            )
    return marks
