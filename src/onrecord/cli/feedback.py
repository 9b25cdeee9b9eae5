"""`onrecord feedback`: say whether a record helped, was not relevant, or is wrong, as the buttons on the page do."""

from __future__ import annotations

import argparse

from onrecord.cli import arguments, resolve
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.errors import BadInput
from onrecord.record import author
from onrecord.usage import event_log
from onrecord.usage.event_log import FEEDBACK, TAKEN_BACK

_VERDICTS = {name.replace("_", "-"): name for name in (*FEEDBACK, TAKEN_BACK)}
_WORDS = {
    "helped": "helped",
    "not_relevant": "was not relevant",
    "wrong": "was wrong",
    TAKEN_BACK: "is as if you had said nothing",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the record: its id, its beginning, or words of it")
    parser.add_argument("verdict", choices=list(_VERDICTS), metavar="VERDICT", help=", ".join(_VERDICTS))


def run(args: argparse.Namespace) -> CommandResult:
    if author.detect().origin == author.AGENT:
        raise BadInput(
            "only a person may say whether a record helped", fix=f"ask the user to run: onrecord {args.command}"
        )
    store = arguments.existing_store(args)
    entry = resolve.record(arguments.asker(args), store, args.id)
    verdict = _VERDICTS[args.verdict]
    # It is about the record, unless it was just shown: then about that showing, as on the page.
    shown = event_log.newest(store.root, 1, entry.path)
    event_log.give_feedback(store.root, entry.path, verdict, shown[0].session if shown else "")
    judgement = event_log.feedback(store.root).get(entry.path, event_log.Feedback())
    data = {**arguments.record_data(store, entry), "verdict": args.verdict, "feedback": judgement._asdict()}

    def text(screen: Screen) -> str:
        return f"{screen.paint('noted', 'green')}: {clean(entry.memory.title)} {_WORDS[verdict]}"

    return CommandResult(data, text)
