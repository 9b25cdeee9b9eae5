"""The terms of a command: those of its program and subcommands, of what it does in English, of options and arguments.

They are the stems of `terms`, so that a command can be compared with the indexed text of a record.
"""

from __future__ import annotations

from onrecord import coldstart
from onrecord.search import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onrecord.session.commands import SimpleCommand

_MAX_CALLS = 6
"""Program calls of one command that are compared with records."""

_MAX_ARGUMENT_TERMS = 24
_MAX_TEXT_TERMS = 40
_MAX_SEQUENCE = 40
_MAX_OPTIONS = 8
_MAX_WORD_CHARACTERS = 200

ORDINARY = frozenset(
    "awk bat bash basename cat cd chmod clear cp curl cut date diff dirname do du echo env eval exit export false file"
    " find fd go grep head id install jq just kill less let ln local ls make man mkdir more mv node open perl php ping"
    " printf ps pwd py python python3 read return rg rm rmdir ruby sed seq set sh shift sleep sort source stat tail tar"
    " task tee test then time timeout top touch tr tree true type uniq unset wait watch wc wget which yes".split()
)
"""Programs that say little about what is done, or whose name is an English word: alone they must be in a title or
trigger."""

_PACKAGE_MANAGERS = frozenset(
    "npm pnpm yarn bun pip pip3 pipx uv poetry pdm pipenv conda cargo go gem bundle composer brew apt apt-get dotnet"
    " nuget mix flutter dart pod".split()
)
_CONCEPTS_OF_SUBCOMMANDS = {
    "add": "depend packag librari instal",
    "get": "depend packag librari",
    "install": "depend packag librari instal",
    "require": "depend packag librari instal",
    "remove": "depend packag uninstal",
    "uninstall": "depend packag remov",
    "update": "depend packag upgrad",
    "upgrade": "depend packag updat",
}
"""What a subcommand of a package manager is about."""

_CONCEPTS: dict[str, str] = {
    "git commit": "commit messag",
    "git push": "push remot branch",
    "git checkout": "branch",
    "git switch": "branch",
    "git branch": "branch",
    "git rebase": "rebas histori",
    "git merge": "merg branch",
    "git tag": "tag releas version",
    "git reset": "discard histori",
    "git stash": "stash",
    "git worktree": "worktre",
    "gh pr": "pull request pr",
    "gh release": "releas",
    "glab mr": "merg request mr",
    "gh issue": "issu",
    "npm publish": "publish releas",
    "cargo publish": "publish releas",
    "twine": "publish releas pypi",
    "npm version": "version bump releas",
    "npm test": "test suit",
    "go test": "test suit",
    "cargo test": "test suit",
    "pytest": "test suit",
    "jest": "test suit",
    "vitest": "test suit",
    "mocha": "test suit",
    "rspec": "test suit",
    "phpunit": "test suit",
    "tox": "test suit",
    "nox": "test suit",
    "playwright": "test e2e browser",
    "cypress": "test e2e browser",
    "eslint": "lint linter",
    "ruff": "lint linter format",
    "flake8": "lint linter",
    "pylint": "lint linter",
    "golangci-lint": "lint linter",
    "biome": "lint linter format",
    "rubocop": "lint linter",
    "cargo clippy": "lint linter",
    "prettier": "format formatt",
    "black": "format formatt",
    "gofmt": "format formatt",
    "cargo fmt": "format formatt",
    "go fmt": "format formatt",
    "tsc": "type typescript check compil",
    "mypy": "type check",
    "pyright": "type check",
    "cargo build": "build compil",
    "go build": "build compil binari",
    "docker build": "build imag docker",
    "docker compose": "contain docker compos",
    "docker-compose": "contain docker compos",
    "docker": "contain docker",
    "podman": "contain",
    "kubectl": "kubernet cluster",
    "helm": "kubernet cluster chart",
    "terraform": "terraform infrastructur",
    "alembic": "migrat databas schema",
    "prisma": "migrat databas schema",
    "psql": "databas sql queri postgr",
    "mysql": "databas sql queri",
    "sqlite3": "databas sql queri",
    "mongosh": "databas queri",
    "redis-cli": "redi",
    "vercel": "deploi",
    "flyctl": "deploi",
    "fly": "deploi",
    "heroku": "deploi",
    "wrangler": "deploi cloudflar",
    "rm": "delet remov",
    "curl": "http request",
    "wget": "download",
    "ssh": "server remot",
    "uvicorn": "server dev start",
    "vite": "server dev",
    "chmod": "permiss",
    "kill": "kill process",
    "pkill": "kill process",
    "cd": "chang directori",
    "pip": "pip python",
    "cmake": "build compil",
}
"""What a program, alone or with a subcommand, is about, as stems."""

