from __future__ import annotations

import pytest

from onrecord.doctor.store_checks import link_problems
from onrecord.record.memory import Memory


def record(name, by="", of=(), category="decision"):
    return Memory(category, name, name, {}, superseded_by=by, supersedes=tuple(of))


@pytest.mark.parametrize(
    ("records", "problems"),
    [
        ([record("a", by="b"), record("b", of=["a"])], []),
        ([record("a", by="b"), record("b", by="c", of=["a"]), record("c", of=["b"])], []),
        ([record("b", of=["collected-long-ago"])], []),
        ([record("a", by="b")], [("warning", "a is superseded by b, which does not exist")]),
        (
            [record("a", by="b"), record("b")],
            [("warning", "a says that b replaces it, and b does not say so: nothing obeys that")],
        ),
        (
            [record("a"), record("b", of=["a"])],
            [("warning", "b says that it replaces a, and a does not say so: nothing obeys that")],
        ),
        (
            [record("a", by="c"), record("b", of=["a"]), record("c", of=["a"])],
            [("warning", "b says that it replaces a, and a names c instead: nothing obeys that")],
        ),
        ([record("a", by="a", of=["a"])], [("error", "records supersede each other in a circle: a → a")]),
        (
            [record("z", by="a"), record("a", by="b", of=["b", "z"]), record("b", by="a", of=["a"])],
            [("error", "records supersede each other in a circle: a → b → a")],
        ),
        (
            [record("a"), record("a", category="runbook")],
            [("warning", "decisions/a.json and runbooks/a.json have the same id")],
        ),
    ],
)
def test_problems(records, problems):
    findings = list(link_problems(records))

    assert [(finding.severity, finding.what) for finding in findings] == problems
    assert not any("onrecord supersede" in finding.fix for finding in findings)


def test_a_long_chain_is_walked_once():
    """Quadratic walks would make this take minutes."""
    chain = [record(f"r{n}", by=f"r{n + 1}", of=[f"r{n - 1}"] if n else []) for n in range(20_000)]

    problems = list(link_problems(chain))

    assert [finding.what for finding in problems] == ["r19999 is superseded by r20000, which does not exist"]
