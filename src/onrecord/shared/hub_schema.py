"""The schema of a hub: created and upgraded by the files in `migrations/`, forward only."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from onrecord import extras
from onrecord.errors import BadInput, BadRemote
from onrecord.shared.hub_connection import sql

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import HubSession

_FOLDER = os.path.join(os.path.dirname(__file__), "migrations")
_LOCK = 7_265_636_011
"""Key of the advisory lock for changes of the schema; any number that no other program uses."""

_LIMIT_LOCK_WAIT = "SET LOCAL lock_timeout = '10s'"
"""Limits the wait: any login of the database can hold some of the locks that are needed here."""


def migrations() -> list[str]:
    """Return the SQL of each migration; the first one leads from version 0 to 1."""
    names = sorted(name for name in os.listdir(_FOLDER) if name.endswith(".sql"))
    return [_read(os.path.join(_FOLDER, name)) for name in names]


def version(session: HubSession) -> int:
    """Return the version of the schema in a database; 0 if there is none."""
    row = session.execute("SELECT to_regclass('onrecord.schema_version') IS NOT NULL").fetchone()
    if not row or not row[0]:
        return 0
    row = session.execute("SELECT max(version) FROM onrecord.schema_version").fetchone()
    return row[0] if row and isinstance(row[0], int) else 0


def check(session: HubSession) -> None:
    """Raise BadRemote if the schema is not the one that this version of Onrecord needs."""
    current, needed = version(session), len(migrations())
    if current > needed:
        raise BadRemote(
            f"the hub has schema {current}, and this Onrecord knows {needed}", fix=extras.upgrade_command("hub")
        )
    if current < needed:
        reason = (
            f"the hub has schema {current}, and this Onrecord needs {needed}"
            if current
            else "there is no hub in this database"
        )
        raise BadRemote(reason, fix="ask its administrator for: `onrecord hub init`")


def migrate(session: HubSession) -> tuple[int, int]:
    """Upgrade a database in one transaction, one process at a time; return the versions before and after."""
    steps = migrations()
    # A million records take minutes, and the server sends nothing meanwhile.
    session.patience = math.inf
    with session.transaction():
        session.execute(_LIMIT_LOCK_WAIT)
        session.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        before = version(session)
        if before > len(steps):
            check(session)
        if before == 0:
            _refuse_encoding(session)
            session.execute("CREATE SCHEMA IF NOT EXISTS onrecord")
            session.execute("CREATE TABLE onrecord.schema_version (version integer PRIMARY KEY)")
        become_owner(session)
        for number, step in enumerate(steps[before:], before + 1):
            session.execute(step.encode())
            session.execute("INSERT INTO onrecord.schema_version VALUES (%s)", (number,))
        _share_with_members(session)
    return before, len(steps)


def _refuse_encoding(session: HubSession) -> None:
    """Raise BadInput for a database whose encoding cannot store every text."""
    encoding = session.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        fix = "create a database with ENCODING 'UTF8' TEMPLATE template0"
        raise BadInput(f"the database has the encoding {encoding}, and a hub needs UTF8", fix=fix)


def become_owner(session: HubSession) -> None:
    """Act as the owner of the schema in this transaction, and limit the wait for locks."""
    session.execute(_LIMIT_LOCK_WAIT)
    owners = session.execute("SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'onrecord'")
    for (owner,) in owners.fetchall():
        session.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(owner)))


def share_with(session: HubSession, login: str) -> None:
    """Let a login use the schema; its roles decide what it can see and do there."""
    for right in ("USAGE ON SCHEMA", "SELECT ON ALL TABLES IN SCHEMA", "EXECUTE ON ALL FUNCTIONS IN SCHEMA"):
        session.execute(sql.SQL(f"GRANT {right} onrecord TO {{}}").format(sql.Identifier(login)))


def withdraw_from(session: HubSession, login: str) -> None:
    """Revoke all rights in the schema from a login."""
    for right in ("ALL ON ALL FUNCTIONS IN SCHEMA", "ALL ON ALL TABLES IN SCHEMA", "ALL ON SCHEMA"):
        session.execute(sql.SQL(f"REVOKE {right} onrecord FROM {{}}").format(sql.Identifier(login)))


def _share_with_members(session: HubSession) -> None:
    """Give the members, and no other login, rights on what a migration has added."""
    session.execute("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA onrecord FROM PUBLIC")
    logins = session.execute(
        "SELECT DISTINCT m.login FROM onrecord.members m JOIN pg_roles r ON r.rolname = m.login"
    ).fetchall()
    for (login,) in logins:
        share_with(session, login)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
