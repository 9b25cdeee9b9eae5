"""What an import finds in a project and proposes of it: the same for a file found or named, and nothing twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.errors import BadInput
from onrecord.importers import import_log, proposals, sources
from onrecord.importers.sources import Source
from tests.importers.test_adr import MADR, NYGARD

NOW = "2026-03-02T09:30:00Z"
REDIS = NYGARD.replace("RabbitMQ", "Redis").replace("3. Use", "11. Use").replace("Superceded by", "See")
SECTION = "<!-- onrecord: begin -->\n\n## Project memory\n\n### Decisions\n\n- Use NATS\n\n<!-- onrecord: end -->\n"
UNCLEAR = "# 9. Unclear\n\n## Context\n\nC.\n\n## Decision\n\nAccepted\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "ferry"
    for path, text in {
        "CLAUDE.md": "# Ferry\n\nA booking service.\n\n## Rules\n\n- Never push to main\n",
        ".cursor/rules/api.mdc": "- Never return a bare list\n",
        ".github/copilot-instructions.md": "- Use tabs\n",
        "CONTRIBUTING.md": "# Contributing\n\nRun the tests.\n",
        "docs/adr/0003-rabbit.md": NYGARD,
        "docs/adr/0007-use-nats.md": MADR,
        "docs/adr/0009-unclear.md": UNCLEAR,
        "docs/adr/README.md": "# Decisions\n\n## Decision\n\nnone\n",
        "docs/adr/template.md": MADR,
        "docs/arch/adr-11.md": REDIS,
        "node_modules/x/docs/adr/0001-x.md": NYGARD,
        "README.md": "# Ferry\n",
    }.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def gathered(project: Path, *names: str, **about):
    named_sources = sources.from_names(str(project), [str(project / name) for name in names])
    return proposals.gather(str(project), named_sources or sources.discover(str(project)), NOW, **about)


def test_what_could_be_imported_is_found(project):
    os.symlink("CLAUDE.md", project / "AGENTS.md")
    os.symlink("/etc/hostname", project / "docs" / "adr" / "0010-out.md")

    assert [(source.path, source.kind) for source in sources.discover(str(project))] == [
        ("AGENTS.md", "loaded"),
        ("CONTRIBUTING.md", "guide"),
        (".github/copilot-instructions.md", "loaded"),
        (".cursor/rules/api.mdc", "loaded"),
        ("docs/adr/0003-rabbit.md", "decision"),
        ("docs/adr/0007-use-nats.md", "decision"),
        ("docs/adr/0009-unclear.md", "decision"),
        ("docs/adr/README.md", "aside"),
        ("docs/adr/template.md", "aside"),
        ("docs/arch/adr-11.md", "decision"),
    ]


def test_a_named_folder_gives_the_same_for_the_same_files(project):
    everything = {report.path: report for report in gathered(project)}
    reports = gathered(project, "docs/adr")

    assert len(reports) == 5
    assert [everything[report.path] for report in reports] == reports
    with pytest.raises(BadInput):
        sources.from_names(str(project), ["nowhere.md"])


def test_each_file_says_what_became_of_it(project):
    reports = {report.path: report for report in gathered(project)}

    assert [proposal.record.title for proposal in reports["docs/adr/0007-use-nats.md"].proposals] == [
        "Use NATS JetStream for background jobs"
    ]
    assert reports["docs/adr/template.md"].left_out == ("an index, a template or a page about the folder",)
    (passage,) = reports["docs/adr/0009-unclear.md"].passages
    assert (passage.first, passage.last) == (7, 9)
    assert "a status and no decision" in passage.reason
    assert [passage.heading for passage in reports["CLAUDE.md"].passages] == ["Ferry", "Rules"]
    assert "agents load it themselves" in reports["CLAUDE.md"].passages[0].reason
    assert not any(reports[path].proposals for path in ("CLAUDE.md", "CONTRIBUTING.md", ".cursor/rules/api.mdc"))


def test_a_decision_is_about_the_files_it_names_and_never_about_its_own_folder(project):
    (project / "src").mkdir()
    (project / "src" / "jobs.py").write_text("x = 1\n")
    (project / "Makefile").write_text("x:\n")
    text = NYGARD + "\nSee `src/jobs.py`, `src/gone.py`, `/etc/passwd`, `../../etc/passwd` and `Makefile`.\n"
    text += "[jobs](../../src/jobs.py#L3) [other](0007-use-nats.md) [web](https://x.org/src/jobs.py)\n"

    assert proposals.mentioned_files(str(project), "docs/adr/0003-rabbit.md", text) == ("src/jobs.py",)


def test_decisions_are_linked_across_files(project):
    records = {record.id: record for record in proposals.records_in(gathered(project))}

    assert records["use-rabbitmq-for-jobs"].superseded_by == "use-nats-jetstream-for-background-jobs"
    assert records["use-nats-jetstream-for-background-jobs"].supersedes == ("use-rabbitmq-for-jobs",)


def test_what_carries_a_credential_is_refused_with_the_value_masked(project):
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    (project / "docs/adr/0007-use-nats.md").write_text(MADR.replace("RabbitMQ clusters", key), encoding="utf-8")

    (report,) = gathered(project, "docs/adr/0007-use-nats.md")

    assert (report.proposals, report.is_refused) == ((), True)
    assert "AWS access key" in report.left_out[0]
    assert key not in report.left_out[0]


def test_what_is_said_twice_is_proposed_once(project):
    (project / "docs/adr/0012-again.md").write_text(MADR, encoding="utf-8")

    reports = {report.path: report for report in gathered(project)}
    beside = gathered(project, "docs/adr/0007-use-nats.md", existing=proposals.records_in(gathered(project))[1:2])

    assert reports["docs/adr/0012-again.md"].proposals == ()
    assert reports["docs/adr/0012-again.md"].left_out == ("says the same as use-nats-jetstream-for-background-jobs",)
    assert proposals.records_in(beside) == []


def test_only_what_is_new_or_changed_is_proposed_again(project):
    first = gathered(project)
    imported = {document.source: document for document in proposals.imported_documents(first)}
    (project / "docs/adr/0007-use-nats.md").write_text(MADR + "\nA remark.\n", encoding="utf-8")
    (project / "docs/arch/adr-11.md").write_text(REDIS.replace("Redis 3.9", "Redis 7"), encoding="utf-8")

    second = {report.path: report for report in gathered(project, imported=imported)}

    assert second["docs/adr/0003-rabbit.md"].is_unchanged
    assert not second["docs/adr/0007-use-nats.md"].is_unchanged
    assert [path for path, report in second.items() if report.proposals] == ["docs/arch/adr-11.md"]


def test_a_changed_decision_is_proposed_as_a_change_of_its_record(project):
    existing = proposals.records_in(gathered(project, "docs/adr/0007-use-nats.md"))
    (project / "docs/adr/0007-use-nats.md").write_text(
        MADR.replace('option: "NATS JetStream"', 'option: "Kafka"'), encoding="utf-8"
    )

    (report,) = gathered(project, "docs/adr/0007-use-nats.md", existing=existing)

    assert [(proposal.updates, proposal.record.content["decision"]) for proposal in report.proposals] == [
        (existing[0].id, "Kafka")
    ]


def test_a_file_that_cannot_be_read_is_reported(project):
    os.mkfifo(project / "pipe.md")

    (report,) = proposals.gather(str(project), [Source("pipe.md", "guide")], NOW)

    assert (report.left_out, report.is_refused) == (("cannot be read: not a regular file",), True)


def test_the_log_of_imports_forgets_what_was_taken_back(tmp_path):
    root = str(tmp_path)
    document = import_log.ImportedDocument("docs/adr/1.md", "abc", ("p1",))
    import_log.add(root, "c1", [document])
    import_log.add(root, "c2", [document._replace(fingerprint="def", proposals=("p2",))])

    both = import_log.read(root)
    import_log.forget(root, "c2")

    assert both["docs/adr/1.md"].fingerprint == "def"
    assert both["docs/adr/1.md"].proposals == ("p1", "p2")
    assert import_log.read(root) == {"docs/adr/1.md": document}


def test_a_superseded_decision_comes_with_its_successor_or_not_at_all(project):
    alone = gathered(project, "docs/adr/0003-rabbit.md")
    both = gathered(project, "docs/adr/0003-rabbit.md", "docs/adr/0007-use-nats.md")

    assert [(report.proposals, report.left_out) for report in alone] == [((), (proposals._ORPHANED,))]
    old, new = proposals.records_in(both)
    assert (old.superseded_by, new.supersedes) == (new.id, (old.id,))


def test_a_chain_of_superseded_decisions_is_left_out_with_its_end(project):
    first = (
        NYGARD.replace("0007-use-nats.md", "0003-rabbit.md").replace("Use RabbitMQ", "Use a table").replace("3.9", "1")
    )
    (project / "docs/adr/0001-table.md").write_text(first, encoding="utf-8")

    reports = gathered(project, "docs/adr/0001-table.md", "docs/adr/0003-rabbit.md")

    assert [report.proposals for report in reports] == [(), ()]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("docs/adr/0012-template-engine.md", "decision"),
        ("docs/adr/ODH-ADR-0012-readme-of-modules.md", "decision"),
        ("docs/decision-records/2023-02-09-releases/README.md", "decision"),
        ("docs/adr/template.md", "aside"),
        ("docs/adr/README.md", "aside"),
        ("docs/adr/index.md", "aside"),
    ],
)
def test_a_numbered_file_may_be_a_decision_whatever_its_name(path, kind):
    assert sources.kind_of(path) == kind


@pytest.mark.parametrize(
    ("text", "first_lines", "left_out"),
    [
        (SECTION, [], "only the section that an export wrote"),
        (f"# Rules\n\nUse tabs.\n\n{SECTION}\n## More\n\nNo emoji.\n", [1, 15], ""),
        ("# Rules\n\n<!-- onrecord: begin -->\n\nUse tabs.\n", [1], ""),
    ],
)
def test_what_an_export_wrote_is_not_left_to_an_agent_again(tmp_path, text, first_lines, left_out):
    """`onrecord import --pending` listed the records that `onrecord export --into AGENTS.md` had just written."""
    (tmp_path / "AGENTS.md").write_text(text, encoding="utf-8")

    reading = proposals.read_source(str(tmp_path), Source("AGENTS.md", "loaded"), NOW)

    assert ([passage.first for passage in reading.passages], reading.left_out) == (first_lines, left_out)
