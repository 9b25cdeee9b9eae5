"""Arguments that several commands share: options, the store to act on, and a record's fields as JSON or flags."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onrecord import files, paths, timestamps
from onrecord.cli import output
from onrecord.cli.commands import WrongUsage
from onrecord.cli.questions import Asker
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, BadRecord
from onrecord.freshness import related_files
from onrecord.paths import StoreRef
from onrecord.project import Project, require_store
from onrecord.record import compose, memory, schema
from onrecord.record.schema import Count, Field, Flag, ListOf, Number, Object, Scalar, shorten
from onrecord.settings import load_settings
from onrecord.shared import replicas
from onrecord.store.store import DryRunStore, Entry, Store
from onrecord.store.writer import Writer

_SHARED: dict[str, dict[str, Any]] = {
    "id": {"metavar": "ID", "help": "the id of a record, its beginning, or words of it"},
    "--allow-secret": {"action": "store_true", "help": "save it even if it seems to contain a credential"},
    "--category": {
        "action": "append",
        "default": [],
        "metavar": "NAME",
        "help": "only this category (repeatable)",
    },
    "--dry-run": {"action": "store_true", "help": "show what would happen and write nothing"},
    "--since": {
        "metavar": "WHEN",
        "help": "only since a day (2026-03-01) or an age (3w; d, w, m or y)",
    },
    "--summary": {"default": "", "metavar": "TEXT", "help": "what changed and why, for the record's history"},
    "--tag": {"action": "append", "default": [], "metavar": "TAG", "help": "only with this tag (repeatable)"},
}
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
"""Days in each unit of an age."""

_MAX_AGE_DAYS = 100_000
"""About 270 years, older than any record; more would leave the calendar."""

_MAX_COUNT = 1_000_000_000
"""More than a store has of anything, and less than SQLite's largest integer."""

_CHECK_EXAMPLE = '{"on": "command", "starts": ["npm i"]}'
_NOTHING_TO_SAVE = "give a category, a title and --set flags, --file FILE, or JSON on standard input"
_EXAMPLE = 'for example {"title": "…", "tags": ["…"], "content": {…}}'
_REPEATABLE = (
    ("--tag", "TAG", "a tag (repeatable)"),
    ("--trigger", "TEXT", "how someone will ask for it (repeatable)"),
    ("--related", "PATH", "a file it is about, or a part of one: src/auth.py#login (repeatable)"),
    ("--check", "JSON", "a check of the rule (repeatable); its parts: onrecord docs check-changes"),
    ("--set", "FIELD=VALUE", "a field of the record or of its content; repeat it for the items of a list"),
)


def add(container: argparse._ActionsContainer, *names: str) -> None:
    """Add options that several commands share."""
    for name in names:
        kind: dict[str, Any] = {"type": _TYPES[name]} if name in _TYPES else {}
        container.add_argument(name, **_SHARED[name], **kind)


def count(minimum: int = 0, maximum: int | None = None) -> Callable[[str], int]:
    """Return a `type=` for whole numbers from `minimum` to `maximum`."""

    def parse(text: str) -> int:
        return min(int(_within(int, text, minimum, maximum)), _MAX_COUNT)

    return parse


def seconds(minimum: float, maximum: float) -> Callable[[str], float]:
    """Return a `type=` for a duration from `minimum` to `maximum` seconds."""

    def parse(text: str) -> float:
        return _within(float, text, minimum, maximum)

    return parse


def file(text: str) -> str:
    """Return the path of a file that can be read, or - for standard input: a `type=`."""
    if text != "-":
        try:
            with open(text, "rb"):
                pass
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise argparse.ArgumentTypeError(
                f"must be a file that can be read, not {_typed(text)}: {reason}"
            ) from error
    return text


def present(text: str) -> str:
    """Return the path of a file or a folder: a `type=`. Raises Unwritable if the disk does not tell."""
    if files.status(text) is None:
        raise argparse.ArgumentTypeError(f"must be a file or a folder, not {_typed(text)}")
    return text


def _typed(text: str) -> str:
    """Return what was typed, for a message; nothing is shown as a pair of quotes."""
    return shorten(text) or "''"


