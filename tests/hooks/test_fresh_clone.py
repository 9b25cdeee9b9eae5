"""A fresh clone with many records: what the first hooks do, and the process that completes the index after them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import onrecord
from onrecord import coldstart, files, paths, state_file
from onrecord.doctor import machine
from onrecord.search import build_lock, builder, index
from tests.hooks.hook_process import ROOT, HookOutput, command, run_hook
from tests.records import put, sample

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds processes in /proc")

RECORDS = 1_500
PATIENCE = 100
"""Seconds after which a test gives up; none of them waits for time to pass."""

FILLER = " ".join(f"filler{number} words of a body" for number in range(20))
LAST = "which zebra crossing rule applies to giraffe enclosures?"


def record(number: int):
    content = {
        "status": "accepted",
        "context": f"Context {number}: {FILLER}",
        "decision": f"Topic{number} is settled",
        "rationale": ["ok"],
    }
    return sample(id=f"topic-{number:04}", title=f"About topic{number}", tags=["topic"], content=content)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pattern")
    store = str(folder / ".claude" / "memory")
    (folder / ".git").mkdir()
    for number in range(RECORDS - 2):
        put(store, record(number))
    zebra = {
        "status": "accepted",
        "context": "c",
        "decision": "Giraffe enclosures get zebra crossings",
        "rationale": ["r"],
    }
    put(
        store,
        sample(
            id="zz-zebra",
            title="Zebra crossings at giraffe enclosures",
            content=zebra,
            updated_at="2020-01-01T00:00:00Z",
        ),
    )
    put(store, sample("constraint", id="zz-urgent", title="Never call the walrus API twice"))
    return folder


@pytest.fixture
def project(pattern: Path, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "project"
    shutil.copytree(pattern, folder)
    for path in (folder / ".claude" / "memory").iterdir():
        # A folder that was changed a moment ago may change again in the same tick of its clock.
        os.utime(path, (1_700_000_000, 1_700_000_000))
    yield folder
    for process in builders(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def store_of(project: Path) -> str:
    return str(project / ".claude" / "memory")


def lock_file(project: Path) -> str:
    return build_lock.file_of(index.file_of(store_of(project)))


def state(project: Path) -> build_lock.BuilderState:
    return build_lock.state(lock_file(project))


def builders(project: Path) -> list[int]:
    """Return the processes that complete the index of a project."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
            if os.fsencode(store_of(project)) in words and any(b"builder.run" in word for word in words):
                found.append(int(name))
    return found


def running(project: Path) -> int:
    """Return the process that completes the index of a project, once it is what it will be: a moment after a hook."""
    while state(project).is_running:
        for process in builders(project):
            return process
    raise AssertionError("there is no builder")


def wait(project: Path) -> None:
    """Wait until no builder has the lock any more."""
    handle = os.open(lock_file(project), os.O_RDWR)
    assert files.lock(handle, PATIENCE)
    os.close(handle)


def count(project: Path) -> int:
    connection = coldstart.connect(index.file_of(store_of(project)), timeout=PATIENCE)
    try:
        return connection.execute("SELECT count(*) FROM record").fetchone()[0]
    finally:
        connection.close()


def begin(project: Path, session: str = "s", **env: str) -> HookOutput:
    answer = run_hook("session_start", {"session_id": session, "cwd": str(project), "source": "startup"}, **env)
    assert (answer.code, answer.stderr) == (0, b"")
    return answer


def prompt(project: Path, text: str, session: str = "p", **env: str) -> str:
    answer = run_hook("user_prompt_submit", {"session_id": session, "cwd": str(project), "prompt": text}, **env)
    assert (answer.code, answer.stderr) == (0, b"")
    return answer.context


def known(context: str) -> tuple[int, int]:
    (counts,) = re.findall(r"The index is being built: ([\d,]+) of ([\d,]+) records are known so far", context)
    indexed, records = (int(number.replace(",", "")) for number in counts)
    return indexed, records


