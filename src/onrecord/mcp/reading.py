"""The tools that read: recall for a task, search, and show for one record. They change no record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from onrecord import attention, remedy, scopes, usage
from onrecord.attention import Need
from onrecord.coldstart import NamedTuple
from onrecord.digest import digest, map_page
from onrecord.digest.selection import DigestCandidate, Pick
from onrecord.errors import NotFound
from onrecord.freshness import anchors
from onrecord.mcp.tools import MAX_FILES, ToolResult
from onrecord.paths import PROJECT_PREFIX, prefix_of, store_flag, store_name
from onrecord.project import Found, Hit, Project
from onrecord.recall import explanation, for_file, for_prompt, selection, trust
from onrecord.recall.candidate import ASKED, Candidate, Cautions, count_shown, render_block
from onrecord.recall.for_prompt import Decision, Request
from onrecord.record import export, memory, validity
from onrecord.search import index, listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.settings import DIGEST_SWITCH, off_switches
from onrecord.store import record_names, reference
from onrecord.store.store import Entry, Store
from onrecord.text import AgentMarkup, element, fence, flat, join

_NEAREST = "Nearest, probably about something else:"

_MAX_RECENT = 8
"""Records that were changed last: about a week in a store that is in use."""

_MAX_NEEDS = 8

_GIT_SECONDS = 1.0
"""Time for git to say which files have changed."""

_HEAD = "\n".join(map_page.HEAD)

_HEAD_FOR_TOOLS = _HEAD.replace("onrecord show NAME …", "show with its name as id")


class _FileRecord(NamedTuple):
    """A record about a file."""

    candidate: Candidate
    file: str


def recall(project: Project, task: str, *, files: Sequence[str] = ()) -> ToolResult:
    """Return what hooks would show for a task as the first prompt of a session, and for `files`, without the judge."""
    note = project.require_a_store()
    silence = explanation.silence(task, project.settings)
    if silence:
        return ToolResult({"records": [], "note": silence}, f"Nothing is shown: {silence}.")
    decision = for_prompt.decide(project.stores_near(text=task), Request(task, is_first=True), project.settings)
    rules = {candidate.record for candidate in decision.rules}
    by_file = [about for about in _about_files(project, files) if about.candidate.record not in rules]
    count_shown([*decision.shown_candidates, *(about.candidate for about in by_file)], ASKED)
    records = [_shown(candidate, candidate.shown_form) for candidate in decision.shown_candidates]
    data = {"records": [*records, *({**_shown(about.candidate, "file"), "file": about.file} for about in by_file)]}
    block = render_block([about.candidate.item for about in by_file], PROJECT_PREFIX)
    text = join(decision.text, block) or "Nothing in the project memory is relevant enough to this to be shown."
    return ToolResult({**data, **_without_empty({"note": note})}, join(_with_calls(text, decision), note))


def _with_calls(text: str, decision: Decision) -> str:
    """Return a text for an agent without a command line: pointers name the call in place of the command."""
    if not decision.pointers:
        return text
    text = text.replace(selection.HEADING, "Possibly relevant; show gives the whole record:")
    for candidate in decision.pointers:
        name = record_names.short_name(candidate.match.path)
        prefix = "" if candidate.prefix == PROJECT_PREFIX else candidate.prefix
        command = f"onrecord show {store_flag(candidate.prefix)}{name}"
        text = text.replace(command, f'show with id "{prefix}{name}"')
    # The block was markup before; what is put into it names a record and nothing else.
    return AgentMarkup(text)


def _about_files(project: Project, files: Sequence[str]) -> list[_FileRecord]:
    """Return the records about `files` without duplicates."""
    if not project.settings.flag("retrieval.files"):
        return []
    by_record: dict[str, _FileRecord] = {}
    for file in files[:MAX_FILES]:
        for candidate in for_file.about(project.stores_near(files=[file]), project.root, file, project.settings):
            by_record.setdefault(candidate.record, _FileRecord(candidate, file))
    return list(by_record.values())


def _shown(candidate: Candidate, how: str) -> dict[str, Any]:
    match = candidate.match
    return {
        "id": match.id,
        "category": match.category,
        "title": match.title,
        "source": store_name(candidate.prefix),
        "path": candidate.prefix + match.path,
        "shown": how,
        "probability": round(match.probability, 4),
        **_without_empty({"caution": candidate.caution}),
    }


def search(
    project: Project,
    query: str,
    *,
    category: str = "",
    tags: Sequence[str] = (),
    limit: int = 10,
    include_retired: bool = False,
) -> ToolResult:
    """Return the records that match `query`, in all stores of the project."""
    note = join(project.require_a_store(), "" if category or tags else project.work_note(query))
    categories, lower_tags = [category] if category else [], [tag.lower() for tag in tags]
    hits = project.search(query, limit, categories=categories, tags=lower_tags, include_retired=include_retired)
    more = "" if include_retired else ", or include_retired for records that are no longer in use"
    nothing = "" if hits else hits.note_with(more)
    data = {"query": query, "results": [_hit(hit) for hit in hits], "nearest": [hit.id for hit in hits.nearest]}
    block = fence({"source": PROJECT_PREFIX}, map(_line, hits or hits.nearest)) if hits or hits.nearest else ""
    text = block if hits else join(join(nothing, _NEAREST if block else ""), block)
    is_accepted = all(hit.is_accepted for hit in hits or hits.nearest)
    note = join(note, "" if is_accepted else f"Caution: {trust.NOTE}.")
    notes = " ".join(filter(None, (nothing, note)))
    return ToolResult({**data, **_without_empty({"note": notes})}, join(text, note))


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in ("id", "category", "title", "source", "path", "status", "confidence")},
        "probability": round(hit.probability, 4),
        "updated_at": hit.updated_at,
        "snippet": hit.snippet(),
        **({"replaces": dict(zip(("id", "title", "since"), hit.via))} if hit.via else {}),
    }


def _line(hit: Hit) -> AgentMarkup:
    status = "" if hit.status == "active" else hit.status
    replaces = f" (replaces “{hit.via[1]}”)" if hit.via else ""
    attributes = {
        "category": hit.category,
        "status": status,
        "source": "" if hit.source in ("project", "user") else hit.source,
        "probability": f"{hit.probability:.2f}",
        "updated": hit.updated_at[:10],
        "path": hit.path,
    }
    elsewhere = f" (does not apply here: {hit.misfit})" if hit.misfit else ""
    mark = f"({hit.mark}) " if hit.mark else ""
    return element("result", attributes, f"{mark}{hit.title}{replaces}{elsewhere}: {hit.snippet()}")


def show(project: Project, id: str, *, more: Sequence[str] = ()) -> ToolResult:
    """Return records with all of their fields, and what to check before relying on them. Raises NotFound."""
    first, *others = [_shown_whole(project, name) for name in dict.fromkeys((id, *more[:MAX_FILES]))]
    text = first.text
    for other in others:
        text = join(text, other.text)
    return ToolResult({**first.data, **({"more": [other.data for other in others]} if others else {})}, text)


def _shown_whole(project: Project, name: str) -> ToolResult:
    """Return one record, or an entry of a knowledge bank."""
    record_ref = find(project, name)
    if record_ref.lesson:
        return _lesson(record_ref.lesson)
    store = Store(record_ref.root)
    entry = store.read(record_ref.path)
    usage.count_injected(store.root, [entry.path], ASKED)
    record = entry.memory
    caution = _caution(store, entry)
    hidden_by = _hidden_by(project, store, record.id)
    data = {
        "id": record.id,
        "category": record.category,
        "title": record.title,
        "status": _status(store, entry),
        "source": store_name(prefix_of(store.root)),
        "path": prefix_of(store.root) + entry.path,
        "updated_at": record.updated_at,
        "record": memory.to_json(record),
    }
    successor = validity.successor(record, store.records_named)
    optional = _without_empty({"superseded_by": successor, "hidden_by": hidden_by, "caution": caution})
    return ToolResult({**data, **optional}, _page(project, store, entry, hidden_by))


def _lesson(lesson: DigestCandidate) -> ToolResult:
    data = {
        "id": lesson.name,
        "category": lesson.category,
        "title": lesson.title,
        "status": "active",
        "path": lesson.path,
        "updated_at": lesson.updated,
        "record": {"text": lesson.text, "observations": lesson.observations, "confidence": lesson.confidence},
    }
    return ToolResult(data, fence({"source": lesson.path}, [lesson.text]))


def find(project: Project, name: str) -> Found:
    """Return what a name means: an id, a prefix or words of the id, a path, or an entry of a knowledge bank.

    Raises NotFound or Ambiguous.
    """
    refs = project.known_refs
    if not refs and not project.lessons_named(name):
        project.require_a_store()
    try:
        for root, prefix, *_ in refs:
            if prefix != PROJECT_PREFIX and name.startswith(prefix):
                return Found(root, listing.resolve(Store(root), name.removeprefix(prefix)))
        return project.find(name.removeprefix(PROJECT_PREFIX))
    except NotFound as error:
        raise NotFound(error.message, fix="call search for it") from error


def get_exactly(store: Store, name: str) -> Entry:
    """Return a record by its whole id or path. Raises NotFound, which names the nearest."""
    if not store.find_paths(name):
        failure = reference.not_found(store.root, name, list(record_names.paths(store.root)))
        raise NotFound(failure.message, fix="call search for it")
    return store.get(name)


def _page(project: Project, store: Store, entry: Entry, hidden_by: str) -> str:
    misfit = project.misfit(store, scopes.pack(entry.memory.scope))
    notes = [*_notes(store, entry, hidden_by), *([f"it does not apply here: {misfit}"] if misfit else [])]
    notes.append(trust.caution(store.root, project.settings))
    warnings = [f"Caution: {note}." for note in filter(None, notes)]
    return fence(
        {"source": prefix_of(store.root) + entry.path}, [*warnings, *export.record_page(entry.memory).split("\n")]
    )


def _notes(store: Store, entry: Entry, hidden_by: str) -> Iterator[str]:
    record = entry.memory
    if hidden_by:
        yield f"it does not hold in this project: {hidden_by} counts in its place; show that one"
    successor = validity.successor(record, store.records_named)
    if successor:
        yield f"it was replaced by {successor}; show that one"
    elif record.record_status != "active":
        reason = record.retired_reason or record.archived_reason
        yield f"it is {record.record_status}" + (f" ({reason})" if reason else "")
    elif not validity.is_current(record, store.records_named):
        yield "it says itself that it no longer holds"
    caution = _caution(store, entry)
    if caution:
        yield caution


def _hidden_by(project: Project, store: Store, record_id: str) -> str:
    return project.hidden(store, [record_id]).get(record_id, "")


def _caution(store: Store, entry: Entry) -> str:
    """Return the warning that files of a record have changed since it was saved, or an empty text."""
    root = anchors.project_root(store.root)
    indexed = anchors.dump(entry.memory) if root else ""
    return Cautions().check(store.root, prefix_of(store.root), indexed)[0]


def _status(store: Store, entry: Entry) -> str:
    return validity.status(entry.memory, store.records_named)


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    """Return `data` without empty texts."""
    return {key: value for key, value in data.items() if value != ""}


def overview(project: Project) -> ToolResult:
    """Return what a session with hooks is shown when it starts, what waits for the user, and the newest changes."""
    note = project.require_a_store()
    off = "; ".join(map(str, off_switches(project.settings, DIGEST_SWITCH)))
    page = digest.DigestPage("")
    if not off:
        page = digest.make(project.root, project.store_refs, project.settings).render()
    # The agent that asks is connected, by this server.
    needs = [need for need in attention.needs(project, patience=_GIT_SECONDS) if need.kind != attention.AGENT]
    needs = needs[:_MAX_NEEDS]
    recent = _recent(project)
    data = {
        "map": [_named(pick) for pick in page.lines],
        "unfinished": [_named(pick) for pick in page.above if digest.LEFT_OFF in pick.reason],
        "waiting": [{"title": need.title, "do": remedy.for_agent(need.command)} for need in needs],
        "recent": [_changed(record) for record in recent],
    }
    notes = " ".join(filter(None, (note, f"No map is shown: {off}." if off else "")))
    text: str = AgentMarkup(page.text.replace(_HEAD, _HEAD_FOR_TOOLS))
    for part in (_waiting_text(needs), _recent_text(recent), notes):
        text = join(text, part)
    return ToolResult({**data, **({"note": notes} if notes else {})}, text or "Nothing is on record here yet.")


def _named(pick: Pick) -> dict[str, Any]:
    entry = pick.candidate
    return {"id": entry.name, "category": entry.category, "title": entry.line or entry.title}


def _recent(project: Project) -> list[Listed]:
    """Return the records of the project's own store that were changed last."""
    roots = [store_ref.root for store_ref in project.store_refs if store_ref.prefix == PROJECT_PREFIX]
    choice = ListingFilter(order="updated")
    return [record for root in roots for record in listing.read(index.open(root), choice, _MAX_RECENT)[0]]


def _changed(listed: Listed) -> dict[str, Any]:
    return {name: getattr(listed, name) for name in ("id", "category", "title", "status", "updated_at")}


def _waiting_text(needs: Sequence[Need]) -> str:
    # In a fence: a title may quote what a repository has set.
    lines = [element("need", {"do": remedy.for_agent(need.command)}, flat(need.title)) for need in needs]
    return fence({"source": PROJECT_PREFIX, "kind": "waits for the user"}, lines) if lines else ""


def _recent_text(recent: Sequence[Listed]) -> str:
    lines = [
        element(
            "result",
            {
                "category": record.category,
                "status": "" if record.status == "active" else record.status,
                "updated": record.updated_at[:10],
                "path": PROJECT_PREFIX + record.path,
            },
            record.title,
        )
        for record in recent
    ]
    return fence({"source": PROJECT_PREFIX, "kind": "changed last"}, lines) if lines else ""
