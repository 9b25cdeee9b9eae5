"""The words of shell lines: commands, nested commands, redirections, comments and here-documents."""

from __future__ import annotations

import pytest

from onrecord.session import shell_words


def parts(line: str) -> list[list[str]]:
    return [words for words in shell_words.parts(line) if words]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a b\tc\rd", [["a", "b", "c", "d"]]),
        ("a; b\nc", [["a"], ["b"], ["c"]]),
        ("a && b || c | d & e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("a > b 2>&1 < c >> d", [["a", ">", "b", "2", ">&", "1", "<", "c", ">>", "d"]]),
        ("a 'b c'\"d e\"f", [["a", "b cd ef"]]),
        ("a '' b", [["a", "", "b"]]),
        ("a b\\ c \\; d", [["a", "b c", ";", "d"]]),
        ("a b\\\nc", [["a", "bc"]]),
        ('a "b \\" c" d', [["a", 'b \\" c', "d"]]),
        ("a 'b \\' c", [["a", "b \\", "c"]]),
        ('a "b \\\\" c', [["a", "b \\\\", "c"]]),
        ("a 'open b", [["a", "open b"]]),
        ('a "\\x$(b) \\$(c)"', [["a", "\\x$(b) \\$(c)"], ["b"]]),
        ("a #b c\nd#e", [["a"], ["d#e"]]),
        ("#b", []),
        ("(a b) c", [["a", "b"], ["c"]]),
        ("a $(b c) d", [["a", "$(b c)", "d"], ["b", "c"]]),
        ("a `b c` d", [["a", "`b c`", "d"], ["b", "c"]]),
        ("a <(b c)", [["a", "<", "(b c)"], ["b", "c"]]),
        ('a "$(b "c d")" e', [["a", '$(b "c d")', "e"], ["b", "c d"]]),
        ('a "`b`" c', [["a", "`b`", "c"], ["b"]]),
        ('a "b (c)" d', [["a", "b (c)", "d"]]),
        ("a '$(b)' c", [["a", "$(b)", "c"]]),
        ("a $((1 + 2)) b", [["a", "$((1 + 2))", "b"]]),
        ("a $(b $(c)) d", [["a", "$(b $(c))", "d"], ["b", "$(c)"], ["c"]]),
        ("a $(b ')' c) d", [["a", "$(b ')' c)", "d"], ["b", ")", "c"]]),
        ("a $(b # )\nc) d", [["a", "$(b # )\nc)", "d"], ["b"], ["c"]]),
        ("a $(b x#) d", [["a", "$(b x#)", "d"], ["b", "x#"]]),
        ("a $(b \\) c) d", [["a", "$(b \\) c)", "d"], ["b", ")", "c"]]),
        ("a $(b c", [["a", "$(b", "c"]]),
        ("a `b c", [["a", "`b", "c"]]),
        ('a "$(b c" d', [["a", "$(b c", "d"]]),
        ("a $(b `c)` d) e", [["a", "$(b `c)` d)", "e"], ["b", "`c)`", "d"], ["c"]]),
        ("f() { a; }", [["f"], ["{", "a"], ["}"]]),
        ("x=(a b)", [["x=(a b)"]]),
    ],
)
def test_a_line_is_split_into_the_words_of_its_commands(line: str, expected: list[list[str]]):
    assert parts(line) == expected


def test_a_part_of_a_line_is_read():
    assert shell_words.parts("echo one two", 8) == [["echo", "one"], []]
    assert shell_words.parts("", 8) == [[], []]


def test_commands_within_commands_are_left_out_below_a_depth():
    line = "a $(b $(c))"

    read = [{words[0] for words in shell_words.parts(line, depth=depth) if words} for depth in range(3)]

    assert read == [{"a"}, {"a", "b"}, {"a", "b", "c"}]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a b", "a b"),
        ("a # b\nc", "a \nc"),
        ("a '# b' # c", "a '# b' "),
        ("a \\\n  b", "a   b"),
        ("cat <<E\n# text\nE\nb", "cat <<E\nb"),
        ("a#b", "a#b"),
        ("#a\n#b\nc", "\n\nc"),
    ],
)
def test_comments_documents_and_continued_lines_are_left_out(command: str, expected: str):
    assert shell_words.without_comments(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a", "a"),
        ("cat <<E\none\nE\nb", "cat <<E\nb"),
        ("cat << 'E F'\none\nE F\nb", "cat << 'E F'\nb"),
        ('cat <<-"E"\n\tone\n\tE\nb', 'cat <<-"E"\nb'),
        ("cat <<\\E\none\nE\nb", "cat <<\\E\nb"),
        ("cat <<E>x\none\nE\nb", "cat <<E>x\nb"),
        ("cat <<E|sort\none\nE", "cat <<E|sort"),
        ("cat <<E\none", "cat <<E\none"),
        ("cat <<<E\none\nE", "cat <<<E\none\nE"),
        ("cat <<\none\n\nb", "cat <<\none\n\nb"),
        ("E\ncat <<E\none", "E\ncat <<E\none"),
        ("cat <<A\n1\nA\ncat <<B\n2\nB\nc", "cat <<A\ncat <<B\nc"),
        ("echo $((1<<2))\n2\nc", "echo $((1<<2))\nc"),
    ],
)
def test_a_here_document_is_left_out_if_it_ends(command: str, expected: str):
    assert shell_words.without_documents(command) == expected


