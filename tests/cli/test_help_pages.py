"""Whole help pages, and the words of wrong usage."""

from __future__ import annotations

import argparse
import re

import pytest

from onrecord.cli import help, parser_of
from onrecord.cli.commands import Example

PAGES = {
    "hub": """\
usage: onrecord hub ACTION [options]

Host the shared stores of teams in a Postgres database.

actions:
  init [URL]            create or update the tables, and a team
  grant LOGIN ROLE      add a login to the team
  invite LOGIN          print the lines to send to a new colleague
  revoke LOGIN          remove a member from the team
  forget PATH           delete the earlier versions of a record
  status                list the teams, their members and records

for init:
  URL                   the same as --url
  --review              writers of the team can only send drafts
  --no-review           writers of the team can change records again

for grant:
  LOGIN                 a login of the database
  ROLE                  reader, writer or reviewer
  --create              create the login, with a password that you type

for invite:
  LOGIN                 their login of the database; it need not exist yet
  --role reader|writer|reviewer
                        their role (default: writer)

for revoke:
  LOGIN                 a login of the database

for forget:
  PATH                  the record, such as decisions/use-uv.json

options:
  --url URL             address of the database, or a remote (default:
                        $ONRECORD_HUB_URL)
  --team NAME           the team (default: the part after # in the URL)

for every command:
  --json                print the result, or the error, as JSON
  --project DIR         act on the project of DIR (default: the current folder)
  --no-pager            print a long result without a pager
  -h, --help            show this help

examples:
  # make the tables, and a team
  onrecord hub init postgresql://localhost/memory --team platform
  # add a member; the role is reader, writer or reviewer
  onrecord hub grant ann writer --team platform
  # list the teams, their members and records
  onrecord hub status
""",
    "config unset": """\
usage: onrecord config unset KEY [options]

Reset a setting to its default.

arguments:
  KEY                   a setting such as retrieval.max_inject

for every command:
  --json                print the result, or the error, as JSON
  --user                act on your own store, which is for all your projects
  --remote REMOTE       act on the replica of this shared store
  --project DIR         act on the project of DIR (default: the current folder)
  --no-pager            print a long result without a pager
  -h, --help            show this help

examples:
  # back to the default
  onrecord config unset retrieval.max_inject
""",
    "merge-driver": """\
usage: onrecord merge-driver O A B [L] [P] [options]

Merge two versions of a record; git calls this.

arguments:
  O                     the common ancestor's file (git's %O)
  A                     our version's file, which the result replaces (%A)
  B                     their version's file (%B)
  L                     length of conflict markers (%L)
  P                     the path being merged (%P)

for every command:
  --json                print the result, or the error, as JSON
  --project DIR         act on the project of DIR (default: the current folder)
  --no-pager            print a long result without a pager
  -h, --help            show this help

examples:
  # what git runs, with three files of its own
  onrecord merge-driver base.json ours.json theirs.json
""",
}


@pytest.mark.parametrize("words", PAGES)
def test_a_whole_page(onrecord, words):
    assert onrecord("help", *words.split()).out == PAGES[words]
    assert onrecord(*words.split(), "--help").out == PAGES[words]


def test_a_page_in_colour_has_bold_headings_and_dim_meanings():
    page = help.page(parser_of("hub"), help.Screen(80, is_terminal=True, has_colour=True))

    headings = [heading for heading in PAGES["hub"].split("\n") if re.match(r"\S.*:$", heading)]
    assert re.findall("\033\\[1m(.*?)\033\\[0m", page) == headings
    assert len(headings) == 9
    meanings = re.findall("\033\\[2m(.*?)\033\\[0m", page)
    assert meanings[-1] == "  # list the teams, their members and records"


def test_an_example_of_two_lines_is_indented():
    assert help.shell_line(Example("m", "save x \\\n  --force")) == "onrecord save x \\\n    --force"


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("x" * 20, ["  " + "x" * 20 + "  does it"]),
        ("x" * 21, ["  " + "x" * 21, " " * 24 + "does it"]),
        ("x", ["  x" + " " * 21 + "does it"]),
    ],
)
def test_a_meaning_is_beside_an_option_of_up_to_twenty_columns(title, lines):
    assert help._lines(title, "does it").split("\n") == lines


