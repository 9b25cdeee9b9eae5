"""The scope of a record as one text, and the languages that file names are signs of."""

from __future__ import annotations

import json

import pytest

from onrecord import scopes
from onrecord.scopes import Scope

SIGNS = {
    "c": "main.c", "clojure": "deps.edn project.clj core.clj", "cpp": "a.cpp a.cc a.cxx a.hpp",
    "csharp": "App.csproj A.cs", "css": "a.css a.scss", "dart": "pubspec.yaml a.dart", "elixir": "mix.exs a.ex a.exs",
    "erlang": "rebar.config a.erl", "go": "go.mod a.go", "haskell": "stack.yaml a.cabal A.hs", "html": "index.html",
    "java": "pom.xml A.java", "javascript": "package.json a.js a.jsx a.mjs", "julia": "Project.toml a.jl",
    "kotlin": "build.gradle.kts A.kt", "lua": "a.lua", "nix": "flake.nix a.nix", "ocaml": "dune-project a.ml",
    "perl": "cpanfile a.pl a.pm", "php": "composer.json a.php", "powershell": "a.ps1",
    "python": "pyproject.toml setup.py setup.cfg requirements.txt Pipfile a.py", "r": "DESCRIPTION a.r a.R",
    "ruby": "Gemfile a.rb", "rust": "Cargo.toml a.rs", "scala": "build.sbt A.scala", "shell": "a.sh a.bash",
    "sql": "a.sql", "swift": "Package.swift a.swift", "terraform": "a.tf", "typescript": "tsconfig.json a.ts a.tsx",
    "zig": "build.zig a.zig",
}  # fmt: skip


def test_the_files_that_show_that_a_project_uses_a_language():
    assert {name: scopes.languages_of(files.split()) for name, files in SIGNS.items()} == {
        name: {name} for name in scopes.LANGUAGES
    }
    assert [scopes.languages_of([name]) for files in SIGNS.values() for name in files.split()] == [
        {language} for language, files in SIGNS.items() for _ in files.split()
    ]


@pytest.mark.parametrize("name", ["README", "a.txt", "py", "a.py.orig", "gomod", ""])
def test_a_file_of_no_language(name):
    assert scopes.languages_of([name]) == set()


def test_the_languages_of_several_files():
    assert scopes.languages_of(["a.py", "b.rs", "c.txt", "d.py"]) == {"python", "rust"}


@pytest.mark.parametrize("kind", ["paths", "branches", "repositories", "languages"])
def test_a_scope_is_packed_with_forty_patterns_of_each_kind(kind):
    patterns = tuple(f"p{number}" for number in range(41))

    unpacked = scopes.unpack(scopes.pack(Scope(**{kind: patterns})))

    assert unpacked == Scope(**{kind: patterns[:40]})


def test_a_scope_packed_and_unpacked_is_the_same():
    scope = Scope(("src/",), ("main",), ("github.com/acme/*",), ("python",))

    assert scopes.unpack(scopes.pack(scope)) == scope
    assert json.loads(scopes.pack(scope)) == [["github.com/acme/*"], ["python"], ["src/"], ["main"]]
    assert (scopes.pack(Scope()), scopes.unpack("")) == ("", Scope())
