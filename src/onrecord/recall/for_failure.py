"""The runbook for a command that has just failed, if one clearly is about that failure.

An error text is long and full of words that runbooks share; only an author who saw that error wrote the same run of
them. So a runbook is shown for what it quotes of the output.
"""

from __future__ import annotations

import re
from math import prod

from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.paths import PROJECT_PREFIX
from onrecord.recall.candidate import AT_FAILURE, Candidate, Cautions, count_shown, fitting_items, render_block
from onrecord.recall.stores import SearchedStore, Stores, distinct
from onrecord.search import query, rank, terms
from onrecord.search.candidates import Filter, rarity
from onrecord.session.ledger import Ledger
from onrecord.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from onrecord.record.memory import Memory
    from onrecord.search.index import Index, Row
    from onrecord.search.query import Query
    from onrecord.search.rank import Match
    from onrecord.settings import Settings


class QuotationThreshold(NamedTuple):
    """The lowest probability of a runbook, and the lowest rarity of the words that it quotes."""

    probability: float
    quoted: float
    """In units of inverse document frequency."""


RUN = QuotationThreshold(0.6, 6.0)
"""For a runbook that has a run of the output's words anywhere."""

PHRASE = QuotationThreshold(0.1, 7.0)
"""For a runbook whose symptom, trigger or title the output has as a whole: that says more than the other words."""

MAX_ERROR_CHARACTERS = 2_400
_HEAD_CHARACTERS = 800
_MAX_LINE_CHARACTERS = 300
_FIRST_LINES, _LAST_LINES, _END_LINES = 4, 10, 4
_SEARCH_PROGRAMS = frozenset("grep egrep fgrep rg ag ack diff cmp test [ which command type pgrep find".split())
_QUIET_PROGRAMS = _SEARCH_PROGRAMS | frozenset(
    "cd echo printf true false exit head tail wc sort uniq cat tee set".split()
)
"""Programs that say nothing about a failure when they are beside a search."""

_EXIT_CODE = "Exit code "
"""How a report begins in hosts that put the exit code on a line of its own; in others the output comes first."""

_SEPARATORS = re.compile(r"[;|&\n]+")
_IN_QUOTES = re.compile(r"'[^']*'|\"[^\"]*\"")
_ANSI = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
_ERROR_WORDS = re.compile(
    r"(?i)\b(?:error|err!|fatal|fail(?:ed|ure|ing)?|exception|panic(?:ked)?|denied|refused|cannot|could not|unable"
    r"|invalid|missing|no such|not found|not permitted|timed? ?out|timeout|unreachable|exceeded|killed|oom|abort(?:ed)?"
    r"|conflict|locked|mismatch|unexpected|unknown|critical|unhealthy|evicted|expired|exhausted"
    # German, French, Spanish, Portuguese, Italian: programs speak the language of the machine.
    r"|fehler\w*|fehlgeschlagen|gescheitert|abbruch|abgebrochen|verweigert|ungültig\w*|kann nicht|konnte nicht"
    r"|nicht gefunden|existiert nicht|keine berechtigung|zeitüberschreitung|erreur|échec|échoué|impossible|introuvable"
    r"|refusée?|falló|fallido|no se (?:puede|pudo|encontró)|denegado|falha|falhou|não encontrado|errore|fallito"
    r"|impossibile|non trovato|negato)\b"
    r"|\wError\b"
)
# Log lines wrap what happened in fields that every line of that program has.
_MESSAGE = re.compile(r"""\b(?:msg|message|err|error|reason)"?\s*[=:]\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))""")
_WRAPPING = (
    r"(?i)rpc error: code = \w+ desc = |\bdial (?:tcp|unix|udp)\b|\bcaller=\S+|\blevel=\w+|\bat \S+\(.*\)$|https?://\S+"
    r"|\b(?:get|post|put|patch|delete) \\?\"[^\"]*\\?\":?|\[(?:err|wrn|warn|error|info)\w*\]"
)
# Dates, times, UUIDs, addresses in memory and hashes, hosts, folders, positions in files, long numbers. The port stays:
# it tells which service did not answer.
_RUN_DETAILS = [
    re.compile(pattern)
    for pattern in (
        _WRAPPING,
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?[.,\d]*(?:Z|[+-]\d\d:?\d\d)?",
        r"\b\d\d:\d\d:\d\d[.,\d]*",
        r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
        r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b",
        r"(?:\b\d{1,3}(?:\.\d{1,3}){3}\b|\blocalhost\b|::1?)(?::(?=\d))?",
        r"(?<![\w.])(?:[A-Za-z]:)?[\\/](?:[\w.@+~-]+[\\/])+(?=[\w.@+~-])",
        r":\d+(?::\d+)?\b",
        r"\b\d{6,}\b",
    )
]

