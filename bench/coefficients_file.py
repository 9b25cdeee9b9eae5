"""The coefficients as a module of the package: a part for each model, with the command that writes it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.learn import Model
from onrecord.search import coefficients, relevance

FILE = Path(coefficients.__file__)
PROMPTS = "Prompts: `python -m bench fit`."
SEARCHES = "Searches: `python -m bench searches`."
PAST = "Past questions: `python -m bench past --fit`."
COMMANDS = "Commands: `python -m bench actions --fit`."


class Thresholds(NamedTuple):
    """The probabilities from which on a record is shown, as a rule and as a pointer."""

    threshold: float
    pointer: float
    keyword_threshold: float
    keyword_pointer: float


def write(part: str, lines: Iterable[str], fitted_on: Sequence[str] = (), file: Path = FILE) -> None:
    """Write one part of the module; the same arguments make the same file."""
    before, heading, rest = file.read_text(encoding="utf-8").partition(f"# {part}\n")
    assert heading, f"{file} has no part {part!r}"
    _, gap, after = rest.partition("\n\n# ")
    about = textwrap.wrap(f"Fitted on {', '.join(fitted_on)}.", 116, break_on_hyphens=False) if fitted_on else []
    text = "\n".join([*(f"# {line}" for line in about), *lines])
    file.write_text(before + heading + text + (gap + after if gap else "\n"), encoding="utf-8")


def prompt_lines(thresholds: Thresholds, models: Mapping[str, Model]) -> list[str]:
    return [
        *(f"{name.upper()} = {value:g}" for name, value in thresholds._asdict().items()),
        *(line for name, model in models.items() for line in _table(name, model)),
    ]


def weight_lines(prefix: str, base: float, weights: Mapping[str, float]) -> list[str]:
    """Return the lines of a model of one column."""
    rows = (f'    "{name}": {weight:.5f},' for name, weight in weights.items())
    return ["", f"{prefix}BASE = {base:.5f}", f"{prefix}WEIGHTS = {{", *rows, "}"]


def _table(name: str, model: Model) -> list[str]:
    rows = (f'    "{key}": ({", ".join(f"{value:.4f}" for value in row)}),' for key, row in _rows(model))
    return ["", f"{name} = {{", *rows, "}"]


def _rows(model: Model) -> Iterable[tuple[str, tuple[float, ...]]]:
    """Return the weights by feature; what compares scores has none in the ranking."""
    ranks = [model.rank.base, *model.rank.weights, *(0.0 for _ in relevance.RELATIVE)]
    columns = zip(ranks, [model.relevance.base, *model.relevance.weights])
    return zip(("base", *relevance.NAMES[: model.features], *relevance.RELATIVE), columns)


def plain(models: Mapping[str, Model]) -> dict[str, dict[str, list[float]]]:
    """Return models as they are stored for measuring: the same tables."""
    return {
        name: {key: [round(value, 4) for value in row] for key, row in _rows(model)} for name, model in models.items()
    }
