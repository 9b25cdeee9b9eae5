from __future__ import annotations

import pytest

import onrecord
from onrecord.errors import AlreadyExists, BadInput, NoStore, UnsafePath
from onrecord.project import Project
from onrecord.store import writer as keeping
from onrecord.store.writer import Writer

DECISION = {"title": "Jobs are rows", "context": "c", "decision": "d", "rationale": "r"}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "ferry"
    (folder / ".git").mkdir(parents=True)
    (folder / "deep").mkdir()
    return folder


def test_open_finds_the_project_from_a_folder_below(root):
    project = onrecord.open(str(root / "deep"))

    assert (project.root, project.store.root) == (str(root), str(root / ".claude/memory"))


def test_the_users_store_stands_beside_it(root, home):
    assert Project(str(root)).user.root == str(home / ".claude/memory")


def test_a_saved_record_can_be_got(root):
    project = Project(str(root))

    entry = project.save("decisions", DECISION)

    assert project.get("jobs-are-rows") == entry
    assert (entry.path, entry.memory.text("decision")) == ("decisions/jobs-are-rows.json", "d")


def test_a_second_save_of_the_same_is_refused(root):
    project = Project(str(root))
    project.save("decision", DECISION)

    with pytest.raises(AlreadyExists):
        project.save("decision", DECISION)


def test_every_writer_knows_its_own_moment(root, monkeypatch):
    """A server keeps one Project for days."""
    moments = iter(("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"))
    monkeypatch.setattr(keeping.timestamps, "now", lambda: next(moments))
    project = Project(str(root))

    assert [project.writer.now, project.writer.now] == ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
    assert isinstance(Writer(project.store, project.settings, "x"), Writer)


def test_nothing_is_got_where_there_is_no_memory(root):
    with pytest.raises(NoStore):
        Project(str(root)).get("x")


def test_a_project_must_be_a_directory(tmp_path):
    with pytest.raises(BadInput):
        Project(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("link", [".claude", ".claude/memory"])
def test_a_store_that_leads_out_of_the_project_is_refused(root, tmp_path, link):
    (tmp_path / "elsewhere" / "memory").mkdir(parents=True)
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UnsafePath):
        Project(str(root)).store  # noqa: B018


def test_a_link_within_the_project_is_fine(root):
    (root / "notes").mkdir()
    (root / ".claude").mkdir()
    (root / ".claude/memory").symlink_to(root / "notes")

    Project(str(root)).save("decision", DECISION)

    assert (root / "notes/decisions/jobs-are-rows.json").exists()


def test_settings_are_read_when_they_are_asked_for(root):
    (root / ".claude/memory").mkdir(parents=True)
    (root / ".claude/memory/memory-config.json").write_text('{"retrieval": {"max_inject": 2}}')

    assert Project(str(root)).settings.count("retrieval.max_inject") == 2
