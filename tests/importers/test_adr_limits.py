"""How much of a decision record is taken into a draft, both sides of each limit; and the headings that are known."""

from __future__ import annotations

import pytest

from onrecord import markdown
from onrecord.importers import adr, adr_options, adr_page
from onrecord.importers.adr import Adr, Unread
from onrecord.importers.adr_options import AdrOption
from onrecord.importers.adr_page import Fields, Quotable
from onrecord.markdown import Section

NOW = "2026-03-02T09:30:00Z"
DECISION = "We will use Kafka for jobs."
CONTEXT = "## Context\n\nJobs get lost when a worker restarts.\n"


def read(text: str, path: str = "docs/adr/0003-x.md") -> Adr:
    decision = adr.read(text, path, NOW)
    assert isinstance(decision, Adr), decision
    return decision


def reason(text: str, path: str = "docs/adr/0003-x.md") -> str:
    unread = adr.read(text, path, NOW)
    assert isinstance(unread, Unread), unread
    return unread.reason


def page(*sections: str, decision: str = DECISION, title: str = "Pick a queue", context: str = CONTEXT) -> str:
    return "\n".join((f"# {title}\n", context, f"## Decision\n\n{decision}\n", *sections))


def test_two_reasons_and_two_consequences_are_taken_and_the_rest_is_counted():
    items = ["Workers restart at night", "Jobs have to survive a restart", "Mail has to be sent once"]
    listed = "".join(f"- {item}\n" for item in items)
    text = page(f"## Rationale\n\n{listed}", f"## Consequences\n\n{listed}")

    decision = read(text)

    assert decision.record.content["rationale"] == items[:2]
    assert decision.record.content["consequences"] == items[:2]
    assert decision.left_out == ("1 of 3 reasons (a draft is short)", "1 of 3 consequences (a draft is short)")


def test_a_reason_of_the_decision_counts_among_the_two():
    text = page(
        "## Rationale\n\n- Workers restart at night\n- Jobs have to survive that\n",
        decision="We will use Kafka for jobs because all of us know it.",
    )

    assert read(text).record.content["rationale"] == ["All of us know it", "Workers restart at night"]


@pytest.mark.parametrize(("number", "is_read"), [(3, True), (4, False)])
def test_the_context_is_looked_for_in_three_paragraphs(number, is_read):
    lead = "".join(f"They say {word}.\n\n" for word in ("red", "blue", "green")[: number - 1])
    text = page(context=f"## Context\n\n{lead}Jobs get lost at night.\n")

    assert read(text).record.content["context"] == ("Jobs get lost at night." if is_read else "Pick a queue")
    assert read(text).left_out == ("the context from 'They say red.' on (it needs what stands before it)",)


@pytest.mark.parametrize(("length", "is_read"), [(280, True), (281, False)])
def test_a_sentence_of_the_context_has_280_characters(length, is_read):
    sentence = f"Jobs get lost {'again and ' * 30}"[: length - 5].rstrip() + " now."
    sentence = sentence.replace("Jobs", "Jobs".ljust(4 + length - len(sentence), "s"))
    assert len(sentence) == length

    assert (read(page(context=f"## Context\n\n{sentence}\n")).record.content["context"] == sentence) is is_read


@pytest.mark.parametrize(("count", "taken", "left_out"), [(6, 6, ()), (7, 6, ("1 alternatives (a draft is short)",))])
def test_six_alternatives_are_taken(count, taken, left_out):
    others = "".join(
        f"- Use queue {word}\n" for word in ("one", "two", "three", "four", "five", "six", "seven")[:count]
    )
    text = page(f"## Options\n\n- Use Kafka\n{others}", decision="Chosen option: Use Kafka")

    decision = read(text)

    assert len(decision.record.content["alternatives"]) == taken
    assert decision.left_out == left_out


