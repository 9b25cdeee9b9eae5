"""The features of a sentence by which triage's model decides whether it is worth saving.

Four kinds: the cues that the sentence carries, those beside it, its words, and the situation: who speaks, what was done
before, whether a choice is answered, whether something was broken, whether somebody is leaving. Their names are those
in `cues/weights.tsv`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onrecord.capture.conversation import Conversation, Speech, SpeechLine

_SPEECH_WIDE = frozenset(
    "hedge one_off task question accept process joke failure correction cause.strong cause.weak solved leftover"
    " wrap_up w.fix w.fault".split()
)
_CURES = ("cause.strong", "cause.weak", "solved", "w.fix")
_ENDS = ("leftover", "wrap_up")
_NO_ANSWER = ("accept", "correction", "w.thanks", "joke", "hedge", "question", "one_off", "w.see")
_STATEMENT = 7
"""Words from which what a user says in the course of a session is more than an acknowledgement."""

_STEM = 6
_REPLY = 8


def of_speech(talk: Conversation, speech: Speech) -> list[str]:
    """The features that all sentences of a speech share."""
    tags = {tag: None for line in speech.lines for tag in line.tags if tag in _SPEECH_WIDE}
    features = [f"speech {tag}" for tag in tags]
    features += _work(talk, speech, tags)
    features += _users(talk, speech) if speech.by_user else _assistants(talk, speech)
    if len(speech.lines) == 1:
        features.append("alone")
    return features


def of_line(talk: Conversation, speech: Speech, number: int) -> list[str]:
    """The features of one sentence beyond those."""
    line = speech.lines[number]
    near = speech.near(number)
    features = [f"own {tag}" for tag in line.tags]
    features += {f"near {tag}": None for beside in near for tag in beside.tags}
    features += _words(line)
    features += _together(line, near)
    features += _build(talk, speech, line)
    if talk.is_first(speech):
        # A first prompt mostly asks for work: what tells a rule in it is not what tells one later.
        features += [f"first {tag}" for tag in line.tags]
    if speech.by_user:
        features += _choice(talk, speech, line)
    else:
        features += [f"A {tag}" for tag in line.tags]
    if talk.activity.is_substantial and line.has("leftover") and talk.is_left(speech):
        features.append("left and leaving")
    return features


def _words(line: SpeechLine) -> list[str]:
    """A sentence's words, the pairs of them, and the beginnings of the long ones."""
    row = ["^", *("#" if any(map(str.isdigit, word)) else word for word in line.sentence.words), "$"]
    features = [f"u {word}" for word in row[1:-1]]
    features += [f"b {first} {second}" for first, second in zip(row, row[1:])]
    features += [f"p {word[:_STEM]}" for word in row if len(word) >= _STEM]
    return list(dict.fromkeys(features))


def _true(facts: dict[str, bool]) -> list[str]:
    return [name for name, is_so in facts.items() if is_so]


def _work(talk: Conversation, speech: Speech, tags: Iterable[str]) -> list[str]:
    """What was done and what went wrong before a speech, and whether the session is being left."""
    who = "U" if speech.by_user else "A"
    before, after = talk.speeches[: speech.place], talk.speeches[speech.place + 1 :]
    is_told = any(earlier.by_user and earlier.has("failure", "w.fault") for earlier in before)
    is_seen = talk.failed_at < speech.at
    in_trouble = is_told or is_seen
    is_busy, is_left = talk.activity.is_substantial, talk.is_left(speech)
    facts = {
        "trouble told": is_told,
        "trouble seen": is_seen,
        "trouble ran": in_trouble and talk.ran_at < speech.at,
        "trouble explained": in_trouble and any(earlier.has("cause.strong") for earlier in before),
        "trouble cured after": in_trouble and any(later.has("solved", "w.fix") for later in after),
        "ran": talk.ran_at < speech.at,
        "edited": talk.edited_at < speech.at,
        "busy": is_busy,
        "leaving": is_left,
        "leaving busy": is_left and is_busy,
        "last": not after and not speech.by_user,
    }
    features = [f"{who} {name}" for name in _true(facts)]
    features += [f"trouble {tag}" for tag in tags if in_trouble and tag in _CURES]
    return features + [f"busy {tag}" for tag in tags if is_busy and tag in _ENDS]


