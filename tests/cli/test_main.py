from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord import cli, state_file
from onrecord.cli import COMMANDS, main, parser_of

from .conftest import BIN, DECISION, in_own_process

FAMILIES = {
    "clean": {"clean", "gc", "index"},
    "freshness": {"freshness", "reanchor"},
    "log": {"log", "undo"},
    "retire": {"retire", "restore", "archive", "unarchive", "supersede"},
    "review": {"review", "inbox"},
    "stats": {"stats", "feedback"},
    "update": {"update", "edit"},
    "why": {"why", "recall"},
    "": {"version"},
}
"""The commands that share a module, which is named after one of them; `version` has none."""


def test_a_module_is_named_after_its_command_or_one_of_its_family():
    modules = {}
    for name, command in COMMANDS.items():
        modules.setdefault(command.module, set()).add(name)
    own = {module: names for module, names in modules.items() if module not in FAMILIES}

    assert {module: modules[module] for module in FAMILIES} == FAMILIES
    # `import_`, `list_` and `try_`, because Python uses the words itself.
    assert {module.rstrip("_").replace("_", "-"): names for module, names in own.items()} == {
        name: {name} for names in own.values() for name in names
    }


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name, capsys):
    assert main([name, "--help"]) == 0

    printed = capsys.readouterr().out
    assert COMMANDS[name].summary.split()[0] in printed
    assert "--json" in printed and "--project" in printed


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_explained(name):
    parser = parser_of(name)
    parsers = (parser, *parser.actions.values())
    unexplained = [action.dest for parser in parsers for action in parser._actions if not action.help]

    assert unexplained == []


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0

    printed = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n  {name} " not in printed] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["version"], 0),
        (["--version"], 0),
        ([], 2),
        (["--json"], 2),
        (["--json", "--help"], 0),
        (["sav"], 2),
        (["list", "--nonsense"], 2),
        (["show"], 2),
        (["retire", "x"], 2),
        (["list", "--status", "dead"], 2),
        (["list"], 1),
        (["list", "--project", "/nowhere/at/all"], 2),
    ],
)
def test_exit_codes(onrecord, words, code):
    assert onrecord(*words).code == code


def test_an_unknown_command_gets_a_suggestion(onrecord):
    assert onrecord("supercede", "a", "b").err == (
        "onrecord: 'supercede' is not a command; did you mean supersede?\ndocs: onrecord docs BAD_INPUT\n"
    )


def test_a_bug_shows_its_traceback_exits_3_and_leaves_a_trace(onrecord, monkeypatch):
    from onrecord.cli import list_

    def fail(args):
        raise ZeroDivisionError("one over nought")

    monkeypatch.setattr(list_, "run", fail)

    outcome = onrecord("list")

    assert outcome.code == 3
    assert "ZeroDivisionError: one over nought" in outcome.err
    assert [(what, error) for _, what, error in state_file.recent_failures()] == [
        (f"onrecord list {cli.__version__}", "ZeroDivisionError: one over nought")
    ]


def test_an_expected_failure_is_one_json_object_on_stdout(onrecord):
    outcome = onrecord("show", "x", "--json")

    assert outcome.code == 1
    assert list(json.loads(outcome.out)["error"]) == ["code", "message", "fix", "docs"]
    assert outcome.err == ""


def test_options_may_stand_before_and_between_the_arguments(onrecord):
    outcome = onrecord("save", "--tag", "queue", "decision", "--json", "Jobs are rows", *DECISION)

    assert json.loads(outcome.out)["id"] == "jobs-are-rows"


def test_one_command_does_not_load_the_others():
    program = "import sys; from onrecord.cli import main; main(['version']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)

    loaded = done.stdout.split()
    assert "onrecord.cli.output" in loaded
    assert [name for name in loaded if name in ("onrecord.store.store", "onrecord.cli.save", "subprocess")] == []


def test_it_runs_from_a_bare_clone_without_site_packages(project):
    outcome = in_own_process("version", "--json", cwd=project, options=["-S", "-E"])

    assert (outcome.code, json.loads(outcome.out)["version"]) == (0, cli.__version__)


def test_a_reader_that_stops_early_is_no_error(project, onrecord):
    for number in range(40):
        onrecord("save", "decision", f"Decision number {number} with a rather long title " + "x" * 60, *DECISION)
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, str(BIN), "list", "--json"], stdout=writer, stderr=subprocess.PIPE, timeout=120
    )

    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_output_is_utf8_whatever_the_locale_says(project, onrecord, monkeypatch):
    onrecord("save", "decision", "시간은 UTC로 저장한다", *DECISION)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")

    assert "시간은 UTC로 저장한다" in in_own_process("list", cwd=project).out


def test_control_characters_of_a_record_never_reach_the_terminal(project, onrecord):
    hostile = {
        "title": "ok",
        "context": "a\x1b[31mred\x07",
        "decision": "x\u202ey",
        "rationale": ["\x9b2J", "line\nline"],
    }
    assert onrecord("save", "decision", stdin=json.dumps(hostile)).code == 0

    for words in (("show", "ok"), ("show", "ok", "--json"), ("save", "decision", "--dry-run", "--file", "-")):
        printed = onrecord(*words, stdin=json.dumps({**hostile, "title": "other"})).out
        assert printed
        assert [char for char in printed if not char.isprintable() and char != "\n"] == []


def test_json_stays_exact_though_invisible_characters_are_escaped(project, onrecord):
    given = {"title": "ok", "context": "a\x1b[31mred", "decision": "x\u202ey\U000e0041", "rationale": ["r"]}
    onrecord("save", "decision", stdin=json.dumps(given))

    content = json.loads(onrecord("show", "ok", "--json").out)["record"]["content"]

    assert (content["context"], content["decision"]) == (given["context"], given["decision"])


def test_a_path_in_an_error_cannot_paint_the_terminal(onrecord):
    assert "\x1b" not in onrecord("list", "--project", "/no\x1b[31mwhere").err


def _on_a_terminal(*words: str, cwd: Path, columns: int = 60) -> str:
    """What a command prints on a terminal of its own."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "ONRECORD_PAGER": ""}
    process = subprocess.Popen(
        [sys.executable, str(BIN), *words], cwd=cwd, stdin=slave, stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    printed = b""
    while True:
        try:
            chunk = os.read(master, 65_536)
        except OSError:
            break
        if not chunk:
            break
        printed += chunk
    process.wait(timeout=60)
    os.close(master)
    return printed.decode("utf-8").replace("\r\n", "\n")


def test_a_terminal_gets_a_table_in_colour(project, onrecord):
    onrecord("save", "decision", "Jobs are rows in Postgres, four at a time", "--set=id=rows", *DECISION)

    lines = _on_a_terminal("list", cwd=project).splitlines()

    assert lines[0].startswith("\x1b[1m   title  ")
    assert lines[1].startswith("1  Jobs are rows in Postgres, fou…  decision  ")
    assert lines[1].endswith("  rows")
    assert lines[-1] == "\x1b[2m1 record\x1b[0m"


def test_no_color_is_honoured(project, onrecord, monkeypatch):
    onrecord("save", "decision", "Jobs are rows", *DECISION)
    monkeypatch.setenv("NO_COLOR", "1")

    assert "\x1b" not in _on_a_terminal("list", cwd=project)
