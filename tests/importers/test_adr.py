"""Decision records in the forms people write them: the decision is read right, or left to an agent with the reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import markdown
from onrecord.audit import audit_item, report
from onrecord.audit.report import Evidence
from onrecord.importers import adr, memories
from onrecord.importers.adr import Adr, Unread
from onrecord.record import memory, summary_line
from tests import cost

NOW = "2026-03-02T09:30:00Z"

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


def read(text: str, path: str = "docs/adr/0003-x.md") -> Adr:
    decision = adr.read(text, path, NOW)
    assert isinstance(decision, Adr), decision
    return decision


def page(decision: str, options: str = "", status: str = "Accepted", title: str = "Pick a queue") -> str:
    section = f"## Considered Options\n\n{options}\n\n" if options else ""
    context = "## Context\n\nJobs get lost when a worker restarts.\n\n"
    return f"# {title}\n\n## Status\n\n{status}\n\n{context}{section}## Decision Outcome\n\n{decision}\n"


def outcome(decision: str, options: str = "") -> tuple[str, list[str]]:
    """Return the decision and the names of the alternatives."""
    content = read(page(decision, options)).record.content
    return content["decision"], [option["option"] for option in content.get("alternatives", [])]


def doubt(text: str) -> str:
    unread = adr.read(text, "docs/adr/0001-x.md", NOW)
    assert isinstance(unread, Unread), unread
    return unread.reason


def test_a_decision_in_nygards_shape():
    decision = read(NYGARD)

    assert (decision.number, decision.replaced_by, decision.replaces) == (3, ("0007-use-nats.md",), ())
    assert (decision.record.title, decision.record.created_at) == ("Use RabbitMQ for jobs", "2021-02-12T00:00:00Z")
    assert decision.record.source == "docs/adr/0003-x.md:15"
    assert decision.record.content == {
        "status": "superseded",
        "context": "Jobs must survive restarts.",
        "decision": "We will use RabbitMQ 3.9 with quorum queues.",
        "rationale": ["From the context: Jobs must survive restarts."],
        "consequences": ["One more thing to run."],
    }


def test_a_decision_in_madrs_shape():
    assert read(MADR).record.content == {
        "status": "accepted",
        "context": "RabbitMQ clusters kept partitioning.",
        "decision": "NATS JetStream",
        "rationale": ["It needs one binary"],
        "alternatives": [
            {"option": "Kafka", "rejected_reason": "Not chosen"},
            {"option": "Stay with RabbitMQ", "rejected_reason": "Not chosen"},
        ],
        "consequences": ["Good, because fewer pages at night"],
    }


def test_a_y_statement_is_quoted_whole():
    statement = (
        "In the context of the web shop, facing the need to keep user sessions, we decided for the database session "
        "state pattern and neglected client session state, to achieve data consistency, accepting that a session "
        "database must be run."
    )

    content = read(f"# Web shop sessions\n\n{statement}\n").record.content

    assert content["decision"] == statement
    assert content["rationale"] == ["To achieve data consistency"]


@pytest.mark.parametrize(
    ("decision", "options", "chosen", "others"),
    [
        ("Chosen option: **Extract Class**\n\nEach domain gets a service.",
         "- **Extract Class** - Break it up\n- Nothing", "Extract Class", ["Nothing"]),
        ("Chosen option: **Short names**", "- **Short names** - at most 8 letters\n- **Long names** - any",
         "Short names", ["Long names"]),
        ("Chosen option: option 2, because it is quick.", "1. Redis\n2. A table in Postgres\n3. Kafka",
         "A table in Postgres", ["Redis", "Kafka"]),
        ("Chosen option: B", "- Option A: Redis\n- Option B: Kafka", "Kafka", ["Redis"]),
        ("Chosen Option `(2)`. Reasons are below.", "1) Redis\n2) Kafka", "Kafka", ["Redis"]),
        ('Chosen option: _"2. Kafka"_, because', "1. Redis\n2. Kafka", "Kafka", ["Redis"]),
        ("Choosen option: **2. Kafka**. It is there.", "1. Redis\n2. Kafka", "Kafka", ["Redis"]),
        ("Chosen option: **B3 - Use Kafka**", "- Use Kafka\n- Use Redis", "Use Kafka", ["Use Redis"]),
        ("Chosen option: > Use Kafka", "- Use Kafka\n- Use Redis", "Use Kafka", ["Use Redis"]),
        # Not the words of an option: none of them is known to be rejected.
        ("Chosen option: Enabled for all, disabled by file",
         "- Disabled for all, enabled by file - as today\n- Enable for all, disable by file - one large change",
         "Enabled for all, disabled by file", []),
        ("Chosen option: \"Include 'Consulted' of RACI\", because clear.",
         "- Include 'Consulted' of RACI\n- Include all of it",
         "Include 'Consulted' of RACI", ["Include all of it"]),
        ("* *Chosen Alternative: [ALTERNATIVE 2]*\n  because it is safe. More follows.",
         "* *[ALTERNATIVE 1]* Redis\n* *[ALTERNATIVE 2]* Kafka", "Kafka", ["Redis"]),
        ("Chosen option: Store dollars as cents, because it is exact.", "- Store dollars as cents\n- Use a float",
         "Store dollars as cents", ["Use a float"]),
        ("Chosen option: \"Jobs without 'limits'\"", "- Jobs without 'limits'\n- `Jobs` of a `type`",
         "Jobs without 'limits'", ["`Jobs` of a `type`"]),
        ("We have decided to switch over to esbuild.", "- webpack\n- esbuild",
         "We have decided to switch over to esbuild.", []),
        ("We will use Kafka.\nWe will drop Redis.", "- Use Kafka\n- Use Redis",
         "We will use Kafka. We will drop Redis.", []),
    ],
)  # fmt: skip
def test_what_is_chosen_is_never_what_was_rejected(decision, options, chosen, others):
    assert outcome(decision, options) == (chosen, others)


@pytest.mark.parametrize(
    "goes_on",
    [
        "We have these ranges:\n\n```\n10.41.0.0/16\n10.195.0.0/16\n```",
        "We use these ranges for\n\n| a | b |\n| - | - |\n| 1 | 2 |",
        "We will use Kafka\n\n- It is known to all of us. We like it.\n- It is fast. It is small.",
        "We do it so:\n\n- use Kafka\n  - but not for mail\n- use Redis",
    ],
)
def test_a_sentence_that_runs_into_code_a_table_or_a_list_of_sentences_is_not_quoted(goes_on):
    assert doubt(page(goes_on))


def test_the_sentence_that_decides_is_quoted_if_others_lead_up_to_it():
    text = page(f"Our harbour has many queues, {'as was told ' * 8}above. We will use Kafka for jobs. It is known.")

    assert read(text).record.content["decision"] == "We will use Kafka for jobs."


def test_code_is_quoted_as_it_is():
    text = page("We will keep a `map[id]string` and write `<em>a_b</em>` for nearly all of it.")

    assert read(text).record.content["decision"] == (
        "We will keep a `map[id]string` and write `<em>a_b</em>` for nearly all of it."
    )


def test_a_decision_to_leave_things_as_they_are_is_left_to_an_agent():
    assert "leaves things as they are" in doubt(page("We will stay with what we have."))


def test_consequences_are_effects_and_stand_alone():
    text = page("We will use Kafka for jobs.") + (
        "\n## Consequences\n\n- Storage\n- We previously had a table for them\n- However, see below\n"
        "- One more thing has to run\n- Workers start later. They wait for it.\n- Nobody reads more than two\n"
    )

    assert read(text).record.content["consequences"] == ["One more thing has to run", "Nobody reads more than two"]


def test_alternatives_are_named_all_or_not_at_all():
    text = page("Chosen option: Use Kafka", "- Use Kafka\n- Use Redis\n- Keep the table. See the guide")

    decision = read(text)

    assert "alternatives" not in decision.record.content
    assert decision.left_out == ("the alternatives: 'Keep the table. See the guide' cannot be quoted",)


@pytest.mark.parametrize(
    "heading", ["Chosen Decision: Use Kafka", "Decision Outcome: Use Kafka", "Chosen solution: Use Kafka"]
)
def test_a_heading_can_state_the_decision(heading):
    text = page("It is known to all of us.").replace("## Decision Outcome", f"## {heading}")

    assert read(text).record.content["decision"] == "Use Kafka"


def test_a_title_of_several_lines_in_the_front_matter_is_read():
    text = "---\nslug: 1\ntitle: |\n  1. Use a queue\ntags: [Accepted]\n---\n" + page("Use Kafka for jobs.")[16:]

    assert read(text).record.title == "Use a queue"


def test_an_outdated_decision_says_so_in_its_title_or_above_its_sections():
    in_title = read(page("Use Kafka for jobs.", status="", title="004 — OUTDATED Use Kafka"))
    above = read(page("Use Kafka for jobs.", status="").replace(
        "# Pick a queue\n", "# Pick a queue\n\nThis decision has been superseded by decision: [9](0009-x.md)\n"
    ))  # fmt: skip

    assert (in_title.record.title, in_title.record.content["status"]) == ("Use Kafka", "deprecated")
    assert (above.replaced_by, above.record.content["status"]) == (("0009-x.md",), "superseded")


def test_options_can_be_headings():
    text = page("Chosen option: B").replace(
        "## Decision Outcome",
        "## Options\n\n### Option A: Redis\n\nFast.\n\n### Option B: Kafka\n\nBig.\n\n## Decision Outcome",
    )

    assert read(text).record.content["decision"] == "Kafka"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            page("Option D it is, for now.", "- Option A: Redis\n- Option B: Kafka"),
            "by its letter, number or place",
        ),
        (page("Chosen option: 4", "1. Redis\n2. Kafka"), "no option of that name is listed"),
        (page("* *Chosen Alternative: D*\n* It is in line.", "* Redis\n* Kafka"), "no option of that name is listed"),
        (page("### Decision 1: x\n\nUse Redis.\n\n### Decision 2: y\n\nUse Kafka."), "several things"),
        (page("Pattern: Chosen option: Redis. Naming: Chosen option: kebab case."), "may be one of several"),
        (page("Accepted"), "a status and no decision"),
        (page("TBD"), "nothing is decided yet"),
        (page("[PR 1195](https://example.org/1195)"), "a status and no decision"),
        (page("Describe what the decision is, and why it was taken."), "text of the template"),
        (page("TBD, though this leans to Kafka for its tooling."), "nothing is decided yet"),
        (page("Implement the proposal as described above."), "points to another place"),
        (page("Should we use Kafka? Or Redis?"), "nothing is decided yet"),
        (page("Chosen option: {title of option 1}, because {justification}."), "text of the template"),
        (page("Use Redis.", status="Rejected"), "it was rejected"),
        (page("Use Redis.", status="🟣 lilac"), "its status"),
        (page("Use Redis.", title="ADR"), "no title"),
        ("# Queue\n\n## Status\n\nAccepted\n\n## Decision\n\nWe will use Redis.\n", "neither a context nor a reason"),
        (
            "# Queue\n\nJobs get lost.\n\n## Proposal\n\nUse Redis.\n",
            "no English heading, such as Decision, says what was decided",
        ),
        (page("Use Redis.") + "\n## Decision Outcome\n\nUse Kafka.\n", "several decisions"),
        (page("Use Redis.") + "\n## Decision: naming\n\nUse kebab case.\n", "several decisions"),
        (page('We will use "rule 3" and change the names.'), "by its letter, number or place"),
        (page("This document outlines the architecture as it is."), "it describes, and decides nothing"),
        (page("[STILL UNDECIDED]"), "nothing is decided yet"),
        (page("### These fields are removed\n\n| a | b |\n| - | - |\n| 1 | 2 |"), "only a table or code"),
        (page("The chart will look like:\n\n| a | b |\n| - | - |\n| 1 | 2 |"), "goes on in a list, a table or code"),
    ],
)
def test_what_is_in_doubt_is_left_to_an_agent_with_the_reason(text, reason):
    assert reason in doubt(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# [short title of solved problem]\n\n## Decision\n\nx\n", "a template"),
        ("# Decision record template\n\n## Decision\n\nx y z\n", "a template"),
        ("# Decisions\n\n- [One](0001-a.md)\n- [Two](0002-b.md)\n- [Three](0003-c.md)\n", "a list of links"),
    ],
)
def test_templates_and_indexes_are_no_records(text, reason):
    assert adr.read(text, "docs/adr/x.md", NOW) == Unread(reason, is_for_agent=False)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "accepted"),
        ("Accepted", "accepted"),
        ("✅ Accepted", "accepted"),
        ("Approved by the team", "accepted"),
        ("accepted, supersedes ADR-0003", "accepted"),
        ("Supersedes 0003", "accepted"),
        ("Accepted on 2020-01-01. Superseded by ADR-9", "superseded"),
        ("Superceded by [9. X](0009-x.md)", "superseded"),
        ("⌛️ Superseded [0019](0019-x.md)", "superseded"),
        ("Draft", "proposed"),
        ("Under review", "proposed"),
        ("Not implemented", "proposed"),
        ("🤔 Incomplete", "proposed"),
        ("Reverted by [discussion #1198](x)", "deprecated"),
        ("Partly superseded", ""),
        ("> Accepted or Rejected. Valid statuses are: Proposed, Accepted, Rejected, Superseded by ADRzzz", ""),
        ("Discussed by the team, and accepted", ""),
        ("This ADR is accepted", "accepted"),
        ("In review", "proposed"),
        ("Not accepted", "rejected"),
        ("Rejected", "rejected"),
        ("Deprecated", "deprecated"),
        ("🟣 lilac", ""),
        ("proposed | rejected | accepted | deprecated", ""),
    ],
)
def test_status_words(text, status):
    assert adr.parse_status(text) == status


@pytest.mark.parametrize(
    "top",
    [
        "* Status: superseded by ADR-0002\n",
        "- **Status**: Superseded by [2](0002-b.md)\n",
        "| Status | Superseded by ADR-2 |\n| --- | --- |\n| Date | 2020-01-01 |\n",
        "| Date | Status |\n| --- | --- |\n| 2020-01-01 | superseded by ADR-2 |\n",
    ],
)
def test_a_status_is_read_wherever_it_stands(top):
    decision = read(
        f"# ADR-0001: Old\n\n{top}\n## Context\n\nReads were slow.\n\n## Decision\n\nKeep to the old way.\n"
    )

    status = decision.record.content["status"]
    assert (decision.record.title, status, len(decision.replaced_by)) == ("Keep to the old way", "superseded", 1)


@pytest.mark.parametrize(
    ("title", "proposed", "triggers"),
    [
        ("Database", "Database: Keep rows in Postgres 16", ("Database",)),
        ("Keep rows in Postgres", "Keep rows in Postgres", ()),
        ("数据库", "数据库", ()),
    ],
)
def test_a_title_that_is_a_topic_gives_way_to_the_decision_and_stays_a_trigger(title, proposed, triggers):
    decision = read(
        f"# 7. {title}\n\n## Context\n\nReads were slow.\n\n## Decision\n\nWe will keep rows in Postgres 16.\n"
    )

    assert (decision.record.title, decision.record.triggers) == (proposed, triggers)


def test_the_id_of_a_decision_comes_from_its_own_title():
    decision = read(
        "# 7. Database\n\n## Context\n\nReads were slow.\n\n## Decision\n\nWe will keep rows in Postgres.\n"
    )

    assert decision.record.id == "database"


def decision(number, title, status="Accepted", folder="docs/adr"):
    text = f"# {number}. {title}\n\n## Status\n\n{status}\n\n## Context\n\nFiles differ.\n\n"
    text += f"## Decision\n\n{title} everywhere.\n"
    return read(text, f"{folder}/{number:04}-x.md")


@pytest.mark.parametrize(("length", "is_replaced"), [(1_900, True), (2_100, False)])
def test_a_status_is_read_as_far_as_one_reaches(length, is_replaced):
    status = "Accepted. " + "x " * (length // 2) + "Superseded by ADR-2"

    old, _ = adr.link_records([decision(1, "Use tabs", status), decision(2, "Use spaces")])

    assert old.superseded_by == ("use-spaces" if is_replaced else "")


def test_successors_are_linked_both_ways():
    old, new = adr.link_records([decision(1, "Use tabs", "Superseded by ADR-2"), decision(2, "Use spaces")])

    assert (old.superseded_by, old.content["status"]) == ("use-spaces", "superseded")
    assert (new.supersedes, new.content["status"]) == (("use-tabs",), "accepted")


def test_a_link_of_the_successor_alone_is_enough():
    old, new = adr.link_records([decision(1, "Use tabs"), decision(2, "Use spaces", "Accepted. Supersedes 1")])

    assert (old.superseded_by, old.content["status"], new.supersedes) == ("use-spaces", "superseded", ("use-tabs",))


def test_a_record_made_before_keeps_its_id_in_links():
    ids = {"docs/adr/0001-x.md": "tabs-for-all"}

    old, new = adr.link_records([decision(1, "Use tabs"), decision(2, "Use spaces", "Supersedes 1")], ids)

    assert (old.id, new.supersedes) == ("tabs-for-all", ("tabs-for-all",))


def test_numbers_are_those_of_the_same_folder():
    records = adr.link_records(
        [
            decision(1, "Use tabs", "Superseded by ADR-2", folder="a/adr"),
            decision(2, "Use spaces", folder="b/adr"),
        ]
    )

    assert [record.superseded_by for record in records] == ["", ""]


def test_decisions_that_replace_each_other_in_a_circle_are_not_all_lost():
    circle = [decision(1, "Use tabs", "Superseded by 2"), decision(2, "Use spaces", "Superseded by 1")]

    assert [record.superseded_by for record in adr.link_records(circle)] == ["use-spaces", ""]


def test_equal_titles_get_ids_of_their_own():
    twice = [decision(1, "Use tabs"), decision(2, "Use tabs")]

    assert [record.id for record in adr.link_records(twice)] == ["use-tabs", "use-tabs-2"]


def test_two_lists_of_options_are_not_mixed_up():
    text = page("Chosen option: 2").replace(
        "## Decision Outcome",
        "## Options for the broker\n\n1. Redis\n2. Kafka\n\n## Options\n\n1. JSON\n2. Avro\n\n## Decision Outcome",
    )

    assert "no option of that name is listed" in doubt(text)


@pytest.mark.parametrize(
    ("decision", "options"),
    [
        ("Option 2, we will create a queue of our own.", "1. Kafka\n2. Create a queue of our own"),
        ("Option 2 create a queue of our own.", "1. Kafka\n2. Create a queue of our own"),
    ],
)
def test_a_label_is_not_replaced_where_the_page_names_the_option_itself(decision, options):
    assert doubt(page(decision, options))


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        ('Chosen options: "CSS" and "SCSS".', "more than the name of an option"),
        ('Chosen option: "CSS" with a file for SCSS.', "more than the name of an option"),
        ("Chosen option: Option 1 with a fallback to option 2", "no option of that name is listed"),
        ("We will use option 1.", "by its letter, number or place"),
        ("1. We will use Kafka for jobs.\n2. We will use Redis for pages.", "several things, each in an item"),
        ("We use:\n\n- Kafka\n- Redis", "goes on in a list"),
        ("We will use these tools\n\n| a | b |\n| - | - |\n| 1 | 2 |", "goes on in a list, a table or code"),
        ("**Scope** We will use Kafka for jobs.", "begins with a label"),
        ("Kafka is a log. It has topics.", "does not begin with what is decided"),
        ("Halve the queue. Events will have a time.", "does not begin with what is decided"),
        ("We will use Kafka for jobs. However, mail stays with Redis.", "goes on with an exception"),
        ("We will use Kafka for jobs.\n\n(Note that mail is not among them.)", "goes on with an exception"),
        ('Chosen option: "Kafka" as a log of jobs.', "more than the name of an option"),
        ("- Less to run\n\nThe queue is small.\n\n- Less to know\n\nIt is known.", "each in an item of a list"),
        ("- Less to run\n\nThe queue is small.", "does not begin with what is decided"),
        ("We talked about a queue. In particular:\n\n- Kafka", "does not begin with what is decided"),
        ("We will discuss Kafka for jobs.", "does not begin with what is decided"),
        ("The aim is to lose no job.", "does not begin with what is decided"),
        ("We will use Kafka: it is fast.", "it has a label or leads to a list"),
        ("We will use [Kafka][1] for jobs.", "more than plain text"),
        ("We will use Kafka for jobs (FR-3).", "points to another place"),
    ],
)  # fmt: skip
def test_a_decision_that_is_no_plain_sentence_or_name_is_left_to_an_agent(decision, reason):
    assert reason in doubt(page(decision, "1. Use CSS\n2. Use SCSS"))


def test_a_paragraph_of_one_sentence_is_the_decision_in_whatever_words():
    assert read(page("Kafka carries all jobs of the workers.")).record.content["decision"] == (
        "Kafka carries all jobs of the workers."
    )
    assert "does not begin with what is decided" in doubt(page("Kafka currently carries all jobs."))


def test_a_heading_with_a_topic_decides_nothing():
    text = page("We will use Kafka for jobs.").replace("## Decision Outcome", "## Decision: queues")

    assert read(text).record.content["decision"] == "We will use Kafka for jobs."


@pytest.mark.parametrize(
    ("context", "quoted"),
    [
        ("Jobs get lost at night. They are not retried.", "Jobs get lost at night."),
        ("Jobs get lost at night. However, that is by design.", "Pick a queue"),
        ("Story: a queue\n\nJobs get lost at night.", "Jobs get lost at night."),
        ("They get lost. Jobs are not retried.", "Pick a queue"),
        ("- Jobs get lost at night", "Pick a queue"),
        ("Losing jobs at night\nThe workers restart while they run.", "Pick a queue"),
        ("> Jobs get lost.\n\nWorkers restart at night.", "Workers restart at night."),
    ],
)  # fmt: skip
def test_the_first_sentence_of_a_paragraph_of_the_context_is_quoted_or_none(context, quoted):
    text = page("We will use Kafka for jobs.").replace("Jobs get lost when a worker restarts.", context)

    assert read(text).record.content["context"] == quoted


def test_a_page_whose_reasons_cannot_be_quoted_is_named_in_their_place():
    text = page("We will use Kafka for jobs.").replace("Jobs get lost when a worker restarts.", "What is wrong?")

    assert read(text).record.content["rationale"] == ["Not quoted here: see docs/adr/0003-x.md"]


def test_a_demand_on_the_decision_is_not_called_a_reason():
    drivers = "## Decision Drivers\n\n- Jobs have to survive a restart\n- Cost\n\n## Decision Outcome"
    text = page("We will use Kafka for jobs.").replace("## Decision Outcome", drivers)

    decision = read(text)

    assert decision.record.content["rationale"] == ["Decision driver: Jobs have to survive a restart"]
    assert decision.left_out == ("1 of 2 decision drivers (it is a label)",)


def test_the_consequences_of_an_option_are_not_those_of_the_decision():
    options = "## Options\n\n### Redis\n\n#### Consequences\n\n- Two more things have to run\n\n"
    text = page("We will use Kafka for jobs.").replace("## Decision Outcome", f"{options}## Decision Outcome")

    assert "consequences" not in read(text).record.content


def test_the_steps_below_the_consequences_are_no_consequences():
    text = page("We will use Kafka for jobs.") + "\n## Consequences\n\n### Positive\n\n- Jobs are never lost again\n"
    text += "\n### Adding a queue\n\n- Write its name into the list\n"

    assert read(text).record.content["consequences"] == ["Jobs are never lost again"]


def test_an_item_of_a_list_is_quoted_as_a_whole_or_not_at_all():
    items = [
        "One more thing has to run",
        "**Cost** is higher than before",
        "Faster start: workers wait less",
        "Two clusters\n  The old one stays for a year.",
        "More work for all of us\n  - on Mondays",
        "Workers are `idle` less often",
    ]
    text = page("We will use Kafka for jobs.") + "\n## Consequences\n\n" + "".join(f"- {item}\n" for item in items)

    assert read(text).record.content["consequences"] == ["One more thing has to run", "Workers are `idle` less often"]


def test_an_alternative_that_equals_the_decision_is_left_out():
    text = page(
        'Chosen option: "Use Loki", because it is small.', "- Use Loki\n- Use Loki!\n- Other considerations\n- Use ELK"
    )

    assert [option["option"] for option in read(text).record.content.get("alternatives", [])] in ([], ["Use ELK"])


def test_a_draft_is_short_enough_for_the_audit_and_names_what_it_left_out():
    sentence = "The workers of the northern harbour wait for the lock of the queue until the night shift begins."
    long = " ".join(sentence.replace("northern", f"number {number}") for number in range(60))
    text = page(f"We will use Kafka for jobs. {long}") + "".join(f"\n- {sentence} {n} more.\n" for n in range(30))
    text = text.replace("Jobs get lost when a worker restarts.", long)

    decision = read(text)

    item = audit_item.from_record(decision.record)
    measures = report.audit([item], Evidence())
    assert {name: measure.findings for name, measure in measures.items() if measure.findings} == {}
    assert decision.record.content["decision"] == "We will use Kafka for jobs."
    assert [note.partition(" from ")[0] for note in decision.left_out][:2] == ["the decision", "the context"]


def test_a_decision_that_is_put_off_or_only_led_up_to_is_left_to_an_agent():
    put_off = (
        "The keeper of a port will have the key that opens the channels which are bound to that port, and none else. "
        "This will be addressed in another ADR."
    )
    put_off += " x" * 200
    led_up = (
        "Although there are many queues in the harbour, some of them are old and nobody knows who owns them. See below."
    )

    assert "goes on with an exception" in doubt(page(put_off))
    assert "does not begin with what is decided" in doubt(page(led_up))


def test_several_decisions_under_headings_of_their_own_are_left_to_an_agent():
    parts = "".join(f"### Part {name}\n\n{'We will use Kafka for the jobs of that part. ' * 6}\n\n" for name in "abc")

    assert "several things" in doubt(page(parts))


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("docs/adr/0012-template-engine.md", page("Use Jinja for pages.", title="Use Jinja"), "Use Jinja"),
        ("docs/adr/0013-record-template.md", page("Use MADR for records.", title="ADR template"), "ADR template"),
        ("docs/adr/0014-use-a-queue.md", page("Use Kafka for jobs.", title="[short title]"), "Use a queue"),
        ("docs/adr/0015-use-a-queue.md", page("Use Kafka for jobs.", title="Context"), "Use a queue"),
        ("docs/adr/0016-use-a-queue.md", page("Use Kafka for jobs.", title="16. use-a-table-for-jobs"), "Use a queue"),
        ("docs/adr/0018-x.md", page("Use Kafka.", title="Architecture decision record 18: Use a queue"), "Use a queue"),
        ("docs/adr/0017-x.md", page("Use Kafka for jobs.", title="n. Use a queue"), "Use a queue"),
    ],
)  # fmt: skip
def test_a_numbered_file_with_a_decision_is_a_record_whatever_its_name(path, text, title):
    record = read(text, path).record

    assert title in (record.title, *record.triggers)


def test_a_page_with_the_heading_of_another_page_is_left_to_an_agent():
    text = page("Use Kafka for jobs.", title="Record architecture decisions")

    unread = adr.read(text, "docs/adr/0002-use-kafka-for-jobs.md", NOW)

    assert isinstance(unread, Unread)
    assert unread.reason.endswith("it may be that of another page")
    assert read(text, "docs/adr/0001-recording-our-decisions.md")
    assert read(page("We will record all of it.", title="Record architecture decisions"), "docs/adr/0002-use-x.md")


def test_headings_lists_and_code_are_told_apart():
    text = "Title\n=====\n\n- one\n  more\n  - below\n- two\n\n1. a\n2. b\n\n~~~sh\n# no heading\n~~~\nend\n"

    (section,) = markdown.parse(text).sections

    assert (section.title, section.level) == ("Title", 1)
    assert [(block.kind, markdown.flat(block.text), block.line) for block in section.blocks] == [
        ("bullet", "one more; below", 4),
        ("bullet", "two", 7),
        ("numbered", "1. a 2. b", 9),
        ("code", "# no heading", 12),
        ("paragraph", "end", 15),
    ]


# Pieces that mean something to an importer, so that random texts reach more of it.
PIECES = st.sampled_from(
    ["---\n", "status: superseded by 1\n", "# 1. Title\n", "## Decision\n", "## Status\n", "## Decision Outcome\n",
     "Superseded by [x](0001-a.md)\n", 'Chosen option: "x y", because y. z\n', "- Never do `x`\n",
     "1. a\n", "  - b\n", "```bash\n", "## Options\n", "~~~\n", "<!--", "-->", "Chosen option: 1\n", "| Status | b |\n",
     "===\n", "paths: [a\n", "- \n", "\t", "**Why:** ", "Date: 2020-99-99\n", "## Context\n", ":\n", "Option A.\n",
     "In the context of a, facing b, we decided for c to achieve d, accepting e.\n", "- [decision] x y (because z y)\n",
     "type: feedback\n", "### Option A: x\n", "the last option\n"]
)  # fmt: skip
ANY_TEXT = st.lists(PIECES | st.text(max_size=20), max_size=25).map("".join)


@given(ANY_TEXT, st.sampled_from(["a/0001-b.md", "memory/MEMORY.md", "\ud800/x.md", "m.json", ""]))
def test_no_text_makes_an_importer_raise_and_every_record_can_be_written(text, path):
    decision = adr.read(text, path, NOW)
    records = list(memories.read(path, text, NOW).records)
    records += adr.link_records([decision, decision]) if isinstance(decision, Adr) else []

    for record in records:
        assert memory.flaws(record) == []
        assert memory.parse(memory.render(record)) == record
        assert summary_line.render(record)


@pytest.mark.parametrize(
    "text",
    ["#" * 1_000_000, "- " * 500_000, "<!--" * 250_000, "[" * 1_000_000, "a, because " * 90_000, "`" * 1_000_000,
     "- never\n" * 20_000, "## Decision\n" * 20_000, "chosen option: " + "x" * 900_000, "Superseded by " * 70_000,
     "in the context of " * 50_000, "option A and B " * 60_000, '"' * 900_000, "## Option A: x\n" * 20_000,
     "- [decision] x (" * 60_000],
)  # fmt: skip
def test_a_text_made_to_be_slow_is_not(text):
    def read(text):
        adr.read(f"# A\n\nStatus: {text}\n## Decision\n{text}", "adr/1.md", NOW)
        adr.read(f"# A\n\n## Options\n\n{text}\n\n## Decision\nChosen option: {text}", "adr/1.md", NOW)
        memories.read("memory/a.md", text, NOW)

    # Ten times the text: a hundred times the time if it were quadratic.
    cost.assert_at_most(30, lambda: read(text[: len(text) // 10]), lambda: read(text))
