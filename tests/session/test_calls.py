"""The program calls of a shell line: every short form, runner and option that is known, and each part of a call."""

from __future__ import annotations

import pytest

from onrecord.session import commands
from onrecord.session.commands import SimpleCommand


def families(line: str) -> list[str]:
    return [call.family for call in commands.parse(line)]


@pytest.mark.parametrize(
    ("line", "family"),
    [
        ("npm i x", "npm install"),
        ("npm in x", "npm install"),
        ("npm ci", "npm install"),
        ("pnpm i x", "pnpm install"),
        ("bun i x", "bun install"),
        ("npm run-script build", "npm run build"),
        ("npm t", "npm test"),
        ("npm rm x", "npm uninstall"),
        ("yarn i x", "yarn i"),
        ("pnpm ci", "pnpm ci"),
    ],
)
def test_a_short_form_of_a_subcommand_is_the_long_one(line: str, family: str):
    assert families(line) == [family]


@pytest.mark.parametrize(
    ("line", "family"),
    [
        ("aws s3 cp x y", "aws s3 cp"),
        ("gh pr create", "gh pr create"),
        ("git remote add x", "git remote add"),
        ("git push origin x", "git push"),
        ("git stash", "git stash"),
        ("go mod tidy", "go mod tidy"),
        ("kubectl rollout undo x", "kubectl rollout undo"),
        ("npm run build", "npm run build"),
        ("npm run ./build", "npm run"),
        ("docker compose up", "docker compose up"),
        ("docker build x", "docker build"),
        ("terraform state rm x", "terraform state rm"),
        ("uv pip install x", "uv pip install"),
        ("acme status now", "acme status"),
        ("acme Status", "acme status"),
        ("acme a_b:c-d", "acme a_b:c-d"),
        ("acme 1.2", "acme"),
        ("acme v1.2", "acme"),
        ("acme ./x", "acme"),
        ("acme ü", "acme"),
        ("cat status", "cat"),
        ("git -C x --git-dir y -c a=b status", "git status"),
        ("git --no-pager log", "git log"),
        ("git > x log", "git log"),
        ("make CC=gcc image", "make image"),
    ],
)
def test_a_family_has_the_words_that_name_what_is_done(line: str, family: str):
    assert families(line) == [family]


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("uv run pytest x", ("uv run", "pytest", ())),
        ("poetry run python -m pytest x", ("poetry run python", "pytest", ())),
        ("npx prettier x", ("npx", "prettier", ())),
        ("pnpm exec tsc x", ("pnpm exec", "tsc", ())),
        ("yarn dlx vite build", ("yarn dlx", "vite", ("build",))),
        ("yarn add x", ("", "yarn", ("add",))),
        ("uv add x", ("", "uv", ("add",))),
        ("docker exec db psql x", ("docker exec", "psql", ())),
        ("docker exec db", ("", "docker", ("exec",))),
        ("timeout 5 git push", ("", "git", ("push",))),
        ("timeout -k 9 5 git push", ("", "git", ("push",))),
        ("python -m pytest x", ("python", "pytest", ())),
        ("py -m ruff check", ("py", "ruff", ("check",))),
        ("python -m", ("", "python", ())),
        ("python x.py", ("", "python", ())),
        ("acme git push", ("acme", "git", ("push",))),
        ("acme -x git push", ("acme", "git", ("push",))),
        ("acme run git", ("", "acme", ("run",))),
        ("cat git", ("", "cat", ())),
        ("git npm", ("", "git", ("npm",))),
        ("sudo -E apt install x", ("", "apt", ("install",))),
        ("sudo -u root apt install x", ("", "apt", ("install",))),
        ("nice -n 5 npm test", ("", "npm", ("test",))),
        ("xargs -n 1 npm install", ("", "npm", ("install",))),
        ("timeout --signal KILL 5 git push", ("", "git", ("push",))),
        ("/usr/bin/timeout 5 git push", ("", "git", ("push",))),
        ("uv run timeout 5 pytest", ("uv run", "pytest", ())),
        ("APT.EXE install x", ("", "apt", ("install",))),
    ],
)
def test_a_runner_is_told_from_the_program_that_it_runs(line: str, call: tuple[str, str, tuple[str, ...]]):
    (parsed,) = commands.parse(line)

    assert (parsed.runner, parsed.program, parsed.subcommands) == call


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("for x in a b", []),
        ("done", []),
        ("case x in", []),
        ("esac", []),
        ("fi", []),
        ("select x in a", []),
        ("function f", []),
        ("in x", []),
        ("( )", []),
        ("sudo -E", []),
        ("[ -f x ]", ["["]),
        ("[[ -f x ]]", ["[["]),
        ("--- x", []),
        ("bash -c 'npm test; git push'", ["npm test", "git push"]),
        ("sh -c 'npm test'", ["npm test"]),
        ("zsh -c 'npm test'", ["npm test"]),
        ("fish -c 'npm test'", ["fish"]),
        ("bash -x 'npm test'", ["bash"]),
        ("bash -c npm", ["bash"]),
        ("cat << E x\nE", ["cat"]),
        ("cat <<E\ntext\nE", []),
    ],
)
def test_what_is_no_program_call_is_left_out(line: str, calls: list[str]):
    assert families(line) == calls


def test_a_call_has_all_of_its_words():
    (call,) = commands.parse("sudo git -c a=b commit -m 'two words' - \"tab\tbed\" --amend src/a.py > log 2>&1")

    assert call == SimpleCommand(
        "git",
        ("commit",),
        ("-c", "-m", "--amend"),
        ("a=b", "-", "src/a.py", ">", "log", "2", ">&", "1"),
        ("two words", "tab\tbed"),
        ("git", "-c", "a=b", "commit", "-m", "two words", "-", "tab\tbed", "--amend", "src/a.py", ">", "log", "2",
         ">&", "1"),
    )  # fmt: skip


def test_a_call_in_a_shell_has_forty_words_too():
    words = " ".join(map(str, range(50)))

    (call,) = commands.parse(f"bash -c 'echo {words}'")

    assert len(call.words) == 40
