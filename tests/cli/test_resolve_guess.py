"""Which record or draft a text means, how sure that is, and what a person is asked before a change."""

from __future__ import annotations

import pytest

from onrecord.cli import record_table, resolve, terminal
from onrecord.cli.output import Screen
from onrecord.cli.questions import Asker
from onrecord.cli.record_table import ListedPath
from onrecord.errors import Ambiguous, BadInput, NotFound
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store

from .conftest import DECISION

PERSON, PROGRAM = Asker("retire", is_json=False, is_dry_run=False), Asker("retire", is_json=True, is_dry_run=False)


@pytest.fixture
def store(project, onrecord):
    for title in ("Jobs are rows", "Logs go to stdout", "Logs are JSON"):
        assert onrecord("save", "decision", title, "--force", *DECISION).code == 0
    for title in ("Queue limits", "Queue length"):
        assert onrecord("save", "decision", title, "--draft", "--force", *DECISION).code == 0
    return Store(str(project / ".claude" / "memory"))


@pytest.fixture
def person(monkeypatch):
    """A person at a terminal of 40 columns, who says no to every question; the questions are in the list returned."""
    asked: list[str] = []
    monkeypatch.setattr(terminal, "at_terminal", lambda: True)
    monkeypatch.setattr("onrecord.store.history.author", lambda: "person")
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(40, is_terminal=True)))
    monkeypatch.setattr(resolve, "confirm", lambda question, screen: asked.append(question))
    return asked


@pytest.mark.parametrize(
    ("text", "is_asked"), [("jobs", False), ("jobs-are", False), ("job", True), ("rows", True), ("are-rows", True)]
)
def test_four_letters_of_the_beginning_of_an_id_need_no_question(store, person, text, is_asked):
    if is_asked:
        with pytest.raises(BadInput, match="nothing was changed") as caught:
            resolve.record(PERSON, store, text, changes=True)
        assert caught.value.fix == "onrecord show jobs-are-rows"
    else:
        assert resolve.record(PERSON, store, text, changes=True).memory.id == "jobs-are-rows"
    assert person == (["retire decisions/jobs-are-rows.json (Jobs are rows)?"] if is_asked else [])


@pytest.mark.parametrize(("text", "is_asked"), [("queue-lim", False), ("limits", True)])
def test_a_draft_is_as_sure_as_a_record(store, person, text, is_asked):
    box = Inbox(store.root)
    if is_asked:
        with pytest.raises(BadInput, match="nothing was changed") as caught:
            resolve.draft(PERSON, box, text, changes=True)
        assert caught.value.fix == "onrecord inbox queue-limits"
    else:
        assert resolve.draft(PERSON, box, text, changes=True) == "queue-limits"
    assert person == (["retire the draft queue-limits?"] if is_asked else [])


def test_reading_and_rehearsing_ask_nothing(store, person):
    rehearsal = PERSON._replace(is_dry_run=True)

    assert resolve.record(PERSON, store, "rows").memory.id == "jobs-are-rows"
    assert resolve.record(rehearsal, store, "rows", changes=True).memory.id == "jobs-are-rows"
    assert resolve.draft(PERSON, Inbox(store.root), "limits") == "queue-limits"
    assert person == []


def test_of_several_a_person_picks_one_by_id_and_title_and_is_not_asked_again(store, person, monkeypatch):
    shown = []
    monkeypatch.setattr(terminal, "pick_line", lambda question, lines: shown.append((question, lines)) or 1)

    assert resolve.record(PERSON, store, "logs", changes=True).memory.id == "logs-go-to-stdout"
    assert resolve.draft(PERSON, Inbox(store.root), "queue", changes=True) == "queue-limits"
    assert shown == [
        ("'logs' matches 2:", ["logs-are-json  Logs are JSON", "logs-go-to-stdout  Logs go to std…"]),
        ("'queue' matches 2:", ["queue-length", "queue-limits"]),
    ]
    assert person == []


