"""Forms for records and drafts: same checks as on the command line, and no change is lost."""

from __future__ import annotations

import html
import json
import os
import re

import pytest

from onrecord import files
from onrecord.capture import review
from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.shared import remotes, replicas
from onrecord.store import record_names
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.web import agent_page
from tests.hooks.hook_process import run_hook
from tests.shared.machines import accept
from tests.web.forms import fields


def _address(entry) -> str:
    return f"/record/project/{entry.path}/edit"


def _update(project, entry, patch):
    return Writer(project.store, project.settings).update(entry.path, patch, entry.hash, may_shrink=True)


def test_a_form_that_is_sent_back_as_it_is_changes_nothing(browser, save, project):
    checks = [{"on": ["edit", "write"], "has": ["npm\u202e"], "examples": {"breaks": ["npm\u202e i\nnpm\u202e ci"]}}]
    entry = save(
        tags=["auth"],
        triggers=["where is login state?", " two  spaces "],
        checks=checks,
        confidence=0.5,
        scope={"languages": ["python"], "branches": ["main"]},
        source="said\n\nin two parts \\u{41}",
    )
    page = browser.get(_address(entry))

    response = browser.post(_address(entry), **fields(page))

    assert project.get(entry.path) == entry
    # The last change was not made here, so it cannot be undone here.
    assert "Saved." in response.text and "Undo" not in response.text


def test_a_field_is_changed_and_the_reason_is_in_the_history(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    form["content.decision"] = "Rows in auth.sessions, 14 days"

    response = browser.post(_address(entry), **{**form, "summary": "they expire"})

    after = project.get(entry.path).memory
    assert "Saved." in response.text
    assert after.content["decision"] == "Rows in auth.sessions, 14 days"
    assert "they expire" in [change.summary for change in after.changes]


def test_a_wrong_field_is_named_where_it_is_and_the_text_stays(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))

    response = browser.post(_address(entry), **{**form, "content.decision": "", "title": "Sessions"})

    assert response.status_code == 422
    assert "Nothing was saved" in response.text
    error = re.search(r'<p class="field-error" id="(f-content-decision-error)">([^<]*)', response.text)
    assert error[2] == "is missing"
    area = re.search(r'<textarea id="f-content-decision"[^>]*>', response.text)[0]
    assert f'aria-describedby="f-content-decision-hint {error[1]}"' in area
    assert 'aria-invalid="true"' in area and " autofocus" in area
    assert fields(response)["title"] == "Sessions"
    assert project.get(entry.path) == entry


