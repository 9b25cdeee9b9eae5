"""Search on the server in the records of all teams of a login, without a replica."""

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
"""Results of one search: each contains the whole record."""

MAX_SECONDS = 10
_SEARCH = "SELECT team, path, data, score, has_all, is_cut FROM onrecord.search(%s, %s, %s, %s, %s)"


class ServerMatch(NamedTuple):
    """A matching record with its team and score; `has_all` if it has all the words."""

    team: str
    path: str
    memory: Memory
    score: float
    has_all: bool


class ServerMatches(NamedTuple):
    """The best matches; `is_cut` if too many records match, so that only some were compared."""

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
    """Return the best matches; leave out files that are not records. Raises BadInput for a bad `limit`."""
    if not 1 <= limit <= MAX_MATCHES:
        raise BadInput(
            f"--limit {limit} is not between 1 and {MAX_MATCHES}", fix=f"give a number from 1 to {MAX_MATCHES}"
        )
    statuses = () if include_retired else ("active",)
    search_text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    parameters = (search_text, list(categories), list(tags), list(statuses), limit)
    hub = hub_connection.Hub(parse_team_address(url), hub_schema.check)
    try:
        rows = hub.run(lambda session: _query(session, parameters))
    finally:
        hub.close()
    hits = [hit for row in rows if (hit := _parse_match(row)) is not None]
    return ServerMatches(tuple(hits), any(row[-1] is True for row in rows))


def _query(session: HubSession, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    from psycopg import errors

    try:
        with session.transaction():
            # For this transaction only: behind a pool another client gets the session next.
            session.execute(f"SET LOCAL statement_timeout = '{MAX_SECONDS}s'")
            with session.cursor(binary=True) as cursor:
                return cursor.execute(_SEARCH, parameters).fetchmany(MAX_MATCHES)
    except errors.QueryCanceled as error:
        raise BadRemote(
            f"the search took longer than {MAX_SECONDS} seconds", fix="use rarer words, or ask the administrator"
        ) from error


def _parse_match(columns: Sequence[Any]) -> ServerMatch | None:
    """Return a row of the answer as a match; None if its file is not a record. Raises BadRemote."""
    team, path, data, score, has_all, _ = columns
    types = (str, str, bytes, float, bool)
    if not all(isinstance(value, kind) for value, kind in zip(columns, types)):
        raise BadRemote(
            "the database does not answer like a hub: a match has values of the wrong types",
            fix="ask its administrator",
        )
    try:
        return ServerMatch(team, path, memory.parse(data, path), score, has_all)
    except BadRecord:
        return None
