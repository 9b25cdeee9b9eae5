"""Every fix that the program prints can be pasted: the commands in it are collected, from the source and from real
failures, and run in a store made for them."""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from onrecord import errors, paths
from onrecord.cli import COMMANDS, main
from onrecord.remedy import COMMAND
from tests.model_server import ModelServer, message, whole
from tests.source_tree import FILES, SRC, tree

FOR_AGENTS = {"hooks/guard.py", "recall/for_correction.py", "recall/selection.py", "usage/usage_log.py",
              "capture/suggestions.py", "store/index_md.py", "cli/demo.py", "cli/completion.py"}  # fmt: skip
"""Modules whose texts go to an agent, which fills in what it needs, or into a file."""

MENTION = re.compile(rf"(?<![`\w/])onrecord ({'|'.join(COMMANDS)})\b")
DECISION = ("--set=context=Restarts.", "--set=rationale=Simple.")
ADR = "# 1. Use NATS\n\n## Status\n\nAccepted\n\n## Context\n\nJobs are late.\n\n## Decision\n\nWe will use NATS.\n"
FORM = "# Kept\n## decision\nKept.\n## context\nForm.\n## rationale\n- typed\n## status\naccepted\n## tags\n- kept\n"
SAMPLES = {
    "change.id": "{change}", "draft.name": "{draft}", "quote(name)": "{draft}", "path": "decisions/first.json",
    "second": "decisions/first.json", "key": "retrieval.max_inject", "flag": "", "where": "",
    "changed.key": "retrieval.max_inject",
    "renamed.key": "capture.mode", "shlex.quote(text)": "2", "error.fix": "or leave it",
    "file": "{form}", "self.category": "decision", "self.options.where": "", "options.where": "",
    "shlex.quote(reason)": "'no longer true'", "_OUTDATED": "outdated", "newer.id": "second", "ids[-1]": "second",
    "new_id": "second", "old": "second", "entry.memory.id": "second",
    "_user_flag(self.file)": "",
    "shlex.quote(check_text)": "'{\"on\": \"command\", \"starts\": \"npm\"}'", "silence": "",
    "setup.host": "codex", "trial.host": "codex", "' '.join(hosts)": "codex",
    "shlex.quote(args.id)": "first", "args.verdict": "helped",
    "shlex.quote(prompt)": "'the first'",
    "successor": "second", "before.id": "second", "context": "c", "flags": "--related code.py",
    "paths.store_flag(store_ref.prefix)": "", "paths.store_flag(prefix)": "", "subjects[0].name": "first",
    "quote(shorten(reference.replace('-', ' ')))": "'first record'", "theirs": "second",
}  # fmt: skip
"""What stands for an expression in a fix; any other is an id."""


def templates() -> Iterator[tuple[str, str]]:
    """Every text of the source that names a command outside backticks, with samples for its expressions."""
    # Read while tests are collected: a module without the program's name has no command in it.
    for file in (file for file in FILES if "onrecord " in file.read_text(encoding="utf-8")):
        module = file.relative_to(SRC).as_posix()
        for parent in ast.walk(tree(file)):
            for node in ast.iter_child_nodes(parent):
                is_text = isinstance(node, ast.JoinedStr) or (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and not isinstance(parent, (ast.Expr, ast.JoinedStr))
                )
                text = sample(node) if is_text and module not in FOR_AGENTS else ""
                if MENTION.search(text):
                    yield f"{module}:{node.lineno}", text


def sample(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.JoinedStr)
    return "".join(
        SAMPLES.get(ast.unparse(part.value), "first") if isinstance(part, ast.FormattedValue) else sample(part)
        for part in node.values
    )


TEMPLATES = dict(templates())


def test_the_source_is_searched():
    assert len(TEMPLATES) > 50


@pytest.mark.parametrize("where", TEMPLATES)
def test_a_command_in_a_text_begins_a_part_of_it_or_stands_behind_a_colon(where):
    text = TEMPLATES[where]

    assert len(COMMAND.findall(text)) == len(MENTION.findall(text)), text


