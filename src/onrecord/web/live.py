"""The state that the pages of a server share: what needs a person, and `/events`.

`/events` tells open pages that something changed in the stores, and how much needs a person by now.

One watcher looks at the times of a few folders every two seconds, and only while a page listens. A stream is no
request: it does not keep the server from ending after an hour, and all streams end with it.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from onrecord import attention, paths
from onrecord.attention import ChangedFiles, Need
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import OnrecordError
from onrecord.project import Project
from onrecord.shared.replicas import Replica
from onrecord.usage import event_log, usage_log

PATH = "/events"
MAX_STREAMS = 20
"""One for each browser: its tabs share a stream."""

_CHECK_SECONDS = 2.0
_HEARTBEAT_SECONDS = 20.0
"""Time after which a stream without news sends a comment, so that a browser that is gone is noticed."""

_RETRY_MILLISECONDS = 4_000
_KEPT_SECONDS = 30.0
"""Time for which what was looked at is kept if no store changed: the project's files are not watched."""

_PATIENCE = 1.0
"""Seconds for git, which says whether files of records changed."""

_FOLDERS = (*(category.folder for category in CATEGORIES.values()), paths.INBOX, paths.CONFIG, "")


class News(NamedTuple):
    """The state of the stores: a hash that changes with them, and what waits on which page."""

    version: str
    due: Counter[str]


class Live:
    """The state that all pages of a server share: what needs a person, the open streams, and their watcher."""

    def __init__(self, project_dir: str) -> None:
        self._project_dir = project_dir
        self._lock = threading.Lock()
        self._needs: list[Need] | None = None
        self._changed: dict[str, ChangedFiles] = {}
        """The records whose files changed, of the stores whose files were compared."""
        self._looked_at = ("", -_KEPT_SECONDS)
        """The version of the stores, and the moment, that the needs and the changed files are of."""
        self._streams: set[asyncio.Queue[News | None]] = set()
        self._watcher: asyncio.Task[None] | None = None
        self._is_closed = False

    def version(self) -> str:
        """Return a hash that changes with any store of the project, and with what its agents were shown."""
        return content_hash("\n".join(_stamps(Project(self._project_dir))).encode("utf-8", "surrogateescape"))

    def needs(self) -> list[Need]:
        """Return what needs a person; it is looked for again if a store changed, or after half a minute."""
        with self._renewed():
            if self._needs is None:
                self._needs = attention.needs(Project(self._project_dir), compare=self._compare)
            return list(self._needs)

    def changed_files(self, store_root: str) -> ChangedFiles:
        """Return which records of a store are about files that changed, as the needs have it."""
        with self._renewed():
            return self._compare(store_root)

    @contextmanager
    def _renewed(self) -> Iterator[None]:
        """Take the lock, and forget what was found before a store changed, or half a minute ago."""
        version, now = self.version(), time.monotonic()
        with self._lock:
            last_version, at = self._looked_at
            if last_version != version or now - at > _KEPT_SECONDS:
                self._needs, self._changed, self._looked_at = None, {}, (version, now)
            yield

    def _compare(self, store_root: str) -> ChangedFiles:
        if store_root not in self._changed:
            self._changed[store_root] = attention.changed_files(store_root, _PATIENCE)
        return self._changed[store_root]

    def news(self) -> News:
        """Return the state of the stores now."""
        version, needs = self.version(), self.needs()
        drafts = (attention.DRAFT, attention.SHARED_DRAFT, attention.CONFLICT)
        in_inbox = sum(need.number for need in needs if need.kind in drafts)
        return News(version, Counter({"/": len(needs), "/inbox": in_inbox}))

    async def stream(self) -> AsyncIterator[str]:
        """Yield the state of the stores now, and again after each change, as server-sent events."""
        if self.is_full:
            # Others were let in between the check of the request and now.
            return
        queue: asyncio.Queue[News | None] = asyncio.Queue()
        self._streams.add(queue)
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.get_running_loop().create_task(self._watch())
        try:
            yield f"retry: {_RETRY_MILLISECONDS}\n\n"
            yield _event(await asyncio.to_thread(self.news))
            while not self._is_closed:
                try:
                    news = await asyncio.wait_for(queue.get(), _HEARTBEAT_SECONDS)
                except asyncio.TimeoutError:
                    yield ": still here\n\n"
                    continue
                if news is None:
                    return
                yield _event(news)
        finally:
            self._streams.discard(queue)

    @property
    def is_full(self) -> bool:
        return self._is_closed or len(self._streams) >= MAX_STREAMS

    def close(self) -> None:
        """End all streams, because the server ends."""
        self._is_closed = True
        for queue in self._streams:
            queue.put_nowait(None)
        if self._watcher:
            self._watcher.cancel()

    async def _watch(self) -> None:
        """Send the news of each change to all streams, as long as there are any."""
        last = ""
        while self._streams:
            try:
                version = await asyncio.to_thread(self.version)
                if last and version != last:
                    news = await asyncio.to_thread(self.news)
                    for queue in self._streams:
                        queue.put_nowait(news)
                last = version
            except (OnrecordError, OSError):
                # What cannot be read now is looked at again.
                pass
            await asyncio.sleep(_CHECK_SECONDS)


def _event(news: News) -> str:
    data = json.dumps({"version": news.version, "due": dict(news.due)})
    return f"event: change\ndata: {data}\n\n"


def _stamps(project: Project) -> Iterator[str]:
    """Yield the times of the last changes of what pages show: a record is replaced, never written in place."""
    try:
        refs = project.known_refs
    except OnrecordError:
        refs = []
    for ref in refs:
        for root in dict.fromkeys((ref.root, paths.working_root(ref.root))):
            yield from (_stamp(os.path.join(root, name)) for name in _FOLDERS)
        yield from (_stamp(log(ref.root)) for log in (event_log.log_file, usage_log.log_file))
        if paths.is_shared(ref.prefix):
            yield _stamp(Replica(paths.store_name(ref.prefix)).root)
    yield _stamp(paths.remotes_file())


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path}\t{status.st_mtime_ns}\t{status.st_ino}"


def events(request: Request) -> Response:
    """Send the news as a stream; a browser that gets 204 does not ask again."""
    live: Live = request.app.state.site.live
    if live.is_full:
        return Response(status_code=204)
    return StreamingResponse(live.stream(), media_type="text/event-stream")


ROUTES = (Route(PATH, events),)
