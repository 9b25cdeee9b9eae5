"""What git prints: each message leads to one error with what to do, and each line of a push to one outcome."""

from __future__ import annotations

import pytest

from onrecord.errors import BadRemote, Offline, Refused
from onrecord.shared import git_transport
from onrecord.shared.git_commits import BrokenMirror
from onrecord.shared.git_mirror import GitResult
from onrecord.shared.git_transport import Heads

URL = "https://h/team memory.git"
CHECK = "check that git can reach it: git ls-remote 'https://h/team memory.git'"
COMMIT, OTHER, OWN = "a" * 40, "b" * 40, "c" * 40


@pytest.mark.parametrize(
    ("error", "message", "fix", "reasons"),
    [
        (BadRemote, "git is not installed", "install git", ["git was not found"]),
        (BrokenMirror, "the fetched repository cannot be read: {}", "fetch it again: onrecord sync",
         ["bad object HEAD", "not a git repository: x", "loose object is corrupt", "object file x is empty",
          "remote did not send all necessary objects", "unable to read sha1 file"]),
        (Offline, f"{URL} cannot be reached: {{}}", f"{CHECK}; later: onrecord sync",
         ["could not resolve host: not allowed", "Failed to connect to h: protected", "connection refused by read-only",
          "it timed out: not found", "h is unreachable: not a git repository", "something new",
          "did not answer in time"]),
        (Refused, f"{URL} denies access: {{}}", CHECK,
         ["Permission denied (publickey).", "authentication failed for h", "access denied", "error: 403", "error: 401",
          "http 403", "http 401", "terminal prompts disabled", "could not read username", "could not read password",
          "host key verification failed.", "x denied to ann", "not authorized", "unauthorized", "x is not allowed",
          "h is read-only", "protected branch, repository not found"]),
        (BadRemote, f"{URL} cannot be used: {{}}", CHECK,
         ["x does not appear to be a git repository", "repository not found", "x not found",
          "detected dubious ownership", "transport 'file' is unknown", "the repository is larger than 4 bytes",
          "answered more than 4 bytes", "couldn't find remote ref main"]),
    ],
)  # fmt: skip
def test_each_message_of_git_leads_to_its_error(error, message, fix, reasons):
    for reason in reasons:
        answer = git_transport.error_from_git(GitResult(128, b"", reason), URL)

        shown = reason.removeprefix("error: ")
        assert (type(answer), answer.message, answer.fix) == (error, message.format(shown), fix), reason


def test_damage_that_the_remote_reports_is_not_that_of_our_mirror():
    answer = git_transport.error_from_git(GitResult(128, b"", "remote: not a git repository: x\nno luck"), URL)

    assert (type(answer), answer.message) == (
        Offline,
        f"{URL} cannot be reached: remote: not a git repository: x; no luck",
    )


def test_a_git_without_a_message_is_known_by_its_status():
    assert (
        git_transport.error_from_git(GitResult(7, b"", ""), URL).message == f"{URL} cannot be reached: git ended with 7"
    )


def test_a_message_is_shown_without_the_advice_of_git():
    message = "hint: try it\nTo x\n\nfatal: one\nPlease make sure\nand the repository exists\n  error: two\n"
    message += "Could not read from remote\nthree\nfour\n"

    assert git_transport.shorten(message) == "one; two; three"
    assert git_transport.shorten("x" * 301) == "x" * 300
    assert git_transport.shorten("") == ""


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([" \ta:b\tx..y", "*\ta:b\t[new]", "=\ta:b\t[same]", "+\ta:b\tforced"], "done"),
        (["!\ta:b\t[rejected] (fetch first)", "!\ta:b\t[remote rejected] (cannot lock ref 'x')",
          "!\ta:b\t[remote rejected] (failed to update ref)", "!\ta:b\t[remote rejected] (Incorrect old value)",
          "!\ta:b\t[remote rejected] (reference already exists)", "!\ta:b\t[remote rejected] (unable to lock)"],
         "behind"),
        (["!\ta:b\t[remote rejected] (pre-receive hook declined)"], "protected"),
        (["", "Done", "!!\ta:b\tx", "!\ta:b", "!"], ""),
    ],
)  # fmt: skip
def test_each_line_of_a_push_says_how_it_ended(lines, outcome):
    for line in lines:
        text = f"To https://h/\tx\n{line}\n!\n"

        assert git_transport.push_outcome(GitResult(1, text.encode(), "")) == outcome, line


def test_the_first_line_of_a_push_counts():
    text = "*\ta:b\t[new]\n!\tc:d\t[remote rejected] (declined)\n"

    assert git_transport.push_outcome(GitResult(1, text.encode(), "")) == "done"


def listing(*names: str, default: str = "") -> str:
    commits = {"main": COMMIT, "team": OTHER, "own": OWN}
    lines = [f"ref: refs/heads/{default}\tHEAD"] if default else []
    return "\n".join((*lines, *(f"{commits.get(name.rpartition('/')[2], COMMIT)}\t{name}" for name in names)))


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("", Heads("")),
        (listing("HEAD", "refs/heads/team", "refs/heads/main", default="team"), Heads("team", OTHER)),
        (listing("refs/heads/trunk", "refs/heads/master"), Heads("master", COMMIT)),
        (listing("refs/heads/trunk"), Heads("trunk", COMMIT)),
        (listing("refs/heads/master", "refs/heads/main", "refs/heads/own"), Heads("main", COMMIT, OWN)),
        (listing("refs/heads/team"), Heads("")),
        (listing("HEAD", default="elsewhere"), Heads("elsewhere", COMMIT)),
        (listing("refs/heads/team", default="elsewhere"), Heads("")),
        (listing("HEAD"), Heads("")),
        ("not-an-id\trefs/heads/main", Heads("")),
        (f"{listing('refs/heads/main')}\n{OTHER}\trefs/heads/main", Heads("main", COMMIT)),
    ],
)
def test_the_branch_of_the_records_is_the_default_or_one_with_a_usual_name(text, heads):
    assert git_transport.parse_heads(text, "own") == heads


@pytest.mark.parametrize(
    ("name", "is_used"),
    [("x" * 249, True), ("x" * 250, False), ("a/b-c.d", True), *((f"a{mark}b", False) for mark in " ~^:?*[\\"),
     ("a..b", False), ("a\x7fb", False)],
)  # fmt: skip
def test_a_default_branch_has_a_name_that_git_allows(name, is_used):
    text = f"ref: refs/heads/{name}\tHEAD\n{COMMIT}\tHEAD\n{COMMIT}\trefs/heads/{name}"

    assert git_transport.parse_heads(text, "own") == (Heads(name, COMMIT) if is_used else Heads(""))
