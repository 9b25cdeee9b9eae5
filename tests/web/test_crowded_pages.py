"""What pages leave out of a project that has more of everything than a page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.project import Project
from onrecord.store.inbox import new_draft
from onrecord.usage import event_log, usage_log
from onrecord.usage.event_log import Event
from tests import conftest
from tests.git_project import GitProject
from tests.records import sample
from tests.web.conftest import Browser

RECORDS, FILES, TAGS, DRAFTS, SHOWINGS = 401, 401, 41, 21, 201


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with pytest.MonkeyPatch.context() as patch:
        conftest._move_home(patch, tmp_path_factory.mktemp("home"))
        root = tmp_path_factory.mktemp("projects") / "ferry"
        repository = GitProject(root)
        for number in range(FILES):
            repository.write(f"src/f{number}.py", "")
        repository.commit()
        _fill(Project(str(root)))
        yield Browser(root)


@pytest.fixture(autouse=True)
def home() -> None:
    """Keep the home of the project, in place of one for each test."""


def _fill(project: Project) -> None:
    begin = timestamps.seconds("2025-01-01")
    paths = []
    with project.store.writing() as batch:
        for number in range(RECORDS):
            day = timestamps.from_seconds(begin + number * 86_400)
            record = sample(
                id=f"record-{number}",
                title=f"Ferry timetable {number}",
                tags=[f"tag-{number % TAGS}"],
                related_files=["src/", f"src/f{number % 7}.py"] if number < RECORDS // 2 + 1 else [],
                triggers=["a ferry timetable"],
                created_at=day,
                updated_at=day,
            )
            paths.append(record.path)
            batch.put(record)
        for number in range(DRAFTS):
            name = f"draft-{number}"
            batch.put_draft(new_draft(sample(id=name, title=f"Draft {number} about boats")))
    usage_log.append(project.store.root, [("injected", path) for path in paths[:51]])
    moment = timestamps.days_before(timestamps.now(), 1)
    events = [
        Event(moment, "shown", "codex", event_log.session_key(str(number)), "prompt", "rule", paths[number])
        for number in range(SHOWINGS)
    ]
    log = Path(event_log.log_file(project.store.root))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(map(event_log.render, events)), encoding="utf-8")


def _section(text: str, mark: str) -> str:
    """Return the section or list with this attribute."""
    match = re.search(rf"<(section|aside|ul|article)\b[^>]*{mark}.*?</\1>", text, re.DOTALL)
    assert match, mark
    return match[0]


def _rows(text: str) -> int:
    return len(re.findall(r'<li class="row\b', text))


def test_start_has_the_newest_of_each(browser):
    text = browser.get("/").text

    assert _rows(_section(text, 'id="changed-lately"')) == 8
    shown = _section(text, 'id="shown"')
    assert shown.count('action="/feedback"') == 8
    assert ">The newest 200</a>" in shown


def test_usage_has_two_hundred_showings_and_fifty_records(browser):
    text = browser.get("/usage").text

    assert text.count('action="/feedback"') == 200
    table = _section(text, 'aria-labelledby="records"')
    assert (table.count('<th scope="row">'), "and 1 more" in table) == (50, True)


def test_the_timeline_has_two_hundred_records_on_a_page_and_four_hundred_in_the_picture(browser):
    first, second, third = (browser.get(f"/timeline?page={number}").text for number in (1, 2, 3))

    assert [text.count('class="row-title"') for text in (first, second, third)] == [200, 200, 1]
    assert "The picture has the newest 400." in first
    drawn = first.count('class="target"') + sum(map(int, re.findall(r">\+(\d+)<", first)))
    assert (drawn, '<svg class="timeline"' in second) == (400, False)
    assert ['rel="next"' in text for text in (first, second, third)] == [True, True, False]
    assert ['rel="prev"' in text for text in (first, second, third)] == [False, True, True]


def test_the_map_lists_so_many_records_files_and_tags(browser):
    text = browser.get("/map?folder=src").text

    records = _section(text, "data-map-records")
    assert _rows(records) == 200
    assert "201 records about src" in re.sub("<[^>]+>", "", text) and "and 1 more" in text
    assert text.count('<th scope="row">') == 200 and "and 200 more" in text
    assert _section(browser.get("/map").text, 'aria-labelledby="tags"').count('class="chip"') == 40


def test_the_list_marks_so_many_records_of_one_box(browser):
    text = browser.get("/map?folder=src").text

    marked = [numbers.split() for numbers in re.findall(r'data-records="([^"]+)"', text)]
    assert max(map(len, marked)) == 20
    assert len(re.findall(r"<a [^>]*data-records|<g [^>]*data-records", text)) <= 360


def test_the_inbox_has_twenty_drafts_on_a_page(browser):
    first, second = browser.get("/inbox").text, browser.get("/inbox?page=2").text

    assert (first.count("<article"), second.count("<article")) == (20, 1)
    assert "21 drafts to review; this page shows 1 to 20" in first
    assert "21 drafts to review; this page shows 21 to 21" in second
    assert browser.get("/inbox?page=3").text.count("<article") == 1


def test_a_search_has_thirty_results_on_a_page_and_reasons_for_the_first_five(browser):
    first, second = (browser.get(f"/search?q=ferry+timetable&page={number}").text for number in (1, 2))

    assert (first.count('<li class="result">'), first.count("<summary>Why</summary>")) == (30, 5)
    assert second.count("<summary>Why</summary>") == 0
    assert re.search(r'role="status">\d+ records</p>', first)


def test_facets_offer_the_most_frequent_choices(browser):
    text = browser.get("/search").text

    offered = re.findall(r'data-choice="([a-z]+)=', text)
    assert (offered.count("tag"), offered.count("file")) == (12, 6)
    assert "401 records" in text and "of the newest or best" not in text


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/search.json?q=ferry+timetable", 8),
        ("/pick/ids?q=record", 20),
        ("/pick/tags?q=tag", 20),
        ("/pick/files?q=src", 20),
    ],
)
def test_a_field_offers_so_many_values(browser, path, number):
    assert len(browser.client.get(path).json()) == number


@pytest.mark.parametrize(
    ("path", "field", "limit"),
    [
        ("/search?q=", r'name="q" value="(x*)"', 2_000),
        ("/search?tag=", r'data-choice="tag=(x*)"', 300),
        ("/timeline?tag=", r'id="tag" name="tag" value="(x*)"', 100),
        ("/agent?prompt=", r"<textarea[^>]*>\n?(x*)</textarea>", 8_000),
    ],
)
def test_what_an_address_says_is_cut(browser, path, field, limit):
    long, longer = (browser.get(f"{path}{'x' * length}").text for length in (limit, limit + 1))

    assert [len(re.search(field, text)[1]) for text in (long, longer)] == [limit, limit]
