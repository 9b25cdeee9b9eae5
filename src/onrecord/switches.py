"""What is switched off, by which setting, and how it is switched on again."""

from __future__ import annotations

import os
from collections.abc import Iterator

from onrecord import paths
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.settings import Settings

EVERYTHING = "ONRECORD_OFF"
PROMPTS = ("retrieval.enabled", "retrieval.max_inject")
DIGEST, CAPTURE = "session_start.enabled", "capture.mode"

_CONSEQUENCES: dict[str, str] = {
    "retrieval.enabled": "no record is shown at prompts, files and failed commands",
    "retrieval.max_inject": "no record is shown at prompts",
    "retrieval.files": "no record is shown when a file is read or edited",
    "retrieval.failures": "no runbook is shown for a failed command",
    DIGEST: "a session starts without a digest",
    CAPTURE: "sessions suggest nothing to save",
    **{f"categories.{name}.enabled": f"records of {name} are not shown" for name in CATEGORIES},
}
_OFF = (False, 0, "off")


class Off(NamedTuple):
    """A switch that is off: where it is set, what follows from that, and the command that switches it on."""

    key: str
    value: str
    file: str
    consequence: str
    fix: str

    def __str__(self) -> str:
        return f"{self.key} is {self.value}, so {self.consequence}"


def off(settings: Settings, *keys: str) -> Iterator[Off]:
    """The switches that are off, of these or of all."""
    if os.environ.get(EVERYTHING):
        yield Off(EVERYTHING, "set", "the environment", "hooks do nothing", f"unset {EVERYTHING}")
    for key in keys or _CONSEQUENCES:
        if settings.is_set(key) and settings.value(key) in _OFF:
            file = settings.origins[key]
            flag = " --user" if file == os.path.join(paths.user_store(), paths.CONFIG) else ""
            value = str(settings.value(key)).lower()
            yield Off(key, value, file, _CONSEQUENCES[key], f"onrecord config unset {key}{flag}")
