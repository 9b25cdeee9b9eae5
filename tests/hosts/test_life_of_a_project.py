"""One project from its first import to the day Onrecord is removed, used by four agents and two people in turn.

Each agent is the real client. What one of them is told, the next one knows; what is asserted is what reaches its model,
and in the end every file. Ada begins the project; Ben clones it on a machine of his own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, expect

from tests.git_project import GitProject
from tests.hosts.clients.claude_code import ClaudeCode
from tests.hosts.clients.codex import Codex
from tests.hosts.clients.copilot import Copilot
from tests.hosts.clients.gemini import Gemini
from tests.hosts.conftest import unavailable
from tests.hosts.host_client import HostClient, Turn
from tests.hosts.plugin_copy import ROOT
from tests.terminal_session import TerminalSession
from tests.web import browser, served

CLIENTS = (ClaudeCode, Codex, Copilot, Gemini)

NATS = "Background jobs go through NATS JetStream."
UTC = "All timestamps are stored in UTC."
PAGE = """# {number}. {title}

## Status

Accepted

## Context

{context}

## Decision

{decision}

## Consequences

Everybody does it the same way.
"""
PAGES = {
    "0001-background-jobs.md": ("Use NATS for background jobs", "Jobs were lost when a worker died.", NATS),
    "0002-timestamps.md": ("Store timestamps in UTC", "Reports were off by an hour twice a year.", UTC),
}
SESSIONS = {
    "title": "Sessions live in Postgres, not Redis",
    "triggers": ["where do we keep login state?", "users are logged out after a deploy"],
    "related_files": ["src/auth.py"],
    "content": {
        "context": "Redis lost sessions on every failover.",
        "decision": "User sessions are rows in auth.sessions with a 14 day expiry.",
        "rationale": ["one fewer moving part"],
    },
}
COOKIES = {
    "title": "Sessions live in signed cookies",
    "triggers": ["where is login state kept?"],
    "related_files": ["src/auth.py"],
    "content": {
        "context": "The table auth.sessions was the busiest of all.",
        "decision": "User sessions are cookies signed with Ed25519, valid for 12 hours.",
        "rationale": ["no lookup at each request"],
    },
}
PAGES_RULE = {
    "title": "Pages are fetched through src/http.py, never with wget or requests",
    "triggers": ["how do we fetch a page?", "call an API over HTTP"],
    "content": {
        "context": "Requests without a time limit blocked a worker for a day.",
        "decision": "Every page is fetched by get() in src/http.py, which has a time limit.",
        "rationale": ["every call ends"],
    },
    "checks": [
        {"on": "command", "starts": ["wget"], "say": "use src/http.py"},
        {"on": "edit", "paths": ["src/**/*.py"], "adds": ["import requests"], "say": "use src/http.py"},
    ],
}
FETCH: str = PAGES_RULE["content"]["decision"]  # type: ignore[index]
FETCH_ID = "pages-are-fetched-through-src-http-py-never-with-wget-or-requests"
OLD: str = SESSIONS["content"]["decision"]  # type: ignore[index]
NEW: str = COOKIES["content"]["decision"]  # type: ignore[index]
ASKS = "where do we keep login state? users are logged out after a deploy"


class Life:
    """One user on one machine, with some agents and one project, which may be a clone of another."""

    def __init__(
        self, folder: Path, home: Path, hosts: Sequence[type[HostClient]] = CLIENTS, *, clone_of: Optional[Path] = None
    ) -> None:
        self.home = home
        if clone_of:
            subprocess.run(["git", "clone", "-q", str(clone_of), str(folder / "a project")], check=True, timeout=120)
        self.project = GitProject(folder / "a project")
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "onrecord").symlink_to(ROOT / "bin" / "onrecord")
        self.clients: dict[type[HostClient], HostClient] = {host: host(home, self.project.root) for host in hosts}

    @property
    def store(self) -> Path:
        return self.project.root / ".claude" / "memory"

    def onrecord(self, *words: str, status: int = 0) -> str:
        """Run a command of the user and return its output."""
        env = {"HOME": str(self.home), "PATH": f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        how = {"cwd": self.project.root, "env": env, "capture_output": True, "text": True}
        process = subprocess.run([str(self.home / "bin" / "onrecord"), *words], check=False, timeout=120, **how)
        assert process.returncode == status, process.stdout + process.stderr
        return process.stdout

    def files(self) -> dict[str, str]:
        """Return what git has of the store."""
        paths = self.project.git("ls-files", "--", ".claude/memory").splitlines()
        return {path.removeprefix(".claude/memory/"): self.project.read(path) for path in paths}

    def ask(self, host: type[HostClient], prompt: str, *replies: Any, again: bool = False) -> Turn:
        """One prompt in a new session of an agent, or again in the last one."""
        turn = self.clients[host].prompt(prompt, replies=[*replies, "Done."], again=again)
        assert turn.exit_code == 0, turn.stdout + turn.stderr
        return turn

    def agent_saves(self, host: type[HostClient], record: dict[str, Any], *options: str) -> Turn:
        """Ask an agent to remember something; it saves that as its skill says."""
        words = " ".join(["onrecord", "save", "decision", "--json", *options])
        call = self.clients[host].shell(f"{words} <<'EOF'\n{json.dumps(record)}\nEOF")
        turn = self.ask(host, "please remember what we just decided", call)
        assert '"path": "' in turn.last.results, turn.last.results
        return turn

    def left_behind(self) -> set[str]:
        """Return our files in the home folder, except Claude Code's copy of a removed plugin."""
        files = {path for path in self.home.rglob("*") if path.is_file() and not path.is_symlink()}
        return {str(path.relative_to(self.home)) for path in files if _is_ours(path.relative_to(self.home))}


