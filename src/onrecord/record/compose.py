"""New records from partial ones: ids, dates, defaults and clean tags are filled in, and the result is checked."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from onrecord import categories, timestamps
from onrecord.errors import BadInput, Invalid, SecretFound
from onrecord.record import author, memory, naming, schema, secrets
from onrecord.record.author import RecordAuthor
from onrecord.record.check import Check
from onrecord.record.memory import Memory
from onrecord.record.schema import Flaw, ListOf, shorten

_AROUND_WORD = "()[]{}.,;:!?…"
_COMMON = frozenset("a an and are as at be by for from in is it no not of on or our the to use we with".split())

_CHECK_LISTS = frozenset(("paths", "starts", "has", "adds", "unless"))


def category_of(name: str) -> str:
    """Return the category of a name such as `decisions` or `tech-debt`. Raises BadInput with the most similar one."""
    plain = name.strip().lower().replace("-", "_")
    for category, folder in schema.FOLDERS.items():
        if plain in (category, f"{category}s", folder.replace("-", "_")):
            return category
    nearest = difflib.get_close_matches(plain, list(schema.FOLDERS), n=1)
    hint = f"use {nearest[0]}" if nearest else f"use one of {', '.join(schema.FOLDERS)}"
    raise BadInput(f"{shorten(name)!r} is not a category", fix=hint)


def compose(
    category: str,
    fields: Mapping[str, Any],
    *,
    now: str = "",
    allow_secret: bool = False,
    written_by: RecordAuthor | None = None,
) -> Memory:
    """Return a valid new record from a partial one. Raises Invalid or SecretFound.

    Who wrote it is `written_by`, or the caller of this process, whatever the fields say.
    """
    now = now or timestamps.now()
    written_by = written_by or author.detect()
    raw = {key: value for key, value in _arrange(category, fields).items() if key not in author.FIELDS}
    title = raw.get("title")
    if not isinstance(title, str) or not naming.clean_title(title):
        raise Invalid(
            "title: is missing", fix='give it a title: {"title": "…"}', field_errors=(("title", "is missing"),)
        )
    raw["title"] = naming.clean_title(title)
    raw["tags"] = _tags(raw)
    raw.setdefault("id", naming.slug(raw["title"], [*raw["tags"], category.replace("_", " ")]))
    raw = {
        "schema_version": schema.SCHEMA_VERSION,
        "record_status": "active",
        "created_at": now,
        "updated_at": now,
        "changes": [{"date": now, "summary": "Created"}],
        **raw,
        **{key: value for key, value in written_by._asdict().items() if value},
        "category": category,
    }
    return check(raw, allow_secret=allow_secret)


def check(raw: Mapping[str, Any], *, allow_secret: bool = False) -> Memory:
    """Return the record of a JSON object, if it may be written. Raises Invalid or SecretFound."""
    flaws = memory.flaws_in(raw)
    if flaws:
        fix = _how_to_fix(str(raw.get("category")), flaws)
        raise Invalid("; ".join(map(str, flaws[:8])), fix, tuple((flaw.where, flaw.message) for flaw in flaws))
    if not allow_secret:
        refuse_secrets(raw)
    return memory.from_json(raw)


def refuse_secrets(value: Any) -> None:
    """Raise SecretFound if any text in a JSON value contains a credential."""
    for leak in secrets.find_leaks(value):
        fix = (
            "write where the secret is kept (a variable, a vault), not the secret; save and update can insist: "
            "--allow-secret"
        )
        raise SecretFound(str(leak), fix, ((leak.where, f"carries {leak.kind}; {fix}"),))


def _arrange(category: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object of a partial record: stray content fields move to `content`, single texts become lists."""
    if not isinstance(fields, Mapping):
        raise Invalid("the record must be a JSON object", fix='for example {"title": "…", "content": {…}}')
    raw = {key: value for key, value in fields.items() if value is not None}
    own_category = raw.pop("category", category)
    if own_category != category:
        raise Invalid(
            f"category: is {own_category!r} in the record and {category!r} on the command line", fix="make them agree"
        )
    if isinstance(raw.get("checks"), (list, dict)):
        raw["checks"] = arrange_checks(raw["checks"])
    content = raw.get("content", {})
    if not isinstance(content, dict):
        raise Invalid("content: must be an object with the fields of its category", fix=_how_to_fix(category, ()))
    content = {key: value for key, value in content.items() if value is not None}
    content_fields = {field.name: field for field in schema.content_fields(category)}
    loose = {key: raw.pop(key) for key in list(raw) if key in content_fields and key not in schema.KEYS}
    _refuse_misspelt(raw, schema.KEYS)
    content = {**deepcopy(dict(categories.CATEGORIES[category].defaults)), **content, **loose}
    _refuse_misspelt(content, tuple(content_fields))
    raw["content"] = {
        key: [value]
        if isinstance(value, str) and key in content_fields and isinstance(content_fields[key].kind, ListOf)
        else value
        for key, value in content.items()
    }
    return raw


def arrange_checks(raw_checks: Any) -> Any:
    """Return checks as they are stored: one check becomes a list, a single text becomes a list of texts."""
    checks = [raw_checks] if isinstance(raw_checks, dict) else raw_checks
    if not isinstance(checks, list):
        return raw_checks
    return [_arrange_check(raw) if isinstance(raw, dict) else raw for raw in checks]


def _arrange_check(raw: Mapping[str, Any]) -> dict[str, Any]:
    _refuse_misspelt(raw, Check._fields[:-1])
    arranged = {key: value for key, value in raw.items() if value is not None}
    for key in _CHECK_LISTS.intersection(arranged):
        arranged[key] = [arranged[key]] if isinstance(arranged[key], str) else arranged[key]
    examples = arranged.get("examples")
    if isinstance(examples, dict):
        arranged["examples"] = {key: [text] if isinstance(text, str) else text for key, text in examples.items()}
    return arranged


def _refuse_misspelt(raw: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for key in raw:
        nearest = difflib.get_close_matches(key, names, n=1, cutoff=0.8) if key not in names else []
        if nearest and nearest[0] not in raw:
            raise Invalid(f"{key}: is not a field of a record", fix=f"did you mean {nearest[0]}?")


def _tags(raw: Mapping[str, Any]) -> list[str]:
    """Return clean tags; if there are none, the longest words of the title."""
    tags = raw.get("tags", [])
    if isinstance(tags, str):
        tags = tags.split(",")
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise Invalid("tags: must be a list of texts", fix='for example "tags": ["database", "migrations"]')
    clean = naming.clean_tags(list(tags))
    if clean:
        return list(clean)
    bare = (word.strip(_AROUND_WORD) for word in naming.words(raw["title"]))
    words = [word for word in bare if any(map(str.isalnum, word)) and word.lower() not in _COMMON]
    longest = sorted(words or ["untagged"], key=lambda word: (-len(word), word))[:4]
    return list(naming.clean_tags(longest)) or ["untagged"]


def _how_to_fix(category: str, flaws: Sequence[Flaw]) -> str:
    if category not in schema.FOLDERS:
        return f"use one of {', '.join(schema.FOLDERS)}"
    names = [field.name for field in schema.content_fields(category) if field.required]
    missing = [name for name in names if Flaw(f"content.{name}", "is missing") in flaws]
    if missing:
        return f"add {' '.join(f'--set {name}=…' for name in missing)}; nothing was written"
    if flaws:
        return f"correct {flaws[0].where} and try again; nothing was written"
    return f"content of a {category} needs: {', '.join(names)}; nothing was written"
