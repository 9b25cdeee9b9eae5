"""Questions about the work itself: "what did we do last week?", "where did we leave off?", "what's next?".

They are answered from session summaries. English, German, Spanish and French. Imported by hooks.
"""

from __future__ import annotations

import time

from onrecord import timestamps
from onrecord.coldstart import NamedTuple
from onrecord.recall.past_question import match_phrase, plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, LEFT_OFF, NEXT = "done", "left off", "next"
_MAX_CHARACTERS = 160
_MAX_TOPIC_WORDS = 4
_DAY = 86_400
_MONDAYS = ("monday montag lunes lundi", "tuesday dienstag martes mardi", "wednesday mittwoch miercoles mercredi",
            "thursday donnerstag jueves jeudi", "friday freitag viernes vendredi",
            "saturday samstag sonnabend sabado samedi", "sunday sonntag domingo dimanche")  # fmt: skip
_WEEKDAYS = {name: number for number, names in enumerate(_MONDAYS) for name in names.split()}
_NUMBERS = {
    name: number
    for number, names in enumerate(
        ("two zwei dos deux couple", "three drei tres trois", "four vier cuatro quatre", "five funf cinco cinq",
         "six sechs seis", "seven sieben siete sept"), 2)
    for name in names.split()
}  # fmt: skip

# By the first word, the rests of the phrases that ask, with what they ask for.
_PHRASES: dict[str, Sequence[tuple[str, str]]] = {
    "what": (
        ("did we|i|you get done", DONE),
        ("did we|i|you do|work|finish|complete|accomplish|achieve|change", DONE),
        ("have|had|ve we|i|you done|been|finished|completed|accomplished|worked|changed", DONE),
        ("was|were i|we|you doing|working|up|on", DONE),
        ("work did we|i do", DONE),
        ("happened|changed", DONE),
        ("is|comes next", NEXT),
        ("should|do|shall|can we|i do|tackle|work next", NEXT),
        ("should|do|shall|can we|i tackle|continue next|with", NEXT),
        ("are|were the|our|my next|open|remaining|pending steps|step|actions|tasks|todos|items|things", NEXT),
        ("is|was left|open|remaining|pending|outstanding", NEXT),
        ("remains|is ~1 to be|do done", NEXT),
    ),
    "whats": (("next|left|open|remaining|pending|outstanding", NEXT), ("the|our|my next step|task|thing", NEXT)),
    "next": (("steps|actions|tasks", NEXT),),
    "where": (
        ("did we|i leave|stop|left|finish|end off", LEFT_OFF),
        ("did we|i leave|stop|left", LEFT_OFF),
        ("we|i left|stopped|leave off", LEFT_OFF),
        ("were|was we|i", LEFT_OFF),
        ("have|had we|i left|stopped|got", LEFT_OFF),
    ),
    "was": (
        ("haben|hab|habe|hatten wir|ich ~4 gemacht|getan|geschafft|erledigt|gearbeitet", DONE),
        ("ist ~3 passiert", DONE),
        ("kommt|ist|steht|machen|mache|tun wir|ich als nachstes|nachste", NEXT),
        ("kommt|ist|steht als nachstes|nachste", NEXT),
        ("ist|steht|bleibt noch offen|an|tun|ubrig", NEXT),
        ("ist|bleibt noch zu tun|erledigen", NEXT),
    ),
    "woran": (("haben|hab|habe|hatten|war|waren wir|ich ~4 gearbeitet|dran", DONE),),
    "wo": (
        ("haben|hab|habe|sind|bin|hatten|waren|war wir|ich ~3 aufgehort|stehengeblieben|geblieben|stehen", LEFT_OFF),
        ("waren|war|stehen wir|ich", LEFT_OFF),
    ),
    "wie": (("gehts|geht weiter|es", NEXT),),
    "nachste": (("schritte|aufgaben", NEXT),),
    "en": (
        ("que estabamos|estaba|estuvimos|estuve trabajando", DONE),
        ("que trabajamos|trabaje|estabamos|estaba|estuvimos|estuve", DONE),
    ),
    "donde": (
        ("lo dejamos|deje", LEFT_OFF),
        ("nos|me quedamos|quede", LEFT_OFF),
        ("quedamos|ibamos|iba|estabamos|estaba", LEFT_OFF),
    ),
    "cual": (("es|seria el|lo siguiente|proximo paso", NEXT), ("es|seria lo siguiente|proximo", NEXT)),
    "cuales": (("son los siguientes|proximos pasos", NEXT),),
    **dict.fromkeys(("quavons-nous", "qua-t-on", "quai-je"), (("fait|accompli|termine", DONE),)),
    "quest-ce": (
        ("quon|que|que a|nous|jai|ai ~2 fait|termine", DONE),
        ("quil|qui reste a faire", NEXT),
    ),
    "sur": (("quoi ~1 travaillions-nous|travaillait-on|travaillais|travaillions|avons-nous|a-t-on|ai-je", DONE),),
    "ou": (
        ("en etions-nous|sommes-nous|est-on|etait-on|etais-je|suis-je", LEFT_OFF),
        ("nous|on ~1 sommes-nous|arretes|etait", LEFT_OFF),
    ),
    "quelle": (("est la suite", NEXT), ("est la prochaine etape", NEXT)),
    "quelles": (("sont les prochaines etapes", NEXT),),
    "que": (
        ("hicimos|hice|hemos|avanzamos|logramos|terminamos", DONE),
        ("estabamos|estaba|estuvimos|estuve haciendo|trabajando", DONE),
        ("paso", DONE),
        ("sigue|toca|viene", NEXT),
        ("queda|falta por|pendiente hacer", NEXT),
        ("queda|falta pendiente", NEXT),
        ("hacemos|hago ahora|despues", NEXT),
        ("reste-t-il a faire", NEXT),
        ("faisons-nous|fait-on ensuite|maintenant", NEXT),
    ),
}

