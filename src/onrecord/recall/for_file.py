"""The rules, decisions and debts that belong to a file, shown when the agent is about to touch it."""

from __future__ import annotations

import os

from onrecord import coldstart, globs, paths, scopes
from onrecord.coldstart import NamedTuple
from onrecord.freshness.check import Freshness, IndexedAnchor
from onrecord.recall.candidate import AT_COMMAND, AT_FILE, Candidate, Cautions, count_shown, fitting_items, render_block
from onrecord.recall.stores import SearchedStore, Stores, distinct
from onrecord.search import candidates, rank
from onrecord.search.candidates import Filter
from onrecord.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onrecord.search.index import Index, RecordFile, Row
    from onrecord.settings import Settings

_MAX_TOKENS = 220
_MAX_SHOWN = 3

_MAX_STAGED = 20
"""Staged files whose records are searched."""

_MAX_LOST_FILES = 100
"""Lost files that are checked; a store that has lost more is not maintained."""

_MAX_GIT_SECONDS = 0.25
"""Seconds that git may take in all while a tool waits; what is left is asked at the next file."""


class _About(NamedTuple):
    """A record that belongs to a file; if it is grave, an edit of the file repeats it."""

    candidate: Candidate
    is_grave: bool


def block(
    stores: Stores,
    project: str,
    file: str,
    settings: Settings,
    session: str,
    *,
    is_edit: bool = False,
    edited: Sequence[str] = (),
) -> str:
    """Return the block for a file: each record once per session, the gravest once more when their file is edited.

    `edited` are files that the tool call has changed already, in a host that shows records only after it.
    """
    path = relative(project, file) or os.path.join(project, file)
    related = _candidates(stores, project, path, settings)
    if not related:
        return ""
    cautions = Cautions(edited)
    with Ledger(session) as ledger:
        due = [about.candidate for about in related if _is_due(about, path, ledger, is_edit=is_edit)][:_MAX_SHOWN]
        items = fitting_items([cautions.beside(candidate).item for candidate in due], _MAX_TOKENS)
        shown_candidates = due[: len(items)]
        for candidate in shown_candidates:
            ledger.add_shown(candidate.record, candidate.text_hash)
            if is_edit:
                ledger.add_shown(at_edit(path, candidate), candidate.text_hash)
    count_shown(shown_candidates, AT_FILE)
    return render_block(items, paths.PROJECT_PREFIX)


def at_commit(stores: Stores, project: str, staged: Sequence[str], settings: Settings, session: str) -> str:
    """Return the block for a commit of these files: the gravest records about them, each once a session."""
    grave: dict[str, Candidate] = {}
    for path in staged[:_MAX_STAGED]:
        for candidate, is_grave in _candidates(stores, project, path, settings):
            if is_grave:
                grave.setdefault(candidate.record, candidate)
    cautions = Cautions()
    with Ledger(session) as ledger:
        new = [each for each in grave.values() if not ledger.has_shown(f"commit:{each.record}", each.text_hash)]
        items = fitting_items([cautions.beside(candidate).item for candidate in new[:_MAX_SHOWN]], _MAX_TOKENS)
        for candidate in new[: len(items)]:
            ledger.add_shown(candidate.record, candidate.text_hash)
            ledger.add_shown(f"commit:{candidate.record}", candidate.text_hash)
    count_shown(new[: len(items)], AT_COMMAND)
    return render_block(items, paths.PROJECT_PREFIX)


def about(stores: Stores, project: str, file: str, settings: Settings) -> list[Candidate]:
    """Return the records about a file that may be shown, the gravest first, with cautions; nothing is noted."""
    cautions = Cautions()
    related = _candidates(stores, project, relative(project, file) or os.path.join(project, file), settings)
    return [cautions.beside(about.candidate) for about in related[:_MAX_SHOWN]]


def _is_due(about: _About, path: str, ledger: Ledger, *, is_edit: bool) -> bool:
    candidate = about.candidate
    if not ledger.has_shown(candidate.record, candidate.text_hash):
        return True
    return is_edit and about.is_grave and not ledger.has_shown(at_edit(path, candidate), candidate.text_hash)


def at_edit(path: str, candidate: Candidate) -> str:
    """Return the name under which a ledger notes that a record was shown at the edit of a file."""
    return f"edit:{coldstart.content_hash(path.encode('utf-8', 'replace'))[:12]}:{candidate.record}"


def relative(project: str, file: str) -> str:
    """Return the path of a file within a project, with slashes; empty if it is elsewhere."""
    full = os.path.join(project, file)
    # A name with bytes that are no text is in no record, and SQLite would refuse it.
    if not paths.is_within(project, full) or full != full.encode("utf-8", "replace").decode():
        return ""
    return os.path.realpath(full)[len(os.path.realpath(project)) :].strip(os.sep).replace(os.sep, "/")


