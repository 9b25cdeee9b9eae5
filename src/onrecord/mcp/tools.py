"""The table of tools: purpose, arguments and result of each tool; and the check of a call's arguments against it."""

from __future__ import annotations

from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.mcp.messages import BAD_PARAMS, Fault, RpcRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

TEXT, TEXTS, COUNT, FLAG, OBJECT, OBJECTS = "text", "texts", "count", "flag", "object", "objects"
MAX_RESULTS = 50
MAX_FILES = 20

_MAX_TEXT_CHARS = 20_000
"""The longest text argument; a longer text would be a document."""

_KIND_NAMES = {
    TEXT: "a text",
    TEXTS: "a list of texts",
    COUNT: "a whole number",
    FLAG: "true or false",
    OBJECT: "an object",
    OBJECTS: "a list of objects",
}
_KINDS: Mapping[str, Mapping[str, Any]] = {
    TEXT: {"type": "string"},
    TEXTS: {"type": "array", "items": {"type": "string"}},
    COUNT: {"type": "integer"},
    FLAG: {"type": "boolean"},
    OBJECT: {"type": "object"},
    OBJECTS: {"type": "array", "items": {"type": "object"}},
}


class Argument(NamedTuple):
    """One argument of a tool."""

    name: str
    kind: str
    doc: str
    is_required: bool = False
    choices: tuple[str, ...] = ()
    range: tuple[int, int] = (0, 0)

    @property
    def schema(self) -> dict[str, Any]:
        schema = {**_KINDS[self.kind], "description": self.doc}
        if self.choices:
            schema["enum"] = list(self.choices)
        if any(self.range):
            schema["minimum"], schema["maximum"] = self.range
        return schema


class ToolResult(NamedTuple):
    """The result of a tool: data for programs, and the same as text."""

    data: Mapping[str, Any]
    text: str


class Tool(NamedTuple):
    """One tool; `server` has the function that it runs."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    output: Mapping[str, Any]
    is_read_only: bool = True

    @property
    def definition(self) -> dict[str, Any]:
        """The definition of the tool in the list that a client gets."""
        # The other hints say something of tools that write only; ours add drafts and destroy nothing.
        hints = {"readOnlyHint": self.is_read_only, "openWorldHint": False}
        if not self.is_read_only:
            hints["destructiveHint"] = False
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": {argument.name: argument.schema for argument in self.arguments},
                "required": [argument.name for argument in self.arguments if argument.is_required],
                "additionalProperties": False,
            },
            "outputSchema": self.output,
            "annotations": hints,
        }


def _object(required: str, optional: str = "", **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object; properties without a schema are texts."""
    names = [*required.split(), *optional.split()]
    schemas = {name: properties.get(name, {"type": "string"}) for name in names}
    return {"type": "object", "properties": schemas, "required": required.split()}


