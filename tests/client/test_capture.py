"""Capture in the hands of the real client: one offer, a draft in the inbox, and no second offer."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Optional, Union

import pytest
from api_request import Request
from mock_api import Tool
from sandbox import Client

import recollect
from recollect.capture.inbox import Inbox

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
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    given = {"title": "Tabs", "content": {"topic": "indent", "value": "tabs", "reason": "widths differ"}}
    recollect.open(str(folder)).save("preference", given)
    return folder


@pytest.fixture
def client(tmp_path: Path, project: Path, _client_can_run: None) -> Client:
    return Client(tmp_path / "home", project, ROOT)


def offer_in(request: Request) -> str:
    """The command that a note of ours names, if the last thing the model reads is one."""
    text = request.text
    return text[text.rindex("`recollect save ") + 1 :].split("`")[0] if "`recollect save " in text else ""


class Agent:
    """A model that answers a prompt, and does what a note asks of it once."""

    def __init__(self) -> None:
        self.offers = 0
        self.saved = False

    def __call__(self, request: Request) -> Optional[Union[str, Tool]]:
        if request.kind != "main":
            return None
        command = offer_in(request)
        if not command:
            return "Done."
        if not self.saved:
            self.offers += 1
            self.saved = True
            line = f"{shlex.quote(str(ROOT / 'bin' / 'recollect'))}{command[len('recollect') :]}"
            return Tool("Bash", {"command": f"{line} <<'EOF'\n{json.dumps(RECORD)}\nEOF"})
        return "Saved as a draft."


def count_offers(requests: tuple[Request, ...]) -> int:
    """How many notes of ours the conversation holds in its last request."""
    return [request for request in requests if request.kind == "main"][-1].text.count("may have settled something")


def test_a_decision_is_offered_once_and_its_draft_lands_in_the_inbox(client: Client, project: Path) -> None:
    agent = Agent()
    with client.session(allowed_tools=["Bash"]) as session:
        session.prompt(ASKED, replies=["With bcrypt."])
        turn = session.prompt(DECIDED, replies=agent)

    assert agent.offers == 1
    assert count_offers(turn.requests) == 1
    (draft,) = Inbox(str(project / ".claude" / "memory")).drafts()
    assert (draft.name, draft.session) == ("password-hashes-use-argon2id", turn.session_id)
    assert DECIDED in " ".join(draft.evidence)

    with client.session() as session:
        session.prompt(ASKED, replies=["With bcrypt."])
        later = session.prompt(DECIDED, replies=["Yes."])

    assert count_offers(later.requests) == 0
    assert later.answer == "Yes."


def test_turned_off_nothing_happens(client: Client, project: Path) -> None:
    config = project / ".claude" / "memory" / "memory-config.json"
    config.write_text(json.dumps({"capture": {"mode": "off"}}))

    with client.session() as session:
        session.prompt(ASKED, replies=["With bcrypt."])
        turn = session.prompt(DECIDED, replies=["Done."])

    assert (turn.answer, len(turn.main_requests), count_offers(turn.requests)) == ("Done.", 1, 0)
    assert Inbox(str(config.parent)).names() == []


def test_a_session_with_work_in_it_leaves_a_summary(client: Client, project: Path) -> None:
    files = [project / f"part{number}.txt" for number in range(4)]
    writes = [Tool("Write", {"file_path": str(path), "content": "x"}) for path in files]

    client.prompt("create four files", replies=[*writes, "Written."], permission_mode="acceptEdits")

    (draft,) = Inbox(str(project / ".claude" / "memory")).drafts()
    assert draft.is_machine_made
    assert draft.record.content["goal"] == "create four files"
    assert "4 files: part0.txt" in draft.record.content["completed"][0]
