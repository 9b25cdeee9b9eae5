"""Monorepos: a session reads the stores of the folders that it touches or names, and those above it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths
from onrecord.cli import main
from onrecord.hooks import handle, render
from onrecord.hooks.event_stores import find_event_stores
from onrecord.hosts import table
from onrecord.hosts.events import Payload
from onrecord.project import Project
from onrecord.store import nested
from tests.git_project import GitProject

WEB = "packages/web"
WEB_FILE = f"{WEB}/src/form.ts"
WEB_RULE = "Forms are validated with zod"
ROOT_RULE = "Money is an integer of cents"
ASKS = "how are forms validated, and with which library?"


def decision(title: str, *files: str, **fields: Any) -> dict[str, Any]:
    content = {"decision": f"{title}.", "context": "Two ways were in use", "rationale": ["one way"]}
    return {"title": title, "related_files": list(files), "content": content, **fields}


def save(folder: Path, record: dict[str, Any]) -> None:
    """Save a record in the store of `folder`, which is made first: else the store above would be the nearest."""
    (folder / paths.STORE).mkdir(parents=True, exist_ok=True)
    Project(str(folder)).save("decision", record)


@pytest.fixture
def monorepo(tmp_path: Path) -> GitProject:
    """A repository with a store of its own and one in packages/web, all committed."""
    project = GitProject(tmp_path / "mono")
    project.write(WEB_FILE, "export {}\n")
    project.write("src/money.py", "cents = 1\n")
    project.write("packages/api/main.go", "package main\n")
    save(project.root, decision(ROOT_RULE, "src/money.py", triggers=["how is money stored?"]))
    save(project.root / WEB, decision(WEB_RULE, "src/form.ts", triggers=[ASKS]))
    project.commit()
    return project


class Session:
    """A session of Claude Code that starts in a folder."""

    def __init__(self, cwd: Path, name: str = "s") -> None:
        self.cwd, self.name = str(cwd), name

    def __call__(self, event: str, **fields: Any) -> str:
        given = {"session_id": self.name, "cwd": self.cwd, "transcript_path": "", **fields}
        stores = find_event_stores(given, has_digest=event == "session_start")
        host = table.module("claude-code")
        assert stores
        return render(host, read := host.read(event, Payload(given)), handle(read._replace(host="claude-code"), stores))

    def prompt(self, prompt: str) -> str:
        return self("user_prompt_submit", prompt=prompt)

    def read(self, file: str) -> str:
        return self("pre_tool_use", tool_name="Read", tool_input={"file_path": os.path.join(self.cwd, file)})

    def shell(self, command: str) -> str:
        return self("pre_tool_use", tool_name="Bash", tool_input={"command": command})


def test_a_file_brings_the_records_of_its_folders_own_store(monorepo):
    text = Session(monorepo.root).read(WEB_FILE)

    assert WEB_RULE in text
    assert f"{WEB}/.claude/memory/decisions/" in text
    assert ROOT_RULE not in text


def test_so_does_a_command_that_names_the_file(monorepo):
    assert WEB_RULE in Session(monorepo.root).shell(f"cat {WEB_FILE}")


def test_a_file_elsewhere_brings_none_of_them(monorepo):
    save(monorepo.root / WEB, decision("Money on the page is formatted", "src/money.py"))
    text = Session(monorepo.root).read("src/money.py")

    assert ROOT_RULE in text
    assert "formatted" not in text


def test_related_files_are_relative_to_the_nested_folder(monorepo):
    monorepo.write("src/form.ts", "not this one\n")

    assert Session(monorepo.root).read("src/form.ts") == ""


def test_a_changed_file_of_the_nested_folder_is_named_as_its_record_does(monorepo):
    monorepo.write(WEB_FILE, "export const a = 1\n")

    assert "verify: `src/form.ts` changed" in Session(monorepo.root).read(WEB_FILE)


@pytest.mark.parametrize(
    "prompt", [f"in {WEB}: {ASKS}", f"{ASKS} (see `{WEB_FILE}`)", f"./{WEB}/ {ASKS}", f"{WEB}, {ASKS}"]
)
def test_a_prompt_that_names_the_folder_is_answered_from_its_store(monorepo, prompt):
    assert WEB_RULE in Session(monorepo.root).prompt(prompt)


@pytest.mark.parametrize("prompt", [ASKS, f"in packages/webinar: {ASKS}", f"in packages: {ASKS}", f"in web: {ASKS}"])
def test_a_prompt_that_does_not_name_it_is_not(monorepo, prompt):
    assert WEB_RULE not in Session(monorepo.root).prompt(prompt)


def test_a_session_that_has_touched_the_folder_reads_its_store_at_prompts(monorepo):
    session = Session(monorepo.root)
    monorepo.write(f"{WEB}/src/other.ts", "")
    assert session.read(f"{WEB}/src/other.ts") == ""

    assert WEB_RULE in session.prompt(ASKS)
    assert WEB_RULE not in Session(monorepo.root, "another").prompt(ASKS)


def test_what_it_was_shown_comes_again_after_a_compaction(monorepo):
    session = Session(monorepo.root)
    session.read(WEB_FILE)

    assert WEB_RULE in session("session_start", source="compact")
    assert WEB_RULE in session("session_start", source="compact")


def test_a_store_that_is_not_in_git_yet_is_known_once_it_was_touched(monorepo):
    api = monorepo.root / "packages" / "api"
    save(api, decision("Handlers return problem details", "main.go", triggers=["what do handlers return?"]))
    asks = "what do handlers return? in packages/api"
    assert "problem details" not in Session(monorepo.root, "a").prompt(asks)

    assert "problem details" in Session(monorepo.root, "b").read("packages/api/main.go")
    assert "problem details" in Session(monorepo.root, "c").prompt(asks)


def test_a_nested_record_hides_the_one_of_the_same_id_at_the_root(monorepo):
    save(monorepo.root, decision("One way to log", WEB_FILE))
    other = decision("One way to log", "src/form.ts")
    save(monorepo.root / WEB, {**other, "content": {**other["content"], "decision": "The page logs to the console."}})

    text = Session(monorepo.root).read(WEB_FILE)

    assert "to the console" in text
    assert text.count("decisions/one-way-to-log.json") == 1


def test_a_record_of_a_folder_takes_no_place_of_the_projects_elsewhere(monorepo):
    """A session that has read a file there asks about something else, or runs what a check of the root is about."""
    check = {"on": "command", "starts": ["git push"], "has": ["--force"]}
    rule = decision("One way to log", triggers=["how do we log?"])
    Project(str(monorepo.root)).save("decision", {**rule, "checks": [check]})
    save(monorepo.root / WEB, decision("One way to log", triggers=["what is a page?"]))
    session = Session(monorepo.root)
    session.read(WEB_FILE)

    assert '\\".claude/memory/decisions/one-way-to-log.json' in session.prompt("how do we log?")
    assert "goes against it" in session.shell("git push --force")


def test_a_session_in_the_nested_folder_reads_the_root_too(monorepo):
    session = Session(monorepo.root / WEB)

    assert WEB_RULE in session.prompt(ASKS)
    text = session.prompt("how is money stored?")
    assert ROOT_RULE in text
    assert "../../.claude/memory/decisions/" in text


def test_records_of_the_root_are_about_its_own_files_there(monorepo):
    save(monorepo.root, decision("Pages have a title", f"{WEB}/src/page.ts", "src/form.ts"))
    monorepo.write(f"{WEB}/src/page.ts", "")
    monorepo.write("src/form.ts", "")
    session = Session(monorepo.root / WEB)

    assert "Pages have a title" in session.read("src/page.ts")
    assert "Pages have a title" not in Session(monorepo.root / WEB, "b").read("src/form.ts")


@pytest.mark.parametrize(
    ("folder", "text", "is_broken"),
    [
        (WEB, "use moment", True),
        (WEB, "use lodash", False),
        (WEB, "use zod", True),
        (".", "use moment", True),
        (".", "use lodash", False),
        (".", "use zod", True),
    ],
)
def test_paths_of_checks_are_relative_to_the_folder_of_their_store(
    monorepo, monkeypatch, capsys, folder, text, is_broken
):
    save(monorepo.root, decision("No moment", checks=[{"on": "edit", "paths": [f"{WEB}/src/**"], "has": ["moment"]}]))
    save(monorepo.root, decision("No lodash", checks=[{"on": "edit", "paths": ["src/**"], "has": ["lodash"]}]))
    save(monorepo.root / WEB, decision("No zod", checks=[{"on": "edit", "paths": ["src/**"], "has": ["zod"]}]))
    monorepo.commit()
    fields = {"file_path": str(monorepo.root / WEB_FILE), "old_string": "export {}", "new_string": text}
    shown = Session(monorepo.root / folder)("pre_tool_use", tool_name="Edit", tool_input=fields)

    monorepo.write(WEB_FILE, f"{text}\n")
    monkeypatch.chdir(monorepo.root / folder)

    assert ("goes against it" in shown) is is_broken
    # At the root, a command does not read the stores below.
    if folder == WEB or text != "use zod":
        assert main(["check"]) == int(is_broken), capsys.readouterr()


def test_without_a_repository_nothing_above_is_read(tmp_path):
    save(tmp_path / "outer", decision(ROOT_RULE, triggers=["how is money stored?"]))
    save(tmp_path / "outer" / "inner", decision(WEB_RULE))

    assert ROOT_RULE not in Session(tmp_path / "outer" / "inner").prompt("how is money stored?")


def test_a_session_starts_with_a_line_about_nested_stores(monorepo):
    assert f"{WEB} has its own memory: 1 record" in Session(monorepo.root)("session_start", source="startup")


def test_the_guard_knows_nested_stores(monorepo):
    record = f"{monorepo.root}/{WEB}/.claude/memory/decisions/x.json"
    session = Session(monorepo.root)

    by_hand = session("pre_tool_use", tool_name="Write", tool_input={"file_path": record, "content": "{}"})

    assert '"deny"' in by_hand
    assert '"deny"' in session.shell(f"echo x > {record}")
    assert '"deny"' in Session(monorepo.root / WEB).shell(f"rm {monorepo.root}/.claude/memory/decisions/x.json")


def _refs(monorepo: GitProject, *touched: str) -> list[str]:
    return [ref.prefix for ref in nested.of_files(str(monorepo.root), touched)]


@pytest.mark.parametrize(
    "folder",
    ["node_modules/lib", "vendor/lib", ".venv/lib", "a b", "$(touch x)", "x;rm", "-p", "~", 'quo"te'],
)
def test_folders_of_others_and_names_that_could_be_commands_are_not_read(monorepo, folder):
    save(monorepo.root / folder, decision("Hostile"))
    monorepo.write(f"{folder}/a.ts", "")
    monorepo.commit()

    assert _refs(monorepo, f"{folder}/a.ts") == []
    assert nested.known(str(monorepo.root)) == [WEB]


def test_a_repository_within_the_repository_is_not_read(monorepo):
    inner = GitProject(monorepo.root / "libs" / "theirs")
    save(inner.root, decision("Theirs"))
    save(inner.root / "deep", decision("Theirs, too"))
    inner.write("deep/a.ts", "")

    assert _refs(monorepo, "libs/theirs/deep/a.ts") == []


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_links_out_of_the_project_are_refused(monorepo, tmp_path):
    save(tmp_path / "elsewhere", decision("Elsewhere"))
    (tmp_path / "elsewhere" / "a.ts").write_text("")
    os.symlink(tmp_path / "elsewhere", monorepo.root / "linked")
    (monorepo.root / "half" / ".claude").mkdir(parents=True)
    os.symlink(tmp_path / "elsewhere" / paths.STORE, monorepo.root / "half" / paths.STORE)
    monorepo.write("half/a.ts", "")
    monorepo.commit()

    assert _refs(monorepo, "linked/a.ts", "half/a.ts", "../elsewhere/a.ts", "/etc/passwd") == []
    assert nested.known(str(monorepo.root)) == [WEB]


def _link_store_out(monorepo: GitProject) -> None:
    store, outside = monorepo.root / WEB / paths.STORE, monorepo.root.parent / "outside"
    store.rename(outside)
    os.symlink(outside, store)


def _link_folder_out(monorepo: GitProject) -> None:
    folder, outside = monorepo.root / WEB, monorepo.root.parent / "outside"
    folder.rename(outside)
    os.symlink(outside, folder)


def _make_repository(monorepo: GitProject) -> None:
    GitProject(monorepo.root / WEB)


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize("change", [_link_store_out, _link_folder_out, _make_repository])
def test_a_known_store_that_left_the_repository_is_not_read_again(monorepo, capfd, change):
    asks = f"in {WEB}: {ASKS}"
    assert WEB_RULE in Session(monorepo.root, "before").prompt(asks)

    change(monorepo)

    assert WEB_RULE not in Session(monorepo.root, "after").prompt(asks)
    assert WEB not in Session(monorepo.root, "start")("session_start", source="startup")
    assert main(["recall", asks, "--project", str(monorepo.root)]) == 0
    assert WEB_RULE not in capfd.readouterr().out


def test_an_event_reads_a_bounded_number_of_them_the_nearest_first(monorepo):
    for depth in range(1, 12):
        save(monorepo.root.joinpath(*"abcdefghijkl"[:depth]), decision("Deep"))
    deep = "/".join("abcdefghijk")
    monorepo.write(f"{deep}/x.ts", "")

    refs = _refs(monorepo, f"{deep}/x.ts")

    assert len(refs) == nested.MAX_STORES
    assert refs[0] == f"{deep}/.claude/memory/"


def test_gits_index_is_read_once_for_each_state_of_it(monorepo, monkeypatch):
    assert nested.known(str(monorepo.root)) == [WEB]
    monkeypatch.setattr(nested, "_tracked", lambda *_: pytest.fail("read again"))

    assert nested.known(str(monorepo.root)) == [WEB]


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"/.claude/memory/" * 1000, b"DIRC\0\xff\xfe../../x/.claude/memory/a"]
)
def test_an_odd_index_of_git_gives_nothing(monorepo, data):
    (monorepo.root / ".git" / "index").write_bytes(data)

    assert nested.known(str(monorepo.root)) == []


def test_a_work_tree_of_the_repository_knows_its_nested_stores(monorepo, tmp_path):
    monorepo.git("worktree", "add", "-q", str(tmp_path / "tree"))

    assert nested.known(str(tmp_path / "tree")) == [WEB]


def test_a_store_that_was_deleted_is_forgotten(monorepo):
    assert nested.known(str(monorepo.root)) == [WEB]
    monorepo.git("rm", "-rq", f"{WEB}/.claude")
    monorepo.commit()

    assert nested.known(str(monorepo.root)) == []


@pytest.mark.parametrize("command", ["recall", "why"])
def test_a_command_says_what_a_hook_would_show_from_a_nested_store(monorepo, capfd, command):
    assert main([command, f"in {WEB}: {ASKS}", "--json", "--project", str(monorepo.root)]) == 0

    answer = json.loads(capfd.readouterr().out)
    shown = [record for record in answer.get("memories", answer.get("candidates")) if record["shown"]]
    assert [record["source"] for record in shown] == [WEB]


def test_a_session_in_the_nested_folder_gets_the_roots_records_at_the_roots_files(monorepo):
    text = Session(monorepo.root / WEB).read("../../src/money.py")

    assert ROOT_RULE in text
    assert "../../.claude/memory/decisions/" in text


def test_a_file_outside_of_the_repository_brings_nothing(monorepo, tmp_path):
    (tmp_path / "money.py").write_text("")

    assert Session(monorepo.root / WEB).read(str(tmp_path / "money.py")) == ""


def test_a_nested_record_hides_nothing_at_files_elsewhere(monorepo):
    save(monorepo.root, decision("One way to log", "src/money.py"))
    save(monorepo.root / WEB, decision("One way to log"))
    session = Session(monorepo.root)

    text = session.shell(f"cat {WEB_FILE} src/money.py")

    assert WEB_RULE in text
    assert ROOT_RULE in text
    assert '\\".claude/memory/decisions/one-way-to-log.json' in text


def test_a_commit_asks_the_stores_of_folders_that_the_session_has_touched(monorepo):
    content = {"rule": "Forms never post without a token.", "impact": ["forgery"], "severity": "high"}
    rule = {"title": "Forms carry a token", "related_files": ["src/login.ts"], "content": content}
    Project(str(monorepo.root / WEB)).save("constraint", rule)
    monorepo.write(f"{WEB}/src/login.ts", "login\n")
    monorepo.git("add", "-A")
    session = Session(monorepo.root)
    session.read(WEB_FILE)

    assert "never post without a token" in session.shell("git commit -m 'Add a login'")
