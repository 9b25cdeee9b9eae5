"""The simple commands of a shell line: program, subcommands, options and arguments of each, and its family.

A family is what two runs of the same kind of command share: `npm install x` and `sudo npm i y` are `npm install`.
"""

from __future__ import annotations

from onrecord import coldstart
from onrecord.session import shell_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_CHARACTERS = 20_000
"""Characters of a command that are read at all, with its here-documents."""

_MAX_READ = 4_000
"""Characters that are split into words, without here-documents: a longer line is a script."""

_MAX_COMMANDS = 16
_MAX_WORDS = 40
"""Words of one simple command; a longer list is one of files."""

_MAX_NAME = 32
_SHELLS = ("bash", "sh", "zsh")
_KEYWORDS = frozenset("for done fi esac case in function select".split())
_MAX_DEPTH = 3
"""Programs that run each other: `sudo poetry run python -m pytest`."""

_WITHOUT_SUBCOMMANDS = frozenset(
    "awk base64 basename bash bat cat cd chmod chown clear cmp code comm cp curl cut date dd df diff dirname du echo"
    " egrep exit export false fd fgrep file find gawk grep head hexdump id install jq kill less ln ls lsof man"
    " md5sum mkdir mktemp more mv nano nc nl node od open patch paste perl pgrep ping pkill printf ps psql pushd popd"
    " pwd python python3 py read readlink realpath rg rm rmdir rsync ruby scp sed seq set sh shasum sha256sum sleep"
    " sort source split sqlite3 ssh stat strings tail tar tee test touch tr tree true type uname uniq"
    " unset unzip vi vim wait watch wc wget which while xxd yes zip zsh [ [["
    " black eslint flake8 gofmt jest mocha mypy phpunit prettier pylint pyright pytest rspec rustfmt tsc vitest".split()
)
"""Programs whose first word is an argument, not a subcommand."""

_SECOND_LEVEL = {
    "aws": "",
    "az": "",
    "gcloud": "",
    "gh": "",
    "glab": "",
    "bundle": "exec",
    "cargo": "make",
    "docker": "buildx compose container image network system volume",
    "docker-compose": "exec run",
    "dotnet": "ef tool",
    "git": "bisect config flow remote stash submodule worktree",
    "go": "mod tool work",
    "kubectl": "config rollout create",
    "npm": "run run-script",
    "pnpm": "run",
    "yarn": "run workspace",
    "bun": "run",
    "poetry": "env self",
    "prisma": "db migrate",
    "supabase": "db functions migration",
    "terraform": "state workspace",
    "uv": "pip tool",
}
"""Programs whose second word, too, belongs to the family, after these first words; after any if there are none."""

_SUBCOMMAND_NAMES = {
    **dict.fromkeys((("npm", "i"), ("pnpm", "i"), ("bun", "i"), ("npm", "in"), ("npm", "ci")), "install"),
    ("npm", "run-script"): "run",
    ("npm", "t"): "test",
    ("npm", "rm"): "uninstall",
}
"""Short forms of subcommands."""

_RUNNERS = {
    "bun": ("x",),
    "bundle": ("exec",),
    "bunx": (),
    "docker": ("exec", "run"),
    "doppler": ("run",),
    "dotenv": (),
    "hatch": ("run",),
    "npm": ("exec", "x"),
    "npx": (),
    "pdm": ("run",),
    "pipenv": ("run",),
    "pipx": ("run",),
    "pnpm": ("dlx", "exec"),
    "poetry": ("run",),
    "rye": ("run",),
    "uv": ("run",),
    "uvx": (),
    "yarn": ("dlx", "exec"),
}
"""Programs that run another one, after one of these subcommands; without any at once."""

_OPTIONS_WITH_VALUE = frozenset(
    "-C -c -u -m -F --git-dir --work-tree --context --namespace -n --prefix --filter --workspace --cwd --dir"
    " --manifest-path --project -p --profile -f --file --env-file --with --python --group --extra --package".split()
)
"""Options before a subcommand whose next word is their value."""


_KNOWN = frozenset(_SECOND_LEVEL) | frozenset(
    "apt apt-get brew cargo cmake composer conda deno eslint flask gem gradle helm jest make mix mvn mypy npx php pip"
    " pip3 prettier pytest rails rspec ruff rustc tsc tox vite vitest".split()
)
"""Programs that everybody knows."""


class SimpleCommand(coldstart.NamedTuple):
    """One program call of a shell line."""

    program: str
    subcommands: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    """The other words that are not text, with redirections."""
    texts: tuple[str, ...] = ()
    """Quoted words with spaces, such as the message of a commit or a script."""
    words: tuple[str, ...] = ()
    """All words from the program on, in order."""
    runner: str = ""
    """What runs the program, such as `uv run` or `npx`; empty if the shell does."""

    @property
    def family(self) -> str:
        """Program and subcommands, in lower case."""
        return " ".join(filter(None, (self.runner, self.program, *self.subcommands)))