@pytest.mark.parametrize(("length", "is_taken"), [(100, True), (101, False)])
def test_the_name_of_an_alternative_has_a_hundred_characters(length, is_taken):
    name = "Use Redis " + "x" * (length - 10)
    text = page(f"## Options\n\n- Use Kafka\n- {name}\n", decision="Chosen option: Use Kafka")

    assert read(text).left_out == (() if is_taken else (f"the alternatives: {name[:39] + '…'!r} cannot be quoted",))


@pytest.mark.parametrize(("length", "is_read"), [(120, True), (121, False)])
def test_a_title_has_120_characters(length, is_read):
    title = f"Use Kafka for {'x' * (length - 14)}"
    decision = adr.read(page(title=title), "docs/adr/x.md", NOW)

    assert isinstance(decision, Adr) is is_read
    if isinstance(decision, Unread):
        assert decision.reason == f"its title {title[:39] + '…'!r} cannot be quoted"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (page(title="ADR"), "it has no title"),
        (page(context="Status: rejected\n"), "it was rejected: only a reader can say what is valid instead"),
        (page(context=f"Status: lilac {'x' * 90}\n"), f"its status {'lilac ' + 'x' * 54!r} is unknown"),
        (page(context=""), "it gives neither a context nor a reason"),
        (page(title="Record it", context=CONTEXT).replace("Kafka", "Redis"),
         "its title has no word of its file name or its decision: it may be that of another page"),
    ],
)  # fmt: skip
def test_a_page_in_doubt_gives_its_reason(text, why):
    assert reason(text, "docs/adr/0003-use-a-queue.md" if "Record" in text else "docs/adr/x.md") == why


@pytest.mark.parametrize(
    ("folder", "status"),
    [("deprecated", "deprecated"), ("obsolete", "deprecated"), ("archived", "deprecated"), ("proposed", "proposed"),
     ("Archived/x", "deprecated"), ("adr", "accepted")],
)  # fmt: skip
def test_a_folder_says_the_status_of_what_says_none(folder, status):
    assert read(page(), f"docs/{folder}/0003-x.md").record.content["status"] == status
    with_own = page(context=f"Status: accepted\n\n{CONTEXT}")
    assert read(with_own, f"docs/{folder}/0003-x.md").record.content["status"] == "accepted"
    if folder == "adr":
        assert reason(page(), "docs/rejected/0003-x.md").startswith("it was rejected")


@pytest.mark.parametrize(
    ("path", "title", "number"),
    [("docs/adr/0012-x.md", "Pick a queue", 12), ("docs/adr/adr-7-x.md", "Pick a queue", 7),
     ("docs/adr/x.md", "7. Pick a queue", 7), ("docs/adr/x.md", "Pick a queue", -1),
     ("docs/adr/1234567-x.md", "Pick a queue", -1)],
)  # fmt: skip
def test_the_number_is_that_of_the_file_or_the_heading(path, title, number):
    assert read(page(title=title), path).number == number


def test_the_day_of_a_decision_is_taken_unless_it_is_to_come():
    days = {day: read(page(context=f"Date: {day}\n\n{CONTEXT}")).record.created_at for day in (
        "2026-03-02", "2026-03-03", "on 2021-02-12, late", "2021-02-30", "soon")}  # fmt: skip

    assert days == {
        "2026-03-02": "2026-03-02T00:00:00Z", "2026-03-03": NOW, "on 2021-02-12, late": "2021-02-12T00:00:00Z",
        "2021-02-30": NOW, "soon": NOW,
    }  # fmt: skip


def test_twelve_tags_are_taken():
    tags = ",".join(f"t{number:02}" for number in range(14))

    assert read(page(context=f"Tags: {tags}\n\n{CONTEXT}")).record.tags == tuple(tags.split(",")[:12])


