"""The package as strangers get it: what is in it, that it runs on every Python here, and what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import onrecord
from onrecord.doctor import machine
from tests.hooks.test_modules import PYTHONS

ROOT = Path(__file__).parent.parent
FIELDS = {
    "context": "Redis lost sessions on failover",
    "decision": "User sessions are rows in auth.sessions",
    "rationale": "one fewer moving part",
}
SAVE = ["save", "decision", "Sessions live in Postgres, not Redis", *(f"--set={key}={FIELDS[key]}" for key in FIELDS)]
ASKS = "where do we keep user sessions, postgres or redis?"


class Package:
    """A built wheel and source archive."""

    def __init__(self, wheel: Path, sdist: Path) -> None:
        self.wheel, self.sdist = wheel, sdist

    def in_wheel(self) -> dict[str, bytes]:
        with zipfile.ZipFile(self.wheel) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def in_sdist(self) -> set[str]:
        with tarfile.open(self.sdist) as archive:
            return {name.partition("/")[2] for name in archive.getnames()}

    def info(self, name: str) -> str:
        return self.in_wheel()[f"onrecord-{onrecord.__version__}.dist-info/{name}"].decode()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Package]:
    """Built from what git holds or would take, and from nothing that lies about beside it."""
    backend = pytest.importorskip("hatchling.build", reason="hatchling builds the package")
    clone, folder = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("dist")
    for name in _in_git():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes((ROOT / name).read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clone)
        yield Package(folder / backend.build_wheel(str(folder)), folder / backend.build_sdist(str(folder)))


def _in_git() -> list[str]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, encoding="utf-8", timeout=600)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git clone")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_the_wheel_holds_the_package_its_data_and_the_licence_and_nothing_else(package: Package):
    names = set(package.in_wheel())
    source = ROOT / "src" / "onrecord"
    folders = "capture/cues hosts/shims hosts/skills shared/migrations web/static web/templates".split()
    listed = {f"onrecord/{folder}/{path.name}" for folder in folders for path in (source / folder).iterdir()}
    listed |= {f"onrecord/docs/{path.relative_to(ROOT / 'docs').as_posix()}" for path in (ROOT / "docs").rglob("*.md")}
    listed.add("onrecord/docs/team/memory-repository.yml")
    data = listed | {"onrecord/session/corrections.txt", "onrecord/search/words.vec", "onrecord/hooks/launch"}
    licences = {f"onrecord-{onrecord.__version__}.dist-info/licenses/{name}" for name in ("LICENSE", "NOTICE")}

    assert {"onrecord/py.typed", *licences, *data} <= names
    strangers = [name for name in names if not name.endswith(".py") and ".dist-info/" not in name]
    assert sorted(strangers) == sorted(["onrecord/py.typed", *data])
    assert {name for name in names if name.endswith(".py")} == {
        f"onrecord/{path.relative_to(source).as_posix()}" for path in source.rglob("*.py")
    }


def test_the_wheel_says_what_it_is_and_brings_one_command(package: Package):
    about = package.info("METADATA")

    assert f"\nVersion: {onrecord.__version__}\n" in about
    assert "\nRequires-Python: >=3.9\n" in about
    assert "Requires-Dist" not in re.sub(r"Requires-Dist: .*\bextra == .*\n", "", about)
    assert package.info("entry_points.txt").split() == ["[console_scripts]", "onrecord", "=", "onrecord.__main__:main"]


def test_the_source_archive_holds_all_that_git_has(package: Package):
    """The flaw of 0.2.0: it had the tests, and not the benchmarks that some of them run."""
    assert package.in_sdist() - {"PKG-INFO"} == set(_in_git())


@pytest.mark.heavy
def test_whoever_builds_it_gets_the_same_bytes(package: Package, tmp_path: Path):
    """From another folder, with files of another day that others may not read; and from the source archive."""
    backend = pytest.importorskip("hatchling.build")
    with tarfile.open(package.sdist) as archive:
        archive.extractall(tmp_path, filter="data") if sys.version_info >= (3, 12) else archive.extractall(tmp_path)
    (unpacked,) = tmp_path.iterdir()
    for path in unpacked.rglob("*"):
        path.chmod(0o700 if path.is_dir() or os.access(path, os.X_OK) else 0o600)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(unpacked)
        wheel, sdist = (tmp_path / build(str(tmp_path)) for build in (backend.build_wheel, backend.build_sdist))

    assert wheel.read_bytes() == package.wheel.read_bytes()
    assert sdist.read_bytes() == package.sdist.read_bytes()


def test_the_version_stands_in_one_place_and_the_manifest_agrees():
    versions = {json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())["version"], onrecord.__version__}
    tracked = [name for name in _in_git() if name.startswith("src/") or name in ("pyproject.toml",)]
    naming = [name for name in tracked if re.search(r'"' + re.escape(onrecord.__version__) + r'"', _read(name))]

    assert len(versions) == 1
    assert naming == ["src/onrecord/__init__.py"]


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


class Installed:
    """The wheel in an environment with nothing else, and a user who has only that."""

    def __init__(self, python: str, package: Package, folder: Path) -> None:
        self.home, self.project, venv = folder / "home", folder / "a project", folder / "venv"
        for path in (self.home, self.project):
            path.mkdir()
        subprocess.run([python, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=600)
        pip = [sys.executable, "-m", "pip", "--python", str(venv), "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-q", "--no-index", str(package.wheel)], check=True, timeout=600)
        self.pip, self.bin = pip, venv / ("Scripts" if os.name == "nt" else "bin")

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        names = ("ONRECORD_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR")
        env = {name: value for name, value in os.environ.items() if name not in (*names, "PYTHONPATH")}
        return subprocess.run(
            [words[0] if words[0] == "sh" else str(self.bin / words[0]), *words[1:]],
            cwd=self.project,
            env={**env, "HOME": str(self.home)},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=600,
        )


@pytest.mark.heavy
@pytest.mark.parametrize("version", [version for version in PYTHONS if version != "this"])
def test_the_wheel_works_on_every_python_and_goes_without_a_trace(version: str, package: Package, tmp_path: Path):
    pytest.importorskip("pip")
    installed = Installed(PYTHONS[version], package, tmp_path)
    event = {"session_id": "s", "cwd": str(installed.project), "prompt": ASKS}
    where = "from onrecord import paths; print(paths.launcher())"
    launcher = installed.run("python", "-c", where).stdout.strip()

    done = [
        installed.run("onrecord", "version"),
        installed.run("onrecord", *SAVE),
        installed.run("onrecord", "recall", ASKS),
        installed.run("onrecord", "doctor"),
        installed.run("onrecord", "demo"),
        installed.run("sh", launcher, "user_prompt_submit", stdin=json.dumps(event)),
        installed.run("onrecord", "connect", "codex", "--mcp", "--yes"),
        installed.run("onrecord", "connect", "--remove", "--yes"),
    ]

    assert [(one.returncode, one.stderr) for one in done if one.returncode] == []
    assert done[0].stdout.strip().endswith(onrecord.__version__)
    assert all(FIELDS["decision"] in one.stdout for one in (done[2], done[5]))
    said = [one.stdout.partition(" (")[0] for one in done[6:]]
    assert said == ["codex: connected: written", "codex: disconnected: removed"]
    before = left(installed.home)
    cleaned = installed.run("onrecord", "clean")
    subprocess.run([*installed.pip, "uninstall", "-q", "-y", "onrecord"], check=True, timeout=600)
    assert (cleaned.returncode, bool(before), left(installed.home)) == (0, True, [])
    assert "decisions/sessions-live-in-postgres-not-redis.json" in left(installed.project / ".claude" / "memory")
    assert [name for name in os.listdir(installed.bin) if "onrecord" in name] == []


def left(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_cleaning_removes_only_what_onrecord_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"ONRECORD_{name}_DIR", str(tmp_path / "shared"))
    mine = [
        "notes.txt",
        "python.txt",
        "1234.sqlite",
        "x" * 32 + ".sqlite",
        "sessions.md",
        "0" * 32 + ".txt",
        "sessions/deep/er",
    ]
    state = ["sessions/s", "usage/sessions/s", "failures.log"]
    ours = ["0" * 32 + ".sqlite", "f" * 32 + ".anchors", "python", *state]
    for name in (*mine, *ours):
        (tmp_path / "shared" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shared" / name).write_text("12345")

    found = machine.all_own_files()
    machine.remove(found)

    assert left(tmp_path / "shared") == sorted(mine)
    assert sum(item.size for item in found) == 5 * len(ours)


def test_each_thing_outside_the_stores_is_said_to_be_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    contents = {
        "0" * 32 + ".sqlite": "a search index",
        "0" * 32 + ".anchors": "states of files",
        "python": "the interpreter that hooks run with",
        "sessions": "what each session was shown, and its user's corrections",
        "usage/sessions": "whether records shown to a session were opened",
        "usage": "how often each record was shown and opened",
        "suggestions": "suggestions to save, with the sentences they quote",
        "judge": "how many requests were sent to a judge",
        "failures.log": "failures",
    }
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"ONRECORD_{name}_DIR", str(tmp_path / "shared"))
    for name in contents:
        (tmp_path / "shared" / name).mkdir(parents=True, exist_ok=True)

    listed = {os.path.relpath(item.path, tmp_path / "shared"): item.what for item in machine.all_own_files()}

    assert listed == contents


def test_cleaning_does_not_follow_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "sessions").symlink_to(tmp_path / "precious")

    machine.remove(machine.all_own_files())

    assert left(tmp_path / "precious") == ["file"]
    assert not (tmp_path / "state").exists()


def test_a_dry_run_removes_nothing(tmp_path: Path):
    project = onrecord.open(str(tmp_path))
    project.save("preference", {"title": "Tabs", "content": {"topic": "t", "value": "tabs", "reason": "r"}})
    project.recall("tabs or spaces?")
    clean = [sys.executable, str(ROOT / "bin" / "onrecord"), "clean"]
    before = machine.all_own_files()

    rehearsed = subprocess.run([*clean, "--dry-run"], capture_output=True, encoding="utf-8", check=True, timeout=600)
    after_rehearsal = machine.all_own_files()
    done = subprocess.run(clean, capture_output=True, encoding="utf-8", check=True, timeout=600)

    assert before and after_rehearsal == before
    assert rehearsed.stdout.replace("would remove", "removed") == done.stdout
    assert machine.all_own_files() == []
    assert [hit.memory.title for hit in project.search("tabs")] == ["Tabs"]


def test_everything_kept_outside_the_stores_is_known_to_clean():
    """A new kind of file in the cache or state folder must be listed, or it would stay for ever."""
    kept = set()
    for path in (ROOT / "src" / "onrecord").rglob("*.py"):
        kept |= set(re.findall(r'(?:state_dir\(\), |state_path\()"([^"]+)"', path.read_text(encoding="utf-8")))

    assert kept <= set(machine.STATE)
    assert len(kept) >= 5
