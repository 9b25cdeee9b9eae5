"""Verdicts on single histories, the warnings about them, the cache, and what a hostile repository can do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from onrecord import paths
from onrecord.cli import main
from onrecord.freshness import anchors, check, project_files
from onrecord.freshness.check import Freshness, IndexedAnchor, Verdict, VerdictCache
from onrecord.record.memory import Anchor, Memory
from tests import time_limit
from tests.git_project import GitCalls, GitProject

NOW = "2026-03-01T00:00:00Z"
BODY = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    git_project = GitProject(tmp_path / "project")
    git_project.write("src/auth.py", BODY)
    git_project.write("src/other.py", "other\n" * 30)
    git_project.commit()
    return git_project


def anchored_record(root: Path, *files: str) -> Memory:
    return anchors.add_missing(Memory("decision", "x", "X", {}, related_files=files), str(root), NOW)


def first_verdict(root: Path, record: Memory) -> Verdict:
    return Freshness(str(root)).check(anchors.to_indexed(record)[0])


def note(root: Path, record: Memory) -> tuple[str, bool]:
    return Freshness(str(root)).note(anchors.dump(record))


def age_files(project: GitProject) -> None:
    """Make every file look older than a few seconds, so that verdicts on it are cached."""
    for path in project.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_700_000_000, 1_700_000_000))


def test_what_has_not_changed_says_nothing(project: GitProject) -> None:
    assert note(project.root, anchored_record(project.root, "src/auth.py", "src/other.py")) == ("", False)


def test_a_memory_without_anchors_says_nothing(project: GitProject) -> None:
    assert Freshness(str(project.root)).note("") == ("", False)


def test_a_change_says_how_often_and_since_when(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    for number in range(3):
        project.write("src/auth.py", BODY + f"more {number}\n")
        last = project.commit()

    verdict = first_verdict(project.root, record)

    assert (verdict.state, verdict.commits, verdict.last, verdict.day) == ("changed", 3, last, "2026-03-05")
    assert note(project.root, record) == ("verify: `src/auth.py` changed 3 times since 2026-03-01", False)


def test_a_change_not_committed_is_a_change(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    project.write("src/auth.py", BODY + "more\n")

    assert note(project.root, record) == ("verify: `src/auth.py` changed since 2026-03-01", False)


def test_content_that_came_back_is_fresh(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    project.write("src/auth.py", "different\n")
    project.commit()
    project.write("src/auth.py", BODY)
    project.commit()

    assert note(project.root, record) == ("", False)


def test_what_was_anchored_before_it_was_committed_counts_from_there(project: GitProject) -> None:
    project.write("src/auth.py", BODY + "draft\n")
    record = anchored_record(project.root, "src/auth.py")
    project.commit()
    assert note(project.root, record) == ("", False)

    project.write("src/auth.py", BODY + "final\n")
    project.commit()

    assert first_verdict(project.root, record).commits == 1


def test_a_deleted_file_is_missing(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    (project.root / "src/auth.py").unlink()
    gone = project.commit()

    assert note(project.root, record) == ("verify: `src/auth.py` no longer exists", True)
    assert first_verdict(project.root, record).last == gone


def test_a_rename_is_followed(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    project.git("mv", "src/auth.py", "src/login.py")
    assert note(project.root, record) == ("`src/auth.py` is now `src/login.py`", False)
    project.commit()
    assert note(project.root, record) == ("`src/auth.py` is now `src/login.py`", False)

    project.write("src/login.py", BODY + "more\n")
    project.commit()

    clause = "verify: `src/login.py` (was `src/auth.py`) changed once since 2026-03-01"
    assert note(project.root, record) == (clause, False)


def test_a_file_moved_by_hand_is_found_by_its_content(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    (project.root / "lib").mkdir()
    (project.root / "src/auth.py").rename(project.root / "lib/auth.py")

    assert note(project.root, record) == ("`src/auth.py` is now `lib/auth.py`", False)


def test_a_rename_made_by_a_merge_is_found(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    project.git("checkout", "-q", "-b", "side")
    project.git("mv", "src/auth.py", "src/login.py")
    project.commit()
    project.git("checkout", "-q", "main")
    project.write("src/auth.py", BODY.replace("line 3\n", "line three\n"))
    project.commit()
    project.git("merge", "-q", "--no-edit", "side")

    verdict = first_verdict(project.root, record)

    assert (verdict.state, verdict.now) == ("changed", "src/login.py")
    assert verdict.commits >= 1


def test_a_commit_that_was_rewritten_away_leaves_the_blob_to_count_from(project: GitProject) -> None:
    project.git("checkout", "-q", "-b", "feature")
    project.write("src/auth.py", BODY + "feature\n")
    project.commit()
    record = anchored_record(project.root, "src/auth.py")
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--squash", "feature")
    project.commit()
    project.git("branch", "-q", "-D", "feature")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    project.write("src/auth.py", BODY + "later\n")
    project.commit()

    assert first_verdict(project.root, record).commits == 1


def test_a_commit_nobody_knows_still_gives_a_verdict(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py")
    stranger = record.anchors[0]._replace(commit="f" * 40, blob="e" * 40)

    verdict = first_verdict(project.root, record._replace(anchors=(stranger,)))

    assert (verdict.state, verdict.commits) == ("changed", -1)


def test_a_project_inside_a_repository_is_followed_by_its_own_paths(project: GitProject) -> None:
    project.write("pkg/app/main.py", BODY)
    project.commit()
    inner = project.root / "pkg"
    record = anchored_record(inner, "app/main.py")
    project.git("mv", "pkg/app/main.py", "pkg/app/start.py")
    project.commit()
    assert note(inner, record) == ("`app/main.py` is now `app/start.py`", False)

    project.git("mv", "pkg/app/start.py", "elsewhere.py")
    project.commit()

    assert note(inner, record) == ("verify: `app/main.py` no longer exists", True)


def test_without_git_there_is_changed_and_gone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    record = anchored_record(tmp_path, "a.txt", "b.txt")
    assert note(tmp_path, record) == ("", False)

    (tmp_path / "a.txt").write_text("other\n")
    (tmp_path / "b.txt").unlink()

    assert note(tmp_path, record) == (
        "verify: `a.txt` changed since 2026-03-01; `b.txt` no longer exists",
        True,
    )


def test_many_changed_files_are_counted_not_listed(tmp_path: Path) -> None:
    names = [f"{number}.txt" for number in range(5)]
    for name in names:
        (tmp_path / name).write_text("one\n")
    record = anchored_record(tmp_path, *names)
    for name in names:
        (tmp_path / name).write_text("two\n")

    assert note(tmp_path, record)[0].endswith("`1.txt` changed since 2026-03-01; 3 more files changed")


def test_an_unchanged_symbol_is_fresh_in_a_changed_and_renamed_file(project: GitProject) -> None:
    text = "def login():\n    return 1\n\n\n" + "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(20))
    project.write("src/auth.py", text)
    project.commit()
    record = anchored_record(project.root, "src/auth.py#login")
    project.write("src/auth.py", "import os\n\n\n" + text.replace("return 7", "return 70"))
    project.commit()
    assert note(project.root, record) == ("", False)

    project.git("mv", "src/auth.py", "src/login.py")
    project.commit()
    assert note(project.root, record) == ("`src/auth.py` is now `src/login.py`", False)

    project.write("src/login.py", text.replace("return 1\n", "return 2\n", 1))
    project.commit()

    assert first_verdict(project.root, record).state == "changed"


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/hostname", "link", "pipe", "nul\0", "src", "\ud800", "x" * 300]
)
def test_a_hostile_path_is_neither_read_nor_named(project: GitProject, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.txt").write_text("x\n")
    (project.root / "link").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(project.root / "pipe")
    record = Memory("decision", "x", "X", {}, anchors=(Anchor(path, blob="a" * 40, commit="b" * 40),))

    assert first_verdict(project.root, record).state == "unknown"
    assert note(project.root, record) == ("verify: 1 file was not checked", False)


def test_a_commit_that_is_not_one_never_reaches_a_command_line(project: GitProject, tmp_path: Path) -> None:
    evil = f"--output={tmp_path}/written"
    record = Memory("decision", "x", "X", {}, anchors=(Anchor("src/auth.py", blob="a" * 40, commit=evil),))

    assert first_verdict(project.root, record).state == "changed"
    assert not (tmp_path / "written").exists()


def test_nothing_a_repository_configures_is_run(project: GitProject, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ntouch {witness}\n")
    script.chmod(0o755)
    record = anchored_record(project.root, "src/auth.py", "src/other.py")
    project.write(".gitattributes", "* filter=evil diff=evil\n")
    project.write("src/auth.py", BODY + "more\n")
    (project.root / "src/other.py").rename(project.root / "src/moved.py")
    project.commit()
    (project.root / "src/moved.py").rename(project.root / "src/again.py")
    for key in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv",
                "diff.evil.command", "diff.external", "core.fsmonitor", "core.pager", "pager.log",
                "gpg.program", "core.sshCommand", "alias.log"):  # fmt: skip
        project.git("config", key, str(script))
    project.git("config", "log.showSignature", "true")

    clause, _ = note(project.root, record)

    assert clause.startswith("verify: `src/auth.py` changed once")
    assert not witness.exists()


def test_a_git_that_hangs_costs_the_count_and_not_the_hook(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = anchored_record(project.root, "src/auth.py")
    project.write("src/auth.py", BODY + "more\n")
    project.commit()
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    started = time.monotonic()

    clause = Freshness(str(project.root), patience=0.05).note(anchors.dump(record))

    assert clause == ("verify: `src/auth.py` changed since 2026-03-01", False)
    assert time.monotonic() - started < 60


class TestNotebook:
    def test_git_is_asked_about_a_change_once(self, project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
        record = anchored_record(project.root, "src/auth.py")
        project.write("src/auth.py", BODY + "more\n")
        project.commit()
        age_files(project)
        git_calls = GitCalls(monkeypatch)

        first, after_one = note(project.root, record), git_calls.times
        project.write("unrelated.txt", "x")
        project.commit()
        second = note(project.root, record)

        assert (first, after_one > 0, git_calls.times) == (second, True, after_one)

    def test_a_change_not_committed_is_looked_at_again_when_it_is(
        self, project: GitProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        record = anchored_record(project.root, "src/auth.py")
        project.write("src/auth.py", BODY + "more\n")
        age_files(project)
        assert first_verdict(project.root, record).commits == 0
        project.commit()
        assert first_verdict(project.root, record).commits == 1
        git_calls = GitCalls(monkeypatch)

        assert first_verdict(project.root, record).commits == 1
        assert git_calls.times == 0

    def test_a_missing_file_that_comes_back_is_noticed(self, project: GitProject) -> None:
        record = anchored_record(project.root, "src/auth.py")
        (project.root / "src/auth.py").unlink()
        assert note(project.root, record)[1]

        project.write("src/auth.py", BODY)

        assert note(project.root, record) == ("", False)

    def test_a_missing_file_is_looked_for_again_at_another_commit(self, project: GitProject) -> None:
        record = anchored_record(project.root, "src/auth.py")
        (project.root / "src/auth.py").unlink()
        assert first_verdict(project.root, record).state == "missing"

        project.write("src/login.py", BODY)
        project.commit()

        assert (first_verdict(project.root, record).state, first_verdict(project.root, record).now) == (
            "fresh",
            "src/login.py",
        )

    def test_a_change_of_the_same_size_a_moment_later_is_noticed(self, project: GitProject) -> None:
        record = anchored_record(project.root, "src/auth.py")
        file = project.root / "src/auth.py"
        status = file.stat()
        assert note(project.root, record) == ("", False)

        file.write_bytes(b"X" + file.read_bytes()[1:])
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

        assert note(project.root, record)[0].startswith("verify:")

    @pytest.mark.parametrize(
        "damage", [b"\xff\xfe\n\n\t\t\t", b"", b"x" * 2_000_000], ids=["garbage", "cut short", "far too long"]
    )
    def test_a_damaged_notebook_is_of_no_consequence(self, project: GitProject, damage: bytes) -> None:
        record = anchored_record(project.root, "src/auth.py")
        age_files(project)
        note(project.root, record)
        (file,) = Path(paths.cache_dir()).glob("*.anchors")
        file.write_bytes(file.read_bytes()[:-9] + damage)

        assert note(project.root, record) == ("", False)

    def test_a_cache_that_cannot_be_written_is_of_no_consequence(
        self, project: GitProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("ONRECORD_CACHE_DIR", str(tmp_path / "file" / "below"))
        record = anchored_record(project.root, "src/auth.py")
        age_files(project)

        assert note(project.root, record) == ("", False)

    def test_it_never_grows_without_bound_and_racing_writers_leave_whole_lines(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(check, "MAX_CACHE_BYTES", 20_000)

        def write(writer: int) -> None:
            cache = VerdictCache(str(tmp_path))
            for number in range(200):
                anchor = IndexedAnchor(f"{writer}-{number}", "a" * 40, "", "", "", "")
                cache.add("", Verdict(anchor, "missing", anchor.path))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        time_limit.join(*threads)
        (file,) = Path(paths.cache_dir()).glob("*.anchors")

        assert file.stat().st_size <= 20_200
        assert {line.count("\t") for line in file.read_text().splitlines()} == {7}


def test_what_there_was_no_time_for_is_not_called_fresh(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py", "src/other.py")
    freshness = Freshness(str(project.root), patience=-1)

    assert [freshness.check(anchor).state for anchor in anchors.to_indexed(record)] == ["unknown"] * 2
    assert freshness.note(anchors.dump(record)) == ("verify: 2 files were not checked", False)


def test_files_beyond_the_most_that_are_checked_are_counted(project: GitProject) -> None:
    for number in range(check.MAX_ANCHORS + 3):
        project.write(f"many/{number}.py", "x\n")
    names = [f"many/{number}.py" for number in range(check.MAX_ANCHORS + 3)]
    record = anchored_record(project.root, *names)

    assert note(project.root, record) == ("verify: 3 files were not checked", False)
    project.write("many/0.py", "changed\n")
    assert note(project.root, record)[0].endswith("changed since 2026-03-01; 3 files were not checked")


def test_many_expensive_files_cost_a_bounded_time(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{number}.txt" for number in range(check.MAX_ANCHORS)]
    for name in names:
        project.write(name, "x\n")
    record = anchored_record(project.root, *names)
    used = 0.0

    def is_same(data: bytes, anchor: IndexedAnchor) -> bool:
        nonlocal used
        used += 0.08  # of 0.2 seconds
        return True

    monkeypatch.setattr(check, "time", SimpleNamespace(process_time=lambda: used, time=time.time))
    monkeypatch.setattr(project_files, "is_same", is_same)

    # The third file uses up the share of the time; the rest is left.
    assert note(project.root, record)[0] == f"verify: {check.MAX_ANCHORS - 3} files were not checked"


def test_an_ordinary_look_imports_nothing_heavy(project: GitProject) -> None:
    record = anchored_record(project.root, "src/auth.py", "src/other.py")
    project.write("src/other.py", "changed\n")
    project.commit()
    age_files(project)
    note(project.root, record)
    program = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1])\n"
        "from onrecord.freshness.check import Freshness\n"
        "print(Freshness(sys.argv[2]).note(sys.argv[3]))\n"
        "print(sorted(set(sys.modules) - before))"
    )
    source = str(Path(__file__).parents[2] / "src")
    command = [sys.executable, "-S", "-E", "-c", program, source, str(project.root), anchors.dump(record)]

    warning, loaded = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=120
    ).stdout.splitlines()

    assert warning == "('verify: `src/other.py` changed once since 2026-03-01', False)"
    heavy = {"re", "json", "typing", "collections", "dataclasses", "datetime", "hashlib", "pathlib", "subprocess"}
    assert heavy.isdisjoint(eval(loaded))


class TestCommands:
    @pytest.fixture
    def saved(self, project: GitProject, capsys: pytest.CaptureFixture[str]) -> GitProject:
        words = ["save", "preference", "Login in one place", "--set", "topic=login", "--set", "value=in auth.py",
                 "--set", "reason=r", "--related", "src/auth.py", "--related", "docs/none.md", "--force"]  # fmt: skip
        assert main([*words, "--project", str(project.root)]) == 0
        capsys.readouterr()
        return project

    def test_freshness_shows_every_file_and_reanchor_confirms(
        self, saved: GitProject, capsys: pytest.CaptureFixture[str]
    ) -> None:
        saved.git("mv", "src/auth.py", "src/login.py")
        saved.write("src/login.py", BODY + "more\n")
        saved.commit()

        assert self.states(saved, capsys) == {"changed": 1, "unanchored": 1}
        assert main(["reanchor", "login-in-one-place", "--project", str(saved.root)]) == 0
        assert capsys.readouterr().out == (
            "confirmed .claude/memory/preferences/login-in-one-place.json\n"
            "  anchored to 1 file\n"
            "  src/auth.py is now src/login.py\n"
            "  docs/none.md does not exist and is no longer watched\n"
        )
        assert self.states(saved, capsys) == {"fresh": 1, "unanchored": 1}
        assert self.record(saved)["related_files"] == ["src/login.py", "docs/none.md"]
        assert self.record(saved)["changes"][-1]["summary"] == "Confirmed against its files"

    def test_a_renamed_file_of_a_record_without_anchors_is_followed_and_a_folder_is_not_missing(
        self, saved: GitProject, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = saved.root / ".claude/memory/preferences/login-in-one-place.json"
        record = self.record(saved)
        del record["anchors"]
        path.write_text(json.dumps({**record, "related_files": ["src/auth.py", "src", "src/*.sql"]}))
        saved.git("mv", "src/auth.py", "src/login.py")
        saved.commit()

        assert main(["freshness", "--project", str(saved.root)]) == 0
        assert [line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()[:-1]] == [
            ["src/auth.py", "unanchored", "now src/login.py"],
            ["src", "unanchored", "its version was not noted: it is a folder, or new"],
            ["src/*.sql", "unanchored", "a pattern"],
        ]
        assert main(["reanchor", "login-in-one-place", "--project", str(saved.root)]) == 0
        assert capsys.readouterr().out == (
            "confirmed .claude/memory/preferences/login-in-one-place.json\n"
            "  anchored to 1 file\n"
            "  src/auth.py is now src/login.py\n"
        )
        assert self.record(saved)["related_files"] == ["src/login.py", "src", "src/*.sql"]

    def test_reanchor_with_dry_run_writes_nothing(self, saved: GitProject, capsys: pytest.CaptureFixture[str]) -> None:
        before = self.record(saved)
        saved.write("src/auth.py", "changed\n")

        assert main(["reanchor", "login-in-one-place", "--dry-run", "--project", str(saved.root)]) == 0

        assert capsys.readouterr().out.startswith("would confirm")
        assert self.record(saved) == before

    def test_freshness_as_text_names_the_last_commit(
        self, saved: GitProject, capsys: pytest.CaptureFixture[str]
    ) -> None:
        saved.write("src/auth.py", BODY + "more\n")
        last = saved.commit()

        assert main(["freshness", "--stale", "--project", str(saved.root)]) == 0

        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"login-in-one-place\tsrc/auth.py\tchanged\t1 commit, last {last[:10]} on 2026-03-03"
        assert lines[-1] == "1 changed, 1 unanchored"

    def test_the_users_store_has_no_files_to_look_at(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (home / ".claude" / "memory").mkdir(parents=True)

        assert main(["freshness", "--user"]) == 1
        assert capsys.readouterr().err.startswith("BAD_INPUT: this store does not belong to a project with files")

    def states(self, project: GitProject, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
        assert main(["freshness", "--json", "--project", str(project.root)]) == 0
        files: dict[str, int] = json.loads(capsys.readouterr().out)["files"]
        return files

    def record(self, project: GitProject) -> dict[str, object]:
        file = project.root / ".claude/memory/preferences/login-in-one-place.json"
        record: dict[str, object] = json.loads(file.read_text())
        return record


def test_a_pin_is_what_the_index_holds() -> None:
    anchor = Anchor("a.py", blob="b" * 40, commit="c" * 40, symbol="f", block="d" * 32, date=NOW)
    record = Memory("decision", "x", "X", {}, anchors=(anchor,), updated_at="2026-05-05T00:00:00Z")

    assert anchors.dump(record) == f'[["a.py","{"b" * 40}","{"c" * 40}","2026-03-01","f","{"d" * 32}"]]'
    assert IndexedAnchor(*json.loads(anchors.dump(record))[0]).symbol == "f"
    assert anchors.dump(record._replace(anchors=(Anchor("a.py"),))) == ""
