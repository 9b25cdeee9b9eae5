"""What to tell the agent now."""

from __future__ import annotations

import json
import os

import pytest

import onrecord
from onrecord import paths
from onrecord.hosts import claude_code
from onrecord.recall import for_prompt, selection
from onrecord.recall.stores import Stores
from onrecord.search import relevance
from onrecord.session import ledger
from onrecord.settings import load_settings
from onrecord.text import DATA_NOTE
from tests.agent_context import prompt_context
from tests.known_project import SIX, six_records

NOTE = f'note="{DATA_NOTE}"'

ASKS = "users lose their login state after a deploy, where do we keep sessions?"
OTHER = "write a haiku about the moon"


@pytest.fixture
def project(tmp_path):
    return six_records(tmp_path)


def context(project, prompt, session="s", transcript_path=""):
    return prompt_context(project, prompt, session, claude_code.transcript(transcript_path))


def configure(root, **retrieval):
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, paths.CONFIG), "w") as file:
        json.dump({"retrieval": retrieval}, file)


def test_a_prompt_brings_the_rule_itself(project):
    text = context(project, ASKS)

    assert text.startswith(
        f'<memory-context source=".claude/memory/" {NOTE}>\n<result category="decision" confidence="'
    )
    assert "User sessions are rows in auth.sessions with a 14 day expiry. Why: one fewer moving part" in text


def test_an_unrelated_prompt_brings_nothing(project):
    assert context(project, OTHER) == ""


def test_a_memory_is_told_once_per_session(project):
    assert "auth.sessions" in context(project, ASKS)
    assert context(project, ASKS) == ""
    assert "auth.sessions" in context(project, ASKS, session="another")


def test_a_memory_that_changed_is_told_again(project):
    context(project, ASKS)
    entry = project.get("sessions-live-in-postgres-not-redis")
    project.writer.update(entry.memory.id, {"content": {"decision": "User sessions expire after 7 days."}}, entry.hash)

    assert "User sessions expire after 7 days" in context(project, ASKS)


def test_without_a_session_id_everything_is_new(project):
    assert context(project, ASKS, session="") == context(project, ASKS, session="") != ""


def test_the_first_prompt_of_a_session_has_a_lower_bar(project):
    settings = load_settings(project.store.root)

    first, later = (selection.thresholds_for(settings, [], is_first=is_first) for is_first in (True, False))
    assert first.rule == pytest.approx(later.rule - 0.1)
    assert first.pointer == later.pointer


def test_a_prompt_without_a_word_on_record_borrows_the_last_one_as_a_pointer_at_most(project, tmp_path):
    log = tmp_path / "t.jsonl"
    log.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": ASKS}}) + "\n")

    borrowed = context(project, "ok, do that", session="b", transcript_path=str(log))

    assert context(project, "ok, do that", session="a") == ""
    assert "onrecord show sessions-live" in borrowed
    assert "auth.sessions" not in borrowed


def test_a_prompt_does_not_borrow_from_itself(project, tmp_path):
    log = tmp_path / "t.jsonl"
    log.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": "ok, do that"}}) + "\n")

    assert context(project, "ok, do that", transcript_path=str(log)) == ""


def test_a_specific_prompt_never_borrows(project, tmp_path):
    log = tmp_path / "t.jsonl"
    log.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": ASKS}}) + "\n")

    prompt = "please translate the whole butterfly collection catalogue into Portuguese for the museum"
    assert context(project, prompt, transcript_path=str(log)) == ""


def test_a_superseded_decision_never_appears_its_successor_does(project):
    project.save("decision", {"title": "A cookie carries it all", "context": "c",
                              "decision": "Nothing is kept on the server.", "rationale": "r"})  # fmt: skip
    project.writer.supersede("sessions-live-in-postgres-not-redis", "a-cookie-carries-it-all")

    text = context(project, ASKS)

    assert "Nothing is kept on the server" in text
    assert "(replaces “Sessions live in Postgres, not Redis” since " in text
    assert "auth.sessions" not in text


