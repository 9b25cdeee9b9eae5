"""`onrecord connect` on large and on foreign configs: bounded, all or nothing, and `--remove` leaves what was there."""

from __future__ import annotations

import json
import os
import time

import pytest

from onrecord import files
from onrecord.errors import BadInput, Unwritable
from onrecord.hosts import config_file, connection, table

FILES = {
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "droid": ".factory/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "copilot": ".copilot/hooks/onrecord.json",
}
UNITS = {"1,": 1, "1,\n": 8, '{"a":1},': 8, '"x",': 8, "[[]],": 8, '"{[",': 8, "// [\n1,": 1}
"""What a config is made of, and which part of the largest allowed size it has: each takes as long as it is long."""

SHAPES = (
    "{}",
    '{"a":1}',
    "{\n}\n",
    '{\n  "a": 1\n}\n',
    '{"hooks": {}}',
    '{"hooks": {}, "version": 1}',
    '{"version": 1, "hooks": {}}',
    '{"hooks": {"x": []}, "a": [1, 2,],}',
    '{ // "hooks": {\n  "a": "[", /* ] */ "b": 1, // x\n}\n',
    '{"mcpServers": {}, "mcp": {}}',
)


@pytest.mark.parametrize("unit", UNITS)
def test_a_large_config_takes_seconds_not_minutes(home, onrecord, unit):
    path = home / FILES["gemini"]
    path.parent.mkdir()
    text = '{"a":[' + unit * (config_file.MAX_EDITED_BYTES // UNITS[unit] // len(unit) - 10) + "1]}"
    path.write_text(text)

    start = time.process_time()
    codes = [onrecord("connect", "gemini", *flags, "--yes").code for flags in (["--mcp"], ["--remove"])]

    assert codes == [0, 0]
    assert path.read_text() == text
    assert time.process_time() - start < 60


def test_a_larger_one_is_refused(home, onrecord):
    path = home / FILES["gemini"]
    path.parent.mkdir()
    path.write_text('{"a": "' + "x" * config_file.MAX_EDITED_BYTES + '"}')

    outcome = onrecord("connect", "gemini", "--yes")

    assert (outcome.code, "is larger than 1,000,000 bytes" in outcome.err) == (1, True)


@pytest.mark.parametrize(
    ("host", "shape"),
    # Copilot has no file with hooks and without a version, so which of the two was there first cannot be told.
    [
        (host, shape)
        for host in FILES
        for shape in SHAPES
        if host != "copilot" or "hooks" not in shape or "ver" in shape
    ],
)
def test_a_removal_leaves_what_was_there(home, onrecord, host, shape):
    path = home / FILES[host]
    path.parent.mkdir(parents=True)
    path.write_text(shape)

    onrecord("connect", host, "--mcp", "--yes")
    assert path.read_text() != shape
    onrecord("connect", host, "--remove", "--yes")

    assert path.read_text() == shape


@pytest.mark.parametrize(
    "entry",
    [{"command": "mine", "args": ["serve"]}, {"url": "https://x.test"}, {"command": ["mcp"]}, {}, "x", None, 5],
)
def test_a_server_of_our_name_that_is_not_ours_is_left_alone(home, onrecord, entry):
    path = home / FILES["gemini"]
    path.parent.mkdir()
    text = json.dumps({"mcpServers": {"onrecord": entry}})
    path.write_text(text)

    outcome = onrecord("connect", "gemini", "--mcp", "--yes")
    if entry is not None:
        assert (outcome.code, "is a server that Onrecord did not write" in outcome.err) == (1, True)
        assert path.read_text() == text
        onrecord("connect", "gemini", "--remove", "--yes")
        assert path.read_text() == text


def test_a_table_of_our_name_that_is_not_ours_is_left_alone(home, onrecord):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    text = "[mcp_servers.onrecord]\ncommand = 'mine'\n"
    path.write_text(text)

    assert onrecord("connect", "codex", "--mcp", "--yes").code == 1
    onrecord("connect", "codex", "--remove", "--yes")

    assert path.read_text() == text


def test_files_that_were_written_before_a_failure_are_put_back(home, monkeypatch):
    (home / ".qwen").mkdir()
    (home / ".qwen/settings.json").write_text('{"a": 1}')
    plans = [connection.plan(table.setup(name), "", wants_server=True) for name in ("qwen", "gemini", "codex")]
    real = files.write

    def write(path, data, **options):
        if path.endswith("config.toml"):
            raise Unwritable(f"cannot write {path}", fix="check the disk")
        return real(path, data, **options)

    monkeypatch.setattr(files, "write", write)
    with pytest.raises(Unwritable) as caught:
        connection.write_files(plans)

    assert caught.value.fix == "check the disk; nothing was changed"
    assert (home / ".qwen/settings.json").read_text() == '{"a": 1}'
    assert not os.path.exists(home / ".gemini") and not os.path.exists(home / ".codex/hooks.json")


def test_a_config_of_four_megabytes_is_read_and_a_larger_one_is_not(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b" " * 4_000_000)
    assert config_file.read(str(path)) == b" " * 4_000_000

    path.write_bytes(b" " * 4_000_001)
    with pytest.raises(BadInput, match="is larger than 4,000,000 bytes"):
        config_file.read(str(path))
    assert config_file.read(str(tmp_path / "none")) is None


def test_a_config_of_a_megabyte_is_edited_and_one_that_is_connected_may_have_20_kilobytes_more(tmp_path):
    path = tmp_path / "settings.json"

    def edit(size: int, start: bytes = b"") -> bytes | None:
        path.write_bytes(start + b" " * (size - len(start) - 1) + b"x")
        return config_file.edited(str(path), lambda text: text + "y").after

    assert edit(1_000_000)
    assert edit(1_020_000, b"onrecord")
    for size, start in ((1_000_001, b""), (1_020_001, b"onrecord")):
        with pytest.raises(BadInput, match="is larger than 1,000,000 bytes"):
            edit(size, start)
