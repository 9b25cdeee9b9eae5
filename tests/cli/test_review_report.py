"""What a review says besides its questions, and what `--json` has of each decision."""

from __future__ import annotations

import json

import pytest

from onrecord.capture import suggestions
from onrecord.cli import main, questions
from onrecord.cli.output import Screen

from .conftest import DECISION, NOW

ABOUT = ("--set=context=c", "--set=rationale=r")
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "gravel", "harbour", "island", "juniper", "kelp")


def _draft(onrecord, *titles: str) -> None:
    for title in titles:
        assert onrecord("save", "decision", title, *ABOUT, f"--set=decision={title} it is.", "--draft").code == 0


@pytest.fixture
def meanwhile(monkeypatch):
    """Return a function that plans what else happens while the first question waits, and the answers from then on."""

    def plan(commands, *answers):
        remaining = iter(answers)

        def read_choice(question, choices, screen):
            while commands:
                main(commands.pop(0))
            return next(remaining)

        monkeypatch.setattr(questions, "read_choice", read_choice)

    return plan


@pytest.mark.parametrize(
    ("count", "rest"),
    [(3, []), (4, ["passed over: 1 more draft, also decided on meanwhile"]),
     (5, ["passed over: 2 more drafts, also decided on meanwhile"])],
)  # fmt: skip
def test_three_drafts_that_others_decided_on_are_named(onrecord, project, meanwhile, count, rest):
    _draft(onrecord, *WORDS[: count + 1])
    meanwhile([["review", "--reject", name] for name in WORDS[1 : count + 1]], "s")

    lines = onrecord("review").out.splitlines()

    passed = [line for line in lines if line.startswith("passed over: ")]
    assert passed == [*(f"passed over: somebody rejected {name} meanwhile" for name in WORDS[1:4]), *rest]
    assert lines[-1] == f"1 skipped, {count} decided on by somebody else; 1 draft left"


def test_each_way_to_decide_is_named(onrecord, project, meanwhile):
    onrecord("save", "decision", "Old way", *DECISION, "--force")
    _draft(onrecord, *WORDS[:4])
    commands = [
        ["review", "--accept", "birch"],
        ["review", "--merge", "cedar", "--into", "old-way"],
        ["review", "--reject", "delta"],
    ]
    meanwhile(commands, "s", "s")

    out = onrecord("review").out

    for name, outcome in (("birch", "accepted"), ("cedar", "merged"), ("delta", "rejected")):
        assert f"passed over: somebody {outcome} {name} meanwhile\n" in out


def test_a_draft_that_was_taken_away_otherwise_is_passed_over_too(onrecord, project, meanwhile):
    _draft(onrecord, *WORDS[:2])
    meanwhile([["undo"]], "s")

    assert "passed over: somebody took away birch meanwhile\n" in onrecord("review").out


def _from_one_session(onrecord, project, count):
    for word in WORDS[:count]:
        suggestions.add(str(project), "suggested", "decision", "s-1", (f"yes: {word}",))
        fields = {"title": word, "content": {"context": word, "decision": f"{word} it is.", "rationale": [word]}}
        assert onrecord("save", "decision", "--suggested", stdin=json.dumps(fields)).code == 0


@pytest.mark.parametrize(("count", "more"), [(10, []), (11, ["  and 1 more"])])
def test_ten_titles_of_a_group_are_listed_before_the_question(onrecord, project, count, more):
    _from_one_session(onrecord, project, count)

    out = onrecord("review", stdin="?\nA\ny\n").out

    titles = [f"  {word}" for word in WORDS[:10]]
    question = f"Accept {count} drafts from session s-1? [y/N] "
    assert "\n".join([*titles, *more, f"{question}saved {count} records"]) in out
    assert f"  A  All: accept all {count} drafts from session s-1, after a question\n" in out
    assert out.endswith(f"{count} accepted\n")


def test_every_key_is_explained_where_it_is_of_use(onrecord, project):
    _from_one_session(onrecord, project, 1)
    _draft(onrecord, "birch")

    out = onrecord("review", stdin="?\ns\n?\nq\n").out

    first, second = out.split("2 of 2: birch")
    assert "[a]ccept [e]dit [m]erge [r]eject [s]kip s[o]urce [q]uit [?]: " in first
    assert first.split("[?]: ")[1].splitlines() == [
        "  a  accept: make it a record",
        "  e  edit: change it first, in a form in your editor",
        "  m  merge: put it into an existing record",
        "  r  reject: delete it; the same words are not suggested again",
        "  s  skip: leave it for later",
        "  o  source: the passage or the words that it was made from",
        "  q  quit: leave this and all others for later",
        "  v  view: the whole draft, where it does not fit on the screen",
        "[a]ccept [e]dit [m]erge [r]eject [s]kip s[o]urce [q]uit ",
    ]
    assert "[a]ccept [e]dit [m]erge [r]eject [s]kip [u]ndo [q]uit [?]: " in second
    assert "  u  undo: take your last answer back, and decide again\n" in second


