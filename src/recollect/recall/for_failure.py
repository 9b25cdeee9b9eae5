"""The runbook for a command that has just failed, if one clearly is about that failure.

What the command printed is reduced to the words by which a runbook would be found.
"""

from __future__ import annotations

import re

from recollect.errors import RecollectError
from recollect.paths import PROJECT_SOURCE
from recollect.recall import context_block
from recollect.recall.cautions import Cautions
from recollect.recall.context_block import Candidate, Stores, count_shown
from recollect.search import query, rank, terms
from recollect.search.candidates import rarity
from recollect.session.ledger import Ledger
from recollect.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from recollect.paths import StorePlace
    from recollect.search.index import Index
    from recollect.search.rank import Match
    from recollect.settings import Settings

THRESHOLD = 0.6
"""How probable it must be that a runbook is relevant."""

LEAST_QUOTED = 6.0
"""How rare a run of words must be that error and runbook have in common, in units of inverse document frequency.

An error text is long and full of words that runbooks share; only who saw that error wrote the same run of them.
"""

_EVERYDAY = frozenset(
    "error err fail failur fatal warn warn except code statu exit file found line call caus invalid unexpect messag"
    " connect refus request respons return attempt retri server intern log level info process command run start stop"
    " test main name type valu path line number time date version see use follow".split()
)
"""Stems that error texts share whatever they are about."""

_BUDGET = 420
_MOST_QUERIES = 10
_FEWEST_TERMS = 4
_LONGEST, _LONGEST_LINE, _MOST_LINES = 1_600, 300, 14
_SEARCHERS = frozenset("grep egrep fgrep rg ag ack diff cmp test [ which command type pgrep find".split())

_ANSI = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
_MARKED = re.compile(
    r"(?i)\b(?:error|err!|fatal|fail(?:ed|ure|ing)?|exception|panic(?:ked)?|denied|refused|cannot|could not|unable"
    r"|invalid|missing|no such|not found|not permitted|timed? ?out|timeout|unreachable|exceeded|killed|oom|abort(?:ed)?"
    r"|conflict|locked|mismatch|unexpected|unknown|warn(?:ing)?|critical|unhealthy|evicted|expired|exhausted)\b"
    r"|\wError\b"
)
# Log lines wrap what happened in fields that every line of that program has.
_MESSAGE = re.compile(r"""\b(?:msg|message|err|error|reason)"?\s*[=:]\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))""")
_WRAPPING = (
    r"(?i)rpc error: code = \w+ desc = |\bdial (?:tcp|unix|udp)\b|\bcaller=\S+|\blevel=\w+|\bat \S+\(.*\)$|https?://\S+"
    r"|\b(?:get|post|put|patch|delete) \\?\"[^\"]*\\?\":?|\[(?:err|wrn|warn|error|info)\w*\]"
)
# Dates, times, UUIDs, addresses in memory and hashes, IP addresses, folders, positions in files, long numbers.
_IMPERSONAL = [
    re.compile(pattern)
    for pattern in (
        _WRAPPING,
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?[.,\d]*(?:Z|[+-]\d\d:?\d\d)?",
        r"\b\d\d:\d\d:\d\d[.,\d]*",
        r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
        r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b",
        r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b",
        r"(?<![\w.])(?:[A-Za-z]:)?[\\/](?:[\w.@+~-]+[\\/])+(?=[\w.@+~-])",
        r":\d+(?::\d+)?\b",
        r"\b\d{5,}\b",
    )
]


def block(stores: Stores, command: str, error: str, settings: Settings, session: str) -> str:
    """The block for a failure, once per session; empty when no runbook is clearly about it."""
    runbook = None if is_noise(command, error) else best(stores, symptoms(error), settings)
    if runbook is None:
        return ""
    with Ledger(session) as noted:
        key = f"remedy:{runbook.record}"
        if noted.has_shown(key, runbook.stamp):
            return ""
        noted.add_shown(key, runbook.stamp)
        noted.add_shown(runbook.record, runbook.stamp)
    count_shown([runbook])
    item = Cautions().beside(runbook).item
    item = item._replace(text=_steps(runbook.match) or item.text)
    return context_block.render(context_block.fitting([item], _BUDGET), PROJECT_SOURCE)


