"""`onrecord show NAME...`: print records for people, whatever store they are in, and entries of knowledge banks."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from onrecord import paths, scopes, timestamps
from onrecord.cli import arguments, resolve
from onrecord.cli.output import CommandResult, Screen, clean, clean_lines, wrap
from onrecord.cli.questions import Asker
from onrecord.digest.selection import DigestCandidate
from onrecord.errors import Ambiguous, OnrecordError
from onrecord.git import changes, repository
from onrecord.git.changes import Provenance
from onrecord.project import Found, Project
from onrecord.recall import trust
from onrecord.record import author, check, memory, schema, validity
from onrecord.record.memory import Memory
from onrecord.shared import remotes
from onrecord.store import rights
from onrecord.store.store import Entry, Store
from onrecord.text import plural

_NOTHING: Mapping[str, str] = MappingProxyType({})
_GIT_SECONDS = 3.0
"""Seconds for git to find the commit that brought a record."""


_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""Values of fields that say nothing: a heading alone would look as if something were cut off."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    meaning = "the id of a record, its beginning, or words of it; or a name in the map"
    parser.add_argument("id", nargs="+", metavar="ID", help=meaning)
    parser.add_argument("--history", action="store_true", help="list every change, not only their number")


def run(args: argparse.Namespace) -> CommandResult:
    asker, project = arguments.asker(args), Project(args.project)
    has_store_flag = args.user or args.remote
    shown: list[CommandResult] = []
    failures: list[OnrecordError] = []
    for typed in dict.fromkeys(args.id):
        args.remote, name = (args.remote, typed) if has_store_flag else _split(typed)
        try:
            if args.user or args.remote or resolve.is_listed(asker, name):
                store = resolve.listed_store(asker, arguments.existing_store(args), name)
                record_ref = Found(store.root, resolve.record(asker, store, name).path)
            else:
                record_ref = _find(project, asker, name)
            shown.append(_shown(project, record_ref, has_history=args.history))
        except OnrecordError as error:
            failures.append(error)
    if not shown:
        raise failures[0]
    if len(shown) == 1 and not failures:
        return shown[0]
    data = {"records": [one.data for one in shown], "failures": [str(error) for error in failures]}
    warning = "; ".join(f"{error.message}; fix: {error.fix}" for error in failures)
    text = "\n\n".join
    result = CommandResult(data, lambda screen: text(one.text(screen) for one in shown), 1 if failures else 0, warning)
    return result.warned(*dict.fromkeys(one.warning for one in shown))


def _find(project: Project, asker: Asker, name: str) -> Found:
    """Return what a name means; of several records in the project's store a person at a terminal picks one."""
    if not project.store_refs and not project.lessons_named(name):
        project.require_a_store()
    try:
        return project.find(name)
    except Ambiguous:
        if not asker.can_ask or not project.store.exists:
            raise
        return Found(project.store.root, resolve.record(asker, project.store, name).path)


def _shown(project: Project, found: Found, *, has_history: bool) -> CommandResult:
    """Return one record, or an entry of a knowledge bank, for people."""
    if found.lesson:
        return _lesson(found.lesson)
    store = Store(found.root)
    entry = store.read(found.path)
    hidden_by = project.hidden(store, [entry.memory.id]).get(entry.memory.id, "")
    misfit = project.misfit(store, scopes.pack(entry.memory.scope))
    is_waiting = bool(rights.unaccepted_paths(store.root, [entry.path]))
    caution = trust.caution(store.root, project.settings)
    applies = {
        "hidden_by": hidden_by,
        "out_of_scope": misfit,
        "is_waiting": is_waiting,
        "is_accepted": not caution,
    }
    data = {**arguments.record_data(store, entry), **applies, "record": memory.to_json(entry.memory)}
    status = f"hidden here by {hidden_by}" if hidden_by else f"does not apply here: {misfit}" if misfit else ""
    record = entry.memory
    successor = validity.successor(record, store.records_named)
    own_status = validity.status(record, store.records_named)
    status = status if own_status == validity.ACTIVE else "" if own_status == validity.SUPERSEDED else own_status
    one_sided = list(validity.one_sided_of(record, store.records_named))
    data["one_sided_links"] = [link.note for link in one_sided]
    status = status or ("" if successor else record.record_status)
    commit = _provenance(store, entry)
    data["commit"] = commit._asdict() if commit else None
    # A record may be retired after another one replaced it.
    replaced_by = "" if own_status == validity.SUPERSEDED else successor
    notes = {
        "superseded by": replaced_by,
        "not obeyed": validity.first_notes(one_sided),
        "in git": str(commit) if commit else "",
    }
    if is_waiting:
        status = f"waiting: {paths.store_name(paths.prefix_of(store.root))} does not have this version"
    entry = entry._replace(path=data["path"])
    return CommandResult(
        data,
        lambda screen: page(entry, screen, history=has_history, status=status, labelled_notes=notes),
        warning=caution,
    )


