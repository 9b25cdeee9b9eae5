from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.terminal_session import TerminalSession


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


FIX = "replace line 2 of .gitignore with `.claude/*` and `!.claude/memory/`; this does it: onrecord init --yes"
SENTENCE = "git ignores .claude/memory/ (.gitignore, line 2: `.claude/`), so other people do not get these records"


def test_a_project_that_ignores_the_store_is_told_the_line_and_the_lines_to_write(clone, onrecord):
    (clone / ".gitignore").write_text("build/\n.claude/\ndist/\n")

    assert f"{SENTENCE}; {FIX}" in onrecord("init").out
    assert {"severity": "warning", "check": "git", "what": SENTENCE, "fix": FIX} in findings(onrecord)
    saved = onrecord("save", "decision", "Use uv", "--set=decision=d", "--set=context=c", "--set=rationale=r")
    assert f"{SENTENCE}: {FIX}" in saved.err


def test_the_lines_are_written_for_yes_and_git_sees_the_records(clone, onrecord):
    (clone / ".gitignore").write_text("build/\n.claude/\ndist/\n")

    assert "wrote `.claude/*` and `!.claude/memory/` to .gitignore" in onrecord("init", "--yes").out

    assert (clone / ".gitignore").read_text() == "build/\n.claude/*\n!.claude/memory/\ndist/\n"
    assert ".claude/memory/index.md" in git(clone, "status", "--porcelain", "-uall")
    (clone / ".claude/settings.local.json").write_text("{}")
    assert "settings.local.json" not in git(clone, "status", "--porcelain", "-uall")
    assert not [finding for finding in findings(onrecord) if "ignores" in finding["what"]]


@pytest.mark.parametrize(
    "pattern",
    [".claude", "/.claude/", "**/.claude/", ".claude/*", ".claude/**", ".*", ".c*/", "*.json", "*\n.claude/"],
)
def test_whatever_ignores_the_store_the_lines_undo_it(clone, onrecord, pattern):
    (clone / ".gitignore").write_text(f"{pattern}\r\nlast")

    onrecord("init", "--yes")

    onrecord("save", "decision", "Use uv", "--set=decision=d", "--set=context=c", "--set=rationale=r")
    assert ".claude/memory/decisions/use-uv.json" in git(clone, "status", "--porcelain", "-uall")


def test_a_rule_outside_of_the_project_is_overruled_in_the_project(clone, onrecord):
    (clone / ".git/info/exclude").write_text(".claude/\n")

    assert ".git/info/exclude, line 1" in onrecord("init").out
    onrecord("init", "--yes")

    assert (clone / ".gitignore").read_text().splitlines()[-1] == "!.claude/memory/**"
    assert ".claude/memory/index.md" in git(clone, "status", "--porcelain", "-uall")


def test_a_memory_that_is_ignored_on_purpose_stays_so(clone, onrecord):
    (clone / ".gitignore").write_text(".claude/memory/\n")

    assert "delete that line of .gitignore, unless the records are for you alone" in onrecord("init", "--yes").out
    assert (clone / ".gitignore").read_text() == ".claude/memory/\n"


def test_lines_that_would_not_help_are_not_left_behind(clone, onrecord):
    (clone / ".gitignore").write_text(".claude/\n")
    (clone / ".claude").mkdir()
    (clone / ".claude/.gitignore").write_text("*\n")

    refused = onrecord("init", "--yes")

    assert refused.code == 1 and "git would ignore .claude/memory/ by .claude/.gitignore, line 1" in refused.err
    assert (clone / ".gitignore").read_text() == ".claude/\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
@pytest.mark.parametrize(("key", "text"), [("y", ".claude/*\n!.claude/memory/\n"), ("n", ".claude/\n")])
def test_a_person_is_asked_before_gitignore_is_changed(clone, key, text):
    (clone / ".gitignore").write_text(".claude/\n")

    with TerminalSession("init", cwd=clone) as session:
        session.expect("Replace line 1 of .gitignore with `.claude/*` and `!.claude/memory/`? [y/N]")
        session.press(key)
        assert session.end() == 0

    assert (clone / ".gitignore").read_text() == text


def findings(onrecord):
    return json.loads(onrecord("doctor", "--json").out)["findings"]


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
    [
        (["--user"], "--here makes a memory in a folder"),
        (["--project", "nowhere"], "--project must be a folder, not nowhere"),
    ],
)
def test_a_memory_of_its_own_needs_a_folder_of_a_project(clone, onrecord, words, fault):
    outcome = onrecord("init", "--here", *words)

    assert outcome.code
    assert fault in outcome.err


def test_the_home_folder_gets_no_memory_of_its_own(onrecord, home):
    outcome = onrecord("init", "--here", "--project", str(home))

    assert outcome.code
    assert "fix: onrecord init --user" in outcome.err


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (("--remote", "platform"), "a replica is made by `onrecord remote add`", "leave out --remote"),
        (("--merge-driver", "--user"), "--merge-driver belongs to a project's clone", "leave out --user"),
        (("--here", "--user"), "--here makes a memory in a folder of a project", "leave out --user"),
        (("--here", "--project", "~"), "the home folder has your own memory", "onrecord init --user"),
    ],
)
def test_what_has_no_memory_to_make_is_refused(project, onrecord, home, words, message, fix):
    error = json.loads(onrecord("init", *(str(home) if word == "~" else word for word in words), "--json").out)["error"]

    assert (error["code"], error["message"], error["fix"]) == ("BAD_INPUT", message, fix)
    assert not (project / ".claude").exists() and not (home / ".claude" / "memory").exists()


def test_all_that_was_made_is_there_for_programs(clone, onrecord):
    first = json.loads(onrecord("init", "--json").out)
    (clone / ".claude/memory/index.md").unlink()
    second = json.loads(onrecord("init", "--json").out)
    onrecord("init", "--merge-driver")
    third = json.loads(onrecord("init", "--json").out)

    store, note = str(clone / ".claude/memory"), "records can merge field by field: onrecord init --merge-driver"
    written = [".gitignore", ".gitattributes", "index.md"]
    assert first == {"store": store, "created": True, "written": written, "notes": [note]}
    assert second == {"store": store, "created": False, "written": ["index.md"], "notes": [note]}
    assert third == {"store": store, "created": False, "written": [], "notes": []}


def test_the_users_own_memory_needs_no_notes_on_git(clone, onrecord, home):
    made = json.loads(onrecord("init", "--user", "--json").out)

    assert (made["store"], made["notes"]) == (str(home / ".claude/memory"), [])
