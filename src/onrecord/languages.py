"""Programming languages that a record can be limited to, each with the names and endings of files that tell of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
