"""Counts of how often records were shown to agents, opened and broken by them, in the user's state folder."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.session.transcript import Transcript


def count_injected(store_root: str, paths: list[str]) -> None:
    """Count records as shown; `paths` are absolute or relative to the store. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("injected", path) for path in paths])


def count_pointed(store_root: str, paths: list[str]) -> None:
    """Count records as pointed to. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("pointed", path) for path in paths])


def count_digest(store_root: str, paths: list[str]) -> None:
    """Count records as shown in a digest; absolute `paths` outside the store are ignored. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("digest", path) for path in paths if path.startswith(store_root)])


def count_correction(store_root: str, path: str, host: str) -> int:
    """Count that the user corrected the agent of a host with a record; return how often by now. Never raises."""
    from onrecord.usage import usage_log

    usage_log.add_correction(store_root, path, host)
    corrections = usage_log.corrections(store_root).get(usage_log.path_in_store(store_root, path))
    return corrections.times if corrections else 0


def observe(session: str, transcript: Transcript, stores: list[str]) -> None:
    """Count the shown records that the agent opened, at the end of a turn. Never raises."""
    from onrecord.usage import usage_log

    usage_log.observe(session, transcript, stores)
