"""The modules that a hook loads, on every Python found here: the C modules it needs, our own, and no others."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.project import Project
from onrecord.search import index
from onrecord.shared import remotes
from tests.hooks.hook_process import ROOT

MINORS = range(9, 14)
ASKS = "where do we keep user sessions, postgres or redis?"

# What a hook may load beyond os, sys and what those bring along.
ALLOWED = frozenset(
    "__future__ _blake2 _collections _functools _json _sqlite3 binascii fcntl gc itertools math stat time"
    " unicodedata".split()
)

# Runs hooks/run.py as it is, and writes down what was loaded when it leaves.
WATCH = """
import os, sys
before = set(sys.modules)
leave, modules, script = os._exit, sys.argv.pop(1), sys.argv[1]
del sys.argv[0]
def watched(code):
    names = set(sys.modules) - before
    with open(modules, "w") as file:
        file.write("\\n".join(names))
    leave(code)
os._exit = watched
exec(compile(open(script, "rb").read(), script, "exec"), {"__name__": "__main__", "__file__": script})
"""


def _pythons() -> dict[str, str]:
    """One interpreter of each version, by version. Asked before any test moves the home."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    programs = {"this": sys.executable}
    for minor in MINORS:
        version = f"3.{minor}"
        paths = [*sorted(glob.glob(f"{root}/versions/{version}.*/bin/python3")), shutil.which(f"python{version}") or ""]
        interpreter = next((path for path in paths if path and _runs(path, version)), "")
        if interpreter:
            programs[version] = interpreter
    return programs


def _runs(python: str, version: str) -> bool:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    process = subprocess.run([python, "-S", "-E", "-c", code], capture_output=True, text=True, check=False, timeout=120)
    return process.stdout.strip() == version


PYTHONS = _pythons()


def loaded(python: str, event: str, fields: dict[str, str], folder: Path) -> tuple[set[str], str]:
    """Return the modules that a hook has loaded at its end, and its output."""
    log = folder / "modules"
    process = subprocess.run(
        [python, "-S", "-E", "-c", WATCH, str(log), str(ROOT / "src/onrecord/hooks/run.py"), event],
        input=json.dumps(fields).encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert (process.returncode, process.stderr) == (0, b"")
    return set(log.read_text().split()), process.stdout.decode()


def foreign(modules: set[str]) -> list[str]:
    names = (name for name in modules if name != "onrecord" and not name.startswith("onrecord."))
    return sorted(name for name in names if name not in ALLOWED)


@pytest.fixture
def settled(project: Project) -> Project:
    """Create a project that was not changed just now and whose index is complete: to check a fresh folder again, and to
    index what an earlier hook had no time for, loads more modules.
    """
    for folder, _, _ in os.walk(project.root):
        os.utime(folder, (time.time() - 3_600,) * 2)
    index.open(project.store.root).close()
    return project


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="takes C modules of CPython directly")
@pytest.mark.parametrize("version", list(PYTHONS))
def test_a_prompt_that_brings_up_a_memory_loads_only_c_modules(version: str, settled: Project, tmp_path: Path):
    python = PYTHONS[version]
    fields = {"session_id": "warms the index", "cwd": settled.root, "prompt": ASKS}
    loaded(python, "user_prompt_submit", fields, tmp_path)

    modules, output = loaded(python, "user_prompt_submit", {**fields, "session_id": "s"}, tmp_path)

    assert "User sessions are rows in auth.sessions" in output
    assert foreign(modules) == []


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="takes C modules of CPython directly")
@pytest.mark.parametrize("url", ["git@host:team/memory.git", "postgresql://db/memory?sslmode=require"])
def test_a_prompt_beside_a_shared_store_loads_only_c_modules(url: str, settled: Project, tmp_path: Path):
    remotes.add("platform", url)
    os.makedirs(paths.accepted("platform").root)
    fields = {"session_id": "warms the index", "cwd": settled.root, "prompt": ASKS}
    loaded(sys.executable, "user_prompt_submit", fields, tmp_path)

    modules, output = loaded(sys.executable, "user_prompt_submit", {**fields, "session_id": "s"}, tmp_path)

    assert "User sessions are rows in auth.sessions" in output
    assert "onrecord.shared.replicas" in modules
    assert foreign(modules) == []


@pytest.mark.parametrize("version", list(PYTHONS))
def test_where_there_is_no_store_next_to_nothing_is_loaded(version: str, tmp_path: Path):
    for event in ("user_prompt_submit", "pre_tool_use", "post_tool_use", "session_start", "stop"):
        modules, output = loaded(PYTHONS[version], event, {"cwd": str(tmp_path), "prompt": ASKS}, tmp_path)

        ours = sorted(name for name in modules if name.startswith("onrecord."))
        assert (output, foreign(modules)) == ("", [])
        assert ours == [
            "onrecord.coldstart",
            "onrecord.hooks",
            "onrecord.hooks.event_stores",
            "onrecord.paths",
        ]
        assert "_sqlite3" not in modules


@pytest.mark.parametrize("event", ["session_start", "pre_tool_use", "post_tool_use", "stop"])
def test_only_a_prompt_reads_the_table_of_word_vectors(event: str, settled: Project, tmp_path: Path):
    fields = {"session_id": "s", "cwd": settled.root, "tool_name": "Read", "tool_input": {"file_path": "src/a.py"}}
    loaded(sys.executable, "user_prompt_submit", {**fields, "prompt": ASKS}, tmp_path)

    modules, _ = loaded(sys.executable, event, fields, tmp_path)

    assert "onrecord.search.vectors" not in modules


def test_a_prompt_is_answered_by_a_package_without_the_table(settled: Project, tmp_path: Path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("words.vec", "__pycache__"))
    script = [
        sys.executable,
        "-S",
        "-E",
        str(tmp_path / "src/onrecord/hooks/run.py"),
        "user_prompt_submit",
    ]
    event = json.dumps({"session_id": "s", "cwd": settled.root, "prompt": ASKS}).encode()

    process = subprocess.run(script, input=event, capture_output=True, check=False, timeout=120)

    assert (process.returncode, process.stderr) == (0, b"")
    assert b"User sessions are rows in auth.sessions" in process.stdout


def test_the_guard_sees_a_module_that_does_not_belong(project: Project, tmp_path: Path):
    fields = {"session_id": "s", "cwd": project.root, "tool_name": "Bash", "error": "Exit code 1\nError: boom"}

    modules, _ = loaded(sys.executable, "post_tool_use_failure", fields, tmp_path)

    assert "re" in foreign(modules)