def _provenance(store: Store, entry: Entry) -> Provenance | None:
    """Return which commit brought a record of a repository; None without git."""
    repo = repository.find(os.path.dirname(store.root))
    if repo is None:
        return None
    path = repo.inner(store.root) + entry.path
    return changes.provenance(repo, path, time.monotonic() + _GIT_SECONDS)


def _lesson(lesson: DigestCandidate) -> CommandResult:
    """Return an entry of a knowledge bank for people."""
    text = lesson.text[len(lesson.title) :].lstrip(": ")
    facts = {"name": lesson.name, "category": lesson.category, "title": lesson.title, "path": lesson.path, "text": text}
    numbers = {"observations": lesson.observations, "confidence": lesson.confidence}

    def page(screen: Screen) -> str:
        observed = f"observed {plural(lesson.observations, 'time')}"
        facts_line = f"{lesson.category} · {observed} · confidence {lesson.confidence:g} of 3"
        head = [screen.paint(clean(lesson.title), "bold"), screen.paint(facts_line, "dim"), ""]
        path = f"{screen.paint('path', 'dim')}: {clean(lesson.path)}"
        return "\n".join([*head, _wrapped(clean(text), screen), "", path])

    return CommandResult({**facts, **numbers}, page)


def _split(reference: str) -> tuple[str, str]:
    """Return the remote and the id in a reference such as `platform:ID`; the remote is empty if none is named."""
    name, colon, rest = reference.partition(":")
    return (name, rest) if colon and rest and remotes.is_name(name) else ("", reference)


def page(
    entry: Entry,
    screen: Screen,
    *,
    history: bool = False,
    status: str = "",
    labelled_notes: Mapping[str, str] = _NOTHING,
    beneath: Sequence[str] = (),
    first_field: str = "",
) -> str:
    """Return a record for people; `status` replaces its own status; `labelled_notes` come last.

    The lines `beneath` come beneath the title and its facts, and `first_field` is the first field of the content.
    """
    record = entry.memory
    lines = [screen.paint(clean(record.title), "bold"), screen.paint(_facts(record, status, screen), "dim")]
    lines += [*beneath, ""]
    names = [first_field, *(field.name for field in schema.content_fields(record.category))]
    for name in dict.fromkeys((*names, *sorted(record.content))):
        if record.content.get(name) not in _EMPTY:
            lines += _field(name, record.content[name], screen)
    lines += ["", *_about(entry, screen)]
    lines += [f"{screen.paint(label, 'dim')}: {clean(text)}" for label, text in labelled_notes.items() if text]
    if history:
        lines += ["", screen.paint("history", "cyan")]
        lines += [f"  {clean(change.date)}  {clean(change.summary)}" for change in record.changes]
    return "\n".join(lines)


def _facts(record: Memory, status: str, screen: Screen) -> str:
    is_replaced = record.superseded_by and record.record_status == validity.ACTIVE
    status = status or (f"superseded by {record.superseded_by}" if is_replaced else record.record_status)
    when = timestamps.ago(record.updated_at) if screen.is_terminal else record.updated_at[:10]
    reason = record.retired_reason or record.archived_reason
    why = f" ({reason})" if reason else ""
    return clean(f"{record.category} · {status}{why} · updated {when}")


def _field(name: str, value: Any, screen: Screen) -> list[str]:
    label = screen.paint(clean(name), "cyan")
    texts = list(_texts(value))
    if len(texts) == 1 and not isinstance(value, (list, dict)):
        return [f"{label}: {texts[0]}"] if len(texts[0]) < screen.width - 20 else [label, _wrapped(texts[0], screen)]
    return [label, *(_wrapped(text, screen, mark="- ") for text in texts)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield " — ".join(_texts(item))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{clean(str(key))}: {'; '.join(_texts(item))}"
    else:
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        yield " ".join(clean_lines(text))


def _wrapped(text: str, screen: Screen, mark: str = "") -> str:
    if not screen.is_terminal:
        return f"  {mark}{text}"
    body = wrap(text, screen.width, "  " + " " * len(mark))
    return f"  {mark}{body[2 + len(mark) :]}"


def _about(entry: Entry, screen: Screen) -> Iterator[str]:
    record = entry.memory
    facts = {
        "tags": ", ".join(record.tags),
        "triggers": "; ".join(record.triggers),
        "checks": "; ".join(map(check.describe, record.checks)),
        "files": ", ".join(record.related_files),
        "applies to": ", ".join(
            (*record.scope.paths, *record.scope.branches, *record.scope.repositories, *record.scope.languages)
        ),
        "supersedes": ", ".join(record.supersedes),
        "confidence": "" if record.confidence is None else f"{record.confidence:g}",
        "from": ", ".join(filter(None, (author.described(record.origin, record.agent, record.host), record.source))),
        "changed": plural(record.times_updated, "time") if record.times_updated else "",
        "path": entry.path,
        "hash": entry.hash,
    }
    for label, value in facts.items():
        if value:
            yield f"{screen.paint(label, 'dim')}: {clean(value)}"
