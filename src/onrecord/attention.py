"""What needs a person, from one function: `needs` lists every queue of a project, the most important first.

`onrecord status`, `onrecord doctor`, the start of a session, the web and MCP all name what is in this list, so none of
them says that there is nothing to do while another one knows of a conflict. `queues` is the part that the start of a
session has time for: it counts files, and opens no record and no program. So nothing is imported here that a hook does
not need.
"""

from __future__ import annotations

import os

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.text import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onrecord.audit.report import AuditFinding
    from onrecord.paths import StoreRef
    from onrecord.project import Project
    from onrecord.search.index import Index
    from onrecord.settings import Settings
    from onrecord.shared.replicas import SyncState
    from onrecord.usage.usage_log import Corrections

UNREADABLE, BROKEN, OFF, CONFLICT = "unreadable", "broken", "off", "conflict"
TRUST, AGENT, SYNC, REFUSED = "trust", "agent", "sync", "refused"
DRAFT, SHARED_DRAFT, CORRECTED, CHANGED = "draft", "shared_draft", "corrected", "changed"
CONTRADICTED = "contradicted"
WAITING, SETTING, NOT_USED, MISSING, EMPTY = "waiting", "setting", "not_used", "missing", "empty"
KINDS = (
    UNREADABLE, BROKEN, OFF, TRUST, CONFLICT, SYNC, REFUSED, AGENT, DRAFT, SHARED_DRAFT, CONTRADICTED, CORRECTED,
    CHANGED, EMPTY, WAITING, MISSING, SETTING, NOT_USED,
)  # fmt: skip
"""All kinds, the most important first: what keeps agents from being shown anything, then what a person decides."""

MAX_SUBJECTS = 5
"""Records that a need names; how many there are is its number."""

_MAX_NAMES = 3
MAX_CHECKED_RECORDS = 500
"""The newest records, whose files are compared; checking 200,000 would take minutes."""

PATIENCE = 3.0
"""Seconds for all calls of git."""

_MAX_CORRECTED = 50
"""Corrected rules that are read, to see whether they were changed since."""

_REVIEW, _DOCTOR = "onrecord review", "onrecord doctor"
_INBOX, _HEALTH, _SETTINGS, _SEARCH = "/inbox", "/health", "/settings", "/search"
_CONFLICT_PREFIX = "conflict-"
"""How the name of a draft begins that is our side of a conflict; `shared.reconcile` gives it."""


class Subject(NamedTuple):
    """One of the things that a need is about."""

    name: str
    """The id of a record, the name of a draft, the path of a file, or the key of a setting."""
    path: str = ""
    """The path of the record with the prefix of its store; empty if it is no record that can be opened."""
    title: str = ""
    note: str = ""
    """What is the matter with this one; empty if the need says all."""


class Need(NamedTuple):
    """One thing that a person has to look at, in one store or on this machine."""

    kind: str
    """One of `KINDS`."""
    title: str
    """What it is, in some words: `3 drafts wait for review`."""
    sentence: str
    """What that means, in one sentence."""
    command: str
    """The command that takes care of it."""
    page: str
    """The page of the web that does."""
    store: str = ""
    """The store: `project`, `user`, the folder of a nested one, or the name of a shared one; empty for the machine."""
    number: int = 1
    subjects: Sequence[Subject] = ()
    """The first of what it is about."""

    @property
    def line(self) -> str:
        """What it is, and the command for it: `3 drafts are waiting: onrecord review`."""
        return f"{self.title}: {self.command}"

    @property
    def names(self) -> str:
        """The names of the first few, and how many more there are: `a, b, c and 4 more`."""
        first = [subject.name for subject in self.subjects[:_MAX_NAMES]]
        more = f" and {self.number - len(first):,} more" if self.number > len(first) else ""
        return f"{', '.join(first)}{more}" if first else ""


def needs(project: Project, *, patience: float = PATIENCE) -> list[Need]:
    """Return what needs a person in a project, the most important first.

    What cannot be read is a need itself. `patience` limits the seconds for git, which says whether files changed.
    """
    found: list[Need] = []
    for part, step in _parts(project, patience):
        found += _attempted(part, step)
    rank = {kind: number for number, kind in enumerate(KINDS)}
    return sorted(found, key=lambda need: rank[need.kind])


