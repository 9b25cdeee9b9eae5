"""The entrance for coding agents: one event in as JSON, one answer out. A session is never broken from here.

This package is imported cold, many times a day: only what every event needs is imported at the top.
"""

from __future__ import annotations

import os
import sys

EVENTS = {
    "user_prompt_submit": "user_prompt_submit",
    "session_start": "session_start",
    "pre_tool_use": "tools",
    "post_tool_use": "tools",
    "post_tool_use_failure": "tools",
    "stop": "stop",
    "pre_compact": "pre_compact",
    "session_end": "pre_compact",
}
"""The module that handles each event."""

LARGEST_EVENT = 32_000_000
"""Bytes: a prompt with a pasted file is far below, and a larger event is cut and then no JSON."""


def main(arguments: list[str]) -> int:
    """Answer the event named on the command line. Always 0: a failure goes to the log, never to the session."""
    name = arguments[0] if arguments else ""
    try:
        answer = _answer(name, sys.stdin.buffer.read(LARGEST_EVENT))
        if answer:
            sys.stdout.buffer.write(answer.encode("ascii"))
        sys.stdout.flush()
    except Exception as error:
        from recollect import failure_log

        failure_log.leave(f"hook {name}", f"{type(error).__name__}: {error}")
        # Python flushes stdout once more as it exits, and would turn a broken pipe into a failure.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _answer(name: str, data: bytes) -> str:
    if name not in EVENTS or os.environ.get("RECOLLECT_OFF"):
        return ""
    from recollect.hooks import event

    happened = event.parse(name, data)
    if happened is None:
        return ""
    module = __import__(f"recollect.hooks.{EVENTS[name]}", fromlist=["handle"])
    answer: str = module.handle(happened)
    return answer
