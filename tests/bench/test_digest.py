"""The measurement of digests: its cases are what the page says they are, and the page gives what was measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from bench import digest, digest_cases, results
from bench.digest import Outcome
from bench.digest_cases import Case, Commit
from onrecord.digest.work_context import WorkContext
from onrecord.git.changes import Changes
from tests.git_project import GitProject

NOTHING = WorkContext(None, "main", Changes(), [])


def case(state: str = "branch", branch: str = "", helps: str = "", maybe: str = "", *, is_read: bool = True) -> Case:
    return Case(
        "life-x", "c0ffee", state, branch, is_read, frozenset(helps.split()), frozenset(maybe.split()), frozenset()
    )


def outcome(shown: str, helps: str = "", maybe: str = "") -> Outcome:
    return Outcome(case(helps=helps, maybe=maybe), NOTHING, tuple(shown.split()), 100 * len(shown.split()), ())


def test_every_case_is_a_state_with_labels_that_do_not_overlap() -> None:
    for each in digest_cases.load():
        assert each.state in ("branch", "main", "commits", "pulled")
        assert not (each.helps & each.maybe or each.helps & each.others or each.maybe & each.others)
        assert len(each.commit) == 12 and each.commit.isalnum()


def test_of_the_read_cases_about_half_deserve_nothing() -> None:
    read = [each for each in digest_cases.load() if each.is_read]

    assert len(read) >= 60
    assert 0.4 <= sum(not each.helps for each in read) / len(read) <= 0.6


def test_precision_is_a_share_of_entries_and_silence_one_of_cases() -> None:
    figures = digest.figures([outcome("a b", "a"), outcome("c", "", "c"), outcome(""), outcome("", "a")])

    assert (figures["entries"], figures["precision"][0], figures["precision with defensible"][0]) == (3, 0.333, 0.667)
    assert (figures["empty"], figures["deserve nothing"], figures["served"]) == (0.5, 0.5, 0.5)
    assert figures["mean characters"] == 150


@pytest.mark.parametrize(
    ("state", "branch", "files", "intent"),
    [
        ("branch", "steps-fix", ["a.py"], "steps"),
        ("main", "main", ["a.py"], ""),
        ("commits", "steps-fix", ["a.py"], "steps Fix the rounding of steps (#1)"),
        ("pulled", "main", [], ""),
    ],
)
def test_a_commit_becomes_a_state(state: str, branch: str, files: list[str], intent: str) -> None:
    work = digest_cases.context(case(state, "steps-fix"), Commit("Fix the rounding of steps (#1)", ("a.py",)))

    assert (work.branch, work.files, work.intent, work.is_empty) == (branch, files, intent, False)


@pytest.mark.parametrize(
    ("subject", "branch"),
    [
        ("Fix the rounding of steps (#17743)", "fix-rounding-steps"),
        ("BUG: a pickle of five is not read back", "pickle-five-read-back"),
        ("of the", "work"),
    ],
)
def test_a_branch_is_named_after_the_first_words_of_the_work(subject: str, branch: str) -> None:
    assert digest_cases.named_after(subject) == branch


def test_commits_are_read_from_a_clone(tmp_path: Path) -> None:
    project = GitProject(tmp_path / "clone")
    project.write("a.py", "1")
    project.commit("First")
    project.write("b c.py", "1")
    project.write("a.py", "2")
    project.commit("Second one")
    short = subprocess.run(
        ["git", "-C", str(project.root), "rev-parse", "--short=12", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout.strip()

    assert digest_cases.read_commits(project.root, [short]) == {short: Commit("Second one", ("a.py", "b c.py"))}


def test_the_page_gives_what_was_measured() -> None:
    report = results.load("digest")

    assert report is not None
    assert digest.table(report) in digest.PAGE.read_text(encoding="utf-8")
