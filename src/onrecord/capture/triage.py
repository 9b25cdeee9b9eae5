"""Triage: finds the sentences of a session that may be worth saving. Deterministic and without side effects.

A linear model computes the probability of each category from the features of a sentence. Its weights are fitted by
`python -m bench triage` and stored in `cues/weights.tsv`. The first line there names the outcomes; each other line has
a feature and its weight for each outcome, in hundredths.
"""

from __future__ import annotations

import os
from math import exp

from onrecord import files
from onrecord.capture.conversation import CUES_FOLDER, Conversation
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.session.correction import FAULT, REPROACH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onrecord.capture.conversation import Speech, SpeechLine
    from onrecord.session.transcript import Ending

    Threshold = Callable[[str], float]

_SPEECH_WIDE = frozenset(
    "hedge one_off task question accept process joke failure correction cause.strong cause.weak solved leftover"
    " wrap_up w.fix w.fault".split()
)
_CURES = ("cause.strong", "cause.weak", "solved", "w.fix")
_ENDS = ("leftover", "wrap_up")
_NO_ANSWER = ("accept", "correction", "w.thanks", "joke", "hedge", "question", "one_off", "w.see")
_MIN_STATEMENT_WORDS = 7
"""A user's sentence with fewer words is only an acknowledgement."""

_STEM_CHARS = 6
_MAX_REPLY_FEATURES = 8
WEIGHTS = os.path.join(CUES_FOLDER, "weights.tsv")
ALWAYS = "always"
"""A feature that every sentence has."""

_MAX_WEIGHTS_BYTES = 4_000_000
_MIN_REPEATED_SHARE = 0.75
"""Share of a sentence's words that a text must have to count as repeating it."""

_FIRST_PROMPT_STEP, _CURE_STEP = 0.15, 0.2
"""By how much the threshold is higher in a first prompt, and lower for a sentence with cause and cure."""

_MIN_WORDS = 2
_MIN_SUMMARY_FILES = 2
_MIN_ASSISTANT_WORDS = 7
"""An assistant's sentence with fewer words is only a report of its last step."""

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
"""In a first prompt, most sentences describe the task, so a sentence there needs one of these cues."""


def speech_features(conversation: Conversation, speech: Speech) -> list[str]:
    """Return the features that all sentences of a speech share."""
    tags = {tag: None for speech_line in speech.lines for tag in speech_line.tags if tag in _SPEECH_WIDE}
    features = [f"speech {tag}" for tag in tags]
    features += _work_features(conversation, speech, tags)
    features += _user_features(conversation, speech) if speech.by_user else _assistant_features(conversation, speech)
    if len(speech.lines) == 1:
        features.append("alone")
    return features


def line_features(conversation: Conversation, speech: Speech, number: int) -> list[str]:
    """Return the features of one sentence, besides those of its speech."""
    speech_line = speech.lines[number]
    neighbours = speech.neighbours(number)
    features = [f"own {tag}" for tag in speech_line.tags]
    features += {f"near {tag}": None for neighbour in neighbours for tag in neighbour.tags}
    features += _word_features(speech_line)
    features += _boosted_features(speech_line, neighbours)
    features += _form_features(conversation, speech, speech_line)
    if conversation.is_first(speech):
        # A first prompt mostly describes a task, so rules look different in it.
        features += [f"first {tag}" for tag in speech_line.tags]
    if speech.by_user:
        features += _overlap_features(conversation, speech, speech_line)
    else:
        features += [f"A {tag}" for tag in speech_line.tags]
    if conversation.activity.is_substantial and speech_line.has("leftover") and conversation.is_farewell(speech):
        features.append("left and leaving")
    return features


def _word_features(speech_line: SpeechLine) -> list[str]:
    """Return the words of a sentence, their pairs, and the stems of long words."""
    row = ["^", *("#" if any(map(str.isdigit, word)) else word for word in speech_line.sentence.words), "$"]
    features = [f"u {word}" for word in row[1:-1]]
    features += [f"b {first} {second}" for first, second in zip(row, row[1:])]
    features += [f"p {word[:_STEM_CHARS]}" for word in row if len(word) >= _STEM_CHARS]
    return list(dict.fromkeys(features))


def _true(facts: dict[str, bool]) -> list[str]:
    return [name for name, is_true in facts.items() if is_true]


