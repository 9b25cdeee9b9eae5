"""Questions on a terminal: one key for an answer, a line for a text, lines up to an empty one for a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onrecord.cli import terminal
from onrecord.cli.output import Screen, clean, say, wrap
from onrecord.coldstart import NamedTuple
from onrecord.store import history


class Option(NamedTuple):
    """An answer: its key, the word it stands in, and what it does."""

    key: str
    word: str
    meaning: str = ""

    @property
    def label(self) -> str:
        start, mark, rest = self.word.partition(self.key)
        return f"{start}[{mark}]{rest}" if mark else f"[{self.key}] {self.word}"


class Asker(NamedTuple):
    """Asks the person who typed a command, if there is one to ask."""

    command: str
    is_json: bool = False
    is_dry_run: bool = False

    @property
    def can_ask(self) -> bool:
        """True if a person is at a terminal; a program, or an agent in a terminal of its own, is never asked."""
        return not self.is_json and terminal.at_terminal() and history.author() == "person"


def read_choice(question: str, options: Sequence[Option], screen: Screen) -> str:
    """The key of the answer that somebody chose; `?`, and any other key, explains the answers."""
    labels = " ".join(option.label for option in options)
    by_key = {option.key: option for option in options}
    while True:
        say(f"{question}{' ' if question else ''}{labels} [?]: ", screen, end="")
        pressed = terminal.read_key()
        if screen.is_terminal:
            say(pressed if len(pressed) == 1 else "", screen)
        chosen = by_key.get(pressed) or by_key.get(pressed.lower())
        if chosen:
            return chosen.key
        say("\n".join(f"  {option.key}  {option.meaning or option.word}" for option in options), screen)


def confirm(question: str, screen: Screen) -> bool:
    """Whether somebody says yes; any other key is a no, and so is no answer."""
    return read_key(question, "y/N", screen) == "y"


def read_key(question: str, choices: str, screen: Screen) -> str:
    """The key that somebody presses, in lower case; empty for no answer."""
    say(f"{question} [{choices}] ", screen, end="")
    try:
        pressed = terminal.read_key()
    except EOFError:
        pressed = ""
    if screen.is_terminal:
        say(pressed if len(pressed) == 1 else "", screen)
    return pressed.lower()


def read_list_choice(question: str, options: Sequence[Option], screen: Screen) -> str:
    """The key of one of several things, each on a line of its own."""
    widest = max(len(option.word) for option in options)
    say(question, screen)
    say("\n".join(f"  {option.key}  {option.word:<{widest}}  {option.meaning}" for option in options), screen)
    listed = [option.key for option in options]
    while True:
        say("Press its key: ", screen, end="")
        pressed = terminal.read_key().lower()
        say(pressed if len(pressed) == 1 else "", screen)
        if pressed in listed:
            return pressed


def read_text(name: str, hint: str, screen: Screen) -> str:
    """A text in one line; asked for again until there is one."""
    _explain(name, hint, screen)
    while not (line := terminal.read_line("> ").strip()):
        say("It cannot be left out.", screen)
    return line


def _explain(name: str, hint: str, screen: Screen) -> None:
    """Say what is asked for, within the width of the screen."""
    lines = wrap(f"{clean(name)}: {clean(hint)}", screen.width)
    say("\n" + screen.paint(clean(name), "bold") + lines[len(clean(name)) :], screen)


def read_items(
    into: list[str],
    name: str,
    hint: str,
    screen: Screen,
    *,
    least: int = 0,
    flaw_of: Callable[[str], str] = lambda line: "",
) -> None:
    """Add texts to a list, each in a line, up to an empty line; one in which `flaw_of` sees a flaw is not taken.

    Whoever stops in the middle has what was typed before in the list.
    """
    _explain(name, f"{hint} One per line; an empty line ends{'' if least else ', or leaves it out'}.", screen)
    while (line := terminal.read_line("- ").strip()) or len(into) < least:
        flaw = flaw_of(line) if line else "It cannot be left out."
        if flaw:
            say(flaw, screen)
        else:
            into.append(line)
