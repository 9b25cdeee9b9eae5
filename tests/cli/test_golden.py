"""Transcripts of the commands, as a person sees them: `pytest tests/cli --update-golden` rewrites them for review."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
CLONE = str(Path(__file__).parents[2])


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.txt")))
def test_transcript(name: str, project: Path, recollect: Callable[..., object], request: pytest.FixtureRequest) -> None:
    golden = GOLDEN / f"{name}.txt"
    expected = golden.read_text(encoding="utf-8")

    played = "".join(_play(line, project, recollect) for line in expected.splitlines() if line.startswith(("$ ", "# ")))

    if request.config.getoption("--update-golden"):
        golden.write_text(played, encoding="utf-8")
    assert played == golden.read_text(encoding="utf-8")


def _play(line: str, project: Path, recollect: Callable[..., object]) -> str:
    """A line of a transcript with what the command prints now; `write FILE <<< TEXT` puts a file in the way."""
    if line.startswith("# "):
        return f"\n{line}\n"
    words = shlex.split(line[2:])
    stdin = ""
    if "<<<" in words:
        words, stdin = words[: words.index("<<<")], words[words.index("<<<") + 1]
    if words[0] == "write":
        target = project / words[1]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(stdin + "\n", encoding="utf-8")
        return f"{line}\n"
    code, out, err = recollect(*words[1:], stdin=stdin)  # type: ignore[misc]
    shown = re.sub(
        r"Python 3\.[0-9.]+", "Python 3.x", (out + err).replace(str(project), "/ferry").replace(CLONE, "/clone")
    )
    return f"{line}\n{shown}" + (f"[exit {code}]\n" if code else "")
