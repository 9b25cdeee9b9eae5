"""The history of a store line by line: what is logged, what is read back, what an undo refuses and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.errors import CannotUndo, NotFound, Unwritable
from onrecord.record import author
from onrecord.store import history
from onrecord.store.history import LoggedChange, LoggedFile
from onrecord.store.store import Store
from tests.records import sample

FILE = LoggedFile("decisions/a.json", None, "h", "A")
GIT = "to see what was changed on this machine: onrecord log; git has the rest"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in author.HOST_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def log_file() -> Path:
    (file,) = Path(paths.state_dir(), "history").iterdir()
    return file


def refusal(store: Store, change_id: str = "") -> tuple[str, str]:
    with pytest.raises(CannotUndo) as error:
        history.undo(store, change_id)
    return error.value.message, error.value.fix


def not_found(store: Store, change_id: str = "") -> tuple[str, str]:
    with pytest.raises(NotFound) as error:
        history.undo(store, change_id)
    return error.value.message, error.value.fix


def test_a_change_is_read_back_as_it_was_logged(store: Store) -> None:
    files = (FILE, FILE._replace(path="decisions/b.json", before="text", after="", title="ü"))
    first = history.begin(store.root, "save", files)
    second = history.begin(store.root, "undo", (FILE,), undoes=first)
    history.end(store.root, second)

    changes = history.read(store.root)

    assert [change._replace(at="") for change in changes] == [
        LoggedChange(first, "", "save", "person", files, True, "", False, True),
        LoggedChange(second, "", "undo", "person", (FILE,), True, first, True, False),
    ]
    assert all(change.at.endswith("Z") and len(change.at) == 20 for change in changes)
    assert len({first, second}) == 2
    assert {len(first), len(second)} == {8} and not (first + second).strip("0123456789abcdef")


@pytest.mark.parametrize(
    ("action", "host", "by"),
    [
        ("save", "", "person"),
        ("save", "CODEX_SANDBOX", "agent (codex)"),
        ("import", "", "import"),
        ("import", "CODEX_SANDBOX", "import"),
        ("sync", "CODEX_SANDBOX", "sync"),
    ],
)
def test_a_change_is_by_a_person_an_agent_or_the_action_itself(
    store: Store, monkeypatch: pytest.MonkeyPatch, action: str, host: str, by: str
) -> None:
    if host:
        monkeypatch.setenv(host, "1")

    history.begin(store.root, action, (FILE,))

    assert history.read(store.root)[0].by == by
    assert history.author() == ("agent" if host else "person")


@pytest.mark.parametrize(("surplus", "is_whole"), [(0, True), (1, False)])
def test_a_change_of_up_to_six_million_characters_is_logged_with_its_texts(
    store: Store, surplus: int, is_whole: bool
) -> None:
    empty = history.begin(store.root, "save", (FILE._replace(before=""),))
    room = 6_000_000 - len(log_file().read_text().rstrip("\n"))
    file = FILE._replace(before="x" * (room + surplus))

    history.begin(store.root, "save", (file,))

    last = history.read(store.root)[-1]
    assert last.id != empty
    assert (last.is_whole, last.files) == (is_whole, (file if is_whole else FILE,))


def test_the_older_half_of_a_history_is_dropped_above_sixteen_million_bytes(store: Store) -> None:
    history.begin(store.root, "save", (FILE,))
    line = log_file().read_bytes()
    log_file().write_bytes(line + b"x" * (16_000_000 - 2 * len(line) - 1) + b"\n")

    for size in (16_000_000, 2 * len(line)):
        history.begin(store.root, "save", (FILE,))
        assert log_file().stat().st_size == size


@pytest.mark.parametrize(
    ("fields", "is_whole"),
    [
        ({}, True),
        ({"cut": True}, False),
        ({"cut": False}, True),
        ({"files": [list(FILE), "no file"]}, False),
        ({"files": [list(FILE), ["a", "b", "c"]]}, False),
        ({"files": [list(FILE)] * 2}, True),
        ({"undoes": 3}, True),
        ({"files": "none"}, None),
        ({"files": None}, None),
        ({"id": 1}, None),
        ({"at": None}, None),
        ({"action": []}, None),
        ({"by": {}}, None),
    ],
)
def test_a_line_with_a_damaged_field_is_no_change_or_not_a_whole_one(
    store: Store, fields: dict[str, object], is_whole: bool | None
) -> None:
    history.begin(store.root, "save", (FILE,))
    logged = json.loads(log_file().read_text())
    log_file().write_text(
        json.dumps({**logged, **fields}) + '\n[1]\nnonsense\n{}\n{"done": [1]}\n' + "[" * 100_000 + "\n"
    )

    changes = history.read(store.root)

    assert [change.is_whole for change in changes] == ([] if is_whole is None else [is_whole])
    assert all(change.undoes == "" and set(change.files) == {FILE} for change in changes)


def test_stores_have_histories_of_their_own_and_a_link_to_a_store_has_none(store: Store, tmp_path: Path) -> None:
    store.create(sample(id="a", title="A"))
    (tmp_path / "link").symlink_to(store.root)

    assert history.read(str(tmp_path / "other")) == []
    assert history.read(str(tmp_path / "link")) == history.read(store.root) != []
    history.forget(str(tmp_path / "link"))
    assert history.read(store.root) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('{"title": "A"}', "A"),
        ('{"record": {"title": "B"}, "title": "A"}', "B"),
        ('{"record": "x", "title": "A"}', "A"),
        ('{"title": 3}', ""),
        ('{"record": {"title": null}}', ""),
        ("{}", ""),
        ("[]", ""),
        ("nonsense", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_title_in_a_text(text: str | None, title: str) -> None:
    assert history.title_in(text) == title


def test_what_cannot_be_undone_says_why_and_what_to_do(store: Store) -> None:
    assert not_found(store) == ("there is no change to undo", GIT)
    assert not_found(store, "abc") == ("no change 'abc' is in the log", GIT)

    store.create(sample(id="a", title="A"))
    (change,) = history.read(store.root)
    Path(store.root, "decisions/a.json").write_text("mine")
    assert refusal(store) == (
        f"the save of {change.at} cannot be undone: changed since: decisions/a.json",
        "to see later changes, which can be undone first: onrecord log; to undo the rest and leave these files as they "
        f"are: onrecord undo {change.id} --skip-changed",
    )
    Path(store.root, "decisions/a.json").unlink()
    history.undo(store)
    assert refusal(store, change.id[:6]) == (f"the change {change.id} is already undone", "onrecord log")
    assert not_found(store) == ("there is no change to undo", GIT)


def test_a_sync_is_passed_over_and_refused_by_name(store: Store) -> None:
    store.create(sample(id="a", title="A"))
    sync = history.begin(store.root, "sync", (FILE,))
    history.end(store.root, sync)
    at = history.read(store.root)[-1].at

    assert refusal(store, sync) == (
        f"the sync of {at} cannot be undone: the shared store would get the old versions",
        "change or retire its records one by one; to see which: onrecord log",
    )
    assert history.undo(store).change.action == "save"


def test_a_change_too_large_to_keep_names_its_size(store: Store) -> None:
    logged = [list(FILE._replace(path=f"decisions/{number}.json")) for number in range(1_200)]
    history.begin(store.root, "import", (FILE,))
    fields = json.loads(log_file().read_text())
    log_file().write_text(
        "\n".join(map(json.dumps, ({**fields, "files": logged, "cut": True}, {"done": fields["id"]}))) + "\n"
    )

    assert refusal(store) == (
        f"the import of {fields['at']} changed 1,200 files, too much to keep the old versions",
        "restore them with git: git log -- .claude/memory",
    )


def test_a_change_whose_writer_died_at_once_is_passed_over(store: Store) -> None:
    store.create(sample(id="a", title="A"))
    history.begin(store.root, "save", (LoggedFile("decisions/b.json", None, "h", "B"),))

    assert [file.path for file in history.undo(store).restored] == ["decisions/a.json"]


def test_an_undo_is_logged_and_is_not_the_last_change_to_undo(store: Store) -> None:
    store.create(sample(id="a", title="A"))
    history.undo(store)
    first, undo = history.read(store.root)

    assert (undo.action, undo.undoes, undo.is_done, first.is_undone) == ("undo", first.id, True, True)
    assert not_found(store) == ("there is no change to undo", GIT)
    assert history.undo(store, undo.id).change.id == undo.id


def test_a_file_that_cannot_be_read_is_an_error_and_a_missing_one_has_no_hash(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.json").write_text("x")

    assert history.current_data(str(tmp_path), "none.json") is None
    assert history.current_hash(str(tmp_path), "none.json") == history.text_hash(None) == history.data_hash(None) == ""
    assert history.current_hash(str(tmp_path), "a.json") == history.text_hash("x") == history.data_hash(b"x") != ""
    with pytest.raises(Unwritable, match=r"cannot read .*folder") as error:
        history.current_data(str(tmp_path), "folder")
    assert error.value.fix == "check the file's type and permissions"
