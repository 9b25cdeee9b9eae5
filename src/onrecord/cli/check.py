"""`onrecord check`: what a change does to the records: broken checks, records about its files, stale ones, new ADRs."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onrecord import coldstart, files, paths
from onrecord.audit import authority, check_report, diff
from onrecord.audit.check_report import BrokenRule, Trial
from onrecord.audit.diff import ChangeSet
from onrecord.audit.report import AuditFinding
from onrecord.cli import arguments, resolve
from onrecord.cli.output import CommandResult, Screen, clean, fitted, labelled
from onrecord.cli.questions import Asker
from onrecord.cli.terminal import Progress, watched
from onrecord.coldstart import NamedTuple
from onrecord.digest import knowledge_bank
from onrecord.errors import BadInput, Invalid, OnrecordError
from onrecord.freshness.check import Freshness, IndexedAnchor
from onrecord.git import git_files, repository
from onrecord.git.repository import Repository
from onrecord.hosts import table
from onrecord.importers import sources
from onrecord.project import Project
from onrecord.recall import for_check, for_file
from onrecord.recall.candidate import Candidate
from onrecord.record import check, check_proposal, compose, schema
from onrecord.record.check import Check
from onrecord.record.memory import Memory
from onrecord.search import index
from onrecord.session.transcript import Transcript
from onrecord.settings import project_settings
from onrecord.store import record_names
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.text import plural

_MAX_FILES = 300
"""Files of a change for which the records about them are looked up."""

_MAX_RECORDS = 20
_MAX_STORES = 20
_MIN_FILES = 10
"""Files below which a check that most of them break is not refused."""

_MAX_STDIN_BYTES = 24_000_000
_MAX_GIT_FILE_BYTES = 100_000
_DECIDING_FILES = ("CODEOWNERS", ".gitattributes")
_GITHUB = "github"


class StaleRecord(NamedTuple):
    """A record about a file that the change makes other than it was when the record was saved."""

    candidate: Candidate
    files: tuple[str, ...]


class _CheckedChange(NamedTuple):
    """All that is to be said about a change."""

    change_set: ChangeSet
    broken: tuple[BrokenRule, ...]
    touched: Mapping[str, tuple[Candidate, tuple[str, ...]]]
    stale: tuple[StaleRecord, ...]
    unrecorded: tuple[str, ...]
    authority: tuple[AuditFinding, ...]
    """Records of the change that take much authority, and other files of it that change who decides."""
    notes: tuple[str, ...]

    @property
    def firm(self) -> list[BrokenRule]:
        """The broken checks of records that are decided, not only proposed."""
        return [rule for rule in self.broken if rule.rule.is_firm]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        metavar="WHAT",
        help="a commit to compare the working tree with (default: HEAD), A..B or A...B, files to check as a whole, "
        "or - for a diff on standard input",
    )
    parser.add_argument("--staged", action="store_true", help="only what is staged, as git would commit it")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 if it makes a record stale, or brings one that takes much authority, too",
    )
    parser.add_argument(
        "--format",
        choices=("text", _GITHUB),
        default="text",
        help="github: annotations for a workflow of GitHub Actions",
    )
    parser.add_argument(
        "--try",
        dest="trial",
        metavar="ID",
        default="",
        help="count how often the checks of a record, or of JSON on standard input (-), would have been broken so far",
    )


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    if args.trial:
        return trial_result(_tried(project, arguments.asker(args), args.trial), project.root)
    warning = project.require_a_store()
    with Progress("comparing"):
        change_set = _change_set(project, args.what, is_staged=args.staged)
        checked = _find(project, change_set)
    is_bad = bool(checked.firm) or (args.strict and bool(checked.stale or checked.authority))
    return CommandResult(
        _data(checked),
        lambda screen: _github(checked, is_strict=args.strict) if args.format == _GITHUB else _text(screen, checked),
        status=1 if is_bad else 0,
        note="; ".join(checked.notes),
    ).warned(warning)


def _change_set(project: Project, words: Sequence[str], *, is_staged: bool) -> ChangeSet:
    if is_staged and words:
        raise BadInput("--staged and a commit, a file or - do not go together", fix="onrecord check --staged")
    if list(words) == ["-"]:
        return _from_stdin()
    existing = [word for word in words if files.is_there(word)]
    if words and len(existing) == len(words):
        return diff.whole(project.root, words)
    repo = repository.find(project.root)
    if repo is None:
        raise BadInput("this project is not in a git repository", fix="name files, or give a diff on standard input")
    if is_staged:
        return diff.staged(repo, project.root)
    if len(words) > 1:
        missing = next(word for word in words if word not in existing)
        raise BadInput(f"{missing!r} is not a file", fix="name one commit, one range A..B, or only files that exist")
    return _compared(repo, project.root, words[0] if words else "")


def _compared(repo: Repository, project: str, revision: str) -> ChangeSet:
    old, dots, new = revision.partition("...")
    if not dots:
        old, dots, new = revision.partition("..")
    if not dots:
        return diff.work_tree(repo, project, diff.commit_of(repo, revision) if revision else repo.head)
    first, second = diff.commit_of(repo, old or "HEAD"), diff.commit_of(repo, new or "HEAD")
    return diff.between(repo, project, diff.merge_base(repo, first, second) if "..." in revision else first, second)


def _stdin() -> bytes:
    buffer, limit = getattr(sys.stdin, "buffer", None), _MAX_STDIN_BYTES + 1
    data: bytes = buffer.read(limit) if buffer else sys.stdin.read(limit).encode("utf-8", "surrogatepass")
    return data


def _from_stdin() -> ChangeSet:
    data = _stdin()
    text = data[:_MAX_STDIN_BYTES].decode("utf-8", "replace")
    change_set = diff.parse(text)
    if text.strip() and not change_set.files and not text.startswith(("diff ", "--- ", "commit ", "* Unmerged path ")):
        raise BadInput("standard input is not a diff", fix="give the output of git diff")
    note = f"only the first {_MAX_STDIN_BYTES // 1_000_000} MB of the diff were read"
    return change_set._replace(notes=(*change_set.notes, note)) if len(data) > _MAX_STDIN_BYTES else change_set


def _find(project: Project, change_set: ChangeSet) -> _CheckedChange:
    names = [os.path.join(project.root, file.path) for file in change_set.files[:_MAX_FILES]]
    stores = project.stores_near(files=names)
    report = check_report.run(for_check.in_force(stores, project.settings), change_set.files)
    touched: dict[str, tuple[Candidate, tuple[str, ...]]] = {}
    for file in change_set.files[:_MAX_FILES]:
        for path in filter(None, (file.path, file.old_path)):
            for candidate in for_file.naming(stores, path, project.settings):
                _, earlier = touched.get(candidate.record, (candidate, ()))
                touched[candidate.record] = (candidate, tuple(dict.fromkeys((*earlier, path))))
    notes = list(change_set.notes)
    if not report.is_complete:
        notes.append("the change is too large to be checked as a whole: check parts of it")
    if len(change_set.files) > _MAX_FILES:
        notes.append(f"records about files: only the first {_MAX_FILES} files were looked up")
    stale = tuple(_stale(project, change_set, touched))
    return _CheckedChange(
        change_set,
        report.broken,
        touched,
        stale,
        tuple(_unrecorded(project, change_set)),
        tuple(_authority(project, change_set)),
        tuple(notes),
    )


def _authority(project: Project, change_set: ChangeSet) -> Iterator[AuditFinding]:
    """Yield what to look at in the records that a change brings, and in files that change who decides."""
    changed = [file.path for file in change_set.files if not file.is_deleted]
    for path in (*changed, *change_set.store_files):
        name = path.rpartition("/")[2]
        if name == paths.CONFIG:
            keys = ", ".join(setting.key for setting in project_settings(project.settings)) or "nothing that counts"
            yield AuditFinding((path,), f"changes settings of everyone here: {keys}", "onrecord config")
        elif name in _DECIDING_FILES and not (change_set.is_applied and _is_ours(project, path)):
            yield AuditFinding((path,), "changes who decides: git and the forge read it", f"read it: {path}")
    yield from _in_banks(project, changed)
    brought: dict[str, set[str]] = {}
    for path in change_set.store_files:
        folder, mark, name = f"/{path}".rpartition(f"/{paths.PROJECT_PREFIX}")
        if mark and name.endswith(".json"):
            brought.setdefault(folder.lstrip("/"), set()).add(record_names.record_id(name))
    for folder in sorted(brought)[:_MAX_STORES]:
        yield from _in_store(project, folder, brought[folder])
    if len(brought) > _MAX_STORES:
        message = f"are in {len(brought)} folders, of which {_MAX_STORES} were read"
        yield AuditFinding((paths.PROJECT_PREFIX,), message, "read the others yourself")


def _in_store(project: Project, folder: str, ids: set[str]) -> Iterator[AuditFinding]:
    """Yield what to look at in records of the project, or of the store in a folder of it."""
    root = os.path.join(project.root, *filter(None, folder.split("/")), paths.STORE)
    if not paths.is_within(project.root, root) or not files.is_folder(root):
        return
    records = [entry.memory for entry in Store(root).entries()]
    search_index = index.open(root)
    for finding in authority.examine(records, authority.reaches(search_index), ids):
        yield finding._replace(ids=tuple(f"{folder}/{name}".lstrip("/") for name in finding.ids))
    search_index.close()


def _in_banks(project: Project, file_paths: Iterable[str]) -> Iterator[AuditFinding]:
    """Yield what to look at in knowledge banks that a change brings: the start of a session shows lines of them."""
    for folder, source, _ in knowledge_bank.folders(project.root)[:1]:
        for path in file_paths:
            if path.removeprefix(source) in knowledge_bank.BANKS:
                try:
                    data = files.read_inside(project.root, path, knowledge_bank.MAX_BYTES)
                except (OSError, OnrecordError):
                    continue
                for message in authority.in_text(data.decode("utf-8", "replace")):
                    yield AuditFinding((path,), message, f"read it: {os.path.join(folder, os.path.basename(path))}")


def _is_ours(project: Project, path: str) -> bool:
    """True if a file is a git file of the project's store, with no line but those that the program writes."""
    own = {f"{paths.PROJECT_PREFIX}{name}": lines for name, lines in git_files.REQUIRED_LINES.items()}
    try:
        data = files.read_inside(project.root, path, _MAX_GIT_FILE_BYTES + 1)
    except (OSError, OnrecordError):
        return False
    lines = set(filter(None, data.decode("utf-8", "replace").split("\n")))
    return len(data) <= _MAX_GIT_FILE_BYTES and lines <= set(own.get(path, ()))


