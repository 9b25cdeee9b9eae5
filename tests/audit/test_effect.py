"""The effect in sessions of real formats: checks broken before and since, corrections, the holdout, the limits."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onrecord import state_file, timestamps
from onrecord.audit import effect, session_facts, share
from onrecord.audit.effect import Effect, HoldoutEffect
from onrecord.audit.session_facts import ReadLimits
from onrecord.audit.share import Share
from onrecord.hosts import table
from onrecord.project import Project
from onrecord.recall.stores import Stores
from onrecord.session import holdout
from onrecord.settings import Settings
from onrecord.store.store import Store
from onrecord.usage import usage_log
from tests import sessions
from tests.sessions import Change, Run, say

NOW = "2026-03-20T12:00:00Z"
SAVED = "2026-03-02T09:30:00Z"
ALL = ReadLimits()
CHECKS = [
    {"on": "command", "starts": ["npm install"], "say": "run pnpm add"},
]
MOMENT = [{"on": "edit", "paths": ["src/**/*.ts"], "adds": ["from 'moment'"]}]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / "ferry" / ".git").mkdir(parents=True)
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    return Project(str(tmp_path / "ferry"))


def save(project: Project, title: str = "Add packages with pnpm", at: str = SAVED, **fields: object) -> str:
    """Save a record that was created at `at`; return its path in the store."""
    content = {"decision": "pnpm add, never npm.", "context": "One lock file.", "rationale": ["one tool"]}
    entry = project.save("decision", {"title": title, "content": content, "checks": CHECKS, **fields})
    file = Path(project.store.root, entry.path)
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**record, "created_at": at, "updated_at": at}), encoding="utf-8")
    return entry.path


def measure(project: Project, limits: ReadLimits = ALL, settings: Settings | None = None) -> Effect:
    stores = Stores(project.known_refs, project.root, hook=False)
    return effect.measure(stores, settings or project.settings, table.transcripts(project.root), limits)


def days(month: str, count: int) -> list[str]:
    return [f"{month}-{day:02d}T10:00:00Z" for day in range(1, count + 1)]


@pytest.mark.parametrize("host", sessions.HOSTS)
def test_a_command_is_counted_before_and_since(host, project, home):
    write = sessions.HOSTS[host]
    save(project)
    for moment in days("2026-02", 6):
        write(home, project.root, moment, say("add left-pad", "ls", "cd web && npm install left-pad"))
    for moment in days("2026-01", 6):
        write(home, project.root, moment, say("run the tests", "npm test"))
    for moment in days("2026-03", 12)[2:]:
        write(home, project.root, moment, say("add left-pad", "pnpm add left-pad"))

    (one,) = measure(project).records

    assert (one.before, one.since, one.under_way) == (Share(6, 12), Share(0, 10), 0)
    assert effect.sentence(one) == "since 2 March: 0 of 10 sessions ran npm install, before 6 of 12"
    assert one.outcome == share.LESS


@pytest.mark.parametrize("host", sessions.HOSTS)
def test_a_change_of_a_file_is_counted_and_other_files_are_not(host, project, home):
    write = sessions.HOSTS[host]
    save(project, checks=MOMENT)
    bad, good = "import m from 'moment'\n", "import { format } from 'date-fns'\n"
    write(home, project.root, "2026-02-01T10:00:00Z", say("dates", Change("src/a/b.ts", bad)))
    write(home, project.root, "2026-02-02T10:00:00Z", say("dates", Change("src/a/b.ts", bad, old=good)))
    write(home, project.root, "2026-02-03T10:00:00Z", say("dates", Change("src/a/b.ts", good, old=bad)))
    write(home, project.root, "2026-02-04T10:00:00Z", say("dates", Change("docs/b.md", bad)))
    write(home, project.root, "2026-02-05T10:00:00Z", say("dates", "ls"))

    (one,) = measure(project).records

    assert (one.before, one.since) == (Share(2, 3), Share())
    assert effect.sentence(one) == "before 2 March: 2 of 3 sessions added from 'moment'; since then none could have"


@pytest.mark.parametrize("host", sessions.HOSTS)
def test_corrections_and_failed_commands_are_counted(host, project, home):
    path = save(project)
    sessions.HOSTS[host](
        home,
        project.root,
        "2026-02-01T10:00:00Z",
        say("no, don't add a package with npm", Run("make", has_failed=True), "ls"),
        say("no, add packages with pnpm, not npm"),
        say("don't shout at me"),
        say("thanks"),
    )

    measured = measure(project)

    (session,) = measured.reading.sessions
    assert (session.prompts, session.corrections) == (4, 2), "the first prompt has nothing to correct yet"
    assert (session.commands, session.failed_commands) == (2, 1)
    assert (measured.records[0].corrected_before, measured.records[0].corrected_since) == (1, 0)
    assert measured.records[0].record.path.endswith(path)
    assert (measured.corrections, measured.about_rules, measured.corrected) == (2, 1, Share(1, 1))


def test_a_session_that_was_under_way_counts_on_neither_side(project, home):
    save(project)
    sessions.claude_code(home, project.root, "2026-03-02T09:29:00Z", say("a", "npm install a"), say("b"), say("c"))

    (one,) = measure(project).records

    assert (one.before, one.since, one.under_way) == (Share(), Share(), 1)
    assert "1 session under way when a rule was put on record" in effect.left_out(measure(project))[0]


def test_a_session_without_a_correction_is_one_in_which_the_agent_was_not_corrected(project, home):
    save(project)
    sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"), say("thanks"))

    measured = measure(project)

    assert (measured.corrected, measured.corrections, measured.about_rules) == (Share(0, 1), 0, 0)


def test_a_record_dated_in_the_future_has_no_since(project, home):
    save(project, at="2031-01-01T00:00:00Z")
    sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"))

    (one,) = measure(project).records

    assert (one.before, one.since, one.is_in_future) == (Share(1, 1), Share(), True)
    assert effect.sentence(one) == "dated 1 January 2031, in the future; so far 1 of 1 session ran npm install"


def test_a_session_dated_in_the_future_has_the_time_of_its_file_or_none(project, home):
    save(project)
    file = sessions.claude_code(home, project.root, "2033-03-10T10:00:00Z", say("a", "npm install a"))
    assert (measure(project).reading.undated, measure(project).records[0].since) == (1, Share())

    seconds = timestamps.seconds("2026-03-10T10:00:00Z")
    os.utime(file, (seconds, seconds))

    assert measure(project).records[0].since == Share(1, 1)


def test_without_sessions_there_is_nothing_to_count(project):
    save(project)

    measured = measure(project)

    assert (len(measured.records), measured.reading.sessions, measured.corrected) == (1, (), Share())
    assert effect.sentence(measured.records[0]) == "on record since 2 March; no session could have broken it"
    assert measured.holdout is None


def test_without_checks_sessions_are_counted_all_the_same(project, home):
    save(project, checks=[])
    sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"), say("no, stop"))

    measured = measure(project)

    assert (measured.records, len(measured.reading.sessions), measured.corrected) == ((), 1, Share(1, 1))


def test_sessions_of_other_projects_are_not_read(project, home, tmp_path):
    save(project)
    for number, write in enumerate(sessions.HOSTS.values()):
        write(home, f"{project.root}-two", f"2026-02-0{number + 1}T10:00:00Z", say("a", "npm install a"))
        write(home, str(tmp_path / "other"), f"2026-02-0{number + 1}T10:00:00Z", say("a", "npm install a"))

    assert measure(project).reading.sessions == ()


def test_a_retired_record_is_not_counted(project, home):
    path = save(project)
    project.writer.retire(path, "gone")
    sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"))

    assert measure(project).records == ()


def test_damaged_sessions_are_left_out_and_the_others_read(project, home):
    save(project)
    good = sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"))
    lines = good.read_bytes().splitlines(keepends=True)
    (good.parent / "cut.jsonl").write_bytes(lines[0][:100])
    (good.parent / "empty.jsonl").write_bytes(b"")
    (good.parent / "binary.jsonl").write_bytes(b"\x00\xff\xfe" * 1_000)
    (good.parent / "odd.jsonl").write_bytes(
        b'{"type":"user","message":[1,2]}\n[1]\n{"type":"assistant","message":null}\n'
    )
    (good.parent / "folder.jsonl").mkdir()
    mixed = good.parent / "mixed.jsonl"
    own = [line.replace(good.stem.encode(), b"mixed") for line in lines]
    mixed.write_bytes(b"\xff{{{\n" + own[0].replace(b'"a"', b'"b"') + b"{broken\n" + b"".join(own[1:]))
    os.utime(mixed, (timestamps.seconds("2026-03-11T10:00:00Z"),) * 2)

    measured = measure(project)

    assert measured.records[0].since == Share(2, 2)
    assert measured.reading.empty == 4


def test_files_of_subagents_are_no_sessions(project, home):
    save(project)
    file = sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"))
    text = file.read_text(encoding="utf-8").replace('"isSidechain":false', '"isSidechain":true')
    (file.parent / "agent-1.jsonl").write_text(text, encoding="utf-8")
    below = file.parent / file.stem / "subagents"
    below.mkdir(parents=True)
    (below / "agent-2.jsonl").write_text(text, encoding="utf-8")

    measured = measure(project)

    assert (measured.records[0].since, measured.reading.empty) == (Share(1, 1), 1)


def test_the_turns_that_a_resumed_session_copied_count_once(project, home):
    save(project)
    file = sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"), session="first")
    fork(home, project, file, "resumed", say("b", "ls"))

    measured = measure(project)

    assert measured.records[0].since == Share(1, 2)
    assert [(one.session_id, one.prompts) for one in measured.reading.sessions] == [("resumed", 1), ("first", 1)]
    assert [set(one.relatives) for one in measured.reading.sessions] == [{"first"}, set()]

    file.unlink()

    (session,) = measure(project).reading.sessions
    assert (session.prompts, len(session.broken), set(session.relatives)) == (2, 1, {"first"})


def fork(home: Path, project: Project, file: Path, name: str, *turns: sessions.Say) -> Path:
    """Write a session that goes on from that of `file`: with its lines as they are, and with turns of its own."""
    forked = sessions.claude_code(home, project.root, "2026-03-11T10:00:00Z", *turns, session=name)
    forked.write_bytes(file.read_bytes() + forked.read_bytes())
    os.utime(forked, (timestamps.seconds("2026-03-11T11:00:00Z"),) * 2)
    return forked


def test_of_a_huge_session_only_the_end_is_read_and_that_is_said(project, home):
    save(project)
    turns = [say(f"step {number}", f"echo {'x' * 2_000}") for number in range(200)]
    sessions.claude_code(home, project.root, "2026-03-10T01:00:00Z", say("a", "npm install a"), *turns)

    measured = measure(project, ReadLimits(session_bytes=100_000))

    assert measured.records[0].since == Share(0, 1)
    assert "1 session read in part: only the end of a large file" in effect.left_out(measured)


@pytest.mark.parametrize(
    "limits",
    [ReadLimits(sessions=2), ReadLimits(total_bytes=1), ReadLimits(seconds=-1.0)],
    ids=["number", "bytes", "time"],
)
def test_what_is_over_a_limit_is_not_read_and_the_newest_are(project, home, limits):
    save(project)
    for moment in days("2026-03", 9)[2:]:
        sessions.claude_code(home, project.root, moment, say("a", "npm install a"))

    measured = measure(project, limits)

    read = [session.started_at[:10] for session in measured.reading.sessions]
    assert len(read) + measured.reading.over_limit == 7
    assert read == ["2026-03-09", "2026-03-08"][: len(read)]
    assert f"{measured.reading.over_limit} older sessions not read: over the limit" in effect.left_out(measured)


def test_what_was_shown_and_opened_comes_from_the_usage_log(project):
    path = save(project)
    usage_log.append(project.store.root, [("injected", path)] * 3 + [("opened", path)])

    (one,) = measure(project).records

    assert (one.record.counts.injected, one.record.counts.opened) == (3, 1)


def test_rules_of_the_user_and_of_nested_stores_are_counted(project, home):
    save(project)
    user = Store(str(home / ".claude" / "memory"))
    content = {"decision": "x", "context": "y", "rationale": ["z"]}
    from onrecord.record import compose
    from onrecord.store import nested
    from onrecord.store.writer import Writer

    mine = {"title": "No sudo", "content": content, "checks": [{"on": "command", "starts": ["sudo"]}]}
    Writer(user, Settings()).save(compose.compose("decision", mine, now=SAVED))
    web = os.path.join(project.root, "packages", "web")
    inner = {"title": "No moment", "content": content, "checks": MOMENT}
    Writer(Store(os.path.join(web, ".claude", "memory")), Settings()).save(
        compose.compose("decision", inner, now=SAVED)
    )
    nested.note(project.root, nested.of_files(project.root, [f"{web}/src/a.ts"]))
    change = Change("packages/web/src/a.ts", "import m from 'moment'\n")
    other = Change("src/a.ts", "import m from 'moment'\n")
    sessions.codex(home, project.root, "2026-03-10T10:00:00Z", say("a", "sudo npm install a", change))
    sessions.codex(home, project.root, "2026-03-11T10:00:00Z", say("b", other))

    counted = {one.record.record_id: one.since for one in measure(project).records}

    assert counted == {
        "add-packages-with-pnpm": Share(1, 1),
        "no-sudo": Share(1, 1),
        "no-moment": Share(1, 1),
    }


def hold_out(start: str, end: str = "", share: float = 0.5) -> None:
    file = Path(state_file.state_path("holdout"))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{start}\t{share:g}\n" + (f"{end}\t0\n" if end else ""))


def named(is_held_out: bool, count: int) -> list[str]:
    names = (f"{number:08x}-4a41-444d-a5bb-56d64f985449" for number in range(10_000))
    return [name for name in names if holdout.is_held_out(name, 0.5) == is_held_out][:count]


@pytest.mark.parametrize("host", sessions.HOSTS)
def test_sessions_with_and_without_records_are_compared(host, project, home):
    save(project)
    hold_out("2026-03-05T00:00:00Z")
    write = sessions.HOSTS[host]
    for number, name in enumerate(named(True, 25)):
        turns = [say("a", "npm install a", Run("make", has_failed=True)), say("no, use pnpm" if number % 2 else "ok")]
        write(home, project.root, f"2026-03-06T{number % 24:02d}:10:00Z", *turns, session=name)
    for number, name in enumerate(named(False, 25)):
        turns = [say("a", "npm install a" if number == 0 else "pnpm add a"), say("ok")]
        write(home, project.root, f"2026-03-07T{number % 24:02d}:10:00Z", *turns, session=name)

    measured = measure(project)

    held = measured.holdout
    assert (held.shown, held.held_out, held.is_enough) == (25, 25, True)
    assert {one.name: (one.shown, one.held_out, one.outcome) for one in held.comparisons} == {
        effect.CORRECTED: (Share(0, 25), Share(12, 25), share.LESS),
        effect.BROKEN: (Share(1, 25), Share(25, 25), share.LESS),
        effect.FAILED: (Share(0, 25), Share(25, 25), share.LESS),
    }
    assert measured.records[0].since == Share(1, 25), "what was not shown says nothing about the record"


@pytest.mark.parametrize("is_first_held_out", [True, False])
def test_a_fork_takes_no_turns_to_the_other_side_of_the_holdout(project, home, is_first_held_out):
    save(project)
    hold_out("2026-03-05T00:00:00Z")
    (first,), (second,) = named(is_first_held_out, 1), named(not is_first_held_out, 1)
    turns = say("a", "npm install y")
    file = sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", turns, session=first)
    fork(home, project, file, second, say("b", "pnpm add y"))

    measured = measure(project)

    held = measured.holdout
    (broken,) = (one for one in held.comparisons if one.name == effect.BROKEN)
    sides = (broken.held_out, broken.shown)
    assert sides == ((Share(1, 1), Share()) if is_first_held_out else (Share(), Share(1, 1)))
    assert (held.held_out + held.shown, held.continued) == (1, 1)
    assert measured.records[0].since == (Share() if is_first_held_out else Share(1, 1))
    assert any("1 session resumed or forked from another" in line for line in effect.left_out(measured))


def test_where_nothing_says_who_ran_a_turn_neither_session_is_compared(project, home):
    save(project)
    hold_out("2026-03-05T00:00:00Z")
    (first,), (second,) = named(True, 1), named(False, 1)
    file = sessions.codex(
        home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install y"), say("c"), session=first
    )
    more = sessions.codex(home, project.root, "2026-03-10T11:00:00Z", say("b", "ls"), session=second)
    head, *own = more.read_bytes().splitlines(keepends=True)
    _, *copied = file.read_bytes().splitlines(keepends=True)
    more.write_bytes(b"".join([head, *copied[:3], *own]))
    os.utime(more, (timestamps.seconds("2026-03-11T11:00:00Z"),) * 2)

    measured = measure(project)

    held = measured.holdout
    assert (held.shown, held.held_out, held.continued) == (0, 0, 2)
    assert measured.records[0].since == Share()


def test_nor_are_they_where_a_fork_has_its_own_id_on_what_it_copied(project, home):
    save(project)
    hold_out("2026-03-05T00:00:00Z")
    (first,), (second,) = named(True, 1), named(False, 1)
    turns = (say("a", "npm install y"), say("c"))
    file = sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", *turns, session=first)
    copied = b"".join(file.read_bytes().splitlines(keepends=True)[:4]).replace(first.encode(), second.encode())
    file.with_name(f"{second}.jsonl").write_bytes(copied)

    held = measure(project).holdout

    assert (held.shown, held.held_out, held.continued) == (0, 0, 2)


def test_with_few_sessions_nothing_is_concluded(project, home):
    save(project)
    hold_out("2026-03-05T00:00:00Z")
    for name in (*named(True, 3), *named(False, 19)):
        sessions.claude_code(home, project.root, "2026-03-06T10:00:00Z", say("a", "npm install a"), session=name)

    held = measure(project).holdout

    assert (held.shown, held.held_out, held.is_enough) == (19, 3, False)
    assert {one.outcome for one in held.comparisons} == {share.TOO_FEW}


def test_sessions_from_before_after_and_across_the_holdout_are_not_compared(project, home):
    save(project)
    hold_out("2026-03-05T00:00:00Z", "2026-03-10T00:00:00Z")
    across = named(True, 4)
    moments = ("2026-03-04T10:00:00Z", "2026-03-04T23:59:30Z", "2026-03-09T23:59:30Z", "2026-03-12T10:00:00Z")
    for name, moment in zip(across, moments):
        sessions.claude_code(home, project.root, moment, say("a", "npm install a"), say("b"), session=name)

    held = measure(project).holdout

    assert (held.share, held.shown, held.held_out) == (0.0, 0, 0)


def test_a_holdout_that_no_hook_has_seen_yet_compares_nothing(project, home):
    save(project)
    settings = Settings()
    settings.take("mine", True, {"retrieval.holdout": 0.2})

    assert measure(project, settings=settings).holdout == HoldoutEffect(0.2, "", 0, 0, (), 0)


def test_nothing_is_written_but_the_index(project, home):
    save(project)
    sessions.claude_code(home, project.root, "2026-03-10T10:00:00Z", say("a", "npm install a"), say("no, use pnpm"))
    measure(project)
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}

    measure(project)

    after = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}
    assert {path for path in after if after[path] != before.get(path) and ".cache" not in path.parts} == set()


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (1, 214, 0.0008, 0.026),
        (9, 120, 0.04, 0.1365),
        (5, 10, 0.2366, 0.7634),
    ],
)
def test_the_interval_of_a_share_is_wilsons(hits, of, low, high):
    assert Share(hits, of).interval == pytest.approx((low, high), abs=0.0005)


def test_the_interval_of_nothing_is_everything():
    assert (Share().interval, Share().value) == ((0.0, 1.0), 0.0)


def test_the_interval_of_a_difference_is_newcombes():
    # Example of Newcombe (1998), method 10: 56/70 against 48/80 is 0.2, from 0.0524 to 0.3339.
    assert share.difference(Share(48, 80), Share(56, 70)) == pytest.approx((0.0524, 0.3339), abs=0.0005)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (Share(9, 120), Share(1, 214), share.LESS),
        (Share(1, 214), Share(9, 120), share.MORE),
        (Share(2, 20), Share(1, 20), share.UNCLEAR),
        (Share(9, 9), Share(0, 100), share.TOO_FEW),
    ],
)
def test_what_a_comparison_says(first, second, outcome):
    assert share.compare(first, second, 10) == outcome
    assert effect.conclusion(first, second, 10)


def test_the_correction_detector_is_one_function():
    assert session_facts.is_correction("no, use pnpm") and not session_facts.is_correction("thanks")
