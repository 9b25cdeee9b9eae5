"""The page on cost gives what was measured."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from bench import cost, life_sets, results
from bench.data import Prompt, Set


def test_the_page_gives_the_figures_that_were_measured() -> None:
    page = cost.PAGE.read_text(encoding="utf-8")

    assert [name for name, table in cost.tables(results.load("cost")).items() if table not in page] == []


def test_the_readme_rounds_what_was_measured() -> None:
    readme = " ".join((cost.PAGE.parents[1] / "README.md").read_text(encoding="utf-8").split())
    measured = results.load("cost")

    assert "about 30 ms of CPU time" in readme and 24 <= measured["hooks"]["a prompt"]["cpu ms"] <= 36
    assert "costs about 150 tokens, at most 300 (600 at a first prompt)" in readme
    shown, first = (measured["tokens"][f"records, {when}"] for when in ("in a session", "at its first prompt"))
    assert 140 <= shown["median"] <= 160 and shown["most"] <= 300 and first["most"] <= 600


def test_texts_and_files_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = life_sets.load("life-tock", "full")
    record = next(record for record in whole.records if not record.superseded_by)
    asks = Prompt("a", record.triggers[3], "task", frozenset([record.id]))
    idle = Prompt("b", "thanks, looks good", "none", frozenset())
    monkeypatch.setattr(life_sets, "load", lambda name, variant: Set(name, (*whole.records[:8], record), (asks, idle)))
    monkeypatch.setattr(cost, "_hooks", lambda folder, name, times: iter(()))

    measured = cost.measure(("life-tock",), times=1)

    assert measured["tokens"]["records, in a session"]["texts"] == 1
    assert 40 < measured["tokens"]["records, at its first prompt"]["most"] <= 620
    assert measured["disk"]["index"] > measured["disk"]["store"] > 0
