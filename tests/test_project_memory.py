"""A project's memory as one object: what its names mean, what a search says, and which stores it reads."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from onrecord import paths, project, state_file
from onrecord.errors import Ambiguous, BadInput, NoStore, NotFound, Unwritable
from onrecord.project import Project
from onrecord.recall import trust
from onrecord.settings import Settings
from onrecord.store.store import Store
from tests.git_project import GitProject
from tests.records import put, sample

RULE = {"context": "c", "decision": "All jobs are rows of the table jobs.", "rationale": "r"}


@pytest.fixture
def ferry(tmp_path):
    folder = tmp_path / "ferry"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    return Project(str(folder))


@pytest.fixture
def known(ferry):
    ferry.save("decision", {"title": "Jobs are rows", **RULE})
    ferry.save("decision", {"title": "Jobs have a limit", **RULE, "decision": "A job ends after ten minutes."})
    put(paths.user_store(), sample("decision", id="tabs-not-spaces", title="Tabs, not spaces"))
    return Project(ferry.root)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("jobs-are-rows", "decisions/jobs-are-rows.json"),
        ("jobs-are", "decisions/jobs-are-rows.json"),
        ("decision/jobs-have-a-limit", "decisions/jobs-have-a-limit.json"),
        ("limit", "decisions/jobs-have-a-limit.json"),
        ("tabs-not-spaces", "decisions/tabs-not-spaces.json"),
        ("tabs", "decisions/tabs-not-spaces.json"),
    ],
)
def test_a_name_means_a_record_of_any_store_of_the_project(known, name, path):
    found = known.find(name)

    assert (found.path, found.lesson) == (path, None)
    assert found.root == (paths.user_store() if "tabs" in path else known.store.root)


def test_a_name_of_several_records_is_ambiguous_and_one_of_none_is_not_found(known):
    with pytest.raises(Ambiguous) as several:
        known.find("jobs")
    with pytest.raises(NotFound):
        known.find("kafka")

    assert "jobs-are-rows" in str(several.value) + several.value.fix
    assert "jobs-have-a-limit" in str(several.value) + several.value.fix


def test_a_name_may_mean_an_entry_of_a_knowledge_bank(known):
    bank = Path(known.root, "docs", "knowledge-bank")
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("### Rename files last\n\nWrite aside, then rename.\n")

    found = known.find("rename-files")

    assert (found.root, found.lesson.name if found.lesson else "") == ("", "rename-files-last")
    assert [lesson.path for lesson in known.lessons_named("RENAME")] == [found.path]
    assert known.lessons_named("") == []


def test_a_search_that_finds_nothing_says_why(known, ferry, tmp_path):
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    answers = known.search("jobs rows")
    none = known.search("kubernetes")

    assert answers[0].id == "jobs-are-rows"
    assert (answers.note, answers.note_with("; or ask"), answers.nearest) == ("", "", [])
    assert list(none) == []
    assert none.note == (
        "Nothing on record is probably about this; try a synonym, the technical term or a name from the code."
    )
    assert none.note_with("; or ask") == none.note[:-1] + "; or ask."


def test_a_search_without_any_record_says_so(ferry):
    os.makedirs(os.path.join(ferry.root, paths.STORE))

    results = Project(ferry.root).search("jobs")

    assert (results.note, results.note_with("; or ask")) == (
        "There are no records yet, so there is nothing to find.",
    ) * 2


def test_a_hit_says_where_it_is_from(known):
    hit = known.search("jobs rows")[0]
    (own,) = [one for one in known.search("tabs not spaces") if one.id == "tabs-not-spaces"]

    assert (hit.source, hit.path, hit.category) == (
        "project",
        ".claude/memory/decisions/jobs-are-rows.json",
        "decision",
    )
    assert hit.location == (known.store.root, "decisions/jobs-are-rows.json")
    assert (own.source, own.path) == ("user", "~/.claude/memory/decisions/tabs-not-spaces.json")
    assert (hit.hidden_by, hit.misfit, hit.shown, hit.mark, hit.is_accepted) == ("", "", "", "", True)
    assert hit.memory.title == "Jobs are rows"
    assert repr(hit) == f"Hit('jobs-are-rows', probability={hit.probability:.2f})"
    assert repr(known) == f"Project({known.root!r})"


def test_a_search_gives_ten_results_unless_another_number_is_wanted(ferry):
    for number in range(12):
        put(ferry.store.root, sample("decision", id=f"kafka-{number}", title=f"Kafka consumer {number}"))

    assert len(ferry.search("kafka consumer")) == 10
    assert len(ferry.search("kafka consumer", 11)) == 11


@pytest.mark.parametrize(
    ("terms", "probability", "coverage", "fits"),
    [
        (3, project_fits, coverage, is_fit)
        for project_fits, coverage, is_fit in (
            (0.0, 0.999, True),
            (0.0, 0.998, False),
            (1.0, 0.0, True),
            (0.0, 0.0, False),
        )
    ],
)
def test_a_match_fits_by_its_probability_or_because_it_has_all_words(terms, probability, coverage, fits):
    match = SimpleNamespace(probability=probability, features={"coverage": coverage})

    assert project.fits(match, terms) is fits


def test_a_search_of_few_words_is_measured_by_another_threshold_than_a_long_one():
    from onrecord.search.coefficients import SEARCH_FITS, SEARCH_FITS_LONG

    between = (SEARCH_FITS + SEARCH_FITS_LONG) / 2
    match = SimpleNamespace(probability=between, features={})

    assert [project.fits(match, terms) for terms in (1, 3, 4, 20)] == [
        *[between >= SEARCH_FITS] * 2,
        *[between >= SEARCH_FITS_LONG] * 2,
    ]
    for terms, threshold in ((3, SEARCH_FITS), (4, SEARCH_FITS_LONG)):
        assert project.fits(SimpleNamespace(probability=threshold, features={}), terms)
        assert not project.fits(SimpleNamespace(probability=threshold - 0.001, features={}), terms)


def test_without_a_store_others_are_searched_or_there_is_an_error(ferry):
    with pytest.raises(NoStore) as caught:
        ferry.require_a_store()
    assert caught.value.message == f"there is no memory at {ferry.store.root}"
    assert caught.value.fix == "onrecord init; saving the first record makes one, too"

    put(paths.user_store(), sample("decision"))
    assert Project(ferry.root).require_a_store() == (
        f"there is no memory at {ferry.store.root}; only your own was searched"
    )
    put(ferry.store.root, sample("decision"))
    assert Project(ferry.root).require_a_store() == ""


def test_a_path_that_is_no_folder_is_no_project(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInput) as caught:
        Project(str(tmp_path / "file"))

    assert caught.value.message == f"'{tmp_path}/file' is not a directory"
    assert caught.value.fix == "name the project's directory with --project DIR"


def test_the_stores_of_a_project_in_their_order(known):
    nested = Path(known.root, "api", paths.STORE)
    put(str(nested), sample("decision", id="api"))

    assert [ref.prefix for ref in known.store_refs] == [".claude/memory/", "~/.claude/memory/"]
    assert [ref.root for ref in known.store_refs] == [known.store.root, paths.user_store()]


def test_what_keeps_a_record_from_applying_here(ferry):
    Path(ferry.root, ".git", "HEAD").write_text("ref: refs/heads/main\n")
    from onrecord import scopes

    packed = scopes.pack(scopes.Scope(branches=("release/*",)))

    assert ferry.misfit(ferry.store, packed) == "branch release/*"
    assert ferry.misfit(ferry.store, "") == ""


def test_the_first_record_of_a_person_makes_a_store_that_is_accepted(ferry, monkeypatch):
    accepted = []
    monkeypatch.setattr(trust, "accept", accepted.append)
    os.makedirs(paths.user_store())
    Path(paths.user_store(), paths.CONFIG).write_text('{"trust": {"clones": "ask"}}')

    Project(ferry.root).save("decision", {"title": "Jobs are rows", **RULE})
    Project(ferry.root).save("decision", {"title": "Queues are tables", **RULE, "decision": "Each queue is a table."})

    assert accepted == [ferry.root]
    assert Path(ferry.store.root, ".gitattributes").exists()


def test_a_store_that_cannot_be_accepted_is_made_all_the_same(ferry, monkeypatch):
    def fails(folder):
        raise Unwritable("cannot write the list")

    monkeypatch.setattr(trust, "accept", fails)
    own = Settings()
    own.take("user", True, {"trust.clones": "ask"})

    project.accept_new_store(Store(ferry.store.root), own)

    assert state_file.take_lacking() == ["cannot write the list"]
    assert [row[1] for row in state_file.recent_failures()] == ["trust"]


@pytest.mark.parametrize(("clones", "by_agent"), [("host", False), ("ask", True)])
def test_a_store_is_not_accepted_for_an_agent_or_where_nobody_is_asked(ferry, monkeypatch, clones, by_agent):
    monkeypatch.setattr(trust, "accept", pytest.fail)
    if by_agent:
        monkeypatch.setenv("CLAUDECODE", "1")
    own = Settings()
    own.take("user", True, {"trust.clones": clones})

    project.accept_new_store(Store(ferry.store.root), own)


def test_a_store_beside_others_of_a_clone_is_not_accepted(tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "accept", pytest.fail)
    clone = GitProject(tmp_path / "clone")
    clone.write("api/main.py", "")
    clone.commit()
    own = Settings()
    own.take("user", True, {"trust.clones": "ask"})
    put(str(clone.root / paths.STORE), sample("decision"))

    project.accept_new_store(Store(str(clone.root / "api" / paths.STORE)), own)


def test_where_nothing_fits_the_three_nearest_are_named(ferry, monkeypatch):
    for number in range(5):
        put(ferry.store.root, sample("decision", id=f"kafka-{number}", title=f"Kafka consumer {number}"))
    best = [hit.id for hit in ferry.search("kafka consumer")]
    monkeypatch.setattr(project, "fits", lambda match, term_count: False)

    results = ferry.search("kafka consumer")

    assert (list(results), [hit.id for hit in results.nearest]) == ([], best[:3])
    assert results.note.startswith("Nothing on record is probably about this")


def test_a_hit_says_why_it_matches_and_where(known):
    results = known.search("jobs rows")
    hit = results[0]

    assert hit.reasons(results) and all(isinstance(reason, str) for reason in hit.reasons())
    assert "<rows>" in hit.snippet(("<", ">")) and "<" not in hit.snippet()


UV = {
    "title": "Add packages with uv add, never pip install",
    "content": {
        "context": "pip leaves the lock file as it was",
        "decision": "Run `uv add NAME`, never `pip install`.",
        "rationale": ["The deploy misses the package."],
    },
    "triggers": ["pip install tzdata", "add a package"],
}


def test_a_prompt_and_a_command_recall_what_a_hook_would_show(ferry):
    name = ferry.save("decision", UV).path
    ferry = Project(ferry.root)

    by_prompt = ferry.recall("which tool do we use to add a package, pip install or uv add?")
    by_command = ferry.recall(command="pip install tzdata")

    assert [(hit.location[1], bool(hit.shown)) for hit in by_prompt] == [(name, True)]
    assert [hit.location[1] for hit in by_command] == [name]
    assert ferry.recall("translate the footer into Danish") == []
    assert ferry.recall(command="ls") == []


def test_a_search_in_one_store_reads_that_one_alone_and_what_does_not_apply_there(known):
    Path(known.root, ".git", "HEAD").write_text("ref: refs/heads/main\n")
    scope = {"branches": ["release/*"]}
    put(paths.user_store(), sample("decision", id="jobs-own", title="Jobs are rows in my projects", scope=scope))
    put(known.store.root, sample("decision", id="jobs-late", title="Jobs are rows of a release", scope=scope))
    own = paths.StoreRef(paths.user_store(), paths.USER_PREFIX)

    everywhere = {hit.id: hit.misfit for hit in known.search("jobs rows")}
    in_own = {hit.id: hit.misfit for hit in known.search("jobs rows", only=own)}

    assert everywhere["jobs-late"] == "branch release/*" and everywhere["jobs-are-rows"] == ""
    assert "jobs-own" not in everywhere
    assert in_own == {"jobs-own": "branch release/*"}


def test_results_come_the_best_first(known):
    hits = known.search("jobs rows limit")

    assert len(hits) > 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_question_about_the_work_is_answered_with_session_summaries(ferry):
    content = {"goal": "Move the invoices", "outcome": "partial", "completed": ["Schema"], "next_actions": ["Cut over"]}
    for number in (1, 2):
        moment = f"2026-03-0{number}T09:30:00Z"
        record = sample(
            "session_summary", id=f"invoices-{number}", content=content, title=f"Move the invoices {number}"
        )
        put(ferry.store.root, record._replace(created_at=moment, updated_at=moment))

    hits = ferry.search("where did we leave off?")

    assert hits and {hit.category for hit in hits} == {"session_summary"}
    assert hits[0].id == "invoices-2"
    assert ferry.work_note("where did we leave off?") != ""
    assert ferry.work_note("kafka consumer") == ""


def test_stores_near_a_text_or_a_file_are_those_of_the_folders_that_it_names(known):
    nested_store = os.path.join(known.root, "api", paths.STORE)
    put(nested_store, sample("decision", id="api-rule", title="The api answers in two seconds"))

    near_file = known.stores_near(files=[os.path.join(known.root, "api", "main.py")])
    far = known.stores_near()

    assert [ref.root for ref in near_file.store_refs] == [nested_store, known.store.root, paths.user_store()]
    assert [ref.root for ref in far.store_refs] == [known.store.root, paths.user_store()]


def test_a_store_that_the_project_does_not_read_can_be_searched_alone(known, tmp_path):
    other = paths.StoreRef(str(tmp_path / "other"), "other:")
    put(other.root, sample("decision", id="elsewhere"))

    with_other, without = known.stores_for(other), known.stores_for(None)

    assert [ref.root for ref in without.store_refs] == [known.store.root, paths.user_store()]
    assert [ref.root for ref in with_other.store_refs] == [known.store.root, paths.user_store(), other.root]
    assert [ref.root for ref in known.stores_for(known.store_refs[0]).store_refs] == [
        known.store.root,
        paths.user_store(),
    ]


def test_a_record_with_the_id_of_one_in_the_project_is_hidden_by_it(known):
    put(paths.user_store(), sample("decision", id="jobs-are-rows", title="Jobs are rows of mine"))

    hidden = known.hidden(Store(paths.user_store()), ["jobs-are-rows", "tabs-not-spaces"])

    assert list(hidden) == ["jobs-are-rows"]
    assert hidden["jobs-are-rows"].endswith("decisions/jobs-are-rows.json")
