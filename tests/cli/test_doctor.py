"""What `onrecord doctor` prints of its findings, and which stores it looks at; tests/doctor has the checks."""

from __future__ import annotations

import json

import pytest

from onrecord.cli import doctor
from onrecord.cli.output import Screen
from onrecord.doctor import Finding, machine
from onrecord.doctor.machine import OwnFiles
from onrecord.git import git_files
from tests.git_project import GitProject

from .conftest import DECISION


def findings(outcome) -> list[tuple[str, str, str, str]]:
    return [tuple(finding.values()) for finding in json.loads(outcome.out)["findings"]]


def test_findings_and_repairs_on_a_page():
    page = [
        Finding("ok", "a", "it is good"),
        Finding("error", "b", "it is broken", "repair it"),
        Finding("error", "b", "that, too"),
        Finding("warning", "c", "it may break", "onrecord gc"),
        Finding("note", "d", "good to know"),
    ]

    text = doctor._text(Screen(80, has_colour=True), page, ["a link"])

    assert text.split("\n") == [
        "\033[32mrepaired\033[0m: a link",
        "\033[32mok\033[0m: it is good",
        "\033[31merror\033[0m: it is broken",
        "  fix: repair it",
        "\033[31merror\033[0m: that, too",
        "\033[33mwarning\033[0m: it may break",
        "  fix: onrecord gc",
        "\033[36mnote\033[0m: good to know",
        "2 errors, 1 warning",
    ]
    assert doctor._text(Screen(), page[3:4], []).split("\n")[-1] == "1 warning"
    assert doctor._text(Screen(), page[4:], []).split("\n")[-1] == "nothing is wrong"


def test_what_is_stored_is_listed_with_its_lifetime(project, onrecord, monkeypatch):
    day = "2026-02-01T10:00:00Z"
    own = [OwnFiles("/cache", "indexes", 2_048, 3, day, 30), OwnFiles("/state", "counts", 7, 1, day, 0)]
    empty = OwnFiles("/log", "failures", 0, 0, "", 7)
    monkeypatch.setattr(machine, "all_own_files", lambda: [*own, empty])
    onrecord("save", "decision", "One", *DECISION, "--draft")

    text = onrecord("doctor", "--privacy").out.split("\n")
    data = json.loads(onrecord("doctor", "--privacy", "--json").out)["stored"]

    inbox = str(project / ".claude/memory/inbox")
    assert text[:2] == [inbox, "  drafts that wait for review"]
    assert text[2].startswith("  1 file, ") and text[2].endswith("; deleted when you accept or reject them")
    assert text[3:] == [
        "/cache",
        "  indexes",
        "  3 files, 2,048 bytes, oldest of 2026-02-01; deleted 30 days after its last change",
        "/state",
        "  counts",
        "  1 file, 7 bytes, oldest of 2026-02-01; deleted by `onrecord clean`",
        "3 places; all but drafts and replicas: onrecord clean",
        "",
    ]
    assert [(item["path"], item["days"]) for item in data] == [(inbox, 0), ("/cache", 30), ("/state", 0)]


@pytest.mark.parametrize(
    ("driver", "missing", "finding"),
    [
        ("", "", ("note", "git", "the merge driver is not set up", "onrecord init --merge-driver")),
        ("onrecord merge-driver", "", None),
        ("x merge-driver", "x", ("warning", "git", "git merges records with x, which does not exist",
                                 "onrecord init --merge-driver")),
    ],
)  # fmt: skip
def test_the_merge_driver_of_a_clone(project, onrecord, monkeypatch, driver, missing, finding):
    GitProject(project)
    onrecord("save", "decision", "One", *DECISION)
    monkeypatch.setattr(git_files, "merge_driver", lambda root, *name: driver)
    monkeypatch.setattr(git_files, "missing_program", lambda command: missing)

    in_git = [row for row in findings(onrecord("doctor", "--json")) if row[1] == "git"]

    assert in_git == ([finding] if finding else [])
    assert [row for row in findings(onrecord("doctor", "--user", "--json")) if row[1] == "git"] == []


def test_a_store_that_git_ignores_is_a_warning_and_the_driver_is_left_out(project, onrecord):
    git = GitProject(project)
    git.write(".gitignore", ".claude/\n")
    onrecord("save", "decision", "One", *DECISION)

    (row,) = [row for row in findings(onrecord("doctor", "--json")) if row[1] == "git"]

    assert row[0] == "warning" and ".gitignore" in row[2] and row[3]


def test_the_users_store_is_looked_at_if_it_has_records_or_drafts(project, onrecord, home):
    onrecord("save", "decision", "One", *DECISION)
    user = home / ".claude/memory"

    def stores() -> list[str]:
        rows = findings(onrecord("doctor", "--json"))
        return [row[2].rpartition(" in ")[2] for row in rows if "readable record" in row[2]]

    assert stores() == [str(project / ".claude/memory")]
    user.mkdir(parents=True)
    (user / "memory-config.json").write_text("{}")
    assert stores() == [str(project / ".claude/memory")]
    (user / "inbox").mkdir()
    assert stores() == [str(project / ".claude/memory"), str(user)]
    assert [row[2] for row in findings(onrecord("doctor", "--user", "--json"))].count(
        f"0 readable records in {user}"
    ) == 1


def test_the_fixes_of_the_users_store_name_it(project, onrecord, home):
    onrecord("save", "decision", "One", *DECISION)
    onrecord("save", "decision", "Two", *DECISION, "--user")
    for root in (project, home):
        (root / ".claude/memory/index.md").write_text("")

    fixes = [row[3] for row in findings(onrecord("doctor", "--json")) if "index rebuild" in row[3]]

    assert fixes == ["onrecord index rebuild", "onrecord index rebuild --user"]


def test_repairs_are_made_only_if_asked_for(project, onrecord):
    onrecord("save", "decision", "One", *DECISION)
    (project / ".claude/memory/index.md").unlink()

    looked = json.loads(onrecord("doctor", "--json").out)
    fixed = json.loads(onrecord("doctor", "--fix", "--json").out)

    assert looked["repaired"] == []
    assert len(fixed["repaired"]) == 1 and "index.md" in fixed["repaired"][0]
    assert (project / ".claude/memory/index.md").exists()


def test_only_one_category_is_examined(project, onrecord):
    onrecord("save", "decision", "One", *DECISION)
    (project / ".claude/memory/decisions/broken.json").write_text("{")

    whole, other = onrecord("doctor"), onrecord("doctor", "--category", "preference")

    assert (whole.code, other.code) == (1, 0)
    assert "decisions/broken.json" in whole.out and "decisions/broken.json" not in other.out


def test_a_store_that_leads_out_of_the_project_is_an_error_and_the_rest_is_examined(project, onrecord, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / ".claude").mkdir()
    (project / ".claude/memory").symlink_to(tmp_path / "elsewhere")

    outcome = onrecord("doctor", "--json")

    (error,) = [row for row in findings(outcome) if row[0] == "error"]
    assert (outcome.code, error[1]) == (1, "store")
    assert findings(outcome)[0][0] == "ok"
    assert list((tmp_path / "elsewhere").iterdir()) == []