def _users(talk: Conversation, speech: Speech) -> list[str]:
    asked = talk.asked(speech)
    earlier, first = talk.by_user_before(speech), speech.lines[0]
    facts = {
        "user": True,
        "corrects": speech.corrects,
        "corrects what was done": speech.corrects and speech.acted_before,
        "answers a choice": asked is not None and asked.offers_choice,
        "answers a question": asked is not None and asked.lines[-1].sentence.is_question,
        "weighed before": bool(earlier) and any(map(_asks_which, earlier[-1].lines)),
        "after an act": speech.acted_before,
        "first prompt": talk.is_first(speech),
        # A word or two that name something, and then more: "Postgres. One thing less to run."
        "bare answer": len(speech.lines) > 1 and len(first.sentence.words) < 4 and not first.has(*_NO_ANSWER),
        "U asks": speech.asks,
        f"U sentences {min(len(speech.lines), 4)}": True,
    }
    return _true(facts)


def _asks_which(line: SpeechLine) -> bool:
    return line.is_question and not {"or", "oder", "o"}.isdisjoint(line.sentence.words)


def _assistants(talk: Conversation, speech: Speech) -> list[str]:
    reply = talk.reply(speech)
    is_accepted = talk.is_accepted(speech)
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
    start = [feature for feature in _words(first) if feature.startswith(("u ", "b ^"))]
    return [*_true(facts), *(f"r {feature}" for feature in start[:_REPLY]), *(f"r {tag}" for tag in first.tags)]


def _build(talk: Conversation, speech: Speech, line: SpeechLine) -> list[str]:
    """How a sentence is made."""
    size, rest = len(line.sentence.words), line.sentence.raw.split()[1:]
    facts = {
        "later statement": speech.by_user and not talk.is_first(speech) and size >= _STATEMENT and not speech.asks,
        "code": line.sentence.has_code,
        "command": line.sentence.has_command,
        "number": any(word[:1].isdigit() for word in line.sentence.words),
        # German writes every noun with a capital.
        "name": talk.language != "de" and any(word[:1].isupper() and word[:2] not in ("I", "I'") for word in rest),
        "short": size < 5,
        "middling": 8 <= size <= 30,
        "long": size > 20,
    }
    return _true(facts)


def _choice(talk: Conversation, speech: Speech, line: SpeechLine) -> Iterator[str]:
    """How much of a user's sentence takes up what the assistant said before: who picks an option names it."""
    asked = talk.asked(speech)
    if asked is None:
        return
    own = _content(line)
    shared = len(own & {stem for other in asked.lines for stem in _content(other)})
    kinds = ("echo", "chosen") if asked.offers_choice or asked.lines[-1].is_question else ("echo",)
    for kind in kinds:
        yield f"{kind} {min(shared, 3)}"
        if own:
            yield f"{kind} share {min(4 * shared // len(own), 3)}"


def _content(line: SpeechLine) -> set[str]:
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


def _together(line: SpeechLine, near: list[SpeechLine]) -> Iterator[str]:
    """Cues with their boosters in the same sentence or beside it: more than the two of them apart."""
    around = (line, *near)
    for category, (cues, boosters) in _BOOSTED.items():
        boosts = sum(line.has(booster) for booster in boosters) if line.has(*cues) else 0
        if boosts:
            yield f"{category} boosted"
        if boosts > 1:
            yield f"{category} boosted twice"
        if any(part.has(*cues) for part in around) and any(part.has(*boosters) for part in around):
            yield f"{category} boosted nearby"
