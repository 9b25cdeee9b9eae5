"""Hands off the records: what the guard stops, and what it leaves free."""

from __future__ import annotations

import os

import pytest

from recollect.guard import store_files

STORE = "/p/.claude/memory"


def forbids(tool: str, **given: str) -> bool:
    return store_files.forbids(tool, given, [STORE], "/p")


@pytest.mark.parametrize(
    "command",
    [
        "echo hi > .claude/memory/decisions/x.json",
        "echo hi >> /p/.claude/memory/decisions/x.json",
        "rm .claude/memory/index.md",
        "rm -rf .claude/memory",
        "sed -i s/a/b/ .claude/memory/decisions/x.json",
        "cd .claude/memory && rm decisions/x.json",
        'cd .claude/memory/decisions; python3 -c \'open("x.json","w")\'',
        "cat > .claude/memory/decisions/y.json <<EOF\n{}\nEOF",
        "jq .title x.json | tee .claude/memory/decisions/a.json",
        "for f in .claude/memory/*/*.json; do rm $f; done",
        "cp /tmp/x.json .claude/memory/decisions/",
        "mv .claude/memory/decisions/a.json /tmp/",
        "python3 - <<'E'\nopen('.claude/memory/x.json','w').write('a')\nE",
        "node -e \"require('fs').writeFileSync('.claude/memory/decisions/a.json', '{}')\"",
        "ls .claude/memory/*/*.json | xargs rm",
        "git rm .claude/memory/decisions/x.json",
        "find .claude/memory -name '*.json' -delete",
        "sudo touch .claude/memory/decisions/x.json",
    ],
)
def test_a_shell_command_that_writes_records_is_stopped(command):
    assert forbids("Bash", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "cat .claude/memory/decisions/x.json",
        "grep -rn 'rm -rf' .claude/memory | head -5",
        "grep foo .claude/memory/index.md > /tmp/out",
        "cp .claude/memory/decisions/x.json /tmp/",
        "git add .claude/memory && git commit -m 'memory: rm > old'",
        "git diff -- .claude/memory 2>/dev/null",
        "git checkout main -- .claude/memory",
        "jq . .claude/memory/decisions/*.json",
        "sed -n 1,20p .claude/memory/index.md",
        "ls -la .claude/memory 2>&1",
        "for f in .claude/memory/*/*.json; do cat $f; done",
        'recollect save decision --json <<\'EOF\'\n{"title": "see .claude/memory > rm x"}\nEOF',
        "cat a.json | recollect save decision --json",
        "rm -rf build && cat .claude/memory/index.md",
        "echo '{}' > .claude/memory/memory-config.json",
        "python3 -c \"import json; print(json.load(open('.claude/memory/decisions/a.json')))\"",
        "rm -rf node_modules",
        "echo 'unterminated",
    ],
)
def test_reading_the_store_and_everything_else_stays_free(command):
    assert not forbids("Bash", command=command)


def test_powershell_paths_have_backslashes():
    assert forbids("PowerShell", command="Set-Content .claude\\memory\\decisions\\x.json '{}'")
    assert not forbids("PowerShell", command="Get-Content .claude\\memory\\decisions\\x.json")


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
def test_a_file_tool_may_not_write_a_record(tool):
    assert forbids(tool, file_path="/p/.claude/memory/decisions/a.json")
    assert forbids(tool, file_path=".claude/memory/decisions/a.json")
    assert forbids(tool, file_path="/p/src/../.claude/memory/index.md")


def test_the_config_is_the_users_to_edit():
    assert not forbids("Write", file_path="/p/.claude/memory/memory-config.json")


def test_files_beside_the_store_are_free():
    assert not forbids("Edit", file_path="/p/src/memory.py")
    assert not forbids("Write", file_path="/p/.claude/memory-notes.md")
    assert not forbids("NotebookEdit", notebook_path="/p/a.ipynb")
    assert not forbids("Grep", pattern=".claude/memory")


def test_a_link_into_the_store_is_followed(tmp_path):
    store = tmp_path / ".claude" / "memory"
    (store / "decisions").mkdir(parents=True)
    os.symlink(store, tmp_path / "shortcut")

    given = {"file_path": str(tmp_path / "shortcut" / "decisions" / "a.json")}

    assert store_files.forbids("Write", given, [str(store)], str(tmp_path))


@pytest.mark.parametrize("given", [{}, {"command": 7}, {"file_path": None}, {"command": ""}])
def test_a_tool_call_of_another_shape_is_none_of_our_business(given):
    assert not store_files.forbids("Bash", given, [STORE], "/p")
    assert not store_files.forbids("Write", given, [STORE], "/p")


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_a_store_is_the_same_under_another_case_where_the_system_says_so(platform, monkeypatch):
    command = "echo {} > .Claude/MEMORY/decisions/x.json"
    assert not forbids("Bash", command=command)

    monkeypatch.setattr("sys.platform", platform)

    assert forbids("Bash", command=command)
