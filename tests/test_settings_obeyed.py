"""Every setting changes what a hook or a command does: each is tried with two values, and the two must differ.

A setting without a case here fails the first test; a setting that nobody reads fails its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import onrecord
from onrecord.categories import CATEGORIES
from onrecord.setting_table import SETTINGS
from tests.hooks.hook_process import ROOT, run_hook
from tests.known_project import SIX, six_records
from tests.model_server import ModelServer, Request, message, notes, whole

ASKS = "where do we keep user sessions, postgres or redis?"
WIDE = "user sessions in postgres, carrier API calls a minute, kafka consumer lag after a rebalance, wrap errors"
CATEGORY_NAMES = list(SIX)
PROMPTS = {
    "decision": ASKS,
    "constraint": "how many calls a minute does the carrier API allow?",
    "preference": "how do we wrap errors with the name of the operation?",
    "runbook": "kafka consumer lag grows after a rebalance",
    "tech_debt": "why is address parsing written twice?",
    "session_summary": "where did we leave off moving the invoices to the new ledger?",
}


class Lab:
    """A project with a home of its own, asked through the hooks and the command line as they are installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = str(folder / "project")
        self.env = {
            **os.environ,
            "HOME": str(folder),
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "ONRECORD_STATE_DIR": str(folder / "state"),
            "ONRECORD_CACHE_DIR": str(folder / "cache"),
            "ONRECORD_DATA_DIR": str(folder / "data"),
            "JUDGE_KEY": "first-key",
            "OTHER_KEY": "second-key",
        }
        self._config: dict[str, Any] = {}

    def set(self, settings: dict[str, Any]) -> None:
        for key, value in settings.items():
            here = self._config
            *above, name = key.split(".")
            for part in above:
                here = here.setdefault(part, {})
            here[name] = value
        file = self.folder / "claude" / "memory" / "memory-config.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self._config), encoding="utf-8")

    def hook(self, event: str, *, is_patient: bool = True, **fields: Any) -> str:
        given = {"session_id": "s", "cwd": self.root, "transcript_path": "", **fields}
        return run_hook(event, given, is_patient=is_patient, **self.env).context

    def run(self, *words: str) -> Any:
        command = [sys.executable, str(ROOT / "bin" / "onrecord"), *words, "--json", "--project", self.root]
        done = subprocess.run(
            command, capture_output=True, env=self.env, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL
        )
        return json.loads(done.stdout)

    def later_prompt(self, prompt: str) -> str:
        """What a prompt gets that is not the first of its session."""
        self.hook("user_prompt_submit", prompt="hello there")
        return self.hook("user_prompt_submit", prompt=prompt)

    def record(self, category: str) -> Path:
        (file,) = Path(self.root, ".claude", "memory", settings_folder(category)).glob("*.json")
        return file

    def rewrite(self, category: str, **fields: Any) -> None:
        file = self.record(category)
        file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **fields}), encoding="utf-8")

    def stop(self, *lines: str, last: str = "Done.") -> str:
        path = self.folder / "transcript.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return self.hook("stop", transcript_path=str(path), stop_hook_active=False, last_assistant_message=last)


def settings_folder(category: str) -> str:
    return {"tech_debt": "tech-debt", "session_summary": "sessions"}.get(category, f"{category}s")


def days_ago(days: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * 86_400))


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that every lab is a copy of."""
    folder = tmp_path_factory.mktemp("pattern")
    (folder / "project" / "src" / "carrier").mkdir(parents=True)
    (folder / "project" / "src" / "carrier" / "client.py").write_text("LIMIT = 90\n")
    six_records(folder)
    return folder


@pytest.fixture
def labs(pattern: Path, tmp_path: Path) -> Iterator[tuple[Lab, Lab]]:
    """Two equal labs: one keeps the first value of a setting, the other gets the second."""
    for name in ("one", "two"):
        shutil.copytree(pattern, tmp_path / name)
    yield Lab(tmp_path / "one"), Lab(tmp_path / "two")


class Case(NamedTuple):
    """A setting's second value, what is looked at, and what is set in both labs; the first value is the default."""

    other: Any
    look: Callable[[Lab], object]
    both: dict[str, Any] = {}


