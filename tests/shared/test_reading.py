"""What is in the replica of a shared store is found, shown and hidden as the order of stores says."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

import onrecord
from onrecord import budget, paths, state_file
from onrecord.cli import main
from onrecord.mcp import reading
from onrecord.project import Project
from onrecord.recall import for_file, selection
from onrecord.recall.candidate import Candidate
from onrecord.recall.stores import Stores
from onrecord.search import index, rank
from onrecord.shared import remotes
from onrecord.store import record_names
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests import searching
from tests.hooks.hook_process import run_hook
from tests.known_project import SIX
from tests.shared.machines import accept

DECISION = SIX["decision"]
ID = "sessions-live-in-postgres-not-redis"
ASKED = "users lose their login state after a deploy, where do we keep sessions?"
PATH = f"platform:decisions/{ID}.json"


def _hook(project: Project, event: str = "user_prompt_submit", **fields: object) -> str:
    answer = run_hook(event, {"session_id": "s", "cwd": project.root, "transcript_path": "", **fields})
    assert (answer.code, answer.stderr) == (0, b"")
    return answer.context


def test_a_prompt_gets_a_shared_record_with_its_source(project, share):
    share("platform", "decision", DECISION)

    context = _hook(project, prompt=ASKED)

    assert f'source="platform" path="{PATH}"' in context
    assert not os.path.exists(project.store.root)


def test_search_recall_and_show_name_the_source(project, share, capsys):
    share("platform", "decision", DECISION)

    assert [(hit.source, hit.path) for hit in project.search("sessions postgres")] == [("platform", PATH)]
    assert [hit.path for hit in project.recall(ASKED)] == [PATH]
    for words in (
        ["recall", ASKED],
        ["why", ASKED],
        ["search", "sessions"],
        ["search", "sessions", "--remote=platform"],
    ):
        assert main([*words, "--json", "--project", project.root]) == 0
        assert '"source": "platform"' in capsys.readouterr().out
    assert main(["why", ASKED, "--project", project.root]) == 0
    assert f"  platform:{os.path.basename(PATH)[:-5]}\n" in capsys.readouterr().out
    assert main(["show", PATH, "--json", "--project", project.root]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == PATH


def test_the_same_id_in_a_higher_store_hides_the_lower_one(project, share):
    for name in ("zeta", "platform"):
        share(name, "decision", DECISION)
    user = onrecord.open(os.path.dirname(os.path.dirname(paths.user_store())))

    def sources() -> list[str]:
        return [hit.source for hit in project.search("sessions postgres")]

    assert sources() == ["platform"]
    projects_own = project.save("decision", DECISION)
    assert sources() == ["project"]
    Writer(project.store, project.settings).retire(projects_own.path, "elsewhere")
    assert sources() == ["platform"]
    Writer(Store(paths.user_store()), user.settings).save(projects_own.memory)
    assert sources() == ["user"]


def test_a_record_that_does_not_apply_here_hides_nothing_here(project, share):
    share("zeta", "decision", DECISION)
    share("platform", "decision", DECISION, scope={"languages": ["go"]})
    replacing = {**SIX["preference"], "title": "Ours", "supersedes": [f"zeta:{ID}"]}
    share("acme", "preference", replacing, scope={"languages": ["go"]})

    assert [hit.source for hit in project.search("sessions postgres")] == ["zeta"]
    assert "- sessions-live: Sessions live in Postgres, not Redis [zeta]" in _hook(
        project, "session_start", source="startup"
    )
    Path(project.root, "go.mod").write_text("")
    assert [hit.source for hit in project.search("sessions postgres")] == ["platform"]
    context = _hook(project, "session_start", session_id="s2", source="startup")
    assert "Sessions live in Postgres, not Redis [platform]" in context and "more:" not in context


def test_a_record_that_replaces_a_shared_one_hides_it(project, share, capsys):
    share("platform", "decision", DECISION)
    project.save("preference", {**SIX["preference"], "title": "Ours"})

    assert main(["supersede", f"platform:{ID}", "ours", "--project", project.root]) == 0

    assert project.get("ours").memory.supersedes == (f"platform:{ID}",)
    assert project.search("sessions postgres") == []
    assert main(["supersede", "platform:nothing", "ours", "--project", project.root]) == 1
    assert main(["doctor", "--project", project.root, "--json"]) == 0


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["platform"]),
        (["platform"], ["platform"]),
        (["none"], []),
        (["acme"], []),
        (["acme", "platform"], ["platform"]),
    ],
)
def test_a_project_chooses_among_the_connected_ones(project, share, names, expected):
    share("platform", "decision", DECISION)
    os.makedirs(project.store.root)
    Path(project.store.root, paths.CONFIG).write_text(json.dumps({"remotes": names}))

    assert [hit.source for hit in onrecord.open(project.root).search("sessions postgres")] == expected
    assert bool(_hook(project, prompt=ASKED)) is bool(expected)


def test_a_shared_record_is_about_the_paths_of_its_scope_and_not_about_related_files(project, share):
    constraint = {**SIX["constraint"], "related_files": ["src/carrier/client.py"]}
    file = Path(project.root, "src", "carrier", "client.py")
    file.parent.mkdir(parents=True)
    file.write_text("LIMIT = 90\n")
    share("platform", "constraint", constraint, title="By its files")
    share("platform", "constraint", constraint, title="By its scope", scope={"paths": ["src/**/*.py"]})

    about = for_file.about(project.stores, project.root, str(file), project.settings)

    assert [each.match.title for each in about] == ["By its scope"]
    assert about[0].caution == ""
    assert "By its files" not in _hook(
        project, "pre_tool_use", tool_name="Read", tool_input={"file_path": str(file)}, tool_use_id="t"
    )


def test_a_record_for_other_repositories_or_languages_is_not_shown(project, share):
    share("platform", "decision", DECISION, scope={"repositories": ["github.com/acme/*"], "languages": ["go"]})

    assert project.search("sessions postgres") == []
    assert _hook(project, prompt=ASKED) == ""
    Path(project.root, ".git", "config").write_text('[remote "origin"]\nurl = git@github.com:acme/api.git\n')
    Path(project.root, ".git", "HEAD").write_text("ref: refs/heads/main\n")
    Path(project.root, "go.mod").write_text("")
    assert [hit.source for hit in onrecord.open(project.root).search("sessions postgres")] == ["platform"]
    assert PATH in _hook(project, prompt=ASKED)


def test_records_for_other_repositories_do_not_crowd_out_those_for_this_one(project, share):
    for number in range(60):
        share(
            "platform", "decision", DECISION, title=f"Sessions live in Postgres {number}", scope={"languages": ["go"]}
        )
    share("platform", "decision", DECISION)

    assert [hit.id for hit in project.search("sessions postgres")] == [ID]
    assert [each.match.id for each in searching.candidates(project.stores, ASKED, project.settings)] == [ID]


def test_a_session_starts_with_shared_rules_and_without_the_unfinished_work_of_others(project, share):
    share("platform", "constraint", SIX["constraint"])
    share("platform", "session_summary", {**SIX["session_summary"], "title": "Somebody else's work"})

    context = _hook(project, "session_start", source="startup")

    assert re.search(r": \(high severity\) .* \[platform\]\n", context)
    assert "Somebody else" not in context
    project.save("constraint", SIX["constraint"])
    assert 'source="platform"' not in _hook(project, "session_start", source="startup")


def test_an_mcp_client_reads_a_shared_record(project, share):
    share("platform", "decision", DECISION)

    for typed in (PATH, f"platform:{ID}", ID):
        result = reading.show(project, typed)
        assert (result.data["source"], result.data["path"]) == ("platform", PATH)
    assert [each["source"] for each in reading.recall(project, ASKED).data["records"]] == ["platform"]


def test_a_pointer_says_how_to_read_the_record(share):
    entry = share("platform", "decision", DECISION)
    match = rank.match(index.open(paths.accepted("platform").root)._select()[0], paths.accepted("platform").root)

    line = selection.pointer(Candidate(match, "platform:"))

    assert line.endswith(f"onrecord show --remote platform {record_names.short_name(entry.path)}")


def test_a_broken_list_costs_the_shared_stores_alone(project, share):
    share("platform", "decision", DECISION)
    project.save("constraint", SIX["constraint"])
    Path(paths.remotes_file()).write_text("[{")

    assert "carrier" in _hook(project, prompt="how many calls a minute does the carrier API allow?").lower()
    assert state_file.recent_failures()[-1][1] == "remotes"


def test_a_list_that_came_with_the_project_is_not_read(project, share, monkeypatch):
    share("platform", "decision", DECISION)
    with open(paths.remotes_file()) as file:
        text = file.read()
    inside = Path(project.root, "config")
    (inside / "memory").mkdir(parents=True)
    (inside / "memory" / "remotes.json").write_text(text)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(inside))

    assert [each.name for each in remotes.connected()] == ["platform"]
    assert _hook(project, prompt=ASKED) == ""
    assert onrecord.open(project.root).store_refs == [paths.StoreRef(paths.user_store(), paths.USER_PREFIX)]


def test_shared_stores_are_read_in_the_home_folder(share):
    share("platform", "decision", DECISION)

    hits = onrecord.open(os.path.expanduser("~")).search("sessions postgres")

    assert [hit.source for hit in hits] == ["platform"]


def test_an_agent_may_not_write_into_a_replica(project, share):
    entry = share("platform", "decision", DECISION)
    file = os.path.join(paths.replica("platform").root, entry.path)
    event = {"tool_name": "Write", "tool_input": {"file_path": file, "content": "{}"}, "tool_use_id": "t"}

    answer = run_hook("pre_tool_use", {"session_id": "s", "cwd": project.root, "transcript_path": "", **event})

    assert answer.specific["permissionDecision"] == "deny"


def test_no_shell_command_of_an_agent_writes_into_a_replica_however_its_path_is_spelt(project, share):
    share("platform", "decision", DECISION)
    folder = os.path.dirname(paths.replica("platform").root)
    behind_home = os.path.relpath(folder, os.path.expanduser("~"))

    def is_denied(command: str) -> bool:
        event = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"}
        answer = run_hook("pre_tool_use", {"session_id": "s", "cwd": project.root, "transcript_path": "", **event})
        return bool(answer.specific) and answer.specific.get("permissionDecision") == "deny"

    assert not is_denied(f"cat ~/{behind_home}/store/decisions/x.json")
    for place in (folder, f"~/{behind_home}", f"$HOME/{behind_home}"):
        assert is_denied(f"echo {{}} > {place}/store/decisions/x.json")
        assert is_denied(f"echo {{}} > {place}/base/decisions/x.json")


def test_a_replica_is_looked_through_after_a_command_only_if_that_names_it(project, share):
    share("platform", "decision", DECISION)
    root = paths.replica("platform").root
    Path(root, "decisions", "broken.json").write_text("{")

    def after(command: str) -> str:
        return _hook(project, "post_tool_use", tool_name="Bash", tool_input={"command": command}, tool_response={})

    assert after("cat memory.txt") == ""
    assert "broken.json" in after(f"touch {root}/decisions/broken.json")


def test_removing_a_remote_leaves_nothing_of_its_records(project, share):
    share("platform", "decision", DECISION)
    project.search("sessions postgres")

    assert main(["remote", "remove", "platform", "--force"]) == 0

    places = (paths.data_dir(), paths.cache_dir(), paths.state_dir())
    leftovers = [path for place in places for path in Path(place).rglob("*") if path.is_file()]
    assert [path for path in leftovers if b"Redis" in path.read_bytes()] == []
    assert remotes.connected() == []
    assert os.listdir(paths.replicas()) == []


def test_what_the_project_replaces_meanwhile_does_not_come_back_after_compaction(project, share):
    share("platform", "decision", DECISION)
    project.save("preference", {**SIX["preference"], "title": "Ours"})
    assert PATH in _hook(project, prompt=ASKED)
    assert PATH in _hook(project, "session_start", source="compact")

    assert main(["supersede", f"platform:{ID}", "ours", "--project", project.root]) == 0

    assert PATH not in _hook(project, "session_start", source="compact")


def test_a_shared_store_that_fails_takes_nothing_of_the_projects_own_with_it(project, share, monkeypatch):
    project.save("constraint", SIX["constraint"])
    share("platform", "constraint", SIX["constraint"], title="Shared", scope={"paths": ["src/**"]})
    file, open_store = os.path.join(project.root, "src", "carrier", "client.py"), Stores.open
    broken = paths.accepted("platform").root

    def open_or_fail(stores: Stores, root: str) -> index.Index:
        if root == broken:
            raise OSError("the disk has gone")
        return open_store(stores, root)

    monkeypatch.setattr(Stores, "open", open_or_fail)
    budget.start(100, time.process_time() + 100)
    try:
        about = for_file.about(Stores(project.store_refs, project.root), project.root, file, project.settings)
    finally:
        budget.stop()

    assert [each.match.title for each in about] == [SIX["constraint"]["title"]]
    assert "the disk has gone" in state_file.recent_failures()[-1][2]


def test_what_replaces_a_shared_record_about_a_file_must_apply_here_too(project, share):
    share("platform", "constraint", SIX["constraint"], title="Old rule", scope={"paths": ["src/**"]})
    elsewhere = {"paths": ["src/**"], "repositories": ["github.com/acme/*"]}
    share("platform", "constraint", SIX["constraint"], title="New rule", scope=elsewhere)
    writer = Writer(Store(paths.replica("platform").root), project.settings)
    writer.supersede("constraints/old-rule.json", "new-rule")
    accept("platform")

    assert for_file.about(project.stores, project.root, "src/carrier/client.py", project.settings) == []


@pytest.mark.parametrize("scope", [{}, {"paths": ["docs/**"]}])
def test_a_shared_record_is_about_the_files_of_its_scope_alone(project, share, scope):
    for name in ("docs/page.md", "src/carrier/client.py"):
        file = Path(project.root, name)
        file.parent.mkdir(parents=True)
        file.touch()
    share("platform", "constraint", SIX["constraint"], related_files=["src/carrier/client.py"], scope=scope)

    assert for_file.about(project.stores, project.root, "src/carrier/client.py", project.settings) == []
