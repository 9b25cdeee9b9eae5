"""Settings: what there is to set, and the values of the store's `memory-config.json` and the user's own.

Every key is optional. A wrong type or a misspelt key is reported, with the nearest right one, and the default
stands. What could reach the network or cost money is taken from the user's own config only: a project's
config is a file that came with a repository.
"""

from __future__ import annotations

import os

from recollect import coldstart, files, paths
from recollect.categories import BY_NAME
from recollect.coldstart import NamedTuple

_UNKNOWN = "is not a setting"
_MOST_PROBLEMS = 100
"""A config of a million bytes could hold a hundred thousand misspelt keys; nobody reads more than these."""

_LARGEST_FILE = 1_000_000
WHOLE_FILE = "(whole file)"
"""The key of a problem that concerns all of a config file."""


class Setting(NamedTuple):
    """One key: its default, what it does, which values it takes, and whether only the user may set it."""

    default: object
    doc: str
    least: float = 0
    most: float = 0
    choices: tuple[str, ...] = ()
    user_only: bool = False
    clamped: bool = False
    """Whether a number out of range means the nearest one within it."""


def _own(default: object, doc: str, least: float = 0, most: float = 0, choices: tuple[str, ...] = ()) -> Setting:
    return Setting(default, doc, least, most, choices, user_only=True)


SETTINGS: dict[str, Setting] = {
    "retrieval.enabled": Setting(True, "Whether prompts, files and failures bring memories up at all."),
    "retrieval.max_inject": Setting(3, "How many memories one prompt may bring up; 0 is none.", 0, 20),
    "retrieval.max_tokens": Setting(300, "About how many tokens one prompt may be given.", 50, 2_000),
    "retrieval.match_strategy": Setting(
        "fts5_bm25",
        "How memories are found; `title_tags` is the keyword scorer of the earlier plugin.",
        choices=("fts5_bm25", "title_tags"),
    ),
    "retrieval.min_probability": Setting(
        0.0, "How probable it must be that a memory is relevant to be injected; 0 means the measured default.", 0, 1
    ),
    "retrieval.pointers": Setting(
        True, "Whether a memory that is likely but not sure to be relevant is named in one line."
    ),
    "retrieval.first_prompt_relief": Setting(
        0.1, "How much lower that bar is for the first prompt of a session, which states its goal.", 0, 0.5
    ),
    "retrieval.first_prompt_budget": Setting(
        2.0, "By how much the first prompt's share of memories and tokens is larger.", 1, 4
    ),
    "retrieval.files": Setting(True, "Whether reading or editing a file brings up what is known about it."),
    "retrieval.failures": Setting(True, "Whether a failing command brings up the runbook for it."),
    "retrieval.judge.enabled": _own(False, "Whether a small model has the last word."),
    "retrieval.judge.provider": _own(
        "anthropic",
        "The shape of the requests: Anthropic Messages, or OpenAI chat completions (Ollama and most gateways).",
        choices=("anthropic", "openai"),
    ),
    "retrieval.judge.model": _own("", "Which model is asked; empty is a small Claude."),
    "retrieval.judge.endpoint": _own(
        "", "Address of the API; empty is ANTHROPIC_BASE_URL or OPENAI_BASE_URL, or the provider's own."
    ),
    "retrieval.judge.api_key_env": _own(
        "", "Name of the environment variable that holds the key, never the key; empty is the provider's usual one."
    ),
    "retrieval.judge.timeout_seconds": _own(3.0, "How long a prompt may wait for the model, all in all.", 0.1, 4),
    "retrieval.judge.daily_cap": _own(
        500, "Requests a day (UTC) that prompts may cause; after that ranking decides alone.", 0, 100_000
    ),
    "retrieval.judge.max_candidates": _own(15, "How many memories the model is shown for one prompt.", 1, 30),
    "retrieval.judge.certain_in": _own(
        0.95, "A memory more probably relevant than this is kept without asking; 1 always asks.", 0, 1
    ),
    "retrieval.judge.certain_out": _own(
        0.05, "A memory less probably relevant than this is dropped without asking; 0 always asks.", 0, 1
    ),
    "retrieval.judge.price_in": _own(
        0.0, "Dollars for a million input tokens, where the model is not one whose price is known.", 0, 1_000
    ),
    "retrieval.judge.price_out": _own(0.0, "The same for output tokens.", 0, 1_000),
    "session_start.enabled": Setting(True, "Whether a session starts with a digest."),
    "session_start.relevance_weight": Setting(0.6, "How much relevance counts against prominence in the digest.", 0, 1),
    "session_start.limit": Setting(20, "How many entries the digest may have.", 1, 100),
    "capture.mode": Setting(
        "propose",
        "What happens with what a session seems to have decided: nothing, a draft to review, or a record.",
        choices=("off", "propose", "auto"),
    ),
    "capture.max_offers": Setting(
        2, "How many things one session may be asked to save; 0 is none.", 0, 20, clamped=True
    ),
    "triage.max_messages": Setting(50, "How many of a session's last messages are searched.", 10, 200, clamped=True),
    **{
        f"triage.thresholds.{name}": Setting(
            category.triage_bar, f"How sure triage must be before it suggests to save a {name}.", 0.1, 1, clamped=True
        )
        for name, category in BY_NAME.items()
    },
    "categories.*.enabled": Setting(True, "Whether the category is used at all."),
    "categories.*.auto_capture": Setting(True, "Whether sessions are searched for it."),
    "categories.*.retention_days": Setting(
        0, "Days after which a record is no longer injected and `gc` retires it; 0 is never.", 0, 36_500
    ),
    "categories.*.description": Setting("", "What the category is for in this project."),
    **{
        f"categories.{name}.max_retained": Setting(
            category.most_active, f"How many records of {name} stay active.", 1, 1_000
        )
        for name, category in BY_NAME.items()
        if category.most_active
    },
    "delete.grace_period_days": Setting(30, "Days a retired record is kept before `gc` deletes it.", 0, 36_500),
}