def prompted(lab: Lab) -> object:
    return lab.later_prompt(ASKS)


def shared(lab: Lab) -> object:
    lab.run("remote", "add", "--offline", "platform", "/srv/memory.git")
    return lab.run("status")["shared"]


def first_prompt(lab: Lab, prompt: str = ASKS) -> str:
    return lab.hook("user_prompt_submit", prompt=prompt)


def results(lab: Lab) -> object:
    return lab.later_prompt(WIDE).count("<result ")


def length(lab: Lab) -> object:
    return len(lab.later_prompt(WIDE))


def near_the_bar(lab: Lab) -> object:
    """The first prompt, with a bar just above what the best record reaches."""
    best = max(candidate["probability"] for candidate in lab.run("why", ASKS)["candidates"])
    lab.set({"retrieval.min_probability": min(best + 0.05, 1.0)})
    return "auth.sessions" in first_prompt(lab)


def scores(lab: Lab) -> object:
    return [(hit["id"], hit["score"]) for hit in lab.run("search", "login state postgres")["results"]]


def file_read(lab: Lab) -> object:
    file = os.path.join(lab.root, "src", "carrier", "client.py")
    return "90 calls a minute" in lab.hook("pre_tool_use", tool_name="Read", tool_input={"file_path": file})


def line_for_the_person(lab: Lab) -> str:
    given = {"session_id": "s", "cwd": lab.root, "transcript_path": "", "prompt": ASKS}
    return str(json.loads(run_hook("user_prompt_submit", given, **lab.env).stdout).get("systemMessage", ""))


def builder_started(lab: Lab) -> bool:
    """Whether a process was started for what a session's start had no time to index."""
    store = Path(lab.root, ".claude", "memory")
    text = lab.record("decision").read_text("utf-8")
    for number in range(700):
        text_of_copy = text.replace("sessions-live-in-postgres-not-redis", f"copy-{number}")
        (store / "decisions" / f"copy-{number}.json").write_text(text_of_copy, encoding="utf-8")
    assert "The index is being built" in lab.hook("session_start", source="startup")
    return any((lab.folder / "cache").glob("*.building"))


def command_run(lab: Lab) -> object:
    fields = {
        "title": "Packages are added with pnpm, never npm",
        "triggers": ["npm install"],
        "content": {"topic": "packages", "value": "pnpm add", "reason": "one lockfile", "strength": "strong"},
    }
    onrecord.open(lab.root).save("preference", fields)
    return "pnpm" in lab.hook("pre_tool_use", tool_name="Bash", tool_input={"command": "npm install lodash"})


def corrected(lab: Lab) -> object:
    lab.hook("user_prompt_submit", prompt="have a look at the readme")
    return "broken just now" in lab.hook(
        "user_prompt_submit", prompt="no, I told you: sessions live in Postgres, not in Redis"
    )


def check_broken(lab: Lab) -> object:
    lab.rewrite("decision", checks=[{"on": "command", "starts": ["redis-cli"]}])
    fields = {"session_id": "s", "cwd": lab.root, "tool_name": "Bash", "tool_input": {"command": "redis-cli flushall"}}
    specific = run_hook("pre_tool_use", fields, **lab.env).specific
    return specific.get("permissionDecision", ""), "goes against it" in specific.get("additionalContext", "")


def command_failed(lab: Lab) -> object:
    error = "Exit code 1\nCommitFailedError: the coordinator is not aware of this member"
    return "12 replicas" in lab.hook(
        "post_tool_use_failure", tool_name="Bash", tool_input={"command": "make consume"}, error=error
    )


def digest(lab: Lab) -> object:
    return lab.hook("session_start", source="startup")


def with_map(lab: Lab) -> object:
    digest(lab)
    return lab.later_prompt(ASKS)


def digest_scores(lab: Lab) -> object:
    Path(lab.root, "docs", "features", "x").mkdir(parents=True)
    meta = {"status": "active", "slug": "carrier-rate-limit"}
    Path(lab.root, "docs", "features", "x", ".meta.json").write_text(json.dumps(meta))
    return lab.run("digest")["entries"]


