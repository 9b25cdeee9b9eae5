"""The simple commands of a shell line, and their families."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.session import commands

HEREDOC = """git commit -m "$(cat <<'END'
feat: add the npm install page

END
)"
"""


def families(line: str) -> list[str]:
    return [call.family for call in commands.parse(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("npm install lodash", ["npm install"]),
        ("npm i left-pad --save-dev", ["npm install"]),
        ("sudo npm install -g x", ["npm install"]),
        ("NODE_ENV=test npm install x", ["npm install"]),
        ("cd web && npm install x", ["cd", "npm install"]),
        ("git -C /srv/app commit -m 'fix: x'", ["git commit"]),
        ("git -c user.name=x commit", ["git commit"]),
        (HEREDOC, ["git commit"]),
        ("gh pr create --title 'add x'", ["gh pr create"]),
        ("docker compose -f dev.yml up -d", ["docker compose up"]),
        ("docker exec -it db psql -U app", ["docker exec psql"]),
        ("make SUBTARGET=rootfs image", ["make image"]),
        ("python3 -m pytest -q tests", ["python3 pytest"]),
        ("uv run --with x pytest", ["uv run pytest"]),
        ("acme-wrap git push", ["acme-wrap git push"]),
        ("bash -c 'npm test && git push'", ["npm test", "git push"]),
        ("timeout 60 go test ./...", ["go test"]),
        ("/usr/bin/git status", ["git status"]),
        ("cd app && \\\n  deployctl push prod", ["cd", "deployctl push"]),
        ("FOO=1 \\\n  deployctl push prod", ["deployctl push"]),
        ("(cd web && npm install)", ["cd", "npm install"]),
        ("out=$(npm install 2>&1)", ["npm install"]),
        ('echo "$(npm install)"', ["echo", "npm install"]),
        ("2>/dev/null npm install", ["npm install"]),
        ("f() { npm install; }", ["f", "npm install"]),
        ("x=(npm install)", []),
        ("cat a.txt | sort > b.txt", ["cat", "sort"]),
        ("# only a comment", []),
        ("for f in *.py; do echo $f; done", ["echo"]),
        ("", []),
    ],
)
def test_a_family_is_program_and_subcommands(line, expected):
    assert families(line) == expected


def test_words_of_a_call_are_told_apart():
    (call,) = commands.parse("git commit --no-verify -m 'two words' src/a.py > log.txt")

    assert call.options == ("--no-verify", "-m")
    assert call.arguments == ("src/a.py", ">", "log.txt")
    assert call.texts == ("two words",)


@given(st.text())
def test_any_text_is_parsed(text):
    for call in commands.parse(text):
        assert call.program
        assert call.family == call.family.strip(" ")


@given(st.text(alphabet="abc '\"\\$()<>|&;\n#=-/", max_size=80))
def test_what_looks_like_shell_is_parsed(line):
    assert len(commands.parse(line)) <= 16


@given(st.sampled_from(["npm install", "git commit", "make image", "cargo build"]), st.text("abcxyz", min_size=1))
def test_arguments_do_not_change_a_family(head, argument):
    assert families(f"{head} --flag ./{argument}") == [head]


@pytest.mark.parametrize(
    "line",
    [
        "a" * 1_000_000,
        "x " * 500_000,
        "'" * 1_000_000,
        "cat <<E\n" * 120_000,
        "\\" * 999_999,
        "$(" * 500_000,
        '"$( ' * 250_000,
    ],
)
def test_a_command_of_a_megabyte_is_bounded(line):
    calls = commands.parse(line)

    assert sum(len(call.words) for call in calls) <= 16 * 40
    assert all(len(call.program) <= 32 for call in calls)
