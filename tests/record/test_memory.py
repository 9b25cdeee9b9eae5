from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onrecord
from onrecord.errors import BadRecord, OnrecordError
from onrecord.record import drafts, memory, schema
from onrecord.record.check import Check
from onrecord.record.memory import Anchor, HistoryEntry, Memory
from onrecord.scopes import Scope
from tests.records import CONTENT, NOW, any_json, raw, sample, valid_records

_FROM_SOURCE = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(onrecord.__file__))!r}); "

EARLIER = b"""{
  "schema_version": "1.0",
  "category": "constraint",
  "id": "rate-limit",
  "title": "API rate limit",
  "record_status": "active",
  "created_at": "2025-11-02T10:00:00Z",
  "updated_at": "2025-11-02T10:00:00Z",
  "tags": ["api", "limits"],
  "related_files": ["src/client.py"],
  "confidence": 0.9,
  "content": {
    "kind": "limitation",
    "rule": "At most 100 requests a minute",
    "impact": ["429"],
    "severity": "high",
    "active": true
  },
  "changes": [{"date": "2025-11-02T10:00:00Z", "summary": "Initial creation"}],
  "times_updated": 0,
  "retired_at": null
}
"""


@given(valid_records())
def test_a_written_record_reads_back_as_itself(record):
    there = memory.from_json(record)

    back = memory.parse(memory.render(there))

    assert back == there
    assert memory.flaws(back) == []
    assert memory.render(back) == memory.render(there)


@given(valid_records())
def test_unknown_keys_survive_at_every_level(record):
    written = json.loads(memory.render(memory.from_json(record)))

    assert _unknown(written) == _unknown(record)


def _unknown(value, prefix=""):
    """Every key that starts with x-, with where it stands and its value."""
    if isinstance(value, list):
        return [found for number, item in enumerate(value) for found in _unknown(item, f"{prefix}[{number}]")]
    if not isinstance(value, dict):
        return []
    own = [(f"{prefix}.{key}", item) for key, item in value.items() if key.startswith("x-")]
    inner = [f for k, item in value.items() if not k.startswith("x-") for f in _unknown(item, f"{prefix}.{k}")]
    return sorted(own + inner, key=str)


