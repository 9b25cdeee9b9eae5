"""The command line: `main` finds the command, imports its module alone, and prints its result.

A command module has `add_arguments(parser)` and `run(args) -> CommandResult`. In the module of a family
`args.command` is the command to run; a command with several actions has `args.action`.
"""

from __future__ import annotations

import difflib
import errno
import gc
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from onrecord import __version__, budget, state_file
from onrecord.cli import help, output
from onrecord.cli.commands import COMMANDS, WrongUsage
from onrecord.cli.help import Parser
from onrecord.cli.output import CommandResult, Screen, emit, emit_error
from onrecord.errors import BadInput, OnrecordError, Unwritable

MADE = "the change itself was made"
"""Said where a command fails after its change."""

_SYSTEM_ERRORS = frozenset(
    getattr(errno, name)
    for name in "EACCES EDQUOT EIO EMFILE ENFILE ENOLCK ENOMEM ENOSPC EPERM EROFS ESTALE EFBIG".split()
    if hasattr(errno, name)
)
"""Errors of the machine, not of the program."""

_SERVERS = ("mcp", "web")
"""Modules of the commands that run until they are stopped."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 expected failure, 2 wrong usage, 3 a bug in Onrecord."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_missing_streams()
    _use_utf8()
    _look_for_programs_elsewhere()
    budget.show_counts_with(_counted)
    # Loaded only if an earlier command of this process has changed something.
    earlier_journal = sys.modules.get("onrecord.store.journal")
    if earlier_journal:
        earlier_journal.forget_made()
    state_file.take_lacking()
    try:
        return _run(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except BrokenPipeError:
        # The reader of our output has closed it.
        _discard_output()
        return 0
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        failure = Unwritable(
            "there is not enough memory for this command", fix="free some, or raise its limit; try again"
        )
        return _report_failure(failure, "", as_json="--json" in words)
    except Exception as error:
        return _report_bug(words, error)


def _counted(elements: Iterable[Any], what: str) -> Iterable[Any]:
    from onrecord.cli.terminal import watched

    return watched(elements, what)


def parser_of(name: str) -> Parser:
    """Return the argument parser of a command."""
    parser = Parser(f"onrecord {name}")
    module = COMMANDS[name].module
    if module:
        importlib.import_module(f"onrecord.cli.{module}").add_arguments(parser)
    parser.add_common()
    return parser


def common_parser() -> Parser:
    """Return the parser of the options that every command takes; they may also come before the command."""
    parser = Parser("onrecord")
    parser.add_common()
    return parser


def _run(words: list[str]) -> int:
    if words[:1] == ["__complete"]:
        from onrecord.cli import completion

        return completion.print_candidates(words[1:])
    position = common_parser().first_word(words)
    options, name, rest = words[:position], "".join(words[position : position + 1]), words[position + 1 :]
    if name == "help" and rest:
        name, rest = rest[0], [*rest[1:], "--help"]
    if {"--version", "-V"}.intersection(options):
        name, options = "version", [word for word in options if word not in ("--version", "-V")]
    is_help = name == "help" or bool({"--help", "-h"}.intersection(options))
    if is_help or not name:
        print(help.overview(Screen.for_stream(sys.stdout)))
        return 0 if is_help else 2
    if name not in COMMANDS:
        return _unknown(name, as_json="--json" in words)
    return _run_command(name, [*options, *rest])


def _look_for_programs_elsewhere() -> None:
    """Look for no program in the folder that a command runs in: a repository could have its own `claude` or `less`."""
    if os.name == "nt":
        os.environ["NODEFAULTCURRENTDIRECTORYINEXEPATH"] = "1"
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if not all(map(os.path.isabs, folders)):
        os.environ["PATH"] = os.pathsep.join(filter(os.path.isabs, folders)) or os.defpath


def _run_command(name: str, words: list[str]) -> int:
    parser = parser_of(name)
    try:
        args = parser.parse(words)
    except OnrecordError as error:
        return _report_failure(error, "", as_json="--json" in words)
    module, flags = (
        COMMANDS[name].module,
        output.store_flags(user=args.user, remote_name=args.remote, project=args.project),
    )
    if module not in _SERVERS:
        # What a command makes lives until its end: there is no garbage to look for among 50,000 records.
        gc.disable()
    try:
        result: CommandResult = importlib.import_module(f"onrecord.cli.{module}").run(args) if module else _version()
    except WrongUsage as error:
        parser.error(error.message)
    except OnrecordError as error:
        return _report_failure(error, flags, as_json=args.json)
    except OSError as error:
        return _report_failure(_system_failure(error), flags, as_json=args.json)
    finally:
        gc.enable()
    warning, note = (output.add_store_flags(text, flags) for text in (result.warning, result.note))
    result = result._replace(warning=warning, note=note).warned(*state_file.take_lacking())
    try:
        emit(result, as_json=args.json, is_paged=not args.no_pager)
    except OnrecordError as error:
        # What the result says is put together here, and may need a file, too.
        return _report_failure(error, flags)
    except OSError as error:
        failure = _system_failure(error)
        _discard_output()
        return _report_failure(failure, flags)
    return result.status


def _report_failure(error: OnrecordError, flags: str, *, as_json: bool = False) -> int:
    """Print an expected failure. If the disk failed after a change was made, say that it was made."""
    if isinstance(error, Unwritable):
        from onrecord.store import journal

        if journal.last_made():
            error.fix = f"{error.fix}; {MADE}: onrecord log"
    error.fix = output.add_store_flags(error.fix, flags)
    emit_error(error, as_json=as_json)
    return 1


def _system_failure(error: OSError) -> Unwritable:
    """Return the failure for an error of the system, such as a full disk. Raises any other error again: it is a bug."""
    if error.errno not in _SYSTEM_ERRORS:
        raise error
    what = f"cannot use {error.filename}" if error.filename else "cannot read or write a file"
    fix = "check the disk's space and the permissions of files and folders"
    return Unwritable(f"{what}: {error.strerror or error}", fix=fix)


def _version() -> CommandResult:
    python = ".".join(map(str, sys.version_info[:3]))
    return CommandResult({"version": __version__, "python": python}, lambda screen: f"onrecord {__version__}")


def _unknown(name: str, *, as_json: bool) -> int:
    nearest = difflib.get_close_matches(name, list(COMMANDS), n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else "onrecord --help lists them"
    if as_json:
        emit_error(BadInput(f"{name!r} is not a command", fix=hint), as_json=True)
    else:
        print(f"onrecord: {name!r} is not a command; {hint}", file=sys.stderr)
        print(output.docs_line(Screen.for_stream(sys.stderr), BadInput.code), file=sys.stderr)
    return 2


def _report_bug(words: list[str], error: Exception) -> int:
    import traceback

    traceback.print_exc()
    state_file.log_failure(f"onrecord {words[0] if words else ''} {__version__}", f"{type(error).__name__}: {error}")
    print("This is a bug in Onrecord: please report it with the lines above.", file=sys.stderr)
    return 3


def _discard_output() -> None:
    """Send what is still to be printed nowhere, so that the interpreter's own flush at exit does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_missing_streams() -> None:
    """Give a process that was started without standard streams some that lead nowhere.

    Else the next file that is opened takes the place of one, and a program that we start writes into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(handle, True)
            setattr(sys, name, os.fdopen(handle, mode))


def _use_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace")
