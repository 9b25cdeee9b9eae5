"""No test waits without a limit."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import time_limit
from tests.time_limit import TimeLimitExceeded

TESTS = Path(__file__).parent
PROGRAM_CALLS = ("call", "check_call", "check_output", "run")
WAITS = ("communicate", "join", "wait")

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm that a test could survive")


def test_a_read_that_nothing_ends_is_interrupted():
    reader, writer = os.pipe()

    with pytest.raises(TimeLimitExceeded, match=r"^still running after 0\.05 seconds$"), time_limit.at_most(0.05):
        os.read(reader, 1)

    os.close(reader)
    os.close(writer)


def test_the_outer_limit_holds_again_after_an_inner_one():
    with pytest.raises(TimeLimitExceeded, match=r"0\.1 seconds"), time_limit.at_most(0.1):
        with time_limit.at_most(60):
            pass
        time.sleep(60)


def test_a_test_that_waits_in_vain_fails_and_the_next_one_runs(tmp_path):
    (tmp_path / "conftest.py").write_text("from tests.time_limit import *\n", encoding="utf-8")
    text = (
        "import threading\n\ndef test_endless():\n    threading.Event().wait()\n\ndef test_next():\n    assert True\n"
    )
    (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    env = {**os.environ, "ONRECORD_TEST_SECONDS": "2", "PYTHONPATH": str(TESTS.parent)}

    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "threading.Event().wait()" in done.stdout
    assert "TimeLimitExceeded: still running after 2 seconds" in done.stdout


def test_every_wait_for_a_process_or_a_thread_has_a_limit():
    unlimited = [
        f"{path.relative_to(TESTS)}:{call.lineno}: {ast.unparse(call)[:80]}"
        for path in sorted(TESTS.rglob("*.py"))
        for call in _calls(path)
        if _waits(call) and not _has_limit(call)
    ]

    assert unlimited == []


def _calls(path: Path) -> Iterator[ast.Call]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))


def _waits(call: ast.Call) -> bool:
    """True if `call` runs a program, or waits for one or for a thread; text is joined with an argument."""
    assert isinstance(call.func, ast.Attribute)
    if isinstance(call.func.value, ast.Name) and call.func.value.id == "subprocess":
        return call.func.attr in PROGRAM_CALLS
    return call.func.attr in WAITS and not (call.args and call.func.attr != "communicate")


def _has_limit(call: ast.Call) -> bool:
    return any(keyword.arg == "timeout" for keyword in call.keywords)
