"""Checks: the part of a rule that a program can test, at a command or at a change of a file.

A check is a closed language: lists of texts, no code and no regular expressions. Within a list, one text is enough; all
lists that are given must match. Texts match as whole words where they begin or end with a word. Hooks import this
module, so it loads nothing that costs, and every loop here is bounded.
"""

from __future__ import annotations

from onrecord import coldstart, globs
from onrecord.coldstart import NamedTuple
from onrecord.session import shell_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

COMMAND, EDIT, WRITE = "command", "edit", "write"
KINDS = (COMMAND, EDIT, WRITE)
"""A shell command; any change of a file's text; a file that is created or replaced, which is a change of it, too."""

MAX_CHECKS = 8
MAX_TEXTS, MAX_TEXT_CHARACTERS = 12, 200
MAX_EXAMPLES, MAX_EXAMPLE_CHARACTERS = 8, 500
MAX_COMMAND_CHARACTERS = 20_000
MAX_LINE_CHARACTERS = 2_000
"""Characters of a command and of a line that are compared; what follows is not."""

_MAX_COMMANDS = 200
"""Simple commands of one command line that are compared."""

_MAX_TRIES = 1_000
"""Places in one line at which a text is tried as a whole word."""

_SHELLS = frozenset(("sh", "bash", "zsh", "dash"))
_ENDINGS = (".exe", ".cmd", ".bat")
_EVERYWHERE = frozenset(("*", "**", "**/*"))
_ORDINARY = "ordinary commands or changes, whatever they are about"


class CheckExamples(NamedTuple):
    """Texts that break a check, and texts that do not; a check must agree with its own examples."""

    breaks: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()
    unknown: Mapping[str, Any] = {}


class Check(NamedTuple):
    """One check of a record."""

    on: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs of the files that it is about; empty for all."""
    starts: tuple[str, ...] = ()
    """First words of a command, or the beginning of an added line."""
    has: tuple[str, ...] = ()
    """Texts in a command, or in an added line."""
    adds: tuple[str, ...] = ()
    """Texts that a file has more often after a change than before."""
    unless: tuple[str, ...] = ()
    """Texts with which the command or line is fine."""
    say: str = ""
    """What to do instead, in one line."""
    examples: CheckExamples = CheckExamples()
    unknown: Mapping[str, Any] = {}

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Its lists of texts that are not empty; each of them must match."""
        return tuple(texts for texts in (self.starts, self.has, self.adds) if texts)

    def is_about(self, kind: str) -> bool:
        """True if it is for this kind of action; creating a file is a change of it, too."""
        return kind in self.on or (kind == WRITE and EDIT in self.on)

    def covers(self, path: str) -> bool:
        """True if a change of the file at `path` is checked."""
        return not self.paths or any(globs.matches(pattern, path) for pattern in self.paths)


class CheckProblem(NamedTuple):
    """A fault of a check, and where in it; empty for the check as a whole."""

    where: str
    message: str


class Line(NamedTuple):
    """One line of a file, with its number."""

    number: int
    text: str


class FileLines(NamedTuple):
    """The change of a file: the lines that it adds, and those that it removes."""

    path: str
    added: Sequence[Line]
    removed: Sequence[str] = ()
    is_new: bool = False
    """True if the file is created or replaced as a whole."""

    @property
    def kind(self) -> str:
        return WRITE if self.is_new else EDIT


class RecordCheck(NamedTuple):
    """A check with the record that it belongs to."""

    record_id: str
    title: str
    path: str
    """The record's path, as an agent sees it."""
    check: Check
    is_firm: bool = True
    """False if the record is only proposed."""
    folder: str = ""
    """The folder of the project that its store belongs to, with a slash; empty for the project itself."""
    inner: str = ""
    """The path of the project in the folder of a store above it, with a slash; empty for other stores."""

    def own_path(self, path: str) -> str:
        """Return the path of a file of the project in the folder of the store; empty if it is not in there."""
        return self.inner + path[len(self.folder) :] if path.startswith(self.folder) else ""

    def broken_lines(self, file_lines: FileLines) -> list[Line]:
        """Return the added lines of a file of the project that break the check."""
        path = self.own_path(file_lines.path)
        return broken_lines(self.check, file_lines._replace(path=path)) if path else []


