"""What the real clients did, a file for each host. The table in the docs is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("results")


class Result(NamedTuple):
    """What was seen in one version of a client: for each step, what reached the model."""

    version: str
    steps: dict[str, str]


def read(host: str) -> Result:
    return Result(**json.loads((FOLDER / f"{host}.json").read_text(encoding="utf-8")))


def write(host: str, result: Result) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{host}.json").write_text(json.dumps(result._asdict(), indent=2) + "\n", encoding="utf-8")
