"""All that `onrecord import` prints, for people and for programs, from the first look to a document that changed."""

from __future__ import annotations

import json

import pytest

from onrecord.importers import trigger_request
from tests.importers.test_adr import MADR

from .test_import import NATS, RABBIT
from .test_import import ferry as ferry

SUMMARY = "left to an agent (its skill memory-import)"
NEXT = "next: onrecord review; to undo this import: onrecord undo"
NOT_IN_IT = "the decision from 'Streams have 3 replicas.' on (a draft is short)"
LOADED = "agents load it themselves: rules that always apply stay there"
PROSE = "prose: only a reader can tell which part is worth a record"
UNCLEAR = "the section for the decision gives a status and no decision"


@pytest.fixture
def guide(ferry):
    """A project with a page for an agent to read, and with drafts of somebody else that have the names of ours."""
    (ferry / "CONTRIBUTING.md").write_text("# Contributing\n\nHow we work.\n\n## Tests\n\nRun them before a commit.\n")
    return ferry


def _last_lines(outcome):
    return outcome.out.split("about the folder\n")[1].splitlines()


def test_everything_about_each_file_is_there_for_programs(guide, onrecord):
    answer = json.loads(onrecord("import", "--dry-run", "--json").out)

    nothing = {"proposed": [], "left_out": [], "for_the_agent": [], "unchanged": False}
    rabbit = {
        "title": "Use RabbitMQ for jobs", "category": "decision", "status": "superseded",
        "source": "docs/adr/0003-rabbit.md:15", "updates": "", "place": f"inbox/{RABBIT}", "not_in_it": [],
    }  # fmt: skip
    nats = {
        "title": "Use NATS JetStream for background jobs", "category": "decision", "status": "accepted",
        "source": "docs/adr/0007-use-nats.md:17", "updates": "", "place": f"inbox/{NATS}", "not_in_it": [NOT_IN_IT],
    }  # fmt: skip
    aside = ["an index, a template or a page about the folder"]
    assert answer == {
        "dry_run": True,
        "files": [
            {"path": "CLAUDE.md", "kind": "loaded", **nothing, "for_the_agent": [LOADED]},
            {"path": "CONTRIBUTING.md", "kind": "guide", **nothing, "for_the_agent": [PROSE]},
            {"path": "docs/adr/0003-rabbit.md", "kind": "decision", **nothing, "proposed": [rabbit]},
            {"path": "docs/adr/0007-use-nats.md", "kind": "decision", **nothing, "proposed": [nats]},
            {"path": "docs/adr/0009-unclear.md", "kind": "decision", **nothing, "for_the_agent": [UNCLEAR]},
            {"path": "docs/adr/template.md", "kind": "aside", **nothing, "left_out": aside},
        ],
        "drafts": 2,
        "records": 0,
        "pending": 3,
        "unchanged": 0,
    }


def test_the_last_lines_say_what_was_made_of_how_much(guide, onrecord):
    rehearsed, drafted, again = onrecord("import", "--dry-run"), onrecord("import"), onrecord("import")

    assert _last_lines(rehearsed) == [f"would make 2 drafts from 2 files; 3 files {SUMMARY}"]
    assert _last_lines(drafted) == [f"2 drafts from 2 files; 3 files {SUMMARY}", NEXT]
    assert _last_lines(again) == [f"0 drafts from 0 files; 3 files {SUMMARY}; 2 unchanged since the last import"]
    accepted = onrecord("import", "docs/adr", "--accept")
    assert _last_lines(accepted) == [
        f"2 records from 0 files; 1 file {SUMMARY}; 2 unchanged since the last import",
        NEXT,
    ]


