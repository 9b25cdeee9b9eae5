"""The remotes in `remotes.json`: shared stores that the user has connected, and the rules for their addresses.

The file is in the user's own store, and nothing of a project is read here: a project can never connect a remote.
Hooks load this module, so it imports nothing slow.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.errors import AlreadyExists, BadInput, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LOCK = "remote.lock"
"""A lock file in the state folder."""

MAX_NAME_LENGTH = 40
RESERVED = ("project", "user", "none")
"""Names with another meaning on the command line: the other two stores, and no remote."""

_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
_MAX_FILE_BYTES = 1_000_000
_MAX_REMOTES = 100
"""Remotes of one user: every hook searches each of their stores."""

GIT = "git"
POSTGRES = "postgres"
MAX_ADDRESS_LENGTH = 2_000
_GIT_SCHEMES = ("https", "http", "ssh", "git", "file")
_POSTGRES_SCHEMES = ("postgresql", "postgres")
_SECRET_PARAMETERS = ("password", "sslpassword", "oauth_client_secret")
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_EXAMPLES = (
    "such as git@host:team/memory.git, https://host/team/memory.git, /srv/memory.git or postgresql://host/memory"
)
_PASSWORDLESS = {
    GIT: "leave it out; git asks its credential helper or uses an SSH key",
    POSTGRES: "leave it out and put it into ~/.pgpass, a service file, or PGPASSWORD",
}
DEFAULT_TEAM = "default"
_TEAM_EXAMPLE = "such as postgresql://ann@db.example.org/memory#platform"


class Remote(coldstart.NamedTuple):
    """A connected shared store: its name, its address, and the user's choices."""

    name: str
    url: str
    kind: str
    """`git` or `postgres`."""
    review: bool = False
    """True if shared records go to its inbox until they are accepted."""
    auto: bool = False
    """True if the start of a session may start a sync."""


class TeamAddress(coldstart.NamedTuple):
    """A team of a hub: the address of its database for libpq, and the name of the team."""

    database: str
    team: str


def is_planted(project: str) -> bool:
    """True if `remotes.json` is inside `project`, so that the project's authors may have written it.

    The home folder does not count as a project.
    """
    is_home = os.path.realpath(project) == os.path.realpath(os.path.expanduser("~"))
    return bool(project) and not is_home and paths.is_within(project, paths.user_store())


