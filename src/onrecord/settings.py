"""The values of the settings: those of the store's `memory-config.json`, over the user's own.

Every key is optional. A wrong type or a misspelt key is reported, with the nearest right one, and the default
stands; a number out of range means the nearest one within it. What could reach the network or cost money is taken from
the user's own config only: a project's config is a file that came with a repository.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.coldstart import NamedTuple
from onrecord.setting_table import CONSENT, Setting, setting

_UNKNOWN = "is not a setting"
_MOST_PROBLEMS = 100
"""A config of a million bytes could hold a hundred thousand misspelt keys; nobody reads more than these."""

_LARGEST_FILE = 1_000_000
_MOST_NAMES = 100
WHOLE_FILE = "(whole file)"
"""The key of a problem that concerns all of a config file."""


class SettingProblem(NamedTuple):
    """Something in a config file that was not used, and why."""

    file: str
    key: str
    reason: str

    @property
    def message(self) -> str:
        """What is wrong; the nearest right key is looked for only when somebody asks, which no hook does."""
        if self.reason != _UNKNOWN:
            return self.reason
        from onrecord import setting_table

        nearest = setting_table.suggestion(self.key)
        return f"{_UNKNOWN}; did you mean {nearest}?" if nearest else _UNKNOWN

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}"


class Settings:
    """The effective settings: for each key its value, and which file it comes from."""

    __slots__ = ("_values", "origins", "problems")

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[SettingProblem] = []

    def flag(self, key: str) -> bool:
        return bool(self.value(key))

    def number(self, key: str) -> float:
        return float(self.value(key))  # type: ignore[arg-type]

    def count(self, key: str) -> int:
        return int(self.value(key))  # type: ignore[call-overload,no-any-return]

    def text(self, key: str) -> str:
        return str(self.value(key))

    def names(self, key: str) -> tuple[str, ...]:
        return tuple(self.value(key))  # type: ignore[arg-type]

    def value(self, key: str) -> object:
        if key in self._values:
            return self._values[key]
        declared = setting(key)
        if declared is None:
            raise KeyError(key)
        return declared.default

    def is_set(self, key: str) -> bool:
        """Whether a config says this, rather than the default."""
        return key in self.origins

    def is_enabled(self, category: str) -> bool:
        return self.flag(f"categories.{category}.enabled")

    def retention_days(self, category: str) -> int:
        return self.count(f"categories.{category}.retention_days")

    @property
    def retention_problems(self) -> list[SettingProblem]:
        """What is wrong with the files that say how long records are kept: the default may be far shorter."""
        families = (WHOLE_FILE, "delete", "categories")
        return [problem for problem in self.problems if problem.key.split(".")[0] in families]

    def take(self, file: str, trusted: bool, values: dict[str, object]) -> None:
        """Lay the values of one file over those already there; what is wrong becomes a problem."""
        for key, value in values.items():
            if setting(key) is None:
                self._report(file, key, self._take_old(file, trusted, key, value, values))
            else:
                self._report(file, key, self._take(file, trusted, key, value))

    def _take(self, file: str, trusted: bool, key: str, value: object) -> str:
        """Set a value if it can be used; what is wrong with it."""
        usable, reason = _checked(key, value, trusted)
        if usable is not None and not trusted:
            overruled = self._overrules(key, usable)
            usable, reason = (None, overruled) if overruled else (usable, reason)
        if usable is not None:
            self._values[key] = usable
            self.origins[key] = file
        return reason

    def _take_old(self, file: str, trusted: bool, key: str, value: object, values: dict[str, object]) -> str:
        """Set what has taken over an old key, unless it is set itself; what to say about that."""
        from onrecord import setting_table

        if key in setting_table.REMOVED:
            return ""
        renamed = setting_table.successor(key, value)
        if renamed is None:
            return _UNKNOWN
        if renamed.key in values:
            return f"is now {renamed.key}, which is set too and is used"
        if renamed.value is None:
            return f"is now {renamed.key}, and can be left out"
        reason = self._take(file, trusted, renamed.key, renamed.value)
        if not reason and not renamed.is_reported:
            return ""
        return f"is now {renamed.key}: {reason or f'{renamed.value!r} is used'}"

    def _report(self, file: str, key: str, reason: str) -> None:
        if reason and len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(SettingProblem(file, key, reason))

    def _overrules(self, key: str, value: object) -> str:
        """Why a project's value may not stand against the user's own: it may ask for less, never for more."""
        if key == "remotes" and not _is_part(value, self.names(key)):
            own = ", ".join(self.names(key))
            return f"your own config says {own}, and a project may only choose among these"
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
        settings.problems.append(SettingProblem(file, WHOLE_FILE, "is a link that leads out of the store"))
        return
    try:
        text = files.read_inside(root, paths.CONFIG, _LARGEST_FILE).decode().removeprefix("\ufeff")
        raw = coldstart.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        settings.problems.append(SettingProblem(file, WHOLE_FILE, f"cannot be read: {error}"))
        return
    if not isinstance(raw, dict):
        settings.problems.append(SettingProblem(file, WHOLE_FILE, "must be a JSON object"))
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
        return None, "may be set in your own config only (~/.claude/memory/memory-config.json), not in a project's"
    default = declared.default
    if isinstance(default, bool):
        return (value, "") if isinstance(value, bool) else (None, f"must be true or false; {default!r} is used")
    if isinstance(default, (int, float)):
        return _checked_number(declared, default, value)
    if isinstance(default, tuple):
        return _checked_names(value)
    if not isinstance(value, str):
        return None, f"must be a text; {default!r} is used"
    if declared.choices and value not in declared.choices:
        return None, f"must be one of {', '.join(declared.choices)}; {default!r} is used"
    return value, ""


def _is_part(names: object, of: tuple[str, ...]) -> bool:
    """Whether remotes are some of those that the user chose, or none; a user who chose none leaves all to projects."""
    return not of or (isinstance(names, tuple) and bool(names) and {*names} <= {*of, "none"})


def _checked_names(value: object) -> tuple[object, str]:
    if not isinstance(value, list) or len(value) > _MOST_NAMES or not all(isinstance(each, str) for each in value):
        return None, f"must be a list of at most {_MOST_NAMES} names; the default is used"
    return tuple(value), ""


def _checked_number(declared: Setting, default: float, value: object) -> tuple[object, str]:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (value < 0 or value >= 0):
        return None, f"must be a number; {default} is used"
    if not declared.least <= value <= declared.most:
        nearest = type(default)(min(max(value, declared.least), declared.most))
        return nearest, f"must be from {declared.least:g} to {declared.most:g}; {nearest:g} is used"
    if isinstance(default, int) and value != int(value):
        return None, f"must be a whole number; {default} is used"
    return value, ""
