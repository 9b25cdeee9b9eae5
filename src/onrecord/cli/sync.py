"""`onrecord sync`: bring the replicas of shared stores and their remotes to the same files."""

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

from onrecord import budget, files, paths
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted, say, to_json
from onrecord.cli.progress import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import Locked, NotFound, Offline, OnrecordError
from onrecord.search import index
from onrecord.shared import background, engine, incoming, remotes, sync_base
from onrecord.shared import remotes as remote
from onrecord.shared.engine import SyncResult
from onrecord.shared.remotes import GIT, Remote
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import Transport
from onrecord.text import first_few, plural

_MOST_NAMED = 5
_INDENT = "  "


class _Done(NamedTuple):
    """How the sync of one remote ended."""

    remote: Remote
    outcome: Union[SyncResult, OnrecordError]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="REMOTE", help="which ones (default: all that are connected)")
    mode = parser.add_mutually_exclusive_group()
    arguments.add(mode, "--dry-run")
    meaning = "if most records are gone from a replica: bring them back, or delete them for everybody"
    parser.add_argument("--missing", choices=("restore", "delete"), help=meaning)
    mode.add_argument("--watch", action="store_true", help="sync again and again, until Ctrl-C")
    every = f"with --watch: at least so often (default: {EVERY:g})"
    parser.add_argument("--every", type=arguments.seconds(SHORTEST, LONGEST), metavar="SECONDS", help=every)
    meaning = "as a session's start does: remotes added with --auto, in a limited time, without output"
    mode.add_argument("--automatic", action="store_true", help=meaning)


def run(args: argparse.Namespace) -> CommandResult:
    arguments.exclude("--automatic", args.automatic, {"REMOTE": args.names, "--missing": args.missing})
    arguments.exclude("--missing", args.missing, {"--watch": args.watch, "--dry-run": args.dry_run})
    arguments.require("--every", args.every, "--watch", args.watch)
    if args.automatic:
        sync_automatically(sync_one)
        return CommandResult({}, lambda screen: "")
    remotes = [remote.get(name) for name in dict.fromkeys(args.names)] or remote.connected()
    if not remotes:
        raise NotFound("no shared store is connected", fix="connect one: `onrecord remote add NAME URL`")
    if args.watch:
        return _watched(remotes, EVERY if args.every is None else args.every, as_lines=args.json)
    done = [_tried(each, dry_run=args.dry_run, missing=args.missing or "") for each in remotes]
    if len(done) == 1 and isinstance(done[0].outcome, OnrecordError):
        raise done[0].outcome

    if any(_is_whole(each) for each in done) and any(each.auto for each in remotes):
        background.note_python()

    def text(screen: Screen) -> str:
        return "\n".join(line for each in done for line in lines(screen, each.remote.name, each.outcome, args.dry_run))

    data = {"remotes": [as_json(*each) for each in done], "dry_run": args.dry_run}
    return CommandResult(data, text, status=0 if all(map(_is_whole, done)) else 1)


def _watched(remotes: Sequence[Remote], every: float, *, as_lines: bool) -> CommandResult:
    """Sync until it is ended, with a line for each sync that did something; with `as_lines` a line of JSON."""
    screen = Screen.of(sys.stdout)

    def tell(each: Remote, outcome: Union[SyncResult, OnrecordError]) -> None:
        text = "\n".join(lines(screen, each.name, outcome))
        say(to_json(as_json(each, outcome), indent=None) if as_lines else text, screen)

    watch(remotes, every, open_transport, tell)
    return CommandResult({}, lambda screen: "")


def sync_one(
    connected: Remote, *, dry_run: bool = False, missing: str = "", patience: float | None = None
) -> SyncResult:
    """Sync one remote, or find out what that would do; OnrecordError if it cannot be done."""
    replica, transport = Replica(connected.name), open_transport(connected)
    try:
        with ended_by_signals():
            if dry_run:
                return engine.preview(replica, transport)
            return sync_replica(replica, transport, missing=missing, patience=patience)
    except Offline as error:
        since, left = replica.state.offline_since, len(sync_base.unpushed_paths(replica))
        waits = f"; {plural(left, 'change')} to push" if left else ""
        # A dry run notes nothing, so it may be the first to find out.
        error.message = f"{error.message}{f'; offline since {since}' if since else ''}{waits}"
        raise
    finally:
        transport.close()


def _tried(connected: Remote, **options: Any) -> _Done:
    with Progress(f"syncing {connected.name}"):
        try:
            return _Done(connected, sync_one(connected, **options))
        except OnrecordError as error:
            return _Done(connected, error)


