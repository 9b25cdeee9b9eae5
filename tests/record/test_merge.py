from __future__ import annotations

import json
import os

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from onrecord.errors import BadRecord
from onrecord.record import memory, merge, schema
from tests.records import valid_records

BASE = {
    "schema_version": "1.0",
    "category": "decision",
    "id": "jobs",
    "title": "Jobs",
    "record_status": "active",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "tags": ["b", "queue"],
    "triggers": ["where do jobs run"],
    "related_files": ["a.py"],
    "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r1", "r2"]},
    "changes": [{"date": "2026-01-01T00:00:00Z", "summary": "Created"}],
    "times_updated": 1,
}


def version(*, content=None, **fields):
    return {**BASE, **fields, "content": {**BASE["content"], **(content or {})}}


def merge_result(ours, theirs, base=BASE):
    result = merge.merge(_file(base) if base else b"", _file(ours), _file(theirs))
    return result, (json.loads(result.data) if not result.clashes else None)


def _file(record):
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode()


def test_different_fields_merge():
    result, record = merge_result(version(title="Work"), version(content={"context": "new", "consequences": ["x"]}))

    assert record == version(title="Work", content={"context": "new", "consequences": ["x"]})
    assert result.clashes == ()


def test_a_clean_merge_is_rendered_as_the_store_renders():
    result, record = merge_result(version(title="Über"), version(confidence=0.5))

    assert result.data == memory.render(memory.from_json(record))


