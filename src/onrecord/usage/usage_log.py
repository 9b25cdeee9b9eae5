"""The usage log of a store, with one line for each event, and notes on each session.

    2026-03-02	injected	decisions/sessions-in-postgres.json
    2026-03-02	opened	decisions/sessions-in-postgres.json
    2026-03-02	corrected	decisions/sessions-in-postgres.json	1	claude-code
    2026-01-01	injected	decisions/sessions-in-postgres.json	17

A line with a number stands for that many events. A correction also has the host. Unknown events, which earlier versions
wrote, are ignored.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths, state_file, timestamps, usage
from onrecord.coldstart import NamedTuple
from onrecord.state_file import StateFile
from onrecord.store import record_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onrecord.session.transcript import Message, Transcript

_MAX_CALL_CHARS = 40_000
"""Characters of a tool call that are searched; a longer call usually writes a file."""

_WRITE_TOOLS = ("Edit", "Write")
FEEDBACK = ("helped", "not_relevant", "wrong")
EVENTS = ("injected", "pointed", "opened", "digest", "corrected", *FEEDBACK)
"""What happened to a record: shown, named by a pointer, opened by the agent, in a digest, broken and corrected; and
what a person said about a showing of it."""

_CORRECTED = "corrected"
_WEIGHTS = {_CORRECTED: 5, "opened": 1, "helped": 3, "not_relevant": -2, "wrong": -5}
"""How much an event says about a record, for those that say something: a broken rule more than one that was read, and
a person more than an agent."""

_OBSERVED = tuple(f"\t{event}\t".encode() for event in _WEIGHTS)

MAX_LOG_BYTES = 1_000_000  # about 17,000 lines; a larger log is compacted
TURNS = 4  # turns during which a shown record is watched; later it is hardly ever opened
_MAX_WATCHED_RECORDS = 12  # records checked at one Stop, newest first; each costs a pass over all messages
_DAYS_COUNTED_DAILY = 100  # older days are merged into months
_DAYS_WITHOUT_RECORD = 30  # counts of a missing record are kept so long: it may be on another branch
_OPENED, _NOT_OPENED = "opened", "unclear"
_POINTER = "pointer"  # stands in the notes for the text hash, which a pointer does not have
_WEEK = 7 * 86_400
_MONDAY = 4 * 86_400  # 1970 began on a Thursday: its first Monday was the fifth day


def was_opened(messages: Sequence[Message], path: str) -> bool:
    """True if the agent opened or changed a record after it was last shown; `path` is relative to the store."""
    name = record_names.short_name(path)
    marks = (f'{path}"', f"{path})", f"onrecord show {name}", f"onrecord show --user {name}")
    names = (record_names.record_id(path).lower(), name.lower())
    for message in reversed(messages):
        if message.kind == "context" and any(mark in message.text for mark in marks):
            return False
        if message.kind == "tool_use" and _opens(message, path.lower(), names):
            return True
    return False


def _opens(message: Message, path: str, names: Sequence[str]) -> bool:
    text = "\n".join(_strings(message.input))[:_MAX_CALL_CHARS].lower()
    if not any(_has_word(text, name) for name in names):
        return False
    return "onrecord" in text or (path in text.replace("\\", "/") and message.name not in _WRITE_TOOLS)


def _has_word(text: str, word: str) -> bool:
    """True if `text` contains `word` as a whole word, not only as part of a longer name."""
    start = text.find(word)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(word) :][:1]
        if not any(char.isalnum() or char in "-_" for char in before + after):
            return True
        start = text.find(word, start + 1)
    return False


def _strings(value: object, depth: int = 4) -> list[str]:
    """Return all texts in the arguments of a tool."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if depth and isinstance(value, list):
        return [text for part in value[:200] for text in _strings(part, depth - 1)]
    return []


def folder() -> str:
    return os.path.join(paths.state_dir(), "usage")


def log_file(store_root: str) -> str:
    root = os.path.realpath(paths.working_root(store_root))
    name = coldstart.content_hash(root.encode("utf-8", "surrogatepass"))
    return os.path.join(folder(), f"{name}.log")


