"""`onrecord completion SHELL`: a script that lets bash, zsh or fish complete commands, options, ids and settings.

Each script runs `onrecord __complete` and quotes its output: strangers may have named the records and drafts.
It runs the `onrecord` of the PATH only. Pressing Tab does not run a program of that name in the current folder.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from onrecord import paths
from onrecord.cli import help
from onrecord.cli.commands import COMMANDS
from onrecord.cli.help import Parser
from onrecord.cli.output import CommandResult, Screen, clean, fit, say
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.text import plural

_MAX_WORDS = 200
"""Candidates to print: a shell asks before it lists so many."""

_MAX_TAGGED_RECORDS = 5_000
"""Records whose tags are counted, the newest first."""

_MAX_DRAFT_TITLES = 50
_MEANING_WIDTH = 60
_STATUSES = {"restore": "retired", "unarchive": "archived"}
"""The status of the records that a command takes; for all others it is active."""

_SETTABLE = ("id", "title", "confidence", "scope")
_BASH = r"""# Completion of onrecord for bash. In ~/.bashrc: eval "$(onrecord completion bash)"
_onrecord() {
    local line value words=()
    COMPREPLY=()
    while IFS= read -r line; do
        words+=("$line")
    done < <(command onrecord __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ ${words[0]} == files ]]; then
        compopt -o default 2>/dev/null
        return
    fi
    for line in "${words[@]:1}"; do
        value=${line%%$'\t'*}
        case ${COMP_WORDS[COMP_CWORD]} in
            # Within quotes a backslash would be a character of the name.
            [\'\"]*) [[ $value != *[!A-Za-z0-9._/=-]* ]] && COMPREPLY+=("$value") ;;
            *) COMPREPLY+=("$(printf %q "$value")") ;;
        esac
    done
    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
if type compopt >/dev/null 2>&1; then
    complete -F _onrecord onrecord
else
    complete -o default -F _onrecord onrecord
