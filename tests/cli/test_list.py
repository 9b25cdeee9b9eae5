from __future__ import annotations

import argparse
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import timestamps
from onrecord.cli import list_
from onrecord.cli.output import Screen
from tests.git_project import GitProject

from .conftest import DECISION


@pytest.fixture
def four(onrecord, monkeypatch):
    for day, title, tag in ((1, "One", "a"), (2, "Two", "b"), (3, "Three", "a"), (4, "Four", "a")):
        monkeypatch.setattr(timestamps, "now", lambda day=day: f"2026-03-{day:02}T00:00:00Z")
        onrecord("save", "decision", title, f"--tag={tag}", "--tag=all", *DECISION)
    onrecord("retire", "one", "--reason=r")
    onrecord("supersede", "two", "three")


@pytest.mark.parametrize(
    ("flags", "ids"),
    [
        ([], ["four", "three"]),
        (["--status=all"], ["four", "one", "three", "two"]),
        (["--status=retired"], ["one"]),
        (["--status=superseded"], ["two"]),
        (["--status=all", "--tag=a", "--tag=ALL"], ["four", "one", "three"]),
        (["--limit=1"], ["four"]),
        (["--limit=0"], []),
        (["--category=runbooks"], []),
        (["--since=2026-03-04"], ["four", "three"]),
        (["--since=2026-03-05"], []),
        (["--since=1d"], ["four", "three"]),
        (["--since=1w", "--status=all"], ["four", "one", "three", "two"]),
        (["--since=99999999y"], ["four", "three"]),
        (["--status=all", "--sort=title"], ["four", "one", "three", "two"]),
        (["--status=all", "--sort=created"], ["four", "three", "two", "one"]),
        (["--status=all", "--sort=id", "--limit=2"], ["four", "one"]),
        (["--by=tag"], ["four", "three", "four", "three"]),
    ],
)
def test_filters(onrecord, four, flags, ids):
    assert [record["id"] for record in json.loads(onrecord("list", "--json", *flags).out)["records"]] == ids


def test_the_total_is_told_though_a_limit_hides_some(onrecord, four):
    assert json.loads(onrecord("list", "--limit=1", "--json").out)["total"] == 2


@pytest.mark.parametrize("when", ["yesterday", "2026-13-01", "d", "-1d", "w", "3x"])
def test_a_bad_since_is_explained(onrecord, four, when):
    assert onrecord("list", f"--since={when}").err.startswith("onrecord list: --since must be a day")


def test_an_unreadable_file_hides_no_other_and_is_mentioned(project, onrecord, four):
    (project / ".claude/memory/decisions/bad.json").write_text("{")

    outcome = onrecord("list")

    assert outcome.out.splitlines()[0].startswith("four\t")
    assert outcome.err == "warning: 1 file cannot be read; to see why: onrecord doctor\n"
    assert json.loads(onrecord("list", "--json").out)["unreadable"] == ["decisions/bad.json"]


@pytest.mark.parametrize("content", [None, "", "<<<<<<< ours", "- [X] stray -> x #tags:\n"])
def test_list_writes_nothing_even_where_index_md_disagrees(project, onrecord, four, content):
    path = project / ".claude/memory/index.md"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    before = {file: file.stat().st_mtime_ns for file in sorted(project.rglob("*"))}

    assert onrecord("list").out.startswith("four\t")
    assert {file: file.stat().st_mtime_ns for file in sorted(project.rglob("*"))} == before


def test_an_index_md_that_disagrees_is_reported_and_repaired_on_request(project, onrecord, four):
    path = project / ".claude/memory/index.md"
    right = path.read_text()
    for wrong in ("", "<<<<<<< ours", right + "- [X] stray -> x #tags:\n"):
        path.write_text(wrong)
        assert "index.md disagrees with the records" in onrecord("doctor").out
        onrecord("doctor", "--fix")
        assert path.read_text() == right


@pytest.fixture
def terminal(onrecord, monkeypatch):
    """Commands as they look on a terminal of 80 columns."""
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(80, is_terminal=True)))
    return onrecord


@pytest.fixture
def shelf(project, onrecord, monkeypatch):
    (project / "jobs.py").write_text("")
    records = (
        ("2025-02-01", "decision", "Use Postgres 16", ("--tag=db", *DECISION)),
        (
            "2026-02-05",
            "decision",
            "Use Postgres for the queue of jobs and for nothing else that is not asked",
            ("--tag=use", *DECISION),
        ),
        ("2026-03-01", "decision", "データベースを使う 🎉", ("--tag=db", "--tag=jobs", "--related=jobs.py", *DECISION)),
        ("2026-03-02", "preference", "Tabs", ("--set=topic=t", "--set=value=v", "--set=reason=r")),
    )
    for day, category, title, flags in records:
        monkeypatch.setattr(timestamps, "now", lambda day=day: f"{day}T08:30:00Z")
        assert onrecord("save", category, title, "--force", *flags).code == 0
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")


def test_a_list_on_a_terminal(terminal, shelf):
    outcome = terminal("list")

    assert outcome.out == (
        "   title                                   category    age      id\n"
        "1  Tabs                                    preference  1 hour   tabs\n"
        "2  データベースを使う 🎉                   decision    1 day    detabesuwo\n"
        "3  Use Postgres for the queue of jobs an…  decision    3 weeks  use-postgres-for\n"
        "4  Use Postgres 16                         decision    1 year   use-postgres-16\n"
        "4 records\n"
    )
    for line in outcome.out.splitlines()[1:-1]:
        assert terminal("show", line.split()[-1]).code == 0


