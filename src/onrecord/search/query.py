"""A typed text as a bounded set of search terms. It depends on no index."""

from __future__ import annotations

from onrecord import coldstart
from onrecord.categories import CATEGORIES
from onrecord.search import passages, terms
from onrecord.search.passages import HEAD, TAIL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TERMS = 64
_MAX_HEAD_TERMS = 40
_MAX_WORDS = 320

_NO_NAMES: Mapping[str, str] = {}
_INTENTS = [
    (category.name, frozenset(category.intent[1].split()))
    for category in sorted(CATEGORIES.values(), key=lambda category: category.intent[0])
]
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

# Kept as text and split when needed: most prompts are English.
OTHER_LANGUAGES = ("de", "fr", "es", "pt", "it", "nl", "pl", "tr")
"""The languages of the stop words below, in their order."""

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
    "a aby albo ale ani az bez bo byc byl byla bylo by czy dla do dlaczego gdy gdzie go i ich ile ja jak jaka jaki"
    " jakie jako jego jej jest jesli jeszcze juz kiedy kto ktora ktore ktory lub ma mam mamy mi mnie moge moj mozemy"
    " mozna my na nad nam nas nasz nie nim no o od on ona one oni oraz po pod prosze przed przez przy sa sie tak tam te"
    " tego tej ten teraz to tu tutaj tylko tym u w we wiec z za ze zeby",
    "acaba ama ancak artik bana ben beni benim bir biz bize bizim bu bunu burada cok cunku da daha de degil diye en"
    " evet gibi gore hangi hayir hem hic icin ile ise kadar ki kim lutfen mi mu nasil ne neden nerede niye o olan"
    " olarak olur onu onun peki sadece sana sen siz sonra su tum var ve veya ya yani yok zaman",
)  # fmt: skip
_split: list[frozenset[str]] = []
_RUSSIAN = frozenset((
    "а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее если есть еще ещё её же за и"
    " из или им их к как какой когда кто ли мне мы на над надо нам нас не него нет но ну о об он она они от по под при"
    " с сейчас со так там то тоже только тот ты у уже чем что чтобы эта эти это этот я"
).split())  # fmt: skip

_FILLER_CHARACTERS = frozenset("的了吗呢吧么们这那哪怎什是我你他她它把被很都也就还又和与或您")
"""Chinese characters that are hardly ever part of a word that names a topic."""

_FILLER_PAIRS = frozenset((
    "나요 가요 까요 어요 아요 해요 세요 네요 하나 하는 하고 하면 하지 되나 되는 되면 인가 니다 습니 합니 입니"
    " 됩니 해야 에서 으로 에는 에게 까지 부터 해도 도되 있나 있는 있습 없나 없는"
    " 없습 어떤 어떻 떻게 무엇 언제 여기"
    " 기서 우리 저희 해줘 그런 이런 그리 리고 하여 했나 했습"
).split())  # fmt: skip
"""Korean endings and question words, as pairs of characters."""


class Query(coldstart.NamedTuple):
    """The terms of a prompt: all in order, distinct ones, which neighbours form one compound, and the intent."""

    sequence: list[str]
    terms: list[str]
    compounds: set[tuple[str, str]]
    intent: str
    """The category that the words point to, or empty."""
    text: str
    """The part of the text that was read, for its meaning."""
    filler: float
    """The share of its words that name no topic: about half in a sentence, little in the bare title of a change."""
    names: Mapping[str, str]
    """The joined words of its names, each with its parts: `mysql` with `mi sql` for MySQL."""
    passages: tuple[Query, ...] = ()
    """The passages of a prompt, each asked for itself; none if it is a single one."""
    others: int = 0
    """Of a passage: how many others the prompt has."""
    printed: float = 0.0
    """The share of it that a program printed."""
    is_foreign: bool = False
    """True if it is in another language than English, as far as its script or its stop words tell."""


