"""The clients that get a suggestion to save, each on a screen: a prompt that matches, and the end of its turn."""

from __future__ import annotations

import pytest

from onrecord.hosts import table
from tests.hosts import results
from tests.hosts.clients import CLIENTS
from tests.hosts.conftest import NewClient
from tests.hosts.host_client import HostClient
from tests.hosts.known_project import ASKS, DECIDED, NOTE
from tests.hosts.screen import on_screen
from tests.hosts.visit import RULE, connect, prepare

NOTICE = "memory:SessionsliveinPostgres,notRedis"
"""The line for the person, as the screen has it: without white space."""

TELLING = [host for host in CLIENTS if host.name in ("claude-code", "codex")]
"""Clients with a place for that line whose screens can be read here."""

SUGGESTING = [host for host in CLIENTS if table.BY_NAME[host.name].suggestion]


@pytest.mark.client
@pytest.mark.parametrize("host", SUGGESTING, ids=lambda host: host.name)
def test_a_decision_brings_one_request_to_save_it(
    new_client_on_screen: NewClient, host: type[HostClient], pytestconfig: pytest.Config
) -> None:
    client = new_client_on_screen(host)
    prepare(client)
    connect(client)
    change = client.write(client.project / "src" / "auth.py", "hashed = argon2id\n")

    with on_screen(client, f"{DECIDED} And {ASKS}", [*change, "Done: argon2id it is."]) as screen:
        stop_event = screen.wait_for_calls("stop", 1)[0]
        assert stop_event.length > 0, "nothing was suggested"
        silent = screen.wait_for_calls("stop", 2)[1]

    requests = screen.api.main_requests
    facts = {"matching prompt on a screen": "yes", "end of a turn on a screen": "asks once"}
    assert requests[0].text.count(RULE) == 1
    assert (silent.length, requests[-1].text.count(NOTE)) == (0, 1)
    if pytestconfig.getoption("--update-golden"):
        results.update(host, facts)
    steps = results.read(host).steps
    assert {step: steps[step] for step in facts} == facts


@pytest.mark.client
@pytest.mark.parametrize("host", TELLING, ids=lambda host: host.name)
def test_the_person_sees_what_the_agent_is_shown(new_client_on_screen: NewClient, host: type[HostClient]) -> None:
    client = new_client_on_screen(host)
    prepare(client)
    connect(client)

    with on_screen(client, ASKS, ["In Postgres."]) as screen:
        screen.wait_for_calls("user_prompt_submit", 1)
        screen.wait_for_text(NOTICE)
        screen.wait_for_request()

    # The model gets the rule, and not the line.
    assert screen.api.main_requests[0].text.count(RULE) == 1
    assert "memory: Sessions live" not in screen.api.main_requests[0].text