def _work_features(conversation: Conversation, speech: Speech, tags: Iterable[str]) -> list[str]:
    """Return features of the work and failures before a speech, and of the end of the session."""
    who = "U" if speech.by_user else "A"
    before, after = conversation.speeches[: speech.number], conversation.speeches[speech.number + 1 :]
    is_reported = any(earlier.by_user and earlier.has("failure", "w.fault") for earlier in before)
    has_failed = conversation.failed_at < speech.message_number
    in_trouble = is_reported or has_failed
    is_busy, is_farewell = conversation.activity.is_substantial, conversation.is_farewell(speech)
    facts = {
        "trouble told": is_reported,
        "trouble seen": has_failed,
        "trouble ran": in_trouble and conversation.ran_at < speech.message_number,
        "trouble explained": in_trouble and any(earlier.has("cause.strong") for earlier in before),
        "trouble cured after": in_trouble and any(later.has("solved", "w.fix") for later in after),
        "ran": conversation.ran_at < speech.message_number,
        "edited": conversation.edited_at < speech.message_number,
        "busy": is_busy,
        "leaving": is_farewell,
        "leaving busy": is_farewell and is_busy,
        "last": not after and not speech.by_user,
    }
    features = [f"{who} {name}" for name in _true(facts)]
    features += [f"trouble {tag}" for tag in tags if in_trouble and tag in _CURES]
    return features + [f"busy {tag}" for tag in tags if is_busy and tag in _ENDS]


def _user_features(conversation: Conversation, speech: Speech) -> list[str]:
    before = conversation.assistant_before(speech)
    earlier, first = conversation.by_user_before(speech), speech.lines[0]
    facts = {
        "user": True,
        "corrects": speech.corrects,
        "corrects what was done": speech.corrects and speech.acted_before,
        "corrects earlier work": (speech.corrects or speech.fault > 0) and speech.acted_ever,
        "finds fault": speech.fault == FAULT,
        "reproaches": speech.fault == REPROACH,
        "answers a choice": before is not None and before.offers_choice,
        "answers a question": before is not None and before.lines[-1].sentence.is_question,
        "weighed before": bool(earlier) and any(map(_asks_which, earlier[-1].lines)),
        "after an act": speech.acted_before,
        "first prompt": conversation.is_first(speech),
        # A first sentence of one to three words, followed by others: "Postgres. One thing less to run."
        "bare answer": len(speech.lines) > 1 and len(first.sentence.words) < 4 and not first.has(*_NO_ANSWER),
        "U asks": speech.asks,
        f"U sentences {min(len(speech.lines), 4)}": True,
    }
    return _true(facts)


def _asks_which(speech_line: SpeechLine) -> bool:
    return speech_line.is_question and not {"or", "oder", "o"}.isdisjoint(speech_line.sentence.words)


def _assistant_features(conversation: Conversation, speech: Speech) -> list[str]:
    reply = conversation.reply(speech)
    is_accepted = conversation.is_accepted(speech)
    facts = {
        "assistant": True,
        "accepted": is_accepted,
        "A offers choice": speech.offers_choice,
        "A asks": speech.asks,
        "A open": (speech.offers_choice or speech.asks) and not is_accepted,
        "A acted": speech.acted_before,
        "A not grounded": not speech.is_grounded,
        "A answered otherwise": reply is not None and not is_accepted,
        "reply not asking": reply is not None and not reply.asks,
    }
    if reply is None:
        return _true(facts)
    first = reply.lines[0]
    start = [feature for feature in _word_features(first) if feature.startswith(("u ", "b ^"))]
    return [
        *_true(facts),
        *(f"r {feature}" for feature in start[:_MAX_REPLY_FEATURES]),
        *(f"r {tag}" for tag in first.tags),
    ]


def _form_features(conversation: Conversation, speech: Speech, speech_line: SpeechLine) -> list[str]:
    """Return features of the length and form of a sentence."""
    size, rest = len(speech_line.sentence.words), speech_line.sentence.raw.split()[1:]
    facts = {
        "later statement": speech.by_user
        and not conversation.is_first(speech)
        and size >= _MIN_STATEMENT_WORDS
        and not speech.asks,
        "code": speech_line.sentence.has_code,
        "command": speech_line.sentence.has_command,
        "number": any(word[:1].isdigit() for word in speech_line.sentence.words),
        # German capitalizes every noun.
        "name": conversation.language != "de"
        and any(word[:1].isupper() and word[:2] not in ("I", "I'") for word in rest),
        "short": size < 5,
        "middling": 8 <= size <= 30,
        "long": size > 20,
    }
    return _true(facts)


