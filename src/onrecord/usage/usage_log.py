"""The log of one store's usage, a line for each event, and the notes on each session from which its events come.

    2026-03-02	injected	decisions/sessions-in-postgres.json
    2026-03-02	opened	decisions/sessions-in-postgres.json
    2026-01-01	injected	decisions/sessions-in-postgres.json	17

A number at the end counts as that many lines. Other events, which earlier versions wrote, are passed over.
"""

from __future__ import annotations

import os

from onrecord import coldstart, paths, state_file, timestamps
from onrecord.state_file import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onrecord.session.transcript import Transcript

EVENTS = ("injected", "pointed", "opened", "digest")
"""A record was shown; a pointer named it; the agent opened it after either; the digest of a session showed it."""

MAX_LOG_BYTES = 1_000_000  # bytes, about 17,000 lines, at which a log is compacted
TURNS = 4  # for how many turns after it was shown a record is watched: what is opened at all is opened within them
_MOST_WATCHED = 12  # records judged at one Stop, the latest ones: each costs a look at every message
_DAYS_BY_DAY = 100  # older days are counted by the month
_DAYS_WITHOUT_RECORD = 30  # a record that is gone may only be on another branch
_OPENED, _NOT_OPENED = "opened", "unclear"
_POINTER = "pointer"  # in the notes, in place of the text_hash: a pointer has none


def folder() -> str:
    return os.path.join(paths.state_dir(), "usage")


def log_file(store_root: str) -> str:
    name = coldstart.content_hash(os.path.realpath(store_root).encode("utf-8", "surrogatepass"))
    return os.path.join(folder(), f"{name}.log")


def append(store_root: str, events: Iterable[tuple[str, str]]) -> None:
    """Add events in one write. A failure costs counts and no more, so it only leaves a trace."""
    day = timestamps.now()[:10]
    inside = ((event, path_in_store(store_root, path)) for event, path in events)
    lines = [f"{day}\t{event}\t{path}\n" for event, path in inside if path and path.isprintable()]
    if lines:
        _log(store_root).append("".join(lines))


def read(store_root: str) -> Iterator[tuple[str, str, str, int]]:
    """Every event: its day, its kind, the record's path and how many times. Garbled lines are passed over."""
    return _events(_log(store_root).read())


def path_in_store(store_root: str, path: str) -> str:
    """A record's path in its store, from that or from an absolute one; empty if it lies elsewhere."""
    if os.path.isabs(path):
        root = store_root.rstrip(os.sep) + os.sep
        path = path[len(root) :] if path.startswith(root) else ""
    return path.replace(os.sep, "/")


def compact(store_root: str, data: bytes) -> bytes:
    """A log with equal lines as one, old days as months, and without records gone for good."""
    now = timestamps.now()
    first_day = timestamps.days_before(now, _DAYS_BY_DAY)[:10]
    totals: dict[tuple[str, str, str], int] = {}
    newest: dict[str, str] = {}
    for day, event, path, count in _events(data):
        key = (day if day >= first_day else day[:8] + "01", event, path)
        totals[key] = totals.get(key, 0) + count
        newest[path] = max(newest.get(path, ""), day)
    limit = timestamps.days_before(now, _DAYS_WITHOUT_RECORD)[:10] if os.path.isdir(store_root) else ""
    old = [path for path, day in newest.items() if day < limit]
    gone = {path for path in old if not os.path.exists(os.path.join(store_root, path))}
    lines = ("\t".join((*key, f"{count}\n")) for key, count in sorted(totals.items()) if key[2] not in gone)
    small = "".join(lines).encode("utf-8", "backslashreplace")
    # What is still large would be compacted at every event, so the oldest lines go.
    while len(small) > MAX_LOG_BYTES // 2:
        small = state_file.newer_half(small)
    return small


def observe(session: str, transcript: Transcript, stores: Iterable[str]) -> None:
    """Count the records of a session that the agent has opened since the last turn. Never raises."""
    try:
        if session and transcript.path:
            _observe(session, transcript, [root for root in stores if root])
    except Exception as error:  # the Stop hook has other work, which this must not cost
        state_file.log_failure("usage", f"cannot observe a session: {type(error).__name__}: {error}")


def _log(store_root: str) -> StateFile:
    return StateFile(log_file(store_root), MAX_LOG_BYTES, "usage", lambda data: compact(store_root, data))


def _events(data: bytes) -> Iterator[tuple[str, str, str, int]]:
    for line in data.decode("utf-8", "replace").split("\n"):
        parts = line.split("\t")
        if len(parts) not in (3, 4) or parts[1] not in EVENTS or not timestamps.is_day(parts[0]):
            continue
        count = parts[3] if len(parts) == 4 else "1"
        if count.isascii() and count.isdigit() and len(count) < 12 and parts[2]:
            yield parts[0], parts[1], parts[2], int(count)


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
    turns, opened = _read_notes(notes)
    settled = {key for key, count in turns.items() if count >= TURNS} | opened
    watched = [record for record, text_hash in hashes.items() if (record, text_hash) not in settled][-_MOST_WATCHED:]
    if not watched:
        return
    from onrecord.session import transcript as transcripts
    from onrecord.usage import evidence

    messages = transcripts.read_messages(transcript, contexts=True)
    roots = {record: root for record in watched for root in stores if path_in_store(root, record)}
    verdicts = {
        (record, hashes[record]): evidence.is_opened(messages, path_in_store(root, record))
        for record, root in roots.items()
    }
    if messages:
        _count(notes, verdicts, roots)


def _count(notes: StateFile, verdicts: Mapping[tuple[str, str], bool], roots: Mapping[str, str]) -> None:
    """Note the records that were opened, and count those that were not counted before. Of racing Stops one counts."""
    events: dict[str, list[tuple[str, str]]] = {}
    with notes:
        _, counted = _read_notes(notes)
        for key, is_opened in verdicts.items():
            if is_opened and key not in counted:
                events.setdefault(roots[key[0]], []).append((_OPENED, key[0]))
        notes.append("".join(
            f"{record}\t{text_hash}\t{_OPENED if is_opened else _NOT_OPENED}\n"
            for (record, text_hash), is_opened in verdicts.items()
        ))  # fmt: skip
    for root, changes in events.items():
        append(root, changes)


def _notes(session: str) -> StateFile:
    """A line for each record and turn of a session: record, text_hash, verdict."""
    is_plain = len(session) <= 64 and session.isascii() and session.replace("-", "").isalnum()
    name = session if is_plain else coldstart.content_hash(session.encode("utf-8", "replace"))
    path = os.path.join(folder(), "sessions", name)
    # 4 lines of about 150 bytes for each record shown: room for 400 of them.
    return StateFile(path, 250_000, "usage")


def _read_notes(notes: StateFile) -> tuple[dict[tuple[str, str], int], set[tuple[str, str]]]:
    """Return for how many turns each record was watched, and the records that were opened."""
    turns: dict[tuple[str, str], int] = {}
    opened: set[tuple[str, str]] = set()
    for parts in (line.split("\t") for line in notes.lines()):
        if len(parts) == 3:
            key = (parts[0], parts[1])
            turns[key] = turns.get(key, 0) + 1
            opened.update([key] if parts[2] == _OPENED else [])
    return turns, opened
