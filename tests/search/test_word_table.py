"""The table that ships with the package: whole, small enough, and of some use."""

from __future__ import annotations

import os

import pytest

from onrecord.search import vectors

LARGEST = 6_000_000


@pytest.fixture(scope="module")
def made() -> vectors.Vectorizer:
    return vectors.Vectorizer(vectors.open_table(vectors.FILE))


def cosine(made: vectors.Vectorizer, first: str, second: str) -> float:
    columns = vectors.columns(made.vector(vectors.words(second)), vectors.DIMENSIONS)
    return vectors.products(vectors.signed(made.vector(vectors.words(first))), columns, 1)[0] / vectors.LENGTH**2


def test_the_table_is_whole_and_small(made):
    made.table.check()

    assert os.path.getsize(vectors.FILE) <= LARGEST


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("people get signed out after a deploy", "users are logged out by a release", "the invoice is rounded twice"),
        ("the page takes ages to load", "slow rendering of the dashboard", "rotate the signing key"),
        ("where do we put secrets?", "passwords and tokens are stored in the vault", "tabs, not spaces"),
        ("which db do we use", "the database is PostgreSQL", "buttons are blue"),
    ],
)
def test_texts_of_one_meaning_are_nearer_than_others(made, text, near, far):
    assert cosine(made, text, near) > cosine(made, text, far) + 0.15


def test_a_text_is_as_near_to_itself_as_can_be(made):
    assert cosine(made, "retry the paymentService", "retry the payment service") == pytest.approx(1, abs=0.01)
