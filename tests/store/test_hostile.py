"""Hostile files in a store: each gives one clear message, and the other records stay usable."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import onrecord
from onrecord import state_file
from onrecord.errors import AlreadyExists, Invalid, OnrecordError, UnsafePath, Unwritable
from onrecord.record import compose, memory
from onrecord.search import document, index
from onrecord.settings import Settings, load_settings
from onrecord.store import index_md
from onrecord.store.store import Broken, Entry, Store
from onrecord.store.writer import Writer
from tests.records import LATER, raw, sample

pytestmark = pytest.mark.skipif(os.name == "nt", reason="built from what POSIX allows")


def _json(**fields: object) -> bytes:
    return json.dumps({**raw(id="bad"), **fields}).encode()


CORPUS: dict[str, tuple[bytes, str]] = {
    "not UTF-8": (b'{"title": "\xe9"}', "not UTF-8"),
    "UTF-16": ("{}".encode("utf-16"), "not UTF-8"),
    "NUL bytes": (b"\0" * 100, "not JSON"),
    "empty": (b"", "not JSON"),
    "cut off": (_json()[:-20], "not JSON"),
    "git conflict": (b"<<<<<<< ours\n" + _json() + b"=======\n", "the markers of a git conflict"),
    "lone surrogate": (_json(title="\ud800 half"), "half a surrogate pair"),
    "list": (b"[1, 2]", "must be a JSON object, not a list"),
    "text": (b'"a record"', "must be a JSON object, not a text"),
    "large": (_json(note="x" * 1_000_000), "larger than 1,000,000 bytes"),
    "deep": (b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested too deeply"),
    "deep and open": (b"[" * 10_000, "nested too deeply"),
    "infinite": (_json(note=0).replace(b'"note": 0', b'"note": 1e999'), "too large a number"),
    "not a number": (_json(note=0).replace(b'"note": 0', b'"note": NaN'), "NaN is not JSON"),
    "endless number": (_json(note=0).replace(b'"note": 0', b'"note": ' + b"7" * 10_000), "not JSON"),
    "another's name": (_json(id="good"), "says it is decisions/good.json"),
    "another's category": (json.dumps(raw("runbook", id="bad")).encode(), "says it is runbooks/bad.json"),
    "path as id": (_json(id="../../etc/passwd"), "id: must be a slug"),
    "future version": (_json(schema_version="9.0"), "schema_version: must be"),
    "no category": (_json(category="rumour"), "category: must be one of"),
    "content is a list": (_json(content=[]), "content: must be an object"),
    "tags are a text": (_json(tags="a,b"), "tags: must be a list"),
    "tags are numbers": (_json(tags=[1]), "tags[0]: must be a text"),
    "title is an object": (_json(title={"a": 1}), "title: must be a text"),
    "rationale is a text": (_json(content={**raw()["content"], "rationale": "x"}), "content.rationale: must be a list"),
    "status is true": (_json(content={**raw()["content"], "status": True}), "content.status: must be a text"),
    "changes hold a text": (_json(changes=["x"]), "changes[0]: must be an object"),
    "anchors are an object": (_json(anchors={}), "anchors: must be a list"),
    "confidence is true": (_json(confidence=True), "confidence: must be a number"),
    "times_updated is a text": (_json(times_updated="1"), "times_updated: must be a whole number"),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one good record in it."""
    new_store = Store(str(tmp_path / "store"))
    new_store.create(sample(id="good"))
    return new_store


@pytest.mark.parametrize("name", CORPUS)
def test_a_bad_file_is_reported_and_stops_nothing(store, name):
    data, reason = CORPUS[name]
    _place(store, "decisions/bad.json", data)

    (broken,) = _broken(store)

    assert broken.path == "decisions/bad.json"
    assert reason in broken.error.message
    assert broken.error.fix
    assert "\n" not in broken.error.message
    _assert_the_rest_works(store)


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "x", [], {}, [[]], {"a": {}}, "\0", 10**300])
def test_wrong_types_everywhere_are_refused_or_harmless(store, value):
    record = raw(id="bad", anchors=[{"path": "a"}], changes=[{"date": LATER, "summary": "x"}], scope={"paths": []})
    places = [(record, key) for key in record]
    places += [(part, key) for part in (record["content"], record["anchors"][0], record["changes"][0]) for key in part]
    for holder, key in places:
        old_value, holder[key] = holder[key], value
        _place(store, "decisions/bad.json", json.dumps(record).encode())
        for entry in store.scan():
            assert isinstance(entry, (Entry, Broken))
        holder[key] = old_value
    os.remove(os.path.join(store.root, "decisions", "bad.json"))
    _assert_the_rest_works(store)


