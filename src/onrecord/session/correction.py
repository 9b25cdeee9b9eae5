"""Corrections: prompts in which a user says that the agent did something wrong, in English, German and Spanish.

Everything here is a bounded scan of one text: every prompt passes through it. The cues of `corrections.txt` are wider:
they also find standing instructions, for the Stop hook and the features of triage.
"""

from __future__ import annotations

import os

from onrecord import files
from onrecord.text import sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NONE, FAULT, REPROACH = 0, 1, 2
"""How plainly a prompt corrects the agent: not at all; it says that something is wrong, or that it was said before."""

LONG_WORD = 24
"""A word with at least this many characters may be a key: the shortest API keys have 24."""

MAX_CHARACTERS = 2_000
"""A longer prompt is a document, not a correction: of it only the beginning and the end are read."""

_MAX_END_CHARACTERS = 600
_MAX_SENTENCES = 40
_MAX_SENTENCE_WORDS = 80
_MAX_GAP_WORDS = 5

_REPROACHES = """
^ stop doing that
we agreed not
we agreed to not
should have caught
should have noticed
i thought we
i thought you
i thought i
last time you
^^ ^ remember
remember that we
please remember
denk dran
denk daran
recuerda que
i told you
i've told you
i have told you
i already told
i just told you
i already said
i've already said
i have already said
as i said
like i said
i said to
i said not
i said no
i said don't
i said use
i said it
i said we
^ i said
^ again ,
^ again :
not again
wrong again
^ once again ,
^ once more ,
same mistake
same error you
how many times
how often do i
for the last time
for the second time
for the third time
for the * th time
you keep *ing
you keep *ed
you still keep
you always forget
you forgot
you forget
you've forgotten
you have forgotten
you ignored
you're ignoring
you are ignoring
you did * again
you've done * again
you used * again
you added * again
you put * again
you wrote * again
you made * again
you changed * again
you broke * again
you did it again
you've done it again
you're doing it again
you're doing * again
you are doing * again
you're using * again
you are using * again
you went back to
why do you keep
why are you still
why do i have to
we've been over this
we have been over this
we talked about this
we discussed this
we already agreed
remember : we
i asked you not
i asked you to * not
i asked you to * but
hab doch gesagt
habe doch gesagt
hab dir doch
habe dir doch
hab dir gesagt
habe dir gesagt
hab dir schon
habe dir schon
hab schon gesagt
habe schon gesagt
habe ich schon gesagt
hab ich schon gesagt
wie gesagt
wie oft
nicht schon wieder
schon wieder
zum letzten mal
zum wiederholten mal
du hast * vergessen
du hast wieder
du hast * ignoriert
du vergisst
wir hatten gesagt
wir hatten vereinbart
wir haben doch
wir hatten doch
^ nochmal ,
^ nochmals ,
^ noch einmal ,
te dije
te lo dije
te he dicho
te lo he dicho
ya te dije
ya te lo dije
ya lo dije
ya dije
como te dije
como dije
como ya dije
cuántas veces
cuantas veces
otra vez no
^ otra vez ,
otra vez lo mismo
otra vez usaste
otra vez has
otra vez con
de nuevo lo mismo
lo mismo otra vez
el mismo error
sigues *ando
sigues *iendo
sigues sin
te olvidaste
olvidaste
te has olvidado
ignoraste
has ignorado
habíamos acordado
quedamos en que
"""

