"""What `onrecord digest` says about one digest: why an entry is in the map or not, and all of it in JSON."""

from __future__ import annotations

import json
import subprocess

import pytest

from onrecord.cli import digest
from onrecord.digest.digest import Digest, DigestPage
from onrecord.digest.selection import DigestCandidate, Pick
from onrecord.digest.work_context import Feature, WorkContext
from onrecord.git.changes import Changes


def pick(name: str, score: float, relevance: float = 0.25, reason: str = "") -> Pick:
    path = f"decisions/{name}.json"
    candidate = DigestCandidate(f"key {name}", "decision", name.title(), "", path, True, 3, 2.5, name=name)
    return Pick(candidate, relevance, 0.123456, score, reason, f"{name} changed" if reason else "")


ONE, TWO, THREE = pick("one", 0.9), pick("two", 0.55556), pick("three", 0.1)
ABOVE = pick("urgent", 1.0, reason="unfinished")


def made(relevance: str = "active", branch: str = "topic", notes: tuple[str, ...] = (), files: int = 2) -> Digest:
    names = tuple(f"{number}.py" for number in range(files))
    changes = Changes(uncommitted=names, subjects=("Add one", "Add two"), is_own=branch != "main")
    feature = Feature("login", "Users log in.", "build") if branch == "topic" else None
    context = WorkContext(feature, branch, changes, list(notes))
    return Digest(context, 0.6, 10, 100, ("slow",), (ABOVE,), (ONE,), (ONE, TWO, THREE), relevance=relevance)


def test_the_reasons_of_a_digest():
    page = DigestPage("text", (ABOVE,), (ONE, TWO), left_out=1_200)

    lines = list(digest._explain(made(), page))

    assert lines == [
        "branch: topic; changed files: 2; notes: -",
        f"words of the work: {made().words}",
        "above the map: decisions/urgent.json  (unfinished)",
        "in the map: one  0.90 = relevance 0.25, prominence 0.12 (observed 3, confidence 2.5; always in)",
        "in the map: two  0.56 = relevance 0.25, prominence 0.12 (observed 3, confidence 2.5)",
        "left out: three  0.10 = relevance 0.25, prominence 0.12 (observed 3, confidence 2.5)",
        "1,200 are not in the map; those not named here are older or less severe than these",
    ]


@pytest.mark.parametrize(("left_out", "is_told"), [(1, False), (2, True)])
def test_entries_that_are_not_named_are_counted_and_no_work_is_said(left_out, is_told):
    lines = list(digest._explain(made("inactive", "", ("a.md is large",)), DigestPage("", (), (ONE, TWO), left_out)))

    assert lines[:2] == [
        "branch: (none); changed files: 2; notes: ['a.md is large']",
        "no work to be relevant to, or no weight on it: prominence alone decides",
    ]
    assert ("are not in the map" in lines[-1]) == is_told


def test_all_of_a_digest_in_json():
    data = digest._describe(made(files=51), DigestPage("text", (ABOVE,), (ONE,), left_out=2))

    assert len(data["signals"]["files"]) == 50
    data["signals"]["files"] = data["signals"]["files"][-1:]
    assert [entry["name"] for entry in data["not_listed"]] == ["two", "three"]
    assert data["not_listed"][0]["score"] == 0.5556
    assert {**data, "not_listed": []} == {
        "relevance": "active",
        "weight": 0.6,
        "query": made(files=51).words,
        "signals": {
            "feature": "login",
            "phase": "build",
            "branch": "topic",
            "files": ["49.py"],
            "subjects": ["Add one", "Add two"],
            "notes": [],
        },
        "above": [
            {
                "name": "urgent",
                "path": "decisions/urgent.json",
                "category": "decision",
                "title": "Urgent",
                "score": 1.0,
                "relevance": 0.25,
                "prominence": 0.1235,
                "observations": 3,
                "confidence": 2.5,
                "reason": "unfinished",
                "caution": "urgent changed",
            }
        ],
        "entries": [
            {
                "name": "one",
                "path": "decisions/one.json",
                "category": "decision",
                "title": "One",
                "score": 0.9,
                "relevance": 0.25,
                "prominence": 0.1235,
                "observations": 3,
                "confidence": 2.5,
                "reason": "",
                "caution": "",
            }
        ],
        "left_out": 2,
        "not_listed": [],
        "warnings": ["slow"],
    }


def test_without_a_branch_of_its_own_the_signals_are_empty():
    signals = digest._describe(made(branch="main"), DigestPage(""))["signals"]
    detached = digest._describe(made(branch=""), DigestPage(""))["signals"]

    assert (signals["feature"], signals["phase"], signals["branch"], signals["subjects"]) == (None, None, "main", [])
    assert detached["branch"] is None


def test_a_digest_that_is_off_says_so_in_json_too(project, onrecord):
    onrecord("init")
    onrecord("config", "set", "session_start.map", "false")
    shown = json.loads(onrecord("digest", "--json").out)
    onrecord("config", "set", "session_start.enabled", "false")

    off = json.loads(onrecord("digest", "--json").out)

    assert "off" not in shown and (shown["text"], shown["tokens"]) == ("", 0)
    assert (off["entries"], off["text"]) == ([], "")
    assert off["off"].startswith("session_start.enabled is false")
    assert onrecord("digest").out == f"Nothing to show: {off['off']}.\n"


def test_records_that_are_not_accepted_are_not_shown(sample, onrecord):
    onrecord("config", "set", "--user", "trust.clones", "ask")

    assert onrecord("digest").out.startswith("Nothing to show: the records of this repository are not accepted; "), (
        onrecord("digest").out
    )


def test_a_digest_names_the_memories_in_folders_as_a_session_at_the_root_is_told(project, onrecord):
    """It said that nothing is on record where the hook named the memory of a package."""
    subprocess.run(["git", "init", "-q"], cwd=project, check=True, timeout=120)
    (project / "packages" / "web").mkdir(parents=True)
    onrecord("init")
    onrecord("init", "--here", "--project", "packages/web")
    options = ("--set=context=C.", "--set=decision=Forms are validated with zod.", "--set=rationale=R.")
    onrecord("save", "decision", "Forms with zod", "--project", "packages/web", *options)
    subprocess.run(["git", "add", "packages"], cwd=project, check=True, timeout=120)

    outcome = onrecord("digest")

    assert "packages/web has its own memory: 1 record" in outcome.out.splitlines()
    assert "packages/web" not in onrecord("digest", "--user").out
    assert "packages/web" in json.loads(onrecord("digest", "--json").out)["text"]
