"""`onrecord why`: the candidates for a prompt, and the reasons; `onrecord recall`: the text that an agent would get."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onrecord import paths, timestamps
from onrecord.cli import arguments, record_table
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.cli.record_table import ListedPath
from onrecord.cli.terminal import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.hosts import table
from onrecord.paths import StoreRef
from onrecord.project import Project
from onrecord.recall import explanation, for_action, for_prompt, judge
from onrecord.recall.explanation import Explained
from onrecord.recall.for_prompt import Decision
from onrecord.search.rank import Match
from onrecord.session.action import of_command
from onrecord.settings import COMMAND_SWITCHES, PROMPT_SWITCHES, Settings
from onrecord.text import count_tokens

if TYPE_CHECKING:
    from onrecord.recall.candidate import Candidate
    from onrecord.recall.for_prompt import Judge


class PromptToPreview(NamedTuple):
    """A prompt, whether it is the first of its session, and the file of the session so far."""

    text: str
    is_first: bool = False
    transcript: str = ""
    is_command: bool = False
    """True if it is no prompt but a shell command that the agent is about to run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument(
        "--command", dest="shell", metavar="LINE", default="", help="a shell command instead of a prompt"
    )
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, which is shown more")
    meaning = "the session so far, for a prompt that refers to it"
    parser.add_argument("--transcript", type=arguments.file, metavar="FILE", help=meaning)
    if parser.get_default("command") == "why":
        parser.add_argument("--judge", action="store_true", help="ask the configured model too, and show its verdicts")


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    only, warning = arguments.only_store(args, project)
    prompt = to_preview(" ".join(args.prompt), args.shell)._replace(is_first=args.first, transcript=args.transcript)
    if args.command == "why":
        return _why(project, only, prompt, asks_judge=args.judge, saves_listing=not args.json).warned(warning)
    with Progress("searching"):
        return _recall(project, only, prompt).warned(warning)


def to_preview(prompt: str, shell_line: str) -> PromptToPreview:
    """Return what was typed, a prompt or a shell command. Raises BadInput unless it is one of them."""
    if bool(prompt) == bool(shell_line):
        raise BadInput(
            "a prompt or a command is needed, and not both", fix='onrecord why --command "npm install lodash"'
        )
    return PromptToPreview(shell_line or prompt, is_command=bool(shell_line))


def _recall(project: Project, only: StoreRef | None, prompt: PromptToPreview) -> CommandResult:
    """Show byte for byte what an agent would be shown for `prompt`, and its size in tokens."""
    decision = decide(project, only, prompt)
    silence = silence_of(prompt, project.settings)
    text = "" if silence else decision.text
    cost = count_tokens(text)
    data = {
        "command" if prompt.is_command else "prompt": prompt.text,
        "context": text,
        "tokens": cost,
        "memories": [
            {
                "id": candidate.match.id,
                "source": paths.store_name(candidate.prefix),
                "path": candidate.prefix + candidate.match.path,
                "probability": round(candidate.match.probability, 4),
                "shown": candidate.shown_form,
            }
            for candidate in decision.shown_candidates
            if text
        ],
    }
    note = f"about {cost} tokens" if text else silence or "nothing is relevant enough to be shown"
    return CommandResult(data, lambda _: text, note=f"({note})")


def decide(
    project: Project,
    only: StoreRef | None,
    prompt: PromptToPreview,
    judge: Judge | None = None,
    *,
    is_lenient: bool = False,
) -> Decision:
    """Return the hook's decision for `prompt`; with `only`, the decision if that were the only store.

    With `is_lenient`, records that do not apply here are candidates, too.
    """
    action = of_command(prompt.text, project.root, project.root) if prompt.is_command else None
    files = action.files if action else ()
    stores = project.stores_near(text=prompt.text, files=files, is_lenient=is_lenient)
    if only:
        stores = project.stores_for(only)
    if action:
        return for_action.preview(stores, action, project.settings)
    session = table.transcript_at(prompt.transcript)
    first, settings = prompt.is_first, project.settings
    return for_prompt.preview(stores, prompt.text, settings, first=first, transcript=session, judge=judge)


def out_of_scope(project: Project, prompt: PromptToPreview) -> list[Candidate]:
    """Return the records that would be shown for `prompt` if they applied here, each with the reason as its outcome."""
    decision = decide(project, None, prompt, is_lenient=True)
    return [
        candidate._replace(form="", outcome=f"out of scope: {misfit}")
        for candidate in decision.candidates
        if candidate.match.probability >= min(decision.thresholds)
        and (misfit := project.stores.misfit(StoreRef(candidate.match.root, candidate.prefix), candidate.match.scope))
    ]


def silence_of(prompt: PromptToPreview, settings: Settings) -> str:
    """Return why a hook would show nothing, whatever is on file; empty if it would search."""
    return explanation.silence(prompt.text, settings, COMMAND_SWITCHES if prompt.is_command else PROMPT_SWITCHES)


