"""The README is true: its session is what the demo prints, and every number in it was measured or is set."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the results of the benchmarks are read with their programs")

from bench import results, words
from onrecord.setting_table import SETTINGS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```\w*\n.*?^```$", re.M | re.S)
_LINK = re.compile(r"\]\([^)]*\)")
NO_FIGURES = ("Claude Code 2.1.328, claude-mem 13.25, mem0 2.2", "November 2026", "mem0")
"""Numbers that say which version, and when it was looked at, and one in a name."""


def test_it_fits_and_shows_what_the_demo_prints() -> None:
    (session,) = re.findall(r"^```text\n(.*?)^```$", README, re.M | re.S)
    command = (sys.executable, str(ROOT / "bin" / "onrecord"), "demo")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert len(README.splitlines()) <= 150
    assert session in done.stdout


def test_the_two_commands_and_the_effect_on_agents_come_first() -> None:
    top = README.partition("\n## ")[0]

    assert top.index("bin/onrecord demo") < top.index("scripts/test") < top.index("| no memory |")


def test_every_number_is_a_figure_that_was_measured() -> None:
    text = _on_one_line(_LINK.sub("]", _BLOCK.sub("", README)))
    claims = [_on_one_line(claim) for claim in (*NO_FIGURES, *_of_agents(), *_of_prompts(), *_of_costs())]

    assert [claim for claim in claims if claim not in text] == []
    for claim in sorted(claims, key=len, reverse=True):
        text = text.replace(claim, "")
    assert re.findall(r".{0,30}\d.{0,30}", text) == []


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _of_agents() -> list[str]:
    governed: dict[str, Any] = _result("agents")["kinds"]["governed"]
    names = {
        "no memory": "none",
        "the rules that fit a prompt, at that prompt": "rules",
        "the map too: one line for each record, when the session starts (the default)": "map-rules",
    }
    tasks = {governed[name]["tasks"] for name in names.values()}
    assert len(tasks) == 1
    rows = [f"| {words} | {governed[name]['full']} | {governed[name]['against']} |" for words, name in names.items()]
    return [f"{tasks.pop()} tasks in two public projects", *rows]


def _of_prompts() -> list[str]:
    typed, written = _result("words"), _result("life")
    counts = typed["variants"]["three"]["all"]["prompts"], written["variants"]["lean"]["written prompts"]["prompts"]
    assert (len(typed["projects"]), len(written["projects"])) == (5, 4)
    return [
        f"{counts[0]} prompts that people really typed, in five public projects, and {counts[1]} written ones in four",
        "| out of 100, three triggers a record |",
        *words.headline(typed, written),
    ]


def _of_costs() -> list[str]:
    measured = _result("cost")
    tokens = {when: measured["tokens"][f"records, {when}"] for when in ("in a session", "at its first prompt")}
    per_record = [each["tokens"] / each["named"] for each in measured["maps"].values()]
    limits = {key: SETTINGS[f"retrieval.{key}"].default for key in ("max_tokens", "first_prompt_budget")}
    assert 20 <= measured["hooks"]["a prompt"]["cpu ms"] <= 40
    assert 140 <= tokens["in a session"]["median"] <= 160
    assert all(each["most"] <= 300 * (1 + number) for number, each in enumerate(tokens.values()))
    assert (round(min(per_record)), round(max(per_record))) == (22, 26)
    assert (SETTINGS["session_start.max_tokens"].default, SETTINGS["capture.max_suggestions"].default) == (2_000, 2)
    assert limits == {"max_tokens": 300, "first_prompt_budget": 2}
    return [
        "about 30 ms of CPU time",
        "about 150 tokens, at most 300 (600 at a first prompt)",
        "the map 22 to 26 for each record, at most 2,000 each time",
    ]


def _result(name: str) -> dict[str, Any]:
    stored = results.load(name)
    assert stored is not None
    return stored
