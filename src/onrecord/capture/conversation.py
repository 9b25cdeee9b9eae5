"""The last messages of a session as sentences with their cues, and the tool calls around each message.

The Stop hook runs this after every turn: no regular expressions here.
"""

from __future__ import annotations

from itertools import accumulate

from onrecord.capture import sentences
from onrecord.capture.sentences import Cues
from onrecord.coldstart import NamedTuple
from onrecord.session import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.capture.sentences import Sentence
    from onrecord.session.transcript import Ending, Message

EDITORS = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
SHELLS = ("Bash", "PowerShell")
OWN_COMMAND = "onrecord "
"""Start of our own commands: what an agent says after running one is about the memory, not the project."""

_FAILURE_MARKS = ("Exit code ", "error", "Error", "ERROR", "FAILED", "FAILURE", "fatal:", "Traceback", "panic", "PANIC")
_MAX_PROMPT_SENTENCES = 40
"""A prompt with more sentences is a pasted document rather than speech."""

_MAX_CHARS_READ = 3_000
"""Newest characters that are read of each side. The rest was read at the end of its own turn."""

_NO_POSITION = 1_000_000


class SpeechLine(NamedTuple):
    """One sentence of a speech, and the tags of its cues."""

    sentence: Sentence
    tags: dict[str, int]
    is_question: bool

    def has(self, *tags: str) -> bool:
        # Not `any`: this runs thousands of times, and a generator costs more than the lookup.
        return not self.tags.keys().isdisjoint(tags)


class Speech(NamedTuple):
    """One text message: its speaker, its sentences, and the tool calls before it."""

    by_user: bool
    lines: list[SpeechLine]
    message_number: int
    """Position among all messages."""

    number: int
    """Position among the speeches."""

    corrects: bool
    is_grounded: bool
    """True if a tool was used before it in the session."""

    acted_before: bool
    """True if a file was edited or a command run since the user's last message."""

    def neighbours(self, number: int) -> list[SpeechLine]:
        """Return the lines before and after a line, without questions."""
        lines = [self.lines[i] for i in (number - 1, number + 1) if 0 <= i < len(self.lines)]
        return [line for line in lines if not line.is_question]

    def has(self, *tags: str) -> bool:
        return any(line.has(*tags) for line in self.lines)

    @property
    def asks(self) -> bool:
        return any(line.is_question for line in self.lines)

    @property
    def offers_choice(self) -> bool:
        return sum(line.sentence.is_item for line in self.lines) >= 2 or self.has("options")


class Activity:
    """Changed files and failed commands in the order they first appeared, and the number of tool calls."""

    __slots__ = ("calls", "failed", "files")

    def __init__(self, messages: Sequence[Message]) -> None:
        self.calls = 0
        self.failed: dict[str, None] = {}
        self.files: dict[str, None] = {}
        command = ""
        for message in messages:
            if message.kind == "tool_use":
                self.calls += 1
                path = message.input.get(EDITORS[message.name]) if message.name in EDITORS else None
                if isinstance(path, str) and path:
                    self.files[path] = None
                command = _command(message)
            elif message.kind == "tool_result":
                if command and _is_failure(message):
                    self.failed[command] = None
                else:
                    self.failed.pop(command, None)
                command = ""

    @property
    def is_substantial(self) -> bool:
        """True if enough happened for a session summary."""
        return len(self.files) >= 3 or (bool(self.files) and self.calls >= 8)


def _command(message: Message) -> str:
    command = message.input.get("command")
    return command.strip() if message.name in SHELLS and isinstance(command, str) else ""


def _is_failure(message: Message) -> bool:
    """True if a tool result reports a failure."""
    return message.name == "error" or any(mark in message.text[:4_000] for mark in _FAILURE_MARKS)


