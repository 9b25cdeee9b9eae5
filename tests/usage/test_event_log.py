"""What agents were shown, when, and what became of it: written by hooks, read by the page, and private."""

from __future__ import annotations

import datetime
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import state_file, timestamps, usage
from onrecord.usage import Happening, event_log, usage_log
from onrecord.usage.event_log import Event, Feedback, Showing

ROOT = Path(__file__).parents[2]
NOW = "2026-03-04T10:00:00Z"
PATH, OTHER = "decisions/sessions-in-postgres.json", "decisions/use-uv.json"
KEY = event_log.session_key("s1")


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "project" / ".claude" / "memory")


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timestamps, "now", lambda: NOW)


def _shown(store: str, *paths: str, form: str = "rule") -> list[Happening]:
    return [Happening(store, "shown", path, "prompt", form) for path in paths]


def _log(store: str, *happenings: Happening, session: str = "s1", host: str = "codex") -> None:
    event_log.append(happenings, host, session)


def _write(store: str, *events: Event) -> None:
    os.makedirs(event_log.folder(), exist_ok=True)
    Path(event_log.log_file(store)).write_text("".join(map(event_log.render, events)))


def _event(at: str, what: str = "shown", path: str = PATH, session: str = "s") -> Event:
    return Event(at, what, "codex", session, "prompt", "rule", path)


def test_a_showing_has_its_time_agent_moment_form_and_what_became_of_it(store):
    _log(store, *_shown(store, PATH, os.path.join(store, OTHER)))
    _log(store, Happening(store, "used", PATH), Happening(store, "corrected", OTHER, "correction"))

    other, first = event_log.newest(store)

    assert first == Showing(NOW, PATH, "codex", KEY, "prompt", "rule", outcome="used")
    assert other == Showing(NOW, OTHER, "codex", KEY, "prompt", "rule", outcome="corrected")


def test_a_map_is_one_showing_whatever_its_length(store):
    _log(store, Happening(store, "shown", "120", "start", "map"))

    assert event_log.newest(store) == [Showing(NOW, "", "codex", KEY, "start", "map", lines=120)]


def test_what_was_opened_and_broken_all_the_same_was_broken(store):
    _log(store, *_shown(store, PATH))
    _log(store, Happening(store, "corrected", PATH))
    _log(store, Happening(store, "used", PATH))

    (showing,) = event_log.newest(store)
    assert showing.outcome == "corrected"


def test_an_outcome_belongs_to_the_session_in_which_it_happened(store):
    _log(store, *_shown(store, PATH), session="a")
    _log(store, *_shown(store, PATH), session="b")
    _log(store, Happening(store, "used", PATH), session="b")

    assert [showing.outcome for showing in event_log.newest(store)] == ["used", ""]


def test_no_session_host_or_text_is_written_that_could_tell_more(store):
    _log(
        store,
        *_shown(store, PATH, "decisions/a\tb.json", "/elsewhere/secret.json"),
        session="the session",
        host="a b\t",
    )

    text = Path(event_log.log_file(store)).read_text()

    assert text == f"{NOW}\tshown\tab\t{event_log.session_key('the session')}\tprompt\trule\t{PATH}\n"
    assert stat.S_IMODE(os.stat(event_log.log_file(store)).st_mode) == 0o600


def test_feedback_counts_and_the_last_word_counts_alone(store):
    _log(store, *_shown(store, PATH))
    for verdict in ("helped", "helped", "wrong", "not_relevant"):
        event_log.give_feedback(store, PATH, verdict, KEY)

    (showing,) = event_log.newest(store)
    counts = usage_log.per_record(store)[PATH]
    assert showing.feedback == "not_relevant"
    assert (counts.helped, counts.not_relevant, counts.wrong) == (0, 1, 0)
    assert event_log.feedback(store) == {PATH: Feedback(not_relevant=1, last=NOW)}


def test_feedback_that_is_taken_back_leaves_nothing(store):
    event_log.give_feedback(store, PATH, "wrong", KEY)

    event_log.give_feedback(store, PATH, event_log.TAKEN_BACK, KEY)
    event_log.give_feedback(store, PATH, event_log.TAKEN_BACK, KEY)

    assert event_log.feedback(store) == {}
    assert usage_log.per_record(store)[PATH].wrong == 0
    assert usage_log.observations(store) == {PATH: 0}


def test_feedback_of_two_sessions_counts_twice(store):
    for session in ("a", "b"):
        event_log.give_feedback(store, PATH, "helped", session)

    assert event_log.feedback(store)[PATH].helped == 2
    assert usage_log.observations(store) == {PATH: 6}


@pytest.mark.parametrize(("path", "verdict"), [(PATH, "great"), (PATH, "shown"), ("", "helped"), ("a\nb", "helped")])
def test_feedback_that_says_nothing_is_refused(store, path, verdict):
    with pytest.raises(ValueError):
        event_log.give_feedback(store, path, verdict)
    assert not os.path.exists(event_log.log_file(store))


def test_what_a_person_calls_wrong_counts_less_in_the_order_of_the_map(store):
    usage_log.append(store, [("opened", PATH)] * 4 + [("opened", OTHER)] * 4)

    event_log.give_feedback(store, PATH, "wrong", KEY)
    event_log.give_feedback(store, OTHER, "helped", KEY)

    assert usage_log.observations(store) == {PATH: 0, OTHER: 7}


