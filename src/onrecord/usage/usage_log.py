"""The log of one store's usage, a line for each event, and the notes on each session from which its events come.

    2026-03-02	injected	decisions/sessions-in-postgres.json
    2026-03-02	ignored	decisions/sessions-in-postgres.json
    2026-03-03	-ignored	decisions/sessions-in-postgres.json
    2026-01-01	used	decisions/sessions-in-postgres.json	17

An event with a minus takes back one written too early; a number at the end stands for as many lines.
"""

from __future__ import annotations

import os

from onrecord import coldstart, paths, state_file, timestamps
from onrecord.state_file import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onrecord.session.transcript import Message, Transcript
    from onrecord.usage.evidence import Shown

EVENTS = ("injected", "used", "ignored", "contradicted", "pointed", "opened", "digest")
"""What becomes of a record that is shown; of a pointer, which the agent follows or not; and what a digest showed."""

LARGEST = 1_000_000  # bytes, about 17,000 lines, at which a log is compacted
TURNS = 4  # for how many turns after it was shown a record is watched: what is used at all is used within them
_MOST_WATCHED = 12  # records judged at one Stop, the latest ones: each costs a look at every message
_DAYS_BY_DAY = 100  # older days are counted by the month
_DAYS_WITHOUT_RECORD = 30  # a record that is gone may only be on another branch
_RANK = {"": 0, "unclear": 0, "ignored": 1, "used": 2, "opened": 2, "contradicted": 3}
_POINTER = "pointer"  # stands in the notes for the wording: a pointer has none


def folder() -> str:
    return os.path.join(paths.state_dir(), "usage")


def file_of(store_root: str) -> str:
    name = coldstart.digest(os.path.realpath(store_root).encode("utf-8", "surrogatepass"))
    return os.path.join(folder(), f"{name}.log")


def append(store_root: str, events: Iterable[tuple[str, str]]) -> None:
    """Add events in one write. A failure costs counts and no more, so it only leaves a trace."""
    day = timestamps.now()[:10]
    inside = ((event, within(store_root, path)) for event, path in events)
    lines = [f"{day}\t{event}\t{path}\n" for event, path in inside if path and path.isprintable()]
    if lines:
        _log(store_root).append("".join(lines))


def read(store_root: str) -> Iterator[tuple[str, str, str, int]]:
    """Every event: its day, its kind, the record's path and how many times. Garbled lines are passed over."""
    return _events(_log(store_root).read())


def within(store_root: str, path: str) -> str:
    """A record's path in its store, from that or from an absolute one; empty if it lies elsewhere."""
    if os.path.isabs(path):
        root = store_root.rstrip(os.sep) + os.sep
        path = path[len(root) :] if path.startswith(root) else ""
    return path.replace(os.sep, "/")


def compacted(store_root: str, data: bytes) -> bytes:
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
    while len(small) > LARGEST // 2:
        small = state_file.newer_half(small)
    return small


def observe(session: str, transcript: Transcript, stores: Iterable[str], last_message: str = "") -> None:
    """Judge what is not settled yet, and count it. Never raises: the turn has ended well without it.

    The first verdict is counted at once and corrected if a later turn shows more, so that a session that ends
    abruptly has been counted as far as it went.
    """
    try:
        if session and transcript.path:
            _observe(session, transcript, [root for root in stores if root], last_message)
    except Exception as error:  # the Stop hook has other work, which this must not cost
        state_file.leave("usage", f"cannot observe a session: {type(error).__name__}: {error}")


def _log(store_root: str) -> StateFile:
    return StateFile(file_of(store_root), LARGEST, "usage", lambda data: compacted(store_root, data))


def _events(data: bytes) -> Iterator[tuple[str, str, str, int]]:
    for line in data.decode("utf-8", "replace").split("\n"):
        parts = line.split("\t")
        if len(parts) not in (3, 4) or parts[1].lstrip("-") not in EVENTS or not timestamps.is_day(parts[0]):
            continue
        count = parts[3] if len(parts) == 4 else "1"
        if count.isascii() and count.isdigit() and len(count) < 12 and parts[2]:
            yield parts[0], parts[1], parts[2], int(count)


