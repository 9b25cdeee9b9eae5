import pytest

from onrecord.search import coefficients, index, relevance, word_features
from tests import searching
from tests.records import decision, put


def test_the_coefficients_fit_the_features():
    assert tuple(coefficients.WITH_MEANING) == ("base", *relevance.NAMES, *relevance.RELATIVE)
    assert tuple(coefficients.WORDS_ONLY) == ("base", *word_features.NAMES, *relevance.RELATIVE)
    assert 0 < coefficients.POINTER < relevance.THRESHOLD < 1


def test_meaning_counts_where_enough_words_of_the_prompt_have_a_vector():
    in_english, in_another_language = relevance.weights(0.9), relevance.weights(0.1)

    assert len(in_english.rank) == len(relevance.NAMES)
    assert len(in_another_language.rank) == len(word_features.NAMES)
    assert len(in_another_language.relevance) == len(word_features.NAMES) + len(relevance.RELATIVE)


def test_without_a_table_features_of_meaning_change_nothing():
    weights = relevance.weights(0.0)
    values = [0.5] * len(word_features.NAMES)
    compared = (0.5, -0.7, 1.0, 0.2)

    low, high = ([*values, *[meaning] * (len(relevance.NAMES) - len(values))] for meaning in (0.0, 0.9))

    assert relevance.score(weights, low) == relevance.score(weights, high)
    assert relevance.probability(weights, low, compared) == relevance.probability(weights, high, compared)


def test_a_lone_hit_has_no_rivals_and_a_crowd_shares():
    assert relevance.relative([]) == []
    assert relevance.relative([1.5]) == [(1.0, 0.0, 1.5, 2.0)]
    crowd = relevance.relative([1.0, 1.0, 1.0, 1.0])
    assert [one[0] for one in crowd] == pytest.approx([0.25] * 4)


def test_evidence_from_outside_the_text_moves_a_probability():
    assert relevance.shifted(0.5, 1.0) > 0.5 > relevance.shifted(0.5, -1.0)
    assert relevance.shifted(0.3, 0.0) == pytest.approx(0.3)


@pytest.mark.parametrize(("probability", "word"), [(0.95, "high"), (0.6, "medium"), (0.1, "low")])
def test_confidence(probability, word):
    assert relevance.confidence(probability) == word


_TOPICS = {
    "Rotate the signing keys of the gateway monthly": (
        "The signing key of the API gateway is rotated on the 1st of each month by the cron job key-rotation."
    ),
    "Schema migrations run before the deploy": (
        "Alembic migrations must be backward compatible for one release, and are applied by the release pipeline."
    ),
    "Transactional e-mail goes through Postmark": (
        "Receipts and password resets are sent through Postmark, never through the marketing provider."
    ),
}


def store_of(tmp_path, fillers):
    root = str(tmp_path / "memory")
    for number, (title, text) in enumerate(_TOPICS.items()):
        put(root, decision(f"topic-{number}", title, text))
    for number in range(fillers):
        title = f"Component {number} uses widget {number * 7}"
        text = (
            f"Widget {number * 7} of component {number} is configured in module {number * 3} for tenant {number % 50}."
        )
        put(root, decision(f"filler-{number:04}", title, text))
    return index.in_memory(root)


@pytest.mark.parametrize("fillers", [0, 60, 1_000])
def test_the_relevance_model_is_not_fooled_by_the_size_of_the_store(tmp_path, fillers):
    opened = store_of(tmp_path, fillers)

    def best(prompt):
        return max((match.probability for match in searching.find(opened, prompt, mode="auto")), default=0.0)

    assert best("how often is the signing key of the gateway rotated?") >= relevance.THRESHOLD
    assert best("are alembic migrations applied before or after the deploy?") >= relevance.THRESHOLD
    assert best("make the button on the settings page blue") < relevance.THRESHOLD
    assert best("thanks, looks good") < relevance.THRESHOLD
