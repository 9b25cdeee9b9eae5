"""A typed text as a bounded set of search terms. It depends on no index."""

from __future__ import annotations

from onrecord import coldstart
from onrecord.categories import CATEGORIES
from onrecord.search import terms

HEAD, TAIL = 2_400, 1_200
"""Characters read from the beginning and from the end of a long prompt: the question is at either."""

MAX_TERMS = 64
_MAX_HEAD_TERMS = 40
_MAX_WORDS = 320
_MAX_REFERRING_TERMS = 3
_MAX_TOPICLESS = 400
"""Characters of a prompt that may refer back or name nothing."""


_INTENTS = [
    (category.name, frozenset(category.intent[1].split()))
    for category in sorted(CATEGORIES.values(), key=lambda category: category.intent[0])
]
_REFERRING = frozenset(
    "it its that this these those them they same above again there other one ones like so das dies diese dasselbe"
    " eso esto ça cela isso".split()
)
_GENERIC = frozenset(
    "add also appli chang check clean close commit continu do done els explain fine finish fix go good great implement"
    " keep know let look make merg move need next nice now ok okai open pleas proce push put readi remov renam retri"
    " revert review right run save see sens start step stop sure test thank thing tri undo updat use wait want work"
    " write ye yep mach weiter bitt sigu vale oui non".split()
)
"""Stems that say what to do without saying to what."""

ENGLISH = frozenset((
    "a about after again all also am an and any anyone anything are aren around as at be because been before being"
    " between both but by can cannot could couldn did didn do does doesn doing don done down during each either else"
    " etc even ever every few for from further get gets getting give go going gonna got had has hasn have haven having"
    " he hello help her here hey hi him his how however i if in into is isn it its itself just know let lets like ll"
    " look make makes many may maybe me might more most much must my myself need needs no nor not nothing now of off"
    " ok okay on once one only or other others our ours out over own per please put quite rather re really same say"
    " says see seem seems shall she should shouldn since so some somehow something still such take tell than thank"
    " thanks that the their them then there these they thing things think this those though through to too try trying"
    " under until up us use used uses using ve very via want wants was wasn way we well were weren what when where"
    " whether which while who whom whose why will with within without won would wouldn yeah yes yet you your yours"
).split())  # fmt: skip

# Kept as text and split when needed: most prompts are English. German, French, Spanish, Portuguese, Italian, Dutch.
_OTHERS = (
    "aber alle als also am an auch auf aus bei beim bin bis bitte da damit dann das dass dem den der des die dies"
    " diese dieser doch du durch ein eine einem einen einer er es fur gibt hab habe haben hat hier ich ihr im in ist"
    " ja jetzt kann kein keine konnen man mal mehr mein mich mir mit muss nach nicht noch nun nur ob oder ohne schon"
    " sein sich sie sind so soll sollen uber um und uns unser unsere vom von vor war warum was weil welche wenn wer"
    " werden wie wir wird wo zu zum zur",
    "a au aux avec ca ce ces cet cette comme comment dans de des dois donc du elle elles en est et etait etre faire"
    " fait faut il ils j je l la le les leur lui ma mais me mes moi mon ne nos notre nous on ou par pas peut peux plus"
    " pour pourquoi quand que quel quelle qui quoi sa sans se ses si sont sur ta tes toi ton tous tout toute tres tu"
    " un une vos votre vous y",
    "al algo antes aqui asi como con cual cuando de del desde donde el ella ellos en entre era es esa ese eso esta"
    " este esto estos fue ha hace hacer han hay la las le les lo los mas me mi mis mucho muy nada ni no nos o para"
    " pero por porque puede puedo que quien se ser si sin sobre son su sus tambien te tengo tiene todo tu un una uno"
    " unos y ya yo",
    "a agora ao aos aqui as assim ate com como da das de dela dele deles depois do dos e ela ele eles em entao era"
    " essa esse esta este eu foi isso isto ja la mais mas me mesmo meu minha muito na nao nas nem no nos nossa nosso"
    " num numa o os ou para pela pelo por porque pra qual quando que quem quero se sem ser seu so sua tambem tem ter"
    " todo tudo um uma voce",
    "a ad ai al alla anche c che chi ci come con cosa da dal dalla degli dei del della delle di dopo dove e ecco era"
    " fa gli ha hai ho i il in io la le lei lo loro lui ma me mi mia mio ne nei nel nella noi non nostra nostro o per"
    " perche piu poi puo qual quando questa questo qui se sei senza si sia sono su sul sulla tra tu tutto un una uno"
    " vi voi",
    "aan al als bij dan dat de deze die dit doen door dus een eens en er geen had heb heeft hem het hier hij hoe hun"
    " ik in is ja je kan kunnen maar me meer met mij mijn moet na naar niet nog nu of om omdat ons ook op over te"
    " tegen toch tot u uit van veel voor waar waarom wat we wel wie wij wil worden zal ze zei zich zij zijn zo zonder"
    " zou",
)  # fmt: skip
_split: list[frozenset[str]] = []
_RUSSIAN = frozenset((
    "а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее если есть еще ещё её же за и"
    " из или им их к как какой когда кто ли мне мы на над надо нам нас не него нет но ну о об он она они от по под при"
    " с сейчас со так там то тоже только тот ты у уже чем что чтобы эта эти это этот я"
).split())  # fmt: skip


