"""Changes to JSON that somebody wrote by hand: the rest stays, byte for byte, and nothing of ours remains."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onrecord.hosts import json_edit

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

OURS = {"hooks": [{"type": "command", "command": "sh '/a b/launch' stop codex || : onrecord", "timeout": 5}]}
KEYS = st.sampled_from(["hooks", "mcpServers", "Stop", "onrecord", "a", "ü", 'quote"', "back\\slash", "// no comment"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from([1.5, "", "text", "/* no */", "a,}"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


class Hand:
    """Writes a value as a person might: with comments, odd spaces, trailing commas and line ends of either kind."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.newline = draw(st.sampled_from(["\n", "\r\n"]))

    def gap(self) -> str:
        nl = self.newline
        choices = [
            "",
            "",
            " ",
            nl,
            f"{nl}  ",
            f"{nl}\t",
            " /* c, } */ ",
            f" // it's {{ here{nl}",
            f"{nl}  // own{nl}  ",
        ]
        return str(self.draw(st.sampled_from(choices)))

    def write(self, value: Any) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=self.draw(st.booleans()))
        is_object = isinstance(value, dict)
        names = [f"{json.dumps(key)}{self.gap()}:{self.gap()}" for key in value] if is_object else [""] * len(value)
        parts = [name + self.write(part) for name, part in zip(names, value.values() if is_object else value)]
        text = self.gap().join(f"{part}{self.gap()}," for part in parts[:-1])
        if parts:
            text += self.gap() + parts[-1] + self.gap() + self.draw(st.sampled_from(["", ","]))
        opening, closing = "{}" if is_object else "[]"
        return opening + self.gap() + text + self.gap() + closing


@st.composite
def documents(draw: Any) -> str:
    value = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    hooks = draw(st.sampled_from([None, {}, {"Stop": []}, {"Stop": [{"hooks": []}]}, {"Start": [1]}]))
    value.pop("hooks", None)
    if hooks is not None:
        value["hooks"] = hooks
    if not isinstance(value.get("mcpServers", {}), dict):
        del value["mcpServers"]
    value.get("mcpServers", {}).pop("onrecord", None)
    hand = Hand(draw)
    return hand.gap() + hand.write(value) + hand.gap()


def is_ours(item: Any) -> bool:
    return ": onrecord" in json.dumps(item)


def add(text: str) -> str:
    text = json_edit.put_item(text, ("hooks", "Stop"), OURS, is_ours)
    text = json_edit.put_item(text, ("hooks", "UserPromptSubmit"), OURS, is_ours)
    return json_edit.put(text, ("mcpServers", "onrecord"), {"command": "/a b/onrecord", "args": ["mcp"]})


def remove(text: str) -> str:
    text = json_edit.drop(text, ("mcpServers", "onrecord"))
    text = json_edit.drop_items(text, ("hooks", "UserPromptSubmit"), is_ours)
    return json_edit.drop_items(text, ("hooks", "Stop"), is_ours)


def plain(text: str) -> Any:
    return json_edit.value_of(text, json_edit.parse(text))


@hypothesis.given(documents())
def test_what_was_there_stays_and_what_was_added_goes_without_a_trace(text):
    before = plain(text)

    added = add(text)

    after = plain(added)
    assert after["hooks"].pop("UserPromptSubmit") == [OURS]
    assert after["hooks"].pop("Stop") == [*before.get("hooks", {}).get("Stop", []), OURS]
    assert after["mcpServers"].pop("onrecord")["args"] == ["mcp"]
    expected = {"hooks": {}, "mcpServers": {}, **before}
    expected["hooks"] = {key: value for key, value in expected["hooks"].items() if key != "Stop"}
    assert after == expected
    assert list(after)[: len(before)] == list(before)
    assert add(added) == added
    assert remove(added) == text


@st.composite
def lists_with_ours(draw: Any) -> str:
    """Generate a text whose list has any number of entries of ours at any position."""
    items = draw(st.lists(st.one_of(st.just(OURS), st.sampled_from([1, "theirs", {"a": []}])), max_size=5))
    return Hand(draw).write({"hooks": {"Stop": items, "b": 1}, "c": 2})


