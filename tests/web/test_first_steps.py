"""Every page of a project without a store or without records says what to do first, and has the button for it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.store.inbox import Inbox
from onrecord.store.writer import Writer
from onrecord.web import view
from tests.git_project import GitProject
from tests.web import served

ADR = "# Use Postgres\n\n## Status\n\nAccepted\n\n## Context\n\nWe need rows.\n\n## Decision\n\nWe use Postgres.\n"
PAGES = [link.address for link in view.NAVIGATION]
OF_THE_PROJECT = ["/", "/map", "/timeline", "/health", "/usage"]


def _text(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def _buttons(response) -> list[str]:
    """Return where the buttons lead that say what to do first."""
    main = response.text.partition("<main")[2]
    addresses = ("/do/begin", "/do/import", "/new/decision", "/inbox")
    return [address for address in addresses if re.search(rf'(class="button[^"]*" href|action)="{address}"', main)]


def _write_adr(project, text: str = ADR) -> None:
    folder = Path(project.root, "docs", "adr")
    folder.mkdir(parents=True)
    (folder / "0001-use-postgres.md").write_text(text)


def _fill_own_store(project) -> None:
    content = {"topic": "tabs", "value": "spaces", "reason": "diffs"}
    record = compose.compose("preference", {"title": "Spaces, never tabs", "content": content})
    Writer(project.user, Settings()).save(record)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_of_a_project_without_a_store_has_the_button_that_makes_one(browser, path):
    """All but Start were an error with a command."""
    response = browser.get(path)

    assert response.status_code == 200
    assert "/do/begin" in _buttons(response)
    assert "onrecord init" not in response.text


@pytest.mark.parametrize("path", PAGES)
def test_every_page_of_a_store_without_records_leads_to_the_first_one(browser, project, path):
    """Health found no problems, and the timeline asked for another category."""
    browser.post("/do/begin")

    first = browser.get(path)
    _write_adr(project)
    with_document = browser.get(path)

    assert _buttons(first) == ["/new/decision"]
    assert _buttons(with_document) == ["/do/import", "/new/decision"]
    for wrong in ("No problems found", "No record matches", "No agent has been shown a record of", "inbox is empty"):
        assert wrong not in first.text


@pytest.mark.parametrize("path", PAGES)
def test_no_page_begins_where_there_are_records(browser, save, path):
    save()

    response = browser.get(path)

    assert "Make the memory" not in response.text and "of its own yet" not in response.text


@pytest.mark.parametrize("path", PAGES)
def test_a_project_whose_reader_has_records_of_their_own_begins_all_the_same(browser, project, path):
    _fill_own_store(project)

    response = browser.get(path)

    assert "/do/begin" in _buttons(response)
    is_only_a_note = "This project has no memory of its own yet" in _text(response)
    assert is_only_a_note == (path not in OF_THE_PROJECT)


def test_what_other_stores_have_is_found_before_the_project_has_a_memory(browser, project):
    _fill_own_store(project)

    assert "Spaces, never tabs" in browser.get("/search?q=tabs").text


def test_the_memory_is_made_with_one_button(browser, project):
    GitProject(Path(project.root)).commit()

    begun = browser.post("/do/begin")

    assert "The memory is made." in begun.text
    assert os.path.isfile(os.path.join(project.store.root, "index.md"))


def test_documents_are_imported_with_one_button_and_their_drafts_are_the_next_step(browser, project):
    browser.post("/do/begin")
    _write_adr(project)

    imported = browser.post("/do/import")

    assert "1 draft made of the documents." in _text(imported)
    assert len(Inbox(project.store.root).names()) == 1
    for path in ("/search", "/map", "/timeline", "/health", "/usage", "/effect", "/agent", "/settings"):
        page = browser.get(path)
        assert "Review 1 draft" in _text(page) and "/do/import" not in _buttons(page)


def test_an_import_that_makes_no_draft_says_so(browser, project):
    """The page said that drafts were made, or that it failed."""
    browser.post("/do/begin")
    key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    _write_adr(project, ADR.replace("We need rows.", f"The key is {key}."))

    refused = browser.post("/do/import")

    assert refused.status_code == 200
    assert "No draft was made. docs/adr/0001-use-postgres.md: line" in _text(refused)


def test_a_guide_for_agents_is_no_document_to_import(browser, project):
    """Its button was there, and made nothing."""
    browser.post("/do/begin")
    Path(project.root, "CLAUDE.md").write_text("# Rules\n\nUse uv.\n")

    assert _buttons(browser.get("/")) == ["/new/decision"]


def test_the_conflict_of_a_team_is_reviewed_before_the_project_has_a_record(browser, project):
    browser.post("/do/begin")
    served.conflict(project)

    page = browser.get("/inbox")

    assert "Compare and choose" in page.text
