"""Five times the records cost five times the work: counted in function calls, not in seconds.

With ONRECORD_LONG=1 in the environment the stores are as large as the promise: two and ten thousand records.
"""

from __future__ import annotations

import json
import os
import sys

import pytest

from onrecord.cli import main
from onrecord.project import save
from onrecord.record.memory import Memory
from onrecord.settings import load_settings
from onrecord.store import index_md
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests import cost

SMALL, LARGE = (2_000, 10_000) if os.environ.get("ONRECORD_LONG") else (100, 500)


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    return {size: _project(tmp_path_factory.mktemp(f"p{size}"), size) for size in (SMALL, LARGE)}


def _project(folder, size):
    store = Store(str(folder / ".claude" / "memory"))
    writer = Writer(store, load_settings(store.root), "2026-03-02T09:30:00Z")
    given = {"title": "Model", "context": "c" * 200, "decision": "d", "rationale": "r", "tags": ["a", "b"]}
    path = folder / ".claude/memory" / save(writer, "decision", given).path
    model = json.loads(path.read_text())
    for number in range(size - 1):
        link = {"supersedes": [f"model-{number - 1}"]} if number % 2 else {"superseded_by": f"model-{number + 1}"}
        record = {**model, "id": f"model-{number}", "title": f"Model {number}", **link}
        path.with_name(f"model-{number}.json").write_text(json.dumps(record))
    with store.writing():
        store.rebuild_index_md()
    return folder


def _calls(action):
    """How many functions an action calls, in Python and in C."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "--json"],
        ["index", "check"],
        ["index", "rebuild"],
        ["doctor"],
        ["gc", "--dry-run"],
        ["show", "modl"],
        ["audit"],
        ["improve"],
        ["freshness"],
        ["export"],
    ],
    ids=" ".join,
)
def test_calls_grow_in_proportion(projects, words):
    small, large = (_calls(lambda p=projects[s]: main([*words, "--project", str(p)])) for s in (SMALL, LARGE))

    assert small > SMALL
    assert large < small * (LARGE / SMALL) * 1.1


def test_comparing_the_catalog_is_no_hidden_loop(tmp_path):
    """`in` on a list is one call however long it is, so here the processor's own clock is asked."""

    def catalog(size):
        folder = tmp_path / str(size)
        folder.mkdir()
        records = [Memory("decision", f"r{n}", f"R {n}", {}) for n in range(size)]
        (folder / "index.md").write_text(index_md.render(records))
        return lambda: index_md.differences(str(folder), records)

    small, large = catalog(2_000), catalog(16_000)

    assert small() == large() == []
    cost.assert_at_most(24, small, large)
