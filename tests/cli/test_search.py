from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from onrecord.cli import search
from onrecord.recall import trust
from tests.git_project import GitProject

from .conftest import DECISION


@pytest.fixture
def saved(onrecord):
    assert onrecord("save", "decision", "Jobs are rows of the table jobs", *DECISION).code == 0


def test_search_reads_the_one_store_that_is_named(onrecord, saved):
    missing = onrecord("search", "rows of the table jobs", "--user")
    assert onrecord("save", "decision", "Jobs are rows everywhere", *DECISION, "--user", "--force").code == 0

    own = json.loads(onrecord("search", "rows of the table jobs", "--user", "--json").out)["results"]
    both = json.loads(onrecord("search", "rows of the table jobs", "--json").out)["results"]

    assert missing.err.startswith("NO_STORE")
    assert [hit["id"] for hit in own] == ["jobs-are-rows-everywhere"]
    assert {hit["id"] for hit in both} == {"jobs-are-rows-of-the-table-jobs", "jobs-are-rows-everywhere"}


def test_search_says_through_which_superseded_record_it_found_one(onrecord, saved):
    assert onrecord("save", "decision", "Work waits in a queue", *DECISION, "--force").code == 0
    assert onrecord("supersede", "jobs-are-rows-of-the-table-jobs", "work-waits-in-a-queue").code == 0

    results = json.loads(onrecord("search", "rows of the table jobs", "--json").out)["results"]

    assert [(hit["id"], hit["status"]) for hit in results] == [
        ("work-waits-in-a-queue", "active"),
        ("jobs-are-rows-of-the-table-jobs", "superseded"),
    ]
    assert results[0]["via"]["id"] == "jobs-are-rows-of-the-table-jobs"
    assert results[0]["via"]["title"] == "Jobs are rows of the table jobs"
    assert results[1]["via"] is None


NOTHING = "Nothing on record is probably about this; try a synonym, the technical term or a name from the code"


def test_a_search_that_nothing_fits_says_so_in_one_sentence(onrecord, saved):
    text, as_json = onrecord("search", "zzzzqqq"), onrecord("search", "zzzzqqq", "--json")

    assert (text.code, text.out) == (0, f"{NOTHING}, or --include-retired.\n")
    assert json.loads(as_json.out) == {"query": "zzzzqqq", "results": [], "nearest": [], "note": f"{NOTHING}."}
    assert onrecord("search", "zzzzqqq", "--include-retired").out == f"{NOTHING}.\n"


def test_what_is_weak_is_named_as_the_nearest_only(onrecord, saved, monkeypatch):
    monkeypatch.setattr("onrecord.search.coefficients.SEARCH_FITS", 1.0)

    text, as_json = onrecord("search", "jobs zzzzqqq"), json.loads(onrecord("search", "jobs zzzzqqq", "--json").out)

    first, second, title, *_ = text.out.split("\n")
    assert first.startswith(NOTHING)
    assert (second, title) == ("Nearest, probably about something else:", "Jobs are rows of the table jobs")
    assert as_json["results"] == []
    assert [hit["id"] for hit in as_json["nearest"]] == ["jobs-are-rows-of-the-table-jobs"]


def test_a_record_that_has_all_words_of_a_search_is_a_result_however_low_it_scores(onrecord, saved, monkeypatch):
    monkeypatch.setattr("onrecord.search.coefficients.SEARCH_FITS", 1.0)

    results = json.loads(onrecord("search", "rows", "--json").out)["results"]

    assert [hit["id"] for hit in results] == ["jobs-are-rows-of-the-table-jobs"]


def test_a_result_that_is_only_proposed_says_so(onrecord, saved):
    assert (
        onrecord("update", "jobs-are-rows-of-the-table-jobs", "--set=status=proposed", "--hash", _hash(onrecord)).code
        == 0
    )

    assert onrecord("search", "rows of the table").out.split("\n")[0] == "Jobs are rows of the table jobs [proposed]"


def _hash(onrecord) -> str:
    return json.loads(onrecord("show", "jobs-are-rows-of-the-table-jobs", "--json").out)["hash"]


def test_all_of_a_result_is_there_for_programs(onrecord, saved):
    (hit,) = json.loads(onrecord("search", "rows of the table jobs", "--json").out)["results"]

    score, probability = hit.pop("score"), hit.pop("probability")
    assert hit == {
        "id": "jobs-are-rows-of-the-table-jobs", "category": "decision", "title": "Jobs are rows of the table jobs",
        "source": "project", "path": ".claude/memory/decisions/jobs-are-rows-of-the-table-jobs.json",
        "tags": hit["tags"], "confidence": "high", "snippet": "Jobs are rows of the table jobs, 4 at a time.",
        "updated_at": "2026-03-02T09:30:00Z", "status": "active", "hidden_by": "", "out_of_scope": "",
        "is_accepted": True, "via": None,
    }  # fmt: skip
    assert (score, probability) == (round(score, 4), round(probability, 4))
    assert onrecord("search", "rows of the table jobs").out == (
        f"Jobs are rows of the table jobs\n  decision  high {probability:.2f}  {hit['path']}\n    {hit['snippet']}\n"
    )


def test_ten_results_are_listed_unless_a_number_is_given(project, onrecord):
    onrecord("save", "decision", "Rule 0", *DECISION)
    folder = project / ".claude/memory/decisions"
    text = (folder / "rule-0.json").read_text()
    for number in range(1, 12):
        (folder / f"rule-{number}.json").write_text(text.replace("rule-0", f"rule-{number}"))

    answers = [json.loads(onrecord("search", "rule", *more, "--json").out) for more in ([], ["--limit=11"])]

    assert [len(answer["results"]) for answer in answers] == [10, 11]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"status": "retired"}, " [retired]"),
        ({"mark": "proposed"}, " [proposed]"),
        ({"status": "superseded", "mark": "superseded"}, " [superseded]"),
        ({"hidden_by": "decisions/a.json"}, " [hidden here by decisions/a.json]"),
        ({"misfit": "branch other"}, " [does not apply here: branch other]"),
        ({"via": ("old", "Old way", "2026")}, " (replaces Old way)"),
        ({"status": "retired", "mark": "proposed", "misfit": "x"}, " [retired] [proposed] [does not apply here: x]"),
    ],
)
def test_what_is_the_matter_with_a_result_follows_its_title(fields, text):
    hit = SimpleNamespace(**{"status": "active", "mark": "", "hidden_by": "", "misfit": "", "via": None, **fields})

    assert search._status(hit) == text


@pytest.mark.parametrize("fits", [0.0, 1.0])
def test_what_is_found_in_a_repository_that_nobody_accepted_is_marked_so(onrecord, project, saved, monkeypatch, fits):
    GitProject(project)
    onrecord("config", "set", "--user", "trust.clones", "ask")
    onrecord("trust", "--revoke")
    monkeypatch.setattr("onrecord.search.coefficients.SEARCH_FITS", fits)

    assert onrecord("search", "jobs zzzzqqq").err == f"warning: {trust.NOTE}\n"
