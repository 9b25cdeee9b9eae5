"""Triage: what of a session may be worth keeping. Deterministic: messages in, findings out, nothing else touched.

A cue alone is never enough: it needs a booster in the same sentence or beside it, or something that was done.
"""

from __future__ import annotations

from recollect.activity import Activity, is_failure
from recollect.scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.lexicon import Lexicons
    from recollect.scene import Line, Speech
    from recollect.transcript import Message

CATEGORIES = ("preference", "decision", "constraint", "runbook", "tech_debt", "session_summary")
"""In the order in which they win where two claim the same sentence equally."""

DEFAULT_THRESHOLD = 0.6
STRONG, WEAK, BY_USER = 0.45, 0.25, 0.1
DOUBT = 0.3
_ECHO = 0.75


class Finding:
    """Something worth keeping: its category, how sure we are, and the words it rests on."""

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
    """What passes, best first, at most one of each category; nothing that `known` texts say already."""
    bar = threshold or (lambda _: DEFAULT_THRESHOLD)
    scene = Scene(messages, lexicons)
    passed = [one for one in _candidates(scene) if one.score >= bar(one.category) and not is_echo(one.core, known)]
    passed.sort(key=lambda one: (-one.score, CATEGORIES.index(one.category)))
    kept: list[Finding] = []
    for one in passed:
        shared = any(set(one.evidence) & set(other.evidence) for other in kept)
        if not shared and all(one.category != other.category for other in kept):
            kept.append(one)
    return kept


def _candidates(scene: Scene) -> Iterator[Finding]:
    for speech in scene.speeches:
        for number, line in enumerate(speech.lines):
            if line.is_question or line.has("joke") or any(near.has("joke") for near in speech.near(number)):
                continue
            for judge in (_preference, _decision, _constraint, _debt):
                finding = judge(scene, speech, number, line)
                if finding:
                    yield finding
    yield from _runbooks(scene)
    yield from _summaries(scene)


def _doubt(line: Line) -> float:
    """How much a sentence takes back by being hypothetical, general, or a repetition of what was said before."""
    return DOUBT * line.has("hypothetical") + DOUBT * line.has("reported") + DOUBT * line.has("doc")


def _boost(speech: Speech, number: int, weights: dict[str, float]) -> tuple[float, tuple[str, ...]]:
    """The sum of the boosters in a sentence and, at two thirds, of those beside it; and the sentences that gave it."""
    line = speech.lines[number]
    total, beside = 0.0, []
    for tag, weight in weights.items():
        if line.has(tag):
            total += weight
            continue
        helper = next((near for near in speech.near(number) if near.has(tag) and not near.has("hypothetical")), None)
        if helper:
            total += weight * 2 / 3
            beside.append(helper.sentence.raw)
    return total, tuple(beside)


def _evidence(speech: Speech, number: int, beside: tuple[str, ...]) -> tuple[str, ...]:
    """The sentence and those beside it that count, in the order they were said."""
    own = speech.lines[number].sentence.raw
    return tuple(line.sentence.raw for line in speech.lines if line.sentence.raw == own or line.sentence.raw in beside)


def _cue(line: Line, category: str) -> float:
    if line.has(f"{category}.strong"):
        return STRONG
    hits = line.tags.get(f"{category}.weak", 0)
    return WEAK + 0.1 * (hits > 1) if hits else 0.0


_MANNERS = {"scope": 0.25, "habit": 0.25, "universal": 0.15, "contrast": 0.2, "directive": 0.1, "placement": 0.2}
_RULING = ("preference.strong", "habit", "placement", "directive")


def _preference(scene: Scene, speech: Speech, number: int, line: Line) -> Finding | None:
    """How the user wants things done, above all where they correct what was just done."""
    if not speech.by_user or line.has("one_off", "hedge") or (line.has("task") and not line.has("preference.strong")):
        return None
    corrects = speech.acted_before and speech.opens_with("correction")
    boost, beside = _boost(speech, number, _MANNERS)
    if not boost or not (corrects or line.has(*_RULING)) or _is_passing(speech, number):
        return None
    score = 0.4 * line.has("preference.strong") + boost + 0.2 * line.has("topic") + 0.25 * corrects - _doubt(line)
    return Finding("preference", score, line.sentence.raw, _evidence(speech, number, beside), is_correction=corrects)


def _is_passing(speech: Speech, number: int) -> bool:
    """Whether a sentence speaks of the thing at hand only, as the one beside it says."""
    line = speech.lines[number]
    if line.has("preference.strong", "habit", "universal"):
        return False
    return any(near.has("one_off") for near in speech.near(number))


def _decision(scene: Scene, speech: Speech, number: int, line: Line) -> Finding | None:
    """What was chosen, by the user or by the assistant with the user's consent."""
    if not speech.by_user:
        return _accepted(scene, speech, number, line)
    asked = scene.answers_choice(speech)
    cue = STRONG if asked and number < 2 and _chooses(line) else 0.0 if line.has("process") else _cue(line, "decision")
    boost, beside = _boost(speech, number, {"reason": 0.15, "contrast": 0.15, "decision.news": 0.15})
    if not cue or not boost or line.has("hedge") or (asked and any(one.has("hedge") for one in speech.lines)):
        return None
    score = cue + BY_USER + boost + 0.15 * asked - DOUBT * line.has("debt.defer", "task") - _doubt(line)
    return Finding("decision", score, line.sentence.raw, _evidence(speech, number, beside))