_FAULTS = """
^^ ^ no ,
^^ ^ no :
^^ ^ no !
^^ ^ no i
^^ ^ no it
^^ ^ no that
^^ ^ no you
^^ ^ no we
^^ ^ no the
^^ ^ no don't
^^ ^ no not
^^ ^ nah
^^ ^ not
^^ ^ don't
^^ ^ dont
^^ ^ do not
^^ ^ never
^^ ^ wrong
^^ ^ stop
^^ ^ we use
^^ ^ we're using
^^ ^ we are using
^^ ^ put it back
^^ ^ nein
^^ ^ falsch
^^ ^ nicht
^^ ^ bitte nicht
^^ ^ bitte kein*
^^ ^ wir nutzen
^^ ^ wir verwenden
^^ ^ wir benutzen
^^ ^ no uses
^^ ^ no pongas
^^ ^ no hagas
^^ ^ no quiero
^^ ^ no es
^^ ^ no era
^^ ^ no debes
^^ ^ no debías
^^ ^ no se
^^ ^ no lo
^^ ^ nunca
^^ ^ usamos
^^ ^ mejor usa
^ not * , use
^ not * but use
not * but * !
use * instead
use * , not
use * not
it's * , not
it's not * it's
it's not * , it's
i'm using * not
let's not
i'd rather
i would rather
i'd prefer
i would prefer
that's too
this is too
overkill
overcomplicat*
why you *ed
why you're
not sure why you
understand why you
did you even
did you not
didn't you
did you actually
you removed
you've removed
you've broken
follow the instructions
follow the rules
follow the guidelines
follow our
read the instructions
my instructions
your instructions
against the rules
this violates
breaks the rule
our convention*
our guidelines
the rule is
the rules say
stattdessen
nimm * statt
benutze * statt
nutze * statt
verwende * statt
lieber
prefiero
usa * en vez
usa * en lugar
^ no * sino
tenías que *ar
tenías que *er
tenías que *ir
^ nope
^ not like
^ not that
^ not this
^ please stop
^ please don't
^ pls don't
^ hey don't
^ ugh
^ wtf
that's wrong
that is wrong
this is wrong
that's not right
that is not right
this isn't right
that isn't right
this is not right
that was wrong
you're wrong
you are wrong
you got * wrong
it's wrong
is incorrect
that's incorrect
not what i
isn't what i
not what we
not how we
not how i
not how it
not how this
not how you
that's not how
that's not what
that's not the
that's not it
that's not true
that is not what
this is not what
this isn't what
not like that
not like this
makes no sense
make no sense
doesn't make sense
does not make sense
this is dumb
that's dumb
this is stupid
that's stupid
this is silly
this is ridiculous
this is nonsense
this is terrible
this is horrible
this is bad
this is crap
this is ugly
what the hell
what the heck
what the fuck
what are you doing
what are you talking
what you talking
i didn't ask
i did not ask
i never asked
i didn't say
i did not say
i never said
i didn't want
i did not want
i didn't mean
i don't want you
i do not want you
i don't want to see
i don't want any
i wanted * not
i asked for * not
i meant
you didn't
you did not
you haven't
you have not
you missed
you misunderstood
you misread
you mixed up
you messed
you screwed
you broke
you failed to
you skipped
you shouldn't
you should not
you should never
you should've
you should have *ed
you should have done
you should have put
you should have kept
you should have known
you should have run
you should have been
you should have left
you were supposed
you're supposed
you are supposed
you weren't supposed
you must not
you're not supposed
you're not *ing
you are not *ing
you aren't *ing
you left out
you left in
you deleted
you lost
you hardcoded
you duplicated
you overwrote
why did you
why'd you
why didn't you
why are you
why have you
why would you
why don't you
why ignore
why is there still
why are there still
why do we have
why isn't there
we don't want
we do not want
we don't use
we do not use
we dont use
we don't do
we do not do
we never
don't ever
do not ever
never do that
don't do that
do not do that
do not do this
stop it
undo what you
revert what you
revert your
undo your
put that back
was intentional
were intentional
is intentional
use * , not *
should be * , not
should have been
should've been
shouldn't have
should not have
^ actually , no
^ wait , no
^ wait no
^ ne ,
^ nee
^ so nicht
^ doch nicht
^ hör auf
^ lass das
warum hast du
wieso hast du
weshalb hast du
warum machst du
warum benutzt du
warum nimmst du
warum ist da noch
das ist falsch
das ist nicht richtig
das stimmt nicht
das war falsch
ist falsch
so nicht
nicht so ,
sollst du nicht
solltest du nicht
du sollst nicht
du sollst kein*
du solltest nicht
du solltest doch
du hast nicht
du hast * übersehen
du hast * falsch
du hast das falsch
das wollte ich nicht
ich wollte nicht
ich wollte kein*
ich meinte
das habe ich nicht
darum habe ich nicht
nicht * sondern
machen wir nicht
macht man nicht
benutzen wir nicht
nutzen wir nicht
verwenden wir nicht
was soll das
ergibt keinen sinn
macht keinen sinn
mach das rückgängig
^ está mal
está mal
esta mal
^ así no
^ asi no
^ eso no
^ deja de
^ para de
por qué has
por que has
por qué hiciste
por que hiciste
por qué usaste
por que usaste
por qué pusiste
por qué estás
por que estas
porque hiciste
no te pedí
no te pedi
no pedí
no era lo que
no es lo que
eso no es
eso está mal
eso esta mal
es incorrecto
es un error
no tiene sentido
te equivocas
te equivocaste
te has equivocado
no debiste
no deberías
no deberias
deberías haber
deberias haber
no lo hacemos
no usamos
aquí no
no has *ado
no has *ido
te falta
te faltó
te falto
"""