def parse(raw: Mapping[str, Any]) -> Check:
    """Return the check of a JSON object that has no structural flaw."""
    values = {key: value for key, value in raw.items() if key in Check._fields and key != "unknown"}
    present: dict[str, Any] = {
        key: _tuple(value) if key != "examples" else _examples(value) for key, value in values.items()
    }
    present = {key: value for key, value in present.items() if value is not None}
    if isinstance(values.get("on"), str):
        present["on"] = (values["on"],)
    return Check(**present, unknown={key: value for key, value in raw.items() if key not in values})


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _examples(raw: Any) -> CheckExamples | None:
    if raw is None:
        return None
    texts = {key: tuple(raw[key]) for key in ("breaks", "fits") if raw.get(key) is not None}
    unknown = {key: value for key, value in raw.items() if key not in ("breaks", "fits")}
    return CheckExamples(**texts, unknown=unknown)


def to_json(check: Check) -> dict[str, Any]:
    """Return the JSON object of a check, without what is empty; one kind of action is written as a text."""
    values = {key: _plain(value) for key, value in check._asdict().items() if key not in ("examples", "unknown")}
    values["on"] = check.on[0] if len(check.on) == 1 else list(check.on)
    examples = {"breaks": list(check.examples.breaks), "fits": list(check.examples.fits), **check.examples.unknown}
    values["examples"] = {key: value for key, value in examples.items() if value or key in check.examples.unknown}
    return {**{key: value for key, value in values.items() if value}, **check.unknown}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def describe(check: Check) -> str:
    """Return a check in a line: when it is broken, and what to do instead."""
    parts = [f"on {' or '.join(check.on)}"]
    parts += [f"in {', '.join(check.paths)}"] if check.paths else []
    for name in ("starts", "has", "adds", "unless"):
        texts = getattr(check, name)
        parts += [f"{name} {' or '.join(map(repr, texts))}"] if texts else []
    return " ".join(parts) + (f" → {check.say}" if check.say else "")


def pack(check: Check) -> str:
    """Return what a hook needs of a check as one text, for the index."""
    return coldstart.dumps([check.on, check.paths, check.starts, check.has, check.adds, check.unless, check.say])


def unpack(text: str) -> Check:
    """Return the check that `pack` packed, without its examples."""
    on, paths, starts, has, adds, unless, say = coldstart.loads(text)
    return Check(tuple(on), tuple(paths), tuple(starts), tuple(has), tuple(adds), tuple(unless), str(say))


def problems(check: Check) -> Iterator[CheckProblem]:
    """Yield the reasons why a check may not be saved: it can never be broken, always is, or its examples disagree."""
    for name in ("starts", "has", "adds", "unless"):
        for text in getattr(check, name):
            if "\n" in text or "\r" in text:
                yield CheckProblem(name, "must be texts of one line")
            elif not text.strip():
                yield CheckProblem(name, "must be texts that are not blank")
    impossible = list(_impossible(check))
    yield from impossible
    from onrecord.record import breadth

    if not impossible and breadth.break_nearly_everything([check]):
        yield CheckProblem("", f"would be broken by {_ORDINARY}")
    for number, example in enumerate(check.examples.breaks):
        if not breaks_example(check, example):
            yield CheckProblem(f"examples.breaks[{number}]", f"does not break the check: {_short(example)!r}")
    for number, example in enumerate(check.examples.fits):
        if breaks_example(check, example):
            yield CheckProblem(f"examples.fits[{number}]", f"breaks the check: {_short(example)!r}")


def problem_together(checks: Sequence[Check]) -> str:
    """Return why checks of one record, each without a problem, may not be saved together; empty if they may."""
    from onrecord.record import breadth

    are_broad = len(checks) > 1 and breadth.break_nearly_everything(checks)
    return f"would together be broken by {_ORDINARY}" if are_broad else ""


def sound(checks: Sequence[Check]) -> list[Check]:
    """Return those of a record's checks that are carried out: without a problem, alone and together."""
    alone = [one for one in checks[:MAX_CHECKS] if not any(problems(one))]
    return [] if problem_together(alone) else alone


