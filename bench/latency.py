"""`python -m bench latency`: what the hook behind a prompt costs, against a bare interpreter, run turn by turn."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench import results, stage
from onrecord import paths
from onrecord.record.memory import Memory
from onrecord.scopes import Scope
from onrecord.shared import remotes

ROOT = Path(__file__).parents[1]
SIZES = (50, 500, 5_000, 50_000)
REPLICA = 20_000
OWN = 500
"""Records of the project beside a replica."""

SCOPES = (Scope(), Scope(), Scope(languages=("go",)), Scope(repositories=("github.com/acme/*",)))
"""Where the records of a replica apply, in turn."""

ORDINARY, GOVERNED = "an ordinary command", "a command that a record governs"
STARTS = "a session starts"
COMMANDS = {
    ORDINARY: ("ls -la src", "npm test", "git status --short", "sed -n '1,80p' README.md", "git log --oneline -5"),
    GOVERNED: ("npm install lodash", "cd src && npm i -D vitest"),
}
PNPM = Memory(
    "preference",
    "pnpm",
    "Packages are added with pnpm, never npm",
    {"topic": "packages", "value": "Use pnpm add.", "reason": "one lockfile", "strength": "strong"},
    created_at="2026-01-01T00:00:00Z",
    updated_at="2026-01-01T00:00:00Z",
    triggers=("npm install",),
)

Event = dict[str, Any]
_PREPARE = "import sys; sys.path.insert(0, sys.argv[1]); from onrecord.search import index; index.open(sys.argv[2])"


class Cost(NamedTuple):
    """Milliseconds of one process: CPU time, and on the clock."""

    cpu: float
    wall: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="records in the store")
    parser.add_argument(
        "--replica", type=int, default=REPLICA, help="records in the replica of a shared store; 0: none"
    )
    parser.add_argument("--times", type=int, default=21, help="runs of each kind (default 21)")
    parser.add_argument(
        "--pythons", nargs="+", default=oldest_and_newest(), help="interpreters (default: 3.9 and 3.13)"
    )


def run(options: argparse.Namespace) -> int:
    stored = results.load("latency") or {}
    by_python, beside = stored.get("pythons", {}), stored.get("replica", {})
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="onrecord-latency-") as folder:
            prompts = write_store(Path(folder, "project", ".claude", "memory"), size)
            stage.write(str(Path(folder, "project", ".claude", "memory")), [PNPM])
            # A project is nearly always a whole repository: without it, the folders above are looked at.
            _work(Path(folder, "project"))
            for python in options.pythons:
                costs = measure(Path(folder), size, prompts, options.times, python)
                by_python.setdefault(version(python), {})[str(size)] = costs
                print(json.dumps({version(python): {size: costs}}), flush=True)
        results.save("latency", {"times": options.times, "pythons": by_python, "replica": beside})
    for python in options.pythons if options.replica else ():
        with tempfile.TemporaryDirectory(prefix="onrecord-latency-") as folder:
            beside[version(python)] = measure_replica(Path(folder), options.replica, options.times, python)
        print(json.dumps({version(python): beside[version(python)]}), flush=True)
    results.save("latency", {"times": options.times, "pythons": by_python, "replica": beside})
    return 0


def oldest_and_newest() -> list[str]:
    """Return the oldest and the newest supported Python that are installed; else the one that runs this."""
    return [path for path in map(_installed, ("3.9", "3.13")) if path] or [sys.executable]


def _installed(name: str) -> str:
    """Return the program of a Python itself: the shim of a version manager costs more than what is measured."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    own = sorted(str(path) for path in root.glob(f"{name}.*/bin/python{name}"))
    return own[0] if own else shutil.which(f"python{name}") or ""