fi
"""
_ZSH = r"""#compdef onrecord
# Completion of onrecord for zsh. In ~/.zshrc: eval "$(onrecord completion zsh)"
_onrecord() {
    local line value
    local -i widest=0
    local -a lines values shown open open_shown
    lines=("${(@f)$(command onrecord __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ $lines[1] == files ]]; then
        _files
        return
    fi
    for line in "${(@)lines[2,-1]}"; do
        value=${line%%$'\t'*}
        (( ${#value} > widest )) && widest=${#value}
    done
    for line in "${(@)lines[2,-1]}"; do
        value=${line%%$'\t'*}
        line="${(r:widest:)value}  ${line#*$'\t'}"
        if [[ $value == *= ]]; then
            open+=("$value") open_shown+=("$line")
        else
            values+=("$value") shown+=("$line")
        fi
    done
    (( $#values )) && compadd -l -d shown -a values
    (( $#open )) && compadd -l -S '' -d open_shown -a open
    (( $#values + $#open ))
}
if [[ $funcstack[1] == _onrecord ]]; then
    _onrecord "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _onrecord onrecord
fi
"""
_FISH = r"""# Completion of onrecord for fish. Its place: ~/.config/fish/completions/onrecord.fish
function __onrecord_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l word (commandline -ct)
    set -l lines (command onrecord __complete fish $words "$word" 2>/dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$word"
        return
    end
    set -e lines[1]
    string join \n -- $lines
end
complete -c onrecord -f -a '(__onrecord_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


class Word(NamedTuple):
    """A word that may be typed, and what it means."""

    text: str
    meaning: str = ""


class CommandLine(NamedTuple):
    """The words before the last one, by the argument that they belong to, and the argument of the last one."""

    parser: Parser
    values: dict[str, list[str]]
    """The values of each argument and option, by its name."""
    awaited: argparse.Action | None
    """The option or argument of the last word; None if no more is taken."""
    is_value: bool
    """True if it is the value of an option, which may begin with a hyphen."""
    actions: tuple[argparse.Action, ...] = ()
    """The actions of the command, if one of them may come next."""

    def value(self, name: str) -> str:
        """Return the last value of an argument or option; empty if there is none."""
        return (self.values.get(name) or [""])[-1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="your shell")


def run(args: argparse.Namespace) -> CommandResult:
    script = SCRIPTS[args.shell]
    return CommandResult({"shell": args.shell, "script": script}, lambda screen: script)


def print_candidates(words: Sequence[str]) -> int:
    """Print the candidates for the last of `words`; after an error none, since there is nowhere to report it."""
    shell, *line = map(unquote, words) if words[:1] == ["bash"] else words or [""]
    try:
        suggestions = candidates(line[:-1], "".join(line[-1:]), splits_values=shell == "bash")
    except (OnrecordError, OSError):
        suggestions = []
    if suggestions is None:
        say("files", Screen())
        return 0
    lines = [f"{word.text}\t{fit(clean(word.meaning), _MEANING_WIDTH)}" for word in suggestions]
    say("\n".join(["words", *lines]), Screen())
    return 0


def candidates(words: list[str], last: str, *, splits_values: bool) -> list[Word] | None:
    """Return the candidates for the last word of a line; None for the name of a file."""
    from onrecord.cli import common_parser, parser_of

    words, last, head = split_values(words, last)
    line = parse_line(common_parser(), words)
    position = line.parser.first_word(words)
    if position < len(words) and words[position] != "help":
        if words[position] not in COMMANDS:
            return []
        line = parse_line(parser_of(words[position]), [*words[:position], *words[position + 1 :]])
    elif not line.is_value and not last.startswith("-"):
        return _matching((Word(name, row.summary) for name, row in COMMANDS.items()), last)
    if last.startswith("-") and not line.is_value:
        return _matching(_options(line), last)
    values = _values(line, last)
    return None if values is None else _matching(values, last, "" if splits_values else head)


def _matching(words: Iterable[Word], beginning: str, head: str = "") -> list[Word]:
    """Return the words with this beginning, each after `head`, the option whose value it is."""
    matches = (word for word in words if word.text.startswith(beginning) and word.text.isprintable())
    return [word._replace(text=head + word.text) for word in islice(matches, _MAX_WORDS)]


def split_values(words: list[str], last: str) -> tuple[list[str], str, str]:
    """Return the words with each `--option=value` as two, the last word, and the `--option=` before it.

    bash has split them already, with the equals sign as a word of its own.
    """
    split: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        if word == "=" and _is_option(split):
            continue
        split += [option, value] if equals and option.startswith("--") else [word]
    if last == "=" and _is_option(split):
        return split, "", ""
    option, equals, value = last.partition("=")
    if equals and option.startswith("--"):
        return [*split, option], value, f"{option}="
    return split, last, ""


def _is_option(words: list[str]) -> bool:
    return bool(words) and words[-1].startswith("--")


def unquote(word: str) -> str:
    """Return a word as the command will get it, without its quotes."""
    try:
        parts = shlex.split(word)
    except ValueError:  # an open quote
        return word.lstrip("'\"")
    return parts[0] if len(parts) == 1 else word


def parse_line(parser: Parser, words: list[str]) -> CommandLine:
    """Return the words before the last one by their arguments."""
    has_action = parser.first_word(words) < len(words)
    actions = () if has_action else tuple(dict(help.sections(parser)).get("actions", ()))
    parser, words = parser.for_action(words)
    values: dict[str, list[str]] = {}
    arguments = [action for action in parser._get_positional_actions() if action.help is not argparse.SUPPRESS]
    awaited: argparse.Action | None = None
    for word in words:
        if awaited is not None:
            values.setdefault(awaited.dest, []).append(word)
            awaited = None
        elif word in parser._option_string_actions:
            option = parser._option_string_actions[word]
            values.setdefault(option.dest, [])
            awaited = option if option.nargs != 0 else None
        elif arguments:
            values.setdefault(arguments[0].dest, []).append(word)
            arguments = arguments if arguments[0].nargs in ("+", "*") else arguments[1:]
    if awaited is not None:
        return CommandLine(parser, values, awaited, True)
    return CommandLine(parser, values, arguments[0] if arguments else None, False, actions)


def _options(line: CommandLine) -> Iterator[Word]:
    """Yield the options that may still be given."""
    for action in line.parser._actions:
        is_repeatable = isinstance(action, argparse._AppendAction)
        if action.option_strings and (is_repeatable or action.dest not in line.values):
            yield Word(action.option_strings[-1], (action.help or "").replace("%%", "%"))


def _values(line: CommandLine, beginning: str) -> Iterable[Word] | None:
    """Return values for the awaited option or argument; None for the name of a file, nothing for free text."""
    action = line.awaited
    if line.actions and not line.is_value:
        words = [Word(action.dest, action.help or "") for action in line.actions]
        default = _BY_METAVAR.get(str(line.awaited.metavar)) if line.awaited else None
        return [*words, *(default(line, beginning) if default else ())]
    if action is None:
        return ()
    if action.choices:
        return map(Word, map(str, action.choices))
    if action.metavar in ("FILE", "DIR", "PATH", "O", "A", "B"):
        return None
    if action.dest == "category":
        return _categories()
    find_words = _BY_METAVAR.get(str(action.metavar))
    return find_words(line, beginning) if find_words else ()


def _categories() -> Iterator[Word]:
    from onrecord.categories import CATEGORIES

    return (Word(category.name) for category in CATEGORIES.values())


def _root(line: CommandLine) -> str:
    """Return the root of the store that the line is about."""
    if "user" in line.values:
        return paths.user_store()
    if "remote" in line.values:
        return paths.replica(line.value("remote")).root
    from onrecord.project import Project

    return Project(line.value("project") or ".").store.root


def _records(line: CommandLine, beginning: str) -> list[Word]:
    """Return the ids with this beginning, and their titles, from the index: it finds them as quickly among 200,000."""
    from onrecord.search import index, listing

    root = _root(line)
    if not os.path.isdir(root):
        return []
    status = _STATUSES.get(line.parser.name, "active")
    return [
        Word(*id_and_title)
        for id_and_title in listing.named(index.open(root, hook=True), beginning, status, _MAX_WORDS)
    ]


def _tags(line: CommandLine, beginning: str) -> list[Word]:
    from onrecord.search import index, listing

    root = _root(line)
    if not os.path.isdir(root):
        return []
    counts = Counter(listing.newest_tags(index.open(root, hook=True), _MAX_TAGGED_RECORDS))
    return [Word(tag, plural(count, "record")) for tag, count in sorted(counts.items())]


def _drafts(line: CommandLine, beginning: str) -> Iterator[Word]:
    """Yield the names of drafts, the first ones with their titles."""
    from onrecord.record.drafts import Draft
    from onrecord.store import record_names
    from onrecord.store.inbox import Inbox

    box = Inbox(_root(line))
    names = (name[: -len(".json")] for name in record_names.in_folder(box.root, paths.INBOX))
    for number, name in enumerate(name for name in names if name.startswith(beginning)):
        draft = box.find(name) if number < _MAX_DRAFT_TITLES else None
        yield Word(name, draft.record.title if isinstance(draft, Draft) else "")


def _changes(line: CommandLine, beginning: str) -> Iterator[Word]:
    from onrecord.store import history

    for change in reversed(history.read(_root(line))):
        yield Word(change.id, f"{change.action}, {change.at[:10]}")


def _settings(line: CommandLine, beginning: str) -> Iterator[Word]:
    from onrecord.setting_table import SETTINGS

    return (Word(key, setting.doc) for key, setting in SETTINGS.items())


def _setting_values(line: CommandLine, beginning: str) -> Iterator[Word]:
    from onrecord.setting_table import setting

    declared = setting(line.value("key"))
    if declared is None:
        return iter(())
    return map(Word, ("true", "false") if isinstance(declared.default, bool) else declared.choices)


def _fields(line: CommandLine, beginning: str) -> Iterator[Word]:
    """Yield the fields for `--set`: those of the category, and those of every record without an option of their own."""
    from onrecord.record import compose, schema

    category = line.value("category")
    if not category and line.value("id"):
        from onrecord.store.store import Store

        category = Store(_root(line)).get(line.value("id")).memory.category
    own = schema.content_fields(compose.category_of(category)) if category else ()
    for field in (*own, *(field for field in schema.RECORD if field.name in _SETTABLE)):
        yield Word(f"{field.name}=", field.doc)


def _agents(line: CommandLine, beginning: str) -> Iterator[Word]:
    from onrecord.hosts.table import HOSTS

    return (Word(host.name, host.title) for host in HOSTS)


def _remotes(line: CommandLine, beginning: str) -> Iterator[Word]:
    from onrecord.shared import remotes

    return (Word(remote.name, remote.url) for remote in remotes.connected())


_BY_METAVAR: dict[str, Callable[[CommandLine, str], Iterable[Word]]] = {
    "AGENT": _agents,
    "CHANGE": _changes,
    "FIELD=VALUE": _fields,
    "ID": _records,
    "KEY": _settings,
    "NAME": _drafts,
    "NEW": _records,
    "OLD": _records,
    "REMOTE": _remotes,
    "TAG": _tags,
    "VALUE": _setting_values,
}
