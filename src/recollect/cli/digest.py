"""`recollect digest`: what a session that starts here would be shown, and why."""

from __future__ import annotations

import argparse
import os

from recollect import paths
from recollect.cli.output import Answer
from recollect.cli.terminal import clean
from recollect.digest import digest
from recollect.project import Project

NOTHING = "Nothing to show: clean main branch and no unfinished session."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--why", action="store_true", help="show for each entry why it was chosen")


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    store = "" if args.user else project.store.root
    made = digest.make(project.root, _existing(store), _existing(paths.user_store()), project.settings)
    page = made.render()
    data = digest.describe(made, page)
    warning = "; ".join(made.warnings)
    return Answer({**data, "text": page.text}, lambda _: _text(page.text, data if args.why else {}), warning=warning)


def _existing(root: str) -> str:
    return root if os.path.isdir(root) else ""


def _text(text: str, data: dict[str, object]) -> str:
    lines = text.split("\n") if text else [NOTHING]
    entries = data.get("entries")
    for entry in entries if isinstance(entries, list) else ():
        numbers = f"{entry['score']:.2f} = relevance {entry['relevance']:.2f}, prominence {entry['prominence']:.2f}"
        lines.append(clean(f"{entry['path']}  {numbers}  ({entry['reason']})"))
    return "\n".join(lines)
