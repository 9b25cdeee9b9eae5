"""Observation: at the end of each turn, what has become of the memories this session was told.

A memory is watched for a few turns. Its first verdict is counted at once and corrected if a later turn shows more,
so that a session that ends abruptly has been counted as far as it went.
"""

from __future__ import annotations

import os
import time

from recollect import coldstart, failure_log
from recollect.session import ledger
from recollect.usage import usage_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recollect.session.transcript import Message
    from recollect.usage.evidence import Told

TURNS = 4
"""How many turns a memory is watched for."""

_MOST_AT_ONCE = 12
_KEPT_SECONDS = 30 * 86_400
_RANK = {"": 0, "unclear": 0, "ignored": 1, "used": 2, "contradicted": 3}


def observe(session: str, transcript_path: str, stores: Iterable[str], last_message: str = "") -> None:
    """Judge what is not settled yet, and count it. Never raises: the turn has ended well without it."""
    try:
        _observe(session, transcript_path, [root for root in stores if root], last_message)
    except Exception as error:  # the Stop hook has other work, which this must not cost
        failure_log.leave("usage", f"cannot observe a session: {type(error).__name__}: {error}")


def _observe(session: str, transcript_path: str, stores: Sequence[str], last_message: str) -> None:
    if not session or not transcript_path or not stores:
        return
    with ledger.Ledger(session) as told:
        records = {record: stamp for record, stamp in told.shown.items() if _is_watched(record, stamp, told)}
    if not records:
        return
    notes = Notes(session)
    try:
        watched = [record for record in records if not notes.is_settled(record, records[record])][-_MOST_AT_ONCE:]
        messages = _conversation(transcript_path, last_message) if watched else []
        if messages:
            _judge({record: records[record] for record in watched}, messages, stores, notes)
    finally:
        notes.close()


def _is_watched(record: str, stamp: str, told: ledger.Ledger) -> bool:
    """Whether a ledger's line is a record told for a reason; the digest of a session's start is told to everybody."""
    return os.path.isabs(record) and not told.has_shown(f"digest:{record}", stamp)


class Notes:
    """What was found in the earlier turns of one session: a line per memory and turn, under a lock."""

    __slots__ = ("_handle", "_turns", "_verdicts")

    def __init__(self, session: str) -> None:
        self._turns: dict[tuple[str, str], int] = {}
        self._verdicts: dict[tuple[str, str], str] = {}
        self._handle = _open(session)
        usage_log.lock(self._handle)
        size = os.fstat(self._handle).st_size
        os.lseek(self._handle, 0, os.SEEK_SET)
        for line in os.read(self._handle, size).decode("utf-8", "surrogateescape").split("\n"):
            parts = line.split("\t")
            if len(parts) == 3:
                self._take((parts[0], parts[1]), parts[2])

    def close(self) -> None:
        os.close(self._handle)

    def is_settled(self, record: str, stamp: str) -> bool:
        key = (record, stamp)
        return self._turns.get(key, 0) >= TURNS or self._verdicts.get(key) == "contradicted"

    def verdict(self, record: str, stamp: str) -> str:
        return self._verdicts.get((record, stamp), "")

    def note(self, record: str, stamp: str, verdict: str) -> None:
        """One more turn has passed for a memory, with this verdict so far."""
        self._take((record, stamp), verdict)
        os.write(self._handle, f"{record}\t{stamp}\t{verdict}\n".encode("utf-8", "surrogateescape"))

    def _take(self, key: tuple[str, str], verdict: str) -> None:
        self._turns[key] = self._turns.get(key, 0) + 1
        if _RANK.get(verdict, 0) >= _RANK[self._verdicts.get(key, "")]:
            self._verdicts[key] = verdict if verdict in _RANK else ""


def _judge(records: Mapping[str, str], messages: Sequence[Message], stores: Sequence[str], notes: Notes) -> None:
    from recollect.usage import evidence

    roots = {record: root for record in records for root in stores if usage_log.within(root, record)}
    shown = (_told(root, usage_log.within(root, record), messages) for record, root in roots.items())
    verdicts = evidence.judge(messages, [one for one in shown if one])
    for root in stores:
        _count(root, {record: verdicts[record] for record in verdicts if roots[record] == root}, records, notes)


def _count(root: str, verdicts: Mapping[str, str], records: Mapping[str, str], notes: Notes) -> None:
    events: list[tuple[str, str]] = []
    for record, verdict in verdicts.items():
        before = notes.verdict(record, records[record])
        if _RANK[verdict] > _RANK[before]:
            events += [(f"-{before}", record)] if _RANK[before] else []
            events.append((verdict, record))
        notes.note(record, records[record], verdict)
    if events and usage_log.append(root, events):
        from recollect.usage import use_prior

        use_prior.refresh(root)


def _conversation(transcript_path: str, last_message: str) -> list[Message]:
    """The session's messages; the last answer may not have reached the file yet."""
    from recollect.session import transcript

    messages = transcript.messages(transcript_path, contexts=True)
    if last_message and messages and all(message.text != last_message.strip() for message in messages[-6:]):
        messages.append(transcript.Message("assistant", "text", last_message))
    return messages


def _told(root: str, path: str, messages: Sequence[Message]) -> Told | None:
    """A memory as it stands in the conversation; if that part is out of sight, as its file says it now."""
    from recollect.usage import evidence

    for at in range(len(messages) - 1, -1, -1):
        if messages[at].kind == "context":
            text = _shown(messages[at].text, path)
            if text:
                return evidence.Told(path, text, at + 1, os.path.join(root, path))
    text = _essence(root, path)
    return evidence.Told(path, text, 0, os.path.join(root, path)) if text else None


def _shown(block: str, path: str) -> str:
    """What a block of ours says about a record."""
    at = block.find(f'{path}"')
    start, end = block.find(">", at), block.find("</result>", at)
    if at < 0 or not 0 < start < end:
        return ""
    text = block[start + 1 : end]
    for mark, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(mark, char)
    return text


def _essence(root: str, path: str) -> str:
    from recollect.errors import RecollectError
    from recollect.record import summary_line
    from recollect.store.store import Store

    try:
        return summary_line.of(Store(root).read(path).memory)
    except RecollectError:
        return ""


def _open(session: str) -> int:
    name = session if len(session) <= 64 and session.isascii() and session.replace("-", "").isalnum() else ""
    path = os.path.join(usage_log.folder(), "sessions", name or coldstart.digest(session.encode("utf-8", "replace")))
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    try:
        return os.open(path, flags & ~os.O_CREAT, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _prune(os.path.dirname(path))
        return os.open(path, flags, 0o600)


def _prune(folder: str) -> None:
    """Forget sessions of long ago; once per session is often enough."""
    limit = time.time() - _KEPT_SECONDS
    for entry in os.scandir(folder):
        try:
            if entry.stat().st_mtime < limit:
                os.unlink(entry.path)
        except FileNotFoundError:
            pass