def _chooses(line: Line) -> bool:
    """Whether an answer to a choice makes one: it says more than yes."""
    return line.has("select") or not (line.has("accept") and len(line.sentence.words) < 4)


def _accepted(scene: Scene, speech: Speech, number: int, line: Line) -> Finding | None:
    boost, beside = _boost(speech, number, {"reason": 0.15, "contrast": 0.15})
    strong = line.has("decision.strong")
    reply = scene.after(speech)
    consent = reply is not None and reply.by_user and reply.opens_with("accept")
    if strong and line.has("reason") and line.has("contrast") and speech.acted_before:
        score = STRONG + boost - _doubt(line)
    elif line.has("proposal") and boost and consent and reply and not reply.lines[0].is_question:
        score = WEAK + boost + 0.2 + 0.1 * reply.acted_after - _doubt(line)
    else:
        return None
    return Finding("decision", score, line.sentence.raw, _evidence(speech, number, beside))


def _constraint(scene: Scene, speech: Speech, number: int, line: Line) -> Finding | None:
    """What cannot or must not be done, as somebody with authority said or as it was found out."""
    cue = STRONG if line.has("limit") else WEAK if line.has("limit.weak") else 0.0
    if not cue or not (speech.by_user or speech.grounded):
        return None
    boost, beside = _boost(speech, number, {"discovery": 0.15, "external": 0.15})
    if not boost or not line.has("discovery", "external") or (line.has("failure") and not line.has("discovery")):
        return None
    more = 0.1 * line.has_number + 0.1 * (line.tags.get("limit", 0) > 1)
    score = cue + 0.05 * speech.by_user + boost + more - DOUBT * line.has("task") - _doubt(line)
    return Finding("constraint", score, line.sentence.raw, _evidence(speech, number, beside))


_DEBT = {"debt.defer": 0.25, "debt.defer.weak": 0.1, "debt.flaw": 0.25, "debt.return": 0.2}


def _debt(scene: Scene, speech: Speech, number: int, line: Line) -> Finding | None:
    """What was knowingly left: something flawed, put off, to be come back to; two of the three must be said."""
    if not any(line.has(tag) for tag in _DEBT) or not (speech.by_user or speech.grounded):
        return None
    boost, beside = _boost(speech, number, _DEBT)
    deferred, _ = _boost(speech, number, {"debt.defer": 0.1, "debt.defer.weak": 0.1})
    why, more = _boost(speech, number, {"reason": 0.1})
    if not deferred:
        return None
    score = 0.1 + boost + why + 0.05 * speech.by_user - DOUBT * line.has("task") - _doubt(line)
    return Finding("tech_debt", score, line.sentence.raw, _evidence(speech, number, beside + more))


def _runbooks(scene: Scene) -> Iterator[Finding]:
    """Something failed, somebody said why, and then it worked."""
    for speech in scene.speeches:
        if speech.by_user or not speech.grounded:
            continue
        for line in speech.lines:
            if line.has("solved") and not line.is_question and not line.has("hypothetical"):
                finding = _runbook(scene, speech, line)
                if finding:
                    yield finding


def _runbook(scene: Scene, speech: Speech, solved: Line) -> Finding | None:
    start = _failure_before(scene, speech)
    cause = _cause(scene, start, speech) if start >= 0 else None
    if cause is None:
        return None
    strength = 0.25 if cause.has("cause.strong") else 0.1
    score = 0.3 + strength + 0.2 * (solved.sentence.has_command or cause.sentence.has_command)
    evidence = tuple(dict.fromkeys((cause.sentence.raw, solved.sentence.raw)))
    return Finding("runbook", score, cause.sentence.raw, evidence)


def _failure_before(scene: Scene, speech: Speech) -> int:
    """Where the trouble began that a speech reports as over; -1 if there was none."""
    told = [
        one.at
        for one in scene.speeches
        if one.by_user and one.at < speech.at and any(line.has("failure") for line in one.lines)
    ]
    seen = [at for at, m in enumerate(scene.messages[: speech.at]) if m.kind == "tool_result" and is_failure(m)]
    return min([*told, *seen], default=-1)


def _cause(scene: Scene, start: int, solved: Speech) -> Line | None:
    """The best explanation given between the trouble and its end; none where it was a slip of the pen."""
    lines = [
        line
        for speech in scene.speeches
        if start <= speech.at <= solved.at and not speech.by_user
        for line in speech.lines
        if not line.is_question
    ]
    if any(line.has("trivial") for line in lines):
        return None
    strong = [line for line in lines if line.has("cause.strong") and not line.has("hypothetical")]
    weak = [line for line in lines if line.has("cause.weak") and not line.has("hypothetical")]
    return (strong or weak or [None])[0]  # type: ignore[list-item]


def _summaries(scene: Scene) -> Iterator[Finding]:
    """A session that did much, is being left, and is not finished."""
    if not Activity(scene.messages).is_substantial:
        return
    users = [speech for speech in scene.speeches if speech.by_user][-2:]
    answers = [speech for speech in scene.speeches if not speech.by_user][-2:]
    leaving = [line for speech in users[-2:] for line in speech.lines if line.has("wrap_up")]
    left = [line for speech in answers for line in speech.lines if line.has("leftover") and not line.is_question]
    score = 0.3 + 0.25 * bool(leaving) + 0.15 * min(len(left), 2)
    if not left:
        return
    evidence = tuple(line.sentence.raw for line in (*left[:3], *leaving[:1]))
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
