"""The checks that an action breaks: the rules to show at once, or the reason to ask the person or to deny the tool.

Whatever fails here lets the tool run: a check never blocks because of an error.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.coldstart import NamedTuple
from onrecord.record import check
from onrecord.record.check import Check, FileLines, RecordCheck
from onrecord.session import commands
from onrecord.session.action import edits_of, text_added, text_after, text_removed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.recall.candidate import Candidate, Item
    from onrecord.recall.stores import SearchedStore, Stores
    from onrecord.search.candidates import Filter
    from onrecord.search.index import Index, IndexedCheck, Row
    from onrecord.session.action import Action
    from onrecord.session.ledger import Ledger
    from onrecord.settings import Settings

WARN, ASK, DENY = "warn", "ask", "deny"
SWITCHES = ("retrieval.enabled", "checks.enabled")
"""Settings that must be on for checks."""

_MAX_SHOWN = 3
_MAX_TOKENS = 260
_MAX_FILES = 50
_MAX_FILE_BYTES = 400_000
"""Bytes of a file that is about to be replaced which are compared with the new text."""

_MAX_WORDS = 20_000
"""Words of an action that are looked up; a longer text is a file that a program made."""


class BrokenCheck(NamedTuple):
    """A check that an action breaks, and the record that it belongs to."""

    candidate: Candidate
    check: Check
    is_firm: bool
    """False if the record is only proposed: then nothing is asked or denied."""
    family: str
    """What the action is about: a family of commands, or a file."""

    @property
    def key(self) -> str:
        """The name under which a ledger notes that the record was shown at such an action."""
        return f"check:{self._family_hash}:{self.candidate.record}"

    @property
    def action_key(self) -> str:
        """The name under which `for_action` notes the same: the rule must not come twice at one command."""
        return f"action:{self._family_hash}:{self.candidate.record}"

    @property
    def _family_hash(self) -> str:
        return coldstart.content_hash(self.family.encode("utf-8", "replace"))[:12]

    def enforcement(self, settings: Settings) -> str:
        """Return what the user wants to happen: `warn`, `ask` or `deny`."""
        return settings.enforcement(self.candidate.match.id) if self.is_firm else WARN


class CheckedAction(NamedTuple):
    """The part of an action that is compared with checks: a command, or the lines that a change adds to files."""

    command: str = ""
    changes: tuple[FileLines, ...] = ()
    project: str = ""
    """The folder that the paths of the changes are relative to."""

    @property
    def noun(self) -> str:
        return "command" if self.command else "change"

    @property
    def words(self) -> set[str]:
        """Its words; one of them must be a key word of a check that it breaks."""
        texts = [self.command, *(line.text for change in self.changes for line in change.added)]
        words: set[str] = set()
        for text in texts:
            words |= check.words_of(text)
            if len(words) > _MAX_WORDS:
                break
        return words

    def within(self, folder: str, inner: str) -> CheckedAction:
        """Return the action as a store sees it: its own files, relative to its folder.

        The folder is `folder` of the project, or one above it that has the project at `inner`.
        """
        own = [change for change in self.changes if change.path.startswith(folder)]
        changes = tuple(change._replace(path=inner + change.path[len(folder) :]) for change in own)
        return self._replace(changes=changes)

    def broken_place(self, one: Check) -> str:
        """Return what breaks a check: the family of the command, or a file; empty if nothing does."""
        if self.command:
            return _family(self.command, one) if check.breaks_command(one, self.command) else ""
        return next((change.path for change in self.changes if check.broken_lines(one, change)), "")


def _family(command: str, one: Check) -> str:
    """Return the family of the command in a line that breaks a check; of all in it if that cannot be told."""
    programs = {word.rpartition("/")[2] for text in one.starts for word in text.split()[:1]}
    calls = commands.parse(command)
    families = [call.family for call in calls if call.program in programs] or [call.family for call in calls]
    return "; ".join(dict.fromkeys(families)) or "command"


class CheckVerdict(NamedTuple):
    """The effect of a broken check on an action, and the text for who reads it; no text if no check is broken."""

    enforcement: str = WARN
    text: str = ""


class Powers(NamedTuple):
    """The powers of a hook at an event: show a rule, stop the tool, and ask the person about it."""

    can_warn: bool = True
    can_stop: bool = True
    can_ask: bool = True
    """False if the host cannot ask the person: then the tool is denied, and the agent reads the reason."""


BEFORE = Powers()


def checked(action: Action, project: str, is_after: bool = False) -> CheckedAction:
    """Return what of an action is compared with checks; after it, a replaced file cannot be compared any more."""
    from onrecord.recall.for_file import relative

    if action.command:
        return CheckedAction(action.command)
    changes = []
    for file in action.files_changed[:_MAX_FILES]:
        path = relative(project, file)
        is_new = action.is_whole_file or (not is_after and not os.path.lexists(file))
        if path:
            changes.append(check.added_lines(path, *_old_and_new(action, file, is_after), is_new=is_new))
    return CheckedAction(changes=tuple(changes), project=project)


def _old_and_new(action: Action, file: str, is_after: bool) -> tuple[str, str]:
    """Return the texts of a file before and after an action.

    Where the file does not tell, or the action is over, they are the texts that the action replaces, and with what.
    """
    edits = edits_of(action.edits, file)
    old_text, new_text = text_removed(edits), text_added(edits)
    if is_after or not (action.is_whole_file or edits):
        return old_text, new_text
    text = _text(file)
    if action.is_whole_file:
        return text, new_text
    changed_text = text_after(edits, text)
    return (old_text, new_text) if changed_text is None else (text, changed_text)


def _text(file: str) -> str:
    try:
        return files.read(file, _MAX_FILE_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def verdict(
    stores: Stores, checked_action: CheckedAction, settings: Settings, session: str, powers: Powers = BEFORE
) -> CheckVerdict:
    """Return what the broken checks of an action do; a rule is shown once for a family of actions of a session."""
    from onrecord.recall.candidate import AT_COMMAND, AT_FILE, CHECK, RULE, count_shown
    from onrecord.session.ledger import Ledger

    broken = find(stores, checked_action, settings)
    if not powers.can_warn:
        broken = [one for one in broken if one.enforcement(settings) != WARN]
    if not broken:
        return CheckVerdict()
    with Ledger(session) as ledger:
        due = [one for one in broken if _is_due(one, settings, ledger, powers)][:_MAX_SHOWN]
        items = _items(due, checked_action.noun)
        # What has no room is not shown yet: it comes at the next such action.
        shown = due[: len(items)]
        for one in shown:
            candidate = one.candidate
            for key in (candidate.record, one.key, one.action_key, *_at_edits(checked_action, candidate)):
                ledger.add_shown(key, candidate.text_hash)
    moment = AT_COMMAND if checked_action.command else AT_FILE
    count_shown([one.candidate._replace(form=RULE) for one in shown], moment, CHECK)
    return _verdict(shown, items, settings, powers, checked_action.noun)


class PreviewedChecks(NamedTuple):
    """The text and the records that broken checks would show at an action, each with the reason as its caution."""

    text: str
    candidates: tuple[Candidate, ...]


def preview(stores: Stores, checked_action: CheckedAction, settings: Settings) -> PreviewedChecks:
    """Return what the broken checks of an action would show in a session that was shown nothing; nothing is noted."""
    from onrecord.recall.candidate import RULE, SHOWN

    broken = find(stores, checked_action, settings)[:_MAX_SHOWN]
    items = _items(broken, checked_action.noun)
    broken = broken[: len(items)]
    text = _verdict(broken, items, settings, BEFORE, checked_action.noun).text
    candidates = []
    for one in broken:
        enforcement = one.enforcement(settings)
        match = one.candidate.match._replace(probability=1.0, score=1.0)
        caution = f"the command breaks its check ({enforcement}): {check.describe(one.check)}"
        candidates.append(one.candidate._replace(match=match, form=RULE, outcome=SHOWN, caution=caution))
    return PreviewedChecks(text, tuple(candidates))


def _at_edits(checked_action: CheckedAction, candidate: Candidate) -> list[str]:
    """Return the names under which a ledger notes that a record was shown at the edit of these files."""
    if not checked_action.changes:
        return []
    from onrecord.recall.for_file import at_edit

    return [at_edit(change.path, candidate) for change in checked_action.changes]


def _is_due(broken: BrokenCheck, settings: Settings, ledger: Ledger, powers: Powers) -> bool:
    is_enforced = powers.can_stop and broken.enforcement(settings) != WARN
    return is_enforced or not ledger.has_shown(broken.key, broken.candidate.text_hash)


def _items(due: Sequence[BrokenCheck], noun: str) -> list[Item]:
    """Return the rules of the first of these checks, as many as have room, each with what to do instead."""
    from onrecord.recall.candidate import Cautions, fitting_items

    cautions, items = Cautions(), []
    for broken in due:
        item = cautions.beside(broken.candidate).item
        note = "; ".join(filter(None, (f"this {noun} goes against it", broken.check.say, item.note)))
        items.append(item._replace(note=note))
    return fitting_items(items, _MAX_TOKENS)


def _verdict(
    shown: Sequence[BrokenCheck], items: list[Item], settings: Settings, powers: Powers, noun: str
) -> CheckVerdict:
    from onrecord.recall.candidate import render_block
    from onrecord.text import plain_lines

    if not shown:
        return CheckVerdict()
    block = render_block(items, paths.PROJECT_PREFIX)
    enforced = [broken for broken in shown if powers.can_stop and broken.enforcement(settings) != WARN]
    if not enforced:
        return CheckVerdict(WARN, block)
    level = DENY if any(broken.enforcement(settings) == DENY for broken in enforced) else ASK
    is_asked = level == ASK and powers.can_ask
    reason = _question(enforced[0], noun) if is_asked else _reason(enforced[0], level, noun)
    # A reason is for the person, too, and hosts show it as it is.
    return CheckVerdict(level, f"{reason}\n{plain_lines(block)}")


def _reason(broken: BrokenCheck, level: str, noun: str) -> str:
    """Return why the agent's tool is not run, and how to go on."""
    record_id = broken.candidate.match.id
    wish = "deny that" if level == DENY else "have the user asked first, which is not possible here"
    silence = "if the user wants it all the same, add the comment #nomem to it; " if noun == "command" else ""
    return (
        f"Memory: this {noun} breaks a check of the record {record_id}, and the user's settings {wish}; to read it: "
        f"onrecord show {record_id}; {silence}for the user, to change the setting: {_setting(record_id)}"
    )


