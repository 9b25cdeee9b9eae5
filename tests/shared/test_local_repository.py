"""A remote that is a folder: however it is addressed, none of the programs that it names is run."""

import functools
import os
import subprocess
from pathlib import Path

import pytest

from onrecord.errors import BadRemote, OnrecordError
from onrecord.shared import local_repository
from onrecord.shared.git_transport import GitTransport
from tests.shared.machines import Machine

HOOKS = """applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update
reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist
p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change pack-objects""".split()
"""Every hook that githooks(5) names."""

GATES = ("pre-receive", "update", "proc-receive", "reference-transaction")


def git(*words, cwd=None):
    return subprocess.run(("git", *words), cwd=cwd, check=True, capture_output=True, text=True, timeout=120).stdout


@functools.cache
def config_keys():
    """Return every key of git's config, with a name where git has a placeholder."""
    keys = [line.strip() for line in git("help", "--config").splitlines() if "." in line and " " not in line.strip()]
    return [key.replace("<", "").replace(">", "").replace("*", "x") for key in keys if "includeIf" not in key]


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "a-program-of-the-remote-ran"


@pytest.fixture
def program(tmp_path, mark):
    """A program that leaves a mark, with the name of the one that started it."""
    file = tmp_path / "program"
    file.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\nexit 0\n')
    file.chmod(0o755)
    return file


def bare(folder):
    git("init", "-q", "--bare", "-b", "main", str(folder))
    return folder


def arm(git_dir, program, *, hooks=HOOKS):
    """Plant the program as every hook and as the value of every key of the config."""
    (git_dir / "hooks").mkdir(exist_ok=True)
    for name in hooks:
        (git_dir / "hooks" / name).unlink(missing_ok=True)
        (git_dir / "hooks" / name).symlink_to(program)
    lines = []
    for key in config_keys():
        section, _, name = key.rpartition(".")
        section, _, subsection = section.partition(".")
        heading = f'[{section} "{subsection}"]' if subsection else f"[{section}]"
        lines.append(f"{heading}\n\t{name} = {program}\n")
    # These name further programs, or make git obey the others.
    lines.append(f"[core]\n\tbare = true\n\trepositoryformatversion = 1\n\thooksPath = {git_dir / 'hooks'}\n")
    lines.append("[extensions]\n\tpartialClone = x\n[receive]\n\tdenyCurrentBranch = updateInstead\n\tautogc = true\n")
    lines.append(f'[remote "x"]\n\turl = "ext::{program}"\n\tpromisor = true\n\tuploadpack = {program}\n')
    lines.append(f'[hook "x"]\n\tcommand = {program}\n\tevent = pre-receive\n\tevent = reference-transaction\n')
    (git_dir / "config").write_text("".join(lines))
    alternate = git_dir.parent / "alternate.git"
    if not alternate.exists():
        bare(alternate)
        (alternate / "config").write_text("".join(lines))
        (git_dir / "objects" / "info").mkdir(exist_ok=True)
        (git_dir / "objects" / "info" / "alternates").write_text(f"{alternate}/objects\n")


def machine(folder, url):
    return Machine(folder, GitTransport(url, str(folder / "repository")))


def sync_both_ways(tmp_path, url, others_url):
    """Push to a remote from one machine, pull from another, and push from that."""
    ann, bob = machine(tmp_path / "ann", url), machine(tmp_path / "bob", others_url)
    ann.save("use-uv")
    results = [ann.sync()]
    results.append(bob.sync())
    bob.save("use-ruff")
    return [*results, bob.sync(), ann.sync()]


def addresses(folder):
    return {
        "path": str(folder),
        "path without its ending": str(folder).removesuffix(".git"),
        "path with a slash": f"{folder}/",
        "file": f"file://{folder}",
        "FILE": f"FILE://{folder}",
        "encoded": f"file://{str(folder).replace('team', '%74eam')}",
        "around": f"{folder}/../{folder.name}",
    }


@pytest.mark.parametrize("how", list(addresses(Path("/x/team.git"))))
@pytest.mark.parametrize("hooks", [HOOKS, [name for name in HOOKS if name not in GATES]], ids=["all", "no-gates"])
def test_no_program_of_a_bare_repository_runs(tmp_path, program, mark, how, hooks):
    folder = bare(tmp_path / "team.git")
    arm(folder, program, hooks=hooks)

    url = addresses(folder)[how]
    results = sync_both_ways(tmp_path, url, url)

    assert not mark.exists()
    assert all(not result.refused for result in results)
    if hooks is not HOOKS:
        assert [result.pushed for result in results[::2]] == [("decisions/use-uv.json",), ("decisions/use-ruff.json",)]
        assert results[1].pulled == ("decisions/use-uv.json",)


def test_the_programs_would_run_if_git_reached_the_folder_itself(tmp_path, program, mark):
    folder = bare(tmp_path / "team.git")
    (folder / "hooks").mkdir(exist_ok=True)
    (folder / "hooks" / "pre-receive").symlink_to(program)
    git("init", "-q", "-b", "main", str(tmp_path / "work"))
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    git("-C", str(tmp_path / "work"), *identity, "commit", "-q", "--allow-empty", "-m", "x")

    git("-C", str(tmp_path / "work"), "push", "-q", str(folder), "main")

    assert mark.exists()


