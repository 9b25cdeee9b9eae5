from __future__ import annotations

import json

import pytest

from recollect import timestamps

from .conftest import DECISION


@pytest.fixture
def four(recollect, monkeypatch):
    for day, title, tag in ((1, "One", "a"), (2, "Two", "b"), (3, "Three", "a"), (4, "Four", "a")):
        monkeypatch.setattr(timestamps, "now", lambda day=day: f"2026-03-{day:02}T00:00:00Z")
        recollect("save", "decision", title, f"--tag={tag}", "--tag=all", *DECISION)
    recollect("retire", "one", "--reason=r")
    recollect("supersede", "two", "three")


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
    ],
)
def test_filters(recollect, four, flags, ids):
    assert [record["id"] for record in json.loads(recollect("list", "--json", *flags).out)["records"]] == ids


def test_the_total_is_told_though_a_limit_hides_some(recollect, four):
    assert json.loads(recollect("list", "--limit=1", "--json").out)["total"] == 2


@pytest.mark.parametrize("when", ["yesterday", "2026-13-01", "d", "-1d"])
def test_a_bad_since_is_explained(recollect, four, when):
    assert recollect("list", f"--since={when}").err.startswith("BAD_INPUT: --since")


def test_an_unreadable_file_hides_no_other_and_is_mentioned(project, recollect, four):
    (project / ".claude/memory/decisions/bad.json").write_text("{")

    outcome = recollect("list")

    assert outcome.out.splitlines()[0].startswith("four\t")
    assert outcome.err == "warning: 1 file cannot be read; to see why: recollect doctor\n"
    assert json.loads(recollect("list", "--json").out)["unreadable"] == ["decisions/bad.json"]


@pytest.mark.parametrize("content", [None, "", "<<<<<<< ours", "- [X] stray -> x #tags:\n"])
def test_list_writes_nothing_even_where_index_md_disagrees(project, recollect, four, content):
    path = project / ".claude/memory/index.md"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    before = {file: file.stat().st_mtime_ns for file in sorted(project.rglob("*"))}

    assert recollect("list").out.startswith("four\t")
    assert {file: file.stat().st_mtime_ns for file in sorted(project.rglob("*"))} == before


def test_an_index_md_that_disagrees_is_reported_and_repaired_on_request(project, recollect, four):
    path = project / ".claude/memory/index.md"
    right = path.read_text()
    for wrong in ("", "<<<<<<< ours", right + "- [X] stray -> x #tags:\n"):
        path.write_text(wrong)
        assert "index.md disagrees with the records" in recollect("doctor").out
        recollect("doctor", "--fix")
        assert path.read_text() == right
