"""The table of settings: default, purpose, range and owner of each key, and the keys of earlier versions."""

from __future__ import annotations

from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Setting(NamedTuple):
    """One key: its default, purpose and range, and whether only the user may set it."""

    default: object
    doc: str
    minimum: float = 0
    maximum: float = 0
    choices: tuple[str, ...] = ()
    user_only: bool = False
    is_exact: bool = False
    """True if a number out of range is not replaced by the nearest one in range but by the default."""


def _user_only(
    default: object, doc: str, minimum: float = 0, maximum: float = 0, choices: tuple[str, ...] = ()
) -> Setting:
    return Setting(default, doc, minimum, maximum, choices, user_only=True)


class Direction(NamedTuple):
    """The way in which a project's config may change a setting, from the user's value or the default."""

    way: str
    """`down`, `up`, `any`, `part` (of a list of names), or `none` for what only the user may set."""
    refused: str
    """What the other way would be: more risky, more hidden or more costly."""
    effect: str = ""
    """What a change in the allowed way does: it hides, adds or reorders what is shown, or renews a project's file."""

    @property
    def verb(self) -> str:
        return {"down": "lower", "up": "raise"}.get(self.way, "leave")


_USER_ONLY = Direction("none", "more risky")
_LESS_RISK = Direction("down", "more risky", "hides")
_LESS_COST = Direction("down", "more costly", "hides")
_STRICTER = Direction("up", "more costly", "hides")
_KEPT_LONGER = Direction("up", "more hidden", "adds")
_ADDITION = Direction("any", "", "adds")

BY_RECORD = "checks.by_record."
ENFORCEMENT = ("warn", "ask", "deny")
"""What a broken check does, from least to most."""

