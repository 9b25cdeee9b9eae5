"""Successors of records that replace each other, also in a circle: the newest that is in force is shown."""

from __future__ import annotations

import itertools

import pytest

from onrecord import coldstart
from onrecord.search import candidates, index, indexing, query, rank
from tests import searching
from tests.known_project import known_project
from tests.records import put, sample

NAMES = "abcd"
DAYS = dict(zip(NAMES, ("2026-01-03", "2026-01-01", "2026-01-04", "2026-01-02")))
"""Dates in another order than the names, so that neither order passes for the other."""


@pytest.fixture(scope="module")
def opened():
    """An index of four records of the same words, without links."""
    connection = coldstart.connect(":memory:", isolation_level=None)
    built = index.Index("/nowhere", connection, has_words=index.prepare(connection))
    for n, name in enumerate(NAMES, 1):
        values = (n, f"decisions/{name}.json", name, "decision", f"Queue {name}", "active", DAYS[name])
        connection.execute(
            "INSERT INTO record (n, path, id, category, title, status, updated_at, tags, expires, void, summary_line,"
            " mark, anchors, scope, areas, title_terms, tag_terms, trigger_terms, body_terms)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, '', '', 0, '', '', '', '', '', '', '', '', '')",
            values,
        )
    return built


def followed(links, start):
    """The names from one to the next, up to the last, or to the first that would come again."""
    names = [start]
    while links[names[-1]] not in (*names, None):
        names.append(links[names[-1]])
    return names, links[names[-1]]


def test_in_every_graph_of_links_the_newest_at_an_end_holds(opened):
    execute = opened._connection.execute
    rows = opened._select("ORDER BY n")
    changes = indexing._Changes(opened)
    for choice in itertools.product((*NAMES, None), repeat=len(NAMES)):
        links = {old: new if new != old else None for old, new in zip(NAMES, choice)}
        execute("DELETE FROM succession")
        pairs = [(old, new, n) for n, (old, new) in enumerate(links.items(), 1) if new]
        opened._connection.executemany("INSERT INTO succession VALUES (?, ?, ?)", pairs)

        holding = {row.id: candidates.successors(opened, [row])[row.n] for row in rows}

        for name, row in holding.items():
            names, again = followed(links, name)
            circle = names[names.index(again) :] if again else names[-1:]
            assert row is not None, links
            assert row.id == max(circle, key=DAYS.__getitem__), (links, name)
        changes._note_circles()
        current = {name for (name,) in execute(f"SELECT id FROM record WHERE {index.NOT_REPLACED}")}
        assert current == {name for name, row in holding.items() if row.id == name}, links


@pytest.mark.parametrize(
    ("statuses", "shown"),
    [
        (("active", "active", "active"), "c"),
        (("active", "active", "retired"), "b"),
        (("active", "retired", "archived"), "a"),
    ],
)
def test_in_a_circle_the_newest_active_one_is_shown(tmp_path, statuses, shown):
    root = str(tmp_path / "memory")
    for place, (name, status) in enumerate(zip("abc", statuses)):
        after = "abc"[(place + 1) % 3]
        date = f"2026-01-0{place + 1}T00:00:00Z"
        links = {"superseded_by": after, "supersedes": ["abc"[place - 1]]}
        put(root, sample(id=name, title=f"Queue {name}", updated_at=date, record_status=status, **links))

    opened = index.in_memory(root)

    assert {match.id for match in searching.find(opened, "queue", mode="auto")} == {shown}
    assert [row.id for row in rank.by_keywords(opened, query.parse("queue"), candidates.Filter())] == [shown]


def test_a_circle_that_also_leads_to_a_missing_record_is_shown(tmp_path):
    root = str(tmp_path / "memory")
    put(root, sample(id="a", title="Queue a", superseded_by="b", updated_at="2026-01-01T00:00:00Z"))
    put(
        root, sample(id="b", title="Queue b", superseded_by="gone", supersedes=["a"], updated_at="2026-01-02T00:00:00Z")
    )
    put(root, sample(id="c", title="Queue c", superseded_by="c"))
    put(root, sample(id="d", title="Queue d", superseded_by="c"))

    assert {match.id for match in searching.find(index.in_memory(root), "queue", mode="auto")} == {"c", "d"}

    put(root, sample(id="a", title="Queue a", superseded_by="b", supersedes=["b"], updated_at="2026-01-01T00:00:00Z"))

    assert {match.id for match in searching.find(index.in_memory(root), "queue", mode="auto")} == {"c", "d"}

    put(root, sample(id="b", title="Queue b", superseded_by="a", supersedes=["a"], updated_at="2026-01-02T00:00:00Z"))

    assert {match.id for match in searching.find(index.in_memory(root), "queue", mode="auto")} == {"b", "c", "d"}


def test_a_digest_shows_the_newest_of_a_circle(tmp_path):
    project = known_project(tmp_path)
    for name in ("old", "new"):
        project.save("decision", {"title": f"Queue {name}", "context": "c", "decision": name, "rationale": "r"})
    for name, other in (("old", "new"), ("new", "old")):
        entry = project.get(f"queue-{name}")
        put(
            project.store.root,
            entry.memory._replace(
                superseded_by=f"queue-{other}", supersedes=(f"queue-{other}",), updated_at=f"2026-02-0{len(name)}"
            ),
        )
    opened = index.open(project.store.root)

    rows = opened._connection.execute(f"SELECT id FROM record WHERE {index.NOT_REPLACED}").fetchall()

    assert len(rows) == 1


@pytest.mark.parametrize(
    ("links", "circling"),
    [
        ([], ""),
        ([("a", "b"), ("b", "c")], ""),
        ([("a", "b"), ("b", "a")], "ab"),
        ([("x", "a"), ("a", "b"), ("b", "a"), ("b", "y")], "xab"),
        ([("a", "a")], "a"),
    ],
)
def test_what_leads_into_a_circle(links, circling):
    assert indexing.in_circles(links) == set(circling)


def test_a_chain_of_any_length_is_followed_within_a_bound(tmp_path):
    root = str(tmp_path / "memory")
    for number in range(40):
        links = {"superseded_by": f"r{number + 1}", "supersedes": [f"r{number - 1}"] if number else []}
        put(root, sample(id=f"r{number}", title=f"Queue {number}", **links))
    put(root, sample(id="r40", title="Other words", supersedes=["r39"]))
    opened = index.in_memory(root)

    assert {match.id for match in searching.find(opened, "queue", mode="auto")} == {"r40"}
    (first,) = opened._select("WHERE id = 'r0'")
    assert candidates.successors(opened, [first])[first.n].id == "r40"
