"""`onrecord judge test`: ask the configured model a sample question, and check its speed and its verdict."""

from __future__ import annotations

import argparse
import json
from typing import Any

from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.cli.terminal import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import ModelFailed, NoModel
from onrecord.recall import judge, judge_api
from onrecord.recall.judge import Opinion
from onrecord.recall.judge_api import Model
from onrecord.record.secrets import redact
from onrecord.settings import Settings, load_settings

PATIENCE = 30.0
"""Seconds to wait for the model: longer than the setting allows, to show how slow it is."""


class Sample(NamedTuple):
    """One of the records that the sample question is about."""

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
        raise ModelFailed(_error_message(failure, model), fix=failure.fix)
    data = _report(settings, model, opinion)
    return CommandResult(data, lambda screen: _text(screen, data), 0 if data["in_time"] and data["right"] else 1)


def _error_message(error: ModelFailed, model: Model) -> str:
    """Return the model, its address, the error and the server's reply, with the API key removed from it."""
    reply = _reply_text(error.detail)
    for name in ("x-api-key", "Authorization"):
        reply = reply.replace(model.headers.get(name, "\0").removeprefix("Bearer "), "…")
    reply = clean(redact(reply))[:300].strip()
    return f"{model.name} at {model.address}: {error.message}" + (f": {reply}" if reply else "")


def _reply_text(detail: str) -> str:
    try:
        error = json.loads(detail)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return detail


def _report(settings: Settings, model: Model, opinion: Opinion) -> dict[str, Any]:
    limit = settings.number("retrieval.judge.timeout_seconds")
    ids = [sample.id for sample, outcome in zip(SAMPLES, opinion.outcomes) if outcome == judge.KEPT]
    return {
        "provider": model.provider,
        "model": model.name,
        "endpoint": model.address,
        "key_from": model.key_from,
        "seconds": round(opinion.seconds, 3),
        "limit_seconds": limit,
        "in_time": opinion.seconds <= limit,
        "kept": ids,
        "right": ids == RIGHT,
        "tokens_in": opinion.tokens_in,
        "tokens_out": opinion.tokens_out,
        "requests_today": judge_api.requests_today(),
        "daily_cap": settings.count("retrieval.judge.daily_cap"),
    }


def _text(screen: Screen, data: dict[str, Any]) -> str:
    key = f"key from {data['key_from']}" if data["key_from"] else "no key"
    verdict = "kept the right one of three sample records" if data["right"] else _wrong(screen, data)
    slow = "" if data["in_time"] else screen.paint(": too slow, so prompts would be answered without it", "red")
    return "\n".join(
        [
            clean(f"{data['model']} at {data['endpoint']} ({key})"),
            f"answered in {data['seconds']:.2f} s, limit {data['limit_seconds']:g} s{slow}",
            verdict,
            f"{data['tokens_in']} tokens in, {data['tokens_out']} out",
            f"{data['requests_today']} of {data['daily_cap']} requests used today by prompts",
        ]
    )


def _wrong(screen: Screen, data: dict[str, Any]) -> str:
    names = ", ".join(data["kept"]) or "none"
    return screen.paint(f"wrong verdict on the sample: kept {names}; use a better model", "red")
