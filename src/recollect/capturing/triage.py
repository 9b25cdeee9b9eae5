"""Triage: what of a session may be worth keeping. Deterministic: messages in, findings out, nothing else touched.

Every sentence is looked at with the ones beside it: which cues it carries, who says it, what was done around it. One
linear model makes of that the probability of each category; its weights are fitted by `bench/fit_capture.py` and
committed. A cue alone is never enough: no single weight reaches the threshold.
"""

from __future__ import annotations

from math import exp

from recollect.capturing.activity import Activity
from recollect.capturing.scene import Scene
from recollect.capturing.weights import Weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.capturing.lexicon import Lexicons
    from recollect.capturing.scene import Line, Speech
    from recollect.session.transcript import Message

SENTENCES = ("decision", "constraint", "preference", "tech_debt")
"""Categories that a sentence can carry; the others take a course of events."""

DEFAULT_THRESHOLD = 0.7
_SPEECH_WIDE = frozenset("hedge one_off task question accept process joke failure correction".split())
_ECHO = 0.75
_STATEMENT = 7
"""Words from which what a user says in the course of a session is more than an acknowledgement."""


class Finding:
    """Something worth keeping: its category, how probably so, and the words it rests on."""

    __slots__ = ("category", "core", "evidence", "is_correction", "score")

    def __init__(
        self, category: str, score: float, core: str, evidence: tuple[str, ...], *, is_correction: bool = False
    ) -> None:
        self.category = category
        self.score = score
        self.core = core
        self.evidence = evidence
        self.is_correction = is_correction

    def __repr__(self) -> str:
        return f"Finding({self.category!r}, {self.score:.2f}, {self.core!r})"


def findings(
    messages: list[Message],
    lexicons: Lexicons,
    threshold: Callable[[str], float] | None = None,
    known: tuple[str, ...] = (),
) -> list[Finding]:
    """What passes, most probable first, each sentence at most once; nothing that `known` texts say already."""
    bar = threshold or (lambda _: DEFAULT_THRESHOLD)
    scene = Scene(messages, lexicons)
    passed = [one for one in candidates(scene) if one.score >= bar(one.category) and not is_echo(one.core, known)]
    passed.sort(key=lambda one: -one.score)
    kept: list[Finding] = []
    for one in passed:
        if not any(set(one.evidence) & set(other.evidence) for other in kept):
            kept.append(one)
    return kept


def candidates(scene: Scene) -> Iterator[Finding]:
    """Everything that could be worth keeping, with its probability."""
    weights = Weights.load()
    for speech in scene.speeches:
        for number, line in enumerate(speech.lines):
            if not line.is_question and len(line.sentence.words) > 1 and _may_count(scene, speech, line):
                yield from _sentence(scene, speech, number, weights)
        if not speech.by_user:
            yield from _runbook(scene, speech, weights)
    yield from _summary(scene)


def _may_count(scene: Scene, speech: Speech, line: Line) -> bool:
    """Whether a sentence can settle anything: not in jest or in an "if", nor as an option or a lecture."""
    if line.has("joke", "hypothetical", "reported") or speech.has("joke"):
        return False
    if speech.by_user:
        return line.has(*_ANY_CUE) or _answers(scene, speech)
    if not line.has(*_ASSISTANTS_CUES) and not scene.is_accepted(speech):
        return False
    is_option = line.sentence.is_item and speech.offers_choice
    return (speech.grounded or scene.is_accepted(speech)) and not is_option and not line.has("doc", "general")


def _sentence(scene: Scene, speech: Speech, number: int, weights: Weights) -> Iterator[Finding]:
    line = speech.lines[number]
    points = weights.points(features(scene, speech, number), ("nothing", *SENTENCES))
    most = max(points)
    whole = sum(exp(each - most) for each in points)
    best = max(range(len(SENTENCES)), key=lambda place: points[place + 1])
    category = SENTENCES[best]
    if not _has_cue(category, scene, speech, line):
        return
    if not speech.by_user and not _is_assistants(category, scene, speech, line):
        return
    beside = [near.sentence.raw for near in speech.near(number)]
    evidence = tuple(one.sentence.raw for one in speech.lines if one is line or one.sentence.raw in beside)
    corrects = speech.by_user and speech.acted_before and speech.opens_with("correction")
    yield Finding(
        category,
        1 - exp(points[0] - most) / whole,
        line.sentence.raw,
        evidence,
        is_correction=corrects and category == "preference",
    )


