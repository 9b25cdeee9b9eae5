"""Signals of what is being worked on: every way of having none is quiet, and none raises."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from onrecord import state_file
from onrecord.digest import work_context
from onrecord.digest.digest import words_of
from onrecord.digest.work_context import WorkContext
from onrecord.git import changes, process
from onrecord.git.repository import Repository
from tests.git_project import GitProject


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    return GitProject(tmp_path / "project")


def read(root: Path, seconds: float = 30) -> WorkContext:
    return work_context.read(str(root), time.monotonic() + seconds)


def touched(seen: WorkContext) -> list[str]:
    """The files that are not committed, then those of the latest commits."""
    return [*seen.changes.uncommitted, *seen.changes.committed]


def commits(project: GitProject, *names: str) -> None:
    for name in names:
        project.write(name, name)
        project.commit(name)


def add_feature(root: Path, name: str, *, spec: str = "", modified: int = 1_000, **meta: object) -> Path:
    folder = root / "docs" / "features" / name
    folder.mkdir(parents=True)
    (folder / ".meta.json").write_text(json.dumps(meta))
    if spec:
        (folder / "spec.md").write_text(spec)
    os.utime(folder / ".meta.json", (modified, modified))
    return folder


def fake_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_files_of_the_last_three_commits_and_the_uncommitted_ones(project: GitProject) -> None:
    commits(project, "one.py", "two.py", "three.py", "four.py")
    project.write("one.py", "changed")
    project.write("new folder/new file.py", "new")

    assert touched(read(project.root)) == ["one.py", "new folder/new file.py", "four.py", "three.py", "two.py"]


@pytest.mark.parametrize(
    ("names", "files"),
    [
        ([], []),
        (["one.py"], []),
        (["one.py", "two.py"], ["two.py"]),
        (["one.py", "two.py", "three.py"], ["three.py", "two.py"]),
    ],
)
def test_the_first_commit_of_all_does_not_count(project: GitProject, names: list[str], files: list[str]) -> None:
    commits(project, *names)

    seen = read(project.root)

    assert (touched(seen), seen.branch) == (files, "main")
    assert state_file.recent_failures() == []


def test_a_fresh_repository_has_its_uncommitted_files(project: GitProject) -> None:
    project.write("draft.py", "x")

    assert read(project.root).files == ["draft.py"]


def test_a_detached_head_has_no_branch_and_no_recent_files(project: GitProject) -> None:
    commits(project, "one.py", "two.py", "three.py", "four.py")
    project.git("checkout", "-q", "--detach")
    project.write("one.py", "changed")

    seen = read(project.root)

    assert (seen.branch, seen.files, seen.notes) == ("", ["one.py"], ["HEAD is detached"])
    assert state_file.recent_failures() == []


def test_a_shallow_clone_has_no_recent_files(project: GitProject, tmp_path: Path) -> None:
    commits(project, "one.py", "two.py")
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(tmp_path / "shallow"))

    assert read(tmp_path / "shallow").files == []


def test_a_linked_worktree_has_its_own_branch(project: GitProject, tmp_path: Path) -> None:
    commits(project, "one.py", "two.py")
    project.git("worktree", "add", "-q", "-b", "feat/token-refresh", str(tmp_path / "linked"))

    seen = read(tmp_path / "linked")

    assert (seen.branch, seen.files, words_of(seen)) == ("feat/token-refresh", [], "token refresh")


def test_a_branch_has_its_own_commits_and_not_those_it_began_with(project: GitProject) -> None:
    commits(project, "one.py", "two.py", "three.py")
    project.git("checkout", "-q", "-b", "feat/token-refresh")
    commits(project, "four.py", "five.py")

    seen = read(project.root).changes

    assert (seen.committed, seen.subjects, seen.is_own) == (["five.py", "four.py"], ["five.py", "four.py"], True)


def test_what_was_committed_to_main_is_not_the_work(project: GitProject) -> None:
    commits(project, "one.py", "two.py", "three.py")

    seen = read(project.root)

    assert (seen.changes.committed, seen.changes.is_own) == (["three.py", "two.py"], False)
    assert (seen.files, seen.intent, words_of(seen), seen.is_empty) == ([], "", "", True)


def test_while_a_feature_is_built_on_main_its_last_commits_are_the_work(project: GitProject) -> None:
    commits(project, "one.py", "lexer.py", "grammar.py")
    add_feature(project.root, "001-parser", spec="# Spec\n\nReads a file.", status="active", slug="parser-rewrite")

    signals = dict(read(project.root).signals)

    assert signals.pop("files").split()[:2] == ["grammar", "lexer"]
    assert signals == {"feature": "parser rewrite", "paragraph": "Reads a file."}


def test_the_signals_of_a_branch_are_kept_apart(project: GitProject) -> None:
    commits(project, "one.py", "two.py")
    project.git("checkout", "-q", "-b", "feat/token-refresh")
    project.write("src/clock.py", "x")
    project.commit("Renew it early")

    assert read(project.root).signals == [
        ("branch", "token refresh"),
        ("subjects", "Renew it early"),
        ("files", "clock"),
    ]


def test_a_specification_speaks_for_the_work_in_place_of_commit_subjects(project: GitProject) -> None:
    commits(project, "one.py", "two.py")
    project.git("checkout", "-q", "-b", "feat/token-refresh")
    commits(project, "three.py")
    add_feature(project.root, "001-x", status="active", slug="token-refresh", lastCompletedPhase="design")

    assert [name for name, _ in read(project.root).signals] == ["feature", "phase", "branch", "files"]


@pytest.mark.parametrize("state", ["no git", "clean main", "one commit", "detached"])
def test_where_nothing_tells_the_work_there_is_no_signal_and_no_failure(project: GitProject, state: str) -> None:
    commits(project, *(["one.py"] if state == "one commit" else ["one.py", "two.py", "three.py"]))
    if state == "detached":
        project.git("checkout", "-q", "--detach")
    if state == "no git":
        (project.root / ".git").rename(project.root.parent / "elsewhere")
        for file in project.root.iterdir():
            file.unlink()

    seen = read(project.root)

    assert (seen.signals, seen.is_empty, seen.warnings) == ([], True, [])
    assert state_file.recent_failures() == []


def test_facts_about_a_specification_are_not_its_first_paragraph(tmp_path: Path) -> None:
    spec = "# Spec\n\n- Phase: specify\n- **Created:** 2026-04-29\n\n## Overview\n\nReads a file: once.\n"
    add_feature(tmp_path, "001-x", spec=spec, status="active", slug="x")

    assert dict(read(tmp_path).signals)["paragraph"] == "Reads a file: once."


def test_the_work_in_words(project: GitProject) -> None:
    commits(project, "one.py", "two.py")
    project.git("checkout", "-q", "-b", "feat/token-refresh")
    project.write("src/clock.py", "x")
    project.commit("Renew it early")
    project.write("src/skew.py", "x")

    seen = read(project.root)

    assert seen.intent == "token refresh Renew it early"
    assert (seen.files, words_of(seen)) == (["src/skew.py", "src/clock.py"], f"{seen.intent} skew clock")


def test_a_branch_that_was_cloned_begins_where_its_origin_is(project: GitProject, tmp_path: Path) -> None:
    commits(project, "one.py", "two.py")
    project.git("branch", "-m", "default-of-ours")
    project.git("clone", "-q", str(project.root), str(tmp_path / "clone"))
    clone = GitProject(tmp_path / "clone")
    clone.git("checkout", "-q", "-b", "feat/x")
    commits(clone, "three.py")

    assert read(clone.root).changes.committed == ["three.py"]


def test_untracked_folders_are_looked_into(project: GitProject) -> None:
    commits(project, "one.py", ".gitignore")
    project.write("packages/auth/token.py", "x")
    project.write("packages/auth/node_modules/left/pad.js", "x")
    project.write(".gitignore", "node_modules\n")

    assert read(project.root).changes.uncommitted == [".gitignore", "packages/auth/token.py"]


def test_an_untracked_folder_that_takes_too_long_stays_a_name(
    project: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("packages/auth/token.py", "x")
    late = process.ProcessResult(None, b"", "did not answer in time")
    monkeypatch.setattr(Repository, "run", lambda *_, **__: late)

    assert read(project.root).changes.uncommitted == ["packages/"]


def test_no_more_than_some_untracked_folders_are_looked_into(project: GitProject) -> None:
    for number in range(changes.MAX_FOLDERS + 2):
        project.write(f"folder{number:02}/file.py", "x")

    names = read(project.root).changes.uncommitted

    assert sum(name.endswith("/") for name in names) == 2
    assert sum(name.endswith(".py") for name in names) == changes.MAX_FOLDERS


def test_a_project_within_a_repository_sees_its_own_files(project: GitProject) -> None:
    commits(project, "a.py", "service/b.py", "service/c.py", "other/d.py", "service/e.py")
    project.write("service/new.py", "x")
    project.write("other/new.py", "x")

    assert touched(read(project.root / "service")) == ["new.py", "e.py", "c.py"]


def test_no_repository_is_no_failure(tmp_path: Path) -> None:
    seen = read(tmp_path)

    assert (words_of(seen), seen.files, seen.notes) == ("", [], ["not a git repository"])
    assert state_file.recent_failures() == []


def test_without_git_the_branch_is_still_known(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.git("checkout", "-q", "-b", "feature/import-csv")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))

    seen = read(project.root)

    assert (seen.branch, words_of(seen), seen.files) == ("feature/import-csv", "import csv", [])
    assert [what for _, what, _ in state_file.recent_failures()] == ["session start signals"]


def test_a_git_that_hangs_costs_its_files_and_nothing_else(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.git("checkout", "-q", "-b", "import-csv")
    fake_git(tmp_path / "bin", "sleep 600 & sleep 600", monkeypatch)

    seen = read(project.root, seconds=0.3)

    assert (seen.files, words_of(seen)) == ([], "import csv")
    assert seen.notes == [
        f"git {question}: did not answer in time" for question in ("ls-files", "diff-index", "ls-files --others", "log")
    ]
    assert len(state_file.recent_failures()) == 4


def test_a_git_that_hangs_leaves_the_feature_and_the_branch(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_feature(project.root, "001-x", spec="Reads a file.", status="active", slug="csv", lastCompletedPhase="design")
    project.git("checkout", "-q", "-b", "import-csv")
    fake_git(tmp_path / "bin", "sleep 600 & sleep 600", monkeypatch)

    seen = read(project.root, seconds=0.3)

    expected = [("feature", "csv"), ("paragraph", "Reads a file."), ("phase", "design"), ("branch", "import csv")]
    assert (seen.signals, seen.is_empty, seen.warnings) == (expected, False, [])


def test_a_git_that_fails_is_traced(project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_git(tmp_path / "bin", "echo rubbish; exit 128", monkeypatch)

    assert read(project.root).files == []
    assert "exit code 128" in state_file.recent_failures()[0][2]


@pytest.mark.parametrize("mark", ["gitdir: nowhere", "rubbish", ""])
def test_a_broken_git_file_is_no_repository(tmp_path: Path, mark: str) -> None:
    (tmp_path / ".git").write_text(mark)

    assert read(tmp_path).notes == ["not a git repository"]


def test_a_hostile_repository_runs_nothing(project: GitProject, tmp_path: Path) -> None:
    commits(project, "one.py", "two.py", "three.py", "four.py")
    proof = tmp_path / "proof"
    evil = f"touch {proof}; cat"
    project.write(".gitattributes", "* filter=evil diff=evil\n")
    hooks = project.root / ".git" / "hooks"
    for name in ("post-index-change", "fsmonitor-watchman"):
        (hooks / name).write_text(f"#!/bin/sh\n{evil}\n")
        (hooks / name).chmod(0o755)
    programs = (
        "filter.evil.clean filter.evil.process core.fsmonitor core.pager diff.external diff.evil.textconv"
        " diff.evil.command core.editor core.sshCommand alias.status"
    )
    for key in programs.split():
        project.git("config", key, evil)
    project.git("config", "filter.evil.required", "true")
    proof.unlink(missing_ok=True)
    for name in ("one.py", "two.py"):
        project.write(name, name)
        os.utime(project.root / name, (1, 1))

    seen = read(project.root)

    assert not proof.exists()
    assert {"four.py", ".gitattributes"} <= set(touched(seen))


def test_a_filter_that_is_included_from_elsewhere_is_switched_off_too(project: GitProject, tmp_path: Path) -> None:
    commits(project, "one.py")
    proof = tmp_path / "proof"
    (tmp_path / "more").write_text(f'[filter "evil"]\n\tclean = touch {proof}; cat\n')
    project.git("config", "include.path", str(tmp_path / "more"))
    project.write(".gitattributes", "* filter=evil\n")
    project.write("one.py", "one.pY")

    assert read(project.root).files == ["one.py", ".gitattributes"]
    assert not proof.exists()


def test_a_filter_whose_name_git_cannot_override_is_not_run_either(project: GitProject, tmp_path: Path) -> None:
    commits(project, "one.py")
    project.git("config", "filter.a=b.clean", f"touch {tmp_path / 'proof'}; cat")
    project.write(".gitattributes", "* filter=a=b\n")
    project.write("one.py", "changed")

    assert read(project.root).files == ["one.py", ".gitattributes"]
    assert not (tmp_path / "proof").exists()


def test_the_environment_cannot_point_git_elsewhere(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GitProject(tmp_path / "other")
    other.write("elsewhere.py", "x")
    project.write("here.py", "x")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))

    assert read(project.root).files == ["here.py"]


def test_a_name_that_git_would_quote_arrives_as_it_is(project: GitProject) -> None:
    project.write('dä "x"\n.py', "x")

    assert read(project.root).files == ['dä "x"\n.py']


def test_the_newest_active_feature_with_its_paragraph_and_phase(tmp_path: Path) -> None:
    add_feature(tmp_path, "001-old", status="active", slug="old", modified=2_000)
    add_feature(tmp_path, "003-done", status="completed", slug="done", modified=4_000)
    spec = "---\nowner: x\n---\n# Title\n<!-- a comment -->\n\nReads a file\nonce.\n\nMore."
    add_feature(
        tmp_path,
        "002-new",
        spec=spec,
        modified=3_000,
        status="active",
        slug="parser-rewrite",
        lastCompletedPhase="design",
    )

    seen = read(tmp_path)

    assert seen.feature is not None
    assert (seen.feature.slug, seen.feature.paragraph) == ("parser-rewrite", "Reads a file once.")
    assert words_of(seen) == "parser rewrite Reads a file once. design"
    assert state_file.recent_failures() == []


@pytest.mark.parametrize("meta", ["{broken", "[]", '"active"', "\x00", '{"status": NaN}', "[" * 100_000])
def test_a_feature_that_cannot_be_read_is_traced_and_passed_over(tmp_path: Path, meta: str) -> None:
    add_feature(tmp_path, "001-good", status="active", slug="good")
    folder = add_feature(tmp_path, "002-bad")
    (folder / ".meta.json").write_text(meta)

    assert words_of(read(tmp_path)) == "good"
    assert "002-bad" in state_file.recent_failures()[0][2]
    assert "002-bad" in "".join(read(tmp_path).warnings)


@pytest.mark.parametrize("slug", [None, "", 7, ["x"]])
def test_a_feature_without_a_slug_goes_by_its_folder(tmp_path: Path, slug: object) -> None:
    add_feature(tmp_path, "042-csv-import", status="active", slug=slug, lastCompletedPhase=None)

    assert words_of(read(tmp_path)) == "csv import"
    assert "no slug" in state_file.recent_failures()[0][2]


def test_a_feature_that_leads_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    outside = add_feature(tmp_path / "outside", "x", status="active", slug="secret")
    features = tmp_path / "project" / "docs" / "features"
    features.mkdir(parents=True)
    (features / "linked").symlink_to(outside)

    assert words_of(read(tmp_path / "project")) == ""
    assert "leads out" in state_file.recent_failures()[0][2]


def test_features_of_another_place_are_not_even_listed(tmp_path: Path) -> None:
    add_feature(tmp_path / "outside", "secret-name", status="active", slug="secret")
    (tmp_path / "project" / "docs").mkdir(parents=True)
    (tmp_path / "project" / "docs" / "features").symlink_to(tmp_path / "outside" / "docs" / "features")

    assert words_of(read(tmp_path / "project")) == ""
    assert state_file.recent_failures() == []


def test_a_branch_of_any_length_is_bounded(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/" + "long-" * 100_000)

    assert len(read(tmp_path).branch) == 250


def test_a_feature_whose_spec_is_a_pipe_does_not_hang(tmp_path: Path) -> None:
    folder = add_feature(tmp_path, "x", status="active", slug="piped")
    os.mkfifo(folder / "spec.md")

    assert words_of(read(tmp_path)) == "piped"


@pytest.mark.parametrize(
    ("branch", "words"),
    [
        ("main", []),
        ("Master", []),
        ("feature/ABC-123-tokenRefresh", ["abc", "token", "refresh"]),
        ("fix/of-the-parser", ["parser"]),
    ],
)
def test_words_of_a_branch(branch: str, words: list[str]) -> None:
    assert work_context.branch_words(branch) == words


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["src/parser/fileReader.py", "src/token_store.ts"], ["file", "reader", "token", "store", "parser"]),
        ([".gitignore", ".github/workflows/ci.yml", "a/.hidden/x_ray.py"], []),
        (["src/__init__.py", "tests/index.js"], []),
        (["parser.py", "PARSER.md"], ["parser"]),
        (["データ/パーサ.py"], ["パーサ", "データ"]),
    ],
)
def test_words_of_files(files: list[str], words: list[str]) -> None:
    assert work_context.file_words(files) == words


def test_files_give_twenty_words_at_most() -> None:
    assert (
        len(work_context.file_words([f"word{chr(97 + n)}{chr(97 + n)}.py" for n in range(26)]))
        == work_context.MAX_WORDS
        == 20
    )


def test_the_memory_itself_is_not_the_work(project: GitProject) -> None:
    project.write(".claude/memory/decisions/x.json", "{}")

    assert read(project.root).files == []


def test_a_large_change_is_bounded(project: GitProject) -> None:
    for number in range(changes.MAX_FILES + 20):
        project.write(f"f{number}.py", "")

    assert len(read(project.root).files) == changes.MAX_FILES