def category(text: str) -> str:
    """Return the category of a name such as `decisions`: a `type=`."""
    try:
        return compose.category_of(text)
    except BadInput as error:
        names = ", ".join(schema.FOLDERS)
        raise argparse.ArgumentTypeError(f"must be one of {names}, not {_typed(text)}") from error


def since(text: str) -> str:
    """Return the timestamp that a day or an age means: a `type=`."""
    count, unit = text[:-1], text[-1:].lower()
    if unit in _DAYS and count.isascii() and count.isdigit():
        return timestamps.days_before(timestamps.now(), min(int(count[:6]) * _DAYS[unit], _MAX_AGE_DAYS))
    if not timestamps.is_day(text):
        raise argparse.ArgumentTypeError(f"must be a day (2026-03-01) or an age (3w), not {_typed(text)}")
    return text


def check(text: str) -> Mapping[str, Any]:
    """Return the JSON object of a `--check`: a `type=`."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        raw = None
    if not isinstance(raw, dict):
        raise argparse.ArgumentTypeError(f"must be JSON such as {_CHECK_EXAMPLE}, not {_typed(text)}")
    return raw


def assignment(text: str) -> str:
    """Return a text of the form FIELD=VALUE: a `type=`."""
    if "=" not in text:
        raise argparse.ArgumentTypeError(f"must be FIELD=VALUE, not {_typed(text)}")
    return text


_TYPES: dict[str, Callable[[str], Any]] = {
    "--category": category,
    "--since": since,
    "--check": check,
    "--set": assignment,
}


def _within(convert: Callable[[str], float], text: str, minimum: float, maximum: float | None) -> float:
    try:
        number = convert(text)
    except ValueError:
        number = minimum - 1
    if not minimum <= number <= (number if maximum is None else maximum):
        limits = f"{minimum:g} or more" if maximum is None else f"{minimum:g} to {maximum:g}"
        raise argparse.ArgumentTypeError(f"must be {limits}, not {_typed(text)}")
    return number


def exclude(option: str, value: object, other_options: Mapping[str, object]) -> None:
    """Raise WrongUsage if `option` and one of `other_options`, a mapping of option to value, both have a value."""
    for other, other_value in other_options.items():
        if value and other_value:
            raise WrongUsage(f"{option} and {other} exclude each other")


def require(option: str, value: object, other: str, other_value: object) -> None:
    """Raise WrongUsage if `option` has a value but `other`, which it belongs to, has none."""
    if value and not other_value:
        raise WrongUsage(f"{option} is only for {other}")


def store_of(args: argparse.Namespace) -> Store:
    """Return the project's store, the user's (`--user`) or a replica (`--remote`); the first two may not exist yet."""
    if args.remote:
        store = Store(replicas.prepare(args.remote).store)
    else:
        store = Store(paths.user_store()) if args.user else Project(args.project).store
    return DryRunStore(store.root) if getattr(args, "dry_run", False) else store


def existing_store(args: argparse.Namespace) -> Store:
    """Return the store of `args`. Raises NoStore."""
    return require_store(store_of(args))


def only_store(args: argparse.Namespace, project: Project) -> tuple[StoreRef | None, str]:
    """Return the one store that a flag names, or None for all stores read here, and a warning. Raises NoStore."""
    if not args.user and not args.remote:
        return None, project.require_a_store()
    root = existing_store(args).root
    return (paths.accepted(args.remote) if args.remote else StoreRef(root, paths.prefix_of(root))), ""


def asker(args: argparse.Namespace) -> Asker:
    """Return the Asker for the person who typed the command."""
    return Asker(args.command, args.json, getattr(args, "dry_run", False))


def store_flags(args: argparse.Namespace) -> str:
    """Return the flags that name the store of `args`, to be added to a command that is printed."""
    return output.store_flags(user=args.user, remote_name=args.remote, project=args.project)


def writer_of(args: argparse.Namespace) -> Writer:
    """Return a writer for the store of `args`; with `--dry-run` nothing reaches the disk."""
    store = store_of(args)
    return Writer(store, load_settings(store.root))


def existing_writer(args: argparse.Namespace) -> Writer:
    """Return a writer for the store of `args`. Raises NoStore."""
    writer = writer_of(args)
    require_store(writer.store)
    return writer


def display_path(store: Store, path: str) -> str:
    """Return a record's path as an agent can open it: relative to the project, or from the home folder."""
    return paths.prefix_of(store.root) + path


