"""Syncs over a network that breaks in the middle of a fetch, and again when it is back.

Run in a network namespace of its own: `unshare -rn python -m tests.shared.dropped_network <repository> <replica>`. The
repository is served by git's own daemon, behind a proxy that counts what it passes on; at a number of bytes the
loopback device goes down, and both ends wait for packets that never come. Prints a JSON object for each sync.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from onrecord.errors import OnrecordError
from onrecord.shared import engine, git_transport
from onrecord.shared.replicas import Replica
from tests.time_limit import PATIENCE

_SIOCSIFFLAGS = 0x8914
_UP_RUNNING, _DOWN = 0x1 | 0x40, 0
_BROKEN_SECONDS = 1.0
"""Seconds for the fetch whose network breaks; the one that is meant to work has as many as git ever gets."""


def switch(flags: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags))


class Proxy:
    """Passes bytes between git and the daemon, and takes the network down after some from the daemon."""

    def __init__(self, daemon: int) -> None:
        self._daemon = daemon
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.left: float = float("inf")
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            caller, _ = self._listening.accept()
            server = socket.create_connection(("127.0.0.1", self._daemon))
            threading.Thread(target=self._pass_on, args=(caller, server), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, caller, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, counts: bool = False) -> None:
        while data := source.recv(4_096):
            if counts:
                self.left -= len(data)
                if self.left < 0:
                    switch(_DOWN)
                    return
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def serve(folder: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start git's daemon on a free port, and wait until it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    where = (f"--base-path={folder}", f"--port={port}", "--listen=127.0.0.1")
    nothing = subprocess.DEVNULL
    words = ("git", "daemon", "--export-all", "--reuseaddr", *where)
    process = subprocess.Popen(words, stdout=nothing, stderr=nothing, start_new_session=True)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except ConnectionRefusedError:
            assert process.poll() is None and time.monotonic() < deadline, "git daemon does not answer"
            time.sleep(0.01)


def report(name: str, url: str) -> None:
    replica = Replica(name)
    try:
        result = engine.sync(replica, git_transport.GitTransport(url, replica.repository))
        facts = {"pulled": len(result.pulled), "error": ""}
    except OnrecordError as error:
        facts = {"pulled": 0, "error": error.code}
    records = sum(len(names) for folder, _, names in os.walk(replica.store) if os.path.basename(folder) == "decisions")
    state = replica.state
    print(json.dumps({**facts, "records": records, "is_offline": bool(state.offline_since)}), flush=True)


def main(repository: str, name: str) -> None:
    switch(_UP_RUNNING)
    daemon, port = serve(os.path.dirname(repository))
    proxy = Proxy(port)
    url = f"git://127.0.0.1:{proxy.port}/{os.path.basename(repository)}"
    try:
        proxy.left = 30_000
        seconds, git_transport._TRANSFER_SECONDS = git_transport._TRANSFER_SECONDS, _BROKEN_SECONDS
        report(name, url)
        git_transport._TRANSFER_SECONDS = seconds
        switch(_UP_RUNNING)
        proxy.left = float("inf")
        report(name, url)
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
