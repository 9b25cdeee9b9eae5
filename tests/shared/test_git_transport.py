"""A shared store in a real git repository, reached over file://."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess

import pytest

from onrecord.errors import BadRemote, Offline, OnrecordError, Refused
from onrecord.record import memory
from onrecord.shared import git_transport
from onrecord.shared.git_mirror import GitResult, Mirror
from onrecord.shared.git_transport import GitTransport
from onrecord.store.inbox import Inbox
from tests.git_project import GitProject
from tests.records import sample
from tests.shared.machines import Machine, both_have, conflict_in_a_hundred

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class Server:
    """A bare repository that others push to."""

    def __init__(self, folder, branch="main"):
        self.folder = folder
        self.url = f"file://{folder}"
        subprocess.run(("git", "init", "-q", "--bare", "-b", branch, str(folder)), check=True, timeout=120)

    def git(self, *words):
        command = ("git", "--git-dir", str(self.folder), *words)
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.strip()

    def files(self, ref="HEAD"):
        return self.git("ls-tree", "-r", "--name-only", ref).splitlines()

    def other_branch(self):
        (branch,) = [name for name in self.git("branch", "--format=%(refname:short)").split() if name != "main"]
        return branch

    def protect(self, *branches):
        """Refuse pushes to some branches, as hosts of git do."""
        hook = self.folder / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        cases = "|".join(f"refs/heads/{branch}" for branch in branches)
        hook.write_text(
            f"#!/bin/sh\nwhile read old new ref; do case $ref in {cases}) echo protected; exit 1;; esac; done\n"
        )
        hook.chmod(0o755)

    def unprotect(self):
        (self.folder / "hooks" / "pre-receive").unlink()


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path / "server.git")


def machine(folder, url, **options):
    return Machine(folder, GitTransport(url, str(folder / "repository")), **options)


@pytest.fixture
def ann(tmp_path, server):
    return machine(tmp_path / "ann", server.url)


@pytest.fixture
def bob(tmp_path, server):
    return machine(tmp_path / "bob", server.url)


def test_an_empty_repository_gets_its_first_commit_and_everyone_has_the_same(ann, bob, server):
    assert (ann.sync().pulled, bob.sync().pulled) == ((), ())
    ann.save("use-uv")

    assert ann.sync().pushed == ("decisions/use-uv.json",)
    assert bob.sync().pulled == ("decisions/use-uv.json",)
    assert ann.files() == bob.files() != {}
    assert server.files() == ["decisions/use-uv.json"]
    assert "Sync 1 file: use-uv" in server.git("log", "-1", "--format=%s")


def test_two_machines_and_a_hundred_records_in_conflict_end_with_the_same_files(tmp_path, ann, server):
    # A clock that is a day ahead decides nothing.
    bob = machine(tmp_path / "bob", server.url, now="2026-05-02T12:00:00Z")

    result = conflict_in_a_hundred(ann, bob)

    assert ann.files() == bob.files()
    assert len(result.conflicts) == 100
    texts = {draft.record.content["decision"] for draft in Inbox(ann.replica.store).drafts()}
    assert texts == {f"Bob {number}" for number in range(100)}
    assert server.files() == sorted(ann.files())


def test_records_of_a_project_lie_below_its_folder_and_no_other_file_is_touched(tmp_path, bob, server):
    project = GitProject(tmp_path / "project")
    project.write("src/app.py", "print()\n")
    project.write(".claude/memory/decisions/use-uv.json", memory.render(sample(id="use-uv", title="use uv")).decode())
    project.write(".claude/memory/memory-config.json", "{}")
    project.commit()
    project.git("push", "-q", server.url, "main")

    assert bob.sync().pulled == ("decisions/use-uv.json",)
    bob.edit("use-uv", {"tags": ["tools"]})
    bob.save("use-ruff")
    bob.sync()

    project.git("pull", "-q", server.url, "main")
    assert json.loads(project.read(".claude/memory/decisions/use-uv.json"))["tags"] == ["redis", "sessions", "tools"]
    changed = project.git("diff", "--name-only", "HEAD~1", "HEAD").split()
    assert changed == [".claude/memory/decisions/use-ruff.json", ".claude/memory/decisions/use-uv.json"]


def test_a_project_without_records_gets_them_below_its_folder(tmp_path, bob, server):
    project = GitProject(tmp_path / "project")
    project.write("src/app.py", "print()\n")
    project.commit()
    project.git("push", "-q", server.url, "main")
    bob.save("use-uv")

    bob.sync()

    assert server.files() == [".claude/memory/decisions/use-uv.json", "src/app.py"]


@pytest.mark.parametrize("branch", ["main", "master", "team"])
def test_the_default_branch_is_the_one_that_the_repository_names(tmp_path, branch):
    server = Server(tmp_path / "other.git", branch)
    project = GitProject(tmp_path / "project")
    project.write("README.md", "records\n")
    project.commit()
    project.git("push", "-q", server.url, f"main:{branch}")
    carol = machine(tmp_path / "carol", server.url)
    carol.save("use-uv")

    carol.sync()

    assert server.files(branch) == ["README.md", "decisions/use-uv.json"]


def test_a_protected_branch_gets_a_branch_beside_it_until_somebody_merges(ann, bob, server):
    both_have(ann, bob)
    server.protect("main")
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})

    first = bob.sync()
    again = bob.sync()

    assert (first.pushed, first.waiting) == ((), ("decisions/use-uv.json",))
    assert first.note.startswith("main does not accept direct changes: they are on the branch onrecord/")
    assert again == first
    assert bob.replica.state.note == first.note
    branch = server.other_branch()
    assert server.git("rev-list", "--count", f"main..{branch}") == "1"
    server.git("update-ref", "refs/heads/main", branch)
    merged = bob.sync()
    assert (merged.waiting, merged.note, merged.conflicts) == ((), "", ())
    ann.sync()
    assert ann.files() == bob.files()


def test_a_merged_branch_that_was_edited_further_is_no_conflict(tmp_path, ann, bob, server):
    both_have(ann, bob)
    server.protect("main")
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})
    bob.sync()
    branch = server.other_branch()
    server.unprotect()
    server.git("update-ref", "refs/heads/main", branch)
    ann.sync()
    ann.edit("use-uv", {"content": {"decision": "By Bob, corrected by Ann"}})
    ann.sync()

    result = bob.sync()

    assert result.conflicts == ()
    assert bob.read("use-uv").content["decision"] == "By Bob, corrected by Ann"


def test_a_record_that_was_changed_again_before_the_merge_is_no_conflict_with_ourselves(ann, bob, server):
    both_have(ann, bob)
    server.protect("main")
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})
    bob.sync()
    server.git("update-ref", "refs/heads/main", server.other_branch())
    bob.edit("use-uv", {"content": {"decision": "By Bob, later"}})

    result = bob.sync()

    assert (result.conflicts, result.waiting) == ((), ("decisions/use-uv.json",))
    assert bob.read("use-uv").content["decision"] == "By Bob, later"


def test_a_deletion_of_all_records_is_seen_in_a_repository_that_holds_other_things(tmp_path, bob, server):
    project = GitProject(tmp_path / "project")
    project.write("src/app.py", "print()\n")
    project.write("decisions/use-uv.json", memory.render(sample(id="use-uv")).decode())
    project.commit()
    project.git("push", "-q", server.url, "main")
    bob.sync()
    project.git("rm", "-q", "decisions/use-uv.json")
    project.commit()
    project.git("push", "-q", server.url, "main")

    bob.sync()

    assert bob.files() == {}


def test_what_nobody_may_push_is_reported_and_pulling_goes_on(ann, bob, server):
    ann.save("use-uv")
    ann.sync()
    server.protect("main")
    # A branch of this name leaves no room for `onrecord/…`.
    server.git("branch", "onrecord", "main")
    bob.save("use-ruff")

    result = bob.sync()

    assert result.pulled == ("decisions/use-uv.json",)
    assert "refused it" in result.refused["decisions/use-ruff.json"]


def test_no_network_says_since_when_and_nothing_is_lost(tmp_path, ann, server):
    ann.save("use-uv")
    ann.transport = GitTransport("http://127.0.0.1:9/memory.git", str(tmp_path / "ann/repository"))

    with pytest.raises(Offline, match="cannot be reached"):
        ann.sync()

    assert ann.replica.state.offline_since
    ann.transport = GitTransport(server.url, str(tmp_path / "ann/repository"))
    assert ann.sync().pushed == ("decisions/use-uv.json",)


def test_an_address_without_a_repository_is_named(tmp_path):
    with pytest.raises(BadRemote, match="does not appear to be a git repository"):
        machine(tmp_path / "carol", f"file://{tmp_path}/nothing.git").sync()


def test_a_rewritten_history_loses_nothing(tmp_path, ann, bob, server):
    ann.save("use-uv")
    ann.sync()
    first = server.git("rev-parse", "main")
    ann.save("use-ruff")
    ann.sync()
    bob.sync()
    server.git("update-ref", "refs/heads/main", first)

    result = bob.sync()
    ann.sync()

    assert result.is_reset and result.pushed == ("decisions/use-ruff.json",)
    assert ann.files() == bob.files()
    assert sorted(ann.files()) == ["decisions/use-ruff.json", "decisions/use-uv.json"]


def test_links_modules_and_large_files_in_a_repository_are_reported(tmp_path, bob, server):
    project = GitProject(tmp_path / "project")
    project.write("decisions/use-uv.json", memory.render(sample(id="use-uv")).decode())
    project.write("decisions/large.json", "x" * 1_000_001)
    project.write("decisions/empty.json", "")
    os.symlink("/etc/passwd", project.root / "decisions/link.json")
    project.git("add", "-A")
    commit = "a" * 40
    project.git("update-index", "--add", "--cacheinfo", f"160000,{commit},decisions/module.json")
    project.git("commit", "-q", "-m", "records")
    project.git("push", "-q", server.url, "main")

    result = bob.sync()

    assert list(bob.files()) == ["decisions/use-uv.json"]
    assert {path: why.split(":")[0].split(" (")[0] for path, why in result.refused.items()} == {
        "decisions/large.json": "larger than 1,000,000 bytes",
        "decisions/empty.json": "not JSON",
        "decisions/link.json": "not a file",
        "decisions/module.json": "not a file",
    }
    bob.save("use-ruff")
    assert bob.sync().pushed == ("decisions/use-ruff.json",)
    assert "decisions/link.json" in server.files()


def test_a_broken_mirror_is_fetched_again(tmp_path, ann, bob):
    both_have(ann, bob)
    ann.edit("use-uv", {"tags": ["more"]})
    ann.sync()
    shutil.rmtree(tmp_path / "bob/repository/objects")
    (tmp_path / "bob/repository/objects").mkdir()

    bob.sync()

    assert ann.files() == bob.files()


@pytest.mark.parametrize(("damaged", "others_wrote"), [("refs/onrecord/*", True), ("objects/??/*", False)])
def test_a_mirror_that_a_power_failure_has_damaged_is_fetched_again(tmp_path, ann, bob, damaged, others_wrote):
    ann.save("use-uv")
    ann.sync()
    bob.save("use-ruff")
    bob.sync()
    if others_wrote:
        ann.edit("use-uv", {"tags": ["more"]})
        ann.sync()
    for file in (tmp_path / "bob/repository").glob(damaged):
        file.chmod(0o644)
        file.write_bytes(b"")
    bob.edit("use-ruff", {"tags": ["by-bob"]})

    result = bob.sync()
    ann.sync()

    assert (result.pushed, result.conflicts, result.is_reset) == (("decisions/use-ruff.json",), (), False)
    assert ann.files() == bob.files()


@pytest.mark.parametrize("part", ["HEAD", "objects", "refs"])
def test_a_mirror_that_was_killed_while_it_was_made_is_made_again(tmp_path, ann, bob, part):
    ann.save("use-uv")
    ann.sync()
    assert bob.transport._mirror.create().is_good
    whole = tmp_path / "bob/repository" / part
    whole.unlink() if whole.is_file() else shutil.rmtree(whole)

    bob.sync()

    assert ann.files() == bob.files()


def test_a_lock_left_by_a_killed_git_does_not_matter(tmp_path, ann, bob):
    both_have(ann, bob)
    ann.edit("use-uv", {"tags": ["more"]})
    ann.sync()
    (tmp_path / "bob/repository/refs/onrecord/theirs.lock").touch()

    bob.sync()

    assert ann.files() == bob.files()


def test_a_push_that_meets_another_is_built_again_on_top_of_it(ann, bob, server, monkeypatch):
    ann.sync()
    bob.sync()
    ann.save("use-uv")
    bob.save("use-ruff")
    make, raced = git_transport.git_commits.make_commit, []

    def race(*arguments):
        if not raced:
            raced.append(True)
            monkeypatch.setattr(git_transport.git_commits, "make_commit", make)
            bob.sync()
        return make(*arguments)

    monkeypatch.setattr(git_transport.git_commits, "make_commit", race)

    assert ann.sync().pushed == ("decisions/use-uv.json",)

    assert server.files() == ["decisions/use-ruff.json", "decisions/use-uv.json"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("ssh: Could not resolve hostname nowhere: Name or service not known", "OFFLINE"),
        ("fatal: unable to access 'https://h/': Failed to connect to h port 443", "OFFLINE"),
        ("fatal: unable to access 'https://h/not-allowed-transport/': Could not resolve host: h", "OFFLINE"),
        ("fatal: unable to access 'https://h/corrupt/': Failed to connect to h port 443", "OFFLINE"),
        ("did not answer in time", "OFFLINE"),
        ("git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.", "REFUSED"),
        ("fatal: could not read Username for 'https://h': terminal prompts disabled", "REFUSED"),
        ("fatal: unable to access 'https://h/': The requested URL returned error: 403", "REFUSED"),
        ("remote: Repository not found.\nfatal: repository 'https://h/' not found", "BAD_REMOTE"),
        ("fatal: transport 'ext' not allowed", "REFUSED"),
    ],
)
def test_why_a_remote_does_not_answer(message, code):
    answer = GitResult(128, b"", message)

    assert git_transport.error_from_git(answer, "https://h/not-allowed-transport").code == code


@pytest.mark.parametrize("name", ["main:refs/heads/other", "*", "a b", "x" * 300, "a..b", "a\x1b[0m"])
def test_a_default_branch_with_a_name_that_no_branch_has_is_not_used(name):
    commit = "a" * 40

    heads = git_transport.parse_heads(
        f"ref: refs/heads/{name}\tHEAD\n{commit}\tHEAD\n{commit}\trefs/heads/main\n", "own"
    )

    assert heads == git_transport.Heads("main", commit)


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("*\trefs/x:refs/heads/main\t[new branch]", "done"),
        ("=\trefs/x:refs/heads/main\t[up to date]", "done"),
        (" \trefs/x:refs/heads/main\ta..b", "done"),
        ("!\trefs/x:refs/heads/main\t[rejected] (fetch first)", "behind"),
        ("!\trefs/x:refs/heads/main\t[remote rejected] (cannot lock ref 'refs/heads/main')", "behind"),
        ("!\trefs/x:refs/heads/main\t[remote rejected] (protected branch hook declined)", "protected"),
        ("!\trefs/x:refs/heads/main\t[remote rejected] (branch is currently checked out)", "protected"),
        ("nothing that git says", ""),
    ],
)
def test_how_a_push_ended(line, outcome):
    answer = GitResult(1, f"To file:///x\n{line}\nDone\n".encode(), "")

    assert git_transport.push_outcome(answer) == outcome


def test_a_branch_that_is_set_back_to_before_our_push_gets_it_again(ann, bob, server):
    both_have(ann, bob)
    before = server.git("rev-parse", "main")
    bob.edit("use-uv", {"content": {"decision": "Newer"}})
    bob.sync()
    server.git("update-ref", "refs/heads/main", before)

    result = bob.sync()
    ann.sync()

    assert result.is_reset
    assert b"Newer" in b"".join(ann.files().values())
    assert ann.files() == bob.files()


def test_waiting_ends_when_somebody_has_pushed(ann, bob, monkeypatch):
    monkeypatch.setattr(git_transport, "_POLL_SECONDS", 0.01)
    ann.sync()
    assert ann.transport.wait(0.03) is False
    bob.save("use-uv")
    bob.sync()

    assert ann.transport.wait(60) is True


def test_an_address_cannot_run_a_program(tmp_path):
    carol = machine(tmp_path / "carol", f"ext::sh -c touch% {tmp_path}/ran")

    with pytest.raises(Refused, match="not allowed"):
        carol.sync()

    assert not (tmp_path / "ran").exists()


def test_a_sync_inside_of_a_git_hook_uses_its_own_repository(tmp_path, ann, server, monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    ann.save("use-uv")

    ann.sync()

    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.delenv(name)
    assert server.files() == ["decisions/use-uv.json"]
    assert not (tmp_path / "elsewhere").exists()


def test_a_git_that_hangs_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    monkeypatch.setattr(git_transport, "_LIST_SECONDS", 0.2)
    monkeypatch.setenv("GIT_SSH_COMMAND", "sleep 600; true")
    carol = machine(tmp_path / "carol", "ssh://nowhere.invalid/memory.git")

    with pytest.raises(Offline, match="did not answer in time"):
        carol.sync()


def test_a_program_that_goes_on_behind_ssh_is_not_waited_for(tmp_path, monkeypatch):
    """As an SSH connection that is kept open for the next command."""
    process = tmp_path / "left"
    monkeypatch.setenv("GIT_SSH_COMMAND", f"setsid sleep 600 >/dev/null & echo $! >{process}; false")
    carol = machine(tmp_path / "carol", "ssh://nowhere.invalid/memory.git")

    try:
        with pytest.raises(Offline):
            carol.sync()
        os.kill(int(process.read_text()), 0)
    finally:
        os.kill(int(process.read_text()), signal.SIGKILL)


def test_a_squashed_merge_of_our_branch_is_noticed(ann, bob, server):
    both_have(ann, bob)
    server.protect("main")
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})
    bob.sync()
    branch = server.other_branch()
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    squashed = server.git(*who, "commit-tree", f"{branch}^{{tree}}", "-p", "main", "-m", "squashed")
    server.git("update-ref", "refs/heads/main", squashed)
    server.git("branch", "-q", "-D", branch)

    result = bob.sync()
    ann.sync()

    assert (result.waiting, result.conflicts, result.pushed) == ((), (), ())
    assert ann.files() == bob.files()


def test_others_can_change_a_record_while_ours_waits_for_a_merge(ann, bob, server):
    both_have(ann, bob)
    server.protect("main")
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})
    bob.sync()
    server.unprotect()
    ann.edit("use-uv", {"content": {"context": "By Ann"}})
    ann.sync()
    server.protect("main")

    result = bob.sync()

    record = bob.read("use-uv")
    assert (record.content["decision"], record.content["context"]) == ("By Bob", "By Ann")
    assert (result.waiting, result.conflicts) == (("decisions/use-uv.json",), ())
    branch = server.other_branch()
    assert server.git("rev-list", "--count", f"main..{branch}") == "1", "rebuilt on top of what Ann pushed"


def test_an_empty_repository_that_nobody_may_write_directly_gets_a_branch(bob, ann, server):
    server.protect("main")
    bob.save("use-uv")

    first, again = bob.sync(), bob.sync()

    assert first.waiting == again.waiting == ("decisions/use-uv.json",)
    assert ann.sync().pulled == ()


def test_a_repository_without_a_default_branch_is_named(tmp_path, bob, server):
    project = GitProject(tmp_path / "project")
    project.write("README.md", "records\n")
    project.commit()
    project.git("push", "-q", server.url, "main:team")

    with pytest.raises(BadRemote, match="none of them is its default"):
        bob.sync()


def test_a_git_that_gives_no_answer_is_no_rewritten_history(ann, bob, monkeypatch):
    both_have(ann, bob)
    ann.edit("use-uv", {"tags": ["more"]})
    ann.sync()
    ask = Mirror.run_local

    def late(self, *words, **options):
        return (
            GitResult(None, b"", "did not answer in time") if words[0] == "merge-base" else ask(self, *words, **options)
        )

    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "run_local", late)
        with pytest.raises(OnrecordError):
            bob.sync()
    result = bob.sync()

    assert (result.is_reset, result.conflicts) == (False, ())
    assert ann.files() == bob.files()


def test_a_fetch_of_a_killed_sync_that_ends_late_is_no_rewritten_history(ann, bob, monkeypatch):
    both_have(ann, bob)
    older = bob.transport._mirror.commit_of("refs/onrecord/theirs")
    ann.edit("use-uv", {"tags": ["more"]})
    ann.sync()
    bob.sync()
    ann.edit("use-uv", {"tags": ["most"]})
    ann.sync()
    reach = Mirror.run_remote

    def late(self, *words, **options):
        answer = reach(self, *words, **options)
        if words[0] == "fetch":
            self.run_local("update-ref", "refs/onrecord/theirs", older)
        return answer

    bob.save("use-ruff")
    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "run_remote", late)
        result = bob.sync()
    ann.sync()

    assert (result.is_reset, result.conflicts, result.pushed) == (False, (), ("decisions/use-ruff.json",))
    assert ann.files() == bob.files()


SSH = """#!/bin/sh
# Stands for ssh, and runs the command here. If there is a file {folder}/hold, a fetch or a push waits for {folder}/go.
case "$2" in *receive-pack*) is_held=yes;; *) mkdir {folder}/looked || is_held=yes;; esac 2>/dev/null
if [ "$is_held" ] && rm {folder}/hold 2>/dev/null; then echo $PPID > {folder}/held; read go < {folder}/go; fi
exec sh -c "$2"
"""


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """Return a folder with the pipes of a program that replaces ssh."""
    folder = tmp_path / "ssh"
    folder.mkdir()
    (folder / "ssh").write_text(SSH.format(folder=folder))
    (folder / "ssh").chmod(0o755)
    os.mkfifo(folder / "held")
    os.mkfifo(folder / "go")
    monkeypatch.setenv("GIT_SSH", str(folder / "ssh"))
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")
    return folder


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child")
@pytest.mark.parametrize("pushes", [False, True])
def test_git_that_outlives_a_killed_sync_does_not_harm_the_next(tmp_path, server, ann, ssh, pushes):
    bob = machine(tmp_path / "bob", f"ssh://host{server.folder}")
    both_have(ann, bob)
    (bob if pushes else ann).edit("use-uv", {"tags": ["more"]})
    ann.sync()
    process = _killed_while_git_waits(bob, ssh)

    first = bob.sync()
    (ssh / "go").write_text("go\n")
    assert select.select([process], [], [], 60)[0]
    os.close(process)
    bob.save("use-ruff")
    second = bob.sync()
    ann.sync()

    assert [(result.is_reset, result.conflicts, result.refused) for result in (first, second)] == [(False, (), {})] * 2
    assert second.pushed == ("decisions/use-ruff.json",)
    assert "more" in bob.read("use-uv").tags
    assert ann.files() == bob.files()


def _killed_while_git_waits(bob, ssh):
    """Kill a sync while git waits for the server; a descriptor that is ready when that git has ended."""
    shutil.rmtree(ssh / "looked")
    (ssh / "hold").touch()
    child = os.fork()
    if not child:
        bob.sync()
        os._exit(1)
    git = os.pidfd_open(int((ssh / "held").read_text()))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return git


@pytest.fixture
def endless_git(tmp_path, monkeypatch):
    """Put a program that never ends in the place of git."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


@pytest.fixture
def interruptible():
    """Take Ctrl-C as a terminal's program does: a shell's job in the background ignores it, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="a program that is a script")
def test_a_start_of_git_that_is_interrupted_leaves_none_behind(endless_git, tmp_path, monkeypatch):
    started, start = [], subprocess.Popen._execute_child

    def interrupted(child, *words):
        start(child, *words)
        started.append(child)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "_execute_child", interrupted)

    with pytest.raises(KeyboardInterrupt):
        Mirror(str(tmp_path / "repository")).run_local("cat-file", "--batch")

    assert started[0].wait(60) == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(subprocess, "_fork_exec") or not hasattr(os, "pidfd_open"), reason="Linux, Python 3.11")
def test_a_signal_that_arrives_before_the_process_is_known_ends_it(endless_git, interruptible, tmp_path, monkeypatch):
    started, start = [], subprocess._fork_exec

    def interrupted(*words):
        process = start(*words)
        started.append(os.pidfd_open(process))
        signal.raise_signal(signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "_fork_exec", interrupted)

    with pytest.raises(KeyboardInterrupt):
        Mirror(str(tmp_path / "repository")).run_local("cat-file", "--batch")

    assert select.select(started, [], [], 60)[0] == started
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    os.close(started[0])