class _Judge:
    """A judge for recall that asks the configured model, and keeps its verdicts and errors."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.verdicts: dict[int, str] = {}
        self.failures: list[str] = []

    def __call__(self, prompt: str, matches: list[Match], turns: Sequence[str]) -> Sequence[bool | None]:
        opinion = judge.form_opinion(prompt, matches, turns, self._settings)
        self.verdicts = {id(match): verdict for match, verdict in zip(matches, opinion.outcomes)}
        self.failures = [failure.message for failure in opinion.failures]
        return opinion.verdicts


def _why(
    project: Project, only: StoreRef | None, prompt: PromptToPreview, *, asks_judge: bool, saves_listing: bool
) -> CommandResult:
    """List the candidates for `prompt`, whether an agent would be shown them, and the reasons."""
    model = _Judge(project.settings) if asks_judge else None
    with Progress("asking the model" if model else "searching"):
        decision = decide(project, only, prompt, model)
        if not only:
            candidates = (*decision.candidates, *out_of_scope(project, prompt))
            decision = decision._replace(candidates=candidates)
        explained = explanation.explained(decision, model.verdicts if model else {})
    data = {
        "command" if prompt.is_command else "prompt": prompt.text,
        "threshold": round(decision.thresholds.rule, 4),
        "pointer_threshold": round(decision.thresholds.pointer, 4) if decision.thresholds.has_pointers else None,
        "about_the_past": decision.is_past,
        "about_the_work": decision.work,
        "borrowed": decision.borrowed,
        "candidates": [_to_json(candidate) for candidate in explained],
    }
    silence = silence_of(prompt, project.settings)
    if saves_listing:
        record_table.save_listing(_listed(explained))
    result = CommandResult(data, lambda screen: _text(screen, decision, explained, is_silent=bool(silence)))
    return result.warned(silence, *(model.failures if model else ()))


def _listed(explained: Sequence[Explained]) -> list[ListedPath]:
    return [ListedPath(paths.working_root(item.candidate.match.root), item.candidate.match.path) for item in explained]


def _to_json(explained: Explained) -> dict[str, Any]:
    candidate, match = explained.candidate, explained.candidate.match
    return {
        "id": match.id,
        "category": match.category,
        "source": paths.store_name(candidate.prefix),
        "path": candidate.prefix + match.path,
        "probability": round(match.probability, 4),
        "score": round(match.score, 4),
        "confidence": match.confidence,
        "shown": candidate.shown_form,
        "verdict": f"{candidate.outcome}; judge: {explained.verdict}" if explained.verdict else candidate.outcome,
        "reasons": explained.reasons,
        "caution": candidate.caution,
        "replaces": match.via[0] if match.via else None,
        "features": {name: round(value, 4) for name, value in match.features.items()},
    }


def _text(screen: Screen, decision: Decision, explained: Sequence[Explained], *, is_silent: bool) -> str:
    lines = [wrap(clean(explanation.thresholds(decision)), screen.width)]
    if decision.borrowed:
        lines.append(wrap(clean(explanation.borrowed_words(decision)), screen.width))
    if not explained and not decision.work:
        lines.append("No record matches this prompt, by its words or by its meaning.")
    names = record_table.names(_listed(explained)) if screen.is_terminal else []
    for number, item in enumerate(explained, 1):
        lines += ["", *(_head(screen, item, decision, number, names[number - 1]) if names else _row(item, decision))]
        lines += _reasons(screen, item)
    return "\n".join([*lines, "", explanation.conclusion(decision, is_silent=is_silent)])


def _row(explained: Explained, decision: Decision) -> list[str]:
    match = explained.candidate.match
    outcome = explanation.outcome(explained.candidate, decision)
    source = explained.candidate.prefix if paths.is_shared(explained.candidate.prefix) else ""
    return [f"{match.probability:.2f}  {outcome}  {match.category}  {source}{clean(match.id)}"]


def _head(screen: Screen, explained: Explained, decision: Decision, number: int, name: str) -> list[str]:
    candidate, match = explained.candidate, explained.candidate.match
    outcome = f"{match.probability:.2f} {explanation.outcome(candidate, decision)}"
    painted = screen.paint(outcome, "green" if candidate.shown_form else "dim")
    return [
        record_table.head(screen, number, match.title),
        record_table.facts(match.category, timestamps.age(match.updated_at), name, painted),
    ]


def _reasons(screen: Screen, explained: Explained) -> list[str]:
    candidate = explained.candidate
    lines: list[str] = []
    verdict = [f"judge: {explained.verdict}"] if explained.verdict else []
    for reason in (*verdict, *explained.reasons, *([candidate.caution] if candidate.caution else [])):
        first, *rest = wrap(clean(reason), screen.width - 8).split("\n")
        lines += [f"      - {first}", *(f"        {line}" for line in rest)]
    return lines
