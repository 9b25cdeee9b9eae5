"""The life sets, how they are measured, and the figures that pages take from them."""

import json
import subprocess
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from bench import data, life, life_sets, results, thresholds, word_sets, words  # noqa: E402
from bench.__main__ import main  # noqa: E402
from bench.data import Prompt, Set  # noqa: E402
from bench.examples import Pool, smaller  # noqa: E402
from bench.learn import Ranked  # noqa: E402
from onrecord.search import coefficients  # noqa: E402

ROOT = Path(__file__).parents[2]
OURS = (*life_sets.CHOOSE, *life_sets.REPORT)


@pytest.mark.parametrize("name", OURS)
def test_a_set_names_its_own_records_and_no_commit_subject(name):
    full, lean, bare = (life_sets.load(name, variant) for variant in ("full", "lean", "none"))
    ids = {record.id for record in full.records}

    assert all(prompt.relevant | prompt.maybe <= ids for prompt in full.prompts)
    assert {len(record.triggers) for record in full.records} == {10}
    assert {len(record.triggers) for record in lean.records} == {3}
    assert {len(record.triggers) for record in bare.records} == {0}
    labels = list(data.lines(data.OWN / name / "commit_labels.jsonl"))
    assert len(labels) == 220
    assert all(label.keys() == {"id", "relevant", "maybe"} and len(label["id"]) == 40 for label in labels)


def test_no_project_is_used_for_two_things():
    assert len({*life_sets.FIT, *life_sets.CHOOSE, *life_sets.REPORT}) == 12


def test_a_superseded_record_is_answered_by_what_replaced_it():
    own = life_sets.load("life-bevy")
    superseded = {record.id for record in own.records if record.superseded_by}

    assert superseded
    assert all(not prompt.relevant & superseded for prompt in own.prompts)


def git(folder, *arguments):
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ("git", "-C", str(folder), *identity, *arguments), capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def test_commit_subjects_are_read_from_a_clone(tmp_path, monkeypatch):
    clone = tmp_path / "clones" / "thing"
    clone.mkdir(parents=True)
    git(clone, "init", "-q")
    git(clone, "commit", "-q", "--allow-empty", "-m", "Close the socket twice")
    own = tmp_path / "sets" / "life-thing"
    own.mkdir(parents=True)
    (own / "project.json").write_text(json.dumps({"repository": "some/thing", "commit": ""}))
    (own / "records.jsonl").write_text("")
    (own / "prompts.jsonl").write_text("")
    label = {"id": git(clone, "rev-parse", "HEAD"), "relevant": [], "maybe": []}
    (own / "commit_labels.jsonl").write_text(json.dumps(label) + "\n")
    monkeypatch.setattr(data, "OWN", tmp_path / "sets")
    monkeypatch.setattr(life_sets, "CACHE", tmp_path / "cache")

    assert not life_sets.has_subjects("life-thing")
    assert life_sets.rebuild("life-thing", tmp_path / "clones") == 1

    assert [prompt.text for prompt in life_sets.load("life-thing").prompts] == ["Close the socket twice"]
    with pytest.raises(FileNotFoundError, match="no clone of some/thing in"):
        life_sets.rebuild("life-thing", tmp_path)


def test_a_young_store_has_the_answers_of_its_own_records_only():
    own = life_sets.load("life-pandas", "lean")
    young = smaller(own, 12)
    ids = {record.id for record in young.records}

    assert len(ids) == 12
    assert all(prompt.relevant <= ids for prompt in young.prompts)
    assert 0 < len(young.answerable) < len(young.unanswerable)
    assert young == smaller(own, 12)


def ranked(*matches, relevant=1, has_maybe=False, kind="task"):
    probabilities, labels, maybe = (np.array(column) for column in zip(*matches))
    places = np.arange(len(matches))
    about = (np.zeros(len(matches), dtype=int), places, places)
    pool = Pool("p", kind, np.zeros((len(matches), 1)), labels, maybe, *about, relevant, has_maybe)
    return Ranked(probabilities, labels.astype(bool), maybe.astype(bool), pool)


def test_what_is_shown_at_some_bars():
    served = ranked((0.9, True, False), (0.8, False, False), (0.5, True, False))
    pointed = ranked((0.5, True, False), (0.1, False, False))
    disturbed = ranked((0.9, False, False), relevant=0)
    quiet = ranked((0.2, False, False), relevant=0)
    defensible = ranked((0.9, False, True), relevant=0, has_maybe=True)

    shown = thresholds.show([served, pointed, disturbed, quiet, defensible], 0.7, 0.4)

    assert (shown.prompts, shown.answerable, shown.idle, shown.rules) == (5, 2, 2, 4)
    assert (shown.precision, shown.precision_with_maybe) == (0.25, 0.5)
    assert (shown.served, shown.reached, shown.disturbed) == (0.5, 1.0, 0.5)
    assert (shown.pointers, shown.pointed_precision, shown.pointed_idle) == (2, 1.0, 0.0)


def test_bars_are_the_lowest_at_which_enough_is_right():
    right = [ranked((step / 100, True, False)) for step in range(40, 100)]
    wrong = [ranked((0.6, False, False)) for _ in range(15)]
    idle = [ranked((0.45, False, False), relevant=0) for _ in range(4)]

    typed = [ranked((0.55, False, False), relevant=0, kind=word_sets.KIND) for _ in range(20)]
    typed += [ranked((0.9, False, True), relevant=0, has_maybe=True, kind=word_sets.KIND)]

    chosen = thresholds.choose([*right, *wrong, *idle, *typed])

    # From 0.61 on nothing wrong is a rule; from 0.56 on no typed prompt that is idle gets a pointer.
    assert (chosen.threshold, chosen.pointer) == (0.61, 0.56)


def test_the_hook_itself_is_measured(monkeypatch):
    own = life_sets.load("life-pandas", "full")
    trigger = next(record for record in own.records if not record.superseded_by)
    asked = Prompt("a", trigger.triggers[3], "task", frozenset([trigger.id]))
    idle = Prompt("b", "thanks, looks good", "none", frozenset())
    monkeypatch.setattr(life_sets, "load", lambda name, variant: Set(name, own.records, (asked, idle)))

    counts = life.count("life-pandas", "full")
    figures = life.summary([counts], ("task", "none"))

    assert (figures["prompts"], figures["answerable"], figures["idle"]) == (2, 1, 1)
    assert (figures["served"], figures["disturbed"], figures["hit 1"]) == (1.0, 0.0, 1.0)
    assert figures["intervals"]["precision"][1] == 1.0


def test_the_page_gives_the_figures_that_were_measured():
    measured = results.load("life")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")

    headline = words.headline(results.load("words"), measured)

    assert life.table(measured["variants"]) in page
    assert [row for row in headline if row not in page] == []
    assert tuple(measured["projects"]) == life_sets.REPORT


def test_the_figures_were_measured_with_the_bars_that_are_shipped():
    measured = results.load("life")

    assert (measured["threshold"], measured["pointer"]) == (coefficients.THRESHOLD, coefficients.POINTER)


def test_the_ranking_beats_bm25_in_every_project_of_the_report():
    for listed in results.load("life")["projects"].values():
        for figures in listed.values():
            assert figures["hit 1"] > figures["bm25 hit 1"]
            assert figures["hit 3"] > figures["bm25 hit 3"]


def test_life_says_when_commit_subjects_are_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(life_sets, "CACHE", tmp_path)
    monkeypatch.setattr(life, "measure", lambda names: {"variants": {}})

    assert main(["life", "--choose"]) == 0

    assert "life-bevy: measured without commit subjects" in capsys.readouterr().err