_MAX_TOKENS = 420
_FIRST_QUERIES, _LAST_QUERIES = 3, 7
_MIN_QUERY_TERMS = 4

_MIN_RUN_TERMS = 3
"""Terms of a run: two words are neighbours by chance, as in the name of a service."""

_MIN_COVERED = 0.75
"""The share of a phrase that the output must have; names and numbers in it differ from run to run."""

_MAX_PHRASES, _MAX_PHRASE_CHARACTERS, _MAX_STEPS_CHARACTERS = 40, 300, 20_000
_MAX_OCCURRENCES = 600
"""Records with the same words that are looked at before commoner words are left out: what bounds a large store."""

_MAX_RUNBOOKS, _MAX_OPENED, _MAX_HEAVY_RUN = 200, 12, 8
"""Runbooks whose terms are compared, those of them that are read, and terms of a run that is looked for as a whole."""

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
"""Names of errors: TS2345, E0382, SQLSTATE 40001, 55P03, and those of the operating system."""

_BEFORE_CODES = ("sqlstate", "code", "errno")
_PATH = re.compile(r"\S*[/\\]\S*|\b[\w-]+\.[A-Za-z]\w{0,4}\b")


def block(stores: Stores, command: str, error: str, settings: Settings, session: str) -> str:
    """Return the block for a failure, once per session; empty if no runbook is clearly about it."""
    runbook = None if is_noise(command, error) else best(stores, error_lines(error), settings)
    if runbook is None:
        return ""
    with Ledger(session) as ledger:
        key = f"remedy:{runbook.record}"
        if ledger.has_shown(key, runbook.text_hash):
            return ""
        ledger.add_shown(key, runbook.text_hash)
        ledger.add_shown(runbook.record, runbook.text_hash)
    count_shown([runbook], AT_FAILURE)
    item = Cautions().beside(runbook).item
    steps = _steps(runbook.match) if runbook.is_accepted else ""
    # It is shown for what it quotes, not for how probable the words of the whole output make it.
    item = item._replace(text=steps or item.text, confidence="")
    return render_block(fitting_items([item], _MAX_TOKENS), PROJECT_PREFIX)


def is_noise(command: str, error: str) -> bool:
    """True if a failure says nothing: a search without a result, a comparison that differs, an interrupted run."""
    code, _, output = error.partition("\n") if error.startswith(_EXIT_CODE) else ("", "", error)
    parts = _SEPARATORS.split(_IN_QUOTES.sub("''", command))
    programs = {part.strip().split(" ", 1)[0].rsplit("/", 1)[-1] for part in parts if part.strip()}
    is_search = not programs.isdisjoint(_SEARCH_PROGRAMS) and programs <= _QUIET_PROGRAMS
    if code.strip() == "Exit code 1" and is_search and len(output.strip()) < 200:
        return True
    return not output.strip()