def _observe(session: str, transcript: Transcript, stores: Sequence[str], last_message: str) -> None:
    from onrecord.session.ledger import Ledger

    with Ledger(session) as ledger:
        # The digest of a session's start is shown to everybody, so it proves nothing.
        stamps = {
            record: stamp
            for record, stamp in ledger.shown.items()
            if os.path.isabs(record) and not ledger.has_shown(f"digest:{record}", stamp)
        }
        stamps.update({record: _POINTER for record in ledger.pointed if record not in ledger.shown})
    if not stamps or not stores:
        return
    notes = _notes(session)
    turns, verdicts = _read_notes(notes)
    settled = {key for key, count in turns.items() if count >= TURNS or verdicts[key] in ("contradicted", "opened")}
    watched = [record for record, stamp in stamps.items() if (record, stamp) not in settled][-_MOST_WATCHED:]
    messages = _conversation(transcript, last_message) if watched else []
    if messages:
        roots = {record: root for record in watched for root in stores if within(root, record)}
        judged = _judged(messages, roots, {record for record in watched if stamps[record] == _POINTER})
        _count(notes, {(record, stamps[record]): verdict for record, verdict in judged.items()}, roots)


def _judged(messages: Sequence[Message], roots: Mapping[str, str], pointed: set[str]) -> dict[str, str]:
    """What became of the records that were shown, and of those that were only pointed to."""
    from onrecord.usage import evidence

    shown = (_shown(root, within(root, record), messages) for record, root in roots.items() if record not in pointed)
    verdicts = evidence.judge(messages, [each for each in shown if each])
    for record in pointed.intersection(roots):
        is_opened = evidence.is_opened(messages, within(roots[record], record))
        verdicts[record] = "opened" if is_opened else "unclear"
    return verdicts


def _count(notes: StateFile, judged: Mapping[tuple[str, str], str], roots: Mapping[str, str]) -> None:
    """Write down verdicts, and count those that say more than the ones before. Of racing Stops one counts."""
    events: dict[str, list[tuple[str, str]]] = {}
    with notes:
        _, verdicts = _read_notes(notes)
        for key, verdict in judged.items():
            before, record = verdicts.get(key, ""), key[0]
            if _RANK[verdict] > _RANK[before]:
                changes = [(f"-{before}", record), (verdict, record)] if _RANK[before] else [(verdict, record)]
                events.setdefault(roots[record], []).extend(changes)
        notes.append("".join(f"{record}\t{stamp}\t{verdict}\n" for (record, stamp), verdict in judged.items()))
    for root, changes in events.items():
        append(root, changes)


def _notes(session: str) -> StateFile:
    """A line for each record and turn of a session: record, stamp, verdict."""
    is_plain = len(session) <= 64 and session.isascii() and session.replace("-", "").isalnum()
    name = session if is_plain else coldstart.digest(session.encode("utf-8", "replace"))
    path = os.path.join(folder(), "sessions", name)
    # 4 lines of about 150 bytes for each record shown: room for 400 of them.
    return StateFile(path, 250_000, "usage")


def _read_notes(notes: StateFile) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], str]]:
    """How many turns each record was watched for, and the verdict that says most."""
    turns: dict[tuple[str, str], int] = {}
    verdicts: dict[tuple[str, str], str] = {}
    for parts in (line.split("\t") for line in notes.lines()):
        if len(parts) == 3 and parts[2] in _RANK:
            key = (parts[0], parts[1])
            turns[key] = turns.get(key, 0) + 1
            verdicts[key] = max(verdicts.get(key, ""), parts[2], key=_RANK.__getitem__)
    return turns, verdicts


def _conversation(transcript: Transcript, last_message: str) -> list[Message]:
    """The session's messages; the last answer may not have reached the file yet."""
    from onrecord.session.transcript import Message, messages

    conversation = messages(transcript, contexts=True)
    if last_message and conversation and all(each.text != last_message.strip() for each in conversation[-6:]):
        conversation.append(Message("assistant", "text", last_message))
    return conversation


def _shown(root: str, path: str, messages: Sequence[Message]) -> Shown | None:
    """A record as it stands in the conversation; if that part is out of sight, as its file says it now."""
    from onrecord.usage.evidence import Shown

    for at in reversed(range(len(messages))):
        text = _quoted(messages[at].text, path) if messages[at].kind == "context" else ""
        if text:
            return Shown(path, text, at + 1, os.path.join(root, path))
    from onrecord.errors import OnrecordError
    from onrecord.record import summary_line
    from onrecord.store.store import Store

    try:
        return Shown(path, summary_line.of(Store(root).read(path).memory), 0, os.path.join(root, path))
    except OnrecordError:
        return None


def _quoted(block: str, path: str) -> str:
    """What a block of ours says about a record."""
    at = block.find(f'{path}"')
    start, end = block.find(">", at), block.find("</result>", at)
    text = block[start + 1 : end] if at >= 0 and 0 < start < end else ""
    for mark, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(mark, char)
    return text
