"""`onrecord doctor` on installations that are broken, each really made: it names the cause and the remedy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import onrecord
from onrecord import timestamps
from onrecord.doctor import agents
from onrecord.doctor import machine as machine_checks
from onrecord.hosts.claude_code import mangled
from tests.powerless import powerless

ROOT = Path(__file__).parents[2]
REAL = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
SESSION = "33aa5ed2-62e9-4da2-9bfd-1450c86beaf8"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes installations of POSIX systems")


class Machine:
    """A user with Claude Code, the plugin and a project with one memory, all in good order until a test breaks it."""

    def __init__(self, root: Path, plugin: Path) -> None:
        self.home, self.project, self.clone = root / "home", root / "project", root / "a clone"
        self.bin, self.claude = self.home / "bin", self.home / ".claude"
        for folder in (self.bin, self.claude / "plugins", self.project):
            folder.mkdir(parents=True)
        for tool in ("sh", "mkdir", "mv", "rm", "git"):
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        (self.bin / "python3").symlink_to(REAL)
        shutil.copytree(plugin, self.clone)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, timeout=120)
        onrecord.open(str(self.project)).save("preference", PREFERENCE)
        self.install("memory@onrecord", self.clone)

    @property
    def store(self) -> Path:
        return self.project / ".claude" / "memory"

    @property
    def record(self) -> Path:
        return self.store / "preferences" / "tabs-not-spaces.json"

    @property
    def memo(self) -> Path:
        return self.home / ".cache" / "onrecord" / "python"

    def install(self, key: str, folder: Path, *, version: str = onrecord.__version__) -> None:
        """Write the files that `claude plugin marketplace add` and `claude plugin install` write for a folder."""
        plugins = self.claude / "plugins"
        name, market = key.split("@")
        source = {"source": {"source": "directory", "path": str(folder)}, "installLocation": str(folder)}
        cache = plugins / "cache" / market / name / version
        entry = {"scope": "user", "installPath": str(cache), "version": version, "installedAt": "2026-01-01T00:00:00Z"}
        merge(plugins / "known_marketplaces.json", {market: source})
        merge(plugins / "installed_plugins.json", {"version": 2, "plugins": {key: [entry]}})
        merge(self.claude / "settings.json", {"enabledPlugins": {key: True}})

    def other_plugin(self, key: str, *events: str) -> None:
        name, market = key.split("@")
        folder = self.home / market
        manifest = {"name": name, "version": "1.0.0"}
        offer = {"name": market, "plugins": [{"name": name, "source": f"./plugins/{name}"}]}
        hooks = {event: [{"hooks": [{"type": "command", "command": "true"}]}] for event in events}
        merge(folder / ".claude-plugin" / "marketplace.json", offer)
        merge(folder / "plugins" / name / ".claude-plugin" / "plugin.json", manifest)
        merge(folder / "plugins" / name / "hooks" / "hooks.json", {"hooks": hooks})
        self.install(key, folder, version="1.0.0")

    def had_session(self, *lines: dict[str, Any], ago: float = 60) -> Path:
        """Write a conversation in the project, in the form of the host."""
        folder = self.claude / "projects" / mangled(os.path.realpath(self.project))
        folder.mkdir(parents=True, exist_ok=True)
        timestamp = timestamps.from_seconds(time.time() - ago)
        prompt = {"type": "user", "message": {"role": "user", "content": "hello"}, "timestamp": timestamp, "uuid": "u"}
        path = folder / f"{SESSION}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in ({**prompt, "cwd": str(self.project)}, *lines)))
        return path

    def examine(self, *, prefix: Sequence[str] = (), clone: str = "", **env: str) -> list[dict[str, str]]:
        """Return the problems that `onrecord doctor --json` finds."""
        whole = {"HOME": str(self.home), "PATH": str(self.bin), **env}
        process = subprocess.run(
            [*prefix, REAL, str(Path(clone or self.clone) / "bin" / "onrecord"), "doctor", "--json"],
            cwd=self.project,
            env=whole,
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert process.returncode in (0, 1), process.stderr.decode()
        self.findings: list[dict[str, str]] = json.loads(process.stdout)["findings"]
        wrong = [finding for finding in self.findings if finding["severity"] not in ("ok", "note")]
        assert process.returncode == any(finding["severity"] == "error" for finding in wrong)
        return wrong

    def is_ok(self, check: str) -> bool:
        return any(finding["severity"] == "ok" for finding in self.findings if finding["check"] == check)


def merge(path: Path, added: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = json.loads(path.read_text()) if path.exists() else {}
    for key, value in added.items():
        whole[key] = {**whole.get(key, {}), **value} if isinstance(value, dict) else value
    path.write_text(json.dumps(whole))


PREFERENCE = {"title": "Tabs, not spaces", "content": {"topic": "indentation", "value": "tabs", "reason": "width"}}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the plugin, compiled, so that no test pays for that again."""
    folder = tmp_path_factory.mktemp("plugin")
    for part in ("hooks", "src", "bin", ".claude-plugin"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([REAL, "-m", "compileall", "-q", str(folder / "src")], check=True, timeout=120)
    return folder


@pytest.fixture
def machine(tmp_path: Path, plugin: Path) -> Machine:
    return Machine(tmp_path, plugin)


def only(findings: list[dict[str, str]]) -> tuple[str, str, str, str]:
    (finding,) = findings
    return finding["severity"], finding["check"], finding["what"], finding["fix"]


def test_an_installation_in_good_order(machine: Machine):
    machine.had_session()
    machine.home.joinpath(".local/state/onrecord/sessions").mkdir(parents=True)
    machine.home.joinpath(".local/state/onrecord/sessions", SESSION).write_text("prompt\n")

    assert machine.examine() == []
    assert all(machine.is_ok(check) for check in ("python", "fts5", "folders", "plugin", "hooks", "store"))


def test_the_plugin_is_not_installed_and_sessions_go_by_without_it(machine: Machine):
    shutil.rmtree(machine.claude / "plugins")
    (machine.claude / "settings.json").unlink()
    machine.had_session()

    severity, check, what, fix = only(machine.examine())

    assert (severity, check) == ("warning", "plugin")
    assert "not installed" in what
    assert fix == f"claude plugin marketplace add {machine.clone}; then: claude plugin install memory@onrecord"


def test_the_plugin_is_disabled(machine: Machine):
    merge(machine.claude / "settings.json", {"enabledPlugins": {"memory@onrecord": False}})

    assert only(machine.examine()) == (
        "warning",
        "plugin",
        "memory@onrecord is disabled, so no hook runs",
        "claude plugin enable memory@onrecord",
    )


def test_the_plugin_is_disabled_in_this_project(machine: Machine):
    merge(machine.project / ".claude" / "settings.local.json", {"enabledPlugins": {"memory@onrecord": False}})

    assert only(machine.examine())[1] == "plugin"


def test_the_clone_it_was_installed_from_is_gone(machine: Machine):
    machine.clone.rename(machine.home / "moved")

    severity, check, what, fix = only(machine.examine(clone=str(machine.home / "moved")))

    assert (severity, check) == ("error", "plugin")
    assert what == f"memory@onrecord is read from {machine.clone}, which does not exist"
    assert f"claude plugin marketplace add {machine.home / 'moved'}" in fix


@pytest.mark.parametrize("where", ["home/.claude/settings.json", "project/.claude/settings.json"])
def test_hooks_are_disabled_in_the_settings(machine: Machine, where: str):
    file = machine.home.parent / where
    merge(file, {"disableAllHooks": True})

    severity, check, what, fix = only(machine.examine())

    assert (severity, check) == ("error", "settings")
    assert what.startswith(f"{file} disables all hooks") and fix == f"remove disableAllHooks from {file}"


def test_whoever_manages_the_machine_allows_no_hooks_but_theirs(machine: Machine, tmp_path: Path, monkeypatch):
    managed = tmp_path / "managed-settings.json"
    merge(managed, {"allowManagedHooksOnly": True})
    monkeypatch.setattr(agents, "_MANAGED_SETTINGS", {sys.platform: str(managed)})

    findings = [finding for finding in agents.examine_claude_code(str(machine.project)) if finding.check == "settings"]

    assert [finding.severity for finding in findings] == ["error"]


def test_settings_that_are_no_json(machine: Machine):
    (machine.project / ".claude" / "settings.json").write_text("{broken")

    assert only(machine.examine())[:2] == ("warning", "settings")


def test_the_whole_thing_is_turned_off_by_a_variable(machine: Machine):
    assert only(machine.examine(ONRECORD_OFF="1"))[3] == "unset ONRECORD_OFF"


def test_hooks_that_do_not_fire(machine: Machine):
    machine.had_session(ago=-60)

    severity, check, what, fix = only(machine.examine())

    assert (severity, check) == ("warning", "hooks")
    assert what.startswith("no hook ran in the last session here") and "/hooks" in fix


def test_a_session_from_before_the_store_proves_nothing(machine: Machine):
    machine.had_session(ago=86_400)

    assert machine.examine() == []


def test_a_hook_that_failed_is_told_in_its_own_words(machine: Machine):
    failed = {
        "type": "hook_non_blocking_error",
        "hookEvent": "UserPromptSubmit",
        "stderr": "sh: 0: cannot open launch: Permission denied",
        "exitCode": 2,
        "command": "sh ${CLAUDE_PLUGIN_ROOT}/src/onrecord/hooks/launch user_prompt_submit",
    }
    machine.had_session({"type": "attachment", "attachment": failed})

    severity, check, what, _ = only(machine.examine())

    assert (severity, check) == ("error", "hooks")
    assert what.endswith("(UserPromptSubmit): exit code 2: sh: 0: cannot open launch: Permission denied")


@pytest.mark.parametrize("name", ["claude-mem", "memory", "mem0", "basic-memory", "supermemory", "remember"])
def test_another_memory_plugin_is_active(machine: Machine, name: str):
    machine.other_plugin(f"{name}@elsewhere", "UserPromptSubmit")

    severity, check, what, fix = only(machine.examine())

    assert (severity, check, what) == ("warning", "others", f"another memory plugin is active: {name}@elsewhere")
    assert fix.startswith(f"claude plugin disable {name}@elsewhere")


@pytest.mark.parametrize("name", ["members-only", "formatter", "time"])
def test_other_plugins_are_no_memory(machine: Machine, name: str):
    machine.other_plugin(f"{name}@elsewhere", "UserPromptSubmit")

    assert machine.examine() == []
    notes = [finding["what"] for finding in machine.findings if finding["check"] == "others"]
    assert notes == [f"the plugin {name}@elsewhere also has a hook on every prompt"]


def test_another_memory_plugin_that_is_disabled_is_none(machine: Machine):
    machine.other_plugin("claude-mem@elsewhere", "UserPromptSubmit")
    merge(machine.claude / "settings.json", {"enabledPlugins": {"claude-mem@elsewhere": False}})

    assert machine.examine() == []


@pytest.mark.parametrize(
    ("words", "is_ours"),
    [
        (["sh", "/old/src/onrecord/hooks/launch", "user_prompt_submit"], True),
        (["/opt/onrecord/run", "prompt"], True),
        (["sh", "/opt/linter/hooks/start"], False),
    ],
)
def test_hooks_of_ours_in_the_settings_would_run_twice(machine: Machine, words: list[str], is_ours: bool):
    hook = {"type": "command", "command": words[0], "args": words[1:]}
    merge(machine.claude / "settings.json", {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}})

    wrong = machine.examine()
    (finding,) = [entry for entry in machine.findings if entry["check"] == "others"]

    assert [entry["check"] for entry in wrong] == ["others"] * is_ours
    verb = "runs Onrecord's hook a second time" if is_ours else "has another hook on every prompt"
    assert finding["what"] == f"{machine.claude / 'settings.json'} {verb}: {' '.join(words)}"


