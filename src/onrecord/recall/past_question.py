"""Questions about what was decided, agreed or learned: "what did we decide about …", in English, German and Spanish.

They ask the memory itself, so they are answered like a search. Imported by hooks: no regular expressions here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_CHARACTERS = 400
"""Characters of a question: what is longer is a task that happens to mention the past."""

_MAX_WORDS = 80

_LETTERS = str.maketrans("áàâäéèêëíìîïóòôöúùûüñç", "aaaaeeeeiiiioooouuuunc", "'’`´")
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
    "again",
)
_IS = (f"there a|an|any|some {_RULES}", "there a|any reason we")
_WARUM = (
    f"haben|hatten wir ~9 {_ENTSCHIEDEN}",
    "nutzen|verwenden|benutzen|speichern|brauchen|setzen|vermeiden|behalten|machen|wollten|wollen wir",
    f"wurde|wurden ~8 {_ENTSCHIEDEN}",
)
_WELCHE = ("~4 haben wir", "~4 *en wir")

# By the first word, the rests of the patterns: alternatives, `~5` for up to five words that belong to the topic, `!`
# for words that must not follow, `*` for any letters. A first word with `^` opens a clause.
_PATTERNS: dict[str, Sequence[str]] = {
    "why": _WHY,
    "what": (
        f"did|have|had|do|would we {_AGREED}|{_DECIDED}|know|learn|learned|end",
        "did we do about|with|for|when|last",
        "do we have on|about|regarding",
        "do we usually|normally|generally|always",
        f"is|was|are|were|s our {_RULES}|approach|stance|practice|position|take|style|strategy|outcome|rationale",
        "was|were the|that decision|outcome|conclusion|agreement|rationale|reasoning|verdict|resolution|plan",
        f"was|were|has ~6 {_DECIDED}",
        f"~5 did we {_AGREED}|go|end|use",
    ),
    "whats": (f"our {_RULES}|approach|stance|practice|position|take|style|strategy",),
    "which": (f"~5 did we {_AGREED}|go|end|use", "~4 do we use|prefer|support|ignore|allow|require|follow"),
    "how": (f"did we {_AGREED}|do|solve|fix|handle|end|deal|resolve", "do we usually|normally|generally"),
    "when": (f"did we {_AGREED}|switch|move|drop|introduce",),
    "where": ("did we leave|stop off",),
    "who": ("decided",),
    "do": (
        f"we have a|an|any|some|our {_RULES}",
        f"we have ~1 {_RULES}",
        "we have anything|something|notes about|on|for",
        "you remember|recall",
    ),
    **dict.fromkeys(("is", "isnt", "are", "arent"), _IS),
    **dict.fromkeys(
        ("have", "havent", "^did", "didnt", "ever"),
        (f"we ever|already|{_AGREED}|{_DECIDED}|discuss|discussed|document|documented|reject",),
    ),
    "recall": (
        "what|how|why|which|our|whether|when",
        "the|that|our ~3 decision|rule|agreement|discussion|convention|conclusion|history",
    ),
    "remind": ("me what|why|how|of|which|where|when|about",),
    "remember": ("when|what|why|how we",),
    **dict.fromkeys(("tell", "show"), ("me what|why|how we",)),
    **dict.fromkeys(("look", "find", "check"), ("up|out what|why we", "what we decided|agreed")),
    "wasnt": (*_IS, "there ~9 we"),
    "last": ("time we",),
    "was": (
        *_IS,
        f"haben|hatten wir ~12 {_ENTSCHIEDEN}",
        "haben wir zu|zum|zur|uber|bei|mit|fur",
        "wurde|wurden|war|ist ~12 entschieden|beschlossen|vereinbart|festgelegt|abgemacht",
        "wissen wir",
        f"ist|war|sind unsere|unser|die|unserer {_REGEL}|linie|haltung|ansatz|vorgehen|strategie",
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
    "wo": ("haben|waren|sind wir ~3 aufgehort|stehen|stehengeblieben",),
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


def topic(prompt: str) -> str:
    """Return the topic of a question about the past: the prompt without the words that make it one; else empty."""
    if len(prompt) > _MAX_CHARACTERS:
        return ""
    chunks = prompt.split()[:_MAX_WORDS]
    words = [chunk.lower().translate(_LETTERS).strip(_EDGES) for chunk in chunks]
    for start, word in enumerate(words):
        opens = start == 0 or chunks[start - 1][-1] in ".,;:?!-–"
        patterns = (*_PATTERNS.get(word, ()), *(_PATTERNS.get(f"^{word}", ()) if opens else ()))
        for pattern in patterns:
            phrase = _matched(pattern.split(), words, start + 1)
            if phrase is not None:
                rest = [chunk for at, chunk in enumerate(chunks) if at != start and at not in phrase]
                return " ".join(rest)
    return ""


def _matched(pattern: Sequence[str], words: Sequence[str], at: int) -> list[int] | None:
    """Return the positions of the words that a pattern matches, without its gaps; None if it does not match."""
    if not pattern:
        return []
    first, rest = pattern[0], pattern[1:]
    if first[0] == "!":
        return None if at < len(words) and _is_any(words[at], first[1:]) else _matched(rest, words, at)
    if first[0] == "~":
        tries = (_matched(rest, words, at + gap) for gap in range(int(first[1:]) + 1))
        return next((places for places in tries if places is not None), None)
    if at >= len(words) or not _is_any(words[at], first):
        return None
    places = _matched(rest, words, at + 1)
    return None if places is None else [at, *places]


def _is_any(word: str, alternatives: str) -> bool:
    return any(word == pattern or ("*" in pattern and _fits(word, pattern)) for pattern in alternatives.split("|"))


def _fits(word: str, pattern: str) -> bool:
    beginning, _, ending = pattern.partition("*")
    return len(word) > len(beginning) + len(ending) + 1 and word.startswith(beginning) and word.endswith(ending)
