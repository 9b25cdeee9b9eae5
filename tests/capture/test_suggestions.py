"""The log of suggestions: nothing is suggested twice."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from onrecord import paths, state_file, timestamps
from onrecord.capture import prompt_languages, suggestions
from onrecord.capture.triage import SaveCandidate
from onrecord.settings import Settings
from tests.records import put, sample

EVIDENCE = ("We go with Postgres.", "Redis lost sessions.")


def test_what_was_offered_is_known_in_every_later_session():
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)

    log = suggestions.read("/p")

    assert [(suggestion.state, suggestion.category, suggestion.session, suggestion.evidence) for suggestion in log] == [
        ("suggested", "decision", "s1", EVIDENCE)
    ]
    assert suggestions.any_suggested(log, EVIDENCE)
    assert suggestions.any_suggested(log, ("Redis lost sessions.",))
    assert not suggestions.any_suggested(log, ("Something else.",))


@pytest.mark.parametrize("again", ["we go with postgres", "We  go with\nPostgres!", "“We go with Postgres.”"])
def test_spacing_case_and_punctuation_make_no_difference(again):
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)

    assert suggestions.any_suggested(suggestions.read("/p"), (again,))


def test_projects_do_not_know_of_each_other():
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)

    assert suggestions.read("/q") == []


def test_an_offer_is_counted_once_whatever_becomes_of_it():
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)
    suggestions.add("/p", "drafted", "decision", "s1", EVIDENCE)
    suggestions.add("/p", "suggested", "constraint", "s1", ("Another.",))
    suggestions.add("/p", "suggested", "constraint", "s2", ("A third.",))

    log = suggestions.read("/p")

    assert suggestions.count(log, "s1") == 2


def test_the_newest_suggestion_of_a_session_is_answered_and_each_only_once():
    first = suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)
    second = suggestions.add("/p", "suggested", "constraint", "s1", ("Another.",))
    other = suggestions.add("/p", "suggested", "constraint", "s2", ("A third.",))

    assert suggestions.newest_open("/p", "s1") == second
    assert suggestions.newest_open("/p", "") == other
    suggestions.add("/p", "drafted", "constraint", "s1", ("Another.",))
    assert suggestions.newest_open("/p", "s1") == first
    suggestions.add("/p", "rejected", "decision", "s1", EVIDENCE)
    assert suggestions.newest_open("/p", "s1") is None


def test_the_file_stays_bounded_and_keeps_the_newest(monkeypatch):
    monkeypatch.setattr(suggestions, "MAX_LOG_BYTES", 4_000)
    for number in range(100):
        suggestions.add("/p", "suggested", "decision", "s", (f"Sentence number {number}.",))

    log = suggestions.read("/p")

    assert os.path.getsize(suggestions._file("/p").path) <= 4_300
    assert suggestions.any_suggested(log, ("Sentence number 99.",))
    assert not suggestions.any_suggested(log, ("Sentence number 0.",))


def test_damage_costs_only_the_damaged_lines():
    suggestions.add("/p", "suggested", "decision", "s", EVIDENCE)
    with open(suggestions._file("/p").path, "ab") as file:
        file.write(b'{"keys": \xff\n[]\n{"keys": []}\nnonsense\n')
    suggestions.add("/p", "suggested", "decision", "s", ("Later.",))

    assert [suggestion.evidence for suggestion in suggestions.read("/p")] == [EVIDENCE, ("Later.",)]


def _note(number: int) -> None:
    suggestions.add("/p", "suggested", "decision", f"s{number}", (f"Said in session {number}.",))


def test_racing_sessions_lose_nothing():
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(_note, range(40))

    assert len(suggestions.read("/p")) == 40


def test_a_state_folder_that_cannot_be_written_is_traced_not_raised(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    suggestions.add("/p", "suggested", "decision", "s", EVIDENCE)
    monkeypatch.setattr(paths, "state_dir", lambda: str(tmp_path / "file" / "below"))
    failures = []
    monkeypatch.setattr(state_file, "log_failure", lambda what, error: failures.append(what))

    suggestions.add("/p", "suggested", "decision", "s", EVIDENCE)

    assert failures == ["suggestions"]
    assert suggestions.read("/p") == []


def candidate(core: str, *around: str) -> SaveCandidate:
    return SaveCandidate("decision", 0.9, core, (core,), around)


@pytest.mark.parametrize(("beside", "is_new"), [("We take NATS now.", False), ("We take NATS.", True)])
def test_a_sentence_of_four_words_beside_a_suggestion_is_not_asked_about_again_in_its_session(beside, is_new):
    suggestions.add("/p", "suggested", "decision", "s1", [beside])
    earlier = suggestions.read("/p")

    assert suggestions.is_new(candidate("Kafka needs three brokers.", beside), earlier, "s1") is is_new
    assert suggestions.is_new(candidate("Kafka needs three brokers.", beside), earlier, "s2")
    assert not suggestions.is_new(candidate(beside), earlier, "s2")


def test_a_note_quotes_the_evidence_up_to_320_characters():
    quoted = suggestions.note(candidate("w" * 400), "memory:save").split('"')[1]

    assert (len(quoted), quoted[-1]) == (320, "…")


def test_a_log_has_the_fields_of_a_suggestion_and_cuts_long_quotations():
    suggestions.add("/p", "suggested", "decision", "s1", ("x" * 601, "y"))

    (suggestion,) = suggestions.read("/p")

    assert suggestion[:3] == ("suggested", "decision", "s1")
    assert suggestion.evidence == ("x" * 600, "y")
    assert [len(key) for key in suggestion.keys] == [12, 12] and suggestion.key == suggestion.keys[0]
    assert timestamps.is_instant(suggestion.at)


def test_a_line_of_an_older_version_without_evidence_is_a_suggestion():
    suggestions.add("/p", "suggested", "decision", "s", EVIDENCE)
    with open(suggestions._file("/p").path, "w", encoding="utf-8") as file:
        file.write('{"state": "saved", "category": "runbook", "keys": ["k", 7]}\n')

    assert suggestions.read("/p") == [("saved", "runbook", "", "", ("k", "7"), ())]


def _suggest(project: str, *cores: str, store: str, **settings: object) -> str:
    own = Settings()
    own.take("user", True, settings)
    return suggestions.suggest(
        [candidate(core) for core in cores],
        project=project,
        store=store,
        session="s1",
        settings=own,
        skill="memory:save",
    )


@pytest.fixture
def store(tmp_path):
    root = str(tmp_path / "memory")
    put(root, sample("decision"))
    return root


def test_the_best_new_candidate_is_suggested_and_logged(tmp_path, store):
    project = str(tmp_path)

    note = _suggest(project, "Kafka needs three brokers at least.", "Another sentence of some words.", store=store)

    assert note == (
        'Memory: later sessions may need to know this (a decision): "Kafka needs three brokers at least."\n'
        'If so, save it as suggested, with the memory:save skill. If not, answer "Nothing to save." and stop.'
    )
    (suggestion,) = suggestions.read(project)
    assert suggestion[:3] == ("suggested", "decision", "s1")


def test_what_was_suggested_says_a_record_or_holds_a_secret_is_passed_over(tmp_path, store):
    project = str(tmp_path)
    suggestions.add(project, "rejected", "decision", "s0", ("We go with Postgres for all jobs.",))
    secret = "The key is AK" + "IA0123456789ABCDEF for the bucket."

    cores = ["We go with Postgres for all jobs.", secret, "Sessions live in Redis 7.", "Use NATS for all queues."]
    note = _suggest(project, *cores, store=store)

    assert '"Use NATS for all queues."' in note
    assert _suggest(project, *cores, store=store) == ""


@pytest.mark.parametrize(("limit", "asked"), [(0, 0), (1, 1), (2, 2)])
def test_a_session_gets_so_many_suggestions(tmp_path, store, limit, asked):
    cores = ["Use NATS for all queues.", "Run the exports on Sundays only.", "Name each branch after its ticket."]

    notes = [_suggest(str(tmp_path), *cores, store=store, **{"capture.max_suggestions": limit}) for _ in cores]

    assert [bool(note) for note in notes] == [number < asked for number in range(3)]


def test_triggers_are_wanted_in_the_languages_of_the_prompts(tmp_path, store):
    for prompt in ["¿dónde guardamos las sesiones de los usuarios?", "где мы храним сессии"] * 3:
        prompt_languages.note(str(tmp_path), prompt)

    note = _suggest(str(tmp_path), "Use NATS for all queues.", store=store)

    assert "with the memory:save skill, with triggers in Spanish and Russian too. If not" in note


def test_a_correction_is_called_one():
    note = suggestions.note(candidate("Use tabs.")._replace(is_correction=True), "memory:save")

    assert note.startswith('Memory: later sessions may need to know this (a correction): "Use tabs."\n')


def test_several_sentences_of_evidence_are_quoted_in_their_order():
    both = candidate("Use NATS.")._replace(evidence=("Kafka is slow.", "Use NATS."))

    assert '"Kafka is slow. … Use NATS."' in suggestions.note(both, "memory:save")
