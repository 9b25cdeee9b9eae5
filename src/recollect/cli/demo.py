"""`recollect demo`: a sample project in a temporary folder, made and asked with the real commands."""

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
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout

from recollect import failure_log, files, paths
from recollect.cli import main
from recollect.cli.output import Answer, Screen, clean, clean_lines, fit
from recollect.coldstart import NamedTuple
from recollect.git import repository

_LOCAL = {"CLAUDE_CONFIG_DIR": "home", "RECOLLECT_CACHE_DIR": "cache", "RECOLLECT_STATE_DIR": "state"}
_WIDTH = 100
"""Columns of a command as it is shown: what a terminal beside an editor has."""

_RECORDS = """
decision 'Jobs go through a table in Postgres' --tag=queue --tag=postgres
    --trigger='where do background tasks run'
    --set=context='Timetable imports take minutes and must survive a restart.'
    --set=decision='Background jobs are rows of the table `jobs`, taken with FOR UPDATE SKIP LOCKED, 4 at a time.'
    --set=rationale='One thing less to run than a message broker.'

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
_SUCCESSOR = """
decision 'A broker carries background work' --tag=queue --tag=nats --trigger='add a message queue'
    --set=context='The jobs table grew to 40 million rows, and vacuum could not keep up.'
    --set=decision='NATS JetStream carries background work: stream `work`, 3 replicas, acknowledge within 30 s.'
    --set=rationale='Measured: 9,000 messages a second against 700 with the table.'
"""
_OLD_ID = "jobs-go-through-a-table-in-postgres"
_NEW_ID = "a-broker-carries-background-work"
_SEARCHES = ("harbour rate limit", "import stuck waiting for a lock")
_PROMPTS = {
    "A prompt that matches a record: the rule itself arrives.": "we get 429 from the harbour API, why is that?",
    "A prompt in the words of the old decision: its successor arrives.": "add a row to the jobs table in Postgres",
    "A prompt that matches no record: silence.": "write a haiku about the moon",
}
_FILE = "ferry/harbour.py"
_CODE = {
    _FILE: "from ferry.throttle import take_token\n",
    "ferry/fares.py": "def rounded(cents: float) -> int:\n    return round(cents)\n",
}
"""The files that the records are about."""


class Step(NamedTuple):
    """A step of the demo: why, the command, and its output."""

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
    os.makedirs(os.path.join(project, "ferry"))
    for name, code in _CODE.items():
        files.write(os.path.join(project, *name.split("/")), code.encode())
    repository.create(project, deadline=time.monotonic() + 10)
    yield from _commands(project)
    for caption, prompt in _PROMPTS.items():
        context = _hook(project, "user_prompt_submit", prompt=prompt)
        yield Step(caption, f"> {prompt}", context or "(nothing is added to the prompt)")
    path = os.path.join(project, *_FILE.split("/"))
    context = _hook(project, "pre_tool_use", tool_name="Edit", tool_input={"file_path": path})
    yield Step("The agent is about to edit a file: the constraint about it arrives.", f"Edit {_FILE}", context)
    context = _hook(project, "session_start", session_id="demo-2", source="startup")
    yield Step("A new session starts: where things stand.", "$ claude", context)
    with open(os.path.join(project, paths.STORE, paths.INDEX_MD), encoding="utf-8") as file:
        yield Step("For people and grep, a list.", f"$ cat {paths.STORE}/{paths.INDEX_MD}", file.read())
    yield _command(project, "Is everything as it should be?", "doctor")


def _commands(project: str) -> Iterator[Step]:
    yield _command(project, "A project gets a memory: a folder of plain files, kept by git.", "init")
    for number, record in enumerate(_RECORDS.split("\n\n")):
        caption = "" if number else "Six things worth remembering, one of each kind."
        yield _command(project, caption, "save", *shlex.split(record))
    yield _command(project, "What there is.", "list")
    yield _command(project, "One of them.", "show", _OLD_ID)
    for number, text in enumerate(_SEARCHES):
        yield _command(project, "" if number else "Finding one.", "search", text)
    caption = "The decision changes. The old record stays on file, but no longer holds."
    yield _command(project, caption, "save", *shlex.split(_SUCCESSOR))
    yield _command(project, "", "supersede", _OLD_ID, _NEW_ID)


def _command(project: str, caption: str, *words: str) -> Step:
    """Run a command as a person would, and note what it prints."""
    output = io.StringIO()
    with redirect_stdout(output):
        code = main([*words, "--project", project])
    if code:
        raise RuntimeError(f"recollect {words[0]} ended with code {code}")
    return Step(caption, _typed(words, in_full=bool(caption)), output.getvalue().replace(project, "."))


def _typed(words: Sequence[str], in_full: bool) -> str:
    """The command as a person would type it; a long one over several lines, or cut where a similar one was shown."""
    quoted = [_quoted(word) for word in words]
    line = f"$ recollect {' '.join(quoted)}"
    if len(line) <= _WIDTH:
        return line
    return " \\\n    ".join([f"$ recollect {' '.join(quoted[:3])}", *quoted[3:]]) if in_full else fit(line, _WIDTH)


def _quoted(word: str) -> str:
    flag, equals, value = word.partition("=")
    return f"{flag} {shlex.quote(value)}" if equals and flag.startswith("--") else shlex.quote(word)


def _hook(project: str, event: str, **fields: object) -> str:
    """What a hook shows the agent: it runs as the agent would run it, in a process of its own."""
    payload = {"session_id": f"demo-{event}", "cwd": project, "transcript_path": "", **fields}
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = f"import sys; sys.path.insert(0, {source!r}); from recollect.hooks import main; main([{event!r}])"
    done = subprocess.run(
        (sys.executable, "-S", "-E", "-c", program), input=json.dumps(payload).encode(), capture_output=True, check=True
    )
    # A hook never fails aloud: a failure would look like silence here.
    for when, what, error in failure_log.recent():
        raise RuntimeError(f"{when} {what}: {error}")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def _text(screen: Screen, steps: list[Step], project: str) -> str:
    lines: list[str] = []
    for step in steps:
        if step.caption:
            lines += ["", screen.paint(f"# {step.caption}", "cyan")]
        lines += [screen.paint(line, "bold") for line in clean_lines(step.command)]
        lines += clean_lines(step.output)
    lines += ["", f"The sample project is kept in {clean(project)}" if project else "The sample project was deleted."]
    return "\n".join(lines).lstrip("\n")
