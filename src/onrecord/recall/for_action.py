"""The rule at the action: the record that governs a command, shown before the agent runs it.

It is one pipeline for the hook, `why --command`, `recall --command` and the benchmark. At most one record is shown, and
each once a session for a family of commands. A filter beside the index rules out most commands before the index is
opened.
"""

from __future__ import annotations

from onrecord import coldstart
from onrecord.search import command_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.recall.candidate import Candidate
    from onrecord.recall.for_prompt import Decision
    from onrecord.recall.stores import SearchedStore, Stores
    from onrecord.search.command_terms import CommandTerms
    from onrecord.session.action import Action
    from onrecord.session.ledger import Ledger
    from onrecord.settings import Settings

_MAX_CANDIDATES = 12
_MAX_TOKENS = 160
_MAX_TASK_CHARACTERS = 20_000
_GIT_SECONDS = 0.5
"""Seconds that git may take while a commit waits."""


SWITCHES = ("retrieval.enabled", "retrieval.actions")
"""Settings that must be on for the rule at the action."""


class Governing(coldstart.NamedTuple):
    """A record that may govern a command, and the family of the program call that it matches."""

    candidate: Candidate
    family: str

    @property
    def key(self) -> str:
        """The name under which a ledger notes that the record was shown at this family of commands."""
        family = coldstart.content_hash(self.family.encode("utf-8", "replace"))[:12]
        return f"action:{family}:{self.candidate.record}"


def block(stores: Stores, action: Action, settings: Settings, session: str) -> str:
    """Return the block for a command, with one record at most; what is shown is noted."""
    from onrecord.recall.candidate import AT_COMMAND, count_shown
    from onrecord.session.ledger import Ledger

    governing = find(stores, command_terms.of_calls(action.commands), settings)
    if not governing or governing[0].candidate.match.probability < _threshold():
        return ""
    with Ledger(session) as ledger:
        due = None if ledger.is_quiet else _first_due(governing, ledger)
        shown = [_show(due, ledger)] if due else []
    count_shown(shown, AT_COMMAND)
    return _render(shown[0]) if shown else ""


def _first_due(governing: Sequence[Governing], ledger: Ledger) -> Governing | None:
    """Return the most probable record that reaches the threshold and was not shown at this family of commands."""
    probable = (each for each in governing if each.candidate.match.probability >= _threshold())
    return next((each for each in probable if not ledger.has_shown(each.key, each.candidate.text_hash)), None)


def _show(due: Governing, ledger: Ledger) -> Candidate:
    """Return a record as it is shown, with its caution; it is noted in `ledger`."""
    from onrecord.recall.candidate import RULE, SHOWN, Cautions

    shown = Cautions().beside(due.candidate)._replace(form=RULE, outcome=SHOWN)
    ledger.add_shown(shown.record, shown.text_hash)
    ledger.add_shown(due.key, shown.text_hash)
    return shown


def for_task(stores: Stores, task: str, settings: Settings, session: str) -> str:
    """Return the block for a task that is given to a subagent, which is asked like a prompt; what is shown is noted."""
    from onrecord.recall import for_prompt
    from onrecord.recall.candidate import AT_TASK, count_shown
    from onrecord.session.ledger import Ledger

    request = for_prompt.Request(task[:_MAX_TASK_CHARACTERS])
    prompt_search = for_prompt.search(stores, request, settings)
    with Ledger(session) as ledger:
        decision = for_prompt.choose(stores, request, prompt_search, settings, judge=None, ledger=ledger)
    count_shown(decision.shown_candidates, AT_TASK)
    return decision.text


def at_commit(stores: Stores, action: Action, project: str, settings: Settings, session: str) -> str:
    """Return the block for a commit: the gravest records about the files that it changes."""
    from onrecord.recall import for_file

    return for_file.at_commit(stores, project, _committed(action, project), settings, session)


