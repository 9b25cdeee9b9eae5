"""The form of a record: one control for each field, from the schema, and what a browser sends back as a partial record.

A control is named after its field: `content.decision`, `triggers.0`, `checks.1.on.command`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.record import drafts, form, memory, naming, schema
from onrecord.record.form import FieldProblem, FilledForm
from onrecord.record.memory import Memory
from onrecord.record.schema import Choice, Choices, Field, Flag, Kind, ListOf, Number, Object, Text

_LINE_CHARACTERS = 500
"""Texts of at most so many characters are written in one line."""

_SEVERAL_LINES = frozenset(("breaks", "fits"))
"""Short texts that may have several lines: examples of a change."""

_CHIPS = ("tags", "triggers")
_FINDING = ("triggers", "tags", "related_files")
_MORE = ("checks", "scope", "confidence", "source")
_RECORD = {field.name: field for field in schema.RECORD if field.name in (*_FINDING, *_MORE)}
_TITLE = next(field for field in schema.RECORD if field.name == "title")
_ADDRESSES = {"tags": "/pick/tags", "related_files": "/pick/files"}
"""Where the script asks for values that fit what is typed."""

_TRUE, _FALSE, _CHECKED = "true", "false", "1"
_SINGULAR = {
    "related_files": "file", "rationale": "reason", "some": "line", "has": "text", "adds": "text", "unless": "text",
    "breaks": "example", "fits": "example",
}  # fmt: skip

SUPERSEDES = "supersedes"
"""The control for the record that a new one replaces; the others are those of the record's fields."""

Values = Mapping[str, str]
"""What a browser sends: the text of each control."""


class FormOption(NamedTuple):
    """One of the values that can be chosen."""

    name: str
    value: str
    label: str
    is_chosen: bool


class Control(NamedTuple):
    """A field of the form: how it is written, and its value, options, items or parts."""

    name: str
    label: str
    widget: str
    """`title`, `line`, `text`, `choice`, `checkboxes`, `rows`, `chips` or `group`."""
    doc: str = ""
    is_required: bool = False
    value: str = ""
    options: tuple[FormOption, ...] = ()
    parts: tuple[Control, ...] = ()
    """The items of a list, or the fields of an object."""
    pick: str = ""
    item: str = ""
    """The word for one item of a list."""
    is_ordered: bool = False

    @property
    def id(self) -> str:
        return "f-" + self.name.replace(".", "-").replace("_", "-")

    @property
    def is_empty(self) -> bool:
        if self.widget in ("title", "line", "text"):
            return not self.value.strip()
        return not any(option.is_chosen for option in self.options) and all(part.is_empty for part in self.parts)


class FormSection(NamedTuple):
    """Controls that belong together; folded away until they are wanted."""

    title: str
    controls: tuple[Control, ...]
    is_folded: bool = False


def from_record(record: Memory) -> dict[str, str]:
    """Return the values of the form for a record."""
    return from_fields(record.category, memory.to_json(record))


