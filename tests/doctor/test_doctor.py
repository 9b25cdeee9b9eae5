from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from onrecord import attention, paths, state_file, timestamps
from onrecord import project as projects
from onrecord.doctor import Finding, machine, store_checks
from onrecord.search import vectors
from onrecord.settings import Settings, load_settings
from onrecord.store import journal
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests import tiny_table
from tests.records import put, sample


@pytest.fixture
def store(tmp_path):
    store = Store(str(tmp_path / "memory"))
    for title in ("Old", "New"):
        save(store, title)
    return store


def save(store, title, **fields):
    writer = Writer(store, Settings(), "2026-03-02T09:30:00Z")
    whole = {"title": title, "context": "c", "decision": "d", "rationale": "r", **fields}
    return projects.save(writer, "decision", whole, allow_secret=True)


def findings(store):
    results = store_checks.examine_store(store, load_settings(store.root))
    return [(finding.severity, finding.check, finding.what.replace(store.root, "/m")) for finding in results]


def problems(store):
    return [finding for finding in findings(store) if finding[0] not in ("ok", "note")]


def rewrite(store, path, **fields):
    full = os.path.join(store.root, path)
    with open(full, encoding="utf-8") as file:
        raw = json.load(file)
    with open(full, "w", encoding="utf-8") as file:
        json.dump({**raw, **fields}, file)


def test_a_sound_store(store):
    assert findings(store) == [("ok", "store", "2 readable records in /m")]


def test_no_store_is_worth_a_note(tmp_path):
    assert findings(Store(str(tmp_path / "none")))[0][:2] == ("note", "store")


def test_a_broken_record(store):
    Path(store.root, "decisions/bad.json").write_text("{")

    assert [finding[:2] for finding in problems(store)] == [("error", "records")]


def test_flaws_that_leave_a_record_readable(store):
    rewrite(store, "decisions/old.json", tags=[f"t{n:02}" for n in range(13)], confidence=7)

    assert problems(store)[0] == (
        "warning",
        "records",
        "decisions/old.json: tags: must have at most 12 items, and has 13 (and 1 more)",
    )


def test_a_credential(store):
    save(store, "Key", consequences=["AKIA0123456789ABCDEF"])

    assert problems(store) == [
        ("error", "secrets", "decisions/key.json: content.consequences[0] carries an AWS access key (AKIA…)")
    ]


def test_links_and_ids(store):
    rewrite(store, "decisions/old.json", superseded_by="nobody")

    assert problems(store) == [("warning", "links", "old is superseded by nobody, which does not exist")]


def test_an_index_md_that_differs_from_the_records(store):
    Path(store.root, "index.md").write_text("- [X] stray -> x #tags:\n")

    assert problems(store)[0][:2] == ("warning", "index")
    assert problems(store)[0][2].endswith("(and 2 more)")


def test_a_config_that_is_misspelt(store):
    Path(store.root, "memory-config.json").write_text('{"retreival": {"enabled": true}}')

    assert problems(store) == [
        (
            "warning",
            "config",
            "/m/memory-config.json: retreival.enabled: is not a setting; did you mean retrieval.enabled?",
        )
    ]


def test_missing_git_files_are_worth_a_note(store):
    os.unlink(os.path.join(store.root, ".gitattributes"))

    assert ("note", "git", ".gitattributes lacks the lines for this store") in findings(store)


def test_what_a_dead_writer_left(store):
    old, young = Path(store.root, "decisions/.tmp-1-2-x.json"), Path(store.root, ".tmp-3-4-y")
    old.write_text("half")
    young.write_text("half")
    os.utime(old, (0, 0))
    Path(store.root, ".journal").write_text("{}")

    assert problems(store) == [
        ("warning", "journal", "a change was interrupted halfway"),
        ("warning", "leftovers", "/m/decisions/.tmp-1-2-x.json was left by an interrupted writer"),
    ]


def test_a_folder_that_leads_out_or_is_none(store, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    Path(store.root, "runbooks").symlink_to(tmp_path / "elsewhere")
    Path(store.root, "preferences").write_text("a file")

    assert [finding[:2] for finding in problems(store)] == [("error", "records"), ("error", "records")]


def test_repairs_lose_nothing_and_leave_nothing_to_repair(store, monkeypatch):
    leftover = Path(store.root, ".tmp-3-4-y")
    leftover.write_text("half")
    _die_while_writing(store, monkeypatch)
    Path(store.root, "index.md").write_text("- [X] stray -> x #tags:\n")
    os.unlink(os.path.join(store.root, ".gitignore"))
    broken = Path(store.root, "decisions/bad.json")
    broken.write_text("{")

    repairs = store_checks.repair(store)

    assert repairs[0] == "finished the change of an interrupted writer"
    assert {"deleted .tmp-3-4-y", "completed .gitignore"} <= set(repairs)
    assert broken.read_text() == "{"
    assert store.get("old").memory.text("context") == "journalled"
    assert [finding[:2] for finding in problems(store)] == [("error", "records")]
    assert store_checks.repair(store) == []


def _die_while_writing(store, monkeypatch):
    """Stop a writer right after it has written its journal."""

    def die(path, text, is_lasting):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journal, "_write", die)
        with pytest.raises(KeyboardInterrupt):
            writer = Writer(store, Settings(), "2026-03-02T09:30:00Z")
            writer.update("old", {"content": {"context": "journalled"}}, store.get("old").hash)
    assert store.is_interrupted