def _stale(
    project: Project, change_set: ChangeSet, touched: Mapping[str, tuple[Candidate, tuple[str, ...]]]
) -> Iterator[StaleRecord]:
    """Yield the project's records whose files are no longer as they were when the record was saved."""
    freshness = Freshness(project.root)
    changed = {file.path for file in change_set.files if file.lines.added or file.lines.removed or file.is_deleted}
    for candidate, names in touched.values():
        if not candidate.match.anchors or candidate.prefix != paths.PROJECT_PREFIX:
            continue
        anchors = [IndexedAnchor(*parts) for parts in coldstart.loads(candidate.match.anchors)]
        mine = [anchor for anchor in anchors if anchor.path in names]
        if change_set.is_applied:
            stale = [anchor.path for anchor in mine if freshness.check(anchor).is_stale]
        else:
            stale = [anchor.path for anchor in mine if anchor.path in changed and not anchor.symbol]
        if stale:
            yield StaleRecord(candidate, tuple(dict.fromkeys(stale)))


def _unrecorded(project: Project, change_set: ChangeSet) -> list[str]:
    """Return the decision records that the change adds and that no record or draft names."""
    new = [
        file.path
        for file in change_set.files
        if file.lines.is_new and not file.is_deleted and sources.kind_of(file.path) == "decision"
    ]
    if not new or not project.store.exists:
        return []
    records = [entry.memory for entry in project.store.entries()]
    records += [draft.record for draft in Inbox(project.store.root).drafts()]
    recorded_paths = {name for record in records for name in (record.source.partition(":")[0], *record.related_files)}
    return [path for path in new if path not in recorded_paths]


