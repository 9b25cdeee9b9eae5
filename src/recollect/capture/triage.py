"""Triage: what of a session may be worth keeping. Deterministic: messages in, findings out, nothing else touched.

Every sentence is looked at with the ones beside it and the situation it stands in (`signs`). One linear model makes of
that the probability of each category; its weights are fitted by `python -m bench triage` and committed. No sign alone
is enough.
"""

from __future__ import annotations

from recollect.capture import features
from recollect.capture.conversation import Scene
from recollect.capture.model import Weights
from recollect.categories import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.capture.conversation import Line, Speech
    from recollect.capture.cues import Lexicons
    from recollect.session.transcript import Ending

    Bar = Callable[[str], float]

_ECHO = 0.75
_FEWEST_WORDS = 2
_SOME_FILES = 2
_A_REPORT = 7
"""Words below which what an assistant says is a report of what it did."""

_FEWEST_CUES = 2


class Finding:
    """Something worth keeping: its category, how probably so, the words it rests on, and what is said around them."""

    __slots__ = ("around", "category", "core", "evidence", "is_correction", "score")

    def __init__(
        self,
        category: str,
        score: float,
        core: str,
        evidence: tuple[str, ...],
        *,
        around: tuple[str, ...] = (),
        is_correction: bool = False,
    ) -> None:
        self.category = category
        self.score = score
        self.core = core
        self.evidence = evidence
        self.around = around
        self.is_correction = is_correction

    def __repr__(self) -> str:
        return f"Finding({self.category!r}, {self.score:.2f}, {self.core!r})"


def threshold(category: str) -> float:
    """How probable a category must be by default."""
    return BY_NAME[category].triage_bar


def findings(
    end: Ending,
    lexicons: Lexicons,
    bar: Bar = threshold,
    known: tuple[str, ...] = (),
) -> list[Finding]:
    """What passes, most probable first, each sentence at most once; nothing that `known` texts say already."""
    found = candidates(Scene(end, lexicons), Weights.load(), bar)
    return best([one for one in found if not is_echo(one.core, known)])


def best(found: list[Finding]) -> list[Finding]:
    """Findings with no words in common, most probable first."""
    kept: list[Finding] = []
    for one in sorted(found, key=lambda one: -one.score):
        if not any(set(one.evidence) & set(other.evidence) for other in kept):
            kept.append(one)
    return kept


def candidates(scene: Scene, weights: Weights, bar: Bar) -> Iterator[Finding]:
    """Every sentence that is probable enough for its category."""
    for speech in scene.speeches:
        shared: list[str] = []
        for number, line in enumerate(speech.lines):
            if may_count(scene, speech, line):
                shared = shared or features.of_speech(scene, speech)
                chances = weights.probabilities([*shared, *features.of_line(scene, speech, number)])
                best = max(range(1, len(chances)), key=chances.__getitem__)
                category = weights.outcomes[best]
                if chances[best] >= bar(category) and _can_say(scene, speech, category):
                    yield _finding(scene, speech, number, category, chances[best])


def may_count(scene: Scene, speech: Speech, line: Line) -> bool:
    """Whether a sentence can settle anything: not in jest or in an "if", nor as a question, an option or a lecture."""
    if line.is_question or len(line.sentence.words) < _FEWEST_WORDS:
        return False
    if line.has("joke", "hypothetical", "reported") or speech.has("joke"):
        return False
    if speech.by_user:
        return True
    if len(line.sentence.words) < _A_REPORT or len(line.tags) < _FEWEST_CUES:
        return False
    is_option = line.sentence.is_item and speech.offers_choice
    return (speech.grounded or scene.is_accepted(speech)) and not is_option and not line.has("doc", "general")


def _can_say(scene: Scene, speech: Speech, category: str) -> bool:
    """Whether it can be established so: a summary needs work, a choice the user's word or a deed, a wish the user."""
    if category == "session_summary":
        return scene.is_busy or scene.files >= _SOME_FILES
    if speech.by_user or category not in ("decision", "preference"):
        return True
    return category == "decision" and (speech.acted_before or scene.is_accepted(speech))


def _finding(scene: Scene, speech: Speech, number: int, category: str, score: float) -> Finding:
    line = speech.lines[number]
    beside = [near.sentence.raw for near in speech.near(number)]
    evidence = tuple(one.sentence.raw for one in speech.lines if one is line or one.sentence.raw in beside)
    corrects = category == "preference" and speech.corrects and speech.acted_before
    return Finding(category, score, line.sentence.raw, evidence, around=scene.beside(speech), is_correction=corrects)


def leftovers(end: Ending, lexicons: Lexicons) -> list[str]:
    """What the assistant last said is still to be done, word for word."""
    answers = [speech for speech in Scene(end, lexicons).speeches if not speech.by_user][-2:]
    lines = [line for speech in answers for line in speech.lines]
    return [line.sentence.raw for line in lines if line.has("leftover") and not line.is_question]


def is_echo(core: str, known: tuple[str, ...]) -> bool:
    """Whether a sentence only says again what a known text says."""
    words = _content(core)
    return bool(words) and any(len(words & _content(text)) >= _ECHO * len(words) for text in known)


def _content(text: str) -> set[str]:
    letters = "".join(char if char.isalnum() else " " for char in text.lower())
    return {word for word in letters.split() if len(word) > 3}
