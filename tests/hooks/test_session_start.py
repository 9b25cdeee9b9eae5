"""A session starts: the digest as the host would get it, from a cold process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onrecord import hooks, paths, state_file
from onrecord.digest import last_digest
from onrecord.hooks import session
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts.events import HostEvent
from onrecord.project import Project
from onrecord.session import ledger
from tests.hooks.hook_process import ROOT, run_hook

QUESTION = "where do we keep user sessions, postgres or redis?"


def start(hook, source="startup", **fields):
    return hook("session_start", source=source, hook_event_name="SessionStart", **fields)


def test_a_session_starts_with_the_digest(project, hook):
    answer = start(hook)

    assert (answer.code, answer.stderr) == (0, b"")
    assert answer.specific["hookEventName"] == "SessionStart"
    assert answer.context.startswith('<memory-context source=".claude/memory/" kind="digest">')
    assert "Write invoices to the double-entry ledger" in answer.context
    assert len(answer.context) <= 2_500


def test_what_the_digest_told_in_full_is_not_told_again_by_a_prompt(project, hook):
    start(hook)

    assert hook("user_prompt_submit", prompt=QUESTION).context == ""
    assert "auth.sessions" in hook("user_prompt_submit", session="another", prompt=QUESTION).context


def test_a_resumed_session_is_told_only_what_is_new(project, hook):
    start(hook)
    unchanged = start(hook, "resume")
    project.save("decision", NEW)
    changed = start(hook, "resume")
    again = start(hook, "resume")

    assert (unchanged.context, again.context) == ("", "")
    assert "nightly at 02:00" in changed.context
    assert changed.context.count("<result ") == 1
    assert "Postgres" not in changed.context


def test_a_resumed_session_is_told_what_has_changed(project, hook):
    start(hook)
    entry = project.get("sessions-live-in-postgres-not-redis")
    project.writer.update(entry.path, {"content": {"decision": "Sessions expire after 30 days"}}, entry.hash)

    resumed = start(hook, "resume")

    assert "Sessions expire after 30 days" in resumed.context
    assert resumed.context.count("<result ") == 1


def test_a_cleared_session_is_told_afresh(project, hook):
    first = start(hook)

    assert start(hook, "clear").context == first.context
    assert start(hook, "resume").context == ""


def test_a_session_resumed_after_compaction_is_told_nothing_twice(project, hook):
    start(hook)
    compacted = start(hook, "compact")

    assert "auth.sessions" in compacted.context
    assert start(hook, "resume").context == ""


def test_a_resumed_session_is_not_told_what_a_prompt_has_told_it(project, hook):
    hook("user_prompt_submit", prompt=QUESTION)

    assert "auth.sessions" not in start(hook, "resume").context


def test_after_compaction_what_was_told_is_told_once_more(project, hook):
    hook("user_prompt_submit", prompt=QUESTION)

    compacted = start(hook, "compact")

    assert "auth.sessions" in compacted.context
    assert 'kind="digest"' not in compacted.context


@pytest.mark.parametrize("event", hooks.EVENTS)
def test_an_old_ledger_is_pruned_by_whichever_hook_comes_first(project, hook, event):
    old = Path(paths.state_dir()) / "sessions" / "s0"
    start(hook, session="s0")
    os.utime(old, (1, 1))
    hook("user_prompt_submit", prompt="hello there")
    assert old.exists(), "once a day"
    os.utime(Path(paths.state_dir()) / "pruned", (1, 1))

    hook(event, session="s2")

    assert not old.exists()


def test_what_was_shown_and_why_is_written_down(project, hook):
    answer = start(hook)

    output = json.loads(last_digest.file().read())

    assert (output["event"], output["session"], output["project"]) == ("session start, startup", "s1", project.root)
    assert (output["characters"], len(output["entries"])) == (len(answer.context), 6)
    first = output["entries"][0]
    assert first["path"] == ".claude/memory/sessions/move-invoices-to-the-new-ledger.json"
    assert first["reason"] == "left unfinished"
    assert set(first) >= {"score", "relevance", "prominence", "category", "title"}
    assert [name for name in os.listdir(paths.state_dir()) if name.startswith("last-digest")] == ["last-digest.json"]


def test_a_state_folder_that_cannot_be_written_costs_nothing_but_the_note(project, hook, tmp_path):
    (tmp_path / "file").write_text("")

    event = {"session_id": "s1", "cwd": project.root, "source": "startup"}
    answer = run_hook("session_start", event, ONRECORD_STATE_DIR=str(tmp_path / "file"))

    assert (answer.code, bool(answer.context)) == (0, True)


def test_it_can_be_turned_off(project, hook):
    (Path(project.store.root) / paths.CONFIG).write_text('{"session_start": {"enabled": false}}')

    assert start(hook).stdout == b""


def test_a_subagent_is_told_nothing(project, hook):
    assert start(hook, agent_id="a1").stdout == b""


@pytest.mark.parametrize(("weight", "used"), [("abc", b"0.6"), (-1, b"0"), (7, b"1")])
def test_a_wrong_weight_warns_and_the_digest_comes_all_the_same(project, hook, weight, used):
    config = {"session_start": {"relevance_weight": weight}}
    (Path(project.store.root) / paths.CONFIG).write_text(json.dumps(config))

    answer = start(hook)

    assert answer.context
    assert answer.stderr.count(b"\n") == 1 and used + b" is used" in answer.stderr
    assert " is used" in state_file.recent_failures()[-1][2]


def test_without_fts5_the_digest_goes_by_prominence_with_one_warning(project):
    add_feature(project, "parser")
    event = json.dumps({"session_id": "s1", "cwd": project.root, "source": "startup"}).encode()

    process = subprocess.run(
        [sys.executable, "-S", "-E", str(ROOT / "tests" / "without_fts5.py"), "session_start"],
        input=event,
        capture_output=True,
        check=True,
        timeout=120,
    )

    text = json.loads(process.stdout)["hookSpecificOutput"]["additionalContext"]
    assert text.count("<result ") == 6
    assert process.stderr.count(b"\n") == 1 and b"no FTS5" in process.stderr


def test_a_git_that_hangs_costs_at_most_the_budget(project, hook, tmp_path, monkeypatch):
    add_feature(project, "invoices")
    (Path(project.root) / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "bin").mkdir()
    pids = tmp_path / "pids"
    git = tmp_path / "bin" / "git"
    git.write_text(f"#!/bin/sh\necho $$ >>{pids}\nsleep 600 &\nsleep 600\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    before = time.monotonic()

    answer = start(hook, is_patient=False)

    # The budget is three seconds; a fake git that were waited for would take ten minutes.
    assert time.monotonic() - before < 60
    assert "Project memory for feature invoices, branch main:" in answer.context
    assert len(pids.read_text().split()) == 4
    assert sum("did not answer in time" in error for _, _, error in state_file.recent_failures()) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="fcntl is not there")
def test_a_held_ledger_does_not_keep_the_digest_back(project, hook):
    import fcntl

    first = start(hook)
    with open(Path(paths.state_dir()) / "sessions" / "s1", "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        answer = start(hook)

    assert (answer.code, answer.stdout) == (0, first.stdout)
    assert first.stdout


def test_nothing_heavy_is_imported_for_it(project):
    add_feature(project, "invoices")
    event = {"session_id": "s1", "cwd": project.root, "source": "startup"}
    for folder in Path(project.store.root).iterdir():
        # The index looks twice at a folder that changed within the last seconds.
        os.utime(folder, (1_000_000, 1_000_000))
    run_hook("session_start", event)
    program = (
        "import sys; sys.path[0] = sys.argv[1]\n"
        "from onrecord.hooks import main\n"
        "main(['session_start'])\n"
        "print(sorted(set(sys.modules) & set(sys.argv[2:])), file=sys.stderr)"
    )
    heavy = (
        "re",
        "json",
        "typing",
        "collections",
        "dataclasses",
        "datetime",
        "hashlib",
        "pathlib",
        "subprocess",
        "argparse",
    )

    process = subprocess.run(
        [sys.executable, "-S", "-E", "-c", program, str(ROOT / "src"), *heavy],
        input=json.dumps({**event, "session_id": "s2"}).encode(),
        capture_output=True,
        check=True,
        timeout=120,
    )

    assert process.stdout
    assert process.stderr.decode().strip() == "[]"


def test_an_empty_session_id_is_no_session(project, hook):
    assert start(hook, session="").context == start(hook, "resume", session="").context != ""


def test_the_command_prints_the_same(project, hook):
    answer = start(hook)

    printed = subprocess.run(
        [sys.executable, str(ROOT / "bin" / "onrecord"), "digest", "--project", project.root],
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=120,
    )

    assert printed.stdout == answer.context + "\n"


def test_the_command_says_why(project):
    command = [sys.executable, str(ROOT / "bin" / "onrecord"), "digest", "--project", project.root]
    output = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True, timeout=120).stdout)
    why = subprocess.run([*command, "--why"], capture_output=True, check=True, encoding="utf-8", timeout=120).stdout

    assert {"text", "entries", "signals", "relevance", "weight", "near"} <= set(output)
    assert "(left unfinished)" in why and "prominence alone decides" in why


def test_the_ledger_of_a_digest_survives_strange_keys(project, hook):
    bank = Path(project.root) / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("### Tab\there\nAnd\ttabs.\n")

    start(hook)

    assert start(hook, "resume").context == ""
    with ledger.Ledger("s1") as output:
        assert all("\t" not in record for record in output.shown)


def test_a_project_with_nothing_but_a_knowledge_bank_is_told_of_it(tmp_path):
    bank = tmp_path / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("### Rename\nWrite aside, then rename.\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feat/atomic-rename\n")
    event = {"session_id": "s1", "cwd": str(tmp_path), "source": "startup"}

    assert "Write aside, then rename." in run_hook("session_start", event).context
    prompt = {**event, "prompt": "how do we rename?"}
    assert run_hook("user_prompt_submit", prompt).stdout == b""
    # A host in which the first prompt brings the digest.
    assert (
        b"Write aside, then rename." in run_hook("user_prompt_submit", {**prompt, "session_id": "s2"}, "gemini").stdout
    )
    assert run_hook("user_prompt_submit", {**prompt, "session_id": "s2"}, "gemini").stdout == b""


def test_a_session_that_is_nowhere_reads_nothing_around_the_hook(project, monkeypatch):
    """A relative folder would be one below wherever the host has started the hook."""
    monkeypatch.chdir(project.root)
    event = {"session_id": "s1", "source": "startup"}

    assert run_hook("session_start", {**event, "cwd": "elsewhere"}).stdout == b""
    assert run_hook("session_start", {**event, "cwd": project.root}).context


def add_feature(project: Project, slug: str) -> None:
    folder = Path(project.root) / "docs" / "features" / "1"
    folder.mkdir(parents=True)
    (folder / ".meta.json").write_text(json.dumps({"status": "active", "slug": slug}))


NEW = {
    "title": "Backups run at night",
    "tags": ["backup"],
    "content": {
        "context": "Backups were forgotten.",
        "decision": "Backups run nightly at 02:00",
        "rationale": ["Nobody works then"],
    },
}


def test_drafts_that_wait_are_mentioned_once_a_session_where_somebody_reads_along(project, hook):
    inbox = Path(project.store.root, "inbox")
    inbox.mkdir()
    for name in ("a", "b", "c"):
        (inbox / f"{name}.json").write_text("{}")
    line = "\n\nMemory: 3 drafts are waiting: /memory:review"
    event = {"session_id": "s9", "cwd": project.root, "source": "startup"}

    assert start(hook).context.endswith(line)
    assert line not in start(hook, "resume").context
    assert line not in start(hook, "compact").context
    assert "waiting" not in run_hook("session_start", event, CLAUDE_CODE_SESSION_ATTENDED="0").context


def test_drafts_behind_a_link_out_of_the_store_are_not_counted(project, hook, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.json").write_text("{}")
    Path(project.store.root, "inbox").symlink_to(tmp_path / "outside")

    assert "waiting" not in start(hook).context


@pytest.mark.parametrize(("host", "command"), [("claude-code", "/memory:review"), ("codex", "onrecord review")])
def test_the_line_about_drafts_names_a_command_that_the_host_has(project, host, command):
    inbox = Path(project.store.root, "inbox")
    inbox.mkdir()
    (inbox / "a.json").write_text("{}")
    event = HostEvent("session_start", host=host, source="startup", session="s10", is_attended=True)

    answer = session.session_start(event, EventStores(project.root, project.store.root, ""))

    assert answer.text.endswith(f"Memory: 1 draft is waiting: {command}")
