"""The C modules a hook needs, without the packages around them.

`json` imports `re` and costs a cold process about as much as starting Python; `sqlite3` brings `datetime`
and `hashlib` brings OpenSSL. A hook runs many times a day, so it takes the C parts directly. On a Python
without them the standard packages serve.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection, connect
    from sqlite3 import Error as SqliteError
    from typing import Any

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["Connection", "SqliteError", "connect", "digest", "loads", "quote", "read"]

_SPACE = " \t\n\r"


def __getattr__(name: str) -> Any:
    """SQLite's names, loaded when first asked for: linking its library costs more than all else a hook does."""
    if name not in ("Connection", "SqliteError", "connect"):
        raise AttributeError(name)
    try:
        library = _sqlite()
    except ImportError:
        import sqlite3 as library
    found = {"Connection": library.Connection, "SqliteError": library.Error, "connect": library.connect}
    globals().update(found)
    return found[name]


def _sqlite() -> Any:
    """The C module of SQLite.

    From Python 3.11 on it imports `functools`, and with it `collections`, for the one name `lru_cache`: 4 ms of a
    hook's 25. Where nobody has loaded `functools` yet, a stand-in with that name serves, and is gone again after.
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


def digest(data: bytes) -> str:
    """A short fingerprint of bytes: 32 hex digits."""
    return str(blake2b(data, digest_size=16).hexdigest())


def read(path: str, most: int) -> bytes:
    """The first `most` bytes of a regular file; OSError for anything else: a FIFO would hang, a device never end."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        with open(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


try:
    from _json import encode_basestring_ascii as quote
    from _json import make_scanner
except ImportError:
    from json import dumps as quote
    from json import loads as _json_loads

    def loads(text: str) -> Any:
        """The value a JSON text stands for; ValueError if it is not JSON."""
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
        """The value a JSON text stands for; ValueError if it is not JSON."""
        body = text.strip(_SPACE)
        try:
            value, end = _scan(body, 0)
        except (StopIteration, SystemError):
            # The scanner borrows its error from `json`, which is not loaded, and then fails without one.
            raise ValueError("not JSON") from None
        except RecursionError:
            raise ValueError("JSON nested too deeply") from None
        if end != len(body):
            raise ValueError("something follows the JSON")
        return value
