"""Proof of use: what became of the memories an agent was told, from what was said and done afterwards.

No model is asked. A memory was *used* when its file was read, or when the agent was the first to bring up a value
that only the memory had named; *contradicted* when the user took it back; *ignored* when it had such values and
none came up. A memory without any, such as a rule in plain words, proves nothing either way: *unclear*.
"""

from __future__ import annotations

from recollect.search import stopwords, terms
from recollect.usage import literals, objections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from recollect.session.transcript import Message
    from recollect.usage.literals import Literal
    from recollect.usage.objections import Objection

USED, CONTRADICTED, IGNORED, UNCLEAR = "used", "contradicted", "ignored", "unclear"
_LONGEST = 40_000
_ENOUGH = 1.0
_SHARED_WORDS = 2
_ECHOED_WORDS = 4
_LAST_PROMPTS = 12
_DISMISSALS = (
    "not relevant", "irrelevant", "unrelated", "does not apply", "doesn't apply", "not apply", "no longer",
    "outdated", "ignore", "ignoring", "set aside", "not needed here", "memory mentions", "memory also mentions",
)  # fmt: skip
_ENDED = ("retire", "supersede", "archive")


class Told:
    """A memory as the agent was shown it, and after which message."""

    __slots__ = ("after", "literals", "path", "record", "terms", "text")

    def __init__(self, path: str, text: str, after: int, record: str = "") -> None:
        self.path = path
        """Relative to its store: `decisions/sessions-in-postgres.json`."""
        self.record = record or path
        """Its name among all stores."""
        self.text = text
        self.after = after
        self.literals = literals.of(text)
        self.terms = _topic(text)

    @property
    def id(self) -> str:
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


class Deed:
    """One message as far as it can prove something: who speaks, what is new in it, and what it merely repeats."""

    __slots__ = ("_is_answer", "_spellings", "old", "text", "tool", "who")

    def __init__(self, message: Message) -> None:
        self.who = {"tool_result": "file", "context": "hook"}.get(message.kind, message.role)
        self.tool = message.name if message.kind == "tool_use" else ""
        given = message.input if message.kind == "tool_use" else {}
        self.text = (_new(given) if given else message.text)[:_LONGEST].lower()
        self.old = _old(given)[:_LONGEST].lower()
        self._is_answer = message.kind == "text"
        self._spellings: dict[str, str] | None = None

    def says(self, one: Literal) -> str:
        """How the agent words a literal here for the first time; empty if not at all, or to wave it away."""
        form = one.text if one.occurs(self.text) else self._respelling(one)
        if not form or one.occurs(self.old) or form in self.old:
            return ""
        return "" if self._is_answer and _is_dismissed(self.text, one, form) else form

    def _respelling(self, one: Literal) -> str:
        if not self.tool:
            return ""
        if self._spellings is None:
            self._spellings = literals.spellings(self.text)
        return one.respelt(self.text, self._spellings)


def judge(messages: Sequence[Message], told: Sequence[Told]) -> dict[str, str]:
    """What became of each memory, by its name; nothing of those after which the agent has not spoken yet."""
    deeds = [Deed(message) for message in messages]
    last = max((at for at, deed in enumerate(deeds) if deed.who == "assistant"), default=-1)
    waiting = [one for one in told if one.after <= last]
    verdicts = {one.record: _use(deeds, one) for one in waiting}
    verdicts.update(dict.fromkeys(_contradicted(deeds, waiting), CONTRADICTED))
    return verdicts


def _use(deeds: Sequence[Deed], one: Told) -> str:
    handled = _handled(deeds, one)
    if handled:
        return handled
    shown = hidden = 0.0
    for each in one.literals:
        at, form = _first_said(deeds, each, one.after)
        if _is_known(deeds, each, form, at, one.after):
            continue
        shown += each.weight if form else 0.0
        hidden += 0.0 if form else each.weight
    if shown >= _ENOUGH:
        return USED
    return IGNORED if shown + hidden >= _ENOUGH else UNCLEAR


def _handled(deeds: Sequence[Deed], one: Told) -> str:
    """What follows from the agent opening the record, or putting it out of use."""
    for deed in deeds[one.after :]:
        if not deed.tool:
            continue
        named = literals.position(deed.text, one.id.lower()) >= 0
        if named and "recollect" in deed.text:
            return CONTRADICTED if any(f"{word} " in deed.text for word in _ENDED) else USED
        if named and one.path.lower() in deed.text.replace("\\", "/") and deed.tool not in ("Edit", "Write"):
            return USED
    return ""


