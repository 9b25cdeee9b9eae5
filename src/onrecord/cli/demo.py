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
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

from onrecord import failure_log, files, paths
from onrecord.cli import demo_data, main
from onrecord.cli.demo_data import Turn
from onrecord.cli.output import CommandResult, Screen, clean, clean_lines, fit, wrap
from onrecord.coldstart import NamedTuple
from onrecord.git import repository

_LOCAL = {"CLAUDE_CONFIG_DIR": "home", "ONRECORD_CACHE_DIR": "cache", "ONRECORD_STATE_DIR": "state"}
_WIDTH = 80

_PROMPTS = {
    "A prompt that matches a record: the rule itself is shown.": "we get 429 from the harbour API, why is that?",
    "A prompt in the words of the old decision: its successor is shown.": demo_data.LATER.prompt,
    "A prompt that matches no record: nothing is shown.": "write a haiku about the moon",
}
_OPENING = """A sample project in a temporary folder: six records, real files, real hooks.
The lines after "memory" are what a hook added to the prompt. The agent's
words were written for this demo; no model is asked."""
_CLOSING = """Next:
  onrecord demo --long            every command and every hook, step by step
  onrecord try --project FOLDER   what your agent would have been shown for
                                   your last prompts there; writes nothing"""
_SPEAKER = 10
"""Columns before what somebody says."""


class Step(NamedTuple):
    """A step of the demo: why, the command, and its output."""

    caption: str
    command: str
    output: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--long", action="store_true", help="show every command and hook, step by step")
    parser.add_argument("--keep", action="store_true", help="keep the sample project and say where it is")


def run(args: argparse.Namespace) -> CommandResult:
    with sample_project(args.keep) as project:
        answer = _step_by_step(project) if args.long else _in_short(project)
    data = {**answer.data, "project": project if args.keep else None}
    end = f"The sample project is kept in {clean(project)}" if args.keep else "The sample project was deleted."
    return CommandResult(data, lambda screen: f"{answer.text(screen)}\n{end}")


def _step_by_step(project: str) -> CommandResult:
    steps = list(_steps(project))
    return CommandResult({"steps": [step._asdict() for step in steps]}, lambda screen: _steps_text(screen, steps))


def _in_short(project: str) -> CommandResult:
    turns = list(conversation(project))
    return CommandResult({"turns": [turn._asdict() for turn in turns]}, lambda screen: _turns_text(screen, turns))


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
        _command(project, "", *words)
    yield demo_data.FORGETFUL
    for turn in demo_data.TURNS:
        yield turn._replace(added=_added(project, turn.prompt))
    _command(project, "", "save", *shlex.split(demo_data.SUCCESSOR), "--supersedes", demo_data.OLD_ID)
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


def _steps(project: str) -> Iterator[Step]:
    _write_code(project)
    repository.create(project, deadline=time.monotonic() + 10)
    yield from _commands(project)
    for caption, prompt in _PROMPTS.items():
        context = _hook(project, "user_prompt_submit", prompt=prompt)
        yield Step(caption, f"> {prompt}", context or "(nothing is added to the prompt)")
    path = os.path.join(project, *demo_data.FILE.split("/"))
    context = _hook(project, "pre_tool_use", tool_name="Edit", tool_input={"file_path": path})
    yield Step(
        "The agent is about to edit a file: the constraint about it is shown.", f"Edit {demo_data.FILE}", context
    )
    context = _hook(project, "session_start", session_id="demo-2", source="startup")
    yield Step("A new session starts: where things stand.", "$ claude", context)
    with open(os.path.join(project, paths.STORE, paths.INDEX_MD), encoding="utf-8") as file:
        yield Step("For people and grep, a list.", f"$ cat {paths.STORE}/{paths.INDEX_MD}", file.read())
    yield _command(project, "Is everything as it should be?", "doctor")


def _commands(project: str) -> Iterator[Step]:
    captions = {0: "A project gets a memory: a folder of plain files, kept by git.",
                1: "Six things worth remembering, one of each kind."}  # fmt: skip
    for number, words in enumerate(_records()):
        yield _command(project, captions.get(number, ""), *words)
    yield _command(project, "What there is.", "list")
    yield _command(project, "One of them.", "show", demo_data.OLD_ID)
    for number, text in enumerate(demo_data.SEARCHES):
        yield _command(project, "" if number else "Finding one.", "search", text)
    caption = "The decision changes. The old record stays on file, but no longer holds."
    yield _command(project, caption, "save", *shlex.split(demo_data.SUCCESSOR))
    yield _command(project, "", "supersede", demo_data.OLD_ID, demo_data.NEW_ID)


def _command(project: str, caption: str, *words: str) -> Step:
    """Run a command as a person would, and note what it prints."""
    output = io.StringIO()
    with redirect_stdout(output):
        code = main([*words, "--project", project])
    if code:
        raise RuntimeError(f"onrecord {words[0]} ended with code {code}")
    return Step(caption, _typed(words, in_full=bool(caption)), output.getvalue().replace(project, "."))


def _typed(words: Sequence[str], in_full: bool) -> str:
    """The command as a person would type it; a long one over several lines, or cut where a similar one was shown."""
    quoted = [_quoted(word) for word in words]
    line = f"$ onrecord {' '.join(quoted)}"
    if len(line) <= _WIDTH:
        return line
    return " \\\n    ".join([f"$ onrecord {' '.join(quoted[:3])}", *quoted[3:]]) if in_full else fit(line, _WIDTH)


def _quoted(word: str) -> str:
    flag, equals, value = word.partition("=")
    return f"{flag} {shlex.quote(value)}" if equals and flag.startswith("--") else shlex.quote(word)


def _hook(project: str, event: str, **fields: object) -> str:
    """What a hook shows the agent: it runs as the agent would run it, in a process of its own."""
    payload = {"session_id": f"demo-{event}", "cwd": project, "transcript_path": "", **fields}
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = f"import sys; sys.path.insert(0, {source!r}); from onrecord.hooks import main; main([{event!r}])"
    done = subprocess.run(
        (sys.executable, "-S", "-E", "-c", program), input=json.dumps(payload).encode(), capture_output=True, check=True
    )
    # A hook never fails aloud: a failure would look like silence here.
    for when, what, error in failure_log.recent():
        raise RuntimeError(f"{when} {what}: {error}")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def _steps_text(screen: Screen, steps: list[Step]) -> str:
    lines: list[str] = []
    for step in steps:
        if step.caption:
            lines += ["", screen.paint(f"# {step.caption}", "cyan")]
        lines += [screen.paint(line, "bold") for line in clean_lines(step.command)]
        lines += clean_lines(step.output)
    return "\n".join([*lines, ""]).lstrip("\n")


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
