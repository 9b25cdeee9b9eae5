"""Records as resources, and the prompts a user can choose."""

from __future__ import annotations

import json
import os

import pytest

import onrecord
from onrecord import paths
from onrecord.cli import main
from onrecord.mcp import resources
from tests.mcp_server.client import Client
from tests.mcp_server.conftest import SESSIONS


def read(client: Client, uri: str) -> str:
    (content,) = client.request("resources/read", uri=uri)["result"]["contents"]
    assert content["uri"] == uri
    return str(content["text"])


def listed(client: Client) -> list[list[str]]:
    """The addresses on each page."""
    pages, cursor = [], None
    while cursor != "":
        body = client.request("resources/list", **({"cursor": cursor} if cursor else {}))["result"]
        pages.append([each["uri"] for each in body["resources"]])
        cursor = body.get("nextCursor", "")
    return pages


def test_every_current_record_is_listed_and_can_be_read(client, project):
    main(["retire", "address-parsing-is-written-twice", "--reason=done", "--project", str(project)])
    main(["save", "preference", "Answers in German", "--user", "--set=topic=t", "--set=value=v", "--set=reason=r"])
    (pages,) = listed(client)

    records = [entry.memory for entry in onrecord.open(str(project)).store.entries() if entry.memory.is_current]
    assert len(records) == 5
    own = [f"onrecord://project/{record.category}/{record.id}" for record in records]
    assert pages == [*own, "onrecord://user/preference/answers-in-german"]
    assert "User sessions are rows in auth.sessions" in read(client, pages[0])
    assert read(client, pages[-1]).startswith('<memory-context source="~/.claude/memory/preferences/')
    retired = read(client, "onrecord://project/tech_debt/address-parsing-is-written-twice")
    assert "Caution: it is retired (done)." in retired


def test_pages_hold_what_is_there_when_they_are_asked_for(client, project):
    store = project / ".claude" / "memory" / "decisions"
    raw = json.loads((store / f"{SESSIONS}.json").read_text())
    names = [f"{letter}-{number:03}" for letter in "ab" for number in range(resources.PAGE)]
    for name in names:
        (store / f"{name}.json").write_text(json.dumps({**raw, "id": name}))
    first = client.request("resources/list")["result"]
    (store / "a-050.json").unlink()
    (store / "a-051-new.json").write_text(json.dumps({**raw, "id": "a-051-new"}))
    (store / "b-000.json").write_text("{")
    (store / "B odd.json").write_text(json.dumps({**raw, "id": "B odd"}))
    second = client.request("resources/list", cursor=first["nextCursor"])["result"]

    assert [each["name"] for each in first["resources"]] == names[: resources.PAGE]
    assert [each["name"] for each in second["resources"]][:3] == ["b-001", "b-002", "b-003"]
    assert len(listed(client)) == 3


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "onrecord://",
        "onrecord://project/decision/",
        "onrecord://project/decision/../../../secret",
        "onrecord://project/decision/%2e%2e%2fsecret",
        "onrecord://project/decision/a/b",
        "onrecord://project/inbox/draft",
        "onrecord://other/decision/x",
        "onrecord://user/decision/x",
        "file:///etc/passwd",
        "ONRECORD://project/decision/x",
        "onrecord://project/decision/x\n",
        "onrecord://project/decision/" + "x" * 100_000,
    ],
)
def test_no_other_address_leads_anywhere(client, uri):
    error = client.request("resources/read", uri=uri)["error"]

    assert (error["code"], error["message"], error["data"]) == (-32002, "Resource not found", {"uri": uri})


def test_a_link_out_of_the_store_is_not_followed(client, project, tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text((project / ".claude" / "memory" / "decisions" / f"{SESSIONS}.json").read_text())
    os.symlink(secret, project / ".claude" / "memory" / "decisions" / "link.json")

    assert client.request("resources/read", uri="onrecord://project/decision/link")["error"]["code"] == -32603
    assert "onrecord://project/decision/link" not in listed(client)[0]


@pytest.mark.parametrize("cursor", ["", "nonsense", 7, "onrecord://project/decision", "onrecord://x/y/z"])
def test_a_page_that_is_none_is_refused(client, cursor):
    assert client.request("resources/list", cursor=cursor)["error"]["code"] == -32602


def prompt(client: Client, name: str, **arguments: str) -> str:
    (message,) = client.request("prompts/get", name=name, arguments=arguments)["result"]["messages"]
    assert (message["role"], message["content"]["type"]) == ("user", "text")
    return str(message["content"]["text"])


def test_prompts_take_what_the_user_typed(client):
    assert prompt(client, "search", question="why {0} Postgres?").startswith(
        "Look up in the project memory: why {0} Postgres?\n"
    )
    assert "what the conversation has just settled" in prompt(client, "save")
    wrong = [{"question": 7}, {"nothing": "x"}, {"question": "x", "more": "y"}]
    codes = [client.request("prompts/get", name="search", arguments=each)["error"]["code"] for each in wrong]
    assert codes == [-32602] * 3


def test_the_prompt_to_review_holds_the_drafts(client, project):
    nothing = prompt(client, "review")
    for number in range(7):
        fields = {"context": "c", "decision": f"Number {number} is <b>bold</b>.", "rationale": ["r"]}
        client.call("save", category="decision", title=f"Draft {'abcdefg'[number]}", content=fields, force=True)
    text = prompt(client, "review")

    assert nothing == "Say that no draft waits for review in the project memory."
    assert text.count("<memory-context draft=") == 5
    assert "2 more wait after these." in text
    assert "Number 0 is &lt;b&gt;bold&lt;/b&gt;." in text
    assert onrecord.open(str(project)).store.root == str(project / paths.STORE)
