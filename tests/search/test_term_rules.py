"""The parts of the analysis of text, one by one: stems, scripts, names and abbreviations."""

from __future__ import annotations

import sqlite3

import pytest

from onrecord.search import terms

WORDS = """
    synology settings businesses keyed trying closely aaed agencies finalizer lexically indicator wobbly tenancy
    urgently fication obviously positional mutability callousness initialization yes awful opinion ecision equality
    activity negative feudalism elasticity modification bli ebeed equally locator operated canonical isenabled
    optimized inactivity simplicity operational criticality quantization decisiveness hopefulness usefulness relational
    conditional valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli predication operator
    formaliti sensitiviti sensibiliti triplicate formative formalize electriciti electrical hopeful goodness revival
    allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption
    homologou communism activate angulariti homologous effective bowdlerize probate rate cease controll roll plastered
    bled motoring sing conflated troubled sized hopping tanned falling hissing fizzed failing filing happy sky caresses
    ponies ties cats feed agreed by say enjoy toy tss boxing snowing playing annually ferries ion sion toing a at as
    missed bees y yyed syzygy eying oed being used use ally ell spelling installed rebelling
""".split()


def test_stems_are_those_of_the_porter_stemmer_of_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE word USING fts5(text, tokenize='porter ascii')")
    connection.execute("CREATE VIRTUAL TABLE term USING fts5vocab('word', 'instance')")
    connection.executemany("INSERT INTO word (rowid, text) VALUES (?, ?)", enumerate(WORDS))
    expected = dict(connection.execute("SELECT doc, term FROM term"))

    assert [terms.stem(word) for word in WORDS] == [expected[number] for number in range(len(WORDS))]


@pytest.mark.parametrize("name", ["aks", "AWS", "dns", "ios", "vps"])
def test_a_name_that_ends_in_s_is_no_plural(name):
    assert terms.stream(name) == [name.lower()]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("userId", ["user", "Id"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("parseHTTP", ["parse", "HTTP"]),
        ("sha256Sum", ["sha256", "Sum"]),
        ("MySQL", ["My", "SQL"]),
        ("URLs", ["URLs"]),
        ("URLsAre", ["UR", "Ls", "Are"]),
        ("Server", ["Server"]),
        ("aB", ["a", "B"]),
        ("SERVER", ["SERVER"]),
        ("server", ["server"]),
        ("ABc", ["A", "Bc"]),
    ],
)
def test_a_word_is_split_where_its_case_changes(word, parts):
    assert terms.cased_parts(word) == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MySQL", "my sql __mysql"),
        ("Node.js", "node js __nodej"),
        ("front-end", "front end __frontend"),
        ("front_end", "front end __frontend"),
        ("CI/CD", "ci cd __cicd"),
        ("front\u2010end front\u2011end", "front end __frontend front end __frontend"),
        ("front+end", "front end"),
        ("front--end", "front end"),
        ("x.y-z", "x y z"),
        ("v-2", "v 2 __v2"),
        ("2-v", "2 v"),
        ("AbCdEfGhIj", "ab cd ef gh ij _____abcdefghij"),
        ("AbCdEfGhIjKl", "ab cd ef gh ij kl"),
        ("Abcdefghijkl" * 2, "abcdefghijkl abcdefghijkl __abcdefghijklabcdefghijkl"),
        ("Abcdefghijkl" * 2 + "m", "abcdefghijkl abcdefghijklm"),
        ("abcdefghijkl-abcdefghijkl", "abcdefghijkl abcdefghijkl __abcdefghijklabcdefghijkl"),
        ("abcdefghijkl-abcdefghijklm", "abcdefghijkl abcdefghijklm"),
        ("myApp-x", "my app __myapp x"),
        ("größe-x", "gross x"),
        ("größeX", "gross x"),
        ("C++ c++ C# c# F# f#", "cpp cpp csharp csharp fsharp fsharp"),
        ("a (front-end)", "a front end __frontend"),
    ],
)
def test_a_field_has_names_in_parts_and_joined(text, expected):
    assert " ".join(terms.field(text)) == expected


def test_words_that_are_left_out_of_a_field_are_counted_in_its_names():
    assert terms.field("Fix the MySQL front-end", frozenset({"fix", "the", "front"})) == [
        "my", "sql", "__mysql", "end", "_frontend",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("chunk", "names"),
    [
        ("MySQL", {"mysql": "my sql"}),
        ("Mysql", {}),
        ("mysql", {}),
        ("front-end", {"frontend": "front end"}),
        ("MySQL-x", {"mysql": "my sql"}),
        ("a-b-c", {}),
    ],
)
def test_the_names_of_a_query_have_their_parts(chunk, names):
    assert terms.names(chunk, terms.words(chunk)) == names


