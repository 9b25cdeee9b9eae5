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
from onrecord.hooks import session
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts.events import HostEvent
from onrecord.project import Project
from onrecord.session import ledger
from onrecord.text import DATA_NOTE
from tests.hooks.hook_process import ROOT, run_hook
from tests.records import sample

NOTE = f'note="{DATA_NOTE}"'

QUESTION = "where do we keep user sessions, postgres or redis?"


def start(hook, source="startup", **fields):
    return hook("session_start", source=source, hook_event_name="SessionStart", **fields)


LINE = "- sessions-live: Sessions live in Postgres, not Redis"


def test_a_session_starts_with_the_map(project, hook):
    answer = start(hook)

    assert (answer.code, answer.stderr) == (0, b"")
    assert answer.specific["hookEventName"] == "SessionStart"
    assert answer.context.startswith(f'<memory-context source=".claude/memory/" kind="map" {NOTE}>\n<result ')
    assert "Write invoices to the double-entry ledger" in answer.context, "the session that was left unfinished"
    assert LINE in answer.context
    assert answer.context.endswith("*Memory: 5 entries (5 local, 0 global) | relevance: inactive*\n</memory-context>")


def test_a_line_of_the_map_is_no_showing(project, hook):
    start(hook)

    assert "auth.sessions" in hook("user_prompt_submit", prompt=QUESTION).context


def test_what_stands_above_the_map_is_not_told_again(project, hook):
    assert start(hook).context.count("<result ") == 1
    with ledger.Ledger("s1") as session_ledger:
        assert [os.path.basename(key) for key in session_ledger.shown if not key.startswith("digest:")] == [
            "move-invoices-to-the-new-ledger.json"
        ]


@pytest.mark.parametrize(("limit", "kind"), [(120, "whole"), (3, "part"), (0, "")])
def test_the_ledger_knows_if_the_session_has_the_whole_map(project, hook, limit, kind):
    configure(project, limit=limit)

    start(hook)

    with ledger.Ledger("s1") as session_ledger:
        assert (session_ledger.map, session_ledger.map_is_whole) == (kind, kind == "whole")


@pytest.mark.parametrize(("choice", "shown"), [("rules", True), ("rules_and_pointers", True), ("none", False)])
def test_beside_a_whole_map_prompts_show_what_the_setting_says(project, hook, choice, shown):
    config = {"retrieval": {"with_map": choice}}
    (Path(project.store.root) / paths.CONFIG).write_text(json.dumps(config))
    start(hook)

    assert ("auth.sessions" in hook("user_prompt_submit", prompt=QUESTION).context) is shown
    assert "auth.sessions" in hook("user_prompt_submit", session="without", prompt=QUESTION).context


def test_beside_a_whole_map_there_are_no_pointers(project, hook):
    config = {"retrieval": {"min_probability": 1.0, "first_prompt_relief": 0.0}}
    (Path(project.store.root) / paths.CONFIG).write_text(json.dumps(config))
    start(hook)

    assert "onrecord show" in hook("user_prompt_submit", session="without", prompt=QUESTION).context
    assert hook("user_prompt_submit", prompt=QUESTION).context == ""


def test_a_resumed_session_has_the_map_already(project, hook):
    start(hook)

    assert start(hook, "resume").context == ""
    assert LINE in start(hook, "resume", session="from an older version").context


def test_a_resumed_session_gets_a_line_for_what_was_saved_since(project, hook):
    start(hook)
    content = {"topic": "indentation", "value": "tabs", "reason": "everybody sets the width", "strength": "default"}
    project.save("preference", {"title": "Tabs, not spaces", "content": content, "tags": ["style"]})

    resumed = start(hook, "resume").context

    assert "On record since the map above was made" in resumed
    assert [line for line in resumed.split("\n") if line.startswith("- ")] == ["- tabs-not: Tabs, not spaces"]
    assert start(hook, "resume").context == ""


def test_what_a_map_of_some_records_leaves_out_is_not_new_to_a_resumed_session(project, hook):
    configure(project, limit=3)
    start(hook)

    assert start(hook, "resume").context == ""


def test_a_cleared_session_is_told_afresh(project, hook):
    first = start(hook)

    assert start(hook, "clear").context == first.context
    assert start(hook, "resume").context == ""


def test_after_compaction_the_map_comes_with_what_was_in_use(project, hook):
    start(hook)
    hook("user_prompt_submit", prompt=QUESTION)

    compacted = start(hook, "compact").context

    assert compacted.index("auth.sessions") < compacted.index(LINE)
    assert compacted.count("<result ") == 2, "the session left unfinished, and the rule; each once"
    assert start(hook, "resume").context == ""


