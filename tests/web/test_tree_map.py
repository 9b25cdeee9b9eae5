"""The boxes of a tree map: which folders are divided, what is drawn as one box, and which names have room."""

from __future__ import annotations

import pytest

from onrecord.web import coverage, tree_map
from onrecord.web.coverage import RecordedFiles
from onrecord.web.tree_map import Box, Strip


def _root(*files: str, states: dict[str, str] | None = None) -> coverage.Area:
    return coverage.measure(files, [RecordedFiles([name], state) for name, state in (states or {}).items()]).root


def _drawn(root: coverage.Area, width: float, height: float, most: int = 100) -> list[tuple[str, bool, str, int]]:
    cells = tree_map.draw(root, width, height, most)
    return [(cell.area.path, cell.is_divided, cell.label, cell.rest) for cell in cells]


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("a", 8),
        ("i", 5),
        ("m", 12),
        ("A", 9),
        ("W", 12),
        ("é", 12),
        ("aim A/ü", 7.6 + 5.2 + 12 + 5.2 + 9 + 5.2 + 12),
    ],
)
def test_a_label_is_measured_by_its_letters(text, width):
    assert tree_map.text_width(text) == round(width)


@pytest.mark.parametrize(
    ("width", "height", "label"), [(38, 17, "aaaa"), (37, 17, ""), (38, 16.9, ""), (500, 500, "aaaa")]
)
def test_a_name_is_drawn_where_it_has_room(width, height, label):
    """It is 30 units wide, a line is 15 high, and there is space around it."""
    assert _drawn(_root("aaaa"), width, height) == [("aaaa", False, label, 0)]


@pytest.mark.parametrize(("width", "height", "is_divided"), [(46, 40, True), (45.9, 40, False), (46, 39.9, False)])
def test_a_small_folder_is_one_box(width, height, is_divided):
    assert _drawn(_root("a/b", "a/c"), width, height)[0] == ("a", is_divided, "a", 0)


def test_a_box_too_small_to_be_seen_is_left_out():
    assert _drawn(_root("a"), 2, 2) == [("a", False, "", 0)]
    assert _drawn(_root("a"), 1.9, 50) == _drawn(_root("a"), 50, 1.9) == []


def test_the_largest_folders_that_leave_about_as_many_boxes_as_asked_for_are_divided():
    root = _root(*(f"large/{number}" for number in range(6)), *(f"small/{number}" for number in range(3)))

    for most, divided in ((6, ["small"]), (7, ["large"]), (9, ["large"]), (10, ["large", "small"])):
        cells = tree_map.draw(root, 600, 400, most)
        assert [cell.area.path for cell in cells if cell.is_divided] == divided, most


@pytest.mark.parametrize(("number", "boxes", "rest"), [(80, 80, []), (81, 81, [1]), (85, 81, [5])])
def test_the_smallest_of_more_than_eighty_files_are_one_box(number, boxes, rest):
    root = _root(*(f"f{position:02}" for position in range(number)), states={"f80": coverage.CHANGED})

    cells = tree_map.draw(root, 2_000, 1_000, 500)

    assert (len(cells), [cell.rest for cell in cells if cell.rest]) == (boxes, rest)
    assert sum(cell.area.files for cell in cells) == number
    (together,) = [cell for cell in cells if cell.rest] or [None]
    assert together is None or (together.area.name, together.area.state) == (f"{rest[0]} more", coverage.CHANGED)


@pytest.mark.parametrize(("height", "inner"), [(54.5, Box(12.5, 28, 95, 34)), (54, Box(12.5, 12.5, 95, 49))])
def test_a_folder_has_a_line_for_its_name_if_it_is_high_enough(height, inner):
    assert tree_map._inner(Box(10, 10, 100, height)) == inner


def test_a_box_is_filled_from_below_for_the_files_in_each_state():
    names = [f"a/{number}" for number in range(100)]
    states = {"a/0": coverage.CORRECTED, **dict.fromkeys(names[1:21], coverage.CHANGED)}
    states |= dict.fromkeys(names[21:71], coverage.COVERED)
    root = _root(*names, states=states)

    (cell,) = tree_map.draw(root, 40, 100, 1)

    assert cell.strips == (
        Strip(coverage.CORRECTED, 98, 2),
        Strip(coverage.CHANGED, 78, 20),
        Strip(coverage.COVERED, 28, 50),
    )


def test_files_are_in_rows_along_the_shorter_side():
    boxes = tree_map.squares([6, 6, 4, 3, 2, 2, 1], Box(0, 0, 6, 4))

    rounded = [tuple(round(side, 2) for side in box) for box in boxes]
    assert rounded == [
        (0, 0, 3, 2), (0, 2, 3, 2), (3, 0, 1.71, 2.33), (4.71, 0, 1.29, 2.33), (3, 2.33, 1.2, 1.67),
        (4.2, 2.33, 1.2, 1.67), (5.4, 2.33, 0.6, 1.67),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "box"), [([0, 0], Box(1, 2, 3, 4)), ([3, 1], Box(1, 2, 0, 4)), ([], Box(0, 0, 9, 9))]
)
def test_nothing_takes_no_space(sizes, box):
    assert tree_map.squares(sizes, box) == [Box(box.x, box.y, 0, 0)] * len(sizes)