def test_failures_of_the_last_week_are_told():
    state_file.log_failure("hook stop", "KeyError: x")

    failures = [finding for finding in machine.examine() if finding.check == "failures"]

    assert failures[0].severity == "warning" and "hook stop: KeyError: x" in failures[0].what


def test_older_failures_are_forgotten(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2020-01-01T00:00:00Z")
    state_file.log_failure("hook stop", "KeyError: x")
    monkeypatch.undo()
    monkeypatch.setenv("ONRECORD_STATE_DIR", os.path.dirname(state_file.log_file()))

    assert [finding for finding in machine.examine() if finding.check == "failures"] == []


@pytest.mark.parametrize("content", [None, b"", b"RCLVEC02 cut off"])
def test_a_missing_or_damaged_table_of_word_vectors_is_reported(tmp_path, monkeypatch, content):
    table = tmp_path / "words.vec"
    if content is not None:
        table.write_bytes(content)
    monkeypatch.setattr(vectors, "FILE", str(table))

    (finding,) = [finding for finding in machine.examine() if finding.check == "words"]

    assert finding.severity == "warning"
    assert "by words alone" in finding.what
    assert str(table) in finding.fix


def test_a_table_whose_tokens_are_not_in_order_is_reported(tmp_path, monkeypatch):
    table = tiny_table.write(tmp_path / "words.vec", tiny_table.tokens(["one two"]))
    content = table.read_bytes()
    table.write_bytes(content[:16] + content[20:24] + content[16:20] + content[24:])
    monkeypatch.setattr(vectors, "FILE", str(table))

    (finding,) = [finding for finding in machine.examine() if finding.check == "words"]

    assert (finding.severity, "not in order" in finding.what) == ("warning", True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_folders_that_cannot_be_read_or_written():
    """Root may read everything, so a child examines the store as nobody."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        store = Store(os.path.join(folder, "memory"))
        save(store, "Old")
        os.chmod(os.path.join(store.root, "decisions"), 0o700)

        result = _as_nobody(lambda: problems(store))

    assert result[:2] == [
        ["warning", "permissions", "/m cannot be written"],
        ["error", "records", "cannot read /m/decisions: Permission denied"],
    ]


def _as_nobody(check):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        os.write(writer, json.dumps(check()).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        output = pipe.read()
    os.waitpid(child, 0)
    return json.loads(output)


def test_of_one_category_only_its_records_are_read(store):
    put(store.root, sample("runbook", id="two", title="Two", supersedes=["old", "gone"]))
    Path(store.root, "runbooks", "bad.json").write_text("{")

    examined = list(store_checks.examine_store(store, load_settings(store.root), category="decision"))

    assert f"2 readable records of decision in {store.root}" in [finding.what for finding in examined]
    assert [finding for finding in examined if finding.severity not in ("ok", "note")] == []
    assert [finding for finding in findings(store) if "bad.json" in finding[2]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a second process")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_second_process_finds_what_one_would_find(store, monkeypatch, is_killed):
    for number in range(6):
        secret = "AK" + "IA" + f"{number}BCDEFGHIJKLMNO{number}"
        store.create(sample(id=f"r{number}", title=f"Record {number}", source=f"key {secret}"))
    entries = list(store.entries())
    alone = list(store_checks._records(entries))
    monkeypatch.setattr(store_checks, "_MANY_RECORDS", 4)
    if is_killed:
        monkeypatch.setattr(store_checks.json, "dumps", lambda value: os._exit(9))

    assert list(store_checks._records(entries)) == alone
    assert len(alone) == 6


def test_what_the_hooks_remember_and_the_disk_does_not_give_is_said(tmp_path, monkeypatch):
    """The flaw of 0.3.0-dev: the finding about the Python of the hooks was left out, and nothing was called wrong."""
    monkeypatch.setenv("ONRECORD_CACHE_DIR", str(tmp_path))
    os.mkdir(machine.memo_file())

    (finding,) = machine.examine_launcher(paths.launcher())

    assert (finding.severity, finding.check) == ("warning", "python")
    assert finding.what.startswith(f"cannot read {tmp_path}/python: not a regular file")


@pytest.mark.parametrize(
    ("severity", "check", "kinds"),
    [
        ("error", "store", ("UNREADABLE",)),
        ("note", "store", ("EMPTY",)),
        ("note", "switches", ("OFF", "SETTING")),
        ("note", "inbox", ("DRAFT", "SHARED_DRAFT")),
        ("warning", "records", ("CONTRADICTED",)),
        ("note", "records", ("CORRECTED", "CHANGED")),
        ("note", "remotes", ("CONFLICT", "WAITING", "MISSING")),
        ("warning", "remotes", ("SYNC", "REFUSED")),
    ],
)
def test_what_needs_a_person_is_a_finding_of_a_check(severity, check, kinds):
    needs = [attention.Need(getattr(attention, kind), "Look", "It is so.", "onrecord x", "/x") for kind in kinds]

    what = "Look. It is so." if check == "switches" else "Look"
    assert list(store_checks.examine_needs(needs)) == [Finding(severity, check, what, "onrecord x")] * len(kinds)


def test_what_another_check_names_in_detail_is_not_named_twice():
    needs = [attention.Need(kind, "t", "s", "c", "/x") for kind in (attention.BROKEN, attention.NOT_USED)]

    assert list(store_checks.examine_needs(needs)) == []