@pytest.mark.parametrize("name", ["a\nb.json", "\x1b[31m.json", "caf\udce9.json", "a b.json", "é.json", "con.json."])
def test_a_name_that_is_no_id_is_reported_on_one_printable_line(store, name):
    _place(store, os.path.join("decisions", name), _json())

    messages = [broken.error.message for broken in _broken(store)]

    assert all(message.isprintable() for message in messages)
    assert len(messages) == name.endswith(".json")
    _assert_the_rest_works(store)


def test_a_fifo_does_not_hang_anything(store):
    for name in ("decisions/pipe.json", "index.md", "memory-config.json", ".journal"):
        path = os.path.join(store.root, name)
        if os.path.exists(path):
            os.remove(path)
        os.mkfifo(path)

    with _at_most(10):
        (broken,) = _broken(store)
        settings = load_settings(store.root)
        _assert_the_rest_works(store)

    assert broken.error.message == "decisions/pipe.json: not a regular file"
    assert [problem.key for problem in settings.problems] == ["(whole file)"]
    assert stat.S_ISREG(os.lstat(os.path.join(store.root, "index.md")).st_mode)
    assert not store.is_interrupted


def test_a_folder_with_the_name_of_a_record_is_reported_and_never_replaced(store):
    os.mkdir(os.path.join(store.root, "decisions", "folder.json"))

    (broken,) = _broken(store)
    with pytest.raises(AlreadyExists):
        store.create(sample(id="folder"))

    assert broken.error.message == "decisions/folder.json: not a regular file"
    assert not store.is_interrupted
    _assert_the_rest_works(store)


def test_a_file_that_is_a_link_out_of_the_store_is_refused(store, tmp_path):
    secret_file = tmp_path / "secret.json"
    secret_file.write_bytes(memory.render(sample(id="linked")))
    os.symlink(secret_file, os.path.join(store.root, "decisions", "linked.json"))

    (broken,) = _broken(store)
    for act in (lambda: store.get("linked"), lambda: _writer(store).retire("linked", "x")):
        with pytest.raises(UnsafePath):
            act()

    assert isinstance(broken.error, UnsafePath)
    assert secret_file.read_bytes() == memory.render(sample(id="linked"))
    _assert_the_rest_works(store)


