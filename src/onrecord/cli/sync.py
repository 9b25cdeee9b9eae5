"""`onrecord sync`: exchange changes between shared stores and their replicas: once, automatically, or until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Union

from onrecord import budget, files, paths, state_file
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, error_data, fitted, say, to_json
from onrecord.cli.terminal import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import Locked, NotFound, Offline, OnrecordError, Unwritable
from onrecord.search import index
from onrecord.shared import background, engine, incoming, remotes, sync_base
from onrecord.shared.engine import SyncResult
from onrecord.shared.remotes import GIT, Remote
from onrecord.shared.replicas import Replica, opened
from onrecord.shared.transport import Transport
from onrecord.text import first_few, plural

DEFAULT_SECONDS = 60.0
"""Seconds between two syncs of a remote that reports nothing new."""

_MIN_SECONDS, _MAX_SECONDS = 1.0, 86_400.0
AUTOMATIC_SECONDS = 120.0
"""Seconds for each remote; a first sync that takes longer goes on in the next session."""

_GRACE_SECONDS = 10.0
"""Seconds more before a process that the timer could not interrupt is ended."""

_LOCK_FILE = ".automatic.lock"
_SIGNALS = ("SIGTERM", "SIGHUP")
"""From a service manager, and from a terminal that is closed."""

_MAX_LISTED = 5
_INDENT = "  "


class _Attempt(NamedTuple):
    """A remote, and its sync or the error that ended it."""

    remote: Remote
    outcome: Union[SyncResult, OnrecordError]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="REMOTE", help="only these (default: all that are connected)")
    mode = parser.add_mutually_exclusive_group()
    arguments.add(mode, "--dry-run")
    meaning = "if most records are gone from a replica: restore them, or delete them for everyone"
    parser.add_argument("--missing", choices=("restore", "delete"), help=meaning)
    mode.add_argument("--watch", action="store_true", help="sync again and again, until Ctrl-C")
    every = f"with --watch: sync at least this often (default: {DEFAULT_SECONDS:g})"
    parser.add_argument("--every", type=arguments.seconds(_MIN_SECONDS, _MAX_SECONDS), metavar="SECONDS", help=every)
    meaning = "sync the remotes added with --auto, in limited time and without output, as the start of a session does"
    mode.add_argument("--automatic", action="store_true", help=meaning)


def run(args: argparse.Namespace) -> CommandResult:
    arguments.exclude("--automatic", args.automatic, {"REMOTE": args.names, "--missing": args.missing})
    arguments.exclude("--missing", args.missing, {"--watch": args.watch, "--dry-run": args.dry_run})
    arguments.require("--every", args.every, "--watch", args.watch)
    if args.automatic:
        sync_automatically()
        return CommandResult({}, lambda screen: "")
    connected = [remotes.get(name) for name in dict.fromkeys(args.names)] or remotes.connected()
    if not connected:
        raise NotFound("no shared store is connected", fix="connect one: `onrecord remote add NAME URL`")
    if args.watch:
        return _watch(connected, DEFAULT_SECONDS if args.every is None else args.every, as_json=args.json)
    attempts = [_attempt(remote, dry_run=args.dry_run, missing=args.missing or "") for remote in connected]
    if len(attempts) == 1 and isinstance(attempts[0].outcome, OnrecordError):
        raise attempts[0].outcome

    if any(map(_is_complete, attempts)) and any(remote.auto for remote in connected):
        background.note_python()

    def text(screen: Screen) -> str:
        return "\n".join(
            line
            for remote, outcome in attempts
            for line in outcome_lines(screen, remote.name, outcome, dry_run=args.dry_run)
        )

    data = {"remotes": [outcome_data(*attempt) for attempt in attempts], "dry_run": args.dry_run}
    return CommandResult(data, text, status=0 if all(map(_is_complete, attempts)) else 1)


def _attempt(remote: Remote, *, dry_run: bool, missing: str) -> _Attempt:
    with Progress(f"syncing {remote.name}"):
        try:
            return _Attempt(remote, sync_remote(remote, dry_run=dry_run, missing=missing))
        except OnrecordError as error:
            return _Attempt(remote, error)


def sync_remote(
    remote: Remote, *, dry_run: bool = False, missing: str = "", patience: float | None = None
) -> SyncResult:
    """Sync one remote, or with `dry_run` find out what that would do. Raises OnrecordError."""
    replica, transport = opened(remote.name), open_transport(remote)
    try:
        with _interrupted_by_signals():
            if dry_run:
                return engine.preview(replica, transport)
            return _sync_replica(replica, transport, missing=missing, patience=patience)
    except Offline as error:
        since, count = replica.state.offline_since, len(sync_base.unpushed_paths(replica))
        unpushed = f"; {plural(count, 'change')} to push" if count else ""
        # A dry run writes no state, so `since` may be empty.
        error.message = f"{error.message}{f'; offline since {since}' if since else ''}{unpushed}"
        raise
    finally:
        transport.close()


def open_transport(remote: Remote) -> Transport:
    """Return a connection to `remote`; nothing is sent before the first request."""
    if remote.kind == GIT:
        from onrecord.shared.git_transport import GitTransport

        return GitTransport(remote.url, Replica(remote.name).repository)
    # Only these remotes need the extra `hub`.
    from onrecord.shared.hub_transport import PostgresTransport

    return PostgresTransport(remote.url)


def _sync_replica(
    replica: Replica, transport: Transport, *, missing: str = "", patience: float | None = None
) -> SyncResult:
    """Sync a replica and update its index with what was pulled: a hook has time for a few records only."""
    result = engine.sync(replica, transport, missing=missing, patience=patience)
    if result.pulled or result.pushed:
        # What hooks read is what the remote has accepted.
        try:
            index.open(replica.base).close()
        except Unwritable as error:
            # The sync is done; the index is completed by whoever reads it.
            state_file.go_without("index", error.message)
    return result


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Treat termination signals as Ctrl-C: otherwise git, which has a process group of its own, would go on alone."""
    before = {}
    for number in filter(None, (getattr(signal, name, None) for name in _SIGNALS)):
        # A signal that was ignored from the start, as `nohup` does, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN and threading.current_thread() is threading.main_thread():
            before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def outcome_lines(
    screen: Screen, name: str, outcome: Union[SyncResult, OnrecordError], *, dry_run: bool = False
) -> Iterator[str]:
    """Yield one line on what a sync did, and one more for each thing that a person must look at."""
    label = screen.paint(name, "bold")
    if isinstance(outcome, OnrecordError):
        yield fitted(screen, f"{label}: {clean(f'{outcome.code}: {outcome.message}')}")
        yield fitted(screen, clean(outcome.fix), _INDENT)
        return
    yield f"{label}: {_counts(name, outcome, dry_run=dry_run)}"
    for line in _remarks(name, outcome):
        yield fitted(screen, clean(line), _INDENT)


