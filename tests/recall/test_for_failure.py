"""The runbook for a failing command: the error lines of its output, and what of them a runbook quotes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import paths
from onrecord.recall import for_failure
from onrecord.recall.stores import Stores
from onrecord.record.memory import Memory
from onrecord.search import index
from onrecord.search.index import Index
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

    def may_quote() -> bool:
        opened.refresh()
        return bool(for_failure.may_quote(opened, lines, for_failure.RUN.quoted))

    project.save("runbook", {**RUNBOOK, "title": "Other order", "triggers": [" ".join(reversed(words[:25]))]})
    assert not may_quote()
    project.save("runbook", {**RUNBOOK, "title": "Same order", "triggers": [" ".join(words[-4:])]})
    assert may_quote()


def test_the_index_tells_that_a_runbook_names_the_code_of_an_error(project):
    project.save("runbook", {**RUNBOOK, "title": "Ledger waits", "triggers": ["code 40001"]})
    opened = Stores(paths.store_refs(project.store.root)).open(project.store.root)

    def may_quote(line: str) -> bool:
        return bool(for_failure.may_quote(opened, [line], for_failure.RUN.quoted))

    assert (may_quote("ledger: 40001"), may_quote("ledger: 40002")) == (True, False)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("\x1b[31mError:\x1b[0m database is locked", "Error: database is locked"),
        ("2026-11-15T10:00:00.123Z FATAL: role \"app\" does not exist", 'FATAL: role "app" does not exist'),
        ("/home/me/project/src/app.py:12:4: error: missing name", "app.py : error: missing name"),
        ("connect to 10.0.0.7:5432 failed: timeout expired", "connect to 5432 failed: timeout expired"),
        ("job 7f3c1a9e-0b1d-4e55-9c6a-1f2e3d4c5b6a failed: oom", "job failed: oom"),
        ('ts=1 caller=x.go:3 level=error msg="send failed" err="queue is full"', "send failed queue is full"),
        ("Error: connect ECONNREFUSED ::1:5433", "Error: connect ECONNREFUSED 5433"),
        ("ERROR: deadlock (SQLSTATE 23505), process 88213901", "ERROR: deadlock (SQLSTATE 23505), process"),
        ("rpc error: code = Unavailable desc = no leader: error", "no leader: error"),
    ],
)  # fmt: skip
def test_what_differs_from_run_to_run_is_left_out(line, said):
    assert for_failure.error_lines(f"Exit code 1\n{line}") == said


def test_the_telling_lines_of_a_long_output_are_kept():
    output = "\n".join([f"compiling module {n}" for n in range(500)] + ["error: linker not found", "", "make: stopped"])

    said = for_failure.error_lines(f"Exit code 2\n{output}").split("\n")

    assert "error: linker not found" in said
    assert len(said) <= 6


@pytest.mark.parametrize(
    "line",
    [
        "error[E0382]: borrow of moved value",
        "FEHLER:  Relation »berths« existiert nicht",
        "cp: Schreiben nicht möglich: Die Datei kann nicht angelegt werden",
        "erreur : fichier introuvable",
    ],
)
def test_the_first_error_is_kept_however_much_follows(line):
    output = "\n".join(
        [line, *(f"warning: unused variable v{n}" for n in range(400)), *["error: stopped"] * 20, "make: 2"]
    )

    assert line in for_failure.error_lines(f"Exit code 2\n{output}").replace("FEHLER: ", "FEHLER:  ").split("\n")


def test_the_first_and_the_last_lines_of_long_errors_are_kept():
    lines = [f"error {name}: {'long ' * 50}" for name in ("first", *"abcdefghijkl", "last")]

    text = for_failure.error_lines("Exit code 1\n" + "\n".join(lines))

    assert ("error first" in text, "error last" in text, len(text)) == (True, True, for_failure.MAX_ERROR_CHARACTERS)


@pytest.mark.parametrize(
    ("command", "error", "noise"),
    [
        ("grep -rn foo src", "Exit code 1", True),
        ("rg foo", "Exit code 1\n", True),
        ("diff a b", "Exit code 1\n1c1\n< a\n---\n> b", True),
        ("false", "Exit code 1", True),
        ("cd src && diff a b | head -3", "Exit code 1\n1c1\n< a", True),
        ("diff 'a;make' b", "Exit code 1\n1c1\n< a", True),
        ("test -f .env && npm start", "Exit code 1\nError: boom", False),
        ("grep -q db hosts; make", "Exit code 1\nError: boom", False),
        ("grep foo nofile", "Exit code 2\ngrep: nofile: No such file or directory", False),
        ("npm test", "Exit code 1\nError: boom", False),
        ("npm test", "Error: boom", False),
        ("make", "fatal: not a git repository", False),
        ("make", "", True),
        ("make", "\n \n", True),
    ],
)
def test_a_search_that_found_nothing_is_noise(command, error, noise):
    assert for_failure.is_noise(command, error) is noise


@given(st.text(max_size=2_000))
def test_any_output_gives_a_bounded_text(text):
    assert len(for_failure.error_lines(text)) <= for_failure.MAX_ERROR_CHARACTERS


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("project")
    runbook = {"title": "Disk full", "trigger": "No space", "steps": ["df -h"], "verification": "df"}
    known = known_project(folder, ("runbook", runbook))
    opened = index.in_memory(known.store.root)
    yield opened
    opened.close()


def runbook(*symptoms: str, steps: str = "Ask") -> Memory:
    content = {"trigger": "it breaks", "symptoms": list(symptoms), "steps": [steps], "verification": "it works"}
    return Memory("runbook", "r", "A title", content)


@pytest.mark.parametrize(
    ("symptom", "line", "is_whole"),
    [
        ("E0382", "error[E0382]: use of moved value", True),
        ("E0382", "error[E0502]: cannot borrow", False),
        ("SQLSTATE 40001", "  code: '40001',", True),
        ("SQLSTATE 40001", "  code: '23505',", False),
        ("ORA-00942", "ORA-00942: table or view does not exist", True),
        ("connect ECONNREFUSED 127.0.0.1:5433", "Error: connect ECONNREFUSED ::1:5433", True),
        ("connect ECONNREFUSED 127.0.0.1:5433", "Error: connect ECONNREFUSED 127.0.0.1:6379", False),
        (
            "Encountered 7 files that should be pointers: north.tif",
            "Encountered 2 files that should be pointers:",
            True,
        ),
        ("worker 'gw3' crashed at tests/tide/test_model.py", "worker 'gw5' crashed at tests/grid/test_area.py", True),
        ("worker 'gw3' crashed at tests/tide/test_model.py", "FAILED tests/tide/test_model.py", False),
        ("x509: certificate signed by unknown authority", "x509: certificate has expired", False),
        ("Kein Speicherplatz verfügbar", "tar: Schreiben: kein Speicherplatz verfügbar", True),
        ("the error", "the error", False),
        ("", "error", False),
    ],
)
def test_a_phrase_is_quoted_as_a_whole_or_not_at_all(opened, symptom, line, is_whole):
    assert bool(for_failure.whole_phrase(opened, runbook(symptom), [line])) is is_whole


@pytest.mark.parametrize(
    ("step", "line", "has_run"),
    [
        (
            "If sqlx says it was previously applied but modified, restore",
            "it was previously applied but modified",
            True,
        ),
        ("put the change into a new migration", "Error: new migration cannot be applied", False),
        ("look into packages/web/src/pages first", "packages/web/src/pages/cart.tsx: error", False),
        ("look for P3018 in the log", "Error: P3018", True),
    ],
)
def test_a_run_of_words_is_not_two_words_or_a_path(opened, step, line, has_run):
    assert bool(for_failure.rarest_run(opened, runbook(steps=step), [line])) is has_run


@given(symptom=st.text(max_size=400), line=st.text(max_size=400))
def test_any_text_can_be_compared(opened, symptom, line):
    memory = runbook(symptom, steps=line)

    assert for_failure.whole_phrase(opened, memory, [line]) >= 0.0
    assert for_failure.rarest_run(opened, memory, [symptom]) >= 0.0


def test_what_a_failure_reads_is_bounded_where_all_runbooks_have_its_words(project, monkeypatch):
    monkeypatch.setattr(for_failure, "_MAX_RUNBOOKS", 10)
    monkeypatch.setattr(for_failure, "_MAX_OPENED", 3)
    for number in range(30):
        words = "gateway timeout cache proxy broker lock".split()
        turned = " ".join(words[number % 6 :] + words[: number % 6])
        project.save("runbook", {**RUNBOOK, "title": f"Runbook {number}", "triggers": [turned]})
    opened = Stores(paths.store_refs(project.store.root)).open(project.store.root)
    opened.refresh()
    asked: list[int] = []
    select = opened.records_with_terms
    monkeypatch.setattr(
        opened, "records_with_terms", lambda *args: asked.append(len(rows := select(*args))) or rows, raising=False
    )

    found = for_failure.may_quote(opened, ["error: gateway timeout in the cache proxy"], 0.0)

    assert asked and max(asked) <= 10
    assert len(found) <= 3
