"""Titles that state the rule: whether one does, and the line that says it where the title is only a topic.

"Sessions live in Postgres, not Redis" can be acted on; "Database" and "Use of GraphQL" cannot. The words are English. A
title in another language counts as a rule, so nobody is asked to change it. A rule is read away from its record, so it
has to name what its title names (`is_named`). Hooks import this: no regular expressions.
"""

from __future__ import annotations

from onrecord.categories import CATEGORIES
from onrecord.text import cut, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from onrecord.record.memory import Memory

MAX_CHARACTERS = 140
"""Of a line: about 30 tokens, so that 80 lines fit in the budget of a session start."""

MAX_TITLE_CHARACTERS = 120
_MAX_SUBJECT_CHARACTERS = 60
_MAX_ANSWER_WORDS = 6
"""A first sentence as short as this is the answer itself: "Python.", "ECS with Fargate launch type."."""

_MIN_CLAUSE_CHARACTERS = 20
_MAX_SENTENCES = 6
_FIRST_CHARACTERS = 80
"""Of a sentence, in which a command shows."""

_MAX_SCANNED_CHARACTERS = 2_000
_MAX_TITLE_SCANNED = 300
"""Characters of a title and of a rule that are looked at, whatever a file has."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MARKS = _set(
    """
    never always must should shall not no only cannot can't don't doesn't isn't aren't won't without unless instead
    until every mandatory required forbidden banned deprecated optional prefer avoid before → ≤ ≥ <= >=
    """
)
"""Words by which a title says what holds, wherever they stand."""

_BE = _set(
    """
    is are was were be been has have had do does did will would can may might could gets get goes go stays stay
    remains remain lives live comes come needs need keeps
    """
)
_VERBS = _set(
    """
    accept add adopt allow allocate apply append assert assign avoid become begin belong bind block bring bump bundle
    call carry catch cause choose clean close collect combine commit compile compute configure consist consolidate
    contain convert copy create cover decide declare defer define delegate delete depend deploy deprecate derive
    detect determine differ disable discard distinguish drop eliminate embed emit enable encode encrypt end enforce
    ensure escape evict exclude execute exist expect expire expose extend extract fail fetch fire fold follow forbid
    gain generate give guard handle happen hash hide hold ignore implement import improve include inherit inject
    insert install introduce invoke keep know lack lead leave let lie load lock lose make match maintain manage merge
    migrate mount move must name nest obey occur offload omit open override overwrite own parse pass patch perform
    persist pick pin play precede prefer preserve prevent produce prohibit propagate provide provision publish pull
    push put raise reach read receive reduce refuse refer reject rely remove render replace require reset resolve
    respond restart restrict retain retire retry return reuse rewrite roll rotate run save select send separate serve
    set show skip split standardise standardize start stay stop store stream strip subscribe survive switch take tell
    throw toggle track treat trigger turn unify update upgrade upload use validate verify wait warn wrap write
    backport bypass colocate conform debug demand develop disallow dispatch duplicate encapsulate evaluate filter find
    finish format hand identify initialise initialize isolate mean mock modernise modernize outrank outweigh press
    protect rebuild recover redirect regenerate rename replicate reproduce rerun reserve shard ship submit suppress
    supersede terminate trim try unsubscribe utilise utilize vary widen revoke rebase squash sanitise sanitize sort
    seal
    """
)
_ALSO_NOUNS = _set(
    """
    access archive audit backup branch build cache change check code cost commit configure deploy design document drop
    end export fire handle hash host import install index label launch limit lint load lock log match measure merge
    monitor mount move name order patch plan play process provision pull push query queue rate read record release
    report request return review roll run scale schedule scope scan search set share show split stage start state stop
    store stream support survey switch sync tag target test toggle track trigger type update upgrade upload use
    version vote work watch wrap dispatch filter find format hand mock press ship sort trim try
    """
)
"""Verbs that are nouns as often: in first place they command only if an object or its article follows."""

_VAGUE_COMMANDS = _set(
    """
    choose select evaluate revisit revisiting consider discuss improve define determine decide handle manage migrate
    plan review explore investigate rethink find support
    """
)
"""Commands that name a task and not its outcome, unless words such as "to" or "with" say it."""

_PLAINLY_VERBS = _set(
    """
    uses runs stores shows returns drops starts moves reads locks builds logs filters formats hands mocks
    """
)
"""Of the verbs that are nouns as well: forms that titles have for the verb."""

_QUESTIONS = _set("how what which why when who where should whether")
_LONG = 10
"""Words from which on a title is no mere name of a topic."""

_OUTCOMES = _set("to with via by through as from into using on in under per at than over")
_PRONOUNS = _set("this these that those it they there")
_BEFORE_NOUNS = _set("to and or of for how")
_PARTICIPLE_FOLLOWERS = _set("by as in with per behind until")
_DETERMINERS = _set("a an the all any each every our your its their new one two three no this that these it")
_FOREIGN = _set(
    """
    der das und nicht wird werden für von mit ein eine kein keine auf ist sind el los las una por para con se usa que
    del le les une des pour est sont dans avec il lo gli di che non per uma não em os com het een niet en voor zijn är
    och att inte som i na nie jest dla w z
    au aux de du la ne pas sur sans al sin lo im zum zur bei nur statt ao della nel op te
    """
)
_CHOICES = (" over ", " instead of ", " rather than ", ", not ", " → ", " in favour of ", " in favor of ")
_DECIDES = (
    "we will ", "we'll ", "we chose", "we choose ", "we have chosen", "we decided", "we have decided",
    "we selected", "we have selected", "we use ", "we are going to ", "we recommend", "we would like to ",
    "we are planning to ", "we're going ", "we should ", "we adopt", "approach is to ", "recommendation is ",
    "recommendation would be ", "has been selected", "have been selected", "was selected", "were selected",
    "was chosen", "were chosen", "has been chosen", "is chosen", "is selected", "has selected", "will use ",
    "will be ", "will utilize", "will not ", "must ", "recommended to ", "the team selected", "decided to ",
    "is preferred", "chosen", "optimal choice", "in favor of", "in favour of",
)  # fmt: skip
"""Words of a sentence that says the decision, in lower case."""

_INDIRECT = (
    "option 1", "option 2", "option 3", "option a", "option b", "the following", "as follows", "see ", "this adr",
    "above", "below", "challenge 1", "however, ", "that is: ", "note: ", "limitation",
)  # fmt: skip
"""Words of a sentence that needs the rest of the page."""

_OPENINGS = (
    "we have decided to: ", "we have decided to ", "we've decided to ", "we decided to ", "we have chosen to ",
    "we chose to ", "we will ", "we'll ", "we should ", "we are planning to ", "we plan to ", "we would like to ",
    "we are going to ", "at this time, it is recommended to ", "it is recommended to ", "it was decided to ",
    "the team decided to ", "the decision is to ", "decision: ", "summary: ", "chosen: ", "chosen option: ",
    "recommendation: ", "so, ", "therefore, ", "therefore ", "additionally, ", "as such, ", "thus, ", "instead, ",
    "in the end ", "ultimately, ", "for now, ", "for now ", "currently, ",
)  # fmt: skip
_SUBORDINATE = (
    "while ", "although ", "even though ", "though ", "given ", "after ", "because ", "since ", "as ", "to ",
    "in order to ", "due to ", "based on ", "at present ", "when ", "considering ",
)  # fmt: skip
_REASONS = (
    " because ", " since ", " due to ", " due to:", " so that ", ", as it ", ", as this ", ", as we ", ", which ",
    ", making ", ", so ", " in order to ", " given that ", ", allowing ", ", leveraging ", ", ensuring ", ", including",
    " as it ", " for its ", ", although ", ", while ", ", as described ", " with the following ", "; ", " — ",
    " – ",
)  # fmt: skip
"""Where the reason of a rule begins: a line does without it."""


_GENERAL = _set(
    """
    a an the this that these those it its they them their there here we us our ours you your i my he she his her
    and or but nor so if then than as at by for from in into of off on onto out over per to under until up upon via with
    within without about after again against also before below above between both down during each either every few more
    most much many neither other others own same some such too very any all only just not no never none always
    is are was were be been being am do does did done has have had having can cannot could may might must shall should
    will would need needs let lets get gets got goes go make makes made
    use uses used using keep keeps kept stay stays put puts
    when where while which who whom whose what why how because since unless instead rather whether
    one ones thing things way ways
    """
)
"""Words that do not say what a record is about: function words, and verbs that go with anything."""

_NEGATIONS = _set("not no never none neither nor without cannot only avoid forbidden banned unless")
"""Words that turn a rule round: a text without any of them does not say what a title with one says."""

_FILLERS = _set("a an the of in on at to for by as is are be and our we its it this that these")
"""Words that a sentence may have more than another and still say the same."""

_MIN_STEM = 3
_MAX_NAMED_IN = 20_000
"""Characters of a text that are looked at, whatever a file has."""

_SEPARATED_BY_SPACES = 0x3000
"""Characters from here on are of scripts that write words without spaces: there a word is looked for as it is."""


def states_a_rule(title: str) -> bool:
    """True if a title says what to do or what holds, and is not only the name of a topic."""
    text = _unnumbered(title)
    if not text.isascii() and sum(not char.isascii() and char.isalpha() for char in text) * 4 > len(text):
        return True
    _, colon, rest = text.partition(": ")
    if colon and states_a_rule(rest):
        return True
    lowered = text.lower()
    words = _words(text)
    if len(words) < 2 or words[0] in _QUESTIONS or text.endswith("?"):
        return False
    if len(words) >= _LONG or (colon and ", " in rest):
        return True
    if _MARKS.intersection(words) or any(choice in lowered for choice in _CHOICES):
        return True
    return _is_command(words) or _has_verb(words) or len(_FOREIGN.intersection(words)) > 1


def line(title: str, rule: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the line for a record: its title, or else its subject and the beginning of its rule."""
    subject = _unnumbered(title)
    # A title such as "Search engine: OpenSearch" was made of the rule that begins with "OpenSearch".
    answer = subject.partition(": ")[2].lower()
    has_answer = bool(answer) and " ".join(rule.split()).lower().startswith(answer)
    if states_a_rule(title) or has_answer or len(subject) > _MAX_SUBJECT_CHARACTERS or not rule.strip():
        return cut(subject, max_characters)
    beginning = _beginning(rule, subject)
    if not _says_more(beginning, subject):
        return subject
    alone = _clipped(beginning, max_characters)
    if is_named(subject, alone):
        return alone
    return f"{subject}: {_clipped(beginning, max_characters - len(subject) - 2)}"


