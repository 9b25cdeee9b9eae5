"""Usage counts: on disk, from several processes at once, and without ever failing a hook."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onrecord
from onrecord import state_file, timestamps, usage
from onrecord.hosts import claude_code
from onrecord.session import ledger
from onrecord.session.ledger import Ledger
from onrecord.store import record_names
from onrecord.usage import usage_log
from onrecord.usage.usage_log import Counts, per_record, per_week
from tests.conversation import context, does, memory_context, prompt, result, says, write, write_transcript
from tests.known_project import known_project

ROOT = Path(__file__).parents[2]
NOW = "2026-03-04T09:30:00Z"
SESSIONS = {
    "title": "Sessions live in Postgres",
    "context": "Logins must survive a restart.",
    "decision": "User sessions live in the table auth.sessions and expire after 14 days.",
    "rationale": ["One store less to run."],
    "tags": ["auth"],
}
PATH = "decisions/sessions-live-in-postgres.json"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    return known_project(tmp_path / "project", ("decision", SESSIONS)).store.root


def show(session, store, *paths, text_hash="v1"):
    with Ledger(session) as session_ledger:
        for path in paths:
            session_ledger.add_shown(os.path.join(store, path), text_hash)
    usage.count_injected(store, paths, "prompt")


def counts(store):
    """Return the counts without the dates."""
    return {path: _undated(count) for path, count in per_record(store).items()}


def _undated(count):
    return count._replace(last_injected="")


STATEMENT = "User sessions live in the table auth.sessions and expire after 14 days."
PROMPT_WITH_RECORD = (prompt("where are logins kept?"), memory_context((PATH, STATEMENT)))
OPENING = does("Bash", command="onrecord show sessions-live-in-postgres")


def test_what_was_told_is_counted_under_its_path_in_the_store(store):
    usage.count_injected(store, [PATH, os.path.join(store, PATH), "/elsewhere/decisions/x.json"], "prompt")

    assert counts(store) == {PATH: Counts(injected=2)}
    assert per_record(store)[PATH].last_injected == "2026-03-04"


def test_an_opened_record_is_counted_once_however_many_turns_follow(store, tmp_path):
    show("s1", store, PATH)
    path = write_transcript(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, OPENING, says("In auth.sessions."))

    for _ in range(6):
        usage.observe("s1", path, [store, ""])

    assert counts(store) == {PATH: Counts(injected=1, opened=1)}


def test_an_answer_in_the_words_of_a_record_is_no_evidence(store, tmp_path):
    show("s1", store, PATH)
    lines = [
        *PROMPT_WITH_RECORD,
        says("In auth.sessions, for 14 days."),
        prompt("no, that's outdated, auth.sessions is gone"),
    ]

    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines, says("I see.")), [store])

    assert counts(store) == {PATH: Counts(injected=1)}


def test_a_record_opened_in_a_later_turn_is_counted(store, tmp_path):
    show("s1", store, PATH)
    lines = [*PROMPT_WITH_RECORD, says("Let me look.")]
    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines), [store])
    assert counts(store) == {PATH: Counts(injected=1)}

    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines, prompt("go on"), OPENING, result("…")), [store])

    assert counts(store) == {PATH: Counts(injected=1, opened=1)}


def test_events_of_earlier_versions_are_passed_over(store):
    usage.count_injected(store, [PATH], "prompt")
    with open(usage_log.log_file(store), "a", encoding="utf-8") as file:
        file.write(f"2026-03-04\tused\t{PATH}\n2026-03-04\tignored\t{PATH}\t3\n2026-03-04\t-ignored\t{PATH}\n")

    assert counts(store) == {PATH: Counts(injected=1)}


def test_an_opening_is_not_forgotten_when_it_has_left_the_tail(store, tmp_path):
    show("s1", store, PATH)
    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, OPENING), [store])

    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", prompt("go on"), says("Done.")), [store])

    assert counts(store) == {PATH: Counts(injected=1, opened=1)}


def test_a_record_shown_out_of_sight_is_watched(store, tmp_path):
    show("s1", store, PATH)

    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", prompt("go on"), OPENING), [store])

    assert counts(store) == {PATH: Counts(injected=1, opened=1)}


@pytest.mark.parametrize(
    ("steps", "opened"),
    [
        ([does("Bash", command=f"onrecord show {record_names.short_name(PATH)}")], 1),
        ([does("Bash", command="onrecord show sessions-live-in-postgres --json")], 1),
        ([does("Read", file_path=f"/p/.claude/memory/{PATH}")], 1),
        ([does("Bash", command="onrecord show something-else"), says("It is in auth.sessions.")], 0),
        ([], 0),
    ],
)
def test_a_pointer_counts_as_opened_when_the_agent_reads_the_record(store, tmp_path, steps, opened):
    with Ledger("s1") as session:
        session.add_pointer(os.path.join(store, PATH))
    usage.count_pointed(store, [PATH], "prompt")
    lines = [prompt("where are logins kept?"), *steps, says("Done.")]

    for _ in range(3):
        usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines), [store])

    assert counts(store) == {PATH: Counts(pointed=1, opened=opened)}


def test_what_was_read_before_the_pointer_is_not_opened_by_it(store, tmp_path):
    with Ledger("s1") as session:
        session.add_pointer(os.path.join(store, PATH))
    line = f"- decision “Sessions live in Postgres”: onrecord show {record_names.short_name(PATH)}"
    read = does("Bash", command=f"onrecord show {record_names.short_name(PATH)}")

    transcript = write_transcript(tmp_path / "t.jsonl", read, prompt("and now?"), context(line), says("Nothing."))
    usage.observe("s1", transcript, [store])

    assert counts(store) == {}


def test_a_settled_session_does_not_read_its_transcript_again(store, tmp_path, monkeypatch):
    show("s1", store, PATH)
    path = write_transcript(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, says("ok"))
    for _ in range(4):
        usage.observe("s1", path, [store])
    monkeypatch.setattr(onrecord.session.transcript, "read_messages", lambda *a, **k: pytest.fail("read again"))

    usage.observe("s1", path, [store])

    assert state_file.recent_failures() == []


def test_a_record_shown_anew_because_it_changed_is_watched_anew(store, tmp_path):
    show("s1", store, PATH)
    lines = [*PROMPT_WITH_RECORD, OPENING]
    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines), [store])
    show("s1", store, PATH, text_hash="v2")

    lines += [prompt("and now?"), memory_context((PATH, "User sessions live in the table core.logins.")), says("Hm.")]
    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines), [store])
    assert counts(store) == {PATH: Counts(injected=2, opened=1)}

    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines, prompt("look"), OPENING), [store])
    assert counts(store) == {PATH: Counts(injected=2, opened=2)}


def test_the_digest_of_a_session_start_is_not_judged(store, tmp_path):
    record = os.path.join(store, PATH)
    with Ledger("s1") as session_ledger:
        session_ledger.add_shown(f"digest:{record}", "v1")
        session_ledger.add_shown(record, "v1")

    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", prompt("hi"), OPENING), [store])

    assert counts(store) == {}


def test_two_stores_are_counted_apart(store, tmp_path):
    own = str(tmp_path / "own")
    show("s1", store, PATH)
    show("s1", own, "preferences/tabs.json")
    lines = (
        *PROMPT_WITH_RECORD,
        memory_context(("preferences/tabs.json", "Indent with `tabwidth=7`."), source="~/.claude/memory/"),
    )

    opening = does("Bash", command="onrecord show --user tabs")
    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *lines, opening), [store, own])

    assert counts(store) == {PATH: Counts(injected=1)}
    assert counts(own) == {"preferences/tabs.json": Counts(injected=1, opened=1)}


@pytest.mark.parametrize(
    ("session", "transcript"), [("", "t.jsonl"), ("s1", ""), ("s1", "/nowhere.jsonl"), ("s1", "nul\0"), ("../..", "/")]
)
def test_nothing_to_observe_is_no_failure(store, session, transcript):
    if session:
        show(session, store, PATH)

    usage.observe(session, claude_code.transcript(transcript), [store])

    assert counts(store).get(PATH, Counts()).opened == 0
    assert state_file.recent_failures() == []


def test_a_failure_is_traced_and_goes_no_further(store, tmp_path, monkeypatch):
    show("s1", store, PATH)
    monkeypatch.setattr(ledger.Ledger, "__enter__", lambda self: 1 / 0)

    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, says("x")), [store])

    assert [error for _, _, error in state_file.recent_failures()] == [
        "cannot observe a session: ZeroDivisionError: division by zero"
    ]


def test_a_state_folder_that_cannot_be_written_costs_the_counters_only(store, tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(blocked))

    usage.count_injected(store, [PATH], "prompt")
    usage.observe("s1", write_transcript(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, says("x")), [store])

    assert per_record(store) == {}


def test_garbled_lines_are_passed_over(store):
    usage.count_injected(store, [PATH], "prompt")
    with open(usage_log.log_file(store), "ab") as file:
        file.write(b"\xff\xfe\n\t\t\n2026-03-04\tinjected\n2026-03-04\tstolen\tx\n2026-99-99\topened\tx\n")
        file.write(
            b"2026-03-04\topened\tx\t-3\n2026-03-04\topened\tx\t99999999999999999999\n2026-03-04\tinjected\ty\t2"
        )

    assert counts(store) == {PATH: Counts(injected=1), "y": Counts(injected=2)}


@given(st.binary(max_size=300))
def test_any_bytes_are_a_log(data):
    os.makedirs(usage_log.folder(), exist_ok=True)
    Path(usage_log.log_file("/some/store")).write_bytes(data)

    assert all(count.injected >= 0 for count in counts("/some/store").values())
    assert isinstance(usage_log.compact("/some/store", data), bytes)


def _show_often(work):
    store, number = work
    # Compact the log every few events, and never give up waiting on a busy machine.
    usage_log.MAX_LOG_BYTES, state_file._LOCK_SECONDS = 4_000, 60
    for _ in range(60):
        usage.count_injected(store, [PATH, f"decisions/own-{number}.json"], "prompt")


def test_no_event_is_lost_between_racing_processes_and_compactions(store):
    with multiprocessing.get_context("spawn").Pool(6) as pool:
        pool.map(_show_often, [(store, number) for number in range(6)])

    assert os.path.getsize(usage_log.log_file(store)) < 5_000
    assert counts(store) == {
        PATH: Counts(injected=360),
        **{f"decisions/own-{n}.json": Counts(injected=60) for n in range(6)},
    }


def _observe(work):
    store, path = work
    state_file._LOCK_SECONDS = 60
    usage.observe("shared", path, [store])


def test_of_racing_stops_one_counts(store, tmp_path):
    show("shared", store, PATH)
    path = write_transcript(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, OPENING)

    with multiprocessing.get_context("spawn").Pool(6) as pool:
        pool.map(_observe, [(store, path)] * 12)

    assert counts(store) == {PATH: Counts(injected=1, opened=1)}


def test_a_large_log_is_compacted_by_the_way_and_keeps_its_counts(store, monkeypatch):
    monkeypatch.setattr(usage_log, "MAX_LOG_BYTES", 4_000)

    for _ in range(300):
        usage.count_injected(store, [PATH], "prompt")

    assert os.path.getsize(usage_log.log_file(store)) < 5_000
    assert counts(store) == {PATH: Counts(injected=300)}


def test_a_log_that_stays_large_loses_its_oldest_lines_and_is_not_compacted_at_every_event(store, monkeypatch):
    monkeypatch.setattr(usage_log, "MAX_LOG_BYTES", 1_000)
    calls = []
    compact = usage_log.compact
    monkeypatch.setattr(usage_log, "compact", lambda root, data: (calls.append(1), compact(root, data))[1])

    usage.count_injected(store, [f"decisions/number-{n}.json" for n in range(100)], "prompt")
    assert os.path.getsize(usage_log.log_file(store)) <= 500
    for _ in range(9):
        usage.count_injected(store, [PATH], "prompt")

    assert len(calls) <= 2
    assert counts(store)[PATH] == Counts(injected=9)


def compact(store):
    path = Path(usage_log.log_file(store))
    path.write_bytes(usage_log.compact(store, path.read_bytes()))


def test_compaction_turns_old_days_into_months_and_drops_records_long_gone(store):
    os.makedirs(usage_log.folder(), exist_ok=True)
    Path(usage_log.log_file(store)).write_text(
        f"2025-07-03\tinjected\t{PATH}\n2025-07-09\tinjected\t{PATH}\n2026-03-03\topened\t{PATH}\n"
        "2026-01-02\tinjected\tdecisions/long-gone.json\n2026-03-01\tinjected\tdecisions/on-a-branch.json\n"
    )

    compact(store)

    assert sorted(usage_log.read(store)) == [
        ("2025-07-01", "injected", PATH, 2),
        ("2026-03-01", "injected", "decisions/on-a-branch.json", 1),
        ("2026-03-03", "opened", PATH, 1),
    ]


def test_a_store_that_is_out_of_reach_loses_no_counts(store, tmp_path):
    os.makedirs(usage_log.folder(), exist_ok=True)
    missing_store = str(tmp_path / "unmounted")
    Path(usage_log.log_file(missing_store)).write_text(f"2025-01-01\tinjected\t{PATH}\n")

    compact(missing_store)

    assert counts(missing_store) == {PATH: Counts(injected=1)}


def test_notes_of_sessions_long_ago_are_forgotten(store, tmp_path):
    path = write_transcript(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, says("ok"))
    for session in ("old", "new"):
        show(session, store, PATH)
        usage.observe(session, path, [store])
        os.utime(os.path.join(usage_log.folder(), "sessions", session), (1, 1) if session == "old" else None)

    show("newest", store, PATH)
    usage.observe("newest", path, [store])
    state_file.prune()

    assert sorted(os.listdir(os.path.join(usage_log.folder(), "sessions"))) == ["new", "newest"]


def weeks(*arguments, **options):
    return [(monday, _undated(count)) for monday, count in per_week(*arguments, **options)]


def test_weeks_run_from_monday_and_end_with_this_one(store):
    os.makedirs(usage_log.folder(), exist_ok=True)
    Path(usage_log.log_file(store)).write_text(
        f"2026-02-22\topened\t{PATH}\n2026-02-23\topened\t{PATH}\n2026-03-01\tinjected\t{PATH}\n2026-03-02\tinjected\tx\n"
    )

    assert weeks(store, limit=3) == [
        ("2026-02-16", Counts(opened=1)),
        ("2026-02-23", Counts(injected=1, opened=1)),
        ("2026-03-02", Counts(injected=1)),
    ]
    assert weeks(store, limit=9, path="x", since="2026-02-25") == [
        ("2026-02-23", Counts()),
        ("2026-03-02", Counts(injected=1)),
    ]


def test_hooks_pay_for_nothing_heavy(store, tmp_path):
    path = write(tmp_path / "t.jsonl", *PROMPT_WITH_RECORD, OPENING)
    show("s1", store, PATH)
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); from onrecord import usage\n"
        "usage.count_injected(sys.argv[1], ['a'], 'prompt')\n"
        "from onrecord.hosts import claude_code\n"
        "usage.observe('s1', claude_code.transcript(sys.argv[2]), [sys.argv[1]]); print(*sys.modules)"
    )
    words = [sys.executable, "-S", "-E", "-c", program, store, path]
    process = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)

    heavy = {"re", "json", "typing", "collections", "dataclasses", "datetime", "hashlib", "pathlib", "subprocess",
             "argparse", "contextlib", "functools", "enum", "sqlite3", "_sqlite3"}  # fmt: skip
    assert heavy & set(process.stdout.split()) == set()
    assert counts(store)[PATH] == Counts(injected=1, opened=1)


def test_corrections_keep_their_day_and_host_when_the_log_is_compacted(store):
    usage_log.add_correction(store, PATH, "claude-code")
    usage_log.add_correction(store, os.path.join(store, PATH), "codex\t\n")
    old = "2024-05-17\tcorrected\t" + PATH + "\t1\tclaude-code\n"
    data = old.encode() + Path(usage_log.log_file(store)).read_bytes()

    Path(usage_log.log_file(store)).write_bytes(usage_log.compact(store, data))

    assert usage_log.corrections(store) == {PATH: usage_log.Corrections(3, NOW[:10], ("claude-code", "codex"))}
    assert b"2024-05-17\tcorrected" in Path(usage_log.log_file(store)).read_bytes()
    assert per_record(store)[PATH].corrected == 3


def test_a_correction_says_more_than_that_a_record_was_opened(store):
    usage_log.append(store, [("opened", PATH), ("injected", PATH)])
    usage_log.add_correction(store, PATH, "codex")

    assert usage_log.observations(store) == {PATH: 6}


@pytest.mark.parametrize(
    ("times", "hosts", "summary"),
    [(1, (), "once, last on 2026-03-02"), (3, ("codex",), "3 times, last on 2026-03-02 (codex)")],
)
def test_corrections_in_words(times, hosts, summary):
    assert usage_log.Corrections(times, "2026-03-02", hosts).summary == summary
