"""The guard before a tool runs, and the check after it, as the host sees them."""

from __future__ import annotations

import os

from recollect.store.store import Store


def test_a_hand_written_record_is_denied_and_the_command_named(hook, project):
    path = os.path.join(project.store.root, "decisions", "mine.json")

    answer = hook("pre_tool_use", tool_name="Write", tool_input={"file_path": path, "content": "{}"})

    assert answer.specific["permissionDecision"] == "deny"
    assert "recollect save" in answer.specific["permissionDecisionReason"]


def test_reading_and_searching_the_store_is_free(hook, project):
    path = os.path.join(project.store.root, "decisions")

    assert hook("pre_tool_use", tool_name="Read", tool_input={"file_path": path}).stdout == b""
    assert hook("pre_tool_use", tool_name="Bash", tool_input={"command": f"grep -r redis {path}"}).stdout == b""


def test_the_users_own_store_is_guarded_too(hook, home):
    store = home / ".claude" / "memory"
    store.mkdir(parents=True)

    answer = hook("pre_tool_use", tool_name="Bash", tool_input={"command": f"echo x > {store}/decisions/a.json"})

    assert answer.specific["permissionDecision"] == "deny"


def test_a_broken_record_that_got_through_is_set_aside_and_reported(hook, project):
    path = os.path.join(project.store.root, "decisions", "broken.json")
    with open(path, "w") as file:
        file.write('{"title": "half a rec')
    with open(f"{path}.invalid", "w") as file:
        file.write("an earlier one")

    answer = hook("post_tool_use", tool_name="Bash", tool_input={"command": f"python3 gen.py {path}"})

    assert "moved to decisions/broken.json.invalid-1" in answer.context
    assert not os.path.exists(path)
    with open(f"{path}.invalid-1") as file:
        assert file.read() == '{"title": "half a rec'
    assert len(list(Store(project.store.root).entries())) == 6


def test_a_record_that_reads_but_breaks_the_rules_is_set_aside_too(hook, project):
    path = os.path.join(project.store.root, "decisions", "thin.json")
    with open(path, "w") as file:
        file.write('{"schema_version": "1.0", "category": "decision", "id": "thin", "title": "Thin", "content": {}}')

    answer = hook("post_tool_use", tool_name="Write", tool_input={"file_path": path})

    assert "decisions/thin.json is not a valid record" in answer.context
    assert not os.path.exists(path)


def test_good_records_are_left_alone(hook, project):
    answer = hook("post_tool_use", tool_name="Bash", tool_input={"command": "recollect save # .claude/memory"})

    assert answer.stdout == b""
    assert len(list(project.store.entries())) == 6