def _committed(action: Action, project: str) -> Sequence[str]:
    """Return the files of the project that a commit is about to change."""
    import time

    from onrecord.git import changes, repository

    repo = repository.find(project)
    if repo is None:
        return []
    deadline = time.monotonic() + _GIT_SECONDS
    # What the same command adds is not staged yet.
    return (
        changes.read(repo, project, deadline).uncommitted if action.stages else changes.staged(repo, project, deadline)
    )


def preview(stores: Stores, action: Action, settings: Settings) -> Decision:
    """Decide what the hook would show at a command in a session that was shown nothing yet; nothing is noted."""
    from onrecord.recall import for_check
    from onrecord.session.ledger import Ledger
    from onrecord.text import join

    decision = choose(find(stores, command_terms.of_calls(action.commands), settings), settings, Ledger(""))
    if turned_off(settings, for_check.SWITCHES) or action.is_silenced:
        return decision
    broken = for_check.preview(stores, for_check.checked(action, stores.project), settings)
    records = {candidate.record for candidate in broken.candidates}
    others = [candidate for candidate in decision.candidates if candidate.record not in records]
    text = "".join(_render(candidate) for candidate in others if candidate.shown_form)
    return decision._replace(text=join(broken.text, text), candidates=(*broken.candidates, *others))


def find(stores: Stores, calls: Sequence[CommandTerms], settings: Settings) -> list[Governing]:
    """Return the records that may govern a command from all stores, most probable first."""
    from onrecord.recall.stores import distinct

    governing_records: list[Governing] = []
    for store in stores.in_turn():
        governing_records += store.attempt(_search, calls, settings)
    distinct_ids = set(map(id, distinct([governing.candidate for governing in governing_records])))
    governing_records = [governing for governing in governing_records if id(governing.candidate) in distinct_ids]
    return sorted(governing_records, key=lambda governing: -governing.candidate.match.probability)


def _search(searched_store: SearchedStore, calls: Sequence[CommandTerms], settings: Settings) -> list[Governing]:
    from onrecord.search import command_match
    from onrecord.search.candidates import Filter

    filter = Filter("auto", settings=settings, fits=searched_store.fits)
    hits = command_match.find(searched_store.open(), calls, filter, _MAX_CANDIDATES)
    families = {hit.match.path: hit.family for hit in hits}
    visible = searched_store.visible(hit.match for hit in hits)
    return [Governing(candidate, families[candidate.match.path]) for candidate in visible]


def choose(governing: Sequence[Governing], settings: Settings, ledger: Ledger) -> Decision:
    """Decide what to show of the candidates; what is shown is noted in `ledger`, which must be open."""
    from onrecord.recall.for_prompt import BELOW_THRESHOLD, TURNED_OFF, Decision
    from onrecord.recall.selection import NO_ROOM, REPEATED, Thresholds

    off = turned_off(settings)
    due = None if off else _first_due(governing, ledger)
    decided: list[Candidate] = []
    for each in governing:
        candidate = each.candidate
        outcome = f"{TURNED_OFF}: {off}" if off else NO_ROOM
        if not off and candidate.match.probability < _threshold():
            outcome = BELOW_THRESHOLD
        elif ledger.has_shown(each.key, candidate.text_hash):
            outcome = REPEATED
        decided.append(_show(each, ledger) if each is due else candidate._replace(outcome=outcome))
    text = "".join(_render(candidate) for candidate in decided if candidate.shown_form)
    return Decision(text, False, Thresholds(_threshold()), "", tuple(decided))


def _render(candidate: Candidate) -> str:
    from onrecord import paths
    from onrecord.recall.candidate import fitting_items, render_block

    return render_block(fitting_items([candidate.item], _MAX_TOKENS), paths.PROJECT_PREFIX)


def _threshold() -> float:
    from onrecord.search.coefficients import COMMAND_THRESHOLD

    return COMMAND_THRESHOLD


def turned_off(settings: Settings, keys: Sequence[str] = SWITCHES) -> str:
    """Return the setting that turns the rule at the action off, in words; empty if it is on."""
    for key in keys:
        if not settings.flag(key):
            return f"{key} is false"
    return ""