def _is_ours(path: Path) -> bool:
    if path.is_relative_to(".claude/plugins/cache"):
        return False
    return "onrecord" in str(path) or str(path).startswith((".claude/memory", ".agents/skills"))


@pytest.mark.client
@pytest.mark.debian("chromium")
@pytest.mark.xdist_group("chromium")
def test_the_whole_life_of_a_project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in CLIENTS:
        if reason := unavailable(host):
            pytest.skip(reason)
    monkeypatch.setenv("PATH", str(home / "bin"), prepend=os.pathsep)
    life = Life(tmp_path, home)
    begin(life)
    review_in_the_terminal_and_in_the_browser(life)
    decide_and_supersede(life)
    rename_and_change_a_file(life)
    merge_two_branches(life)
    ben = clone_and_trust(life, tmp_path)
    command_and_correction(ben)
    check_a_pull_request(ben, tmp_path)
    see_the_effect(ben)
    have_the_same_files(life, ben)
    share_with_a_second_machine(life, tmp_path)
    export(life)
    remove(life)
    remove(ben)


def begin(life: Life) -> None:
    """Installed for every agent that is found; what is written down becomes drafts."""
    life.project.write("src/auth.py", "def login(user):\n    return session_for(user)\n")
    for name, (title, context, decision) in PAGES.items():
        page = PAGE.format(number=int(name[:4]), title=title, context=context, decision=decision)
        life.project.write(f"docs/adr/{name}", page)
    life.project.commit()

    connected = life.onrecord("connect", "--yes")
    life.onrecord("init", "--merge-driver")
    # So that all that reaches a model comes with a prompt: a small memory is in the digest as a whole.
    life.onrecord("config", "set", "--user", "session_start.enabled", "false")
    imported = life.onrecord("import")

    assert [host.name for host in CLIENTS if host.name not in connected] == []
    assert "2 drafts from 2 files" in imported


def review_in_the_terminal_and_in_the_browser(life: Life) -> None:
    """No agent knows a draft; a person accepts one with a key and one with a click."""
    before = life.ask(Codex, "how do background jobs reach the workers?")
    with TerminalSession("review", cwd=life.project.root) as session:
        session.expect("1 of 2")
        session.press("a")
        session.expect("2 of 2")
        session.press("q")
        assert session.end() == 0
    with browser.start_browser() as chromium, served.serving(life.project.root) as address:
        accept_in(chromium, address)
    after = life.ask(Codex, "how do background jobs reach the workers?")

    assert len(list((life.store / "decisions").glob("*.json"))) == 2
    assert (NATS in before.last.text, NATS in after.last.text) == (False, True)


@browser.in_thread
def accept_in(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(address)
    page.wait_for_url(lambda url: "token" not in url)
    page.goto(f"{page.url.rstrip('/')}/inbox")
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("The inbox is empty.")).to_be_visible()