def line(role: str, content: Any) -> str:
    return json.dumps({"type": role, "message": {"role": role, "content": content}})


def tool(name: str, **fields: str) -> str:
    return line("assistant", [{"type": "tool_use", "id": "t", "name": name, "input": fields}])


def failed(text: str) -> str:
    return line("user", [{"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": True}])


DECIDED = (
    "ok let's go with argon2id instead of bcrypt for the password hashes, because bcrypt silently cuts everything after"
    " 72 bytes."
)
EDIT = tool("Edit", file_path="/p/auth.py")
CURED = "Found it: the certificate expired on Sunday. I renewed it with `certbot renew --cert x`, it works again."
SPOKEN: dict[str, tuple[list[str], str]] = {
    "decision": (
        [
            line("user", "the login should be hardened"),
            line("assistant", [{"type": "text", "text": "Passwords are hashed with bcrypt."}]),
            line("user", DECIDED),
            EDIT,
        ],
        "Done.",
    ),
    "constraint": (
        [
            line("user", "import the orders"),
            EDIT,
            line("user", "careful, the warehouse API only allows 20 rows a request, by design, more get a 413"),
            EDIT,
        ],
        "Done.",
    ),
    "preference": (
        [
            EDIT,
            line("user", "from now on please never use print in this repo, we always use the logger instead"),
            EDIT,
        ],
        "Done.",
    ),
    "runbook": (
        [
            line("user", "the site is down"),
            tool("Bash", command="make up"),
            failed("Exit code 1"),
            tool("Bash", command="certbot renew"),
        ],
        CURED,
    ),
    "tech_debt": (
        [
            line("user", "make the export work"),
            EDIT,
            line(
                "user",
                "leave the tax rate hard-coded for now as a workaround, TODO clean that up after launch",
            ),
            EDIT,
        ],
        "Done.",
    ),
    "session_summary": (
        [
            line("user", "move the billing module to typescript"),
            *(tool("Edit", file_path=f"/p/src/{number}.ts") for number in range(12)),
            tool("Bash", command="npx tsc --noEmit"),
            failed("Exit code 2: 6 errors"),
            line("user", "I have to leave now, we continue tomorrow with the export"),
        ],
        "4 of 7 files are ported. Not started: the export. Next: port the export.",
    ),
}


def suggested(category: str) -> Callable[[Lab], object]:
    lines, last = SPOKEN[category]
    # What a user prefers is said here as a correction of what was done.
    noun = "a correction" if category == "preference" else CATEGORIES[category].noun
    return lambda lab: f"({noun})" in lab.stop(*lines, last=last)


def suggested_long_ago(lab: Lab) -> object:
    """A decision followed by forty messages in which nothing is decided."""
    chatter = [line("user", "thanks"), line("assistant", [{"type": "text", "text": "Welcome."}])] * 15
    return lab.stop(*SPOKEN["decision"][0], *chatter) != ""


def mentions(category: str) -> Callable[[Lab], object]:
    """Whether a prompt about the record of a category gets it."""
    return lambda lab: f'category="{category}"' in lab.hook("user_prompt_submit", prompt=PROMPTS[category])


def mentions_old(category: str) -> Callable[[Lab], object]:
    def look(lab: Lab) -> object:
        lab.rewrite(category, updated_at=days_ago(50), created_at=days_ago(60))
        return mentions(category)(lab)

    return look


def summaries(lab: Lab) -> object:
    record = {"title": "Second session", "content": {**SIX["session_summary"]["content"], "goal": "Something else"}}
    save = [sys.executable, str(ROOT / "bin" / "onrecord"), "save", "session_summary", "--json", "--project", lab.root]
    subprocess.run(save, input=json.dumps(record), capture_output=True, env=lab.env, text=True, check=True, timeout=120)
    files = Path(lab.root, ".claude", "memory", "sessions").glob("*.json")
    return sorted(json.loads(file.read_text("utf-8"))["record_status"] for file in files)


