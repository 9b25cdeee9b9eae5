"""Capture in the hands of the real client: one suggestion, a draft in the inbox, and no second one."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Optional, Union

import pytest
from api_request import Request
from sandbox import Client

import onrecord
from onrecord.store.inbox import Inbox
from tests.hosts.model_request import Tool

ROOT = Path(__file__).parents[2]
DECIDED = (
    "ok let's go with argon2id instead of bcrypt for the password hashes, because bcrypt silently cuts"
    " everything after 72 bytes."
)
ASKED = "how do we hash the passwords at the moment?"
RECORD = {
    "title": "Password hashes use argon2id",
    "tags": ["auth", "passwords"],
    "triggers": ["which hash for passwords?", "long passwords are cut", "can I use bcrypt here?"],
    "content": {
        "context": "bcrypt cuts after 72 bytes.",
        "decision": "Passwords are hashed with argon2id.",
        "rationale": ["bcrypt silently cuts long passwords"],
    },
}

pytestmark = pytest.mark.client


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=120)
    given = {"title": "Tabs", "content": {"topic": "indent", "value": "tabs", "reason": "widths differ"}}
    onrecord.open(str(folder)).save("preference", given)
    return folder


@pytest.fixture
def client(tmp_path: Path, project: Path, _client_can_run: None) -> Client:
    return Client(tmp_path / "home", project, ROOT, attended=True)


NOTE = "later sessions may need to know this"


class Agent:
    """A model that answers a prompt, and does what a note asks of it once."""

    def __init__(self) -> None:
        self.has_saved = False

    def __call__(self, request: Request) -> Optional[Union[str, Tool]]:
        if request.kind != "main":
            return None
        if NOTE not in request.text:
            return "Done."
        if self.has_saved:
            return "Saved as a draft."
        self.has_saved = True
        command = f"{shlex.quote(str(ROOT / 'bin' / 'onrecord'))} save decision --suggested --json"
        return Tool("Bash", {"command": f"{command} <<'EOF'\n{json.dumps(RECORD)}\nEOF"})


def count_notes(requests: tuple[Request, ...]) -> int:
    """How many notes of ours the conversation holds in its last request."""
    return [request for request in requests if request.kind == "main"][-1].text.count(NOTE)


def test_a_decision_is_suggested_once_and_its_draft_lands_in_the_inbox(client: Client, project: Path) -> None:
    with client.session(allowed_tools=["Bash"]) as session:
        session.prompt(ASKED, replies=["With bcrypt."])
        turn = session.prompt(DECIDED, replies=Agent())

    assert count_notes(turn.requests) == 1
    (draft,) = Inbox(str(project / ".claude" / "memory")).drafts()
    assert (draft.name, draft.session) == ("password-hashes-use-argon2id", turn.session_id)
    assert DECIDED in " ".join(draft.evidence)

    with client.session() as session:
        begun = session.prompt(ASKED, replies=["With bcrypt."])
        later = session.prompt(DECIDED, replies=["Yes."])

    assert "1 draft is waiting: /memory:review" in begun.last.text
    assert count_notes(later.requests) == 0
    assert later.answer == "Yes."


def test_the_answer_of_a_program_is_never_replaced(tmp_path: Path, project: Path, _client_can_run: None) -> None:
    client = Client(tmp_path / "home", project, ROOT)
    asked = client.prompt(ASKED, replies=["With bcrypt."])

    turn = client.prompt(DECIDED, replies=["The answer that a script waits for.", "Nothing to save."], resume=True)

    assert turn.answer == "The answer that a script waits for."
    assert (len(asked.main_requests), len(turn.main_requests), count_notes(turn.requests)) == (1, 1, 0)

    attended = Client(tmp_path / "home", project, ROOT, attended=True)
    resumed = attended.prompt("thanks", replies=["Welcome.", "Nothing to save."], resume=True)

    assert count_notes(resumed.requests) == 1


def test_turned_off_nothing_happens(client: Client, project: Path) -> None:
    config = project / ".claude" / "memory" / "memory-config.json"
    config.write_text(json.dumps({"capture": {"mode": "off"}}))

    with client.session() as session:
        session.prompt(ASKED, replies=["With bcrypt."])
        turn = session.prompt(DECIDED, replies=["Done."])

    assert (turn.answer, len(turn.main_requests), count_notes(turn.requests)) == ("Done.", 1, 0)
    assert Inbox(str(config.parent)).names() == []


def test_a_session_with_work_in_it_leaves_a_summary(client: Client, project: Path) -> None:
    files = [project / f"part{number}.txt" for number in range(4)]
    writes = [Tool("Write", {"file_path": str(path), "content": "x"}) for path in files]

    client.prompt("create four files", replies=[*writes, "Written."], permission_mode="acceptEdits")

    (draft,) = Inbox(str(project / ".claude" / "memory")).drafts()
    assert draft.is_machine_made
    assert draft.record.content["goal"] == "create four files"
    assert "4 files: part0.txt" in draft.record.content["completed"][0]
