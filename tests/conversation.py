"""Entries of a transcript as Claude Code writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onrecord.hosts import claude_code
from onrecord.recall.candidate import Item, render_block
from onrecord.session.transcript import Transcript

SOURCE = ".claude/memory/"


def prompt(text: str) -> dict[str, Any]:
    return {
        "type": "user",
        "isSidechain": False,
        "promptSource": "sdk",
        "message": {"role": "user", "content": text},
        "cwd": "/home/u/proj",
        "version": "2.1.325",
    }


def memory_context(*memories: tuple[str, str], event: str = "UserPromptSubmit", source: str = SOURCE) -> dict[str, Any]:
    """Return the entry for a block with records, each a path and a summary line."""
    items = [Item("decision", text, source + path, confidence="high") for path, text in memories]
    return context(render_block(items, source), event)


def context(block: str, event: str = "UserPromptSubmit") -> dict[str, Any]:
    """Return the entry for a text that a hook added."""
    return {
        "type": "attachment",
        "attachment": {
            "type": "hook_additional_context",
            "content": [block],
            "hookName": event,
            "hookEvent": event,
        },
        "rendered": [{"content": f"<system-reminder>\n{event} hook additional context: {block}\n</system-reminder>"}],
        "renderedRole": "system",
    }


def says(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}


def does(tool: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "toolu_01", "name": tool, "input": arguments}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def result(text: str, *, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "toolu_01", "content": text, "is_error": error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": {"stdout": text}}


def write_transcript(path: Path, *lines: dict[str, Any]) -> Transcript:
    """Write a transcript file and return it as the host reads it."""
    return claude_code.transcript(write(path, *lines))


def write(path: Path, *lines: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)
