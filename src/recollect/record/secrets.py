"""Credentials that must not be written to a file other people will read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Leak(NamedTuple):
    """A credential found in a record: in which field, what kind, and enough of it to recognise."""

    where: str
    kind: str
    masked: str

    def __str__(self) -> str:
        return f"{self.where} carries {self.kind} ({self.masked})"


_KINDS: tuple[tuple[str, str], ...] = (
    ("an AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("an AWS secret key", r"(?i)aws.{0,20}secret.{0,20}['\"=:\s]([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})\b"),
    ("a GitLab token", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,}"),
    ("a Stripe key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("a Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a Google OAuth secret", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}"),
    ("a Twilio key", r"\bSK[0-9a-f]{32}\b"),
    ("a DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    ("a Databricks token", r"\bdapi[0-9a-f]{32}\b"),
    ("a Telegram bot token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    ("an Azure storage key", r"(?i)AccountKey=([A-Za-z0-9+/]{80,}={0,2})"),
    ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("a JSON web token", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("a URL with a password", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@'\"]{0,100}:([^\s/@'\"]{3,200})@[^\s/@'\"]"),
    (
        "a password",
        r"(?i)\b(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)\b['\"]?\s*[:=]\s*"
        r"['\"]([^\s'\"]{8,200})['\"]",
    ),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:.{0,3}|[x*.•…-]+|<.*>|\$.*|\{.*\}|%.*|.*(?:example|placeholder|changeme|redacted|dummy|your[_-]).*"
    r"|pass(?:word|wd)?|pwd|secret|token|user|test)$"
)


def leaks(value: Any, where: str = "") -> Iterator[Leak]:
    """Every credential in a JSON value, with the path of the field it stands in."""
    if isinstance(value, str):
        yield from _in_text(value, where)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            in_key = list(leaks(key, f"a key of {where or 'the record'}"))
            yield from in_key
            yield from leaks(item, f"{where}.{mask(key) if in_key else key}".strip("."))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from leaks(item, f"{where}[{number}]")


def _in_text(text: str, where: str) -> Iterator[Leak]:
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            found = match.group(match.lastindex or 0)
            if not _PLACEHOLDER.match(found):
                yield Leak(where, kind, mask(found))
                return


def mask(secret: str) -> str:
    """A credential with all but its first characters hidden."""
    first = secret.strip().split("\n")[0]
    return first[:4] + "…" if len(first) > 8 else "…"


def redacted(text: str) -> str:
    """A text with every credential in it masked."""
    text = _PRIVATE_KEY.sub("(a private key)", text)
    for _, pattern in _PATTERNS:
        text = pattern.sub(_masked, text)
    return text


def _masked(match: re.Match[str]) -> str:
    found = match.group(match.lastindex or 0)
    return match.group() if _PLACEHOLDER.match(found) else match.group().replace(found, mask(found))
