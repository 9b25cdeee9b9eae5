"""Sources: the files of a project that guidance and decisions are imported from, found and read within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect import files, markdown, paths
from recollect.audit import audit_item, similarity
from recollect.errors import BadInput, SecretFound
from recollect.importers import adr, claude_md, notes
from recollect.importers.adr import Adr
from recollect.record import compose
from recollect.record.memory import Memory, to_json
from recollect.search import terms

LARGEST_FILE = 1_000_000
MOST_FOLDERS = 5_000
MOST_FILES = 2_000
ALIKE = 0.8
"""Share of wording in common from which two records say the same."""

_DEEPEST = 6
_GUIDANCE = ("CLAUDE.md", "AGENTS.md")
_DECISIONS = frozenset(
    "adr adrs decisions decision-records architecture-decisions architecture-decision-records".split()
)
_FOREIGN = frozenset("node_modules vendor third_party target build dist venv env site-packages __pycache__".split())
_NO_DECISION = ("readme", "index", "template", "toc")


class Source(NamedTuple):
    """A file that records may come from, and what it is taken for: guidance, decision or note."""

    path: str
    kind: str


class Refusal(NamedTuple):
    """Something that was not made a record, and why."""

    source: str
    reason: str


class Harvest(NamedTuple):
    """What came of some files."""

    records: tuple[Memory, ...] = ()
    refused: tuple[Refusal, ...] = ()
    twins: tuple[Refusal, ...] = ()
    """What says the same as something that is there already."""


def discover(project: str) -> list[Source]:
    """The guidance and the decision records of a project, nearest to its root first."""
    found = [Source(name, "guidance") for name in _settings_files(project)]
    for folder, names in _walk(project):
        below = os.path.basename(folder).lower()
        for name in names:
            path = f"{folder}/{name}" if folder else name
            if name in _GUIDANCE:
                found.append(Source(path, "guidance"))
            elif below in _DECISIONS and name.lower().endswith(".md") and not name.lower().startswith(_NO_DECISION):
                found.append(Source(path, "decision"))
    return _once(project, found)[:MOST_FILES]


def named(project: str, given: Sequence[str]) -> list[Source]:
    """The files that somebody names, folders with all Markdown in them; BadInput for what is not there."""
    found: list[Source] = []
    for path in given:
        full = os.path.abspath(path)
        if os.path.isdir(full):
            names = sorted(name for name in os.listdir(full) if name.lower().endswith(".md"))
            found += [Source(os.path.join(full, name), _kind(os.path.join(full, name))) for name in names]
        elif os.path.isfile(full):
            found.append(Source(full, _kind(full)))
        else:
            raise BadInput(f"there is no file or folder {path!r}", fix="name a Markdown file, or a folder of them")
    root = project.rstrip(os.sep) + os.sep
    return [
        Source(each.path[len(root) :].replace(os.sep, "/") if each.path.startswith(root) else each.path, each.kind)
        for each in found[:MOST_FILES]
    ]


def gather(project: str, sources: Sequence[Source], now: str, known: Sequence[Memory] = ()) -> Harvest:
    """The records in some files that say something `known` does not; what carries a credential is refused."""
    found: list[Memory] = []
    decisions: list[Adr] = []
    refused: list[Refusal] = []
    for source in sources:
        try:
            text = _read(os.path.join(project, source.path))
        except OSError as error:
            refused.append(Refusal(source.path, f"cannot be read: {error.strerror or error}"))
            continue
        decision = adr.parse(text, source.path, now) if source.kind == "decision" else None
        decisions += [decision] if decision else []
        if source.kind != "decision":
            found += (notes if source.kind == "note" else claude_md).records(text, source.path, now)
    clean = [each for each in (*adr.linked(decisions), *found) if not _leak(each, refused)]
    records, twins = distinct(clean, known)
    return Harvest(tuple(records), tuple(refused), tuple(twins))


def distinct(records: Sequence[Memory], known: Sequence[Memory] = ()) -> tuple[list[Memory], list[Refusal]]:
    """The records that say what no other one says, and a word about each of the rest."""
    everything = [*known, *records]
    twin: dict[int, int] = {}
    for one, other in similarity.pairs([_wording(record) for record in everything], ALIKE):
        if other >= len(known) and one not in twin and not _are_linked(everything[one], everything[other]):
            twin.setdefault(other, one)
    ids: set[str] = set()
    kept, dropped = list[Memory](), list[Refusal]()
    for at, record in enumerate(everything[len(known) :], len(known)):
        if at in twin:
            dropped.append(Refusal(record.source, f"says the same as {everything[twin[at]].id}"))
        else:
            kept.append(_under_own_id(record, ids))
    return kept, dropped


def _under_own_id(record: Memory, taken: set[str]) -> Memory:
    """The record under an id that no other one of the same import has; decisions come first and keep theirs."""
    from recollect.record import slug

    number, record_id = 2, record.id
    while record_id in taken:
        record_id, number = slug.numbered(record.id, number), number + 1
    taken.add(record_id)
    return record if record_id == record.id else record._replace(id=record_id)


def _wording(record: Memory) -> frozenset[str]:
    said = terms.stream(audit_item.of(record).statement)[:400]
    return similarity.shingles(said if len(said) > 5 else terms.stream(record.title) + said)


def _are_linked(one: Memory, other: Memory) -> bool:
    return one.id in other.supersedes or other.id in one.supersedes


def _leak(record: Memory, refused: list[Refusal]) -> bool:
    try:
        compose.refuse_secrets(to_json(record))
    except SecretFound as error:
        refused.append(Refusal(record.source, error.message))
        return True
    return False


def _kind(path: str) -> str:
    """What a file that somebody named is taken for, by its folder and by what it says."""
    folder, name = os.path.split(path)
    if (
        os.path.basename(folder) == "memory"
        and os.path.basename(os.path.dirname(os.path.dirname(folder))) == "projects"
    ):
        return "note"
    if name in _GUIDANCE:
        return "guidance"
    try:
        text = _read(path)
    except OSError:
        return "guidance"
    if adr.parse(text, path, "9999-01-01T00:00:00Z"):
        return "decision"
    front = markdown.read(text).front
    return "note" if front.get("type") and (front.get("description") or front.get("name")) else "guidance"


def _settings_files(project: str) -> Iterator[str]:
    """Guidance among the project's settings, where a walk does not look."""
    if os.path.isfile(os.path.join(project, ".claude", "CLAUDE.md")):
        yield ".claude/CLAUDE.md"
    rules = os.path.join(project, ".claude", "rules")
    for here, folders, names in os.walk(rules):
        folders.sort()
        below = os.path.relpath(here, project).replace(os.sep, "/")
        yield from (f"{below}/{name}" for name in sorted(names) if name.endswith(".md"))


def _walk(project: str) -> Iterator[tuple[str, list[str]]]:
    """The folders of a project with the files in them, without hidden folders and other people's code."""
    for count, (here, folders, names) in enumerate(os.walk(project)):
        below = os.path.relpath(here, project).replace(os.sep, "/")
        below = "" if below == "." else below
        if count >= MOST_FOLDERS:
            return
        deep = below.count("/") + 1 >= _DEEPEST
        folders[:] = [] if deep else sorted(n for n in folders if n[0] != "." and n.lower() not in _FOREIGN)
        yield below, sorted(names)


def _once(project: str, sources: list[Source]) -> list[Source]:
    """Each file once, however many links lead to it, and none outside the project."""
    found: dict[str, Source] = {}
    for source in sorted(sources, key=lambda each: (each.path.count("/"), each.path)):
        full = os.path.join(project, source.path)
        if paths.is_within(project, full):
            found.setdefault(os.path.realpath(full), source)
    return list(found.values())


def _read(full: str) -> str:
    return files.read(full, LARGEST_FILE).decode("utf-8-sig", "replace")
