"""Triggers: one that is typed word for word is sure, and more of them never make a record less probable."""

from __future__ import annotations

import pytest

from onrecord.search import coefficients, document, index, query, rank
from onrecord.search.candidates import Filter
from tests.records import decision, put

TRIGGERS = (
    "start working on task 008",
    "what order do the milestones have",
    "pick up the next ticket of the board",
    "which part comes after the import",
    "begin with the following item",
    "continue the plan where it stopped",
    "the next phase of the roadmap",
    "who decides what is built first",
    "is there a list of open tasks",
    "where is the backlog kept",
)


def probability(root, prompt):
    matches = rank.find(index.in_memory(root), query.parse_prompt(prompt), Filter("auto"))
    return next((match.probability for match in matches if match.id == "tasks"), 0.0)


def store(folder, count):
    put(
        str(folder),
        decision("tasks", "Tasks are done in the order of the plan", "See plan.md.", triggers=TRIGGERS[:count]),
    )
    put(str(folder), decision("other", "Times are kept in UTC", "They are shown in the zone of the port."))
    return str(folder)


@pytest.mark.parametrize("typed", ["start working on task 008", "Start working on task 006!", "start working on task"])
@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_trigger_typed_but_for_numbers_is_sure(tmp_path, typed, count):
    assert probability(store(tmp_path, count), typed) >= rank.SURE


def test_a_trigger_in_a_longer_prompt_is_sure_where_it_is_a_passage(tmp_path):
    assert probability(store(tmp_path, 3), "Looks good to me, thanks. Start working on task 012.") >= rank.SURE


@pytest.mark.parametrize("prompt", ["milestones order please", "the next ticket", "tasks in order", "plan the import"])
def test_ten_triggers_never_lower_what_three_give(tmp_path, prompt):
    three, ten = (probability(store(tmp_path / str(count), count), prompt) for count in (3, 10))

    assert ten >= three - 0.02


def test_records_on_one_subject_do_not_silence_each_other(tmp_path):
    found = []
    for count in (1, 6):
        root = str(tmp_path / str(count))
        for number in range(count):
            put(root, decision(f"lag-{number}", "Kafka consumer lag after a deploy", f"Step {number} of the runbook."))
        matches = rank.find(
            index.in_memory(root), query.parse_prompt("kafka consumer lag after the deploy"), Filter("auto")
        )
        found.append(matches[0].probability)

    alone, crowd = found
    assert crowd >= alone - 0.1


CHOSEN_ON = (
    "fix the tests", "run the build", "what does this do", "why is this failing", "add a button to the page",
    "update the readme", "commit and push the changes", "refactor this function", "review this pull request",
    "write unit tests for this", "clean up the code", "deploy to production", "install the dependencies",
    "check the logs", "start the dev server", "merge the main branch", "explain this code", "make it faster",
    "add error handling", "there is a type error",
)  # fmt: skip
"""Guesses of what people type anywhere, by which the everyday words were chosen."""

REPORTED = (
    "run the tests", "fix the lint errors", "create a new component", "why does the build fail",
    "open a pull request", "add logging", "write the documentation", "remove the unused imports",
    "rebase onto main", "how do I run this locally", "rename this variable", "add comments to the code",
    "the page does not load", "summarize what you changed", "upgrade the packages", "make the ui look nicer",
    "debug this crash", "add a new endpoint", "what is left to do", "continue with the next step",
)  # fmt: skip
"""As many that were written before the words and not looked at: before, 19 of these spoke, and 15 of the others."""

HONEST = (
    ("uploads", "Uploads go to S3", "Files of users are stored in a bucket."),
    ("pnpm", "Packages are added with pnpm", "There is one lockfile."),
    ("limits", "The API allows 90 calls a minute", "Then it answers 429."),
    ("tests", "Integration tests run in Docker", "Start the containers before."),
    ("deploy", "Deploys need a green pipeline", "Nobody deploys on Friday."),
)


def spoken_at(folder, triggers, prompts, rule="Anything goes."):
    """The prompts at which a record with these triggers, which is about none of them, is shown."""
    for record in HONEST:
        put(str(folder), decision(*record))
    put(str(folder), decision("tasks", "Anything", rule, triggers=tuple(triggers)))
    return [prompt for prompt in prompts if probability(str(folder), prompt) >= coefficients.POINTER]


@pytest.mark.parametrize(("guesses", "most"), [(CHOSEN_ON, 0), (REPORTED, 2)], ids=["chosen on", "reported"])
def test_a_guessed_prompt_as_trigger_speaks_at_hardly_any(tmp_path, guesses, most):
    spoken = [guess for number, guess in enumerate(guesses) if spoken_at(tmp_path / str(number), [guess], [guess])]

    assert len(spoken) <= most


@pytest.mark.parametrize("guesses", [CHOSEN_ON, REPORTED], ids=["chosen on", "reported"])
def test_triggers_about_everything_speak_at_nothing_even_if_the_text_says_all_their_words(tmp_path, guesses):
    assert spoken_at(tmp_path, guesses[:16], guesses[:16], rule=f"Anything goes: {', '.join(guesses)}.") == []


def test_one_trigger_of_everyday_words_counts_beside_others_and_two_do_not(tmp_path):
    own = ("which approver signs a quota change", "raise the quota of a tenant")
    for number in (1, 2):
        triggers = (*own, *CHOSEN_ON[:number])
        record = decision(
            "quotas", "Quotas are changed by the approver", "A tenant asks in the form.", triggers=triggers
        )

        specific = document.specific_triggers(record)

        assert specific == (triggers if number == 1 else own)


def test_a_record_speaks_at_no_guess_but_the_one_it_has(tmp_path):
    spoken = spoken_at(tmp_path, ["anything at all", CHOSEN_ON[0]], CHOSEN_ON)

    assert set(spoken) <= {CHOSEN_ON[0]}


def test_everyday_words_count_where_the_record_says_them(tmp_path):
    put(str(tmp_path), decision("tasks", "Tests run in Docker", "docker compose first.", triggers=("run the tests",)))
    put(str(tmp_path), decision("other", "Times are kept in UTC", "They are shown in the zone of the port."))

    assert probability(str(tmp_path), "run the tests") >= rank.SURE


def test_a_trigger_that_joins_the_others_does_not_make_them_one_subject():
    guesses = [frozenset({f"a{number}", f"b{number}"}) for number in range(9)]
    join = frozenset().union(*guesses)

    assert document.are_about_anything([*guesses, join], own_words=join)
    assert not document.are_about_anything([*guesses[:8], join], own_words=join)
    assert document.are_about_anything(guesses[:6], own_words=frozenset())
    assert not document.are_about_anything(guesses[:5], own_words=frozenset())
