"""Hostile repositories: a program is planted everywhere git would run one, and none may run.

Every shape is opened by every hook and every command; plain git shows that its trap is armed. The last tests hold that
git is run in two modules only.
"""

from __future__ import annotations

import ast
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onrecord import cli, hooks
from onrecord.git import changes, git_files, process, repository, work_tree
from tests.git_project import GitProject
from tests.source_tree import trees

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="programs are planted as shell scripts"),
    pytest.mark.skipif(not shutil.which("git"), reason="git is not installed"),
]
SRC = Path(__file__).parents[2] / "src" / "onrecord"
HOOKS = (
    "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change"
    " post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push"
    " pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction"
    " sendemail-validate update"
).split()
KEYS = (
    "core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy core.alternateRefsCommand"
    " diff.external diff.evil.command diff.evil.textconv diff.guitool difftool.evil.cmd filter.evil.clean"
    " filter.evil.smudge filter.evil.process merge.evil.driver merge.onrecord.driver gpg.program gpg.ssh.program"
    " gpg.ssh.defaultKeyCommand credential.helper sequence.editor interactive.diffFilter trailer.evil.command"
    " trailer.evil.cmd remote.origin.uploadpack remote.origin.receivepack remote.origin.proxy"
    " uploadpack.packObjectsHook pager.log pager.diff pager.status pager.ls-files pager.config web.browser"
    " browser.evil.cmd man.viewer"
    " instaweb.httpd mergetool.evil.cmd receive.procReceiveRefs submodule.sub.update sendemail.sendmailCmd"
    " alias.ls-files alias.log alias.diff-tree alias.diff-index alias.rev-parse alias.config alias.check-ignore"
    " alias.status alias.init alias.merge-file"
).split()
"""Settings whose value git would run; aliases of our own questions among them."""

SWITCHES = """
[core]
    repositoryformatversion = 1
[filter "evil"]
    required = true
[log]
    showSignature = true
[protocol]
    allow = always
[protocol "ext"]
    allow = always
[remote "origin"]
    url = ext::PROGRAM
    promisor = true
    fetch = +refs/heads/*:refs/remotes/origin/*
[extensions]
    partialClone = origin
[submodule]
    recurse = true
    active = .
[status]
    submoduleSummary = true
    showUntrackedFiles = all
[diff]
    submodule = diff
    ignoreSubmodules = none
    tool = evil
[log]
    diffMerges = remerge
[hook "evil"]
    command = PROGRAM
    event = post-index-change
    event = reference-transaction
    event = pre-commit
"""


class Trap:
    """A program that writes down that it was run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.proof = folder / "PWNED"
        self.program = folder / "program"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $@\" >>'{self.proof}'\n")
        self.program.chmod(0o755)

    @property
    def was_sprung(self) -> bool:
        return self.proof.exists()

    def config(self) -> str:
        lines = [SWITCHES.replace("PROGRAM", str(self.program))]
        for key in KEYS:
            section, _, name = key.rpartition(".")
            kind, dot, which = section.partition(".")
            value = f"!{self.program}" if kind in ("alias", "credential", "submodule") else str(self.program)
            lines.append(f'[{kind} "{which}"]' if dot else f"[{kind}]")
            lines.append(f"    {name} = {value}")
        return "\n".join(lines) + "\n"

    def arm(self, git_dir: Path) -> None:
        """Plant programs in the config, the hooks and the attributes of a repository."""
        with open(git_dir / "config", "a", encoding="utf-8") as file:
            file.write(self.config())
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info" / "attributes").write_text("* filter=evil diff=evil merge=evil text\n")
        self.arm_hooks(git_dir / "hooks")

    def arm_hooks(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            shutil.copy(self.program, folder / name)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with records about files that were changed, renamed and deleted since, staged and not."""
    project = GitProject(tmp_path_factory.mktemp("template") / "project")
    project.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    for name in ("same", "touched", "staged", "renamed", "deleted", "committed", "gone"):
        project.write(f"src/{name}.py", "".join(f"{name} {number}\n" for number in range(30)))
        project.commit()
    for name in ("same", "touched", "staged", "renamed", "deleted", "committed"):
        words = ["save", "preference", f"The {name} parser", "--set", f"topic={name}", "--set", "value=in one place",
                 "--set", "reason=The parser is slow", "--related", f"src/{name}.py", "--force"]  # fmt: skip
        assert cli.main([*words, "--project", str(project.root)]) == 0
    project.commit()
    project.git("mv", "src/renamed.py", "src/renamed_twice.py")
    project.write("src/committed.py", "changed\n")
    project.commit()
    project.write("src/staged.py", "staged\n")
    project.git("add", "src/staged.py")
    (project.root / "src/deleted.py").unlink()
    project.write("untracked/new.py", "new\n")
    os.utime(project.root / "src/touched.py", (1_600_000_000, 1_600_000_000))
    return project.root


