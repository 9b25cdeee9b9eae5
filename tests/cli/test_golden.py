"""Transcripts of the commands as a person sees them on a terminal of 80 columns.

`pytest tests/cli --update-golden` rewrites them for review. Those in `golden/sample` are played in the sample project,
the others in an empty folder. What a transcript consists of, beside what was printed:

    === …                    what the next lines are about
    $ onrecord …            a command; `<<< TEXT` is its standard input
    $ write FILE <<< TEXT    put a file there
    $ remove FILE            remove one
    $ link FILE TARGET       make a link
    $ lock, $ unlock         another program holds the store, and lets it go
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onrecord import errors, files
from onrecord.cli.commands import COMMANDS
from onrecord.cli.output import Screen, width_of

GOLDEN = Path(__file__).parent / "golden"
TRANSCRIPTS = sorted(str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*.txt"))
CLONE = str(Path(__file__).parents[2])
WIDTH = 80
ELSEWHERE = {
    "demo": "tests/cli/test_demo.py compares all of it",
    "web": "serves pages",
    "mcp": "speaks to programs",
    "docs": "tests/cli/test_docs.py",
}
"""Commands whose texts other tests cover."""

NOT_HERE = {
    "REFUSED": "needs a server: tests/shared/hub/test_command.py",
    "COMMAND_FAILED": "needs a coding agent that fails: tests/cli/test_connect.py",
    "MODEL_FAILED": "needs a model that fails: tests/recall/test_judge.py",
    "NO_SQLITE": "needs a Python without it: tests/cli/test_never_a_traceback.py",
    "STOPPED": "needs somebody who stops: tests/cli/test_save_by_hand.py",
    "SWITCHED_OFF": "tests/mcp has the server switched off",
    "UNWRITABLE": "root writes everywhere: tests/hooks/test_full_disk.py fills a disk",
}
"""Errors that no transcript can bring about."""

CHANGING = (
    (r"Python 3\.[0-9.]+", "Python 3.x"),
    (r"^onrecord [0-9.]+$", "onrecord VERSION"),
    (r"[0-9,]+ (bytes|kB)", r"N \1"),
    (r"[0-9a-f]{32}\.[\d.-]+\.(sqlite|words|building)", r"INDEX.\1"),
    (r"oldest of [0-9-]+", "oldest of TODAY"),
)


FERRY, HOME = "/home/u/ferry", "/home/someone"
"""What stands for the folders that a transcript is played in: as long, so that lines break at the same place."""


class Stage:
    """Where a transcript is played."""

    def __init__(self, project: Path, home: Path, onrecord: Callable[..., tuple[int, str, str]]) -> None:
        self._project = project
        self._home = home
        self._onrecord = onrecord
        self._changes: dict[str, str] = {}

    def play(self, line: str) -> str:
        """A line of a transcript, with what the command prints now."""
        if line.startswith("=== "):
            return f"\n{line}\n"
        words, stdin = shlex.split(line[2:]), ""
        if "<<<" in words:
            words, stdin = words[: words.index("<<<")], words[words.index("<<<") + 1]
        if words[0] != "onrecord":
            getattr(self, f"_{words[0]}")(*words[1:], *([stdin] if stdin else []))
            return f"{line}\n"
        code, out, err = self._onrecord(*words[1:], stdin=stdin)
        return f"{line}\n{self._constant(out + err)}" + (f"[exit {code}]\n" if code else "")

    def _write(self, name: str, text: str) -> None:
        target = self._project / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + "\n", encoding="utf-8")

    def _remove(self, name: str) -> None:
        (self._project / name).unlink()

    def _link(self, name: str, target: str) -> None:
        (self._project / name).symlink_to(self._project / target)

    def _lock(self) -> None:
        self._handle = os.open(self._project / ".claude/memory/.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def _unlock(self) -> None:
        os.close(self._handle)

    def _constant(self, text: str) -> str:
        """What a command printed, without what differs from one machine or moment to another."""
        for folder, name in ((self._project, FERRY), (CLONE, "/clone"), (self._home, HOME)):
            text = text.replace(str(folder), name)
        for pattern, constant in CHANGING:
            text = re.sub(pattern, constant, text, flags=re.M)
        return re.sub(r"\b[0-9a-f]{8}\b", self._change, text)

    def _change(self, match: re.Match[str]) -> str:
        """A change of the log by its number: its id is made of the moment."""
        return self._changes.setdefault(match[0], f"{len(self._changes) + 1:08}")


@pytest.fixture
def stage(
    request: pytest.FixtureRequest,
    home: Path,
    onrecord: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Stage]:
    """A terminal of 80 columns in the sample project or in an empty folder, where no coding agent is installed."""
    here, mine = (Path(tempfile.mkdtemp(prefix="", dir="/tmp")) for _ in (FERRY, HOME))
    assert (len(str(here)), len(str(mine))) == (len(FERRY), len(HOME))
    for name, value in os.environ.items():
        if value.startswith(str(home)):
            monkeypatch.setenv(name, value.replace(str(home), str(mine)))
    for name, value in (("PAGER", "cat"), ("EDITOR", "true"), ("PATH", "/usr/bin:/bin")):
        monkeypatch.setenv(name, value)
    if request.node.callspec.params["name"].startswith("sample"):
        shutil.copytree(request.getfixturevalue("sample"), here, dirs_exist_ok=True)
    monkeypatch.chdir(here)
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: cls(WIDTH, is_terminal=True)))
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.0)
    yield Stage(here, mine, onrecord)
    monkeypatch.chdir("/")
    shutil.rmtree(here)
    shutil.rmtree(mine)


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(name: str, stage: Stage, request: pytest.FixtureRequest) -> None:
    golden = GOLDEN / name
    typed = [line for line in golden.read_text(encoding="utf-8").splitlines() if line.startswith(("$ ", "=== "))]

    played = "".join(map(stage.play, typed)).lstrip("\n")

    if request.config.getoption("--update-golden"):
        golden.write_text(played, encoding="utf-8")
    assert played == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_no_line_is_wider_than_the_terminal_if_it_can_be_broken(name: str) -> None:
    """A command or a path is not broken, so that it can be pasted; nor is what an agent or another program is given."""
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    wide = [
        line
        for line in lines
        if width_of(line) > WIDTH
        and not line.startswith(("$ ", "=== ", "<result ", "<memory-context ", "*Memory: ", "saved /"))
    ]

    assert [line for line in wide if " " in line.strip() and not re.search('onrecord [a-z]|": "|: ln -s ', line)] == []


def _played() -> str:
    return "\n".join((GOLDEN / name).read_text(encoding="utf-8") for name in TRANSCRIPTS)


def test_every_command_is_in_a_transcript() -> None:
    typed = {line.split()[2] for line in _played().splitlines() if line.startswith("$ onrecord ")}

    assert sorted(set(COMMANDS) - typed) == sorted(ELSEWHERE)


def test_every_error_is_in_a_transcript() -> None:
    every = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    shown = set(re.findall(r"^([A-Z_]+): ", _played(), re.M)) | set(re.findall(r'"code": "([A-Z_]+)"', _played()))

    assert sorted(every - shown - {"ERROR"}) == sorted(NOT_HERE)
