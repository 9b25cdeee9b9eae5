"""The values of the settings, and the features that they switch off.

A store's `memory-config.json` overrides the user's. Every key is optional. A value of the wrong type or a misspelt key
is reported, with the most similar key, and the default is used; a number out of range becomes the nearest one in range.
A project's config comes with a repository, which anyone may have written: it may change a setting only in the direction
that `setting_table` declares as safe, from the user's value or the default. What could use the network or cost money is
read from the user's own config only.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.setting_table import BY_RECORD, ENFORCEMENT, Setting, direction, level, setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_UNKNOWN = "is not a setting"
_OF_EARLIER_PLUGIN = "settings of the earlier plugin that have no effect here, or are its defaults, are not used"
_PROJECT_MAY = ", and a project may only "

_MAX_PROBLEMS = 100
"""A config of a million bytes could have a hundred thousand misspelt keys; these are enough to read."""

_MAX_FILE_BYTES = 1_000_000
_MAX_NAMES = 100
OFF_VARIABLE = "ONRECORD_OFF"
"""The environment variable that switches everything off."""

PROMPT_SWITCHES = ("retrieval.enabled", "retrieval.max_inject")
COMMAND_SWITCHES = ("retrieval.enabled", "retrieval.actions")
DIGEST_SWITCH, CAPTURE_SWITCH = "session_start.enabled", "capture.mode"

_CONSEQUENCES: dict[str, str] = {
    "retrieval.enabled": "no record is shown at prompts, files and failed commands",
    "retrieval.max_inject": "no record is shown at prompts",
    "retrieval.files": "no record is shown when a file is read or edited",
    "retrieval.actions": "no record is shown at commands and tasks of subagents",
    "retrieval.corrections": "a prompt that corrects the agent shows nothing more than another one",
    "retrieval.failures": "no runbook is shown for a failed command",
    "checks.enabled": "no check of a record is carried out at commands and edits",
    DIGEST_SWITCH: "a session is shown nothing when it starts",
    "session_start.map": "a session starts without the map",
    "session_start.limit": "a session starts without the map",
    CAPTURE_SWITCH: "sessions suggest nothing to save",
    **{f"categories.{name}.enabled": f"records of {name} are not shown" for name in CATEGORIES},
}
"""The settings that can switch a feature off, and the consequence."""

_OFF_VALUES = (False, 0, "off")

_RETENTION_KEYS = ("retention_days", "max_retained", "grace_period_days")
"""Last parts of the keys that say how long records are kept."""

WHOLE_FILE = "(whole file)"
"""The key of a problem with a whole config file."""


class SettingProblem(NamedTuple):
    """A value in a config file that was not used, and the reason."""

    file: str
    key: str
    reason: str

    @property
    def is_refusal(self) -> bool:
        """True if a project may not set this value: the user's own or the default is used, which is the safe one."""
        return _PROJECT_MAY in self.reason

    @property
    def is_of_earlier_plugin(self) -> bool:
        """True if it stands for all settings of the earlier plugin in a file: nothing is wrong, only left over."""
        return self.reason.startswith(_OF_EARLIER_PLUGIN)

    @property
    def may_be_misspelt_retention(self) -> bool:
        """True if the key is no setting, but looks like one that says how long records are kept."""
        from onrecord import setting_table

        return self.reason == _UNKNOWN and setting_table.suggestion(self.key).endswith(_RETENTION_KEYS)

    @property
    def message(self) -> str:
        """The reason, with the most similar key for a misspelt one: computed here, because hooks do not need it."""
        if self.reason != _UNKNOWN:
            return self.reason
        from onrecord import setting_table

        nearest = setting_table.suggestion(self.key)
        return f"{_UNKNOWN}; did you mean {nearest}?" if nearest else _UNKNOWN

    @property
    def is_note(self) -> bool:
        """True if nothing is wrong: the value is not used, and need not be corrected."""
        return self.is_refusal or self.is_of_earlier_plugin

    @property
    def fix(self) -> str:
        if self.is_of_earlier_plugin:
            return f"onrecord config tidy{_user_flag(self.file)}"
        if self.is_refusal:
            return f"leave it out of {self.file}; your own config may set it"
        return f"correct {self.file}"

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}"


def _user_flag(file: str) -> str:
    """Return the flag by which a command changes the user's own config, if `file` is that; else nothing."""
    return " --user" if file == os.path.join(paths.user_store(), paths.CONFIG) else ""


