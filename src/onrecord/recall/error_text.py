"""The output of a failed command, reduced to the words by which a runbook would be found."""

from __future__ import annotations

import re

MAX_CHARACTERS = 2_400
_HEAD = 800
_MAX_LINE_CHARACTERS = 300
_FIRST_LINES, _LAST_LINES, _END = 4, 10, 4
_SEARCHERS = frozenset("grep egrep fgrep rg ag ack diff cmp test [ which command type pgrep find".split())
_QUIET = _SEARCHERS | frozenset("cd echo printf true false exit head tail wc sort uniq cat tee set".split())
"""Programs that say nothing about a failure when they are beside a search."""

_SEPARATORS = re.compile(r"[;|&\n]+")
_IN_QUOTES = re.compile(r"'[^']*'|\"[^\"]*\"")
_ANSI = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
_MARKED = re.compile(
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
_IMPERSONAL = [
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


def is_noise(command: str, error: str) -> bool:
    """True if a failure says nothing: a search without a result, a comparison that differs, an interrupted run."""
    code, _, output = error.partition("\n")
    parts = _SEPARATORS.split(_IN_QUOTES.sub("''", command))
    programs = {part.strip().split(" ", 1)[0].rsplit("/", 1)[-1] for part in parts if part.strip()}
    is_search = not programs.isdisjoint(_SEARCHERS) and programs <= _QUIET
    if code.strip() == "Exit code 1" and is_search and len(output.strip()) < 200:
        return True
    return not output.strip()


def symptoms(error: str) -> str:
    """Return the lines of an error text that matter, without what differs between runs: times, paths, ids, addresses.

    The first errors are kept too: what follows them is often their consequence.
    """
    lines = [line.strip() for line in _ANSI.sub("", error.replace("\r", "\n")[-40_000:]).split("\n")]
    lines = [line for line in lines if line and not line.startswith("Exit code ")]
    marked = [number for number, line in enumerate(lines) if _MARKED.search(line)]
    last = range(max(len(lines) - _END, 0), len(lines))
    numbers = sorted({*marked[:_FIRST_LINES], *marked[-_LAST_LINES:], *last})
    text = "\n".join(dict.fromkeys(impersonal(lines[number][:_MAX_LINE_CHARACTERS]) for number in numbers))
    return text if len(text) <= MAX_CHARACTERS else f"{text[:_HEAD]}\n{text[_HEAD + 1 - MAX_CHARACTERS :]}"


def impersonal(line: str) -> str:
    """Return a line without what only this run, or every line of that program, has."""
    messages = [quoted or bare for quoted, bare in _MESSAGE.findall(line)]
    if messages and ("level" in line or "msg" in line):
        line = " ".join(messages).replace('\\"', '"')
    for pattern in _IMPERSONAL:
        line = pattern.sub(" ", line)
    return " ".join(line.split())
