"""Mutants are what they say, and live or die by the tests that reach them."""

import argparse
import ast
import json
import os
import subprocess
import textwrap
from collections import Counter
from pathlib import Path

import pytest

if os.name == "nt":
    pytest.skip("memory is limited by the means of POSIX", allow_module_level=True)

from bench import mutants, mutation, reach


def changes(body: str) -> dict[str, list[str]]:
    """What becomes of the body of a function, by operator."""
    source = "def function(a, b):\n" + textwrap.indent(body, "    ")
    result: dict[str, list[str]] = {}
    for mutant in mutation.mutants("module.py", source):
        changed = mutant.apply(source)
        compile(changed, "mutant", "exec")
        result.setdefault(mutant.operator, []).append(textwrap.dedent(changed.partition("\n")[2]))
    return result


@pytest.mark.parametrize(
    ("operator", "body", "expected"),
    [
        ("comparison", "a < b", ["(a <= b)"]),
        ("comparison", "a == b", ["(a != b)"]),
        ("comparison", "a is b", ["(a is not b)"]),
        ("comparison", "a in b", ["(a not in b)"]),
        ("comparison", "b < a >= 0", ["(b <= a >= 0)", "(b < a > 0)"]),
        ("and/or", "a and b", ["(a or b)"]),
        ("and/or", "a or b", ["(a and b)"]),
        ("not dropped", "not a", ["(a)"]),
        ("arithmetic", "a + b", ["(a - b)"]),
        ("arithmetic", "a // b", ["(a * b)"]),
        ("constant", "a = 7", ["a = 8", "a = (6)"]),
        ("constant", "a = 200", ["a = 400", "a = 100"]),
        ("constant", "a = True", ["a = False"]),
        ("constant", "a = 'b'", ["a = 'XXbXX'", "a = ''"]),
        ("constant", "a = ''", ["a = 'XX'"]),
        ("constant", "a = b'b'", ["a = b'XXb'"]),
        ("slice", "a[1:b]", ["a[:b]", "a[1:]"]),
        ("condition", "b if a else a", ["b if (not (a)) else a"]),
        ("condition", "[a for a in b if a]", ["[a for a in b if (not (a))]"]),
        ("condition", "while a:\n    b()", ["while (not (a)):\n    b()"]),
        ("return", "return a", ["return None"]),
        ("return", "return a < b", ["return (not (a < b))"]),
        ("call removed", "a(b)", ["pass"]),
    ],
)
def test_an_operator_makes_its_changes(operator: str, body: str, expected: list[str]):
    assert changes(body)[operator] == expected


@pytest.mark.parametrize(
    "body",
    [
        '"""A docstring."""',
        "a: 'Text' = b",
        "f'text {a} text'",
        "if TYPE_CHECKING:\n    a = 1",
        "a = 'one text with more than twelve words in it is prose or a list of words'",
        "words = (" + ", ".join(repr(letter) for letter in "abcdefghijklm") + ")",
    ],
)
def test_what_no_test_could_notice_is_left_alone(body: str):
    assert changes(body) == {}


def test_texts_are_joined_by_plus_alone():
    assert "arithmetic" not in changes("'text' + a")


def test_positions_are_right_after_other_letters():
    assert changes("a = 'ä', 7")["constant"][2:] == ["a = 'ä', 8", "a = 'ä', (6)"]


def test_a_default_is_changed_and_a_module_without_functions_is_data():
    assert [each.change for each in mutation.mutants("m.py", "def f(a=1): pass")] == ["1 -> 2", "1 -> (0)"]
    assert mutation.mutants("m.py", "WEIGHTS = (1, 2)\n") == []


def test_markers_stand_in_every_block_and_leave_what_must_lead_in_place():
    source = '"""Doc."""\nfrom __future__ import annotations\n'
    source += 'def f(a):\n    """Doc."""\n    if a:\n        return 1\n    return 2\n'

    marked = reach.mark("m.py", source)

    module = ast.parse(marked)
    assert ast.get_docstring(module) == "Doc."
    assert ast.get_docstring(module.body[-1]) == "Doc."  # type: ignore[arg-type]
    assert [line.strip() for line in marked.splitlines() if "_reached(" in line] == [
        "_reached(0)",
        "_reached(4)",
        "_reached(6)",
    ]
    compile(marked, "marked", "exec")


def test_tests_that_reach_little_else_come_first_and_quick_ones_before_slow_ones():
    seconds = {"t.py::slow": 2.0, "t.py::quick": 1.0, "t.py::wide": 0.1, "t.py::other": 0.1, "u.py::far": 0.1}
    blocks = {"m.py:3": ["t.py::wide", "t.py::slow", "t.py::quick"], "m.py:9": ["t.py"], "n.py:1": ["t.py::wide"]}
    order = reach.Order(reach.Reach(seconds, blocks))

    assert order.tests("m.py", 3, 60) == ["t.py::quick", "t.py::slow", "t.py::wide"]
    assert order.tests("m.py", 3, 1.5) == ["t.py::quick", "t.py::wide"]
    assert order.tests("m.py", 9, 60) == ["t.py::quick", "t.py::slow", "t.py::wide", "t.py::other"]
    assert order.tests("m.py", 0, 60) == ["t.py::quick", "t.py::slow", "t.py::wide", "t.py::other"]
    assert order.tests("m.py", 5, 60) == []


