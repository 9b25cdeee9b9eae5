"""Config files of a project and its user, and the settings that they make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onrecord.settings import Settings, load_settings


def load(folder: Path, project: Any = None, user: Any = None) -> Settings:
    """Write config files below `folder`, bytes or values for JSON, and return their settings; None writes no file."""
    roots = []
    # The user's store is not inside of the project, where it would not be trusted.
    for root, values in ((folder / "repo/.claude/project", project), (folder / "user", user)):
        root.mkdir(parents=True, exist_ok=True)
        if values is not None:
            data = values if isinstance(values, bytes) else json.dumps(values).encode()
            (root / "memory-config.json").write_bytes(data)
        roots.append(str(root))
    return load_settings(*roots)
