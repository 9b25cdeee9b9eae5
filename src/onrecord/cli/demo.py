"""`onrecord demo`: a sample project in a temporary folder, made with the real commands and asked by the real hooks."""

from __future__ import annotations

import argparse
import html
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from onrecord import files, paths, state_file
from onrecord.cli import demo_data, main
from onrecord.cli.demo_data import Turn
from onrecord.cli.output import CommandResult, Screen, clean, wrap

_LOCAL = {"CLAUDE_CONFIG_DIR": "home", "ONRECORD_CACHE_DIR": "cache", "ONRECORD_STATE_DIR": "state"}
_WIDTH = 80
_OPENING = """A sample project in a temporary folder: six records, real files, real hooks.
The lines after "memory" are what a hook added to the prompt. The agent's
words were written for this demo; no model is asked."""
_CLOSING = """Next:
  onrecord try --project FOLDER   what your agent would have been shown for
                                  your last prompts there; writes nothing"""
_SPEAKER = 10
"""Columns before what somebody says."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="keep the sample project and say where it is")


def run(args: argparse.Namespace) -> CommandResult:
    with sample_project(args.keep) as project:
        turns = list(conversation(project))
    data = {"turns": [turn._asdict() for turn in turns], "project": project if args.keep else None}
    end = f"The sample project is kept in {clean(project)}" if args.keep else "The sample project was deleted."
    return CommandResult(data, lambda screen: f"{_turns_text(screen, turns)}\n{end}")


@contextmanager
def sample_project(keep: bool = False) -> Iterator[str]:
    """A folder for the sample project, with a home, a cache and a state folder beside it."""
    folder = tempfile.mkdtemp(prefix="onrecord-demo-")
    try:
        with paths.override({name: os.path.join(folder, below) for name, below in _LOCAL.items()}):
            yield os.path.join(folder, "ferry")
    finally:
        if not keep:
            shutil.rmtree(folder)


def conversation(project: str) -> Iterator[Turn]:
    """An agent's turns in the sample project, with what the hook really adds to each prompt."""
    _write_code(project)
    for words in _records():
        _command(project, *words)
    yield demo_data.FORGETFUL
    for turn in demo_data.TURNS:
        yield turn._replace(added=_added(project, turn.prompt))
    _command(project, "save", *shlex.split(demo_data.SUCCESSOR), "--supersedes", demo_data.OLD_ID)
    yield demo_data.LATER._replace(added=_added(project, demo_data.LATER.prompt))


def _records() -> Iterator[tuple[str, ...]]:
    yield ("init",)
    for record in demo_data.RECORDS.split("\n\n"):
        yield ("save", *shlex.split(record))


def _added(project: str, prompt: str) -> str:
    """The rules that the hook adds to a prompt, without the markup around them."""
    context = _hook(project, "user_prompt_submit", prompt=prompt)
    return " ".join(html.unescape(rule) for rule in re.findall(r">([^<]+)</result>", context))


def _write_code(project: str) -> None:
    os.makedirs(os.path.join(project, "ferry"))
    for name, code in demo_data.CODE.items():
        files.write(os.path.join(project, *name.split("/")), code.encode())


def _command(project: str, *words: str) -> None:
    """Run a command as a person would, without its output. Raises RuntimeError if it fails."""
    with redirect_stdout(io.StringIO()):
        code = main([*words, "--project", project])
    if code:
        raise RuntimeError(f"onrecord {words[0]} ended with code {code}")


def _hook(project: str, event: str, **fields: object) -> str:
    """What a hook shows the agent: it runs as the agent would run it, in a process of its own."""
    payload = {"session_id": f"demo-{event}", "cwd": project, "transcript_path": "", **fields}
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = f"import sys; sys.path.insert(0, {source!r}); from onrecord.hooks import main; main([{event!r}])"
    done = subprocess.run(
        (sys.executable, "-S", "-E", "-c", program), input=json.dumps(payload).encode(), capture_output=True, check=True
    )
    # A hook never fails aloud: a failure would look like silence here.
    for when, what, error in state_file.recent_failures():
        raise RuntimeError(f"{when} {what}: {error}")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def _turns_text(screen: Screen, turns: list[Turn]) -> str:
    lines = [_OPENING, ""]
    for turn in turns:
        lines.append(screen.paint(turn.caption, "bold"))
        lines.append(_said(screen, "you", turn.prompt))
        if turn.added is not None:
            lines.append(_said(screen, "memory", turn.added or "(nothing)", "green"))
        lines += [_said(screen, "agent", turn.answer), ""]
    return "\n".join([*lines, _CLOSING])


def _said(screen: Screen, who: str, text: str, *styles: str) -> str:
    """What somebody says, in a column of its own beside the name."""
    first, *more = wrap(clean(text), _WIDTH - _SPEAKER).split("\n")
    label = f"  {who}".ljust(_SPEAKER)
    lines = [screen.paint(label, "dim") + screen.paint(first, *styles)]
    return "\n".join([*lines, *(" " * _SPEAKER + screen.paint(line, *styles) for line in more)])
