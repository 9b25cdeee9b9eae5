"""What `onrecord remote` says about a shared store: the answer to `add`, and each fact of its state."""

from __future__ import annotations

import json

import pytest

from onrecord import timestamps
from onrecord.cli import remote as command
from onrecord.cli.output import Screen
from onrecord.cli.remote import _RemoteStatus
from onrecord.shared import remotes
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica, SyncState
from onrecord.shared.transport import StoreAccess

from .conftest import DECISION

WAY_OUT = (
    "platform does not have them, so no agent is shown them; each sync offers them again; to send them as drafts: "
    "onrecord remote withdraw platform --draft; to take them back: onrecord remote withdraw platform"
)
NEVER = "0 records, never synced"
FIVE = tuple((f"decisions/{n}.json", "too large") for n in range(1, 6))
SIX = (*FIVE, ("decisions/6.json", "too large"))
WAITS = "1 change to push, not shown to agents yet: a.json"


@pytest.mark.parametrize(
    ("access", "text"),
    [
        (StoreAccess(1, 0, "writer", "", ""), "it has 1 record, and you may write"),
        (StoreAccess(0, 2, "reader", "", ""), "it has 0 records and 2 drafts, and you may only read"),
        (StoreAccess(3, 0, "", "", ""), "it has 3 records"),
        (StoreAccess(2, 1, "owner", "ann", "x"), "you are ann, owner in the team x, which has 2 records and 1 draft"),
    ],
)  # fmt: skip
def test_who_may_do_what_where(access, text):
    assert command._access_text(access) == text


def _facts(state: SyncState, screen: Screen, *, review: bool = False, **fields) -> list[str]:
    remote = Remote("platform", "/srv/memory.git", "git", review=review)
    values = {"records": 0, "waiting": [], "conflicts": [], **fields}
    return list(command._facts(_RemoteStatus(remote, Replica("platform"), state, **values), screen))


@pytest.mark.parametrize(
    ("state", "fields", "facts"),
    [
        ({}, {}, [NEVER]),
        ({"last_sync": "2026-03-02T09:00:00Z"}, {"records": 1}, ["1 record, last synced 2026-03-02T09:00:00Z"]),
        ({}, {"waiting": ["a.json"]}, [NEVER, WAITS]),
        ({}, {"conflicts": ["a", "b"]}, [NEVER, "2 conflicts: onrecord review --remote platform"]),
        ({"offline_since": "2026-03-01T00:00:00Z"}, {}, [NEVER, "offline since 2026-03-01T00:00:00Z"]),
        ({"last_error": "took too long"}, {}, [NEVER, "last error: took too long"]),
        ({"note": "ask for a merge"}, {}, [NEVER]),
        ({"note": "ask for a merge"}, {"waiting": ["a.json"]}, [NEVER, WAITS, "ask for a merge", WAY_OUT]),
        (
            {"refused": (("a.json", "no"),)},
            {"waiting": ["a.json"]},
            [NEVER, WAITS, WAY_OUT, "not pushed: a.json: no"],
        ),
        ({"is_read_only": True}, {}, [NEVER, "your role is reader: nothing can be written to it"]),
        ({"asks_for_review": True}, {}, [NEVER, "it accepts only drafts, which are reviewed there"]),
        ({"asks_for_review": True}, {"review": True}, [NEVER]),
        ({"refused": FIVE}, {}, [NEVER, *(f"not pushed: decisions/{n}.json: too large" for n in range(1, 6))]),
        (
            {"unreadable": SIX},
            {},
            [NEVER, *(f"not pulled: decisions/{n}.json: too large" for n in range(1, 6)), "not pulled: 1 more"],
        ),
    ],
)  # fmt: skip
def test_a_fact_has_a_line_where_it_says_something(home, state, fields, facts):
    assert _facts(SyncState(**state), Screen(), **fields) == facts