def test_no_python_for_hooks(machine: Machine):
    (machine.bin / "python3").unlink()

    severity, check, what, fix = only(machine.examine())

    assert (severity, check) == ("error", "python")
    assert "no Python 3.9 or later" in what and "PATH" in fix


def test_no_shell_for_hooks(machine: Machine):
    (machine.bin / "sh").unlink()

    assert only(machine.examine())[:2] == ("error", "python")


def test_a_remembered_interpreter_that_is_gone_is_named_and_replaced(machine: Machine):
    machine.memo.parent.mkdir(parents=True)
    machine.memo.write_text("/opt/gone/bin/python3\n")

    assert machine.examine() == []
    assert any("/opt/gone/bin/python3, which no longer exists" in finding["what"] for finding in machine.findings)
    assert machine.is_ok("python")
    assert os.path.samefile(machine.memo.read_text().strip(), REAL)


def test_a_remembered_interpreter_that_no_longer_runs(machine: Machine):
    broken = machine.home / "broken"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    machine.memo.parent.mkdir(parents=True)
    machine.memo.write_text(f"{broken}\n")

    severity, check, what, _ = only(machine.examine())

    assert (severity, check) == ("warning", "python")
    assert str(broken) in what
    assert machine.examine() == []


@pytest.mark.parametrize(
    ("says", "severity", "check", "part"),
    [
        ('[[3, 8, 2], ""]', "error", "python", "Python 3.8.2, which is too old"),
        ('[[3, 12, 1], "no such module: fts5"]', "warning", "fts5", "no full-text search (no such module: fts5)"),
        ("Segmentation fault", "error", "python", "which does not work"),
    ],
)
def test_an_interpreter_of_hooks_that_will_not_do(machine: Machine, says: str, severity: str, check: str, part: str):
    """Create an interpreter that runs the hook, and describes itself as an older one would."""
    poor = machine.home / "python3"
    poor.write_text(f'#!/bin/sh\n[ "$3" = -c ] && {{ echo \'{says}\'; exit 0; }}\nexec {REAL} "$@"\n')
    poor.chmod(0o755)
    machine.memo.parent.mkdir(parents=True)
    machine.memo.write_text(f"{poor}\n")

    finding = only(machine.examine())

    assert finding[:2] == (severity, check)
    assert part in finding[2] and str(poor) in finding[2] and f"rm {machine.memo}" in finding[3]


