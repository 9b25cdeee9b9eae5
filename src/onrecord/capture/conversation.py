"""The last messages of a session as sentences with their cues, and the tool calls around each message.

The Stop hook runs this after every turn, so it must be fast: it uses no regular expressions.
"""

from __future__ import annotations

import os
from itertools import accumulate

from onrecord import coldstart
from onrecord import text as texts
from onrecord.coldstart import NamedTuple
from onrecord.session import correction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from onrecord.session.transcript import Ending, Message

MAX_MESSAGE_CHARS = 8_000
"""Characters that are read of one message; a longer message is mostly pasted text."""

CODE = "§"
"""Placeholder for a piece of code or a quotation."""

CUES_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues")
_MAX_GAP_WORDS = 5
_STEM_CHARS = 3
_CODE_MARKS = ("/", "_", "(", "::", "=")
_FENCES = ("```", "~~~")
_LOG_STARTS = ("ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE", "Traceback", "Caused by:", "Exception in")
_SEPARATORS = dict.fromkeys(map(ord, '()[]{}<>|*_~=+/\\,;!?."“”„«»…¿¡#@—–-'), " ")
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))
_MIN_PASSAGE_CHARS = 40
"""A quotation that is shorter than this is a name, not a passage of text."""

EDITORS = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
SHELLS = ("Bash", "PowerShell")
OWN_COMMAND = "onrecord "
"""Start of our own commands. After running one, an agent talks about the memory, not the project."""

_FAILURE_MARKS = ("Exit code ", "error", "Error", "ERROR", "FAILED", "FAILURE", "fatal:", "Traceback", "panic", "PANIC")
_MAX_PROMPT_SENTENCES = 40
"""A prompt with more sentences is a pasted document, not the user's own words."""

_MAX_CHARS_READ = 3_000
"""Characters that are read of user and assistant each, newest first. Older text was read after an earlier turn."""

_NO_POSITION = 1_000_000


class Sentence(NamedTuple):
    """One sentence: its original text, its words in lower case, and its kind."""

    raw: str
    words: list[str]
    is_item: bool
    is_question: bool
    has_code: bool
    has_command: bool


def split(message: str) -> list[Sentence]:
    """Return the sentences in the author's own words: no code, quotations, logs or tables."""
    result: list[Sentence] = []
    fence = ""
    for line in _without_passages(message[:MAX_MESSAGE_CHARS]).split("\n"):
        start = line.strip()[:3]
        if start in _FENCES:
            fence = "" if start == fence else fence or start
        elif not fence and _is_speech(line):
            is_item, body = _split_marker(line.strip())
            result += [_sentence(text, is_item) for text in texts.sentences(body)]
    return [sentence for sentence in result if sentence.words]


def _sentence(text: str, is_item: bool) -> Sentence:
    spoken = _without_quotes(text)
    if any(mark in spoken.rstrip(".") for mark in (*_CODE_MARKS, ".")):
        spoken = " ".join(CODE if _is_code(word) else word for word in spoken.split())
    plain = spoken.lower().replace("’", "'").replace(":", " : ").translate(_SEPARATORS)
    words = [word for word in (word.strip("'") for word in plain.split()) if word]
    has_command = "`" in text and any(" " in code.strip() or "=" in code for code in text.split("`")[1::2])
    return Sentence(text, words, is_item, text.rstrip(" )\"'”*_").endswith("?"), CODE in spoken, has_command)


def _without_passages(message: str) -> str:
    """Return `message` without quotations of more than one sentence."""
    for opening, closing in _QUOTES:
        start = message.find(opening)
        while start >= 0:
            end = message.find(closing, start + 1)
            if end < 0:
                break
            inside = message[start + 1 : end]
            is_passage = len(inside) > _MIN_PASSAGE_CHARS and (". " in inside or "\n" in inside) and "```" not in inside
            if is_passage and message[start - 1 : start] in ("", " ", "\n", "(", ":"):
                message = f"{message[:start]}\n{message[end + 1 :]}"
                end = start
            start = message.find(opening, end + 1)
    return message


