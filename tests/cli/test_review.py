from __future__ import annotations

import json
import sys

import pytest

from onrecord.capture import suggestions

from .conftest import NOW, in_own_process

RECORD = {
    "title": "Jobs are rows of a table",
    "tags": ["jobs"],
    "triggers": ["where do jobs go"],
    "content": {"context": "Imports restart.", "decision": "Jobs are rows of `jobs`.", "rationale": ["one thing less"]},
}
NAME = "jobs-are-rows-of-a-table"


@pytest.fixture
def suggestion(project, onrecord):
    """Return a suggestion, with a draft for it in the inbox."""
    suggestion = suggestions.add(str(project), "suggested", "decision", "s-1", ("we go with rows",))
    onrecord("save", "decision", "--suggested", stdin=json.dumps(RECORD))
    return suggestion


def record_json(onrecord, record_id: str = NAME) -> dict:
    return json.loads(onrecord("show", record_id, "--json").out)["record"]


def drafts(onrecord) -> list[str]:
    return [draft["name"] for draft in json.loads(onrecord("inbox", "--json").out)["drafts"]]


def test_an_accepted_draft_becomes_a_record_with_origin_and_evidence(project, onrecord, suggestion):
    outcome = onrecord("review", stdin="a\n")

    assert outcome.code == 0 and outcome.out.endswith("1 accepted\n")
    record = record_json(onrecord)
    assert (record["origin"], record["source"]) == ("agent", 'session s-1: "we go with rows"')
    assert record["changes"] == [{"date": NOW, "summary": "Accepted from the inbox"}]
    assert drafts(onrecord) == []
    assert [item.state for item in suggestions.read(str(project))] == ["saved"]


def test_the_evidence_is_shown_once_and_a_draft_is_called_one(onrecord, suggestion):
    outcome = onrecord("review", stdin="s\n")

    assert "said: we go with rows" in outcome.out
    assert outcome.out.count("we go with rows") == 1
    assert "decision · draft · updated" in outcome.out
    assert outcome.out.endswith("1 skipped; 1 draft left\n")
    assert drafts(onrecord) == [NAME]


@pytest.mark.parametrize("answer", ["?", "", "what"])
def test_whoever_does_not_know_what_to_answer_is_told(onrecord, suggestion, answer):
    outcome = onrecord("review", stdin=f"{answer}\ns\n")

    assert "m  merge: put it into an existing record\n" in outcome.out
    assert outcome.out.endswith("1 skipped; 1 draft left\n")


def test_a_rejected_draft_is_gone_and_remembered(project, onrecord, suggestion):
    onrecord("review", stdin="r\n")

    assert drafts(onrecord) == []
    assert onrecord("list").out == ""
    log = suggestions.read(str(project))
    assert [item.state for item in log] == ["rejected"]
    assert suggestions.any_suggested(log, ("We go with rows!",))


def test_an_edited_draft_is_saved_as_edited(project, onrecord, suggestion, monkeypatch, tmp_path):
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys; p = sys.argv[1]; t = open(p).read().replace('one thing less', 'edited'); open(p, 'w').write(t)"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)

    onrecord("review", stdin="e\na\n")

    assert record_json(onrecord)["content"]["rationale"] == ["edited"]


def test_a_draft_that_another_took_the_place_of_is_shown_again_before_it_is_decided_on(
    project, onrecord, suggestion, monkeypatch, tmp_path
):
    """The agent works on while a person reads: what nobody has seen is neither saved nor thrown away."""
    file = project / ".claude" / "memory" / "inbox" / f"{NAME}.json"
    script = tmp_path / "editor.py"
    better = file.read_text().replace("one thing less", "a better reason")
    script.write_text(f"open({str(file)!r}, 'w').write({better!r})")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)

    outcome = onrecord("review", stdin="e\na\na\n")

    assert "CHANGED_SINCE_READ" in outcome.out
    assert "a better reason" in outcome.out.partition("CHANGED_SINCE_READ")[2]
    assert record_json(onrecord)["content"]["rationale"] == ["a better reason"]
    assert outcome.out.endswith("1 accepted\n")


