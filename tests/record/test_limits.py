"""How long the parts of a record may be, and how much of a check's text is read: each limit at its border."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onrecord import scopes
from onrecord.errors import BadRecord
from onrecord.record import lifecycle, memory, naming, summary_line
from onrecord.record.memory import Memory
from onrecord.record.secrets import find_leaks

NOW = "2026-03-02T09:00:00Z"


def a_record(**fields: Any) -> Memory:
    content = {"topic": "indentation", "value": "tabs", "reason": "width"}
    return Memory("preference", "x", "X", **{"content": content, "created_at": NOW, "updated_at": NOW, **fields})


def test_titles_and_tags_are_cut():
    assert naming.clean_title("a" * 119 + " bc") == "a" * 119
    assert naming.clean_title("a" * 118 + " bc") == "a" * 118 + " b"
    assert naming.clean_tag("a" * 59 + "-bc") == "a" * 59
    assert naming.clean_tag("a" * 58 + "-bc") == "a" * 58 + "-b"


def test_a_file_name_has_forty_characters_and_an_id_eighty():
    assert naming.slug("a" * 19 + " " + "b" * 20) == "a" * 19 + "-" + "b" * 20
    long = naming.slug("a" * 20 + " " + "b" * 14 + " " + "c" * 20)
    assert (long[:-5], len(long)) == ("a" * 20 + "-" + "b" * 14, 40)
    assert len(naming.slug("a" * 41)) == 40
    assert naming.numbered_id("i" * 90, 2) == "i" * 78 + "-2"


def test_reasons_and_summaries_of_the_history_are_cut():
    retired = lifecycle.retire(a_record(), "r" * 600, NOW)
    archived = lifecycle.archive(a_record(), "r" * 600, NOW)

    assert (retired.retired_reason, archived.archived_reason) == ("r" * 500, "r" * 500)
    assert retired.changes[-1].summary == "Retired: " + "r" * 291
    assert archived.changes[-1].summary == "Archived: " + "r" * 290
    assert lifecycle.revise(a_record(), {"tags": ["a"]}, now=NOW, summary="s" * 301).changes[0].summary == "s" * 300


@pytest.mark.parametrize("value", ["v" * 201, ["v" * 198]])
def test_values_in_the_history_are_cut_at_200_characters(value: Any):
    assert lifecycle.brief(value) == str(value)[:199] + "…"
    assert lifecycle.is_cut(lifecycle.brief(value))
    assert lifecycle.brief("v" * 200) == "v" * 200
    assert lifecycle.brief(["v" * 196]) == ["v" * 196]
    assert not lifecycle.is_cut("v" * 200)


def test_a_file_of_a_record_has_a_million_bytes_at_most():
    def text(size: int) -> bytes:
        return b'{"x": "' + b"y" * (size - 9) + b'"}'

    assert memory.decode(text(1_000_000), "x.json")
    with pytest.raises(BadRecord, match="larger than 1,000,000 bytes"):
        memory.decode(text(1_000_001), "x.json")
    assert "larger than 1,000,000 bytes" in str(memory.flaws(a_record(source="s" * 1_000_000))[0])


def test_json_is_nested_a_hundred_deep_at_most():
    def nested(depth: int) -> bytes:
        return b"[" * depth + b"]" * depth

    assert memory.decode(nested(100), "x.json")
    for depth in (101, 100_000):
        with pytest.raises(BadRecord, match="nested too deeply"):
            memory.decode(nested(depth), "x.json")


def test_of_the_flaws_of_a_file_twenty_are_kept():
    raw = {**memory.to_json(a_record()), "tags": [f"Tag {number}" for number in range(25)]}

    assert len(memory.parse(json.dumps(raw).encode()).flaws_in_file) == 20


def test_forty_patterns_of_a_scope_are_indexed():
    record = a_record(scope=memory.Scope(paths=tuple(f"src/{number}/**" for number in range(41))))

    assert len(json.loads(scopes.pack(record.scope))[2]) == 40


def test_a_title_takes_at_most_200_characters_of_a_summary_line():
    line = summary_line.unmarked(a_record()._replace(title="t" * 300))

    assert "t" * 199 in line
    assert "t" * 201 not in line
    assert len(summary_line.unmarked(a_record(content={"topic": "t " * 999, "value": "v " * 999}))) <= 420


@pytest.mark.parametrize(
    ("kept", "refused"),
    [
        ('password: "ab-cd"', 'password: "ab-cd!7"'),
        ("password: a1b2c", "password: a1b2c3d"),
        ('api_key="abc1234"', 'api_key="abcd1234"'),
        ('password: "abcdefgh"', 'password: "abcd-fgh"'),
        ('password: "12345678"', 'password: "1234-678"'),
    ],
)
def test_a_value_is_a_credential_from_a_length_on(kept: str, refused: str):
    assert list(find_leaks({"note": kept})) == []
    assert len(list(find_leaks({"note": refused}))) == 1
