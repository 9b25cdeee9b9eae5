import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onrecord import coldstart
from onrecord.search import build_lock, command_filter, index, indexing, refresh
from onrecord.store.store import Store
from tests import searching, without_fts5
from tests.records import put, sample


def topic(name, word, **fields):
    content = {"status": "accepted", "context": f"It is about {word}", "decision": f"Use {word}", "rationale": ["ok"]}
    return sample(id=name, title=f"About {word}", tags=["topic"], content=content, **fields)


@pytest.fixture
def root(tmp_path):
    store = str(tmp_path / "memory")
    for name, word in (("one", "zebra"), ("two", "giraffe"), ("three", "walrus")):
        put(store, topic(name, word))
    return store


def found(root, text, hook=False, **options):
    opened = index.open(root, hook=hook)
    try:
        return [match.id for match in searching.find(opened, text, **options)]
    finally:
        opened.close()


def test_the_index_is_built_and_kept(root):
    assert found(root, "the zebra") == ["one"]
    assert os.path.exists(index.file_of(root))


def settle(root):
    """Make everything old enough that the index trusts the folders' times."""
    for folder, _, files in os.walk(root):
        for name in files:
            os.utime(os.path.join(folder, name), (1_700_000_000, 1_700_000_000))
        os.utime(folder, (1_700_000_000, 1_700_000_000))


@pytest.mark.parametrize("hook", [False, True])
def test_an_added_record_is_found_at_once(root, hook):
    found(root, "zebra")
    put(root, topic("four", "narwhal"))

    assert found(root, "narwhal", hook=hook) == ["four"]


@pytest.mark.parametrize("hook", [False, True])
def test_a_removed_record_is_gone_at_once(root, hook):
    found(root, "zebra")
    os.unlink(os.path.join(root, "decisions", "one.json"))

    assert found(root, "zebra", hook=hook) == []


@pytest.mark.parametrize("hook", [False, True])
def test_an_edit_in_place_is_seen(root, hook):
    settle(root)
    found(root, "zebra")
    with open(os.path.join(root, "decisions", "one.json"), "r+", encoding="utf-8") as file:
        text = file.read().replace("zebra", "okapi")
        file.seek(0)
        file.truncate()
        file.write(text)

    assert found(root, "zebra", hook=hook) == []
    assert found(root, "okapi", hook=hook) == ["one"]


def test_an_edited_record_is_not_shown_stale_even_if_no_sweep_came_by(root, monkeypatch):
    settle(root)
    found(root, "zebra")
    put(root, topic("one", "okapi and zebra"))
    monkeypatch.setattr(refresh, "refresh", lambda *_, **__: False)

    opened = index.open(root, hook=True)

    assert [match.title for match in searching.find(opened, "zebra")] == ["About okapi and zebra"]


def test_a_broken_record_harms_nobody_and_comes_back_when_mended(root):
    path = os.path.join(root, "decisions", "one.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[not a record")
    assert found(root, "walrus") == ["three"]
    assert found(root, "zebra") == []

    put(root, topic("one", "zebra"))

    assert found(root, "zebra") == ["one"]


@pytest.mark.skipif(os.name == "nt", reason="names there are always text")
def test_a_name_with_bytes_that_are_no_text_harms_nobody(root):
    Path(os.fsdecode(os.fsencode(root) + b"/decisions/caf\xe9.json")).write_text("{}")

    assert found(root, "zebra", hook=True) == ["one"]


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_cache_is_made_anew(root, damage):
    found(root, "zebra")
    Path(index.file_of(root)).write_bytes(damage)

    assert found(root, "zebra", hook=True) == ["one"]


