"""Hostile stores: each function does one kind of harm that a repository can do to its own records."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from random import Random
from typing import Any

from onrecord.record import schema
from onrecord.setting_table import SETTINGS
from tests.fuzz import values
from tests.fuzz.harmed_project import PRIVATE, HarmedProject, garbage, odd_file, remove, write

try:
    import fcntl
except ImportError:  # Windows has none, and the fuzzer does not run there
    pass


def _file_of(store: Path, record: dict[str, Any], number: int) -> Path:
    category, name = record.get("category"), record.get("id")
    folder = schema.FOLDERS.get(category, "decisions") if isinstance(category, str) else "decisions"
    is_slug = isinstance(name, str) and name.replace("-", "").isalnum() and name.isascii() and len(name) < 90
    return store / folder / f"{name if is_slug else f'harm-{number}'}.json"


def mutated_records(rng: Random, place: HarmedProject) -> None:
    for number in range(rng.choice((1, 5, 40))):
        record = values.mutated(rng, values.record(rng), rng.choice((1, 1, 2, 5)))
        write(_file_of(place.store, record, number), values.dump(record, rng))


def hostile_texts(rng: Random, place: HarmedProject) -> None:
    """Save records that are valid but for their texts: each is as hostile as the next."""
    for number in range(5):
        record = values.record(rng)
        record["content"] = {
            key: values.text(rng) if isinstance(part, str) else part for key, part in record["content"].items()
        }
        record.update(title=values.text(rng)[:200], triggers=[values.text(rng)], source=values.text(rng))
        write(_file_of(place.store, record, number), values.dump(record, rng))


def broken_records(rng: Random, place: HarmedProject) -> None:
    for number in range(rng.choice((1, 10))):
        write(place.store / rng.choice(list(schema.FOLDERS.values())) / f"broken-{number}.json", garbage(rng))


def large_records(rng: Random, place: HarmedProject) -> None:
    """Save records just below the size at which they are refused."""
    place.is_large = True
    for number in range(rng.choice((1, 8, 30))):
        record = values.record(rng, "decision")
        size = rng.choice((300_000, 700_000, 940_000))
        unit = rng.choice(("word ", "x", "é", "} def f {", "a.b/c ", f"{values.MARK} ", "\n", "9"))
        record["content"]["decision"] = (unit * size)[:size]
        record["id"] = f"large-{number}"
        write(_file_of(place.store, record, number), json.dumps(record).encode()[:990_000])


def many_records(rng: Random, place: HarmedProject) -> None:
    place.is_large = True
    for number in range(600):
        record = {**values.record(rng), "id": f"many-{number}"}
        write(_file_of(place.store, record, number), values.dump(record, rng))


def odd_records(rng: Random, place: HarmedProject) -> None:
    for number in range(6):
        odd_file(rng, place, place.store / rng.choice(list(schema.FOLDERS.values())) / f"odd-{number}.json")


def odd_names(rng: Random, place: HarmedProject) -> None:
    for name in values.NAMES:
        record = values.dump(values.record(rng, "decision"), rng)
        with contextlib.suppress(OSError, ValueError):
            write(place.store / "decisions" / f"{name}.json", record if rng.random() < 0.5 else garbage(rng))
        with contextlib.suppress(OSError, ValueError):
            write(place.project / "src" / f"{name}.py", b"x = 1\n")


def odd_folders(rng: Random, place: HarmedProject) -> None:
    """Put something else in the place of a folder of the store."""
    odd_file(
        rng,
        place,
        place.store / rng.choice(("runbooks", "inbox", "sessions", "preferences", "tech-debt", "constraints")),
    )


def circles(rng: Random, place: HarmedProject) -> None:
    """Save records that replace each other in a circle, themselves, or nothing that exists."""
    names = [f"ring-{number}" for number in range(rng.choice((1, 2, 50)))]
    for number, name in enumerate(names):
        after, before = names[(number + 1) % len(names)], names[number - 1]
        record = values.record(rng, "decision")
        record.update(id=name, superseded_by=after, supersedes=[before, "nobody", name])
        write(_file_of(place.store, record, number), values.dump(record, rng))


def drafts(rng: Random, place: HarmedProject) -> None:
    for number in range(rng.choice((3, 30, 2_000))):
        record = values.mutated(rng, values.record(rng), rng.choice((0, 1, 3)))
        write(
            place.store / "inbox" / f"draft-{number}.json",
            garbage(rng) if rng.random() < 0.2 else values.dump(record, rng),
        )
    odd_file(rng, place, place.store / "inbox" / "odd.json")


def anchored_files(rng: Random, place: HarmedProject) -> None:
    """Save records about files made to be slow to read."""
    size = rng.choice((3_000, 100_000, 1_000_000))
    unit = rng.choice(
        (
            "} def f {",
            "def f(",
            "{",
            "}",
            "class f:\n",
            "f.f ",
            "\n",
            "((((",
            "'''",
            "/*",
            "`${",
            "x" * 100,
            "def f():\n    x\n",
        )
    )
    write(place.project / "src" / "slow.py", (unit * (size // len(unit) + 1)).encode())
    odd_file(rng, place, place.project / "src" / "odd.py")
    for number in range(8):
        path = rng.choice(("src/slow.py", "src/slow.py", "src/odd.py", "src/session.py", values.text(rng)[:500]))
        anchor = {"path": path, "blob": "0" * 40, "date": "2026-03-02T09:30:00Z", "block": "1" * 32}
        anchor["symbol"] = rng.choice(("f", "f.f", "f.f.f.f", "L1-L999999", "L9-L1", "class f", values.text(rng)[:200]))
        record = {
            **values.record(rng, "constraint"),
            "id": f"anchored-{number}",
            "anchors": [anchor] * rng.choice((1, 50)),
        }
        record["related_files"] = [path, rng.choice(values.TEXTS)[:500]]
        write(_file_of(place.store, record, number), values.dump(record, rng))


def known_record_about_slow_file(rng: Random, place: HarmedProject) -> None:
    """Make the record that the prompt asks for one about a file made to be slow."""
    path = next((place.store / "decisions").glob("sessions-live-*.json"))
    record = json.loads(path.read_bytes())
    unit = rng.choice(("} def f {", "def f(", "f.f = {", "class f {\n"))
    write(place.project / "src" / "slow.py", (unit * rng.choice((300, 12_000, 100_000))).encode())
    symbol = rng.choice(("f", "f.f", "f.f.f", "L1-L99"))
    anchor = {
        "path": "src/slow.py",
        "blob": "0" * 40,
        "block": "1" * 32,
        "symbol": symbol,
        "date": "2026-03-02T09:30:00Z",
    }
    record.update(anchors=[anchor] * rng.choice((1, 100)), related_files=["src/slow.py"])
    path.write_bytes(json.dumps(record).encode())


def config(rng: Random, place: HarmedProject) -> None:
    path = place.store / "memory-config.json"
    choice = rng.random()
    if choice < 0.2:
        odd_file(rng, place, path)
        return
    if choice < 0.5:
        write(path, garbage(rng))
        return
    wanted: dict[str, Any] = {"x": values.anything(rng), values.text(rng)[:100]: 1}
    for key in rng.sample(list(SETTINGS), 12):
        holder = wanted
        *above, last = key.split(".")
        for name in above:
            holder = holder.setdefault(name, {})
        holder[last] = values.anything(rng)
    place.may_be_silent = True
    write(path, values.dump(wanted, rng))


def index_md(rng: Random, place: HarmedProject) -> None:
    path = place.store / "index.md"
    choice = rng.random()
    if choice < 0.3:
        odd_file(rng, place, path)
    elif choice < 0.6:
        remove(path)
        path.symlink_to(place.outside / "private.md")
    else:
        write(path, garbage(rng) * rng.choice((1, 5)))


def journal_and_lock(rng: Random, place: HarmedProject) -> None:
    """Leave what a writer leaves behind, as only an attacker would write it."""
    steps: dict[str, Any] = {
        name: [values.anything(rng), values.anything(rng)]
        for name in (
            "../../../outside/written",
            "/tmp/fuzz-written",
            "decisions/../../x.json",
            "decisions/new.json",
            values.text(rng)[:99],
        )
    }
    record = values.record(rng, "decision")
    steps[f"decisions/{record['id']}.json"] = ["", values.dump(record, rng).decode("utf-8", "replace")]
    steps["index.md"] = [None, f"{values.MARK} {PRIVATE[:0]}"]
    write(place.store / ".journal", rng.choice((values.dump(steps, rng), garbage(rng))))
    for name in (".lock", ".journal", ".tmp-1", ".gitignore"):
        if rng.random() < 0.4:
            odd_file(rng, place, place.store / name)


def held_locks(rng: Random, place: HarmedProject) -> None:
    """Let another process hold every lock there is."""
    files = [place.store / ".lock", *place.state.rglob("*")]
    for path in files:
        if path.is_file() and not path.is_symlink():
            place.held.append(os.open(path, os.O_RDWR))
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(place.held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
