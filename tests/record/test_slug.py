from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.record import naming

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Use Postgres 16, not MySQL!", "use-postgres-16-not-mysql"),
        ("Don't retry", "dont-retry"),
        ("Größe prüfen", "grosse-prufen"),
        ("Ωμέγα", "omega"),
        ("Развёртывание", "razvyortyvanie"),
        ("naïve café", "naive-cafe"),
        ("user_id → userId", "user-id-userid"),
        ("  --  a  --  ", "a"),
        ("½ done", "12-done"),
        ("Importer depuis l'index, jamais d’ailleurs", "importer-depuis-index-jamais-ailleurs"),
        ("L'app usa un'API dell'host", "app-usa-api-host"),
        ("Rock'n'roll: it's the users' choice", "rocknroll-its-the-users-choice"),
    ],
)
def test_a_title_becomes_a_readable_id(title, expected):
    assert naming.slug(title) == expected


@pytest.mark.parametrize("title", ["データベース", "결제 서비스", "שלום עולם", "قاعدة البيانات", "ฐานข้อมูล", "नमस्ते"])
def test_alphabets_and_syllables_are_spelt(title):
    assert re.search("[a-z]{3,}", naming.slug(title))


def test_ideographs_take_hints_and_a_hash():
    one, other = naming.slug("数据库选型", ["postgres", "decision"]), naming.slug("缓存选型", ["postgres", "decision"])

    assert re.fullmatch("postgres-decision-[0-9a-f]{6}", one)
    assert one != other


@pytest.mark.parametrize("title", ["", "!!!", "→", "\u200d", "🚀"])
def test_a_title_without_letters_still_has_an_id(title):
    assert re.fullmatch("memory-[0-9a-f]{6}", naming.slug(title))


@given(st.text(), st.lists(st.text(max_size=10), max_size=3))
def test_any_title_gives_a_valid_id(title, hints):
    slug = naming.slug(title, hints)

    assert ID.fullmatch(slug)
    assert len(slug) <= 40


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Sessions live in Postgres, not in Redis", "sessions-live-in-postgres-not-in-redis"),
        ("Jobs run in a table of the database, not in Redis", "jobs-run-in-a-table-of-the-database-[0-9a-f]{4}"),
        ("Jobs run in a table of the databases, not in Redis", "jobs-run-in-a-table-of-the-[0-9a-f]{4}"),
        ("x" * 50, "x{35}-[0-9a-f]{4}"),
    ],
)
def test_a_long_title_is_cut_at_a_word(title, expected):
    assert re.fullmatch(expected, naming.slug(title))


def test_long_titles_that_begin_alike_have_different_ids():
    start = "Jobs run in a table of the database, "

    assert naming.slug(f"{start}never in Redis") != naming.slug(f"{start}never in NATS")
    assert naming.slug(f"{start}never in Redis") == naming.slug(f"{start}NEVER in «Redis»")


@given(st.text(max_size=200), st.integers(2, 10**6))
def test_a_numbered_id_is_valid_and_another_one(title, number):
    slug = naming.slug(title)
    numbered = naming.numbered_id(slug, number)

    assert ID.fullmatch(numbered)
    assert len(numbered) <= 80
    assert numbered.endswith(f"-{number}")


def test_the_same_title_in_another_normal_form_has_the_same_id():
    assert naming.slug("cafe\u0301 数") == naming.slug("caf\u00e9 数")


@pytest.mark.parametrize("title", ["CON", "nul", "Com1", "lpt9"])
def test_a_name_that_windows_has_for_a_device_is_no_id(title):
    assert naming.slug(title) == f"memory-{title.lower()}"