def test_groups_on_a_terminal(terminal, shelf):
    assert terminal("list", "--by=tag", "--sort=title", "--limit=3").out == (
        "   title                                   category    age      id\n"
        "\n"
        "db\n"
        "1  Use Postgres 16                         decision    1 year   use-postgres-16\n"
        "\n"
        "tabs\n"
        "2  Tabs                                    preference  1 hour   tabs\n"
        "\n"
        "use\n"
        "3  Use Postgres for the queue of jobs an…  decision    3 weeks  use-postgres-for\n"
        "3 of 4 records\n"
    )


def test_groups_by_file_and_in_a_pipe(onrecord, shelf):
    outcome = onrecord("list", "--by=file", "--limit=2")

    assert [line.split("\t")[0] for line in outcome.out.splitlines()] == ["jobs.py", "no file"]


def test_what_is_empty_says_so_beside_the_output(onrecord, four, project):
    assert onrecord("list", "--category=runbook")[:2] == (0, "")
    assert onrecord("list", "--category=runbook").err == "no record matches these options\n"
    assert onrecord("list", "--limit=0").err == ""
    assert onrecord("init", "--user").code == 0
    assert onrecord("list", "--user").err == "no records yet; `onrecord save --user` creates one\n"


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("{id}", "two"),
        (r"{title}\t{category}\n{updated}", "Two\tdecision\n2026-03-04T00:00:00Z"),
        ("{{{id}}}", "{two}"),
        (r"\\{id}\q", "\\two\\q"),
        ("{tags}|{files}|{group}|{created}", "all, b|||2026-03-02T00:00:00Z"),
        ("{path} {status}", ".claude/memory/decisions/two.json superseded"),
        ("tsv", "two\tdecision\tsuperseded\t2026-03-04\tTwo"),
    ],
)
def test_forms(onrecord, four, form, line):
    assert onrecord("list", "--status=superseded", f"--format={form}").out == f"{line}\n"


def test_forms_for_programs(onrecord, four):
    lines = onrecord("list", "--format=jsonl").out.splitlines()

    assert [json.loads(line)["id"] for line in lines] == ["four", "three"]
    assert json.loads(onrecord("list", "--format=json").out) == [json.loads(line) for line in lines]


@pytest.mark.parametrize("form", ["{nme}", "{id.__class__}", "{}", "{id", "csv"])
def test_a_bad_form_is_explained(onrecord, four, form):
    refused = onrecord("list", f"--format={form}")

    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "onrecord list: --format must be json, jsonl, tsv or a text with {id}, {title}, {category}, {status}, "
        f"{{updated}}, {{created}}, {{tags}}, {{files}}, {{path}}, {{hidden_by}}, {{group}}, not {form}",
    )


@settings(max_examples=50)
@given(st.text("{}\\idtx ", max_size=12))
def test_any_form_is_filled_or_refused(form):
    values = {"id": "x", "updated": "", "category": "", "status": "", "title": "y"}
    try:
        assert isinstance(list_.template(list_.output_format(form))(values), str)
    except argparse.ArgumentTypeError as error:
        assert str(error).startswith("must be ")


def test_records_without_a_file_come_last_whatever_the_files_are_called(project, onrecord, four):
    (project / "zebra.py").write_text("")
    onrecord("save", "decision", "Five", "--related=zebra.py", "--force", *DECISION)

    groups = [line.split("\t")[0] for line in onrecord("list", "--by=file").out.splitlines()]

    assert groups == ["zebra.py", "no file", "no file"]


def test_a_listing_for_a_program_or_in_another_format_gets_no_numbers(project, onrecord, four, monkeypatch):
    listings = []
    monkeypatch.setattr(list_.record_table, "save_listing", lambda paths: listings.append([one.path for one in paths]))

    onrecord("list", "--json")
    onrecord("list", "--format=tsv")
    onrecord("list")

    assert listings == [["decisions/four.json", "decisions/three.json"]]


def test_a_record_that_does_not_apply_here_says_why(project, onrecord):
    GitProject(project)
    onrecord("save", "decision", "One", "--set=scope.branches=other", *DECISION)

    (record,) = json.loads(onrecord("list", "--json").out)["records"]

    assert (record["out_of_scope"], record["status"], record["hidden_by"]) == ("branch other", "out of scope", "")
    assert onrecord("list", "--format={title}: {status}").out == "One: out of scope\n"
    onrecord("retire", "one", "--reason=r")
    assert onrecord("list", "--status=all", "--format={status}").out == "retired\n"


def test_all_of_a_listing_is_there_for_programs(project, onrecord, four):
    (project / ".claude/memory/decisions/bad.json").write_text("{")
    answer = json.loads(onrecord("list", "--by=tag", "--limit=1", "--json").out)

    four = {
        "id": "four", "category": "decision", "title": "Four", "status": "active", "hidden_by": "", "out_of_scope": "",
        "updated_at": "2026-03-04T00:00:00Z", "created_at": "2026-03-04T00:00:00Z", "tags": ["a", "all"],
        "path": ".claude/memory/decisions/four.json",
    }  # fmt: skip
    assert answer == {
        "records": [{**four, "group": "a"}, {**four, "group": "all"}],
        "total": 2, "unreadable": ["decisions/bad.json"], "waiting": [], "drafts": 0,
    }  # fmt: skip
