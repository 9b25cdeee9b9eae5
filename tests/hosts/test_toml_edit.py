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
