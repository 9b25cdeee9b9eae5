"""`onrecord doctor` names what is left of the old name once, with commands that can be pasted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord.cli import main
from onrecord.doctor import Finding, old_name
from onrecord.git import git_files
from onrecord.shared import remotes
from tests.git_project import GitProject

DRIVER = "/gone/recollect/bin/recollect merge-driver %O %A %B %L %P"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    return GitProject(tmp_path / "a project")


@pytest.fixture
def bases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the variables of XDG name."""
    for kind in ("CACHE", "STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    return tmp_path


def examine(project: GitProject) -> list[Finding]:
    return list(old_name.examine(str(project.root)))


def only_finding(project: GitProject) -> tuple[str, str]:
    (finding,) = examine(project)
    assert finding[:2] == ("note", "old name")
    return finding.what, finding.fix


def test_nothing_is_left(project: GitProject):
    assert examine(project) == []


def test_folders(project: GitProject, bases: Path):
    for kind in ("cache", "state", "data"):
        (bases / kind / "recollect").mkdir(parents=True)

    what, fix = only_finding(project)

    cache, state, data = (bases / kind / "recollect" for kind in ("cache", "state", "data"))
    assert what == f"left of the old name recollect: {cache}, {state}, {data}"
    assert fix == (
        f"rm -r {cache}; rm -r {state}; delete {data} unless shared stores in it have changes that were not pushed"
    )


def test_the_log_of_imports_is_kept_because_it_is_read(project: GitProject, bases: Path):
    state = bases / "state" / "recollect"
    for name in ("imports", "sessions", "usage"):
        (state / name).mkdir(parents=True)

    assert only_finding(project)[1] == f"rm -r {state}/sessions {state}/usage"
    for name in ("sessions", "usage"):
        (state / name).rmdir()
    assert examine(project) == []


def test_folders_of_the_home(project: GitProject, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (home / ".cache" / "recollect").mkdir(parents=True)

    assert only_finding(project)[1] == f"rm -r {home}/.cache/recollect"


def test_a_replica_of_a_connected_store_is_taken_over_by_a_sync(project: GitProject, bases: Path):
    remotes.add("platform", "git@example.com:team/memory.git")
    (bases / "data" / "recollect" / "remotes" / "platform").mkdir(parents=True)

    assert only_finding(project) == (f"left of the old name recollect: {bases}/data/recollect", "onrecord sync")


def test_variables(project: GitProject, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECOLLECT_OFF", "1")

    assert only_finding(project) == (
        "left of the old name recollect: RECOLLECT_OFF",
        "rename RECOLLECT_OFF to ONRECORD_OFF where it is set",
    )


def test_the_merge_driver_and_the_attribute_are_replaced_by_the_printed_line(
    project: GitProject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    project.git("config", "merge.recollect.driver", DRIVER)
    attributes = project.root / ".claude" / "memory" / ".gitattributes"
    attributes.parent.mkdir(parents=True)
    attributes.write_text("index.md merge=union\n*/*.json merge=recollect\n")

    main(["doctor", "--json", "--project", str(project.root)])
    findings = [
        finding for finding in json.loads(capsys.readouterr().out)["findings"] if finding["check"] == "old name"
    ]
    program = tmp_path / "bin" / "onrecord"
    program.parent.mkdir()
    program.symlink_to(Path(__file__).parents[2] / "bin" / "onrecord")
    path = f"{program.parent}:{os.environ['PATH']}"
    subprocess.run(["sh", "-c", findings[0]["fix"]], env={**os.environ, "PATH": path}, check=True, timeout=120)

    assert len(findings) == 1
    assert attributes.read_text() == "index.md merge=union\n*/*.json merge=onrecord\n"
    assert git_files.merge_driver(str(project.root), "recollect") == ""
    assert git_files.merge_driver(str(project.root)) == "onrecord merge-driver %O %A %B %L %P"
    assert examine(project) == []


@pytest.mark.parametrize(
    ("file", "text", "named", "fix"),
    [
        (
            ".codex/hooks.json",
            '{"command": "sh /x/launch stop codex || : recollect"}',
            "{path}",
            "remove the entries of",
        ),
        (".codex/config.toml", "[mcp_servers.recollect]\n", "{path}", "remove the entries of"),
        (
            ".claude/settings.json",
            '{"enabledPlugins": {"memory@recollect": true}}',
            "memory@recollect in {path}",
            "claude plugin uninstall memory@recollect",
        ),
        (
            ".codex/config.toml",
            '[plugins."memory@recollect"]\nenabled = true\n',
            "memory@recollect in {path}",
            "codex plugin remove memory@recollect",
        ),
        (
            ".codex/hooks.json",
            '{"hooks": {"Stop": [{"hooks": [{"command": "sh /x/launch stop codex || : recollect"}]}]}}',
            "{path}",
            "onrecord connect codex --yes",
        ),
        (
            ".copilot/hooks/recollect.json",
            '{"command": "sh /x/launch || : recollect"}',
            "{path}",
            "remove the entries of recollect",
        ),
        (
            ".agents/skills/memory-save/SKILL.md",
            "<!-- Written by `recollect connect` -->",
            "{home}/.agents/skills",
            "rm {path}",
        ),
    ],
)
def test_files_of_agents(project: GitProject, home: Path, file: str, text: str, named: str, fix: str):
    path = home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

    what, printed = only_finding(project)

    assert what == f"left of the old name recollect: {named.format(path=path, home=home)}"
    assert printed.startswith(fix.format(path=path))
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".pre-commit-config.yaml", "repos:\n  - hooks:\n      - id: recollect-audit\n"),
        (".mcp.json", '{"mcpServers": {"recollect": {"command": "recollect", "args": ["mcp"]}}}'),
        (".github/workflows/memory.yml", "jobs:\n  a:\n    steps:\n      - run: recollect audit --strict\n"),
    ],
)
def test_files_of_the_project(project: GitProject, file: str, text: str):
    project.write(file, text)

    path = project.root / file
    assert only_finding(project) == (
        f"left of the old name recollect: {path}",
        f"rename recollect to onrecord in {path}",
    )


def test_a_config_that_only_mentions_the_word(project: GitProject, home: Path):
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "hooks.json").write_text('{"note": "I do not recollect why"}')

    assert examine(project) == []
