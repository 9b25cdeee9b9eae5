"""Sentences that triage proposes to save, and those that it must never propose."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.capture import conversation, triage
from onrecord.capture.conversation import CUES_FOLDER, Conversation, Cues
from onrecord.categories import CATEGORIES
from onrecord.session import correction
from onrecord.session.transcript import Ending, Message

EDIT = Message("assistant", "tool_use", "", "Edit", {"file_path": "/p/a.py"})
READ = Message("assistant", "tool_use", "", "Read", {"file_path": "/p/a.py"})
SHELL = Message("assistant", "tool_use", "", "Bash", {"command": "make check"})
PIECES = [
    "we decided ", "because ", "from now on ", "never use ", ". ", "? ", "\n", "- ", "`x = 1`", '"', "for now ", "§",
    "**A** ", "```\n", "1. ", "e.g. ", "… ", "no, ", "ok ", "it turns out ", "the cause was ", "left: ", "'",
]  # fmt: skip
DECIDED = (
    "ok let's go with Postgres instead of Redis, because losing sessions at every failover costs us support calls."
)


def user(text: str) -> Message:
    return Message("user", "text", text)


def agent(text: str) -> Message:
    return Message("assistant", "text", text)


def candidates(*messages: Message) -> list[tuple[str, str]]:
    return [
        (candidate.category, candidate.core)
        for candidate in triage.best_candidates(Ending(list(messages), is_whole=True))
    ]


def after_work(text: str) -> list[Message]:
    return [user("have a look at the module"), READ, EDIT, agent("Done."), user(text), EDIT, agent("Done.")]


def test_a_decision_with_its_reason_is_found_word_for_word():
    assert candidates(*after_work(DECIDED)) == [("decision", DECIDED)]


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("no, don't mock the database in these tests, we always run them against the real postgres", "preference"),
        ("use pnpm instead of npm in this repo, always", "preference"),
        ("from now on please write commit messages in the imperative, we do that everywhere", "preference"),
        ("legal came back: customer data has to stay in eu-central-1, backups included, no exceptions", "constraint"),
        (
            "leave the rates hardcoded for now, their api isn't ready before may. we have to come back to it",
            "tech_debt",
        ),
    ],
)
def test_what_a_user_says_after_something_was_done(text, category):
    assert [category for category, _ in candidates(*after_work(text))] == [category]


@pytest.mark.parametrize(
    "text",
    [
        "no, don't use requests here, we use httpx everywhere",
        "from now on only log warnings and errors",
        "use black with line length 100",
    ],
)
def test_a_rule_in_a_first_prompt_is_noticed(text):
    assert candidates(user(text), EDIT, agent("Done.")) == [("preference", text)]


@pytest.mark.parametrize(
    "text",
    [
        "The page has 1100 lines. Looks inconsistent. Split it up.",
        "add a flag that prints the version and exits",
        "the export fails on the second page since the upgrade, have a look",
    ],
)
def test_a_first_prompt_that_asks_for_work_settles_nothing(text):
    assert candidates(user(text), EDIT, agent("Done.")) == []


def test_a_sentence_of_a_first_prompt_needs_a_cue_of_its_own():
    talk = Conversation(Ending([user("Zulu yankee. From now on xray."), agent("Done.")], is_whole=True))
    first = talk.speeches[0]

    may = [triage._fits_first_prompt(talk, first, line, "preference") for line in first.lines]

    assert may == [False, True]
    assert triage._fits_first_prompt(talk, first, first.lines[0], "runbook")


def test_a_correction_of_what_was_just_done_is_told_as_one():
    messages = after_work("no, don't use print in this repo, we always use the logger everywhere")

    (candidate,) = triage.best_candidates(Ending(messages, is_whole=True))

    assert (candidate.category, candidate.is_correction) == ("preference", True)


def test_a_proposal_counts_only_with_the_users_consent():
    proposal = "I would store amounts as integer cents rather than decimals because the JS side can't represent them."
    messages = [user("next table: payments"), READ, agent(proposal)]

    assert candidates(*messages) == []
    assert candidates(*messages, user("what about refunds?"), agent("Same.")) == []
    assert candidates(*messages, user("yes, do that"), EDIT, agent("Done.")) == [("decision", proposal)]


def test_trouble_its_cause_and_its_end_make_a_runbook():
    solved = "Found it: the certificate expired on Sunday. I renewed it with `certbot renew --cert x`, it works again."
    failed = Message("user", "tool_result", "Exit code 1", "error")

    assert [category for category, _ in candidates(user("the site is down"), SHELL, failed, SHELL, agent(solved))] == [
        "runbook"
    ]
    assert candidates(user("how is the site?"), agent("It is fine.")) == []


def test_much_work_left_unfinished_makes_a_session_summary():
    edits = [Message("assistant", "tool_use", "", "Edit", {"file_path": f"/p/{n}.py"}) for n in range(5)]
    status = agent("14 of 23 files are converted. Left: everything under `src/reports/`, not started yet.")
    goodbye = user("enough for today, we continue tomorrow")

    assert [category for category, _ in candidates(user("replace moment"), *edits, status, goodbye)] == [
        "session_summary"
    ]
    assert candidates(user("replace moment"), edits[0], status, goodbye) == []


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{DECIDED}\n```",
        f"> {DECIDED}",
        f"the log says `{DECIDED}`",
        f'the old ticket says "{DECIDED}"',
        f"    {DECIDED}",
        f"08:01:13 INFO  [elect] {DECIDED}",
        "should we go with Postgres instead of Redis, because of the failovers?",
        "maybe we could go with Postgres instead of Redis, because of the failovers",
        "haha we decided to go with the coffee machine instead of working",
        "we haven't decided yet whether to go with Postgres instead of Redis",
    ],
)
def test_code_quotations_logs_questions_and_maybes_settle_nothing(text):
    assert candidates(*after_work(text)) == []


def test_tool_output_settles_nothing():
    output = Message("user", "tool_result", DECIDED)

    assert candidates(user("show the notes"), SHELL, output, agent("There they are.")) == []


def test_a_lecture_settles_nothing():
    lecture = (
        "Always release in the reverse order, otherwise two threads deadlock. That is by design: it can't be changed."
    )

    assert candidates(user("explain locks to me"), agent(lecture)) == []


def test_options_without_a_choice_settle_nothing():
    options = "Three shapes:\n\n1. A file. Use it if flags are few.\n2. A table instead of a file.\n3. A service."

    assert (
        candidates(user("look at the flags"), READ, agent(options), user("hm, let me ask Jonas"), agent("Sure.")) == []
    )


RULE = "We always release the locks in reverse order because two threads would deadlock otherwise"


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (f"{RULE}.", True),
        (f"- {RULE}.", True),
        (f"- {RULE}.\n- A queue.", False),
        (f"There are two ways:\n- {RULE}.", False),
        (f"There are two ways. {RULE}.", True),
        (f"The readme says {RULE}.", False),
        (f"In general {RULE}.", False),
    ],
)
def test_an_item_of_a_choice_settles_nothing_but_an_item_alone_or_a_sentence_beside_a_choice_may(text, counts):
    talk = Conversation(Ending([user("look at the locks"), READ, agent(text)], is_whole=True))
    speech = talk.speeches[-1]
    (line,) = [line for line in speech.lines if line.sentence.raw.endswith(f"{RULE[1:]}.")]

    assert triage.is_eligible(talk, speech, line) is counts


def test_nobody_spoke_before_the_first_or_after_the_last():
    talk = Conversation(
        Ending([agent("Which one?"), user("the second"), agent("Done."), user("thanks")], is_whole=True)
    )
    first, second, third, last = talk.speeches

    assert [talk.assistant_before(speech) for speech in talk.speeches] == [None, first, None, third]
    assert [talk.reply(speech) for speech in talk.speeches] == [second, None, last, None]
    assert talk.around(first) == [first, second]
    assert talk.around(second) == [first, second, third]
    assert talk.around(last) == [third, last]


@pytest.mark.parametrize(("length", "failed"), [(0, True), (3_900, True), (4_100, False)])
def test_a_command_failed_if_the_beginning_of_what_it_printed_says_so(length, failed):
    printed = Message("user", "tool_result", "." * length + " Traceback")

    assert list(Conversation(Ending([SHELL, printed], is_whole=True)).activity.failed) == ["make check"] * failed


@pytest.mark.parametrize(
    ("sentence", "text", "is_said"),
    [
        ("use the tab key for bars", "bars", True),
        ("alpha bravo charlie delta", "delta charlie alpha", True),
        ("alpha bravo charlie delta", "delta charlie", False),
        ("the tab key", "the tab key", False),
    ],
)
def test_a_text_says_a_sentence_that_has_three_quarters_of_its_longer_words(sentence, text, is_said):
    assert triage.is_repeated_in(sentence, ["other", text]) is is_said


def test_what_is_known_already_is_not_found_again():
    rule = "from now on please don't write sql in handlers in this repo, we always go through the repositories"
    text = "Write no SQL in handlers; always go through the repositories of this repo, from the handlers too. Please."

    assert candidates(*after_work(rule)) != []
    ((_, core),) = candidates(*after_work(rule))
    assert triage.is_repeated_in(core, [text])


def test_what_an_agent_says_after_saving_is_about_the_memory():
    save = Message("assistant", "tool_use", "", "Bash", {"command": "onrecord save decision --draft --json"})
    summary = "I went with Postgres instead of Redis because failovers lose sessions."

    assert candidates(user("look"), READ, EDIT, save, agent(summary)) == []


def test_a_pasted_document_is_not_speech():
    document = "\n".join(f"{DECIDED[:-1]} {number}." for number in range(60))

    assert candidates(*after_work(document)) == []


def test_a_pasted_document_takes_no_room_from_what_was_said():
    document = "\n".join(f"Line {number} of a report that somebody pasted here." for number in range(100))

    assert candidates(*after_work(DECIDED), user(document), READ, agent("Read.")) == [("decision", DECIDED)]


def test_of_long_talk_the_newest_is_read():
    talk = [agent("Renamed the variable in all three places, and the tests pass again. " * 30) for _ in range(5)]

    assert candidates(*after_work(DECIDED), *talk) == [("decision", DECIDED)]
    assert len(Conversation(Ending([user("go on"), *talk], is_whole=True)).speeches) == 3


def test_german_is_understood_too():
    text = "Dann nehmen wir SQLite statt Realm, weil wir die Migrationen selbst in der Hand haben wollen."

    assert candidates(
        user("was nehmen wir denn da?"), READ, agent("Zwei Wege:\n- SQLite\n- Realm"), user(text), EDIT
    ) == [("decision", text)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant"]),
            st.lists(st.sampled_from(PIECES) | st.text(max_size=30), max_size=8).map("".join),
        ),
        max_size=6,
    )
)
def test_evidence_is_always_word_for_word(texts):
    messages = [Message(role, "text", text) for role, text in texts]

    for candidate in triage.best_candidates(Ending(messages, is_whole=True), lambda _: 0.0):
        assert all(any(sentence in message.text for message in messages) for sentence in candidate.evidence)
        assert candidate.core in candidate.evidence


def test_a_message_that_fell_out_of_the_part_is_no_first_prompt():
    """Only the first prompt of a session is a request and nothing else; a part of a session begins anywhere."""
    text = "no, don't use print here, in this repo we always use the logger"
    part = triage.best_candidates(Ending([user(text), EDIT, agent("Done.")], is_whole=False))

    assert [(candidate.category, candidate.is_correction) for candidate in part] == [("preference", True)]


def test_thresholds_decide():
    messages = after_work(DECIDED)

    assert triage.best_candidates(Ending(messages, is_whole=True), lambda _: 1.01) == []
    assert len(triage.best_candidates(Ending(messages, is_whole=True), lambda _: 0.01)) >= 1


def test_no_single_cue_is_enough():
    """A booster, a second cue or something done must come to it: what the spec calls a booster nearby."""
    alone = [["we", "decided"], ["always", "use"], ["turns", "out"], ["for", "now"]]
    assert all(Cues(conversation.load("en"), set(words)).tags(words) for words in alone)

    for words in alone:
        assert candidates(*after_work(" ".join(words) + " xyzzy")) == []


@pytest.mark.parametrize(
    ("text", "raws"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See e.g. this one. Then that.", ["See e.g. this one.", "Then that."]),
        ("Run `a. b` now. Done.", ["Run `a. b` now.", "Done."]),
        ("- first\n- second", ["first", "second"]),
        ("text\n```py\ncode. more\n```\nmore text", ["text", "more text"]),
        ("~~~\nx\n~~~\nafter", ["after"]),
        ("| a | b |\nafter", ["after"]),
        ('they wrote: "We decided to go. Never again do we stay, says Ana." what now?', ["they wrote:", "what now?"]),
        ('call it "job" and see. done', ['call it "job" and see.', "done"]),
        (
            'so:\n"we always go on with the release of the day" they say',
            ["so:", '"we always go on with the release of the day" they say'],
        ),
        ("", []),
    ],
)
def test_sentences(text, raws):
    assert [sentence.raw for sentence in conversation.split(text)] == raws


def test_paths_and_code_are_no_words():
    (sentence,) = conversation.split("add it to docs/api/limits.md and `always use` call()")

    assert [word for word in sentence.words if word != conversation.CODE] == ["add", "it", "to", "and"]
    assert sentence.has_code


@pytest.mark.parametrize(
    ("phrase", "words", "fits"),
    [
        ("use * instead of", "use a b c d e instead of", True),
        ("use * instead of", "use a b c d e f instead of", False),
        ("^ no", "no thanks", True),
        ("^ no", "oh no", False),
        ("here $", "not here", True),
        ("here $", "here not", False),
        ("hardcod*", "it is hardcoded", True),
        ("# of #", "14 of 23 files", True),
        ("# of #", "some of 23 files", False),
    ],
)
def test_phrases(phrase, words, fits):
    cues = Cues({"spelling": {}, "phrases": {"tag": [phrase]}}, set(words.split()))

    assert cues.tags(words.split()) == ({"tag": 1} if fits else {})


def test_a_misspelling_is_read_as_what_it_stands_for():
    cues = Cues({"spelling": {"dont": "don't"}, "phrases": {"tag": ["don't use"]}}, {"dont", "use"})

    assert cues.tags(["dont", "use"]) == {"tag": 1}


def test_languages_are_told_by_their_common_words():
    with open(os.path.join(CUES_FOLDER, "languages.json"), encoding="utf-8") as file:
        assert all(json.load(file).values())


@pytest.mark.parametrize("name", ["de", "en", "es"])
def test_a_word_list_is_well_formed(name):
    with open(os.path.join(CUES_FOLDER, f"{name}.json"), encoding="utf-8") as file:
        data = json.load(file)

    for tag, phrases in data["phrases"].items():
        assert len(phrases) == len(set(phrases)), tag
        for phrase in phrases:
            assert phrase == phrase.lower().strip() and phrase.split()[0] not in ("*", "$"), (tag, phrase)


@pytest.mark.parametrize(
    ("prompt", "is_one"),
    [
        ("No, don't mock the database", True),
        ("looks fine. please never use print here", True),
        ("use pnpm instead of npm", True),
        ("From now on, no emoji", True),
        ("Bitte keine Emojis", True),
        ("mejor usa pytest en vez de unittest", True),
        ("dont touch the config", True),
        ("why not use pnpm instead of npm?", False),
        ("there is no test for the login", False),
        ("add a test for the login", False),
        ("notice the second line", False),
        ("", False),
        ("no, " + "really " * 400, False),
    ],
)
def test_prompts_that_sound_like_a_correction(prompt, is_one):
    assert correction.is_instruction(prompt) is is_one


def tags_of(language: str) -> set[str]:
    with open(os.path.join(CUES_FOLDER, f"{language}.json"), encoding="utf-8") as file:
        return set(json.load(file)["phrases"])


@pytest.mark.parametrize("language", ["de", "es"])
def test_every_language_knows_the_tags_that_triage_asks_for(language):
    english, other = tags_of("en"), tags_of(language)

    assert other - english == set()
    assert {tag for tag in english - other if not tag.startswith("w.")} == set()


def test_code_asks_for_no_tag_that_the_lists_do_not_have():
    boosted = [names for category in CATEGORIES.values() for names in category.boosted]
    rules = triage._RULE_CUES.values()
    asked_for = {tag for tags in (*boosted, *rules, triage._CURES, triage._ENDS, triage._NO_ANSWER) for tag in tags}

    assert asked_for - tags_of("en") == set()


@pytest.mark.parametrize(
    ("category", "text"),
    [
        ("runbook", "The root cause was a stale lock file; fixed by removing it when the service starts."),
        ("constraint", "Turns out the provider does not support partial refunds, by design."),
        ("tech_debt", "TODO: the two parsers should be one, deferred because the release is on Friday."),
    ],
)
@pytest.mark.parametrize("by_user", [True, False])
def test_textbook_sentences_are_noticed(category, text, by_user):
    request = user("the nightly job crashes, can you have a look")
    told = [request, EDIT, agent("Done."), user(text), EDIT, agent("Done.")]
    messages = told if by_user else [request, EDIT, agent(text)]

    assert [candidate.category for candidate in triage.best_candidates(Ending(messages, is_whole=True))] == [category]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("how big is it?", "no, use pnpm, not npm"),
        ("how big is it?", "I told you to use date-fns instead of moment"),
        ("wie groß ist das denn?", "nein, wir nehmen pnpm, nicht npm"),
        ("¿cuánto ocupa esto?", "no, aquí usamos siempre pnpm, nunca npm"),
    ],
)
def test_a_correction_after_an_edit_in_an_earlier_turn_is_noticed_as_one(question, text):
    messages = [user(question), EDIT, agent("Done."), user(question), agent("20 kB."), user(text), EDIT, agent("Done.")]

    (candidate,) = triage.best_candidates(Ending(messages, is_whole=True))

    assert (candidate.category, candidate.core, candidate.is_correction) == ("preference", text, True)
