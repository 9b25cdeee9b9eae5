"""No command writes a credential into a store or prints one; every way for text into a record is listed here."""

from __future__ import annotations

import json

import pytest

from tests.secret_corpus import Maker

from .conftest import DECISION

SECRET = Maker("commands that write").password()
SENTENCE = f"The password of the replica is {SECRET}."
FIX = "fix: write where the secret is kept (a variable, a vault), not the secret"

WAYS = {
    "save": (["save", "decision", "Replica", *DECISION, f"--set=consequences={SENTENCE}"], ""),
    "save in the title": (["save", "decision", SENTENCE, *DECISION], ""),
    "save by tag": (["save", "decision", "Replica", *DECISION, "--set", f"triggers={SENTENCE}"], ""),
    "save from JSON": (["save", "preference"], {"title": "R", "topic": "t", "value": SENTENCE, "reason": "r"}),
    "save as a draft": (
        ["save", "preference", "--draft"],
        {"title": "R", "topic": "t", "value": SENTENCE, "reason": "r"},
    ),
    "save over a record": (
        ["save", "decision", "--update", "jobs-are-rows"],
        {"title": "Jobs are rows", "context": SENTENCE, "decision": "Rows.", "rationale": ["Less to run."]},
    ),
    "update": (["update", "jobs-are-rows", "--hash", "HASH"], {"content": {"context": SENTENCE}}),
    "update with a summary": (
        ["update", "jobs-are-rows", "--hash", "HASH", "--summary", SENTENCE],
        {"content": {"context": "Imports must survive two restarts."}},
    ),
    "retire": (["retire", "jobs-are-rows", "--reason", SENTENCE], ""),
    "archive": (["archive", "jobs-are-rows", "--reason", SENTENCE], ""),
}


def stored(project):
    return "\n".join(path.read_text("utf-8", "replace") for path in project.rglob("*") if path.is_file())


@pytest.fixture
def project_with_record(project, onrecord):
    assert onrecord("save", "decision", "Jobs are rows", *DECISION).code == 0
    return project


@pytest.mark.parametrize(("words", "stdin"), WAYS.values(), ids=WAYS.keys())
def test_a_command_that_would_write_a_credential_writes_nothing(project_with_record, onrecord, words, stdin):
    before = stored(project_with_record)
    read = json.loads(onrecord("show", "jobs-are-rows", "--json").out)["hash"]
    words = [read if word == "HASH" else word for word in words]

    outcome = onrecord(*words, stdin=json.dumps(stdin) if stdin else "")

    assert outcome.code == 1
    assert outcome.err.startswith("SECRET_FOUND: ")
    assert f"password of the replica is {SECRET[:4]}…" in outcome.err
    assert FIX in outcome.err
    assert SECRET not in outcome.out + outcome.err
    assert stored(project_with_record) == before


def test_an_import_leaves_the_credential_out(project, onrecord):
    (project / "adr").mkdir()
    text = f"# Replica\n\n## Context\n\n{SENTENCE}\n\n## Decision\n\nNever restart the replica by hand.\n"
    (project / "adr" / "0001-replica.md").write_text(text)

    outcome = onrecord("import")
    assert outcome.code == 1

    assert SECRET not in outcome.out + outcome.err
    assert SECRET not in "".join(path.read_text("utf-8") for path in (project / ".claude").rglob("*.json"))


def test_doctor_and_audit_find_what_was_insisted_on(project, onrecord):
    words = ("save", "decision", "Replica", *DECISION, f"--set=consequences={SENTENCE}", "--allow-secret")
    assert onrecord(*words).code == 0

    for command in ("doctor", "audit"):
        outcome = onrecord(command)
        assert f"is {SECRET[:4]}…" in outcome.out
        assert SECRET not in outcome.out + outcome.err


@pytest.mark.parametrize("whose", [(), ("--user",)])
def test_a_setting_takes_no_credential(project, onrecord, home, whose):
    onrecord("init")
    onrecord("init", "--user")

    outcome = onrecord("config", "set", *whose, "categories.decision.description", SENTENCE)

    assert outcome.err.startswith("SECRET_FOUND: categories.decision.description carries ")
    assert FIX in outcome.err
    assert SECRET not in outcome.out + outcome.err
    configs = [*project.rglob("memory-config.json"), *home.rglob("memory-config.json")]
    assert not any(SECRET in path.read_text() for path in configs)