def append(store_root: str, events: Iterable[tuple[str, str]]) -> None:
    """Add events in one write. Failures are logged and not raised, since only counts are lost."""
    day = timestamps.now()[:10]
    inside = ((event, path_in_store(store_root, path)) for event, path in events)
    lines = [f"{day}\t{event}\t{path}\n" for event, path in inside if path and path.isprintable()]
    if lines:
        _log(store_root).append("".join(lines))


def add_correction(store_root: str, path: str, host: str) -> None:
    """Count that the user corrected the agent of a host with a record. Failures are logged and not raised."""
    path, host = path_in_store(store_root, path), "".join(char for char in host if char.isalnum() or char == "-")
    if path and path.isprintable():
        _log(store_root).append(f"{timestamps.now()[:10]}\t{_CORRECTED}\t{path}\t1\t{host}\n")


def add_feedback(store_root: str, path: str, verdict: str, earlier_verdict: str) -> None:
    """Count what a person says about a record, in place of the `earlier_verdict`; empty for none."""
    counts = [(earlier_verdict, "-1"), (verdict, "1")]
    day = timestamps.now()[:10]
    lines = [f"{day}\t{event}\t{path}\t{count}\n" for event, count in counts if event in FEEDBACK]
    if lines:
        _log(store_root).append("".join(lines))


