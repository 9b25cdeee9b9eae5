"""Completion in the real shells: what Tab offers, and that no name of a record or draft is ever run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord.cli import completion
from onrecord.cli.commands import COMMANDS
from tests.cli.conftest import BIN
from tests.terminal_session import TerminalSession

HOSTILE = [
    "a$(touch HACKED)", "b;touch HACKED", "c`touch HACKED`", "d'e\"f g", "e|touch HACKED&", "f>HACKED", "g\\h*?~",
]  # fmt: skip
SHELLS = [
    "bash",
    pytest.param("zsh", marks=pytest.mark.debian("zsh")),
    pytest.param("fish", marks=pytest.mark.debian("fish")),
]


def _texts(*words: str, splits_values: bool = False) -> list[str] | None:
    offered = completion.candidates(list(words[:-1]), words[-1], splits_values=splits_values)
    return None if offered is None else [word.text for word in offered]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sho"], ["show"]),
        (["help", "und"], ["undo"]),
        (["nothing", ""], []),
        (["show", "use-"], ["use-pip", "use-uv"]),
        (["show", "use-uv", "use-p"], ["use-pip"]),
        (["retire", "use-uv", ""], []),
        (["restore", ""], ["use-travis"]),
        (["unarchive", "use"], ["use-subversion"]),
        (["supersede", "use-pip", "use-u"], ["use-uv"]),
        (["freshness", "use-pip", "60"], ["60-calls-a-minute"]),
        (["save", "d"], ["decision"]),
        (["save", "decision", "Title", "--supersedes", "use-p"], ["use-pip"]),
        (["list", "--category", "te"], ["tech_debt"]),
        (["list", "--category=te"], ["--category=tech_debt"]),
        (["list", "--status", "re"], ["retired"]),
        (["list", "--tag", ""], ["harbour-api", "import", "tooling"]),
        (["list", "--j"], ["--json"]),
        (["list", "--json", "--j"], []),
        (["list", "--tag", "tooling", "--ta"], ["--tag"]),
        (["review", "--accept", ""], ["tests-run-in-docker"]),
        (["inbox", "te"], ["tests-run-in-docker"]),
        (["connect", "co"], ["codex", "copilot"]),
        (["connect", "codex", "ge"], ["gemini"]),
        (["config", "un"], ["unset"]),
        (["remote", "a"], ["add"]),
        (["remote", "--json", "st"], ["status"]),
        (["remote", "add", "--offline", "--r"], ["--review"]),
        (["--no-pager", "sta"], ["status", "stats"]),
        (["--no-p"], ["--no-pager"]),
        (["index", ""], ["rebuild", "check"]),
        (["config", "set", "capture.mo"], ["capture.mode"]),
        (["config", "set", "retrieval.files", ""], ["true", "false"]),
        (["config", "set", "retrieval.match_strategy", "t"], ["title_tags"]),
        (["save", "runbook", "--set", "ste"], ["steps="]),
        (["update", "60-calls-a-minute", "--set", "sev"], ["severity="]),
        (["connect", "codex", "cop"], ["copilot"]),
        (["import", "docs"], None),
        (["list", "--project", "x"], None),
        (["search", "free text"], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_what_is_offered(sample, words, offered):
    assert _texts(*words) == offered


def test_titles_and_summaries_describe_what_is_offered(sample):
    assert completion.candidates(["show"], "use-u", splits_values=False) == [("use-uv", "Use uv")]
    assert completion.candidates(["inbox"], "", splits_values=False) == [("tests-run-in-docker", "Tests run in Docker")]
    assert completion.candidates([], "gc", splits_values=False) == [("gc", COMMANDS["gc"].summary)]
    assert completion.candidates(["list", "--tag"], "too", splits_values=False) == [("tooling", "2 records")]


def test_the_store_is_the_one_that_the_line_names(sample, onrecord, tmp_path, monkeypatch):
    onrecord("save", "preference", "Mine", "--user", "--set=topic=t", "--set=value=v", "--set=reason=r")
    assert _texts("show", "--user", "") == ["mine"]

    monkeypatch.chdir(tmp_path)
    assert _texts("show", "") == []
    assert _texts("show", "--project", str(sample), "use-u") == ["use-uv"]


@pytest.mark.parametrize(
    ("words", "split"),
    [
        (["list", "--category", "=", "dec"], (["list", "--category"], "dec", "")),
        (["list", "--category", "="], (["list", "--category"], "", "")),
        (["list", "--tag=a", "x"], (["list", "--tag", "a"], "x", "")),
        (["list", "--tag=a"], (["list", "--tag"], "a", "--tag=")),
        (["save", "a=b"], (["save"], "a=b", "")),
    ],
)
def test_an_option_with_its_value_in_one_word_or_split_by_bash(words, split):
    assert completion.split_values(words[:-1], words[-1]) == split


@pytest.mark.parametrize(
    ("typed", "word"), [("a\\ b", "a b"), ("'a b'", "a b"), ("'a b", "a b"), ("", ""), ("a b", "a b"), ("a\\", "a\\")]
)
def test_a_word_is_read_as_the_command_gets_it(typed, word):
    assert completion.unquote(typed) == word


def test_names_that_cannot_be_typed_in_a_line_are_left_out(sample, onrecord):
    for name in ("line\nbreak", "bell\x07", "tab\tstop"):
        (sample / ".claude/memory/inbox" / f"{name}.json").write_text("{}")

    assert _texts("inbox", "") == ["tests-run-in-docker"]


@pytest.fixture
def shell(sample: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a shell whose `onrecord` answers completions, and prints what it is called with otherwise."""
    programs = tmp_path / "programs"
    programs.mkdir()
    real = f'"{sys.executable}" "{BIN}"'
    script = f"""#!/bin/sh
case "$1" in
    __complete|completion) exec {real} "$@" ;;
esac
printf 'got'
printf ' [%s]' "$@"
echo
"""
    (programs / "onrecord").write_text(script, encoding="utf-8")
    (programs / "onrecord").chmod(0o755)
    for name in HOSTILE:
        (sample / ".claude/memory/inbox" / f"{name}.json").write_text("{}", encoding="utf-8")
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}


