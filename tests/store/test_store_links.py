"""Nothing is read through a link that leads out of a store, whatever file it is put in place of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.records import raw

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links of POSIX")

SRC = Path(__file__).parents[2] / "src"
PRIVATE = "xyzzy-private"

NAMES = {
    "index.md": f"- [DECISION] {PRIVATE} -> decisions/x.json #tags:a\n",
    "memory-config.json": json.dumps({PRIVATE: 1, "retrieval": {PRIVATE: 2}}),
    ".journal": json.dumps({"decisions/x.json": ["", json.dumps(raw(id="x", title=PRIVATE))]}),
    ".lock": PRIVATE,
    ".gitignore": f"{PRIVATE}\n",
    ".gitattributes": f"{PRIVATE} merge=union\n",
    "decisions/linked.json": json.dumps(raw(id="linked", title=PRIVATE)),
    "inbox/linked.json": json.dumps({"record": raw(id="linked", title=PRIVATE), "made_at": "2026-03-02T09:30:00Z"}),
}
"""Every file that is read in a store, and a text that a link in its place could leak."""

# Commands and hooks that between them read every file of a store. What they open in it is printed.
READ_ALL = """
import io, json, os, sys
store, home = sys.argv[1:3]
os.environ.update(HOME=home, CLAUDE_CONFIG_DIR=home + "/.claude", EDITOR="true")
os.chdir(os.path.dirname(os.path.dirname(store)))
opened_files = set()
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and os.path.abspath(arguments[0]).startswith(store + "/"):
        opened_files.add(os.path.relpath(arguments[0], store))
sys.addaudithook(watch)
from onrecord import hooks
from onrecord.cli import main
DECISION = '{"title": "Jobs are rows", "content": {"context": "c", "decision": "d", "rationale": ["r"]}}'
COMMANDS = [
    ["save", "decision", "--json"], ["list"], ["list", "--status", "all"], ["show", "jobs-are-rows"],
    ["search", "jobs private xyzzy"], ["recall", "xyzzy-private jobs"], ["why", "jobs xyzzy"], ["doctor"], ["config"],
    ["config", "set", "retrieval.max_inject", "2"], ["index", "check"], ["index", "rebuild"], ["inbox"], ["audit"],
    ["inbox", "show", "linked"], ["review", "--accept", "linked"], ["digest"], ["stats"], ["gc"], ["doctor", "--fix"],
    ["show", "linked"], ["freshness"], ["update", "linked", "--tag", "x", "--hash", "0"], ["edit", "linked"], ["init"],
]
for command in COMMANDS:
    sys.stdin = io.TextIOWrapper(io.BytesIO(DECISION.encode()))
    try:
        main(command)
    except SystemExit:
        pass
class Input:
    def __init__(self, data): self.buffer = io.BytesIO(data)
for name in hooks.EVENTS:
    event = {"session_id": "s", "cwd": os.getcwd(), "prompt": "xyzzy-private jobs rows", "source": "startup",
             "tool_name": "Write", "tool_input": {"file_path": store + "/decisions/linked.json"}, "error": "xyzzy jobs"}
    sys.stdin = Input(json.dumps(event).encode())
    hooks.main([name])
print("\\nOPENED", json.dumps(sorted(opened_files)))
"""


def _read_all(tmp_path: Path) -> tuple[str, set[str]]:
    store, home = tmp_path / "project" / ".claude" / "memory", tmp_path / "home"
    command = [sys.executable, "-c", READ_ALL, str(store), str(home)]
    environment = {**os.environ, "PYTHONPATH": str(SRC), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=120)
    output, _, opened_files = (done.stdout + done.stderr).partition("\nOPENED ")
    return output + opened_files.partition("\n")[2], set(json.loads(opened_files.partition("\n")[0]))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "project" / ".claude" / "memory"
    for folder in ("decisions", "inbox"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    (tmp_path / "home").mkdir()
    return root


@pytest.mark.parametrize("name", NAMES)
def test_a_link_out_of_the_store_gives_nothing_away(tmp_path: Path, store: Path, name: str) -> None:
    target = tmp_path / "private"
    target.write_text(NAMES[name])
    (store / name).symlink_to(target)

    output, _ = _read_all(tmp_path)

    assert PRIVATE not in output.replace("xyzzy-private jobs", "")
    files = [file for file in store.rglob("*") if file.is_file() and not file.is_symlink()]
    assert [file for file in files if PRIVATE in file.read_text()] == []
    assert target.read_text() == NAMES[name]


def test_a_folder_that_is_a_link_out_of_the_store_gives_nothing_away(tmp_path: Path, store: Path) -> None:
    for name in ("runbooks", "inbox"):
        outside = tmp_path / "private" / name
        outside.mkdir(parents=True)
        (outside / "linked.json").write_text(
            NAMES["inbox/linked.json"] if name == "inbox" else json.dumps(raw("runbook", id="linked", title=PRIVATE))
        )
    (store / "inbox").rmdir()
    for name in ("runbooks", "inbox"):
        (store / name).symlink_to(tmp_path / "private" / name)

    output, _ = _read_all(tmp_path)

    assert PRIVATE not in output.replace("xyzzy-private jobs", "")


def test_the_names_above_are_all_there_are(tmp_path: Path, store: Path) -> None:
    """A new file that the program reads in a store must be added to the table above."""
    for name, text in NAMES.items():
        (store / name).write_text(text)

    _, opened_files = _read_all(tmp_path)

    names = {name for name in opened_files if ".tmp-" not in name and not (store / name).is_dir()}
    assert {name if name in NAMES else f"{os.path.dirname(name)}/linked.json" for name in names} == set(NAMES)
