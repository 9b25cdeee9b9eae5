"""What to tell the agent now."""

from __future__ import annotations

import json
import os

import pytest

import recollect
from recollect import paths
from recollect.recall import for_prompt
from recollect.recall.for_prompt import Stores
from recollect.session import ledger
from recollect.settings import load_settings
from tests.hooks.conftest import SIX

ASKS = "users lose their login state after a deploy, where do we keep sessions?"
OTHER = "write a haiku about the moon"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    known = recollect.open(str(folder))
    for category, given in SIX.items():
        known.save(category, given)
    return known


def told(project, prompt, session="s", transcript_path=""):
    settings = load_settings(project.store.root)
    return for_prompt.for_prompt(project.stores, prompt, settings, session=session, transcript_path=transcript_path)


def configure(root, **retrieval):
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, paths.CONFIG), "w") as file:
        json.dump({"retrieval": retrieval}, file)


def test_a_prompt_brings_the_rule_itself(project):
    text = told(project, ASKS)

    assert text.startswith('<memory-context source=".claude/memory/">\n<result category="decision" confidence="')
    assert "User sessions are rows in auth.sessions with a 14 day expiry. Why: one fewer moving part" in text


def test_an_unrelated_prompt_brings_nothing(project):
    assert told(project, OTHER) == ""


def test_a_memory_is_told_once_per_session(project):
    assert "auth.sessions" in told(project, ASKS)
    assert told(project, ASKS) == ""
    assert "auth.sessions" in told(project, ASKS, session="another")


def test_a_memory_that_changed_is_told_again(project):
    told(project, ASKS)
    entry = project.get("sessions-live-in-postgres-not-redis")
    project.writer.update(entry.memory.id, {"content": {"decision": "User sessions expire after 7 days."}}, entry.hash)

    assert "User sessions expire after 7 days" in told(project, ASKS)


def test_without_a_session_id_everything_is_new(project):
    assert told(project, ASKS, session="") == told(project, ASKS, session="") != ""


def test_the_first_prompt_of_a_session_has_a_lower_bar(project):
    settings = load_settings(project.store.root)

    assert for_prompt.threshold(settings, first=True) == pytest.approx(
        for_prompt.threshold(settings, first=False) - 0.1
    )


def test_a_referring_prompt_borrows_from_the_last_turns(project, tmp_path):
    log = tmp_path / "t.jsonl"
    log.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": ASKS}}) + "\n")

    assert told(project, "ok, do that", session="a") == ""
    assert "auth.sessions" in told(project, "ok, do that", session="b", transcript_path=str(log))


def test_a_specific_prompt_never_borrows(project, tmp_path):
    log = tmp_path / "t.jsonl"
    log.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": ASKS}}) + "\n")

    prompt = "please translate the whole butterfly collection catalogue into Portuguese for the museum"
    assert told(project, prompt, transcript_path=str(log)) == ""


def test_a_question_about_the_past_with_no_answer_is_given_a_hint(project):
    assert "/memory:search" in told(project, "what did we decide about the colour of the butterfly museum logo?")
    assert told(project, "paint the butterfly museum logo blue") == ""


def test_a_question_whose_answer_was_told_is_given_no_hint(project):
    told(project, ASKS)

    assert told(project, f"what did we decide: {ASKS}") == ""


def test_a_superseded_decision_never_appears_its_successor_does(project):
    project.save("decision", {"title": "A cookie carries it all", "context": "c",
                              "decision": "Nothing is kept on the server.", "rationale": "r"})  # fmt: skip
    project.writer.supersede("sessions-live-in-postgres-not-redis", "a-cookie-carries-it-all")

    text = told(project, ASKS)

    assert "Nothing is kept on the server" in text
    assert "(replaces “Sessions live in Postgres, not Redis” since " in text
    assert "auth.sessions" not in text


def test_the_users_own_memories_take_part_after_the_projects(project, home):
    mine = str(home / ".claude" / "memory")
    recollect.project.save(
        recollect.store.writer.Writer(recollect.store.store.Store(mine), load_settings(mine)),
        "preference",
        {"title": "Login state after a deploy", "topic": "login state", "value": "Keep users logged in after a deploy.",
         "reason": "support tickets", "triggers": ["where do we keep sessions after a deploy"]},
    )  # fmt: skip

    text = told(project, ASKS)

    assert text.index("auth.sessions") < text.index(
        'path="~/.claude/memory/preferences/login-state-after-a-deploy.json"'
    )


