"""The digest that was shown last, and why, as JSON in the state folder: to see why a record was shown."""

from __future__ import annotations

from onrecord import coldstart, timestamps
from onrecord.state_file import StateFile, state_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from onrecord.digest.digest import Digest, DigestPage

_MAX_FILES = 50
_MAX_BYTES = 1_000_000


def file() -> StateFile:
    """Return the path of the file."""
    return StateFile(state_path("last-digest.json"), _MAX_BYTES, "last digest", shrink=None)


def write(event: str, session: str, project: str, description: Mapping[str, object]) -> None:
    """Write what was shown."""
    data = {"at": timestamps.now(), "event": event, "session": session, "project": project, **description}
    file().replace(coldstart.dumps(data).encode("ascii") + b"\n")


def describe(digest: Digest, digest_page: DigestPage) -> dict[str, object]:
    """Return a digest as data: the work context, the settings that counted, and every entry with its numbers."""
    context = digest.context
    return {
        "relevance": digest.relevance,
        "weight": digest.weight,
        "query": context.query,
        "signals": {
            "feature": context.feature.slug if context.feature else None,
            "phase": context.feature.phase if context.feature else None,
            "branch": context.branch or None,
            "files": context.files[:_MAX_FILES],
            "subjects": list(context.changes.subjects) if context.changes.is_own else [],
            "notes": context.notes,
        },
        "entries": [
            {
                "path": pick.candidate.path,
                "category": pick.candidate.category,
                "title": pick.candidate.title,
                "score": round(pick.score, 4),
                "relevance": round(pick.relevance, 4),
                "prominence": round(pick.prominence, 4),
                "reason": pick.reason,
                "caution": pick.caution,
            }
            for pick in digest_page.picks
        ],
        "left_out": len(digest.picks) - len(digest_page.picks),
        "near": [{"path": pick.candidate.path, "relevance": round(pick.relevance, 4)} for pick in digest.near],
        "characters": len(digest_page.text),
        "warnings": list(digest.warnings),
    }


def explain(digest: Digest, digest_page: DigestPage) -> list[str]:
    """Return the same for people: the work context, why each entry is shown, and what was nearly shown."""
    context = digest.context
    lines = [
        f"branch: {context.branch or '(none)'}; changed files: {len(context.files)}; notes: {context.notes or '-'}"
    ]
    if digest.relevance == "active":
        lines.append(f"words of the work: {context.query or '(none)'}")
    else:
        lines.append("relevance is unknown or does not count: prominence alone decides")
    for pick in digest.picks:
        where = "shown" if pick in digest_page.picks else "no room"
        numbers = f"{pick.score:.2f} = relevance {pick.relevance:.2f}, prominence {pick.prominence:.2f}"
        lines.append(f"{where}: {pick.candidate.path}  {numbers}  ({pick.reason})")
    for pick in digest.near:
        lines.append(f"not shown: {pick.candidate.path}  relevance {pick.relevance:.2f}  (nothing else speaks for it)")
    return lines