class Settings:
    """The effective settings: the value of each key, and the file it comes from."""

    __slots__ = ("_own", "_values", "origins", "problems")

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self._own: dict[str, object] = {}
        """The user's own values, which the config of a project is compared with."""
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
        """True if a config file sets `key`."""
        return key in self.origins

    def is_enabled(self, category: str) -> bool:
        return self.flag(f"categories.{category}.enabled")

    def enforcement(self, record_id: str) -> str:
        """Return what a broken check of a record does: `warn`, `ask` or `deny`."""
        key = f"{BY_RECORD}{record_id}"
        return self.text(key if key in self._values else "checks.enforce")

    @property
    def may_enforce(self) -> bool:
        """True if a broken check of some record does more than warn."""
        keys = ("checks.enforce", *(key for key in self._values if key.startswith(BY_RECORD)))
        return any(self.text(key) != ENFORCEMENT[0] for key in keys)

    def retention_days(self, category: str) -> int:
        return self.count(f"categories.{category}.retention_days")

    @property
    def retention_problems(self) -> list[SettingProblem]:
        """The problems with values that say how long records are kept: the default may be shorter."""
        return [
            problem
            for problem in self.problems
            if problem.may_be_misspelt_retention
            or (
                (problem.key == WHOLE_FILE or problem.key.endswith(_RETENTION_KEYS))
                and not problem.is_refusal
                and not problem.is_of_earlier_plugin
                and problem.reason != _UNKNOWN
            )
        ]

    def take(self, file: str, trusted: bool, config: dict[str, object]) -> None:
        """Override the values so far with those in `file`; values that cannot be used are added to `problems`."""
        earlier = self._take_earlier(file, config)
        for key, value in config.items():
            if key in earlier:
                continue
            if setting(key) is None:
                self._report(file, key, self._take_old(file, trusted, key, value, config))
            else:
                self._report(file, key, self._take(file, trusted, key, value))
        if trusted:
            self._own = dict(self._values)

    def _take_earlier(self, file: str, config: dict[str, object]) -> list[str]:
        """Report the settings of the earlier plugin that are not used here, all at once, and return their keys."""
        if all(setting(key) for key in config):
            return []
        from onrecord import earlier_config

        keys = earlier_config.unused_keys(config)
        if keys:
            self._report(file, WHOLE_FILE, f"{_OF_EARLIER_PLUGIN} ({len(keys)})")
        return keys

    def _take(self, file: str, trusted: bool, key: str, value: object) -> str:
        """Set `key` if `value` can be used. Return the problem with it, or nothing."""
        usable, reason = _checked(key, value, trusted)
        if usable is not None and not trusted:
            refusal = self._refusal(key, usable)
            usable, reason = (None, refusal) if refusal else (usable, reason)
        if usable is not None:
            self._values[key] = usable
            self.origins[key] = file
        return reason

    def _take_old(self, file: str, trusted: bool, key: str, value: object, config: dict[str, object]) -> str:
        """Set the successor of an old key, unless `config` also has the successor. Return the problem, or nothing."""
        from onrecord import setting_table

        if key in setting_table.REMOVED:
            return ""
        renamed = setting_table.successor(key, value)
        if renamed is None:
            return _UNKNOWN
        if renamed.key in config:
            return f"is now {renamed.key}, which is set too and is used"
        if renamed.value is None:
            return f"is now {renamed.key}, and can be left out"
        reason = self._take(file, trusted, renamed.key, renamed.value)
        if not reason and not renamed.is_reported:
            return ""
        return f"is now {renamed.key}: {reason or f'{renamed.value!r} is used'}"

    def _report(self, file: str, key: str, reason: str) -> None:
        if reason and len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(SettingProblem(file, key, reason))

    def own_value(self, key: str) -> object:
        """Return the value of `key` without the project's config: the user's own, or the default."""
        if key in self._own:
            return self._own[key]
        if key.startswith(BY_RECORD):
            return self.own_value("checks.enforce")
        declared = setting(key)
        return declared.default if declared else None

    def is_from_project(self, key: str) -> bool:
        """True if the config of a project has changed `key`."""
        return self._values.get(key, self.own_value(key)) != self.own_value(key)

    def _refusal(self, key: str, value: object) -> str:
        """Return the reason to refuse a project's value, or nothing: it may go in one direction only."""
        allowed = direction(key)
        own = self.own_value(key)
        where = "your own config says" if key in self._own else "the default is"
        if allowed.way == "part":
            names = own if isinstance(own, tuple) else ()
            is_refused = not _is_part(value, names)
            return f"{where} {', '.join(names)}{_PROJECT_MAY}choose among these" if is_refused else ""
        change = level(key, value) - level(key, own) if value != own else 0.0
        if (allowed.way == "down" and change > 0) or (allowed.way == "up" and change < 0):
            return f"{where} {own!r}{_PROJECT_MAY}{allowed.verb} that: {value!r} would be {allowed.refused}"
        return ""


class ProjectSetting(NamedTuple):
    """A setting that the config of a project changes: from what to what, and whether it hides or adds something."""

    key: str
    value: str
    own: str
    effect: str
    file: str

    def __str__(self) -> str:
        return f"{self.key} is {self.value} in this project, not {self.own}: it {self.effect}"


_EFFECTS = {
    "hides": "hides something that you would get",
    "adds": "adds something that you would not get",
    "reorders": "changes what comes first",
    "renews": "has a file of the project renewed",
}


