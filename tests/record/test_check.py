"""Checks: what breaks them and what does not, what is refused, and that a check survives every form it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("hypothesis")
from hypothesis import assume, given
from hypothesis import strategies as st

from onrecord.errors import Invalid
from onrecord.record import check, compose, memory, merge
from onrecord.record.check import Check, CheckProblem, FileLines, Line
from tests.records import raw
from tests.time_limit import at_most

NPM = Check(("command",), starts=("npm install", "npm i "), unless=("--workspace",), say="pnpm add")
MOMENT = Check(("edit",), paths=("src/**/*.ts",), adds=("from 'moment'",), say="date-fns, not moment")


@pytest.mark.parametrize(
    ("command", "is_broken"),
    [
        ("npm install left-pad", True),
        ("npm i", True),
        ("npm   install  left-pad", True),
        ("cd web && npm install", True),
        ("CI=1 FORCE=yes sudo -u deploy npm install", True),
        ("/usr/local/bin/npm install x", True),
        ("ls; npm i x | tee log", True),
        ("echo $(npm install x)", True),
        ('bash -lc "cd web; npm i x"', True),
        ("if true; then npm install; fi", True),
        ("npm install \\\n  left-pad", True),
        ("npm \\\ninstall x", True),
        ("(cd web && npm install)", True),
        ("out=$(npm install 2>&1)", True),
        ('echo "$(npm install)"', True),
        ('echo "a $(echo "b $(npm install)") c"', True),
        ("echo `npm install`", True),
        ("diff <(npm install) log", True),
        ("2>/dev/null npm install", True),
        ("&>log npm install", True),
        ("f() { npm install; }; f", True),
        ("for d in a b; do (cd $d && npm install); done", True),
        ("case $x in a) npm install;; esac", True),
        ("timeout 60 npm install x", True),
        ("sudo timeout -k 5 -s KILL 1m npm install x", True),
        ("echo '$(npm install)'", False),
        ('echo "\\$(npm install)"', False),
        ("find . \\( -name npm install \\)", False),
        ("x=(npm install)", False),
        ("echo $(date) npm install", False),
        ("echo $((npm install))", False),
        ("ls # (npm install)", False),
        ("rm !(keep) npm install", False),
        ('echo "`" ; npm install', True),
        ("echo $(a; npm install x", True),
        ("npm installer", False),
        ("npm i-all", False),
        ("pnpm install", False),
        ("npm install --workspace web", False),
        ("git commit -m 'npm install is gone'", False),
        ("echo npm install", False),
        ("cat > notes <<EOF\nnpm install\nEOF", False),
        ("# npm install", False),
        ("", False),
        ("npm install --workspace a && npm install b", True),
    ],
)
def test_a_command_breaks_a_check_by_its_first_words(command, is_broken):
    assert check.breaks_command(NPM, command) is is_broken


@pytest.mark.parametrize(
    ("text", "part", "count"),
    [
        ("use npm here", "npm", 1),
        ("pnpm npmx npm-x", "npm", 0),
        ("git push --force", "--force", 1),
        ("git push --force-with-lease", "--force", 0),
        ("a&&b && c", "&&", 2),
        ("moment(moment)", "moment", 2),
        ("from 'moment'", "from 'moment'", 1),
        ("", "x", 0),
    ],
)
def test_texts_match_as_whole_words_where_they_are_words(text, part, count):
    assert check.count_text(text, part) == count
    assert check.has_text(text, part) is (count > 0)


def test_without_starts_the_whole_line_is_searched():
    no_force = Check(("command",), has=("--force", "-f"), unless=("--dry-run",))

    assert check.breaks_command(no_force, "git push  origin --force")
    assert not check.breaks_command(no_force, "git push --force --dry-run")
    assert not check.breaks_command(no_force, "git push --force-with-lease")


@pytest.mark.parametrize(
    ("command", "is_broken"),
    [
        ("git commit --no-verify -m x", True),
        ("git commit \\\n  --no-verify", True),
        ("git commit -m '# 1' --no-verify", True),
        ("cat <<EOF | git commit -F - --no-verify\ntext\nEOF", True),
        ("git commit -m \"$(cat <<'EOF'\nDocs: never use --no-verify\nEOF\n)\"", False),
        ("git commit # not with --no-verify\nls", False),
        ("# --no-verify\ngit commit", False),
        ("# a\ngit commit --no-verify # b", True),
    ],
)
def test_comments_and_here_documents_are_not_part_of_the_line(command, is_broken):
    assert check.breaks_command(Check(("command",), has=("--no-verify",)), command) is is_broken


def test_starts_and_has_must_match_the_same_command():
    force_push = Check(("command",), starts=("git push",), has=("--force",))

    assert check.breaks_command(force_push, "git fetch && git push --force")
    assert not check.breaks_command(force_push, "git push && rm --force x")


def lines(*texts: str) -> list[Line]:
    return [Line(number, text) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("file", "broken"),
    [
        (FileLines("src/a/b.ts", lines("x", "import m from 'moment'")), [2]),
        (FileLines("src/b.ts", lines("import m from 'moment'")), [1]),
        (FileLines("src/b.ts", lines("import m from 'moment'"), is_new=True), [1]),
        (FileLines("src/b.js", lines("import m from 'moment'")), []),
        (FileLines("test/b.ts", lines("import m from 'moment'")), []),
        (FileLines("src/b.ts", lines("import m from 'moment'"), ["import m from 'moment'"]), []),
        (FileLines("src/b.ts", lines("import {a} from 'moment'"), ["import b from 'moment'"]), []),
        (FileLines("src/b.ts", lines("a from 'moment'", "b from 'moment'"), ["a from 'moment'"]), [2]),
        (FileLines("src/b.ts", [], ["import m from 'moment'"]), []),
    ],
)
def test_a_change_breaks_a_check_by_what_it_adds(file, broken):
    assert [line.number for line in check.broken_lines(MOMENT, file)] == broken


def test_a_check_of_whole_files_is_broken_by_any_change_of_them():
    generated = Check(("edit",), paths=("gen/",))

    assert check.broken_lines(generated, FileLines("gen/api.ts", lines("x"))) == [Line(1, "x")]
    assert check.broken_lines(generated, FileLines("gen/api.ts", [], ["x"])) == [Line(1, "")]
    assert check.broken_lines(generated, FileLines("src/api.ts", lines("x"))) == []


def test_write_means_a_file_that_is_made_anew():
    no_js = Check(("write",), paths=("*.js",))

    assert check.broken_lines(no_js, FileLines("a.js", lines("x"), is_new=True))
    assert not check.broken_lines(no_js, FileLines("a.js", lines("x")))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"on": "command"}, CheckProblem("", "can never be broken by a command: it needs starts or has")),
        (
            {"on": "command", "has": ["x"], "adds": ["x"]},
            CheckProblem("adds", "can never match a command; use starts or has, or a check of its own for edits"),
        ),
        (
            {"on": "edit"},
            CheckProblem("", "would be broken by every change: it needs starts, has or adds, or paths of its own"),
        ),
        (
            {"on": "edit", "paths": ["**"]},
            CheckProblem("", "would be broken by every change: it needs starts, has or adds, or paths of its own"),
        ),
        (
            {"on": "command", "has": ["x"], "paths": ["src/"]},
            CheckProblem("paths", "has no meaning for a command: it is for edit and write"),
        ),
        (
            {"on": "command", "starts": ["npm install"], "unless": ["npm"]},
            CheckProblem("unless", "excuses 'npm install' itself, so the check can never be broken"),
        ),
        ({"on": "edit", "has": ["a\nb"]}, CheckProblem("has", "must be texts of one line")),
        (
            {"on": "command", "starts": ["npm i"], "examples": {"breaks": ["npm i x", "pnpm add x"]}},
            CheckProblem("examples.breaks[1]", "does not break the check: 'pnpm add x'"),
        ),
        (
            {"on": "edit", "has": ["moment"], "examples": {"fits": ["a", "x\nuse moment"]}},
            CheckProblem("examples.fits[1]", "breaks the check: 'x\\nuse moment'"),
        ),
        (
            {"on": "edit", "paths": ["gen/"], "examples": {"breaks": ["gen/a.ts", "src/a.ts"]}},
            CheckProblem("examples.breaks[1]", "does not break the check: 'src/a.ts'"),
        ),
    ],
)
def test_a_check_that_says_nothing_is_refused_with_the_reason(fields, problem):
    assert list(check.problems(check.parse(fields))) == [problem]
    with pytest.raises(Invalid) as caught:
        compose.compose("decision", {**_decision(), "checks": [fields]})

    where = f"checks[0].{problem.where}" if problem.where else "checks[0]"
    assert (where, problem.message) in caught.value.field_errors


@pytest.mark.parametrize("name", ["starts", "has", "unless"])
def test_a_blank_text_makes_a_check_unsound(name):
    fields = {"on": "command", "starts": ["npm i"], "has": ["x"], name: ["y", " "]}

    assert CheckProblem(name, "must be texts that are not blank") in list(check.problems(check.parse(fields)))


def _decision() -> dict[str, Any]:
    record = raw()
    return {"title": record["title"], "content": record["content"]}


@pytest.mark.parametrize(
    "checks",
    [
        [{"starts": ["x"]}],
        [{"on": "prompt", "has": ["x"]}],
        [{"on": [], "has": ["x"]}],
        [{"on": 7, "has": ["x"]}],
        [{"on": "command", "has": [7]}],
        [{"on": "command", "has": ["x" * 201]}],
        [{"on": "command", "has": ["x"], "examples": []}],
        ["npm install"],
        [{"on": "command", "has": ["x"]}] * 9,
    ],
)
def test_what_is_no_check_is_refused(checks):
    with pytest.raises(Invalid):
        compose.compose("decision", {**_decision(), "checks": checks})


def test_a_single_text_and_a_single_check_are_understood():
    record = compose.compose("decision", {**_decision(), "checks": {"on": "command", "starts": "npm install"}})

    assert record.checks == (Check(("command",), starts=("npm install",)),)


def test_a_misspelt_part_of_a_check_is_named():
    with pytest.raises(Invalid) as caught:
        compose.compose("decision", {**_decision(), "checks": [{"on": "edit", "add": ["x"]}]})

    assert caught.value.fix == "did you mean adds?"


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12).filter(str.strip)
WORDY = st.text("ab-_ '\"$x.", min_size=1, max_size=12).filter(str.strip)
SOME = st.lists(TEXTS | WORDY, max_size=3)


@st.composite
def checks(draw: Any) -> dict[str, Any]:
    kinds = draw(st.lists(st.sampled_from(check.KINDS), min_size=1, max_size=3, unique=True))
    fields = {name: draw(SOME) for name in ("paths", "starts", "has", "adds", "unless")}
    fields["on"] = kinds if len(kinds) > 1 else kinds[0]
    fields["x-later"] = draw(st.none() | st.just({"a": 1}))
    drawn = {key: value for key, value in fields.items() if value}
    assume(not list(check.problems(check.parse(drawn))))
    return drawn


@given(st.lists(checks(), max_size=3))
def test_a_record_keeps_its_checks_and_what_it_does_not_know_in_them(drawn):
    record = memory.from_json({**raw(), "checks": drawn})
    again = memory.parse(memory.render(record))

    assert again == record
    assert memory.to_json(record).get("checks", []) == drawn
    assert memory.flaws(record) == []


@given(checks())
def test_the_index_has_what_a_hook_needs_of_a_check(drawn):
    one = check.parse(drawn)

    assert check.unpack(check.pack(one)) == one._replace(unknown={})


@given(checks(), st.lists(TEXTS | WORDY, max_size=4).map(" ".join))
def test_what_breaks_a_check_has_one_of_its_key_words(drawn, text):
    one = check.parse(drawn)
    broken = check.breaks_command(one, text) or check.broken_lines(
        one._replace(paths=()), FileLines("a", [Line(1, text)], is_new=True)
    )
    keys = set(check.key_words(one))

    assert not broken or keys & (check.words_of(text) | {""})


@given(*[st.lists(TEXTS | WORDY, min_size=1, max_size=3)] * 2, st.integers(0, 2), st.integers(0, 2))
def test_a_line_with_one_text_of_each_list_breaks_a_check(has, adds, one, other):
    line = Line(3, f"; {has[one % len(has)]} ; {adds[other % len(adds)]} ;")

    assert check.broken_lines(Check(("edit",), has=tuple(has), adds=tuple(adds)), FileLines("a", [line])) == [line]


@given(st.text(max_size=200))
def test_any_line_is_split_and_compared(line):
    assert all(words and all(isinstance(word, str) for word in words) for words in check.simple_commands(line))
    assert check.breaks_command(NPM, line) in (True, False)


@given(st.text("ab\n\r", max_size=30), st.text("ab\n\r", max_size=30))
def test_added_lines_are_those_that_were_not_there_as_often(before, after):
    file = check.added_lines("a", before, after, is_new=False)
    old, new = ([text for text in side.replace("\r\n", "\n").split("\n") if text] for side in (before, after))

    assert sorted([line.text for line in file.added if line.text] + old) == sorted(
        [text for text in file.removed if text] + new
    )


@pytest.mark.parametrize(
    "hostile", ["a" * 500_000, "npm " * 100_000, "$(" * 50_000, "<<" * 50_000, "'" * 99_999, '"$( ' * 9_999]
)
def test_a_hostile_command_is_compared_within_bounds(hostile):
    one = Check(("command",), starts=("a",), has=("a a",))

    with at_most(20):
        assert not check.breaks_command(one, hostile)
        assert not check.breaks_command(one._replace(starts=(), has=("a",)), hostile)


MERGED = [{"on": "command", "starts": ["npm install"]}, {"on": "edit", "adds": ["moment"]}]


def test_checks_that_two_people_added_are_merged():
    base = {**raw(), "checks": []}
    ours, theirs = {**base, "checks": MERGED[:1]}, {**base, "checks": MERGED[1:]}

    merged = merge.merge(*(json.dumps(side).encode() for side in (base, ours, theirs)))

    assert (json.loads(merged.data)["checks"], merged.clashes) == (MERGED, ())


def test_a_check_that_two_people_changed_is_left_to_a_person():
    base = {**raw(), "checks": [{"on": "command", "starts": ["npm install"]}]}
    sides = [{**base, "checks": [{"on": "command", "starts": [text]}]} for text in ("npm i", "npm ci")]

    merged = merge.merge(*(json.dumps(side).encode() for side in (base, *sides)))

    assert merged.clashes == ("checks",)
