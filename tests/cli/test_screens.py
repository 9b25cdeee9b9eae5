"""What a person sees who saves, edits and reviews by hand, whole screens at 80 columns.

`pytest tests/cli/test_screens.py --update-golden` rewrites tests/cli/screens for review.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.terminal_session import CTRL_D, TerminalSession

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")

SCREENS = Path(__file__).parent / "screens"
TEXT, ITEM, KEY = "\n> ", "\n- ", "[?]: "
PREFERENCE = (
    (TEXT, "Tabs in Python\n"), (TEXT, "indentation\n"), (TEXT, "tabs\n"), (TEXT, "everybody sets the width\n"),
    (ITEM, "tabs or spaces?\n"), (ITEM, "\n"), (ITEM, "app.py\n"), (ITEM, "\n"),
)  # fmt: skip
RULE = [
    ("The rule itself. -->\n", "The rule itself. -->\nNo network in hooks.\n"),
    ("is ignored. -->\n- ", "is ignored. -->\n- the agent waits"),
]
SESSIONS = {
    "save": [
        (("save",), (("Press its key: ", "x"), ("Press its key: ", "p"), *PREFERENCE, (KEY, "?"), (KEY, "y"))),
        (("save", "preference"), (*PREFERENCE[:3], (TEXT, CTRL_D))),
        (("save", "constraint"), ((TEXT, "x\n"), (TEXT, CTRL_D))),
        (("save", "constraint", "Hooks stay offline"), ()),
        (("save", "constraint", "Hooks stay offline"), ()),
        (("save", "constraint", "Hooks always stay offline"), ((KEY, "?"), (KEY, "n"))),
    ],
    "edit": [
        (("save", "constraint", "Hooks stay offline"), ()),
        (("edit", "hooks-stay-offline"), ((KEY, "?"), (KEY, "y"))),
        (("edit", "hooks-stay-offline"), ((KEY, "n"),)),
        (("edit", "hooks-stay-offline"), ()),
    ],
    "review": [
        (("save", "constraint", "Hooks stay offline", "--draft"), ()),
        (("save", "preference", "--draft"), (*PREFERENCE, (KEY, "y"))),
        (("review",), ((KEY, "?"), (KEY, "a"), (KEY, "r"))),
        (("review",), ()),
    ],
}
EDITS = {
    "save": [RULE[:1], RULE[1:], RULE, [], RULE],
    "edit": [RULE, [("in hooks", "in any hook"), ("\nmedium", "\nhigh")], [("\nhigh", "\nlow")], []],
    "review": [RULE],
}


@pytest.mark.parametrize("name", SESSIONS)
def test_screen(project, edits, name, request):
    (project / "app.py").write_text("x = 1\n")
    golden = SCREENS / f"{name}.txt"
    edits(*EDITS[name])

    played = "\n".join(play(project, words, answers) for words, answers in SESSIONS[name])
    played = re.sub(r"\S*/forms/([\w-]+)-\w{8}\.md", r"/forms/\1.md", played.replace(str(project), "/ferry"))
    played = re.sub(r"(?<=· updated ).*", "just now", played)

    if request.config.getoption("--update-golden"):
        golden.write_text(played, encoding="utf-8")
    assert played == golden.read_text(encoding="utf-8")


def play(project: Path, words: tuple[str, ...], answers: tuple[tuple[str, str], ...]) -> str:
    """A command and all that is on the screen after it."""
    with TerminalSession(*words, cwd=project) as session:
        for prompt, typed in answers:
            session.expect(prompt)
            (session.send if prompt in (TEXT, ITEM) else session.press)(typed)
        code = session.end()
    command = " ".join(f"'{word}'" if " " in word else word for word in words)
    return f"$ onrecord {command}\n{session.text}" + (f"[exit {code}]\n" if code else "")


@pytest.mark.parametrize("name", SESSIONS)
def test_no_line_is_wider_than_the_screen(name):
    """Errors and fixes are one line each, so that they can be pasted; a path may be longer than any screen."""
    lines = (SCREENS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    long = [line for line in lines if len(line) > 80 and not line.startswith(("fix: ", "it has no triggers"))]

    assert [line for line in long if "/" not in line] == []
