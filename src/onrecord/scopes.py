"""Where a record applies, as the index holds it: repositories, languages, paths and branches, in one text."""

from __future__ import annotations

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST = 40
"""Patterns of one kind that count; a record may list a few more."""


class Limits(coldstart.NamedTuple):
    """Patterns of each kind; one of each that is there must fit."""

    repositories: Sequence[str] = ()
    languages: Sequence[str] = ()
    paths: Sequence[str] = ()
    branches: Sequence[str] = ()


def pack(limits: Limits) -> str:
    """The limits as one text; empty for a record that applies everywhere."""
    return coldstart.dumps([list(each[:_MOST]) for each in limits]) if any(limits) else ""


def unpack(text: str) -> Limits:
    """What `pack` packed."""
    return Limits(*coldstart.loads(text)) if text else Limits()


LANGUAGES: dict[str, tuple[str, ...]] = {
    "c": (".c",),
    "clojure": ("deps.edn", "project.clj", ".clj"),
    "cpp": (".cpp", ".cc", ".cxx", ".hpp"),
    "csharp": (".csproj", ".cs"),
    "css": (".css", ".scss"),
    "dart": ("pubspec.yaml", ".dart"),
    "elixir": ("mix.exs", ".ex", ".exs"),
    "erlang": ("rebar.config", ".erl"),
    "go": ("go.mod", ".go"),
    "haskell": ("stack.yaml", ".cabal", ".hs"),
    "html": (".html",),
    "java": ("pom.xml", ".java"),
    "javascript": ("package.json", ".js", ".jsx", ".mjs"),
    "julia": ("Project.toml", ".jl"),
    "kotlin": ("build.gradle.kts", ".kt"),
    "lua": (".lua",),
    "nix": ("flake.nix", ".nix"),
    "ocaml": ("dune-project", ".ml"),
    "perl": ("cpanfile", ".pl", ".pm"),
    "php": ("composer.json", ".php"),
    "powershell": (".ps1",),
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", ".py"),
    "r": ("DESCRIPTION", ".r", ".R"),
    "ruby": ("Gemfile", ".rb"),
    "rust": ("Cargo.toml", ".rs"),
    "scala": ("build.sbt", ".scala"),
    "shell": (".sh", ".bash"),
    "sql": (".sql",),
    "swift": ("Package.swift", ".swift"),
    "terraform": (".tf",),
    "typescript": ("tsconfig.json", ".ts", ".tsx"),
    "zig": ("build.zig", ".zig"),
}
_BY_MARK = {mark: language for language, marks in LANGUAGES.items() for mark in marks}


def of(names: Iterable[str]) -> set[str]:
    """The languages that some names of files tell of."""
    languages: set[str] = set()
    for name in names:
        ending = name[name.rfind(".") :] if "." in name else ""
        languages.update(_BY_MARK[mark] for mark in (name, ending) if mark in _BY_MARK)
    return languages
