"""A project's memory as one object: the store in its repository, the user's store, shared ones, and the settings."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, NoStore, UnsafePath, Unwritable
from onrecord.settings import load_settings
from onrecord.store import record_names
from onrecord.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.digest.selection import DigestCandidate
    from onrecord.paths import StoreRef
    from onrecord.recall.candidate import Candidate
    from onrecord.recall.stores import Stores
    from onrecord.record.memory import Memory
    from onrecord.search.rank import Match
    from onrecord.settings import Settings
    from onrecord.store.store import Entry
    from onrecord.store.writer import Writer

# Search, recall and the writer are imported in the methods that need them: a command loads what it uses.


NO_RECORDS = "There are no records yet, so there is nothing to find."
NOTHING_FITS = "Nothing on record is probably about this; try a synonym, the technical term or a name from the code."
_MAX_NEAREST = 3
_FEW_TERMS = 3
"""Terms up to which a text is a search of words: probabilities of longer ones are lower."""

_ALL_WORDS = 0.999
"""Coverage of a record that has all words of a search, but for rounding."""


class Hit:
    """A record that matches a query, and its score."""

    def __init__(self, candidate: Candidate, hidden_by: str = "", misfit: str = "") -> None:
        self._match = match = candidate.match
        self.id = match.id
        self.category = match.category
        self.title = match.title
        self.tags = match.tags
        self.score = match.score
        self.probability = match.probability
        self.confidence = match.confidence
        self.status = match.status
        self.updated_at = match.updated_at
        self.via = match.via
        self.source = paths.store_name(candidate.prefix)
        """`project`, `user`, or the name of a shared store."""
        self.path = candidate.prefix + match.path
        self.location = (match.root, match.path)
        """The folder of its store, and its path in that folder."""
        self.mark = match.mark
        """What is not plain about it, such as `proposed`; empty if nothing is."""
        self.is_accepted = candidate.is_accepted
        """False for a record of a repository that the user has yet to accept."""
        self.shown = candidate.shown_form
        """How recall shows it, `rule` or `pointer`; empty for a result of a search."""
        self.hidden_by = hidden_by
        """The path of the record that hides this one in the project; empty if none does."""
        self.misfit = misfit
        """What keeps it from applying here, such as `branch release/*`; empty if it applies."""

    def __repr__(self) -> str:
        return f"Hit({self.id!r}, probability={self.probability:.2f})"

    @property
    def memory(self) -> Memory:
        """The whole record, read from its file."""
        return Store(self._match.root).read(self._match.path).memory

    def reasons(self, other_hits: Sequence[Hit] = ()) -> list[str]:
        """Return why it matches, in words, the strongest reason first; `other_hits` are those of the same search."""
        from onrecord.recall import explanation

        others = [hit._match for hit in other_hits if hit is not self and hit._match.root == self._match.root]
        return explanation.reasons(self._match, others)

    def snippet(self, mark: tuple[str, str] = ("", "")) -> str:
        """Return the passage that matches best, with `mark` around the words of the query."""
        return self._match.snippet(mark)


class SearchResults(list[Hit]):
    """The records that probably answer a search, best first; where none does, it is empty and `nearest` has a few."""

    def __init__(self, hits: Sequence[Hit] = (), nearest: Sequence[Hit] = (), *, is_memory_empty: bool = False) -> None:
        super().__init__(hits)
        self.nearest = list(nearest)
        """The best of the matches that are probably about something else."""
        self._is_memory_empty = is_memory_empty

    @property
    def note(self) -> str:
        """One sentence that says that nothing fits, and what to try; empty if there are results."""
        return self.note_with("")

    def note_with(self, more: str) -> str:
        """Return the same with one more thing to try, where there is anything to find."""
        if self:
            return ""
        return NO_RECORDS if self._is_memory_empty else f"{NOTHING_FITS.rstrip('.')}{more}."


class Found(NamedTuple):
    """The record, or the entry of a knowledge bank, that a name means."""

    root: str
    """The folder of the record's store; empty for an entry of a knowledge bank."""
    path: str
    lesson: DigestCandidate | None = None


