"""A server that lets everybody in as Postgres does, and then answers as a test says."""

from __future__ import annotations

import contextlib
import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .cutting_proxy import NAME

READY = b"Z\x00\x00\x00\x05I"
LET_IN = b"R\x00\x00\x00\x08\x00\x00\x00\x00" + b"".join(
    b"S" + struct.pack("!I", 4 + len(setting)) + setting
    for setting in (b"server_version\x0015.0\x00", b"client_encoding\x00UTF8\x00")
)
TEXT, BYTES = 25, 17


def message(kind: bytes, body: bytes) -> bytes:
    """Return a message of the protocol: kind, length and body."""
    return kind + struct.pack("!I", len(body) + 4) + body


def columns(*types: int) -> bytes:
    """Return the description that precedes rows with these columns."""
    return message(b"T", struct.pack("!h", len(types)) + b"".join(map(_column, types)))


def _column(type: int) -> bytes:
    return b"x\x00" + struct.pack("!IhIhih", 0, 0, type, -1, -1, 1)


def row(*values: bytes) -> bytes:
    return message(
        b"D", struct.pack("!h", len(values)) + b"".join(struct.pack("!I", len(value)) + value for value in values)
    )


def failure(sqlstate: str, text: str) -> bytes:
    """Return the answer of a server that denies access."""
    fields = ("SFATAL", "VFATAL", f"C{sqlstate}", f"M{text}")
    return message(b"E", b"".join(field.encode() + b"\x00" for field in fields) + b"\x00")


@contextmanager
def false_server(greeting: bytes, answer: Iterable[bytes] = ()) -> Iterator[str]:
    """Yield the address of a server that greets one client and then sends one answer."""
    folder = Path(tempfile.mkdtemp(prefix="false-", dir="/tmp"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / NAME))
    listener.listen()

    def serve() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as client:
            client.recv(10_000)
            client.sendall(greeting)
            if greeting.endswith(READY) and client.recv(10_000):
                for part in answer:
                    client.sendall(part)
                    _wait_until_read(client)
                while client.recv(10_000):
                    pass

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield f"postgresql://ann@/memory?host={folder}"
    finally:
        listener.close()
        shutil.rmtree(folder)


def _wait_until_read(client: socket.socket) -> None:
    """Send no faster than the client reads, as over a network."""
    # Windows has neither.
    import fcntl
    import termios

    while fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)) != bytes(4):
        pass
