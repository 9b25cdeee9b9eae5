"""Every check that must pass before a change goes in. `scripts/test` runs them all from a fresh clone.

    nox                             lint, types, docs, the tests on every Python found
    nox -s lint types               some of them
    nox -s tests-3.12 -- -k store   one Python, with arguments for pytest
    nox -s long                     the races and properties at length; not part of `nox`
    nox -s faults                   every fault at every file call of every command; not part of `nox`
    nox -s attacks                  the fuzzer and the attack scripts for 15 minutes; not part of `nox`
    nox -s postgres                 the tests of the hub with every maintained PostgreSQL; not part of `nox`
    nox -s hosts                    every client of tests/hosts, and the table in the docs; not part of `nox`

The oldest and the newest Python run the tests of the core and of the hooks; the Python that runs nox, the whole suite,
or what the two have not run.
"""

from __future__ import annotations

import atexit
import functools
import glob
import os
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Callable

import nox

ROOT = Path(__file__).resolve().parent
MAIN = "{}.{}".format(*sys.version_info)
ENDS = ("3.9", "3.13")
PYTHONS = list(dict.fromkeys((*ENDS, MAIN, "3.10", "3.11", "3.12")))
LIGHT = ("hypothesis", "pytest", "pytest-xdist")
CORE = (
    "coldstart timestamps files settings paths errors record/fields record/schema record/memory record/slug"
    " record/secrets record/compose record/lifecycle record/summary_line store/store store/index_md store/writer"
    " store/hostile"
).split()
"""Modules that hooks are made of, by their tests; run on the oldest and the newest Python, with all of tests/hooks."""

BETWEEN = (
    "test_coldstart.py",
    "test_timestamps.py",
    "store/test_store.py",
    "hooks/test_run.py",
    "hooks/test_modules.py",
)
"""Tests that can fail on a Python between two that pass: imports, readers of the standard library, entry points."""

WORKERS = "3"
"""Test processes on two cores: they wait for programs and disks a third of the time."""

HOUR = "3600"
"""Seconds that a test may take where it is repeated many times."""

IS_IN_VENV = Path(sys.prefix).resolve() == (ROOT / ".venv").resolve()
"""True if `scripts/test` runs this: its environment has all that the tests need, so no other is created for them."""

BARE = ["--without-pip"]
"""Arguments for `venv`: pip is lent by the Python that runs nox, which saves seconds for each environment."""

TOOLS = "none" if IS_IN_VENV else "venv"
"""Backend of the environment for tools: none if `.venv` has them."""

_counts: Counter[str] = Counter()
_failed: list[str] = []
_ran: list[str] = []
_skipped: Counter[str] = Counter()

