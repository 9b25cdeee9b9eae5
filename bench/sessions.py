"""Sessions with a label: what of each, if anything, should outlive it.

held.jsonl       by three authors who saw nothing of triage, labelled twice; only measured on
authors/X.jsonl  whole sessions by author X, to learn from
authors/X.tsv    single utterances by the same, put into small scenes (see `_scene`)
first.tsv        first prompts, written before anything was changed for them; only measured on
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from onrecord.session.transcript import Ending, Message
from onrecord.setting_table import SETTINGS

FOLDER = Path(__file__).parent / "sets" / "capture"
_SETS = Path(__file__).parent / "sets"
ORDINARY = ("harbor", "lumen", "life-bevy", "life-pandas")
"""The sets whose prompts are learnt from; nothing is learnt from the others, so that they can be measured on."""

_MOST = SETTINGS["triage.max_messages"].default
_INJECTED = "injected"
PROMPTS = "prompts"
_USUAL = "p"
"""The author who wrote what most people say most of the time."""


class Session(NamedTuple):
    """What was said and done, what should be found in it, and the words that carry it."""

    id: str
    author: str
    language: str
    kind: str
    expected: frozenset[str]
    evidence: tuple[str, ...]
    messages: tuple[Message, ...]
    is_phrase: bool = False

    @property
    def label(self) -> str:
        return next(iter(self.expected), "nothing")

    def stops(self) -> Iterator[tuple[Ending, tuple[str, ...]]]:
        """Yield what triage sees whenever a turn ends, and the memories that were shown by then."""
        seen: list[Message] = []
        shown: list[str] = []
        for number, message in enumerate(self.messages):
            if message.kind == _INJECTED:
                shown.append(message.text)
                continue
            seen.append(message)
            later = [message for message in self.messages[number + 1 :] if message.kind != _INJECTED]
            if not later or (_is_typed(later[0]) and not _is_typed(message)):
                yield Ending(seen[-_MOST:], is_whole=len(seen) <= _MOST), tuple(shown)

    def quotes(self, sentence: str) -> bool:
        """True if a sentence is among the labelled words."""
        return any(sentence in quote or quote in sentence for quote in self.evidence)


def held() -> list[Session]:
    return _read(FOLDER / "held.jsonl", "held")


def taught() -> list[Session]:
    """Return everything that may be learnt from."""
    learnt: list[Session] = []
    for path in sorted((FOLDER / "authors").iterdir()):
        learnt += _read(path, path.stem) if path.suffix == ".jsonl" else _phrases(path)
    return learnt + list(_prompts())


def _read(path: Path, author: str) -> list[Session]:
    return [_parse(json.loads(line), author) for line in path.read_text("utf-8").splitlines()]


def _parse(raw: dict[str, Any], author: str) -> Session:
    return Session(
        raw["id"],
        author,
        raw["language"],
        raw["kind"],
        frozenset(raw["expected"]),
        tuple(raw["evidence"]),
        tuple(_message(message) for message in raw["messages"]),
    )


def _message(raw: dict[str, Any]) -> Message:
    if raw["role"] == "tool_use":
        return Message("assistant", "tool_use", "", raw["name"], raw["input"])
    if raw["role"] == "tool_result":
        return Message("user", "tool_result", raw["text"], "error" if raw.get("is_error") else "")
    if raw["role"] == _INJECTED:
        return Message("system", _INJECTED, raw["text"])
    return Message(raw["role"], "text", raw["text"])


def _is_typed(message: Message) -> bool:
    return message.role == "user" and message.kind == "text"


def _phrases(path: Path) -> list[Session]:
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    # What is said in the course of the work can as well begin it. In plain words that holds for an answer, too.
    settings = ("told", "asked") if path.stem == _USUAL else ("told", "fixed")
    begun = [row for row in rows if row[1].startswith(settings)]
    times = 2 if path.stem == _USUAL else 1
    rows += [[label, "-".join(["first", *setting.split("-")[1:]]), text] for label, setting, text in begun] * times
    return [_phrase(f"{path.stem}-phrase-{number}", path.stem, *row) for number, row in enumerate(rows, 1)]


def _prompts() -> Iterator[Session]:
    """Yield the prompts of some search sets: requests and questions that nobody would want remembered."""
    for name in ORDINARY:
        for line in (_SETS / name / "prompts.jsonl").read_text("utf-8").splitlines():
            yield _phrase("prompt", PROMPTS, "", "first", json.loads(line)["text"])


def first() -> list[Session]:
    """Return first prompts with and without something to keep."""
    rows = (line.split("\t") for line in (FOLDER / "first.tsv").read_text("utf-8").splitlines())
    settings = {"en": "first", "de": "first-de", "es": "first-es"}
    return [_phrase(f"first-{n}", "first", label, settings[lang], text) for n, (label, lang, text) in enumerate(rows)]


def ordinary(folder: Path) -> list[Session]:
    """Return the prompts of a life set that ask for work: nobody would want them remembered."""
    prompts = map(json.loads, (folder / "prompts.jsonl").read_text("utf-8").splitlines())
    texts = [prompt["text"] for prompt in prompts if prompt["kind"] in ("task", "none")]
    return [_phrase(f"{folder.name}-{n}", folder.name, "", "first", text) for n, text in enumerate(texts)]


def _phrase(name: str, author: str, expected: str, setting: str, text: str, answer: str = "") -> Session:
    setting, _, language = setting.partition("-")
    language = language or "en"
    return Session(
        name,
        author,
        language,
        expected or "nothing",
        frozenset([expected] if expected else []),
        (text,),
        tuple(_scene(setting, text, answer, _WORDS[language])),
        is_phrase=True,
    )


class _Words(NamedTuple):
    """What is said around a phrase."""

    request: str
    choice: str
    done: str
    yes: str
    broken: str


_WORDS = {
    "en": _Words(
        "have a look at the module",
        "There are two ways:\n\n- the one\n- the other\n\nWhich one?",
        "Done.",
        "yep",
        "the service is down, can you look",
    ),
    "de": _Words(
        "schau dir mal das Modul an",
        "Zwei Wege:\n\n- der eine\n- der andere\n\nWelcher?",
        "Erledigt.",
        "ja, gut",
        "der Dienst startet nicht mehr, kannst du mal schauen",
    ),
    "es": _Words(
        "mira el módulo por favor",
        "Hay dos formas:\n\n- la una\n- la otra\n\n¿Cuál?",
        "Hecho.",
        "sí, de acuerdo",
        "el servicio no arranca, puedes mirar",
    ),
}
_READ = Message("assistant", "tool_use", "", "Read", {"file_path": "src/app.py"})
_EDIT = Message("assistant", "tool_use", "", "Edit", {"file_path": "src/app.py"})
_SHELL = Message("assistant", "tool_use", "", "Bash", {"command": "make check"})
_FAILED = Message("user", "tool_result", "Exit code 1", "error")


def _scene(setting: str, text: str, answer: str, words: _Words) -> list[Message]:
    """Return a phrase in its setting: who says it, and after what."""
    begin = [_user(words.request), _READ]
    done = _agent(words.done)
    scenes = {
        "first": [_user(text), _READ, _EDIT, done],
        "asked": [*begin, _agent(words.choice), _user(text), _EDIT, done],
        "told": [*begin, done, _user(text), _EDIT, done],
        "fixed": [*begin, _EDIT, done, _user(text), _EDIT, done],
        "agreed": [*begin, _agent(text), _user(words.yes), _EDIT, done],
        "later": [*begin, _EDIT, done, _user(words.request), _READ, done, _user(text), _EDIT, done],
        "did": [*begin, _EDIT, _agent(text)],
        "learnt": [*begin, _SHELL, _agent(text)],
        "explained": [_user(words.broken), _READ, _EDIT, _agent(text)],
        "failed": [_user(words.broken), _SHELL, _FAILED, _SHELL, _agent(text)],
        "busy": [_user(words.request), *_edits(6), _SHELL, _agent(text), _user(answer), done],
    }
    return scenes[setting]


def _edits(count: int) -> list[Message]:
    return [Message("assistant", "tool_use", "", "Edit", {"file_path": f"src/part{n}.py"}) for n in range(count)]


def _user(text: str) -> Message:
    return Message("user", "text", text)


def _agent(text: str) -> Message:
    return Message("assistant", "text", text)
