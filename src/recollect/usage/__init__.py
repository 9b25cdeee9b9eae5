"""Usage: what was told to agents and what became of it. Counters in the user's state folder, never in the records.

Recall calls `injected` and `prior`, the Stop hook `observe`; commands read `summary`, `weeks` and `suggestions`.
Hooks import this package: everything else in it is loaded when it is first needed (see `lean`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.usage.counts import Counts
    from recollect.usage.suggestion import Suggestion

__all__ = ["injected", "observe", "prior", "suggestions", "summary", "weeks"]


def injected(store_root: str, paths: Iterable[str]) -> None:
    """Count memories as told, each by its path, absolute or within the store. Never raises: telling goes first."""
    from recollect.usage import usage_log

    usage_log.append(store_root, [("injected", path) for path in paths])


def prior(store_root: str) -> dict[str, float]:
    """By how much each memory's relevance is to be believed more or less: logits within ±0.3, by path in the store."""
    from recollect.usage.use_prior import read

    return read(store_root)


def observe(session: str, transcript_path: str, stores: Iterable[str], last_message: str = "") -> None:
    """Find out at the end of a turn what became of what the session was told. Never raises."""
    from recollect.usage import observation

    observation.observe(session, transcript_path, stores, last_message)


def summary(store_root: str, since: str = "") -> dict[str, Counts]:
    """How often each memory was told and used, by its path in the store."""
    from recollect.usage import counts

    return counts.per_record(store_root, since)


def weeks(store_root: str, most: int = 12, path: str = "", since: str = "") -> list[tuple[str, Counts]]:
    """The same week by week up to now, for the whole store or for one memory: the Monday, and its counts."""
    from recollect.usage import counts

    return counts.per_week(store_root, most, path, since)


def suggestions(store_root: str, least: int = 5) -> list[Suggestion]:
    """Memories that want a look: contradicted since they were last changed, or told `least` times and never used."""
    from recollect.usage import suggestion

    return suggestion.of(store_root, least)
