"""What became of the records an agent was shown, from what was said and done afterwards. No model is asked.

A record was *used* when its file was read, or when the agent was the first to mention a value that only the record had
named; *contradicted* when the user took it back; *ignored* when it had such values and none came up. A record without
any, such as a rule in plain words, proves nothing either way: *unclear*.
"""

from __future__ import annotations

from onrecord.search import query, terms
from onrecord.store import short_name
from onrecord.usage import identifiers, objections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from onrecord.session.transcript import Message
    from onrecord.usage.identifiers import Literal
    from onrecord.usage.objections import Objection

USED, CONTRADICTED, IGNORED, UNCLEAR = "used", "contradicted", "ignored", "unclear"
_LONGEST = 40_000  # characters of one message: a larger one is a file, and its beginning stands for it
_ENOUGH = 1.0  # one literal that hardly occurs by chance, or two that might
_SHARED_WORDS = 2  # stems that an objection has in common with the record it is about
_ECHOED_WORDS = 4  # stems that an answer has in common with the record it repeats
_LAST_PROMPTS = 12  # prompts searched for objections
_DISMISSALS = (
    "not relevant", "irrelevant", "unrelated", "does not apply", "doesn't apply", "not apply", "no longer",
    "outdated", "ignore", "ignoring", "set aside", "not needed here", "memory mentions", "memory also mentions",
)  # fmt: skip


class Shown:
    """A record as the agent was shown it, and after which message."""

    def __init__(self, path: str, text: str, after: int, record: str = "") -> None:
        self.path = path  # in its store: `decisions/sessions-in-postgres.json`
        self.id = path.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower()
        self.short_name = short_name.of(path).lower()  # in a pointer
        self.record = record or path  # its name among all stores
        self.after = after
        self.literals = identifiers.literals(text)
        self.terms = _topic(text)


class Step:
    """One message as evidence: who speaks, what is new in it, and what it merely repeats."""

    def __init__(self, message: Message) -> None:
        arguments = message.input if message.kind == "tool_use" else {}
        self.who = {"tool_result": "file", "context": "hook"}.get(message.kind, message.role)
        self.tool = message.name if message.kind == "tool_use" else ""
        self.text = ("\n".join(_strings(arguments)) if arguments else message.text)[:_LONGEST].lower()
        self.old = _replaced(arguments)[:_LONGEST].lower()
        self._is_answer = message.kind == "text"
        self._spellings: dict[str, str] = {}

    def wording(self, literal: Literal) -> str:
        """How the agent words a literal here for the first time; empty if not at all, or to dismiss it."""
        form = literal.text if literal.occurs(self.text) else ""
        if not form and self.tool:
            self._spellings = self._spellings or identifiers.spellings(self.text)
            form = literal.respelt(self.text, self._spellings)
        if not form or literal.occurs(self.old) or form in self.old:
            return ""
        return "" if self._is_answer and _is_dismissed(self.text, literal, form) else form


def judge(messages: Sequence[Message], records: Sequence[Shown]) -> dict[str, str]:
    """What became of each record, by its name; nothing of those after which the agent has not spoken yet."""
    steps = [Step(message) for message in messages]
    last = max((at for at, step in enumerate(steps) if step.who == "assistant"), default=-1)
    waiting = [shown for shown in records if shown.after <= last]
    verdicts = {shown.record: _use(steps, shown) for shown in waiting}
    for at in [at for at, step in enumerate(steps) if step.who == "user"][-_LAST_PROMPTS:]:
        # Also the records that were shown for this very prompt: nothing but hooks lies between.
        concerned = [shown for shown in waiting if all(step.who == "hook" for step in steps[at + 1 : shown.after])]
        for objection in objections.find(steps[at].text) if concerned else ():
            verdicts.update(dict.fromkeys(_meant(objection, concerned, steps, at), CONTRADICTED))
    return verdicts


def is_opened(messages: Sequence[Message], path: str) -> bool:
    """Whether the agent has read a record that a pointer names."""
    name = short_name.of(path)
    pointer = f"onrecord show {name}", f"onrecord show --user {name}"
    after = next((at for at, each in enumerate(messages) if each.kind == "context" and _has_any(each.text, pointer)), 0)
    return bool(_handled([Step(message) for message in messages[after:]], Shown(path, "", 0)))


def _has_any(text: str, parts: Sequence[str]) -> bool:
    return any(part in text for part in parts)


