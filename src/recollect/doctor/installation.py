"""An installation: whether hooks can run here, whether they do, and who else speaks to the agent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from recollect import __version__, paths, timestamps
from recollect.doctor import claude_files, hook_python
from recollect.doctor.checks import Finding
from recollect.doctor.claude_files import Plugin, Settings
from recollect.session import ledger, sessions, transcript
from recollect.session.sessions import Session

NAME = "memory@recollect"
LAUNCHER = os.path.join("hooks", "launch")
_MARK = "hooks/launch"
_TAIL = 2_000_000
_OTHERS = frozenset(
    "recall remember supermemory engram hindsight letta cognee zep graphiti byterover cipher openmemory memgpt".split()
)


def examine(project: str) -> Iterator[Finding]:
    """Everything about this machine that keeps memories from reaching an agent in a project."""
    files = claude_files.settings(project)
    plugins = claude_files.plugins(files)
    own = next((plugin for plugin in plugins if plugin.is_ours), None)
    last = next(iter(sessions.recent(sessions.folders(project), 1, project)), None)
    yield from _folders()
    yield from _plugin(own, last)
    yield from _switches(files)
    yield from _interpreter(own)
    if last and os.path.isdir(os.path.join(project, paths.STORE)):
        yield from _activity(own, project, last)
    yield from _others([plugin for plugin in plugins if plugin is not own and plugin.is_enabled], files)


def _folders() -> Iterator[Finding]:
    """Whether derived files and state can be written: without them each prompt starts from nothing."""
    costs = {
        paths.cache_dir(): ("cache", "each prompt indexes all records again"),
        paths.state_dir(): ("state", "memories repeat within a session, and nothing is counted or traced"),
    }
    faults = [(word, folder, cost) for folder, (word, cost) in costs.items() if not _is_writable(folder)]
    for word, folder, cost in faults:
        variable = f"RECOLLECT_{word.upper()}_DIR"
        fix = f"make {folder} a folder that you can write, or set {variable} to one"
        yield Finding("warning", word, f"{folder} cannot be written, so {cost}", fix)
    if not faults:
        yield Finding("ok", "folders", "index and state can be written")


def _is_writable(folder: str) -> bool:
    """Whether files can be made in a folder, or the folder itself where it does not exist yet."""
    while not os.path.lexists(folder):
        parent = os.path.dirname(os.path.abspath(folder))
        if parent == folder:
            return False
        folder = parent
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def _plugin(own: Plugin | None, last: Session | None) -> Iterator[Finding]:
    if own is None:
        is_missed = last is not None and not ledger.exists(last.name)
        what = "the plugin is not installed in Claude Code, so no hook runs (unless it was started with --plugin-dir)"
        yield Finding("warning" if is_missed else "note", "plugin", what, _how_to_install())
    elif not own.is_there:
        fix = f"claude plugin uninstall {own.key}, then {_how_to_install()}"
        yield Finding("error", "plugin", f"{own.key} is read from {own.folder or 'nowhere'}, which is not there", fix)
    elif not own.is_enabled:
        yield Finding("warning", "plugin", f"{own.key} is disabled, so no hook runs", f"claude plugin enable {own.key}")
    else:
        yield Finding("ok", "plugin", f"{own.key} {own.version} is installed and enabled")
    if own and own.is_there and own.version and own.version != __version__:
        fix = f"claude plugin update {own.key}"
        yield Finding("note", "plugin", f"this command is version {__version__}, the plugin {own.version}", fix)


def _how_to_install() -> str:
    return f"claude plugin marketplace add {_clone() or 'PATH-OF-A-CLONE'}, then claude plugin install {NAME}"


def _clone() -> str:
    """The clone or plugin folder this code runs from; empty if it was installed as a package."""
    root = paths.clone()
    return root if os.path.exists(os.path.join(root, LAUNCHER)) else ""


def _switches(files: Sequence[Settings]) -> Iterator[Finding]:
    """What turns hooks off although the plugin is enabled."""
    for file in files:
        if file.flaw:
            yield Finding("warning", "settings", f"{file.path} cannot be read: {file.flaw}", "correct it by hand")
        if file.flag("disableAllHooks"):
            fix = f"take disableAllHooks out of {file.path}"
            yield Finding("error", "settings", f"{file.path} disables all hooks, so no memory reaches an agent", fix)
        if file.flag("allowManagedHooksOnly"):
            fix = "ask whoever manages this machine to allow the plugin's hooks"
            yield Finding("error", "settings", f"{file.path} allows managed hooks only, so ours do not run", fix)
    if os.environ.get("RECOLLECT_OFF"):
        yield Finding("warning", "settings", "RECOLLECT_OFF is set, so hooks do nothing", "unset RECOLLECT_OFF")


def _interpreter(own: Plugin | None) -> Iterator[Finding]:
    """The Python that hooks run with, found as they find it."""
    roots = [root for root in (own.folder if own else "", _clone()) if root]
    launcher = next((path for root in roots if os.path.exists(path := os.path.join(root, LAUNCHER))), "")
    if not launcher:
        return
    for severity, check, what, fix in hook_python.problems(launcher):
        yield Finding(severity, check, what, fix)


def _activity(own: Plugin | None, project: str, last: Session) -> Iterator[Finding]:
    """Whether hooks ran in the last session here that could have had them."""
    at = last.prompts[-1].at
    files = [os.path.join(place, f"{last.name}.jsonl") for place in sessions.folders(project)]
    lines = [line for file in files for line in transcript.last_lines(file, _TAIL)]
    failures = list(claude_files.hook_failures(lines, _MARK))
    for event, said in failures[-1:]:
        fix = "claude --debug shows more; recollect doctor in a terminal shows which Python hooks find"
        yield Finding("error", "hooks", f"a hook failed in the last session ({event}): {said}", fix)
    if ledger.exists(last.name) or any(_MARK.encode() in line and b"hookInfos" in line for line in lines):
        yield Finding("ok", "hooks", f"hooks ran in the last session here, {at or last.name}")
    elif not failures and own and own.is_enabled and at > max(own.installed_at, _since(project)):
        fix = "start Claude Code anew, in a folder you have trusted; /hooks in it should list those of the plugin"
        yield Finding("warning", "hooks", f"no hook ran in the last session here, {at}, though the plugin is on", fix)


def _since(project: str) -> str:
    """Since when a store has been on this machine: git's files in it are written first and rarely again."""
    files = (os.path.join(project, paths.STORE, name) for name in (".gitignore", ".gitattributes"))
    times = [os.stat(path).st_mtime for path in files if os.path.exists(path)]
    return timestamps.at(min(times)) if times else ""


def _others(plugins: Sequence[Plugin], files: Sequence[Settings]) -> Iterator[Finding]:
    """Who else speaks to the agent at a prompt: two memories contradict each other, and cost twice."""
    for plugin in plugins:
        if _is_memory(plugin.name):
            fix = f"claude plugin disable {plugin.key}, or turn ours off: recollect config set retrieval.enabled false"
            yield Finding("warning", "others", f"another memory plugin is active: {plugin.key}", fix)
        elif "UserPromptSubmit" in plugin.events():
            yield Finding("note", "others", f"the plugin {plugin.key} has a hook at every prompt too")
    for file in files:
        for command in file.commands("UserPromptSubmit"):
            if _MARK in command or "recollect" in command:
                fix = f"take it out of {file.path}: the plugin brings its own hooks"
                yield Finding("warning", "others", f"{file.path} runs Recollect's hook a second time: {command}", fix)
            else:
                yield Finding("note", "others", f"{file.path} has a hook of its own at every prompt: {command}")


def _is_memory(name: str) -> bool:
    words = "".join(char if char.isalnum() else " " for char in name.lower()).split()
    return any((word.startswith("mem") and not word.startswith("member")) or word in _OTHERS for word in words)
