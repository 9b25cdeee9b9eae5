"""How much of what a command printed a runbook quotes.

An error text is long and full of words that runbooks share; only who saw that error wrote the same run of them.
"""

from __future__ import annotations

import re

from onrecord.recall import error_text
from onrecord.search import query, terms
from onrecord.search.candidates import rarity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onrecord.record.memory import Memory
    from onrecord.search.index import Index, Row

_FEWEST_TERMS = 3
"""Terms of a run: two words stand side by side by chance, as in the name of a service."""

_LEAST_COVERED = 0.75
"""The share of a phrase that the output must have; names and numbers in it differ from run to run."""

_MOST_PHRASES, _LONGEST_PHRASE, _LONGEST_STEPS = 40, 300, 20_000
_MOST_OCCURRENCES = 8_000
"""Occurrences in the index that are looked at before commoner words are left out: what bounds a large store."""

_EVERYDAY = frozenset(
    "error err fail failur fatal warn except code statu exit file found line call caus invalid unexpect messag"
    " connect refus request respons return attempt retri server intern log level info process command run start stop"
    " test main name type valu path number time date version see use follow sqlstate errno".split()
)
"""Stems that error texts share whatever they are about."""

_CODE = re.compile(
    r"\b(?:(?:SQLSTATE|[Cc]ode|errno)\W{1,3}(?=\w*\d)(\w{4,6})|[A-Z]{1,6}-?\d{3,6}|\d\d[A-Z]\d\d"
    r"|EADDRINUSE|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|EMFILE|ENFILE|ENOMEM|ENOSPC|ENOTFOUND|ETIMEDOUT)\b"
)
"""What names an error by itself: TS2345, E0382, SQLSTATE 40001, 55P03, and what the system calls a situation."""

_BEFORE_CODES = ("sqlstate", "code", "errno")
_PATH = re.compile(r"\S*[/\\]\S*|\b[\w-]+\.[A-Za-z]\w{0,4}\b")


def may_be_in(opened: Index, lines: Sequence[str], least: float) -> bool:
    """Whether a runbook of a store may quote the output, by its index alone: a search takes far longer.

    What quotes it has two terms side by side as a line has them, one of them distinctive; or it has the error's name.
    """
    streams = [_lasting(terms.stream(line)) for line in lines]
    # The runbook may say `code 40001` where the output has the number alone.
    numbers = {term for stream in streams for term in stream if 4 <= len(term) <= 6 and not term.isalpha()}
    codes = frozenset[str]().union(*map(_codes, lines))
    weights = _weights(opened, _distinctive(term for stream in streams for term in stream), codes | numbers)
    pairs = {pair for stream in streams for pair in zip(stream, stream[1:]) if not weights.keys().isdisjoint(pair)}
    pairs.update((marker, number) for marker in _BEFORE_CODES for number in numbers)
    return any(
        sum(weights.get(term, 0.0) for term in _side_by_side(row, pairs, codes)) >= least
        for row in _runbooks(opened, [*pairs, *((code,) for code in codes)])
    )


def _runbooks(opened: Index, together: Iterable[tuple[str, ...]]) -> list[Row]:
    """The active runbooks that have all terms of one of some tuples, those of the rarest first and within a bound."""
    tuples = list(together)
    counts = opened.term_counts({term for each in tuples for term in each})
    rarest = {each: min(counts[term][0] for term in each) for each in tuples if all(term in counts for term in each)}
    wanted, occurrences = list[tuple[str, ...]](), 0
    for each in sorted(rarest, key=lambda each: (rarest[each], each)):
        occurrences += rarest[each]
        if occurrences > _MOST_OCCURRENCES and wanted:
            break
        wanted.append(each)
    return opened.records_with_terms("runbook", wanted) if wanted else []