def test_the_newest_come_first_and_of_one_record_only_its_own(store):
    _write(
        store, *(_event(f"2026-03-02T08:00:{n:02}Z", path=PATH if n % 2 else OTHER, session=str(n)) for n in range(9))
    )

    assert [showing.at[-3:-1] for showing in event_log.newest(store, 3)] == ["08", "07", "06"]
    assert [showing.at[-3:-1] for showing in event_log.newest(store, 2, PATH)] == ["07", "05"]


def test_old_events_are_neither_read_nor_kept(store):
    _write(store, _event("2025-01-01T00:00:00Z"), _event("2026-03-01T00:00:00Z"))
    assert len(event_log.read(store)) == 1

    event_log.prune()

    assert Path(event_log.log_file(store)).read_text().count("\n") == 1


def test_a_log_that_is_new_is_not_written_by_pruning(store):
    _write(store, _event("2026-03-01T00:00:00Z"))
    before = os.stat(event_log.log_file(store))

    event_log.prune()

    assert os.stat(event_log.log_file(store)).st_ino == before.st_ino


def test_a_large_log_is_cut_and_keeps_the_newest(store, monkeypatch):
    monkeypatch.setattr(event_log, "MAX_BYTES", 4_000)

    for number in range(300):
        _log(store, *_shown(store, f"decisions/{number}.json"))

    assert os.path.getsize(event_log.log_file(store)) < 5_000
    assert event_log.newest(store, 1)[0].path == "decisions/299.json"


@given(st.binary(max_size=600))
def test_any_bytes_are_a_log(data):
    events = list(event_log.parse(data))

    assert list(event_log.parse("".join(map(event_log.render, events)).encode())) == events
    assert isinstance(event_log.showings(events), list)
    assert isinstance(event_log.shrink(data), bytes)


_cells = st.text(st.characters(exclude_categories=("C", "Z")), max_size=12)


@given(
    st.lists(
        st.builds(
            Event,
            st.datetimes(datetime.datetime(1970, 1, 1)).map(lambda when: when.strftime("%Y-%m-%dT%H:%M:%SZ")),
            st.sampled_from(sorted(event_log._EVENTS)),
            _cells,
            _cells,
            _cells,
            _cells,
            _cells.filter(bool),
        ),
        max_size=8,
    ),
    st.integers(0, 200),
)
def test_what_is_rendered_is_parsed_and_a_torn_end_costs_its_own_line_only(events, cut):
    data = "".join(map(event_log.render, events)).encode()
    assert list(event_log.parse(data)) == events

    torn = data[: len(data) - cut] if cut < len(data) else b""
    whole = torn.count(b"\n")

    assert list(event_log.parse(torn)) == events[:whole]


def _append_often(work: tuple[str, int]) -> None:
    store, number = work
    state_file._LOCK_SECONDS = 60
    for turn in range(50):
        event_log.append([Happening(store, "shown", f"decisions/{number}-{turn}.json", "prompt", "rule")], "codex", "s")


def test_no_event_is_lost_between_racing_writers(store):
    with multiprocessing.get_context("spawn").Pool(5) as pool:
        pool.map(_append_often, [(store, number) for number in range(5)])

    data = Path(event_log.log_file(store)).read_bytes()
    assert {event.path for event in event_log.parse(data)} == {
        f"decisions/{a}-{b}.json" for a in range(5) for b in range(50)
    }


_EMPTY = (0, 0)


def _state(path):
    """Return when a file changed and its size, both zero as long as nothing is in it."""
    status = os.stat(path) if os.path.exists(path) else None
    return (status.st_mtime_ns, status.st_size) if status and status.st_size else _EMPTY


def test_a_writer_that_is_killed_leaves_a_log_that_can_be_read_and_written(store):
    code = (
        "import sys; from onrecord.usage import Happening, event_log\n"
        "event_log.MAX_BYTES = 3_000\n"
        "print('ready', flush=True)\n"
        "happenings = [Happening(sys.argv[1], 'shown', 'decisions/a.json', 'prompt', 'rule')]\n"
        "while True: event_log.append(happenings, 'codex', 's')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for _ in range(5):
        command, before = [sys.executable, "-c", code, store], _state(event_log.log_file(store))
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout and process.stdout.readline() == "ready\n"
            while _state(event_log.log_file(store)) in (before, _EMPTY):
                pass
            process.send_signal(signal.SIGKILL)
            process.wait(60)

    _log(store, *_shown(store, OTHER))

    assert event_log.newest(store, 1)[0].path == OTHER
    assert len(event_log.read(store)) > 1


def test_a_folder_that_cannot_be_written_costs_the_log_only_and_leaves_a_trace(store):
    os.makedirs(os.path.dirname(event_log.folder()), exist_ok=True)
    Path(event_log.folder()).write_text("in the way")

    _log(store, *_shown(store, PATH))

    assert event_log.newest(store) == []
    assert "events" in {task for _, task, _ in state_file.recent_failures()}


def test_a_server_that_nobody_empties_does_not_grow(store):
    for _ in range(20):
        usage.happened(store, "shown", [PATH] * 100, "asked", "rule")

    assert len(usage.take_happenings()) == 400
    assert usage.take_happenings() == []
