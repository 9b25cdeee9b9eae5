"""Records as the index has them: snippets, and the facts for a digest."""

from __future__ import annotations

import os

from hypothesis import given

from onrecord.record import memory
from onrecord.search import document, index
from tests import searching
from tests.records import decision, put, sample, valid_records


def test_the_best_passage_with_the_asked_words_marked(tmp_path):
    root = str(tmp_path / "memory")
    filler = "Nothing of interest is said here. " * 20
    put(root, decision("keys", "Keys", filler + "The signing key is rotated monthly, see key-rotation. " + filler))
    (match,) = searching.find(index.in_memory(root), "rotate the signing key")

    text = match.snippet(("<", ">"))

    assert "<signing> <key> is <rotated> monthly, see <key-rotation.>" in text
    assert text.startswith("… ")
    assert text.endswith(" …")


def test_the_essence_serves_when_the_words_are_in_the_title_only_or_the_file_is_gone(tmp_path):
    root = str(tmp_path / "memory")
    put(root, decision("keys", "Rotation of keys", "On the first of the month"))
    (match,) = searching.find(index.in_memory(root), "rotation")

    assert match.snippet() == match.summary_line
    os.unlink(os.path.join(root, match.path))
    assert match.snippet() == match.summary_line


def test_best_of_nothing():
    assert document.best_passage([], frozenset({"x"})) == ""


def test_facts_of_a_record() -> None:
    scope = {"paths": ["src/**"], "branches": ["main"]}
    record = sample("tech_debt", confidence=0.5, times_updated=4, related_files=['a "b".py'], scope=scope)

    assert index.unpack_facts(document.pack_facts(record)) == (5, 3.0, ['a "b".py', "src/**"], ["main"], "high")


def test_a_record_without_a_confidence_stands_in_the_middle() -> None:
    assert index.unpack_facts(document.pack_facts(sample())) == (1, 2.0, [], [], "")


@given(valid_records())
def test_every_valid_record_has_facts(raw: dict[str, object]) -> None:
    record = memory.from_json(raw)

    observations, confidence, files, branches, _ = index.unpack_facts(document.pack_facts(record))

    assert observations >= 1 and 0 <= confidence <= 3
    assert files == [*record.related_files, *record.scope.paths][: document.MAX_PATHS]
    assert branches == list(record.scope.branches)[: document.MAX_PATHS]


def test_a_generic_trigger_counts_no_more_than_the_body() -> None:
    record = decision(
        "locks", "Timetable import hangs", "Remove the lock", triggers=["fix it", "import never finishes"]
    )

    fields = document.build(record)

    assert fields.triggers.split() == document.build(record._replace(triggers=record.triggers[1:])).triggers.split()
    assert fields.body.split()[-2:] == ["fix", "it"]


def test_a_generic_trigger_shows_nothing_alone(tmp_path) -> None:
    root = str(tmp_path / "memory")
    put(root, decision("locks", "Timetable import hangs", "Remove the lock", triggers=["what do we do next", "fix it"]))
    put(root, decision("plain", "Timetable import waits", "Remove the wait"))

    matches = searching.find(index.in_memory(root), "fix it")

    assert all(match.probability < 0.5 for match in matches)
