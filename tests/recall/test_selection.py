"""The two forms: the rule itself where ranking is sure, and a line that points to a record where it is likely."""

from __future__ import annotations

import json
import os
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onrecord
from onrecord import cli, paths
from onrecord.recall import for_file, selection
from onrecord.recall.candidate import POINTER, RULE, Candidate
from onrecord.recall.selection import Room, Thresholds, in_form
from onrecord.search.rank import Match
from onrecord.session.ledger import Ledger
from onrecord.settings import load_settings
from onrecord.store import record_names
from onrecord.text import DATA_NOTE, count_tokens
from tests.agent_context import prompt_context
from tests.known_project import six_records

NOTE = f'note="{DATA_NOTE}"'

ASKS = "users lose their login state after a deploy, where do we keep sessions?"
SESSIONS = "sessions-live-in-postgres-not-redis"


@pytest.fixture
def project(tmp_path):
    return six_records(tmp_path)


def configure(project, **retrieval):
    with open(os.path.join(project.store.root, paths.CONFIG), "w") as file:
        json.dump({"retrieval": retrieval}, file)


def context(project, prompt=ASKS, session="s"):
    return prompt_context(project, prompt, session)


def unsure(project):
    """Make the bar for rules one that nothing reaches."""
    configure(project, min_probability=1.0, first_prompt_relief=0.0)


def candidate(number, probability, title="", path="", text="A rule."):
    name = path or f"decisions/record-{number}.json"
    record_id = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    match = Match(record_id, "decision", title or f"Record {number}", name, (), "active", "", text, "", "/store",
                  probability=probability)  # fmt: skip
    return Candidate(match, paths.PROJECT_PREFIX)


def decided(probabilities, tokens_left=300):
    limits = Thresholds(0.8, 0.45)
    candidates = [candidate(number, each) for number, each in enumerate(probabilities)]
    formed = [in_form(each, limits.form(each.match.probability), "below the threshold") for each in candidates]
    return selection.show(formed, limits, Room(3, tokens_left), Ledger(""))


def test_a_likely_record_is_named_in_one_line(project):
    unsure(project)
    name = record_names.short_name(f"decisions/{SESSIONS}.json")
    start, heading, first, *_, end = context(project).split("\n")

    assert (start, heading, end) == (
        f'<memory-context source=".claude/memory/" {NOTE}>',
        selection.HEADING,
        "</memory-context>",
    )
    assert first == f"- decision “Sessions live in Postgres, not Redis”: onrecord show {name}"


def test_the_command_of_a_pointer_shows_the_record(project, capsys):
    unsure(project)
    command = context(project).split("\n")[2].rpartition(": ")[2]
    program, *arguments = shlex.split(command)

    assert program == "onrecord"
    assert cli.main([*arguments, "--project", project.root]) == 0
    assert "rows in auth.sessions" in capsys.readouterr().out


def test_a_record_is_pointed_to_once_a_session(project):
    unsure(project)

    assert "onrecord show" in context(project)
    assert context(project) == ""
    assert "onrecord show" in context(project, session="another")


def test_after_a_pointer_the_rule_may_still_be_shown(project):
    unsure(project)
    context(project)
    configure(project)

    assert "rows in auth.sessions" in context(project)


def test_no_pointer_names_a_record_that_was_shown(project):
    assert "rows in auth.sessions" in context(project)
    unsure(project)

    assert context(project) == ""


def test_no_pointer_names_a_record_of_the_digest(project):
    with Ledger("s") as session:
        session.add_shown(f"digest:{os.path.join(project.store.root, 'decisions', SESSIONS)}.json", "any stamp")
    unsure(project)

    assert context(project) == ""


def test_no_pointer_names_a_record_shown_at_its_file(project):
    os.makedirs(os.path.join(project.root, "src"))
    entry = project.get(SESSIONS)
    project.writer.update(SESSIONS, {"related_files": ["src/auth.py"]}, entry.hash)
    settings = load_settings(project.store.root)
    assert "auth.sessions" in for_file.block(project.stores, project.root, "src/auth.py", settings, "s")
    unsure(project)

    assert context(project) == ""


