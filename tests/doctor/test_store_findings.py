"""What the doctor says of a store, in its own words, with the fix for each."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.doctor import Finding, store_checks
from onrecord.settings import Settings, load_settings
from onrecord.shared import remotes
from onrecord.store.store import Store
from tests.records import put, sample

NOW = "2026-03-02T09:30:00Z"
RULE = {"title": "Use uv", "triggers": ["pnpm or poetry for kafka"], "origin": "user"}


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    store = Store(str(tmp_path / "memory"))
    _put(store, "first")
    store_checks.repair(store)
    return store


def _put(store, record_id, **fields):
    put(store.root, sample("decision", **{"id": record_id, **RULE, **fields}))


def _findings(store, settings=None):
    """Return all findings but the count of records, with `/m` for the folder of the store."""
    results = store_checks.examine_store(store, settings or load_settings(store.root, ""))
    return [
        Finding(severity, check, what.replace(store.root, "/m"), fix.replace(store.root, "/m"))
        for severity, check, what, fix in results
        if severity != "ok"
    ]


def test_a_folder_without_a_store(tmp_path):
    assert list(store_checks.examine_store(Store(str(tmp_path / "none")), Settings())) == [
        Finding("note", "store", f"there is no memory at {tmp_path}/none", "onrecord init")
    ]


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (
            '{\n<<<<<<< ours\n"a": 1\n=======\n',
            "resolve the git conflict in decisions/bad.json, delete its markers, then git add it",
        ),
        (
            "<<<<<<< ours",
            "resolve the git conflict in decisions/bad.json, delete its markers, then git add it",
        ),
        (
            '{"schema_version": "9.0", "category": "decision", "id": "bad"}',
            "update Onrecord if a newer one wrote decisions/bad.json; otherwise give it the schema_version 1.0",
        ),
    ],
)
def test_a_file_that_cannot_be_read_as_a_record(store, text, fix):
    Path(store.root, "decisions", "bad.json").write_text(text)

    (finding,) = [finding for finding in _findings(store) if finding.check == "records"]

    assert (finding.severity, finding.fix) == ("error", fix)


@pytest.mark.parametrize(("seconds", "is_found"), [(59, False), (60, True)])
def test_a_temporary_file_is_a_leftover_after_a_minute(store, monkeypatch, seconds, is_found):
    leftover = Path(store.root, "decisions", ".tmp-1-2-x")
    leftover.write_text("half")
    moment = 1_700_000_000.0
    os.utime(leftover, (moment, moment))
    monkeypatch.setattr(store_checks.time, "time", lambda: moment + seconds)
    monkeypatch.setattr(store_checks, "_future_dates", lambda *arguments: ())

    expected = Finding(
        "warning", "leftovers", "/m/decisions/.tmp-1-2-x was left by an interrupted writer", "onrecord doctor --fix"
    )
    assert _findings(store) == ([expected] if is_found else [])


@pytest.mark.parametrize(("seconds", "is_found"), [(3_600, False), (3_601, True)])
def test_a_record_may_be_dated_an_hour_ahead(store, seconds, is_found):
    moment = timestamps.from_seconds(timestamps.seconds(NOW) + seconds)
    _put(store, "second", updated_at=moment)
    store_checks.repair(store)

    (*_, text) = ("", *(finding.what for finding in _findings(store) if finding.check == "clock"))

    assert text == (f"decisions/second.json was changed on {moment}, which is in the future" if is_found else "")


def test_several_records_of_the_future_are_one_finding(store):
    for name in ("second", "third"):
        _put(store, name, updated_at="2027-01-01T00:00:00Z")
    store_checks.repair(store)

    assert _findings(store) == [
        Finding(
            "warning",
            "clock",
            "decisions/second.json (and 1 more) was changed on 2027-01-01T00:00:00Z, which is in the future",
            "set the clock if it is wrong; any change updates the date: onrecord edit second",
        )
    ]


@pytest.mark.parametrize(("seconds", "is_found"), [(3_500, False), (3_700, True)])
def test_a_file_that_was_written_in_the_future(store, seconds, is_found):
    future = time.time() + seconds
    os.utime(Path(store.root, "decisions", "first.json"), (future, future))

    expected = Finding(
        "warning",
        "clock",
        f"the clock says {NOW}, but a record's file was written at {timestamps.from_seconds(future)}",
        "set the clock; if it is right, `touch` the files",
    )
    assert _findings(store) == ([expected] if is_found else [])


def test_records_of_an_earlier_plugin_have_no_triggers(store):
    _put(store, "second", triggers=None, origin=None)
    _put(store, "third", origin=None)
    _put(store, "fourth", triggers=None)
    store_checks.repair(store)

    (finding,) = _findings(store)

    assert finding[:3] == ("note", "records", "1 record of an earlier plugin without triggers")
    assert finding.fix.startswith("to list them, worst first: onrecord improve; an agent drafts triggers: ")


def test_triggers_that_any_prompt_may_have(store):
    for name in ("second", "third"):
        _put(store, name, triggers=["why"])
    store_checks.repair(store)

    (finding,) = _findings(store)

    assert finding[:2] == ("warning", "records")
    assert finding.what.startswith("decisions/second.json (and 1 more): ")
    assert finding.fix == "onrecord edit second; for all of them: onrecord audit"


def test_a_credential_is_one_finding_of_a_record(store):
    _put(store, "second", source="AK" + "IA0123456789ABCDEF and AK" + "IA9876543210ABCDEF")
    store_checks.repair(store)

    assert _findings(store) == [
        Finding(
            "error",
            "secrets",
            "decisions/second.json: source carries an AWS access key (AKIA…)",
            "onrecord edit second; then change that credential, since everyone with the repository has it",
        )
    ]


def test_what_links_say_and_how_they_are_put_right(store):
    records = [
        sample("decision", id="a", superseded_by="gone", **RULE),
        sample("decision", id="b", supersedes=["c"], **RULE),
        sample("decision", id="c", **RULE),
        sample("decision", id="d", superseded_by="d", supersedes=["d"], **RULE),
        sample("runbook", id="c", **RULE),
    ]

    assert [(finding.check, finding.fix) for finding in store_checks.link_problems(records)] == [
        ("links", "give one of them another title: onrecord edit runbooks/c.json"),
        ("links", "remove superseded_by from the current one: onrecord edit d"),
        ("links", "remove superseded_by, or name the record that replaces it: onrecord edit a"),
        ("links", "read it, and remove the claim: onrecord edit b"),
    ]


def test_an_index_md_and_git_files_that_are_not_those_of_the_store(store):
    Path(store.root, "index.md").write_text("")
    os.unlink(Path(store.root, ".gitignore"))

    (index, git) = _findings(store)

    assert (index[:2], index.fix) == (("warning", "index"), "onrecord index rebuild")
    assert index.what.startswith("index.md disagrees with the records: ")
    assert git == Finding("note", "git", ".gitignore lacks the lines for this store", "onrecord init")


def test_a_value_that_a_project_may_not_set_is_a_note(store):
    Path(store.root, "memory-config.json").write_text('{"capture": {"mode": "auto", "max_suggestions": "x"}}')

    assert [(finding.severity, finding.check) for finding in _findings(store)] == [
        ("note", "config"),
        ("warning", "config"),
    ]


@pytest.mark.parametrize(
    ("share", "findings"),
    [
        (0.0, []),
        (
            0.2,
            [
                Finding(
                    "note",
                    "switches",
                    "retrieval.holdout: 20% of your sessions get no records",
                    "onrecord config unset retrieval.holdout --user",
                )
            ],
        ),
    ],
)
def test_sessions_that_are_left_without_records(share, findings):
    settings = Settings()
    settings.take("user", True, {"retrieval.holdout": share})

    assert [
        finding._replace(what=finding.what.replace("20 %", "20%")) for finding in store_checks.examine_holdout(settings)
    ] == findings


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ([], None),
        (["platform"], "1 shared store connected: platform"),
        (["acme", "platform"], "2 shared stores connected: acme, platform"),
    ],
)
def test_the_shared_stores_that_are_connected(names, what):
    for name in names:
        remotes.add(name, f"/srv/{name}.git")

    assert list(store_checks.examine_remotes()) == ([Finding("ok", "remotes", what)] if what else [])


def test_a_list_of_shared_stores_that_cannot_be_read_is_for_another_check(home):
    remotes.add("platform", "/srv/platform.git")
    Path(home, ".claude", "memory", "remotes.json").write_text("{")

    assert list(store_checks.examine_remotes()) == []
