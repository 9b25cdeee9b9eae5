"""`onrecord completion SHELL`: the script that lets bash, zsh or fish complete commands, options, ids and settings.

Each script asks `onrecord __complete` and quotes what comes back: strangers choose the names of records and drafts.
It asks the `onrecord` of the path alone. A program of that name in the folder is not run by pressing Tab.
"""

from __future__ import annotations

import argparse

from onrecord.cli.output import CommandResult

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell that you type commands in")


def run(args: argparse.Namespace) -> CommandResult:
    script = SCRIPTS[args.shell]
    return CommandResult({"shell": args.shell, "script": script}, lambda screen: script)
