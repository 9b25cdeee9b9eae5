"""Files of a project that can be imported: found, read within bounds, made into records, and saved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from recollect import files, markdown, paths
from recollect.audit import audit_item
from recollect.coldstart import NamedTuple
from recollect.errors import BadInput, RecollectError, SecretFound
from recollect.git import git_files
from recollect.importers import adr, claude_md, notes
from recollect.importers.adr import Adr
from recollect.record import compose
from recollect.record.memory import Memory, to_json
from recollect.search import terms
from recollect.store.store import Entry
from recollect.store.writer import Writer

# A project has a handful of such files; these bounds only keep a walk through a huge tree from taking minutes.
MOST_FOLDERS = 5_000
MOST_FILES = 2_000
_DEEPEST = 6
# Share of word pairs in common from which two records say the same; the texts differ in a word or two.
ALIKE = 0.8
_RULE_FILES = ("CLAUDE.md", "AGENTS.md")
_ADR_FOLDERS = frozenset(
    "adr adrs decisions decision-records architecture-decisions architecture-decision-records".split()
)
_NO_DECISION = ("readme", "index", "template", "toc")
_VENDORED = frozenset("node_modules vendor third_party target build dist venv env site-packages __pycache__".split())


class Source(NamedTuple):
    """A file to import, and its kind: guidance, decision or note."""

    path: str
    kind: str


class Refusal(NamedTuple):
    """Something that was not made a record, and why."""

    source: str
    reason: str


class ImportResult(NamedTuple):
    """The records in some files, what was refused, and what says the same as a record that is there already."""

    records: tuple[Memory, ...] = ()
    refused: tuple[Refusal, ...] = ()
    duplicates: tuple[Refusal, ...] = ()


def discover(project: str) -> list[Source]:
    """The rule files and the decision records of a project, nearest to its root first, each file once."""
    sources: list[Source] = []
    for folder, names in _walk(project):
        is_for_decisions = os.path.basename(folder).lower() in _ADR_FOLDERS
        is_for_rules = f"{folder}/".startswith(".claude/rules/")
        for name in names:
            path, lower = f"{folder}/{name}" if folder else name, name.lower()
            if name in _RULE_FILES or (is_for_rules and lower.endswith(".md")):
                sources.append(Source(path, "guidance"))
            elif is_for_decisions and lower.endswith(".md") and not lower.startswith(_NO_DECISION):
                sources.append(Source(path, "decision"))
    unique: dict[str, Source] = {}
    for source in sorted(sources, key=lambda each: (each.path.count("/"), each.path)):
        full = os.path.join(project, source.path)
        if paths.is_within(project, full):
            unique.setdefault(os.path.realpath(full), source)
    return list(unique.values())[:MOST_FILES]


def named(project: str, names: Sequence[str]) -> list[Source]:
    """The named files, and all Markdown of named folders; BadInput for what does not exist."""
    full: list[str] = []
    for name in names:
        path = os.path.abspath(name)
        if os.path.isdir(path):
            full += [os.path.join(path, each) for each in sorted(os.listdir(path)) if each.lower().endswith(".md")]
        elif os.path.isfile(path):
            full.append(path)
        else:
            raise BadInput(f"there is no file or folder {name!r}", fix="name a Markdown file, or a folder of them")
    root = project.rstrip(os.sep) + os.sep
    return [
        Source(path[len(root) :].replace(os.sep, "/") if path.startswith(root) else path, _kind(path))
        for path in full[:MOST_FILES]
    ]


def gather(project: str, sources: Sequence[Source], now: str, existing: Sequence[Memory] = ()) -> ImportResult:
    """The records in some files that are new beside `existing`; a record with a credential is refused."""
    records: list[Memory] = []
    decisions: list[Adr] = []
    refused: list[Refusal] = []
    for source in sources:
        try:
            text = _read(os.path.join(project, source.path))
        except OSError as error:
            refused.append(Refusal(source.path, f"cannot be read: {error.strerror or error}"))
            continue
        if source.kind != "decision":
            records += (notes if source.kind == "note" else claude_md).records(text, source.path, now)
        elif decision := adr.parse(text, source.path, now):
            decisions.append(decision)
    clean: list[Memory] = []
    for record in (*adr.linked(decisions), *records):
        try:
            compose.refuse_secrets(to_json(record))
            clean.append(record)
        except SecretFound as error:
            refused.append(Refusal(record.source, error.message))
    unique, duplicates = _unique(clean, existing)
    return ImportResult(tuple(unique), tuple(refused), tuple(duplicates))


def save(writer: Writer, records: Sequence[Memory]) -> tuple[list[Entry], list[Refusal]]:
    """Save new records and link them to what they replace; what the store refuses is returned with the reason."""
    was_there = writer.store.exists
    saved: dict[str, Entry] = {}
    refused: list[Refusal] = []
    for record in records:
        try:
            saved[record.id] = writer.save(record._replace(supersedes=(), superseded_by=""))
        except RecollectError as error:
            refused.append(Refusal(record.source, error.message))
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
    refused += _link(writer, records, saved)
    return list(saved.values()), refused


def _link(writer: Writer, records: Iterable[Memory], saved: dict[str, Entry]) -> Iterator[Refusal]:
    """Supersede under the ids that the store gave; a predecessor may have been in the store before."""
    for record in records:
        for imported_id in record.supersedes if record.id in saved else ():
            old = saved[imported_id].memory.id if imported_id in saved else imported_id
            if not writer.store.has(old):
                continue
            try:
                _, saved[record.id] = writer.supersede(old, saved[record.id].memory.id)
            except RecollectError as error:
                yield Refusal(record.source, f"does not replace {old}: {error.message}")


def _unique(records: Sequence[Memory], existing: Sequence[Memory]) -> tuple[list[Memory], list[Refusal]]:
    """The records that say what no other one says, under ids of their own, and a word about each of the rest."""
    everything = [*existing, *records]
    same_as: dict[int, int] = {}
    for first, second in audit_item.pairs([_wording(record) for record in everything], ALIKE):
        is_linked = everything[first].id in everything[second].supersedes
        is_linked = is_linked or everything[second].id in everything[first].supersedes
        if second >= len(existing) and first not in same_as and not is_linked:
            same_as.setdefault(second, first)
    taken: set[str] = set()
    unique, duplicates = list[Memory](), list[Refusal]()
    for at, record in enumerate(records, len(existing)):
        if at in same_as:
            duplicates.append(Refusal(record.source, f"says the same as {everything[same_as[at]].id}"))
        else:
            unique.append(adr.with_free_id(record, taken))
    return unique, duplicates


def _wording(record: Memory) -> frozenset[str]:
    words = terms.stream(audit_item.of(record).statement)[:400]
    return audit_item.shingles(words if len(words) > 5 else terms.stream(record.title) + words)


def _kind(path: str) -> str:
    """The kind of a file that somebody named, by its folder and its content."""
    folder, name = os.path.split(path)
    above, project = os.path.split(folder)
    if project == "memory" and os.path.basename(os.path.dirname(above)) == "projects":
        return "note"
    try:
        text = "" if name in _RULE_FILES else _read(path)
    except OSError:
        return "guidance"
    if adr.parse(text, path, "9999-01-01T00:00:00Z"):
        return "decision"
    front = markdown.read(text).front
    return "note" if front.get("type") and (front.get("description") or front.get("name")) else "guidance"


def _walk(project: str) -> Iterator[tuple[str, list[str]]]:
    """The folders of a project with the files in them, without hidden folders and other people's code."""
    for count, (here, folders, names) in enumerate(os.walk(project)):
        below = os.path.relpath(here, project).replace(os.sep, "/")
        below = "" if below == "." else below
        if count >= MOST_FOLDERS:
            return
        yield below, sorted(names)
        inside = [name for name in folders if name[0] != "." and name.lower() not in _VENDORED]
        # Claude Code's own folder holds much else, such as whole copies of the project.
        inside = ["rules"] if below == ".claude" else inside if below else [*inside, ".claude"]
        folders[:] = sorted(set(inside) & set(folders)) if below.count("/") + 1 < _DEEPEST else []


def _read(full: str) -> str:
    return files.read(full, markdown.LONGEST_TEXT).decode("utf-8-sig", "replace")
