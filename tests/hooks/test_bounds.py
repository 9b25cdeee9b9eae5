"""Hooks with huge input: they exit with 0, print little, and their work is bounded.

Bounded means seconds of CPU and bytes of memory that the system itself enforces on the hook's process; the clock on
the wall is never asked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onrecord import state_file
from onrecord.hooks import EVENTS
from onrecord.project import Project
from onrecord.session.ledger import Ledger
from tests.hooks.hook_process import ROOT, HookOutput, command
from tests.known_project import SIX, known_project

resource = pytest.importorskip("resource")

MOST_CPU = 5
"""Seconds: the host gives a hook five on the clock, and nearly all of what a hook does is computing."""

MOST_MEMORY = 768_000_000
LARGEST_ANSWER = 10_000
ASKS = "where do we keep user sessions, postgres or redis?"


def bounded(event: str, fields: dict[str, Any], *, is_patient: bool = True, **env: str) -> HookOutput:
    """Run a hook that the system kills if it works too long or takes too much memory."""
    process = subprocess.run(
        command(event, is_patient=is_patient),
        input=_encoded(fields),
        capture_output=True,
        env={**os.environ, **env},
        preexec_fn=_limit,
        timeout=300,
        check=False,
    )
    return HookOutput(process.returncode, process.stdout, process.stderr)


def _encoded(fields: dict[str, Any]) -> bytes:
    """Return an event as hosts write it: in UTF-8, with escapes only for halves of surrogate pairs."""
    try:
        return json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(fields).encode()


def _limit(seconds: int = MOST_CPU) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def event_in(folder: str, **fields: Any) -> dict[str, Any]:
    """Fields that make every event do its work."""
    return {
        "session_id": "s1",
        "cwd": folder,
        "prompt": ASKS,
        "source": "startup",
        "transcript_path": "",
        "tool_name": "Bash",
        "tool_input": {"command": "make", "file_path": os.path.join(folder, "src", "a.py")},
        "error": "Exit code 2\nCommitFailedError: the coordinator is not aware of this member",
        "stop_hook_active": False,
        "last_assistant_message": "We decided to use tabs because everybody sets the width.",
        **fields,
    }


def assert_small(answer: HookOutput) -> None:
    assert (answer.code, answer.stderr) == (0, b"")
    assert len(answer.stdout) < 6 * LARGEST_ANSWER
    output = json.loads(answer.stdout) if answer.stdout else {}
    assert isinstance(output, dict)
    assert len(str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))) < LARGEST_ANSWER


def test_the_bound_is_enforced():
    loop = [sys.executable, "-c", "while True: pass"]
    hoard = [sys.executable, "-c", f"bytearray({MOST_MEMORY})"]

    assert subprocess.run(loop, preexec_fn=lambda: _limit(1), check=False, timeout=120).returncode < 0
    assert subprocess.run(hoard, preexec_fn=_limit, check=False, stderr=subprocess.DEVNULL, timeout=120).returncode == 1


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Create a project in git with six records."""
    return repository(tmp_path / "project")


def repository(folder: Path) -> Project:
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=120)
    return known_project(folder, *SIX.items())


def user_line(text: str) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"


