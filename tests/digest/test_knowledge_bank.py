"""Markdown knowledge banks as people write them, and which of their entries are about the work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import coldstart, state_file
from onrecord.digest import knowledge_bank
from onrecord.digest.selection import DigestCandidate
from onrecord.digest.work_context import Feature, WorkContext
from onrecord.git.changes import Changes
from tests import without_fts5

FIRST = "0000-000000000"
"""How recent the first entry of a file is that has no date."""

BANK = """# Anti-patterns

What went wrong more than once.

### Anti-Pattern: Reading a file while it is written
The parser saw half a line.
Write to a temporary file and rename it.
- Cost: two days
- **Observation count:** 4
- Confidence: High
- Last observed: 2026-03-02 (Feature #12)

```python
### not an entry
```

## A section
- Observation count: 99

### Guessing the encoding
- Say UTF-8.
- Last observed: Feature #007

#### Why
It is right more often.
<!--
### A template
Nothing.
-->
"""


def facts(lesson: DigestCandidate) -> tuple[object, ...]:
    return lesson.title, description(lesson), lesson.observations, lesson.confidence, lesson.updated


def description(lesson: DigestCandidate) -> str:
    return lesson.text.removeprefix(lesson.title).removeprefix(": ")


def parse(text: str) -> list[DigestCandidate]:
    return knowledge_bank.parse(text, "pattern", "bank.md", is_local=True)


def lessons(project: Path) -> list[DigestCandidate]:
    return knowledge_bank.entries(str(project))


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_entries_with_their_prose_and_metadata() -> None:
    prose = "The parser saw half a line. Write to a temporary file and rename it."

    assert list(map(facts, parse(BANK))) == [
        ("Reading a file while it is written", prose, 4, 3.0, "2026-03-02"),
        ("Guessing the encoding", "Say UTF-8. It is right more often.", 1, 2.0, "0000-000000007"),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- Observation count: 12", (12, 2.0, FIRST)),
        ("* observations: 3 (two in staging)", (3, 2.0, FIRST)),
        ("- Observation count: many", (1, 2.0, FIRST)),
        ("- Observation count: 0", (1, 2.0, FIRST)),
        ("- Observation count: 99999999999999999999", (1, 2.0, FIRST)),
        ("- Observation count: ٣", (1, 2.0, FIRST)),
        ("- __Confidence__: low", (1, 1.0, FIRST)),
        ("- Confidence: unheard of", (1, 2.0, FIRST)),
        ("- Last observed: on 2025-12-24, twice", (1, 2.0, "2025-12-24")),
        ("- Last observed:", (1, 2.0, FIRST)),
    ],
)
def test_metadata_in_the_ways_people_write_it(line: str, expected: tuple[object, ...]) -> None:
    (lesson,) = parse(f"### Name\nProse.\n{line}\n")

    assert (description(lesson), *facts(lesson)[2:]) == ("Prose.", *expected)


def test_bullets_that_are_no_metadata_are_the_text_where_there_is_no_prose() -> None:
    bullets = "- Remedy: restart it\n- observed: now and then\n- no colon at all\n- Confidence: low\n- count: 3\n"

    (lesson,) = parse(f"### Name\n{bullets}")
    (with_prose,) = parse(f"### Name\nProse.\n{bullets}")

    assert facts(lesson)[1:] == ("Remedy: restart it observed: now and then no colon at all", 3, 1.0, FIRST)
    assert facts(with_prose)[1:] == ("Prose.", 3, 1.0, FIRST)


@pytest.mark.parametrize("kind", ["Pattern: ", "Anti-Pattern: ", "Heuristic: ", "heuristic:", ""])
def test_a_heading_may_say_of_what_kind_an_entry_is(kind: str) -> None:
    (lesson,) = parse(f"### {kind}Ask first ###\nProse.\n")

    assert lesson.title == "Ask first"


def test_an_entry_without_a_date_is_the_more_recent_the_later_it_stands() -> None:
    dated, first, last = parse("### A\n- Last observed: 2020-01-01\n### B\nOne.\n### C\nTwo.\n")

    assert first.updated < last.updated < dated.updated


def test_dates_sort_above_numbers_and_numbers_by_their_size() -> None:
    lines = ("Feature #9", "Feature #10", "2020-01-01", "some day")
    found = [lesson for line in lines for lesson in parse(f"### X\n- Last observed: {line}")]

    ordered = sorted(range(4), key=lambda place: found[place].updated)

    assert [lines[place] for place in ordered] == ["some day", "Feature #9", "Feature #10", "2020-01-01"]


def test_banks_of_the_project_and_of_the_user_are_read_and_not_touched(tmp_path: Path, home: Path) -> None:
    places = (tmp_path / "docs/knowledge-bank", home / ".claude/memory/knowledge-bank", home / ".claude/iflow/memory")
    files = [
        write(folder, name, f"### {folder.name} {name}\nSaid in {folder} {name}.\n")
        for folder in places
        for name in ("anti-patterns.md", "patterns.md", "heuristics.md")
    ]
    write(places[0], "other.md", "### Not a bank\n")
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]

    found = lessons(tmp_path)

    kinds = ["anti_pattern", "pattern", "heuristic"] * 3
    assert [(lesson.category, lesson.is_local) for lesson in found] == list(zip(kinds, [True] * 3 + [False] * 6))
    assert found[0].path == "docs/knowledge-bank/anti-patterns.md"
    assert found[3].path == "~/.claude/memory/knowledge-bank/anti-patterns.md"
    assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in files] == before
    assert sorted(places[0].iterdir()) == sorted([*files[:3], places[0] / "other.md"])


@pytest.mark.parametrize(("here", "there", "kept"), [(2, 5, False), (5, 2, True), (3, 3, True)])
def test_of_duplicates_the_one_observed_more_often_stays(
    tmp_path: Path, home: Path, here: int, there: int, kept: bool
) -> None:
    local, shared = tmp_path / "docs/knowledge-bank", home / ".claude/memory/knowledge-bank"
    write(local, "patterns.md", f"### Rename\nWrite aside, then rename!\n- Observation count: {here}\n")
    write(shared, "heuristics.md", f"### Moved\nwrite  aside; then RENAME\n- Observation count: {there}\n")

    (lesson,) = lessons(tmp_path)

    assert (lesson.is_local, lesson.observations) == (kept, max(here, there))


def test_entries_without_a_description_are_told_apart_by_their_title(tmp_path: Path) -> None:
    write(tmp_path / "docs/knowledge-bank", "patterns.md", "### One\n### Two\n### One\n")

    assert [lesson.title for lesson in lessons(tmp_path)] == ["One", "Two"]


@pytest.mark.parametrize("link", ["docs", "docs/knowledge-bank", "docs/knowledge-bank/patterns.md"])
def test_a_bank_that_leads_out_of_the_project_is_not_read(tmp_path: Path, link: str) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    write(outside / "docs/knowledge-bank", "patterns.md", "### Secret\n")
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(outside / link)

    assert lessons(project) == []
    assert "leads out of the project" in state_file.recent_failures()[0][2]


def test_a_bank_that_is_too_large_a_pipe_or_a_folder_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "docs/knowledge-bank"
    write(folder, "patterns.md", "### X\n" + "x" * knowledge_bank.MAX_BYTES)
    os.mkfifo(folder / "heuristics.md")
    (folder / "anti-patterns.md").mkdir()

    assert lessons(tmp_path) == []
    assert len(state_file.recent_failures()) == 3


def test_bytes_that_are_not_text_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "docs/knowledge-bank"
    folder.mkdir(parents=True)
    (folder / "patterns.md").write_bytes(b"\xef\xbb\xbf### Na\xffme\nPro\x00se \xf0\x9f\n")

    (lesson,) = lessons(tmp_path)

    assert lesson.title == "Na�me"


def test_a_bank_of_very_many_entries_is_bounded() -> None:
    found = parse("\n".join(f"### Entry {number}" for number in range(knowledge_bank.MAX_ENTRIES + 5)))

    assert len(found) == knowledge_bank.MAX_ENTRIES
    assert "only the first" in state_file.recent_failures()[0][2]


def test_all_banks_of_a_project_are_bounded_and_leave_room_for_those_of_the_user(tmp_path: Path, home: Path) -> None:
    many = "\n".join(f"### Entry {{0}} {number}" for number in range(knowledge_bank.MAX_ENTRIES - 5))
    for place, name in enumerate(knowledge_bank.BANKS):
        write(tmp_path / "docs/knowledge-bank", name, many.format(place))
    write(home / ".claude/memory/knowledge-bank", "patterns.md", "### Mine\n")

    found = lessons(tmp_path)

    assert sum(lesson.is_local for lesson in found) == knowledge_bank.MAX_ENTRIES
    assert [lesson.title for lesson in found if not lesson.is_local] == ["Mine"]


def test_text_made_to_be_slow_is_not() -> None:
    assert parse("<!---->" * 140_000 + "<!--" * 100_000) == []
    assert [lesson.title for lesson in parse("### A\n" + "#### x\n- y: z\n" * 60_000)] == ["A"]


@given(st.text(alphabet=st.sampled_from(list("#- *:`~<>!\n\0aé9")), max_size=200) | st.text(max_size=100))
def test_any_text_is_a_bank(text: str) -> None:
    for lesson in parse(text):
        assert lesson.title and lesson.observations >= 1 and 1 <= lesson.confidence <= 3
        assert "\n" not in lesson.title + lesson.text


def titled_lessons(*titles: str) -> list[DigestCandidate]:
    return [DigestCandidate(title, "pattern", title, f"{title}: Look twice.", "", is_local=True) for title in titles]


def work(*, slug: str = "", paragraph: str = "", branch: str = "", files: tuple[str, ...] = ()) -> WorkContext:
    feature = Feature(slug, paragraph, "") if slug or paragraph else None
    return WorkContext(feature, branch, Changes(files), [])


def matching(entries: list[DigestCandidate], context: WorkContext) -> list[str]:
    """The entries that are relevant, best first."""
    relevance = knowledge_bank.relevance(entries, context)
    return sorted(relevance, key=lambda key: (-relevance[key], key))


THREE = ("The parser reads files", "Deploys happen on Monday", "A file is opened twice")


@pytest.mark.parametrize(
    ("context", "keys"),
    [
        (work(branch="feat/parser-files"), ["The parser reads files", "A file is opened twice"]),
        (work(slug="parser"), ["The parser reads files"]),
        (work(files=("src/monday.py",)), ["Deploys happen on Monday"]),
        (work(paragraph="Invoices get new colours, and the parser knows them."), ["The parser reads files"]),
        (work(slug="invoices"), []),
        (work(), []),
    ],
)
def test_every_signal_finds_the_entries_that_share_a_word_with_it(context: WorkContext, keys: list[str]) -> None:
    assert matching(titled_lessons(*THREE), context) == keys


def test_a_long_description_brings_as_many_lessons_as_a_short_one() -> None:
    short = "The parser reads a file on Monday."
    long = short + " Invoices, colours, clocks, tokens, ledgers, carriers and queues are as they were before this."

    assert set(matching(titled_lessons(*THREE), work(paragraph=short))) == set(THREE)
    assert set(matching(titled_lessons(*THREE), work(paragraph=long))) == set(THREE)


WORDS = st.lists(st.sampled_from("parser file monday deploy open twice read clock token".split()), max_size=6)


@given(WORDS, WORDS, WORDS, WORDS)
def test_more_description_never_means_fewer_lessons(
    slug: list[str], paragraph: list[str], more: list[str], branch: list[str]
) -> None:
    entries = titled_lessons(*THREE, "Read the clock once", "Tokens are opened twice")
    before = knowledge_bank.relevance(entries, work(slug="-".join(slug), paragraph=" ".join(paragraph)))
    longer = work(slug="-".join(slug), paragraph=" ".join([*paragraph, *more]), branch="-".join(["x", *branch]))

    assert set(before) <= set(knowledge_bank.relevance(entries, longer))


@given(WORDS, WORDS, WORDS)
def test_one_more_signal_never_takes_from_an_entry(slug: list[str], paragraph: list[str], files: list[str]) -> None:
    entries = titled_lessons(*THREE, "Read the clock once", "Tokens are opened twice")
    before = knowledge_bank.relevance(entries, work(slug="-".join(slug), paragraph=" ".join(paragraph)))
    named = tuple(f"{word}.py" for word in files)
    after = knowledge_bank.relevance(entries, work(slug="-".join(slug), paragraph=" ".join(paragraph), files=named))

    assert all(after[key] >= value - 1e-12 for key, value in before.items())


def test_an_entry_that_fits_more_of_the_work_is_more_relevant() -> None:
    entries = titled_lessons("Parser", "Parser of files", "Colours", "Clocks", "Tokens")

    assert matching(entries, work(slug="parser-files")) == ["Parser of files", "Parser"]


def test_the_line_of_an_entry_is_its_title_or_the_beginning_of_what_it_says() -> None:
    never, topic = parse("### Never guess the encoding\nSay UTF-8.\n### Encodings\nSay UTF-8 when you open a file.\n")

    assert [knowledge_bank.line(never), knowledge_bank.line(topic)] == [
        "Never guess the encoding",
        "Encodings: Say UTF-8 when you open a file",
    ]


def test_scripts_without_spaces_match() -> None:
    entries = titled_lessons("設定ファイルを読み込む", "Deploys")

    assert matching(entries, work(paragraph="設定ファイル")) == ["設定ファイルを読み込む"]


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=4))
def test_any_text_is_a_query_that_sqlite_accepts(text: str, titles: list[str]) -> None:
    relevance = knowledge_bank.relevance(titled_lessons(*titles), work(slug="x", paragraph=text, branch=text))

    assert all(0 < value <= 1 for value in relevance.values())


def test_without_fts5_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coldstart, "connect", without_fts5.connect)

    with pytest.raises(knowledge_bank.Unavailable):
        knowledge_bank.relevance(titled_lessons("parser"), work(slug="parser"))
