"""Servers of git for tests, on loopback: OpenSSH's own, and git's own program for HTTP behind Python's."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.time_limit import PATIENCE

LOGIN, PASSWORD = "ann", "correct horse"
_ANSWERED_AS = {"Content-Type": "CONTENT_TYPE", "Content-Encoding": "HTTP_CONTENT_ENCODING"}


class _GitOverHttp(BaseHTTPRequestHandler):
    """Hands every request with the right password to `git http-backend`."""

    root = ""

    def do_GET(self) -> None:
        expected = "Basic " + base64.b64encode(f"{LOGIN}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != expected:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="memory"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        command = ("git", "http-backend")
        self._answer(
            subprocess.run(command, input=body, env=self._environment(), capture_output=True, check=True, timeout=120)
        )

    do_POST = do_GET

    def _environment(self) -> dict[str, str]:
        path, _, query = self.path.partition("?")
        variables = {name: self.headers[header] for header, name in _ANSWERED_AS.items() if header in self.headers}
        return {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            **variables,
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_USER": LOGIN,
        }

    def _answer(self, process: subprocess.CompletedProcess[bytes]) -> None:
        head, _, body = process.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def http(folder: Path) -> Iterator[str]:
    """Yield the address of an HTTP server for the repositories of a folder; LOGIN and PASSWORD may write."""
    handler = type("Handler", (_GitOverHttp,), {"root": str(folder)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Ssh:
    """An SSH server that lets one key in, and how a client that has the key, and knows the server, calls `ssh`."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.address = f"ssh://{_user()}@127.0.0.1:{port}"
        for name in ("host", "user", "stranger"):
            words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / name))
            subprocess.run(words, check=True, timeout=120)
        shutil.copy(folder / "user.pub", folder / "authorized")
        (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
        (folder / "config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nStrictModes no\nUsePAM no\n"
            f"AuthorizedKeysFile {folder}/authorized\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        )

    def client(self, key: str = "user", known_hosts: str = "known") -> str:
        """Return a value for GIT_SSH_COMMAND."""
        return (
            f"ssh -F none -i {self.folder}/{key} -o IdentitiesOnly=yes -o IdentityAgent=none"
            f" -o UserKnownHostsFile={self.folder}/{known_hosts} -o GlobalKnownHostsFile=none"
        )


@contextmanager
def ssh(folder: Path) -> Iterator[Ssh]:
    """Yield a running SSH server."""
    folder.mkdir()
    if os.geteuid() == 0:
        # OpenSSH's own folder, which its service makes where there is one.
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Ssh(folder, port)
    with (folder / "log").open("wb") as log:
        words = ("/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "config"))
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=log) as process:
            try:
                _wait(port, process, folder / "log")
                yield server
            finally:
                process.terminate()


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError(f"sshd did not start: {log.read_text()}")


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.geteuid()).pw_name