def _question(broken: BrokenCheck, noun: str) -> str:
    """Return what the person is asked: the rule, what to do instead, and how to go on."""
    from onrecord.text import flat

    match = broken.candidate.match
    advice = f" Instead: {flat(broken.check.say)}." if broken.check.say else ""
    silence = f"a {noun} with the comment #nomem is not asked about; " if noun == "command" else ""
    return (
        f"Memory: this {noun} goes against the rule “{flat(match.title)}” (record {match.id}).{advice} Your settings "
        f"ask you first: allow the {noun} this once, or refuse it. To read the record: onrecord show {match.id}; "
        f"{silence}to be asked no more: {_setting(match.id)}"
    )


def _setting(record_id: str) -> str:
    return f"onrecord config set --user checks.by_record.{record_id} warn"


def find(stores: Stores, checked_action: CheckedAction, settings: Settings) -> list[BrokenCheck]:
    """Return the checks that an action breaks, of records in force here; those that do most first."""
    words = checked_action.words
    broken: list[BrokenCheck] = []
    for store in stores.in_turn():
        broken += store.attempt(_search, checked_action, words, settings)
    order = (DENY, ASK, WARN)
    return sorted(broken, key=lambda one: order.index(one.enforcement(settings)))


def in_force(stores: Stores, settings: Settings) -> list[RecordCheck]:
    """Return the checks of all records that are in force here."""
    return [one for store in stores.in_turn() for one in store.attempt(_in_force, stores.project, settings)]


