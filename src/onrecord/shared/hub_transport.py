"""The transport for a shared store in a hub, a Postgres database.

The cursor is the number and the id of the last pulled change: after a restore from a backup, another change may have
the same number.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRemote, OnrecordError, Refused
from onrecord.shared import hub_connection, incoming
from onrecord.shared.hub_connection import Hub
from onrecord.shared.remotes import TeamAddress, parse_team_address
from onrecord.shared.transport import Pulled, Push, Pushed, StoreAccess, Version
from onrecord.text import flat

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import HubSession

CHANNEL = "onrecord"
_MAX_TEAMS = 10
"""Teams of a login that an error names."""

_MAX_BATCH_CHANGES = 500
_MAX_BATCH_BYTES = 4_000_000
"""Size of one transaction: other writers of the team wait for it."""

_POLL_SECONDS = 15.0
"""Time until the next poll: behind a pool that changes the session, no notification arrives."""

_PAUSE_SECONDS = 0.2
"""Time between two polls: any login of the database can send notifications without end."""

_REFUSALS = {
    "reader": "your role in this team is reader",
    "review": "this team reviews changes, and accepts only drafts from you",
    "full": f"a team has room for {incoming.MAX_FILES:,} files, deleted ones included, and {incoming.MAX_BYTES:,}"
    " bytes; the administrator can make another team",
}

_TEAM = """
SELECT t.team, t.number, coalesce(r.change::text, ''), t.asks_for_review AND m.role = 'writer',
m.role = 'reader' FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team AND m.login = session_user
LEFT JOIN onrecord.records r ON r.team = t.team AND r.number = t.number
WHERE t.name = %s
"""
_ACCESS = """
SELECT m.login::text, m.role, t.asks_for_review AND m.role = 'writer',
count(*) FILTER (WHERE r.hash <> '' AND NOT starts_with(r.path, 'inbox/')),
count(*) FILTER (WHERE r.hash <> '' AND starts_with(r.path, 'inbox/'))
FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team AND m.login = session_user
LEFT JOIN onrecord.records r ON r.team = t.team WHERE t.name = %s GROUP BY 1, 2, 3
"""
_OWN_TEAMS = """
SELECT t.name FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team AND m.login = session_user ORDER BY 1
"""
_IS_ANOTHER = """
SELECT 1 FROM onrecord.records WHERE team = %(team)s AND number = %(number)s AND change::text <> %(change)s
UNION ALL
SELECT 1 FROM onrecord.history WHERE team = %(team)s AND number = %(number)s AND change::text <> %(change)s
"""
"""A change that is missing altogether was deleted from the history (`onrecord hub forget`) and is no reset.

