"""What other files say, as records: rules, decisions with their succession, notes; whatever the text."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import markdown
from recollect.errors import BadInput
from recollect.importers import adr, claude_md, discover, notes
from recollect.record import memory, summary_line
from recollect.settings import Settings
from recollect.store.store import Store
from recollect.store.writer import DryRunStore, Writer

from .records import sample

NOW = "2026-03-02T09:30:00Z"

CLAUDE_MD = """\
# Ferry

Ferry is a booking service for small ports.

## Commands

```bash
npm run dev        # start the dev server
# Apply database migrations
npm run migrate
make lint
```

## Architecture

- `src/db/` - schema and queries
- The web part talks to the API over HTTP.

## Code style

- Use **tabs** to indent, because widths differ.
- Prefer named exports
- TypeScript strict mode

When adding a migration:
1. Create it with `npm run migrate:new`
2. Never edit one that was applied

<!-- never show this
to anybody -->
## Harbour

**IMPORTANT:** The harbour API allows at most 60 calls a minute. Take a token from `throttle.ts`.
"""

NYGARD = """\
# 3. Use RabbitMQ for jobs

Date: 2021-02-12

## Status

Accepted

Superceded by [7. Use NATS](0007-use-nats.md)

## Context

Jobs must survive restarts.

## Decision

We will use RabbitMQ 3.9 with quorum queues.

## Consequences

One more thing to run.
"""

MADR = """\
---
status: accepted
date: 2023-05-01
---
# Use NATS JetStream for background jobs

## Context and Problem Statement

RabbitMQ clusters kept partitioning.

## Considered Options

* NATS JetStream
* Kafka
* Stay with RabbitMQ

## Decision Outcome

Chosen option: "NATS JetStream", because it needs one binary. Streams have 3 replicas.

### Consequences

* Good, because fewer pages at night

## Pros and Cons of the Options

### Kafka

