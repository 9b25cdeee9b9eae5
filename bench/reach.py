"""Which tests run which block of the source, noted once by a marker in every block of every function.

Markers are part of the source, so that they also work in processes that tests start with `python -S -E`.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
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

    def sizes(self) -> Counter[str]:
        """Count the blocks that each test reaches."""
        return Counter(name for names in self.blocks.values() for name in names)


class Order:
    """Chooses the tests for a block: first those that reach little else, since they are about it, and are quick."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._by_module: dict[str, set[str]] = defaultdict(set)
        for key, names in reach.blocks.items():
            self._by_module[key.rpartition(":")[0]].update(names)
        sizes = reach.sizes()
        self._ranks = {name: (sizes[name], seconds) for name, seconds in reach.seconds.items()}

    def tests(self, path: str, block: int, budget: float) -> list[str]:
        """Return tests that reach a block, then others of files that do so outside of tests.

        Code outside of functions runs once in a process, when imported: any test that reaches the module may notice it.
        """
        names = set(self._reach.blocks.get(f"{path}:{block}", ()))
        if not block or any("::" not in name for name in names):
            names |= self._by_module[path]
        files = {name for name in names if "::" not in name}
        tests = [name for name in self._ranks if name in names or name.split("::")[0] in files]
        tests.sort(key=lambda name: (name not in names, self._ranks[name]))
        return list(_within(tests, self._reach.seconds, budget))


def _within(names: Iterable[str], seconds: dict[str, float], budget: float) -> Iterator[str]:
    for name in names:
        if seconds[name] <= budget:
            budget -= seconds[name]
            yield name


def mark(path: str, source: str) -> str:
    """Return the source with a marker at the start of every block in a function, and one for the module.

    A module without functions has no mutants and stays: it may be the script that makes the package importable.
    """
    tree = ast.parse(source)
    if not mutation.has_functions(tree):
        return source
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
    """True for docstrings and imports from the future, which stand before all else."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def find(cache: Path, sandboxes: Sequence[Sandbox], sources: dict[str, str]) -> Reach:
    """Return the reach of the tests.

    A test file runs again when it, the modules beside the tests, or a source that it reaches has changed.
    """
    cache.mkdir(parents=True, exist_ok=True)
    root = sandboxes[0].root
    maps = [FileReach(path, root, cache, sources) for path in sorted(root.glob("tests/**/test_*.py"))]
    _measure(sandboxes, sources, [each for each in maps if not each.is_current])
    result = Reach({}, {})
    for each in maps:
        reach = each.read()
        result.seconds.update(reach.seconds)
        for block, names in reach.blocks.items():
            result.blocks.setdefault(block, []).extend(names)
    return result


class FileReach:
    """What the tests of one file reach, kept in the cache."""

    def __init__(self, path: Path, root: Path, cache: Path, sources: dict[str, str]) -> None:
        self.name = path.relative_to(root).as_posix()
        self._sources = sources
        self._store = cache / f"{self.name.replace('/', '.')}.json"
        beside = (other for other in sorted(root.glob("tests/**/*.py")) if not other.name.startswith("test_"))
        self._key = _digest(PROBE_SOURCE, *(each.read_text(encoding="utf-8") for each in (path, *beside)))

    @property
    def is_current(self) -> bool:
        if not self._store.exists():
            return False
        key, digests, _ = json.loads(self._store.read_text(encoding="utf-8"))
        return bool(key == self._key and digests == self._digests(digests))

    def read(self) -> Reach:
        return Reach(*json.loads(self._store.read_text(encoding="utf-8"))[2])

    def write(self, reach: Reach) -> None:
        digests = self._digests(key.rpartition(":")[0] for key in reach.blocks)
        self._store.write_text(json.dumps([self._key, digests, reach]), encoding="utf-8")

    def _digests(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: _digest(self._sources.get(path, "")) for path in paths}


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _measure(sandboxes: Sequence[Sandbox], sources: dict[str, str], maps: Sequence[FileReach]) -> None:
    """Run test files once, in trees with markers."""
    free: SimpleQueue[Sandbox] = SimpleQueue()
    for sandbox in sandboxes if maps else ():
        free.put(sandbox)
        _write(sandbox, {path: mark(path, source) for path, source in sources.items()})
        log = f"LOG = {str(sandbox.root / LOG)!r}\n"  # tests may copy the sources to other folders
        (sandbox.root / "src" / f"{PROBE}.py").write_text(log + PROBE_SOURCE, encoding="utf-8")
    with ThreadPoolExecutor(len(sandboxes)) as pool:
        list(pool.map(lambda each: _measure_file(free, each), maps))
    for sandbox in sandboxes if maps else ():
        _write(sandbox, sources)
        (sandbox.root / "src" / f"{PROBE}.py").unlink()


def _write(sandbox: Sandbox, sources: dict[str, str]) -> None:
    for path, source in sources.items():
        sandbox.write(path, source)


def _measure_file(free: SimpleQueue[Sandbox], file: FileReach) -> None:
    """Note what the tests of a file reach. One that fails here may do so because of the markers, and stays."""
    sandbox = free.get()
    try:
        log = sandbox.root / LOG
        log.write_text("", encoding="utf-8")
        outcome = sandbox.test([file.name], timeout=SLOWEST_FILE)
        blocks: dict[str, set[str]] = defaultdict(set)
        context = file.name
        for line in log.read_text(encoding="utf-8").splitlines():
            if line.startswith("> "):
                context = line[2:] or file.name
            elif context == file.name or context in outcome.seconds:
                blocks[line].add(context)
        for name in outcome.failures:
            print(f"fails with markers: {name}", flush=True)
        file.write(Reach(outcome.seconds, {line: sorted(names) for line, names in blocks.items()}))
    finally:
        free.put(sandbox)
