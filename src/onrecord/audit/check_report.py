"""What checks say about changes: which lines break them, and how often a check would have been broken so far."""

from __future__ import annotations

import bisect
import itertools
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onrecord.audit import diff
from onrecord.audit.diff import ChangedFile
from onrecord.coldstart import NamedTuple
from onrecord.git import repository
from onrecord.git.repository import Repository
from onrecord.record import check
from onrecord.record.check import Check, FileLines, Line, RecordCheck
from onrecord.record.memory import Memory

MAX_LINES_SHOWN = 20
CPU_SECONDS = 8.0
"""Seconds of computing for one change; what is left then is not checked, and that is said."""

MAX_COMMITS = 200
_MAX_TREE_FILES = 20_000
_MAX_EXAMPLES = 3
_GIT_SECONDS = 20
_COMMIT = "\n\x01"
_LOG = (
    *repository.LOG, f"-{MAX_COMMITS}", "--no-merges", "-p", "-U0", "-M", "-l200", "--submodule=short",
    "--src-prefix=a/", "--dst-prefix=b/", "--format=%n%x01%h %s",
)  # fmt: skip
_COMMAND_TOOLS = ("Bash", "PowerShell")
_PATH_KEYS = ("file_path", "notebook_path")
_NEW_KEYS, _OLD_KEYS = ("content", "new_string", "new_source"), ("old_string",)
"""Fields of tool calls, in sessions of every host under Claude Code's names."""

_MAX_EDITS = 100
_MAX_CHANGE_CHARACTERS = 200_000
"""Edits of one tool call, and characters of it, that are compared with checks."""


class BrokenRule(NamedTuple):
    """A check that a file breaks: the first lines that do, and how many there are."""

    rule: RecordCheck
    path: str
    lines: tuple[Line, ...]
    total: int


class CheckReport(NamedTuple):
    """The checks that a change breaks; `is_complete` is False if the time did not suffice."""

    broken: tuple[BrokenRule, ...]
    is_complete: bool = True


class Trial(NamedTuple):
    """The number of times that a check was broken in one kind of material, with examples."""

    where: str
    hits: int = 0
    of: int = 0
    examples: tuple[str, ...] = ()
    is_complete: bool = True

    def add(self, example: str) -> Trial:
        """Return the trial with one more item that breaks the check, if there is an example."""
        if not example:
            return self._replace(of=self.of + 1)
        examples = (*self.examples, example) if len(self.examples) < _MAX_EXAMPLES else self.examples
        return self._replace(hits=self.hits + 1, of=self.of + 1, examples=examples)


def run(
    rules: Sequence[RecordCheck], changed_files: Iterable[ChangedFile], seconds: float = CPU_SECONDS
) -> CheckReport:
    """Return the checks that a change breaks: by lines that it adds, or by changing, deleting or renaming a file."""
    deadline = time.process_time() + seconds
    broken: list[BrokenRule] = []
    for file in changed_files:
        parts = [(part.path, _AddedText(part)) for part in _changed_paths(file)]
        for rule in rules:
            if time.process_time() > deadline:
                return CheckReport(tuple(broken), is_complete=False)
            for path, added in parts:
                lines = rule.broken_lines(added.with_texts(rule.check)) if added.may_break(rule.check) else []
                if lines:
                    broken.append(BrokenRule(rule, path, tuple(lines[:MAX_LINES_SHOWN]), len(lines)))
                    break
    return CheckReport(tuple(broken))


def _changed_paths(changed_file: ChangedFile) -> Iterator[FileLines]:
    """Yield what a change does at each path of a file: at one where the file is gone, no line is added."""
    yield changed_file.lines._replace(added=()) if changed_file.is_deleted else changed_file.lines
    if changed_file.old_path:
        yield FileLines(changed_file.old_path, ())


