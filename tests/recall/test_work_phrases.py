"""Every phrase for a question about the work, and every word for a period, in four languages."""

from __future__ import annotations

import pytest

from onrecord.recall import work_question
from onrecord.recall.work_question import DONE, LEFT_OFF, NEXT, WorkDays, WorkQuestion

NOW = "2026-11-18T12:00:00Z"
"""A Wednesday."""


@pytest.fixture(autouse=True)
def _utc(monkeypatch):
    monkeypatch.setattr(work_question.time, "localtime", work_question.time.gmtime)


@pytest.mark.parametrize(
    "phrase",
    [
        "yesterday: what did we get done", "what did you get done yesterday", "what did we do yesterday",
        "what did you change yesterday", "what have we done yesterday",
        "what ve you changed yesterday", "what was i doing yesterday", "what were you on yesterday",
        "what work did we do yesterday", "what work did I do yesterday", "what happened yesterday",
        "what changed yesterday", "was haben wir gestern gemacht", "was hatten ich gestern noch nochmal wir gearbeitet",
        "was ist gestern noch nochmal passiert", "woran haben wir gestern gearbeitet", "woran waren ich gestern dran",
        "¿en que estabamos trabajando ayer?", "en que estuve trabajando ayer", "en que trabajamos ayer",
        "en que estuve ayer", "qu'avons-nous fait hier", "qu'a-t-on accompli hier", "qu'ai-je terminé hier",
        "qu'est-ce qu'on a fait hier", "qu'est-ce que nous hier me terminé",
        "sur quoi travaillions-nous hier", "sur quoi hier ai-je", "que hicimos ayer", "que terminamos ayer",
        "que estabamos haciendo ayer", "que estuve trabajando ayer", "que paso ayer",
    ],
)  # fmt: skip
def test_what_was_done_is_asked_for(phrase):
    assert work_question.parse(phrase, NOW) == WorkQuestion(DONE, WorkDays("2026-11-17", "2026-11-17", "yesterday"))


@pytest.mark.parametrize(
    "phrase",
    [
        "where did we leave off", "where did i end off", "where did we leave", "where did i left", "where we left off",
        "where i leave off", "where were we", "where was i", "where have we left", "where had i got",
        "wo haben wir gestern noch nochmal aufgehört", "wo war ich denn stehen", "wo waren wir", "wo stehen ich",
        "donde lo dejamos", "dónde lo deje", "donde nos quedamos", "donde me quede", "donde quedamos",
        "donde estaba", "ou en etions-nous", "ou en suis-je", "où nous en sommes-nous",
        "ou nous sommes-nous", "ou on la etait",
    ],
)  # fmt: skip
def test_where_the_work_was_left_is_asked_for(phrase):
    assert work_question.parse(phrase, NOW) == WorkQuestion(LEFT_OFF)


@pytest.mark.parametrize(
    "phrase",
    [
        "what is next", "what comes next", "what should we do next", "what can i work next",
        "what should we tackle next", "what can i continue with", "what are the next steps",
        "what were my pending things", "what is left", "what was outstanding", "what remains to be done",
        "what is now to do done", "what should we continue with",
        "what's next", "what's outstanding", "what's the next step", "what's my next thing", "next steps", "next tasks",
        "was kommt als nachstes", "was tun ich als nachste", "was steht als nachste", "was kommt wir als nachstes",
        "was ist noch offen", "was bleibt noch übrig", "was ist noch zu tun", "was bleibt noch zu erledigen",
        "wie geht's weiter", "wie geht es weiter", "wie geht weiter", "wie gehts es",
        "nächste schritte", "nächste Aufgaben", "cual es el siguiente paso", "cual seria lo proximo paso",
        "cual es lo siguiente", "cual seria lo proximo", "cuales son los siguientes pasos",
        "cuales son los proximos pasos", "qu'est-ce qu'il reste à faire",
            "qu'est-ce qui reste à faire", "quelle est la suite",
        "quelle est la prochaine etape", "quelles sont les prochaines étapes", "que sigue", "que viene",
        "que queda por hacer", "que falta pendiente hacer", "que queda pendiente", "que falta pendiente",
        "que hacemos ahora", "que hago después", "que reste-t-il a faire", "que faisons-nous ensuite",
        "que fait-on maintenant",
    ],
)  # fmt: skip
def test_what_comes_next_is_asked_for(phrase):
    assert work_question.parse(phrase, NOW) == WorkQuestion(NEXT)