def test_a_cache_damaged_in_the_middle_is_made_anew(root):
    for number in range(60):
        put(root, topic(f"more-{number}", f"animal{number}"))
    found(root, "zebra")
    file = Path(index.file_of(root))
    data = bytearray(file.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    file.write_bytes(data)

    assert found(root, "zebra", hook=True)[:1] == ["one"]


def test_a_cache_of_another_version_is_made_anew(root):
    found(root, "zebra")
    connection = coldstart.connect(index.file_of(root))
    connection.execute("PRAGMA user_version=1")
    connection.close()

    assert found(root, "zebra") == ["one"]


def test_an_emptied_full_text_table_is_noticed_and_healed(root):
    settle(root)
    found(root, "zebra")
    connection = coldstart.connect(index.file_of(root), isolation_level=None)
    connection.execute("INSERT INTO active_text (active_text) VALUES ('delete-all')")
    connection.close()

    assert found(root, "zebra", hook=True) == ["one"]


def test_a_cache_that_cannot_be_written_means_an_index_in_memory(root, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ONRECORD_CACHE_DIR", str(tmp_path / "file" / "cache"))

    opened = index.open(root, hook=True)

    assert opened.in_memory
    assert [match.id for match in searching.find(opened, "zebra")] == ["one"]


def test_a_locked_cache_is_read_as_it_is_and_new_records_wait(root):
    settle(root)
    found(root, "zebra")
    put(root, topic("four", "narwhal"))
    other = coldstart.connect(index.file_of(root), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert found(root, "zebra", hook=True) == ["one"]
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert found(root, "narwhal", hook=True) == ["four"]


def test_a_cache_locked_against_reading_means_an_index_in_memory(root):
    found(root, "zebra")
    before = os.stat(index.file_of(root))
    other = coldstart.connect(index.file_of(root), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert found(root, "zebra", hook=True) == ["one"]
    finally:
        other.close()
    assert os.path.samestat(before, os.stat(index.file_of(root))), "a locked index is not a damaged one"


def test_an_index_that_is_locked_while_it_is_read_is_not_thrown_away(root):
    found(root, "zebra")
    opened = index.open(root, hook=True)
    before = os.stat(index.file_of(root))
    tries = []

    def read(search_index):
        tries.append(search_index.in_memory)
        if len(tries) == 1:
            raise coldstart.SqliteError("database is locked")
        return search_index.totals()[0]

    assert (opened.run(read, hook=True), tries) == (3, [False, True])
    assert os.path.samestat(before, os.stat(index.file_of(root)))


def test_a_search_reads_one_state_although_another_process_writes(root):
    found(root, "zebra")
    opened = index.open(root, hook=True)
    other = coldstart.connect(index.file_of(root), timeout=0, isolation_level=None)

    def read(search_index):
        before = search_index.term_counts(["zebra"])
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE term SET records = 7 WHERE term = 'zebra'")
        with pytest.raises(coldstart.SqliteError, match="locked"):
            other.execute("COMMIT")
        return before == search_index.term_counts(["zebra"])

    assert opened.run(read)
    other.execute("COMMIT")
    assert opened.run(lambda search_index: search_index.term_counts(["zebra"])["zebra"][0]) == 7
    other.close()


def test_an_index_that_is_being_built_is_not_thrown_away(root):
    found(root, "zebra")
    opened = index.open(root, hook=True)
    before = os.stat(index.file_of(root))
    tries = []

    def read(search_index):
        tries.append(search_index.in_memory)
        return [][len(tries) - 1 :][0] if len(tries) == 1 else search_index.totals()[0]

    with build_lock.held(index.file_of(root)):
        assert (opened.run(read, hook=True), tries) == (3, [False, True])
    assert os.path.samestat(before, os.stat(index.file_of(root)))


def test_an_index_in_use_is_noted_as_such_once_a_day(root):
    found(root, "zebra")
    names = (index.file_of(root), command_filter.file_of(root))
    for name in names:
        os.utime(name, (1_700_000_000, 1_700_000_000))

    found(root, "zebra", hook=True)

    assert all(time.time() - os.stat(name).st_mtime < 3_600 for name in names)


def test_a_huge_store_is_indexed_in_slices_by_hooks(root, monkeypatch):
    for number in range(30):
        put(root, topic(f"more-{number:02}", f"animal{number}"))
    ticks = iter(range(10_000))
    monkeypatch.setattr(refresh, "HOOK_SECONDS", 10)
    monkeypatch.setattr("onrecord.search.indexing.time.monotonic", lambda: next(ticks))
    monkeypatch.setattr("onrecord.search.indexing.time.monotonic", lambda: next(ticks))

    assert _sizes_after_hooks(root, 5) == [11, 22, 33, 33, 33]


@pytest.mark.parametrize("limit", ["HOOK_SECONDS", "HOOK_CPU_SECONDS"])
def test_a_hook_that_has_no_time_left_indexes_one_record(root, monkeypatch, limit):
    monkeypatch.setattr(refresh, limit, -1.0)

    assert _sizes_after_hooks(root, 4) == [1, 2, 3, 3]


def _sizes_after_hooks(root, count):
    """Return how many records are indexed after each of `count` hooks."""
    sizes = []
    for _ in range(count):
        opened = index.open(root, hook=True)
        sizes.append(opened._connection.execute("SELECT count(*) FROM record").fetchone()[0])
        opened.close()
    return sizes


def test_several_processes_may_build_it_at_once(root):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from onrecord.search import index, query, rank\n"
        "print([m.id for m in rank.find(index.open(sys.argv[2], hook=True), query.parse('zebra'))])"
    )
    source = str(Path(index.__file__).parents[2])
    command = [sys.executable, "-S", "-E", "-c", script, source, root]

    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]

    assert [process.communicate(timeout=60)[0].strip() for process in running] == ["['one']"] * 6


def test_a_store_that_does_not_exist_is_an_empty_one(tmp_path):
    assert found(str(tmp_path / "nowhere"), "zebra", hook=True) == []


def test_without_fts5_the_keyword_scorer_answers(root, monkeypatch):
    monkeypatch.setattr(coldstart, "connect", without_fts5.connect)

    opened = index.open(root)

    assert not opened.has_words
    assert [match.id for match in searching.find(opened, "zebra")] == ["one"]
    assert [match.id for match in searching.find(opened, "giraffe", mode="auto")] == ["two"]


def test_the_index_follows_the_stores_own_commands(root):
    store = Store(root)
    found(root, "zebra")

    store.create(topic("five", "capybara"))

    assert found(root, "capybara") == ["five"]


def test_counts_of_terms_stay_true_through_changes(root):
    opened = index.open(root)
    before = dict(opened.term_counts(["zebra", "about", "giraff"]))
    for word in ("okapi", "tapir", "zebra"):
        put(root, topic("one", word))
        os.utime(os.path.join(root, "decisions", "one.json"), ns=(time.time_ns(), time.time_ns()))
        opened.refresh()

    assert dict(opened.term_counts(["zebra", "about", "giraff"])) == before
    assert opened.term_counts(["okapi", "tapir"]) == {}


def test_a_touched_file_keeps_its_place_and_gets_a_new_stamp(root):
    opened = index.open(root)
    before = {row.id: row.n for row in opened._select()}
    settle(root)

    assert opened.refresh()
    assert {row.id: row.n for row in opened._select()} == before
    assert all(indexing.is_unchanged(opened, row.path) for row in opened._select())
    assert not opened.refresh()


def test_a_command_checks_a_part_of_a_huge_store_and_all_that_it_shows(root, monkeypatch):
    settle(root)
    found(root, "zebra")
    put(root, topic("one", "okapi and zebra"))
    os.utime(os.path.join(root, "decisions"), (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr(refresh, "_MAX_CHECKED_FILES", 0)

    opened = index.open(root)

    assert [match.title for match in searching.find(opened, "zebra")] == ["About okapi and zebra"]
