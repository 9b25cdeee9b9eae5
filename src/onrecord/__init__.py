"""Onrecord: a project memory for coding agents. Import cost matters here: hooks start with this file."""

from __future__ import annotations

__version__ = "0.2.0"
__all__ = ["__version__", "open"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.project import Project


def open(project_dir: str = ".") -> Project:
    """The memory of the project that a directory lies in."""
    from onrecord.project import Project

    return Project(project_dir)