@pytest.mark.parametrize("kind", ["work tree", "linked work tree", "git file"])
def test_no_program_of_a_work_tree_runs_and_its_branch_is_not_changed_under_it(tmp_path, program, mark, kind):
    work = tmp_path / "work"
    git("init", "-q", "-b", "main", str(work))
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    git("-C", str(work), *identity, "commit", "-q", "--allow-empty", "-m", "first")
    first = git("-C", str(work), "rev-parse", "main")
    folder, git_dir = work, work / ".git"
    if kind == "linked work tree":
        git("-C", str(work), "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
        folder = tmp_path / "linked"
    if kind == "git file":
        folder, git_dir = tmp_path / "beside", tmp_path / "moved"
        (work / ".git").rename(git_dir)
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {git_dir}\n")
    for name in HOOKS:
        (git_dir / "hooks").mkdir(exist_ok=True)
        if name not in GATES:
            (git_dir / "hooks" / name).unlink(missing_ok=True)
            (git_dir / "hooks" / name).symlink_to(program)
    ann = machine(tmp_path / "ann", str(folder))
    ann.save("use-uv")

    result = ann.sync()

    assert not mark.exists()
    assert result.waiting == ("decisions/use-uv.json",)
    assert git("--git-dir", str(git_dir), "rev-parse", "main") == first


def test_a_change_is_not_written_past_a_hook_that_could_refuse_it(tmp_path, program):
    for gate in GATES:
        folder = bare(tmp_path / f"{gate}.git")
        (folder / "hooks").mkdir(exist_ok=True)
        (folder / "hooks" / gate).symlink_to(program)
        ann = machine(tmp_path / gate, str(folder))
        ann.save("use-uv")

        assert ann.sync().waiting == ("decisions/use-uv.json",)
        assert "main" not in git("--git-dir", str(folder), "branch", "--format=%(refname:short)").split()


def test_the_users_config_cannot_lead_another_address_to_a_folder(tmp_path, program, mark, monkeypatch):
    folder = bare(tmp_path / "team.git")
    arm(folder, program)
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "{folder}"]\n\tinsteadOf = https://host.invalid/team.git\n\tinsteadOf = git@host:team\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))

    for url in ("https://host.invalid/team.git", "git@host:team"):
        ann = machine(tmp_path / f"ann-{len(url)}", url)
        ann.save("use-uv")
        with pytest.raises(OnrecordError, match="not allowed"):
            ann.sync()
    assert not mark.exists()


LINKED = ("objects", "objects/pack", "objects/info", "objects/ab", "refs", "refs/heads", "refs/heads/onrecord")


@pytest.mark.parametrize("name", [*LINKED, "refs/heads/team", "packed-refs"])
def test_a_folder_that_is_a_link_is_not_written_through(tmp_path, name):
    folder = bare(tmp_path / "team.git")
    elsewhere = tmp_path / "elsewhere"
    if (folder / name).exists():
        (folder / name).rename(elsewhere)
    else:
        elsewhere.mkdir()
    (folder / name).symlink_to(elsewhere)
    before = sorted(os.listdir(elsewhere))
    ann = machine(tmp_path / "ann", str(folder))
    ann.save("use-uv")

    with pytest.raises(BadRemote, match="is a link"):
        ann.sync()
    assert sorted(os.listdir(elsewhere)) == before


def test_what_a_shared_folder_says_about_permissions_is_obeyed(tmp_path):
    folder = tmp_path / "team.git"
    git("init", "-q", "--bare", "-b", "main", "--shared=group", str(folder))
    ann = machine(tmp_path / "ann", str(folder))
    ann.save("use-uv")

    ann.sync()

    files = [Path(at, name) for at, _, names in os.walk(folder / "objects") for name in names]
    assert files
    assert all(file.stat().st_mode & 0o040 for file in [*files, folder / "refs/heads/main"])


def test_a_repository_with_packed_refs_is_pushed_to(tmp_path):
    folder = bare(tmp_path / "packed.git")
    bob = machine(tmp_path / "bob", str(folder))
    bob.save("use-uv")
    bob.sync()
    git("--git-dir", str(folder), "pack-refs", "--all")
    bob.save("use-ruff")
    assert bob.sync().pushed == ("decisions/use-ruff.json",)


def test_nothing_of_ours_is_left_beside_the_mirror(tmp_path):
    folder = bare(tmp_path / "team.git")
    sync_both_ways(tmp_path, str(folder), str(folder))

    assert not [name for name in os.listdir(tmp_path / "ann") if name.startswith("folder-")]


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("/srv/x.git", "/srv/x.git"),
        ("file:///srv/x%20y.git", "/srv/x y.git"),
        ("file://host/share", "//host/share"),
        ("https://host/x.git", ""),
        ("git@host:x.git", ""),
        ("ssh://host/x", ""),
    ],
)
def test_local_path(url, path):
    assert local_repository.local_path(url) == path
