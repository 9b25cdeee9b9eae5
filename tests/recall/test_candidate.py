"""The block an agent is shown."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from onrecord.recall.candidate import Item, fitting_items, render_block
from onrecord.text import count_tokens, cut


def item(text: str, **more: str) -> Item:
    return Item("decision", text, ".claude/memory/decisions/a.json", **more)


def test_a_memory_is_shown_with_what_is_needed_to_judge_it():
    shown = render_block([item("Use Postgres 16.", confidence="high", updated="2026-02-15T10:00:00Z")], "src/")

    assert shown == (
        '<memory-context source="src/">\n'
        '<result category="decision" confidence="high" updated="2026-02-15" path=".claude/memory/decisions/a.json">'
        "Use Postgres 16.</result>\n"
        "</memory-context>"
    )


def test_history_is_one_clause():
    assert render_block([item("B.", note="replaces “A” since 2026-01-01")], "s").count("(replaces “A” since") == 1


def test_no_items_are_no_block():
    assert render_block([], "s") == ""


@given(st.text(), st.text())
def test_no_text_can_pose_as_structure(text, path):
    shown = render_block([Item("decision", text, path)], "s")

    tree = ElementTree.fromstring(shown)
    assert [child.tag for child in tree] == ["result"]
    assert len(tree[0]) == 0
    assert shown.count("\n") == 2


@given(st.lists(st.text(max_size=600), min_size=1, max_size=8), st.integers(100, 1_000))
def test_the_budget_is_kept_or_one_item_is_left(texts, budget):
    kept = fitting_items([item(text) for text in texts], budget)

    # Escaping may lengthen a text after it was measured; one entity costs at most six characters.
    cost = count_tokens(render_block(kept, "s"))
    escaped = sum(text.count(char) for text in texts for char in '&<>"') * 2
    assert kept
    assert cost <= budget + escaped + 8 or len(kept) == 1


def test_three_long_essences_share_three_hundred_tokens():
    kept = fitting_items([item("word " * 84) for _ in range(3)], 300)

    assert len(kept) == 3
    assert count_tokens(render_block(kept, "s")) <= 305
    assert all(one.text.endswith("…") for one in kept)


def test_a_short_essence_leaves_its_share_to_the_others():
    short, long = item("Short."), item("word " * 80)

    fitting_items([short, long], 300)

    assert short.text == "Short."
    assert long.text == "word " * 80


def test_a_cut_falls_between_words():
    assert cut("one two three four", 15) == "one two three…"


def test_joiners_survive_and_overrides_do_not():
    assert render_block([item("می‌خواهم\u202e")], "s").count("می‌خواهم ") == 1
