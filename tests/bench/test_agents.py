"""The experiment with agents, from records and tasks to the table; agent and grader are small programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import agents, figure_tables, results
from bench.agents import grading, report, subject
from bench.agents.conditions import CONDITIONS
from bench.agents.project import load

RULE = "Packages are added with pnpm, never with npm"
GRADER = """
import json, sys
page = sys.stdin.read()
for part in page.split("## Answer ")[1:]:
    good = "pnpm add" in part
    mark = {"answer": part[0], "quality": 4 if good else 3}
    if "Records that apply" in page:
        mark["follows"] = "full" if good else "against"
    print(json.dumps({**mark, "reason": good, "needless": False}))
"""
AGENT = "import sys; print('pnpm add' if 'with pnpm' in sys.stdin.read() else 'npm install')"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "repo").mkdir(parents=True)
    (folder / "repo" / "package.json").write_text("{}")
    record = {
        "key": "s-1",
        "supersedes": None,
        "category": "preference",
        "title": RULE,
        "tags": ["packages"],
        "related_files": [],
        "triggers": ["add a dependency"],
        "content": {"topic": "packages", "value": RULE, "reason": "one lock file", "strength": "strong"},
    }
    tasks = [
        {"id": "s-t1", "text": "Add lodash to the packages of the shop", "kind": "governed", "applies": ["s-1"]},
        {"id": "s-t2", "text": "Make the header blue", "kind": "idle"},
        {"id": "s-t3", "text": "Install the package left-pad", "kind": "trap", "applies": ["s-1"]},
    ]
    (folder / "records.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return folder


def _prepare(folder: Path, out: Path, *conditions: str) -> None:
    for name in conditions:
        subject.prepare(load(folder), CONDITIONS[name], out)


def test_every_step_from_the_records_to_the_table(folder: Path, tmp_path: Path) -> None:
    out, grader = tmp_path / "out", tmp_path / "grader.py"
    grader.write_text(GRADER)
    _prepare(folder, out, "none", "map")
    subject.ask(out, f'{sys.executable} -c "{AGENT}"', 60)
    assert grading.write_pages(out, 2) == 6
    grading.grade(out, f"{sys.executable} {grader}", 60)
    values = report.measure(out, "a program")
    governed = values["kinds"]["governed"]
    assert (governed["map"]["full"], governed["none"]["against"]) == (1, 1)
    assert governed["map"]["against_others"]["none"]["points"] == [2.0, 2.0, 2.0]
    assert values["spent"]["none"] == {"tokens": 0, "look_ups": 0.0}
    assert values["spent"]["map"]["tokens"] > 0
    assert values["agreement"] == {"answers": 4, "same": 1.0, "kappa": 1.0}
    assert "| map | 1 | 1 | 0 | 0 |" in report.report(out, "a program")


def test_pages_do_not_tell_which_condition_an_answer_is_from(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _prepare(folder, out, "none", "map", "map-rules")
    subject.ask(out, f'{sys.executable} -c "{AGENT}"', 60)
    grading.write_pages(out, 2)
    texts = [page.read_text() for page in (out / "pages").glob("*/*.md")]
    assert texts
    for text in texts:
        assert not any(name in text for name in ("map-rules", "condition", "memory-context"))


def test_a_subject_sees_no_records_but_through_the_hooks_and_the_tool(folder: Path, tmp_path: Path) -> None:
    import subprocess

    out = tmp_path / "out"
    _prepare(folder, out, "map")
    assert not (out / "shop-map" / "repo" / ".claude").exists()
    command = [out / "shop-map" / "memory", "search", "pnpm"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert RULE in found.stdout
    subprocess.run([out / "shop-map" / "run", "pnpm add x"], capture_output=True, check=True, timeout=60)
    log = (out / ".hidden" / "shop-map" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in log] == [{"memory": ["search", "pnpm"]}, {"run": "pnpm add x"}]


def test_answers_are_not_overwritten(folder: Path, tmp_path: Path) -> None:
    _prepare(folder, tmp_path / "out", "none")
    with pytest.raises(SystemExit, match="answers are not overwritten"):
        _prepare(folder, tmp_path / "out", "none")


def test_a_mark_that_is_none_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _prepare(folder, out, "none", "map")
    subject.ask(out, f'{sys.executable} -c "{AGENT}"', 60)
    grading.write_pages(out, 1)
    page = out / "pages" / "grader-1" / "s-t1.jsonl"
    page.write_text('{"answer": "A", "follows": "mostly", "quality": 3}\n')
    with pytest.raises(SystemExit, match="not a mark"):
        grading.read_marks(out)


def test_the_page_gives_the_figures_that_were_measured() -> None:
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    measured = results.load("agents")
    governed = measured["kinds"]["governed"]

    for row in figure_tables.agents(measured).split("\n")[2:7]:
        assert " | ".join(row.split(" | ")[:6]) in page
    assert all(row["against"] == 0 for name, row in governed.items() if name != "none")


def test_the_page_gives_the_figures_of_the_second_round() -> None:
    page = " ".join((Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8").split())
    kinds = results.load("agents-head")["kinds"]
    none, first, now = (
        f"{kinds['idle'][name]['needless']:.0%}".replace("%", " %") for name in ("none", "map-first", "map")
    )
    mean, low, high = kinds["idle"]["map"]["against_others"]["none"]["quality"]

    assert f"work {none} with no memory, {first} with the first head, {now} with the new one" in page
    assert f"quality against no memory −{-mean:.2f} [−{-low:.2f}, {high:+.2f}]" in page
    assert f"still {kinds['governed']['map']['full']} followed fully, none against" in page
    assert kinds["governed"]["map"]["against"] == 0


def test_the_command_has_every_step() -> None:
    import argparse

    parser = argparse.ArgumentParser()
    agents.add_arguments(parser)
    assert parser.parse_args(["report", "out", "--model", "m"]).step == "report"