def _impossible(check: Check) -> Iterator[CheckProblem]:
    if not check.on:
        yield CheckProblem("on", f"must be one or more of {', '.join(KINDS)}")
    is_command, is_change = COMMAND in check.on, EDIT in check.on or WRITE in check.on
    if is_command and check.adds:
        yield CheckProblem("adds", "can never match a command; use starts or has, or a check of its own for edits")
    elif is_command and not check.starts and not check.has:
        yield CheckProblem("", "can never be broken by a command: it needs starts or has")
    if is_command and not is_change and check.paths:
        yield CheckProblem("paths", "has no meaning for a command: it is for edit and write")
    if is_change and not check.texts and (not check.paths or _EVERYWHERE.intersection(check.paths)):
        yield CheckProblem("", "would be broken by every change: it needs starts, has or adds, or paths of its own")
    for texts in check.texts:
        excused = [text for text in texts if any(has_text(text, excuse) for excuse in check.unless)]
        if len(excused) == len(texts):
            yield CheckProblem("unless", f"excuses {_short(texts[0])!r} itself, so the check can never be broken")


def breaks_example(check: Check, text: str) -> bool:
    """True if an example breaks a check: a command, added text, or a file name for a check without texts."""
    if not check.texts:
        return check.covers(text)
    if COMMAND in check.on and breaks_command(check, text):
        return True
    lines = [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]
    is_change = EDIT in check.on or WRITE in check.on
    return is_change and bool(broken_lines(check._replace(paths=()), FileLines("", lines, is_new=True)))


def breaks_command(check: Check, command: str) -> bool:
    """True if a command line breaks a check.

    With `starts`, one simple command of the line must match all lists; without, the whole line must, as it is typed.
    Comments and the text of here-documents do not count.
    """
    if COMMAND not in check.on or not (check.starts or check.has):
        return False
    if not check.starts:
        return _matches(check, " ".join(shell_words.without_comments(command[:MAX_COMMAND_CHARACTERS]).split()))
    starts = [tuple(text.split()) for text in check.starts]
    for words in simple_commands(command):
        for start in starts:
            if words[: len(start)] == start and _matches(check, " ".join(words)):
                return True
    return False


def _matches(check: Check, text: str) -> bool:
    """True if a text has one of `has`, if there are any, and none of `unless`."""
    if check.has and not any(has_text(text, part) for part in check.has):
        return False
    return not any(has_text(text, part) for part in check.unless)


def broken_lines(check: Check, file_lines: FileLines) -> list[Line]:
    """Return the added lines of a file that break a check; for a check of whole files, the first one."""
    if not check.is_about(file_lines.kind) or not check.covers(file_lines.path):
        return []
    if not check.texts:
        return list(file_lines.added[:1]) or [Line(1, "")]
    adds = [text for text in check.adds if _is_added(file_lines, text)]
    if check.adds and not adds:
        return []
    lines = [line for line in file_lines.added if _breaks_line(check, adds, line.text[:MAX_LINE_CHARACTERS])]
    if not check.adds or not file_lines.removed:
        return lines
    # A line that only moved within the file is not the one that was added.
    old = {text.strip() for text in file_lines.removed}
    return [line for line in lines if line.text.strip() not in old] or lines


def _breaks_line(check: Check, adds: Sequence[str], text: str) -> bool:
    if check.adds and not any(has_text(text, part) for part in adds):
        return False
    if check.starts and not any(_begins(text.lstrip(), start.strip()) for start in check.starts):
        return False
    return _matches(check, text)


def _begins(text: str, start: str) -> bool:
    return text.startswith(start) and not (_ends_with_word(start) and _is_word(text[len(start) : len(start) + 1]))


def _is_added(file_lines: FileLines, text: str) -> bool:
    """True if a file has a text more often after a change than before."""
    more = sum(count_text(line.text, text) for line in file_lines.added)
    return more > 0 and more > sum(count_text(line, text) for line in file_lines.removed)


def has_text(text: str, part: str) -> bool:
    """True if `part` occurs in `text`, as whole words where it begins or ends with a word."""
    return part in text and next(_places(text, part), -1) >= 0


def count_text(text: str, part: str) -> int:
    """Return how often `part` occurs in a line, as whole words where it begins or ends with a word."""
    return sum(1 for _ in _places(text, part)) if part in text[:MAX_LINE_CHARACTERS] else 0


def _places(text: str, part: str) -> Iterator[int]:
    """Yield the places of a text at which `part` occurs as whole words, within a bound."""
    needs_start, needs_end = _begins_with_word(part), _ends_with_word(part)
    place = text.find(part)
    for _ in range(_MAX_TRIES):
        if place < 0:
            return
        end = place + len(part)
        is_apart = not (needs_start and place and _is_word(text[place - 1]))
        if is_apart and not (needs_end and _is_word(text[end : end + 1])):
            yield place
        place = text.find(part, place + 1)


