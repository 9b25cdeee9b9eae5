"""Every phrase that makes a question one about the past, in four languages."""

from __future__ import annotations

import pytest

from onrecord.recall import past_question
from onrecord.recall.past_question import PastQuestion


@pytest.mark.parametrize(
    "phrase",
    [
        "why did we get rid of kafka", "why didn't we get rid of kafka", "why did we select kafka",
        "why did we adopt kafka", "why do we use kafka", "why don't we duplicate kafka",
        "why are we using kafka", "why aren't we so kafka", "why have we decided kafka", "why haven't we always kafka",
        "why was kafka decided", "why were the kafka disabled", "why was it kafka that we",
        "why were it that we kafka", "why did kafka change to", "why did you kafka move from",
        "why did kafka move into", "why do all kafka", "why are our kafka", "why again kafka",
        "what did we decide kafka", "what would we end kafka", "what did we do about kafka",
        "what did we do when kafka", "what do we have on kafka", "what do we have regarding kafka",
        "what do we usually kafka",
        "what do we always kafka", "what is our rule kafka", "what s our rationale kafka",
        "what was the decision behind kafka", "what is that plan against kafka", "what was the kafka decision behind",
        "what was the decision kafka", "what were that plan kafka", "what was kafka decided", "what has kafka rejected",
        "what kafka did we use", "what became of kafka", "what happened to kafka", "what made us kafka",
        "what came of kafka", "what come out kafka", "what's our style kafka", "what's the story with kafka",
        "what's the status for kafka", "which kafka did we decide", "which kafka do we use",
        "which of the kafka do we follow", "how did we decide kafka", "how did we resolve kafka",
        "how do we usually kafka", "how do we generally kafka", "how come we kafka", "when did we introduce kafka",
        "where did we land kafka", "where did we end kafka", "where do we stand on kafka",
        "where did we stand regarding kafka", "who decided kafka", "who agreed kafka", "do we have a rule kafka",
        "do we have our reason kafka", "do we have kafka records", "do we have anything about kafka",
        "do we have notes for kafka", "do you remember kafka", "do you recall kafka", "is there a rule kafka",
        "isn't there some records kafka", "are there any rules kafka", "aren't there any rules kafka",
        "is there a reason we kafka", "is there any reason we kafka", "have we ever kafka", "haven't we once kafka",
        "did we ever kafka", "didn't we ruled kafka", "ever we discuss kafka", "recall what kafka", "recall when kafka",
        "recall the decision kafka", "recall the kafka history", "remind me what kafka", "remind me about kafka",
        "remember when we kafka", "remember how we kafka", "forgot why we kafka", "forget whether we kafka",
        "forgotten why we kafka", "tell me what we kafka", "show me how we kafka", "look up what we kafka",
        "find out why we kafka", "check what we decided kafka", "check what we agreed kafka",
        "wasn't there a rule kafka", "wasn't there the kafka we", "was there any reason we kafka",
        "was it decided kafka", "was it kafka settled", "last time we kafka", "check out why we kafka",
    ],
)  # fmt: skip
def test_an_english_phrase_asks_about_the_past(phrase):
    assert past_question.parse(phrase) == PastQuestion("kafka")


@pytest.mark.parametrize(
    "phrase",
    [
        "was haben wir kafka entschieden", "was hatten wir kafka zurückgenommen", "was haben wir zu kafka",
        "was haben wir für kafka", "was wurde kafka entschieden", "was ist kafka abgemacht", "was wissen wir kafka",
        "was ist unsere Sonderregel kafka", "was ist die strategie kafka", "was war der grund für kafka",
        "was war die überlegung gegen kafka", "warum haben wir kafka entschieden", "wieso haben wir kafka ersetzt",
        "weshalb haben wir kafka weggeworfen", "warum nutzen wir kafka", "warum wollen wir kafka",
        "warum wurde kafka ersetzt", "welche kafka haben wir", "welchen kafka haben wir", "welches kafka haben wir",
        "welcher von den kafka nutzen wir", "haben wir eine Namensregel kafka", "hatten wir einen Standard kafka",
        "haben wir schon kafka", "haben wir uns kafka", "gibt es eine regel kafka", "gab es einen standard kafka",
        "wie war das nochmal kafka", "wie war es mal kafka", "wie haben wir kafka gelernt",
        "wie lautet unsere Regel kafka", "wofür haben wir kafka", "wogegen haben wir kafka", "wann haben wir kafka",
        "erinner mich kafka",
        "erinnere mich kafka", "erinnerst du dich kafka", "weisst du noch kafka", "weißt du noch kafka",
    ],
)  # fmt: skip
def test_a_german_phrase_asks_about_the_past(phrase):
    assert past_question.parse(phrase) == PastQuestion("kafka", is_english=False)


@pytest.mark.parametrize(
    "phrase",
    [
        "que decidimos kafka", "que se decidio kafka", "que se dijo kafka", "que hemos decidido kafka",
        "que habiamos elegido kafka", "que regla tenemos kafka", "que estandar hay kafka",
        "por que dejamos kafka", "por que no usamos kafka", "por que se decidio kafka", "por que fue kafka rechazado",
        "tenemos alguna regla kafka", "teniamos una regla kafka", "hay un acuerdo kafka", "existe ya norma kafka",
        "hemos decidido kafka", "hemos alguna kafka", "decidimos algo kafka", "acordamos si kafka",
        "alguna vez usamos kafka", "recuerdas que kafka", "recuerdas cual kafka", "recuerda que kafka",
        "recuerda lo kafka", "recuérdame que kafka", "recuérdame cual kafka", "cual es nuestra regla kafka",
        "cuales son nuestras reglas kafka", "como decidimos kafka", "cuando cambiamos kafka",
    ],
)  # fmt: skip
def test_a_spanish_phrase_asks_about_the_past(phrase):
    assert past_question.parse(phrase) == PastQuestion("kafka", is_english=False)


