"""Branches of real git repositories that touch one record."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from .conftest import DECISION

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

RECORD = ".claude/memory/decisions/jobs-are-rows.json"


def git(project, *words, code=0):
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main")
    result = subprocess.run(("git", *identity, *words), cwd=project, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture
def clone(project, onrecord):
    git(project, "init", "-q")
    onrecord("save", "decision", "Jobs are rows", "--tag=queue", *DECISION)
    assert onrecord("init", "--merge-driver").code == 0
    git(project, "add", ".")
    git(project, "commit", "-qm", "base")
    git(project, "branch", "theirs")
    return project


@pytest.fixture
def change(onrecord, clone, monkeypatch):
    from onrecord import timestamps

    moments = iter(f"2026-04-{day:02}T00:00:00Z" for day in range(1, 29))

    def update(*flags, name="jobs-are-rows"):
        now = next(moments)
        monkeypatch.setattr(timestamps, "now", lambda: now)
        answer = json.loads(onrecord("show", name, "--json").out)
        assert onrecord("update", name, "--hash", answer["hash"], *flags).code == 0
        git(clone, "add", ".")
        git(clone, "commit", "-qm", "change")

    return update


def test_two_branches_that_touch_different_fields_merge_cleanly(clone, onrecord, change):
    change("--set=decision=8 at a time", "--tag=ours")
    git(clone, "checkout", "-q", "theirs")
    change("--set=context=Restarts are common.", "--tag=theirs", "--related=jobs.py", "--force")
    git(clone, "checkout", "-q", "main")

    git(clone, "merge", "-q", "theirs", "-m", "merge")

    record = json.loads((clone / RECORD).read_text())
    assert (record["content"]["decision"], record["content"]["context"]) == ("8 at a time", "Restarts are common.")
    assert (record["tags"], record["related_files"]) == (["ours", "queue", "theirs"], ["jobs.py"])
    assert (record["times_updated"], record["updated_at"]) == (2, "2026-04-02T00:00:00Z")
    assert [change["summary"] for change in record["changes"]] == [
        "Created", "Changed tags", "Changed content.decision", "Changed tags", "Added related_files",
        "Changed content.context",
    ]  # fmt: skip
    assert onrecord("doctor").code == 0


def test_without_the_driver_the_same_branches_conflict(clone, change):
    """Changes of adjacent lines, which the driver merges."""
    change("--set=decision=8 at a time")
    git(clone, "checkout", "-q", "theirs")
    change("--set=context=Restarts are common.")
    git(clone, "checkout", "-q", "main")
    git(clone, "config", "--remove-section", "merge.onrecord")

    git(clone, "merge", "-q", "theirs", "-m", "merge", code=1)


def test_the_same_field_changed_differently_leaves_both_versions_visible(clone, onrecord, change):
    change("--set=decision=8 at a time")
    git(clone, "checkout", "-q", "theirs")
    change("--set=decision=2 at a time", "--tag=theirs")
    git(clone, "checkout", "-q", "main")

    printed = git(clone, "merge", "theirs", "-m", "merge", code=1)

    text = (clone / RECORD).read_text()
    assert "CONFLICT" in printed and "both sides changed content.decision" in printed
    assert text.count("<<<<<<< ours\n") == 1
    assert '<<<<<<< ours\n    "decision": "8 at a time",\n=======\n    "decision": "2 at a time",\n>>>>>>>' in text
    assert "delete its markers, then git add it" in onrecord("doctor").out


def test_a_retirement_there_and_an_edit_here_merge(clone, onrecord, change):
    change("--set=decision=8 at a time")
    git(clone, "checkout", "-q", "theirs")
    onrecord("retire", "jobs-are-rows", "--reason=gone")
    git(clone, "commit", "-qam", "retire")
    git(clone, "checkout", "-q", "main")

    git(clone, "merge", "-q", "theirs", "-m", "merge")

    record = json.loads((clone / RECORD).read_text())
    assert (record["record_status"], record["content"]["decision"]) == ("retired", "8 at a time")


def test_a_rename_there_and_an_edit_here_merge(clone, onrecord, change):
    change("--set=decision=8 at a time")
    git(clone, "checkout", "-q", "theirs")
    change("--set=title=Work is rows")
    git(clone, "checkout", "-q", "main")

    git(clone, "merge", "-q", "theirs", "-m", "merge")

    record = json.loads(onrecord("show", "work-is-rows", "--json").out)["record"]
    assert record["content"]["decision"] == "8 at a time"
    assert not (clone / RECORD).exists()


def test_the_catalog_never_conflicts_and_is_made_right_again(clone, onrecord):
    for branch, titles in (("theirs", ("Bravo", "Delta")), ("main", ("Alpha", "Charlie"))):
        git(clone, "checkout", "-q", branch)
        for title in titles:
            onrecord("save", "decision", title, *DECISION)
        onrecord("retire", "jobs-are-rows", "--reason=gone") if branch == "main" else None
        git(clone, "add", ".")
        git(clone, "commit", "-qm", branch)

    git(clone, "merge", "-q", "theirs", "-m", "merge")

    assert "<<<<" not in (clone / ".claude/memory/index.md").read_text()
    onrecord("doctor", "--fix")
    assert onrecord("index", "check").code == 0


def test_both_branches_change_a_file_and_the_record_about_it(clone, onrecord, change):
    """Both anchors were once merged into one whose blob was a list, and nothing could read the record any more."""
    for branch in ("theirs", "main"):
        git(clone, "checkout", "-q", branch)
        (clone / "auth.py").write_text(f"branch = {branch!r}\n")
        change("--related=auth.py", f"--tag={branch}")
    git(clone, "checkout", "-q", "theirs")
    git(clone, "merge", "-q", "-X", "ours", "main", "-m", "merge")

    record = json.loads(onrecord("show", "jobs-are-rows", "--json").out)["record"]
    assert [anchor["path"] for anchor in record["anchors"]] == ["auth.py"]
    assert record["tags"] == ["main", "queue", "theirs"]
    assert onrecord("doctor").code == 0


def test_opposite_supersessions_are_a_conflict_and_not_a_circle(clone, onrecord):
    assert onrecord("save", "decision", "Jobs are messages", "--force", *DECISION).code == 0
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "second")
    git(clone, "branch", "-f", "theirs")
    for branch, pair in (
        ("theirs", ("jobs-are-rows", "jobs-are-messages")),
        ("main", ("jobs-are-messages", "jobs-are-rows")),
    ):
        git(clone, "checkout", "-q", branch)
        onrecord("supersede", *pair)
        git(clone, "commit", "-qam", branch)

    output = git(clone, "merge", "theirs", "-m", "merge", code=1)

    assert output.count("CONFLICT") == 2


def test_lines_that_git_merges_into_something_unreadable_are_a_conflict(clone, change):
    path = clone / RECORD
    git(clone, "checkout", "-q", "theirs")
    path.write_text(path.read_text().rstrip("}\n") + "\n")
    git(clone, "commit", "-qam", "broken")
    git(clone, "checkout", "-q", "main")
    path.write_text(path.read_text().replace("Jobs are rows", "Work is rows"))
    git(clone, "commit", "-qam", "ours")

    git(clone, "merge", "theirs", "-m", "merge", code=1)

    assert "Work is rows" in path.read_text()


def test_what_is_not_json_is_merged_line_by_line(clone, change):
    path = clone / RECORD
    for branch, text in (("theirs", "theirs\n"), ("main", "ours\n")):
        git(clone, "checkout", "-q", branch)
        path.write_text(text)
        git(clone, "commit", "-qam", branch)

    git(clone, "merge", "theirs", "-m", "merge", code=1)

    assert path.read_text().startswith("<<<<<<< ours\nours\n=======\n")


def test_a_clean_merge_says_nothing(onrecord, clone, tmp_path):
    for name in ("base", "ours", "theirs"):
        (tmp_path / name).write_text('{"title": "x"}')

    assert onrecord("merge-driver", *(str(tmp_path / name) for name in ("base", "ours", "theirs"))) == (0, "", "")


def test_files_that_are_not_there_are_reported(onrecord, clone):
    outcome = onrecord("merge-driver", "nowhere", "nowhere", "nowhere")

    assert (outcome.code, outcome.err.split(":")[0]) == (1, "BAD_INPUT")


@pytest.fixture
def versions(onrecord, project, monkeypatch):
    """Return a function that writes three versions of a record and returns their names; None is a plain text."""
    onrecord("save", "decision", "Jobs are rows", *DECISION)
    text = (project / RECORD).read_text()

    def write(**decisions):
        for name in ("base", "ours", "theirs"):
            decision = decisions.get(name, "")
            changed = f"{name}\n" if decision is None else text.replace("4 at a time", decision or "4 at a time")
            (project / f"{name}.json").write_text(changed)
        return "base.json", "ours.json", "theirs.json"

    return write


@pytest.mark.parametrize(
    ("more", "name", "markers"),
    [((), "ours.json", 7), (("9",), "ours.json", 9), (("7", "decisions/jobs.json"), "decisions/jobs.json", 7)],
)
def test_a_field_that_both_sides_changed_is_named_and_marked(onrecord, project, versions, more, name, markers):
    words = ("merge-driver", *versions(ours="8 at a time", theirs="2 at a time"), *more)

    outcome = onrecord(*words)

    assert (outcome.code, outcome.out) == (1, f"{name}: both sides changed content.decision\n")
    assert f"\n{'<' * markers} ours\n" in (project / "ours.json").read_text()
    versions(ours="8 at a time", theirs="2 at a time")
    assert json.loads(onrecord(*words, "--json").out) == {"path": name, "clashes": ["content.decision"]}


def test_what_is_no_record_is_merged_by_lines_and_the_reason_told(onrecord, project, versions):
    words = ("merge-driver", *versions(base=None, ours=None, theirs=None), "9", "a/b.json")

    outcome = onrecord(*words)

    assert outcome.code == 1
    assert outcome.out.startswith("a/b.json: merged line by line (") and outcome.out.count("\n") == 1
    assert (project / "ours.json").read_text().startswith(f"{'<' * 9} ours\nours\n")
    versions(base=None, ours=None, theirs=None)
    assert json.loads(onrecord(*words, "--json").out) == {"path": "a/b.json", "clashes": ["(whole file)"]}


def test_lines_that_merge_into_json_are_settled(onrecord, project):
    lines = ["[", *(f"{number}," for number in range(20)), "99]"]
    for name, changed in (("base", {}), ("ours", {2: "200,"}), ("theirs", {18: "1800,"})):
        text = "\n".join(changed.get(number, line) for number, line in enumerate(lines)) + "\n"
        (project / f"{name}.json").write_text(text)

    outcome = onrecord("merge-driver", "base.json", "ours.json", "theirs.json", "--json")

    assert (outcome.code, json.loads(outcome.out)) == (0, {"path": "ours.json", "clashes": []})
    merged = json.loads((project / "ours.json").read_text())
    assert (merged[1], merged[17]) == (200, 1800)


def test_a_file_that_git_cannot_merge_is_left_to_a_person(onrecord, project):
    for name in ("base", "ours", "theirs"):
        (project / f"{name}.json").write_bytes(f"\0{name}".encode())

    error = json.loads(onrecord("merge-driver", "base.json", "ours.json", "theirs.json", "--json").out)["error"]

    assert error["message"].startswith("ours.json cannot be merged: ")
    assert (error["code"], error["fix"]) == ("BAD_INPUT", "merge ours.json by hand")
    assert (project / "ours.json").read_bytes() == b"\0ours"
