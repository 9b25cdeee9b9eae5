from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import coldstart
from tests.records import any_json

GARBAGE = [
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
        "import sys; sys.path.insert(0, sys.argv[1]); from recollect import coldstart\n"
        "try: coldstart.loads(sys.stdin.read())\n"
        "except ValueError: print('refused')"
    )
    src = os.path.dirname(os.path.dirname(os.path.abspath(coldstart.__file__)))

    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", code, src], input=text, capture_output=True, text=True, check=True
    )

    assert done.stdout == "refused\n"


@given(st.text())
def test_a_quoted_text_reads_back_as_itself(text):
    assert coldstart.loads(coldstart.quote(text)) == text


def test_a_digest_is_short_stable_and_of_the_bytes():
    assert coldstart.digest(b"") == "cae66941d9efbd404e4d88758ea67670"
    assert coldstart.digest(b"a") != coldstart.digest(b"b")


def test_read_gives_at_most_so_many_bytes(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"0123456789")

    assert (coldstart.read(str(file), 4), coldstart.read(str(file), 100)) == (b"0123", b"0123456789")


def test_read_refuses_what_could_hang_or_never_end(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    for path in (str(fifo), str(tmp_path), os.devnull):
        with pytest.raises(OSError):
            coldstart.read(path, 10)

    assert before == (len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0)


def test_sqlite_is_loaded_only_when_asked_for():
    connection = coldstart.connect(":memory:")
    try:
        assert connection.execute("select 1").fetchone() == (1,)
    finally:
        connection.close()
    with pytest.raises(AttributeError):
        coldstart.no_such_name  # noqa: B018
