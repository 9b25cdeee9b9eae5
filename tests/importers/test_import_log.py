"""The log of imported documents: read whole, whatever is in it, and in its form of 0.2.0 too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord import coldstart, paths
from onrecord.importers import import_log
from onrecord.importers.import_log import ImportedDocument
from tests.records import sample

DOCUMENT = ImportedDocument("docs/adr/1.md", "abc", ("p1",), is_read=True)


def log_file(root: Path, state: str = "") -> Path:
    name = coldstart.content_hash(str(root.resolve()).encode())
    return Path(state or paths.state_dir(), "imports", f"{name}.jsonl")


def test_a_line_says_which_change_brought_which_document(tmp_path):
    import_log.add(str(tmp_path), "c1", [DOCUMENT, DOCUMENT._replace(source="b.md", is_read=False)])

    first, second = log_file(tmp_path).read_text(encoding="utf-8").splitlines()

    assert json.loads(first) == {
        "change": "c1", "source": "docs/adr/1.md", "fingerprint": "abc", "proposals": ["p1"], "is_read": True,
    }  # fmt: skip
    assert json.loads(second)["is_read"] is False
    assert import_log.read(str(tmp_path))["docs/adr/1.md"] == DOCUMENT


def test_nothing_is_written_of_no_document_and_of_a_change_that_is_not_there(tmp_path):
    import_log.add(str(tmp_path), "c1", [])
    import_log.forget(str(tmp_path), "c1")

    assert not log_file(tmp_path).exists()
    assert import_log.read(str(tmp_path)) == {}


@pytest.mark.parametrize(
    "line",
    ["{", "[1]", "7", "[" * 5_000, '{"source": 1, "proposals": []}', '{"source": "a", "proposals": "p"}', "{}"],
)
def test_a_line_of_another_form_is_passed_over(tmp_path, line):
    import_log.add(str(tmp_path), "c1", [DOCUMENT])
    with log_file(tmp_path).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    import_log.add(str(tmp_path), "c2", [DOCUMENT._replace(source="b.md")])

    assert list(import_log.read(str(tmp_path))) == ["docs/adr/1.md", "b.md"]


def test_the_log_of_the_program_under_its_old_name_comes_first(tmp_path):
    old = log_file(tmp_path, paths.standard_dir("state", paths.OLD_NAME))
    old.parent.mkdir(parents=True)
    old.write_text('{"change": "c0", "source": "docs/adr/1.md", "fingerprint": "old", "proposals": ["p0"]}\n')
    import_log.add(str(tmp_path), "c1", [DOCUMENT])

    assert import_log.read(str(tmp_path)) == {"docs/adr/1.md": DOCUMENT._replace(proposals=("p0", "p1"))}


def test_what_a_record_says_is_the_same_whatever_its_source_and_dates():
    record = sample()
    same = record._replace(source="a:1", updated_at="2026-04-01T12:00:00Z", id="other")

    assert import_log.proposal_hash(record) == import_log.proposal_hash(same)
    others = [
        record._replace(title="Other"), record._replace(category="constraint"),
        record._replace(content={**record.content, "decision": "Other"}),
    ]  # fmt: skip
    assert len({import_log.proposal_hash(each) for each in (record, *others)}) == 4
