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
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from onrecord.audit.report import AuditFinding
    from onrecord.paths import StoreRef
    from onrecord.project import Project
    from onrecord.search.index import Index
    from onrecord.settings import Settings
    from onrecord.shared.replicas import SyncState
    from onrecord.usage.usage_log import Corrections

    Comparison = Callable[[str], "ChangedFiles"]

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

_ONE = {"s": "", "it": "it", "It": "It", "is": "is", "was": "was", "contradicts": "contradicts"}
_MANY = {"s": "s", "it": "them", "It": "They", "is": "are", "was": "were", "contradicts": "contradict"}
"""The words of a sentence about one thing, and about several."""


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

    def about(self, store: str, subjects: Sequence[Subject]) -> Need:
        """Return it as a need of a store, about these subjects, of which the first are named."""
        return self._replace(store=store, number=len(subjects), subjects=tuple(subjects[:MAX_SUBJECTS]))

    def in_store(self, prefix: str, subjects: Sequence[Subject]) -> Need:
        """Return it as a need of the store with this prefix, on the page about that store."""
        need = self._replace(command=self.command.rstrip(), page=_in_store(self.page, prefix))
        return need.about(paths.store_name(prefix), subjects)

    @property
    def line(self) -> str:
        """Its title and its command: `3 drafts are waiting: onrecord review`."""
        return f"{self.title}: {self.command}"

    @property
    def names(self) -> str:
        """The names of the first few, and how many more there are: `a, b, c and 4 more`."""
        first = [subject.name for subject in self.subjects[:_MAX_NAMES]]
        more = f" and {self.number - len(first):,} more" if self.number > len(first) else ""
        return f"{', '.join(first)}{more}" if first else ""


def needs(project: Project, *, compare: Comparison | None = None, patience: float = PATIENCE) -> list[Need]:
    """Return what needs a person in a project, the most important first.

    What cannot be read is a need itself. `compare` says of a store which of its files changed, if somebody has compared
    them already; else `changed_files` does, for which `patience` limits the seconds of git.
    """
    all_needs: list[Need] = []

    def compare_here(store_root: str) -> ChangedFiles:
        return changed_files(store_root, patience, is_quick=project.is_quick)

    for part, step in _parts(project, compare or compare_here):
        all_needs += _attempted(part, step)
    rank = {kind: number for number, kind in enumerate(KINDS)}
    return sorted(all_needs, key=lambda need: rank[need.kind])


def queues(store_root: str, prefix: str, review: str = "") -> list[Need]:
    """Return the conflicts and drafts that wait in one store, by the names of their files alone.

    `review` is the command for them, if it is not that of the command line. Raises Unwritable.
    """
    from onrecord.store import record_names

    names = record_names.drafts(store_root)
    conflicts = [name for name in names if paths.is_shared(prefix) and name.startswith(_CONFLICT_PREFIX)]
    drafts = [name for name in names if name not in set(conflicts)]
    command, where = review or f"{_REVIEW} {paths.store_flag(prefix)}", _where(prefix)
    store_needs = []
    if conflicts:
        title = f"{plural(len(conflicts), 'conflict')}{where}"
        sentence = _say("Both sides changed the same record{s}; yours waits as a draft.", conflicts)
        store_needs.append(Need(CONFLICT, title, sentence, command, _INBOX).in_store(prefix, _names(conflicts)))
    if drafts:
        kind = SHARED_DRAFT if paths.is_shared(prefix) else DRAFT
        title = f"{plural(len(drafts), 'draft')} {_say('{is} waiting', drafts)}{where}"
        sentence = _say("Agents are not shown {it} until you accept {it}.", drafts)
        store_needs.append(Need(kind, title, sentence, command, _INBOX).in_store(prefix, _names(drafts)))
    return store_needs


def _say(template: str, objects: Collection[object]) -> str:
    """Return a sentence about one thing or several: `{it}` becomes `it` or `them`, as in `_ONE` and `_MANY`."""
    return template.format(**(_ONE if len(objects) == 1 else _MANY))


