"""Checks of stores, the machine and the agents, and the files that Onrecord keeps outside the stores."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple


class Finding(NamedTuple):
    """The result of a check: `ok`, a `note`, a `warning`, or an `error`."""

    severity: str
    check: str
    what: str
    fix: str = ""
