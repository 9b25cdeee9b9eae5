"""The event log of a store: what agents were shown, when and at which moment, and what became of it.

    2026-03-02T10:15:04Z	shown	claude-code	9f2c1b0a4d5e	prompt	rule	decisions/sessions-in-postgres.json
    2026-03-02T10:15:04Z	shown	claude-code	9f2c1b0a4d5e	start	map	120
    2026-03-02T10:16:40Z	used	claude-code	9f2c1b0a4d5e			decisions/sessions-in-postgres.json
    2026-03-02T11:02:00Z	helped		9f2c1b0a4d5e			decisions/sessions-in-postgres.json

Seven columns: time, what happened, agent, session (a hash), moment, form, and the record; for a map, how many lines it
had. It has no text of a prompt, a file or a record. It is for looking at, and kept for `DAYS`; the usage log beside it
keeps the counts. Hooks append to it in one write, so what it cannot write or parse is left out, and never raised.
"""

from __future__ import annotations

import os

from onrecord import coldstart, paths, state_file, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.state_file import StateFile
from onrecord.usage import usage_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onrecord.usage import Happening

SHOWN, USED, IGNORED, CORRECTED = "shown", "used", "ignored", "corrected"
TAKEN_BACK = "taken_back"
OUTCOMES = (USED, IGNORED, CORRECTED)
"""What became of a showing: opened by the agent; not opened in the turns that followed; broken, and corrected."""

FEEDBACK = usage_log.FEEDBACK
"""What a person says about a showing; `taken_back` takes it back."""

_EVENTS = frozenset((SHOWN, *OUTCOMES, *FEEDBACK, TAKEN_BACK))
MAP = "map"
"""The form of the whole map at the start of a session: one event, with the number of its lines as the record."""

SETTING = "usage.events"
DAYS = 100
"""Days for which an event is kept."""

MAX_BYTES = 800_000
"""Size above which a log is cut: about 7,000 events."""

_MAX_CELL = 60
"""Characters of an agent, a session, a moment or a form."""

_MAX_LOGS = 500
_COLUMNS = 7
_MOMENT_CHARS = 20
"""Characters of a moment with its second: text order is time order."""


class Event(NamedTuple):
    """One line of the log."""

    at: str
    what: str
    host: str
    session: str
    moment: str
    form: str
    path: str


class Showing(NamedTuple):
    """A record that an agent was shown, or a map, and what became of it."""

    at: str
    path: str
    """The record's path in the store; empty for a map."""
    host: str
    session: str
    """A hash of the session, by which feedback finds the showing."""
    moment: str
    """`start`, `prompt`, `file`, `command`, `task`, `failure`, `correction`, `summary`, or `asked` by the agent."""
    form: str
    """`rule`, `pointer`, `check`, or `map`."""
    lines: int = 0
    """How many lines a map had."""
    outcome: str = ""
    """`used`, `ignored` or `corrected`; empty if it is not known yet."""
    feedback: str = ""
    """What the person said: `helped`, `not_relevant` or `wrong`; empty for nothing."""


class Feedback(NamedTuple):
    """The feedback on a record: the number of times that a person gave each kind, and the time of the last."""

    helped: int = 0
    not_relevant: int = 0
    wrong: int = 0
    last: str = ""


def folder() -> str:
    return os.path.join(paths.state_dir(), "events")


def log_file(store_root: str) -> str:
    """Return the file of a store's log; it has the same name as its usage log."""
    return os.path.join(folder(), os.path.basename(usage_log.log_file(store_root)))


def session_key(session: str) -> str:
    """Return the hash that stands for a session."""
    return coldstart.content_hash(session.encode("utf-8", "replace"))[:12] if session else ""


def append(happenings: Iterable[Happening], host: str, session: str) -> None:
    """Add what happened in one hook, in one write for each store. Failures are logged and not raised."""
    at, key = timestamps.now(), session_key(session)
    lines: dict[str, list[str]] = {}
    for happening in happenings:
        is_map = happening.form == MAP
        path = happening.path if is_map else usage_log.path_in_store(happening.root, happening.path)
        event = Event(at, happening.what, _cell(host), key, happening.moment, happening.form, path)
        if path and path.isprintable():
            lines.setdefault(happening.root, []).append(render(event))
    for root, texts in lines.items():
        _log(root).append("".join(dict.fromkeys(texts)))


def give_feedback(store_root: str, path: str, verdict: str, session: str = "") -> None:
    """Note what a person says about a record, or about its showings in the session with this hash.

    The last word counts: `TAKEN_BACK` takes back what was said. Counts of the usage log follow. Raises Unwritable.
    """
    path = usage_log.path_in_store(store_root, path)
    if verdict not in (*FEEDBACK, TAKEN_BACK) or not path or not path.isprintable():
        raise ValueError(f"no feedback: {verdict!r} for {path!r}")
    before = _feedback_by_session(read(store_root), path).get(_cell(session), "")
    if before == verdict or (not before and verdict == TAKEN_BACK):
        return
    line = render(Event(timestamps.now(), verdict, "", _cell(session), "", "", path))
    if _log(store_root).append(line) < 0:
        from onrecord.errors import Unwritable

        what = f"cannot write {log_file(store_root)}, so nothing was noted"
        raise Unwritable(what, fix="check the disk, and the permissions of the state folder: onrecord doctor")
    usage_log.add_feedback(store_root, path, verdict if verdict != TAKEN_BACK else "", before)


