"""Meaning in a real index: found in other words, measured exactly, kept up to date, and absent without a table."""

from __future__ import annotations

import os
import random

import pytest

from onrecord.search import (
    candidates,
    index,
    indexing,
    query,
    record_vectors,
    semantic,
    vectors,
)
from tests import searching, tiny_table
from tests.records import put, sample
from tests.search.test_index import found

MEANINGS = [
    "users people customers", "logout signed logged", "deploy release rollout", "database postgres storage",
    "slow latency sluggish", "invoice bill receipt", "email mail message", "colour color paint",
    "button widget control", "cache memo store", "retry again repeat", "test check verify", "the a of is we are in",
]  # fmt: skip


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    """A table of a few meanings as the one of the package."""
    path = tiny_table.write(tmp_path / "words.vec", tiny_table.tokens(MEANINGS))
    monkeypatch.setattr(vectors, "FILE", str(path))
    return path


def decision(name, title, text, **fields):
    content = {"status": "accepted", "context": "", "decision": text, "rationale": []}
    return sample(id=name, title=title, content=content, tags=["topic"], **fields)


@pytest.fixture
def root(tmp_path):
    store = str(tmp_path / "memory")
    put(store, decision("logout", "Customers stay logged in", "The rollout keeps people signed in.",
                        triggers=["users logged", "customers signed again"]))  # fmt: skip
    put(
        store, decision("bill", "The invoice is a receipt", "We mail the bill. Customers check the message in storage.")
    )
    put(store, decision("paint", "Paint of the button", "The widget has a color of the control."))
    return store


def features(root, text):
    return {match.id: match.features for match in searching.find(index.in_memory(root), text, mode="auto")}


def cosine(first, second):
    made = vectors.shared()
    return (
        vectors.products(
            vectors.signed(made.vector(vectors.words(first))),
            vectors.columns(made.vector(vectors.words(second)), 128),
            1,
        )[0]
        / vectors.LENGTH**2
    )


def test_a_prompt_in_other_words_finds_its_record(root):
    assert found(root, "release logout", mode="auto")[:1] == ["logout"]
    assert found(root, "email sluggish receipt", mode="auto")[:1] == ["bill"]


def test_the_features_are_the_cosines_of_the_texts(root):
    prompt = "release logout of people"

    measured = features(root, prompt)["logout"]

    assert measured["title_meaning"] == pytest.approx(cosine(prompt, "Customers stay logged in"))
    assert measured["trigger_meaning"] == pytest.approx(
        max(cosine(prompt, "users logged"), cosine(prompt, "customers signed again"))
    )
    assert measured["sentence_meaning"] == pytest.approx(cosine(prompt, "The rollout keeps people signed in."))
    whole = cosine(prompt, "Customers stay logged in The rollout keeps people signed in.")
    assert measured["whole_meaning"] == pytest.approx(whole)
    best = max(measured[f"{name}_meaning"] for name in ("title", "trigger", "sentence"))
    assert measured["meaning"] == pytest.approx((whole + best) / 2)
    assert measured["vector_share"] == 1


def test_the_closest_record_leads_by_its_distance_from_the_next(root):
    measured = features(root, "customers logged in the invoice")
    first, second, *_ = sorted((each["meaning"] for each in measured.values()), reverse=True)

    assert sorted(each["meaning_lead"] for each in measured.values())[-2:] == pytest.approx(
        [second - first, first - second]
    )


def test_a_word_like_one_of_the_record_counts_by_its_similarity(root):
    measured = features(root, "receipt colour colour")

    assert measured["paint"]["coverage"] == 0
    colour, receipt = candidates.rarity(0, 3), candidates.rarity(1, 3)
    expected = colour * cosine("colour", "color") / (colour + receipt)
    assert measured["paint"]["soft_coverage"] == pytest.approx(expected, abs=0.03)
    assert measured["bill"]["soft_coverage"] == pytest.approx(receipt / (colour + receipt))


def test_words_without_a_vector_lower_the_share(root):
    measured = features(root, "receipt Rechnungsversand")

    assert measured["bill"]["vector_share"] == 0.5


@pytest.mark.parametrize("content", [None, b"", b"RCLVEC02 cut off"])
def test_without_a_good_table_words_alone_decide(root, table, content):
    table.unlink() if content is None else table.write_bytes(content)

    assert found(root, "release logout") == []
    assert found(root, "stay logged in") == ["logout"]
    assert features(root, "stay logged in")["logout"]["meaning"] == 0


def test_vectors_of_another_table_are_made_anew(root, table, tmp_path, monkeypatch):
    assert found(root, "release logout", mode="auto")[:1] == ["logout"]
    other = tiny_table.write(tmp_path / "other.vec", tiny_table.tokens(MEANINGS, seed=2))
    monkeypatch.setattr(vectors, "FILE", str(other))

    assert found(root, "release logout", hook=True, mode="auto")[:1] == ["logout"]
    assert index.open(root)._connection.execute("SELECT identity FROM vector_source").fetchall() == [
        (vectors.shared().table.hash,)
    ]