def _ordinary(root: Path, trap: Trap) -> Path:
    trap.arm(root / ".git")
    return root


def _hooks_path(root: Path, trap: Trap) -> Path:
    trap.arm_hooks(root / "hooks")
    with open(root / ".git" / "config", "a", encoding="utf-8") as file:
        file.write(f"[core]\n    hooksPath = {root / 'hooks'}\n[core]\n    fsmonitor = {trap.program}\n")
    return root


def _included(root: Path, trap: Trap) -> Path:
    (root / "more").write_text(trap.config())
    with open(root / ".git" / "config", "a", encoding="utf-8") as file:
        file.write(f'[include]\n    path = {root / "more"}\n[includeIf "gitdir:**"]\n    path = ../more\n')
        file.write('[includeIf "onbranch:**"]\n    path = ../more\n')
    return root


def _worktree_config(root: Path, trap: Trap) -> Path:
    with open(root / ".git" / "config", "a", encoding="utf-8") as file:
        file.write("[extensions]\n    worktreeConfig = true\n")
    (root / ".git" / "config.worktree").write_text(trap.config())
    return root


def _linked_worktree(root: Path, trap: Trap) -> Path:
    linked = root.parent / "linked"
    _git(root, "worktree", "add", "-q", "-b", "feat/parser", str(linked))
    shutil.copytree(root / ".claude", linked / ".claude", dirs_exist_ok=True)
    (linked / "src" / "same.py").write_text("changed\n")
    trap.arm(root / ".git")
    return linked


def _submodule(root: Path, trap: Trap) -> Path:
    other = GitProject(root.parent / "other")
    other.write("a.py", "a\n")
    other.commit()
    _git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    (root / "sub" / "a.py").write_text("changed\n")
    trap.arm(root / ".git" / "modules" / "sub")
    return root


def _inside_submodule(root: Path, trap: Trap) -> Path:
    _submodule(root, trap)
    shutil.copytree(root / ".claude", root / "sub" / ".claude")
    return root / "sub"


def _bare_inside(root: Path, trap: Trap, below: str = "service") -> Path:
    """An embedded bare repository in a subfolder, as plain `git clone` carries it."""
    folder = root / below
    folder.mkdir(parents=True)
    inner = root.parent / "inner"
    shutil.copytree(root, inner, ignore=shutil.ignore_patterns(below.split("/")[0]))
    trap.arm(inner / ".git")
    with open(inner / ".git" / "config", "a", encoding="utf-8") as file:
        file.write("[core]\n    bare = false\n    worktree = .\n")
    for name in os.listdir(inner / ".git"):
        (inner / ".git" / name).rename(folder / name)
    for name in ("src", ".claude", ".gitattributes"):
        (inner / name).rename(folder / name)
    return folder


def _bare_deep_inside(root: Path, trap: Trap) -> Path:
    folder = _bare_inside(root, trap, "a/b/c/service")
    (folder / "x" / "y").mkdir(parents=True)
    shutil.copytree(folder / ".claude", folder / "x" / "y" / ".claude")
    return folder / "x" / "y"