* Good, because known
* Bad, because ZooWriter must be run
"""


def told(records):
    return [(record.category, record.title, record.source) for record in records]


def test_guidance_gives_a_record_for_each_rule_and_none_for_descriptions():
    assert told(claude_md.records(CLAUDE_MD, "CLAUDE.md", NOW)) == [
        ("preference", "Start the dev server", "CLAUDE.md:8"),
        ("preference", "Apply database migrations", "CLAUDE.md:10"),
        ("preference", "Commands", "CLAUDE.md:7"),
        ("preference", "Use tabs to indent", "CLAUDE.md:21"),
        ("preference", "Code style: Prefer named exports", "CLAUDE.md:22"),
        ("preference", "Code style: TypeScript strict mode", "CLAUDE.md:23"),
        ("constraint", "When adding a migration", "CLAUDE.md:25"),
        ("constraint", "The harbour API allows at most 60 calls a minute", "CLAUDE.md:33"),
    ]


def test_the_essence_of_an_imported_rule_is_the_rule_itself():
    essences = {record.title: summary_line.of(record) for record in claude_md.records(CLAUDE_MD, "CLAUDE.md", NOW)}

    assert essences["Start the dev server"] == "Start the dev server: `npm run dev`. Why: CLAUDE.md says so."
    assert essences["Use tabs to indent"] == "Use tabs to indent. Why: Widths differ."
    assert essences["When adding a migration"] == (
        "When adding a migration: 1. Create it with `npm run migrate:new` 2. Never edit one that was applied [high]"
        " Otherwise: It goes against CLAUDE.md."
    )


@pytest.mark.parametrize(
    ("text", "category", "field", "value"),
    [
        ("Never push to main", "constraint", "severity", "high"),
        ("You must run the linter first", "constraint", "severity", "medium"),
        ("Uploads are limited to 10 MB", "constraint", "kind", "limitation"),
        ("Don't mock the database", "constraint", "kind", "policy"),
        ("Always sign your commits", "preference", "strength", "strong"),
        ("Consider a table test first", "preference", "strength", "soft"),
        ("Use pytest for all tests", "preference", "strength", "default"),
    ],
)
def test_wording_decides_what_sort_of_record_a_rule_makes(text, category, field, value):
    (record,) = claude_md.records(f"## Rules\n\n- {text}\n", "AGENTS.md", NOW)

    assert (record.category, record.content[field]) == (category, value)
    assert (record.origin, record.created_at) == ("import", NOW)


def test_a_long_paragraph_is_taken_rule_by_rule():
    padding = "The service was written in the spring by people who have left. " * 6
    text = f"## Jobs\n\n{padding}Never retry a job twice. It would be charged again. Use the `jobs` table.\n"

    assert [record.title for record in claude_md.records(text, "CLAUDE.md", NOW)] == [
        "Never retry a job twice",
        "Use the jobs table",
    ]


@pytest.mark.parametrize(
    ("path", "front", "scope"),
    [
        ("CLAUDE.md", "", ()),
        (".claude/CLAUDE.md", "", ()),
        ("packages/api/AGENTS.md", "", ("packages/api/**",)),
        (".claude/rules/api.md", '---\npaths:\n  - "src/api/**"\n  - src/db/*\n---\n', ("src/api/**", "src/db/*")),
        (".claude/rules/api.md", "---\npaths: [src/api/**, 'lib/*']\n---\n", ("src/api/**", "lib/*")),
    ],
)
def test_guidance_for_a_part_of_the_project_says_so(path, front, scope):
    (record,) = claude_md.records(f"{front}- Never return a bare list\n", path, NOW)

    assert record.scope.paths == scope


def test_headings_lists_and_code_are_told_apart():
    page = markdown.read(
        "Title\n=====\n\n- one\n  more\n  - below\n- two\n\n1. a\n2. b\n\n~~~sh\n# no heading\n~~~\nend\n"
    )

    (section,) = page.sections
    assert (section.title, section.level) == ("Title", 1)
    assert [(block.kind, markdown.flat(block.text), block.line) for block in section.blocks] == [
        ("bullet", "one more; below", 4),
        ("bullet", "two", 7),
        ("numbered", "1. a 2. b", 9),
        ("code", "# no heading", 12),
        ("paragraph", "end", 15),
    ]


def test_a_decision_in_nygards_shape():
    found = adr.parse(NYGARD, "docs/adr/0003-use-rabbitmq.md", NOW)

    assert found is not None
    assert (found.number, found.replaced_by, found.replaces) == (3, ("0007-use-nats.md",), ())
    assert (found.record.title, found.record.created_at) == ("Use RabbitMQ for jobs", "2021-02-12T00:00:00Z")
    assert found.record.source == "docs/adr/0003-use-rabbitmq.md:1"
    assert found.record.content == {
        "status": "superseded",
        "context": "Jobs must survive restarts.",
        "decision": "We will use RabbitMQ 3.9 with quorum queues.",
        "rationale": ["Jobs must survive restarts."],
        "consequences": ["One more thing to run."],
    }


def test_a_decision_in_madrs_shape():
    found = adr.parse(MADR, "docs/decisions/0007-use-nats.md", NOW)

    assert found is not None
    assert found.record.content == {
        "status": "accepted",
        "context": "RabbitMQ clusters kept partitioning.",
        "decision": "NATS JetStream. Streams have 3 replicas.",
        "rationale": ["It needs one binary"],
        "alternatives": [
            {"option": "Kafka", "rejected_reason": "ZooWriter must be run"},
            {"option": "Stay with RabbitMQ", "rejected_reason": "Not chosen; the decision record says no more"},
        ],
        "consequences": ["Good, because fewer pages at night"],
    }


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("", "accepted"),
        ("Accepted", "accepted"),
        ("accepted, supersedes ADR-0003", "accepted"),
        ("Supersedes 0003", "accepted"),
        ("Accepted on 2020-01-01. Superseded by ADR-9", "superseded"),
        ("Superceded by [9. X](0009-x.md)", "superseded"),
        ("Draft", "proposed"),
        ("Under review", "proposed"),
        ("🟣 lilac", "proposed"),
        ("Rejected", "deprecated"),
        ("Deprecated", "deprecated"),
    ],
)
def test_status_words(said, status):
    assert adr.status_of(said) == status


@pytest.mark.parametrize("line", ["* Status: superseded by ADR-0002", "- **Status**: Superseded by [2](0002-b.md)"])
def test_a_status_at_the_top_counts_too(line):
    found = adr.parse(f"# ADR-0001: Old\n\n{line}\n\n## Decision\n\nOld way.\n", "adr/0001-a.md", NOW)

    assert found is not None
    assert (found.record.title, found.record.content["status"], len(found.replaced_by)) == ("Old", "superseded", 1)


def test_a_rejected_decision_says_so():
    found = adr.parse("# Use Mongo\n\nStatus: rejected\n\n## Decision\n\nUse Mongo.\n", "adr/0001-a.md", NOW)

    assert found is not None
    assert found.record.content["decision"] == "Rejected: Use Mongo."


def test_a_page_that_decides_nothing_is_no_decision():
    assert adr.parse("# Decisions\n\nThis folder holds decisions.\n", "docs/adr/about.md", NOW) is None


def decision(number, title, status="Accepted", folder="docs/adr"):
    text = f"# {number}. {title}\n\n## Status\n\n{status}\n\n## Decision\n\n{title} everywhere.\n"
    found = adr.parse(text, f"{folder}/{number:04}-x.md", NOW)
    assert found is not None
    return found


@pytest.mark.parametrize(("length", "is_replaced"), [(1_900, True), (2_100, False)])
def test_a_status_is_read_as_far_as_one_reaches(length, is_replaced):
    status = "Accepted. " + "x " * (length // 2) + "Superseded by ADR-2"

    old, _ = adr.linked([decision(1, "Use tabs", status), decision(2, "Use spaces")])

    assert old.superseded_by == ("use-spaces" if is_replaced else "")


def test_successors_are_linked_both_ways():
    old, new = adr.linked([decision(1, "Use tabs", "Superseded by ADR-2"), decision(2, "Use spaces")])

    assert (old.superseded_by, old.content["status"], old.is_current) == ("use-spaces", "superseded", False)
    assert (new.supersedes, new.content["status"], new.is_current) == (("use-tabs",), "accepted", True)


def test_a_link_said_by_the_successor_alone_is_enough():
    old, new = adr.linked([decision(1, "Use tabs"), decision(2, "Use spaces", "Accepted. Supersedes 1")])

    assert (old.superseded_by, old.content["status"], new.supersedes) == ("use-spaces", "superseded", ("use-tabs",))


def test_numbers_are_those_of_the_same_folder():
    records = adr.linked(
        [
            decision(1, "Use tabs", "Superseded by ADR-2", folder="a/adr"),
            decision(2, "Use spaces", folder="b/adr"),
        ]
    )

    assert [record.superseded_by for record in records] == ["", ""]


def test_decisions_that_replace_each_other_in_a_circle_are_not_all_lost():
    records = adr.linked([decision(1, "Use tabs", "Superseded by 2"), decision(2, "Use spaces", "Superseded by 1")])

    assert [record.superseded_by for record in records] == ["use-spaces", ""]


def test_equal_titles_get_ids_of_their_own():
    assert [r.id for r in adr.linked([decision(1, "Use tabs"), decision(2, "Use tabs")])] == ["use-tabs", "use-tabs-2"]


def test_a_note_of_the_auto_memory_is_a_record_with_its_reason():
    text = (
        "---\nname: feedback_testing\ndescription: How tests are run here\ntype: feedback\n"
        "modified: 2026-01-05T10:00:00Z\n---\nTests use a real database.\n\n**Why:** mocks hid a broken migration\n\n"
        "**How to apply:** start it with `make db`.\n"
    )

    (record,) = notes.records(text, "memory/feedback_testing.md", NOW)

    assert (record.category, record.title, record.updated_at) == (
        "preference", "feedback testing", "2026-01-05T10:00:00Z",
    )  # fmt: skip
    assert record.content["value"] == "Tests use a real database. start it with `make db`."
    assert record.content["reason"] == "mocks hid a broken migration"


def test_an_index_of_notes_is_no_note():
    assert notes.records("- [Testing](feedback_testing.md) how tests run\n", "memory/MEMORY.md", NOW) == []
    assert len(notes.records("## Rules\n- Never push to main\n", "memory/MEMORY.md", NOW)) == 1


# Pieces that mean something to an importer, so that random texts reach more of it.
PIECES = st.sampled_from(
    ["---\n", "status: superseded by 1\n", "# 1. Title\n", "## Decision\n", "## Status\n", "## Decision Outcome\n",
     "Superseded by [x](0001-a.md)\n", 'Chosen option: "x", because y. z\n', "- Never do `x`\n", "* Use tabs because\n",
     "1. a\n", "  - b\n", "```bash\n", "make x # y z\n", "~~~\n", "<!--", "-->", "> quote: never\n", "| a | b |\n",
     "===\n", "paths: [a\n", "- \n", "\t", "**Why:** ", "Date: 2020-99-99\n", "## Commands\n", ":\n"]
)  # fmt: skip
ANY_TEXT = st.lists(PIECES | st.text(max_size=20), max_size=25).map("".join)


@given(ANY_TEXT, st.sampled_from(["CLAUDE.md", "a/0001-b.md", "memory/MEMORY.md", "\ud800/x.md", ""]))
def test_no_text_makes_an_importer_raise_and_every_record_can_be_written(text, path):
    found = adr.parse(text, path, NOW)
    records = [*claude_md.records(text, path, NOW), *notes.records(text, path, NOW)]
    records += adr.linked([found, found]) if found else []

    for record in records:
        assert memory.flaws(record) == []
        assert memory.parse(memory.render(record)) == record
        assert summary_line.of(record)


@pytest.mark.parametrize(
    "text",
    ["#" * 1_000_000, "- " * 500_000, "<!--" * 250_000, "[" * 1_000_000, "a, because " * 90_000, "`" * 1_000_000,
     "- never\n" * 20_000, "## Decision\n" * 20_000, "chosen option: " + "x" * 900_000, "Superseded by " * 70_000],
)  # fmt: skip
def test_a_text_made_to_be_slow_is_not(text):
    before = time.process_time()

    claude_md.records(text, "CLAUDE.md", NOW)
    adr.parse(f"# A\n\nStatus: {text}\n## Decision\n{text}", "adr/1.md", NOW)
    notes.records(text, "memory/a.md", NOW)

    assert time.process_time() - before < 20


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "ferry"
    for path, text in {
        "CLAUDE.md": CLAUDE_MD,
        ".claude/rules/api.md": "- Never return a bare list from the API\n",
        "docs/adr/0003-rabbit.md": NYGARD,
        "docs/adr/0007-use-nats.md": MADR,
        "docs/adr/README.md": "# Decisions\n\n## Decision\n\nnone\n",
        "docs/adr/template.md": MADR,
        "node_modules/x/CLAUDE.md": "- Never read this\n",
        "packages/api/AGENTS.md": "- Always answer with JSON from here\n",
    }.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def test_guidance_and_decisions_of_a_project_are_found(project):
    os.symlink("CLAUDE.md", project / "AGENTS.md")
    os.symlink("/etc/hostname", project / "docs" / "adr" / "0009-out.md")

    assert [(source.path, source.kind) for source in discover.discover(str(project))] == [
        ("AGENTS.md", "guidance"),
        (".claude/rules/api.md", "guidance"),
        ("docs/adr/0003-rabbit.md", "decision"),
        ("docs/adr/0007-use-nats.md", "decision"),
        ("packages/api/AGENTS.md", "guidance"),
    ]


def test_named_files_are_taken_for_what_they_are(project, home):
    folder = home / ".claude" / "projects" / "-ferry" / "memory"
    folder.mkdir(parents=True)
    (folder / "user_role.md").write_text("Prefers short answers\n", encoding="utf-8")

    found = discover.named(str(project), [str(project / "docs" / "adr"), str(project / "CLAUDE.md"), str(folder)])

    assert [(source.path, source.kind) for source in found] == [
        ("docs/adr/0003-rabbit.md", "decision"),
        ("docs/adr/0007-use-nats.md", "decision"),
        ("docs/adr/README.md", "decision"),
        ("docs/adr/template.md", "decision"),
        ("CLAUDE.md", "guidance"),
        (str(folder / "user_role.md"), "note"),
    ]
    with pytest.raises(BadInput):
        discover.named(str(project), ["nowhere.md"])


def test_what_carries_a_credential_is_refused_by_field_with_the_value_masked(project):
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    (project / "CLAUDE.md").write_text(
        f"- Always use the key {key} for S3\n- Never use another one\n", encoding="utf-8"
    )

    result = discover.gather(str(project), [discover.Source("CLAUDE.md", "guidance")], NOW)

    assert [record.title for record in result.records] == ["Never use another one"]
    ((source, reason),) = result.refused
    assert source == "CLAUDE.md:1"
    assert "carries an AWS access key" in reason
    assert key not in reason


def test_what_is_said_twice_is_taken_once(project):
    (project / "AGENTS.md").write_text(CLAUDE_MD, encoding="utf-8")
    (project / "b.md").write_text("## API\n- Never return a bare list from the API!\n", encoding="utf-8")
    rule = discover.Source(".claude/rules/api.md", "guidance")
    twice = [rule, discover.Source("b.md", "guidance")]

    result = discover.gather(str(project), twice, NOW)
    known = discover.gather(str(project), [rule], NOW, existing=result.records)

    assert len(result.records) == 1
    assert result.duplicates == (discover.Refusal("b.md:2", f"says the same as {result.records[0].id}"),)
    assert known.records == ()


def test_a_file_that_cannot_be_read_is_told(project):
    os.mkfifo(project / "pipe.md")

    result = discover.gather(str(project), [discover.Source("pipe.md", "guidance")], NOW)

    assert result == discover.ImportResult((), (discover.Refusal("pipe.md", "cannot be read: not a regular file"),))


def test_imported_records_are_saved_and_linked(project):
    store = Store(str(project / ".claude" / "memory"))
    result = discover.gather(str(project), discover.discover(str(project)), NOW)

    saved, refused = discover.save(Writer(store, Settings(), NOW), result.records)

    assert refused == []
    assert len(saved) == len(list(store.entries())) == len(result.records)
    assert store.get("use-rabbitmq-for-jobs").memory.superseded_by == "use-nats-jetstream-for-background-jobs"
    assert store.get("use-nats-jetstream-for-background-jobs").memory.supersedes == ("use-rabbitmq-for-jobs",)
    assert (project / ".claude" / "memory" / ".gitignore").exists()


def test_a_successor_that_comes_later_replaces_what_was_imported_before(project):
    store = Store(str(project / ".claude" / "memory"))
    writer = Writer(store, Settings(), NOW)
    (project / "docs/adr/0003-rabbit.md").write_text(
        NYGARD.replace("Superceded by [7. Use NATS](0007-use-nats.md)", "")
    )
    first = discover.gather(str(project), [discover.Source("docs/adr/0003-rabbit.md", "decision")], NOW)
    discover.save(writer, first.records)
    (project / "docs/adr/0007-use-nats.md").write_text(
        MADR.replace("status: accepted", "status: accepted, supersedes 3")
    )

    both = [discover.Source(f"docs/adr/{name}", "decision") for name in ("0003-rabbit.md", "0007-use-nats.md")]
    second = discover.gather(str(project), both, NOW, existing=[entry.memory for entry in store.entries()])
    discover.save(writer, second.records)

    assert len(second.records) == 1
    assert store.get("use-rabbitmq-for-jobs").memory.superseded_by == "use-nats-jetstream-for-background-jobs"


def test_a_record_of_the_same_id_that_says_something_else_is_left_as_it_is(project):
    store = Store(str(project / ".claude" / "memory"))
    writer = Writer(store, Settings(), NOW)
    mine = sample(
        "decision", id="use-nats-jetstream-for-background-jobs", title="Use NATS JetStream for background jobs"
    )
    writer.save(mine)
    result = discover.gather(
        str(project), [discover.Source("docs/adr/0007-use-nats.md", "decision")], NOW, existing=[mine]
    )

    saved, refused = discover.save(writer, result.records)

    assert (saved, [each.source for each in refused]) == ([], ["docs/adr/0007-use-nats.md:5"])
    assert store.get(mine.id).memory.content == mine.content


def test_a_rehearsed_import_links_and_writes_nothing(project):
    store = DryRunStore(str(project / ".claude" / "memory"))
    result = discover.gather(str(project), discover.discover(str(project)), NOW)

    saved, refused = discover.save(Writer(store, Settings(), NOW), result.records)

    assert (len(saved), refused) == (len(result.records), [])
    assert store.planned["decisions/use-rabbitmq-for-jobs.json"].superseded_by
    assert not store.exists
