"""`onrecord import` as a person or an agent runs it: drafts, records at once, what is left to an agent, and undo."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.git_project import GitProject
from tests.importers.test_adr import MADR, NYGARD

from .test_try import tree

UNCLEAR = "# 9. Unclear\n\n## Context\n\nC.\n\n## Decision\n\nAccepted\n"


@pytest.fixture
def ferry(project: Path) -> Path:
    for path, text in {
        "CLAUDE.md": "# Ferry\n\n- Never push to main\n",
        "docs/adr/0003-rabbit.md": NYGARD,
        "docs/adr/0007-use-nats.md": MADR,
        "docs/adr/0009-unclear.md": UNCLEAR,
        "docs/adr/template.md": MADR,
    }.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    return project


def drafts(onrecord) -> list[str]:
    return [draft["name"] for draft in json.loads(onrecord("inbox", "--json").out)["drafts"]]


def records(project: Path) -> list[str]:
    return sorted(file.stem for file in project.glob(".claude/memory/decisions/*.json"))


RABBIT, NATS = "use-rabbitmq-for-jobs", "use-nats-jetstream-for-background-jobs"


def test_import_makes_drafts_and_says_file_by_file_what_became_of_it(ferry, onrecord):
    outcome = onrecord("import")

    assert outcome.code == 0
    assert outcome.out == (
        "CLAUDE.md\n"
        "  for the agent: agents load it themselves: rules that always apply stay there\n"
        "docs/adr/0003-rabbit.md\n"
        "  draft decision: Use RabbitMQ for jobs (superseded)\n"
        "docs/adr/0007-use-nats.md\n"
        "  draft decision: Use NATS JetStream for background jobs\n"
        "    not in it: the decision from 'Streams have 3 replicas.' on (a draft is short)\n"
        "docs/adr/0009-unclear.md\n"
        "  for the agent: the section for the decision gives a status and no decision\n"
        "docs/adr/template.md\n"
        "  left out: an index, a template or a page about the folder\n"
        "2 drafts from 2 files; 2 files left to an agent (its skill memory-import)\n"
        "next: onrecord review; to undo this import: onrecord undo\n"
    )
    assert drafts(onrecord) == [NATS, RABBIT]
    assert onrecord("list").out == ""


def test_a_second_import_proposes_nothing_even_of_what_was_rejected(ferry, onrecord):
    onrecord("import")
    onrecord("review", "--reject", RABBIT)

    again = json.loads(onrecord("import", "--json").out)

    assert (again["drafts"], again["unchanged"]) == (0, 2)
    assert drafts(onrecord) == [NATS]
    assert json.loads(onrecord("import", "--again", "--json").out)["drafts"] == 2


def test_undo_takes_an_import_back_and_lets_it_be_made_again(ferry, onrecord):
    onrecord("import")

    assert onrecord("undo").out.startswith("undid: import of ")
    assert drafts(onrecord) == []
    assert json.loads(onrecord("import", "--json").out)["drafts"] == 2


@pytest.mark.parametrize("order", [(RABBIT, NATS), (NATS, RABBIT)])
def test_accepted_drafts_are_linked_in_either_order(ferry, onrecord, order):
    onrecord("import")

    assert [onrecord("review", "--accept", name).code for name in order] == [0, 0]

    record = json.loads(onrecord("show", RABBIT, "--json").out)["record"]
    assert (record["superseded_by"], record["created_at"]) == (NATS, "2021-02-12T00:00:00Z")
    assert json.loads(onrecord("show", NATS, "--json").out)["record"]["supersedes"] == [RABBIT]
    assert onrecord("doctor").code == 0


@pytest.mark.parametrize("has_looked", [True, False])
def test_accept_makes_records_at_once_as_one_change(ferry, onrecord, has_looked):
    if has_looked:
        onrecord("import")

    outcome = json.loads(onrecord("import", "--accept", "--json").out)

    assert (outcome["records"], outcome["drafts"]) == (2, 0)
    assert (drafts(onrecord), records(ferry)) == ([], [NATS, RABBIT])
    assert json.loads(onrecord("show", RABBIT, "--json").out)["record"]["superseded_by"] == NATS
    onrecord("undo")
    assert (len(drafts(onrecord)), records(ferry)) == (2 if has_looked else 0, [])


def test_a_document_that_changed_is_proposed_as_a_change(ferry, onrecord):
    onrecord("import", "--accept")
    file = ferry / "docs/adr/0007-use-nats.md"
    file.write_text(MADR.replace('option: "NATS JetStream"', 'option: "Kafka"'))

    outcome = onrecord("import", "docs/adr")

    assert "docs/adr/0007-use-nats.md\n  changes decision: Use NATS JetStream for background jobs\n" in outcome.out
    assert onrecord("review", "--accept", NATS).code == 0
    record = json.loads(onrecord("show", NATS, "--json").out)["record"]
    assert record["content"]["decision"] == "Kafka"


@pytest.mark.parametrize("inner", ["", "services/ferry"])
def test_what_a_colleague_imported_edited_and_committed_is_not_proposed_again(
    ferry, onrecord, tmp_path, monkeypatch, inner
):
    clone = GitProject(tmp_path / "clone")
    shutil.copytree(ferry, clone.root / inner, dirs_exist_ok=True)
    monkeypatch.chdir(clone.root / inner)
    onrecord("import", "--accept")
    onrecord("update", NATS, "--set", "decision=NATS, in our own words.", "--yes")
    clone.commit()
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(tmp_path / "state of a colleague"))

    unchanged = json.loads(onrecord("import", "--json").out)
    file = clone.root / inner / "docs/adr/0007-use-nats.md"
    file.write_text(MADR.replace('option: "NATS JetStream"', 'option: "Kafka"'))
    changed = json.loads(onrecord("import", "--json").out)

    assert (unchanged["drafts"], unchanged["unchanged"]) == (0, 2)
    assert [proposal["updates"] for file in changed["files"] for proposal in file["proposed"]] == [NATS]


def test_what_only_an_agent_can_read_is_listed_until_it_was_read(ferry, onrecord):
    pending = json.loads(onrecord("import", "--pending", "--json").out)["documents"]

    assert [(document["path"], document["kind"]) for document in pending] == [
        ("CLAUDE.md", "loaded"),
        ("docs/adr/0009-unclear.md", "decision"),
    ]
    assert pending[1]["passages"] == [
        {"first": 7, "last": 9, "heading": "", "reason": "the section for the decision gives a status and no decision"}
    ]
    assert onrecord("import", "--done", "docs/adr/0009-unclear.md").out == "read: docs/adr/0009-unclear.md\n"
    assert "0009" not in onrecord("import", "--pending").out
    (ferry / "docs/adr/0009-unclear.md").write_text(UNCLEAR.replace("C.", "C and D."))
    assert "0009" in onrecord("import", "--pending").out


def test_an_agent_drafts_what_it_read_as_the_skill_says(ferry, onrecord):
    skill = (Path(__file__).parents[2] / "skills" / "import" / "SKILL.md").read_text(encoding="utf-8")
    record = skill.partition("<<'EOF'\n")[2].partition("EOF\n")[0]
    (ferry / "src" / "auth").mkdir(parents=True)
    (ferry / "src" / "auth" / "session.py").write_text("x = 1\n")

    answer = json.loads(onrecord("save", "decision", "--draft", "--json", stdin=record).out)

    (draft,) = json.loads(onrecord("inbox", answer["draft"], "--json").out)["drafts"]
    assert draft["record"]["source"] == "docs/adr/0007-sessions.md:12"
    assert len(draft["record"]["triggers"]) == 2
    assert onrecord("list").out == ""


def test_a_draft_of_somebody_else_is_never_overwritten(ferry, onrecord):
    words = ("--set=context=c", "--set=decision=Mine.", "--set=rationale=r")
    onrecord("save", "decision", "Use RabbitMQ for jobs", *words, "--draft")

    onrecord("import")

    assert drafts(onrecord) == [NATS, RABBIT, f"{RABBIT}-2"]
    mine = json.loads(onrecord("inbox", RABBIT, "--json").out)["drafts"][0]
    assert mine["record"]["content"]["decision"] == "Mine."


def test_a_dry_import_says_the_same_and_writes_nothing(ferry, home, onrecord):
    before = tree(ferry, home)

    dry = onrecord("import", "--dry-run")

    assert tree(ferry, home) == before
    wet = onrecord("import").out.replace("\nnext: onrecord review; to undo this import: onrecord undo", "")
    assert dry.out.replace("would make ", "") == wet


def test_a_credential_is_left_out_by_name(ferry, onrecord):
    token = "ghp_" + "a1" * 18
    (ferry / "docs/adr/0007-use-nats.md").write_text(MADR.replace("RabbitMQ clusters", token), encoding="utf-8")

    outcome = onrecord("import")

    assert outcome.code == 1
    assert "carries a GitHub token" in outcome.out
    assert token not in outcome.out


def test_import_says_when_there_is_nothing(project, onrecord):
    assert onrecord("import").code == 1
    assert onrecord("import", "nowhere.md").code == 1
    assert "--accept and --pending exclude each other" in onrecord("import", "--accept", "--pending").err
    assert onrecord("import", "--done").err.startswith("BAD_INPUT")
    assert onrecord("import", "--done", "nowhere.md").err.startswith("BAD_INPUT")


def test_an_agent_writes_the_triggers_of_all_drafts_in_one_step(ferry, onrecord, tmp_path):
    wanted = json.loads(onrecord("import", "--with-triggers", "--json").out)["triggers_wanted"]
    names = [draft["draft"] for draft in wanted["drafts"]]
    words = ["worker", "broker", "cron", "task", "restart", "cluster", "binary", "stream"]
    phrases = {name: [f"{word} of ferry {number}" for word in words] for number, name in enumerate(names)}

    half = onrecord("import", "--triggers", "-", "--json", stdin=json.dumps({**phrases, NATS: ["fix the bug"]}))
    rest = onrecord("import", "--triggers", "-", "--json", stdin=json.dumps({NATS: phrases[NATS]}))

    assert names == [NATS, RABBIT]
    assert (half.code, json.loads(half.out)["written"], json.loads(half.out)["left"]) == (1, [RABBIT], [NATS])
    assert (rest.code, json.loads(rest.out)) == (0, {"written": [NATS], "refused": [], "left": []})
    assert json.loads(onrecord("import", "--with-triggers", "--json").out)["triggers_wanted"]["drafts"] == []


def test_status_audit_and_check_agree_after_an_import_of_superseded_decisions(ferry, onrecord):
    onrecord("import", "--accept")

    assert onrecord("audit", "--strict").code == 0
    status = json.loads(onrecord("status", "--json").out)
    needs = [need["kind"] for need in status["needs"]]
    assert ("contradicted" in needs, status["out_of_use"]) == (False, {"superseded": 1})
    assert "RabbitMQ" not in onrecord("export", "--format", "agents").out


def test_status_names_the_records_for_which_audit_strict_is_red(ferry, onrecord):
    onrecord("import", "--accept")
    record = ferry / f".claude/memory/decisions/{NATS}.json"
    record.write_text(record.read_text().replace(f'"{RABBIT}"', '"other"'))

    assert onrecord("audit", "--strict").code == 1
    status = json.loads(onrecord("status", "--json").out)
    (need,) = [need for need in status["needs"] if need["kind"] == "contradicted"]
    assert (need["number"], need["command"]) == (1, "onrecord audit --strict")


def test_the_skill_is_named_as_it_is_installed(project, onrecord, home):
    (project / "CONTRIBUTING.md").write_text("# Contributing\n\nRun the tests before a commit.\n")
    names = []
    for hosts in (["codex"], ["claude-code"], ["gemini"]):
        onrecord("connect", *hosts, "--yes")
        names.append(onrecord("import", "CONTRIBUTING.md", "--dry-run").out.rpartition("left to an agent (")[2].strip())
        onrecord("connect", *hosts, "--remove", "--yes")

    assert names == ["$memory-import)", "/memory-import)", "/memory-import)"]


def test_the_request_for_triggers_names_each_draft_and_how_to_answer(ferry, onrecord):
    said = onrecord("import", "--with-triggers").out

    assert "2 drafts without enough triggers: " in said
    assert 'Answer for all at once, as JSON {"draft": ["phrase", …]}: onrecord import --triggers -' in said
    assert [line.split(":")[0] for line in said.splitlines() if line.startswith((NATS, RABBIT))] == [NATS, RABBIT]
    assert f"{NATS}: Use NATS JetStream for background jobs: NATS JetStream" in said
    assert "  1. " in said


def test_a_document_that_changed_stays_a_draft_when_the_others_are_accepted(ferry, onrecord):
    onrecord("import", "docs/adr/0007-use-nats.md", "--accept")
    file = ferry / "docs/adr/0007-use-nats.md"
    file.write_text(MADR.replace('option: "NATS JetStream"', 'option: "Kafka"'))

    outcome = json.loads(onrecord("import", "--accept", "--json").out)

    assert (outcome["records"], outcome["drafts"]) == (1, 1)
    assert (drafts(onrecord), records(ferry)) == ([NATS], [NATS, RABBIT])


def test_a_store_that_an_import_makes_is_ready_for_git(ferry, onrecord):
    onrecord("import", "--accept")

    assert {".gitattributes", ".gitignore"} <= {path.name for path in (ferry / ".claude" / "memory").iterdir()}
