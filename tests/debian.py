"""Debian packages for tests, such as other shells: what is installed is used, and what is missing is installed.

A test says what it needs with `@pytest.mark.debian("zsh")`. What all chosen tests need is installed by one call of
apt-get, as root and without questions. Where that cannot be, or must not (`ONRECORD_TEST_APT=0`), they are skipped
with the reason.
"""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Optional

import pytest

PROGRAMS = {
    "chromium": "chromium",
    "fish": "fish",
    "openssh-server": "/usr/sbin/sshd",
    "postgresql": "/usr/lib/postgresql/*/bin/initdb",
    "zsh": "zsh",
}
"""For each package a program of it: a name on the path, or a pattern for a file."""

WORK = Path(tempfile.gettempdir()) / "onrecord-test-debian"
_PATIENCE = 400
_APT = ("apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=1")
_CHOSEN = pytest.StashKey[frozenset[str]]()


def program(package: str) -> Optional[str]:
    """Return the path of the program of `package`, or None if it is not installed."""
    name = PROGRAMS[package]
    if "/" in name:
        return max(glob.glob(name), default=None)
    return shutil.which(name)


def choose(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Note what the tests of this run need, so that it is installed together."""
    config.stash[_CHOSEN] = frozenset(package for item in items for package in _needed(item))


def require(item: pytest.Item) -> None:
    """Skip a test whose packages cannot be installed."""
    needed = _needed(item)
    if any(program(package) is None for package in needed):
        reason = install(item.config.stash[_CHOSEN])
        if missing := [package for package in needed if program(package) is None]:
            pytest.skip(f"{', '.join(missing)} is not installed: {reason}")


def _needed(item: pytest.Item) -> list[str]:
    return [package for mark in item.iter_markers("debian") for package in mark.args]


@functools.cache
def install(packages: frozenset[str]) -> str:
    """Install missing packages, one process at a time. Return the reason if that fails, else an empty text."""
    if os.environ.get("ONRECORD_TEST_APT") == "0":
        return "ONRECORD_TEST_APT is 0"
    if shutil.which("apt-get") is None:
        return "there is no apt-get here"
    if os.geteuid() != 0:
        return "only root can install it"
    import fcntl

    WORK.mkdir(exist_ok=True)
    with open(WORK / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = sorted(package for package in packages if program(package) is None)
        # The lists of a fresh machine are empty or old.
        if not missing or _apt("install", *missing) or (_apt("update") and _apt("install", *missing)):
            return ""
    return f"apt-get failed; its output is in {WORK / 'apt.log'}"


def _apt(verb: str, *packages: str) -> bool:
    words = (*_APT, verb, *(("--no-install-recommends", *packages) if packages else ()))
    with open(WORK / "apt.log", "ab") as log:
        log.write(f"$ {' '.join(words)}\n".encode())
        log.flush()
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                timeout=_PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0
