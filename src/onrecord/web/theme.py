"""The theme of the pages: the system's, light or dark. The choice is kept in the state folder and needs no script."""

from __future__ import annotations

from onrecord.state_file import StateFile, state_path

THEMES = ("system", "light", "dark")
_MAX_BYTES = 100
"""Bytes of the state file, which holds one word."""


def choice() -> str:
    """Return the theme that the user chose; `system` if none."""
    name = _file().read().decode("ascii", "replace").strip()
    return name if name in THEMES else THEMES[0]


def choose(name: str) -> None:
    """Keep the choice for the next pages."""
    if name in THEMES:
        _file().replace(f"{name}\n".encode())


def _file() -> StateFile:
    return StateFile(state_path("theme"), _MAX_BYTES, "web")
