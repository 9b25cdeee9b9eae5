"""`recollect demo`: a sample project in a temporary folder, kept and asked with the real commands."""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from typing import NamedTuple

from recollect import failure_log, paths
from recollect.cli import demo_data, main
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean, clean_lines, fit

_LOCAL = {"CLAUDE_CONFIG_DIR": "home", "RECOLLECT_CACHE_DIR": "cache", "RECOLLECT_STATE_DIR": "state"}

_WIDTH = 100


class Step(NamedTuple):
    """Something the demo did: why, the command, and what came of it."""

    caption: str
    command: str
    output: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="keep the sample project and say where it is")


def run(args: argparse.Namespace) -> Answer:
    folder = tempfile.mkdtemp(prefix="recollect-demo-")
    project = os.path.join(folder, "ferry")
    try:
        with paths.override({name: os.path.join(folder, below) for name, below in _LOCAL.items()}):
            steps = list(_steps(project))
    finally:
        if not args.keep:
            shutil.rmtree(folder)
    data = {"steps": [step._asdict() for step in steps], "project": project if args.keep else None}
    return Answer(data, lambda screen: _text(screen, steps, project if args.keep else ""))


def _steps(project: str) -> Iterator[Step]:
    _make(project)
    yield _command(project, "A project gets a memory: a folder of plain files, kept by git.", "init")
    for number, words in enumerate(demo_data.MEMORIES):
        caption = "Six things worth remembering, one of each kind." if number == 0 else ""
        yield _command(project, caption, *words)
    yield _command(project, "What there is.", "list")
    yield _command(project, "One of them.", "show", demo_data.OLD_ID)
    for number, text in enumerate(demo_data.SEARCHES):
        yield _command(project, "" if number else "Finding one.", "search", text)
    yield _command(
        project, "The decision changes. The old one stays on file, but no longer holds.", *demo_data.SUCCESSOR
    )
    yield _command(project, "", "supersede", demo_data.OLD_ID, demo_data.NEW_ID)
    for caption, prompt in demo_data.PROMPTS:
        told = _told(project, "user_prompt_submit", prompt=prompt)
        yield Step(caption, f"> {prompt}", told or "(nothing is added to the prompt)")
    path = os.path.join(project, *demo_data.FILE.split("/"))
    told = _told(project, "pre_tool_use", tool_name="Edit", tool_input={"file_path": path})
    yield Step(
        "The agent is about to edit a file: the constraint that belongs to it arrives.", f"Edit {demo_data.FILE}", told
    )
    told = _told(project, "session_start", session_id="demo-2", source="startup")
    yield Step("A new session starts: where things stand.", "$ claude", told)
    with open(os.path.join(project, paths.STORE, paths.INDEX_MD), encoding="utf-8") as file:
        yield Step("For people and grep, a list.", f"$ cat {paths.STORE}/{paths.INDEX_MD}", file.read())
    yield _command(project, "Is everything as it should be?", "doctor")


def _make(project: str) -> None:
    os.makedirs(project)
    if shutil.which("git"):
        subprocess.run(("git", "init", "-q", project), check=True, stdin=subprocess.DEVNULL)


def _command(project: str, caption: str, *words: str) -> Step:
    """Run a command as a person would, and keep what it prints."""
    output = io.StringIO()
    with redirect_stdout(output):
        code = main([*words, "--project", project])
    if code:
        raise RuntimeError(f"recollect {words[0]} ended with code {code}")
    return Step(caption, _typed(words, in_full=bool(caption)), output.getvalue().replace(project, "."))


def _typed(words: Sequence[str], in_full: bool) -> str:
    """The command as one would type it; a long one over several lines, or cut where the like was shown before."""
    quoted = [_quoted(word) for word in words]
    line = f"$ recollect {' '.join(quoted)}"
    if len(line) <= _WIDTH:
        return line
    return (
        f"$ recollect {' '.join(quoted[:3])} \\\n    " + " \\\n    ".join(quoted[3:]) if in_full else fit(line, _WIDTH)
    )


def _quoted(word: str) -> str:
    flag, equals, value = word.partition("=")
    return f"{flag} {shlex.quote(value)}" if equals and flag.startswith("--") else shlex.quote(word)


def _told(project: str, event: str, **fields: object) -> str:
    """What a hook tells the agent: it runs as the agent would run it, in a process of its own."""
    given = {"session_id": f"demo-{event}", "cwd": project, "transcript_path": "", **fields}
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = f"import sys; sys.path.insert(0, {source!r}); from recollect.hooks import main; main([{event!r}])"
    done = subprocess.run(
        (sys.executable, "-S", "-E", "-c", program), input=json.dumps(given).encode(), capture_output=True, check=True
    )
    # A hook never fails aloud: what went wrong would look like silence here.
    for when, what, error in failure_log.recent():
        raise RuntimeError(f"{when} {what}: {error}")
    if not done.stdout:
        return ""
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


def _text(screen: Screen, steps: list[Step], kept: str) -> str:
    lines: list[str] = []
    for step in steps:
        if step.caption:
            lines += ["", screen.paint(f"# {step.caption}", "cyan")]
        lines += [screen.paint(line, "bold") for line in clean_lines(step.command)]
        lines += clean_lines(step.output)
    lines.append("")
    lines.append(f"The sample project is kept in {clean(kept)}" if kept else "The sample project was deleted.")
    return "\n".join(lines).lstrip("\n")
