"""Settings: read once, from the store's `memory-config.json` and the user's own, and handed on as one record.

Every key is optional. A wrong type or a misspelt key is reported, with the nearest right one, and the default
stands. What could reach the network or cost money is taken from the user's own config only: a project's
config is a file that came with a repository.
"""

from __future__ import annotations

import os

from recollect import lean, paths

CATEGORY_NAMES = ("decision", "constraint", "preference", "runbook", "tech_debt", "session_summary")


_UNKNOWN = "is not a setting"
_MOST_PROBLEMS = 100


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
        f"triage.thresholds.{category}": Rule(
            0.7, f"How sure triage must be before it offers a {category}.", least=0.1, most=1, clamped=True
        )
        for category in CATEGORY_NAMES
    },
    "categories.*.enabled": Rule(True, "Whether the category is used at all."),
    "categories.*.auto_capture": Rule(True, "Whether sessions are searched for it."),
    "categories.*.retention_days": Rule(
        0, "Days after which a record is no longer injected and `gc` retires it; 0 is never.", least=0, most=36_500
    ),
    "categories.*.description": Rule("", "What the category is for in this project."),
    "categories.session_summary.max_retained": Rule(5, "How many session summaries stay active.", least=1, most=1_000),
    "delete.grace_period_days": Rule(30, "Days a retired record is kept before `gc` deletes it.", least=0, most=36_500),
}


_CONSENT: dict[str, tuple[object, ...]] = {
    "capture.mode": ("off", "propose", "auto"),
    "retrieval.enabled": (False, True),
    "retrieval.files": (False, True),
    "retrieval.failures": (False, True),
    "session_start.enabled": (False, True),
}
"""What a user consents to, from least to most: a project may lower what the user chose, never raise it."""


class Problem:
    """Something in a config file that was not used, and why."""

    __slots__ = ("_message", "file", "key")

    def __init__(self, file: str, key: str, message: str) -> None:
        self.file = file
        self.key = key
        self._message = message

    @property
    def message(self) -> str:
        """What is wrong; the nearest right key is looked for only when somebody asks, which no hook does."""
        return self._message if self._message != _UNKNOWN else _UNKNOWN + _suggestion(self.key)

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}"


class Settings:
    """The effective settings: for each key its value, and which file it comes from."""

    __slots__ = ("_values", "origins", "problems")

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []

    def flag(self, key: str) -> bool:
        return bool(self._get(key))

    def number(self, key: str) -> float:
        return float(self._get(key))  # type: ignore[arg-type]

    def count(self, key: str) -> int:
        return int(self._get(key))  # type: ignore[call-overload,no-any-return]

    def text(self, key: str) -> str:
        return str(self._get(key))

    def _get(self, key: str) -> object:
        return self._values[key] if key in self._values else RULES[general(key)].default

    def is_enabled(self, category: str) -> bool:
        return self.flag(f"categories.{category}.enabled")

    def retention_days(self, category: str) -> int:
        return self.count(f"categories.{category}.retention_days")

    def take(self, file: str, trusted: bool, values: dict[str, object]) -> None:
        """Lay the values of one file over what is there, keeping what is wrong aside."""
        for key, value in values.items():
            message = _objection(key, value, trusted) or ("" if trusted else self._overrules(key, value))
            nearest = _clamped(key, value) if message else value
            if message and len(self.problems) < _MOST_PROBLEMS:
                self.problems.append(Problem(file, key, message))
            if nearest is not None:
                self._values[key] = nearest
                self.origins[key] = file

    def _overrules(self, key: str, value: object) -> str:
        """Why a project's value may not stand against the user's own: it may ask for less, never for more."""
        if key not in _CONSENT or key not in self._values:
            return ""
        chosen = self._values[key]
        order = _CONSENT[key]
        if value in order and chosen in order and order.index(value) > order.index(chosen):
            return f"your own config says {chosen!r}, and a project may only lower that"
        return ""


def load(store_root: str, user_root: str | None = None) -> Settings:
    """The settings for a store: the user's, and over them the store's own."""
    settings = Settings()
    user_root = paths.user_store() if user_root is None else user_root
    if user_root:
        _load_file(settings, os.path.join(user_root, paths.CONFIG), trusted=_is_the_users(user_root, store_root))
    if store_root and store_root != user_root:
        _load_file(settings, os.path.join(store_root, paths.CONFIG), trusted=False)
    return settings


def _is_the_users(user_root: str, store_root: str) -> bool:
    """Whether the user's store really is: one inside the project was put there by whoever wrote the project's files."""
    if not store_root or store_root == user_root:
        return True
    return not paths.is_within(os.path.dirname(os.path.dirname(store_root)), user_root)


def _load_file(settings: Settings, file: str, trusted: bool) -> None:
    try:
        raw = lean.loads(lean.read(file, 1_000_000).decode("utf-8-sig"))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        return
    except (OSError, ValueError) as error:
        settings.problems.append(Problem(file, "(whole file)", f"cannot be read: {error}"))
        return
    if not isinstance(raw, dict):
        settings.problems.append(Problem(file, "(whole file)", "must be a JSON object"))
        return
    values: dict[str, object] = {}
    _flatten(raw, "", values, depth=0)
    settings.take(file, trusted, values)


def _flatten(raw: dict[str, object], prefix: str, into: dict[str, object], depth: int) -> None:
    for key, value in raw.items():
        if isinstance(value, dict) and depth < 4:
            _flatten(value, f"{prefix}{key}.", into, depth + 1)
        else:
            into[f"{prefix}{key}"] = value


def general(key: str) -> str:
    """The rule a key falls under: `categories.runbook.enabled` is ruled by `categories.*.enabled`."""
    if key in RULES:
        return key
    parts = key.split(".")
    if len(parts) == 3 and parts[0] == "categories" and parts[1] in CATEGORY_NAMES:
        return f"categories.*.{parts[2]}"
    return key


def _objection(key: str, value: object, trusted: bool) -> str:
    rule = RULES.get(general(key))
    if rule is None or "*" in key:
        return _UNKNOWN
    if rule.user_only and not trusted:
        return "only your own config may set this (~/.claude/memory/memory-config.json), not a project's"
    default = rule.default
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else f"must be true or false; {default!r} is used"
    if isinstance(default, (int, float)):
        return _number_objection(rule, value)
    if not isinstance(value, str):
        return f"must be a text; {default!r} is used"
    if rule.choices and value not in rule.choices:
        return f"must be one of {', '.join(rule.choices)}; {default!r} is used"
    return ""


def _number_objection(rule: Rule, value: object) -> str:
    default = rule.default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"must be a number; {default} is used"
    if not rule.least <= value <= rule.most:
        used = f"{min(max(value, rule.least), rule.most):g}" if rule.clamped else default
        return f"must be from {rule.least:g} to {rule.most:g}; {used} is used"
    if isinstance(default, int) and value != int(value):
        return f"must be a whole number; {default} is used"
    return ""


def _clamped(key: str, value: object) -> object:
    """The nearest value that is allowed, for the keys where that is what was meant; None for all others."""
    rule = RULES.get(general(key))
    if rule is None or not rule.clamped or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if rule.least <= value <= rule.most:
        return None
    bound = min(max(value, rule.least), rule.most)
    return int(bound) if isinstance(rule.default, int) else float(bound)


def _suggestion(key: str) -> str:
    import difflib

    known = [name.replace("*", category) for name in RULES for category in CATEGORY_NAMES]
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]}?" if nearest else ""
