"""A tree map: boxes within a box, each as large as its number, and as close to a square as they can be."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count

from onrecord.coldstart import NamedTuple
from onrecord.web.coverage import STATES, Area

HEADER, PADDING = 18.0, 2.5
"""Height of the line with the name of a folder, and space around what is in it, in units of the SVG."""

_MIN_WIDTH, _MIN_HEIGHT = 46.0, 40.0
"""A smaller box is not divided further: what is in it could not be pointed at."""

_MIN_SIDE = 2.0
_MAX_PARTS = 80
"""Boxes in one folder; the smallest ones are drawn as one."""

_LETTER_HEIGHT = 15.0
"""Height of a line of a label."""

_NARROW, _WIDE = frozenset("fijlrt.,:;|!'()[]-/ "), frozenset("mwMWQO@%&")
_CHARACTER, _NARROW_CHARACTER, _WIDE_CHARACTER, _CAPITAL = 7.6, 5.2, 12.0, 9.0
"""Widths of characters of 12 units in a generous font: no label is cut."""


class Box(NamedTuple):
    """A rectangle of the drawing."""

    x: float
    y: float
    width: float
    height: float

    @property
    def size(self) -> float:
        return self.width * self.height


class Strip(NamedTuple):
    """The part of a box that is filled for the files in one state."""

    state: str
    y: float
    height: float


class Cell(NamedTuple):
    """A folder or file as a box; one that is divided has the boxes of what is in it above it."""

    area: Area
    box: Box
    label: str
    """Its name if there is room for it, else nothing."""
    strips: tuple[Strip, ...] = ()
    is_divided: bool = False
    rest: int = 0
    """Number of folders and files that are drawn as this box, if it is more than one."""


def squares(sizes: Sequence[int], box: Box) -> list[Box]:
    """Return a box for each of `sizes`, which are sorted with the largest first: rows along the shorter side."""
    boxes: list[Box] = []
    left = float(sum(sizes))
    start = 0
    while start < len(sizes) and left > 0 and box.size > 0:
        scale, side = box.size / left, min(box.width, box.height)
        end, row = start + 1, sizes[start] * scale
        worst = _worst(sizes[start] * scale, sizes[start] * scale, row, side)
        while end < len(sizes):
            wider = row + sizes[end] * scale
            next_worst = _worst(sizes[start] * scale, sizes[end] * scale, wider, side)
            if next_worst > worst:
                break
            end, row, worst = end + 1, wider, next_worst
        thickness = row / side
        boxes += _row([size * scale / thickness for size in sizes[start:end]], box, thickness)
        left -= sum(sizes[start:end])
        is_upright = box.width >= box.height
        box = (
            Box(box.x + thickness, box.y, max(box.width - thickness, 0), box.height)
            if is_upright
            else Box(box.x, box.y + thickness, box.width, max(box.height - thickness, 0))
        )
        start = end
    return boxes + [Box(box.x, box.y, 0, 0)] * (len(sizes) - len(boxes))


def _worst(largest: float, smallest: float, row_size: float, side: float) -> float:
    """Return how far the least square box of a row is from a square; 1 is a square."""
    square = side * side
    return max(square * largest / (row_size * row_size), row_size * row_size / (square * smallest))


def _row(lengths: Sequence[float], box: Box, thickness: float) -> list[Box]:
    boxes, position = [], 0.0
    for length in lengths:
        if box.width >= box.height:
            boxes.append(Box(box.x, box.y + position, thickness, length))
        else:
            boxes.append(Box(box.x + position, box.y, length, thickness))
        position += length
    return boxes


def draw(root: Area, width: float, height: float, most: int) -> list[Cell]:
    """Return at most about `most` cells for what is in `root`: the largest folders are divided first."""
    order = count()
    heap = [(-box.size, next(order), area, box, rest) for area, box, rest in _parts(root, Box(0, 0, width, height))]
    heapq.heapify(heap)
    cells: list[Cell] = []
    while heap:
        _, _, area, box, rest = heapq.heappop(heap)
        if box.width < _MIN_SIDE or box.height < _MIN_SIDE:
            continue
        is_large = box.width >= _MIN_WIDTH and box.height >= _MIN_HEIGHT
        inner = _inner(box) if is_large and area.children and not rest else None
        if inner is None or len(cells) + len(heap) + min(len(area.children), _MAX_PARTS) > most:
            cells.append(_leaf(area, box, rest))
            continue
        cells.append(Cell(area, box, _label(area.name, box), is_divided=True))
        for part, part_box, part_rest in _parts(area, inner):
            heapq.heappush(heap, (-part_box.size, next(order), part, part_box, part_rest))
    return cells


def _parts(area: Area, box: Box) -> list[tuple[Area, Box, int]]:
    """Return what is in a folder, each with its box, and how many are drawn as it if it is the rest."""
    children = sorted(area.children.values(), key=lambda child: (-child.files, child.name))
    shown, rest = children[:_MAX_PARTS], children[_MAX_PARTS:]
    together = Area(area.path, f"{len(rest)} more")
    for child in rest:
        together.add_counts(child)
    parts = [(child, 0) for child in shown] + ([(together, len(rest))] if rest else [])
    parts.sort(key=lambda part: -part[0].files)
    boxes = squares([part.files for part, _ in parts], box)
    return [(part, part_box, more) for (part, more), part_box in zip(parts, boxes)]


def _inner(box: Box) -> Box:
    top = HEADER if box.height > 3 * HEADER else PADDING
    return Box(box.x + PADDING, box.y + top, box.width - 2 * PADDING, box.height - top - PADDING)


def _leaf(area: Area, box: Box, rest: int) -> Cell:
    strips, bottom = [], box.y + box.height
    for state in reversed(STATES[1:]):
        if area.states[state]:
            height = max(box.height * area.states[state] / area.files, 2.0)
            bottom = max(bottom - height, box.y)
            strips.append(Strip(state, bottom, height))
    return Cell(area, box, _label(area.name, box), tuple(strips), rest=rest)


def _label(name: str, box: Box) -> str:
    fits = text_width(name) + 8 <= box.width and box.height >= _LETTER_HEIGHT + 2
    return name if fits else ""


def text_width(text: str) -> int:
    """Return the width of a label in units of the SVG, at most: the server does not know the font."""
    return round(sum(map(_character_width, text)))


def _character_width(char: str) -> float:
    if char in _NARROW:
        return _NARROW_CHARACTER
    if char in _WIDE or not char.isascii():
        return _WIDE_CHARACTER
    return _CAPITAL if char.isupper() else _CHARACTER