def _item(required: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object in a list: what it must have, and the kinds of what is no text."""
    schema: dict[str, Any] = {"type": "object", "required": required.split()}
    return {**schema, "properties": properties} if properties else schema


def _list_of(item_schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item_schema}


def _content() -> str:
    """Return one line with the fields of each category; optional fields have a question mark."""
    lines = (
        f"{category.name}: {', '.join(_fields(category.content, category.defaults))}"
        for category in CATEGORIES.values()
    )
    return f"The fields of the category; [] is a list of texts. {'; '.join(lines)}."


def _fields(content_fields: tuple[tuple[str, str, Any, str], ...], defaults: Mapping[str, Any]) -> Iterator[str]:
    for name, need, kind, _ in content_fields:
        choices = " " + "|".join(kind[1:]) if isinstance(kind, tuple) and kind[0] == "choice" else ""
        many = "[]" if kind in ("lines", "some lines", "steps") else ""
        if need == "required" or many:
            yield f"{name}{many}{'' if need == 'required' and name not in defaults else '?'}{choices}"


_NAMED = _list_of(_item("id category title"))
_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
_HIT = _item(
    "id category title path status confidence probability updated_at snippet",
    probability=_PROBABILITY,
    replaces=_item("id title"),
)
_SHOWN = _item("id category title path shown probability", probability=_PROBABILITY)
_WRITTEN = _object(
    "state name category title file",
    "updates supersedes note similar",
    state={"type": "string", "enum": ["draft", "record"]},
    similar=_list_of(_item("id category title path")),
)
_RECORD = (
    Argument("category", TEXT, "What sort of record it is.", True, tuple(CATEGORIES)),
    Argument("title", TEXT, "The rule in one line, not its topic: what to do, or what holds.", True),
    Argument("content", OBJECT, _content(), True),
    Argument(
        "triggers",
        TEXTS,
        "Eight to ten texts by which it will be found, each in other words than the title: a task that would break the "
        "rule, a symptom or error text literally, a layman's question, files and tools, synonyms. Also in the language "
        "that the user types.",
    ),
    Argument(
        "checks",
        OBJECTS,
        "Where the rule forbids a command, an import, a text or changes of a file by name: {on: command | edit | "
        "write, paths, starts, has, adds, unless: lists of texts, say: what to do instead, examples: {breaks, fits}}.",
    ),
    Argument("tags", TEXTS, "Lower-case words."),
    Argument("related_files", TEXTS, "Files it is about, relative to the project; they must exist."),
    Argument("force", FLAG, "Save it although a record says nearly the same, or a file does not exist yet."),
)
_AS_FOR_SAVE = tuple(argument._replace(doc="As for save.") for argument in _RECORD)
"""The arguments of `save` without their descriptions: agents read all definitions with every request."""

_REVIEW = "The result says whether it waits as a draft for the user's review, or is a record at once."

TOOLS = (
    Tool(
        "overview",
        "Begin with an overview",
        "Once, when a session begins: one line for each record in force (read it with show before you touch what it "
        "names), what was left unfinished, what waits for the user, and what changed last.",
        (),
        _object(
            "map unfinished waiting recent",
            "note",
            map=_NAMED,
            unfinished=_NAMED,
            waiting=_list_of(_item("title do")),
            recent=_NAMED,
        ),
    ),
    Tool(
        "recall",
        "Recall what matters for a task",
        "Before you begin a task: the few records of the project memory that are probably relevant to it, as rules to "
        "act on and as pointers to read with show. It is strict: for most tasks there is nothing.",
        (
            Argument("task", TEXT, "The task, question or error in the user's own words.", True),
            Argument("files", TEXTS, f"Files that you are about to change, at most {MAX_FILES}."),
        ),
        _object("records", "note", records=_list_of(_SHOWN)),
    ),
    Tool(
        "search",
        "Search the project memory",
        "Search what this project decided, learned and prefers: decisions with reasons, limits, preferences, fixes for "
        "errors, debt, where work stands. It is lenient: look at the probability, and call show before you rely on a "
        "result. Use the words a record would use: nouns, synonyms, identifiers, error texts.",
        (
            Argument("query", TEXT, "What to look for.", True),
            Argument("category", TEXT, "Only this category.", choices=tuple(CATEGORIES)),
            Argument("tags", TEXTS, "Only records with all of these tags."),
            Argument("limit", COUNT, "At most so many results; 10 if left out.", range=(1, MAX_RESULTS)),
            Argument("include_retired", FLAG, "Also what no longer holds, for questions about the past."),
        ),
        _object("query results", "nearest note", results=_list_of(_HIT), nearest=_list_of({"type": "string"})),
    ),
    Tool(
        "show",
        "Show records",
        "The whole record behind a line of the map, a result, a pointer or a path, with what to check before you rely "
        "on it: that it was replaced or retired, or that its files have changed since. Several at once with `more`.",
        (
            Argument("id", TEXT, "An id or its beginning, category/id, path, or the name in a map or pointer.", True),
            Argument("more", TEXTS, "Further records to show, named in the same way."),
        ),
        _object(
            "id category title status path updated_at record",
            "superseded_by hidden_by caution more",
            record={"type": "object"},
            more=_list_of({"type": "object"}),
        ),
    ),
    Tool(
        "save",
        "Save a draft of a record",
        "Save something that was decided, learned or preferred here and will matter in later sessions, when the user "
        f"asks for it or a decision was made. Search first: what is there already is updated or superseded. {_REVIEW} "
        "Write it so that it can be understood alone, with literal values. Never a password, token or key.",
        (*_RECORD, Argument("updates", TEXT, "The id of the record that this adds to or corrects.")),
        _WRITTEN,
        is_read_only=False,
    ),
    Tool(
        "supersede",
        "Draft a record that replaces another",
        "Save a record in the place of one that no longer holds: another choice, another value, no longer true. The "
        f"old one stays in the store and is no longer shown as current once this is accepted. {_REVIEW}",
        (Argument("id", TEXT, "The id of the record that no longer holds.", True), *_AS_FOR_SAVE),
        _WRITTEN,
        is_read_only=False,
    ),
)
BY_TOOL = {tool.name: tool for tool in TOOLS}


def list_tools(request: RpcRequest) -> Mapping[str, Any]:
    """Return all tools, on one page. Raises Fault."""
    if request.params.get("cursor") is not None:
        raise Fault(BAD_PARAMS, "there is no such page")
    return {"tools": [tool.definition for tool in TOOLS]}


def check(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call without nulls. Raises BadInput if one is missing, unknown or of the wrong kind."""
    names = {argument.name: argument for argument in tool.arguments}
    for name in arguments:
        if name not in names:
            import difflib

            nearest = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"use {', '.join(names)}"
            raise BadInput(f"{tool.name} has no argument {name[:80]!r}", fix=hint)
    values = {name: value for name, value in arguments.items() if value is not None}
    for argument in tool.arguments:
        if argument.name in values:
            _check_value(argument, values[argument.name])
        elif argument.is_required:
            raise BadInput(f"{tool.name} needs {argument.name}", fix=f"{argument.name}: {argument.doc}")
    return values


def _check_value(argument: Argument, value: Any) -> None:
    if not _fits(argument, value):
        allowed = f"one of {', '.join(argument.choices)}" if argument.choices else _KIND_NAMES[argument.kind]
        minimum, maximum = argument.range
        within = f" from {minimum} to {maximum}" if maximum else ""
        raise BadInput(f"{argument.name} must be {allowed}{within}", fix=f"{argument.name}: {argument.doc}")


def _fits(argument: Argument, value: Any) -> bool:
    if argument.choices:
        return value in argument.choices
    if argument.kind == TEXT:
        return _is_text(value)
    if argument.kind == TEXTS:
        return isinstance(value, list) and all(map(_is_text, value))
    if argument.kind == OBJECTS:
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)
    if argument.kind == COUNT:
        return (
            isinstance(value, int) and not isinstance(value, bool) and argument.range[0] <= value <= argument.range[1]
        )
    return isinstance(value, bool if argument.kind == FLAG else dict)


def _is_text(value: Any) -> bool:
    """True if a value is a text that is not too long and can be written to a file."""
    if not isinstance(value, str) or len(value) > _MAX_TEXT_CHARS:
        return False
    return value == value.encode("utf-8", "replace").decode("utf-8")
