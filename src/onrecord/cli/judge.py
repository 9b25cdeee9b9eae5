"""`onrecord judge test`: whether the configured model answers, how fast, and whether it judges well."""

from __future__ import annotations

import argparse
import json
from typing import Any

from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.cli.progress import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import ModelFailed, NoModel
from onrecord.recall import judge, judge_api
from onrecord.recall.judge import Opinion
from onrecord.recall.judge_api import Model
from onrecord.record.secrets import redact
from onrecord.settings import Settings, load_settings

PATIENCE = 30.0
"""Seconds a person waits to learn that a model is too slow."""


class Sample(NamedTuple):
    """A record of the sample question."""

    id: str
    title: str
    category: str
    tags: tuple[str, ...]
    summary_line: str
    probability: float = 0.5


PROMPT = "The payment webhook sometimes arrives twice. Make the handler in billing/webhooks.py safe against that."
_GERMAN = "Release notes for customers are written in German, informal, with one sentence for each change."
_EVENT_ID = (
    "Every webhook handler stores the provider's event id in webhook_event (unique) in the same transaction and "
    "does nothing when it is there already."
)
_POOL = "Too many connections on staging → 1. Restart pgbouncer. 2. Check the pool size of the preview deployments."
_TITLES = {
    "release-notes-in-german": "Release notes are written in German",
    "webhooks-idempotent-by-event-id": "Webhook handlers are idempotent by event id",
    "staging-database-runs-out-of-connections": "Staging database runs out of connections",
}
_KINDS = (
    ("preference", ("docs", "release"), _GERMAN),
    ("decision", ("billing", "webhooks"), _EVENT_ID),
    ("runbook", ("database", "staging"), _POOL),
)
SAMPLES: Any = tuple(Sample(id, title, *rest) for (id, title), rest in zip(_TITLES.items(), _KINDS))
RIGHT = ["webhooks-idempotent-by-event-id"]
_TURN_ON = "onrecord config set --user retrieval.judge.enabled true"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("test",), help="ask the configured model one sample question")


def run(args: argparse.Namespace) -> CommandResult:
    settings = load_settings(arguments.store_of(args).root)
    if not judge.is_on(settings):
        raise NoModel("the judge is off, so no model is asked", fix=_TURN_ON)
    model = judge_api.configured_model(settings)
    opinion = Opinion(SAMPLES, Settings())
    with Progress(f"asking {clean(model.name)}"):
        judge.collect(opinion, PROMPT, (), judge.batch_judge(model), PATIENCE)
    for failure in opinion.failures:
        raise ModelFailed(_explained(failure, model), fix=failure.fix)
    data = _report(settings, model, opinion)
    return CommandResult(data, lambda screen: _text(screen, data), 0 if data["in_time"] and data["right"] else 1)


def _explained(error: ModelFailed, model: Model) -> str:
    """What went wrong, where, and what the server replied, without the key in case it repeats that."""
    reply = _message(error.detail)
    for name in ("x-api-key", "Authorization"):
        reply = reply.replace(model.headers.get(name, "\0").removeprefix("Bearer "), "…")
    reply = clean(redact(reply))[:300].strip()
    return f"{model.name} at {model.address}: {error.message}" + (f": {reply}" if reply else "")


def _message(detail: str) -> str:
    try:
        error = json.loads(detail)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return detail


def _report(settings: Settings, model: Model, opinion: Opinion) -> dict[str, Any]:
    limit = settings.number("retrieval.judge.timeout_seconds")
    shown = [sample.id for sample, outcome in zip(SAMPLES, opinion.outcomes) if outcome == judge.KEPT]
    return {
        "provider": model.provider,
        "model": model.name,
        "endpoint": model.address,
        "key_from": model.key_from,
        "seconds": round(opinion.seconds, 3),
        "limit_seconds": limit,
        "in_time": opinion.seconds <= limit,
        "kept": shown,
        "right": shown == RIGHT,
        "tokens_in": opinion.tokens_in,
        "tokens_out": opinion.tokens_out,
        "requests_today": judge_api.requests_today(),
        "daily_cap": settings.count("retrieval.judge.daily_cap"),
    }


def _text(screen: Screen, data: dict[str, Any]) -> str:
    key = f"key from {data['key_from']}" if data["key_from"] else "no key"
    judged = "kept the right one of three sample notes" if data["right"] else _wrong(screen, data)
    slow = "" if data["in_time"] else screen.paint(": too slow, prompts would go on without it", "red")
    return "\n".join(
        [
            clean(f"{data['model']} at {data['endpoint']} ({key})"),
            f"answered in {data['seconds']:.2f} s, limit {data['limit_seconds']:g} s{slow}",
            judged,
            f"{data['tokens_in']} tokens in, {data['tokens_out']} out",
            f"{data['requests_today']} of {data['daily_cap']} requests used today by prompts",
        ]
    )


def _wrong(screen: Screen, data: dict[str, Any]) -> str:
    names = ", ".join(data["kept"]) or "none"
    return screen.paint(f"misjudged the sample: kept {names}; a better model is needed", "red")