def test_the_users_own_memories_take_part_after_the_projects(project, home):
    mine = str(home / ".claude" / "memory")
    onrecord.project.save(
        onrecord.store.writer.Writer(onrecord.store.store.Store(mine), load_settings(mine)),
        "preference",
        {"title": "Login state after a deploy", "topic": "login state", "value": "Keep users logged in after a deploy.",
         "reason": "support tickets", "triggers": ["where do we keep sessions after a deploy"]},
    )  # fmt: skip

    text = context(project, ASKS)

    assert text.index("auth.sessions") < text.index(
        'path="~/.claude/memory/preferences/login-state-after-a-deploy.json"'
    )


def test_after_compaction_what_was_in_use_comes_back_once(project):
    context(project, ASKS)
    stores = Stores(paths.store_refs(project.store.root))

    again = selection.after_compaction(stores, "s")

    assert "auth.sessions" in again
    assert context(project, ASKS) == ""
    assert "auth.sessions" in selection.after_compaction(stores, "s")


def test_after_compaction_a_superseded_memory_comes_back_as_its_successor(project):
    context(project, ASKS)
    project.save("decision", {"title": "Cookies", "context": "c", "decision": "Stateless.", "rationale": "r"})
    project.writer.supersede("sessions-live-in-postgres-not-redis", "cookies")

    again = selection.after_compaction(Stores(paths.store_refs(project.store.root)), "s")

    assert "Stateless." in again
    assert "auth.sessions" not in again


def test_a_session_that_was_told_nothing_has_nothing_to_come_back():
    assert selection.after_compaction(Stores(paths.store_refs("")), "new") == ""


def test_the_preview_is_what_the_hook_says(project):
    settings = load_settings(project.store.root)

    decision = for_prompt.preview(project.stores, ASKS, settings, first=True)

    assert decision.text == context(project, ASKS)
    hits = project.recall(ASKS, first=True)
    assert [each.match.id for each in decision.shown_candidates] == [hit.id for hit in hits]
    assert {hit.shown for hit in hits} == {"rule"}


def test_a_projects_config_cannot_turn_the_judge_on(project):
    configure(project.store.root, judge={"enabled": True})

    assert not load_settings(project.store.root).flag("retrieval.judge.enabled")
    assert "auth.sessions" in context(project, ASKS)


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
    assert "verify" not in context(project, GANGWAY)
    assert "T minus 5" in context(project, GANGWAY, session="other")


def test_a_memory_whose_file_changed_says_so(project, anchored):
    with open(anchored, "w") as handle:
        handle.write("gangway = 2  # rebuilt\n")

    assert "verify: `src/ferry.py` changed" in context(project, GANGWAY)


def test_a_memory_whose_file_is_gone_is_believed_less(project, anchored):
    settings = load_settings(project.store.root)
    before = for_prompt.preview(project.stores, GANGWAY, settings, first=False).shown_candidates[0].match.probability
    os.unlink(anchored)
    bar = relevance.shifted(before, -0.5)

    configure(project.store.root, min_probability=bar, pointers=False)
    context(project, OTHER)
    assert context(project, GANGWAY) == ""
    decision = for_prompt.preview(project.stores, GANGWAY, load_settings(project.store.root), first=False)
    assert "file missing" in outcomes(decision).values()
    configure(project.store.root, min_probability=0.05)
    assert "no longer exists" in context(project, GANGWAY)


def outcomes(decision):
    return {each.match.id: each.outcome for each in decision.candidates}