def _attempted(part: str, step: Callable[[], list[Need]]) -> list[Need]:
    """Return the needs of one part; that it cannot be read is one, too."""
    from onrecord.errors import OnrecordError

    try:
        return step()
    except OnrecordError as error:
        return [Need(UNREADABLE, f"{part} cannot be read", error.message, error.fix or _DOCTOR, _HEALTH)]
    except (OSError, ValueError) as error:
        return [Need(UNREADABLE, f"{part} cannot be read", f"{type(error).__name__}: {error}", _DOCTOR, _HEALTH)]


def _parts(project: Project, compare: Comparison) -> Iterator[tuple[str, Callable[[], list[Need]]]]:
    """Yield the parts to look at, each with its name."""
    yield "the settings", lambda: list(_of_settings(project.settings))
    yield "the agents of this machine", _of_agents
    refs: list[StoreRef] = []
    yield "the list of stores", lambda: _collect(project, refs)
    for store_ref in refs:
        store = f"the store {_own_or(paths.store_name(store_ref.prefix))}"
        yield store, lambda store_ref=store_ref: _of_store(project, store_ref, compare)  # type: ignore[misc]
    yield "the shared stores", lambda: _of_shared_stores(project)


def _collect(project: Project, refs: list[StoreRef]) -> list[Need]:
    """Add the stores that a person looks after to `refs`: those of the project, and their own."""
    refs += [ref for ref in project.known_refs if not paths.is_shared(ref.prefix)]
    has_project = any(paths.is_project(ref.prefix) for ref in refs)
    is_waiting = has_project and not all(ref.is_trusted for ref in refs)
    from onrecord.recall import trust

    store_needs = []
    if is_waiting:
        sentence = "Agents are only pointed to these records until you accept the repository."
        store_needs = [
            Need(TRUST, "the records of this repository are not accepted", sentence, trust.COMMAND, _SETTINGS)
        ]
    return [*store_needs, *_first_record(project, refs)]


def _first_record(project: Project, refs: Sequence[StoreRef]) -> list[Need]:
    """Return the need of a first record, if no store that is read here has any, nor drafts that may become one."""
    from onrecord.store import record_names

    all_refs = (*refs, *project.store_refs)
    if any(next(record_names.paths(ref.root), "") or record_names.drafts(ref.root) for ref in all_refs):
        return []
    from onrecord.importers import sources

    command = "onrecord import --dry-run" if sources.become_drafts(project.root) else "onrecord save --help"
    sentence = "Agents are shown nothing yet: import what the project has written down, or save a first decision."
    return [Need(EMPTY, "there are no records yet", sentence, command, "/new/decision", "project")]


def _of_settings(settings: Settings) -> Iterator[Need]:
    """Yield the switches that are off, and what the project's config hides, adds, or may not set."""
    from onrecord.setting_table import direction
    from onrecord.settings import OFF_VARIABLE, PROMPT_SWITCHES, off_switches, project_settings

    switches = list(off_switches(settings))
    for off in switches:
        is_all_off = off.key in (OFF_VARIABLE, PROMPT_SWITCHES[0])
        kind = OFF if is_all_off else SETTING
        yield Need(kind, str(off), f"It is set in {off.file}.", off.fix, _SETTINGS, subjects=(Subject(off.key),))
    keys = {off.key for off in switches}
    for changed in project_settings(settings):
        # A file that is renewed is the project's affair, and in its commits.
        if changed.key not in keys and direction(changed.key).effect != "renews":
            sentence, command = f"It is set in {changed.file}.", f"onrecord config unset {changed.key}"
            yield Need(SETTING, str(changed), sentence, command, _SETTINGS, "project", subjects=(Subject(changed.key),))
    refused = [problem for problem in settings.problems if problem.is_refusal]
    if refused:
        title = f"{plural(len(refused), 'setting')} of this project {_say('{is} not used', refused)}"
        not_used = [Subject(problem.key, note=problem.message) for problem in refused]
        sentence = _say("A project may not set {it} so; your own value, or the default, is used.", refused)
        yield Need(NOT_USED, title, sentence, _DOCTOR, _SETTINGS).in_store(paths.PROJECT_PREFIX, not_used)


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
    return [Need(AGENT, "no coding agent is connected", sentence, "onrecord connect --list", f"{_SETTINGS}#agents")]