def test_most_lines_of_a_list_of_links_are_links():
    links = "".join(f"- [Decision {number}](000{number}-x.md)\n" for number in range(1, 5))

    def is_list(text: str) -> bool:
        unread = adr.read(text, "docs/adr/x.md", NOW)
        return unread == Unread("a list of links", is_for_agent=False)

    more = ["text\n" * count for count in (0, 4, 5)]
    assert [is_list(f"# All\n\n{links}{text}") for text in more] == [True, True, False]
    fewer = ["".join(links.splitlines(keepends=True)[:count]) for count in (2, 3)]
    assert [is_list(f"# All\n\n{text}") for text in fewer] == [False, True]
    others = (links.replace("- ", "1. "), links.replace(".md", ".txt"))
    assert [is_list(f"# All\n\n{text}") for text in others] == [True, False]


def test_the_fields_of_a_page_stand_in_its_front_matter_its_first_sections_or_their_own():
    text = (
        "---\ndate: 2021-01-01\n---\n# 1. A\n\n* State: accepted\n\n## One\n\nTag: a,b\n\n"
        "## Two\n\nSuperseded-by: 2\n\n## Three\n\nReplaces: 3\n\n## Status\n\nproposed\n"
    )

    fields = adr_page.read_fields(markdown.parse(text))

    assert fields == Fields(status="accepted", date="2021-01-01", tags="a,b", superseded_by="2", supersedes="")
    own = "# A\n\n## One\n\nx\n\n## Two\n\nx\n\n## State\n\n**Proposed** |\nby Ann\n\n## Date\n\n2021-01-01\n"
    assert adr_page.read_fields(markdown.parse(own))[:2] == ("Proposed | by Ann", "2021-01-01")


def section(title: str, above: tuple[str, ...] = ()) -> Section:
    (found,) = [one for one in markdown.parse(f"## {title}\n\nx\n").sections if one.title]
    return found._replace(above=above)


DECISIONS = ["Decision", "1. The final decision:", "Decision Outcome", "Outcome", "Resolution", "Chosen option",
             "Preferred option", "Architectural decision", "Decision and rationale"]  # fmt: skip
OTHERS = {
    "context": ["Context", "Context and Problem Statement", "Problem", "Background", "Motivation", "Issue",
                "Introduction", "Overview", "Summary", "Context & scope", "Purpose", "Description", "User story"],
    "reasons": ["Rationale", "Reason", "Reasons", "Reasoning", "Justification", "Decision rationale"],
    "drivers": ["Drivers", "Decision drivers", "Forces", "Requirements", "Goals", "Key criteria (short)"],
    "options": ["Options", "Considered options", "Alternatives considered", "Possible solutions", "Approaches",
                "Options we considered for jobs"],
    "effects": ["Consequences", "Positive consequences", "Implications", "Outcomes", "Impact"],
}  # fmt: skip


def test_the_headings_of_a_decision_record_are_known():
    everything = [*DECISIONS, *(title for titles in OTHERS.values() for title in titles), "Pros", "Links", "Status"]

    assert [title for title in everything if not adr_page.is_part(section(title))] == []
    assert [title for title in ("Use a queue", "Queues", "Decision Kafka") if adr_page.is_part(section(title))] == []
    for kind in ("reasons", "drivers", "options", "effects"):
        asides = [title for title in OTHERS[kind] if not adr_page.is_aside(section(title))]
        assert asides == [], kind
        assert adr_page.is_aside(section("Kafka", above=(OTHERS[kind][0],)))
    assert not any(
        adr_page.is_aside(section(title)) for title in (*DECISIONS, *OTHERS["context"]) if title != "Outcome"
    )


@pytest.mark.parametrize("kind", ["context", "reasons", "drivers", "effects"])
def test_what_stands_below_each_heading_is_read(kind):
    readers = {
        "context": adr_page.context, "reasons": adr_page.reasons, "drivers": adr_page.drivers,
        "effects": adr_page.effects,
    }  # fmt: skip
    for title in OTHERS[kind]:
        parsed = markdown.parse(f"# A\n\n## {title}\n\nJobs get lost.\n")
        assert [part.text for part in readers[kind](parsed)] == ["Jobs get lost."], title


