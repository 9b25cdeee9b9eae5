"""Commands that do one of several things: each takes words and options of its own, and refuses those of the others."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from onrecord.cli.output import clean
from onrecord.errors import BadInput

_MANY = "…"


def check(
    args: argparse.Namespace, usages: Mapping[str, str], action: str, words: Sequence[str], choices: str = ""
) -> None:
    """BadInput for too few or too many words, or for an option that another action takes.

    A usage is what follows an action, such as `NAME [URL] [--force]`, or `[NAME…]` for any number of words. The options
    in it have None as their default. `choices` says what there is to choose from where a word is missing.
    """
    usage = usages[action]
    typed = _typed(args, action)
    fix = f"type it as: `{f'{typed} {usage}'.rstrip()}`"
    places = [part for part in usage.split() if "--" not in part]
    needed = [part for part in places if not part.startswith("[")]
    if len(words) < len(needed):
        missing = " and ".join(needed[len(words) :])
        raise BadInput(f"`{typed}` needs {missing}{f' ({choices})' if choices else ''}", fix=fix)
    if len(words) > len(places) and _MANY not in usage:
        raise BadInput(f"`{typed}` does not take {clean(words[len(places)])!r}", fix=fix)
    takers = {option: other for other, taken in usages.items() for option in _options(taken)}
    for option, other in takers.items():
        name = option.split("|")[0].lstrip("-").replace("-", "_")
        if option not in _options(usage) and getattr(args, name) is not None:
            raise BadInput(f"`{typed}` does not take {option}; `{_typed(args, other)}` does", fix=fix)


def _typed(args: argparse.Namespace, action: str) -> str:
    return f"onrecord {args.command} {action}".rstrip()


def _options(usage: str) -> list[str]:
    return [part.strip("[]").split("=")[0] for part in usage.split() if "--" in part]
