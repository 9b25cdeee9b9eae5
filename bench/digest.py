"""`python -m bench digest`: what of a digest helps, on states of real repositories; figures into bench/results."""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import data, digest_cases, life_sets, metrics, results, stage
from bench.digest_cases import Case
from onrecord import paths, timestamps
from onrecord.digest import digest, selection
from onrecord.digest.selection import DigestCandidate, Records, Relevance
from onrecord.digest.work_context import WorkContext
from onrecord.settings import Settings

TUNED = ("life-bevy", "life-pandas", "life-zoo")
"""Projects on which the thresholds were chosen."""

UNTOUCHED = life_sets.REPORT
"""Projects on which neither the ranking was fitted nor a threshold chosen."""

GRID = {
    "MIN_INTENT": (0.02, 0.05, 0.1, 0.2, 0.3),
    "MIN_ABOUT": (0.1, 0.15, 0.2, 0.3),
    "MIN_BINDING": (0.15, 0.2, 0.3, 0.4),
    "MIN_SHARE": (0.3, 0.5),
    "MIN_CERTAIN": (0.6, 0.7, 0.8, 0.9),
}
"""Thresholds that are tried."""


GROUPS = {
    "tuned": "projects the thresholds were chosen on",
    "fitted": "projects the ranking was fitted on",
    "untouched": "other projects",
}
"""Projects by how much the digest owes to them, and what stands above their figures."""

PAGE = Path(__file__).parents[1] / "docs" / "how-it-works.md"
_BEGIN, _END = "<!-- written by `python -m bench digest` -->", "<!-- end -->"
_ROWS = {
    "states": "cases",
    "of these, states in which no record helps": "deserve nothing",
    "digests that are empty": "empty",
    "entries shown": "entries",
    "entries that help": "precision",
    "entries that help or are defensible": "precision with defensible",
    "states in which nothing helps and something wrong is shown": "wrong where nothing helps",
    "states in which a record is known to help that show one": "served",
    "characters of a digest that is not empty, mean": "mean characters",
}


class Weighed(NamedTuple):
    """A record with what speaks for it in a case."""

    entry: DigestCandidate
    relevance: Relevance


class Outcome(NamedTuple):
    """What was shown in a case, and all that might have been."""

    case: Case
    work: WorkContext
    shown: tuple[str, ...]
    characters: int
    weighed: tuple[Weighed, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Entries that help, that help or are defensible, and all."""
        right = sum(key in self.case.helps for key in self.shown)
        return right, right + sum(key in self.case.maybe for key in self.shown), len(self.shown)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repositories", type=Path, required=True, help="folder with clones of the repositories")
    parser.add_argument("--data", type=Path, default=data.SHARED, help="folder of the life sets that are not ours")
    parser.add_argument("--list", action="store_true", help="print every entry with its label")
    parser.add_argument("--choose", action="store_true", help="try other thresholds on the projects they are chosen on")


def run(options: argparse.Namespace) -> int:
    if options.choose:
        selection.MIN_WORDS = 0.0  # Thresholds below it are tried, too.
        return choose(measure(options.repositories, options.data, TUNED))
    outcomes = measure(options.repositories, options.data)
    if options.list:
        _print_entries(outcomes)
    report = {group: figures([each for each in outcomes if group_of(each.case) == group]) for group in GROUPS}
    results.save("digest", report)
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    PAGE.write_text(f"{before}{_BEGIN}\n{table(report)}\n{_END}{rest.partition(_END)[2]}", encoding="utf-8")
    print(table(report))
    return 0


def group_of(case: Case) -> str:
    return "tuned" if case.project in TUNED else "untouched" if case.project in UNTOUCHED else "fitted"


def measure(repositories: Path, folder: Path, only: Sequence[str] = ()) -> list[Outcome]:
    """Every case of every project, or of some, whose records and clone are there."""
    outcomes: list[Outcome] = []
    cases = [case for case in digest_cases.load() if not only or case.project in only]
    for project in sorted({case.project for case in cases}):
        try:
            clone = life_sets.find_clone(digest_cases.repository(project), repositories)
            records = life_sets.load(project, folder=folder).records
        except FileNotFoundError as error:
            print(f"{project} is left out: {error}", file=sys.stderr)
            continue
        own = [case for case in cases if case.project == project]
        commits = digest_cases.read_commits(clone, [case.commit for case in own])
        with _store(records) as root:
            outcomes += [_outcome(case, digest_cases.context(case, commits[case.commit]), root) for case in own]
    return outcomes


def _outcome(case: Case, work: WorkContext, root: str) -> Outcome:
    settings, now = Settings(), timestamps.now()
    records = Records(paths.StoreRef(root, paths.PROJECT_PREFIX), settings, branch=work.branch, now=now)
    page = digest.compose(work, [records], [], settings).render()
    relevance = records.relevance(work.intent, work.query) if work.query else {}
    weighed = tuple(Weighed(each, relevance[each.key]) for each in records.candidates if each.key in relevance)
    records.close()
    return Outcome(case, work, tuple(_key(pick.candidate) for pick in page.picks), len(page.text), weighed)


def _key(entry: DigestCandidate) -> str:
    return Path(entry.path).stem


@contextmanager
def _store(records: Iterable[Any]) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="onrecord-bench-") as folder:
        names = {"ONRECORD_CACHE_DIR": "cache", "ONRECORD_STATE_DIR": "state"}
        root = str(Path(folder) / "store")
        stage.write(root, records)
        with paths.override({name: str(Path(folder) / below) for name, below in names.items()}):
            yield root


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Precision with its interval, how often there is nothing to show, how long a digest is, and who is served."""
    counts = np.array([each.counts for each in outcomes], dtype=float).reshape(-1, 3)
    wanting = [each for each in outcomes if each.case.helps]
    idle = [each for each in outcomes if not each.case.helps]
    filled = [each.characters for each in outcomes if each.shown]
    return {
        "cases": len(outcomes),
        "projects": sorted({each.case.project for each in outcomes}),
        "deserve nothing": _share(not each.case.helps for each in outcomes),
        "entries": int(counts[:, 2].sum()),
        "precision": _precision(counts, 0),
        "precision with defensible": _precision(counts, 1),
        "empty": _share(not each.shown for each in outcomes),
        "wrong where nothing helps": _share(each.counts[1] < each.counts[2] for each in idle),
        "served": _share(each.counts[0] > 0 for each in wanting),
        "mean characters": round(float(np.mean(filled))) if filled else 0,
        "most characters": max(filled, default=0),
    }


def table(report: Mapping[str, Any]) -> str:
    """The figures as the documentation has them."""
    columns = tuple(GROUPS)
    lines = [f"| | {' | '.join(GROUPS.values())} |", "| --- |" + " --- |" * len(columns)]
    lines += [
        f"| {row} | {' | '.join(_cell(report[column][name]) for column in columns)} |" for row, name in _ROWS.items()
    ]
    return "\n".join(lines)


def _cell(value: float | Sequence[float]) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.0%}"
    share, low, high = value
    return f"**{share:.0%}** [{low:.0%}, {high:.0%}]"