nox.needs_version = ">=2025.11.12"
nox.options.sessions = ["lint", "types", "docs", "tests"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False


def _reported(check: Callable[[nox.Session], None]) -> Callable[[nox.Session], None]:
    """Return `check`, counted in the summary."""

    @functools.wraps(check)
    def run(session: nox.Session) -> None:
        _ran.append(session.name)
        failures = _counts["failed"]
        try:
            check(session)
        except BaseException:
            _failed.append(session.name)
            # A check without tests, or one that broke before its first test, is one failure.
            _counts["failed"] += _counts["failed"] == failures
            raise

    return run


@nox.session(venv_backend=TOOLS, venv_params=BARE)
@_reported
def lint(session: nox.Session) -> None:
    """Lint, and check the formatting."""
    _install(session, _pinned("ruff"))
    _python(session, "-m", "ruff", "check", "-q", ".")
    _python(session, "-m", "ruff", "format", "-q", "--check", ".")


@nox.session(venv_backend=TOOLS, venv_params=BARE)
@_reported
def types(session: nox.Session) -> None:
    """Check the types of the package, strictly."""
    # The types of what the package itself uses, where it uses anything.
    _install(session, *map(_pinned, ("mypy", "jinja2", "psycopg", "starlette", "uvicorn")))
    _python(session, "-m", "mypy")


@nox.session(venv_backend=TOOLS, venv_params=BARE)
@_reported
def docs(session: nox.Session) -> None:
    """Compare the reference pages with the program they are generated from."""
    _python(session, "scripts/docs", "--check")


@nox.session(python=PYTHONS, venv_params=BARE)
@_reported
def tests(session: nox.Session) -> None:
    """Run the suite on the Python that runs nox; on others, the tests of the core and of the hooks."""
    core = [f"tests/{name}" for name in (*(_test_file(name) for name in CORE), "hooks")]
    if session.python == MAIN:
        if not IS_IN_VENV:
            # The tests of the package install it with pip on every Python; pip 26 no longer serves 3.9.
            _install(session, "pip<26", "-e", ".[test]")
        program = sys.executable if IS_IN_VENV else "python"
        # What passes on the oldest and the newest Python passes between.
        ends = {f"tests-{version}" for version in ENDS}
        passed = core if MAIN not in ENDS and ends <= {*_ran} - {*_failed} else []
        _pytest(session, *(f"--ignore={name}" for name in passed), *session.posargs, program=program)
        if passed:
            _pytest(session, "-m", "heavy", *passed, program=program)
        return
    _install(session, *LIGHT)
    files = core if session.python in ENDS else [f"tests/{name}" for name in BETWEEN]
    light = {"PYTHONPATH": str(ROOT / "src"), "HYPOTHESIS_PROFILE": "quick"}
    _pytest(session, "-p", "no:cacheprovider", "-m", "not heavy", *files, *session.posargs, **light)


def _test_file(module: str) -> str:
    """Return the test file of `module`, such as `store/test_kill.py` for `store/kill`."""
    folder, slash, name = module.rpartition("/")
    return f"{folder}{slash}test_{name}.py"


@nox.session(venv_params=BARE)
@_reported
def long(session: nox.Session) -> None:
    """Repeat races, kills and histories many times, and give Hypothesis thousands of examples."""
    _install(session, "pip<26", "-e", ".[test]")
    repeated = [f"tests/{_test_file(name)}" for name in ("store/races", "store/kill", "freshness/freshness_truth")]
    repeated.append("tests/test_extras.py")
    _pytest(session, *repeated, *session.posargs, ONRECORD_TEST_ROUNDS="20", ONRECORD_TEST_SECONDS=HOUR)
    light = "not heavy and not client"
    _pytest(session, "-m", light, *session.posargs, HYPOTHESIS_PROFILE="long", ONRECORD_TEST_SECONDS=HOUR)


@nox.session(venv_params=BARE)
@_reported
def faults(session: nox.Session) -> None:
    """Try every fault at every file call of every command: kills, and full, failing or read-only disks."""
    _install(session, "pip<26", "-e", ".[test]")
    session.run("python", "-m", "tests.faults", *session.posargs)


@nox.session(venv_params=BARE)
@_reported
def attacks(session: nox.Session) -> None:
    """Run the fuzzer with a fresh seed, and every test that enumerates attacks."""
    _install(session, "pip<26", "-e", ".[test]")
    session.run("python", "-m", "tests.fuzz", "--minutes", "15", *session.posargs)
    hostile = ("tests/test_hostile_pull_request.py", "tests/shared/test_hostile_remote.py", "tests/fuzz")
    _pytest(session, *hostile, ONRECORD_TEST_ATTACKS="1")


@nox.session(venv_params=BARE)
@_reported
def postgres(session: nox.Session) -> None:
    """Run the tests of the hub with the versions of PostgreSQL that Debian does not have."""
    _install(session, "pip<26", "-e", ".[test]")
    for programs in str(session.run("python", "-m", "tests.postgres_versions", silent=True)).split():
        _pytest(session, "tests/shared/hub", *session.posargs, ONRECORD_TEST_POSTGRES=programs)


@nox.session(venv_params=BARE)
@_reported
def hosts(session: nox.Session) -> None:
    """Run every client of another agent, and write down what reached its model."""
    _install(session, "pip<26", "-e", ".[test]")
    _pytest(session, "tests/hosts", "--all-hosts", "--update-golden", *session.posargs)
    session.run("python", "scripts/docs")


def _python(session: nox.Session, *words: str) -> None:
    """Run the Python that has the tools: that of the session, or the one that runs nox."""
    is_own = session.virtualenv.venv_backend != "none"
    session.run("python" if is_own else sys.executable, *words, external=not is_own)


def _pytest(session: nox.Session, *arguments: str, program: str = "python", **env: str) -> None:
    """Run pytest in several processes, and count what it reports."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        try:
            # Tests of a file share what they set up: a process gets whole files, until others have nothing left to do.
            spread = ("-n", WORKERS, "--dist", "worksteal")
            words = ("-m", "pytest", "-q", *spread, f"--junitxml={report}", *arguments)
            session.run(program, *words, env=env, external=program != "python")
        finally:
            if os.path.exists(report):
                _count(report)


def _count(report: str) -> None:
    for case in ET.parse(report).iter("testcase"):
        skip = case.find("skipped")
        if skip is not None:
            _skipped[skip.get("message", "")] += 1
        broken = case.find("failure") is not None or case.find("error") is not None
        _counts["failed" if broken else "passed" if skip is None else "skipped"] += 1


def _install(session: nox.Session, *requirements: str) -> None:
    """Install into the environment of a session, once; without one, `.venv` has it all."""
    if session.virtualenv.venv_backend == "none":
        return
    mark = Path(session.virtualenv.location, "installed")
    if not mark.exists():
        _pip(session, "install", "-qq", "--no-compile", *requirements)
        mark.touch()


def _pip(session: nox.Session, *arguments: str) -> None:
    session.run_install(
        sys.executable, "-m", "pip", "--python", session.virtualenv.location, *arguments, external=True, silent=True
    )


def _pinned(name: str) -> str:
    """Return the requirement for a tool in pyproject.toml."""
    requirements = nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"]["test"]
    return next(str(requirement) for requirement in requirements if requirement.startswith(name))


def _forget_stale_environments() -> None:
    """Delete all environments if they were created for other requirements, or in another folder."""
    folder = ROOT / ".nox"
    mark, wanted = folder / "made-for", f"{ROOT}\n{(ROOT / 'pyproject.toml').read_text(encoding='utf-8')}"
    if not mark.exists() or mark.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        mark.write_text(wanted, encoding="utf-8")


def _offer_pyenv() -> None:
    """Let nox find every Python of pyenv: its shims run the selected versions only."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    folders = glob.glob(os.path.join(root, "versions", "3.*", "bin"))
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), *sorted(folders)])


def _summary() -> None:
    """Print skipped and failed tests with the reasons, and the totals on a line of their own."""
    if not _ran:
        return
    for version in _missing():
        print(f"skipped: the tests on Python {version}: it is not installed")
    for reason, number in sorted(_skipped.items()):
        print(f"skipped: {number} test{'' if number == 1 else 's'}: {reason}")
    if _failed:
        print(f"failed: {', '.join(_failed)}")
    print(f"{_counts['passed']} passed, {_counts['failed']} failed, {_counts['skipped']} skipped", flush=True)


def _missing() -> list[str]:
    """Return the Python versions that are missing in a run of everything."""
    is_whole = {"lint", f"tests-{MAIN}"} <= set(_ran)
    return [version for version in PYTHONS if is_whole and f"tests-{version}" not in _ran]


_forget_stale_environments()
_offer_pyenv()
# nox prints its own list of sessions last, and has no hook after that.
atexit.register(_summary)