def test_an_item_that_is_wrong_is_named_in_a_list_with_gaps(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    form.update({"checks.0.on.command": "1", "checks.0.starts.3": "npm install", "checks.0.examples.fits.4": "npm i"})
    form.update({"checks.0.examples.breaks.2": "", "checks.0.examples.breaks.5": "yarn add x"})

    response = browser.post(_address(entry), **form)

    assert response.status_code == 422
    assert re.search(r'id="f-checks-0-examples-breaks-0-error">does not break the check', response.text)
    assert fields(response)["checks.0.examples.breaks.0"] == "yarn add x"


@pytest.mark.parametrize(
    ("command", "expected"),
    [("up content.rationale.1", ["b", "a"]), ("down content.rationale.0", ["b", "a"]),
     ("remove content.rationale.0", ["b"]), ("up content.rationale.0", ["a", "b"]), ("up nonsense", ["a", "b"])],
)  # fmt: skip
def test_items_are_moved_and_removed_without_a_script(browser, save, project, command, expected):
    content = {"context": "x", "decision": "y", "rationale": ["a", "b"]}
    entry = save(content=content)
    form = fields(browser.get(_address(entry)))

    moved = browser.post(_address(entry), **{**form, "do": command})
    browser.post(_address(entry), **fields(moved))

    assert project.get(entry.path).memory.content["rationale"] == expected
    assert " data-unsaved" in moved.text


def test_a_list_gets_one_more_row_without_a_script(browser, save):
    entry = save()
    form = fields(browser.get(_address(entry)))

    more = fields(browser.post(_address(entry), **{**form, "do": "add content.rationale"}))

    assert [name for name in more if name.startswith("content.rationale.")] == [
        "content.rationale.0", "content.rationale.1", "content.rationale.2", "content.rationale.3",
    ]  # fmt: skip


def test_what_only_one_of_two_people_changed_is_taken(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    _update(project, entry, {"content": {"context": "theirs"}})

    response = browser.post(_address(entry), **{**form, "content.decision": "mine"})

    assert "Saved." in response.text
    content = project.get(entry.path).memory.content
    assert (content["context"], content["decision"]) == ("theirs", "mine")


@pytest.mark.parametrize(("choice", "expected"), [("theirs", "theirs"), ("yours", "mine"), ("own", "both of us")])
def test_of_a_field_that_two_people_changed_one_chooses(browser, save, project, choice, expected):
    entry = save()
    form = fields(browser.get(_address(entry)))
    _update(project, entry, {"content": {"decision": "theirs", "context": "their context"}})

    conflict = browser.post(_address(entry), **{**form, "content.decision": "mine", "tags.0": "mine"})
    assert conflict.status_code == 409
    assert project.get(entry.path).memory.content["decision"] == "theirs"
    assert re.search(r"<del>theirs</del>", conflict.text) and re.search(r"<ins>mine</ins>", conflict.text)
    chosen = {"choice.content.decision": choice, "own.content.decision": "both of us", "do": "merge"}
    response = browser.post(_address(entry), **{**fields(conflict), **chosen})

    assert "Saved." in response.text
    after = project.get(entry.path).memory
    assert (after.content["decision"], after.content["context"]) == (expected, "their context")
    assert "mine" in after.tags


def test_a_record_that_changes_while_one_chooses_is_asked_about_again_and_keeps_what_was_typed(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    theirs = _update(project, entry, {"content": {"decision": "theirs"}})
    conflict = fields(browser.post(_address(entry), **{**form, "content.decision": "mine"}))
    _update(project, theirs, {"content": {"decision": "theirs again"}})
    chosen = {"choice.content.decision": "own", "own.content.decision": "long text of my own", "do": "merge"}

    again = browser.post(_address(entry), **{**conflict, **chosen})

    assert again.status_code == 409
    assert "theirs again" in re.sub(r"</?del>", "", again.text)
    assert fields(again)["own.content.decision"] == "long text of my own"
    assert "Saved." in browser.post(_address(entry), **{**fields(again), "do": "merge"}).text
    assert project.get(entry.path).memory.content["decision"] == "long text of my own"


def test_a_choice_that_was_not_made_is_asked_for(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    _update(project, entry, {"content": {"decision": "theirs"}})
    conflict = fields(browser.post(_address(entry), **{**form, "content.decision": "mine"}))

    response = browser.post(_address(entry), **{**conflict, "do": "merge"})

    assert response.status_code == 409
    assert re.search(r'id="m-content-decision-error">choose a version', response.text)
    assert fields(response)["content.decision"] == "mine"


def test_a_version_that_the_server_has_forgotten_is_taken_from_the_log(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    _update(project, entry, {"content": {"context": "theirs"}})
    browser.site._shown_versions.clear()

    response = browser.post(_address(entry), **{**form, "content.decision": "mine"})

    assert "Saved." in response.text
    content = project.get(entry.path).memory.content
    assert (content["context"], content["decision"]) == ("theirs", "mine")


def test_without_the_common_version_every_difference_is_asked_about(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    _update(project, entry, {"content": {"context": "theirs"}})

    response = browser.post(_address(entry), **{**form, "hash": "0" * 32, "content.decision": "mine"})

    assert response.status_code == 409
    assert set(re.findall(r'id="(m-[^"]*)"', response.text)) == {"m-content-context", "m-content-decision"}
    assert project.get(entry.path).memory.content["decision"] == "Rows in auth.sessions"


def test_a_new_record_is_saved_and_one_like_it_only_if_somebody_insists(browser, save, project):
    save()
    form = fields(browser.get("/new/preference"))
    form.update({"title": "Tabs, not spaces", "content.topic": "indentation", "content.value": "tabs"})
    form["content.reason"] = "everybody sets the width"

    response = browser.post("/new/preference", **form)

    assert "Saved." in response.text, response.text
    assert project.get("tabs-not-spaces").memory.content["value"] == "tabs"
    again = browser.post("/new/preference", **form)
    assert again.status_code == 422 and "Save it anyway" in again.text
    assert "Saved." in browser.post("/new/preference", **{**fields(again), "force": "1"}).text


def test_a_new_record_replaces_one_that_is_named_by_the_beginning_of_its_id(browser, save, project):
    old = save("Sessions live in Redis")
    form = fields(browser.get("/new/decision"))
    form.update({"title": "Sessions live in Postgres", "content.decision": "Postgres", "content.context": "Redis lost"})
    form.update({"content.rationale.0": "one part fewer", "supersedes": "sessions-live-in-r"})

    response = browser.post("/new/decision", **form)

    assert "Saved." in response.text, response.text
    assert project.get(old.path).memory.superseded_by == "sessions-live-in-postgres"


def test_a_record_to_replace_that_there_is_none_of_is_an_error_at_its_field(browser, save):
    save()
    form = fields(browser.get("/new/preference"))
    form.update({"title": "Tabs", "content.topic": "a", "content.value": "b", "content.reason": "c"})

    response = browser.post("/new/preference", **{**form, "supersedes": "nothing-like-it"})

    assert response.status_code == 422
    assert 'id="supersedes-error"' in response.text and fields(response)["supersedes"] == "nothing-like-it"


def test_a_secret_is_refused_and_the_text_stays(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"

    response = browser.post(_address(entry), **{**form, "content.decision": secret})

    assert response.status_code == 422
    assert fields(response)["content.decision"] == secret
    assert project.get(entry.path) == entry


def test_a_preview_shows_what_an_agent_gets_its_tokens_and_what_save_would_warn_of(browser, save, project):
    save("Never use Redis")
    form = fields(browser.get("/new/decision"))
    form.update({"title": "Sessions", "content.decision": "Never use Redis for sessions", "triggers.0": "fix it"})

    partial = browser.post("/new/decision", **form, do="preview", part="1")
    form.update({"content.context": "Redis lost sessions", "content.rationale.0": "one part"})
    whole = browser.post("/new/decision", **form, do="preview", part="1")

    assert "cannot be saved yet" in partial.text and "context is missing" in partial.text
    assert "<html" not in whole.text and "cannot be saved" not in whole.text
    assert "- sessions: " in whole.text
    assert "&lt;memory-context" in whole.text.replace("<wbr>", "") and "Never use Redis for sessions" in whole.text
    assert "onrecord show sessions" in whole.text and re.search(r"\d+ tokens", whole.text)
    assert "only words that any prompt may have" in whole.text and "names a topic" in whole.text
    assert not project.store.has("sessions")


def test_a_preview_without_a_script_is_the_same_page_with_the_text(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))

    response = browser.post(_address(entry), **{**form, "content.decision": "mine", "do": "preview"})

    assert response.status_code == 200
    assert fields(response)["content.decision"] == "mine"
    assert re.search(r"&lt;result.*mine", response.text)
    assert project.get(entry.path) == entry


def test_the_preview_refuses_a_secret(browser, save):
    entry = save()
    form = fields(browser.get(_address(entry)))

    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    response = browser.post(_address(entry), **{**form, "content.decision": secret}, do="preview", part="1")

    assert "cannot be saved yet" in response.text


def test_a_draft_is_changed_before_it_is_accepted(browser, save, draft, project):
    save()
    name = draft("Use uv")
    form = fields(browser.get(f"/inbox/{name}/edit"))

    browser.post(f"/inbox/{name}/edit", **{**form, "content.decision": "uv, pinned"})

    assert Inbox(project.store.root).get(name).record.content["decision"] == "uv, pinned"


def test_a_draft_that_was_replaced_since_keeps_both_changes(browser, save, draft, project):
    save()
    name = draft("Use uv", session="one")
    form = fields(browser.get(f"/inbox/{name}/edit"))
    box = Inbox(project.store.root)
    better = box.get(name)
    box.put(better._replace(record=better.record._replace(tags=("theirs",))))

    response = browser.post(f"/inbox/{name}/edit", **{**form, "content.decision": "mine"})

    assert "Draft changed" in response.text
    record = box.get(name).record
    assert (record.tags, record.content["decision"]) == (("theirs",), "mine")


def test_a_draft_that_two_people_changed_is_chosen_from(browser, save, draft, project):
    save()
    name = draft("Use uv", session="one")
    form = fields(browser.get(f"/inbox/{name}/edit"))
    box = Inbox(project.store.root)
    theirs = box.get(name)
    content = {**theirs.record.content, "decision": "theirs"}
    box.put(theirs._replace(record=theirs.record._replace(content=content)))

    conflict = browser.post(f"/inbox/{name}/edit", **{**form, "content.decision": "mine"})
    chosen = {**fields(conflict), "choice.content.decision": "yours", "do": "merge"}
    response = browser.post(f"/inbox/{name}/edit", **chosen)

    assert conflict.status_code == 409 and "Draft changed" in response.text
    assert box.get(name).record.content["decision"] == "mine"


def test_a_draft_that_is_replaced_between_the_click_and_the_lock_is_not_lost(
    browser, save, draft, project, monkeypatch
):
    save()
    name, locked = draft("Use uv", session="one", evidence=("seen",)), files.locked
    form = fields(browser.get(f"/inbox/{name}/edit"))

    def update_and_lock(path):
        """Replace the draft just before the lock is taken."""
        monkeypatch.setattr(files, "locked", locked)
        draft("Use uv", session="one", evidence=("not seen",))
        return locked(path)

    monkeypatch.setattr(files, "locked", update_and_lock)

    response = browser.post(f"/inbox/{name}/edit", **{**form, "content.decision": "mine"})

    assert "Draft changed" in response.text
    after = Inbox(project.store.root).get(name)
    assert (after.evidence, after.record.content["decision"]) == (("not seen",), "mine")


def test_no_other_category_can_be_made(browser, save):
    save()

    assert browser.get("/new/secret").status_code == 400


def test_a_new_trigger_that_fits_any_prompt_is_named_after_saving(browser, save):
    entry = save(triggers=["where is login state?"])
    form = fields(browser.get(_address(entry)))

    response = browser.post(_address(entry), **{**form, "triggers.0": "fix it"})

    assert "the trigger &#34;fix it&#34; has only words that any prompt may have" in response.text


def test_fields_that_the_form_does_not_know_are_kept(browser, save, project):
    entry = save()
    path = f"{project.store.root}/{entry.path}"
    with open(path, encoding="utf-8") as file:
        raw = json.load(file)
    raw["content"]["later_version"] = {"x": 1}
    raw["checks"] = [{"on": "command", "has": ["npm"], "later": True}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(raw, file)
    form = fields(browser.get(_address(entry)))

    browser.post(_address(entry), **{**form, "content.decision": "mine"})

    after = project.get(entry.path).memory
    assert after.content["later_version"] == {"x": 1} and after.content["decision"] == "mine"
    assert after.checks[0].unknown == {"later": True}


def test_a_change_in_a_store_that_takes_only_drafts_waits_for_review(browser, save):
    save("Something of our own")
    remotes.add("platform", "/srv/platform.git")
    replica = replicas.prepare("platform")
    store = Store(replica.store)
    content = {"context": "Two", "decision": "Use uv for everything", "rationale": ["one tool"]}
    record = compose.compose("decision", {"title": "Use uv", "content": content}, now="2026-03-02T09:30:00Z")
    entry = Writer(store, Settings()).save(record)
    accept("platform")
    replica.write_state(replica.state._replace(asks_for_review=True))
    address = f"/record/platform/{entry.path}/edit"
    form = fields(browser.get(address))

    response = browser.post(address, **{**form, "content.decision": "uv, pinned"})

    assert "takes only drafts from you" in response.text, response.text
    (name,) = Inbox(store.root).names()
    draft = Inbox(store.root).get(name)
    assert (draft.updates, draft.record.content["decision"]) == ("use-uv", "uv, pinned")
    assert store.read(entry.path) == entry


def test_undo_of_an_edit_returns_to_the_record(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    saved = browser.post(_address(entry), **{**form, "content.decision": "mine"})
    undo = dict(re.findall(r'name="(store|change)" value="([^"]+)"', saved.text))

    undone = browser.post("/undo", referer=f"/record/project/{entry.path}?notice=3", **undo)

    assert "Undone" in undone.text and "<h1>Sessions live in Postgres</h1>" in undone.text
    assert project.get(entry.path) == entry


@pytest.mark.parametrize("referer", ["//evil.test/inbox", "https://evil.test/", "", "/record/project/decisions/x.json"])
def test_undo_leads_nowhere_else(browser, save, project, referer):
    save()
    change = project.store.last_change or ""

    response = browser.post("/undo", referer=referer, store="project", change=change)

    assert response.url.path.rstrip("/") == browser.access.prefix


def test_a_new_record_goes_to_the_store_that_is_chosen(browser, save, project):
    save()
    remotes.add("platform", "/srv/platform.git")
    store = Store(replicas.prepare("platform").store)
    accept("platform")
    form = fields(browser.get("/new/decision"))
    typed = {"title": "Use uv", "content.decision": "uv", "content.context": "slow", "content.rationale.0": "seconds"}

    own = browser.post("/new/decision", **{**form, **typed, "store": "user"})
    shared = browser.post("/new/decision", **{**form, **typed, "store": "platform"})
    elsewhere = browser.post("/new/decision", **{**form, **typed, "store": "nowhere"})

    assert form["store"] == "project"
    assert own.url.path.endswith("/record/user/decisions/use-uv.json") and "Saved." in own.text
    assert project.user.has("use-uv") and store.has("use-uv") and not project.store.has("use-uv")
    assert 'action="/do/sync"' in shared.text and "onrecord sync" not in shared.text
    assert elsewhere.status_code == 409 and fields(elsewhere)["content.decision"] == "uv"


def test_a_new_record_for_a_store_that_takes_only_drafts_becomes_one(browser, save):
    save()
    remotes.add("platform", "/srv/platform.git")
    replica = replicas.prepare("platform")
    accept("platform")
    replica.write_state(replica.state._replace(asks_for_review=True))
    form = fields(browser.get("/new/decision?store=platform"))
    typed = {"title": "Use uv", "content.decision": "uv", "content.context": "slow", "content.rationale.0": "seconds"}

    response = browser.post("/new/decision", **{**form, **typed})

    assert form["store"] == "platform"
    assert "takes only drafts from you" in response.text
    assert Inbox(replica.store).names() == ["use-uv"]


def test_text_about_a_record_that_is_gone_is_kept_as_a_new_record(browser, save, project):
    entry = save(tags=["auth"])
    form = fields(browser.get(_address(entry)))
    os.remove(f"{project.store.root}/{entry.path}")
    project.store.recover()

    kept = browser.post(_address(entry), **{**form, "content.decision": "an hour of work"})

    assert kept.status_code == 409
    assert "What you typed is below" in kept.text and 'action="/new/decision"' in kept.text
    assert fields(kept)["content.decision"] == "an hour of work" and fields(kept)["tags.0"] == "auth"
    assert "Saved." in browser.post("/new/decision", **fields(kept)).text
    assert project.get(entry.memory.id).memory.content["decision"] == "an hour of work"


def test_text_about_a_record_that_cannot_be_read_any_more_is_kept(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    with open(f"{project.store.root}/{entry.path}", "w", encoding="utf-8") as file:
        file.write("{ broken")

    kept = browser.post(_address(entry), **{**form, "content.decision": "an hour of work"})

    assert kept.status_code == 409
    assert fields(kept)["content.decision"] == "an hour of work"


def test_text_about_a_draft_that_was_decided_on_is_kept_with_what_became_of_it(browser, save, draft, project):
    save()
    name = draft("Use uv")
    form = fields(browser.get(f"/inbox/{name}/edit"))
    browser.decide(name, "reject")

    kept = browser.post(f"/inbox/{name}/edit", **{**form, "content.decision": "an hour of work"})

    assert "“Use uv” was rejected by a person" in kept.text
    assert fields(kept)["content.decision"] == "an hour of work"
    assert "Saved." in browser.post("/new/decision", **fields(kept)).text


def test_a_text_of_ones_own_in_place_of_two_versions_is_kept_when_the_record_goes(browser, save, project):
    entry = save()
    form = fields(browser.get(_address(entry)))
    _update(project, entry, {"content": {"decision": "theirs", "rationale": ["their reason"]}})
    mine = {"content.decision": "mine", "content.rationale.0": "my reason"}
    conflict = fields(browser.post(_address(entry), **{**form, **mine}))
    os.remove(f"{project.store.root}/{entry.path}")
    own = {"choice.content.decision": "own", "own.content.decision": "both", "do": "merge"}
    own |= {"choice.content.rationale": "own", "own.content.rationale": "- one\n- two"}

    kept = fields(browser.post(_address(entry), **{**conflict, **own}))

    assert kept["content.decision"] == "both"
    assert (kept["content.rationale.0"], kept["content.rationale.1"]) == ("one", "two")


def test_a_field_that_a_reviewer_changes_in_a_draft_is_accepted_with_it(browser, save, project):
    entry = save()
    writer = Writer(project.store, project.settings)
    change = review.draft_update(writer, entry, {"content": {"decision": "proposed"}}, "because")
    (name,) = [Inbox(project.store.root).put(change).name]
    form = fields(browser.get(f"/inbox/{name}/edit"))

    browser.post(f"/inbox/{name}/edit", **{**form, "content.context": "what the reviewer knew", "tags.0": "auth"})
    browser.decide(name, "accept")

    after = project.get(entry.path).memory
    assert after.content["decision"] == "proposed"
    assert after.content["context"] == "what the reviewer knew"
    assert "auth" in after.tags


def _previewed(browser, address: str, form: dict[str, str]) -> list[str]:
    """Return the texts of the preview of a form."""
    page = browser.post(address, **form, do="preview", part="1").text
    return [html.unescape(text) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.S)]


_SAYS = "a" * 300 + ". Then more. " + "b" * 400


@pytest.mark.parametrize(
    "typed",
    [
        {"content.decision": "Rows in auth.sessions, 30 days"},
        {"title": "Login state lives in tables"},
        {"content.decision": _SAYS, "title": "A <b>title</b> & “quotes” with “onrecord show x”"},
        {"content.status": "deprecated", "content.context": "\u202e hidden"},
    ],
)
def test_the_preview_of_an_edited_record_is_what_a_session_and_a_prompt_get(browser, save, project, typed):
    entry = save(triggers=["where is login state?"], tags=["auth"])
    form = {**fields(browser.get(_address(entry))), **typed}

    line, rule, pointer = _previewed(browser, _address(entry), form)
    browser.post(_address(entry), **form)

    (after,) = project.store.entries()
    event = {"session_id": "s1", "cwd": project.root, "transcript_path": ""}
    start = run_hook("session_start", {**event, "source": "startup"}, is_patient=True).context
    prompt = run_hook("user_prompt_submit", {**event, "prompt": "where is login state?"}, is_patient=True).context
    # How sure a prompt means it depends on the prompt.
    prompt = re.sub(r' confidence="\w+"', "", prompt)
    is_in_force = "content.status" not in typed
    assert (line in start.split("\n")) == is_in_force
    assert (rule == prompt) == is_in_force, (rule, prompt)
    assert pointer.endswith(f"onrecord show {record_names.short_name(after.path)}")


def test_the_preview_of_a_draft_that_changes_a_record_is_the_record_as_it_will_be(browser, save, project):
    entry = save()
    writer = Writer(project.store, project.settings)
    change = review.draft_update(writer, entry, {"content": {"decision": "proposed"}}, "because")
    name = Inbox(project.store.root).put(change).name
    form = fields(browser.get(f"/inbox/{name}/edit"))

    shown = _previewed(browser, f"/inbox/{name}/edit", {**form, "content.decision": "proposed and corrected"})
    browser.post(f"/inbox/{name}/edit", **{**form, "content.decision": "proposed and corrected"})
    browser.decide(name, "accept")

    assert shown == [
        text.text for text in agent_page.texts(project, project.store.root, project.get(entry.path).memory)
    ]
