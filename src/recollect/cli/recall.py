"""`recollect recall`: byte for byte what a prompt would bring up, and what that costs."""

from __future__ import annotations

import argparse

from recollect.cli.output import Answer
from recollect.project import Hit, Project
from recollect.recall import for_prompt
from recollect.recall.for_prompt import Found
from recollect.text import tokens

_SILENCE = "nothing is relevant enough: the agent would be told nothing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="+", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, which is told more")
    parser.add_argument(
        "--transcript", metavar="FILE", default="", help="the session so far, for a prompt that refers to it"
    )


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    prompt = " ".join(args.prompt)
    text, found = "", list[Found]()
    off = for_prompt.turned_off(project.settings)
    if not off:
        text, found = for_prompt.preview(
            project.stores, prompt, project.settings, first=args.first, transcript_path=args.transcript
        )
    cost = tokens(text)
    hits = [Hit(one) for one in found]
    data = {
        "prompt": prompt,
        "context": text,
        "tokens": cost,
        "memories": [{"id": hit.id, "path": hit.path, "probability": round(hit.probability, 4)} for hit in hits],
    }
    silence = f"{off}, so the agent is told nothing" if off else _SILENCE
    return Answer(data, lambda _: text, note=f"(about {cost} tokens)" if text else f"({silence})")
