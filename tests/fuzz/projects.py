"""Hostile projects and machines: transcripts, git, documents, caches and state that are not as they should be."""

from __future__ import annotations

import json
import shutil
from random import Random

from tests.fuzz import values
from tests.fuzz.harmed_project import HarmedProject, garbage, odd_file, remove, write


def transcript(rng: Random, place: HarmedProject) -> None:
    if rng.random() < 0.2:
        odd_file(rng, place, place.transcript)
        return
    messages = place.transcript.read_bytes().splitlines()
    lines = list(messages)
    for _ in range(rng.choice((1, 20))):
        message = values.mutated(rng, json.loads(rng.choice(messages)), 2)
        line = rng.choice((values.dump(message, rng).replace(b"\n", b" "), garbage(rng)))
        lines.insert(rng.randint(0, len(lines)), line)
    if rng.random() < 0.3:
        huge = {
            "type": "user",
            "message": {"role": "user", "content": rng.choice(("x", "we decided. ", "`a` ", "\n")) * 2_000_000},
        }
        lines.append(json.dumps(huge).encode())
    write(place.transcript, b"\n".join(lines))


def git_files(rng: Random, place: HarmedProject) -> None:
    """Break files of git."""
    git = place.project / ".git"
    for name in rng.sample(
        ("HEAD", "index", "packed-refs", "config", "refs/heads/main", "shallow", "objects/info/alternates"), 2
    ):
        if rng.random() < 0.4:
            odd_file(rng, place, git / name)
        else:
            lines = (
                b"ref: refs/heads/../../../outside/x\n",
                b"ref: refs/heads/" + b"a" * 5_000,
                b"ref: HEAD\n",
                b"0" * 40 + b"\n",
                str(place.outside).encode(),
            )
            write(git / name, rng.choice((garbage(rng), *lines)))
    if rng.random() < 0.3:
        for file in list((git / "objects").rglob("*"))[:20]:
            if file.is_file():
                file.chmod(0o644)
                file.write_bytes(garbage(rng)[:10_000])
    for name in ("a\nb", "é", "-rf", values.MARK, "x.lock", "@{-1}"):
        write(git / "refs" / "heads" / name, b"0" * 40 + b"\n")


def git_programs(rng: Random, place: HarmedProject) -> None:
    """Name a program in every place where git would take one from the repository."""
    git, run = place.project / ".git", place.program
    names = "fsmonitor pager editor sshCommand askPass gitProxy".split()
    lines = [
        "[core]",
        *(f"\t{name} = {run}" for name in names),
        f"\thooksPath = {place.outside}",
        "[diff]",
        f"\texternal = {run}",
    ]
    lines += [
        '[diff "x"]',
        f"\ttextconv = {run}",
        f"\tcommand = {run}",
        '[filter "x"]',
        f"\tclean = {run}",
        f"\tsmudge = {run}",
    ]
    lines += [
        f"\tprocess = {run}",
        "\trequired = true",
        '[merge "x"]',
        f"\tdriver = {run}",
        "[alias]",
        f"\tstatus = !{run}",
    ]
    lines += [
        f"\tlog = !{run}",
        f"\trev-parse = !{run}",
        "[include]",
        f"\tpath = {place.outside}/gitconfig",
        "[gpg]",
        f"\tprogram = {run}",
    ]
    with open(git / "config", "a") as file:
        file.write("\n".join(lines) + "\n")
    (place.project / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    for name in "post-index-change pre-commit post-checkout reference-transaction fsmonitor-watchman".split():
        hook = git / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        shutil.copy(run, hook)
    (place.project / "src" / "session.py").write_text("def login():\n    return 'changed'\n")


def embedded_repository(rng: Random, place: HarmedProject) -> None:
    """Put a repository inside the project, as an outer clone carries it along, and a session inside it."""
    inner = place.project / "vendor" / "inner"
    shutil.copytree(place.store, inner / ".claude" / "memory", symlinks=True)
    for name in ("HEAD", "index", "objects", "refs"):
        source = place.project / ".git" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, inner / name)
    config = [
        "[core]",
        "\tbare = false",
        "\tworktree = .",
        f"\tfsmonitor = {place.program}",
        '[filter "x"]',
        f"\tclean = {place.program}",
    ]
    (inner / "config").write_text("\n".join(config))
    (inner / ".gitattributes").write_text("* filter=x\n")
    if rng.random() < 0.5:
        forms = (
            "gitdir: .\n",
            "gitdir:  .\n",
            "gitdir: ../inner\n",
            f"gitdir: {inner}\n\n",
            "gitdir: .\r\n",
            " gitdir: .\n",
        )
        (inner / ".git").write_text(rng.choice(forms))
        (inner / "commondir").write_text(rng.choice((".\n", " .\n", "..\n.\n", str(place.outside))))
    place.cwd, place.store = inner, inner / ".claude" / "memory"


