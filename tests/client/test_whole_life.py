"""A project's whole life with the plugin, in the hands of the real client: installed as a stranger would, used over
three sessions, taken off again. What is asserted is what the client sends to the model, and what is on the disk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import pytest
from api_request import Request
from sandbox import Client, Session
from turn import Turn

import onrecord
from onrecord.store.inbox import Inbox
from tests.hosts import known_project, plugin_copy
from tests.hosts.dialects import Reply
from tests.hosts.known_project import CENTS, DECIDED, FAILS, LEFT, NOTE, SESSIONS, TILES
from tests.hosts.model_request import Tool

TOOLS = ("Bash", "Read", "Edit")

pytestmark = pytest.mark.client

ENCRYPTED = {
    "title": "Sessions live in signed cookies",
    "tags": ["auth", "sessions"],
    "triggers": ["where is login state kept?"],
    "content": {
        "context": "The table auth.sessions was the busiest of all.",
        "decision": "User sessions are cookies signed with Ed25519, valid for 12 hours.",
        "rationale": ["no lookup at each request"],
    },
}
HASHES = {
    "title": "Passwords are hashed with argon2id",
    "tags": ["auth", "passwords"],
    "triggers": ["which hash for login secrets?", "may a passphrase be longer than 72 bytes?"],
    "content": {
        "context": "bcrypt silently cuts everything after 72 bytes.",
        "decision": "Passwords are hashed with argon2id, 64 MiB and 3 passes.",
        "rationale": ["long passphrases count in full"],
    },
}


class Life:
    """One user, one project, and the plugin installed from a copy of the repository."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.copy = folder / "a home", folder / "a project", folder / "a copy of onrecord"
        plugin_copy.copy_to(self.copy)
        known_project.create(self.project)
        self.client = Client(self.home, self.project, attended=True)

    @property
    def store(self) -> Path:
        return self.project / ".claude" / "memory"

    @property
    def inbox(self) -> Inbox:
        return Inbox(str(self.store))

    def command(self, *words: str) -> Turn:
        done = self.client.run(*words)
        assert done.exit_code == 0, done.stdout + done.stderr
        return done

    def install(self) -> None:
        self.command("plugin", "validate", "--strict", str(self.copy))
        self.command("plugin", "marketplace", "add", str(self.copy))
        self.command("plugin", "install", "memory@onrecord")

    def doctor(self) -> list[dict[str, str]]:
        """What is wrong, asked by the user in a shell of their own."""
        env = {"HOME": str(self.home), "PATH": f"{self.home}/bin:/usr/bin:/bin"}
        command = [sys.executable, str(self.copy / "bin" / "onrecord"), "doctor", "--json"]
        done = subprocess.run(command, cwd=self.project, env=env, capture_output=True, check=False, timeout=120)
        found: list[dict[str, str]] = json.loads(done.stdout)["findings"]
        return [finding for finding in found if finding["severity"] in ("warning", "error")]

    def traces(self) -> str:
        log = self.home / ".local" / "state" / "onrecord" / "failures.log"
        return log.read_text() if log.exists() else ""


def saving(category: str, record: dict[str, Any], *options: str) -> Tool:
    """The agent saves a record, as the skill tells it to."""
    words = " ".join(["onrecord", "save", category, "--json", *options])
    return Tool("Bash", {"command": f"{words} <<'EOF'\n{json.dumps(record)}\nEOF"})


def answering_the_note(record: dict[str, Any], *first: Reply) -> Callable[[Request], Optional[Reply]]:
    """An agent that does its work, and when it is asked afterwards to keep something, drafts it once."""
    rest = iter(first)
    answers = iter([saving("decision", record, "--suggested")])

    def reply(request: Request) -> Optional[Reply]:
        if request.kind != "main":
            return None
        answer = next(answers, None) if NOTE in request.text else None
        return answer or next(rest, None)

    return reply


def results(turn: Turn) -> list[str]:
    assert [text for is_error, text in turn.tool_results if is_error and "Exit code 3" not in text] == []
    return [text for _, text in turn.tool_results]