SETTINGS: dict[str, Setting] = {
    "retrieval.enabled": Setting(True, "Whether records are shown at prompts, files and failed commands."),
    "retrieval.max_inject": Setting(
        3,
        "How many records one prompt may get; 0 is none. Unless it is set, the first prompt may get more.",
        0,
        20,
    ),
    "retrieval.max_tokens": Setting(
        300,
        "About how many tokens one prompt may get; unless it is set, 100 more for each record above three.",
        50,
        2_000,
    ),
    "retrieval.match_strategy": Setting(
        "fts5_bm25",
        "How records are found; `title_tags` is the keyword scorer of the earlier plugin.",
        choices=("title_tags", "fts5_bm25"),
    ),
    "retrieval.min_probability": Setting(
        0.0, "The lowest probability at which a record is shown as a rule; 0 means the measured default.", 0, 1
    ),
    "retrieval.pointers": Setting(
        True, "Whether a record that is likely but not sure to be relevant is named in one line."
    ),
    "retrieval.with_map": Setting(
        "rules",
        "What prompts show in a session whose map has all records: rules, rules and pointers, or nothing.",
        choices=("none", "rules", "rules_and_pointers"),
    ),
    "retrieval.first_prompt_relief": Setting(
        0.1, "How much lower the threshold is for the first prompt of a session, which states its goal.", 0, 0.5
    ),
    "retrieval.first_prompt_budget": Setting(
        2.0, "How many times more tokens, and records unless max_inject is set, the first prompt may get.", 1, 4
    ),
    "retrieval.files": Setting(True, "Whether reading or editing a file shows the records about it."),
    "retrieval.actions": Setting(
        True, "Whether a command, or a task given to a subagent, shows the record that governs it."
    ),
    "retrieval.corrections": Setting(
        True, "Whether a prompt that corrects the agent shows the rule that was broken, and counts it on this machine."
    ),
    "retrieval.failures": Setting(True, "Whether a failed command shows the runbook for it."),
    "retrieval.holdout": Setting(
        0.0,
        "The share of your sessions that get no records, so that `onrecord effect` can compare; 0 is none.",
        0,
        0.5,
        user_only=True,
        is_exact=True,
    ),
    "retrieval.notice": _user_only(
        True, "Whether the person gets a line with the titles of what the agent is shown, where the host has a place."
    ),
    "retrieval.background_index": _user_only(
        True, "Whether a hook may start a process that completes the index of a large store, and ends by itself."
    ),
    "checks.enabled": Setting(True, "Whether checks of records are carried out at commands and edits."),
    "checks.enforce": Setting(
        "warn",
        "What a broken check does: show the rule, ask the person, or deny the tool. A project may lower it only.",
        choices=ENFORCEMENT,
    ),
    "checks.by_record.*": Setting(
        "warn",
        "The same for the checks of one record, by its id; it counts before `checks.enforce`.",
        choices=ENFORCEMENT,
    ),
    "retrieval.judge.enabled": _user_only(False, "Whether a small model decides the uncertain cases."),
    "retrieval.judge.provider": _user_only(
        "anthropic",
        "The kind of API: Anthropic Messages, or OpenAI chat completions (Ollama and most gateways).",
        choices=("anthropic", "openai"),
    ),
    "retrieval.judge.model": _user_only("", "The model to ask; empty means a small Claude."),
    "retrieval.judge.endpoint": _user_only(
        "", "Address of the API; empty means ANTHROPIC_BASE_URL or OPENAI_BASE_URL, else the provider's own."
    ),
    "retrieval.judge.api_key_env": _user_only(
        "", "Name of the environment variable with the key, not the key itself; empty means the provider's usual one."
    ),
    "retrieval.judge.timeout_seconds": _user_only(
        2.5, "How many seconds a prompt may wait for the model in all; a hook has three for everything.", 0.1, 2.5
    ),
    "retrieval.judge.daily_cap": _user_only(
        500, "Requests a day (UTC) at prompts; after that ranking decides alone.", 0, 100_000
    ),
    "retrieval.judge.max_candidates": _user_only(
        15, "How many records the model is asked about for one prompt.", 1, 30
    ),
    "retrieval.judge.context_turns": _user_only(
        5, "How many earlier turns of both sides the model is shown; 0 is none.", 0, 20
    ),
    "retrieval.judge.certain_in": _user_only(
        0.95, "A record with a higher probability is shown without asking; 1 always asks.", 0, 1
    ),
    "retrieval.judge.certain_out": _user_only(
        0.05, "A record with a lower probability is dropped without asking; 0 always asks.", 0, 1
    ),
    "session_start.enabled": Setting(True, "Whether a session is shown anything when it starts."),
    "session_start.map": Setting(True, "Whether a session starts with the map: one line for each record in force."),
    "session_start.max_tokens": Setting(2_000, "About how many tokens the start of a session may have.", 100, 2_400),
    "session_start.limit": Setting(120, "How many lines the map may have; 0 is none.", 0, 120),
    "session_start.relevance_weight": Setting(
        0.6,
        "How much relevance counts, against prominence, where the map has not room for all; 0 is prominence alone.",
        0,
        1,
        is_exact=True,
    ),
    "capture.mode": Setting(
        "propose",
        "What a session's decisions become: nothing, drafts to review, or records.",
        choices=("off", "propose", "auto"),
    ),
    "capture.max_suggestions": Setting(2, "How many suggestions to save one session may get; 0 is none.", 0, 20),
    "triage.max_messages": Setting(50, "How many of a session's last messages are read for decisions.", 10, 200),
    **{
        f"triage.thresholds.{name}": Setting(
            category.triage_threshold, f"The lowest probability at which saving a {name} is suggested.", 0.1, 1
        )
        for name, category in CATEGORIES.items()
    },
    "categories.*.enabled": Setting(True, "Whether the category is used at all."),
    "categories.*.auto_capture": Setting(True, "Whether sessions suggest records of it."),
    "categories.*.retention_days": Setting(
        0, "Days after which a record is no longer shown and `gc` retires it; 0 is never.", 0, 36_500
    ),
    "categories.*.description": Setting("", "What the category is for in this project."),
    **{
        f"categories.{name}.max_retained": Setting(
            category.max_active, f"How many records of {name} stay active.", 1, 1_000
        )
        for name, category in CATEGORIES.items()
        if category.max_active
    },
    "remotes": Setting(
        (), "The names of the shared stores that are read here; an empty list means all, `none` means none."
    ),
    "usage.events": Setting(
        True, "Whether it is logged on this machine when a record was shown, and whether the agent opened it."
    ),
    "export.file": Setting(
        "", "A project file that `onrecord export --file` wrote; it is updated after every change of a record."
    ),
    "delete.grace_period_days": Setting(30, "Days a retired record is kept before `gc` deletes it.", 0, 36_500),
    "trust.clones": _user_only(
        "host",
        "Whose word counts for the records of a repository: the host's own trust of the folder, or yours (`ask`). With "
        "`ask`, agents are only pointed to them until `onrecord trust` accepts the repository once.",
        choices=("host", "ask"),
    ),
}
DIRECTIONS: dict[str, Direction] = {
    "retrieval.enabled": _LESS_RISK,
    "retrieval.max_inject": _LESS_COST,
    "retrieval.max_tokens": _LESS_COST,
    "retrieval.match_strategy": Direction("down", "more costly", "hides"),
    "retrieval.min_probability": _STRICTER,
    "retrieval.pointers": _LESS_COST,
    "retrieval.with_map": _LESS_COST,
    "retrieval.first_prompt_relief": _LESS_COST,
    "retrieval.first_prompt_budget": _LESS_COST,
    "retrieval.files": _LESS_RISK,
    "retrieval.actions": _LESS_RISK,
    "retrieval.corrections": _LESS_RISK,
    "retrieval.failures": _LESS_RISK,
    "checks.enabled": _LESS_RISK,
    "checks.enforce": _LESS_RISK,
    "checks.by_record.*": _LESS_RISK,
    "session_start.enabled": _LESS_RISK,
    "session_start.map": _LESS_COST,
    "session_start.max_tokens": _LESS_COST,
    "session_start.limit": _LESS_COST,
    "session_start.relevance_weight": Direction("any", "", "reorders"),
    "capture.mode": _LESS_RISK,
    "capture.max_suggestions": _LESS_COST,
    "triage.max_messages": _LESS_COST,
    **{f"triage.thresholds.{name}": _STRICTER for name in CATEGORIES},
    "categories.*.enabled": _LESS_RISK,
    "categories.*.auto_capture": _LESS_RISK,
    # A shorter time hides records, and `gc` retires and then deletes them.
    "categories.*.retention_days": _KEPT_LONGER,
    "categories.*.description": _ADDITION,
    **{f"categories.{name}.max_retained": _KEPT_LONGER for name, one in CATEGORIES.items() if one.max_active},
    "remotes": Direction("part", "more risky", "hides"),
    "usage.events": _LESS_RISK,
    "export.file": Direction("any", "", "renews"),
    "delete.grace_period_days": _KEPT_LONGER,
}
"""The direction of every setting that a project may change at all; the others are the user's alone."""