def test_an_edit_that_makes_it_invalid_asks_again(onrecord, suggestion, monkeypatch, tmp_path):
    script = tmp_path / "editor.py"
    script.write_text("import sys; open(sys.argv[1], 'w').write('{')")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)

    outcome = onrecord("review", stdin="e\ns\n")

    assert "INVALID_RECORD" in outcome.out and outcome.out.endswith("1 skipped; 1 draft left\n")
    assert drafts(onrecord) == [NAME]


def test_a_merge_shows_the_difference_first(project, onrecord, suggestion):
    other = {**RECORD, "title": "The queue", "content": {**RECORD["content"], "rationale": ["older reason"]}}
    onrecord("save", "decision", "--force", stdin=json.dumps(other))

    outcome = onrecord("review", stdin="m\nthe-queue\ny\n")

    assert "rationale\n  + one thing less\n" in outcome.out
    record = record_json(onrecord, "the-queue")
    assert record["content"]["rationale"] == ["older reason", "one thing less"]
    assert record["changes"][-2]["summary"].startswith("Merged a draft") or any(
        change["summary"].startswith("Merged a draft") for change in record["changes"]
    )
    assert drafts(onrecord) == []


@pytest.mark.parametrize(("there", "code"), [(15, 0), (16, 1)])
def test_a_merge_takes_no_more_triggers_than_fit_and_loses_none(onrecord, suggestion, there, code):
    full = [f"trigger {n}" for n in range(there)]
    onrecord("save", "decision", "--force", stdin=json.dumps({**RECORD, "title": "The queue", "triggers": full}))

    outcome = onrecord("review", "--merge", NAME, "--into=the-queue")

    assert outcome.code == code
    assert record_json(onrecord, "the-queue")["triggers"] == [*full, *RECORD["triggers"]][:16]
    assert drafts(onrecord) == ([NAME] if code else [])
    assert ("triggers: must have at most 16 items, and has 17" in outcome.err) == bool(code)


def test_a_merge_that_is_not_confirmed_changes_nothing(onrecord, suggestion):
    onrecord("save", "decision", "--force", stdin=json.dumps({**RECORD, "title": "The queue"}))

    onrecord("review", stdin="m\nthe-queue\nn\ns\n")

    assert record_json(onrecord, "the-queue")["times_updated"] == 0
    assert drafts(onrecord) == [NAME]


def test_accepting_what_a_record_says_already_asks_once_more(onrecord, suggestion):
    onrecord("save", "decision", "--force", stdin=json.dumps({**RECORD, "title": "Jobs as rows of tables"}))

    outcome = onrecord("review", stdin="a\nn\nr\n")

    assert "says nearly the same" in outcome.out
    assert outcome.out.endswith("1 rejected\n")


def test_nobody_answering_is_an_error_and_decides_nothing(onrecord, suggestion):
    outcome = onrecord("review", stdin="")

    assert outcome.code == 1 and "no answer: standard input is at its end" in outcome.err
    assert drafts(onrecord) == [NAME]


@pytest.mark.parametrize(
    "words", [("--accept", NAME, "--reject", "x"), ("--accept", NAME, "--update=a", "--supersedes=b")]
)
def test_answers_that_exclude_each_other_decide_nothing(onrecord, suggestion, words):
    outcome = onrecord("review", *words)

    assert outcome.code == 2 and "exclude each other" in outcome.err
    assert drafts(onrecord) == [NAME]


def test_answers_that_end_early_count(onrecord, suggestion):
    onrecord("save", "decision", "--draft", "--force", stdin=json.dumps({**RECORD, "title": "Another one"}))

    outcome = onrecord("review", stdin="s\n")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("1 skipped; 2 drafts left\n")


