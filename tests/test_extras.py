"""The command that installs an extra: one for each way to install Onrecord, run as it is printed."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from onrecord import extras, paths
from tests.git_project import GitProject
from tests.hooks.test_modules import PYTHONS

ROOT = Path(__file__).parents[1]
WEB = "'jinja2>=3.1,<4' 'starlette>=0.49,<2' 'uvicorn>=0.34,<1'"
PIP = f"{sys.executable} -m pip install"
FROM_AN_INDEX = re.compile(
    r"(?:\b(?:pipx?|uv tool) (?:install|run)|npx|uvx) (?:-\S+ )*['\"]?(?:onrecord|recollect)\b(?!\S* @ )"
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="compares lines for a POSIX shell")


def test_the_packages_are_those_of_pyproject():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    for extra, packages in extras.PACKAGES.items():
        (line,) = re.findall(rf"^{extra} = (\[.*\])$", text, re.MULTILINE)
        assert json.loads(line) == list(packages)


def test_no_text_installs_onrecord_from_an_index():
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False, timeout=600
    )
    names = [name for name in listed.stdout.split("\0") if name and not name.startswith("bench/sets/")]
    own = [ROOT / name for name in names if name != "tests/test_extras.py"]

    files = [path for path in own if path.is_file() and FROM_AN_INDEX.search(path.read_text("utf-8", "replace"))]

    assert files == []
    assert all(
        FROM_AN_INDEX.search(line)
        for line in ("pip install onrecord", "pipx install 'onrecord[web]'", "uv tool install onrecord", "uvx onrecord")
    )


class Installation:
    """An installation that is only described: the note of the installer, and files in its environment."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.note = folder, {}
        self.prefix = folder / "venvs" / "onrecord"
        self.prefix.mkdir(parents=True)
        monkeypatch.setattr(sys, "prefix", str(self.prefix))
        monkeypatch.setattr(paths, "clone", lambda: str(folder / "python" / "lib"))
        monkeypatch.setattr(metadata, "distribution", lambda _: self)

    def read_text(self, _: str) -> str | None:
        return json.dumps(self.note) if self.note else None


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    return Installation(tmp_path, monkeypatch)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    clone = tmp_path / "a clone"
    (clone / "bin").mkdir(parents=True)
    (clone / "bin" / "onrecord").touch()
    (clone / ".git").mkdir()
    return clone


def test_from_an_unknown_origin_the_packages_are_named(installation: Installation):
    assert extras.install_command("web") == f"{PIP} {WEB}"
    assert extras.upgrade_command("web") == "install a newer Onrecord the way this one was installed"


def test_from_a_folder(installation: Installation, clone: Path):
    installation.note = {"url": clone.as_uri(), "dir_info": {}}

    assert extras.install_command("web") == f"{PIP} '{clone}[web]'"
    assert extras.upgrade_command("web") == f"git -C '{clone}' pull && {PIP} --upgrade '{clone}[web]'"


def test_from_a_folder_that_is_gone(installation: Installation):
    installation.note = {"url": "file:///gone", "dir_info": {}}

    assert extras.install_command("web") == f"{PIP} {WEB}"


def test_from_a_folder_without_git(installation: Installation):
    installation.note = {"url": installation.folder.as_uri(), "dir_info": {}}

    assert extras.upgrade_command("hub") == "install a newer Onrecord the way this one was installed"


