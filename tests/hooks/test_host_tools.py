"""The tool calls of each host: names of tools, fields of their input, and how much of a call is read."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord.hosts import table
from onrecord.hosts.events import (
    POWERSHELL,
    READ,
    SHELL,
    TASK,
    WRITE,
    HostEvent,
    Payload,
    absolute_paths,
    common_event,
    patch_files,
)
from onrecord.session.action import FileEdit

TOOLS = {
    "claude-code": {
        READ: "Read",
        WRITE: "Edit MultiEdit Write NotebookEdit",
        SHELL: "Bash",
        POWERSHELL: "PowerShell",
        TASK: "Task Agent",
    },
    "codex": {READ: "Read", WRITE: "apply_patch Edit Write", SHELL: "Bash exec_command shell"},
    "copilot": {READ: "Read", WRITE: "Edit MultiEdit Write apply_patch", SHELL: "Bash", POWERSHELL: "PowerShell"},
    "qwen": {READ: "read_file", WRITE: "write_file edit notebook_edit", SHELL: "run_shell_command"},
    "gemini": {READ: "read_file", WRITE: "write_file replace", SHELL: "run_shell_command"},
    "opencode": {READ: "read", WRITE: "write edit multiedit patch apply_patch", SHELL: "bash"},
    "pi": {READ: "read", WRITE: "write edit", SHELL: "bash"},
    "cline": {READ: "read_files", WRITE: "editor apply_patch", SHELL: "run_commands"},
    "droid": {READ: "Read", WRITE: "Edit MultiEdit Create ApplyPatch", SHELL: "Execute"},
}
"""The tools of each host, as its real client names them."""


def call(tool: str, **tool_input: Any) -> HostEvent:
    """Return the event of a tool call in Claude Code."""
    return common_event("pre_tool_use", Payload({"tool_name": tool, "tool_input": tool_input, "cwd": "/p"}), KINDS)


KINDS = {"Read": READ, "Edit": WRITE, "Bash": SHELL}


@pytest.mark.parametrize("host", [host.name for host in table.HOSTS])
def test_the_tools_of_a_host_are_known_by_their_names(host: str):
    tools = [(name, kind) for kind, names in TOOLS[host].items() for name in (*names.split(), f"my_{names.split()[0]}")]
    read = table.module(host).read

    kinds = [(name, read("pre_tool_use", Payload({"tool_name": name})).tool) for name, _ in tools]

    assert kinds == [(name, "" if name.startswith("my_") else kind) for name, kind in tools]


def test_an_event_without_fields_is_an_empty_one():
    assert common_event("stop", Payload({}), KINDS) == HostEvent("stop")
    assert not HostEvent("stop").is_attended
    assert HostEvent("stop").is_typed


@pytest.mark.parametrize("field", ["file_path", "notebook_path", "filePath", "path", "absolute_path"])
def test_a_file_is_named_by_any_field_that_a_host_uses(field: str):
    assert call("Read", **{field: "a.py"}).files == ("/p/a.py",)
    assert call("Bash", **{field: "a.py"}).files == ()


@pytest.mark.parametrize("field", ["command", "input", "patch", "patchText"])
def test_a_patch_is_in_any_field_that_a_host_uses(field: str):
    event = call("Edit", **{field: "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** Move to: b.py\n*** End Patch"})

    assert event.files == ("/p/a.py", "/p/b.py")
    assert event.edits == (FileEdit("x", "y", "/p/b.py", is_patch=True),)
    assert not event.is_whole_file


@pytest.mark.parametrize("field", ["content", "new_string", "new_str", "new_source", "newString", "file_text"])
def test_the_new_text_is_in_any_field_that_a_host_uses(field: str):
    event = call("Edit", path="a.py", **{field: "x"})

    assert event.edits == (FileEdit("", "x", ""),)
    assert event.is_whole_file is (field in ("content", "file_text"))
    assert call("Edit", path="a.py", **{field: ""}).is_whole_file is (field in ("content", "file_text"))


@pytest.mark.parametrize("field", ["old_string", "old_str", "oldString"])
def test_the_old_text_is_in_any_field_that_a_host_uses(field: str):
    event = call("Edit", path="a.py", **{field: "x", "content": ""})

    assert event.edits == (FileEdit("x", "", ""),)
    assert not event.is_whole_file


@pytest.mark.parametrize("field", ["replace_all", "replaceAll", "allow_multiple"])
def test_an_edit_may_be_for_all_places(field: str):
    assert [edit.is_everywhere for edit in call("Edit", path="a.py", old_string="x", **{field: True}).edits] == [True]
    assert [edit.is_everywhere for edit in call("Edit", path="a.py", old_string="x", **{field: 1}).edits] == [False]


def test_edits_in_a_list_come_after_the_one_beside_it():
    edits = [{"old_string": "a", "new_string": "b"}, "odd", {"old_string": ""}, {"new_string": "c"}]

    assert [edit[:2] for edit in call("Edit", path="a.py", new_str="first", edits=edits).edits] == [
        ("", "first"),
        ("a", "b"),
        ("", "c"),
    ]


def test_of_a_huge_call_a_bounded_part_is_read():
    names = [f"{number}.py" for number in range(201)]
    patch = "*** Begin Patch\n" + "".join(f"*** Add File: {name}\n+x\n" for name in names)

    assert absolute_paths(names, "") == tuple(names[:200])
    assert len(call("Edit", input=patch).edits) == 200
    assert len(call("Edit", edits=[{"new_string": "x"}] * 101).edits) == 100


def test_the_texts_of_all_edits_together_are_bounded():
    edits = [{"old_string": "o" * 150_000}, {"new_string": "n" * 150_000}, {"new_string": "beyond"}]

    assert [tuple(map(len, edit[:2])) for edit in call("Edit", edits=edits).edits] == [(150_000, 0), (0, 50_000)]


def test_the_end_of_a_patch_of_more_than_a_million_characters_is_not_read():
    patch = "*** Begin Patch\n*** Add File: a.py\n"
    padding = "+" + "x" * (1_000_000 - len(patch) - len("*** Add File: b.py\n") - 1) + "\n"

    assert patch_files(f"{patch}{padding[:-2]}\n*** Add File: b.py\n*** Add File: c.py\n") == ["a.py", "b.py"]
    assert patch_files(" " * 1_000_000 + patch) == []


def test_names_that_no_file_can_have_are_left_out():
    assert absolute_paths(["", "a\0b", "a.py", "/q/b.py", "a.py"], "/p") == ("/p/a.py", "/q/b.py")
