"""`recollect judge test`: whether the configured model answers, how fast, at what cost, and whether it judges well."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any, NamedTuple

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean
from recollect.errors import ModelFailed
from recollect.judge import judge, limits, provider
from recollect.judge.api import Model
from recollect.judge.hearing import Ruling
from recollect.record.secrets import redacted
from recollect.settings import Settings, load_settings

PATIENCE = 30.0
"""Seconds a person waits to learn that a model is too slow."""


class Sample(NamedTuple):
    """A memory of the sample question."""

    id: str
    title: str
    category: str
    tags: tuple[str, ...]
    essence: str
    probability: float = 0.5


PROMPT = "The payment webhook sometimes arrives twice. Make the handler in billing/webhooks.py safe against that."
SAMPLES = (
    Sample(
        "release-notes-in-german",
        "Release notes are written in German",
        "preference",
        ("docs", "release"),
        "Release notes for customers are written in German, informal, with one sentence for each change.",
    ),
    Sample(
        "webhooks-idempotent-by-event-id",
        "Webhook handlers are idempotent by event id",
        "decision",
        ("billing", "webhooks"),
        "Every webhook handler stores the provider's event id in webhook_event (unique) in the same transaction and "
        "does nothing when it is there already.",
    ),
    Sample(
        "staging-database-runs-out-of-connections",
        "Staging database runs out of connections",
        "runbook",
        ("database", "staging"),
        "Too many connections on staging → 1. Restart pgbouncer. 2. Check the pool size of the preview deployments.",
    ),
)
RIGHT = [1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("test",), help="ask the configured model one sample question")


def run(args: argparse.Namespace) -> Answer:
    settings = load_settings(store_args.store_of(args).root)
    model = provider.model(settings)
    try:
        ruling = judge.asking(model)(PROMPT, SAMPLES, (), time.monotonic() + PATIENCE)
    except ModelFailed as error:
        raise ModelFailed(_explained(error, model), fix=error.fix) from error
    data = _report(settings, model, ruling)
    return Answer(data, lambda screen: _text(screen, data), 0 if data["in_time"] and data["right"] else 1)


def _explained(error: ModelFailed, model: Model) -> str:
    """What went wrong, where, and what the server said about it, without the key in case it repeats that."""
    said = _message(error.detail)
    for name in ("x-api-key", "Authorization"):
        said = said.replace(model.headers.get(name, "\0").removeprefix("Bearer "), "…")
    said = clean(redacted(said))[:300].strip()
    return f"{model.name} at {model.place}: {error.message}" + (f": {said}" if said else "")


def _message(detail: str) -> str:
    try:
        error = json.loads(detail)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return detail


def _report(settings: Settings, model: Model, ruling: Ruling) -> dict[str, Any]:
    limit = settings.number("retrieval.judge.timeout_seconds")
    return {
        "enabled": judge.is_on(settings),
        "provider": model.provider,
        "model": model.name,
        "endpoint": model.place,
        "key_from": model.key_from,
        "seconds": round(ruling.seconds, 3),
        "limit_seconds": limit,
        "in_time": ruling.seconds <= limit,
        "kept": [SAMPLES[at].id for at in ruling.kept],
        "right": list(ruling.kept) == RIGHT,
        "tokens_in": ruling.tokens_in,
        "tokens_out": ruling.tokens_out,
        "dollars": model.cost(ruling.tokens_in, ruling.tokens_out),
        "requests_today": limits.used(),
        "daily_cap": settings.count("retrieval.judge.daily_cap"),
    }


def _text(screen: Screen, data: dict[str, Any]) -> str:
    key = f"key from {data['key_from']}" if data["key_from"] else "no key"
    judged = "kept the right one of three sample notes" if data["right"] else _wrong(screen, data)
    slow = "" if data["in_time"] else screen.paint(": too slow, prompts would go on without it", "red")
    lines = [
        clean(f"{data['model']} at {data['endpoint']} ({key})"),
        f"answered in {data['seconds']:.2f} s, limit {data['limit_seconds']:g} s{slow}",
        judged,
        f"{data['tokens_in']} tokens in, {data['tokens_out']} out: {_price(data['dollars'])}",
        f"{data['requests_today']} of {data['daily_cap']} requests used today by prompts",
    ]
    if not data["enabled"]:
        lines.append("the judge is off; to use it: recollect config set --user retrieval.judge.enabled true")
    return "\n".join(lines)


def _wrong(screen: Screen, data: dict[str, Any]) -> str:
    kept = ", ".join(data["kept"]) or "none"
    return screen.paint(f"misjudged the sample: kept {kept}; a better model is needed", "red")


def _price(dollars: float | None) -> str:
    if dollars is None:
        return "price not known (retrieval.judge.price_in and price_out tell it)"
    return f"${dollars:.6f}, so a dollar pays for {int(1 / dollars):,} such requests" if dollars else "free"