def _git_file(text: str) -> Callable[[Path, Trap], Path]:
    def plant(root: Path, trap: Trap) -> Path:
        for name in ("evil", " evil"):
            shutil.copytree(root / ".git", root / name)
            trap.arm(root / name)
        shutil.rmtree(root / ".git")
        (root / ".git").write_text(text)
        return root

    return plant


def _common_dir(text: str) -> Callable[[Path, Trap], Path]:
    """A git folder with a common folder, whose name git and we may read differently."""

    def plant(root: Path, trap: Trap) -> Path:
        for name in ("evil", " evil", "evil\nsafe"):
            shutil.copytree(root / ".git", root / ".git" / name, ignore=shutil.ignore_patterns("*evil*"))
            trap.arm(root / ".git" / name)
        (root / ".git" / "commondir").write_text(text)
        return root

    return plant


def _git_link(root: Path, trap: Trap) -> Path:
    (root / ".git").rename(root.parent / "elsewhere")
    trap.arm(root.parent / "elsewhere")
    (root / ".git").symlink_to(root.parent / "elsewhere")
    return root


def _worktree_elsewhere(root: Path, trap: Trap) -> Path:
    other = root.parent / "other-tree"
    shutil.copytree(root, other, ignore=shutil.ignore_patterns(".git"))
    trap.arm(root / ".git")
    with open(root / ".git" / "config", "a", encoding="utf-8") as file:
        file.write(f"[core]\n    worktree = {other}\n")
    return root


def _said_to_be_bare(root: Path, trap: Trap) -> Path:
    trap.arm(root / ".git")
    with open(root / ".git" / "config", "a", encoding="utf-8") as file:
        file.write("[core]\n    bare = true\n")
    return root


def _partial_clone(root: Path, trap: Trap) -> Path:
    """Objects are missing, and git would fetch them with a program of the repository's choice."""
    trap.arm(root / ".git")
    for blob in _git(root, "ls-files", "--stage").splitlines():
        name = blob.split()[1]
        (root / ".git" / "objects" / name[:2] / name[2:]).unlink(missing_ok=True)
    return root


def _alternates(root: Path, trap: Trap) -> Path:
    shutil.copytree(root / ".git", root.parent / "alternate")
    trap.arm(root.parent / "alternate")
    trap.arm(root / ".git")
    (root / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (root / ".git" / "objects" / "info" / "alternates").write_text(f"{root.parent / 'alternate' / 'objects'}\n")
    return root


def _racy_index(root: Path, trap: Trap) -> Path:
    """Every file has the date and size that the index has, and the index is as old: git compares the content."""
    moment = (1_600_000_000, 1_600_000_000)
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, moment)
    _git(root, "update-index", "-q", "--really-refresh", code=1)
    os.utime(root / ".git" / "index", moment)
    trap.arm(root / ".git")
    with open(root / ".git" / "config", "a", encoding="utf-8") as file:
        file.write("[core]\n    checkStat = minimal\n    trustctime = false\n")
    return root


def _reftable(root: Path, trap: Trap) -> Path:
    """A folder that makes us run git to read the commit."""
    trap.arm(root / ".git")
    (root / ".git" / "reftable").mkdir()
    return root


def _hidden_git(root: Path, trap: Trap) -> Path:
    """A program called git in a folder of the project that is on the path."""
    (root / "bin").mkdir()
    shutil.copy(trap.program, root / "bin" / "git")
    return root