@pytest.mark.parametrize(
    ("period", "first", "last", "name"),
    [
        ("today|heute|hoy|aujourd'hui", "11-18", "11-18", "today"),
        ("yesterday|gestern|ayer|hier|last night|past night", "11-17", "11-17", "yesterday"),
        ("vorgestern|anteayer|antier|avant-hier|the day before yesterday", "11-16", "11-16", "2 days ago"),
        ("this morning|this afternoon|esta mañana|esta tarde|ce matin", "11-18", "11-18", "today"),
        ("this week|diese Woche|dieser Woche|esta semana|cette semaine", "11-16", "11-18", "this week"),
        ("last week|past week|previous week|letzte Woche|letzten Woche|letzter Woche|letztes Woche", "11-09", "11-15",
         "last week"),
        ("vergangene Woche|vorige Woche|voriges Woche|la semana pasada|la semana anterior|semana dernière", "11-09",
         "11-15", "last week"),
        ("la semaine dernière|la semaine passée|la semaine précédente", "11-09", "11-15", "last week"),
        ("this month|diesen Monat|diesem Monat|este mes|ce mois", "11-01", "11-18", "this month"),
        ("last month|letzten Monat|voriges Monat|el mes pasado|mes anterior|le mois dernier|mois passé", "10-01",
         "10-31", "last month"),
        ("recently|lately|zuletzt|kürzlich|recientemente|últimamente|récemment|derniers jours", "11-04", "11-18",
         "the last 14 days"),
        ("on monday|Montag|lunes|lundi", "11-16", "11-16", "Monday"),
        ("last tuesday|Dienstag|martes|mardi", "11-17", "11-17", "Tuesday"),
        ("wednesday|Mittwoch|miercoles|mercredi", "11-11", "11-11", "Wednesday"),
        ("thursday|Donnerstag|jueves|jeudi", "11-12", "11-12", "Thursday"),
        ("friday|Freitag|viernes|vendredi", "11-13", "11-13", "Friday"),
        ("saturday|Samstag|Sonnabend|sábado|samedi", "11-14", "11-14", "Saturday"),
        ("sunday|Sonntag|domingo|dimanche", "11-15", "11-15", "Sunday"),
        ("two days ago|vor zwei Tagen|hace dos días|il y a deux jours|couple days ago", "11-16", "11-16", "2 days ago"),
        ("three days ago|vor drei Tagen|hace tres días|il y a trois jours", "11-15", "11-15", "3 days ago"),
        ("four days ago|vor vier Tage|hace cuatro días|il y a quatre jours", "11-14", "11-14", "4 days ago"),
        ("five days ago|vor fünf Tagen|hace cinco días|il y a cinq jours", "11-13", "11-13", "5 days ago"),
        ("six days ago|vor sechs Tagen|hace seis días", "11-12", "11-12", "6 days ago"),
        ("the last two days|letzten zwei Tage|ultimos dos días|derniers deux jours|these 2 days", "11-16", "11-18",
         "the last 2 days"),
        ("seven days ago|vor sieben Tagen|hace siete días|il y a sept jours|last 7 days", "11-11",
         "11-18", "the last 7 days"),
        ("100 days ago|last 100 days", "08-10", "11-18", "the last 100 days"),
        ("two weeks ago|vor 2 Wochen|hace dos semanas|il y a deux semaines", "11-04", "11-18", "the last 14 days"),
    ],
)  # fmt: skip
def test_every_word_for_a_period_is_understood(period, first, last, name):
    days = WorkDays(f"2026-{first}", f"2026-{last}", name)

    for words in period.split("|"):
        question = work_question.parse(f"what did we do {words}", NOW)
        assert question == WorkQuestion(DONE, days), words


@pytest.mark.parametrize(
    "period",
    [
        "last time", "past session", "previous conversation", "letzte Mal", "letzte Sitzung", "letzte Session",
        "última vez", "última sesión", "última session", "dernière fois", "dernière session", "dernière séance",
    ],
)  # fmt: skip
def test_the_last_session_has_no_days(period):
    assert work_question.parse(f"what did we do {period}", NOW) == WorkQuestion(DONE)


@pytest.mark.parametrize("period", ["", "one day ago", "2 hours ago", "1000 days ago", "2", "lastly", "next week"])
def test_without_a_period_nothing_is_asked(period):
    assert work_question.parse(f"what did we do {period}", NOW) is None


def test_a_period_in_words_has_one_date_or_two():
    assert WorkDays("2026-11-18", "2026-11-18", "today").label == "today (2026-11-18)"
    assert WorkDays("2026-11-16", "2026-11-18", "this week").label == "this week (2026-11-16 to 2026-11-18)"


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("what did we do last week on the import of old records?", "import old records?"),
        ("what did we do last week with Import: Five Old Big Records", None),
        ("what did we do last week with import old big records", "import old big records"),
        ("where did we leave off with records", None),
        ("what is next with records", None),
        ("what did we do 2 days ago, two records", "two records"),
        ("what happened on friday at noon", "at noon"),
    ],
)
def test_work_on_a_topic_is_asked_for_in_a_few_words(prompt, topic):
    question = work_question.parse(prompt, NOW)

    assert (question and question.topic) == topic


def test_without_a_moment_it_is_now():
    assert work_question.parse("what did we do today").period.name == "today"


def test_of_two_periods_the_first_counts():
    assert work_question.parse("what did we do today this week", NOW).period.name == "today"


@pytest.mark.parametrize(("length", "is_question"), [(160, True), (161, False)])
def test_a_long_prompt_is_no_such_question(length, is_question):
    prompt = "what is next".ljust(length, "?")

    assert (work_question.parse(prompt, NOW) is not None) is is_question


def test_a_phrase_beside_other_words_leaves_room_for_a_later_phrase():
    assert work_question.parse("what's next, what did we do yesterday?", NOW).kind == DONE