def is_noise(command: str, error: str) -> bool:
    """Whether a failure says nothing: a search without a result, a comparison that differs, an interrupted run."""
    code, _, output = error.partition("\n")
    program = command.strip().split(" ", 1)[0].rsplit("/", 1)[-1]
    if code.strip() == "Exit code 1" and program in _SEARCHERS and len(output.strip()) < 200:
        return True
    return not output.strip()


def symptoms(error: str) -> str:
    """The lines of an error text that matter, without what differs from run to run: times, paths, ids, addresses."""
    lines = [line.strip() for line in _ANSI.sub("", error.replace("\r", "\n")[-40_000:]).split("\n")]
    lines = [line for line in lines if line and not line.startswith("Exit code ")]
    marked = [number for number, line in enumerate(lines) if _MARKED.search(line)]
    wanted = sorted({*marked[-_MOST_LINES:], *range(max(len(lines) - 4, 0), len(lines))})
    return "\n".join(dict.fromkeys(impersonal(lines[number][:_LONGEST_LINE]) for number in wanted))[-_LONGEST:]


def impersonal(line: str) -> str:
    """A line without what only this run, or every line of that program, has."""
    messages = [quoted or bare for quoted, bare in _MESSAGE.findall(line)]
    if messages and ("level" in line or "msg" in line):
        line = " ".join(messages).replace('\\"', '"')
    for pattern in _IMPERSONAL:
        line = pattern.sub(" ", line)
    return " ".join(line.split())


def best(stores: Stores, symptoms: str, settings: Settings) -> Candidate | None:
    """The most probable runbook, if it is probable enough and quotes the error."""
    lines = [line for line in symptoms.split("\n")[-_MOST_QUERIES:] if len(set(terms.stream(line))) >= _FEWEST_TERMS]

    def ask(opened: Index, place: StorePlace) -> list[Candidate]:
        matches = _matches(opened, [symptoms, *lines], settings, stores.fits(place))
        return [Candidate(match, place.source) for match in matches if quoted(opened, match, lines) >= LEAST_QUOTED]

    return max(stores.gather(ask), key=lambda each: each.match.probability, default=None)


def _matches(opened: Index, texts: list[str], settings: Settings, fits: Callable[[str], bool] | None) -> list[Match]:
    """What the error as a whole, or any line of it, brings up."""
    by_path: dict[str, Match] = {}
    named: dict[str, Any] = {"limit": 3, "mode": "auto", "categories": ("runbook",), "settings": settings, "fits": fits}
    for text in texts:
        for match in rank.find(opened, text, **named):
            earlier = by_path.get(match.path)
            if match.probability >= THRESHOLD and (earlier is None or earlier.probability < match.probability):
                by_path[match.path] = match
    return list(by_path.values())


def quoted(opened: Index, match: Match, lines: list[str]) -> float:
    """How rare the rarest run of words is that a line of the error shares with the runbook."""
    rows = opened.rows("WHERE path = ?", (match.path,))
    if not rows:
        return 0.0
    row = rows[0]
    text = f" {row.title_terms} | {row.trigger_terms} | {row.body_terms} "
    return max((_rarity(opened, run) for line in lines for run in _runs(terms.stream(line), text)), default=0.0)


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


def _rarity(opened: Index, run: list[str]) -> float:
    distinctive = {term for term in run if len(term) > 2} - _EVERYDAY - query.ENGLISH
    if len(distinctive) < 2:
        return 0.0
    counts = opened.term_counts(distinctive)
    records, _, _ = opened.totals()
    return sum(rarity(counts.get(term, (0, 0))[0], records) for term in distinctive)


def _steps(match: Match) -> str:
    """What to do, in full, rather than the summary that a prompt is given."""
    try:
        memory = Store(match.root).read(match.path).memory
    except RecollectError:
        return ""
    cause = memory.text("root_cause").rstrip(".")
    steps = " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(memory.lines("steps"), 1))
    return f"{memory.title}. {f'Cause: {cause}. ' if cause else ''}{steps} Check: {memory.text('verification')}"
