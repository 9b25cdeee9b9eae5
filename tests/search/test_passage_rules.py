"""What a passage of a prompt is: the rules one by one, each at both sides of its limit."""

from __future__ import annotations

import pytest

from onrecord.search import passages

TYPED = "now fix what broke here"
"""A sentence that is typed, of as many words as a passage of its own has."""


def texts(prompt):
    return [passage.text for passage in passages.split(prompt)]


def words(count, start=0):
    return " ".join(f"w{number}" for number in range(start, start + count))


def is_printed(line):
    """Whether a line after a typed one is printed; None if it is left out."""
    lines = {passage.text: passage.is_printed for passage in passages.split(f"{TYPED} please today.\n{line}")}
    lines.pop(f"{TYPED} please today.")
    return next(iter(lines.values()), None)


@pytest.mark.parametrize(
    "line",
    [
        "Traceback of the last call here", "    return the value of it", "\treturn the value of it",
        "INFO it started up just now", "FATAL it went down just now", "[WARN] it is slow just now",
        "ValueError: it has no such value", "ValueError while it was reading that",
        "OldException: it has no such value", "OldException while it was reading that",
        "2026-01-02 it was all fine", "12:30 it was all fine", "[2026-01-02 it was all fine", "=> -> <- ==",
    ],
)  # fmt: skip
def test_a_line_that_a_program_printed(line):
    assert is_printed(line) is True


@pytest.mark.parametrize(
    "line",
    [
        "   return the value of it", "Information is what it needs", "Errors are what it has",
        "2026-xx is when it was fine", "2026/01 is when it was fine", "20xx-01-02 it was all fine",
        "12-30 is when it was fine", "12:xx is when it was fine", "xx:30 is when it was fine", "-> it is a line",
    ],
)  # fmt: skip
def test_a_line_that_is_typed(line):
    assert is_printed(line) is False


@pytest.mark.parametrize(
    "line",
    [
        "at Object.run (jobs.js:9)", 'File "jobs.py", line 9, in run', "a.py:40:2 it is not here now",
        "goroutine of the main program here", "node:internal is where it is now", "#0 0x is where it is now",
        "#1 0x is where it is now", "... and so on and on",
    ],
)  # fmt: skip
def test_a_line_that_names_a_place_in_a_program_is_left_out(line):
    assert is_printed(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "at the weekend it is down", 'File "jobs" is not there now', "a.py:40 it is not here now",
        "a.py:x:2 it is not here now", "a.py:40:x it is not here now", "#2 0x is where it is now",
    ],
)  # fmt: skip
def test_a_line_that_only_looks_like_a_place_in_a_program_is_read(line):
    assert is_printed(line) is False


def test_what_is_between_fences_is_printed_and_what_follows_is_typed():
    prompt = f"{TYPED}.\n```py\nsome lines of a program\n  ```\nmore is typed after it"

    assert passages.split(prompt) == [
        (f"{TYPED}.", False),
        ("more is typed after it", False),
        ("some lines of a program", True),
    ]


@pytest.mark.parametrize(
    "noise",
    [
        "abc1234", "(3f2b9c1d7e),", "http://ci.example", "https://ci.example", "0xff", "x" * 40,
        "z1" + "x" * 38, "z1" + "x" * 38 + "/", "main-BxT81k.js", "main.a1b2c3.css", "app-a1b2c3.mjs",
        "app.z1y2x3w.map",
    ],
)  # fmt: skip
def test_noise_is_left_out(noise):
    assert texts(f"the build of {noise} is broken") == ["the build of is broken"]


@pytest.mark.parametrize(
    "word",
    [
        "abc123", "1234567X", "X3f2b9c1X", "deadbeef", "https", "x" * 39, "x" * 20 + "/" + "x" * 20,
        "x" * 20 + "_" + "x" * 20, "é" * 40, "z1" + "x" * 37, "z1" + "x" * 37 + "/", "main-BxT81.js",
        "v2-settings.js", "main-BxT81k.py", "z1y2x3.js.map",
    ],
)  # fmt: skip
def test_a_word_that_is_no_noise_is_read(word):
    assert texts(f"the build of {word} is broken") == [f"the build of {word} is broken"]


