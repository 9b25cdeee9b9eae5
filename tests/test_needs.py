"""What needs a person, in the words of each kind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onrecord import attention, paths, timestamps
from onrecord.attention import ChangedFiles, Need
from onrecord.project import Project
from onrecord.shared import remotes
from onrecord.shared.replicas import SyncState, prepare
from onrecord.usage import usage_log
from tests.records import put, sample
from tests.test_attention import _draft, _save
from tests.test_attention import everything as everything
from tests.test_attention import project as project

IN_WORDS = [
    ("unreadable", "the shared store damaged cannot be read", "cannot read the disk", "onrecord doctor", "/health", ""),
    ("broken", "1 file cannot be read", "Agents are not shown what is in it.", "onrecord doctor", "/health", "project"),
    (
        "off",
        "retrieval.enabled is false, so no record is shown at prompts, files and failed commands",
        "It is set in CONFIG.",
        "onrecord config unset retrieval.enabled",
        "/settings",
        "",
    ),
    (
        "trust",
        "the records of this repository are not accepted",
        "Agents are only pointed to these records until you accept the repository.",
        "onrecord trust",
        "/settings",
        "",
    ),
    (
        "conflict",
        "1 conflict in platform",
        "Both sides changed the same record; yours waits as a draft.",
        "onrecord review --remote platform",
        "/inbox?store=platform",
        "platform",
    ),
    (
        "sync",
        "platform was not synced",
        "no network. It was not reached since 2026-01-01T00:00:00Z.",
        "onrecord sync platform",
        "/health",
        "platform",
    ),
    (
        "refused",
        "1 change that platform does not accept",
        "It is on this machine only, and no agent is shown it.",
        "onrecord remote status platform",
        "/health",
        "platform",
    ),
    (
        "agent",
        "no coding agent is connected",
        "Claude Code, Codex CLI: they are shown nothing.",
        "onrecord connect --list",
        "/settings#agents",
        "",
    ),
    (
        "draft",
        "1 draft is waiting",
        "Agents are not shown it until you accept it.",
        "onrecord review",
        "/inbox",
        "project",
    ),
    (
        "draft",
        "1 draft is waiting in your own store",
        "Agents are not shown it until you accept it.",
        "onrecord review --user",
        "/inbox?store=user",
        "user",
    ),
    (
        "shared_draft",
        "1 draft is waiting in platform",
        "Agents are not shown it until you accept it.",
        "onrecord review --remote platform",
        "/inbox?store=platform",
        "platform",
    ),
    (
        "contradicted",
        "1 record contradicts what replaces what",
        "An agent may follow what was replaced; an audit refuses it.",
        "onrecord audit --strict",
        "/health",
        "project",
    ),
    (
        "corrected",
        "1 rule was broken by your agents",
        "You corrected an agent with it. Make it clearer, add triggers or a check, or say what was wrong.",
        "onrecord edit sessions-expire",
        "/search?corrected=1",
        "project",
    ),
    (
        "changed",
        "1 record is about files that changed since",
        "Agents are told to verify it.",
        "onrecord freshness --stale",
        "/health",
        "project",
    ),
    (
        "waiting",
        "2 changes not in platform yet, and not shown",
        "The next sync pushes them.",
        "onrecord sync platform",
        "/health",
        "platform",
    ),
    (
        "missing",
        "this project asks for unknown, which you have not connected: `onrecord remote add unknown URL`",
        "Its records are not read here.",
        "onrecord remote list",
        "/settings",
        "unknown",
    ),
    (
        "setting",
        "retrieval.files is false, so no record is shown when a file is read or edited",
        "It is set in CONFIG.",
        "onrecord config unset retrieval.files",
        "/settings",
        "",
    ),
    (
        "setting",
        "capture.max_suggestions is 1 in this project, not 2: it hides something that you would get",
        "It is set in CONFIG.",
        "onrecord config unset capture.max_suggestions",
        "/settings",
        "project",
    ),
    (
        "setting",
        "remotes is platform, unknown in this project, not all: it hides something that you would get",
        "It is set in CONFIG.",
        "onrecord config unset remotes",
        "/settings",
        "project",
    ),
    (
        "not_used",
        "1 setting of this project is not used",
        "A project may not set it so; your own value, or the default, is used.",
        "onrecord doctor",
        "/settings",
        "project",
    ),
]
SUBJECTS = [
    ("decisions/broken.json", "", "", ""),
    ("retrieval.enabled", "", "", ""),
    ("conflict-new", "", "", ""),
    ("decisions/no.json", "", "", "held back"),
    ("draft", "", "", ""),
    ("own", "", "", ""),
    ("shared-draft", "", "", ""),
    ("sessions-expire", "", "", "claims says that it replaces this one, which does not say so: nothing obeys that"),
    ("sessions-expire", ".claude/memory/decisions/sessions-expire.json", "Sessions expire", "broken once, last on DAY"),
    ("sessions-expire", ".claude/memory/decisions/sessions-expire.json", "Sessions expire", ""),
    ("decisions/new.json", "", "", ""),
    ("inbox/shared-draft.json", "", "", ""),
    ("retrieval.files", "", "", ""),
    ("capture.max_suggestions", "", "", ""),
    ("remotes", "", "", ""),
    ("capture.mode", "", "", "the default is 'propose', and a project may only lower that: 'auto' would be more risky"),
]


def test_every_need_says_what_it_is_and_what_to_do(everything):
    needs = attention.needs(everything)

    config = os.path.join(everything.store.root, paths.CONFIG)
    day = f"{timestamps.now()[:10]} (codex)"
    assert [(*need[:2], need.sentence.replace(config, "CONFIG"), *need[3:6]) for need in needs] == IN_WORDS
    subjects = [subject for need in needs for subject in need.subjects]
    assert [(*subject[:3], subject.note.replace(day, "DAY")) for subject in subjects] == SUBJECTS
    assert [need.number for need in needs] == [2 if need.kind == "waiting" else 1 for need in needs]
    assert needs[3].line == "the records of this repository are not accepted: onrecord trust"


def _needs(project: Project) -> list[Need]:
    """Return what a project needs; Claude Code, which has a folder in this home, is not connected."""
    return [need for need in attention.needs(Project(project.root)) if need.kind != attention.AGENT]


def test_several_of_a_kind_are_one_need_in_the_plural(project, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2030-01-01T10:00:00Z")
    files = ["src/session.py", "src/other.py"]
    Path(project.root, files[1]).write_text("OTHER = 1\n")
    for number in (1, 2):
        path = _save(project, f"Sessions expire {number}", related_files=[files[number - 1]])
        usage_log.add_correction(project.store.root, path, "codex")
        _draft(project.store.root, f"draft-{number}")
        Path(project.store.root, "decisions", f"broken-{number}.json").write_text("{")
        Path(project.root, files[number - 1]).write_text("CHANGED = 1\n")
    config = {"capture": {"mode": "auto"}, "retrieval": {"max_inject": 9}}
    Path(project.store.root, paths.CONFIG).write_text(json.dumps(config))

    needs = _needs(project)

    assert [(need.kind, need.title, need.sentence, need.command, need.names) for need in needs] == [
        (
            "broken",
            "2 files cannot be read",
            "Agents are not shown what is in them.",
            "onrecord doctor",
            "decisions/broken-1.json, decisions/broken-2.json",
        ),
        (
            "draft",
            "2 drafts are waiting",
            "Agents are not shown them until you accept them.",
            "onrecord review",
            "draft-1, draft-2",
        ),
        (
            "corrected",
            "2 rules were broken by your agents",
            "You corrected an agent with them. Make them clearer, add triggers or a check, or say what was wrong.",
            "onrecord edit sessions-expire-1",
            "sessions-expire-1, sessions-expire-2",
        ),
        (
            "changed",
            "2 records are about files that changed since",
            "Agents are told to verify them.",
            "onrecord freshness --stale",
            "sessions-expire-1, sessions-expire-2",
        ),
        (
            "not_used",
            "2 settings of this project are not used",
            "A project may not set them so; your own value, or the default, is used.",
            "onrecord doctor",
            "capture.mode, retrieval.max_inject",
        ),
    ]


SYNC_STATES = [
    (SyncState(), []),
    (
        SyncState(last_error="no network."),
        [("sync", "platform was not synced", "no network.", "onrecord sync platform")],
    ),
    (
        SyncState(offline_since="2026-01-01T00:00:00Z"),
        [
            (
                "sync",
                "platform was not synced",
                "It was not reached since 2026-01-01T00:00:00Z.",
                "onrecord sync platform",
            )
        ],
    ),
    (
        SyncState(note="its team reviews changes"),
        [("sync", "platform waits for you", "its team reviews changes", "onrecord remote status platform")],
    ),
    (
        SyncState(refused=(("decisions/a.json", "held back"), ("decisions/b.json", "held back"))),
        [
            (
                "refused",
                "2 changes that platform does not accept",
                "They are on this machine only, and no agent is shown them.",
                "onrecord remote status platform",
            )
        ],
    ),
    (
        SyncState(unreadable=(("decisions/a.json", "no JSON"),)),
        [
            (
                "refused",
                "1 file of platform is not taken over",
                "Agents are not shown it: the content is not that of a record.",
                "onrecord remote status platform",
            )
        ],
    ),
]


@pytest.mark.parametrize(("state", "expected"), SYNC_STATES)
def test_what_kept_a_shared_store_from_being_synced(project, state, expected):
    _save(project, "Sessions expire")
    remotes.add("platform", "/srv/memory.git")
    prepare("platform").write_state(state)

    needs = _needs(project)

    assert [(need.kind, need.title, need.sentence, need.command) for need in needs] == expected
    assert {(need.page, need.store) for need in needs} <= {("/health", "platform")}
    notes = [(subject.name, subject.note) for need in needs for subject in need.subjects]
    assert notes == [*state.refused, *state.unreadable]


def test_of_many_only_the_first_five_are_subjects_and_three_are_named(project):
    _save(project, "Sessions expire")
    for number in range(6):
        _draft(project.store.root, f"draft-{number}")

    (need,) = _needs(project)

    assert [subject.name for subject in need.subjects] == [f"draft-{number}" for number in range(5)]
    assert (need.number, need.names) == (6, "draft-0, draft-1, draft-2 and 3 more")
    assert need._replace(number=3, subjects=need.subjects[:3]).names == "draft-0, draft-1, draft-2"
    assert Need("agent", "t", "s", "c", "/p").names == ""


def test_what_another_comparison_says_of_files_that_changed(project):
    _save(project, "Sessions expire")
    ids = ["sessions-expire", *(f"r{number}" for number in range(1_000))]
    unchecked = {"a": "git took too long", "b": "no commit"}

    needs = attention.needs(project, compare=lambda root: ChangedFiles(ids, 500, 501, unchecked))

    assert [(need.kind, need.title, need.sentence, need.command, need.number) for need in needs][-2:] == [
        (
            "unreadable",
            "the files of 2 records could not be compared",
            "git took too long",
            "onrecord doctor",
            2,
        ),
        (
            "changed",
            "1,001 records are about files that changed since, of the 500 newest that name files",
            "Agents are told to verify them.",
            "onrecord freshness --stale",
            1_001,
        ),
    ]
    (changed,) = [need for need in needs if need.kind == "changed"]
    assert [subject.title for subject in changed.subjects] == ["Sessions expire", "", "", "", ""]
    all_checked = attention.needs(project, compare=lambda root: ChangedFiles(["x"], 501, 501))
    assert "1 record is about files that changed since" in [need.title for need in all_checked]


def test_of_rules_that_were_broken_the_fifty_most_frequent_are_looked_at(project):
    record = sample("decision", id="rule", title="Rule")
    for number in range(51):
        put(project.store.root, record._replace(id=f"rule-{number:02}"))
        usage_log.add_correction(project.store.root, f"decisions/rule-{number:02}.json", "codex")

    (need,) = _needs(project)

    assert (need.kind, need.number) == ("corrected", 50)


@pytest.mark.parametrize(
    ("prefix", "command", "page"),
    [
        (".claude/memory/", "onrecord review", "/inbox"),
        ("~/.claude/memory/", "onrecord review --user", "/inbox?store=user"),
        ("a b/.claude/memory/", "onrecord review --project 'a b'", "/inbox?store=a%20b"),
        ("x/y/.claude/memory/", "onrecord review --project x/y", "/inbox?store=x%2Fy"),
    ],
)
def test_the_drafts_of_each_store_have_a_command_and_a_page(project, prefix, command, page):
    _draft(project.store.root, "conflict-draft")

    (need,) = attention.queues(project.store.root, prefix)
    (elsewhere,) = attention.queues(project.store.root, prefix, review="press i")

    assert (need.kind, need.command, need.page) == ("draft", command, page)
    assert elsewhere.command == "press i"


def test_an_environment_that_switches_all_off_is_a_need_of_its_own(project, monkeypatch):
    _save(project, "Sessions expire")
    monkeypatch.setenv("ONRECORD_OFF", "1")

    (need,) = _needs(project)

    assert (need.kind, need.title, need.sentence, need.command) == (
        "off",
        "ONRECORD_OFF is set, so hooks do nothing",
        "It is set in the environment.",
        "unset ONRECORD_OFF",
    )


def test_what_fails_without_a_fix_is_for_the_doctor(project, monkeypatch):
    def fails(settings):
        raise ValueError("no such thing")

    monkeypatch.setattr(attention, "_of_settings", fails)
    _save(project, "Sessions expire")

    (need,) = _needs(project)

    assert need[:5] == (
        "unreadable",
        "the settings cannot be read",
        "ValueError: no such thing",
        "onrecord doctor",
        "/health",
    )
