"""`onrecord sync` with a real repository: what a person types on two machines."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.cli import sync
from onrecord.cli.output import Screen
from onrecord.remedy import COMMAND
from onrecord.search import index
from onrecord.shared.engine import RenamedPair, SyncResult
from tests import time_limit

from .conftest import DECISION

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

HOMES = ("HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
PROGRAM = (sys.executable, "-m", "onrecord")


@pytest.fixture
def shared(tmp_path):
    """Return the address of an empty repository."""
    folder = tmp_path / "memory.git"
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(folder)), check=True, timeout=120)
    return str(folder)


@pytest.fixture
def other(onrecord, tmp_path, monkeypatch):
    """Return a function that runs commands as on another machine, with its own home and data."""

    def run(*words):
        with monkeypatch.context() as patch:
            for name in HOMES:
                patch.setenv(name, str(tmp_path / "other" / name))
            return onrecord(*words)

    return run


def test_adding_a_repository_says_what_is_in_it_and_whether_one_may_write(project, onrecord, other, shared):
    first = onrecord("remote", "add", "platform", shared)
    _save(onrecord, "Jobs are rows")
    onrecord("sync")

    second = json.loads(other("remote", "add", "platform", shared, "--json").out)

    assert first.out == "connected platform (git): it has 0 records; to fetch its records: onrecord sync platform\n"
    assert second["access"] == {
        "records": 1,
        "drafts": 0,
        "role": "writer",
        "login": "",
        "team": "",
        "asks_for_review": False,
    }
    assert other("sync").out == "platform: pulled 1\n"


def test_a_repository_that_does_not_answer_is_not_connected_unless_that_is_wanted(project, onrecord, tmp_path):
    refused = json.loads(onrecord("remote", "add", "platform", "/nowhere/memory.git", "--auto", "--json").out)["error"]

    assert refused["code"] == "BAD_REMOTE" and refused["message"].endswith("; platform is not connected")
    assert json.loads(onrecord("remote", "--json").out)["remotes"] == []
    (command,) = COMMAND.findall(refused["fix"])
    assert command == "onrecord remote add platform /nowhere/memory.git --auto --offline"
    assert onrecord(*command.split()[1:]).out == (
        "connected platform (git), without trying whether it answers; to fetch its records: onrecord sync platform\n"
    )


def test_a_store_that_is_a_folder_with_gates_says_nothing_of_writing(project, onrecord, other, shared):
    onrecord("remote", "add", "platform", shared)
    _save(onrecord, "Jobs are rows")
    onrecord("sync")
    hook = Path(shared, "hooks", "pre-receive")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    assert json.loads(other("remote", "add", "platform", shared, "--json").out)["access"]["role"] == ""


def _save(onrecord, title, *words):
    assert onrecord("save", "decision", title, *DECISION, *words, "--remote", "platform").code == 0


def _update(onrecord, text):
    answer = json.loads(onrecord("show", "jobs-are-rows", "--json", "--remote", "platform").out)
    return onrecord(
        "update", "jobs-are-rows", "--set", f"decision={text}", "--hash", answer["hash"], "--remote", "platform"
    )


def test_a_change_that_was_refused_is_offered_again_until_it_is_taken_back(project, onrecord, shared):
    hook = os.path.join(shared, "hooks", "pre-receive")
    with open(hook, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nread old new ref\n[ $ref != refs/heads/main ]\n")
    os.chmod(hook, 0o755)
    onrecord("remote", "add", "--offline", "platform", shared)
    _save(onrecord, "Jobs are rows")
    offered = onrecord("sync").out
    branch = subprocess.run(
        ("git", "-C", shared, "branch"), capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()
    subprocess.run(("git", "-C", shared, "branch", "-q", "-D", branch), check=True, timeout=120)

    assert onrecord("sync").out == offered
    assert "to take them back: onrecord remote withdraw platform" in offered
    assert "onrecord remote withdraw platform" in " ".join(onrecord("remote", "status").out.split())
    assert onrecord("remote", "withdraw", "platform").code == 0
    assert "ask for a merge" not in onrecord("remote", "status").out
    assert onrecord("sync").out == "platform: up to date\n"


def test_a_record_that_is_there_twice_since_a_rename_is_told_with_a_way_to_keep_one():
    theirs, ours = "decisions/uv-installs.json", "decisions/use-uv.json"
    result = SyncResult(revived=(ours,), renamed=(RenamedPair("use-uv", theirs, ours),))

    lines = list(sync.outcome_lines(Screen(), "platform", result))

    assert lines[1:] == [
        "  use-uv was renamed and changed at the same time: uv-installs is theirs, use-uv is yours; "
        "to keep theirs: onrecord supersede use-uv uv-installs --remote platform"
    ]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child")
def test_a_signal_that_ends_a_sync_ends_its_git(project, onrecord, tmp_path):
    os.mkfifo(tmp_path / "git")
    onrecord("remote", "add", "--offline", "platform", "ssh://host/memory.git")
    waits = {"GIT_SSH_COMMAND": f"echo $PPID > {tmp_path}/git; exec sleep 600; true"}
    with subprocess.Popen((*PROGRAM, "sync"), env={**os.environ, **waits}) as process:
        try:
            with time_limit.at_most(60):
                git = os.pidfd_open(int((tmp_path / "git").read_text()))
        finally:
            process.terminate()

        assert process.wait(timeout=60) == 130
        assert select.select([git], [], [], 60)[0]
        os.close(git)


def test_a_draft_of_a_shared_store_is_reviewed_there(project, onrecord, shared):
    onrecord("remote", "add", "--offline", "platform", shared)
    _save(onrecord, "Jobs are rows")
    onrecord("remote", "add", "--offline", "other", "/srv/other.git")

    onrecord("share", "jobs-are-rows", "--remote=platform", "--to=other", "--draft", "--yes")

    assert onrecord("list", "--remote=other").err == (
        "no records yet; `onrecord save --remote other` creates one;"
        " 1 draft is waiting in other: onrecord review --remote other\n"
    )


def test_what_was_pulled_is_in_the_index_before_a_hook_needs_it(project, onrecord, other, shared):
    for machine in (onrecord, other):
        machine("remote", "add", "--offline", "platform", shared)
    _save(other, "Jobs are rows")
    other("sync")
    assert not os.path.exists(index.file_of(paths.accepted("platform").root))

    onrecord("sync")

    assert os.path.exists(index.file_of(paths.accepted("platform").root))


def test_two_machines_share_edit_and_conflict(project, onrecord, other, shared):
    for machine in (onrecord, other):
        assert machine("remote", "add", "--offline", "platform", shared).code == 0
    _save(onrecord, "Jobs are rows")

    assert onrecord("sync") == (0, "platform: pushed 1\n", "")
    assert other("sync", "platform") == (0, "platform: pulled 1\n", "")
    assert onrecord("sync") == (0, "platform: up to date\n", "")
    for machine, text in ((onrecord, "By Ann"), (other, "By Bob")):
        assert _update(machine, text).code == 0
    assert onrecord("sync").out == "platform: pushed 1\n"
    outcome = other("sync")
    assert (outcome.code, outcome.out) == (
        0,
        "platform: pulled 1, pushed 2, 1 conflict: onrecord review --remote platform\n",
    )
    assert onrecord("sync").out == "platform: pulled 2\n"
    answers = [
        json.loads(machine("show", "jobs-are-rows", "--json", "--remote", "platform").out)
        for machine in (onrecord, other)
    ]
    assert answers[0]["record"]["content"]["decision"] == answers[1]["record"]["content"]["decision"] == "By Ann"
    drafts = json.loads(onrecord("inbox", "--json", "--remote", "platform").out)["drafts"]
    assert [draft["record"]["content"]["decision"] for draft in drafts] == ["By Bob"]


def test_a_dry_run_shows_and_writes_nothing(project, onrecord, other, shared):
    for machine in (onrecord, other):
        machine("remote", "add", "--offline", "platform", shared)
    _save(onrecord, "Jobs are rows")
    onrecord("sync")
    _save(other, "Queues are tables")

    outcome = other("sync", "--dry-run")

    assert outcome == (0, "platform: would pull 1, would push 1\n", "")
    assert other("sync", "--dry-run") == outcome


def test_json_names_every_file(project, onrecord, shared):
    onrecord("remote", "add", "--offline", "platform", shared)
    _save(onrecord, "Jobs are rows")

    answer = json.loads(onrecord("sync", "--json").out)

    (platform,) = answer["remotes"]
    assert (platform["name"], platform["pushed"], platform["conflicts"]) == (
        "platform",
        ["decisions/jobs-are-rows.json"],
        [],
    )


def test_what_is_held_back_is_named_and_ends_with_1(project, onrecord, shared):
    onrecord("remote", "add", "--offline", "platform", shared)
    secret = ("--set", "context=AKIAQ7ZX4M2PLWVN8RTB", "--allow-secret")
    _save(onrecord, "Keys in the vault", *secret)

    outcome = onrecord("sync")

    assert outcome.code == 1
    assert "not synced: decisions/keys-in-the-vault.json: held back" in outcome.out


def test_one_remote_that_fails_does_not_keep_the_others(project, onrecord, shared, tmp_path):
    onrecord("remote", "add", "--offline", "platform", shared)
    onrecord("remote", "add", "--offline", "gone", "http://127.0.0.1:9/memory.git")

    first = onrecord("sync", "gone", "--dry-run")
    outcome = onrecord("sync")

    assert "cannot be reached" in first.err and "since" not in first.err, "a dry run does not know since when"
    assert outcome.code == 1
    assert "gone: OFFLINE: http://127.0.0.1:9/memory.git cannot be reached" in outcome.out
    assert "platform: up to date" in outcome.out
    alone = onrecord("sync", "gone")
    assert alone.code == 1
    assert "offline since" in alone.err


def test_two_syncs_at_once_of_one_replica_wait_for_each_other(project, onrecord, shared, tmp_path):
    onrecord("remote", "add", "--offline", "platform", shared)
    _save(onrecord, "Jobs are rows")
    running = [subprocess.Popen((*PROGRAM, "sync", "--json"), stdout=subprocess.PIPE, env=os.environ) for _ in range(3)]
    results = [json.loads(process.communicate(timeout=60)[0])["remotes"][0] for process in running]

    assert sorted(len(result["pushed"]) for result in results) == [0, 0, 1]


def test_four_machines_that_sync_at_the_same_moment_all_get_their_record_in(project, onrecord, shared, tmp_path):
    homes = [{**os.environ, **{name: str(tmp_path / f"{number}" / name) for name in HOMES}} for number in range(4)]
    for number, home in enumerate(homes):
        run = partial(subprocess.run, env=home, check=True, stdout=subprocess.DEVNULL)
        run((*PROGRAM, "remote", "add", "--offline", "platform", shared))
        run((*PROGRAM, "save", "decision", f"Rule {number}", *DECISION, "--remote", "platform"))

    running = [subprocess.Popen((*PROGRAM, "sync", "--json"), stdout=subprocess.PIPE, env=home) for home in homes]
    answers = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    assert [answer["error"] for answer in answers if "error" in answer] == []
    results = [answer["remotes"][0] for answer in answers]

    assert [result["pushed"] for result in results] == [[f"decisions/rule-{number}.json"] for number in range(4)]
    listing = subprocess.run(
        ("git", "--git-dir", shared, "ls-tree", "-r", "--name-only", "main"), capture_output=True, timeout=120
    )
    assert listing.stdout.decode().split() == [f"decisions/rule-{number}.json" for number in range(4)]
