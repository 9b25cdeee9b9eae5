"""A copy of what the repository installs as a plugin."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = (".claude-plugin", "bin", "hooks", "skills", "src", "README.md", "LICENSE")


def copy_to(folder: Path) -> Path:
    """Copy the repository's parts that users get."""
    folder.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder
