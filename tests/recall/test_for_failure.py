"""The runbook for a failure, or silence."""

from __future__ import annotations

import itertools

import pytest

from onrecord import paths
from onrecord.recall import for_failure
from onrecord.recall.stores import Stores
from onrecord.settings import load_settings
from tests import searching
from tests.agent_context import failure_context
from tests.known_project import known_project

RUNBOOK = {
    "title": "Migration lock is stuck",
    "triggers": ["P3009 migrate found failed migrations"],
    "content": {
        "trigger": "A deploy stops because an earlier migration failed half way",
        "symptoms": ["Error: P3009 migrate found failed migrations in the target database"],
        "steps": ["Open a psql shell", "Run prisma migrate resolve --rolled-back NAME", "Deploy again"],
        "verification": "prisma migrate status prints up to date",
        "root_cause": "the pod was killed during the migration",
    },
}
ERROR = """Exit code 1
Datasource "db": PostgreSQL at 10.1.2.3:5432

Error: P3009

migrate found failed migrations in the target database, new migrations will not be applied."""


@pytest.fixture
def project(tmp_path):
    disk = {"title": "Disk full", "trigger": "No space left on device", "steps": ["df -h"],
                           "verification": "df"}  # fmt: skip
    return known_project(tmp_path, ("runbook", RUNBOOK), ("runbook", disk))


def test_a_failure_brings_the_steps_once(project):
    text = failure_context(project, "npx prisma migrate deploy", ERROR)

    assert "1. Open a psql shell. 2. Run prisma migrate resolve --rolled-back NAME. 3. Deploy again." in text
    assert "Check: prisma migrate status prints up to date" in text
    assert "Cause: the pod was killed" in text
    assert "confidence=" not in text
    assert failure_context(project, "npx prisma migrate deploy", ERROR) == ""
    assert "1. Open" in failure_context(project, "npx prisma migrate deploy", ERROR, session="other")


SEVERAL = """error: cannot open the socket of the mail relay on host lima
Error: P3009 migrate found failed migrations in the target database
error: exporter metrics were rejected by the collector gateway
Error: P3009 found a stuck lock in the scheduler"""


def test_the_text_of_an_error_that_speaks_most_for_a_runbook_counts(project):
    settings, stores = load_settings(project.store.root), Stores(paths.store_refs(project.store.root))
    options = {"mode": "auto", "categories": ("runbook",), "settings": settings}
    lines = SEVERAL.split("\n")
    whole, *by_line = (searching.find(stores.open(project.store.root), text, **options) for text in (SEVERAL, *lines))
    probabilities = [matches[0].probability for matches in (whole, *by_line)]
    assert for_failure.RUN.probability < probabilities[-1] < max(probabilities)
    assert min(probabilities) < for_failure.RUN.probability

    runbook = for_failure.best(stores, SEVERAL, settings)

    assert (runbook.match.id, runbook.match.probability) == ("migration-lock-is-stuck", max(probabilities))


def test_a_runbook_that_quotes_an_error_and_is_improbable_stays_out(project, monkeypatch):
    settings, stores = load_settings(project.store.root), Stores(paths.store_refs(project.store.root))
    probable = for_failure.best(stores, SEVERAL, settings).match.probability

    monkeypatch.setattr(for_failure, "PHRASE", for_failure.QuotationThreshold(probable, 7.0))
    assert for_failure.best(stores, SEVERAL, settings)
    monkeypatch.setattr(for_failure, "PHRASE", for_failure.QuotationThreshold(probable + 1e-9, 7.0))
    assert not for_failure.best(stores, SEVERAL, settings)


@pytest.mark.parametrize(
    "error",
    [
        "Exit code 1\n3 failed, 20 passed in 2.1s\nFAILED tests/test_a.py::test_b - AssertionError: assert 1 == 2",
        "Exit code 2\nsrc/a.c:3:1: error: unknown type name 'foo'",
        "Exit code 1\nnpm error code ENOENT\nnpm error syscall open",
        "Exit code 1\nError: the migration guide was not found",
        "Exit code 1",
    ],
)
def test_a_failure_that_no_runbook_is_about_stays_silent(project, error):
    assert failure_context(project, "make", error) == ""


def test_decisions_are_no_remedy(project):
    project.save("decision", {"title": "P3009 migrate found failed migrations in the target database",
                              "context": "c", "decision": "d", "rationale": "r"})  # fmt: skip

    assert failure_context(project, "x", ERROR).count("<result ") == 1


def test_the_index_tells_whether_any_runbook_may_quote_hundreds_of_words(project):
    words = ["".join(letters) for letters in itertools.product("bdgklmprt", "aeiou", "nrstxz")]
    lines = [" ".join(words[start : start + 27]) for start in range(0, 270, 27)]
    opened = Stores(paths.store_refs(project.store.root)).open(project.store.root)

    def may_be_in() -> bool:
        opened.refresh()
        return for_failure.may_be_in(opened, lines, for_failure.RUN.quoted)

    project.save("runbook", {**RUNBOOK, "title": "Other order", "triggers": [" ".join(reversed(words[:25]))]})
    assert not may_be_in()
    project.save("runbook", {**RUNBOOK, "title": "Same order", "triggers": [" ".join(words[-4:])]})
    assert may_be_in()


def test_the_index_tells_that_a_runbook_names_the_code_of_an_error(project):
    project.save("runbook", {**RUNBOOK, "title": "Ledger waits", "triggers": ["code 40001"]})
    opened = Stores(paths.store_refs(project.store.root)).open(project.store.root)

    def may_be_in(line: str) -> bool:
        return for_failure.may_be_in(opened, [line], for_failure.RUN.quoted)

    assert (may_be_in("ledger: 40001"), may_be_in("ledger: 40002")) == (True, False)