class Conversation:
    """The speeches of a session's last messages, in order."""

    __slots__ = ("activity", "edited_at", "failed_at", "is_whole", "language", "ran_at", "speeches")

    def __init__(self, end: Ending) -> None:
        self.is_whole = end.is_whole
        self.activity = Activity(end.messages)
        calls = [(number, message.name) for number, message in enumerate(end.messages) if message.kind == "tool_use"]
        results = ((number, message) for number, message in enumerate(end.messages) if message.kind == "tool_result")
        self.ran_at = next((number for number, name in calls if name in SHELLS), _NO_POSITION)
        self.edited_at = next((number for number, name in calls if name in EDITORS), _NO_POSITION)
        self.failed_at = next((number for number, message in results if _is_failure(message)), _NO_POSITION)
        texts = _recent_texts(end.messages)
        # Only the user's words: assistants answer in the user's language, but mixed with English.
        by_user = (lines for number, lines in texts.items() if end.messages[number].role == "user")
        self.language = sentences.language_of([word for lines in by_user for line in lines for word in line.words])
        vocabulary = {word for lines in texts.values() for line in lines for word in line.words}
        self.speeches: list[Speech] = []
        self._add_speeches(end.messages, texts, Cues(sentences.load(self.language), vocabulary))

    def _add_speeches(self, messages: Sequence[Message], texts: dict[int, list[Sentence]], cues: Cues) -> None:
        """Add all speeches in one pass, each with the tool calls before it."""
        is_cut_off = not self.is_whole
        has_used = has_acted = has_saved = False
        for number, message in enumerate(messages):
            by_user = message.role == "user"
            if message.kind == "tool_use":
                has_used = True
                has_acted = has_acted or message.name in SHELLS or message.name in EDITORS
                has_saved = has_saved or OWN_COMMAND in _command(message)
            # What an assistant says after it saved a record is about that record.
            if number in texts and (by_user or not has_saved):
                lines = [_speech_line(sentence, cues) for sentence in texts[number]]
                corrects = by_user and any(ledger.corrects(sentence.raw) for sentence in texts[number])
                tools = (has_used or is_cut_off, has_acted or is_cut_off)
                self.speeches.append(Speech(by_user, lines, number, len(self.speeches), corrects, *tools))
            if message.kind == "text" and by_user:
                is_cut_off = has_acted = has_saved = False

    def assistant_before(self, speech: Speech) -> Speech | None:
        """Return the speech right before `speech` if it is the assistant's."""
        before = self.speeches[speech.number - 1] if speech.number else None
        return before if before and not before.by_user else None

    def reply(self, speech: Speech) -> Speech | None:
        """Return the speech right after `speech` if it is the user's."""
        after = self.speeches[speech.number + 1] if speech.number + 1 < len(self.speeches) else None
        return after if after and after.by_user else None

    def around(self, speech: Speech) -> list[Speech]:
        """Return `speech` with the ones right before and after it."""
        return self.speeches[max(speech.number - 1, 0) : speech.number + 2]

    def by_user_before(self, speech: Speech) -> list[Speech]:
        return [earlier for earlier in self.speeches[: speech.number] if earlier.by_user]

    def is_first(self, speech: Speech) -> bool:
        """True if the user said nothing earlier in this session."""
        return self.is_whole and not self.by_user_before(speech)

    def is_accepted(self, speech: Speech) -> bool:
        """True if the user agrees to an assistant's `speech` in the reply's first two sentences."""
        reply = self.reply(speech)
        return not speech.by_user and reply is not None and any(line.has("accept") for line in reply.lines[:2])

    def is_farewell(self, speech: Speech) -> bool:
        """True if the user ends the session in `speech` or right before or after it."""
        return any(other.by_user and other.has("wrap_up") for other in self.around(speech))


def _speech_line(sentence: Sentence, cues: Cues) -> SpeechLine:
    tags = cues.tags(sentence.words)
    return SpeechLine(sentence, tags, sentence.is_question or "question" in tags)


def _recent_texts(messages: Sequence[Message]) -> dict[int, list[Sentence]]:
    """Return the sentences of the newest texts, within the limits, by message number."""
    room = {"user": _MAX_CHARS_READ, "assistant": _MAX_CHARS_READ}
    texts = {}
    for number in range(len(messages) - 1, -1, -1):
        message = messages[number]
        if message.kind != "text" or room.get(message.role, 0) <= 0:
            continue
        parts = sentences.split(message.text)
        if message.role == "user" and len(parts) > _MAX_PROMPT_SENTENCES:
            continue
        ends = list(accumulate(len(sentence.raw) for sentence in parts))
        recent = [sentence for sentence, end in zip(parts, [0, *ends]) if end < room[message.role]]
        if recent:
            room[message.role] -= ends[len(recent) - 1]
            texts[number] = recent
    return texts