SHAPES: dict[str, Callable[[Path, Trap], Path]] = {
    "config, hooks and attributes": _ordinary,
    "hooks in another folder": _hooks_path,
    "included config": _included,
    "config of the worktree": _worktree_config,
    "linked worktree": _linked_worktree,
    "submodule": _submodule,
    "inside a submodule": _inside_submodule,
    "embedded bare repository": _bare_inside,
    "embedded bare repository, deep": _bare_deep_inside,
    "git file": _git_file("gitdir: evil\n"),
    "git file, two spaces": _git_file("gitdir:  evil\n"),
    "git file, second line": _git_file("gitdir: evil\nsafe\n"),
    "common folder": _common_dir("evil\n"),
    "common folder, leading space": _common_dir(" evil\n"),
    "common folder, second line": _common_dir("evil\nsafe\n"),
    "linked git folder": _git_link,
    "work tree elsewhere": _worktree_elsewhere,
    "said to be bare": _said_to_be_bare,
    "partial clone": _partial_clone,
    "alternates": _alternates,
    "racy index": _racy_index,
    "reftable": _reftable,
    "git in the project": _hidden_git,
}
NOT_FOR_PLAIN_GIT = ("git file, second line", "git in the project", "said to be bare", "reftable")
"""Shapes that plain git refuses or passes over in the folder where we work; they are tried all the same."""

EDITED = {"file_path": "src/touched.py", "old_string": "a", "new_string": "b"}
EVENTS: dict[str, dict[str, object]] = {
    "user_prompt_submit": {"prompt": "how is the touched, staged, renamed, deleted, committed parser set up?"},
    "session_start": {"source": "startup"},
    "pre_tool_use": {"tool_name": "Edit", "tool_input": EDITED},
    "post_tool_use": {"tool_name": "Edit", "tool_input": EDITED, "tool_response": {}},
    "post_tool_use_failure": {"tool_name": "Bash", "tool_input": {"command": "git status"}, "error": "Exit code 1"},
    "stop": {"stop_hook_active": False, "last_assistant_message": "We decided to keep the parser."},
    "pre_compact": {"trigger": "auto"},
    "session_end": {"reason": "exit"},
}
RECORD = "the-touched-parser"
COMMANDS: dict[str, list[str]] = {
    "init": ["--merge-driver"],
    "save": ["preference", "Another parser", "--set", "topic=t", "--set", "value=v", "--set", "reason=r", "--related",
             "src/staged.py", "--force"],
    "inbox": [],
    "review": [],
    "show": [RECORD],
    "list": [],
    "search": ["touched parser"],
    "recall": ["how is the renamed parser set up?"],
    "why": ["how is the touched parser set up?"],
    "update": [RECORD, "--set", "value=elsewhere"],
    "edit": [RECORD],
    "freshness": [],
    "reanchor": [RECORD, "the-renamed-parser", "the-deleted-parser"],
    "audit": [],
    "check": ["HEAD"],
    "effect": [],
    "stats": [],
    "import": ["--dry-run"],
    "retire": ["the-same-parser", "--reason", "old"],
    "restore": ["the-same-parser"],
    "archive": ["the-same-parser", "--reason", "old"],
    "unarchive": ["the-same-parser"],
    "supersede": ["the-same-parser", RECORD],
    "gc": [],
    "index": ["check"],
    "improve": [],
    "export": [],
    "log": [],
    "undo": ["--dry-run"],
    "config": [],
    "judge": ["test"],
    "digest": ["--why"],
    "doctor": [],
    "clean": ["--dry-run"],
    "merge-driver": ["src/touched.py", "src/staged.py", "src/committed.py"],
    "trust": [],
    "feedback": [RECORD, "helped"],
    "docs": ["triggers"],
    "try": [],
    "version": [],
    "status": [],
    "remote": ["status"],
    "share": [RECORD, "--to", "platform", "--yes"],
    "sync": [],
    "completion": ["bash"],
    "connect": ["--list"],
    "mcp": [],
    "web": ["--static", "site"],
}  # fmt: skip
WITHOUT_PROJECT = {"demo", "hub"}


