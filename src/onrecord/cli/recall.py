"""`onrecord recall`: what an agent would be shown for a prompt."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onrecord import paths
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult
from onrecord.cli.terminal import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.hosts import table
from onrecord.paths import StoreRef
from onrecord.project import Project
from onrecord.recall import explanation, for_action, for_prompt
from onrecord.recall.for_prompt import Decision
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
    add_prompt(parser)


def add_prompt(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that describe a prompt."""
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument(
        "--command", dest="shell", metavar="LINE", default="", help="a shell command instead of a prompt"
    )
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, which is shown more")
    meaning = "the session so far, for a prompt that refers to it"
    parser.add_argument("--transcript", type=arguments.file, metavar="FILE", help=meaning)


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    only, warning = arguments.only_store(args, project)
    prompt = to_preview(" ".join(args.prompt), args.shell)._replace(is_first=args.first, transcript=args.transcript)
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
