"""One command measures every figure, and one page has them all."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from bench import all_, figure_tables, figures, results
from bench.__main__ import main


def test_every_part_is_a_command_that_takes_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    for part in all_.PARTS:
        with pytest.raises(SystemExit) as ended:
            main([*part.words.split(), "--help"])
        assert ended.value.code == 0, part.words


def test_every_section_of_the_page_is_measured_by_a_part() -> None:
    # Agents and graders are asked by hand, or by commands that cost money.
    by_hand = {"agents"}
    with_another = {"mcp_servers"}

    assert {section.result for section in figures.SECTIONS} - by_hand - with_another == {
        part.name for part in all_.PARTS
    }


def test_a_part_that_fails_is_named_and_the_pages_are_written_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run(words: list[str]) -> int:
        ran.append(words[0])
        return int(words[0] == "mcp")

    monkeypatch.setattr(all_, "_run", run)
    options = argparse.Namespace(only=["mcp", "web", "life"], skip=["web"], repositories=None, list=False)

    assert all_.run(options) == 1
    assert ran == ["mcp", "report", "figures"]
    assert "failed or left out: life, mcp; again: python -m bench all --only life mcp" in capsys.readouterr().out


def test_a_result_says_how_and_where_it_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr("sys.argv", ["bench", "mcp", "--folder", "/home/somebody/clones", "--times", "3"])

    stored = json.loads(results.save("mcp", {"python": "3.11.7"}).read_text(encoding="utf-8"))

    assert stored["run"]["command"] == "python -m bench mcp --folder DIR --times 3"
    assert sorted(stored) == ["date", "python", "run"]
    assert sorted(stored["run"]) == ["command", "commit", "load", "machine"]


def test_what_was_never_measured_is_not_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    case = {"bare cpu ms": 7.5, "cpu ms": 12.9, "cpu ratio": 1.72}
    results.save("mcp", {"python": "3.11.7", "times": 21, "start": case})

    page = figures.text()

    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## The MCP server"]
    assert "| start | 1.7 ×, 13 ms |" in page


def test_the_tables_of_the_longest_parts() -> None:
    spread = {"p50": 3.2, "p95": 12.0, "most": 40.0}
    hub = {"sizes": {"10000": {"load average": 1.0, "connect": spread}, "1000000": {"connect": spread}}}
    statuses = ["killed"] * 17 + ["survived", "equivalent", "not reached"]
    fuzzed = {"seed": "a1", "minutes": 15.0, "cases": 140, "processes": 1900, "worst": {"hook MB": 90.4}, "failed": {}}

    assert figure_tables.hub(hub).splitlines() == [
        "| p50 / p95 | 10,000 records | 1,000,000 records |",
        "| --- | --- | --- |",
        "| connect | 3 / 12 ms | 3 / 12 ms |",
    ]
    assert figure_tables.mutants({"mutants": [{"status": each} for each in statuses]}).splitlines()[2:] == [
        "| noticed by a test, of those that change anything | 17 of 19: 89 % (69 to 97) |",
        "| equivalent | 1 |",
        "| not reached | 1 |",
        "| survived | 1 |",
    ]
    assert "| failures | 0 |\n| most: hook MB | 90 |" in figure_tables.fuzz(fuzzed)
