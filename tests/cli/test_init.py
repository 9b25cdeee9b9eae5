from __future__ import annotations

import json
import subprocess
import sys

import pytest


def git(project, *words):
    return subprocess.run(
        ("git", *words), cwd=project, check=True, capture_output=True, text=True, timeout=120
    ).stdout.strip()


@pytest.fixture
def clone(project):
    git(project, "init", "-q")
    return project


def test_git_is_told_what_to_keep_and_how_to_merge(clone, onrecord):
    onrecord("init")

    kept = git(clone, "status", "--porcelain", "-uall").split()
    assert [name for name in kept if name != "??"] == [
        ".claude/memory/.gitattributes",
        ".claude/memory/.gitignore",
        ".claude/memory/index.md",
    ]
    attributes = git(clone, "check-attr", "merge", ".claude/memory/index.md", ".claude/memory/decisions/x.json",
                     ".claude/memory/memory-config.json").splitlines()  # fmt: skip
    assert [line.rsplit(": ", 1)[1] for line in attributes] == ["union", "onrecord", "unspecified"]


def test_it_can_be_run_again(clone, onrecord):
    onrecord("init", "--merge-driver")
    before = {path: path.read_bytes() for path in clone.rglob(".claude/**/*") if path.is_file()}

    again = json.loads(onrecord("init", "--merge-driver", "--json").out)

    assert (again["created"], again["written"]) == (False, [])
    assert again["notes"] == ["the merge driver was registered already"]
    assert {path: path.read_bytes() for path in clone.rglob(".claude/**/*") if path.is_file()} == before


def test_what_a_user_wrote_stays(clone, onrecord):
    store = clone / ".claude/memory"
    store.mkdir(parents=True)
    (store / ".gitattributes").write_text("index.md merge=ours\n*.txt text")
    git(clone, "config", "merge.onrecord.driver", "my-own %A")

    notes = json.loads(onrecord("init", "--merge-driver", "--json").out)["notes"]

    assert (store / ".gitattributes").read_text() == "index.md merge=ours\n*.txt text\n*/*.json merge=onrecord\n"
    assert notes == ["git has another driver for records and keeps it: my-own %A"]
    assert git(clone, "config", "merge.onrecord.driver") == "my-own %A"


def test_a_driver_of_ours_whose_program_is_gone_is_noticed_and_replaced(clone, onrecord):
    onrecord("init", "--merge-driver")
    works = git(clone, "config", "merge.onrecord.driver")
    gone = f"{sys.executable} '/old place/0.1.0/bin/onrecord' merge-driver %O %A %B %L %P"
    git(clone, "config", "merge.onrecord.driver", gone)

    noticed = onrecord("doctor").out
    onrecord("init", "--merge-driver")

    assert "git merges records with /old place/0.1.0/bin/onrecord, which does not exist" in noticed
    assert git(clone, "config", "merge.onrecord.driver") == works
    assert "which does not exist" not in onrecord("doctor").out


def test_a_project_that_ignores_the_store_is_told(clone, onrecord):
    (clone / ".gitignore").write_text(".claude/\n")

    assert "git ignores this folder" in onrecord("init").out
    assert "git ignores the store" in onrecord("doctor").out


def test_a_merge_driver_needs_a_clone(onrecord):
    assert onrecord("init", "--merge-driver").err.startswith("BAD_INPUT: ")
    assert onrecord("init", "--merge-driver", "--user").err.startswith("BAD_INPUT: --merge-driver belongs to")


def test_the_store_is_made_at_the_root_of_the_clone(clone, onrecord, monkeypatch):
    (clone / "deep/down").mkdir(parents=True)
    monkeypatch.chdir(clone / "deep/down")

    onrecord("init")

    assert (clone / ".claude/memory/index.md").exists()


def test_a_store_that_is_a_link_out_of_the_project_is_refused(project, onrecord, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / ".claude").mkdir()
    (project / ".claude/memory").symlink_to(tmp_path / "elsewhere")

    assert onrecord("init").err.startswith("UNSAFE_PATH: ")
    assert onrecord("save", "decision", "x").err.startswith("UNSAFE_PATH: ")
    assert "error: " in onrecord("doctor").out
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_gets_a_memory_of_its_own_below_one(clone, onrecord):
    onrecord("init")
    (clone / "packages" / "web").mkdir(parents=True)

    made = json.loads(onrecord("init", "--here", "--project", str(clone / "packages" / "web"), "--json").out)

    assert made["store"] == str(clone / "packages" / "web" / ".claude" / "memory")
    assert made["created"]
    assert (clone / "packages" / "web" / ".claude" / "memory" / "index.md").exists()


@pytest.mark.parametrize(
    ("words", "fault"),
    [(["--user"], "--here makes a memory in a folder"), (["--project", "nowhere"], "is not a directory")],
)
def test_a_memory_of_its_own_needs_a_folder_of_a_project(clone, onrecord, words, fault):
    outcome = onrecord("init", "--here", *words)

    assert outcome.code
    assert fault in outcome.err


def test_the_home_folder_gets_no_memory_of_its_own(onrecord, home):
    outcome = onrecord("init", "--here", "--project", str(home))

    assert outcome.code
    assert "fix: onrecord init --user" in outcome.err