@pytest.mark.parametrize(
    ("note", "address"),
    [
        ({"vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}, "git+https://example.org/x"),
        ({"vcs_info": {"vcs": "git", "requested_revision": "v9"}}, "git+https://example.org/x@v9"),
        ({"archive_info": {}}, "https://example.org/x"),
    ],
)
def test_from_an_address(installation: Installation, note: dict[str, object], address: str):
    installation.note = {"url": "https://example.org/x", **note}

    assert extras.install_command("hub") == f"{PIP} 'onrecord[hub] @ {address}'"
    assert extras.upgrade_command("hub") == f"{PIP} --upgrade 'onrecord[hub] @ {address}'"


def test_in_a_clone_packages_go_beside_it(installation: Installation, clone: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(paths, "clone", lambda: str(clone))
    # Another copy, which this interpreter has as well.
    installation.note = {"url": installation.folder.as_uri(), "dir_info": {}}
    folder = clone / ".packages" / "{}.{}".format(*sys.version_info)

    assert extras.install_command("web") == f"{PIP} --upgrade --target '{folder}' {WEB}"
    assert extras.upgrade_command("web") == f"git -C '{clone}' pull"


def test_of_an_editable_clone(installation: Installation, clone: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(paths, "clone", lambda: str(clone))
    installation.note = {"url": clone.as_uri(), "dir_info": {"editable": True}}

    assert extras.install_command("web") == f"{PIP} --editable '{clone}[web]'"


def test_with_pipx(installation: Installation, clone: Path):
    (installation.prefix / "pipx_metadata.json").touch()
    installation.note = {"url": clone.as_uri(), "dir_info": {}}

    assert extras.install_command("web") == f"pipx inject onrecord {WEB}"
    assert extras.upgrade_command("web") == f"git -C '{clone}' pull && pipx upgrade onrecord"


def test_as_a_tool_of_uv(installation: Installation, clone: Path):
    (installation.prefix / "uv-receipt.toml").touch()
    installation.note = {"url": clone.as_uri(), "dir_info": {}}

    assert extras.install_command("web") == f"uv tool install --reinstall '{clone}[web]'"


@pytest.mark.parametrize(
    ("uv", "command"),
    [
        ("/usr/bin/uv", f"uv pip install --python {sys.executable} {WEB}"),
        (None, f"install pip for {sys.executable}; then: {PIP} {WEB}"),
    ],
)
def test_without_pip(installation: Installation, monkeypatch: pytest.MonkeyPatch, uv: str | None, command: str):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: uv)

    assert extras.install_command("web") == command


def test_packages_beside_a_clone_can_be_imported(clone: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(paths, "clone", lambda: str(clone))
    monkeypatch.setattr(sys, "path", list(sys.path))
    extras.add_to_path()
    before = list(sys.path)
    folder = clone / ".packages" / "{}.{}".format(*sys.version_info)
    folder.mkdir(parents=True)
    (folder / "beside_a_clone.py").touch()

    extras.add_to_path()
    extras.add_to_path()

    assert sorted(sys.path) == sorted([*before, str(folder)])
    assert importlib.import_module("beside_a_clone").__file__ == str(folder / "beside_a_clone.py")


@pytest.mark.parametrize(
    ("note", "command"),
    [
        ({}, ""),
        ({"url": "file:///srv/onrecord", "vcs_info": {"vcs": "git"}}, ""),
        (
            {"url": "https://example.com/onrecord.git", "vcs_info": {"vcs": "git", "requested_revision": "v1"}},
            "python3 -m pip install 'onrecord[web] @ git+https://example.com/onrecord.git@v1'",
        ),
        (
            {"url": "https://example.com/onrecord.whl"},
            "python3 -m pip install 'onrecord[web] @ https://example.com/onrecord.whl'",
        ),
    ],
)
def test_the_command_for_another_machine(installation: Installation, note: dict, command: str):
    installation.note = note

    assert extras.command_elsewhere("web") == command


def test_on_windows_words_with_signs_of_its_shell_are_quoted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "win32")

    assert extras._line("pip", "install", "jinja2>=3.1,<4", "a b", "x&y", "it's") == (
        'pip install "jinja2>=3.1,<4" "a b" "x&y" it\'s'
    )


class Machine:
    """An empty environment with a clone, a project with one record, and the tool that installs."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder, self.python = folder, python
        self.clone, self.project, self.bin = folder / "a clone", GitProject(folder / "project"), folder / "venv" / "bin"
        for name in ("LICENSE", "NOTICE", "README.md", "pyproject.toml"):
            (self.clone / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.clone)
        for name in ("bin", "src"):
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, self.clone / name, ignore=ignored)
        subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True, timeout=600)
        self.run(f"'{self.bin}/python' '{self.clone}/bin/onrecord' init")

    def run(self, line: str, status: int = 0) -> str:
        """Run a line in a shell; what it prints."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        variables = {
            **pip,
            **_uv_settings(),
            # pip takes a false value for this option; what it compiles would hardly be used.
            "PIP_NO_COMPILE": "0",
            "HOME": str(home),
            "PATH": f"{self.bin}:{home}/.local/bin:{os.environ['PATH']}",
            "PIPX_DEFAULT_PYTHON": self.python,
            "UV_PYTHON": self.python,
        }
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.project.root,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == status, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def _uv_settings() -> dict[str, str]:
    """Return variables that give uv the same sources of packages as pip."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False, timeout=600
    ).stdout
    values = dict(re.findall(r"^\S*\.(index-url|extra-index-url|find-links)='(.*)'$", listed, re.MULTILINE))
    names = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS"}
    certificates = {"SSL_CERT_FILE": os.environ["PIP_CERT"]} if "PIP_CERT" in os.environ else {}
    return {**certificates, **{names[key]: value for key, value in values.items()}}


WAYS = {
    "clone": ("true", "'{bin}/python' '{clone}/bin/onrecord'"),
    "pip": ("'{bin}/python' -m pip install -q '{clone}'", "onrecord"),
    "pip -e": ("'{bin}/python' -m pip install -q -e '{clone}'", "onrecord"),
    "pip, wheel": (
        "'{bin}/python' -m pip wheel -q --no-deps -w wheels '{clone}' && '{bin}/python' -m pip install -q wheels/*.whl",
        "onrecord",
    ),
    "pipx": ("'{bin}/python' -m pip install -q pipx && pipx install '{clone}'", "onrecord"),
    "uv": ("'{bin}/python' -m pip install -q uv && uv tool install '{clone}'", "onrecord"),
}
WITHOUT = {"pip": ["3.13"], "pip -e": ["3.9"], "pip, wheel": ["3.9"]}
"""Pythons left out: one is enough where the next way uses the same pip."""

LONG = {("clone", "3.13"), ("pip -e", "3.13"), ("pip, wheel", "3.13"), ("pipx", "3.13"), ("uv", "3.9")}
"""Ways that differ little from the others, and ways on their second Python: `nox -s long` tries them."""


_LATER = pytest.mark.skipif("ONRECORD_TEST_ROUNDS" not in os.environ, reason="others are enough: nox -s long")


def _printed_command(error: str) -> str:
    """Return the command that an error prints as its fix."""
    (command,) = re.findall(r"^fix: (.+)$", error, re.MULTILINE)
    return str(command)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("way", "version"),
    [
        pytest.param(way, version, marks=_LATER if (way, version) in LONG else ())
        for way in WAYS
        for version in ("3.9", "3.13")
        if version in PYTHONS and version not in WITHOUT.get(way, ())
    ],
)
def test_after_the_printed_command_the_same_command_works(way: str, version: str, tmp_path: Path):
    machine = Machine(tmp_path, PYTHONS[version])
    install, program = (text.format(bin=machine.bin, clone=machine.clone) for text in WAYS[way])
    machine.run(install)
    web = f"{program} web --static site"

    needs = machine.run(web, status=1)
    machine.run(_printed_command(needs))

    assert needs.startswith("BAD_INPUT: the web page needs a package: ")
    assert "wrote 0 records to site/index.html" in machine.run(web)


@pytest.mark.heavy
def test_after_the_printed_command_a_clone_can_use_a_hub(tmp_path: Path):
    machine = Machine(tmp_path, sys.executable)
    status = f"'{machine.bin}/python' '{machine.clone}/bin/onrecord' hub status --url postgresql://127.0.0.1:1/x"

    needs = machine.run(status, status=1)
    machine.run(_printed_command(needs))

    assert needs.startswith("BAD_INPUT: a Postgres remote needs a package: ")
    assert machine.run(status, status=1).startswith("OFFLINE: ")


@pytest.mark.heavy
def test_the_line_for_ci_works_as_printed(tmp_path: Path):
    (line,) = re.findall(r"^- run: (pip install .*)$", (ROOT / "docs/how-to/web.md").read_text("utf-8"), re.MULTILINE)
    # An older pip takes no address of a local repository behind a name.
    machine = Machine(tmp_path, PYTHONS.get("3.13", sys.executable))
    clone = GitProject(machine.clone)
    clone.commit()
    place = line.replace("ADDRESS", machine.clone.as_uri()).replace("COMMIT", clone.git("rev-parse", "HEAD"))

    assert "wrote 0 records to site/index.html" in machine.run(place)
