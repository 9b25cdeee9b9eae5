"""Whether the session of an event is in the holdout, which gets no records: see `session.holdout`."""

from __future__ import annotations

import os

from onrecord import budget, state_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hosts.events import HostEvent
    from onrecord.settings import Settings

_SETTING, _FILE = "retrieval.holdout", "holdout"


def holds_out(event: HostEvent, settings: Settings) -> bool:
    """True if the session gets no records; by default there is no such session, and this costs nothing."""
    share = settings.number(_SETTING)
    if not share:
        return False
    from onrecord.session import holdout

    return holdout.is_held_out(_session(event), share)


def note_share(settings: Settings) -> None:
    """Record a change of the share; called at the start of a session and at prompts."""
    share = settings.number(_SETTING)
    # Nearly nobody has ever had a holdout: then nothing is loaded.
    if share or os.path.exists(state_file.state_path(_FILE)):
        from onrecord.session import holdout

        budget.attempt("note the holdout", None, holdout.note, share)


def _session(event: HostEvent) -> str:
    """Return the session's id as its file gives it, by which `onrecord effect` knows it again."""
    if event.is_subagent or not event.transcript:
        return event.session
    from onrecord.hosts import table

    return table.transcript(event.host, event.transcript).session_id or event.session
