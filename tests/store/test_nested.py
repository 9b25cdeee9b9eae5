"""Which folders of a repository have a store that a session may read, how many, and how they are named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.store import nested
from tests.git_project import GitProject
from tests.records import put, sample


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    return GitProject(Path(os.path.realpath(tmp_path)) / "mono")


def add_store(root: Path, *folders: str) -> None:
    for folder in folders:
        put(str(root / folder / paths.STORE), sample(id="a"))


def prefixes(refs: list[paths.StoreRef]) -> list[str]:
    return [nested.folder_of(ref.prefix) for ref in refs]


def test_the_stores_above_a_file_are_found_the_nearest_first(project: GitProject) -> None:
    add_store(project.root, "", "a", "a/b/c", "z")
    root = str(project.root)

    assert prefixes(nested.of_files(root, ["a/b/c/d/x.py"])) == ["a/b/c", "a"]
    assert prefixes(nested.of_files(root, ["z/x.py", "a/x.py", "a/y.py"])) == ["z", "a"]
    assert nested.of_files(root, ["x.py", "../x.py", "/etc/passwd"]) == []
    assert prefixes(nested.of_files(root, [f"{root}/a/x.py"])) == ["a"]
    assert nested.of_files("", ["a/x.py"]) == []
    (ref,) = nested.of_files(root, ["a/x.py"])
    assert ref == paths.StoreRef(f"{root}/a/.claude/memory", "a/.claude/memory/")


def test_eight_stores_are_read_and_folders_up_to_twelve_deep(project: GitProject) -> None:
    folders = ["/".join("abcdefghijklm"[: depth + 1]) for depth in range(13)]
    add_store(project.root, *folders)
    root = str(project.root)

    assert prefixes(nested.of_files(root, [f"{folders[-1]}/x.py"])) == folders[11:3:-1]
    assert prefixes(nested.at(root, folders)) == folders[11:3:-1]
    assert prefixes(nested.at(root, ["a", "none", "a/b"])) == ["a/b", "a"]


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("in packages/web", ["packages/web"]),
        ("fix `packages/web/src/a.ts`.", ["packages/web"]),
        ("(see ./packages/web/)", ["packages/web"]),
        ('"packages/web", and api?', ["packages/web", "api"]),
        ("[api](x) and <api>", ["api"]),
        ("api/x packages/web/y", ["packages/web", "api"]),
        ("packages/webb or the/packages/web", []),
        ("packages", []),
        ("", []),
    ],
)
def test_a_text_names_a_folder_as_a_whole_word_or_a_path_below_it(
    project: GitProject, text: str, folders: list[str]
) -> None:
    add_store(project.root, "packages/web", "api")
    project.commit()

    assert prefixes(nested.named_in(str(project.root), text)) == folders


@pytest.mark.parametrize(
    "name", ["web", "a.b", "a_b", "a-b", "c++", "@scope", "größe"]
)  # fmt: skip
def test_a_folder_with_a_plain_name_is_the_projects_own(project: GitProject, name: str) -> None:
    add_store(project.root, name)

    assert prefixes(nested.at(str(project.root), [name])) == [name]


@pytest.mark.parametrize(
    "name",
    [".hidden", "-flag", "a b", "a;b", "a$b", "node_modules", "bower_components", "vendor", "third_party",
     "site-packages", "dist-packages", "Pods", "target", "dist", "build"],
)  # fmt: skip
def test_a_folder_of_others_or_with_a_name_for_a_shell_is_not_read(project: GitProject, name: str) -> None:
    add_store(project.root, name, f"{name}/inner")

    assert nested.at(str(project.root), [name, f"{name}/inner"]) == []
    assert nested.of_files(str(project.root), [f"{name}/inner/x.py"]) == []


def test_the_stores_above_a_project_are_those_up_to_its_repository(project: GitProject) -> None:
    add_store(project.root.parent, "")
    add_store(project.root, "", "a/b", "a/b/c")
    root = str(project.root)

    assert nested.above(f"{root}/a/b/c") == [
        paths.StoreRef(f"{root}/a/b/.claude/memory", "../.claude/memory/"),
        paths.StoreRef(f"{root}/.claude/memory", "../../../.claude/memory/"),
    ]
    assert nested.above(root) == []
    (project.root / "a/b/.git").mkdir()
    assert nested.above(f"{root}/a/b/c") == [paths.StoreRef(f"{root}/a/b/.claude/memory", "../.claude/memory/")]


def test_a_repository_eleven_folders_above_is_found_and_one_further_up_is_not(project: GitProject) -> None:
    add_store(project.root, "")
    deep = project.root.joinpath(*"abcdefghijkl")
    deep.mkdir(parents=True)

    assert [ref.prefix for ref in nested.above(str(deep.parent))] == ["../" * 11 + ".claude/memory/"]
    assert nested.above(str(deep)) == []


def test_eight_stores_above_are_read(project: GitProject) -> None:
    folders = ["/".join("abcdefghi"[: depth + 1]) for depth in range(9)]
    add_store(project.root, "", *folders)

    assert len(nested.above(str(project.root / folders[-1]))) == 8


def test_the_home_folder_and_what_is_above_is_no_repository(home: Path) -> None:
    add_store(home, "work", "work/a")
    (home / ".git").mkdir()

    assert nested.above(str(home / "work/a")) == []
    (home / "work/.git").mkdir()
    assert len(nested.above(str(home / "work/a"))) == 1


def test_an_agent_is_told_of_each_store_and_how_many_records_it_has(project: GitProject) -> None:
    long, longer = "a" * 60, "b" * 61
    add_store(project.root, "packages/web", long, longer, "größe")
    put(str(project.root / "packages/web" / paths.STORE), sample(id="b"))
    assert nested.line(str(project.root)) == ""
    project.commit()

    assert set(nested.line(str(project.root)).replace(" has its own memory", "").split("; ")) == {
        "packages/web: 2 records", f"{long}: 1 record", "a folder of this repository: 1 record"
    }  # fmt: skip
    assert nested.line(str(project.root)).count("has its own memory") == 1
    assert nested.line(str(project.root)).count("a folder of this repository") == 2


def test_an_agent_is_told_of_eight_stores(project: GitProject) -> None:
    add_store(project.root, *"abcdefghi")
    project.commit()

    assert nested.line(str(project.root)).count(": 1 record") == 8


def test_a_store_that_is_not_in_git_is_known_once_it_was_noted(project: GitProject) -> None:
    root = str(project.root)
    add_store(project.root, "tracked")
    project.commit()
    add_store(project.root, "new")
    assert nested.known(root) == ["tracked"]

    nested.note(root, nested.at(root, ["new", "tracked"]))

    assert nested.known(root) == ["tracked", "new"]
    project.write("x", "x")
    project.commit()
    assert sorted(nested.known(root)) == ["new", "tracked"]
    assert nested.known("") == []


def test_sixty_four_folders_are_known(project: GitProject) -> None:
    root = str(project.root)
    folders = [f"f{number:02}" for number in range(66)]
    add_store(project.root, *folders)
    nested.note(root, nested.at(root, folders[:1]))
    for folder in folders:
        nested.note(root, nested.at(root, [folder]))

    assert nested.known(root) == folders[:64]
    project.commit()
    assert nested.known(root) == folders[:64]


def test_a_project_in_a_folder_of_its_repository_knows_the_folders_below_it(project: GitProject) -> None:
    add_store(project.root, "sub/a", "other")
    project.commit()

    assert nested.known(str(project.root / "sub")) == ["a"]


def test_without_git_nothing_is_known_but_what_was_noted(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    add_store(tmp_path, "a")

    assert nested.known(root) == []
    nested.note(root, nested.at(root, ["a"]))
    assert nested.known(root) == ["a"]