_CUES = {
    "decision": ("decision.strong", "decision.weak", "decision.news", "select", "proposal", "w.plan"),
    "constraint": ("limit", "limit.weak", "w.limit", "w.must", "w.neg", "w.only", "w.never"),
    "preference": ("preference.strong", "preference.weak", "habit", "placement", "directive", "scope", "w.like"),
    "tech_debt": ("debt.defer", "debt.defer.weak", "debt.flaw", "debt.return", "w.hold", "w.back"),
}
_ANY_CUE = tuple({cue: None for cues in _CUES.values() for cue in cues})
_ASSISTANTS_CUES = ("decision.strong", "limit", "limit.weak", "w.limit", *_CUES["tech_debt"])
_FEWEST_WORDS = 5


def _answers(scene: Scene, speech: Speech) -> bool:
    """Whether a choice or a question was put to the user just before."""
    return scene.answers_choice(speech) or scene.answers_question(speech) or scene.asked_or(speech)


def _has_cue(category: str, scene: Scene, speech: Speech, line: Line) -> bool:
    """Whether a sentence says something of its category's kind; an answer to a choice needs no word for it."""
    if category == "decision" and speech.by_user and _answers(scene, speech):
        return True
    return line.has(*_CUES[category]) and len(line.sentence.words) >= _FEWEST_WORDS


def _is_assistants(category: str, scene: Scene, speech: Speech, line: Line) -> bool:
    """Whether an assistant's word can establish it: not what the user wants, and a choice only with consent."""
    if category == "decision":
        proposed = scene.is_accepted(speech) and line.has("proposal", "decision.strong")
        return proposed or (speech.acted_before and line.has("decision.strong") and line.has("reason"))
    return category != "preference"


def features(scene: Scene, speech: Speech, number: int) -> list[str]:
    """What is seen of a sentence: its own cues, those beside it, and the situation."""
    line = speech.lines[number]
    found = [f"own {tag}" for tag in line.tags]
    found += {f"near {tag}": None for near in speech.near(number) for tag in near.tags}
    found += {f"speech {tag}": None for one in speech.lines for tag in one.tags if tag in _SPEECH_WIDE}
    size = len(line.sentence.words)
    facts = {
        "user": speech.by_user,
        "assistant": not speech.by_user,
        "answers a choice": speech.by_user and scene.answers_choice(speech),
        "after an act": speech.by_user and speech.acted_before,
        "first prompt": speech.by_user and scene.is_first(speech),
        "later statement": speech.by_user and not scene.is_first(speech) and size >= _STATEMENT and not speech.asks,
        "answers a question": speech.by_user and scene.answers_question(speech),
        "weighed before": speech.by_user and scene.asked_or(speech),
        "bare answer": speech.by_user and speech.is_bare_answer,
        "accepted": scene.is_accepted(speech),
        "code": line.sentence.has_code,
        "command": line.sentence.has_command,
        "number": line.has_number,
        "name": line.has_name and scene.language != "de",
        "short": size < 5,
        "middling": 8 <= size <= 30,
        "long": size > 20,
        "alone": len(speech.lines) == 1,
    }
    return found + [name for name, is_so in facts.items() if is_so] + list(_together(speech, number))


_BOOSTED = {
    "decision": (("decision.strong", "decision.weak", "w.plan", "select"), ("reason", "contrast", "decision.news")),
    "constraint": (("limit", "limit.weak"), ("external", "discovery", "w.system", "w.people")),
    "preference": (
        ("preference.strong", "habit", "directive", "placement", "w.like"),
        ("scope", "universal", "topic", "contrast", "w.general"),
    ),
    "tech_debt": (("debt.defer", "debt.defer.weak"), ("debt.flaw", "debt.return", "w.hold", "w.back")),
}


