"""`python -m recollect`, and what the installed `recollect` command calls."""

from __future__ import annotations

from recollect.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