@pytest.mark.parametrize(
    ("field", "ours", "theirs", "both"),
    [
        ("tags", ["a", "b", "queue"], ["b", "queue", "z"], ["a", "b", "queue", "z"]),
        ("tags", ["queue"], ["b", "queue", "z"], ["queue", "z"]),
        ("triggers", ["where do jobs run", "x"], ["where do jobs run", "y"], ["where do jobs run", "x", "y"]),
        ("related_files", ["a.py", "b.py"], ["a.py", "c.py"], ["a.py", "b.py", "c.py"]),
        ("related_files", [], ["a.py", "c.py"], ["c.py"]),
        ("updated_at", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("created_at", "2026-01-01T00:00:00Z", "2025-03-01T00:00:00Z", "2025-03-01T00:00:00Z"),
        ("updated_at", "2026-02-01T00:00:00Z", "2026-02-01T00:00:00.5Z", "2026-02-01T00:00:00.5Z"),
        ("updated_at", "2026-02-01T00:00:00Z", "2026-02-01T00:00:00.000Z", "2026-02-01T00:00:00Z"),
        ("created_at", "2025-02-01T00:00:00Z", "2025-02-01T00:00:00.5Z", "2025-02-01T00:00:00Z"),
        ("times_updated", 3, 2, 4),
        ("supersedes", ["old"], ["older"], ["old", "older"]),
        ("scope", {"paths": ["a"]}, {"branches": ["b"]}, {"paths": ["a"], "branches": ["b"]}),
        ("unknown_key", {"x": 1}, {"y": 2}, {"x": 1, "y": 2}),
    ],
)
def test_what_grows_or_counts_never_clashes(field, ours, theirs, both):
    for first, second in ((ours, theirs), (theirs, ours)):
        record = merge_result(version(**{field: first}), version(**{field: second}))[1]
        value = record[field]
        assert sorted(value) == sorted(both) if isinstance(both, list) else value == both


def test_points_of_a_content_list_merge_item_by_item():
    record = merge_result(
        version(content={"rationale": ["r1", "r2", "r3"]}), version(content={"rationale": ["r2", "r4"]})
    )[1]

    assert record["content"]["rationale"] == ["r2", "r3", "r4"]


def test_histories_become_one_by_date():
    first = {"date": "2026-02-01T00:00:00Z", "summary": "Ours"}
    second = {"date": "2026-03-01T00:00:00Z", "summary": "Theirs"}

    record = merge_result(version(changes=[*BASE["changes"], second]), version(changes=[*BASE["changes"], first]))[1]

    assert record["changes"] == [*BASE["changes"], first, second]


def test_only_the_newest_fifty_changes_stay():
    ours = [{"date": f"2026-02-{n:02}T00:00:00Z", "summary": f"o{n}"} for n in range(1, 29)]
    theirs = [{"date": f"2026-03-{n:02}T00:00:00Z", "summary": f"t{n}"} for n in range(1, 32)]

    record = merge_result(version(changes=ours), version(changes=theirs))[1]

    assert record["changes"] == (ours + theirs)[-50:]


def test_more_tags_than_fit_are_left_to_a_person():
    ours, theirs = [f"o{n:02}" for n in range(10)], [f"t{n:02}" for n in range(10)]

    result = merge_result(version(tags=["queue", *ours]), version(tags=["queue", *theirs]))[0]

    assert result.clashes == ("tags",)
    assert resolve(result, 1)["tags"] == ["queue", *theirs]


def test_tags_that_one_side_alone_changed_are_taken_as_they_are():
    many = [f"t{n:02}" for n in range(14)]

    for sides in ((version(tags=many), version(title="x")), (version(title="x"), version(tags=many))):
        record = merge_result(*sides)[1]
        assert record["tags"] == many
        assert "Tags are full" not in str(record.get("changes"))


@pytest.mark.parametrize("tags", [None, "queue", 7, [1, 2], {"queue": 1}])
def test_tags_that_are_no_tags_are_for_a_person_to_decide(tags):
    assert merge_result(version(tags=tags), version(tags=["other"]))[0].clashes == (
        ("tags",) if tags is not None else ()
    )


@pytest.mark.parametrize(("length", "clashes"), [(249, ()), (250, ("retired_reason",))])
def test_two_reasons_are_joined_as_long_as_they_fit_into_one(length, clashes):
    """A reason has 500 characters at most, and two are joined by two."""
    retired = {"record_status": "retired", "retired_at": "2026-02-01T00:00:00Z"}

    result, record = merge_result(
        version(**retired, retired_reason="a" * 249), version(**retired, retired_reason="b" * length)
    )

    assert result.clashes == clashes
    assert clashes or record["retired_reason"] == "a" * 249 + "; " + "b" * 249


@pytest.mark.parametrize(("theirs", "clashes"), [(8, ()), (9, ("triggers",))])
def test_more_triggers_than_fit_are_left_to_a_person(theirs, clashes):
    base = version(triggers=[])
    ours, others = ([f"{name}{n}" for n in range(count)] for name, count in (("o", 8), ("t", theirs)))

    assert merge_result(version(triggers=ours), version(triggers=others), base)[0].clashes == clashes


def test_a_retirement_and_an_edit_merge():
    retired = {"record_status": "retired", "retired_at": "2026-02-01T00:00:00Z", "retired_reason": "gone"}

    record = merge_result(version(**retired), version(content={"context": "new"}))[1]

    assert record == version(**retired, content={"context": "new"})


def test_two_retirements_keep_the_later_date_and_both_reasons():
    first = {"record_status": "retired", "retired_at": "2026-02-01T00:00:00Z", "retired_reason": "one"}
    second = {"record_status": "retired", "retired_at": "2026-02-02T00:00:00Z", "retired_reason": "another"}
    both = version(**{**second, "retired_reason": "another; one"})

    assert merge_result(version(**first), version(**second))[1] == both
    assert merge_result(version(**second), version(**first))[1] == both


def test_two_reasons_too_long_for_one_field_are_left_to_a_person():
    first, second = (
        {"record_status": "retired", "retired_at": "2026-02-01T00:00:00Z", "retired_reason": letter * 300}
        for letter in "ab"
    )

    assert merge_result(version(**first), version(**second))[0].clashes == ("retired_reason",)


def test_both_sides_renew_the_anchor_of_one_file():
    """The two blobs once became a list, and the record unreadable."""
    base, ours, theirs = (
        version(anchors=[{"path": "auth.py", "blob": blob * 40, "date": f"2026-0{day}-01T00:00:00Z"}])
        for blob, day in (("a", 1), ("b", 2), ("c", 3))
    )

    assert merge_result(ours, theirs, base)[1]["anchors"] == theirs["anchors"]
    assert merge_result(theirs, ours, base)[1]["anchors"] == theirs["anchors"]


def test_what_only_another_version_knows_of_an_anchor_stays():
    base, ours, theirs = (
        version(anchors=[{"path": "auth.py", "blob": blob * 40, **more}])
        for blob, more in (("a", {}), ("b", {"x": 1}), ("c", {"y": True}))
    )

    (anchor,) = merge_result(ours, theirs, base)[1]["anchors"]
    assert (anchor["x"], anchor["y"]) == (1, True)
    assert merge_result(ours, version(anchors=[{"path": "auth.py", "blob": "c" * 40, "x": True}]), base)[0].clashes == (
        "anchors",
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "clash"),
    [(True, 1, "x"), (0, False, "x"), (1, 1.0, "x"), ({"a": 1}, {"a": True}, "x.a")],
)
def test_true_is_not_one(ours, theirs, clash):
    assert merge_result(version(x=ours), version(x=theirs))[0].clashes == (clash,)


