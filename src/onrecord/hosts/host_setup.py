"""HostSetup: where a host has its config, which of its events are ours, and what its user has to do.

The module of each host has its own in `setup()`. Hooks never load this module.
"""

from __future__ import annotations

import os

from onrecord.coldstart import NamedTuple

HOOK_SECONDS = 5
"""Time limit that a host is given for a hook of ours; the hook itself stops after three seconds."""


class HookWire(NamedTuple):
    """An event of a host and our event for it; `tools` are the tools it is for, empty for all."""

    host_event: str
    event: str
    tools: str = ""


class Hooks(NamedTuple):
    """Our hooks in a JSON file of a host."""

    file: str
    wires: tuple[HookWire, ...]
    form: str = "groups"
    """Form of an entry: groups (as in Claude Code) or named (the same with names and milliseconds)."""
    fields: tuple[tuple[str, int], ...] = ()
    """Other members that the file must have."""


class ServerEntry(NamedTuple):
    """The entry for our MCP server in a file of a host; `key` is the member that has all servers."""

    file: str
    key: str
    form: str = "command"
    """command, local or stdio (the value of `type`), list (one list of words) or toml."""


class HostPlugin(NamedTuple):
    """Our plugin as a host itself installs it. It has the same hooks: a host that has it needs no entries of ours."""

    form: str
    """Where the host notes that it is installed: registry, marketplace, toml or folder."""
    removal: str
    """The command that removes it."""


class HostSetup(NamedTuple):
    """The files of a host and what we write into them. Relative paths are relative to its folder."""

    host: str
    programs: tuple[str, ...]
    folder: str
    """Relative to the home folder."""
    variable: tuple[str, str] = ("", "")
    """An environment variable for another folder, and the path from there to the host's folder."""
    hooks: Hooks | None = None
    shim: str = ""
    """Our plugin in JavaScript for a host without hooks: a file in `hosts/shims`."""
    shim_file: str = ""
    """The file that the host loads the shim from."""
    server: ServerEntry | None = None
    plugin: HostPlugin | None = None
    reads_skills: bool = False
    """True if it reads ~/.agents/skills."""
    own_skills: str = ""
    """Its own folder for skills, where it does not read ~/.agents/skills."""
    project_folder: str = ""
    """The folder in a project that has the same files; empty if none is safe to write."""
    next_steps: tuple[str, ...] = ("Start {title} anew.",)
    """Instructions for the user after connecting."""

    def path(self, file: str, project: str = "") -> str:
        """Return the absolute path of `file`, in the user's folder of the host or in `project`."""
        if project:
            return os.path.join(project, self.project_folder, *file.split("/"))
        name, below = self.variable
        elsewhere = os.environ.get(name, "") if name else ""
        if os.path.isabs(elsewhere):
            return os.path.normpath(os.path.join(elsewhere, below, *file.split("/")))
        return os.path.normpath(os.path.join(os.path.expanduser("~"), *self.folder.split("/"), *file.split("/")))


def claude_wires(tools: str = "", shell: str = "", without: str = "") -> tuple[HookWire, ...]:
    """Return the events of Claude Code, which most hosts have adopted, except those in `without`."""
    wires = (
        HookWire("SessionStart", "session_start"),
        HookWire("UserPromptSubmit", "user_prompt_submit"),
        HookWire("PreToolUse", "pre_tool_use", tools),
        HookWire("PostToolUse", "post_tool_use", tools),
        HookWire("PostToolUseFailure", "post_tool_use_failure", shell),
        HookWire("Stop", "stop"),
        HookWire("PreCompact", "pre_compact"),
        HookWire("SessionEnd", "session_end"),
    )
    return tuple(wire for wire in wires if wire.host_event not in without.split())
