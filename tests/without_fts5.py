"""SQLite as some distributions build it: without FTS5. Run as a script it is the hook door on such a system.

python3 -S -E tests/without_fts5.py <event> < event.json
"""

from __future__ import annotations

import os
import sys
from typing import Any

if __name__ == "__main__":
    sys.path[0] = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")

from onrecord import coldstart


class Connection(coldstart.Connection):
    """A connection that answers as SQLite does when a module is missing."""

    def execute(self, sql: str, *values: Any) -> Any:
        if "using fts5" in sql.lower():
            raise coldstart.SqliteError("no such module: fts5")
        return super().execute(sql, *values)


_connect = coldstart.connect


def connect(*where: Any, **options: Any) -> Connection:
    return _connect(*where, factory=Connection, **options)


if __name__ == "__main__":
    coldstart.connect = connect  # type: ignore[assignment,misc]

    from onrecord.hooks import main

    raise SystemExit(main(sys.argv[1:]))