def queues(store_root: str, prefix: str, review: str = "") -> list[Need]:
    """Return the conflicts and drafts that wait in one store, by the names of their files alone.

    `review` is the command for them, if it is not that of the command line. Raises Unwritable.
    """
    from onrecord.store import record_names

    names = record_names.drafts(store_root)
    conflicts = [name for name in names if paths.is_shared(prefix) and name.startswith(_CONFLICT_PREFIX)]
    drafts = [name for name in names if name not in set(conflicts)]
    store, page = paths.store_name(prefix), _in_store(_INBOX, prefix)
    command = review or f"{_REVIEW} {paths.store_flag(prefix)}".rstrip()
    where = "" if prefix == paths.PROJECT_PREFIX else f" in {_own_or(store)}"
    found = []
    if conflicts:
        is_one = len(conflicts) == 1
        sentence = f"Both sides changed {'the same record' if is_one else 'the same records'}; yours waits as a draft."
        title = f"{plural(len(conflicts), 'conflict')}{where}"
        found.append(Need(CONFLICT, title, sentence, command, page, store, len(conflicts), _names(conflicts)))
    if drafts:
        kind = SHARED_DRAFT if paths.is_shared(prefix) else DRAFT
        title = f"{plural(len(drafts), 'draft')} {'is' if len(drafts) == 1 else 'are'} waiting{where}"
        sentence = "Agents are not shown it until you accept it." if len(drafts) == 1 else _NOT_SHOWN
        found.append(Need(kind, title, sentence, command, page, store, len(drafts), _names(drafts)))
    return found


_NOT_SHOWN = "Agents are not shown them until you accept them."


def _attempted(part: str, step: Callable[[], list[Need]]) -> list[Need]:
    """Return the needs of one part; that it cannot be read is one, too."""
    from onrecord.errors import OnrecordError

    try:
        return step()
    except OnrecordError as error:
        return [Need(UNREADABLE, f"{part} cannot be read", error.message, error.fix or _DOCTOR, _HEALTH)]
    except (OSError, ValueError) as error:
        return [Need(UNREADABLE, f"{part} cannot be read", f"{type(error).__name__}: {error}", _DOCTOR, _HEALTH)]


def _parts(project: Project, patience: float) -> Iterator[tuple[str, Callable[[], list[Need]]]]:
    """Yield the parts to look at, each with its name."""
    yield "the settings", lambda: list(_of_settings(project.settings))
    yield "the agents of this machine", _of_agents
    refs: list[StoreRef] = []
    yield "the list of stores", lambda: _collect(project, refs)
    for store_ref in refs:
        store = f"the store {_own_or(paths.store_name(store_ref.prefix))}"
        yield store, lambda store_ref=store_ref: _of_store(project, store_ref, patience)  # type: ignore[misc]
    yield "the shared stores", lambda: _of_shared_stores(project)


def _collect(project: Project, refs: list[StoreRef]) -> list[Need]:
    """Add the stores that a person looks after to `refs`: those of the project, and their own."""
    refs += [ref for ref in project.known_refs if not paths.is_shared(ref.prefix)]
    has_project = any(paths.is_project(ref.prefix) for ref in refs)
    is_waiting = has_project and not all(ref.is_trusted for ref in refs)
    from onrecord.recall import trust

    found = []
    if is_waiting:
        sentence = "Agents are only pointed to these records until you accept the repository."
        found = [Need(TRUST, "the records of this repository are not accepted", sentence, trust.COMMAND, _SETTINGS)]
    return [*found, *_first_record(project, refs)]


def _first_record(project: Project, refs: Sequence[StoreRef]) -> list[Need]:
    """Return the need of a first record, if no store that is read here has any."""
    from onrecord.store import record_names

    if any(next(record_names.paths(ref.root), "") for ref in (*refs, *project.store_refs)):
        return []
    from onrecord.importers import sources

    can_import = any(source.kind in ("decision", "memory") for source in sources.discover(project.root))
    command = "onrecord import --dry-run" if can_import else "onrecord save --help"
    sentence = "Agents are shown nothing yet: import what the project has written down, or save a first decision."
    return [Need(EMPTY, "there are no records yet", sentence, command, "/new/decision", "project")]