class _AddedText:
    """The added lines of a file as one text, in which the lines with a text are found fast."""

    def __init__(self, file_lines: FileLines) -> None:
        self._file_lines = file_lines
        self._text = "\n".join(line.text for line in file_lines.added)
        self._ends = list(itertools.accumulate(len(line.text) + 1 for line in file_lines.added))

    def may_break(self, one: Check) -> bool:
        """True if it has one text of each list of a check, as parts of words: this rules out nearly all."""
        return one.is_about(check.WRITE) and all(
            any(part.strip() in self._text for part in part_list) for part_list in one.texts
        )

    def with_texts(self, one: Check) -> FileLines:
        """Return the file with only the added lines that have a text of a check, which are all that can break it."""
        numbers: set[int] = set()
        for part in {part.strip() for texts in one.texts for part in texts}:
            place = self._text.find(part)
            while place >= 0:
                number = bisect.bisect_right(self._ends, place)
                numbers.add(number)
                place = self._text.find(part, self._ends[number])
        added = self._file_lines.added
        return (
            self._file_lines._replace(added=[added[number] for number in sorted(numbers)])
            if one.texts
            else self._file_lines
        )


def try_in_tree(one: Check, repository: Repository, project: str) -> Trial:
    """Return how many files of the working tree break a check, as if all their lines were added."""
    inner = repository.inner(project)
    words = ("ls-files", "-z", *(("--", inner) if inner else ()))
    result = repository.run(*words, deadline=time.monotonic() + _GIT_SECONDS)
    names = result.output.decode("utf-8", "replace").split("\0")[:-1]
    trial, deadline = Trial("working tree"), time.process_time() + CPU_SECONDS
    for name in names[:_MAX_TREE_FILES]:
        if time.process_time() > deadline:
            return trial._replace(is_complete=False)
        path = name[len(inner) :]
        if one.covers(path) and not diff.is_record(path):
            for file_lines in diff.tracked(project, [path]):
                trial = trial.add(_place(one, file_lines))
    return trial._replace(is_complete=len(names) <= _MAX_TREE_FILES)


def try_in_commits(one: Check, repository: Repository, project: str) -> Trial:
    """Return how many of the last commits break a check."""
    inner = repository.inner(project)
    result = repository.run(*_LOG, *(("--", inner) if inner else ()), deadline=time.monotonic() + _GIT_SECONDS)
    trial, deadline = Trial("commits"), time.process_time() + CPU_SECONDS
    for part in result.output.decode("utf-8", "replace").split(_COMMIT)[1:]:
        if time.process_time() > deadline:
            return trial._replace(is_complete=False)
        head, _, patch = part.partition("\n")
        changed = diff.below(diff.parse(patch).files, inner)
        places = (_place(one, file_lines) for file in changed for file_lines in _changed_paths(file))
        place = next(filter(None, places), "")
        trial = trial.add(f"{head[:60]}: {place}" if place else "")
    return trial._replace(is_complete=result.is_good)


def try_in_sessions(one: Check, sessions: Iterable[Iterable[tuple[str, Mapping[str, Any]]]], project: str) -> Trial:
    """Return how many sessions break a check; each session is the names and inputs of its tool calls."""
    trial, deadline = Trial("sessions"), time.process_time() + CPU_SECONDS
    for calls in sessions:
        if time.process_time() > deadline:
            return trial._replace(is_complete=False)
        trial = trial.add(next(filter(None, (_call_place(one, name, call, project) for name, call in calls)), ""))
    return trial


def _call_place(one: Check, tool: str, fields: Mapping[str, Any], project: str) -> str:
    """Return what of a tool call breaks a check, or nothing."""
    command = called_command(tool, fields)
    if command:
        return " ".join(command.split())[:120] if check.breaks_command(one, command) else ""
    change = called_change(fields, project)
    return _place(one, change.lines()) if change else ""


def called_command(tool: str, fields: Mapping[str, Any]) -> str:
    """Return the command line of a tool call; empty for other tools."""
    command = fields.get("command") if tool in _COMMAND_TOOLS else ""
    return command if isinstance(command, str) else ""


class CalledChange(NamedTuple):
    """A change that a tool call of a session made to a file of the project.

    A file that is written as a whole counts with all its lines: its earlier text is not in the session.
    """

    path: str
    old_text: str
    new_text: str
    is_new: bool

    def lines(self) -> FileLines:
        """Return the lines that were added and removed."""
        return check.added_lines(self.path, self.old_text, self.new_text, is_new=self.is_new)