def project_settings(settings: Settings) -> Iterator[ProjectSetting]:
    """Yield the settings that the config of a project changes."""
    for key, file in settings.origins.items():
        if settings.is_from_project(key):
            value, own = _in_words(settings.value(key)), _in_words(settings.own_value(key))
            yield ProjectSetting(key, value, own, _EFFECTS[direction(key).effect], file)


def _in_words(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "all"
    return (str(value).lower() if isinstance(value, bool) else str(value)) or "empty"


def load_settings(store_root: str, user_root: str | None = None) -> Settings:
    """Return the settings for a store: the user's, overridden by the store's own."""
    settings = Settings()
    user_root = paths.user_store() if user_root is None else user_root
    if user_root:
        _load_file(settings, user_root, trusted=_is_the_users(user_root, store_root))
    if store_root and store_root != user_root:
        _load_file(settings, store_root, trusted=False)
    return settings


def _is_the_users(user_root: str, store_root: str) -> bool:
    """True unless the user's store is inside the project, where its authors could have put it."""
    if not store_root or store_root == user_root:
        return True
    return not paths.is_within(os.path.dirname(os.path.dirname(store_root)), user_root)


def _load_file(settings: Settings, root: str, trusted: bool) -> None:
    file = os.path.join(root, paths.CONFIG)
    if os.path.islink(file) and not paths.is_within(root, file):
        settings.problems.append(SettingProblem(file, WHOLE_FILE, "is a link that leads out of the store"))
        return
    try:
        text = files.read_inside(root, paths.CONFIG, _MAX_FILE_BYTES).decode().removeprefix("\ufeff")
        raw = coldstart.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        settings.problems.append(SettingProblem(file, WHOLE_FILE, f"cannot be read: {error}"))
        if isinstance(error, OSError) and files.is_fault(error):
            from onrecord import state_file

            state_file.go_without("settings", files.unreadable(file, error).message)
        return
    if not isinstance(raw, dict):
        settings.problems.append(SettingProblem(file, WHOLE_FILE, "must be a JSON object"))
        return
    settings.take(file, trusted, flattened(raw))


def flattened(config: dict[str, object]) -> dict[str, object]:
    """Return the values of a config by their keys with dots."""
    flat: dict[str, object] = {}
    _flatten(config, "", flat, depth=0)
    return flat


def _flatten(config: dict[str, object], prefix: str, flat: dict[str, object], depth: int) -> None:
    for key, value in config.items():
        # No setting has more than four parts; an object below that is a value of the wrong type.
        if isinstance(value, dict) and depth < 4:
            _flatten(value, f"{prefix}{key}.", flat, depth + 1)
        else:
            flat[f"{prefix}{key}"] = value


def _checked(key: str, value: object, trusted: bool) -> tuple[object, str]:
    """Return the value to use, or None, and the problem with `value`, or nothing."""
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


def _is_part(remotes: object, allowed: tuple[str, ...]) -> bool:
    """True if all `remotes` are in `allowed`, or are `none`; an empty `allowed` means all."""
    return not allowed or (isinstance(remotes, tuple) and bool(remotes) and {*remotes} <= {*allowed, "none"})


def _checked_names(value: object) -> tuple[object, str]:
    if not isinstance(value, list) or len(value) > _MAX_NAMES or not all(isinstance(name, str) for name in value):
        return None, f"must be a list of at most {_MAX_NAMES} names; the default is used"
    return tuple(value), ""


def _checked_number(declared: Setting, fallback: float, value: object) -> tuple[object, str]:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (value < 0 or value >= 0):
        return None, f"must be a number; {fallback} is used"
    if not declared.minimum <= value <= declared.maximum:
        if declared.is_exact:
            return None, f"must be from {declared.minimum:g} to {declared.maximum:g}; {fallback:g} is used"
        nearest = type(fallback)(min(max(value, declared.minimum), declared.maximum))
        return nearest, f"must be from {declared.minimum:g} to {declared.maximum:g}; {nearest:g} is used"
    if isinstance(fallback, int) and value != int(value):
        return None, f"must be a whole number; {fallback} is used"
    return value, ""


class OffSwitch(NamedTuple):
    """A switch that is off: its value, the file that sets it, the consequence, and the command that switches it on."""

    key: str
    value: str
    file: str
    consequence: str
    fix: str

    def __str__(self) -> str:
        return f"{self.key} is {self.value}, so {self.consequence}"


def off_switches(settings: Settings, *keys: str) -> Iterator[OffSwitch]:
    """Yield the switches that are off: those of `keys`, or all."""
    if os.environ.get(OFF_VARIABLE):
        yield OffSwitch(OFF_VARIABLE, "set", "the environment", "hooks do nothing", f"unset {OFF_VARIABLE}")
    for key in keys or _CONSEQUENCES:
        if settings.is_set(key) and settings.value(key) in _OFF_VALUES:
            file = settings.origins[key]
            flag = _user_flag(file)
            value = str(settings.value(key)).lower()
            yield OffSwitch(key, value, file, _CONSEQUENCES[key], f"onrecord config unset {key}{flag}")
