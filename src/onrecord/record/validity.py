"""Whether a record is in force, and which one replaces it: the one answer of all that shows, checks or lists records.

A record is in force if it is active, no other one replaces it, it does not say itself that it no longer holds, and its
last day has not passed. What settings leave out besides, such as records that are too old, is not decided here.

A supersession counts if both records say so, as the program writes it. A claim of one record alone is shown to people,
and nothing obeys it: one committed file could take the place of all others. A record that says it was replaced by one
that is no longer there was withdrawn, and stays so. It is the record in one file that is replaced, not an id: a second
file with the same id says nothing for the first.
"""

from __future__ import annotations

from onrecord import timestamps
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from onrecord.record.memory import Memory

ACTIVE, SUPERSEDED, OUTDATED = "active", "superseded", "outdated"


class OneSidedLink(NamedTuple):
    """A supersession that one of two records claims and the other does not."""

    old: str
    new: str
    claimed_by: str
    other_says: str = ""
    """The successor that the old record names instead."""

    @property
    def note(self) -> str:
        """The claim in a sentence, for people."""
        if self.claimed_by == self.old:
            return f"{self.old} says that {self.new} replaces it, and {self.new} does not say so"
        instead = f"names {self.other_says} instead" if self.other_says else "does not say so"
        return f"{self.new} says that it replaces {self.old}, and {self.old} {instead}"


def successor(record: Memory, find: Callable[[str], Sequence[Memory]]) -> str:
    """Return the id of the record that replaces `record`, if that counts; `find` returns the records with an id."""
    if record.superseded_by in ("", record.id):
        return ""
    successors = find(record.superseded_by)
    is_counted = not successors or any(record.id in new.supersedes for new in successors)
    return record.superseded_by if is_counted else ""


def replaced(records: Iterable[Memory]) -> frozenset[str]:
    """Return the paths of the records of a store that others replace."""
    all_records = list(records)
    find = finder(all_records)
    return frozenset(record.path for record in all_records if successor(record, find))


def current(records: Iterable[Memory]) -> list[Memory]:
    """Return the records of a store that are in force today."""
    all_records = list(records)
    old = replaced(all_records)
    return [record for record in all_records if status_of(record, is_replaced=record.path in old) == ACTIVE]


def status(record: Memory, find: Callable[[str], Sequence[Memory]]) -> str:
    """Return the status of a record today; `find` returns the records of its store with an id."""
    return status_of(record, is_replaced=bool(successor(record, find)))


def is_current(record: Memory, find: Callable[[str], Sequence[Memory]]) -> bool:
    """True if a record is in force today; `find` returns the records of its store with an id."""
    return status(record, find) == ACTIVE


def one_sided_of(record: Memory, find: Callable[[str], Sequence[Memory]]) -> Iterator[OneSidedLink]:
    """Yield the supersessions that `record` claims and the other record does not."""
    if record.superseded_by not in ("", record.id) and not successor(record, find):
        yield OneSidedLink(record.id, record.superseded_by, record.id)
    for name in record.supersedes:
        for old in find(name):
            if record.id not in (old.superseded_by, name):
                yield OneSidedLink(name, record.id, record.id, old.superseded_by)


def finder(records: Iterable[Memory]) -> Callable[[str], Sequence[Memory]]:
    """Return the function that returns those of `records` with an id."""
    by_id: dict[str, list[Memory]] = {}
    for record in records:
        by_id.setdefault(record.id, []).append(record)
    return lambda record_id: by_id.get(record_id, [])


def first_notes(links: Sequence[OneSidedLink], limit: int = 3) -> str:
    """Return the first notes on one-sided links in a line."""
    more = f" and {len(links) - limit:,} more" if len(links) > limit else ""
    return "; ".join(link.note for link in links[:limit]) + more


def status_of(record: Memory, *, is_replaced: bool, day: str = "") -> str:
    """Return the status of a record on a day (default: today), as lists name it; only an active one is in force."""
    if record.record_status != ACTIVE:
        return record.record_status
    if is_replaced:
        return SUPERSEDED
    return OUTDATED if is_over(is_void(record), expiry(record), day) else ACTIVE


def is_over(is_void: bool, expiry: str, day: str = "") -> bool:
    """True if a record says that it no longer holds, or its last day is before a day (default: today)."""
    return is_void or bool(expiry and expiry[:10] < (day or timestamps.now())[:10])


def is_void(record: Memory) -> bool:
    """True if the record itself says that it is no longer in force."""
    field, values = CATEGORIES[record.category].inactive_when
    return record.content.get(field) in values


def expiry(record: Memory) -> str:
    """Return the last day on which a record is in force; empty if it gives none, or a condition in words."""
    field = CATEGORIES[record.category].expires_field
    text = record.text(field) if field else ""
    return text if timestamps.is_day(text) else ""
