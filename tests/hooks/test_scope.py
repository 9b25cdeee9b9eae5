"""A record may be shown exactly where its scope fits: at every moment, and in every store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onrecord import paths
from onrecord.cli import main
from onrecord.hooks import handle, render
from onrecord.hooks.event_stores import EventStores, find_event_stores
from onrecord.hosts import table
from onrecord.hosts.events import Payload
from onrecord.project import Project
from onrecord.recall.scope import ProjectScope
from onrecord.session.ledger import Ledger
from onrecord.shared import remotes
from tests import records
from tests.git_project import GitCalls, GitProject

WEB = "packages/web"
TITLE = "Invoices are rounded by the ledger"
ASKS = "who rounds invoices, the ledger or the page?"
COMMAND = "ledgerctl round --invoices"
ERROR = "Exit code 1\nledgerctl: refusing to round invoices twice in epoch 7731"

HERE = {
    "paths": {"src/**": True, "*.sql": True, "src/pay.py": True, "nowhere/**": False, "*.tf": False},
    "branches": {"feature/*": True, "feature/x": True, "release/*": False, "main": False},
    "repositories": {"acme/*": True, "github.com/acme/orders": True, "other/*": False},
    "languages": {"python": True, "go": False, "rust": False},
}
"""Patterns of each kind, and whether they fit the project, each of its stores' folders, and the branch."""

AT_FILE = {"src/**": True, "src/pay.py": True, "*.sql": False, "nowhere/**": False, "*.tf": False}
"""The same for paths, at the file src/pay.py."""


class Moment(NamedTuple):
    """A moment at which an agent is shown records, and the event that brings it about."""

    name: str
    event: str
    fields: dict[str, Any] = {}
    category: str = "decision"
    is_about_file: bool = False


MOMENTS = [
    Moment("map", "session_start", {"source": "startup"}),
    Moment("prompt", "user_prompt_submit", {"prompt": f"{ASKS} (in {WEB})"}),
    Moment("past question", "user_prompt_submit", {"prompt": f"what did we decide in {WEB}: {ASKS}"}),
    Moment("file", "pre_tool_use", {"tool_name": "Edit"}, is_about_file=True),
    Moment("action", "pre_tool_use", {"tool_name": "Bash", "tool_input": {"command": f"{COMMAND} {WEB}/x"}}),
    Moment("failure", "post_tool_use_failure", {"tool_name": "Bash", "error": ERROR}, "runbook"),
    Moment("compaction", "session_start", {"source": "compact"}),
]
STORES = ["project", "user", "shared", "nested", "above"]
"""`above` is the store of the root, for a session in packages/web."""


class Repository:
    """A repository with a store of each kind; one record at a time is in one of them."""

    def __init__(self, folder: Path) -> None:
        self.git = GitProject(folder / "orders")
        self.root = str(self.git.root)
        for file in ("src/pay.py", "db/a.sql", "main.py", f"{WEB}/src/pay.py", f"{WEB}/db/a.sql", f"{WEB}/main.py"):
            self.git.write(file, "x = 1\n")
        self.git.git("remote", "add", "origin", "git@github.com:acme/orders.git")
        remotes.add("platform", "/srv/memory.git")
        self.stores = {
            "project": os.path.join(self.root, paths.STORE),
            "user": paths.user_store(),
            "shared": paths.accepted("platform").root,
            "nested": os.path.join(self.root, WEB, paths.STORE),
            "above": os.path.join(self.root, paths.STORE),
        }
        for store in self.stores.values():
            records.put(store, records.decision("unrelated", "Tabs are used for indentation", "Tabs."))
        self.git.commit()
        self.git.git("checkout", "-q", "-b", "feature/x")
        self.sessions: Iterator[int] = iter(range(10**6))

    def shows(self, moment: Moment, store: str, scope: dict[str, list[str]]) -> bool:
        """True if the record is shown at `moment` when it is in `store` with `scope`."""
        record = _record(moment, scope)
        root, session = self.stores[store], f"s{next(self.sessions)}"
        records.put(root, record)
        try:
            if moment.name == "compaction":
                with Ledger(session) as ledger:
                    ledger.add_shown(os.path.join(root, record.path), "0")
                    ledger.add_folders([WEB])
            return TITLE in self.ask(moment, store, session)
        finally:
            os.unlink(os.path.join(root, record.path))

    def ask(self, moment: Moment, store: str, session: str) -> str:
        """Return the reply of the hook."""
        file = os.path.join(self.root, WEB if store == "nested" else "", "src", "pay.py")
        tool_input = {"file_path": file, "old_string": "a", "new_string": "b", "command": f"make {WEB}/x"}
        cwd = os.path.join(self.root, WEB) if store == "above" else self.root
        given_fields = {"session_id": session, "cwd": cwd, "tool_input": tool_input, **moment.fields}
        stores = find_event_stores(given_fields, has_digest=True) or EventStores("", "", "")
        host = table.module("claude-code")
        event = host.read(moment.event, Payload(given_fields))._replace(host="claude-code")
        return render(host, event, handle(event, stores))


