"""A prompt was typed: bring up the few memories that bear on it, or say nothing."""

from __future__ import annotations

from recollect import config
from recollect.hooks.event import Event, context
from recollect.session import transcript


def handle(event: Event) -> str:
    prompt = event.text("prompt")
    if not prompt.strip() or event.in_subagent or event.text("source") not in ("", "user", "sdk"):
        return ""
    if transcript.wants_silence(prompt):
        return ""
    settings = config.load(event.store)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from recollect.agent import recall

    text = recall.for_prompt(
        recall.Stores(event.store, event.user_store),
        prompt,
        settings,
        session=event.session,
        transcript_path=event.text("transcript_path"),
    )
    return context("UserPromptSubmit", text) if text else ""
