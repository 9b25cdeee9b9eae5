"""Sessions: the prompts a person typed in a project, from the files in which hosts keep their sessions. Only read.

A file holds whatever a session met: an entry that is not understood is passed over, and nothing in it costs more than
its length.
"""

from __future__ import annotations

from collections.abc import Sequence

from onrecord import timestamps
from onrecord.coldstart import NamedTuple
from onrecord.session.transcript import Transcript

LARGEST = 32_000_000
"""Bytes of one transcript that are read, from its end."""

MOST_FILES = 200
_LONGEST_PROMPT = 100_000


class Prompt(NamedTuple):
    """Something a person typed: when, in which words, and the name that the host gave it."""

    at: str
    text: str
    uuid: str = ""


class Session(NamedTuple):
    """One conversation: its name, its prompts in order, and whether its beginning was read too."""

    name: str
    prompts: tuple[Prompt, ...]
    is_whole: bool


def recent(transcripts: Sequence[Transcript], last: int) -> list[Session]:
    """The sessions that hold the last prompts."""
    recent_sessions: list[Session] = []
    times: list[str] = []
    for transcript, changed in _newest_first(transcripts):
        if len(times) >= last and times[-last] >= changed:
            break
        session = read(transcript)
        if session.prompts:
            recent_sessions.append(session)
            times = sorted([*times, *(prompt.at for prompt in session.prompts)])
    return recent_sessions


def read(transcript: Transcript) -> Session:
    """The prompts in a transcript; none if it cannot be read."""
    entries, is_whole = transcript.tail(LARGEST)
    prompts = (_prompt(transcript, entry) for entry in entries if transcript.format.may_be_typed(entry))
    return Session(transcript.name, tuple(prompt for prompt in prompts if prompt), is_whole)


def _prompt(transcript: Transcript, entry: object) -> Prompt | None:
    """What was typed in an entry, in however many parts."""
    typed = [message for message in transcript.said(entry) if message.role == "user" and message.kind == "text"]
    text = "\n".join(message.text for message in typed)[:_LONGEST_PROMPT]
    at = typed[0].at if typed else ""
    return Prompt(at if timestamps.is_instant(at) else "", text, typed[0].name) if text else None


def _newest_first(transcripts: Sequence[Transcript]) -> list[tuple[Transcript, str]]:
    """Transcripts with the moment each was last written."""
    changed: dict[Transcript, str] = {}
    for transcript in transcripts:
        try:
            changed[transcript] = timestamps.at(transcript.format.written(transcript.path))
        except (OSError, ValueError, OverflowError):
            continue
    return sorted(changed.items(), key=lambda each: (each[1], each[0].path), reverse=True)[:MOST_FILES]
