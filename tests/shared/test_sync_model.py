"""Three machines that save, edit, delete, sync and are killed at random end with the same files, and nothing is lost.

Every write carries a token of its own. A token may leave a machine only by that machine's own hand: with an edit over
it, a deletion, a decision on a draft. Every other token is in the shared store in the end, in a record or in a draft.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from onrecord import files
from onrecord.capture import review
from onrecord.errors import OnrecordError
from onrecord.shared.git_transport import GitTransport
from onrecord.shared.transport import Push, Pushed, Transport
from onrecord.store.inbox import Inbox
from tests.records import raw
from tests.shared.machines import Machine, MemoryRemote, MemoryTransport

MACHINES = 3
IDS = ("use-uv", "use-ruff")
CLOCKS = ("2026-05-01T12:00:00Z", "2026-05-02T12:00:00Z", "2026-04-30T12:00:00Z")
"""A day apart: no clock may decide anything."""

machines = st.integers(0, MACHINES - 1)
ids = st.sampled_from(IDS)
fields = st.sampled_from(("decision", "context"))


class Killed(BaseException):
    """The process was killed."""


@contextmanager
def killed_at(step: int) -> Iterator[None]:
    """Die before the n-th file that is written or removed."""
    steps = iter(range(step))
    real = {name: getattr(files, name) for name in ("write", "remove")}

    def deadly(name: str) -> Callable[..., None]:
        def call(*arguments: object, **named: object) -> None:
            if next(steps, None) is None:
                raise Killed
            real[name](*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in real:
            patch.setattr(files, name, deadly(name))
        try:
            yield
        except Killed:
            pass


def places_of_tokens(machine: Machine) -> set[tuple[str, str]]:
    """Every token that a person can read in a record or a draft, with its path: not those in a record's history."""
    places = set()
    for path, data in machine.files().items():
        body = json.loads(data)
        record = body.get("record", body)
        text = json.dumps([record["content"], record["tags"], record.get("retired_reason")])
        places.update((path, token) for token in re.findall("token-[0-9]+", text))
    return places