def _in_force(searched_store: SearchedStore, project: str, settings: Settings) -> list[RecordCheck]:
    from onrecord.search import rank
    from onrecord.search.candidates import Filter

    index = searched_store.open()
    filter = Filter("auto", settings=settings, fits=searched_store.fits)
    # No check of a repository that the user has yet to accept is carried out.
    indexed_checks = index.all_checks() if searched_store.store_ref.is_trusted else []
    rows = _current(index, index.rows({indexed.n for indexed in indexed_checks}), filter)
    visible = searched_store.visible(rank.match(row, searched_store.store_ref.root) for row in rows.values())
    by_path = {candidate.match.path: candidate for candidate in visible}
    folder, inner = _below(searched_store, project), searched_store.inner
    record_checks = []
    for indexed in indexed_checks:
        row = rows.get(indexed.n)
        if row and row.path in by_path:
            path = searched_store.store_ref.prefix + row.path
            one = check.unpack(indexed.body)
            record_checks.append(RecordCheck(row.id, row.title, path, one, bool(indexed.is_firm), folder, inner))
    return record_checks


def _below(searched_store: SearchedStore, project: str) -> str:
    """Return the folder of a nested store in the project, with a slash; empty for all other stores."""
    start = os.path.join(project, "")
    folder = searched_store.folder
    return os.path.join(folder[len(start) :], "").replace(os.sep, "/") if project and folder.startswith(start) else ""