def _counts(name: str, result: SyncResult, *, dry_run: bool) -> str:
    verbs = ("would pull", "would push") if dry_run else ("pulled", "pushed")
    counts = [f"{verb} {len(paths):,}" for verb, paths in zip(verbs, (result.pulled, result.pushed)) if paths]
    if result.waiting:
        counts.append(f"{len(result.waiting):,} waiting for a merge")
    if result.conflicts:
        count = plural(len(result.conflicts), "conflict")
        counts.append(f"would find {count}" if dry_run else f"{count}: onrecord review --remote {name}")
    return ", ".join(counts) or "up to date"


def _remarks(name: str, result: SyncResult) -> Iterator[str]:
    if result.is_reset:
        yield "the remote was reset (a rewritten history or a backup), so every file was compared again"
    explained = {path for rename in result.renamed for path in (rename.theirs, rename.ours)}
    if revived := [path for path in result.revived if path not in explained]:
        yield f"deleted on one side and edited on the other, so kept: {first_few(revived)}"
    if result.outdated:
        yield f"others wrote at the same time, so not pushed yet: {first_few(result.outdated)}"
    for rename in result.renamed[:_MAX_LISTED]:
        theirs, ours = incoming.stem(rename.theirs), incoming.stem(rename.ours)
        keep = f"to keep theirs: onrecord supersede {ours} {theirs} --remote {name}"
        yield f"{rename.old} was renamed and changed at the same time: {theirs} is theirs, {ours} is yours; {keep}"
    if result.note:
        yield result.note
    refused = sorted(result.refused.items())
    yield from (f"not synced: {path}: {reason}" for path, reason in refused[:_MAX_LISTED])
    if len(refused) > _MAX_LISTED:
        yield f"and {len(refused) - _MAX_LISTED:,} more that were not synced"
    if result.waiting or (result.refused and set(result.refused).intersection(_unpushed(name))):
        yield way_out(name)


def _unpushed(name: str) -> list[str]:
    return sync_base.unpushed_paths(Replica(name))


def way_out(name: str) -> str:
    """Return what to do about changes that the remote has refused or not accepted yet."""
    state = Replica(name).state
    drafts = "" if state.is_read_only else f"; to send them as drafts: onrecord remote withdraw {name} --draft"
    return (
        f"{name} does not have them, so no agent is shown them; each sync offers them again"
        f"{drafts}; to take them back: onrecord remote withdraw {name}"
    )


def _is_complete(attempt: _Attempt) -> bool:
    """True if every file was synced; a conflict or a branch that waits for a merge counts as synced."""
    outcome = attempt.outcome
    return isinstance(outcome, SyncResult) and not outcome.refused and not outcome.outdated


def outcome_data(remote: Remote, outcome: Union[SyncResult, OnrecordError]) -> dict[str, Any]:
    """Return the outcome of a sync for programs."""
    name = remote.name
    if isinstance(outcome, OnrecordError):
        return {"name": name, "error": error_data(outcome.code, outcome.message, outcome.fix)}
    lists = {key: [item._asdict() for item in getattr(outcome, key)] for key in ("conflicts", "renamed")}
    return {"name": name, **outcome._asdict(), **lists, "refused": dict(outcome.refused)}


