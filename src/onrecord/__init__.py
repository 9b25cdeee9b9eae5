"""Onrecord: a project memory for coding agents.

Records and their sources: record, store, search, freshness, git, session.
Exchange with agents: recall, digest, capture, usage.
Maintenance: audit, importers, doctor.
Teams: shared.
Entry points: hosts, hooks, mcp, web, cli.

Every hook imports this file, so it imports nothing that costs time.
"""

from __future__ import annotations

__version__ = "0.3.0"
__all__ = ["__version__", "open"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.project import Project


def open(project_dir: str = ".") -> Project:
    """Open the memory of the project that contains `project_dir`. Raises BadInput."""
    from onrecord.project import Project

    return Project(project_dir)
