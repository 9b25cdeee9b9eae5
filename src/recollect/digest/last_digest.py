"""What was last put before an agent and why: `last-injection.json` in the state folder, for `stats` and `doctor`."""

from __future__ import annotations

import os

from recollect import coldstart, failure_log, paths, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.digest.digest import Digest
    from recollect.digest.render import Page

MOST_FILES = 50


def file() -> str:
    return os.path.join(paths.state_dir(), "last-injection.json")


def describe(digest: Digest, page: Page) -> dict[str, object]:
    """A digest as data: the signals, the settings that counted, and every entry with its numbers."""
    seen = digest.signals
    return {
        "relevance": digest.relevance,
        "weight": digest.weight,
        "query": digest.query,
        "signals": {
            "feature": seen.feature.slug if seen.feature else None,
            "phase": seen.feature.phase if seen.feature else None,
            "branch": seen.branch or None,
            "files": seen.files[:MOST_FILES],
            "notes": seen.notes,
        },
        "entries": [
            {
                "path": pick.candidate.path,
                "category": pick.candidate.category,
                "title": pick.candidate.title,
                "score": round(pick.score, 4),
                "relevance": round(pick.relevance, 4),
                "prominence": round(pick.prominence, 4),
                "reason": pick.reason or ("relevance and prominence" if pick.relevance else "prominence"),
                "in_full": pick in page.full,
            }
            for pick in page.shown
        ],
        "more": page.more,
        "characters": len(page.text),
        "warnings": digest.warnings,
    }


def note(moment_of: str, session: str, project: str, told: Mapping[str, object]) -> None:
    """Write down what was shown; a disk that refuses is traced, for the session matters more."""
    data = to_json({"at": timestamps.now(), "event": moment_of, "session": session, "project": project, **told})
    temporary = f"{file()}.{os.getpid()}"
    try:
        os.makedirs(paths.state_dir(), mode=0o700, exist_ok=True)
        with open(temporary, "wb") as handle:
            handle.write(data.encode("ascii") + b"\n")
        os.replace(temporary, file())
    except OSError as error:
        failure_log.leave("last injection", f"cannot write {file()}: {error}")


def to_json(value: object) -> str:
    """A value as JSON; the package `json` would cost a hook as much as starting Python."""
    if isinstance(value, str):
        return coldstart.dumps(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{" + ",".join(f"{coldstart.dumps(str(key))}:{to_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(to_json, value)) + "]"
    return repr(value)
