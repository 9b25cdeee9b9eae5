"""`python -m bench package`: what the package weighs, and how much of it there is."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench import results

ROOT = Path(__file__).parents[1]
LARGEST_WHEEL = 8_000_000
_PARTS = {"src": "src/**/*.py", "tests": "tests/**/*.py", "bench": "bench/**/*.py", "docs": "docs/**/*.md"}
_LARGEST_FILES = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


def run(options: argparse.Namespace) -> int:
    measured = measure()
    print(json.dumps(measured, indent=1))
    results.save("package", measured)
    return 0 if measured["wheel"]["bytes"] <= LARGEST_WHEEL else 1


def measure() -> dict[str, Any]:
    """Return the bytes of the wheel and of its largest files, and the files and lines of each part."""
    modules = {str(file.relative_to(ROOT)): _lines(file) for file in ROOT.glob(_PARTS["src"])}
    longest = max(modules, key=lambda name: modules[name])
    return {
        "wheel": _wheel(),
        "parts": {part: _amount(ROOT.glob(pattern)) for part, pattern in _PARTS.items()},
        "packages": sum(1 for name in modules if name.endswith("__init__.py")),
        "longest module": {"name": longest, "lines": modules[longest]},
    }


def _wheel() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="onrecord-wheel-") as folder:
        command = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(ROOT))
        subprocess.run(command, check=True)
        wheel = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            members = sorted(archive.infolist(), key=lambda member: -member.compress_size)
        largest = {member.filename: member.compress_size for member in members[:_LARGEST_FILES]}
        return {
            "bytes": wheel.stat().st_size,
            "unpacked": sum(member.file_size for member in members),
            "largest": largest,
        }


def _amount(files: Iterable[Path]) -> dict[str, int]:
    lines = [_lines(file) for file in files]
    return {"files": len(lines), "lines": sum(lines)}


def _lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())