class SharedStore(RuleBasedStateMachine):
    """Three machines and a remote in memory."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.written: set[str] = set()
        self.taken_away: set[str] = set()
        self.machines = [
            Machine(self.folder / str(number), self.transport(number), now=CLOCKS[number]) for number in range(MACHINES)
        ]
        for record_id in IDS:
            self.save(0, record_id)
        self.sync_all()

    def transport(self, number: int) -> Transport:
        self.remote = getattr(self, "remote", None) or MemoryRemote()
        return MemoryTransport(self.remote)

    def token(self) -> str:
        token = f"token-{len(self.written)}"
        self.written.add(token)
        return token

    @contextmanager
    def by_hand(self, machine: Machine) -> Iterator[None]:
        """What goes away meanwhile was taken away knowingly; what cannot be done is not done."""
        machine.store.recover()
        before, written = places_of_tokens(machine), set(self.written)
        try:
            yield
        except OnrecordError:
            self.written = written
        after = places_of_tokens(machine)
        # What is in another file now was moved, by a rename or by accepting a draft.
        self.taken_away |= {token for _, token in before - after} - {token for _, token in after - before}

    @rule(number=machines, record_id=ids)
    def save(self, number: int, record_id: str) -> None:
        machine = self.machines[number]
        with self.by_hand(machine):
            machine.save(record_id, content=raw()["content"] | {"decision": self.token(), "context": self.token()})

    @rule(number=machines, record_id=ids, field=fields)
    def edit(self, number: int, record_id: str, field: str) -> None:
        machine = self.machines[number]
        with self.by_hand(machine):
            machine.edit(record_id, {"content": {field: self.token()}})

    @rule(number=machines, record_id=ids, drops=st.booleans())
    def edit_a_list(self, number: int, record_id: str, drops: bool) -> None:
        machine = self.machines[number]
        with self.by_hand(machine):
            lines = list(machine.read(record_id).content["rationale"])
            machine.edit(record_id, {"content": {"rationale": [*lines[1 if drops else 0 :], self.token()]}})

    @rule(number=machines, record_id=ids)
    def tag(self, number: int, record_id: str) -> None:
        machine = self.machines[number]
        with self.by_hand(machine):
            machine.edit(record_id, {"tags": [self.token()]})

    @rule(number=machines, record_id=ids)
    def retire_or_restore(self, number: int, record_id: str) -> None:
        machine = self.machines[number]
        with self.by_hand(machine):
            if machine.read(record_id).record_status == "retired":
                machine.writer.restore(record_id)
            else:
                machine.writer.retire(record_id, self.token())

    @rule(number=machines, record_id=ids)
    def rename(self, number: int, record_id: str) -> None:
        machine = self.machines[number]
        with self.by_hand(machine):
            machine.edit(record_id, {"title": f"{record_id.replace('-', ' ')} {len(self.written)}"})

    @rule(number=machines, record_id=ids)
    def delete(self, number: int, record_id: str) -> None:
        machine = self.machines[number]
        with self.by_hand(machine):
            machine.delete(machine.store.get(record_id).path)

    @rule(number=machines, accepts=st.booleans())
    def decide(self, number: int, accepts: bool) -> None:
        machine = self.machines[number]
        drafts = Inbox(machine.replica.store).drafts()
        with self.by_hand(machine):
            if drafts and accepts:
                review.accept(machine.writer, drafts[0], project=machine.replica.store)
            elif drafts:
                review.reject(machine.writer, drafts[0], project=machine.replica.store)

    @rule(number=machines)
    def sync(self, number: int) -> None:
        self.machines[number].sync()

    @rule(number=machines, step=st.integers(0, 12))
    def sync_and_die(self, number: int, step: int) -> None:
        with killed_at(step):
            self.machines[number].sync()

    @rule(number=machines, other=machines)
    def sync_while_another_does(self, number: int, other: int) -> None:
        machine, push = self.machines[number], self.machines[number].transport.push

        def push_late(changes: Sequence[Push]) -> Pushed:
            machine.transport.push = push  # type: ignore[method-assign]
            if other != number:
                self.machines[other].sync()
            return push(changes)

        machine.transport.push = push_late  # type: ignore[method-assign]
        machine.sync()
        machine.transport.push = push  # type: ignore[method-assign]

    @rule()
    def sync_all(self) -> None:
        """Until nothing changes any more."""
        for _ in range(2 * MACHINES):
            done = [machine.sync() for machine in self.machines]
            if not any(each.pulled or each.pushed for each in done):
                break

    def teardown(self) -> None:
        if not hasattr(self, "machines"):
            return
        self.sync_all()
        contents = [machine.files() for machine in self.machines]
        tokens = {token for _, token in places_of_tokens(self.machines[0])}
        shutil.rmtree(self.folder)
        assert all(each == contents[0] for each in contents)
        assert self.written - tokens - self.taken_away == set()


class GitSharedStore(SharedStore):
    """The same over a real git repository."""

    def transport(self, number: int) -> Transport:
        server = self.folder / "server.git"
        if not server.exists():
            subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(server)), check=True, timeout=120)
        return GitTransport(f"file://{server}", str(self.folder / str(number) / "repository"))


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch):
    """Processes are killed here, not the power cut: what was written is there."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def test_random_work_on_three_machines_ends_with_the_same_files_and_nothing_lost():
    examples = settings().max_examples // 4
    run_state_machine_as_test(SharedStore, settings=settings(max_examples=examples, stateful_step_count=25))


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_random_work_over_git_ends_with_the_same_files_and_nothing_lost():
    examples = settings().max_examples // 30
    run_state_machine_as_test(GitSharedStore, settings=settings(max_examples=examples, stateful_step_count=20))