def _side_by_side(row: Row, pairs: Iterable[tuple[str, str]], codes: Iterable[str]) -> set[str]:
    """The terms of the pairs that stand together in a runbook, and of the codes that it has."""
    text = f" {' '.join(_lasting(f'{row.title_terms} {row.trigger_terms} {row.body_terms}'.split()))} "
    together = {term for left, right in pairs if f" {left} {right} " in text for term in (left, right)}
    return together.union(code for code in codes if f" {code} " in text)


def rarest_run(opened: Index, memory: Memory, lines: Iterable[str]) -> float:
    """How rare the rarest run of words is that a line of the output shares with the runbook."""
    steps = "\n".join((*memory.lines("steps"), memory.text("root_cause"), memory.text("verification")))
    text = _text((*_phrases(memory), steps[:_LONGEST_STEPS]))
    rarest = 0.0
    for line in lines:
        codes, located = _codes(line), _located(line)
        for run in _runs(_lasting(terms.stream(line)), text):
            distinctive = _distinctive(run) - located
            if not codes.isdisjoint(run) or (len(run) >= _FEWEST_TERMS and len(distinctive) > 1):
                rarest = max(rarest, sum(_weights(opened, distinctive, codes).values()))
    return rarest


def whole_phrase(opened: Index, memory: Memory, lines: Iterable[str]) -> float:
    """How rare the words of the runbook's rarest phrase are that the output has as a whole."""
    text = _text(lines)
    return max((_covered(opened, phrase, text) for phrase in _phrases(memory)), default=0.0)


def _phrases(memory: Memory) -> list[str]:
    """The phrases by which one recognises the situation."""
    phrases = (*memory.lines("symptoms"), *memory.triggers, memory.title, memory.text("trigger"))
    return [phrase[:_LONGEST_PHRASE] for phrase in phrases[:_MOST_PHRASES]]


def _covered(opened: Index, phrase: str, text: str) -> float:
    phrase = error_text.impersonal(phrase)
    stream, codes = _lasting(terms.stream(phrase)), _codes(phrase)
    runs = [run for run in _runs(stream, text) if len(run) > 1 or not codes.isdisjoint(run)]
    if not runs:
        return 0.0
    weights = _weights(opened, _distinctive(stream) - _located(phrase), codes)
    covered = sum(weights.get(term, 0.0) for term in {term for run in runs for term in run})
    return covered if covered >= _LEAST_COVERED * sum(weights.values()) else 0.0


def _text(lines: Iterable[str]) -> str:
    """The terms of some lines, each line apart."""
    return f" {' | '.join(' '.join(_lasting(terms.stream(line))) for line in lines)} "


def _located(text: str) -> set[str]:
    """The terms of paths and file names: they say where something happened, not what."""
    return {term for path in _PATH.findall(text) for term in terms.stream(path)} - _codes(text)


def _codes(text: str) -> frozenset[str]:
    names = (match.group(1) or match.group() for match in _CODE.finditer(text))
    return frozenset(term for name in names for term in terms.stream(name))


def _lasting(stream: Iterable[str]) -> list[str]:
    """Terms without counts and short numbered names, which differ from run to run: 7 files, gw3."""
    return [term for term in stream if len(term) > 3 or term.isalpha() or (len(term) == 3 and term.isdigit())]


def _runs(stream: list[str], text: str) -> list[list[str]]:
    """The runs of some terms that stand in a text in the same order, none within a longer one."""
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


def _distinctive(stream: Iterable[str]) -> set[str]:
    return {term for term in stream if len(term) > 1} - _EVERYDAY - query.ENGLISH


def _weights(opened: Index, distinctive: Collection[str], codes: Collection[str]) -> Mapping[str, float]:
    """How rare each term is, in units of inverse document frequency; the name of an error counts as two words."""
    counts = opened.term_counts(distinctive)
    records, _, _ = opened.totals()
    return {term: rarity(counts.get(term, (0, 0))[0], records) * (2 if term in codes else 1) for term in distinctive}
