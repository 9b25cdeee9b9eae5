"""`python -m bench web`: what the pages of `onrecord web` cost the server, with 10,000 records and 20,000 files."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import latency, results, scale

_PAGES = {
    "start": "/",
    "search": "/search?q=brock+pom&part=1",
    "all records": "/search",
    "record": "",
    "inbox": "/inbox",
    "agent": "/agent?prompt=brock+pom",
    "timeline": "/timeline",
    "map": "/map",
    "map of a folder": "/map?folder=src/part_3",
    "health": "/health",
    "usage": "/usage",
    "settings": "/settings",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, default=10_000, help="records in the store (default 10,000)")
    parser.add_argument("--files", type=int, default=20_000, help="files in the repository (default 20,000)")
    parser.add_argument("--times", type=int, default=11, help="requests for each page (default 11)")


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="onrecord-web-") as folder:
        measured = measure(Path(folder), options.size, options.files, options.times)
    print(json.dumps(measured))
    results.save(
        "web", {"python": sys.version.split()[0], "records": options.size, "files": options.files, "pages": measured}
    )
    return 0


def measure(folder: Path, size: int, files: int, times: int) -> dict[str, float]:
    """Return median milliseconds of CPU time for each page; the first request in two seconds compares all files."""
    from starlette.testclient import TestClient

    from onrecord.web import access, server, view

    root = folder / "project"
    latency.write_store(root / ".claude" / "memory", size)
    _commit_files(root, files)
    _name_files(root / ".claude" / "memory", files)
    scale.prepare(folder, root / ".claude" / "memory")
    site = view.Site(str(root), access.Access(8700))
    client = TestClient(server.create_app(site), base_url=f"http://{site.access.host}{site.access.prefix}")
    client.get(site.access.new_address())
    record = next((root / ".claude" / "memory" / "decisions").iterdir()).name
    pages = {**_PAGES, "record": f"/record/project/decisions/{record}"}
    first = {f"{name}, first": _median(client, pages[name], times, site.check_again) for name in ("start", "search")}
    return {**first, **{name: _median(client, path, times, lambda: None) for name, path in pages.items()}}


def _commit_files(root: Path, files: int) -> None:
    """Make a repository with so many files, in 40 folders of 10 folders each."""
    for number in range(files):
        path = root / "src" / f"part_{number % 40}" / f"folder_{number % 400}" / f"file_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for command in (["init", "-q"], ["add", "src"]):
        subprocess.run(["git", *command], cwd=root, check=True, timeout=120)


def _name_files(store: Path, files: int) -> None:
    """Let two of three records name a file or a folder of the repository, and one of fifty a pattern."""
    for number, path in enumerate(sorted(store.rglob("r*.json"))):
        if number % 3 == 0:
            continue
        place = number * 7919 % files
        folder = f"src/part_{place % 40}"
        near = f"{folder}/folder_{place % 400}"
        name = f"{near}/file_{place}.py" if number % 3 == 1 else f"{near}/"
        record = json.loads(path.read_text())
        record["related_files"] = [f"{folder}/**/*.py" if number % 50 == 1 else name]
        path.write_text(json.dumps(record, indent=2) + "\n")


def _median(client: object, path: str, times: int, before: Callable[[], None]) -> float:
    spent = []
    for _ in range(times):
        before()
        begun = time.process_time()
        answer = client.get(path)  # type: ignore[attr-defined]
        spent.append((time.process_time() - begun) * 1000)
        assert answer.status_code == 200, (path, answer.status_code)
    return round(statistics.median(spent), 1)
