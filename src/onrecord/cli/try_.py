"""`onrecord try`: replay the last prompts of a project, and print what an agent would have been shown."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from onrecord import files, paths, timestamps
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fit, fitted, wrap
from onrecord.cli.terminal import Progress
from onrecord.errors import BadInput, NoStore
from onrecord.git import changes, repository
from onrecord.hosts import session_files, table
from onrecord.importers import proposals, sources
from onrecord.importers.proposals import FileReport
from onrecord.paths import StoreRef
from onrecord.project import Project
from onrecord.recall import replay
from onrecord.recall.candidate import Candidate
from onrecord.recall.replay import ReplayTurn
from onrecord.record import validity
from onrecord.session import transcript
from onrecord.session.transcript import Prompt, Session, Transcript
from onrecord.settings import PROMPT_SWITCHES, off_switches
from onrecord.store.store import Store
from onrecord.text import plural

_PATIENCE = 5.0
"""Seconds for git to list commits."""

_MAX_FILES = 6
_MAX_PROMPT_CHARACTERS = 300
_MIN_NEAR_PROBABILITY = 0.3
"""Records below this probability are not printed as the nearest."""

_TRANSCRIPTS_HELP = "folder or file with sessions (default: where the coding agents keep those of the project)"
_IMPORT_HELP = "use what `onrecord import` would draft, from here or from these files, instead of the store"
_NOTHING = {
    "repeated": "nothing: already shown in this session",
    "silent": "nothing",
    "skipped": "nothing, as the prompt asked",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompts", nargs="*", metavar="PROMPT", help="use these prompts instead of your last ones")
    parser.add_argument(
        "--last", type=arguments.count(1), default=20, metavar="N", help="the last N prompts (default: 20)"
    )
    parser.add_argument("--transcripts", type=arguments.present, metavar="DIR", help=_TRANSCRIPTS_HELP)
    parser.add_argument("--import", dest="sources", nargs="*", metavar="PATH", help=_IMPORT_HELP)


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    only = arguments.only_store(args, project)[0] if args.user or args.remote else None
    recent, warning = _sessions(project, args.prompts, args.transcripts, args.last)
    return _try(project, recent, args.last, only, args.sources).warned(warning)


def _try(
    project: Project, recent: Sequence[Session], last: int, only: StoreRef | None, files: Sequence[str] | None
) -> CommandResult:
    """Replay the prompts with the stores that are read here, or with what an import of `files` would draft."""
    if files is None and (only or _record_count(project.store)):
        return _replay(project, recent, last, project.stores_for(only).store_refs, only=only)
    reports = _import_reports(project, files)
    records = proposals.records_in(reports)
    with replay.laid_out(records) as root:
        store_refs = [*paths.store_refs(root), *_other_stores(project)]
        return _replay(project, recent, last, store_refs, reports=reports if records or files is not None else None)


def _sessions(project: Project, prompts: Sequence[str], path: str | None, last: int) -> tuple[list[Session], str]:
    """Return the sessions with the last prompts, or one for each of `prompts`, and a warning. Raises BadInput."""
    if prompts:
        return [Session(f"prompt {number}", (Prompt("", text),), True) for number, text in enumerate(prompts, 1)], ""
    if path and files.status(path) is None:
        raise BadInput(f"no such file or folder: {path}", fix="name a *.jsonl transcript, or a folder of them")
    transcripts = _transcripts(path) if path else table.transcripts(project.root)
    recent = transcript.recent_sessions(transcripts, last)
    return (recent, "") if recent else _without_prompts(project, path, last)


def _transcripts(path: str) -> list[Transcript]:
    """Return the transcripts in a folder, or the one in a file."""
    names = session_files.newest(path, ".jsonl", depth=0) if files.is_folder(path) else [path]
    return [table.transcript_at(name) for name in names]


def _without_prompts(project: Project, path: str | None, last: int) -> tuple[list[Session], str]:
    """Return the subjects of the last commits as prompts, since they describe tasks, and a warning. Raises BadInput."""
    where = path or f"any agent's sessions in {project.root}"
    how = 'type one: onrecord try "a question you would ask here"'
    repo = None if path else repository.find(project.root)
    deadline = time.monotonic() + _PATIENCE
    subjects = changes.commit_subjects(repo, project.root, last, deadline) if repo else []
    if not subjects:
        fix = f"{how}; or name another folder: --transcripts DIR"
        raise BadInput(f"no prompts in {where}", fix=fix)
    note = f"no prompts in {where}, so the subjects of the last commits are used; {how}"
    return [Session("of commits", tuple(Prompt("", text) for text in reversed(subjects)), True)], note


def _import_reports(project: Project, files: Sequence[str] | None) -> list[FileReport]:
    documents = sources.from_names(project.root, files) if files else sources.discover(project.root)
    with Progress(f"reading {plural(len(documents), 'file')}"):
        reports = proposals.gather(project.root, documents, timestamps.now())
    others = (Store(store_ref.root) for store_ref in _other_stores(project))
    if not proposals.records_in(reports) and not any(map(_record_count, others)):
        raise NoStore(
            f"there are no records in {project.root}, and no decision records that a program can read",
            fix="save a few records, or name files with --import PATH; to see what is left to an agent: onrecord import"
            " --dry-run; for a sample project: onrecord demo",
        )
    return reports


def _other_stores(project: Project) -> list[StoreRef]:
    """Return the stores that are read here besides the project's own."""
    return [store_ref for store_ref in project.store_refs if store_ref.prefix != paths.PROJECT_PREFIX]


