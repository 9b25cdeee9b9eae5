"""Actions: the files that a command reads and changes, and the commands that hand work over."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.session import action


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("src/a.py", "src/b.py", "web/src/c.ts", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "read", "changed"),
    [
        ("cat src/a.py", ["src/a.py"], []),
        ("sed -n '1,20p' src/a.py", ["src/a.py"], []),
        ("sed -i 's/x/y/' src/a.py", [], ["src/a.py"]),
        ("rg foo src/a.py ./src/b.py", ["src/a.py", "src/b.py"], []),
        ("echo hi > notes.txt", [], ["notes.txt"]),
        ("cat src/a.py >> notes.txt", ["src/a.py"], ["notes.txt"]),
        ("sort src/a.py | tee notes.txt", ["src/a.py"], ["notes.txt"]),
        ("mv src/a.py src/b.py", [], ["src/a.py", "src/b.py"]),
        ("cp src/a.py src/b.py", ["src/a.py"], ["src/b.py"]),
        ("rm src/a.py", [], ["src/a.py"]),
        ("git checkout -- src/a.py", [], ["src/a.py"]),
        ("git restore src/a.py", [], ["src/a.py"]),
        ("cd web && cat src/c.ts", ["web/src/c.ts"], []),
        ("cat missing.py ../outside.txt /etc/passwd", [], []),
        ("echo src/a.py", [], []),
        ("cat src/a.py 2>&1", ["src/a.py"], []),
    ],
)
def test_files_named_in_a_command_are_read_or_changed(folder, command, read, changed):
    found = action.of_command(command, str(folder), str(folder))

    assert [Path(file).relative_to(folder).as_posix() for file in found.files_read] == read
    assert [Path(file).relative_to(folder).as_posix() for file in found.files_changed] == changed


@pytest.mark.parametrize(
    ("command", "is_silenced"),
    [
        ("npm install x #nomem", True),
        ("npm install x # #nomem", True),
        ("npm install x # the user agreed: #nomem.", True),
        ("#nomem\nnpm install x", True),
        ("npm install x;#nomem", True),
        ("cat <<EOF #nomem\ntext\nEOF", True),
        ('git commit --no-verify -m "docs: explain #nomem"', False),
        ("git commit --no-verify -m 'a\n#nomem\nb'", False),
        ("npm install left-pad; echo foo#nomemory", False),
        ("npm install left-pad #nomemory", False),
        ("npm install left-pad; echo foo#nomem", False),
        ('npm install x --registry "http://r/#nomem"', False),
        ("npm install x \\#nomem", False),
        ("cat > notes <<EOF\n#nomem\nEOF\nnpm install x", False),
    ],
)
def test_only_a_comment_of_the_shell_silences_a_command(command, is_silenced):
    assert action.of_command(command, "/p", "/p").is_silenced is is_silenced


def test_a_task_is_silenced_as_a_prompt_is():
    assert action.Action(action.TASK, task="list the files #nomem").is_silenced


def test_only_a_few_words_are_looked_up(folder, monkeypatch):
    looked_up: list[str] = []
    monkeypatch.setattr(action.os.path, "isfile", lambda path: bool(looked_up.append(path)))

    action.of_command("cat " + " ".join(f"src/{number}.py" for number in range(500)), str(folder), str(folder))

    assert len(looked_up) == 12


@pytest.mark.parametrize(
    ("command", "delivery", "stages"),
    [
        ("git commit -m x", "git commit", False),
        ("git commit -am x", "git commit", True),
        ("git add . && git commit -m x", "git commit", True),
        ("git push origin main", "git push", False),
        ("gh pr create --fill", "gh pr create", False),
        ("glab mr create", "glab mr create", False),
        ("git status", "", False),
    ],
)
def test_a_command_that_hands_work_over_is_known(folder, command, delivery, stages):
    found = action.of_command(command, str(folder), str(folder))

    assert (found.delivery, found.stages) == (delivery, stages)


def test_a_comment_silences_a_command(folder):
    assert action.of_command("npm install x  # #nomem", str(folder), str(folder)).is_silenced