def test_true_and_one_are_two_items():
    assert _text(merge_result(version(x=[True]), version(x=[1]))[1]["x"]) == "[true, 1]"


def test_opposite_supersessions_are_left_to_a_person():
    """Merged in silence, each record said that the other replaces it, and neither was shown."""
    replaced = version(superseded_by="other", content={"status": "superseded"})
    replacing = version(supersedes=["other"])

    for ours, theirs in ((replaced, replacing), (replacing, replaced)):
        result = merge_result(ours, theirs)[0]
        assert set(result.clashes) == {"superseded_by", "supersedes", "content.status"}
        assert (resolve(result, 0), resolve(result, 1)) == (ours, theirs)


def test_a_clash_elsewhere_does_not_hide_that_the_rest_is_no_valid_record():
    ours, theirs = ([f"{side}{n:02}" for n in range(10)] for side in "ot")

    result = merge_result(version(title="O", tags=ours), version(title="T", tags=theirs))[0]

    assert result.clashes == ("title", "tags")


def test_versions_that_cannot_be_one_record_are_not_merged_as_records():
    long = "x" * 600_000
    with pytest.raises(BadRecord):
        merge_result(version(x_one=long), version(x_two=long))


def test_retired_here_and_archived_there_is_for_a_person_to_decide():
    first = {"record_status": "retired", "retired_at": "2026-02-01T00:00:00Z", "retired_reason": "one"}
    second = {"record_status": "archived", "archived_at": "2026-02-02T00:00:00Z", "archived_reason": "two"}

    result = merge_result(version(**first), version(**second))[0]

    assert result.clashes[0] == "record_status"
    assert resolve(result, 0) == version(**first)
    assert resolve(result, 1) == version(**second)


def resolve(result, side):
    """The record after a person chose one side of every clash."""
    kept, lines, where = [], result.data.decode().split("\n"), None
    for line in lines:
        if line == "<<<<<<< ours":
            where = 0
        elif line == "=======":
            where = 1
        elif line == ">>>>>>> theirs":
            where = None
        elif where in (None, side):
            kept.append(line)
    return json.loads("\n".join(kept))


def test_a_clash_shows_both_versions_around_that_field_alone():
    result = merge_result(version(content={"decision": "ours"}, title="Work"), version(content={"decision": "theirs"}))[
        0
    ]

    assert result.clashes == ("content.decision",)
    assert (
        '    "context": "c",\n<<<<<<< ours\n    "decision": "ours",\n=======\n    "decision": "theirs",\n'
        '>>>>>>> theirs\n    "rationale": [\n'
    ) in result.data.decode()
    assert resolve(result, 0) == version(title="Work", content={"decision": "ours"})
    assert resolve(result, 1) == version(title="Work", content={"decision": "theirs"})


