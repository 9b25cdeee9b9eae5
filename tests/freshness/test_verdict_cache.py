"""A verdict is kept until its file changes, or until another commit where it depends on one, and in whole lines."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from onrecord import paths, state_file
from onrecord.freshness import anchors, check, project_files
from onrecord.freshness.check import Freshness, IndexedAnchor, Verdict, VerdictCache
from onrecord.record.memory import Memory
from tests.git_project import GitCalls, GitProject

NOW = "2026-03-01T00:00:00Z"
MOMENT = 1_700_000_000
ANCHOR = IndexedAnchor("a.py", "b" * 40, "c" * 40, "2026-03-01", "f", "d" * 32)
VERDICT = Verdict(ANCHOR, "changed", "new.py", 12, "e" * 40, "2026-03-09")


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    git_project = GitProject(tmp_path / "project")
    write(git_project.root, "a.py", "one\n" * 9)
    git_project.commit()
    return git_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.py", "new.py"):
        write(tmp_path, name, "x\n")
    return tmp_path


class Reads:
    """Counts how often files of a project are read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self._read = project_files.read
        monkeypatch.setattr(project_files, "read", self)

    def __call__(self, root: str, path: str) -> bytes | None:
        self.times += 1
        return self._read(root, path)


def write(root: Path, name: str, text: str, moment: int = MOMENT) -> None:
    """Write a file that looks older than a few seconds, so that verdicts on it are kept."""
    (root / name).write_text(text)
    os.utime(root / name, (moment, moment))


def anchored(root: Path, *files: str) -> list[IndexedAnchor]:
    record = Memory("decision", "x", "X", {}, related_files=files)
    return anchors.to_indexed(anchors.add_missing(record, str(root), NOW))


def verdicts(root: Path, *indexed: IndexedAnchor) -> list[Verdict]:
    freshness = Freshness(str(root), patience=60)
    return [freshness.check(anchor) for anchor in indexed]


def cache_file() -> Path:
    (file,) = Path(paths.cache_dir()).glob("*.anchors")
    return file


@pytest.mark.parametrize("head", ["", "f" * 40])
def test_a_verdict_is_kept_whole_for_this_process_and_the_next(folder: Path, head: str) -> None:
    cache = VerdictCache(str(folder))
    assert cache.get(ANCHOR) is None

    cache.add(head, VERDICT)

    assert cache.get(ANCHOR) == (head, VERDICT)
    assert VerdictCache(str(folder)).get(ANCHOR) == (head, VERDICT)


def test_the_last_of_several_verdicts_counts_and_one_does_not_replace_that_of_another_file(folder: Path) -> None:
    other = Verdict(ANCHOR._replace(path="new.py"), "fresh", "new.py")
    cache = VerdictCache(str(folder))
    assert cache.get(ANCHOR) is None
    for verdict in (VERDICT, other, VERDICT._replace(commits=-1, last="", day="")):
        cache.add("", verdict)

    assert cache.get(ANCHOR) == ("", VERDICT._replace(commits=-1, last="", day=""))
    assert cache.get(other.anchor) == ("", other)


def test_a_verdict_added_before_any_was_asked_for_hides_none_of_an_earlier_process(folder: Path) -> None:
    VerdictCache(str(folder)).add("", VERDICT)
    cache = VerdictCache(str(folder))

    cache.add("", Verdict(ANCHOR._replace(symbol="g"), "fresh", "a.py"))

    assert cache.get(ANCHOR) == ("", VERDICT)


@pytest.mark.parametrize("field", IndexedAnchor._fields)
def test_each_field_of_an_anchor_tells_it_from_another(folder: Path, field: str) -> None:
    cache = VerdictCache(str(folder))
    cache.add("", VERDICT)

    assert cache.get(ANCHOR._replace(**{field: "other"})) is None
    assert cache.get(ANCHOR._replace(symbol="fd", block="d" * 31)) is None


