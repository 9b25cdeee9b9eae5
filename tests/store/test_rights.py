"""What may be written to the copy of a shared store, by what its last sync noted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.errors import Refused
from onrecord.store import rights

RECORD, DRAFT = "decisions/a.json", "inbox/a.json"


@pytest.fixture
def replica(home: Path) -> Path:
    """Return the copy of the shared store `team`, which has accepted one record."""
    for root in (paths.replica("team").root, paths.accepted("team").root):
        (Path(root) / "decisions").mkdir(parents=True)
    (Path(paths.accepted("team").root) / RECORD).write_text("accepted")
    return Path(paths.replica("team").root)


def note(replica: Path, text: str) -> None:
    (replica.parent / "state.json").write_text(text)


def refusal(root: str, texts: dict[str, str | None]) -> tuple[str, str]:
    with pytest.raises(Refused) as error:
        rights.refuse(root, texts)
    return error.value.message, error.value.fix


@pytest.mark.parametrize(
    ("state", "refused"),
    [
        ({}, []),
        ({"is_read_only": False, "asks_for_review": False}, []),
        ({"is_read_only": 1, "asks_for_review": "yes"}, []),
        ({"asks_for_review": True}, [RECORD]),
        ({"is_read_only": True}, [RECORD, DRAFT]),
        ({"is_read_only": True, "asks_for_review": True}, [RECORD, DRAFT]),
    ],
)
def test_a_remote_takes_everything_or_drafts_or_nothing(
    replica: Path, state: dict[str, object], refused: list[str]
) -> None:
    note(replica, json.dumps(state))

    for path in (RECORD, DRAFT):
        if path in refused:
            refusal(str(replica), {path: "new"})
        else:
            rights.refuse(str(replica), {path: "new"})


@pytest.mark.parametrize("text", ["", "[]", "{", "nonsense", "true"])
def test_a_state_that_says_nothing_forbids_nothing(replica: Path, text: str) -> None:
    rights.refuse(str(replica), {RECORD: "new"})
    note(replica, text)
    rights.refuse(str(replica), {RECORD: "new"})


def test_a_refusal_names_the_file_and_the_way_on(replica: Path) -> None:
    note(replica, '{"is_read_only": true}')
    assert refusal(str(replica), {RECORD: "new"}) == (
        "your role in team is reader, so decisions/a.json was not written",
        "ask its administrator for the role writer; then: onrecord sync team",
    )

    note(replica, '{"asks_for_review": true}')
    assert refusal(str(replica), {DRAFT: "new", RECORD: None}) == (
        "team accepts only drafts from you, which are reviewed there; decisions/a.json was not written",
        "run the same command with --draft; or share a record of your project; onrecord remote status team",
    )


@pytest.mark.parametrize("right", ["is_read_only", "asks_for_review"])
def test_what_the_remote_has_may_be_restored_and_what_it_lacks_deleted(replica: Path, right: str) -> None:
    note(replica, json.dumps({right: True}))

    rights.refuse(str(replica), {RECORD: "accepted", "decisions/b.json": None})
    refusal(str(replica), {RECORD: None})
    refusal(str(replica), {RECORD: "accepted", "decisions/b.json": "new"})


def test_what_a_remote_has_accepted_is_never_changed_here(replica: Path) -> None:
    message, fix = refusal(paths.accepted("team").root, {RECORD: "accepted"})

    assert (message, fix) == ("what team has accepted is not changed here", "onrecord remote status team")


def test_a_store_that_is_not_shared_takes_everything(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"is_read_only": true}')

    rights.refuse(str(tmp_path / "store"), {RECORD: "new"})
    assert rights.unaccepted_paths(str(tmp_path / "store"), [RECORD]) == set()


def test_records_that_a_remote_does_not_have_as_they_are_here(replica: Path) -> None:
    accepted = Path(paths.accepted("team").root)
    for name, here, there in (("same", "x", "x"), ("changed", "x", "y"), ("new", "x", None), ("deleted", None, "x")):
        for root, text in ((replica, here), (accepted, there)):
            if text is not None:
                (root / "decisions" / f"{name}.json").write_text(text)
    names = [f"decisions/{name}.json" for name in ("same", "changed", "new", "deleted", "nowhere")]

    assert rights.unaccepted_paths(str(replica), names) == {names[1], names[2], names[3]}