def configure(project, **settings):
    (Path(project.store.root) / paths.CONFIG).write_text(json.dumps({"session_start": settings}))


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


@pytest.mark.parametrize("weight", ["abc", -0.2, 1.5])
def test_a_wrong_weight_warns_and_the_map_comes_all_the_same(project, hook, weight):
    config = {"session_start": {"relevance_weight": weight}}
    (Path(project.store.root) / paths.CONFIG).write_text(json.dumps(config))

    answer = start(hook)

    assert answer.context
    assert answer.stderr.count(b"\n") == 1 and b"0.6 is used" in answer.stderr
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
    assert "*Memory: 5 entries (5 local, 0 global) | relevance: inactive*" in text
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
    assert LINE in answer.context
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

    assert {"text", "entries", "above", "signals", "relevance", "weight", "not_listed", "tokens"} <= set(output)
    assert "(left unfinished)" in why and "prominence alone decides" in why
    assert "in the map: sessions-live  0." in why


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

    line = "- rename: Write aside, then rename"
    assert line in run_hook("session_start", event).context
    prompt = {**event, "prompt": "how do we rename?"}
    assert run_hook("user_prompt_submit", prompt).stdout == b""
    # A host in which the first prompt brings the digest.
    assert line.encode() in run_hook("user_prompt_submit", {**prompt, "session_id": "s2"}, "gemini").stdout
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
    line = "Memory: 3 drafts are waiting: /memory-review\n\n"
    event = {"session_id": "s9", "cwd": project.root, "source": "startup"}

    assert start(hook).context.startswith(line)
    assert line not in start(hook, "resume").context
    assert line not in start(hook, "compact").context
    assert "waiting" not in run_hook("session_start", event, CLAUDE_CODE_SESSION_ATTENDED="0").context


def test_drafts_behind_a_link_out_of_the_store_are_not_counted(project, hook, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.json").write_text("{}")
    Path(project.store.root, "inbox").symlink_to(tmp_path / "outside")

    assert "waiting" not in start(hook).context


@pytest.mark.parametrize(
    ("host", "plugin", "command"),
    [
        ("claude-code", "/plugins/memory", "/memory:review"),
        ("claude-code", "", "/memory-review"),
        ("codex", "", "onrecord review"),
    ],
)
def test_the_line_about_drafts_names_a_command_that_the_host_has(project, host, plugin, command, monkeypatch):
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", plugin)
    inbox = Path(project.store.root, "inbox")
    inbox.mkdir()
    (inbox / "a.json").write_text("{}")
    event = HostEvent("session_start", host=host, source="startup", session="s10", is_attended=True)

    answer = session.session_start(event, EventStores(project.root, project.store.root, ""))

    assert answer.text.startswith(f"Memory: 1 draft is waiting: {command}\n")


def test_conflicts_in_a_shared_store_are_mentioned(project, tmp_path):
    replica = paths.StoreRef(str(tmp_path / "platform" / "store"), "platform:")
    inbox = Path(replica.root, "inbox")
    inbox.mkdir(parents=True)
    (inbox / "conflict-use-uv.json").write_text("{}")
    event = HostEvent("session_start", host="codex", source="startup", session="s10", is_attended=True)

    answer = session.session_start(event, EventStores(project.root, project.store.root, "", [replica]))

    assert answer.text.startswith("Memory: 1 conflict in platform: onrecord review --remote platform\n")


def test_the_reply_stays_under_the_cap_of_hosts_whatever_the_settings_and_titles_are(project, hook):
    configure(project, max_tokens=2_400)
    for number in range(130):
        title = f"Never use <<&&>> {number:03} {'&' * 90}"
        content = {**NEW["content"], "status": "accepted", "decision": f"{title} at all"}
        record = sample("decision", id=f"never-use-it-{number}", title=title, content=content)
        with project.store.writing() as batch:
            batch.put(record)

    context = start(hook).context
    lines = context.split("\n")

    assert len(context) <= hooks.MAX_CONTEXT_CHARS
    assert lines[-1] == "</memory-context>" and lines[-2].startswith("*Memory: ")
    assert lines[-3].endswith("more: onrecord search WORDS") or " more: onrecord search WORDS. Not listed" in lines[-3]


def test_in_a_host_with_a_late_start_the_first_prompt_brings_the_whole_map_and_its_rules(project):
    event = {"session_id": "late", "cwd": project.root, "prompt": QUESTION}

    text = run_hook("user_prompt_submit", event, "gemini").stdout.decode()

    assert "auth.sessions" in text and "- sessions-live: " in text and "*Memory: 5 entries" in text
    assert "- sessions-live: " not in run_hook("user_prompt_submit", event, "gemini").stdout.decode()
