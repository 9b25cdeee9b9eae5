"""The command line: `main` finds the command, loads its module alone, and prints what it answers.

A command module has `add_arguments(parser)` and `run(args) -> Answer`; where it holds several commands,
`args.command` is the name of the one that runs.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Sequence

from recollect import __version__
from recollect.cli import fixes
from recollect.cli.output import Answer, emit, emit_error
from recollect.coldstart import NamedTuple
from recollect.errors import RecollectError


class Command(NamedTuple):
    """A command: the module that holds it (empty: this one), and what it does in one line."""

    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "init": Command("upkeep", "Make a memory for this project, with the files git needs for it."),
    "save": Command("save", "Save a new record."),
    "inbox": Command("review", "List the drafts that wait for review."),
    "review": Command("review", "Walk through the drafts: accept, edit, merge, reject or skip each."),
    "show": Command("show", "Show one record."),
    "list": Command("show", "List records."),
    "search": Command("recall", "Find the records that answer a question."),
    "recall": Command("recall", "Show what the agent would get for a prompt, byte for byte."),
    "why": Command("why", "Explain which records a prompt brings up, and why others stay out."),
    "update": Command("edit", "Change fields of a record."),
    "edit": Command("edit", "Change a record in your editor."),
    "retire": Command("status", "Take a record out of use; `gc` deletes it after the grace period."),
    "restore": Command("status", "Bring a retired record back."),
    "archive": Command("status", "Put a record away for good, without deleting it."),
    "unarchive": Command("status", "Bring an archived record back."),
    "supersede": Command("status", "Replace a record by another."),
    "log": Command("log", "List what was changed in a store on this machine: when, what, by whom."),
    "undo": Command("log", "Take the last change to a store back, an import or a review included."),
    "freshness": Command("freshness", "Show which records are about files that have changed since."),
    "reanchor": Command("freshness", "Confirm that records hold for their files as they are now."),
    "audit": Command(
        "audit", "Measure rot: duplicates, contradictions, outdated records, secrets, junk; here or in other stores."
    ),
    "improve": Command("improve", "List the records that will be hard to find, why, and what to do about each."),
    "stats": Command("stats", "Show what agents were shown and how much of it they used."),
    "import": Command("import_", "Draft records from decision records and from what other tools remember."),
    "export": Command("export", "Print the records as Markdown or JSON Lines, or put them into AGENTS.md."),
    "gc": Command("upkeep", "Retire what is past its retention, delete what was retired long enough ago."),
    "index": Command("upkeep", "Rebuild or check index.md, the list for people."),
    "config": Command("config", "Show the effective settings and where each comes from, or set one."),
    "judge": Command("judge", "Test the model that gives a second opinion: does it answer, how fast, at what cost."),
    "digest": Command("try_", "Show what a session that starts here would be shown, and why."),
    "doctor": Command("doctor", "Find out what is wrong with a memory or an installation."),
    "clean": Command("upkeep", "Remove what Recollect keeps outside your stores: indexes, ledgers, counts, logs."),
    "merge-driver": Command("merge_driver", "Merge two versions of a record; git calls this."),
    "demo": Command("demo", "Show the whole thing on a sample project, in a temporary folder."),
    "try": Command("try_", "Show which records your last prompts here would have brought up; nothing is written."),
    "version": Command("", "Print the version."),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 done, 1 expected failure, 2 wrong usage, 3 a bug in Recollect."""
    words = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    try:
        return _run(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except BrokenPipeError:
        # Whoever read our output has seen enough; the interpreter's own flush at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _report_bug(words, error)


def parser_of(name: str) -> argparse.ArgumentParser:
    """The argument parser of one command."""
    command = COMMANDS[name]
    parser = argparse.ArgumentParser(prog=f"recollect {name}", description=command.summary, allow_abbrev=False)
    parser.set_defaults(command=name)
    if command.module:
        importlib.import_module(f"recollect.cli.{command.module}").add_arguments(parser)
    common = parser.add_argument_group("for every command")
    common.add_argument("--json", action="store_true", help="answer, and report errors, as JSON on standard output")
    common.add_argument("--user", action="store_true", help="act on your own store, the one for every project")
    common.add_argument("--project", metavar="DIR", default=".", help="act on the project DIR lies in (default: here)")
    return parser


def overview() -> str:
    """What `recollect --help` says."""
    widest = max(map(len, COMMANDS))
    lines = [f"  {name:<{widest}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        (
            "usage: recollect COMMAND [options]",
            "",
            "A project memory for coding agents: plain files in the repository.",
            "",
            *lines,
            "",
            "recollect COMMAND --help shows more. Exit codes: 0 done, 1 expected failure, 2 wrong usage, 3 a bug.",
        )
    )


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(overview())
        return 0 if words else 2
    name = "version" if words[0] in ("--version", "-V") else words[0]
    if name not in COMMANDS:
        return _unknown(name)
    args = parser_of(name).parse_intermixed_args(words[1:])
    module = COMMANDS[name].module
    try:
        answer: Answer = importlib.import_module(f"recollect.cli.{module}").run(args) if module else _version()
    except RecollectError as error:
        error.fix = fixes.placed(error.fix, fixes.where(args))
        emit_error(error, as_json=args.json)
        return 1
    warnings = [answer.warning, *getattr(args, "warnings", ())]
    emit(answer._replace(warning="; ".join(filter(None, warnings))), as_json=args.json)
    return answer.status


def _version() -> Answer:
    python = ".".join(map(str, sys.version_info[:3]))
    return Answer({"version": __version__, "python": python}, lambda screen: f"recollect {__version__}")


def _unknown(name: str) -> int:
    nearest = difflib.get_close_matches(name, list(COMMANDS), n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else "recollect --help lists them"
    print(f"recollect: {name!r} is not a command; {hint}", file=sys.stderr)
    return 2


def _report_bug(words: list[str], error: Exception) -> int:
    import traceback

    from recollect import failure_log

    traceback.print_exc()
    failure_log.leave(f"recollect {words[0] if words else ''} {__version__}", f"{type(error).__name__}: {error}")
    print("This is a bug in Recollect: please report it with the lines above.", file=sys.stderr)
    return 3


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace")
