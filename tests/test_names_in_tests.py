"""Names of the package that tests use exist: an assignment to one that was renamed would change nothing, in silence."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parent


def test_every_attribute_that_a_test_sets_in_a_module_of_ours_exists():
    wrong = [
        f"{path.relative_to(TESTS)}:{line}: {module.__name__}.{name}"
        for path in sorted(TESTS.rglob("*.py"))
        for line, module, name in _settings_in(ast.parse(path.read_text(encoding="utf-8")))
        if not hasattr(module, name)
    ]

    assert wrong == []


def _settings_in(tree: ast.Module) -> Iterator[tuple[int, ModuleType, str]]:
    """Yield the line, the module and the name of each attribute that is assigned to, or set with `monkeypatch`."""
    modules = dict(_modules(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            target, name = node.value, node.attr
        elif _is_patch(node):
            target, name = node.args[0], node.args[1].value
        else:
            continue
        if isinstance(target, ast.Name) and target.id in modules:
            yield node.lineno, modules[target.id], name


def _is_patch(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "setattr"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    )


def _modules(tree: ast.Module) -> Iterator[tuple[str, ModuleType]]:
    """Yield the names under which the test imports modules of ours at its top, and the modules."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "onrecord":
            for alias in node.names:
                try:
                    yield alias.asname or alias.name, importlib.import_module(f"{node.module}.{alias.name}")
                except ModuleNotFoundError:
                    # A class, a function or a constant.
                    continue
