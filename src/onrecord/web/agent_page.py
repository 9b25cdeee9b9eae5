"""`/agent`: a preview of the context that a prompt would get, with reasons. A preview does not count as usage."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.coldstart import NamedTuple
from onrecord.project import Project
from onrecord.recall import explanation, for_prompt
from onrecord.recall.explanation import Explained
from onrecord.recall.for_prompt import Decision
from onrecord.text import count_tokens
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


class Preview(NamedTuple):
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
    warning = project.require_a_store()
    # Browsers send line ends as CRLF.
    prompt = request.query_params.get("prompt", "").replace("\r\n", "\n")[:_MAX_PROMPT_CHARS]
    preview = _preview(project, prompt) if prompt.strip() else None
    return view.page(
        request, "agent.html", title="What would my agent get?", prompt=prompt, warning=warning, preview=preview
    )


def _preview(project: Project, prompt: str) -> Preview:
    decision = for_prompt.preview(project.stores, prompt, project.settings, first=False)
    silence = explanation.silence(prompt, project.settings)
    return Preview(
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


ROUTES = (Route("/agent", show),)