def test_the_same_item_replaced_differently_is_a_clash():
    ours, theirs = ["r1 ours", "r2"], ["r1 theirs", "r2"]

    result = merge_result(version(content={"rationale": ours}), version(content={"rationale": theirs}))[0]

    assert result.clashes == ("content.rationale",)
    assert resolve(result, 1)["content"]["rationale"] == theirs


def test_the_steps_of_a_runbook_are_never_shuffled():
    base = {**BASE, "category": "runbook", "content": {"steps": ["1", "2"]}}
    ours, theirs = ({**base, "content": {"steps": ["1", "2", extra]}} for extra in ("a", "b"))

    assert merge_result(ours, theirs, base)[0].clashes == ("content.steps",)


def test_removed_here_and_changed_there_leaves_no_stray_comma():
    ours = {key: value for key, value in version().items() if key != "times_updated"}
    base, theirs = version(zzz="1"), version(zzz="2")

    result = merge_result(ours, theirs, base)[0]

    assert result.clashes == ("zzz",)
    assert "zzz" not in resolve(result, 0)
    assert resolve(result, 1)["zzz"] == "2"


def test_one_record_born_on_both_sides():
    record = merge_result(version(tags=["a"]), version(tags=["z"], confidence=0.5), base=None)[1]

    assert record == version(tags=["a", "z"], confidence=0.5, times_updated=2)


def test_the_marker_size_is_the_one_git_asks_for():
    data = merge.merge(_file(BASE), _file(version(title="o")), _file(version(title="t")), marker_size=12).data

    assert b"\n<<<<<<<<<<<< ours\n" in data


@pytest.mark.parametrize("bad", [b"{", b"[]", b"\xff", b"null"])
def test_what_is_not_a_record_is_not_merged(bad):
    with pytest.raises(BadRecord):
        merge.merge(_file(BASE), bad, _file(BASE))


MERGES = 50
"""Merges of one example."""

EXAMPLES = 2_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 10
"""With HYPOTHESIS_PROFILE=long 100,000 merges, in about ten minutes."""


# An example is fifty merges: shrinking it would take minutes and show no more than the first that fails.
@settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.data(), st.randoms(use_true_random=False))
def test_a_merge_holds_what_both_sides_wrote_and_is_valid_or_says_where_to_choose(data, random):
    category = data.draw(st.sampled_from(list(schema.FOLDERS)))
    first, *donors = [data.draw(valid_records((category,))) for _ in range(3)]
    for _ in range(MERGES):
        base = first if random.random() < 0.9 else {}
        ours, theirs = (_edited(random, first, donor) for donor in donors)
        result = merge.merge(_file(base) if base else b"", _file(ours), _file(theirs))
        if result.clashes:
            for side, version in ((0, ours), (1, theirs)):
                chosen = resolve(result, side)
                assert memory.new_flaws(chosen, ours, theirs) == []
                assert _lost(base, version, chosen) == []
        else:
            record = json.loads(result.data)
            assert memory.flaws(memory.parse(result.data)) == []
            assert _lost(base, ours, record) == _lost(base, theirs, record) == []


def _edited(random, record, donor):
    """A valid version of a record in which some fields, and some of its content, are those of another."""
    edited = dict(record)
    for key in random.sample(sorted({*record, *donor} - {"category"}), random.randint(0, 4)):
        _take(random, edited, donor, key)
    edited["content"] = dict(edited["content"])
    for key in random.sample(sorted({*record["content"], *donor["content"]}), random.randint(0, 2)):
        _take(random, edited["content"], donor["content"], key)
    return edited if not memory.flaws_in(edited) else dict(record)


