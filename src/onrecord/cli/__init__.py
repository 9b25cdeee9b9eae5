"""The command line: `main` finds the command, loads its module alone, and prints what it answers.

A command module has `add_arguments(parser)` and `run(args) -> CommandResult`; where it holds several commands,
`args.command` is the name of the one that runs.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence

from onrecord import __version__
from onrecord.cli import fixes, help
from onrecord.cli.commands import COMMANDS
from onrecord.cli.help import Parser
from onrecord.cli.output import CommandResult, Screen, emit, emit_error
from onrecord.errors import OnrecordError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 done, 1 expected failure, 2 wrong usage, 3 a bug in Onrecord."""
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


def parser_of(name: str) -> Parser:
    """The argument parser of one command."""
    parser = Parser(name)
    module = COMMANDS[name].module
    if module:
        importlib.import_module(f"onrecord.cli.{module}").add_arguments(parser)
    parser.add_common()
    return parser


def _run(words: list[str]) -> int:
    if words[:1] == ["__complete"]:
        from onrecord.cli import complete

        return complete.run(words[1:])
    if words[:1] == ["help"] and words[1:]:
        words = [words[1], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        print(help.overview(Screen.of(sys.stdout)))
        return 0 if words else 2
    name = "version" if words[0] in ("--version", "-V") else words[0]
    if name not in COMMANDS:
        return _unknown(name)
    args = parser_of(name).parse_intermixed_args(words[1:])
    module, where = COMMANDS[name].module, fixes.where(args)
    try:
        answer: CommandResult = importlib.import_module(f"onrecord.cli.{module}").run(args) if module else _version()
    except OnrecordError as error:
        error.fix = fixes.placed(error.fix, where)
        emit_error(error, as_json=args.json)
        return 1
    warning = "; ".join(filter(None, (answer.warning, *getattr(args, "warnings", ()))))
    answer = answer._replace(warning=fixes.placed(warning, where), note=fixes.placed(answer.note, where))
    emit(answer, as_json=args.json, is_paged=not args.no_pager)
    return answer.status


def _version() -> CommandResult:
    python = ".".join(map(str, sys.version_info[:3]))
    return CommandResult({"version": __version__, "python": python}, lambda screen: f"onrecord {__version__}")


def _unknown(name: str) -> int:
    nearest = difflib.get_close_matches(name, list(COMMANDS), n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else "onrecord --help lists them"
    print(f"onrecord: {name!r} is not a command; {hint}", file=sys.stderr)
    return 2


def _report_bug(words: list[str], error: Exception) -> int:
    import traceback

    from onrecord import state_file

    traceback.print_exc()
    state_file.leave(f"onrecord {words[0] if words else ''} {__version__}", f"{type(error).__name__}: {error}")
    print("This is a bug in Onrecord: please report it with the lines above.", file=sys.stderr)
    return 3


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace")
