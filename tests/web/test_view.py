"""What all pages share: addresses, notices, the way back after a form, and how texts are made safe to read."""

from __future__ import annotations

from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from starlette.requests import Request

from onrecord import state_file
from onrecord.errors import NotFound
from onrecord.shared import remotes, replicas
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.web import view
from onrecord.web.access import Access
from onrecord.web.view import Notice, Site
from tests.records import sample


@pytest.fixture
def site(project) -> Site:
    return Site(project.root, Access(8700))


def _request(site: Site, address: str = "/", method: str = "GET", referer: str = "") -> Request:
    parts = urlsplit(address)
    return Request({
        "type": "http",
        "method": method,
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [(b"host", b"127.0.0.1:8700"), (b"referer", referer.encode())],
        "app": SimpleNamespace(state=SimpleNamespace(site=site)),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("path", "address"),
    [
        (".claude/memory/decisions/a b.json", "/record/project/decisions/a%20b.json"),
        ("~/.claude/memory/decisions/a.json", "/record/user/decisions/a.json"),
        ("packages/web/.claude/memory/decisions/a.json", "/record/packages~web/decisions/a.json"),
        ("../.claude/memory/decisions/a.json", "/record/~/decisions/a.json"),
        ("platform:decisions/a.json", "/record/platform/decisions/a.json"),
    ],
)
def test_the_address_of_a_record_names_its_store(path, address):
    assert view.address_of(path) == address


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 1), ("0", 1), ("1", 1), ("2", 2), ("-2", 1), ("x", 1), ("٣", 1), ("9999", 9_999), ("10000", 10_000),
     ("10001", 10_000), ("99999", 10_000), ("100000", 1)],
)  # fmt: skip
def test_the_number_of_a_page_is_what_an_address_may_say(text, number):
    assert view.page_number(text) == number


def test_a_choice_is_one_of_those_that_are_allowed():
    assert [view.valid_choice(text, ("a", "b")) for text in ("a", "b", "c", "")] == ["a", "b", "", ""]


def test_a_notice_is_taken_once_and_the_oldest_of_more_than_fifty_is_dropped(site):
    names = [site.keep_notice(Notice(str(number))) for number in range(51)]

    assert site.take_notice(names[0]) is None
    assert site.take_notice(names[1]) == Notice("1")
    assert site.take_notice(names[1]) is None
    assert site.take_notice(names[50]) == Notice("50")


def test_of_more_than_two_hundred_versions_the_one_not_shown_for_longest_is_dropped(site):
    records = [sample(title=f"Version {number}") for number in range(201)]
    for number in range(200):
        site.remember(str(number), records[number])
    site.remember("0", records[0])

    site.remember("200", records[200])

    kept = [number for number in range(201) if site.shown_version(str(number))]
    assert kept == [0, *range(2, 201)]
    assert site.shown_version("200") == records[200]


def test_files_are_compared_with_the_index_every_two_seconds(site, monkeypatch):
    moments = iter([100.0, 100.5, 101.9, 102.0, 102.5])
    monkeypatch.setattr(view, "time", SimpleNamespace(monotonic=lambda: next(moments)))

    are_quick = [site.project_for_search().is_quick for _ in range(4)]
    site.check_again()

    assert are_quick == [False, True, True, False]
    assert not site.project_for_search().is_quick


def test_the_first_page_compares_files_however_short_the_machine_has_run(site, monkeypatch):
    monkeypatch.setattr(view, "time", SimpleNamespace(monotonic=lambda: 0.0))

    assert not site.project_for_search().is_quick
    assert site.project_for_search().is_quick


@pytest.mark.parametrize(
    ("method", "address", "here"),
    [
        ("GET", "/", "/"),
        ("GET", "/search?q=a+b&notice=3&tag=x", "/search?q=a+b&tag=x"),
        ("GET", "/search?notice=3", "/search"),
        ("GET", "/record/project/decisions/a b.json", "/record/project/decisions/a%20b.json"),
        ("POST", "/undo", "/"),
        ("POST", "/do/sync", "/"),
        ("POST", "/inbox/a/merge", "/inbox"),
        ("POST", "/inbox/a/edit", "/inbox/a/edit"),
        ("POST", "/inbox/accept", "/inbox"),
        ("POST", "/new/decision", "/new/decision"),
        ("POST", "/record/project/decisions/a.json/edit", "/record/project/decisions/a.json/edit"),
        ("POST", "/record/project/decisions/a.json/retire", "/record/project/decisions/a.json"),
    ],
)
def test_a_page_knows_the_address_to_come_back_to(site, method, address, here):
    assert view._address_of_page(_request(site, address, method)) == here


@pytest.mark.parametrize(
    ("referer", "page"),
    [
        ("{home}/search?q=a&notice=3", "/search?q=a"),
        ("{home}/search?notice=3", "/search"),
        ("{home}/", "/"),
        ("{home}", "/"),
        ("{home}x/search", "/"),
        ("{home}//evil.example/x", "/"),
        ("http://127.0.0.1:8700/search", "/"),
        ("http://evil.example{prefix}/search", "/"),
        ("", "/"),
    ],
)
def test_a_form_leads_back_to_the_page_that_it_was_sent_from(site, referer, page):
    home, prefix = f"http://{site.access.host}{site.access.prefix}", site.access.prefix

    assert view.page_before(_request(site, referer=referer.format(home=home, prefix=prefix))) == page