def _first_said(deeds: Sequence[Deed], one: Literal, after: int) -> tuple[int, str]:
    for at in range(after, len(deeds)):
        form = deeds[at].says(one) if deeds[at].who == "assistant" else ""
        if form:
            return at, form
    return len(deeds), ""


def _is_known(deeds: Sequence[Deed], one: Literal, form: str, before: int, after: int) -> bool:
    """Whether somebody else had brought a literal up: the user, a file, or the agent before it was told."""
    for at in range(before):
        deed = deeds[at]
        if deed.who == "hook" or (deed.who == "assistant" and at >= after):
            continue
        if one.occurs(deed.text) or (form and form != one.text and form in deed.text):
            return True
    return False


def _is_dismissed(text: str, one: Literal, form: str) -> bool:
    at = max(text.find(one.quantity.number if one.quantity else form), 0)
    start = max(text.rfind(". ", 0, at), text.rfind("\n", 0, at)) + 1
    ends = [end for end in (text.find(". ", at), text.find("\n", at)) if end >= 0]
    sentence = text[start : min(ends, default=len(text))]
    return any(phrase in sentence for phrase in _DISMISSALS)


def _contradicted(deeds: Sequence[Deed], told: Sequence[Told]) -> set[str]:
    found: set[str] = set()
    for at in [at for at, deed in enumerate(deeds) if deed.who == "user"][-_LAST_PROMPTS:]:
        concerned = [one for one in told if one.after <= at or _prompted(deeds, at, one)]
        for each in objections.of(deeds[at].text) if concerned else ():
            found.update(_meant(each, concerned, deeds, at))
    return found


def _meant(each: Objection, told: Sequence[Told], deeds: Sequence[Deed], at: int) -> list[str]:
    """The memories an objection is about: those it names, or the only one that was just acted upon."""
    topic = _topic(each.sentence)
    named = [one.record for one in told if _names(each, topic, one, asked=one.after > at)]
    if named or not each.points_back:
        return named
    since = max((i for i in range(at) if deeds[i].who == "user"), default=0)
    said = [deed for deed in deeds[since:at] if deed.who == "assistant"]
    echoed = [one.record for one in told if one.after <= at and _is_echoed(one, said)]
    return echoed if len(echoed) == 1 else []


def _names(each: Objection, topic: frozenset[str], one: Told, *, asked: bool) -> bool:
    """Whether an objection is about a memory; the prompt that brought it up has words in common with it anyway."""
    if any(value.occurs(each.sentence) for value in one.literals if value.weight >= _ENOUGH or each.needs_literal):
        return True
    return not each.needs_literal and len(one.terms & topic) >= _SHARED_WORDS + asked


def _is_echoed(one: Told, said: Sequence[Deed]) -> bool:
    if any(deed.says(value) for deed in said for value in one.literals):
        return True
    return any(len(one.terms & _topic(deed.text)) >= _ECHOED_WORDS for deed in said if not deed.tool)


def _prompted(deeds: Sequence[Deed], at: int, one: Told) -> bool:
    """Whether this is the prompt that brought the memory up: nothing but hooks lies between them."""
    return at < one.after and all(deed.who == "hook" for deed in deeds[at + 1 : one.after])


def _topic(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, as stems."""
    words = [word for word in terms.words(text[:4_000].lower()) if len(word) > 3 and word not in stopwords.ENGLISH]
    return frozenset(stem for word in words for stem in terms.of_word(word))


def _new(given: Mapping[str, Any]) -> str:
    return "\n".join(_strings(given, without="old_string"))


def _old(given: Mapping[str, Any]) -> str:
    edits = given.get("edits")
    every = [given, *(edit for edit in edits if isinstance(edit, dict))] if isinstance(edits, list) else [given]
    return "\n".join(one["old_string"] for one in every if isinstance(one.get("old_string"), str))


def _strings(value: object, without: str, depth: int = 4) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth and isinstance(value, dict):
        return [text for key, one in value.items() if key != without for text in _strings(one, without, depth - 1)]
    if depth and isinstance(value, list):
        return [text for one in value[:200] for text in _strings(one, without, depth - 1)]
    return [str(value)] if isinstance(value, (int, float)) and not isinstance(value, bool) else []