def test_behind_100_000_characters_nothing_is_left_of_a_line_with_a_document():
    def rest(length: int) -> list[str]:
        first = "cat <<E"
        command = f"{first}\nE\n{'x' * (length - len(first) - 2)}\nlast"
        return shell_words.without_documents(command).split("\n")[2:]

    assert (rest(100_000), rest(100_001)) == (["last"], [])


@pytest.mark.parametrize(
    ("command", "has"),
    [
        ("a #word", True),
        ("a # x #word y", True),
        ("a # x #word.", True),
        ("a #wordy", False),
        ("a # #word_", False),
        ("a # x#word", False),
        ("a '#word' # x", False),
        ("a x#word", False),
        ("cat <<E\n#word\nE", False),
    ],
)
def test_a_word_in_a_comment_is_a_whole_word(command: str, has: bool):
    assert shell_words.has_comment(command, "#word") is has


@pytest.mark.parametrize(
    ("words", "position"),
    [
        ("a b", 0),
        ("sudo env A=1 nice nohup time command a", 7),
        ("if ! ( { while until do then else xargs a", 10),
        ("builtin exec doas setsid elif a", 5),
        ("sudo -E -u root a -u b", 4),
        ("sudo -n a b", 2),
        ("nice -n 5 a", 3),
        ("nice -5 a", 2),
        ("env -i -u A B=1 a", 5),
        ("exec -a name a", 3),
        ("xargs -0 -I {} -n 1 a {}", 6),
        ("timeout 5 a", 2),
        ("timeout -k 9 --signal KILL 5 a", 6),
        ("-u a", 0),
        ("sudo -u", -1),
        ("timeout 5", -1),
        ("> x a", 2),
        ("2 > x a", 3),
        ("2 a", 0),
        ("A=1", -1),
        ("sudo", -1),
        ("> x", -1),
        ("", -1),
    ],
)
def test_the_program_comes_after_wrappers_assignments_and_redirections(words: str, position: int):
    assert shell_words.first_program(words.split()) == position


def test_signs_between_words_are_redirections_if_they_have_an_arrow():
    signs = (">", ">>", "<", "<<", ">&", "&>", ">|", "<>", "&", "|", "||", ";", "", "->", ">a")

    assert [sign for sign in signs if shell_words.is_redirection(sign)] == [
        ">", ">>", "<", "<<", ">&", "&>", ">|", "<>"
    ]  # fmt: skip


def test_an_assignment_has_a_name_before_its_sign():
    words = ("A=1", "A_1=", "a=b=c", "=1", "1=2", "a-b=c", "--a=b", "A")

    assert [word for word in words if shell_words.is_assignment(word)] == ["A=1", "A_1=", "a=b=c"]


@pytest.mark.parametrize(("words", "count"), [("> x", 2), ("2 > x", 3), ("x >", 0), ("2 x", 0), ("2", 0)])
def test_a_redirection_is_two_words_or_three_with_its_number(words: str, count: int):
    assert shell_words.redirected(words.split(), 0) == count


def test_a_word_has_letters_digits_hyphens_and_all_beyond_ascii():
    assert shell_words.whole_words("a-b_1, ü.x/é'z\tq\n日本") == {"a-b_1", "ü", "x", "é", "z", "q", "日本"}


def test_the_name_of_a_program_has_no_folder_and_no_capitals():
    assert [shell_words.program_name(word) for word in ("/usr/bin/Git", "git", "./a/B.sh", "")] == [
        "git", "git", "b.sh", ""
    ]  # fmt: skip