Otherwise every machine that had pulled it would push again what others have deleted since.
"""

_EVERYTHING = """
SELECT path, data FROM onrecord.records WHERE team = %(team)s AND number <= %(upto)s ORDER BY number
"""
_CHANGES = """
SELECT path, data FROM (
    SELECT number, path, data FROM onrecord.records
    WHERE team = %(team)s AND number > %(since)s AND number <= %(upto)s
    UNION ALL
    SELECT number, path, data FROM onrecord.history
    WHERE team = %(team)s AND number > %(since)s AND number <= %(upto)s AND login = session_user
) versions ORDER BY number
"""
"""Includes our own versions that others replaced: we may have been killed before we noted their arrival."""

_PUSH = "SELECT place, outcome FROM onrecord.push(%s, %s, %s, %s, '{}', %s)"


class _Team(NamedTuple):
    """A team: its key, number and id of its last change, and whether we may send drafts only, or nothing."""

    key: int
    number: int
    change: str
    asks_for_review: bool
    is_read_only: bool


class PostgresTransport:
    """A shared store in a hub; connects on first use."""

    def __init__(self, url: str) -> None:
        self._address = parse_team_address(url)
        self._hub = Hub(self._address, hub_connection.check_schema)
        self._number = 0

    def pull(self, cursor: str) -> Pulled:
        """Return what changed since `cursor`; everything if it is empty or unknown to the hub."""
        team = self._hub.run(lambda session: _team(session, self._address))
        since, is_reset = self._since(team, cursor)
        self._number = team.number
        cursor = f"{team.number}-{team.change}"
        return Pulled(self._versions(team, since), cursor, is_reset, team.asks_for_review, team.is_read_only)

    def push(self, changes: Sequence[Push]) -> Pushed:
        """Apply `changes` by compare-and-set, some hundred in one transaction."""
        outcomes: dict[str, str] = {}
        for batch in _batches(changes):
            outcomes.update(self._push_batch(batch))
        return Pushed(
            accepted=tuple(path for path, outcome in outcomes.items() if outcome == "accepted"),
            outdated=tuple(path for path, outcome in outcomes.items() if outcome == "outdated"),
            refused={path: _REFUSALS[outcome] for path, outcome in outcomes.items() if outcome in _REFUSALS},
        )

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds` for a change that was not pulled yet; return True if there is one."""
        end = time.monotonic() + seconds
        self._hub.run(lambda session: session.execute(f"LISTEN {CHANNEL}"))
        while self._hub.run(lambda session: _team(session, self._address)).number <= self._number:
            polled_at = time.monotonic()
            remaining = end - polled_at
            if remaining <= 0:
                return False
            with self._hub.translating_errors():
                for _ in self._hub.session().notifies(timeout=min(remaining, _POLL_SECONDS), stop_after=1):
                    pass
            time.sleep(max(0.0, min(polled_at + _PAUSE_SECONDS, end) - time.monotonic()))
        return True

    def access(self) -> StoreAccess:
        """Return our login and role, and what is in the team."""
        self._hub.run(lambda session: _team(session, self._address))
        row = self._hub.run(lambda session: session.execute(_ACCESS, (self._address.team,)).fetchone())
        if row is None or list(map(type, row)) != [str, str, bool, int, int]:
            raise _malformed("the row of the member has values of the wrong types")
        login, role, sends_drafts, records, drafts = row
        role = f"{role} (drafts, which a reviewer accepts)" if sends_drafts else role
        return StoreAccess(records, drafts, role, login, self._address.team, sends_drafts)

    def close(self) -> None:
        """Close the connection."""
        self._hub.close()

    def _since(self, team: _Team, cursor: str) -> tuple[int, bool]:
        """Return the number to continue from, 0 for the beginning, and True if the hub lost the cursor's change."""
        number, _, change = cursor.partition("-")
        if not number.isdecimal() or int(number) == 0:
            return 0, False
        if int(number) > team.number:
            return 0, True
        parameters = {"team": team.key, "number": int(number), "change": change}
        row = self._hub.run(lambda session: session.execute(_IS_ANOTHER, parameters).fetchone())
        return (0, True) if row else (int(number), False)

    def _versions(self, team: _Team, since: int) -> Iterator[Version]:
        """Yield the changes one by one as they arrive: there may be a million."""
        parameters = {"team": team.key, "since": since, "upto": team.number}
        with self._hub.translating_errors():
            yield from map(
                _parse_version, self._hub.session().stream_rows(_CHANGES if since else _EVERYTHING, parameters)
            )

    def _push_batch(self, changes: Sequence[Push]) -> dict[str, str]:
        """Push `changes` in one transaction; return the outcome of each path. Raises BadRemote."""
        columns = zip(*((change.path, change.data, change.expected) for change in changes))
        paths, *rest = map(list, columns)
        parameters = (self._address.team, self._number, paths, *rest)
        rows = self._hub.run(lambda session: session.execute(_PUSH, parameters).fetchall())
        outcomes = dict(zip(paths, (str(outcome) for _, outcome in rows)))
        if [position for position, _ in rows] != list(range(1, len(paths) + 1)):
            raise _malformed("the answer to a push does not name every path")
        if not {"accepted", "outdated", *_REFUSALS}.issuperset(outcomes.values()):
            raise _malformed("the answer to a push is unknown to this version")
        return outcomes


def _team(session: HubSession, address: TeamAddress) -> _Team:
    row = session.execute(_TEAM, (address.team,)).fetchone()
    if row is None:
        raise _not_a_member(session, address)
    if list(map(type, row)) != [int, int, str, bool, bool]:
        raise _malformed("the row of the team has values of the wrong types")
    return _Team(*row)


def _not_a_member(session: HubSession, address: TeamAddress) -> OnrecordError:
    login = session.info.user
    teams = [flat(str(name)) for (name,) in session.execute(_OWN_TEAMS).fetchmany(_MAX_TEAMS)]
    other = f"yours: {', '.join(teams)}; write one behind # in the address; or " if teams else ""
    command = f"onrecord hub grant {quote(login)} writer --team {address.team}"
    return Refused(
        f"the login {login} is not a member of a team {address.team}",
        fix=f"{other}ask the administrator for: `{command}`",
    )


def _parse_version(columns: Sequence[Any]) -> Version:
    if list(map(type, columns)) != [str, bytes]:
        raise _malformed("a record has values of the wrong types")
    return Version(*columns)


def _malformed(reason: str) -> BadRemote:
    return BadRemote(f"the database does not answer like a hub: {reason}", fix="ask its administrator")


def _batches(changes: Sequence[Push]) -> Iterator[Sequence[Push]]:
    """Yield the changes in batches that are small enough for one transaction."""
    batch: list[Push] = []
    size = 0
    for change in changes:
        if batch and (len(batch) >= _MAX_BATCH_CHANGES or size + len(change.data) > _MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(change)
        size += len(change.data)
    if batch:
        yield batch