def error_lines(error: str) -> str:
    """Return the lines of an error text that matter, without what differs between runs: times, paths, ids, addresses.

    The first errors are kept too: what follows them is often their consequence.
    """
    lines = [line.strip() for line in _ANSI.sub("", error.replace("\r", "\n")[-40_000:]).split("\n")]
    lines = [line for line in lines if line and not line.startswith(_EXIT_CODE)]
    error_numbers = [number for number, line in enumerate(lines) if _ERROR_WORDS.search(line)]
    last = range(max(len(lines) - _END_LINES, 0), len(lines))
    numbers = sorted({*error_numbers[:_FIRST_LINES], *error_numbers[-_LAST_LINES:], *last})
    text = "\n".join(dict.fromkeys(without_run_details(lines[number][:_MAX_LINE_CHARACTERS]) for number in numbers))
    return (
        text
        if len(text) <= MAX_ERROR_CHARACTERS
        else f"{text[:_HEAD_CHARACTERS]}\n{text[_HEAD_CHARACTERS + 1 - MAX_ERROR_CHARACTERS :]}"
    )


def without_run_details(line: str) -> str:
    """Return a line without what only this run, or every line of that program, has."""
    messages = [quoted or bare for quoted, bare in _MESSAGE.findall(line)]
    if messages and ("level" in line or "msg" in line):
        line = " ".join(messages).replace('\\"', '"')
    for pattern in _RUN_DETAILS:
        line = pattern.sub(" ", line)
    return " ".join(line.split())


def best(stores: Stores, symptoms: str, settings: Settings) -> Candidate | None:
    """Return the runbook that quotes the output: a whole phrase, or else a run of words; the most probable."""
    lines = symptoms.split("\n")
    queries: list[Query] = []
    candidates: list[Candidate] = []
    with_phrase: set[str] = set()
    for store in stores.in_turn():
        for candidate, threshold in store.attempt(_quoting_runbooks, symptoms, lines, queries, settings):
            candidates.append(candidate)
            with_phrase.update([candidate.record] if threshold is PHRASE else [])
    runbooks = sorted(
        distinct(candidates), key=lambda runbook: (runbook.record not in with_phrase, -runbook.match.probability)
    )
    return runbooks[0] if runbooks else None


def _quoting_runbooks(
    searched_store: SearchedStore, symptoms: str, lines: list[str], queries: list[Query], settings: Settings
) -> list[tuple[Candidate, QuotationThreshold]]:
    """Return the runbooks of one store that reach a threshold, each with it; `queries` is filled when first needed."""
    index = searched_store.open()
    if not any(_quotes(index, path, lines) for path in index.run(may_quote, lines, RUN.quoted, hook=True)):
        return []
    if not queries:
        queries += [query.parse(text) for text in (symptoms, *_queries(lines))]
    filter = Filter("auto", ("runbook",), settings=settings, fits=searched_store.fits)
    quoting = {match.path: (match, _quoting(index, match, lines)) for match in _matches(index, queries, filter)}
    visible = searched_store.visible(match for match, threshold in quoting.values() if threshold)
    return [(candidate, threshold) for candidate in visible if (threshold := quoting[candidate.match.path][1])]


def _queries(lines: list[str]) -> list[str]:
    """Return the lines with something to search for: the first errors and the end."""
    queries = [line for line in lines if len(set(terms.stream(line))) >= _MIN_QUERY_TERMS]
    return queries[:_FIRST_QUERIES] + queries[_FIRST_QUERIES:][-_LAST_QUERIES:]


def _matches(index: Index, queries: list[Query], filter: Filter) -> list[Match]:
    """Return the matches for any of `queries`, each with its highest probability."""
    by_path: dict[str, Match] = {}
    for line_query in queries:
        for match in rank.find(index, line_query, filter, limit=3):
            earlier = by_path.get(match.path)
            if match.probability >= PHRASE.probability and (earlier is None or earlier.probability < match.probability):
                by_path[match.path] = match
    return list(by_path.values())


def _quoting(index: Index, match: Match, lines: list[str]) -> QuotationThreshold | None:
    """Return the threshold that a runbook reaches, if any."""
    memory = _read(match.root, match.path)
    if memory is None:
        return None
    if whole_phrase(index, memory, lines) >= PHRASE.quoted:
        return PHRASE
    is_probable = match.probability >= RUN.probability
    return RUN if is_probable and rarest_run(index, memory, lines) >= RUN.quoted else None


