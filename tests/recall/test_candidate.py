"""The block an agent is shown, and the caution on a record whose files have changed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import paths
from onrecord.hooks import tools
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts import claude_code
from onrecord.hosts.events import Payload
from onrecord.project import Project
from onrecord.recall import for_failure, for_file, for_prompt, selection
from onrecord.recall.candidate import Item, fitting_items, render_block
from onrecord.recall.stores import Stores
from onrecord.session.ledger import Ledger
from onrecord.session.transcript import NO_SESSION
from onrecord.settings import load_settings
from onrecord.text import DATA_NOTE, count_tokens, cut
from tests.known_project import known_project

NOTE = f'note="{DATA_NOTE}"'


def item(text: str, **more: str) -> Item:
    return Item("decision", text, ".claude/memory/decisions/a.json", **more)


def test_a_memory_is_shown_with_what_is_needed_to_judge_it():
    shown = render_block([item("Use Postgres 16.", confidence="high", updated="2026-02-15T10:00:00Z")], "src/")

    assert shown == (
        f'<memory-context source="src/" {NOTE}>\n'
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


FILE = "src/session.py"
ASKS = "how long does a login session live, LIFETIME_DAYS?"
ERROR = 'Exit code 1\nERROR: worker lost: lease expired for shard "invoices-eu" while flushing'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "src").mkdir()
    (tmp_path / FILE).write_text("LIFETIME_DAYS = 14\n")
    constraint = (
        "constraint",
        {"title": "A login session lives 14 days", "rule": "LIFETIME_DAYS of a login session is 14, \"not\" more.",
         "impact": ["the app logs its users out"], "severity": "high", "related_files": [FILE],
         "triggers": [ASKS]},
    )  # fmt: skip
    runbook = (
        "runbook",
        {"title": "Worker lost its lease", "trigger": "worker lost: lease expired for shard while flushing",
         "symptoms": ["ERROR: worker lost: lease expired for shard"], "steps": ["Restart the shard."],
         "verification": "The lease is renewed.", "related_files": [FILE]},
    )  # fmt: skip
    return known_project(tmp_path, constraint, runbook)


def at_prompt(project: Project, session: str = "s") -> str:
    settings = load_settings(project.store.root)
    return for_prompt.answer(project.stores, ASKS, settings, session=session, transcript=NO_SESSION)


def at_file(project: Project, session: str = "s", *, is_edit: bool = False) -> str:
    settings, stores = load_settings(project.store.root), Stores(paths.store_refs(project.store.root))
    return for_file.block(stores, project.root, FILE, settings, session, is_edit=is_edit)


def at_edit(project: Project, session: str = "s") -> str:
    return at_file(project, session, is_edit=True)


def at_failure(project: Project) -> str:
    settings, stores = load_settings(project.store.root), Stores(paths.store_refs(project.store.root))
    return for_failure.block(stores, "make flush", ERROR, settings, "s")


def after_compaction(project: Project) -> str:
    at_prompt(project)
    return selection.after_compaction(Stores(paths.store_refs(project.store.root)), "s")


@pytest.mark.parametrize("show", [at_prompt, at_file, at_edit, at_failure, after_compaction])
def test_a_record_whose_file_has_changed_says_so_wherever_it_is_shown(project, show):
    fresh = show(project)
    (Path(project.root) / FILE).write_text("LIFETIME_DAYS = 30\n")
    with Ledger("s") as noted:
        noted.reset()
    changed = show(project)

    assert "<result " in fresh and "verify:" not in fresh
    assert re.search(r"\(verify: `src/session.py` changed since \d{4}-\d\d-\d\d\)</result>", changed)


def test_a_record_reads_the_same_wherever_it_is_shown(project):
    records = [re.sub(' confidence="[a-z]+"', "", text) for text in (
        at_prompt(project), after_compaction(project), at_file(project, "other"), at_edit(project),
    )]  # fmt: skip

    assert len(set(records)) == 1
    assert 'is 14, "not" more' in records[0]


def test_a_grave_constraint_is_repeated_at_the_first_edit_of_its_file(project):
    first, read, edit, again = at_prompt(project), at_file(project), at_edit(project), at_edit(project)

    assert (bool(first), read, bool(edit), again) == (True, "", True, "")


@pytest.mark.parametrize(("tool", "is_shown"), [("Read", False), ("Edit", True), ("MultiEdit", True), ("Write", True)])
def test_every_tool_that_writes_a_file_counts_as_an_edit(project, tool, is_shown):
    at_prompt(project)
    payload = {"session_id": "s", "cwd": project.root, "tool_name": tool, "tool_input": {"file_path": FILE}}

    event = claude_code.read("pre_tool_use", Payload(payload))

    answer = tools.pre_tool_use(event, EventStores(project.root, project.store.root, ""))

    assert bool(answer.text) is is_shown


def test_what_an_edit_showed_first_is_not_repeated_by_the_next_edit(project):
    assert (bool(at_edit(project)), at_edit(project)) == (True, "")


@pytest.mark.parametrize("severity", ["medium", "low"])
def test_other_records_are_not_repeated_at_an_edit(project, severity):
    entry = project.get("a-login-session-lives-14-days")
    project.writer.update(entry.path, {"content": {"severity": severity}}, entry.hash)

    assert (bool(at_prompt(project)), at_edit(project)) == (True, "")


@given(
    st.lists(st.text(st.sampled_from("ab .中"), min_size=1, max_size=400), min_size=1, max_size=4), st.integers(0, 400)
)
def test_a_mark_is_never_cut_however_small_the_budget(texts, budget):
    kept = fitting_items([item(f"(no longer in force, high severity) {text}") for text in texts], budget)

    assert all(each.text.startswith("(no longer in force, high severity)") for each in kept)