def _replay(
    project: Project,
    recent: Sequence[Session],
    last: int,
    store_refs: Sequence[StoreRef],
    *,
    only: StoreRef | None = None,
    reports: list[FileReport] | None = None,
) -> CommandResult:
    with Progress("replaying prompts"):
        turns = replay.play(recent, last, project.settings, store_refs, project.root, only=only.prefix if only else "")
    refs = _other_stores(project) if reports else store_refs
    stores = [Store(ref.root) for ref in refs if only in (None, ref)]
    count = len(proposals.records_in(reports or [])) + sum(map(_record_count, stores))
    return _result(project, turns, count, reports)


def _record_count(store: Store) -> int:
    return len(validity.current(entry.memory for entry in store.entries())) if store.exists else 0


def _result(project: Project, turns: list[ReplayTurn], count: int, reports: list[FileReport] | None) -> CommandResult:
    origins = {record.path: record.source for record in proposals.records_in(reports or [])}
    served = [turn for turn in turns if turn.outcome == "shown"]
    pointed = [turn for turn in turns if turn.outcome == "pointed"]
    tokens = sum(turn.tokens for turn in turns)
    summary = {
        "prompts": len(turns),
        "sessions": len({turn.session for turn in turns}),
        "served": len(served),
        "pointed": len(pointed),
        "silent": len(turns) - len(served) - len(pointed),
        "tokens": tokens,
        "tokens_per_prompt": round(tokens / max(len(turns), 1), 1),
    }
    data: dict[str, Any] = {
        "project": project.root,
        "from": "import" if reports is not None else "store",
        "records": count,
        "files": _files(reports or []),
        "prompts": [_to_json(turn, origins) for turn in turns],
        "summary": summary,
        "refused": [{"source": source, "reason": reason} for source, reason in _refused(reports or [])],
    }
    return CommandResult(data, lambda screen: _text(screen, data), warning=_warning(project, reports))


def _warning(project: Project, reports: list[FileReport] | None) -> str:
    warnings = []
    for off in off_switches(project.settings, *PROMPT_SWITCHES):
        warnings.append(f"{off} now; prompts are replayed as far as the settings allow")
    if project.settings.flag("retrieval.judge.enabled"):
        warnings.append("the judge was not asked, to keep your prompts on this machine; it might have shown less")
    warnings += [f"left out {source}: {reason}" for source, reason in _refused(reports or [])]
    return "; ".join(warnings)


def _refused(reports: list[FileReport]) -> list[tuple[str, str]]:
    return [(report.path, reason) for report in reports if report.is_refused for reason in report.left_out]


def _files(reports: list[FileReport]) -> dict[str, int]:
    """Return the number of records from each file."""
    return {report.path: len(report.proposals) for report in reports if report.proposals}


