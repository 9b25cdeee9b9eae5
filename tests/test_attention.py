"""What needs a person is one list, and every surface names all of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onrecord import attention, paths, timestamps
from onrecord.attention import KINDS, Need
from onrecord.cli import main
from onrecord.errors import Unwritable
from onrecord.hooks import session
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts.events import HostEvent
from onrecord.project import Project
from onrecord.recall import trust
from onrecord.record import compose
from onrecord.shared import remotes
from onrecord.shared.replicas import Replica, SyncState, prepare
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.usage import Happening, event_log, usage_log
from tests.git_project import GitProject
from tests.records import put, sample

CONTENT = {"context": "Asked in a session", "decision": "Yes", "rationale": ["it was agreed"]}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    repository = GitProject(tmp_path / "ferry")
    repository.write("src/session.py", "EXPIRY = 14\n")
    repository.commit()
    return Project(str(tmp_path / "ferry"))


def _save(project: Project, title: str, **fields: object) -> str:
    return project.save("decision", {"title": title, "content": CONTENT, **fields}).path


def _draft(root: str, name: str) -> None:
    record = compose.compose("decision", {"title": name, "content": CONTENT})
    draft = inbox.new_draft(record)
    Inbox(root).put(draft._replace(name=name))


def _summary(found: list[Need]) -> list[tuple[str, str, int]]:
    return [(need.kind, need.store, need.number) for need in found]


@pytest.fixture
def everything(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a need of every kind but a first record: those exclude each other."""
    changed = _save(project, "Sessions expire", related_files=["src/session.py"])
    Path(project.root, "src/session.py").write_text("EXPIRY = 30\n")
    usage_log.add_correction(project.store.root, changed, "codex")
    _draft(project.store.root, "draft")
    _draft(paths.user_store(), "own")
    Path(project.store.root, "decisions", "broken.json").write_text("{")
    put(project.store.root, sample("decision", id="claims", title="Claims", supersedes=("sessions-expire",)))
    config = {
        "retrieval": {"enabled": False, "files": False},
        "capture": {"mode": "auto", "max_suggestions": 1},
        "remotes": ["platform", "unknown"],
    }
    Path(project.store.root, paths.CONFIG).write_text(json.dumps(config))
    Path(paths.user_store(), paths.CONFIG).write_text(json.dumps({"trust": {"clones": "ask"}}))
    remotes.add("platform", "/srv/memory.git")
    replica = prepare("platform")
    put(replica.store, sample("decision", id="new", title="New"))
    _draft(replica.store, "shared-draft")
    _draft(replica.store, "conflict-new")
    refused = (("decisions/no.json", "held back"),)
    replica.write_state(SyncState(last_error="no network", offline_since="2026-01-01T00:00:00Z", refused=refused))
    home = Path(os.environ["HOME"], ".codex")
    home.mkdir()
    Path(remotes.paths.replicas(), "damaged").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(attention, "_of_shared_store", _one_that_fails(attention._of_shared_store))
    remotes.add("damaged", "/srv/damaged.git")
    return Project(project.root)


def _one_that_fails(real):
    def read(name: str) -> list[Need]:
        if name == "damaged":
            raise Unwritable("cannot read the disk", fix="onrecord doctor")
        return real(name)

    return read


def test_every_kind_is_in_one_list_the_most_important_first(everything):
    found = attention.needs(everything)

    order = [KINDS.index(need.kind) for need in found]
    assert order == sorted(order)
    assert {need.kind for need in found} == set(KINDS) - {attention.EMPTY}
    assert {need.store for need in found} == {"", "project", "user", "platform", "unknown"}


def test_every_surface_names_all_of_it(everything, capsys, monkeypatch):
    monkeypatch.chdir(everything.root)
    found = attention.needs(everything)

    main(["status"])
    status = " ".join(capsys.readouterr().out.split())
    main(["status", "--json"])
    data = json.loads(capsys.readouterr().out)
    main(["doctor", "--json"])
    findings = {finding["what"] for finding in json.loads(capsys.readouterr().out)["findings"]}

    assert [need["title"] for need in data["needs"]] == [need.title for need in found]
    assert data["next"]["command"] == found[0].command
    assert [need.title for need in found if need.title not in status] == []
    elsewhere = (attention.BROKEN, attention.NOT_USED)
    assert [
        need.title
        for need in found
        if need.kind not in elsewhere
        and not any(map(need.title.__eq__, (what.partition(". It is set in")[0] for what in findings)))
    ] == []
    assert any("broken.json" in what for what in findings)
    assert any("capture.mode" in what for what in findings)


def test_the_page_and_the_start_of_a_session_name_the_same(everything):
    view = pytest.importorskip("onrecord.web.view", reason="the extra web is not installed")
    access = pytest.importorskip("onrecord.web.access", reason="the extra web is not installed")
    found = attention.needs(everything)
    queues = [need for need in found if need.kind in (attention.DRAFT, attention.SHARED_DRAFT, attention.CONFLICT)]
    event = HostEvent("session_start", host="codex", source="startup", session="s", is_attended=True)
    stores = EventStores(everything.root, everything.store.root, paths.user_store(), [paths.accepted("platform")])

    page = view.Site(everything.root, access.Access(8700)).live.needs()
    start = session._drafts(event, stores)

    assert _summary(page) == _summary(found)
    assert sorted(start.split("\n")) == sorted(f"Memory: {need.title}: {need.command}" for need in queues)


