"""A record is about files that are there, or somebody says that they will come."""

from __future__ import annotations

import json

import pytest

from .conftest import DECISION

SAVE = ("save", "decision", "Jobs are rows", *DECISION)
CODE = "class SessionStore:\n    def renew(self):\n        return 1\n"


@pytest.fixture
def code(project):
    (project / ".git").mkdir()
    for name in ("src/auth/session.py", "web/session.py", "src/billing.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(CODE)
    return project


@pytest.mark.parametrize(
    ("related", "what", "guess"),
    [
        ("src/auth/sesion.py", "does not exist", "did you mean src/auth/session.py? "),
        ("src/auht/session.py", "does not exist", "did you mean src/auth/session.py? "),
        ("session.py", "does not exist", "did you mean web/session.py? "),
        ("src/Billing.ts", "does not exist", "did you mean src/billing.py? "),
        ("docs/none.md", "does not exist", ""),
        ("src/auth/sesion.py#renew", "does not exist", "did you mean src/auth/session.py#renew? "),
        ("src/auth/session.py#SessionStore.renw", "refers to a part that src/auth/session.py does not have",
         "did you mean src/auth/session.py#SessionStore.renew? "),
        ("src/auth/session.py#L40-L50", "refers to lines that src/auth/session.py does not have", ""),
    ],
)  # fmt: skip
def test_a_file_or_part_that_is_not_there_is_refused_with_a_guess(code, onrecord, related, what, guess):
    outcome = onrecord(*SAVE, "--related", related)

    fix = f"{guess}correct it, or add --force for a file that does not exist yet"
    assert outcome.err == f"BAD_INPUT: related file '{related}' {what}\nfix: {fix}\ndocs: onrecord docs BAD_INPUT\n"
    assert not (code / ".claude").exists()
    assert onrecord(*SAVE, "--related", related, "--force").code == 0


@pytest.mark.parametrize("related", ["/etc/passwd", "../other/secret.py"])
def test_a_file_outside_the_project_is_refused_whatever_is_said(code, onrecord, related):
    outcome = onrecord(*SAVE, "--related", related, "--force")

    assert outcome.err == (
        f"BAD_INPUT: related file '{related}' is outside the project\n"
        "fix: name files relative to the project, such as src/auth.py\n"
        "docs: onrecord docs BAD_INPUT\n"
    )


@pytest.mark.parametrize(
    "related", ["src/auth/session.py", "./src/billing.py", "src/auth", "src/auth/", "src/**/*.sql",
                "src/auth/session.py#SessionStore.renew", "src/auth/session.py#L1-L2", "web/session.py#self"]
)  # fmt: skip
def test_what_is_there_is_accepted(code, onrecord, related):
    assert onrecord(*SAVE, "--related", related).code == 0


def test_an_absolute_path_in_the_project_is_saved_as_a_relative_one(code, onrecord):
    assert onrecord(*SAVE, "--related", str(code / "src/billing.py")).code == 0

    record = json.loads(onrecord("show", "jobs-are-rows", "--json").out)["record"]
    assert record["related_files"] == ["src/billing.py"]


def test_json_drafts_and_updates_are_checked_too(code, onrecord):
    partial = {"title": "T", "context": "c", "decision": "d", "rationale": "r", "related_files": ["src/biling.py"]}
    for words in (("save", "decision"), ("save", "decision", "--draft")):
        outcome = onrecord(*words, stdin=json.dumps(partial))
        assert "did you mean src/billing.py?" in outcome.err

    assert onrecord(*SAVE, "--related", "later.py", "--force").code == 0
    assert "did you mean src/billing.py?" in onrecord("update", "jobs-are-rows", "--related", "src/biling.py").err
    # What the record names already was accepted before.
    assert onrecord("update", "jobs-are-rows", "--related", "later.py", "--related", "src/billing.py").code == 0


def test_your_own_store_is_tied_to_no_files(code, onrecord):
    assert onrecord(*SAVE, "--related", "any/where.py", "--user").code == 0
