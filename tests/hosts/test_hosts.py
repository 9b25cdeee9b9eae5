"""Every client that can be run here, connected to Onrecord: what reaches its model, and what must never happen."""

from __future__ import annotations

import pytest

from onrecord.hosts import table
from tests.hosts import results
from tests.hosts.clients import CLIENTS
from tests.hosts.clients.codex import Codex
from tests.hosts.conftest import NewClient
from tests.hosts.host_client import HostClient
from tests.hosts.known_project import ASKS
from tests.hosts.visit import NO, ONRECORD, RULE, SILENT, UNFINISHED, Visit, connect, prepare, visit


@pytest.mark.client
@pytest.mark.parametrize("host", CLIENTS, ids=lambda host: host.name)
def test_what_reaches_the_model(new_client: NewClient, host: type[HostClient], pytestconfig: pytest.Config) -> None:
    client = new_client(host)
    prepare(client)
    connect(client)

    client_visit = visit(client)

    check_that_it_does_no_harm(client_visit)
    facts = client_visit.facts()
    if pytestconfig.getoption("--update-golden"):
        results.update(host, facts)
    seen_before = results.read(host).steps
    assert {step: seen_before.get(step) for step in facts} == facts


def check_that_it_does_no_harm(client_visit: Visit) -> None:
    """Both turns end well, nothing is run or written that must not be, no rule is repeated, and no turn goes on."""
    assert (client_visit.first.exit_code, client_visit.second.exit_code) == (0, 0), (
        client_visit.first.stderr + client_visit.second.stderr
    )
    assert (client_visit.forged, client_visit.executed) == ([], [])
    assert client_visit.before_search.text.count(RULE) <= 1
    assert (client_visit.client.project / "src" / "money.py").read_text() == "cents = 2\n"
    assert (client_visit.client.project / "src" / "auth.py").read_text() == "hashed = argon2id\n"
    calls = [call for step in client_visit.steps for call in step.calls]
    requests = len(client_visit.first.main_requests), len(client_visit.second.main_requests)
    assert requests == (len(calls) + 1, len(client_visit.change) + 1)


@pytest.mark.client
def test_a_client_that_is_no_longer_connected_is_shown_nothing(new_client: NewClient) -> None:
    client = new_client(Codex)
    prepare(client)
    connect(client)
    removed = client.execute([*ONRECORD, "connect", client.name, "--remove", "--yes"])

    turn = client.prompt(ASKS)

    assert (removed.exit_code, turn.exit_code) == (0, 0), removed.stderr + turn.stderr
    assert [mark for mark in (RULE, UNFINISHED) if mark in turn.last.text] == []
    assert "onrecord" not in (client.home / ".codex" / "config.toml").read_text()


@pytest.mark.parametrize("host", CLIENTS, ids=lambda host: host.name)
def test_a_host_claims_what_was_seen(host: type[HostClient]) -> None:
    """The row of a host says what it can; the docs and `connect` use it."""
    row, result = table.BY_NAME[host.name], results.read(host)

    claims = {
        "session start": row.digest,
        "matching prompt": row.prompt,
        "file edit": row.files,
        "failed command": row.failures,
        "denied write": row.guard,
        "denied command": row.guard,
        "end of a turn": row.suggestion,
    }
    assert {step: bool(claim) for step, claim in claims.items()} == {
        step: _is_seen(step, result.steps) for step in claims
    }
    assert row.version == result.version


def _is_seen(step: str, steps: dict[str, str]) -> bool:
    on_screen = steps.get(f"{step} on a screen", NO)
    return not {steps[step], on_screen} <= {NO, SILENT}
