"""Claude Code's program, or why it cannot be run here."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Optional

from tests.hosts import npm
from tests.hosts.clients.claude_code import ClaudeCode
from tests.hosts.npm import Unavailable


@functools.cache
def unavailable() -> Optional[str]:
    """Return why the client cannot be run here, or None. The first call may download it."""
    try:
        npm.check_namespaces()
        installed()
    except Unavailable as reason:
        return str(reason)
    return None


def installed() -> Path:
    """Return the client's program, fetched if it is not there yet."""
    return npm.install(ClaudeCode.package)


def version() -> str:
    """Return the version of the client in the cache."""
    return ClaudeCode.package.installed_version()