ZERO_IS_UNLIMITED = ("retention_days",)
"""Last parts of the keys whose 0 means that there is no limit."""


def direction(key: str) -> Direction:
    """Return the way in which a project may change `key`."""
    declared = setting(key)
    if declared is None or declared.user_only:
        return _USER_ONLY
    return DIRECTIONS[family(key)]


def level(key: str, value: object) -> float:
    """Return a value of a setting as a number, so that two of them can be compared."""
    declared = setting(key)
    if declared is not None and declared.choices:
        return float(declared.choices.index(str(value)))
    if not value and key.rpartition(".")[2] in ZERO_IS_UNLIMITED:
        return float("inf")
    return float(value) if isinstance(value, (bool, int, float)) else 0.0


RENAMED = {
    "retrieval.judge.timeout_per_call": "retrieval.judge.timeout_seconds",
    "retrieval.judge.candidate_pool_size": "retrieval.judge.max_candidates",
    "retrieval.judge.include_conversation_context": "retrieval.judge.context_turns",
    "triage.enabled": "capture.mode",
}
RENAMED_SINCE_0_1_0 = {"capture.max_offers": "capture.max_suggestions"}
"""Old keys that are accepted silently: a team may share a config with a user of 0.1.0."""

REMOVED = (
    "retrieval.judge.price_in",
    "retrieval.judge.price_out",
    "retrieval.judge.fallback_top_k",
    "session_start.max_characters",
)
"""Settings of earlier versions that no longer have an effect: ignored silently, for the same reason."""

