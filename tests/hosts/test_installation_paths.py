"""How entries name this installation: the program, the command to type, the launcher, and what no config can hold."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.errors import BadInput
from onrecord.hosts import host_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths of POSIX systems")


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_clone_is_started_by_its_own_script(tmp_path: Path, monkeypatch):
    script = program(tmp_path / "clone" / "bin" / "onrecord")
    monkeypatch.setattr(paths, "clone", lambda: str(tmp_path / "clone"))

    assert host_files.program() == [str(script)]


def test_an_installed_package_is_started_by_the_script_beside_its_python(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(paths, "clone", lambda: str(tmp_path / "site-packages"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python3"))
    without = host_files.program()
    script = program(tmp_path / "bin" / "onrecord")

    assert without == [str(tmp_path / "bin" / "python3"), "-m", "onrecord"]
    assert host_files.program() == [str(script)]


def test_the_bare_name_is_typed_where_it_starts_this_installation(tmp_path: Path, monkeypatch):
    script = program(tmp_path / "a clone" / "bin" / "onrecord")
    monkeypatch.setattr(paths, "clone", lambda: str(tmp_path / "a clone"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "onrecord").symlink_to(script)
    typed = []
    for folder in (tmp_path / "bin", tmp_path / "none", tmp_path / "other"):
        monkeypatch.setenv("PATH", str(folder))
        typed.append(host_files.shell_command())
    program(tmp_path / "other" / "onrecord")
    typed.append(host_files.shell_command())

    assert typed == ["onrecord", *[f"'{script}'"] * 3]


def test_a_module_is_typed_with_its_python_even_if_a_program_has_the_name(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(paths, "clone", lambda: str(tmp_path / "site-packages"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "onrecord"))
    monkeypatch.setattr(host_files, "program", lambda: [str(program(tmp_path / "bin" / "onrecord")), "-m", "onrecord"])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert host_files.shell_command() == f"{tmp_path}/bin/onrecord -m onrecord"


def test_a_clone_has_the_manifest_of_the_plugin(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(paths, "clone", lambda: str(tmp_path))
    before = host_files.is_clone()
    program(tmp_path / ".claude-plugin" / "plugin.json")

    assert (before, host_files.is_clone()) == (False, True)


def test_a_path_that_cannot_be_printed_is_refused(monkeypatch):
    monkeypatch.setattr(paths, "launcher", lambda: "/a\tb/launch")

    with pytest.raises(BadInput) as caught:
        host_files.hook_command("stop", "codex")

    assert caught.value.message == ("the path of this installation cannot be written to a config file: '/a\\tb/launch'")
    assert caught.value.fix == "move it to a folder whose name has only printable characters"


def test_skills_name_the_command_and_say_whose_they_are(tmp_path: Path):
    parts = host_files.skills(str(tmp_path))
    texts = {os.path.relpath(part.path, tmp_path): part.put("") for part in parts}

    assert sorted(texts) == [
        f"memory-{name}/SKILL.md" for name in ("config", "import", "improve", "review", "save", "search", "status")
    ]
    for text in texts.values():
        assert text.endswith("\n\n<!-- Written by `onrecord connect`; it takes this file away with --remove. -->\n")
        assert "{{" not in text
    assert [part.drop(texts[os.path.relpath(part.path, tmp_path)]) for part in parts] == [""] * 7
    with pytest.raises(ValueError, match="it is not a file that Onrecord wrote"):
        parts[0].put("theirs")
    assert parts[0].drop("theirs") == "theirs"


@pytest.mark.parametrize(
    ("item", "commands", "is_ours"),
    [
        ({"hooks": [{"command": "a || : onrecord"}]}, ["a || : onrecord"], True),
        ({"hooks": [{"command": "a || : recollect"}, {"command": "b || : onrecord"}]},
         ["a || : recollect", "b || : onrecord"], True),
        ({"hooks": [{"command": "a || : onrecord"}, {"command": "b"}]}, ["a || : onrecord", "b"], False),
        ({"command": "a || : onrecord"}, ["a || : onrecord"], True),
        ({"command": 7, "hooks": 7}, [], False),
        ({"hooks": [7, {"command": ["a"]}]}, [], False),
        ({"hooks": []}, [], False),
        ("a || : onrecord", [], False),
    ],
)  # fmt: skip
def test_an_entry_is_ours_if_all_of_its_commands_are(item, commands, is_ours):
    assert host_files.commands(item) == commands
    assert host_files.is_ours(item) is is_ours