def decide_and_supersede(life: Life) -> None:
    """A decision taken in one agent reaches the second; replaced in the third, its successor reaches the fourth."""
    life.agent_saves(ClaudeCode, SESSIONS)
    turn = life.ask(Codex, ASKS)
    life.agent_saves(Copilot, COOKIES, "--supersedes", "sessions-live-in-postgres-not-redis")
    again = life.ask(Gemini, "are users still logged out after a deploy, since postgres and not redis keeps them?")
    unrelated = life.ask(ClaudeCode, "please translate the word butterfly into Portuguese")

    assert OLD in turn.last.text
    assert NEW in again.last.text and OLD not in again.last.text
    assert "replaces “Sessions live in Postgres, not Redis”" in again.last.text
    assert [rule for rule in (OLD, NEW, NATS, UTC) if rule in unrelated.last.text] == []


def rename_and_change_a_file(life: Life) -> None:
    """The record follows its file to a new name, and warns when the file says something else."""
    life.project.commit("Remember")
    (life.project.root / "src" / "account").mkdir()
    life.project.git("mv", "src/auth.py", "src/account/login.py")
    life.project.commit("Move the login")
    login = life.project.root / "src" / "account" / "login.py"
    edit = life.clients[ClaudeCode].write(login, "def login(user):\n    return cookie_for(user)\n")
    edited = life.ask(ClaudeCode, "go on with the login", *edit)
    life.project.commit("Sign cookies")
    changed = life.ask(Gemini, ASKS)

    assert "cookie_for" in login.read_text()
    assert NEW in edited.last.text
    assert NEW in changed.last.text and "login.py` (was `src/auth.py`) changed once since" in changed.last.text
    life.onrecord("reanchor", "sessions-live-in-signed-cookies")


def merge_two_branches(life: Life) -> None:
    """Two people change one record on two branches, and git merges it field by field."""
    record = "sessions-live-in-signed-cookies"
    life.project.commit("Confirm")
    life.project.git("checkout", "-q", "-b", "other")
    life.onrecord("update", record, "--tag", "auth")
    life.project.commit("Tag it")
    life.project.git("checkout", "-q", "main")
    life.onrecord("update", record, "--trigger", "which key signs the cookies?")
    life.project.commit("Add a trigger")
    life.project.git("merge", "-q", "-m", "Merge", "other")

    merged = json.loads((life.store / "decisions" / f"{record}.json").read_text())
    assert "auth" in merged["tags"] and "which key signs the cookies?" in merged["triggers"]
    assert life.project.git("status", "--porcelain") == ""


def clone_and_trust(ada: Life, folder: Path) -> Life:
    """Ben clones the project. Until he accepts its records, his agents get pointers; then the map and the rules."""
    ada.agent_saves(Copilot, PAGES_RULE)
    ada.project.commit("Fetch pages in one place")
    origin = folder / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True, timeout=120)
    ada.project.git("remote", "add", "origin", str(origin))
    ada.project.git("push", "-q", "origin", "main")
    ben = Life(folder / "ben", folder / "ben" / "home", [ClaudeCode, Codex], clone_of=origin)
    ben.onrecord("connect", "--yes")
    ben.onrecord("init", "--merge-driver")
    ben.onrecord("config", "set", "--user", "trust.clones", "ask")

    before = ben.ask(Codex, ASKS)
    needs = ben.onrecord("status")
    ben.onrecord("trust")
    started = ben.ask(ClaudeCode, "good morning")
    after = ben.ask(Codex, ASKS)

    assert NEW not in before.last.text
    assert "onrecord trust" in needs
    assert started.last.text.count('kind="map"') == 1
    assert NEW in after.last.text
    assert ben.files() == ada.files()
    return ben


def command_and_correction(ben: Life) -> None:
    """The rule comes at the command that breaks it, and again when Ben says that it was broken."""
    wget = ben.clients[ClaudeCode].shell("wget --version")
    broken = ben.ask(ClaudeCode, "look at the start page of the shop", wget)
    corrected = ben.ask(ClaudeCode, "no, I told you: pages are fetched through src/http.py, not with wget", again=True)

    assert "use src/http.py" in broken.last.text
    assert FETCH in corrected.last.text
    assert "1 rule was broken" in ben.onrecord("status")


