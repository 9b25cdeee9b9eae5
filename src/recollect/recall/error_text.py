"""Failure: what a failing command printed, reduced to the words by which a runbook would be found."""

from __future__ import annotations

import re

LONGEST = 1_600
_MOST_LINES = 14
_LONGEST_LINE = 300

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
_SAID = re.compile(r"""\b(?:msg|message|err|error|reason)"?\s*[=:]\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))""")
_WRAPPING = re.compile(
    r"(?i)rpc error: code = \w+ desc = |\bdial (?:tcp|unix|udp)\b|\bcaller=\S+|\blevel=\w+|\bat \S+\(.*\)$|https?://\S+"
    r"|\b(?:get|post|put|patch|delete) \\?\"[^\"]*\\?\":?|\[(?:err|wrn|warn|error|info)\w*\]"
)
_IMPERSONAL = (
    (_WRAPPING, " "),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?[.,\d]*(?:Z|[+-]\d\d:?\d\d)?"), " "),
    (re.compile(r"\b\d\d:\d\d:\d\d[.,\d]*"), " "),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), " "),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b"), " "),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), " "),
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[\\/](?:[\w.@+~-]+[\\/])+(?=[\w.@+~-])"), " "),
    (re.compile(r":\d+(?::\d+)?\b"), " "),
    (re.compile(r"\b\d{5,}\b"), " "),
)
_SEARCHERS = frozenset(
    [
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "ack",
        "diff",
        "cmp",
        "test",
        "[",
        "which",
        "command",
        "type",
        "pgrep",
        "find",
    ]
)


def is_noise(command: str, error: str) -> bool:
    """Whether a failure says nothing: a search that found nothing, a comparison that differs, an interrupted run."""
    code, _, output = error.partition("\n")
    program = command.strip().split(" ", 1)[0].rsplit("/", 1)[-1]
    if code.strip() == "Exit code 1" and program in _SEARCHERS and len(output.strip()) < 200:
        return True
    return not output.strip()


def symptoms(error: str) -> str:
    """The telling lines of an error text, without what differs from run to run: times, paths, ids, addresses."""
    lines = [line.strip() for line in _ANSI.sub("", error.replace("\r", "\n")[-40_000:]).split("\n")]
    lines = [line for line in lines if line and not line.startswith("Exit code ")]
    telling = {number for number, line in enumerate(lines) if _MARKED.search(line)}
    last = set(range(max(len(lines) - 4, 0), len(lines)))
    wanted = sorted(telling)[-_MOST_LINES:] if telling else []
    kept = dict.fromkeys(impersonal(lines[number][:_LONGEST_LINE]) for number in sorted({*wanted, *last}))
    return "\n".join(kept)[-LONGEST:]


def impersonal(line: str) -> str:
    """What a line says, without what only this run or every line of that program has."""
    said = [quoted or bare for quoted, bare in _SAID.findall(line)]
    if said and ("level" in line or "msg" in line):
        line = " ".join(said).replace('\\"', '"')
    for pattern, instead in _IMPERSONAL:
        line = pattern.sub(instead, line)
    return " ".join(line.split())
