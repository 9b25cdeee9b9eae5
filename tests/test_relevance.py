"""Relevance of texts that no index holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import coldstart
from recollect.digest import relevance
from recollect.digest.selection import Candidate
from tests import without_fts5


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(f"k{n}", "pattern", "", text, "", is_local=True) for n, text in enumerate(texts)]


def test_what_matches_has_a_score_and_what_does_not_has_none() -> None:
    found = relevance.of_texts(
        candidates("The parser reads files", "Deploys happen on Monday", "Colours are blue", "A file is closed"),
        "parser for reading files",
    )

    assert sorted(found) == ["k0", "k3"]
    assert found["k0"] > found["k3"] > 0


def test_scripts_without_spaces_match() -> None:
    found = relevance.of_texts(candidates("設定ファイルを読み込む", "Deploys", "Retries", "Caches"), "ファイルの設定")

    assert list(found) == ["k0"]


def test_a_small_and_a_large_collection_speak_of_the_same_thing() -> None:
    other = [f"Deploys of service number {n} happen on Monday" for n in range(300)]
    small = relevance.of_texts(candidates("parser reading files", *other[:5]), "parser reading files")
    large = relevance.of_texts(candidates("parser reading files", *other), "parser reading files")

    assert small["k0"] == pytest.approx(large["k0"], rel=0.25)


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=4))
def test_any_text_is_a_query_that_sqlite_accepts(text: str, texts: list[str]) -> None:
    assert all(score >= 0 for score in relevance.of_texts(candidates(*texts), text).values())


def test_without_fts5_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coldstart, "connect", without_fts5.connect)

    with pytest.raises(relevance.Unavailable):
        relevance.of_texts(candidates("parser"), "parser")
