"""What `onrecord audit` prints of its measures, and which rates it takes; tests/audit has the checks themselves."""

from __future__ import annotations

import argparse
import json

import pytest

from onrecord.audit.report import AuditFinding, Measure
from onrecord.cli import audit
from onrecord.cli.output import Screen

from .conftest import DECISION

NARROW = Screen(50, is_terminal=True)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("0", ("", 0.0)),
        ("1", ("", 1.0)),
        ("100%", ("", 1.0)),
        ("0.05", ("", 0.05)),
        ("secrets=2.5%", ("secrets", 0.025)),
        ("authority=1", ("authority", 1.0)),
    ],
)
def test_a_rate_is_a_share_or_a_percentage_of_one_check_or_of_all(text, limits):
    assert tuple(audit._rate_limit(text)) == limits


@pytest.mark.parametrize("text", ["1.01", "101%", "-0.01", "-1%", "", "%", "=5%", "secret=5%", "secrets=", "5%%"])
def test_a_rate_that_is_none_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be a rate such as 0\.05 or 5%, alone or for one of"):
        audit._rate_limit(text)


def test_a_later_rate_takes_the_place_of_an_earlier_one():
    limits = audit._limits([audit._rate_limit(text) for text in ("junk=1", "50%", "secrets=0")])

    assert limits == {**dict.fromkeys(audit.CHECKS, 0.5), "secrets": 0.0}


def test_the_page_has_six_ids_and_five_findings_of_a_check():
    ids = tuple(f"a{number}" for number in range(7))
    many = tuple(AuditFinding((f"b{number}",), "is short", "lengthen it") for number in range(6))
    measures = {
        "duplicates": Measure(1_000, 2_000, (AuditFinding(ids, "say nearly the same", "onrecord supersede a0 a1"),)),
        "changed": Measure(None, 0),
        "junk": Measure(6, 7, many),
    }

    page = audit._text(NARROW, measures, ["junk"], 5).split("\n")

    assert page[:10] == [
        "check       rate          records",
        "duplicates  50.0%         1,000 of 2,000",
        "changed     not measured",
        "junk        85.7%         6 of 7          too high",
        "",
        "duplicates",
        "  a0, a1, a2, a3, a4, a5: say nearly the same",
        "    fix: onrecord supersede a0 a1",
        "",
        "junk",
    ]
    assert page[10:12] == ["  b0: is short", "    fix: lengthen it"]
    assert (len(page), page[-1]) == (21, "  and 1 more (--all shows them)")
    assert len(audit._text(NARROW, measures, [], None).split("\n")) == 22
    assert len(audit._findings(NARROW, "junk", measures["junk"]._replace(findings=many[:5]), 5)) == 12


def test_a_measure_in_json_has_its_limit_and_a_rate_of_four_digits():
    measure = Measure(1, 3, (AuditFinding(("a", "b"), "say the same", "choose"),))

    assert audit._data(measure, 0.5) == {
        "count": 1,
        "of": 3,
        "rate": 0.3333,
        "max_rate": 0.5,
        "findings": [{"ids": ["a", "b"], "message": "say the same", "fix": "choose"}],
    }
    assert audit._data(Measure(None, 0), None) == {
        "count": None, "of": 0, "rate": None, "max_rate": None, "findings": [],
    }  # fmt: skip


def test_a_rate_at_its_limit_is_not_too_high(project, onrecord):
    for title in ("Ask the pilots first", "Ships wait for the tide"):
        onrecord("save", "decision", title, *DECISION, "--trigger", "when may a ship leave the port")
    (project / ".claude/memory/decisions/broken.json").write_text("{")
    rate = json.loads(onrecord("audit", "--json").out)["checks"]["duplicates"]["rate"]

    at_limit = onrecord("audit", "--max-rate", f"duplicates={rate}", "--json")
    above = onrecord("audit", "--max-rate", f"duplicates={rate - 0.01}", "--strict", "--json")

    assert rate == 0.5
    assert (at_limit.code, json.loads(at_limit.out)["above"]) == (0, [])
    data = json.loads(above.out)
    assert (above.code, data["above"]) == (1, ["duplicates"])
    assert data["unreadable"] == ["decisions/broken.json"]
    assert onrecord("audit", "--max-rate", "duplicates=0", "--strict").err == (
        "warning: left out: 1 file that cannot be read; to see why: onrecord doctor\n"
        "refused by --strict: duplicates, records that cannot be read\n"
    )
    assert {name: check["max_rate"] for name, check in data["checks"].items() if check["max_rate"] is not None} == {
        "duplicates": 0.49, "superseded": 0.0, "secrets": 0.0,
    }  # fmt: skip


def test_notes_of_other_tools_have_no_category_to_choose(project, onrecord):
    (project / "notes").mkdir()

    outcome = onrecord("audit", "--markdown", "notes", "--category", "decision")

    assert (outcome.code, outcome.err.split("\n")[0]) == (
        2, "onrecord audit: --category and --markdown exclude each other",
    )  # fmt: skip


def test_only_one_category_is_audited_and_the_fixes_name_the_store(project, onrecord):
    for title in ("Ask the pilots first", "Ships wait for the tide"):
        onrecord("save", "decision", title, *DECISION, "--user")
    onrecord("save", "preference", "Tabs", "--user", "--set=topic=t", "--set=value=v", "--set=reason=r")

    data = json.loads(onrecord("audit", "--user", "--category", "decision", "--json").out)

    assert (data["memories"], data["checks"]["duplicates"]["count"]) == (2, 1)
    (finding,) = data["checks"]["duplicates"]["findings"]
    assert finding["fix"].endswith(" --user")
    assert json.loads(onrecord("audit", "--user", "--json").out)["memories"] == 3
