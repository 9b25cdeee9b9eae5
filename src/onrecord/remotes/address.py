"""The address of a shared store: which kind it is, and why one is refused.

An address is the user's own, but it is copied from pages and chats. So none may run a program, look like an option or
carry a password: it is stored in a file and shown by commands.
"""

from __future__ import annotations

import os

from onrecord.errors import BadInput

GIT = "git"
POSTGRES = "postgres"
LONGEST = 2_000
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


def absolute(url: str) -> str:
    """The same address from wherever it is used: a relative path gets the current folder in front of it."""
    is_path = url.startswith((".", "~")) or ("/" in url and ":" not in url)
    return os.path.abspath(os.path.expanduser(url)) if is_path else url


def kind(url: str) -> str:
    """`git` or `postgres`; BadInput for an address that is neither, or not safe to use."""
    if not url or len(url) > LONGEST or url != url.strip() or not url.isprintable():
        raise BadInput(f"an address has 1 to {LONGEST} printable characters", fix=f"give one {_EXAMPLES}")
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
    chosen = GIT if scheme in _GIT_SCHEMES else POSTGRES if scheme in _POSTGRES_SCHEMES else ""
    if not chosen:
        raise BadInput(f"{scheme[:40]!r} is no kind of address for a shared store", fix=f"give one {_EXAMPLES}")
    _refuse_options(rest)
    _refuse_password(chosen, rest)
    return chosen


def _kind_of_path(url: str) -> str:
    """An absolute path, or git's short form `user@host:path`."""
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
    """BadInput for a user or host that a program such as ssh would take for an option."""
    place = rest.split("/", 1)[0]
    if any(part.startswith("-") for part in place.split("@")):
        raise BadInput("a host must not begin with a hyphen: programs would take it for an option", fix=_EXAMPLES)


def _refuse_password(chosen: str, rest: str) -> None:
    """BadInput for an address with a password or a token in it."""
    # libpq lets a user and a password have a question mark in them, and decodes and strips the names of parameters.
    user, _, hosts = rest.split("/", 1)[0].rpartition("@")
    hosts = hosts.partition("?")[0]
    names = [part.partition("=")[0] for part in rest.replace("?", "&").split("&")[1:]]
    parameters = [_decoded(name).strip().lower() for name in names]
    has_password = ":" in user or any(name in _SECRET_PARAMETERS for name in parameters)
    # A password with a slash or a hash in it looks like a port up to there.
    has_password = has_password or not all(map(_has_port_or_none, hosts.split(",")))
    # Logins of managed databases are long and have digits, such as ann.smith%40example.org.
    if has_password or (chosen == GIT and _is_token(user)):
        raise BadInput("the address holds a password, and it is stored and shown as it is", fix=_PASSWORDLESS[chosen])


def _decoded(name: str) -> str:
    """A name without percent-encoding."""
    # Without `re`: every hook beside a remote reads its address.
    first, *others = name.split("%")
    return first + "".join(
        f"{chr(int(part[:2], 16))}{part[2:]}" if len(part) > 1 and _HEXADECIMAL.issuperset(part[:2]) else f"%{part}"
        for part in others
    )


def _has_port_or_none(host: str) -> bool:
    """Whether what follows the colon of a host, such as `db:5432` or `[::1]:5432`, is a number or nothing."""
    port = host.rpartition("]")[2].partition(":")[2]
    return not port or port.isdecimal()


def _is_token(user: str) -> bool:
    """Whether the name in front of a host is rather a key: hosts of git take a token in its place."""
    return len(user) >= 20 and any(char.isdigit() for char in user) and any(char.isalpha() for char in user)
