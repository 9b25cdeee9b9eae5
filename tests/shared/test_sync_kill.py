"""A sync killed at any moment: the next one ends with the files that it would have had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from onrecord import files
from onrecord.shared import git_transport, sync_base
from onrecord.shared.git_transport import GitTransport
from onrecord.shared.transport import Pulled, Push, Pushed
from tests.killed import states_during
from tests.shared.machines import Machine, MemoryRemote, MemoryTransport

pytestmark = pytest.mark.skipif(os.name == "nt", reason="fork")

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
WATCHED = tuple(module.__file__ for module in (files, sync_base))


class FileTransport:
    """A remote in one file, so that a copy of a folder has all of a moment."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def _remote(self) -> MemoryRemote:
        remote = MemoryRemote()
        for path, text in json.loads(self._file.read_text()) if self._file.exists() else ():
            remote.write(path, text.encode())
        return remote

    def pull(self, cursor: str) -> Pulled:
        return MemoryTransport(self._remote()).pull(cursor)

    def push(self, changes: Sequence[Push]) -> Pushed:
        remote = self._remote()
        pushed = MemoryTransport(remote).push(changes)
        whole = self._file.with_suffix(".new")
        whole.write_text(json.dumps([(version.path, version.data.decode()) for version in remote.log]))
        os.replace(whole, self._file)
        return pushed

    def wait(self, seconds: float) -> bool:
        return False

    def close(self) -> None:
        pass


def _machine(root: Path, name: str) -> Machine:
    server = root / "server.git"
    if server.exists():
        return Machine(root / name, GitTransport(f"file://{server}", str(root / name / "repository")))
    return Machine(root / name, FileTransport(root / "remote"))


def _prepare(root: Path) -> None:
    """Ann has pushed a change of each kind, Bob has made one of each kind and not synced yet."""
    ann, bob = _machine(root, "ann"), _machine(root, "bob")
    for record_id in ("merged", "clash", "theirs", "revived", "gone"):
        ann.save(record_id)
    ann.sync()
    bob.sync()
    ann.edit("merged", {"content": {"decision": "By Ann", "rationale": ["Ann"]}})
    ann.edit("clash", {"content": {"decision": "By Ann"}})
    ann.edit("theirs", {"content": {"decision": "By Ann"}})
    ann.delete("decisions/revived.json", "decisions/gone.json")
    ann.save("new")
    ann.sync()
    bob.edit("merged", {"content": {"context": "By Bob"}, "tags": ["bob"]})
    bob.edit("clash", {"content": {"decision": "By Bob"}})
    bob.edit("revived", {"content": {"decision": "By Bob"}})
    bob.save("ours")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's threads
def test_a_sync_killed_at_any_moment_is_finished_by_the_next(tmp_path):
    _prepare(tmp_path / "work")
    shutil.copytree(tmp_path / "work", tmp_path / "whole")
    _machine(tmp_path / "whole", "bob").sync()
    expected = _machine(tmp_path / "whole", "bob").files()

    copies = states_during(
        _machine(tmp_path / "work", "bob").sync, WATCHED, str(tmp_path / "work"), str(tmp_path / "copies")
    )

    assert len(copies) > 20
    wrong = []
    for copy in map(Path, copies):
        bob, ann = _machine(copy, "bob"), _machine(copy, "ann")
        bob.sync()
        ann.sync()
        if bob.files() != expected or ann.files() != expected:
            wrong.append(copy.name)
    assert wrong == []
    assert "inbox" in "".join(expected) and len(expected) == 7


@pytest.mark.skipif(not IS_LONG or not shutil.which("git"), reason="minutes, with git: nox -s long")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_sync_over_git_killed_at_any_moment_is_finished_by_the_next(tmp_path):
    subprocess.run(
        ("git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "work/server.git")), check=True, timeout=120
    )
    _prepare(tmp_path / "work")
    shutil.copytree(tmp_path / "work", tmp_path / "whole")
    _machine(tmp_path / "whole", "bob").sync()
    expected = _machine(tmp_path / "whole", "bob").files()

    watched = (*WATCHED, git_transport.__file__)
    copies = states_during(
        _machine(tmp_path / "work", "bob").sync, watched, str(tmp_path / "work"), str(tmp_path / "copies")
    )

    for copy in map(Path, copies):
        bob, ann = _machine(copy, "bob"), _machine(copy, "ann")
        bob.sync()
        ann.sync()
        assert bob.files() == ann.files() == expected, copy.name


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_an_edit_after_the_kill_is_kept_whatever_the_sync_had_done(tmp_path):
    """The records of the killed sync may be in the replica or not: an edit goes out, and nothing is lost."""
    _prepare(tmp_path / "work")
    copies = states_during(
        _machine(tmp_path / "work", "bob").sync, WATCHED, str(tmp_path / "work"), str(tmp_path / "copies")
    )

    for copy in map(Path, copies):
        bob, ann = _machine(copy, "bob"), _machine(copy, "ann")
        bob.store.recover()
        bob.edit("merged", {"content": {"context": "By Bob, later"}})
        bob.sync()
        ann.sync()
        record = ann.read("merged")
        assert ann.files() == bob.files(), copy.name
        assert record.content["decision"] == "By Ann", copy.name
        texts = b"".join(ann.files().values())
        assert record.content["context"] == "By Bob, later" or b"By Bob, later" in texts, copy.name
