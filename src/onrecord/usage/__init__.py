"""Counts of the records that agents were shown and opened, in the user's state folder, never in the records."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.session.transcript import Transcript


def injected(store_root: str, paths: list[str]) -> None:
    """Count records as shown, each by its path, absolute or within the store. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("injected", path) for path in paths])


def pointed(store_root: str, paths: list[str]) -> None:
    """Count records as pointed to. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("pointed", path) for path in paths])


def in_digest(store_root: str, paths: list[str]) -> None:
    """Count records of a store as shown when a session started, each by its absolute path. Never raises."""
    from onrecord.usage import usage_log

    usage_log.append(store_root, [("digest", path) for path in paths if path.startswith(store_root)])


def observe(session: str, transcript: Transcript, stores: list[str]) -> None:
    """Count at the end of a turn the records that the session was shown and opened. Never raises."""
    from onrecord.usage import usage_log

    usage_log.observe(session, transcript, stores)