def called_change(fields: Mapping[str, Any], project: str) -> CalledChange | None:
    """Return the change of a file that a tool call made; None for all other calls."""
    path = next((fields[key] for key in _PATH_KEYS if isinstance(fields.get(key), str)), "")
    inner = path[len(project) + 1 :] if path.startswith(f"{project}/") else "" if os.path.isabs(path) else path
    edits = fields.get("edits")
    parts = [fields, *(edit for edit in (edits if isinstance(edits, list) else ())[:_MAX_EDITS])]
    new_text, old_text = (_joined(parts, keys) for keys in (_NEW_KEYS, _OLD_KEYS))
    if not inner or inner.startswith("../") or not (new_text or old_text):
        return None
    return CalledChange(inner, old_text, new_text, isinstance(fields.get("content"), str))


def _joined(inputs: Sequence[Any], keys: Sequence[str]) -> str:
    values = [part.get(key) for part in inputs if isinstance(part, dict) for key in keys]
    return "\n".join(value for value in values if isinstance(value, str))[:_MAX_CHANGE_CHARACTERS]


def _place(one: Check, file_lines: FileLines) -> str:
    lines = check.broken_lines(one, file_lines)
    return f"{file_lines.path}:{lines[0].number}: {lines[0].text.strip()[:80]}" if lines else ""


_MAX_SAMPLE = 300
_MIN_SAMPLE = 10
"""Files of the project that checks are compared with, and how many a check must cover to count as too wide."""

_MAX_RULES = 300
"""Checks that are compared with each other."""


def find_odd(records: Sequence[Memory], project: str) -> dict[str, str]:
    """Return for each record what is wrong with its checks: broken never, nearly always, or against other advice."""
    odd: dict[str, str] = {}
    rules = []
    for record in records:
        for one in record.checks:
            problem = next(check.problems(one), None)
            if problem:
                odd.setdefault(record.id, f"has a check that is not carried out: {problem.where} {problem.message}")
        sound = check.sound(record.checks)
        if not sound and record.id not in odd and (together := check.problem_together(record.checks)):
            odd[record.id] = f"has checks that are not carried out: they {together}"
        rules += [RecordCheck(record.id, record.title, record.path, one) for one in sound]
    sample = _sample(project) if rules else []
    for rule in rules:
        message = _width(rule.check, sample)
        if message:
            odd.setdefault(rule.record_id, message)
    for rule in rules[:_MAX_RULES]:
        for second in rules[:_MAX_RULES]:
            advice = _contradicted(rule.check, second.check) if rule.record_id != second.record_id else ""
            if advice:
                odd.setdefault(rule.record_id, f"has a check that forbids what {second.record_id} advises: {advice}")
    return odd


def _sample(project: str) -> list[FileLines]:
    """Return files of the project, spread over all, as if all their lines were added."""
    repo = repository.find(project)
    if repo is None:
        return []
    inner = repo.inner(project)
    words = ("ls-files", "-z", *(("--", inner) if inner else ()))
    result = repo.run(*words, deadline=time.monotonic() + _GIT_SECONDS)
    tracked_names = [name[len(inner) :] for name in result.output.decode("utf-8", "replace").split("\0")[:-1]]
    names = [name for name in tracked_names if not diff.is_record(name)]
    step = max(1, -(-len(names) // _MAX_SAMPLE))
    return list(diff.tracked(project, names[::step]))


def _width(one: Check, sample: Sequence[FileLines]) -> str:
    """Return what is wrong with the files that a check covers, or nothing."""
    if check.COMMAND in one.on or len(sample) < _MIN_SAMPLE:
        return ""
    covered = [file for file in sample if one.covers(file.path)]
    if not covered and len(sample) < _MAX_SAMPLE and check.WRITE not in one.on:
        return f"has a check for {one.paths[0]}, and no file is there: it can never be broken"
    broken = sum(bool(check.broken_lines(one, file)) for file in covered)
    if one.texts and len(covered) >= _MIN_SAMPLE and broken * 2 > len(covered):
        return f"has a check that {broken:,} of {len(covered):,} files break as they are"
    if not one.texts and len(covered) * 2 > len(sample):
        return f"has a check that a change of nearly any file breaks ({len(covered):,} of {len(sample):,})"
    return ""


def _contradicted(one: Check, second: Check) -> str:
    """Return the advice of another check that breaks this one, or nothing."""
    if not set(one.on) & set(second.on) or not one.texts:
        return ""
    if second.say and all(any(check.has_text(second.say, part.strip()) for part in texts) for texts in one.texts):
        excused = any(check.has_text(second.say, part) for part in one.unless)
        return "" if excused else second.say
    return next((text for text in second.examples.fits if check.breaks_example(one, text)), "")