def parse_prompt(text: str) -> Query:
    """Return the query for a prompt: what it says as a whole, without what machines print, and its passages."""
    parts = passages.split(text)
    whole = parse("\n".join(part.text for part in parts))
    if len(parts) == 1:
        return whole
    printed = sum(len(part.text) for part in parts if part.is_printed) / sum(len(part.text) for part in parts)
    queries = (parse(part.text)._replace(others=len(parts) - 1, printed=float(part.is_printed)) for part in parts)
    return whole._replace(printed=printed, passages=tuple(queries))


def stop_words(words: list[str]) -> frozenset[str]:
    """Return the stop words for a text, given its lower-case words: English ones, and those of its language."""
    distinct = set(words)
    best, most = ENGLISH, max(1, len(distinct & ENGLISH))
    for stop_list in other_stop_words():
        hits = len(distinct & stop_list)
        if hits > most:
            best, most = ENGLISH | stop_list, hits
    return best if all(map(str.isascii, distinct)) else best | _RUSSIAN


def other_stop_words() -> list[frozenset[str]]:
    """Return the stop words of each of `OTHER_LANGUAGES`."""
    if not _split:
        _split.extend(frozenset(text.split()) for text in _OTHERS)
    return _split


def carries_meaning(term: str) -> bool:
    """True if a term is worth searching for: no single Latin letter or digit, no ending of an unspaced script."""
    if term.isascii():
        return len(term) > 1
    is_ending = term in _FILLER_PAIRS or all("\u3040" <= character <= "\u309f" for character in term)
    return not is_ending and _FILLER_CHARACTERS.isdisjoint(term)


def parse(text: str) -> Query:
    """Return the query for a text."""
    read = _pieces(text)
    pieces = [[(chunk, terms.words(chunk)) for chunk in piece.split()[:_MAX_WORDS]] for piece in read]
    lowered = [_lowered(word) for piece in pieces for _, words in piece for word in words]
    stop = stop_words(lowered)
    sequence: list[str] = []
    distinct: dict[str, None] = {}
    compounds: set[tuple[str, str]] = set()
    names: dict[str, str] = {}
    for piece in pieces:
        most = _MAX_HEAD_TERMS if piece is not pieces[-1] else MAX_TERMS
        for chunk, words in piece:
            compound = [term for word in words for term in terms.of_word(word)]
            sequence += compound
            compounds.update(zip(compound, compound[1:]))
            joined = terms.names(chunk, words) if len(compound) > 1 else _NO_NAMES
            if len(distinct) < most:
                # A name of single letters has no other term.
                topic = _topic_terms(words, stop) or [name for name in joined if name not in stop]
                distinct.update(dict.fromkeys(topic))
                names.update((name, parts) for name, parts in joined.items() if name not in topic)
    filler = sum(word in stop for word in lowered) / (len(lowered) or 1)
    first_terms = list(distinct)[:MAX_TERMS]
    is_foreign = not stop <= ENGLISH | _RUSSIAN or any(map(_is_of_another_script, first_terms))
    return Query(sequence, first_terms, compounds, _intent(set(lowered)), "\n".join(read), filler, names)._replace(
        is_foreign=is_foreign
    )


def _is_of_another_script(term: str) -> bool:
    return not term.isascii() and term.isalpha() and term[0] > "\u036f"


def _topic_terms(words: list[str], stop: frozenset[str]) -> list[str]:
    return [
        term for word in words if _lowered(word) not in stop for term in terms.of_word(word) if carries_meaning(term)
    ]


def _lowered(word: str) -> str:
    """Return a word as lists of stop words have it: `für` as `fur`."""
    return word.lower() if word.isascii() else terms.plain_letters(word.lower()).replace("ı", "i")


def _pieces(text: str) -> list[str]:
    """Return the parts of a text that are read, without the halves of words where it was cut."""
    if len(text) <= HEAD + TAIL:
        return [text]
    head, tail = text[:HEAD], text[-TAIL:]
    return [head[: head.rfind(" ")] if " " in head else head, tail[tail.find(" ") + 1 :]]


def _intent(words: set[str]) -> str:
    return next((category for category, cues in _INTENTS if not cues.isdisjoint(words)), "")
