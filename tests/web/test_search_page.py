"""The search page: facets with their numbers, addresses that keep a search, all stores, and nothing that can inject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from onrecord import paths
from onrecord.shared import remotes
from onrecord.usage import usage_log
from onrecord.web import search_page
from onrecord.web.search_page import FacetRow, Selection
from tests.git_project import GitProject
from tests.records import put, sample

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


def _choices(text: str) -> dict[str, str]:
    """The chips of a page, with their numbers."""
    chips = re.findall(r'data-choice="([^"]*)".*?chip-number">([\d,]+)<', text, re.DOTALL)
    return dict(chips)


def _titles(text: str) -> list[str]:
    links = re.findall(r'<a class="row-title"[^>]*>(.*?)</a>', text)
    return [re.sub(r"<[^>]+>", "", link) for link in links]


def _row(number: int, category: str = "decision", tags: Sequence[str] = (), files: Sequence[str] = ()) -> FacetRow:
    return FacetRow(f"{number}.json", "project", category, "active", tags, files, False, False)


def test_the_numbers_of_a_facet_are_those_with_the_other_facets_as_chosen():
    rows = [_row(1, tags=("a",)), _row(2, tags=("b",)), _row(3, "constraint", ("a",))]

    accepted, shown = search_page.narrow(rows, Selection("", {"category": "decision"}))

    assert accepted == rows[:2]
    numbers = {(choice.facet, choice.value): choice.number for facet in shown for choice in facet.choices}
    assert numbers == {
        ("category", "decision"): 2, ("category", "constraint"): 1, ("tag", "a"): 1, ("tag", "b"): 1,
    }  # fmt: skip


def test_a_chosen_value_that_no_record_has_can_still_be_taken_off():
    _, shown = search_page.narrow([_row(1)], Selection("words", {"tag": "gone"}))

    (choice,) = [choice for facet in shown for choice in facet.choices if choice.is_chosen]
    assert (choice.value, choice.number, choice.address) == ("gone", 0, "/search?q=words")


@pytest.mark.parametrize(
    ("file", "wanted", "is_found"),
    [
        ("src/auth/session.py", "src/auth/session.py", True),
        ("src/auth/session.py", "src/auth/", True),
        ("src/auth/", "src/auth/session.py", True),
        ("src/**/*.py", "src/auth/session.py", True),
        ("src/auth/session.py#expiry", "src/auth/session.py", True),
        ("src/auth/session.py", "src/au", False),
        ("docs/", "src/auth/session.py", False),
    ],
)
def test_the_facet_of_a_file_goes_by_what_records_name(file, wanted, is_found):
    row = _row(1, files=(file,))

    assert search_page.narrow([row], Selection("", {"file": wanted}))[0] == ([row] if is_found else [])


def test_an_address_says_all_of_a_search_and_is_read_back():
    chosen = {"store": "a b", "tag": "c&d=e", "file": "ä/ü", "never": "1"}
    wanted = Selection("50 % of ä & ö", chosen, 3)

    params = dict(parse_qsl(urlsplit(wanted.address(page_number=3)).query))
    assert search_page.read_selection(params, int(params["page"]), 2_000) == wanted


def test_without_words_all_stores_are_listed_with_their_names(browser, project, save):
    save("Project record")
    put(paths.user_store(), sample("decision", id="mine", title="My own record"))

    text = browser.get("/search").text

    assert sorted(_titles(text)) == ["My own record", "Project record"]
    assert _choices(text)["store=project"] == _choices(text)["store=user"] == "1"
    assert _titles(browser.get("/search?store=user").text) == ["My own record"]


def test_records_of_shared_stores_are_listed_and_narrowed(browser, save):
    remotes.add("platform", "/srv/memory.git")
    put(paths.accepted("platform").root, sample("decision", id="shared", title="Shared by the platform team"))
    save("Project record")

    text = browser.get("/search?store=platform").text

    assert _titles(text) == ["Shared by the platform team"]
    assert "/record/platform/decisions/shared.json" in text


def test_never_shown_and_corrected_are_facets(browser, project, save):
    shown, corrected, never = (save(title).path for title in ("Was shown", "Was broken", "Never came up"))
    usage_log.append(project.store.root, [("injected", shown), ("injected", corrected)])
    usage_log.add_correction(project.store.root, corrected, "codex")

    assert never
    assert _titles(browser.get("/search?never=1").text) == ["Never came up"]
    assert _titles(browser.get("/search?corrected=1").text) == ["Was broken"]


def test_words_are_marked_in_title_and_passage(browser, save):
    save("Sessions live in Postgres")

    text = browser.get("/search?q=postgres+sess").text

    assert "<mark>Sessions</mark> live in <mark>Postgres</mark>" in text


def test_of_a_script_without_spaces_the_characters_of_the_query_are_marked(browser, project):
    """Half of a sentence was marked."""
    content = {
        "context": "フェイルオーバーでRedisがセッションを失った",
        "decision": "表に保存する",
        "rationale": ["部品が減る"],
    }
    project.save("decision", {"title": "セッションはPostgresに保存する", "content": content})

    text = browser.get("/search?q=セッション").text

    assert "<mark>セッション</mark>はPostgresに保存する" in text
    assert re.findall(r"<mark>([^<]*)</mark>", text) == ["セッション", "セッション"]


def test_nothing_typed_or_saved_becomes_markup(browser, save):
    save(f"Title {HOSTILE}"[:150], tags=["x"])

    for address in (f"/search?q={quote(HOSTILE)}", f"/search?tag={quote(HOSTILE)}", "/search?q=title+script+alert"):
        for part in ("", "&part=1"):
            text = browser.get(address + part).text
            assert "<script>alert" not in text and "<img" not in text
    assert "<img" not in browser.get("/search?q=title+alert").text


def test_marks_in_a_record_are_marks_and_no_more():
    hostile = f"a {search_page._OPEN}{search_page._OPEN}<b>{search_page._CLOSE}{search_page._CLOSE} & c"

    assert str(search_page._marked(hostile)) == "a <mark></mark><mark>&lt;b&gt;</mark> &amp; c"


def test_a_long_list_has_pages_that_keep_the_facets(browser, project):
    with project.store.writing() as batch:
        for number in range(70):
            batch.put(sample("decision", id=f"record-{number}", title=f"Record {number}", tags=["x"]))

    first, last = browser.get("/search?tag=x").text, browser.get("/search?tag=x&page=3").text

    assert (len(_titles(first)), len(_titles(last))) == (30, 10)
    assert "tag=x&amp;page=2" in first and 'rel="prev"' in last and 'rel="next"' not in last


def test_the_palette_gets_a_few_results_with_whole_addresses(browser, save):
    save("Sessions live in Postgres")

    (found,) = browser.client.get("/search.json?q=postgres").json()

    assert found == {
        "title": "Sessions live in Postgres",
        "category": "decision",
        "store": "project",
        "address": f"{browser.access.prefix}/record/project/decisions/sessions-live-in-postgres.json",
        "snippet": found["snippet"],
    }
    assert browser.client.get("/search.json").json() == []


def test_ids_are_offered_by_id_and_title_those_that_begin_so_first(browser, save):
    save("Use uv for installs")
    save("Sessions live in Postgres")
    save("Postgres is the only database")

    offers = browser.client.get("/pick/ids?q=Postgres").json()

    assert [(offer["value"], offer["label"], offer["note"]) for offer in offers] == [
        (
            "postgres-is-the-only-database",
            "Postgres is the only database",
            "postgres-is-the-only-database · project",
        ),
        ("sessions-live-in-postgres", "Sessions live in Postgres", "sessions-live-in-postgres · project"),
    ]
    assert browser.client.get("/pick/ids?q=%25").json() == []


def test_ids_are_offered_by_words_in_any_order_and_of_the_store_that_is_asked_for(browser, project, save):
    save("Sessions live in Postgres")
    put(paths.user_store(), sample("decision", id="mine", title="Sessions of my own"))

    def offered(query: str) -> list[str]:
        return [offer["value"] for offer in browser.client.get(f"/pick/ids?q={query}").json()]

    assert offered("postgres+sess") == ["sessions-live-in-postgres"]
    assert offered("sessions&store=user") == ["mine"]
    assert sorted(offered("sessions")) == ["mine", "sessions-live-in-postgres"]
    assert offered("sessions&store=nowhere") == []


def test_tags_are_offered_by_how_often_they_are_used(browser, save):
    save("One", tags=["auth", "database"])
    save("Two", tags=["auth"])

    assert browser.client.get("/pick/tags?q=a").json() == [
        {"value": "auth", "label": "auth", "note": "2 records"},
        {"value": "database", "label": "database", "note": "1 record"},
    ]


def test_files_are_offered_as_git_tracks_them_with_their_folders(browser, project, save):
    repository = GitProject(Path(project.root))
    repository.write("src/auth/session.py", "")
    repository.write("src/web/author.py", "")
    repository.commit()
    Path(project.root, "auth-secret.txt").write_text("not tracked")

    offered = [offer["value"] for offer in browser.client.get("/pick/files?q=auth").json()]

    assert offered == ["src/auth/", "src/web/author.py", "src/auth/session.py"]
    assert all("secret" not in name for name in offered)


@pytest.mark.parametrize("path", ["/search.json?q=x", "/pick/ids?q=x", "/pick/tags?q=x", "/pick/files?q=x"])
def test_what_is_picked_from_is_for_the_user_alone(browser, save, path):
    save()

    browser.client.cookies.clear()

    assert browser.client.get(path).status_code == 403


def test_a_query_without_end_is_cut(browser, save):
    save()

    assert browser.get(f"/search?q={'x' * 3_000}&tag={'y' * 3_000}").status_code == 200
    assert browser.client.get(f"/pick/ids?q={'x' * 3_000}").json() == []