@given(st.binary(max_size=200) | any_json.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_memory_or_a_bad_record(data):
    try:
        assert isinstance(memory.parse(data), Memory)
    except BadRecord as error:
        assert error.fix


@given(valid_records(), st.data())
def test_a_record_with_any_value_in_any_place_is_read_or_refused(record, data):
    places = [(record, key) for key in record] + [(record["content"], key) for key in record["content"]]
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(any_json)

    try:
        there = memory.parse(json.dumps(record).encode())
    except OnrecordError:
        return
    # What was wrong with the file is not written again.
    written = memory.parse(memory.render(there))
    assert written._replace(flaws_in_file=()) == there._replace(flaws_in_file=())


@pytest.mark.parametrize("category", schema.FOLDERS)
def test_a_file_is_small_to_diff(category):
    written = memory.render(sample(category))

    assert json.loads(written) == raw(category)
    assert written.decode() == json.dumps(raw(category), ensure_ascii=False, indent=2) + "\n"


def test_keys_keep_their_order_whatever_order_they_came_in():
    record = raw(origin="user", confidence=0.5, related_files=["a.py"], **{"x-own": 1})

    assert memory.render(memory.from_json(dict(reversed(record.items())))) == memory.render(memory.from_json(record))


def test_a_record_of_the_earlier_plugin_loads_unchanged():
    there = memory.parse(EARLIER)

    assert there == Memory(
        category="constraint",
        id="rate-limit",
        title="API rate limit",
        content={**CONTENT["constraint"], "impact": ["429"]},
        created_at="2025-11-02T10:00:00Z",
        updated_at="2025-11-02T10:00:00Z",
        tags=("api", "limits"),
        related_files=("src/client.py",),
        confidence=0.9,
        changes=(HistoryEntry("2025-11-02T10:00:00Z", "Initial creation"),),
    )
    assert memory.flaws(there) == []
    assert {k: v for k, v in json.loads(EARLIER).items() if v} == {k: v for k, v in memory.to_json(there).items() if v}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe", "not UTF-8 (byte 0)"),
        (b'{"a": "\x00"}', "not JSON"),
        (b"", "not JSON"),
        (b"[]", "record: must be a JSON object, not a list"),
        (b"null", "record: must be a JSON object, not null"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": 1e999}', "1e999 is too large a number"),
        (b'{"a": "\\ud800"}', "contains half a surrogate pair"),
        (b'{"a": "\\uD800"}', "contains half a surrogate pair"),
        (b"[" * 10_000, "nested too deeply"),
        (b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", "nested too deeply"),
        (b" " * 1_000_001, "larger than 1,000,000 bytes"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "not JSON"),
        (b"{}", "schema_version: is missing"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_what_cannot_be_a_record_says_why(data, reason):
    with pytest.raises(BadRecord) as caught:
        memory.parse(data, "decisions/x.json")

    assert caught.value.message.startswith("decisions/x.json: ")
    assert reason in caught.value.message
    assert "decisions/x.json" in caught.value.fix


@pytest.mark.parametrize("field", ["schema_version", "category", "id", "title", "content"])
def test_a_record_without_a_vital_field_is_none(field):
    with pytest.raises(BadRecord, match=f"{field}: is missing"):
        memory.parse(json.dumps({**raw(), field: None}).encode())


@pytest.mark.parametrize("field", ["record_status", "created_at", "updated_at", "tags"])
def test_a_record_without_a_lesser_field_stays_in_use(field):
    there = memory.parse(json.dumps(raw(**{field: None})).encode())

    assert there.title == "Sessions in Redis"
    assert there.record_status == "active"


def test_anchors_and_changes_without_their_required_keys_did_crash():
    record = raw(anchors=[{}, {"path": None, "x-own": 1}], changes=[{}], scope={})

    there = memory.parse(json.dumps(record).encode())

    assert there.anchors == (Anchor(), Anchor(unknown={"x-own": 1}))
    assert there.changes == (HistoryEntry(),)
    assert there.scope == Scope()


def test_a_byte_order_mark_from_a_windows_editor_is_no_reason_to_lose_a_record():
    assert memory.parse(b"\xef\xbb\xbf" + memory.render(sample())) == sample()


def test_crlf_line_ends_read_the_same():
    assert memory.parse(memory.render(sample()).replace(b"\n", b"\r\n")) == sample()


def test_the_last_of_two_equal_keys_counts():
    data = memory.render(sample()).replace(b'"title": ', b'"title": "First", "title": ', 1)

    assert memory.parse(data) == sample()


def test_a_pair_of_surrogates_is_one_character():
    data = json.dumps(raw(title="Deploy \U0001f680")).encode()

    assert b"\\ud83d" in data
    assert memory.parse(data).title == "Deploy \U0001f680"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"x-own": "\ud800"}, "contains half a surrogate pair"),
        ({"x-own": float("inf")}, "cannot be written as JSON"),
        ({"x-own": {1, 2}}, "cannot be written as JSON"),
        ({"x-own": "x" * 1_000_000}, "larger than 1,000,000 bytes"),
    ],
    ids=["surrogate", "infinity", "set", "large"],
)
def test_what_could_not_be_read_back_is_a_flaw_before_it_is_written(fields, reason):
    (flaw,) = memory.flaws(sample(**fields))

    assert reason in flaw.message


def test_a_record_may_nest_a_hundred_levels_and_no_more():
    nested = [json.loads("[" * depth + "]" * depth) for depth in (99, 100)]

    assert [len(memory.flaws(sample(**{"x-own": value}))) for value in nested] == [0, 1]


def test_only_new_flaws_stand_in_the_way_of_a_change():
    before = raw(title="x" * 121, changes=[{"date": "?", "summary": "a"}, {"date": NOW, "summary": "b"}])
    after = {**before, "changes": [{"date": NOW, "summary": "b"}, {"date": "?", "summary": "a"}], "tags": []}

    assert [flaw.where for flaw in memory.new_flaws(after, before)] == ["tags"]


def test_where_it_belongs():
    there = sample("tech_debt")

    assert there.path == "tech-debt/sessions-in-redis.json"


@pytest.mark.parametrize(
    ("value", "text", "lines"),
    [
        (["a", "b"], "a; b", ("a", "b")),
        ("one", "one", ("one",)),
        ([], "", ()),
        (None, "", ()),
        (["a", 1, None], "a", ("a",)),
    ],
)
def test_content_as_text_and_lines(value, text, lines):
    there = sample()._replace(content={"it": value})

    assert (there.text("it"), there.lines("it")) == (text, lines)


def test_a_field_that_is_not_there_has_no_text():
    assert (sample().text("nowhere"), sample().lines("nowhere")) == ("", ())


