"""The inbox: drafts beside their source, decisions on one and on several, and two reviewers at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.record import compose, validity
from onrecord.settings import Settings
from onrecord.shared import reconcile, remotes, replicas
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests.shared.machines import accept
from tests.web.conftest import Browser
from tests.web.forms import fields


def _text(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text.replace("<wbr>", "")))


def _shared_store(name: str = "platform") -> Store:
    remotes.add(name, f"/srv/{name}.git")
    return Store(replicas.prepare(name).store)


def _put_shared_draft(store: Store, title: str = "Use ruff") -> str:
    content = {"context": "two linters", "decision": "ruff checks everything", "rationale": ["one tool"]}
    record = compose.compose("decision", {"title": title, "content": content})
    return Inbox(store.root).put(inbox.new_draft(record)).name


def test_an_imported_draft_is_beside_its_page_with_the_words_marked(browser, save, project):
    save()
    page = Path(project.root, "docs", "adr", "0001.md")
    page.parent.mkdir(parents=True)
    page.write_text("# Use uv\n\n## Decision\n\nWe install everything with uv.\n\nUnrelated remark of the author.\n")
    content = {"context": "pip is slow", "decision": "We install everything with uv.", "rationale": ["speed"]}
    record = compose.compose("decision", {"title": "Use uv", "content": content, "source": "docs/adr/0001.md:5"})
    Inbox(project.store.root).put(inbox.new_draft(record._replace(origin="import")))

    text = browser.get("/inbox").text

    assert "<mark>We install everything with uv.</mark>" in text
    assert "\nUnrelated remark of the author." in text


def test_what_an_import_left_out_of_a_draft_is_on_the_page(browser, save, project):
    save()
    content = {"context": "pip is slow", "decision": "We install everything with uv.", "rationale": ["speed"]}
    record = compose.compose("decision", {"title": "Use uv", "content": content})
    note = "left out of docs/adr/0001.md: 2 of 4 reasons (<b>it asks</b>)"
    Inbox(project.store.root).put(inbox.new_draft(record)._replace(note=note))

    assert note.replace("<", "&lt;").replace(">", "&gt;") in browser.get("/inbox").text


@pytest.mark.parametrize("source", ["../secret.md:1", "/etc/passwd:1", "missing.md:3", "link.md:1"])
def test_no_file_outside_the_project_is_shown_as_a_source(browser, save, project, source):
    save()
    Path(project.root).parent.joinpath("secret.md").write_text("the secret text\n")
    Path(project.root, "link.md").symlink_to("/etc/passwd")
    content = {"context": "a", "decision": "b", "rationale": ["c"]}
    record = compose.compose("decision", {"title": "Use uv", "content": content, "source": source})
    Inbox(project.store.root).put(inbox.new_draft(record._replace(origin="import")))

    text = browser.get("/inbox").text

    assert "Use uv" in text
    assert "the secret text" not in text and "root:" not in text


def test_a_similar_record_is_beside_the_draft_with_the_difference(browser, save, project):
    save()
    content = {"context": "Redis lost sessions", "decision": "Rows in auth.logins", "rationale": ["one part"]}
    record = compose.compose("decision", {"title": "Sessions live in Postgres", "content": content})
    Inbox(project.store.root).put(inbox.new_draft(record))

    page = browser.get("/inbox").text

    assert "Says nearly the same" in page and "Save it anyway" in page
    assert re.search(r"Rows in auth\.<del>sessions</del>", page)
    assert re.search(r"Rows in auth\.<ins>logins</ins>", page)


def test_a_merge_is_previewed_and_chosen_field_by_field(browser, save, draft, project):
    entry = save()
    name = draft("Sessions live in Postgres 16")

    page = browser.get(f"/inbox/{name}/merge?into=sessions-live-in-p")
    form = fields(page)
    chosen = {"choice.content.decision": "own", "own.content.decision": "Rows in auth.sessions, installed by uv"}
    response = browser.post(f"/inbox/{name}/merge", **{**form, **chosen, "choice.content.context": "theirs"})

    assert "With the draft" in page.text
    assert "Merged into: Sessions live in Postgres" in response.text
    after = project.get(entry.path).memory
    assert after.content["decision"] == "Rows in auth.sessions, installed by uv"
    assert after.content["context"] == "Redis lost sessions"
    assert after.content["rationale"] == ["one part", "seconds"]
    assert Inbox(project.store.root).names() == []


def test_a_merge_into_a_record_that_changed_meanwhile_is_asked_about_again(browser, save, draft, project):
    entry = save()
    name = draft("Use uv")
    form = fields(browser.get(f"/inbox/{name}/merge?into={entry.memory.id}"))
    Writer(project.store, project.settings).update(entry.path, {"content": {"context": "theirs"}}, entry.hash)
    form.update({"choice.content.decision": "own", "own.content.decision": "my own words"})

    response = browser.post(f"/inbox/{name}/merge", **form)

    assert response.status_code == 409
    assert "theirs" in response.text and fields(response)["own.content.decision"] == "my own words"
    assert Inbox(project.store.root).names() == [name]


def test_all_drafts_that_were_on_the_screen_are_accepted_after_one_question(browser, save, draft, project):
    save()
    names = [draft("Use uv"), draft("Sign commits"), draft("Cache wheels")]
    form = fields(browser.get("/inbox"), "data-accept-shown")
    draft("Came after the page")

    question = browser.post("/inbox/accept", **form)
    ticked = {key: text for key, text in fields(question, "class").items() if key != "form_token"}
    skipped = next(key for key, text in ticked.items() if text == names[1])
    ticked.pop(skipped.replace(".name", ".accept"))
    assert len(Inbox(project.store.root).names()) == 4
    response = browser.post("/inbox/accept", **ticked)

    assert "Accept 3 drafts?" in question.text and "Saved 2 records." in response.text
    assert sorted(Inbox(project.store.root).names()) == ["came-after-the-page", "sign-commits"]
    undo = dict(re.findall(r'name="(store|change)" value="([^"]+)"', response.text))
    browser.post("/undo", referer="/inbox", **undo)
    assert len(Inbox(project.store.root).names()) == 4


def test_a_draft_that_repeats_a_record_is_not_accepted_with_others(browser, save, draft, project):
    save()
    project.save("decision", {"title": "Use uv", "content": Inbox(project.store.root).get(draft()).record.content})
    form = fields(browser.get("/inbox"), "data-accept-shown")

    question = browser.post("/inbox/accept", **form)
    response = browser.post("/inbox/accept", **fields(question, "class"))

    assert "Saved 0 records." in response.text and "decide on it alone" in response.text
    assert Inbox(project.store.root).names() == ["use-uv"]


@pytest.mark.parametrize(("action", "fate"), [("accept", "accepted"), ("reject", "rejected"), ("merge", "merged")])
def test_the_second_of_two_reviewers_learns_what_became_of_a_draft(browser, save, draft, project, action, fate):
    save()
    name, other = draft("Use uv"), draft("Sign commits")
    version = Inbox(project.store.root).get(name).hash
    colleague = Browser(Path(project.root))
    colleague.decide(name, action, into="sessions-live-in-postgres")

    response = browser.post(f"/inbox/{name}/accept", hash=version)

    assert response.status_code == 409
    assert f"“Use uv” was {fate}" in _text(response) and "Nothing was done" in response.text
    assert Inbox(project.store.root).names() == [other]


def test_drafts_of_a_shared_store_are_in_the_list_and_accepted_there(browser, save, draft):
    save()
    draft("Use uv")
    store = _shared_store()
    accept("platform")
    name = _put_shared_draft(store)

    page = browser.get("/inbox")
    only = browser.get("/inbox?store=platform")
    response = browser.post(f"/inbox/{name}/accept", store="platform", hash=Inbox(store.root).get(name).hash)

    assert "Use ruff" in page.text and "Use uv" in page.text and "store-shared" in page.text
    assert "Use ruff" in only.text and "Use uv" not in only.text
    assert "Saved: Use ruff" in response.text
    assert validity.is_current(store.get("use-ruff").memory, store.records_named)


def test_who_may_not_review_a_shared_store_is_not_shown_its_drafts(browser, save):
    save()
    store = _shared_store()
    accept("platform")
    _put_shared_draft(store)
    replica = replicas.Replica("platform")
    replica.write_state(replica.state._replace(asks_for_review=True))

    assert "Use ruff" not in browser.get("/inbox").text


def test_a_conflict_of_a_shared_store_is_resolved_field_by_field(browser, save):
    save()
    store = _shared_store()
    writer = Writer(store, Settings())
    content = {"context": "Two", "decision": "base", "rationale": ["one tool"]}
    entry = writer.save(compose.compose("decision", {"title": "Use uv", "content": content}))
    base = Path(store.root, entry.path).read_bytes()
    theirs = writer.update(entry.path, {"content": {"decision": "theirs"}}, entry.hash)
    remote = Path(store.root, theirs.path).read_bytes()
    mine = base.replace(b'"base"', b'"mine"')
    reconciled = reconcile.reconcile(entry.path, base, mine, remote)
    Path(store.root, reconciled.beside[0]).parent.mkdir(exist_ok=True)
    Path(store.root, reconciled.beside[0]).write_bytes(reconciled.beside[1])
    accept("platform")
    name = reconciled.conflict.draft

    page = browser.get("/inbox").text
    form = fields(browser.get(f"/inbox/{name}/merge?store=platform"))
    undecided = browser.post(f"/inbox/{name}/merge", **form)
    response = browser.post(f"/inbox/{name}/merge", **{**form, "choice.content.decision": "yours"})

    assert "Compare and choose" in page and "Somebody changed the same record" in page
    assert undecided.status_code == 422 and "choose a version" in undecided.text
    assert "Merged into: Use uv" in response.text
    assert store.read(entry.path).memory.content["decision"] == "mine"
    assert Inbox(store.root).names() == []


def test_after_a_decision_the_page_opens_at_the_next_draft(browser, save, draft, project):
    save()
    first, second = draft("Use uv"), draft("Sign commits")

    version = Inbox(project.store.root).get(first).hash
    data = {"form_token": browser.access.form_token, "hash": version}
    headers = {"origin": f"http://{browser.access.host}"}
    response = browser.client.post(f"/inbox/{first}/reject", data=data, headers=headers, follow_redirects=False)

    anchor = response.headers["location"].partition("#")[2]
    assert f'<article class="card draft" tabindex="-1" id="{anchor}"' in browser.get("/inbox").text
    assert second in Inbox(project.store.root).names()


def _decide(browser, page, name, action, **typed):
    """Press a button of a draft as it stands on a page."""
    form = next(
        form
        for form in re.findall(r"<form.*?</form>", page.text, re.S)
        if re.search(rf'action="/inbox/{name}/{action}#', form)
    )
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
    return browser.post(f"/inbox/{name}/{action}", **{**hidden, **typed})


def _status(response) -> str:
    return re.sub(r"<[^>]+>", "", re.search(r'role="status">(.*?)<form', response.text, re.S)[1]).strip()


def test_a_draft_that_cannot_be_accepted_says_why_at_its_place_and_is_accepted_if_somebody_insists(
    browser, save, project
):
    entry = save()
    record = entry.memory._replace(id="sessions-in-postgres")
    Inbox(project.store.root).put(inbox.new_draft(record))
    (name,) = Inbox(project.store.root).names()

    page = browser.get("/inbox")
    refused = _decide(browser, page, name, "accept")
    article = re.search(r"<article.*?</article>", refused.text, re.S)[0]

    assert refused.status_code == 422
    assert 'role="alert"' in article and "Nothing was done." in article and "says nearly the same" in article
    assert "onrecord review" not in article
    assert "Saved:" in _status(_decide(browser, refused, name, "accept", force="1"))


@pytest.mark.parametrize("typed", ["", "nothing-like-it", "s"])
def test_a_record_to_merge_into_that_there_is_none_of_is_an_error_at_its_field(browser, save, draft, typed):
    save()
    save("Seats are held for ten minutes")
    name = draft("Use uv")

    response = browser.get(f"/inbox/{name}/merge?store=project&into={typed}")

    assert response.status_code == 422
    assert "Nothing was done." in response.text
    assert not typed or re.search(rf'name="into"[^>]*value="{typed}"[^>]*aria-invalid="true"', response.text)


def test_a_decision_leads_back_to_the_part_of_the_inbox_where_it_was_made(browser, save, draft, project):
    save()
    draft("Use uv")
    store = _shared_store()
    accept("platform")
    for title in ("Use ruff", "Use mypy"):
        _put_shared_draft(store, title)
    name = Inbox(store.root).names()[0]

    accepted = _decide(browser, browser.get("/inbox?store=platform"), name, "accept")
    merge = browser.get("/inbox/use-ruff/merge?store=platform&from=store%3Dplatform&into=use-mypy")
    merged = browser.post("/inbox/use-ruff/merge", **fields(merge))

    for page in (accepted, merged):
        assert page.url.path.endswith("/inbox") and page.url.params["store"] == "platform"
    assert "Use uv" not in accepted.text and "Use ruff" in accepted.text


def test_more_drafts_than_fit_on_a_page_are_on_further_pages(browser, save, draft, project):
    save()
    for number in range(23):
        draft(f"Draft number {number}")
    last = max(Inbox(project.store.root).scan(), key=lambda each: (each.made_at, each.name)).name

    first, second = browser.get("/inbox"), browser.get("/inbox?page=2")
    beyond = browser.get("/inbox?page=9")
    shown = [re.findall(r'class="card draft"', page.text) for page in (first, second, beyond)]
    version = Inbox(project.store.root).get(last).hash
    refused = browser.get(f"/inbox/{last}/merge?into=nothing-like-it")
    decided = browser.post(f"/inbox/{last}/reject", hash=version, **{"from": "page=2"})

    assert [len(drafts) for drafts in shown] == [20, 3, 3]
    assert "shows 1 to 20" in first.text and "shows 21 to 23" in second.text
    assert 'rel="next"' in first.text and 'rel="next"' not in second.text and 'rel="prev"' in second.text
    assert len(re.findall(r'class="card draft"', refused.text)) == 3
    assert decided.url.params["page"] == "2"


def test_drafts_of_two_stores_that_were_accepted_together_are_taken_back_together(browser, save, draft, project):
    save()
    draft("Use uv")
    store = _shared_store()
    accept("platform")
    _put_shared_draft(store)

    question = browser.post("/inbox/accept", **fields(browser.get("/inbox"), "data-accept-shown"))
    saved = browser.post("/inbox/accept", **fields(question, "class"))
    undo = dict(re.findall(r'name="((?:store|change)[.0-9]*)" value="([^"]+)"', saved.text))
    undone = browser.post("/undo", referer="/inbox", **undo)

    assert "Saved 2 records." in saved.text
    assert "Undone: accept of" in undone.text
    assert Inbox(project.store.root).names() == ["use-uv"] and Inbox(store.root).names() == ["use-ruff"]


def test_what_cannot_be_undone_any_more_is_said_on_the_page_where_undo_was_pressed(browser, save, project):
    entry = save()
    address = f"/record/project/{entry.path}"
    retired = browser.post(f"{address}/retire", hash=entry.hash, text="old")
    undo = dict(re.findall(r'name="(store|change)" value="([^"]+)"', retired.text))
    now = project.get(entry.path)
    Writer(project.store, project.settings).restore(entry.path, expected_hash=now.hash)

    response = browser.post("/undo", referer=address, **undo)

    assert response.status_code == 200 and response.url.path.endswith(address)
    assert "Nothing was undone." in response.text and "cannot be undone: changed since" in response.text
    assert "onrecord undo" not in response.text


def test_a_page_that_a_refused_decision_made_can_change_the_theme_and_be_undone_from(browser, save, draft):
    save()
    name = draft("Use uv")

    refused = browser.post(f"/inbox/{name}/merge", hash="", into="nothing", store="project")
    form = dict(re.findall(r'name="(page)" value="([^"]*)"', refused.text))
    undone = browser.post("/undo", referer=f"/inbox/{name}/merge", store="project", change="00000000")

    assert form["page"] == "/inbox"
    assert undone.url.path.endswith("/inbox") and "Nothing was undone." in undone.text


def test_a_draft_that_changed_after_the_page_was_loaded_is_shown_with_the_difference(browser, save, draft, project):
    save()
    name = draft("Use uv")
    browser.get("/inbox")
    before = Inbox(project.store.root).get(name)
    path = Path(project.store.root, "inbox", f"{name}.json")
    path.write_text(path.read_text().replace("pip is slow", "pip takes minutes"))

    for action in ("accept", "merge", "reject"):
        response = browser.post(f"/inbox/{name}/{action}", hash=before.hash, into="sessions-live-in-postgres")

        assert response.status_code == 409
        assert "“Use uv” was changed after you opened the page, so nothing was done" in _text(response)
        assert "pip is slow" in response.text and "pip takes minutes" in response.text
    assert Inbox(project.store.root).names() == [name]


def test_of_drafts_accepted_together_one_that_changed_or_went_is_named_and_left(browser, save, draft, project):
    save()
    names = [draft("Use uv"), draft("Sign commits"), draft("Cache wheels")]
    question = browser.post("/inbox/accept", **fields(browser.get("/inbox"), "data-accept-shown"))
    path = Path(project.store.root, "inbox", f"{names[0]}.json")
    path.write_text(path.read_text().replace("pip is slow", "pip takes minutes"))
    browser.decide(names[1], "reject")

    response = browser.post("/inbox/accept", **fields(question, "class"))

    assert "Saved 1 record." in response.text
    assert "Use uv: it was changed after the page was loaded" in _text(response)
    assert "Sign commits: " in _text(response)
    assert Inbox(project.store.root).names() == [names[0]]


def test_an_action_that_there_is_none_of_is_refused(browser, save, draft, project):
    entry = save()

    responses = [
        browser.decide(draft("Use uv"), "explode"),
        browser.post(f"/record/project/{entry.path}/explode", hash=entry.hash),
    ]

    assert [response.status_code for response in responses] == [422, 400]
    for response in responses:
        assert "explode" in response.text and "use the buttons" in response.text.lower()


def test_a_record_is_not_retired_without_a_reason(browser, save, project):
    entry = save()

    response = browser.post(f"/record/project/{entry.path}/retire", hash=entry.hash, text=" ")

    assert response.status_code == 400
    assert "missing" in response.text.lower()
    assert project.get("sessions-live-in-postgres").memory.record_status == "active"