def read(store_root: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield every event: day, kind, path of the record and count. Damaged lines are ignored."""
    return _events(_log(store_root).read())


def path_in_store(store_root: str, path: str) -> str:
    """Return `path`, which may be absolute, relative to the store; empty if it is outside the store."""
    if os.path.isabs(path):
        root = store_root.rstrip(os.sep) + os.sep
        path = path[len(root) :] if path.startswith(root) else ""
    return path.replace(os.sep, "/")


def compact(store_root: str, data: bytes) -> bytes:
    """Return the log with equal lines merged, old days merged into months, and deleted records removed."""
    now = timestamps.now()
    first_day = timestamps.days_before(now, _DAYS_COUNTED_DAILY)[:10]
    totals: dict[tuple[str, str, str, str], int] = {}
    newest: dict[str, str] = {}
    for day, event, path, count, host in _parsed(data):
        # The last day of a correction is shown, so corrections, which are few, keep their days.
        is_daily = day >= first_day or event == _CORRECTED
        key = (day if is_daily else day[:8] + "01", event, path, host)
        totals[key] = totals.get(key, 0) + count
        newest[path] = max(newest.get(path, ""), day)
    limit = timestamps.days_before(now, _DAYS_WITHOUT_RECORD)[:10] if os.path.isdir(store_root) else ""
    old = [path for path, day in newest.items() if day < limit]
    missing = {path for path in old if _is_gone(os.path.join(store_root, path))}
    lines = (
        "\t".join((*key[:3], str(count), *filter(None, key[3:]))) + "\n"
        for key, count in sorted(totals.items())
        if key[2] not in missing
    )
    small = "".join(lines).encode("utf-8", "backslashreplace")
    # A log that stays large would be compacted at every event, so drop the oldest lines.
    while len(small) > MAX_LOG_BYTES // 2:
        small = state_file.newer_half(small)
    return small


def _is_gone(path: str) -> bool:
    """True if there is no such file; what the disk does not show may be there."""
    from onrecord.errors import Unwritable

    try:
        return files.status(path) is None
    except Unwritable:
        return False


def observe(session: str, transcript: Transcript, stores: Iterable[str]) -> None:
    """Count the records that the agent of a session opened since the last turn. Never raises."""
    try:
        if session and transcript.path:
            _observe(session, transcript, [root for root in stores if root])
    except Exception as error:  # the Stop hook has other work, which must go on
        state_file.log_failure("usage", f"cannot observe a session: {type(error).__name__}: {error}")


def _log(store_root: str) -> StateFile:
    return StateFile(log_file(store_root), MAX_LOG_BYTES, "usage", lambda data: compact(store_root, data))


def _events(data: bytes) -> Iterator[tuple[str, str, str, int]]:
    for day, event, path, count, _ in _parsed(data):
        yield day, event, path, count


def _parsed(data: bytes) -> Iterator[tuple[str, str, str, int, str]]:
    """Yield every event with its host, which only corrections have."""
    for line in data.decode("utf-8", "replace").split("\n"):
        parts = line.split("\t")
        if len(parts) not in (3, 4, 5) or parts[1] not in EVENTS or not timestamps.is_day(parts[0]):
            continue
        count = parts[3] if len(parts) > 3 else "1"
        # What a person takes back counts as less than nothing.
        digits = count[1:] if count.startswith("-") and parts[1] in FEEDBACK else count
        if digits.isascii() and digits.isdigit() and len(digits) < 12 and parts[2]:
            yield parts[0], parts[1], parts[2], int(count), parts[4] if len(parts) > 4 else ""


def _observe(session: str, transcript: Transcript, stores: list[str]) -> None:
    from onrecord.session.ledger import Ledger

    with Ledger(session) as ledger:
        # A digest is shown at the start of every session, so its records are not watched.
        hashes = {
            record: text_hash
            for record, text_hash in ledger.shown.items()
            if os.path.isabs(record) and not ledger.has_shown(f"digest:{record}", text_hash)
        }
        hashes.update({record: _POINTER for record in ledger.pointed if record not in ledger.shown})
    if not hashes or not stores:
        return
    notes = _notes(session)
    turns, opened_records = _read_notes(notes)
    finished = {key for key, count in turns.items() if count >= TURNS} | opened_records
    watched = [record for record, text_hash in hashes.items() if (record, text_hash) not in finished]
    watched = watched[-_MAX_WATCHED_RECORDS:]
    if not watched:
        return
    from onrecord.session import transcript as transcripts

    messages = transcripts.read_messages(transcript, contexts=True)
    roots = {record: root for record in watched for root in stores if path_in_store(root, record)}
    outcomes = {
        (record, hashes[record]): was_opened(messages, path_in_store(root, record)) for record, root in roots.items()
    }
    if messages:
        _count(notes, outcomes, roots)


def _count(notes: StateFile, outcomes: Mapping[tuple[str, str], bool], roots: Mapping[str, str]) -> None:
    """Note the opened records and count the new ones. If several Stop hooks run at once, only one counts a record."""
    events: dict[str, list[tuple[str, str]]] = {}
    with notes:
        turns, already_counted = _read_notes(notes)
        for key, is_opened in outcomes.items():
            if is_opened and key not in already_counted:
                events.setdefault(roots[key[0]], []).append((_OPENED, key[0]))
                usage.happened(roots[key[0]], "used", [key[0]])
            elif not is_opened and turns.get(key, 0) == TURNS - 1:
                usage.happened(roots[key[0]], "ignored", [key[0]])
        notes.append("".join(
            f"{record}\t{text_hash}\t{_OPENED if is_opened else _NOT_OPENED}\n"
            for (record, text_hash), is_opened in outcomes.items()
        ))  # fmt: skip
    for root, changes in events.items():
        append(root, changes)


def _notes(session: str) -> StateFile:
    """Return the notes of a session, with a line for each record and turn: record, hash, verdict."""
    is_plain = len(session) <= 64 and session.isascii() and session.replace("-", "").isalnum()
    name = session if is_plain else coldstart.content_hash(session.encode("utf-8", "replace"))
    path = os.path.join(folder(), "sessions", name)
    # Room for 400 shown records, with 4 lines of about 150 bytes each.
    return StateFile(path, 250_000, "usage")


def _read_notes(notes: StateFile) -> tuple[dict[tuple[str, str], int], set[tuple[str, str]]]:
    """Return the number of turns each record was watched, and the records that were opened."""
    turns: dict[tuple[str, str], int] = {}
    opened_records: set[tuple[str, str]] = set()
    for parts in (line.split("\t") for line in notes.lines()):
        if len(parts) == 3:
            key = (parts[0], parts[1])
            turns[key] = turns.get(key, 0) + 1
            opened_records.update([key] if parts[2] == _OPENED else [])
    return turns, opened_records


class Counts(NamedTuple):
    """Counts of how often records were shown, pointed to, opened, and broken so that the user corrected the agent."""

    injected: int = 0
    pointed: int = 0
    opened: int = 0
    digest: int = 0
    corrected: int = 0
    helped: int = 0
    not_relevant: int = 0
    wrong: int = 0
    last_injected: str = ""
    last_corrected: str = ""

    def plus(self, day: str, event: str, count: int) -> Counts:
        """Return these counts plus `count` events of one kind on `day`."""
        values = self._asdict()
        values[event] = max(values[event] + count, 0)
        if event == "injected":
            values["last_injected"] = max(self.last_injected, day)
        if event == _CORRECTED:
            values["last_corrected"] = max(self.last_corrected, day)
        return Counts(**values)


def total(counts_list: Iterable[Counts]) -> Counts:
    """Return the counts of several records or stores as one."""
    rows = list(counts_list)
    sums = {kind: sum(getattr(counts, kind) for counts in rows) for kind in EVENTS}
    last_injected = max((counts.last_injected for counts in rows), default="")
    return Counts(**sums, last_injected=last_injected, last_corrected=max((c.last_corrected for c in rows), default=""))


def per_record(store_root: str, since: str = "") -> dict[str, Counts]:
    """Return the counts of each record, by its path in the store."""
    by_path: dict[str, Counts] = {}
    for day, event, path, count in read(store_root):
        if day >= since[:10]:
            by_path[path] = by_path.get(path, Counts()).plus(day, event, count)
    return by_path


class Corrections(NamedTuple):
    """The number of times that the user had to correct an agent with a record, the last day, and the hosts."""

    times: int
    last_day: str
    hosts: tuple[str, ...]

    @property
    def summary(self) -> str:
        """In words: 3 times, last on 2026-03-02 (claude-code)."""
        hosts = f" ({', '.join(self.hosts)})" if self.hosts else ""
        return f"{'once' if self.times == 1 else f'{self.times:,} times'}, last on {self.last_day}{hosts}"


def current_corrections(store_root: str) -> dict[str, Corrections]:
    """Return the corrections of records that still exist, by path, the most frequent first."""
    by_path = corrections(store_root)
    return {path: by_path[path] for path in by_path if os.path.exists(os.path.join(store_root, path))}


def corrections(store_root: str) -> dict[str, Corrections]:
    """Return the corrections by the record's path in the store, the most frequent first."""
    mark = f"\t{_CORRECTED}\t".encode()
    lines = [line for line in _log(store_root).read().split(b"\n") if mark in line]
    by_path: dict[str, Corrections] = {}
    for day, _, path, count, host in _parsed(b"\n".join(lines)):
        earlier = by_path.get(path, Corrections(0, "", ()))
        hosts = tuple(dict.fromkeys((*earlier.hosts, *filter(None, (host,)))))
        by_path[path] = Corrections(earlier.times + count, max(earlier.last_day, day), hosts)
    return dict(sorted(by_path.items(), key=lambda item: (-item[1].times, item[0])))


def observations(store_root: str) -> dict[str, int]:
    """Return how much happened to each record, by its path in the store; what only shows it does not count."""
    # Most lines of the log tell that a record was shown: those are passed over before they are parsed.
    lines = [line for line in _log(store_root).read().split(b"\n") if any(mark in line for mark in _OBSERVED)]
    counts: dict[str, int] = {}
    for _, event, path, count in _events(b"\n".join(lines)):
        counts[path] = counts.get(path, 0) + count * _WEIGHTS.get(event, 0)
    return {path: max(count, 0) for path, count in counts.items()}


def per_week(store_root: str, limit: int = 12, path: str = "", since: str = "") -> list[tuple[str, Counts]]:
    """Return the counts of the last `limit` weeks, each with the date of its Monday, for the store or one record."""
    this_week = _week(timestamps.seconds(timestamps.now()))
    first = max(this_week - limit + 1, _week(timestamps.seconds(since)) if since else 0)
    weeks = {week: Counts() for week in range(first, this_week + 1)}
    for day, event, record, count in read(store_root):
        week = _week(timestamps.seconds(day))
        if week in weeks and record == (path or record) and day >= since[:10]:
            weeks[week] = weeks[week].plus(day, event, count)
    return [(timestamps.from_seconds(week * _WEEK + _MONDAY)[:10], counts) for week, counts in weeks.items()]


def _week(seconds: float) -> int:
    return int(seconds - _MONDAY) // _WEEK
