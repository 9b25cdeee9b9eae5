"""Which anchors a record has after it is saved, updated or confirmed, and how its files are named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.errors import OnrecordError
from onrecord.freshness import anchors
from onrecord.git import repository
from onrecord.record.memory import Anchor, Memory
from tests.git_project import GitProject

OLD, NOW = "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"
BLOB = "5626abf0f72e58d7a153368ba57db4c673c0e171"
"""The id of `one` and a line end."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("def f():\n    pass\n")
    return tmp_path


def record_of(*files: str, pinned: tuple[Anchor, ...] = (), content: str = "c") -> Memory:
    return Memory("decision", "x", "X", {"context": content}, related_files=files, anchors=pinned, updated_at=OLD)


def shape(record: Memory) -> list[tuple[str, str, str]]:
    return [(anchor.path, anchor.symbol, anchor.date) for anchor in record.anchors]


def is_hash(anchor: Anchor) -> bool:
    return len(anchor.hash) == 32 and not anchor.blob and not anchor.commit


class TestAddMissing:
    def test_a_record_without_files_or_of_no_project_stays_as_it_is(self, folder: Path) -> None:
        bare = Anchor("a.py")

        assert anchors.add_missing(record_of(), str(folder), NOW) == record_of()
        assert anchors.add_missing(record_of("./a.py", pinned=(bare,)), "", NOW) == record_of("./a.py", pinned=(bare,))

    def test_a_bare_anchor_is_taken_and_keeps_what_this_version_does_not_know(self, folder: Path) -> None:
        record = record_of(pinned=(Anchor("a.py", symbol="f", unknown={"later": 1}),))

        (anchor,) = anchors.add_missing(record, str(folder), NOW).anchors

        assert (anchor.path, anchor.symbol, anchor.date, anchor.unknown) == ("a.py", "f", NOW, {"later": 1})
        assert is_hash(anchor) and anchor.block

    @pytest.mark.parametrize("id", [{"blob": "b" * 40}, {"hash": "h" * 32}])
    def test_an_anchor_with_an_id_is_kept(self, folder: Path, id: dict[str, str]) -> None:
        anchor = Anchor("a.py", date=OLD, **id)

        assert anchors.add_missing(record_of("a.py", pinned=(anchor,)), str(folder), NOW).anchors == (anchor,)

    def test_a_symbol_of_an_anchored_file_is_anchored_and_the_file_itself_is_not(self, folder: Path) -> None:
        part = Anchor("a.py", hash="h" * 32, symbol="f", date=OLD)
        whole = Anchor("a.py", hash="h" * 32, date=OLD)
        files = ("a.py", "a.py#f", "b.py")

        assert shape(anchors.add_missing(record_of(*files, pinned=(part,)), str(folder), NOW)) == [
            ("a.py", "f", OLD),
            ("b.py", "", NOW),
        ]
        assert shape(anchors.add_missing(record_of(*files, pinned=(whole,)), str(folder), NOW)) == [
            ("a.py", "", OLD),
            ("a.py", "f", NOW),
            ("b.py", "", NOW),
        ]

    def test_each_file_is_named_once_and_anchored_by_each_of_its_parts(self, folder: Path) -> None:
        record = anchors.add_missing(record_of("a.py#f", "b.py", "./a.py", "gone.py", "a.py#L1"), str(folder), NOW)

        assert record.related_files == ("a.py", "b.py", "gone.py")
        assert shape(record) == [("a.py", "f", NOW), ("b.py", "", NOW), ("a.py", "", NOW), ("a.py", "L1", NOW)]


class TestRenew:
    def test_new_content_takes_all_anchors_again_but_those_of_files_that_are_gone(self, folder: Path) -> None:
        pinned = (Anchor("a.py", hash="h" * 32, date=OLD), Anchor("gone.py", hash="g" * 32, date=OLD))
        before = record_of("a.py", "gone.py", pinned=pinned)

        after = anchors.renew(before, before._replace(content={"context": "d"}), str(folder), NOW)

        assert shape(after) == [("a.py", "", NOW), ("gone.py", "", OLD)]
        assert is_hash(after.anchors[0])
        assert after.anchors[1] == pinned[1]

    @pytest.mark.parametrize(
        "change", [{"title": "Y"}, {"content": {"context": "d"}, "anchors": (Anchor("a.py", hash="i" * 32),)}]
    )
    def test_the_same_content_and_anchors_that_came_with_the_update_are_kept(
        self, folder: Path, change: dict[str, object]
    ) -> None:
        before = record_of("a.py", pinned=(Anchor("a.py", hash="h" * 32, date=OLD),))
        after = before._replace(**change)  # type: ignore[arg-type]

        assert anchors.renew(before, after, str(folder), NOW) == after

    def test_a_store_of_no_project_keeps_its_anchors(self, folder: Path) -> None:
        before = record_of("a.py", pinned=(Anchor("a.py", hash="h" * 32, date=OLD),))
        after = before._replace(content={"context": "d"})

        assert anchors.renew(before, after, "", NOW) == after

    def test_the_anchor_of_a_file_taken_off_is_dropped_and_one_of_no_related_file_kept(self, folder: Path) -> None:
        pinned = tuple(Anchor(name, hash="h" * 32, date=OLD) for name in ("a.py", "b.py", "c.py"))
        before = record_of("a.py", "b.py", pinned=pinned)

        after = anchors.renew(before, before._replace(related_files=("b.py",)), str(folder), NOW)

        assert shape(after) == [("b.py", "", OLD), ("c.py", "", OLD)]


