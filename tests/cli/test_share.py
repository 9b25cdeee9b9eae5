"""`onrecord share`: what others get of a record, who is asked, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from onrecord.cli import share as share_command
from onrecord.record import author
from onrecord.shared import remotes
from onrecord.shared.engine import SyncResult
from onrecord.shared.reconcile import Conflict
from onrecord.shared.replicas import Replica, SyncState
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store

from .conftest import DECISION, NOW, Outcome

TITLE = "Jobs are rows"
CONFLICT = Conflict("decisions/jobs-are-rows.json", ("title",), "conflict-jobs-are-rows-1")


@pytest.fixture
def platform(project: Path, onrecord: Any) -> Store:
    """Return the store of a remote that was synced while it was empty."""
    return connected("platform")


def connected(name: str, **flags: bool) -> Store:
    remotes.add(name, f"/srv/{name}.git", **flags)
    replica = Replica(name)
    replica.write_state(SyncState(last_sync=NOW))
    return Store(replica.store)


@pytest.fixture
def saved(project: Path, onrecord: Any) -> dict[str, Any]:
    """Return a record with every field that has a meaning only in this project."""
    (project / "jobs.py").write_text("x = 1\n")
    old = json.loads(onrecord("save", "decision", "Jobs in Celery", *DECISION, "--force", "--json").out)["id"]
    words = ["--related=jobs.py", "--trigger=where do jobs run", f"--supersedes={old}", "--set=scope.branches=main"]
    outcome = onrecord("save", "decision", TITLE, *DECISION, *words, "--set=source=session 12: 'rows!'", "--json")
    assert outcome.code == 0, outcome
    return json.loads(outcome.out)


def share(onrecord: Any, *words: str) -> dict[str, Any]:
    outcome: Outcome = onrecord("share", *words, "--to=platform", "--yes", "--json")
    return json.loads(outcome.out)


def test_the_copy_says_what_is_true_elsewhere_and_nothing_more(onrecord, project, saved, platform):
    answer = share(onrecord, saved["id"])

    record = platform.get(saved["id"]).memory
    mine = Store(str(project / ".claude" / "memory")).get(saved["id"]).memory
    assert (answer["action"], answer["path"]) == ("shared", "decisions/jobs-are-rows.json")
    copied = ("title", "content", "tags", "triggers", "scope", "created_at", "origin", "category")
    assert [getattr(record, name) for name in copied] == [getattr(mine, name) for name in copied]
    assert mine.related_files and mine.anchors and mine.supersedes and len(mine.changes) > 1
    assert (record.related_files, record.anchors, record.supersedes) == ((), (), ())
    assert record.source == "the project ferry"
    assert [change.summary for change in record.changes] == ["Shared from the project ferry"]
    assert "session 12" not in json.dumps(answer["record"])


def test_nothing_is_shared_on_a_guess(onrecord, saved, platform):
    outcome = onrecord("share", "jobs-ar", "--to=platform", "--yes")

    assert outcome.code == 1 and "'jobs-ar' is not a full name; nothing was changed" in outcome.err
    assert not platform.has(saved["id"])


def test_a_record_of_the_users_own_names_no_project(onrecord, platform):
    onrecord("save", "decision", TITLE, *DECISION, "--user")

    share(onrecord, "jobs-are-rows", "--user")

    assert platform.get("jobs-are-rows").memory.source == ""


def test_scopes_are_those_of_the_record_unless_a_flag_says_otherwise(onrecord, saved, platform):
    share(onrecord, saved["id"], "--repositories=github.com/acme/*", "--languages=python", "--paths=src/**")

    scope = platform.get(saved["id"]).memory.scope
    assert (scope.repositories, scope.languages) == (("github.com/acme/*",), ("python",))
    assert (scope.paths, scope.branches) == (("src/**",), ("main",))


def test_without_somebody_to_ask_nothing_is_shared(onrecord, saved, platform):
    refused = onrecord("share", saved["id"], "--to", "platform")

    assert refused.code == 1 and "not a terminal, so nothing was shared" in refused.err and "--yes" in refused.err
    assert not platform.has(saved["id"])


def test_a_dry_run_shows_what_would_leave_and_writes_nothing(onrecord, saved, platform):
    answer = json.loads(onrecord("share", saved["id"], "--to", "platform", "--dry-run", "--json").out)

    assert answer["dry_run"] and answer["record"]["title"] == TITLE
    assert not platform.has(saved["id"])


def test_sharing_it_again_changes_nothing(onrecord, saved, platform):
    share(onrecord, saved["id"])
    before = platform.get(saved["id"])

    assert share(onrecord, saved["id"])["action"] == "unchanged"
    assert platform.get(saved["id"]) == before


def test_a_changed_record_is_refused_and_then_updates_the_one_that_was_shared(onrecord, saved, platform):
    share(onrecord, saved["id"])
    onrecord("update", saved["id"], "--trigger=add celery")

    refused = onrecord("share", saved["id"], "--to=platform", "--yes")
    answer = share(onrecord, saved["id"], f"--update={saved['id']}")

    assert refused.code == 1 and "NEAR_DUPLICATE" in refused.err and "--update jobs-are-rows" in refused.err
    assert answer["action"] == "updated"
    record = platform.get(saved["id"]).memory
    assert record.triggers == ("where do jobs run", "add celery") and record.times_updated == 1


def test_an_id_that_another_record_has_gets_a_number(onrecord, saved, platform):
    other = platform_record(onrecord, platform, saved, title="Paint it blue")

    answer = share(onrecord, saved["id"])

    assert answer["path"] == "decisions/jobs-are-rows-2.json"
    assert platform.read(other).memory.title == "Paint it blue"


def platform_record(onrecord: Any, platform: Store, saved: dict[str, Any], **fields: Any) -> str:
    """Write a record of other people with our id, and return its path."""
    raw = json.loads(Path(saved["file"]).read_text())
    raw |= {"content": {"context": "c", "decision": "Walls are blue.", "rationale": ["r"]}, "triggers": [], **fields}
    path = os.path.join(platform.root, "decisions", "jobs-are-rows.json")
    os.makedirs(os.path.dirname(path))
    Path(path).write_text(json.dumps({**raw, "supersedes": [], "anchors": [], "related_files": []}))
    return "decisions/jobs-are-rows.json"


def test_what_others_retired_is_not_shared_again_by_chance(onrecord, saved, platform):
    share(onrecord, saved["id"])
    onrecord("retire", saved["id"], "--remote=platform", "--reason=one customer only")

    refused = onrecord("share", saved["id"], "--to=platform", "--yes")

    assert "is retired" in refused.err
    assert f"onrecord restore {saved['id']} --remote platform" in refused.err


def test_a_remote_that_asks_for_review_gets_a_draft(onrecord, saved):
    reviewed = connected("platform", review=True)

    first = share(onrecord, saved["id"])
    second = share(onrecord, saved["id"])

    assert (first["action"], first["path"]) == ("drafted", "inbox/jobs-are-rows.json")
    assert second["path"] == "inbox/jobs-are-rows-2.json"
    assert not reviewed.has(saved["id"])

    accepted = onrecord("review", "--remote=platform", "--accept=jobs-are-rows")

    assert accepted.code == 0 and reviewed.get(saved["id"]).memory.title == TITLE


def test_a_drafted_update_shows_both_versions_in_review(onrecord, saved, platform):
    share(onrecord, saved["id"])
    onrecord("update", saved["id"], "--trigger=add celery")

    share(onrecord, saved["id"], f"--update={saved['id']}", "--draft")
    screen = onrecord("review", "--remote=platform", stdin="a\n").out

    assert "changes decisions/jobs-are-rows.json" in screen and "  + add celery" in screen
    assert platform.get(saved["id"]).memory.triggers == ("where do jobs run", "add celery")
    assert Inbox(platform.root).drafts() == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--to=nowhere"], "no remote 'nowhere' is connected"),
        (["--to=platform", "--update=x"], "'x'"),
    ],
)
def test_what_cannot_be_meant_is_refused(onrecord, saved, platform, words, reason):
    refused = onrecord("share", saved["id"], "--yes", *words)

    assert refused.code == 1 and reason in refused.err and "fix: " in refused.err


def test_a_copy_cannot_update_one_record_and_supersede_another(onrecord, saved, platform):
    refused = onrecord("share", saved["id"], "--yes", "--to=platform", "--update=x", "--supersedes=y")

    assert refused.code == 2 and "--update and --supersedes exclude each other" in refused.err


def test_a_remote_that_was_never_synced_is_a_warning(onrecord, saved):
    remotes.add("platform", "/srv/memory.git")

    outcome = onrecord("share", saved["id"], "--to=platform", "--yes")

    assert outcome.code == 0 and "platform was never synced" in outcome.err


def test_records_that_no_longer_hold_are_not_shared(onrecord, saved, platform):
    superseded = onrecord("share", "jobs-in-celery", "--to=platform", "--yes")
    onrecord("retire", saved["id"], "--reason=over")
    retired = onrecord("share", saved["id"], "--to=platform", "--yes")

    assert "is superseded by jobs-are-rows" in superseded.err
    assert "is retired" in retired.err and f"onrecord restore {saved['id']}" in retired.err


def test_a_summary_of_a_session_is_not_shared(onrecord, platform):
    fields = ["--set=goal=g", "--set=outcome=success", "--set=completed=c"]
    assert onrecord("save", "session_summary", "What we did", *fields).code == 0

    refused = onrecord("share", "what-we-did", "--to=platform", "--yes")

    assert "sums up a session" in refused.err


def test_a_credential_is_refused(onrecord, platform):
    key = "".join(("AKIA", "QYLPMN5HHHFPZAM2"))
    onrecord("save", "decision", "Keys", *DECISION, f"--set=context=Use {key}", "--allow-secret")

    refused = onrecord("share", "keys", "--to=platform", "--yes")

    assert "SECRET" in refused.err and key not in refused.err and list(platform.entries()) == []


def test_an_agent_is_never_asked(onrecord, saved, platform, monkeypatch):
    monkeypatch.setenv(next(iter(author.HOST_VARIABLES)), "1")
    monkeypatch.setattr("onrecord.cli.terminal.at_terminal", lambda: True)

    assert "not a terminal, so nothing was shared" in onrecord("share", saved["id"], "--to=platform").err


def test_undo_takes_a_share_back_before_the_sync(onrecord, saved, platform):
    share(onrecord, saved["id"])

    assert onrecord("undo", "--remote=platform").code == 0
    assert not platform.has(saved["id"])


def test_on_a_terminal_it_says_what_leaves_and_asks(onrecord, saved, platform, monkeypatch):
    monkeypatch.setattr("onrecord.cli.terminal.at_terminal", lambda: True)
    monkeypatch.setattr("onrecord.cli.terminal.read_key", lambda: "n")

    refused = onrecord("share", saved["id"], "--to=platform")

    assert refused.code == 1 and "nothing was shared" in refused.err and list(platform.entries()) == []
    assert TITLE in refused.out and "Share it with everyone who reads platform, /srv/platform.git?" in refused.out
    assert "left out: its files, links to other records, where it came from, its history" in refused.out


def test_it_can_be_sent_at_once(onrecord, saved, tmp_path):
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "memory.git")), check=True, timeout=120)
    remotes.add("platform", str(tmp_path / "memory.git"))

    outcome = onrecord("share", saved["id"], "--to=platform", "--yes", "--sync")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "shared decisions/jobs-are-rows.json in platform; sent\n"
    assert onrecord("sync").out == "platform: up to date\n"


def test_what_waits_for_a_merge_is_not_called_sent(onrecord, saved, tmp_path):
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "memory.git")), check=True, timeout=120)
    hook = tmp_path / "memory.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nread old new ref\n[ $ref != refs/heads/main ]\n")
    hook.chmod(0o755)
    remotes.add("platform", str(tmp_path / "memory.git"))

    outcome = onrecord("share", saved["id"], "--to=platform", "--yes", "--sync")
    again = onrecord("share", saved["id"], "--to=platform", "--yes", "--sync")
    shared = json.loads(onrecord("share", saved["id"], "--to=platform", "--yes", "--sync", "--json").out)

    assert outcome.code == 0 and "sent" not in outcome.out
    for result in (outcome, again):
        assert "others do not have it yet: main does not accept direct changes" in result.out
    assert [shared["sync"]] == json.loads(onrecord("sync", "--json").out)["remotes"]
    assert shared["sync"]["waiting"] == ["decisions/jobs-are-rows.json"]


def test_what_another_wrote_under_the_same_name_is_told(onrecord, saved, tmp_path, monkeypatch):
    monkeypatch.setattr("onrecord.cli.sync.engine.sync", lambda *_, **__: SyncResult(conflicts=(CONFLICT,)))
    remotes.add("platform", str(tmp_path / "memory.git"))

    outcome = onrecord("share", saved["id"], "--to=platform", "--yes", "--sync")

    assert outcome.out.endswith("yours is a draft now: `onrecord review --remote platform`\n")


def test_what_cannot_be_sent_stays_in_the_replica_and_that_is_said(onrecord, saved, platform):
    outcome = onrecord("share", saved["id"], "--to=platform", "--yes", "--sync")

    assert outcome.code == 1 and "decisions/jobs-are-rows.json is in the replica, but was not sent" in outcome.err
    assert platform.has(saved["id"])


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (SyncResult(), "sent"),
        (SyncResult(waiting=("a",), note="ask for a merge"), "others do not have it yet: ask for a merge"),
        (SyncResult(waiting=("b",), outdated=("b",)), "sent"),
        (
            SyncResult(outdated=("a",)),
            "not sent yet, because others wrote at the same time: `onrecord sync platform` tries again",
        ),
        (
            SyncResult(conflicts=(CONFLICT._replace(path="a"),)),
            "platform has another version, so yours is a draft now: `onrecord review --remote platform`",
        ),
        (SyncResult(conflicts=(CONFLICT,)), "sent"),
    ],
)
def test_what_became_of_the_copy_is_said(result, text):
    assert share_command._sent_text(remotes.Remote("platform", "/srv/memory.git", "git"), "a", result) == text


def test_a_copy_that_the_store_does_not_take_is_an_error(onrecord, saved, platform, monkeypatch):
    refused = SyncResult(refused={"decisions/jobs-are-rows.json": "too large"})
    monkeypatch.setattr("onrecord.cli.sync.sync_remote", lambda remote: refused)

    error = json.loads(onrecord("share", saved["id"], "--to=platform", "--yes", "--sync", "--json").out)["error"]

    assert (error["code"], error["message"], error["fix"]) == (
        "REFUSED", "platform did not take decisions/jobs-are-rows.json: too large", "onrecord remote status platform",
    )  # fmt: skip


def test_all_of_a_share_is_there_for_programs(onrecord, saved, platform):
    answer = share(onrecord, saved["id"], "--languages=python")
    rehearsed = onrecord("share", saved["id"], "--to=platform", "--update=jobs-are-rows", "--dry-run")

    record = answer.pop("record")
    assert (record["title"], record["scope"]) == (TITLE, {"branches": ["main"], "languages": ["python"]})
    assert answer == {
        "remote": "platform", "action": "shared", "path": "decisions/jobs-are-rows.json",
        "file": f"{platform.root}/decisions/jobs-are-rows.json", "dry_run": False, "sync": None,
    }  # fmt: skip
    assert rehearsed.out.startswith("would update decisions/jobs-are-rows.json in platform\n{\n")
    assert onrecord("share", saved["id"], "--to=platform", "--draft", "--force", "--dry-run").out.startswith(
        "would draft inbox/jobs-are-rows-2.json in platform\n{\n"
    )
