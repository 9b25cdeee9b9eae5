"""Each reason why a record is hard to find: its sentence, its fix and its weight; and the limits between them."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord.audit import hard_to_find
from onrecord.audit.hard_to_find import Reason
from onrecord.record import compose
from onrecord.record.memory import Memory
from tests.audit.test_hard_to_find import TRIGGERS, decision

ID = "sessions-live-in-postgres"
WRITE = "write eight to ten, in other words than the title: onrecord edit {}; or ask your agent to draft them"


def reasons(*records: Memory, project: str = "") -> dict[str, tuple[Reason, ...]]:
    return {hard.record.id: hard.reasons for hard in hard_to_find.find(records, project)}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (decision(triggers=[]), Reason("triggers", "has no triggers", WRITE.format(ID), 4)),
        (decision(triggers=["Postgres sessions"]),
         Reason("triggers", "its triggers only repeat the title", WRITE.format(ID), 4)),
        (decision(triggers=TRIGGERS[:5]), Reason("triggers", "has 5 triggers", WRITE.format(ID), 2)),
        (decision("The pool stays", "It stays, as discussed, see above, like below, option B."),
         Reason("wording", 'cannot be understood alone: "It", "as discussed", "see above"',
                "name what is meant, or give the date: onrecord edit the-pool-stays", 3)),
        (decision("The pool stays", "Keep the pool. It was tested last week, with 40 connections."),
         Reason("wording", 'cannot be understood alone: "last week"',
                "name what is meant, or give the date: onrecord edit the-pool-stays", 3)),
    ],
)  # fmt: skip
def test_a_reason_has_a_sentence_a_fix_and_a_weight(record, reason):
    assert reasons(record) == {record.id: (reason,)}


def test_a_title_that_is_a_topic_and_a_generic_trigger_weigh_two():
    topic = decision("Sessions", "Sessions are rows in auth.sessions.", triggers=TRIGGERS)
    generic = decision(triggers=[*TRIGGERS[:6], "fix it"])

    assert [(reason.check, reason.fix, reason.weight) for reason in reasons(topic)["sessions"]] == [
        ("title", f'state the rule, such as "{title_of(topic)}": onrecord edit sessions', 2)
    ]
    assert [(reason.check, reason.fix, reason.weight) for reason in reasons(generic)[ID]] == [
        ("triggers", f"onrecord edit {ID}", 2)
    ]


def title_of(record: Memory) -> str:
    return hard_to_find.rule_title.proposal(record)


@pytest.mark.parametrize(("length", "is_long"), [(420, False), (421, True)])
def test_a_statement_of_420_characters_is_shown_whole(length, is_long):
    text = f"Sessions are rows in auth.sessions, {'and more of that ' * 40}"[: length - 1] + "."

    fix = f"shorten it to the rule, and put the rest into other fields or records: onrecord edit {ID}"
    expected = Reason("length", f"its decision has {length} characters, but an agent is shown 420", fix, 2)
    assert reasons(decision(text=text.replace(" .", "s."))) == ({ID: (expected,)} if is_long else {})


def test_a_record_as_long_as_a_page_is_to_be_divided():
    texts = [f"{'Losing them cost tickets. ' * 15}" for _ in range(9)]
    content = {"context": "c " * 50, "decision": "Sessions are rows.", "rationale": texts}
    record = compose.compose(
        "decision", {"title": "Sessions live in Postgres", "triggers": TRIGGERS, "content": content}
    )

    (reason,) = reasons(record)[ID]

    assert (reason.check, reason.fix, reason.weight) == ("length", "split it into several records", 2)
    assert reason.message.startswith("has 3,") and reason.message.endswith(" characters")


@pytest.mark.parametrize(("count", "others"), [(4, "{0}, {1}, {2}"), (5, "{0}, {1}, {2} and 1 more")])
def test_three_near_duplicates_are_named(count, others):
    text = "Every request to a carrier waits at most eight seconds, then the breaker opens for a minute."
    records = [decision(f"Carrier timeouts {number}{number}", text) for number in range(count)]

    (reason,) = (reason for reason in reasons(*records)[records[-1].id] if reason.check == "duplicates")

    assert reason.message == (
        f"says nearly the same as {others.format(*(record.id for record in records))}, so they compete"
    )
    assert reason.weight == 3
    assert reason.fix == f"keep one: onrecord supersede {records[0].id} {records[-1].id}"


def test_files_that_only_the_text_names_are_to_be_added_up_to_three(tmp_path):
    for name in ("a b", "b", "c", "d"):
        (tmp_path / "src").mkdir(exist_ok=True)
        (tmp_path / "src" / f"{name}.py").write_text("x\n")
    record = decision(text="Sessions of src/b.py, src/c.py, src/d.py, src/e.py and ../src/b.py live in Postgres.")
    without = decision("Times are in UTC", "The database stores UTC.", triggers=TRIGGERS[:5])

    listed = reasons(record, without, project=str(tmp_path))

    assert listed == {
        ID: (
            Reason(
                "files", "names src/b.py, src/c.py, src/d.py only in its text, so it is not shown there",
                f"onrecord update {ID} --related src/b.py --related src/c.py --related src/d.py", 2,
            ),
        ),
        "times-are-in-utc": (
            Reason("triggers", "has 5 triggers", WRITE.format("times-are-in-utc"), 2),
            Reason(
                "files", "has no related files, so it is shown for prompts only",
                "if it is about certain files, add them as related_files: onrecord edit times-are-in-utc", 1,
            ),
        ),
    }  # fmt: skip


def lost(**more: Any) -> Memory:
    return decision(related_files=["src/gone.py"], **more)


def test_a_lost_file_without_a_similar_one_is_to_be_replaced(tmp_path, monkeypatch):
    (tmp_path / "other.txt").write_text("x\n")
    records = [lost(), lost(title="Times are in UTC", text="The database stores UTC.")]

    listed = reasons(*records, project=str(tmp_path))

    assert [reason for found in listed.values() for reason in found] == [
        Reason(
            "files", "its related file src/gone.py does not exist, so it is never shown there",
            f"replace it with its current path: onrecord edit {record.id}", 2,
        )
        for record in records
    ]  # fmt: skip
    assert reasons(*records) == {}


def test_the_heaviest_come_first_and_then_those_of_the_first_path():
    records = [decision(title, f"{title} now.", triggers=[]) for title in ("Use zinc for it", "Use argon for it")]

    assert list(reasons(*records)) == ["use-argon-for-it", "use-zinc-for-it"]