def parse(command: str) -> tuple[SimpleCommand, ...]:
    """Return the simple commands of a shell line, within bounds."""
    line = shell_words.without_documents(command[:MAX_CHARACTERS])
    calls: list[SimpleCommand] = []
    for words in shell_words.parts(line, _MAX_READ):
        # `"$(cat <<EOF …)"` is how agents write a text of several lines.
        is_text = len(words) == 3 and words[:2] == ["cat", "<<"]
        calls += _calls(words[:_MAX_WORDS]) if not is_text else []
        if len(calls) >= _MAX_COMMANDS:
            break
    return tuple(calls[:_MAX_COMMANDS])


def _calls(words: list[str]) -> list[SimpleCommand]:
    """Return the program call of a simple command; empty if there is none."""
    words = [word for word in words if word.strip("(){}")]
    start = shell_words.first_program(words)
    if start < 0 or words[start] in _KEYWORDS:
        return []
    runner: list[str] = []
    for _ in range(_MAX_DEPTH):
        path = _path_to_inner(_name(words[start]), words, start)
        if not path:
            break
        runner += [_name(words[start]), *(words[place].lower() for place in path[:-1])]
        start = path[-1]
        start += max(shell_words.first_program(words[start:]), 0)
    call = _call(words[start:])
    if call.program in _SHELLS and "-c" in call.options and call.texts:
        return [
            inner_call
            for line in shell_words.parts(call.texts[0], _MAX_READ)
            for inner_call in _calls(line[:_MAX_WORDS])
        ]
    return [call._replace(runner=" ".join(runner))] if call.program else []


def _name(word: str) -> str:
    return shell_words.program_name(word.lstrip("$(`").rstrip(")`")).removesuffix(".exe")[:_MAX_NAME]


def _path_to_inner(program: str, words: Sequence[str], start: int) -> list[int]:
    """Return the positions of a runner's subcommand and of the program that it runs; empty if it runs none."""
    if program in ("python", "python3", "py"):
        return [start + 2] if words[start + 1 : start + 2] == ["-m"] and start + 2 < len(words) else []
    subcommands = _RUNNERS.get(program)
    plain = list(_plain(words, start + 1))
    if subcommands is None:
        # Teams have wrappers of their own: what runs a program that everybody knows is one.
        is_wrapper = program not in _KNOWN and program not in _WITHOUT_SUBCOMMANDS
        return plain[:1] if is_wrapper and plain and words[plain[0]] in _KNOWN else []
    if not subcommands:
        return plain[:1]
    if not plain or words[plain[0]] not in subcommands:
        return []
    inner = plain[2:3] if program == "docker" else plain[1:2]
    return [plain[0], *inner] if inner else []


def _plain(words: Sequence[str], start: int) -> Iterator[int]:
    """Yield the positions of the words that are neither options nor their values, assignments or redirections."""
    is_value = False
    for place in range(start, len(words)):
        word = words[place]
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in _OPTIONS_WITH_VALUE
        elif shell_words.is_redirection(word):
            is_value = True
        elif not shell_words.is_assignment(word):
            yield place


def _call(words: Sequence[str]) -> SimpleCommand:
    program = _name(words[0])
    if not any(map(str.isalnum, program)) and program not in ("[", "[["):
        return SimpleCommand("")
    places = _subcommand_places(program, words)
    rest = [word for place, word in enumerate(words) if place and place not in places]
    return SimpleCommand(
        program,
        tuple(_SUBCOMMAND_NAMES.get((program, words[place].lower()), words[place].lower()) for place in places),
        tuple(word for word in rest if _is_option(word)),
        tuple(word for word in rest if not _is_option(word) and not _is_text(word)),
        tuple(filter(_is_text, rest)),
        tuple(words),
    )


def _subcommand_places(program: str, words: Sequence[str]) -> list[int]:
    if program in _WITHOUT_SUBCOMMANDS:
        return []
    plain = list(_plain(words, 1))[:2]
    if not plain or not _is_name(words[plain[0]]):
        return []
    second = _SECOND_LEVEL.get(program)
    has_second = second is not None and (not second or words[plain[0]] in second.split())
    return plain if has_second and len(plain) == 2 and _is_name(words[plain[1]]) else plain[:1]


def _is_name(word: str) -> bool:
    """True for a word that may be a subcommand, not a path, a version or a value."""
    plain = word.replace("-", "").replace("_", "").replace(":", "")
    return word[:1].isalpha() and plain.isalnum() and plain.isascii() and len(word) <= _MAX_NAME


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not _is_text(word)


def _is_text(word: str) -> bool:
    return " " in word or "\n" in word or "\t" in word
