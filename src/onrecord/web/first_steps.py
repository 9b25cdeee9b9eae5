"""The first steps that a page names in a project without a store or without records."""

from __future__ import annotations

from onrecord import attention
from onrecord.coldstart import NamedTuple
from onrecord.importers import sources
from onrecord.project import Project
from onrecord.store import record_names
from onrecord.web.live import Live

PROMISES = {
    "/": "This page says what needs you, and what your agents were shown",
    "/search": "This page finds records as you type",
    "/inbox": "This page has the drafts that wait for you, each beside its source",
    "/map": "This page shows which files have records",
    "/timeline": "This page shows every record by the day it was saved, and what replaced it",
    "/health": "This page names the records that need a look",
    "/usage": "This page counts what agents were shown, and what they opened",
    "/effect": "This page compares how often rules were broken before they were on record and since",
    "/agent": "This page shows what your agent would get for a prompt",
}
"""A sentence for each page, by its address, on what it has once there are records."""

_OF_PROJECT = ("/", "/map", "/timeline", "/health", "/usage")
"""Pages about the records of the project alone."""


class FirstSteps(NamedTuple):
    """The state of a project that has no store or no records."""

    has_store: bool
    has_others: bool
    """True if other stores that are read here have records."""
    drafts: int
    """Drafts that wait for a person: accepted, they are the first records."""
    documents: int
    """Documents that can be imported."""

    def is_all_of(self, path: str) -> bool:
        """Return True if a page has nothing to show yet but what to do first."""
        return not self.has_others or path in _OF_PROJECT


def find(project: Project, live: Live) -> FirstSteps | None:
    """Return how far a project is; None if its store has records."""
    if next(record_names.paths(project.store.root), ""):
        return None
    numbers = {need.kind: need.number for need in live.needs()}
    return FirstSteps(
        project.store.exists,
        attention.EMPTY not in numbers,
        numbers.get(attention.DRAFT, 0),
        len(sources.become_drafts(project.root)),
    )