def test_a_folder_that_is_a_link_out_of_the_store_is_refused(store, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.json").write_bytes(memory.render(sample("runbook", id="x")))
    os.symlink(outside, os.path.join(store.root, "runbooks"))

    (broken,) = _broken(store)
    with pytest.raises(UnsafePath):
        store.create(sample("runbook", id="new"))

    assert (broken.path, type(broken.error)) == ("runbooks", UnsafePath)
    assert os.listdir(outside) == ["x.json"]
    _assert_the_rest_works(store)


def test_links_that_lead_nowhere_or_in_circles_are_reported(store):
    for name, target in (("nowhere.json", "gone.json"), ("circle.json", "circle.json")):
        os.symlink(target, os.path.join(store.root, "decisions", name))

    assert sorted(broken.path for broken in _broken(store)) == ["decisions/circle.json", "decisions/nowhere.json"]
    with pytest.raises(AlreadyExists):
        store.create(sample(id="nowhere"))
    _assert_the_rest_works(store)


def test_a_lock_that_is_a_link_creates_nothing_where_it_leads(store, tmp_path):
    os.remove(os.path.join(store.root, ".lock"))
    os.symlink(tmp_path / "created", os.path.join(store.root, ".lock"))

    with pytest.raises(Unwritable):
        store.create(sample(id="new"))

    assert not (tmp_path / "created").exists()


@pytest.mark.parametrize("folder", ["decisions", "constraints"])
def test_a_file_in_the_place_of_a_folder_is_reported(tmp_path, folder):
    store = Store(str(tmp_path))
    store.create(sample("runbook", id="good"))
    (tmp_path / folder).write_text("not a folder")

    (broken,) = _broken(store)

    assert broken.path == folder
    with pytest.raises(Unwritable):
        store.create(sample(folder.rstrip("s"), id="new"))
    assert not store.is_interrupted
    assert store.get("good").memory.id == "good"


JOURNALS = {
    "not UTF-8": b"\xff",
    "not JSON": b"{",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "a path out of the store": json.dumps({"decisions/../../evil.json": ["", "{}"]}).encode(),
    "an absolute path": json.dumps({"/tmp/evil.json": ["", "{}"]}).encode(),
    "another file of the store": json.dumps({"memory-config.json": ["", "{}"]}).encode(),
    "a hidden file": json.dumps({"decisions/.evil.json": ["", "{}"]}).encode(),
    "no name": json.dumps({"decisions/": ["", "{}"]}).encode(),
    "not a record": json.dumps({"decisions/evil.json": ["", "{}"]}).encode(),
    "half a surrogate": json.dumps({"decisions/evil.json": ["", "\ud800"]}).encode(),
    "another's record": json.dumps({"decisions/evil.json": ["", memory.render(sample(id="x")).decode()]}).encode(),
    "a number": json.dumps({"decisions/evil.json": 5, "decisions/good.json": [1, 2, 3]}).encode(),
    "numbers": json.dumps({"decisions/evil.json": [1, 2]}).encode(),
    "deletes what changed since": json.dumps({"decisions/good.json": ["0" * 32, None]}).encode(),
    "reverts what changed since": json.dumps(
        {"decisions/good.json": ["0" * 32, memory.render(sample(id="good", title="Reverted")).decode()]}
    ).encode(),
    "NUL": json.dumps({"decisions/\0.json": ["", None]}).encode(),
}


@pytest.mark.parametrize("name", JOURNALS)
def test_a_journal_that_no_writer_wrote_changes_nothing(store, name, tmp_path):
    _place(store, ".journal", JOURNALS[name])
    before = _tree(tmp_path)

    store.recover()

    before.pop("store/.journal")
    assert _tree(tmp_path) == before
    _assert_the_rest_works(store)


def test_a_journal_that_is_a_link_is_removed_and_not_followed(store, tmp_path):
    step = {"decisions/evil.json": ["", memory.render(sample(id="evil")).decode()]}
    (tmp_path / "elsewhere").write_text(json.dumps(step))
    os.symlink(tmp_path / "elsewhere", os.path.join(store.root, ".journal"))

    store.recover()

    assert not store.has("evil")
    assert (tmp_path / "elsewhere").exists()
    _assert_the_rest_works(store)


def test_a_journal_for_a_folder_does_not_lock_the_store_for_ever(store):
    os.mkdir(os.path.join(store.root, "decisions", "x.json"))
    _place(store, ".journal", json.dumps({"decisions/x.json": ["", None]}).encode())

    _assert_the_rest_works(store)


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "\ud800", "content": {}},
        {"title": "x", "decision": "\ud800 half"},
        {"title": "x", "note": json.loads("[" * 500 + "]" * 500)},
        {"title": "x", "note": "y" * 1_000_000},
        {"title": "x" * 1_000_000},
        {"title": "x", "tags": ["t"] * 100_000},
        {"title": "x", "id": "../x"},
        {"title": "x", "id": "a\0b"},
        {"title": "x", "content": {"decision": {"deep": [1]}}},
        {"title": 5},
        {"title": "x", "content": []},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_hostile_input_is_refused_with_a_fix(fields):
    with pytest.raises(OnrecordError) as caught:
        compose.compose("decision", fields)

    assert caught.value.fix
    assert len(caught.value.message) < 2_000


def test_a_record_too_large_to_be_read_again_was_written(store):
    lines = ["一" * 4_000] * 100
    with pytest.raises(Invalid, match="larger than 1,000,000 bytes"):
        compose.compose("runbook", {"title": "Long", "trigger": "x", "verification": "y", "steps": lines})

    with pytest.raises(Invalid, match="larger than"):
        _writer(store).update("good", {"content": {"rationale": lines}}, store.get("good").hash)
    assert store.get("good").memory == sample(id="good")


