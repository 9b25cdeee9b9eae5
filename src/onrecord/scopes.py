"""The scope of a record (where it applies), its form in the index, and the languages that a scope may name."""

from __future__ import annotations

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_MAX_PATTERNS = 40
"""Patterns of one kind in the index; a record may list a few more."""

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
"""The file names and endings that show that a project uses a language."""

_LANGUAGE_BY_SIGN = {sign: language for language, signs in LANGUAGES.items() for sign in signs}


class Scope(coldstart.NamedTuple):
    """Patterns that limit where a record applies. For each kind that has patterns, one of them must match."""

    paths: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    unknown: Mapping[str, Any] = {}


def pack(scope: Scope) -> str:
    """Return the patterns of `scope` as one text, empty for a record that applies everywhere."""
    kinds = (scope.repositories, scope.languages, scope.paths, scope.branches)
    return coldstart.dumps([list(patterns[:_MAX_PATTERNS]) for patterns in kinds]) if any(kinds) else ""


def unpack(text: str) -> Scope:
    """Return the scope that `pack` wrote."""
    if not text:
        return Scope()
    repositories, languages, paths, branches = map(tuple, coldstart.loads(text))
    return Scope(paths, branches, repositories, languages)


def languages_of(file_names: Iterable[str]) -> set[str]:
    """Return the languages that `file_names` are signs of."""
    languages: set[str] = set()
    for name in file_names:
        ending = name[name.rfind(".") :] if "." in name else ""
        languages.update(_LANGUAGE_BY_SIGN[sign] for sign in (name, ending) if sign in _LANGUAGE_BY_SIGN)
    return languages
