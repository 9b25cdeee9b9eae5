"""What an earlier version imported, and what was rejected of it, is not proposed again. The real versions import it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.upgrade import old_project
from tests.upgrade.old_project import VERSIONS, OldProject, OldVersion

PAGE = """# {number}. {title}

## Status

Accepted

## Context

{context}

## Decision

{decision} This holds because nobody wants two ways.

## Consequences

Everybody does it the same way.
"""
PAGES = {
    "docs/adr/0001-jobs.md": (
        "Use NATS for background jobs",
        "Jobs were lost.",
        "Jobs will go through NATS JetStream.",
    ),
    "docs/adr/0002-time.md": ("Store timestamps in UTC", "Reports were off by an hour.", "Timestamps will be in UTC."),
}


@pytest.fixture(params=VERSIONS, ids=lambda version: version.number)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> OldProject:
    """A project whose decisions an earlier version has imported; of two drafts of 0.2.0 one was rejected."""
    version: OldVersion = request.param
    if not version.is_in_history():
        pytest.skip(f"the commit of {version.number} is not in this clone's history")
    made = OldProject(tmp_path)
    version.check_out(made.root / old_project.OLD_CLONE)
    for number, (path, (title, context, decision)) in enumerate(PAGES.items(), 1):
        page = PAGE.format(number=number, title=title, context=context, decision=decision)
        old_project.write(made.project / path, page)
    made.git("init", "-q", "-b", "main")
    made.old_command("init")
    made.old_command("import")
    if version.number == "0.2.0":
        made.old_command("review", "--accept", "use-nats-for-background-jobs")
        made.old_command("review", "--reject", "store-timestamps-in-utc")
    made.git("add", "-A")
    made.git("commit", "-qm", "Import")
    return made


def test_an_import_is_not_proposed_again(old: OldProject) -> None:
    old.command("import")
    again = json.loads(old.command("import", "--json"))

    assert (again["drafts"], again["unchanged"]) == (0, len(PAGES))
    assert json.loads(old.command("inbox", "--json"))["drafts"] == []


@pytest.mark.parametrize("old", VERSIONS[-1:], indirect=True, ids=["0.2.0"])
def test_it_is_not_proposed_either_once_what_doctor_lists_is_deleted(old: OldProject) -> None:
    findings = json.loads(old.command("doctor", "--json"))["findings"]
    (fix,) = [finding["fix"] for finding in findings if finding["check"] == "old name"]
    deletes = [command for command in fix.split("; ") if command.startswith("rm ")]
    assert deletes

    old.shell("; ".join(deletes))

    assert json.loads(old.command("import", "--json"))["unchanged"] == len(PAGES)


def test_a_page_that_changed_since_is_proposed(old: OldProject) -> None:
    page = old.project / "docs/adr/0001-jobs.md"
    page.write_text(page.read_text().replace("NATS JetStream", "RabbitMQ"))

    changed = json.loads(old.command("import", "--json"))

    proposed = [proposal["updates"] for file in changed["files"] for proposal in file["proposed"]]
    assert (proposed, changed["unchanged"]) == (["use-nats-for-background-jobs"], len(PAGES) - 1)