def test_colours_and_control_characters_are_left_out():
    assert texts("the \x1b[1;31mred\x1b[0m word \x1b[?25lis here") == ["the red word is here"]
    assert texts("show a\x00b\x08c\x0bd\x1fe\x7ff? to\tall of us") == ["show abcdef? to all of us"]


@pytest.mark.parametrize("end", [".", "!", "?", ";", ":", "。", "！", "？", "；"])
def test_a_sentence_ends_with_its_sign(end):
    assert texts(f"it is broken now{end} then do it again") == [f"it is broken now{end}", "then do it again"]


@pytest.mark.parametrize("end", ["。", "！", "？", "；"])
def test_after_a_wide_sign_no_space_is_needed(end):
    assert texts(f"a b c d{end}e f g h") == [f"a b c d{end}", "e f g h"]


@pytest.mark.parametrize("joint", ["and also", "but then", "then please", "And Also"])
def test_a_sentence_that_asks_for_two_things_is_cut(joint):
    first, second = joint.split()

    assert texts(f"fix the login test {first} {second} drop the table") == [
        "fix the login test",
        f"{second} drop the table",
    ]


@pytest.mark.parametrize("joint", ["and", "also", "or also", "and so", "please", "also and"])
def test_a_sentence_that_asks_for_one_thing_is_whole(joint):
    assert texts(f"fix the login test {joint} drop the table") == [f"fix the login test {joint} drop the table"]


@pytest.mark.parametrize("dash", "-–—•")
def test_a_dash_between_words_parts_two_passages(dash):
    assert texts(f"fix the login test {dash} drop the old table") == ["fix the login test", "drop the old table"]
    assert texts(f"fix the login{dash}test in the table") == [f"fix the login{dash}test in the table"]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((4, 4), (4, 4)),
        ((4, 3), (7,)),
        ((3, 4), (7,)),
        ((22, 3), (25,)),
        ((23, 3), (23, 3)),
        ((29,), (29,)),
        ((30,), (25, 5)),
        ((55,), (25, 25, 5)),
        ((3, 3, 4), (6, 4)),
    ],
)
def test_short_sentences_join_the_one_before_and_long_ones_are_cut(counts, expected):
    prompt = " ".join(f"{words(count)}." for count in counts)

    assert tuple(len(text.split()) for text in texts(prompt)) == expected
    assert " ".join(texts(prompt)) == prompt


@pytest.mark.parametrize(
    ("typed", "printed", "expected"),
    [
        (6, 0, [0, 1, 2, 3, 4, 5]),
        (7, 0, [0, 1, 2, 3, 5, 6]),
        (9, 2, [0, 1, 2, 3, 7, 8]),
        (5, 3, [0, 1, 2, 3, 4, 5]),
        (1, 9, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_of_too_many_passages_the_first_and_the_last_typed_ones_are_read(typed, printed, expected):
    lines = [f"this is passage {number}" for number in range(typed)]
    lines += [f"| this is passage {typed + number}" for number in range(printed)]

    found = passages.split("\n".join(lines))

    assert [int(text.split()[-1]) for text, _ in found] == expected
    assert [is_printed for _, is_printed in found] == [number >= typed for number in expected]


def test_of_a_long_prompt_the_beginning_and_the_end_are_read_in_whole_words():
    long_words = [f"{number:02}/{'x' * 96}" for number in range(40)]
    head = " ".join(long_words[:24])

    assert texts(" ".join(long_words)) == [head, " ".join(long_words[-12:])]
    assert texts(f"{' '.join(long_words)}xxxx") == [head, f"{' '.join(long_words[-11:])}xxxx"]


def test_a_long_word_is_cut():
    whole = "a_" * 1_800

    assert texts(whole) == [whole]
    assert texts(f"{whole}b") == [f"{whole[:2_400]} {(whole + 'b')[-1_200:]}"]


def test_a_prompt_of_nothing_but_noise_is_its_beginning():
    assert texts("```") == ["```"]
    assert texts("x" * 5_000) == ["x" * 3_600]