def _run(words: list[str], shell: dict[str, str], cwd: Path) -> list[str]:
    done = subprocess.run(words, env=shell, cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _in_bash(words: list[str], shell: dict[str, str], cwd: Path) -> list[str]:
    """What bash offers, as the loaded function leaves it."""
    script = (
        'eval "$(onrecord completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _onrecord;'
        ' printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return _run(["bash", "--norc", "-c", script, "bash", "onrecord", *words], shell, cwd)


def test_bash_offers_words(shell, sample):
    assert _in_bash(["show", "use-"], shell, sample) == ["use-pip", "use-uv"]
    assert _in_bash(["list", "--category", "=", "dec"], shell, sample) == ["decision"]
    assert _in_bash(["inbox", "a"], shell, sample) == [r"a\$\(touch\ HACKED\)"]
    assert _in_bash(["inbox", "'a"], shell, sample) == [""]
    assert _in_bash(["inbox", "'tests"], shell, sample) == ["tests-run-in-docker"]


@pytest.mark.debian("fish")
def test_fish_offers_words_with_descriptions(shell, sample):
    script = "onrecord completion fish | source; complete -C 'onrecord show use-'; complete -C 'onrecord import do'"

    assert _run(["fish", "--no-config", "-c", script], shell, sample) == [
        "use-pip\tUse pip",
        "use-uv\tUse uv",
        "docs/",
    ]


START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(onrecord completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -u -D; eval "$(onrecord completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "onrecord completion fish | source"),
}


@pytest.fixture
def terminal(request: pytest.FixtureRequest, shell: dict[str, str], sample: Path):
    """A shell in a terminal, its completion loaded as the page on installing it says."""
    program, load = START[request.param]
    with TerminalSession(cwd=sample, env=shell, program=program) as session:
        session.line(load)
        session.line("echo 'loaded' | tr l L")
        session.expect("Loaded")
        yield session


@pytest.mark.parametrize("terminal", SHELLS, indirect=True)
def test_tab_completes_commands_options_values_ids_and_files(terminal):
    for typed, called in (
        ("reanc\t60\t", "[reanchor] [60-calls-a-minute]"),
        ("show use-u\t", "[show] [use-uv]"),
        ("list --catego\ttech\t", "[list] [--category] [tech_debt]"),
        ("list --category=tech\t", "[list] [--category=tech_debt]"),
        ("import docs/adr/00\t", "[import] [docs/adr/0001-use-nats.md]"),
        ("save runbook --set ste\tx", "[save] [runbook] [--set] [steps=x]"),
    ):
        terminal.send(f"onrecord {typed}\r")
        terminal.expect(f"got {called}")


@pytest.mark.parametrize("terminal", SHELLS, indirect=True)
def test_a_hostile_name_is_passed_on_as_it_is_and_never_run(terminal, sample):
    for name in HOSTILE:
        terminal.send(f"onrecord inbox {name[0]}\t\r")
        terminal.expect(f"got [inbox] [{name}]")

    assert not (sample / "HACKED").exists()


@pytest.mark.debian("zsh")
@pytest.mark.parametrize("terminal", ["zsh"], indirect=True)
def test_zsh_lists_titles(terminal):
    terminal.send("onrecord show use-\t\t")

    terminal.expect("use-pip  Use pip")
    terminal.expect("use-uv   Use uv")


def test_what_is_offered_is_described_in_sixty_characters(sample, onrecord, capfd):
    onrecord("save", "preference", "t" * 80, "--set", "topic=x", "--set", "value=x", "--set", "reason=x")
    capfd.readouterr()

    completion.print_candidates(["fish", "show", "tttt"])

    (line,) = [line for line in capfd.readouterr().out.splitlines() if line.startswith("tttt")]
    assert len(line.partition("\t")[2]) == 60
