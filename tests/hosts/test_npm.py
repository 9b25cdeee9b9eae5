"""Installing clients: what is waited for, and what is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.hosts import npm
from tests.hosts.npm import Package, Unavailable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the npm of these tests is a shell script")


@pytest.fixture
def fake_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an empty cache, and an npm that runs the script of the test and notes its calls."""
    monkeypatch.setattr(npm, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(npm, "_too_slow", [])
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "npm"


def write(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\necho called >>'{program.parent}/calls'\n{script}\n")
    program.chmod(0o755)


def calls(program: Path) -> int:
    return len((program.parent / "calls").read_text().splitlines())


def test_a_package_is_installed_once(fake_npm: Path) -> None:
    write(fake_npm, "mkdir -p node_modules/.bin && echo it >node_modules/.bin/agent")
    package = Package("@some/agent", "1.2.3", ".bin/agent")

    programs = [npm.install(package), npm.install(package)]

    assert [program.read_text() for program in programs] == ["it\n", "it\n"]
    assert (calls(fake_npm), package.folder.name) == (1, "some-agent-1.2.3")


def test_a_package_without_its_program_is_not_kept(fake_npm: Path) -> None:
    write(fake_npm, "mkdir -p node_modules")
    package = Package("agent", "1", ".bin/agent")

    with pytest.raises(Unavailable, match=r"npm installed agent without \.bin/agent"):
        npm.install(package)

    assert not package.folder.exists()


def test_after_one_package_that_took_too_long_no_other_is_tried(
    fake_npm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npm, "_PATIENCE", 0.2)
    write(fake_npm, "exec sleep 60")

    for name in ("first", "second"):
        with pytest.raises(Unavailable, match=r"npm did not deliver first@1 within 0\.2 seconds"):
            npm.install(Package(name, "1", ".bin/agent"))

    assert calls(fake_npm) == 1
