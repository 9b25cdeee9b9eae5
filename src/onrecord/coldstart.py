"""JSON, SQLite, a hash and named tuples for hooks, without the standard packages around them.

`json` imports `re` and costs a cold process about as much as starting Python; `typing` and `sqlite3` cost as much
again, and `hashlib` loads OpenSSL. A hook runs many times a day, so it uses the C modules directly. On a Python without
them the standard packages are used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection, connect
    from sqlite3 import Error as SqliteError
    from typing import Any, NamedTuple

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["Connection", "NamedTuple", "SqliteError", "connect", "content_hash", "dumps", "loads", "number_of"]

_SPACE = " \t\n\r"


def __getattr__(name: str) -> Any:
    """Load the names of SQLite on first use: loading its library costs more than all else a hook does."""
    if name not in ("Connection", "SqliteError", "connect"):
        raise AttributeError(name)
    try:
        library = _sqlite()
    except ImportError:
        library = _standard_sqlite()
    names = {"Connection": library.Connection, "SqliteError": library.Error, "connect": library.connect}
    globals().update(names)
    return names[name]


def _standard_sqlite() -> Any:
    """Return the standard module. Raises NoSqlite if this Python was built without it, as some are."""
    try:
        import sqlite3
    except ImportError as error:
        import sys

        from onrecord.errors import NoSqlite

        fix = "use another Python, 3.9 or later, that can `import sqlite3`"
        raise NoSqlite(f"{sys.executable or 'this Python'} has no sqlite3: {error}", fix=fix) from error
    return sqlite3


def _sqlite() -> Any:
    """Return the C module of SQLite.

    Since Python 3.11 it imports `functools`, and with it `collections`, for the one name `lru_cache`: 4 ms of a
    hook's 25. If `functools` is not loaded yet, a stand-in with that name takes its place during the import.
    """
    import sys

    if "functools" in sys.modules:
        import _sqlite3

        return _sqlite3
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

    stand_in: Any = type(sys)("functools")
    stand_in.lru_cache = lambda size: lambda function: _lru_cache_wrapper(function, size, False, tuple)
    sys.modules["functools"] = stand_in
    try:
        import _sqlite3
    finally:
        del sys.modules["functools"]
    return _sqlite3


def content_hash(data: bytes) -> str:
    """Return a short hash of `data`, in 32 hex digits."""
    return str(blake2b(data, digest_size=16).hexdigest())


def number_of(data: bytes) -> int:
    """Return a number of 64 bits that stands for `data`."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


try:
    from _json import encode_basestring_ascii as _quote
    from _json import make_scanner
except ImportError:
    from json import dumps as _quote
    from json import loads as _json_loads

    def loads(text: str) -> Any:
        """Return the value of a JSON text. Raises ValueError."""
        return _json_loads(text, parse_constant=_reject_constant)

else:

    class _Grammar:
        strict = True
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = staticmethod(_reject_constant)

    _scan = make_scanner(_Grammar())  # type: ignore[arg-type]

    def loads(text: str) -> Any:
        """Return the value of a JSON text. Raises ValueError."""
        body = text.strip(_SPACE)
        try:
            value, end = _scan(body, 0)
        except (StopIteration, SystemError):
            # The scanner would raise an error class of `json`; that is not loaded, so it raises SystemError.
            raise ValueError("not JSON") from None
        except RecursionError:
            raise ValueError("JSON nested too deeply") from None
        if end != len(body):
            raise ValueError("text after the JSON value")
        return value


def dumps(value: Any) -> str:
    """Return `value` (dictionaries, sequences, texts, numbers, booleans, None) as JSON, in ASCII and on one line."""
    if isinstance(value, str):
        return _quote(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quote(key)}:{dumps(part)}" for key, part in value.items()) + "}"
    return "[" + ",".join(map(dumps, value)) + "]"


if not TYPE_CHECKING:
    from _collections import _tuplegetter

    class _Record(tuple):
        """Base of our named tuples: like those of `typing`, but no code is compiled for each class."""

        __slots__ = ()
        _fields = ()
        _field_defaults = {}

        def __new__(cls, *values, **keywords):
            missing = cls._fields[len(values) :]
            if missing or keywords or len(values) > len(cls._fields):
                values = (*values, *cls._keyword_values(missing, keywords))
            return tuple.__new__(cls, values)

        @classmethod
        def _keyword_values(cls, missing, keywords):
            lacking = [field for field in missing if field not in keywords and field not in cls._field_defaults]
            unknown = [name for name in keywords if name not in missing]
            if lacking or unknown or not (missing or keywords):
                raise TypeError(f"{cls.__name__}() lacks {lacking}, got unexpected {unknown}, takes {cls._fields}")
            return [keywords[field] if field in keywords else cls._field_defaults[field] for field in missing]

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **changes):
            return type(self)(**{**self._asdict(), **changes})

        def _asdict(self):
            return dict(zip(self._fields, self))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def __getnewargs__(self):
            return tuple(self)

    class _RecordMaker(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return type.__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in fields if field in body}
            getters = {field: _tuplegetter(position, None) for position, field in enumerate(fields)}
            extras = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type(name, (_Record,), {**body, **getters, **extras})

    class NamedTuple(metaclass=_RecordMaker):
        """Base class of all value types here: like `typing.NamedTuple`, at a hundredth of its import cost."""