class Sandbox:
    """A project with two records, a retired and an archived one, a draft, a change to undo, a rejected text."""

    def __init__(
        self, root: Path, pattern: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.root, self.pattern, self._monkeypatch, self._capsys = root, pattern, monkeypatch, capsys
        root.mkdir()
        subprocess.run(("git", "init", "-q", str(root)), check=True, timeout=120)
        (root / "code.py").write_text("x = 1\n")
        (root / "docs" / "adr").mkdir(parents=True)
        (root / "docs" / "adr" / "0001-use-nats.md").write_text(ADR)
        monkeypatch.chdir(root)
        monkeypatch.setenv("EDITOR", "true")

    def run(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        self._capsys.readouterr()
        code = main(words)
        return code, *self._capsys.readouterr()

    def fill(self, *where: str) -> None:
        """Lay the records out in a store: made once, copied afterwards."""
        store = {
            "--user": Path(paths.user_store()),
            "--project": self.root / where[-1] / paths.STORE if where else None,
            "--remote": Path(paths.replica("platform").root),
        }
        target = store[where[0]] if where else self.root / paths.STORE
        if where[:1] == ("--remote",):
            assert self.run("remote", "add", "--offline", "platform", "/srv/memory.git")[0] == 0
            target.rmdir()
        if not self.pattern.exists():
            self._make()
            shutil.copytree(self.root / paths.STORE, self.pattern)
            shutil.rmtree(self.root / paths.STORE)
        shutil.copytree(self.pattern, target)
        # The log of changes lies elsewhere, so the copy has none yet.
        assert self.run("update", "first", "--tag=new", *where)[0] == 0
        (self.root / "form.md").write_text(FORM)

    def _make(self) -> None:
        for number, name in enumerate(("first", "second", "retired", "archived")):
            text = f"{name} {number} of {name * 3}"
            saved = self.run("save", "decision", name, f"--set=decision={text}", *DECISION, "--force")
            assert saved[0] == 0, saved
        assert self.run("retire", "retired", "--reason=r")[0] == 0
        assert self.run("archive", "archived", "--reason=r")[0] == 0
        self.draft("draft", "Something else entirely")

    def draft(self, title: str, text: str, *where: str) -> None:
        words = ("save", "decision", title, f"--set=decision={text}", *DECISION, "--draft", "--force", *where)
        assert self.run(*words)[0] == 0

    @property
    def change(self) -> str:
        return str(json.loads(self.run("log", "--json")[1])["changes"][0]["id"])

    @contextmanager
    def copied(self) -> Iterator[None]:
        """Put both stores back afterwards: of several ways out each must work."""
        other = self.root / "the other one" / paths.STORE
        stores = (self.root / paths.STORE, other, Path(paths.user_store()), Path(paths.replica("platform").root))
        present = [store for store in stores if store.is_dir()]
        for store in present:
            shutil.copytree(store, store.with_name("copy"), symlinks=True)
        yield
        for store in present:
            shutil.rmtree(store)
            store.with_name("copy").rename(store)

    def paste(self, command: str) -> tuple[int, str, str]:
        """Run a command as it was printed."""
        program, *words = shlex.split(command)
        assert program == "onrecord"
        return self.run(*words, stdin="y\nq\n")


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pattern") / "store"


@pytest.fixture
def sandbox(
    tmp_path: Path, pattern: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sandbox:
    return Sandbox(tmp_path / "project", pattern, monkeypatch, capsys)


COMMANDS_IN_TEXTS = sorted({command for text in TEMPLATES.values() for command in COMMAND.findall(text)})
ELSEWHERE = ("onrecord hub ", "onrecord remote add ", "onrecord connect --check", "onrecord import --triggers -")
"""These need a server, an agent or an answer: tests/shared/hub/test_command.py and tests of cli run them as printed."""

COMMANDS_IN_TEXTS = [command for command in COMMANDS_IN_TEXTS if not command.startswith(ELSEWHERE)]
COMMANDS_IN_TEXTS.remove("onrecord demo")  # a second, and tests/cli/test_demo.py runs it
NAMES = {"restore": "retired", "unarchive": "archived"}
"""Commands that work on records of one status alone."""


@pytest.mark.parametrize("command", COMMANDS_IN_TEXTS)
def test_a_command_that_can_be_printed_works_as_printed(sandbox, command, tmp_path):
    sandbox.fill()
    shared = str(tmp_path / "memory.git")
    if " sync" in command:
        subprocess.run(("git", "init", "-q", "--bare", shared), check=True, timeout=120)
    assert sandbox.run("remote", "add", "--offline", "first", shared)[0] == 0
    for record in ("first", "second") if " --remote first" in command else ():
        assert (
            sandbox.run("save", "decision", record, "--set=decision=d", *DECISION, "--force", "--remote=first")[0] == 0
        )
    name = command.split()[1]
    filled = command.replace("{draft}", "draft").replace("{form}", "form.md").replace("{change}", sandbox.change)
    # The flag of a store, which is empty for the project's own, stands right before a name.
    filled = (
        filled.replace("firstfirst", "first")
        .replace("NAME …", "first second")
        .replace("{0}", "first")
        .replace("first", NAMES.get(name, "first"))
    )
    if name == "judge":
        with ModelServer(_right_judge) as server:
            for key, value in (("endpoint", server.url), ("model", "small"), ("enabled", "true")):
                sandbox.run("config", "set", "--user", f"retrieval.judge.{key}", value)
            outcome = sandbox.paste(filled)
    else:
        outcome = sandbox.paste(filled)

    assert outcome[0] == 0, (filled, outcome)


def _right_judge(server: ModelServer, connection: Any, request: Any) -> None:
    text = request.body["messages"][-1]["content"]
    number = re.search(r'number="(\d)"[^>]*title="Webhook', text)
    connection.sendall(whole(json.dumps(message(json.dumps({"keep": [int(number[1])]}))).encode()))


def _superseded(sandbox: Sandbox) -> None:
    sandbox.run("supersede", "first", "second")
    sandbox.run("save", "decision", "third", "--set=decision=d", *DECISION, "--force")


def _broken_draft(sandbox: Sandbox) -> None:
    folder = Path(json.loads(sandbox.run("show", "first", "--json")[1])["file"]).parents[1] / "inbox"
    (folder / "x; touch HACKED.json").write_text("[]")


def _two_of_a_kind(sandbox: Sandbox) -> None:
    sandbox.draft("The first", "first 0 of firstfirstfirst")


Setup = Callable[[Sandbox], object]
FAILURES: dict[str, tuple[Setup, tuple[str, ...]]] = {
    "no such record": (lambda _: None, ("show", "it's not-here; touch HACKED")),
    "no such draft": (lambda _: None, ("review", "--accept", "none")),
    "retired already": (lambda _: None, ("save", "decision", "retired", "--set=decision=d", *DECISION, "--force")),
    "there already": (lambda _: None, ("save", "decision", "first", "--set=decision=d", *DECISION, "--force")),
    "draft there already": (lambda _: None, ("save", "decision", "draft", "--set=decision=d", *DECISION, "--draft")),
    "superseded already": (_superseded, ("supersede", "first", "third")),
    "the other way round": (_superseded, ("supersede", "second", "first")),
    "retired successor": (lambda _: None, ("supersede", "first", "retired")),
    "changed since": (lambda _: None, ("update", "first", "--hash", "0" * 32, "--set", "decision=other")),
    "no hash": (lambda _: None, ("update", "first", "--set", "decision=other")),
    "no such change": (lambda s: s.run("undo"), ("undo", "no-such")),
    "a draft that is none": (_broken_draft, ("inbox", "x; touch HACKED")),
    "a setting of 0.1.0": (lambda _: None, ("config", "capture.max_offers")),
    "a misspelt setting": (lambda _: None, ("config", "retreival.enabled")),
    "a setting for the user": (lambda _: None, ("config", "set", "retrieval.judge.enabled", "true")),
    "the judge is off": (lambda _: None, ("judge", "test")),
    "nearly the same": (_two_of_a_kind, ("review", "--accept", "the-first")),
    "review by a program": (lambda _: None, ("review", "--json")),
}


WHERE = {
    "here": (),
    "user": ("--user",),
    "elsewhere": ("--project", "the other one"),
    "shared": ("--remote", "platform"),
}
CASES = [
    (name, where)
    for name in FAILURES
    for where in WHERE
    # The user may set what only the user may set, and a shared store has no settings.
    if (name, where) != ("a setting for the user", "user") and not (where == "shared" and "setting" in name)
]


@pytest.mark.parametrize(("name", "where"), CASES)
def test_the_fix_of_a_real_failure_works_where_it_was_printed(sandbox, name, where):
    (sandbox.root / "the other one" / ".git").mkdir(parents=True)
    sandbox.fill(*WHERE[where])
    setup, words = FAILURES[name]
    run = sandbox.run
    sandbox.run = lambda *words, **more: run(*words, *WHERE[where], **more)
    setup(sandbox)
    words = tuple(word.replace("{change}", sandbox.change) for word in words)

    code, out, _ = sandbox.run(*words, *(() if "--json" in words else ("--json",)))
    sandbox.run = run

    assert code == 1, out
    commands = COMMAND.findall(json.loads(out)["error"]["fix"])
    assert commands, out
    for command in commands:
        with sandbox.copied():
            assert sandbox.paste(command)[0] == 0, command
            assert not (sandbox.root / "HACKED").exists()


def test_the_fixes_of_doctor_and_audit_work_in_either_store(sandbox):
    for where in ((), ("--user",)):
        sandbox.fill(*where)
        sandbox.run("save", "decision", "untitled", "--set=decision=tbd", *DECISION, "--force", *where)
        text = "Superseded, see the new one. " * 3
        sandbox.run("save", "decision", "outdated", f"--set=decision={text}", *DECISION, "--force", *where)
    sandbox.run("save", "decision", "gone", "--set=decision=g", *DECISION, "--related=code.py", "--force")
    (sandbox.root / "code.py").unlink()
    spoil(sandbox.root / ".claude/memory")

    found = [finding for where in ((), ("--user",)) for finding in findings(sandbox, where)]

    commands = {command for fix in found for command in COMMAND.findall(fix)}
    assert len(commands) > 8
    for command in sorted(commands):
        with sandbox.copied():
            outcome = sandbox.paste(command)
            # A doctor who still finds errors has worked.
            assert outcome[0] == 0 or " doctor" in command, (command, outcome)


def findings(sandbox: Sandbox, where: tuple[str, ...]) -> Iterator[str]:
    checks = json.loads(sandbox.run("audit", "--json", *where)[1])["checks"]
    yield from (finding["fix"] for check in checks.values() for finding in check["findings"])
    for finding in json.loads(sandbox.run("doctor", "--json", *where)[1])["findings"]:
        yield finding["fix"]


def spoil(store: Path) -> None:
    """Give a store flaws that only files can have."""
    first = store / "decisions/first.json"
    record = json.loads(first.read_text())
    first.write_text(json.dumps({**record, "superseded_by": "second"}))
    second = store / "decisions/second.json"
    second.write_text(json.dumps({**json.loads(second.read_text()), "updated_at": "2099-01-01T00:00:00Z"}))
    (store / "index.md").write_text("nothing\n")
    (store / ".gitignore").unlink()


SAY_NO_FIX = {"Stopped"}
"""Errors that say that the person stopped: there is nothing to repair."""


def test_every_error_has_a_fix():
    """Each error that is raised anywhere in the source, enumerated by its class."""
    classes = {name for name, kind in vars(errors).items() if isinstance(kind, type)} - SAY_NO_FIX
    raised = [
        (f"{file.relative_to(SRC).as_posix()}:{node.lineno}", node)
        for file in FILES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes
    ]
    without = [
        where
        for where, node in raised
        if len(node.args) < 2 and not {"fix", None}.intersection(keyword.arg for keyword in node.keywords)
    ]

    assert len(raised) > 200
    assert without == []


TESTED_ELSEWHERE = {
    "CANNOT_UNDO": "tests/cli/test_log.py",
    "NO_SQLITE": "tests/cli/test_never_a_traceback.py",
    "MODEL_FAILED": "tests/recall/test_judge_api.py",
    "OFFLINE": "tests/cli/test_sync.py",
    "REFUSED": "tests/shared/hub/test_command.py",
    "BAD_REMOTE": "tests/cli/test_sync.py",
    "LOCKED": "tests/test_files.py",
    "UNWRITABLE": "tests/faults",
    "UNSAFE_PATH": "tests/store/test_hostile.py",
    "SECRET_FOUND": "tests/cli/test_secrets.py: a person decides whether it is one",
    "STOPPED": "tests/cli/test_save_by_hand.py",
    "SWITCHED_OFF": "tests/mcp/test_tools.py",
    "COMMAND_FAILED": "tests/cli/test_connect.py: the program of another maker",
    "INVALID_RECORD": "tests/cli/test_save.py: a person writes the field",
    "NO_STORE": "tests/cli/test_no_store.py",
    "AMBIGUOUS": "tests/cli/test_resolve.py: a person chooses",
    "ERROR": "the class of all",
}


def test_every_code_has_a_real_failure_here_or_a_test_elsewhere(sandbox):
    sandbox.fill()
    codes = set()
    for setup, words in FAILURES.values():
        with sandbox.copied():
            setup(sandbox)
            typed = [word.replace("{change}", sandbox.change) for word in words]
            answer = json.loads(sandbox.run(*typed, *(() if "--json" in typed else ("--json",)))[1])
            codes.add(answer["error"]["code"])
    every = {kind.code for kind in vars(errors).values() if isinstance(kind, type)}

    assert codes.isdisjoint(TESTED_ELSEWHERE), codes & set(TESTED_ELSEWHERE)
    assert every == codes | set(TESTED_ELSEWHERE)
