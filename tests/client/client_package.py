"""Which package of npm holds Claude Code for this machine, and why it cannot be run if it cannot."""

from __future__ import annotations

import functools
import platform
from pathlib import Path
from typing import Optional

from tests.hosts import npm
from tests.hosts.npm import Package, Unavailable


@functools.cache
def unavailable() -> Optional[str]:
    """Why the client cannot be run here, or None. The first call may download it."""
    try:
        npm.check_namespaces()
        installed()
    except Unavailable as reason:
        return str(reason)
    return None


def installed() -> Path:
    """The client's program, fetched if it is not there yet."""
    return npm.install(_package())


def version() -> str:
    """The version of the client in the cache."""
    return _package().installed_version()


def _package() -> Package:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())
    if machine is None:
        raise Unavailable(f"no client is published for {platform.machine()}")
    name = f"@anthropic-ai/claude-code-linux-{machine}" + ("" if platform.libc_ver()[0] else "-musl")
    return Package(name, "", f"{name}/claude")
