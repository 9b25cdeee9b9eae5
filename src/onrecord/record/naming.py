"""Clean titles and tags, ids made from titles, and triggers that name nothing.

Titles and tags are one line without control characters, invisible look-alikes and our own markup. Accents stay (NFC),
and so do the marks and joiners of Indic, Arabic and other scripts. An id is a readable ASCII slug, whatever the script
of the title.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Sequence

from onrecord.coldstart import content_hash

_NAMES = r"\s*/?\s*(?:memory-context|result|system-reminder|memory)"
_OURS = re.compile(rf"<{_NAMES}\b[^>]*>?", re.IGNORECASE)
_OPENING = re.compile(rf"<(?={_NAMES})", re.IGNORECASE)
_DEVICE = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")
_PLAIN_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "DIGIT")
MAX_TITLE_CHARACTERS = 120
MAX_TAG_CHARACTERS = 60
MAX_ID_CHARACTERS = 80
"""Characters of an id that a user chose, or that an earlier version made."""

_MAX_SLUG_CHARACTERS = 40
"""Characters of an id made from a title: it fits in a list and can be read at a glance."""

_CYRILLIC = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґў",
        "a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch . y . e yu ya yo i yi ye g u".split(),
    )
)
_GREEK = dict(zip("αβγδεζηθικλμνξοπρσςτυφχψω", "a v g d e z i th i k l m n x o p r s s t y f ch ps o".split()))
_OTHER = {"ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "'": "", "’": ""}
_LETTERS = {**_CYRILLIC, **_GREEK, **_OTHER}
_ELISION = re.compile(
    r"(?<!['’])\b(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|un|(?:d|n)ell|d?all|sull|quell)['’](?=[^\W\d_])",
    re.IGNORECASE,
)
"""A French or Italian word that lost its end before a vowel, as in l'index: without the apostrophe, no word is left."""


GENERIC = frozenset(
    """
    s t d m ll re ve a about again all also an and another any anything are as at be been begin best better but by can
    could did do does doing done down else everything for from get give go going good got had has have help here hey hi
    how i if in into is it its just know let lets like look make me mine more must my need needs new next no not nothing
    now of off ok okay old on one or other our out over please put right same see should so some something start stop
    sure take tell thank thanks that the their them then there these they this those to too try up us use using wait
    want was way we well were what when where which who why will with work working works would yes yet you your
    add adjust bug bugs broke broken change changes check clean code coding continue create edit error errors execute
    explain fail failed failing fails file files finish fix fixed fixes handle implement improve improvement keep move
    problem problems proceed program project remove rename rewrite run running solve step steps stuff task thing
    things todo update write wrong
    das den der die ein eine es fehler hier ich ist jetzt mach machen mal mir nochmal und uns was weiter wie wir bitte
    au ca ce ces de des du et faire fais fait il je la le les moi non nous oui pour quoi que un une vas ça
    al algo como con continua continúa el eso esta esto hacemos hacer haz lo los por qué seguir sigue una y
    agora arrume e faz fazer isso isto o para um uma vamos adesso che come cosa fai facciamo per
    """.split()
)
"""Words that fit any record. Words such as commit, test or review are not among them: rules are about those."""

EVERYDAY = frozenset(
    """
    test tests testing tested unit integration e2e suite build builds building built deploy deployed deployment
    production staging commit commits committing push pushed pull request requests pr prs merge merged branch branches
    main master rebase conflict conflicts review reviews readme docs doc documentation document comment comments
    function functions method methods class classes module modules component components variable variables type types
    import imports line lines page pages button buttons screen form ui ux app apps application server client dev local
    locally log logs logging handling handler dependency dependencies package packages library libraries install
    installed setup start started restart configure config configuration setting settings endpoint endpoints api lint
    linter linting format formatter formatting compile compiler warning warnings crash crashes exception exceptions
    debug feature features issue issues ticket tickets refactor refactoring cleanup unused version versions upgrade
    upgrades release releases script scripts command commands terminal faster slow slower performance optimize simple
    simplify nice nicer pretty load loads loading name names summary summarize plan example examples question questions
    result results output input data everything repo repository folder directory open close show hide new
    whole rest part parts idea ideas again detail details description possible correct missing order
    """.split()
)
"""Words of prompts about any project: a trigger made of these is about a record whose own words say one of them."""

_WORD = re.compile(r"\w+")

UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
"""The letters of Chinese and Japanese, as a range of a regular expression: words are written without spaces."""

_UNSPACED = re.compile(f"[{UNSPACED}]")
_RUN = re.compile("[\u30a1-\u30fa\u30fc]{2,}|[\u3005\u3400-\u9fff]{2,}|[A-Za-z0-9][A-Za-z0-9._+-]*")
"""A stretch of Katakana, of ideographs, or of Latin letters: a single ideograph and Hiragana are rarely a word."""

