"""Files that a record names and that are not there: what is wrong with them, and what was probably meant."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from onrecord.errors import BadInput
from onrecord.freshness import related_files
from onrecord.freshness.related_files import FileProblem
from tests.git_project import GitProject


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("src/auth/session.py", "web/session.py", "src/billing.py", ".hidden/secret_plan.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("class SessionStore:\n    def renew(self):\n        return 1\n")
    return root


def problem(root: Path, text: str) -> FileProblem | None:
    return next(related_files.problems(str(root), [text]), None)


def nearest(root: Path, text: str) -> str:
    flaw = problem(root, text)
    assert flaw
    return flaw.nearest


@pytest.mark.parametrize(
    ("text", "what", "nearest"),
    [
        ("src/bilings.py", "does not exist", "src/billing.py"),
        ("src/auht/session.py", "does not exist", "src/auth/session.py"),
        ("web/sesions.ts", "does not exist", "web/session.py"),
        ("web/sesions.ts#renew", "does not exist", "web/session.py#renew"),
        ("zebra.py#renew", "does not exist", ""),
        ("bill.py", "does not exist", "src/billing.py"),
        ("bil.py", "does not exist", ""),
        ("SRC/BILLING/", "does not exist", "src/billing.py"),
        (".hidden/secret_plans.py", "does not exist", ""),
        ("src/billing.py#L3", "", ""),
        ("src/billing.py#L5", "refers to lines that src/billing.py does not have", ""),
        ("src/billing.py#SessionStore::renew()", "", ""),
        ("src/billing.py#Other.renew", "", ""),
        ("src/billing.py#Other.renw", "refers to a part that src/billing.py does not have",
         "src/billing.py#Other.renew"),
        ("src/billing.py#A::B::renw()", "refers to a part that src/billing.py does not have",
         "src/billing.py#A.B.renew"),
        ("src/billing.py#zebra", "refers to a part that src/billing.py does not have", ""),
        ("src/*.sql", "", ""),
        ("src/a?.sql", "", ""),
        ("src", "", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_name_and_what_was_meant(folder: Path, text: str, what: str, nearest: str) -> None:
    assert problem(folder, text) == (FileProblem(text, what, nearest, False) if what else None)


@pytest.mark.parametrize("text", ["../other.py", "/etc/passwd", "link/x.py", "a\0b"])
def test_a_name_that_leads_out_of_the_project_is_outside(folder: Path, text: str) -> None:
    (folder / "link").symlink_to(folder.parent)

    assert problem(folder, text) == FileProblem(text, "is outside the project", "", True)


def test_a_part_of_what_cannot_be_read_is_a_problem_and_one_of_a_large_file_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "large.py").write_text("x" * 2_000_001)
    assert problem(folder, "large.py#f") is None
    (folder / "large.py").write_text("x" * 2_000_000)
    assert problem(folder, "large.py#f")

    def fail(path: str, *words: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("onrecord.files.read", fail)
    assert problem(folder, "src/billing.py#renew") == FileProblem("src/billing.py#renew", "cannot be read", "", False)


def test_the_files_that_git_lists_are_compared_tracked_or_new_and_not_ignored(tmp_path: Path) -> None:
    project = GitProject(tmp_path / "project")
    project.write(".gitignore", "ignored*\n")
    project.write("sub/tracked.py", "x\n")
    project.commit()
    for name in ("sub/untracked_too.py", "ignored_wholly.py", "sub/.dotted_file.py"):
        project.write(name, "x\n")
    (project.root / "sub/tracked.py").unlink()

    root = project.root
    assert nearest(root, "trackd.py") == "sub/tracked.py"
    assert nearest(root, "untracked_to.py") == "sub/untracked_too.py"
    assert nearest(root, ".dotted_fil.py") == "sub/.dotted_file.py"
    assert nearest(root, "ignored_whole.py") == ""
    project.write("elsewhere.py", "x\n")
    assert nearest(root / "sub", "trackd.py") == "tracked.py"
    assert nearest(root / "sub", "elsewher.py") == ""


@pytest.mark.parametrize(("others", "guess"), [(49_999, "zebra.py"), (50_000, "")])
@pytest.mark.parametrize("has_git", [True, False])
def test_fifty_thousand_files_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int, guess: str, has_git: bool
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    if has_git:
        GitProject(root)
        git = tmp_path / "bin" / "git"
        git.parent.mkdir()
        git.write_text(f"#!/bin/sh\nyes x.py | head -n {others} | tr '\\n' '\\0'\nprintf 'zebra.py\\0'\n")
        git.chmod(0o755)
        monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    else:
        listing = [(str(root), [], ["zebra.py", *(f"x.{number}" for number in range(others))])]
        monkeypatch.setattr("onrecord.files.walk", lambda folder: iter(listing))

    assert nearest(root, "zebr.py") == guess


@pytest.mark.parametrize(("others", "guess"), [(4_997, "a.py#zebra"), (4_998, "")])
def test_the_first_five_thousand_names_of_a_file_are_compared(tmp_path: Path, others: int, guess: str) -> None:
    names = "".join(f"n{number}\n" for number in range(others))
    (tmp_path / "a.py").write_text(f"first\nsecond\nfirst\n{names}zebra\n")

    assert nearest(tmp_path, "a.py#zebr") == guess


def test_all_that_is_wrong_is_refused_at_once_with_every_guess(folder: Path) -> None:
    texts = ["src/biling.py", "src", "zebra.py", "web/sesion.py", "x" * 1_000]

    with pytest.raises(BadInput) as error:
        related_files.refuse_missing(str(folder), texts, may_come=False)

    long = re.findall("x+…", error.value.message)
    assert len(long) == 1 and len(long[0]) < 200
    what = "; ".join(f"related file {text!r} does not exist" for text in (texts[0], texts[2], texts[3], long[0]))
    guess = "did you mean src/billing.py, web/session.py? "
    assert error.value.message == what
    assert error.value.fix == f"{guess}correct it, or add --force for a file that does not exist yet"
    assert error.value.field_errors == (("related_files", f"{what}; {guess}".rstrip()),)
    related_files.refuse_missing(str(folder), texts, may_come=True)


@pytest.mark.parametrize("may_come", [True, False])
def test_a_file_outside_is_refused_even_if_files_may_come(folder: Path, may_come: bool) -> None:
    with pytest.raises(BadInput) as error:
        related_files.refuse_missing(str(folder), ["../x.py"], may_come=may_come)

    what = "related file '../x.py' is outside the project"
    assert (error.value.message, error.value.field_errors) == (what, (("related_files", what),))
    assert error.value.fix == "name files relative to the project, such as src/auth.py"


def test_files_that_a_record_names_already_and_those_of_your_own_store_are_not_checked(
    folder: Path, home: Path
) -> None:
    store = folder / ".claude" / "memory"

    related_files.refuse_missing_in_store(str(store), ["gone.py"], ["gone.py"], may_come=False)
    related_files.refuse_missing_in_store(str(home / ".claude" / "memory"), ["gone.py"], may_come=False)
    with pytest.raises(BadInput, match=r"'new\.py'"):
        related_files.refuse_missing_in_store(str(store), ["gone.py", "new.py"], ["gone.py"], may_come=False)
