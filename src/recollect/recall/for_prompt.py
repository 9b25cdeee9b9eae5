"""Recall: what to tell the agent now. Strict: what is probably not relevant is not told."""

from __future__ import annotations

import os

from recollect import usage
from recollect.freshness.check import Freshness
from recollect.paths import PROJECT_SOURCE, USER_SOURCE
from recollect.recall import context_block
from recollect.search import gate, index, query, rank
from recollect.session import ledger, transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.search.index import Index
    from recollect.search.rank import Match
    from recollect.session.ledger import Ledger
    from recollect.settings import Settings

_POOL = 12
_AFTER_COMPACTION = 900
_MISSING = -1.0
"""What it counts against a memory, in log odds, that a file it is about no longer exists."""

_PAST = (
    "did we decide", "have we decided", "we decided", "was decided", "what was our", "what were our", "why did we",
    "why do we", "why are we", "did we ever", "have we ever", "do you remember", "remember when", "remind me",
    "last time we", "did we agree", "did we choose", "did we pick", "leave off", "left off", "was haben wir",
    "warum haben wir", "qué decidimos", "pourquoi avons", "qu'avons-nous décidé",
)  # fmt: skip


class Found:
    """A memory that a store offers, and how it is told from the others."""

    __slots__ = ("caution", "match", "root", "source")

    def __init__(self, match: Match, root: str, source: str) -> None:
        self.match = match
        self.root = root
        self.source = source
        self.caution = ""
        """What to check before relying on it: the files it is about have changed since."""

    @property
    def record(self) -> str:
        """The record's name in a ledger."""
        return os.path.join(self.root, self.match.path)

    @property
    def stamp(self) -> str:
        """What tells this wording of it from another."""
        return ledger.stamp(self.match.essence)

    @property
    def item(self) -> context_block.Item:
        match = self.match
        return context_block.Item(
            match.category,
            match.essence,
            self.source + match.path,
            confidence=match.confidence,
            updated=match.updated_at,
            note="; ".join(part for part in (_history(match), self.caution) if part),
        )


class Stores:
    """The stores that take part, the project's first."""

    __slots__ = ("places",)

    def __init__(self, project_store: str, user_store: str) -> None:
        self.places = [
            (root, source) for root, source in ((project_store, PROJECT_SOURCE), (user_store, USER_SOURCE)) if root
        ]

    def find(self, prompt: str, settings: Settings, borrowed: str = "", *, hook: bool = True) -> list[Found]:
        """What could be told for a prompt, best first within each store, the gate not yet applied."""
        found: list[Found] = []
        for root, source in self.places:
            opened = self.open(root, hook=hook)
            matches = rank.find(opened, prompt, limit=_POOL, mode="auto", borrowed=borrowed, settings=settings)
            self.close(opened)
            found += [Found(match, root, source) for match in matches]
        return found

    def open(self, root: str, *, hook: bool) -> Index:
        """The index of one of them."""
        return index.open(root, hook=hook)

    def close(self, opened: Index) -> None:
        opened.close()


def verified(found: list[Found], settings: Settings, *, first: bool) -> list[Found]:
    """The memories about to be told, with a word of caution where their files have changed; a file that is gone counts
    against a memory, which may then no longer pass."""
    bar = threshold(settings, first=first)
    kept: list[Found] = []
    by_project: dict[str, Freshness] = {}
    for one in found:
        if one.match.anchors and one.source == PROJECT_SOURCE:
            project = os.path.dirname(os.path.dirname(one.root))
            judge = by_project.setdefault(project, Freshness(project))
            one.caution, is_missing = judge.note(one.match.anchors)
            if is_missing and gate.shifted(one.match.probability, _MISSING) < bar:
                continue
        kept.append(one)
    return kept


def borrowed(prompt: str, transcript_path: str) -> str:
    """The last turns of the user, for a prompt that does not say by itself what it is about."""
    if not transcript_path or not query.is_referring(prompt):
        return ""
    return lent(transcript.last_prompts(transcript_path))


def lent(turns: Sequence[str]) -> str:
    """What earlier turns have to lend to a prompt that refers to them."""
    return "\n".join(turn[:2_000] for turn in turns)


def passing(found: list[Found], settings: Settings, *, first: bool) -> list[Found]:
    """The memories that are probably relevant."""
    bar = threshold(settings, first=first)
    return [one for one in found if one.match.probability >= bar]


def turned_off(settings: Settings) -> str:
    """The setting by which prompts bring nothing up at all, in words; empty if they do."""
    if not settings.flag("retrieval.enabled"):
        return "retrieval.enabled is false"
    return "" if settings.count("retrieval.max_inject") else "retrieval.max_inject is 0"


