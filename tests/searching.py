"""A search over one index or over all stores by text, as most tests of search need it."""

from __future__ import annotations

from typing import Any

from onrecord.recall import for_prompt
from onrecord.recall.candidate import Candidate
from onrecord.recall.stores import Stores
from onrecord.search import query, rank
from onrecord.search.candidates import Filter
from onrecord.search.index import Index
from onrecord.search.rank import Match
from onrecord.settings import Settings


def find(index: Index, text: str, limit: int = 10, **filter: Any) -> list[Match]:
    return rank.find(index, query.parse(text), Filter(**filter), limit)


def candidates(stores: Stores, prompt: str, settings: Settings) -> list[Candidate]:
    return for_prompt.find(stores, query.parse(prompt), settings)