def record_data(store: Store, entry: Entry) -> dict[str, Any]:
    """Return the fields by which a program can refer to the record again."""
    record = entry.memory
    return {
        "id": record.id,
        "path": display_path(store, entry.path),
        "hash": entry.hash,
        "category": record.category,
        "title": record.title,
        "record_status": record.record_status,
        "updated_at": record.updated_at,
        "file": os.path.join(store.root, *entry.path.split("/")),
    }


def add_record(parser: argparse.ArgumentParser) -> None:
    """Add the options for the fields of a record."""
    parser.add_argument("--file", type=file, metavar="FILE", help="read the JSON object from FILE; - is standard input")
    for name, metavar, meaning in _REPEATABLE:
        kind: dict[str, Any] = {"type": _TYPES[name]} if name in _TYPES else {}
        parser.add_argument(name, action="append", default=[], metavar=metavar, help=meaning, **kind)


class RecordFlags(NamedTuple):
    """The fields of a record as a command line has them: in a file of JSON, as a title, and in flags."""

    file: str | None
    title: str
    tags: Sequence[str]
    triggers: Sequence[str]
    related_files: Sequence[str]
    checks: Sequence[Mapping[str, Any]]
    assignments: Sequence[str]
    """Texts of the form FIELD=VALUE."""

    @property
    def added(self) -> dict[str, Any]:
        """The flags that add to a list."""
        names = ("tags", "triggers", "related_files", "checks")
        return {name: list(getattr(self, name)) for name in names if getattr(self, name)}

    def fields(self, category: str) -> dict[str, Any]:
        """Return the fields that the title and the flags set. Raises BadInput for an unknown field."""
        fields: dict[str, Any] = self.added
        for assignment in self.assignments:
            name, _, text = assignment.partition("=")
            _assign(fields, name.strip(), text, category)
        return {**fields, "title": self.title} if self.title else fields


def record_flags(args: argparse.Namespace) -> RecordFlags:
    """Return the values of the title and of the options that `add_record` adds."""
    title = getattr(args, "title", "") or ""
    return RecordFlags(args.file, title, args.tag, args.trigger, args.related, _arranged(args.check), args.set)