def threshold(settings: Settings, *, first: bool) -> float:
    """How probable it must be that a memory is relevant."""
    bar = settings.number("retrieval.min_probability") or gate.THRESHOLD
    return max(bar - settings.number("retrieval.first_prompt_relief"), 0.05) if first else bar


def rendered(found: list[Found], settings: Settings, *, first: bool) -> tuple[str, list[Found]]:
    """The block for the agent, and the memories that have a place in it."""
    generosity = settings.number("retrieval.first_prompt_budget") if first else 1.0
    most = int(settings.count("retrieval.max_inject") * generosity)
    kept = context_block.fitting(
        [one.item for one in found[:most]], int(settings.number("retrieval.max_tokens") * generosity)
    )
    return context_block.render(kept, PROJECT_SOURCE), found[: len(kept)]


def admitted(
    found: list[Found], prompt: str, settings: Settings, *, first: bool, turns: list[str], session: str = ""
) -> list[Found]:
    """The memories that may be told: those that pass the gate, or those that a judge, if there is one, keeps."""
    if not settings.flag("retrieval.judge.enabled"):
        return passing(found, settings, first=first)
    from recollect.judge import judge

    bar = threshold(settings, first=first)
    kept = judge.keep(prompt, [one.match for one in found], turns, settings, session, bar=bar)
    return [one for one in found if any(one.match is match for match in kept)]


def for_prompt(stores: Stores, prompt: str, settings: Settings, *, session: str, transcript_path: str) -> str:
    """What a prompt brings up: a block of memories, a hint, or nothing."""
    with ledger.Ledger(session) as told:
        first = bool(session) and told.is_first_prompt
        told.count_prompt()
    found = stores.find(prompt, settings, borrowed(prompt, transcript_path))
    passed = admitted(found, prompt, settings, first=first, turns=_turns(settings, transcript_path), session=session)
    with ledger.Ledger(session) as told:
        text, shown = tell(passed, told, settings, first=first)
    note_use(shown)
    return text if passed else hint(prompt)


def tell(passed: list[Found], told: Ledger, settings: Settings, *, first: bool) -> tuple[str, list[Found]]:
    """The block of what a session was not told yet, and the memories in it, which its ledger then knows."""
    new = [one for one in passed if not told.has_shown(one.record, one.stamp)]
    text, shown = rendered(verified(new, settings, first=first), settings, first=first)
    for one in shown:
        told.add_shown(one.record, one.stamp)
    return text, shown


def note_use(shown: list[Found]) -> None:
    """Count memories as told, so that what becomes of them can be seen at the end of the turn."""
    for root in dict.fromkeys(one.root for one in shown):
        usage.injected(root, [one.match.path for one in shown if one.root == root])


def preview(
    stores: Stores, prompt: str, settings: Settings, *, first: bool, transcript_path: str = ""
) -> tuple[str, list[Found]]:
    """What `for_prompt` would say to a session that was told nothing yet, and the memories in it."""
    found = stores.find(prompt, settings, borrowed(prompt, transcript_path), hook=False)
    passed = admitted(found, prompt, settings, first=first, turns=_turns(settings, transcript_path))
    if not passed:
        return hint(prompt), []
    return rendered(verified(passed, settings, first=first), settings, first=first)


def after_compaction(stores: Stores, session: str) -> str:
    """What the session was told before its conversation was compacted, once more."""
    with ledger.Ledger(session) as told:
        records = list(reversed(told.shown))
        told.reset()
        current = {one.record: one for one in (_current(record, stores) for record in records) if one}
        found = list(current.values())
        kept = context_block.fitting([one.item for one in found], _AFTER_COMPACTION)
        for one in found[: len(kept)]:
            told.add_shown(one.record, one.stamp)
        told.count_prompt()
    return context_block.render(kept, PROJECT_SOURCE)


def _turns(settings: Settings, transcript_path: str) -> list[str]:
    """The last turns of the user, which only a judge is shown."""
    return transcript.last_prompts(transcript_path, 5) if settings.flag("retrieval.judge.enabled") else []


def _current(record: str, stores: Stores) -> Found | None:
    """A record named in a ledger as it is now, or what has replaced it."""
    for root, source in stores.places:
        if record.startswith(root + os.sep):
            match = rank.current(index.open(root, hook=True), record[len(root) + 1 :])
            return Found(match, root, source) if match else None
    return None


def _history(match: Match) -> str:
    """One clause for a memory that was found through what it replaces."""
    if not match.via:
        return ""
    _, title, since = match.via
    return f"replaces “{title}”" + (f" since {since[:10]}" if since else "")


def hint(prompt: str) -> str:
    """What is said where nothing was found: something only to a question about the past."""
    asked = prompt[:400].lower()
    return context_block.HINT if any(phrase in asked for phrase in _PAST) else ""
