"""How each host is connected: where its config is, which of its events are ours, and what the user has to do then."""

from __future__ import annotations

import os

from onrecord.coldstart import NamedTuple

SECONDS = 5
"""That a host gives to a hook of ours; the hook itself stops after three."""


class Wire(NamedTuple):
    """An event of a host, the event of ours that it stands for, and the tools that it is for: empty for all."""

    theirs: str
    ours: str
    tools: str = ""


class Hooks(NamedTuple):
    """The hooks in a JSON file of a host; `form` says what an entry looks like."""

    file: str
    wires: tuple[Wire, ...]
    form: str = "groups"
    """groups (as Claude Code has them) or named (the same with names and milliseconds)"""
    fields: tuple[tuple[str, int], ...] = ()
    """Members that the file must have beside the hooks."""


class Server(NamedTuple):
    """The entry of a host for our MCP server: the file, the key that holds all servers, and its form."""

    file: str
    key: str
    form: str = "command"
    """command, local, stdio (what `type` says), list (one list of words) or toml"""


class Recipe(NamedTuple):
    """A host's files. A relative path lies in its folder."""

    host: str
    programs: tuple[str, ...]
    folder: str
    """Below the home folder."""
    variable: tuple[str, str] = ("", "")
    """A variable that names another folder, and what lies between that and the host's own."""
    hooks: Hooks | None = None
    shim: str = ""
    """Our plugin for the host, a file of this package."""
    shim_file: str = ""
    server: Server | None = None
    reads_skills: bool = False
    """Whether it reads ~/.agents/skills."""
    in_project: str = ""
    """The folder in a project that has the same files; empty if there is none that is safe to write."""
    then: tuple[str, ...] = ()
    """What the user has to do after connecting."""

    def place(self, file: str, project: str = "") -> str:
        """The full path of one of its files, for the user or in a project."""
        if project:
            return os.path.join(project, self.in_project, *file.split("/"))
        name, below = self.variable
        elsewhere = os.environ.get(name, "") if name else ""
        if os.path.isabs(elsewhere):
            return os.path.normpath(os.path.join(elsewhere, below, *file.split("/")))
        return os.path.normpath(os.path.join(os.path.expanduser("~"), *self.folder.split("/"), *file.split("/")))


def _claude_like(tools: str = "", shell: str = "", without: str = "") -> tuple[Wire, ...]:
    """The events of Claude Code, which most hosts have taken over."""
    wires = (
        Wire("SessionStart", "session_start"),
        Wire("UserPromptSubmit", "user_prompt_submit"),
        Wire("PreToolUse", "pre_tool_use", tools),
        Wire("PostToolUse", "post_tool_use", tools),
        Wire("PostToolUseFailure", "post_tool_use_failure", shell),
        Wire("Stop", "stop"),
        Wire("PreCompact", "pre_compact"),
        Wire("SessionEnd", "session_end"),
    )
    return tuple(wire for wire in wires if wire.theirs not in without.split())


_RESTART = "Start {title} anew."
_CLAUDE_TOOLS = "Read|Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell"
_QWEN_TOOLS = "read_file|write_file|edit|notebook_edit|run_shell_command"
_DROID_TOOLS = "Read|Edit|Create|ApplyPatch|Execute"
_GEMINI_TOOLS = "read_file|write_file|replace|run_shell_command"

RECIPES = (
    Recipe(
        "claude-code", ("claude",), ".claude", ("CLAUDE_CONFIG_DIR", ""),
        hooks=Hooks("settings.json", _claude_like(_CLAUDE_TOOLS, "Bash|PowerShell")),
        then=(_RESTART,),
    ),
    Recipe(
        "codex", ("codex",), ".codex", ("CODEX_HOME", ""),
        hooks=Hooks("hooks.json", _claude_like("Edit|Write|Bash", without="PostToolUseFailure")),
        server=Server("config.toml", "mcp_servers", "toml"),
        reads_skills=True, in_project=".codex",
        then=(
            "Start `codex` on its screen. It says that hooks need review: choose \"Trust all and continue\", or look at"
            " them with /hooks first. Until then Codex skips them without a word, in `codex exec` too.",
        ),
    ),
    Recipe(
        "copilot", ("copilot",), ".copilot", ("COPILOT_HOME", ""),
        hooks=Hooks("hooks/onrecord.json", _claude_like(without="PostToolUseFailure"), fields=(("version", 1),)),
        server=Server("mcp-config.json", "mcpServers", "local"),
        reads_skills=True,
        then=(_RESTART,),
    ),
    Recipe(
        "qwen", ("qwen",), ".qwen", ("QWEN_HOME", ""),
        hooks=Hooks("settings.json", _claude_like(_QWEN_TOOLS, "run_shell_command")),
        server=Server("settings.json", "mcpServers"),
        reads_skills=True, in_project=".qwen",
        then=(_RESTART,),
    ),
    Recipe(
        "gemini", ("gemini",), ".gemini", ("GEMINI_CLI_HOME", ".gemini"),
        hooks=Hooks(
            "settings.json",
            (
                Wire("SessionStart", "session_start"),
                Wire("BeforeAgent", "user_prompt_submit"),
                Wire("BeforeTool", "pre_tool_use", _GEMINI_TOOLS),
                Wire("AfterTool", "post_tool_use", _GEMINI_TOOLS),
                Wire("AfterAgent", "stop"),
                Wire("PreCompress", "pre_compact"),
                Wire("SessionEnd", "session_end"),
            ),
            form="named",
        ),
        server=Server("settings.json", "mcpServers"),
        reads_skills=True, in_project=".gemini",
        then=(_RESTART,),
    ),
    Recipe(
        "opencode", ("opencode",), ".config/opencode", ("XDG_CONFIG_HOME", "opencode"),
        shim="opencode.js", shim_file="plugins/onrecord.js",
        server=Server("opencode.json", "mcp", "list"),
        reads_skills=True,
        then=(_RESTART,),
    ),
    Recipe(
        "pi", ("pi",), ".pi/agent", ("PI_CODING_AGENT_DIR", ""),
        shim="pi.ts", shim_file="extensions/onrecord.ts",
        reads_skills=True,
        then=(_RESTART,),
    ),
    Recipe(
        "cline", ("cline",), ".cline",
        shim="cline.js", shim_file="plugins/onrecord.js",
        server=Server("data/settings/cline_mcp_settings.json", "mcpServers"),
        then=(_RESTART,),
    ),
    Recipe(
        "droid", ("droid",), ".factory",
        hooks=Hooks("settings.json", _claude_like(_DROID_TOOLS, without="PostToolUseFailure")),
        server=Server("mcp.json", "mcpServers", "stdio"),
        reads_skills=True,
        then=(_RESTART,),
    ),
)  # fmt: skip

BY_HOST = {recipe.host: recipe for recipe in RECIPES}