def test_on_a_terminal_moments_are_ages(home, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")
    state = SyncState(last_sync="2026-03-02T08:30:00Z", offline_since="2026-02-28T09:30:00Z")

    assert _facts(state, Screen(80, is_terminal=True)) == [
        "0 records, last synced 1 hour ago", "offline since 2 days ago",
    ]  # fmt: skip


@pytest.fixture
def waiting(project, onrecord):
    """A shared store with two records that were not pushed."""
    assert onrecord("remote", "add", "platform", "/srv/memory.git", "--offline").code == 0
    for title in ("Jobs are rows", "Logs go to stdout"):
        assert onrecord("save", "decision", title, *DECISION, "--force", "--remote", "platform").code == 0


JOBS, LOGS = "decisions/jobs-are-rows.json", "decisions/logs-go-to-stdout.json"


def test_some_changes_can_be_taken_back_by_id_or_path_and_then_the_rest(waiting, onrecord):
    unknown = json.loads(onrecord("remote", "withdraw", "platform", "nothing", "--json").out)["error"]
    one = onrecord("remote", "withdraw", "platform", "jobs-are-rows", "--json")
    rest = onrecord("remote", "withdraw", "platform", LOGS)
    none = onrecord("remote", "withdraw", "platform")

    assert (unknown["code"], unknown["message"]) == ("NOT_FOUND", "'nothing' does not wait in platform")
    assert unknown["fix"] == "onrecord remote status platform"
    assert json.loads(one.out) == {"name": "platform", "paths": [JOBS], "drafts": []}
    assert (rest.code, rest.out) == (0, f"took back 1 change: {LOGS}\n")
    assert (none.code, none.out) == (0, "no change to platform waits\n")


def test_changes_can_be_sent_as_drafts_unless_the_role_is_reader(waiting, onrecord):
    replica = Replica("platform")
    replica.write_state(SyncState(is_read_only=True))
    refused = json.loads(onrecord("remote", "withdraw", "platform", "--draft", "--json").out)["error"]
    replica.write_state(SyncState())
    sent = onrecord("remote", "withdraw", "platform", "jobs-are-rows", "--draft")

    assert (refused["code"], refused["message"], refused["fix"]) == (
        "REFUSED",
        "your role in platform is reader: it accepts no drafts",
        "onrecord remote withdraw platform",
    )
    assert sent.out == f"took back 1 change: {JOBS}; 1 draft in its inbox: onrecord sync platform\n"


def test_what_was_not_pushed_is_lost_only_by_force(waiting, onrecord):
    refused = json.loads(onrecord("remote", "remove", "platform", "--json").out)["error"]
    removed = json.loads(onrecord("remote", "remove", "platform", "--force", "--json").out)

    assert refused["message"] == f"platform has 2 changes to push: {JOBS}, {LOGS}"
    assert refused["fix"].endswith("or lose what was not pushed: onrecord remote remove platform --force")
    assert (removed["name"], removed["lost"], removed["replica"]) == (
        "platform",
        [JOBS, LOGS],
        Replica("platform").root,
    )
    assert remotes.connected() == []


def test_the_replica_of_an_earlier_remote_is_not_taken_over(waiting, onrecord):
    remotes.remove("platform")

    error = json.loads(onrecord("remote", "add", "platform", "/srv/other.git", "--json").out)["error"]

    root = Replica("platform").root
    assert error["message"] == f"there is a replica of an earlier remote 'platform' at {root}"
    assert error["fix"] == f"choose another name, or delete {root} if you do not need its records"


def test_an_agent_connects_no_store(project, onrecord, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")

    error = json.loads(onrecord("remote", "add", "platform", "/srv/memory.git", "--offline", "--json").out)["error"]

    assert (error["code"], error["message"], error["fix"]) == (
        "BAD_INPUT", "only a person may connect a shared store", "ask the user to run `onrecord remote add`",
    )  # fmt: skip
    assert remotes.connected() == []


def test_the_list_names_the_kind_and_the_options_of_each(project, onrecord):
    onrecord("remote", "add", "acme", "postgresql://db.example.com/memory#data", "--auto", "--review", "--offline")

    assert onrecord("remote").out == "acme\tpostgresql://db.example.com/memory#data\tpostgres, review, auto\n"
    (acme,) = json.loads(onrecord("remote", "list", "--json").out)["remotes"]
    assert (acme["name"], acme["kind"], acme["review"], acme["auto"]) == ("acme", "postgres", True, True)
    assert onrecord("remote", "status").out.startswith(
        "acme  postgresql://db.example.com/memory#data\n  0 records, never"
    )
