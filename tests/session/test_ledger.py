"""A session is shown a record once."""

from __future__ import annotations

import multiprocessing
import os

from onrecord import paths
from onrecord.session.ledger import Ledger


def test_what_was_shown_is_known_to_the_next_process():
    with Ledger("s1") as first:
        assert first.is_first_prompt
        first.count_prompt()
        first.add_shown("/p/decisions/a.json", "v1")

    with Ledger("s1") as second:
        assert not second.is_first_prompt
        assert second.has_shown("/p/decisions/a.json", "v1")
        assert not second.has_shown("/p/decisions/a.json", "v2")
        assert not second.has_shown("/p/decisions/b.json", "v1")


def test_the_newest_corrections_are_kept_even_after_a_reset():
    with Ledger("s1") as first:
        for number in range(12):
            first.add_correction(f"no, not\tlike that:\n{number}")
        first.reset()

    with Ledger("s1") as second:
        assert second.corrections == [f"no, not\tlike that:\n{number}" for number in range(4, 12)]


def test_sessions_do_not_know_of_each_other():
    with Ledger("s1") as one:
        one.add_shown("a", "v")

    with Ledger("s2") as other:
        assert other.shown == {}


def test_after_a_reset_everything_is_new():
    with Ledger("s1") as session:
        session.count_prompt()
        session.add_shown("a", "v")
        session.reset()
        session.add_shown("b", "v")

    with Ledger("s1") as again:
        assert (again.shown, again.is_first_prompt) == ({"b": "v"}, True)


def test_the_order_of_the_last_telling_is_kept():
    with Ledger("s1") as session:
        for record in ("a", "b", "a"):
            session.add_shown(record, "v")

    with Ledger("s1") as again:
        assert list(again.shown) == ["b", "a"]


def test_a_session_id_cannot_name_a_file_elsewhere():
    with Ledger("../../etc/passwd") as session:
        session.add_shown("a", "v")

    assert os.listdir(os.path.join(paths.state_dir(), "sessions")) != []
    assert not os.path.exists(os.path.join(paths.state_dir(), "etc"))


def test_a_state_folder_that_cannot_be_written_costs_the_memory_of_it_not_the_session(tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(blocked))

    with Ledger("s1") as session:
        session.add_shown("a", "v")

    assert session.has_shown("a", "v")


def test_a_pointer_is_not_the_record_and_both_are_forgotten_at_a_reset():
    with Ledger("s1") as first:
        first.add_pointer("/p/decisions/a.json")
        first.add_shown("digest:/p/decisions/b.json", "v1")
        first.add_warning("fts5")

    with Ledger("s1") as second:
        assert list(second.pointed) == ["/p/decisions/a.json"]
        assert not second.has_named("/p/decisions/a.json")
        assert second.has_named("/p/decisions/b.json")
        assert second.warnings == {"fts5"}
        second.reset()

    with Ledger("s1") as third:
        assert (list(third.pointed), third.has_named("/p/decisions/b.json")) == ([], False)
        assert third.warnings == {"fts5"}


def test_a_garbled_ledger_is_read_as_far_as_it_goes():
    with Ledger("s1") as session:
        session.add_shown("a", "v")
    path = os.path.join(paths.state_dir(), "sessions", "s1")
    with open(path, "ab") as file:
        file.write(b"\xff\xfe\x00\nshown\nshown\tb\tw\n")

    with Ledger("s1") as again:
        assert again.has_shown("a", "v")
        assert again.has_shown("b", "w")


def _claim(number: int) -> int:
    with Ledger("shared") as session:
        if session.has_shown("a", "v"):
            return 0
        session.add_shown("a", "v")
        session.add_shown(f"own-{number}", "v")
        return 1


def test_of_many_parallel_prompts_exactly_one_shows_a_record():
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        claims = pool.map(_claim, range(40))

    assert sum(claims) == 1
