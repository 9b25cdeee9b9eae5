"""What `onrecord freshness` and `reanchor` print about each state of a file; tests/freshness finds the states."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from onrecord import timestamps
from onrecord.audit.report import LooseFile, RecordFreshness
from onrecord.cli import freshness, record_table
from onrecord.cli.output import Screen
from onrecord.freshness import check
from onrecord.freshness.check import IndexedAnchor, Verdict
from onrecord.record import memory
from onrecord.store.store import Entry
from tests.git_project import GitProject
from tests.records import raw

from .conftest import DECISION, NOW

TERMINAL, PIPE = Screen(72, is_terminal=True), Screen()
COMMIT = "0123456789abcdef"


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timestamps, "now", lambda: NOW)


def verdict(state: str, path: str = "a.py", now: str = "", symbol: str = "", **fields: object) -> Verdict:
    return Verdict(IndexedAnchor(path, "1", "c", "2026-02-01", symbol, ""), state, now or path, **fields)


def checked(*verdicts: Verdict, loose: tuple[LooseFile, ...] = ()) -> RecordFreshness:
    record = memory.from_json(raw())
    return RecordFreshness(Entry(record, record.path, ""), verdicts, loose)


CHANGED = verdict(check.CHANGED, "b.py", "c.py", commits=2, last=COMMIT, day="2026-02-23")


@pytest.mark.parametrize(
    ("state", "at_terminal", "in_pipe"),
    [
        (verdict(check.FRESH), "", ""),
        (verdict(check.FRESH, now="b.py"), "now b.py", "now b.py"),
        (verdict(check.CHANGED), "changed", "changed"),
        (verdict(check.CHANGED, commits=0), "changed, not committed", "changed, not committed"),
        (verdict(check.CHANGED, commits=1), "1 commit", "1 commit"),
        (CHANGED, "now c.py, 2 commits, last 0123456789 1 week ago",
         "now c.py, 2 commits, last 0123456789 on 2026-02-23"),
        (verdict(check.MISSING, last=COMMIT, day="2026-02-23", reason="deleted"),
         "last 0123456789 1 week ago, deleted", "last 0123456789 on 2026-02-23, deleted"),
    ],
)  # fmt: skip
def test_what_happened_to_a_file_since(state, at_terminal, in_pipe):
    assert freshness._since(state, TERMINAL) == at_terminal
    assert freshness._since(state, PIPE) == in_pipe


@pytest.mark.parametrize(
    ("loose", "why"),
    [
        (LooseFile("a.py", ""), "there is no such file"),
        (LooseFile("a.py", "b.py"), "now b.py"),
        (LooseFile("src/*.py", "src/*.py"), "a pattern"),
        (LooseFile("src", "src"), "its version was not noted: it is a folder, or new"),
    ],
)
def test_why_a_file_is_not_anchored(loose, why):
    assert freshness._why_loose(loose) == why


def test_a_list_for_people_and_for_programs():
    report = checked(CHANGED, verdict(check.FRESH, symbol="login"), loose=(LooseFile("src", "src"),))

    listed = list(freshness._listing(TERMINAL, [report, checked()], ["redis", "other"]))

    assert listed == [
        " 1  Sessions in Redis",
        "    decision · now · redis",
        "    changed: b.py, now c.py, 2 commits, last 0123456789 1 week ago",
        "    fresh: a.py#login",
        "    unanchored: src, its version was not noted: it is a folder, or new",
        " 2  Sessions in Redis",
        "    decision · now · other",
    ]
    states = Counter({"changed": 1_000, "fresh": 1, "missing": 0, "unanchored": 2})
    text = freshness._text(PIPE, "/store", [report], states)
    assert text.split("\n")[0] == (
        "sessions-in-redis\tb.py\tchanged\tnow c.py, 2 commits, last 0123456789 on 2026-02-23"
    )
    assert text.split("\n")[-1] == "1,000 changed, 1 fresh, 2 unanchored"
    assert freshness._text(PIPE, "/store", [], states) == "1,000 changed, 1 fresh, 2 unanchored"
    assert freshness._text(PIPE, "/store", [], Counter()) == "no record names a file"


def test_every_state_has_its_colour():
    coloured = TERMINAL._replace(has_colour=True)
    report = checked(CHANGED, verdict(check.FRESH), verdict(check.MISSING), verdict("unknown"))

    lines = list(freshness._listing(coloured, [report], ["redis"]))[2:]
    counts = freshness._text(coloured, "/store", [], Counter({"changed": 1, "fresh": 1, "missing": 1, "unanchored": 1}))

    assert [line.strip().split("m")[0] for line in lines] == ["\033[33", "\033[32", "\033[31", "\033[2"]
    assert (
        counts
        == "1 \033[33mchanged\033[0m, 1 \033[32mfresh\033[0m, 1 \033[31mmissing\033[0m, 1 \033[2munanchored\033[0m"
    )


def test_a_record_in_json():
    data = freshness._data(checked(CHANGED, verdict(check.FRESH, symbol="login"), loose=(LooseFile("src", "src"),)))

    assert data == {
        "id": "sessions-in-redis",
        "path": "decisions/sessions-in-redis.json",
        "anchors": [
            {
                "path": "b.py",
                "symbol": "",
                "state": "changed",
                "now": "c.py",
                "since": "2026-02-01",
                "commits": 2,
                "last": COMMIT,
                "last_day": "2026-02-23",
                "text": check.sentence(CHANGED),
            },
            {
                "path": "a.py",
                "symbol": "login",
                "state": "fresh",
                "now": "a.py",
                "since": "2026-02-01",
                "commits": None,
                "last": "",
                "last_day": "",
                "text": "`a.py` is fresh",
            },
        ],
        "unanchored": ["src"],
    }


@pytest.mark.parametrize(("commits", "told"), [(-1, None), (0, 0), (1, 1)])
def test_commits_that_are_not_known_are_null(commits, told):
    (anchor,) = freshness._data(checked(verdict(check.CHANGED, commits=commits)))["anchors"]

    assert anchor["commits"] == told


def test_only_a_list_for_people_can_be_named_by_number(sample, onrecord, monkeypatch):
    listings: list[list[str]] = []
    monkeypatch.setattr(record_table, "save_listing", lambda paths: listings.append([row.path for row in paths]))

    onrecord("freshness", "--json")
    assert listings == []
    onrecord("freshness")
    assert listings == [["constraints/60-calls-a-minute.json"]]


def test_a_confirmation_names_moved_files_and_those_that_are_let_go(project, onrecord):
    git = GitProject(project)
    for name in ("a.py", "b.py", "c.py"):
        git.write(name, f"# {name}\n" * 20)
    git.commit("first")
    related = [f"--related={name}" for name in ("a.py", "b.py", "c.py")]
    onrecord("save", "decision", "One", *DECISION, *related)
    onrecord("save", "decision", "Two", *DECISION, "--force", "--related=c.py")
    git.commit("saved")
    git.git("mv", "a.py", "d.py")
    git.git("rm", "-q", "b.py")
    git.commit("moved")

    rehearsed = onrecord("reanchor", "one", "--dry-run").out
    stale = json.loads(onrecord("freshness", "--stale", "--json").out)
    everything = json.loads(onrecord("freshness", "--json").out)
    confirmed = json.loads(onrecord("reanchor", "one", "--json").out)

    assert rehearsed == (
        "would confirm .claude/memory/decisions/one.json\n"
        "  anchored to 2 files\n"
        "  a.py is now d.py\n"
        "  b.py does not exist and is no longer watched\n"
    )
    assert [record["id"] for record in stale["records"]] == ["one"]
    assert [record["id"] for record in everything["records"]] == ["one", "two"]
    assert stale["files"] == {"fresh": 3, "missing": 1, "unanchored": 0}
    (record,) = confirmed["records"]
    assert confirmed["dry_run"] is False
    assert (record["anchored"], record["moved"], record["let_go"]) == (["c.py", "d.py"], {"a.py": "d.py"}, ["b.py"])


@pytest.mark.parametrize("command", ["freshness", "reanchor"])
def test_a_store_without_a_project_has_no_files(onrecord, command):
    onrecord("save", "decision", "One", *DECISION, "--user")

    refused = onrecord(command, "one", "--user")

    assert refused.err.split("\ndocs:")[0] == (
        "BAD_INPUT: this store does not belong to a project with files\nfix: leave out --user"
    )