def test_the_error_of_a_button_that_runs_a_command_has_the_address_of_the_page_with_the_button(site):
    """The switch for the theme leads to that address: `/do` is no page."""
    referer = f"http://{site.access.host}{site.access.prefix}/settings"

    assert view._address_of_page(_request(site, "/do/set", "POST", referer=referer)) == "/settings"


def test_after_a_change_the_next_page_has_the_notice_at_the_element(site):
    notice = Notice("Done.")
    addresses = [
        view.redirect(_request(site), path, notice, element=element)
        .headers["location"]
        .removeprefix(site.access.prefix)
        for path, element in (("/inbox", ""), ("/search?q=a", ""), ("/inbox", "draft-1"))
    ]

    assert addresses == ["/inbox?notice=1", "/search?q=a&notice=2", "/inbox?notice=3#draft-1"]
    assert site.take_notice("3") == notice


def test_a_change_of_a_store_can_be_undone_from_the_notice(site, project, save):
    entry = save()
    store = Store(project.store.root)
    Writer(store, project.settings).retire(entry.path, "old")
    site.project_for_search()

    response = view.redirect_after_change(_request(site), "/", store, "Retired.")

    assert response.status_code == 303
    assert site.take_notice("1") == Notice("Retired.", (view.StoreChange("project", store.last_change),))
    assert not site.project_for_search().is_quick


def test_a_change_of_a_shared_store_waits_for_a_sync(site):
    remotes.add("platform", "/srv/platform.git")
    store = Store(replicas.prepare("platform").store)

    view.redirect_after_change(_request(site), "/", store, "Saved.")

    waits = "The change waits for the next sync: until then this page and agents show what platform has."
    assert site.take_notice("1") == Notice("Saved.", (), (waits,), "platform")


@pytest.mark.parametrize(
    ("fix", "advice"),
    [
        ("", ""),
        ("reload the page", "Reload the page."),
        ("onrecord list", ""),
        ("choose another name; onrecord list", "Choose another name."),
        ("to see all: onrecord list; reload the page; or leave it", "Reload the page; or leave it."),
    ],
)
def test_the_advice_of_an_error_has_no_commands(fix, advice):
    assert view.advice_of(NotFound("gone", fix=fix)) == advice


def test_the_differences_of_two_versions_are_lines():
    before = sample(title="Sessions in Redis", tags=["redis"])

    lines = view.diff(before, before._replace(title="Sessions in rows"))

    assert [line for line in lines if line[0] in "+-"] == ["-### Sessions in Redis", "+### Sessions in rows"]
    assert view.diff(before, before) == []
    assert not [line for line in lines if line.startswith(("---", "+++", "@@"))]


@pytest.mark.parametrize(
    ("filter_name", "text", "html"),
    [
        ("breakable", "src/a_b.py", "src/<wbr>a_<wbr>b.<wbr>py"),
        ("breakable", "a-b c:d@e=f\\g <", "a-<wbr>b c:<wbr>d@<wbr>e=<wbr>f\\<wbr>g &lt;"),
        ("breakable", "a/ .\u202e", "a/ ."),
        ("breakable_lines", "a/b\nc", "a/<wbr>b\nc"),
        ("visible_lines", "a\u202e\nb", "a\nb"),
        ("with_code", "run `x <y>` now & `z`", "run <code>x &lt;y&gt;</code> now &amp; <code>z</code>"),
        ("day", "2026-03-02T09:30:00Z", "2026-03-02"),
        ("day", "yesterday\u202e" + "y" * 40, "yesterday" + "y" * 31),
        ("host", "claude-code", "Claude Code"),
        ("host", "nobody\u202e", "nobody"),
    ],
)
def test_texts_are_shown_as_what_they_are(site, filter_name, text, html):
    template = site._templates.from_string(f"{{{{ text|{filter_name} }}}}")

    assert template.render(text=text) == html


def test_the_theme_is_kept_and_anything_else_is_the_systems():
    themes = [view.theme()]
    for name in ("dark", "neon", "light"):
        view.choose_theme(name)
        themes.append(view.theme())
    file = state_file.StateFile(state_file.state_path("theme"), 100, "web")
    file.replace(b"neon\n")

    assert [*themes, view.theme()] == ["system", "dark", "dark", "light", "system"]


def test_a_draft_is_an_element_of_its_own_in_each_store():
    anchors = {view.draft_anchor(store, name) for store in ("project", "user") for name in ("a", "b", "\udce9")}

    assert len(anchors) == 6
    assert {(anchor[:6], len(anchor)) for anchor in anchors} == {("draft-", 18)}


def test_links_of_the_pages_are_below_the_secret_path_and_those_of_a_static_site_are_not(project):
    access = Access(8700)
    values = {"title": "t", "path": "/x", "project": "ferry", "notice": None, "first_steps": None, "has_records": True}
    texts = [
        Site(project.root, access, is_static=is_static).render("not_found.html", **values)
        for is_static in (False, True)
    ]

    assert (f'href="{access.prefix}/timeline"' in texts[0], 'href="/inbox"' in texts[0]) == (True, False)
    assert ('href="/timeline"' in texts[1], "/inbox" in texts[1], access.prefix in texts[1]) == (True, False, False)
