"""`python -m bench COMMAND`: measure, fit, and write the report. `python -m bench --help` lists the commands."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

COMMANDS = {
    "all": "every figure of docs/figures.md in one run, and the pages written again",
    "life": "what the hook shows in real projects on which nothing was fitted or chosen",
    "run": "ranking and injection figures of all systems on all sets",
    "fit": "fit the ranking and the relevance model and write the coefficients",
    "latency": "what a cold hook costs, against a bare interpreter",
    "cost": "tokens, CPU time and disk, on the records of real projects",
    "mcp": "what starting the MCP server costs, against a bare interpreter",
    "web": "what the pages of onrecord web cost the server, with 10,000 records and 20,000 files",
    "scale": "what commands and hooks cost in stores of up to 200,000 records",
    "clones": "what the first hooks cost in fresh clones, and when all their records are known",
    "hub": "search, pull and push in a Postgres hub of up to 1,000,000 records, and 50 clients at once",
    "stop": "what the end of a turn costs in which nothing is worth keeping",
    "judge": "what the LLM judge adds to the relevance model",
    "failures": "whether the right runbook is shown for a failing command",
    "actions": "whether the record that governs a command is shown before it is run",
    "corrections": "whether a prompt that corrects the agent brings the rule that was broken",
    "agents": "whether coding agents do what the records say, with and without them",
    "intent": "whether words of intent put the right record first",
    "first": "what is noticed in a first prompt, and how often an ordinary one sets it off",
    "similar": "whether records named as similar at a save are, and whether a search finds what is replaced",
    "banks": "whether lessons of knowledge banks that fit a feature come first",
    "titles": "whether an agent can act on the line that stands for a record",
    "lines": "the line that an agent is shown of every record of the sets, for a second reader",
    "capture": "how well triage finds what should outlive a session",
    "triage": "fit triage's weights, or check them on authors left out",
    "import": "whether decision records are read right, on those of public repositories",
    "improve": "what triggers by the recipe bring to records that have none",
    "mutants": "the share of small changes to the source that the tests notice",
    "words": "what the hook shows for words that people really typed, in projects left out of everything",
    "past": "what questions about the past are shown",
    "languages": "what questions in nine other languages find among English records",
    "nothing": "whether a search that nothing fits says so, and one that has an answer does not",
    "searches": "fit the probability that a record answers a search and write its weights",
    "package": "the size of the wheel, and how many lines and modules there are",
    "tags": "whether a word that a record has only in its tags reaches it, here and with the earlier plugin",
    "fuzz": "hostile projects, and the worst that they did",
    "faults": "faults at every file call of every command, and how many left half a change",
    "figures": "write docs/figures.md from the stored results",
    "report": "write the tables of docs/benchmarks.md from the stored results",
}


def _module(name: str) -> ModuleType:
    # A module cannot be called after a keyword, and should not be after a function that everybody knows.
    return importlib.import_module(f"bench.{name}_" if name in ("import", "all") else f"bench.{name}")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    command_typed = (argv if argv is not None else sys.argv[1:])[:1]
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if command_typed == [name]:
            _module(name).add_arguments(command)
    options = parser.parse_args(argv)
    return int(_module(options.command).run(options))


if __name__ == "__main__":
    raise SystemExit(main())