@pytest.mark.parametrize(
    ("words", "options", "title", "usage"),
    [
        (("name",), {}, "name", "name"),
        (("name",), {"metavar": "NAME", "nargs": "?"}, "NAME", "[NAME]"),
        (("name",), {"metavar": "NAME", "nargs": "+"}, "NAME", "NAME …"),
        (("name",), {"metavar": "NAME", "nargs": "*"}, "NAME", "[NAME …]"),
        (("name",), {"choices": (1, 2)}, "1|2", "1|2"),
        (("-x", "--ex"), {"action": "store_true"}, "-x, --ex", None),
        (("--ex-am",), {}, "--ex-am EX_AM", None),
        (("--ex",), {"metavar": "X", "nargs": "+"}, "--ex X …", None),
        (("--ex",), {"choices": ("a", "b"), "nargs": "*"}, "--ex a|b …", None),
    ],
)
def test_how_an_argument_is_shown(words, options, title, usage):
    argument = argparse.ArgumentParser().add_argument(*words, **options)

    assert help.title_of(argument) == title
    if usage is not None:
        assert help.argument_of(argument) == usage


def test_a_percent_sign_is_shown_once():
    parser = argparse.ArgumentParser()

    assert help.meaning_of(parser.add_argument("--a", help="5%% of it")) == "5% of it"
    assert help.meaning_of(parser.add_argument("--b")) == ""


@pytest.mark.parametrize(
    ("message", "plain"),
    [
        ("argument --limit: must be 1 or more, not 0", "--limit must be 1 or more, not 0"),
        ("argument --a: not allowed with argument --b", "--b and --a exclude each other"),
        ("argument ROLE: invalid choice: 'king' (choose from 'reader', 'writer')",
         "ROLE must be one of reader, writer, not king"),
        ("argument ROLE: invalid choice: king (choose from reader)", "ROLE must be one of reader, not king"),
        ("argument X: invalid choice: '" + "x" * 61 + "' (choose from a)",
         "X must be one of a, not " + "x" * 59 + "…"),
        ("argument X: invalid choice: '" + "x" * 60 + "' (choose from a)", "X must be one of a, not " + "x" * 60),
        ("the following arguments are required: ID", "the following arguments are required: ID"),
    ],
)  # fmt: skip
def test_messages_of_argparse_in_our_words(message, plain):
    assert help._plain(message) == plain


@pytest.mark.parametrize(
    ("unknown", "hint"),
    [
        ("--catgory=decision", "; did you mean --category?"),
        ("--tagg x", "; did you mean --tag?"),
        ("--jsn --tagg", "; did you mean --json?"),
        ("--all", ""),
        ("", ""),
        (" ", ""),
    ],
)
def test_an_option_that_is_near_another_is_named(unknown, hint):
    names = ("--category", "--tag", "--json")

    assert help._hint(f"unrecognized arguments: {unknown}", names) == hint
    assert help._hint(f"required: {unknown}", names) == ""


def test_an_option_must_have_seven_of_ten_letters_in_common():
    assert help._hint("unrecognized arguments: --abcdefgxyz", ("--abcdefghij",)) == "; did you mean --abcdefghij?"
    assert help._hint("unrecognized arguments: --abcdefwxyz", ("--abcdefghij",)) == ""


def test_a_folder_is_one_and_its_name_is_cut_after_sixty_characters(tmp_path):
    (tmp_path / "file").write_text("x")

    assert help.folder(str(tmp_path)) == str(tmp_path)
    for name, shown in (("n" * 60, "n" * 60), ("n" * 61, "n" * 59 + "…"), (str(tmp_path / "file")[:60], "/")):
        with pytest.raises(argparse.ArgumentTypeError, match=f"^must be a folder, not {shown}"):
            help.folder(name)


@pytest.mark.parametrize(
    ("words", "position"),
    [
        ([], 0),
        (["list"], 0),
        (["--json", "list"], 1),
        (["--project", ".", "list"], 2),
        (["--project"], 1),
        (["--unknown", "list"], 1),
        (["--json", "--no-pager"], 2),
    ],
)
def test_where_the_first_word_is(words, position):
    assert parser_of("remote").first_word(words) == position


def test_the_parser_of_an_action_takes_the_words_around_its_name():
    parser = parser_of("remote")

    assert parser.for_action(["--json", "add", "x"]) == (parser.actions["add"], ["--json", "x"])
    assert parser.for_action(["--json"]) == (parser.actions["list"], ["--json"])
    assert parser.for_action(["--help", "add"]) == (parser, ["--help", "add"])
    assert parser.for_action(["other"]) == (parser, ["other"])
    config = parser_of("config")
    assert config.for_action(["capture.mode"]) == (config.actions["get"], ["capture.mode"])
