"""The entry point of hooks: reads one event of a coding agent as JSON and prints one reply. Never breaks a session.

Each event starts a new process, many times a day, so only what every event needs is imported at the top.
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

MAX_EVENT_BYTES = 8_000_000
"""Largest event that is read, in 0.05 s; a larger one is ignored. An event with a pasted file is far smaller."""

WALL_SECONDS = 3.0
"""Time limit of a hook; the host stops it after five seconds."""

SESSION_END_SECONDS = 1.2
"""Time limit at the end of a session, when the host stops all hooks after 1.5 seconds."""

CPU_SECONDS = 1.5
"""Limit of CPU time; the slowest known repositories need a third of it."""

MAX_CONTEXT_CHARS = 9_900
"""Length of a reply: Claude Code silently cuts a context of more than 10,000 characters to a preview."""

MAX_TITLES, MAX_TITLE_CHARS = 3, 60
"""Titles in the line that tells the person what the agent is shown."""

_NO_TAGS = {ord("<"): "‹", ord(">"): "›"}
"""A host may give that line to its model, too: there it must not pose as markup."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HookReply, HostEvent


def main(arguments: list[str]) -> int:
    """Reply to the event that the first argument names; the second may name the host.

    Always returns 0: a failure goes to the log, never to the session.
    """
    name, host = [*arguments, "", ""][:2]
    # An index is completed even if the reply has failed: the time may have been up because of it.
    for step in (_answer, _complete_indexes):
        try:
            step(name, host)
        except BaseException as error:
            _report(name, error)
    return 0


def _report(name: str, error: BaseException) -> None:
    """Write a failure to the log, if that is possible."""
    try:
        from onrecord import state_file

        state_file.log_failure(f"hook {name}", f"{type(error).__name__}: {error}")
        # Python flushes stdout again when it exits, which would turn a broken pipe into a failure.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except BaseException:
        # Nothing is left to tell anyone with: a session goes on.
        return


def _answer(name: str, host_name: str) -> None:
    """Print the reply to an event, then delete expired state."""
    reply = _reply(name, host_name, sys.stdin.buffer.read(MAX_EVENT_BYTES + 1))
    if reply:
        sys.stdout.buffer.write(reply.encode("ascii"))
    sys.stdout.flush()
    if reply is not None:
        _prune()


def _complete_indexes(name: str, host_name: str) -> None:
    """Start a process that completes the indexes for which this hook had no time. Called after the reply is printed."""
    refresh = sys.modules.get("onrecord.search.refresh")
    if refresh and refresh.unfinished:
        from onrecord.search import builder

        builder.start_unfinished()


def _prune() -> None:
    """Delete expired state once a day. Called after the reply is printed, so the agent does not wait for it."""
    from onrecord import state_file

    if not state_file.is_pruned():
        state_file.prune()
        from onrecord.usage import event_log

        event_log.prune()


def _reply(name: str, host_name: str, data: bytes) -> str | None:
    """Return the text to print for an event; None if there is nothing to do: no event of ours, store, or record."""
    if name not in EVENTS or os.environ.get("ONRECORD_OFF"):
        return None
    if len(data) > MAX_EVENT_BYTES:
        raise ValueError(f"the event is larger than {MAX_EVENT_BYTES:,} bytes")
    from onrecord.hooks.event_stores import find_event_stores, read_fields

    fields = read_fields(data)
    event_stores = find_event_stores(fields, has_digest=_may_have_digest(name, host_name))
    if event_stores is None:
        return None
    if name == "pre_tool_use" and _is_ordinary(fields, event_stores):
        return None
    # Imported only here: usually there is no store, and these are not needed.
    from onrecord import budget
    from onrecord.hosts import table
    from onrecord.hosts.events import Payload

    budget.start(SESSION_END_SECONDS if name == "session_end" else WALL_SECONDS, CPU_SECONDS)
    try:
        row = table.find_host(host_name, fields)
        host = table.module(row.name)
        event = host.read(name, Payload(fields))
        return render(host, event, handle(event._replace(host=row.name), event_stores)) if event else ""
    finally:
        budget.stop()


def _is_ordinary(fields: Mapping[str, Any], event_stores: EventStores) -> bool:
    from onrecord.hooks import ordinary

    return ordinary.is_ordinary(fields, event_stores)


def _may_have_digest(name: str, host_name: str) -> bool:
    """True if the reply to this event may contain the digest. In some hosts the digest comes with a prompt."""
    if name != "user_prompt_submit" or not host_name:
        return name == "session_start"
    from onrecord.hosts import table

    return host_name in table.BY_NAME and table.BY_NAME[host_name].digest == table.WITH_FIRST


def handle(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Run the handler of an event and return its reply.

    The module is imported by its name; `hosts.table.module` gives the reason.
    """
    handlers = __import__(f"onrecord.hooks.{EVENTS[event.name]}", fromlist=[event.name])
    reply: HookReply = getattr(handlers, event.name)(event, event_stores)
    if "onrecord.usage" in sys.modules:
        from onrecord import budget

        budget.attempt("log what happened", None, _log_happenings, event, event_stores.store)
    return with_notice(reply, event_stores.store)


def _log_happenings(event: HostEvent, store: str) -> None:
    """Log what this hook has shown, and what became of what was shown before, unless that is turned off."""
    from onrecord import usage

    happenings = usage.take_happenings()
    if not happenings:
        return
    from onrecord.settings import load_settings
    from onrecord.usage import event_log

    if load_settings(store).flag(event_log.SETTING):
        event_log.append(happenings, event.host, event.session)


def with_notice(reply: HookReply, store: str) -> HookReply:
    """Return a reply with one line that tells the person what the agent is shown, unless that is turned off."""
    from onrecord.text import cut, first_few, flat, shown_in

    titles = [cut(flat(title), MAX_TITLE_CHARS).translate(_NO_TAGS) for title in shown_in(reply.text)]
    if not titles:
        return reply
    from onrecord.settings import load_settings

    is_on = load_settings(store).flag("retrieval.notice")
    return reply._replace(notice=f"memory: {first_few(titles, MAX_TITLES, '; ')}") if is_on else reply


def render(host: Any, event: HostEvent, reply: HookReply) -> str:
    """Return a reply in the form of the host, escaped and cut to the limit; empty if there is no reply."""
    if not reply.text:
        return ""
    from onrecord import coldstart
    from onrecord.text import escape_for_agent

    fields = host.write(event, reply._replace(text=escape_for_agent(reply.text)[:MAX_CONTEXT_CHARS]))
    return coldstart.dumps(fields) if fields else ""