def _begins_with_word(part: str) -> bool:
    """True if the beginning of a text must be that of a word. The dash of an arrow is none: `->y` is in `x->y`."""
    return _is_word(part[:1]) and (part[0] != "-" or _is_word(part.lstrip("-")[:1] or "-"))


def _ends_with_word(part: str) -> bool:
    """True if the end of a text must be the end of a word. The dash of an arrow is none: `x<-` is in `x<-y`."""
    return _is_word(part[-1:]) and (part[-1] != "-" or _is_word(part.rstrip("-")[-1:] or "-"))


def _is_word(char: str) -> bool:
    """True for a letter, a digit, `_` and `-`, and for every character beyond ASCII."""
    return char != "" and (char.isalnum() or char in "_-" or char > "\x7f")


def words_of(text: str) -> set[str]:
    """Return the words of a text: a text that matches has every word of the text that it matches."""
    return shell_words.whole_words(text)


def key_words(check: Check) -> tuple[str, ...]:
    """Return the words of which an action must have at least one to break a check.

    An empty word stands for a check that any action may break.
    """
    texts = check.texts
    if not texts:
        return ("",)
    # The list that is most telling: each of its texts is known by its longest word.
    by_list: list[set[str]] = [{_longest(words_of(text)) for text in part} for part in texts]
    fewest = min(by_list, key=lambda words: ("" in words, len(words)))
    return tuple(sorted(fewest))


def _longest(words: set[str]) -> str:
    """Return the longest word; dashes alone are none, as they may be part of one in the text that has them."""
    return max((word for word in words if word.strip("-")), key=lambda word: (len(word), word), default="")


def added_lines(path: str, old_text: str, new_text: str, *, is_new: bool) -> FileLines:
    """Return the lines that a file has after a change and did not have, or not as often, before it."""
    old_lines: dict[str, int] = {}
    for text in old_text.replace("\r\n", "\n").split("\n") if old_text else ():
        old_lines[text] = old_lines.get(text, 0) + 1
    added = []
    for number, text in enumerate(new_text.replace("\r\n", "\n").split("\n") if new_text else (), 1):
        if old_lines.get(text, 0):
            old_lines[text] -= 1
        elif text or number == 1:
            added.append(Line(number, text[:MAX_LINE_CHARACTERS]))
    removed = [text for text, count in old_lines.items() for _ in range(count)]
    return FileLines(path, added, removed, is_new)


def simple_commands(line: str) -> list[tuple[str, ...]]:
    """Return the words of each simple command of a command line, in each way in which a check may name it.

    A command is returned as it is typed; without assignments, `sudo`, `env` and their like before its program; and
    without the folder of its program. Commands in `(…)`, in `$(…)`, in backquotes and in `bash -c "…"` count too; the
    text of a here-document does not.
    """
    commands = _split(line)
    inner = [_inner(_program(words)) for words in commands]
    commands += [words for text in inner if text for words in _split(text)]
    spellings = (
        spelling
        for words in commands[:_MAX_COMMANDS]
        for spelling in (words, _program(words), _without_folder(_program(words)))
    )
    return list(dict.fromkeys(tuple(words) for words in spellings if words))


def _split(line: str) -> list[list[str]]:
    parts = shell_words.parts(shell_words.without_documents(line[:MAX_COMMAND_CHARACTERS]))
    return [[word for word in part if word.strip()] for part in parts[:_MAX_COMMANDS]]


def _inner(words: list[str]) -> str:
    """Return the command that a shell is given in its words, or nothing."""
    if not words or _without_folder(words)[0] not in _SHELLS:
        return ""
    for position, word in enumerate(words[1:4], 2):
        if word.startswith("-") and word.endswith("c"):
            return words[position] if position < len(words) else ""
    return ""


def _program(words: list[str]) -> list[str]:
    """Return the words of a simple command from its program on."""
    first = shell_words.first_program(words)
    return words[first:] if first >= 0 else []


def _without_folder(words: list[str]) -> list[str]:
    """Return the words of a simple command with the bare name of its program."""
    if not words:
        return []
    name = words[0].replace("\\", "/").rpartition("/")[2] or words[0]
    for ending in _ENDINGS:
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return [name, *words[1:]]


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
