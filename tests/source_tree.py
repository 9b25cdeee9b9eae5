"""The modules of the package as syntax trees, parsed once in a process for all the tests that read them."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "onrecord"
FILES = sorted(SRC.rglob("*.py"))


@functools.cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def trees() -> dict[str, ast.Module]:
    """Return the tree of every module, by its path in the package."""
    return {file.relative_to(SRC).as_posix(): tree(file) for file in FILES}
