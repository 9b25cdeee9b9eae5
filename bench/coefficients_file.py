"""The coefficients as a module of the package, with where they come from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.learn import Model
from onrecord.search import coefficients, relevance

FILE = Path(coefficients.__file__)


class Thresholds(NamedTuple):
    """The probabilities from which on a record is shown, as a rule and as a pointer."""

    threshold: float
    pointer: float
    keyword_threshold: float
    keyword_pointer: float


def write(file: Path, fitted_on: Sequence[str], thresholds: Thresholds, models: Mapping[str, Model]) -> None:
    """Write the module; the same arguments make the same file."""
    file.write_text("\n".join(_lines(fitted_on, thresholds, models)) + "\n", encoding="utf-8")


def _lines(fitted_on: Sequence[str], thresholds: Thresholds, models: Mapping[str, Model]) -> list[str]:
    return [
        '"""Coefficients of the ranking and the relevance model. Written by `python -m bench fit`: do not edit.',
        "",
        "The weights of each feature in the ranking and in the relevance model, with and without word vectors.",
        *textwrap.wrap(f"Fitted on {', '.join(fitted_on)}.", 118),
        '"""',
        "",
        "from __future__ import annotations",
        "",
        *(f"{name.upper()} = {value:g}" for name, value in thresholds._asdict().items()),
        *(line for name, model in models.items() for line in _table(name, model)),
    ]


def _table(name: str, model: Model) -> list[str]:
    rows = (f'    "{key}": ({", ".join(f"{value:.4f}" for value in row)}),' for key, row in _rows(model))
    return ["", f"{name} = {{", *rows, "}"]


def _rows(model: Model) -> Iterable[tuple[str, tuple[float, ...]]]:
    """The weights by feature; what compares scores has none in the ranking."""
    ranks = [model.rank.base, *model.rank.weights, *(0.0 for _ in relevance.RELATIVE)]
    columns = zip(ranks, [model.relevance.base, *model.relevance.weights])
    return zip(("base", *relevance.NAMES[: model.features], *relevance.RELATIVE), columns)


def plain(models: Mapping[str, Model]) -> dict[str, dict[str, list[float]]]:
    """Models as they are stored for measuring: the same tables."""
    return {
        name: {key: [round(value, 4) for value in row] for key, row in _rows(model)} for name, model in models.items()
    }