def _without_quotes(text: str) -> str:
    for opening, closing in (("`", "`"), *_QUOTES):
        start = text.find(opening)
        while start >= 0:
            end = text.find(closing, start + 1)
            if end < 0:
                break
            text = f"{text[:start]} {CODE} {text[end + 1 :]}"
            start = text.find(opening, start + 3)
    return text


def _is_speech(line: str) -> bool:
    """True unless `line` is code, a quotation, a log line, a table row or a stack frame."""
    body = line.strip()
    if not body or body[0] in ">|$%" or line.startswith("\t") or (line.startswith("    ") and body[0] not in "-*"):
        return False
    head = body[:24]
    if head[:2].isdigit() and head.count(":") >= 2 and (head[2:3] == ":" or head[4:5] in "-/"):
        return False
    return not body.startswith(("at ", 'File "', "+++", "---", "@@")) and not any(
        body.startswith((level, f"[{level}")) and not body[len(level) :].startswith(" is") for level in _LOG_STARTS
    )


def _split_marker(line: str) -> tuple[bool, str]:
    """Return True if `line` is a list item, and its text without bullet, number or heading marks."""
    if line[:2] in ("- ", "* ", "• ") or (line[:2] == "**" and "**" in line[2:5]):
        return True, line[2:].lstrip()
    number, dot, rest = line.partition(" ")
    if dot and number[-1:] in (".", ")") and (number[:-1].isdigit() or (len(number) == 2 and number[0].isalpha())):
        return True, rest.lstrip()
    return False, line.lstrip("# ")


def _is_code(word: str) -> bool:
    """True if `word` is a path, a file, a call or other code without backticks."""
    bare = word.strip("()[]{}.,;:!?*")
    has_mark = any(mark in bare for mark in _CODE_MARKS) or "." in bare.strip("0123456789")
    return has_mark or word.rstrip(".,;:!?").endswith("()")


class Cues:
    """The cue phrases of one language, by tag, such as `decision.strong` or `reason`."""

    __slots__ = ("_phrases", "_spelling")

    def __init__(self, data: dict[str, Any], vocabulary: set[str]) -> None:
        """Keep only the few phrases, of thousands, that can occur in a text with this vocabulary."""
        self._spelling: dict[str, str] = data["spelling"]
        self._phrases: dict[str, list[tuple[list[str], str]]] = {}
        words = {"^", "$", *vocabulary, *(self._spelling.get(word, "") for word in vocabulary)}
        for tag, phrases in data["phrases"].items():
            for phrase in _possible_phrases(phrases, words):
                row = phrase.split()
                first = row[0] if row[0][-1] != "*" else row[0][:_STEM_CHARS] + "*"
                self._phrases.setdefault(first, []).append((row, tag))

    def tags(self, words: list[str]) -> dict[str, int]:
        """Return the tags of a sentence, each with its number of matching phrases."""
        row = ["^", *(self._spelling.get(word, word) for word in words), "$"]
        counts: dict[str, int] = {}
        phrases = self._phrases
        for position, word in enumerate(row):
            for first in (word, word[:_STEM_CHARS] + "*", "#") if word.isdigit() else (word, word[:_STEM_CHARS] + "*"):
                for phrase, tag in phrases.get(first, ()):
                    if _matches(phrase, row, position):
                        counts[tag] = counts.get(tag, 0) + 1
        return counts


def language_of(words: list[str]) -> str:
    """Return the language whose common words occur most often in `words`; on a tie, English."""
    common = {name: frozenset(line.split()) for name, line in load("languages").items()}
    counts = {name: sum(word in common[name] for word in words) for name in common}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > counts["en"] else "en"


_cache: dict[str, dict[str, Any]] = {}


def load(name: str) -> dict[str, Any]:
    """Load the phrases of a language. The name `languages` loads the common words of each language instead."""
    if name not in _cache:
        with open(os.path.join(CUES_FOLDER, f"{name}.json"), encoding="utf-8") as file:
            _cache[name] = coldstart.loads(file.read())
    return _cache[name]


