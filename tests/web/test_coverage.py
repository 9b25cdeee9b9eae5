"""Which files have records, how they are laid out as boxes."""

from __future__ import annotations

import pytest

from onrecord import globs
from onrecord.web import coverage, tree_map
from onrecord.web.coverage import RecordedFiles
from onrecord.web.tree_map import Box

FILES = ["src/auth/login.py", "src/auth/token.py", "src/web/page.py", "README.md"]


def _states(records):
    root = coverage.measure(FILES, records).root
    return {leaf.path: leaf.state for leaf in root.leaves()}


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("src/auth/login.py", {"src/auth/login.py"}),
        ("src/auth/login.py#signed_in", {"src/auth/login.py"}),
        ("./README.md", {"README.md"}),
        ("src/auth/", {"src/auth/login.py", "src/auth/token.py"}),
        ("src/auth", {"src/auth/login.py", "src/auth/token.py"}),
        ("src/auth/**", {"src/auth/login.py", "src/auth/token.py"}),
        ("src/**/*.py", {"src/auth/login.py", "src/auth/token.py", "src/web/page.py"}),
        ("*.md", {"README.md"}),
        ("**", set(FILES)),
        ("src/gone.py", set()),
        ("../other/x.py", set()),
    ],
)
def test_a_record_covers_what_it_names(pattern, covered):
    states = _states([RecordedFiles([pattern])])

    assert {path for path, state in states.items() if state == coverage.COVERED} == covered


def test_of_several_records_the_worst_state_counts():
    records = [
        RecordedFiles(["src/"]),
        RecordedFiles(["src/auth/"], coverage.CHANGED),
        RecordedFiles(["src/auth/login.py"], coverage.CORRECTED),
    ]

    assert _states(records) == {
        "src/auth/login.py": coverage.CORRECTED,
        "src/auth/token.py": coverage.CHANGED,
        "src/web/page.py": coverage.COVERED,
        "README.md": coverage.BARE,
    }


def test_a_folder_knows_its_files_and_the_records_about_it():
    measured = coverage.measure(FILES, [RecordedFiles(["src/"]), RecordedFiles(["src/auth/login.py"])])

    auth = measured.area("src/auth")
    assert (auth.files, auth.with_records, auth.below) == (2, 2, {1})
    assert measured.numbers_about(auth) == {0, 1}
    assert measured.numbers_about(measured.area("src/web")) == {0}
    assert measured.area("src/nothing") is None


def test_a_repository_of_very_deep_folders_is_measured():
    deep = "/".join("d" * 3000) + "/x.py"

    assert coverage.measure([deep, "a.py"], []).root.files == 2


def test_boxes_fill_the_space_in_proportion_and_do_not_overlap():
    sizes = [60, 40, 30, 20, 10, 5, 1, 1]

    boxes = tree_map.squares(sizes, Box(0, 0, 300, 200))

    assert [round(box.size) for box in boxes] == [round(size * 60_000 / sum(sizes)) for size in sizes]
    for number, one in enumerate(boxes):
        assert one.x >= -0.01 and one.x + one.width <= 300.01 and one.y + one.height <= 200.01
        for other in boxes[number + 1 :]:
            width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert width < 0.01 or height < 0.01
    assert max(max(box.width / box.height, box.height / box.width) for box in boxes) < 5


def test_many_files_are_drawn_as_few_boxes():
    files = [f"src/m{number % 7}/f{number}.py" for number in range(5_000)]

    cells = tree_map.draw(coverage.measure(files, []).root, 780, 500, 300)

    assert len(cells) <= 300
    assert sum(cell.area.files for cell in cells if not cell.is_divided) == 5_000


def test_globs_are_compared_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(coverage, "_MAX_COMPARED", 5)
    files = [f"src/f{number}.py" for number in range(10)]

    measured = coverage.measure(files, [RecordedFiles(["src/*.py"])])

    assert not measured.is_complete
    assert measured.root.with_records == 5


def test_a_glob_is_read_once_for_each_folder_and_matches_what_it_matches_alone():
    """Each file was compared with each pattern from its first letter: two seconds at 60,000 comparisons."""
    files = [f"src/{folder}/{name}" for folder in ("auth", "web/pages") for name in ("a.py", "b.md", "test_a.py")]
    patterns = ["src/**/*.py", "src/*/a.py", "*.md", "src/web*", "**/pages/test_?.py", "src/auth/**", "**", "?.py"]

    for pattern in patterns:
        root = coverage.measure(files, [RecordedFiles([pattern])]).root
        covered = {leaf.path for leaf in root.leaves() if leaf.state == coverage.COVERED}
        assert covered == {path for path in files if globs.matches(pattern, path)}, pattern


@pytest.mark.parametrize(("folders", "depth"), [(39, 39), (40, 39), (45, 39)])
def test_what_is_deeper_than_forty_levels_is_a_file_of_the_last_one(folders, depth):
    measured = coverage.measure(["d/" * folders + "x.py", "d/" * folders + "x.py"], [])

    (leaf,) = measured.root.leaves()
    assert leaf.path == "d/" * depth + "x.py"
    assert measured.root.files == 1


def test_of_more_than_two_hundred_thousand_files_the_first_are_measured():
    many = ["a.py"] * 199_999 + ["b.py"]

    assert coverage.measure(many, []).is_complete
    cut = coverage.measure([*many, "c.py"], [])
    assert (cut.is_complete, sorted(cut.root.children)) == (False, ["a.py", "b.py"])


def test_so_many_comparisons_of_patterns_with_files_are_made():
    files = [f"src/f{number}.py" for number in range(300)]
    patterns = [f"src/f{number}?.py" for number in range(200)]

    assert coverage.measure(files, [RecordedFiles(patterns)]).is_complete
    assert not coverage.measure(files, [RecordedFiles([*patterns, "src/?.py"])]).is_complete


def test_a_record_about_the_whole_repository_is_about_each_file():
    measured = coverage.measure(FILES, [RecordedFiles([""]), RecordedFiles(["/"])])

    assert measured.numbers_about(measured.area("README.md")) == {0, 1}
    assert measured.area("") is measured.area("/") is measured.root


def test_a_folder_is_in_the_state_that_needs_a_look_most():
    records = [RecordedFiles(["src/auth/"], coverage.CHANGED), RecordedFiles(["src/auth/login.py"], coverage.COVERED)]

    root = coverage.measure(FILES, records).root

    assert (root.state, root.with_records, root.files) == (coverage.CHANGED, 2, 4)
    assert root.states == {coverage.BARE: 2, coverage.COVERED: 0, coverage.CHANGED: 2, coverage.CORRECTED: 0}
    assert coverage.measure([], []).root.state == coverage.BARE


def test_the_files_of_a_folder_that_is_no_repository_are_none(tmp_path):
    assert coverage.tracked_files(str(tmp_path)) == []
