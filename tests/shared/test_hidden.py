"""A record that another store hides is nowhere presented as what holds here."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

import onrecord
from onrecord import budget, paths, state_file
from onrecord.cli import main
from onrecord.digest import digest
from onrecord.mcp import reading
from onrecord.recall.stores import Stores
from onrecord.search import index, refresh
from onrecord.settings import load_settings
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests import searching
from tests.known_project import SIX

DECISION = SIX["decision"]
ID = "sessions-live-in-postgres-not-redis"
PATH = f"platform:decisions/{ID}.json"
OURS = ".claude/memory/preferences/ours.json"


@pytest.fixture
def replaced(project, share):
    """Return a shared record that a record of the project replaces, under another id."""
    share("platform", "decision", DECISION)
    project.save("preference", {**SIX["preference"], "title": "Ours", "supersedes": [f"platform:{ID}"]})


@pytest.fixture
def run(project, capsys):
    def run(*words: str) -> str:
        assert main([*words, "--project", project.root]) == 0
        return capsys.readouterr().out

    return run


def test_show_says_that_a_shared_record_is_hidden_and_in_which_store_it_is(replaced, run):
    text, data = run("show", f"platform:{ID}"), json.loads(run("show", ID, "--remote=platform", "--json"))

    assert f"hidden here by {OURS}" in text
    assert f"path: {PATH}\n" in text
    assert (data["path"], data["hidden_by"]) == (PATH, OURS)


def test_a_list_of_a_shared_store_says_which_records_are_hidden(replaced, share, run):
    share("platform", "constraint", SIX["constraint"])

    records = json.loads(run("list", "--remote=platform", "--sort=id", "--json"))["records"]
    cells = run("list", "--remote=platform", "--sort=id")

    assert [(each["status"], each["hidden_by"]) for each in records] == [("hidden", OURS), ("active", "")]
    assert [line.split("\t")[2] for line in cells.splitlines()] == ["hidden", "active"]


def test_a_search_in_a_shared_store_says_which_records_are_hidden(replaced, run):
    (hit,) = json.loads(run("search", "sessions postgres", "--remote=platform", "--json"))["results"]

    assert (hit["path"], hit["hidden_by"]) == (PATH, OURS)
    assert f"[hidden here by {OURS}]" in run("search", "sessions postgres", "--remote=platform")


def test_a_record_of_the_users_own_store_is_hidden_by_the_projects(project, run):
    own = project.save("decision", DECISION)
    Writer(Store(paths.user_store()), load_settings(paths.user_store())).save(own.memory)

    assert json.loads(run("show", ID, "--user", "--json"))["hidden_by"] == paths.PROJECT_PREFIX + own.path
    assert json.loads(run("show", ID, "--json"))["hidden_by"] == ""


def test_an_mcp_client_is_told_that_a_record_is_hidden(project, replaced):
    result = reading.show(project, PATH)

    assert result.data["hidden_by"] == OURS
    assert f"Caution: it does not hold in this project: {OURS} counts in its place; show that one." in result.text


def _sources(project) -> list[str]:
    return [hit.source for hit in onrecord.open(project.root).search("carrier calls a minute")]


def test_an_expired_record_no_longer_hides_the_general_rule(project, share):
    share("platform", "constraint", SIX["constraint"], title="General")
    own = project.save("constraint", {**SIX["constraint"], "title": "General"})
    assert _sources(project) == ["project"]

    content = {**own.memory.content, "expires": "2020-01-01"}
    Writer(project.store, project.settings).update(own.path, {"content": content}, own.hash)

    assert _sources(project) == ["project", "platform"]
    assert [
        each.match.root
        for each in searching.candidates(project.stores, "carrier calls a minute limit", project.settings)
    ] == [paths.accepted("platform").root]


def test_what_a_project_says_no_longer_holds_is_not_shown_from_a_shared_store(project, share):
    share("platform", "decision", DECISION)
    own = project.save("decision", DECISION)

    deprecated = {**own.memory.content, "status": "deprecated"}
    Writer(project.store, project.settings).update(own.path, {"content": deprecated}, own.hash)

    assert searching.candidates(project.stores, "sessions postgres redis", project.settings) == []


def test_an_expired_successor_does_not_bring_back_what_it_replaces(project, share):
    share("platform", "decision", DECISION)
    ours = {**SIX["constraint"], "title": "Ours", "supersedes": [f"platform:{ID}"]}
    ours["content"] = {**ours["content"], "expires": "2020-01-01"}
    project.save("constraint", ours)

    assert searching.candidates(project.stores, "sessions postgres redis", project.settings) == []


def test_no_shared_store_hides_a_record_of_another(project, share):
    share("zeta", "decision", DECISION)
    other = {**DECISION, "content": {**DECISION["content"], "decision": "Sessions live wherever acme says."}}
    share("acme", "decision", other)
    share("acme", "preference", {**SIX["preference"], "title": "Ours", "supersedes": [f"zeta:{ID}", ID]})

    assert {hit.source for hit in project.search("sessions postgres")} == {"acme", "zeta"}
    session_digest = digest.make(project.root, project.store_refs, project.settings)
    assert {"acme", "zeta"} <= {pick.candidate.shared for pick in session_digest.picks}


def test_a_copy_in_a_second_shared_store_is_shown_once(project, share):
    for name in ("zeta", "acme"):
        share(name, "decision", DECISION)

    assert [hit.source for hit in project.search("sessions postgres")] == ["acme"]


def _from_hook(project) -> list[str]:
    budget.start(100, time.process_time() + 100)
    try:
        candidates = searching.candidates(
            Stores(project.store_refs, project.root), "sessions postgres redis", project.settings
        )
        session_digest = digest.make(project.root, project.store_refs, project.settings)
    finally:
        budget.stop()
    return [*(each.prefix for each in candidates), *(pick.candidate.shared for pick in session_digest.picks)]


def test_what_cannot_be_checked_against_the_users_own_store_is_not_shown(project, share, monkeypatch):
    share("platform", "decision", DECISION)
    os.makedirs(paths.user_store(), exist_ok=True)
    assert "platform:" in _from_hook(project) and "platform" in _from_hook(project)
    open_index = index.open

    def open_or_fail(root: str, **options: bool) -> index.Index:
        if root == paths.user_store():
            raise OSError("the disk has gone")
        return open_index(root, **options)

    monkeypatch.setattr(index, "open", open_or_fail)

    assert _from_hook(project) == []
    assert "the disk has gone" in state_file.recent_failures()[-1][2]


def test_what_cannot_be_checked_while_the_projects_store_is_not_indexed_is_not_shown(project, replaced, monkeypatch):
    project.save("decision", {**DECISION, "title": "The first to be indexed"})
    index.open(paths.accepted("platform").root).close()
    monkeypatch.setattr(refresh, "HOOK_CPU_SECONDS", -1.0)

    assert [name for name in _from_hook(project) if name.startswith("platform")] == []


def test_a_hook_knows_at_once_that_a_record_of_a_large_store_replaces_a_shared_one(project, share, run, monkeypatch):
    share("platform", "decision", DECISION)
    project.save("preference", {**SIX["preference"], "title": "Ours"})
    assert "platform:" in _from_hook(project)
    # As many files as a hook has time for in a store of any size.
    monkeypatch.setattr(refresh, "SLICE", 0)
    monkeypatch.setattr(refresh, "LARGER_SLICE", 0)

    run("supersede", f"platform:{ID}", "ours")

    assert "platform:" not in _from_hook(project)


def test_recall_and_why_can_be_asked_for_one_store(project, share, run):
    question = "users lose their login state after a deploy, where do we keep sessions?"
    project.save("decision", {**DECISION, "title": "Sessions live in Postgres here"})
    share("platform", "decision", DECISION)

    records = json.loads(run("recall", question, "--remote=platform", "--json"))["memories"]
    candidates = json.loads(run("why", question, "--remote=platform", "--json"))["candidates"]
    played = json.loads(run("try", question, "--remote=platform", "--json"))

    assert [each["path"] for each in records] == [PATH]
    assert {each["source"] for each in candidates} == {"platform"}
    assert [each["source"] for each in played["prompts"][0]["memories"]] == [PATH]
    assert played["records"] == 1
    started = json.loads(run("digest", "--remote=platform", "--json"))["entries"]
    assert [each["path"].partition(":")[0] for each in started] == ["platform"]


def test_one_store_alone_brings_nothing_that_the_project_hides(replaced, run):
    question = "users lose their login state after a deploy, where do we keep sessions?"

    assert json.loads(run("recall", question, "--remote=platform", "--json"))["memories"] == []
    assert json.loads(run("digest", "--remote=platform", "--json"))["entries"] == []


def test_try_plays_prompts_where_there_are_only_shared_stores(share, run):
    share("platform", "decision", DECISION)

    played = json.loads(run("try", "where do we keep sessions, postgres or redis?", "--json"))

    assert (played["from"], played["records"]) == ("store", 1)
    assert [each["source"] for each in played["prompts"][0]["memories"]] == [PATH]


def test_a_store_that_a_project_does_not_read_can_still_be_asked(project, share, run):
    share("platform", "decision", DECISION)
    os.makedirs(project.store.root)
    Path(project.store.root, paths.CONFIG).write_text(json.dumps({"remotes": ["none"]}))

    assert json.loads(run("recall", "where do we keep sessions, postgres or redis?", "--json"))["memories"] == []
    output = run("recall", "where do we keep sessions, postgres or redis?", "--remote=platform", "--json")
    assert [each["path"] for each in json.loads(output)["memories"]] == [PATH]
