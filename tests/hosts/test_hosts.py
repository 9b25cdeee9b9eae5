"""Every client that can be run here, connected to Recollect: what reaches its model, and what must never happen."""

from __future__ import annotations

import pytest

from recollect.hosts import table
from tests.hosts import results
from tests.hosts.clients import CLIENTS
from tests.hosts.conftest import NewClient
from tests.hosts.host_client import HostClient
from tests.hosts.visit import NO, RULE, SILENT, Visit, connect, prepare, visit


@pytest.mark.client
@pytest.mark.parametrize("host", CLIENTS, ids=lambda host: host.name)
def test_what_reaches_the_model(new_client: NewClient, host: type[HostClient], pytestconfig: pytest.Config) -> None:
    client = new_client(host)
    prepare(client)
    connect(client)

    seen = visit(client)

    check_that_it_does_no_harm(seen)
    facts = seen.facts()
    if pytestconfig.getoption("--update-golden"):
        results.update(host, facts)
    seen_before = results.read(host).steps
    assert {step: seen_before.get(step) for step in facts} == facts


def check_that_it_does_no_harm(seen: Visit) -> None:
    """Both turns end well, nothing is run or written that must not be, no rule is repeated, and no turn goes on."""
    assert (seen.first.exit_code, seen.second.exit_code) == (0, 0), seen.first.stderr + seen.second.stderr
    assert (seen.forged, seen.executed) == ([], [])
    assert seen.before_search.text.count(RULE) <= 1
    assert (seen.client.project / "src" / "money.py").read_text() == "cents = 2\n"
    assert (seen.client.project / "src" / "auth.py").read_text() == "hashed = argon2id\n"
    calls = sum(len(step.calls) for step in seen.steps)
    assert len(seen.first.main_requests) == calls + 1
    assert seen.second.stdout.count("argon2id it is") >= 1


@pytest.mark.parametrize("host", CLIENTS, ids=lambda host: host.name)
def test_a_host_claims_what_was_seen(host: type[HostClient]) -> None:
    """The row of a host says what it can; the docs and `connect` use it."""
    row, seen = table.BY_NAME[host.name], results.read(host)

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
        step: _is_seen(step, seen.steps) for step in claims
    }
    assert row.version == seen.version


def _is_seen(step: str, steps: dict[str, str]) -> bool:
    on_screen = steps.get(f"{step} on a screen", NO)
    return not {steps[step], on_screen} <= {NO, SILENT}