def test_a_config_of_many_misspelt_keys_costs_a_hook_nothing(store):
    _place(store, "memory-config.json", json.dumps({f"retrieval.max_inject{n}": 1 for n in range(20_000)}).encode())

    with _at_most(5):
        settings = load_settings(store.root)

    assert len(settings.problems) == 100
    assert settings.problems[0].message == "is not a setting; did you mean retrieval.max_inject?"


@pytest.mark.skipif(sys.platform != "linux", reason="drops privileges")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_store_that_cannot_be_written_can_still_be_read(store):
    def work():
        (entry,) = store.scan()
        assert entry.memory.id == "good"
        for act in (lambda: store.create(sample(id="new")), lambda: _writer(store).retire("good", "x")):
            try:
                act()
            except Unwritable as error:
                assert "Permission denied" in error.message
            else:
                raise AssertionError("it was written")

    os.remove(os.path.join(store.root, ".lock"))
    _open_to_all(store.root)
    os.chmod(store.root, 0o555)
    os.chmod(os.path.join(store.root, "decisions"), 0o555)

    assert _as_nobody(work) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="drops privileges")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_folder_and_a_file_that_cannot_be_read_are_reported(store):
    store.create(sample("runbook", id="other"))
    store.create(sample(id="hidden"))

    def work():
        is_readable = {entry.path: isinstance(entry, Entry) for entry in store.scan()}
        assert is_readable == {"decisions/good.json": True, "decisions/hidden.json": False, "runbooks": False}, (
            is_readable
        )

    _open_to_all(store.root)
    os.chmod(os.path.join(store.root, "decisions", "hidden.json"), 0)
    os.chmod(os.path.join(store.root, "runbooks"), 0)

    assert _as_nobody(work) == ""


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("room", [0, 100, 3_000])
def test_a_full_disk_loses_nothing_that_was_there(store, room):
    """A limit on file size refuses writes as a full disk does."""
    before = _tree(Path(store.root))

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        content = {**raw()["content"], "context": "x" * 4_000}
        try:
            store.create(sample(id="new", content=content))
        except Unwritable as error:
            assert "File too large" in error.message
        else:
            raise AssertionError("it was written")

    assert _in_child(work) == ""
    after = _tree(Path(store.root))
    assert {path: data for path, data in after.items() if path in before} == before
    assert not store.is_interrupted
    assert not store.has("new")
    _assert_the_rest_works(store)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few pages, where mounting one is allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False, timeout=120).returncode:
        pytest.skip("no small file system can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True, timeout=120)


@pytest.mark.parametrize("pages", range(8))
def test_a_disk_that_fills_up_at_any_step_leaves_the_old_state_or_the_new(small_disk, pages):
    store = Store(str(small_disk / "store"))
    store.create(sample(id="good"))
    content = {**raw()["content"], "context": "x" * 6_000}
    _fill(small_disk, leave=pages * 4_096)

    try:
        store.create(sample(id="new", content=content))
        written = True
    except Unwritable as error:
        assert "No space left" in error.message
        written = False
    (small_disk / "filler").unlink()

    assert store.get("good").memory == sample(id="good")
    store.recover()
    assert _broken(store) == []
    assert store.has("new") or not written
    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []
    assert pages < 7 or written


def _fill(disk: Path, leave: int) -> None:
    free = os.statvfs(disk)
    (disk / "filler").write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - leave))


def _place(store: Store, path: str, data: bytes) -> None:
    full = os.path.join(store.root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data)


def _broken(store: Store) -> list[Broken]:
    return [entry for entry in store.scan() if isinstance(entry, Broken)]


def _writer(store: Store) -> Writer:
    return Writer(store, Settings(), now=LATER)


