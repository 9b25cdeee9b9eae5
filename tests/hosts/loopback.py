"""Runs a program in a fresh network namespace: raises loopback, opens the mock's port and hands it to the parent.

A socket belongs to the namespace it was made in, whoever holds it: so the mock can run in the test's own process and
still be the only thing the client can reach. The port is free, because nothing else runs in there.
Called as `unshare -rn python loopback.py <unix socket fd> <port> <program> …`.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys

_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x1 | 0x40


def main(parent: int, number: int, program: list[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP_RUNNING))
    with socket.create_server(("127.0.0.1", number), backlog=64) as port, socket.socket(fileno=parent) as back:
        socket.send_fds(back, [b"!"], [port.fileno()])
    os.execv(program[0], program)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
