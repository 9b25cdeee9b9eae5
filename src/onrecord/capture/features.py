"""The features of a sentence by which triage's model decides whether it is worth saving.

Four kinds: cues in the sentence, cues in the sentences beside it, its words, and the situation: the speaker, the work
before it, an answered choice, a failure, the end of the session. The names are those in `cues/weights.tsv`.
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
_MIN_STATEMENT_WORDS = 7
"""A shorter sentence of the user is only an acknowledgement."""

_STEM_CHARS = 6
_MAX_REPLY_FEATURES = 8


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
    """Return the further features of one sentence."""
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
        "answers a choice": before is not None and before.offers_choice,
        "answers a question": before is not None and before.lines[-1].sentence.is_question,
        "weighed before": bool(earlier) and any(map(_asks_which, earlier[-1].lines)),
        "after an act": speech.acted_before,
        "first prompt": conversation.is_first(speech),
        # A word or two that name something, and then more: "Postgres. One thing less to run."
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
    """Yield the overlap of a user's sentence with the assistant's speech before it: a chosen option is named."""
    before = conversation.assistant_before(speech)
    if before is None:
        return
    own = _content(speech_line)
    shared = len(own & {stem for other in before.lines for stem in _content(other)})
    kinds = ("echo", "chosen") if before.offers_choice or before.lines[-1].is_question else ("echo",)
    for kind in kinds:
        yield f"{kind} {min(shared, 3)}"
        if own:
            yield f"{kind} share {min(4 * shared // len(own), 3)}"


def _content(speech_line: SpeechLine) -> set[str]:
    return {word[:_STEM_CHARS] for word in speech_line.sentence.words if len(word) > 3}


_BOOSTED = {
    "decision": (("decision.strong", "decision.weak", "w.plan", "select"), ("reason", "contrast", "decision.news")),
    "constraint": (("limit", "limit.weak"), ("external", "discovery", "w.system", "w.people")),
    "preference": (
        ("preference.strong", "habit", "directive", "placement", "w.like"),
        ("scope", "universal", "topic", "contrast", "w.general"),
    ),
    "tech_debt": (("debt.defer", "debt.defer.weak"), ("debt.flaw", "debt.return", "w.hold", "w.back")),
}


def _boosted_features(speech_line: SpeechLine, neighbours: list[SpeechLine]) -> Iterator[str]:
    """Yield features for cues with a booster in the same sentence or beside it."""
    lines = (speech_line, *neighbours)
    for category, (cues, boosters) in _BOOSTED.items():
        boosts = sum(speech_line.has(booster) for booster in boosters) if speech_line.has(*cues) else 0
        if boosts:
            yield f"{category} boosted"
        if boosts > 1:
            yield f"{category} boosted twice"
        if any(part.has(*cues) for part in lines) and any(part.has(*boosters) for part in lines):
            yield f"{category} boosted nearby"