CONSENT: dict[str, tuple[object, ...]] = {
    "capture.mode": ("off", "propose", "auto"),
    **dict.fromkeys(
        ("retrieval.enabled", "retrieval.files", "retrieval.failures", "session_start.enabled"), (False, True)
    ),
}
"""What a user consents to, from least to most: a project may lower what the user chose, never raise it."""


def setting(key: str) -> Setting | None:
    """The setting a key means, if any: `categories.runbook.enabled` is one of `categories.*.enabled`."""
    parts = key.split(".")
    if key not in SETTINGS and len(parts) == 3 and parts[0] == "categories" and parts[1] in BY_NAME:
        key = f"categories.*.{parts[2]}"
    return SETTINGS.get(key)


class Problem(NamedTuple):
    """Something in a config file that was not used, and why."""

    file: str
    key: str
    reason: str

    @property
    def message(self) -> str:
        """What is wrong; the nearest right key is looked for only when somebody asks, which no hook does."""
        return self.reason if self.reason != _UNKNOWN else _UNKNOWN + _suggestion(self.key)

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
        if key in self._values:
            return self._values[key]
        declared = setting(key)
        if declared is None:
            raise KeyError(key)
        return declared.default

    def is_enabled(self, category: str) -> bool:
        return self.flag(f"categories.{category}.enabled")

    def retention_days(self, category: str) -> int:
        return self.count(f"categories.{category}.retention_days")

    @property
    def retention_problems(self) -> list[Problem]:
        """What is wrong with the files that say how long records are kept: the default may be far shorter."""
        families = (WHOLE_FILE, "delete", "categories")
        return [problem for problem in self.problems if problem.key.split(".")[0] in families]

    def take(self, file: str, trusted: bool, values: dict[str, object]) -> None:
        """Lay the values of one file over those already there; what is wrong becomes a problem."""
        for key, value in values.items():
            usable, reason = _checked(key, value, trusted)
            if not reason and not trusted:
                reason = self._overrules(key, value)
                usable = None if reason else usable
            if reason and len(self.problems) < _MOST_PROBLEMS:
                self.problems.append(Problem(file, key, reason))
            if usable is not None:
                self._values[key] = usable
                self.origins[key] = file

    def _overrules(self, key: str, value: object) -> str:
        """Why a project's value may not stand against the user's own: it may ask for less, never for more."""
        if key not in CONSENT or key not in self._values:
            return ""
        chosen = self._values[key]
        order = CONSENT[key]
        if order.index(value) > order.index(chosen):
            return f"your own config says {chosen!r}, and a project may only lower that"
        return ""


