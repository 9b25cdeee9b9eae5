"""Results of the real clients, one file for each host, from which the table in the docs is generated."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from tests.hosts.host_client import HostClient

FOLDER = Path(__file__).with_name("results")


class Result(NamedTuple):
    """The results of one version of a client: what reached the model at each step."""

    version: str
    steps: dict[str, str]


def read(host: type[HostClient]) -> Result:
    """Return the results that were written last."""
    file = _file(host)
    return Result(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else Result("", {})


def update(host: type[HostClient], steps: dict[str, str]) -> None:
    """Write down what was seen now; two tests of a host may do so at the same time."""
    import fcntl

    FOLDER.mkdir(exist_ok=True)
    folder = os.open(FOLDER, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        result = Result(host.package.installed_version(), {**read(host).steps, **steps})
        _file(host).write_text(json.dumps(result._asdict(), indent=2) + "\n", encoding="utf-8")
    finally:
        os.close(folder)


def _file(host: type[HostClient]) -> Path:
    return FOLDER / f"{host.name}.json"
