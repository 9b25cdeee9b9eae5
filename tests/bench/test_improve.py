"""The triggers that the lift is measured with may be saved, and the measurement sees a lift where there is one."""

from __future__ import annotations

import json

import pytest

np = pytest.importorskip("numpy")

from bench import data, improve, results  # noqa: E402
from onrecord.record import schema  # noqa: E402

RECORDS = [
    ("a-1", "Sessions live in Postgres", "Rows in auth.sessions.", ["keep people signed in"]),
    ("a-2", "Invoices are rounded per line", "Half up, to cents.", ["the total is a cent off"]),
    ("a-3", "Times are stored in UTC", "Templates convert them.", []),
]
PROMPTS = [
    {"id": "p1", "text": "keep people signed in over a release", "relevant": ["a-1"], "kind": "other-words"},
    {"id": "p2", "text": "why is the total a cent off?", "relevant": ["a-2"], "kind": "other-words"},
    {"id": "p3", "text": "rename the button", "relevant": [], "kind": "none"},
]


@pytest.mark.parametrize("file", sorted(improve.RECIPE.glob("*.jsonl")), ids=lambda file: file.stem)
def test_the_triggers_by_the_recipe_may_be_saved(file):
    rows = list(data.lines(file))

    assert len(rows) >= 30 and len({row["key"] for row in rows}) == len(rows)
    for row in rows:
        assert 7 <= len(row["triggers"]) <= schema.max_items("triggers")
        assert len(set(row["triggers"])) == len(row["triggers"])
        assert all(0 < len(trigger) <= 120 for trigger in row["triggers"])


def test_a_lift_is_measured_on_the_same_prompts(tmp_path, monkeypatch):
    folder = tmp_path / "life-small"
    folder.mkdir()
    common = {"source": "", "supersedes": None, "category": "decision", "tags": ["x"], "related_files": []}
    content = {"status": "accepted", "context": "It was open.", "rationale": ["Measured."]}
    rows = [
        {**common, "key": key, "title": title, "triggers": [], "content": {**content, "decision": text}}
        for key, title, text, _ in RECORDS
    ]
    recipe = [{"key": key, "triggers": triggers} for key, _, _, triggers in RECORDS]
    for file, lines in (("records", rows), ("prompts", PROMPTS)):
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe/life-small.jsonl").write_text("".join(json.dumps(line) + "\n" for line in recipe))
    monkeypatch.setattr(improve, "RECIPE", tmp_path / "recipe")

    sets = improve.variants("life-small", tmp_path)
    before, after = (improve.ask(sets[name]) for name in ("none", "recipe"))

    assert [record.triggers for record in sets["none"].records] == [(), (), ()]
    assert [record.triggers for record in sets["recipe"].records] == [tuple(row[3]) for row in RECORDS]
    old, new = ([improve.value(each, "hit@1") for each in asked[:2]] for asked in (before, after))
    gain, low, high = improve.gains(before, after, "other-words")["hit@1"]
    assert new == [1.0, 1.0] and gain == 1 - sum(old) / 2 > 0 and low <= gain <= high


def test_the_page_has_the_figures_that_were_measured():
    page = improve.PAGE.read_text(encoding="utf-8")

    assert [name for name, table in improve.tables(results.load("improve")).items() if table not in page] == []
