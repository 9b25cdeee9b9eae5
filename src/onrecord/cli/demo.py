"""`onrecord demo`: a conversation in a sample project, made with the real commands and hooks in a temporary folder."""

from __future__ import annotations

import argparse
import html
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

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

constraint 'Fares are cents' --tag=fares --tag=money
    --trigger='ticket price differs by a cent' --trigger='a float for money'
    --set=rule='A fare is an int of cents, from the database to the ticket.'
    --set=impact='Rounding made 2,100 tickets a cent too expensive.'
    --set=severity=medium --set=kind=policy

preference 'Packages are added with uv' --tag=packages --trigger='pip install' --trigger='add a package'
    --set=topic='Adding a package' --set=value='uv add NAME, never pip install.'
    --set=reason='pip leaves uv.lock as it was, and the deploy misses the package.' --set=strength=strong

runbook 'Timetable import hangs at 99 %' --tag=import --tag=locks --trigger='import never finishes'
    --set=trigger='The nightly import stays at 99 % for more than ten minutes.'
    --set=symptoms='canceling statement due to lock timeout'
    --set=steps='Find the blocker: bin/blockers lists sessions that are idle in a transaction'
    --set=steps='End it with pg_terminate_backend(pid)' --set=steps='Run bin/import --resume'
    --set=verification='bin/import --status prints done within a minute.'

session_summary 'Started the winter timetable' --tag=timetable
    --set=goal='Import the winter timetable for all 14 ports.' --set=outcome=partial
    --set=completed='12 ports imported.'
    --set=next_actions='Ask for the missing tide tables of Aarn and Holmsund.'