def _of_settings(settings: Settings) -> Iterator[Need]:
    """Yield the switches that are off, and what the project's config hides, adds, or may not set."""
    from onrecord.settings import OFF_VARIABLE, PROMPT_SWITCHES, off_switches, project_settings

    switches = list(off_switches(settings))
    for off in switches:
        is_all_off = off.key in (OFF_VARIABLE, PROMPT_SWITCHES[0])
        kind = OFF if is_all_off else SETTING
        yield Need(kind, str(off), f"It is set in {off.file}.", off.fix, _SETTINGS, subjects=(Subject(off.key),))
    keys = {off.key for off in switches}
    for changed in project_settings(settings):
        if changed.key not in keys:
            sentence, command = f"It is set in {changed.file}.", f"onrecord config unset {changed.key}"
            yield Need(SETTING, str(changed), sentence, command, _SETTINGS, "project", subjects=(Subject(changed.key),))
    refused = [problem for problem in settings.problems if problem.is_refusal]
    if refused:
        title = f"{plural(len(refused), 'setting')} of this project {'is' if len(refused) == 1 else 'are'} not used"
        not_used = tuple(Subject(problem.key, note=problem.message) for problem in refused[:MAX_SUBJECTS])
        sentence = "A project may not set them so; your own value, or the default, is used."
        yield Need(NOT_USED, title, sentence, _DOCTOR, _SETTINGS, "project", len(refused), not_used)


def _of_agents() -> list[Need]:
    """Return the need of a connection, if there are coding agents on this machine and none is connected."""
    from onrecord.hosts import connection, table

    setups = [setup for setup in table.setups() if not connection.state(setup).is_connected]
    if len(setups) < len(table.setups()):
        return []
    present = [table.BY_NAME[setup.host].title for setup in setups if connection.installed(setup).is_there]
    if not present:
        return []
    sentence = f"{', '.join(present[:MAX_SUBJECTS])}: {'it is' if len(present) == 1 else 'they are'} shown nothing."
    return [Need(AGENT, "no coding agent is connected", sentence, "onrecord connect --list", _SETTINGS)]


def _of_store(project: Project, store_ref: StoreRef, patience: float) -> list[Need]:
    """Return the needs of one store that a person looks after."""
    found = queues(store_ref.root, store_ref.prefix)
    found += _broken_records(project, store_ref)
    found += _contradicted(project, store_ref)
    found += _corrected(store_ref)
    return [*found, *_changed(project, store_ref, patience)]


def _broken_records(project: Project, store_ref: StoreRef) -> list[Need]:
    from onrecord.search import index, listing

    broken = listing.broken(index.open(store_ref.root, hook=project.is_quick))
    if not broken:
        return []
    store = paths.store_name(store_ref.prefix)
    command = f"{_DOCTOR} {_doctor_flag(store_ref.prefix)}".rstrip()
    subjects = tuple(Subject(path) for path in broken[:MAX_SUBJECTS])
    where = "" if store == "project" else f" in {_own_or(store)}"
    sentence = "Agents are not shown what is in it." if len(broken) == 1 else "Agents are not shown what is in them."
    title = f"{plural(len(broken), 'file')}{where} cannot be read"
    return [Need(BROKEN, title, sentence, command, _in_store(_HEALTH, store_ref.prefix), store, len(broken), subjects)]


def contradictions(store_index: Index) -> Sequence[AuditFinding]:
    """Return the records of a store that contradict what replaces what: those for which `audit --strict` fails."""
    from onrecord.audit import audit_item, report
    from onrecord.errors import OnrecordError
    from onrecord.search import listing
    from onrecord.store.store import Store

    records, store = [], Store(store_index.root)
    for path in listing.linked(store_index):
        try:
            records.append(store.read(path).memory)
        except OnrecordError:
            continue
    return report.contradictions(audit_item.from_records(records)).findings


def _contradicted(project: Project, store_ref: StoreRef) -> list[Need]:
    from onrecord.search import index

    findings = contradictions(index.open(store_ref.root, hook=project.is_quick))
    if not findings:
        return []
    name = paths.store_name(store_ref.prefix)
    verb = "contradicts" if len(findings) == 1 else "contradict"
    title = f"{plural(len(findings), 'record')} {verb} what replaces what"
    subjects = tuple(Subject(finding.ids[0], note=finding.message) for finding in findings[:MAX_SUBJECTS])
    sentence = "An agent may follow what was replaced; an audit refuses it."
    command = f"onrecord audit {paths.store_flag(store_ref.prefix)}--strict"
    page = _in_store(_HEALTH, store_ref.prefix)
    return [Need(CONTRADICTED, title, sentence, command, page, name, len(findings), subjects)]


