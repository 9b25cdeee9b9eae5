"""Fetches and compiles what the tests need besides Python packages: python -m tests.prepare

`scripts/test` starts it in a fresh clone, beside the checks that use one core and no network. What cannot be had here
is explained by the tests that need it.
"""

from __future__ import annotations

import subprocess
import sys
import threading

from tests import debian
from tests.hosts import npm
from tests.hosts.clients import CLIENTS


def main() -> int:
    threads = [threading.Thread(target=step) for step in (_compile, _packages, _clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=1_200)
    return 0


def _compile() -> None:
    """Let pytest rewrite the assertions of every test once: it keeps the result, and each worker would do it again."""
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    subprocess.run(collect, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=600)


def _packages() -> None:
    debian.install(frozenset(debian.PROGRAMS))


def _clients() -> None:
    for host in CLIENTS:
        for package in (host.package, *host.also) if not host.is_slow else ():
            try:
                npm.install(package)
            except npm.Unavailable:
                return


if __name__ == "__main__":
    raise SystemExit(main())