def collected(lab: Lab) -> object:
    lab.rewrite("decision", record_status="retired", retired_at=days_ago(10), retired_reason="r")
    return json.dumps(lab.run("gc", "--dry-run"))


Look = Callable[[Lab, ModelServer, str], object]


class Judge:
    """A model that keeps nothing, and remembers what it was asked."""

    def __init__(self, delay: float = 0.0) -> None:
        self._delay = delay

    def __call__(self, server: ModelServer, connection: Any, request: Request) -> None:
        time.sleep(self._delay)
        text = json.dumps({"keep": []})
        body = message(text) if "/messages" in request.line else {"choices": [{"message": {"content": text}}]}
        connection.sendall(whole(json.dumps(body).encode()))


def with_judge(
    look: Callable[[Lab, ModelServer, str], object],
    prompt: str = ASKS,
    delay: float = 0.0,
    transcript: tuple[str, ...] = (),
) -> Callable[[Lab], object]:
    """A prompt answered with a judge: what it shows, and what the server was asked, come from `look`."""

    def run(lab: Lab) -> object:
        with ModelServer(Judge(delay)) as server:
            endpoint = lab._config["retrieval"]["judge"].get("endpoint", "")
            if not endpoint:
                lab.set({"retrieval.judge.endpoint": server.url})
            elif endpoint == OTHER_PATH:
                lab.set({"retrieval.judge.endpoint": server.url + OTHER_PATH})
            path = lab.folder / "talk.jsonl"
            path.write_text("\n".join(transcript) + "\n", encoding="utf-8")
            text = lab.hook("user_prompt_submit", is_patient=not delay, prompt=prompt, transcript_path=str(path))
            return look(lab, server, text)

    return run


OTHER_PATH = "/other"
TALK = (
    line("user", "let us look at the login"),
    line("assistant", [{"type": "text", "text": "It keeps its state in rows."}]),
    line("user", "which rows?"),
)
JUDGE = {
    "retrieval.judge.enabled": True,
    "retrieval.judge.api_key_env": "JUDGE_KEY",
    "retrieval.judge.model": "small",
    "retrieval.judge.certain_in": 1.0,
    "retrieval.judge.certain_out": 0.0,
    "retrieval.judge.timeout_seconds": 2.5,
}


def is_shown(lab: Lab, server: ModelServer, text: str) -> object:
    return "auth.sessions" in text


def requests(part: Callable[[Request], object]) -> Look:
    return lambda lab, server, text: [part(request) for request in server.requests]


def number_of_notes(request: Request) -> object:
    return len(notes(request.body["messages"][-1]["content"]))


def turns_sent(request: Request) -> object:
    return request.body["messages"][-1]["content"].count("<turn>")


def key_sent(request: Request) -> object:
    return request.headers.get("x-api-key") or request.headers.get("authorization")


MANY = {"retrieval.min_probability": 0.05}


def exported(lab: Lab) -> object:
    """Whether the generated file has lost a record that was retired."""
    file = Path(lab.root, "MEMORY.md")
    lab.run("export", "--file", str(file))
    lab.run("retire", "sessions-live-in-postgres-not-redis", "--reason=r")
    return "14 day expiry" in file.read_text(encoding="utf-8")


def logged(lab: Lab) -> object:
    """Whether it was logged that a prompt was shown a record."""
    prompted(lab)
    return any(lab.folder.glob("state/events/*.log"))


