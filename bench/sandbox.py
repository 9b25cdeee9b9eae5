"""Private copies of the project in which its tests run."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.mutant_plugin import PLAN

SLOWEST_TEST = 60.0
"""Seconds for one test, in place of the time limit of the suite: a mutant that waits for ever is noticed then."""


class Outcome(NamedTuple):
    """The exit code of pytest (None when it ran out of time), the tests that failed, and seconds of CPU by test."""

    code: int | None
    failures: list[str]
    seconds: dict[str, float]

    @property
    def failed(self) -> str:
        """The first test that failed."""
        return self.failures[0] if self.failures else ""

    @property
    def is_failure(self) -> bool:
        return self.code not in (0, 5)  # 5: no test was selected


class Sandbox:
    """A copy of the files that git lists or would list; what is changed in it is read anew by every process."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.root = folder / "tree"
        self._folder = folder
        self._clock = 1_000_000_000
        command = ["git", "-C", str(project), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, names):
            if (project / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(project / name, self.root / name)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)  # tests list the files of the project

    def write(self, path: str, text: str) -> None:
        """Write a file with a second of its own: Python recognises what it has compiled by whole seconds."""
        self._clock += 1
        (self.root / path).write_text(text, encoding="utf-8")
        os.utime(self.root / path, (self._clock, self._clock))

    @contextlib.contextmanager
    def changed(self, path: str, text: str) -> Iterator[None]:
        before = (self.root / path).read_text(encoding="utf-8")
        self.write(path, text)
        try:
            yield
        finally:
            self.write(path, before)

    def test(
        self, paths: Sequence[str], *, order: Sequence[str] = (), timeout: float, options: Sequence[str] = ()
    ) -> Outcome:
        """Run test files; with an order, only the tests in it."""
        plan, report = self._folder / "plan.json", self._folder / "report.json"
        plan.write_text(json.dumps({"order": list(order), "report": str(report)}), encoding="utf-8")
        report.unlink(missing_ok=True)
        home, temporary = self._folder / "home", self._folder / "tmp"
        for folder in (home, temporary):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        search = (self.root / "src", self.root, Path(__file__).parents[1])
        environment = {**os.environ, PLAN: str(plan), "HOME": str(home), "TMPDIR": str(temporary)}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, search))
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins nobody needs here are half of a short run
        environment["ONRECORD_TEST_SECONDS"] = str(SLOWEST_TEST)
        code = _run([*_pytest(), *(["-x"] if order else []), *paths], self.root, environment, timeout)
        result = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {"failed": [], "seconds": {}}
        return Outcome(code, result["failed"], result["seconds"])


def _pytest() -> list[str]:
    options = ["-q", "-m", "not heavy and not client"]
    plugins = ["-p", "no:cacheprovider", "-p", "bench.mutant_plugin"]
    if importlib.util.find_spec("hypothesis"):
        plugins += ["-p", "_hypothesis_pytestplugin", "--hypothesis-seed=0"]
    return [sys.executable, "-m", "pytest", *options, *plugins]


def _run(command: list[str], folder: Path, environment: dict[str, str], timeout: float) -> int | None:
    """Return the exit code; None if the time was up, and the process and its children were killed."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **quiet)
    try:
        return int(process.wait(timeout))
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
