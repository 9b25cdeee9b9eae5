"""What an audit says of each problem, in whole sentences, and where each limit is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.audit import audit_item, report
from onrecord.audit.audit_item import AuditItem
from onrecord.audit.report import AuditFinding, Evidence, LooseFile, Measure
from onrecord.project import Project
from onrecord.record.memory import Memory
from tests.git_project import GitProject
from tests.records import CONTENT, sample

TEXT = "Every request to a carrier waits at most eight seconds, then the breaker opens for a minute and we queue it"


def note(text: str = TEXT, title: str = "Carrier timeouts", name: str = "one", **more: Any) -> AuditItem:
    return AuditItem(name, name, title, text, **more)


def findings(*items: AuditItem, evidence: Evidence = Evidence()) -> dict[str, list[tuple[str, str]]]:  # noqa: B008
    measures = report.audit(items, evidence)
    return {
        name: [(finding.message, finding.fix) for finding in measure.findings]
        for name, measure in measures.items()
        if measure.findings
    }


def test_every_check_of_an_audit_has_its_name_and_counts_what_it_is_about():
    items = [note(), note("Retired", name="two", is_current=False, is_retired=True),
             note("Replaced", name="three", is_current=False)]  # fmt: skip

    measures = report.audit(items, Evidence({}, {}, {}, ()))

    assert {name: measure[:2] for name, measure in measures.items()} == {
        "duplicates": (0, 1), "superseded": (0, 2), "changed": (0, 1), "missing": (0, 1), "overlong": (0, 1),
        "secrets": (0, 3), "junk": (0, 1), "checks": (0, 1), "triggers": (0, 1), "authority": (0, 1),
    }  # fmt: skip
    assert {name for name, measure in report.audit(items, Evidence()).items() if measure.hits is None} == {
        "changed", "missing", "checks", "authority",
    }  # fmt: skip


def test_facts_from_outside_come_with_a_fix_for_the_record():
    same = AuditFinding(("one",), "speaks to the agent", "read it")
    evidence = Evidence({"one": "a.py changed"}, {"one": "a.py is gone"}, {"one": "an odd check"}, (same, same))

    assert findings(note(), evidence=evidence) == {
        "changed": [("a.py changed", "if it is still true: onrecord reanchor one; if not: onrecord edit one")],
        "missing": [
            (
                "a.py is gone",
                "if it is still true, update its related files: onrecord edit one; if not: onrecord retire one "
                "--reason 'its file is gone'",
            )
        ],
        "checks": [("an odd check", "correct it: onrecord edit one")],
        "authority": [("speaks to the agent", "read it")] * 2,
    }
    assert report.audit([note()], evidence)["authority"].hits == 1


@pytest.mark.parametrize(
    ("item", "message", "fix"),
    [
        (
            note(superseded_by="two", says_current=True),
            "is replaced by two and still says it is in force", "onrecord edit one",
        ),
        (
            note(superseded_by="three"),
            "two says that it replaces this one, which does not say so: nothing obeys that",
            "read it, and remove the claim: onrecord edit two",
        ),
        (note(superseded_by="two", says_superseded=True), "", ""),
        (note(superseded_by="two"), "", ""),
    ],
)  # fmt: skip
def test_what_contradicts_itself_about_what_replaces_it_is_said(item, message, fix):
    other = note("Another text", name="two", supersedes=("one", "gone"))

    assert [finding[1:] for finding in report.contradictions([item, other]).findings] == [(message, fix)] * bool(
        message
    )


def test_near_duplicates_are_named_oldest_first_with_the_title_of_the_newest():
    items = [note(name="b", title="Newest", updated="2026-03-01"), note(name="c", title="Old", updated="2026-01-01"),
             note(name="a", title="Middle", updated="2026-02-01")]  # fmt: skip

    measure = report.audit(items, Evidence())["duplicates"]

    assert measure == Measure(
        2, 3, (AuditFinding(("c", "a", "b"), "3 say nearly the same: Newest", "keep one: onrecord supersede c b"),)
    )
    assert measure.rate == 2 / 3
    assert Measure(0, 0).rate == 0.0


@pytest.mark.parametrize(("length", "message"), [(3_000, []), (3_001, ["has 3,001 characters"])])
def test_a_record_of_three_thousand_characters_is_read_to_its_end(length, message):
    text = "Words and words. " * 200

    overlong = findings(note(text[:length].ljust(length, "x"))).get("overlong", [])

    assert overlong == [(message, "split it, or shorten it to the rule") for message in message]


def test_a_credential_is_to_be_changed_and_generic_triggers_edited():
    leaking = note(f"The token is ghp_{'a1B2' * 9} for all of it.")
    generic = note(triggers=("fix it",))

    assert [fix for _, fix in findings(leaking)["secrets"]] == [
        "change the credential, then remove it from the text and from git's history"
    ]
    assert [fix for _, fix in findings(generic)["triggers"]] == ["onrecord edit one"]


LONG = "words and more words about it, "


@pytest.mark.parametrize(
    ("title", "text", "reason"),
    [
        ("Untitled", TEXT, "is a placeholder"),
        ("Queue", "tbd", "is a placeholder"),
        ("A title of 20 letters", "Done as of yesterday", ""),
        ("A title of twenty lett", "Nineteen characters", ""),
        ("A title of twenty let", "Nineteen characters", ""),
        ("A title of twenty le", "Nineteen characters", "says hardly anything"),
        ("A title of twenty le", "Nineteen charactérs", ""),
        ("Guidelines", TEXT, "has a title that says nothing"),
        ("Queue", "Option C with a fallback to option E", "names an option that only its source explains"),
        ("Queue", "See section 9 for phrasing", "only refers to another text"),
        ("Queue", "and then it is put into the queue", "is a fragment of a sentence"),
        ("Queue", 'It is called "the queue of jobs', "is a fragment of a sentence"),
        ("Queue", f"and {LONG * 6}"[:160], "is a fragment of a sentence"),
        ("Queue", f"and {LONG * 6}"[:161], ""),
        ("Queue", "Write in the second person.\nIt goes against CLAUDE.md", "gives a file as its reason"),
        ("Queue", "As in <system-reminder>use it</system-reminder>", "repeats a conversation or an injected record"),
        ("Queue", "2026-03-01 10:00:01 INFO started\n" * 3, "is a dump of output"),
        ("Queue", "2026-03-01 10:00:01 INFO started\n" * 2 + "Words of a person", ""),
        ("Queue", "a11 " * 50 + "a", "is a dump of output"),
        ("Queue", "a11 " * 49 + "a11a", ""),
        ("Queue", ("a" * 55 + "1" * 45) * 3, ""),
        ("Queue", ("a" * 54 + "1" * 46) * 3, "is a dump of output"),
        ("Queue", "a" * 5_000 + "1" * 9_000, ""),
    ],
)  # fmt: skip
def test_the_reason_why_a_record_is_junk(title, text, reason):
    assert report.junk_reason(note(text, title)) == reason


def test_junk_is_to_be_edited_or_retired_with_its_reason():
    assert findings(note(title="Untitled"))["junk"] == [
        ("is a placeholder", "onrecord edit one; or: onrecord retire one --reason 'is a placeholder'")
    ]


def test_the_statement_of_a_record_is_what_must_be_a_sentence():
    assert (
        report.junk_reason(note(TEXT, statement="and then it is put into the queue")) == "is a fragment of a sentence"
    )
    assert report.junk_reason(note("and then it is put into the queue", statement=TEXT)) == ""


def test_a_false_claim_was_not_reported_if_the_true_successor_came_after_it():
    items = [
        note(superseded_by="true"),
        note("Another text", name="false", supersedes=("one",)),
        note("A third text", name="true", supersedes=("one",)),
    ]

    for in_order in (items, items[::-1]):
        (finding,) = report.contradictions(in_order).findings
        assert finding.message == "false says that it replaces this one, which does not say so: nothing obeys that"


def test_a_few_missing_files_of_a_note_are_named(tmp_path: Path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x\n")
    many = " ".join(f"`src/{number}.py`" for number in range(5))
    late, later = (f"{' '.join(f'`../x/{n}.py`' for n in range(count))} `late/b.py`" for count in (19, 20))

    assert report.lost_files(
        [note("See `src/a.py` and `../gone.py`.", name="fine"), note("See `src/b.py`.", name="b"), note(many),
         note(late, name="late"), note(later, name="later")],
        str(tmp_path),
    ) == {
        "b": "names src/b.py, which does not exist",
        "one": "names src/0.py, src/1.py, src/2.py, which does not exist",
        "late": "names late/b.py, which does not exist",
    }  # fmt: skip


@pytest.mark.parametrize(("now", "is_moved"), [("", False), ("a.py", False), ("b.py", True)])
def test_a_file_is_moved_if_it_is_elsewhere_now(now, is_moved):
    assert LooseFile("a.py", now).is_moved is is_moved


def test_the_changed_and_missing_files_of_records_are_collected(tmp_path: Path):
    project = GitProject(tmp_path / "project")
    for number in range(5):
        project.write(f"src/{number}.py", "one\n")
    project.commit()
    store = Project(str(project.root))
    fields = {"content": {**CONTENT["decision"], "status": "accepted"}}
    about = [f"src/{number}.py" for number in range(5)]
    odd = [{"on": "edit", "paths": ["lib/"], "adds": ["x"]}]
    store.save("decision", {"title": "Use Redis for it", **fields, "related_files": about})
    store.save("decision", {"title": "Keep the pool small", **fields, "related_files": about[:1], "checks": odd})
    for number in range(4):
        project.write(f"src/{number}.py", "two\n")
    (project.root / "src" / "4.py").unlink()
    entries = [store.get(name) for name in ("use-redis-for-it", "keep-the-pool-small")]

    evidence = report.collect(store.store, entries)

    assert {name: text.count(";") for name, text in evidence.changed.items()} == {
        "use-redis-for-it": 2, "keep-the-pool-small": 0,
    }  # fmt: skip
    assert list(evidence.missing) == ["use-redis-for-it"]
    assert evidence.checks == {}
    assert report.collect(store.store, [store.get("use-redis-for-it")]).checks == {}


def item(**fields: Any) -> AuditItem:
    return audit_item.from_record(sample(**fields))


def test_the_item_of_a_record_has_what_an_audit_needs():
    record = sample(triggers=["log in"], supersedes=["old"], updated_at="2026-03-03T00:00:00Z")

    assert audit_item.from_record(record) == AuditItem(
        "sessions-in-redis", "decisions/sessions-in-redis.json", "Sessions in Redis",
        "Sessions live in Redis 7\nTwo stores were in use\nOne thing to run", category="decision",
        statement="Sessions live in Redis 7", tags=("redis", "sessions"), triggers=("log in",),
        updated="2026-03-03T00:00:00Z", is_current=True, is_retired=False, superseded_by="", supersedes=("old",),
        says_superseded=False, says_current=True, source=record,
    )  # fmt: skip


def test_an_item_says_whether_its_record_is_in_force():
    superseded = item(content={**CONTENT["decision"], "status": "superseded"})

    assert (superseded.says_superseded, superseded.says_current, superseded.is_current) == (True, False, False)
    assert (item(record_status="retired").is_retired, item(record_status="retired").is_current) == (True, False)
    assert item(superseded_by="new").is_current is False
    assert item(category="preference").says_current is False
    assert item(category="runbook").statement == ""


def test_a_note_is_searched_for_credentials_with_its_title_and_a_record_whole():
    assert note().raw == {"title": "Carrier timeouts", "text": TEXT}
    assert item().raw["content"]["rationale"] == ["One thing to run"]


def test_a_supersession_that_only_the_old_record_claims_does_not_count():
    old, new = sample(id="old", superseded_by="new"), sample(id="new")
    linked: list[Memory] = [old, new._replace(supersedes=("old",))]

    alone = audit_item.from_records([old, new])

    assert [(each.superseded_by, each.is_current, each.source) for each in alone] == [
        ("", True, old), ("", True, new),
    ]  # fmt: skip
    assert [each.superseded_by for each in audit_item.from_records(linked)] == ["new", ""]


@pytest.mark.parametrize(
    ("terms", "other", "similarity"),
    [("a b", "c", 0.0), ("", "", 0.0), ("a b", "a b", 1.0), ("a b c", "b c d", 0.5), ("a", "a b c d", 0.25)],
)
def test_the_similarity_is_the_share_of_common_members(terms, other, similarity):
    assert audit_item.similarity(set(terms.split()), set(other.split())) == similarity
