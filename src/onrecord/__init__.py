"""Onrecord: a project memory for coding agents.

What a memory is: record, store, search, freshness, git, session.
What an agent is shown: recall, digest, capture, usage.
Looking after it: audit, importers, doctor.
A team: shared.
The doors: hosts, hooks, mcp, web, cli.

Hooks start with this file, so it imports nothing that costs time.
"""

from __future__ import annotations

__version__ = "0.2.0"
__all__ = ["__version__", "open"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.project import Project


def open(project_dir: str = ".") -> Project:
    """Open the memory of the project that contains `project_dir`. Raises BadInput."""
    from onrecord.project import Project

    return Project(project_dir)