class Project:
    """The memory of the project that contains `project_dir`.

    A search first updates the index from every file; with `is_quick`, from as many files as a hook has time for.
    """

    def __init__(self, project_dir: str = ".", *, is_quick: bool = False) -> None:
        status = files.status(project_dir)
        if status is None or not stat.S_ISDIR(status.st_mode):
            raise BadInput(f"{project_dir!r} is not a directory", fix="name the project's directory with --project DIR")
        self.root = paths.project_root(project_dir)
        self.user = Store(paths.user_store())
        self.is_quick = is_quick
        self._store: Store | None = None
        self._settings: Settings | None = None
        self._scopes: Stores | None = None

    def __repr__(self) -> str:
        return f"Project({self.root!r})"

    @property
    def store(self) -> Store:
        """The project's store. Raises UnsafePath if it is a link out of the project."""
        if self._store is None:
            files.inside(self.root, paths.STORE)
            self._store = Store(os.path.join(self.root, paths.STORE))
        return self._store

    @property
    def settings(self) -> Settings:
        """The effective settings, read once."""
        if self._settings is None:
            self._settings = load_settings(self.store.root)
        return self._settings

    @property
    def writer(self) -> Writer:
        """A writer of the project's store, with the present time."""
        from onrecord.store.writer import Writer

        return Writer(self.store, self.settings)

    def get(self, reference: str) -> Entry:
        """Return a record of this project by id, `category/id`, path, or words that match it alone. Raises NotFound."""
        from onrecord.search import listing

        store = require_store(self.store)
        return store.read(listing.resolve(store, reference))

    def find(self, name: str) -> Found:
        """Return what a name means in any store of this project: an id, the beginning of one, or words of it.

        The first store that has it wins, as everywhere. Raises NotFound or Ambiguous.
        """
        from onrecord.search import listing
        from onrecord.store import reference

        roots = [store_ref.root for store_ref in self.known_refs]
        for root in roots:
            exact = Store(root).find_paths(name)
            if exact:
                return Found(root, Store(root).get(name).path)
        matches = ((root, reference.match_names(name, record_names.paths(root))) for root in roots)
        prefixed = (
            [Found(root, path) for path in match.paths] for root, match in matches if match.how == reference.PREFIX
        )
        records = next(filter(None, prefixed), []) or self.lessons_named(name)
        if not records:
            fits = ((root, listing.fit(root, name, list(record_names.paths(root))).paths) for root in roots)
            records = next(filter(None, ([Found(root, path) for path in names] for root, names in fits)), [])
        if not records:
            all_paths = [path for root in roots for path in record_names.paths(root)]
            raise reference.not_found(roots[0] if roots else self.root, name, all_paths)
        if len(records) > 1:
            raise reference.ambiguous(name, [one.path if not one.lesson else one.lesson.name for one in records])
        return records[0]

    def lessons_named(self, name: str) -> list[Found]:
        """Return the entries of knowledge banks whose names begin with `name`, or the one that has it."""
        from onrecord.digest import digest

        lessons = digest.lessons(self.root)
        exact = [lesson for lesson in lessons if digest.is_called(lesson, name)]
        begun = exact or [lesson for lesson in lessons if name and lesson.name.startswith(name.lower())]
        return [Found("", lesson.path, lesson) for lesson in begun]

    def save(self, category: str, fields: Mapping[str, Any], *, allow_secret: bool = False) -> Entry:
        """Save a new record from a partial one; the first record creates the store."""
        return save(self.writer, category, fields, allow_secret=allow_secret)

    @property
    def stores(self) -> Stores:
        """The stores that exist, in order of precedence."""
        return self.stores_for(None)

    def stores_for(self, only: StoreRef | None) -> Stores:
        """Return the stores for a search in `only`, even if this project does not read it; None searches all."""
        from onrecord.recall.stores import Stores

        store_refs = self.store_refs if only is None or only in self.store_refs else [*self.store_refs, only]
        return Stores(store_refs, self.root, hook=self.is_quick, only=only.prefix if only else "")

    def hidden(self, store: Store, ids: Sequence[str]) -> dict[str, str]:
        """Return the `ids` that are hidden in this project, each with the path of the record that hides it."""
        try:
            return self.stores.hidden(paths.prefix_of(store.root), ids)
        except UnsafePath:
            # The project's store is a link out of the project, so it is not read and hides nothing.
            return {}

    @property
    def store_refs(self) -> list[StoreRef]:
        """The project's store, the user's, and replicas of shared ones; in the home folder the first is left out."""
        from onrecord.shared import replicas as shared
        from onrecord.store import nested

        is_same = os.path.realpath(self.store.root) == os.path.realpath(self.user.root)
        project_store = self.store.root if self.store.exists and not is_same else ""
        replicas = shared.select(shared.replicas(self.root), self.settings)
        above = nested.above(self.root) if project_store else ()
        user_store = self.user.root if self.user.exists else ""
        return self._marked(paths.store_refs(project_store, user_store, replicas, above_refs=above))

    def _marked(self, refs: Sequence[StoreRef]) -> list[StoreRef]:
        """Return these stores, those that the user has yet to accept marked as such."""
        from onrecord.recall import trust

        return trust.marked(refs, self.root, self.settings)

    @property
    def known_refs(self) -> list[StoreRef]:
        """The same stores, and those that are known in folders of the project."""
        from onrecord.store import nested

        return [*self.store_refs, *self._marked(nested.at(self.root, nested.known(self.root)))]

    def stores_near(self, *, text: str = "", files: Sequence[str] = (), is_lenient: bool = False) -> Stores:
        """Return the stores for a prompt or for files, with those of the folders that they name.

        With `is_lenient`, records that do not apply here are searched, too.
        """
        from onrecord.recall.stores import Stores
        from onrecord.store import nested

        below = [*nested.of_files(self.root, files), *(nested.named_in(self.root, text) if text else ())]
        store_refs = [*self._marked(list(dict.fromkeys(below))), *self.store_refs]
        lenient = [store_ref.prefix for store_ref in store_refs] if is_lenient else ()
        return Stores(store_refs, self.root, hook=self.is_quick, lenient=lenient)

    def require_a_store(self) -> str:
        """Return a warning if the project has no store but reads others. Raises NoStore if there is none at all."""
        if self.store.exists:
            return ""
        if not self.store_refs:
            require_store(self.store)
        others = "only your own was searched" if len(self.store_refs) == 1 else "only the others were searched"
        return f"there is no memory at {self.store.root}; {others}"

    def search(
        self,
        text: str,
        limit: int = 10,
        *,
        categories: Sequence[str] = (),
        tags: Sequence[str] = (),
        include_retired: bool = False,
        only: StoreRef | None = None,
    ) -> SearchResults:
        """Return the records that match `text`, best first, in all stores of this project, without very weak matches.

        Where none is probably about `text`, the result is empty, and its `nearest` and `note` say more. A question
        about the work ("what did we do last week?") is answered with session summaries, newest first. With `only`,
        search that store alone, including records that are hidden here. Records of the project, and of `only`, are
        found even if they do not apply here.
        """
        from onrecord.recall.stores import Stores
        from onrecord.search import query
        from onrecord.search.candidates import Filter
        from onrecord.search.coefficients import SEARCH_FLOOR

        store_refs = [only] if only else self.store_refs
        lenient = [ref.prefix for ref in store_refs if only or paths.is_project(ref.prefix)]
        stores = Stores(store_refs, self.root, hook=self.is_quick, lenient=lenient)
        filter = Filter(categories=categories, tags=tags, include_retired=include_retired, settings=self.settings)
        search_query = query.parse(text)
        summaries = [] if filter.is_narrow else self._summaries(stores, text)
        candidates = summaries or stores.search(search_query, filter, limit, min_probability=SEARCH_FLOOR)
        if not summaries:
            candidates.sort(key=lambda candidate: -candidate.match.score)
        first = candidates[:limit]
        hidden = self.hidden(Store(only.root), [candidate.match.id for candidate in first]) if only else {}
        refs = {ref.prefix: ref for ref in store_refs}
        misfits = [stores.misfit(refs[candidate.prefix], candidate.match.scope) for candidate in first]
        hits = [Hit(candidate, hidden.get(candidate.match.id, ""), misfit) for candidate, misfit in zip(first, misfits)]
        has_answer = bool(summaries) or any(fits(candidate.match, len(search_query.terms)) for candidate in first)
        if has_answer:
            return SearchResults(hits)
        is_empty = not hits and not any(next(iter(Store(ref.root).entries()), None) for ref in store_refs)
        return SearchResults(nearest=hits[:_MAX_NEAREST], is_memory_empty=is_empty)

    def _summaries(self, stores: Stores, text: str) -> list[Candidate]:
        """Return the session summaries that answer a question about the work; empty for any other text."""
        from onrecord.recall import work_answer, work_question

        question = work_question.parse(text)
        if question is None:
            return []
        summaries = work_answer.about(question, work_answer.find(stores, question, self.settings))
        return [summary.candidate for summary in work_answer.chosen(question, summaries)]

    def work_note(self, text: str) -> str:
        """Return what the results of a search are, or are not, if it asks about the work; empty for any other text."""
        from onrecord.recall import work_answer, work_question

        question = work_question.parse(text)
        if question is None:
            return ""
        summaries = work_answer.about(question, work_answer.find(self.stores, question, self.settings))
        return work_answer.note(question, summaries)

    def misfit(self, store: Store, scope: str) -> str:
        """Return what keeps a record with `scope` from applying here, such as `branch release/*`; empty if it applies.

        `scope` is packed, as `scopes.pack` does it.
        """
        from onrecord.recall.stores import Stores

        store_ref = paths.StoreRef(store.root, paths.prefix_of(store.root))
        if self._scopes is None:
            self._scopes = Stores([store_ref], self.root)
        return self._scopes.misfit(store_ref, scope)

    def recall(
        self, prompt: str = "", *, command: str = "", first: bool = False, transcript_path: str = ""
    ) -> list[Hit]:
        """Return what a hook would show an agent for `prompt`, in a session that was shown nothing yet.

        With `command`, a shell command that the agent is about to run, return the record that governs it.
        """
        if command:
            return self._recall_for(command)
        from onrecord.hosts import table
        from onrecord.recall import for_prompt

        session = table.transcript_at(transcript_path)
        decision = for_prompt.preview(
            self.stores_near(text=prompt), prompt, self.settings, first=first, transcript=session
        )
        return [Hit(candidate) for candidate in decision.shown_candidates]

    def _recall_for(self, command: str) -> list[Hit]:
        from onrecord.recall import for_action
        from onrecord.session import action

        called = action.of_command(command, self.root, self.root)
        decision = for_action.preview(self.stores_near(text=command), called, self.settings)
        return [Hit(candidate) for candidate in decision.shown_candidates]