def _git(root: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run(("git", *words), cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (0, code), done.stderr
    return done.stdout


@pytest.fixture(params=SHAPES)
def hostile(
    request: pytest.FixtureRequest, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Path, Trap]:
    """A shape, the folder to work in, and its trap."""
    root = tmp_path / "project"
    shutil.copytree(template, root, symlinks=True)
    trap = Trap(tmp_path / "trap")
    here = SHAPES[request.param](root, trap)
    trap.proof.unlink(missing_ok=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("PYTHONPATH", str(SRC.parent))
    return request.param, here, trap


def test_every_event_and_every_command_is_tried() -> None:
    assert set(EVENTS) == set(hooks.EVENTS)
    assert set(COMMANDS) | WITHOUT_PROJECT == set(cli.COMMANDS)


def test_no_hook_and_no_command_runs_what_a_repository_names(
    hostile: tuple[str, Path, Trap], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, here, trap = hostile
    # Here all events share a process: none may be ended early by what the others have cost.
    for limit in ("CPU_SECONDS", "WALL_SECONDS", "SESSION_END_SECONDS"):
        monkeypatch.setattr(hooks, limit, 10_000.0)
    codes = {}
    for event, fields in EVENTS.items():
        hooks._reply(event, "", json.dumps({"session_id": event, "cwd": str(here), **fields}).encode())
        assert not trap.was_sprung, f"{event}: {trap.proof.read_text()}"
    for name, words in COMMANDS.items():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        codes[name] = cli.main([name, *words])
        assert not trap.was_sprung, f"{name}: {trap.proof.read_text()}"
    assert [name for name, code in codes.items() if code not in (0, 1)] == []


@pytest.mark.parametrize("hostile", [shape for shape in SHAPES if shape != "git file, second line"], indirect=True)
def test_git_still_answers_there(hostile: tuple[str, Path, Trap]) -> None:
    _, here, _ = hostile
    around = repository.find(str(here))
    assert around is not None

    changes.read(around, str(here), time.monotonic() + 60)

    assert around.notes in ([], ["fewer than two commits"])


@pytest.mark.parametrize("hostile", [shape for shape in SHAPES if shape not in NOT_FOR_PLAIN_GIT], indirect=True)
def test_plain_git_would_have_run_it(hostile: tuple[str, Path, Trap]) -> None:
    _, here, trap = hostile
    for command in ("status", "diff", "log -p -3", "commit --allow-empty -qm x"):
        words = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org", *command.split())
        subprocess.run(words, cwd=here, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60)

    assert trap.was_sprung


@pytest.mark.parametrize("hostile", ["partial clone"], indirect=True)
def test_a_git_that_can_still_fetch_missing_objects_is_not_allowed_any_protocol(
    hostile: tuple[str, Path, Trap], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, trap = hostile
    pinned = repository.environment
    monkeypatch.setattr(
        repository, "environment", lambda: {k: v for k, v in pinned().items() if k != "GIT_NO_LAZY_FETCH"}
    )

    assert cli.main(["freshness"]) == cli.main(["digest"]) == 0
    assert not trap.was_sprung


def test_a_config_that_never_ends_costs_its_time_and_nothing_else(template: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(template, root)
    os.mkfifo(tmp_path / "pipe")
    with open(root / ".git" / "config", "a", encoding="utf-8") as file:
        file.write(f"[include]\n    path = {tmp_path / 'pipe'}\n")
    around = repository.find(str(root))
    assert around is not None

    assert changes.read(around, str(root), time.monotonic() + 0.3).uncommitted == []
    assert all(note.endswith("did not answer in time") for note in around.notes)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_the_repository_of_a_stranger_above_a_project_is_not_asked(template: Path, tmp_path: Path) -> None:
    root = tmp_path / "shared"
    shutil.copytree(template, root)
    mine = root / "mine"
    mine.mkdir()
    os.chown(root / ".git", 4_321, 4_321)

    assert repository.find(str(mine)) is None
    os.chown(mine, 4_321, 4_321)
    assert repository.find(str(mine)) is not None


STARTS_PROGRAMS = {
    "git/process.py": "runs git, for git/repository.py alone",
    "shared/git_mirror.py": "runs git in a bare repository of ours, for `onrecord sync`",
    "detached.py": "our own `onrecord sync`, and the builder of an index, apart from the hook that starts it",
    "doctor/store_checks.py": "no program: forks itself, to examine half of a large store",
    "doctor/machine.py": "asks the Python that runs the hooks for its version",
    "cli/terminal.py": "the user's editor and pager",
    "cli/connect.py": "the command with which an agent installs plugins, when the user connects it",
    "cli/demo.py": "our own hooks, on the sample project",
    "hosts/connection.py": "our own hook, as a connected agent would start it, for `onrecord connect --check`",
    "web/settings_page.py": "our own commands, from a fixed table, for buttons of the web page",
}
"""Modules that may start a program, and which."""

_KINDS = "l le lp lpe v ve vp vpe".split()
STARTERS = {
    *"subprocess multiprocessing pty posix_spawn posix_spawnp system popen fork forkpty startfile".split(),
    *(f"{verb}{kind}" for verb in ("exec", "spawn") for kind in _KINDS),
}


def _names_of(tree: ast.AST) -> Iterator[str]:
    """Yield every module that is imported and every attribute and name that is used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "").split(".")[0], *(alias.name for alias in node.names))
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def test_programs_are_started_in_few_places() -> None:
    starting = {name for name, tree in trees().items() if STARTERS.intersection(_names_of(tree))}

    assert starting == set(STARTS_PROGRAMS)


def test_git_is_run_by_two_modules() -> None:
    naming = {
        name
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.Call, ast.Tuple, ast.List))
        for part in (node.args if isinstance(node, ast.Call) else node.elts)[:1]
        if isinstance(part, ast.Constant) and part.value in ("git", "git.exe")
    }
    importing = {name for name, tree in trees().items() if "process" in _imported_from_git(tree)}

    # `git_files` asks only whether git is installed. `extras` and `old_name` print commands and start nothing;
    # `command_terms` knows the words of commands.
    assert naming - {"extras.py", "doctor/old_name.py", "search/command_terms.py"} == {
        "git/repository.py",
        "git/git_files.py",
        "shared/git_mirror.py",
    }
    assert {"extras.py", "doctor/old_name.py"}.isdisjoint(STARTS_PROGRAMS)
    assert importing == {"git/repository.py", "git/git_files.py", "shared/git_mirror.py"}
    assert "run_all" not in set(_names_of(trees()["git/git_files.py"]))


def _imported_from_git(tree: ast.AST) -> set[str]:
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "onrecord.git"
        for alias in node.names
    }


def test_every_question_to_git_names_the_repository(monkeypatch: pytest.MonkeyPatch, template: Path) -> None:
    commands: list[list[str]] = []

    def watch(new_commands: list[list[str]], *rest: object) -> list[process.ProcessResult]:
        commands.extend(new_commands)
        return [process.ProcessResult(1, b"", "") for _ in new_commands]

    monkeypatch.setattr(process, "run_all", watch)
    around = repository.find(str(template))
    assert around is not None
    changes.read(around, str(template), time.monotonic() + 1)
    git_files.merge_driver(str(template))

    for command in commands:
        assert command[3] == f"--git-dir={template / '.git'}"
        assert command[4].startswith("--work-tree=") and command[4] == f"--work-tree={command[2]}"
        assert {"safe.bareRepository=explicit", "core.fsmonitor=false", "protocol.allow=never"} < set(command)
    assert len(commands) == 5


class TestComparing:
    """Differences from the index, computed without git."""

    @pytest.fixture
    def project(self, tmp_path: Path) -> GitProject:
        git_project = GitProject(tmp_path / "project")
        for name in ("a.py", "b.py", "dir/c.py"):
            git_project.write(name, f"{name}\n" * 5)
        (git_project.root / "link").symlink_to("a.py")
        git_project.commit()
        return git_project

    def changed(self, project: GitProject) -> list[str]:
        listing = project.git("ls-files", "--stage", "--debug", "-z").encode() + b"\n"
        return work_tree.changed_paths(listing, str(project.root), time.monotonic() + 60)[0]

    def test_nothing_has_changed(self, project: GitProject) -> None:
        assert self.changed(project) == []

    def test_content_of_the_same_size_and_another_date(self, project: GitProject) -> None:
        project.write("a.py", "b.py\n" * 5)

        assert self.changed(project) == ["a.py"]

    def test_a_file_that_was_only_touched_has_not_changed(self, project: GitProject) -> None:
        os.utime(project.root / "a.py", (1, 1))
        os.utime(project.root / "link", (1, 1), follow_symlinks=False)

        assert self.changed(project) == []

    def test_other_line_endings_are_no_change(self, project: GitProject) -> None:
        project.git("config", "core.autocrlf", "true")
        (project.root / "a.py").unlink()
        project.git("checkout", "-q", "a.py")
        os.utime(project.root / "a.py", (1, 1))

        assert b"\r\n" in (project.root / "a.py").read_bytes()
        assert self.changed(project) == []

    def test_deleted_replaced_and_linked_elsewhere(self, project: GitProject) -> None:
        (project.root / "a.py").unlink()
        (project.root / "b.py").unlink()
        (project.root / "b.py").symlink_to("dir/c.py")
        (project.root / "link").unlink()
        (project.root / "link").symlink_to("b.py")

        assert self.changed(project) == ["a.py", "b.py", "link"]

    def test_what_a_sparse_checkout_leaves_out_has_not_changed(self, project: GitProject) -> None:
        project.git("sparse-checkout", "set", "--no-cone", "/a.py")

        assert not (project.root / "b.py").exists()
        assert self.changed(project) == []

    def test_a_conflict_is_a_change(self, project: GitProject) -> None:
        project.git("checkout", "-q", "-b", "other")
        project.write("a.py", "theirs\n")
        project.commit()
        project.git("checkout", "-q", "main")
        project.write("a.py", "ours\n")
        project.commit()
        with pytest.raises(subprocess.CalledProcessError):
            project.git("merge", "other")

        assert self.changed(project) == ["a.py"]

    def test_the_same_as_git_says(self, project: GitProject) -> None:
        project.write("new folder/x.py", "x")
        project.write("dir/c.py", "changed")
        project.write("b.py", "staged")
        project.git("add", "b.py")
        project.write("b.py", "b.py\n" * 5)
        around = repository.find(str(project.root))
        assert around is not None

        status = project.git("status", "--porcelain", "-z", "--no-renames", "-uall").split("\0")
        ours = changes.read(around, str(project.root), time.monotonic() + 60).uncommitted

        assert sorted(ours) == sorted(line.strip().split(" ", 1)[1].strip() for line in status if line)

    def test_what_there_was_no_time_for_is_reported(self, project: GitProject) -> None:
        around = repository.find(str(project.root))
        assert around is not None
        listing = project.git("ls-files", "--stage", "--debug", "-z").encode() + b"\n"

        assert work_tree.changed_paths(listing, str(project.root), time.monotonic() - 1) == ([], False)

    @pytest.mark.parametrize(("bytes_left", "expected"), [(25, (["b.py"], True)), (24, ([], False))])
    def test_what_there_was_no_room_to_hash_is_reported(
        self, project: GitProject, monkeypatch: pytest.MonkeyPatch, bytes_left: int, expected: tuple[list[str], bool]
    ) -> None:
        project.write("b.py", "x.py\n" * 5)
        listing = project.git("ls-files", "--stage", "--debug", "-z").encode() + b"\n"
        monkeypatch.setattr(work_tree, "MAX_HASHED_BYTES", bytes_left)

        assert work_tree.changed_paths(listing, str(project.root), time.monotonic() + 60) == expected

    def test_a_listing_of_another_format_is_compared_by_content(self, project: GitProject) -> None:
        project.write("b.py", "changed\n")
        listing = project.git("ls-files", "--stage", "-z").encode()

        assert work_tree.changed_paths(listing, str(project.root), time.monotonic() + 60)[0] == ["b.py"]
