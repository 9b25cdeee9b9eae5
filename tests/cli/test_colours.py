"""Every transcript in colour: the text is the same as without, and every style that a command asks for exists."""

from __future__ import annotations

import re

import pytest

from onrecord.cli.output import Screen

from .test_golden import GOLDEN, TRANSCRIPTS, WIDTH, Stage
from .test_golden import stage as stage

_STYLE = re.compile(r"\033\[[0-9;]+m")


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_colours_change_nothing_but_the_colour(name: str, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = Screen(WIDTH, is_terminal=True, has_colour=True)
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: coloured))
    golden = (GOLDEN / name).read_text(encoding="utf-8")
    typed = [line for line in golden.splitlines() if line.startswith(("$ ", "=== "))]

    played = "".join(map(stage.play, typed)).lstrip("\n")

    assert "\033[1m" in played
    assert _STYLE.sub("", played) == golden