def sync_automatically() -> None:
    """Sync each remote that was added with `--auto`; do nothing if another process is at it.

    A remote that fails or takes too long goes to the failure log, and does not stop the next one.
    """
    try:
        with automatic_lock():
            for remote in remotes.usable():
                if remote.auto:
                    _sync_in_time(remote)
    except Locked:
        return


def automatic_lock(patience: float = 0) -> files.locked:
    """Return a lock that lets one process sync automatically. Raises Locked after `patience` seconds."""
    return files.locked(os.path.join(paths.replicas(), _LOCK_FILE), patience)


def _sync_in_time(remote: Remote) -> None:
    end = threading.Timer(AUTOMATIC_SECONDS + _GRACE_SECONDS, os._exit, (1,))
    end.daemon = True
    end.start()
    budget.start(AUTOMATIC_SECONDS, AUTOMATIC_SECONDS)
    try:
        budget.attempt(f"automatic sync of {remote.name}", None, _sync_or_note_timeout, remote)
    finally:
        budget.stop()
        end.cancel()


def _sync_or_note_timeout(remote: Remote) -> None:
    try:
        sync_remote(remote)
    except Locked:
        # A person is syncing it by hand, and sees the outcome.
        return
    except budget.OutOfTime:
        replica = Replica(remote.name)
        replica.write_state(replica.state._replace(last_error=f"took longer than {AUTOMATIC_SECONDS:g} seconds"))
        raise


def _watch(remotes: Sequence[Remote], every: float, *, as_json: bool) -> CommandResult:
    """Sync the remotes in turn and print what is new, until Ctrl-C, a signal, or the end of a pipe on standard input.

    Each sync that did something is a line, with `as_json` a line of JSON.
    """
    watched = [_WatchedRemote(remote, open_transport) for remote in remotes]
    try:
        with _interrupted_by_signals():
            _stop_with_pipe()
            _sync_forever(watched, every, as_json=as_json)
    except KeyboardInterrupt:
        pass
    finally:
        for remote in watched:
            remote.close()
    return CommandResult({}, lambda screen: "")


def _sync_forever(watched: Sequence[_WatchedRemote], every: float, *, as_json: bool) -> None:
    screen = Screen.for_stream(sys.stdout)
    while True:
        for watched_remote in watched:
            remote, outcome = watched_remote.remote, watched_remote.sync()
            if outcome is not None:
                text = "\n".join(outcome_lines(screen, remote.name, outcome))
                say(to_json(outcome_data(remote, outcome), indent=None) if as_json else text, screen)
        for watched_remote in watched:
            watched_remote.wait(every / len(watched))


class _WatchedRemote:
    """A remote, with a connection that stays open as long as it works."""

    def __init__(self, remote: Remote, connect: Callable[[Remote], Transport]) -> None:
        self.remote = remote
        self._connect = connect
        self._transport: Transport | None = None
        self._error = ""
        self._unresolved = _unresolved(SyncResult())

    def sync(self) -> Union[SyncResult, OnrecordError, None]:
        """Sync, and return the outcome if it is news: changes, unresolved files or an error not reported before."""
        last_error, unresolved = self._error, self._unresolved
        try:
            self._transport = self._transport or self._connect(self.remote)
            result = _sync_replica(opened(self.remote.name), self._transport)
        except OnrecordError as error:
            self.close()
            self._error = error.message
            return error if error.message != last_error else None
        self._error, self._unresolved = "", _unresolved(result)
        is_news = last_error or _is_news(result) or (any(self._unresolved) and self._unresolved != unresolved)
        return result if is_news else None

    def wait(self, seconds: float) -> None:
        """Wait until the remote has something new, at most `seconds`."""
        try:
            if self._transport:
                self._transport.wait(seconds)
                return
        except OnrecordError:
            # The next sync fails in the same way, and reports it.
            self.close()
        time.sleep(seconds)

    def close(self) -> None:
        transport, self._transport = self._transport, None
        if transport:
            transport.close()


def _is_news(result: SyncResult) -> bool:
    return bool(result.pulled or result.pushed or result.conflicts or result.revived)


def _unresolved(result: SyncResult) -> tuple[object, ...]:
    """Return what a sync left for a person to look at."""
    return (dict(result.refused), result.waiting, result.outdated, result.note)


def _stop_with_pipe() -> None:
    """Interrupt this process, as Ctrl-C does, when a pipe at standard input is closed."""
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(0).st_mode) or stat.S_ISSOCK(os.fstat(0).st_mode)
    except OSError:
        return
    if is_pipe:
        threading.Thread(target=_interrupt_at_end_of_input, daemon=True).start()


def _interrupt_at_end_of_input() -> None:
    while os.read(0, 4_096):
        pass
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:
        # Unlike `interrupt_main`, a signal ends a system call that the main thread waits in; and a shell lets what it
        # starts in the background ignore SIGINT.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
