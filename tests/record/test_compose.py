from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import categories
from onrecord.errors import BadInput, Invalid, OnrecordError, SecretFound
from onrecord.record import compose, memory, schema
from onrecord.record.author import RecordAuthor
from onrecord.record.memory import HistoryEntry, Memory
from tests.records import CONTENT, NOW, any_json

TITLED = {"title": "Sessions in Redis"}
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


def test_a_few_words_become_a_whole_record():
    record = compose.compose(
        "preference", {**TITLED, "topic": "storage", "value": "Redis", "reason": "It is there"}, now=NOW
    )

    assert record == Memory(
        category="preference",
        id="sessions-in-redis",
        title="Sessions in Redis",
        content={"strength": "default", "topic": "storage", "value": "Redis", "reason": "It is there"},
        created_at=NOW,
        updated_at=NOW,
        tags=("redis", "sessions"),
        origin="user",
        changes=(HistoryEntry(NOW, "Created"),),
    )


@pytest.mark.parametrize("category", schema.FOLDERS)
def test_defaults_fill_what_is_usual(category):
    needed = {
        key: value for key, value in CONTENT[category].items() if key not in categories.CATEGORIES[category].defaults
    }

    record = compose.compose(category, {**TITLED, "content": needed}, now=NOW)

    assert record.content == {**categories.CATEGORIES[category].defaults, **needed}
    assert memory.flaws(record) == []


def test_what_is_given_is_kept():
    given = {
        **TITLED, "id": "adr-1", "tags": "Redis, Data Base", "content": CONTENT["decision"], "origin": "import",
        "created_at": "2020-01-01T00:00:00Z", "x-own": {"a": [1]}, "confidence": None, "triggers": ["where?"],
    }  # fmt: skip

    record = compose.compose("decision", given, now=NOW, written_by=RecordAuthor("tool"))

    assert (record.id, record.tags, record.origin, record.created_at, record.updated_at, record.unknown) == (
        "adr-1", ("data-base", "redis"), "tool", "2020-01-01T00:00:00Z", NOW, {"x-own": {"a": [1]}},
    )  # fmt: skip


def test_a_single_text_stands_for_a_list_and_null_for_nothing():
    given = {**TITLED, "content": {**CONTENT["decision"], "rationale": "Because", "consequences": None, "status": None}}

    record = compose.compose("decision", given, now=NOW)

    assert record.content == {**CONTENT["decision"], "rationale": ["Because"]}


NEEDS = "content of a decision needs: status, decision, context, rationale; nothing was written"
MISSING = (("content.context", "is missing"), ("content.rationale", "is missing"))


