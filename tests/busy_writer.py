"""A process that changes a store at random and logs what was acknowledged: races and kills are tested with it.

    python tests/busy_writer.py STORE LOG NUMBER SEED STEPS

Each line of the log is written and flushed after a change was acknowledged: what it says must stay true.
All writers count up one number in each of a few shared records, so that a lost update shows as a number given twice.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable

from onrecord import errors
from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.store.store import Store
from onrecord.store.writer import Writer

SHARED = 4


class BusyWriter:
    def __init__(self, root: str, log: str, number: int, seed: int) -> None:
        self.writer = Writer(Store(root), Settings())
        self.number = number
        self.random = random.Random(seed)
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.created = 0
        self.own: list[str] = []

    def acknowledge(self, *words: object) -> None:
        os.write(self.log, (" ".join(map(str, words)) + "\n").encode())

    def step(self) -> None:
        steps: dict[Callable[[], None], int] = {
            self.create: 2,
            self.count: 6,
            self.retire: 2,
            self.restore: 2,
            self.rename: 1,
            self.supersede: 1,
        }
        (step,) = self.random.choices(list(steps), list(steps.values()))
        try:
            step()
        except (errors.Changed, errors.NotFound, errors.WrongState, errors.Locked):
            pass  # another writer was first: nothing was acknowledged, nothing is expected

    def create(self) -> None:
        title = f"Note {self.number} {self.created}"
        record = compose.compose("preference", {"title": title, "topic": "t", "value": title, "reason": "r"})
        entry = self.writer.save(record._replace(unknown={"born": title}))
        self.acknowledge("created", title.replace(" ", "_"))
        self.own.append(entry.memory.id)
        self.created += 1

    def count(self) -> None:
        """Add one to the counter of a record that all writers share."""
        title = f"shared-{self.random.randrange(SHARED)}"
        for _ in range(50):
            entry = self.writer.store.get(title)
            value = int(entry.memory.unknown.get("counter", 0)) + 1
            try:
                self.writer.update(title, {"counter": value}, entry.hash)
            except errors.Changed:
                continue
            self.acknowledge("counted", title, value)
            return

    def retire(self) -> None:
        record_id = self.random.choice(self.own) if self.own else "nothing"
        self.writer.retire(record_id, "raced")
        self.acknowledge("status", self.born(record_id), "retired")

    def restore(self) -> None:
        record_id = self.random.choice(self.own) if self.own else "nothing"
        self.writer.restore(record_id)
        self.acknowledge("status", self.born(record_id), "active")

    def rename(self) -> None:
        record_id = self.random.choice(self.own) if self.own else "nothing"
        entry = self.writer.store.get(record_id)
        title = f"Renamed {self.number} {self.random.randrange(10**9)}"
        renamed = self.writer.update(record_id, {"title": title}, entry.hash)
        self.own[self.own.index(record_id)] = renamed.memory.id
        self.acknowledge("titled", str(entry.memory.unknown["born"]).replace(" ", "_"), title.replace(" ", "_"))

    def supersede(self) -> None:
        if len(self.own) > 1:
            old, new = self.random.sample(self.own, 2)
            self.writer.supersede(old, new)
            self.acknowledge("superseded", self.born(old), self.born(new))

    def born(self, record_id: str) -> str:
        """Return the id that a record was created with; it stays the same when the title changes."""
        return str(self.writer.store.get(record_id).memory.unknown["born"]).replace(" ", "_")


def main() -> None:
    root, log, number, seed, steps = sys.argv[1:]
    writer = BusyWriter(root, log, int(number), int(seed))
    for _ in range(int(steps)):
        writer.step()
    writer.acknowledge("finished")


if __name__ == "__main__":
    main()