def test_a_record_is_read_where_the_working_directory_was_deleted(tmp_path):
    """The process that completes an index failed at one record there, on Python 3.13.0 alone."""
    script = (
        f"import os; os.rmdir({str(tmp_path)!r}); from onrecord.record import memory; memory.decode(b'{{}}', 'file')"
    )

    command = [sys.executable, "-S", "-E", "-c", _FROM_SOURCE + script]
    done = subprocess.run(command, cwd=tmp_path, check=False, timeout=600)

    assert done.returncode == 0


def test_what_a_record_does_not_have_is_not_in_its_file():
    bare = Memory("preference", "x", "X", {"topic": "t"})
    parts = bare._replace(anchors=(Anchor("a.py"),), changes=(HistoryEntry(NOW, "Saved"),), checks=(Check(("edit",)),))

    assert memory.to_json(bare) == {
        "schema_version": schema.SCHEMA_VERSION, "category": "preference", "id": "x", "title": "X",
        "record_status": "active", "created_at": "", "updated_at": "", "tags": [],
        "content": {"topic": "t"}, "times_updated": 0,
    }  # fmt: skip
    assert memory.to_json(parts)["anchors"] == [{"path": "a.py"}]
    assert memory.to_json(parts)["changes"] == [{"date": NOW, "summary": "Saved"}]
    assert memory.to_json(parts)["checks"] == [{"on": "edit"}]
    assert Anchor() == Anchor("", "", "", "", "", "", "")
    assert HistoryEntry() == HistoryEntry("", "", "", None, None)
    assert (bare.times_updated, bare.confidence, bare.flaws_in_file) == (0, None, ())


def test_what_a_draft_does_not_have_is_not_in_its_file():
    record = Memory("preference", "x", "X", {"topic": "t"})

    body = json.loads(drafts.render(drafts.Draft("x", record)))

    assert body == {"draft": {}, "record": memory.to_json(record)}
    draft = drafts.Draft("x", sample())
    assert drafts.parse("x", drafts.render(draft))._replace(hash="") == draft


@pytest.mark.parametrize(
    ("data", "message", "fix"),
    [
        (b"\xff", "not UTF-8 (byte 0)", "restore it with git, or move it out of the store: d/x.json"),
        (b"[]", "record: must be a JSON object, not a list",
         "correct the file by hand, or move it out of the store: d/x.json"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_record_is_restored_or_corrected_or_moved(data, message, fix):
    with pytest.raises(BadRecord) as caught:
        memory.parse(data, "d/x.json")

    assert (caught.value.message, caught.value.fix) == (f"d/x.json: {message}", fix)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0])
def test_a_number_of_64_bits_is_read(number):
    assert memory.decode(b'{"x": %d}' % number, "x") == {"x": number}


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**60])
def test_a_number_of_more_than_64_bits_is_refused_with_its_beginning(number):
    with pytest.raises(BadRecord) as caught:
        memory.decode(b'{"x": %d}' % number, "x")

    assert caught.value.message == f"x: not JSON ({str(number)[:40]} is too large a number)"


def test_a_float_that_is_too_large_is_refused_with_its_beginning():
    with pytest.raises(BadRecord) as caught:
        memory.decode(b'{"x": 1' + b"0" * 50 + b"e999}", "x")

    assert caught.value.message == f"x: not JSON (1{'0' * 39} is too large a number)"
    with pytest.raises(BadRecord, match="-1e999 is too large a number"):
        memory.decode(b'{"x": -1e999}', "x")


@pytest.mark.parametrize(
    ("field", "text", "lines"),
    [
        ("a.b", "x; y", ("x", "y")),
        ("a.c", "z", ("z",)),
        ("a.none", "", ()),
        ("t.b", "", ()),
        ("n", "3", ("3",)),
        ("none.b", "", ()),
    ],
)
def test_a_part_of_an_object_in_the_content_is_named_with_a_dot(field, text, lines):
    record = sample()._replace(content={"a": {"b": ["x", "y"], "c": "z"}, "t": "text", "n": 3})

    assert (record.text(field), record.lines(field)) == (text, lines)


@pytest.mark.parametrize(
    ("where", "plain"),
    [("changes[3].date", "changes.date"), ("a[12].b[0]", "a.b"), ("title", "title"), ("a[x]", "a[x]")],
)
def test_the_path_of_a_flaw_without_positions(where, plain):
    assert memory.without_positions(where) == plain
