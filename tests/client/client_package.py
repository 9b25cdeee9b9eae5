"""The client as npm publishes it: fetched once into a cache outside the repository, or a clear reason why not.

Nothing is pinned: the version is whatever was newest when it was fetched, and stays until the folder is deleted.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Optional

# Read at import, so that a test which moves HOME cannot cause a second download.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recollect-test-client"


class Unavailable(Exception):
    """The client cannot be run on this machine; the message says why."""


@functools.cache
def unavailable() -> Optional[str]:
    """Why the client cannot be run here, or None. The first call may download it."""
    try:
        _check_namespaces()
        installed()
    except Unavailable as reason:
        return str(reason)
    return None


def installed() -> Path:
    """The folder that holds the client (`claude`, `package.json`), fetched if it is not there yet."""
    import fcntl  # Not on Windows, where `unavailable` has answered before this.

    package = _package()
    folder = CACHE / package
    if (folder / "claude").exists():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{package}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "claude").exists():
            _fetch(package, folder)
    return folder


def version() -> str:
    """The version of the client in the cache."""
    return str(json.loads((installed() / "package.json").read_text())["version"])


def _check_namespaces() -> None:
    if not sys.platform.startswith("linux"):
        raise Unavailable(f"the client is isolated with Linux namespaces, and this is {sys.platform}")
    if not shutil.which("unshare"):
        raise Unavailable("no unshare on this machine (util-linux)")
    probe = subprocess.run(["unshare", "-rn", "true"], capture_output=True, text=True, timeout=120)
    if probe.returncode:
        raise Unavailable(f"no network namespaces for this user: {probe.stderr.strip()}")


def _package() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())
    if machine is None:
        raise Unavailable(f"no client is published for {platform.machine()}")
    return f"claude-code-linux-{machine}" + ("" if platform.libc_ver()[0] else "-musl")


def _fetch(package: str, folder: Path) -> None:
    if not shutil.which("npm"):
        raise Unavailable("the client is not in the cache, and there is no npm to fetch it with")
    command = ["npm", "pack", f"@anthropic-ai/{package}", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        try:
            packed = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            raise Unavailable("npm did not deliver the client within five minutes") from None
        archives = list(Path(scratch).glob("*.tgz"))
        if packed.returncode or not archives:
            raise Unavailable(f"npm would not deliver the client: {packed.stderr.strip()[-300:]}")
        unpacked = Path(scratch) / "unpacked"
        unpacked.mkdir()
        with tarfile.open(archives[0]) as archive:
            for name in ("package.json", "claude"):
                _unpack(archive, f"package/{name}", unpacked / name)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(unpacked, folder)


def _unpack(archive: tarfile.TarFile, name: str, target: Path) -> None:
    source = archive.extractfile(name)
    assert source is not None
    with source, open(target, "wb") as file:
        shutil.copyfileobj(source, file)
    target.chmod(0o755)
