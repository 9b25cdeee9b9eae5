"""A connection to a server that breaks at a message of our choice."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import threading
from pathlib import Path

NAME = ".s.PGSQL.5432"


class CuttingProxy:
    """Passes on what a client and a server say, and cuts at the n-th message of the client.

    The message is lost on its way, or, `is_heard`, the server gets it and only its answer is lost. With `cuts` the
    client gets through again after so many cuts.
    """

    def __init__(self, server: str, at: int, *, is_heard: bool, cuts: int = 1_000) -> None:
        self._server, self._at, self._is_heard, self._cuts = server, at, is_heard, cuts
        # A path of a socket has at most 107 bytes, and folders of tests are long.
        self.folder = Path(tempfile.mkdtemp(prefix="cut-", dir="/tmp"))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / NAME))
        self._listener.listen()
        self.messages = 0
        self.was_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        shutil.rmtree(self.folder)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(os.path.join(self._server, NAME))
                threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        answers = threading.Thread(target=self._answer, args=(server, client), daemon=True)
        answers.start()
        with contextlib.suppress(OSError), client, server:
            while message := client.recv(1 << 20):
                self.messages += 1
                if self.messages >= self._at and self._cuts:
                    self._cut(client, server, message)
                    return
                server.sendall(message)

    def _cut(self, client: socket.socket, server: socket.socket, message: bytes) -> None:
        self.was_cut = True
        self._cuts -= 1
        # From here on no answer gets through.
        client.shutdown(socket.SHUT_WR)
        if self._is_heard:
            server.sendall(message)
            server.shutdown(socket.SHUT_WR)
            while server.recv(1 << 20):
                pass

    @staticmethod
    def _answer(server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while answer := server.recv(1 << 20):
                client.sendall(answer)
