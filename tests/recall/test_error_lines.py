"""What of the output of a failed command is compared with runbooks: which lines, and what is left out of each."""

from __future__ import annotations

import pytest

from onrecord.recall import for_failure


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("RPC error: code = Aborted desc = no leader", "no leader"),
        ("dial tcp db failed", "db failed"),
        ("dial unix db failed", "db failed"),
        ("failed in caller=a.go:3 level=warn here", "failed in here"),
        ("failed at Object.run(app.js)", "failed"),
        ("failed at Object.run(app.js) here", "failed at Object.run(app.js) here"),
        ("see https://a.example/x?y now", "see now"),
        ('Post "https://a.example": failed', "failed"),
        ("[ERROR] it failed [wrn]", "it failed"),
        ("failed 2026-01-02 10:20:30,123 now", "failed now"),
        ("failed 2026-01-02T10:20+01:00 now", "failed now"),
        ("failed 10:20:30.5 now", "failed now"),
        ("failed 10:20 now", "failed 10 now"),
        ("failed 0x7F now", "failed now"),
        ("failed 7f3c1a9e now", "failed now"),
        ("failed 7f3c1a9 now", "failed 7f3c1a9 now"),
        ("failed " + "a1" * 32 + " now", "failed now"),
        ("failed " + "a1" * 33 + " now", "failed " + "a1" * 33 + " now"),
        ("failed decadent12 now", "failed decadent12 now"),
        ("failed 11112222 deadbeef", "failed deadbeef"),
        ("failed 0b1d4e55-0b1d-4e55-9c6a-1f2e3d4c5b6a now", "failed now"),
        ("failed on localhost:80 and 127.0.0.1", "failed on 80 and"),
        ("failed in /srv/app/a.py and C:\\x\\b.py", "failed in a.py and b.py"),
        ("failed in src/app/a.py", "failed in src/app/a.py"),
        ("a.py:12: failed", "a.py : failed"),
        ("failed 123456 of 12345", "failed of 12345"),
        ('level=info msg="no \\"x\\" is" reason=full', 'no "x" is full'),
        ("error=full", "error=full"),
        ("msg=full error: boom", "full boom"),
    ],
)
def test_what_only_one_run_has_is_left_out(line, text):
    assert for_failure.without_run_details(line) == text


def numbered(count, word="line"):
    return [f"{word} x{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(count)]


def test_the_first_and_last_errors_and_the_end_are_kept():
    errors, others = numbered(30, "error"), numbered(9)

    assert for_failure.error_lines("\n".join([*errors, *others])).split("\n") == [
        *errors[:4],
        *errors[-10:],
        *others[-4:],
    ]


def test_a_line_that_comes_again_is_kept_once():
    assert for_failure.error_lines("error: a\nerror: a\r\nerror: b\n") == "error: a\nerror: b"


def test_of_a_long_line_the_beginning_is_kept():
    assert for_failure.error_lines("word " * 100) == ("word " * 60).strip()


def test_of_long_errors_the_beginning_and_the_end_are_kept():
    lines = [f"error x{letter} {'long ' * 50}".strip() for letter in "abcdefghijklmn"]
    text = "\n".join(lines)

    shown = for_failure.error_lines(text)

    assert len(text) > len(shown) == 2_400
    assert shown == f"{text[:800]}\n{text[-1_599:]}"


@pytest.mark.parametrize("size", [2_400, 2_401])
def test_errors_are_cut_beyond_a_limit(size):
    lines = [f"error x{letter} {'y' * 290}"[:290] for letter in "abcdefgh"]
    lines.append(f"error {'z' * (size - len(chr(10).join(lines)) - 7)}")

    assert (for_failure.error_lines("\n".join(lines)) == "\n".join(lines)) is (size == 2_400)


def test_of_a_huge_output_the_end_is_read():
    assert for_failure.error_lines("error: first\n" + "z\n" * 20_000) == "z"
    assert for_failure.error_lines("error: first\n" + "z\n" * 19_993 + "z") == "error: first\nz"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07red", "red"),
        ("\x1b]8;;u\x1b\\red", "red"),
        ("\x1bMred", "red"),
        ("a\x00b\x08c\x0bd\x1fe\x7ff", "abcdef"),
        ("a\tb", "a b"),
    ],
)
def test_what_colours_a_terminal_is_left_out(text, plain):
    assert for_failure.error_lines(text) == plain


@pytest.mark.parametrize(
    ("command", "error", "is_noise"),
    [
        ("/usr/bin/grep x y", "Exit code 1", True),
        ("grep x y | sort", "Exit code 1", True),
        ("sort y", "Exit code 1\nx", False),
        ("find . -name 'x;y'", "Exit code 1", True),
        ('echo "a|make" && grep x y', "Exit code 1\nx", True),
        ("grep x y", f"Exit code 1\n{'x' * 199}", True),
        ("grep x y", f"Exit code 1\n{'x' * 200}", False),
        ("grep x y", "Exit code 12\nx", False),
        ("cd x\ngrep x y", "Exit code 1\nx", True),
    ],
)
def test_a_short_answer_of_a_search_is_noise(command, error, is_noise):
    assert for_failure.is_noise(command, error) is is_noise
