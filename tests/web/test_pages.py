"""The pages, and the effect of their buttons on the files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from onrecord import files, paths, state_file, web
from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.shared import remotes, replicas
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.usage import usage_log
from tests.git_project import GitProject
from tests.sessions import claude_code, codex, say
from tests.shared.machines import accept

HOSTILE = '<script>alert("x")</script><img src=x onerror=y>\u202e\x1b[31m&amp;'


def _text(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text.replace("<wbr>", "")))


def _address(entry) -> str:
    return f"/record/project/{entry.path}"


def test_the_start_page_counts_and_says_what_waits(browser, save, draft):
    save()
    draft()

    text = _text(browser.get("/"))

    assert "1 Decisions" in text
    assert "1 draft is waiting" in text
    assert "Sessions live in Postgres" in text


def test_a_shared_record_is_found_and_read_and_changed_in_its_replica(browser, save):
    save("Something of our own")
    remotes.add("platform", "/srv/platform.git")
    store = Store(replicas.prepare("platform").store)
    content = {"context": "Two", "decision": "Use uv for everything", "rationale": ["one tool"]}
    record = compose.compose("decision", {"title": "Use uv", "content": content}, now="2026-03-02T09:30:00Z")
    entry = Writer(store, Settings()).save(record)
    accept("platform")
    address = f"/record/platform/{entry.path}"

    results = browser.get("/search?q=uv")
    page = browser.get(address)
    after = browser.post(f"{address}/retire", hash=entry.hash, text="old")

    assert "this page and agents show what platform has" in _text(after)
    assert f'href="{address}"' in results.text and "platform" in _text(results)
    assert "shared store platform" in _text(page)
    assert store.read(entry.path).memory.record_status == "retired"
    assert browser.get(f"/record/acme/{entry.path}").status_code == 404


def test_a_record_of_the_memory_above_a_nested_one_is_found_and_read(browser, save, project, tmp_path):
    (tmp_path / ".git").mkdir()
    save("Something of our own")
    content = {"context": "Two", "decision": "Use uv for everything", "rationale": ["one tool"]}
    record = compose.compose("decision", {"title": "Use uv", "content": content}, now="2026-03-02T09:30:00Z")
    entry = Writer(Store(str(tmp_path / ".claude" / "memory")), Settings()).save(record)

    results = browser.get("/search?q=uv")

    assert f'href="/record/../{entry.path}"' not in results.text
    address = re.search(r'href="(/record/[^"]*use-uv[^"]*)"', results.text)[1]
    assert "Use uv for everything" in _text(browser.get(address))


def test_the_page_of_a_shared_record_says_what_counts_in_its_place(browser, save):
    own = save("Use uv")
    remotes.add("platform", "/srv/platform.git")
    shared = Writer(Store(replicas.prepare("platform").store), Settings()).save(own.memory)
    accept("platform")

    page = browser.get(f"/record/platform/{shared.path}")

    assert "This record is not used in this project" in _text(page)
    assert f'href="{_address(own)}"' in page.text and f"platform:{shared.path}" in _text(page)
    assert "is not used" not in browser.get(_address(own)).text


def test_nothing_to_do_is_said(browser, save):
    save()

    assert "Nothing to do." in browser.get("/").text


def test_a_search_finds_and_a_part_of_it_is_no_page(browser, save):
    save(triggers=["where do we keep login state?"])

    whole, part = browser.get("/search?q=login+state"), browser.get("/search?q=login+state&part=1")

    assert "Sessions live in Postgres" in whole.text and "<html" in whole.text
    assert "Sessions live in Postgres" in part.text and "<html" not in part.text
    assert "matches a trigger: “where do we keep login state?”" in whole.text


def test_a_record_shows_what_it_says_and_what_replaced_it(browser, save, project):
    old = save("Sessions live in Redis")
    new = save()
    Writer(project.store, project.settings).supersede(old.path, new.path)

    text = _text(browser.get(_address(old)))

    assert "Rows in auth.sessions" in text
    assert "Agents never get it as current." in text
    assert re.search(r"Sessions live in Redis [\d-]{10} Sessions live in Postgres", text)


def test_a_record_is_retired_and_that_is_taken_back(browser, save, project):
    entry = save()

    retired = browser.post(f"{_address(entry)}/retire", hash=entry.hash, text="not true any more")

    assert project.get(entry.path).memory.retired_reason == "not true any more"
    change = re.search(r'name="change" value="([^"]+)"', retired.text).group(1)
    assert "Undone" in browser.post("/undo", change=change).text
    assert project.get(entry.path).memory.record_status == "active"


@pytest.mark.parametrize("action", ["retire", "archive", "reanchor", "supersede"])
def test_a_button_for_a_version_that_is_gone_shows_what_is_different_now(browser, save, project, action):
    entry, other = save(), save("Jobs are rows", force=True)
    browser.get(_address(entry))
    content = {"decision": "Rows in auth.logins"}
    Writer(project.store, project.settings).update(entry.path, {"content": content}, entry.hash)

    response = browser.post(f"{_address(entry)}/{action}", hash=entry.hash, text=other.memory.id)

    assert response.status_code == 409
    assert re.search("<del>[^<]*Rows in auth.sessions", response.text)
    assert re.search("<ins>[^<]*Rows in auth.logins", response.text)
    assert action == "reanchor" or f'value="{other.memory.id}"' in response.text
    after = project.get(entry.path)
    assert (after.memory.record_status, after.memory.superseded_by) == ("active", "")
    assert browser.post(f"{_address(entry)}/{action}", hash=_hash(response), text=other.memory.id).status_code == 200


def _hash(response) -> str:
    return re.search(r'name="hash" value="([^"]*)"', response.text).group(1)


@pytest.mark.parametrize("action", ["restore", "unarchive"])
def test_a_record_is_brought_back_as_it_was_on_the_page_only(browser, save, project, action):
    entry, writer = save(), Writer(project.store, project.settings)
    stale = writer.retire(entry.path, "old") if action == "restore" else writer.archive(entry.path, "old")
    now = writer.update(entry.path, {"tags": ["auth"]}, stale.hash)

    responses = [browser.post(f"{_address(entry)}/{action}", hash=version) for version in (stale.hash, "", now.hash)]

    assert [response.status_code for response in responses] == [409, 409, 200]


def test_a_change_that_comes_between_the_click_and_the_lock_is_not_lost(browser, save, project, monkeypatch):
    entry, locked = save(), files.locked

    def update_and_lock(path):
        """Change the record just before the lock is taken."""
        monkeypatch.setattr(files, "locked", locked)
        Writer(project.store, project.settings).update(entry.path, {"tags": ["theirs"]}, entry.hash)
        return locked(path)

    monkeypatch.setattr(files, "locked", update_and_lock)

    response = browser.post(f"{_address(entry)}/retire", hash=entry.hash, text="why")

    assert response.status_code == 409
    record = project.get(entry.path).memory
    assert record.record_status == "active" and "theirs" in record.tags


def test_what_went_wrong_after_a_change_is_shown(browser, save, project):
    entry = save()
    config = Path(project.store.root, "memory-config.json")
    config.write_text(json.dumps({"export": {"file": "MEMORY.md"}}))
    Path(project.root, "MEMORY.md").mkdir()

    response = browser.post(f"{_address(entry)}/retire", hash=entry.hash, text="not true any more")

    assert "Retired." in response.text
    assert "the records are saved, but" in response.text
    change = re.search(r'name="change" value="([^"]+)"', response.text).group(1)
    assert "the records are saved, but" in browser.post("/undo", change=change).text


def test_a_draft_is_accepted_rejected_and_merged(browser, save, draft, project):
    save()
    first, second = draft("Use uv"), draft("Sign commits")

    assert "Saved: Use uv" in browser.decide(first, "accept").text
    assert "Rejected" in browser.decide(second, "reject").text
    third = draft("Cache wheels")
    assert "Merged into: Use uv" in browser.decide(third, "merge", into="use-uv").text

    assert Inbox(project.store.root).names() == []
    assert project.get("use-uv").memory.times_updated == 1


@pytest.mark.parametrize("action", ["accept", "merge", "reject"])
def test_a_draft_that_was_replaced_since_is_not_decided_on(browser, save, draft, project, action):
    save()
    name = draft("Use uv", session="one", evidence=("seen",))
    page = browser.get("/inbox").text
    (version,) = set(re.findall(r'name="hash" value="(\w+)"', page))
    draft("Use uv", session="one", evidence=("not seen",))

    response = browser.post(f"/inbox/{name}/{action}", hash=version, into="sessions-live-in-postgres")

    assert response.status_code == 409
    assert "nothing was done" in response.text and "not seen" in response.text
    assert Inbox(project.store.root).names() == [name]
    assert project.get("sessions-live-in-postgres").memory.times_updated == 0


@pytest.mark.parametrize("action", ["accept", "merge", "reject"])
def test_a_draft_that_comes_between_the_click_and_the_lock_is_not_lost(
    browser, save, draft, project, monkeypatch, action
):
    save()
    name, locked = draft("Use uv", session="one", evidence=("seen",)), files.locked

    def update_and_lock(path):
        """Replace the draft just before the lock is taken."""
        monkeypatch.setattr(files, "locked", locked)
        draft("Use uv", session="one", evidence=("not seen",))
        return locked(path)

    monkeypatch.setattr(files, "locked", update_and_lock)

    response = browser.decide(name, action, into="sessions-live-in-postgres")

    assert response.status_code == 409
    assert Inbox(project.store.root).get(name).evidence == ("not seen",)


def test_what_a_draft_is_asked_for_as_is_shown(browser, save, project):
    save()
    fields = {"title": "Use uv", "triggers": ["pip takes forever"]}
    content = {"context": "pip is slow", "decision": "uv", "rationale": ["seconds"]}
    record = compose.compose("decision", {**fields, "content": content})
    Inbox(project.store.root).put(inbox.new_draft(record))

    assert "Triggers pip takes forever" in _text(browser.get("/inbox"))


def test_a_change_of_the_users_own_store_is_taken_back_there(browser, save, project):
    save()
    content = {"topic": "indentation", "value": "tabs", "reason": "width"}
    own = Writer(project.user, project.settings).save(
        compose.compose("preference", {"title": "Tabs", "content": content})
    )

    retired = browser.post(f"/record/user/{own.path}/retire", hash=own.hash, text="spaces now")

    undo = dict(re.findall(r'name="(store|change)" value="([^"]+)"', retired.text))
    assert "Undone" in browser.post("/undo", **undo).text
    assert project.user.read(own.path).memory.record_status == "active"


def test_a_search_for_retired_records_finds_them_behind_many_others(browser, save, project):
    for number in range(25):
        save(f"Sessions live in Postgres {number}")
    project.writer.retire(save("Sessions live in Redis").path, "lost them")

    assert "Sessions live in Redis" in browser.get("/search?q=sessions+live&status=retired").text


def test_a_prompt_of_several_lines_stays_one(browser, save):
    save()

    response = browser.get("/agent", params={"prompt": "it fails:\r\n\r\nKeyError: 'a'"})

    assert "\nit fails:\n\nKeyError: &#39;a&#39;</textarea>" in response.text


def test_hostile_text_is_text_on_every_page(browser, save, draft, project):
    content = {"context": HOSTILE, "decision": HOSTILE, "rationale": [HOSTILE], "alternatives": []}
    checks = [{"on": "command", "has": [HOSTILE]}]
    entry = save(HOSTILE + " title", content=content, tags=["a"], triggers=[HOSTILE], related_files=[], checks=checks)
    claude_code(Path(os.environ["CLAUDE_CONFIG_DIR"]).parent, project.root, "2026-01-05T10:00:00Z", say("a", "ls"))
    save(HOSTILE + " title again", content=content, tags=["a"], triggers=[HOSTILE], related_files=[])
    draft("Draft " + HOSTILE, evidence=(HOSTILE,))
    usage_log.append(project.store.root, [("injected", entry.path)])
    Path(project.store.root, "memory-config.json").write_text('{"alert": "x"}')
    pages = ["/", "/search", "/search?q=script", _address(entry), "/inbox", "/agent?prompt=script+alert", "/timeline"]

    for page in [*pages, "/health?all=1", "/usage", "/effect", "/settings"]:
        text = browser.get(page).text
        assert "alert" in text, page
        assert "<script>alert" not in text and "<img" not in text, page
        assert "\x1b" not in text and "\u202e" not in text, page


def test_no_template_marks_text_as_safe():
    for template in (Path(web.__file__).parent / "templates").iterdir():
        text = template.read_text(encoding="utf-8")
        assert "|safe" not in text.replace(" ", "") and "autoescape" not in text, template
        assert "style=" not in text and " on" + "click" not in text, template


def test_a_prompt_shows_what_the_agent_would_get_and_why(browser, save):
    save(triggers=["where do we keep login state?"])

    relevant, other = (
        browser.get(f"/agent?prompt={text}") for text in ("where+do+we+keep+login+state", "paint+it+blue")
    )

    assert "The agent is shown 1 rule." in relevant.text
    assert "&lt;memory-context" in relevant.text
    assert "The agent is shown nothing." in other.text


def test_a_prompt_that_was_tried_is_not_counted_as_shown(browser, save, project):
    save(triggers=["where do we keep login state?"])

    browser.get("/agent?prompt=where+do+we+keep+login+state")

    assert list(usage_log.read(project.store.root)) == []


def test_the_timeline_has_months_and_successors(browser, save, project):
    old, new = save("Sessions live in Redis"), save()
    Writer(project.store, project.settings).supersede(old.path, new.path)

    text = _text(browser.get("/timeline"))

    assert old.memory.created_at[:7] in text
    assert "superseded by Sessions live in Postgres" in text
    assert browser.get("/timeline").text.count('class="chain"') == 1
    assert "No record matches." in browser.get("/timeline?tag=none").text


def test_the_map_shows_folders_with_and_without_records(browser, save, project):
    repository = GitProject(Path(project.root))
    for name in ("src/auth/login.py", "src/web/page.py"):
        repository.write(name, "x = 1\n")
    repository.commit()
    save(related_files=["src/auth/login.py"])
    for number in (1, 2):
        save(f"Cache wheels in CI {number}")

    text = _text(browser.get("/map"))

    assert "1 of 2 files have records about them." in text
    assert "2 records name no file." in text
    src = _text(browser.get("/map?folder=src"))
    assert "auth/ 1 1 with records 1" in src
    assert "web/ 1 0 no record 0" in src


def test_four_records_that_say_the_same_have_a_button_each(browser, save):
    for name in ("one", "two", "three", "four", "five"):
        save(f"Sessions live in Postgres {name}")

    page = browser.get("/health?all=1")

    assert page.status_code == 200
    buttons = re.findall(r"Replace or retire the (\w+)", page.text)
    assert buttons[:5] == ["first", "second", "third", "next", "next"]


def test_health_names_duplicates_and_changed_files_with_buttons(browser, save, project):
    Path(project.root, "login.py").write_text("x = 1\n")
    save(related_files=["login.py"])
    Path(project.root, "login.py").write_text("x = 2\n")
    for number in (1, 2):
        save(f"Cache wheels in CI {number}", triggers=[])

    quick, thorough = _text(browser.get("/health")), _text(browser.get("/health?all=1"))

    assert "Changed files 1" in quick and "Still true" in quick
    assert "Duplicates" in thorough and "Replace or retire the second" in thorough
    gone = "Run onrecord web, or go on"  # for when the server has ended
    assert "onrecord" not in quick.replace(" ,", ",").replace(gone, "").replace("Onrecord", "")


def test_health_looks_at_the_store_that_is_named(browser, save, project):
    """A need of the personal store led to a page about the project, which found no problem."""
    save()
    broken = Path(project.user.root, "decisions", "broken.json")
    broken.parent.mkdir(parents=True)
    broken.write_text("{")

    start = browser.get("/").text
    page = browser.get("/health?store=user")

    assert 'href="/health?store=user"' in start
    assert "Cannot be read 1 decisions/broken.json" in _text(page)
    assert "broken.json" not in browser.get("/health").text
    assert browser.get("/health?store=nowhere").status_code == 404


def test_health_names_the_records_that_contradict_what_replaces_what(browser, save, project):
    old, new = save("Sessions live in Redis"), save()
    file = Path(project.store.root, new.path)
    file.write_text(json.dumps({**json.loads(file.read_text()), "supersedes": [old.memory.id]}))
    browser.site.check_again()

    assert "Contradict what replaces what 1 Sessions live in Redis" in _text(browser.get("/health"))


def test_health_is_shown_where_two_records_have_one_id(browser, save, project):
    Path(project.root, "login.py").write_text("x = 1\n")
    raw = json.loads(Path(project.store.root, save(related_files=["login.py"]).path).read_text())
    raw.update(category="preference", content={"topic": "a", "value": "b", "reason": "c"})
    other = Path(project.store.root, "preferences", "sessions-live-in-postgres.json")
    other.parent.mkdir()
    other.write_text(json.dumps(raw))
    Path(project.root, "login.py").write_text("x = 2\n")

    assert "sessions-live-in-postgres" in _text(browser.get("/health"))
    assert browser.get("/health").status_code == 200


def test_usage_is_counted_by_week_and_record(browser, save, project):
    entry = save()
    usage_log.append(project.store.root, [("injected", entry.path), ("opened", entry.path)])

    response = browser.get("/usage")

    assert re.search(r"Sessions live in Postgres 1 0 1 0", _text(response))
    assert response.text.count('class="shown"') == response.text.count('class="opened"') == 12


def test_the_effect_is_counted_in_the_sessions_of_agents(browser, save, project, home):
    save("No npm", checks=[{"on": "command", "starts": ["npm install"]}])
    for day in range(1, 13):
        codex(home, project.root, f"2026-01-{day:02d}T10:00:00Z", say("a", "npm install x"), say("no, stop"))

    page = browser.get("/effect")
    text = _text(page)

    assert re.search(r"before \d+ \w+( \d+)?: 12 of 12 sessions ran npm install; since then none could have", text)
    assert "12 sessions: you corrected the agent in 12 of 12" in text
    assert "before 12 of 12: 100 % (76 to 100 %). From 0 to 100 %, with 95 % intervals." in text
    assert page.text.count("<circle") == 1 and '<a href="/effect" aria-current="page">' in page.text
    assert "Holdout" not in text


def test_the_effect_without_sessions_or_checks_is_said(browser, save):
    save()

    text = _text(browser.get("/effect?all=1"))

    assert "No coding agent has had a session in this project" in text
    assert "No record in force has a check" in text


def test_the_effect_names_a_holdout_and_whether_it_is_enough(browser, save, project, home):
    save("No npm", checks=[{"on": "command", "starts": ["npm install"]}])
    config = Path(paths.user_store(), "memory-config.json")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('{"retrieval": {"holdout": 0.5}}')
    assert "50 % of your sessions get no records. No session has begun" in _text(browser.get("/effect"))
    file = Path(state_file.state_path("holdout"))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("2026-01-01T00:00:00Z\t0.5\n")
    codex(home, project.root, "2026-01-05T10:00:00Z", say("a", "npm install x"))

    text = _text(browser.get("/effect"))

    assert re.search(r"Sessions since 1 January\D*( 2026)?: [01] with records, [01] without", text)
    assert "That is not enough to tell: at least 20 of each are needed." in text


def test_settings_say_where_they_come_from(browser, save, project):
    save()
    Path(project.store.root, "memory-config.json").write_text('{"retrieval": {"max_inject": 2}}')

    assert re.search(r"retrieval.max_inject 2 from \S*memory-config.json", _text(browser.get("/settings")))


def test_a_record_shows_what_changed_in_its_file_since(browser, save, project):
    repository = GitProject(Path(project.root))
    repository.write("login.py", "EXPIRY = 14\nNAME = 'ferry'\n")
    repository.commit()
    entry = save(related_files=["login.py"])
    repository.write("login.py", "EXPIRY = '<b>30'\nNAME = 'ferry'\n")

    response = browser.get(_address(entry))

    assert "<del>-EXPIRY = 14</del>" in response.text
    assert "<ins>+EXPIRY = &#39;&lt;b&gt;30&#39;</ins>" in response.text


def test_the_pages_say_which_rules_your_agent_broke(browser, project, save):
    entry = save()
    assert "broke" not in _text(browser.get("/")) + _text(browser.get(_address(entry)))

    for _ in range(3):
        usage_log.add_correction(project.store.root, entry.path, "codex")

    assert re.search(r"your agent broke this 3 times, last on \d{4}-\d\d-\d\d \(codex\)", _text(browser.get("/")))
    assert "Your agent broke this 3 times, last on" in _text(browser.get(_address(entry)))


def test_a_search_that_nothing_fits_says_so_and_names_the_nearest_as_such(browser, save, monkeypatch):
    save()

    nothing = browser.get("/search?q=zzzzqqq").text
    monkeypatch.setattr("onrecord.search.coefficients.SEARCH_FITS", 1.0)
    nearest = re.sub(r"</?mark>", "", browser.get("/search?q=sessions+zzzzqqq&part=1").text)

    assert "Nothing on record is probably about this" in nothing and "Nearest" not in nothing
    assert re.search(
        r"Nearest, probably about something else:.*Sessions +live in Postgres", re.sub("<[^>]+>", " ", nearest), re.S
    )
