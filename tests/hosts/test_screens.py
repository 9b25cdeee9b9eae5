"""The clients that are asked to save something, each on a screen: prompts that are typed, and the end of a turn."""

from __future__ import annotations

import pytest

from recollect.hosts import table
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
    new_client: NewClient, host: type[HostClient], pytestconfig: pytest.Config
) -> None:
    client = new_client(host)
    prepare(client)
    connect(client)
    change = client.write(client.project / "src" / "auth.py", "hashed = argon2id\n")

    with on_screen(client, ASKS) as screen:
        screen.wait_for(lambda: bool(screen.api.main_requests))
        first = screen.api.main_requests[-1]
        screen.prompt(DECIDED, [*change, "Done: argon2id it is."])
        screen.wait_for(lambda: NOTE in screen.api.main_requests[-1].text)
        last = screen.prompt("thanks, that is all for today")

    facts = {"matching prompt on a screen": "yes", "end of a turn on a screen": "asks once"}
    assert (first.text.count(RULE), last.text.count(NOTE)) == (1, 1)
    if pytestconfig.getoption("--update-golden"):
        results.update(host, facts)
    seen = results.read(host).steps
    assert {step: seen[step] for step in facts} == facts