class Query(coldstart.NamedTuple):
    """The terms of a prompt: all in order, distinct ones, which neighbours form one compound, and the intent."""

    sequence: list[str]
    terms: list[str]
    compounds: set[tuple[str, str]]
    intent: str
    """The category that the words point to, or empty."""
    text: str = ""
    """The part of the text that was read, for its meaning."""
    filler: float = 0.0
    """The share of its words that name no topic: about half in a sentence, little in the bare title of a change."""


def parse(text: str, earlier_text: str = "") -> Query:
    """Return the query for `text`, followed by the terms of `earlier_text`, the prompts that it refers to."""
    query = _parse(text)
    if not earlier_text:
        return query
    other = _parse(earlier_text)
    return query._replace(
        sequence=[*query.sequence, "", *other.sequence],
        terms=list(dict.fromkeys([*query.terms, *other.terms]))[:MAX_TERMS],
        compounds=query.compounds | other.compounds,
        text=f"{query.text}\n{other.text}",
    )


def is_referring(text: str) -> bool:
    """True if a prompt refers back or names nothing, so that its own words do not tell its topic."""
    if len(text) > _MAX_TOPICLESS:
        return False
    specific = [term for term in _parse(text).terms if term not in _GENERIC]
    points_back = not _REFERRING.isdisjoint(word.lower() for word in terms.words(text))
    return not specific or (points_back and len(specific) <= _MAX_REFERRING_TERMS)


def stop_words(words: list[str]) -> frozenset[str]:
    """Return the stop words for a text, given its lower-case words: English ones, and those of its language."""
    distinct = set(words)
    best, most = ENGLISH, max(1, len(distinct & ENGLISH))
    if not _split:
        _split.extend(frozenset(text.split()) for text in _OTHERS)
    for stop_list in _split:
        hits = len(distinct & stop_list)
        if hits > most:
            best, most = ENGLISH | stop_list, hits
    return best if all(map(str.isascii, distinct)) else best | _RUSSIAN


def carries_meaning(term: str) -> bool:
    """True if a term is worth searching for: not a single Latin letter or digit."""
    return len(term) > 1 or not term.isascii()


def _parse(text: str) -> Query:
    read = _pieces(text)
    pieces = [[terms.words(chunk) for chunk in piece.split()[:_MAX_WORDS]] for piece in read]
    lowered = [word.lower() for piece in pieces for words in piece for word in words]
    stop = stop_words(lowered)
    sequence: list[str] = []
    distinct: dict[str, None] = {}
    compounds: set[tuple[str, str]] = set()
    for piece in pieces:
        most = _MAX_HEAD_TERMS if piece is not pieces[-1] else MAX_TERMS
        for words in piece:
            compound = [term for word in words for term in terms.of_word(word)]
            sequence += compound
            compounds.update(zip(compound, compound[1:]))
            if len(distinct) < most:
                distinct.update(dict.fromkeys(_topic_terms(words, stop)))
    filler = sum(word in stop for word in lowered) / (len(lowered) or 1)
    return Query(sequence, list(distinct)[:MAX_TERMS], compounds, _intent(set(lowered)), "\n".join(read), filler)


def _topic_terms(words: list[str], stop: frozenset[str]) -> list[str]:
    return [term for word in words if word.lower() not in stop for term in terms.of_word(word) if carries_meaning(term)]


def _pieces(text: str) -> list[str]:
    """Return the parts of a text that are read, without the halves of words where it was cut."""
    if len(text) <= HEAD + TAIL:
        return [text]
    head, tail = text[:HEAD], text[-TAIL:]
    return [head[: head.rfind(" ")] if " " in head else head, tail[tail.find(" ") + 1 :]]


def _intent(words: set[str]) -> str:
    return next((category for category, cues in _INTENTS if not cues.isdisjoint(words)), "")