def test_every_candidate_has_an_outcome(project):
    settings = load_settings(project.store.root)
    decision = for_prompt.preview(project.stores, ASKS, settings, first=False)

    shown_ids = [each.match.id for each in decision.shown_candidates]
    assert "sessions-live-in-postgres-not-redis" in shown_ids
    assert {each.outcome for each in decision.candidates} <= {"shown", "below the threshold"}
    assert all(
        (each.outcome == "shown") == (each.match.probability >= decision.thresholds.rule)
        for each in decision.candidates
    )


def test_what_a_session_was_shown_is_marked_as_repeated(project):
    session = ledger.Ledger("")
    request, settings = for_prompt.Request(ASKS), load_settings(project.store.root)
    first = for_prompt.decide(project.stores, request, settings, ledger=session)
    again = for_prompt.decide(project.stores, request, settings, ledger=session)

    assert [
        each.outcome for each in again.candidates if each.match.id in {c.match.id for c in first.shown_candidates}
    ] == ["shown before in this session" for _ in first.shown_candidates]
    assert again.text == ""


def keep_all(prompt, matches, turns):
    return [True] * len(matches)


def test_what_does_not_fit_has_no_room(project):
    configure(project.store.root, max_inject=1)
    settings = load_settings(project.store.root)
    decision = for_prompt.preview(project.stores, ASKS, settings, first=False, judge=keep_all)

    assert list(outcomes(decision).values()).count("shown") == 1
    assert "no room" in outcomes(decision).values()


LONG = "Each record of this kind is long enough that three of them fill what a prompt is given by default. " * 3


@pytest.mark.parametrize("first", [False, True])
def test_as_many_records_are_shown_as_the_user_has_set(project, first):
    for number in range(9):
        fields = {"title": f"Login state {number}", "context": "c", "decision": LONG, "rationale": "Sessions."}
        project.save("decision", fields)
    configure(paths.user_store(), max_inject=6)
    settings = load_settings(project.store.root)
    decision = for_prompt.preview(project.stores, ASKS, settings, first=first, judge=keep_all)

    assert len(decision.rules) == 6


def test_what_a_judge_drops_is_marked_as_dropped(project):
    settings = load_settings(project.store.root)
    decision = for_prompt.preview(
        project.stores, ASKS, settings, first=False, judge=lambda _, matches, __: [False] * len(matches)
    )

    assert outcomes(decision)["sessions-live-in-postgres-not-redis"] == "dropped by the judge"
    assert decision.text == ""


def test_a_judge_may_show_what_is_below_the_bar(project):
    configure(project.store.root, min_probability=0.999)
    settings = load_settings(project.store.root)
    decision = for_prompt.preview(
        project.stores, ASKS, settings, first=False, judge=lambda _, matches, __: [True, *[None] * len(matches[1:])]
    )

    assert decision.candidates[0].outcome == "shown"


@pytest.mark.parametrize(("key", "value"), [("enabled", False), ("max_inject", 0)])
def test_a_setting_that_turns_recall_off_is_named(project, key, value):
    configure(project.store.root, **{key: value})
    decision = for_prompt.preview(project.stores, ASKS, load_settings(project.store.root), first=False)

    named = f"turned off: retrieval.{key} is {str(value).lower()}"
    assert (decision.text, set(outcomes(decision).values())) == ("", {named})


def test_the_confidence_belongs_to_the_probability(project):
    match = for_prompt.preview(project.stores, ASKS, load_settings(project.store.root), first=False).candidates[0].match

    for probability in (0.1, 0.6, 0.9):
        assert match._replace(probability=probability).confidence == relevance.confidence(probability)


def test_parallel_prompts_of_one_session_tell_a_memory_once(project):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: context(project, ASKS), range(10)))

    assert sum("auth.sessions" in answer for answer in answers) == 1
    with ledger.Ledger("s") as known:
        assert known.prompts == 10


@pytest.mark.parametrize("trigger", SIX["decision"]["triggers"])
def test_whoever_asks_in_the_words_of_a_trigger_is_told(project, trigger):
    context(project, OTHER)

    assert "auth.sessions" in context(project, trigger)