def _data(checked: _CheckedChange) -> dict[str, Any]:
    return {
        "files": len(checked.change_set.files),
        "lines": checked.change_set.line_count,
        "broken": [
            {
                "id": broken.rule.record_id,
                "record": broken.rule.path,
                "title": broken.rule.title,
                "say": broken.rule.check.say,
                "proposed": not broken.rule.is_firm,
                "file": broken.path,
                "count": broken.total,
                "lines": [{"line": line.number, "text": line.text} for line in broken.lines],
            }
            for broken in checked.broken
        ],
        "records": [
            {"id": candidate.match.id, "record": _name(candidate), "title": candidate.match.title, "files": list(names)}
            for candidate, names in checked.touched.values()
        ],
        "stale": [
            {"id": stale.candidate.match.id, "record": _name(stale.candidate), "files": list(stale.files)}
            for stale in checked.stale
        ],
        "unrecorded": list(checked.unrecorded),
        "authority": [{"ids": list(claim.ids), "message": claim.message} for claim in checked.authority],
        "notes": list(checked.notes),
    }


def _name(candidate: Candidate) -> str:
    return f"{candidate.prefix}{candidate.match.path}"


def _text(screen: Screen, checked: _CheckedChange) -> str:
    lines: list[str] = []
    for broken in checked.broken:
        rule = broken.rule
        advice = rule.check.say or rule.title
        mark = "" if rule.is_firm else " (proposed)"
        for line in broken.lines:
            place = screen.paint(f"{clean(broken.path)}:{line.number}", "bold")
            lines.append(f"{place}: {clean(line.text.strip())[:120]}")
        more = broken.total - len(broken.lines)
        lines += [f"  and {more:,} more lines"] if more > 0 else []
        lines.append(
            fitted(screen, f"  {rule.record_id}{mark}: {clean(advice)}; to read it: onrecord show {rule.record_id}")
        )
    lines += _section(screen, "stale after this change (`onrecord reanchor` confirms a record)", (
        f"{stale.candidate.match.id}: {clean(', '.join(stale.files))}" for stale in checked.stale
    ))  # fmt: skip
    stale_ids = {stale.candidate.record for stale in checked.stale}
    lines += _section(screen, "records about these files", (
        f"{candidate.match.id}: {clean(candidate.match.title)}"
        for name, (candidate, _) in checked.touched.items() if name not in stale_ids
    ))  # fmt: skip
    lines += _section(screen, "decisions without a record; to draft them: onrecord import", (
        clean(path) for path in checked.unrecorded
    ))  # fmt: skip
    lines += _section(screen, "read these yourself: they take much authority", (
        f"{clean(', '.join(claim.ids))} {clean(claim.message)}" for claim in checked.authority
    ))  # fmt: skip
    count = len(checked.change_set.files)
    total = plural(len(checked.firm), "broken check")
    colour = "red" if checked.firm else "green"
    memory_files = plural(len(checked.change_set.store_files), "file")
    nothing = f"only {memory_files} of the memory changed" if checked.change_set.store_files else "nothing has changed"
    nothing = "no changed file could be read" if checked.notes else nothing
    summary = f"{screen.paint(total, colour)} in {plural(count, 'changed file')}" if count else nothing
    return "\n".join([*lines, summary])


