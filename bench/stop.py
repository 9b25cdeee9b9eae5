"""`python -m bench stop`: what the hook at the end of a turn costs when nothing passes, against a bare interpreter.

The talk is that of sessions with nothing worth keeping. Once as it is, behind 100 MB of more of it; and with answers of
several lengths, as assistants differ in that.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import latency, results, sessions
from bench.sessions import Session
from onrecord.capture import triage
from onrecord.hosts import claude_code
from onrecord.session import transcript
from onrecord.session.transcript import Message

LENGTHS = (300, 800, 2_000, 8_000)
HUGE = 100_000_000
_TURNS = 14
_SEEDS = 100
_RESULT = Message("user", "tool_result", "def f(): pass\n" * 100)
_READ = Message("assistant", "tool_use", "", "Read", {"file_path": "src/app.py"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=21, help="runs of each kind (default 21)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to measure")


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="onrecord-stop-") as folder:
        project = Path(folder, "project")
        Path(project, ".claude", "memory", "decisions").mkdir(parents=True)
        path = Path(folder, "transcript.jsonl")
        event = {"session_id": "s", "cwd": str(project), "transcript_path": str(path)}
        costs = {}
        for length in (0, *LENGTHS):
            write(path, length)
            name = f"answers of {length:,} characters" if length else "100 MB of ordinary talk"
            hook = latency.command(options.python, "stop")
            costs[name] = latency.compare(hook, lambda turn: event, latency.environment(Path(folder)), options.times)
            print(json.dumps({name: costs[name]}), flush=True)
    results.save("stop", {"python": latency.version(options.python), "times": options.times, "cases": costs})
    return 0


def write(path: Path, length: int) -> None:
    """Write a transcript at whose end nothing passes: answers of some length, or for 0 a huge one as it is."""
    quiet = [
        session
        for session in sessions.taught()
        if not session.is_phrase and not session.expected and session.language == "en"
    ]
    for seed in range(_SEEDS):
        dice = random.Random(seed)
        end = "".join(_talk(quiet, dice) if length == 0 else _lengthened(quiet, dice, length))
        path.write_text(end, encoding="utf-8")
        if not triage.best_candidates(transcript.read_ending(claude_code.transcript(str(path)), 50)):
            break
    else:
        raise SystemExit("something passes in whatever talk is put together: no such cost to measure")
    if length == 0:
        with path.open("w", encoding="utf-8") as file:
            while file.tell() < HUGE:
                file.writelines(_talk(quiet, dice))
            file.write(end)


def _talk(quiet: Sequence[Session], dice: random.Random) -> Iterator[str]:
    for session in dice.sample(list(quiet), 6):
        yield from (_line(message) for message in session.messages)


def _lengthened(quiet: Sequence[Session], dice: random.Random, length: int) -> Iterator[str]:
    texts = [message for session in quiet for message in session.messages if message.kind == "text"]
    prompts = [message for message in texts if message.role == "user" and len(message.text) < 300]
    answers = [message.text for message in texts if message.role == "assistant"]
    for _ in range(_TURNS):
        text = ""
        while len(text) < length:
            text += dice.choice(answers) + "\n\n"
        for message in (dice.choice(prompts), _READ, _RESULT, Message("assistant", "text", text[:length])):
            yield _line(message)


def _line(message: Message) -> str:
    """Return a message as the host writes it down; what hooks added is left out."""
    if message.role == "system":
        return ""
    block: dict[str, object] = {"type": message.kind}
    if message.kind == "text":
        block["text"] = message.text
    elif message.kind == "tool_use":
        block.update(name=message.name, input=dict(message.input))
    else:
        block.update(content=message.text, is_error=message.name == "error")
    entry = {"type": message.role, "message": {"role": message.role, "content": [block]}}
    return json.dumps(entry) + "\n"
