"""Signs: what is seen of a sentence, by which triage's model tells what is worth keeping from what is not.

Four kinds: the cues that the sentence carries, those beside it, its words, and the situation: who speaks, what was done
before, whether a choice is answered, whether something was broken, whether somebody is leaving.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recollect.capture.conversation import Line, Scene, Speech

_SPEECH_WIDE = frozenset(
    "hedge one_off task question accept process joke failure correction cause.strong cause.weak solved leftover"
    " wrap_up w.fix w.fault".split()
)
_CURES = ("cause.strong", "cause.weak", "solved", "w.fix")
_ENDS = ("leftover", "wrap_up")
_STATEMENT = 7
"""Words from which what a user says in the course of a session is more than an acknowledgement."""

_STEM = 6
_REPLY = 8


def of_speech(scene: Scene, speech: Speech) -> list[str]:
    """What all sentences of a speech share."""
    tags = {tag: None for line in speech.lines for tag in line.tags if tag in _SPEECH_WIDE}
    found = [f"speech {tag}" for tag in tags]
    found += _work(scene, speech, tags)
    found += _users(scene, speech) if speech.by_user else _assistants(scene, speech)
    if len(speech.lines) == 1:
        found.append("alone")
    return found


def of_line(scene: Scene, speech: Speech, number: int) -> list[str]:
    """What is seen of one sentence beyond that."""
    line = speech.lines[number]
    near = speech.near(number)
    found = [f"own {tag}" for tag in line.tags]
    found += {f"near {tag}": None for one in near for tag in one.tags}
    found += words(line)
    found += _together(line, near)
    found += _build(scene, speech, line)
    if speech.by_user:
        found += _choice(scene, speech, line)
    else:
        found += [f"A {tag}" for tag in line.tags]
    if scene.is_busy and line.has("leftover") and scene.is_left(speech):
        found.append("left and leaving")
    return found


def words(line: Line) -> list[str]:
    """A sentence's words, the pairs of them, and the beginnings of the long ones."""
    row = ["^", *(word if word.isalpha() or not _has_digit(word) else "#" for word in line.sentence.words), "$"]
    found = [f"u {word}" for word in row[1:-1]]
    found += [f"b {one} {two}" for one, two in zip(row, row[1:])]
    found += [f"p {word[:_STEM]}" for word in row if len(word) >= _STEM]
    return list(dict.fromkeys(found))


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)


def _work(scene: Scene, speech: Speech, tags: Iterable[str]) -> Iterator[str]:
    """What was done and what went wrong before a speech, and whether the session is being left."""
    who = "U" if speech.by_user else "A"
    told, seen = scene.has_trouble(speech)
    ran = scene.ran_at < speech.at
    if told:
        yield f"{who} trouble told"
    if seen:
        yield f"{who} trouble seen"
    if told or seen:
        yield from (f"trouble {tag}" for tag in tags if tag in _CURES)
        if ran:
            yield f"{who} trouble ran"
        if scene.is_explained_before(speech):
            yield f"{who} trouble explained"
        if scene.is_cured_after(speech):
            yield f"{who} trouble cured after"
    if ran:
        yield f"{who} ran"
    if scene.edited_at < speech.at:
        yield f"{who} edited"
    if scene.is_busy:
        yield f"{who} busy"
        yield from (f"busy {tag}" for tag in tags if tag in _ENDS)
    if scene.is_left(speech):
        yield f"{who} leaving"
        if scene.is_busy:
            yield f"{who} leaving busy"
    if scene.after(speech) is None and not speech.by_user:
        yield "A last"


def _users(scene: Scene, speech: Speech) -> Iterator[str]:
    facts = {
        "user": True,
        "corrects": speech.corrects,
        "corrects what was done": speech.corrects and speech.acted_before,
        "answers a choice": scene.answers_choice(speech),
        "answers a question": scene.answers_question(speech),
        "weighed before": scene.asked_or(speech),
        "after an act": speech.acted_before,
        "first prompt": scene.is_first(speech),
        "bare answer": speech.is_bare_answer,
        "U asks": speech.asks,
    }
    yield from (name for name, is_so in facts.items() if is_so)
    yield f"U sentences {min(len(speech.lines), 4)}"


def _assistants(scene: Scene, speech: Speech) -> Iterator[str]:
    reply = scene.after(speech)
    is_accepted = scene.is_accepted(speech)
    is_open = speech.offers_choice or speech.asks
    facts = {
        "assistant": True,
        "accepted": is_accepted,
        "A offers choice": speech.offers_choice,
        "A asks": speech.asks,
        "A open": is_open and not is_accepted,
        "A acted": speech.acted_before,
        "A not grounded": not speech.grounded,
        "A answered otherwise": reply is not None and reply.by_user and not is_accepted,
    }
    yield from (name for name, is_so in facts.items() if is_so)
    if reply is not None and reply.by_user:
        first = reply.lines[0]
        begin = [sign for sign in words(first) if sign.startswith(("u ", "b ^"))]
        yield from (f"r {sign}" for sign in begin[:_REPLY])
        yield from (f"r {tag}" for tag in first.tags)
        if not reply.asks:
            yield "reply not asking"


def _build(scene: Scene, speech: Speech, line: Line) -> Iterator[str]:
    """How a sentence is made."""
    size = len(line.sentence.words)
    facts = {
        "later statement": speech.by_user and not scene.is_first(speech) and size >= _STATEMENT and not speech.asks,
        "code": line.sentence.has_code,
        "command": line.sentence.has_command,
        "number": line.has_number,
        # German writes every noun with a capital.
        "name": line.has_name and scene.language != "de",
        "short": size < 5,
        "middling": 8 <= size <= 30,
        "long": size > 20,
    }
    return (name for name, is_so in facts.items() if is_so)


def _choice(scene: Scene, speech: Speech, line: Line) -> Iterator[str]:
    """How much of a user's sentence takes up what the assistant said before: who picks an option names it."""
    before = scene.before(speech)
    if before is None or before.by_user:
        return
    own = _content(line)
    said = {stem for one in before.lines for stem in _content(one)}
    shared = len(own & said)
    kinds = ("echo", "chosen") if before.offers_choice or before.lines[-1].is_question else ("echo",)
    for kind in kinds:
        yield f"{kind} {min(shared, 3)}"
        if own:
            yield f"{kind} share {min(4 * shared // len(own), 3)}"


def _content(line: Line) -> set[str]:
    return {word[:_STEM] for word in line.sentence.words if len(word) > 3}


_BOOSTED = {
    "decision": (("decision.strong", "decision.weak", "w.plan", "select"), ("reason", "contrast", "decision.news")),
    "constraint": (("limit", "limit.weak"), ("external", "discovery", "w.system", "w.people")),
    "preference": (
        ("preference.strong", "habit", "directive", "placement", "w.like"),
        ("scope", "universal", "topic", "contrast", "w.general"),
    ),
    "tech_debt": (("debt.defer", "debt.defer.weak"), ("debt.flaw", "debt.return", "w.hold", "w.back")),
}


def _together(line: Line, near: list[Line]) -> Iterator[str]:
    """Cues with their boosters in the same sentence or beside it: more than the two of them apart."""
    around = (line, *near)
    for category, (cues, boosters) in _BOOSTED.items():
        boosts = sum(line.has(booster) for booster in boosters) if line.has(*cues) else 0
        if boosts:
            yield f"{category} boosted"
        if boosts > 1:
            yield f"{category} boosted twice"
        if any(one.has(*cues) for one in around) and any(one.has(*boosters) for one in around):
            yield f"{category} boosted nearby"
