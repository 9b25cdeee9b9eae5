"""The replies of `onrecord hub`: whole, as text and as JSON, and how a password is typed."""

from __future__ import annotations

import getpass
import io
import json
import sys
from types import SimpleNamespace

import pytest

from onrecord import extras
from onrecord.cli import hub
from onrecord.cli.output import Screen
from onrecord.errors import BadInput
from onrecord.shared import hub_teams
from onrecord.shared.hub_teams import Team, TeamMember
from onrecord.shared.transport import Push, version_hash
from tests.shared.hub.conftest import OWNER, TestHub, own_hub, template

__all__ = ["own_hub", "template"]
ANN = TeamMember("ann", "writer")


@pytest.mark.debian("postgresql")
def test_the_replies_of_a_server_in_json(own_hub: TestHub, onrecord):
    url = own_hub.url(OWNER)

    def reply(*words: str) -> object:
        return json.loads(onrecord("hub", *words, "--url", url, "--json").out)

    granted = {"team": "platform", "login": "sam", "role": "reviewer"}
    assert reply("grant", "sam", "reviewer") == granted
    assert onrecord("hub", "grant", "sam", "reader", "--url", url).out == "sam is a reader of the team platform\n"
    assert reply("revoke", "sam") == {"team": "platform", "login": "sam"}
    gone = onrecord("hub", "revoke", "wilma", "--url", url)
    assert gone == (0, "wilma is no longer a member of the team platform\n", "")
    walt, path = own_hub.transport("walt"), "decisions/a.json"
    walt.push([Push(path, b"1", "")])
    walt.push([Push(path, b"2", version_hash(b"1"))])
    assert reply("forget", path) == {"team": "platform", "path": path, "versions": 1}
    status = reply("status")
    assert [(team["name"], len(team["members"])) for team in status["teams"]] == [("other", 1), ("platform", 3)]
    assert [team["name"] for team in reply("status", "--team", "platform")["teams"]] == ["platform"]
    assert set(status) == {"server", "schema", "teams"}


@pytest.mark.debian("postgresql")
def test_an_invitation_names_the_address_that_was_typed(own_hub: TestHub, onrecord):
    url = own_hub.url(OWNER, team="other")

    data = json.loads(onrecord("hub", "invite", "nina", "--url", url, "--team", "platform", "--json").out)

    assert data["grant"] == f"onrecord hub grant nina writer --team platform --create --url '{url}'"
    assert (data["team"], data["login"], data["role"], data["install"]) == ("platform", "nina", "writer", "")
    assert data["commands"] == [f"onrecord remote add platform '{data['address']}'", "onrecord sync platform"]


@pytest.mark.parametrize(
    ("host", "shown"), [("db.test", "db.test"), ("", "*"), ("/run/postgresql", "*"), ("::1", r"\:\:1")]
)
@pytest.mark.parametrize("install", ["", "pip install ./clone"])
def test_the_lines_of_an_invitation(monkeypatch, host, shown, install):
    monkeypatch.setattr(hub_teams, "role", lambda session, team, login: "writer")
    monkeypatch.setattr(hub_teams, "has_login", lambda session, login: True)
    monkeypatch.setattr(hub_teams, "address_for", lambda session, login, team: "postgresql://ann@db.test/m#platform")
    monkeypatch.setattr(extras, "command_elsewhere", lambda extra: f"{install} {extra}" if install else "")
    session = SimpleNamespace(info=SimpleNamespace(host=host, port=5432, dbname=r"a\b"))

    member = hub._invite(session, "platform", "ann", "writer", "")
    other = hub._invite(session, "platform", "ann", "reader", "")

    then = (
        ["Then:", "  pip install ./clone hub"]
        if install
        else [
            "Then, with Onrecord installed (if a package is missing, the first line prints how to install it for you):"
        ]
    )
    assert member.text(Screen()).split("\n") == [
        "ann is a writer of the team platform already.",
        "Then send this:",
        "",
        "You are a writer of the team platform; your login is ann.",
        rf"Put a line with your password into ~/.pgpass, mode 0600: {shown}:5432:a\\b:ann:PASSWORD",
        *then,
        "  onrecord remote add platform 'postgresql://ann@db.test/m#platform'",
        "  onrecord sync platform",
    ]
    assert other.text(Screen()).startswith(
        "First, here: onrecord hub grant ann reader --team platform\nThen send this:\n"
    )


def test_the_status_of_several_teams():
    teams = [Team("app", True, 1, 2, 1_000, 1, (ANN,)), Team("none", False, 0, 0, 0, 0, ())]

    text = hub._text(Screen(), {"server": 150_004, "schema": 6}, teams)

    assert text == (
        "PostgreSQL 15, schema 6, 2 teams\n"
        "\n"
        "app: 1 record, 2 drafts, 1,000 deleted records, 1 earlier version, writers send drafts\n"
        "ann\twriter\n"
        "\n"
        "none: 0 records, 0 drafts, 0 deleted records, 0 earlier versions\n"
        "no members"
    )


def test_a_password_is_typed_twice_where_somebody_can_be_asked(monkeypatch):
    prompts: list[str] = []
    answers = ["secret", "secret", "secret", "other", "", ""]
    monkeypatch.setattr(getpass, "getpass", lambda prompt: prompts.append(prompt) or answers.pop(0))

    assert hub._password(True) == "secret"
    with pytest.raises(BadInput, match="the two passwords differ") as differing:
        hub._password(True)
    with pytest.raises(BadInput, match="a login needs a password") as missing:
        hub._password(True)

    assert prompts == ["password of the new login: ", "again: "] * 3
    assert differing.value.fix == "type the same one twice"
    assert missing.value.fix == "type one, or put it on standard input"


@pytest.mark.parametrize(("line", "password"), [("a b \r\nmore", "a b "), ("x\n", "x"), ("y", "y")])
def test_a_password_on_standard_input_is_its_first_line(monkeypatch, line, password):
    monkeypatch.setattr(sys, "stdin", io.StringIO(line))

    assert hub._password(False) == password


def test_an_address_is_typed_once_and_the_one_of_the_environment_comes_last(onrecord, monkeypatch):
    monkeypatch.setenv("ONRECORD_HUB_URL", "mysql://one/x")

    twice = onrecord("hub", "init", "mysql://two/x", "--url", "mysql://three/x")
    typed = onrecord("hub", "init", "oracle://two/x")
    left_out = onrecord("hub", "status")

    assert (twice.code, twice.err.splitlines()[0]) == (2, "onrecord hub: --url and URL exclude each other")
    assert "'oracle' is not a scheme" in typed.err
    assert "'mysql' is not a scheme" in left_out.err
