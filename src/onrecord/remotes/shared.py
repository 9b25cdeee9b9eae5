"""Which shared stores are read in a project: those that are connected, or those of them that its settings name."""

from __future__ import annotations

import os

from onrecord import paths
from onrecord.remotes import remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.paths import StorePlace
    from onrecord.settings import Settings


def replicas(project: str) -> list[StorePlace]:
    """The replicas of the connected shared stores, by name; for hooks, so that nothing raises here."""
    if not os.path.exists(paths.remotes_file()) or remote.is_planted(project):
        return []
    places = [paths.replica(each.name) for each in remote.usable()]
    return [place for place in places if os.path.isdir(place.root)]


def chosen(places: Sequence[StorePlace], settings: Settings) -> list[StorePlace]:
    """Those of them that the settings want here: all unless some are named."""
    names = settings.names("remotes")
    return [place for place in places if not names or paths.store_name(place.source) in names]


def missing(settings: Settings) -> list[str]:
    """The names in the settings that could be remotes and are not connected."""
    names = {each.name for each in remote.connected()}
    return [name for name in settings.names("remotes") if remote.is_name(name) and name not in names]


def wish(name: str) -> str:
    """What to say of a remote that a project asks for and that is not connected."""
    return f"this project asks for {name}, which you have not connected: `onrecord remote add {name} URL`"
