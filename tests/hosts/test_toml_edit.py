"""Our table in a TOML file that somebody wrote by hand: the rest stays, byte for byte, and nothing of ours remains."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord.hosts import toml_edit
from tests import cost

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
try:
    import tomllib
except ImportError:  # Python 3.9 and 3.10 have no reader to compare with
    tomllib = None

NAME = ("mcp_servers", "onrecord")
VALUES = {"command": '/a "b"/onrecord', "args": ["mcp", "--project", "ü\\"]}
CODEX = """\
# my config
model = "gpt-5.5"   # the big one
notify = [
  "a]", # ] not here
  '[mcp_servers.onrecord]',
]
text = \"\"\"
[mcp_servers.onrecord]
\\\"\"\" still
\"\"\"
[ mcp_servers . "other" ] # theirs
command = 'x'
env = { A = "}" }

[hooks.state."/h/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:1"
"""
LINES = st.sampled_from(
    ["", "# c [a]", "a = 1", 'b.c = "x#"', "[t]", "[[t.list]]", '[ "q.r" . s ] # c', "d = [1,\n # ]\n 2]",
     "e = '''\n[x]\n'''", 'f = """\\\n"""', "[mcp_servers.other]", "command = 'x'"]
)  # fmt: skip


@st.composite
def documents(draw: Any) -> str:
    lines = draw(st.lists(LINES, max_size=6))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return "\n".join([*lines, *draw(st.sampled_from([[], [""], ["", ""]]))]).replace("\n", newline)


def meaning(text: str) -> Any:
    if tomllib is None:
        return None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        hypothesis.reject()


@hypothesis.given(documents())
def test_what_was_there_stays_and_what_was_added_goes_without_a_trace(text):
    before = meaning(text)

    added = toml_edit.put(text, NAME, VALUES)

    if tomllib:
        after = tomllib.loads(added)
        assert after["mcp_servers"].pop("onrecord") == VALUES
        if "mcp_servers" not in before:
            assert after.pop("mcp_servers") == {}
        assert after == before
    assert added.startswith(text)
    assert toml_edit.put(added, NAME, VALUES) == added
    assert toml_edit.drop(added, NAME) == text


def test_a_table_is_found_among_texts_lists_and_comments():
    assert [table.name for table in toml_edit.tables(CODEX)] == [
        (), ("mcp_servers", "other"), ("hooks", "state", "/h/.codex/hooks.json:stop:0:0")
    ]  # fmt: skip
    assert toml_edit.texts(CODEX, ("hooks", "state", "/h/.codex/hooks.json:stop:0:0")) == {"trusted_hash": '"sha256:1"'}


def test_an_older_table_gets_new_values_and_keeps_what_somebody_added():
    rest = "startup_timeout_sec = 20\n\n# next\n[other]\na = 1\n"
    text = f'[mcp_servers.onrecord]\ncommand = "old" # mine\n{rest}'

    changed = toml_edit.put(text, NAME, {"command": "new", "args": ["mcp"]})

    assert changed == f'[mcp_servers.onrecord]\nargs = ["mcp"]\ncommand = "new" # mine\n{rest}'
    assert toml_edit.drop(changed, NAME) == "\n# next\n[other]\na = 1\n"


def test_tables_below_ours_go_with_it():
    text = 'a = 1\n\n[mcp_servers.onrecord]\ncommand = "x"\n\n[mcp_servers.onrecord.env]\nA = "1"\n'

    assert toml_edit.drop(text, NAME) == "a = 1\n"


@pytest.mark.skipif(tomllib is None, reason="Python 3.9 and 3.10 have no reader to compare with")
@hypothesis.given(st.lists(LINES, max_size=4), st.lists(LINES, max_size=4), st.sampled_from(["\n", "\r\n"]), st.data())
def test_wherever_our_table_stands_nothing_else_is_lost(before, behind, newline, data):
    ours = ["[mcp_servers.onrecord]", "command = 'x'", "[mcp_servers.onrecord.env]", "A = 1"]
    ours = [*ours[:2], *data.draw(st.sampled_from([[], [""]])), *ours[2:]]
    behind = ["[u]", *behind] if behind else []
    text = newline.join([*before, *ours, *behind, *data.draw(st.sampled_from([[], [""]]))])
    expected = meaning(text)
    del expected["mcp_servers"]["onrecord"]
    if not expected["mcp_servers"]:
        del expected["mcp_servers"]

    rest = tomllib.loads(toml_edit.drop(text, NAME))

    assert rest == expected


def test_a_table_of_very_many_keys_costs_in_proportion():
    small, large = "a = 1\n" * 2_000, "a = 1\n" * 40_000

    # Twenty times the keys: 400 times the cost if each key looked at all others.
    cost.assert_at_most(80, lambda: toml_edit.tables(small), lambda: toml_edit.tables(large))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('mcp_servers = { onrecord = { command = "x" } }', "line 1: mcp_servers is written as a key"),
        ('[mcp_servers]\nonrecord = { command = "x" }', "line 2: mcp_servers.onrecord is written as a key"),
        ('mcp_servers.onrecord.command = "x"', "written as a key"),
        ("[mcp_servers.onrecord]\n[mcp_servers.onrecord]", "there twice"),
        ("[mcp_servers.onrecord", "the header of a table does not end"),
        ('a = "x\nb = 1', "a text that does not end"),
        ("a = [1,\nb = 2", "a list that does not end"),
        ("a", "a key without a value"),
        ("= 1", "a key is expected"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text, reason):
    with pytest.raises(ValueError, match=r".*") as refused:
        toml_edit.put(text, NAME, VALUES)

    assert reason in str(refused.value)


@hypothesis.given(st.text(alphabet="[]=.\"'# \n\\abc{}", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        toml_edit.tables(text)
    except ValueError:
        if tomllib:
            with pytest.raises(tomllib.TOMLDecodeError):
                tomllib.loads(text)


def test_a_table_gets_another_name_with_its_sub_tables_and_nothing_else_changes():
    before = '[ a.old ] # mine\nkey = "old"\n\n[[a.old."x]y"]]\n[a.older]\n[b.old]\n'

    after = toml_edit.rename(before, ("a", "old"), "new")

    assert after == '[ a.new ] # mine\nkey = "old"\n\n[[a.new."x]y"]]\n[a.older]\n[b.old]\n'


@pytest.mark.parametrize(
    ("before", "after", "dropped"),
    [
        ("", '[m.o]\nc = "x"\nd = ["y"]\n', ""),
        ("a = 1", 'a = 1\n\n[m.o]\nc = "x"\nd = ["y"]', "a = 1"),
        ("a = 1\n", 'a = 1\n\n[m.o]\nc = "x"\nd = ["y"]\n', "a = 1\n"),
        ("a = 1\r\n", 'a = 1\r\n\r\n[m.o]\r\nc = "x"\r\nd = ["y"]\r\n', "a = 1\r\n"),
        ("[m.o]", '[m.o]\nc = "x"\nd = ["y"]\n', ""),
        ('[m.o] # x\nc = "1"\n', '[m.o] # x\nd = ["y"]\nc = "x"\n', ""),
        ('[m.o]\nc = "1" # k\n[x]\n', '[m.o]\nd = ["y"]\nc = "x" # k\n[x]\n', "[x]\n"),
        ("[\"m\".'o']\nc = 1", '["m".\'o\']\nd = ["y"]\nc = "x"', ""),
        ("[m.p]\n# c\n\n[m.o]\nc.e = 2\n", '[m.p]\n# c\n\n[m.o]\nc = "x"\nd = ["y"]\nc.e = 2\n', "[m.p]\n# c\n"),
    ],
)
def test_a_table_is_written_in_the_manner_of_its_file(before, after, dropped):
    assert toml_edit.put(before, ("m", "o"), {"c": "x", "d": ["y"]}) == after
    assert toml_edit.drop(before, ("m", "o")) == dropped
    assert toml_edit.has(before, ("m", "o")) is ("o" in before)


def test_tables_and_values_have_their_positions():
    text = 'a = 1\n[x] # c\nb.c = [1,\n2] # d\n\n# e\n[[y."z"]]\nd = """\n"""\n'

    assert [
        (table.name, text[table.start : table.body], text[table.body : table.end],
         [(assignment.key, text[assignment.start : assignment.end]) for assignment in table.assignments])
        for table in toml_edit.tables(text)
    ] == [
        ((), "", "a = 1\n", [(("a",), "1")]),
        (("x",), "[x] # c\n", "b.c = [1,\n2] # d\n", [(("b", "c"), "[1,\n2]")]),
        (("y", "z"), '[[y."z"]]\n', 'd = """\n"""\n', [(("d",), '"""\n"""')]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("[ a . b ]", ("a", "b")),
        ("['a.b'.c]", ("a.b", "c")),
        ('["a\\"b"]', ('a"b',)),
        ('["\\q"]', ("\\q",)),
        ("[a-1_b]", ("a-1_b",)),
        ("[[a]] # c", ("a",)),
    ],
)
def test_the_name_of_a_table_is_read_in_any_spelling(header, name):
    assert [table.name for table in toml_edit.tables(f"{header}\n")] == [(), name]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\n", "line 1: a key without a value"),
        ("\na = 1\n= 2", "line 3: a key is expected"),
        ("\n\n[x", "line 3: the header of a table does not end"),
        ("a = 1\nb = [1,\n2", "line 2: a list that does not end"),
        ('a = "x', "line 1: a text that does not end"),
    ],
)
def test_a_fault_is_named_with_its_line(text, reason):
    with pytest.raises(ValueError, match=r".*") as refused:
        toml_edit.tables(text)

    assert str(refused.value) == reason


def test_the_values_of_a_table_are_those_of_its_own_keys():
    text = 'a = 1\n[t]\nb = "x" # c\nc.d = 2\n[t.u]\ne = 3\n'

    assert toml_edit.texts(text, ("t",)) == {"b": '"x"'}
    assert toml_edit.texts(text, ("none",)) == {}
    assert toml_edit.rename('[m."a b"]\n[m."a b".c]\n', ("m", "a b"), "d e") == '[m."d e"]\n[m."d e".c]\n'
