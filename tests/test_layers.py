"""Imports run one way, and what a hook loads stays cheap: both are promises of docs/design.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
HEAVY = (
    "argparse asyncio collections contextlib dataclasses datetime functools hashlib importlib.metadata inspect json"
    " logging pathlib re sqlite3 ssl subprocess tempfile typing urllib"
).split()
LEAN = ["lean", "paths", "rules", "config", "moment"]


def _modules() -> dict[str, Path]:
    found = {}
    for file in sorted((SRC / "recollect").rglob("*.py")):
        name = ".".join(file.relative_to(SRC).with_suffix("").parts)
        found[name[: -len(".__init__")] if name.endswith(".__init__") else name] = file
    return found


MODULES = _modules()


def imports(module: str, *, lazy: bool) -> set[str]:
    """The modules of ours that one imports when it is loaded; with `lazy` also those its functions import."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return {name for name in _imported(tree, lazy) if name in MODULES and name not in (module, "recollect")}


def _imported(node: ast.AST, lazy: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and not lazy:
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            yield child.module
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        yield from _imported(child, lazy)


def _levels() -> dict[str, int]:
    """The layer of each module of the foundation, as docs/design.md lists them."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (\d+) \| `([\w.]+)` \|", page, re.MULTILINE)
    return {f"recollect.{name}": int(level) for level, name in table}


def test_modules_of_the_foundation_import_only_from_layers_below():
    level = _levels()
    assert len(level) > 15
    assert sorted(set(level) - set(MODULES)) == []

    upward = [
        f"{module} imports {name}"
        for module in level
        for name in imports(module, lazy=False)
        if MODULES[name].name != "__init__.py" and level.get(name, 99) >= level[module]
    ]

    assert upward == []


def _packages() -> list[str]:
    """The packages on top of the foundation, lowest first, as docs/design.md lists them."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)


def test_packages_import_only_from_those_listed_before_them():
    order = _packages()
    folders = {file.parent.name for file in (SRC / "recollect").glob("*/__init__.py")}
    assert set(order) == folders

    upward = [
        f"{module} imports {name}"
        for module in MODULES
        for name in imports(module, lazy=True)
        if (here := module.split(".")[1:2]) and (there := name.split(".")[1:2]) and here != there
        if here[0] in order and there[0] in order and order.index(there[0]) > order.index(here[0])
    ]

    assert upward == []


def test_no_module_imports_itself_by_a_detour():
    graph = {module: imports(module, lazy=False) for module in MODULES}
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for name in sorted(graph[module]):
                walk(name, (*path, module))
            done.add(module)

    for module in graph:
        walk(module, ())


def test_commands_and_hooks_know_neither_each_other_nor_are_known_below():
    doors = ("recollect.cli", "recollect.hooks")
    wrong = [
        f"{module} imports {name}"
        for module in MODULES
        for name in imports(module, lazy=True)
        for door in doors
        if name.startswith(door) and not module.startswith(door) and module != "recollect.__main__"
    ]

    assert wrong == []


def loaded(*modules: str) -> set[str]:
    """Every module that importing some of ours loads in a bare interpreter, beyond os, sys and time."""
    code = (
        "import os, sys, time; sys.path.insert(0, sys.argv[1]); before = set(sys.modules)\n"
        "for name in sys.argv[2:]: __import__('recollect.' + name)\n"
        "print('\\n'.join(set(sys.modules) - before))"
    )
    command = [sys.executable, "-S", "-E", "-c", code, str(SRC), *modules]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def too_heavy(names: set[str]) -> list[str]:
    """Those of some loaded modules that a hook must not load."""
    return sorted(name for name in names if any(name == heavy or name.startswith(f"{heavy}.") for heavy in HEAVY))


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="takes C modules of CPython directly")
@pytest.mark.parametrize("module", LEAN)
def test_the_modules_every_hook_starts_with_load_nothing_but_c(module):
    found = loaded(module)

    assert too_heavy(found) == []
    allowed = {"__future__", "_blake2", "_json", "recollect", *(f"recollect.{name}" for name in LEAN)}
    assert sorted(found - allowed) == []


def test_the_guard_sees_a_heavy_module():
    assert too_heavy(loaded("memory")) != []