def lines(screen: Screen, name: str, outcome: Union[SyncResult, OnrecordError], dry_run: bool = False) -> Iterator[str]:
    """What a sync did, for people: one line, and one more for each thing that needs a person."""
    label = screen.paint(name, "bold")
    if isinstance(outcome, OnrecordError):
        yield fitted(screen, f"{label}: {clean(f'{outcome.code}: {outcome.message}')}")
        yield fitted(screen, clean(outcome.fix), _INDENT)
        return
    yield f"{label}: {_counts(name, outcome, dry_run)}"
    for line in _remarks(name, outcome):
        yield fitted(screen, clean(line), _INDENT)


def _counts(name: str, done: SyncResult, dry_run: bool) -> str:
    would = ("would pull", "would push") if dry_run else ("pulled", "pushed")
    counts = [f"{verb} {len(each):,}" for verb, each in zip(would, (done.pulled, done.pushed)) if each]
    if done.waiting:
        counts.append(f"{len(done.waiting):,} waiting for a merge")
    if done.conflicts:
        count = plural(len(done.conflicts), "conflict")
        counts.append(f"would find {count}" if dry_run else f"{count}: onrecord review --remote {name}")
    return ", ".join(counts) or "up to date"


def _remarks(name: str, done: SyncResult) -> Iterator[str]:
    if done.is_reset:
        yield "the remote has lost what was agreed on (a rewritten history or a backup): every file was compared anew"
    explained = {path for each in done.renamed for path in (each.theirs, each.ours)}
    if revived := [path for path in done.revived if path not in explained]:
        yield f"deleted on one side and edited on the other, so kept: {first_few(revived)}"
    if done.outdated:
        yield f"others wrote at the same time, so not pushed yet: {first_few(done.outdated)}"
    for each in done.renamed[:_MOST_NAMED]:
        theirs, ours = incoming.stem(each.theirs), incoming.stem(each.ours)
        keep = f"to keep theirs: onrecord supersede {ours} {theirs} --remote {name}"
        yield f"{each.old} was renamed and changed at the same time: {theirs} is theirs, {ours} is yours; {keep}"
    if done.note:
        yield done.note
    if done.waiting:
        yield way_back(name)
    refused = sorted(done.refused.items())
    yield from (f"not synced: {path}: {reason}" for path, reason in refused[:_MOST_NAMED])
    if len(refused) > _MOST_NAMED:
        yield f"and {len(refused) - _MOST_NAMED:,} more that were not synced"


def _is_whole(done: _Done) -> bool:
    """Whether nothing is left that a person must look after: a conflict or a waiting branch is kept and told."""
    outcome = done.outcome
    return isinstance(outcome, SyncResult) and not outcome.refused and not outcome.outdated


def as_json(connected: Remote, outcome: Union[SyncResult, OnrecordError]) -> dict[str, Any]:
    """How the sync of a remote ended, for programs."""
    name = connected.name
    if isinstance(outcome, OnrecordError):
        return {"name": name, "error": {"code": outcome.code, "message": outcome.message, "fix": outcome.fix}}
    lists = {key: [each._asdict() for each in getattr(outcome, key)] for key in ("conflicts", "renamed")}
    return {"name": name, **outcome._asdict(), **lists, "refused": dict(outcome.refused)}


_ENDING = ("SIGTERM", "SIGHUP")
"""From a service manager, and from a terminal that is closed."""


def open_transport(connected: Remote) -> Transport:
    """The connection to a remote; nothing is sent before the first question."""
    if connected.kind == GIT:
        from onrecord.shared.git_transport import GitTransport

        return GitTransport(connected.url, Replica(connected.name).repository)
    # Only these remotes need the extra `hub`.
    from onrecord.shared.hub_transport import PostgresTransport

    return PostgresTransport(connected.url)


