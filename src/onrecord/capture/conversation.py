"""The last messages of a session as sentences with their cues, and what the tools did around each message.

The Stop hook reads it after every turn: no regular expressions here.
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
OURS = "onrecord "
"""How our own commands begin: what an agent says after running one is about the memory, not the project."""

_FAILED = ("Exit code ", "error", "Error", "ERROR", "FAILED", "FAILURE", "fatal:", "Traceback", "panic", "PANIC")
_PASTED = 40
"""Sentences above which a prompt is a pasted document rather than speech."""

_MOST_READ = 3_000
"""Characters that are read of what either side said: the newest. The rest was read when its own turn ended."""

_NEVER = 1_000_000


class SpeechLine(NamedTuple):
    """One sentence of a speech, and the tags its words carry."""

    sentence: Sentence
    tags: dict[str, int]
    is_question: bool

    def has(self, *tags: str) -> bool:
        # Not `any`: this is asked thousands of times, and a generator costs more than the search.
        return not self.tags.keys().isdisjoint(tags)


class Speech(NamedTuple):
    """One text message: who spoke, what was said, and what the tools did around it."""

    by_user: bool
    lines: list[SpeechLine]
    at: int
    """Its place among all messages; the next field is that among the speeches."""

    place: int
    corrects: bool
    is_grounded: bool
    """A tool was used before it in the session."""

    acted_before: bool
    """A file was edited or a command run since the user's last message."""

    def near(self, number: int) -> list[SpeechLine]:
        """The lines beside one, without those that ask."""
        around = [self.lines[i] for i in (number - 1, number + 1) if 0 <= i < len(self.lines)]
        return [line for line in around if not line.is_question]

    def has(self, *tags: str) -> bool:
        return any(line.has(*tags) for line in self.lines)

    @property
    def asks(self) -> bool:
        return any(line.is_question for line in self.lines)

    @property
    def offers_choice(self) -> bool:
        return sum(line.sentence.is_item for line in self.lines) >= 2 or self.has("options")


class Activity:
    """Files changed, commands run and those of them that failed, in the order they first appeared."""

    __slots__ = ("calls", "failed", "files")

    def __init__(self, messages: Sequence[Message]) -> None:
        self.calls = 0
        self.failed: dict[str, None] = {}
        self.files: dict[str, None] = {}
        running = ""
        for message in messages:
            if message.kind == "tool_use":
                self.calls += 1
                path = message.input.get(EDITORS[message.name]) if message.name in EDITORS else None
                if isinstance(path, str) and path:
                    self.files[path] = None
                running = _command(message)
            elif message.kind == "tool_result":
                if running and _is_failure(message):
                    self.failed[running] = None
                else:
                    self.failed.pop(running, None)
                running = ""

    @property
    def is_substantial(self) -> bool:
        """Whether enough happened for somebody to want to know where the work stands."""
        return len(self.files) >= 3 or (bool(self.files) and self.calls >= 8)


def _command(message: Message) -> str:
    command = message.input.get("command")
    return command.strip() if message.name in SHELLS and isinstance(command, str) else ""


def _is_failure(message: Message) -> bool:
    """Whether a tool's result says that something went wrong."""
    return message.name == "error" or any(mark in message.text[:4_000] for mark in _FAILED)


class Conversation:
    """The speeches of a session's last messages, in order."""

    __slots__ = ("activity", "edited_at", "failed_at", "is_whole", "language", "ran_at", "speeches")

    def __init__(self, end: Ending) -> None:
        self.is_whole = end.is_whole
        self.activity = Activity(end.messages)
        calls = [(at, message.name) for at, message in enumerate(end.messages) if message.kind == "tool_use"]
        results = ((at, message) for at, message in enumerate(end.messages) if message.kind == "tool_result")
        self.ran_at = next((at for at, name in calls if name in SHELLS), _NEVER)
        self.edited_at = next((at for at, name in calls if name in EDITORS), _NEVER)
        self.failed_at = next((at for at, message in results if _is_failure(message)), _NEVER)
        texts = _read(end.messages)
        # The user's words decide: assistants answer in the user's language, but with much English in between.
        own = [word for at in texts if end.messages[at].role == "user" for line in texts[at] for word in line.words]
        self.language = sentences.language_of(own)
        vocabulary = {word for lines in texts.values() for line in lines for word in line.words}
        self.speeches: list[Speech] = []
        self._add_speeches(end.messages, texts, Cues(sentences.load(self.language), vocabulary))

    def _add_speeches(self, messages: Sequence[Message], texts: dict[int, list[Sentence]], cues: Cues) -> None:
        """All in one pass, as what was done before a speech belongs to it."""
        opens_part = not self.is_whole
        has_used = has_acted = has_saved = False
        for at, message in enumerate(messages):
            by_user = message.role == "user"
            if message.kind == "tool_use":
                has_used = True
                has_acted = has_acted or message.name in SHELLS or message.name in EDITORS
                has_saved = has_saved or OURS in _command(message)
            # What an assistant says after it has saved a record is about that record.
            if at in texts and (by_user or not has_saved):
                lines = [_line(sentence, cues) for sentence in texts[at]]
                corrects = by_user and any(ledger.corrects(sentence.raw) for sentence in texts[at])
                tools = (has_used or opens_part, has_acted or opens_part)
                self.speeches.append(Speech(by_user, lines, at, len(self.speeches), corrects, *tools))
            if message.kind == "text" and by_user:
                opens_part = has_acted = has_saved = False

    def asked(self, speech: Speech) -> Speech | None:
        """The assistant's speech right before a speech."""
        before = self.speeches[speech.place - 1] if speech.place else None
        return before if before and not before.by_user else None

    def reply(self, speech: Speech) -> Speech | None:
        """The user's speech right after a speech."""
        after = self.speeches[speech.place + 1] if speech.place + 1 < len(self.speeches) else None
        return after if after and after.by_user else None

    def around(self, speech: Speech) -> list[Speech]:
        """A speech with those before and after it."""
        return self.speeches[max(speech.place - 1, 0) : speech.place + 2]

    def by_user_before(self, speech: Speech) -> list[Speech]:
        return [earlier for earlier in self.speeches[: speech.place] if earlier.by_user]

    def is_first(self, speech: Speech) -> bool:
        """Whether the user has said nothing before in this session."""
        return self.is_whole and not self.by_user_before(speech)

    def is_accepted(self, speech: Speech) -> bool:
        """Whether the user's very next words agree to what an assistant said."""
        reply = self.reply(speech)
        return not speech.by_user and reply is not None and any(line.has("accept") for line in reply.lines[:2])

    def is_left(self, speech: Speech) -> bool:
        """Whether the user takes leave in a speech or beside it."""
        return any(near.by_user and near.has("wrap_up") for near in self.around(speech))


def _line(sentence: Sentence, cues: Cues) -> SpeechLine:
    tags = cues.tags(sentence.words)
    return SpeechLine(sentence, tags, sentence.is_question or "question" in tags)


def _read(messages: Sequence[Message]) -> dict[int, list[Sentence]]:
    """The sentences of texts as far back as there is room, by their places among the messages."""
    room = {"user": _MOST_READ, "assistant": _MOST_READ}
    texts = {}
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.kind != "text" or room.get(message.role, 0) <= 0:
            continue
        split = sentences.split(message.text)
        if message.role == "user" and len(split) > _PASTED:
            continue
        ends = list(accumulate(len(sentence.raw) for sentence in split))
        read = [sentence for sentence, end in zip(split, [0, *ends]) if end < room[message.role]]
        if read:
            room[message.role] -= ends[len(read) - 1]
            texts[at] = read
    return texts