def _possible_phrases(phrases: list[str], words: set[str]) -> Iterator[str]:
    """Yield the phrases whose first two words are in `words`, and those with wildcards."""
    yield from words.intersection(phrases)
    for phrase in phrases:
        if "*" in phrase or "#" in phrase:
            yield phrase
        elif " " in phrase:
            first, second = phrase.split(" ", 2)[:2]
            if first in words and second in words:
                yield phrase


def _matches(phrase: list[str], words: list[str], start: int) -> bool:
    """True if `phrase` matches the `words` that begin at `start`."""
    position = start
    for number, pattern in enumerate(phrase):
        if pattern == "*":
            rest = phrase[number + 1 :]
            return any(_matches(rest, words, position + gap) for gap in range(_MAX_GAP_WORDS + 1))
        if position >= len(words) or not _is_word(pattern, words[position]):
            return False
        position += 1
    return True


def _is_word(pattern: str, word: str) -> bool:
    if pattern == "#":
        return word.isdigit()
    return word.startswith(pattern[:-1]) if pattern[-1] == "*" else word == pattern


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
    """True if a tool was used earlier in the session."""

    acted_before: bool
    """True if a file was edited or a command run since the user's last message."""

    acted_ever: bool = False
    """True if that happened at any time before, also in an earlier turn."""

    fault: int = 0
    """How plainly a user's speech corrects the agent, as `session.correction` tells."""

    def neighbours(self, number: int) -> list[SpeechLine]:
        """Return the lines before and after the line with this number, unless they are questions."""
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
        """True if the session had enough edits and tool calls for a summary."""
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
        self.language = language_of([word for lines in by_user for line in lines for word in line.words])
        vocabulary = {word for lines in texts.values() for line in lines for word in line.words}
        self.speeches: list[Speech] = []
        self._add_speeches(end.messages, texts, Cues(load(self.language), vocabulary))

    def _add_speeches(self, messages: Sequence[Message], texts: dict[int, list[Sentence]], cues: Cues) -> None:
        """Add all speeches in one pass, each with the tool calls before it."""
        is_cut_off = not self.is_whole
        has_used = has_acted = has_ever_acted = has_saved = False
        for number, message in enumerate(messages):
            by_user = message.role == "user"
            if message.kind == "tool_use":
                has_used = True
                has_acted = has_acted or message.name in SHELLS or message.name in EDITORS
                has_ever_acted = has_ever_acted or has_acted
                has_saved = has_saved or OWN_COMMAND in _command(message)
            # After an assistant has saved a record, it talks about that record.
            if number in texts and (by_user or not has_saved):
                lines = [_speech_line(sentence, cues) for sentence in texts[number]]
                corrects = by_user and any(correction.instructs(sentence.raw) for sentence in texts[number])
                tools = (has_used or is_cut_off, has_acted or is_cut_off, has_ever_acted or not self.is_whole)
                fault = _fault(texts[number]) if by_user else correction.NONE
                self.speeches.append(Speech(by_user, lines, number, len(self.speeches), corrects, *tools, fault))
            if message.kind == "text" and by_user:
                is_cut_off = has_acted = has_saved = False

    def assistant_before(self, speech: Speech) -> Speech | None:
        """Return the speech right before `speech` if the assistant made it, else None."""
        before = self.speeches[speech.number - 1] if speech.number else None
        return before if before and not before.by_user else None

    def reply(self, speech: Speech) -> Speech | None:
        """Return the speech right after `speech` if the user made it, else None."""
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


def _fault(speech_sentences: Sequence[Sentence]) -> int:
    return correction.strength("\n".join(sentence.raw for sentence in speech_sentences))


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
        parts = split(message.text)
        if message.role == "user" and len(parts) > _MAX_PROMPT_SENTENCES:
            continue
        ends = list(accumulate(len(sentence.raw) for sentence in parts))
        recent = [sentence for sentence, end in zip(parts, [0, *ends]) if end < room[message.role]]
        if recent:
            room[message.role] -= ends[len(recent) - 1]
            texts[number] = recent
    return texts