def _read(store_root: str, path: str) -> Memory | None:
    try:
        return Store(store_root).read(path).memory
    except OnrecordError:
        return None


def _steps(match: Match) -> str:
    """Return the steps of a runbook in full, in place of the summary that a prompt is shown."""
    memory = _read(match.root, match.path)
    if memory is None:
        return ""
    cause = memory.text("root_cause").rstrip(".")
    steps = " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(memory.lines("steps"), 1))
    text = f"{memory.title}. {f'Cause: {cause}. ' if cause else ''}{steps} Check: {memory.text('verification')}"
    return f"({match.mark}) {text}" if match.mark else text


def may_quote(index: Index, lines: Sequence[str], min_weight: float) -> list[str]:
    """Return the paths of the runbooks that may quote the output, by the index alone, the likeliest first.

    What quotes it has two terms side by side as a line has them, one of them distinctive; or it has the error's name.
    """
    streams = [_lasting(terms.stream(line)) for line in lines]
    # The runbook may say `code 40001` where the output has the number alone.
    numbers = {term for stream in streams for term in stream if 4 <= len(term) <= 6 and not term.isalpha()}
    codes = frozenset[str]().union(*map(_codes, lines))
    weights = _weights(index, _distinctive(term for stream in streams for term in stream), codes | numbers)
    pairs = {pair for stream in streams for pair in zip(stream, stream[1:]) if not weights.keys().isdisjoint(pair)}
    pairs.update((marker, number) for marker in _BEFORE_CODES for number in numbers)
    runs = {run for stream in streams for run in _heavy_runs(stream, weights, min_weight)}
    rows = _runbooks(index, [*runs, *pairs, *((code,) for code in codes)])
    by_weight = [(sum(weights.get(term, 0.0) for term in _side_by_side(row, pairs, codes)), row.path) for row in rows]
    return [path for weight, path in sorted(by_weight, reverse=True)[:_MAX_OPENED] if weight >= min_weight]


def _quotes(index: Index, path: str, lines: Sequence[str]) -> bool:
    """True if a runbook quotes the output, whatever its probability: a search in a large store takes far longer."""
    memory = _read(index.root, path)
    if memory is None:
        return False
    return whole_phrase(index, memory, lines) >= PHRASE.quoted or rarest_run(index, memory, lines) >= RUN.quoted


def _heavy_runs(
    stream: Sequence[str], term_weights: Mapping[str, float], min_weight: float
) -> Iterator[tuple[str, ...]]:
    """Yield the shortest runs of terms that are rare enough together: what quotes common words has one of these."""
    for start in range(len(stream)):
        weight = 0.0
        for end in range(start, min(start + _MAX_HEAVY_RUN, len(stream))):
            weight += term_weights.get(stream[end], 0.0)
            if weight >= min_weight:
                yield tuple(stream[start : end + 1])
                break


def _runbooks(index: Index, together: Iterable[tuple[str, ...]]) -> list[Row]:
    """Return the active runbooks that have all terms of one of the tuples, the rarest first, within a bound."""
    tuples = list(together)
    counts = index.term_counts({term for group in tuples for term in group})
    records = max(index.totals()[0], 1)
    expected: dict[tuple[str, ...], float] = {}
    for group in tuples:
        if all(term in counts for term in group):
            shares = sorted(counts[term][0] / records for term in set(group))
            # Terms come together more often than by chance; the more of them, the less that says.
            expected[group] = records * prod([shares[0], *(share**0.5 for share in shares[1:])])
    groups, occurrences = list[tuple[str, ...]](), 0.0
    for group in sorted(expected, key=lambda group: (expected[group], group)):
        occurrences += expected[group]
        if occurrences > _MAX_OCCURRENCES and groups:
            break
        groups.append(group)
    return index.records_with_terms("runbook", groups, _MAX_RUNBOOKS) if groups else []