@pytest.mark.parametrize(
    "phrase",
    [
        "qu'avons-nous décidé kafka", "qu'a-t-on décidé kafka", "qu'avait-on décidé kafka",
        "qu'avions-nous décidé kafka", "que avons-nous décidé kafka", "que savons-nous kafka", "que sait-on kafka",
        "que disait notre kafka", "que dit le kafka", "quoi avons-nous décidé kafka",
        "qu'est-ce qu'on a décidé kafka", "qu'est-ce qu'on sait kafka", "qu'est-ce que nous kafka",
        "pourquoi avons-nous utilisé kafka", "pourquoi on a choisi kafka", "pourquoi utilisons-nous kafka",
        "pourquoi est-ce qu'on kafka", "pourquoi est-ce que kafka", "pourquoi utilise-t-on kafka",
        "pourquoi évite-t-on kafka", "avons-nous une règle kafka", "avions-nous décidé kafka",
        "a-t-on déjà décidé kafka", "avait-on un standard kafka", "on a décidé quoi kafka", "y a-t-il une règle kafka",
        "existe-t-il une norme kafka", "rappelle-moi pourquoi kafka", "rappelez-moi ce kafka",
        "rappelle moi pourquoi kafka", "rappelle-moi notre kafka", "redis-moi comment kafka",
        "rappelle moi notre kafka", "quelle est notre règle kafka", "quel est le standard kafka",
        "quelles sont nos règles kafka", "quels sont les position kafka", "quel kafka avons-nous choisi",
        "comment avons-nous décidé kafka", "quand avons-nous corrigé kafka",
    ],
)  # fmt: skip
def test_a_french_phrase_asks_about_the_past(phrase):
    assert past_question.parse(phrase) == PastQuestion("kafka", is_english=False)


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("why was one two three four five rejected", "two three four five"),
        ("why was one two three four five six rejected", ""),
        ("which one two three four do we use", "two three four"),
        ("which one two three four five do we use", ""),
        ("why did we lose kafka", ""),
        ("why did we end kafka", ""),
        ("why did we get kafka", ""),
        ("por que estamos kafka usamos", ""),
        ("por qué usamos kafka", "kafka"),
        ("why did we build kafka", "build kafka"),
        ("did we ever use kafka", "use kafka"),
        ("ok: did we ever use kafka", "use kafka"),
        ("ok, did we ever use kafka", "use kafka"),
        ("ok did we ever use kafka", ""),
    ],
)
def test_a_pattern_has_gaps_and_exceptions(prompt, topic):
    assert past_question.topic(prompt) == topic


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("why did we choose Release Please", "Release Please"),
        ("why did we choose it. Please kafka", "kafka"),
        ("why did we choose it: Then kafka", "kafka"),
        ("why did we choose plan A", "plan"),
        ("Why did we choose the kafka", "kafka"),
    ],
)
def test_a_word_with_a_capital_letter_is_a_name(prompt, topic):
    assert past_question.topic(prompt) == topic


@pytest.mark.parametrize(
    ("prompt", "is_english"),
    [
        ("¿qué decidimos sobre Kafka?", True),
        ("¿qué decidimos sobre (Kafka) y Redis?", True),
        ("¿qué decidimos sobre Kafka y fechas?", False),
        ("qu'avons-nous décidé pour Kafka", True),
        ("was haben wir zu Kafka entschieden", False),
        ("what did we decide on Kafka", True),
    ],
)
def test_names_can_be_expected_in_english_records(prompt, is_english):
    assert past_question.parse(prompt).is_english is is_english


@pytest.mark.parametrize(("length", "topic"), [(400, "x" * 371), (401, "")])
def test_a_long_prompt_is_a_task(length, topic):
    prompt = "why did we get rid of kafka, "

    assert past_question.topic(prompt + "x" * (length - len(prompt))) == (f"kafka, {topic}" if topic else "")


def test_of_many_words_the_first_80_are_read():
    assert past_question.topic(f"what did we decide {'a ' * 75}kafka redis") == "kafka"


@pytest.mark.parametrize("word", ["¿qué", "*QUE*", "¡que!", "«que»", "(que)", "„que“", "…que/", "q'ue"])
def test_accents_and_punctuation_count_nothing(word):
    assert past_question.topic(f"{word} decidimos kafka") == "kafka"


@pytest.mark.parametrize(
    ("pattern", "words", "places"),
    [
        ("", "any", []),
        ("a|b c", "b c", [0, 1]),
        ("a c", "a", None),
        ("a c", "a b", None),
        ("~1 c", "a c", [1]),
        ("~1 c", "a b c", None),
        ("~0 c", "c", [0]),
        ("!a|b", "b", None),
        ("!a|b c", "c", [0]),
        ("!a", "", []),
        ("ge*t", "gesagt", [0]),
        ("ge*t", "geht", None),
        ("ge*t", "gehet", [0]),
        ("*en", "essen", [0]),
        ("*en", "een", None),
        ("*en", "ende", None),
        ("weg*", "wegab", [0]),
        ("weg*", "wega", None),
    ],
)
def test_a_pattern_matches_words(pattern, words, places):
    assert past_question.match_phrase(pattern.split(), words.split(), 0) == places
