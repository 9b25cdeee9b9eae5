"""The fuzzer finds nothing in a minute of hostile projects, and finds each kind of harm when there is some."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import case, states
from tests.fuzz.case import Fuzzer

SEED = "suite"
"""The same projects in every run; `python -m tests.fuzz` draws new ones."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="built from what POSIX allows")


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzer]:
    made = Fuzzer(tmp_path_factory.mktemp("fuzz"))
    yield made
    made.close()


@pytest.mark.heavy
@pytest.mark.parametrize("number", range(len(states.ALL)), ids=[state.__name__ for state in states.ALL])
def test_no_project_harms_the_agent_or_the_user(fuzzer: Fuzzer, number: int) -> None:
    chosen, findings = fuzzer.case(SEED, number)

    again = f"python -m tests.fuzz --seed {SEED} --case {number}, made of {', '.join(chosen)}"
    assert not findings, "\n".join([again, *(f"{finding.where}: {finding.what}" for finding in findings)])


HARM = {
    "the hook fails": ("sys.exit(1)", "ended with 1"),
    "the hook says what went wrong": ("sys.stderr.write('Traceback')", "wrote to stderr"),
    "the answer is no JSON": ("print('{')", "answered what is no JSON"),
    "text of a record is not escaped": ('print(\'{"a": "<fuzz-mark>"}\')', "unescaped"),
    "the answer has control characters": ('print(\'{"a": "\\\\u001b"}\')', "control characters"),
    "private words are shown": ('print(\'{"a": "private-words-of-the-user"}\')', "shows the user's private words"),
    "it takes too long": (
        "while 'stop' in sys.argv and time.process_time() < 80 * BARE: pass",
        "times a bare interpreter",
    ),
    "it takes too much memory": ("x = bytearray(200_000_000)", "took 2"),
    "it writes into the project": ("open(os.path.join(CWD, 'src', 'new.py'), 'w')", "written outside store"),
    "a record is lost": ("[os.remove(f) for f in glob.glob(CWD + '/.claude/memory/decisions/*')]", "a valid record"),
    "the record is not shown": ("pass", "the right record was not shown"),
    "the failure is only logged": ("log('hook stop', 'TypeError: x')", "TypeError: x"),
}


ALWAYS = ("the hook fails", "it writes into the project", "a record is lost")
"""The kinds of harm that each run of the suite does; `nox -s attacks` does all."""

_NOT_ALWAYS = pytest.mark.skipif(
    "ONRECORD_TEST_ATTACKS" not in os.environ, reason="a test of the fuzzer: nox -s attacks"
)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in ALWAYS else _NOT_ALWAYS) for name in HARM])
def test_harm_is_noticed(name: str, fuzzer: Fuzzer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, expected = HARM[name]
    (tmp_path / "src/onrecord/hooks").mkdir(parents=True)
    (tmp_path / "src/onrecord/hooks/run.py").write_text(
        f"import glob, json, os, sys, time\nsys.path.insert(0, {str(case.ROOT / 'src')!r})\nBARE = {fuzzer.bare}\n"
        f"from onrecord.state_file import log_failure as log\nCWD = json.load(sys.stdin)['cwd']\n{code}\n"
    )
    monkeypatch.setattr(case, "ROOT", tmp_path)
    monkeypatch.setattr(case, "_COMMANDS", [])
    monkeypatch.setattr(case, "_ATTEMPTS", 1)
    # Far from what is burnt here, so that a busy machine makes no difference.
    monkeypatch.setattr(case, "HOOK_RATIO", 10)

    _, findings = fuzzer.case("seed", 0, only=("no_git",))

    assert any(expected in finding.what for finding in findings), findings