_CONCEPTS_OF_SCRIPTS = {
    "dev": "server dev start",
    "start": "server start",
    "serve": "server",
    "build": "build compil",
    "test": "test suit",
    "lint": "lint linter",
    "format": "format formatt",
    "fmt": "format formatt",
    "typecheck": "type check",
    "migrate": "migrat databas schema",
    "makemigrations": "migrat databas schema",
    "migration": "migrat databas schema",
    "deploy": "deploi",
    "publish": "publish releas",
    "release": "releas",
    "e2e": "test e2e",
    "seed": "databas seed",
    "generate": "gener code",
    "codegen": "gener code",
}
"""What a script or target is about, by the words of its name."""


_INSPECTORS = frozenset(
    "awk basename bat cat cd clear cmp cut date df diff dirname du echo egrep env fd fgrep file find grep head id jq"
    " less ls lsof man more nl pgrep ping printf ps pwd readlink realpath rg sed seq sleep sort stat tail test tr tree"
    " true type uname uniq wait wc which xxd [ [[".split()
)
"""Programs that only look at something."""

_WITH_INSPECTIONS = frozenset("git gh glab kubectl docker npm pnpm yarn pip cargo go helm brew aws gcloud".split())
_INSPECTIONS = frozenset(
    "blame branch checks config describe diff fetch get help info inspect list log logs ls ls-files ls-remote ls-tree"
    " merge-base outdated ps reflog remote rev-list rev-parse search shortlog show status version view".split()
)
"""Subcommands that only look at something."""

_DELIVERIES = frozenset((
    *(("git", name) for name in ("commit", "push", "tag", "merge", "rebase")),
    *(("gh", name) for name in ("create", "merge", "ready", "edit")),
    *(("glab", name) for name in ("create", "merge")),
    *((program, "publish") for program in ("npm", "pnpm", "yarn", "cargo", "poetry", "uv")),
))  # fmt: skip


class CommandTerms(coldstart.NamedTuple):
    """The terms of one program call."""

    family: str
    program: tuple[str, ...]
    subcommands: tuple[str, ...]
    runner: tuple[str, ...]
    concepts: tuple[str, ...]
    """Stems of what the command does, in English."""
    options: tuple[tuple[str, ...], ...]
    """The terms of each long option."""
    assigned: tuple[tuple[str, ...], ...]
    """The terms of each name that is assigned to, as in `make TARGET=x`."""
    arguments: tuple[str, ...]
    texts: tuple[str, ...]
    """Terms of quoted texts, such as the message of a commit."""
    sequence: tuple[str, ...]
    """The terms of all words but texts, in order."""
    flags: frozenset[str]
    """Its long options as they are written, without values."""
    is_ordinary: bool
    """True if the program alone says little."""
    is_inspection: bool
    """True if the call only looks at something."""
    is_delivery: bool
    """True if it hands work over: a commit, a push, a pull request, a release."""

    @property
    def spellings(self) -> list[tuple[str, ...]]:
        """The head with each of its options, and the program with each assigned name, as one types them."""
        return [(*self.head, *option) for option in self.options] + [(*self.program, *name) for name in self.assigned]

    @property
    def head(self) -> tuple[str, ...]:
        """Program and subcommands, in order."""
        return (*self.program, *self.subcommands)