@pytest.mark.parametrize(
    ("field", "query_terms", "names", "expected"),
    [
        ("we run my sql __mysql now", (), {}, "we run my sql now"),
        ("my sql __mysql", (), {}, "my sql"),
        ("__mysql", (), {}, ""),
        ("my sql __mysql now", ("mysql",), {}, "mysql now"),
        ("a b c ___abc now", ("abc",), {}, "abc now"),
        ("my sql __mysql ci cd __cicd", ("cicd",), {}, "my sql cicd"),
        ("my sql __mysql", ("mysql",), {"mysql": "my sql"}, "my sql"),
        ("run mysql now", (), {"mysql": "my sql"}, "run my sql now"),
        ("run sql now", (), {"mysql": "my sql"}, "run sql now"),
    ],
)
def test_a_field_is_spelled_as_the_query_spells_it(field, query_terms, names, expected):
    assert terms.respelled(field, query_terms, names) == expected


@pytest.mark.parametrize(
    ("word", "runs"),
    [
        ("abc", ["abc"]),
        ("api測試用", ["api", "測試", "試用"]),
        ("測", ["測"]),
        ("テスト実行", ["テスト", "実行"]),
        ("データー", ["データー"]),
        ("を実行する", ["実行"]),
        ("설정API", ["설정", "api"]),
        ("новыйкласс", ["новыйкласс"]),
        ("a-b", ["a", "b"]),
        ("ı", ["i"]),
        ("", []),
    ],
)
def test_a_word_is_cut_by_its_scripts(word, runs):
    assert terms.by_script(word.lower()) == runs


@pytest.mark.parametrize(
    ("characters", "script"),
    [
        ("az09", "ascii"), ("-_ ", ""), ("\u3041\u3040\u309f\u3096", ""), ("\uac00\ud7a3", "hangul"),
        ("\u30a1ーヿ", "katakana"), ("\u3400\u9fff漢", "han"), ("\U00020000", "han"), ("กໆ", "han"), ("жé", "other"),
        ("—。", ""),
    ],
)  # fmt: skip
def test_a_character_has_a_script(characters, script):
    assert [terms.script_of(character) for character in characters] == [script] * len(characters)


@pytest.mark.parametrize(
    "character",
    ["\u0e00", "\u0eff", "\u1000", "\u109f", "\u1780", "\u17ff", "\u3040", "\u30ff", "\u3400", "\u9fff", "\uac00",
     "\ud7af", "\U00020000", "\U0003ffff"],
)  # fmt: skip
def test_the_scripts_without_spaces_begin_and_end_somewhere(character):
    inside, outside = (1, -1) if ord(character) % 2 == 0 else (-1, 1)

    assert terms.is_unspaced(character)
    assert terms.is_unspaced(chr(ord(character) + inside))
    assert not terms.is_unspaced(chr(ord(character) + outside))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Größe ŒØłßé", "Grosse ŒØlsse"),
        ("ﬁle ①", "file 1"),
        ("ệ", "e"),
        ("ё й", "ё й"),
        ("हिन्दी", "हिन्दी"),
        ("øl", "ol"),
        ("가", "가"),
    ],
)
def test_latin_letters_lose_their_accents_and_others_keep_their_marks(text, plain):
    assert terms.plain_letters(text) == plain


@pytest.mark.parametrize(
    ("short", "others"),
    [
        ("admin", ["administr"]), ("app", ["applic"]), ("arg", ["argument"]), ("async", ["asynchron"]),
        ("attr", ["attribut"]), ("auth", ["authent", "author"]), ("author", ["auth"]),
        ("config", ["configur", "cfg", "conf"]),
        ("configur", ["cfg", "config", "conf"]), ("pg", ["postgresql", "postgr"]), ("postgr", ["pg", "postgresql"]),
        ("postgresql", ["pg", "postgr"]), ("tf", ["terraform"]), ("var", ["variabl"]), ("variabl", ["var"]),
        ("form", []),
    ],
)  # fmt: skip
def test_an_abbreviation_and_its_words(short, others):
    assert sorted(terms.variants(short)) == sorted(others)
