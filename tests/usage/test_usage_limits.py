"""Counts of what happened to records at the edges: days, weeks, names in calls of tools, and damaged lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord import state_file, timestamps, usage
from onrecord.session.transcript import Message
from onrecord.usage import Happening, event_log, usage_log
from onrecord.usage.usage_log import Corrections, Counts

NOW = "2026-03-04T10:00:00Z"
PATH, OTHER = "decisions/use-uv.json", "decisions/other.json"


@pytest.fixture
def store(tmp_path, monkeypatch):
    usage.take_happenings()
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    return str(tmp_path / "memory")


def _write(store: str, *lines: str) -> None:
    os.makedirs(usage_log.folder(), exist_ok=True)
    Path(usage_log.log_file(store)).write_text("".join(f"{line}\n" for line in lines))


def _text(store: str) -> str:
    return Path(usage_log.log_file(store)).read_text()


def test_each_kind_of_event_is_counted_and_logged_by_its_name(store):
    usage.count_injected(store, [PATH], "prompt")
    usage.count_pointed(store, [PATH], "file")
    usage.count_digest(store, [f"{store}/{PATH}", "/elsewhere/x.json"], 12)
    usage.count_digest(store, [], 0)
    assert usage.count_correction(store, f"{store}/{PATH}", "claude-code") == 1
    assert usage.count_correction(store, PATH, "co dex/1") == 2

    assert _text(store).splitlines() == [
        f"2026-03-04\tinjected\t{PATH}",
        f"2026-03-04\tpointed\t{PATH}",
        f"2026-03-04\tdigest\t{PATH}",
        f"2026-03-04\tcorrected\t{PATH}\t1\tclaude-code",
        f"2026-03-04\tcorrected\t{PATH}\t1\tcodex1",
    ]
    assert usage.take_happenings() == [
        Happening(store, "shown", PATH, "prompt", "rule"),
        Happening(store, "shown", PATH, "file", "pointer"),
        Happening(store, "shown", f"{store}/{PATH}", "start", "rule"),
        Happening(store, "shown", "12", "start", "map"),
        Happening(store, "corrected", f"{store}/{PATH}", "correction", ""),
        Happening(store, "corrected", PATH, "correction", ""),
    ]
    assert usage.take_happenings() == []
    assert usage.count_correction(store, "/elsewhere/x.json", "codex") == 0
    assert usage_log.per_record(store) == {
        PATH: Counts(1, 1, 0, 1, 2, last_injected="2026-03-04", last_corrected="2026-03-04")
    }


@pytest.mark.parametrize(
    "line",
    [
        f"2026-03-04\tinjected\t{PATH}",
        f"2026-03-04\tinjected\t{PATH}\t99999999999",
        f"2026-03-04\tcorrected\t{PATH}\t2\tcodex",
        f"2026-03-04\twrong\t{PATH}\t-1",
    ],
)
def test_a_line_that_counts(store, line):
    _write(store, line)

    cells = line.split("\t")
    assert list(usage_log.read(store)) == [(*cells[:3], int(cells[3]) if len(cells) > 3 else 1)]


@pytest.mark.parametrize(
    "line",
    [
        f"2026-03-04\tinjected\t{PATH}\t999999999999",
        f"2026-03-04\tinjected\t{PATH}\t-1",
        f"2026-03-04\tinjected\t{PATH}\t1.5",
        f"2026-03-04\tinjected\t{PATH}\t",
        f"2026-03-04\tinjected\t{PATH}\t1\ta\tb",
        "2026-03-04\tinjected\t",
        "2026-03-04\tinjected",
        f"2026-02-30\tinjected\t{PATH}",
        f"2026-03-04\tused\t{PATH}",
        f"2026-03-04\twrong\t{PATH}\t--1",
    ],
)
def test_a_line_that_does_not_count(store, line):
    _write(store, line)

    assert list(usage_log.read(store)) == []


@pytest.mark.parametrize(
    ("path", "inside"),
    [("decisions/a.json", "decisions/a.json"), ("/s/m/decisions/a.json", "decisions/a.json"), ("/s/m2/a.json", "")],
)
def test_a_path_in_a_store(path, inside):
    assert usage_log.path_in_store("/s/m", path) == usage_log.path_in_store("/s/m/", path) == inside


def test_days_are_merged_into_months_after_a_hundred_days(store):
    daily, older = timestamps.days_before(NOW, 100)[:10], timestamps.days_before(NOW, 101)[:10]
    data = "".join(
        f"{day}\t{event}\t{PATH}\t2\n" for day in (daily, older) for event in ("injected", "corrected", "injected")
    )

    compacted = usage_log.compact(store, data.encode()).decode().splitlines()

    assert compacted == sorted(
        [
            f"{older[:8]}01\tinjected\t{PATH}\t4",
            f"{daily}\tinjected\t{PATH}\t4",
            f"{older}\tcorrected\t{PATH}\t2",
            f"{daily}\tcorrected\t{PATH}\t2",
        ]
    )


@pytest.mark.parametrize(("days", "is_kept"), [(30, True), (31, False)])
def test_counts_of_a_record_that_is_gone_are_kept_for_thirty_days(store, days, is_kept):
    os.makedirs(store)
    day = timestamps.days_before(NOW, days)[:10]

    compacted = usage_log.compact(store, f"{day}\tinjected\t{PATH}\n2001-01-01\tinjected\t{PATH}\n".encode())

    assert bool(compacted) is is_kept


def test_counts_of_records_that_are_there_or_of_a_store_that_is_not_are_kept(store):
    data = f"2001-01-01\tinjected\t{PATH}\n".encode()
    assert usage_log.compact(store, data) == f"2001-01-01\tinjected\t{PATH}\t1\n".encode()
    os.makedirs(os.path.join(store, "decisions"))
    assert usage_log.compact(store, data) == b""
    Path(store, PATH).write_text("{}")

    assert usage_log.compact(store, data) == f"2001-01-01\tinjected\t{PATH}\t1\n".encode()


def test_a_log_that_stays_large_loses_its_older_half(store, monkeypatch):
    monkeypatch.setattr(usage_log, "MAX_LOG_BYTES", 400)
    data = "".join(f"2026-03-{day:02}\tinjected\t{PATH}\n" for day in range(1, 5) for _ in range(2)).encode()
    assert len(usage_log.compact(store, data).splitlines()) == 4

    monkeypatch.setattr(usage_log, "MAX_LOG_BYTES", 200)
    (*_, last) = lines = usage_log.compact(store, data).splitlines()

    assert (len(lines), last[:10]) == (1, b"2026-03-04")


def test_the_weeks_of_the_counts_begin_on_mondays(store):
    _write(
        store,
        f"2026-03-02\tinjected\t{PATH}",
        f"2026-03-01\tinjected\t{PATH}\t2",
        f"2026-02-23\topened\t{OTHER}",
        f"2026-02-22\tinjected\t{PATH}\t7",
    )

    assert [(week, counts.injected, counts.opened) for week, counts in usage_log.per_week(store, 2)] == [
        ("2026-02-23", 2, 1),
        ("2026-03-02", 1, 0),
    ]
    assert [week for week, _ in usage_log.per_week(store)][::11] == ["2025-12-15", "2026-03-02"]
    assert [counts.injected for _, counts in usage_log.per_week(store, 2, OTHER)] == [0, 0]
    since = usage_log.per_week(store, 12, since="2026-02-24T00:00:00Z")
    assert [(week, counts.injected, counts.opened) for week, counts in since] == [
        ("2026-02-23", 2, 0),
        ("2026-03-02", 1, 0),
    ]


def test_counts_since_a_day(store):
    _write(store, f"2026-03-01\tinjected\t{PATH}", f"2026-03-02\tinjected\t{PATH}")

    assert usage_log.per_record(store, "2026-03-02T23:00:00Z")[PATH].injected == 1


def test_the_counts_of_several_records_as_one():
    counts = [
        Counts(1, 2, 3, 4, 5, 6, 7, 8, "2026-01-01", "2026-02-02"),
        Counts(10, 20, 30, 40, 50, 60, 70, 80, "2026-01-02", "2026-02-01"),
    ]

    assert usage_log.total(counts) == Counts(11, 22, 33, 44, 55, 66, 77, 88, "2026-01-02", "2026-02-02")
    assert usage_log.total([]) == Counts()


@pytest.mark.parametrize(
    ("corrections", "summary"),
    [
        (Corrections(1, "2026-03-02", ()), "once, last on 2026-03-02"),
        (Corrections(2, "2026-03-02", ("codex",)), "2 times, last on 2026-03-02 (codex)"),
        (Corrections(1_000, "2026-03-02", ("a", "b")), "1,000 times, last on 2026-03-02 (a, b)"),
    ],
)
def test_corrections_in_words(corrections, summary):
    assert corrections.summary == summary


def test_corrections_come_the_most_frequent_first_and_each_host_once(store):
    _write(
        store,
        f"2026-03-02\tcorrected\t{OTHER}\t1\tcodex",
        f"2026-03-02\tcorrected\t{PATH}\t1\tcodex",
        f"2026-03-01\tcorrected\t{PATH}\t2\tcodex",
        "2026-03-01\tcorrected\tdecisions/a.json\t1",
        f"2026-03-03\tinjected\t{PATH}",
    )

    assert list(usage_log.corrections(store).items()) == [
        (PATH, Corrections(3, "2026-03-02", ("codex",))),
        ("decisions/a.json", Corrections(1, "2026-03-01", ())),
        (OTHER, Corrections(1, "2026-03-02", ("codex",))),
    ]
    os.makedirs(os.path.join(store, "decisions"))
    Path(store, OTHER).write_text("{}")
    assert list(usage_log.current_corrections(store)) == [OTHER]


def test_what_each_event_says_about_a_record(store):
    for event, weight in (("corrected", 5), ("opened", 1), ("helped", 3), ("injected", 0), ("digest", 0)):
        _write(store, f"2026-03-02\t{event}\t{PATH}\t2")
        assert usage_log.observations(store).get(PATH, 0) == 2 * weight
    for event, weight in (("not_relevant", 2), ("wrong", 5)):
        _write(store, f"2026-03-02\tcorrected\t{PATH}\t2", f"2026-03-02\t{event}\t{PATH}")
        assert usage_log.observations(store) == {PATH: 10 - weight}


def _calls(**arguments: object) -> Message:
    return Message("assistant", "tool_use", "", str(arguments.pop("tool", "Bash")), arguments)


@pytest.mark.parametrize(
    ("message", "is_opened"),
    [
        (_calls(command="onrecord show use-uv"), True),
        (_calls(command="ONRECORD show decision/use-uv"), True),
        (_calls(command="onrecord show use-uv-again"), False),
        (_calls(command="onrecord show not-use-uv then use-uv"), True),
        (_calls(command="cat .claude/memory/decisions/use-uv.json"), True),
        (_calls(command="cat use-uv.json"), False),
        (_calls(tool="Read", file_path="/p/.claude/memory/decisions/use-uv.json"), True),
        (_calls(tool="Read", file_path="C:\\p\\decisions\\use-uv.json"), True),
        (_calls(tool="Write", file_path="/p/.claude/memory/decisions/use-uv.json"), False),
        (_calls(tool="Edit", file_path="/p/.claude/memory/decisions/use-uv.json"), False),
        (_calls(tool="mcp", a={"b": [["onrecord", "use-uv"]]}), True),
        (_calls(tool="mcp", a={"b": [[["onrecord use-uv"]]]}), False),
        (_calls(tool="mcp", a=["x"] * 199 + ["onrecord use-uv"]), True),
        (_calls(tool="mcp", a=["x"] * 200 + ["onrecord use-uv"]), False),
        (_calls(command="x" * 39_985 + " onrecord use-uv"), False),
        (_calls(command="x" * 39_984 + " onrecord use-uv"), True),
    ],
)
def test_a_call_that_opens_a_record(message, is_opened):
    assert usage_log.was_opened([message], PATH) is is_opened


@pytest.mark.parametrize(
    "shown", [f'path="{PATH}"', f"(decision · {PATH})", "onrecord show use-uv", "onrecord show --user use-uv"]
)
def test_what_was_opened_before_it_was_last_shown_does_not_count(shown):
    context = Message("user", "context", shown)

    assert not usage_log.was_opened([_calls(command="onrecord show use-uv"), context], PATH)
    assert usage_log.was_opened([context, _calls(command="onrecord show use-uv")], PATH)


def test_an_event_is_kept_for_a_hundred_days(store):
    os.makedirs(event_log.folder())
    first, older = timestamps.days_before(NOW, 100), timestamps.from_seconds(timestamps.seconds(NOW) - 8_640_001)
    lines = "".join(f"{at}\tshown\tcodex\ts\tprompt\trule\t{PATH}\n" for at in (older, first))
    Path(event_log.log_file(store)).write_text(lines)

    assert [event.at for event in event_log.read(store)] == [first]
    assert event_log.shrink(lines.encode()).decode().count("\n") == 1
    event_log.prune()
    assert Path(event_log.log_file(store)).read_text() == lines.splitlines(True)[1]


def test_fifty_showings_are_listed_unless_more_are_wanted(store):
    happenings = [Happening(store, "shown", f"decisions/{number}.json", "prompt", "rule") for number in range(51)]
    event_log.append(happenings, "codex", "s1")

    assert [len(event_log.newest(store)), len(event_log.newest(store, 51))] == [50, 51]
    assert len(event_log.showings(event_log.read(store))) == 51


@pytest.mark.parametrize(("lines", "number"), [("12345678", 12_345_678), ("123456789", 0), ("many", 0)])
def test_the_number_of_lines_of_a_map(store, lines, number):
    event_log.append([Happening(store, "shown", lines, "start", "map")], "codex", "s1")

    (showing,) = event_log.newest(store)

    assert (showing.lines, showing.path) == (number, "")


def test_a_name_in_the_log_has_sixty_plain_characters(store):
    event_log.append([Happening(store, "shown", PATH, "prompt", "rule")], "a-b_c/d " + "x" * 60, "")

    (showing,) = event_log.newest(store)

    assert (showing.host, showing.session) == ("a-b_cd" + "x" * 54, "")
    assert len(event_log.session_key("s1")) == 12


def test_feedback_that_cannot_be_written_is_an_error(store, monkeypatch):
    monkeypatch.setattr(state_file.StateFile, "append", lambda self, text: -1)

    with pytest.raises(Exception, match=r"cannot write .*, so nothing was noted") as caught:
        event_log.give_feedback(store, PATH, "wrong")

    assert caught.value.fix == "check the disk, and the permissions of the state folder: onrecord doctor"


def test_when_a_record_was_last_corrected_and_judged(store):
    lines = [
        ("2026-03-02T10:00:00Z", "corrected"),
        ("2026-03-03T10:00:00Z", "corrected"),
        ("2026-03-01T10:00:00Z", "wrong"),
    ]
    os.makedirs(event_log.folder())
    Path(event_log.log_file(store)).write_text("".join(f"{at}\t{what}\t\ts\t\t\t{PATH}\n" for at, what in lines))

    assert event_log.last_correction(store, PATH) == "2026-03-03T10:00:00Z"
    assert event_log.last_feedback(store, PATH) == "2026-03-01T10:00:00Z"
    assert (event_log.last_correction(store, OTHER), event_log.last_feedback(store, OTHER)) == ("", "")


@pytest.mark.parametrize("path", ["/elsewhere/decisions/a.json", "", "decisions/a\nb.json"])
def test_what_is_in_no_store_or_has_no_plain_name_is_not_written(store, path):
    usage_log.append(store, [("injected", path)])
    usage_log.add_correction(store, path, "codex")

    assert not os.path.exists(usage_log.log_file(store))


@pytest.mark.parametrize(
    ("verdict", "earlier", "lines"),
    [
        ("helped", "", [f"2026-03-04\thelped\t{PATH}\t1"]),
        ("wrong", "helped", [f"2026-03-04\thelped\t{PATH}\t-1", f"2026-03-04\twrong\t{PATH}\t1"]),
        ("", "not_relevant", [f"2026-03-04\tnot_relevant\t{PATH}\t-1"]),
    ],
)
def test_feedback_takes_the_place_of_what_was_said_before(store, verdict, earlier, lines):
    usage_log.add_feedback(store, PATH, verdict, earlier)

    assert _text(store).splitlines() == lines


def test_without_feedback_nothing_is_written(store):
    usage_log.add_feedback(store, PATH, "", "")

    assert not os.path.exists(usage_log.log_file(store))


def test_the_notes_of_a_session_have_its_name_if_that_is_plain(store):
    names = ["s-1", "x" * 64, "x" * 65, "../etc", "ü", ""]

    notes = [os.path.basename(usage_log._notes(name).path) for name in names]

    assert notes[:2] == names[:2]
    assert [len(name) for name in notes[2:]] == [32] * 4 and len(set(notes)) == 6
    assert os.path.dirname(usage_log._notes("s-1").path) == os.path.join(usage_log.folder(), "sessions")


def test_the_notes_of_a_session_count_turns_and_what_was_opened(store):
    notes = usage_log._notes("s-1")
    notes.append("/m/a\tv1\tunclear\n/m/a\tv1\topened\n/m/b\tv1\tunclear\ndamaged\n/m/b\tv2\tunclear\n")

    assert usage_log._read_notes(notes) == (
        {("/m/a", "v1"): 2, ("/m/b", "v1"): 1, ("/m/b", "v2"): 1},
        {("/m/a", "v1")},
    )
