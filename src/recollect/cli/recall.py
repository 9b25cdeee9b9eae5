"""`recollect recall`: byte for byte what a prompt would bring up, and what that costs."""

from __future__ import annotations

import argparse

from recollect.cli.output import Answer
from recollect.project import Project
from recollect.recall import for_prompt
from recollect.text import tokens


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="+", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, which is shown more")
    parser.add_argument(
        "--transcript", metavar="FILE", default="", help="the session so far, for a prompt that refers to it"
    )


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    prompt = " ".join(args.prompt)
    decision = for_prompt.preview(
        project.stores, prompt, project.settings, first=args.first, transcript_path=args.transcript
    )
    cost = tokens(decision.text)
    data = {
        "prompt": prompt,
        "context": decision.text,
        "tokens": cost,
        "memories": [
            {
                "id": candidate.match.id,
                "path": candidate.source + candidate.match.path,
                "probability": round(candidate.match.probability, 4),
                "shown": candidate.shown,
            }
            for candidate in decision.shown
        ],
    }
    off = for_prompt.turned_off(project.settings)
    silence = f"{off}, so the agent is shown nothing" if off else "nothing is relevant enough to be shown"
    return Answer(data, lambda _: decision.text, note=f"(about {cost} tokens)" if decision.text else f"({silence})")