_SWITCHED_OFF: dict[str, object] = {
    "retrieval.judge.include_conversation_context": 0,
    "triage.enabled": "off",
}
"""Old on/off settings, and the value of the successor that means `false`; its default means `true`."""

_MAX_KEY_CHARACTERS = 100
"""Characters of a key that may be a misspelling: none has half as many."""

_MIN_SIMILARITY = 0.7
"""Lowest similarity (0 to 1) of two parts of a key at which one may be a misspelling of the other."""


def setting(key: str) -> Setting | None:
    """Return the setting of `key`, if any; `categories.*.enabled` covers all categories."""
    return SETTINGS.get(family(key))


def family(key: str) -> str:
    """Return the key under which a setting is declared: `categories.*.enabled` for that of any category."""
    parts = key.split(".")
    if key not in SETTINGS and len(parts) == 3 and parts[0] == "categories" and parts[1] in CATEGORIES:
        return f"categories.*.{parts[2]}"
    if len(parts) == 3 and key.startswith(BY_RECORD) and parts[2].replace("-", "").isalnum():
        return f"{BY_RECORD}*"
    return key


class Successor(NamedTuple):
    """The setting that replaces an old one, and its value; the value is None if the default does the same."""

    key: str
    value: object
    is_reported: bool = True


def successor(key: str, value: object) -> Successor | None:
    """Return the setting that replaces the old key `key`; None if it is no old key."""
    if key in RENAMED_SINCE_0_1_0:
        return Successor(RENAMED_SINCE_0_1_0[key], value, is_reported=False)
    new = RENAMED.get(key)
    if new is None:
        return None
    if key not in _SWITCHED_OFF:
        return Successor(new, value)
    return Successor(new, _SWITCHED_OFF[key] if value is False else None)


def old_names(key: str) -> list[str]:
    """Return the earlier names of a setting."""
    return [old for old, new in (*RENAMED.items(), *RENAMED_SINCE_0_1_0.items()) if new == key]


def suggestion(key: str) -> str:
    """Return the setting that a misspelt key most probably means, or nothing; every part must be similar."""
    if len(key) > _MAX_KEY_CHARACTERS:
        return ""
    from difflib import SequenceMatcher

    def similarity(other: str) -> float:
        key_parts, other_parts = key.split("."), other.split(".")
        if len(key_parts) < len(other_parts) and setting(key) is None:
            other_parts = other_parts[-len(key_parts) :]
        if len(key_parts) != len(other_parts):
            return 0.0
        pairs = [(a, b) for a, b in zip(key_parts, other_parts) if a != "*"]
        return min(SequenceMatcher(None, a, b).ratio() for a, b in pairs)

    best = max(_keys(), key=lambda other: (similarity(other), other))
    return best if similarity(best) >= _MIN_SIMILARITY else ""


def _keys() -> Iterator[str]:
    for name in SETTINGS:
        is_family = name.startswith("categories.*")
        yield from (name.replace("*", category) for category in CATEGORIES) if is_family else (name,)
