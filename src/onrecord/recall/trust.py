"""First trust: whether the user has accepted the records that came with a repository.

By default the host's own trust of a folder counts: a record has no more power than the repository's instruction file.
With the user's setting `trust.clones: ask`, agents are only pointed to the records of a repository until the user has
accepted it once. That is remembered in the user's own folder, by the identity of the repository.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.paths import StoreRef
    from onrecord.settings import Settings

SETTING, ASK = "trust.clones", "ask"
COMMAND = "onrecord trust"
NOTE = f"this repository's records are not accepted on this machine yet; the user can accept them: {COMMAND}"
_MAX_BYTES = 1_000_000
_KEY = "repositories"


def trusted_file() -> str:
    """Return the file with the repositories that the user has accepted."""
    return os.path.join(paths.user_store(), "trusted.json")


def identity(project: str) -> str:
    """Return the identity of the repository of a project: that of git's origin, else its folder."""
    from onrecord.git import repository
    from onrecord.recall import scope

    repo = repository.find(project)
    return (scope.identity(repo.origin) if repo else "") or os.path.realpath(repo.main_root if repo else project)


def accepted() -> dict[str, str]:
    """Return the accepted repositories, each with the time of the acceptance; none if the file cannot be read."""
    from onrecord.errors import OnrecordError

    try:
        return _read()
    except OnrecordError:
        return {}


def _read() -> dict[str, str]:
    """Return the accepted repositories. Raises Unwritable and BadInput: what is unread may not be written over."""
    from onrecord.errors import BadInput

    file = trusted_file()
    data = files.read_if_there(file, _MAX_BYTES)
    try:
        raw = coldstart.loads(data.decode()) if data else {_KEY: {}}
    except ValueError as error:
        raise BadInput(f"{file} is not JSON: {error}", fix=f"correct it, or delete it: rm {file}") from error
    by_identity = raw.get(_KEY) if isinstance(raw, dict) else None
    return {str(name): str(at) for name, at in by_identity.items()} if isinstance(by_identity, dict) else {}


def is_asked(settings: Settings) -> bool:
    """True if records of a repository wait for the user's acceptance."""
    return settings.text(SETTING) == ASK


def is_accepted(project: str, settings: Settings) -> bool:
    """True if agents may be shown the records of a project."""
    return not is_asked(settings) or not project or identity(project) in accepted()


def caution(store_root: str, settings: Settings) -> str:
    """Return the note on a store whose records wait for the user's acceptance; empty for any other store."""
    if not paths.is_project(paths.prefix_of(store_root)):
        return ""
    return "" if is_accepted(paths.project_of(store_root), settings) else NOTE


def accept(project: str) -> str:
    """Note that the user accepts the repository of a project, and return its identity."""
    from onrecord import timestamps

    name = identity(project)
    _write({**_read(), name: timestamps.now()})
    return name


def revoke(project: str) -> bool:
    """Forget that the user accepted the repository of a project; False if that was not so."""
    by_identity = _read()
    was_accepted = by_identity.pop(identity(project), None) is not None
    if was_accepted:
        _write(by_identity)
    return was_accepted


def marked(store_refs: Sequence[StoreRef], project: str, settings: Settings) -> list[StoreRef]:
    """Return the stores, those in the repository marked as not trusted if the user has yet to accept it."""
    if is_accepted(project, settings):
        return list(store_refs)
    return [ref._replace(is_trusted=False) if paths.is_project(ref.prefix) else ref for ref in store_refs]


def _write(repositories: dict[str, str]) -> None:
    import json

    file = trusted_file()
    text = json.dumps({_KEY: dict(sorted(repositories.items()))}, ensure_ascii=False, indent=2)
    files.write(file, (text + "\n").encode("utf-8"))