@pytest.mark.parametrize("name", ["a.py", "new.py"])
def test_a_verdict_ends_when_the_file_changes_where_it_was_or_is(folder: Path, name: str) -> None:
    cache = VerdictCache(str(folder))
    cache.add("", VERDICT)
    write(folder, name, "x\n", MOMENT + 1)
    assert cache.get(ANCHOR) is None
    write(folder, name, "longer\n")
    assert cache.get(ANCHOR) is None
    (folder / name).unlink()
    assert cache.get(ANCHOR) is None


def test_a_verdict_ends_when_another_file_of_the_same_size_and_age_takes_its_place(folder: Path) -> None:
    cache = VerdictCache(str(folder))
    cache.add("", VERDICT)
    write(folder, "third.py", "y\n")

    os.replace(folder / "third.py", folder / "a.py")

    assert cache.get(ANCHOR) is None


@pytest.mark.parametrize(("age", "is_kept"), [(-0.5, True), (0, False), (1.75, False), (2, True), (60, True)], ids=str)
def test_a_verdict_on_a_file_of_the_last_two_seconds_is_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, age: float, is_kept: bool
) -> None:
    monkeypatch.setattr(check, "time", SimpleNamespace(time=lambda: MOMENT + age))
    cache = VerdictCache(str(folder))

    cache.add("", VERDICT)

    assert (cache.get(ANCHOR) is not None) is is_kept
    cache.add("", VERDICT._replace(now="gone.py", state="missing"))
    assert cache.get(ANCHOR) is not None, "a file that is not there has no age"


@pytest.mark.parametrize("sign", ["\t", "\n"])
def test_a_path_with_a_separator_is_kept_out_of_the_cache(folder: Path, sign: str) -> None:
    cache = VerdictCache(str(folder))

    cache.add("", VERDICT._replace(now=f"a{sign}b"))
    cache.add("", VERDICT)

    assert [line.count("\t") for line in cache_file().read_text().splitlines()] == [7]


@pytest.mark.parametrize(
    ("field", "text"), [(1, "-"), (3, "unknown"), (3, ""), (4, ""), (4, "--1"), (4, "1.5"), (7, "b.py\t"), (7, "b.py")]
)
def test_a_line_with_a_damaged_field_counts_as_none(folder: Path, field: int, text: str) -> None:
    VerdictCache(str(folder)).add("", VERDICT)
    parts = cache_file().read_text().rstrip("\n").split("\t")
    parts[field] = text
    cache_file().write_text("\t".join(parts) + "\n")

    assert VerdictCache(str(folder)).get(ANCHOR) is None


def test_the_older_half_is_dropped_above_half_a_megabyte(folder: Path) -> None:
    cache = VerdictCache(str(folder))
    cache.add("", VERDICT)
    line = cache_file().read_bytes()
    count = 500_000 // len(line)
    cache_file().write_bytes(line * (count - 1) + b"x" * (500_000 - len(line) * count - 1) + b"\n")

    cache.add("", VERDICT)
    assert cache_file().stat().st_size == 500_000
    cache.add("", VERDICT)
    assert 249_000 < cache_file().stat().st_size < 251_000
    assert VerdictCache(str(folder)).get(ANCHOR) == ("", VERDICT)


