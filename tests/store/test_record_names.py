"""Names of records and drafts: by their files, shortened, and as the beginning that tells them from others."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.errors import BadRecord, UnsafePath
from onrecord.store import record_names


@pytest.mark.parametrize(
    ("name", "is_slug"),
    [
        ("use-uv-2", True),
        ("a", True),
        ("a" * 80, True),
        ("a" * 81, False),
        ("", False),
        ("Use", False),
        ("X", False),
        ("a_b", False),
    ],
)
def test_a_name_that_the_program_gives(name: str, is_slug: bool) -> None:
    assert record_names.is_slug(name) is is_slug


@pytest.mark.parametrize(
    ("path", "id"),
    [("decisions/use-uv.json", "use-uv"), ("use-uv.json", "use-uv"), ("a/b/c.d.json", "c.d"), ("decisions/x", "x")],
)
def test_the_id_of_a_record_is_the_name_of_its_file(path: str, id: str) -> None:
    assert record_names.record_id(path) == id


@pytest.mark.parametrize(
    ("id", "beginning", "has_hash"),
    [
        ("use-uv", "use-uv", False),
        ("a" * 24, "a" * 24, False),
        ("a" * 25, "a" * 16, True),
        ("sessions-live-in-postgres", "sessions-live", True),
        ("abc-" + "d" * 30, "abc-" + "d" * 12, True),
        ("abcd-" + "e" * 30, "abcd", True),
        ("$(reboot)", "reboot", True),
        ("--help", "help", True),
        ("größe-neu", "gre-neu", True),
        ("abcdef-ghijklmno$", "abcdef-ghijklmno", True),
        ("abcdef-ghijklmnop$", "abcdef", True),
        ("データ", "", True),
    ],
)
def test_a_short_name_is_the_id_or_its_beginning_and_a_hash(id: str, beginning: str, has_hash: bool) -> None:
    name, dot, path_hash = record_names.short_name(f"decisions/{id}.json").partition(".")

    assert (name, bool(dot), len(path_hash)) == (beginning, has_hash, 6 * has_hash)


@pytest.mark.parametrize(
    ("name", "others", "beginning"),
    [
        ("sessions-live-in-postgres", [], "sessions-live"),
        ("sessions-live-in-postgres", ["sessions-live-elsewhere"], "sessions-live-in"),
        ("sessions-live-in-postgres", ["SESSIONS-LIVE-x"], "sessions-live-in"),
        ("sessions-live", ["sessions-live-elsewhere"], "sessions-live"),
        ("sessions", ["sessions-live"], "sessions"),
        ("2024", [], ""),
        ("2024-10", [], "2024-10"),
        ("$(reboot)-now", [], ""),
        ("a" * 30 + "-" + "b" * 29, [], "a" * 30 + "-" + "b" * 29),
        ("a" * 30 + "-" + "b" * 30, [], ""),
    ],
)
def test_the_beginning_that_only_one_name_has(name: str, others: list[str], beginning: str) -> None:
    assert record_names.beginning(name, others) == beginning


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Use uv, not pip", "use-uv-not-pip"),
        ("Don't panic", "dont-panic"),
        ("__init__ is  empty!", "init__-is-empty"),
        ("größe", "gr-e"),
        ("データ", ""),
        ("a" * 60 + "b", "a" * 60),
        ("a" * 59 + " b", "a" * 59),
    ],
)
def test_the_words_of_a_title_make_a_name(title: str, slug: str) -> None:
    assert record_names.slug(title) == slug


@pytest.mark.parametrize(
    ("name", "is_safe"), [("a-B_9", True), ("-a", False), ("a b", False), ("a.b", False), ("$x", False), ("ä", False)]
)
def test_a_name_that_needs_no_quotes(name: str, is_safe: bool) -> None:
    assert record_names.is_shell_safe(name) is is_safe


def test_a_short_name_with_a_hash_means_its_record_alone(tmp_path: Path) -> None:
    ids = ("sessions-live-in-postgres-since-may", "sessions-live-in-postgres-since-june", "use-uv")
    (tmp_path / "decisions").mkdir()
    for id in ids:
        (tmp_path / "decisions" / f"{id}.json").write_text("{}")
    path = f"decisions/{ids[0]}.json"
    name = record_names.short_name(path)
    beginning, _, path_hash = name.partition(".")

    assert record_names.with_short_name(str(tmp_path), name) == [path]
    for other in (path_hash, f"other.{path_hash}", f"{name}0", name[:-1], f"$({beginning}).{path_hash}", "use-uv"):
        assert record_names.with_short_name(str(tmp_path), other) == []


class TestFolders:
    def test_records_are_the_json_files_of_the_folders_of_categories(self, tmp_path: Path) -> None:
        for name in (
            "runbooks/b.json",
            "decisions/a.json",
            "decisions/.hidden.json",
            "decisions/a.txt",
            "other/c.json",
        ):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("{}")

        assert list(record_names.paths(str(tmp_path))) == ["decisions/a.json", "runbooks/b.json"]

    def test_a_file_in_place_of_a_folder_is_reported_where_that_counts(self, tmp_path: Path) -> None:
        (tmp_path / "decisions").write_text("")

        assert record_names.in_folder(str(tmp_path), "decisions") == []
        assert record_names.in_folder(str(tmp_path), "runbooks") == []
        with pytest.raises(BadRecord) as error:
            record_names.read_folder(str(tmp_path), "decisions")
        assert error.value.message == "decisions: it is a file, not a folder"
        assert error.value.fix == f"move {tmp_path / 'decisions'} away"

    def test_a_link_out_of_the_store_has_no_records(self, tmp_path: Path) -> None:
        store = tmp_path / "store"
        for folder in (tmp_path / "outside", store / "runbooks"):
            folder.mkdir(parents=True)
            (folder / "a.json").write_text("{}")
        (store / "decisions").symlink_to(tmp_path / "outside")
        (store / "constraints").symlink_to(store / "runbooks")

        assert record_names.in_folder(str(store), "decisions") == []
        assert record_names.in_folder(str(store), "constraints") == ["a.json"]
        with pytest.raises(UnsafePath):
            record_names.read_folder(str(store), "decisions")

    def test_drafts_are_named_in_order_up_to_a_thousand(self, tmp_path: Path) -> None:
        assert record_names.drafts(str(tmp_path)) == []
        (tmp_path / "inbox").mkdir()
        for name in ("b.json", "a.json", ".hidden.json", "c.txt"):
            (tmp_path / "inbox" / name).write_text("{}")
        assert record_names.drafts(str(tmp_path)) == ["a", "b"]

        (tmp_path / "inbox" / "c.txt").unlink()
        (tmp_path / "inbox" / ".hidden.json").unlink()
        for number in range(998):
            (tmp_path / "inbox" / f"{number:03}.json").write_text("{}")
        assert len(record_names.drafts(str(tmp_path))) == 1_000
        (tmp_path / "inbox" / "one-more.json").write_text("{}")
        assert len(record_names.drafts(str(tmp_path))) == 1_000

    def test_an_inbox_that_leads_out_of_the_store_has_no_drafts(self, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "a.json").write_text("{}")
        (tmp_path / "store").mkdir()
        (tmp_path / "store" / "inbox").symlink_to(tmp_path / "outside")

        assert record_names.drafts(str(tmp_path / "store")) == []
