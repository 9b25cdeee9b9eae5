"""A session has ended: the same as before compacting, within the second and a half the host gives to all hooks."""

from __future__ import annotations

from recollect.hooks.pre_compact import handle

__all__ = ["handle"]