def test_a_test_file_runs_again_when_what_it_reaches_has_changed(tmp_path: Path):
    sources = {"src/fare.py": "A = 1\n", "src/toll.py": "B = 1\n"}
    path = tmp_path / "tests" / "test_fare.py"
    path.parent.mkdir()
    path.write_text("import fare\n")

    def file(**changed: str) -> reach.FileReach:
        return reach.FileReach(path, tmp_path, tmp_path, {**sources, **changed})

    assert not file().is_current
    file().write(reach.Reach({"tests/test_fare.py::test_a": 0.1}, {"src/fare.py:0": ["tests/test_fare.py"]}))

    assert file().is_current
    assert file(**{"src/toll.py": "B = 2\n"}).is_current
    assert not file(**{"src/fare.py": "A = 2\n"}).is_current
    (path.parent / "conftest.py").write_text("")
    assert not file().is_current
    (path.parent / "conftest.py").unlink()
    path.write_text("import toll\n")
    assert not file().is_current


def test_a_sample_is_repeatable_and_takes_from_each_module_by_its_length():
    body = "".join(f"    a = {number}\n" for number in range(90))
    sources = {"long.py": "def f():\n" + body, "short.py": "def f():\n" + body[: body.index("a = 30") - 4]}

    drawn = mutants.sample(sources, seed=5, count=40)

    assert drawn == mutants.sample(sources, seed=5, count=40) != mutants.sample(sources, seed=6, count=40)
    assert Counter(mutant.path for mutant in drawn) == {"long.py": 30, "short.py": 10}
    assert len({(mutant.path, mutant.line) for mutant in drawn}) == 40


def test_the_summary_counts_with_and_without_equivalents():
    totals = Counter({"killed": 172, "survived": 12, "not reached": 7, "equivalent": 9})

    assert mutants.summary(totals) == "killed 172 of 200 (86%), 9 equivalent: 90% without equivalents"


SOURCE = """
def is_full(seats):
    return seats >= 40

def fee(days):
    return days * 2

def is_late(days):
    return days > 3

def in_a_process(days):
    return days - 1

def never(days):
    return days + 1
"""

TESTS = """
import shutil, subprocess, sys
from pathlib import Path
from ferry import fare

SCRIPT = "import sys; sys.path.insert(0, sys.argv[1]); from ferry import fare; print(fare.in_a_process(5))"

def test_strong():
    assert (fare.is_full(39), fare.is_full(40)) == (False, True)

def test_weak():
    fare.fee(3)
    fare.is_late(5)

def test_in_a_process(tmp_path):
    shutil.copytree(Path(__file__).parents[1] / "src", tmp_path / "copy")
    command = [sys.executable, "-S", "-E", "-c", SCRIPT, str(tmp_path / "copy")]
    assert subprocess.run(command, capture_output=True, text=True, env={}).stdout == "4\\n"

def test_that_always_fails():
    assert fare.fee(3) == "broken"
"""


def test_a_strong_test_kills_and_a_weak_one_lets_live(tmp_path: Path):
    files = {"src/ferry/__init__.py": "", "src/ferry/fare.py": SOURCE, "tests/test_fare.py": TESTS}
    files["pyproject.toml"] = "[tool.pytest.ini_options]\npythonpath = ['src']\n"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, timeout=120)
    listed = {"file": "src/ferry/fare.py", "text": "return days > 3", "reason": "planted"}
    late = [each for each in mutation.mutants("src/ferry/fare.py", SOURCE) if each.text == "return days > 3"]
    entries = [{**listed, "operator": each.operator, "change": each.change} for each in late]
    (tmp_path / "equivalent.json").write_text(json.dumps(entries))
    options = argparse.Namespace(seed=1, count=50, jobs=2, paths=["src"], known_equivalent=tmp_path / "equivalent.json")

    outcomes = mutants.measure(tmp_path, options)

    status = {outcome.mutant.text: (outcome.status, outcome.by.partition("::")[2]) for outcome in outcomes}
    assert status == {
        "return seats >= 40": ("killed", "test_strong"),
        "return days * 2": ("survived", ""),
        "return days > 3": ("equivalent", ""),
        "return days - 1": ("killed", "test_in_a_process"),
        "return days + 1": ("not reached", ""),
    }
    assert (tmp_path / "src/ferry/fare.py").read_text() == SOURCE
