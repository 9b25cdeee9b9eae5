"""Verdicts on a generated history equal the truth that git's own plumbing tells, worked out another way.

ONRECORD_TEST_ROUNDS=20 does so for twenty histories.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from onrecord.freshness import anchors
from onrecord.freshness.check import Freshness
from onrecord.record.memory import Anchor, Memory
from tests.git_project import GitProject

COMMITS = 60
FILES = 25


class Difference(NamedTuple):
    status: str
    before: str
    after: str
    source: str
    target: str


class Truth(NamedTuple):
    state: str
    now: str
    commits: int
    last: str


@pytest.mark.parametrize("seed", range(1, 1 + int(os.environ.get("ONRECORD_TEST_ROUNDS", "1"))))
def test_verdicts_equal_the_truth_that_git_tells(tmp_path: Path, seed: int) -> None:
    project = GitProject(tmp_path / "project")
    dated_anchors = _live_through(project, random.Random(seed))
    history = _history(project)

    judge = Freshness(str(project.root), patience=600)
    verdicts = {number: _verdict(judge, anchor) for number, (anchor, _) in enumerate(dated_anchors)}
    truth = {number: _truth(project, history, anchor, at) for number, (anchor, at) in enumerate(dated_anchors)}

    assert len(dated_anchors) > 150
    assert {state: sum(t.state == state for t in truth.values()) > 10 for state in ("fresh", "changed", "missing")} == {
        "fresh": True,
        "changed": True,
        "missing": True,
    }
    assert sum(t.now != dated_anchors[number][0].path and t.state != "missing" for number, t in truth.items()) > 10
    assert verdicts == truth
    assert {number: _verdict(Freshness(str(project.root)), a) for number, (a, _) in enumerate(dated_anchors)} == truth


def _verdict(judge: Freshness, anchor: Anchor) -> Truth:
    record = Memory("decision", "x", "X", {}, anchors=(anchor,))
    verdict = judge.check(anchors.to_indexed(record)[0])
    if verdict.state == "fresh":
        return Truth("fresh", verdict.now, 0, "")
    return Truth(verdict.state, "" if verdict.state == "missing" else verdict.now, verdict.commits, verdict.last)


def _live_through(project: GitProject, dice: random.Random) -> list[tuple[Anchor, int]]:
    """Make a history of edits, rewrites, renames and deletions, and return the anchors taken on the way."""
    for number in range(FILES):
        project.write(f"src/part{number}/file{number}.py", _text(dice))
    project.commit()
    dated_anchors: list[tuple[Anchor, int]] = []
    for at in range(1, COMMITS):
        for _ in range(dice.randint(1, 3)):
            _do_something(project, dice, at)
        for path in dice.sample(_files(project), 2):
            dated_anchors.append((_anchor(project, path), at - 1))
        project.commit()
        for path in dice.sample(_files(project), 2):
            dated_anchors.append((_anchor(project, path), at))
    for path in dice.sample(_files(project), 4):
        project.write(path, project.read(path) + "uncommitted = 1\n")
    for path in dice.sample(_files(project), 3):
        project.git("mv", path, path + ".staged.py")
    for path in dice.sample(_files(project), 2):
        (project.root / path).unlink()
    return dated_anchors


def _do_something(project: GitProject, dice: random.Random, at: int) -> None:
    path = dice.choice(_files(project))
    deed = dice.choice(
        ["edit"] * 6 + ["rewrite"] * 2 + ["rename", "rename", "rename and edit", "delete", "replace", "add"]
    )
    if deed in ("edit", "rename and edit"):
        lines = project.read(path).split("\n")
        lines.insert(dice.randrange(len(lines)), f"changed = {dice.random()}")
        project.write(path, "\n".join(lines))
    if deed == "rewrite":
        project.write(path, _text(dice))
    if deed in ("rename", "rename and edit", "replace"):
        target = f"src/moved{at}/{dice.randrange(10**6)}.py"
        (project.root / target).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).rename(project.root / target)
    if deed == "replace":
        project.write(path, _text(dice))
    if deed == "delete" and len(_files(project)) > 8:
        (project.root / path).unlink()
    if deed == "add":
        project.write(f"src/new{at}/{dice.randrange(10**6)}.py", _text(dice))


def _text(dice: random.Random) -> str:
    return "".join(f"name_{dice.randrange(10**9)} = {dice.random()}\n" for _ in range(30))


def _files(project: GitProject) -> list[str]:
    return sorted(str(path.relative_to(project.root)) for path in (project.root / "src").rglob("*.py"))


def _anchor(project: GitProject, path: str) -> Anchor:
    anchor = anchors.take(str(project.root), path, "", project.git("rev-parse", "HEAD"), "2026-03-01T00:00:00Z")
    assert anchor is not None
    return anchor


def _history(project: GitProject) -> list[tuple[str, list[Difference]]]:
    """Return every commit and its differences, with git's renames over the whole commit."""
    commits = []
    for commit in project.git("rev-list", "--reverse", "HEAD").split():
        commits.append((commit, _differences(project, "diff-tree", "--root", "--no-commit-id", "-r", "-M", commit)))
    return commits


def _differences(project: GitProject, *question: str) -> list[Difference]:
    command = ("git", "-C", str(project.root), *question, "-z", "--raw", "--no-abbrev")
    parts = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.split("\0")[:-1]
    differences = []
    while parts:
        _, _, before, after, status = parts.pop(0).lstrip(":").split()
        source = parts.pop(0)
        differences.append(Difference(status[0], before, after, source, parts.pop(0) if status[0] in "RC" else source))
    return differences


def _truth(project: GitProject, history: list[tuple[str, list[Difference]]], anchor: Anchor, at: int) -> Truth:
    """Return what became of a file, followed from commit to commit, then through the index to the disk."""
    path, touched = anchor.path, []
    held = _blob_at(project, history[at][0], anchor.path)
    is_there = bool(held)
    for commit, differences in history[at + 1 :]:
        for difference in differences:
            if path != (difference.source if is_there else difference.target) or (
                is_there and difference.status == "A"
            ):
                continue
            is_there = difference.status != "D"
            path = difference.target
            if difference.before != difference.after:
                touched.append((commit, difference.after))
            break
    if anchor.blob != held and any(after == anchor.blob for _, after in touched):
        touched = touched[next(n for n, (_, after) in enumerate(touched, 1) if after == anchor.blob) :]
    last = touched[-1][0] if touched else ""
    if is_there and not (project.root / path).exists():
        staged = [d for d in _differences(project, "diff-index", "--cached", "-M", "HEAD") if d.source == path]
        path = staged[0].target if staged and staged[0].status == "R" else path
    if not is_there and (project.root / anchor.path).exists():
        path = anchor.path
    if not (project.root / path).exists():
        return Truth("missing", "", len(touched), last)
    if project.git("hash-object", path) == anchor.blob:
        return Truth("fresh", path, 0, "")
    return Truth("changed", path, len(touched), last)


def _blob_at(project: GitProject, commit: str, path: str) -> str:
    parts = project.git("ls-tree", commit, "--", path).split()
    return parts[2] if parts else ""