def of_calls(simple_commands: Iterable[SimpleCommand]) -> list[CommandTerms]:
    """Return the terms of the program calls of a command, each family once."""
    by_family: dict[str, CommandTerms] = {}
    for simple_command in simple_commands:
        if simple_command.family not in by_family and len(by_family) < _MAX_CALLS:
            by_family[simple_command.family] = of_call(simple_command)
    return list(by_family.values())


def of_call(simple_command: SimpleCommand) -> CommandTerms:
    """Return the terms of a program call."""
    names = [option.partition("=")[0] for option in simple_command.options if option.startswith("--")]
    assigned = [argument.partition("=")[0] for argument in simple_command.arguments if "=" in argument]
    return CommandTerms(
        simple_command.family,
        tuple(terms.stream(simple_command.program)),
        tuple(terms.stream(" ".join(simple_command.subcommands))),
        tuple(terms.stream(simple_command.runner)),
        tuple(_concepts(simple_command.program, simple_command.subcommands)),
        _each(names),
        _each([name for name in assigned if name.isupper()]),
        _bounded(simple_command.arguments, _MAX_ARGUMENT_TERMS),
        _bounded(simple_command.texts, _MAX_TEXT_TERMS),
        _sequence(simple_command.words),
        frozenset(names),
        simple_command.program in ORDINARY,
        _is_inspection(simple_command),
        bool(simple_command.subcommands) and (simple_command.program, simple_command.subcommands[-1]) in _DELIVERIES,
    )


def _each(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    streams = (tuple(terms.stream(name[:_MAX_WORD_CHARACTERS])) for name in names[:_MAX_OPTIONS])
    return tuple(filter(None, streams))


def _sequence(words: Sequence[str]) -> tuple[str, ...]:
    plain = " ".join(word[:_MAX_WORD_CHARACTERS] for word in words if " " not in word and "\n" not in word)
    return tuple(terms.stream(plain)[:_MAX_SEQUENCE])


def _is_inspection(simple_command: SimpleCommand) -> bool:
    program, subcommands = simple_command.program, simple_command.subcommands
    if program in _INSPECTORS:
        return not any(option.startswith(("-i", "--in-place", "-delete")) for option in simple_command.options)
    return bool(subcommands) and subcommands[-1] in _INSPECTIONS and program in _WITH_INSPECTIONS


def _concepts(program: str, subcommands: Sequence[str]) -> dict[str, None]:
    first = subcommands[0] if subcommands else ""
    texts = [_CONCEPTS.get(program, ""), _CONCEPTS.get(f"{program} {first}", "")]
    if program in _PACKAGE_MANAGERS:
        texts += [_CONCEPTS_OF_SUBCOMMANDS.get(word, "") for word in subcommands]
    names = terms.words(" ".join(subcommands)) if program != "git" else []
    texts += [_CONCEPTS_OF_SCRIPTS.get(word, "") for word in names]
    return dict.fromkeys(term for text in texts for term in text.split())


def _bounded(texts: Iterable[str], limit: int) -> tuple[str, ...]:
    distinct_terms: dict[str, None] = {}
    for text in texts:
        for term in terms.stream(text[:_MAX_WORD_CHARACTERS]):
            if len(term) > 1:
                distinct_terms[term] = None
        if len(distinct_terms) >= limit:
            break
    return tuple(distinct_terms)[:limit]


def keys(called: CommandTerms) -> set[str]:
    """Return the keys of a call for the filter: a record that names the call has at least one of them.

    A key is two terms side by side, a term, or a whole trigger (`=term`).
    """
    head = called.head
    pairs = {f"{first} {second}" for first, second in zip(head, head[1:])}
    for option in (*called.options, *called.assigned):
        pairs.update(f"{first} {second}" for first, second in zip(option, option[1:]))
    pairs.update(f"{called.program[-1]} {name[0]}" for name in called.assigned if called.program)
    if len(head) == 1:
        pairs.add(f"={head[0]}" if called.is_ordinary else head[0])
    return pairs
