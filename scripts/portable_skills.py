"""The plugin's skills without what only Claude Code has, for the folder that most agents read."""

from __future__ import annotations

import re
from pathlib import Path

_ARGUMENTS = "(what the user wrote behind the name of this skill)"
_COMMAND = "{{onrecord}}"
_ONLY_CLAUDE = ("argument-hint:", "allowed-tools:")


def texts(folder: Path) -> dict[str, str]:
    """The text of each skill by its new name."""
    return {f"memory-{file.parent.name}": _portable(file) for file in sorted(folder.glob("*/SKILL.md"))}


def _portable(file: Path) -> str:
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(_ONLY_CLAUDE)]
    text = "\n".join(kept).replace("\nname: ", "\nname: memory-", 1) + "\n"
    text = text.replace("$ARGUMENTS", _ARGUMENTS)
    text = re.sub(
        r"`onrecord` is on the PATH.*?\.\n|\s`onrecord` is on the PATH.*?\.(?=\n\n)", "", text, flags=re.DOTALL
    )
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"`/memory:(\w+)`", r"the skill `memory-\1`", text)
    text = re.sub(r"/memory:(\w+)", r"memory-\1", text)
    return re.sub(r"(^|`|\| )onrecord (?=[a-z])", rf"\1{_COMMAND} ", text, flags=re.MULTILINE)
