"""`onrecord connect`: connect coding agents to the memory, list them, or remove the connection."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any

from onrecord import paths
from onrecord.cli import arguments, output, questions
from onrecord.cli.output import CommandResult, Screen, clean, fitted, table, wrap
from onrecord.cli.questions import Asker
from onrecord.errors import BadInput, CommandFailed, WrongState
from onrecord.hosts import connection, host_files
from onrecord.hosts import table as hosts
from onrecord.hosts.config_file import FileChange
from onrecord.hosts.connection import HookTrial, Plan
from onrecord.hosts.host_files import HostSetup
from onrecord.project import Project
from onrecord.record.schema import shorten
from onrecord.text import plural

_COMMAND_SECONDS = 120
"""Time for a command of a host: it may download something."""

_MAX_ENTRIES = 200
"""Records of which one is looked for that answers a prompt."""

_MCP_ONLY = {
    "vscode": ("VS Code", ".vscode/mcp.json of the project", "servers"),
    "code": ("VS Code", ".vscode/mcp.json of the project", "servers"),
    "cursor": ("Cursor", "~/.cursor/mcp.json", "mcpServers"),
    "windsurf": ("Windsurf", "~/.codeium/windsurf/mcp_config.json", "mcpServers"),
    "zed": ("Zed", "Zed's settings.json", "context_servers"),
}
"""Programs that can use the MCP server only, by what people type: title, file and member for servers."""

_MIN_SIMILARITY = 0.75
"""Similarity of a misspelt name to the right one; that of `vscode` to `codex` is 0.67."""

_STATES = {"missing": "no", "current": "yes", "outdated": "outdated", "plugin": "by its plugin"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "hosts",
        nargs="*",
        metavar="AGENT",
        help=f"one of {', '.join(hosts.BY_NAME)} (default: all found on this machine)",
    )
    parser.add_argument("--list", action="store_true", help="list the agents, and which are installed and connected")
    parser.add_argument("--check", action="store_true", help="start each agent's hook once, and show what it replies")
    parser.add_argument("--remove", action="store_true", help="remove the connection")
    parser.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument("--mcp", action="store_true", help="also give the agent Onrecord's MCP server")
    parser.add_argument("--here", action="store_true", help="in the project's own files instead of your user's")


def run(args: argparse.Namespace) -> CommandResult:
    project = paths.project_root(args.project) if args.here else ""
    arguments.exclude("--check", args.check, {"--list": args.list, "--remove": args.remove, "--here": args.here})
    arguments.exclude("--list", args.list, {"--remove": args.remove})
    if args.list:
        return _list(project)
    if args.check:
        return _check(args.hosts, args.project, arguments.store_flags(args))
    retired = connection.retired_plan(project, is_removal=args.remove)
    needs_retired = not args.hosts and not retired.is_empty
    setups = _setups(args.hosts, project, is_removal=args.remove, may_be_none=needs_retired)
    plans = [_plan(setup, project, is_named=bool(args.hosts), is_removal=args.remove, mcp=args.mcp) for setup in setups]
    if not project:
        plans += connection.skills(setups, is_removal=args.remove)
    plans += [retired] if needs_retired else []
    needed = [plan for plan in plans if not plan.is_empty]
    # Put together before anything is written: a disk that fails here leaves all as it was.
    steps = _steps(needed, is_removal=args.remove)
    if needed and not args.dry_run:
        if not args.yes:
            flags = [f"--{name}" for name in ("remove", "mcp", "here") if getattr(args, name)]
            where = arguments.store_flags(args) if args.here else ""
            without_asking = " ".join(["onrecord", "connect", *args.hosts, *flags, "--yes"]) + where
            if not _agrees(arguments.asker(args), needed, without_asking):
                return _result([], [], is_removal=args.remove, dry_run=False)
        connection.write_files(needed)
        _run_commands(needed)
    return _result(plans, steps, is_removal=args.remove, dry_run=args.dry_run)


def _result(plans: list[Plan], steps: list[str], *, is_removal: bool, dry_run: bool) -> CommandResult:
    data = {
        "dry_run": dry_run,
        "removed": is_removal,
        "agents": [_data(plan) for plan in plans],
        "then": steps,
    }
    return CommandResult(data, lambda screen: _text(screen, plans, steps, is_removal=is_removal, dry_run=dry_run))


def _check(names: Sequence[str], project_dir: str, where: str) -> CommandResult:
    """Start the hook of each connected agent, or of those named, with a prompt that a record of the project answers."""
    setups = list(dict.fromkeys(map(_setup, names))) or [
        setup for setup in hosts.setups() if connection.state(setup).is_connected
    ]
    if not setups:
        raise WrongState(
            "no agent is connected", fix="connect one: `onrecord connect`; the agents here: onrecord connect --list"
        )
    root, prompt = paths.project_root(project_dir), _answered_prompt(project_dir)
    trials = [connection.try_hook(setup, root, prompt or "what is on record here?") for setup in setups]
    data = {"project": root, "prompt": prompt, "agents": [trial._asdict() for trial in trials]}
    is_good = all(trial.lines or not (trial.flaw or prompt) for trial in trials)
    return CommandResult(data, lambda screen: _trial_text(screen, trials, prompt, where), 0 if is_good else 1)


def _answered_prompt(project_dir: str) -> str:
    """Return a trigger or the title of a record of the project, which a prompt with it gets; empty without a record."""
    store = Project(project_dir).store
    entries = islice(store.entries(), _MAX_ENTRIES) if store.exists else ()
    records = [entry.memory for entry in entries if entry.memory.record_status == "active"]
    record = max(records, key=lambda record: (bool(record.triggers), record.updated_at), default=None)
    return "" if record is None else record.triggers[0] if record.triggers else record.title


def _trial_text(screen: Screen, trials: Sequence[HookTrial], prompt: str, where: str = "") -> str:
    """Return what each hook replied; `where` are the flags that name the project, for commands."""
    lines = [wrap(f'the prompt: "{clean(prompt)}"', screen.width)] if prompt else []
    for trial in trials:
        outcome = clean(output.add_store_flags(_trial_outcome(trial, prompt), where))
        lines.append(f"{screen.paint(trial.host, 'bold')}: {fitted(screen, outcome)}")
        lines += [wrap(clean(line), screen.width, "  ") for line in trial.lines]
    return "\n".join(lines)


def _trial_outcome(trial: HookTrial, prompt: str) -> str:
    if trial.lines:
        return f"its hook replied in {trial.seconds:.1f} s; the agent is shown:"
    if trial.flaw:
        return f"its hook failed: {trial.flaw}; onrecord connect {trial.host} --yes; onrecord doctor"
    if prompt:
        return f"its hook replied nothing; to see why: onrecord why {shlex.quote(prompt)}"
    return "its hook starts, and has nothing to reply: no record is in use here; onrecord save --help"


def _setups(names: Sequence[str], project: str, *, is_removal: bool, may_be_none: bool) -> list[HostSetup]:
    """Return the agents in `names`; without names those found here, or for a removal those that are connected."""
    if names:
        return _in_scope(list(dict.fromkeys(map(_setup, names))), project, is_named=True)
    if is_removal:
        return [setup for setup in hosts.setups() if connection.state(setup, project).is_connected]
    setups = [setup for setup in hosts.setups() if connection.installed(setup).is_there]
    if not setups and not may_be_none:
        raise BadInput("no agent was found on this machine", fix="name one, such as: onrecord connect codex --yes")
    return _in_scope(setups, project, is_named=False)


def _setup(name: str) -> HostSetup:
    """Return the agent with this name, or with a program of this name. Raises BadInput with the nearest name."""
    names = {word: setup for setup in hosts.setups() for word in (setup.host, *setup.programs)}
    if name.lower() in names:
        return names[name.lower()]
    if name.lower() in _MCP_ONLY:
        raise _mcp_only(*_MCP_ONLY[name.lower()])
    nearest = difflib.get_close_matches(name.lower(), names, n=1, cutoff=_MIN_SIMILARITY)
    hint = f"did you mean {names[nearest[0]].host}? " if nearest else ""
    raise BadInput(f"no agent is called {shorten(name)!r}", fix=f"{hint}to list them: onrecord connect --list")


def _mcp_only(title: str, file: str, member: str) -> BadInput:
    """Return the error for a program without hooks; its fix is the entry for our MCP server."""
    command, *words = [*host_files.program(), "mcp"]
    entry = json.dumps({member: {"onrecord": {"command": command, "args": words}}}, ensure_ascii=False)
    what = f"{title} runs no hooks of Onrecord; its agent can use Onrecord's MCP server"
    fix = f"put this into {file}, beside what is there: {entry}; what it gives: onrecord docs agents/mcp"
    return BadInput(what, fix=fix)


def _in_scope(setups: list[HostSetup], project: str, *, is_named: bool) -> list[HostSetup]:
    """Return the agents that can be connected in a project, if `project` is given. Raises BadInput."""
    if not project or not setups:
        return setups
    user_only = [setup for setup in setups if not setup.project_folder]
    if user_only and is_named:
        raise BadInput(f"{user_only[0].host} can be connected for your user only", fix="leave out --here")
    if len(user_only) == len(setups):
        raise BadInput("no agent found here can be connected in a project", fix="leave out --here")
    return [setup for setup in setups if setup.project_folder]


def _plan(setup: HostSetup, project: str, *, is_named: bool, is_removal: bool, mcp: bool) -> Plan:
    """Return the plan for an agent; if its files cannot be read, raise BadInput only if the agent was named."""
    try:
        if is_removal:
            return connection.removal(setup, project)
        wants_server = mcp and (is_named or connection.can_have_server(setup))
        return connection.plan(setup, project, wants_server=wants_server)
    except BadInput as error:
        if is_named:
            raise
        return Plan(setup.host, [], notes=[error.message], why_empty="left as it is")


def _agrees(asker: Asker, plans: list[Plan], command: str) -> bool:
    """True if the person agrees to the plans. Raises BadInput with the `command` for it if there is nobody to ask."""
    if not asker.can_ask:
        raise BadInput("not a terminal, so nothing was written (use --yes)", fix=command)
    for plan in plans:
        for line in _summary(plan):
            print(clean(line))
    screen = Screen.for_stream(sys.stdout)
    while (key := questions.read_key("Write this? d shows the lines", "y/N/d", screen)) == "d":
        print("\n".join(clean(line) for plan in plans for line in _preview(plan)))
    return key == "y"


def _summary(plan: Plan) -> list[str]:
    """Return what will be written, a line for each file."""
    lines = []
    for change in plan.changes:
        marks = [line[:1] for line in change.diff().splitlines()[2:]]
        counts = [(marks.count("+"), "added"), (marks.count("-"), "removed")]
        words = [f"{plural(count, 'line')} {verb}" for count, verb in counts if count]
        lines.append(f"{plan.name}: {change.path}: {', '.join(words)}")
    return lines + [f"{plan.name}: run {shlex.join(command)}" for command in plan.commands]


def _run_commands(plans: Sequence[Plan]) -> None:
    """Run the commands of the plans, whose files are written. Raises CommandFailed, which says what was done."""
    done = ["the files are written"] if any(plan.changes for plan in plans) else []
    for command in (command for plan in plans for command in plan.commands):
        try:
            _run(command)
        except CommandFailed as error:
            error.fix = "; ".join([error.fix, *done])
            raise
        done.append(f"done before: {_line(command)}")


def _run(command: list[str]) -> None:
    """Run a command of a host, without its output. Raises CommandFailed."""
    line = _line(command)
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    try:
        result = subprocess.run(command, timeout=_COMMAND_SECONDS, check=False, **streams)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandFailed(f"{line}: {error}", fix=f"run it yourself: {line}") from error
    if result.returncode:
        last = (result.stderr or result.stdout).strip().splitlines()[-1:] or ["it failed"]
        raise CommandFailed(f"{line}: {last[0]}", fix=f"run it yourself: {line}")


def _line(command: list[str]) -> str:
    return shlex.join([os.path.basename(command[0]), *command[1:]])


def _preview(plan: Plan) -> list[str]:
    """Return the lines that change in files of others, and the names of files that are all ours."""
    lines = []
    for change in plan.changes:
        if change.is_own_file:
            verb = "remove" if change.after is None else "replace" if change.before else "write"
            lines.append(f"{verb} {change.path}, a file of Onrecord's")
        else:
            lines += change.diff().splitlines()
    return lines + [f"run {shlex.join(command)}" for command in plan.commands]


def _steps(plans: list[Plan], *, is_removal: bool) -> list[str]:
    """Return what the user has to do afterwards."""
    setups = [hosts.setup(plan.name) for plan in plans if plan.name in hosts.BY_NAME]
    titles = {setup.host: hosts.BY_NAME[setup.host].title for setup in setups}
    if is_removal:
        return [f"Restart {title}." for title in titles.values()]
    steps = [step.format(title=titles[setup.host]) for setup in setups for step in setup.next_steps]
    if setups and not any(plan.project for plan in plans):
        steps.append("To see in a project what each agent is shown: onrecord connect --check")
    if any(plan.project for plan in plans):
        steps.append("The files contain paths of this machine, so do not commit them.")
    has_entries = any(plan.changes for plan in plans if plan.name in hosts.BY_NAME)
    if has_entries and host_files.shell_command() != "onrecord":
        words = host_files.program()
        link = f": ln -s {shlex.quote(words[0])} ~/.local/bin/onrecord" if len(words) == 1 else "."
        steps.append(f"Agents are told to run `onrecord`, which is not on your PATH{link}")
    return steps


def _data(plan: Plan) -> dict[str, Any]:
    return {
        "agent": plan.name,
        "changes": [{"path": change.path, "diff": change.diff()} for change in plan.changes],
        "commands": list(plan.commands),
        "notes": list(plan.notes),
    }


def _text(screen: Screen, plans: list[Plan], steps: list[str], *, is_removal: bool, dry_run: bool) -> str:
    lines = [clean(line) for plan in plans for line in _preview(plan)] if dry_run else []
    for plan in plans:
        outcome = clean(_outcome(plan, is_removal=is_removal, dry_run=dry_run))
        lines.append(f"{screen.paint(plan.name, 'bold')}: {outcome}")
        lines += [clean(f"  {note}") for note in plan.notes]
    if steps and not dry_run:
        lines += ["", "Now:", *(clean(f"- {step}") for step in steps)]
    return "\n".join(lines) or ("no agent is connected" if is_removal else "nothing was written")


def _outcome(plan: Plan, *, is_removal: bool, dry_run: bool) -> str:
    if plan.is_empty:
        return plan.why_empty or ("not connected" if is_removal else "already connected, nothing to change")
    would = "would be " if dry_run else ""
    done = [f"{would}{verb} ({_places(files)})" for verb, files in _files_by_verb(plan.changes).items()]
    if plan.name not in hosts.BY_NAME:
        return ", ".join(done)
    done += [f"{'would be done' if dry_run else 'done'} by its own commands"] if plan.commands else []
    only_removes = not plan.commands and not any(_adds(change) for change in plan.changes)
    headline = "disconnected" if is_removal else "connected by its plugin" if only_removes else "connected"
    headline = f"would be {headline}" if dry_run and not (only_removes and not is_removal) else headline
    return f"{headline}: {', '.join(done)}"


def _files_by_verb(file_changes: Sequence[FileChange]) -> dict[str, list[str]]:
    """Return the files that are written, changed and removed."""
    files: dict[str, list[str]] = {}
    for change in file_changes:
        verb = "removed" if not _adds(change) else "changed" if change.before and not change.is_own_file else "written"
        files.setdefault(verb, []).append(change.path)
    return files


def _adds(file_change: FileChange) -> bool:
    """True if a change puts something into a file; else it only takes something out."""
    return any(line.startswith("+") for line in file_change.diff().splitlines()[2:])


def _places(files: Sequence[str]) -> str:
    return f"{len(files)} files in {os.path.commonpath(files)}" if len(files) > 1 else files[0]


def _list(project: str) -> CommandResult:
    rows = []
    for setup in hosts.setups():
        present, state = connection.installed(setup), connection.state(setup, project)
        rows.append((setup, hosts.BY_NAME[setup.host], present, state))
    data = [
        {
            "agent": host.name,
            "title": host.title,
            "installed": present.is_there,
            "program": present.program,
            "version": present.version,
            "connected": state.entrance,
            "mcp": state.server,
            "flaw": state.flaw,
        }
        for _, host, present, state in rows
    ]

    def text(screen: Screen) -> str:
        cells = [
            (
                host.name,
                host.title,
                (present.version or "yes") if present.is_there else "no",
                _STATES.get(state.entrance, state.flaw),
                _STATES[state.server] if setup.server or state.server != "missing" else "-",
            )
            for setup, host, present, state in rows
        ]
        return table(screen, ("agent", "", "installed", "connected", "MCP"), cells)

    return CommandResult({"agents": data}, text)