_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")

_JOINERS = "\u200c\u200d"
"""Characters in Persian and Indic words and in many emoji."""

_CODE = re.compile(r"(?<!\\)(\\+)u\{([0-9a-f]{1,6})\}")

_BEFORE_CODE = re.compile(r"(\\*)(\W)")


def is_generic(trigger: str) -> bool:
    """True if a trigger has only words that any prompt may have: `fix it`, `what do we do`, `how to run this`."""
    words = _WORD.findall(trigger.lower())
    return bool(words) and GENERIC.issuperset(words)


def generic_note(triggers: Sequence[str]) -> str:
    """Return the note on those of the triggers that are generic, whatever the record says; empty if none is."""
    return note_on_generic([trigger for trigger in triggers if is_generic(trigger)])


def note_on_generic(triggers: Sequence[str]) -> str:
    """Return the note on generic triggers, in one wording for all who warn; empty without any."""
    generic = [f'"{" ".join(trigger.split())[:60]}"' for trigger in triggers]
    if not generic:
        return ""
    names = ", ".join(generic[:3]) + (f" and {len(generic) - 3} more" if len(generic) > 3 else "")
    one = len(generic) == 1
    return (
        f"the trigger{'' if one else 's'} {names} {'has' if one else 'have'} only words that any prompt may have, so "
        f"{'it is' if one else 'they are'} not matched as such: name the thing asked for"
    )


def clean_title(text: str) -> str:
    """Return a valid title made from `text`."""
    return " ".join(_unmarked(one_line(text)).split())[:MAX_TITLE_CHARACTERS].rstrip()


def clean_tag(text: str) -> str:
    """Return a valid tag made from `text`: lower case, no spaces, no delimiters of `index.md`."""
    clean = remove_invisible(_unmarked(one_line(text)).lower())
    plain = "".join("-" if char.isspace() else char for char in clean if char not in ",#<>\"'`")
    return re.sub(r"-{2,}", "-", plain).strip("-:")[:MAX_TAG_CHARACTERS].rstrip("-:")


def without_elisions(text: str) -> str:
    """Return `text` without the short words that French and Italian write before an apostrophe: `l'index`."""
    return _ELISION.sub("", text)


def clean_tags(texts: list[str]) -> tuple[str, ...]:
    """Return valid tags, sorted and unique."""
    return tuple(sorted({clean for clean in map(clean_tag, texts) if clean}))


def words(title: str) -> list[str]:
    """Return the words of a title; Chinese and Japanese, written without spaces, are cut where the script changes."""
    parts: list[str] = []
    for word in without_elisions(title).split():
        parts += (_RUN.findall(word) or [word]) if _UNSPACED.search(word) else [word]
    return parts


def one_line(text: str) -> str:
    """Return `text` on one line without invisible characters and delimiters of `index.md`."""
    return " ".join(remove_invisible(text).replace("<->", "↔").replace("->", "→").replace("#tags:", "# tags:").split())


def remove_invisible(text: str) -> str:
    """Return `text` without control characters, format characters and stray combining marks."""
    if text.isascii() and text.isprintable():
        return text
    characters: list[str] = []
    for char in unicodedata.normalize("NFC", text):
        characters.append(_keep(char, characters[-1] if characters else ""))
    return unicodedata.normalize("NFC", "".join(characters))


def show_invisible(text: str) -> str:
    """Return `text` with codes for invisible characters, as forms have them.

    A code is the character's number in braces after `\\u`; backslashes before what looks like a code are doubled.
    """
    text = _CODE.sub(lambda match: match[1] + match[0], text)
    return text if text.isprintable() else _BEFORE_CODE.sub(_coded, text)


def read_invisible(text: str) -> str:
    """Return the text that `show_invisible` made `text` of."""
    return _CODE.sub(_meant, text)


def _coded(match: re.Match[str]) -> str:
    char = match[2]
    is_hidden = unicodedata.category(char) in _INVISIBLE and char not in _JOINERS and char != "\t"
    return f"{match[1]}{match[1]}\\u{{{ord(char):x}}}" if is_hidden else match[0]