def test_vectors_made_partly_without_a_table_are_made_anew(root, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(vectors, "FILE", str(tmp_path / "nowhere"))
        found(root, "receipt")

    assert found(root, "release logout") == ["logout"]


def test_a_changed_record_keeps_its_number_and_its_old_meaning_is_gone(root):
    opened = index.open(root)
    (number,) = opened._connection.execute("SELECT n FROM record WHERE id = 'paint'").fetchone()
    put(root, decision("paint", "Slow database", "Postgres is slow."))
    opened.refresh()

    assert opened._select("WHERE id = 'paint'")[0].n == number
    assert [match.id for match in searching.find(opened, "colour widget")] == []
    assert [match.id for match in searching.find(opened, "sluggish latency")] == ["paint"]


def test_a_removed_or_retired_record_is_not_near(root):
    opened = index.open(root)
    os.unlink(os.path.join(root, "decisions", "paint.json"))
    put(root, decision("bill", "The invoice is a receipt", "We mail the bill.", record_status="retired"))
    opened.refresh()

    assert searching.find(opened, "colour widget") == []
    assert searching.find(opened, "message receipts", mode="auto") == []


def random_store(count, seed=5):
    """An index of records of random words, and the words."""
    rng = random.Random(seed)
    words = [word for group in MEANINGS for word in group.split()]
    text = lambda size: " ".join(rng.choices(words, k=size))  # noqa: E731
    return [decision(f"r{n}", text(4), f"{text(9)}. {text(8)}.", triggers=[text(3)]) for n in range(count)], text


def written(tmp_path, records):
    for record in records:
        put(str(tmp_path / "memory"), record)
    opened = index.in_memory(str(tmp_path / "memory"))
    return opened, dict(opened._connection.execute("SELECT id, n FROM record").fetchall())


@pytest.mark.parametrize(("exact", "dimensions"), [(12, 128), (1, 32)])
def test_gists_are_compared_exactly_in_all_dimensions_or_in_the_first(tmp_path, monkeypatch, exact, dimensions):
    records, text = random_store(600)
    opened, numbers = written(tmp_path, records)
    monkeypatch.setattr(semantic, "_MAX_EXACT_BLOCKS", exact)
    made = vectors.shared()
    values = vectors.signed(made.vector(vectors.words(text(6))))

    first, products = semantic.compare_gists(opened, values)

    gists = {record.id: record_vectors.build(record, made).gist[:dimensions] for record in records}
    plain = {name: sum(a * (b - 128) for a, b in zip(values, gist)) for name, gist in gists.items()}
    assert {record.id: products[numbers[record.id] - first] for record in records} == plain


def test_a_gist_is_as_close_as_the_whole_and_the_title_with_triggers_on_average(root):
    made = vectors.shared()
    values = vectors.signed(made.vector(["release", "logout"]))
    whole = "Customers stay logged in The rollout keeps people signed in"
    topic = "Customers stay logged in users logged customers signed again"
    opened = index.in_memory(root)
    ((number,),) = opened._connection.execute("SELECT n FROM record WHERE id = 'logout'").fetchall()

    _, products = semantic.compare_gists(opened, values)

    expected = (cosine("release logout", whole) + cosine("release logout", topic)) / 2
    assert products[number] / vectors.LENGTH**2 == pytest.approx(expected, abs=0.01)


def test_the_nearest_are_the_nearest_by_plain_sums(tmp_path, monkeypatch):
    monkeypatch.setattr(semantic, "_MIN_MEANING", -1)
    records, text = random_store(40)
    opened, numbers = written(tmp_path, records)
    made = vectors.shared()
    for _ in range(10):
        prompt = text(6)
        values = vectors.signed(made.vector(vectors.words(prompt)))
        plain = {numbers[record.id]: _plain_meaning(values, record, made) for record in records}

        nearest = semantic.compare(opened, query.parse(prompt)).nearest(())

        above = [n for n in sorted(plain, key=lambda n: (-plain[n], n)) if n in nearest]
        assert nearest == above
        assert len(nearest) == semantic.MAX_NEAREST
        assert nearest[0] == min(plain, key=lambda n: (-plain[n], n))


def _plain_meaning(values, record, made):
    stored = record_vectors.build(record, made).vectors
    rows = [stored[start : start + 128] for start in range(0, len(stored), 128)]
    title, whole, *rest = (sum(a * (b - 128) for a, b in zip(values, row)) for row in rows)
    return whole + max(title, *rest)


def test_a_change_of_one_record_rewrites_one_block(tmp_path):
    records, _ = random_store(600)
    root = str(tmp_path / "memory")
    for record in records:
        put(root, record)
    opened = index.in_memory(root)
    written = []
    opened._connection.set_trace_callback(lambda sql: written.append(sql[:40]) if "vector_" in sql else None)

    opened._connection.execute("BEGIN")
    indexing.remove(opened, ["decisions/r300.json"])

    assert sorted(sql[:34] for sql in written if sql.startswith("INSERT")) == [
        "INSERT OR REPLACE INTO vector_head", "INSERT OR REPLACE INTO vector_tail",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vector SET vectors = x'00'",
        "UPDATE vector SET vectors = 'text'",
        "UPDATE vector SET words = x'000001'",
        "UPDATE vector SET words = x'ffffffffffffffff'",
        "UPDATE vector_head SET gists = x'00'",
        "UPDATE vector_tail SET gists = NULL",
        "DELETE FROM vector_tail",
        "DELETE FROM vector_head",
        "UPDATE vector_head SET block = 7",
    ],
)
def test_damaged_vectors_are_made_anew(root, damage):
    opened = index.open(root)
    opened._connection.execute(damage)

    assert [match.id for match in searching.find(opened, "release logout")] == ["logout"]


def test_a_record_of_endless_unknown_words_costs_only_so_many_lookups(monkeypatch):
    """Sixteen triggers of three thousand words each took twelve seconds."""
    asked = []
    made = vectors.Vectorizer(vectors.shared().table)
    monkeypatch.setattr(made.table, "row_of", lambda token: asked.append(token) or -1)
    endless = [" ".join(f"x{number}y{place}" for number in range(3_000)) for place in range(20)]

    record_vectors.build(decision("hostile", endless[0], ". ".join(endless), triggers=endless), made)

    words = 17 * 500 // 5 + 24 * 400 + 400
    assert len(asked) < words * 10
