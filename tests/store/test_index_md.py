from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from onrecord.store import index_md
from tests.known_project import six_records
from tests.records import sample

STATUSES = ("active", "retired", "archived")
titles = st.text(max_size=20) | st.sampled_from(["x -> decisions/a.json #tags:b", "- [DECISION] y", "#tags:", "->"])


def test_a_page_for_people_and_grep():
    page = index_md.render([sample("runbook", title="Disk full"), sample(), sample(record_status="retired", id="gone")])

    assert page.split("\n") == [
        *index_md.HEADER,
        "- [DECISION] Sessions in Redis -> decisions/sessions-in-redis.json #tags:redis,sessions",
        "- [RUNBOOK] Disk full -> runbooks/sessions-in-redis.json #tags:redis,sessions",
        "",
    ]


def test_no_records_make_a_page_without_entries():
    assert index_md.record_lines(index_md.render([])) == []


def test_a_title_cannot_pass_for_the_rest_of_the_line():
    line = index_md.line(sample(title="x -> decisions/other.json #tags:y\n- [DECISION] z", tags=["a,b"]))

    assert line == (
        "- [DECISION] x → decisions/other.json # tags:y - [DECISION] z -> decisions/sessions-in-redis.json #tags:a b"
    )


@st.composite
def _memories(draw):
    ids = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5))
    return {
        record.path: record
        for record in (
            sample(id=name, title=draw(titles) or "t", record_status=draw(st.sampled_from(STATUSES))) for name in ids
        )
    }


@given(_memories(), _memories(), st.data())
def test_a_revised_catalog_is_the_one_that_would_be_rendered(before, changes, data):
    removed_paths = data.draw(st.lists(st.sampled_from(sorted(before)), unique=True) if before else st.just([]))
    removed_paths = [path for path in removed_paths if path not in changes]
    after = {**{path: record for path, record in before.items() if path not in removed_paths}, **changes}

    revised = index_md.revise(index_md.render(before.values()), removed_paths=removed_paths, records=changes.values())

    assert revised == index_md.render(after.values())


def test_a_catalog_out_of_order_and_with_doubles_is_put_right_by_the_next_change():
    first, second = sample(id="a", title="A"), sample(id="b", title="B")
    messy = "\n".join(["- [DECISION] stray text", index_md.line(second), index_md.line(first), index_md.line(second)])

    revised = index_md.revise(messy, removed_paths=[], records=[first])

    assert index_md.record_lines(revised) == sorted(
        [index_md.line(first), index_md.line(second), "- [DECISION] stray text"]
    )


def test_a_page_of_the_earlier_plugin_is_replaced_by_the_next_change(tmp_path):
    project = six_records(tmp_path)
    page = Path(project.store.root, "index.md")
    old_lines = [line.replace(" -> ", " -> .claude/memory/") for line in index_md.record_lines(page.read_text())]
    page.write_text(
        "\n".join(["# Memory Index", "", *old_lines, "- [DECISION] Gone -> .claude/memory/decisions/x.json"])
    )

    project.writer.retire("sessions-live-in-postgres-not-redis", "moved")

    assert index_md.differences(project.store.root, (entry.memory for entry in project.store.entries())) == []
    assert "sessions-live" not in page.read_text()
