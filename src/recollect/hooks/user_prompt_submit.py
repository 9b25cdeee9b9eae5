"""A prompt was typed: bring up the few memories that bear on it, or say nothing."""

from __future__ import annotations

from recollect import config, transcript
from recollect.hooks.event import Event, context


def handle(event: Event) -> str:
    prompt = event.text("prompt")
    if not prompt.strip() or event.in_subagent or is_skipped(prompt) or event.text("source") not in ("", "user", "sdk"):
        return ""
    settings = config.load(event.store)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from recollect import recall

    text = recall.for_prompt(
        recall.Stores(event.store, event.user_store),
        prompt,
        settings,
        session=event.session,
        transcript_path=event.text("transcript_path"),
    )
    return context("UserPromptSubmit", text) if text else ""


def is_skipped(prompt: str) -> bool:
    """Whether nobody wants memories for this prompt: our own commands, machine turns, or the user's word for it."""
    return prompt.lstrip().startswith("/memory:") or "#nomem" in prompt or transcript.is_machine_turn(prompt)
