"""What is kept outside the repository is for the user alone, listed on one page, and has a lifetime."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import onrecord
from onrecord import paths, state_file
from onrecord.cli import main
from onrecord.doctor import machine
from onrecord.shared import remotes
from onrecord.state_file import StateFile
from tests.known_project import SIX

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "what-is-stored.md").read_text(encoding="utf-8")
PROMPTS = ["where do we keep user sessions, postgres or redis?", "no, don't use print here, we always use the logger"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such modes")


def _modes(root: Path) -> dict[str, str]:
    """Every file and folder below one that others may read, with its mode."""
    modes = {path.relative_to(root): path.lstat().st_mode for path in root.rglob("*")}
    return {str(path): oct(stat.S_IMODE(mode)) for path, mode in modes.items() if mode & 0o077}


def test_nobody_else_may_read_what_is_written_outside_the_repository(tmp_path, monkeypatch):
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    home.mkdir()
    for name in ("ONRECORD_STATE_DIR", "ONRECORD_CACHE_DIR", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME",
                 "ONRECORD_DATA_DIR", "XDG_DATA_HOME"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    before = os.umask(0o022)
    try:
        opened = onrecord.open(str(project))
        opened.save("decision", SIX["decision"])
        _run("save", "preference", "--json", "--user")
        _run("remote", "add", "--offline", "platform", "/srv/memory.git")
        _run("--remote=platform", "save", "preference", "--json")
        for prompt in PROMPTS:
            for event in ("user_prompt_submit", "session_start", "stop", "pre_compact", "session_end"):
                fields = {"session_id": "s", "cwd": str(project), "prompt": prompt, "source": "startup"}
                command = ["sh", str(ROOT / "src/onrecord/hooks/launch"), event]
                subprocess.run(command, input=json.dumps(fields).encode(), check=True, timeout=120)
    finally:
        os.umask(before)

    written = [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()]
    assert any(name.endswith(".sqlite") for name in written)
    assert {".cache/onrecord/python", ".local/state/onrecord/sessions/s", ".claude/memory/index.md"} <= set(written)
    assert any(name.startswith(".local/share/onrecord/remotes/platform/store/preferences/") for name in written)
    assert _modes(home) == {}
    assert stat.S_IMODE(os.stat(opened.store.root).st_mode) == 0o755, "what a team shares keeps the usual modes"


def _run(*arguments: str) -> None:
    record = json.dumps(SIX["preference"])
    command = [sys.executable, "-m", "onrecord", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run(command, input=record.encode(), env=env, check=True, capture_output=True, timeout=120)


def test_the_page_lists_what_is_kept_and_for_how_long():
    rows = dict(re.findall(r"^\| `([^`]+)` \|.*\| (\d+) days \|$", PAGE, re.MULTILINE))

    assert {name: int(days) for name, days in rows.items()} == state_file.LIFETIMES
    assert set(machine.STATE) == {*state_file.LIFETIMES, state_file.PRUNED, remotes.LOCK}


def test_the_program_lists_what_is_there_now():
    folder = os.path.join(paths.state_dir(), "sessions")
    os.makedirs(folder)
    for name, age in (("a", 1_000_000_000), ("b", 1_500_000_000)):
        Path(folder, name).write_text("x" * 10)
        os.utime(os.path.join(folder, name), (age, age))

    (item,) = [item for item in machine.all_own_files() if item.path == folder]

    assert (item.files, item.size, item.days) == (2, 20, 30)
    assert item.oldest == "2001-09-09T01:46:40Z"


def test_doctor_shows_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    opened = onrecord.open(".")
    opened.save("decision", SIX["decision"])
    inbox = Path(opened.store.root, "inbox")
    inbox.mkdir()
    (inbox / "x.json").write_text("{}")
    StateFile(os.path.join(paths.state_dir(), "sessions", "s"), 100, "test").append("prompt\n")

    assert main(["remote", "add", "--offline", "platform", "/srv/memory.git"]) == 0
    Path(paths.replica("platform").root, "x.json").write_text("{}")
    capsys.readouterr()

    assert main(["doctor", "--privacy", "--json"]) == 0

    stored = {item["path"]: item for item in json.loads(capsys.readouterr().out)["stored"]}
    ledgers = stored[os.path.join(paths.state_dir(), "sessions")]
    assert (ledgers["files"], ledgers["size"], ledgers["days"]) == (1, 7, 30)
    assert stored[str(inbox)]["what"] == "drafts that wait for review"
    assert stored[os.path.join(paths.replicas(), "platform")]["until"] == "deleted by `onrecord remote remove platform`"
