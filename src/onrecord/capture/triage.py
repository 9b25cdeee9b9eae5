"""Triage: the sentences of a session that may be worth saving. Deterministic and without side effects.

One linear model computes the probability of each category from the `features` of a sentence. Its weights are fitted by
`python -m bench triage` and stored in `cues/weights.tsv`: each line is a feature with its weight for each outcome, in
hundredths; the first line names the outcomes.
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
"""Feature of every sentence."""

_MAX_WEIGHTS_BYTES = 4_000_000
_MIN_REPEATED_SHARE = 0.75
"""Share of a sentence's words in a text that repeats it."""

_MIN_WORDS = 2
_MIN_SUMMARY_FILES = 2
_MIN_ASSISTANT_WORDS = 7
"""A shorter sentence of the assistant only reports what it did."""

_MIN_CUES = 2
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
"""In a first prompt a sentence needs one of these cues, since most sentences there describe the task."""


class TriageModel:
    """Weights of each feature for every outcome."""

    __slots__ = ("_lines", "_parsed", "outcomes")

    def __init__(self, text: str) -> None:
        parts = text.replace("\n", "\t").split("\t")
        self.outcomes = parts[1].split()
        # A session needs a few hundred of thousands of lines, so each is parsed when first used.
        self._lines = dict(zip(parts[2::2], parts[3::2]))
        self._parsed: dict[str, tuple[int, ...]] = {}

    def probabilities(self, features: Iterable[str]) -> list[float]:
        """Return the probability of each outcome for a sentence with these features."""
        lines = self._lines
        rows = [self._row(feature) for feature in features if feature in lines]
        points = [sum(column) / 100 for column in zip(self._row(ALWAYS), *rows)]
        highest = max(points)
        shares = [exp(point - highest) for point in points]
        total = sum(shares)
        return [share / total for share in shares]

    def _row(self, feature: str) -> tuple[int, ...]:
        row = self._parsed.get(feature)
        if row is None:
            row = self._parsed[feature] = tuple(map(int, self._lines[feature].split()))
        return row


class SaveCandidate(NamedTuple):
    """A sentence that may be worth saving: its category and probability, its evidence, and the sentences around it."""

    category: str
    score: float
    core: str
    evidence: tuple[str, ...]
    around: tuple[str, ...] = ()
    is_correction: bool = False


def default_threshold(category: str) -> float:
    """Return the default threshold of a category."""
    return CATEGORIES[category].triage_threshold


def best_candidates(end: Ending, threshold: Threshold = default_threshold) -> list[SaveCandidate]:
    """Return the candidates above the threshold, most probable first, each sentence at most once."""
    model = TriageModel(files.read(WEIGHTS, _MAX_WEIGHTS_BYTES).decode("utf-8"))
    return distinct(list(candidates(Conversation(end), model, threshold)))


def distinct(save_candidates: list[SaveCandidate]) -> list[SaveCandidate]:
    """Return the candidates without those that share evidence with a more probable one."""
    result: list[SaveCandidate] = []
    for candidate in sorted(save_candidates, key=lambda candidate: -candidate.score):
        if all(set(candidate.evidence).isdisjoint(other.evidence) for other in result):
            result.append(candidate)
    return result


def candidates(conversation: Conversation, model: TriageModel, threshold: Threshold) -> Iterator[SaveCandidate]:
    """Yield every sentence whose probability reaches the threshold of its category."""
    for speech in conversation.speeches:
        shared: list[str] = []
        for number, speech_line in enumerate(speech.lines):
            if is_eligible(conversation, speech, speech_line):
                shared = shared or features.speech_features(conversation, speech)
                probabilities = model.probabilities([*shared, *features.line_features(conversation, speech, number)])
                likeliest = max(range(1, len(probabilities)), key=probabilities.__getitem__)
                category = model.outcomes[likeliest]
                is_probable = probabilities[likeliest] >= threshold(category)
                is_supported = is_probable and _has_support(conversation, speech, category)
                if is_supported and _fits_first_prompt(conversation, speech, speech_line, category):
                    yield _candidate(conversation, speech, number, category, probabilities[likeliest])


def is_eligible(conversation: Conversation, speech: Speech, speech_line: SpeechLine) -> bool:
    """True unless `speech_line` is a joke, hypothetical, a question, an option or general advice."""
    if speech_line.is_question or len(speech_line.sentence.words) < _MIN_WORDS:
        return False
    if speech_line.has("joke", "hypothetical", "reported") or speech.has("joke"):
        return False
    if speech.by_user:
        return True
    if len(speech_line.sentence.words) < _MIN_ASSISTANT_WORDS or len(speech_line.tags) < _MIN_CUES:
        return False
    is_option = speech_line.sentence.is_item and speech.offers_choice
    return (
        (speech.is_grounded or conversation.is_accepted(speech))
        and not is_option
        and not speech_line.has("doc", "general")
    )


def _has_support(conversation: Conversation, speech: Speech, category: str) -> bool:
    """True if the session supports this category.

    A summary needs edits; a decision needs the user's consent or an edit; a preference must come from the user.
    """
    if category == "session_summary":
        return conversation.activity.is_substantial or len(conversation.activity.files) >= _MIN_SUMMARY_FILES
    if speech.by_user or category not in ("decision", "preference"):
        return True
    return category == "decision" and (speech.acted_before or conversation.is_accepted(speech))


def _fits_first_prompt(conversation: Conversation, speech: Speech, speech_line: SpeechLine, category: str) -> bool:
    """True unless `speech_line` is in a first prompt and lacks the cues of `category`."""
    return not conversation.is_first(speech) or category not in _RULE_CUES or speech_line.has(*_RULE_CUES[category])


def _candidate(conversation: Conversation, speech: Speech, number: int, category: str, score: float) -> SaveCandidate:
    core = speech.lines[number].sentence.raw
    near = [line.sentence.raw for line in speech.neighbours(number)]
    texts = [line.sentence.raw for line in speech.lines]
    evidence = tuple(text for position, text in enumerate(texts) if position == number or text in near)
    around = tuple(line.sentence.raw for other in conversation.around(speech) for line in other.lines)
    corrects = category == "preference" and speech.corrects and speech.acted_before
    return SaveCandidate(category, score, core, evidence, around, corrects)


def open_tasks(end: Ending) -> list[str]:
    """Return the sentences in which the assistant last named work still to be done."""
    answers = [speech for speech in Conversation(end).speeches if not speech.by_user][-2:]
    lines = [line for speech in answers for line in speech.lines]
    return [line.sentence.raw for line in lines if line.has("leftover") and not line.is_question]


def is_repeated_in(sentence: str, texts: Iterable[str]) -> bool:
    """True if one of `texts` has nearly all the words of `sentence`."""
    words = _content(sentence)
    return bool(words) and any(len(words & _content(text)) >= _MIN_REPEATED_SHARE * len(words) for text in texts)


def _content(text: str) -> set[str]:
    letters = "".join(char if char.isalnum() else " " for char in text.lower())
    return {word for word in letters.split() if len(word) > 3}
