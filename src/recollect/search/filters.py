"""Which records a search may show: by category, tag and status, and, when nobody asked, by what still holds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.search.index import Row
    from recollect.settings import Settings


class Admission:
    """The conditions of one search."""

    __slots__ = ("_categories", "_now", "_tags", "auto", "include_retired", "settings")

    def __init__(
        self,
        *,
        auto: bool = False,
        categories: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        include_retired: bool = False,
        now: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.auto = auto
        self.include_retired = include_retired
        self.settings = settings
        self._categories = frozenset(categories or ())
        self._tags = frozenset(tags or ())
        self._now = now

    @property
    def is_narrow(self) -> bool:
        """Whether most records may be refused, so that the best few are not enough to look at."""
        return bool(self._categories or self._tags)

    @property
    def now(self) -> str:
        if not self._now:
            from recollect import timestamps

            self._now = timestamps.now()
        return self._now

    def admits(self, row: Row) -> bool:
        if self._categories and row.category not in self._categories:
            return False
        if self._tags and self._tags.isdisjoint(row.tags.split("\n")):
            return False
        if row.status != "active" and not self.include_retired:
            return False
        return not self.auto or self._holds(row)

    def _holds(self, row: Row) -> bool:
        """Whether a record may be told unasked: in force, of a category in use, and not past its time."""
        if row.void or (row.expires and row.expires[:10] < self.now[:10]):
            return False
        if self.settings is None:
            return True
        days = self.settings.retention_days(row.category)
        return self.settings.is_enabled(row.category) and (not days or row.updated_at >= self._days_ago(days))

    def _days_ago(self, days: int) -> str:
        from recollect import timestamps

        return timestamps.days_before(self.now, days)