def test_a_change_of_a_record_is_a_draft_beside_the_new_records_and_one_change_of_the_log(ferry, onrecord):
    onrecord("import", "docs/adr/0007-use-nats.md", "--accept")
    file = ferry / "docs/adr/0007-use-nats.md"
    file.write_text(MADR.replace('option: "NATS JetStream"', 'option: "Kafka"'))

    outcome = onrecord("import", "docs/adr/0003-rabbit.md", "docs/adr/0007-use-nats.md", "--accept")

    assert outcome.out == (
        "docs/adr/0003-rabbit.md\n"
        "  record decision: Use RabbitMQ for jobs (superseded)\n"
        "docs/adr/0007-use-nats.md\n"
        "  changes decision: Use NATS JetStream for background jobs\n"
        f"    not in it: {NOT_IN_IT}\n"
        f"1 draft and 1 record from 2 files\n{NEXT}\n"
    )
    log = json.loads(onrecord("log", "--json").out)["changes"]
    assert [change["action"] for change in log] == ["import"] * 3


def test_the_name_of_a_draft_is_the_first_that_nobody_has(ferry, onrecord):
    onrecord("save", "decision", "Use RabbitMQ for jobs", "--set=context=c", "--set=decision=d", "--set=rationale=r",
             "--draft")  # fmt: skip
    box = ferry / ".claude/memory/inbox"
    (box / f"{RABBIT}-2.json").write_text((box / f"{RABBIT}.json").read_text())

    onrecord("import")
    onrecord("import", "--again")

    assert sorted(path.stem for path in box.iterdir()) == [NATS, RABBIT, f"{RABBIT}-2", f"{RABBIT}-3"]
    (draft,) = json.loads(onrecord("inbox", f"{RABBIT}-3", "--json").out)["drafts"]
    assert (draft["note"], draft["record"]["content"]["decision"][:18]) == ("", "We will use Rabbit")


def test_what_did_not_fit_into_a_draft_is_its_note(ferry, onrecord):
    onrecord("import")

    (draft,) = json.loads(onrecord("inbox", NATS, "--json").out)["drafts"]
    assert draft["note"] == f"left out of docs/adr/0007-use-nats.md: {NOT_IN_IT}"


def test_what_is_left_to_read_is_named_by_its_lines_and_headings(guide, onrecord):
    assert onrecord("import", "--pending").out == (
        "CLAUDE.md\n  1-3  Ferry\n"
        "CONTRIBUTING.md\n  1-4  Contributing\n  5-7  Tests\n"
        f"docs/adr/0009-unclear.md\n  7-9  {UNCLEAR}\n"
    )
    rehearsed = onrecord("import", "--done", "CONTRIBUTING.md", "CLAUDE.md", "--dry-run")
    assert rehearsed.out == "would be marked as read: CONTRIBUTING.md\nwould be marked as read: CLAUDE.md\n"
    assert len(json.loads(onrecord("import", "--pending", "--json").out)["documents"]) == 3
    done = onrecord("import", "--done", "CONTRIBUTING.md", "--json")
    assert json.loads(done.out) == {"read": ["CONTRIBUTING.md"]}
    left = json.loads(onrecord("import", "--pending", "--json").out)["documents"]
    assert left == [
        {
            "path": "CLAUDE.md",
            "kind": "loaded",
            "passages": [{"first": 1, "last": 3, "heading": "Ferry", "reason": LOADED}],
        },
        {
            "path": "docs/adr/0009-unclear.md",
            "kind": "decision",
            "passages": [{"first": 7, "last": 9, "heading": "", "reason": UNCLEAR}],
        },
    ]
    assert json.loads(onrecord("import", "--json").out)["pending"] == 2