def choose(outcomes: Sequence[Outcome]) -> int:
    """Print what other thresholds would give: entries, precision strict and defensible, cases with an entry."""
    rows = []
    for thresholds in itertools.product(*GRID.values()):
        if thresholds[1] > thresholds[2]:
            continue
        tried = [_with_thresholds(each, dict(zip(GRID, thresholds))) for each in outcomes]
        counts = np.array([each.counts for each in tried], dtype=float)
        right, defensible, shown = counts.sum(axis=0)
        if shown:
            rows.append((defensible / shown, right / shown, int(shown), int((counts[:, 2] > 0).sum()), thresholds))
    for row in sorted(rows, key=lambda row: (-row[2], -row[0])):
        print(f"{row[2]:4} entries in {row[3]:3} cases: helps {row[1]:.2f}, or defensible {row[0]:.2f}  {row[4]}")
    return 0


def _with_thresholds(outcome: Outcome, thresholds: Mapping[str, float]) -> Outcome:
    for name, threshold in thresholds.items():
        setattr(selection, name, threshold)
    files = outcome.work.files
    shown = [
        _key(entry)
        for entry, relevance in outcome.weighed
        if selection.reason(entry.category, entry.files, relevance, files)
    ]
    return outcome._replace(shown=tuple(shown))


def _precision(counts: np.ndarray, column: int) -> list[float]:
    """The share of all entries, and its interval over cases."""

    def share(rows: np.ndarray) -> float:
        return float(rows[:, column].sum() / max(rows[:, 2].sum(), 1.0))

    return [round(value, 3) for value in (share(counts), *metrics.interval(counts, share))]


def _share(values: Iterable[bool]) -> float:
    flags = list(values)
    return round(sum(flags) / len(flags), 3) if flags else 0.0


def _print_entries(outcomes: Sequence[Outcome]) -> None:
    for each in outcomes:
        for key in each.shown:
            labels: Mapping[str, frozenset[str]] = {
                "helps": each.case.helps,
                "maybe": each.case.maybe,
                "no": each.case.others,
            }
            label = next((name for name, keys in labels.items() if key in keys), "no" if each.case.is_read else "?")
            print(f"{label:6} {each.case.project} {each.case.commit[:12]} {each.case.state:8} {key}")
