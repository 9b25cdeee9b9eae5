"""The check that a rule itself suggests: what it forbids by name, and what to use instead."""

from __future__ import annotations

import pytest

from onrecord.record import check_proposal
from onrecord.record.check import Check
from onrecord.record.memory import Memory
from tests.records import sample


def constraint(rule: str, title: str = "A rule", **fields: object) -> Memory:
    content = {"kind": "limitation", "rule": rule, "impact": ["i"], "severity": "high", "active": True}
    return sample("constraint", title=title, content=content, **fields)


def proposal(rule: str, title: str = "A rule") -> Check | None:
    return check_proposal.propose(constraint(rule, title))


def quoted_imports(name: str) -> tuple[str, ...]:
    words = ("from ", "require(", "import ")
    return (f"import {name}", f"from {name}", *(f"{word}{mark}{name}{mark}" for word in words for mark in "'\""))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("Never run `npm install`.", Check(("command",), starts=("npm install",))),
        ('Do not use "NPM ci".', Check(("command",), starts=("NPM ci",))),
        ("Add packages with pnpm, never npm install.", Check(("command",), starts=("npm install",))),
        ("Use uv instead of pip.", Check(("command",), starts=("pip",))),
        ("Avoid 'git push --force' here.", Check(("command",), starts=("git push --force",))),
        ("Never commit with `--no-verify`.", Check(("command",), has=("--no-verify",))),
        ("Never add `-x`.", None),
        ("Never run `black .` on it.", Check(("command",), starts=("black .",))),
        ("We are not running `black .` on it.", Check(("command",), starts=("black .",))),
        ("Never edit `src/generated/`.", Check(("edit",), paths=("src/generated/",))),
        ("Never touch `schema.sql` by hand.", Check(("edit",), paths=("schema.sql",))),
        ("Never edit `*.sql`.", Check(("edit",), adds=("*.sql",))),
        ("Never import `lodash`.", Check(("edit",), adds=quoted_imports("lodash"))),
        ("No new libraries: never add `@foo/bar`.", Check(("edit",), adds=quoted_imports("@foo/bar"))),
        ("Never use `eval(x)`.", Check(("edit",), adds=("eval(x)",))),
        ("Never use `print(`.", Check(("edit",), adds=("print(",))),
        ("Never use `a=b`.", None),
        ("Never use `word`.", None),
        ("Never use ` `.", None),
        ("Do this rather than that.", None),
        ("Money is an integer of cents.", None),
    ],
)
def test_what_a_rule_forbids_by_name_becomes_a_check(rule: str, expected: Check | None) -> None:
    assert proposal(rule) == (expected._replace(say="A rule") if expected else None)


def test_what_to_do_instead_is_what_the_rule_advises_or_its_title() -> None:
    def say(rule: str, title: str = "Packages") -> str:
        check = proposal(rule, title)
        assert check
        return check.say

    assert say("Never run `npm install`, use `pnpm add`.") == "use pnpm add"
    assert say("Use `npm install` never; never run `npm install`; prefer 'pnpm add'.") == "use pnpm add"
    assert say("Never use `npm install`.") == "Packages"
    assert say("Never run `npm install`.", "T" * 201) == "T" * 200


def test_the_title_counts_and_the_first_thing_that_makes_a_sound_check() -> None:
    assert proposal("r", "Never run `npm install`") == Check(
        ("command",), starts=("npm install",), say="Never run `npm install`"
    )
    check = proposal("Never use `word`, and never run `npm install`.")
    assert check and check.starts == ("npm install",)


@pytest.mark.parametrize(("filling", "is_read"), [(1_965, True), (1_985, False)])
def test_the_first_two_thousand_characters_of_a_rule_are_read(filling: int, is_read: bool) -> None:
    assert bool(proposal("x" * filling + " Never run `npm i`.")) is is_read


def test_a_record_that_has_checks_or_is_no_rule_gets_none() -> None:
    rule = constraint("Never run `npm install`.")
    has_checks = rule._replace(checks=(Check(("command",), starts=("yarn",)),))

    assert check_proposal.propose(rule)
    assert check_proposal.propose(has_checks) is None
    assert check_proposal.propose(sample("runbook", title="Never run `npm install`")) is None