"""
FARES, CHECK = (
    "fares-are-cents",
    '{"on": "edit", "paths": ["ferry/**"], "adds": ["float("], "say": "use an int"}',
)
"""The rule that is corrected, and the check that the agent drafts for it."""

PULL_REQUEST = """\
diff --git a/ferry/fares.py b/ferry/fares.py
--- a/ferry/fares.py
+++ b/ferry/fares.py
@@ -1,2 +1,6 @@
 def rounded(cents: int) -> int:
     return -(-cents // 10) * 10
+
+
+def for_children(fare: int) -> float:
+    return float(fare) / 2
"""
CODE = {
    "ferry/harbour.py": "from ferry.throttle import take_token\n",
    "ferry/fares.py": "def rounded(cents: int) -> int:\n    return -(-cents // 10) * 10\n",
}
"""The files that the records are about."""

_LOCAL = {"CLAUDE_CONFIG_DIR": "home", "ONRECORD_CACHE_DIR": "cache", "ONRECORD_STATE_DIR": "state"}
_WALL_SECONDS = 60.0
"""Time limit of a hook here, where no agent waits: a machine that stalls while it is tried must not spoil the demo."""

_WIDTH = 80
_OPENING = """A sample project in a temporary folder: six records, real files, real hooks.
What "memory" and "CI" say is what hooks and `onrecord check` printed. The
agent's words were written for this demo; no model is asked."""
_CLOSING = """Next:
  onrecord try --project FOLDER   what your agent would have been shown for
                                  your last prompts there; writes nothing"""
_SPEAKER_WIDTH = 10
"""Columns for the name of the speaker."""

YOU, AGENT, MEMORY, CI = "you", "agent", "memory", "CI"
_STYLES = {MEMORY: ("green",), CI: ("red",)}
_REDIS = "Users are logged out after every deploy. Add Redis for the sessions."
_FOOTER = "Translate the footer into Danish."
_NOT_FLOATS = "No, I said it before: fares are cents, never floats."


class DemoLine(NamedTuple):
    """Something that is said, in one line or several: by the user, the agent, the memory or CI."""

    speaker: str
    text: str


class DemoMoment(NamedTuple):
    """A moment of a session: what happens, and what everybody says."""

    caption: str
    lines: tuple[DemoLine, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="keep the sample project and say where it is")


def run(args: argparse.Namespace) -> CommandResult:
    with sample_project(args.keep) as project:
        make(project)
        moments = list(session(project))
    shown = [{"caption": moment.caption, "lines": [line._asdict() for line in moment.lines]} for moment in moments]
    data = {"moments": shown, "project": project if args.keep else None}
    end = f"The sample project is kept in {clean(project)}" if args.keep else "The sample project was deleted."
    return CommandResult(data, lambda screen: f"{_text(screen, moments)}\n{end}")


@contextmanager
def sample_project(keep: bool = False) -> Iterator[str]:
    """Make a folder for the sample project, with a home, a cache and a state folder beside it."""
    with files.temporary_folder("onrecord-demo-", is_kept=keep) as folder, paths.override(_local(folder)):
        yield os.path.join(folder, "ferry")


def _local(folder: str) -> dict[str, str]:
    return {name: os.path.join(folder, below) for name, below in _LOCAL.items()}


def session(project: str) -> Iterator[DemoMoment]:
    """Yield the moments of a session in the sample project, each with what the hooks and commands really say."""
    yield DemoMoment("A session starts with the map, one line for each record", (DemoLine(MEMORY, _map(project)),))
    yield DemoMoment(
        "A prompt brings the decision that it is about, and the answer changes",
        (
            DemoLine(YOU, _REDIS),
            DemoLine(AGENT, "(without Onrecord) I'll add a Redis container for the sessions."),
            DemoLine(MEMORY, _at_prompt(project, _REDIS)),
            DemoLine(AGENT, "Not Redis: it lost sessions before. I'll look at auth.sessions."),
            DemoLine(YOU, _FOOTER),
            DemoLine(MEMORY, _at_prompt(project, _FOOTER) or "(nothing: no record is about it)"),
        ),
    )
    yield DemoMoment(
        "A command brings the rule that governs it",
        (
            DemoLine(AGENT, "$ pip install tzdata"),
            DemoLine(MEMORY, _at_command(project, "pip install tzdata")),
            DemoLine(AGENT, "$ uv add tzdata"),
        ),
    )
    yield DemoMoment(
        "A correction is learnt: the second time, the agent drafts a check",
        (
            DemoLine(YOU, _NOT_FLOATS),
            DemoLine(MEMORY, _corrected_twice(project)),
            DemoLine(AGENT, f"$ onrecord update {FARES} --draft --check …"),
            DemoLine(YOU, f"$ onrecord review --accept {_accepted_check(project)}"),
        ),
    )
    yield DemoMoment(
        "The check stops the next pull request, whoever wrote it",
        (DemoLine(CI, f"$ onrecord check - < pull-request.diff\n{_checked(project)}"),),
    )


def make(project: str) -> None:
    """Make the sample project."""
    _write_code(project)
    for words in _records():
        _command(project, *words)


def _map(project: str) -> str:
    """Return the lines of the map that the session starts with."""
    context = _hook(project, "session_start", source="startup")
    lines = (clean(html.unescape(line[2:])) for line in context.split("\n") if line.startswith("- "))
    return "\n".join(fit(line, _WIDTH - _SPEAKER_WIDTH) for line in lines)


def _at_prompt(project: str, prompt: str, session: str = "demo") -> str:
    """Return the rules that the hook adds to a prompt."""
    return _rules(_hook(project, "user_prompt_submit", session, prompt=prompt))


def _at_command(project: str, command: str) -> str:
    """Return the rule that the hook shows at a command."""
    return _rules(_hook(project, "pre_tool_use", tool_name="Bash", tool_input={"command": command}))


def _corrected_twice(project: str) -> str:
    """Return what the hook shows the agent when it is corrected in this session, after an earlier one."""
    _at_prompt(project, _NOT_FLOATS, "earlier")
    return _at_prompt(project, _NOT_FLOATS)


def _accepted_check(project: str) -> str:
    """Draft the check as the agent does, accept it as the user does, and return the name of the draft."""
    _command(project, "update", FARES, "--draft", "--check", CHECK)
    (draft,) = json.loads(_command(project, "inbox", "--json"))["drafts"]
    _command(project, "review", "--accept", draft["name"])
    return str(draft["name"])


def _checked(project: str) -> str:
    """Return what `onrecord check` prints for the pull request, which it does not let pass."""
    printed = _command(project, "check", "-", stdin=PULL_REQUEST, code=1)
    return f"{printed.rstrip()}: the job fails"


def _write_code(project: str) -> None:
    os.makedirs(os.path.join(project, "ferry"))
    for name, code in CODE.items():
        files.write(os.path.join(project, *name.split("/")), code.encode())


def _records() -> Iterator[tuple[str, ...]]:
    yield ("init",)
    for record in RECORDS.split("\n\n"):
        yield ("save", *shlex.split(record))


def _command(project: str, *words: str, stdin: str = "", code: int = 0) -> str:
    """Run a command as a person would and return its output. Raises CommandFailed if it ends with another code."""
    output, notes = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(notes), _stdin(stdin):
        ended = main([*words, "--project", project])
    if ended != code:
        sys.stderr.write(notes.getvalue())
        raise CommandFailed(f"onrecord {words[0]} ended with code {ended}", fix="the lines above say why")
    return output.getvalue()


@contextmanager
def _stdin(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


def _rules(text: str) -> str:
    """Return the rules of what a hook shows, without their markup."""
    return " ".join(html.unescape(rule) for rule in re.findall(r">([^<]+)</result>", text))


def _hook(project: str, event: str, session: str = "demo", **fields: object) -> str:
    """Run a hook in a process of its own, as an agent does, and return what it shows the agent."""
    payload = {"session_id": session, "cwd": project, "transcript_path": "", **fields}
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = (
        f"import sys; sys.path.insert(0, {source!r}); from onrecord import hooks; "
        f"hooks.WALL_SECONDS = {_WALL_SECONDS}; hooks.main([{event!r}])"
    )
    process = subprocess.run(
        (sys.executable, "-S", "-E", "-c", program), input=json.dumps(payload).encode(), capture_output=True, check=True
    )
    # A hook never fails visibly: here a failure would look like silence.
    for when, what, error in state_file.recent_failures():
        raise RuntimeError(f"{when} {what}: {error}")
    return str(json.loads(process.stdout)["hookSpecificOutput"]["additionalContext"]) if process.stdout else ""


def _text(screen: Screen, moments: list[DemoMoment]) -> str:
    lines = [_OPENING, ""]
    for moment in moments:
        lines.append(screen.paint(moment.caption, "bold"))
        lines += [_spoken(screen, line) for line in moment.lines]
        lines.append("")
    return "\n".join([*lines, _CLOSING])


def _spoken(screen: Screen, demo_line: DemoLine) -> str:
    """Return a text in a column of its own, beside the name of its speaker."""
    first, *more = (
        part for text in demo_line.text.split("\n") for part in wrap(clean(text), _WIDTH - _SPEAKER_WIDTH).split("\n")
    )
    styles = _STYLES.get(demo_line.speaker, ())
    label = f"  {demo_line.speaker}".ljust(_SPEAKER_WIDTH)
    lines = [screen.paint(label, "dim") + screen.paint(first, *styles)]
    return "\n".join([*lines, *(" " * _SPEAKER_WIDTH + screen.paint(line, *styles) for line in more)])