def test_a_project_remembers_through_three_sessions(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.install()

    with life.client.session(allowed_tools=TOOLS, permission_mode="acceptEdits") as session:
        save_and_capture(life, session)
    with life.client.session(allowed_tools=TOOLS, permission_mode="acceptEdits") as session:
        recall_and_supersede(life, session)
    with life.client.session(allowed_tools=TOOLS, permission_mode="acceptEdits") as session:
        digest_review_and_compact(life, session)

    assert life.traces() == ""
    assert life.doctor() == []
    leave(life)


def save_and_capture(life: Life, session: Session) -> None:
    """The first session: two memories are saved on request; a decision is noticed, and waits in the inbox."""
    saved = session.prompt(
        "/memory:save what we know about sessions and tiles",
        replies=[saving("decision", SESSIONS), saving("runbook", TILES)],
    )
    auth = str(life.project / "src" / "auth.py")
    session.prompt(
        "the login should be hardened",
        replies=[Tool("Read", {"file_path": auth}), "Passwords are hashed with bcrypt in src/auth.py."],
    )
    change = Tool("Edit", {"file_path": auth, "old_string": "bcrypt", "new_string": "argon2id"})
    noticed = session.prompt(DECIDED, replies=answering_the_note(HASHES, change, "Done: argon2id it is."))
    after = session.prompt("thanks, that is all for today")

    assert "Sessions live in Postgres" in results(saved)[0]
    assert len(list(life.store.glob("*/*.json"))) - len(life.inbox.names()) == 2
    assert noticed.last.text.count(NOTE) == 1
    assert [draft.record.title for draft in life.inbox.drafts()] == [HASHES["title"]]
    assert not (life.store / "decisions" / "passwords-are-hashed-with-argon2id.json").exists()
    assert after.last.text.count(NOTE) == 1


def recall_and_supersede(life: Life, session: Session) -> None:
    """The second: other words bring the decision up, its successor takes its place, a file and a failure speak."""
    asked = session.prompt("users lose their login state after a deploy, where do we keep it?")
    unrelated = session.prompt("please translate the word butterfly into Portuguese")
    moved = session.prompt(
        "we moved: sessions are cookies now, and money is in cents; remember that",
        replies=[
            saving("decision", ENCRYPTED, "--supersedes", "sessions-live-in-postgres-not-redis"),
            saving("constraint", CENTS),
            saving("session_summary", LEFT),
        ],
    )
    again = session.prompt("are users still logged out after a deploy, since postgres and not redis keeps them?")
    money = life.project / "src" / "money.py"
    edited = session.prompt(
        "go on",
        replies=[
            Tool("Read", {"file_path": str(money)}),
            Tool("Edit", {"file_path": str(money), "old_string": "1", "new_string": "2"}),
            Tool("Bash", {"command": FAILS}),
        ],
    )

    old, new = SESSIONS["content"]["decision"], ENCRYPTED["content"]["decision"]  # type: ignore[index]
    assert '"id": "sessions-live-in-signed-cookies"' in results(moved)[-3]
    assert blocks(asked, old) == 1
    assert unrelated.last.text.count("<result ") == asked.last.text.count("<result ")
    assert (blocks(again, old), blocks(again, new)) == (1, 1)
    assert "replaces “Sessions live in Postgres, not Redis”" in again.last.text
    assert money.read_text() == "cents = 2\n"
    failed = [note.text for note in edited.notes if note.hook.startswith("PostToolUseFailure")]
    assert [text.count("2. Start tilecache with --rebuild.") for text in failed] == [1]
    # It is of high severity, so the edit repeats it.
    shown = [note.hook for note in edited.notes if "Never a float for money" in note.text]
    assert shown == ["PreToolUse:Read", "PreToolUse:Edit"]


def digest_review_and_compact(life: Life, session: Session) -> None:
    """The third: it starts with what was left; the draft is accepted and used; what was in use survives compaction."""
    (draft,) = [name for name in life.inbox.names() if "argon2id" in name]
    started = session.prompt("good morning")
    accepting = Tool("Bash", {"command": f"onrecord review --accept {draft} --json"})
    session.prompt("/memory:review", replies=[accepting])
    asked = session.prompt("may a passphrase be longer than 72 bytes, which hash do we use?")
    session.prompt("/compact")
    after = session.prompt("please translate the word butterfly into Portuguese")

    accepted = HASHES["content"]["decision"]  # type: ignore[index]
    assert started.last.text.count('kind="map"') == 1
    assert "Take the old key out." in started.last.text
    assert SESSIONS["content"]["decision"] not in started.last.text  # type: ignore[index]
    assert accepted not in started.last.text
    assert (life.store / "decisions" / "passwords-are-hashed-with-argon2id.json").exists()
    assert draft not in life.inbox.names()
    assert blocks(asked, accepted) == 1
    assert blocks(after, accepted) == 1


def blocks(turn: Turn, summary_line: str) -> int:
    """How often a summary line stands in what hooks have shown the model."""
    return sum(text.count(summary_line) for text in turn.injected)


def leave(life: Life) -> None:
    """Cleaned and uninstalled, nothing of ours is left but the records."""
    records = sorted(path.relative_to(life.store) for path in life.store.rglob("*") if path.is_file())
    clean = [sys.executable, str(life.copy / "bin" / "onrecord"), "clean"]
    subprocess.run(
        clean, env={"HOME": str(life.home), "PATH": "/usr/bin:/bin"}, check=True, capture_output=True, timeout=120
    )
    life.command("plugin", "uninstall", "memory@onrecord")
    life.command("plugin", "marketplace", "remove", "onrecord")

    kept = sorted(path.relative_to(life.store) for path in life.store.rglob("*") if path.is_file())
    left = [path for path in life.home.rglob("*") if path.is_file() and "onrecord" in str(path.relative_to(life.home))]
    ours = [path for path in left if ".claude/projects" not in str(path) and ".claude/plugins/cache" not in str(path)]
    assert (kept, ours) == (records, [])
    assert onrecord.open(str(life.project)).get("sessions-live-in-signed-cookies").memory.title == ENCRYPTED["title"]
    silent = life.client.prompt("users lose their login state after a deploy, where do we keep it?")
    assert silent.injected == []


def test_doctor_reads_what_the_client_itself_wrote_down(tmp_path: Path) -> None:
    life = Life(tmp_path)
    onrecord.open(str(life.project)).save("constraint", CENTS)
    life.client.prompt("hello")
    before = life.doctor()
    life.install()
    life.client.prompt("hello")
    installed = life.doctor()
    launcher = (life.copy / "src/onrecord/hooks/launch").read_text()
    (life.copy / "src/onrecord/hooks/launch").write_text("echo 'launch: broken' >&2\nexit 3\n")
    life.client.prompt("hello")
    broken = life.doctor()
    (life.copy / "src/onrecord/hooks/launch").write_text(launcher)
    life.command("plugin", "disable", "memory@onrecord")
    disabled = life.doctor()

    assert [(finding["check"], finding["severity"]) for finding in before] == [("plugin", "warning")]
    assert installed == []
    assert "launch: broken" in " ".join(finding["what"] for finding in broken if finding["check"] == "hooks")
    assert ("plugin", "claude plugin enable memory@onrecord") in [(one["check"], one["fix"]) for one in disabled]