def sync_replica(
    replica: Replica, connection: Transport, *, missing: str = "", patience: float | None = None
) -> SyncResult:
    """Sync a replica, and put what was pulled into its index: hooks have time for a few records each."""
    done = engine.sync(replica, connection, missing=missing, patience=patience)
    if done.pulled:
        index.open(replica.store).close()
    return done


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let signals end what goes on as Ctrl-C does; otherwise git, which has a group of its own, would go on alone."""
    before = {}
    for number in filter(None, (getattr(signal, name, None) for name in _ENDING)):
        # Whoever started this with a signal ignored, as `nohup` does, wants it to go on.
        if signal.getsignal(number) is not signal.SIG_IGN and threading.current_thread() is threading.main_thread():
            before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def way_back(name: str) -> str:
    """What to do about changes that wait for a merge which was refused."""
    return (
        f"each sync offers them again; if they were refused, take your last change back: onrecord undo --remote {name}"
    )


SECONDS = 120.0
"""For each remote: the first sync of a large one on a slow line goes on with the next session."""

_STUCK = 10.0
"""Seconds after which a process is ended that its timer could not interrupt."""

_LOCK = ".automatic.lock"


def sync_automatically(sync: Callable[[Remote], object]) -> None:
    """Sync each remote that the user syncs automatically; nothing if another process is at it.

    What fails or takes too long goes to the failure log, and does not keep the next remote from its sync.
    """
    try:
        with alone():
            for remote in remotes.usable():
                if remote.auto:
                    _in_time(sync, remote)
    except Locked:
        return


def alone(patience: float = 0) -> files.locked:
    """One automatic sync at a time; Locked if another one goes on for longer than that."""
    return files.locked(os.path.join(paths.replicas(), _LOCK), patience)


def _in_time(sync: Callable[[Remote], object], remote: Remote) -> None:
    end = threading.Timer(SECONDS + _STUCK, os._exit, (1,))
    end.daemon = True
    end.start()
    budget.start(SECONDS, SECONDS)
    try:
        budget.attempt(f"automatic sync of {remote.name}", None, _try, sync, remote)
    finally:
        budget.stop()
        end.cancel()


def _try(sync: Callable[[Remote], object], remote: Remote) -> None:
    try:
        sync(remote)
    except Locked:
        # Somebody syncs it by hand just now, and sees what comes of it.
        return
    except budget.OutOfTime:
        replica = Replica(remote.name)
        replica.write_state(replica.state._replace(last_error=f"took longer than {SECONDS:g} seconds"))
        raise


EVERY = 60.0
"""Seconds between two syncs of a remote that reports nothing new."""

SHORTEST, LONGEST = 1.0, 86_400.0
_Tell = Callable[[Remote, Union[SyncResult, OnrecordError]], None]


class _Watched:
    """A remote, with a connection that stays open as long as it works."""

    def __init__(self, remote: Remote, connect: Callable[[Remote], Transport]) -> None:
        self.remote = remote
        self._connect = connect
        self._transport: Transport | None = None
        self._trouble = ""
        self._left = _left(SyncResult())

    def sync(self) -> Union[SyncResult, OnrecordError, None]:
        """What there is to tell: a sync that did something or left something, or a trouble; the same only once."""
        before, left = self._trouble, self._left
        try:
            self._transport = self._transport or self._connect(self.remote)
            synced = sync_replica(Replica(self.remote.name), self._transport)
        except OnrecordError as error:
            self.close()
            self._trouble = error.message
            return error if error.message != before else None
        self._trouble, self._left = "", _left(synced)
        is_news = before or _is_news(synced) or (any(self._left) and self._left != left)
        return synced if is_news else None

    def wait(self, seconds: float) -> None:
        """Wait until the remote has something new, so long at most."""
        try:
            if self._transport:
                self._transport.wait(seconds)
                return
        except OnrecordError:
            # The next sync meets the same trouble, and reports it.
            self.close()
        time.sleep(seconds)

    def close(self) -> None:
        transport, self._transport = self._transport, None
        if transport:
            transport.close()


def _is_news(synced: SyncResult) -> bool:
    return bool(synced.pulled or synced.pushed or synced.conflicts or synced.revived)


def _left(synced: SyncResult) -> tuple[object, ...]:
    """What a sync left for a person to look after."""
    return (dict(synced.refused), synced.waiting, synced.outdated, synced.note)


def watch(remotes: Sequence[Remote], every: float, connect: Callable[[Remote], Transport], tell: _Tell) -> None:
    """Sync the remotes in turn and tell what is new, until Ctrl-C, a signal, or the end of a pipe on standard input."""
    watched = [_Watched(remote, connect) for remote in remotes]
    try:
        with ended_by_signals():
            _end_with_pipe()
            _go_on(watched, every, tell)
    except KeyboardInterrupt:
        return
    finally:
        for each in watched:
            each.close()


def _go_on(watched: Sequence[_Watched], every: float, tell: _Tell) -> None:
    while True:
        for each in watched:
            if (outcome := each.sync()) is not None:
                tell(each.remote, outcome)
        for each in watched:
            each.wait(every / len(watched))


def _end_with_pipe() -> None:
    """Let the end of a pipe that somebody holds at our standard input end this as Ctrl-C does."""
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(0).st_mode) or stat.S_ISSOCK(os.fstat(0).st_mode)
    except OSError:
        return
    if is_pipe:
        threading.Thread(target=_interrupt_at_end, daemon=True).start()


def _interrupt_at_end() -> None:
    while os.read(0, 4_096):
        pass
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:
        # Unlike `interrupt_main`, a signal ends a system call that the main thread waits in; and a shell lets what it
        # starts in the background ignore SIGINT.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
