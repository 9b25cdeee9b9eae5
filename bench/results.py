"""Dated results as files, so that the report can be written without measuring again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"


def save(name: str, values: dict[str, Any]) -> Path:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps({"date": time.strftime("%Y-%m-%d"), **values}, indent=1) + "\n", encoding="utf-8")
    return path


def load(name: str) -> dict[str, Any] | None:
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
