"""Runs a program with an ordinary user's rights, so that file modes count, even if root runs the tests."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

import pytest


@functools.cache
def _without_powers() -> list[str]:
    if os.geteuid() != 0:
        return []
    return [shutil.which("setpriv") or "setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def powerless(*command: str) -> list[str]:
    """Return `command`, for root without root's capabilities. Skips the test if that is not possible."""
    if not hasattr(os, "geteuid"):
        pytest.skip("files have no mode here")
    prefix = _without_powers()
    if prefix:
        try:
            subprocess.run([*prefix, "true"], check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"root cannot put its powers away here: {error}")
    return [*prefix, *command]
