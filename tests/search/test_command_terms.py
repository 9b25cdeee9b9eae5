"""The terms of a command: what it does in English, its options, and the keys by which records are ruled out."""

from __future__ import annotations

import pytest

from onrecord.search import command_filter, command_terms
from onrecord.session import commands


def terms_of(line):
    (call,) = command_terms.of_calls(commands.parse(line))
    return call


def test_all_terms_of_one_call():
    call = terms_of("npm install --save-dev --tag=beta -q left-pad NODE_ENV=test key=1 'a quoted text here'")

    assert call._asdict() == {
        "family": "npm install",
        "program": ("npm",),
        "subcommands": ("instal",),
        "runner": (),
        "concepts": ("depend", "packag", "librari", "instal"),
        "options": (("save", "dev"), ("tag",)),
        "assigned": (("node", "env"),),
        "arguments": ("left", "pad", "node", "env", "test", "kei"),
        "texts": ("quot", "text", "here"),
        "sequence": (
            "npm", "instal", "save", "dev", "tag", "beta", "q", "left", "pad", "node", "env", "test", "kei", "1",
        ),
        "flags": frozenset({"--save-dev", "--tag"}),
        "is_ordinary": False,
        "is_inspection": False,
        "is_delivery": False,
    }  # fmt: skip
    assert call.head == ("npm", "instal")
    assert call.spellings == [("npm", "instal", "save", "dev"), ("npm", "instal", "tag"), ("npm", "node", "env")]


@pytest.mark.parametrize(
    ("line", "concepts"),
    [
        ("git commit", "commit messag"),
        ("git test", ""),
        ("cd web", "chang directori"),
        ("pip", "pip python"),
        ("npm add x", "depend packag librari instal"),
        ("go get x", "depend packag librari"),
        ("composer require x", "depend packag librari instal"),
        ("cargo remove x", "depend packag uninstal"),
        ("pip uninstall x", "pip python depend packag remov"),
        ("brew update", "depend packag upgrad"),
        ("pod upgrade", "depend packag updat"),
        ("git add x", ""),
        ("make deploy", "deploi"),
        ("npm run test:e2e", "test suit e2e"),
    ],
)
def test_what_a_command_does_in_english(line, concepts):
    assert " ".join(terms_of(line).concepts) == concepts


@pytest.mark.parametrize(
    ("line", "is_inspection"),
    [
        ("awk x", True), ("[[ x", True), ("sed x", True), ("sed -i x", False), ("sed -i.bak x", False),
        ("sed --in-place x", False), ("find . -delete", False), ("find . -name x", True), ("git status", True),
        ("git blame x", True), ("helm version", True), ("gcloud config list", True), ("make status", False),
        ("git push", False), ("git", False), ("brew view x", True),
    ],
)  # fmt: skip
def test_a_command_that_only_looks(line, is_inspection):
    assert terms_of(line).is_inspection is is_inspection


@pytest.mark.parametrize(
    ("line", "is_delivery"),
    [
        ("git commit", True), ("git push", True), ("git tag", True), ("git merge x", True), ("git rebase x", True),
        ("gh pr create", True), ("gh pr merge", True), ("gh pr ready", True), ("gh pr edit", True),
        ("glab mr create", True), ("glab mr merge", True), ("npm publish", True), ("pnpm publish", True),
        ("yarn publish", True), ("cargo publish", True), ("poetry publish", True), ("uv publish", True),
        ("git add x", False), ("glab mr ready", False), ("pip publish", False), ("git", False),
    ],
)  # fmt: skip
def test_a_command_that_hands_work_over(line, is_delivery):
    assert terms_of(line).is_delivery is is_delivery


def test_each_family_is_compared_once_and_at_most_six():
    line = " && ".join(f"npm run {name}" for name in "a b a c d e f g".split())

    assert [call.family for call in command_terms.of_calls(commands.parse(line))] == [
        f"npm run {name}" for name in "abcdef"
    ]


def test_long_commands_are_cut():
    words = " ".join(f"word{number:02}" for number in range(60))
    options = " ".join(f"--option{number}" for number in range(12))

    call = terms_of(f"acme {options} {words}")

    assert call.options == tuple((f"option{number}",) for number in range(8))
    assert call.arguments == tuple(f"word{number:02}" for number in range(1, 25))
    assert len(call.sequence) == 40
    assert terms_of(f"acme '{words[:196]}' '{words[196:]}'").texts == tuple(f"word{number:02}" for number in range(40))


def test_of_a_long_word_the_beginning_counts():
    word, parts = "/".join(["1" * 39] * 5), ("1" * 39,) * 5

    assert terms_of(f"acme x --{word[2:]}/zz").options == (("1" * 37, *parts[1:]),)
    assert terms_of(f"acme x {word}/zz").sequence == ("acm", "x", *parts)
    assert terms_of(f"acme x {word[:-1]}2/zz").arguments == (parts[0], f"{'1' * 38}2")
    assert terms_of(f"acme x '{word[:-2]} zzz'").texts == (parts[0], "1" * 37, "zz")


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("npm", {"npm"}),
        ("make", {"=make"}),
        ("npm run dev", {"npm run", "run dev"}),
        ("git commit --no-verify", {"git commit", "no verifi"}),
        ("make NODE_ENV=x", {"=make", "node env", "make node"}),
        ("npm --force", {"npm"}),
    ],
)
def test_the_keys_of_a_call(line, keys):
    assert command_terms.keys(terms_of(line)) == keys


def test_the_keys_of_a_record():
    keys = command_filter.record_keys(
        "run my sql __mysql", "npm instal | a b", "it is must run", [("web/a.py", 1), ("infra/**/*.tf", 0)]
    )

    assert keys == {
        "run", "my", "sql", "mysql", "run my", "my sql",
        "npm", "instal", "npm instal", "a", "b",
        "it", "is", "must", "=npm instal", "=a b",
        "/web/a.py", "//a.py", "/infra", "/!",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("src/*/x.py", "/src"), ("src/a?.py", "/src"), ("src/x?/*.py", "/src"), ("src/x*/?.py", "/src"),
        ("*.py", "*.py"), ("?.py", "*.py"),
        ("**/*.d.ts", "*.ts"), ("*", "*"), ("*.p?", "*"), ("a*", "*"),
    ],
)  # fmt: skip
def test_the_key_of_a_pattern_is_its_folder_or_ending(pattern, key):
    assert command_filter.record_keys("", "", "", [(pattern, 1)]) == {"=", key}


def test_the_keys_of_a_file():
    assert command_filter.file_keys("web/app/a.min.js") == {
        "/web", "/web/app", "/web/app/a.min.js", "//a.min.js", "*.js", "*",
    }  # fmt: skip
    assert command_filter.file_keys("Makefile") == {"/Makefile", "//Makefile", "*.Makefile", "*"}


def test_the_keys_of_checks():
    assert command_filter.check_keys([]) == set()
    assert command_filter.check_keys(["push", ""]) == {"!push", "!", "!!"}