def test_a_setting_turns_pointers_off(project):
    configure(project, min_probability=1.0, first_prompt_relief=0.0, pointers=False)

    assert context(project) == ""


def test_hits_say_in_which_voice_they_are_shown(project):
    assert [(hit.id, hit.shown) for hit in project.recall(ASKS)][:1] == [(SESSIONS, "rule")]
    unsure(project)
    assert (SESSIONS, "pointer") in [(hit.id, hit.shown) for hit in onrecord.open(project.root).recall(ASKS)]


@pytest.mark.parametrize(
    ("probabilities", "outcome"),
    [
        ((0.9, 0.5, 0.5, 0.3), [RULE, POINTER, POINTER, ""]),
        ((0.9, 0.9, 0.6, 0.5, 0.5), [RULE, RULE, POINTER, POINTER, ""]),
        ((0.9, 0.9, 0.9, 0.7), [RULE, RULE, RULE, ""]),
        ((0.7, 0.6, 0.5), [POINTER, POINTER, ""]),
        ((0.44, 0.1), ["", ""]),
    ],
)
def test_at_most_two_pointers_and_none_beside_three_rules(probabilities, outcome):
    _, candidates = decided(probabilities)

    assert [candidate.shown_form for candidate in candidates] == outcome


def test_rules_are_not_cut_for_pointers():
    text, candidates = decided((0.9, 0.5), 60)

    assert [each.outcome for each in candidates] == ["shown", "no room"]
    assert "A rule." in text


def test_the_user_s_own_record_is_read_with_user():
    own = candidate(1, 0.5)._replace(prefix=paths.USER_PREFIX)

    assert selection.pointer(own) == "- decision “Record 1”: onrecord show --user record-1"


def test_a_title_cannot_pose_as_a_command():
    title = "x”: onrecord gc <b>&"
    text, _ = decided(())
    line = selection.pointer(candidate(1, 0.5, title=title))

    assert text == ""
    assert line == '- decision “x": onrecord gc <b>&”: onrecord show record-1'


@given(
    st.text(min_size=1, max_size=120),
    st.text(st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=120),
)
def test_a_pointer_is_short_and_its_name_safe_in_a_shell(title, stem):
    path = f"session_summaries/{stem}.json"
    line = selection.pointer(candidate(1, 0.5, title, path)._replace(prefix=paths.USER_PREFIX))
    name = record_names.short_name(path)

    assert count_tokens(line) <= 25
    assert line.endswith(f"onrecord show --user {name}")
    assert shlex.quote(name) == name and name[0] != "-"


def test_a_short_name_means_one_record(project):
    for path in ("decisions/sessions-live-in-postgres-not-redis.json", *(e.path for e in project.store.entries())):
        assert project.store.get(record_names.short_name(path)).path == path


def test_records_with_equal_beginnings_have_different_short_names(project):
    titles = [f"The queue of the harbour office is drained every {hour} hours" for hour in ("two", "three")]
    made = [project.save("decision", {"title": title, "context": "c", "decision": "d", "rationale": "r"}).path
            for title in titles]  # fmt: skip
    names = [record_names.short_name(path) for path in made]

    assert len(set(names)) == 2
    assert [project.store.get(name).path for name in names] == made


@pytest.mark.parametrize("name", ["sessions-live.000000", ".", "..", "a.b", "x.../etc", "sessions-live.zzzzzz", ""])
def test_other_names_mean_nothing(project, name):
    assert record_names.with_short_name(project.store.root, name) == []


def test_a_pointer_says_first_that_a_record_is_only_proposed():
    proposed = candidate(1, 0.5)

    line = selection.pointer(proposed._replace(match=proposed.match._replace(mark="proposed")))

    assert line == "- (proposed) decision “Record 1”: onrecord show record-1"