def _current(index: Index, rows: Sequence[Row], filter: Filter) -> dict[int, Row]:
    """Return those of the records that are in force and that no other one replaces, by number."""
    from onrecord.search import candidates

    accepted = [row for row in rows if filter.accepts(row)]
    successors = candidates.successors(index, accepted)
    # One that another record replaces is not checked: its successor has checks of its own, or none.
    return {row.n: row for row in accepted if (now := successors[row.n]) and now.n == row.n}


def _search(
    searched_store: SearchedStore, checked_action: CheckedAction, words: set[str], settings: Settings
) -> list[BrokenCheck]:
    from onrecord.search import rank
    from onrecord.search.candidates import Filter

    if not searched_store.store_ref.is_trusted:
        searched_store.open()
        return []
    filter = Filter("auto", settings=settings, fits=searched_store.fits)
    own = checked_action.within(_below(searched_store, checked_action.project), searched_store.inner)
    matched = searched_store.open().run(_unchanged, own, words, filter, hook=True)
    rows = [
        row_check
        for row_check in matched
        if checked_action.command or searched_store.applies(row_check[3])(row_check[0].scope)
    ]
    visible = searched_store.visible(rank.match(row, searched_store.store_ref.root) for row, *_ in rows)
    by_path = {candidate.match.path: candidate for candidate in visible}
    return [
        BrokenCheck(by_path[row.path], one_check, bool(indexed.is_firm), place)
        for row, indexed, one_check, place in rows
        if row.path in by_path
    ]


def _unchanged(
    index: Index, checked_action: CheckedAction, words: set[str], filter: Filter
) -> list[tuple[Row, IndexedCheck, Check, str]]:
    """Return the broken checks as the files are now: a record that was edited since is indexed and compared again."""
    from onrecord.search import indexing

    matched = _matched(index, checked_action, words, filter)
    changed = indexing.changed_since(index, [row.path for row, *_ in matched]) if matched else []
    if changed:
        indexing.reread(index, changed)
        matched = _matched(index, checked_action, words, filter)
    return matched


def _matched(
    index: Index, checked_action: CheckedAction, words: set[str], filter: Filter
) -> list[tuple[Row, IndexedCheck, Check, str]]:
    broken: dict[int, tuple[IndexedCheck, Check, str]] = {}
    for indexed in index.checks_with(words):
        if indexed.n in broken:
            continue
        try:
            one = check.unpack(indexed.body)
            place = checked_action.broken_place(one)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            from onrecord import state_file

            # One that fails must not switch off the others: a user may have one of them denied.
            state_file.log_failure("compare a check", f"{type(error).__name__}: {error}")
            continue
        if place:
            broken[indexed.n] = (indexed, one, place)
    rows = _current(index, index.rows(broken), filter)
    return [(row, *broken[n]) for n, row in rows.items()]