def _meant(match: re.Match[str]) -> str:
    count, code = len(match[1]), int(match[2], 16)
    if count % 2 == 0:
        return match[0][count // 2 :]
    return match[1][: count // 2] + chr(code) if code <= sys.maxunicode else match[0]


def _unmarked(text: str) -> str:
    """Return `text` without our markup; if removing a tag forms a new one, its opening bracket is replaced."""
    return _OPENING.sub("‹", _OURS.sub(" ", text))


def _keep(char: str, previous: str) -> str:
    category = unicodedata.category(char)
    if category in ("Cc", "Zl", "Zp", "Zs"):
        return " "
    if category in ("Cs", "Co", "Cn"):
        return ""
    if category == "Cf":
        return char if char in _JOINERS and _is_complex(previous) else ""
    if category in ("Mn", "Me"):
        return char if _is_complex(previous) else ""
    return char


def _is_complex(char: str) -> bool:
    """True if `char` belongs to a script that uses marks and joiners."""
    if not char or char.isascii():
        return False
    if unicodedata.category(char[-1])[0] == "M" or char[-1] in _JOINERS:
        return True
    name = unicodedata.name(char[-1], "")
    return char[-1].isalpha() and not name.startswith(_PLAIN_SCRIPTS)


def slug(title: str, hints: Sequence[str] = ()) -> str:
    """Return the slug of a title, a file name that is valid on every system."""
    name = _slug(title, hints)
    return f"memory-{name}" if is_device(name) else name


def is_device(name: str) -> bool:
    """True if `name` is that of a device on Windows, so that no file can have it."""
    return bool(_DEVICE.fullmatch(name))


def _slug(title: str, hints: Sequence[str]) -> str:
    """Return the slug of a title; ideographs, which have no Latin spelling, are replaced by hints and a short hash.

    The slug of a long title is cut at a word, and a hash of the whole replaces the rest: two people who save records
    with titles that start alike must not get the same file, which git would have to merge.
    """
    words, lost = _spell(without_elisions(title))
    if not lost:
        whole = _join(words) or f"memory-{_hash(title)}"
        return (
            whole
            if len(whole) <= _MAX_SLUG_CHARACTERS
            else f"{_cut(whole, _MAX_SLUG_CHARACTERS - 5)}-{_hash(whole)[:4]}"
        )
    parts = [word for hint in hints for word in [_join(_spell(hint)[0])] if word and word not in words]
    stem = _cut(_join([_join(words), *parts[:3]]), _MAX_SLUG_CHARACTERS - 7)
    return f"{stem or 'memory'}-{_hash(title)}"


def _cut(slug: str, limit: int) -> str:
    """Return the words of a slug that fit in `limit`; a part of the first word if that alone is too long."""
    if len(slug) <= limit:
        return slug
    end = slug.rfind("-", 0, limit + 1)
    return slug[: end if end > 0 else limit]


def numbered_id(record_id: str, number: int) -> str:
    """Return the id with a number at its end, still within the limit."""
    tail = f"-{number}"
    return record_id[: MAX_ID_CHARACTERS - len(tail)].rstrip("-") + tail


def unused_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """Return `name` if it is unused, else with the lowest number at its end that makes it unused."""
    number, candidate = 2, name
    while is_taken(candidate):
        candidate, number = numbered_id(name, number), number + 1
    return candidate


def _spell(text: str) -> tuple[list[str], bool]:
    spelt, lost, before = [], False, ""
    for char in unicodedata.normalize("NFC", text).lower():
        letters = _latin(char)
        # Where Latin letters meet a script that is written without spaces, a word ends.
        is_meeting = (char.isascii() and _UNSPACED.match(before)) or (before.isascii() and _UNSPACED.match(char))
        spelt.append((" " if is_meeting else "") + (letters if letters is not None else " "))
        before = char
        lost = lost or letters is None
    return "".join(spelt).split(), lost


def _latin(char: str) -> str | None:
    """Return ASCII for one character, a space for a separator, None for a letter without a spelling."""
    if char.isascii():
        return char if char.isalnum() else _OTHER.get(char, " ")
    if char in _LETTERS:
        return _LETTERS[char].strip(".")
    parts = (_LETTERS.get(part, part) for part in unicodedata.normalize("NFKD", char))
    base = "".join(parts).encode("ascii", "ignore").decode().lower()
    if base.isalnum():
        return base
    category = unicodedata.category(char)
    if category[0] == "M" or char in "\u200c\u200d":
        return ""
    if category[0] not in "LN":
        return " "
    if category == "Lm":
        return ""
    return _by_name(unicodedata.name(char, ""))


def _by_name(name: str) -> str | None:
    """Return the sound at the end of a Unicode name, if any: HANGUL SYLLABLE GYEOL, HIRAGANA LETTER KA."""
    if "LETTER" not in name and "SYLLABLE" not in name:
        return None
    sound = name.split(" WITH ")[0].split()[-1].lower()
    if name.startswith(("ARABIC", "HEBREW")):
        return sound[0]
    return sound if sound.isascii() and sound.isalnum() and len(sound) <= 6 else None


def _join(words: Sequence[str]) -> str:
    return "-".join(word for word in words if word)


def _hash(title: str) -> str:
    return content_hash(unicodedata.normalize("NFC", title).encode("utf-8", "surrogatepass"))[:6]
