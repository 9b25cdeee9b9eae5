"""Imports run one way, and what a hook loads stays cheap: both are promises of docs/architecture.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import source_tree

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
HEAVY = (
    "argparse asyncio collections contextlib dataclasses datetime functools hashlib importlib.metadata inspect json"
    " logging pathlib re sqlite3 ssl subprocess tempfile typing urllib"
).split()
LEAN = [
    "coldstart",
    "errors",
    "files",
    "paths",
    "categories",
    "setting_table",
    "settings",
    "timestamps",
    "state_file",
    "text",
]


def _modules() -> dict[str, Path]:
    found = {}
    for file in sorted((SRC / "onrecord").rglob("*.py")):
        name = ".".join(file.relative_to(SRC).with_suffix("").parts)
        found[name[: -len(".__init__")] if name.endswith(".__init__") else name] = file
    return found


MODULES = _modules()


def imports(module: str, *, lazy: bool) -> set[str]:
    """The modules of ours that one imports when it is loaded; with `lazy` also those its functions import."""
    tree = source_tree.tree(MODULES[module])
    return {name for name in _imported(tree, lazy) if name in MODULES and name not in (module, "onrecord")}


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


PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ORDER = (
    "record store search freshness git session recall digest capture usage audit importers doctor shared"
    " hosts hooks mcp web cli"
).split()
ON_TOP = {"onrecord", "onrecord.__main__", "onrecord.attention", "onrecord.project"}
"""Root modules that stand above the packages."""


def _package(module: str) -> str:
    """The package a module belongs to; empty for the root modules."""
    name = module.split(".")[1] if "." in module else ""
    return name if name in ORDER else ""


def _allowed() -> dict[str, set[str]]:
    """What each package may import, as the table of docs/architecture.md says."""
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    return {name: set(ORDER) - {"hooks"} if "all but hooks" in others else set(others.split()) for name, others in rows}


def test_the_architecture_page_lists_every_package_in_order():
    folders = {file.parent.name for file in (SRC / "onrecord").glob("*/__init__.py")}

    assert list(_allowed()) == ORDER
    assert folders == set(ORDER)


def test_the_tree_of_the_architecture_page_names_every_module():
    tree = PAGE.split("```")[1]
    name, listed = "", dict[str, list[str]]()
    for line in tree.strip().splitlines():
        if line.startswith("--"):
            continue
        folder, modules = line[:13].strip().rstrip("/"), line[13:].split()
        name = folder or name
        listed.setdefault("" if name == "onrecord" else name, []).extend(modules)
    own = [module for module in MODULES if module not in ("onrecord", "onrecord.__main__")]
    leaves = {package: [] for package in ("", *ORDER)}
    for module in own:
        if module.removeprefix("onrecord.") not in ORDER:
            leaves[_package(module)].append(module.rpartition(".")[2])

    assert listed == {package: sorted(modules) for package, modules in leaves.items()}


def test_the_modules_that_the_page_on_the_inside_names_exist():
    page = (ROOT / "docs" / "how-it-works-inside.md").read_text(encoding="utf-8")
    names = [f"onrecord.{name}" for name in re.findall(rf"`((?:{'|'.join(ORDER)})\.[a-z_]+)[.`]", page)]

    assert len(names) > 10
    assert sorted(set(names) - set(MODULES)) == []


def test_packages_import_only_what_the_architecture_page_allows():
    allowed = _allowed()
    wrong = [
        f"{module} imports {name}"
        for module in MODULES
        for name in imports(module, lazy=True)
        if (here := _package(module)) and (there := _package(name)) and here != there
        if there not in allowed[here]
    ]

    assert wrong == []


OTHER_DATABASES = {
    "onrecord.shared.hub_": "Postgres, the team's database",
    "onrecord.importers.memories": "the database of another program, read once",
    "onrecord.hosts.opencode": "OpenCode's own database of sessions",
    "onrecord.digest.knowledge_bank": "a table in memory for the entries of knowledge banks, which no index holds",
}
"""Modules and packages outside `search` with SQL, and the database it is for."""


def test_only_search_has_sql_over_the_index():
    others = tuple(OTHER_DATABASES)
    wrong = [
        f"{module}: {line.strip()}"
        for module, file in MODULES.items()
        if _package(module) != "search" and not module.startswith(others)
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bSELECT |\bMATCH \?|\w\._?connection\.(?!\w+ import)", line)
    ]

    assert wrong == []


def test_root_modules_import_no_package():
    wrong = [
        f"{module} imports {name}"
        for module in MODULES
        if not _package(module) and module not in ON_TOP
        for name in imports(module, lazy=True)
        if _package(name)
    ]

    assert wrong == []


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


@pytest.mark.parametrize("package", ["search", "store", "freshness", "git", "session"])
def test_no_module_imports_itself_by_a_detour_that_is_lazy(package):
    graph = {module: imports(module, lazy=True) for module in MODULES if _package(module) == package}

    def walk(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        for name in sorted(graph.get(module, ())):
            walk(name, (*path, module))

    for module in graph:
        walk(module, ())


STARTERS = ("onrecord.__main__", "onrecord.cli.mcp", "onrecord.cli.web")
"""What starts a program at one of its doors."""


def test_commands_and_hooks_know_neither_each_other_nor_are_known_below():
    doors = ("onrecord.cli", "onrecord.hooks", "onrecord.mcp", "onrecord.web")
    wrong = [
        f"{module} imports {name}"
        for module in MODULES
        for name in imports(module, lazy=True)
        for door in doors
        if name.startswith(door) and not module.startswith(door) and module not in STARTERS
    ]

    assert wrong == []


def loaded(*modules: str) -> set[str]:
    """Every module that importing some of ours loads in a bare interpreter, beyond os, sys and time."""
    code = (
        "import os, sys, time; sys.path.insert(0, sys.argv[1]); before = set(sys.modules)\n"
        "for name in sys.argv[2:]: __import__('onrecord.' + name)\n"
        "print('\\n'.join(set(sys.modules) - before))"
    )
    command = [sys.executable, "-S", "-E", "-c", code, str(SRC), *modules]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.split())


def too_heavy(names: set[str]) -> list[str]:
    """Those of some loaded modules that a hook must not load."""
    return sorted(name for name in names if any(name == heavy or name.startswith(f"{heavy}.") for heavy in HEAVY))


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="takes C modules of CPython directly")
@pytest.mark.parametrize("module", LEAN)
def test_the_modules_every_hook_starts_with_load_nothing_but_c(module):
    found = loaded(module)

    assert too_heavy(found) == []
    allowed = {"__future__", "_blake2", "_collections", "_json", "onrecord", *(f"onrecord.{name}" for name in LEAN)}
    assert sorted(found - allowed) == []


def test_the_guard_sees_a_heavy_module():
    assert too_heavy(loaded("record.memory")) != []


def test_search_loads_only_what_search_needs():
    names = loaded("search.rank", "search.index")
    modules = {name for name in names if name.startswith("onrecord.")}
    own = "candidates coefficients command_filter index indexing rank refresh relevance tables terms".split()
    own.append("word_features")

    assert too_heavy(names) == []
    assert sorted(modules) == sorted(
        ["onrecord.search", *(f"onrecord.search.{name}" for name in own)]
        + [f"onrecord.{name}" for name in ("categories", "coldstart", "paths", "session", "session.shell_words")]
    )