class TestConfirm:
    def test_all_anchors_are_taken_again_under_the_new_names_without_those_of_missing_files(self, folder: Path) -> None:
        pinned = (
            Anchor("old.py", hash="h" * 32, symbol="f", unknown={"later": 1}),
            Anchor("gone.py", hash="g" * 32),
            Anchor("b.py", blob="b" * 40, commit="c" * 40, date=OLD),
        )
        record = record_of("old.py", "gone.py", "b.py", "a.py", pinned=pinned)

        after = anchors.confirm(record, str(folder), NOW, {"old.py": "a.py"})

        assert after.related_files == ("a.py", "gone.py", "b.py")
        assert shape(after) == [("a.py", "f", NOW), ("b.py", "", NOW)]
        assert all(map(is_hash, after.anchors))
        assert after.anchors[0].unknown == {"later": 1}


class TestTake:
    def test_with_git_an_anchor_has_the_blob_and_the_commit(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("one\n")

        expected = Anchor("a.py", blob=BLOB, commit="c" * 40, date=NOW)
        assert anchors.take(str(tmp_path), "a.py", "", "c" * 40, NOW) == expected
        assert anchors.take(str(tmp_path), "a.py", "", "", NOW) == expected._replace(commit="")

    def test_an_update_with_git_takes_the_blob_at_the_current_commit(self, tmp_path: Path) -> None:
        project = GitProject(tmp_path)
        project.write("a.py", "one\n")
        head = project.commit()
        before = record_of("a.py", pinned=(Anchor("a.py", blob="b" * 40, commit="c" * 40, date=OLD),))

        after = anchors.renew(before, before._replace(content={"context": "d"}), str(tmp_path), NOW)

        assert after.anchors == (Anchor("a.py", blob=BLOB, commit=head, date=NOW),)
        repo = repository.find(str(tmp_path))
        assert repo and repo.head == head

    def test_a_disk_that_does_not_give_a_file_is_an_error_and_no_missing_file(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(path: str, *words: object) -> int:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr("onrecord.files.open_regular", fail)

        with pytest.raises(OnrecordError, match=r"a\.py") as error:
            anchors.take(str(folder), "a.py", "", None, NOW)
        assert error.value.code == "UNWRITABLE"


class TestIndexed:
    @pytest.mark.parametrize(
        ("anchor", "row"),
        [
            (Anchor("a.py", blob="b", commit="c", symbol="s", block="k", date=NOW),
             ("a.py", "b", "c", "2026-03-02", "s", "k")),
            (Anchor("a.py", hash="h"), ("a.py", "h", "", "2026-03-01", "", "")),
            (Anchor("a.py", blob="b", hash="h"), ("a.py", "b", "", "2026-03-01", "", "")),
            (Anchor("a.py"), None),
            (Anchor("", blob="b"), None),
        ],
    )  # fmt: skip
    def test_an_anchor_with_a_path_and_an_id_is_indexed(self, anchor: Anchor, row: tuple[str, ...] | None) -> None:
        assert anchors.to_indexed(record_of(pinned=(anchor,))) == ([row] if row else [])


class TestSplitReference:
    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("a.py", ("a.py", "")),
            ("./a.py", ("a.py", "")),
            (".///.//a.py", ("a.py", "")),
            ("a.py#f", ("a.py", "f")),
            ("./a.py#L1-L2", ("a.py", "L1-L2")),
            ("a.py#", ("a.py#", "")),
            ("none.py#f", ("none.py#f", "")),
            ("odd#name.py", ("odd#name.py", "")),
            ("../a.py#f", ("../a.py#f", "")),
            ("src/", ("src/", "")),
            ("./", ("./", "")),
            (".hidden", (".hidden", "")),
            ("/etc/passwd", ("/etc/passwd", "")),
        ],
    )
    def test_a_reference_is_a_path_of_the_project_and_a_part_of_a_file_that_is_there(
        self, folder: Path, text: str, parts: tuple[str, str]
    ) -> None:
        (folder / "odd").write_text("")
        (folder / "odd#name.py").write_text("")

        assert anchors.split_reference(str(folder), text) == parts

    def test_an_absolute_path_in_the_project_is_made_relative_also_through_a_link(self, folder: Path) -> None:
        (folder / "link").symlink_to(folder)

        assert anchors.split_reference(str(folder), f"{folder}/a.py#f") == ("a.py", "f")
        assert anchors.split_reference(str(folder / "link"), f"{folder}/a.py") == ("a.py", "")
        assert anchors.split_reference(str(folder), f"{folder}/link/a.py") == ("a.py", "")


@pytest.mark.parametrize(
    ("store", "root"),
    [("/p/.claude/memory", "/p"), ("/.claude/memory", "/"), ("/p/other", ""), ("/p/.claude/memory/x", "")],
)
def test_the_project_of_a_store(store: str, root: str) -> None:
    assert anchors.project_root(store) == root.replace("/", os.sep)