def load_settings(store_root: str, user_root: str | None = None) -> Settings:
    """The settings for a store: the user's, and over them the store's own."""
    settings = Settings()
    user_root = paths.user_store() if user_root is None else user_root
    if user_root:
        _load_file(settings, user_root, trusted=_is_the_users(user_root, store_root))
    if store_root and store_root != user_root:
        _load_file(settings, store_root, trusted=False)
    return settings


def _is_the_users(user_root: str, store_root: str) -> bool:
    """Whether the user's store really is: one inside the project was put there by whoever wrote the project's files."""
    if not store_root or store_root == user_root:
        return True
    return not paths.is_within(os.path.dirname(os.path.dirname(store_root)), user_root)


def _load_file(settings: Settings, root: str, trusted: bool) -> None:
    file = os.path.join(root, paths.CONFIG)
    if os.path.islink(file) and not paths.is_within(root, file):
        settings.problems.append(Problem(file, WHOLE_FILE, "is a link that leads out of the store"))
        return
    try:
        raw = coldstart.loads(files.read_inside(root, paths.CONFIG, _LARGEST_FILE).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        settings.problems.append(Problem(file, WHOLE_FILE, f"cannot be read: {error}"))
        return
    if not isinstance(raw, dict):
        settings.problems.append(Problem(file, WHOLE_FILE, "must be a JSON object"))
        return
    values: dict[str, object] = {}
    _flatten(raw, "", values, depth=0)
    settings.take(file, trusted, values)


def _flatten(raw: dict[str, object], prefix: str, into: dict[str, object], depth: int) -> None:
    for key, value in raw.items():
        # No setting has more than four parts; what is nested deeper is a value of the wrong type.
        if isinstance(value, dict) and depth < 4:
            _flatten(value, f"{prefix}{key}.", into, depth + 1)
        else:
            into[f"{prefix}{key}"] = value


def _checked(key: str, value: object, trusted: bool) -> tuple[object, str]:
    """The value to use, or None, and what is wrong with the one that was written."""
    declared = setting(key)
    if declared is None or "*" in key:
        return None, _UNKNOWN
    if declared.user_only and not trusted:
        return None, "only your own config may set this (~/.claude/memory/memory-config.json), not a project's"
    default = declared.default
    if isinstance(default, bool):
        return (value, "") if isinstance(value, bool) else (None, f"must be true or false; {default!r} is used")
    if isinstance(default, (int, float)):
        return _checked_number(declared, default, value)
    if not isinstance(value, str):
        return None, f"must be a text; {default!r} is used"
    if declared.choices and value not in declared.choices:
        return None, f"must be one of {', '.join(declared.choices)}; {default!r} is used"
    return value, ""


def _checked_number(declared: Setting, default: float, value: object) -> tuple[object, str]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None, f"must be a number; {default} is used"
    if not declared.least <= value <= declared.most:
        nearest = type(default)(min(max(value, declared.least), declared.most)) if declared.clamped else None
        used = default if nearest is None else f"{nearest:g}"
        return nearest, f"must be from {declared.least:g} to {declared.most:g}; {used} is used"
    if isinstance(default, int) and value != int(value):
        return None, f"must be a whole number; {default} is used"
    return value, ""


def _suggestion(key: str) -> str:
    import difflib

    keys = [name.replace("*", category) for name in SETTINGS for category in BY_NAME]
    nearest = difflib.get_close_matches(key, keys, n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]}?" if nearest else ""
