"""The holdout: the share of sessions that get no records, so that `onrecord effect` can compare them with the others.

A session is in it by a hash of its id, so that this can be recomputed later. When the share was changed is noted in the
user's state folder: sessions from before the holdout, or from before a change of it, are not compared.
"""

from __future__ import annotations

import os

from onrecord import budget, coldstart, state_file, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.state_file import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.settings import Settings

SETTING = "retrieval.holdout"
"""The share of sessions that get no records; 0 by default."""

FILE = "holdout"
"""The file with a line for each change of the share: when, and the new share."""

MAX_SHARE = 0.5
_MAX_BYTES = 20_000
_ALWAYS = "9999"
"""A time after all others."""


class Period(NamedTuple):
    """A time during which the share was the same; the last one has no end yet."""

    start: str
    end: str
    share: float

    def covers(self, started_at: str, ended_at: str) -> bool:
        """True if a session began and ended within this time."""
        return self.start <= started_at and ended_at < self.end


def percent(share: float) -> str:
    """Return a share in words: `20 %`."""
    return f"{share * 100:.3g} %"


def is_held_out(session: str, share: float) -> bool:
    """True if a session is in the holdout; one that has no id never is."""
    if not session or not share > 0:
        return False
    number = coldstart.number_of(f"holdout\0{session}".encode("utf-8", "replace"))
    return number < min(share, MAX_SHARE) * 2.0**64


def note_share(settings: Settings) -> None:
    """Record a change of the share; hooks call it at the start of a session and at prompts."""
    share = settings.number(SETTING)
    # Nearly nobody has ever had a holdout.
    if share or os.path.exists(state_file.state_path(FILE)):
        budget.attempt("note the holdout", None, note, share)


def note(share: float) -> None:
    """Record the share that is in force from now on, if it has changed; without a holdout, no file is made."""
    path = state_file.state_path(FILE)
    if not share and not os.path.exists(path):
        return
    if not _is_last(StateFile(path, _MAX_BYTES, FILE), share):
        with StateFile(path, _MAX_BYTES, FILE) as file:
            # Another hook may have noted it meanwhile.
            if not _is_last(file, share):
                file.append(f"{timestamps.now()}\t{share:g}\n")


def periods() -> list[Period]:
    """Return the times with a holdout, oldest first."""
    changes = _changes(StateFile(state_file.state_path(FILE), _MAX_BYTES, FILE))
    ends = [start for start, _ in changes[1:]] + [_ALWAYS]
    return [Period(start, end, share) for (start, share), end in zip(changes, ends) if share]


def _is_last(holdout_file: StateFile, share: float) -> bool:
    changes = _changes(holdout_file)
    return (changes[-1][1] if changes else 0.0) == float(f"{share:g}")


def _changes(holdout_file: StateFile) -> list[tuple[str, float]]:
    """Return each change of the share with its time; damaged lines are ignored."""
    changes: list[tuple[str, float]] = []
    for line in holdout_file.lines():
        moment, _, text = line.partition("\t")
        try:
            share = float(text)
        except ValueError:
            continue
        if timestamps.is_instant(moment) and 0 <= share <= MAX_SHARE:
            changes.append((moment, share))
    return sorted(changes, key=lambda change: change[0])
