"""The page of a digest: what comes above the map, the map, and what is said where not all has room or is known."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord.digest import map_page
from onrecord.digest.digest import Digest
from onrecord.digest.selection import DigestCandidate, Pick
from onrecord.digest.work_context import Feature, WorkContext
from onrecord.git.changes import Changes
from onrecord.text import DATA_NOTE

HEAD = f'<memory-context source=".claude/memory/" kind="map" note="{DATA_NOTE}">'


def pick(name: str, *, reason: str = "", caution: str = "", **fields: Any) -> Pick:
    row = {
        "text": f"Text of {name}.",
        "updated": "2026-03-02T09:30:00Z",
        "name": name,
        "line": f"Rule {name}",
        **fields,
    }
    text = row.pop("text")
    candidate = DigestCandidate(f"/m/{name}", "decision", f"Title {name}", text, f"{name}.json", True, **row)
    return Pick(candidate, 0.0, 0.0, 0.0, reason, caution)


def digest(*picks: Pick, **fields: Any) -> Digest:
    context = WorkContext(Feature("csv-import", "", ""), "main", Changes(), [])
    row = {"weight": 0.6, "limit": 120, "max_tokens": 2_000, "warnings": [], "picks": picks, **fields}
    return Digest(context, **row)


def lines(page_digest: Digest, max_characters: int = 9_700) -> list[str]:
    text = page_digest.render(max_characters).text
    if not text:
        return []
    first, *body, last = text.split("\n")
    assert (first, last) == (HEAD, "</memory-context>")
    return body


LAST = "*Memory: 1 entries (1 local, 0 global) | relevance: inactive*"
ABOVE = '<result category="decision" updated="2026-03-02" path="a.json">Text of a. (left unfinished; check it)</result>'


def test_a_digest_of_nothing_is_no_page():
    page = digest().render()

    assert (page.text, page.is_whole, page.entries) == ("", False, [])


def test_the_map_has_its_head_its_entries_and_a_last_line():
    page = digest(pick("b")).render()

    assert lines(digest(pick("b"))) == [*map_page.HEAD, "Decisions:", "- b: Rule b", LAST]
    assert (page.is_whole, page.left_out, page.is_partial) == (True, 0, False)
    assert ([entry.name for entry in page.entries], page.text.shows) == (["b"], ("map of 1 record",))


def test_where_relevance_decides_the_last_line_says_what_the_work_is():
    assert lines(digest(pick("b"), relevance="active"))[-1] == (
        '*Memory: 1 entries (1 local, 0 global) | relevance: active, weight=0.6 | context: "csv import…"*'
    )


def test_what_comes_above_the_map_has_its_reason_and_its_caution():
    above = [pick("a", reason="left unfinished", caution="check it"), pick("c", caution="check it"), pick("d")]
    page = digest(above=above).render()

    assert lines(digest(above=above)) == [
        ABOVE,
        '<result category="decision" updated="2026-03-02" path="c.json">Text of c. (check it)</result>',
        '<result category="decision" updated="2026-03-02" path="d.json">Text of d.</result>',
    ]
    assert (page.text.shows, page.is_whole) == (("Title a", "Title c", "Title d"), False)


def test_a_session_that_has_a_map_gets_the_new_lines_only():
    update = digest(pick("b"), pick("c")).after_map(lambda candidate: candidate.name == "c")

    assert lines(update) == [map_page.HEAD_OF_UPDATE, "Decisions:", "- c: Rule c"]
    assert lines(digest(pick("b")).after_map(lambda candidate: False)) == []


def test_unwanted_entries_above_the_map_are_left_out():
    page_digest = digest(above=[pick("a"), pick("c")]).only(lambda candidate: candidate.name == "c")

    assert [picked.candidate.name for picked in page_digest.render().above] == ["c"]


def test_an_index_that_is_not_complete_is_said_above_the_map():
    page = digest(pick("b"), building="The index is being built").render()

    assert lines(digest(pick("b"), building="The index is being built"))[0] == "The index is being built"
    assert (page.is_partial, page.is_whole) == (True, False)
    assert lines(digest(building="The index is being built")) == ["The index is being built"]


@pytest.mark.parametrize(("max_tokens", "characters"), [(100, 9_700), (2_000, 400)])
def test_a_page_has_a_limit_of_tokens_and_of_characters(max_tokens, characters):
    long, short = pick("a", text="x" * 1_000), pick("c")
    page = digest(pick("b"), above=[long, short], max_tokens=max_tokens).render(characters)

    assert [picked.candidate.name for picked in page.above] == ["c"]
    assert (page.lines, page.left_out) == ((), 1)


def test_the_words_of_the_work_are_said_once():
    context = WorkContext(Feature("csv-import", "Import csv files", "design"), "feat/csv", Changes(), [])

    assert digest()._replace(context=context).words == "csv import Import files design"