@hypothesis.given(lists_with_ours())
def test_wherever_our_entries_stand_nothing_else_is_lost(text):
    items = plain(text)["hooks"]["Stop"]
    theirs = [item for item in items if item != OURS]
    rest = {"c": 2, "hooks": {"b": 1}}

    dropped = plain(json_edit.drop_items(text, ("hooks", "Stop"), is_ours))
    put = plain(json_edit.put_item(text, ("hooks", "Stop"), {"x": ": onrecord"}, is_ours))

    assert dropped["hooks"].pop("Stop", []) == theirs
    assert dropped == rest
    first = items.index(OURS) if OURS in items else len(theirs)
    assert put["hooks"].pop("Stop") == [*theirs[:first], {"x": ": onrecord"}, *theirs[first:]]
    assert put == rest


def test_more_entries_of_ours_than_anybody_writes_are_refused():
    text = json.dumps({"hooks": {"Stop": [OURS] * 50}})

    for edit in (json_edit.drop_items, lambda *arguments: json_edit.put_item(*arguments[:2], OURS, arguments[2])):
        with pytest.raises(ValueError, match="50 entries of Onrecord"):
            edit(text, ("hooks", "Stop"), is_ours)


@hypothesis.given(documents())
def test_only_text_is_added(text):
    rest = iter(add(text))

    assert all(character in rest for character in text)


@hypothesis.given(st.text(alphabet='{}[]",:/* \n\\au1-\x00é', max_size=40))
def test_any_text_is_read_as_json_or_refused(text):
    try:
        value = plain(text)
    except ValueError:
        with pytest.raises(ValueError):
            json.loads(text)
    else:
        assert json.loads(json.dumps(value)) == value


@hypothesis.given(VALUES)
def test_plain_json_is_read_as_python_reads_it(value):
    assert plain(json.dumps(value, indent=1)) == value


def test_a_new_file_is_laid_out_for_people():
    text = json_edit.put_item("", ("hooks", "Stop"), {"hooks": [{"command": "x"}]}, is_ours)

    assert text == '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"command": "x"}]}\n    ]\n  }\n}\n'
    assert json_edit.drop_items(text, ("hooks", "Stop"), lambda item: True) == ""


def test_comments_order_indentation_and_line_ends_stay():
    text = '\ufeff{\r\n\t// mine\r\n\t"b": 1, // one\r\n\t"a": [1,],\r\n}\r\n'.removeprefix("\ufeff")

    added = json_edit.put(text, ("mcpServers", "onrecord"), {"command": "x"})

    assert added == text.removesuffix("}\r\n") + (
        '\t"mcpServers": {\r\n\t\t"onrecord": {"command": "x"}\r\n\t},\r\n}\r\n'
    )


