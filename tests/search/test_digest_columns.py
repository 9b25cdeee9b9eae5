"""What the index carries of a record for a session's start."""

from __future__ import annotations

from hypothesis import given

from onrecord.record import memory
from onrecord.search import document, index
from tests.records import sample, valid_records


def test_facts_of_a_record() -> None:
    scope = {"paths": ["src/**"], "branches": ["main"]}
    record = sample("tech_debt", confidence=0.5, times_updated=4, related_files=['a "b".py'], scope=scope)

    assert index.unpack_facts(document.pack_facts(record)) == (5, 1.5, ['a "b".py', "src/**"], ["main"], "high")


def test_a_record_without_a_confidence_stands_in_the_middle() -> None:
    assert index.unpack_facts(document.pack_facts(sample())) == (1, 2.0, [], [], "")


@given(valid_records())
def test_every_valid_record_has_facts(raw: dict[str, object]) -> None:
    record = memory.from_json(raw)

    observations, confidence, files, branches, _ = index.unpack_facts(document.pack_facts(record))

    assert observations >= 1 and 0 <= confidence <= 3
    assert files == [*record.related_files, *record.scope.paths][: document.MAX_PATHS]
    assert branches == list(record.scope.branches)[: document.MAX_PATHS]