def test_the_request_for_triggers_is_whole(ferry, onrecord):
    made = onrecord("import", "docs/adr", "--with-triggers")
    wanted = json.loads(onrecord("import", "docs/adr", "--with-triggers", "--json").out)["triggers_wanted"]

    request = made.out.split(f"{NEXT}\n")[1].splitlines()
    assert request == [
        "",
        f"2 drafts without enough triggers: {wanted['rules']}.",
        *(f"  {number}. {kind}" for number, kind in enumerate(trigger_request.RECIPE, 1)),
        'Answer for all at once, as JSON {"draft": ["phrase", …]}: onrecord import --triggers -',
        f"{NATS}: Use NATS JetStream for background jobs: NATS JetStream",
        f"{RABBIT}: Use RabbitMQ for jobs: We will use RabbitMQ 3.9 with quorum queues.",
    ]
    assert wanted == {
        "rules": trigger_request.RULES,
        "one_of_each": list(trigger_request.RECIPE),
        "answer_with": "onrecord import --triggers -",
        "drafts": [
            {
                "draft": NATS, "title": "Use NATS JetStream for background jobs", "says": "NATS JetStream",
                "because": ["It needs one binary"], "source": "docs/adr/0007-use-nats.md:17", "has": [],
            },
            {
                "draft": RABBIT, "title": "Use RabbitMQ for jobs",
                "says": "We will use RabbitMQ 3.9 with quorum queues.",
                "because": ["From the context: Jobs must survive restarts."],
                "source": "docs/adr/0003-rabbit.md:15", "has": [],
            },
        ],
    }  # fmt: skip


def test_a_dry_run_asks_for_no_triggers_since_there_are_no_drafts(ferry, onrecord):
    rehearsed = onrecord("import", "--with-triggers", "--dry-run", "--json")

    assert "triggers_wanted" not in json.loads(rehearsed.out)


def test_each_answer_with_triggers_is_reported(ferry, onrecord):
    onrecord("import")
    words = ("worker", "broker", "cron", "task", "restart", "cluster", "binary", "stream")
    flaw = 'the trigger "fix it" has only words that any prompt may have, so it is not matched as such'

    refused = onrecord("import", "--triggers", "-", stdin=json.dumps({NATS: ["fix it"]}))
    as_json = onrecord("import", "--triggers", "-", "--json", stdin=json.dumps({NATS: ["fix it"]}))
    phrases = json.dumps({NATS: [f"{word} of ferry 1" for word in words]})
    rehearsed = onrecord("import", "--triggers", "-", "--dry-run", stdin=phrases)
    taken = onrecord("import", "--triggers", "-", stdin=phrases)

    reason = f"{flaw}: name the thing asked for; has 0 triggers"
    assert (refused.code, refused.out) == (
        1, f"refused: {NATS}: {reason}\ntriggers written for 0 drafts; 2 drafts left without\n",
    )  # fmt: skip
    assert json.loads(as_json.out) == {
        "written": [], "refused": [{"draft": NATS, "reason": reason}], "left": [NATS, RABBIT],
    }  # fmt: skip
    assert (rehearsed.code, rehearsed.out) == (0, "triggers would be written for 1 draft; 1 draft left without\n")
    assert (taken.code, taken.out) == (0, "triggers written for 1 draft; 1 draft left without\n")
    assert json.loads(onrecord("log", "--json").out)["changes"][0]["action"] == "draft"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (("--accept", "--with-triggers"), "--with-triggers and --accept"),
        (("--pending", "--with-triggers"), "--with-triggers and --pending"),
        (("--pending", "--triggers", "x"), "--pending and --triggers"),
        (("--done", "--accept"), "--done and --accept"),
    ],
)
def test_options_that_exclude_each_other(ferry, onrecord, words, options):
    refused = onrecord("import", *words)

    assert (refused.code, refused.err.splitlines()[0]) == (2, f"onrecord import: {options} exclude each other")


@pytest.mark.parametrize(
    ("words", "error", "fix"),
    [
        ((), "nothing to import in {}", "name files or folders; to write a record yourself: onrecord save --help"),
        (("--done",), "--done needs the files that were read", "name them after --done"),
    ],
)
def test_an_import_of_nothing_says_what_to_name(project, onrecord, words, error, fix):
    answer = json.loads(onrecord("import", *words, "--json").out)["error"]

    assert (answer["code"], answer["message"], answer["fix"]) == ("BAD_INPUT", error.format(project), fix)
