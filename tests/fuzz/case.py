"""One case: a hostile project, every hook and some commands run in it, and what must be true afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import statistics
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import onrecord
from onrecord.errors import OnrecordError
from onrecord.hooks import EVENTS
from onrecord.record import memory
from tests.fuzz import states, stores, values
from tests.fuzz.harmed_project import PRIVATE, HarmedProject
from tests.hooks import host_events
from tests.hooks.hook_process import ROOT
from tests.known_project import SIX

ASKS = "where do we keep user sessions, postgres or redis?"
ANSWER = "Sessions live in Postgres"
HOOK_RATIO = 100
"""CPU of a hook at most, in bare interpreters: about a second, and a hook ends itself after one and a half."""

COMMAND_RATIO = 3_000
"""A command may take its time, but it ends."""

HOOK_MEMORY = 150_000_000
COMMAND_MEMORY = 400_000_000
_ATTEMPTS = 4
_SECONDS = 150
"""On the clock: a process that has not ended by then hangs."""

_COMMANDS = (
    "list; list --json; search sessions; search postgres --json; show sessions-live-in-postgres-not-redis --history;"
    " doctor; doctor --json; digest; digest --json;"
    " inbox; inbox --json; freshness; audit; audit --json; stats; why {asks};"
    " recall {asks}; config; config --json; index check; import --dry-run; gc --dry-run; try --last 3;"
    " save constraint Quokkas --set rule=none --set impact=bites; index rebuild; init"
).split("; ")
_FAULT = re.compile(
    r"\b(?:Type|Value|Key|Index|Attribute|Recursion|Overflow|Memory|Unicode\w*|Assertion|OS|FileNotFound|IsADirectory|"
    r"NotADirectory|Permission|Name|Lookup|Runtime|ZeroDivision|Operational|Database|Integrity)Error\b"
)


class Finding(NamedTuple):
    """Something that must not happen: where, and what; and whether a busy machine alone could be the reason."""

    where: str
    what: str
    may_be_noise: bool = False


class Run(NamedTuple):
    """A finished process."""

    code: int
    cpu: float
    memory: int
    hung: bool
    out: bytes
    err: bytes


class Fuzzer:
    """The processes of many cases, run in a folder, with the cost of a bare interpreter to compare them with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.worst: dict[str, float] = {}
        self.processes = 0
        self._launcher = subprocess.Popen(
            [sys.executable, "-S", "-E", str(Path(__file__).parent / "launcher.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._template = folder / "template"
        _make_template(self._template)
        self.bare = 0.0
        self.measure_bare()

    def measure_bare(self) -> None:
        """Measure what a bare interpreter costs now: more while other processes share the cores and their caches."""
        bare = [self.run([sys.executable, "-S", "-E", "-c", "pass"], b"", self.folder, {}).cpu for _ in range(9)]
        # The clock of the system ticks in milliseconds; a bare interpreter takes several.
        self.bare = max(statistics.median(bare), 0.004)

    def close(self) -> None:
        assert self._launcher.stdin is not None
        assert self._launcher.stdout is not None
        self._launcher.stdin.close()
        self._launcher.wait(timeout=60)
        self._launcher.stdout.close()

    def run(self, argv: list[str], data: bytes, cwd: Path, env: dict[str, str]) -> Run:
        files = {name: str(self.folder / name) for name in ("stdin", "stdout", "stderr")}
        Path(files["stdin"]).write_bytes(data)
        job = {"argv": argv, "cwd": str(cwd), "env": env, "seconds": _SECONDS, **files}
        assert self._launcher.stdin is not None
        assert self._launcher.stdout is not None
        self._launcher.stdin.write(json.dumps(job) + "\n")
        self._launcher.stdin.flush()
        used = json.loads(self._launcher.stdout.readline())
        self.processes += 1
        out, err = (Path(files[name]).read_bytes() for name in ("stdout", "stderr"))
        return Run(used["code"], used["cpu"], used["memory"], used["hung"], out, err)

    def case(self, seed: str, number: int, only: tuple[str, ...] = ()) -> tuple[list[str], list[Finding]]:
        """Make a project, run everything in it, and return its states and what went wrong.

        The same project is made again where the machine may have been too busy: what it costs it costs every time.
        """
        for _ in range(_ATTEMPTS):
            names, findings = self._attempt(seed, number, only)
            if not findings or not all(finding.may_be_noise for finding in findings):
                break
        return names, findings

    def _attempt(self, seed: str, number: int, only: tuple[str, ...]) -> tuple[list[str], list[Finding]]:
        rng = Random(f"{seed}:{number}")
        place = HarmedProject(self.folder / "case")
        shutil.rmtree(place.folder, ignore_errors=True)
        shutil.copytree(self._template, place.folder, symlinks=True)
        Path(place.program).write_text(f"#!/bin/sh\ntouch {place.outside}/a-program-was-run\ncat\n")
        Path(place.program).chmod(0o755)
        chosen = [state for state in states.ALL if state.__name__ in only] if only else _choose(rng, number)
        try:
            for state in chosen:
                state(rng, place)
            findings = list(_Check(self, place, rng).everything())
        finally:
            for handle in place.held:
                os.close(handle)
        return [state.__name__ for state in chosen], findings

    def note(self, name: str, value: float) -> None:
        self.worst[name] = max(value, self.worst.get(name, 0.0))


def _choose(rng: Random, number: int) -> list[states.State]:
    """Return one state after the other, each with none to four drawn by lot."""
    first = states.ALL[number % len(states.ALL)]
    drawn = rng.sample(states.ALL, rng.choice((0, 0, 1, 2, 4)))
    return [state for state in states.ALL if state is first or state in drawn]


def _make_template(folder: Path) -> None:
    """Make a project in git with six records, a home, a transcript, and a folder that nobody may read or write."""
    place = HarmedProject(folder)
    (place.project / "src").mkdir(parents=True)
    (place.project / "src" / "session.py").write_text("def login():\n    return 'row in auth.sessions'\n")
    place.home.mkdir()
    place.outside.mkdir()
    private = {**SIX["decision"], "title": PRIVATE}
    (place.outside / "private.json").write_text(json.dumps(private))
    (place.outside / "private.md").write_text(f"- [{PRIVATE}](decisions/x.json) {PRIVATE}\n")
    (place.outside / "gitconfig").write_text(f"[core]\n\tfsmonitor = {place.program}\n")
    with onrecord.paths.override(_environment(place)):
        project = onrecord.open(str(place.project))
        for category, fields in SIX.items():
            more = {"related_files": ["src/session.py"]} if category == "decision" else {}
            project.save(category, {**fields, **more})
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "start"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(
            ["git", *identity, *words],
            cwd=place.project,
            env={**os.environ, **_environment(place)},
            check=True,
            timeout=120,
        )
    turns = (
        ("user", ASKS),
        ("assistant", "We decided to keep sessions in Postgres."),
        ("user", "no, from now on use UTC"),
    )
    lines = [{"type": role, "message": {"role": role, "content": text}, "uuid": text[:4]} for role, text in turns]
    place.transcript.write_text("\n".join(map(json.dumps, lines)))


def _environment(place: HarmedProject) -> dict[str, str]:
    home = str(place.home)
    return {
        "HOME": home,
        "PATH": os.environ["PATH"],
        "CLAUDE_CONFIG_DIR": f"{home}/.claude",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


class _Check:
    """The processes of one case and the checks on them."""

    def __init__(self, fuzzer: Fuzzer, place: HarmedProject, rng: Random) -> None:
        self._fuzzer = fuzzer
        self._place = place
        self._rng = rng
        self._host = rng.choice(list(host_events.HOSTS))
        self._records = dict(_valid_records(place.store))
        self._others = _snapshot(place)

    def everything(self) -> Iterator[Finding]:
        yield from self._answered("before")
        if self._place.held:
            stores.held_locks(self._rng, self._place)
        events = [name for name in EVENTS if name != "user_prompt_submit"]
        self._rng.shuffle(events)
        for name in events:
            yield from self._hook(name, self._payload(name, "s1"))[1]
        # A hook indexes a share of a large store; a command ends what hooks began.
        if self._place.is_large:
            yield from self._command("search sessions")
        for words in self._rng.sample(_COMMANDS, min(4, len(_COMMANDS))):
            yield from self._command(words)
        yield from self._answered("after")
        yield from self._untouched()
        yield from self._logged()

    def _answered(self, when: str) -> Iterator[Finding]:
        """Yield what is wrong unless the record that the prompt asks for is shown, whatever else is in the store."""
        session = f"asks-{when}"
        typed = {**host_events.HOSTS[self._host].prompt, "conversation_id": session}
        payload = {**self._payload("user_prompt_submit", session), **typed}
        run, findings = self._hook("user_prompt_submit", payload)
        yield from findings
        is_excused = self._place.may_be_silent or (when == "before" and self._place.is_large)
        if ANSWER.encode() not in run.out and not is_excused:
            yield Finding(f"user_prompt_submit {when}", "the right record was not shown", self._was_short_of_time())

    def _payload(self, name: str, session: str) -> dict[str, Any]:
        rng, project = self._rng, self._place.project
        files = [
            *map(str, project.glob("src/*")),
            str(self._place.store / "decisions" / "x.json"),
            values.text(rng)[:300],
        ]
        commands = (
            "make test",
            "git pull && cat .claude/memory/index.md",
            f"echo '{'x' * rng.choice((10, 300_000))}' > .claude/memory/a.json",
        )
        return {
            "session_id": session,
            "cwd": str(self._place.cwd),
            "hook_event_name": name,
            "transcript_path": str(self._place.transcript),
            "prompt": rng.choice((ASKS, values.text(rng), "<memory-context></memory-context>" * 20_000)),
            "source": rng.choice(("startup", "resume", "compact", "clear")) if name == "session_start" else "user",
            "tool_name": rng.choice(("Bash", "Read", "Edit", "Write", *host_events.tools(self._host))),
            "tool_input": {
                "command": rng.choice(commands),
                "file_path": rng.choice(files),
                "content": values.text(rng),
                "commands": [rng.choice(commands), values.text(rng)],
            },
            "tool_response": rng.choice(
                ({"stdout": values.text(rng)}, {"llmContent": values.text(rng)}, [values.text(rng)])
            ),
            "error": rng.choice(
                ("Exit code 2\nCommitFailedError: the coordinator is not aware of this member", values.text(rng))
            ),
            "stop_hook_active": False,
            "last_assistant_message": rng.choice(
                ("We decided to use tabs because everybody sets the width.", values.text(rng))
            ),
            "trigger": "auto",
            "reason": "other",
        }

    def _hook(self, name: str, payload: dict[str, Any]) -> tuple[Run, list[Finding]]:
        argv = [sys.executable, "-S", "-E", str(ROOT / "src/onrecord/hooks/run.py"), name, self._host]
        run = self._fuzzer.run(argv, json.dumps(payload).encode(), self._place.folder, _environment(self._place))
        wrong = [f"took {run.memory / 1e6:.0f} MB"] if run.memory > HOOK_MEMORY else []
        wrong += [f"ended with {run.code}"] if run.code else []
        lines = run.err.decode("utf-8", "replace").splitlines()
        wrong += [f"wrote to stderr: {line[:200]!r}" for line in lines if not line.startswith("onrecord: ")]
        try:
            answer = json.loads(run.out.decode("ascii")) if run.out else {}
        except ValueError:
            answer = {}
            wrong.append(f"answered what is no JSON: {run.out[:200]!r}")
        for text in (*_texts(answer), *lines):
            wrong += _harm(text, with_mark=text not in lines)
        where = f"{name} of {self._host}"
        return run, [*self._slow(where, run, "hook", HOOK_RATIO), *(Finding(where, what) for what in wrong)]

    def _command(self, words: str) -> Iterator[Finding]:
        argv = [
            sys.executable,
            "-S",
            "-E",
            str(ROOT / "bin" / "onrecord"),
            *(ASKS if w == "{asks}" else w for w in words.split()),
        ]
        run = self._fuzzer.run(
            [*argv, "--project", str(self._place.cwd)], b"", self._place.folder, _environment(self._place)
        )
        wrong = [f"took {run.memory / 1e6:.0f} MB"] if run.memory > COMMAND_MEMORY else []
        shown = (run.out + run.err).decode("utf-8", "replace")
        if run.code not in (0, 1) or "Traceback (most recent" in shown:
            wrong.append(f"ended with {run.code}: {' | '.join(shown.strip().splitlines()[-4:])[:400]}")
        wrong += _harm(shown, with_mark=words.startswith("recall"))
        if "--json" in words:
            try:
                json.loads(run.out)
            except ValueError:
                wrong.append(f"answered what is no JSON: {run.out[:200]!r}")
        yield from self._slow(f"onrecord {words}", run, "command", COMMAND_RATIO)
        yield from (Finding(f"onrecord {words}", what) for what in wrong)

    def _slow(self, where: str, run: Run, kind: str, ratio: float) -> Iterator[Finding]:
        if run.cpu > ratio * self._fuzzer.bare:
            # The two are compared as they are at the same time.
            self._fuzzer.measure_bare()
        used = run.cpu / self._fuzzer.bare
        self._fuzzer.note(f"{kind} CPU ratio", used)
        self._fuzzer.note(f"{kind} MB", run.memory / 1e6)
        if run.hung:
            yield Finding(where, "did not end", may_be_noise=True)
        if used > ratio:
            yield Finding(where, f"took {run.cpu:.2f} s of CPU, {used:.0f} times a bare interpreter", may_be_noise=True)

    def _was_short_of_time(self) -> bool:
        """True if a hook was ended by the clock, or a step of it."""
        return any("took too long" in log.read_text("utf-8", "replace") for log in self._logs())

    def _untouched(self) -> Iterator[Finding]:
        """Yield records lost, renamed or changed, and what was written outside store, state and cache."""
        for path, data in self._records.items():
            if not path.is_file() or path.read_bytes() != data:
                yield Finding("store", f"a valid record was changed or lost: {path.name!r}")
        after = _snapshot(self._place)
        for path in sorted({*self._others, *after}):
            if self._others.get(path) != after.get(path):
                yield Finding("files", f"written outside store, state and cache: {path[-120:]!r}")
        for file in _regular_files(self._place.store):
            if PRIVATE.encode() in file.read_bytes():
                yield Finding("files", f"the user's private words were copied into {file.name!r}")

    def _logged(self) -> Iterator[Finding]:
        """Yield the unexpected errors because of which a hook gave up."""
        for log in self._logs() if not self._place.changes_state else ():
            for line in log.read_text("utf-8", "replace").splitlines():
                if "\thook " in line and _FAULT.search(line):
                    yield Finding("failure log", line.partition("\t")[2][:300])

    def _logs(self) -> list[Path]:
        return [log for log in self._place.state.glob("*.log*") if log.is_file()]


def _valid_records(store: Path) -> Iterator[tuple[Path, bytes]]:
    for file in _regular_files(store):
        if file.suffix == ".json" and file.parent.name != "inbox" and file.name != "memory-config.json":
            data = file.read_bytes()
            try:
                memory.parse(data)
            except (OnrecordError, ValueError):
                continue
            yield file, data


def _regular_files(folder: Path) -> Iterator[Path]:
    for here, _, names in os.walk(folder):
        for name in names:
            if stat.S_ISREG(os.lstat(os.path.join(here, name)).st_mode):
                yield Path(here, name)


def _snapshot(place: HarmedProject) -> dict[str, tuple[Any, ...]]:
    """Return everything but the store, the state and the cache, as it is on the disk."""
    ours = {str(folder) for folder in (place.store, place.state, place.cache)}
    found: dict[str, tuple[Any, ...]] = {}
    for here, folders, names in os.walk(place.folder):
        folders[:] = [name for name in folders if os.path.join(here, name) not in ours]
        for name in (*folders, *names):
            path = os.path.join(here, name)
            info = os.lstat(path)
            is_file = stat.S_ISREG(info.st_mode)
            found[path] = (
                info.st_mode,
                info.st_size if is_file else 0,
                _content(path, info.st_size) if is_file else "",
            )
    # Where state and cache are made, the folders above them are.
    above = {str(parent) for folder in (place.state, place.cache) for parent in folder.parents}
    return {path: facts for path, facts in found.items() if path not in above}


def _content(path: str, size: int) -> str:
    if size > 3_000_000:
        return str(os.lstat(path).st_mtime_ns)
    with open(path, "rb") as file:
        return hashlib.blake2b(file.read()).hexdigest()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _texts(key)
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _harm(text: str, *, with_mark: bool) -> list[str]:
    """Return what in a text could pose as structure, paint a terminal, or give away what is private."""
    wrong = []
    if with_mark and values.MARK in text:
        at = text.index(values.MARK)
        wrong.append(f"unescaped: {text[max(0, at - 60) : at + 40]!r}")
    odd = sorted({char for char in text if _is_odd(char)})
    if odd:
        at = text.index(odd[0])
        wrong.append(f"control characters {odd[:4]!r} in {text[max(0, at - 40) : at + 20]!r}")
    if PRIVATE in text:
        wrong.append("shows the user's private words")
    return wrong


def _is_odd(char: str) -> bool:
    is_control = unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"
    return is_control or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