def _take(random, edited, donor, key):
    mine, other = edited.get(key), donor.get(key)
    if isinstance(mine, list) and isinstance(other, list) and random.random() < 0.5:
        both = mine + [item for item in other if item not in mine]
        edited[key] = sorted(both) if key == "tags" else both
    elif isinstance(mine, dict) and isinstance(other, dict) and random.random() < 0.5:
        edited[key] = {**mine, **other}
    elif key in donor:
        edited[key] = other
    else:
        edited.pop(key, None)


NEWEST, OLDEST = {"updated_at", "times_updated", "retired_at", "archived_at"}, {"created_at"}


def _lost(base, side, result, where=""):
    """The places at which one side wrote something that the result does not hold."""
    return [
        where + key
        for key in side
        if not merge._same(side[key], base.get(key, LACKING))
        and not _holds(where + key, base.get(key), side[key], result.get(key, LACKING))
    ]


LACKING = object()


def _holds(where, base, written, result):
    if where in NEWEST or where in OLDEST:
        return result >= written if where in NEWEST else result <= written
    if where in ("retired_reason", "archived_reason"):
        return written in result
    if where == "anchors":
        return _hold_anchors(base or [], written, result)
    if isinstance(written, dict) and isinstance(result, dict):
        return _lost(base if isinstance(base, dict) else {}, written, result, f"{where}.") == []
    if isinstance(written, list) and isinstance(result, list):
        is_full = where == "changes" and len(result) == 50
        old = base if isinstance(base, list) else []
        return is_full or all(_text(item) in map(_text, result) for item in written if item not in old)
    return merge._same(written, result)


def _hold_anchors(base, written, result):
    """Of an anchor that both sides renewed one state stays, and all that no version of ours knows."""
    places = {(anchor["path"], anchor.get("symbol")): anchor for anchor in result}
    state = {"blob", "hash", "commit", "block", "date"}
    return all(
        anchor in base
        or anchor in result
        or not _lost(
            {},
            {k: v for k, v in anchor.items() if k not in state},
            places.get((anchor["path"], anchor.get("symbol")), {}),
        )
        for anchor in written
    )


def _text(item):
    return json.dumps(item, sort_keys=True)


words = st.text("abc ", min_size=1, max_size=3).filter(str.strip)
versions = st.builds(
    version,
    title=words,
    tags=st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=12, unique=True).map(sorted),
    triggers=st.lists(words, max_size=4, unique=True),
    times_updated=st.integers(0, 9),
    content=st.fixed_dictionaries(
        {"context": words, "rationale": st.lists(words, min_size=1, max_size=3, unique=True)}
    ),
)


@given(versions, versions, versions)
def test_every_merge_is_valid_and_either_choice_of_a_clash_too(base, ours, theirs):
    result = merge_result(ours, theirs, base)[0]

    for side in (0, 1):
        chosen = resolve(result, side)
        flaws = [flaw for flaw in schema.flaws(chosen) if "at least" not in flaw.message]
        assert flaws == []
        assert {*chosen} == {*BASE}


@given(versions, versions)
def test_a_side_that_did_not_change_has_no_say(base, theirs):
    result, record = merge_result(base, theirs, base)

    assert result.clashes == ()
    assert record == theirs


@given(versions, versions, versions)
def test_sides_may_be_swapped(base, ours, theirs):
    one, other = merge_result(ours, theirs, base)[0], merge_result(theirs, ours, base)[0]

    assert one.clashes == other.clashes
    if not one.clashes:
        left, right = json.loads(one.data), json.loads(other.data)
        assert left["tags"] == right["tags"]
        assert sorted(left["triggers"]) == sorted(right["triggers"])


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "message"),
    [
        (b"[]", b"{}", b"{}", "the common ancestor: is not a JSON object"),
        (b"", b"3", b"{}", "our version: is not a JSON object"),
        (b" ", b"{}", b"null", "their version: is not a JSON object"),
    ],
)
def test_what_cannot_be_merged_is_left_to_a_person(base, ours, theirs, message):
    with pytest.raises(BadRecord) as caught:
        merge.merge(base, ours, theirs)

    assert (caught.value.message, caught.value.fix) == (message, "merge it by hand")
