"""Which files an import finds, of which kind each is, and how a document is divided."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.errors import BadInput
from onrecord.importers import sources
from onrecord.importers.sources import Passage, Source


def write(root: Path, *paths: str) -> str:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n")
    return str(root)


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        ("loaded", ["CLAUDE.md", "web/CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", ".cursorrules",
                    ".windsurfrules", ".clinerules", ".junie/guidelines.md", ".github/copilot-instructions.md",
                    ".github/instructions/api.instructions.md", ".clinerules/api.md", "web/.cursor/rules/a/b.mdc",
                    ".claude/rules/a.md", ".windsurf/rules/a.md", ".roo/rules/a.md", ".continue/rules/a.md"]),
        ("guide", ["CONTRIBUTING.md", "docs/development.md", "doc/hacking.md", ".github/contributing.md",
                   "style-guide.md", "docs/runbook.md", "ops/runbooks/disk.md", "runbook/disk.md"]),
        ("memory", [".serena/memories/a.md", "web/.serena/memories/a/b.md", "home/projects/x/memory/a.md"]),
        ("decision", ["docs/adr/0001-a.md", "docs/decisions/a.md", "docs/architecture-decision-records/a.md",
                      "docs/decision_log/a.md", "adr/a.rst", "adr/a.adoc", "adr/a.asciidoc", "adr/a.org", "ADR-7-b.md",
                      "notes/adr12.md", "adr/0001-a/readme.md", "adr/0001-a/index.md",
                      "adr/0012-template.md"]),
        ("aside", ["adr/readme.md", "adr/index.md", "adr/_index.md", "adr/toc.md", "adr/summary.md", "adr/about.md",
                   "adr/changelog.md", "adr/contributing.md", "adr/license.md", "adr/my-template.md"]),
        ("", ["README.md", "src/a.py", "adr/a.txt", "adr/a.py", "docs/guide/development.md", "web/contributing.md",
              "notes/adr.md", "web/.github/instructions/a.md", "adr-7.txt", "rules/a.md", "memory/a.md"]),
    ],
)  # fmt: skip
def test_the_kind_of_a_file_is_told_by_its_name_and_folder(kind, paths):
    assert {path: sources.kind_of(path) for path in paths} == dict.fromkeys(paths, kind)
    assert {path: sources.kind_of(path.upper()) for path in paths} == dict.fromkeys(paths, kind)


@pytest.mark.parametrize(
    ("is_numbered", "paths"),
    [
        (True, ["0001-a.md", "docs/12.md", "1-a.md", "adr-7.md", "adr_7-a.md", "x-0012-a.md", "adr/0001-a/readme.md",
                "2024-01-05-a.md", "0001-a/index.md"]),
        (False, ["a.md", "readme.md", "adr/a1b.md", "x-1-a.md", "0001-a/a.md", "docs/index.md", "1234567.md"]),
    ],
)  # fmt: skip
def test_a_number_in_the_name_is_that_of_a_decision(is_numbered, paths):
    assert {path: sources.is_numbered(path) for path in paths} == dict.fromkeys(paths, is_numbered)


def test_hidden_folders_and_vendored_code_are_not_searched(tmp_path):
    found = [
        "adr/1.md", "a/b/c/d/e/f/adr/2.md", ".claude/rules/a.md", ".cursor/rules/a.mdc", ".github/contributing.md",
        ".serena/memories/a.md", ".clinerules/a.md", ".windsurf/rules/a.md", ".roo/rules/a.md", ".continue/rules/a.md",
        ".junie/guidelines.md", ".decisions/adr-1.md",
    ]  # fmt: skip
    vendored = (
        "node_modules", "vendor", "third_party", "target", "build", "dist", "venv", "env", "site-packages", "Build",
        "__pycache__",
    )  # fmt: skip
    root = write(
        tmp_path, *found, *(f"{name}/adr/8.md" for name in vendored), "a/b/c/d/e/f/g/adr/3.md", ".git/adr/4.md",
        ".claude/worktrees/adr/5.md", ".cursor/adr/6.md", ".serena/adr/7.md",
    )  # fmt: skip

    assert sorted(source.path for source in sources.discover(root)) == sorted(found)


def test_the_files_near_the_root_come_first_and_each_once(tmp_path):
    root = write(tmp_path, "b/adr/1.md", "adr/2.md", "CLAUDE.md")
    os.symlink("2.md", tmp_path / "adr" / "1-again.md")

    assert sources.discover(root) == [
        Source("CLAUDE.md", "loaded"), Source("adr/1-again.md", "decision"), Source("b/adr/1.md", "decision"),
    ]  # fmt: skip
    assert [source.path for source in sources.become_drafts(root)] == ["adr/1-again.md", "b/adr/1.md"]


@pytest.mark.parametrize("limit", ["MAX_FILES", "MAX_FOLDERS"])
def test_a_huge_tree_is_searched_in_part(tmp_path, monkeypatch, limit):
    root = write(tmp_path, "CLAUDE.md", "a/CLAUDE.md", "b/CLAUDE.md")
    monkeypatch.setattr(sources, limit, 2)

    assert [source.path for source in sources.discover(root)] == ["CLAUDE.md", "a/CLAUDE.md"]
    assert len(sources.from_names(root, [root])) == 2


def test_named_files_are_of_any_readable_kind(tmp_path):
    outside = write(tmp_path / "out", "a.md")
    root = write(
        tmp_path / "project", "notes/a.md", "notes/b.mdc", "notes/c.markdown", "notes/d.json", "notes/e.jsonl",
        "notes/f.db", "notes/g.sqlite", "notes/h.sqlite3", "notes/i.txt", "notes/.cursorrules", "adr/1.md", "x.txt",
    )  # fmt: skip

    named = sources.from_names(
        root, [os.path.join(root, name) for name in ("notes", "x.txt", "notes/a.md", "adr")] + [outside]
    )

    assert [tuple(source) for source in named] == [
        ("notes/.cursorrules", "loaded"), ("notes/a.md", "page"), ("notes/b.mdc", "page"), ("notes/c.markdown", "page"),
        ("notes/d.json", "memory"), ("notes/e.jsonl", "memory"), ("notes/f.db", "memory"), ("notes/g.sqlite", "memory"),
        ("notes/h.sqlite3", "memory"), ("x.txt", "page"), ("adr/1.md", "decision"), (f"{outside}/a.md", "page"),
    ]  # fmt: skip
    with pytest.raises(BadInput, match="there is no file or folder 'nowhere'") as caught:
        sources.from_names(root, ["nowhere"])
    assert caught.value.fix == "name a file to import, or a folder of them"


def test_a_document_is_one_passage_or_one_for_each_section_with_text():
    text = "intro\n\n# One\n\n## Two\ntext\n\n## Three\nmore\nlines\n"

    assert sources.whole_document(text, "prose") == (Passage(1, 10, "", "prose"),)
    assert sources.whole_document("", "prose", 7) == (Passage(7, 7, "", "prose"),)
    assert sources.sections(text, "prose") == (
        Passage(1, 4, "", "prose"), Passage(5, 7, "Two", "prose"), Passage(8, 10, "Three", "prose"),
    )  # fmt: skip
    assert sources.sections("# One\n", "prose") == (Passage(1, 1, "", "prose"),)


@pytest.mark.parametrize(("number", "passages"), [(60, 60), (61, 1)])
def test_a_document_with_many_sections_is_one_passage(number, passages):
    text = "".join(f"## {part}\ntext\n" for part in range(number))

    assert len(sources.sections(text, "prose")) == passages


def test_the_mark_of_utf8_is_no_text_and_odd_bytes_are_marked():
    assert sources.decoded(b"\xef\xbb\xbfcaf\xe9") == "caf\ufffd"