def _candidates(stores: Stores, project: str, path: str, settings: Settings) -> list[_About]:
    """Return the records about a file of the project, or of a folder above it that has a store in play.

    A store of another folder than the file's is left out: it says nothing about the file, and hides nothing there.
    """
    inner = {ref.prefix: _inner(stores.folder(ref), project, path) for ref in stores.store_refs}
    candidates: list[Candidate] = []
    grave: set[str] = set()
    for store in stores.among([prefix for prefix, name in inner.items() if name]).in_turn(at_file=True):
        folder, prefix = stores.folder(store.store_ref), store.store_ref.prefix
        for about in store.attempt(_about_file, folder, inner[prefix], settings):
            candidates.append(about.candidate)
            grave.update([about.candidate.record] if about.is_grave else [])
    return [_About(candidate, candidate.record in grave) for candidate in distinct(candidates)]


def _inner(folder: str, project: str, path: str) -> str:
    """Return the path of a project's file, or of one at an absolute path, in a folder; empty if it is elsewhere."""
    if folder == project and not os.path.isabs(path):
        return path
    return relative(folder, os.path.join(project, path))


def _about_file(searched_store: SearchedStore, project: str, path: str, settings: Settings) -> list[_About]:
    """Return the records of one store that belong to the file at `path` of its project."""
    applies = searched_store.applies(path)
    filter = Filter("auto", settings=settings, fits=applies)
    is_shared = paths.is_shared(searched_store.store_ref.prefix)
    is_about = (lambda scope: _has_paths(scope) and applies(scope)) if is_shared else applies
    rows = searched_store.open().run(_current, project, path, filter, is_about, hook=True)
    grave = {row.path for row, is_grave in rows if is_grave}
    visible = searched_store.visible(rank.match(row, searched_store.store_ref.root) for row, _ in rows)
    return [_About(candidate, candidate.match.path in grave) for candidate in visible]


def _has_paths(scope: str) -> bool:
    """True if a scope has paths: the related files of a shared record are those of the project it was written in."""
    return bool(scopes.unpack(scope).paths)


def _current(
    index: Index, project: str, path: str, filter: Filter, is_about: Callable[[str], bool]
) -> list[tuple[Row, bool]]:
    """Return the records about the file at `path` that are in force, each with True if ignoring it is gravest."""
    rows = [row for row in records_about(index, project, path) if is_about(row.scope)]
    successors = candidates.successors(index, rows)
    current = [row for row in (successors[row.n] for row in rows) if row and filter.accepts(row)]
    return [(row, index.is_gravest(row.n)) for row in {row.n: row for row in current}.values()]


def naming(stores: Stores, path: str, settings: Settings) -> list[Candidate]:
    """Return the records in force that name the file at `path`, a folder above it or a glob; git is not asked."""
    return [candidate for store in stores.in_turn() for candidate in store.attempt(_naming, path, settings)]


def _naming(searched_store: SearchedStore, path: str, settings: Settings) -> list[Candidate]:
    index = searched_store.open()
    filter = Filter("auto", settings=settings, fits=searched_store.applies(path))
    rows = [row for row in index.rows({file.n for file in _named(index, path)}) if filter.accepts(row)]
    successors = candidates.successors(index, rows)
    current = [row for row in rows if (now := successors[row.n]) and now.n == row.n]
    return searched_store.visible(rank.match(row, searched_store.store_ref.root) for row in current)


def _named(index: Index, path: str) -> list[RecordFile]:
    """Return the record files that are `path`, a folder above it, or a glob that matches it."""
    parts = path.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    here = [file for file in index.files_with_pattern(above) if file.pattern]
    return here + [file for file in index.files_with_glob() if globs.matches(file.pattern, path)]


def records_about(index: Index, project: str, path: str) -> list[Row]:
    """Return the records about the file at `path` of the project, the gravest first."""
    # Without git, too, a file that moved is recognised by its name, if the old one is gone.
    same_name = index.files_with_name(path.rpartition("/")[2])
    moved = [file for file in same_name if not os.path.exists(os.path.join(project, file.pattern))]
    gravity: dict[int, int] = {}
    for file in (*_named(index, path), *moved, *renamed_to(index, project, path)):
        gravity.setdefault(file.n, file.gravity)
    return sorted(index.rows(gravity), key=lambda row: (gravity[row.n], row.path))


def renamed_to(index: Index, project: str, path: str) -> list[RecordFile]:
    """Return the record files that were renamed to `path`.

    Nearly always no file is lost, and then this costs one look at each file that a record names. Git is asked about
    lost files only, once for each commit that is checked out: `freshness` remembers its verdicts. A record without
    anchors, as the earlier plugin wrote them, is followed from the first commit of its file.
    """
    root = os.path.join(project, "")
    lost = [name for name in index.file_paths() if not os.path.lexists(root + name)]
    freshness = Freshness(project, _MAX_GIT_SECONDS)
    ending = os.path.splitext(path)[1]
    # Git may not get through all of them: a renamed file mostly has the same ending.
    lost.sort(key=lambda name: not name.endswith(ending))
    return [
        file
        for name in lost[:_MAX_LOST_FILES]
        for file, anchors in index.files_at(name)
        if any(freshness.check(anchor).now == path for anchor in _anchors(anchors, name))
    ]


def _anchors(anchors: str, path: str) -> list[IndexedAnchor]:
    """Return the anchors of a record at one of its files; one that says no more than the path if it has none there."""
    indexed = [IndexedAnchor(*parts) for parts in coldstart.loads(anchors or "[]")]
    return [anchor for anchor in indexed if anchor.path == path] or [IndexedAnchor(path, "", "", "", "", "")]
