"""The values that options take, and how a record is put together from flags and a JSON object."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from argparse import ArgumentTypeError
from types import SimpleNamespace

import pytest

from onrecord import timestamps
from onrecord.cli import arguments
from onrecord.cli.arguments import RecordFlags
from onrecord.cli.commands import WrongUsage
from onrecord.errors import BadInput
from onrecord.record.memory import MAX_FILE_BYTES

from .conftest import NOW


def flags(*assignments: str, title: str = "", file: str | None = None, **lists: object) -> RecordFlags:
    parts = {name: lists.get(name, ()) for name in ("tags", "triggers", "related_files", "checks")}
    return RecordFlags(file, title, **parts, assignments=assignments)


@pytest.mark.parametrize(
    ("limits", "text", "number"),
    [((), "0", 0), ((1,), "1", 1), ((), "007", 7), ((), "9" * 30, 1_000_000_000), ((0, 65_535), "65535", 65_535)],
)
def test_a_number_within_its_limits_is_taken(limits, text, number):
    assert arguments.count(*limits)(text) == number


@pytest.mark.parametrize(
    ("limits", "text", "refusal"),
    [
        ((), "-1", "must be 0 or more, not -1"),
        ((1,), "0", "must be 1 or more, not 0"),
        ((1,), "1.5", "must be 1 or more, not 1.5"),
        ((0, 65_535), "65536", "must be 0 to 65535, not 65536"),
        ((0, 65_535), "x", "must be 0 to 65535, not x"),
        ((), "", "must be 0 or more, not ''"),
    ],
)
def test_any_other_number_is_refused_with_the_limits(limits, text, refusal):
    with pytest.raises(ArgumentTypeError, match=f"^{re.escape(refusal)}$"):
        arguments.count(*limits)(text)


def test_seconds_have_parts_and_limits():
    parse = arguments.seconds(0.5, 60)

    assert (parse("0.5"), parse("60"), parse("1e1")) == (0.5, 60.0, 10.0)
    for text in ("0.4", "60.1", "nan", "inf", "soon"):
        with pytest.raises(ArgumentTypeError, match=f"^must be 0.5 to 60, not {text}$"):
            parse(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("0d", NOW),
        ("1d", "2026-03-01T09:30:00Z"),
        ("2W", "2026-02-16T09:30:00Z"),
        ("1m", "2026-01-31T09:30:00Z"),
        ("1y", "2025-03-02T09:30:00Z"),
        ("99999d", "1752-05-18T09:30:00Z"),
        ("100001d", "1752-05-17T09:30:00Z"),
        ("999999d", "1752-05-17T09:30:00Z"),
        ("9999999999y", "1752-05-17T09:30:00Z"),
        ("2026-02-28", "2026-02-28"),
        ("2026-02-28T10:00:00Z", "2026-02-28T10:00:00Z"),
    ],
)
def test_an_age_or_a_day_is_a_moment(monkeypatch, text, moment):
    monkeypatch.setattr(timestamps, "now", lambda: NOW)

    assert arguments.since(text) == moment


@pytest.mark.parametrize("text", ["", "d", "3", "3h", "-3d", "²d", "2026-02-30"])
def test_what_is_neither_an_age_nor_a_day_is_refused(text):
    says = re.escape(f"must be a day (2026-03-01) or an age (3w), not {text or repr(text)}")
    with pytest.raises(ArgumentTypeError, match=f"^{says}$"):
        arguments.since(text)


def test_a_file_is_one_that_can_be_read_and_a_hyphen_is_standard_input(tmp_path):
    (tmp_path / "a").write_text("x")

    assert arguments.file("-") == "-"
    assert arguments.file(str(tmp_path / "a")) == str(tmp_path / "a")
    assert arguments.present(str(tmp_path)) == str(tmp_path)
    for path, reason in ((str(tmp_path / "b"), "No such file or directory"), ("a\0b", "embedded null byte")):
        with pytest.raises(ArgumentTypeError, match=f"^must be a file that can be read, not .*: {reason}$"):
            arguments.file(path)
    with pytest.raises(ArgumentTypeError, match=r"^must be a file or a folder, not /"):
        arguments.present(str(tmp_path / "b"))


def test_a_category_is_known_by_its_names():
    assert (arguments.category("decisions"), arguments.category("tech-debt")) == ("decision", "tech_debt")
    with pytest.raises(ArgumentTypeError, match=r"^must be one of decision, .*, session_summary, not nonsense$"):
        arguments.category("nonsense")


def test_a_check_is_an_object_and_an_assignment_has_an_equals_sign():
    assert arguments.check('{"on": "edit"}') == {"on": "edit"}
    assert (arguments.assignment("a="), arguments.assignment("=")) == ("a=", "=")
    says = r'^must be JSON such as \{"on": "command", "starts": \["npm i"\]\}, not '
    for text in ("[]", "x", "[" * 100_000):
        with pytest.raises(ArgumentTypeError, match=says):
            arguments.check(text)
    with pytest.raises(ArgumentTypeError, match=r"^must be FIELD=VALUE, not decision$"):
        arguments.assignment("decision")


def test_a_value_that_is_nested_too_deeply_is_refused(project, onrecord):
    outcome = onrecord("save", "decision", "Jobs are rows", "--set", f"scope={'[' * 100_000}")

    assert (outcome.code, outcome.err.partition(",")[0]) == (1, "BAD_INPUT: --set scope: must be JSON")


def test_options_exclude_and_require_each_other_only_if_they_have_values():
    arguments.exclude("--a", "", {"--b": 1})
    arguments.exclude("--a", 1, {"--b": "", "--c": None})
    arguments.require("--a", "", "--b", "")
    arguments.require("--a", 1, "--b", 1)

    with pytest.raises(WrongUsage, match=r"^BAD_INPUT: --a and --c exclude each other$"):
        arguments.exclude("--a", 1, {"--b": 0, "--c": 1})
    with pytest.raises(WrongUsage, match=r"^BAD_INPUT: --a is only for --b$"):
        arguments.require("--a", 1, "--b", "")


@pytest.mark.parametrize(
    ("assignments", "fields"),
    [
        (("title=A=b",), {"title": "A=b"}),
        (("confidence=0.5",), {"confidence": 0.5}),
        ((" title =T",), {"title": "T"}),
        (("tags=a", "tags=b"), {"tags": ["a", "b"]}),
        (("scope.paths=a", "scope.paths=b"), {"scope": {"paths": ["a", "b"]}}),
        (('scope={"paths": ["a"]}',), {"scope": {"paths": ["a"]}}),
        (("decision=d", "content.context=c"), {"content": {"decision": "d", "context": "c"}}),
        (('content={"decision": "d"}',), {"content": {"decision": "d"}}),
        (('alternatives={"option": "x"}',), {"content": {"alternatives": [{"option": "x"}]}}),
        (('alternatives=[{"option": "x"}]',), {"content": {"alternatives": [{"option": "x"}]}}),
    ],
)
def test_a_set_is_a_field_of_the_record_of_its_content_or_of_an_object(assignments, fields):
    assert flags(*assignments).fields("decision") == fields


@pytest.mark.parametrize(
    ("assignment", "message", "fix"),
    [
        ("titel=x", "'titel' is not a field of a record", "did you mean title?"),
        ("content.decison=x", "'content.decison' is not a field of this record", "use one of status, "),
        ("decison=x", "'decison' is not a field of a record", "did you mean decision?"),
        ("zzz=x", "'zzz' is not a field of this record", "use one of status, "),
        ("scope.zzz=x", "'scope.zzz' is not a field of this record",
         "use one of paths, branches, repositories, languages"),
        ("confidence=high", "--set confidence: must be a number, not 'high'", "--set confidence=…"),
        ("times_updated=x", "--set times_updated: must be a whole number, not 'x'", "--set times_updated=…"),
        ("scope=x", "--set scope: must be JSON, not 'x'", "--set scope=…"),
    ],
)  # fmt: skip
def test_a_set_that_fits_no_field_is_refused(assignment, message, fix):
    with pytest.raises(BadInput) as refused:
        flags(assignment).fields("decision")

    assert refused.value.message == message
    assert refused.value.fix.startswith(fix)


def test_flags_extend_the_lists_of_a_file_and_override_its_other_fields():
    from_file = {"title": "Old", "tags": ["a", "b"], "decision": "d", "content": {"context": "c", "decision": "x"}}
    options = flags("context=new", title="New", tags=("b", "z"), triggers=("how",), file="x.json")

    assert arguments.record_fields(options, "decision", from_file) == {
        "title": "New",
        "tags": ["a", "b", "z"],
        "triggers": ["how"],
        "content": {"context": "new", "decision": "d"},
    }
    assert arguments.record_fields(flags(title="T"), "decision", {"tags": "a"}) == {"title": "T", "tags": "a"}
    assert arguments.record_fields(flags(file="x.json"), "decision", {"content": {}}) == {"content": {}}
    with pytest.raises(BadInput, match=r"^BAD_INPUT: content: must be an object with the fields of its category$"):
        arguments.record_fields(flags(title="T"), "decision", {"content": []})


def test_a_patch_reads_standard_input_only_without_a_flag(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"title": "T"}'))

    assert arguments.update_patch(flags("decision=d"), "decision") == {"content": {"decision": "d"}}
    assert arguments.update_patch(flags(), "decision") == {"title": "T"}
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"titel": "T", "zzz": 1}'))
    with pytest.raises(BadInput, match=r"^BAD_INPUT: 'titel' is not a field of a record$") as misspelt:
        arguments.update_patch(flags(), "decision")
    assert misspelt.value.fix == "did you mean title?"
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"zzz": 1}'))
    assert arguments.update_patch(flags(), "decision") == {"zzz": 1}


@pytest.mark.parametrize("source", ["-", "file"])
def test_a_json_object_is_read_up_to_a_million_bytes(tmp_path, monkeypatch, source):
    def read(text: str) -> dict[str, object]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        (tmp_path / "x.json").write_text(text)
        return arguments.read_json("-" if source == "-" else str(tmp_path / "x.json"))

    assert read("{}".ljust(MAX_FILE_BYTES)) == {}
    with pytest.raises(BadInput, match="larger than 1,000,000 bytes") as large:
        read("{}".ljust(MAX_FILE_BYTES + 1))
    assert large.value.fix == 'give one JSON object, for example {"title": "…", "tags": ["…"], "content": {…}}'
    with pytest.raises(BadInput, match=r": must be a JSON object$") as number:
        read("7")
    assert number.value.fix == 'for example {"title": "…", "tags": ["…"], "content": {…}}'


def test_without_standard_input_or_a_file_that_can_be_read_it_says_what_to_give(tmp_path, monkeypatch):
    nothing = "give a category, a title and --set flags, --file FILE, or JSON on standard input"
    terminal = SimpleNamespace(isatty=lambda: True)
    for stdin in (None, terminal, io.StringIO(" \n")):
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(BadInput, match=r"^BAD_INPUT: there is nothing to save$") as empty:
            arguments.read_json("-")
        assert empty.value.fix == nothing

    with pytest.raises(BadInput, match=r"^BAD_INPUT: cannot read '.*': .*No such file") as missing:
        arguments.read_json(str(tmp_path / "gone.json"))
    (tmp_path / "a b.py").write_text("x")
    with pytest.raises(BadInput, match="not JSON") as code:
        arguments.read_json(str(tmp_path / "a b.py"))

    assert missing.value.fix == "name a JSON file that can be read"
    assert code.value.fix.endswith(f"; for a file that the record is about: --related '{tmp_path / 'a b.py'}'")


def test_text_that_is_not_utf8_is_refused():
    with pytest.raises(BadInput, match=r"^BAD_INPUT: an argument is not UTF-8 text$") as refused:
        arguments.record_fields(flags(title="T\udcff"), "decision", {})

    assert refused.value.fix == "give the text as UTF-8"


def test_the_flags_of_a_record_are_read_from_the_command_line():
    parser = argparse.ArgumentParser()
    arguments.add_record(parser)
    typed = ("--tag", "a", "--trigger", "b", "--related", "c", "--set", "d=e", "--check", '{"on": "edit", "has": "x"}')

    options = arguments.record_flags(parser.parse_args(typed))

    assert options.title == ""
    assert options.added == {
        "tags": ["a"], "triggers": ["b"], "related_files": ["c"], "checks": [{"on": "edit", "has": ["x"]}],
    }  # fmt: skip
    assert options.assignments == ["d=e"]


def test_a_file_that_does_not_exist_is_a_flaw_of_its_field(project, onrecord):
    words = (
        "save",
        "decision",
        "T",
        "--related",
        "gone.py",
        "--set=context=c",
        "--set=decision=d",
        "--set=rationale=r",
    )

    refused, forced = onrecord(*words), onrecord(*words, "--force")

    assert (refused.code, forced.code) == (1, 0)
    assert "gone.py" in refused.err
    as_json = json.loads(onrecord("show", "t", "--json").out)["record"]
    assert as_json["related_files"] == ["gone.py"]
