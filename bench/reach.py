"""Which tests run which block of the source, noted once by a marker in every block of every function.

Markers are part of the source, so that they also work in processes that tests start with `python -S -E`.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from bench import mutation
from bench.mutant_plugin import PROBE
from bench.sandbox import Sandbox

LOG = "reach.log"
SLOWEST_FILE = 900.0
"""Seconds after which a test file with markers is given up; none takes a tenth of it."""

PROBE_SOURCE = """
from os import O_APPEND, O_CREAT, O_WRONLY, close, open, write

SEEN = set()

def note(text):
    try:
        log = open(LOG, O_WRONLY | O_APPEND | O_CREAT, 0o666)
        write(log, text.encode())
        close(log)
    except OSError:
        pass

def enter(context):
    SEEN.clear()
    note("> " + context + "\\n")

def marker(path):
    def reached(line):
        if (path, line) not in SEEN:
            SEEN.add((path, line))
            note(path + ":" + str(line) + "\\n")
    return reached
"""


class Reach(NamedTuple):
    """Seconds by test, and the tests that reach a block, in files whole or one by one."""

    seconds: dict[str, float]
    blocks: dict[str, list[str]]

    def tests(self, path: str, block: int, budget: float) -> list[str]:
        """Tests that reach a block, then others of files that do so outside of tests, quick ones first.

        Code outside of functions runs once in a process, when imported: any test of such a file may notice it.
        """
        names = set(self.blocks.get(f"{path}:{block}", ()))
        if not block:
            names.update(name for key in self.blocks if key.startswith(f"{path}:") for name in self.blocks[key])
        files = {name if block else name.split("::")[0] for name in names}
        ranked = sorted(self.seconds, key=lambda name: (name not in names, self.seconds[name]))
        return _within((name for name in ranked if name in names or name.split("::")[0] in files), self.seconds, budget)


def _within(names: Iterable[str], seconds: dict[str, float], budget: float) -> list[str]:
    result = []
    for name in names:
        budget -= seconds[name]
        if budget < 0:
            break
        result.append(name)
    return result


def mark(path: str, source: str) -> str:
    """The source with a marker at the start of every block in a function, and one for the module."""
    tree = ast.parse(source)
    _mark(tree, is_inside=False)
    start = ast.parse(f"from {PROBE} import marker as _marker\n_reached = _marker({path!r})\n_reached(0)").body
    place = next((n for n, node in enumerate(tree.body) if not _must_lead(node)), len(tree.body))
    tree.body[place:place] = start
    return ast.unparse(ast.fix_missing_locations(tree))


def _mark(node: ast.AST, *, is_inside: bool) -> None:
    is_inside = is_inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for child in ast.iter_child_nodes(node):
        _mark(child, is_inside=is_inside)
    for block in mutation.blocks(node) if is_inside else ():
        block.insert(int(_must_lead(block[0])), ast.parse(f"_reached({block[0].lineno})").body[0])


def _must_lead(node: ast.stmt) -> bool:
    """Docstrings and imports from the future stand before all else."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def find(cache: Path, sandboxes: Sequence[Sandbox], sources: dict[str, str]) -> Reach:
    """The reach of the tests, read from the cache where neither tests nor sources have changed."""
    root = sandboxes[0].root
    digest = hashlib.sha256(PROBE_SOURCE.encode())
    for path in sorted(path for path in (*root.glob("src/**/*"), *root.glob("tests/**/*")) if path.is_file()):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    store = cache / f"reach-{digest.hexdigest()[:16]}.json"
    if not store.exists():
        reach = _measure(sandboxes, sources)
        cache.mkdir(exist_ok=True)
        for outdated in cache.glob("reach-*.json"):
            outdated.unlink()
        store.write_text(json.dumps(reach), encoding="utf-8")
    return Reach(*json.loads(store.read_text(encoding="utf-8")))


def _measure(sandboxes: Sequence[Sandbox], sources: dict[str, str]) -> Reach:
    """Run every test file once, in trees with markers."""
    files = sorted(
        path.relative_to(sandboxes[0].root).as_posix() for path in sandboxes[0].root.glob("tests/**/test_*.py")
    )
    reach = Reach({}, {})
    free: SimpleQueue[Sandbox] = SimpleQueue()
    for sandbox in sandboxes:
        free.put(sandbox)
        _write(sandbox, {path: mark(path, source) for path, source in sources.items()})
        log = f"LOG = {str(sandbox.root / LOG)!r}\n"  # tests may copy the sources to other folders
        (sandbox.root / "src" / f"{PROBE}.py").write_text(log + PROBE_SOURCE, encoding="utf-8")
    with ThreadPoolExecutor(len(sandboxes)) as pool:
        list(pool.map(lambda name: _measure_file(free, reach, name), files))
    for sandbox in sandboxes:
        _write(sandbox, sources)
        (sandbox.root / "src" / f"{PROBE}.py").unlink()
    return reach


def _write(sandbox: Sandbox, sources: dict[str, str]) -> None:
    for path, source in sources.items():
        sandbox.write(path, source)


def _measure_file(free: SimpleQueue[Sandbox], reach: Reach, name: str) -> None:
    sandbox = free.get()
    try:
        log = sandbox.root / LOG
        log.write_text("", encoding="utf-8")
        outcome = sandbox.test([name], timeout=SLOWEST_FILE)
        reach.seconds.update(outcome.seconds)
        context = name
        for line in log.read_text(encoding="utf-8").splitlines():
            if line.startswith("> "):
                context = line[2:] or name
            elif context not in (tests := reach.blocks.setdefault(line, [])):
                tests.append(context)
    finally:
        free.put(sandbox)