def _to_json(turn: ReplayTurn, origins: dict[str, str]) -> dict[str, Any]:
    decision = turn.decision
    return {
        "at": turn.prompt.at,
        "session": turn.session,
        "prompt": turn.prompt.text,
        "first": turn.is_first,
        "borrowed": bool(decision and decision.borrowed),
        "outcome": turn.outcome,
        "tokens": turn.tokens,
        "context": decision.text if decision else "",
        "memories": [_candidate(candidate, origins) for candidate in decision.shown_candidates] if decision else [],
        "nearest": _candidate(turn.nearest, origins) if turn.nearest else None,
    }


def _candidate(candidate: Candidate, origins: dict[str, str]) -> dict[str, Any]:
    match = candidate.match
    origin = origins.get(match.path) if candidate.prefix == paths.PROJECT_PREFIX else None
    return {
        "id": match.id,
        "category": match.category,
        "title": match.title,
        "probability": round(match.probability, 4),
        "shown": candidate.shown_form,
        "summary_line": match.summary_line,
        "note": candidate.item.note,
        "source": origin or candidate.prefix + match.path,
    }


def _text(screen: Screen, data: dict[str, Any]) -> str:
    lines = [fitted(screen, _heading(data))]
    session = ""
    for turn in data["prompts"]:
        if turn["session"] != session:
            session = turn["session"]
            lines += ["", screen.paint(f"session {clean(session)}", "dim")]
        lines += _turn(screen, turn)
    return "\n".join([*lines, "", *_summary(screen, data)])


def _heading(data: dict[str, Any]) -> str:
    records = plural(data["records"], "record")
    if data["from"] == "store":
        return f"With the {records} you have now:"
    files = [f"{clean(path)} ({count})" for path, count in data["files"].items()]
    more = [plural(len(files) - _MAX_FILES, "more file")] if len(files) > _MAX_FILES else []
    return f"With {records} imported for this trial from {', '.join(files[:_MAX_FILES] + more)}:"


def _turn(screen: Screen, turn: dict[str, Any]) -> list[str]:
    when = turn["at"][:16].replace("T", " ") or "(no date)"
    prompt = fit(clean(turn["prompt"][:_MAX_PROMPT_CHARACTERS]), screen.width - len(when) - 2)
    marks = [name for name, is_so in (("first", turn["first"]), ("with earlier words", turn["borrowed"])) if is_so]
    lines = [f"{screen.paint(when, 'dim')}  {screen.paint(prompt, 'bold')}"]
    if not turn["memories"]:
        note = f"a note: {clean(turn['context'].strip())}" if turn["context"] else _NOTHING[turn["outcome"]]
        nothing = fit(f"  {note}{_near_text(turn['nearest'])}", screen.width)
        return [*lines, screen.paint(nothing, "dim")]
    summary = f"shown {len(turn['memories'])}, {turn['tokens']} tokens" + (f" ({', '.join(marks)})" if marks else "")
    lines.append(f"  {screen.paint(summary, 'green')}")
    for record in turn["memories"]:
        note = f" ({record['note']})" if record["note"] else ""
        text = f"pointer: {record['title']}" if record["shown"] == "pointer" else f"{record['summary_line']}{note}"
        text = clean(f"{record['probability']:.2f} {record['category']}: {text}")
        lines.append(wrap(text, screen.width, "    "))
        lines.append(screen.paint(f"      {clean(record['source'])}", "dim"))
    return lines


def _near_text(nearest: dict[str, Any] | None) -> str:
    """Return a note on the nearest record; empty if none is near."""
    if nearest is None or nearest["probability"] < _MIN_NEAR_PROBABILITY:
        return ""
    return f"; nearest was {nearest['probability']:.2f} {clean(nearest['title'])}"


def _summary(screen: Screen, data: dict[str, Any]) -> list[str]:
    counts = data["summary"]
    replayed = f"{plural(counts['prompts'], 'prompt')} in {plural(counts['sessions'], 'session')}"
    cost = f"{counts['tokens']:,} tokens added in all, {counts['tokens_per_prompt']} per prompt"
    served = f"{counts['served']} shown a record, {counts['pointed']} only a pointer, {counts['silent']} nothing"
    line = f"{replayed}: {served}; {cost}."
    after = "Nothing was written, and nothing left this machine."
    advice = " To draft these records: onrecord import" if data["from"] == "import" else ""
    bold = [screen.paint(part, "bold") for part in fitted(screen, line).split("\n")]
    return [*bold, fitted(screen, after + advice)]
