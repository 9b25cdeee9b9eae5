"""How often a check is broken: in the working tree, in commits and in sessions, with examples and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.audit import check_report
from onrecord.audit.check_report import BrokenRule, CalledChange, CheckReport, Trial
from onrecord.audit.diff import ChangedFile
from onrecord.git import repository
from onrecord.record.check import Check, FileLines, Line, RecordCheck
from tests.git_project import GitProject

MOMENT = Check(("edit",), adds=("moment",))


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    project = GitProject(tmp_path / "repo")
    project.write("web/a.ts", "import moment\n")
    project.write("web/b.ts", "one\n  const moment = 1  \n")
    project.write("c.ts", "one\n")
    project.write(".claude/memory/decisions/a.json", '"moment"\n')
    project.commit("Use a library for dates")
    return project


def in_tree(project: GitProject, inner: str = "") -> Trial:
    repo = repository.find(str(project.root))
    assert repo is not None
    return check_report.try_in_tree(MOMENT, repo, str(project.root / inner).rstrip("/"))


def in_commits(project: GitProject, inner: str = "") -> Trial:
    repo = repository.find(str(project.root))
    assert repo is not None
    return check_report.try_in_commits(MOMENT, repo, str(project.root / inner).rstrip("/"))


def test_the_working_tree_counts_its_files_without_those_of_the_store(project):
    both = ("web/a.ts:1: import moment", "web/b.ts:2: const moment = 1")

    assert in_tree(project) == Trial("working tree", 2, 3, both, is_complete=True)
    assert in_tree(project, "web") == Trial("working tree", 2, 2, tuple(text[4:] for text in both))


def test_a_tree_with_too_many_files_is_compared_in_part(project, monkeypatch):
    for limit, is_complete in ((4, True), (3, False)):
        monkeypatch.setattr(check_report, "_MAX_TREE_FILES", limit)
        assert in_tree(project).is_complete is is_complete
    monkeypatch.setattr(check_report, "CPU_SECONDS", -1.0)

    assert in_tree(project) == Trial("working tree", is_complete=False)
    assert in_commits(project) == Trial("commits", is_complete=False)
    assert check_report.try_in_sessions(MOMENT, [[]], "/p") == Trial("sessions", is_complete=False)


def test_commits_are_counted_with_the_place_in_each(project):
    first = project.git("rev-parse", "--short", "HEAD")
    project.write("c.ts", "one\ntwo\n")
    project.commit("Nothing about it")
    project.write("c.ts", f"one\ntwo\n{'x' * 70} moment {'x' * 70}\n")
    project.commit("x" * 80)
    last = project.git("rev-parse", "--short", "HEAD")

    trial = in_commits(project)

    assert (trial.where, trial.hits, trial.of, trial.is_complete) == ("commits", 2, 3, True)
    assert trial.examples == (
        f"{f'{last} {chr(120) * 80}'[:60]}: c.ts:3: {'x' * 70} moment {'x' * 2}",
        f"{first} Use a library for dates: web/a.ts:1: import moment",
    )
    assert in_commits(project, "web").examples == (f"{first} Use a library for dates: a.ts:1: import moment",)


def test_three_examples_are_kept():
    trial = Trial("x")
    for text in ("a", "", "b", "c", "d"):
        trial = trial.add(text)

    assert trial == Trial("x", 4, 5, ("a", "b", "c"), is_complete=True)


def call(name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return name, fields


def test_a_session_is_counted_once_with_its_first_command_or_change():
    npm = Check(("command",), starts=("npm install",))
    long = f"npm install {'x' * 200}"
    commands = [
        [call("Read", file_path="/p/a"), call("Bash", command="npm install\n  a"),
         call("Bash", command="npm install b")],
        [call("PowerShell", command=long)], [call("Bash", command="npm test")], [call("Other", command="npm install")],
        [call("Bash", command=7)], [],
    ]  # fmt: skip
    changes = [
        [call("Write", file_path="/p/src/a.ts", content="one\nimport moment")],
        [call("Edit", file_path="src/a.ts", old_string="moment", new_string="moment")],
        [call("NotebookEdit", notebook_path="/p/a.ipynb", new_source="moment")],
    ]

    assert check_report.try_in_sessions(npm, commands, "/p") == Trial(
        "sessions", 2, 6, ("npm install a", long[:120]), is_complete=True
    )
    assert check_report.try_in_sessions(MOMENT, changes, "/p") == Trial(
        "sessions", 2, 3, ("src/a.ts:2: import moment", "a.ipynb:1: moment")
    )


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        ({"file_path": "/p/a/b", "content": "x"}, CalledChange("a/b", "", "x", is_new=True)),
        ({"file_path": "a", "old_string": "x", "new_string": "y"}, CalledChange("a", "x", "y", is_new=False)),
        ({"file_path": "a", "old_string": "x", "new_string": ""}, CalledChange("a", "x", "", is_new=False)),
        ({"notebook_path": "a", "new_source": "y"}, CalledChange("a", "", "y", is_new=False)),
        ({"file_path": 7, "notebook_path": "a", "new_source": "y"}, CalledChange("a", "", "y", is_new=False)),
        (
            {"file_path": "a", "edits": [{"old_string": "1", "new_string": "2"}, 7, {"old_string": "3"}]},
            CalledChange("a", "1\n3", "2", is_new=False),
        ),
        ({"file_path": "/other/a", "content": "x"}, None),
        ({"file_path": "/pa", "content": "x"}, None),
        ({"file_path": "../a", "content": "x"}, None),
        ({"file_path": "a"}, None),
        ({"file_path": "a", "edits": "x"}, None),
        ({"content": "x"}, None),
    ],
)  # fmt: skip
def test_the_change_of_a_call_is_that_of_a_file_in_the_project(fields, change):
    assert check_report.called_change(fields, "/p") == change


def test_a_hundred_edits_of_one_call_are_compared_and_so_many_characters():
    edits = [{"new_string": f"{number}"} for number in range(120)]
    long = [{"new_string": "x" * 150_000}, {"new_string": "y" * 150_000}]

    many = check_report.called_change({"file_path": "a", "edits": edits}, "/p")
    large = check_report.called_change({"file_path": "a", "edits": long}, "/p")

    assert many is not None and large is not None
    assert many.new_text.split("\n")[-1] == "99"
    assert (len(large.new_text), large.new_text.count("x")) == (200_000, 150_000)


def test_twenty_of_the_lines_that_break_a_check_are_kept_and_all_counted():
    rule = RecordCheck("one", "One", "one", MOMENT)
    lines = [Line(number, "a moment") for number in range(1, 23)]

    report = check_report.run([rule], [ChangedFile(FileLines("a", [Line(0, "x"), *lines]))])

    assert report == CheckReport((BrokenRule(rule, "a", tuple(lines[:20]), 22),), is_complete=True)
