"""Every word that reaches the model of each host, and the line that the person sees: golden/HOST.txt.

The events are those of `host_events`; that the real clients deliver the replies is tested in test_hosts.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onrecord.hosts import table
from onrecord.project import Project
from tests import records
from tests.git_project import GitProject
from tests.hooks.host_events import ERROR, FILE, HOSTS, RECORD
from tests.hooks.test_hosts import Session, line
from tests.known_project import SIX

FOLDER = Path(__file__).with_name("golden")
UPDATE = "python -m pytest tests/hosts/test_golden.py --update-golden"
COMMAND = "npm install lodash"
PNPM: dict[str, Any] = {
    "title": "Packages are added with pnpm",
    "triggers": [COMMAND],
    "content": {"context": "Two lock files", "decision": "pnpm add, never npm install.", "rationale": ["one lock"]},
}
NAMES = [host.name for host in table.HOSTS]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository whose records have fixed dates."""
    repository = GitProject(tmp_path / "project")
    repository.write(FILE, "calls = 90\n")
    project = Project(str(repository.root))
    for category, fields in [*SIX.items(), ("decision", PNPM)]:
        entry = project.save(category, dict(fields))
        dated = entry.memory._replace(created_at=records.NOW, updated_at=records.NOW, anchors=())
        records.put(project.store.root, dated)
    repository.commit()
    return project


@pytest.mark.parametrize("name", NAMES)
def test_what_reaches_the_model_is_what_was_read_before(name, project, home, pytestconfig):
    text = "".join(f"=== {step}\n{answer}\n" for step, answer in _steps(name, project, home))
    file = FOLDER / f"{name}.txt"
    if pytestconfig.getoption("--update-golden"):
        file.write_text(text, encoding="utf-8")

    golden = file.read_text(encoding="utf-8") if file.exists() else ""
    assert text == golden, f"if the new words are meant, run  {UPDATE}  and read the diff of tests/hosts/golden"


def test_no_golden_text_is_left_of_a_host_that_is_gone():
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(NAMES)


def _steps(name: str, project: Project, home: Path) -> Iterator[tuple[str, str]]:
    """Yield each step, in a session of its own, and what is read in it."""
    host, events = table.BY_NAME[name], HOSTS[name]

    def session(step: str) -> Session:
        return Session(name, project, home, step.replace(" ", "-"))

    yield "session start", _read(session("start")("session_start", source="startup"))
    yield "first prompt", _read(session("first").prompt())
    later = session("later")
    later.prompt(prompt="hello", submitted_prompt="hello")
    yield "later prompt", _read(later.prompt())
    yield "before an edit", _read(session("edit").write("pre_tool_use", FILE))
    yield "after an edit", _read(session("edited").write("post_tool_use", FILE))
    yield "before a command", _read(session("command").shell("pre_tool_use", COMMAND))
    yield "after a command", _read(session("ran").shell("post_tool_use", COMMAND))
    if host.failures:
        _write_rollout(home)
        yield "failed command", _read(session("fail").shell(events.failure_event, "make lag", **events.failed))
    yield "record written by hand", _read(session("guard").write("pre_tool_use", RECORD))
    compacted = session("compacted")
    compacted.prompt()
    compacted("pre_compact", trigger="manual")
    yield "compaction", _read(compacted("session_start", source="compact"))
    yield "prompt after it", _read(compacted.prompt(prompt="go on", submitted_prompt="go on"))


def _write_rollout(home: Path) -> None:
    """Write the session's file in which Codex says how a command ended."""
    rollout = home / ".codex" / "sessions" / "rollout-1.jsonl"
    rollout.parent.mkdir(parents=True, exist_ok=True)
    item = {"type": "CommandExecution", "id": "call_1", "aggregated_output": ERROR, "exit_code": 3, "status": "failed"}
    rollout.write_text(line("event_msg", {"item": item}))


def _read(answer: dict[str, Any]) -> str:
    """Return the texts of a reply, without the names of its fields; the person's line comes last."""
    answer = dict(answer)
    notice = answer.pop("systemMessage", "") or answer.pop("notice", "")
    fields = answer.pop("hookSpecificOutput", {})
    values = [str(value) for key, value in {**answer, **fields}.items() if key != "hookEventName"]
    verdicts, texts = ([value for value in values if (" " in value) == is_text] for is_text in (False, True))
    return "\n".join([*verdicts, *(texts or ["(nothing)"]), *([f"--- the person sees: {notice}"] if notice else [])])
