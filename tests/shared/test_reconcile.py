"""Merging one file that both sides may have changed: each case, with the draft that keeps our side."""

from __future__ import annotations

import json

import pytest

from onrecord.coldstart import content_hash
from onrecord.record import memory
from onrecord.shared.reconcile import Conflict, Reconciled, reconcile
from tests.records import CONTENT, sample

PATH, DRAFT = "decisions/sessions-in-redis.json", "inbox/a.json"


def record(**fields: object) -> bytes:
    return memory.render(sample(**fields))


BASE, OURS, THEIRS = record(), record(title="Ours"), record(title="Theirs")


@pytest.mark.parametrize(
    ("base", "local", "remote", "reconciled"),
    [
        (BASE, BASE, BASE, Reconciled(BASE, BASE)),
        (BASE, OURS, BASE, Reconciled(OURS, BASE)),
        (BASE, OURS, OURS, Reconciled(OURS, OURS)),
        (BASE, BASE, THEIRS, Reconciled(THEIRS, THEIRS)),
        (b"", b"", THEIRS, Reconciled(THEIRS, THEIRS)),
        (BASE, BASE, b"", Reconciled(b"", b"")),
        (BASE, b"", BASE, Reconciled(b"", BASE)),
        (BASE, b"", THEIRS, Reconciled(THEIRS, THEIRS, is_revived=True)),
        (BASE, OURS, b"", Reconciled(OURS, b"", is_revived=True)),
    ],
)
def test_a_change_of_one_side_is_taken_and_an_edit_wins_over_a_deletion(base, local, remote, reconciled):
    for path in (PATH, DRAFT):
        assert reconcile(path, base, local, remote) == reconciled


def test_of_two_drafts_under_one_name_ours_gets_another():
    name = f"{'x' * 80}-{content_hash(b'ours')[:8]}"
    path = f"inbox/{'x' * 90}.json"

    assert reconcile(path, b"", b"ours", b"theirs") == Reconciled(
        b"theirs", b"theirs", Conflict(path, ("the whole record",), name), (f"inbox/{name}.json", b"ours")
    )


def test_edits_of_different_fields_are_merged():
    ours = record(content={**CONTENT["decision"], "context": "Three stores"})

    reconciled = reconcile(PATH, BASE, ours, THEIRS)

    assert (reconciled.conflict, reconciled.beside, reconciled.is_revived) == (None, None, False)
    assert json.loads(reconciled.local)["title"] == "Theirs"
    assert json.loads(reconciled.local)["content"]["context"] == "Three stores"
    assert reconciled.base == THEIRS


def test_a_merge_that_changes_nothing_keeps_the_bytes_of_the_remote():
    remote = json.dumps(json.loads(THEIRS), indent=7).encode()

    assert reconcile(PATH, BASE, THEIRS, remote) == Reconciled(remote, remote)


def test_where_both_changed_one_field_the_remote_wins_and_ours_is_a_draft():
    ours = record(title="Ours", content={**CONTENT["decision"], "decision": "Ours", "context": "Ours"})
    theirs = record(title="Theirs", content={**CONTENT["decision"], "decision": "Theirs"})

    reconciled = reconcile(PATH, BASE, ours, theirs)

    assert reconciled.conflict is not None and reconciled.beside is not None
    path, data = reconciled.beside
    draft = json.loads(data)
    name = reconciled.conflict.draft
    assert name.startswith("conflict-sessions-in-redis-") and len(name) == len("conflict-sessions-in-redis-") + 8
    assert (path, reconciled.conflict) == (
        f"inbox/{name}.json", Conflict(PATH, ("title", "content.decision"), name),
    )  # fmt: skip
    assert draft["draft"] == {
        "updates": "sessions-in-redis", "revises": content_hash(reconciled.local), "made_at": "2026-03-02T09:30:00Z",
        "summary": "Conflict in a shared store: title, content.decision", "fields": ["title", "content.decision"],
    }  # fmt: skip
    assert (draft["record"]["title"], draft["record"]["content"]["decision"]) == ("Ours", "Ours")
    merged = json.loads(reconciled.local)
    assert (merged["title"], merged["content"]["decision"]) == ("Theirs", "Theirs")
    assert merged["content"]["context"] == "Ours"
    assert reconcile(PATH, BASE, ours, theirs) == reconciled, "a sync that is repeated writes the same"


def test_a_long_id_is_cut_in_the_name_of_the_draft():
    ours, theirs = (record(id="x" * 100, title=title) for title in ("Ours", "Theirs"))

    reconciled = reconcile(f"decisions/{'x' * 100}.json", b"", ours, theirs)

    assert reconciled.conflict is not None
    assert reconciled.conflict.draft.startswith(f"conflict-{'x' * 80}-")
    assert len(reconciled.conflict.draft) == 9 + 80 + 9
