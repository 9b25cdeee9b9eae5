"""`/agent`: what an agent would be shown for a prompt, and why. Nothing is counted as shown."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.coldstart import NamedTuple
from onrecord.project import Project
from onrecord.recall import explanation, for_prompt
from onrecord.recall.explanation import Explained
from onrecord.recall.for_prompt import Decision
from onrecord.text import tokens
from onrecord.web import view

_LONGEST = 8_000
"""Characters of a prompt."""

_MOST = 12


class Candidate(NamedTuple):
    """A candidate for a prompt, whether it is shown, and why."""

    title: str
    category: str
    address: str
    score: str
    outcome: str
    reasons: tuple[str, ...]


class Preview(NamedTuple):
    """What an agent would be shown for a prompt, and why."""

    conclusion: str
    silence: str
    context: str
    """Word for word; empty for nothing."""
    bars: str
    candidates: tuple[Candidate, ...]

    @property
    def cost(self) -> int:
        return tokens(self.context)


def ask(request: Request) -> Response:
    project = view.site_of(request).searched()
    warning = project.require_a_store()
    # A browser sends line ends as two characters, whatever was typed.
    prompt = request.query_params.get("prompt", "").replace("\r\n", "\n")[:_LONGEST]
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
        explanation.bars(decision),
        tuple(_candidate(each, decision) for each in explanation.explained(decision)[:_MOST]),
    )


def _candidate(explained: Explained, decision: Decision) -> Candidate:
    candidate, match = explained.candidate, explained.candidate.match
    caution = (candidate.caution,) if candidate.caution else ()
    return Candidate(
        match.title,
        match.category,
        view.address_of(candidate.source + match.path),
        f"{match.probability:.2f}",
        explanation.outcome(candidate, decision),
        (*explained.reasons, *caution),
    )


ROUTES = (Route("/agent", ask),)