CASES: dict[str, Case] = {
    "retrieval.enabled": Case(False, prompted),
    "retrieval.max_inject": Case(1, results, MANY),
    "retrieval.max_tokens": Case(60, length, MANY),
    "retrieval.match_strategy": Case("title_tags", scores),
    "retrieval.min_probability": Case(1.0, prompted),
    "retrieval.pointers": Case(False, prompted, {"retrieval.min_probability": 1.0}),
    "retrieval.with_map": Case("none", with_map),
    "retrieval.first_prompt_relief": Case(0.0, near_the_bar),
    "retrieval.first_prompt_budget": Case(
        1.0, lambda lab: first_prompt(lab, WIDE).count("<result "), {**MANY, "retrieval.max_tokens": 150}
    ),
    "retrieval.files": Case(False, file_read),
    "retrieval.actions": Case(False, command_run),
    "retrieval.corrections": Case(False, corrected),
    "retrieval.failures": Case(False, command_failed),
    "checks.enabled": Case(False, check_broken),
    "checks.enforce": Case("deny", check_broken),
    "checks.by_record.sessions-live-in-postgres-not-redis": Case("ask", check_broken),
    "retrieval.holdout": Case(0.5, lambda lab: lab.hook("user_prompt_submit", prompt=ASKS, session_id="one")),
    "retrieval.notice": Case(False, line_for_the_person),
    "retrieval.background_index": Case(False, builder_started),
    "retrieval.judge.enabled": Case(True, with_judge(is_shown), {**JUDGE, "retrieval.judge.enabled": False}),
    "retrieval.judge.provider": Case("openai", with_judge(requests(lambda request: request.line)), JUDGE),
    "retrieval.judge.model": Case("large", with_judge(requests(lambda request: request.body["model"])), JUDGE),
    "retrieval.judge.endpoint": Case(OTHER_PATH, with_judge(requests(lambda request: request.line)), JUDGE),
    "retrieval.judge.api_key_env": Case("OTHER_KEY", with_judge(requests(key_sent)), JUDGE),
    "retrieval.judge.timeout_seconds": Case(0.1, with_judge(is_shown, delay=1.0), JUDGE),
    "retrieval.judge.daily_cap": Case(0, with_judge(lambda lab, server, text: len(server.requests)), JUDGE),
    "retrieval.judge.max_candidates": Case(1, with_judge(requests(number_of_notes), WIDE), JUDGE),
    "retrieval.judge.context_turns": Case(2, with_judge(requests(turns_sent), transcript=TALK), JUDGE),
    "retrieval.judge.certain_in": Case(0.2, with_judge(is_shown), JUDGE),
    "retrieval.judge.certain_out": Case(0.5, with_judge(requests(number_of_notes), WIDE), JUDGE),
    "session_start.enabled": Case(False, digest),
    "session_start.relevance_weight": Case(0.0, digest_scores),
    "session_start.limit": Case(2, digest),
    "session_start.map": Case(False, digest),
    "session_start.max_tokens": Case(160, digest),
    "capture.mode": Case("off", suggested("decision")),
    "capture.max_suggestions": Case(0, suggested("decision")),
    "triage.max_messages": Case(10, suggested_long_ago),
    "categories.session_summary.max_retained": Case(1, summaries),
    "delete.grace_period_days": Case(5, collected),
    "export.file": Case("MEMORY.md", exported),
    "usage.events": Case(False, logged),
}
CASES["trust.clones"] = Case("ask", prompted)
CASES["remotes"] = Case(["acme"], shared)
for _name in CATEGORY_NAMES:
    CASES[f"triage.thresholds.{_name}"] = Case(1.0, suggested(_name))
    CASES[f"categories.{_name}.enabled"] = Case(False, mentions(_name))
    CASES[f"categories.{_name}.auto_capture"] = Case(False, suggested(_name))
    CASES[f"categories.{_name}.retention_days"] = Case(30, mentions_old(_name))
CASES["categories.decision.description"] = Case("login state of users", scores)


def test_every_setting_has_a_case():
    covered = {re.sub(r"^categories\.\w+\.(enabled|auto_capture|retention_days|description)$", r"categories.*.\1", key)
               for key in CASES}  # fmt: skip
    covered = {re.sub(r"^checks\.by_record\..*", "checks.by_record.*", key) for key in covered}

    assert covered == set(SETTINGS)


@pytest.mark.parametrize("key", list(CASES))
def test_a_setting_is_obeyed(key: str, labs: tuple[Lab, Lab]):
    case = CASES[key]
    for lab in labs:
        lab.set(case.both)
    labs[1].set({key: case.other})

    before, after = case.look(labs[0]), case.look(labs[1])

    assert before != after, f"{key} = {case.other!r} changes nothing: {after!r}"