def _record(moment: Moment, scope: dict[str, list[str]]) -> Any:
    content = {"status": "accepted", "context": "", "decision": f"{TITLE}, in cents.", "rationale": ["one place"]}
    if moment.category == "runbook":
        steps = ["Start a new epoch"]
        content = {"trigger": ERROR.partition("\n")[2], "symptoms": [ERROR.partition("\n")[2]], "steps": steps,
                   "verification": "ledgerctl is quiet"}  # fmt: skip
    return records.sample(
        moment.category,
        id="rounding",
        title=TITLE,
        tags=["ledger"],
        triggers=[ASKS, COMMAND],
        related_files=["src/pay.py"],
        content=content,
        scope=scope,
    )


def _expected(moment: Moment, store: str, scope: dict[str, list[str]]) -> bool:
    if moment.is_about_file and store == "shared" and "paths" not in scope:
        return False
    if moment.name == "map" and store == "nested":
        # The map names nested stores in a line of its own.
        return False
    table_of_truth = {**HERE, "paths": AT_FILE if moment.is_about_file else HERE["paths"]}
    return all(any(table_of_truth[kind][pattern] for pattern in patterns) for kind, patterns in scope.items())


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


scopes = st.fixed_dictionaries(
    {},
    optional={kind: st.lists(st.sampled_from(list(HERE[kind])), min_size=1, max_size=2, unique=True) for kind in HERE},
)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.heavy
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.name)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scope=scopes)
def test_a_record_may_be_shown_exactly_where_its_scope_fits(repository, moment, store, scope):
    assert repository.shows(moment, store, scope) == _expected(moment, store, scope)


RELEASE = {"branches": ["release/*"]}


def _save(repository: Repository, scope: dict[str, list[str]]) -> None:
    records.put(repository.stores["project"], _record(MOMENTS[1], scope))


def _printed(capfd: pytest.CaptureFixture[str], repository: Repository, *words: str) -> str:
    assert main([*words, "--project", repository.root]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("words", [["why", ASKS], ["why", "--command", COMMAND]])
def test_why_says_that_a_record_is_out_of_scope(repository, capfd, words):
    _save(repository, RELEASE)

    assert "not shown: out of scope: branch release/*" in _printed(capfd, repository, *words)

    repository.git.git("checkout", "-q", "-b", "release/1")
    assert "out of scope" not in _printed(capfd, repository, *words)


@pytest.mark.parametrize(
    ("words", "mark"),
    [
        (["search", "invoices ledger"], "[does not apply here: branch release/*]"),
        (["show", "rounding"], "does not apply here: branch release/*"),
        (["list"], "out of scope"),
    ],
)
def test_commands_have_the_record_and_say_that_it_does_not_apply(repository, capfd, words, mark):
    _save(repository, RELEASE)
    printed = _printed(capfd, repository, *words)
    assert TITLE in printed
    assert mark in printed

    _save(repository, {"branches": ["feature/*"]})
    assert mark not in _printed(capfd, repository, *words)


def test_a_record_that_does_not_apply_hides_nothing(repository):
    prompt = MOMENTS[1]
    records.put(repository.stores["user"], _record(prompt, {}))
    _save(repository, RELEASE)

    assert "~/.claude/memory/decisions/rounding.json" in repository.ask(prompt, "user", "s")


@pytest.mark.parametrize("moment", MOMENTS[1:6], ids=lambda moment: moment.name)
def test_without_a_scope_nothing_of_the_repository_is_looked_at(repository, moment, monkeypatch):
    calls = GitCalls(monkeypatch)
    monkeypatch.setattr(ProjectScope, "__init__", lambda *_: pytest.fail("a scope was compared"))

    assert repository.shows(moment, "project", {})
    assert calls.times == 0


@pytest.mark.parametrize("moment", MOMENTS[1:6], ids=lambda moment: moment.name)
def test_a_branch_is_read_without_running_git(repository, moment, monkeypatch):
    calls = GitCalls(monkeypatch)

    assert not repository.shows(moment, "project", RELEASE)
    assert calls.times == 0


def test_a_branch_that_is_left_takes_its_records_along(repository):
    prompt = MOMENTS[1]
    _save(repository, {"branches": ["feature/*"]})
    assert TITLE in repository.ask(prompt, "project", "a")

    repository.git.git("checkout", "-q", "main")

    assert TITLE not in repository.ask(prompt, "project", "b")
    assert Project(repository.root).search("invoices ledger")[0].misfit == "branch feature/*"
