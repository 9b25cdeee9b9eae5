"""Scene: the last messages of a session as speeches, with what was done around each.

The Stop hook sets it after every turn: no regular expressions here.
"""

from __future__ import annotations

from itertools import accumulate

from recollect.capture import corrections, tool_activity
from recollect.capture.sentences import split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.capture.cues import Lexicons
    from recollect.capture.sentences import Sentence
    from recollect.session.transcript import Ending, Message

_NO_ANSWER = ("accept", "correction", "w.thanks", "joke", "hedge", "question", "one_off", "w.see")
_PASTED = 40
"""Sentences above which a prompt is a pasted document rather than speech."""

_MOST_READ = 3_000
"""Characters that are read of what either side said."""

_NEVER = 1_000_000


def _read(messages: list[Message]) -> list[tuple[int, str, list[Sentence]]]:
    """What was said, as far back as there is room: what came before was read when its own turn ended."""
    room = {"user": _MOST_READ, "assistant": _MOST_READ}
    found = []
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.kind != "text" or room.get(message.role, 0) <= 0:
            continue
        sentences = split_sentences(message.text)
        if message.role == "user" and len(sentences) > _PASTED:
            continue
        ends = list(accumulate([len(sentence.raw) for sentence in sentences]))
        read = [one for one, end in zip(sentences, [0, *ends]) if end < room[message.role]]
        if read:
            room[message.role] -= ends[len(read) - 1]
            found.append((at, message.role, read))
    return found[::-1]


class Line:
    """One sentence of a speech, and the tags its words carry."""

    __slots__ = ("is_question", "sentence", "tags")

    def __init__(self, sentence: Sentence, tags: dict[str, int]) -> None:
        self.sentence = sentence
        self.tags = tags
        self.is_question = sentence.is_question or "question" in tags

    def has(self, *tags: str) -> bool:
        # Not `any`: this is asked thousands of times, and a generator costs more than the search.
        return not self.tags.keys().isdisjoint(tags)

    @property
    def weighs(self) -> bool:
        """Whether it asks for one thing or another."""
        return self.is_question and any(word in ("or", "oder", "o") for word in self.sentence.words)

    @property
    def has_number(self) -> bool:
        return any(word[:1].isdigit() for word in self.sentence.words)

    @property
    def has_name(self) -> bool:
        """Whether something in it is written like a name: with a capital, and not because a sentence begins."""
        return any(word[:1].isupper() and word[:2] not in ("I", "I'") for word in self.sentence.raw.split()[1:])


class Speech:
    """One text message: who spoke, what was said, and what the tools did around it."""

    __slots__ = ("acted_before", "at", "corrects", "grounded", "lines", "place", "role")

    def __init__(self, role: str, lines: list[Line], at: int) -> None:
        self.role = role
        self.lines = lines
        self.at = at
        self.corrects = role == "user" and any(corrections.corrects(line.sentence.raw) for line in lines)
        self.place = 0
        self.grounded = False
        self.acted_before = False

    @property
    def by_user(self) -> bool:
        return self.role == "user"

    def near(self, number: int) -> list[Line]:
        """The lines beside one, without those that ask."""
        around = [self.lines[i] for i in (number - 1, number + 1) if 0 <= i < len(self.lines)]
        return [line for line in around if not line.is_question]

    def has(self, tag: str) -> bool:
        return any(line.has(tag) for line in self.lines)

    def opens_with(self, tag: str) -> bool:
        return any(line.has(tag) for line in self.lines[:2])

    @property
    def asks(self) -> bool:
        return any(line.is_question for line in self.lines)

    @property
    def is_bare_answer(self) -> bool:
        """Whether it begins with a word or two that name something, and goes on: "Postgres. One thing less to run."."""
        first = self.lines[0]
        return len(self.lines) > 1 and len(first.sentence.words) < 4 and not first.has(*_NO_ANSWER)

    @property
    def offers_choice(self) -> bool:
        items = sum(line.sentence.is_item for line in self.lines)
        return items >= 2 or any(line.has("options") for line in self.lines)


