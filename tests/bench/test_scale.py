"""The benchmark of large stores, with a small one."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("numpy")

from bench import clones, figure_tables, scale


@pytest.mark.heavy
def test_every_command_and_hook_is_measured(tmp_path):
    found = scale.measure(tmp_path, 30)

    assert json.loads(json.dumps(found)) == found
    assert all(cost["cpu"] > 0 for cost in found.values())
    table = figure_tables.scale({"sizes": {"1000": found, "30": found}}).splitlines()
    assert (table[0], len(table)) == ("| CPU time | 30 records | 1,000 records |", 2 + len(found))


@pytest.mark.heavy
def test_the_first_minutes_of_a_fresh_clone_are_measured(tmp_path):
    found = clones.measure(tmp_path, 400)

    assert json.loads(json.dumps(found)) == found
    assert found["session start"]["cpu"] > 0 and 0 < found["indexed by it"] < 400
    table = figure_tables.clones({"sizes": {"400": found}}).splitlines()
    assert (len(table), table[2].startswith("| 400 | ")) == (3, True)
