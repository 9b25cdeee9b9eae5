from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from .conftest import DECISION


@pytest.fixture
def saved(recollect):
    answer = recollect("save", "decision", "Jobs are rows", "--tag=queue", "--tag=wrong", *DECISION, "--json")
    return json.loads(answer.out)


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """An editor that does what a line of Python says to `record`."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def use(change, code=0):
        script = tmp_path / "editor.py"
        script.write_text(
            "import json, sys\n"
            "path = sys.argv[1]\n"
            "text = open(path, encoding='utf-8').read()\n"
            "record = json.loads(text) if text.startswith('{') else {}\n"
            f"{change}\n"
            "open(path, 'w', encoding='utf-8').write(text if isinstance(record, str) else json.dumps(record))\n"
            f"sys.exit({code})\n"
        )
        monkeypatch.setenv("VISUAL", f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}")

    return use


def test_an_edit_is_logged_as_what_it_changed(recollect, saved, editor):
    editor("record['content']['decision'] = '8 at a time'; record['content']['consequences'] = ['faster']")

    outcome = recollect("edit", saved["id"], "--summary=measured")

    assert outcome.out == (
        "updated decisions/jobs-are-rows.json\n  measured\n  Changed content.decision\n  Added content.consequences\n"
    )


def test_an_edit_may_take_a_tag_away(recollect, saved, editor):
    editor("record['tags'].remove('wrong')")

    recollect("edit", saved["id"])

    assert json.loads(recollect("show", saved["id"], "--json").out)["record"]["tags"] == ["queue"]


def test_an_optional_field_can_be_deleted(recollect, saved, editor):
    editor("del record['origin']; record['extra'] = 1")
    recollect("edit", saved["id"])
    editor("del record['extra']")
    recollect("edit", saved["id"])

    record = json.loads(recollect("show", saved["id"], "--json").out)["record"]
    assert "origin" not in record and "extra" not in record


def test_leaving_the_text_alone_changes_nothing(recollect, saved, editor):
    editor("pass")

    assert recollect("edit", saved["id"]).out == "decisions/jobs-are-rows.json says that already; nothing changed\n"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("record['content']['status'] = 'maybe'", "INVALID_RECORD: content.status: must be one of"),
        ("record = 'x'; text = '{ not json'", "BAD_INPUT: the edited text: not JSON"),
        ("record = 'x'; text = '[]'", "BAD_INPUT: the edited text must be a JSON object"),
        ("record['id'] = 'other'", "INVALID_RECORD: id: cannot be changed"),
        ("record['content']['context'] = 'AKIA0123456789ABCDEF'", "SECRET_FOUND: content.context"),
    ],
)
def test_a_rejected_text_replaces_nothing_and_is_kept(recollect, saved, editor, change, error):
    editor(change)

    outcome = recollect("edit", saved["id"])

    assert (outcome.code, outcome.err[: len(error)]) == (1, error)
    assert json.loads(recollect("show", saved["id"], "--json").out)["hash"] == saved["hash"]
    kept = shlex.split(outcome.err.split("--from ")[1].split(";")[0])[0]
    editor(
        "record['content'] = {**record.get('content', {}), 'status': 'accepted', 'context': 'mended'}\n"
        "record['id'] = 'jobs-are-rows'"
    )
    if error.startswith(("INVALID", "SECRET")):
        assert recollect("edit", saved["id"], "--from", kept).code == 0
        assert json.loads(recollect("show", saved["id"], "--json").out)["record"]["content"]["context"] == "mended"
    else:
        assert Path(kept).read_text() in ("{ not json", "[]")


def test_a_record_changed_meanwhile_is_not_overwritten(project, recollect, saved, editor):
    path = project / ".claude/memory/decisions/jobs-are-rows.json"
    editor(
        "other = json.loads(text); other['content']['context'] = 'theirs'\n"
        f"open({str(path)!r}, 'w').write(json.dumps(other))\n"
        "record['content']['context'] = 'mine'"
    )

    outcome = recollect("edit", saved["id"])

    assert outcome.err.startswith("CHANGED_SINCE_READ: ")
    assert json.loads(path.read_text())["content"]["context"] == "theirs"


def test_an_editor_that_fails_saves_nothing(recollect, saved, editor):
    editor("record['title'] = 'x'", code=1)

    assert recollect("edit", saved["id"]).err.startswith("BAD_INPUT: the editor ended with code 1")


def test_an_editor_that_is_not_there_is_named(recollect, saved, monkeypatch):
    monkeypatch.setenv("VISUAL", "no-such-editor-at-all")

    assert recollect("edit", saved["id"]).err.startswith("BAD_INPUT: cannot start the editor 'no-such-editor-at-all'")


def test_a_dry_run_checks_the_text_and_writes_nothing(recollect, saved, editor):
    editor("record['content']['decision'] = '8'")

    assert recollect("edit", saved["id"], "--dry-run").out.startswith("would update decisions/jobs-are-rows.json\n")
    assert json.loads(recollect("show", saved["id"], "--json").out)["hash"] == saved["hash"]
