"""What one run of the client did, in the words a test asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from api_request import Note, Request


class Turn(NamedTuple):
    """What one run of the client did: what it printed and what it asked the model."""

    exit_code: int  # 0 while a session is still running
    stdout: str
    stderr: str
    debug: str
    requests: tuple[Request, ...]
    home: Path

    @property
    def result(self) -> dict[str, Any]:
        """The client's own account of the turn."""
        return dict(json.loads(self.stdout))

    @property
    def answer(self) -> str:
        return str(self.result["result"])

    @property
    def session_id(self) -> str:
        return str(self.result["session_id"])

    @property
    def transcript(self) -> Path:
        (path,) = self.home.glob(f".claude/projects/*/{self.session_id}.jsonl")
        return path

    @property
    def main_requests(self) -> list[Request]:
        return [request for request in self.requests if request.kind == "main"]

    @property
    def last(self) -> Request:
        """The last request of the conversation itself, which holds all that the model has been told."""
        return self.main_requests[-1]

    @property
    def notes(self) -> list[Note]:
        """What hooks have told the model in the whole conversation, as it stands in the last request."""
        return self.last.notes(known=_hook_texts(self.transcript))

    @property
    def injected(self) -> list[str]:
        """The texts of `notes`."""
        return [note.text for note in self.notes]

    @property
    def tool_results(self) -> list[tuple[bool, str]]:
        return self.last.tool_results


def _hook_texts(transcript: Path) -> list[list[str]]:
    attachments = [json.loads(line).get("attachment") or {} for line in transcript.read_text("utf-8").splitlines()]
    contents = [one.get("content") or [] for one in attachments if str(one.get("type")).startswith("hook_")]
    return [[content] if isinstance(content, str) else content for content in contents]
