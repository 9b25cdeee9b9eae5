"""A trial of a host's hook: it is started once as the host starts it, with a prompt, to see what it replies."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.hosts import connection, host_files
from onrecord.hosts.host_files import HOOK_SECONDS, HostSetup

_EVENT = "user_prompt_submit"
_FAILURES = "failures.log"
_MAX_LINES = 2
_RESULT = re.compile(r"<result\b[^>]*>(.*?)</result>")
"""A record as most hosts get it; the others get a list, as all do of the map."""

_STARTS = ("<memory-context", "[project memory")


class HookTrial(NamedTuple):
    """What a hook did: its reply as the agent gets it, in lines, and what was wrong; both may be empty."""

    host: str
    command: str
    seconds: float
    lines: tuple[str, ...] = ()
    flaw: str = ""


def run(setup: HostSetup, project: str, prompt: str) -> HookTrial:
    """Start the hook of a connected host with a prompt that is typed in `project`.

    It counts for nothing: ledger and usage are in a folder of their own, which is deleted afterwards.
    """
    launcher = _launcher(setup)
    if not launcher:
        return HookTrial(setup.host, "", 0.0, flaw="no hook of Onrecord is in its files")
    words = ["sh", launcher, _EVENT, setup.host]
    event = {"session_id": "connect-check", "conversation_id": "connect-check", "cwd": project}
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="onrecord-check-") as state:
        try:
            result = subprocess.run(
                words,
                input=json.dumps({**event, "prompt": prompt, "submitted_prompt": prompt}).encode(),
                capture_output=True,
                cwd=project,
                env={**os.environ, "ONRECORD_STATE_DIR": state},
                timeout=HOOK_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return HookTrial(setup.host, " ".join(words), time.monotonic() - start, flaw=str(error))
        flaw = result.stderr.decode("utf-8", "replace").strip() or _failure(state)
    seconds = time.monotonic() - start
    lines = _shown(result.stdout)
    return HookTrial(setup.host, " ".join(words), seconds, lines, "" if lines else flaw)


def _launcher(setup: HostSetup) -> str:
    """Return the launcher that the host starts: that in its files, or that of our plugin there."""
    try:
        launchers = host_files.launchers(setup)
    except (BadInput, ValueError):
        launchers = []
    if launchers:
        return launchers[0]
    return connection.plugin_launcher(setup) or paths.launcher() if connection.has_plugin(setup) else ""


def _failure(state: str) -> str:
    """Return the last failure that the hook logged; empty for none."""
    try:
        with open(os.path.join(state, _FAILURES), encoding="utf-8", errors="replace") as file:
            return file.read().strip().rpartition("\n")[2].rpartition("\t")[2]
    except OSError:
        return ""


def _shown(reply: bytes) -> tuple[str, ...]:
    """Return the first records that an agent is shown by a reply, a line each, whatever the form of its host."""
    try:
        text = "\n".join(_texts(json.loads(reply or b"{}")))
    except (ValueError, RecursionError):
        return ()
    bullet_lines = (line[2:] for line in text.splitlines() if line.startswith("- "))
    return tuple(_RESULT.findall(text) or bullet_lines)[:_MAX_LINES]


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings in a reply that are for the agent: those in which records stand."""
    if isinstance(value, str) and value.lstrip().startswith(_STARTS):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