def test_this_python_is_asked_for_real():
    assert machine_checks.examine_python(REAL)[:2] == ("ok", "python")


@pytest.mark.parametrize(
    ("folder", "check", "variable"),
    [(".cache", "cache", "ONRECORD_CACHE_DIR"), (".local/state", "state", "ONRECORD_STATE_DIR")],
)
def test_a_folder_that_cannot_be_written(machine: Machine, folder: str, check: str, variable: str):
    path = machine.home / folder / "onrecord"
    path.mkdir(parents=True)
    path.chmod(0o555)

    severity, found, what, fix = only(machine.examine(prefix=powerless()))

    assert (severity, found) == ("warning", check)
    assert what.startswith(f"{path} cannot be written") and variable in fix


def test_a_file_where_the_cache_should_be(machine: Machine):
    (machine.home / ".cache").write_text("")

    assert only(machine.examine())[:2] == ("warning", "cache")


def rewrite(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_a_record_from_the_future(machine: Machine):
    rewrite(machine.record, updated_at="2999-01-01T00:00:00Z")

    severity, check, what, fix = only(machine.examine())

    assert (severity, check) == ("warning", "clock")
    assert "preferences/tabs-not-spaces.json was changed on 2999-01-01T00:00:00Z" in what
    assert "onrecord edit tabs-not-spaces" in fix
    onrecord.open(str(machine.project)).writer.update(
        "tabs-not-spaces", {"content": {"reason": "width is a matter of taste"}}, hash_of(machine)
    )
    assert machine.examine() == []


def hash_of(machine: Machine) -> str:
    return onrecord.open(str(machine.project)).store.get("tabs-not-spaces").hash


def test_a_clock_that_is_behind_the_files(machine: Machine):
    os.utime(machine.record, (time.time() + 86_400,) * 2)

    severity, check, what, fix = only(machine.examine())

    assert (severity, check) == ("warning", "clock")
    assert what.startswith("the clock says") and fix.startswith("set the clock")


def test_records_of_the_earlier_plugin_are_used_and_could_be_found_better(machine: Machine):
    raw = json.loads(machine.record.read_text())
    raw.pop("origin")
    machine.record.write_text(json.dumps(raw))

    assert machine.examine() == []
    notes = [finding for finding in machine.findings if "earlier plugin" in finding["what"]]
    assert [note["what"].split()[0] for note in notes] == ["1"]
    assert "onrecord improve" in notes[0]["fix"]


def test_a_record_of_a_newer_onrecord(machine: Machine):
    rewrite(machine.record, schema_version="2.0")

    findings = machine.examine()

    assert findings[0]["severity"] == "error"
    assert findings[0]["fix"].startswith("update Onrecord if a newer one wrote preferences/tabs-not-spaces.json")


def test_a_store_that_git_ignores(machine: Machine):
    (machine.project / ".gitignore").write_text(".claude/\n")

    severity, check, what, _ = only(machine.examine())

    assert (severity, check) == ("warning", "git") and what.startswith(
        "git ignores .claude/memory/ (.gitignore, line 1"
    )


def test_another_version_of_the_plugin_is_worth_a_note(machine: Machine):
    machine.install("memory@onrecord", machine.clone, version="0.0.9")

    assert machine.examine() == []
    assert any(finding["fix"] == "claude plugin update memory@onrecord" for finding in machine.findings)


@pytest.mark.parametrize("garbage", ["[]", "null", '{"plugins": [], "version": {}}', '{"plugins": {"x": 1}}', "\x00"])
def test_files_of_the_host_that_say_something_else(machine: Machine, garbage: str):
    for file in (machine.claude / "plugins").glob("*.json"):
        file.write_text(garbage)
    machine.had_session()

    machine.examine()

    assert [finding["check"] for finding in machine.findings if finding["severity"] == "error"] == []
