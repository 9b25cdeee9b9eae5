"""A prompt that corrects the agent with a rule on file, through the hook's own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from onrecord import paths
from onrecord.hooks import prompt
from onrecord.hosts import table
from onrecord.project import Project
from onrecord.recall.for_correction import HEADING
from onrecord.record import secrets
from onrecord.session.correction import REPROACH
from onrecord.session.ledger import Ledger
from onrecord.store.inbox import Inbox
from onrecord.usage import usage_log
from tests import secret_corpus, secret_shapes
from tests.hooks.hook_process import ROOT, run_hook
from tests.hooks.host_events import HOSTS

PNPM = {
    "title": "Packages are added with pnpm, never npm",
    "triggers": ["install a package", "npm install"],
    "content": {"topic": "packages", "value": "pnpm add", "reason": "one lockfile", "strength": "strong"},
}
PATH = "preferences/packages-are-added-with-pnpm-never-npm.json"
REPROACHED = "no, we never do it like that"
TASK, WRONG = "install a package for dates", "no, I told you: packages are added with pnpm, not npm"


@pytest.fixture
def project(project: Project) -> Project:
    project.save("preference", PNPM)
    return project


class Result(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str


def run(*words: str) -> Result:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}
    command = [sys.executable, "-m", "onrecord", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    return Result(done.returncode, done.stdout + done.stderr)


def broken(project: Project, path: str = PATH) -> int:
    corrections = usage_log.corrections(project.store.root).get(path)
    return corrections.times if corrections else 0


def test_the_rule_is_shown_again_as_broken_just_now_and_only_once(hook, project):
    assert "pnpm add" in hook("user_prompt_submit", prompt=TASK).context
    assert hook("user_prompt_submit", prompt=TASK).context == ""

    context = hook("user_prompt_submit", prompt=WRONG).context

    assert HEADING in context
    assert context.count("pnpm add") == 1
    assert "corrected by the user" in context


@pytest.mark.parametrize(
    "prompt",
    [
        "why did you add the package with npm? pnpm only",
        "Again: packages with pnpm, not npm",
        "not npm but pnpm for packages",
        "Nein, Packages immer mit pnpm, nicht npm",
        "schon wieder npm, packages kommen mit pnpm",
        "te dije que los packages van con pnpm, no npm",
        "no, los packages con pnpm, no con npm",
    ],
)
def test_every_language_and_form(hook, project, prompt):
    hook("user_prompt_submit", prompt="have a look at the readme")

    assert HEADING in hook("user_prompt_submit", prompt=prompt).context


@pytest.mark.parametrize("host", [host.name for host in table.HOSTS if host.name in HOSTS])
def test_a_correction_is_counted_with_day_and_host_and_without_its_text(project, host):
    payload = {"session_id": "s", "cwd": project.root, **HOSTS[host].common, "prompt": WRONG, "submitted_prompt": WRONG}
    run_hook("user_prompt_submit", payload, host)

    corrections = usage_log.corrections(project.store.root)[PATH]

    assert (corrections.times, corrections.hosts) == (1, (host,))
    assert "told" not in Path(usage_log.log_file(project.store.root)).read_text()


@pytest.mark.parametrize(
    ("prompt", "settings"),
    [
        ("add a package for dates with pnpm, please", {}),
        ("no, the other file", {}),
        (WRONG + " #nomem", {}),
        (WRONG, {"retrieval": {"corrections": False}}),
        (WRONG, {"retrieval": {"enabled": False}}),
    ],
)
def test_what_is_no_correction_of_a_rule_is_not_counted(hook, project, prompt, settings):
    (Path(project.store.root) / "memory-config.json").write_text(json.dumps(settings))
    hook("user_prompt_submit", prompt="have a look at the readme")

    assert HEADING not in hook("user_prompt_submit", prompt=prompt).context
    assert broken(project) == 0


def test_the_first_prompt_of_a_session_corrects_nothing_unless_it_says_so(hook, project):
    assert HEADING not in hook("user_prompt_submit", prompt="use pnpm, not npm, for packages", session="a").context
    assert HEADING in hook("user_prompt_submit", prompt=WRONG, session="b").context


def test_a_correction_without_a_topic_is_about_the_rule_that_was_just_shown(hook, project):
    hook("user_prompt_submit", prompt="have a look at the readme")
    hook("pre_tool_use", tool_name="Bash", tool_input={"command": "npm install a-package"})
    with Ledger("s1") as session:
        assert len(session.recent) == 1

    assert HEADING in hook("user_prompt_submit", prompt="no, not like that!").context
    assert broken(project) == 1


def test_after_the_second_time_the_agent_is_asked_once_for_a_draft(hook, project):
    contexts = [hook("user_prompt_submit", prompt=WRONG, session=f"s{number}").context for number in range(4)]

    assert ["--draft" in context for context in contexts] == [False, True, False, False]
    assert "corrected by the user 4 times so far" in contexts[3]


def test_the_draft_that_is_asked_for_can_be_made_and_reviewed(hook, project):
    hook("user_prompt_submit", prompt=WRONG, session="a")
    context = hook("user_prompt_submit", prompt=WRONG, session="b").context
    command = context.split("onrecord update ")[1].split(" --draft")[0]

    check = '{"on": "command", "starts": ["npm install"], "say": "use pnpm add"}'
    result = run("--project", project.root, "update", command, "--draft", "--check", check)

    assert result.code == 0, result
    (draft,) = Inbox(project.store.root).drafts()
    assert draft.updates == "packages-are-added-with-pnpm-never-npm"
    assert draft.record.checks


def test_nothing_is_asked_where_sessions_suggest_nothing(hook, project):
    (Path(project.store.root) / "memory-config.json").write_text('{"capture": {"mode": "off"}}')

    contexts = [hook("user_prompt_submit", prompt=WRONG, session=f"s{number}").context for number in range(2)]

    assert HEADING in contexts[1] and "--draft" not in contexts[1]


def test_a_broken_rule_without_room_comes_with_the_other_records(hook, project):
    os.unlink(os.path.join(project.store.root, PATH))
    for words in ("in this whole repository", "wherever they come from"):
        files = [Path(project.root, f"{number} {words} {'x' * 100}.json") for number in range(4)]
        for file in files:
            file.write_text("{}")
        rule = {**PNPM, "title": f"Packages are added with pnpm, never with npm, {words}"}
        project.save("preference", {**rule, "related_files": [file.name for file in files]})
        for file in files:
            file.unlink()

    context = hook("user_prompt_submit", prompt="no, I told you: packages are added with pnpm, never with npm").context

    counts = usage_log.per_record(project.store.root)
    corrected = {path: (record.corrected, record.injected) for path, record in counts.items() if record.corrected}
    assert list(corrected.values()) == [(1, 1), (1, 1)]
    assert [context.count(path) for path in corrected] == [1, 1]
    assert context.index("(verify") > context.index("</memory-context>"), "the second has no room beside the first"


def test_status_says_which_rules_were_broken(hook, project):
    hook("user_prompt_submit", prompt=WRONG)
    hook("user_prompt_submit", prompt=WRONG)

    text = run("--project", project.root, "status").out
    data: dict[str, Any] = json.loads(run("--project", project.root, "status", "--json").out)

    day = usage_log.corrections(project.store.root)[PATH].last_day
    assert f"packages-are-added-with-pnpm-never-npm 2 times, last on {day} (claude-code)" in " ".join(text.split())
    assert [(each["path"], each["times"]) for each in data["corrections"]] == [(PATH, 2)]


def test_a_broken_rule_comes_before_one_that_was_opened(hook, project):
    path = "decisions/sessions-live-in-postgres-not-redis.json"
    usage_log.append(project.store.root, [("opened", path)] * 3)
    hook("user_prompt_submit", prompt=WRONG)

    observed = usage_log.observations(project.store.root)

    assert observed[PATH] > observed[path] > 0


def test_a_password_in_a_correction_is_not_stored(hook, project):
    hook("user_prompt_submit", prompt="no, don't use that, the password is hunter2")

    with Ledger("s1") as session:
        assert session.corrections == []


def test_no_correction_with_a_credential_of_the_corpora_is_stored(project):
    """Every shape that a record may not have is kept out of the ledger, too."""
    for text in (*secret_corpus.secrets(), *secret_shapes.secrets()):
        if any(secrets.find_leaks(text.text)):
            prompt._note_correction(f"{REPROACHED}: {text.text}", REPROACH, "s1")

    with Ledger("s1") as session:
        assert session.corrections == []
    assert REPROACHED not in "".join(path.read_text() for path in Path(paths.state_dir()).rglob("*") if path.is_file())


def test_a_correction_without_a_credential_is_stored(project):
    prompt._note_correction(f"{REPROACHED}: passwords are hashed with argon2id", REPROACH, "s1")

    with Ledger("s1") as session:
        assert session.corrections == [f"{REPROACHED}: passwords are hashed with argon2id"]