def test_a_draft_that_cannot_be_read_can_only_be_rejected_or_skipped(onrecord, project):
    _draft(onrecord, "amber")
    (project / ".claude/memory/inbox/broken.json").write_text("{")

    out = onrecord("review", stdin="s\ns\n").out

    assert "\n[r]eject [s]kip [q]uit [?]: " in out.split("of 2: broken")[1]
    assert out.endswith("2 skipped; 2 drafts left\n")


@pytest.mark.parametrize(
    ("typed", "summary"),
    [
        ("a\nr\ns\n", "1 accepted, 1 rejected, 1 skipped; 1 draft left"),
        ("s\nu\nq\n", "nothing decided; 3 drafts left"),
        ("r\nr\nr\n", "3 rejected"),
        ("q\n", "nothing decided; 3 drafts left"),
    ],
)
def test_the_last_line_counts_the_decisions(onrecord, project, typed, summary):
    _draft(onrecord, *WORDS[:3])

    assert onrecord("review", stdin=typed).out.endswith(f"[?]: {summary}\n")


def test_decisions_for_programs(onrecord, project):
    old = json.loads(onrecord("save", "decision", "Old way", *DECISION, "--json").out)
    _draft(onrecord, *WORDS[:3])

    rejected = json.loads(onrecord("review", "--reject", "amber", "--json").out)
    merged = json.loads(onrecord("review", "--merge", "birch", "--into", "old-way", "--json").out)
    accepted = json.loads(onrecord("review", "--accept", "cedar", "--supersedes", "old-way", "--json").out)

    assert rejected == {"draft": "amber", "outcome": "rejected"}
    assert (merged["draft"], merged["outcome"], merged["path"], "supersedes" in merged) == (
        "birch", "merged", old["path"], False,
    )  # fmt: skip
    assert (accepted["draft"], accepted["outcome"], accepted["supersedes"]) == ("cedar", "accepted", "old-way")
    assert accepted["path"] == ".claude/memory/decisions/cedar.json"


def test_decisions_are_printed_with_what_became_of_the_draft(onrecord, project, monkeypatch):
    onrecord("save", "decision", "Old way", *DECISION)
    _draft(onrecord, *WORDS[:2])
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(80, True, True)))

    assert onrecord("review", "--reject", "amber").out == "\x1b[32mrejected\x1b[0m amber\n"
    assert onrecord("review", "--accept", "birch", "--supersedes", "old-way").out == (
        "\x1b[32maccepted\x1b[0m birch as .claude/memory/decisions/birch.json; it replaces old-way\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("review", "--reject=x", "--into=y"), "--into is only for --merge"),
        (("review", "--merge=x", "--update=y"), "--update is only for --accept"),
        (("review", "--reject=x", "--supersedes=y"), "--supersedes is only for --accept"),
        (("review", "--accept=x", "--reject=y"), "--accept and --reject exclude each other"),
        (("inbox", "--brief", "x"), "--brief and NAME exclude each other"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_together(onrecord, project, words, message):
    refused = onrecord(*words)

    assert refused.code == 2 and message in refused.err.splitlines()[0], refused.err


def test_the_inbox_for_programs_and_in_a_pipe(onrecord, project):
    assert onrecord("inbox", "--brief") == (0, "", "")
    _draft(onrecord, "amber")
    (project / ".claude/memory/inbox/broken.json").write_text("{")

    broken, amber = json.loads(onrecord("inbox", "--json").out)["drafts"]

    record = amber.pop("record")
    assert amber == {
        "name": "amber", "category": "decision", "title": "amber", "made_at": NOW, "session": "", "updates": "",
        "summary": "", "supersedes": "", "machine_made": False, "note": "", "evidence": [], "diff": [],
    }  # fmt: skip
    assert record["title"] == "amber"
    assert (broken["name"], broken["error"]["code"], set(broken)) == ("broken", "BAD_RECORD", {"name", "error"})
    lines = onrecord("inbox").out.splitlines()
    assert lines[1] == "amber\tdecision\t2026-03-02\tamber"
    assert lines[0].startswith("broken\tunreadable\t\tinbox/broken.json: ")
    assert json.loads(onrecord("inbox", "--brief", "--json").out) == {"drafts": 2}
    assert onrecord("inbox", "--brief").out == "2 drafts are waiting: onrecord review\n"
