"""What the doctor says of the machine: Python, failures, indexes, folders, and the files outside the stores."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from onrecord import coldstart, paths, state_file, timestamps
from onrecord.doctor import Finding, machine
from onrecord.errors import NoSqlite
from onrecord.search import build_lock
from onrecord.search.build_lock import BuilderState

pytestmark = pytest.mark.skipif(os.name == "nt", reason="programs and paths of POSIX")


def _program(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_machine_without_faults():
    assert list(machine.examine()) == [
        Finding("ok", "python", "Python {}.{}.{}".format(*sys.version_info)),
        Finding("ok", "fts5", "SQLite has full-text search (FTS5)"),
        Finding("ok", "words", "the table of word vectors is complete"),
        Finding("ok", "folders", "index and state can be written"),
    ]


def test_failures_are_counted_for_seven_days_and_the_last_is_named(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")
    state_file.log_failure("hook stop", "KeyError: old")
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:01Z")
    state_file.log_failure("hook stop", "KeyError: first")
    state_file.log_failure("prune", "no space")
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-09T09:30:01Z")

    (finding,) = machine._failures()

    assert finding == Finding(
        "warning",
        "failures",
        "2 failures in 7 days; the last, 2026-03-02T09:30:01Z: prune: no space",
        f"read {state_file.log_file()}",
    )


@pytest.mark.parametrize(
    ("starts", "is_running", "is_there", "finding"),
    [
        (0, False, True, None),
        (1, True, True, ("ok", "the index of STORE is being built (12,000 records)", "")),
        (
            1,
            False,
            True,
            (
                "warning",
                "the process that completes the index of STORE (12,000 records) ended early",
                "complete it now: onrecord --project 'PROJECT' list --limit 1",
            ),
        ),
        (
            2,
            False,
            True,
            (
                "warning",
                "the process that completes the index of STORE (12,000 records) ended early 2 times",
                "complete it now: onrecord --project 'PROJECT' list --limit 1",
            ),
        ),
        (2, False, False, None),
    ],
)
def test_an_index_that_is_being_built(tmp_path, monkeypatch, starts, is_running, is_there, finding):
    project = tmp_path / "a project"
    store = project / ".claude" / "memory"
    if is_there:
        store.mkdir(parents=True)
    state = BuilderState(str(store), 12_000, starts, 1, is_running)
    monkeypatch.setattr(build_lock, "unfinished_states", lambda: [state] if starts else [])

    findings = [
        (severity, check, what.replace(str(store), "STORE"), fix.replace(str(project), "PROJECT"))
        for severity, check, what, fix in machine._builders()
    ]

    assert findings == ([(finding[0], "index", *finding[1:])] if finding else [])


def test_an_index_of_your_own_store_is_completed_without_a_project(tmp_path, monkeypatch):
    state = BuilderState(str(tmp_path), 1, 1, 1, False)
    monkeypatch.setattr(build_lock, "unfinished_states", lambda: [state])

    (finding,) = machine._builders()

    assert finding.fix == "complete it now: onrecord list --limit 1"


def test_a_python_without_sqlite_is_an_error(monkeypatch):
    def fails(path):
        raise NoSqlite("this Python has no sqlite3", fix="use another Python")

    monkeypatch.setattr(coldstart, "connect", fails)

    assert machine._full_text_search() == Finding(
        "error", "sqlite3", "this Python has no sqlite3", "use another Python"
    )


def test_a_python_without_full_text_search_says_what_search_does_then(monkeypatch):
    class Bare:
        def execute(self, sql):
            raise coldstart.SqliteError("no such module: fts5")

        def close(self):
            pass

    monkeypatch.setattr(coldstart, "connect", lambda path: Bare())

    assert [finding for finding in machine.examine() if finding.check == "fts5"] == [
        Finding(
            "warning",
            "fts5",
            "this Python's SQLite has no full-text search (FTS5)",
            "use a Python whose SQLite has FTS5; until then search uses the keyword scorer",
        )
    ]


@pytest.mark.parametrize(
    ("variable", "cost"),
    [
        ("CACHE", "each prompt indexes all records again"),
        ("STATE", "records repeat within a session, and usage and failures are not logged"),
    ],
)
def test_a_folder_that_cannot_be_written_says_what_that_costs(tmp_path, monkeypatch, variable, cost):
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "below")
    monkeypatch.setenv(f"ONRECORD_{variable}_DIR", folder)

    assert list(machine._folders()) == [
        Finding(
            "warning",
            variable.lower(),
            f"{folder} cannot be written, so {cost}",
            f"make {folder} a folder that you can write, or set ONRECORD_{variable}_DIR to such a folder",
        )
    ]


PYTHONS = [
    ("echo '[[3, 9, 0], \"\"]'", ("ok", "python", "hooks run with Python 3.9.0", "")),
    (
        "echo '[[3, 8, 20], \"\"]'",
        (
            "error",
            "python",
            "hooks run with PYTHON, Python 3.8.20, which is too old",
            "put a newer python3 on the PATH, then rm MEMO",
        ),
    ),
    (
        "echo '[[3, 12, 1], \"no such module: fts5\"]'",
        (
            "warning",
            "fts5",
            "hooks run with PYTHON, whose SQLite has no full-text search (no such module: fts5): search uses the "
            "keyword scorer",
            "put a Python whose SQLite has FTS5 first on the PATH, then rm MEMO",
        ),
    ),
    (
        "echo broken",
        ("error", "python", "hooks run with PYTHON, which does not work", "rm MEMO, and hooks will look for another"),
    ),
    (
        "exit 1",
        ("error", "python", "hooks run with PYTHON, which does not work", "rm MEMO, and hooks will look for another"),
    ),
]


@pytest.mark.parametrize(("script", "expected"), PYTHONS)
def test_what_is_said_of_the_python_that_hooks_run_with(tmp_path, script, expected):
    python = _program(tmp_path / "python", script)

    finding = machine.examine_python(python)

    assert tuple(text.replace(python, "PYTHON").replace(machine.memo_file(), "MEMO") for text in finding) == expected


def test_a_python_that_is_gone_does_not_work(tmp_path):
    assert machine.examine_python(str(tmp_path / "gone")).what.endswith("/gone, which does not work")


def _remember(text: str) -> None:
    os.makedirs(os.path.dirname(machine.memo_file()), exist_ok=True)
    Path(machine.memo_file()).write_text(text)


@pytest.mark.parametrize(
    ("script", "remembered", "findings"),
    [
        ("echo no Python >&2", "", [("error", "hooks find no Python 3.9 or later, so memory is off")]),
        ("true", "", []),
        ("true", "{python}\nmore", [("ok", "hooks run with Python 3.11.1")]),
        (
            "rm '{memo}'",
            "{python}",
            [("warning", "hooks ran with {python}, which does not work; the next hook will look for another")],
        ),
        (
            "echo '{python}' > '{memo}'",
            "/gone/python3",
            [
                ("note", "hooks remembered /gone/python3, which no longer exists; they will look for another"),
                ("ok", "hooks run with Python 3.11.1"),
            ],
        ),
    ],
)
def test_what_is_said_of_the_launcher_of_the_hooks(tmp_path, script, remembered, findings):
    python = _program(tmp_path / "python", "echo '[[3, 11, 1], \"\"]'")
    names = {"python": python, "memo": machine.memo_file()}
    launcher = tmp_path / "launch"
    launcher.write_text(script.format(**names))
    _remember(remembered.format(**names))

    examined = list(machine.examine_launcher(str(launcher)))

    assert [(finding.severity, finding.what) for finding in examined] == [
        (severity, what.format(**names)) for severity, what in findings
    ]
    assert {finding.check for finding in examined} <= {"python"}


def test_the_launcher_is_started_with_an_event_that_does_nothing(tmp_path):
    launcher = tmp_path / "launch"
    launcher.write_text(f'echo "$@" > {tmp_path}/words')

    list(machine.examine_launcher(str(launcher)))

    assert (tmp_path / "words").read_text() == "none\n"


def test_without_a_shell_hooks_cannot_be_started(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    (finding,) = machine.examine_launcher("launch")

    assert finding == Finding(
        "error",
        "python",
        "hooks are started by `sh`, which cannot be run here",
        "install a POSIX shell (on Windows: Git for Windows) and put its sh on the PATH",
    )


@pytest.mark.parametrize(
    ("variables", "file"),
    [
        ({"ONRECORD_CACHE_DIR": "/c"}, "/c/python"),
        ({"ONRECORD_CACHE_DIR": "", "XDG_CACHE_HOME": "/x"}, "/x/onrecord/python"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/onrecord/python"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/onrecord/python"),
    ],
)
def test_where_the_launcher_remembers_its_python(monkeypatch, variables, file):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert machine.memo_file() == file


HASH = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("name", "what", "days"),
    [
        (f"{HASH}.9-0.3.0.sqlite", "a search index", 30),
        (f"{HASH}.9-0.3.0.sqlite-wal", "a search index", 30),
        (f"{HASH}.sqlite", "a search index", 30),
        (f"{HASH}.9-0.3.0.words", "words of records, which rule out ordinary commands", 30),
        (f"{HASH}.9-0.3.0.building", "how far the search index of a large store has come", 30),
        (f"{HASH}.nested", "folders of a project with a memory of their own", 0),
        (f"{HASH}.anchors", "states of files", 0),
        (f"{HASH[1:]}.sqlite", None, 0),
        (f"{HASH[1:]}g.sqlite", None, 0),
        (f"{HASH}0.sqlite", None, 0),
        (f"{HASH}.txt", None, 0),
        ("notes", None, 0),
    ],
)
def test_a_file_in_the_cache_is_ours_by_its_name(name, what, days):
    os.makedirs(paths.cache_dir())
    Path(paths.cache_dir(), name).write_text("12345")
    os.utime(os.path.join(paths.cache_dir(), name), (86_400, 86_400))

    expected = [(os.path.join(paths.cache_dir(), name), what, 5, 1, "1970-01-02T00:00:00Z", days)] if what else []
    assert [own[:6] for own in machine.all_own_files()] == expected
    assert {own.until for own in machine.all_own_files()} <= {"deleted by `onrecord clean`"}


STATE = [
    ("sessions", "what each session was shown, and its user's corrections", 30),
    ("usage/sessions", "whether records shown to a session were opened", 30),
    ("usage", "how often each record was shown and opened", 365),
    ("theme", "the theme of the page that you chose", 365),
    ("events", "what agents were shown, when, and what became of it", 100),
    ("suggestions", "suggestions to save, with the sentences they quote", 180),
    ("languages", "how many prompts were typed in which language other than English", 180),
    ("holdout", "when the share of sessions without records was changed", 3_650),
    ("history", "changes of each store, and the earlier content of its files", 365),
    ("imports", "hashes of the imported documents", 3_650),
    ("listings", "the paths of the records listed last on each terminal", 1),
    ("forms", "texts of forms that were not saved", 30),
    ("judge", "how many requests were sent to a judge", 30),
    ("remote.lock", "a lock, used while the list of remotes is changed", 0),
    ("failures.log", "failures", 90),
    ("pruned", "when this folder was last pruned", 0),
]


def test_what_is_said_of_each_file_in_the_state_folder():
    for name, _, _ in STATE:
        path = state_file.state_path(name)
        os.makedirs(path if "." not in name and name != "pruned" else os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(path):
            Path(path).write_text("")

    listed = [(os.path.relpath(own.path, paths.state_dir()), own.what, own.days) for own in machine.all_own_files()]

    assert listed == STATE


def test_a_folder_of_ours_is_measured_with_the_files_in_it(tmp_path):
    folder = tmp_path / "sessions"
    (folder / "deeper").mkdir(parents=True)
    (folder / "deeper" / "not-ours").write_text("x" * 100)
    for number in (1, 2):
        (folder / f"s{number}").write_text("x" * number)
        os.utime(folder / f"s{number}", (number * 86_400,) * 2)

    own = machine.measure(str(folder), "what", 7)

    assert own[:6] == (str(folder), "what", 3, 2, "1970-01-02T00:00:00Z", 7)
    assert machine.measure(str(tmp_path / "gone"), "what")[2:6] == (0, 0, "", 0)


def test_what_is_removed_is_ours_and_what_is_empty_then():
    state = state_file.state_path("sessions")
    os.makedirs(os.path.join(state, "deeper"))
    Path(state, "s1").write_text("")
    _remember("/python")
    os.makedirs(state_file.state_path("usage"))

    machine.remove(machine.all_own_files())

    assert not os.path.exists(machine.memo_file())
    assert sorted(os.listdir(paths.state_dir())) == ["sessions"]
    assert os.listdir(state) == ["deeper"]


def test_a_replica_is_measured_whole_and_removed_with_its_remote():
    folder = Path(paths.replicas(), "platform", "store", "decisions")
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("12345")
    Path(paths.replicas(), "note").write_text("")

    (own,) = machine.replicas()

    assert (own.path, own.what, own.size, own.files, own.days, own.until) == (
        str(Path(paths.replicas(), "platform")),
        "the replica of a shared store",
        5,
        1,
        0,
        "deleted by `onrecord remote remove platform`",
    )


def test_the_probe_of_a_python_says_its_version():
    process = machine._run([sys.executable, "-S", "-E", "-c", machine._PROBE_SCRIPT])

    assert process and json.loads(process.stdout) == [list(sys.version_info[:3]), ""]
