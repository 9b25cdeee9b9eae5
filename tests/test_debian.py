"""The installer of Debian packages for tests, with an apt-get of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import debian


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An apt-get that notes its words, knows packages only after an update, and puts programs on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    script = f"""#!/bin/sh
echo "$DEBIAN_FRONTEND $*" >> {tmp_path}/calls
case "$*" in
    *update) touch {tmp_path}/updated ;;
    *refused*) echo "E: no such package"; exit 100 ;;
    *) test -e {tmp_path}/updated || exit 100
       for word in "$@"; do printf '#!/bin/sh\\n' > {programs}/$word; chmod +x {programs}/$word; done 2>/dev/null ;;
esac
"""
    (programs / "apt-get").write_text(script)
    (programs / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("ONRECORD_TEST_APT", raising=False)
    monkeypatch.setattr(debian, "WORK", tmp_path / "work")
    monkeypatch.setattr(
        debian, "PROGRAMS", {"first-shell": "first-shell", "second-shell": "second-shell", "refused": "r"}
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def _install(*packages: str) -> str:
    return debian.install.__wrapped__(frozenset(packages))


def test_all_that_is_missing_comes_with_one_call_after_an_update_if_it_needs_one(apt):
    assert _install("first-shell", "second-shell") == ""

    words = [line.split() for line in (apt / "calls").read_text().splitlines()]
    assert [line[-3:] for line in words] == [
        ["--no-install-recommends", "first-shell", "second-shell"],
        ["-o", "Acquire::Retries=1", "update"],
        ["--no-install-recommends", "first-shell", "second-shell"],
    ]
    assert {line[0] for line in words} == {"noninteractive"}
    assert debian.program("first-shell") == str(apt / "programs" / "first-shell")
    assert _install("first-shell") == ""
    assert len((apt / "calls").read_text().splitlines()) == 3


def test_a_failure_says_where_the_reason_is(apt):
    reason = _install("refused")

    assert reason == f"apt-get failed; its output is in {apt / 'work' / 'apt.log'}"
    assert "E: no such package" in (apt / "work" / "apt.log").read_text()


def test_it_can_be_forbidden_and_needs_root(apt, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert _install("first-shell") == "only root can install it"

    monkeypatch.setenv("ONRECORD_TEST_APT", "0")
    assert _install("first-shell") == "ONRECORD_TEST_APT is 0"
    assert not (apt / "calls").exists()