def version(python: str) -> str:
    command = [python, "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def measure(folder: Path, size: int, prompts: list[str], times: int, python: str) -> dict[str, dict[str, Any]]:
    """Return ratios to a bare interpreter for a warm cache, after one file changed, and with no cache at all."""
    store, own = folder / "project" / ".claude" / "memory", folder / version(python)
    env = environment(own)
    subprocess.run([python, "-c", _PREPARE, str(ROOT / "src"), str(store)], env=env, check=True)
    time.sleep(2.1)  # A folder younger than this is listed again, as it may still change.
    cases: dict[str, Callable[[int], None]] = {
        "warm": lambda turn: None,
        "one file changed": lambda turn: _change(store, turn),
    }
    if size <= SIZES[1]:
        cases["cold cache"] = lambda turn: _forget(own / "cache")

    hook = command(python, "user_prompt_submit")
    asked = partial(event, folder / "project", prompts)
    # Commands come first: a hook that reads what the others changed costs more.
    before_tool = command(python, "pre_tool_use")
    costs = {
        case: compare(before_tool, partial(_command, folder / "project", lines, case), env, times)
        for case, lines in COMMANDS.items()
    }
    starts = partial(_start, folder / "project")
    costs[STARTS] = compare(command(python, "session_start"), partial(starts, STARTS), env, times)
    for case, before in cases.items():
        costs[case] = compare(hook, partial(asked, case), env, times, before)
    return costs


def _command(project: Path, lines: Sequence[str], case: str, turn: int) -> Event:
    """Return a command in a session of its own."""
    called = {"tool_name": "Bash", "tool_input": {"command": lines[turn % len(lines)]}}
    return {**called, "cwd": str(project), "session_id": f"{case}{turn}".replace(" ", "")}


def event(project: Path, prompts: Sequence[str], case: str, turn: int) -> Event:
    """Return a prompt in a session of its own: in one that has seen a record, showing it again costs less."""
    return {"prompt": prompts[turn % len(prompts)], "cwd": str(project), "session_id": f"{case}{turn}".replace(" ", "")}


def measure_replica(folder: Path, size: int, times: int, python: str) -> dict[str, dict[str, Any]]:
    """Measure hooks in a project of 500 records, alone and beside a large shared store, half of it limited in scope."""
    store, env = folder / "project" / ".claude" / "memory", environment(folder)
    prompts = write_store(store, OWN)
    _work(folder / "project")
    with paths.override({name: env[name] for name in ("HOME", "CLAUDE_CONFIG_DIR", "ONRECORD_DATA_DIR")}):
        remotes.add("platform", "/srv/platform.git")
        replica = Path(paths.replica("platform").root)
        remotes_file = Path(paths.remotes_file())
    prompts = [*prompts[::2], *write_store(replica, size, SCOPES)[1::2]]
    for root in (store, replica):
        subprocess.run([python, "-c", _PREPARE, str(ROOT / "src"), str(root)], env=env, check=True)
    time.sleep(2.1)
    events = {
        "a prompt": ("user_prompt_submit", partial(event, folder / "project", prompts)),
        "a session starts": ("session_start", partial(_start, folder / "project")),
        "a command fails": ("post_tool_use_failure", partial(_failure, folder / "project", prompts)),
    }

    def measured(case: str) -> dict[str, dict[str, Any]]:
        hooks = {what: (command(python, name), partial(make, case)) for what, (name, make) in events.items()}
        return {f"{what}, {case}": compare(hook, asked, env, times) for what, (hook, asked) in hooks.items()}

    beside = measured(f"beside a replica of {size:,}")
    remotes_file.unlink()
    return {**beside, **measured("without it")}


def _work(project: Path) -> None:
    """Make work in a Go project under git: a branch with a commit of its own, and a changed file."""
    file = project / "src" / "billing" / "invoice.go"
    file.parent.mkdir(parents=True)
    git = ("git", "-C", str(project), "-c", "user.name=bench", "-c", "user.email=bench@example.org")
    (project / "go.mod").write_text("")
    (project / ".gitignore").write_text(".claude/\n")
    file.write_text("package billing\n")
    commit = ("commit", "-q", "--allow-empty", "-m")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        (*commit, "Start billing"),
        ("checkout", "-q", "-b", "feature/invoice-rounding"),
        (*commit, "Round invoices half to even"),
    ):
        subprocess.run([*git, *words], check=True)
    file.write_text("package billing\n\nvar rounding = 2\n")


def _start(project: Path, case: str, turn: int) -> Event:
    return {"source": "startup", "cwd": str(project), "session_id": f"s{case}{turn}".replace(" ", "")}


def _failure(project: Path, prompts: Sequence[str], case: str, turn: int) -> Event:
    """Return a failed command with five lines of error, in words of the records: none of them quotes a line."""
    words = prompts[turn % len(prompts)].split()
    lines = [f"error: {' '.join(words[start : start + 6])} failed" for start in range(3, 23, 4)]
    called = {
        "tool_name": "Bash",
        "tool_input": {"command": "make deploy"},
        "error": "\n".join(["Exit code 1", *lines]),
    }
    return {**called, "cwd": str(project), "session_id": f"f{case}{turn}".replace(" ", "")}