def test_after_a_sessions_start_everything_is_known_in_a_moment(project):
    indexed, records = known(begin(project).context)

    assert 0 < indexed < records == RECORDS
    wait(project)
    assert (count(project), state(project), builders(project)) == (RECORDS, build_lock.BuilderState(), [])
    assert "zebra crossings" in prompt(project, LAST)
    assert "is being built" not in begin(project, "later").context
    assert state_file.recent_failures() == []


def test_the_most_urgent_record_is_known_at_once(project):
    context = begin(project, ONRECORD_NO_BACKGROUND="1").context

    assert "- zz-urgent: " in context and "(high severity)" in context
    assert "zz-zebra" not in context


def test_racing_session_starts_start_one_process(project):
    fields = {"cwd": str(project), "source": "startup"}
    hooks = [
        subprocess.Popen(
            command("session_start"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for number, hook in enumerate(hooks):
        assert hook.stdin
        hook.stdin.write(json.dumps({**fields, "session_id": f"s{number}"}).encode())
        hook.stdin.close()
        hook.stdin = None
    answers = [hook.communicate(timeout=PATIENCE) for hook in hooks]
    now, processes = state(project), builders(project)

    assert [(hook.returncode, answer[1]) for hook, answer in zip(hooks, answers)] == [(0, b"")] * 4
    # It counts the processes that were started since the index was last complete.
    assert now.starts in (0, 1) and len(processes) <= 1
    wait(project)
    assert (count(project), state(project).starts) == (RECORDS, 0)


def test_two_calls_at_once_start_one_builder(project):
    index.open_file(store_of(project)).close()
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom onrecord.search import builder\nsys.stdin.read()\n"
        "print(builder.start(sys.argv[2], 7))"
    )
    words = [sys.executable, "-S", "-E", "-c", script, str(ROOT / "src"), store_of(project)]
    racing = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(5)]

    for process in racing:
        assert process.stdin
        process.stdin.close()
        process.stdin = None
    answers = [process.communicate(timeout=PATIENCE)[0].strip() for process in racing]

    assert sorted(answers) == ["False"] * 4 + ["True"]
    wait(project)
    assert count(project) == RECORDS


def test_a_builder_that_was_killed_is_reported_and_the_next_hook_goes_on(project):
    first = known(begin(project).context)[0]
    os.kill(running(project), signal.SIGKILL)
    wait(project)
    before = count(project)

    assert first <= before < RECORDS and state(project).starts == 1
    (finding,) = [finding for finding in machine.examine() if finding.check == "index"]
    assert (finding.severity, "ended early" in finding.what) == ("warning", True)
    prompt(project, "how is topic7 settled?")
    assert state(project).starts in (0, 2)
    wait(project)
    assert (count(project), state(project)) == (RECORDS, build_lock.BuilderState())
    assert [finding for finding in machine.examine() if finding.check == "index"] == []


def test_the_fix_that_doctor_names_completes_the_index(project):
    begin(project)
    os.kill(running(project), signal.SIGKILL)
    wait(project)
    (finding,) = [finding for finding in machine.examine() if finding.check == "index"]

    words = finding.fix.partition(": onrecord ")[2].split()
    subprocess.run(
        [sys.executable, str(ROOT / "bin" / "onrecord"), *words], check=True, capture_output=True, timeout=300
    )

    assert count(project) == RECORDS
    assert [finding for finding in machine.examine() if finding.check == "index"] == []


def test_one_that_always_dies_is_not_started_for_ever(project):
    index.open_file(store_of(project)).close()

    started = []
    for _ in range(5):
        started.append(builder.start(store_of(project), RECORDS))
        if started[-1]:
            os.kill(running(project), signal.SIGKILL)
            os.waitpid(-1, 0)
        wait(project)

    assert started == [True, True, True, False, False]
    later = state(project)._replace(moment=int(time.time()) - 4_000)
    handle = os.open(lock_file(project), os.O_RDWR)
    build_lock.write(handle, later)
    os.close(handle)
    assert builder.start(store_of(project), RECORDS)
    os.waitpid(-1, 0)


def test_neither_a_setting_nor_the_environment_is_ignored(project):
    known(begin(project, ONRECORD_NO_BACKGROUND="1").context)
    assert (builders(project), os.path.exists(lock_file(project))) == ([], False)

    config = Path(paths.user_store(), paths.CONFIG)
    config.parent.mkdir(parents=True)
    config.write_text('{"retrieval": {"background_index": false}}')
    more = known(begin(project, "s2").context)

    assert (builders(project), os.path.exists(lock_file(project))) == ([], False)
    assert count(project) == more[0]


def test_a_project_cannot_turn_it_on_again(project):
    config = Path(paths.user_store(), paths.CONFIG)
    config.parent.mkdir(parents=True)
    config.write_text('{"retrieval": {"background_index": false}}')
    Path(store_of(project), paths.CONFIG).write_text('{"retrieval": {"background_index": true}}')

    begin(project)

    assert (builders(project), os.path.exists(lock_file(project))) == ([], False)


@pytest.mark.parametrize("gone", ["project", "cache"])
def test_it_ends_quietly_when_the_project_or_the_index_goes_away(project, gone):
    begin(project)
    running(project)
    handle = os.open(lock_file(project), os.O_RDWR)

    folder = project if gone == "project" else paths.cache_dir()
    while os.path.exists(folder):  # it may write a file into a folder that is being emptied
        shutil.rmtree(folder, ignore_errors=True)

    assert files.lock(handle, PATIENCE)
    os.close(handle)
    assert state_file.recent_failures() == []


def test_a_command_takes_over(project):
    begin(project)
    running(project)

    done = subprocess.run(
        [sys.executable, str(ROOT / "bin" / "onrecord"), "--project", str(project), "list", "--json"],
        check=True,
        capture_output=True,
        timeout=300,
    )

    assert len(json.loads(done.stdout)["records"]) > 0
    assert (count(project), state(project)) == (RECORDS, build_lock.BuilderState())
    assert state_file.recent_failures() == []


def test_prompts_are_answered_while_it_runs_and_a_new_record_is_found(project):
    begin(project)
    process = running(project)
    os.kill(process, signal.SIGSTOP)
    try:
        during = prompt(project, "may I call the walrus API twice?")
        put(store_of(project), sample(id="aa-okapi", title="Okapi fences are two metres high"))
    finally:
        os.kill(process, signal.SIGCONT)
    wait(project)

    assert "walrus" in during
    assert "Okapi" in prompt(project, "how high are okapi fences?", "p2")


def copy_of_program(folder: Path, version: str, table_version: int) -> Path:
    """Return the source of another version of Onrecord."""
    source = folder / f"src-{version}"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    for name, pattern, text in (
        ("__init__.py", f'__version__ = "{onrecord.__version__}"', f'__version__ = "{version}"'),
        ("search/index.py", f"\nVERSION = {index.VERSION}\n", f"\nVERSION = {table_version}\n"),
    ):
        file = source / "onrecord" / name
        before = file.read_text()
        assert pattern in before
        file.write_text(before.replace(pattern, text))
    return source


def ask(source: Path, project: Path, session: str) -> str:
    event = {"session_id": session, "cwd": str(project), "prompt": "may I call the walrus API twice?"}
    words = [sys.executable, "-S", "-E", str(source / "onrecord/hooks/run.py"), "user_prompt_submit"]
    done = subprocess.run(words, input=json.dumps(event).encode(), capture_output=True, check=True, timeout=PATIENCE)
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("version", "table_version"), [("9.9.9", index.VERSION), (onrecord.__version__, 1), ("9.9.9", 1)]
)
def test_two_versions_alternate_and_neither_rebuilds_its_index(tmp_path, version, table_version):
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    put(store_of(project), sample("constraint", id="walrus", title="Never call the walrus API twice"))
    for folder in Path(store_of(project)).iterdir():
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    own, other = ROOT / "src", copy_of_program(tmp_path, version, table_version)

    for source in (own, other):
        assert "walrus" in ask(source, project, f"first {source}")
    made = {path: path.read_bytes() for path in Path(paths.cache_dir()).iterdir() if path.suffix == ".sqlite"}
    for turn in range(3):
        for source in (own, other):
            assert "walrus" in ask(source, project, f"{turn} {source}")

    assert len(made) == 2
    assert {path: path.read_bytes() for path in made} == made
