"""`onrecord demo`: a conversation in a sample project, made with the real commands and hooks in a temporary folder."""

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
from onrecord.cli import main
from onrecord.cli.output import CommandResult, Screen, clean, fit, wrap
from onrecord.coldstart import NamedTuple
from onrecord.errors import CommandFailed

RECORDS = """
decision 'Sessions live in Postgres, not Redis' --tag=auth --tag=sessions
    --trigger='where do we keep login state?' --trigger='users are logged out after a deploy'
    --set=context='Users had to log in again after every failover.'
    --set=decision='Sessions are rows in auth.sessions with a 14 day expiry.'
    --set=rationale='Redis lost all sessions on every failover.'

constraint 'The harbour API allows 60 calls a minute' --tag=harbour-api --tag=rate-limit
    --related=ferry/harbour.py --trigger='429 Too Many Requests from the harbour'
    --set=rule='At most 60 calls a minute to api.harbour.test, over all workers together.'
    --set=impact='The 61st call answers 429 and blocks our key for 15 minutes.'
    --set=workarounds='Take a token from ferry/throttle.py before each call.'
    --set=severity=high --set=kind=limitation

preference 'Times are kept in UTC and shown in the zone of the port' --tag=datetime
    --trigger='which timezone should this timestamp have' --set=topic='Time zones'
    --set=value='Store UTC; convert in the template with Port.zone, never in a query.'
    --set=reason='Two bugs at the change to summer time came from local times in the database.'
    --set=strength=strong

runbook 'Timetable import hangs at 99 %' --tag=import --tag=locks --trigger='import never finishes'
    --set=trigger='The nightly import stays at 99 % for more than ten minutes.'
    --set=symptoms='canceling statement due to lock timeout'
    --set=steps='Find the blocker: bin/blockers lists sessions that are idle in a transaction'
    --set=steps='End it with pg_terminate_backend(pid)' --set=steps='Run bin/import --resume'
    --set=verification='bin/import --status prints done within a minute.'

tech_debt 'Fares are computed in three places' --tag=fares --related=ferry/fares.py
    --trigger='ticket price differs by a cent'
    --set=description='Web page, mobile API and printer each have their own rounding rule.'
    --set=reason_deferred='The printer goes out of service in autumn.'
    --set=suggested_fix='Move rounding to ferry/fares.py and call it from all three.' --set=priority=high

session_summary 'Started the winter timetable' --tag=timetable
    --set=goal='Import the winter timetable for all 14 ports.' --set=outcome=partial
    --set=completed='12 ports imported.'
    --set=next_actions='Ask for the missing tide tables of Aarn and Holmsund.'
"""
SUCCESSOR = """
decision 'Sessions are signed cookies' --tag=auth --tag=sessions --trigger='where do we keep login state?'
    --set=context='The table auth.sessions became the busiest one.'
    --set=decision='The cookie has at most 2 KB and is renewed every 24 hours.'
    --set=rationale='No query for each request.'
"""
OLD_ID = "sessions-live-in-postgres-not-redis"
CODE = {
    "ferry/harbour.py": "from ferry.throttle import take_token\n",
    "ferry/fares.py": "def rounded(cents: float) -> int:\n    return round(cents)\n",
}
"""The files that the records are about."""

_LOCAL = {"CLAUDE_CONFIG_DIR": "home", "ONRECORD_CACHE_DIR": "cache", "ONRECORD_STATE_DIR": "state"}
_WIDTH = 80
_OPENING = """A sample project in a temporary folder: six records, real files, real hooks.
The lines after "memory" are what a hook added to the prompt. The agent's
words were written for this demo; no model is asked."""
_CLOSING = """Next:
  onrecord try --project FOLDER   what your agent would have been shown for
                                  your last prompts there; writes nothing"""
_SPEAKER_WIDTH = 10
"""Columns for the name of the speaker."""


class DemoTurn(NamedTuple):
    """A prompt, what the hook added to it (None: there was no hook), and the agent's answer."""

    caption: str
    prompt: str
    answer: str
    added: str | None = ""


FORGETFUL = DemoTurn(
    "Without Onrecord",
    "Users are logged out after every deploy. Add Redis for the sessions.",
    "I'll add a Redis container and store the sessions there.",
    None,
)
MAP_CAPTION = "With Onrecord: the session begins with the map, one line for each record"
TURNS = (
    DemoTurn(
        "The hook adds a decision of the team, and the answer changes",
        FORGETFUL.prompt,
        "Not Redis: it lost the sessions before. They are rows in auth.sessions, so I'll find out what empties that"
        " table in a deploy.",
    ),
    DemoTurn(
        "A prompt that no record is about: nothing is added",
        "Translate the footer into Danish.",
        "Done: templates/footer.html.",
    ),
)
LATER = DemoTurn(
    "The team replaces the decision: asked about the old one, the new one is added",
    "Add a column to the table where sessions live in Postgres.",
    "Sessions no longer live in that table. I'll put the value into the cookie, which has to stay below 2 KB.",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="keep the sample project and say where it is")