def environment(folder: Path) -> dict[str, str]:
    """Return the variables that a hook needs, with a home of its own."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "home" / ".claude"),
        "ONRECORD_DATA_DIR": str(folder / "data"),
        "ONRECORD_CACHE_DIR": str(folder / "cache"),
        "ONRECORD_STATE_DIR": str(folder / "state"),
    }


def command(python: str, event: str) -> list[str]:
    return [python, "-S", "-E", str(ROOT / "src/onrecord/hooks/run.py"), event]


def compare(
    hook: list[str],
    event: Callable[[int], Event],
    env: dict[str, str],
    times: int,
    before: Callable[[int], None] = lambda turn: None,
) -> dict[str, Any]:
    """Return what a hook costs against a bare interpreter, the two run in turn."""
    bare: list[Cost] = []
    ours: list[Cost] = []
    for turn in range(times + 2):
        before(turn)
        bare.append(timed([*hook[:3], "-c", "pass"], b"", env))
        ours.append(timed(hook, json.dumps(event(turn)).encode(), env))
    bare, ours = bare[2:], ours[2:]
    cpu, wall = (statistics.median(getattr(cost, kind) for cost in bare) for kind in ("cpu", "wall"))
    ratios = sorted(cost.cpu / cpu for cost in ours)
    return {
        "bare cpu ms": round(cpu, 2),
        "cpu ms": round(statistics.median(cost.cpu for cost in ours), 2),
        "cpu ratio": round(statistics.median(ratios), 2),
        "cpu ratio, nine in ten": [round(ratios[len(ratios) // 20], 2), round(ratios[-1 - len(ratios) // 20], 2)],
        "wall ratio": round(statistics.median(cost.wall for cost in ours) / wall, 2),
        "worst cpu ratio": round(ratios[-1], 2),
    }


def timed(command: list[str], data: bytes, env: dict[str, str]) -> Cost:
    """Run a process with some input, and return what it costs."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
    )
    assert process.stdin
    process.stdin.write(data)
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Cost((usage.ru_utime + usage.ru_stime) * 1000, (time.perf_counter() - began) * 1000)


def write_store(store: Path, size: int, scopes: Sequence[Scope] = (Scope(),)) -> list[str]:
    """Write invented records with words distributed as in real text; return prompts made of their words."""
    rng = random.Random(size)
    words = vocabulary(rng, 2_000 + size // 2)
    weights = [1 / (place + 3) for place in range(len(words))]
    totals = [sum(weights[:1])]
    for weight in weights[1:]:
        totals.append(totals[-1] + weight)

    def text(count: int) -> str:
        return " ".join(rng.choices(words, cum_weights=totals, k=count))

    day = "2026-01-01T00:00:00Z"
    for number in range(size):
        content = {"kind": "policy", "rule": text(60), "impact": [text(20)], "severity": "medium", "active": True}
        record = Memory("constraint", f"r{number:06}", text(8), content, created_at=day, updated_at=day, tags=("t",))
        if number % 2:
            decision = {"status": "accepted", "context": text(40), "decision": text(30), "rationale": [text(15)]}
            record = record._replace(category="decision", content=decision)
        if number % 10 == 9:
            steps = {"trigger": text(20), "symptoms": [text(8), text(8)], "steps": [text(20)], "verification": text(5)}
            record = record._replace(category="runbook", content=steps)
        stage.write(str(store), [record._replace(scope=scopes[number % len(scopes)])])
    return [f"please look at {text(12)} and tell me why {text(8)} in src/{text(1)}/{text(1)}.py" for _ in range(20)]


def vocabulary(rng: random.Random, count: int) -> list[str]:
    starts, middles = "b br c d dr f g gr h k l m n p pr r s st t tr v w".split(), "a e i o u ai ea io ou".split()
    ends = "b ck d f g l m n p r s t x nd rt st".split()
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = rng.randint(1, 3)
        words["".join(rng.choice(starts) + rng.choice(middles) for _ in range(syllables)) + rng.choice(ends)] = None
    return list(words)


def _change(store: Path, turn: int) -> None:
    present = sorted((store / "decisions").iterdir())
    path = present[turn % len(present)]
    before = path.read_bytes()
    after = before.replace(b"accepted", b"proposed")
    path.write_bytes(after if after != before else before.replace(b"proposed", b"accepted"))


def _forget(cache: Path) -> None:
    for path in cache.glob("*.sqlite*"):
        path.unlink()