def _arranged(checks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return checks in the form of a record. Raises Invalid."""
    return [arranged for one in checks for arranged in compose.arrange_checks(dict(one))]


def record_fields(flags: RecordFlags, category: str, from_file: dict[str, Any]) -> dict[str, Any]:
    """Return the fields for `save`: those of `from_file`, the JSON object of its file, overridden by the flags.

    Reads standard input if there is neither a file nor a title.
    """
    fields = flags.fields(category)
    needs_stdin = not flags.file and "title" not in fields
    return _require_utf8(_merged(read_json("-") if needs_stdin else from_file, fields, category, flags.added))


def update_patch(flags: RecordFlags, category: str) -> dict[str, Any]:
    """Return the patch for `update`; reads standard input only if no flag changes a field."""
    changed = flags.fields(category)
    source = flags.file or ("" if changed else "-")
    fields = _merged(read_json(source) if source else {}, changed, category, flags.added)
    for key in fields:
        if key not in schema.KEYS:
            _refuse_misspelt(key, schema.KEYS)
    return _require_utf8(fields)


def refuse_lost_files(store: Store, files: object, old_files: Sequence[str] = (), *, force: bool) -> None:
    """Raise BadInput for related files that do not exist; with `force` they may be created later."""
    names = [file for file in files if isinstance(file, str)] if isinstance(files, (list, tuple)) else []
    try:
        related_files.refuse_missing_in_store(store.root, names, old_files, may_come=force)
    except BadInput as error:
        error.field_errors = (("related_files", f"{error.message}; {error.fix}"),)
        raise


def _assign(fields: dict[str, Any], name: str, text: str, category: str) -> None:
    """Set the field `name` of the record, of its content, or of an object in either, to the value of a `--set`."""
    head, _, rest = name.partition(".")
    if head in schema.KEYS and not (head == "content" and rest):
        _assign_field(fields, name, text, schema.RECORD, name)
    else:
        inner = rest if head == "content" else name
        _assign_field(fields.setdefault("content", {}), inner, text, schema.content_fields(category), name)


def _assign_field(into: dict[str, Any], name: str, text: str, fields: tuple[Field, ...], full_name: str) -> None:
    head, _, rest = name.partition(".")
    kinds = {field.name: field.kind for field in fields}
    if head not in kinds:
        _refuse_misspelt(full_name, tuple(kinds) + schema.KEYS)
        raise BadInput(f"{shorten(full_name)!r} is not a field of this record", fix=f"use one of {', '.join(kinds)}")
    kind = kinds[head]
    if rest and isinstance(kind, Object):
        _assign_field(into.setdefault(head, {}), rest, text, kind.fields, full_name)
    elif isinstance(kind, ListOf):
        value = _value(kind.item, text, full_name)
        into.setdefault(head, []).extend(value if isinstance(value, list) else [value])
    else:
        into[head] = _value(kind, text, full_name)


def _value(kind: Any, text: str, name: str) -> Any:
    """Return `text` as a value of `kind`. Raises BadInput."""
    if isinstance(kind, (Flag, Number, Count, Object, Scalar)):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            expected = {Flag: "true or false", Number: "a number", Count: "a whole number"}.get(type(kind), "JSON")
            raise BadInput(f"--set {name}: must be {expected}, not {shorten(text)!r}", fix=f"--set {name}=…") from None
    return text


def _merged(
    record: dict[str, Any], flag_fields: Mapping[str, Any], category: str, added: Mapping[str, Any]
) -> dict[str, Any]:
    """Merge the flags into the JSON object, extending its lists, and move content fields into its content."""
    names = {field.name for field in schema.content_fields(category)} - set(schema.KEYS)
    content = record.get("content", {})
    if not isinstance(content, dict):
        raise BadInput("content: must be an object with the fields of its category", fix=_EXAMPLE)
    at_top = {key: value for key, value in record.items() if key in names}
    merged = {key: value for key, value in record.items() if key not in names} | dict(flag_fields)
    content = {**content, **at_top, **flag_fields.get("content", {})}
    if content or "content" in merged:
        merged["content"] = content
    for key in added:
        if isinstance(record.get(key), list):
            merged[key] = [*record[key], *(value for value in flag_fields[key] if value not in record[key])]
    return merged


def read_json(source: str) -> dict[str, Any]:
    """Return the JSON object of a file, or of standard input for `-`. Raises BadInput."""
    name = "standard input" if source == "-" else source
    data = _stdin() if source == "-" else _file(source)
    try:
        value = memory.decode(data, name)
    except BadRecord as error:
        is_other = source != "-" and not source.endswith(".json")
        related = f"; for a file that the record is about: --related {shlex.quote(source)}" if is_other else ""
        raise BadInput(error.message, fix=f"give one JSON object, {_EXAMPLE}{related}") from error
    if not isinstance(value, dict):
        raise BadInput(f"{name}: must be a JSON object", fix=_EXAMPLE)
    return value


def _stdin() -> bytes:
    is_closed = sys.stdin is None or sys.stdin.isatty()
    buffer = getattr(sys.stdin, "buffer", None)
    limit = memory.MAX_FILE_BYTES + 1
    data = b""
    if not is_closed:
        data = buffer.read(limit) if buffer else sys.stdin.read(limit).encode("utf-8", "surrogatepass")
    if not data.strip():
        raise BadInput("there is nothing to save", fix=_NOTHING_TO_SAVE)
    return data


def _file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(memory.MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {path!r}: {error}", fix="name a JSON file that can be read") from error


def _refuse_misspelt(key: str, names: tuple[str, ...]) -> None:
    nearest = difflib.get_close_matches(key, names, n=1, cutoff=0.75)
    if nearest:
        raise BadInput(f"{shorten(key)!r} is not a field of a record", fix=f"did you mean {nearest[0]}?")


def _require_utf8(fields: dict[str, Any]) -> dict[str, Any]:
    """Return `fields`. Raises BadInput if an argument was not UTF-8, which Python decodes to lone surrogates."""
    try:
        json.dumps(fields, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("an argument is not UTF-8 text", fix="give the text as UTF-8") from None
    return fields