def test_an_older_entry_is_replaced_where_it_stands():
    text = '{"hooks": {"Stop": [{"c": "old : onrecord"}, {"c": "theirs"}, {"c": "twice : onrecord"}]}}'

    added = json_edit.put_item(text, ("hooks", "Stop"), {"c": "new : onrecord"}, is_ours)

    assert added == '{"hooks": {"Stop": [{"c": "new : onrecord"}, {"c": "theirs"}]}}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "is not a JSON object"),
        ('{"hooks": []}', "no object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        ('{"hooks": {}, "hooks": {}}', "'hooks' is there twice"),
        ('{"a": 1\n "b": 2}', "line 2: a comma or } is expected"),
        ("{'a': 1}", "line 1: a key and a colon are expected"),
        ('{"a": 1} x', "line 1: something follows"),
        ("[" * 100, "nested too deeply"),
        ('{"a": "x', "line 1: a value is expected"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text, reason):
    with pytest.raises(ValueError, match=r".*") as refused:
        json_edit.put_item(text, ("hooks", "Stop"), OURS, is_ours)

    assert reason in str(refused.value)


def test_twenty_entries_of_ours_are_dropped_and_more_refused():
    def dropped(count: int) -> str:
        return json_edit.drop_items(json.dumps({"hooks": {"Stop": [OURS] * count}}), ("hooks", "Stop"), is_ours)

    assert json_edit.items(dropped(20), ("hooks", "Stop")) == []
    with pytest.raises(ValueError, match="21 entries of Onrecord"):
        dropped(21)


def test_a_config_is_nested_64_deep_at_most():
    def nested(depth: int) -> str:
        return '{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"

    for read in (json_edit.parse, lambda text: json_edit.parse(text, ("b",))):
        read(nested(64))
        for depth in (65, 5_000):
            with pytest.raises(ValueError, match="nested too deeply"):
                read(nested(depth))


def test_a_value_that_fits_is_written_on_one_line():
    def put(length: int) -> str:
        return json_edit.put_item('{"hooks": []}', ("hooks",), {"k": "v" * length}, is_ours)

    assert put(60).count("\n") < put(130).count("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "m": {\n    "n": {"k": 1}\n  }\n}\n'),
        (" \n", '{\n  "m": {\n    "n": {"k": 1}\n  }\n}\n'),
        ("{}", '{"m": {\n  "n": {"k": 1}\n}}'),
        ('{"a":1}', '{"a":1, "m": {\n  "n": {"k": 1}\n}}'),
        ('{"a":1,}', '{"a":1, "m": {\n  "n": {"k": 1}\n},}'),
        ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "m": {\n    "n": {"k": 1}\n  }\n}'),
        ('{\n    "a": 1,\n}', '{\n    "a": 1,\n    "m": {\n        "n": {"k": 1}\n    },\n}'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"m": {\r\n\t\t"n": {"k": 1}\r\n\t}\r\n}'),
        ('{\n  "c": 1, "a": 2}', '{\n  "c": 1, "a": 2, "m": {\n  "n": {"k": 1}\n}}'),
        ('{"a": 1 /* x */}', '{"a": 1, /* x */ "m": {\n  "n": {"k": 1}\n}}'),
        ('{"a": 1 // x\n}', '{"a": 1, // x\n"m": {\n  "n": {"k": 1}\n}\n}'),
        ('{"m": {}}', '{"m": {"n": {"k": 1}}}'),
        ('{\n  "m": {"x": 1}\n}', '{\n  "m": {"x": 1, "n": {"k": 1}}\n}'),
        ('{"m": {"n": {"k": 2}, "o": 1}}', '{"m": {"n": {"k": 1}, "o": 1}}'),
        ('{"m": {"n": { "k":1 }}}', '{"m": {"n": { "k":1 }}}'),
    ],
)
def test_a_member_is_written_in_the_manner_of_its_file(before, after):
    assert json_edit.put(before, ("m", "n"), {"k": 1}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("{}", "{}"),
        ('{"m": {"n": 1}}', '{"m": {}}'),
        ('{"m": {"n": 1, "o": 2}}', '{"m": { "o": 2}}'),
        ('{"m": {"o": 2, "n": 1}}', '{"m": {"o": 2}}'),
        ('{"m": {"o": 2, "n": 1,}}', '{"m": {"o": 2,}}'),
        ('{\n "m": {\n  "n": 1\n }\n}', ""),
        ('{\n "m": {\n  "n": 1\n },\n "z": 1\n}', '{\n "z": 1\n}'),
        ('{"m": {\n // keep\n "n": 1}}', '{"m": {\n // keep\n }}'),
        ('{"m": {"o": 1, // x\n "n": 1}}', '{"m": {"o": 1 // x\n }}'),
        ('{"m": {"o": 1, // x\n "n": 1, "p": 2}}', '{"m": {"o": 1, // x\n  "p": 2}}'),
    ],
)
def test_a_member_is_dropped_with_what_was_created_for_it(before, after):
    assert json_edit.drop(before, ("m", "n")) == after


def test_what_is_not_there_is_nothing():
    text = '{"a": {"b": [1, {"c": 2}]}, "d": null}'

    assert [json_edit.items(text, path) for path in (("a", "b"), ("x",), ("a", "x"))] == [[1, {"c": 2}], [], []]
    assert [json_edit.get(text, path) for path in (("a", "b"), ("a", "x"), ("x", "y"), ("d",))] == [
        [1, {"c": 2}], None, None, None
    ]  # fmt: skip
    assert (json_edit.keys(text), json_edit.keys(""), json_edit.keys("{}")) == (["a", "d"], [], [])
    assert json_edit.get("", ("a",)) is None


@pytest.mark.parametrize(("length", "lines"), [(114, 4), (115, 6)])
def test_a_line_has_120_characters_at_most(length, lines):
    text = json_edit.put('{\n  "a": 1\n}', ("b",), ["x" * length])

    assert len(text.split("\n")) == lines


@pytest.mark.parametrize("text", ["", " ", "{}", '{"a": 1,} // x', "[1]", '"x"'])
def test_json_with_comments_passes_the_check(text):
    json_edit.check(text)


@pytest.mark.parametrize(
    "text", ['{"a": tru}', '{"a": NaN}', '{"a": -Infinity}', '{"a": 01}', "{", "{} x", '{"a" 1}', "[" * 100_000]
)
def test_what_is_no_json_does_not_pass(text):
    with pytest.raises(ValueError, match="line 1: "):
        json_edit.check(text)
