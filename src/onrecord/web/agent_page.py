"""The texts that an agent is shown of a record, and for a prompt (`/agent`), with reasons. Neither counts as usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths, timestamps
from onrecord.capture import advice, similar
from onrecord.coldstart import NamedTuple
from onrecord.digest import digest, map_page
from onrecord.digest.selection import DigestCandidate
from onrecord.errors import OnrecordError, SecretFound
from onrecord.freshness import anchors
from onrecord.project import Project
from onrecord.recall import explanation, for_prompt, selection
from onrecord.recall.candidate import Candidate, render_block
from onrecord.recall.explanation import Explained
from onrecord.recall.for_prompt import Decision
from onrecord.record import memory, naming, rule_title, summary_line
from onrecord.record.memory import Memory
from onrecord.search import index, overview
from onrecord.search.rank import Match
from onrecord.store import record_names
from onrecord.store.store import Store
from onrecord.text import count_tokens, escape_line
from onrecord.web import view

_MAX_PROMPT_CHARS = 8_000
_MAX_CANDIDATES = 12


class CandidateView(NamedTuple):
    """A record that was considered for a prompt, the outcome (such as shown), and the reasons for it."""

    title: str
    category: str
    address: str
    score: str
    outcome: str
    reasons: tuple[str, ...]


class PromptPreview(NamedTuple):
    """The context that a prompt would get, and the reasons."""

    conclusion: str
    silence: str
    context: str
    """Exact text; empty if nothing would be shown."""
    thresholds: str
    candidates: tuple[CandidateView, ...]

    @property
    def cost(self) -> int:
        return count_tokens(self.context)


def show(request: Request) -> Response:
    project = view.site_of(request).project_for_search()
    project.require_a_store()
    # Browsers send line ends as CRLF.
    prompt = request.query_params.get("prompt", "").replace("\r\n", "\n")[:_MAX_PROMPT_CHARS]
    preview = _of_prompt(project, prompt) if prompt.strip() else None
    return view.page(request, "agent.html", title="What would my agent get?", prompt=prompt, preview=preview)


def _of_prompt(project: Project, prompt: str) -> PromptPreview:
    decision = for_prompt.preview(project.stores, prompt, project.settings, first=False)
    silence = explanation.silence(prompt, project.settings)
    return PromptPreview(
        explanation.conclusion(decision, is_silent=bool(silence)),
        silence,
        "" if silence else decision.text,
        explanation.thresholds(decision),
        tuple(_candidate(explained, decision) for explained in explanation.explained(decision)[:_MAX_CANDIDATES]),
    )


def _candidate(explained: Explained, decision: Decision) -> CandidateView:
    candidate, match = explained.candidate, explained.candidate.match
    caution = (candidate.caution,) if candidate.caution else ()
    return CandidateView(
        match.title,
        match.category,
        view.address_of(candidate.prefix + match.path),
        f"{match.probability:.2f}",
        explanation.outcome(candidate, decision),
        (*explained.reasons, *caution),
    )


class ShownText(NamedTuple):
    """A text that an agent gets, and when."""

    moment: str
    text: str

    @property
    def tokens(self) -> int:
        return count_tokens(self.text)


class SimilarTitle(NamedTuple):
    """A similar record, and whether it says nearly the same."""

    title: str
    address: str
    is_same: bool


class AgentPreview(NamedTuple):
    """The texts that an agent gets of a record, and what speaks against saving it as it is."""

    texts: tuple[ShownText, ...]
    refusals: tuple[str, ...] = ()
    """Why it cannot be saved."""
    advice: tuple[advice.Advice, ...] = ()
    similar: tuple[SimilarTitle, ...] = ()


def texts(project: Project, store_root: str, record: Memory, *, before: Memory | None = None) -> tuple[ShownText, ...]:
    """Return the texts that an agent gets of a record of a store; `before` is the one that it changes."""
    prefix = paths.prefix_of(store_root)
    marks = ", ".join(summary_line.marks(record))
    line = summary_line.render(record)
    match = Match(
        record.id, record.category, record.title, record.path, record.tags, record.record_status, record.updated_at,
        line, "", store_root, mark=marks,
    )  # fmt: skip
    candidate = Candidate(match, prefix)
    shared = paths.store_name(prefix) if paths.is_shared(prefix) else ""
    entry = DigestCandidate(
        record.path, record.category, record.title, line, prefix + record.path, not shared,
        shared=shared, line=rule_title.of_record(record), mark=marks,
        name=_name_in_map(project, record, before.id if before else ""),
    )  # fmt: skip
    return (
        ShownText("At the start of a session, in the map", escape_line(map_page.render_line(entry))),
        ShownText("At a prompt, a command or a file that it governs", render_block([candidate.item], prefix)),
        ShownText("Where it is only likely to be relevant", escape_line(selection.pointer(candidate))),
    )


def _name_in_map(project: Project, record: Memory, old_id: str) -> str:
    """Return the shortest name of a record that means no other one, as the map at the start of a session has it."""
    indexes = (index.open_file(store_ref.root) for store_ref in project.store_refs)
    others = [other for store_index in indexes for other in overview.neighbours(store_index, record.id, old_id)]
    others += [lesson.name for lesson in digest.lessons(project.root)]
    return record_names.beginning(record.id, others) or record_names.short_name(record.path)


def preview(project: Project, store: Store, name: str, record: Memory, *, before: Memory | None = None) -> AgentPreview:
    """Return the preview of a record that can be saved; `before` is the one that it changes.

    `name` is that of the store in addresses.
    """
    earlier = before.triggers if before else ()
    near = [match for match in similar.find(store, record, 4) if before is None or match.memory.id != before.id]
    return AgentPreview(
        texts(project, store.root, record, before=before),
        advice=tuple(advice.on(record, anchors.project_root(store.root), earlier_triggers=earlier)),
        similar=tuple(
            SimilarTitle(match.memory.title, view.address(name, match.entry.path), match.is_same) for match in near
        ),
    )


def partial_preview(
    project: Project,
    store: Store,
    category: str,
    fields: Mapping[str, Any],
    error: OnrecordError,
    *,
    before: Memory | None,
) -> AgentPreview:
    """Return the preview of a record that cannot be saved yet, with the reasons that an error has."""
    title = naming.clean_title(str(fields.get("title", "")))
    if isinstance(error, SecretFound):
        reasons: tuple[str, ...] = (f"{error.message}; {error.fix}",)
    else:
        flaws = error.field_errors or (("", error.message),)
        reasons = tuple(f"{_label(where)}{message}" for where, message in flaws)
    if not title:
        return AgentPreview((), reasons)
    start = before or Memory(category, naming.slug(title), title, {})
    content, triggers = fields.get("content", {}), tuple(fields.get("triggers", ()))
    record = start._replace(title=title, content=content, triggers=triggers, updated_at=timestamps.now())
    return AgentPreview(texts(project, store.root, record, before=before), reasons)


def _label(where: str) -> str:
    name = memory.without_positions(where).removeprefix("content.").replace("_", " ").replace(".", " ")
    return f"{name} " if name else ""


ROUTES = (Route("/agent", show),)
