"""Rules: every setting there is, with its default, the values it takes, what it does, and who may set it."""

from __future__ import annotations

from recollect.categories import BY_NAME


class Rule:
    """One key: what values it takes, its default, what it does, and whether only the user may set it."""

    __slots__ = ("choices", "clamped", "default", "doc", "least", "most", "user_only")

    def __init__(
        self,
        default: object,
        doc: str,
        *,
        least: float = 0,
        most: float = 0,
        choices: tuple[str, ...] = (),
        user_only: bool = False,
        clamped: bool = False,
    ) -> None:
        self.default = default
        self.clamped = clamped
        self.doc = doc
        self.least = least
        self.most = most
        self.choices = choices
        self.user_only = user_only


RULES: dict[str, Rule] = {
    "retrieval.enabled": Rule(True, "Whether prompts, files and failures bring memories up at all."),
    "retrieval.max_inject": Rule(3, "How many memories one prompt may bring up; 0 is none.", least=0, most=20),
    "retrieval.max_tokens": Rule(300, "About how many tokens one prompt may be given.", least=50, most=2_000),
    "retrieval.match_strategy": Rule(
        "fts5_bm25",
        "How memories are found; `title_tags` is the keyword scorer of the earlier plugin.",
        choices=("fts5_bm25", "title_tags"),
    ),
    "retrieval.min_probability": Rule(
        0.0,
        "How probable it must be that a memory is relevant before it is injected; 0 means the measured default.",
        least=0,
        most=1,
    ),
    "retrieval.first_prompt_relief": Rule(
        0.1,
        "How much lower that bar is for the first prompt of a session, which states its goal.",
        least=0,
        most=0.5,
    ),
    "retrieval.first_prompt_budget": Rule(
        2.0, "By how much the first prompt's share of memories and tokens is larger.", least=1, most=4
    ),
    "retrieval.files": Rule(True, "Whether reading or editing a file brings up what is known about it."),
    "retrieval.failures": Rule(True, "Whether a failing command brings up the runbook for it."),
    "retrieval.judge.enabled": Rule(False, "Whether a small model has the last word.", user_only=True),
    "retrieval.judge.provider": Rule(
        "anthropic",
        "The shape of the requests: Anthropic Messages, or OpenAI chat completions (Ollama and most gateways).",
        choices=("anthropic", "openai"),
        user_only=True,
    ),
    "retrieval.judge.model": Rule("", "Which model is asked; empty is a small Claude.", user_only=True),
    "retrieval.judge.endpoint": Rule(
        "", "Address of the API; empty is ANTHROPIC_BASE_URL or OPENAI_BASE_URL, or the provider's own.", user_only=True
    ),
    "retrieval.judge.api_key_env": Rule(
        "",
        "Name of the environment variable that holds the key, never the key; empty is the provider's usual one.",
        user_only=True,
    ),
    "retrieval.judge.timeout_seconds": Rule(
        3.0, "How long a prompt may wait for the model, all in all.", least=0.1, most=4, user_only=True
    ),
    "retrieval.judge.daily_cap": Rule(
        500,
        "Requests a day (UTC) that prompts may cause; after that ranking decides alone.",
        least=0,
        most=100_000,
        user_only=True,
    ),
    "retrieval.judge.max_candidates": Rule(
        15, "How many memories the model is shown for one prompt.", least=1, most=30, user_only=True
    ),
    "retrieval.judge.certain_in": Rule(
        0.95,
        "A memory more probably relevant than this is kept without asking; 1 always asks.",
        least=0,
        most=1,
        user_only=True,
    ),
    "retrieval.judge.certain_out": Rule(
        0.05,
        "A memory less probably relevant than this is dropped without asking; 0 always asks.",
        least=0,
        most=1,
        user_only=True,
    ),
    "retrieval.judge.price_in": Rule(
        0.0,
        "Dollars for a million input tokens, where the model is not one whose price is known.",
        least=0,
        most=1_000,
        user_only=True,
    ),
    "retrieval.judge.price_out": Rule(0.0, "The same for output tokens.", least=0, most=1_000, user_only=True),
    "session_start.enabled": Rule(True, "Whether a session starts with a digest."),
    "session_start.relevance_weight": Rule(
        0.6, "How much relevance counts against prominence in the digest.", least=0, most=1
    ),
    "session_start.limit": Rule(20, "How many entries the digest may have.", least=1, most=100),
    "capture.mode": Rule(
        "propose",
        "What happens with what a session seems to have decided: nothing, a draft to review, or a record.",
        choices=("off", "propose", "auto"),
    ),
    "capture.max_offers": Rule(
        2, "How many things one session may be asked to save; 0 is none.", least=0, most=20, clamped=True
    ),
    "triage.max_messages": Rule(
        50, "How many of a session's last messages are searched.", least=10, most=200, clamped=True
    ),
    **{
        f"triage.thresholds.{category.name}": Rule(
            category.triage_bar,
            f"How sure triage must be before it offers a {category.name}.",
            least=0.1,
            most=1,
            clamped=True,
        )
        for category in BY_NAME.values()
    },
    "categories.*.enabled": Rule(True, "Whether the category is used at all."),
    "categories.*.auto_capture": Rule(True, "Whether sessions are searched for it."),
    "categories.*.retention_days": Rule(
        0, "Days after which a record is no longer injected and `gc` retires it; 0 is never.", least=0, most=36_500
    ),
    "categories.*.description": Rule("", "What the category is for in this project."),
    **{
        f"categories.{category.name}.max_retained": Rule(
            category.most_active, f"How many records of {category.name} stay active.", least=1, most=1_000
        )
        for category in BY_NAME.values()
        if category.most_active
    },
    "delete.grace_period_days": Rule(30, "Days a retired record is kept before `gc` deletes it.", least=0, most=36_500),
}


CONSENT: dict[str, tuple[object, ...]] = {
    "capture.mode": ("off", "propose", "auto"),
    "retrieval.enabled": (False, True),
    "retrieval.files": (False, True),
    "retrieval.failures": (False, True),
    "session_start.enabled": (False, True),
}
"""What a user consents to, from least to most: a project may lower what the user chose, never raise it."""


def general(key: str) -> str:
    """The rule a key falls under: `categories.runbook.enabled` is ruled by `categories.*.enabled`."""
    if key in RULES:
        return key
    parts = key.split(".")
    if len(parts) == 3 and parts[0] == "categories" and parts[1] in BY_NAME:
        return f"categories.*.{parts[2]}"
    return key
