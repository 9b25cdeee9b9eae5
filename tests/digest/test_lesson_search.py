"""Which entries of knowledge banks are about the work at hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import coldstart
from onrecord.digest import knowledge_bank
from onrecord.digest.selection import DigestCandidate
from tests import without_fts5


def lessons(*titles: str) -> list[DigestCandidate]:
    return [DigestCandidate(title, "pattern", title, f"{title}: Look twice.", "", is_local=True) for title in titles]


@pytest.mark.parametrize(
    ("intent", "matching"),
    [
        ("parser reading files", ["The parser reads files", "A file is read twice"]),
        ("parser", ["The parser reads files"]),
        ("parser colours invoices", []),
        ("twice", ["A file is read twice"]),
        ("", []),
    ],
)
def test_an_entry_has_at_least_half_of_the_words_and_a_single_one_in_its_title(
    intent: str, matching: list[str]
) -> None:
    entries = lessons("The parser reads files", "Deploys happen on Monday", "A file is read twice")

    assert sorted(knowledge_bank.relevance(entries, intent)) == sorted(matching)


def test_more_of_the_words_is_more_relevant() -> None:
    relevance = knowledge_bank.relevance(lessons("Parser", "Parser of files"), "parser files")

    assert relevance == {"Parser": 0.5, "Parser of files": 1.0}


def test_scripts_without_spaces_match() -> None:
    assert list(knowledge_bank.relevance(lessons("設定ファイルを読み込む", "Deploys"), "設定ファイル")) == [
        "設定ファイルを読み込む"
    ]


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=4))
def test_any_text_is_a_query_that_sqlite_accepts(text: str, titles: list[str]) -> None:
    assert all(0 < share <= 1 for share in knowledge_bank.relevance(lessons(*titles), text).values())


def test_without_fts5_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coldstart, "connect", without_fts5.connect)

    with pytest.raises(knowledge_bank.Unavailable):
        knowledge_bank.relevance(lessons("parser"), "parser")
