"""Which database and which team an address names: a connection URI of libpq with the team behind a `#`."""

from __future__ import annotations

import re

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.remotes import address

DEFAULT_TEAM = "default"
TEAM = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_EXAMPLE = "such as postgresql://ann@db.example.org/memory#platform"


class TeamAddress(NamedTuple):
    """A database, as libpq understands it, and the name of a team in it."""

    database: str
    team: str = DEFAULT_TEAM


def parse(url: str) -> TeamAddress:
    """The database and team of an address; BadInput for one that is none, or that holds a password."""
    database, _, team = url.partition("#")
    if address.kind(database) != address.POSTGRES:
        raise BadInput("that is not the address of a Postgres database", fix=f"give one {_EXAMPLE}")
    return TeamAddress(database, checked_team(team or DEFAULT_TEAM))


def checked_team(name: str) -> str:
    """The name of a team; BadInput if none can be called so."""
    if not TEAM.fullmatch(name):
        raise BadInput(
            f"{name[:80]!r} is not a name of 1 to 40 letters, digits and hyphens", fix="choose one such as platform"
        )
    return name
