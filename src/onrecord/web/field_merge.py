"""Two versions of a record: merged field by field, and compared word by word for a page that shows both."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRecord, Invalid
from onrecord.record import drafts, form, lifecycle, memory, merge, schema
from onrecord.record.memory import Memory
from onrecord.record.merge import Clash
from onrecord.record.schema import Kind

THEIRS, YOURS, OWN = "theirs", "yours", "own"
"""The three choices for a field."""

_KEPT = frozenset(("anchors", *lifecycle.UNPATCHABLE))

_WORD = re.compile(r"\w+|\s+|[^\w\s]")

_MAX_WORDS = 2_000
"""Words of a text that are compared one by one; a longer text is marked as a whole."""


class FieldChoice(NamedTuple):
    """A field that a person must choose a version of: each version as text, with the words marked that differ."""

    name: str
    label: str
    base: str
    theirs: tuple[MarkedPart, ...]
    yours: tuple[MarkedPart, ...]
    choice: str
    own: str
    options: tuple[str, ...]
    """The values that the field can have; empty if it is a text."""

    @property
    def id(self) -> str:
        return "m-" + self.name.replace(".", "-").replace("_", "-")


class Merge(NamedTuple):
    """Two versions of a record merged: the result with their values where both changed, and the fields to choose."""

    category: str
    base: Mapping[str, Any]
    yours: Mapping[str, Any]
    theirs: Mapping[str, Any]
    result: Mapping[str, Any]
    clashes: tuple[str, ...]

    def choices(self, answers: Mapping[str, str]) -> list[FieldChoice]:
        """Return the fields to choose, with the answers that were given before."""
        return [self._choice(name, answers) for name in self.clashes]

    def _choice(self, name: str, answers: Mapping[str, str]) -> FieldChoice:
        kind = kind_of(self.category, name)
        base, theirs, yours = (as_text(kind, value_at(side, name)) for side in (self.base, self.theirs, self.yours))
        marks = compare_words(theirs, yours)
        choice = answers.get(f"choice.{name}", "")
        own = answers.get(f"own.{name}", yours)
        options = kind.values if isinstance(kind, schema.Choice) else ()
        return FieldChoice(name, label_of(name), base, marks.old, marks.new, choice, own, options)

    def chosen(self, answers: Mapping[str, str]) -> dict[str, Any]:
        """Return the merged record after a person's choices. Raises Invalid for a field without one."""
        fields = dict(self.result)
        for name in self.clashes:
            choice = answers.get(f"choice.{name}")
            if choice == YOURS:
                value = value_at(self.yours, name)
            elif choice == OWN:
                value = from_text(kind_of(self.category, name), answers.get(f"own.{name}", ""), name)
            elif choice == THEIRS:
                value = value_at(self.theirs, name)
            else:
                raise Invalid(f"{name}: choose a version", fix="choose", field_errors=((name, "choose a version"),))
            fields = with_value(fields, name, value)
        return fields

    def patch(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the patch from the version that was saved meanwhile to merged fields."""
        patch = drafts.difference(self.theirs, fields)
        return {key: value for key, value in patch.items() if key not in _KEPT}


def of_versions(base_record: Memory | None, yours: Mapping[str, Any], theirs: Memory) -> Merge:
    """Merge two versions over the one that both began with; without it, all fields that differ are to be chosen."""
    their_fields = memory.to_json(theirs)
    base_fields = memory.to_json(base_record) if base_record else {}
    try:
        merged = merge.merge_objects(base_fields, yours, their_fields) if base_record else {}
    except BadRecord:
        merged = {}
    if not merged:
        names = tuple(differing(their_fields, yours))
        return Merge(theirs.category, base_fields, yours, their_fields, their_fields, names)
    clashes = tuple(dict.fromkeys(_clashes(merged, their_fields, yours)))
    return Merge(theirs.category, base_fields, yours, their_fields, merge.resolve(merged, 1), clashes)


def of_draft(before: Memory, after: Memory) -> Merge:
    """Return the merge of a draft into a record: each field that it would change is to be chosen."""
    theirs, yours = memory.to_json(before), memory.to_json(after)
    return Merge(before.category, theirs, yours, theirs, theirs, tuple(differing(theirs, yours)))


def differing(these: Mapping[str, Any], those: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the fields that a person can change and that differ."""
    patch = drafts.difference(these, those)
    for name in patch.pop("content", {}) or {}:
        yield f"content.{name}"
    yield from (name for name in patch if name not in _KEPT)


def _clashes(merged: Mapping[str, Any], theirs: Mapping[str, Any], yours: Mapping[str, Any]) -> Iterator[str]:
    for key, value in merged.items():
        if key == "content" and isinstance(value, dict):
            yield from (f"content.{name}" for name, part in value.items() if _has_clash(part))
        elif key == "content" and isinstance(value, Clash):
            yield from (name for name in differing(theirs, yours) if name.startswith("content."))
        elif _has_clash(value) and key not in _KEPT:
            yield key


def _has_clash(value: Any) -> bool:
    return isinstance(value, Clash) or (isinstance(value, dict) and any(map(_has_clash, value.values())))


def with_own_texts(category: str, fields: Mapping[str, Any], answers: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the fields of a form with the texts that a person wrote in place of two versions, if they can be read."""
    for name in (key[len("own.") :] for key in answers if key.startswith("own.")):
        if answers.get(f"choice.{name}") != OWN:
            continue
        try:
            value = from_text(kind_of(category, name), answers[f"own.{name}"], name)
        except Invalid:
            continue
        fields = with_value(fields, name, value)
    return fields


def kind_of(category: str, name: str) -> Kind:
    """Return the kind of a field, such as `title` or `content.decision`; of an unknown one, that of a text."""
    outer, _, inner = name.partition(".")
    fields: Sequence[schema.Field] = schema.content_fields(category) if inner else schema.RECORD
    kind: Kind = next((field.kind for field in fields if field.name == (inner or outer)), schema.Text())
    return kind


def label_of(name: str) -> str:
    return form.field_label(name.removeprefix("content.")).capitalize()


def value_at(fields: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field such as `content.decision`; None if there is none."""
    outer, _, inner = name.partition(".")
    value = fields.get(outer)
    return value if not inner else value.get(inner) if isinstance(value, Mapping) else None


def with_value(fields: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return a JSON object with another value of a field; None removes it."""
    outer, _, inner = name.partition(".")
    if inner:
        value = with_value(fields.get(outer) or {}, inner, value)
    return {key: part for key, part in {**fields, outer: value}.items() if part is not None}


def as_text(kind: Kind, value: Any) -> str:
    """Return a value as it is written below a heading of a form, or else as JSON; empty for none."""
    if isinstance(value, str) and isinstance(kind, (schema.ListOf, schema.Object)):
        # The history has a single item of a list, and what is too long for it, as text.
        return value
    if value is None:
        return ""
    return "\n".join(form.value_lines(kind, value)) if _is_of(kind, value) else json.dumps(value, ensure_ascii=False)


def _is_of(kind: Kind, value: Any) -> bool:
    """True if a form can show a value: the history of a record may have any."""
    if isinstance(kind, schema.ListOf):
        return isinstance(value, list) and all(_is_of(kind.item, item) for item in value)
    if isinstance(kind, schema.Object):
        kinds = {field.name: field.kind for field in kind.fields}
        return isinstance(value, dict) and all(name in kinds and _is_of(kinds[name], value[name]) for name in value)
    if isinstance(kind, schema.Choices) and isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str) or isinstance(kind, (schema.Flag, schema.Number))


def from_text(kind: Kind, text: str, name: str) -> Any:
    """Return the value of such a text. Raises Invalid."""
    try:
        return form.parse_value(kind, text.split("\n"))
    except form.Unreadable as error:
        raise Invalid(f"{name}: {error}", fix="correct it", field_errors=((name, str(error)),)) from error


class MarkedPart(NamedTuple):
    """A piece of a text, marked if the other text does not have it."""

    text: str
    is_marked: bool = False


class Marked(NamedTuple):
    """Two texts in pieces."""

    old: tuple[MarkedPart, ...]
    new: tuple[MarkedPart, ...]


def compare_words(old: str, new: str) -> Marked:
    """Return both texts with the words marked that the other one does not have."""
    if not old or not new or old == new:
        return Marked(_whole(old, is_marked=old != new), _whole(new, is_marked=old != new))
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) > _MAX_WORDS or len(after) > _MAX_WORDS:
        return Marked(_whole(old, is_marked=True), _whole(new, is_marked=True))
    old_parts: list[MarkedPart] = []
    new_parts: list[MarkedPart] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        old_parts.append(MarkedPart("".join(before[start:end]), kind != "equal"))
        new_parts.append(MarkedPart("".join(after[new_start:new_end]), kind != "equal"))
    return Marked(_join_parts(old_parts), _join_parts(new_parts))


def _whole(text: str, *, is_marked: bool) -> tuple[MarkedPart, ...]:
    return (MarkedPart(text, is_marked),) if text else ()


def _join_parts(marked_parts: Iterable[MarkedPart]) -> tuple[MarkedPart, ...]:
    """Return the parts without empty ones; a space between two marked ones is marked, too."""
    parts: list[MarkedPart] = []
    pieces = [part for part in marked_parts if part.text]
    for part, following in zip(pieces, [*pieces[1:], MarkedPart("")]):
        is_between = part.text.isspace() and following.is_marked and bool(parts) and parts[-1].is_marked
        is_marked = part.is_marked or is_between
        if parts and parts[-1].is_marked == is_marked:
            parts[-1] = MarkedPart(parts[-1].text + part.text, is_marked)
        else:
            parts.append(MarkedPart(part.text, is_marked))
    return tuple(parts)
