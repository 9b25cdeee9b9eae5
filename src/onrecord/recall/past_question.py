"""Questions about what was decided, agreed or learned: "what did we decide about …", in four languages.

English, German, Spanish and French. Such a question asks the memory itself: what it names besides the words that make
it such a question is its topic, and a record that answers it is about that topic. Imported by hooks: no regular
expressions here.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onrecord.recall.candidate import Candidate
    from onrecord.recall.selection import Thresholds
    from onrecord.recall.stores import Stores
    from onrecord.search.query import Query
    from onrecord.settings import Settings

_MAX_CHARACTERS = 400
"""Characters of a question: what is longer is a task that happens to mention the past."""

_MAX_WORDS = 80

_LETTERS = {**str.maketrans("áàâäéèêëíìîïóòôöúùûüñç", "aaaaeeeeiiiioooouuuunc", "'’`´"), ord("ß"): "ss"}
_EDGES = '¿?¡!.,;:()[]{}"“”„«»*_-–—…/'

_RULES = (
    "rule|rules|policy|policies|convention|conventions|decision|decisions|guideline|guidelines|standard|standards"
    "|agreement|agreements|runbook|runbooks|preference|preferences|record|records"
)
_AGREED = "decide|agree|settle|choose|pick|conclude|determine|say|standardise|standardize|adopt"
_DECIDED = "decided|agreed|settled|chosen|picked|concluded|said|adopted|rejected"
_REGEL = (
    "*regel|regel|regeln|konvention|konventionen|richtlinie|richtlinien|entscheidung|vorgabe|vorgaben|policy|absprache"
    "|vereinbarung|abmachung|standard"
)
_ENTSCHIEDEN = (
    "entschieden|beschlossen|vereinbart|gesagt|festgelegt|abgemacht|ausgemacht|gelernt|verworfen|abgelehnt|entfernt"
    "|ersetzt|verzichtet|ge*t|ge*en|einge*|abge*|umge*|aufge*|ausge*|weg*|zuruck*"
)
_REGLA = (
    "regla|reglas|politica|politicas|norma|normas|convencion|convenciones|decision|decisiones|guia|guias|acuerdo"
    "|criterio|criterios|estandar"
)
_DECIDIMOS = "decidimos|acordamos|dijimos|elegimos|sabemos|concluimos|escogimos|aprendimos|quedamos|definimos|hicimos"
_DECIDE = (
    "decide|decidee|convenu|dit|choisi|retenu|retenue|arrete|adopte|refuse|rejete|abandonne|remplace|supprime|garde"
    "|ecarte|appris|conclu|opte|prefere|interdit"
)
_REGLE = "regle|regles|politique|convention|conventions|norme|normes|decision|decisions|consigne|consignes|standard"
_WHY = (
    "did|didnt we get rid",
    f"did|didnt we {_AGREED}|select",
    "did|didnt we !get|see|receive|lose|hit|fail|crash|break|miss|end",
    "do|dont we use|keep|need|avoid|prefer|pin|require|store|run|not|still|only|always|never|ship|support|write|build"
    "|want|forbid|disallow|allow|vendor|treat|wrap|generate|version|commit|duplicate",
    "are|arent we using|keeping|avoiding|pinning|storing|not|still|so",
    f"have|havent we {_DECIDED}|kept|switched|moved|dropped|never|not|always",
    "was|were ~5 decided|chosen|rejected|dropped|picked|deprecated|reverted|abandoned|introduced|adopted|declined"
    "|taken|removed|replaced|renamed|disabled",
    "was|were it ~2 that we",
    "did ~3 change|switch|move to|from|into",
    "do|are all|our",
    "again",
)
_IS = (f"there a|an|any|some {_RULES}", "there a|any reason we")
_WARUM = (
    f"haben|hatten wir ~9 {_ENTSCHIEDEN}",
    "nutzen|verwenden|benutzen|speichern|brauchen|setzen|vermeiden|behalten|machen|wollten|wollen wir",
    f"wurde|wurden ~8 {_ENTSCHIEDEN}",
)
_WELCHE = ("~4 haben wir", "~4 *en wir")

# By the first word, the rests of the patterns (see `match_phrase`). A first word with `^` opens a clause.
_ENGLISH: dict[str, Sequence[str]] = {
    "why": _WHY,
    "what": (
        f"did|have|had|do|would we {_AGREED}|{_DECIDED}|know|learn|learned|end",
        "did we do about|with|for|when",
        "do we have on|about|regarding",
        "do we usually|normally|generally|always",
        f"is|was|are|were|s our {_RULES}|approach|stance|practice|position|take|style|strategy|outcome|rationale",
        "was|were|is the|that ~1 decision|outcome|conclusion|agreement|rationale|reasoning|reason|verdict|resolution"
        "|thinking|motivation|argument|plan behind|for|on|about|of|to|against",
        "was|were the|that decision|outcome|conclusion|agreement|rationale|reasoning|verdict|resolution|plan",
        f"was|were|has ~6 {_DECIDED}",
        f"~5 did we {_AGREED}|go|end|use",
        "became|happened of|with|to",
        "made us",
        "came|come of|out",
    ),
    "whats": (
        f"our {_RULES}|approach|stance|practice|position|take|style|strategy",
        "the story|history|reasoning|rationale|decision|verdict|status with|behind|on|of|for",
    ),
    "which": (f"~5 did we {_AGREED}|go|end|use", "~4 do we use|prefer|support|ignore|allow|require|follow"),
    "how": (
        f"did we {_AGREED}|do|solve|fix|handle|end|deal|resolve",
        "do we usually|normally|generally",
        "come we",
    ),
    "when": (f"did we {_AGREED}|switch|move|drop|introduce",),
    "where": ("did we land|end", "do|did we stand on|with|regarding"),
    "who": ("decided|chose|agreed",),
    "do": (
        f"we have a|an|any|some|our {_RULES}|reason",
        f"we have ~1 {_RULES}",
        "we have anything|something|notes about|on|for",
        "you remember|recall",
    ),
    **dict.fromkeys(("is", "isnt", "are", "arent"), _IS),
    **dict.fromkeys(
        ("have", "havent", "^did", "didnt", "ever"),
        (f"we ever|already|once|{_AGREED}|{_DECIDED}|discuss|discussed|document|documented|reject|rule|ruled",),
    ),
    "recall": (
        "what|how|why|which|our|whether|when",
        "the|that|our ~3 decision|rule|agreement|discussion|convention|conclusion|history",
    ),
    "remind": ("me what|why|how|of|which|where|when|about",),
    "remember": ("when|what|why|how we",),
    **dict.fromkeys(("forgot", "forget", "forgotten"), ("why|what|how|which|whether we",)),
    **dict.fromkeys(("tell", "show"), ("me what|why|how we",)),
    **dict.fromkeys(("look", "find", "check"), ("up|out what|why we", "what we decided|agreed")),
    "wasnt": (*_IS, "there ~9 we"),
    "was": (*_IS, "it ~2 decided|agreed|settled"),
    "last": ("time we",),
}
_GERMAN: dict[str, Sequence[str]] = {
    "was": (
        f"haben|hatten wir ~12 {_ENTSCHIEDEN}",
        "haben wir zu|zum|zur|uber|bei|mit|fur",
        "wurde|wurden|war|ist ~12 entschieden|beschlossen|vereinbart|festgelegt|abgemacht",
        "wissen wir",
        f"ist|war|sind unsere|unser|die|unserer {_REGEL}|linie|haltung|ansatz|vorgehen|strategie",
        "war der|die grund|begrundung|uberlegung fur|hinter|gegen",
    ),
    **dict.fromkeys(("warum", "wieso", "weshalb"), _WARUM),
    **dict.fromkeys(("welche", "welchen", "welches", "welcher"), _WELCHE),
    **dict.fromkeys(("haben", "hatten"), (f"wir ~6 {_REGEL}", "wir schon|schonmal|je|jemals|bereits|uns")),
    **dict.fromkeys(("gibt", "gab"), (f"es ~4 {_REGEL}",)),
    "wie": (
        "war das|es nochmal|noch|doch|mal",
        f"haben|hatten wir ~9 {_ENTSCHIEDEN}",
        f"lautet|lauten|ist|sind unsere|unser|die {_REGEL}",
    ),
    **dict.fromkeys(("wofur", "wogegen", "wann"), ("haben wir",)),
    **dict.fromkeys(("erinner", "erinnere"), ("mich",)),
    "erinnerst": ("du dich",),
    "weisst": ("du noch",),
}
_SPANISH: dict[str, Sequence[str]] = {
    "que": (
        _DECIDIMOS,
        "se decidio|acordo|dijo",
        "hemos|habiamos decidido|acordado|dicho|elegido",
        f"{_REGLA} tenemos|seguimos|usamos|hay",
    ),
    "por": (
        "que !obtenemos|recibimos|vemos|tenemos|perdemos|estamos *mos",
        "que no *mos",
        "que se|fue ~3 decidio|eligio|rechazo|descarto|elimino|quito|cambio|decidido|elegido|rechazado",
    ),
    **dict.fromkeys(
        ("tenemos", "teniamos", "hay", "existe"),
        (f"alguna|una|algun|un|ya {_REGLA}", f"alguna|una|algun|un ~1 {_REGLA}"),
    ),
    "hemos": ("decidido|acordado|hablado|alguna",),
    **dict.fromkeys(("^decidimos", "^acordamos"), ("algo|ya|alguna|si",)),
    "alguna": ("vez *mos",),
    "recuerdas": ("que|como|por|lo|cuando|cual",),
    "recuerda": ("que|como|por|lo",),
    "recuerdame": ("que|como|por|lo|cual",),
    "cual": (f"es|era|fue nuestra|nuestro|la|el {_REGLA}|postura|enfoque|razon|conclusion",),
    "cuales": (f"son|eran nuestras|nuestros|las|los {_REGLA}",),
    **dict.fromkeys(("como", "cuando"), (f"{_DECIDIMOS}|resolvimos|solucionamos|cambiamos|dejamos",)),
}
_FRENCH: dict[str, Sequence[str]] = {
    **dict.fromkeys(("quavons-nous", "qua-t-on", "quavait-on", "quavions-nous"), (_DECIDE,)),
    "que": (f"avons-nous|avions-nous {_DECIDE}", "savons-nous|sait-on", "disait|dit notre|la|le"),
    "quoi": (f"avons-nous|a-t-on {_DECIDE}",),
    "quest-ce": (f"quon|que|quil a|on|nous|avait ~2 {_DECIDE}", "quon|que sait|nous"),
    "pourquoi": (
        f"avons-nous|a-t-on|avions-nous|navons-nous|na-t-on ~2 {_DECIDE}|*e|*i|*u|*is",
        f"on|nous a|avons|avait|avions ~1 {_DECIDE}|*e|*i|*u|*is",
        "*ons-nous",
        "est-ce quon|que",
        "utilise-t-on|garde-t-on|evite-t-on",
    ),
    **dict.fromkeys(
        ("avons-nous", "avions-nous", "a-t-on", "avait-on"), (f"une|un|des|deja {_REGLE}|{_DECIDE}", _DECIDE)
    ),
    "on": (f"a|avait {_DECIDE} quoi",),
    "y": (f"a-t-il|avait-il une|un|des {_REGLE}|raison",),
    "existe-t-il": (f"une|un|des {_REGLE}",),
    **dict.fromkeys(
        ("rappelle-moi", "rappelez-moi", "rappelle", "redis-moi"),
        ("moi pourquoi|ce|comment|quelle|quel|la|notre", "pourquoi|ce|comment|quelle|quel|la|notre"),
    ),
    **dict.fromkeys(
        ("quelle", "quel", "quelles", "quels"),
        (
            f"est|etait|sont|fut notre|nos|la|le|les {_REGLE}|raison|conclusion|position",
            f"~4 avons-nous|a-t-on {_DECIDE}",
        ),
    ),
    **dict.fromkeys(("comment", "quand"), (f"avons-nous|a-t-on {_DECIDE}|resolu|corrige",)),
}

# With each language, its words that are no topic: they join the topic to the question, or say again that it is one.
_LANGUAGES: Sequence[tuple[dict[str, Sequence[str]], str]] = (
    (
        _ENGLISH,
        "a about again against agree agreed agreeing already an and any anything are as at be because been"
        " behind but by came changed chose chosen concerning could decide decided decision did do ever exactly"
        " for from had happened has have hey how i if in instead into is it its just me never not noted now of"
        " off ok okay on once one or our out over please pretty quickly rather really reason reasoning"
        " recorded regarding remember rule rules said say settle settled so some somebody someone something"
        " somewhere still such than that the their them then there they thing things this those though to told"
        " towards us versus vs wanted was we were what whats when where whether which who why will with would"
        " written wrote you",
    ),
    (
        _GERMAN,
        "aber alle als am an auch auf aus bei beim beschlossen da damals dann das dass davor dem den denn der"
        " des die dies diese doch du eigentlich ein eine einem einen einer entschieden er es fur genau gerade"
        " gibt haben hatten ich im immer in ist jetzt mal man mit nach nicht noch nochmal nun nur ob oder ohne"
        " regel schon sich sie sind so statt uber um und uns unser unsere vereinbart vom von vor vorher war"
        " waren warum was wegen welche wenn wie wir wird wo wollten wurde zu zum zur",
    ),
    (
        _SPANISH,
        "a al algo alguna antes aqui como con cual cuando de del desde donde e el ella en entre era es esa"
        " ese eso esta este esto fue ha hasta hay la las le les lo los mas me mi nada ni no nos nosotros o"
        " para pero por porque puede que se si sin sobre son su sus un una uno unos y ya",
    ),
    (
        _FRENCH,
        "a ai alors as au aux avec avons avons-nous bien ca ce ces cet cette choisi comme concernant d dans"
        " de decide deja des dont du dun dune elle en est et il ils j je l la le les leur lieu lon lors mais"
        " moi n ne nos notre nous on ou par pas plus plutot pour propos qu quand que quel quelle qui quil quoi"
        " quon quun quune regarde sa sans se ses si son sont sujet sur tous tout un une vers y",
    ),
)
_FILLER: dict[str, frozenset[str]] = {}
"""The words that are no topic, split when they are needed."""


class PastQuestion(NamedTuple):
    """A question about the past."""

    topic: str
    """The prompt without the words that make it such a question."""
    is_english: bool = True
    """True if its words can be expected in English records: it is in English, or its topic is only names."""


def topic(prompt: str) -> str:
    """Return the topic of a question about the past; empty if the prompt is none, or names no topic."""
    question = parse(prompt)
    return question.topic if question else ""


def parse(prompt: str) -> PastQuestion | None:
    """Return the question about the past that a prompt is; None if it is none, or names no topic."""
    if len(prompt) > _MAX_CHARACTERS:
        return None
    chunks = prompt.split()[:_MAX_WORDS]
    words = plain_words(chunks)
    for start, word in enumerate(words):
        opens = start == 0 or chunks[start - 1][-1] in ".,;:?!-–"
        for patterns, filler in _LANGUAGES:
            for pattern in (*patterns.get(word, ()), *(patterns.get(f"^{word}", ()) if opens else ())):
                places = match_phrase(pattern.split(), words, start + 1)
                if places is not None:
                    rest = _rest(chunks, words, [start, *places], filler)
                    is_english = patterns is _ENGLISH or (patterns is not _GERMAN and _are_names(rest))
                    return PastQuestion(rest, is_english) if rest else None
    return None


def _rest(chunks: Sequence[str], words: Sequence[str], places: Sequence[int], filler: str) -> str:
    """Return the words outside of the phrase that are no filler, as they were typed."""
    if filler not in _FILLER:
        _FILLER[filler] = frozenset(filler.split())
    is_filler = _FILLER[filler].__contains__
    rest = [at for at, word in enumerate(words) if at not in places and word]
    return " ".join(chunks[at] for at in rest if not is_filler(words[at]) or _is_name(chunks, at))


def _is_name(chunks: Sequence[str], at: int) -> bool:
    """True for a word with a capital letter inside a sentence: `Please` in "Release Please"."""
    return at > 0 and chunks[at][0].isupper() and len(chunks[at]) > 1 and chunks[at - 1][-1] not in ".?!:"


def _are_names(topic: str) -> bool:
    """True if all words have a capital letter. In German all nouns do, so there it tells nothing."""
    return all(word.strip(_EDGES)[:1].isupper() for word in topic.split())


def plain_words(chunks: Iterable[str]) -> list[str]:
    """Return words as patterns have them."""
    return [chunk.lower().translate(_LETTERS).strip(_EDGES) for chunk in chunks]


def match_phrase(pattern: Sequence[str], words: Sequence[str], at: int) -> list[int] | None:
    """Return the positions of the words that a pattern matches from `at` on, without its gaps; None if it does not.

    A pattern has alternatives (`decide|agree`), `~5` for up to five words of any kind, `!` for words that must not
    follow, and `*` for any letters of a word.
    """
    if not pattern:
        return []
    first, rest = pattern[0], pattern[1:]
    if first[0] == "!":
        return None if at < len(words) and _is_any(words[at], first[1:]) else match_phrase(rest, words, at)
    if first[0] == "~":
        tries = (match_phrase(rest, words, at + gap) for gap in range(int(first[1:]) + 1))
        return next((matched for matched in tries if matched is not None), None)
    if at >= len(words) or not _is_any(words[at], first):
        return None
    others = match_phrase(rest, words, at + 1)
    return None if others is None else [at, *others]


def _is_any(word: str, alternatives: str) -> bool:
    return any(word == pattern or ("*" in pattern and _fits(word, pattern)) for pattern in alternatives.split("|"))


def _fits(word: str, pattern: str) -> bool:
    beginning, _, ending = pattern.partition("*")
    return len(word) > len(beginning) + len(ending) + 1 and word.startswith(beginning) and word.endswith(ending)


_ALL = 0.999


def thresholds(past: PastQuestion, candidates: Sequence[Candidate], settings: Settings) -> Thresholds:
    """Return the probabilities at which a record answers a question, and at which it is pointed to."""
    from onrecord.recall.selection import Thresholds

    if _is_by_keywords(candidates):
        from onrecord.search import coefficients

        return Thresholds(coefficients.SEARCH_KEYWORD_ASKED)
    marks = _marks(past)
    return Thresholds(marks[0], marks[1]) if settings.flag("retrieval.pointers") else Thresholds(marks[0])


def is_missing(
    stores: Stores, past: PastQuestion, query: Query, candidates: Sequence[Candidate], settings: Settings
) -> bool:
    """True if it can be said that nothing is on file: no record is likely, and none that is retired has the topic."""
    if _is_by_keywords(candidates):
        return False
    denied = _marks(past)[2]
    if any(candidate.match.probability >= denied or _has_all(candidate) for candidate in candidates):
        return False
    return stores.have_no_match(query, settings, candidates)


def _has_all(candidate: Candidate) -> bool:
    """True if title and one passage of a record have every word of the topic: then it is not true that none matches."""
    return candidate.match.features.get("window_title", 0.0) > _ALL


def _is_by_keywords(candidates: Sequence[Candidate]) -> bool:
    # The keyword scorer knows only that words match: each match may be the answer.
    return any(candidate.match.is_by_keywords for candidate in candidates)


def _marks(past: PastQuestion) -> tuple[float, float, float]:
    """Return the thresholds for the question's language: of a rule, of a pointer, and below which all is improbable."""
    from onrecord.search import coefficients

    # Where the records are in another language than the question, right ones score lower.
    return coefficients.PAST_ENGLISH if past.is_english else coefficients.PAST_OTHERS
