"""What `onrecord connect` says about plans and trials, and what it does when a command of an agent fails."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from onrecord import timestamps
from onrecord.cli import connect
from onrecord.cli.output import Screen
from onrecord.errors import BadInput, CommandFailed
from onrecord.hosts import host_files
from onrecord.hosts.config_file import OWN_FILE, FileChange
from onrecord.hosts.connection import HookTrial, Plan

from .conftest import DECISION

OWN = OWN_FILE.encode()
ADDED = FileChange("/h/.codex/hooks.json", None, b"{\n}\n")
CHANGED = FileChange("/h/.codex/config.toml", b"a\nb\n", b"a\nc\n")
REMOVED = FileChange("/h/.codex/old.json", b"x\n", None)
CUT = FileChange("/h/.codex/cut.json", b"x\ny\n", b"x\n")
RUN = [["/usr/bin/codex", "plugin", "add", "a b"]]


@pytest.mark.parametrize(
    ("plan", "connecting", "removing", "rehearsed"),
    [
        (Plan("codex", []), "already connected, nothing to change", "not connected",
         "already connected, nothing to change"),
        (Plan("codex", [], why_empty="left as it is"), "left as it is", "left as it is", "left as it is"),
        (Plan("codex", [ADDED]), "connected: written (/h/.codex/hooks.json)",
         "disconnected: written (/h/.codex/hooks.json)",
         "would be connected: would be written (/h/.codex/hooks.json)"),
        (Plan("codex", [CHANGED, ADDED], RUN),
         "connected: changed (/h/.codex/config.toml), written (/h/.codex/hooks.json), done by its own commands",
         "disconnected: changed (/h/.codex/config.toml), written (/h/.codex/hooks.json), done by its own commands",
         "would be connected: would be changed (/h/.codex/config.toml), would be written (/h/.codex/hooks.json), "
         "would be done by its own commands"),
        (Plan("codex", [REMOVED, CUT]), "connected by its plugin: removed (2 files in /h/.codex)",
         "disconnected: removed (2 files in /h/.codex)",
         "connected by its plugin: would be removed (2 files in /h/.codex)"),
        (Plan("codex", [], RUN), "connected: done by its own commands", "disconnected: done by its own commands",
         "would be connected: would be done by its own commands"),
        (Plan("skills", [REMOVED]), "removed (/h/.codex/old.json)", "removed (/h/.codex/old.json)",
         "would be removed (/h/.codex/old.json)"),
    ],
)  # fmt: skip
def test_the_outcome_of_a_plan(plan, connecting, removing, rehearsed):
    assert connect._outcome(plan, is_removal=False, dry_run=False) == connecting
    assert connect._outcome(plan, is_removal=True, dry_run=False) == removing
    assert connect._outcome(plan, is_removal=False, dry_run=True) == rehearsed


def test_a_removal_that_is_rehearsed_would_disconnect():
    outcome = connect._outcome(Plan("codex", [REMOVED]), is_removal=True, dry_run=True)

    assert outcome == "would be disconnected: would be removed (/h/.codex/old.json)"


def test_a_file_of_ours_is_written_again_and_not_changed():
    plan = Plan("codex", [FileChange("/h/ours", OWN, OWN + b"more\n")])

    assert connect._outcome(plan, is_removal=False, dry_run=False) == "connected: written (/h/ours)"


def test_the_lines_and_the_summary_of_a_plan():
    changes = [FileChange("/h/a", None, OWN), FileChange("/h/b", OWN, OWN + b"x"), FileChange("/h/c", OWN, None)]
    plan = Plan("codex", [*changes, CHANGED, ADDED], RUN)

    assert connect._preview(plan) == [
        "write /h/a, a file of Onrecord's",
        "replace /h/b, a file of Onrecord's",
        "remove /h/c, a file of Onrecord's",
        *CHANGED.diff().splitlines(),
        *ADDED.diff().splitlines(),
        "run /usr/bin/codex plugin add 'a b'",
    ]
    assert connect._summary(plan)[3:] == [
        "codex: /h/.codex/config.toml: 1 line added, 1 line removed",
        "codex: /h/.codex/hooks.json: 2 lines added",
        "codex: run /usr/bin/codex plugin add 'a b'",
    ]


def test_the_whole_text_of_plans():
    plans = [Plan("codex", [ADDED], notes=["a note"]), Plan("gemini", [])]

    def text(plans: list[Plan], steps: list[str], **options: bool) -> list[str]:
        return connect._text(Screen(), plans, steps, **{"is_removal": False, "dry_run": False, **options}).split("\n")

    done = ["codex: connected: written (/h/.codex/hooks.json)", "  a note",
            "gemini: already connected, nothing to change"]  # fmt: skip
    assert text(plans, ["Restart."]) == [*done, "", "Now:", "- Restart."]
    assert text(plans, []) == done
    assert text(plans, ["Restart."], dry_run=True)[: len(ADDED.diff().splitlines())] == ADDED.diff().splitlines()
    assert "Now:" not in text(plans, ["Restart."], dry_run=True)
    assert text([], []) == ["nothing was written"]
    assert text([], [], is_removal=True) == ["no agent is connected"]
    assert connect._data(plans[0]) == {
        "agent": "codex",
        "changes": [{"path": "/h/.codex/hooks.json", "diff": ADDED.diff()}],
        "commands": [],
        "notes": ["a note"],
    }


def test_what_is_to_do_afterwards(monkeypatch):
    monkeypatch.setattr(host_files, "shell_command", lambda: "onrecord")
    plans = [Plan("gemini", [ADDED]), Plan("skills", [ADDED])]
    see = "To see in a project what each agent is shown: onrecord connect --check"

    assert connect._steps(plans, is_removal=False) == ["Restart Gemini CLI.", see]
    assert connect._steps(plans, is_removal=True) == ["Restart Gemini CLI."]
    assert connect._steps([Plan("gemini", [ADDED], project="/p")], is_removal=False) == [
        "Restart Gemini CLI.",
        "The files contain paths of this machine, so do not commit them.",
    ]
    assert connect._steps(plans[1:], is_removal=False) == []
    monkeypatch.setattr(host_files, "shell_command", lambda: "/a b/onrecord")
    monkeypatch.setattr(host_files, "program", lambda: ["/a b/onrecord"])
    told = "Agents are told to run `onrecord`, which is not on your PATH"
    assert connect._steps(plans, is_removal=False)[-1] == f"{told}: ln -s '/a b/onrecord' ~/.local/bin/onrecord"
    monkeypatch.setattr(host_files, "program", lambda: ["python", "-m", "onrecord"])
    assert connect._steps(plans, is_removal=False)[-1] == f"{told}."
    assert connect._steps([Plan("gemini", [], RUN)], is_removal=False)[-1] == see
    assert connect._steps([Plan("gemini", [], RUN), Plan("skills", [ADDED])], is_removal=False)[-1] == see
    assert connect._steps(plans[:1], is_removal=False)[-1] == f"{told}."


@pytest.mark.parametrize(
    ("trial", "prompt", "says"),
    [
        (HookTrial("codex", "c", 0.26, ("a line",)), "p", "its hook replied in 0.3 s; the agent is shown:"),
        (HookTrial("codex", "c", 0.2, flaw="it broke"), "p",
         "its hook failed: it broke; onrecord connect codex --yes; onrecord doctor"),
        (HookTrial("codex", "c", 0.2), "a b", "its hook replied nothing; to see why: onrecord why 'a b'"),
        (HookTrial("codex", "c", 0.2), "",
         "its hook starts, and has nothing to reply: no record is in use here; onrecord save --help"),
    ],
)  # fmt: skip
def test_what_a_trial_says(trial, prompt, says):
    assert connect._trial_outcome(trial, prompt) == says

    text = connect._trial_text(Screen(200, is_terminal=True, has_colour=True), [trial], prompt).split("\n")
    asked = [f'the prompt: "{prompt}"'] if prompt else []
    assert text == [*asked, f"\033[1mcodex\033[0m: {says}", *(f"  {line}" for line in trial.lines)]


def test_a_command_that_explains_a_trial_names_the_project():
    text = connect._trial_text(Screen(), [HookTrial("codex", "c", 0.2)], "a b", " --project ../ferry")

    assert text.endswith("; to see why: onrecord why 'a b' --project ../ferry")


def test_the_prompt_of_a_check_is_a_trigger_of_the_newest_record_with_one(project, onrecord, monkeypatch):
    assert connect._answered_prompt(".") == ""
    onrecord("save", "decision", "No trigger", *DECISION, "--force")
    assert connect._answered_prompt(".") == "No trigger"
    for day, title in ((3, "Second"), (4, "Third"), (5, "Retired")):
        monkeypatch.setattr(timestamps, "now", lambda day=day: f"2026-03-{day:02}T09:30:00Z")
        onrecord("save", "decision", title, *DECISION, "--force", f"--trigger=about {title}", "--trigger=other")
    onrecord("retire", "retired", "--reason=r")

    assert connect._answered_prompt(".") == "about Third"


@pytest.mark.parametrize(
    ("name", "message", "fix"),
    [
        ("gemni", "no agent is called 'gemni'", "did you mean gemini? to list them: onrecord connect --list"),
        ("qwnn", "no agent is called 'qwnn'", "did you mean qwen? to list them: onrecord connect --list"),
        ("emacs", "no agent is called 'emacs'", "to list them: onrecord connect --list"),
        ("VSCode", "VS Code runs no hooks of Onrecord; its agent can use Onrecord's MCP server",
         "put this into .vscode/mcp.json of the project, beside what is there: "
         '{"servers": {"onrecord": {"command": "/x/onrecord", "args": ["mcp"]}}}; '
         "what it gives: onrecord docs agents/mcp"),
        ("code", "VS Code runs", "put this into .vscode/mcp.json of the project, "),
        ("cursor", "Cursor runs", "put this into ~/.cursor/mcp.json, beside what is there: {\"mcpServers\": "),
        ("windsurf", "Windsurf runs",
         "put this into ~/.codeium/windsurf/mcp_config.json, beside what is there: {\"mcpServers\": "),
        ("zed", "Zed runs", "put this into Zed's settings.json, beside what is there: {\"context_servers\": "),
    ],
)  # fmt: skip
def test_a_name_that_is_no_agent(monkeypatch, name, message, fix):
    monkeypatch.setattr(host_files, "program", lambda: ["/x/onrecord"])

    with pytest.raises(BadInput) as refused:
        connect._setup(name)

    assert (refused.value.message[: len(message)], refused.value.fix[: len(fix)]) == (message, fix)


def _program(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; print('out'); sys.exit('first\\nlast line')", "last line"),
        ("print('only out'); raise SystemExit(2)", "only out"),
        ("raise SystemExit(2)", "it failed"),
    ],
)
def test_a_command_of_an_agent_that_fails_says_its_last_line_and_what_was_done(code, says):
    good, bad = _program("pass"), _program(code)
    line = connect._line(bad)

    with pytest.raises(CommandFailed) as failed:
        connect._run_commands([Plan("codex", [ADDED], [good]), Plan("gemini", [], [bad, good])])

    assert failed.value.message == f"{line}: {says}"
    assert failed.value.fix == f"run it yourself: {line}; the files are written; done before: {connect._line(good)}"
    with pytest.raises(CommandFailed) as alone:
        connect._run_commands([Plan("gemini", [], [bad])])
    assert alone.value.fix == f"run it yourself: {line}"


def test_a_command_that_is_not_there_or_takes_too_long_fails(monkeypatch, tmp_path):
    with pytest.raises(CommandFailed) as missing:
        connect._run([str(tmp_path / "gone"), "x y"])
    assert missing.value.message.startswith("gone 'x y': [Errno 2]")
    assert missing.value.fix == "run it yourself: gone 'x y'"

    def wait(command: list[str], timeout: int, **streams: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", wait)
    with pytest.raises(CommandFailed, match="timed out after 120 seconds"):
        connect._run(["codex", "x"])


def test_the_list_of_agents_in_json_and_as_a_table(home, onrecord, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    (home / ".gemini").mkdir()
    onrecord("connect", "codex", "--mcp", "--yes")

    rows = {row["agent"]: row for row in json.loads(onrecord("connect", "--list", "--json").out)["agents"]}
    lines = [line.split("\t") for line in onrecord("connect", "--list").out.splitlines()]

    assert rows["codex"] == {
        "agent": "codex", "title": "Codex CLI", "installed": True, "program": "", "version": "",
        "connected": "current", "mcp": "current", "flaw": "",
    }  # fmt: skip
    assert (rows["gemini"]["installed"], rows["gemini"]["connected"], rows["gemini"]["mcp"]) == (
        True, "missing", "missing",
    )  # fmt: skip
    assert rows["qwen"]["installed"] is False
    assert ["codex", "Codex CLI", "yes", "yes", "yes"] in lines
    assert ["gemini", "Gemini CLI", "yes", "no", "no"] in lines


@pytest.mark.parametrize(("others", "prompt"), [(199, "where do jobs go"), (200, "Jobs are rows")])
def test_two_hundred_records_are_looked_at_for_a_prompt(project, onrecord, others, prompt):
    onrecord("save", "decision", "Jobs are rows", *DECISION)
    folder = project / ".claude/memory/decisions"
    record = json.loads((folder / "jobs-are-rows.json").read_text())
    for number in range(others - 1):
        (folder / f"a{number:03}.json").write_text(json.dumps({**record, "id": f"a{number:03}"}))
    (folder / "z.json").write_text(json.dumps({**record, "id": "z", "triggers": ["where do jobs go"]}))

    assert connect._answered_prompt(".") == prompt
