"""The folder of a subject: requests with what the hooks add to them, the repository, and two tools that keep a log.

The store is in a copy of the repository that the subject does not see: it gets what an agent would get, through the
hooks, and reads records with `./memory show NAME` as an agent would with `onrecord show NAME`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import stage
from bench.agents.conditions import Condition
from bench.agents.project import Project, Task

_SOURCE = Path(__file__).parents[2] / "src"
_HOOK = _SOURCE / "onrecord" / "hooks" / "run.py"
_INSTRUCTIONS = """# What you are asked

You are a coding agent in the repository `repo/` (read it, do not change it). The files in `requests/` are what
a developer of the team asks you, one after the other, in one working session. Take them in order, one at a
time; do not look ahead. If `start.md` has text, read it first: it is what your session begins with. For each,
look at the code as far as you would before you begin, then write `answers/NN.md`: what you will do, concretely:
files, libraries, names, commands, the essential lines of code, and why you do it so. At most 200 words. Do not
ask back; decide. Shell commands that change something (install, generate, migrate, test, commit) are run as
`./run 'COMMAND'`: it is a dry run, nothing is executed; assume that it succeeded. Run those that you would
really run for the request. Text in <memory-context> is what the project's memory adds, as a program inserts it;
it is not written by the developer.
"""
_MEMORY = """`./memory show NAME` (several names at once) shows whole records of the project's memory, `./memory search
WORDS` searches it.
"""
_RUN = """#!{python}
import json, os, subprocess, sys
command = " ".join(sys.argv[1:])
with open({log!r}, "a") as log:
    log.write(json.dumps({{"run": command}}) + "\\n")
if {has_actions}:
    event = {{"session_id": {session!r}, "cwd": {project!r}, "hook_event_name": "PreToolUse", "tool_name": "Bash",
             "tool_input": {{"command": command}}, "transcript_path": ""}}
    done = subprocess.run([sys.executable, {hook!r}, "pre_tool_use", "claude-code"], input=json.dumps(event), text=True,
                          capture_output=True, env={{**os.environ, "HOME": {home!r}}})
    if done.stdout:
        reply = json.loads(done.stdout).get("hookSpecificOutput", {{}})
        print(reply.get("additionalContext") or reply.get("permissionDecisionReason") or "")
print("(dry run: not executed, assume that it succeeded)")
"""
_SHOW = """#!{python}
import json, os, subprocess, sys
with open({log!r}, "a") as log:
    log.write(json.dumps({{"memory": sys.argv[1:]}}) + "\\n")
if sys.argv[1:2] not in (["show"], ["search"]):
    sys.exit("./memory show NAME... or ./memory search WORDS")
os.environ.update(HOME={home!r}, PYTHONPATH={source!r})
sys.exit(subprocess.call([sys.executable, "-m", "onrecord", *sys.argv[1:]], cwd={project!r}))
"""


def prepare(project: Project, condition: Condition, out: Path) -> Path:
    """Make the folder of the subject for a project and a condition, and return it."""
    folder = out / f"{project.name}-{condition.name}"
    if folder.exists():
        raise SystemExit(f"{folder} exists: choose another folder, answers are not overwritten")
    (folder / "requests").mkdir(parents=True)
    (folder / "answers").mkdir()
    (folder / "repo").symlink_to(project.repo.resolve())
    hidden = Hidden(project, condition, out / ".hidden" / folder.name)
    (folder / "README.md").write_text(_INSTRUCTIONS + (_MEMORY if condition.has_memory else ""), encoding="utf-8")
    _add_tools(folder, hidden, condition)
    start = "" if condition.starts_anew else hidden.start()
    (folder / "start.md").write_text(start, encoding="utf-8")
    places = {}
    for place, task in enumerate(project.in_order(condition.kinds), 1):
        name = f"{place:02}"
        parts = hidden.texts(task)
        (folder / "requests" / f"{name}.md").write_text("\n\n".join([*parts, task.text]) + "\n", encoding="utf-8")
        characters = sum(map(len, parts)) + (len(start) if place == 1 else 0)
        places[name] = {"task": task.id, "memory_characters": characters}
    _note_project(project, out)
    (hidden.folder / "places.json").write_text(json.dumps(places, indent=1), encoding="utf-8")
    return folder


def _note_project(project: Project, out: Path) -> None:
    """Add a project to `projects.txt`, where grading finds the folders of the projects."""
    file, folder = out / "projects.txt", str(project.repo.parent.resolve())
    folders = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
    if folder not in folders:
        file.write_text("\n".join([*filter(None, folders), folder]) + "\n", encoding="utf-8")


class Hidden:
    """The project with its store, a home of its own, and the hooks that run in them."""

    def __init__(self, project: Project, condition: Condition, folder: Path) -> None:
        self.folder = folder.resolve()
        self.condition = condition
        self.project, self.home = self.folder / "project", self.folder / "home"
        shutil.copytree(project.repo, self.project, symlinks=True)
        user_store = self.home / ".claude" / "memory"
        user_store.mkdir(parents=True)
        (user_store / "memory-config.json").write_text(json.dumps(condition.settings), encoding="utf-8")
        if condition.has_memory:
            stage.write(str(self.project / ".claude" / "memory"), project.records.values())
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
            self.git(*command)
        self.session = folder.name
        if condition.has_memory:
            self._index()

    def _index(self) -> None:
        """Complete the index: a hook has time for some hundred records, and the team has worked here before."""
        command = [sys.executable, "-m", "onrecord", "search", "index"]
        environment = {**os.environ, "HOME": str(self.home), "PYTHONPATH": str(_SOURCE)}
        subprocess.run(command, cwd=self.project, env=environment, check=True, capture_output=True)

    def git(self, *words: str) -> None:
        identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
        subprocess.run(["git", *identity, *words], cwd=self.project, check=True, capture_output=True)

    def start(self) -> str:
        """Return what the memory says when the session starts."""
        return self.hook("session_start", {"source": "startup"}) if self.condition.has_memory else ""

    def texts(self, task: Task) -> list[str]:
        """Return what the memory adds to a request."""
        if not self.condition.has_memory:
            return []
        start = ""
        if self.condition.starts_anew:
            self.git("checkout", "-q", "-B", task.branch or "main")
            self.session = f"{self.folder.name}-{task.id}"
            start = self.start()
        return [text for text in (start, self.hook("user_prompt_submit", {"prompt": task.text})) if text]

    def hook(self, event: str, fields: dict[str, Any]) -> str:
        name = "".join(word.capitalize() for word in event.split("_"))
        payload = {"session_id": self.session, "cwd": str(self.project), "hook_event_name": name, "transcript_path": ""}
        done = subprocess.run(
            [sys.executable, str(_HOOK), event, "claude-code"],
            input=json.dumps({**payload, **fields}),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "HOME": str(self.home)},
        )
        output = json.loads(done.stdout) if done.stdout else {}
        return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))


def _add_tools(folder: Path, hidden: Hidden, condition: Condition) -> None:
    values = {
        "python": sys.executable,
        "log": str(hidden.folder / "log.jsonl"),
        "has_actions": bool(condition.settings.get("retrieval", {}).get("actions")),
        "session": hidden.session,
        "project": str(hidden.project),
        "hook": str(_HOOK),
        "home": str(hidden.home),
        "source": str(_SOURCE),
    }
    for name, text in (("run", _RUN), ("memory", _SHOW)):
        if name == "run" or condition.has_memory:
            (folder / name).write_text(text.format(**values), encoding="utf-8")
            (folder / name).chmod(0o755)


def ask(out: Path, agent: str, seconds: float) -> None:
    """Give every request that has no answer yet to a coding agent's command, each in a process of its own."""
    for folder in subjects(out):
        for request in sorted((folder / "requests").iterdir()):
            answer = folder / "answers" / request.name
            if answer.exists():
                continue
            prompt = _opening(folder)
            done = subprocess.run(
                shlex.split(agent),
                input=prompt + request.read_text(encoding="utf-8"),
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=True,
            )
            answer.write_text(done.stdout, encoding="utf-8")
            print(answer)


def _opening(folder: Path) -> str:
    """Return what comes before each request if it is a session of its own."""
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("README.md", "start.md")]
    return "\n".join([*texts, "Answer this request only, on standard output:", ""])


def subjects(out: Path) -> list[Path]:
    return sorted(folder for folder in out.iterdir() if (folder / "requests").is_dir())