def _corrected(store_ref: StoreRef) -> list[Need]:
    """Return the need of rules that agents broke, and that nobody has changed or judged since."""
    from onrecord.usage import usage_log

    corrections = list(usage_log.current_corrections(store_ref.root).items())[:_MAX_CORRECTED]
    broken = [_broken_rule(store_ref, path, times) for path, times in corrections]
    subjects = [subject for subject in broken if subject]
    if not subjects:
        return []
    store = paths.store_name(store_ref.prefix)
    verb = "rule was" if len(subjects) == 1 else "rules were"
    it = "it" if len(subjects) == 1 else "them"
    sentence = f"You corrected an agent with {it}. Make {it} clearer, add triggers or a check, or say what was wrong."
    command = f"onrecord edit {paths.store_flag(store_ref.prefix)}{subjects[0].name}"
    page = f"{_in_store(_SEARCH, store_ref.prefix)}{'?' if store == 'project' else '&'}corrected=1"
    title = f"{len(subjects):,} {verb} broken by your agents"
    return [Need(CORRECTED, title, sentence, command, page, store, len(subjects), tuple(subjects[:MAX_SUBJECTS]))]


def _broken_rule(store_ref: StoreRef, path: str, corrections: Corrections) -> Subject | None:
    """Return a rule that agents broke; None if it was changed or judged since, is replaced, or cannot be read."""
    from onrecord.errors import OnrecordError
    from onrecord.record import links
    from onrecord.store.store import Store
    from onrecord.usage import event_log

    store = Store(store_ref.root)
    try:
        record = store.read(path).memory
    except OnrecordError:
        return None
    moment = event_log.last_correction(store_ref.root, path)
    is_judged = event_log.last_feedback(store_ref.root, path) >= (moment or corrections.last_day)
    # Of a correction that the log does not know, only the day is known.
    is_changed = record.updated_at > (moment or f"{corrections.last_day}T23:59:59Z")
    if is_judged or is_changed or not links.is_current(record, store.records_named):
        return None
    return Subject(record.id, f"{store_ref.prefix}{path}", record.title, f"broken {corrections.summary}")


class ChangedFiles(NamedTuple):
    """The records whose files changed since they were saved."""

    ids: Sequence[str] = ()
    checked: int = 0
    """How many records were looked at."""
    anchored: int = 0
    """How many name files."""
    unchecked: Mapping[str, str] = {}
    """Why a file could not be compared, by the id of its record."""


def changed_files(store_root: str, patience: float = PATIENCE, *, is_quick: bool = False) -> ChangedFiles:
    """Return which of the newest records of a store are about files that changed."""
    from onrecord import budget
    from onrecord.freshness import anchors
    from onrecord.freshness.check import UNKNOWN, Freshness
    from onrecord.search import index, listing

    root = anchors.project_root(store_root)
    if not root:
        return ChangedFiles()
    store_index = index.open(store_root, hook=is_quick)
    freshness = Freshness(root, patience)
    records = listing.anchored(store_index, MAX_CHECKED_RECORDS)
    watched = budget.counted(records, "checking files")
    verdicts = {record_id: freshness.verdicts(text) for record_id, text in watched}
    ids = [name for name, files in verdicts.items() if any(file.is_stale or file.is_moved for file in files)]
    unchecked = {name: file.reason for name, files in verdicts.items() for file in files if file.state == UNKNOWN}
    return ChangedFiles(ids, len(records), listing.count_anchored(store_index), unchecked)


def _changed(project: Project, store_ref: StoreRef, patience: float) -> list[Need]:
    changed = changed_files(store_ref.root, patience, is_quick=project.is_quick)
    return [*_with_stale_files(store_ref, changed), *_with_unchecked_files(store_ref, changed)]


def _with_unchecked_files(store_ref: StoreRef, file_states: ChangedFiles) -> Iterator[Need]:
    if file_states.unchecked:
        names = list(file_states.unchecked)
        title = f"the files of {plural(len(names), 'record')} could not be compared"
        subjects = tuple(Subject(name, note=file_states.unchecked[name]) for name in names[:MAX_SUBJECTS])
        store, page = paths.store_name(store_ref.prefix), _in_store(_HEALTH, store_ref.prefix)
        yield Need(UNREADABLE, title, file_states.unchecked[names[0]], _DOCTOR, page, store, len(names), subjects)


def _with_stale_files(store_ref: StoreRef, file_states: ChangedFiles) -> list[Need]:
    if not file_states.ids:
        return []
    count, store = len(file_states.ids), paths.store_name(store_ref.prefix)
    some = (
        f", of the {file_states.checked:,} newest that name files" if file_states.checked < file_states.anchored else ""
    )
    title = f"{count:,} {'record is' if count == 1 else 'records are'} about files that changed since{some}"
    sentence = "Agents are told to verify it." if count == 1 else "Agents are told to verify them."
    command = f"onrecord freshness {paths.store_flag(store_ref.prefix)}--stale"
    subjects = tuple(_of_id(store_ref, record_id) for record_id in file_states.ids[:MAX_SUBJECTS])
    return [Need(CHANGED, title, sentence, command, _in_store(_HEALTH, store_ref.prefix), store, count, subjects)]


