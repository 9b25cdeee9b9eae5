"""The map at session start, seen where the model would read it: with the real client."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sandbox import Client

import onrecord
from onrecord.project import Project

PLUGIN = Path(__file__).parents[2]
MARK = 'kind="map"'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, timeout=120)
    known = onrecord.open(str(folder))
    known.save("decision", DECISION)
    known.save("session_summary", SESSION)
    return known


@pytest.fixture
def client(tmp_path: Path, project: Project, _client_can_run: None) -> Client:
    return Client(tmp_path / "home", Path(project.root), PLUGIN)


@pytest.mark.client
def test_the_map_is_in_the_first_request_once_and_replaced_after_clear(client: Client, project: Project) -> None:
    with client.session() as session:
        first = session.prompt("hello", replies=["Hi."])
        second = session.prompt("and again")
        project.save("constraint", CONSTRAINT)
        session.prompt("/clear")
        third = session.prompt("afresh")

    assert first.main_requests[0].text.count(MARK) == 1
    assert "- tokens-are: Tokens are refreshed early" in first.main_requests[0].text
    assert "rotate the signing key" in first.main_requests[0].text
    assert second.last.text.count(MARK) == 1
    assert third.last.text.count(MARK) == 1
    assert "(high severity) The identity provider limits refreshes" in third.last.text


@pytest.mark.client
def test_a_resumed_conversation_has_the_map_once_and_then_lines_for_what_is_new(
    client: Client, project: Project
) -> None:
    client.prompt("hello", replies=["Hi."])
    unchanged = client.prompt("again", resume=True)
    project.save("constraint", CONSTRAINT)
    changed = client.prompt("once more", resume=True)

    assert unchanged.last.text.count(MARK) == 1
    assert changed.last.text.count(MARK) == 2
    assert changed.last.text.count("Tokens are refreshed early") == 1
    assert changed.last.text.count("- the-identity:") == 1


DECISION = {
    "title": "Tokens are refreshed early",
    "tags": ["token"],
    "content": {
        "context": "Calls failed at the moment a token expired.",
        "decision": "Tokens are refreshed 60 seconds early",
        "rationale": ["clocks differ"],
    },
}
SESSION = {
    "title": "Refresh tokens",
    "tags": ["token"],
    "content": {
        "goal": "Refresh tokens before they expire",
        "outcome": "partial",
        "completed": ["the timer"],
        "next_actions": ["rotate the signing key"],
    },
}
CONSTRAINT = {
    "title": "The identity provider limits refreshes",
    "tags": ["token"],
    "content": {
        "kind": "limitation",
        "rule": "At most 5 refreshes a minute per user",
        "impact": ["the account is locked"],
        "severity": "high",
        "active": True,
    },
}
