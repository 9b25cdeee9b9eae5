"""The entrance for coding agents: one event in as JSON, one reply out. A session is never broken from here.

This package is imported cold, many times a day: only what every event needs is imported at the top.
"""

from __future__ import annotations

import os
import sys

EVENTS = {
    "user_prompt_submit": "prompt",
    "session_start": "session",
    "pre_tool_use": "tools",
    "post_tool_use": "tools",
    "post_tool_use_failure": "tools",
    "stop": "stop",
    "pre_compact": "session",
    "session_end": "session",
}
"""The module of each event; its handler there has the name of the event."""

LARGEST_EVENT = 8_000_000
"""Bytes: a pasted file is far below, and reading as much takes a twentieth of a second. A larger event is ignored."""

WALL_SECONDS = 3.0
"""On the clock, of the five the host gives to a hook."""

LAST_SECONDS = 1.2
"""The same at the end of a session, when the host gives one and a half to all hooks together."""

CPU_SECONDS = 1.5
"""Of computing; the worst repositories known take a third of it."""


LONGEST_CONTEXT = 9_900
"""Characters: Claude Code cuts a context above 10,000 down to a preview, without a word to anybody."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HookReply, HostEvent


def main(arguments: list[str]) -> int:
    """Reply to the event named on the command line, of the host named after it or recognised.

    Always 0: a failure goes to the log, never to the session.
    """
    name, host = [*arguments, "", ""][:2]
    try:
        reply = _reply(name, host, sys.stdin.buffer.read(LARGEST_EVENT + 1))
        if reply:
            sys.stdout.buffer.write(reply.encode("ascii"))
        sys.stdout.flush()
        if reply is not None:
            _prune()
    except BaseException as error:
        from onrecord import state_file

        state_file.log_failure(f"hook {name}", f"{type(error).__name__}: {error}")
        # Python flushes stdout once more as it exits, and would turn a broken pipe into a failure.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _prune() -> None:
    """Delete state that is past its lifetime, once a day; the reply is out by now."""
    from onrecord import state_file

    if not state_file.is_pruned():
        state_file.prune()


def _reply(name: str, host_name: str, data: bytes) -> str | None:
    """Return what to print for an event; None where it does not concern us."""
    if name not in EVENTS or os.environ.get("ONRECORD_OFF"):
        return None
    if len(data) > LARGEST_EVENT:
        raise ValueError(f"the event is larger than {LARGEST_EVENT:,} bytes")
    from onrecord.hooks.event_stores import find_event_stores, read_fields

    fields = read_fields(data)
    event_stores = find_event_stores(fields, brings_digest=_brings_digest(name, host_name))
    if event_stores is None:
        return None
    # Only now: where there is no store, which is the commonest case, nothing more is loaded.
    from onrecord import budget
    from onrecord.hosts import table
    from onrecord.hosts.events import Payload

    budget.start(LAST_SECONDS if name == "session_end" else WALL_SECONDS, CPU_SECONDS)
    try:
        row = table.find_host(host_name, fields)
        host = table.module(row.name)
        event = host.read(name, Payload(fields))
        return render(host, event, handle(event._replace(host=row.name), event_stores)) if event else ""
    finally:
        budget.stop()


def _brings_digest(name: str, host_name: str) -> bool:
    """Whether an event may bring the digest: a prompt does in the hosts that want it so."""
    if name != "user_prompt_submit" or not host_name:
        return name == "session_start"
    from onrecord.hosts import table

    return host_name in table.BY_NAME and table.BY_NAME[host_name].digest == table.WITH_FIRST


def handle(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Run the event's handler and return its reply."""
    handlers = __import__(f"onrecord.hooks.{EVENTS[event.name]}", fromlist=[event.name])
    reply: HookReply = getattr(handlers, event.name)(event, event_stores)
    return reply


def render(host: Any, event: HostEvent, reply: HookReply) -> str:
    """Return a reply in the host's form, harmless and short enough; nothing where there is nothing to say."""
    if not reply.text:
        return ""
    from onrecord import coldstart
    from onrecord.text import escape_for_agent

    fields = host.write(event, reply._replace(text=escape_for_agent(reply.text)[:LONGEST_CONTEXT]))
    return coldstart.dumps(fields) if fields else ""