def _of_store(project: Project, store_ref: StoreRef, compare: Comparison) -> list[Need]:
    """Return the needs of one store that a person looks after."""
    store_needs = queues(store_ref.root, store_ref.prefix)
    store_needs += _broken_records(project, store_ref)
    store_needs += _contradicted(project, store_ref)
    store_needs += _corrected(store_ref)
    return [*store_needs, *_changed(store_ref, compare)]


def _broken_records(project: Project, store_ref: StoreRef) -> list[Need]:
    from onrecord.search import index, listing

    broken = listing.broken(index.open(store_ref.root, hook=project.is_quick))
    if not broken:
        return []
    title = f"{plural(len(broken), 'file')}{_where(store_ref.prefix)} cannot be read"
    sentence = _say("Agents are not shown what is in {it}.", broken)
    command = f"{_DOCTOR} {_doctor_flag(store_ref.prefix)}"
    return [Need(BROKEN, title, sentence, command, _HEALTH).in_store(store_ref.prefix, _names(broken))]


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
    subjects = [Subject(finding.ids[0], note=finding.message) for finding in findings]
    title = f"{plural(len(findings), 'record')} {_say('{contradicts} what replaces what', findings)}"
    sentence = "An agent may follow what was replaced; an audit refuses it."
    command = f"onrecord audit {paths.store_flag(store_ref.prefix)}--strict"
    return [Need(CONTRADICTED, title, sentence, command, _HEALTH).in_store(store_ref.prefix, subjects)]


def _corrected(store_ref: StoreRef) -> list[Need]:
    """Return the need of rules that agents broke, and that nobody has changed or judged since."""
    from onrecord.usage import usage_log

    corrections = list(usage_log.current_corrections(store_ref.root).items())[:_MAX_CORRECTED]
    broken = [_broken_rule(store_ref, path, times) for path, times in corrections]
    subjects = [subject for subject in broken if subject]
    if not subjects:
        return []
    title = _say(f"{len(subjects):,} rule{{s}} {{was}} broken by your agents", subjects)
    advice = "Make {it} clearer, add triggers or a check, or say what was wrong."
    sentence = _say(f"You corrected an agent with {{it}}. {advice}", subjects)
    command = f"onrecord edit {paths.store_flag(store_ref.prefix)}{subjects[0].name}"
    need = Need(CORRECTED, title, sentence, command, _SEARCH).in_store(store_ref.prefix, subjects)
    return [need._replace(page=f"{need.page}{'&' if '?' in need.page else '?'}corrected=1")]


def _broken_rule(store_ref: StoreRef, path: str, corrections: Corrections) -> Subject | None:
    """Return a rule that agents broke; None if it was changed or judged since, is replaced, or cannot be read."""
    from onrecord import timestamps
    from onrecord.errors import OnrecordError
    from onrecord.record import validity
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
    is_changed = timestamps.order(record.updated_at) > timestamps.order(moment or f"{corrections.last_day}T23:59:59Z")
    if is_judged or is_changed or not validity.is_current(record, store.records_named):
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


