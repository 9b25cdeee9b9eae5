"""What open pages are told: the version of the stores, what is due, and for how long it is kept."""

from __future__ import annotations

import asyncio
import json
import os
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from onrecord import attention, paths
from onrecord.attention import Need
from onrecord.categories import CATEGORIES
from onrecord.errors import NoStore
from onrecord.shared import remotes, replicas
from onrecord.usage import event_log, usage_log
from onrecord.web import live
from onrecord.web.live import Live


def _need(kind: str, number: int) -> Need:
    return Need(kind, "title", "sentence", "", "/", "project", number)


def test_drafts_and_conflicts_of_all_stores_are_due_in_the_inbox(project, save, monkeypatch):
    save()
    needs = [_need(kind, 2) for kind in attention.KINDS]
    monkeypatch.setattr(attention, "needs", lambda project, compare: needs)
    site = Live(project.root)

    news = site.news()

    assert news == (site.version(), {"/": len(attention.KINDS), "/inbox": 6})


def test_what_needs_a_person_is_looked_for_again_after_half_a_minute_or_a_change(project, save, monkeypatch):
    save()
    calls: list[float] = []
    clock = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(attention, "needs", lambda project, compare: calls.append(clock.now) or [_need("draft", 1)])
    site = Live(project.root)

    for clock.now in (1_000.0, 1_030.0, 1_030.1, 1_040.0):
        assert site.needs() == [_need("draft", 1)]
    save("Another decision")
    site.needs()

    assert calls == [1_000.0, 1_030.1, 1_040.0]


def test_the_list_of_needs_is_a_copy(project, save):
    save()
    site = Live(project.root)

    site.needs().append(_need("draft", 1))

    assert _need("draft", 1) not in site.needs()


def test_files_are_compared_for_a_second_once_for_each_store(project, save, monkeypatch):
    save()
    calls: list[tuple[str, float]] = []
    monkeypatch.setattr(attention, "changed_files", lambda root, patience: calls.append((root, patience)) or root)
    site = Live(project.root)

    answers = [site.changed_files(root) for root in ("a", "b", "a")]

    assert (answers, calls) == (["a", "b", "a"], [("a", 1.0), ("b", 1.0)])


def _touch(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.isdir(path):
        path = os.path.join(path, "new")
    with open(path, "a", encoding="utf-8") as file:
        file.write("x")


@pytest.mark.parametrize(
    "name", [*(category.folder for category in CATEGORIES.values()), paths.INBOX, paths.CONFIG, ""]
)
@pytest.mark.parametrize("is_own", [True, False])
def test_a_change_in_any_part_of_a_store_is_news(project, save, name, is_own):
    save()
    root = project.user.root if is_own else project.store.root
    path = os.path.join(root, name)
    os.makedirs(root if name == paths.CONFIG else path, exist_ok=True)
    before = Live(project.root).version()

    _touch(path)

    assert Live(project.root).version() != before


@pytest.mark.parametrize("what", ["accepted", "replica", "inbox", "state", "remotes", "events", "usage"])
def test_a_change_of_a_shared_store_or_a_log_is_news(project, save, what):
    save()
    remotes.add("platform", "/srv/platform.git")
    replica = replicas.prepare("platform")
    os.makedirs(paths.accepted("platform").root, exist_ok=True)
    changed = {
        "accepted": os.path.join(paths.accepted("platform").root, "decisions"),
        "replica": os.path.join(replica.store, "decisions"),
        "inbox": os.path.join(replica.store, paths.INBOX),
        "state": os.path.join(replica.root, "new-state"),
        "remotes": paths.remotes_file(),
        "events": event_log.log_file(project.store.root),
        "usage": usage_log.log_file(project.store.root),
    }[what]
    if what in ("accepted", "replica", "inbox"):
        os.makedirs(changed, exist_ok=True)
    before = Live(project.root).version()

    _touch(changed)

    assert Live(project.root).version() != before


def test_news_are_sent_as_an_event():
    text = live._event(live.News("abc", live.Counter({"/": 2, "/inbox": 1})))

    event, data, end = text.split("\n", 2)
    assert (event, data[:6], end) == ("event: change", "data: ", "\n")
    assert json.loads(data[6:]) == {"version": "abc", "due": {"/": 2, "/inbox": 1}}


def _queues(number: int) -> set[asyncio.Queue]:
    return {asyncio.Queue() for _ in range(number)}


def test_twenty_browsers_have_a_stream(project):
    site = Live(project.root)
    site._streams = _queues(19)

    assert not site.is_full
    site._streams |= _queues(1)
    assert site.is_full

    async def collect() -> list[str]:
        return [text async for text in site.stream()]

    assert asyncio.run(collect()) == []


def test_a_stream_begins_with_when_to_come_back_and_the_news_and_ends_with_the_server(project, save):
    save()
    site = Live(project.root)

    async def collect() -> list[str]:
        stream = site.stream()
        texts = [await stream.__anext__(), await stream.__anext__()]
        assert len(site._streams) == 1
        site.close()
        return [*texts, *[text async for text in stream]]

    first, second = asyncio.run(collect())

    assert first == "retry: 4000\n\n"
    assert second == live._event(site.news())
    assert site.is_full and not site._streams


def test_a_store_that_cannot_be_read_for_a_moment_is_looked_at_again(project, save, monkeypatch):
    save()
    site = Live(project.root)
    versions = iter(["a", NoStore("gone"), OSError("gone"), "a", "b"])
    sent: asyncio.Queue = asyncio.Queue()
    slept: list[float] = []

    def version() -> str:
        answer = next(versions)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if not sent.empty():
            site._streams.clear()

    monkeypatch.setattr(site, "version", version)
    monkeypatch.setattr(site, "news", lambda: "news")
    monkeypatch.setattr(live.asyncio, "sleep", sleep)
    site._streams.add(sent)

    asyncio.run(site._watch())

    assert (slept, sent.qsize(), sent.get_nowait()) == ([2.0] * 5, 1, "news")
