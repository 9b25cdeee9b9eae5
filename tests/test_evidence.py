"""What became of a memory, told from what was said and done after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.record import summary_line
from onrecord.record.memory import Memory
from onrecord.session import transcript
from onrecord.session.transcript import Message
from onrecord.usage import evidence, identifiers, objections, usage_log
from onrecord.usage.evidence import Shown
from tests.conversation import does, kept, prompt, result, says, told
from tests.proof_cases import ALL, KEPT_APART, PATH, SESSIONS

SETS = Path(__file__).parents[1] / "bench" / "sets"


def all_judged(folder, lines, *paths):
    messages = transcript.messages(kept(folder / "t.jsonl", *lines), contexts=True)
    verdicts = evidence.judge(messages, [usage_log._shown("/store", path, messages) for path in paths])
    return [verdicts[f"/store/{path}"] for path in paths]


def judged(folder, *lines):
    return all_judged(folder, lines, PATH)[0]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_labelled_sessions(case, tmp_path):
    assert judged(tmp_path, *case.transcript()) == case.label


def test_sessions_the_rules_were_not_made_for_are_judged_right_nine_times_in_ten(tmp_path):
    right = [case for case in KEPT_APART if judged(tmp_path, *case.transcript()) == case.label]

    assert len(right) >= 0.9 * len(KEPT_APART)


def test_no_labelled_session_is_called_used_that_was_not(tmp_path):
    cases = [case for case in (*ALL, *KEPT_APART) if case.label in ("ignored", "unclear")]

    assert [case.name for case in cases if judged(tmp_path, *case.transcript()) == "used"] == []


def _unrelated_memories():
    for name in ("harbor", "lumen", "quarry"):
        for line in (SETS / name / "records.jsonl").read_text(encoding="utf-8").splitlines():
            raw = json.loads(line)
            record = Memory(raw["category"], raw["id"], raw["title"], raw["content"])
            yield Shown(record.path, summary_line.of(record), after=1)


def _message(raw):
    if raw["role"] == "tool_use":
        return Message("assistant", "tool_use", "", raw["name"], raw["input"])
    kind = "tool_result" if raw["role"] == "tool_result" else "text"
    return Message("user" if kind == "tool_result" else raw["role"], kind, raw["text"])


def test_memories_of_other_projects_are_hardly_ever_thought_used_and_never_contradicted():
    memories = list(_unrelated_memories())
    sessions = (SETS / "capture" / "authors" / "cap.jsonl").read_text(encoding="utf-8").splitlines()

    verdicts = [
        verdict
        for line in sessions
        for verdict in evidence.judge([_message(raw) for raw in json.loads(line)["messages"]], memories).values()
    ]

    assert len(verdicts) > 10_000
    assert verdicts.count("contradicted") == 0
    assert verdicts.count("used") < len(verdicts) / 2_000


def test_a_memory_is_not_judged_before_the_agent_has_answered():
    memory = Shown(PATH, SESSIONS, after=2)

    assert evidence.judge([Message("user", "text", "hi"), Message("system", "context", "x")], [memory]) == {}


def test_what_happened_before_it_was_told_again_does_not_count(tmp_path):
    lines = [
        prompt("q"),
        told((PATH, SESSIONS)),
        says("auth.sessions"),
        prompt("q2"),
        told((PATH, SESSIONS)),
        says("ok"),
    ]

    assert judged(tmp_path, *lines) == "ignored"


def test_an_objection_without_a_name_concerns_the_one_memory_that_was_acted_upon(tmp_path):
    other = "decisions/other.json"
    block = told((PATH, SESSIONS), (other, "Mail goes out through mailer.enqueue_batch()."))
    lines = [prompt("q"), block, says("They are in auth.sessions."), prompt("that's outdated"), says("ok")]

    assert all_judged(tmp_path, lines, PATH, other) == ["contradicted", "ignored"]


def test_an_objection_that_could_mean_either_of_two_means_neither(tmp_path):
    other = "decisions/other.json"
    block = told((PATH, SESSIONS), (other, "Mail goes out through mailer.enqueue_batch()."))
    lines = [prompt("q"), block, says("auth.sessions, then mailer.enqueue_batch()."), prompt("that's outdated")]

    assert all_judged(tmp_path, [*lines, says("ok")], PATH, other) == ["used", "used"]


def test_tools_that_write_a_record_do_not_read_it(tmp_path):
    lines = [prompt("q"), told((PATH, "Plain words only.")), does("Write", file_path=f"/p/.claude/memory/{PATH}")]

    assert judged(tmp_path, *lines) == "unclear"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use `auth.sessions` for 14 days.", {"auth.sessions": 1.0, "14 d": 1.0}),
        ("Kept 24 h, e.g. in S3 or the like, and/or elsewhere.", {"24 h": 0.5}),
        ("End-to-end tests are state-of-the-art and well-known.", {}),
        ("It ended.Then came a Postgres in 2024, version 3.12.", {}),
        ("Run `npm test`.", {"npm test": 0.5}),
        ("Run `quill fsck --repair <volume>`.", {"quill fsck --repair": 1.0, "--repair": 0.5}),
        ("Never use `eval_now()`, but `run_safely()`.", {"run_safely()": 1.0}),
        ("At most 270 ms, no more than 12 workers.", {"270 ms": 1.0, "12 workers": 0.5}),
        ("Port 8443 in src/net/listen.rs, not in /etc/ports.conf.", {"8443": 1.0, "src/net/listen.rs": 1.0}),
        ("Cut off in the middle of `some_long_na…", {"some_long_na": 1.0}),
        ("Stay on 1.27.3, as 1.27 and 1.27.3.1 are broken and 1..3 is none.", {"1.27.3": 1.0}),
        ("", {}),
    ],
)
def test_literals(text, found):
    assert {one.text: one.weight for one in identifiers.literals(text)} == found


@pytest.mark.parametrize(
    ("said", "wanted", "is_there"),
    [
        ("max_age = timedelta(days=14)", "14 days", True),
        ("ttl: 14d", "14 days", True),
        ("a 14-day window", "14 days", True),
        ("ttl = 1_209_600", "14 days", True),
        ("in 14 minutes", "14 days", False),
        ("version 2.14 of days", "14 days", False),
        ("114 days", "14 days", False),
        ("512 MiB of memory", "512 MB", True),
        ("75 percent", "75 %", True),
        ("75 files", "75 %", False),
        ("12,500 rows", "12500", True),
        ("eine Woche: 17 wochen", "17 weeks", True),
        ("17w", "17 weeks", True),
        ("10281600 seconds", "17 weeks", True),
        ("17 months", "17 weeks", False),
        ("17 monate", "17 months", True),
        ("17 Jahre", "17 years", True),
        ("17 stunden", "17 hours", True),
        ("61200", "17 hours", True),
        ("1020", "17 minutes", True),
        ("17m", "17 minutes", True),
        ("17 sekunden", "17 seconds", True),
        ("17000", "17 seconds", True),
        ("17 millis", "17 ms", True),
        ("17 GiB", "17 GB", True),
        ("17 TB", "17 GB", False),
        ("17 prozent", "17 %", True),
    ],
)
def test_quantities_are_found_however_they_are_written(said, wanted, is_there):
    (one,) = identifiers.literals(wanted)

    assert one.occurs(said.lower()) is is_there


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("no, we changed that", 1),
        ("That’s outdated.", 1),
        ("we haven't changed that", 0),
        ("has that changed?", 0),
        ("if we no longer need it, drop it", 0),
        ("> we changed that", 0),
        ("fine, go on", 0),
        ("auth.sessions is no longer used", 1),
        ("auth.sessions is no longer in my way", 0),
        ("those tables are no longer supported", 1),
        ("those tables are no longer mine", 0),
        ("we don't use it anymore", 1),
        ("we don't use it here", 0),
        ("we moved away from it", 1),
        ("we never stopped it", 0),
        ("wir nutzen das nicht mehr", 1),
        ("wir nutzen das gern", 0),
        ("wir haben das abgeschafft", 1),
        ("wir haben das gern", 0),
        ("that's wrong", 1),
        ("no, we moved to kafka", 1),
        ("we moved to kafka", 0),
        ("is it outdated? we changed that", 1),
    ],
)
def test_objections(said, count):
    assert len(objections.find(said)) == count


words = st.sampled_from(
    ["auth.sessions", "14", "days", "no,", "we", "changed", "that", "`", "```", "not", "anymore", "?", ".", "--flag",
     "/a/b.c", "onrecord", "retire", "it", "decisions/it.json", "\n", "“", "\u202e", "🙂", "60", "%", "_", "a=b"]
)  # fmt: skip
texts = st.lists(words | st.text(max_size=12), max_size=30).map(" ".join)
inputs = st.dictionaries(
    st.sampled_from(["command", "file_path", "old_string", "new_string", "edits", "x"]),
    texts | st.integers() | st.none() | st.lists(st.dictionaries(st.just("old_string"), texts, max_size=1), max_size=2),
    max_size=3,
)
messages = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant", "system"]),
        kind=st.sampled_from(["text", "tool_use", "tool_result", "context"]),
        text=texts,
        name=st.sampled_from(["", "Bash", "Edit", "error"]),
        input=inputs,
    ),
    max_size=12,
)


@given(messages, texts, st.integers(0, 14))
def test_any_conversation_has_a_verdict(said, text, after):
    verdicts = evidence.judge(said, [Shown(PATH, text, after)])

    assert set(verdicts.values()) <= {evidence.USED, evidence.CONTRADICTED, evidence.IGNORED, evidence.UNCLEAR}


@given(texts)
def test_a_value_is_found_in_the_text_it_came_from(text):
    plain = " ".join(text.lower().split())

    assert [one.text for one in identifiers.literals(text) if not one.quantity and one.text not in plain] == []


@given(messages, texts)
def test_an_agent_that_does_nothing_has_used_nothing(said, text):
    silent = [one for one in said if one.role != "assistant"]

    assert (
        evidence.judge([*silent, Message("assistant", "text", "ok")], [Shown(PATH, text, len(silent))])[PATH]
        != evidence.USED
    )


def test_a_transcript_of_megabytes_is_judged_within_bounds(tmp_path):
    noise = [result("x " * 15_000 + json.dumps({"n": n})) for n in range(40)]
    messages = transcript.messages(
        kept(tmp_path / "t.jsonl", prompt("q"), *noise, told((PATH, SESSIONS)), says("auth.sessions")), contexts=True
    )

    assert sum(len(message.text) for message in messages) < 2 * transcript.TAIL
    assert evidence.judge(messages, [Shown(PATH, SESSIONS, len(messages) - 1)]) == {PATH: "used"}
