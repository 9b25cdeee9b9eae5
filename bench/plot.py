"""Small SVG charts without a library: bars in groups, lines, and growth on two logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_COLOURS = ("#9aa5b1", "#cbb26a", "#7fa08a", "#2f6fb3", "#b3552f", "#6b4fa0")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 720, 300, 44, 34, 40


def bars(title: str, groups: Mapping[str, Mapping[str, float]], top: float, unit: str = "") -> str:
    """Draw groups of bars: group name to label to value."""
    labels = list(next(iter(groups.values())))
    slot = (_WIDTH - _LEFT - 10) / len(groups)
    width = slot * 0.8 / len(labels)
    parts = []
    for g, (name, values) in enumerate(groups.items()):
        x = _LEFT + g * slot + slot * 0.1
        for i, label in enumerate(labels):
            height = _span() * min(values[label], top) / top
            y = _HEIGHT - _BOTTOM - height
            left = x + i * width
            parts.append(
                f'<rect x="{left:.1f}" y="{y:.1f}" width="{width - 2:.1f}" height="{height:.1f}" fill="{_COLOURS[i]}"/>'
            )
            parts.append(_text(left + width / 2 - 1, y - 4, f"{values[label]:.2f}".lstrip("0"), 9, "middle"))
        parts.append(_text(x + slot * 0.4, _HEIGHT - _BOTTOM + 16, name, 11, "middle"))
    return _page(title, [*_axis(top, unit), *parts, *_legend(labels)])


def lines(title: str, x_values: Sequence[float], series: Mapping[str, Sequence[float]], mark: float) -> str:
    """Draw lines over a common axis from 0 to 1, with a vertical mark."""

    def place(x: float, y: float) -> str:
        return f"{_LEFT + (x - x_values[0]) * scale:.1f},{_HEIGHT - _BOTTOM - _span() * y:.1f}"

    scale = (_WIDTH - _LEFT - 20) / (x_values[-1] - x_values[0])
    parts = []
    for i, values in enumerate(series.values()):
        points = " ".join(place(x, y) for x, y in zip(x_values, values))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{_COLOURS[i]}" stroke-width="2"/>')
    for x in x_values[::2]:
        parts.append(_text(_LEFT + (x - x_values[0]) * scale, _HEIGHT - _BOTTOM + 16, f"{x:.1f}", 10, "middle"))
    at = _LEFT + (mark - x_values[0]) * scale
    parts.append(
        f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}" stroke="#888" stroke-dasharray="4 3"/>'
    )
    return _page(title, [*_axis(1.0, ""), *parts, *_legend(list(series))])


def growth(title: str, sizes: Sequence[int], series: Mapping[str, Sequence[float]]) -> str:
    """Draw lines over sizes, each step of an axis ten times the one before."""
    highest = math.ceil(math.log10(max(max(values) for values in series.values())))
    lowest = math.floor(math.log10(min(min(values) for values in series.values())))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def place(size: float, value: float) -> tuple[float, float]:
        across = (math.log10(size) - first) / ((last - first) or 1)
        up = (math.log10(value) - lowest) / ((highest - lowest) or 1)
        return _LEFT + 20 + across * (_WIDTH - _LEFT - 60), _HEIGHT - _BOTTOM - _span() * up

    parts = []
    for power in range(lowest, highest + 1):
        y = place(sizes[0], 10**power)[1]
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{10**power:g}", 10, "end"))
    for size in sizes:
        parts.append(_text(place(size, 10**lowest)[0], _HEIGHT - _BOTTOM + 16, f"{size:,}", 10, "middle"))
    for i, values in enumerate(series.values()):
        points = [place(size, value) for size, value in zip(sizes, values)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{_COLOURS[i + 2]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_COLOURS[i + 2]}"/>' for x, y in points]
    return _page(title, [*parts, *_legend(list(series), _COLOURS[2:])])


def _span() -> float:
    return _HEIGHT - _TOP - _BOTTOM


def _axis(top: float, unit: str) -> list[str]:
    parts = []
    for step in range(5):
        y = _HEIGHT - _BOTTOM - _span() * step / 4
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{top * step / 4:g}{unit}", 10, "end"))
    return parts


def _legend(labels: Sequence[str], colours: Sequence[str] = _COLOURS) -> list[str]:
    parts, x = [], float(_LEFT)
    for i, label in enumerate(labels):
        parts.append(f'<rect x="{x:.0f}" y="{_HEIGHT - 14}" width="10" height="10" fill="{colours[i]}"/>')
        parts.append(_text(x + 14, _HEIGHT - 5, label, 11, "start"))
        x += 30 + 6.2 * len(label)
    return parts


def _text(x: float, y: float, text: str, size: int, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'


def _page(title: str, parts: Sequence[str]) -> str:
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" fill="#333"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>'
    return "\n".join([head, ground, _text(_LEFT, 18, title, 13, "start"), *parts, "</svg>"]) + "\n"