def test_drivers_with_a_remark_in_their_heading_are_read():
    """The flaw of 0.3.0-dev: the bracket at the end of a heading was taken off before it was looked for."""
    parsed = markdown.parse("# A\n\n## Decision Drivers (most important first)\n\n- Jobs have to survive a restart\n")

    assert [part.text for part in adr_page.drivers(parsed)] == ["Jobs have to survive a restart"]


def test_without_a_section_for_the_context_it_is_what_precedes_the_first():
    text = "# A\n\nStatus: accepted\n\nThis decision has been superseded by 7\n\nJobs get lost.\n\n## Decision\n\nx\n"

    assert adr_page.context(markdown.parse(text)) == [Quotable("paragraph", "Jobs get lost.")]


def test_a_figure_has_no_text():
    (block,) = markdown.parse("## A\n\n```\nx\n```\n").sections[0].blocks

    assert adr_page.quotables([block]) == [Quotable("figure", "", "", "", "", is_open=False)]
    assert adr_page.quotables([block])[0]._asdict()["text"] == ""


@pytest.mark.parametrize(("count", "read"), [(100, 100), (101, 100)])
def test_a_hundred_blocks_of_a_section_are_read(count, read):
    blocks = markdown.parse("## A\n\n" + "Text.\n\n" * count).sections[0].blocks

    assert len(adr_page.quotables(blocks)) == read


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Option A: Redis", ("A", "Redis")),
        ("b) Redis", ("B", "Redis")),
        ("[2] **Redis**", ("2", "Redis")),
        ("Alternative #12 - Redis", ("12", "Redis")),
        ("“Use Redis”", ("", "Use Redis")),
        ("Option A", ("", "Option A")),
        ("Redis", ("", "Redis")),
        ("x" * 301, ("", "x" * 300)),
        ("1. " + "x" * 301, ("1", "x" * 300)),
    ],
)
def test_an_option_has_a_letter_or_number_and_a_name(text, option):
    assert adr_options.parse(text) == AdrOption(*option)


@pytest.mark.parametrize(("count", "listed"), [(26, 26), (27, 0)])
def test_as_many_options_are_read_as_there_are_letters(count, listed):
    items = "".join(f"- Queue {'x' * number}\n" for number in range(1, count + 1))

    assert len(adr_options.read_options(markdown.parse(f"## Options\n\n{items}"))) == listed


@pytest.mark.parametrize(
    "listed",
    [
        "- Redis\n- redis!\n", "1) Redis\n\n- 1: Kafka\n", "- Redis\n\nMore of it.\n\n- Kafka\n", "- Redis `x\n",
        "- Redis\n\n| a |\n| - |\n", "- ???\n", "## Alternatives\n\n- Redis\n",
    ],
)  # fmt: skip
def test_a_list_that_leaves_the_options_to_a_guess_has_none(listed):
    assert adr_options.read_options(markdown.parse(f"## Options\n\n{listed}")) == []


def test_an_option_is_named_by_its_whole_name_or_its_letter_and_by_nothing_else():
    options = [AdrOption("A", "Use Redis"), AdrOption("B", "Use Kafka"), AdrOption("", "Keep it")]

    named = {
        text: adr_options.named(text, options)
        for text in ("use redis", "A use redis", "option b", "(B)", "Keep it", "Use", "C", "Use Kafka now", "")
    }

    first, second, third = options
    assert named == {
        "use redis": first, "A use redis": first, "option b": second, "(B)": second, "Keep it": third, "Use": None,
        "C": None, "Use Kafka now": None, "": None,
    }  # fmt: skip
    assert [adr_options.is_label(text) for text in ("B", "option 2", "12", "Kafka", "")] == [True] * 3 + [False] * 2


def test_a_note_quotes_the_paragraph_that_goes_on_elsewhere_and_not_nothing():
    """Lines such as "In effect from version: 2.0" have one sentence; the note named the context ''."""
    text = page(context="In effect from version: 2.0\n\nRelated: #16567\n")

    assert read(text).left_out == (
        "the context from 'In effect from version: 2.0' on (it goes on with another sentence)",
    )
