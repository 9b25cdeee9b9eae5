"""How a push to a hub is divided, and what is refused of its answers: without a server."""

from __future__ import annotations

import pytest

from onrecord.errors import BadRemote
from onrecord.shared import hub_transport
from onrecord.shared.transport import Push


def sizes(*data: int) -> list[list[int]]:
    changes = [Push(f"decisions/{number}.json", b"x" * size, "") for number, size in enumerate(data)]
    return [[len(change.data) for change in batch] for batch in hub_transport._batches(changes)]


def test_five_hundred_changes_are_one_transaction():
    assert list(map(len, sizes(*[1] * 1_001))) == [500, 500, 1]
    assert list(map(len, sizes(*[1] * 500))) == [500]
    assert sizes() == []


def test_a_transaction_has_four_million_bytes_or_one_change():
    assert sizes(3_000_000, 1_000_000, 1) == [[3_000_000, 1_000_000], [1]]
    assert sizes(3_000_000, 1_000_001) == [[3_000_000], [1_000_001]]
    assert sizes(5_000_000, 1) == [[5_000_000], [1]]
    assert sizes(1_000_000, 3_000_001, 999_999) == [[1_000_000], [3_000_001, 999_999]]


@pytest.mark.parametrize("row", [["a", "b"], ["a"], ["a", b"b", 1], [b"a", b"b"], []])
def test_a_row_of_another_form_is_no_version(row):
    with pytest.raises(BadRemote) as caught:
        hub_transport._parse_version(row)

    assert (caught.value.message, caught.value.fix) == (
        "the database does not answer like a hub: a record has values of the wrong types", "ask its administrator",
    )  # fmt: skip


def test_a_row_is_a_version():
    assert hub_transport._parse_version(["a", b"b"]) == ("a", b"b", "")
