"""The way from the earlier plugin and back, with its real program (v6), where a clone of it is at hand.

The clone is named by ONRECORD_TEST_EARLIER_PLUGIN. Its program needs pydantic.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.doctor.store_checks import examine_store
from onrecord.project import Project
from onrecord.settings import load_settings
from onrecord.store import index_md
from tests.known_project import SIX, six_records
from tests.upgrade import earlier_plugin, old_project
from tests.upgrade.earlier_plugin import CLONE, EarlierPlugin

pytest.importorskip("pydantic")
pytestmark = pytest.mark.skipif(not CLONE, reason="ONRECORD_TEST_EARLIER_PLUGIN names no clone of the earlier plugin")
DECISION = "decisions/sessions-live-in-postgres-not-redis.json"
PROMPT = "move the user sessions from postgres to redis"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = six_records(tmp_path)
    subprocess.run(["git", "init", "--quiet", project.root], check=True, timeout=60)
    return project


@pytest.fixture
def earlier(project: Project) -> EarlierPlugin:
    return EarlierPlugin(CLONE, Path(project.root))


def test_it_leaves_the_files_kept_here(tmp_path: Path) -> None:
    written = old_project.pack(earlier_plugin.make(tmp_path))
    kept = json.loads(earlier_plugin.KEPT.read_text(encoding="utf-8"))

    assert {path: _TIME.sub("", text) for path, text in written.items()} == {
        path: _TIME.sub("", text) for path, text in kept.items()
    }


def test_its_default_config_is_one_note(project: Project) -> None:
    default = Path(CLONE, "assets/memory-config.default.json").read_text()
    Path(project.store.root, paths.CONFIG).write_text(default)
    settings = load_settings(project.store.root)

    assert [problem.fix for problem in settings.problems] == ["onrecord config tidy"]
    assert [key for key in settings.origins if settings.is_from_project(key)] == []


def test_it_reads_our_records_once_it_has_made_its_own_index(project: Project, earlier: EarlierPlugin) -> None:
    page = Path(project.store.root, "index.md")
    assert "No matching memories" in earlier.retrieved(PROMPT)
    page.unlink()

    assert "Sessions live in Postgres, not Redis -> .claude/memory/" in earlier.retrieved(PROMPT)
    checked = earlier.run("memory_index.py", "--validate", "--root", ".claude/memory")
    assert checked.stdout == f"Index is valid. {len(SIX)} entries match {len(SIX)} files.\n"


def test_it_retires_our_records_and_we_read_that(project: Project, earlier: EarlierPlugin) -> None:
    path = f".claude/memory/{DECISION}"
    done = earlier.run("memory_write.py", "--action", "retire", "--target", path, "--reason", "moved")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "retired")

    assert project.get("sessions-live-in-postgres-not-redis").memory.record_status == "retired"
    assert [finding for finding in examine_store(project.store, project.settings) if finding.severity == "error"] == []
    # It looks for its own paths in index.md, so our line stays until the page is made again.
    assert len(index_md.differences(project.store.root, (entry.memory for entry in project.store.entries()))) == 1
    project.store.rebuild_index_md()
    assert index_md.differences(project.store.root, (entry.memory for entry in project.store.entries())) == []


def test_its_updates_refuse_what_it_does_not_know_and_lose_it_if_it_is_left_out(
    project: Project, earlier: EarlierPlugin
) -> None:
    file = Path(project.store.root, DECISION)
    record = json.loads(file.read_text())
    assert set(record) >= {"triggers", "origin"}
    record["content"]["context"] = "Redis lost sessions on every second failover."

    refused = earlier.write("update", DECISION, record)
    known = {key: value for key, value in record.items() if key not in ("triggers", "anchors", "origin")}
    taken = earlier.write("update", DECISION, known)

    assert refused.returncode != 0
    assert "triggers" in refused.stdout + refused.stderr
    assert taken.returncode == 0
    after = project.get("sessions-live-in-postgres-not-redis").memory
    assert (after.content["context"], after.triggers) == ("Redis lost sessions on every second failover.", ())


def test_it_knows_no_successors(project: Project, earlier: EarlierPlugin) -> None:
    new = {**SIX["decision"], "title": "Sessions live in SQLite", "triggers": []}
    project.save("decision", new)
    project.writer.supersede("sessions-live-in-postgres-not-redis", "sessions-live-in-sqlite")
    earlier.run("memory_index.py", "--rebuild", "--root", ".claude/memory")

    text = Path(project.store.root, "index.md").read_text()
    assert "Sessions live in Postgres, not Redis" in text
    assert "Sessions live in SQLite" in text
