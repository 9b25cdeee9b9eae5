"""Old prompts played through recall, and the sessions they are read from."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import paths
from onrecord.hosts import claude_code
from onrecord.recall import for_prompt, replay
from onrecord.recall.candidate import NOTHING_ON_FILE
from onrecord.recall.stores import Stores
from onrecord.session import transcript
from onrecord.session.ledger import Ledger
from onrecord.session.transcript import Prompt, Session
from onrecord.settings import Settings, load_settings
from tests.records import sample

HARBOUR = sample(
    "constraint",
    id="harbour-api-limit",
    title="The harbour API allows 60 calls a minute",
    tags=["harbour-api", "rate-limit"],
    content={
        "kind": "limitation",
        "rule": "At most 60 calls a minute to the harbour API",
        "impact": ["429 Too Many Requests"],
        "severity": "high",
        "active": True,
    },
)
ASKED = "how many calls a minute does the harbour API allow?"


def entry(text, at="2026-03-01T10:00:00.000Z", **more):
    return {"type": "user", "timestamp": at, "message": {"role": "user", "content": text}, **more}


def write(path, *entries):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
    return str(path)


def held(folder):
    return [claude_code.transcript(str(path)) for path in folder.iterdir()]


def session(*texts, name="s", is_whole=True):
    return Session(name, tuple(Prompt(f"2026-03-01T10:{n:02}:00Z", text) for n, text in enumerate(texts)), is_whole)


def outcomes(*held, last=20, settings=None, records=(HARBOUR,)):
    with replay.laid_out(records) as store:
        return replay.play(held, last, settings or Settings(), store_refs=paths.store_refs(store))


def test_a_path_is_mangled_as_the_host_does():
    assert claude_code.mangled("/home/u/my_proj.v2") == "-home-u-my-proj-v2"
    assert claude_code.mangled("/häuser/🏠") == "-h-user---"


def test_sessions_of_a_project_are_found_by_its_path(tmp_path, home):
    project = str(tmp_path / "ferry")
    base = home / ".claude" / "projects"
    own = write(base / claude_code.mangled(project) / "a.jsonl", entry("mine", cwd="/moved/since"))
    below = write(base / claude_code.mangled(project + "/api") / "b.jsonl", entry("below", cwd=project + "/api"))
    write(base / claude_code.mangled(project + "-two") / "c.jsonl", entry("a neighbour", cwd=project + "-two"))
    write(base / claude_code.mangled(project) / "a" / "subagents" / "agent-1.jsonl", entry("of a subagent"))
    for number, path in enumerate((own, below)):
        os.utime(path, (2_000_000_000 + number, 2_000_000_000 + number))

    found = transcript.recent_sessions([claude_code.transcript(each) for each in claude_code.sessions(project)], 20)

    assert [[prompt.text for prompt in one.prompts] for one in found] == [["below"], ["mine"]]


def test_a_very_long_path_is_found_by_its_first_part(home):
    project = "/" + "x" * 250
    folder = home / ".claude" / "projects" / (claude_code.mangled(project)[:200] + "-1a2b3c")
    folder.mkdir(parents=True)

    assert claude_code.folders(project) == [str(folder)]


@pytest.mark.parametrize(
    "one",
    [
        entry([{"type": "tool_result", "tool_use_id": "t", "content": "x"}]),
        entry("meta", isMeta=True),
        entry("of a subagent", isSidechain=True),
        entry("<command-name>/clear</command-name>"),
        entry("This session is being continued from a previous conversation that ran out of context."),
        entry([{"type": "image"}]),
        entry(None),
        {"type": "user", "message": "text"},
        {"type": "api-request-blob", "prompt_snapshot": entry("twice")},
        [],
    ],
)
def test_only_what_a_person_typed_is_a_prompt(tmp_path, one):
    path = write(tmp_path / "s.jsonl", entry("typed"), one)

    assert [prompt.text for prompt in transcript.read_session(claude_code.transcript(path)).prompts] == ["typed"]


def test_a_prompt_of_several_blocks_is_read_without_what_the_editor_adds(tmp_path):
    blocks = [
        {"type": "text", "text": "<ide_opened_file>x.py</ide_opened_file>"},
        {"type": "text", "text": "fix it <memory-context>old</memory-context>"},
        {"type": "image", "source": {"data": "A" * 1_000_000}},
    ]
    path = write(tmp_path / "s.jsonl", entry(blocks, uuid="u", cwd="relative"))

    assert transcript.read_session(claude_code.transcript(path)).prompts == (
        Prompt("2026-03-01T10:00:00.000Z", "fix it", "u"),
    )


def test_of_a_huge_transcript_the_end_is_read(tmp_path, monkeypatch):
    path = write(tmp_path / "s.jsonl", *(entry(f"prompt {n}") for n in range(100)))
    monkeypatch.setattr(transcript, "MAX_BYTES", 500)

    found = transcript.read_session(claude_code.transcript(path))

    assert not found.is_whole
    assert [prompt.text for prompt in found.prompts][-1] == "prompt 99"
    assert len(found.prompts) < 10


def test_what_is_no_transcript_holds_no_prompts(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    os.symlink("nowhere", tmp_path / "link.jsonl")

    assert transcript.recent_sessions(held(tmp_path), 20) == []


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b'{"type":"user",', b'"message":{"content":"x"}}', b"\n"])))
def test_no_bytes_make_reading_raise(tmp_path_factory, parts):
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    path.write_bytes(b"".join(parts))

    for prompt in transcript.read_session(claude_code.transcript(str(path))).prompts:
        assert prompt.text


def test_older_transcripts_are_read_only_as_far_as_needed(tmp_path):
    new = write(tmp_path / "new.jsonl", *(entry(f"new {n}", f"2026-03-01T10:0{n}:00Z") for n in range(3)))
    old = write(tmp_path / "old.jsonl", entry("old", "2026-02-01T10:00:00Z"))
    os.utime(new, (1_772_400_000, 1_772_400_000))
    os.utime(old, (1_770_000_000, 1_770_000_000))

    assert [one.name for one in transcript.recent_sessions(held(tmp_path), 3)] == ["new"]
    assert [one.name for one in transcript.recent_sessions(held(tmp_path), 4)] == ["new", "old"]


def test_a_prompt_is_shown_what_is_relevant_and_another_one_nothing():
    shown, silent = outcomes(session(ASKED, "compose a short haiku about the autumn moon over Kyoto"))

    assert (shown.outcome, shown.is_first) == ("shown", True)
    assert [each.match.id for each in shown.decision.shown_candidates] == ["harbour-api-limit"]
    assert "At most 60 calls a minute" in shown.decision.text
    assert shown.tokens > 20
    assert (silent.outcome, silent.decision.text, silent.tokens) == ("silent", "", 0)


def test_a_session_is_shown_a_record_once_and_another_one_again():
    one = session(ASKED, ASKED, name="one")
    two = session(ASKED, name="two")

    assert sorted((turn.session, turn.outcome) for turn in outcomes(one, two)) == [
        ("one", "repeated"),
        ("one", "shown"),
        ("two", "shown"),
    ]


def test_a_setting_that_lets_nothing_be_shown_is_silence():
    settings = Settings()
    settings.take("test", True, {"retrieval.max_inject": 0})

    assert [turn.outcome for turn in outcomes(session(ASKED), settings=settings)] == ["silent"]


def test_the_first_prompt_has_the_lower_bar_unless_the_beginning_is_missing():
    assert [turn.is_first for turn in outcomes(session("a", "b"))] == [True, False]
    assert [turn.is_first for turn in outcomes(session("a", "b", is_whole=False))] == [False, False]


def test_a_prompt_whose_words_are_on_no_record_borrows_the_one_before():
    settings = Settings()
    settings.take("test", True, {"retrieval.min_probability": 0.999, "retrieval.pointers": False})
    turns = outcomes(session("the harbour API refuses our calls each minute", "yes please"), settings=settings)

    assert [bool(turn.decision.borrowed) for turn in turns] == [False, True]
    assert turns[1].nearest is not None
    assert turns[1].nearest.match.id == "harbour-api-limit"


@pytest.mark.parametrize("text", [f"{ASKED} #nomem", f"/memory:search {ASKED}"])
def test_what_asks_for_silence_gets_it_and_is_no_first_prompt(text):
    skipped, shown = outcomes(session(text, ASKED))

    assert (skipped.outcome, skipped.is_first) == ("skipped", True)
    assert (shown.outcome, shown.is_first) == ("shown", True)


def test_a_question_about_the_past_on_which_nothing_is_on_file_is_denied():
    (turn,) = outcomes(session("why did we choose kubernetes?"))

    assert (turn.outcome, turn.decision.text) == ("denied", NOTHING_ON_FILE)


def test_the_last_prompts_count_and_a_copy_of_a_resumed_session_does_not():
    first = Session("one", (Prompt("2026-03-01T10:00:00Z", "a", "u1"), Prompt("2026-03-01T10:01:00Z", "b", "u2")), True)
    resumed = Session("two", (*first.prompts, Prompt("2026-03-01T11:00:00Z", "c", "u3")), True)

    assert [turn.prompt.text for turn in outcomes(resumed, first)] == ["a", "b", "c"]
    assert [turn.prompt.text for turn in outcomes(resumed, first, last=2)] == ["b", "c"]


def test_a_replay_shows_what_the_hook_shows(tmp_path, home):
    """The real hook's answer, with its ledger on disk, over the same prompts."""
    prompts = [
        ASKED,
        "write a haiku",
        "the harbour API answers 429",
        ASKED,
        "why did we choose kubernetes?",
        "fix that",
    ]
    with replay.laid_out([HARBOUR]) as store:
        played = replay.play([session(*prompts)], 20, load_settings(store), store_refs=paths.store_refs(store))
        path = tmp_path / "live.jsonl"
        for number, prompt in enumerate(prompts):
            write(path, *map(entry, prompts[:number]))
            answer = for_prompt.answer(
                Stores(paths.store_refs(store)),
                prompt,
                load_settings(store),
                session="live",
                transcript=claude_code.transcript(str(path)),
            )
            assert answer == played[number].decision.text

    with Ledger("live") as session_ledger:
        assert session_ledger.prompts == len(prompts)


def test_a_replay_leaves_cache_and_state_alone(home):
    before = sorted(os.walk(home))
    with replay.laid_out([HARBOUR]) as store:
        replay.play([session(ASKED)], 20, Settings(), store_refs=paths.store_refs(store))
        with replay.private_folders():
            elsewhere = paths.cache_dir()

    assert sorted(os.walk(home)) == before
    assert elsewhere != paths.cache_dir()
    assert not os.path.exists(paths.cache_dir())
    assert not os.path.exists(elsewhere)
    assert "ONRECORD_CACHE_DIR" not in os.environ


def test_no_model_is_asked_even_if_one_is_configured(monkeypatch):
    settings = Settings()
    settings.take("user", True, {"retrieval.judge.enabled": True})
    monkeypatch.setattr("onrecord.recall.judge.verdicts", lambda *a, **k: pytest.fail("a prompt left the machine"))

    assert outcomes(session(ASKED), settings=settings)[0].outcome == "shown"
