"""Checks that do not do what their author meant are named; sound ones are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis")
from hypothesis import given
from hypothesis import strategies as st

from onrecord.audit import check_report
from onrecord.audit.check_report import CheckReport
from onrecord.audit.diff import ChangedFile
from onrecord.git import repository
from onrecord.record import check, memory
from onrecord.record.check import Check, FileLines, Line, RecordCheck
from tests.git_project import GitProject
from tests.records import raw


def record(name: str, *checks: dict[str, Any]) -> memory.Memory:
    return memory.from_json({**raw(), "id": name, "checks": list(checks)})


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    project = GitProject(tmp_path / "repo")
    for number in range(20):
        project.write(f"src/{number}.ts", f"const x = {number}\n")
    project.commit("first")
    return project


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ({"on": "edit", "adds": ["moment"]}, ""),
        ({"on": "edit", "paths": ["src/"], "adds": ["moment"]}, ""),
        ({"on": "write", "paths": ["*.js"]}, ""),
        ({"on": "command", "starts": ["npm"]}, ""),
        ({"on": "edit", "paths": ["lib/"], "adds": ["x"]}, "has a check for lib/, and no file is there"),
        ({"on": "edit", "has": ["const"]}, "has a check that 20 of 20 files break as they are"),
        ({"on": "edit", "paths": ["*.ts"]}, "has a check that a change of nearly any file breaks (20 of 20)"),
        ({"on": "command", "starts": ["npm i"], "unless": ["npm"]}, "has a check that is not carried out: unless"),
    ],
)
def test_odd_checks_are_named(project, checks, message):
    odd = check_report.find_odd([record("one", checks)], str(project.root))

    assert odd.get("one", "").startswith(message)
    assert bool(odd) is bool(message)


def test_checks_that_everything_breaks_together_are_named(project):
    by_character = record("one", *({"on": "edit", "has": [text]} for text in ("(", "=", ":", ".")))

    odd = check_report.find_odd([by_character], str(project.root))

    assert odd["one"].startswith("has checks that are not carried out: they would together be broken by ordinary")


@pytest.mark.parametrize(
    ("first", "second", "is_named"),
    [
        (
            {"on": "command", "starts": ["npm install"]},
            {"on": "command", "starts": ["yarn"], "say": "use npm install"},
            True,
        ),
        (
            {"on": "command", "starts": ["npm install"]},
            {"on": "command", "starts": ["yarn"], "say": "use pnpm add"},
            False,
        ),
        ({"on": "edit", "adds": ["moment"]}, {"on": "edit", "has": ["y"], "examples": {"fits": ["a moment"]}}, True),
        ({"on": "command", "has": ["moment"]}, {"on": "edit", "has": ["y"], "examples": {"fits": ["a moment"]}}, False),
    ],
)
def test_a_check_that_forbids_what_another_record_advises_is_named(project, first, second, is_named):
    odd = check_report.find_odd([record("one", first), record("two", second)], str(project.root))

    assert ("one" in odd) is is_named
    assert "two" not in odd


def test_a_link_out_of_the_project_is_left_out(project, tmp_path):
    (tmp_path / "outside.ts").write_text("const moment = 1\n")
    (project.root / "link.ts").symlink_to(tmp_path / "outside.ts")
    project.commit("a link")
    repo = repository.find(str(project.root))

    trial = check_report.try_in_tree(Check(("edit",), has=("moment",)), repo, str(project.root))

    assert (trial.hits, trial.of) == (0, 20)
    assert not check_report.find_odd([record("one", {"on": "edit", "adds": ["moment"]})], str(project.root))


@pytest.mark.parametrize(
    ("file", "paths"),
    [
        (ChangedFile(FileLines("locked/a", (), ["x"]), is_deleted=True), ["locked/a"]),
        (ChangedFile(FileLines("free/a", ()), "locked/a"), ["locked/a"]),
        (ChangedFile(FileLines("locked/b", ()), "locked/a"), ["locked/b"]),
        (ChangedFile(FileLines("free/a", (), ["x"]), is_deleted=True), []),
    ],
)
def test_deleting_or_renaming_a_file_is_a_change_of_it(file, paths):
    rules = [
        RecordCheck("one", "One", "one", Check((kind,), ("locked/",), has=texts))
        for kind, texts in (("edit", ()), ("edit", ("x",)), ("write", ()))
    ]

    report = check_report.run(rules, [file])

    assert [(broken.path, broken.rule) for broken in report.broken] == [(path, rules[0]) for path in paths]


TEXTS = st.lists(st.text("ab -'", min_size=1, max_size=4).filter(str.strip), max_size=2)


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.lists(st.text("ab -'", max_size=8), max_size=8), TEXTS)
def test_a_change_breaks_what_its_lines_break_one_by_one(starts, has, adds, unless, lines, removed):
    one = Check(("edit",), (), tuple(starts), tuple(has), tuple(adds), tuple(unless))
    file = FileLines("a", [Line(number, text) for number, text in enumerate(lines, 1)], removed)
    expected = check.broken_lines(one, file) if one.texts else list(file.added[:1]) or [Line(1, "")]

    report = check_report.run([RecordCheck("one", "One", "one", one)], [ChangedFile(file)])

    assert [line for broken in report.broken for line in broken.lines] == expected
    assert report.is_complete


def test_what_takes_too_long_is_left_out_and_that_is_said():
    rule = RecordCheck("one", "One", "one", Check(("edit",), has=("a",)))
    file = ChangedFile(FileLines("a", [Line(1, "a")]))

    assert check_report.run([rule], [file], seconds=-1) == CheckReport((), is_complete=False)