def from_fields(category: str, fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the form for a partial record; what a form cannot show is not in it."""
    values = {"title": naming.show_invisible(str(fields.get("title", "")))}
    for place, field in _fields(category):
        holder = fields.get("content", {}) if place.startswith("content.") else fields
        value = holder.get(field.name)
        if value is not None and form.can_show(field.kind, value):
            values.update(_flattened(field.kind, place, value, is_short=_is_short(field.name)))
    return values


def patch(record: Memory, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a person changed in the form of a record. What the form does not show is not changed."""
    return drafts.difference(parse(record.category, from_record(record)).fields, fields)


def parse(category: str, values: Values) -> FilledForm:
    """Return the partial record that a form holds. A field without a value is left out, as in `form.parse`."""
    fields: dict[str, Any] = {"content": {}}
    problems = []
    # A text area, so that no word of it is cut; a line end in it is a space.
    title = naming.read_invisible(" ".join(values.get("title", "").split("\n")).strip())
    if title:
        fields["title"] = title
    for place, field in _fields(category):
        try:
            value = _parsed(field.kind, place, values)
        except form.Unreadable as error:
            problems.append(FieldProblem(place, str(error)))
            continue
        if value is None and isinstance(field.kind, ListOf) and field.required and not field.kind.min_items:
            value = []
        if value is not None:
            target = fields["content"] if place.startswith("content.") else fields
            target[field.name] = value
    return FilledForm(fields, tuple(problems))


def _fields(category: str) -> Iterator[tuple[str, Field]]:
    """Yield the fields of a form with their names in it."""
    for field in schema.content_fields(category):
        yield f"content.{field.name}", field
    for name in (*_FINDING, *_MORE):
        yield name, _RECORD[name]


def _is_short(name: str) -> bool:
    return name not in _SEVERAL_LINES


def _flattened(kind: Kind, name: str, value: Any, *, is_short: bool) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each control for a value."""
    if isinstance(kind, Choices) or (isinstance(kind, ListOf) and isinstance(kind.item, Choice)):
        for text in [value] if isinstance(value, str) else value:
            yield f"{name}.{text}", _CHECKED
    elif isinstance(kind, ListOf):
        for number, item in enumerate(value):
            yield from _flattened(kind.item, f"{name}.{number}", item, is_short=is_short)
    elif isinstance(kind, Object):
        for field in kind.fields:
            if value.get(field.name) is not None:
                yield from _flattened(
                    field.kind, f"{name}.{field.name}", value[field.name], is_short=_is_short(field.name)
                )
    elif isinstance(kind, (Flag, Number)):
        yield name, json.dumps(value)
    elif _is_line(kind, is_short=is_short):
        yield name, naming.show_invisible(value)
    else:
        yield name, "\n".join(map(naming.show_invisible, value.split("\n")))


def _is_line(kind: Kind, *, is_short: bool) -> bool:
    return not isinstance(kind, Text) or (kind.max_length <= _LINE_CHARACTERS and is_short)


def _parsed(kind: Kind, name: str, values: Values) -> Any:
    """Return the value of the controls below a name; None if all are empty. Raises Unreadable."""
    options = _option_values(kind)
    if options:
        option_texts = [value for value in options if values.get(f"{name}.{value}")]
        return option_texts[0] if isinstance(kind, Choices) and len(option_texts) == 1 else option_texts or None
    if isinstance(kind, ListOf):
        items = (_parsed(kind.item, f"{name}.{number}", values) for number in _numbers(name, values))
        return [item for item in items if item is not None] or None
    if isinstance(kind, Object):
        parts = {field.name: _parsed(field.kind, f"{name}.{field.name}", values) for field in kind.fields}
        return {key: part for key, part in parts.items() if part is not None} or None
    text = values.get(name, "")
    if not text.strip():
        return None
    if isinstance(kind, (Flag, Number, Choice)):
        return form.parse_value(kind, [text.strip()])
    if "\n" not in text:
        return naming.read_invisible(text.strip())
    lines = text.split("\n")
    while not lines[0].strip():
        lines.pop(0)
    while not lines[-1].strip():
        lines.pop()
    return "\n".join(map(naming.read_invisible, lines))


def _option_values(kind: Kind) -> tuple[str, ...]:
    """Return the values of which several can be chosen; none for another kind."""
    if isinstance(kind, ListOf) and isinstance(kind.item, Choice):
        return kind.item.values
    return kind.values if isinstance(kind, Choices) else ()


def _numbers(name: str, values: Values) -> list[int]:
    """Return the numbers of the items of a list that was sent."""
    start = f"{name}."
    texts = {key[len(start) :].partition(".")[0] for key in values if key.startswith(start)}
    return sorted(int(text) for text in texts if text.isascii() and text.isdigit() and len(text) < 5)


def rearrange(values: Values, command: str) -> dict[str, str]:
    """Return the values after the button of a list was pressed: `up`, `down` or `remove`, with the name of an item."""
    verb, _, place = command.partition(" ")
    name, _, number = place.rpartition(".")
    if verb not in ("up", "down", "remove") or not number.isdecimal():
        return dict(values)
    numbers = _numbers(name, values)
    position = numbers.index(int(number)) if int(number) in numbers else -1
    other = position + {"up": -1, "down": 1, "remove": 0}[verb]
    if position < 0 or not 0 <= other < len(numbers):
        return dict(values)
    order = list(numbers)
    if verb == "remove":
        order.pop(position)
    else:
        order[position], order[other] = order[other], order[position]
    rearranged_values = {key: text for key, text in values.items() if not _is_item(key, name)}
    for new, old in enumerate(order):
        rearranged_values.update(_moved(values, f"{name}.{old}", f"{name}.{new}"))
    return rearranged_values


def _is_item(key: str, name: str) -> bool:
    return key.startswith(f"{name}.") and key[len(name) + 1 :].partition(".")[0].isdigit()


def _moved(values: Values, old: str, new: str) -> Iterator[tuple[str, str]]:
    for key, text in values.items():
        if key == old or key.startswith(f"{old}."):
            yield new + key[len(old) :], text


def without_gaps(category: str, values: Values) -> dict[str, str]:
    """Return the values without empty items of lists, so that a problem with an item is shown at that item."""
    compact = {key: text for key, text in values.items() if key.partition(".")[0] not in ("content", *_RECORD)}
    for place, field in _fields(category):
        compact.update(_compact(field.kind, place, place, values))
    return compact


def _compact(kind: Kind, old: str, new: str, values: Values) -> Iterator[tuple[str, str]]:
    if isinstance(kind, ListOf) and not _option_values(kind):
        number = 0
        for position in _numbers(old, values):
            item = dict(_compact(kind.item, f"{old}.{position}", f"{new}.{number}", values))
            if any(text.strip() for text in item.values()):
                yield from item.items()
                number += 1
    elif isinstance(kind, Object):
        for field in kind.fields:
            yield from _compact(field.kind, f"{old}.{field.name}", f"{new}.{field.name}", values)
    else:
        yield from _moved(values, old, new)


def sections(category: str, values: Values, extra: str = "") -> tuple[FormSection, ...]:
    """Return the controls of a form, filled with values; the list `extra` gets one more empty item."""
    defaults = categories.CATEGORIES[category].defaults
    content = sorted(schema.content_fields(category), key=lambda field: (field.name in defaults, not field.required))
    title = Control("title", "Title", "title", _TITLE.doc, True, values.get("title", ""))
    builder = _Builder(values, extra)
    return (
        FormSection("What it says", (title, *(builder.control(field, f"content.{field.name}") for field in content))),
        FormSection("How it is found", tuple(builder.control(_RECORD[name], name) for name in _FINDING)),
        *(
            FormSection(form.field_label(name).capitalize(), (control,), is_folded=control.is_empty)
            for name in _MORE
            for control in [builder.control(_RECORD[name], name)]
        ),
    )


class _Builder:
    """Builds the controls of one form."""

    def __init__(self, values: Values, extra: str) -> None:
        self.values = values
        self.extra = extra

    def control(self, field: Field, name: str, label: str = "") -> Control:
        label = label or form.field_label(field.name).capitalize()
        is_needed = field.required and field.name not in _RECORD
        return self._of_kind(field.kind, name, field)._replace(label=label, doc=field.doc, is_required=is_needed)

    def _of_kind(self, kind: Kind, name: str, field: Field) -> Control:
        value = self.values.get(name, "")
        if isinstance(kind, ListOf) and not _option_values(kind):
            return self._list(kind, name, field)
        if isinstance(kind, Object):
            parts = tuple(self.control(part, f"{name}.{part.name}") for part in kind.fields)
            return Control(name, "", "group", parts=parts)
        if isinstance(kind, Choice):
            texts = kind.values if value in ("", *kind.values) else (*kind.values, value)
            options = tuple(FormOption(name, text, form.field_label(text), text == value) for text in texts)
            return Control(name, "", "choice", options=options)
        if isinstance(kind, Flag):
            words = ((_TRUE, "yes"), (_FALSE, "no"))
            return Control(
                name, "", "choice", options=tuple(FormOption(name, text, word, text == value) for text, word in words)
            )
        if _option_values(kind):
            names = ((f"{name}.{text}", text) for text in _option_values(kind))
            options = tuple(FormOption(key, _CHECKED, text, bool(self.values.get(key))) for key, text in names)
            return Control(name, "", "checkboxes", options=options)
        widget = "line" if _is_line(kind, is_short=_is_short(field.name)) else "text"
        return Control(name, "", widget, value=value, pick=_ADDRESSES.get(field.name, ""))

    def _list(self, list_kind: ListOf, name: str, field: Field) -> Control:
        word = _SINGULAR.get(field.name, form.field_label(field.name).removesuffix("s"))
        numbers = _numbers(name, self.values)
        first = numbers[-1] + 1 if numbers else 0
        numbers = [*numbers, *range(first, first + (2 if self.extra == name else 1))]
        parts = tuple(
            self._of_kind(list_kind.item, f"{name}.{number}", field)._replace(label=f"{word.capitalize()} {place}")
            for place, number in enumerate(numbers, 1)
        )
        widget = "chips" if field.name in _CHIPS else "rows"
        return Control(name, "", widget, parts=parts, item=word, is_ordered=list_kind.is_ordered)


def place_problems(problems: Iterable[FieldProblem], form_sections: Iterable[FormSection]) -> dict[str, str]:
    """Return the messages of problems by the name of the control that each is about; under no name those about none."""
    names = {
        SUPERSEDES,
        *(name for section in form_sections for control in section.controls for name in _names(control)),
    }
    messages: dict[str, list[str]] = {}
    for problem in problems:
        name = problem.field.replace("[", ".").replace("]", "")
        while name and name not in names:
            name = name.rpartition(".")[0]
        where = problem.field.removeprefix("content.").replace("_", " ")
        text = problem.message if name or not where else f"{where}: {problem.message}"
        messages.setdefault(name, []).append(text)
    return {name: "; ".join(texts) for name, texts in messages.items()}


def unfold_problems(form_sections: Iterable[FormSection], messages: Mapping[str, str]) -> tuple[FormSection, ...]:
    """Return the sections, with those unfolded that have a problem."""
    return tuple(
        section._replace(
            is_folded=section.is_folded
            and not any(name in messages for control in section.controls for name in _names(control))
        )
        for section in form_sections
    )


def labels(form_sections: Iterable[FormSection]) -> dict[str, str]:
    """Return the labels of all controls by name, for a message away from the control: `Check 1, Paths`."""
    names = {name: text for section in form_sections for control in section.controls for name, text in _labels(control)}
    return {**names, SUPERSEDES: "Replaces"}


def _labels(control: Control, within: str = "") -> Iterator[tuple[str, str]]:
    text = ", ".join(filter(None, (within, control.label)))
    yield control.name, text
    for part in control.parts:
        yield from _labels(part, text if control.widget == "group" else within)


def _names(control: Control) -> Iterator[str]:
    yield control.name
    for part in control.parts:
        yield from _names(part)