def run(args: argparse.Namespace) -> CommandResult:
    with sample_project(args.keep) as project:
        make(project)
        lines = _map(project)
        turns = list(conversation(project))
    data = {"map": lines, "turns": [turn._asdict() for turn in turns], "project": project if args.keep else None}
    end = f"The sample project is kept in {clean(project)}" if args.keep else "The sample project was deleted."
    return CommandResult(data, lambda screen: f"{_turns_text(screen, lines, turns)}\n{end}")


@contextmanager
def sample_project(keep: bool = False) -> Iterator[str]:
    """Make a folder for the sample project, with a home, a cache and a state folder beside it."""
    folder = tempfile.mkdtemp(prefix="onrecord-demo-")
    try:
        with paths.override({name: os.path.join(folder, below) for name, below in _LOCAL.items()}):
            yield os.path.join(folder, "ferry")
    finally:
        if not keep:
            shutil.rmtree(folder)


def conversation(project: str) -> Iterator[DemoTurn]:
    """Yield the turns of a conversation in the sample project, each with what the hook really adds."""
    yield FORGETFUL
    for turn in TURNS:
        yield turn._replace(added=_added(project, turn.prompt))
    _command(project, "save", *shlex.split(SUCCESSOR), "--supersedes", OLD_ID)
    yield LATER._replace(added=_added(project, LATER.prompt))


def make(project: str) -> None:
    """Make the sample project."""
    _write_code(project)
    for words in _records():
        _command(project, *words)


def _map(project: str) -> list[str]:
    """Return the lines of the map that the session starts with."""
    context = _hook(project, "session_start", source="startup")
    return [html.unescape(line[2:]) for line in context.split("\n") if line.startswith("- ")]


def _write_code(project: str) -> None:
    os.makedirs(os.path.join(project, "ferry"))
    for name, code in CODE.items():
        files.write(os.path.join(project, *name.split("/")), code.encode())


def _records() -> Iterator[tuple[str, ...]]:
    yield ("init",)
    for record in RECORDS.split("\n\n"):
        yield ("save", *shlex.split(record))


def _command(project: str, *words: str) -> None:
    """Run a command as a person would, without its output. Raises CommandFailed if it fails."""
    with redirect_stdout(io.StringIO()):
        code = main([*words, "--project", project])
    if code:
        raise CommandFailed(f"onrecord {words[0]} ended with code {code}", fix="the lines above say why")


def _added(project: str, prompt: str) -> str:
    """Return the rules that the hook adds to a prompt, without their markup."""
    context = _hook(project, "user_prompt_submit", prompt=prompt)
    return " ".join(html.unescape(rule) for rule in re.findall(r">([^<]+)</result>", context))


def _hook(project: str, event: str, **fields: object) -> str:
    """Run a hook in a process of its own, as an agent does, and return what it shows the agent."""
    payload = {"session_id": "demo", "cwd": project, "transcript_path": "", **fields}
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = f"import sys; sys.path.insert(0, {source!r}); from onrecord.hooks import main; main([{event!r}])"
    process = subprocess.run(
        (sys.executable, "-S", "-E", "-c", program), input=json.dumps(payload).encode(), capture_output=True, check=True
    )
    # A hook never fails visibly: here a failure would look like silence.
    for when, what, error in state_file.recent_failures():
        raise RuntimeError(f"{when} {what}: {error}")
    return str(json.loads(process.stdout)["hookSpecificOutput"]["additionalContext"]) if process.stdout else ""


def _turns_text(screen: Screen, map_lines: list[str], demo_turns: list[DemoTurn]) -> str:
    lines = [_OPENING, ""]
    for number, turn in enumerate(demo_turns):
        if number == 1:
            lines.append(screen.paint(MAP_CAPTION, "bold"))
            lines += [f"  {screen.paint(fit(clean(line), _WIDTH - 2), 'green')}" for line in map_lines]
            lines.append("")
        lines.append(screen.paint(turn.caption, "bold"))
        lines.append(_speech(screen, "you", turn.prompt))
        if turn.added is not None:
            lines.append(_speech(screen, "memory", turn.added or "(nothing)", "green"))
        lines += [_speech(screen, "agent", turn.answer), ""]
    return "\n".join([*lines, _CLOSING])


def _speech(screen: Screen, speaker: str, text: str, *styles: str) -> str:
    """Return a text in a column of its own, beside the name of its speaker."""
    first, *more = wrap(clean(text), _WIDTH - _SPEAKER_WIDTH).split("\n")
    label = f"  {speaker}".ljust(_SPEAKER_WIDTH)
    lines = [screen.paint(label, "dim") + screen.paint(first, *styles)]
    return "\n".join([*lines, *(" " * _SPEAKER_WIDTH + screen.paint(line, *styles) for line in more)])