# By the first word, the rests of the phrases for a period, and its code: days ago; weeks, months ago; `last` for the
# last session.
_PERIODS: dict[str, Sequence[tuple[str, str]]] = {
    **dict.fromkeys(("today", "heute", "hoy", "aujourdhui"), (("", "day 0"),)),
    **dict.fromkeys(("yesterday", "gestern", "ayer", "hier"), (("", "day 1"),)),
    **dict.fromkeys(("vorgestern", "anteayer", "antier", "avant-hier"), (("", "day 2"),)),
    "day": (("before yesterday", "day 2"),),
    "this": (("morning|afternoon", "day 0"), ("week", "week 0"), ("month", "month 0")),
    **dict.fromkeys(
        ("last", "past", "previous"),
        (("night", "day 1"), ("week", "week 1"), ("month", "month 1"), ("time|session|conversation", "last")),
    ),
    **dict.fromkeys(
        ("recently", "lately", "zuletzt", "kurzlich", "recientemente", "ultimamente", "recemment"), (("", "days 14"),)
    ),
    **dict.fromkeys(("diese", "dieser"), (("woche", "week 0"),)),
    **dict.fromkeys(("diesen", "diesem"), (("monat", "month 0"),)),
    **dict.fromkeys(
        ("letzte", "letzten", "letzter", "letztes", "vergangene", "vorige", "voriges"),
        (("woche", "week 1"), ("monat", "month 1"), ("mal|sitzung|session", "last")),
    ),
    "esta": (("semana", "week 0"), ("manana|tarde", "day 0")),
    "este": (("mes", "month 0"),),
    "semana": (("pasada|anterior", "week 1"), ("derniere", "week 1")),
    "mes": (("pasado|anterior", "month 1"),),
    "ultima": (("vez|sesion|session", "last"),),
    "cette": (("semaine", "week 0"),),
    "ce": (("mois", "month 0"), ("matin", "day 0")),
    "semaine": (("derniere|passee|precedente", "week 1"),),
    "mois": (("dernier|passe", "month 1"),),
    "derniere": (("fois|session|seance", "last"),),
    "derniers": (("jours", "days 14"),),
}
_FILLER = frozenset(
    "a about again ahora all alors also am an and bitte bueno by can carry continue dans das de del denn der"
    " des did die do donc el en et exactly for from get getting hace hello here hey hi hola i ich il im in is"
    " it j just la las last le les let lets lo los ma me mi mon most much my near noch nochmal nos notre now"
    " of off ok okay on once one ones our par pasado pick please pls por pour project proyecto remind resume"
    " session since so tell that the then there this through time to today together tout tu uf um und unser up"
    " us was weiter wir with work worked working y you".split()
)
"""Words beside such a question that are no topic."""


class WorkDays(NamedTuple):
    """Days, both included, and the words for them."""

    first: str
    last: str
    name: str

    @property
    def label(self) -> str:
        """The period in words, with its dates."""
        return f"{self.name} ({self.first}{'' if self.first == self.last else f' to {self.last}'})"


class WorkQuestion(NamedTuple):
    """A question about the work."""

    kind: str
    """`DONE` for what was done in a period; `LEFT_OFF`; `NEXT`."""
    period: WorkDays | None = None
    """The days that it asks for; None for the last session."""
    topic: str = ""
    """What the work that it asks for was about; empty for all work."""


