"""The user's folders, moved for a while: what runs inside touches none of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def moved(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables that say where things live, set for a while and put back as they were."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
