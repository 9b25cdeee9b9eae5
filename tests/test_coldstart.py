from __future__ import annotations

import json
import os
import pickle
import sqlite3
import subprocess
import sys
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import coldstart, files
from onrecord.errors import NoSqlite
from tests.records import any_json

GARBAGE = [
    "X{}", "{}X",
    "", " ", "{", "[1,", '{"a"}', "nul", "NaN", "Infinity", "-Infinity", "[NaN]", "1 2", '"a', "'a'", "{a:1}", "[1,]",
    "\ufeff{}", "01", "1.", ".5", "+1", '"\\x"', '"a\nb"', "[" * 100_000, '{"a":' * 100_000, "tru", "9" * 5_000,
]  # fmt: skip


@given(any_json)
def test_it_reads_what_json_reads(value):
    text = json.dumps(value)

    assert coldstart.loads(text) == json.loads(text)


@pytest.mark.parametrize("text", GARBAGE, ids=lambda text: repr(text[:12]))
def test_it_rejects_garbage_as_a_value_error(text):
    with pytest.raises(ValueError):
        coldstart.loads(text)


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn\\u \n\t', max_size=30))
def test_it_agrees_with_json_on_what_is_json(text):
    assert _outcome(coldstart.loads, text) == _outcome(_strictly, text)


def _strictly(text):
    return json.loads(text, parse_constant=_refuse)


def _refuse(name):
    raise ValueError(name)


def _outcome(loads, text):
    try:
        return repr(loads(text))
    except ValueError:
        return "not JSON"


@pytest.mark.parametrize("text", ["{", "", "NaN", '{"a" 1}', '"\\x"', "[" * 100_000, "[1] x"])
def test_garbage_is_a_value_error_where_json_was_never_imported(text):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from onrecord import coldstart\n"
        "try: coldstart.loads(sys.stdin.read())\n"
        "except ValueError: print('refused')"
    )
    src = os.path.dirname(os.path.dirname(os.path.abspath(coldstart.__file__)))

    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", code, src],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert done.stdout == "refused\n"


@given(any_json)
def test_it_writes_what_json_writes(value):
    assert coldstart.dumps(value) == json.dumps(value, separators=(",", ":"))


class Ours(coldstart.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = ""

    @property
    def total(self) -> int:
        return self.x + self.y


class Theirs(typing.NamedTuple):
    x: int
    y: int = 2
    label: str = ""


@pytest.mark.parametrize(
    ("positional", "named"),
    [
        ((1,), {}), ((1, 3), {"label": "a"}), ((), {"x": 1, "label": "b"}), ((1, 2, "c"), {}), ((), {}),
        ((1,), {"x": 2}), ((1, 2, "c", 4), {}), ((1,), {"z": 2}), ((1, 2, "c"), {"label": "d"}),
    ],
)  # fmt: skip
def test_a_named_tuple_is_made_as_typing_makes_one(positional, named):
    assert _made(Ours, positional, named) == _made(Theirs, positional, named)


def _made(kind, positional, named):
    try:
        return tuple(kind(*positional, **named))
    except TypeError:
        return "refused"


def test_a_named_tuple_behaves_as_typing_s_does():
    ours, theirs = Ours(1, label="a"), Theirs(1, label="a")

    assert (ours.x, ours.y, ours.label, ours.total) == (1, 2, "a", 3)
    assert (ours == theirs, hash(ours) == hash(theirs)) == (True, True)
    assert ours._replace(y=5) == (1, 5, "a")
    assert ours._asdict() == theirs._asdict()
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)
    assert (Ours._make([4, 5, "b"]), Ours.__doc__) == (Ours(4, 5, "b"), "A point.")
    assert pickle.loads(pickle.dumps(ours)) == ours
    with pytest.raises(AttributeError):
        ours.x = 2
    with pytest.raises(AttributeError):
        ours.new = 2
    with pytest.raises(TypeError):
        ours._replace(z=1)


def test_a_number_of_64_bits_stands_for_bytes():
    assert coldstart.number_of(b"") == 0xE4A6A0577479B2B4
    assert {coldstart.number_of(b"%d" % number).bit_length() <= 64 for number in range(99)} == {True}


@pytest.mark.parametrize("is_there", [True, False])
def test_the_standard_module_of_sqlite_is_used_or_its_lack_is_said(monkeypatch, is_there):
    monkeypatch.setitem(sys.modules, "_sqlite3", None)
    for name in ("Connection", "SqliteError", "connect"):
        monkeypatch.delitem(vars(coldstart), name, raising=False)
    if is_there:
        monkeypatch.setitem(sys.modules, "sqlite3", sqlite3)
        assert coldstart.connect is sqlite3.connect
        monkeypatch.delitem(vars(coldstart), "connect")
        return
    monkeypatch.setitem(sys.modules, "sqlite3", None)

    with pytest.raises(NoSqlite) as caught:
        coldstart.connect  # noqa: B018

    assert caught.value.message.startswith(f"{sys.executable} has no sqlite3: ")
    assert caught.value.fix == "use another Python, 3.9 or later, that can `import sqlite3`"


def test_a_digest_is_short_stable_and_of_the_bytes():
    assert coldstart.content_hash(b"") == "cae66941d9efbd404e4d88758ea67670"
    assert coldstart.content_hash(b"a") != coldstart.content_hash(b"b")


def test_read_gives_at_most_so_many_bytes(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"0123456789")

    assert (files.read(str(file), 4), files.read(str(file), 100)) == (b"0123", b"0123456789")


def test_read_refuses_what_could_hang_or_never_end(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    for path in (str(fifo), str(tmp_path), os.devnull):
        with pytest.raises(OSError):
            files.read(path, 10)

    assert before == (len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0)


def test_sqlite_is_loaded_only_when_asked_for():
    connection = coldstart.connect(":memory:")
    try:
        assert connection.execute("select 1").fetchone() == (1,)
    finally:
        connection.close()
    with pytest.raises(AttributeError):
        coldstart.no_such_name  # noqa: B018
