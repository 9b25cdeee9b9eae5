"""What a shared store has refused, or has not accepted yet, is nowhere shown as its own, and the way out works."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from onrecord import paths
from onrecord.cli import main
from onrecord.errors import Refused
from onrecord.mcp import reading
from onrecord.project import Project
from onrecord.shared import remotes, replicas, sync_base
from onrecord.shared.replicas import Replica
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests.hooks.hook_process import run_hook
from tests.known_project import SIX

DECISION = SIX["decision"]
ID = "sessions-live-in-postgres-not-redis"
PATH = f"decisions/{ID}.json"
ASKED = "users lose their login state after a deploy, where do we keep sessions?"
FIELDS = ("--tag", "auth", "--force", "--set", "context=Redis lost sessions", "--set", "rationale=one part")


def _writer(name: str = "platform") -> Writer:
    return Writer(Store(replicas.prepare(name).store), Project().settings)


@pytest.fixture
def run(project, capsys):
    def run(*words: str) -> tuple[int, str]:
        code = main([*words, "--project", project.root])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def _new(share) -> str:
    """Save a record that the remote does not have."""
    remotes.add("platform", "/srv/platform.git")
    from onrecord import project as projects

    return projects.save(_writer(), "decision", DECISION).memory.title


def _changed(share) -> str:
    """Change a record that the remote has."""
    entry = share("platform", "decision", DECISION)
    content = {**entry.memory.content, "decision": "UNACCEPTED text in its place"}
    _writer().update(entry.path, {"content": content}, entry.hash)
    return "UNACCEPTED"


def _retired(share) -> str:
    """Retire a record that the remote has: it still holds."""
    entry = share("platform", "decision", DECISION)
    _writer().retire(entry.path, "no longer")
    return ""


def _hook(project: Project, event: str, **fields: object) -> str:
    answer = run_hook(event, {"session_id": os.urandom(4).hex(), "cwd": project.root, "transcript_path": "", **fields})
    assert (answer.code, answer.stderr) == (0, b"")
    return str(answer.context)


def test_nothing_is_written_while_the_disk_does_not_say_what_the_remote_accepts(project, share, run):
    """The flaw of 0.3.0-dev: a team that asks for review was taken for one that does not."""
    share("platform", "constraint", SIX["constraint"])
    state = replicas.Replica("platform").root + "/state.json"
    os.mkdir(state)

    code, text = run("save", "decision", "Sessions", *FIELDS, "--set", "decision=d", "--remote", "platform")

    assert (code, f"cannot read {state}" in text) == (1, True)
    assert sync_base.unpushed_paths(Replica("platform")) == []


EVENTS = {
    "prompt": ("user_prompt_submit", {"prompt": ASKED}),
    "start": ("session_start", {"source": "startup"}),
    "compaction": ("session_start", {"source": "compact"}),
    "past question": ("user_prompt_submit", {"prompt": "what did we decide about sessions in postgres?"}),
    "file": ("pre_tool_use", {"tool_name": "Edit", "tool_input": {"file_path": "src/auth/session.py"}}),
    "command": ("pre_tool_use", {"tool_name": "Bash", "tool_input": {"command": "redis-cli sessions"}}),
    "failure": ("post_tool_use_failure", {"tool_name": "Bash", "error": "sessions are lost in redis"}),
}


@pytest.mark.parametrize("change", [_new, _changed], ids=["new", "changed"])
def test_no_way_to_read_shows_it_as_the_remotes_own(project, share, run, change):
    text = change(share)

    shown = {name: _hook(project, event, **fields) for name, (event, fields) in EVENTS.items()}
    for words in (["recall", ASKED], ["why", ASKED], ["search", "sessions postgres"], ["digest"],
                  ["search", "sessions postgres", "--remote=platform"]):  # fmt: skip
        shown[" ".join(words)] = run(*words)[1]
    shown["python"] = str([hit.title + hit.snippet() for hit in project.search("sessions postgres")])
    shown["mcp"] = str(reading.search(project, "sessions postgres"))

    assert [name for name, answer in shown.items() if text in answer] == []


def test_what_the_remote_has_still_holds_while_a_change_to_it_waits(project, share):
    for change in (_changed, _retired):
        change(share)
        assert [hit.path for hit in project.recall(ASKED)] == [f"platform:{PATH}"]
        assert "Redis" in _hook(project, "user_prompt_submit", prompt=ASKED)
        remotes.remove("platform")
        replicas.delete(Replica("platform"))


def test_a_record_that_is_superseded_here_alone_is_still_shown(project, share):
    old = share("platform", "decision", DECISION)
    from onrecord import project as projects

    projects.save(_writer(), "decision", {**DECISION, "title": "Sessions are cookies"}, supersedes=old.memory.id)

    assert [hit.path for hit in project.recall(ASKED)] == [f"platform:{PATH}"]


@pytest.mark.parametrize("change", [_new, _changed, _retired], ids=["new", "changed", "retired"])
def test_it_is_listed_as_waiting(project, share, run, change):
    change(share)
    project.save("constraint", SIX["constraint"])

    listed = json.loads(run("list", "--remote=platform", "--status=all", "--json")[1])
    shown = json.loads(run("show", ID, "--remote=platform", "--json")[1])
    status = json.loads(run("status", "--json")[1])
    remote = json.loads(run("remote", "status", "--json")[1])["remotes"][0]

    assert (listed["waiting"], shown["is_waiting"], status["waiting"]) == ([PATH], True, {"platform": 1})
    assert remote["waiting"] == [PATH]
    assert "waiting: platform does not have this version" in " ".join(run("show", ID, "--remote=platform")[1].split())


def test_the_way_out_takes_the_change_back_and_undo_brings_it_again(project, share, run):
    _changed(share)
    before = sync_base.read_file(paths.replica("platform").root, PATH)

    code, text = run("remote", "withdraw", "platform")

    assert (code, "took back 1 change" in text) == (0, True)
    assert sync_base.unpushed_paths(Replica("platform")) == []
    assert run("undo", "--remote=platform")[0] == 0
    assert sync_base.read_file(paths.replica("platform").root, PATH) == before


@pytest.mark.parametrize("change", [_new, _changed], ids=["new", "changed"])
def test_the_way_out_turns_the_change_into_a_draft(project, share, run, change):
    change(share)

    code, _ = run("remote", "withdraw", "platform", ID, "--draft")

    assert code == 0
    (draft,) = Inbox(paths.replica("platform").root).drafts()
    assert draft.updates == (ID if change is _changed else "")
    assert sync_base.unpushed_paths(Replica("platform")) == [f"inbox/{draft.name}.json"]


def test_a_draft_of_a_replacement_still_replaces(project, share, run):
    old = share("platform", "decision", DECISION)
    from onrecord import project as projects

    projects.save(_writer(), "decision", {**DECISION, "title": "Sessions are cookies"}, supersedes=old.memory.id)

    assert run("remote", "withdraw", "platform", "--draft")[0] == 0

    (draft,) = Inbox(paths.replica("platform").root).drafts()
    assert (draft.supersedes, draft.record.supersedes) == (ID, ())


def test_what_does_not_wait_cannot_be_withdrawn(project, share, run):
    share("platform", "decision", DECISION)
    assert run("remote", "withdraw", "platform") == (0, "no change to platform waits\n")
    _writer().retire(PATH, "no longer")
    assert "does not wait" in run("remote", "withdraw", "platform", "nothing")[1]


def _limit(**flags: bool) -> None:
    replica = Replica("platform")
    replica.write_state(replica.state._replace(last_sync="2026-11-01T00:00:00Z", **flags))


WRITES = {
    "save": ("save", "decision", "Use uv", "--set", "decision=uv", *FIELDS),
    "save a draft": ("save", "decision", "Use uv", "--draft", "--set", "decision=uv", *FIELDS),
    "update": ("update", ID, "--set", "consequences=more"),
    "retire": ("retire", ID, "--reason", "old"),
    "supersede": ("supersede", ID, "another"),
}


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_reader_is_refused_at_once(project, share, run, how, dry_run):
    entry = share("platform", "decision", DECISION)
    share("platform", "decision", {**DECISION, "title": "Another"})
    _limit(is_read_only=True)
    words = (*WRITES[how], *(("--hash", entry.hash) if how == "update" else ()), *(("--dry-run",) if dry_run else ()))

    code, text = run(*words, "--remote=platform")

    assert (code, "your role in platform is reader" in text) == (1, True), text
    assert sync_base.unpushed_paths(Replica("platform")) == []


def test_every_change_to_a_replica_passes_the_same_gate(share):
    entry = share("platform", "decision", DECISION)
    writer = _writer()
    _limit(is_read_only=True)

    with pytest.raises(Refused, match="reader"):
        writer.retire(entry.path, "x")
    with pytest.raises(Refused, match="reader"), writer.store.writing("anything") as batch:
        batch.drop(entry.path)
    with writer.store.writing("anything") as batch:
        batch.restore(entry.path, sync_base.read_file(paths.accepted("platform").root, entry.path).decode())
    # What a shared store has accepted is written by a sync alone.
    with pytest.raises(Refused, match="not changed here"), Store(paths.accepted("platform").root).writing() as batch:
        batch.drop(entry.path)


def test_where_changes_are_reviewed_a_save_is_a_draft_and_the_rest_is_refused_with_a_way_to_do_it(project, share, run):
    entry = share("platform", "decision", DECISION)
    _limit(asks_for_review=True)

    assert run(*WRITES["save"], "--remote=platform")[0] == 0
    assert [draft.record.title for draft in Inbox(paths.replica("platform").root).drafts()] == ["Use uv"]
    update = (*WRITES["update"], "--hash", entry.hash, "--remote=platform")
    code, text = run(*update)
    assert (code, "run the same command with --draft" in " ".join(text.split())) == (1, True)
    assert run(*update, "--draft")[0] == 0
    assert all(path.startswith("inbox/") for path in sync_base.unpushed_paths(Replica("platform")))


def test_a_remote_that_was_never_synced_has_nothing_to_show(project, share, run, tmp_path):
    bare = tmp_path / "team.git"
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(bare)), check=True, timeout=120)
    assert run("remote", "add", "--offline", "platform", str(bare))[0] == 0
    assert run("save", "decision", "Sessions live in Postgres", "--set", "decision=rows", *FIELDS,
               "--remote=platform")[0] == 0  # fmt: skip

    assert project.search("sessions postgres") == []
    assert run("sync", "platform")[0] == 0
    assert [hit.source for hit in project.search("sessions postgres")] == ["platform"]
