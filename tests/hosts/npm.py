"""Clients as npm publishes them: installed once into a cache outside the repository, or a clear reason why not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# Read at import, so that a test which moves HOME cannot cause a second download.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onrecord-test-client"
_HOME = str(Path.home())
_PATIENCE = 150
"""Seconds to wait for a package; each takes less than 50 here. After one that took longer no other is tried."""

_too_slow: list[str] = []

ALONE = ("unshare", "-rn")
"""Starts a program without a network."""
CONTAINED = (*ALONE, "-pf", "--kill-child", "--mount-proc")
"""The same, and whatever the program leaves running ends with it."""


class Unavailable(Exception):
    """A client cannot be run on this machine; the message says why."""


class Package(NamedTuple):
    """A package, its version, and the file that must be there when it is installed.

    Without a version it is whatever was newest when it was fetched, and stays until the folder is deleted.
    """

    name: str
    version: str
    file: str

    @property
    def folder(self) -> Path:
        return CACHE / "-".join(filter(None, [self.name.lstrip("@").replace("/", "-"), self.version]))

    @property
    def modules(self) -> Path:
        return self.folder / "node_modules"

    @property
    def program(self) -> Path:
        return self.modules / self.file

    def installed_version(self) -> str:
        return str(json.loads((self.modules / self.name / "package.json").read_text(encoding="utf-8"))["version"])


def install(package: Package) -> Path:
    """Return the package's program; install it if it is missing."""
    import fcntl  # Not on Windows, where `check_namespaces` has answered before this.

    if package.program.exists():
        return package.program
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(f"{package.folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not package.program.exists():
            _fetch(package)
    return package.program


def check_namespaces(unshare: tuple[str, ...] = ALONE) -> None:
    """Raise Unavailable if a client cannot be isolated here."""
    if not sys.platform.startswith("linux"):
        raise Unavailable(f"the client is isolated with Linux namespaces, and this is {sys.platform}")
    if not shutil.which("unshare"):
        raise Unavailable("no unshare on this machine (util-linux)")
    probe = subprocess.run([*unshare, "true"], capture_output=True, text=True, timeout=120)
    if probe.returncode:
        raise Unavailable(f"no network namespaces for this user: {probe.stderr.strip()}")


def _fetch(package: Package) -> None:
    if _too_slow:
        raise Unavailable(_too_slow[0])
    if not shutil.which("npm"):
        raise Unavailable(f"{package.name} is not in the cache, and there is no npm to fetch it with")
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        folder = Path(scratch, "package")
        folder.mkdir()
        _npm_install(f"{package.name}@{package.version or 'latest'}", folder, Path(scratch, "npm"))
        if not (folder / "node_modules" / package.file).exists():
            raise Unavailable(f"npm installed {package.name} without {package.file}")
        shutil.rmtree(package.folder, ignore_errors=True)
        os.replace(folder, package.folder)


def _npm_install(package: str, folder: Path, cache: Path) -> None:
    retries = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
    options = ["--no-audit", "--no-fund", "--loglevel=error", f"--cache={cache}", f"--prefix={folder}", *retries]
    env = {**os.environ, "HOME": _HOME}
    try:
        process = subprocess.run(
            ["npm", "install", *options, package],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        _too_slow.append(f"npm did not deliver {package} within {_PATIENCE} seconds")
        raise Unavailable(_too_slow[0]) from None
    if process.returncode:
        # The first two lines name the fault.
        lines = [line.replace("npm error ", "") for line in process.stderr.strip().splitlines()[:2]]
        raise Unavailable(f"npm would not deliver {package}: {', '.join(lines)[:300]}")
