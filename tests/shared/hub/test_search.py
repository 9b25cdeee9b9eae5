"""Search on the server, with a real one: what is found, in which order, by whom, and how the index is used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from onrecord.errors import BadInput, BadRemote, Refused
from onrecord.shared import hub_connection, hub_teams
from onrecord.shared.remotes import parse_team_address
from tests.postgres import Server
from tests.shared.hub.conftest import OWNER, STRANGER, TestHub

pytestmark = pytest.mark.debian("postgresql")


BOTH = "ulla"
"""A login that belongs to both teams."""


class Company(TestHub):
    """A hub whose teams have records, and a login that belongs to both."""

    __test__ = False

    def save(self, team: str, path: str, data: bytes) -> None:
        statement = (
            "INSERT INTO onrecord.records (team, path, number, data) SELECT team, %s, number + 5000, %s"
            " FROM onrecord.teams WHERE name = %s"
            " ON CONFLICT (team, path) DO UPDATE SET data = excluded.data"
        )
        self.rows(statement, path, data, team)
        self.rows("UPDATE onrecord.teams SET number = number + 5000 WHERE name = %s", team)

    def decide(self, id: str, title: str, decision: str = "", team: str = "platform", **fields: object) -> None:
        self.save(team, f"decisions/{id}.json", _decision(id, title, decision, **fields))

    def fill(self, count: int, data: bytes) -> None:
        statement = (
            "INSERT INTO onrecord.records (team, path, number, data) SELECT team, 'decisions/r' || i || '.json',"
            " i, %s FROM onrecord.teams, generate_series(1, %s) i WHERE name = 'platform'"
        )
        self.rows(statement, data, count)
        self.rows("ANALYZE onrecord.records")

    def search(self, text: str, login: str = BOTH, **options: Any) -> list[str]:
        return [hit.memory.id for hit in hub_teams.search(self.url(login), text, **options).hits]


def _decision(id: str, title: str, decision: str, **fields: object) -> bytes:
    head = {"schema_version": "1.0", "category": "decision", "id": id, "title": title}
    return json.dumps({**head, "content": {"decision": decision}, **fields}).encode()


@pytest.fixture(scope="module")
def database(postgres: Server, template: Callable[[str], None]) -> str:
    name = postgres.database(template)
    postgres.login(BOTH)
    with hub_connection.connect(parse_team_address(postgres.url(name, OWNER))) as session:
        for team in ("platform", "other"):
            hub_teams.grant(session, team, BOTH, "reader")
    return name


@pytest.fixture
def company(postgres: Server, database: str) -> Iterator[Company]:
    company = Company(postgres, database)
    company.empty()
    yield company
    company.close()


def test_words_are_found_in_every_form_and_the_title_counts_most(company):
    company.decide("in-text", "Where things live", "Sessions are cached in Redis, as caching is cheap.")
    company.decide("in-title", "Cache sessions in Redis", "They live there for an hour.")
    company.decide("in-tags", "An old choice", "Sessions.", tags=["redis", "cached"])
    company.decide("other", "Use uv", "It installs everything.")

    assert company.search("how do we cache a session in redis?") == ["in-title", "in-tags", "in-text"]


def test_what_has_some_of_the_rarer_words_follows_what_has_all(company):
    company.decide("both", "Rotate signing keys", "Every quarter.")
    company.decide("one", "Sign images", "With cosign.")

    results = hub_teams.search(company.url(BOTH), "rotate signing keys")

    assert [(hit.memory.id, hit.has_all) for hit in results.hits] == [("both", True), ("one", False)]
    assert company.search('"signing keys"') == ["both"]
    assert company.search("signing -keys") == ["one"]


def test_a_login_finds_what_its_teams_have_and_nothing_else(company):
    company.decide("ours", "Deploy on Tuesdays")
    company.decide("theirs", "Deploy on Fridays", team="other")

    assert sorted(company.search("deploy", BOTH)) == ["ours", "theirs"]
    assert company.search("deploy", "walt") == ["ours"]
    with pytest.raises(Refused):
        company.search("deploy", STRANGER)
    assert [hit.team for hit in hub_teams.search(company.url(BOTH, "other"), "fridays").hits] == ["other"]


def test_category_tag_and_status_are_chosen_by_the_index(company):
    company.decide("active", "Use Kafka", tags=["Queue"])
    company.decide("retired", "Use Kafka 2", record_status="retired")
    company.decide("replaced", "Use Kafka 1", superseded_by="active")
    company.decide("rule", "Use Kafka 3", category="constraint", content={"rule": "r"})

    assert sorted(company.search("kafka")) == ["active", "rule"]
    assert company.search("kafka", categories=["constraint"]) == ["rule"]
    assert company.search("kafka", tags=["queue"]) == ["active"]
    assert sorted(company.search("kafka", include_retired=True)) == ["active", "replaced", "retired", "rule"]


def test_drafts_deleted_files_and_files_that_are_no_records_are_not_found(company):
    company.decide("there", "Use Kafka")
    company.decide("deleted", "Use Kafka")
    company.save("platform", "decisions/deleted.json", b"")
    for number, data in enumerate(
        (b"kafka", b'{"title": "Kafka \\u0000"}', b"\xff kafka", b'["kafka"]', b'{"title": "kafka"}')
    ):
        company.save("platform", f"decisions/bad-{number}.json", data)
    company.save("platform", "inbox/draft.json", json.dumps({"title": "Kafka"}).encode())

    assert company.search("kafka") == ["there"]


def test_a_question_without_a_word_that_says_something_finds_a_title_once(company):
    company.decide("there", "Who owns the queue")

    assert company.search("who the") == ["there"]


def test_any_text_is_a_question(company):
    company.decide("there", "Use Kafka")
    texts = [
        "",
        "   ",
        "the",
        "-",
        '"',
        "'",
        "\\",
        "a'b\\c | & ! <-> (",
        "\0",
        ":*",
        "x" * 5_000,
        "title web",
        "\ud800",
    ]

    assert [company.search(text) for text in texts] == [[]] * len(texts)


def test_so_many_matches_that_not_all_are_compared_are_reported_and_titles_come_first(company):
    company.fill(1_500, _decision("r0", "Other", "kafka"))
    company.decide("last", "Kafka")

    results = hub_teams.search(company.url("walt"), "kafka", limit=1)

    assert [hit.memory.id for hit in results.hits] == ["last"]
    assert results.is_cut
    assert not hub_teams.search(company.url("walt"), "kafka other", tags=["none"]).is_cut


def test_if_all_matches_were_compared_nothing_is_said_of_more(company):
    company.fill(1_200, _decision("r0", "Other", "kafka"))
    company.rows("UPDATE onrecord.records SET data = %s WHERE number <= 600", _decision("r0", "Kafka", ""))

    assert not hub_teams.search(company.url("walt"), "kafka").is_cut


def test_a_search_reads_the_index_for_a_login_that_row_level_security_binds(company):
    """Matching is not leakproof, so a plain SELECT of a member reads every row; the function does not."""
    company.fill(1_000, _decision("r0", "Other", "nats"))
    plain = "EXPLAIN SELECT path FROM onrecord.records WHERE words @@ 'kafka'::tsquery"
    scans = "SELECT pg_stat_get_xact_numscans('onrecord.records_words'::regclass)"
    session = company.session()
    with session.transaction():
        plan = "\n".join(str(row[0]) for row in session.execute(plain))
        before = session.execute(scans).fetchone()
        session.execute("SELECT * FROM onrecord.search('kafka', '{}', '{}', '{}', 10)")
        after = session.execute(scans).fetchone()

    assert "records_words" not in plan
    assert before == (0,)
    assert after > before


def test_a_search_that_takes_too_long_is_ended(company, monkeypatch):
    monkeypatch.setattr(hub_teams, "_SEARCH", "SELECT pg_sleep(60)::text, %s, %s, %s, %s, %s")
    monkeypatch.setattr(hub_teams, "MAX_SECONDS", 0.1)

    with pytest.raises(BadRemote, match="took longer"):
        hub_teams.search(company.url(BOTH), "kafka")


def test_a_limit_that_makes_no_sense_and_rows_of_another_kind_are_refused(company, monkeypatch):
    with pytest.raises(BadInput, match="between 1 and 100"):
        hub_teams.search(company.url(BOTH), "kafka", 0)

    monkeypatch.setattr(
        hub_teams, "_SEARCH", "SELECT 1, 2, 3, 4, 5, 6 WHERE %s || %s::text || %s::text || %s::text || %s > ''"
    )
    with pytest.raises(BadRemote, match="wrong types"):
        hub_teams.search(company.url(BOTH), "kafka")