_HARMLESS = """
^ no , thank*
^ no , that's fine
^ no , that's ok*
^ no , that's all
^ no , that's good
^ no , it's fine
^ no , it's ok*
^ no , go ahead
^ no , not yet
^ no , nothing
^ no , no need
^ no , all good
^ no , i haven't
^ no , i'll
^ no , i will
^ no , i'm
^ no , i am
^ no , please go
^ no , just go
^ no , let's move on
^ no , proceed
^ no , continue
^ no , we're good
^ no , gracias
^ no , está bien
^ nein , danke
^ nein , passt
^ nein , alles gut
^ nein danke
^ nicht nötig
^ nope , all good
^ nope , that's
^ nope , go
^ not yet
^ not sure
^ not only
^ not bad
^ not now
^ not urgent
^ not a big
^ not that i
^ not this time
^ not that it
^ don't worry
^ dont worry
^ don't forget
^ don't know
^ don't think
^ don't hesitate
^ don't commit yet
^ don't change anything yet
^ never mind
^ nevermind
^ no problem
^ no worries
^ nicht schlecht
^ nicht schlimm
^ no es urgente
^ no es necesario
^ no es nada
is wrong with
are wrong with
what is wrong
what's wrong
something is wrong
if * is wrong
if * are wrong
^ if
^ when
^ what if
^ in case
please again
, not sure
, not only
, not just
, not yet
, not urgent
, not necessarily
why we don't
^^ ^ remember why
^^ ^ remember when
^^ ^ remember what
why did you choose
if you're
if you are
if you haven't
if you didn't
if you missed
^^ ^ stop the
^^ ^ stop and
^^ ^ stop here
^^ ^ no code
"""

_MARKS = dict.fromkeys(map(ord, '()[]{}<>*_;."“”„`–—…¿¡|/\\'), " ")
_KEPT_MARKS = (",", ":", "!", "?")
_SECRET_WORDS = (
    "password", "passwort", "kennwort", "passphrase", "passwd", "pwd", "contraseña", "contrasena", "clave", "secret",
    "token", "api key", "apikey", "api-key", "credential", "bearer", "private key", "pin ", "login",
)  # fmt: skip


class Cues:
    """Phrases, looked up by their first word.

    `^` is the start of a sentence, `^^` that of the
    first one, `*` a gap of a few words, `*ing` an ending."""

    __slots__ = ("_by_first",)

    def __init__(self, text: str) -> None:
        self._by_first: dict[str, list[list[str]]] = {}
        for line in text.split("\n"):
            words = line.split()
            if words:
                self._by_first.setdefault(words[0], []).append(words[1:])

    def occur_in(self, words: Sequence[str]) -> bool:
        """True if one of the phrases occurs in a sentence, given as words with a `^` before them."""
        by_first = self._by_first
        for position, word in enumerate(words):
            for rest in by_first.get(word, ()):
                if _follows(rest, words, position + 1):
                    return True
        return False


