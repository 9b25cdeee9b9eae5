"""Whether a memory and its installation work, and what Onrecord leaves on the machine."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple


class Finding(NamedTuple):
    """The result of a check: `ok`, a `note`, a `warning`, or an `error`."""

    severity: str
    check: str
    what: str
    fix: str = ""