@pytest.mark.parametrize(
    ("given", "message", "fix", "field_errors"),
    [
        ({}, "title: is missing", 'give it a title: {"title": "…"}', (("title", "is missing"),)),
        ({"title": " \u200b "}, "title: is missing", 'give it a title: {"title": "…"}', (("title", "is missing"),)),
        ({"title": 5}, "title: is missing", 'give it a title: {"title": "…"}', (("title", "is missing"),)),
        ([TITLED], "the record must be a JSON object", 'for example {"title": "…", "content": {…}}', ()),
        ({**TITLED, "content": "text"}, "content: must be an object with the fields of its category", NEEDS, ()),
        ({**TITLED, "category": "runbook"}, "category: is 'runbook' in the record and 'decision' on the command line",
         "make them agree", ()),
        ({**TITLED, "tags": 5}, "tags: must be a list of texts", 'for example "tags": ["database", "migrations"]', ()),
        ({**TITLED, "tags": [1]}, "tags: must be a list of texts", 'for example "tags": ["database", "migrations"]',
         ()),
        ({**TITLED, "tag": "x"}, "tag: is not a field of a record", "did you mean tags?", ()),
        ({**TITLED, "content": {"decison": "x"}}, "decison: is not a field of a record", "did you mean decision?", ()),
        ({**TITLED, "content": {"decision": "x"}}, "content.context: is missing; content.rationale: is missing",
         "add --set context=… --set rationale=…; nothing was written", MISSING),
        ({**TITLED, "content": {**CONTENT["decision"], "rationale": [1]}},
         "content.rationale[0]: must be a text, not a number",
         "correct content.rationale[0] and try again; nothing was written",
         (("content.rationale[0]", "must be a text, not a number"),)),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_a_fix(given, message, fix, field_errors):
    with pytest.raises(Invalid) as caught:
        compose.compose("decision", given)

    assert (caught.value.message, caught.value.fix, caught.value.field_errors) == (message, fix, field_errors)


def test_a_field_beside_the_one_that_it_resembles_is_kept():
    record = compose.compose("decision", {**TITLED, "tags": ["a"], "tagz": 1, "content": CONTENT["decision"]}, now=NOW)

    assert (record.tags, record.unknown) == (("a",), {"tagz": 1})


def test_eight_flaws_are_named_and_all_are_listed():
    with pytest.raises(Invalid) as caught:
        compose.compose("decision", {**TITLED, "content": {**CONTENT["decision"], "rationale": [1] * 9}})

    assert caught.value.message.count("must be a text") == 8
    assert len(caught.value.field_errors) == 9


def test_the_flaws_of_an_object_of_no_category_name_the_categories():
    with pytest.raises(Invalid) as caught:
        compose.check({"category": "nonsense"})

    assert caught.value.fix == f"use one of {', '.join(schema.FOLDERS)}"


@pytest.mark.parametrize(
    ("title", "tags"),
    [
        ("The five longest words win alphabetically", ("alphabetically", "five", "longest", "words")),
        ("Use (it!)", ("untagged",)),
        ("a b c d e f", ("b", "c", "d", "e")),
        ("We -- go", ("go",)),
    ],
)
def test_without_tags_the_four_longest_words_of_the_title_are_tags(title, tags):
    given = {"title": title, "topic": "a", "value": "b", "reason": "c"}

    assert compose.compose("preference", given, now=NOW).tags == tags


def test_checks_are_arranged_single_ones_and_single_texts_as_lists():
    check = {"on": "command", "starts": "npm", "say": "no", "unless": None, "examples": {"breaks": "npm i"}}

    assert compose.arrange_checks(check) == [
        {"on": "command", "starts": ["npm"], "say": "no", "examples": {"breaks": ["npm i"]}}
    ]
    assert compose.arrange_checks([check, 3]) == [*compose.arrange_checks(check), 3]
    assert compose.arrange_checks("x") == "x"
    lists = dict.fromkeys(("paths", "starts", "has", "adds", "unless"), "x")
    assert compose.arrange_checks(lists) == [{key: ["x"] for key in lists}]


def test_a_secret_is_refused_with_its_field_named_and_its_value_hidden():
    given = {**TITLED, "content": {**CONTENT["decision"], "context": f"use {KEY}"}}

    with pytest.raises(SecretFound) as caught:
        compose.compose("decision", given)

    assert caught.value.message == "content.context carries an AWS access key (use AKIA…)"
    assert caught.value.fix == (
        "write where the secret is kept (a variable, a vault), not the secret; save and update can insist: "
        "--allow-secret"
    )
    assert caught.value.field_errors == (("content.context", f"carries an AWS access key; {caught.value.fix}"),)
    assert compose.compose("decision", given, allow_secret=True).content["context"] == f"use {KEY}"


@pytest.mark.parametrize(
    ("name", "category"),
    [("decision", "decision"), ("Decisions", "decision"), ("tech-debt", "tech_debt"), ("sessions", "session_summary"),
     ("runbooks ", "runbook")],
)  # fmt: skip
def test_names_of_categories(name, category):
    assert compose.category_of(name) == category


@pytest.mark.parametrize(("name", "fix"), [("descision", "use decision"), ("xyz", "use one of decision, constraint, ")])
def test_a_wrong_category_is_answered_with_the_nearest(name, fix):
    with pytest.raises(BadInput) as caught:
        compose.category_of(name)

    assert caught.value.fix.startswith(fix)


def test_a_title_of_common_words_alone_still_has_a_tag():
    given = {"title": "To be or not", "topic": "a", "value": "b", "reason": "c"}

    assert compose.compose("preference", given, now=NOW).tags == ("untagged",)


def test_a_tag_made_from_a_title_has_no_brackets_around_it():
    given = {"title": "Queues / background (jobs), etc.", "topic": "a", "value": "b", "reason": "c"}

    assert compose.compose("preference", given, now=NOW).tags == ("background", "etc", "jobs", "queues")


def test_a_tag_made_from_a_title_has_no_remains_of_an_apostrophe():
    given = {"title": "Le code s'écrit avec l'accent", "topic": "a", "value": "b", "reason": "c"}

    assert compose.compose("preference", given, now=NOW).tags == ("accent", "avec", "code", "écrit")


keys = st.sampled_from([*schema.KEYS, *CONTENT["decision"], "x-own"]) | st.text(max_size=5)


@given(st.sampled_from(list(schema.FOLDERS)), any_json | st.dictionaries(keys, any_json, max_size=6))
def test_any_json_is_composed_or_refused(category, given):
    try:
        record = compose.compose(category, given)
    except OnrecordError as error:
        assert error.fix
        return
    assert memory.parse(memory.render(record)) == record


@given(st.text(min_size=1), st.lists(st.text()), st.text(min_size=1))
def test_whatever_title_and_tags_are_made_of_the_record_is_sound(title, tags, value):
    given = {"title": title, "tags": tags, "topic": "t", "value": value, "reason": "r"}
    try:
        record = compose.compose("preference", given, allow_secret=True)
    except Invalid:
        return
    assert memory.flaws(record) == []
    assert json.loads(memory.render(record))["title"] == record.title
