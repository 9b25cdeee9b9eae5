import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.search import candidates, query, word_features
from onrecord.search.candidates import Corpus


def seen(prompt, title="", tags="", triggers="", body="", count=50, frequency=None, alike=None):
    asked = query.parse(prompt)
    known = frequency or dict.fromkeys(asked.terms, 1)
    weighed = candidates.weighted(asked, Corpus(count, 8, 60, known, known), alike or {})
    return dict(zip(word_features.NAMES, word_features.measure(weighed, title, tags, triggers, body)))


def test_words_that_stand_together_weigh_more_than_words_apart():
    near = seen("rotate signing key", body="first rotat the sign kei and restart")
    far = seen("rotate signing key", body="rotat " + "x " * 30 + "sign " + "x " * 30 + "kei")

    assert near["coverage"] == far["coverage"] == pytest.approx(1)
    assert near["window"] == pytest.approx(1)
    assert far["window"] == pytest.approx(1 / 3)
    assert near["adjacent"] == pytest.approx(0.5)
    assert far["adjacent"] == 0


def test_a_title_that_was_asked_for_word_by_word():
    found = seen("how to rotate the signing key safely", title="rotat sign kei")

    assert found["title_asked"] == 1
    assert found["in_title"] == pytest.approx(3 / 4)


def test_a_term_that_begins_alike_counts_as_the_one_asked_for():
    found = seen("auth", body="authent is hard", frequency={"authent": 3}, alike={"auth": ["authent"]})

    assert found["coverage"] == pytest.approx(1)


def test_the_best_trigger_counts():
    found = seen("customers get two emails", triggers="slow queri | custom get two email twice")

    assert found["trigger_asked"] == pytest.approx(3 / 5)
    assert found["in_trigger"] == pytest.approx(1)


def test_rarity_does_not_collapse_in_a_store_of_three():
    assert candidates.rarity(1, 3) > 0.8 * candidates.rarity(0, 3)
    assert candidates.rarity(1, 50_000) > 2 * candidates.rarity(10_000, 50_000)


def test_nothing_in_common_is_all_zero_but_for_query_and_store():
    found = seen("rotate signing key", title="unrel titl", body="noth here")

    assert {name for name, value in found.items() if value} == {"length", "store"}


def test_all_features_of_one_example():
    """Four of five concepts match; the best stretch of the body begins at its 26th word, after two in the title."""
    found = seen(
        "rotate the signing key safely for `customers`",
        title="rotat kei monthli",
        tags="secur kei",
        triggers="how do i rotat | lost kei",
        body="intro word " * 12 + "first rotat the sign kei then rotat safe and restart it",
        frequency={"rotat": 2, "sign": 9, "kei": 5, "safe": 1, "custom": 3},
    )

    assert found == pytest.approx(
        {
            "coverage": 0.7966, "window": 0.7966, "window_title": 0.7966, "matches": 1.6094, "title_asked": 2 / 3,
            "in_title": 0.4007, "title_both": 0.2671, "in_tags": 0.1816, "adjacent": 0.4428, "rarest": 0.8632,
            "bm25_title": 0.5383, "bm25_body": 1.0374, "length": 1.7918, "early": 40 / 65, "mass": 1.4293,
            "window_mass": 1.4293, "title_mass": 0.719, "trigger_asked": 0.2715, "in_trigger": 0.2191,
            "title_concepts": 0.4007, "bm25_fields": 1.8265, "fields_share": 1.3025, "trigger_scarcity": 0.4010,
            "filler": 2 / 7, "store": 3.9318, "others": 0.0, "printed": 0.0, "tags_alone": 0.0,
        },
        abs=6e-5,
    )  # fmt: skip


def test_what_stands_in_the_middle_of_a_long_text_counts_as_late_as_its_best_stretch_begins():
    found = seen("rotate the signing key", body="rotat " + "x " * 60 + "sign kei")

    assert (found["coverage"], found["adjacent"]) == (pytest.approx(1), pytest.approx(1))
    assert found["window"] == pytest.approx(2 / 3)
    assert found["early"] == pytest.approx(1 / (1 + 61 / 40))


def test_a_word_that_most_records_have_says_little_about_one_of_them():
    frequency = {"rotat": 45, "kei": 2}
    common = seen("rotate key", body="rotat it", frequency=frequency)
    rare = seen("rotate key", body="the kei", frequency=frequency)

    assert 0 < common["bm25_fields"] < rare["bm25_fields"] / 5
    assert common["fields_share"] + rare["fields_share"] == pytest.approx(
        10 * (common["bm25_fields"] + rare["bm25_fields"]) / sum(scarcities("rotate key", frequency))
    )


def scarcities(prompt, frequency):
    return candidates.weighted(query.parse(prompt), Corpus(50, 8, 60, frequency, frequency), {}).scarcity


def test_a_trigger_is_a_text_of_its_own():
    together = seen("rotate signing key", triggers="rotat sign kei | other thing")
    apart = seen("rotate signing key", triggers="rotat it | sign it | kei it")

    assert together["trigger_scarcity"] > apart["trigger_scarcity"] > 0


@given(
    st.lists(st.lists(st.sampled_from("rotat sign kei other thing slow".split()), min_size=1, max_size=5), max_size=8)
)
def test_more_triggers_make_no_feature_of_triggers_less(phrases):
    def of_triggers(count):
        found = seen("rotate the signing key", triggers=" | ".join(" ".join(phrase) for phrase in phrases[:count]))
        return [
            found[name] for name in ("trigger_asked", "in_trigger", "trigger_scarcity", "coverage", "title_concepts")
        ]

    values = [of_triggers(count) for count in range(len(phrases) + 1)]

    for fewer, more in zip(values, values[1:]):
        assert all(after >= before - 1e-9 for before, after in zip(fewer, more))


def test_a_sentence_has_more_words_without_a_topic_than_the_title_of_a_change():
    assert seen("how do we rotate the key of this thing?")["filler"] > 0.5 > seen("Rotate signing keys")["filler"]