def _together(speech: Speech, number: int) -> Iterator[str]:
    """Cues with their boosters in the same sentence or beside it: more than the two of them apart."""
    line = speech.lines[number]
    around = (line, *speech.near(number))
    for category, (cues, boosters) in _BOOSTED.items():
        own = sum(line.has(cue) for cue in cues)
        help_own = sum(line.has(booster) for booster in boosters)
        if own and help_own:
            yield f"{category} boosted"
        if own and help_own > 1:
            yield f"{category} boosted twice"
        if any(one.has(*cues) for one in around) and any(one.has(*boosters) for one in around):
            yield f"{category} boosted nearby"


def _runbook(scene: Scene, speech: Speech, weights: Weights) -> Iterator[Finding]:
    """Something failed, commands were run, and then somebody said why and that it works."""
    seen = case_features(scene, speech)
    if not seen:
        return
    against, points = weights.points(seen, ("no runbook", "runbook"))
    cause = max(speech.lines, key=lambda line: (line.has("cause.strong"), line.has("cause.weak")))
    evidence = tuple(
        line.sentence.raw
        for line in speech.lines
        if line is cause or line.sentence.has_command or line.has("solved", "w.fix")
    )
    yield Finding("runbook", 1 / (1 + exp(against - points)), cause.sentence.raw, evidence)


def case_features(scene: Scene, speech: Speech) -> list[str]:
    """What is seen of a report after trouble; nothing where there was no trouble before it."""
    told, seen = _trouble(scene, speech)
    works = any(line.has("solved", "w.fix") for line in speech.lines if not line.is_question)
    if not (told or seen) or not works or not (speech.acted_before or scene.has_edited(speech)):
        return []
    tags = {f"case {tag}": None for line in speech.lines if not line.is_question for tag in line.tags}
    explained = any(
        line.has("cause.strong")
        for one in scene.speeches
        if not one.by_user and one.at < speech.at
        for line in one.lines
    )
    facts = {
        "case told": told,
        "case seen": seen,
        "case explained before": explained,
        "case command": any(line.sentence.has_command for line in speech.lines),
        "case code": any(line.sentence.has_code for line in speech.lines),
        "case ran": scene.has_run(speech),
        "case edited": scene.has_edited(speech),
        "case asks": any(line.sentence.is_question for line in speech.lines),
        "case one line": len(speech.lines) == 1,
    }
    return [*tags, *(name for name, is_so in facts.items() if is_so)]


def _trouble(scene: Scene, speech: Speech) -> tuple[bool, bool]:
    """Whether the user told of trouble before a speech, and whether a tool's result showed it."""
    told = any(
        line.has("failure", "w.fault")
        for one in scene.speeches
        if one.by_user and one.at < speech.at
        for line in one.lines
    )
    return told, any(at < speech.at for at in scene.failures)


def _summary(scene: Scene) -> Iterator[Finding]:
    """A session that did much, is being left, and is not finished."""
    if not Activity(scene.messages).is_substantial:
        return
    users = [speech for speech in scene.speeches if speech.by_user][-2:]
    answers = [speech for speech in scene.speeches if not speech.by_user][-2:]
    leaving = [line for speech in users for line in speech.lines if line.has("wrap_up")]
    left = [line for speech in answers for line in speech.lines if line.has("leftover") and not line.is_question]
    if left and (leaving or len(left) > 1):
        evidence = tuple(line.sentence.raw for line in (*left[:3], *leaving[:1]))
        # Somebody who leaves and is told what is left wants the summary, whatever else the sentences may be.
        score = 0.99 if leaving else 0.3 + 0.1 * min(len(left), 4)
        yield Finding("session_summary", score, left[0].sentence.raw, evidence)


def leftovers(messages: list[Message], lexicons: Lexicons) -> list[str]:
    """What the assistant last said is still to be done, word for word."""
    answers = [speech for speech in Scene(messages, lexicons).speeches if not speech.by_user][-2:]
    lines = [line for speech in answers for line in speech.lines]
    return [line.sentence.raw for line in lines if line.has("leftover") and not line.is_question]


def is_echo(core: str, known: tuple[str, ...]) -> bool:
    """Whether a sentence only says again what a known text says."""
    words = _content(core)
    return bool(words) and any(len(words & _content(text)) >= _ECHO * len(words) for text in known)


def _content(text: str) -> set[str]:
    letters = "".join(char if char.isalnum() else " " for char in text.lower())
    return {word for word in letters.split() if len(word) > 3}
