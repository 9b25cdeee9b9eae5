"""What is read of each kind of file, what is left out with which reason, and which files a decision is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.errors import BadInput
from onrecord.importers import import_log, proposals
from onrecord.importers.import_log import ImportedDocument
from onrecord.importers.proposals import FileReport, Reading
from onrecord.importers.sources import Passage, Source
from tests.importers.test_adr import MADR
from tests.importers.test_memories import FEEDBACK
from tests.records import CONTENT, sample

NOW = "2026-03-02T09:30:00Z"
PROSE = "prose: only a reader can tell which part is worth a record"
LOADED = "agents load it themselves: rules that always apply stay there"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path


def read(project: Path, kind: str, text: str, path: str = "notes/a.md") -> Reading:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8")
    return proposals.read_source(str(project), Source(path, kind), NOW)


@pytest.mark.parametrize(
    ("kind", "path", "text", "left_out", "passages"),
    [
        ("aside", "a.md", "x\n", "an index, a template or a page about the folder", ()),
        ("decision", "a.md", " \n\n", "empty", ()),
        ("memory", "memory/MEMORY.md", "- [A](a.md)\n", "no memories in it", ()),
        ("memory", "a.md", "Some prose.\n", "", (Passage(1, 1, "", PROSE),)),
        ("loaded", "CLAUDE.md", "# A\nUse tabs.\n", "", (Passage(1, 2, "A", LOADED),)),
        ("guide", "b.md", "# A\nUse tabs.\n", "", (Passage(1, 2, "A", PROSE),)),
        ("decision", "a.rst", "A\n=\n", "", (Passage(1, 2, "", "not Markdown"),)),
        ("page", "a.txt", "A\n", "", (Passage(1, 1, "", "not Markdown"),)),
        ("page", "a.mdx", "# A\nUse tabs.\n", "", (Passage(1, 2, "A", PROSE),)),
        ("page", "a.markdown", "# A\nUse tabs.\n", "", (Passage(1, 2, "A", PROSE),)),
        ("decision", "adr/template.md", "# Decision record template\n\n## Decision\n\nx y z\n", "a template", ()),
        ("decision", "adr/1.md", "# A\n\nJobs get lost.\n", "",
         (Passage(1, 3, "", "no English heading, such as Decision, says what was decided"),)),
    ],
)  # fmt: skip
def test_each_kind_of_file_is_read_in_its_way(project, kind, path, text, left_out, passages):
    reading = read(project, kind, text, path)

    fingerprint = import_log.text_hash(text) if left_out != "empty" else ""
    assert reading == Reading(Source(path, kind), fingerprint, None, (), passages, left_out)


def test_a_page_with_a_decision_or_a_memory_becomes_a_record(project):
    assert read(project, "page", MADR).decision is not None
    assert [record.category for record in read(project, "page", FEEDBACK).records] == ["preference"]
    assert [record.category for record in read(project, "memory", FEEDBACK).records] == ["preference"]


def test_a_file_that_is_gone_cannot_be_read(project):
    reading = proposals.read_source(str(project), Source("gone.md", "guide"), NOW)

    assert reading.left_out == "cannot be read: No such file or directory"
    (report,) = proposals.gather(str(project), [Source("gone.md", "guide")], NOW)
    assert report == FileReport("gone.md", "guide", "", left_out=(reading.left_out,), is_refused=True)


@pytest.mark.parametrize(
    ("text", "related"),
    [
        ("`src/a.py`", ("src/a.py",)),
        ("`./src/a.py`", ("src/a.py",)),
        ("[a](../../src/a.py)", ("src/a.py",)),
        ("[a](../../src/a.py#L3)", ("src/a.py",)),
        ("[a](src/a.py)", ("src/a.py",)),
        ("`../../src/a.py`", ()),
        ("`a.py`", ("a.py",)),
        ("`LICENSE`", ()),
        ("`docs/adr/0001-x.md`", ()),
        ("[x](0001-x.md) [y](img/p.png)", ()),
        ("`src/`", ()),
        ("`src/a b.py`", ()),
        ("`src/link.py`", ()),
        ("`a.py` `src/a.py` `a.py`", ("a.py", "src/a.py")),
    ],
)
def test_a_decision_is_about_the_files_that_it_names_in_code_or_links_to(project, text, related):
    for path in ("src/a.py", "a.py", "LICENSE", "docs/adr/0001-x.md", "docs/adr/img/p.png"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("x")
    (project / "src" / "link.py").symlink_to("/etc/passwd")

    assert proposals.mentioned_files(str(project), "docs/adr/0003-x.md", text) == related


@pytest.mark.parametrize(("count", "taken"), [(12, 12), (13, 12), (24, 12), (25, 0)])
def test_a_decision_about_many_files_is_about_none(project, count, taken):
    names = [f"f{number:02}.py" for number in range(count)]
    for name in names:
        (project / name).write_text("x")

    text = " ".join(f"`{name}`" for name in names)

    assert proposals.mentioned_files(str(project), "docs/adr/1.md", text) == tuple(names[:taken])


def test_a_report_of_an_ordinary_file_has_its_proposal_and_is_neither_unchanged_nor_refused(project):
    read(project, "decision", MADR, "docs/adr/0007-use-nats.md")

    (report,) = proposals.gather(str(project), [Source("docs/adr/0007-use-nats.md", "decision")], NOW)

    assert (report.path, report.kind, report.fingerprint) == (
        "docs/adr/0007-use-nats.md", "decision", import_log.text_hash(MADR),
    )  # fmt: skip
    assert [(proposal.updates, len(proposal.left_out)) for proposal in report.proposals] == [("", 1)]
    assert (report.passages, report.left_out, report.is_unchanged, report.is_refused) == ((), (), False, False)
    assert proposals.imported_documents([report]) == [
        ImportedDocument(
            report.path, report.fingerprint, (import_log.proposal_hash(report.proposals[0].record),), is_read=False
        )
    ]


def test_a_document_that_an_agent_has_read_is_unchanged_until_it_changes(project):
    reading = read(project, "guide", "# A\nUse tabs.\n", "CONTRIBUTING.md")
    (document,) = proposals.documents_read_by_agent(str(project), [str(project / "CONTRIBUTING.md")])
    assert document == ImportedDocument("CONTRIBUTING.md", reading.fingerprint, (), is_read=True)

    def is_unchanged(imported: ImportedDocument) -> bool:
        sources = [Source("CONTRIBUTING.md", "guide")]
        (report,) = proposals.gather(str(project), sources, NOW, (), {"CONTRIBUTING.md": imported})
        return report.is_unchanged

    assert [is_unchanged(one) for one in (document, document._replace(is_read=False))] == [True, False]
    assert is_unchanged(document._replace(fingerprint="other")) is False


def test_a_document_outside_the_project_keeps_its_whole_path_and_one_that_is_gone_is_none(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "a.md"
    outside.write_text("# A\nUse tabs.\n")

    (document,) = proposals.documents_read_by_agent(str(project), [str(outside)])

    assert document.source == str(outside)
    with pytest.raises(BadInput) as caught:
        proposals.documents_read_by_agent(str(project), ["gone.md"])
    assert (caught.value.message, caught.value.fix) == ("there is no file 'gone.md'", "name the files that were read")


def test_two_memories_of_one_file_that_say_the_same_are_named_by_their_lines(project):
    note = "---\ntitle: Auth\n---\n# Auth\n\n- [decision] Sessions are JWT tokens of an hour (both check them)\n"
    note += "- [decision] Sessions are JWT tokens of an hour (both check them)\n"
    read(project, "memory", note)

    (report,) = proposals.gather(str(project), [Source("notes/a.md", "memory")], NOW)

    assert [proposal.record.source for proposal in report.proposals] == ["notes/a.md:6"]
    assert report.left_out == ("line 7 says the same as sessions-are-jwt-tokens-of-an-hour",)


def test_a_secret_of_a_memory_is_named_by_its_line(project):
    note = f"---\ntitle: Auth\n---\n# Auth\n\n- [decision] Use ghp_{'a1B2' * 9} for it (both regions check it)\n"
    read(project, "memory", note)

    (report,) = proposals.gather(str(project), [Source("notes/a.md", "memory")], NOW)

    assert (report.proposals, report.is_refused) == ((), True)
    assert report.left_out[0].startswith("line 6: ")


@pytest.mark.parametrize(("words", "is_same"), [(0, True), (1, True), (12, False)])
def test_records_that_differ_by_a_word_or_two_say_the_same(words, is_same):
    text = "Every request to a carrier waits at most eight seconds, then the breaker opens for a minute and we queue it"
    other = " ".join((*text.split()[words:], *(f"word{number}" for number in range(words))))
    old, new = (
        sample(id=name, title=name.title(), content={**CONTENT["decision"], "decision": said})
        for name, said in (("old", text), ("new", other))
    )

    assert proposals._same([new], [old]) == ({"new": "old"} if is_same else {})
    assert proposals._same([new._replace(supersedes=("old",))], [old]) == {}
