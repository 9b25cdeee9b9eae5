from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from onrecord.cli import demo
from onrecord.cli.output import Screen
from onrecord.errors import CommandFailed

from .conftest import in_own_process

PRINTED = Path(__file__).parent / "demo.txt"
"""All that the demo prints."""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_it_runs_from_a_bare_clone_and_leaves_nothing_behind(project, home, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = sorted(tmp_path.iterdir())

    outcome = in_own_process("demo", cwd=project, options=["-S", "-E"])

    assert (outcome.code, outcome.err) == (0, "")
    assert "Sessions live in Postgres, not Redis. Sessions are rows in" in outcome.out
    assert sorted(tmp_path.iterdir()) == before
    assert list(project.iterdir()) == [] and not (home / ".claude").exists()


def test_it_makes_its_point_in_fifty_lines_of_eighty_columns(project, home, pytestconfig):
    outcome = in_own_process("demo", cwd=project)

    if pytestconfig.getoption("--update-golden"):
        PRINTED.write_text(outcome.out, encoding="utf-8")
    lines = outcome.out.splitlines()
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == PRINTED.read_text(encoding="utf-8")
    assert len(lines) <= 50
    assert [line for line in lines if len(line) > 80] == []


def test_a_machine_that_stalls_does_not_end_it(onrecord, temporary, monkeypatch):
    """Ten seconds pass between two looks of a hook at the clock, three times its limit."""
    stall = "import time; clock = time.monotonic; looks = []; "
    stall += "time.monotonic = lambda: clock() + (10 if looks or looks.append(1) else 0); "
    really_run = subprocess.run

    def run(words, **options):
        *interpreter, program = words
        return really_run((*interpreter, stall + program if "-c" in interpreter else program), **options)

    monkeypatch.setattr(demo.subprocess, "run", run)

    outcome = onrecord("demo")

    assert (outcome.code, outcome.err) == (0, "")
    assert "packages-are: Packages are added with uv" in outcome.out


def test_every_moment_of_a_session(onrecord, temporary):
    """The map, the rule at a prompt and at a command, the correction that becomes a check, and what that stops."""
    data = json.loads(onrecord("demo", "--json").out)
    moments = data["moments"]
    mapped, prompt, command, corrected, checked = (
        [line["text"] for line in moment["lines"] if line["speaker"] in ("memory", "CI")] for moment in moments
    )

    assert data["project"] is None
    assert moments[1]["caption"] == "A prompt brings the decision that it is about, and the answer changes"
    assert len(mapped[0].split("\n")) == 5 and "sessions-live: Sessions live in Postgres, not Redis" in mapped[0]
    assert prompt[0].startswith("Sessions live in Postgres, not Redis. Sessions are rows in auth.sessions")
    assert prompt[1:] == ["(nothing: no record is about it)"]
    assert "uv add NAME, never pip install" in command[0]
    assert "A fare is an int of cents" in corrected[0] and "corrected by the user 2 times" in corrected[0]
    assert "ferry/fares.py:6: return float(fare) / 2" in checked[0] and "1 broken check" in checked[0]


def test_the_check_that_was_learnt_is_on_record(onrecord, temporary):
    project = json.loads(onrecord("demo", "--keep", "--json").out)["project"]

    record = json.loads(onrecord("show", "fares-are-cents", "--json", "--project", project).out)["record"]
    assert [check["adds"] for check in record["checks"]] == [["float("]]
    assert json.loads(onrecord("inbox", "--json", "--project", project).out)["drafts"] == []


def test_what_is_kept_is_a_sound_project(onrecord, temporary):
    project = onrecord("demo", "--keep").out.splitlines()[-1].removeprefix("The sample project is kept in ")

    listed = json.loads(onrecord("list", "--json", "--project", project).out)["records"]
    assert len({record["category"] for record in listed}) == 5
    assert onrecord("doctor", "--project", project).code == 0


def test_the_users_own_folders_are_not_touched(onrecord, temporary, home):
    before = {name: os.environ.get(name) for name in ("CLAUDE_CONFIG_DIR", "ONRECORD_CACHE_DIR")}

    onrecord("demo")

    assert {name: os.environ.get(name) for name in before} == before
    assert list(home.rglob("*.json")) == []


def test_what_is_said_is_in_a_column_of_its_own_and_in_the_colour_of_its_speaker():
    screen = Screen(80, is_terminal=True, has_colour=True)
    lines = (demo.DemoLine("memory", "one\n" + "two " * 30), demo.DemoLine("you", "hi"), demo.DemoLine("CI", "no"))

    page = demo._text(screen, [demo.DemoMoment("A moment", lines)]).split("\n")

    at = page.index("\033[1mA moment\033[0m")
    assert page[at - 1 : at + 7] == [
        "",
        "\033[1mA moment\033[0m",
        "\033[2m  memory  \033[0m\033[32mone\033[0m",
        " " * 10 + "\033[32m" + "two " * 16 + "two\033[0m",
        " " * 10 + "\033[32m" + "two " * 12 + "two\033[0m",
        "\033[2m  you     \033[0mhi",
        "\033[2m  CI      \033[0m\033[31mno\033[0m",
        "",
    ]


def test_a_command_of_the_demo_that_fails_ends_it_with_what_was_wrong(project, capsys):
    with pytest.raises(CommandFailed) as failed:
        demo._command(str(project), "show", "nothing")

    assert (failed.value.message, failed.value.fix) == (
        "onrecord show ended with code 1", "the lines above say why",
    )  # fmt: skip
    assert "NO_STORE: " in capsys.readouterr().err
    assert demo._command(str(project), "show", "nothing", code=1) == ""


def test_rules_are_shown_without_their_markup():
    block = '<x>\n<result category="decision">a &lt;b&gt; </result>\n<result category="rule">c</result>\n</x>'

    assert demo._rules(block) == "a <b>  c"
    assert demo._rules("") == ""