def connected() -> list[Remote]:
    """Return the connected remotes, sorted by name. Raises BadInput if the file is not valid."""
    try:
        data = files.read(paths.remotes_file(), _MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _unreadable(error.strerror or str(error)) from error
    if len(data) > _MAX_FILE_BYTES:
        raise _unreadable(f"is larger than {_MAX_FILE_BYTES:,} bytes")
    try:
        entries = coldstart.loads(data.decode().removeprefix("\ufeff"))
    except ValueError as error:
        raise _unreadable(f"is not JSON: {error}") from error
    if not isinstance(entries, list) or len(entries) > _MAX_REMOTES:
        raise _unreadable(f"must be a list of at most {_MAX_REMOTES} remotes")
    remotes = [_parse_remote(fields, number) for number, fields in enumerate(entries, 1)]
    if len({remote.name for remote in remotes}) < len(remotes):
        raise _unreadable("names one remote twice")
    return sorted(remotes)


def usable() -> list[Remote]:
    """Return the connected remotes; none, and a note of that for the user, if the file is not valid."""
    try:
        return connected()
    except BadInput as error:
        from onrecord import state_file

        state_file.go_without("remotes", error.message)
        return []


def get(name: str) -> Remote:
    """Return the remote of this name. Raises NotFound."""
    for remote in connected():
        if remote.name == name:
            return remote
    fix = "onrecord remote list" if connected() else "connect one: `onrecord remote add NAME URL`"
    raise NotFound(f"no remote {name[:80]!r} is connected ({describe_connected()})", fix=fix)


def describe_connected() -> str:
    """Return the names of the connected remotes for a message."""
    names = ", ".join(remote.name for remote in connected())
    return f"connected: {names}" if names else "none is connected"


def add(name: str, url: str, *, review: bool = False, auto: bool = False) -> Remote:
    """Connect a shared store; fetch nothing. Raises BadInput or AlreadyExists."""
    refuse_name(name)
    url = absolute_address(url)
    remote = Remote(name, url, address_kind(url), review, auto)
    with _changing():
        remotes = connected()
        if any(other.name == name for other in remotes):
            raise AlreadyExists(
                f"a remote {name!r} is connected already", fix="choose another name; onrecord remote list"
            )
        if same := next((other.name for other in remotes if other.url == url), ""):
            raise AlreadyExists(f"this address is connected already, as {same!r}", fix=f"onrecord remote status {same}")
        if len(remotes) >= _MAX_REMOTES:
            raise BadInput(
                f"{_MAX_REMOTES} remotes are connected", fix="onrecord remote list; remove one that you do not use"
            )
        _write([*remotes, remote])
    return remote


def remove(name: str) -> Remote:
    """Disconnect a remote and keep its replica; delete the file with the last remote. Raises NotFound."""
    with _changing():
        remote = get(name)
        others = [other for other in connected() if other.name != name]
        if others:
            _write(others)
        else:
            _delete()
    return remote


def refuse_name(name: str) -> None:
    """Raise BadInput for a name that no remote can have."""
    if name in RESERVED:
        raise BadInput(f"{name!r} is a reserved name", fix="choose another name, such as platform")
    if not is_name(name):
        quoted = repr(name[: 2 * MAX_NAME_LENGTH])
        fix = "use the letters a to z, digits and hyphens, such as platform"
        raise BadInput(
            f"{quoted} is not a name of 1 to {MAX_NAME_LENGTH} lower-case letters, digits and hyphens",
            fix=fix,
        )


def is_name(value: object) -> bool:
    """True if a remote can have this name."""
    return isinstance(value, str) and _is_lower_case(value) and value not in RESERVED


def _is_lower_case(name: str) -> bool:
    """True for 1 to 40 lower-case letters, digits and hyphens that do not begin with a hyphen."""
    return 1 <= len(name) <= MAX_NAME_LENGTH and not name.strip(_CHARACTERS) and name[0] != "-"


def _parse_remote(value: Any, number: int) -> Remote:
    """Return an entry of the file as a remote. Raises BadInput if it is not valid."""
    if not isinstance(value, dict):
        raise _unreadable(f"entry {number} is not an object")
    fields: dict[str, Any] = value
    name, url = fields.get("name"), fields.get("url")
    if not is_name(name):
        raise _unreadable(f"entry {number} has no usable name")
    if not isinstance(url, str):
        raise _unreadable(f"entry {number} ({name}) has no url")
    flags = [fields.get(key, False) for key in ("review", "auto")]
    if not all(isinstance(flag, bool) for flag in flags):
        raise _unreadable(f"entry {number} ({name}): review and auto must be true or false")
    try:
        kind = address_kind(url)
    except BadInput as error:
        raise _unreadable(f"entry {number} ({name}): {error.message}") from error
    if fields.get("kind", kind) != kind:
        raise _unreadable(f"entry {number} ({name}): its url is one of {kind}")
    return Remote(str(name), url, kind, *flags)


def _changing() -> files.locked:
    return files.locked(os.path.join(paths.state_dir(), LOCK))


def _write(remotes: Iterable[Remote]) -> None:
    import json

    entries = [remote._asdict() for remote in sorted(remotes)]
    text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
    files.write(paths.remotes_file(), text.encode("utf-8"), mode=0o600)


def _delete() -> None:
    """Delete the file, and its folder if it is empty then: the folder may exist for this file only."""
    os.unlink(paths.remotes_file())
    try:
        os.rmdir(os.path.dirname(paths.remotes_file()))
    except OSError:
        pass


def _unreadable(reason: str) -> BadInput:
    file = paths.remotes_file()
    return BadInput(f"{file}: {reason}", fix=f"correct {file}, or delete it and connect the remotes again")


def absolute_address(url: str) -> str:
    """Return the address with a relative path made absolute."""
    is_path = url.startswith((".", "~")) or ("/" in url and ":" not in url)
    return os.path.abspath(os.path.expanduser(url)) if is_path else url


def address_kind(url: str) -> str:
    """Return `git` or `postgres`. Raises BadInput for an address that is neither, or is unsafe."""
    if not url or len(url) > MAX_ADDRESS_LENGTH or url != url.strip() or not url.isprintable():
        raise BadInput(f"an address has 1 to {MAX_ADDRESS_LENGTH} printable characters", fix=f"give one {_EXAMPLES}")
    if url.startswith("-"):
        raise BadInput("an address must not begin with a hyphen: programs would take it for an option", fix=_EXAMPLES)
    scheme, separator, rest = url.partition("://")
    if "::" in url.split("/")[0]:
        raise BadInput(
            "an address of the form NAME::… makes git run a program",
            fix=f"give the repository's own address, {_EXAMPLES}",
        )
    if not separator:
        return _kind_of_path(url)
    kind = GIT if scheme in _GIT_SCHEMES else POSTGRES if scheme in _POSTGRES_SCHEMES else ""
    if not kind:
        raise BadInput(f"{scheme[:40]!r} is not a scheme of a shared store's address", fix=f"give one {_EXAMPLES}")
    _refuse_options(rest)
    _refuse_password(kind, rest)
    return kind


def _kind_of_path(url: str) -> str:
    """Return `git` for an absolute path or git's short form `user@host:path`. Raises BadInput."""
    if os.path.isabs(url):
        return GIT
    host, colon, path = url.partition(":")
    if not colon or not path or "/" in host:
        raise BadInput(f"{url[:80]!r} is not an address of a shared store", fix=f"give one {_EXAMPLES}")
    _refuse_options(host)
    if path.startswith("-"):
        raise BadInput("a path must not begin with a hyphen: programs would take it for an option", fix=_EXAMPLES)
    return GIT


def _refuse_options(rest: str) -> None:
    """Raise BadInput for a user or host that a program such as ssh would take for an option."""
    user_and_host = rest.split("/", 1)[0]
    if any(part.startswith("-") for part in user_and_host.split("@")):
        raise BadInput("a host must not begin with a hyphen: programs would take it for an option", fix=_EXAMPLES)


def _refuse_password(kind: str, rest: str) -> None:
    """Raise BadInput for an address with a password or a token in it."""
    # libpq allows a question mark in user and password, and decodes and strips the names of parameters.
    user, _, hosts = rest.split("/", 1)[0].rpartition("@")
    hosts = hosts.partition("?")[0]
    names = [part.partition("=")[0] for part in rest.replace("?", "&").split("&")[1:]]
    parameters = [_percent_decode(name).strip().lower() for name in names]
    has_password = ":" in user or any(name in _SECRET_PARAMETERS for name in parameters)
    # A password with a slash or a hash looks like a port up to that character.
    has_password = has_password or not all(map(_has_port_or_none, hosts.split(",")))
    # Logins of managed databases are long and have digits, such as ann.smith%40example.org.
    if has_password or (kind == GIT and _is_token(user)):
        raise BadInput(
            "the address contains a password, and it would be stored in plain text",
            fix=_PASSWORDLESS[kind],
        )


def _percent_decode(name: str) -> str:
    # Without `re`: every hook with a remote reads its address.
    first, *others = name.split("%")
    return first + "".join(
        f"{chr(int(part[:2], 16))}{part[2:]}" if len(part) > 1 and _HEXADECIMAL.issuperset(part[:2]) else f"%{part}"
        for part in others
    )


def _has_port_or_none(host: str) -> bool:
    """True if a host such as `db:5432` or `[::1]:5432` has a numeric port, or none."""
    port = host.rpartition("]")[2].partition(":")[2]
    return not port or port.isdecimal()


def _is_token(user: str) -> bool:
    """True if the user name looks like an access token, which git hosts accept in its place."""
    return len(user) >= 20 and any(char.isdigit() for char in user) and any(char.isalpha() for char in user)


def parse_team_address(url: str) -> TeamAddress:
    """Return the database and the team of an address `postgresql://…#TEAM`. Raises BadInput."""
    database, _, team = url.partition("#")
    if address_kind(database) != POSTGRES:
        raise BadInput("this is not the address of a Postgres database", fix=f"give one {_TEAM_EXAMPLE}")
    refuse_team(team or DEFAULT_TEAM)
    return TeamAddress(database, team or DEFAULT_TEAM)


def refuse_team(name: str) -> None:
    """Raise BadInput for a name that no team can have."""
    if not _is_lower_case(name):
        reason = f"{name[:80]!r} is not a name of 1 to {MAX_NAME_LENGTH} letters, digits and hyphens"
        raise BadInput(reason, fix="choose one such as platform")
