"""The user's own editor: `$VISUAL`, `$EDITOR`, or the one that every system has. No project can name one."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys

from onrecord.errors import BadInput


def edit(path: str) -> None:
    """Have a file edited, and wait until the editor is closed; BadInput if it fails."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if sys.platform == "win32" else "vi")
    try:
        child = subprocess.Popen([*shlex.split(editor, posix=sys.platform != "win32"), path])
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot start the editor {editor!r}: {error}", fix="set VISUAL or EDITOR") from error
    # Ctrl-C is meant for the editor, which has the terminal: many do not end for it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if code:
        ending = f"ended with code {code}" if code > 0 else f"was ended by signal {-code}"
        raise BadInput(f"the editor {ending}, so nothing was saved", fix="edit it again")