def _side_by_side(row: Row, pairs: Iterable[tuple[str, str]], codes: Iterable[str]) -> set[str]:
    """Return the terms of the pairs that are neighbours in a runbook, and the codes that it has."""
    row = row.respelled()
    text = f" {' '.join(_lasting(f'{row.title_terms} {row.trigger_terms} {row.body_terms}'.split()))} "
    together = {term for first, second in pairs if f" {first} {second} " in text for term in (first, second)}
    return together.union(code for code in codes if f" {code} " in text)


def rarest_run(index: Index, memory: Memory, lines: Iterable[str]) -> float:
    """Return how rare the rarest run of words is that a line of the output shares with the runbook."""
    steps = "\n".join((*memory.lines("steps"), memory.text("root_cause"), memory.text("verification")))
    text = _text((*_phrases(memory), steps[:_MAX_STEPS_CHARACTERS]))
    rarest = 0.0
    for line in lines:
        codes, located = _codes(line), _located(line)
        for run in _runs(_lasting(terms.stream(line)), text):
            distinctive = _distinctive(run) - located
            if not codes.isdisjoint(run) or (len(run) >= _MIN_RUN_TERMS and len(distinctive) > 1):
                rarest = max(rarest, sum(_weights(index, distinctive, codes).values()))
    return rarest


def whole_phrase(index: Index, memory: Memory, lines: Iterable[str]) -> float:
    """Return how rare the words of the runbook's rarest phrase are that is in the output as a whole."""
    text = _text(lines)
    return max((_covered(index, phrase, text) for phrase in _phrases(memory)), default=0.0)


def _phrases(memory: Memory) -> list[str]:
    """Return the phrases that describe the situation."""
    phrases = (*memory.lines("symptoms"), *memory.triggers, memory.title, memory.text("trigger"))
    return [phrase[:_MAX_PHRASE_CHARACTERS] for phrase in phrases[:_MAX_PHRASES]]


def _covered(index: Index, phrase: str, text: str) -> float:
    phrase = without_run_details(phrase)
    stream, codes = _lasting(terms.stream(phrase)), _codes(phrase)
    runs = [run for run in _runs(stream, text) if len(run) > 1 or not codes.isdisjoint(run)]
    if not runs:
        return 0.0
    weights = _weights(index, _distinctive(stream) - _located(phrase), codes)
    covered = sum(weights.get(term, 0.0) for term in {term for run in runs for term in run})
    return covered if covered >= _MIN_COVERED * sum(weights.values()) else 0.0


def _text(lines: Iterable[str]) -> str:
    """Return the terms of lines as one text, each line apart."""
    return f" {' | '.join(' '.join(_lasting(terms.stream(line))) for line in lines)} "


def _located(text: str) -> set[str]:
    """Return the terms of paths and file names: they tell where something happened, not what."""
    return {term for path in _PATH.findall(text) for term in terms.stream(path)} - _codes(text)


def _codes(text: str) -> frozenset[str]:
    names = (match.group(1) or match.group() for match in _CODE.finditer(text))
    return frozenset(term for name in names for term in terms.stream(name))


def _lasting(stream: Iterable[str]) -> list[str]:
    """Return terms without counts and short numbered names, which differ between runs: 7 files, gw3."""
    return [term for term in stream if len(term) > 3 or term.isalpha() or (len(term) == 3 and term.isdigit())]


def _runs(stream: list[str], text: str) -> list[list[str]]:
    """Return the runs of terms that are in a text in the same order, none within a longer one."""
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


def _weights(index: Index, distinctive: Collection[str], codes: Collection[str]) -> Mapping[str, float]:
    """Return how rare each term is, in inverse document frequency; the name of an error counts as two words."""
    counts = index.term_counts(distinctive)
    records, _, _ = index.totals()
    return {term: rarity(counts.get(term, (0, 0))[0], records) * (2 if term in codes else 1) for term in distinctive}
