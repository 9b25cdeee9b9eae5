"""The page on cost gives what was measured."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from bench import cost, life_sets, results
from bench.data import Prompt, Set


def test_the_page_gives_the_figures_that_were_measured() -> None:
    page = cost.PAGE.read_text(encoding="utf-8")

    assert [name for name, table in cost.tables(results.load("cost")).items() if table not in page] == []


def test_texts_and_files_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = life_sets.load("life-tock", "full")
    record = next(record for record in whole.records if not record.superseded_by)
    asks = Prompt("a", record.triggers[3], "task", frozenset([record.id]))
    idle = Prompt("b", "thanks, looks good", "none", frozenset())
    monkeypatch.setattr(life_sets, "load", lambda name, variant: Set(name, (*whole.records[:8], record), (asks, idle)))
    monkeypatch.setattr(cost, "_hooks", lambda folder, name, times: iter(()))

    monkeypatch.setattr(cost, "MAPPED", ("life-tock",))

    measured = cost.measure(("life-tock",), times=1)

    assert measured["tokens"]["records, in a session"]["texts"] == 1
    assert 40 < measured["tokens"]["records, at its first prompt"]["most"] <= 620
    assert measured["disk"]["index"] > measured["disk"]["store"] > 0


def test_a_map_is_measured_when_all_records_are_indexed() -> None:
    """The flaw of 0.3.0-dev: it was the part of a map that a session gets while its index is made."""
    size, large = cost.map_of("life-pandas"), cost.map_of("life-modplat")

    assert size.named == size.records == 38
    assert large.named < large.records == 128 and 1_600 < large.tokens <= 2_000
