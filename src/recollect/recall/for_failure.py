"""Remedy: the runbook for a command that has just failed, if one clearly is about that failure."""

from __future__ import annotations

from math import log

from recollect.errors import RecollectError
from recollect.paths import PROJECT_SOURCE
from recollect.recall import context_block, error_text
from recollect.recall.for_prompt import Found, Stores, note_use
from recollect.search import index, rank, stopwords, terms
from recollect.session import ledger
from recollect.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.record.memory import Memory
    from recollect.search.index import Index
    from recollect.search.rank import Match
    from recollect.settings import Settings

THRESHOLD = 0.6
"""How probable it must be that a runbook is meant."""

QUOTED = 6.0
"""How telling a run of words must be that error and runbook have in common, in units of inverse document frequency.

An error text is long and full of words that runbooks share; only one who saw that error wrote the same run of them.
"""

_EVERYDAY = frozenset(
    "error err fail failur fatal warn warn except code statu exit file found line call caus invalid unexpect messag"
    " connect refus request respons return attempt retri server intern log level info process command run start stop"
    " test main name type valu path line number time date version see use follow".split()
)
"""Stems that error texts share whatever they are about."""

_BUDGET = 420
_MOST_LINES = 10
_FEWEST_TERMS = 4


def told(stores: Stores, command: str, error: str, settings: Settings, session: str) -> str:
    """The block for a failure, once per session; empty when no runbook is clearly about it."""
    if error_text.is_noise(command, error):
        return ""
    found = best(stores, error_text.symptoms(error), settings)
    if not found:
        return ""
    with ledger.Ledger(session) as known:
        key = f"remedy:{found.record}"
        if known.has_shown(key, found.stamp):
            return ""
        known.add_shown(key, found.stamp)
        known.add_shown(found.record, found.stamp)
    note_use([found])
    item = found.item
    item.text = _steps(found) or item.text
    return context_block.render(context_block.fitting([item], _BUDGET), PROJECT_SOURCE)


def best(stores: Stores, symptoms: str, settings: Settings) -> Found | None:
    """The runbook that is most probably meant, if it is probable enough and quotes the error."""
    lines = [line for line in symptoms.split("\n")[-_MOST_LINES:] if len(set(terms.stream(line))) >= _FEWEST_TERMS]
    found: list[Found] = []
    for root, source in stores.places:
        opened = index.open(root, hook=True)
        found += [Found(match, root, source) for match in _matches(opened, [symptoms, *lines], settings)]
        found = [one for one in found if one.root != root or quoted(opened, one.match, lines) >= QUOTED]
    return max(found, key=lambda one: one.match.probability, default=None)


def _matches(opened: Index, texts: list[str], settings: Settings) -> list[Match]:
    """What the error as a whole, or any line of it, brings up."""
    by_path: dict[str, Match] = {}
    for text in texts:
        for match in rank.find(opened, text, limit=3, mode="auto", categories=("runbook",), settings=settings):
            known = by_path.get(match.path)
            if match.probability >= THRESHOLD and (known is None or known.probability < match.probability):
                by_path[match.path] = match
    return list(by_path.values())


def quoted(opened: Index, match: Match, lines: list[str]) -> float:
    """How telling the longest run of words is that a line of the error shares with the runbook."""
    rows = opened.rows("WHERE path = ?", (match.path,))
    if not rows:
        return 0.0
    row = rows[0]
    text = f" {row.title_terms} | {row.trigger_terms} | {row.body_terms} "
    return max((_mass(opened, run) for line in lines for run in _runs(terms.stream(line), text)), default=0.0)


def _runs(stream: list[str], text: str) -> list[list[str]]:
    """The runs of a line's terms that stand in a text in the same order, none within a longer one."""
    runs = []
    start = 0
    while start < len(stream):
        end = start + 1
        while end <= len(stream) and f" {' '.join(stream[start:end])} " in text:
            end += 1
        if end - 1 > start:
            runs.append(stream[start : end - 1])
        start = max(end - 1, start + 1)
    return runs


def _mass(opened: Index, run: list[str]) -> float:
    telling = {term for term in run if len(term) > 2} - _EVERYDAY - stopwords.ENGLISH
    if len(telling) < 2:
        return 0.0
    counts = opened.term_counts(telling)
    records = opened.corpus(()).count + 100
    return sum(log(1 + records / (counts.get(term, (0, 0))[0] + 1)) for term in telling)


def _steps(found: Found) -> str:
    """What to do, in full, rather than the one line a prompt is given."""
    try:
        memory = Store(found.root).read(found.match.path).memory
    except RecollectError:
        return ""
    steps = " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(memory.lines("steps"), 1))
    return f"{memory.title}. {_cause(memory)}{steps} Check: {memory.text('verification')}"


def _cause(memory: Memory) -> str:
    return f"Cause: {memory.text('root_cause').rstrip('.')}. " if memory.text("root_cause") else ""
