"""Whatever a remote sends is checked without an exception, and only what can be read back comes in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord.record import memory
from onrecord.shared import git_transport, incoming
from onrecord.shared.git_mirror import GitResult
from onrecord.shared.incoming import Spool
from onrecord.shared.reconcile import reconcile
from onrecord.shared.transport import Version
from tests.records import sample, valid_records

PATHS = st.one_of(
    st.text(), st.sampled_from(["decisions/x.json", "inbox/x.json", "decisions/../x.json", "inbox/.json", "inbox/"])
)
DATA = st.one_of(st.binary(), st.text().map(str.encode), st.builds(lambda value: json.dumps(value).encode(), st.text()))


@given(PATHS, DATA)
def test_anything_is_judged(path, data):
    flaw = incoming.file_flaw(path, data)

    assert flaw or not data or json.loads(data)


@given(st.lists(st.tuples(PATHS, st.one_of(DATA, st.just(memory.render(sample(id="x")))))))
def test_what_comes_out_of_a_spool_is_what_went_in_and_has_no_flaw(tmp_path_factory, pairs):
    with Spool(str(tmp_path_factory.getbasetemp())) as spool:
        spool.fill(Version(path, data) for path, data in pairs)

        assert [(version.path, version.data) for version in spool] == [
            pair for pair in pairs if not incoming.file_flaw(*pair)
        ]


@given(st.text())
def test_anything_that_git_says_is_read(text):
    answer = GitResult(1, text.encode("utf-8", "replace"), text)

    assert git_transport.parse_heads(text, "own").branch == git_transport.parse_heads(text, "own").branch.strip("\n")
    assert git_transport.push_outcome(answer) in ("", "done", "behind", "protected")
    assert len(git_transport.shorten(text)) <= 300
    assert git_transport.error_from_git(answer, "https://h/").code in ("OFFLINE", "REFUSED", "BAD_REMOTE")


VERSIONS = valid_records(("decision",))


@settings(max_examples=settings().max_examples // 4)
@given(VERSIONS, VERSIONS, VERSIONS)
def test_two_versions_of_any_record_become_valid_files_that_a_repetition_does_not_change(base, ours, theirs):
    files = [memory.render(memory.from_json({**fields, "id": "x"})) for fields in (base, ours, theirs)]

    reconciled = reconcile("decisions/x.json", *files)

    assert incoming.file_flaw("decisions/x.json", reconciled.local) == ""
    assert reconciled.base == files[2]
    if reconciled.beside:
        assert incoming.file_flaw(*reconciled.beside) == ""
    assert reconcile("decisions/x.json", reconciled.base, reconciled.local, reconciled.base).local == reconciled.local


@pytest.mark.parametrize("name", ["CON.json", "nul.json", "lpt1.json", "a b.json", "ä.json", "a/b.json", "-a.json"])
def test_names_that_some_system_cannot_keep_are_refused(name):
    assert incoming.path_flaw(f"decisions/{name}")