def test_a_record_that_cannot_be_read_is_offered_by_its_path(store, person, monkeypatch):
    path = f"{store.root}/decisions/logs-are-json.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write("{")
    shown = []
    monkeypatch.setattr(terminal, "pick_line", lambda question, lines: shown.extend(lines) or 1)

    resolve.record(PERSON, store, "logs")

    assert shown[0] == "decisions/logs-are-json.json"


def test_who_picks_none_is_told_to_type_more(store, person, monkeypatch):
    monkeypatch.setattr(terminal, "pick_line", lambda question, lines: None)

    with pytest.raises(BadInput, match="none was picked") as caught:
        resolve.record(PERSON, store, "logs")

    assert caught.value.fix == "type more of the name you mean"


@pytest.mark.parametrize(("count", "question"), [(50, "'rule' matches 50:"), (51, "'rule' matches 51; the first 50:")])
def test_of_many_the_first_fifty_are_offered(project, onrecord, person, monkeypatch, count, question):
    onrecord("save", "decision", "Rule 0", *DECISION)
    folder = project / ".claude/memory/decisions"
    text = (folder / "rule-0.json").read_text()
    for number in range(1, count):
        (folder / f"rule-{number}.json").write_text(text.replace("rule-0", f"rule-{number}"))
    shown = []
    monkeypatch.setattr(terminal, "pick_line", lambda question, lines: shown.append((question, len(lines))) or 0)

    resolve.record(PERSON, Store(str(project / ".claude" / "memory")), "rule")

    assert shown == [(question, 50)]


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("xylophone", "no draft 'xylophone' in the inbox", "onrecord inbox"),
        ("lenth", "no draft 'lenth' in the inbox; did you mean queue-length?", "onrecord inbox queue-length"),
    ],
)  # fmt: skip
def test_a_draft_that_is_not_there(store, text, message, fix):
    with pytest.raises(NotFound) as caught:
        resolve.draft(PROGRAM, Inbox(store.root), text)

    assert (caught.value.message, caught.value.fix) == (message, fix)


def test_a_program_picks_none_of_several_drafts(store):
    with pytest.raises(Ambiguous, match="'queue' matches 2 drafts: queue-length, queue-limits"):
        resolve.draft(PROGRAM, Inbox(store.root), "queue")


@pytest.fixture
def listed(store, monkeypatch):
    """The numbers of a listing: a record of this store, a draft of it, and a record of another store."""
    paths = [
        ListedPath(store.root, "decisions/jobs-are-rows.json"),
        ListedPath(store.root, "inbox/queue-limits.json"),
        ListedPath("/elsewhere", "decisions/x.json"),
    ]
    numbers = {str(number): path for number, path in enumerate(paths, 1)}
    monkeypatch.setattr(record_table, "listed_path", numbers.get)


def test_a_number_of_the_last_listing_is_printed_with_what_it_means(store, listed, capfd):
    assert resolve.record(PERSON, store, "1").memory.id == "jobs-are-rows"
    assert resolve.draft(PERSON, Inbox(store.root), "2") == "queue-limits"

    assert capfd.readouterr().err == "1 is decisions/jobs-are-rows.json\n2 is inbox/queue-limits.json\n"
    assert [resolve.is_listed(asker, "1") for asker in (PERSON, PROGRAM)] == [True, False]


def test_a_number_is_never_sure_enough_for_a_change(store, listed, person):
    with pytest.raises(BadInput):
        resolve.record(PERSON, store, "1", changes=True)

    assert person == ["retire decisions/jobs-are-rows.json (Jobs are rows)?"]


@pytest.mark.parametrize(
    ("number", "is_draft", "message", "fix"),
    [
        ("1", True, "1 was a record in the last listing: jobs-are-rows", "onrecord show jobs-are-rows"),
        ("2", False, "2 was a draft in the last listing: queue-limits", "onrecord inbox queue-limits"),
        ("3", False, "3 was a record of another store in the last listing: decisions/x.json", "onrecord list"),
    ],
)
def test_a_number_of_another_kind_says_what_it_was(store, listed, number, is_draft, message, fix):
    with pytest.raises(NotFound) as caught:
        resolve.draft(PERSON, Inbox(store.root), number) if is_draft else resolve.record(PERSON, store, number)

    assert (caught.value.message, caught.value.fix) == (message, fix)


def test_a_flag_is_passed_on_as_typed_if_it_is_exact_and_may_be_left_out(store, person):
    typed = ("", "jobs-are-rows", "decisions/jobs-are-rows.json", "jobs-ar")

    assert [resolve.flag_id(PERSON, store, text) for text in typed] == [*typed[:3], "jobs-are-rows"]
