"""What a failing command printed, reduced to what tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.recall import for_failure


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("\x1b[31mError:\x1b[0m database is locked", "Error: database is locked"),
        ("2026-11-15T10:00:00.123Z FATAL: role \"app\" does not exist", 'FATAL: role "app" does not exist'),
        ("/home/me/project/src/app.py:12:4: error: missing name", "app.py : error: missing name"),
        ("connect to 10.0.0.7:5432 failed: timeout expired", "connect to 5432 failed: timeout expired"),
        ("job 7f3c1a9e-0b1d-4e55-9c6a-1f2e3d4c5b6a failed: oom", "job failed: oom"),
        ('ts=1 caller=x.go:3 level=error msg="send failed" err="queue is full"', "send failed queue is full"),
        ("Error: connect ECONNREFUSED ::1:5433", "Error: connect ECONNREFUSED 5433"),
        ("ERROR: deadlock (SQLSTATE 23505), process 88213901", "ERROR: deadlock (SQLSTATE 23505), process"),
        ("rpc error: code = Unavailable desc = no leader: error", "no leader: error"),
    ],
)  # fmt: skip
def test_what_differs_from_run_to_run_is_left_out(line, said):
    assert for_failure.error_lines(f"Exit code 1\n{line}") == said


def test_the_telling_lines_of_a_long_output_are_kept():
    output = "\n".join([f"compiling module {n}" for n in range(500)] + ["error: linker not found", "", "make: stopped"])

    said = for_failure.error_lines(f"Exit code 2\n{output}").split("\n")

    assert "error: linker not found" in said
    assert len(said) <= 6


@pytest.mark.parametrize(
    "line",
    [
        "error[E0382]: borrow of moved value",
        "FEHLER:  Relation »berths« existiert nicht",
        "cp: Schreiben nicht möglich: Die Datei kann nicht angelegt werden",
        "erreur : fichier introuvable",
    ],
)
def test_the_first_error_is_kept_however_much_follows(line):
    output = "\n".join(
        [line, *(f"warning: unused variable v{n}" for n in range(400)), *["error: stopped"] * 20, "make: 2"]
    )

    assert line in for_failure.error_lines(f"Exit code 2\n{output}").replace("FEHLER: ", "FEHLER:  ").split("\n")


def test_the_first_and_the_last_lines_of_long_errors_are_kept():
    lines = [f"error {name}: {'long ' * 50}" for name in ("first", *"abcdefghijkl", "last")]

    text = for_failure.error_lines("Exit code 1\n" + "\n".join(lines))

    assert ("error first" in text, "error last" in text, len(text)) == (True, True, for_failure.MAX_ERROR_CHARACTERS)


@pytest.mark.parametrize(
    ("command", "error", "noise"),
    [
        ("grep -rn foo src", "Exit code 1", True),
        ("rg foo", "Exit code 1\n", True),
        ("diff a b", "Exit code 1\n1c1\n< a\n---\n> b", True),
        ("false", "Exit code 1", True),
        ("cd src && diff a b | head -3", "Exit code 1\n1c1\n< a", True),
        ("diff 'a;make' b", "Exit code 1\n1c1\n< a", True),
        ("test -f .env && npm start", "Exit code 1\nError: boom", False),
        ("grep -q db hosts; make", "Exit code 1\nError: boom", False),
        ("grep foo nofile", "Exit code 2\ngrep: nofile: No such file or directory", False),
        ("npm test", "Exit code 1\nError: boom", False),
    ],
)
def test_a_search_that_found_nothing_is_noise(command, error, noise):
    assert for_failure.is_noise(command, error) is noise


@given(st.text(max_size=2_000))
def test_any_output_gives_a_bounded_text(text):
    assert len(for_failure.error_lines(text)) <= for_failure.MAX_ERROR_CHARACTERS
