"""An action refuses the words and options of the others, and names its own usage."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("line", "message", "usage"),
    [
        ("remote list --force", "unrecognized arguments: --force", "remote list [options]"),
        ("remote --review", "unrecognized arguments: --review", "remote list [options]"),
        ("remote status --auto", "unrecognized arguments: --auto", "remote status [REMOTE] [options]"),
        ("remote list foo", "unrecognized arguments: foo", "remote list [options]"),
        ("remote foo", "ACTION must be one of list, add, remove, withdraw, status, not foo",
         "remote [ACTION] [options]"),
        ("remote remove a b", "unrecognized arguments: b", "remote remove REMOTE [options]"),
        ("remote remove", "the following arguments are required: REMOTE", "remote remove REMOTE [options]"),
        ("remote add", "the following arguments are required: NAME, URL", "remote add NAME URL [options]"),
        ("hub", "the following arguments are required: ACTION", "hub ACTION [options]"),
        ("hub status --create", "unrecognized arguments: --create", "hub status [options]"),
        ("hub revoke ann --no-review", "unrecognized arguments: --no-review", "hub revoke LOGIN [options]"),
        ("hub init --review --no-review", "--review and --no-review exclude each other", "hub init [URL] [options]"),
        ("hub grant ann", "the following arguments are required: ROLE", "hub grant LOGIN ROLE [options]"),
        ("sync --every 5", "--every is only for --watch", "sync [REMOTE …] [options]"),
        ("sync --dry-run --missing restore", "--missing and --dry-run exclude each other",
         "sync [REMOTE …] [options]"),
        ("sync --automatic platform", "--automatic and REMOTE exclude each other", "sync [REMOTE …] [options]"),
        ("config set", "the following arguments are required: KEY, VALUE", "config set KEY VALUE [options]"),
        ("config unset", "the following arguments are required: KEY", "config unset KEY [options]"),
        ("index", "the following arguments are required: ACTION", "index ACTION [options]"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_the_right_usage(project, onrecord, line, message, usage):
    refused = onrecord(*line.split())

    assert refused.code == 2
    assert refused.err.splitlines()[0].partition(": ")[2] == message
    assert refused.err.splitlines()[1] == f"usage: onrecord {usage}"


@pytest.mark.parametrize("line", ["remote --json list", "remote list --json", "--json remote list", "remote --json"])
def test_a_common_option_may_stand_anywhere(project, onrecord, line):
    assert onrecord(*line.split()).out == '{\n  "remotes": [],\n  "asked_for": []\n}\n'


def test_an_action_has_a_help_page_of_its_own(onrecord):
    page = onrecord("remote", "add", "--offline", "--help").out

    assert page.startswith("usage: onrecord remote add NAME URL [options]\n\nConnect a shared store,")
    assert page == onrecord("help", "remote", "add").out
    assert "remote status" not in page
