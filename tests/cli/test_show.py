"""`onrecord show`: names of the map, several at once, in whatever store they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord.cli.output import Screen
from tests.git_project import GitProject

from .conftest import DECISION


@pytest.fixture
def saved(onrecord):
    for title in ("Use uv for Python", "Use uv to lock versions", "Jobs are rows of a table"):
        assert onrecord("save", "decision", title, *DECISION, "--force").code == 0
    assert onrecord("save", "decision", "Answer mail within a day", *DECISION, "--user", "--force").code == 0


def shown(onrecord, *names):
    return json.loads(onrecord("show", *names, "--json").out)


def test_every_name_of_the_map_is_one_that_show_takes(onrecord, saved):
    names = [entry["name"] for entry in json.loads(onrecord("digest", "--json").out)["entries"]]

    assert sorted(names) == ["answer-mail", "jobs-are", "use-uv-for", "use-uv-to"]
    titles = {record["title"] for record in shown(onrecord, *names)["records"]}
    assert titles == {
        "Use uv for Python",
        "Use uv to lock versions",
        "Jobs are rows of a table",
        "Answer mail within a day",
    }


def test_one_name_gives_one_object(onrecord, saved):
    assert shown(onrecord, "jobs-are")["id"] == "jobs-are-rows-of-a-table"


def test_several_are_printed_one_after_the_other(onrecord, saved):
    out = onrecord("show", "jobs-are", "answer-mail").out

    assert out.index("Jobs are rows of a table") < out.index("Answer mail within a day")


def test_an_ambiguous_name_lists_what_it_may_mean(onrecord, saved):
    outcome = onrecord("show", "use-uv")

    assert outcome.code == 1 and outcome.out == ""
    assert "AMBIGUOUS: 'use-uv' matches 2 records: use-uv-for-python, use-uv-to-lock-versions" in outcome.err


def test_of_wrong_names_alone_the_first_is_told(onrecord, saved):
    assert onrecord("show", "nothing-like-it", "neither").err.startswith("NOT_FOUND: no record 'nothing-like-it' in ")


def test_a_name_with_a_colon_is_taken_whole_where_the_store_is_named(onrecord, saved):
    assert onrecord("remote", "add", "platform", "/srv/memory.git", "--offline").code == 0

    for flags in (("--user",), ("--remote", "platform")):
        assert "no record 'platform:answer-mail'" in onrecord("show", "platform:answer-mail", *flags).err
    assert "no record 'answer-mail'" in onrecord("show", "platform:answer-mail").err


def test_a_wrong_name_among_others_costs_only_itself(onrecord, saved):
    outcome = onrecord("show", "jobs-are", "nothing-like-it")

    assert outcome.code == 1 and "Jobs are rows of a table" in outcome.out
    assert "no record 'nothing-like-it'" in outcome.err


def test_an_entry_of_a_knowledge_bank_is_shown_by_its_name(onrecord, saved):
    folder = Path("docs", "knowledge-bank")
    folder.mkdir(parents=True)
    text = "### Rename at the end\nWrite aside, then rename.\n- Observation count: 4\n"
    (folder / "patterns.md").write_text(text)
    names = [entry["name"] for entry in json.loads(onrecord("digest", "--json").out)["entries"]]

    assert "rename-at" in names
    lesson = shown(onrecord, "rename-at")
    assert (lesson["text"], lesson["observations"]) == ("Write aside, then rename.", 4)
    assert "Write aside, then rename." in onrecord("show", "rename-at").out


def test_banks_alone_are_enough(onrecord, monkeypatch, tmp_path):
    """S4: a project without any store."""
    folder = tmp_path / "bare" / "docs" / "knowledge-bank"
    folder.mkdir(parents=True)
    (folder / "patterns.md").write_text("### Rename at the end\nWrite aside, then rename.\n")
    monkeypatch.chdir(tmp_path / "bare")

    assert "- rename-at: " in onrecord("digest").out
    assert "Write aside" in onrecord("show", "rename-at").out
    assert onrecord("show", "another").code == 1


def test_a_field_without_a_value_has_no_heading(onrecord):
    summary = ("--set=goal=Move the jobs", "--set=outcome=partial", "--set=completed=The table")
    onrecord("save", "session_summary", "Jobs were moved", *summary, "--set=next_actions=Measure")
    (path,) = (paths for paths in Path(".claude/memory/sessions").iterdir())
    record = json.loads(path.read_text(encoding="utf-8"))
    record["content"].update(next_actions=[], blockers=[])
    path.write_text(json.dumps(record), encoding="utf-8")

    lines = onrecord("show", "jobs-were").out.splitlines()

    assert "completed" in lines and not {"next_actions", "blockers"} & set(lines)


NESTED = (
    "save", "decision", "Use uv for all", "--set=context=c", "--set=decision=d", "--set=rationale=r", "--force",
    '--set=alternatives=[{"option": "pip", "rejected_reason": "slow"}, {"option": "poetry", "rejected_reason": "big"}]',
    "--set=scope.paths=src/**", "--set=scope.branches=main", "--set=scope.languages=python", "--set=confidence=0.75",
    "--set=scope.repositories=github.com/acme/*", "--set=source=s 1", "--supersedes=use-pip", "--trigger=add a package",
    "--trigger=install it",
)  # fmt: skip


def test_every_field_of_a_record_has_its_line(sample, onrecord, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")
    assert onrecord(*NESTED).code == 0

    assert onrecord("show", "use-uv-for-all").out.split("hash: ")[0] == (
        "Use uv for all\n"
        "decision · does not apply here: repository github.com/acme/* · updated 2026-03-02\n\n"
        "status: accepted\ndecision: d\ncontext: c\nrationale\n  - r\n"
        "alternatives\n  - option: pip — rejected_reason: slow\n  - option: poetry — rejected_reason: big\n\n"
        "tags: all, uv\n"
        "triggers: add a package; install it\n"
        "applies to: src/**, main, github.com/acme/*, python\n"
        "supersedes: use-pip\nconfidence: 0.75\nfrom: agent (claude-code), s 1\nchanged: 1 time\n"
        "path: .claude/memory/decisions/use-uv-for-all.json\n"
    )


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("use-travis", "decision · retired (gone) · updated 2026-03-02"),
        ("use-subversion", "decision · archived (long ago) · updated 2026-03-02"),
        ("use-uv", "decision · active · updated 2026-03-02"),
    ],
)
def test_the_status_is_said_with_its_reason(sample, onrecord, name, facts):
    assert onrecord("show", name).out.splitlines()[1] == facts


def test_several_of_which_some_are_not_there_for_programs(sample, onrecord):
    answer = onrecord("show", "use-uv", "use-pip", "use-uv", "nothing-like", "neither", "--json")
    for_people = onrecord("show", "use-uv", "nothing-like", "neither")

    store = f"in {sample}/.claude/memory"
    failures = [f"NOT_FOUND: no record '{name}' {store}" for name in ("nothing-like", "neither")]
    data = json.loads(answer.out)
    assert (answer.code, [record["id"] for record in data["records"]]) == (1, ["use-uv", "use-pip"])
    assert data["failures"] == failures
    assert for_people.err == (
        f"warning: no record 'nothing-like' {store}; fix: onrecord search 'nothing like'; "
        f"no record 'neither' {store}; fix: onrecord search neither\n"
    )
    both = [onrecord("show", name).out for name in ("use-uv", "use-pip")]
    assert onrecord("show", "use-uv", "use-pip").out == "\n".join(both)


def test_the_fix_for_one_of_several_names_the_project(sample, onrecord):
    answer = onrecord("show", "use-uv", "neither", "--project", str(sample))

    assert answer.err.endswith(f"; fix: onrecord search neither --project {sample}\n")


@pytest.mark.parametrize(("length", "is_beside"), [(59, True), (60, False)])
def test_a_text_stands_beside_its_label_if_it_leaves_twenty_columns(project, onrecord, monkeypatch, length, is_beside):
    text = "x" * (length - 5) + " yyyy"
    onrecord("save", "decision", "Rule", "--set=context=c", f"--set=decision={text}", "--set=rationale=r")
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(80, is_terminal=True)))

    expected = f"decision: {text}\n" if is_beside else f"decision\n  {text}\n"
    assert expected in onrecord("show", "rule").out


def test_a_lesson_is_shown_with_what_is_known_of_it(project, onrecord, monkeypatch):
    folder = Path("docs", "knowledge-bank")
    folder.mkdir(parents=True)
    long = "Write the whole file aside, sync it to the disk, and only then rename it over the old one."
    (folder / "patterns.md").write_text(f"### Rename at the end\n{long}\n- Observation count: 4\n")
    lesson = shown(onrecord, "rename-at")

    assert lesson == {
        "name": "rename-at-the-end", "category": "pattern", "title": "Rename at the end",
        "path": "docs/knowledge-bank/patterns.md", "text": long, "observations": 4, "confidence": lesson["confidence"],
    }  # fmt: skip
    head = f"pattern · observed 4 times · confidence {lesson['confidence']:g} of 3"
    assert onrecord("show", "rename-at").out == (
        f"Rename at the end\n{head}\n\n  {long}\n\npath: docs/knowledge-bank/patterns.md\n"
    )
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(60, True, True)))
    assert onrecord("show", "rename-at").out == (
        f"\x1b[1mRename at the end\x1b[0m\n\x1b[2m{head}\x1b[0m\n\n"
        "  Write the whole file aside, sync it to the disk, and only\n  then rename it over the old one.\n\n"
        "\x1b[2mpath\x1b[0m: docs/knowledge-bank/patterns.md\n"
    )


def test_a_record_says_who_committed_it(sample, onrecord):
    project = GitProject(sample)
    project.commit("Decide on uv")

    commit = shown(onrecord, "use-uv")["commit"]

    assert commit["subject"] == "Decide on uv"
    assert f"\nin git: commit {commit['commit'][:8]}" in onrecord("show", "use-uv").out


def test_a_record_is_outdated_by_its_own_word_and_not_replaced_by_a_claim_of_its_own(sample, onrecord):
    words = ("--set=context=c", "--set=decision=Left.", "--set=rationale=r", "--force")
    onrecord("save", "decision", "Use left", "--set=status=deprecated", *words)
    onrecord("save", "decision", "Use right", "--set=scope.branches=other", *words)
    path = sample / ".claude/memory/decisions/use-pip.json"
    path.write_text(path.read_text().replace('"record_status"', '"superseded_by": "use-uv", "record_status"'))

    def facts(name):
        return onrecord("show", name).out.splitlines()[1].split(" · ")[1]

    assert [facts(name) for name in ("use-left", "use-right", "use-pip")] == [
        "outdated", "does not apply here: branch other", "active",
    ]  # fmt: skip
    (note,) = shown(onrecord, "use-pip")["one_sided_links"]
    assert f"\nnot obeyed: {note}\n" in onrecord("show", "use-pip").out
    onrecord("supersede", "use-right", "use-left")
    assert facts("use-right") == "superseded by use-left"


def test_a_record_that_was_retired_after_it_was_superseded_looked_superseded_for_that_reason(sample, onrecord):
    onrecord("supersede", "use-pip", "use-uv")
    onrecord("retire", "use-pip", "--reason", "pip is gone")

    out = onrecord("show", "use-pip").out

    assert out.splitlines()[1].split(" · ")[1] == "retired (pip is gone)"
    assert out.endswith("\nsuperseded by: use-uv\n")
