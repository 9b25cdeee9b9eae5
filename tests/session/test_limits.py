"""How much of commands, edits, prompts and transcripts is read: each limit at its border."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onrecord.hosts import table
from onrecord.search import command_terms
from onrecord.session import action, commands, correction, shell_words, transcript
from onrecord.session.action import FileEdit
from onrecord.session.transcript import Ending, Message, Transcript


def families(line: str) -> list[str]:
    return [call.family for call in commands.parse(line)]


def session(path: Path, *entries: Any) -> Transcript:
    path.write_text("".join(entry if isinstance(entry, str) else json.dumps(entry) + "\n" for entry in entries))
    return table.transcript("claude-code", str(path))


def said(role: str, text: str) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": text}}


def test_of_a_command_sixteen_programs_are_known_with_forty_words_each():
    calls = commands.parse("; ".join(f"run{number} x" for number in range(17)))

    assert [call.program for call in calls] == [f"run{number}" for number in range(16)]
    (call,) = commands.parse("echo " + " ".join(map(str, range(50))))
    assert len(call.words) == 40


def test_a_name_has_thirty_two_characters_at_most():
    assert families("p" * 33 + " x") == ["p" * 32 + " x"]
    assert families("tool " + "s" * 32) == ["tool " + "s" * 32]
    assert families("tool " + "s" * 33) == ["tool"]


def test_a_program_is_known_behind_three_that_run_it():
    assert families("uv run pdm run rye run pytest") == ["uv run pdm run rye run pytest"]
    assert families("uv run pdm run rye run hatch run pytest") == ["uv run pdm run rye run hatch run"]


def test_four_thousand_characters_of_a_line_are_split_into_words():
    start = "echo " + "x" * 3_984 + "; "

    assert families(f"{start}npm test ") == ["echo", "npm test"]
    assert families(f"{start}; npm test") == ["echo", "npm tes"]


def test_twenty_thousand_characters_of_a_command_are_read_with_its_documents():
    def with_document(length: int) -> str:
        frame = "cat <<E\nE\nnpm test"
        return frame.replace("E\nn", "x" * (length - len(frame) - 1) + "\nE\nn")

    assert families(with_document(20_000)) == ["npm test"]
    assert families(with_document(20_001)) == ["npm tes"]


def test_commands_within_commands_are_read_four_deep():
    line = "echo five"
    for word in ("four", "three", "two", "one", "zero"):
        line = f"echo {word} $({line})"

    read = {words[1] for words in shell_words.parts(line) if words}

    assert read == {"zero", "one", "two", "three", "four"}


def test_the_terms_of_a_command_are_bounded():
    calls = commands.parse("; ".join(f"tool{number}" for number in range(7)))
    (call,) = commands.parse(" ".join(["tool", *(f"--opt{n}" for n in range(9)), *(f"w{n}x/v{n}x" for n in range(29))]))
    called = command_terms.of_call(call)
    texts = [f"'first{number}x second{number}x'" for number in range(25)]
    (text,) = commands.parse(" ".join(["tool", *texts]))

    assert len(command_terms.of_calls(calls)) == 6
    assert (len(called.options), len(called.arguments), len(called.sequence)) == (8, 24, 40)
    assert len(command_terms.of_call(text).texts) == 40


def test_a_word_of_a_command_counts_with_two_hundred_characters():
    (call,) = commands.parse("tool ./" + "a/" * 98 + "b/c")

    assert command_terms.of_call(call).arguments == ()
    (call,) = commands.parse("tool ./" + "a/" * 95 + "within/beyond")
    assert command_terms.of_call(call).arguments == ("within",)


def test_a_file_has_two_million_characters_after_its_edits():
    half = "x" * 1_000_000

    assert action.text_after([FileEdit("y", half, "")], half + "y") == half * 2
    assert action.text_after([FileEdit("y", half + "x", "")], half + "y") is None
    assert action.text_after([FileEdit("x", "xxx", "", is_everywhere=True)], half) is None


def test_of_a_long_prompt_2_000_characters_are_read_with_600_of_its_end():
    reproach = "I told you to use pnpm."

    assert correction.strength(reproach)
    assert correction.strength("x " * 1_000 + "\n" + reproach + "\n" + "y" * (600 - len(reproach) - 1))
    assert not correction.strength("x " * 1_000 + "\n" + reproach + "\n" + "y" * 600)
    assert correction.strength("x" * (1_399 - len(reproach)) + "\n" + reproach + "\n" + "y" * 2_000)
    assert not correction.strength("x" * 1_399 + "\n" + reproach + "\n" + "y" * 2_000)


def test_eighty_sentences_of_a_prompt_are_read():
    reproach = "I told you to use pnpm."

    assert correction.strength("Go on. " * 79 + reproach)
    assert not correction.strength("Go on. " * 80 + reproach)


def test_a_word_of_24_characters_may_be_a_secret():
    assert correction.may_have_secret("x " + "a" * 24)
    assert not correction.may_have_secret("x " + "a" * 23)


def test_a_turn_of_the_assistant_is_read_with_its_last_20_000_characters(tmp_path: Path):
    (turn,) = transcript.last_turns(
        session(tmp_path / "s.jsonl", said("assistant", "a" * 15_000), said("assistant", "b" * 15_000)), 2
    )

    assert turn == "Assistant: " + "a" * 4_999 + "\n" + "b" * 15_000


def test_a_prompt_is_kept_with_100_000_characters(tmp_path: Path):
    (prompt,) = transcript.read_session(session(tmp_path / "s.jsonl", said("user", "x" * 100_001))).prompts

    assert prompt.text == "x" * 100_000


def test_the_last_400_000_bytes_of_a_session_are_read(tmp_path: Path):
    prompt = json.dumps(said("user", "which queue?")) + "\n"

    def noise(size: int) -> str:
        return "x" * (size - 1) + "\n"

    assert transcript.last_prompt(session(tmp_path / "a.jsonl", "\n", prompt, noise(400_000 - len(prompt) - 1)))
    assert not transcript.last_prompt(session(tmp_path / "b.jsonl", "\n", prompt, noise(400_000 - len(prompt) + 1)))


def test_a_line_of_more_than_eight_megabytes_is_no_entry():
    def line(size: int) -> bytes:
        return b'{"x":"' + b"y" * (size - 8) + b'"}'

    assert transcript.parse_line(line(8_000_000))
    assert transcript.parse_line(line(8_000_001)) == {}
    assert transcript.parse_line(b'[{"a": 1}]') == {}


def test_a_text_is_in_an_ending_if_its_first_200_characters_are():
    present = Message("assistant", "text", "We take NATS. " * 20)
    ending = Ending([present], is_whole=True)

    assert ending.with_missing("assistant", [present.text[:200] + "another end"]) == ending
    missing = ending.with_missing("assistant", [present.text[:199] + "another end", "x" * 20_001])
    assert [len(message.text) for message in missing.messages] == [280, 210, 20_000]


def test_a_text_of_forty_characters_that_is_part_of_another_one_is_the_same():
    for length, count in ((40, 1), (39, 2)):
        ending = Ending([Message("assistant", "text", "z" * length)], is_whole=True)

        assert len(ending.with_missing("assistant", ["a longer text with " + "z" * length]).messages) == count
