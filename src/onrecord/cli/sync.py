"""`onrecord sync`: bring the replicas of shared stores and their remotes to the same files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Union

from onrecord.cli import arguments, automatic_sync, syncing, watch
from onrecord.cli.output import CommandResult, Screen, clean, fitted, say, to_json
from onrecord.cli.progress import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import NotFound, Offline, OnrecordError
from onrecord.shared import background, engine, incoming, sync_base
from onrecord.shared import remotes as remote
from onrecord.shared.engine import SyncResult
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica
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
    every = f"with --watch: at least so often (default: {watch.EVERY:g})"
    parser.add_argument("--every", type=arguments.seconds(watch.SHORTEST, watch.LONGEST), metavar="SECONDS", help=every)
    meaning = "as a session's start does: remotes added with --auto, in a limited time, without output"
    mode.add_argument("--automatic", action="store_true", help=meaning)


def run(args: argparse.Namespace) -> CommandResult:
    arguments.exclude("--automatic", args.automatic, {"REMOTE": args.names, "--missing": args.missing})
    arguments.exclude("--missing", args.missing, {"--watch": args.watch, "--dry-run": args.dry_run})
    arguments.require("--every", args.every, "--watch", args.watch)
    if args.automatic:
        automatic_sync.run(sync_one)
        return CommandResult({}, lambda screen: "")
    remotes = [remote.get(name) for name in dict.fromkeys(args.names)] or remote.connected()
    if not remotes:
        raise NotFound("no shared store is connected", fix="connect one: `onrecord remote add NAME URL`")
    if args.watch:
        return _watched(remotes, watch.EVERY if args.every is None else args.every, as_lines=args.json)
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

    watch.run(remotes, every, syncing.transport, tell)
    return CommandResult({}, lambda screen: "")


def sync_one(
    connected: Remote, *, dry_run: bool = False, missing: str = "", patience: float | None = None
) -> SyncResult:
    """Sync one remote, or find out what that would do; OnrecordError if it cannot be done."""
    replica, transport = Replica(connected.name), syncing.transport(connected)
    try:
        with syncing.ended_by_signals():
            if dry_run:
                return engine.preview(replica, transport)
            return syncing.sync(replica, transport, missing=missing, patience=patience)
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
        yield syncing.way_back(name)
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
