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
