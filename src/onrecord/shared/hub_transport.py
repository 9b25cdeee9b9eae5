"""Moves the files of a shared store to and from a hub.

The cursor is the number of the last change that was pulled, and the id of that change: a database that was restored
from a backup may give the same number to another change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRemote, OnrecordError, Refused
from onrecord.shared import hub_schema, incoming
from onrecord.shared.hub_connection import Hub
from onrecord.shared.remotes import TeamAddress, parse_team_address
from onrecord.shared.transport import Pulled, Push, Pushed, Version, version_hash

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import HubSession

CHANNEL = "onrecord"
_MOST_CHANGES = 500
_MOST_BYTES = 4_000_000
"""Of one transaction: other writers of the team wait for it."""

_POLL_SECONDS = 15.0
"""Until a look without a notice: behind a pool that gives each transaction another session, none arrives."""

_PAUSE_SECONDS = 0.2
"""Between two looks at the counter: any login of the database can send notices without end."""

_REFUSALS = {
    "reader": "your role in this team is reader",
    "review": "this team reviews what is written: send a draft with `onrecord share`",
    "full": f"a team has room for {incoming.MAX_FILES:,} files, deleted ones included, and {incoming.MAX_BYTES:,}"
    " bytes; the administrator can make another team",
}

_TEAM = """
SELECT t.team, t.number, coalesce(r.change::text, ''), t.asks_for_review AND m.role = 'writer' FROM onrecord.teams t
JOIN onrecord.members m ON m.team = t.team AND m.login = session_user
LEFT JOIN onrecord.records r ON r.team = t.team AND r.number = t.number
WHERE t.name = %s
"""
_IS_ANOTHER = """
SELECT 1 FROM onrecord.records WHERE team = %(team)s AND number = %(number)s AND change::text <> %(change)s
UNION ALL
SELECT 1 FROM onrecord.history WHERE team = %(team)s AND number = %(number)s AND change::text <> %(change)s
"""
"""A change that is not there at all was deleted from the history (`onrecord hub forget`), and counts as agreed on.

Else every machine that had pulled it would push again what others have deleted since.
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
"""With our own versions that somebody has replaced since: we may have been killed before we noted that they arrived."""

_PUSH = "SELECT place, outcome FROM onrecord.push(%s, %s, %s, %s, %s, %s)"
_PRESENT = "SELECT path, hash, data FROM onrecord.records WHERE team = %s AND path = ANY(%s)"


class _Team(NamedTuple):
    """A team as it is now: its key, the number of its last change, the id of that, whether we may only send drafts."""

    key: int
    number: int
    change: str
    asks_for_review: bool