def render(logged_event: Event) -> str:
    """Return the line of an event."""
    return "\t".join(logged_event) + "\n"


def parse(data: bytes) -> Iterator[Event]:
    """Yield the events in `data`, oldest first. Damaged lines, and a last one that is not complete, are left out."""
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        cells = line.split("\t")
        is_whole = len(cells) == _COLUMNS and len(cells[0]) == _MOMENT_CHARS and timestamps.is_instant(cells[0])
        if is_whole and cells[1] in _EVENTS and cells[6] and all(cell.isprintable() for cell in cells):
            yield Event(*cells)


def read(store_root: str) -> list[Event]:
    """Return the events of the last `DAYS`, oldest first."""
    first = timestamps.days_before(timestamps.now(), DAYS)
    return [event for event in parse(_log(store_root).read()) if event.at >= first]


def newest(store_root: str, limit: int = 50, path: str = "") -> list[Showing]:
    """Return the newest showings of a store, or of one of its records, each with what became of it."""
    return showings(read(store_root), limit, path)


def showings(events: Sequence[Event], limit: int | None = None, path: str = "") -> list[Showing]:
    """Return the newest showings among events, which are in the order of time, each with what became of it."""
    outcomes: dict[tuple[str, str], str] = {}
    feedback: dict[tuple[str, str], str] = {}
    recent: list[Showing] = []
    for event in reversed(events):
        if limit is not None and len(recent) >= limit:
            break
        if path and event.path != path:
            continue
        key = (event.session, event.path)
        if event.what in OUTCOMES:
            # A record that was opened, and broken all the same, was broken.
            outcomes[key] = CORRECTED if CORRECTED in (event.what, outcomes.get(key)) else event.what
        elif event.what != SHOWN:
            feedback.setdefault(key, event.what)
        else:
            recent.append(_showing(event, outcomes.get(key, ""), feedback.get(key, "")))
    return recent


def _showing(logged_event: Event, last_outcome: str, last_feedback: str) -> Showing:
    is_map = logged_event.form == MAP
    lines = int(logged_event.path) if is_map and logged_event.path.isdigit() and len(logged_event.path) < 9 else 0
    path = "" if is_map else logged_event.path
    feedback = last_feedback if last_feedback in FEEDBACK else ""
    return Showing(
        logged_event.at,
        path,
        logged_event.host,
        logged_event.session,
        logged_event.moment,
        logged_event.form,
        lines,
        last_outcome,
        feedback,
    )


def feedback(store_root: str) -> dict[str, Feedback]:
    """Return what a person said about each record, by its path; the last word about each session counts."""
    events = [event for event in read(store_root) if event.what in (*FEEDBACK, TAKEN_BACK)]
    last: dict[tuple[str, str], Event] = {(event.path, event.session): event for event in events}
    by_path: dict[str, Feedback] = {}
    for (path, _), event in last.items():
        if event.what != TAKEN_BACK:
            so_far = by_path.get(path, Feedback())
            count = getattr(so_far, event.what) + 1
            by_path[path] = so_far._replace(**{event.what: count, "last": max(so_far.last, event.at)})
    return by_path


def last_feedback(store_root: str, path: str) -> str:
    """Return when a person last said something about a record; empty if they did not."""
    return feedback(store_root).get(path, Feedback()).last


def last_correction(store_root: str, path: str) -> str:
    """Return when the user last corrected an agent with a record; empty if the log does not know it."""
    return max((event.at for event in read(store_root) if event.what == CORRECTED and event.path == path), default="")


def _feedback_by_session(events: Sequence[Event], path: str) -> dict[str, str]:
    by_person = (*FEEDBACK, TAKEN_BACK)
    verdicts = {event.session: event.what for event in events if event.path == path and event.what in by_person}
    return {session: what for session, what in verdicts.items() if what != TAKEN_BACK}


def prune() -> None:
    """Drop what is older than `DAYS` from all logs. Hooks call it once a day, after their reply."""
    try:
        with os.scandir(folder()) as entries:
            names = [entry.path for _, entry in zip(range(_MAX_LOGS), entries) if entry.name.endswith(".log")]
    except OSError:
        return
    first = timestamps.days_before(timestamps.now(), DAYS)
    for path in names:
        log = StateFile(path, MAX_BYTES, "events", shrink)
        with log:
            data = log.read()
            # The oldest line comes first: a log whose first line may stay has none to drop.
            if data and data[: len(first)].decode("ascii", "replace") < first:
                log.replace(shrink(data))


def shrink(data: bytes) -> bytes:
    """Return a log without what is older than `DAYS`, and without its older half if it is still large."""
    first = timestamps.days_before(timestamps.now(), DAYS)
    newest = "".join(render(event) for event in parse(data) if event.at >= first).encode("utf-8", "backslashreplace")
    while len(newest) > MAX_BYTES // 2:
        newest = state_file.newer_half(newest)
    return newest


def _log(store_root: str) -> StateFile:
    return StateFile(log_file(store_root), MAX_BYTES, "events", shrink)


def _cell(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "-_")[:_MAX_CELL]
