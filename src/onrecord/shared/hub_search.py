"""Search on the server, over the records of all teams that a login belongs to: one question, one answer, no replica."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, BadRecord, BadRemote
from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.shared import hub_connection, hub_schema
from onrecord.shared.remotes import parse_team_address

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import HubSession

MAX_MATCHES = 100
"""Results of one search: the whole records come with them."""

SECONDS = 10
_SEARCH = "SELECT team, path, data, score, has_all, is_cut FROM onrecord.search(%s, %s, %s, %s, %s)"


class ServerMatch(NamedTuple):
    """A record of some team that matches, and how well; `has_all` if it has all the words."""

    team: str
    path: str
    memory: Memory
    score: float
    has_all: bool


class ServerMatches(NamedTuple):
    """The best matches; `is_cut` if so many records match that only some were compared."""

    hits: tuple[ServerMatch, ...]
    is_cut: bool = False


def find(
    url: str,
    text: str,
    limit: int = 10,
    *,
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
    include_retired: bool = False,
) -> ServerMatches:
    """The records that match best; a file that is no record is left out."""
    if not 1 <= limit <= MAX_MATCHES:
        raise BadInput(
            f"--limit {limit} is not between 1 and {MAX_MATCHES}", fix=f"give a number from 1 to {MAX_MATCHES}"
        )
    statuses = () if include_retired else ("active",)
    asked = text.replace("\0", " ").encode("utf-8", "replace").decode()
    values = (asked, list(categories), list(tags), list(statuses), limit)
    hub = hub_connection.Hub(parse_team_address(url), hub_schema.check)
    try:
        rows = hub.run(lambda session: _asked(session, values))
    finally:
        hub.close()
    hits = [hit for row in rows if (hit := _hit(row)) is not None]
    return ServerMatches(tuple(hits), any(row[-1] is True for row in rows))


def _asked(session: HubSession, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    from psycopg import errors

    try:
        with session.transaction():
            # In the transaction alone: behind a pool somebody else gets the session next.
            session.execute(f"SET LOCAL statement_timeout = '{SECONDS}s'")
            with session.cursor(binary=True) as cursor:
                return cursor.execute(_SEARCH, values).fetchmany(MAX_MATCHES)
    except errors.QueryCanceled as error:
        raise BadRemote(
            f"the search took longer than {SECONDS} seconds", fix="ask with rarer words, or ask the administrator"
        ) from error


def _hit(row: tuple[Any, ...]) -> ServerMatch | None:
    """A row as a match; None if its file is no record."""
    team, path, data, score, has_all, _ = row
    types = (str, str, bytes, float, bool)
    if not all(isinstance(value, kind) for value, kind in zip(row, types)):
        raise BadRemote(
            "the database does not answer like a hub: a match has values of other types", fix="ask its administrator"
        )
    try:
        return ServerMatch(team, path, memory.parse(data, path), score, has_all)
    except BadRecord:
        return None
