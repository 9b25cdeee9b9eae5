"""`onrecord completion SHELL`: the script that lets bash, zsh or fish complete commands, options, ids and settings.

Each script asks `onrecord __complete` and quotes what comes back: strangers choose the names of records and drafts.
It asks the `onrecord` of the path alone. A program of that name in the folder is not run by pressing Tab.
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

_MOST = 200
"""Words in an answer: a shell asks before it lists as many."""

_MOST_RECORDS_READ = 5_000
"""Records whose tags are counted, the newest first."""

_MOST_DRAFTS_READ = 50
_DESCRIPTION = 60
_STATUS = {"restore": "retired", "unarchive": "archived"}
"""Commands for records of one status alone; the others get active ones offered."""

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
    """Something that may be typed, and what it is."""

    text: str
    meaning: str = ""


class CommandLine(NamedTuple):
    """The words before the one that is typed, by the arguments they are for, and what that one is for."""

    parser: Parser
    values: dict[str, list[str]]
    """What was given for each argument and option, by its name."""
    awaited: argparse.Action | None
    """The option or argument whose value is typed; None where nothing more is taken."""
    is_value: bool
    """Whether it is the value of an option, which may begin with a hyphen."""
    actions: tuple[argparse.Action, ...] = ()
    """The actions of the command, if one of them may come next."""

    def value(self, name: str) -> str:
        """The last value of an argument or option; empty if there is none."""
        return (self.values.get(name) or [""])[-1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell that you type commands in")


def run(args: argparse.Namespace) -> CommandResult:
    script = SCRIPTS[args.shell]
    return CommandResult({"shell": args.shell, "script": script}, lambda screen: script)


def print_candidates(words: Sequence[str]) -> int:
    """Print the answer; where something is wrong there is nothing to offer, and no place to say so."""
    shell, *typed = map(unquote, words) if words[:1] == ["bash"] else words or [""]
    try:
        offered = candidates(typed[:-1], "".join(typed[-1:]), splits_values=shell == "bash")
    except (OnrecordError, OSError):
        offered = []
    if offered is None:
        say("files", Screen())
        return 0
    lines = [f"{word.text}\t{fit(clean(word.meaning), _DESCRIPTION)}" for word in offered]
    say("\n".join(["words", *lines]), Screen())
    return 0


def candidates(before: list[str], last: str, *, splits_values: bool) -> list[Word] | None:
    """What may stand in the place of the last word; None for the name of a file."""
    from onrecord.cli import common_parser, parser_of

    before, last, head = split_values(before, last)
    line = parse_line(common_parser(), before)
    at = line.parser.first_word(before)
    if at < len(before) and before[at] != "help":
        if before[at] not in COMMANDS:
            return []
        line = parse_line(parser_of(before[at]), [*before[:at], *before[at + 1 :]])
    elif not line.is_value and not last.startswith("-"):
        return _matching((Word(name, row.summary) for name, row in COMMANDS.items()), last)
    if last.startswith("-") and not line.is_value:
        return _matching(_options(line), last)
    offered = _offered(line, last)
    return None if offered is None else _matching(offered, last, "" if splits_values else head)


def _matching(offered: Iterable[Word], beginning: str, head: str = "") -> list[Word]:
    """The words with a beginning, each behind the option that it is the value of."""
    whole = (word for word in offered if word.text.startswith(beginning) and word.text.isprintable())
    return [word._replace(text=head + word.text) for word in islice(whole, _MOST)]


def split_values(before: list[str], last: str) -> tuple[list[str], str, str]:
    """The words with each `--option=value` as two, and what stands before the value that is typed.

    bash has split them already, with the sign as a word of its own.
    """
    words: list[str] = []
    for word in before:
        option, equals, value = word.partition("=")
        if word == "=" and _is_option(words):
            continue
        words += [option, value] if equals and option.startswith("--") else [word]
    if last == "=" and _is_option(words):
        return words, "", ""
    option, equals, value = last.partition("=")
    if equals and option.startswith("--"):
        return [*words, option], value, f"{option}="
    return words, last, ""


def _is_option(words: list[str]) -> bool:
    return bool(words) and words[-1].startswith("--")


def unquote(word: str) -> str:
    """A word as the command will get it, from the way it is typed."""
    try:
        parts = shlex.split(word)
    except ValueError:  # a quote that is still open
        return word.lstrip("'\"")
    return parts[0] if len(parts) == 1 else word


def parse_line(parser: Parser, words: list[str]) -> CommandLine:
    """The line before the word that is typed."""
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
    """The options that may still be given."""
    for action in line.parser._actions:
        is_repeatable = isinstance(action, argparse._AppendAction)
        if action.option_strings and (is_repeatable or action.dest not in line.values):
            yield Word(action.option_strings[-1], (action.help or "").replace("%%", "%"))


def _offered(line: CommandLine, beginning: str) -> Iterable[Word] | None:
    """What the awaited option or argument takes; None for the name of a file, nothing for free text."""
    action = line.awaited
    if line.actions and not line.is_value:
        words = [Word(each.dest, each.help or "") for each in line.actions]
        default = _BY_METAVAR.get(str(action.metavar)) if action else None
        return [*words, *(default(line, beginning) if default else ())]
    if action is None:
        return ()
    if action.choices:
        return map(Word, map(str, action.choices))
    if action.metavar in ("FILE", "DIR", "PATH", "O", "A", "B"):
        return None
    if action.dest == "category":
        return _categories()
    offer = _BY_METAVAR.get(str(action.metavar))
    return offer(line, beginning) if offer else ()


def _categories() -> Iterator[Word]:
    from onrecord.categories import CATEGORIES

    return (Word(category.name) for category in CATEGORIES.values())


def _root(line: CommandLine) -> str:
    """The store that the line is about."""
    if "user" in line.values:
        return paths.user_store()
    if "remote" in line.values:
        return paths.replica(line.value("remote")).root
    from onrecord.project import Project

    return Project(line.value("project") or ".").store.root


def _records(line: CommandLine, beginning: str) -> list[Word]:
    """The ids with a beginning, and their titles: asked of the index, which knows 200,000 as quickly as ten."""
    from onrecord.search import index, listing

    root = _root(line)
    if not os.path.isdir(root):
        return []
    status = _STATUS.get(line.parser.name, "active")
    return [Word(*each) for each in listing.named(index.open(root, hook=True), beginning, status, _MOST)]


def _tags(line: CommandLine, beginning: str) -> list[Word]:
    from onrecord.search import index, listing

    root = _root(line)
    if not os.path.isdir(root):
        return []
    counts = Counter(listing.newest_tags(index.open(root, hook=True), _MOST_RECORDS_READ))
    return [Word(tag, plural(count, "record")) for tag, count in sorted(counts.items())]


def _drafts(line: CommandLine, beginning: str) -> Iterator[Word]:
    """The drafts by their names; of the first few the titles are read, too."""
    from onrecord.record.drafts import Draft
    from onrecord.store import record_names
    from onrecord.store.inbox import Inbox

    box = Inbox(_root(line))
    names = (name[: -len(".json")] for name in record_names.in_folder(box.root, paths.INBOX))
    for number, name in enumerate(name for name in names if name.startswith(beginning)):
        draft = box.find(name) if number < _MOST_DRAFTS_READ else None
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
    """What `--set` is for: the fields of the category, and those of every record that have no option of their own."""
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

    return (Word(each.name, each.url) for each in remotes.connected())


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
