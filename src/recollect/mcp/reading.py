"""The tools that read: what matters for a task, what a search finds, one record whole. They write nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.errors import NotFound
from recollect.freshness import anchors
from recollect.mcp.tool_table import Outcome
from recollect.paths import PROJECT_SOURCE, USER_SOURCE
from recollect.project import Hit, Project
from recollect.recall import explanation, for_prompt
from recollect.recall.cautions import Cautions
from recollect.recall.context_block import Candidate
from recollect.recall.for_prompt import Request
from recollect.record import export, memory
from recollect.store.store import Entry, Store
from recollect.text import Block, element, fence, joined


def recall(project: Project, task: str) -> Outcome:
    """What a hook would show for a task, as for the first prompt of a session; no model is asked."""
    note = project.require_a_store()
    silence = explanation.silence(task, project.settings)
    if silence:
        return Outcome({"records": [], "note": silence}, f"Nothing is shown: {silence}.")
    decision = for_prompt.decide(project.stores, Request(task, is_first=True), project.settings)
    data = {"records": [_shown(candidate) for candidate in decision.shown], "note": note}
    text = decision.text or "Nothing in the project memory is relevant enough to this task to be shown."
    return Outcome(_filled(data), joined(text, note))


def _shown(candidate: Candidate) -> dict[str, Any]:
    match = candidate.match
    return _filled(
        {
            "id": match.id,
            "category": match.category,
            "title": match.title,
            "path": candidate.source + match.path,
            "shown": candidate.shown,
            "probability": round(match.probability, 4),
            "caution": candidate.caution,
        }
    )


def search(
    project: Project,
    query: str,
    *,
    category: str = "",
    tags: Sequence[str] = (),
    limit: int = 10,
    include_retired: bool = False,
) -> Outcome:
    """The records that answer a question, in the project's store and in the user's own."""
    note = project.require_a_store()
    wanted = {"categories": [category] if category else [], "tags": [tag.lower() for tag in tags]}
    hits = project.search(query, limit, include_retired=include_retired, **wanted)
    data = _filled({"query": query, "results": [_hit(hit) for hit in hits], "note": note})
    nothing = "Nothing found. Other words may help, or include_retired for what no longer holds."
    text = fence({"source": PROJECT_SOURCE}, map(_line, hits)) if hits else nothing
    return Outcome(data, joined(text, note))


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in ("id", "category", "title", "path", "status", "confidence")},
        "probability": round(hit.probability, 4),
        "updated_at": hit.updated_at,
        "snippet": hit.snippet(),
        **({"replaces": dict(zip(("id", "title", "since"), hit.via))} if hit.via else {}),
    }


def _line(hit: Hit) -> Block:
    status = "" if hit.status == "active" else hit.status
    replaces = f" (replaces “{hit.via[1]}”)" if hit.via else ""
    about = {
        "category": hit.category,
        "status": status,
        "probability": f"{hit.probability:.2f}",
        "updated": hit.updated_at[:10],
        "path": hit.path,
    }
    return element("result", about, f"{hit.title}{replaces}: {hit.snippet()}")


def show(project: Project, id: str) -> Outcome:
    """One record with all of its fields, and what to check before relying on it."""
    store, entry = find(project, id)
    record = entry.memory
    caution = _caution(store, entry)
    data = {
        "id": record.id,
        "category": record.category,
        "title": record.title,
        "status": _status(entry),
        "path": source_of(store) + entry.path,
        "updated_at": record.updated_at,
        "superseded_by": record.superseded_by,
        "caution": caution,
        "record": memory.to_json(record),
    }
    return Outcome(_filled(data), page(store, entry))


def find(project: Project, reference: str) -> tuple[Store, Entry]:
    """A record of the project by its id or path, or else of the user's own store."""
    own = reference[len(USER_SOURCE) :] if reference.startswith(USER_SOURCE) else ""
    project.require_a_store()
    if not own and project.store.exists:
        try:
            return project.store, project.store.get(reference)
        except NotFound:
            if not project.user.exists:
                raise
    try:
        return project.user, project.user.get(own or reference)
    except NotFound as error:
        raise NotFound(f"no record {reference[:80]!r}", fix="call search for it") from error


def source_of(store: Store) -> str:
    """How the paths of a store's records begin where an agent sees them."""
    return PROJECT_SOURCE if anchors.root_of(store.root) else USER_SOURCE


def page(store: Store, entry: Entry) -> str:
    """A record as an agent reads it: marked as data, with what to check first."""
    warnings = [f"Caution: {note}." for note in _notes(store, entry)]
    return fence({"source": source_of(store) + entry.path}, [*warnings, *export.page(entry.memory).split("\n")])


def _notes(store: Store, entry: Entry) -> Iterator[str]:
    record = entry.memory
    if record.superseded_by:
        yield f"it was replaced by {record.superseded_by}; show that one"
    elif record.record_status != "active":
        reason = record.retired_reason or record.archived_reason
        yield f"it is {record.record_status}" + (f" ({reason})" if reason else "")
    caution = _caution(store, entry)
    if caution:
        yield caution


def _caution(store: Store, entry: Entry) -> str:
    """What to say where the files of a record have changed since it was saved."""
    root = anchors.root_of(store.root)
    indexed = anchors.compact(entry.memory) if root else ""
    return Cautions().check(store.root, source_of(store), indexed)[0]


def _status(entry: Entry) -> str:
    record = entry.memory
    return "superseded" if record.superseded_by and record.record_status == "active" else record.record_status


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    """The same without texts that say nothing."""
    return {key: value for key, value in data.items() if value != ""}