class PostgresTransport:
    """A shared store in a hub; connects when it is first used."""

    def __init__(self, url: str) -> None:
        self._address = parse_team_address(url)
        self._hub = Hub(self._address, hub_schema.check)
        self._number = 0

    def pull(self, cursor: str) -> Pulled:
        """What changed since the cursor; everything if it is empty, or names a change that is not there."""
        team = self._hub.run(lambda session: _team(session, self._address))
        since, is_reset = self._since(team, cursor)
        self._number = team.number
        cursor = f"{team.number}-{team.change}"
        return Pulled(self._versions(team, since), cursor, is_reset, team.asks_for_review)

    def push(self, changes: Sequence[Push]) -> Pushed:
        """Make changes by compare-and-set, some hundred in one transaction."""
        outcomes: dict[str, str] = {}
        for batch in _batches(changes):
            outcomes.update(self._pushed(batch))
            outdated = [change for change in batch if outcomes[change.path] == "outdated"]
            if corrected := self._corrected(outdated):
                outcomes.update(self._pushed(corrected))
        return Pushed(
            accepted=tuple(path for path, outcome in outcomes.items() if outcome == "accepted"),
            outdated=tuple(path for path, outcome in outcomes.items() if outcome == "outdated"),
            refused={path: _REFUSALS[outcome] for path, outcome in outcomes.items() if outcome in _REFUSALS},
        )

    def wait(self, seconds: float) -> bool:
        """Wait until the team has a change that was not pulled yet; whether it has."""
        end = time.monotonic() + seconds
        self._hub.run(lambda session: session.execute(f"LISTEN {CHANNEL}"))
        while self._hub.run(lambda session: _team(session, self._address)).number <= self._number:
            looked = time.monotonic()
            left = end - looked
            if left <= 0:
                return False
            with self._hub.translating_errors():
                for _ in self._hub.session().notifies(timeout=min(left, _POLL_SECONDS), stop_after=1):
                    pass
            time.sleep(max(0.0, min(looked + _PAUSE_SECONDS, end) - time.monotonic()))
        return True

    def close(self) -> None:
        """Give the connection up."""
        self._hub.close()

    def _since(self, team: _Team, cursor: str) -> tuple[int, bool]:
        """The number to go on from, 0 for the beginning; and whether the hub does not have what the cursor names."""
        number, _, change = cursor.partition("-")
        if not number.isdecimal() or int(number) == 0:
            return 0, False
        if int(number) > team.number:
            return 0, True
        values = {"team": team.key, "number": int(number), "change": change}
        row = self._hub.run(lambda session: session.execute(_IS_ANOTHER, values).fetchone())
        return (0, True) if row else (int(number), False)

    def _versions(self, team: _Team, since: int) -> Iterator[Version]:
        """The changes one by one as they arrive: a million of them are never in memory together."""
        values = {"team": team.key, "since": since, "upto": team.number}
        with self._hub.translating_errors():
            yield from map(_version, self._hub.session().rows(_CHANGES if since else _EVERYTHING, values))

    def _pushed(self, changes: Sequence[Push]) -> dict[str, str]:
        """What became of each path of one transaction."""
        columns = zip(*((each.path, each.data, version_hash(each.data), each.expected) for each in changes))
        paths, *rest = map(list, columns)
        values = (self._address.team, self._number, paths, *rest)
        rows = self._hub.run(lambda session: session.execute(_PUSH, values).fetchall())
        outcomes = dict(zip(paths, (str(outcome) for _, outcome in rows)))
        if [place for place, _ in rows] != list(range(1, len(paths) + 1)):
            raise _malformed("the answer to a push does not name every path")
        if not {"accepted", "outdated", *_REFUSALS}.issuperset(outcomes.values()):
            raise _malformed("the answer to a push is not one that this version knows")
        return outcomes

    def _corrected(self, changes: Sequence[Push]) -> list[Push]:
        """Those of some outdated changes that expect the file which is there, with the hash that the hub has for it.

        Hashes are computed by clients, and a wrong one would keep everybody else from changing that file for ever.
        """
        if not changes:
            return []
        hashes = self._hub.run(lambda session: _hashes(session, self._address, [each.path for each in changes]))
        return [
            each._replace(expected=wrong)
            for each in changes
            for wrong, right in [hashes.get(each.path, ("", ""))]
            if wrong != right == each.expected
        ]


def _hashes(session: HubSession, address: TeamAddress, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """For each path the hash that the hub has, and that of the file."""
    values = (_team(session, address).key, paths)
    # A hub has one row for each path; one more is read to see the end.
    rows = islice(session.rows(_PRESENT, values), len(paths) + 1)
    return {path: (str(hash), version_hash(data)) for path, hash, data in rows if isinstance(data, bytes)}


def _team(session: HubSession, address: TeamAddress) -> _Team:
    row = session.execute(_TEAM, (address.team,)).fetchone()
    if row is None:
        raise _not_a_member(session, address)
    if list(map(type, row)) != [int, int, str, bool]:
        raise _malformed("the row of the team has values of other types")
    return _Team(*row)


def _not_a_member(session: HubSession, address: TeamAddress) -> OnrecordError:
    login = session.info.user
    return Refused(
        f"there is no team {address.team} of which the login {login} is a member",
        fix=f"the address ends in #TEAM; ask the administrator for: `onrecord hub grant {login} writer`",
    )


def _version(row: tuple[Any, ...]) -> Version:
    if list(map(type, row)) != [str, bytes]:
        raise _malformed("a record has values of other types")
    return Version(*row)


def _malformed(reason: str) -> BadRemote:
    return BadRemote(f"the database does not answer like a hub: {reason}", fix="ask its administrator")


def _batches(changes: Sequence[Push]) -> Iterator[Sequence[Push]]:
    """The changes in parts that are each small enough for one transaction."""
    batch: list[Push] = []
    size = 0
    for change in changes:
        if batch and (len(batch) >= _MOST_CHANGES or size + len(change.data) > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(change)
        size += len(change.data)
    if batch:
        yield batch
