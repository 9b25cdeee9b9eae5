"""Offers: what was offered for keeping, and what became of it, so that nothing is offered twice.

One small file per project in the user's state folder, a line of JSON for each thing that happened. Losing it loses
no memory; it only means that something may be offered once more.
"""

from __future__ import annotations

import os

from recollect import coldstart, failure_log, files, paths, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST = 400_000
"""Bytes at which the older half of the file is let go."""

_LONGEST = 600
_KEY = 12


class Offer:
    """Something that was offered: the words it rests on, in which session, and what became of it."""

    __slots__ = ("at", "category", "evidence", "keys", "session", "state")

    def __init__(
        self, state: str, category: str, session: str, evidence: tuple[str, ...], *, keys: tuple[str, ...], at: str
    ) -> None:
        self.state = state
        self.category = category
        self.session = session
        self.evidence = evidence
        self.keys = keys
        self.at = at

    @property
    def key(self) -> str:
        """The name by which a command refers to it."""
        return self.keys[0]


def keys(evidence: Iterable[str]) -> tuple[str, ...]:
    """What tells one sentence from another, whatever its spacing, case and punctuation."""
    found = (coldstart.digest(_plain(sentence).encode("utf-8", "replace"))[:_KEY] for sentence in evidence)
    return tuple(dict.fromkeys(found))


def read(project: str) -> list[Offer]:
    """Everything that was offered in a project, oldest first, each with its last state."""
    latest: dict[str, Offer] = {}
    for offer in _lines(_file(project)):
        latest.pop(offer.key, None)
        latest[offer.key] = offer
    return list(latest.values())


def note(project: str, state: str, category: str, session: str, evidence: tuple[str, ...]) -> Offer:
    """Remember that something was offered, drafted, saved or rejected."""
    offer = Offer(state, category, session, evidence, keys=keys(evidence), at=timestamps.now())
    _append(_file(project), _line(offer))
    return offer


def find(project: str, key: str) -> Offer | None:
    """The offer that a command names."""
    return next((offer for offer in reversed(read(project)) if key and key in offer.keys), None)


def were_made(offers: list[Offer], sentences: Iterable[str]) -> bool:
    """Whether any of these sentences was offered before, whatever became of it."""
    wanted = set(keys(sentences)) if offers else set()
    return any(wanted.intersection(offer.keys) for offer in offers)


def count(offers: list[Offer], session: str) -> int:
    """How many offers a session has had."""
    return sum(offer.session == session for offer in offers)


def _plain(sentence: str) -> str:
    return " ".join("".join(char.lower() if char.isalnum() else " " for char in sentence).split())


def _file(project: str) -> str:
    name = coldstart.digest(os.path.realpath(project).encode("utf-8", "surrogatepass"))
    return os.path.join(paths.state_dir(), "offers", name)


def _line(offer: Offer) -> str:
    quote = coldstart.dumps
    evidence = ",".join(quote(sentence[:_LONGEST]) for sentence in offer.evidence)
    names = ",".join(map(quote, offer.keys))
    return (
        f'{{"state":{quote(offer.state)},"category":{quote(offer.category)},"session":{quote(offer.session)},'
        f'"at":{quote(offer.at)},"keys":[{names}],"evidence":[{evidence}]}}'
    )


def _lines(path: str) -> Iterator[Offer]:
    try:
        data = files.read(path, 2 * LARGEST)
    except OSError:
        return
    for line in data.decode("utf-8", "replace").split("\n"):
        try:
            raw = coldstart.loads(line)
        except ValueError:
            continue
        if isinstance(raw, dict) and raw.get("keys"):
            yield Offer(
                str(raw.get("state", "")),
                str(raw.get("category", "")),
                str(raw.get("session", "")),
                tuple(map(str, raw.get("evidence", ()))),
                keys=tuple(map(str, raw["keys"])),
                at=str(raw.get("at", "")),
            )


def _append(path: str, line: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        # One write to a file opened for appending: lines of racing processes do not mix.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, (line + "\n").encode("ascii"))
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > LARGEST:
            _shorten(path)
    except OSError as error:
        failure_log.leave("offers", f"cannot write {path}: {error}; something may be offered twice")


def _shorten(path: str) -> None:
    lines = files.read(path, 2 * LARGEST).split(b"\n")
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(b"\n".join(lines[len(lines) // 2 :]))
    os.replace(temporary, path)
