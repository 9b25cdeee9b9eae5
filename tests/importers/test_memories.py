"""What other tools remember: what says itself what it is becomes a record, the rest is named to an agent.

The readers were tried by hand on files that the tools themselves wrote: claude-mem 13.25.3 (its worker, through its own
import), mem0ai 2.2.1 (`get_all`), basic-memory 0.15.2 (its file writer; its command did not start). The forms here are
written after those. Claude Code's auto memory, Obsidian and Serena are here in their documented form alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from onrecord.errors import BadInput
from onrecord.importers import memories, proposals
from onrecord.importers.sources import Source

NOW = "2026-03-02T09:30:00Z"

FEEDBACK = """\
---
name: feedback_testing
description: How tests are run here
metadata:
  type: feedback
modified: 2026-01-05T10:00:00Z
---
Tests use a real database.

**Why:** mocks hid a broken migration

**How to apply:** start it with `make db`.
"""

NOTE = """\
---
title: Authentication design
type: note
tags: [auth]
permalink: authentication-design
---
# Authentication design

How the API knows who is calling, since the move to two regions.

## Observations
- [decision] Sessions are JWT tokens #security (both regions can check them)
- [preference] Refresh tokens live in HTTP-only cookies
- [status] Deployed to staging

## Relations
- implements [[API security]]
"""


def test_feedback_with_its_why_is_a_preference():
    (record,) = memories.read("memory/feedback_testing.md", FEEDBACK, NOW).records

    assert (record.category, record.title, record.updated_at) == (
        "preference", "How tests are run here", "2026-01-05T10:00:00Z",
    )  # fmt: skip
    assert record.content["value"] == "Tests use a real database. start it with `make db`."
    assert record.content["reason"] == "mocks hid a broken migration"


@pytest.mark.parametrize("text", [FEEDBACK.replace("**Why:**", "So:"), FEEDBACK.replace("feedback\n", "project\n")])
def test_any_other_note_is_left_to_an_agent(text):
    content = memories.read("memory/a.md", text, NOW)

    assert content.records == ()
    assert content.passages[0].reason == memories.PROSE


def test_an_index_of_notes_holds_nothing():
    assert memories.read("memory/MEMORY.md", "- [Testing](feedback_testing.md) how tests run\n", NOW) == ((), ())


def test_observations_with_a_reason_are_records_and_the_others_are_named():
    content = memories.read("notes/auth.md", NOTE, NOW)

    assert [(record.category, record.title, record.source) for record in content.records] == [
        ("decision", "Sessions are JWT tokens", "notes/auth.md:12"),
        ("preference", "Refresh tokens live in HTTP-only cookies", "notes/auth.md:13"),
    ]
    assert content.records[0].content["rationale"] == ["both regions can check them"]
    assert content.records[0].tags == ("security",)
    assert [(passage.first, passage.heading) for passage in content.passages] == [(14, "[status] Deployed to staging")]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"results": [{"id": "a", "memory": "Prefers tabs"}, {"id": "b", "memory": "Deploys on Mondays"}]}),
        json.dumps([{"memory": "Prefers tabs"}, {"memory": "Deploys on Mondays"}]),
        '{"memory": "Prefers tabs"}\n{"memory": "Deploys on Mondays"}\n',
    ],
)
def test_each_memory_of_an_export_is_named_to_an_agent(text):
    content = memories.read("mem0.json", text, NOW)

    assert [(passage.first, passage.heading) for passage in content.passages] == [
        (1, "Prefers tabs"), (2, "Deploys on Mondays"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "{", "[1, null]", "[" * 5_000, '{"results": {"a": 1}}'])
def test_an_export_of_another_shape_gives_nothing(text):
    assert memories.read("mem0.json", text, NOW) == ((), ())


COLUMNS = (
    "id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT,"
)
COLUMNS += " facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, created_at TEXT"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    file = tmp_path / "claude-mem.db"
    connection = sqlite3.connect(file)
    connection.execute(f"CREATE TABLE observations ({COLUMNS})")
    insert = "INSERT INTO observations (project, type, title, subtitle, facts, narrative, files_modified, created_at)"
    for project, kind, title in (
        ("ferry", "decision", "Queue in Postgres"),
        ("ferry", "bugfix", "Fix a crash"),
        ("other", "decision", "Elsewhere"),
    ):
        row = (project, kind, title, "One thing less to run", '["SKIP LOCKED is enough"]', "Jobs are rows of a table.",
               '["jobs.py", "../x"]', "2026-01-05T10:00:00.123Z")  # fmt: skip
        connection.execute(f"{insert} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    return file


def test_the_decisions_of_a_project_in_claude_mems_database(tmp_path, database):
    project = tmp_path / "ferry"
    project.mkdir()
    (project / "jobs.py").write_text("x = 1\n")

    result = proposals.read_source(str(project), Source(str(database), "memory"), NOW)

    (record,) = result.records
    assert (record.category, record.title, record.created_at) == (
        "decision", "Queue in Postgres", "2026-01-05T10:00:00Z",
    )  # fmt: skip
    assert record.content["decision"] == "Jobs are rows of a table."
    assert record.content["rationale"] == ["SKIP LOCKED is enough"]
    assert (record.related_files, record.source) == (("jobs.py",), f"{database}:1")
    assert result.left_out == "1 observation that is not a decision"


def test_another_database_is_no_memory(tmp_path):
    file = tmp_path / "x?%20.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()

    assert "no plain table" in memories.read_claude_mem(str(file), "x.db", "/ferry", NOW).left_out


def test_the_whole_record_of_feedback_and_of_each_kind_of_observation():
    (feedback,) = memories.read(
        "memory/feedback.md", FEEDBACK.replace("description: How tests are run here\n", ""), NOW
    )[0]
    rule = NOTE.replace("[preference]", "[Constraint]").replace("HTTP-only cookies", "[[cookies|HTTP-only cookies]]")
    decision, constraint = memories.read("notes/auth.md", rule, NOW).records

    assert (feedback.title, feedback.content, feedback.source, feedback.origin) == (
        "feedback testing",
        {
            "topic": "feedback testing",
            "value": "Tests use a real database. start it with `make db`.",
            "reason": "mocks hid a broken migration",
            "strength": feedback.content["strength"],
        },
        "memory/feedback.md:1",
        "import",
    )
    intro = "How the API knows who is calling, since the move to two regions."
    assert decision.content == {
        "status": decision.content["status"], "context": intro, "decision": "Sessions are JWT tokens",
        "rationale": ["both regions can check them"],
    }  # fmt: skip
    assert (constraint.category, constraint.content["rule"], constraint.content["impact"], constraint.tags) == (
        "constraint", "Refresh tokens live in HTTP-only cookies", [intro],
        ("cookies", "http-only", "refresh", "tokens"),
    )  # fmt: skip


def test_feedback_without_a_name_is_named_by_its_rule_and_one_without_a_rule_is_none():
    plain = "---\ntype: 'feedback'\n---\nNever push. Why: it broke once\n"

    (record,) = memories.read("a.md", plain, NOW).records

    assert (record.title, record.content["topic"], record.content["value"]) == ("Never push.",) * 3
    assert record.created_at == NOW
    assert memories.read("a.md", plain.replace("Never push. ", ""), NOW).records == ()
    assert memories.read("a.md", plain.replace("feedback", "user"), NOW).records == ()
    assert memories.read("a.md", f"# A\n{plain}", NOW).records == ()


def test_long_feedback_is_cut_to_what_a_record_has_room_for():
    text = f"---\ntype: feedback\ndescription: {'d' * 300}\n---\n{'r' * 3_000}\n\nWhy: {'w' * 3_000}\n"

    (record,) = memories.read("a.md", text, NOW).records

    assert [len(value) for value in (record.title, *map(record.text, ("topic", "value", "reason")))] == [
        100, 200, 2_000, 2_000,
    ]  # fmt: skip


def test_an_observation_is_read_with_its_title_its_reason_and_its_tags_or_left_to_an_agent():
    def read(bullet: str, intro: str = "", title: str = "title: Auth\n") -> tuple[memories.ToolMemories, list[str]]:
        content = memories.read("a.md", f"---\n{title}x: y\n---\n{intro}\n\n- {bullet}\n", NOW)
        return content, [passage.heading for passage in content.passages]

    (alone,), _ = read("[decision] Use JWT (both check them)")[0]
    (many,), _ = read(f"[decision] Use JWT {' '.join(f'#t{n:02}' for n in range(14))} (both check them)")[0]

    assert (alone.title, alone.content["context"], alone.tags) == ("Use JWT", "Auth", ("jwt",))
    assert many.tags == tuple(f"t{n:02}" for n in range(12))
    assert read("[decision] Use JWT (fast)")[1] == ["[decision] Use JWT (fast)"]
    assert read("[decision] Use JWT (fast)", "Only five words are here.")[1] == ["[decision] Use JWT (fast)"]
    assert read("[decision] Use JWT (fast)", "Six words are enough for it.")[1] == []
    assert read("[decision] Use JWT (fast)", "See [[API]] for all of the other reasons.")[1] != []
    assert read("[decision] Use JWT (both check them)", title="")[1] == ["[decision] Use JWT (both check them)"]
    assert [len(heading) for heading in read(f"[idea] {'x' * 400}")[1]] == [300]
    assert read(f"[decision] {'x' * 120} (both check them)")[0].records[0].title.endswith("…")


@pytest.mark.parametrize(
    ("text", "is_index"),
    [
        ("- [A](a.md) x\n- b\n", True),
        ("- [A](a.md) x\n- b\n- c\n", False),
        ("`notes/a.md`\n", True),
        ("b.md: x\n", True),
        ("See b.md\n", False),
        ("[A](https://a.example/b)\n", False),
    ],
)
def test_an_index_is_a_page_of_which_half_the_lines_point_to_files(text, is_index):
    assert (memories.read("memory/MEMORY.md", text, NOW) == ((), ())) is is_index
    assert memories.read("memory/notes.md", text, NOW).passages


@pytest.mark.parametrize(
    ("created", "instant"),
    [
        ("2026-01-05T10:00:00Z", "2026-01-05T10:00:00Z"),
        ("2026-01-05 10:00:00", "2026-01-05T10:00:00Z"),
        (" 2026-01-05T10:00:00.123456+00:00 ", "2026-01-05T10:00:00Z"),
        (NOW, NOW),
        ("2026-03-02T09:30:01Z", ""),
        ("2026-01-05T10:00:00+02:00", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_the_time_of_a_memory_is_taken_if_it_is_one_in_the_past(created, instant):
    assert memories.dates_from(created, NOW) == ({"created_at": instant, "updated_at": instant} if instant else {})


@pytest.mark.parametrize("key", ["results", "memories", "data"])
@pytest.mark.parametrize("field", ["memory", "text", "content"])
def test_an_export_has_its_memories_under_one_of_three_names(key, field):
    entries = [{field: "Prefers tabs"}, {field: 7}, {field: ""}, "x", {field: "x" * 400}]

    passages = memories.read("a.JSONL", json.dumps({key: entries}), NOW).passages

    assert [(passage.first, passage.last, len(passage.heading)) for passage in passages] == [(1, 1, 12), (4, 4, 300)]
    assert {passage.reason for passage in passages} == {
        "a sentence without a reason: only a reader can tell its category"
    }


def test_five_hundred_memories_of_an_export_are_read():
    entries = [{"memory": f"Fact {number}"} for number in range(501)]

    for text in (json.dumps(entries), "\n".join(map(json.dumps, entries))):
        assert [passage.heading for passage in memories.read("a.json", text, NOW).passages[-1:]] == ["Fact 499"]


def test_a_folder_of_notes_says_when_each_was_changed_and_which_is_outdated(tmp_path):
    (tmp_path / "plain.md").write_text("\ufeffUse tabs.\n\n---\nThis is no longer valid.\n", encoding="utf-8")
    (tmp_path / "long.MD").write_text(f"{'x' * 190} superseded\n")
    (tmp_path / "described.md").write_text("---\ndescription: How we test\n---\n# Heading\nUse a database.\n")
    for file in tmp_path.iterdir():
        os.utime(file, (1_760_000_000, 1_760_000_000))

    notes = {note.path: note for note in memories.claude_memory(str(tmp_path))}

    assert {path: (note.title, note.says_superseded, note.tags) for path, note in notes.items()} == {
        "plain.md": ("plain", True, ()), "long.MD": ("long", False, ()), "described.md": ("How we test", False, ()),
    }  # fmt: skip
    assert notes["plain.md"].text == "Use tabs.\nThis is no longer valid."
    assert notes["plain.md"].statement == "Use tabs."
    assert {note.updated for note in notes.values()} == {"2025-10-09T08:53:20Z"}
    assert [note.path for note in memories.markdown_folder(str(tmp_path))] == ["described.md", "long.MD", "plain.md"]


def test_a_folder_with_too_many_files_is_no_folder_of_notes(tmp_path, monkeypatch):
    monkeypatch.setattr(memories, "MAX_FILES", 2)
    for name in "ab":
        (tmp_path / f"{name}.md").write_text("x\n")
    assert len(memories.markdown_folder(str(tmp_path))) == 2
    (tmp_path / "c.md").write_text("x\n")

    with pytest.raises(BadInput, match=r"has more than 2 Markdown files") as caught:
        memories.markdown_folder(str(tmp_path))

    assert caught.value.fix == "name one of its subfolders"


def add(database: Path, *rows: dict[str, object]) -> None:
    connection = sqlite3.connect(database)
    for row in rows:
        row = {"project": "ferry", "type": "decision", **row}
        marks = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO observations ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    connection.commit()
    connection.close()


def test_a_decision_of_a_database_needs_a_title_a_text_and_a_reason(tmp_path, database):
    add(
        database,
        {"title": "No reason", "narrative": "Text of the decision."},
        {"title": "", "narrative": "Text of the decision.", "facts": '["known"]'},
        {"title": "No text", "facts": '["known"]'},
        {"title": "Subtitle alone", "subtitle": "Text of the decision."},
        {"title": "No subtitle", "narrative": "Text of the decision.", "facts": '["known"]', "created_at": "later"},
        {"title": "Odd lists", "subtitle": "s", "narrative": "n", "facts": "{", "files_modified": '{"a": 1}'},
        {"title": "t" * 130, "narrative": "n" * 5_000, "facts": json.dumps(["f" * 700, " ", 7, *"abcdefghijklm"])},
    )

    records = {record.title[:14]: record for record in memories.read_claude_mem(
        str(database), "mem.db", str(tmp_path / "ferry/"), NOW).records}  # fmt: skip

    assert list(records) == [
        f"{'t' * 14}", "Odd lists", "No subtitle", "Subtitle alone", "Queue in Postg",
    ]  # fmt: skip
    content = {title: record.content for title, record in records.items()}
    texts = {title: (c["decision"], c["context"], c["rationale"]) for title, c in content.items()}
    assert texts["Odd lists"] == ("n", "s", ["s"])
    assert texts["No subtitle"] == ("Text of the decision.", "No subtitle", ["known"])
    assert texts["Subtitle alone"] == ("Text of the decision.",) * 2 + (["Text of the decision."],)
    assert (records["No subtitle"].created_at, records["No subtitle"].source) == (NOW, "mem.db:8")
    long = records["t" * 14]
    assert (len(long.title), len(long.content["decision"]), len(long.content["rationale"])) == (120, 4_000, 12)
    assert [len(reason) for reason in long.content["rationale"]] == [600, *[1] * 11]


def test_twelve_files_of_the_project_are_those_that_a_decision_is_about(tmp_path, database):
    project = tmp_path / "ferry"
    project.mkdir()
    names = [f"{number:02}.py" for number in range(13)]
    for name in names:
        (project / name).write_text("x")
    files = json.dumps([str(project / "00.py"), "gone.py", "../ferry/00.py", *names])
    add(database, {"title": "Files", "narrative": "Text.", "facts": '["known"]', "files_modified": files})

    result = memories.read_claude_mem(str(database), "mem.db", str(project), NOW)

    assert result.records[0].related_files == tuple(names[:12])


@pytest.mark.parametrize(
    ("project", "others", "left_out"),
    [
        ("ferry", 0, "1 observation that is not a decision"),
        ("ferry", 1_999, "2,000 observations that are not decisions"),
        ("other", 0, ""),
        ("empty", 0, "it has no decision for a project called 'empty'; "),
    ],
)
def test_what_a_database_has_besides_decisions_is_counted(database, project, others, left_out):
    add(database, *[{"type": "bugfix", "title": "Fix"}] * others)

    result = memories.read_claude_mem(str(database), "mem.db", f"/work/{project}", NOW)

    assert result.left_out == left_out
    assert len(result.records) == (project != "empty")
    assert len(result.fingerprint) == 32


def test_the_newest_five_hundred_decisions_of_a_database_are_read(database):
    add(database, *({"title": f"Use {n}", "narrative": "Text.", "facts": '["known"]'} for n in range(500)))

    records = memories.read_claude_mem(str(database), "mem.db", "/work/ferry", NOW).records

    assert (len(records), records[0].title, records[-1].title) == (500, "Use 499", "Use 0")


@pytest.mark.parametrize(
    ("query", "is_allowed"),
    [
        ("select substr(title, 1, 3), count(*) from observations", True),
        ("select upper(title) from observations", False),
        ("select load_extension('x') from observations", False),
        ("delete from observations", False),
        ("pragma user_version", False),
        ("attach 'other.db' as other", False),
    ],
)
def test_a_database_may_be_asked_for_rows_and_two_functions_alone(query, is_allowed):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table observations (title text)")
    connection.execute("insert into observations values ('Use uv')")
    connection.set_authorizer(memories._authorize)

    if is_allowed:
        assert connection.execute(query).fetchall() == [("Use", 1)]
    else:
        with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|prohibited"):
            connection.execute(query)
    connection.close()