def _changed(store_ref: StoreRef, compare: Comparison) -> Iterator[Need]:
    changed, prefix = compare(store_ref.root), store_ref.prefix
    if changed.ids:
        some = f", of the {changed.checked:,} newest that name files" if changed.checked < changed.anchored else ""
        title = f"{plural(len(changed.ids), 'record')} {_say('{is} about files that changed since', changed.ids)}{some}"
        sentence = _say("Agents are told to verify {it}.", changed.ids)
        command = f"onrecord freshness {paths.store_flag(prefix)}--stale"
        subjects = [_of_id(store_ref, record_id) for record_id in changed.ids[:MAX_SUBJECTS]]
        need = Need(CHANGED, title, sentence, command, _HEALTH).in_store(prefix, subjects)
        yield need._replace(number=len(changed.ids))
    if changed.unchecked:
        title = f"the files of {plural(len(changed.unchecked), 'record')} could not be compared"
        subjects = [Subject(name, note=reason) for name, reason in changed.unchecked.items()]
        yield Need(UNREADABLE, title, subjects[0].note, _DOCTOR, _HEALTH).in_store(prefix, subjects)


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

    store_needs = []
    for name in replicas.missing_names(project.settings):
        sentence, command = "Its records are not read here.", "onrecord remote list"
        store_needs.append(Need(MISSING, replicas.missing_note(name), sentence, command, _SETTINGS, name))
    for remote in [] if remotes.is_planted(project.root) else remotes.connected():
        store_needs += _attempted(
            f"the shared store {remote.name}",
            lambda name=remote.name: _of_shared_store(name),  # type: ignore[misc]
        )
    return store_needs


def _of_shared_store(name: str) -> list[Need]:
    from onrecord.shared import sync_base
    from onrecord.shared.replicas import Replica

    replica, prefix = Replica(name), paths.replica(name).prefix
    state = replica.state
    store_needs = [*queues(replica.store, prefix), *_sync_problems(name, state)]
    apart = {f"{paths.INBOX}/{draft}.json" for draft in sync_base.conflict_drafts(replica)}
    apart |= {path for path, _ in state.refused}
    waiting = [path for path in sync_base.unpushed_paths(replica) if path not in apart]
    if waiting:
        title = f"{plural(len(waiting), 'change')} not in {name} yet, and not shown"
        sentence, command = _say("The next sync pushes {it}.", waiting), f"onrecord sync {name}"
        store_needs.append(Need(WAITING, title, sentence, command, _HEALTH).about(name, _names(waiting)))
    return store_needs


def _sync_problems(name: str, sync_state: SyncState) -> Iterator[Need]:
    status, refused, unreadable = f"onrecord remote status {name}", sync_state.refused, sync_state.unreadable
    if sync_state.last_error or sync_state.offline_since:
        error = f"{sync_state.last_error.rstrip('.')}." if sync_state.last_error else ""
        since = f"It was not reached since {sync_state.offline_since}." if sync_state.offline_since else ""
        sentence = " ".join(filter(None, (error, since)))
        yield Need(SYNC, f"{name} was not synced", sentence, f"onrecord sync {name}", _HEALTH, name)
    if refused:
        title = f"{plural(len(refused), 'change')} that {name} does not accept"
        sentence = _say("{It} {is} on this machine only, and no agent is shown {it}.", refused)
        yield Need(REFUSED, title, sentence, status, _HEALTH).about(name, _with_reasons(refused))
    if unreadable:
        title = f"{plural(len(unreadable), 'file')} of {name} {_say('{is} not taken over', unreadable)}"
        sentence = _say("Agents are not shown {it}: the content is not that of a record.", unreadable)
        yield Need(REFUSED, title, sentence, status, _HEALTH).about(name, _with_reasons(unreadable))
    if sync_state.note:
        yield Need(SYNC, f"{name} waits for you", sync_state.note, status, _HEALTH, name)


def _with_reasons(pairs: Sequence[tuple[str, str]]) -> list[Subject]:
    return [Subject(path, note=reason) for path, reason in pairs]


def _names(names: Sequence[str]) -> list[Subject]:
    return [Subject(name) for name in names]


def _where(prefix: str) -> str:
    return "" if prefix == paths.PROJECT_PREFIX else f" in {_own_or(paths.store_name(prefix))}"


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