def git_pointer(rng: Random, place: HarmedProject) -> None:
    """Write a `.git` that points elsewhere, or nowhere."""
    shutil.move(place.project / ".git", place.folder / "moved-git")
    forms = (
        f"gitdir: {place.folder}/moved-git\n",
        "gitdir: " + "x" * 100_000,
        "gitdir: /dev/zero\n",
        "gitdir: .git\n",
        "gitdir:\n",
        "\0",
    )
    write(place.project / ".git", rng.choice((*(form.encode() for form in forms), garbage(rng))))
    if rng.random() < 0.3:
        odd_file(rng, place, place.project / ".git")


def no_git(rng: Random, place: HarmedProject) -> None:
    remove(place.project / ".git")


def knowledge_banks(rng: Random, place: HarmedProject) -> None:
    folder = place.project / "docs" / "knowledge-bank"
    for name in ("patterns.md", "anti-patterns.md", "heuristics.md"):
        count = rng.choice(("1", "9" * 5_000, "-1"))
        entry = f"### {values.text(rng)}\n{values.text(rng)}\n- Observation count: {count}\n- Confidence: high\n"
        text = entry * rng.choice((1, 50, 3_000)) if len(entry) < 5_000 else entry
        data = rng.choice((text.encode("utf-8", "surrogatepass"), b"<!--" * 200_000, b"### a\n" * 50_000, garbage(rng)))
        write(folder / name, data)
        if rng.random() < 0.2:
            odd_file(rng, place, folder / name)


def features(rng: Random, place: HarmedProject) -> None:
    for number in range(rng.choice((1, 3, 600))):
        folder = place.project / "docs" / "features" / f"{number:04}-x"
        meta = {"status": "active", "slug": values.anything(rng), "lastCompletedPhase": values.anything(rng)}
        write(
            folder / ".meta.json",
            rng.choice((values.dump(meta, rng), garbage(rng))) if number < 5 else b'{"status": "active"}',
        )
        write(folder / "spec.md", values.text(rng).encode("utf-8", "surrogatepass"))
    odd_file(rng, place, place.project / "docs" / "features" / "0000-x" / rng.choice((".meta.json", "spec.md")))


def documents(rng: Random, place: HarmedProject) -> None:
    """Write what `import` and `audit` read."""
    pieces = (
        "# 1. T\n",
        "## Decision\n",
        "- Never do x\n",
        "```\n",
        "<!--",
        "[a](b.md)",
        "| a |\n",
        "---\n",
        "Superseded by 1\n",
    )
    for name in ("CLAUDE.md", "AGENTS.md", "docs/adr/0001-a.md", ".claude/rules/a.md"):
        text = "".join(rng.choice((*pieces, values.text(rng))) for _ in range(rng.choice((5, 50))))
        write(place.project / name, text.encode("utf-8", "surrogatepass"))
    odd_file(rng, place, place.project / "docs" / "adr" / "0002-b.md")


def poisoned_cache(rng: Random, place: HarmedProject) -> None:
    """Change the index behind the program's back."""
    place.cache.mkdir(parents=True, exist_ok=True)
    for path in list(place.cache.glob("*.sqlite*")) or [place.cache / "x.sqlite"]:
        if rng.random() < 0.3:
            odd_file(rng, place, path)
        elif path.is_file():
            data = bytearray(path.read_bytes())
            for _ in range(rng.choice((1, 50, 1_000))):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(rng.choice((bytes(data), bytes(data[: len(data) // 2]), garbage(rng))))


def poisoned_state(rng: Random, place: HarmedProject) -> None:
    """Change ledgers, counts and logs behind the program's back."""
    place.changes_state = True
    place.state.mkdir(parents=True, exist_ok=True)
    for path in [*place.state.rglob("*"), place.state / "failures.log"]:
        if path.is_file() and rng.random() < 0.6:
            write(path, garbage(rng))
        elif not path.is_dir() and rng.random() < 0.3:
            odd_file(rng, place, path)
