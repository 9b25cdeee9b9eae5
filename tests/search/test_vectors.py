"""Texts as vectors and products of vectors, against plain sums; and the table that ships with the package."""

from __future__ import annotations

import math
import os
import re
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.search import vectors
from onrecord.search.vectors import LENGTH, BadTable, Vectorizer
from tests import tiny_table

TOKENS = tiny_table.tokens(["sign log", "users people", "session", "redis", "##ing ##s", "token tokens"])


def vector_of(vectorizer: Vectorizer, text: str) -> bytes:
    return vectorizer.vector(vectors.words(text))


@pytest.fixture(scope="module")
def vectorizer(tmp_path_factory: pytest.TempPathFactory) -> Vectorizer:
    return Vectorizer(vectors.open_table(str(tiny_table.write(tmp_path_factory.mktemp("table") / "words.vec", TOKENS))))


def plain_words(text: str) -> list[str]:
    lowered = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower()
    apart = unicodedata.normalize("NFKD", lowered.replace("ß", "ss"))
    plain = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return re.findall(r"[a-z0-9]+|[^\x00-\x7f]+", plain)


def plain_pieces(word: str) -> list[str]:
    if word in TOKENS:
        return [word]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((e for e in range(len(word), start, -1) if mark + word[start:e] in TOKENS), 0)
        if not end:
            return []
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def plain_vector(text: str) -> list[float]:
    total = [0.0] * 128
    for word in plain_words(text):
        for piece in plain_pieces(word):
            scale, row = TOKENS[piece]
            total = [value + scale * number for value, number in zip(total, row)]
    length = math.hypot(*total)
    return [value / length for value in total] if length else []


@given(st.text(st.sampled_from(string.printable + "äÖüßéñçÅ")))
def test_words_are_those_of_the_documented_pattern(text):
    assert vectors.words(text) == plain_words(text)


@given(st.text())
def test_words_of_any_script_have_letters_only(text):
    assert all(word.isascii() or word.replace("ー", "a").isalnum() for word in vectors.words(text))
    assert all(word.isalnum() or "ー" in word for word in vectors.words(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("如何添加新的字段？API测试", ["如何", "何添", "添加", "加新", "新的", "的字", "字段", "api", "测试"]),
        ("テストを実行してください。", ["テスト", "実行"]),
        ("データベースの移行", ["データベース", "移行"]),
        ("마이그레이션을 추가해 줘 (PR)", ["마이그레이션을", "추가해", "줘", "pr"]),
        ("Новый класс — «кэш», ёлка", ["новый", "класс", "кэш", "ёлка"]),
        ("kullanıcı ŞİFRESİ", ["kullanici", "sifresi"]),
        ("“quoted” – text…", ["quoted", "text"]),
    ],
)
def test_words_of_other_scripts(text, words):
    assert vectors.words(text) == words


def test_an_ending_follows_the_beginning_of_a_word_of_another_script(tmp_path):
    made = tiny_table.tokens(["миграци", "설정", "поле"])
    vectorizer = Vectorizer(vectors.open_table(str(tiny_table.write(tmp_path / "words.vec", made))))

    assert vectorizer.word("миграциями").row == vectorizer.word("миграци").row >= 0
    assert vectorizer.word("설정을").row == vectorizer.word("설정").row >= 0
    assert vectorizer.word("полевойпримерник").row == -1, "half of a word is not its beginning"
    assert vectorizer.word("설").tokens == 0


ORDINARY = st.lists(st.sampled_from("sign users Sessions redis logIn tokens xyz 42 user_id größe".split()), max_size=20)


@given(ORDINARY.map(" ".join))
def test_a_vector_is_the_sum_of_its_words_at_one_length(vectorizer, text):
    expected = plain_vector(text)

    vector = vector_of(vectorizer, text)

    assert len(vector) == len(expected)
    assert vectors.signed(vector) == pytest.approx([value * LENGTH for value in expected], abs=0.6)


def test_a_dimension_that_is_nearly_all_of_a_vector_is_cut_to_a_byte(tmp_path):
    rows = {"up": (0.01, [120] + [0] * 127), "down": (0.01, [-120] + [0] * 126 + [8])}
    vectorizer = Vectorizer(vectors.open_table(str(tiny_table.write(tmp_path / "words.vec", rows))))

    assert vectors.signed(vector_of(vectorizer, "up")) == [127] + [0] * 127
    assert vectors.signed(vector_of(vectorizer, "down"))[0] == -128


def test_words_that_cannot_be_looked_up_have_no_vector(vectorizer):
    assert vector_of(vectorizer, "") == vector_of(vectorizer, "日本語") == b""
    assert not vectorizer.word("x" * 41).tokens
    assert not vectorizer.word("abcdefghi").tokens, "nine pieces say nothing"
    assert vectorizer.word("abcdefgh").tokens == 8


def test_letters_lose_their_accents(vectorizer):
    assert vectors.words("Größe der Sitzungen, señal") == ["grosse", "der", "sitzungen", "senal"]
    assert vector_of(vectorizer, "Sígn") == vector_of(vectorizer, "sign")


