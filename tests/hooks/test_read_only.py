"""Sessions on a disk that cannot be written: hooks answer from memory, exit with 0 and print valid output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from onrecord.hooks import EVENTS
from onrecord.project import Project
from tests.hooks.hook_process import ROOT, command
from tests.hooks.test_bounds import event_in
from tests.known_project import SIX, known_project
from tests.powerless import powerless
from tests.records import put, sample

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX modes and mounts")

ASKS = "where do we keep user sessions, postgres or redis?"
ANSWER = "User sessions are rows in auth.sessions"
STRANGER = "54321"
"""A user whom the system does not know."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True, timeout=120)
    return known_project(tmp_path / "project", *SIX.items())


def answers(prefix: list[str], project: str, env: dict[str, str], *, python: str = sys.executable) -> dict[str, str]:
    """Return what each event prints. Fails if one does not exit with 0, warns, or prints anything but an object."""
    contexts = {}
    for event in EVENTS:
        data = json.dumps(_fields(event, project)).encode()
        done = subprocess.run(
            [*prefix, python, *command(event)[1:]], input=data, capture_output=True, env=env, check=False, timeout=120
        )
        assert (event, done.returncode, done.stderr) == (event, 0, b"")
        output = json.loads(done.stdout) if done.stdout else {}
        contexts[event] = str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))
    return contexts


def _fields(event: str, project: str) -> dict[str, Any]:
    """Return the fields of an event; a prompt with a source was not typed."""
    fields = event_in(project, prompt=ASKS, session_id=f"{event}-{time.time_ns()}")
    return fields if event == "session_start" else {**fields, "source": None}


def assert_useful(contexts: dict[str, str]) -> None:
    assert ANSWER in contexts["user_prompt_submit"]
    assert 'kind="map"' in contexts["session_start"]
    assert "max.poll.interval.ms" in contexts["post_tool_use_failure"]


def snapshot(*folders: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for folder in folders for path in folder.rglob("*")}


def without_mounts(*folders: Path) -> list[str]:
    """Return the words that run a program in a namespace in which these folders are on a read-only file system."""
    mounts = "".join(
        f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}' && " for folder in folders
    )
    words = [shutil.which("unshare") or "unshare", "-rm", "sh", "-c", f'{mounts}exec "$@"', "sh"]
    probe = f"! touch '{folders[0]}/probe' 2>/dev/null"
    try:
        subprocess.run([*words, "sh", "-c", probe], check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"nothing can be mounted here: {error}")
    return words


def closed(*folders: Path) -> list[str]:
    """Return the words that run a program without the right to write to these folders."""
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode & 0o555)
    return powerless()


@pytest.fixture
def reopened(tmp_path: Path):
    """Give the right to write back, so that the folder can be deleted."""
    yield
    for folder, _, _ in os.walk(tmp_path):
        os.chmod(folder, 0o755)


@pytest.mark.usefixtures("reopened")
@pytest.mark.parametrize("way", [without_mounts, closed])
@pytest.mark.parametrize("is_indexed", [False, True])
def test_nothing_can_be_written(project: Project, tmp_path: Path, way, is_indexed: bool):
    home = tmp_path / "home"
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    if is_indexed:
        answers([], project.root, env)
    prefix = way(tmp_path)
    before = snapshot(tmp_path)

    assert_useful(answers(prefix, project.root, env))
    assert snapshot(tmp_path) == before


@pytest.mark.usefixtures("reopened")
@pytest.mark.parametrize("part", ["project", "home"])
def test_one_of_the_two_can_be_written(project: Project, tmp_path: Path, part: str):
    (tmp_path / "home").mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    prefix = without_mounts(tmp_path / part)
    before = snapshot(tmp_path / part)

    assert_useful(answers(prefix, project.root, env))
    assert snapshot(tmp_path / part) == before


def test_the_folders_are_files(project: Project, tmp_path: Path):
    (tmp_path / "file").write_text("")
    names = ("ONRECORD_CACHE_DIR", "ONRECORD_STATE_DIR", "ONRECORD_DATA_DIR")
    env = {"PATH": os.environ["PATH"], **dict.fromkeys(names, str(tmp_path / "file")), "HOME": str(tmp_path / "file")}

    assert_useful(answers([], project.root, env))


def test_there_is_no_home(project: Project, tmp_path: Path):
    assert_useful(answers([], project.root, {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become another user")
def test_a_user_without_a_home_whom_the_system_does_not_know(project: Project, tmp_path: Path):
    python = "/usr/bin/python3"
    prefix = [shutil.which("setpriv") or "setpriv", "--reuid", STRANGER, "--regid", STRANGER, "--clear-groups"]
    for folder in list(tmp_path.parents)[:-2]:
        folder.chmod(folder.stat().st_mode | 0o055)
    # The folder is theirs, so that they could write there.
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, int(STRANGER), int(STRANGER))
    probe = [*prefix, python, "-c", "import sys, sqlite3; open(sys.argv[1]); sys.exit(sys.version_info < (3, 9))"]
    try:
        subprocess.run([*probe, str(ROOT / "src/onrecord/hooks/run.py")], check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"another user cannot run a hook here: {error}")
    before = snapshot(Path(project.root))
    here = os.getcwd()
    os.chdir(project.root)
    try:
        contexts = answers(prefix, project.root, {"PATH": "/usr/bin:/bin"}, python=python)
    finally:
        os.chdir(here)

    assert_useful(contexts)
    assert snapshot(Path(project.root)) == before, "nothing is written to a folder with the name ~"


def test_of_a_large_store_the_most_urgent_records_are_known(tmp_path: Path):
    store = str(tmp_path / "project" / ".claude" / "memory")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    for number in range(700):
        put(store, sample(id=f"topic-{number:03}", title=f"About topic{number}"))
    put(store, sample("constraint", id="zz-urgent", title="Never call the walrus API twice"))
    (tmp_path / "file").write_text("")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "file")}
    event = {"session_id": "s", "cwd": str(tmp_path / "project")}
    own = {"session_start": {"source": "startup"}, "user_prompt_submit": {"prompt": "may I call the walrus API twice?"}}

    contexts = []
    for name, fields in own.items():
        data = json.dumps({**event, **fields}).encode()
        done = subprocess.run(command(name), input=data, capture_output=True, env=env, check=True, timeout=120)
        assert done.stderr == b""
        contexts.append(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])

    assert "No index can be kept here: only " in contexts[0]
    assert " of 701 records are known, the most urgent ones; the reason: onrecord doctor\n" in contexts[0]
    assert all("walrus" in context for context in contexts)