def of_record(record: Memory) -> str:
    """Return the line for a record."""
    return line(record.title, rule_of(record))


def proposal(record: Memory) -> str:
    """Return a title that states the rule of a record whose title does not; empty if it does, or none can be made."""
    if not CATEGORIES[record.category].is_rule or states_a_rule(record.title):
        return ""
    rule = rule_of(record)
    if not rule.strip() or not _is_sure(_sentences(rule, _unnumbered(record.title))):
        return ""
    better = line(record.title, rule, MAX_TITLE_CHARACTERS)
    return better if better not in (record.title, _unnumbered(record.title)) and not better.endswith("…") else ""


def rule_of(record: Memory) -> str:
    """Return the statement of a record in one text: that of a runbook has its steps, that of a preference its topic."""
    category = CATEGORIES[record.category]
    statement = record.text(category.statement)
    steps = next((field for _, field, longest, _ in category.details if not longest), "")
    if steps and record.lines(steps):
        return f"{statement.rstrip('. ')} → {'; '.join(record.lines(steps))}"
    return statement


def _letter_runs(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters and digits."""
    lowered = text[:_MAX_NAMED_IN].lower().replace("’", "'").replace("n't", " not").replace("'s ", " ")
    return lowered.translate({ord(char): " " for char in set(lowered) if not char.isalnum()}).split()


def specific_words(title: str) -> list[str]:
    """Return the words of a title that say what it is about; all of its words if none does."""
    all_words = _letter_runs(title)
    return [word for word in all_words if word not in _GENERAL and (len(word) > 1 or word.isdigit())] or all_words


def is_named(title: str, text: str) -> bool:
    """True if a text has every specific word of the title, in any inflection, and a negation if the title has one."""
    if any(missing(title, text)):
        return False
    return _NEGATIONS.isdisjoint(_letter_runs(title)) or not _NEGATIONS.isdisjoint(_letter_runs(text))


def repeats(text: str, title: str) -> bool:
    """True if a text says nothing that the title does not say: all its words but fillers are in the title."""
    present = {form for word in _letter_runs(title) for form in _forms(word)}
    return all(word in _FILLERS or not present.isdisjoint(_forms(word)) for word in _letter_runs(text))


def missing(title: str, text: str) -> Iterator[str]:
    """Yield the specific words of the title that a text does not have."""
    present = {form for word in _letter_runs(text) for form in _forms(word)}
    lowered = text[:_MAX_NAMED_IN].lower()
    for word in specific_words(title):
        is_unspaced = ord(word[0]) >= _SEPARATED_BY_SPACES
        if word not in lowered if is_unspaced else present.isdisjoint(_forms(word)):
            yield word


def _forms(word: str) -> tuple[str, ...]:
    """Return the stems of a word by which it equals another: without its ending, and as the verb of a noun."""
    stem = _stem(word)
    nouns = [stem[: -len(ending)] for ending in ("ation", "ion", "ment") if stem.endswith(ending)]
    return (stem, *(noun for noun in nouns if len(noun) > _MIN_STEM))


def _stem(word: str) -> str:
    """Return a word without its English ending: `releas` for release, released and releasing."""
    for ending in ("ing", "ed", "es", "s", "e"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _MIN_STEM and not word.endswith("ss"):
            is_doubled = ending in ("ing", "ed") and rest[-1] == rest[-2] and rest[-1] not in "aeiouls"
            word = rest[:-1] if is_doubled else rest
            break
    return f"{word[:-1]}i" if word.endswith("y") and len(word) > _MIN_STEM else word


def _unnumbered(title: str) -> str:
    """Return a title without a number in front: `ADR 12: Database` is about a database."""
    text = " ".join(title[:_MAX_TITLE_SCANNED].split())
    for _ in range(2):
        head, _, rest = text.partition(" ")
        bare = head.strip("[]().:#-–—").lower()
        is_label = bare in ("adr", "rfc", "nep", "decision") and bool(rest)
        if rest and (is_label or bare.isdigit() or (bare[:3] == "adr" and bare[3:].strip("-_").isdigit())):
            is_numbered = bare[-1:].isdigit() and (head[-1:] in ".:)]-–—" or rest[:1] in "-–—:" or bare[:1] == "0")
            if is_label or is_numbered or bare[:3] == "adr":
                text = rest.lstrip("-–—: ")
    return text


def _words(text: str) -> list[str]:
    """Return the words in lower case, without quotes, brackets and full stops around them."""
    return [word for word in (part.strip("`'\"()[]{}.,;:!?*").lower() for part in text.split()) if word]


def _is_command(words: list[str]) -> bool:
    """True if the first word tells somebody to do something, and the others say what."""
    first, second = words[0], words[1]
    if first not in _VERBS and first not in _ALSO_NOUNS:
        return False
    if second in ("of", "for", "in", "case", "cases"):
        return False
    if second in ("back", "up", "out", "down", "off", "with", "via", "through", "using", "by"):
        return True
    if first in _VAGUE_COMMANDS:
        return bool(_OUTCOMES.intersection(words[2:]))
    if first not in _ALSO_NOUNS or first in ("use", "switch", "import", "install"):
        return True
    return second in _DETERMINERS or bool(_OUTCOMES.intersection(words[2:]))


def _has_verb(words: list[str]) -> bool:
    """True if a word behind the first is a verb: `Arrays persist in NPY files`, `MV3 state sync uses a decorator`."""
    return any(_is_verb(*three) for three in zip(words, words[1:], [*words[2:], ""]))


def _is_verb(previous: str, word: str, following: str) -> bool:
    if word in _BE:
        return previous != "to"
    if word.endswith("ed") and word != "used":
        return following in _PARTICIPLE_FOLLOWERS
    base = word[:-1] if word[:-1] in _VERBS else word[:-2]
    if word.endswith("s") and base in _VERBS and base not in _ALSO_NOUNS:
        return bool(following)
    if word.endswith("s") and word not in _VERBS:
        is_verb = len(word) > 3 and following in _DETERMINERS and previous not in _DETERMINERS
        return is_verb or (bool(following) and word in _PLAINLY_VERBS)
    if word not in _VERBS or previous in _BEFORE_NOUNS:
        return False
    is_plural = previous.endswith("s") and len(previous) > 3 and not previous.endswith(("ss", "us", "is"))
    return word not in _ALSO_NOUNS or (is_plural and bool(following))


def _beginning(rule: str, subject: str) -> str:
    """Return the sentence of a rule that says what was decided, without its opening words and its reason."""
    return _without_reason(_without_opening(_chosen(_sentences(rule, subject)).rstrip(" .:")))


def _sentences(rule: str, subject: str) -> list[str]:
    """Return the first sentences of a rule, at least one."""
    flat = " ".join(rule[:_MAX_SCANNED_CHARACTERS].split())
    # The number of a list, or a heading that says the title again, is no answer.
    parts = [part for part in sentences(flat) if not part.strip(".)").isdigit() and _says_more(part, subject)]
    return parts[:_MAX_SENTENCES] or [flat]


def _chosen(parts: list[str]) -> str:
    """Return the sentence that says what was decided: a first one that is short, or the first of the most direct."""
    if len(parts) == 1 or len(parts[0].split()) <= _MAX_ANSWER_WORDS:
        return parts[0]
    return min(parts, key=_indirectness)


def _is_sure(parts: list[str]) -> bool:
    """True if the chosen sentence is worth a title: a short answer, words of a decision, or a first plain sentence."""
    sentence = _chosen(parts)
    if len(sentence.split()) <= _MAX_ANSWER_WORDS:
        return True
    indirectness = _indirectness(sentence)
    is_plain = sentence == parts[0] and indirectness == 0 and sentence.split()[0].lower() not in _PRONOUNS
    return indirectness < 0 or is_plain


def _says_more(text: str, subject: str) -> bool:
    """True if a text has words that its subject has not; a text that is much longer has."""
    return len(text) > len(subject) * 2 + 20 or bool(set(_words(text)) - set(_words(subject)) - _DETERMINERS)


def decides(text: str) -> bool:
    """True if a text has words that say what was decided, or begins with a command."""
    return any(cue in text.lower() for cue in _DECIDES) or _is_command([*_words(text[:_FIRST_CHARACTERS]), "", ""])


def _indirectness(sentence: str) -> int:
    lowered = sentence.lower()
    return any(cue in lowered for cue in _INDIRECT) * 2 - decides(sentence)


def _without_opening(sentence: str) -> str:
    lowered = sentence.lower()
    if lowered.startswith(_SUBORDINATE):
        # "While both would do, in the end Postgres was chosen": the main clause follows the last comma before its verb.
        verb = max(lowered.rfind(cue) for cue in _DECIDES)
        comma = lowered.rfind(", ", 0, verb + 2) if verb >= 0 else -1
        sentence = sentence[comma + 2 :] if comma >= 0 else sentence
    for _ in range(2):
        lowered = sentence.lower()
        # One call says for most sentences that none of them is there.
        opening = (
            next((words for words in _OPENINGS if lowered.startswith(words)), "")
            if lowered.startswith(_OPENINGS)
            else ""
        )
        if opening and _begins_well(sentence[len(opening) :]):
            sentence = sentence[len(opening) :]
    is_a_word = sentence.partition(" ")[0].isalpha() and sentence[1:2] in " abcdefghijklmnopqrstuvwxyz"
    return sentence[:1].upper() + sentence[1:] if is_a_word else sentence


def _begins_well(rest: str) -> bool:
    """True if what follows an opening can stand alone: "We will use Redis", and not "We will initially be using it"."""
    first = rest.partition(" ")[0].lower()
    return len(rest) > 3 and not first.endswith("ly") and first not in ("be", "not", "still", "also", "continue")


def _without_reason(sentence: str) -> str:
    lowered = f"{sentence.lower()} "
    places = [lowered.find(cue) for cue in _REASONS]
    least = min((place for place in places if place >= _MIN_CLAUSE_CHARACTERS), default=len(sentence))
    return sentence[:least].removesuffix(": 1").rstrip(" ,;:.")


def _clipped(text: str, max_characters: int) -> str:
    """Return the text, or as many of its clauses as fit; a cut inside a clause has an ellipsis."""
    if len(text) <= max_characters:
        return text
    head = text[: max_characters + 1]
    ends = [head.rfind(mark) for mark in (", ", "; ", " (", ": ")]
    end = max(ends)
    return head[:end].rstrip(" ,;:") if end >= max_characters * 0.6 else cut(text, max_characters)