def _assert_the_rest_works(store: Store) -> None:
    """Reading, writing, changing and listing go on as if nothing bad were there."""
    assert store.get("good").memory.id == "good"
    store.create(sample(id="fresh"))
    writer = _writer(store)
    writer.update("fresh", {"tags": ["more"]}, store.get("fresh").hash)
    writer.retire("fresh", "tried")
    writer.collect()
    assert {"good", "fresh"} <= {entry.memory.id for entry in store.entries()}
    assert "decisions/good.json" in index_md.read(store.root)


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Fail instead of hanging: the alarm breaks into whatever is going on."""

    def ring(*_: object) -> None:
        raise AssertionError(f"still going after {seconds} seconds of CPU and waiting")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds * 6)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _open_to_all(root: str) -> None:
    """Let an unprivileged child reach the store: pytest's own folders are closed to others."""
    for folder, _, names in os.walk(root):
        os.chmod(folder, 0o777)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o666)
    parent = Path(root).parent
    while parent != parent.parent and not parent.stat().st_mode & stat.S_IXOTH:
        os.chmod(parent, parent.stat().st_mode | stat.S_IXOTH)
        parent = parent.parent


def _as_nobody(work) -> str:
    def unprivileged() -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65_534)
            os.setuid(65_534)
        work()

    return _in_child(unprivileged)


def _in_child(work) -> str:
    """Run `work` in a child process and return its error; empty if there was none."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            os.write(sink, f"{type(error).__name__}: {error}"[:2_000].encode())
            os._exit(1)
        os._exit(0)
    os.close(sink)
    os.waitpid(child, 0)
    with open(source, encoding="utf-8") as said:
        return said.read()


DECISION_CONTENT = {"context": "c", "decision": "d", "rationale": ["r"]}
HUGE = ("9" * 4_300, "9" * 400, "-" + "9" * 20, "1" + "0" * 308, str(2**63))
PLACES = {
    "confidence": '"confidence": N',
    "times_updated": '"times_updated": N',
    "history": '"changes": [{"date": "2026-03-02T09:30:00Z", "summary": "s", "old": N}]',
    "scope": '"scope": {"x": [N]}',
    "anchor": '"anchors": [{"path": "a.py", "x": {"y": N}}]',
    "unknown": '"note": [[N]]',
}


@pytest.mark.parametrize("number", HUGE, ids=lambda number: f"{len(number)} digits")
@pytest.mark.parametrize("place", PLACES)
def test_a_record_with_a_huge_number_silences_no_other(tmp_path, place, number):
    project = onrecord.open(str(tmp_path))
    project.save("decision", {"title": "Jobs are rows", **DECISION_CONTENT})
    text = json.dumps(raw(id="huge", title="Jobs are huge"))[:-1] + ", " + PLACES[place].replace("N", number) + "}"
    Path(project.store.root, "decisions", "huge.json").write_text(text)

    assert [hit.id for hit in project.search("jobs rows")] == ["jobs-are-rows"]
    assert [broken.path for broken in project.store.scan() if isinstance(broken, Broken)] == ["decisions/huge.json"]
    assert state_file.recent_failures() == []


def test_a_number_out_of_range_that_can_be_read_is_a_flaw_and_nothing_more(tmp_path):
    project = onrecord.open(str(tmp_path))
    project.save("decision", {"title": "Jobs are rows", **DECISION_CONTENT})
    for name, confidence in (("high", 1e308), ("low", -(10**18))):
        text = json.dumps(raw(id=name, title=f"Jobs are {name}", confidence=confidence, times_updated=2**63 - 1))
        Path(project.store.root, "decisions", f"{name}.json").write_text(text)

    assert {hit.id for hit in project.search("jobs")} == {"jobs-are-rows", "high", "low"}
    facts = index.open(project.store.root)._connection.execute("SELECT facts FROM record ORDER BY id").fetchall()
    assert [json.loads(row[0])[1] for row in facts] == [3, 2.0, 0]


def test_what_fails_while_one_record_is_indexed_is_logged_and_the_others_are_found(tmp_path, monkeypatch):
    project = onrecord.open(str(tmp_path))
    for title in ("Jobs are rows", "Mail is sent by cron"):
        project.save("decision", {"title": title, **DECISION_CONTENT})
    whole = document.build
    monkeypatch.setattr(document, "build", lambda record: 1 // 0 if "rows" in record.title else whole(record))

    assert [hit.id for hit in project.search("jobs mail cron rows")] == ["mail-is-sent-by-cron"]
    assert [(what, error[:17]) for _, what, error in state_file.recent_failures()] == [
        ("index decisions/jobs-are-rows.json", "ZeroDivisionError")
    ]
