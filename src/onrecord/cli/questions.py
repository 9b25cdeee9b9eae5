"""Questions on a terminal: a key answers a choice, a line is a text, lines up to an empty one are a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onrecord.cli import terminal
from onrecord.cli.output import Screen, clean, say, wrap
from onrecord.coldstart import NamedTuple
from onrecord.store import history


class Option(NamedTuple):
    """An answer: its key, the word that contains the key (empty if only `?` names it), and what it does."""

    key: str
    word: str
    meaning: str
    is_exact: bool = False
    """True if the key in the other case may mean something else."""

    @property
    def label(self) -> str:
        start, mark, rest = self.word.partition(self.key)
        return f"{start}[{mark}]{rest}" if mark else f"[{self.key}] {self.word}"


class Asker(NamedTuple):
    """The person who typed a command, if there is one to ask."""

    command: str
    is_json: bool
    is_dry_run: bool

    @property
    def can_ask(self) -> bool:
        """True if a person is at a terminal; a program, or an agent in a terminal of its own, is never asked."""
        return not self.is_json and terminal.at_terminal() and history.author() == "person"


def read_choice(question: str, choices: Sequence[Option], screen: Screen) -> str:
    """Ask for one of `choices` and return its key; `?` or any other key explains them."""
    labels = " ".join(option.label for option in choices if option.word)
    by_key = {option.key: option for option in choices}
    while True:
        say(f"{question}{' ' if question else ''}{labels} [?]: ", screen, ending="")
        key = terminal.read_key()
        if screen.is_terminal:
            say(key if len(key) == 1 else "", screen)
        choice = by_key.get(key) or by_key.get(key.lower())
        if choice and (choice.key == key or not choice.is_exact):
            return choice.key
        say("\n".join(f"  {option.key}  {option.meaning or option.word}" for option in choices), screen)


def confirm(question: str, screen: Screen) -> bool:
    """True if the person presses y; any other key, or the end of input, is a no."""
    return read_key(question, "y/N", screen) == "y"


def read_key(question: str, key_hint: str, screen: Screen) -> str:
    """Ask a question and return the key, in lower case; empty at the end of input."""
    say(f"{question} [{key_hint}] ", screen, ending="")
    try:
        key = terminal.read_key()
    except EOFError:
        key = ""
    if screen.is_terminal:
        say(key if len(key) == 1 else "", screen)
    return key.lower()


def read_list_choice(question: str, choices: Sequence[Option], screen: Screen) -> str:
    """List `choices`, one per line, ask for one of them and return its key."""
    widest = max(len(option.word) for option in choices)
    say(question, screen)
    say("\n".join(f"  {option.key}  {option.word:<{widest}}  {option.meaning}" for option in choices), screen)
    keys = [option.key for option in choices]
    while True:
        say("Press its key: ", screen, ending="")
        key = terminal.read_key().lower()
        say(key if len(key) == 1 else "", screen)
        if key in keys:
            return key


def read_text(name: str, hint: str, screen: Screen) -> str:
    """Ask for a line of text until one is given, and return it."""
    _explain(name, hint, screen)
    while not (line := terminal.read_line("> ").strip()):
        say("This cannot be left out.", screen)
    return line


def _explain(name: str, hint: str, screen: Screen) -> None:
    """Print the name and the hint of a question, within the width of the screen."""
    lines = wrap(f"{clean(name)}: {clean(hint)}", screen.width)
    say("\n" + screen.paint(clean(name), "bold") + lines[len(clean(name)) :], screen)


def read_items(
    texts: list[str],
    name: str,
    hint: str,
    screen: Screen,
    *,
    min_items: int = 0,
    flaw_of: Callable[[str], str] = lambda line: "",
) -> None:
    """Ask for lines up to an empty one and append them to `texts`, except those that `flaw_of` finds a flaw in.

    After an interruption `texts` has the lines typed so far.
    """
    _explain(name, f"{hint} One per line; an empty line ends{'' if min_items else ', or leaves it out'}.", screen)
    while (line := terminal.read_line("- ").strip()) or len(texts) < min_items:
        flaw = flaw_of(line) if line else "This cannot be left out."
        if flaw:
            say(flaw, screen)
        else:
            texts.append(line)
