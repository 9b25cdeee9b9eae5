"""`onrecord search --remote` with a hub: what a person and a program get, and what happens without the server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord.shared.replicas import Replica
from tests.cli.conftest import onrecord, project

from .conftest import TestHub, new
from .test_command import BIN

pytestmark = pytest.mark.debian("postgresql")
__all__ = ["onrecord", "project"]


def _record(id: str, title: str, decision: str) -> bytes:
    head = {"schema_version": "1.0", "category": "decision", "id": id, "title": title, "tags": ["queue"]}
    return json.dumps({**head, "content": {"decision": decision}, "updated_at": "2026-01-02T00:00:00Z"}).encode()


@pytest.fixture
def acme(hub: TestHub, onrecord) -> TestHub:
    """Return a hub with records of two teams, connected as `acme`; the login belongs to one of them."""
    hub.transport("walt").push(
        [new("decisions/use-kafka.json", _record("use-kafka", "Use Kafka", "Kafka for all queues."))]
    )
    hub.transport("olga", "other").push([new("decisions/theirs.json", _record("theirs", "Kafka is theirs", "Kafka."))])
    assert onrecord("remote", "add", "--offline", "acme", hub.url("walt")).code == 0
    return hub


def test_what_the_server_finds_has_the_form_of_any_search(acme, onrecord):
    outcome = json.loads(onrecord("search", "kafka queues", "--remote=acme", "--json").out)
    fields = ("--set=decision=Kafka for all queues.", "--set=context=c", "--set=rationale=r")
    assert onrecord("save", "decision", "Use Kafka", "--tag=queue", *fields).code == 0
    local = json.loads(onrecord("search", "kafka queues", "--json").out)

    (hit,) = outcome["results"]
    assert (outcome["query"], outcome["is_cut"]) == ("kafka queues", False)
    assert list(hit)[:-2] == list(local["results"][0])
    assert {**hit, "score": 0} == {
        "id": "use-kafka",
        "category": "decision",
        "title": "Use Kafka",
        "source": "acme",
        "path": "acme:decisions/use-kafka.json",
        "tags": ["queue"],
        "score": 0,
        "probability": None,
        "confidence": "",
        "snippet": "Kafka for all queues.",
        "updated_at": "2026-01-02T00:00:00Z",
        "status": "active",
        "hidden_by": "",
        "out_of_scope": "",
        "is_accepted": True,
        "via": None,
        "team": "platform",
        "has_all_words": True,
    }


def test_what_the_project_hides_is_marked(acme, onrecord):
    fields = ("--set=decision=Rows in Postgres.", "--set=context=c", "--set=rationale=r")
    assert onrecord("save", "decision", "Use Kafka", *fields).code == 0

    hidden_by = ".claude/memory/decisions/use-kafka.json"
    (hit,) = json.loads(onrecord("search", "kafka", "--remote=acme", "--json").out)["results"]
    assert hit["hidden_by"] == hidden_by
    assert f"Use Kafka [hidden here by {hidden_by}]\n" in onrecord("search", "kafka", "--remote=acme").out


def test_a_person_sees_title_path_and_passage_and_which_team_it_is_of(acme, onrecord):
    acme.rows(
        "INSERT INTO onrecord.members SELECT team, 'walt', 'reader' FROM onrecord.teams WHERE name = 'other'"
        " ON CONFLICT DO NOTHING"
    )

    outcome = onrecord("search", "kafka", "theirs", "--remote", "acme")

    acme.rows("DELETE FROM onrecord.members m USING onrecord.teams t WHERE t.team = m.team AND t.name = 'other'"
              " AND login = 'walt'")  # fmt: skip
    assert outcome == (
        0,
        "Kafka is theirs\n  decision  acme#other:decisions/theirs.json\n    Kafka.\n"
        "Use Kafka\n  decision  acme:decisions/use-kafka.json\n    Kafka for all queues.\n",
        "",
    )


def test_options_are_for_the_server_too(acme, onrecord):
    def count(*options: str) -> int:
        return len(json.loads(onrecord("search", "kafka", "--remote=acme", "--json", *options).out)["results"])

    assert [count(), count("--tag=QUEUE"), count("--tag=other"), count("--category=runbook")] == [1, 1, 0, 0]
    assert onrecord("search", "kafka", "--remote=acme", "--limit=101").err.startswith("BAD_INPUT: --limit 101 ")


def test_a_record_cannot_write_to_the_terminal(acme, onrecord):
    evil = _record("evil", "Evil \x1b[31mred\x07", "Nats \x1b]0;title\x07 evil \x02word\x03")
    acme.transport("walt").push([new("decisions/evil.json", evil)])

    outcome = onrecord("search", "evil", "--remote", "acme")

    assert outcome.code == 0 and "Evil" in outcome.out
    assert not set(outcome.out) & {"\x1b", "\x07", "\x02", "\x03"}


def test_without_the_server_the_replica_is_searched_and_a_warning_says_so(onrecord, tmp_path):
    onrecord("remote", "add", "--offline", "acme", f"postgresql://walt@/memory?host={tmp_path}#platform")
    folder = Path(Replica("acme").base, "decisions")
    Path(Replica("acme").store).mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True)
    (folder / "use-kafka.json").write_bytes(_record("use-kafka", "Use Kafka", "Kafka for all queues."))

    outcome = onrecord("search", "kafka queues", "--remote=acme")

    assert outcome.out.startswith("Use Kafka\n")
    assert "cannot be reached" in outcome.err and "searched the replica of acme instead" in outcome.err


def test_a_hub_is_connected_and_listed_without_the_package():
    url = "postgresql://walt@/memory#platform"
    actions = (("add", "acme", url, "--offline"), ("list",), ("status",))

    runs = [
        subprocess.run([sys.executable, "-S", str(BIN), "remote", *words], capture_output=True, text=True, timeout=120)
        for words in actions
    ]

    assert [(run.returncode, run.stderr) for run in runs] == [(0, "")] * 3
    assert url in runs[1].stdout


def test_without_the_package_it_says_what_to_install(onrecord):
    onrecord("remote", "add", "--offline", "acme", "postgresql://walt@/memory#platform")

    process = subprocess.run(
        [sys.executable, "-S", str(BIN), "search", "x", "--remote=acme"], capture_output=True, text=True, timeout=120
    )

    assert process.returncode == 1
    needs, fix, _ = process.stderr.splitlines()[-3:]
    assert needs.endswith("No module named 'psycopg'")
    assert fix.startswith("fix: ") and fix.endswith(" 'psycopg[binary]>=3.2.11,<4'")
