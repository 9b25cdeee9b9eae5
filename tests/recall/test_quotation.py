"""How much of an output a runbook quotes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.recall import for_failure
from onrecord.record.memory import Memory
from onrecord.search import index
from onrecord.search.index import Index
from tests.known_project import known_project


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
