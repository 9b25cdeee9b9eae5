"""Whatever a remote sends is checked without an exception, and only what can be read back comes in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord.errors import BadRemote
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


RECORD = memory.render(sample())
PATH = "decisions/sessions-in-redis.json"


@pytest.mark.parametrize(
    ("flaw", "paths"),
    [
        ("", ["decisions/a.json", "inbox/a_b-c0.json", f"decisions/{'x' * 120}.json", "decisions/0.json"]),
        ("not the path of a record or a draft",
         ["a.json", "other/a.json", f"decisions/{'x' * 121}.json", "decisions/A.json", "decisions/a.txt",
          "decisions/_.json", "decisions/a.json/b.json", "decisions/", ""]),
        ("a name that Windows does not allow", ["decisions/con.json", "inbox/nul.json"]),
    ],
)  # fmt: skip
def test_the_path_of_a_shared_file_is_that_of_a_record_or_a_draft(flaw, paths):
    assert {path: incoming.path_flaw(path) for path in paths} == dict.fromkeys(paths, flaw)


def test_a_file_says_which_record_it_is():
    draft = b'{"draft": {"made_at": "2026-03-02T09:30:00Z"}, "record": %s}' % RECORD

    flaws = [
        incoming.file_flaw(path, data)
        for path, data in ((PATH, RECORD), (PATH, b""), ("decisions/b.json", RECORD), ("inbox/b.json", draft),
                           ("other/b.json", b""), ("decisions/a.json", b"{}"), ("inbox/a.json", b"{}"))
    ]  # fmt: skip

    assert flaws[:5] == ["", "", f"says it is {PATH}", "", "not the path of a record or a draft"]
    assert all(flaws[5:]) and not any(flaw.startswith(("decisions/", "inbox/")) for flaw in flaws[5:])


def test_a_credential_is_new_if_the_synced_version_has_it_not():
    token = f"ghp_{'a1B2' * 9}"
    leaking = memory.render(sample(title=f"Use {token}"))

    assert incoming.new_secret(leaking, b"") == incoming.new_secret(leaking, RECORD) != ""
    assert token not in incoming.new_secret(leaking, b"")
    assert [incoming.new_secret(*pair) for pair in ((leaking, leaking), (RECORD, b""), (b"", leaking))] == [""] * 3


def test_a_draft_is_in_the_inbox_and_is_named_after_its_file():
    assert [incoming.is_draft(path) for path in ("inbox/a.json", "inbox.json", "decisions/inbox/a.json")] == [
        True, False, False,
    ]  # fmt: skip
    assert [incoming.stem(path) for path in ("inbox/a.json", "b.json", "x/y/c-d.json")] == ["a", "b", "c-d"]


def test_a_spool_counts_files_and_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(incoming, "MAX_FILES", 2)
    monkeypatch.setattr(incoming, "MAX_BYTES", 2 * len(RECORD))
    version = Version(PATH, RECORD)

    with Spool(str(tmp_path)) as spool:
        spool.fill([version] * 2)
        with pytest.raises(BadRemote) as caught:
            spool.fill([Version(PATH, b"x")])
    with Spool(str(tmp_path)) as spool, pytest.raises(BadRemote):
        spool.fill([Version(PATH, b"")] * 3)

    assert caught.value.message == (
        f"the shared store has more than 2 files or {2 * len(RECORD)} bytes; nothing was taken"
    )
    assert caught.value.fix == "share fewer records, or divide them among several shared stores"


def test_a_spool_keeps_the_reason_for_a_thousand_refused_paths_until_a_good_version_comes(tmp_path):
    with Spool(str(tmp_path)) as spool:
        spool.fill([Version(PATH, b"{}"), Version("x" * 300, b"", "a link"), Version(PATH, RECORD)])
        assert spool.refused == {"x" * 200: "a link"}
        assert spool.paths == {PATH}
        spool.fill(Version(f"decisions/{size}.json", b"x" * size) for size in (1_000_000, 1_000_001))
        assert [reason == "larger than 1,000,000 bytes" for reason in spool.refused.values()] == [False, False, True]

        spool.fill(Version(f"other/{number}", b"") for number in range(1_500))

        assert len(spool.refused) == 1_000
        assert [tuple(version) for version in spool] == [(PATH, RECORD, "")]
        assert [tuple(version) for version in spool] == [(PATH, RECORD, "")]
        assert (spool.is_reset, spool.asks_for_review, spool.is_read_only) == (False, False, False)
