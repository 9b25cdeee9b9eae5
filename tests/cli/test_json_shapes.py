"""The names and types in what commands print with `--json`, which scripts of others rely on.

The commands are those of the transcripts in `golden`, and a few more. `pytest tests/cli --update-golden` rewrites the
shapes.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import pytest

from onrecord import files
from tests.cli.test_golden import GOLDEN, TRANSCRIPTS, Stage

SHAPES = GOLDEN / "shapes"
MORE = (
    "connect codex gemini --yes", "connect --list", "connect --check", "config set retrieval.enabled false",
    "config", "remote list", "trust --list", "completion bash", "connect codex --remove --dry-run", "sync",
    "remote status", "freshness", "doctor", "status", "inbox tests-run-in-docker",
    "recall --command 'uv add x'", "why --command 'uv add x'", "show use-pip --history", "gc --dry-run",
)  # fmt: skip
_VALUES = re.compile(r"[./ ]|^[0-9a-f]{8,}$|^\d{4}-")


def shape(value: Any) -> Any:
    """Return a JSON value with types in place of values; of a list, the shape of all its elements together."""
    if isinstance(value, dict):
        # Some objects have paths or dates for keys.
        shapes = [("*" if _VALUES.search(key) else key, shape(part)) for key, part in value.items()]
        return {key: together([part for name, part in shapes if name == key]) for key in dict(shapes)}
    if isinstance(value, list):
        return [together([shape(part) for part in value])] if value else []
    return {type(None): "null", int: "number", float: "number"}.get(type(value), type(value).__name__)


def together(shapes: list[Any]) -> Any:
    if all(isinstance(part, list) for part in shapes):
        members = [part[0] for part in shapes if part]
        return [together(members)] if members else []
    if all(isinstance(part, dict) for part in shapes):
        keys = dict.fromkeys(key for part in shapes for key in part)
        return {key: together([part[key] for part in shapes if key in part]) for key in keys}
    distinct = list(dict.fromkeys(json.dumps(part) for part in shapes))
    return json.loads(distinct[0]) if len(distinct) == 1 else " or ".join(sorted(distinct)).replace('"', "")


@pytest.mark.parametrize("name", [*TRANSCRIPTS, "sample/more.txt"])
def test_what_scripts_read_keeps_its_names_and_types(
    name, project, home, onrecord, monkeypatch, pytestconfig, request: pytest.FixtureRequest
):
    if name.startswith("sample"):
        request.getfixturevalue("sample")
    # Where no coding agent is installed, but the Python that hooks need.
    monkeypatch.setenv("PATH", os.pathsep.join((os.path.dirname(sys.executable), "/usr/bin", "/bin")))
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.0)
    more = [f"$ onrecord {words}" for words in MORE]
    typed = more if "more" in name else (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    lines, printed = [], ""

    def run(*words: str, stdin: str = "") -> tuple[int, str, str]:
        nonlocal printed
        code, out, err = onrecord(*words, *(["--json"] if "--json" not in words else []), stdin=stdin)
        printed = out or err
        return code, out, err

    stage = Stage(project, home, run)
    for line in typed:
        if not line.startswith("$ "):
            continue
        printed = ""
        stage.play(line)
        if printed[:1] in ("{", "["):
            lines += [line, json.dumps(shape(json.loads(printed)))]

    path = (SHAPES / name.replace("/", "-")).with_suffix("")
    found = "\n".join(lines) + "\n"
    if pytestconfig.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