def _of_id(store_ref: StoreRef, record_id: str) -> Subject:
    from onrecord.errors import OnrecordError
    from onrecord.store.store import Store

    try:
        entry = Store(store_ref.root).get(record_id)
    except OnrecordError:
        return Subject(record_id)
    return Subject(record_id, f"{store_ref.prefix}{entry.path}", entry.memory.title)


def _of_shared_stores(project: Project) -> list[Need]:
    """Return the needs of all shared stores that the user has connected, and of those that the project asks for."""
    if not os.path.exists(paths.remotes_file()) and not project.settings.names("remotes"):
        return []
    from onrecord.shared import remotes, replicas

    found = []
    for name in replicas.missing_names(project.settings):
        sentence, command = "Its records are not read here.", "onrecord remote list"
        found.append(Need(MISSING, replicas.missing_note(name), sentence, command, _SETTINGS, name))
    for remote in [] if remotes.is_planted(project.root) else remotes.connected():
        found += _attempted(
            f"the shared store {remote.name}",
            lambda name=remote.name: _of_shared_store(name),  # type: ignore[misc]
        )
    return found


def _of_shared_store(name: str) -> list[Need]:
    from onrecord.shared import sync_base
    from onrecord.shared.replicas import Replica

    replica, prefix = Replica(name), paths.replica(name).prefix
    state = replica.state
    found = [*queues(replica.store, prefix), *_sync_problems(name, state)]
    apart = {f"{paths.INBOX}/{draft}.json" for draft in sync_base.conflict_drafts(replica)}
    apart |= {path for path, _ in state.refused}
    paths_waiting = [path for path in sync_base.unpushed_paths(replica) if path not in apart]
    if paths_waiting:
        title = f"{plural(len(paths_waiting), 'change')} not in {name} yet, and not shown"
        command = f"onrecord sync {name}"
        sentence = "The next sync pushes it." if len(paths_waiting) == 1 else "The next sync pushes them."
        subjects = _names(paths_waiting)
        found.append(Need(WAITING, title, sentence, command, _HEALTH, name, len(paths_waiting), subjects))
    return found


def _sync_problems(name: str, sync_state: SyncState) -> Iterator[Need]:
    status = f"onrecord remote status {name}"
    if sync_state.last_error or sync_state.offline_since:
        since = f"It was not reached since {sync_state.offline_since}." if sync_state.offline_since else ""
        sentence = " ".join(
            filter(None, (f"{sync_state.last_error.rstrip('.')}." if sync_state.last_error else "", since))
        )
        yield Need(SYNC, f"{name} was not synced", sentence, f"onrecord sync {name}", _HEALTH, name)
    if sync_state.refused:
        count = len(sync_state.refused)
        title = f"{plural(count, 'change')} that {name} does not accept"
        sentence = "It is on this machine only, and no agent is shown it." if count == 1 else _ON_THIS_MACHINE
        yield Need(REFUSED, title, sentence, status, _HEALTH, name, count, _with_reasons(sync_state.refused))
    if sync_state.unreadable:
        count = len(sync_state.unreadable)
        title = f"{plural(count, 'file')} of {name} {'is' if count == 1 else 'are'} not taken over"
        sentence = "It is no record as it is." if count == 1 else "They are no records as they are."
        yield Need(REFUSED, title, sentence, status, _HEALTH, name, count, _with_reasons(sync_state.unreadable))
    if sync_state.note:
        yield Need(SYNC, f"{name} waits for you", sync_state.note, status, _HEALTH, name)


_ON_THIS_MACHINE = "They are on this machine only, and no agent is shown them."


def _with_reasons(pairs: Sequence[tuple[str, str]]) -> tuple[Subject, ...]:
    return tuple(Subject(path, note=reason) for path, reason in pairs[:MAX_SUBJECTS])


def _names(names: Sequence[str]) -> tuple[Subject, ...]:
    return tuple(Subject(name) for name in names[:MAX_SUBJECTS])


def _own_or(store: str) -> str:
    return "your own store" if store == "user" else store


def _doctor_flag(prefix: str) -> str:
    """Return the option of `onrecord doctor` for a store; it reads the user's own store anyway."""
    return "" if prefix == paths.USER_PREFIX else paths.store_flag(prefix)


def _in_store(address: str, prefix: str) -> str:
    """Return the address of a page about one store."""
    if prefix == paths.PROJECT_PREFIX:
        return address
    from urllib.parse import quote

    return f"{address}?store={quote(paths.store_name(prefix), safe='')}"
