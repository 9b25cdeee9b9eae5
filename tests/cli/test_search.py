from __future__ import annotations

import json

import pytest

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