def _use(steps: Sequence[Step], shown: Shown) -> str:
    handled = _handled(steps, shown)
    if handled:
        return handled
    repeated = silent = 0.0
    for literal in shown.literals:
        at, form = _first_wording(steps, literal, shown.after)
        if not _is_from_others(steps, literal, form, at, shown.after):
            repeated += literal.weight if form else 0.0
            silent += 0.0 if form else literal.weight
    if repeated >= _ENOUGH:
        return USED
    return IGNORED if repeated + silent >= _ENOUGH else UNCLEAR


def _handled(steps: Sequence[Step], shown: Shown) -> str:
    """What follows from the agent opening the record, or putting it out of use."""
    for step in steps[shown.after :]:
        names = (shown.id, shown.short_name)
        if not step.tool or all(identifiers.position(step.text, name) < 0 for name in names):
            continue
        if "onrecord" in step.text:
            is_ended = any(f"{word} " in step.text for word in ("retire", "supersede", "archive"))
            return CONTRADICTED if is_ended else USED
        if shown.path.lower() in step.text.replace("\\", "/") and step.tool not in ("Edit", "Write"):
            return USED
    return ""


def _first_wording(steps: Sequence[Step], literal: Literal, after: int) -> tuple[int, str]:
    for at in range(after, len(steps)):
        form = steps[at].wording(literal) if steps[at].who == "assistant" else ""
        if form:
            return at, form
    return len(steps), ""


def _is_from_others(steps: Sequence[Step], literal: Literal, form: str, before: int, after: int) -> bool:
    """Whether somebody else had brought a literal up: the user, a file, or the agent before it was shown the record."""
    for at, step in enumerate(steps[:before]):
        if step.who == "hook" or (step.who == "assistant" and at >= after):
            continue
        if literal.occurs(step.text) or (form and form != literal.text and form in step.text):
            return True
    return False


def _is_dismissed(text: str, literal: Literal, form: str) -> bool:
    at = max(text.find(literal.quantity.number if literal.quantity else form), 0)
    start = max(text.rfind(". ", 0, at), text.rfind("\n", 0, at)) + 1
    ends = [end for end in (text.find(". ", at), text.find("\n", at)) if end >= 0]
    sentence = text[start : min(ends, default=len(text))]
    return any(phrase in sentence for phrase in _DISMISSALS)


def _meant(objection: Objection, records: Sequence[Shown], steps: Sequence[Step], at: int) -> list[str]:
    """The records an objection is about: those it names, or the only one that was just acted upon."""
    topic = _topic(objection.sentence)
    named = [shown.record for shown in records if _names(objection, topic, shown, is_own_prompt=shown.after > at)]
    if named or not objection.points_back:
        return named
    since = max((i for i in range(at) if steps[i].who == "user"), default=0)
    answers = [step for step in steps[since:at] if step.who == "assistant"]
    echoed = [shown.record for shown in records if shown.after <= at and _is_echoed(shown, answers)]
    return echoed if len(echoed) == 1 else []


def _names(objection: Objection, topic: frozenset[str], shown: Shown, *, is_own_prompt: bool) -> bool:
    """Whether an objection is about a record; the prompt that it was shown for has words in common with it anyway."""
    strict = objection.needs_literal
    if any(literal.occurs(objection.sentence) for literal in shown.literals if strict or literal.weight >= _ENOUGH):
        return True
    return not strict and len(shown.terms & topic) >= _SHARED_WORDS + is_own_prompt


def _is_echoed(shown: Shown, answers: Sequence[Step]) -> bool:
    if any(step.wording(literal) for step in answers for literal in shown.literals):
        return True
    return any(len(shown.terms & _topic(step.text)) >= _ECHOED_WORDS for step in answers if not step.tool)


def _topic(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, as stems."""
    words = [word for word in terms.words(text[:4_000].lower()) if len(word) > 3 and word not in query.ENGLISH]
    return frozenset(stem for word in words for stem in terms.of_word(word))


def _replaced(arguments: Mapping[str, Any]) -> str:
    """The text that an edit takes away."""
    edits = arguments.get("edits")
    every = [arguments, *(edits if isinstance(edits, list) else [])]
    old = [edit.get("old_string") for edit in every if isinstance(edit, dict)]
    return "\n".join(text for text in old if isinstance(text, str))


def _strings(value: object, depth: int = 4) -> list[str]:
    """All texts of a tool's arguments but those it takes away."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [part for key, part in value.items() if key != "old_string"]
    if depth and isinstance(value, list):
        return [text for part in value[:200] for text in _strings(part, depth - 1)]
    return [str(value)] if isinstance(value, (int, float)) and not isinstance(value, bool) else []