def _overlap_features(conversation: Conversation, speech: Speech, speech_line: SpeechLine) -> Iterator[str]:
    """Yield features of the words that a user's sentence shares with the assistant's speech before it.

    A user who chooses an option usually repeats its name.
    """
    before = conversation.assistant_before(speech)
    if before is None:
        return
    stems = _stems(speech_line)
    shared = len(stems & {stem for other in before.lines for stem in _stems(other)})
    kinds = ("echo", "chosen") if before.offers_choice or before.lines[-1].is_question else ("echo",)
    for kind in kinds:
        yield f"{kind} {min(shared, 3)}"
        if stems:
            yield f"{kind} share {min(4 * shared // len(stems), 3)}"


def _stems(speech_line: SpeechLine) -> set[str]:
    return {word[:_STEM_CHARS] for word in speech_line.sentence.words if len(word) > 3}


def _boosted_features(speech_line: SpeechLine, neighbours: list[SpeechLine]) -> Iterator[str]:
    """Yield features for cues that have a booster in the same sentence, or in the one before or after it."""
    lines = (speech_line, *neighbours)
    for category, (cues, boosters) in ((name, CATEGORIES[name].boosted) for name in CATEGORIES):
        boosts = sum(speech_line.has(booster) for booster in boosters) if speech_line.has(*cues) else 0
        if boosts:
            yield f"{category} boosted"
        if boosts > 1:
            yield f"{category} boosted twice"
        if any(part.has(*cues) for part in lines) and any(part.has(*boosters) for part in lines):
            yield f"{category} boosted nearby"


class TriageModel:
    """Weights of each feature for every outcome."""

    __slots__ = ("_lines", "_parsed", "outcomes")

    def __init__(self, text: str) -> None:
        parts = text.replace("\n", "\t").split("\t")
        self.outcomes = parts[1].split()
        # There are thousands of lines, and a session needs a few hundred: each line is parsed on first use.
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
    around: tuple[str, ...]
    is_correction: bool = False


def default_threshold(category: str) -> float:
    """Return the default threshold of a category."""
    return CATEGORIES[category].triage_threshold


def best_candidates(end: Ending, threshold: Threshold = default_threshold) -> list[SaveCandidate]:
    """Return the candidates above the threshold, most probable first, each sentence at most once."""
    model = TriageModel(files.read(WEIGHTS, _MAX_WEIGHTS_BYTES).decode("utf-8"))
    return distinct(list(candidates(Conversation(end), model, threshold)))


def distinct(save_candidates: list[SaveCandidate]) -> list[SaveCandidate]:
    """Return the candidates, most probable first; skip one that shares evidence with a more probable one."""
    result: list[SaveCandidate] = []
    for candidate in sorted(save_candidates, key=lambda candidate: -candidate.score):
        if all(set(candidate.evidence).isdisjoint(other.evidence) for other in result):
            result.append(candidate)
    return result


def candidates(conversation: Conversation, model: TriageModel, threshold: Threshold) -> Iterator[SaveCandidate]:
    """Yield a candidate for each sentence whose probability reaches the threshold of its category."""
    for speech in conversation.speeches:
        shared: list[str] = []
        for number, speech_line in enumerate(speech.lines):
            if is_eligible(conversation, speech, speech_line):
                shared = shared or speech_features(conversation, speech)
                probabilities = model.probabilities([*shared, *line_features(conversation, speech, number)])
                likeliest = max(range(1, len(probabilities)), key=probabilities.__getitem__)
                category = model.outcomes[likeliest]
                lowest = threshold(category) + _shift(conversation, speech, speech_line, category)
                is_probable = probabilities[likeliest] >= lowest
                is_supported = is_probable and _has_support(conversation, speech, category)
                if is_supported and _fits_first_prompt(conversation, speech, speech_line, category):
                    yield _candidate(conversation, speech, number, category, probabilities[likeliest])


def _shift(conversation: Conversation, speech: Speech, speech_line: SpeechLine, category: str) -> float:
    """Return by how much the threshold differs for a sentence: a first prompt that finds no fault describes a task.

    A runbook that names both cause and cure needs less: "the root cause was …, fixed by …".
    """
    if conversation.is_first(speech) and not speech.fault:
        return _FIRST_PROMPT_STEP
    has_both = category == "runbook" and speech_line.has("cause.strong") and speech_line.has("w.fix")
    return -_CURE_STEP if has_both else 0.0


def is_eligible(conversation: Conversation, speech: Speech, speech_line: SpeechLine) -> bool:
    """True unless `speech_line` is a question, a joke, hypothetical, one of several options, or general advice."""
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
    corrects = category == "preference" and (speech.corrects or speech.fault > 0) and speech.acted_ever
    return SaveCandidate(category, score, core, evidence, around, corrects)


def open_tasks(end: Ending) -> list[str]:
    """Return the sentences in the assistant's last two speeches that name work still to be done."""
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
