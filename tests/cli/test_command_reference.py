from __future__ import annotations

from pathlib import Path

from onrecord.cli import COMMANDS
from scripts import command_reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def test_the_published_page_is_what_the_parsers_say(request):
    if request.config.getoption("--update-golden"):
        PAGE.write_text(command_reference.page(), encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == command_reference.page()


def test_every_command_has_its_section_and_every_option_its_line():
    page = command_reference.page()

    assert [name for name in COMMANDS if f"\n## {name}\n" not in page] == []
    assert "| `--since WHEN` | only since a day (2026-03-01) or an age (3w; d, w, m or y) |" in page
    assert "onrecord retire ID --reason TEXT [options]" in page
