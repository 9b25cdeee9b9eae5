"""Clients of a hub that all change and sync at the same time, each a process with a replica of its own.

Every round each client saves a new record, rewrites the decision of a record that others rewrite too, and syncs. In the
end all replicas must hold the same files, and every decision ever written must be somewhere: in its record, in a draft
that a conflict left, or in the history of the hub, replaced by somebody who had seen it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from onrecord import timestamps
from onrecord.coldstart import content_hash
from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.settings import load_settings
from onrecord.shared import engine
from onrecord.shared.hub_transport import PostgresTransport
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import Push
from onrecord.store.store import Store
from onrecord.store.writer import Writer

if TYPE_CHECKING:
    from bench.hub import Hub

ROOT = Path(__file__).parents[1]
CONTESTED = 20
_REPLICA = "hub"
_MOST_SETTLING = 12


@contextmanager
def data_folder(folder: str) -> Iterator[None]:
    """Keep the replicas of this process in a folder."""
    with patch.dict(os.environ, {"ONRECORD_DATA_DIR": folder}):
        yield


def measure(hub: Hub, clients: int, rounds: int) -> dict[str, Any]:
    """Measure many clients at once. Raises RuntimeError if anything was lost or differs in the end."""
    # A team of its own: the hub may be one of an earlier run.
    team = f"clients-{time.time_ns()}"
    urls = []
    for number in range(clients):
        hub.grant(f"client-{number}", "writer", team)
        urls.append(hub.url(f"client-{number}", team))
    _make_contested(urls[0])
    with tempfile.TemporaryDirectory(prefix="onrecord-clients-") as folder:
        everybody = [_Client(url, Path(folder, str(number)), number) for number, url in enumerate(urls)]
        try:
            _ask(everybody, "sync")
            began = time.perf_counter()
            answers = _ask(everybody, f"work {rounds}")
            seconds = time.perf_counter() - began
            settling = _settle(everybody)
        finally:
            for client in everybody:
                client.end()
        written = [text for answer in answers for text in answer["written"]]
        return {
            **_throughput(answers, seconds),
            "clients": clients,
            "further syncs until all are equal": settling,
            "decisions written": len(written),
            "where they are": _places(written, [client.folder for client in everybody], urls[0]),
        }


class _Client:
    """A process that syncs when it is told to."""

    def __init__(self, url: str, folder: Path, number: int) -> None:
        self.folder = folder
        env = {**os.environ, "ONRECORD_DATA_DIR": str(folder), "ONRECORD_STATE_DIR": str(folder / "state")}
        env["PYTHONPATH"] = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        command = (sys.executable, "-m", "bench.hub_clients", url, str(number))
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=env, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)

    def tell(self, command: str) -> None:
        assert self._process.stdin
        print(command, file=self._process.stdin, flush=True)

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a client has failed")
        return dict(json.loads(line))

    def end(self) -> None:
        self._process.communicate(timeout=60)


def _ask(clients: Sequence[_Client], command: str) -> list[dict[str, Any]]:
    for client in clients:
        client.tell(command)
    return [client.answer() for client in clients]


def _settle(clients: Sequence[_Client]) -> int:
    """Sync all until nothing moves any more; how many syncs each of them needed."""
    for count in range(1, _MOST_SETTLING):
        if not any(sync["moved"] for answer in _ask(clients, "sync") for sync in answer["syncs"]):
            return count
    raise RuntimeError(f"records still move after {_MOST_SETTLING} syncs")


def _throughput(answers: Sequence[dict[str, Any]], seconds: float) -> dict[str, Any]:
    syncs = [sync for answer in answers for sync in answer["syncs"]]
    took = sorted(sync["ms"] for sync in syncs)
    return {
        "syncs": len(syncs),
        "seconds": round(seconds, 1),
        "syncs a second": round(len(syncs) / seconds, 1),
        "files pushed": sum(sync["pushed"] for sync in syncs),
        "files pushed a second": round(sum(sync["pushed"] for sync in syncs) / seconds, 1),
        "conflicts": sum(sync["conflicts"] for sync in syncs),
        "syncs that left something for the next": sum(sync["outdated"] > 0 for sync in syncs),
        "sync p50 ms": round(took[len(took) // 2]),
        "sync p95 ms": round(took[min(int(len(took) * 0.95), len(took) - 1)]),
    }


def _places(written: Sequence[str], folders: Sequence[Path], url: str) -> dict[str, int]:
    """Count the decisions by place. Raises RuntimeError if one is nowhere, or if the replicas differ."""
    replicas = [_files(folder / "remotes" / _REPLICA / "store") for folder in folders]
    if any(replica != replicas[0] for replica in replicas):
        raise RuntimeError("the replicas differ")
    records = {path: data for path, data in replicas[0].items() if path.startswith("decisions/")}
    current = [str(memory.parse(data, path).content["decision"]) for path, data in records.items()]
    drafts = [data.decode() for path, data in replicas[0].items() if path.startswith("inbox/")]
    places = {
        "in force": "\n".join(current),
        "in a draft that a conflict left": "\n".join(drafts),
        "replaced, in the history of its record": "\n".join(data.decode() for data in records.values()),
        "replaced, in the history of the hub": _history(url),
    }
    counts = dict.fromkeys(places, 0)
    for text in written:
        kind = next((kind for kind, texts in places.items() if text in texts), "")
        if not kind:
            raise RuntimeError(f"lost: {text}")
        counts[kind] += 1
    return counts


def _files(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.glob("*/*.json"))}


def _history(url: str) -> str:
    from onrecord.shared import hub_connection, remotes

    with hub_connection.connect(remotes.parse_team_address(url)) as session:
        rows = session.execute("SELECT data FROM onrecord.history", binary=True).fetchall()
    return "\n".join(row[0].decode() for row in rows)


def _make_contested(url: str) -> None:
    transport = PostgresTransport(url)
    records = [_decision(f"contested-{number:02}", "nobody wrote this") for number in range(CONTESTED)]
    present = {version.path: content_hash(version.data) for version in transport.pull("").versions}
    transport.push([Push(each.path, memory.render(each), present.get(each.path, "")) for each in records])
    transport.close()


def _decision(id: str, text: str) -> Memory:
    now = timestamps.now()
    content = {"status": "accepted", "context": "c", "decision": text, "rationale": ["r"]}
    title = id.replace("-", " ").capitalize()
    return Memory("decision", id, title, content, created_at=now, updated_at=now, tags=("bench",))


def main(url: str, number: str) -> int:
    """Do what standard input says, and answer in JSON."""
    replica, transport = Replica(_REPLICA), PostgresTransport(url)
    for line in sys.stdin:
        verb, _, rounds = line.strip().partition(" ")
        written: list[str] = []
        syncs = []
        for turn in range(int(rounds or 1)):
            if verb == "work":
                written.append(_change(replica, number, turn))
            syncs.append(_sync(replica, transport))
        print(json.dumps({"written": written, "syncs": syncs}), flush=True)
    transport.close()
    return 0


def _change(replica: Replica, number: str, turn: int) -> str:
    """Save a record, and rewrite the decision of one that others rewrite too; the text of that."""
    writer = Writer(Store(replica.store), load_settings(replica.store))
    writer.save(_decision(f"record-of-client-{number}-{turn}", "only this client writes it"))
    text = f"written by client {number} in turn {turn} at {time.time_ns()}."
    entry = writer.store.get(f"contested-{random.randrange(CONTESTED):02}")
    writer.update(entry.memory.id, {"content": {"decision": text}}, entry.hash)
    return text


def _sync(replica: Replica, transport: PostgresTransport) -> dict[str, float]:
    began = time.perf_counter()
    done = engine.sync(replica, transport)
    return {
        "ms": (time.perf_counter() - began) * 1000,
        "pushed": len(done.pushed),
        "moved": len(done.pushed) + len(done.pulled),
        "conflicts": len(done.conflicts),
        "outdated": len(done.outdated),
    }


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
