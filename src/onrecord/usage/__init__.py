"""Counts of how often records were shown to agents, opened and broken by them, in the user's state folder."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.session.transcript import Transcript

START, CORRECTION = "start", "correction"
"""Moments at which a record is shown; `recall.candidate` has the others."""

RULE, POINTER = "rule", "pointer"

_MAX_HAPPENINGS = 400
"""Happenings that are kept: one hook has far fewer, and a server that logs none must not grow."""


class Happening(NamedTuple):
    """Something that happened to a record in this process, for the event log."""

    root: str
    what: str
    path: str
    """Absolute or relative to the store; for a map, the number of its lines."""
    moment: str = ""
    form: str = ""


_happenings: list[Happening] = []


def take_happenings() -> list[Happening]:
    """Return what happened in this process since the last call: its caller knows the agent and the session."""
    taken = list(_happenings)
    _happenings.clear()
    return taken


def happened(store_root: str, what: str, paths: list[str], moment: str = "", form: str = "") -> None:
    """Keep what happened to records until it is logged."""
    _happenings.extend(Happening(store_root, what, path, moment, form) for path in paths)
    del _happenings[:-_MAX_HAPPENINGS]


def count_injected(store_root: str, paths: list[str], moment: str, form: str = RULE) -> None:
    """Count records as shown; `paths` are absolute or relative to the store. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("injected", path) for path in paths])
    happened(store_root, "shown", paths, moment, form)


def count_pointed(store_root: str, paths: list[str], moment: str) -> None:
    """Count records as pointed to. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("pointed", path) for path in paths])
    happened(store_root, "shown", paths, moment, POINTER)


def count_digest(store_root: str, paths: list[str], map_lines: int) -> None:
    """Count records as shown in a digest; absolute `paths` outside the store are ignored. Never raises.

    `map_lines` is how many lines the map has: it is one showing, and none of a record.
    """
    from onrecord.usage import usage_log

    inside = [path for path in paths if path.startswith(store_root)]
    usage_log.append(store_root, [("digest", path) for path in inside])
    happened(store_root, "shown", inside, START, RULE)
    if map_lines:
        happened(store_root, "shown", [str(map_lines)], START, "map")


def count_correction(store_root: str, path: str, host: str) -> int:
    """Count that the user corrected the agent of a host with a record; return how often by now. Never raises."""
    from onrecord.usage import usage_log

    usage_log.add_correction(store_root, path, host)
    happened(store_root, "corrected", [path], CORRECTION)
    corrections = usage_log.corrections(store_root).get(usage_log.path_in_store(store_root, path))
    return corrections.times if corrections else 0


def observe(session: str, transcript: Transcript, stores: list[str]) -> None:
    """Count the shown records that the agent opened, at the end of a turn. Never raises."""
    from onrecord.usage import usage_log

    usage_log.observe(session, transcript, stores)