def fits(match: Match, term_count: int) -> bool:
    """True if a match of a search probably has to do with it: by its probability, or because it has all its words."""
    from onrecord.search.coefficients import SEARCH_FITS, SEARCH_FITS_LONG

    threshold = SEARCH_FITS if term_count <= _FEW_TERMS else SEARCH_FITS_LONG
    return match.probability >= threshold or match.features.get("coverage", 0.0) >= _ALL_WORDS


def save(
    writer: Writer, category: str, fields: Mapping[str, Any], *, supersedes: str = "", allow_secret: bool = False
) -> Entry:
    """Save a new record from a partial one in any store."""
    from onrecord.record import compose

    record = compose.compose(compose.category_of(category), fields, now=writer.now, allow_secret=allow_secret)
    return save_record(writer, record, supersedes=supersedes)


def save_record(writer: Writer, record: Memory, *, supersedes: str) -> Entry:
    """Save a new record in any store; a store that this makes gets its git files."""
    from onrecord.git import git_files

    was_there = writer.store.exists
    entry = writer.save(record, supersedes=supersedes)
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
        accept_new_store(writer.store, writer.settings)
    return entry


def accept_new_store(store: Store, settings: Settings) -> None:
    """Accept the repository of a store that a person made just now, if no record came with a clone."""
    from onrecord import state_file
    from onrecord.recall import trust
    from onrecord.record import author

    project = paths.project_of(store.root)
    is_asked = trust.is_asked(settings) and paths.is_project(paths.prefix_of(store.root))
    if is_asked and author.detect().origin != author.AGENT and not _other_stores(project):
        try:
            trust.accept(project)
        except (BadInput, Unwritable) as error:
            # The store is made; that its records wait is said, and `onrecord trust` can be run.
            state_file.go_without("trust", error.message)


def _other_stores(project: str) -> list[str]:
    """Return the folders of the repository of a project that have a store, too."""
    from onrecord.git import repository
    from onrecord.store import nested

    repo = repository.find(project)
    root = os.path.realpath(repo.root if repo else project)
    folders = [root, *(os.path.join(root, folder) for folder in nested.known(root))]
    others = (folder for folder in folders if folder != os.path.realpath(project))
    return [folder for folder in others if os.path.isdir(os.path.join(folder, paths.STORE))]


def require_store(store: Store) -> Store:
    """Return `store`. Raises NoStore if it does not exist."""
    if not store.exists:
        raise NoStore(
            f"there is no memory at {store.root}", fix="onrecord init; saving the first record makes one, too"
        )
    return store