def _section(screen: Screen, title: str, lines: Iterator[str]) -> list[str]:
    items = list(lines)
    if not items:
        return []
    shown = [fitted(screen, f"  {item}") for item in items[:_MAX_RECORDS]]
    more = [f"  and {len(items) - _MAX_RECORDS:,} more"] if len(items) > _MAX_RECORDS else []
    return [screen.paint(f"{title}:", "dim"), *shown, *more]


def _github(checked: _CheckedChange, *, is_strict: bool) -> str:
    """Return annotations of GitHub Actions, one for each broken line and each stale record.

    What makes the job fail is an error, all the rest a warning.
    """
    lines = []
    for broken in checked.broken:
        rule = broken.rule
        level = "error" if rule.is_firm else "warning"
        for line in broken.lines:
            lines.append(_annotation(level, broken.path, line.number, rule.record_id, rule.check.say or rule.title))
    for stale in checked.stale:
        message = "This change makes the record stale; check that it still holds."
        lines.append(
            _annotation("error" if is_strict else "warning", stale.files[0], 1, stale.candidate.match.id, message)
        )
    for claim in checked.authority:
        level, name = "error" if is_strict else "warning", claim.ids[0]
        file = name if "/" in name or "." in name else paths.PROJECT_PREFIX
        lines.append(_annotation(level, file, 1, name, f"{name} {claim.message}; read it before you accept it."))
    for path in checked.unrecorded:
        lines.append(
            _annotation("warning", path, 1, "no record", "This decision has no record; to draft one: onrecord import")
        )
    return "\n".join(lines)


def _annotation(level: str, path: str, number: int, title: str, message: str) -> str:
    file, name = (_escaped(text).replace(":", "%3A").replace(",", "%2C") for text in (path, f"onrecord: {title}"))
    return f"::{level} file={file},line={number},title={name}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return clean(text.replace("\r", " ").replace("\n", " ")).replace("%", "%25")