def _follows(pattern: Sequence[str], words: Sequence[str], start: int) -> bool:
    """True if the words from `start` on begin with a pattern."""
    for number, part in enumerate(pattern):
        if part == "*":
            rest = pattern[number + 1 :]
            latest = min(start + number + _MAX_GAP_WORDS, len(words) - 1)
            return any(_follows(rest, words, later) for later in range(start + number + 1, latest + 1))
        if start + number >= len(words) or not _is_like(words[start + number], part):
            return False
    return True


def _is_like(word: str, part: str) -> bool:
    if part[0] == "*":
        return word.endswith(part[1:])
    return word.startswith(part[:-1]) if part[-1] == "*" else word == part


_tables: dict[str, Cues] = {}


def _cues(name: str, text: str) -> Cues:
    if name not in _tables:
        _tables[name] = Cues(text)
    return _tables[name]


def strength(prompt: str) -> int:
    """Return how plainly a prompt corrects the agent: `NONE`, `FAULT` or `REPROACH`."""
    best = NONE
    for words in _sentences(prompt):
        if _cues("reproaches", _REPROACHES).occur_in(words):
            return REPROACH
        if not best and _cues("faults", _FAULTS).occur_in(words) and not _cues("harmless", _HARMLESS).occur_in(words):
            best = FAULT
    return best


def _sentences(prompt: str) -> Iterator[list[str]]:
    """Yield the sentences of a prompt that may be its author's own, as words, with marks that matter as words."""
    if len(prompt) > MAX_CHARACTERS:
        prompt = f"{prompt[: MAX_CHARACTERS - _MAX_END_CHARACTERS]}\n{prompt[-_MAX_END_CHARACTERS:]}"
    count, is_code = 0, False
    for line in prompt.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not line.startswith((">", "\t", "    ", "$ ", "+ ", "- [")):
            for sentence in sentences(line):
                count += 1
                if count > _MAX_SENTENCES:
                    return
                yield _words(sentence) if count > 1 else ["^^", *_words(sentence)]


def _words(sentence: str) -> list[str]:
    plain = sentence.lower().replace("’", "'").translate(_MARKS)
    for mark in _KEPT_MARKS:
        plain = plain.replace(mark, f" {mark} ")
    words = [word.lstrip("-#0123456789)") or word for word in plain.replace(" - ", " , ").split()]
    return ["^", *words[:_MAX_SENTENCE_WORDS]]


def may_have_secret(text: str) -> bool:
    """True if a text must not be copied: a long word may be a key, and what stands by "password" may be one."""
    lowered = text.lower()
    return any(len(word) >= LONG_WORD for word in text.split()) or any(word in lowered for word in _SECRET_WORDS)


_CUES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corrections.txt")
_MAX_CUES_BYTES = 100_000
_PLAIN_MARKS = dict.fromkeys(map(ord, '()[]{}<>*_,;:.!"“”„`-–—…'), " ")
_phrases: list[str] = []


def is_instruction(prompt: str) -> bool:
    """True if `prompt` sounds like a correction or a standing instruction, in any language of `corrections.txt`."""
    if len(prompt) > MAX_CHARACTERS:
        return False
    return any(instructs(sentence) for line in prompt.split("\n") for sentence in sentences(line))


def instructs(sentence: str) -> bool:
    """True if `sentence` contains one of the cues in `corrections.txt` and is not a question."""
    if sentence.rstrip().endswith("?"):
        return False
    if not _phrases:
        # Each line is a phrase: `^` means the start of a sentence, and a final `*` any continuation of the word.
        lines = files.read(_CUES, _MAX_CUES_BYTES).decode("utf-8").split("\n")
        _phrases.extend(f" {line}".rstrip("*") + " " * (line[-1] != "*") for line in lines if line)
    plain = f" ^ {' '.join(sentence.lower().replace('’', chr(39)).translate(_PLAIN_MARKS).split())} "
    return any(phrase in plain for phrase in _phrases)
