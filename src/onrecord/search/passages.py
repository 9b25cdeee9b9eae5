"""The passages of a prompt: its requests apart from each other, and what machines printed apart from what was typed.

A prompt may have two requests, or a request and a page of a log. Its lines and sentences are passages of up to 25
words, each of which is asked for itself: words that lie farther apart in a long text are together by chance.
"""

from __future__ import annotations

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_PASSAGES = 6
_MAX_WORDS = 25
_MIN_WORDS = 4
"""Words of a passage. Fewer belong to what is before or after them."""

HEAD, TAIL = 2_400, 1_200
"""Characters read from the beginning and from the end of a long prompt: the question is at either."""

_MAX_TAIL = 2
"""Passages from the end of a prompt that has too many."""

# No regular expressions: a prompt would have to load the module for them.
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), 127))
_FENCE = "```"
_FRAMES = ("goroutine ", "node:internal", "#0 0x", "#1 0x", "... ")
_PRINTED = (
    "Traceback ", "Caused by:", "error:", "error[", "npm ERR", "npm error", "$ ", "% ", "❯ ", "--- ", "+", "@@ ", "|",
    "│", "├", "└", "┌", "─", "═", "╔", "╚", "║", ">",
)  # fmt: skip
"""Beginnings of lines that a program printed, or that are part of a change."""

_LEVELS = frozenset("INFO WARN WARNING ERROR DEBUG TRACE FATAL".split())
_RAISED = ("Error", "Error:", "Exception", "Exception:")
_HEX = frozenset("0123456789abcdef")
_MIN_HASH, _MIN_ENCODED, _MIN_MADE = 7, 40, 6
"""Characters of a hash, of encoded data, and of the part of a name that a bundler made."""

_BUNDLED = (".js", ".css", ".mjs", ".map")
_AROUND = ".,:;!?()[]{}<>'\"`"
_ENDS = (".", "!", "?", ";", ":", "。", "！", "？", "；")
_JOINTS = frozenset("and but then".split())
_AFTER_JOINT = frozenset("also then please".split())
_DASHES = frozenset("- – — •".split())


class PromptPassage(coldstart.NamedTuple):
    """A few lines or sentences of a prompt."""

    text: str
    is_printed: bool = False
    """True if a program printed it, or it is code."""


def split(text: str) -> list[PromptPassage]:
    """Return the passages of a prompt: those that were typed, then those that a program printed."""
    typed, printed = list[str](), list[str]()
    for line, is_printed in _lines(_read(text)):
        (printed if is_printed else typed).append(line)
    passages = _packed(clause for line in typed for clause in _clauses(line))
    del passages[MAX_PASSAGES - _MAX_TAIL : -_MAX_TAIL]
    results = [PromptPassage(passage) for passage in passages]
    results += [PromptPassage(passage, is_printed=True) for passage in _packed(printed)[: MAX_PASSAGES - len(results)]]
    return results or [PromptPassage(text[: HEAD + TAIL])]


def _read(text: str) -> str:
    """Return the part of a text that is read, without what colours a terminal."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD].rpartition(' ')[0] or text[:HEAD]}\n{text[-TAIL:].partition(' ')[2] or text[-TAIL:]}"
    if "\x1b" in text:
        first, *rest = text.split("\x1b")
        text = first + "".join(part.lstrip("[0123456789;?")[1:] for part in rest)
    return text.translate(_CONTROLS)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines with words, without noise, each with whether a program printed it; frames are left out."""
    in_fence = False
    for line in text.split("\n"):
        start = line.lstrip()
        if start.startswith(_FENCE):
            in_fence = not in_fence
        elif start and not _is_frame(start):
            words = " ".join(word for word in start.split() if not _is_noise(word))
            if words:
                yield words, in_fence or _is_printed(line, start)


def _is_frame(line: str) -> bool:
    """True for a line that names a place in a program."""
    if line.startswith(("at ", 'File "')):
        return any(character.isdigit() for character in line)
    _, _, place = line.partition(" ")[0].partition(":")
    row, _, column = place.partition(":")
    return (row.isdigit() and column[:1].isdigit()) or line.startswith(_FRAMES)


def _is_printed(line: str, start: str) -> bool:
    """True for a line that a program printed, or that is code."""
    if line.startswith(("    ", "\t")) or start.startswith(_PRINTED):
        return True
    first = start.partition(" ")[0].strip("[]")
    is_dated = first[:4].isdigit() and first[4:5] == "-" and first[5:7].isdigit()
    is_timed = first[:2].isdigit() and first[2:3] == ":" and first[3:5].isdigit()
    return is_dated or is_timed or first in _LEVELS or first.endswith(_RAISED) or not any(map(str.isalnum, start))


def _is_noise(word: str) -> bool:
    """True for an address, a hash, encoded data, or a name that a bundler made."""
    bare = word.strip(_AROUND)
    if bare.startswith(("http://", "https://", "0x")):
        return True
    has_digit = any(map(str.isdigit, bare))
    if len(bare) < _MIN_HASH or not has_digit:
        return len(bare) >= _MIN_ENCODED and bare.isascii() and "/" not in bare and "_" not in bare
    if _HEX.issuperset(bare) or (len(bare) >= _MIN_ENCODED and "/" not in bare[:_MIN_ENCODED]):
        return True
    generated = bare.rpartition(".")[0].replace(".", "-").rpartition("-")[2]
    return bare.endswith(_BUNDLED) and len(generated) >= _MIN_MADE and any(map(str.isdigit, generated))


def _clauses(line: str) -> Iterator[str]:
    """Yield the sentences of a line, and the parts of one that asks for two things."""
    words: list[str] = []
    line = line.replace("。", "。 ").replace("！", "！ ").replace("？", "？ ").replace("；", "； ")
    parts = line.split()
    for word, after in zip(parts, (*parts[1:], "")):
        is_joint = word.lower() in _JOINTS and after.lower() in _AFTER_JOINT
        if not is_joint and word not in _DASHES:
            words.append(word)
        if words and (is_joint or word in _DASHES or word.endswith(_ENDS)):
            yield " ".join(words)
            words = []
    if words:
        yield " ".join(words)


def _packed(clauses: Iterable[str]) -> list[str]:
    """Return the clauses as passages: short ones joined to the one before, long ones cut."""
    passages: list[list[str]] = [[]]
    for clause in clauses:
        words = clause.split()
        is_short = len(words) < _MIN_WORDS or len(passages[-1]) < _MIN_WORDS
        if not is_short or len(passages[-1]) + len(words) > _MAX_WORDS:
            passages.append([])
        passages[-1] += words
        while len(passages[-1]) > _MAX_WORDS + _MIN_WORDS:
            passages[-1:] = [passages[-1][:_MAX_WORDS], passages[-1][_MAX_WORDS:]]
    return [" ".join(words) for words in passages if words]