def _tried(project: Project, asker: Asker, reference: str) -> tuple[Check, ...]:
    """Return the checks to try: those of a record, or those in JSON on standard input. Raises Invalid or BadInput."""
    if reference != "-":
        record = resolve.record(asker, project.store, reference).memory
        if not record.checks:
            raise BadInput(f"{record.id} has no checks", fix=f"onrecord edit {record.id}")
        return record.checks
    try:
        raw = json.loads(_stdin().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"standard input is not JSON ({error})", fix='give a check: {"on": "command", "starts": ["npm i"]}'
        ) from error
    return parsed_checks(raw)


def parsed_checks(raw: Any) -> tuple[Check, ...]:
    """Return checks as a person or an agent wrote them, one or a list. Raises Invalid."""
    checks = compose.arrange_checks(raw)
    flaws = list(schema.check_flaws(checks))
    if flaws:
        problems = tuple((flaw.where, flaw.message) for flaw in flaws)
        raise Invalid("; ".join(map(str, flaws[:8])), "correct the check and try again; nothing was written", problems)
    return tuple(check.parse(part) for part in checks)


def trial_result(checks: Sequence[Check], project: str) -> CommandResult:
    """Return how often checks would have been broken: in the working tree, in commits and in sessions."""
    tried = [(one, try_one(one, project)) for one in checks]
    data = [{"check": check.to_json(one), "broken": [trial._asdict() for trial in trials]} for one, trials in tried]
    return CommandResult({"checks": data}, lambda screen: "\n".join(_trials(screen, tried)))


def try_one(one: Check, project: str) -> list[Trial]:
    """Return how often one check would have been broken, with three examples of each kind."""
    trials, repo = [], repository.find(project)
    if repo and (check.EDIT in one.on or check.WRITE in one.on):
        with Progress("reading the working tree"):
            trials.append(check_report.try_in_tree(one, repo, project))
        with Progress("reading commits"):
            trials.append(check_report.try_in_commits(one, repo, project))
    sessions = (_calls(session) for session in watched(table.transcripts(project), "reading sessions"))
    return [*trials, check_report.try_in_sessions(one, sessions, project)]


def trial_note(checks: Sequence[Check], project: str, *, force: bool) -> str:
    """Return in a line how often new checks would have been broken. Raises BadInput if most files break one."""
    notes = []
    for one in checks:
        trials = try_one(one, project)
        tree = next((trial for trial in trials if trial.where == "working tree"), None)
        if tree and tree.of >= _MIN_FILES and tree.hits * 2 > tree.of and not force:
            example = f", such as {tree.examples[0]}"
            raise BadInput(
                f"checks: {tree.hits:,} of {tree.of:,} files break the check{example}",
                fix="make it narrower with paths or other texts; or insist: --force",
            )
        counts = ", ".join(f"{trial.hits:,} of {trial.of:,} ({trial.where})" for trial in trials)
        examples = [trial.examples[0] for trial in trials if trial.examples]
        such = f", such as {examples[0]}" if examples else ""
        notes.append(f"so far the check would have been broken in {counts}{such}")
    return "; ".join(notes)


def proposal_note(record: Memory, where: str) -> str:
    """Return a line that proposes a check for a rule that names what it forbids; empty if there is none."""
    proposed = check_proposal.propose(record)
    if not proposed:
        return ""
    check_text = json.dumps(check.to_json(proposed), ensure_ascii=False)
    return f"a program can check this rule: onrecord update {record.id} --check {shlex.quote(check_text)}{where}"


def _calls(transcript: Transcript) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the input of each tool call of a session."""
    entries, _ = transcript.tail()
    for entry in entries:
        for message in transcript.messages_in(entry):
            if message.kind == "tool_use":
                yield message.name, message.input


def _trials(screen: Screen, tried: Sequence[tuple[Check, Sequence[Trial]]]) -> Iterator[str]:
    for one, trials in tried:
        yield screen.paint(clean(json.dumps(check.to_json(one), ensure_ascii=False)), "bold")
        for trial in trials:
            least = "" if trial.is_complete else "at least "
            yield labelled(screen, trial.where, f"{least}{trial.hits:,} of {trial.of:,} break it", indent="  ")
            yield from (f"    {clean(example)}" for example in trial.examples)
