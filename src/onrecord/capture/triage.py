"""Which sentences of a session may be worth saving. Deterministic: messages in, findings out, nothing else touched.

Every sentence is described by `features`: its words and cues, those beside it, and the situation. One linear model
makes of them the probability of each category. Its weights are fitted by `python -m bench triage` and lie in
`cues/weights.tsv`: a line is a feature and, in hundredths, what it adds to each outcome; the first names the outcomes.
"""

from __future__ import annotations

import os
from math import exp

from onrecord import files
from onrecord.capture import features, sentences
from onrecord.capture.conversation import Conversation
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onrecord.capture.conversation import Speech, SpeechLine
    from onrecord.session.transcript import Ending

    Threshold = Callable[[str], float]

WEIGHTS = os.path.join(sentences.FOLDER, "weights.tsv")
ALWAYS = "always"
"""The feature that every sentence has."""

_LARGEST = 4_000_000
_REPEATED = 0.75
"""Share of a sentence's words that a text must have to say the same."""

_FEWEST_WORDS = 2
_SOME_FILES = 2
_REPORT = 7
"""Words below which what an assistant says is a report of what it did."""

_FEWEST_CUES = 2
_RULE_CUES = {
    "preference": (
        "preference.strong",
        "habit",
        "scope",
        "universal",
        "w.always",
        "w.never",
        "w.general",
        "correction",
    ),
    "constraint": ("limit", "limit.weak", "external", "w.limit", "w.only", "w.never", "universal"),
    "decision": ("decision.strong", "decision.news", "w.plan", "contrast"),
    "tech_debt": ("debt.defer", "debt.return", "debt.defer.weak"),
}
"""Cues of which a sentence of a first prompt needs one: most sentences there describe the work to be done."""


class TriageModel:
    """For each feature what it adds to every outcome."""

    __slots__ = ("_lines", "_parsed", "outcomes")

    def __init__(self, text: str) -> None:
        parts = text.replace("\n", "\t").split("\t")
        self.outcomes = parts[1].split()
        # Thousands of lines, of which a session needs a few hundred: each is parsed when it is first met.
        self._lines = dict(zip(parts[2::2], parts[3::2]))
        self._parsed: dict[str, tuple[int, ...]] = {}

    def probabilities(self, features: Iterable[str]) -> list[float]:
        """How probable each outcome is for a sentence with some features."""
        lines = self._lines
        rows = [self._row(feature) for feature in features if feature in lines]
        points = [sum(column) / 100 for column in zip(self._row(ALWAYS), *rows)]
        most = max(points)
        shares = [exp(point - most) for point in points]
        whole = sum(shares)
        return [share / whole for share in shares]

    def _row(self, feature: str) -> tuple[int, ...]:
        row = self._parsed.get(feature)
        if row is None:
            row = self._parsed[feature] = tuple(map(int, self._lines[feature].split()))
        return row


class SaveCandidate(NamedTuple):
    """A sentence worth saving: its category, how probably so, the words it rests on, and what is said around them."""

    category: str
    score: float
    core: str
    evidence: tuple[str, ...]
    around: tuple[str, ...] = ()
    is_correction: bool = False


def default_threshold(category: str) -> float:
    """How probable a category must be by default."""
    return CATEGORIES[category].triage_threshold


def best_candidates(end: Ending, threshold: Threshold = default_threshold) -> list[SaveCandidate]:
    """What passes, most probable first, each sentence at most once."""
    model = TriageModel(files.read(WEIGHTS, _LARGEST).decode("utf-8"))
    return distinct(list(candidates(Conversation(end), model, threshold)))


def distinct(candidates: list[SaveCandidate]) -> list[SaveCandidate]:
    """Findings with no words in common, most probable first."""
    chosen: list[SaveCandidate] = []
    for finding in sorted(candidates, key=lambda finding: -finding.score):
        if all(set(finding.evidence).isdisjoint(other.evidence) for other in chosen):
            chosen.append(finding)
    return chosen


def candidates(talk: Conversation, model: TriageModel, threshold: Threshold) -> Iterator[SaveCandidate]:
    """Every sentence that is probable enough for its category."""
    for speech in talk.speeches:
        shared: list[str] = []
        for number, line in enumerate(speech.lines):
            if is_eligible(talk, speech, line):
                shared = shared or features.of_speech(talk, speech)
                chances = model.probabilities([*shared, *features.of_line(talk, speech, number)])
                likeliest = max(range(1, len(chances)), key=chances.__getitem__)
                category = model.outcomes[likeliest]
                is_probable = chances[likeliest] >= threshold(category)
                if is_probable and _can_settle(talk, speech, category) and _may_open(talk, speech, line, category):
                    yield _finding(talk, speech, number, category, chances[likeliest])


def is_eligible(talk: Conversation, speech: Speech, line: SpeechLine) -> bool:
    """Whether a sentence can settle anything: not in jest or in an "if", nor as a question, an option or a lecture."""
    if line.is_question or len(line.sentence.words) < _FEWEST_WORDS:
        return False
    if line.has("joke", "hypothetical", "reported") or speech.has("joke"):
        return False
    if speech.by_user:
        return True
    if len(line.sentence.words) < _REPORT or len(line.tags) < _FEWEST_CUES:
        return False
    is_option = line.sentence.is_item and speech.offers_choice
    return (speech.is_grounded or talk.is_accepted(speech)) and not is_option and not line.has("doc", "general")


def _can_settle(talk: Conversation, speech: Speech, category: str) -> bool:
    """A summary needs edits; a decision needs the user's consent or an edit; a preference must come from the user."""
    if category == "session_summary":
        return talk.activity.is_substantial or len(talk.activity.files) >= _SOME_FILES
    if speech.by_user or category not in ("decision", "preference"):
        return True
    return category == "decision" and (speech.acted_before or talk.is_accepted(speech))


def _may_open(talk: Conversation, speech: Speech, line: SpeechLine, category: str) -> bool:
    """Whether a sentence could settle something even in a first prompt, if it stands in one."""
    return not talk.is_first(speech) or category not in _RULE_CUES or line.has(*_RULE_CUES[category])


def _finding(talk: Conversation, speech: Speech, number: int, category: str, score: float) -> SaveCandidate:
    core = speech.lines[number].sentence.raw
    near = [line.sentence.raw for line in speech.near(number)]
    evidence = tuple(
        line.sentence.raw for at, line in enumerate(speech.lines) if at == number or line.sentence.raw in near
    )
    around = tuple(line.sentence.raw for beside in talk.around(speech) for line in beside.lines)
    corrects = category == "preference" and speech.corrects and speech.acted_before
    return SaveCandidate(category, score, core, evidence, around, corrects)


def open_tasks(end: Ending) -> list[str]:
    """What the assistant last said is still to be done, word for word."""
    answers = [speech for speech in Conversation(end).speeches if not speech.by_user][-2:]
    lines = [line for speech in answers for line in speech.lines]
    return [line.sentence.raw for line in lines if line.has("leftover") and not line.is_question]


def is_repeated_in(sentence: str, texts: Iterable[str]) -> bool:
    """Whether one of some texts says nearly all the words of a sentence."""
    words = _content(sentence)
    return bool(words) and any(len(words & _content(text)) >= _REPEATED * len(words) for text in texts)


def _content(text: str) -> set[str]:
    letters = "".join(char if char.isalnum() else " " for char in text.lower())
    return {word for word in letters.split() if len(word) > 3}
