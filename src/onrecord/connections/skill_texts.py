"""Our skills as any host can read them: without what only plugins of Claude Code have.

`scripts/docs` makes the texts in `skills/` from those of the plugin; the command is filled in when they are written.
"""

from __future__ import annotations

import os

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "skills")
_COMMAND = "{{onrecord}}"


def rendered(command: str, mark: str) -> dict[str, str]:
    """The text of each skill by its name, with the command that starts this installation."""
    texts = {}
    for file in sorted(os.listdir(_FOLDER)):
        name, extension = os.path.splitext(file)
        if extension == ".md":
            with open(os.path.join(_FOLDER, file), encoding="utf-8") as source:
                text = source.read().replace(_COMMAND, command)
            texts[name] = f"{text}\n<!-- {mark}`; it takes this file away with --remove. -->\n"
    return texts