def test_only_the_first_160_tokens_count(vectorizer):
    many, single = vector_of(vectorizer, "redis " * 160 + "users " * 200), vector_of(vectorizer, "redis")

    assert max(abs(a - b) for a, b in zip(many, single)) <= 1


def test_a_text_of_unknown_words_costs_only_so_many_lookups(vectorizer, monkeypatch):
    asked = []
    monkeypatch.setattr(vectorizer.table, "row_of", lambda token: asked.append(token) or -1)

    vector_of(vectorizer, " ".join(f"unknown{number}" for number in range(2_000)))

    assert len(asked) < 49 * 19


@given(
    st.lists(st.binary(min_size=8, max_size=8), max_size=40), st.lists(st.integers(-127, 127), min_size=8, max_size=8)
)
def test_products_are_plain_sums(rows, query):
    expected = [sum(a * (b - 128) for a, b in zip(query, row)) for row in rows]

    assert vectors.products(query, vectors.columns(b"".join(rows), 8), len(rows)) == expected
    assert vectors.products_of_each([query, query], vectors.columns(b"".join(rows), 8), len(rows)) == [expected] * 2


@pytest.mark.parametrize("value", [-127, 127])
@pytest.mark.parametrize("stored", [0, 255])
def test_the_largest_products_stay_in_their_lanes(value, stored):
    assert vectors.products([value] * 128, [bytes([stored]) * 9] * 128, 9) == [128 * value * (stored - 128)] * 9


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: b"RCLVEC99" + data[8:],
        lambda data: data[:8] + b"\xff\xff\xff\xff" + data[12:],
        lambda data: data[:12] + b"\x07\0\0\0" + data[16:],
        lambda data: data[:-1],
        lambda data: data + b"\0",
    ],
)
def test_a_damaged_table_is_refused(tmp_path, damage):
    path = tiny_table.write(tmp_path / "words.vec", TOKENS)
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(BadTable):
        vectors.open_table(str(path))


def test_two_tables_have_two_identities(tmp_path):
    one = tiny_table.write(tmp_path / "a.vec", TOKENS)
    other = tiny_table.write(tmp_path / "b.vec", {**TOKENS, "redis": (0.5, TOKENS["redis"][1])})

    assert vectors.open_table(str(one)).hash != vectors.open_table(str(other)).hash
    assert vectors.open_table(str(one)).hash == vectors.open_table(str(one)).hash


def test_scales_that_no_training_gives_count_nothing(tmp_path):
    rows = {"nan": (math.nan, [16] * 128), "huge": (1e30, [16] * 128), "minus": (-1.0, [16] * 128)}
    vectorizer = Vectorizer(vectors.open_table(str(tiny_table.write(tmp_path / "words.vec", rows))))

    assert vector_of(vectorizer, "nan huge minus") == b""


MAX_TABLE_BYTES = 6_000_000


@pytest.fixture(scope="module")
def shipped_vectorizer() -> vectors.Vectorizer:
    return vectors.Vectorizer(vectors.open_table(vectors.FILE))


def cosine(shipped_vectorizer: vectors.Vectorizer, first: str, second: str) -> float:
    columns = vectors.columns(shipped_vectorizer.vector(vectors.words(second)), vectors.DIMENSIONS)
    return (
        vectors.products(vectors.signed(shipped_vectorizer.vector(vectors.words(first))), columns, 1)[0]
        / vectors.LENGTH**2
    )


def test_the_table_is_whole_and_small(shipped_vectorizer):
    shipped_vectorizer.table.check()

    assert os.path.getsize(vectors.FILE) <= MAX_TABLE_BYTES


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("people get signed out after a deploy", "users are logged out by a release", "the invoice is rounded twice"),
        ("the page takes ages to load", "slow rendering of the dashboard", "rotate the signing key"),
        ("where do we put secrets?", "passwords and tokens are stored in the vault", "tabs, not spaces"),
        ("which db do we use", "the database is PostgreSQL", "buttons are blue"),
        ("¿dónde guardamos las contraseñas?", "passwords are stored in the vault", "tabs, not spaces"),
        ("comment ajouter une colonne à la base de données", "add a column to the database", "buttons are blue"),
        ("wie lange heben wir Protokolle auf", "how long logs are kept", "buttons are blue"),
        ("как добавить поле в таблицу базы данных", "add a column to a database table", "buttons are blue"),
        ("如何在数据库表中添加字段", "add a column to a database table", "buttons are blue"),
        ("データベースのテーブルに列を追加する", "add a column to a database table", "buttons are blue"),
        ("데이터베이스 테이블에 열을 추가하기", "add a column to a database table", "buttons are blue"),
    ],
)
def test_texts_of_one_meaning_are_nearer_than_others(shipped_vectorizer, text, near, far):
    assert cosine(shipped_vectorizer, text, near) > cosine(shipped_vectorizer, text, far) + 0.15


def test_a_text_is_as_near_to_itself_as_can_be(shipped_vectorizer):
    assert cosine(shipped_vectorizer, "retry the paymentService", "retry the payment service") == pytest.approx(
        1, abs=0.01
    )