def parse(prompt: str, now: str = "") -> WorkQuestion | None:
    """Return the question about the work that a prompt is; None if it is none, or asks for something else, too."""
    if len(prompt) > _MAX_CHARACTERS:
        return None
    chunks = prompt.split()
    words = plain_words(chunks)
    for start, word in enumerate(words):
        for pattern, kind in _PHRASES.get(word, ()):
            places = match_phrase(pattern.split(), words, start + 1)
            if places is None:
                continue
            question = _question(kind, chunks, words, {start, *places}, now or timestamps.now())
            if question:
                return question
    return None


def _question(
    kind: str, chunks: Sequence[str], words: Sequence[str], places: set[int], now: str
) -> WorkQuestion | None:
    code, in_period = _period(words)
    rest = [at for at, word in enumerate(words) if at not in places and at not in in_period]
    topic = [chunks[at] for at in rest if words[at] and words[at] not in _FILLER]
    if len(topic) > (_MAX_TOPIC_WORDS if kind == DONE else 0):
        return None
    if kind != DONE:
        return WorkQuestion(kind)
    return WorkQuestion(DONE, _days(code, now), " ".join(topic)) if code else None


def _period(words: Sequence[str]) -> tuple[str, list[int]]:
    """Return the code of the period that words name, and their positions; empty if they name none."""
    for at, word in enumerate(words):
        for pattern, code in _PERIODS.get(word, ()):
            places = match_phrase(pattern.split(), words, at + 1)
            if places is not None:
                return code, [at, *places]
        if word in _WEEKDAYS:
            return f"weekday {_WEEKDAYS[word]}", [at]
    for at, word in enumerate(words):
        count = int(word) if word.isdecimal() and len(word) < 4 else _NUMBERS.get(word, 0)
        unit = words[at + 1] if count and at + 1 < len(words) else ""
        if unit in ("days", "tage", "tagen", "dias", "jours", "weeks", "wochen", "semanas", "semaines"):
            days = count * (7 if unit[0] in "ws" else 1)
            return _counted(words, at, days)
    return "", []


def _counted(words: Sequence[str], at: int, days: int) -> tuple[str, list[int]]:
    """Return "three days ago" as that day, and "the last three days" as all of them."""
    before, after = words[max(at - 2, 0) : at], words[at + 2 : at + 3]
    is_one_day = after == ["ago"] or before[-1:] in (["vor"], ["hace"]) or before == ["y", "a"]
    around = [*(place for place in (at - 1, at - 2) if place >= 0 and _is_of_count(words[place])), at, at + 1]
    return f"{'day' if is_one_day and days < 7 else 'days'} {days}", [*around, *([at + 2] if after == ["ago"] else [])]


def _is_of_count(word: str) -> bool:
    return word in "last past letzten vor hace ultimos derniers these y a il".split()


def _days(code: str, now: str) -> WorkDays | None:
    """Return the days of a period, in the time of this machine; None for the last session."""
    unit, _, number = code.partition(" ")
    if unit == "last":
        return None
    today = timestamps.seconds(local_day(now))
    count = int(number)
    return WorkDays(*_NAMED[unit](today, count))


def _of_day(today: float, ago: int) -> tuple[str, str, str]:
    day = _text(today - ago * _DAY)
    return day, day, ("today", "yesterday")[ago] if ago < 2 else f"{ago} days ago"


def _of_days(today: float, count: int) -> tuple[str, str, str]:
    return _text(today - count * _DAY), _text(today), f"the last {count} days"


def _of_week(today: float, ago: int) -> tuple[str, str, str]:
    monday = today - _weekday(today) * _DAY - ago * 7 * _DAY
    return _text(monday), _text(min(monday + 6 * _DAY, today)), "last week" if ago else "this week"


def _of_month(today: float, ago: int) -> tuple[str, str, str]:
    first = timestamps.seconds(f"{_text(today)[:7]}-01")
    if not ago:
        return _text(first), _text(today), "this month"
    end = first - _DAY
    return f"{_text(end)[:7]}-01", _text(end), "last month"


def _of_weekday(today: float, weekday: int) -> tuple[str, str, str]:
    day = _text(today - ((_weekday(today) - weekday - 1) % 7 + 1) * _DAY)
    return day, day, _MONDAYS[weekday].split()[0].capitalize()


_NAMED = {"day": _of_day, "days": _of_days, "week": _of_week, "month": _of_month, "weekday": _of_weekday}


def _weekday(seconds: float) -> int:
    # 1970 began on a Thursday.
    return (int(seconds // _DAY) + 3) % 7


def _text(seconds: float) -> str:
    return timestamps.from_seconds(seconds)[:10]


def local_day(moment: str) -> str:
    """Return the day of a moment in the time of this machine."""
    return time.strftime("%Y-%m-%d", time.localtime(timestamps.seconds(moment)))