class Scene:
    """The speeches of a session's last messages, in order."""

    __slots__ = ("edited_at", "failed_at", "files", "is_busy", "is_whole", "language", "messages", "ran_at", "speeches")

    def __init__(self, end: Ending, lexicons: Lexicons) -> None:
        self.messages = end.messages
        self.is_whole = end.is_whole
        said = _read(end.messages)
        # The user's words decide: assistants answer in the user's language, but with much English in between.
        own = [word for _, role, lines in said if role == "user" for line in lines for word in line.words]
        self.language = lexicons.language(own)
        lexicon = lexicons.of(self.language, {word for _, _, lines in said for line in lines for word in line.words})
        self.speeches = [
            Speech(role, [Line(sentence, lexicon.tags(sentence.words)) for sentence in sentences], at)
            for at, role, sentences in said
        ]
        self._set_doings()
        self.speeches = [speech for speech in self.speeches if not self._is_about_memory(speech)]
        for place, speech in enumerate(self.speeches):
            speech.place = place

    def _set_doings(self) -> None:
        messages = self.messages
        users = [at for at, m in enumerate(messages) if m.role == "user" and m.kind == "text"]
        tools = [at for at, m in enumerate(messages) if m.kind == "tool_use"]
        runs = [at for at in tools if messages[at].name in tool_activity.SHELLS]
        edits = [at for at in tools if messages[at].name in tool_activity.EDITORS]
        failures = (at for at, m in enumerate(messages) if m.kind == "tool_result" and tool_activity.is_failure(m))
        done = tool_activity.Activity(messages)
        self.is_busy = done.is_substantial
        self.files = len(done.files)
        self.failed_at = next(failures, _NEVER)
        self.ran_at = min(runs, default=_NEVER)
        self.edited_at = min(edits, default=_NEVER)
        for speech in self.speeches:
            before = max((at for at in users if at < speech.at), default=-1)
            opens_part = not self.is_whole and before < 0
            speech.grounded = opens_part or (bool(tools) and tools[0] < speech.at)
            speech.acted_before = opens_part or any(before < at < speech.at for at in (*runs, *edits))

    def _is_about_memory(self, speech: Speech) -> bool:
        """Whether an assistant speaks after having saved something: that is told already."""
        if speech.by_user:
            return False
        for message in reversed(self.messages[: speech.at]):
            if message.role == "user" and message.kind == "text":
                return False
            if message.kind == "tool_use" and tool_activity.is_ours(message):
                return True
        return False

    def before(self, speech: Speech) -> Speech | None:
        return self.speeches[speech.place - 1] if speech.place else None

    def after(self, speech: Speech) -> Speech | None:
        place = speech.place + 1
        return self.speeches[place] if place < len(self.speeches) else None

    def answers_choice(self, speech: Speech) -> bool:
        """Whether the user answers an assistant that has just laid out a choice."""
        before = self.before(speech)
        return before is not None and not before.by_user and before.offers_choice

    def is_first(self, speech: Speech) -> bool:
        """Whether the user has said nothing before in this session."""
        return self.is_whole and not any(one.by_user for one in self.speeches[: speech.place])

    def answers_question(self, speech: Speech) -> bool:
        """Whether the assistant's last sentence before a speech was a question."""
        before = self.before(speech)
        return before is not None and not before.by_user and before.lines[-1].sentence.is_question

    def asked_or(self, speech: Speech) -> bool:
        """Whether the user's words before these weighed one thing against another."""
        earlier = [one for one in self.speeches[: speech.place] if one.by_user]
        return bool(earlier) and any(line.weighs for line in earlier[-1].lines)

    def is_accepted(self, speech: Speech) -> bool:
        """Whether the user's very next words agree to what an assistant said."""
        reply = self.after(speech)
        return not speech.by_user and reply is not None and reply.by_user and reply.opens_with("accept")

    def has_trouble(self, speech: Speech) -> tuple[bool, bool]:
        """Whether the user told of trouble before a speech, and whether a tool's result showed it."""
        told = any(
            one.by_user and any(line.has("failure", "w.fault") for line in one.lines)
            for one in self.speeches[: speech.place]
        )
        return told, self.failed_at < speech.at

    def is_explained_before(self, speech: Speech) -> bool:
        """Whether somebody named a cause before a speech."""
        return any(one.has("cause.strong") for one in self.speeches[: speech.place])

    def is_cured_after(self, speech: Speech) -> bool:
        """Whether somebody said after a speech that it works."""
        return any(one.has("solved") or one.has("w.fix") for one in self.speeches[speech.place + 1 :])

    def is_left(self, speech: Speech) -> bool:
        """Whether the user takes leave in a speech or beside it."""
        around = self.speeches[max(speech.place - 1, 0) : speech.place + 2]
        return any(one.by_user and one.has("wrap_up") for one in around)

    def beside(self, speech: Speech) -> tuple[str, ...]:
        """What is said in a speech and in those before and after it."""
        around = self.speeches[max(speech.place - 1, 0) : speech.place + 2]
        return tuple(line.sentence.raw for one in around for line in one.lines)
