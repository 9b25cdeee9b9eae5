"""The benchmark of a hub, with a small one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("numpy")
pytest.importorskip("psycopg")

from bench import figure_tables, hub, hub_clients, plot, results
from bench.hub_records import Generator
from onrecord.record import memory
from tests.postgres import Server


def test_records_are_the_same_each_time_and_a_few_words_are_in_most_of_them():
    generator = Generator(rare=5_000)
    many = [generator.record(number % 40, number) for number in range(200)]

    assert Generator(rare=5_000).record(7, 7) == many[7]
    assert [memory.parse(memory.render(each)) for each in many] == many
    counts = Counter(word for each in many for word in set(json.dumps(each.content).split()))
    assert sum(count > 100 for count in counts.values()) < 20
    assert sum(count == 1 for count in counts.values()) > len(counts) / 3
    assert set(generator.question(7, 7).split()) <= set(
        json.dumps(many[7]).replace('"', " ").replace(",", " , ").split()
    )


def test_the_chart_shows_the_figures_that_were_measured(tmp_path: Path):
    hub.draw(tmp_path / "chart.svg", results.load("hub"))

    assert (tmp_path / "chart.svg").read_bytes() == hub.CHART.read_bytes()


def test_growth_is_drawn_on_logarithmic_axes():
    chart = plot.growth("Title", [10, 100, 1_000], {"first": [1.0, 10.0, 100.0], "second": [3.0, 3.0, 3.0]})

    points = chart.partition('<polyline points="')[2].partition('"')[0].split()
    heights = [float(point.partition(",")[2]) for point in points]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.11)
    assert all(f">{label}<" in chart for label in ("10", "100", "1,000", "first", "second"))


@pytest.mark.heavy
@pytest.mark.debian("postgresql")
def test_a_hub_is_measured_and_goes_on_growing_after_an_interruption(tmp_path: Path):
    folder = Path("/dev/shm", f"onrecord-bench-{tmp_path.parent.name}-{tmp_path.name}")
    server = Server(folder=folder)
    try:
        hub.Hub(server, team_count=3, rare_words=2_000).grow(150)
        company = hub.Hub(server, team_count=3, rare_words=2_000)
        company.grow(220)
        figures = {"220": hub.measure(company, questions=5, times=1)}
        clients = hub_clients.measure(company, clients=3, rounds=2)
    finally:
        server.remove()

    assert company.records == 220
    assert figures["220"]["records of the first pull"] == 110
    assert sum(clients["where they are"].values()) == clients["decisions written"] == 6
    tables = figure_tables.hub({"sizes": figures, "clients": clients})
    assert "| first pull | 0." in tables and "| decisions lost | 0 |" in tables
