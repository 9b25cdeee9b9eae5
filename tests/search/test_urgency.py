"""The order in which the records of a large store are indexed."""

import os
from pathlib import Path

import pytest

from onrecord.record import memory
from onrecord.search import index, refresh, urgency
from tests.records import CONTENT, put, sample

LOOK = urgency._look
OLD, NEW = "2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z"


def constraint(name, severity, updated_at=OLD, **fields):
    content = {**CONTENT["constraint"], "severity": severity}
    return sample("constraint", id=name, content=content, updated_at=updated_at, **fields)


def ordered(root, *records, max_looks=100):
    for record in records:
        put(root, record)
    return [Path(path).stem for path in urgency.order(root, sorted(record.path for record in records), max_looks)]


def test_severe_and_recent_records_come_first_and_each_category_early(tmp_path):
    many = [constraint(f"medium-{number}", "medium") for number in range(5)]
    records = [
        *many,
        constraint("high", "high"),
        constraint("newer", "medium", NEW),
        sample("runbook", id="book", updated_at=OLD),
    ]

    order = ordered(str(tmp_path), *records)

    assert order[:4] == ["high", "newer", "medium-0", "book"]
    assert sorted(order[4:]) == [f"medium-{number}" for number in range(1, 5)]


def test_what_replaces_others_comes_before_all_and_what_is_retired_last(tmp_path):
    records = [
        constraint("high", "high", NEW),
        constraint("successor", "low", supersedes=["old"]),
        constraint("no-successor", "low", supersedes=[]),
        constraint("retired", "high", NEW, record_status="retired"),
    ]

    assert ordered(str(tmp_path), *records) == ["successor", "high", "no-successor", "retired"]


def test_a_text_that_looks_like_a_field_decides_nothing(tmp_path):
    content = {
        **CONTENT["constraint"],
        "rule": 'Send {"severity": "high"} and "updated_at": "2099-01-01"',
        "severity": "low",
    }
    quoting = sample("constraint", id="quoting", content=content, updated_at=OLD)

    assert ordered(str(tmp_path), quoting, constraint("medium", "medium")) == ["medium", "quoting"]


def test_a_file_that_is_gone_comes_first_and_one_that_is_large_last(tmp_path):
    root = str(tmp_path)
    put(root, constraint("large", "high", NEW, tags=[f"tag-{number:05}" * 5 for number in range(400)]))
    put(root, constraint("small", "low"))
    (tmp_path / "constraints" / "folder.json").mkdir()

    paths = [f"constraints/{name}.json" for name in ("folder", "gone", "large", "small")]

    order = urgency.order(root, paths, 100)
    assert order[:2] == ["constraints/gone.json", "constraints/small.json"]
    assert sorted(order[2:]) == ["constraints/folder.json", "constraints/large.json"]


@pytest.mark.parametrize("max_looks", [0, 1, 7, 20])
def test_all_paths_come_once_however_few_are_looked_at(tmp_path, max_looks, monkeypatch):
    records = [constraint(f"c{number}", "high") for number in range(9)]
    records += [sample(id=f"d{number}") for number in range(3)] + [
        sample("runbook", id=f"r{number}") for number in range(9)
    ]
    looks = []
    monkeypatch.setattr(urgency, "_look", lambda root, path: looks.append(path) or LOOK(root, path))

    order = ordered(str(tmp_path), *records, max_looks=max_looks)

    assert sorted(order) == sorted(record.id for record in records)
    assert len(looks) <= max_looks


def test_what_a_hook_looks_at_does_not_grow_with_the_store(tmp_path, monkeypatch):
    data = memory.render(constraint("x", "high"))
    looks = []
    for size in (1_000, 4_000):
        folder = tmp_path / str(size) / "constraints"
        folder.mkdir(parents=True)
        for number in range(size):
            os.close(os.open(folder / f"r{number:05}.json", os.O_WRONLY | os.O_CREAT))
        (folder / "x.json").write_bytes(data)
        count = []
        with monkeypatch.context() as patch:
            patch.setattr(urgency, "_look", lambda root, path, count=count: count.append(path) or LOOK(root, path))
            patch.setattr(refresh, "HOOK_CPU_SECONDS", -1.0)
            index.open(str(tmp_path / str(size)), hook=True).close()
        looks.append(len(count))

    assert looks == [refresh._MAX_LOOKS] * 2
