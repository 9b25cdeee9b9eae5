"""Settings: read once, from the store's `memory-config.json` and the user's own, and handed on as one record.

Every key is optional. A wrong type or a misspelt key is reported, with the nearest right one, and the default
stands. What could reach the network or cost money is taken from the user's own config only: a project's
config is a file that came with a repository.
"""

from __future__ import annotations

import os

from recollect import coldstart, files, paths
from recollect.categories import BY_NAME
from recollect.settings_table import CONSENT, RULES, Rule, general

_UNKNOWN = "is not a setting"
_MOST_PROBLEMS = 100


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
        if key not in CONSENT or key not in self._values:
            return ""
        chosen = self._values[key]
        order = CONSENT[key]
        if value in order and chosen in order and order.index(value) > order.index(chosen):
            return f"your own config says {chosen!r}, and a project may only lower that"
        return ""


def load_settings(store_root: str, user_root: str | None = None) -> Settings:
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
        raw = coldstart.loads(files.read(file, 1_000_000).decode("utf-8-sig"))
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

    known = [name.replace("*", category) for name in RULES for category in BY_NAME]
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]}?" if nearest else ""
