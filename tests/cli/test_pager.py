"""A long answer goes through the user's pager: on a real terminal, and nowhere else."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.known_project import known_project
from tests.terminal_session import BIN, CTRL_C, TerminalSession

PAGER = "sed s/^/paged:/"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    rationale = [f"Reason number {number}." for number in range(40)]
    content = {"context": "c", "decision": "d", "rationale": rationale}
    long, short = {"title": "Long", "content": content}, {"title": "Short", "content": {**content, "rationale": "r"}}
    known_project(folder, ("decision", long), ("decision", short))
    return folder


def paged_text(project, *words, **env):
    with TerminalSession(*words, cwd=project, env=env) as session:
        assert session.end() == 0
        return session.text


@pytest.mark.parametrize(
    ("words", "env", "is_paged"),
    [
        (("show", "long"), {"ONRECORD_PAGER": PAGER, "PAGER": "false"}, True),
        (("show", "long"), {"PAGER": PAGER}, True),
        (("show", "short"), {"PAGER": PAGER}, False),
        (("show", "long", "--no-pager"), {"PAGER": PAGER}, False),
        (("show", "long", "--json"), {"PAGER": PAGER}, False),
        (("show", "long"), {"PAGER": PAGER, "TERM": "dumb"}, False),
        (("show", "long"), {"PAGER": PAGER, "ONRECORD_PAGER": ""}, False),
        (("show", "long"), {"PAGER": "cat"}, False),
        (("show", "long"), {"PAGER": "no-such-program"}, False),
        (("show", "long"), {"PAGER": "'"}, False),
    ],
)
def test_what_is_paged(project, words, env, is_paged):
    text = paged_text(project, *words, **env)

    assert "Reason number 39." in text or "short" in words
    assert ("paged:" in text) == is_paged


def test_nothing_is_paged_in_a_pipe(project):
    command = f"{sys.executable} {BIN} show long | tail -1"
    with TerminalSession("-c", command, cwd=project, env={"PAGER": PAGER}, program=("/bin/sh",)) as session:
        assert session.end() == 0
        assert session.text.startswith("hash: ")


@pytest.mark.skipif(not shutil.which("less"), reason="less is not installed")
def test_less_shows_a_page_and_is_left_with_a_key(project):
    with TerminalSession("show", "long", cwd=project, env={"PAGER": "less"}) as session:
        session.expect("Reason number 10.")
        session.send("q")
        assert session.end() == 0
        assert "Reason number 39." not in session.text


def test_an_interrupt_is_the_pagers(project):
    code = "import signal; signal.signal(2, lambda *_: exit(print(6 * 7))); print(6 * 6, flush=True); signal.pause()"
    with TerminalSession("show", "long", cwd=project, env={"PAGER": f"{sys.executable} -c '{code}'"}) as session:
        session.expect("36")
        session.send(CTRL_C)
        session.expect("42")
        assert session.end() == 0


def test_a_pager_that_is_left_early_is_no_failure(project):
    assert "Long" in paged_text(project, "show", "long", PAGER="head -1")