def test_quitting_leaves_the_rest(onrecord, suggestion):
    onrecord("save", "decision", "--draft", "--force", stdin=json.dumps({**RECORD, "title": "Another one"}))

    outcome = onrecord("review", stdin="q\n")

    assert outcome.out.endswith("nothing decided; 2 drafts left\n")
    assert len(drafts(onrecord)) == 2


def test_decisions_by_flag_are_for_programs(project, onrecord, suggestion):
    answer = json.loads(onrecord("review", "--accept", NAME, "--json").out)

    assert (answer["outcome"], answer["path"]) == ("accepted", f".claude/memory/decisions/{NAME}.json")
    assert json.loads(onrecord("review", "--reject", NAME, "--json").out)["error"]["code"] == "NOT_FOUND"


def test_merge_by_flag_needs_a_record(onrecord, suggestion):
    assert json.loads(onrecord("review", "--merge", NAME, "--json").out)["error"]["code"] == "BAD_INPUT"
    assert json.loads(onrecord("review", "--merge", NAME, "--into=no", "--json").out)["error"]["code"] == "NOT_FOUND"
    assert drafts(onrecord) == [NAME]


def test_a_review_without_anybody_is_refused(onrecord, suggestion):
    assert json.loads(onrecord("review", "--json").out)["error"]["code"] == "BAD_INPUT"


def test_an_unreadable_draft_can_be_rejected(project, onrecord):
    folder = project / ".claude/memory/inbox"
    folder.mkdir(parents=True)
    (folder / "bad.json").write_text("[]")

    outcome = onrecord("review", stdin="a\nr\n")

    assert "[r]eject [s]kip [q]uit [?]: " in outcome.out and "[a]ccept" not in outcome.out
    assert drafts(onrecord) == []


def test_a_draft_that_supersedes_links_both_when_accepted(onrecord):
    onrecord("save", "decision", stdin=json.dumps(RECORD))
    newer = {**RECORD, "title": "Jobs go to RabbitMQ", "content": {**RECORD["content"], "decision": "RabbitMQ."}}
    onrecord("save", "decision", "--draft", f"--supersedes={NAME}", stdin=json.dumps(newer))

    onrecord("review", "--accept", "jobs-go-to-rabbitmq")

    assert record_json(onrecord)["superseded_by"] == "jobs-go-to-rabbitmq"


def test_all_that_a_draft_would_replace_is_said_before_and_after(project, onrecord):
    """A draft that somebody else wrote may name records in the record itself, beside its own field."""
    onrecord("save", "decision", stdin=json.dumps(RECORD))
    newer = {**RECORD, "title": "Innocent", "content": {**RECORD["content"], "decision": "Something else entirely."}}
    onrecord("save", "decision", "--draft", "--force", stdin=json.dumps(newer))
    file = project / ".claude/memory/inbox/innocent.json"
    draft = json.loads(file.read_text())
    draft["record"]["supersedes"] = [NAME, "another"]
    file.write_text(json.dumps(draft))

    (listed,) = json.loads(onrecord("inbox", "--json").out)["drafts"]
    asked = onrecord("review", stdin="q\n").out
    accepted = onrecord("review", "--accept", "innocent", "--force").out

    assert listed["supersedes"] == f"{NAME}, another"
    assert f"it would replace {NAME}, another" in asked
    assert f"it replaces {NAME}, another" in " ".join(accepted.split())


def test_an_empty_inbox_says_so(project):
    in_own_process("init", cwd=project)

    assert in_own_process("review", cwd=project).out == "The inbox is empty.\n"


def test_a_check_that_a_draft_adds_is_shown_without_its_empty_parts(onrecord):
    """The flaw of 0.3.0-dev: six of nine lines were names of parts that the check does not have."""
    onrecord("save", "decision", stdin=json.dumps(RECORD))
    onrecord("update", NAME, "--draft", "--check", '{"on": "command", "starts": ["pip install"], "say": "uv add"}')

    shown = onrecord("review", stdin="s\n").out

    assert "checks\n  + on: command\n  +   starts: pip install\n  +   say: uv add\n" in shown
