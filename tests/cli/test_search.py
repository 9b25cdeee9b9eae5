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