def test_a_cache_that_cannot_be_written_is_reported_as_that_of_freshness(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ONRECORD_CACHE_DIR", str(tmp_path / "file" / "below"))

    VerdictCache(str(folder)).add("", VERDICT)

    assert {owner for _, owner, _ in state_file.recent_failures()} == {"freshness"}


def test_a_project_in_a_folder_that_is_not_utf8_has_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        root.mkdir()
    except OSError:  # macOS refuses such names
        pytest.skip("this file system refuses names that are not UTF-8")
    write(root, "a.py", "x\n")
    (anchor,) = anchored(root, "a.py")

    first, reads = verdicts(root, anchor), Reads(monkeypatch)

    assert (verdicts(root, anchor), reads.times) == (first, 0)


class TestReading:
    """A file is read once for each of its versions."""

    def test_a_fresh_file_is_read_once_whatever_is_committed(
        self, project: GitProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reads, indexed = Reads(monkeypatch), anchored(project.root, "a.py")
        reads.times = 0

        first = verdicts(project.root, *indexed)
        project.write("unrelated.txt", "x")
        project.commit()

        assert first == [Verdict(indexed[0], "fresh", "a.py", -1, "", "", "")]
        assert (verdicts(project.root, *indexed), reads.times) == (first, 1)

    def test_a_changed_file_is_read_once_until_it_is_committed_or_another_commit(
        self, project: GitProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (anchor,) = anchored(project.root, "a.py")
        write(project.root, "a.py", "two\n")
        reads, git_calls = Reads(monkeypatch), GitCalls(monkeypatch)

        for _ in range(2):
            assert verdicts(project.root, anchor) == [Verdict(anchor, "changed", "a.py", 0, "", "", "")]
        assert (reads.times, git_calls.times) == (1, 0)
        last = project.commit()
        for _ in range(2):
            assert verdicts(project.root, anchor) == [Verdict(anchor, "changed", "a.py", 1, last, "2026-03-03", "")]
        assert reads.times == 2

    def test_before_the_first_commit_a_change_is_not_kept(self, tmp_path: Path) -> None:
        project = GitProject(tmp_path / "new")
        write(project.root, "a.py", "one\n")
        (anchor,) = anchored(project.root, "a.py")
        write(project.root, "a.py", "two\n")
        assert verdicts(project.root, anchor) == [Verdict(anchor, "changed", "a.py", 0, "", "", "")]

        project.commit()

        assert verdicts(project.root, anchor) == [Verdict(anchor, "changed", "a.py", -1, "", "", "")]

    def test_without_git_a_changed_or_missing_file_is_read_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("a.py", "b.py"):
            write(tmp_path, name, "one\n")
        changed, missing = anchored(tmp_path, "a.py", "b.py")
        write(tmp_path, "a.py", "two\n")
        (tmp_path / "b.py").unlink()
        reads = Reads(monkeypatch)

        for _ in range(2):
            assert verdicts(tmp_path, changed, missing) == [
                Verdict(changed, "changed", "a.py", -1, "", "", ""),
                Verdict(missing, "missing", "b.py", -1, "", "", ""),
            ]
        assert reads.times == 2

    def test_a_moved_file_is_looked_for_once_whatever_is_committed(
        self, project: GitProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (anchor,) = anchored(project.root, "a.py")
        project.git("mv", "a.py", "b.py")
        project.commit()
        first, git_calls = verdicts(project.root, anchor), GitCalls(monkeypatch)
        project.write("unrelated.txt", "x")
        project.commit()

        assert (first[0].state, first[0].now) == ("fresh", "b.py")
        assert (verdicts(project.root, anchor), git_calls.times) == (first, 0)

    def test_an_unknown_verdict_is_not_kept(self, folder: Path) -> None:
        (anchor,) = anchored(folder, "a.py")

        assert Freshness(str(folder), patience=-1).check(anchor).state == "unknown"
        assert verdicts(folder, anchor)[0].state == "fresh"


@pytest.mark.parametrize(("seconds", "count"), [(0.08, 3), (0.1, 3), (0.101, 2), (0.3, 1)])
def test_files_are_compared_until_a_fifth_of_a_second_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, count: int
) -> None:
    names = [f"{number}.txt" for number in range(5)]
    for name in names:
        write(tmp_path, name, "x\n")
    indexed, used, is_same = anchored(tmp_path, *names), [0.0], project_files.is_same

    def compare(data: bytes, anchor: IndexedAnchor) -> bool:
        used[0] += seconds
        return is_same(data, anchor)

    monkeypatch.setattr(project_files, "is_same", compare)
    monkeypatch.setattr(check, "time", SimpleNamespace(process_time=lambda: used[0], time=lambda: MOMENT + 60))
    freshness = Freshness(str(tmp_path))

    states = [freshness.check(anchor) for anchor in indexed]

    assert [verdict.state for verdict in states] == ["fresh"] * count + ["unknown"] * (5 - count)
    assert states[-1].reason == "not checked: no time was left"