def check_a_pull_request(ben: Life, folder: Path) -> None:
    """CI, on a machine with nothing but the clone, stops the change that breaks the rule, and lets the next pass."""
    ben.project.git("checkout", "-q", "-b", "report")
    report = ben.project.root / "src" / "report.py"
    write = ben.clients[ClaudeCode].write(report, "import requests\n")
    written = ben.ask(ClaudeCode, "write the report", *write)
    ben.project.commit("Add the report")
    ben.project.git("push", "-q", "origin", "report")
    ci = Life(folder / "ci", folder / "ci" / "home", [], clone_of=folder / "origin.git")
    ci.project.git("checkout", "-q", "report")
    refused = ci.onrecord("check", "origin/main...HEAD", "--format", "github", status=1)
    report.write_text("from http import get\n")
    ben.project.commit("Fetch with get()")
    ben.project.git("push", "-q", "origin", "report")
    ci.project.git("pull", "-q", "origin", "report")
    passed = ci.onrecord("check", "origin/main...HEAD", "--format", "github")
    ben.project.git("checkout", "-q", "main")
    ben.project.git("merge", "-q", "report")
    ben.project.git("push", "-q", "origin", "main")

    assert "use src/http.py" in written.last.text
    assert "::error file=src/report.py,line=1" in refused
    assert "::error" not in passed
    assert ci.project.git("status", "--porcelain") == ""


def see_the_effect(ben: Life) -> None:
    """The sessions on Ben's disk say how often the rule was broken, and that he corrected it."""
    (rule,) = json.loads(ben.onrecord("effect", FETCH_ID, "--json"))["records"]

    # The session that was corrected, and the one that wrote the report; before the rule there was none.
    assert (rule["before"]["of"], rule["since"]["hits"], rule["since"]["of"]) == (0, 2, 2)
    assert rule["corrected"] == {"before": 0, "since": 1}


def have_the_same_files(ada: Life, ben: Life) -> None:
    """Both have every record, and nothing else of ours is in the repository."""
    ada.project.git("pull", "-q", "origin", "main")

    assert ada.files() == ben.files()
    records = {path: json.loads(text) for path, text in ada.files().items() if path.startswith("decisions/")}
    assert {record["title"]: record.get("superseded_by", "") for record in records.values()} == {
        "Use NATS for background jobs": "",
        "Store timestamps in UTC": "",
        "Sessions live in Postgres, not Redis": "sessions-live-in-signed-cookies",
        "Sessions live in signed cookies": "",
        PAGES_RULE["title"]: "",
    }
    assert sorted(set(ada.files()) - set(records)) == [".gitattributes", ".gitignore", "index.md"]
    assert [life.project.git("status", "--porcelain") for life in (ada, ben)] == ["", ""]


def share_with_a_second_machine(life: Life, folder: Path) -> None:
    """Shared over a git repository, the decision reaches an agent in another project on another machine."""
    repository = folder / "memory.git"
    subprocess.run(["git", "init", "-q", "--bare", str(repository)], check=True, timeout=120)
    life.onrecord("remote", "add", "--offline", "team", str(repository))
    life.onrecord("share", "sessions-live-in-signed-cookies", "--to", "team", "--yes")
    pushed = life.onrecord("sync")
    other = Life(folder / "second", folder / "second" / "home", hosts=[Codex])
    other.onrecord("connect", "codex", "--yes")
    other.onrecord("remote", "add", "--offline", "team", str(repository))
    pulled = other.onrecord("sync")
    turn = other.ask(Codex, ASKS)
    life.onrecord("remote", "remove", "team")

    assert ("pushed 1" in pushed, "pulled 1" in pulled) == (True, True), pushed + pulled
    assert NEW in turn.last.text and "team:decisions/sessions-live-in-signed-cookies.json" in turn.last.text
    assert not (other.project.root / ".claude").exists()


def export(life: Life) -> None:
    """A file for whoever can only read files; superseded records are not in it."""
    life.onrecord("export", "--file", "MEMORY.md")
    page = (life.project.root / "MEMORY.md").read_text()
    assert NEW in page and OLD not in page


def remove(life: Life) -> None:
    """Disconnected and cleaned, nothing of ours is left but the project's records, and no agent is shown one."""
    life.project.commit("Export")
    records = sorted(path for path in life.store.rglob("*") if path.is_file())
    life.onrecord("connect", "--remove", "--yes")
    life.onrecord("clean")
    life.project.git("config", "--remove-section", "merge.onrecord")
    # The user's own store, which has only settings here.
    shutil.rmtree(life.home / ".claude" / "memory")
    silent = life.ask(Codex, ASKS)

    assert NEW not in silent.last.text
    assert sorted(path for path in life.store.rglob("*") if path.is_file()) == records
    assert life.left_behind() == set()
    assert "onrecord" not in (life.project.root / ".git" / "config").read_text()