@pytest.fixture(params=["one endless line", "lines at the end", "a million lines"])
def huge_transcript(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Create a sparse file of a gigabyte."""
    path = tmp_path / "transcript.jsonl"
    with open(path, "wb") as file:
        if request.param == "a million lines":
            file.write(b"\n" * 1_000_000)
        file.truncate(1_000_000_000)
        file.seek(0, os.SEEK_END)
        if request.param != "one endless line":
            file.write(b"\n" + user_line("where are user sessions kept, in postgres or in redis?"))
            file.write(user_line("We decided: always use tabs, because everybody sets the width.") * 2_000)
    return path


@pytest.mark.parametrize("event", EVENTS)
def test_a_transcript_of_a_gigabyte(event: str, project: Project, huge_transcript: Path):
    fields = event_in(project.root, transcript_path=str(huge_transcript), prompt="fix that")

    assert_small(bounded(event, fields))
    assert state_file.recent_failures() == []


PIECES = {
    "one word": "x" * 1_000_000,
    "many words": " ".join(f"w{n}" for n in range(150_000)),
    "words of the records": f"{ASKS} carrier API rate limit kafka consumer lag " * 12_000,
    "letters that are not Latin": "사용자 세션은 어디에 저장됩니까 " * 30_000,
    "marks on marks": "e" + "\u0301" * 500_000,
    "markup": "<memory-context><result>" * 40_000,
    "quotes": '"' * 1_000_000,
    "lone surrogates": "\ud800 " * 300_000,
    "paths": "src/a/b/c.py " * 70_000,
    "lines": "\n" * 1_000_000,
    "camels": "aB" * 500_000,
    "capitals": "ABC" * 330_000,
    "joined": "a_b-c.d" * 140_000,
    "digits": "1234567890" * 100_000,
    "credentials": "AKIA0123456789ABCDEF " * 45_000,
}


@pytest.mark.parametrize("piece", list(PIECES))
def test_a_prompt_of_a_megabyte(piece: str, project: Project):
    assert_small(bounded("user_prompt_submit", event_in(project.root, prompt=PIECES[piece])))
    assert state_file.recent_failures() == []


@pytest.mark.heavy
@pytest.mark.parametrize("piece", list(PIECES))
def test_a_megabyte_of_anything_else(piece: str, project: Project, tmp_path: Path):
    text = PIECES[piece]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(b"".join(user_line(text[start : start + 90_000]) for start in range(0, 900_000, 90_000)))
    # What an event of each kind brings; one that holds more than 8 MB is not read at all.
    call = {"error": f"Exit code 1\n{text}", "tool_input": {"command": text, "file_path": text}}
    result = {"tool_response": {"stdout": text, "stderr": text}, "last_assistant_message": text}

    for event in EVENTS:
        fields = call if event in ("pre_tool_use", "post_tool_use_failure") else result
        assert_small(bounded(event, event_in(project.root, transcript_path=str(transcript), **fields)))
    assert state_file.recent_failures() == []


@pytest.fixture(scope="module")
def vast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store of 100,000 files: 20,000 records in four folders, the rest hard links to them, which are found broken."""
    folder = tmp_path_factory.mktemp("vast")
    store = folder / ".claude" / "memory"
    entry = repository(folder).save("preference", {**SIX["preference"], "title": "A choice"})
    text = (store / entry.path).read_text(encoding="utf-8")
    for category, where in (("preference", "preferences"), ("decision", "decisions")):
        for number in range(10_000):
            file = store / where / f"a-choice-{number}.json"
            file.write_text(text.replace('"a-choice"', f'"{file.stem}"').replace('"preference"', f'"{category}"'))
            for copy in range(4):
                os.link(file, store / "constraints" / f"{category}-{number}-{copy}.json")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.heavy
def test_a_store_of_a_hundred_thousand_files(vast: Path):
    for round in range(2):
        for event in EVENTS:
            assert_small(bounded(event, event_in(str(vast), session_id=f"{event}-{round}"), is_patient=False))
    # On a busy machine the clock ends a hook or a step of it early, which is what the bound is for.
    late = ("took too long", "did not answer in time")
    assert [error for _, _, error in state_file.recent_failures() if not any(reason in error for reason in late)] == []
    assert sum(len(files) for _, _, files in os.walk(vast / ".claude" / "memory")) > 100_000


@pytest.mark.heavy
def test_a_hundred_thousand_files_and_no_place_for_an_index(vast: Path, tmp_path: Path):
    (tmp_path / "file").write_text("")

    for event in EVENTS:
        fields = event_in(str(vast), session_id=f"no-cache-{event}")
        cache = str(tmp_path / "file" / "cache")
        assert_small(bounded(event, fields, is_patient=False, ONRECORD_CACHE_DIR=cache))


def test_ten_parallel_prompts_of_two_sessions_and_a_save_lose_nothing(project: Project):
    """Each session is told each memory once, whoever is first, and its ledger knows it."""
    prompts = (ASKS, "how many calls a minute does the carrier API allow?", "where are user sessions kept?")
    running = []
    for number in range(10):
        fields = {"session_id": f"s{number % 2}", "cwd": project.root, "prompt": prompts[number % 3]}
        running.append((fields, _started(fields)))
        if number == 4:
            saving = _saving(project)
    prompts_by_session: dict[str, list[str]] = {"s0": [], "s1": []}
    for fields, process in running:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, b"")
        prompts_by_session[fields["session_id"]] += _paths(out)

    assert (saving.wait(120), state_file.recent_failures()) == (0, [])
    for session, records in prompts_by_session.items():
        with Ledger(session) as ledger:
            assert ledger.prompts == 5
            assert sorted(records) == sorted(set(records))
            assert {os.path.basename(path) for path in records} == {os.path.basename(path) for path in ledger.shown}
        assert {"sessions-live-in-postgres-not-redis.json", "the-carrier-api-allows-90-calls-a-minute.json"} <= {
            os.path.basename(path) for path in records
        }


def _started(fields: dict[str, str]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        command("user_prompt_submit"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(fields).encode())
    process.stdin.close()
    process.stdin = None
    return process


def _saving(project: Project) -> subprocess.Popen[bytes]:
    fields = ("context=Redis", "decision=Carts are rows in Postgres", "rationale=one fewer moving part")
    options = [word for field in fields for word in ("--set", field)]
    words = [sys.executable, str(ROOT / "bin" / "onrecord"), "save", "decision", "Carts live in Postgres", *options]
    return subprocess.Popen(words, cwd=project.root, stdout=subprocess.DEVNULL)


def _paths(out: bytes) -> list[str]:
    context = json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""
    return re.findall(r' path="([^"]+)"', context)