def test_nothing_needs_anybody_where_nothing_does(project):
    _save(project, "Sessions expire")

    assert attention.needs(Project(project.root)) == []


def test_the_first_record_is_asked_for_where_no_store_has_any(project):
    (need,) = attention.needs(project)

    assert (need.kind, need.command, need.page) == ("empty", "onrecord save --help", "/new/decision")
    put(paths.user_store(), sample("decision", id="mine"))
    assert "empty" not in {need.kind for need in attention.needs(Project(project.root))}


def test_where_drafts_wait_no_first_record_is_asked_for(project):
    _draft(project.store.root, "a-draft")

    assert [need.kind for need in attention.needs(project)] == ["draft"]


def test_a_file_that_the_project_has_renewed_needs_nobody(project):
    _save(project, "Tabs")
    config = Path(project.store.root, "memory-config.json")
    config.write_text('{"export": {"file": "AGENTS.md"}}', encoding="utf-8")

    assert attention.needs(Project(project.root)) == []


def test_status_works_where_only_shared_stores_are(project, capsys, monkeypatch):
    remotes.add("platform", "/srv/memory.git")
    replica = prepare("platform")
    put(paths.accepted("platform").root, sample("decision", id="shared"))
    put(replica.store, sample("decision", id="shared"))
    _draft(replica.store, "conflict-shared")
    monkeypatch.chdir(project.root)

    assert main(["status", "--json"]) == 0

    data = json.loads(capsys.readouterr().out)
    assert ("conflict", "platform") in [(need["kind"], need["store"]) for need in data["needs"]]
    assert data["next"] == {"reason": "1 conflict in platform", "command": "onrecord review --remote platform"}


def test_a_corrected_rule_needs_somebody_until_it_is_changed_or_judged(project):
    path = _save(project, "Sessions expire")
    usage_log.add_correction(project.store.root, path, "codex")
    (need,) = attention.needs(project)
    assert (need.kind, need.subjects[0].title, need.command) == (
        "corrected",
        "Sessions expire",
        "onrecord edit sessions-expire",
    )

    event_log.give_feedback(project.store.root, path, "wrong")

    assert attention.needs(project) == []


def test_a_rule_that_is_broken_again_after_it_was_changed_needs_somebody_again(project, monkeypatch):
    path = _save(project, "Sessions expire")
    for day in ("2999-01-01", "2999-01-03"):
        monkeypatch.setattr(timestamps, "now", lambda day=day: f"{day}T10:00:00Z")
        usage_log.add_correction(project.store.root, path, "codex")
        event_log.append([Happening(project.store.root, "corrected", path, "correction")], "codex", "s")
        assert [need.kind for need in attention.needs(Project(project.root))] == ["corrected"]

        monkeypatch.setattr(timestamps, "now", lambda day=day: f"{day}T11:00:00Z")
        entry = project.store.read(path)
        project.writer.update(entry.memory.id, {"tags": [f"t-{day}"]}, entry.hash)
        assert attention.needs(Project(project.root)) == []


def test_a_superseded_rule_that_was_broken_needs_nobody(project):
    old, new = _save(project, "Sessions live in Redis"), _save(project, "Sessions live in Postgres")
    usage_log.add_correction(project.store.root, old, "codex")
    project.writer.supersede(old, new)

    assert attention.needs(project) == []


def test_a_need_names_some_and_counts_all(project):
    _save(project, "Sessions expire")
    for number in range(12):
        _draft(project.store.root, f"draft-{number:02}")

    (need,) = attention.needs(project)

    assert (need.number, len(need.subjects)) == (12, attention.MAX_SUBJECTS)
    assert need.names == "draft-00, draft-01, draft-02 and 9 more"


def test_a_store_that_leads_out_of_the_project_is_a_need_and_no_traceback(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path(project.root, ".claude").mkdir()
    Path(project.root, ".claude", "memory").symlink_to(elsewhere)

    kinds = [need.kind for need in attention.needs(Project(project.root))]

    assert set(kinds) == {"unreadable"}


def test_a_list_of_remotes_that_is_no_list_is_a_need(project):
    _save(project, "Sessions expire")
    Path(paths.remotes_file()).parent.mkdir(parents=True, exist_ok=True)
    Path(paths.remotes_file()).write_text("{")

    found = attention.needs(Project(project.root))

    unreadable = [need.title for need in found if need.kind == attention.UNREADABLE]
    assert unreadable == ["the shared stores cannot be read"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_inbox_that_cannot_be_listed_is_a_need(project):
    _save(project, "Sessions expire")
    folder = Path(project.store.root, "inbox")
    folder.mkdir()
    folder.chmod(0)

    assert [need.kind for need in attention.needs(Project(project.root))] == ["unreadable"]


def test_replicas_of_a_project_that_planted_the_list_are_not_read(project, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", os.path.join(project.root, ".claude"))
    remotes.add("platform", "/srv/memory.git")
    _draft(Replica("platform").store, "planted")

    assert [need for need in attention.needs(Project(project.root)) if need.store == "platform"] == []


def test_the_command_of_a_need_is_about_its_store(everything):
    commands = {(need.kind, need.store): need.command for need in attention.needs(everything)}

    assert commands["draft", "project"] == "onrecord review"
    assert commands["draft", "user"] == "onrecord review --user"
    assert commands["shared_draft", "platform"] == "onrecord review --remote platform"
    assert commands["sync", "platform"] == "onrecord sync platform"
    assert commands["trust", ""] == trust.COMMAND