def test_after_compaction_what_was_in_use_comes_back_once(project):
    told(project, ASKS)
    stores = Stores(project.store.root, "")

    again = for_prompt.after_compaction(stores, "s")

    assert "auth.sessions" in again
    assert told(project, ASKS) == ""
    assert "auth.sessions" in for_prompt.after_compaction(stores, "s")


def test_after_compaction_a_superseded_memory_comes_back_as_its_successor(project):
    told(project, ASKS)
    project.save("decision", {"title": "Cookies", "context": "c", "decision": "Stateless.", "rationale": "r"})
    project.writer.supersede("sessions-live-in-postgres-not-redis", "cookies")

    again = for_prompt.after_compaction(Stores(project.store.root, ""), "s")

    assert "Stateless." in again
    assert "auth.sessions" not in again


def test_a_session_that_was_told_nothing_has_nothing_to_come_back():
    assert for_prompt.after_compaction(Stores("", ""), "new") == ""


def test_the_preview_is_what_the_hook_says(project):
    settings = load_settings(project.store.root)

    text, found = for_prompt.preview(project.stores, ASKS, settings, first=True)

    assert text == told(project, ASKS)
    assert [one.match.id for one in found] == [hit.id for hit in project.recall(ASKS, first=True)]


def test_a_projects_config_cannot_turn_the_judge_on(project):
    configure(project.store.root, judge={"enabled": True})

    assert not load_settings(project.store.root).flag("retrieval.judge.enabled")
    assert "auth.sessions" in told(project, ASKS)


def test_a_user_store_inside_the_project_is_not_the_users(project, monkeypatch):
    forged = os.path.join(project.root, "forged", "memory")
    configure(forged, judge={"enabled": True})
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", os.path.dirname(forged))

    assert not load_settings(project.store.root).flag("retrieval.judge.enabled")


@pytest.fixture
def anchored(project):
    """A decision about a file, saved when the file was as it is."""
    os.makedirs(os.path.join(project.root, "src"))
    file = os.path.join(project.root, "src", "ferry.py")
    with open(file, "w") as handle:
        handle.write("gangway = 1\n")
    project.save("decision", {"title": "The gangway closes five minutes before sailing", "context": "c",
                              "decision": "Gangway closes at T minus 5.", "rationale": "r",
                              "related_files": ["src/ferry.py"]})  # fmt: skip
    return file


GANGWAY = "when does the gangway close before sailing?"


def test_a_memory_whose_file_is_as_it_was_says_nothing_of_it(project, anchored):
    assert "verify" not in told(project, GANGWAY)
    assert "T minus 5" in told(project, GANGWAY, session="other")


def test_a_memory_whose_file_changed_says_so(project, anchored):
    with open(anchored, "w") as handle:
        handle.write("gangway = 2  # rebuilt\n")

    assert "verify: `src/ferry.py` changed" in told(project, GANGWAY)


def test_a_memory_whose_file_is_gone_is_believed_less(project, anchored):
    settings = load_settings(project.store.root)
    before = for_prompt.preview(project.stores, GANGWAY, settings, first=False)[1][0].match.probability
    os.unlink(anchored)
    bar = for_prompt.gate.shifted(before, -0.5)

    configure(project.store.root, min_probability=bar)
    told(project, OTHER)
    assert told(project, GANGWAY) == ""
    configure(project.store.root, min_probability=0.05)
    assert "no longer exists" in told(project, GANGWAY)


def test_parallel_prompts_of_one_session_tell_a_memory_once(project):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: told(project, ASKS), range(10)))

    assert sum("auth.sessions" in answer for answer in answers) == 1
    with ledger.Ledger("s") as known:
        assert known.prompts == 10


@pytest.mark.parametrize("trigger", SIX["decision"]["triggers"])
def test_whoever_asks_in_the_words_of_a_trigger_is_told(project, trigger):
    told(project, OTHER)

    assert "auth.sessions" in told(project, trigger)
